/*
 * cells_loops: the loops behind cells.h, compiled once for each instruction set with ISA set
 * to its name. The loops are plain C; they are written so that the compiler vectorises them:
 * one sample in, one cell out, no branch in between for the kinds that matter.
 */
#include <string.h>

#include "cells.h"
#include "little.h"

#ifndef ISA
#define ISA base
#endif
#define PASTE(a, b) a##_##b
#define NAME(a, b) PASTE(a, b)

BINNING_INLINE uint32_t load24(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

BINNING_INLINE uint32_t load24_big(const unsigned char *p)
{
	return (uint32_t)p[2] | (uint32_t)p[1] << 8 | (uint32_t)p[0] << 16;
}

BINNING_INLINE double float_of(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof(f));
	return (double)f;
}

BINNING_INLINE double double_of(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* load and kind are constants in every caller: what is left is one straight loop. */
BINNING_INLINE void loop(const struct binning *b, const unsigned char *p, size_t n,
			 uint32_t *restrict cells, enum cells_load load, uint32_t kind)
{
	const struct binning local = *b; /* nothing stored through cells can change it */
	const uint32_t bias = (uint32_t)local.bias;

	for (size_t i = 0; i < n; i++) {
		switch (load) {
		case LOAD_KEY24:
			cells[i] = bin_key32(&local, kind, load24(p + 3 * i) ^ bias);
			break;
		case LOAD_KEY24_BIG:
			cells[i] = bin_key32(&local, kind, load24_big(p + 3 * i) ^ bias);
			break;
		case LOAD_KEY32:
			cells[i] = bin_key32(&local, kind, little32(p + 4 * i) ^ bias);
			break;
		case LOAD_KEY32_BIG:
			cells[i] = bin_key32(&local, kind,
					     __builtin_bswap32(little32(p + 4 * i)) ^ bias);
			break;
		case LOAD_KEY64:
			cells[i] = bin_key64(&local, kind, little64(p + 8 * i) ^ local.bias);
			break;
		case LOAD_KEY64_BIG:
			cells[i] = bin_key64(&local, kind,
					     __builtin_bswap64(little64(p + 8 * i)) ^ local.bias);
			break;
		case LOAD_F32:
			cells[i] = bin_float(&local, kind, float_of(little32(p + 4 * i)));
			break;
		case LOAD_F32_BIG:
			cells[i] = bin_float(&local, kind,
					     float_of(__builtin_bswap32(little32(p + 4 * i))));
			break;
		case LOAD_F64:
			cells[i] = bin_float(&local, kind, double_of(little64(p + 8 * i)));
			break;
		default:
			cells[i] = bin_float(&local, kind,
					     double_of(__builtin_bswap64(little64(p + 8 * i))));
			break;
		}
	}
}

uint32_t NAME(cells_max, ISA)(const unsigned char *samples, size_t n)
{
	uint32_t max = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t v = little32(samples + 4 * i);
		max = v > max ? v : max;
	}
	return max;
}

#define LOOP(load, kind)                                                                        \
	static void load##_##kind(const struct binning *b, const unsigned char *p, size_t n,      \
				  uint32_t *cells)                                               \
	{                                                                                         \
		loop(b, p, n, cells, load, kind);                                                 \
	}

#define KEY32_LOOPS(load)                                                                        \
	LOOP(load, BIN_SHIFT)                                                                     \
	LOOP(load, BIN_MAGIC)                                                                     \
	LOOP(load, BIN_RATIO)                                                                     \
	LOOP(load, BIN_LINEAR)                                                                    \
	LOOP(load, BIN_SEARCH)                                                                    \
	LOOP(load, BIN_NONE)

#define KEY64_LOOPS(load)                                                                        \
	LOOP(load, BIN_SHIFT)                                                                     \
	LOOP(load, BIN_RATIO)                                                                     \
	LOOP(load, BIN_LINEAR)                                                                    \
	LOOP(load, BIN_SEARCH)                                                                    \
	LOOP(load, BIN_NONE)

#define FLOAT_LOOPS(load)                                                                        \
	LOOP(load, BIN_LINEAR)                                                                    \
	LOOP(load, BIN_SEARCH)

KEY32_LOOPS(LOAD_KEY24)
KEY32_LOOPS(LOAD_KEY24_BIG)
KEY32_LOOPS(LOAD_KEY32)
KEY32_LOOPS(LOAD_KEY32_BIG)
KEY64_LOOPS(LOAD_KEY64)
KEY64_LOOPS(LOAD_KEY64_BIG)
FLOAT_LOOPS(LOAD_F32)
FLOAT_LOOPS(LOAD_F32_BIG)
FLOAT_LOOPS(LOAD_F64)
FLOAT_LOOPS(LOAD_F64_BIG)

#define KEY32_ROW(load)                                                                          \
	[load] = {load##_BIN_SHIFT,  load##_BIN_MAGIC,  load##_BIN_RATIO,                         \
		  load##_BIN_LINEAR, load##_BIN_SEARCH, load##_BIN_NONE}
#define KEY64_ROW(load)                                                                          \
	[load] = {load##_BIN_SHIFT,  NULL, load##_BIN_RATIO,                                      \
		  load##_BIN_LINEAR, load##_BIN_SEARCH, load##_BIN_NONE}
#define FLOAT_ROW(load) [load] = {NULL, NULL, NULL, load##_BIN_LINEAR, load##_BIN_SEARCH, NULL}

const cells_table NAME(cells_table, ISA) = {
	KEY32_ROW(LOAD_KEY24), KEY32_ROW(LOAD_KEY24_BIG), KEY32_ROW(LOAD_KEY32),
	KEY32_ROW(LOAD_KEY32_BIG), KEY64_ROW(LOAD_KEY64), KEY64_ROW(LOAD_KEY64_BIG),
	FLOAT_ROW(LOAD_F32), FLOAT_ROW(LOAD_F32_BIG), FLOAT_ROW(LOAD_F64), FLOAT_ROW(LOAD_F64_BIG),
};
