/* SPDX-License-Identifier: MIT */
/*
 * first: what the first bytes of an input show, beside zstd (zstd_frame.h): a header, a format that
 * is not read, or text. Pure. A format is a row of the table in first.c.
 */
#ifndef GPUHIST_FIRST_H
#define GPUHIST_FIRST_H

#include <stdbool.h>
#include <stddef.h>

#include "input/header.h"

#define FIRST_BYTES 16u  /* this many bytes show any magic number at the beginning */
#define FIRST_LATER 262u /* this many show any elsewhere, and are not waited for */
#define FIRST_TEXT 4096u /* this many bytes of text are an input that is text */
/* an input of only text, and of at least this many bytes, is text; fewer may well be samples */
#define FIRST_TEXT_LEAST 16u

struct input_format {
	const char *magic; /* first.c says what some of its characters stand for */
	size_t length;
	size_t at;                          /* the magic number's offset */
	const struct header_format *header; /* reads the header; NULL: the format is not read */
	bool packed;        /* no samples are in it, so that -t cannot mean its bytes */
	const char *advice; /* its name and how to convert it; NULL: a safetensors file */
	const char *suffix; /* of names that promise it; NULL: its names are not looked at */
};

/* Which formats are looked for: all; those that -t leaves; those with a header that is read. */
enum formats { FORMATS_ALL, FORMATS_TYPED, FORMATS_READ };

/*
 * Do n bytes begin such a format? FOUND: *format is it. MORE: not known yet; never with
 * FIRST_BYTES, as what shows later is not waited for.
 */
enum header_result first_format(const unsigned char *bytes, size_t n, enum formats which,
				const struct input_format **format);

/* The format's advice. A zip archive may be PyTorch's, which its first member shows. */
const char *first_advice(const struct input_format *f, const unsigned char *bytes, size_t n);

/* The suffix by which a name of this length promises a format, or NULL. */
const char *first_promise(const char *name, size_t length);

/* Are n bytes text? `ended`: they are the whole input. JSON: it is a histogram of ours. */
enum first_text { TEXT_NONE, TEXT_MORE, TEXT_FOUND, TEXT_JSON };
enum first_text first_text(const unsigned char *bytes, size_t n, bool ended);

#endif
