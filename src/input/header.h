/* SPDX-License-Identifier: MIT */
/*
 * header: what an input says of itself: NumPy's .npy, WAVE, PGM and PPM.
 *
 * Pure: no file is read here. A scan asks for bytes, a few at a time and each once, in the order of
 * the file; what is between them is not needed, even if it is a chunk of 4 GiB. So the same code
 * reads a file at offsets, a pipe without a byte too many, the output of a decoder, and memory.
 * Nothing is allocated, and no number of a header is trusted: products are checked, and the length
 * of a header and the number of its chunks are limited.
 *
 *	header_begin(&scan, format, bytes of its magic number);
 *	while ((result = header_step(&scan, bytes, n)) == HEADER_MORE)
 *		get scan.want bytes at offset scan.at; n of them were there
 *
 * An input is recognised by its magic number (first.h). From then on a header that is not consistent
 * is an error.
 */
#ifndef GPUHIST_INPUT_HEADER_H
#define GPUHIST_INPUT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

/* the most bytes that a scan asks for in one step: NumPy reads no longer header */
#define HEADER_PIECE 10000u
#define HEADER_TO_END UINT64_MAX /* up to the end of the input */
#define HEADER_WHY 192

/* What was found. Samples follow one another from `begin` on. */
struct header {
	const char *format; /* for messages: ".npy", "WAVE", "PGM", "safetensors"; NULL: none */
	struct sample_type type; /* of the samples */
	uint32_t channels;       /* interleaved, at least 1; two for complex numbers */
	uint64_t begin;          /* bytes before the first sample */
	uint64_t bytes;          /* of all samples; HEADER_TO_END: the header does not say */
	/* `bytes` may be a placeholder of a writer that does not know the size yet */
	bool open;
	bool chunks;   /* other chunks may follow the samples; else nothing may, unless: */
	bool within;   /* the samples are one tensor of a file, so anything may follow */
	uint64_t end;  /* of the file, as the header says; HEADER_TO_END: not known */
	uint32_t axes; /* of an array: the number of its axes */
	/* of an array: the length of its last axis, 1 where it has none */
	uint64_t last;
	bool fortran;        /* of an array: neighbours in memory are not along the last axis */
	uint32_t valid_bits; /* how many upper bits of each sample are valid; 0: all */
};

enum header_result {
	HEADER_BAD = -1, /* it begins as a header does, but is wrong; `why` says how */
	HEADER_NONE,     /* there is no header; behind the samples: nothing that matters */
	HEADER_MORE,     /* the scan needs `want` bytes at `at` */
	HEADER_FOUND,
};

struct header_scan {
	/* offset of the bytes that the scan needs, never before those of the last step */
	uint64_t at;
	size_t want;          /* how many bytes the scan needs, 1 to HEADER_PIECE */
	struct header header; /* what was found */
	char why[HEADER_WHY]; /* for BAD: what is wrong */
	const struct header_format *format;
	/* Used by the formats: what was seen, and what comes next. */
	int state;
	bool big; /* WAVE: most significant byte first */
	/* WAVE: sizes may be in a ds64 chunk (RF64, BW64) */
	bool wide;
	uint64_t data;   /* WAVE: bytes of samples, as ds64 says; HEADER_TO_END: no ds64 yet */
	uint32_t block;  /* WAVE: bytes of one sample of every channel; 0: no fmt chunk yet */
	uint32_t chunks; /* WAVE: chunks so far */
	/* PNM: width, height, greatest value; other formats: what they keep between steps */
	uint64_t number[3];
	bool digits, comment; /* PNM: inside a number; inside a comment */
	bool after;           /* the samples have been passed over */
};

/* Begins a scan with the magic number, of `magic` bytes, which were seen. */
void header_begin(struct header_scan *h, const struct header_format *format, size_t magic);

/*
 * Continues with n of the bytes that the scan asked for; if they are fewer, the input ends there.
 */
enum header_result header_step(struct header_scan *h, const unsigned char *bytes, size_t n);

/*
 * After FOUND, for a header with chunks: continues after the samples, which are `bytes` long. From
 * then on steps return MORE, NONE where the last chunk ends, and BAD where samples come again, or
 * what begins like another header.
 */
void header_go_on(struct header_scan *h, uint64_t bytes);

/* As -v shows it: "WAVE, i16, 2 channels, 88200 samples". */
#define HEADER_TEXT 160
void header_text(char text[HEADER_TEXT], const struct header *header);

/* ---- what header.c shares with the formats ---- */

/* Asks for the n bytes after those of this step, once `skip` bytes are passed over. */
enum header_result header_want(struct header_scan *h, uint64_t skip, size_t n);
enum header_result header_bad(struct header_scan *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets the header's type: integers or floats of `bytes` bytes. */
void header_type(struct header_scan *h, char kind, uint32_t bytes, bool big);

/* a * b in *product; false: more than 2^64 - 2. */
bool header_product(uint64_t a, uint64_t b, uint64_t *product);

/* A format is such a struct in a file of its own, and a row of the table in first.c. */
struct header_format {
	enum header_result (*step)(struct header_scan *h, const unsigned char *bytes);
	/* Asks for what is behind the samples, from offset `at` on; NULL: nothing may be there. */
	enum header_result (*behind)(struct header_scan *h, uint64_t at);
};

#endif
