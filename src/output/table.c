/* SPDX-License-Identifier: MIT */
/* table: which columns fit, and short numbers for them. */
#include "output/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "output/figures.h"
#include "output/picture.h"

#define CELLS_MOST (16 + QUANTILES_MAX)
#define TEXT (NUMBER_TEXT + 8)
#define NUMBER 8u      /* columns of a number that shows two digits, whatever it is */
#define NUMBER_MOST 11 /* a wider column shows nothing more */
#define COUNT 9
#define SHARE 6
#define CHANNEL 3u
#define SHAPE 12u
#define NAME 12u /* least */
#define DIGITS 5

/* The figures of a row, or their names, as figures_list gives them. */
struct cells {
	size_t n;
	char text[CELLS_MOST][TEXT];
};

static void keep_cell(void *cells, const char *text)
{
	struct cells *const c = cells;

	if (c->n < CELLS_MOST)
		snprintf(c->text[c->n++], TEXT, "%s", text);
}

static void list(struct cells *c, const struct table *t, const struct hist *hist, uint32_t channel)
{
	c->n = 0;
	figures_list(keep_cell, c, t->asked, hist, channel);
}

/* The figures that have a column before the quantiles; a share is of the samples. */
static const struct column {
	const char *name; /* in figures_list */
	unsigned width;
	bool share;
} COLUMNS[] = {
	{"samples", COUNT, false}, {"min", NUMBER, false}, {"max", NUMBER, false},
	{"mean", NUMBER, false},   {"std", NUMBER, false}, {"zeros", SHARE, true},
	{"nan", SHARE, true},
};
#define FIXED (sizeof(COLUMNS) / sizeof(COLUMNS[0]))

/* The columns of a table. */
struct columns {
	struct cells head;
	unsigned name, number; /* widths of the first column and of numbers */
	bool has[FIXED];
	unsigned quantiles; /* how many, from the first on */
};

static unsigned width_of(const struct columns *p, size_t i)
{
	return COLUMNS[i].width == NUMBER ? p->number : COLUMNS[i].width;
}

/* Take up to `n` columns of this width from the space left; returns how many fit. */
static unsigned take_columns(unsigned *left, unsigned n, unsigned width)
{
	const unsigned fit = *left / (width + 1), some = fit < n ? fit : n;

	*left -= some * (width + 1);
	return some;
}

static void make_plan(struct columns *p, const struct table *t)
{
	static const size_t ORDER[] = {1, 2, 3, 4, 5, 6, 0}; /* of COLUMNS, by importance */
	const unsigned fixed =
		NAME + (t->shape ? SHAPE + 1 : 0) + (t->channels > 1 ? CHANNEL + 1 : 0);
	unsigned left = t->canvas->columns > fixed ? t->canvas->columns - fixed : 0;

	list(&p->head, t, NULL, 0);
	p->number = NUMBER;
	p->quantiles = 0;
	for (size_t i = 0; i < FIXED; i++) {
		const size_t k = ORDER[i];
		if (i == 4 && t->asked->named)
			p->quantiles = take_columns(&left, t->asked->n, NUMBER);
		p->has[k] = (k > 0 || !t->shape) && take_columns(&left, 1, COLUMNS[k].width) > 0;
	}
	if (!t->asked->named && !t->shape)
		p->quantiles = take_columns(&left, t->asked->n, NUMBER);
	/* Names get the rest, or numbers. */
	const unsigned numbers = 4 + p->quantiles;
	while (!t->names && p->number < NUMBER_MOST && left >= numbers) {
		p->number++;
		left -= numbers;
	}
	p->name = NAME + (t->names ? left : 0);
}

/* ---- text ---- */

/* Shorten a number to DIGITS, or fewer if it is too wide, except a whole one that fits. */
static void shorten(char text[TEXT], unsigned width)
{
	const double x = strtod(text, NULL);

	if (text[0] == '\0' || (edge_is_whole(text) && strlen(text) <= width))
		return;
	for (int digits = DIGITS; digits > 0; digits--)
		if ((unsigned)snprintf(text, TEXT, "%.*g", digits, x) <= width)
			return;
}

/* Write a name, and cut out its middle if it is too long. */
static void write_name(struct output *out, const struct table *t, unsigned width, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text), "%.*s", (int)picture_cut(name, 500), name);
	utf8_make_plain(text);
	const size_t all = picture_width(text);
	if (all <= width) {
		output_print(out, t->names ? "%s%*s" : "%s%*s", t->names ? text : "",
			     (int)(width - all), "");
		output_text(out, t->names ? "" : text);
		return;
	}
	const unsigned dots = t->canvas->utf8 ? 1 : 3, tail = (width - dots) / 2;
	const size_t head = picture_cut(text, width - dots - tail);
	size_t rest = picture_cut(text, all - tail);
	if (picture_width(text + rest) > tail) /* the cut is inside a wide character */
		rest += picture_cut(text + rest, 2);
	output_write(out, text, head);
	output_text(out, t->canvas->utf8 ? "\u2026" : "...");
	text[head] = '\0';
	output_print(out, "%s%*s", text + rest,
		     (int)(width - dots - picture_width(text) - picture_width(text + rest)), "");
}

/* The text of a figure by its name in figures_list. */
static const char *figure_of(const struct columns *p, const struct cells *row, const char *name)
{
	for (size_t i = 0; i < row->n; i++)
		if (strcmp(p->head.text[i], name) == 0)
			return row->text[i];
	return "";
}

static void write_cell(struct output *out, const char *text, unsigned width)
{
	output_print(out, " %*s", (int)width, *text ? text : "-");
}

void table_begin(struct output *out, const struct table *t)
{
	struct columns p;

	make_plan(&p, t);
	write_name(out, t, p.name, t->name);
	if (t->shape)
		output_print(out, " %-*s", (int)SHAPE, "shape");
	if (t->channels > 1)
		output_print(out, " %*s", (int)CHANNEL, "ch");
	for (size_t i = 0; i < FIXED; i++)
		if (p.has[i])
			write_cell(out, COLUMNS[i].name, width_of(&p, i));
	for (unsigned q = 0; q < p.quantiles; q++)
		write_cell(out, p.head.text[p.head.n - t->asked->n + q], p.number);
	output_text(out, "\n");
}

void table_row(struct output *out, const struct table *t, const char *name, const char *shape,
	       const struct hist *hist, uint32_t channel)
{
	struct columns p;
	struct cells row;
	char text[TEXT];

	make_plan(&p, t);
	list(&row, t, hist, channel);
	const uint64_t samples = strtoull(figure_of(&p, &row, "samples"), NULL, 10);
	write_name(out, t, p.name, name);
	if (t->shape)
		output_print(out, " %-*.*s", (int)SHAPE, (int)SHAPE, shape);
	if (t->channels > 1)
		output_print(out, " %*lu", (int)CHANNEL, (unsigned long)channel);
	for (size_t i = 0; i < FIXED; i++) {
		const char *const figure = figure_of(&p, &row, COLUMNS[i].name);
		if (!p.has[i])
			continue;
		snprintf(text, TEXT, "%s", figure);
		if (COLUMNS[i].share && *figure)
			percent_text(text, strtoull(figure, NULL, 10), samples);
		else
			shorten(text, width_of(&p, i));
		write_cell(out, text, width_of(&p, i));
	}
	for (unsigned q = 0; q < p.quantiles; q++) {
		snprintf(text, TEXT, "%s", row.text[row.n - t->asked->n + q]);
		shorten(text, p.number);
		write_cell(out, text, p.number);
	}
	output_text(out, "\n");
}
