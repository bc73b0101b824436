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
#define LABEL 12u /* the longest label that is written without an exponent */
#define NEAR 20   /* a label is this many times nearer to its edge than the next edge is ... */
#define EXACT 1e9 /* ... or this many: it is the edge, but for linspace's rounding */

struct plot {
	struct output *out;
	const struct hist *hist;
	const struct picture *picture;
	struct parts rows; /* none: all bins are empty */
	struct filled filled[LAYOUT_CHANNELS_MAX];
	char label[ROWS][NUMBER_TEXT];
	int label_width, count_width, bar; /* in characters; for the channel that is drawn */
	double most;                       /* the height of its longest bar */
	uint64_t samples;
};

static double lower_of(const struct plot *p, uint32_t row)
{
	return edges_value(&p->hist->axis.edges, p->rows.part[row].first);
}

/*
 * Writes all labels with `digits` after the point, or with so many significant ones. True if each
 * is `near` enough to its edge.
 */
static bool write_labels(struct plot *p, bool fixed, int digits, double near)
{
	p->label_width = 0;
	for (uint32_t r = 0; r < p->rows.count; r++) {
		char *const text = p->label[r];
		const double x = lower_of(p, r);
		const double end = edges_value(&p->hist->axis.edges, p->rows.part[r].end);
		/* Halves do not overflow. What is near zero is zero with linspace's rounding. */
		const double gap = end / 2 - x / 2, shown = fabs(x / 2) * EXACT < gap ? 0 : x;
		int whole = 0;
		for (double bound = 1; fabs(x) >= bound && bound < 1e7; bound *= 10)
			whole++;
		if (fixed)
			snprintf(text, NUMBER_TEXT, "%.*f", digits, shown);
		else /* digits before the point are not rounded: 85 1/3 is 85, never 9e+01 */
			snprintf(text, NUMBER_TEXT, "%.*g",
				 digits > whole || whole > 7 ? digits : whole, shown);
		const int width = (int)strlen(text);
		p->label_width = width > p->label_width ? width : p->label_width;
		if (isfinite(gap) && !(fabs(strtod(text, NULL) / 2 - x / 2) * near <= gap))
			return false;
		if (fixed && width > (int)LABEL)
			return false;
	}
	return true;
}

/*
 * The fewest digits that tell each edge from the next one; two more if the labels are then exact.
 */
static bool choose_digits(struct plot *p, bool fixed)
{
	for (int digits = !fixed; digits <= 17; digits++) {
		if (!write_labels(p, fixed, digits, NEAR))
			continue;
		for (int more = 0; more <= 2; more++)
			if (write_labels(p, fixed, digits + more, EXACT))
				return true;
		return write_labels(p, fixed, digits, NEAR);
	}
	return false;
}

/*
 * Whole numbers are written in full. Edges of equal ratio gain nothing from one number of digits.
 */
static void label_rows(struct plot *p)
{
	const struct edges *const edges = &p->hist->axis.edges;
	bool whole = true;

	p->label_width = 0;
	for (uint32_t r = 0; r < p->rows.count; r++) {
		const int width = (int)edges_format(edges, p->rows.part[r].first, p->label[r]);
		p->label_width = width > p->label_width ? width : p->label_width;
		whole = whole && edge_is_whole(p->label[r]);
	}
	if (!whole && (edges->list || !choose_digits(p, true)))
		choose_digits(p, false);
}

