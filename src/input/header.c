/* SPDX-License-Identifier: MIT */
/* header: which format an input has; what the formats share. */
#include "input/header.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- for the formats ---- */

enum header_result header_want(struct header_scan *h, uint64_t skip, size_t n)
{
	h->at += h->want + skip; /* at most HEADER_PIECE and 1024 chunks of 4 GiB each */
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

/* ---- magic numbers ---- */

static bool is_space(unsigned char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* How many of the n bytes at p agree with `magic`? */
static size_t alike(const unsigned char *p, size_t n, const char *magic, size_t length)
{
	size_t i = 0;

	while (i < n && i < length && p[i] == (unsigned char)magic[i])
		i++;
	return i;
}

enum header_result header_magic(const unsigned char *p, size_t n, bool ended)
{
	static const char *const FORMS[] = {"RIFF", "RIFX", "RF64", "BW64"};
	const enum header_result cut = ended ? HEADER_NONE : HEADER_MORE;

	if (n == 0)
		return cut;
	if (p[0] == 0x93) {
		const size_t same = alike(p, n, "\x93NUMPY", 6);
		return same == 6 ? HEADER_FOUND : same == n ? cut : HEADER_NONE;
	}
	if (p[0] == 'P') {
		if (n > 1 && p[1] != '5' && p[1] != '6')
			return HEADER_NONE;
		if (n > 2 && !is_space(p[2]) && p[2] != '#')
			return HEADER_NONE;
		if (n > 3 && p[2] != '#' && !is_space(p[3]) && p[3] != '#' &&
		    (p[3] < '0' || p[3] > '9'))
			return HEADER_NONE;
		return n > 3 ? HEADER_FOUND : cut;
	}
	for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
		const size_t same = alike(p, n, FORMS[i], 4);
		if (same == n)
			return cut;
		if (same < 4)
			continue;
		/* RIFF without WAVE: pictures, films, and so no header of ours. */
		const size_t wave = n > 8 ? alike(p + 8, n - 8, "WAVE", 4) : 0;
		return wave == 4 ? HEADER_FOUND : n <= 8 + wave ? cut : HEADER_NONE;
	}
	return HEADER_NONE;
}

/* ---- steps ---- */

void header_begin(struct header_scan *h)
{
	*h = (struct header_scan){.want = 4,
				  .data = HEADER_TO_END,
				  .header.end = HEADER_TO_END,
				  .header.channels = 1,
				  .header.last = 1};
}

enum header_result header_step(struct header_scan *h, const unsigned char *bytes, size_t n)
{
	if (n < h->want && (h->after || !h->header.format))
		return HEADER_NONE;
	if (n < h->want)
		return header_bad(h, "the input ends inside it, after %llu bytes",
				  (unsigned long long)(h->at + n));
	if (h->kind == SCAN_START) { /* the rest of a magic number is checked by its format */
		if (header_magic(bytes, 4, false) == HEADER_NONE)
			return HEADER_NONE;
		h->kind = bytes[0] == 0x93 ? SCAN_NPY : bytes[0] == 'P' ? SCAN_PNM : SCAN_WAVE;
	}
	switch (h->kind) {
	case SCAN_NPY:
		return header_npy(h, bytes);
	case SCAN_WAVE:
		return header_wave(h, bytes);
	default:
		return header_pnm(h, bytes);
	}
}

void header_text(char text[HEADER_TEXT], const struct header *h)
{
	char channels[32] = "", samples[48] = "to the end of the input", bits[48] = "";

	if (h->channels > 1)
		snprintf(channels, sizeof(channels), "%u channels, ", h->channels);
	if (h->bytes != HEADER_TO_END)
		snprintf(samples, sizeof(samples), "%llu sample%s",
			 (unsigned long long)(h->bytes / h->type.bytes),
			 h->bytes / h->type.bytes == 1 ? "" : "s");
	if (h->valid_bits > 0)
		snprintf(bits, sizeof(bits), ", the upper %u bits valid", h->valid_bits);
	snprintf(text, HEADER_TEXT, "%s, %s, %s%s%s", h->format, h->type.name, channels, samples,
		 bits);
}
