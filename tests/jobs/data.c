/* SPDX-License-Identifier: MIT */
/* data: samples with difficult values. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

/* Draw a value that only floats can have: NaN of every sign and payload, infinities, subnormal
 * numbers, both zeros. */
static uint64_t draw_special(const struct type *t)
{
	uint64_t sign = once_in(2) ? sign_of(t) : 0;
	uint64_t fraction = draw() & (sign_of(t) - infinity_of(t) - 1);

	switch (below(6)) {
	case 0:
		return sign | infinity_of(t) | fraction;
	case 1:
		return sign | (sign_of(t) - 1);
	case 2:
		return sign | (infinity_of(t) + 1);
	case 3:
		return sign | infinity_of(t);
	case 4:
		return sign | fraction;
	default:
		return sign;
	}
}

enum pattern { NOISE, INSIDE, ON_EDGES, ON_ENDS, EXTREMES, SPECIALS, PATTERNS };

/*
 * Return the pattern to draw instead if a job's samples must stay near one another: none far away,
 * although some may not be finite.
 */
static enum pattern tamed(const struct job *j, enum pattern pattern, bool narrow)
{
	if (narrow)
		return INSIDE;
	if (pattern == NOISE || (pattern == SPECIALS && j->type->kind != FLOAT))
		return INSIDE;
	return pattern == EXTREMES ? ON_ENDS : pattern;
}

static uint64_t draw_tame_special(const struct type *t)
{
	uint64_t sign = once_in(2) ? sign_of(t) : 0;

	return sign | (infinity_of(t) + (once_in(3) ? 1 : 0));
}

static uint64_t draw_code(const struct job *j, enum pattern pattern, unsigned narrow)
{
	const struct type *t = j->type;
	uint64_t first = j->edge_key[0], width = j->edge_key[1] - first;
	wide key;

	switch (pattern) {
	case INSIDE: /* or in the middle */
		first += width / 2 - (width >> narrow) / 2;
		width >>= narrow;
		return code_of_key(t, first + (width == UINT64_MAX ? draw() : below(width + 1)));
	case ON_EDGES:
		key = (wide)j->edge_key[below(j->edge_keys)] + (wide)below(4) - 2;
		break;
	case ON_ENDS:
		key = (wide)j->edge_key[below(2)] + (wide)below(4) - 2;
		break;
	case EXTREMES:
		key = (wide)(once_in(2) ? 0 : mask_of(t)) + (wide)below(4) - 2;
		break;
	case SPECIALS:
		if (t->kind == FLOAT && j->tame)
			return draw_tame_special(t);
		if (t->kind == FLOAT)
			return draw_special(t);
		return draw_magnitude(t->bits);
	default:
		return draw() & mask_of(t);
	}
	if (key < 0)
		key = 0;
	if (key > (wide)mask_of(t))
		key = (wide)mask_of(t);
	return code_of_key(t, (uint64_t)key);
}

/* Store sample i, counted from these bytes on. */
static void put_code(const struct job *j, unsigned char *at, size_t i, uint64_t code)
{
	unsigned bits = j->type->bits, bytes = bits / 8, packed = packed_in(j->type);

	for (unsigned k = 0; packed > 1 && k < bits; k++) {
		size_t place = i * bits + (j->big_endian ? bits - 1 - k : k);
		unsigned bit = (unsigned)(j->big_endian ? 7 - place % 8 : place % 8);

		at[place / 8] =
			(unsigned char)((at[place / 8] & ~(1u << bit)) | (code >> k & 1) << bit);
	}
	if (packed > 1)
		return;
	at += i * bytes;
	for (unsigned k = 0; k < bytes; k++)
		at[j->big_endian ? bytes - 1 - k : k] = (unsigned char)(code >> 8 * k);
}

void fill_samples(const struct job *j, unsigned char *at, size_t samples)
{
	const struct type *t = j->type;
	size_t done = 0;
	unsigned narrow = j->tame && !once_in(3) ? (unsigned)below(t->bits) : 0; /* at first */
	/* the range grows late */
	unsigned outliers = j->tame && once_in(2) ? (unsigned)below(4) : 0;

	while (samples) {
		size_t left = 1 + below(once_in(2) ? samples : 1 + samples / 5);
		enum pattern pattern = (enum pattern)below(PATTERNS);
		unsigned texture = (unsigned)below(8);
		uint64_t code = draw_code(j, pattern, narrow);
		uint64_t key = j->edge_key[below(j->edge_keys)] - below(left);
		bool far = outliers && once_in(2);

		narrow -= (unsigned)below(narrow / 2 + 2) % (narrow + 1);
		if (j->tame) {
			pattern = far ? pattern : tamed(j, pattern, narrow > 0);
			code = draw_code(j, pattern, narrow);
			texture += texture == 0;
		}
		if (far) {
			outliers--;
			left = 1;
		}
		for (; left; left--, samples--, done++) {
			if (texture == 0)
				code = code_of_key(t, key++);
			else if (texture == 1 ? once_in(30) : texture > 2)
				code = draw_code(j, pattern, narrow);
			put_code(j, at, done, code);
		}
	}
}

void fill_noise(unsigned char *at, size_t bytes)
{
	uint64_t more = 0;

	for (size_t i = 0; i < bytes; i++) {
		more = i % 8 ? more >> 8 : draw();
		at[i] = (unsigned char)more;
	}
}

void fill_records(const struct job *j, unsigned char *at, size_t records)
{
	size_t width = (size_t)j->width * j->type->bits / 8, stride = (size_t)j->stride;
	unsigned char *samples;

	if (width == stride) {
		fill_samples(j, at, records * (size_t)j->width);
		return;
	}
	samples = calloc(records * width + 1, 1);
	if (!samples)
		die("memory");
	fill_samples(j, samples, records * (size_t)j->width);
	fill_noise(at, records * stride);
	for (size_t i = 0; i < records; i++)
		memcpy(at + i * stride + j->first_byte, samples + i * width, width);
	free(samples);
}
