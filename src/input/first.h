/* SPDX-License-Identifier: MIT */
/*
 * first: what the first bytes of an input show, beside zstd (zstd_frame.h) and headers (header.h):
 * a format that is not read, or text. Pure.
 */
#ifndef GPUHIST_FIRST_H
#define GPUHIST_FIRST_H

#include <stdbool.h>
#include <stddef.h>

#include "input/header.h"

#define FIRST_BYTES 12u /* this many bytes show any magic number */
_Static_assert(FIRST_BYTES >= HEADER_MAGIC, "a header's, too");
#define FIRST_TEXT 4096u /* this many bytes of text are an input that is text */

/*
 * Do n bytes begin a format that is not read? FOUND: *advice says which, and what to do about it.
 * MORE: not known yet; never with FIRST_BYTES.
 */
enum header_result first_refused(const unsigned char *bytes, size_t n, const char **advice);

/* What was seen of an input that may be text: printable characters and white space in UTF-8. */
struct text {
	bool other;    /* it is not, or is not looked at */
	bool document; /* it names UHI's schema, as histograms in JSON do */
	size_t seen;
	size_t alike;              /* bytes of that name that were seen just now */
	unsigned rest;             /* bytes that the last character lacks; of the next one: */
	unsigned char least, most; /* ... what it must be */
};

/* Is there still to be seen whether it is text? */
static inline bool text_open(const struct text *t)
{
	return !t->other && t->seen < FIRST_TEXT;
}

/* The next n bytes; what is after FIRST_TEXT is not looked at. */
void text_add(struct text *t, const unsigned char *bytes, size_t n);

/* Is it text, as far as FIRST_TEXT, or to its end if it `ended`? */
bool text_found(const struct text *t, bool ended);

#endif
