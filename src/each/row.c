/* SPDX-License-Identifier: MIT */
/*
 * row: csv and tsv: a line for each row, or for each channel of it; raw and npy: its counters; json:
 * a document; plot: a strip of shades.
 */
#include "each/row.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/utf8.h"
#include "output/picture.h"

typedef unsigned long long ull;

struct row_format {
	write_fn *of; /* the format whose rows these are */
	void (*begin)(struct output *out, const struct row_spec *spec); /* NULL: nothing */
	void (*write)(struct output *out, const struct row_spec *spec, const struct row_place *row,
		      const struct hist *hist);
	bool stats; /* there is a place for figures */
};

static const char *name_of(const struct row_spec *spec, size_t path)
{
	return path_is_stdin(spec->paths[path]) ? "-" : spec->paths[path];
}

/* ---- csv and tsv ---- */

/* Numbers of a line, which are written together. */
struct line {
	struct output *out;
	char comma;
	size_t used;
	char text[4096];
};

static char comma_of(const struct row_spec *spec)
{
	return spec->format->write == write_tsv ? '\t' : ',';
}

static void end_line(struct line *l)
{
	l->text[l->used - 1] = '\n'; /* in place of the last comma */
	output_write(l->out, l->text, l->used);
}

/* Ends a field of `length` characters, which are in l->text already. */
static void end_field(struct line *l, size_t length)
{
	l->used += length;
	l->text[l->used++] = l->comma;
	if (l->used > sizeof(l->text) - 2 * NUMBER_TEXT) {
		/* The last comma stays, for end_line. */
		output_write(l->out, l->text, l->used - 1);
		l->text[0] = l->comma;
		l->used = 1;
	}
}

static void put(struct line *l, const char *text)
{
	const size_t length = strlen(text);

	memcpy(l->text + l->used, text, length);
	end_field(l, length);
}

static void put_count(struct line *l, uint64_t count)
{
	end_field(l, number_format_count(l->text + l->used, count));
}

/* A name with quotes around it where it would not be one field else. */
static void put_name(struct line *l, const char *name)
{
	const char special[] = {l->comma, '"', '\n', '\r', '\0'};
	const bool quoted = strpbrk(name, special);

	if (quoted)
		output_text(l->out, "\"");
	for (size_t i = 0; name[i]; i++) {
		if (name[i] == '"')
			output_text(l->out, "\"");
		output_write(l->out, &name[i], 1);
	}
	output_text(l->out, quoted ? "\"" : "");
	l->text[0] = l->comma;
	l->used = 1;
}

/* Have quantiles of this type one number each, or the ends of a bin? */
static bool has_values(const struct axis *axis)
{
	return axis->type.bytes <= 2;
}

static void put_percents(struct line *l, const struct row_spec *spec)
{
	char text[NUMBER_TEXT + 8];

	for (unsigned i = 0; i < spec->asked->n; i++) {
		number_format(text, spec->asked->at[i] * 100.0 / QUANTILE_ALL);
		const size_t length = strlen(text);
		strcpy(text + length, has_values(spec->axis) ? "%" : "%_lower");
		put(l, text);
		if (has_values(spec->axis))
			continue;
		strcpy(text + length, "%_upper");
		put(l, text);
	}
}

static void begin_lines(struct output *out, const struct row_spec *spec)
{
	static const char *const PLACE[] = {"input", "first", "records", "channel"},
				 *const FLOW[] = {"under", "over", "nan"},
				 *const FIGURES[] = {"min", "max", "mean", "std", "entropy"};
	struct line l = {.out = out, .comma = comma_of(spec)};
	const bool stats = spec->asked, residues = !axis_kind_of(spec->axis)->ordered;
	char text[NUMBER_TEXT];

	if (!spec->style->header)
		return;
	for (int i = 0; i < (spec->channels > 1 ? 4 : 3); i++)
		put(&l, PLACE[i]);
	if (stats)
		put(&l, "samples");
	for (uint32_t i = 0; i < axis_bins(spec->axis) && !stats; i++) {
		edges_format(&spec->axis->edges, i, text);
		put(&l, text);
	}
	for (int i = 0; i < 3 && (stats || (spec->style->flow && !residues)); i++)
		put(&l, FLOW[i]);
	for (int i = 0; i < 5 && stats; i++)
		put(&l, FIGURES[i]);
	if (stats)
		put_percents(&l, spec);
	end_line(&l);
}

/* Figures that do not exist are empty. */
static void put_figures(struct line *l, const struct hist *hist, uint32_t channel)
{
	const struct hist_stats *const s = &hist->stats[channel];
	const bool any = s->of.number > 0;
	char lower[NUMBER_TEXT] = "", upper[NUMBER_TEXT] = "", text[NUMBER_TEXT] = "";

	if (any)
		hist_stats_format_extreme(lower, hist, channel, false);
	put(l, lower);
	if (any)
		hist_stats_format_extreme(upper, hist, channel, true);
	put(l, upper);
	if (any)
		number_format(text, s->of.mean);
	put(l, text);
	if (any)
		number_format(text, s->of.deviation);
	put(l, text);
	text[0] = '\0';
	if (s->entropy >= 0)
		snprintf(text, sizeof(text), "%.6f", s->entropy);
	put(l, text);
	for (unsigned i = 0; i < hist->asked.n; i++) {
		lower[0] = upper[0] = '\0';
		if (s->quantile[i].kind != QUANTILE_NONE)
			hist_stats_format_quantile(lower, upper, hist, channel, i);
		put(l, lower);
		if (!has_values(&hist->axis))
			put(l, upper);
	}
}

