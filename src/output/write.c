/* SPDX-License-Identifier: MIT */
/*
 * write: csv and tsv have a line per bin with a count per channel; raw has only the counters,
 * little endian, one channel after another; npy is raw with a header.
 */
#include "output/format.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hist/linearity.h"

struct listing {
	struct output *out;
	const struct hist *hist;
	const struct style *style;
	char comma;
};

/* Write DNL or INL, six decimals; 0 has no sign. */
static size_t format_linearity(char *text, double x)
{
	return (size_t)snprintf(text, NUMBER_TEXT, "%.6f", fabs(x) < 5e-7 ? 0 : x);
}

/*
 * Write a row: three fields, each shorter than NUMBER_TEXT, and a count per channel, which is
 * count[c * stride] for channel c. With --linearity, DNL and INL of this bin follow, if it has any.
 */
static void row(const struct listing *t, const char *const fields[3], const uint64_t *count,
		size_t stride, uint32_t bin)
{
	const struct linearity *const linearity = t->hist->linearity;
	char line[(3 + 3 * LAYOUT_CHANNELS_FEW) * (NUMBER_TEXT + 1)];
	size_t used = 0;

	assert(!layout_is_many(t->hist->channels)); /* else a channel is a row (each/list.h) */
	for (int i = 0; i < 3; i++) {
		const size_t length = strlen(fields[i]);
		memcpy(line + used, fields[i], length);
		used += length;
		line[used++] = t->comma;
	}
	for (uint32_t c = 0; c < t->hist->channels; c++) {
		used += number_format_count(line + used,
					    counter_clip(t->style->counter, count[c * stride]));
		line[used++] = t->comma;
	}
	for (uint32_t c = 0; c < t->hist->channels && linearity; c++) {
		const bool has = linearity_has(&linearity[c], bin);
		used += has ? format_linearity(line + used, linearity[c].dnl[bin]) : 0;
		line[used++] = t->comma;
		used += has ? format_linearity(line + used, linearity[c].inl[bin]) : 0;
		line[used++] = t->comma;
	}
	line[used - 1] = '\n';
	output_write(t->out, line, used);
}

static void flow_row(const struct listing *t, const char *name, const char *lower,
		     const char *upper, const uint64_t *count)
{
	row(t, (const char *[]){name, lower, upper}, count,
	    sizeof(struct hist_flow) / sizeof(*count), UINT32_MAX);
}

static void write_rows(const struct listing *t)
{
	const struct hist *const hist = t->hist;
	const struct edges *const edges = &hist->axis.edges;
	const uint32_t bins = axis_bins(&hist->axis);
	/* residues (--mod) have no edges, and no sample is outside */
	const bool residues = !axis_kind_of(&hist->axis)->ordered,
		   flow = t->style->flow && !residues;
	char bin[NUMBER_TEXT], lower[NUMBER_TEXT], upper[NUMBER_TEXT];
	uint32_t edge = 0; /* the edge whose text is in upper */

	if (t->style->header) {
		output_print(t->out, "bin%clower%cupper", t->comma, t->comma);
		for (uint32_t c = 0; c < hist->channels; c++)
			output_print(t->out, hist->channels > 1 ? "%ccount%u" : "%ccount", t->comma,
				     c);
		for (uint32_t c = 0; c < hist->channels && hist->linearity; c++)
			output_print(t->out,
				     hist->channels > 1 ? "%cdnl%u%cinl%u" : "%cdnl%.0u%cinl%.0u",
				     t->comma, c, t->comma, c);
		output_text(t->out, "\n");
	}
	edges_format(edges, 0, upper);
	if (flow)
		flow_row(t, "under", "-inf", upper, &hist->flow->under);
	for (uint32_t i = 0; i < bins && !output_failed(t->out); i++) {
		if (t->style->nonzero && !hist_is_filled(hist, i))
			continue;
		if (edge == i && !residues)
			memcpy(lower, upper, sizeof(lower));
		else
			edges_format(edges, i, lower);
		edge = i + 1;
		edges_format(edges, residues ? i : edge, upper);
		number_format_count(bin, i);
		row(t, (const char *[]){bin, lower, upper}, hist->count + i, hist->stride, i);
	}
	if (flow) {
		edges_format(edges, bins, lower);
		flow_row(t, "over", lower, "inf", &hist->flow->over);
		flow_row(t, "nan", "nan", "nan", &hist->flow->nan);
	}
}

void write_csv(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	(void)from;
	write_rows(&(struct listing){out, hist, style, ','});
}

void write_tsv(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	(void)from;
	write_rows(&(struct listing){out, hist, style, '\t'});
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
