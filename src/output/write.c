/* SPDX-License-Identifier: MIT */
/*
 * write: csv and tsv, a line for each bin with a count for each channel; raw, the counters and
 * nothing else, little endian, one channel after another; npy, the same after a header.
 */
#include "output/format.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static uint64_t clip(const struct style *style, uint64_t count)
{
	const uint64_t most = COUNTERS[style->counter].max;

	return count < most ? count : most;
}

/* What the count columns of a row hold. */
enum row_kind { ROW_BIN, ROW_UNDER, ROW_OVER, ROW_NAN };

/* Writes a row: three fields, each shorter than NUMBER_TEXT, and a count for each channel. */
static void row(struct output *out, const struct hist *hist, const struct style *style, char comma,
		const char *const fields[3], enum row_kind kind, uint32_t bin)
{
	char line[(3 + LAYOUT_CHANNELS_MAX) * (NUMBER_TEXT + 1)];
	size_t used = 0;

	for (int i = 0; i < 3; i++) {
		const size_t length = strlen(fields[i]);
		memcpy(line + used, fields[i], length);
		used += length;
		line[used++] = comma;
	}
	for (uint32_t c = 0; c < hist->channels; c++) {
		const struct hist_flow *const flow = &hist->flow[c];
		const uint64_t count = kind == ROW_BIN     ? hist_count(hist, c, bin)
				       : kind == ROW_UNDER ? flow->under
				       : kind == ROW_OVER  ? flow->over
							   : flow->nan;
		used += number_format_count(line + used, clip(style, count));
		line[used++] = comma;
	}
	line[used - 1] = '\n';
	output_write(out, line, used);
}

/* Does any channel have samples in this bin? */
static bool holds(const struct hist *hist, uint32_t bin)
{
	for (uint32_t c = 0; c < hist->channels; c++)
		if (hist_count(hist, c, bin) > 0)
			return true;
	return false;
}

static void write_rows(struct output *out, const struct hist *hist, const struct style *style,
		       char comma)
{
	const struct edges *edges = &hist->axis.edges;
	const uint32_t bins = axis_bins(&hist->axis);
	/* these have no edges, and no samples outside */
	const bool residues = hist->axis.kind == AXIS_MOD;
	char bin[NUMBER_TEXT], lower[NUMBER_TEXT], upper[NUMBER_TEXT];
	uint32_t edge = UINT32_MAX; /* the edge whose text is in upper */

	if (style->header) {
		output_print(out, "bin%clower%cupper", comma, comma);
		for (uint32_t c = 0; c < hist->channels; c++)
			output_print(out, hist->channels > 1 ? "%ccount%u" : "%ccount", comma, c);
		output_text(out, "\n");
	}
	if (style->flow && !residues) {
		edges_format(edges, 0, upper);
		row(out, hist, style, comma, (const char *[]){"under", "-inf", upper}, ROW_UNDER,
		    0);
	}
	for (uint32_t i = 0; i < bins && !output_failed(out); i++) {
		if (style->nonzero && !holds(hist, i))
			continue;
		if (edge == i && !residues)
			memcpy(lower, upper, sizeof(lower));
		else
			edges_format(edges, i, lower);
		edge = i + 1;
		edges_format(edges, residues ? i : edge, upper);
		number_format_count(bin, i);
		row(out, hist, style, comma, (const char *[]){bin, lower, upper}, ROW_BIN, i);
	}
	if (style->flow && !residues) {
		edges_format(edges, bins, lower);
		row(out, hist, style, comma, (const char *[]){"over", lower, "inf"}, ROW_OVER, 0);
		row(out, hist, style, comma, (const char *[]){"nan", "nan", "nan"}, ROW_NAN, 0);
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

/* counters that are converted together: a call for each would take longer than everything else */
#define BLOCK 4096u

/* A loop for each size, which compilers can vectorise. */
static void put(unsigned char *to, const uint64_t *count, uint32_t n, uint64_t most, uint32_t bytes)
{
#define PUT(BYTES)                                                               \
	for (uint32_t i = 0; i < n; i++) {                                       \
		const uint64_t clipped = count[i] < most ? count[i] : most;      \
		for (uint32_t k = 0; k < (BYTES); k++)                           \
			to[i * (BYTES) + k] = (unsigned char)(clipped >> 8 * k); \
	}
	switch (bytes) {
	case 1:
		PUT(1)
		break;
	case 2:
		PUT(2)
		break;
	case 4:
		PUT(4)
		break;
	default:
		PUT(8)
	}
#undef PUT
}

void write_raw(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	const uint32_t bins = axis_bins(&hist->axis), bytes = COUNTERS[style->counter].bytes;
	unsigned char block[BLOCK * sizeof(uint64_t)];

	(void)from;
	for (uint32_t c = 0; c < hist->channels; c++)
		for (uint32_t i = 0, n; i < bins && !output_failed(out); i += n) {
			n = bins - i < BLOCK ? bins - i : BLOCK;
			put(block, hist->count + c * hist->stride + i, n,
			    COUNTERS[style->counter].max, bytes);
			output_write(out, block, (size_t)n * bytes);
		}
}

/*
 * Version 1.0: one dimension, or channels x bins. The header is padded with blanks to a multiple of
 * 64 bytes, as the format requires.
 */
#define HEADER 128u /* the longest dictionary that we write has 77 bytes */
#define PREFIX 10u  /* magic, version, length of what follows */

void write_npy(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	const unsigned bytes = COUNTERS[style->counter].bytes, bins = axis_bins(&hist->axis);
	char header[HEADER + 1], shape[32];

	if (hist->channels > 1)
		snprintf(shape, sizeof(shape), "(%u, %u)", hist->channels, bins);
	else
		snprintf(shape, sizeof(shape), "(%u,)", bins);
	memset(header, ' ', sizeof(header));
	memcpy(header, "\x93NUMPY\x01\x00", 8);
	const size_t used =
		PREFIX +
		(size_t)snprintf(header + PREFIX, sizeof(header) - PREFIX,
				 "{'descr': '%cu%u', 'fortran_order': False, 'shape': %s, }",
				 bytes == 1 ? '|' : '<', bytes, shape);
	assert(used < HEADER);
	const size_t total = (used + 1 + 63) / 64 * 64; /* and the newline after it */
	header[used] = ' ';
	header[total - 1] = '\n';
	header[8] = (char)(total - PREFIX);
	header[9] = 0;
	output_write(out, header, total);
	write_raw(out, hist, style, from);
}
