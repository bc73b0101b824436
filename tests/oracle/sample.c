/* SPDX-License-Identifier: MIT */
/* sample: bytes to values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

static const struct type types[] = {
	{"u8", 8, UNSIGNED, 0, 0},      {"i8", 8, SIGNED, 0, 0},
	{"u16", 16, UNSIGNED, 0, 0},    {"i16", 16, SIGNED, 0, 0},
	{"u24", 24, UNSIGNED, 0, 0},    {"i24", 24, SIGNED, 0, 0},
	{"u32", 32, UNSIGNED, 0, 0},    {"i32", 32, SIGNED, 0, 0},
	{"u64", 64, UNSIGNED, 0, 0},    {"i64", 64, SIGNED, 0, 0},
	{"f16", 16, FLOAT, 5, 0},       {"bf16", 16, FLOAT, 8, 0},
	{"f32", 32, FLOAT, 8, 0},       {"f64", 64, FLOAT, 11, 0},
	{"f8e4m3", 8, FLOAT, 4, 1},     {"f8e5m2", 8, FLOAT, 5, 0},
	{"u1bit", 1, UNSIGNED, 0, 0},   {"u2bit", 2, UNSIGNED, 0, 0},
	{"u4bit", 4, UNSIGNED, 0, 0},   {"i2bit", 2, SIGNED, 0, 0},
	{"i4bit", 4, SIGNED, 0, 0},     {"u10bit", 10, UNSIGNED, 0, 0},
	{"u12bit", 12, UNSIGNED, 0, 0}, {"u14bit", 14, UNSIGNED, 0, 0},
	{"i10bit", 10, SIGNED, 0, 0},   {"i12bit", 12, SIGNED, 0, 0},
	{"i14bit", 14, SIGNED, 0, 0},
};

_Noreturn void fail(int status, const char *what, const char *why)
{
	fprintf(stderr, "oracle: %s: %s\n", what, why);
	exit(status);
}

void *take_memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		fail(FAIL_SYSTEM, "memory", "not enough");
	return p;
}

unsigned char *read_file(const char *name, uint64_t *bytes)
{
	FILE *file = fopen(name, "rb");
	unsigned char *data;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		fail(FAIL_SYSTEM, name, "cannot be read");
	rewind(file);
	data = take_memory((size_t)size + 1, 1); /* a text ends with 0 */
	if (fread(data, 1, (size_t)size, file) != (size_t)size)
		fail(FAIL_SYSTEM, name, "cannot be read");
	fclose(file);
	*bytes = (uint64_t)size;
	return data;
}

const struct type *type_named(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == length && !memcmp(name, types[i].name, length))
			return &types[i];
	return NULL;
}

static double decode_float(uint64_t code, const struct type *type)
{
	int fraction_bits = (int)type->bits - 1 - type->exponent_bits;
	int bias = (1 << (type->exponent_bits - 1)) - 1;
	int top = (1 << type->exponent_bits) - 1;
	uint64_t fractions = ((uint64_t)1 << fraction_bits) - 1, fraction = code & fractions;
	int exponent = (int)((code >> fraction_bits) & (uint64_t)top);
	bool negative = code >> (type->bits - 1) & 1;
	double magnitude;

	if (exponent == top && type->finite && fraction == fractions)
		magnitude = (double)NAN;
	else if (exponent == top && !type->finite)
		magnitude = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		magnitude = ldexp((double)fraction, 1 - bias - fraction_bits);
	else
		magnitude = ldexp((double)(fraction | (uint64_t)1 << fraction_bits),
				  exponent - bias - fraction_bits);
	return negative ? -magnitude : magnitude;
}

/* Return the bits of a sample, put together one by one. */
static uint64_t code_at(const struct type *type, bool big_endian, const unsigned char *bytes,
			uint64_t i)
{
	unsigned bits = type->bits;
	uint64_t code = 0;

	for (unsigned k = 0; k < bits; k++) { /* from the least significant bit on */
		uint64_t place = i * bits + (big_endian ? bits - 1 - k : k);
		unsigned within = (unsigned)(place % 8);

		code |= (uint64_t)(bytes[place / 8] >> (big_endian ? 7 - within : within) & 1) << k;
	}
	return code;
}

struct sample decode(const struct type *type, bool big_endian, const unsigned char *bytes,
		     uint64_t i)
{
	uint64_t code = code_at(type, big_endian, bytes, i);
	struct sample s = {.code = code};

	if (type->kind == FLOAT) {
		s.real = decode_float(code, type);
	} else {
		s.whole = (wide)code;
		if (type->kind == SIGNED && code >> (type->bits - 1))
			s.whole -= (wide)1 << type->bits;
	}
	return s;
}

double largest_float(const struct type *type)
{
	double largest = 0;
	uint64_t top = ((uint64_t)1 << (type->bits - 1)) - 1;
	unsigned fraction_bits = type->bits - 1 - (unsigned)type->exponent_bits;

	/* the last finite one of the greatest exponent, or of the one before */
	for (int below = 0; below < 2 && !(largest > 0); below++)
		for (uint64_t less = 0; less < 2 && !(largest > 0); less++) {
			double x = decode_float(top - less - ((uint64_t)(below) << fraction_bits),
						type);

			largest = isfinite(x) ? x : 0;
		}
	return largest;
}
