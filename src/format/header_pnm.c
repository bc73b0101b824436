/* SPDX-License-Identifier: MIT */
/*
 * header_pnm: parses the headers of PGM (P5) and PPM (P6).
 *
 * A header gives width, height and the maximum value as decimal numbers, with white space between
 * them; a single white-space character follows the last number. A comment, from # to the end of a
 * line, may begin anywhere, and counts as the line feed that ends it, as in Netpbm's own programs.
 * The header is read byte by byte, because the samples follow at once.
 */
#include "format/header.h"

#include "format/words.h"

#define HEADER_MOST 4096u

static enum header_result pnm_finish(struct header_scan *h, uint64_t begin)
{
	struct header *found = &h->header;
	const uint64_t width = h->number[0], height = h->number[1], greatest = h->number[2];

	if (width == 0 || height == 0)
		return header_bad(h, "the %s is 0", width == 0 ? "width" : "height");
	if (greatest == 0 || greatest > 65535)
		return header_bad(h, "the maximum value is %llu, but must be from 1 to 65535",
				  (unsigned long long)greatest);
	header_type(h, 'u', greatest < 256 ? 1 : 2, true);
	found->begin = begin;
	if (!header_product(width, height, &found->bytes) ||
	    !header_product(found->bytes, sample_bytes(&found->type, found->channels),
			    &found->bytes))
		return header_bad(h, "width and height make more than 2^64 bytes");
	return HEADER_FOUND;
}

/* Take one more byte, at offset `at`; `state` numbers are complete. */
static enum header_result take_byte(struct header_scan *h, unsigned char c, uint64_t at)
{
	static const char *const NAMES[] = {"width", "height", "maximum value"};

	if (h->comment && c != '\n' && c != '\r')
		return HEADER_MORE;
	h->comment = false;
	if (c >= '0' && c <= '9') {
		uint64_t *const n = &h->number[h->state];
		h->digits = true;
		if (!header_product(*n, 10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(c - '0'), n))
			return header_bad(h, "the %s is more than 2^64", NAMES[h->state]);
	} else if (words_is_space(c) && h->digits) {
		h->digits = false;
		if (++h->state == 3)
			return pnm_finish(h, at + 1);
	} else if (c == '#') {
		h->comment = true;
	} else if (!words_is_space(c)) {
		return header_bad(h, "byte 0x%02x at offset %llu is in or before the %s", c,
				  (unsigned long long)at, NAMES[h->state]);
	}
	return HEADER_MORE;
}

static enum header_result pnm_step(struct header_scan *h, const unsigned char *p)
{
	size_t i = 0;

	if (!h->header.format) { /* the first four bytes */
		h->header.format = p[1] == '5' ? "PGM" : "PPM";
		h->header.channels = p[1] == '5' ? 1 : 3;
		i = 2;
	}
	for (; i < h->want; i++) {
		const enum header_result result = take_byte(h, p[i], h->at + i);
		if (result != HEADER_MORE)
			return result;
	}
	if (h->at + h->want >= HEADER_MOST)
		return header_bad(h, "it is longer than %u bytes", HEADER_MOST);
	return header_want(h, 0, 1);
}

const struct header_format header_pnm = {pnm_step};
