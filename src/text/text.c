/* SPDX-License-Identifier: MIT */
/*
 * text: decides how the lines of a FILE are read, and reads the lines that text_loops.c leaves:
 * lines with quotes, blank lines, comments, long lines, and bad lines, for which it gives the
 * reason.
 */
#include "text/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "bins/decimal.h"
#include "bins/number.h"
#include "format/first.h"
#include "text/text_keys.h"

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

static struct span span_trim(struct span s)
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
	s = span_trim(s);
	const bool quoted = s.end - s.p >= 2 && *s.p == '"' && s.end[-1] == '"';
	return (struct span){s.p + quoted, s.end - quoted};
}

static bool is_border(char c)
{
	return is_blank(c) || c == ';' || c == ',';
}

/* The end of a quoted field that begins at p; p + 1: the quote stays open, so it is none. */
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

/* Is this field a word of --missing? Numbers there are samples, which may be missing. */
static bool is_missing_word(const struct text_spec *spec, struct span s)
{
	struct decimal d;

	s = unquote(s);
	const size_t length = (size_t)(s.end - s.p);
	for (const char *p = spec->missing; p && decimal_read(&d, s.p) != s.end;
	     p = *p == ',' ? p + 1 : NULL) {
		const size_t own = strcspn(p, ",");
		if (own == length && memcmp(p, s.p, own) == 0)
			return true;
		p += own;
	}
	return false;
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

	if (!is_missing(field) && decimal_read(&d, s.p) != s.end) {
		if (!is_missing_word(t->spec, field))
			return no_number;
		d = (struct decimal){.kind = DECIMAL_NAN};
	}
	if (decimal_code(&d, &t->spec->type, &code) != DECIMAL_FITS)
		return misfit;
	(void)text_put(&t->spec->type, code, out);
	return NULL;
}

/* ---- names ---- */

/* The next character of a name, past it and past the second one of "". */
static char next_of(const char **p, const char *end, bool quoted)
{
	const char c = *(*p)++;

	*p += quoted && c == '"' && *p < end && **p == '"';
	return c;
}

/* Is this field the name of a column? In quotes, "" stands for a quote. */
static bool is_name(const struct text_column *column, struct span s)
{
	const char *p = column->name, *const end = p + column->length;

	s = span_trim(s);
	const bool quoted = s.p < s.end && *s.p == '"';
	s = unquote(s);
	while (s.p < s.end && p < end)
		if (next_of(&p, end, column->quoted) != next_of(&s.p, s.end, quoted))
			return false;
	return s.p >= s.end && p >= end;
}

void text_column_name(char text[TEXT_NAME], const struct text_column *column)
{
	const char *p = column->name, *const end = p + column->length;
	size_t n = 0;

	while (p < end && n < TEXT_NAME - 1)
		text[n++] = next_of(&p, end, column->quoted);
	text[n] = '\0';
}

/* Read the column that starts at p. Return the comma or NUL after it, or NULL. */
static const char *column_from(struct text_column *column, const char *p)
{
	char digits[24] = "";
	const char *end = p + strcspn(p, ",");

	*column = (struct text_column){.name = p, .quoted = *p == '"'};
	if (column->quoted) {
		for (end = p + 1; *end != '\0' && (*end != '"' || end[1] == '"'); end++)
			end += *end == '"';
		if (*end == '\0')
			return NULL;
		column->name++;
	}
	column->length = (size_t)(end - column->name);
	end += column->quoted;
	if (!column->quoted && column->length < sizeof(digits)) {
		memcpy(digits, p, column->length);
		if (*digits == '\0' ||
		    (number_parse_count(&column->number, digits) == 0 && column->number == 0))
			return NULL;
	}
	return *end == ',' || *end == '\0' ? end : NULL;
}

