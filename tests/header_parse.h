/* SPDX-License-Identifier: MIT */
/*
 * header_parse: recognise and scan the header (src/format/header.h) of an input in memory.
 */
#ifndef GPUHIST_HEADER_PARSE_H
#define GPUHIST_HEADER_PARSE_H

#include "format/first.h"
#include "format/header.h"

static inline bool header_known(const unsigned char *bytes, size_t n)
{
	const struct input_format *format;

	return first_format(bytes, n, FORMATS_TYPED, &format) == HEADER_FOUND && format->header;
}

/* Begin; NONE: there is no header. */
static inline enum header_result header_first(struct header_scan *h, const unsigned char *bytes,
					      size_t n)
{
	const struct input_format *format;

	h->why[0] = '\0';
	if (first_format(bytes, n, FORMATS_TYPED, &format) != HEADER_FOUND || !format->header)
		return HEADER_NONE;
	header_begin(h, format->header, format->length);
	return HEADER_MORE;
}

/* Do all steps, and return NONE, FOUND or BAD. */

static inline enum header_result header_parse(struct header_scan *h, const unsigned char *bytes,
					      size_t n)
{
	enum header_result result = header_first(h, bytes, n);

	while (result == HEADER_MORE) {
		const size_t at = h->at < n ? (size_t)h->at : n;
		result = header_step(h, bytes + at, n - at < h->want ? n - at : h->want);
	}
	return result;
}

#endif
