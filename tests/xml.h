/* SPDX-License-Identifier: MIT */
/*
 * xml: a parser of the XML that SVG pictures need: UTF-8, elements, attributes, text, references.
 * It knows no declaration, comment, CDATA or processing instruction, because no picture has one.
 */
#ifndef GPUHIST_XML_H
#define GPUHIST_XML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XML_DEPTH 64
#define XML_ATTRIBUTES 64

struct xml_name {
	const char *p;
	size_t n;
};

struct xml {
	const char *p, *end;
	const char *why; /* the error at p; NULL: none so far */
};

static inline bool xml_wrong(struct xml *x, const char *why)
{
	x->why = x->why ? x->why : why;
	return false;
}

/* May a document have this character? */
static inline bool xml_allows(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0xd7ff) ||
	       (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

/* Consume a character of UTF-8. */
static inline bool xml_character(struct xml *x)
{
	static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *const p = (const unsigned char *)x->p;
	const size_t n = *p < 0x80 ? 1 : *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	uint32_t c = n > 1 ? *p & (0x7fu >> n) : *p;

	if (n == 0 || *p > 0xf7 || n > (size_t)(x->end - x->p))
		return xml_wrong(x, "bytes that are not UTF-8");
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return xml_wrong(x, "bytes that are not UTF-8");
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < LEAST[n] || !xml_allows(c))
		return xml_wrong(x, "a character that XML does not allow");
	x->p += n;
	return true;
}

/* Consume a reference, such as &amp; or &#13; */
static inline bool xml_reference(struct xml *x)
{
	static const char *const NAMES[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
	const size_t left = (size_t)(x->end - x->p);
	char text[16] = "", *end;

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (left >= strlen(NAMES[i]) && memcmp(x->p, NAMES[i], strlen(NAMES[i])) == 0)
			return x->p += strlen(NAMES[i]), true;
	memcpy(text, x->p, left < sizeof(text) ? left : sizeof(text) - 1);
	const bool hex = text[1] == '#' && text[2] == 'x';
	const char *const digits = text + 2 + hex;
	const size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
	if (text[1] != '#' || n == 0 || digits[n] != ';' ||
	    !xml_allows((uint32_t)strtoul(digits, &end, hex ? 16 : 10)))
		return xml_wrong(x, "& without the name or number of a character");
	x->p += digits + n + 1 - text;
	return true;
}

static inline size_t xml_blanks(struct xml *x)
{
	const char *const first = x->p;

	while (x->p < x->end && memchr(" \t\r\n", *x->p, 4))
		x->p++;
	return (size_t)(x->p - first);
}

/* Consume the character c. */
static inline bool xml_mark(struct xml *x, char c)
{
	if (x->p == x->end || *x->p != c)
		return xml_wrong(x, "another character is expected");
	x->p++;
	return true;
}

static inline bool xml_name(struct xml *x, struct xml_name *name)
{
	static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:",
			  OTHERS[] = "0123456789-.";

	name->p = x->p;
	while (x->p < x->end && (memchr(LETTERS, *x->p, sizeof(LETTERS) - 1) ||
				 (x->p > name->p && memchr(OTHERS, *x->p, sizeof(OTHERS) - 1))))
		x->p++;
	name->n = (size_t)(x->p - name->p);
	return name->n > 0 || xml_wrong(x, "a name is expected");
}

static inline bool xml_same(const struct xml_name *a, const struct xml_name *b)
{
	return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* Consume the value of an attribute. */
static inline bool xml_value(struct xml *x)
{
	const char quote = x->p < x->end ? *x->p : '\0';

	if (quote != '"' && quote != '\'')
		return xml_wrong(x, "a quote is expected");
	for (x->p++; x->p < x->end && *x->p != quote;)
		if (*x->p == '<'   ? !xml_wrong(x, "< in a value")
		    : *x->p == '&' ? !xml_reference(x)
				   : !xml_character(x))
			return false;
	return xml_mark(x, quote);
}

/* Consume the rest of a start tag; *empty: it is the whole element. */
static inline bool xml_attributes(struct xml *x, bool *empty)
{
	struct xml_name name[XML_ATTRIBUTES];

	for (size_t n = 0;; n++) {
		const size_t blanks = xml_blanks(x);
		*empty = x->p < x->end && *x->p == '/';
		if (*empty || (x->p < x->end && *x->p == '>')) {
			x->p += *empty;
			return xml_mark(x, '>');
		}
		if (blanks == 0 || n == XML_ATTRIBUTES)
			return xml_wrong(x, "a blank before an attribute is expected, or the end");
		if (!xml_name(x, &name[n]))
			return false;
		for (size_t i = 0; i < n; i++)
			if (xml_same(&name[i], &name[n]))
				return xml_wrong(x, "an attribute appears twice");
		if (!xml_mark(x, '=') || !xml_value(x))
			return false;
	}
}

/* Consume an element and all that is in it. */
static inline bool xml_element(struct xml *x)
{
	struct xml_name open[XML_DEPTH], name;
	size_t depth = 0;
	bool empty = false;

	do {
		const bool tag = x->p < x->end && *x->p == '<';
		const bool last = tag && x->p + 1 < x->end && x->p[1] == '/';
		if (x->p == x->end || (depth == 0 && !tag) || depth == XML_DEPTH)
			return xml_wrong(x, "an element is not ended, or deeper than 64");
		if (tag) {
			x->p += 1 + last;
			if (!xml_name(x, &name))
				return false;
			if (last && (depth == 0 || !xml_same(&name, &open[depth - 1])))
				return xml_wrong(x, "the end of another element");
			if (last ? (xml_blanks(x), !xml_mark(x, '>')) : !xml_attributes(x, &empty))
				return false;
			if (!last)
				open[depth] = name;
			depth = last ? depth - 1 : depth + !empty;
		} else if (x->end - x->p >= 3 && memcmp(x->p, "]]>", 3) == 0) {
			return xml_wrong(x, "]]> in text");
		} else if (*x->p == '&' ? !xml_reference(x) : !xml_character(x)) {
			return false;
		}
	} while (depth > 0);
	return true;
}

/* Is this a whole document? NULL: yes; otherwise the reason, and its offset in *at. */
static inline const char *xml_refuses(const char *text, size_t bytes, size_t *at)
{
	struct xml x = {text, text + bytes, NULL};

	xml_blanks(&x);
	if (xml_element(&x)) {
		xml_blanks(&x);
		if (x.p < x.end)
			xml_wrong(&x, "more than one element");
	}
	*at = (size_t)(x.p - text);
	return x.why;
}

#endif
