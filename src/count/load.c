/* SPDX-License-Identifier: MIT */
/* load: absolute values, magnitudes and missing samples. */
#include "count/load.h"

#include <math.h>
#include <string.h>

#include "base/little.h"
#include "bins/binning.h"

#define TOGETHER 16u /* a loop of constant length becomes vectors at any level of optimisation */

/* A word of a float type in the byte order of the input. */
static uint64_t stored_order(const struct sample_type *type, uint64_t bits)
{
	return !type->big              ? bits
	       : type->code_bytes == 8 ? __builtin_bswap64(bits)
				       : __builtin_bswap32((uint32_t)bits);
}

struct load load_of(const struct sample_type *type, const struct missing *missing)
{
	const uint64_t sign = (uint64_t)1 << (type->bits - 1);
	struct load l = {
		.on = (type->abs || missing->n > 0) && type->code_bytes > 2,
		.magnitude = sample_is_magnitude(type),
		.part = sample_type_signed(type),
		.word = sample_type_word(type),
		.bytes = (uint32_t)sample_bytes(type, 1),
		.keep = stored_order(type, type->abs ? ~sign : UINT64_MAX),
		.nan = stored_order(type, sign - 1),
		.missing = *missing,
	};

	for (uint32_t i = 0; i < missing->n && !l.magnitude; i++)
		l.missing.code[i] = stored_order(type, missing->code[i]);
	return l;
}

/* ---- magnitudes ---- */

/* The value of a number, or NaN if it is missing; unsigned ones are centred. */
INLINE double part_value(const struct load *l, const unsigned char *p, uint32_t bytes, bool real)
{
	const struct sample_type *const type = &l->part;
	uint64_t bits = bytes == 1 ? *p : word_at(p, bytes, l->word.big);

	if (type->word > 0)
		bits = sample_masked(type, (uint32_t)bits);
	if (l->missing.n > 0 && missing_has(&l->missing, bits))
		return (double)NAN;
	if (real && bytes == 8)
		return double_of_bits(bits);
	if (real && bytes == 4)
		return (double)float_of_bits((uint32_t)bits);
	if (real)
		return sample_value(type, (uint32_t)bits);
	const unsigned unused = 64 - type->bits;
	if (type->kind == SAMPLE_SIGNED)
		return (double)((int64_t)(bits << unused) >> unused);
	return (double)bits - ldexp(1, (int)type->bits - 1) + 0.5;
}

INLINE void magnitudes(const struct load *l, unsigned char *to, const unsigned char *p, size_t n,
		       uint32_t bytes, bool real)
{
	for (size_t i = 0; i < n; i++, p += 2 * bytes) {
		const double x = part_value(l, p, bytes, real);
		const double y = part_value(l, p + bytes, bytes, real);
		const double size = sqrt(x * x + y * y);
		memcpy(to + 8 * i, &size, sizeof(size));
	}
}

/* ---- absolute values, and missing ones ---- */

INLINE void change32(const struct load *l, unsigned char *to, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t word = little32(p + 4 * i) & (uint32_t)l->keep;
		memcpy(to + 4 * i, &word, sizeof(word));
	}
	for (uint32_t k = 0; k < l->missing.n; k++)
		for (size_t i = 0; i < n; i++)
			if (little32(p + 4 * i) == (uint32_t)l->missing.code[k])
				memcpy(to + 4 * i, &l->nan, 4);
}

INLINE void change64(const struct load *l, unsigned char *to, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t word = little64(p + 8 * i) & l->keep;
		memcpy(to + 8 * i, &word, sizeof(word));
	}
	for (uint32_t k = 0; k < l->missing.n; k++)
		for (size_t i = 0; i < n; i++)
			if (little64(p + 8 * i) == l->missing.code[k])
				memcpy(to + 8 * i, &l->nan, 8);
}

void load_samples(const struct load *l, unsigned char *to, const unsigned char *p, size_t n)
{
	const size_t whole = n - n % TOGETHER, at = l->bytes * whole;

#define KNOWN(size, real)                                                                         \
	if (l->magnitude && l->bytes == 2 * (size) && (l->part.kind == SAMPLE_FLOAT) == (real)) { \
		magnitudes(l, to, p, n, size, real);                                              \
		return;                                                                           \
	}
	KNOWN(1, false)
	KNOWN(2, false)
	KNOWN(3, false)
	KNOWN(4, false)
	KNOWN(8, false)
	KNOWN(1, true)
	KNOWN(2, true)
	KNOWN(4, true)
	KNOWN(8, true)
#undef KNOWN
	for (size_t i = 0; i < at; i += l->bytes * TOGETHER)
		l->bytes == 8 ? change64(l, to + i, p + i, TOGETHER)
			      : change32(l, to + i, p + i, TOGETHER);
	l->bytes == 8 ? change64(l, to + at, p + at, n - whole)
		      : change32(l, to + at, p + at, n - whole);
}
