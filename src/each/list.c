/* SPDX-License-Identifier: MIT */
/* list: hands each channel to the row writers. */
#include "each/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "each/formats.h"
#include "each/row.h"
#include "hist/figures.h"
#include "hist/series.h"

static struct row_spec spec_of(const struct hist *hist, const struct style *style,
			       const struct format *format, const char *options)
{
	return (struct row_spec){
		.size = hist->what == SERIES_KEYS ? ROW_IS_KEY
			: hist->channels > 1      ? ROW_IS_CHANNEL
						  : ROW_IS_ALL,
		.axis = &hist->axis,
		.channels = 1,
		.series = hist,
		.asked = style->figures && hist->stats ? &hist->asked : NULL,
		.format = format,
		.style = style,
		.options = options,
	};
}

static void add_to_sheet(struct output *out, struct sheet *sheet, const struct hist *hist)
{
	double numbers[SHEET_NUMBERS];

	(void)sheet_row(sheet, numbers, hist, 0);
	if (sheet_add(sheet, numbers) != 0)
		output_fail(out);
}

/* The sums over channels that are drawn as one. */
struct joined {
	struct hist_flow flow;
	struct hist_stats stats;
	uint64_t count[];
};

/* Channels first .. end - 1 as one; its entropy is their mean. */
static struct hist join_channels(struct joined *j, const struct hist *hist, uint32_t first,
				 uint32_t end)
{
	const uint32_t bins = axis_bins(&hist->axis);
	struct hist sum = hist_view(hist, first);
	double bits = 0, n = 0;

	memset(j, 0, sizeof(*j) + bins * sizeof(j->count[0]));
	sum.samples = 0;
	for (uint32_t c = first; c < end; c++) {
		const struct hist one = hist_view(hist, c);
		for (uint32_t i = 0; i < bins; i++)
			j->count[i] += one.count[i];
		j->flow.under += one.flow->under;
		j->flow.over += one.flow->over;
		j->flow.nan += one.flow->nan;
		sum.samples += one.samples;
		n += (double)one.samples;
		bits += one.stats ? fmax(one.stats->entropy, 0) * (double)one.samples : 0;
	}
	j->stats.entropy = n > 0 ? bits / n : 0;
	sum.count = j->count;
	sum.flow = &j->flow;
	sum.stats = sum.stats ? &j->stats : NULL;
	return sum;
}

/* For the table: learn the names of all rows, and which shares are 0 in all. */
static void know_rows(struct row_spec *spec, const struct hist *hist)
{
	static const enum figure_id SHARES[] = {FIGURE_ZEROS, FIGURE_NAN, FIGURE_INF};
	struct figure_value value[FIGURE_IDS];
	uint32_t found = 0;

	for (uint32_t c = 0; c < hist->channels; c++) {
		figure_values(value, hist, c);
		for (int i = 0; i < 3; i++)
			found |= (uint32_t)(figure_real(value[SHARES[i]]) > 0) << SHARES[i];
	}
	for (int i = 0; i < 3; i++)
		spec->known.zero |= ~found & (uint32_t)1 << SHARES[i];
	if (hist->name)
		row_know_names(spec, (const char *const *)hist->name, hist->channels);
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
	spec.joined = hist->channels > 0 ? row_plot_joined(&spec, hist->channels) : 1;
	struct joined *const joined =
		malloc(sizeof(*joined) + axis_bins(&hist->axis) * sizeof(uint64_t));
	if (!joined)
		output_fail(out);
	if (spec.style->table && spec.asked)
		know_rows(&spec, hist);
	row_begin(out, &spec);
	for (uint64_t c = 0; c < hist->channels && !output_failed(out); c += spec.joined) {
		const uint64_t end =
			c + spec.joined < hist->channels ? c + spec.joined : hist->channels;
		const struct hist one =
			spec.joined > 1 ? join_channels(joined, hist, (uint32_t)c, (uint32_t)end)
					: hist_view(hist, (uint32_t)c);
		if (spec.sheet)
			add_to_sheet(out, &sheet, &one);
		else
			row_write(out, &spec,
				  &(struct row_place){.first = c, .records = one.samples}, &one);
	}
	row_end(out, &spec, hist->channels);
	free(joined);
	free(sheet.value);
}

void list_rows(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from, const struct format *format)
{
	struct row_spec spec = spec_of(hist, style, format, from->options);
	const struct hist first = hist_view(hist, 0);

	/* A picture without bins is the same for all channels. */
	if (hist->channels > 0 && axis_bins(&hist->axis) == 0 && format->can & IS_PICTURE &&
	    !spec.asked)
		format->write(out, &first, style, from);
	else
		write_rows(out, hist, &spec);
}

/* The rows of npy: up to the largest key, which is the last. */
static uint64_t rows_of(const struct hist *hist)
{
	const uint32_t n = hist->channels;

	return n > 0 ? strtoull(hist->name[n - 1], NULL, 10) + 1 : 0;
}

/* A row for each number up to the largest key; those that are no keys have no samples. */
void list_npy(struct output *out, const struct hist *hist, const struct style *style,
	      const struct provenance *from, const struct format *format)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const uint64_t rows = rows_of(hist);
	struct hist one = hist_view(hist, 0);
	uint64_t *const none = calloc((size_t)bins + 1, sizeof(*none));
	char head[NPY_HEAD + 1];

	(void)format;
	npy_head(head, style, &rows, 1, bins);
	output_write(out, head, NPY_HEAD);
	if (!none)
		output_fail(out);
	for (uint64_t row = 0, c = 0; row < rows && !output_failed(out); row++) {
		const bool is_key = strtoull(hist->name[c], NULL, 10) == row;
		one.count = is_key ? hist->count + c * hist->stride : none;
		c += is_key;
		write_raw(out, &one, style, from);
	}
	free(none);
}

int list_check_npy(const struct hist *hist, struct fail *fail)
{
	const uint32_t bins = axis_bins(&hist->axis);

	if (hist->what != SERIES_KEYS || rows_of(hist) * bins <= KEYS_CELLS_MOST)
		return 0;
	return fail_set(fail, STATUS_LIMIT,
			"npy would have %llu rows of %lu bins, because the largest key is %s; use "
			"csv or tsv",
			(unsigned long long)rows_of(hist), (unsigned long)bins,
			hist->name[hist->channels - 1]);
}

void list_table(struct output *out, const struct hist *hist, const struct style *style)
{
	struct style aligned = *style;

	aligned.table = aligned.figures = true;
	struct row_spec spec = spec_of(hist, &aligned, format_find("csv"), NULL);
	write_rows(out, hist, &spec);
}
