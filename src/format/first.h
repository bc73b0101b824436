/* SPDX-License-Identifier: MIT */
/*
 * first: recognises a header, an unsupported format or text by the first bytes of an input. Pure. A
 * format is a row of the table in first.c; zstd has its own code (zstd_frame.h).
 */
#ifndef GPUHIST_FIRST_H
#define GPUHIST_FIRST_H

#include <stdbool.h>
#include <stddef.h>

#include "format/header.h"

#define FIRST_BYTES 16u      /* bytes up to the end of any magic number at the beginning */
#define FIRST_LATER 262u     /* bytes up to the end of any magic number; not waited for */
#define FIRST_TEXT 4096u     /* bytes that decide whether a longer input is text */
#define FIRST_TEXT_LEAST 16u /* a shorter input is never text, as it may well be samples */

struct input_format {
	const char *magic;                  /* its magic number, with the wildcards of first.c */
	size_t length;                      /* of the magic number */
	size_t at;                          /* offset of the magic number */
	const struct header_format *header; /* its parser; NULL: unsupported */
	bool packed;                        /* compressed, so -t cannot mean its bytes */
	const char *advice; /* its name and how to convert it; NULL: a safetensors file */
	const char *suffix; /* suffix of names that promise it; or NULL */
};

/* The formats to look for. */
enum formats {
	FORMATS_ALL,
	FORMATS_TYPED, /* with -t: compressed ones, and those with a header */
};

/*
 * Find the format that n bytes begin. FOUND: it is *format. MORE: more bytes are needed; never
 * with FIRST_BYTES, as a magic number at a later offset is not waited for.
 */
enum header_result first_format(const unsigned char *bytes, size_t n, enum formats which,
				const struct input_format **format);

/* Return the format's advice; for a zip archive of PyTorch, known by its first member, its own. */
const char *first_advice(const struct input_format *f, const unsigned char *bytes, size_t n);

/* Return the suffix by which a name of this length promises a format, or NULL. */
const char *first_promise(const char *name, size_t length);

/*
 * Find the type in which a name ends, also before .zst (a.f32, b.u16be.zst); false: it names none.
 * *suffix gets the text after its last dot, without .zst, or "".
 */
#define FIRST_SUFFIX 24 /* no type has a longer suffix */
bool first_named(struct sample_type *type, bool *pair, const char *name, char suffix[FIRST_SUFFIX]);

enum first_text {
	TEXT_NONE,
	TEXT_MORE, /* more bytes are needed */
	TEXT_FOUND,
	TEXT_JSON, /* a histogram that gpuhist wrote */
};

/* Are n bytes text? `ended`: they are the whole input. */
enum first_text first_text(const unsigned char *bytes, size_t n, bool ended);

#endif
