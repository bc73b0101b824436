/* SPDX-License-Identifier: MIT */
/*
 * header: parses the headers of NumPy's .npy, WAVE, PGM and PPM.
 *
 * Pure. A scan asks for a few bytes at a time, in the order of the file and each byte once, and
 * skips the bytes between them, be it a chunk of 4 GiB. So the same code reads a file at offsets, a
 * pipe without a byte too many, the output of a decoder, and memory. A scan allocates nothing and
 * trusts no number of a header: it checks products, and limits the length of a header and the
 * number of its chunks.
 *
 *	header_begin(&scan, format, bytes of its magic number);
 *	while ((result = header_step(&scan, bytes, n)) == HEADER_MORE)
 *		read n = scan.want bytes at offset scan.at, fewer at the end of the input
 *
 * Once an input is recognised by its magic number (first.h), an inconsistent header is an error.
 */
#ifndef GPUHIST_INPUT_HEADER_H
#define GPUHIST_INPUT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

/* Most bytes that a scan asks for in one step: the limit of NumPy for its own header. */
#define HEADER_PIECE 10000u
#define HEADER_TO_END UINT64_MAX /* up to the end of the input */
#define HEADER_WHY 192

/* The content of a header. Samples are contiguous. */
struct header {
	const char *format; /* for messages: ".npy", "WAVE", "PGM", "safetensors"; NULL: none */
	const char *input;  /* first input: the name of the one that has the header */
	struct sample_type type;
	bool untyped;      /* `type` is the usual one of such samples; -t must name it */
	uint32_t channels; /* interleaved channels, at least 1; 2 for complex numbers */
	bool pair;         /* samples are complex numbers */
	uint64_t begin;    /* offset of the first sample */
	uint64_t bytes;    /* bytes of all samples; HEADER_TO_END: unknown */
	bool open;         /* `bytes` may be the placeholder of a writer that cannot seek back */
	bool within;       /* the samples are one tensor of a file; others may follow */
	uint64_t end;      /* offset of the end of the file; 0: samples end it, or it is unknown */
	uint32_t axes;     /* array: number of axes */
	uint64_t last;     /* array: length of the last axis, or 1 without axes */
	bool fortran;      /* array: neighbours in memory are not along the last axis */
	uint32_t valid_bits; /* valid upper bits of each sample; 0: all */
};

enum header_result {
	HEADER_BAD = -1, /* the header is wrong; `why` says how */
	HEADER_NONE,     /* no header */
	HEADER_MORE,     /* the scan needs `want` bytes at `at` */
	HEADER_FOUND,
};

struct header_scan {
	uint64_t at;          /* offset of the next bytes to read, after the last step's */
	size_t want;          /* number of bytes to read next, 1 to HEADER_PIECE */
	struct header header; /* the result */
	char why[HEADER_WHY]; /* for BAD: the reason */
	const struct header_format *format;
	/* Used by the formats. */
	int state;
	bool big;           /* WAVE: big endian */
	bool wide;          /* WAVE: a ds64 chunk may hold the sizes (RF64, BW64) */
	uint64_t data;      /* WAVE: bytes of samples in ds64; HEADER_TO_END: no ds64 yet */
	uint32_t block;     /* WAVE: bytes of one sample of every channel; 0: no fmt chunk yet */
	uint32_t chunks;    /* WAVE: chunks so far */
	uint64_t number[3]; /* numbers to remember between steps; PNM: width, height, maximum */
	bool digits;        /* PNM: inside a number */
	bool comment;       /* PNM: inside a comment */
};

/* Begin a scan after the magic number, of `magic` bytes. */
void header_begin(struct header_scan *h, const struct header_format *format, size_t magic);

/* Continue with the n bytes at scan.at; if n is less than scan.want, the input ends there. */
enum header_result header_step(struct header_scan *h, const unsigned char *bytes, size_t n);

/* Describe a header as -v shows it: "WAVE, i16, 2 channels, 88200 samples". */
#define HEADER_TEXT 160
void header_text(char text[HEADER_TEXT], const struct header *header);

/* ---- functions of header.c for the formats ---- */

/* Ask for n bytes, `skip` bytes after the bytes of this step. */
enum header_result header_want(struct header_scan *h, uint64_t skip, size_t n);
enum header_result header_bad(struct header_scan *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Set the header's type: integers or floats of `bytes` bytes. */
void header_type(struct header_scan *h, char kind, uint32_t bytes, bool big);

/* Set *product to a * b; false: more than 2^64 - 2. */
bool header_product(uint64_t a, uint64_t b, uint64_t *product);

/* Each format is such a struct in a file of its own, and a row of the table in first.c. */
struct header_format {
	enum header_result (*step)(struct header_scan *h, const unsigned char *bytes);
};

#endif
