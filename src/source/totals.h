/* SPDX-License-Identifier: MIT */
/* totals: adds up the inputs of a run. */
#ifndef GPUHIST_TOTALS_H
#define GPUHIST_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

/* Inputs to warn about. */
struct odd_inputs {
	uint64_t count;
	const char *name; /* the first of them */
};

/* Totals of a slice (source_part.c). Each skip, tail and input belongs to exactly one slice. */
struct slice_totals {
	uint64_t state; /* hash of the sizes and modification times of all inputs */
	uint64_t all;   /* records of all slices */
};

struct text_totals {
	uint64_t bytes;       /* bytes of text that were read */
	uint64_t bad;         /* bad lines that --skip-bad left out; the first of them: */
	size_t bad_path;      /* its index among the paths */
	const char *bad_name; /* its FILE */
	uint64_t bad_line;    /* its number */
	char bad_why[320];    /* its fault */
	bool dropped;         /* --finish left out a last line, which may be incomplete */
};

struct zstd_totals {
	uint64_t packed;       /* bytes of compressed inputs, before decoding */
	uint64_t unpacked;     /* bytes that a device decoded */
	unsigned jobs_at_wait; /* fewest live jobs while one waited for memory; 0: none waited */
};

/* Totals of the inputs that have ended: bytes = skipped + bytes of records + tail. */
struct source_totals {
	const char *first; /* unless raw: the first input; with --tensor, the first that has it */
	uint64_t bytes;
	uint64_t skipped;
	uint64_t tail;             /* bytes of partial records at the ends of inputs */
	uint64_t padding;          /* bits after the last packed records of inputs */
	uint64_t inputs;           /* inputs that were opened */
	uint64_t headers;          /* opened inputs with a header */
	uint64_t tails;            /* inputs with a partial record at their end */
	uint64_t shorter;          /* inputs that became shorter while they were read */
	uint64_t truncated;        /* inputs that ended before their headers say */
	uint64_t unsized;          /* inputs with a header that gives no length */
	uint64_t unopened;         /* inputs that --finish left unopened */
	struct odd_inputs empty;   /* inputs without a byte */
	struct odd_inputs texts;   /* inputs that are text, counted as binary */
	struct odd_inputs lacking; /* safetensors files that lack bytes after the tensor */
	struct odd_inputs behind;  /* inputs with bytes after their samples */
	uint64_t behind_bytes;     /* number of these bytes, which were not counted */
	bool finished;             /* --finish ended a stream */
	bool streamed;             /* at least one input was not a file */
	double waited;             /* seconds for which readers waited for the writers of streams */
	struct text_totals text;
	struct zstd_totals zstd;
	struct slice_totals slice;
};

#endif
