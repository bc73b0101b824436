/* SPDX-License-Identifier: MIT */
/* load: absolute values and magnitudes. */
#include "count/load.h"

#include <math.h>
#include <string.h>

#include "base/little.h"
#include "bins/binning.h"

#define INLINE static inline __attribute__((always_inline))
#define TOGETHER 16u /* a loop of constant length becomes vectors at any level of optimisation */

struct load load_of(const struct sample_type *type)
{
	const bool wide = type->code_bytes == 8;
	const uint64_t sign = (uint64_t)1 << (type->bits - 1);

	return (struct load){
		.on = type->abs && (type->code_bytes > 2),
		.magnitude = sample_is_magnitude(type),
		.part = sample_type_signed(type),
		.word = sample_type_word(type),
		.bytes = (uint32_t)sample_bytes(type, 1),
		.keep = ~(!type->big ? sign
			  : wide     ? __builtin_bswap64(sign)
				     : __builtin_bswap32((uint32_t)sign)),
	};
}

/* ---- magnitudes ---- */

/* The value of a number, from 0 on for complex types; unsigned ones are centred. */
INLINE double part_value(const struct load *l, const unsigned char *p, uint32_t bytes, bool real)
{
	const struct sample_type *const type = &l->part;
	uint64_t bits = bytes == 1 ? *p : word_at(p, bytes, l->word.big);

	if (real && bytes == 8)
		return double_of_bits(bits);
	if (real && bytes == 4)
		return (double)float_of_bits((uint32_t)bits);
	if (type->word > 0)
		bits = sample_masked(type, (uint32_t)bits);
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

/* ---- absolute values ---- */

INLINE void mask32(unsigned char *to, const unsigned char *p, size_t n, uint32_t keep)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t word = little32(p + 4 * i) & keep;
		memcpy(to + 4 * i, &word, sizeof(word));
	}
}

INLINE void mask64(unsigned char *to, const unsigned char *p, size_t n, uint64_t keep)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t word = little64(p + 8 * i) & keep;
		memcpy(to + 8 * i, &word, sizeof(word));
	}
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
		l->bytes == 8 ? mask64(to + i, p + i, TOGETHER, l->keep)
			      : mask32(to + i, p + i, TOGETHER, (uint32_t)l->keep);
	l->bytes == 8 ? mask64(to + at, p + at, n - whole, l->keep)
		      : mask32(to + at, p + at, n - whole, (uint32_t)l->keep);
}
