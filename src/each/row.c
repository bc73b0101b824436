/* SPDX-License-Identifier: MIT */
/*
 * row: a row in each format. csv and tsv: a line for each channel. raw and npy: the counters. json:
 * a document. plot: a strip of shades. svg: numbers for the sheet that is drawn at the end.
 */
#include "each/row.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "hist/figures.h"
#include "hist/series.h"
#include "output/csv_line.h"
#include "output/picture.h"
#include "output/sheet.h"

/* The kinds of rows. */
static const struct row_kind {
	uint64_t size;          /* row_spec.size; 0: a number of records */
	const char *head;       /* of the first column of pictures and tables */
	bool named;             /* that column holds names */
	bool listed;            /* rows are the channels of one histogram (list.h) */
	const char *columns[5]; /* csv and tsv: the columns before the bins or figures */
} KINDS[] = {
	{ROW_IS_INPUT, "file", true, false, {"input", "first", "offset", "records"}},
	{ROW_IS_TENSOR, "tensor", true, false, {"input", "tensor", "type", "shape"}},
	{ROW_IS_CHANNEL, "channel", false, true, {NULL}},
	{ROW_IS_KEY, "key", true, true, {"key", "records"}},
	{ROW_IS_ALL, "input", true, true, {NULL}},
	{0, "record", false, false, {"input", "first", "offset", "records"}},
};

static const struct row_kind *kind_of(const struct row_spec *spec)
{
	const struct row_kind *kind = KINDS;

	while (kind->size != 0 && kind->size != spec->size)
		kind++;
	return kind;
}

const char *row_name(const struct row_spec *spec, size_t path)
{
	return path_is_stdin(spec->paths[path]) ? "-" : spec->paths[path];
}

/* The offset of a row in its input, after decoding; only if spec->begin is known. */
static uint64_t row_offset(const struct row_spec *spec, const struct row_place *row)
{
	return spec->begin[row->path] +
	       layout_records_bytes(row->first, spec->record, spec->packed);
}

/* Are records bytes, so that pictures show offsets, in hexadecimal? */
static bool row_has_offset(const struct row_spec *spec)
{
	return spec->begin && spec->record == 1 && spec->packed == 1;
}

const char *row_head(const struct row_spec *spec)
{
	const struct row_kind *const kind = kind_of(spec);

	return kind->size == 0 && row_has_offset(spec) ? "offset"
	       : kind->size == ROW_IS_CHANNEL          ? series_head(spec->series)
						       : kind->head;
}

const char *row_text(char number[NUMBER_TEXT], const struct row_spec *spec,
		     const struct row_place *row, const struct hist *hist)
{
	const char *const title = spec->style->canvas.title;

	if (spec->size == ROW_IS_ALL)
		return title ? title : "-";
	if (row_is_listed(spec))
		return series_name(hist, 0, number);
	if (row_is_named(spec))
		return path_name(row_name(spec, row->path));
	snprintf(number, NUMBER_TEXT, row_has_offset(spec) ? "0x%llX" : "%llu",
		 (ull)(row_has_offset(spec) ? row_offset(spec, row) : row->first));
	return number;
}

bool row_is_named(const struct row_spec *spec)
{
	return kind_of(spec)->named || (row_is_listed(spec) && spec->series->name);
}

bool row_is_listed(const struct row_spec *spec)
{
	return kind_of(spec)->listed;
}

/* ---- csv and tsv ---- */

static char comma_of(const struct row_spec *spec)
{
	return spec->format->write == write_tsv ? '\t' : ',';
}

/* Write the figures of a channel or, if hist is NULL, their names. */
static void put_figures(struct csv_line *l, const struct quantiles *asked, const struct hist *hist,
			uint32_t channel)
{
	struct figure f[FIGURES_MOST];
	const size_t n = figures_list(f, IN_CSV, asked, hist, channel);
	char text[NUMBER_TEXT];

	for (size_t i = 0; i < n; i++) {
		if (hist)
			figure_format(text, f[i].value);
		csv_text(l, hist ? text : figure_name(text, &f[i], IN_CSV, asked));
	}
}

