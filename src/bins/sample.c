/* SPDX-License-Identifier: MIT */
/* sample: the list of types and their names. */
#include "bins/sample.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* name, NumPy's code, NumPy's long name ("" where it has none), bytes, kind, mantissa bits */
/* clang-format off */
static const struct {
	const char *name, *code, *word;
	uint32_t bytes;
	enum sample_kind kind;
	uint32_t mantissa;
} TYPES[] = {
	{"u8", "u1", "uint8", 1, SAMPLE_UNSIGNED, 0},
	{"i8", "i1", "int8", 1, SAMPLE_SIGNED, 0},
	{"u16", "u2", "uint16", 2, SAMPLE_UNSIGNED, 0},
	{"i16", "i2", "int16", 2, SAMPLE_SIGNED, 0},
	{"u24", "u3", "uint24", 3, SAMPLE_UNSIGNED, 0},
	{"i24", "i3", "int24", 3, SAMPLE_SIGNED, 0},
	{"u32", "u4", "uint32", 4, SAMPLE_UNSIGNED, 0},
	{"i32", "i4", "int32", 4, SAMPLE_SIGNED, 0},
	{"u64", "u8", "uint64", 8, SAMPLE_UNSIGNED, 0},
	{"i64", "i8", "int64", 8, SAMPLE_SIGNED, 0},
	{"f16", "f2", "float16", 2, SAMPLE_FLOAT, 10},
	{"bf16", "", "bfloat16", 2, SAMPLE_FLOAT, 7},
	{"f32", "f4", "float32", 4, SAMPLE_FLOAT, 23},
	{"f64", "f8", "float64", 8, SAMPLE_FLOAT, 52},
};
/* clang-format on */

int sample_type_parse(struct sample_type *type, const char *text)
{
	/* NumPy's order mark makes the rest a NumPy code: "u8" is one byte, "<u8" is eight. */
	char mark = *text != '\0' && strchr("<>|=", *text) ? *text++ : '\0';

	size_t length = strlen(text);
	bool big = mark == '>';
	if (mark == '\0' && length > 2 &&
	    (memcmp(text + length - 2, "be", 2) == 0 || memcmp(text + length - 2, "le", 2) == 0)) {
		big = text[length - 2] == 'b';
		length -= 2;
	}
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
		const char *names[2] = {mark ? TYPES[i].code : TYPES[i].name, TYPES[i].word};
		for (int k = 0; k < 2; k++) {
			if (length == 0 || strlen(names[k]) != length ||
			    memcmp(names[k], text, length) != 0)
				continue;
			*type = (struct sample_type){
				.bytes = TYPES[i].bytes,
				.kind = TYPES[i].kind,
				.mantissa = TYPES[i].mantissa,
				.big = big && TYPES[i].bytes > 1,
			};
			snprintf(type->name, sizeof(type->name), "%s%s", TYPES[i].name,
				 type->big ? "be" : "");
			return 0;
		}
	}
	return -1;
}

int128_t sample_min(const struct sample_type *type)
{
	if (type->kind != SAMPLE_SIGNED)
		return 0;
	return -((int128_t)1 << (8 * type->bytes - 1));
}

int128_t sample_max(const struct sample_type *type)
{
	return sample_min(type) + (((int128_t)1 << (8 * type->bytes)) - 1);
}

double sample_max_finite(const struct sample_type *type)
{
	switch (type->mantissa) {
	case 10:
		return 65504;
	case 7:
		return 0x1.fep127;
	case 23:
		return (double)FLT_MAX;
	default:
		return DBL_MAX;
	}
}

double sample_half(const struct sample_type *type, uint32_t code)
{
	const int mantissa_bits = (int)type->mantissa;
	const int exponent_max = (1 << (15 - mantissa_bits)) - 1;
	const int bias = exponent_max / 2;
	const int mantissa = (int)code & ((1 << mantissa_bits) - 1);
	const int exponent = (int)(code & 0x7fff) >> mantissa_bits;
	const double sign = code & 0x8000 ? -1.0 : 1.0;

	if (exponent == exponent_max)
		return mantissa ? (double)NAN : sign * (double)INFINITY;
	if (exponent == 0)
		return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
	return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

double sample_code(const struct sample_type *type, uint32_t code)
{
	if (type->kind == SAMPLE_FLOAT)
		return sample_half(type, code);
	return (double)code - (code > sample_max(type) ? 2 * (double)(sample_max(type) + 1) : 0);
}

double value_of_float_key(unsigned bits, uint64_t key)
{
	float f;
	double d;

	if (bits == 32) {
		const uint32_t word =
			key & 0x80000000u ? (uint32_t)key ^ 0x80000000u : ~(uint32_t)key;
		memcpy(&f, &word, sizeof(f));
		return (double)f;
	}
	const uint64_t word = key >> 63 ? key ^ (uint64_t)1 << 63 : ~key;
	memcpy(&d, &word, sizeof(d));
	return d;
}
