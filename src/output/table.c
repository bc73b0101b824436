/* SPDX-License-Identifier: MIT */
/* table: which columns fit on which line, short numbers for them, and names that differ. */
#include "output/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "hist/figures.h"
#include "hist/series.h"
#include "output/picture.h"

#define NUMBER 8u      /* columns of a number that shows two digits, whatever it is */
#define NUMBER_MOST 11 /* a wider column shows nothing more */
#define COUNT 9
#define PERCENT 6
#define CHANNEL 3u /* least */
#define CHANNEL_MOST 12u
#define SHAPE 12u
#define NAME 12u /* least */
#define DIGITS 5
#define INDENT 2u /* of further lines */
#define LINES_MOST (1 + QUANTILES_MAX)
#define NAME_MOST 4096 /* bytes; no key is longer */

/* The columns of a table. */
struct columns {
	struct figure f[FIGURES_MOST];
	unsigned width[FIGURES_MOST]; /* 0: there is no room */
	unsigned line[FIGURES_MOST];
	size_t n;
	unsigned lines; /* of a row */
	unsigned name;  /* width of the first column */
};

static bool is_named(const struct figure *f, const struct table *t)
{
	return f->row->id == FIGURE_QUANTILE && t->asked->named;
}

/* How soon a figure gets its column, 1 first. */
static unsigned turn_of(const struct figure *f, const struct table *t)
{
	const enum figure_id id = f->row->id;

	if (((id == FIGURE_ENTROPY || id == FIGURE_CHI2) && !t->bytes) ||
	    (id == FIGURE_SAMPLES && t->shape) || (id == FIGURE_INF && !t->reals))
		return 0;
	if (t->rows->zero >> id & 1)
		return FIGURE_WORTH + 1;
	if (id != FIGURE_QUANTILE)
		return f->row->rule & FIGURE_WORTH;
	if (t->asked->named)
		return NAMED_WORTH;
	/* The median and the 99th percentile come before the others. */
	const uint32_t at = t->asked->at[f->quantile];
	return t->shape                        ? 0
	       : at == QUANTILE_ALL / 2        ? FIGURE_WORTH - 2
	       : at == QUANTILE_ALL / 100 * 99 ? FIGURE_WORTH - 1
					       : FIGURE_WORTH;
}

static unsigned width_of(const struct figure *f, const struct table *t)
{
	char text[NUMBER_TEXT];

	if (f->row->id == FIGURE_SAMPLES)
		return COUNT;
	if (f->row->rule & SHARE)
		return PERCENT;
	const size_t name = strlen(figure_name(text, f, IN_COLUMNS, t->asked));
	return name > NUMBER ? (unsigned)name : NUMBER;
}

/* The width of the column of channels; 0: there is none. */
static unsigned channel_width(const struct table *t)
{
	unsigned width = t->channels > 1 ? CHANNEL : 0;

	for (uint32_t c = 0; width > 0 && t->series->name && c < t->channels; c++) {
		const size_t n = picture_width(t->series->name[c]);
		width = n <= width ? width : n < CHANNEL_MOST ? (unsigned)n : CHANNEL_MOST;
	}
	return width;
}

/* Give figures their columns on p->lines lines. False: one that the user named needs a further line. */
static bool fill_lines(struct columns *p, const struct table *t)
{
	const unsigned fixed = (t->rows->apart ? INDENT : NAME) + (t->shape ? SHAPE + 1 : 0) +
			       (t->channels > 1 ? channel_width(t) + 1 : 0);
	unsigned left[LINES_MOST], number = NUMBER, numbers = 0;

	memset(p->width, 0, sizeof(p->width));
	for (unsigned line = 0; line < p->lines; line++)
		left[line] = t->canvas->columns - (line > 0 ? INDENT : fixed);
	for (unsigned turn = 1; turn <= FIGURE_WORTH + 1; turn++)
		for (size_t i = 0; i < p->n; i++) {
			const unsigned width = width_of(&p->f[i], t);
			unsigned line = 0;
			if (turn_of(&p->f[i], t) != turn || (turn > FIGURE_WORTH && p->lines > 1))
				continue;
			while (line < p->lines && left[line] < width + 1)
				line++;
			if (line == p->lines) {
				if (is_named(&p->f[i], t) && p->lines < LINES_MOST)
					return false;
				continue;
			}
			p->width[i] = width;
			p->line[i] = line;
			left[line] -= width + 1;
			numbers += width == NUMBER;
		}
	/* Names get the rest, or numbers. */
	const bool names = t->names && !t->rows->apart;
	while (!names && p->lines == 1 && number < NUMBER_MOST && left[0] >= numbers) {
		number++;
		left[0] -= numbers;
	}
	for (size_t i = 0; i < p->n; i++)
		p->width[i] = p->width[i] == NUMBER ? number : p->width[i];
	p->name = t->rows->apart ? INDENT : NAME + (names ? left[0] : 0);
	return true;
}