void row_lines_begin(struct output *out, const struct row_spec *spec)
{
	static const char *const FLOW[] = {"under", "over", "nan"};
	const char *const *column = kind_of(spec)->columns;
	struct csv_line l;
	const bool stats = spec->asked, residues = !stats && !axis_kind_of(spec->axis)->ordered;
	char text[NUMBER_TEXT];

	if (!spec->style->header)
		return;
	csv_begin(&l, out, comma_of(spec));
	for (; *column; column++)
		if (spec->begin || strcmp(*column, "offset") != 0)
			csv_text(&l, *column);
	if (spec->channels > 1 || spec->size == ROW_IS_CHANNEL)
		csv_text(&l, series_head(spec->series));
	if (stats)
		put_figures(&l, spec->asked, NULL, 0);
	for (uint32_t i = 0; !stats && i < axis_bins(spec->axis); i++) {
		edges_format(&spec->axis->edges, i, text);
		csv_text(&l, text);
	}
	for (int i = 0; i < 3 && spec->style->flow && !residues && !stats; i++)
		csv_text(&l, FLOW[i]);
	csv_end(&l);
}

/* Write the name or the number of a channel. */
static void put_series(struct csv_line *l, const struct row_spec *spec, const struct hist *hist,
		       uint32_t channel)
{
	if (hist->name)
		csv_name(l, hist->name[channel], spec->style->canvas.terminal);
	else
		csv_count(l, hist->first + channel);
}

/* Write the fields that say which row it is. */
static void put_place(struct csv_line *l, const struct row_spec *spec, const struct row_place *row,
		      const struct hist *hist)
{
	const bool terminal = spec->style->canvas.terminal;

	if (spec->size == ROW_IS_ALL)
		return;
	if (row_is_listed(spec)) {
		put_series(l, spec, hist, 0);
		if (spec->size == ROW_IS_KEY)
			csv_count(l, row->records);
		return;
	}
	csv_name(l, row_name(spec, row->path), terminal);
	if (spec->tensor) {
		csv_name(l, spec->tensor, terminal);
		csv_text(l, hist->axis.type.name);
		csv_name(l, spec->shape, terminal); /* of any length */
		return;
	}
	csv_count(l, row->first);
	if (spec->begin)
		csv_count(l, row_offset(spec, row));
	csv_count(l, row->records);
}

static void write_line(struct output *out, const struct row_spec *spec, const struct row_place *row,
		       const struct hist *hist, uint32_t channel)
{
	const uint64_t most = COUNTERS[spec->style->counter].max;
	const struct hist_flow *const flow = &hist->flow[channel];
	const uint64_t flows[] = {flow->under, flow->over, flow->nan};
	const bool residues = !axis_kind_of(&hist->axis)->ordered, stats = spec->asked;
	struct csv_line l;

	csv_begin(&l, out, comma_of(spec));
	put_place(&l, spec, row, hist);
	if (spec->channels > 1)
		put_series(&l, spec, hist, channel);
	if (stats)
		put_figures(&l, spec->asked, hist, channel);
	for (uint32_t i = 0; i < axis_bins(&hist->axis) && !stats; i++) {
		const uint64_t count = hist_count(hist, channel, i);
		csv_count(&l, count < most ? count : most);
	}
	for (int i = 0; i < 3 && spec->style->flow && !residues && !stats; i++)
		csv_count(&l, flows[i] < most ? flows[i] : most);
	csv_end(&l);
}

void row_lines_add(struct output *out, const struct row_spec *spec, const struct row_place *row,
		   const struct hist *hist)
{
	for (uint32_t c = 0; c < hist->channels; c++)
		write_line(out, spec, row, hist, c);
}

/* ---- figures on a terminal ---- */

static struct table table_of(const struct row_spec *spec)
{
	return (struct table){.canvas = &spec->style->canvas,
			      .asked = spec->asked,
			      .rows = &spec->known,
			      .name = row_head(spec),
			      .names = row_is_named(spec),
			      .shape = spec->size == ROW_IS_TENSOR,
			      .bytes = spec->size != ROW_IS_TENSOR && spec->axis->type.bits <= 8,
			      .reals = spec->size == ROW_IS_TENSOR ||
				       spec->axis->type.kind == SAMPLE_FLOAT,
			      .channels = spec->channels,
			      .series = spec->series};
}

void row_know_names(struct row_spec *spec, const char *const *name, size_t n)
{
	const struct table table = table_of(spec);

	if (!spec->style->table || !row_is_named(spec))
		return;
	if (spec->size == ROW_IS_INPUT && n == 1)
		spec->known.start = (size_t)(path_name(name[0]) - name[0]);
	table_know(&spec->known, &table, name, n);
}

