/* SPDX-License-Identifier: MIT */
/*
 * The instructions of src/count/positional.c in plain C, from Intel's descriptions, so that its
 * loop is tested on machines without them. A test that includes the source finds this file first;
 * `target` loses its meaning, so that the compiler does not use these instructions by itself.
 */
#ifndef SOFT_IMMINTRIN_H
#define SOFT_IMMINTRIN_H

#include <stdint.h>
#include <string.h>

#define target(features) unused

typedef struct {
	union {
		uint64_t q[8];
		uint8_t b[64];
	};
} __m512i;
typedef uint64_t __mmask64;

#define SOFT(n, as, value)                 \
	__m512i r;                         \
	for (unsigned i = 0; i < (n); i++) \
		r.as[i] = (value);         \
	return r

static inline __m512i _mm512_loadu_si512(const void *p)
{
	__m512i r;

	memcpy(&r, p, sizeof(r));
	return r;
}

static inline void _mm512_storeu_si512(void *p, __m512i a)
{
	memcpy(p, &a, sizeof(a));
}

static inline __m512i _mm512_set1_epi64(long long v)
{
	SOFT(8, q, (uint64_t)v);
}

static inline __m512i _mm512_set_epi64(long long h, long long g, long long f, long long e,
				       long long d, long long c, long long b, long long a)
{
	const long long v[8] = {a, b, c, d, e, f, g, h};

	SOFT(8, q, (uint64_t)v[i]);
}

static inline __m512i _mm512_xor_si512(__m512i a, __m512i b)
{
	SOFT(8, q, a.q[i] ^ b.q[i]);
}

static inline __m512i _mm512_and_si512(__m512i a, __m512i b)
{
	SOFT(8, q, a.q[i] & b.q[i]);
}

/* For each bit, the bits of a, b and c, from the highest, choose a bit of `table`. */
static inline __m512i _mm512_ternarylogic_epi64(__m512i a, __m512i b, __m512i c, int table)
{
	__m512i r;

	for (unsigned i = 0; i < 8; i++) {
		r.q[i] = 0;
		for (unsigned at = 0; at < 8; at++)
			if (table >> at & 1)
				r.q[i] |= (at & 4 ? a.q[i] : ~a.q[i]) &
					  (at & 2 ? b.q[i] : ~b.q[i]) & (at & 1 ? c.q[i] : ~c.q[i]);
	}
	return r;
}

static inline __m512i _mm512_srli_epi64(__m512i a, unsigned bits)
{
	SOFT(8, q, a.q[i] >> bits);
}

static inline __m512i _mm512_rolv_epi64(__m512i a, __m512i bits)
{
	SOFT(8, q, a.q[i] << (bits.q[i] & 63) | a.q[i] >> (-bits.q[i] & 63));
}

static inline __m512i _mm512_add_epi8(__m512i a, __m512i b)
{
	SOFT(64, b, (uint8_t)(a.b[i] + b.b[i]));
}

static inline __m512i _mm512_popcnt_epi8(__m512i a)
{
	SOFT(64, b, (uint8_t)__builtin_popcount(a.b[i]));
}

static inline __m512i _mm512_permutexvar_epi8(__m512i from, __m512i a)
{
	SOFT(64, b, a.b[from.b[i] & 63]);
}

static inline __mmask64 _mm512_movepi8_mask(__m512i a)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < 64; i++)
		mask |= (uint64_t)(a.b[i] >> 7) << i;
	return mask;
}

static inline __m512i _mm512_maskz_compress_epi8(__mmask64 mask, __m512i a)
{
	__m512i r = {{{0}}};
	unsigned n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			r.b[n++] = a.b[i];
	return r;
}

/* Bit i of byte k: the parity of byte k & byte 7 - i of its word of `matrix`; ^ bit i of `flip`. */
static inline __m512i _mm512_gf2p8affine_epi64_epi8(__m512i a, __m512i matrix, int flip)
{
	__m512i r;

	for (unsigned k = 0; k < 64; k++) {
		r.b[k] = (uint8_t)flip;
		for (unsigned i = 0; i < 8; i++) {
			const unsigned row = matrix.b[k / 8 * 8 + 7 - i];
			r.b[k] ^= (uint8_t)((unsigned)__builtin_parity(row & a.b[k]) << i);
		}
	}
	return r;
}

#undef SOFT
#endif
