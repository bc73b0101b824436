/* SPDX-License-Identifier: MIT */
/*
 * positional: bytes to counts by positional population counts, without a store for each byte.
 *
 * A table of counts takes a load, an addition and a store for each byte, and the stores limit it to
 * one byte per cycle (codes.c). This loop takes 0.5 cycles, whatever the data:
 *
 * SPLIT. The two highest bits of a byte choose one of four "groups". Compressing 64 bytes by a mask
 * for each group appends the bytes of the group to its buffer.
 *
 * ONE BIT EACH. The six lowest bits of a byte choose one of the 64 bits of a word. Rotating 1 by
 * the byte sets that bit: the instruction ignores all higher bits, so the byte need not be isolated
 * from its neighbours above. Eight bytes make a vector of eight words.
 *
 * ADD. Each of the 512 bits of these vectors is a number to add. Full adders of two instructions
 * add them to eight "planes": plane i holds bit i of 512 sums. A "unit" is 16 vectors, 128 bytes;
 * after 15 units the sums are at most 240, and still fit the planes.
 *
 * FLUSH. The sums of the eight words are added, for each of their 64 bits. Transposing a plane
 * makes the eight bits that belong together a byte, whose population count is their sum.
 *
 * It needs AVX-512 with VBMI, VBMI2, BITALG and GFNI (Ice Lake, Zen 4 and later). Compressing goes
 * to a register and is then stored, as compressing to memory is slow on Zen 4. Small loops are
 * unrolled by pragma: otherwise gcc -O2 keeps the planes in memory, which takes 1.4 times as long.
 *
 * Bytes of 2 to 4 interleaved channels are first split the same way, with constant masks. From 5
 * channels on, the split costs as much as the loop gains.
 */
#include "count/codes.h"

#include <string.h>

#include "base/isa.h"

#define CHANNELS_MOST 4u /* more channels: splitting them costs more than it gains */
#define PAYS 1024u       /* bytes: below, flushing the planes costs more than they gain */
#define PAYS_SPLIT 2048u /* bytes of each of several channels */

#ifdef HAVE_X86_LOOPS

#include <immintrin.h>

