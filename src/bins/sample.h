/* SPDX-License-Identifier: MIT */
/*
 * sample: the type of a sample: its kind, its size, its byte order.
 *
 * Samples that do not fill whole bytes are "packed": the first one is in the lowest bits of its
 * bytes, or, with "big", in the highest. If a byte holds several samples, readers and counters
 * treat the byte as one sample, a code of 8 bits, and hist.c takes the codes apart at the end.
 * Samples of 10, 12 and 14 bits are unpacked by gather.c to the lowest bits of 16-bit codes.
 *
 * With --mask, a sample is some neighbouring bits of a word of 8 or 16 bits. The words are counted,
 * and hist.c turns their counts into counts of samples at the end. Only for magnitudes, load.c
 * masks each number.
 *
 * With --abs, the name of the type has bars: |i16|. Codes are counted as words, too. load.c clears
 * the sign of larger floats, and makes the magnitude of two numbers, an f64: |ci16|.
 */
#ifndef GPUHIST_SAMPLE_H
#define GPUHIST_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/wide.h"

enum sample_kind { SAMPLE_UNSIGNED, SAMPLE_SIGNED, SAMPLE_FLOAT };

struct sample_type {
	char name[16];       /* as in -t, with "be" if big endian; for messages and JSON */
	uint32_t bits;       /* bits of a sample in an input */
	uint32_t code_bytes; /* bytes of a sample, or of packed samples, to count: 1, 2, 3, 4, 8 */
	enum sample_kind kind; /* unsigned, two's complement, IEEE binary (or bfloat16, f8e4m3) */
	uint32_t mantissa;     /* explicit mantissa bits of a float: 2, 3, 7, 10, 23, 52; else 0 */
	bool big;              /* bytes, or packed samples, come most significant first */
	bool abs;              /* --abs */
	/* --mask, --abs: bits of a counted word, 8 or 16, or of both numbers of a pair; else 0 */
	uint32_t word;
	uint32_t low; /* --mask: the lowest bit of a word that belongs to the sample */
	/* 16 bits, but counted like wider types: too many channels for a table of codes each. */
	bool binned;
};

/* Are the codes of samples counted, and binned at the end? */
static inline bool sample_is_code(const struct sample_type *type)
{
	return type->code_bytes <= 2 && !type->binned;
}

/*
 * The type as which samples are counted: their own or, for binned ones, one of 32 bits that has the
 * same values. sample_widened returns the word of a code.
 */
struct sample_type sample_type_counted(const struct sample_type *type);
uint32_t sample_widened(const struct sample_type *type, const struct sample_type *word,
			uint32_t code);

/* The sample of a code of up to 16 bits, in the machine's byte order; word: sample_type_word(). */
uint32_t sample_of_code(const struct sample_type *type, const struct sample_type *word,
			uint32_t code);

/* Samples of a "group", the fewest that fill whole bytes: 1, or for packed types 2, 4 or 8. */
static inline uint32_t sample_group(const struct sample_type *type)
{
	return type->bits % 8 > 0 && type->word == 0 ? 8 / (type->bits & -type->bits) : 1;
}

/* Are samples unpacked before they are counted? */
static inline bool sample_unpacks(const struct sample_type *type)
{
	return type->bits % 8 > 0 && type->code_bytes == 2 && type->word == 0;
}

/* The fewest samples that make whole groups and records of this many channels. */
static inline uint32_t sample_whole_group(const struct sample_type *type, uint32_t channels)
{
	uint32_t n = channels;

	while (n % sample_group(type) > 0)
		n += channels;
	return n;
}

/* Bytes of n samples in an input. */
static inline uint64_t sample_bytes(const struct sample_type *type, uint64_t n)
{
	return (n * (type->word > 0 ? type->word : type->bits) + 7) / 8;
}

/*
 * Find a type by any name that has one meaning, in other tools too, in either case; a byte order
 * may follow. *pair: the name is one of complex numbers, which are two samples. -1: not a type's
 * name.
 */
int sample_type_named(struct sample_type *type, bool *pair, const char *text);

/* Find a type by the name that struct sample_type has. -1: not such a name. */
int sample_type_parse(struct sample_type *type, const char *text);

/*
 * Turn the type of words into the type of the samples in these bits of them (--mask); the highest
 * bit of a signed sample is its sign. A mask of all bits changes nothing. Return why it is
 * impossible, or NULL.
 */
const char *sample_type_mask(struct sample_type *type, uint32_t mask);

/*
 * Make the type of the absolute values (--abs), or of the magnitudes of pairs. Return why it is
 * impossible, or NULL.
 */
const char *sample_type_abs(struct sample_type *type, bool pair);

/* Is a sample the magnitude of two numbers? */
static inline bool sample_is_magnitude(const struct sample_type *type)
{
	return type->abs && type->name[1] == 'c';
}

/* The type before --abs; for a magnitude, the type of each of its two numbers. */
struct sample_type sample_type_signed(const struct sample_type *type);

/* The type of the words that an input has, before --mask and --abs. */
struct sample_type sample_type_word(const struct sample_type *type);

/* The sample of a word in the machine's byte order. */
static inline uint32_t sample_masked(const struct sample_type *type, uint32_t word)
{
	const uint32_t sample = word >> type->low & ((1u << type->bits) - 1);
	const uint32_t sign = 1u << (type->bits - 1);

	if (!type->abs || sample < sign)
		return sample;
	return type->kind == SAMPLE_FLOAT ? sample - sign : 2 * sign - sample;
}

/* Say which two meanings a name has, or why gpuhist does not read the type; otherwise NULL. */
const char *sample_type_ambiguous(const char *text);

/* Say why the text is not a type's name. */
const char *sample_type_refused(const char *text);

/* The smallest value of an integer type, which has key 0; 0 for floats. */
int128_t sample_min(const struct sample_type *type);

/* The largest value of an integer type. */
int128_t sample_max(const struct sample_type *type);

/* The largest finite magnitude of a float type. */
double sample_max_finite(const struct sample_type *type);

/*
 * Turn a code of 8 or 16 bits, read from memory as little endian, into the number that it has in
 * the type's byte order, or the number into the code.
 */
static inline uint32_t sample_swapped(const struct sample_type *type, uint32_t code)
{
	return type->big && type->bits == 16 ? (code & 255) << 8 | code >> 8 : code;
}

/* The value of a code of a type of up to 16 bits, after sample_swapped. */
double sample_value(const struct sample_type *type, uint32_t code);

/* Float types: the key (binning.h) of the binary64 nearest to x for f64, else of the binary32. */
uint64_t sample_key(const struct sample_type *type, double x);

/* Float types: the value of a key. */
double sample_of_key(const struct sample_type *type, uint64_t key);

#endif