static void begin_table(struct output *out, const struct row_spec *spec)
{
	const struct table table = table_of(spec);

	table_begin(out, &table);
}

static void write_table_row(struct output *out, const struct row_spec *spec,
			    const struct row_place *row, const struct hist *hist)
{
	const struct table table = table_of(spec);
	char number[NUMBER_TEXT];

	for (uint32_t c = 0; c < hist->channels; c++)
		table_row(out, &table,
			  spec->tensor                 ? spec->tensor
			  : spec->size == ROW_IS_INPUT ? row_name(spec, row->path)
						       : row_text(number, spec, row, hist),
			  spec->shape, hist, c);
}

/* ---- raw, npy, json ---- */

void row_raw_add(struct output *out, const struct row_spec *spec, const struct row_place *row,
		 const struct hist *hist)
{
	(void)row;
	write_raw(out, hist, spec->style, NULL);
}

static void write_npy_head(char head[NPY_HEAD + 1], const struct row_spec *spec, uint64_t rows)
{
	npy_head(head, spec->style, &rows, spec->channels, axis_bins(spec->axis));
}

/* Write a header for 0 rows; row_npy_end overwrites it. */
void row_npy_begin(struct output *out, const struct row_spec *spec)
{
	char head[NPY_HEAD + 1];

	write_npy_head(head, spec, 0);
	output_write(out, head, NPY_HEAD);
}

void row_npy_end(struct output *out, const struct row_spec *spec, uint64_t rows)
{
	char head[NPY_HEAD + 1];

	write_npy_head(head, spec, rows);
	output_write_over(out, head, NPY_HEAD);
}

/* The first row of an input counts the input and its skipped bytes, so rows add up to the whole. */
void row_json_add(struct output *out, const struct row_spec *spec, const struct row_place *row,
		  const struct hist *hist)
{
	const bool begins = row->first == 0;
	const uint64_t skipped = begins ? spec->skip : 0;

	write_json(out, hist, spec->style,
		   &(struct provenance){
			   .inputs = begins,
			   .bytes = skipped +
				    layout_records_bytes(row->records, spec->record, spec->packed),
			   .skipped = skipped,
			   .part = 1,
			   .parts = 1,
			   .options = spec->options,
			   .row_of = row_name(spec, row->path),
			   .row_first = row->first,
			   .row_records = row->records,
			   .tensor = spec->tensor,
			   .shape = spec->shape,
		   });
}

/* ---- svg ---- */

void row_begin_sheet(struct sheet *s, const struct row_spec *spec)
{
	const struct row_kind *const kind = kind_of(spec);

	sheet_begin(s, spec->series, spec->channels, spec->asked, &spec->style->canvas,
		    spec->options);
	s->size = kind->named || spec->path_count > 1 ? 0 : kind->listed ? 1 : spec->size;
	s->unit = kind->listed ? kind->head : NULL;
	s->named = kind->named || kind->listed;
	s->bytes = row_has_offset(spec);
	s->begin = spec->begin;
	s->paths = spec->paths;
	s->files = spec->path_count;
}

void row_svg_add(struct output *out, const struct row_spec *spec, const struct row_place *row,
		 const struct hist *hist)
{
	double numbers[SHEET_NUMBERS];

	output_write(out, numbers,
		     sheet_row(spec->sheet, numbers, hist, row->path) * sizeof(double));
}

void row_svg_end(struct output *out, const struct row_spec *spec, uint64_t rows)
{
	(void)rows;
	write_svg_sheet(out, spec->sheet);
}

bool row_begin_strip(struct strip *strip, const struct row_spec *spec)
{
	if (spec->format->write != write_plot || spec->asked)
		return false;
	row_plot_strip(strip, spec);
	return true;
}

/* ---- all formats ---- */

static const struct format TABLE = {.begin = begin_table, .add = write_table_row};

static const struct format *format_of(const struct row_spec *spec)
{
	return spec->style->table ? &TABLE : spec->format;
}

void row_begin(struct output *out, const struct row_spec *spec)
{
	if (format_of(spec)->begin)
		format_of(spec)->begin(out, spec);
}

void row_write(struct output *out, const struct row_spec *spec, const struct row_place *row,
	       const struct hist *hist)
{
	format_of(spec)->add(out, spec, row, hist);
}

void row_end(struct output *out, const struct row_spec *spec, uint64_t rows)
{
	if (format_of(spec)->end)
		format_of(spec)->end(out, spec, rows);
}