static void make_plan(struct columns *p, const struct table *t, const struct hist *hist,
		      uint32_t channel)
{
	p->n = figures_list(p->f, IN_COLUMNS, t->asked, hist, channel);
	p->lines = 1;
	while (!fill_lines(p, t))
		p->lines++;
}

/* ---- text ---- */

/* Format a figure in DIGITS, or fewer if it is too wide, except a whole number that fits. */
static void shorten(char text[NUMBER_TEXT], struct figure_value value, unsigned width)
{
	if (figure_format(text, value) == 0 || (edge_is_whole(text) && strlen(text) <= width))
		return;
	for (int digits = DIGITS; digits > 0; digits--)
		if ((unsigned)snprintf(text, NUMBER_TEXT, "%.*g", digits, figure_real(value)) <=
		    width)
			return;
}

/* A name without the common beginning and end, cut to a width. */
static void short_name(char text[NAME_MOST], const struct table *t, size_t width, const char *name)
{
	char plain[NAME_MOST];
	const size_t n = strlen(name), shared = t->rows->start + t->rows->tail;

	snprintf(plain, sizeof(plain), "%.*s", (int)(n > shared ? n - shared : n),
		 name + (n > shared ? t->rows->start : 0));
	utf8_make_plain(plain);
	picture_shorten(text, NAME_MOST, plain, width, t->canvas->utf8 ? "\u2026" : "...");
}

/* Write the first column; if names stand apart, the whole name on lines of its own before it. */
static void write_name(struct output *out, const struct table *t, unsigned width, const char *name)
{
	char text[NAME_MOST];

	short_name(text, t, t->rows->apart ? NAME_MOST : width, name);
	for (const char *rest = text; t->rows->apart && *rest;) {
		const size_t fits = picture_cut(rest, t->canvas->columns);
		output_write(out, rest, fits);
		output_text(out, "\n");
		rest += fits;
	}
	if (t->rows->apart)
		text[0] = '\0';
	const int gap = (int)(width - picture_width(text));
	output_print(out, "%*s", t->names ? 0 : gap, "");
	output_text(out, text);
	output_print(out, "%*s", t->names ? gap : 0, "");
}

static void write_cell(struct output *out, const char *text, unsigned width)
{
	output_print(out, " %*s", (int)width, *text ? text : "-");
}

/* Write the rest of a row, or of the header if hist is NULL. */
static void write_cells(struct output *out, const struct table *t, const struct columns *p,
			const struct hist *hist, uint32_t channel)
{
	char text[NUMBER_TEXT];

	for (unsigned line = 0; line < p->lines; line++) {
		output_print(out, "%*s", line > 0 ? (int)INDENT : 0, "");
		for (size_t i = 0; i < p->n; i++) {
			const struct figure_value value = p->f[i].value;
			const char *cell = text;
			if (p->width[i] == 0 || p->line[i] != line)
				continue;
			if (!hist)
				cell = figure_name(text, &p->f[i], IN_COLUMNS, t->asked);
			else if (p->f[i].row->rule & SHARE && value.kind != VALUE_NONE)
				percent_text(text, value.count, hist_samples(hist, channel));
			else
				shorten(text, value, p->width[i]);
			write_cell(out, cell, p->width[i]);
		}
		output_text(out, "\n");
	}
}

