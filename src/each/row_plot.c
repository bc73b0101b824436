/* SPDX-License-Identifier: MIT */
/*
 * row_plot: draws a row of --each as text.
 *
 *       offset |0                   256| entropy   samples    out
 *       0x4000 |  .:-=+*#%@            |   3.412     16384   1.2%
 *
 * Channels are drawn side by side as "panels" of a strip and its entropy. If strips would be too
 * short, a row has several lines of as many panels each. With --stats, a bar of the entropy takes
 * the place of the strip.
 */
#include "each/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "hist/series.h"
#include "output/picture.h"
#include "output/sheet.h"

#define LABEL 12      /* columns for the position of a row */
#define LABEL_NAME 24 /* limit of the columns for an input's name */
#define ENTROPY 8     /* columns for the entropy */
#define SAMPLES 10    /* columns for the samples */
#define OUT 7         /* columns for the share that is in no bin */
#define STRIP_LEAST 8 /* if strips were shorter, use more lines */
#define CELLS_MOST 200u

/* The layout of a line. */
struct line {
	unsigned label, strip; /* columns */
	uint32_t across;       /* panels */
	uint32_t lines;        /* of a row */
};

/* Can samples be in no bin? */
static bool has_out(const struct row_spec *spec)
{
	const struct edges *const e = &spec->axis->edges;
	const struct sample_type *const type = &spec->axis->type;

	if (spec->asked || !axis_kind_of(spec->axis)->ordered || axis_bins(spec->axis) == 0)
		return false;
	return type->kind == SAMPLE_FLOAT ||
	       (!spec->axis->clamp && !axis_kind_of(spec->axis)->from_samples &&
		(edges_value(e, 0) > (double)sample_min(type) ||
		 edges_value(e, axis_bins(spec->axis)) <= (double)sample_max(type)));
}

static unsigned strip_of(unsigned columns, uint32_t panels)
{
	const unsigned each = (columns + 1) / panels;

	return each > ENTROPY + 3 ? each - ENTROPY - 3 : 0;
}

static struct line line_of(const struct row_spec *spec)
{
	const unsigned columns = spec->style->canvas.columns, quarter = columns / 4;
	struct line l = {.across = spec->channels};

	l.label = !row_is_named(spec) || quarter < LABEL ? LABEL
		  : quarter < LABEL_NAME                 ? quarter
							 : LABEL_NAME;
	const unsigned rest = columns - l.label - 1 - SAMPLES - (has_out(spec) ? OUT : 0);
	while (l.across > 1 && strip_of(rest, l.across) < STRIP_LEAST)
		l.across--;
	l.lines = (spec->channels + l.across - 1) / l.across;
	l.across = (spec->channels + l.lines - 1) / l.lines;
	l.strip = strip_of(rest, l.across);
	return l;
}

static const char *side_of(const struct canvas *canvas)
{
	return canvas->utf8 ? "\u2502" : "|";
}

void row_plot_strip(struct strip *strip, const struct row_spec *spec)
{
	strip_make(strip, spec->axis, line_of(spec).strip);
}

/* ---- shades ---- */

/* Write a cell's shade `times` times; return the end. */
static char *put_shade(char *to, const struct canvas *canvas, unsigned shade, uint32_t times)
{
	static const char BLOCKS[][4] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"},
			  ASCII[] = " .:-=+*#%@";

	const char plain[] = {canvas->colour || canvas->utf8 ? ' ' : ASCII[shade], '\0'};
	const char *const cell = canvas->utf8 && !canvas->colour ? BLOCKS[shade] : plain;
	const size_t bytes = strlen(cell);

	for (; times > 0; times--, to += bytes)
		memcpy(to, cell, bytes);
	return to;
}

/* Draw cells of these shades, over `width` columns. */
static void draw_shades(struct output *out, const struct canvas *canvas, const unsigned *shades,
			uint32_t cells, uint32_t width)
{
	char text[CELLS_MOST * 16], *end = text;
	unsigned last = 0;

	for (uint32_t i = 0; i < cells; i++) {
		const unsigned shade = shades[i];
		if (canvas->colour && shade != last)
			end += shade > 0 ? sprintf(end, "\033[48;5;%um", RAMP[shade - 1].terminal)
					 : sprintf(end, "\033[0m");
		last = shade;
		end = put_shade(end, canvas, shade, width * (i + 1) / cells - width * i / cells);
	}
	if (canvas->colour && last > 0)
		end += sprintf(end, "\033[0m");
	output_write(out, text, (size_t)(end - text));
}

static unsigned levels_of(const struct canvas *canvas)
{
	return canvas->colour ? SHADES : canvas->utf8 ? 4 : 9;
}

