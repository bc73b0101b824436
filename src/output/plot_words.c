/* SPDX-License-Identifier: MIT */
/* plot_words: titles and footers. */
#include "output/plot_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output/plot_label.h"

static void say(struct plot_words *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct plot_words *w, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	const int n = vsnprintf(w->text + w->used, sizeof(w->text) - w->used, format, ap);
	va_end(ap);
	if (n > 0)
		w->used += (size_t)n;
	if (w->used > sizeof(w->text) - 1)
		w->used = sizeof(w->text) - 1;
}

unsigned plot_wrap(struct output *out, const struct plot_words *w, size_t columns)
{
	const char *p = w->text;
	unsigned lines = 0;

	while (*p) {
		size_t length = strcspn(p, "\n");
		if (length > columns) {
			length = columns;
			while (length > 0 && p[length] != ' ')
				length--;
			length = length > 0 ? length : columns;
		}
		if (out) {
			output_write(out, p, length);
			output_text(out, "\n");
		}
		lines++;
		p += length;
		p += *p == ' ' || *p == '\n';
	}
	return lines;
}

/* Writes an end of the axis: whole numbers in full, others with six digits. */
static void say_edge(struct plot_words *w, const struct edges *e, uint32_t i)
{
	char text[NUMBER_TEXT];
	const double x = edges_value(e, i);

	edges_format(e, i, text);
	if (text[strspn(text, "-0123456789")] != '\0' && x - x == 0)
		plot_label_round(text, x, 6);
	say(w, "%s", text);
}

/* Says which bins have no rows. */
static void say_cut(struct plot_words *w, uint32_t below, uint32_t above)
{
	const uint32_t sum = below + above;

	say(w, ", not shown: ");
	if (below > 0 && above > 0)
		say(w, "%lu empty below, %lu above", (unsigned long)below, (unsigned long)above);
	else
		say(w, "%lu empty %s", (unsigned long)sum, below > 0 ? "below" : "above");
}

void plot_title(struct plot_words *w, const struct hist *h, const struct provenance *from,
		const struct plot_rows *rows, bool log, uint32_t channel)
{
	const uint32_t bins = axis_bins(&h->axis);

	*w = (struct plot_words){.used = 0};
	say(w, "%s", h->axis.type.name);
	if (h->channels > 1)
		say(w, " channel %lu (of %lu)", (unsigned long)channel, (unsigned long)h->channels);
	if (from->parts > 1)
		say(w, " part %lu of %lu", (unsigned long)from->part, (unsigned long)from->parts);
	if (from->partial)
		say(w, ", PARTIAL, counts so far");
	say(w, ": %lu bin%s", (unsigned long)bins, bins == 1 ? "" : "s");
	if (bins > 0 && h->axis.kind == AXIS_MOD) {
		say(w, " of residues");
	} else if (bins > 0) {
		say(w, " from ");
		say_edge(w, &h->axis.edges, 0);
		say(w, " to ");
		say_edge(w, &h->axis.edges, bins);
	}
	if (rows->rows == 0)
		return;
	if (rows->per > 1)
		say(w, ", %lu a row", (unsigned long)rows->per);
	const uint32_t begin = plot_rows_begin(rows, &h->axis, 0);
	const uint32_t end = plot_rows_begin(rows, &h->axis, rows->rows);
	const uint32_t last = end - plot_rows_begin(rows, &h->axis, rows->rows - 1);
	/*
	 * Beyond the bins of AUTO there is no sample, so a row of fewer bins is not emptier than it
	 * should be.
	 */
	if (last != rows->per && h->axis.kind != AXIS_AUTO)
		say(w, " (%lu in the last)", (unsigned long)last);
	if (log)
		say(w, ", log counts");
	if (begin > 0 || end < bins)
		say_cut(w, begin, bins - end);
}

/* The figures have labels of their own: those of the rows may be too coarse for single bins. */
static void label_figures(struct plot_label *label, const struct hist *h,
			  const struct plot_figures *f)
{
	uint32_t bins[PLOT_PLACES + 1];
	size_t n = 0;

	bins[n++] = f->mode;
	for (unsigned i = 0; i < PLOT_PLACES; i++)
		if (f->at[i].kind == QUANTILE_BIN)
			bins[n++] = f->at[i].bin;
	plot_label_choose(label, &h->axis.edges, bins, n, 1, false);
}

static void say_number(struct plot_words *w, uint128_t n)
{
	char text[NUMBER_TEXT];

	number_format_integer(text, (int128_t)n);
	say(w, "%s", text);
}

/* Is a bin's lower edge the only value in it? */
static bool is_value(const struct axis *axis)
{
	return axis->edges.exact && axis->edges.width == (int128_t)axis_bins(axis) &&
	       axis->type.kind != SAMPLE_FLOAT;
}

void plot_footer(struct plot_words *w, const struct hist *h, const struct plot_figures *f)
{
	static const char *const NAMES[PLOT_PLACES] = {"min", "5%", "median", "95%", "max"};
	struct plot_label label;
	char text[NUMBER_TEXT] = "";

	*w = (struct plot_words){.used = 0};
	say_number(w, f->samples);
	say(w, f->samples == 1 ? " sample" : " samples");
	if (f->samples == 0)
		return;
	say(w, f->filled > 0 ? " in %lu bin%s" : "; all bins are empty", (unsigned long)f->filled,
	    f->filled == 1 ? "" : "s");
	if (f->filled > 0) {
		label_figures(&label, h, f);
		plot_label_text(&label, f->mode, text);
		say(w, "; mode %s (", text);
		say_number(w, f->most);
		say(w, ")");
	}
	for (unsigned i = 0; i < PLOT_PLACES; i++) {
		if (f->at[i].kind == QUANTILE_NONE)
			continue;
		if (f->at[i].kind == QUANTILE_BIN)
			plot_label_text(&label, f->at[i].bin, text);
		else
			snprintf(text, sizeof(text), "%s",
				 f->at[i].kind == QUANTILE_UNDER ? "under" : "over");
		say(w, "%s%s %s",
		    i > 0                ? ", "
		    : is_value(&h->axis) ? "\n"
					 : "\nlower edges: ",
		    NAMES[i], text);
	}
}
