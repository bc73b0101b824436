/* SPDX-License-Identifier: MIT */
/*
 * text: splits lines into fields, and turns fields into samples.
 *
 * quick() reads numbers of a few digits, decimal.c all other numbers. A line that fits the buffer
 * is taken at once; a longer one is taken field by field, and only its number must fit the buffer.
 */
#include "input/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/decimal.h"
#include "input/first.h"
#include "input/zstd_frame.h"

#define BLANKS ' ' /* the separator is any number of blanks and tabs */

struct text *text_open(const struct text_spec *spec)
{
	struct text *const t = calloc(1, sizeof(*t));

	if (t) {
		t->spec = *spec;
		t->spec.number += !spec->column;
		t->separator = spec->column ? 0 : '\n';
		t->named = spec->column && spec->number == 0;
		t->first = true;
		t->line = 1;
	}
	return t;
}

size_t text_room(struct text *t)
{
	t->have -= t->at;
	memmove(t->buffer, t->buffer + t->at, t->have);
	t->at = 0;
	return sizeof(t->buffer) - 1 - t->have;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Strips the blanks before and after a text. */
static void trim(const char **p, const char **end)
{
	while (*p < *end && is_blank(**p))
		++*p;
	while (*end > *p && is_blank((*end)[-1]))
		--*end;
}

/* Refuses the line from `line` to end, with a message about t->what. */
static int bad(struct text *t, const char *line, const char *end)
{
	if (t->place != TEXT_BEGIN)
		end = (line = t->head) + strlen(t->head);
	else if ((size_t)(end - line) > TEXT_FIELD_MOST) /* more may not have been read */
		end = line + TEXT_FIELD_MOST;
	trim(&line, &end);
	const size_t all = (size_t)(end - line);
	size_t n = all < TEXT_SHOWN ? all : TEXT_SHOWN;
	while (n < all && (line[n] & 0xc0) == 0x80) /* inside a character */
		n--;
	if (t->torn)
		strcpy(t->what,
		       "has a CR that is not before LF; if CRs end its lines, pipe it through "
		       "`tr '\\r' '\\n'`");
	if (memchr(line, '\0', all))
		strcpy(t->what,
		       "has NUL bytes; if it is UTF-16, pipe it through `iconv -f utf-16 -t "
		       "utf-8`");
	snprintf(t->why, sizeof(t->why), ": line %llu %s%s%.*s%s", (unsigned long long)t->line,
		 t->what, all > 0 ? ": " : "", (int)n, line, n < all ? "..." : "");
	return -1;
}

#define BAD(...) (snprintf(t->what, sizeof(t->what), __VA_ARGS__), bad(t, line, end))

/* Strips the blanks, then the quotes, around a field. */
static void unquote(const char **p, const char **end)
{
	trim(p, end);
	const bool quoted = *end - *p >= 2 && **p == '"' && (*end)[-1] == '"';
	*p += quoted;
	*end -= quoted;
}

static inline void put(const struct sample_type *type, uint64_t code, unsigned char *out)
{
	if (type->big)
		code = __builtin_bswap64(code) >> (64 - type->bits);
	memcpy(out, &code, type->bits / 8);
}

/*
 * Makes a sample of up to 18 digits without an exponent: an integer, or the quotient of two exact
 * binary64 numbers, which is rounded once. Returns the byte after it, or NULL to leave the number
 * to decimal.c.
 */
static inline const char *quick(struct text *t, const char *p, unsigned char *out)
{
	static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
				      1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
	const struct sample_type *const type = &t->spec.type;
	const bool negative = *p == '-';
	const char *const begin = p += negative;
	uint64_t n = 0, code;
	unsigned digit;

	for (; (digit = (unsigned char)*p - (unsigned)'0') < 10; p++)
		n = n * 10 + digit;
	const char *const point = p;
	if (p > begin && *p == '.')
		for (p++; (digit = (unsigned char)*p - (unsigned)'0') < 10; p++)
			n = n * 10 + digit;
	if (p == begin || p - begin > 18) /* n fits 63 bits */
		return NULL;
	if (type->kind != SAMPLE_FLOAT) {
		if (p > point ||
		    n > UINT64_MAX >> (64 - type->bits + (type->kind == SAMPLE_SIGNED)) ||
		    (negative && type->kind == SAMPLE_UNSIGNED))
			return NULL;
		code = negative ? 0 - n : n;
	} else {
		if (type->bits != 64 || n > (uint64_t)1 << 53)
			return NULL;
		const double real = p > point + 1 ? (double)n / TENS[p - point - 1] : (double)n;
		memcpy(&code, &real, sizeof(code));
		code |= (uint64_t)negative << 63;
		t->fractions |= p > point;
	}
	put(type, code, out);
	return p;
}

static const char no_number[] = "no number", misfit[] = "no number that fits --type ";

/* Makes a sample of the field from p to end. Returns NULL, or the fault for the message. */
static const char *make(struct text *t, const char *p, const char *end, unsigned char *out)
{
	struct decimal d = {.kind = DECIMAL_NAN};
	uint64_t code;

	unquote(&p, &end);
	if (p < end && quick(t, p, out) == end)
		return NULL;
	if (p < end && decimal_read(&d, p) != end)
		return no_number;
	if (decimal_code(&d, &t->spec.type, &code) != DECIMAL_FITS)
		return misfit;
	t->fractions = true;
	put(&t->spec.type, code, out);
	return NULL;
}

/* Refuses the line from `line` to end because of a field. */
static int refuse(struct text *t, const char *line, const char *end, const char *what)
{
	const char *const column = t->spec.column, *past = NULL, *advice = "", *p = line;
	struct decimal d;

	trim(&p, &end);
	if (!column && what == no_number) {
		past = decimal_read(&d, p);
		advice = t->line == 1 ? " (--text=1 skips a header)" : "";
	}
	if (past && past < end && memchr(",; \t", *past, 4)) {
		what = *past == ',' ? "several numbers or a decimal comma" : "several numbers";
		advice = " (--text=1 takes the first column)";
	}
	return BAD("has %s%s%s%.100s%s", what, what == misfit ? t->spec.type.name : "",
		   column ? " in column " : "", column ? column : "", advice);
}

static bool is_border(char c)
{
	return c == '\t' || c == ';' || c == ',' || c == ' ' || c == '\r';
}

/* The end of a quoted field that begins at p; p + 1: its quote stays open, so it begins none. */
static const char *quoted_end(const char *p, const char *end)
{
	bool open = true;
	const char *q = p + 1;

	for (; q < end && (open || !is_border(*q)); q++)
		open ^= *q == '"';
	return open ? p + 1 : q;
}

/* The separator of a line: the first of ALL that it has outside quoted fields; '\0': not known. */
static char separator_of(const char *p, const char *end)
{
	static const char ALL[] = {'\t', ';', ',', BLANKS};
	const bool all = (size_t)(end - p) < TEXT_FIELD_MOST;
	size_t best = sizeof(ALL);
	bool begins = true; /* a field begins here */

	for (end = all ? end : p + TEXT_FIELD_MOST; p < end;) {
		if (*p == '"' && begins) {
			p = quoted_end(p, end);
			begins = false;
			continue;
		}
		for (size_t i = 0; i < best; i++)
			best = *p == ALL[i] ? i : best;
		begins = is_border(*p++);
	}
	return best < sizeof(ALL) ? ALL[best] : all ? BLANKS : '\0';
}

/* Finds the end of the field that begins or continues at p: its separator, or `end`. */
static const char *field_end(struct text *t, const char *p, const char *end)
{
	if (!t->inside) {
		t->quoted = p < end && *p == '"';
		t->open = false;
	}
	if (!t->quoted && t->separator != BLANKS) {
		p = memchr(p, t->separator, (size_t)(end - p));
		return p ? p : end;
	}
	for (; p < end; p++) {
		t->open ^= t->quoted && *p == '"';
		if (!t->open && (t->separator == BLANKS ? is_blank(*p) : *p == t->separator))
			break;
	}
	return p;
}

/* Is this the name of a column? In quotes, "" stands for a quote. */
static bool is_name(const char *name, const char *p, const char *end)
{
	trim(&p, &end);
	const bool quoted = p < end && *p == '"';

	unquote(&p, &end);
	for (; p < end && *name == *p; name++, p++)
		p += quoted && *p == '"' && p + 1 < end && p[1] == '"';
	return p >= end && *name == '\0';
}

/* Is a field empty, NA or null? */
static bool is_missing(const char *p, const char *end)
{
	struct decimal d;

	unquote(&p, &end);
	return p == end || ((*p | 32) == 'n' && end - p != 3 && decimal_read(&d, p) == end);
}

/* Does a field begin with a number: a digit, a sign or point before one, nan, inf? */
static bool is_numeral(const char *p, const char *end)
{
	struct decimal d;

	unquote(&p, &end);
	const char *const q = p + (p < end && (*p == '-' || *p == '+'));
	return p < end && (is_digit(*q) || (*q == '.' && is_digit(q[1])) ||
			   (decimal_read(&d, p) == end && !is_missing(p, end)));
}

static bool is_word(const char *p, const char *end)
{
	struct decimal d;

	unquote(&p, &end);
	return p < end && decimal_read(&d, p) != end;
}

/* Takes the fields of a line up to end, the last one perhaps in part. Returns as take_line. */
static int take_fields(struct text *t, const char *end, bool whole, unsigned char *out)
{
	struct text_spec *const s = &t->spec;
	const char *const line = t->buffer + t->at;
	const bool naming = t->named && t->first, headed = t->first && s->column && !t->named;
	const char *p = line, *what, *quote = NULL;
	int made = 0;

	if (t->separator == 0 && (t->separator = separator_of(line, end)) == 0)
		return BAD("has no tab, comma, semicolon or blank in its first 64 KiB");
	const bool blanks = t->separator == BLANKS;
	for (bool goes_on = true; goes_on;) {
		while (!t->inside && p < end && (*p == ' ' || (blanks && is_blank(*p))))
			p++;
		if (p == end && !t->inside && (!whole || blanks))
			break;
		const char *const stop = field_end(t, p, end);
		const bool wanted = !naming && t->fields + 1 == s->number;
		const bool fits = !t->inside && (size_t)(stop - p) < TEXT_FIELD_MOST;
		if (wanted && !fits)
			return BAD("has a field of 64 KiB or more, too long for a number");
		if (stop == end && !whole) {
			t->inside = !wanted && !(naming && fits);
			p = t->inside ? end : p;
			break;
		}
		if (t->open)
			return BAD("has an unclosed quote");
		t->fields++;
		if (naming && s->number == 0 && fits && is_name(s->column, p, stop))
			s->number = t->fields;
		t->words |= headed && (!fits || is_word(p, stop));
		if (wanted && headed && !is_numeral(p, stop)) {
			t->missing = is_missing(p, stop);
		} else if (wanted) {
			what = make(t, p, stop, out);
			if (what)
				return refuse(t, line, end, what);
			made = 1;
		}
		t->inside = false;
		p = stop < end ? stop + 1 : end;
		/* Stop only if the rest has no quotes, as unclosed ones are an error. */
		const bool done = whole && !naming && t->fields >= s->number && !t->missing;
		if (done && !quote && !(quote = memrchr(p, '"', (size_t)(end - p))))
			break;
		goes_on = stop < end && !(done && p > quote);
	}
	/* In a first line, a missing number among numbers is one; among names it is a name. */
	if (whole && t->missing && !t->words) {
		what = make(t, end, end, out);
		if (what)
			return refuse(t, line, end, what);
		made = 1;
	}
	if (whole && s->number == 0)
		return BAD("has no column named %.100s", s->column);
	if (whole && t->fields < s->number)
		return BAD("has only %zu column%s", (size_t)t->fields, t->fields == 1 ? "" : "s");
	t->at = (size_t)(p - t->buffer);
	return made;
}

/* Takes the line up to end, or a part of it. Returns the number of samples made; -1: bad input. */
static int take_line(struct text *t, const char *end, bool whole, unsigned char *out)
{
	const char *const line = t->buffer + t->at;
	const char *p = line, *stop = end;

	const char *const cr = memchr(line, '\r', (size_t)(end - line));
	if (cr && (cr[1] != '\n' || cr + 1 == t->buffer + t->have))
		return t->torn = true, bad(t, line, end);
	trim(&p, &stop);
	if (t->place == TEXT_BEGIN && (size_t)(p - line) >= TEXT_FIELD_MOST)
		return BAD("begins with 64 KiB of blanks");
	const bool tabs = t->separator == '\t' && memchr(line, '\t', (size_t)(end - line));
	if (t->place == TEXT_BEGIN && (*line == '#' || (whole && p == stop && !tabs)))
		t->place = TEXT_REST;
	const bool skipped = t->place == TEXT_REST;
	const int made = skipped ? 0 : take_fields(t, end, whole, out);
	if (made < 0)
		return -1;
	if (whole || skipped)
		t->at = (size_t)(end - t->buffer);
	if (whole) {
		t->first = t->first && skipped;
		t->missing = false;
		t->place = TEXT_BEGIN;
		t->fields = 0;
		t->line++;
	} else if (t->place == TEXT_BEGIN) {
		t->place = TEXT_FIELDS;
		snprintf(t->head, sizeof(t->head), "%.*s", (int)(stop - p), p);
	}
	return made;
}

/* Refuses other formats by their first bytes; false: more bytes are needed. */
static bool begin(struct text *t)
{
	const unsigned char *const bytes = (const unsigned char *)t->buffer;
	const struct input_format *format;
	struct frame_header frame;

	if (!t->ended && t->have < FIRST_BYTES && !memchr(bytes, '\n', t->have))
		return false;
	t->begun = true;
	if (t->have >= 4 && frame_parse(bytes, 4, &frame) == FRAME_SHORT)
		strcpy(t->why, " is compressed by zstd; try `zstd -dc FILE | gpuhist --text`");
	else if (first_format(bytes, t->have, FORMATS_TYPED, &format) == HEADER_FOUND &&
		 format->packed)
		snprintf(t->why, sizeof(t->why), " %s", format->advice);
	else if (t->have >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		t->at = 3;
	return true;
}

int text_take(struct text *t, unsigned char *out, size_t cap, size_t *made)
{
	const size_t bytes = t->spec.type.bits / 8;
	const char *const past = t->buffer + t->have;
	unsigned char *to = out, *const full = out + cap - cap % bytes;

	*made = 0;
	if (!t->begun && !begin(t))
		return 0;
	t->buffer[t->have] = '\n'; /* a number ends here at the latest */
	while (t->at < t->have && to < full && t->why[0] == '\0') {
		const char *const p = t->buffer + t->at;
		const char *next =
			!t->spec.column && t->place == TEXT_BEGIN ? quick(t, p, to) : NULL;
		if (next && *next == '\n' && next < past) {
			to += bytes;
			t->at = (size_t)(next + 1 - t->buffer);
			t->line++;
			continue;
		}
		next = memchr(p, '\n', (size_t)(past - p));
		if (!next && !t->ended && (size_t)(past - p) <= TEXT_FIELD_MOST)
			break;
		/* The last byte of an open line stays, in case the text ends with it. */
		const char *const end = next ? next : past - !t->ended;
		if (!next && t->cut && t->ended) {
			t->at = t->have;
			t->dropped = true;
		} else if (take_line(t, end, next || t->ended, to) > 0)
			to += bytes;
		t->at += next && t->why[0] == '\0';
	}
	*made = (size_t)(to - out);
	return t->why[0] != '\0' && to == out ? -1 : 0;
}
