/* SPDX-License-Identifier: MIT */
/*
 * load: turns the numbers of an input into the samples to count, if these differ: absolute values
 * of floats of 32 and 64 bits, and magnitudes (--abs); NaN for values that stand for missing
 * samples (--missing). Codes are counted as they are (hist.c).
 */
#ifndef GPUHIST_LOAD_H
#define GPUHIST_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/missing.h"

struct load {
	bool on;        /* false: samples are the numbers themselves */
	bool magnitude; /* a sample is made of two numbers */
	struct sample_type
		part; /* magnitudes: the type of these, and of the words that hold them */
	struct sample_type word;
	uint32_t bytes; /* bytes of a sample in the input */
	uint64_t keep;  /* not for magnitudes: the bits to keep, in the byte order of the input */
	uint64_t nan;   /* a NaN in that order */
	/* the values that mean "missing"; but for magnitudes, in the byte order of the input */
	struct missing missing;
};

struct load load_of(const struct sample_type *type, const struct missing *missing);

/* Make n samples; `to` has room for 8 bytes of each. */
void load_samples(const struct load *load, unsigned char *to, const unsigned char *from, size_t n);

#endif
