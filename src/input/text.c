/* SPDX-License-Identifier: MIT */
/*
 * text: decides how the lines of a FILE are read, and reads the lines that text_loops.c leaves:
 * lines with quotes, blank lines, comments, long lines, and bad lines, for which it gives the
 * reason.
 */
#include "input/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "bins/decimal.h"
#include "input/first.h"
#include "input/text_keys.h"

#define NAMES_MOST 20  /* names of columns in a message */
#define FIELD_SHOWN 40 /* bytes of a bad field in a message */

/* ---- fields ---- */

struct span {
	const char *p, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct span trim(struct span s)
{
	while (s.p < s.end && is_blank(*s.p))
		s.p++;
	while (s.end > s.p && is_blank(s.end[-1]))
		s.end--;
	return s;
}

/* Strip the blanks, then the quotes, around a field. */
static struct span unquote(struct span s)
{
	s = trim(s);
	const bool quoted = s.end - s.p >= 2 && *s.p == '"' && s.end[-1] == '"';
	return (struct span){s.p + quoted, s.end - quoted};
}

static bool is_border(char c)
{
	return is_blank(c) || c == ';' || c == ',';
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

/* The separator of a line: the first of ALL that it has outside quoted fields. */
static char separator_of(struct span line)
{
	static const char ALL[] = {'\t', ';', ',', TEXT_BLANKS};
	size_t best = sizeof(ALL) - 1;
	bool begins = true; /* a field begins here */

	for (const char *p = line.p; p < line.end;) {
		if (*p == '"' && begins) {
			p = quoted_end(p, line.end);
			begins = false;
			continue;
		}
		for (size_t i = 0; i < best; i++)
			best = *p == ALL[i] ? i : best;
		begins = is_border(*p++);
	}
	return ALL[best];
}

/* Walks over the fields of a line. */
struct walk {
	char separator;
	struct span rest;
	bool more;  /* there may be another field */
	bool open;  /* the last field has an unclosed quote */
	uint64_t n; /* fields so far */
};

static struct walk walk_begin(char separator, struct span line)
{
	return (struct walk){.separator = separator, .rest = line, .more = true};
}

static bool walk_next(struct walk *w, struct span *field)
{
	const bool blanks = w->separator == TEXT_BLANKS;
	const char *p = w->rest.p;
	const char *const end = w->rest.end;

	while (w->more && p < end && (*p == ' ' || (blanks && is_blank(*p))))
		p++;
	if (!w->more || (blanks && p == end))
		return false;
	field->p = p;
	const bool quoted = p < end && *p == '"';
	for (; p < end; p++) {
		w->open ^= quoted && *p == '"';
		if (!w->open && (blanks ? is_blank(*p) : *p == w->separator))
			break;
	}
	field->end = p;
	w->more = p < end;
	w->rest.p = p + w->more;
	w->n++;
	return true;
}

/* ---- numbers ---- */

static bool is_missing(struct span s)
{
	struct decimal d;

	s = unquote(s);
	return s.p == s.end || (*s.p == '-' && s.end - s.p == 1) ||
	       ((*s.p | 32) == 'n' && s.end - s.p != 3 && decimal_read(&d, s.p) == s.end);
}

/* Does a field begin with a number: a digit, a sign or point before one, nan, inf? */
static bool is_numeral(struct span field)
{
	const struct span s = unquote(field);
	struct decimal d;
	const char *const q = s.p + (s.p < s.end && (*s.p == '-' || *s.p == '+'));
	return s.p < s.end && (is_digit(*q) || (*q == '.' && is_digit(q[1])) ||
			       (decimal_read(&d, s.p) == s.end && !is_missing(field)));
}

static bool is_word(struct span field)
{
	const struct span s = unquote(field);
	struct decimal d;

	return !is_missing(field) && decimal_read(&d, s.p) != s.end;
}

static const char no_number[] = "no number", misfit[] = "no number that fits --type ";

const char *text_field(const struct text_table *t, const char *p, const char *end,
		       unsigned char *out)
{
	const struct span field = {p, end}, s = unquote(field);
	struct decimal d = {.kind = DECIMAL_NAN};
	uint64_t code;

	if (!is_missing(field) && decimal_read(&d, s.p) != s.end)
		return no_number;
	if (decimal_code(&d, &t->spec->type, &code) != DECIMAL_FITS)
		return misfit;
	(void)text_put(&t->spec->type, code, out);
	return NULL;
}

/* ---- names ---- */

/* Is this the name of a column? In quotes, "" stands for a quote. */
static bool is_name(const char *name, struct span s)
{
	s = trim(s);
	const bool quoted = s.p < s.end && *s.p == '"';

	s = unquote(s);
	for (; s.p < s.end && *name != '\0' && *name == *s.p; name++, s.p++)
		s.p += quoted && *s.p == '"' && s.p + 1 < s.end && s.p[1] == '"';
	return s.p >= s.end && *name == '\0';
}

/* Append the names of the columns to a text, the first ones if they are many. */
static void add_names(char *text, size_t size, char separator, struct span line)
{
	struct walk w = walk_begin(separator, line);
	size_t used = strlen(text);
	struct span s;

	while (walk_next(&w, &s)) {
		s = unquote(s);
		const size_t n = (size_t)(s.end - s.p);
		if (w.n > NAMES_MOST || used + n + 16 > size) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%.*s", w.n > 1 ? ", " : "",
					 (int)n, s.p);
	}
}

/* ---- bad lines ---- */

#define WHAT 800 /* bytes of a fault in words */

/* How much of a text to show: at most `most` bytes, none of them inside a character of UTF-8. */
static int shown(struct span s, size_t most)
{
	const size_t all = (size_t)(s.end - s.p);
	size_t n = all < most ? all : most;

	/* A character has four bytes at most. */
	while (n < all && n > most - 3 && (s.p[n] & 0xc0) == 0x80)
		n--;
	return (int)n;
}

/* The fault of a line of JSON: name the command that reads the column as a member. */
static const char *fault_of_json(const struct text_spec *spec, char text[WHAT])
{
	static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	const char *const column = spec->number == 0 && spec->column ? spec->column : "";
	const bool plain = *column != '\0' && column[strspn(column, PLAIN)] == '\0';

	snprintf(text, WHAT,
		 "looks like JSON; `jq .%.40s FILE | gpuhist --text` reads a member of each line",
		 plain ? column : "NAME");
	return text;
}

/* Refuse a line, or skip it. */
static int refuse_line(const struct text_table *t, struct text_lines *l, struct span line,
		       const char *what)
{
	const size_t whole = (size_t)(line.end - line.p);
	char json[WHAT];

	l->bad += t->spec->skip_bad;
	if (l->bad_line > 0) /* the first one is reported */
		return -1;
	l->bad_line = l->taken + 1;
	if (memchr(line.p, '\0', whole < 65536 ? whole : 65536))
		what = "has NUL bytes; if it is UTF-16, pipe it through `iconv -f utf-16 -t utf-8`";
	line = trim(line);
	if (line.p < line.end && *line.p == '{')
		what = fault_of_json(t->spec, json);
	const int n = shown(line, TEXT_SHOWN);
	snprintf(l->why, sizeof(l->why), "%s%s%.*s%s", what, line.p < line.end ? ": " : "", n,
		 line.p, line.p + n < line.end ? "..." : "");
	return -1;
}

#define REFUSE_LINE(...) (snprintf(text, sizeof(text), __VA_ARGS__), refuse_line(t, l, line, text))

/* Refuse a line because of a field. */
static int refuse_field(const struct text_table *t, struct text_lines *l, struct span line,
			struct span field, const char *what)
{
	const char *const column = t->spec->column;
	const bool first = l->starts_text && l->taken == 0;
	char text[WHAT], names[WHAT - 300] = "", where[200] = "", number[40] = "";
	const char *advice = "", *past = NULL;
	struct decimal d;

