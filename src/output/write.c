/* SPDX-License-Identifier: MIT */
/*
 * write: csv and tsv have a line per bin with a count per channel; raw has only the counters,
 * little endian, one channel after another; npy is raw with a header.
 */
#include "output/format.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "hist/linearity.h"
#include "output/csv_line.h"

struct listing {
	const struct hist *hist;
	const struct style *style;
	struct csv_line line;
};

/*
 * End a row whose first field is written: write its edges and a count per channel, which is
 * count[c * stride] for channel c. With --linearity, DNL and INL of this bin follow, if it has any.
 */
static void end_row(struct listing *t, const char *lower, const char *upper, const uint64_t *count,
		    size_t stride, uint32_t bin)
{
	const struct linearity *const linearity = t->hist->linearity;
	struct csv_line *const l = &t->line;
	char text[NUMBER_TEXT];

	assert(!layout_is_many(t->hist->channels)); /* else a channel is a row (each/list.h) */
	csv_text(l, lower);
	csv_text(l, upper);
	for (uint32_t c = 0; c < t->hist->channels; c++)
		csv_count(l, counter_clip(t->style->counter, count[c * stride]));
	for (uint32_t c = 0; c < t->hist->channels && linearity; c++) {
		linearity_format(text, &linearity[c], linearity[c].dnl, bin);
		csv_text(l, text);
		linearity_format(text, &linearity[c], linearity[c].inl, bin);
		csv_text(l, text);
	}
	csv_end(l);
}

/* Name the columns: count0, count1 and so on, or as columns of text. */
static void write_header(struct listing *t)
{
	static const char *const NAMES[] = {"bin", "lower", "upper"};
	const struct hist *const hist = t->hist;
	struct csv_line *const l = &t->line;
	char text[NUMBER_TEXT], number[NUMBER_TEXT] = "";

	for (int i = 0; i < 3; i++)
		csv_text(l, NAMES[i]);
	for (uint32_t c = 0; c < hist->channels; c++) {
		if (hist->channels > 1)
			number_format_count(number, c);
		snprintf(text, sizeof(text), "count%.10s", number);
		csv_name(l, hist->what == SERIES_COLUMNS ? hist->name[c] : text,
			 t->style->canvas.terminal);
	}
	for (uint32_t c = 0; c < hist->channels && hist->linearity; c++)
		for (int inl = 0; inl < 2; inl++) {
			if (hist->channels > 1)
				number_format_count(number, c);
			snprintf(text, sizeof(text), "%s%.10s", inl ? "inl" : "dnl", number);
			csv_text(l, text);
		}
	csv_end(l);
}

static void flow_row(struct listing *t, const char *name, const char *lower, const char *upper,
		     const uint64_t *count)
{
	csv_text(&t->line, name);
	end_row(t, lower, upper, count, sizeof(struct hist_flow) / sizeof(*count), UINT32_MAX);
}

static void write_rows(struct output *out, const struct hist *hist, const struct style *style,
		       char comma)
{
	struct listing t;
	const struct edges *const edges = &hist->axis.edges;
	const uint32_t bins = axis_bins(&hist->axis);
	/* residues (--mod) have no edges, and no sample is outside */
	const bool residues = !axis_kind_of(&hist->axis)->ordered, flow = style->flow && !residues;
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];
	uint32_t edge = 0; /* the edge whose text is in upper */

	t.hist = hist;
	t.style = style;
	csv_begin(&t.line, out, comma);
	if (style->header)
		write_header(&t);
	edges_format(edges, 0, upper);
	if (flow)
		flow_row(&t, "under", "-inf", upper, &hist->flow->under);
	for (uint32_t i = 0; i < bins && !output_failed(out); i++) {
		if (style->nonzero && !hist_is_filled(hist, i))
			continue;
		if (edge == i && !residues)
			memcpy(lower, upper, sizeof(lower));
		else
			edges_format(edges, i, lower);
		edge = i + 1;
		edges_format(edges, residues ? i : edge, upper);
		csv_count(&t.line, i);
		end_row(&t, lower, upper, hist->count + i, hist->stride, i);
	}
	if (flow) {
		edges_format(edges, bins, lower);
		flow_row(&t, "over", lower, "inf", &hist->flow->over);
		flow_row(&t, "nan", "nan", "nan", &hist->flow->nan);
	}
}

void write_csv(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	(void)from;
	write_rows(out, hist, style, ',');
}

void write_tsv(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	(void)from;
	write_rows(out, hist, style, '\t');
}

/* counters per output_write: a call for each would take most of the time */
#define BLOCK 4096u

void write_raw(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	const uint32_t bins = axis_bins(&hist->axis), bytes = COUNTERS[style->counter].bytes;
	unsigned char block[BLOCK * sizeof(uint64_t)];

	(void)from;
	for (uint32_t c = 0; c < hist->channels; c++)
		for (uint32_t i = 0, n; i < bins && !output_failed(out); i += n) {
			n = bins - i < BLOCK ? bins - i : BLOCK;
			for (uint32_t k = 0; k < n; k++) {
				const uint64_t count =
					counter_clip(style->counter, hist_count(hist, c, i + k));
				/*
				 * All 8 bytes: the next count overwrites those past `bytes`.
				 */
				memcpy(block + (size_t)k * bytes, &count, sizeof(count));
			}
			output_write(out, block, (size_t)n * bytes);
		}
}

/*
 * Version 1.0: one dimension, or channels x bins. The format requires a header of a multiple of 64
 * bytes; the dictionary has 57 to 108 bytes, and blanks pad the header to 128.
 */
#define PREFIX 10 /* magic, version, length of the dictionary */

void npy_head(char head[NPY_HEAD + 1], const struct style *style, const uint64_t *rows,
	      uint32_t channels, uint32_t bins)
{
	const unsigned bytes = COUNTERS[style->counter].bytes;
	char first[24] = "", second[16] = "";

	if (rows)
		snprintf(first, sizeof(first), "%llu, ", (unsigned long long)*rows);
	if (channels > 1)
		snprintf(second, sizeof(second), "%u, ", channels);
	memcpy(head, "\x93NUMPY\x01\x00", 8);
	head[8] = NPY_HEAD - PREFIX;
	head[9] = 0;
	/* In Python even a tuple of one number has a comma. */
	const int used = PREFIX + snprintf(head + PREFIX, NPY_HEAD + 1 - PREFIX,
					   "{'descr': '%cu%u', 'fortran_order': False, "
					   "'shape': (%s%s%u%s), }",
					   bytes == 1 ? '|' : '<', bytes, first, second, bins,
					   rows || channels > 1 ? "" : ",");
	assert(used < NPY_HEAD);
	snprintf(head + used, NPY_HEAD + 1 - (size_t)used, "%*s\n", NPY_HEAD - 1 - used, "");
}

void write_npy(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	char head[NPY_HEAD + 1];

	npy_head(head, style, NULL, hist->channels, axis_bins(&hist->axis));
	output_write(out, head, NPY_HEAD);
	write_raw(out, hist, style, from);
}
