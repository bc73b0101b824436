/* SPDX-License-Identifier: MIT */
/* table: which columns fit, and short numbers for them. */
#include "output/table.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "hist/figures.h"
#include "output/picture.h"

#define NUMBER 8u      /* columns of a number that shows two digits, whatever it is */
#define NUMBER_MOST 11 /* a wider column shows nothing more */
#define COUNT 9
#define PERCENT 6
#define CHANNEL 3u
#define SHAPE 12u
#define NAME 12u /* least */
#define DIGITS 5

/* The columns of a table. */
struct columns {
	struct figure f[FIGURES_MOST];
	unsigned width[FIGURES_MOST]; /* 0: there is no room */
	size_t n;
	unsigned name; /* width of the first column */
};

/* How soon a figure gets its column, 1 first. */
static unsigned turn_of(const struct figure *f, const struct table *t)
{
	if (f->row->id == FIGURE_ENTROPY && !t->bytes)
		return 0;
	return f->row->id != FIGURE_QUANTILE ? f->row->rule & FIGURE_WORTH
	       : t->asked->named             ? NAMED_WORTH
	       : t->shape                    ? 0
					     : FIGURE_WORTH;
}

static void make_plan(struct columns *p, const struct table *t, const struct hist *hist,
		      uint32_t channel)
{
	const unsigned fixed =
		NAME + (t->shape ? SHAPE + 1 : 0) + (t->channels > 1 ? CHANNEL + 1 : 0);
	unsigned left = t->canvas->columns > fixed ? t->canvas->columns - fixed : 0;
	unsigned number = NUMBER, numbers = 0;

	p->n = figures_list(p->f, IN_COLUMNS, t->asked, hist, channel);
	memset(p->width, 0, sizeof(p->width));
	for (unsigned turn = 1; turn <= FIGURE_WORTH; turn++)
		for (size_t i = 0; i < p->n; i++) {
			const struct figure_row *const row = p->f[i].row;
			const bool samples = row->id == FIGURE_SAMPLES;
			const unsigned width = samples             ? COUNT
					       : row->rule & SHARE ? PERCENT
								   : NUMBER;
			if (turn_of(&p->f[i], t) != turn || (samples && t->shape) ||
			    left < width + 1)
				continue;
			p->width[i] = width;
			left -= width + 1;
			numbers += width == NUMBER;
		}
	/* Names get the rest, or numbers. */
	while (!t->names && number < NUMBER_MOST && left >= numbers) {
		number++;
		left -= numbers;
	}
	for (size_t i = 0; i < p->n; i++)
		p->width[i] = p->width[i] == NUMBER ? number : p->width[i];
	p->name = NAME + (t->names ? left : 0);
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

/* Write a name, and cut out its middle if it is too long. */
static void write_name(struct output *out, const struct table *t, unsigned width, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text), "%.*s", (int)picture_cut(name, 500), name);
	utf8_make_plain(text);
	const size_t all = picture_width(text);
	if (all <= width) {
		output_print(out, "%s%*s", t->names ? text : "", (int)(width - all), "");
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

static void write_cell(struct output *out, const char *text, unsigned width)
{
	output_print(out, " %*s", (int)width, *text ? text : "-");
}

void table_begin(struct output *out, const struct table *t)
{
	struct columns p;
	char text[NUMBER_TEXT];

	make_plan(&p, t, NULL, 0);
	write_name(out, t, p.name, t->name);
	if (t->shape)
		output_print(out, " %-*s", (int)SHAPE, "shape");
	if (t->channels > 1)
		output_print(out, " %*s", (int)CHANNEL, "ch");
	for (size_t i = 0; i < p.n; i++)
		if (p.width[i] > 0)
			write_cell(out, figure_name(text, &p.f[i], IN_COLUMNS, t->asked),
				   p.width[i]);
	output_text(out, "\n");
}

void table_row(struct output *out, const struct table *t, const char *name, const char *shape,
	       const struct hist *hist, uint32_t channel)
{
	struct columns p;
	char text[NUMBER_TEXT];

	make_plan(&p, t, hist, channel);
	write_name(out, t, p.name, name);
	if (t->shape)
		output_print(out, " %-*.*s", (int)SHAPE, (int)SHAPE, shape);
	if (t->channels > 1)
		output_print(out, " %*lu", (int)CHANNEL, (unsigned long)channel);
	for (size_t i = 0; i < p.n; i++) {
		const struct figure_value value = p.f[i].value;
		if (p.width[i] == 0)
			continue;
		if (p.f[i].row->rule & SHARE && value.kind != VALUE_NONE)
			percent_text(text, value.count, hist_samples(hist, channel));
		else
			shorten(text, value, p.width[i]);
		write_cell(out, text, p.width[i]);
	}
	output_text(out, "\n");
}