	if (t->spec->number == 0)
		snprintf(number, sizeof(number), ", field %llu", (unsigned long long)t->number);
	field = unquote(field);
	if (column)
		snprintf(where, sizeof(where), " in column %.100s (\"%.*s%s\"%s)", column,
			 shown(field, FIELD_SHOWN), field.p,
			 field.end - field.p > FIELD_SHOWN ? "..." : "", number);
	if (column && what == misfit && is_missing(field) && !t->spec->skip_bad)
		advice = " (--skip-bad leaves such lines out)";
	if (!column && what == no_number) {
		const char separator = separator_of(line);
		struct walk w = walk_begin(separator, line);
		struct span s;
		past = decimal_read(&d, line.p);
		const bool name = walk_next(&w, &s) && !is_numeral(s) && !is_missing(s);
		if (first && name && walk_next(&w, &s)) {
			strcpy(names, " (--text=NAME reads a column: ");
			add_names(names, sizeof(names) - 1, separator, line);
			advice = strcat(names, ")");
		} else if (first) {
			advice = " (--text=1 skips a header)";
		}
	}
	if (past && past < line.end && memchr(",; \t", *past, 4)) {
		what = *past == ',' ? "several numbers or a decimal comma" : "several numbers";
		advice = " (--text=1 takes the first column)";
	}
	return REFUSE_LINE("has %s%s%s%s", what, what == misfit ? t->spec->type.name : "", where,
			   advice);
}

static const char bad_cr[] =
	"has a CR that is not before LF; if CRs end its lines, pipe it through "
	"`tr '\\r' '\\n'`";

/* Has a line, without its newline, a CR elsewhere than at its end? */
static bool has_cr(struct span line)
{
	const char *const cr = memchr(line.p, '\r', (size_t)(line.end - line.p));

	return cr && cr + 1 < line.end;
}

/* Is a line blank, or a comment? */
static bool is_empty_line(const struct text_table *t, struct span line)
{
	const struct span s = trim(line);

	return *line.p == '#' ||
	       (s.p == s.end &&
		!(t->separator == '\t' && memchr(line.p, '\t', (size_t)(line.end - line.p))));
}

/* ---- lines ---- */

/* Write the number of the key in a field. False: the field cannot be a key. */
static bool take_key(const struct text_table *t, struct span field, unsigned char *out)
{
	const struct span trimmed = trim(field), key = unquote(field);
	const bool quoted = key.p > trimmed.p;
	const size_t length = (size_t)(key.end - key.p);
	uint32_t number;

	if (quoted && memchr(key.p, '"', length)) { /* "" is a quote */
		char *const text = malloc(length + TEXT_KEYS_PAD);
		size_t n = 0;
		for (const char *p = key.p; p < key.end && text; p++) {
			text[n++] = *p;
			p += *p == '"' && p + 1 < key.end && p[1] == '"';
		}
		number = text ? text_keys_number(t->spec->keys, text, n) : KEYS_TEXT_OUT;
		free(text);
	} else {
		number = text_keys_number(t->spec->keys, key.p, length);
	}
	memcpy(out, &number, sizeof(number));
	return number != TEXT_KEYS_BAD;
}

/* Take the field of a line. Return 1; -1: the line is bad. */
static int take_fields(const struct text_table *t, struct text_lines *l, struct span line,
		       unsigned char *out)
{
	struct walk w = walk_begin(t->separator, line);
	struct span s, field = {NULL, NULL}, key = {NULL, NULL};
	const uint64_t last = t->by > t->number ? t->by : t->number;
	const char *quote = line.end;
	char text[WHAT];

	/* Stop only if the rest has no quotes, as an unclosed one is an error. */
	while ((w.n < last || w.rest.p <= quote) && walk_next(&w, &s)) {
		if (w.open)
			return refuse_line(t, l, line, "has an unclosed quote");
		field = w.n == t->number ? s : field;
		key = w.n == t->by ? s : key;
		if (w.n != last)
			continue;
		quote = memrchr(w.rest.p, '"', (size_t)(line.end - w.rest.p));
		if (!quote)
			break;
	}
	if (w.n < last)
		return REFUSE_LINE("has only %zu column%s", (size_t)w.n, w.n == 1 ? "" : "s");
	const char *const what = text_field(t, field.p, field.end, out);
	if (what)
		return refuse_field(t, l, line, field, what);
	if (t->by > 0 && !take_key(t, key, out + t->spec->type.bits / 8))
		return refuse_line(t, l, line, "has a key of more than 4 KiB"); /* or NUL bytes */
	return 1;
}

/* Take a line without its newline. Return the number of samples made; -1: it is bad. */
static int take_line(const struct text_table *t, struct text_lines *l, struct span line,
		     unsigned char *out)
{
	if (has_cr(line))
		return refuse_line(t, l, line, bad_cr);
	if (is_empty_line(t, line))
		return 0;
	if (t->separator != '\n')
		return take_fields(t, l, line, out);
	line = trim(line);
	const char *const what = text_field(t, line.p, line.end, out);
	return what ? refuse_field(t, l, line, line, what) : 1;
}

static text_loop *best_loop(void)
{
#ifdef HAVE_X86_LOOPS
	if (isa_best() != ISA_BASE)
		return text_loop_avx2;
#endif
	return text_loop_base;
}

size_t text_take(const struct text_table *t, struct text_lines *l, unsigned char *out, size_t cap)
{
	const size_t bytes = text_bytes(t->spec);
	text_loop *const loop = best_loop();
	unsigned char *to = out;

	while (l->at < l->end && cap - (size_t)(to - out) >= bytes &&
	       (l->why[0] == '\0' || t->spec->skip_bad)) {
		loop(t, l, &to, out + cap);
		if (l->at == l->end || cap - (size_t)(to - out) < bytes)
			break;
		const char *const end = memchr(l->at, '\n', (size_t)(l->end - l->at));
		assert(end);
		const int made = take_line(t, l, (struct span){l->at, end}, to);
		if (made < 0 && !t->spec->skip_bad)
			break;
		to += made > 0 ? bytes : 0;
		l->at = end + 1;
		l->taken++;
	}
	return (size_t)(to - out);
}

/* ---- the first line ---- */

/* Refuse other formats by their first bytes; pass over a byte order mark. */
static int text_check_format(struct text_lines *l)
{
	const unsigned char *const bytes = (const unsigned char *)l->at;
	const size_t n = (size_t)(l->end - l->at);
	const struct input_format *format;

	if (first_format(bytes, n, FORMATS_TYPED, &format) == HEADER_FOUND && format->packed)
		snprintf(l->why, sizeof(l->why), "%s", format->advice);
	else if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		l->at += 3;
	return l->why[0] ? -1 : 0;
}

/* Find the column, and whether the first line is a header. -1: it is bad; 1: skip it as such. */
static int read_header_line(struct text_table *t, struct text_lines *l, struct span line,
			    bool *header)
{
	const struct text_spec *const spec = t->spec;
	struct walk w = walk_begin(t->separator = separator_of(line), line);
	bool words = false, found = false;
	char text[WHAT] = "";
	struct span s, field = {NULL, NULL};
	uint64_t second = 0, second_by = 0; /* another column of the name */

	t->number = spec->number;
	t->by = spec->by_number;
	while (walk_next(&w, &s)) {
		if (w.open) {
			(void)refuse_line(t, l, line, "has an unclosed quote");
			t->separator = '\n'; /* the next line decides */
			return spec->skip_bad ? 1 : -1;
		}
		words = words || is_word(s);
		if (spec->number == 0 && second == 0 && is_name(spec->column, s))
			*(t->number == 0 ? &t->number : &second) = w.n;
		if (spec->by && spec->by_number == 0 && second_by == 0 && is_name(spec->by, s))
			*(t->by == 0 ? &t->by : &second_by) = w.n;
		found |= w.n == spec->number;
		field = w.n == spec->number ? s : field;
	}
	if (second > 0 || second_by > 0) {
		snprintf(text, sizeof(text),
			 "has two columns named %.100s, %llu and %llu; give one by its number",
			 second > 0 ? spec->column : spec->by,
			 (unsigned long long)(second > 0 ? t->number : t->by),
			 (unsigned long long)(second > 0 ? second : second_by));
	} else if (t->number == 0 || (spec->by && t->by == 0)) {
		snprintf(text, sizeof(text), "has no column named %.100s; its columns are ",
			 t->number == 0 ? spec->column : spec->by);
		add_names(text, sizeof(text), t->separator, line);
	}
	if (text[0] != '\0') {
		l->bad_line = 0; /* lines before it were left out, but this one cannot be */
		return refuse_line(t, l, line, text);
	}
	*header = spec->number == 0 || (spec->by && spec->by_number == 0) ||
		  (found && !is_numeral(field) && (!is_missing(field) || words));
	return 0;
}

int text_begin(struct text_table *t, const struct text_spec *spec, struct text_lines *l)
{
	bool header = false;

	*t = (struct text_table){.spec = spec, .separator = '\n', .number = 1};
	if (l->starts_text && l->taken == 0 && text_check_format(l) != 0)
		return -1;
	while (l->at < l->end) {
		const char *const end = memchr(l->at, '\n', (size_t)(l->end - l->at));
		const struct span line = {l->at, end};
		if (has_cr(line)) {
			if (refuse_line(t, l, line, bad_cr) != 0 && !spec->skip_bad)
				return -1;
		} else if (!is_empty_line(t, line)) {
			const int rc = spec->column ? read_header_line(t, l, line, &header) : 0;
			if (rc < 0)
				return -1;
			if (rc == 0) {
				l->at = header ? end + 1 : l->at;
				l->taken += header;
				return 1;
			}
		}
		l->at = end + 1;
		l->taken++;
	}
	return 0;
}