static void draw_title(const struct plot *p, const struct provenance *from, uint32_t channel)
{
	const struct axis *const axis = &p->hist->axis;
	const uint32_t bins = axis_bins(axis), count = p->rows.count, per = p->rows.per;
	const struct part *const first = p->rows.part, *const last =
							       first + (count > 0 ? count - 1 : 0);
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
	if (count > 0 && (first->end - first->first != per || last->end - last->first != per))
		output_print(p->out,
			     "the first row has %u bins, the last %u: drawn in proportion\n",
			     first->end - first->first, last->end - last->first);
	if (count > 0 && (first->first > 0 || last->end < bins))
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

static void draw_row(const struct plot *p, const char *label, uint64_t count, double scale,
		     const char *colour)
{
	const struct picture *const picture = p->picture;
	const double height = (double)count * scale;
	const double part = picture->log ? picture_log2(1 + height) / picture_log2(1 + p->most)
					 : height / p->most;
	const int parts = picture->utf8 ? 8 : 1;
	const int length = count == 0 ? 0 : (int)fmax(1, floor(part * p->bar * parts + 0.5));
	const char *const line = picture->utf8 ? "\xe2\x94\x82" : "|";
	int drawn = 0;
	char percent[NUMBER_TEXT];

	output_print(p->out, "%*s %s", p->label_width, label, line);
	if (picture->colour && length > 0)
		output_text(p->out, colour);
	for (; drawn < length / parts; drawn++)
		output_text(p->out, picture->utf8 ? "\xe2\x96\x88" : "#");
	if (length % parts > 0) {
		/* From seven eighths, U+2589, down to one, U+258F. */
		const char block[4] = {'\xe2', '\x96', (char)(0x90 - length % parts), '\0'};
		output_text(p->out, block);
		drawn++;
	}
	if (picture->colour && length > 0)
		output_text(p->out, "\033[0m");
	percent_text(percent, count, p->samples);
	output_print(p->out, "%*s%s %*llu %6s\n", p->bar - drawn, "", line, p->count_width,
		     (unsigned long long)count, percent);
}

static void draw_channel(struct plot *p, const struct provenance *from, uint32_t channel)
{
	static const char BINS_COLOUR[] = "\033[36m", FLOW_COLOUR[] = "\033[33m";
	const struct filled *const filled = &p->filled[channel];
	const struct hist_flow *const flow = &p->hist->flow[channel];
	const int label_width = p->label_width;
	uint64_t sums[ROWS], most = flow->under > flow->over ? flow->under : flow->over;
	char text[BIN_TEXT];

	most = flow->nan > most ? flow->nan : most;
	p->samples = flow->under + flow->over + flow->nan;
	p->most = (double)most;
	for (uint32_t r = 0; r < p->rows.count; r++) {
		sums[r] = part_sum(&p->rows.part[r], p->hist, channel);
		p->samples += sums[r];
		most = sums[r] > most ? sums[r] : most;
		p->most = fmax(p->most, (double)sums[r] * p->rows.part[r].scale);
	}
	const int least = flow->under > 0 ? 5 : flow->over > 0 ? 4 : flow->nan > 0 ? 3 : 0;
	p->label_width = label_width > least ? label_width : least;
	p->count_width = (int)number_format_count(text, most);
	p->bar = COLUMNS - p->label_width - p->count_width - 11;

	draw_title(p, from, channel);
	if (flow->under > 0)
		draw_row(p, "under", flow->under, 1, FLOW_COLOUR);
	for (uint32_t r = 0; r < p->rows.count && filled->bins > 0; r++)
		draw_row(p, p->label[r], sums[r], p->rows.part[r].scale, BINS_COLOUR);
	if (flow->over > 0)
		draw_row(p, "over", flow->over, 1, FLOW_COLOUR);
	if (flow->nan > 0)
		draw_row(p, "nan", flow->nan, 1, FLOW_COLOUR);
	p->label_width = label_width;
	output_print(p->out, "%llu sample%s", (unsigned long long)p->samples,
		     p->samples == 1 ? "" : "s");
	if (filled->bins > 0) {
		bin_text(text, &p->hist->axis, filled->fullest);
		output_print(p->out, " in %u bin%s; most in %s: %llu", filled->bins,
			     filled->bins == 1 ? "" : "s", text, (unsigned long long)filled->most);
	}
	output_text(p->out, filled->bins > 0 || p->samples == 0 ? "\n" : "; all bins are empty\n");
}

void write_plot(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
{
	struct plot p = {.out = out, .hist = hist, .picture = &style->picture};
	uint32_t first = UINT32_MAX, end = 0, flows = 0;

	for (uint32_t c = 0; c < hist->channels; c++) {
		const struct hist_flow *const flow = &hist->flow[c];
		const uint32_t rows =
			(uint32_t)(flow->under > 0) + (flow->over > 0) + (flow->nan > 0);
		filled_bins(&p.filled[c], hist, c);
		flows = rows > flows ? rows : flows;
		if (p.filled[c].bins == 0)
			continue;
		first = p.filled[c].first < first ? p.filled[c].first : first;
		end = p.filled[c].end > end ? p.filled[c].end : end;
	}
	if (end > 0) {
		parts_join(&p.rows, &hist->axis, first, end, ROWS - flows);
		label_rows(&p);
	}
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		output_text(out, c > 0 ? "\n" : "");
		draw_channel(&p, from, c);
	}
}