static void write_line(struct output *out, const struct row_spec *spec, const struct row_place *row,
		       const struct hist *hist, uint32_t channel)
{
	const uint64_t most = COUNTERS[spec->style->counter].max;
	const struct hist_flow *const flow = &hist->flow[channel];
	const uint64_t flows[] = {flow->under, flow->over, flow->nan};
	const bool residues = !axis_kind_of(&hist->axis)->ordered, stats = spec->asked;
	struct line l = {.out = out, .comma = comma_of(spec)};

	put_name(&l, name_of(spec, row->path));
	put_count(&l, row->first * spec->packed);
	put_count(&l, row->records * spec->packed);
	if (spec->channels > 1)
		put_count(&l, channel);
	if (stats)
		put_count(&l, hist->samples / hist->channels);
	for (uint32_t i = 0; i < axis_bins(&hist->axis) && !stats; i++) {
		const uint64_t count = hist_count(hist, channel, i);
		put_count(&l, count < most ? count : most);
	}
	for (int i = 0; i < 3 && (stats || (spec->style->flow && !residues)); i++)
		put_count(&l, stats || flows[i] < most ? flows[i] : most);
	if (stats)
		put_figures(&l, hist, channel);
	end_line(&l);
}

static void write_lines(struct output *out, const struct row_spec *spec,
			const struct row_place *row, const struct hist *hist)
{
	for (uint32_t c = 0; c < hist->channels; c++)
		write_line(out, spec, row, hist, c);
}

/* ---- raw, npy, json ---- */

static void write_raw_row(struct output *out, const struct row_spec *spec,
			  const struct row_place *row, const struct hist *hist)
{
	(void)row;
	write_raw(out, hist, spec->style, NULL);
}

static void write_npy_head(char head[NPY_HEAD + 1], const struct row_spec *spec, uint64_t rows)
{
	npy_head(head, spec->style, &rows, spec->channels, axis_bins(spec->axis));
}

/* Writes a header for 0 rows, over which row_end writes the one for all rows. */
static void begin_npy(struct output *out, const struct row_spec *spec)
{
	char head[NPY_HEAD + 1];

	write_npy_head(head, spec, 0);
	output_write(out, head, NPY_HEAD);
}

/* An input and what was skipped of it count for its first row, so rows add up to the whole. */
static void write_json_row(struct output *out, const struct row_spec *spec,
			   const struct row_place *row, const struct hist *hist)
{
	const bool begins = row->first == 0;
	const uint64_t skipped = begins ? spec->skip : 0;

	write_json(out, hist, spec->style,
		   &(struct provenance){
			   .inputs = begins,
			   .bytes = skipped + row->records * spec->record,
			   .skipped = skipped,
			   .part = 1,
			   .parts = 1,
			   .options = spec->options,
			   .row_of = name_of(spec, row->path),
			   .row_first = row->first * spec->packed,
			   .row_records = row->records * spec->packed,
		   });
}

/* ---- plot ---- */

#define LABEL 12      /* columns for where a row begins */
#define LABEL_NAME 24 /* columns for an input's name, at most */
#define COUNT 9       /* columns for how many samples a row has */
#define CELLS_MOST 200u

static void begin_plot(struct output *out, const struct row_spec *spec)
{
	const struct axis *const axis = spec->axis;
	const uint32_t bins = axis_bins(axis);
	const char *const title = spec->style->picture.title;
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT], text[4 * CELLS_MOST + 1];

	edge_text(lower, axis, 0);
	edge_text(upper, axis, bins);
	snprintf(text, sizeof(text), "%.*s",
		 (int)(title ? picture_cut(title, spec->style->picture.columns - 2) : 0),
		 title ? title : "");
	utf8_make_plain(text);
	output_print(out, "%s%s%s%s %lu bin%s from %s to %s\n", text, title ? ": " : "",
		     axis->type.name, title ? "," : ":", (unsigned long)bins, bins == 1 ? "" : "s",
		     lower, upper);
	(void)output_flush(out, &(struct fail){.status = STATUS_OK});
}

/* How dark, from 0 to `levels`: 0 for nothing, and at least 1 for something. */
static int shade(uint64_t count, uint64_t most, int levels, bool logarithm)
{
	if (count == 0)
		return 0;
	const double part = logarithm ? log((double)count + 1) / log((double)most + 1)
				      : (double)count / (double)most;
	const int level = (int)ceil(part * levels - 1e-9);
	return level < 1 ? 1 : level > levels ? levels : level;
}

