/* SPDX-License-Identifier: MIT */
/* sample: the type of a sample: its kind, its size, its byte order. */
#ifndef GPUHIST_SAMPLE_H
#define GPUHIST_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/wide.h"

enum sample_kind { SAMPLE_UNSIGNED, SAMPLE_SIGNED, SAMPLE_FLOAT };

struct sample_type {
	char name[8];          /* as in -t, with "be" when big endian: for messages and JSON */
	uint32_t bytes;        /* 1, 2, 3, 4 or 8 */
	enum sample_kind kind; /* unsigned, two's complement, IEEE binary (or bfloat16) */
	uint32_t mantissa;     /* explicit mantissa bits of a float: 7, 10, 23 or 52; else 0 */
	bool big;              /* bytes come most significant first */
};

/*
 * Any name that has one meaning, also those that types have in other tools: in either case, and a
 * byte order may follow. *pair: of complex numbers, two samples each. -1: it names no type.
 */
int sample_type_named(struct sample_type *type, bool *pair, const char *text);

/* A name as in struct sample_type. -1: it is no such name. */
int sample_type_parse(struct sample_type *type, const char *text);

/* Why the text names no type. */
const char *sample_type_refused(const char *text);

/* Integer types: the value of the smallest key, and the largest value. */
int128_t sample_min(const struct sample_type *type);
int128_t sample_max(const struct sample_type *type);

/* The largest finite magnitude of a float type. */
double sample_max_finite(const struct sample_type *type);

/*
 * The value of a code, of 16-bit floats and of all types of 8 or 16 bits. The code is a number of
 * the type's size, after any change of byte order.
 */
double sample_half(const struct sample_type *type, uint32_t code);
double sample_code(const struct sample_type *type, uint32_t code);

/*
 * The value of a float's key (binning.h): of 32 bits, as which 16-bit floats are read too, or 64.
 */
double value_of_float_key(unsigned bits, uint64_t key);

#endif