/* Explain the shades. */
static void write_legend(struct output *out, const struct row_spec *spec)
{
	const struct canvas *const canvas = &spec->style->canvas;
	const char *const text = canvas->columns < 60
					 ? " few to most of a line"
					 : " from few samples to the most of a line; blank: none";
	const unsigned levels = levels_of(canvas), label = line_of(spec).label,
		       needed = levels + (unsigned)strlen(text) + 1,
		       room = canvas->columns > needed ? canvas->columns - needed : 0;
	unsigned shades[SHADES];

	for (unsigned i = 0; i < levels; i++)
		shades[i] = i + 1;
	/* The text begins where the strips do, or as far to the left as it must to fit. */
	output_print(out, "%*s ", (int)(label < room ? label : room), "");
	draw_shades(out, canvas, shades, levels, levels);
	output_print(out, "%s\n", text);
}

/* ---- above the rows ---- */

static void write_title(struct output *out, const struct row_spec *spec)
{
	const struct canvas *const canvas = &spec->style->canvas;
	const char *const title = canvas->title ? canvas->title : "";
	const uint32_t bins = axis_bins(spec->axis);
	char line[512], number[40] = "", rest[128];

	if (!spec->asked && bins != 1)
		snprintf(number, sizeof(number), ", %lu bins", (unsigned long)bins);
	snprintf(rest, sizeof(rest), "%s%s%s%s", *title ? ": " : "", spec->axis->type.name, number,
		 canvas->log ? ", log counts" : "");
	if (*title && picture_width(title) + strlen(rest) > canvas->columns)
		strcpy(rest, canvas->log ? ": log counts" : "");
	picture_shorten(line, sizeof(line) - sizeof(rest), title, canvas->columns - strlen(rest),
			"...");
	utf8_make_plain(line);
	output_print(out, "%s%s\n", line, rest);
}

/* Write the names of the channels above the panels of the first line. */
static void write_channels(struct output *out, const struct row_spec *spec, const struct line *l)
{
	output_print(out, "%*s", (int)l->label + 1, "");
	for (uint32_t c = 0; c < l->across; c++)
		picture_series(out, spec->series, c, l->strip + ENTROPY + 3, c + 1 == l->across);
	output_text(out, "\n");
}

void row_plot_begin(struct output *out, const struct row_spec *spec)
{
	const struct canvas *const canvas = &spec->style->canvas;
	const struct line l = line_of(spec);
	const int width = (int)l.strip;
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];

	write_title(out, spec);
	if (!spec->asked)
		write_legend(out, spec);
	if (l.across > 1)
		write_channels(out, spec, &l);
	if (spec->asked) {
		strcpy(lower, "0");
		snprintf(upper, sizeof(upper), "%.3g bits", sheet_bits(spec->axis, spec->series));
	} else {
		edge_text(lower, spec->axis, 0);
		edge_text(upper, spec->axis, axis_bins(spec->axis));
	}
	const bool both = (int)(strlen(lower) + strlen(upper)) < width;
	output_print(out, "%*s", (int)l.label, row_head(spec));
	for (uint32_t c = 0; c < l.across; c++)
		output_print(out, " %s%s%*s%s entropy", side_of(canvas), both ? lower : "",
			     both ? width - (int)strlen(lower) : width, both ? upper : "",
			     side_of(canvas));
	output_print(out, " %9s%s\n", "samples", has_out(spec) ? "    out" : "");
	strip_begin();
	(void)output_flush(out, &(struct fail){.status = STATUS_OK});
}

/* ---- a row ---- */

/* Write a label right-aligned; control characters become '?'. */
static void write_label(struct output *out, unsigned width, const char *label)
{
	char text[4 * LABEL_NAME + 1];

	snprintf(text, sizeof(text), "%.*s", (int)picture_cut(label, width), label);
	utf8_make_plain(text);
	output_print(out, "%*s%s", (int)(width - picture_width(text)), "", text);
}

/* Draw a channel's strip, between two lines. */
static void draw_strip(struct output *out, const struct row_spec *spec, const struct hist *hist,
		       uint32_t channel, uint32_t width)
{
	const struct canvas *const canvas = &spec->style->canvas;
	double cell[CELLS_MOST];
	unsigned shades[CELLS_MOST];

	strip_fill(cell, spec->strip, hist, channel);
	strip_shades(shades, cell, spec->strip->cells, levels_of(canvas), canvas->log);
	output_text(out, side_of(canvas));
	draw_shades(out, canvas, shades, spec->strip->cells, width);
	output_text(out, side_of(canvas));
}

/* The entropy of a row's channel. */
static double entropy_of(const struct row_spec *spec, const struct hist *hist, uint32_t channel)
{
	return spec->asked ? fmax(hist->stats[channel].entropy, 0) : strip_entropy(hist, channel);
}