static unsigned label_width(const struct row_spec *spec)
{
	const unsigned quarter = spec->style->picture.columns / 4;

	return spec->size != ROW_IS_INPUT || quarter < LABEL ? LABEL
	       : quarter < LABEL_NAME                        ? quarter
							     : LABEL_NAME;
}

/* Writes a label at the right end of its column; what a terminal would obey becomes '?'. */
static void write_label(struct output *out, unsigned width, const char *label)
{
	char text[4 * LABEL_NAME + 1];
	unsigned characters = 0;

	snprintf(text, sizeof(text), "%.*s", (int)picture_cut(label, width), label);
	utf8_make_plain(text);
	for (size_t i = 0; text[i]; i++)
		characters += ((unsigned char)text[i] & 0xc0) != 0x80;
	output_print(out, "%*s%s ", (int)(width - characters), "", text);
}

static void write_strip(struct output *out, const struct row_spec *spec, const struct hist *hist,
			uint32_t channel, const char *label)
{
	static const char *const BLOCKS[] = {" ", "\xe2\x96\x91", "\xe2\x96\x92", "\xe2\x96\x93",
					     "\xe2\x96\x88"},
				 *const ASCII[] = {" ", ".", ":", "-", "=",
						   "+", "*", "#", "%", "@"};
	const struct picture *const picture = &spec->style->picture;
	const bool utf8 = picture->utf8;
	const char *const *const shades = utf8 ? BLOCKS : ASCII, *const side = utf8 ? "\xe2\x94\x82"
										    : "|";
	const int levels = utf8 ? 4 : 9;
	const uint32_t bins = axis_bins(&hist->axis);
	const uint32_t width = picture->columns - label_width(spec) - COUNT - 4;
	const uint32_t per = (bins - 1) / width + 1, cells = (bins - 1) / per + 1;
	uint64_t cell[CELLS_MOST] = {0}, most = 0;

	assert(cells <= CELLS_MOST);
	for (uint32_t i = 0; i < bins; i++)
		cell[i / per] += hist_count(hist, channel, i);
	for (uint32_t i = 0; i < cells; i++)
		most = cell[i] > most ? cell[i] : most;
	write_label(out, label_width(spec), label);
	output_text(out, side);
	for (uint32_t i = 0; i < cells; i++)
		output_text(out, shades[shade(cell[i], most, levels, picture->log)]);
	output_print(out, "%s %*llu\n", side, COUNT, (ull)(hist->samples / hist->channels));
}

static void write_plot_row(struct output *out, const struct row_spec *spec,
			   const struct row_place *row, const struct hist *hist)
{
	const char *const name = name_of(spec, row->path);
	char label[NUMBER_TEXT];

	label[number_format_count(label, row->first * spec->packed)] = '\0';
	/* Where an input has many rows its name is a line of its own. */
	if (row->first == 0 && spec->path_count > 1 && spec->size != ROW_IS_INPUT) {
		char line[200];
		snprintf(line, sizeof(line), "%s", name);
		utf8_make_plain(line);
		output_text(out, line);
		output_text(out, "\n");
	}
	for (uint32_t c = 0; c < hist->channels; c++) {
		if (c > 0)
			snprintf(label, sizeof(label), "channel %lu", (unsigned long)c);
		write_strip(out, spec, hist, c,
			    c > 0 || spec->size != ROW_IS_INPUT ? label : path_name(name));
	}
}

/* ---- all formats ---- */

static const struct row_format ROWS[] = {
	{write_csv, begin_lines, write_lines, true},
	{write_tsv, begin_lines, write_lines, true},
	{write_raw, NULL, write_raw_row, false},
	{write_npy, begin_npy, write_raw_row, false},
	{write_json, NULL, write_json_row, true},
	{write_plot, begin_plot, write_plot_row, false},
};

static const struct row_format *rows_of(const struct format *format)
{
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
		if (ROWS[i].of == format->write)
			return &ROWS[i];
	return NULL;
}

const char *row_refused(const struct format *format, bool stats, const char *output)
{
	const struct row_format *const rows = rows_of(format);

	if (!rows)
		return "a picture of many rows is -f plot";
	if (stats && !rows->stats)
		return "figures of rows are for csv, tsv and json";
	if (format->write == write_npy && !output_is_file(output))
		return "the header of npy says how many rows there are, so -o must name a regular "
		       "file";
	return NULL;
}

void row_begin(struct output *out, const struct row_spec *spec)
{
	const struct row_format *const rows = rows_of(spec->format);

	if (rows->begin)
		rows->begin(out, spec);
}

void row_write(struct output *out, const struct row_spec *spec, const struct row_place *row,
	       const struct hist *hist)
{
	rows_of(spec->format)->write(out, spec, row, hist);
}

void row_end(struct output *out, const struct row_spec *spec, uint64_t rows)
{
	char head[NPY_HEAD + 1];

	if (spec->format->write != write_npy)
		return;
	write_npy_head(head, spec, rows);
	output_write_over(out, head, NPY_HEAD);
}
