/* SPDX-License-Identifier: MIT */
/*
 * sample: the type of a sample: its kind, its size, its byte order.
 *
 * Samples that are no whole bytes are packed: the first one is in the lowest bits of its bytes, or,
 * with "big", in the highest. Readers and counters take a byte of smaller samples for one sample, a
 * code of 8 bits; hist.c takes the codes apart at the end. gather.c unpacks samples of 10, 12 and 14
 * bits to codes of 16 bits, which hold the sample in their lowest bits.
 */
#ifndef GPUHIST_SAMPLE_H
#define GPUHIST_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/wide.h"

enum sample_kind { SAMPLE_UNSIGNED, SAMPLE_SIGNED, SAMPLE_FLOAT };

struct sample_type {
	char name[12];       /* as in -t, with "be" when big endian: for messages and JSON */
	uint32_t bits;       /* of a sample, in an input too */
	uint32_t code_bytes; /* 1, 2, 3, 4 or 8: of a sample to count, or of several packed ones */
	enum sample_kind kind; /* unsigned, two's complement, IEEE binary (or bfloat16, f8e4m3) */
	uint32_t mantissa;     /* explicit mantissa bits of a float: 2, 3, 7, 10, 23, 52; else 0 */
	bool big;              /* bytes, or packed samples, come most significant first */
};

/* The fewest samples that fill whole bytes, a "group": 1, or of a packed type 2, 4 or 8. */
static inline uint32_t sample_packed(const struct sample_type *type)
{
	return type->bits % 8 > 0 ? 8 / (type->bits & -type->bits) : 1;
}

/* Are samples unpacked before they are counted? */
static inline bool sample_unpacks(const struct sample_type *type)
{
	return type->bits % 8 > 0 && type->code_bytes == 2;
}

/* The fewest samples that are whole groups, and a sample or more of each channel. */
static inline uint32_t sample_together(const struct sample_type *type, uint32_t channels)
{
	uint32_t n = channels;

	while (n % sample_packed(type) > 0)
		n += channels;
	return n;
}

/* Bytes of n samples in an input. */
static inline uint64_t sample_bytes(const struct sample_type *type, uint64_t n)
{
	return (n * type->bits + 7) / 8;
}

/*
 * Takes any name that has one meaning, also those that types have in other tools, in either case; a
 * byte order may follow. *pair: it names complex numbers, two samples each. -1: it names no type.
 */
int sample_type_named(struct sample_type *type, bool *pair, const char *text);

/* Takes only a name as in struct sample_type. -1: it is no such name. */
int sample_type_parse(struct sample_type *type, const char *text);

/* "has two meanings: " and which, or why the type is not read; NULL: it is no such name. */
const char *sample_type_ambiguous(const char *text);

/* Why the text names no type. */
const char *sample_type_refused(const char *text);

/* Integer types: the value of the smallest key, and the largest value. */
int128_t sample_min(const struct sample_type *type);
int128_t sample_max(const struct sample_type *type);

/* The largest finite magnitude of a float type. */
double sample_max_finite(const struct sample_type *type);

/*
 * Turns a code of 8 or 16 bits, as it is in memory, read as little endian, into the number that it
 * is there, and such a number into the code.
 */
static inline uint32_t sample_swapped(const struct sample_type *type, uint32_t code)
{
	return type->big && type->bits == 16 ? (code & 255) << 8 | code >> 8 : code;
}

/*
 * The value of a code of a type of 16 bits or fewer. The code is a number of the type's bits, after
 * any change of byte order.
 */
double sample_code(const struct sample_type *type, uint32_t code);

/*
 * sample_key: the key (binning.h) of the float nearest to x, a binary64 for f64 and a binary32 for
 * all smaller types. sample_of_key: the value of a key.
 */
uint64_t sample_key(const struct sample_type *type, double x);
double sample_of_key(const struct sample_type *type, uint64_t key);

#endif