/* Draw a bar of the entropy, between two lines. */
static void draw_entropy(struct output *out, const struct row_spec *spec, double entropy,
			 uint32_t width)
{
	const struct canvas *const canvas = &spec->style->canvas;
	const double bits = sheet_bits(spec->axis, spec->series);
	const uint32_t parts = canvas->utf8 ? 8 : 1;
	const uint32_t length = (uint32_t)picture_round(fmin(entropy / bits, 1) * width * parts);
	uint32_t drawn = 0;

	output_text(out, side_of(canvas));
	output_text(out, canvas->colour && length > 0 ? "\033[36m" : "");
	for (; drawn < length / parts; drawn++)
		output_text(out, canvas->utf8 ? "\u2588" : "#");
	if (length % parts > 0) /* U+2589 to U+258F */
		output_print(out, "\xe2\x96%c", (int)(0x90 - length % parts));
	drawn += length % parts > 0;
	output_print(out, "%s%*s%s", canvas->colour && length > 0 ? "\033[0m" : "",
		     (int)(width - drawn), "", side_of(canvas));
}

/* Write the samples of a row, and the share that is in no bin. */
static void write_samples(struct output *out, const struct row_spec *spec, const struct hist *hist)
{
	const struct hist_flow flow = hist_flow_sum(hist);
	char share[NUMBER_TEXT];

	percent_text(share, flow.under + flow.over + flow.nan, hist->samples);
	output_print(out, " %9llu", (ull)(hist->samples / hist->channels));
	if (has_out(spec))
		output_print(out, " %6s", share);
}

/* Among several inputs with many rows each, write an input's name on a line before its rows. */
static void write_name(struct output *out, const char *name)
{
	char line[200];

	snprintf(line, sizeof(line), "%s", name);
	utf8_make_plain(line);
	output_text(out, line);
	output_text(out, "\n");
}

void row_plot_write(struct output *out, const struct row_spec *spec, const struct row_place *row,
		    const struct hist *hist)
{
	const struct line l = line_of(spec);
	const char *const name = spec->paths ? row_name(spec, row->path) : "";
	char label[NUMBER_TEXT], number[NUMBER_TEXT], last[NUMBER_TEXT];

	if (row->first == 0 && spec->path_count > 1 && spec->size != ROW_IS_INPUT)
		write_name(out, name);
	for (uint32_t first = 0, end; first < hist->channels; first = end) {
		end = first + l.across < hist->channels ? first + l.across : hist->channels;
		if (first > 0)
			snprintf(label, sizeof(label),
				 end > first + 1 ? "ch. %.12s-%.12s" : "ch. %.12s",
				 series_name(hist, first, number),
				 series_name(hist, end - 1, last));
		write_label(out, l.label, first > 0 ? label : row_text(number, spec, row, hist));
		for (uint32_t c = first; c < end; c++) {
			output_text(out, " ");
			const double entropy = entropy_of(spec, hist, c);
			if (spec->asked)
				draw_entropy(out, spec, entropy, l.strip);
			else
				draw_strip(out, spec, hist, c, l.strip);
			output_print(out, " %7.3f", entropy);
		}
		if (first == 0)
			write_samples(out, spec, hist);
		output_text(out, "\n");
	}
}

/* ---- rows that are joined ---- */

/* Lines that rows may fill on a terminal, next to the lines above and below them. */
static uint64_t lines_for_rows(const struct row_spec *spec)
{
	const struct line l = line_of(spec);
	const unsigned lines = spec->style->canvas.lines, others = l.across > 1 ? 5 : 4;

	return (lines > others ? lines - others : 1) / l.lines;
}

uint64_t row_plot_joined(const struct row_spec *spec, uint64_t rows)
{
	const uint64_t inputs = spec->path_count > 1 ? 2 * spec->path_count : 1;
	const uint64_t fit = lines_for_rows(spec), most = fit > inputs ? fit - inputs : 1;
	uint64_t joined = 1;

	if (spec->format->write != write_plot || spec->style->table ||
	    !spec->style->canvas.terminal)
		return 1;
	while ((rows - 1) / joined + 1 > most) /* 1, 2, 3, 4, 6, 8, 12 ... */
		joined += (joined & (joined - 1)) > 0 ? joined / 3 : (joined + 1) / 2;
	return joined;
}

void row_plot_end(struct output *out, const struct row_spec *spec, uint64_t rows)
{
	(void)rows;
	if (spec->joined > 1)
		output_print(out, "each line is %llu %s%s\n", (ull)spec->joined,
			     row_is_listed(spec) ? row_head(spec) : "row", "s");
}
