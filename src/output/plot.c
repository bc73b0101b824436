/* SPDX-License-Identifier: MIT */
/*
 * plot: a histogram as a picture of text, 80 columns wide and at most 24 lines high. Channel after
 * channel, each with a title, rows and a footer; all channels have the same rows, so that they can
 * be compared.
 *
 *     f32: 1000 bins from -5 to 5, 50 a row
 *     -1.0 |##########################      |  9193   9.2%
 *
 * A row is named by its lower edge. A bar is between two lines, which show where it begins and
 * ends, in whatever colours; an end row of fewer bins has a bar as long as if it were whole.
 */
#include "output/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/picture.h"

#define COLUMNS 80
#define ROWS 20u  /* with those of under, over and NaN */
#define LABEL 12  /* the longest label that is written without an exponent */
#define DIGITS 18 /* that a label may have, but two: those of binary64 and a zero */
#define NEAR 20   /* a label is this many times nearer to its edge than the next edge is ... */
#define EXACT 1e9 /* ... or this many: it is the edge, but for linspace's rounding */

struct row {
	const char *label;
	uint64_t count;
	double height; /* what the bar shows: the count, in proportion to that of whole parts */
	bool flow;     /* under, over or NaN */
};

struct plot {
	struct output *out;
	const struct hist *hist;
	const struct picture *picture;
	struct parts parts; /* none: all bins are empty */
	struct filled filled[LAYOUT_CHANNELS_MAX];
	char label[ROWS][NUMBER_TEXT];
	struct channel {
		uint32_t rows;
		struct row row[ROWS];
		uint64_t samples;
		double most;                       /* the height of the longest bar */
		int label_width, count_width, bar; /* in characters */
	} of;                                      /* the one that is drawn */
};

/*
 * Writes all labels with `digits` after the point, or with so many significant ones. True if each
 * is `near` enough to its edge.
 */
static bool write_labels(struct plot *p, bool fixed, int digits, double near)
{
	const struct edges *const edges = &p->hist->axis.edges;

	for (uint32_t r = 0; r < p->parts.count; r++) {
		char *const text = p->label[r];
		const double x = edges_value(edges, p->parts.part[r].first);
		/* Halves do not overflow. What is near zero is zero with linspace's rounding. */
		const double gap = edges_value(edges, p->parts.part[r].end) / 2 - x / 2;
		const double shown = fabs(x / 2) * EXACT < gap ? 0 : x;
		int whole = 0;
		for (double bound = 1; fabs(x) >= bound && bound < 1e7; bound *= 10)
			whole++;
		if (fixed)
			snprintf(text, NUMBER_TEXT, "%.*f", digits, shown);
		else /* digits before the point are not rounded: 85 1/3 is 85, never 9e+01 */
			snprintf(text, NUMBER_TEXT, "%.*g",
				 digits > whole || whole > 7 ? digits : whole, shown);
		if (fixed && strlen(text) > LABEL)
			return false;
		if (isfinite(gap) && !(fabs(strtod(text, NULL) / 2 - x / 2) * near <= gap))
			return false;
	}
	return true;
}

/*
 * Whole numbers are written in full. Others have the fewest digits that tell each edge from the
 * next one, and up to two more if the labels are then exact: as many for all after the point, or
 * where that is too long, or edges of equal ratio gain nothing from it, as many significant ones.
 */
static void label_rows(struct plot *p)
{
	const struct edges *const edges = &p->hist->axis.edges;
	bool whole = true;

	for (uint32_t r = 0; r < p->parts.count; r++) {
		edges_format(edges, p->parts.part[r].first, p->label[r]);
		whole = whole && edge_is_whole(p->label[r]);
	}
	for (int i = edges->list ? DIGITS : 0; !whole && i < 2 * DIGITS; i++) {
		const bool fixed = i < DIGITS;
		const int digits = i % DIGITS + !fixed;
		if (!write_labels(p, fixed, digits, NEAR))
			continue;
		for (int more = 0; more <= 2; more++)
			if (write_labels(p, fixed, digits + more, EXACT))
				return;
		write_labels(p, fixed, digits, NEAR);
		return;
	}
}

static void draw_title(const struct plot *p, const struct provenance *from, uint32_t channel)
{
	const struct axis *const axis = &p->hist->axis;
	const uint32_t bins = axis_bins(axis), count = p->parts.count, per = p->parts.per;
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT];

	output_text(p->out, axis->type.name);
	if (p->hist->channels > 1)
		output_print(p->out, " channel %u (of %u)", channel, p->hist->channels);
	if (from->parts > 1)
		output_print(p->out, " part %u of %u", from->part, from->parts);
	if (from->partial)
		output_text(p->out, ", PARTIAL, counts so far");
	output_print(p->out, ": %u bin%s", bins, bins == 1 ? "" : "s");
	if (bins > 0 && axis->kind == AXIS_MOD) {
		output_text(p->out, " of residues");
	} else if (bins > 0) {
		edge_text(lo, axis, 0);
		edge_text(hi, axis, bins);
		output_print(p->out, " from %s to %s", lo, hi);
	}
	if (count > 0 && per > 1)
		output_print(p->out, ", %u a row", per);
	output_text(p->out, count > 0 && p->picture->log ? ", log counts\n" : "\n");
	if (count == 0)
		return;
	const struct part *const first = p->parts.part, *const last = first + count - 1;
	if (first->end - first->first != per || last->end - last->first != per)
		output_print(p->out,
			     "the first row has %u bins, the last %u: drawn in proportion\n",
			     first->end - first->first, last->end - last->first);
	if (first->first > 0 || last->end < bins)
		output_print(p->out, "not shown: %u empty bins below, %u above\n", first->first,
			     bins - last->end);
}

