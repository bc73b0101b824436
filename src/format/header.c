/* SPDX-License-Identifier: MIT */
/* header: runs the scans of headers, with functions that the formats share. */
#include "format/header.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- for the formats ---- */

enum header_result header_want(struct header_scan *h, uint64_t skip, size_t n)
{
	h->at += h->want + skip; /* no overflow: HEADER_PIECE and 1024 chunks of 4 GiB at most */
	h->want = n;
	return HEADER_MORE;
}

enum header_result header_bad(struct header_scan *h, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(h->why, sizeof(h->why), format, arguments);
	va_end(arguments);
	return HEADER_BAD;
}

void header_type(struct header_scan *h, char kind, uint32_t bytes, bool big)
{
	char name[8];

	snprintf(name, sizeof(name), "%c%u%s", kind, bytes * 8 % 100, big && bytes > 1 ? "be" : "");
	(void)sample_type_parse(&h->header.type, name);
}

bool header_product(uint64_t a, uint64_t b, uint64_t *product)
{
	return !__builtin_mul_overflow(a, b, product) && *product < HEADER_TO_END;
}

/* ---- steps ---- */

void header_begin(struct header_scan *h, const struct header_format *format, size_t magic)
{
	*h = (struct header_scan){.want = magic,
				  .format = format,
				  .data = HEADER_TO_END,
				  .header.channels = 1,
				  .header.last = 1};
}

enum header_result header_step(struct header_scan *h, const unsigned char *bytes, size_t n)
{
	if (n < h->want)
		return header_bad(h, "the input ends inside it, after %llu bytes",
				  (unsigned long long)(h->at + n));
	return h->format->step(h, bytes);
}

void header_text(char text[HEADER_TEXT], const struct header *h)
{
	char channels[32] = "", samples[48] = "to the end of the input", bits[48] = "";

	if (h->channels > 1)
		snprintf(channels, sizeof(channels), "%u channels, ", h->channels);
	if (h->bytes != HEADER_TO_END)
		snprintf(samples, sizeof(samples), "%llu sample%s",
			 (unsigned long long)(h->bytes / sample_bytes(&h->type, 1)),
			 h->bytes / sample_bytes(&h->type, 1) == 1 ? "" : "s");
	if (h->valid_bits > 0)
		snprintf(bits, sizeof(bits), ", the upper %u bits valid", h->valid_bits);
	snprintf(text, HEADER_TEXT, "%s, %s, %s%s%s", h->format, h->type.name, channels, samples,
		 bits);
}
