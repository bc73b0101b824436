/* SPDX-License-Identifier: MIT */
/*
 * header_parse: all steps of a header (src/input/header.h) for an input in memory: NONE, FOUND or BAD.
 */
#ifndef GPUHIST_HEADER_PARSE_H
#define GPUHIST_HEADER_PARSE_H

#include "input/header.h"

static inline enum header_result header_parse(struct header_scan *h, const unsigned char *bytes,
					      size_t n)
{
	enum header_result result = HEADER_MORE;

	for (header_begin(h); result == HEADER_MORE;) {
		const size_t at = h->at < n ? (size_t)h->at : n;
		result = header_step(h, bytes + at, n - at < h->want ? n - at : h->want);
	}
	return result;
}

#endif