/* One digit after the point; what is not empty is never "0.0%", what is not all never "100.0%". */
static void percent_text(char text[NUMBER_TEXT], uint64_t count, uint64_t samples)
{
	const unsigned thousandth = (unsigned)(((uint128_t)count * 1000 + samples / 2) / samples);

	if (count > 0 && thousandth == 0)
		strcpy(text, "<0.1%");
	else if (count < samples && thousandth == 1000)
		strcpy(text, ">99.9%");
	else
		snprintf(text, NUMBER_TEXT, "%u.%u%%", thousandth / 10, thousandth % 10);
}

static void add_row(struct channel *of, const char *label, uint64_t count, double scale, bool flow)
{
	const double height = (double)count * scale;
	char text[NUMBER_TEXT];
	const int label_width = (int)strlen(label),
		  count_width = (int)number_format_count(text, count);

	if (flow && count == 0)
		return;
	of->row[of->rows++] = (struct row){label, count, height, flow};
	of->samples += count;
	of->most = fmax(of->most, height);
	of->label_width = label_width > of->label_width ? label_width : of->label_width;
	of->count_width = count_width > of->count_width ? count_width : of->count_width;
}

static void draw_row(const struct plot *p, const struct row *row)
{
	const struct picture *const picture = p->picture;
	const double part = picture->log ? log2(1 + row->height) / log2(1 + p->of.most)
					 : row->height / p->of.most;
	const int parts = picture->utf8 ? 8 : 1;
	const int length =
		row->count == 0 ? 0 : (int)fmax(1, picture_round(part * p->of.bar * parts));
	const char *const line = picture->utf8 ? "\u2502" : "|";
	const bool colour = picture->colour && length > 0;
	int drawn = 0;
	char percent[NUMBER_TEXT];

	output_print(p->out, "%*s %s%s", p->of.label_width, row->label, line,
		     !colour     ? ""
		     : row->flow ? "\033[33m"
				 : "\033[36m");
	for (; drawn < length / parts; drawn++)
		output_text(p->out, picture->utf8 ? "\u2588" : "#");
	if (length % parts > 0) {
		/* From seven eighths, U+2589, down to one, U+258F. */
		output_print(p->out, "\xe2\x96%c", 0x90 - length % parts);
		drawn++;
	}
	percent_text(percent, row->count, p->of.samples);
	output_print(p->out, "%s%*s%s %*llu %6s\n", colour ? "\033[0m" : "", p->of.bar - drawn, "",
		     line, p->of.count_width, (unsigned long long)row->count, percent);
}

static void draw_channel(struct plot *p, const struct provenance *from, uint32_t channel)
{
	const struct filled *const filled = &p->filled[channel];
	const struct hist_flow *const flow = &p->hist->flow[channel];
	struct channel *const of = &p->of;
	char text[BIN_TEXT];

	*of = (struct channel){.rows = 0};
	add_row(of, "under", flow->under, 1, true);
	for (uint32_t k = 0; k < p->parts.count && filled->bins > 0; k++)
		add_row(of, p->label[k], part_sum(&p->parts.part[k], p->hist, channel),
			p->parts.part[k].scale, false);
	add_row(of, "over", flow->over, 1, true);
	add_row(of, "nan", flow->nan, 1, true);
	of->bar = COLUMNS - of->label_width - of->count_width - 11;

	draw_title(p, from, channel);
	for (uint32_t r = 0; r < of->rows; r++)
		draw_row(p, &of->row[r]);
	output_print(p->out, "%llu sample%s", (unsigned long long)of->samples,
		     of->samples == 1 ? "" : "s");
	if (filled->bins > 0) {
		bin_text(text, &p->hist->axis, filled->fullest);
		output_print(p->out, " in %u bin%s; most in %s: %llu", filled->bins,
			     filled->bins == 1 ? "" : "s", text, (unsigned long long)filled->most);
	}
	output_text(p->out, filled->bins > 0 || of->samples == 0 ? "\n" : "; all bins are empty\n");
}

void write_plot(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
{
	struct plot p = {.out = out, .hist = hist, .picture = &style->picture};
	uint32_t first = UINT32_MAX, end = 0, flows = 0;

	for (uint32_t c = 0; c < hist->channels; c++) {
		const struct hist_flow *const flow = &hist->flow[c];
		struct filled *const filled = &p.filled[c];
		const uint32_t rows =
			(uint32_t)(flow->under > 0) + (flow->over > 0) + (flow->nan > 0);
		filled_bins(filled, hist, c);
		flows = rows > flows ? rows : flows;
		if (filled->bins == 0)
			continue;
		first = filled->first < first ? filled->first : first;
		end = filled->end > end ? filled->end : end;
	}
	if (end > 0) {
		parts_join(&p.parts, &hist->axis, first, end, ROWS - flows);
		label_rows(&p);
	}
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		output_text(out, c > 0 ? "\n" : "");
		draw_channel(&p, from, c);
	}
}
