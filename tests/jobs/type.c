/* SPDX-License-Identifier: MIT */
/* type: the types, and the order of their values. */

#include "job.h"

#include <math.h>
#include <stddef.h>

static const struct type types[] = {
	{"u8", "u1", 8, UNSIGNED, 0, 0},      {"i8", "i1", 8, SIGNED, 0, 0},
	{"u16", "u2", 16, UNSIGNED, 0, 0},    {"i16", "i2", 16, SIGNED, 0, 0},
	{"u24", NULL, 24, UNSIGNED, 0, 0},    {"i24", NULL, 24, SIGNED, 0, 0},
	{"u32", "u4", 32, UNSIGNED, 0, 0},    {"i32", "i4", 32, SIGNED, 0, 0},
	{"u64", "u8", 64, UNSIGNED, 0, 0},    {"i64", "i8", 64, SIGNED, 0, 0},
	{"f16", "f2", 16, FLOAT, 5, 0},       {"bf16", NULL, 16, FLOAT, 8, 0},
	{"f32", "f4", 32, FLOAT, 8, 0},       {"f64", "f8", 64, FLOAT, 11, 0},
	{"u1bit", NULL, 1, UNSIGNED, 0, 0},   {"u2bit", NULL, 2, UNSIGNED, 0, 0},
	{"u4bit", NULL, 4, UNSIGNED, 0, 0},   {"i2bit", NULL, 2, SIGNED, 0, 0},
	{"i4bit", NULL, 4, SIGNED, 0, 0},     {"f8e4m3", NULL, 8, FLOAT, 4, 1},
	{"f8e5m2", NULL, 8, FLOAT, 5, 0},     {"u10bit", NULL, 10, UNSIGNED, 0, 0},
	{"u12bit", NULL, 12, UNSIGNED, 0, 0}, {"u14bit", NULL, 14, UNSIGNED, 0, 0},
	{"i10bit", NULL, 10, SIGNED, 0, 0},   {"i12bit", NULL, 12, SIGNED, 0, 0},
	{"i14bit", NULL, 14, SIGNED, 0, 0},
};

const struct type *draw_type(void)
{
	return &types[below(sizeof(types) / sizeof(types[0]))];
}

unsigned packed_in(const struct type *t)
{
	unsigned n = 1;

	while (n * t->bits % 8)
		n++;
	return n;
}

uint64_t sign_of(const struct type *t)
{
	return (uint64_t)1 << (t->bits - 1);
}

uint64_t mask_of(const struct type *t)
{
	return sign_of(t) * 2 - 1;
}

uint64_t infinity_of(const struct type *t)
{
	if (t->finite) /* the code of the first NaN */
		return sign_of(t) - 1;
	return sign_of(t) - ((uint64_t)1 << (t->bits - 1 - t->exponent_bits));
}

uint64_t code_of_key(const struct type *t, uint64_t key)
{
	key &= mask_of(t);
	if (t->kind == UNSIGNED)
		return key;
	if (t->kind == SIGNED || key & sign_of(t))
		return key ^ sign_of(t);
	return ~key & mask_of(t);
}

wide min_of(const struct type *t)
{
	return t->kind == SIGNED ? -(wide)sign_of(t) : 0;
}

wide max_of(const struct type *t)
{
	return min_of(t) + (wide)mask_of(t);
}

uint64_t key_of_whole(const struct type *t, wide x)
{
	if (x < min_of(t))
		x = min_of(t);
	if (x > max_of(t))
		x = max_of(t);
	return (uint64_t)(x - min_of(t));
}

double real_of_key(const struct type *t, uint64_t key)
{
	uint64_t code = code_of_key(t, key);
	int places = (int)(t->bits - 1 - t->exponent_bits);
	uint64_t one = (uint64_t)1 << places;
	int exponent = (int)((code & ~sign_of(t)) >> places);
	int bias = (1 << (t->exponent_bits - 1)) - 1;
	double x;

	if ((code & ~sign_of(t)) == infinity_of(t))
		x = (double)INFINITY;
	else if (exponent)
		x = ldexp((double)((code & (one - 1)) | one), exponent - bias - places);
	else
		x = ldexp((double)(code & (one - 1)), 1 - bias - places);
	return code & sign_of(t) ? -x : x;
}

uint64_t key_of_real(const struct type *t, double x)
{
	uint64_t low = ~(infinity_of(t) | sign_of(t)) & mask_of(t);
	uint64_t high = infinity_of(t) | sign_of(t);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (real_of_key(t, middle) < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t draw_finite_key(const struct type *t)
{
	uint64_t magnitude =
		once_in(2) ? below(infinity_of(t)) : draw_magnitude(t->bits - 1) % infinity_of(t);

	return once_in(2) ? sign_of(t) + magnitude : sign_of(t) - 1 - magnitude;
}