void table_begin(struct output *out, const struct table *t)
{
	const struct table_rows whole = {.apart = t->rows->apart};
	struct table head = *t;
	struct columns p;

	make_plan(&p, t, NULL, 0);
	head.rows = &whole;
	write_name(out, &head, p.name, t->name);
	if (t->shape)
		output_print(out, " %-*s", (int)SHAPE, "shape");
	if (t->channels > 1)
		output_print(out, " %*s", (int)channel_width(t), "ch");
	write_cells(out, t, &p, NULL, 0);
}

static void write_channel(struct output *out, const struct table *t, const struct hist *hist,
			  uint32_t channel)
{
	const unsigned width = channel_width(t);
	char number[NUMBER_TEXT], plain[NAME_MOST], text[NAME_MOST];

	snprintf(plain, sizeof(plain), "%s", series_name(hist, channel, number));
	utf8_make_plain(plain);
	picture_shorten(text, sizeof(text), plain, width, t->canvas->utf8 ? "\u2026" : "...");
	output_print(out, " %*s%s", (int)(width - picture_width(text)), "", text);
}

void table_row(struct output *out, const struct table *t, const char *name, const char *shape,
	       const struct hist *hist, uint32_t channel)
{
	struct columns p;

	make_plan(&p, t, hist, channel);
	write_name(out, t, p.name, name);
	if (t->shape)
		output_print(out, " %-*.*s", (int)SHAPE, (int)SHAPE, shape);
	if (t->channels > 1)
		write_channel(out, t, hist, channel);
	write_cells(out, t, &p, hist, channel);
}

/* ---- names ---- */

static bool has_letter(const char *text, size_t n)
{
	while (n > 0 && !isalpha((unsigned char)text[n - 1]))
		n--;
	return n > 0;
}

/*
 * Find the common beginning and end of the names: whole words, at least one with a letter, so that
 * numbers keep their sign.
 */
static void find_shared(struct table_rows *r, const char *const *name, size_t n)
{
	const char *const first = name[0];
	const size_t all = strlen(first);
	size_t start = all, tail = all, least = all, most = all;

	for (size_t i = 1; i < n; i++) {
		const size_t length = strlen(name[i]);
		size_t s = 0, e = 0;
		while (s < start && name[i][s] == first[s])
			s++;
		while (e < tail && e < length && name[i][length - 1 - e] == first[all - 1 - e])
			e++;
		start = s;
		tail = e;
		least = length < least ? length : least;
		most = length > most ? length : most;
	}
	if (start == most) /* all are equal */
		return;
	start = start < least ? start : least - (least > 0);
	while (start > 0 && !ispunct((unsigned char)first[start - 1]))
		start--;
	start = has_letter(first, start) ? start : 0;
	tail = tail < least - start ? tail : least - start - (least > start);
	while (tail > 0 && !ispunct((unsigned char)first[all - tail]))
		tail--;
	r->start = start;
	r->tail = has_letter(first + all - tail, tail) ? tail : 0;
}

static int compare_hashes(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* How many names differ if they are cut to a width. */
static size_t count_names(uint64_t *hash, const struct table *t, size_t width,
			  const char *const *name, size_t n)
{
	char text[NAME_MOST];
	size_t differ = n > 0;

	for (size_t i = 0; i < n; i++) {
		short_name(text, t, width, name[i]);
		hash[i] = 0xcbf29ce484222325;
		for (const char *c = text; *c; c++)
			hash[i] = (hash[i] ^ (unsigned char)*c) * 0x100000001b3;
	}
	qsort(hash, n, sizeof(*hash), compare_hashes);
	for (size_t i = 1; i < n; i++)
		differ += hash[i] != hash[i - 1];
	return differ;
}

void table_know(struct table_rows *r, const struct table *t, const char *const *name, size_t n)
{
	struct table known = *t;
	struct columns p;
	uint64_t *const hash = malloc((n + 1) * sizeof(*hash));

	known.rows = r;
	if (n > 1)
		find_shared(r, name, n);
	make_plan(&p, &known, NULL, 0);
	r->apart = !hash || count_names(hash, &known, p.name, name, n) <
				    count_names(hash, &known, NAME_MOST, name, n);
	free(hash);
}