#define WIDE                                                                                     \
	__attribute__((                                                                          \
		target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512bitalg," \
		       "gfni,popcnt")))
#define WIDE_INLINE WIDE __attribute__((always_inline)) static inline

enum {
	VECTOR = 64,
	GROUPS = 4,
	GROUP_CODES = 64,
	PLANES = 8,
	UNIT = 16 * 8,         /* bytes counted together: 16 vectors of 8 words */
	UNITS_MOST = 15,       /* units before a plane could overflow */
	BLOCK = 4096,          /* bytes split before their groups are counted: they stay in L1 */
	CHANNEL_BLOCK = 16384, /* bytes of a channel counted together */
};

_Static_assert(16 * UNITS_MOST < 1 << PLANES, "the sums fit the planes");

/* The bytes that were split off for a group; the first `held` are not yet counted. */
struct group {
	__m512i plane[PLANES];
	size_t units; /* added to the planes since the last flush */
	size_t held;
	unsigned char bytes[UNIT + BLOCK + VECTOR];
};

/* Add b and c to the sums whose lowest plane is *low; return the carries. */
WIDE_INLINE __m512i add_two(__m512i *low, __m512i b, __m512i c)
{
	const __m512i a = *low;

	*low = _mm512_ternarylogic_epi64(a, b, c, 0x96);
	return _mm512_ternarylogic_epi64(a, b, c, 0xe8);
}

/* Return eight words, each with the bit set that byte i of a word of `bytes` chooses. */
WIDE_INLINE __m512i one_bits(__m512i bytes, unsigned i)
{
	const __m512i shifted = i > 0 ? _mm512_srli_epi64(bytes, 8 * i) : bytes;

	return _mm512_rolv_epi64(_mm512_set1_epi64(1), shifted);
}

/* Add the bytes i to i + 3 of each word of `bytes`; return the carries to the fours. */
WIDE_INLINE __m512i add_four(__m512i plane[PLANES], __m512i bytes, unsigned i)
{
	const __m512i a = add_two(&plane[0], one_bits(bytes, i), one_bits(bytes, i + 1));
	const __m512i b = add_two(&plane[0], one_bits(bytes, i + 2), one_bits(bytes, i + 3));

	return add_two(&plane[1], a, b);
}

/* Add a unit to the planes. */
WIDE_INLINE void add_unit(__m512i plane[PLANES], const unsigned char *p)
{
	__m512i eights[2], carry;

#pragma GCC unroll 2
	for (unsigned k = 0; k < 2; k++) {
		const __m512i bytes = _mm512_loadu_si512(p + (size_t)k * VECTOR);
		const __m512i a = add_four(plane, bytes, 0);

		eights[k] = add_two(&plane[2], a, add_four(plane, bytes, 4));
	}
	carry = add_two(&plane[3], eights[0], eights[1]);
#pragma GCC unroll 4
	for (unsigned i = 4; i < PLANES; i++) {
		const __m512i sum = _mm512_xor_si512(plane[i], carry);

		carry = _mm512_and_si512(plane[i], carry);
		plane[i] = sum;
	}
}

/* For each of the 64 bits of a word: how many of a plane's eight words have it set. */
WIDE_INLINE __m512i plane_sums(__m512i plane)
{
	const __m512i bytes = _mm512_set_epi64(
		0x3f372f271f170f07, 0x3e362e261e160e06, 0x3d352d251d150d05, 0x3c342c241c140c04,
		0x3b332b231b130b03, 0x3a322a221a120a02, 0x3931292119110901, 0x3830282018100800);
	const __m512i transposed = _mm512_permutexvar_epi8(bytes, plane);
	const __m512i bits = _mm512_gf2p8affine_epi64_epi8(
		_mm512_set1_epi64((long long)0x8040201008040201), transposed, 0);

	return _mm512_popcnt_epi8(bits);
}

/* Sums of four planes; the first has weight 1. */
WIDE_INLINE __m512i four_sums(const __m512i plane[4])
{
	__m512i sum = plane_sums(plane[3]);

#pragma GCC unroll 3
	for (unsigned i = 3; i-- > 0;)
		sum = _mm512_add_epi8(_mm512_add_epi8(sum, sum), plane_sums(plane[i]));
	return sum;
}

/* Add the sums of a group to its counts, and clear them. */
WIDE static void flush_planes(struct group *g, uint32_t *counts)
{
	unsigned char low[VECTOR], high[VECTOR];

	_mm512_storeu_si512(low, four_sums(g->plane));
	_mm512_storeu_si512(high, four_sums(g->plane + 4));
	for (unsigned i = 0; i < GROUP_CODES; i++)
		counts[i] += low[i] + 16u * high[i];
	memset(g->plane, 0, sizeof(g->plane));
	g->units = 0;
}

/* Count the whole units that a group holds; keep the rest. */
WIDE static void add_units(struct group *g, uint32_t *counts)
{
	const size_t units = g->held / UNIT;
	size_t done = 0;

	while (done < units) {
		const size_t left = UNITS_MOST - g->units, more = units - done;
		const size_t end = done + (more < left ? more : left);
		__m512i plane[PLANES];

#pragma GCC unroll 8
		for (unsigned i = 0; i < PLANES; i++)
			plane[i] = g->plane[i];
		g->units += end - done;
		for (; done < end; done++)
			add_unit(plane, g->bytes + done * UNIT);
#pragma GCC unroll 8
		for (unsigned i = 0; i < PLANES; i++)
			g->plane[i] = plane[i];
		if (g->units == UNITS_MOST)
			flush_planes(g, counts);
	}
	g->held -= units * UNIT;
	memmove(g->bytes, g->bytes + units * UNIT, UNIT);
}

/* Split up to BLOCK bytes, whole vectors, into their groups. */
WIDE static void split_groups(struct group groups[GROUPS], const unsigned char *p, size_t n)
{
	unsigned char *to[GROUPS];

#pragma GCC unroll 4
	for (unsigned g = 0; g < GROUPS; g++)
		to[g] = groups[g].bytes + groups[g].held;
	for (size_t i = 0; i < n; i += VECTOR) {
		const __m512i v = _mm512_loadu_si512(p + i);
		const uint64_t b7 = _mm512_movepi8_mask(v);
		const uint64_t b6 = _mm512_movepi8_mask(_mm512_add_epi8(v, v));
		const uint64_t mask[GROUPS] = {~(b7 | b6), b6 & ~b7, b7 & ~b6, b7 & b6};

#pragma GCC unroll 4
		for (unsigned g = 0; g < GROUPS; g++) {
			_mm512_storeu_si512(to[g], _mm512_maskz_compress_epi8(mask[g], v));
			to[g] += __builtin_popcountll(mask[g]);
		}
	}
#pragma GCC unroll 4
	for (unsigned g = 0; g < GROUPS; g++)
		groups[g].held = (size_t)(to[g] - groups[g].bytes);
}

/* Count a group's remaining bytes. Zeros fill its last unit; their counts are then subtracted. */
WIDE static void finish_group(struct group *g, uint32_t *counts)
{
	if (g->held > 0) {
		const size_t fill = UNIT - g->held;

		memset(g->bytes + g->held, 0, fill);
		g->held = UNIT;
		add_units(g, counts);
		counts[0] -= (uint32_t)fill;
	}
	flush_planes(g, counts);
}

/* Count n bytes of one channel. */
WIDE static void add_channel(uint32_t *counts, const unsigned char *p, size_t n)
{
	struct group groups[GROUPS];
	const size_t whole = n / VECTOR * VECTOR;

	for (unsigned g = 0; g < GROUPS; g++) {
		memset(groups[g].plane, 0, sizeof(groups[g].plane));
		groups[g].units = groups[g].held = 0;
	}
	for (size_t i = 0, some; i < whole; i += some) {
		some = whole - i < BLOCK ? whole - i : BLOCK;
		split_groups(groups, p + i, some);
		for (unsigned g = 0; g < GROUPS; g++)
			add_units(&groups[g], counts + (size_t)g * GROUP_CODES);
	}
	for (unsigned g = 0; g < GROUPS; g++)
		finish_group(&groups[g], counts + (size_t)g * GROUP_CODES);
	for (size_t i = whole; i < n; i++)
		counts[p[i]]++;
}

/*
 * Split vectors of interleaved channels. As many vectors as channels have VECTOR bytes of each, at
 * constant places.
 */
WIDE_INLINE void split_channels(unsigned char to[][CHANNEL_BLOCK + VECTOR], const unsigned char *p,
				size_t n, unsigned channels)
{
	uint64_t first = 0; /* bytes of a vector that belong to the channel of its first byte */

	for (unsigned i = 0; i < VECTOR; i += channels)
		first |= (uint64_t)1 << i;
	for (size_t at = 0; at < n / channels; at += VECTOR)
#pragma GCC unroll 4
		for (unsigned k = 0; k < channels; k++) {
			const __m512i v = _mm512_loadu_si512(p + at * channels + k * VECTOR);
#pragma GCC unroll 4
			for (unsigned c = 0; c < channels; c++) {
				/* The channel's bytes in the vectors before this one. */
				const unsigned before = (k * VECTOR + channels - 1 - c) / channels;
				const unsigned skip = before * channels + c - k * VECTOR;

				_mm512_storeu_si512(to[c] + at + before,
						    _mm512_maskz_compress_epi8(first << skip, v));
			}
		}
}

WIDE_INLINE void add_channels(uint32_t *counts, size_t stride, const unsigned char *p, size_t n,
			      unsigned channels)
{
	unsigned char part[CHANNELS_MOST][CHANNEL_BLOCK + VECTOR];
	const size_t block = (size_t)CHANNEL_BLOCK * channels;
	const size_t group = (size_t)VECTOR * channels;

	for (size_t some; n >= group; n -= some, p += some) {
		some = n < block ? n / group * group : block;
		split_channels(part, p, some, channels);
		for (unsigned c = 0; c < channels; c++)
			add_channel(counts + c * stride, part[c], some / channels);
	}
	for (size_t i = 0; i < n; i++)
		counts[i % channels * stride + p[i]]++;
}

WIDE static void add_2(uint32_t *counts, size_t stride, const unsigned char *p, size_t n)
{
	add_channels(counts, stride, p, n, 2);
}

WIDE static void add_3(uint32_t *counts, size_t stride, const unsigned char *p, size_t n)
{
	add_channels(counts, stride, p, n, 3);
}

WIDE static void add_4(uint32_t *counts, size_t stride, const unsigned char *p, size_t n)
{
	add_channels(counts, stride, p, n, 4);
}

void positional_add(uint32_t *counts, size_t stride, const unsigned char *p, size_t n,
		    uint32_t channels)
{
	if (channels == 1)
		add_channel(counts, p, n);
	else
		(channels == 2 ? add_2 : channels == 3 ? add_3 : add_4)(counts, stride, p, n);
}

bool positional_pays(size_t n, uint32_t channels)
{
	return channels <= CHANNELS_MOST &&
	       n >= (channels == 1 ? PAYS : (size_t)PAYS_SPLIT * channels) &&
	       isa_best() == ISA_VBMI2;
}

#else

bool positional_pays(size_t n, uint32_t channels)
{
	(void)n, (void)channels;
	return false;
}

void positional_add(uint32_t *counts, size_t stride, const unsigned char *p, size_t n,
		    uint32_t channels)
{
	(void)counts, (void)stride, (void)p, (void)n, (void)channels;
}

#endif
