/* SPDX-License-Identifier: MIT */
/* sample: bytes to values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

static const struct type types[] = {
	{"u8", 1, UNSIGNED, 0},  {"i8", 1, SIGNED, 0},    {"u16", 2, UNSIGNED, 0},
	{"i16", 2, SIGNED, 0},   {"u24", 3, UNSIGNED, 0}, {"i24", 3, SIGNED, 0},
	{"u32", 4, UNSIGNED, 0}, {"i32", 4, SIGNED, 0},   {"u64", 8, UNSIGNED, 0},
	{"i64", 8, SIGNED, 0},   {"f16", 2, FLOAT, 5},    {"bf16", 2, FLOAT, 8},
	{"f32", 4, FLOAT, 8},    {"f64", 8, FLOAT, 11},
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

static double decode_float(uint64_t code, int bits, int exponent_bits)
{
	int fraction_bits = bits - 1 - exponent_bits;
	int bias = (1 << (exponent_bits - 1)) - 1;
	int top = (1 << exponent_bits) - 1;
	uint64_t fraction = code & (((uint64_t)1 << fraction_bits) - 1);
	int exponent = (int)((code >> fraction_bits) & (uint64_t)top);
	bool negative = code >> (bits - 1) & 1;
	double magnitude;

	if (exponent == top)
		magnitude = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		magnitude = ldexp((double)fraction, 1 - bias - fraction_bits);
	else
		magnitude = ldexp((double)(fraction | (uint64_t)1 << fraction_bits),
				  exponent - bias - fraction_bits);
	return negative ? -magnitude : magnitude;
}

struct sample decode(const struct type *type, bool big_endian, const unsigned char *bytes)
{
	unsigned n = type->bytes;
	struct sample s = {0, 0, 0};
	uint64_t code = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned place = big_endian ? n - 1 - i : i;

		code |= (uint64_t)bytes[i] << (8 * place);
	}
	s.code = code;
	if (type->kind == FLOAT) {
		s.real = decode_float(code, (int)(8 * n), type->exponent_bits);
	} else {
		s.whole = (wide)code;
		if (type->kind == SIGNED && code >> (8 * n - 1))
			s.whole -= (wide)1 << (8 * n);
	}
	return s;
}

double largest_float(const struct type *type)
{
	unsigned bits = 8 * type->bytes;
	uint64_t infinity = (((uint64_t)1 << type->exponent_bits) - 1)
			    << (bits - 1 - (unsigned)type->exponent_bits);

	return decode_float(infinity - 1, (int)bits, type->exponent_bits);
}