bool text_columns(struct text_spec *spec, const char *given, char twice[TEXT_NAME])
{
	char other[TEXT_NAME];

	twice[0] = '\0';
	spec->given = given;
	spec->columns = 0;
	for (const char *p = given; p; p = *p == ',' ? p + 1 : NULL) {
		struct text_column *const column = &spec->column[spec->columns];
		if (spec->columns == TEXT_COLUMNS || !(p = column_from(column, p)))
			return false;
		text_column_name(twice, column);
		for (uint32_t i = 0; i < spec->columns; i++) {
			text_column_name(other, &spec->column[i]);
			if (strcmp(twice, other) == 0)
				return false;
		}
		twice[0] = '\0';
		spec->columns++;
	}
	return true;
}

/* Append the names of the columns to a text, the first ones if they are many. */
static void add_names(char *text, size_t size, char separator, struct span line)
{
	struct walk w = walk_begin(separator, line);
	size_t used = strlen(text);
	struct span s;

	while (walk_next(&w, &s)) {
		if (!memchr(s.p, ',', (size_t)(s.end - s.p))) /* --text needs the quotes, too */
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

/* Bytes of a text to show: `most` or fewer, so that no UTF-8 character is split. */
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
	char column[TEXT_NAME] = "";

	if (spec->columns == 1 && spec->column[0].number == 0)
		text_column_name(column, &spec->column[0]);
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
	line = span_trim(line);
	if (line.p < line.end && *line.p == '{')
		what = fault_of_json(t->spec, json);
	const int n = shown(line, TEXT_SHOWN);
	snprintf(l->why, sizeof(l->why), "%s%s%.*s%s", what, line.p < line.end ? ": " : "", n,
		 line.p, line.p + n < line.end ? "..." : "");
	return -1;
}

#define REFUSE_LINE(...) (snprintf(text, sizeof(text), __VA_ARGS__), refuse_line(t, l, line, text))

#define ADVICE (WHAT - 300) /* bytes of advice, after the fault and the field */

/*
 * Advice on a field that is no number: delete the name or unit next to a number, as in latency=3 and
 * 3ms, read a decimal comma, or count or skip a word.
 */
static const char *advice_on_field(char text[ADVICE], struct span field, char separator)
{
	static const char WORD[] = "/.-?abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_=%";
	const char *const NAME = WORD + 4; /* without these four signs */
	struct decimal d;
	const int before = (int)strspn(field.p, NAME);
	const char *const past = decimal_read(&d, field.p + before);
	const int after = past ? (int)strspn(past, NAME) : 0;

	if (past == field.end && before > 0 && before < FIELD_SHOWN)
		snprintf(text, ADVICE, " (pipe it through `sed 's/%.*s//'`)", before, field.p);
	else if (past && past + after == field.end && before == 0 && after < FIELD_SHOWN)
		snprintf(text, ADVICE, " (pipe it through `sed 's/\\([0-9]\\)%.*s/\\1/'`)", after,
			 past);
	else if (past && *past == ',' && is_digit(past[1]) && separator != ',')
		snprintf(text, ADVICE, " (for decimal commas, pipe it through `tr , .`)");
	else if (field.p + strspn(field.p, WORD) == field.end && field.end - field.p < FIELD_SHOWN)
		snprintf(text, ADVICE,
			 " (--missing=%.*s counts it as NaN; --skip-bad leaves such lines out)",
			 (int)(field.end - field.p), field.p);
	else
		snprintf(text, ADVICE, " (--skip-bad leaves such lines out)");
	return text;
}

/* Refuse a line because of a field. */
static int refuse_field(const struct text_table *t, struct text_lines *l, struct span line,
			struct span field, uint32_t c, const char *what)
{
	const struct text_column *const column = t->spec->columns > 0 ? &t->spec->column[c] : NULL;
	const bool first = l->starts_text && l->taken == 0;
	char text[WHAT], names[ADVICE] = "", where[200] = "", number[40] = "", name[TEXT_NAME];
	const char *advice = "", *past = NULL;
	struct decimal d;

	if (column && column->number == 0)
		snprintf(number, sizeof(number), ", field %llu", (unsigned long long)t->number[c]);
	field = unquote(field);
	if (column)
		text_column_name(name, column);
	if (column)
		snprintf(where, sizeof(where), " in column %.100s (\"%.*s%s\"%s)", name,
			 shown(field, FIELD_SHOWN), field.p,
			 field.end - field.p > FIELD_SHOWN ? "..." : "", number);
	if (column && what == misfit && is_missing(field) && !t->spec->skip_bad)
		advice = " (--skip-bad leaves such lines out)";
	if (column && what == no_number && !t->spec->skip_bad)
		advice = advice_on_field(names, field, t->separator);
	if (!column && what == no_number) {
		const char separator = separator_of(line);
		struct walk w = walk_begin(separator, line);
		struct span s;
		past = decimal_read(&d, line.p);
		const bool word = walk_next(&w, &s) && !is_numeral(s) && !is_missing(s);
		if (first && word && walk_next(&w, &s)) {
			strcpy(names, " (--text=NAME reads a column: ");
			add_names(names, sizeof(names) - 1, separator, line);
			advice = strcat(names, ")");
		} else if (first) {
			advice = walk_next(&w, &s) && walk_next(&w, &s)
					 ? " (--text=N reads column N)"
					 : " (--text=1 skips a header)";
		}
	}
	if (past && past < line.end && memchr(",; \t", *past, 4)) {
		what = *past == ',' ? "several numbers or a decimal comma" : "several numbers";
		advice = " (--text=1 takes the first column)";
	}
	return REFUSE_LINE("has %s%s%s%s", what, what == misfit ? t->spec->type.name : "", where,
			   advice);
}

static const char unclosed[] = "has an unclosed quote; a quoted field must end on its line";
static const char bad_cr[] =
	"has a CR that is not before LF; if CRs end its lines, pipe it through "
	"`tr '\\r' '\\n'`";

/* Does a line, without its newline, have a CR before its last byte? */
static bool has_cr(struct span line)
{
	const char *const cr = memchr(line.p, '\r', (size_t)(line.end - line.p));

	return cr && cr + 1 < line.end;
}

/* Is a line blank, or a comment? */
static bool is_empty_line(const struct text_table *t, struct span line)
{
	const struct span s = span_trim(line);

	return *line.p == '#' ||
	       (s.p == s.end &&
		!(t->separator == '\t' && memchr(line.p, '\t', (size_t)(line.end - line.p))));
}

/* ---- lines ---- */

/* Write the number of the key in a field. False: the field cannot be a key. */
static bool take_key(const struct text_table *t, struct span field, unsigned char *out)
{
	const struct span trimmed = span_trim(field), key = unquote(field);
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

/* Take the fields of a line. Return 1; -1: the line is bad. */
static int take_fields(const struct text_table *t, struct text_lines *l, struct span line,
		       unsigned char *out)
{
	const uint32_t columns = text_samples(t->spec), bytes = t->spec->type.bits / 8;
	struct walk w = walk_begin(t->separator, line);
	struct span s, field[TEXT_COLUMNS] = {{NULL, NULL}}, key = {NULL, NULL};
	const char *quote = line.end;
	char text[WHAT];

	/* Stop only if the rest has no quotes, as an unclosed one is an error. */
	while ((w.n < t->last || w.rest.p <= quote) && walk_next(&w, &s)) {
		if (w.open)
			return refuse_line(t, l, line, unclosed);
		for (uint32_t c = 0; c < columns; c++)
			field[c] = w.n == t->number[c] ? s : field[c];
		key = w.n == t->by ? s : key;
		if (w.n != t->last)
			continue;
		quote = memrchr(w.rest.p, '"', (size_t)(line.end - w.rest.p));
		if (!quote)
			break;
	}
	if (w.n < t->last)
		return REFUSE_LINE("has only %zu column%s", (size_t)w.n, w.n == 1 ? "" : "s");
	for (uint32_t c = 0; c < columns; c++) {
		const char *const what =
			text_field(t, field[c].p, field[c].end, out + (size_t)c * bytes);
		if (what)
			return refuse_field(t, l, line, field[c], c, what);
	}
	if (t->by > 0 && !take_key(t, key, out + bytes))
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
	line = span_trim(line);
	const char *const what = text_field(t, line.p, line.end, out);
	return what ? refuse_field(t, l, line, line, 0, what) : 1;
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

/* A column that is looked for in a first line. */
struct wanted {
	const struct text_column *column;
	uint64_t *number; /* of the first field of its name, or as it was given; or 0 */
	uint64_t second;  /* of another field of the name, or 0 */
};

/* Look at a field of the first line. Return whether it says that the line is a header. */
static bool see_field(struct wanted *wanted, size_t n, uint64_t number, struct span s, bool absent,
		      bool *missing)
{
	bool header = false;

	for (struct wanted *w = wanted; w < wanted + n; w++) {
		const bool named = w->column->number == 0;
		if (named && w->second == 0 && is_name(w->column, s))
			*(*w->number == 0 ? w->number : &w->second) = number;
		if (!named && *w->number == number) {
			*missing |= absent;
			header |= !is_numeral(s) && !absent;
		}
	}
	return header;
}

/* Find the columns, and whether the first line is a header. -1: it is bad; 1: skip it as such. */
static int read_header_line(struct text_table *t, struct text_lines *l, struct span line,
			    bool *header)
{
	const struct text_spec *const spec = t->spec;
	const struct text_column by = {.name = spec->by,
				       .length = spec->by ? strlen(spec->by) : 0,
				       .number = spec->by_number};
	struct wanted wanted[TEXT_COLUMNS + 1];
	struct walk w = walk_begin(t->separator = separator_of(line), line);
	bool words = false, says = false, missing = false, named = spec->by && by.number == 0;
	const size_t n = spec->columns + (spec->by ? 1 : 0);
	char text[WHAT] = "", name[TEXT_NAME];
	struct span s;

	t->by = spec->by_number;
	for (uint32_t c = 0; c < spec->columns; c++) {
		t->number[c] = spec->column[c].number;
		named |= t->number[c] == 0;
		wanted[c] = (struct wanted){&spec->column[c], &t->number[c], 0};
	}
	wanted[spec->columns] = (struct wanted){&by, &t->by, 0};
	while (walk_next(&w, &s)) {
		if (w.open) {
			(void)refuse_line(t, l, line, unclosed);
			t->separator = '\n'; /* the next line decides */
			return spec->skip_bad ? 1 : -1;
		}
		const bool absent = is_missing(s) || is_missing_word(spec, s);
		words = words || (is_word(s) && !absent);
		says |= see_field(wanted, spec->columns, w.n, s, absent, &missing);
		if (spec->by && by.number == 0)
			(void)see_field(wanted + spec->columns, 1, w.n, s, absent, &missing);
	}
	t->last = t->by;
	for (size_t i = 0; i < n && text[0] == '\0'; i++) {
		text_column_name(name, wanted[i].column);
		if (wanted[i].second > 0) {
			snprintf(text, sizeof(text),
				 "has two columns named %.100s, %llu and %llu; give one by its "
				 "number",
				 name, (unsigned long long)*wanted[i].number,
				 (unsigned long long)wanted[i].second);
		} else if (*wanted[i].number == 0) {
			snprintf(text, sizeof(text), "has no column named %.100s; its columns are ",
				 name);
			add_names(text, sizeof(text), t->separator, line);
		}
		t->last = *wanted[i].number > t->last ? *wanted[i].number : t->last;
	}
	if (text[0] != '\0') {
		l->bad_line = 0; /* lines before it were left out, but this one cannot be */
		return refuse_line(t, l, line, text);
	}
	*header = named || says || (missing && words);
	return 0;
}

int text_begin(struct text_table *t, const struct text_spec *spec, struct text_lines *l)
{
	bool header = false;

	*t = (struct text_table){.spec = spec, .separator = '\n', .number = {1}, .last = 1};
	if (l->starts_text && l->taken == 0 && text_check_format(l) != 0)
		return -1;
	while (l->at < l->end) {
		const char *const end = memchr(l->at, '\n', (size_t)(l->end - l->at));
		const struct span line = {l->at, end};
		if (has_cr(line)) {
			if (refuse_line(t, l, line, bad_cr) != 0 && !spec->skip_bad)
				return -1;
		} else if (!is_empty_line(t, line)) {
			const int rc =
				spec->columns > 0 ? read_header_line(t, l, line, &header) : 0;
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
