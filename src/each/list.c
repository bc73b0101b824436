/* SPDX-License-Identifier: MIT */
/* list: hands each channel to the row writers. */
#include "each/list.h"

#include <stdlib.h>
#include <string.h>

#include "each/row.h"

static struct row_spec spec_of(const struct hist *hist, const struct style *style,
			       const struct format *format, const char *options)
{
	return (struct row_spec){
		.size = hist->key ? ROW_IS_KEY : ROW_IS_CHANNEL,
		.axis = &hist->axis,
		.channels = 1,
		.asked = style->figures && hist->stats ? &hist->asked : NULL,
		.format = format,
		.style = style,
		.options = options,
	};
}

static void add_to_sheet(struct output *out, struct sheet *sheet, const struct hist *hist)
{
	double numbers[SHEET_NUMBERS];

	(void)sheet_row(sheet, numbers, hist);
	if (sheet_add(sheet, numbers) != 0)
		output_fail(out);
}

static void write_rows(struct output *out, const struct hist *hist, const struct row_spec *rows)
{
	struct row_spec spec = *rows;
	struct sheet sheet = {.value = NULL};
	struct strip strip;

	if (row_begin_strip(&strip, &spec))
		spec.strip = &strip;
	if (spec.format->write == write_svg) {
		row_begin_sheet(&sheet, &spec);
		spec.sheet = &sheet;
	}
	row_begin(out, &spec);
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		const struct hist one = hist_view(hist, c);
		if (spec.sheet)
			add_to_sheet(out, &sheet, &one);
		else
			row_write(out, &spec,
				  &(struct row_place){.first = c, .records = one.samples}, &one);
	}
	row_end(out, &spec, hist->channels);
	free(sheet.value);
}

static void write_list(struct output *out, const struct hist *hist, const struct style *style,
		       const struct provenance *from, const struct format *format)
{
	struct row_spec spec = spec_of(hist, style, format, from->options);
	const struct hist first = hist_view(hist, 0);

	/* A picture without bins is the same for all channels. */
	if (hist->channels > 0 && axis_bins(&hist->axis) == 0 && format->kind == FORMAT_PICTURE &&
	    !spec.asked)
		format->write(out, &first, style, from);
	else
		write_rows(out, hist, &spec);
}

#define LIST(name)                                                                        \
	static void list_##name(struct output *out, const struct hist *hist,              \
				const struct style *style, const struct provenance *from) \
	{                                                                                 \
		write_list(out, hist, style, from, format_find(#name));                   \
	}
/* The rows of npy: up to the largest key, which is the last. */
static uint64_t rows_of(const struct hist *hist)
{
	const uint32_t n = hist->channels;

	return n > 0 ? strtoull(hist->key[n - 1].name, NULL, 10) + 1 : 0;
}

/* A row for each number up to the largest key; those that are no keys have no samples. */
static void list_npy(struct output *out, const struct hist *hist, const struct style *style,
		     const struct provenance *from)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const uint64_t rows = rows_of(hist);
	struct hist one = hist_view(hist, 0);
	uint64_t *const none = calloc((size_t)bins + 1, sizeof(*none));
	char head[NPY_HEAD + 1];

	npy_head(head, style, &rows, 1, bins);
	output_write(out, head, NPY_HEAD);
	if (!none)
		output_fail(out);
	for (uint64_t row = 0, c = 0; row < rows && !output_failed(out); row++) {
		const bool is_key = strtoull(hist->key[c].name, NULL, 10) == row;
		one.count = is_key ? hist->count + c * hist->stride : none;
		c += is_key;
		write_raw(out, &one, style, from);
	}
	free(none);
}

LIST(csv)
LIST(tsv)
LIST(plot)
LIST(svg)
#undef LIST

/* The formats in which channels are rows; all others hold any number of channels. */
static const struct format LISTS[] = {
	{"csv", {NULL}, list_csv, FORMAT_ROWS, COUNTER_U64},
	{"tsv", {NULL}, list_tsv, FORMAT_ROWS, COUNTER_U64},
	{"plot", {NULL}, list_plot, FORMAT_PICTURE, COUNTER_U64},
	{"svg", {NULL}, list_svg, FORMAT_PICTURE, COUNTER_U64},
	{"npy", {NULL}, list_npy, FORMAT_BINARY, COUNTER_U64},
};

static const struct format *list_find(const struct format *format)
{
	for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++)
		if (strcmp(LISTS[i].name, format->name) == 0)
			return &LISTS[i];
	return NULL;
}

const struct format *list_format(const struct format *format, const struct hist *hist)
{
	const struct format *const list = hist_is_list(hist) ? list_find(format) : NULL;

	/* Channels are an array already. */
	return list && (hist->key || list->kind != FORMAT_BINARY) ? list : format;
}

const char *list_refused(const struct format *format, const struct style *style, bool names)
{
	if (!list_find(format) && format->kind != FORMAT_DOCUMENT && format->kind != FORMAT_METRIC)
		return "needs csv, tsv, npy, json, plot, svg or prom as its format";
	if (style->nonzero && format->kind == FORMAT_ROWS)
		return "cannot be combined with --nonzero: the line of a key has a column for each "
		       "bin";
	if (names && format->kind == FORMAT_BINARY)
		return "has names as keys, but npy has a row for each number; use csv or tsv";
	return NULL;
}

int list_check(const struct format *format, const struct style *style, const struct hist *hist,
	       struct fail *fail)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const char *const why = hist->by ? list_refused(format, style, !hist->whole_keys) : NULL;

	if (why)
		return fail_set(fail, STATUS_USAGE, "--by %s %s", hist->by, why);
	if (hist->by && format->kind == FORMAT_METRIC)
		return prom_check(hist, fail);
	if (!hist->by || format->kind != FORMAT_BINARY || rows_of(hist) * bins <= KEYS_CELLS_MOST)
		return 0;
	return fail_set(fail, STATUS_LIMIT,
			"npy would have %llu rows of %lu bins, because the largest key is %s; use "
			"csv or tsv",
			(unsigned long long)rows_of(hist), (unsigned long)bins,
			hist->key[hist->channels - 1].name);
}

bool list_has_figures(const struct format *format)
{
	const struct format *const list = list_find(format);

	return list && list->kind != FORMAT_BINARY;
}

void list_table(struct output *out, const struct hist *hist, const struct style *style)
{
	struct style aligned = *style;

	aligned.table = aligned.figures = true;
	struct row_spec spec = spec_of(hist, &aligned, format_find("csv"), NULL);
	write_rows(out, hist, &spec);
}
