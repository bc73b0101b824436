/* SPDX-License-Identifier: MIT */
/*
 * svg_read: what a picture shows, read again: is it well-formed XML, and which boxes does a path
 * draw? It knows only what write_svg promises: text without unknown entities, paths of M, H, V and
 * Z, coordinates of two decimals at most.
 */
#ifndef GPUHIST_TEST_SVG_READ_H
#define GPUHIST_TEST_SVG_READ_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The character at p of UTF-8 and its length; 0 where it is none, or none of XML's. */
static inline size_t svg_character(const unsigned char *p, const unsigned char *end)
{
	const size_t length = *p < 0x80       ? 1
			      : *p >> 5 == 6  ? 2
			      : *p >> 4 == 14 ? 3
			      : *p >> 3 == 30 ? 4
					      : 0;
	static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c = length == 1 ? *p : *p & (0xffu >> (length + 1));

	if (length == 0 || (size_t)(end - p) < length)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 63);
	}
	if (c < LEAST[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c == 0xfffe ||
	    c == 0xffff)
		return 0;
	return c >= 0x20 || c == '\n' || c == '\t' ? length : 0;
}

/* NULL, or what is wrong; *at is then where. A tag is <name ...>, </name> or <name .../>. */
static inline const char *svg_malformed(const char *text, size_t bytes, const char **at)
{
	static const char *const ENTITIES[] = {"&amp;", "&lt;", "&gt;", "&#13;"};
	const char *const end = text + bytes, *open[16];
	size_t length[16], depth = 0, roots = 0;

	for (*at = text; *at < end;) {
		const char *const p = *at;
		const size_t some =
			svg_character((const unsigned char *)p, (const unsigned char *)end);
		if (some == 0)
			return "not a character of XML";
		if (*p == '&') {
			size_t i = 0;
			while (i < 4 && strncmp(p, ENTITIES[i], strlen(ENTITIES[i])) != 0)
				i++;
			if (i == 4)
				return "not an entity";
		}
		if (*p == '>')
			return "a > between tags";
		if (*p != '<') {
			if (depth == 0 && *p != '\n')
				return "text outside of the root";
			*at += some;
			continue;
		}
		const bool closes = p[1] == '/';
		const char *const name = p + 1 + closes;
		const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz");
		const char *q = name + n;
		if (n == 0)
			return "no name of a tag";
		while (!closes && *q == ' ') {
			q += 1 +
			     strspn(q + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
			if (q[0] != '=' || q[1] != '"')
				return "no value of an attribute";
			q += 2 + strcspn(q + 2, "\"<&");
			if (*q != '"')
				return "no end of an attribute";
			q++;
		}
		const bool empty = *q == '/';
		q += empty;
		if (*q != '>')
			return "no end of a tag";
		if (closes) {
			if (depth == 0 || length[depth - 1] != n ||
			    memcmp(open[depth - 1], name, n) != 0)
				return "the end of another tag";
			depth--;
		} else if (!empty) {
			roots += depth == 0;
			if (depth == 16)
				return "too deep";
			open[depth] = name;
			length[depth++] = n;
		}
		*at = q + 1;
	}
	return depth == 0 && roots == 1 ? NULL : "not one root";
}

/* A piece of a path that is as wide as one or more columns, in hundredths. */
struct svg_box {
	long from, to, y;
};

#define SVG_BOXES 4200
struct svg_path {
	size_t count;
	long base; /* of all its runs */
	unsigned runs;
	struct svg_box box[SVG_BOXES];
};

/* In hundredths: digits, and one or two more after a point if any. Steps *p; -1: not so. */
static inline long svg_number(const char **p)
{
	long number = 0;
	int decimals = -1;

	if (!isdigit((unsigned char)**p))
		return -1;
	for (; isdigit((unsigned char)**p) || (**p == '.' && decimals < 0); ++*p) {
		decimals += decimals >= 0 || **p == '.';
		if (**p != '.')
			number = number > 100000000 ? number : number * 10 + (**p - '0');
	}
	return decimals == 0 || decimals > 2 ? -1
	       : decimals < 0                ? number * 100
	       : decimals == 1               ? number * 10
					     : number;
}

/* The nth path of bins, from 0. NULL, or what is wrong with it. */
static inline const char *svg_path_read(struct svg_path *path, const char *text, unsigned nth)
{
	static const char BEGIN[] = "<path class=\"bins\" d=\"";
	const char *p = strstr(text, BEGIN);

	*path = (struct svg_path){.count = 0};
	while (p && nth-- > 0)
		p = strstr(p + 1, BEGIN);
	if (!p)
		return "there is none";
	for (p += strlen(BEGIN); *p != '"'; path->runs++) {
		if (*p++ != 'M')
			return "a run without M";
		long x = svg_number(&p);
		if (x < 0 || *p++ != ' ')
			return "no point";
		const long base = svg_number(&p);
		if (base < 0 || (path->runs > 0 && base != path->base))
			return "another base";
		path->base = base;
		for (;;) {
			if (*p++ != 'V')
				return "no V";
			const long y = svg_number(&p);
			if (y == base && *p == 'Z')
				break;
			if (y < 0 || y >= base || *p++ != 'H')
				return "no height";
			const long to = svg_number(&p);
			if (to < x || path->count == SVG_BOXES)
				return "a negative width";
			path->box[path->count++] = (struct svg_box){x, to, y};
			x = to;
		}
		p++;
	}
	return NULL;
}

#endif
