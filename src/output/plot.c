/* SPDX-License-Identifier: MIT */
/*
 * plot: a histogram as a picture of text, as wide as it is asked to be and at most 24 lines high.
 * Channel after channel, each with a title, rows and a footer; all channels have the same rows, so
 * that they can be compared.
 *
 *     f32: 1000 bins from -5 to 5, 50 a row
 *     -1.0 |##########################      |  9193   9.2%
 *
 * A row is named by its lower edge. A bar is between two lines, which show where it begins and
 * ends, in whatever colours.
 */
#include "output/format.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "output/picture.h"

#define LINES 24u
#define ROWS 20u  /* of a channel, with those of under, over and NaN */
#define TEXT 2048 /* titles and footers: of 200 characters as UTF-8, and some numbers */
#define LABEL 12  /* the longest label that is written without an exponent */
#define DIGITS 18 /* tried for labels, to which two more may be added: binary64's 17 and a zero */
#define NEAR 20   /* times that a label must be nearer to its edge than the next edge */
#define EXACT 1e9 /* times nearer: such a label is the edge, but for linspace's rounding */

typedef unsigned long long ull;

struct row {
	const char *label;
	uint64_t count;
	uint32_t gap; /* empty bins that the row stands for; 0: it is no gap */
	bool flow;    /* under, over or NaN */
};

struct plot {
	struct output *out;
	const struct hist *hist;
	const struct picture *picture;
	struct stripes stripes; /* stripes.count is 0 if all bins are empty */
	struct filled filled[LAYOUT_CHANNELS_MAX];
	char label[ROWS][NUMBER_TEXT];
	struct channel {
		uint32_t rows;
		struct row row[ROWS];
		uint64_t samples;
		uint64_t most;                     /* the count of the longest bar */
		int label_width, count_width, bar; /* in characters */
	} of;                                      /* the channel that is drawn */
};

/*
 * Writes all labels with `digits` digits, after the point if `fixed`, else significant ones. True
 * if each label is `near` times nearer to its edge than the next edge is.
 */
static bool write_labels(struct plot *p, bool fixed, int digits, double near)
{
	const struct edges *const edges = &p->hist->axis.edges;

	for (uint32_t r = 0; r < p->stripes.count; r++) {
		char *const text = p->label[r];
		const double x = edges_value(edges, p->stripes.stripe[r].first);
		if (p->stripes.stripe[r].gap)
			continue;
		/* Halves do not overflow. What is near zero is zero with linspace's rounding. */
		const double gap = edges_value(edges, p->stripes.stripe[r].end) / 2 - x / 2;
		const double shown = !edges->auto_bins.log && fabs(x / 2) * EXACT < gap ? 0 : x;
		int whole = 0;
		for (double bound = 1; fabs(x) >= bound && whole < 8; bound *= 10)
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
 * next one, and up to two more if the labels are then exact. All labels have as many digits after
 * the point or, where that is too long or edges have equal ratios, as many significant digits.
 */
static void label_rows(struct plot *p)
{
	const struct edges *const edges = &p->hist->axis.edges;
	bool whole = true;

	for (uint32_t r = 0; r < p->stripes.count; r++) {
		edges_format(edges, p->stripes.stripe[r].first, p->label[r]);
		if (p->stripes.stripe[r].gap)
			strcpy(p->label[r], "...");
		else
			whole = whole && edge_is_whole(p->label[r]);
	}
	for (int i = edges->list || edges->auto_bins.log ? DIGITS : 0; !whole && i < 2 * DIGITS;
	     i++) {
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

/* ---- sentences ---- */

static void append(char text[TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char text[TEXT], const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, TEXT - used, format, arguments);
	va_end(arguments);
}

/* Breaks lines at blanks, so that they fit; returns how many there are. */
static unsigned wrap(char *text, unsigned columns)
{
	unsigned lines = 0, line = 0, word = 0; /* characters of the line, and of its last word */
	char *blank = NULL;

	for (char *p = text; *p; p++) {
		const bool begins = ((unsigned char)*p & 0xc0) != 0x80;
		line += begins;
		word += begins;
		if (*p == ' ' || *p == '\n') {
			blank = p;
			word = 0;
		}
		if (*p == '\n' || (line > columns && blank)) {
			*blank = '\n';
			blank = NULL;
			line = word;
			lines++;
		}
	}
	return lines;
}

/* The lines above the rows. Returns how many there are. */
static unsigned make_title(const struct plot *p, char text[TEXT], const struct provenance *from,
			   uint32_t channel)
{
	const struct axis *const axis = &p->hist->axis;
	const uint32_t bins = axis_bins(axis), count = p->stripes.count, per = p->stripes.per;
	const struct stripe *const first = p->stripes.stripe, *const last = first + count - 1;
	const unsigned columns = p->picture->columns;
	const bool ranks = axis->edges.auto_bins.log; /* the first row may have fewer bins, too */
	const char *const title = p->picture->title;
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT];

	text[0] = '\0';
	if (title) {
		/* on one line, with three dots where it is cut */
		const size_t all = strlen(title), fit = picture_cut(title, columns - 2);
		const bool cut = fit < all;
		append(text, "%.*s%s", (int)(cut ? picture_cut(title, columns - 5) : all), title,
		       cut ? "..." : "");
		utf8_make_plain(text);
		append(text, ": ");
	}
	append(text, "%s", axis->type.name);
	if (p->hist->channels > 1)
		append(text, " channel %u (of %u)", channel, p->hist->channels);
	if (from->parts > 1)
		append(text, " part %u of %u", from->part, from->parts);
	append(text, "%s%s %u bin%s", from->partial ? ", PARTIAL, counts so far" : "",
	       title && !from->partial ? "," : ":", bins, bins == 1 ? "" : "s");
	if (bins > 0 && !axis_kind_of(axis)->ordered) {
		append(text, " of residues");
	} else if (bins > 0) {
		edge_text(lo, axis, 0);
		edge_text(hi, axis, bins);
		append(text, " from %s to %s", lo, hi);
	}
	if (count > 0 && per > 1)
		append(text, ", %s%u a row", ranks ? "up to " : "", per);
	if (count > 0 && last->end - last->first < per && !ranks)
		append(text, " (%u in the last)", last->end - last->first);
	append(text, count > 0 && p->picture->log ? ", log counts\n" : "\n");
	const uint32_t below = count > 0 ? first->first : 0,
		       above = count > 0 ? bins - last->end : 0;
	if (below > 0 && above > 0)
		append(text, "not shown: %u empty bin%s below, %u above\n", below,
		       below == 1 ? "" : "s", above);
	else if (below + above > 0)
		append(text, "not shown: %u empty bin%s %s\n", below + above,
		       below + above == 1 ? "" : "s", below > 0 ? "below" : "above");
	return wrap(text, columns);
}

/* The lines below the rows. Returns how many there are. */
static unsigned make_footer(const struct plot *p, char text[TEXT], uint32_t channel)
{
	const struct filled *const filled = &p->filled[channel];
	const struct hist_flow *const flow = &p->hist->flow[channel];
	const uint32_t bins = axis_bins(&p->hist->axis);
	const uint64_t outside = flow->under + flow->over + flow->nan;
	const uint64_t inside = filled->samples;
	char bin[BIN_TEXT];

	text[0] = '\0';
	if (outside > 0 && inside > 0)
		append(text, "%llu of ", (ull)inside);
	append(text, "%llu sample%s", (ull)(inside + outside), inside + outside == 1 ? "" : "s");
	if (inside > 0) {
		bin_text(bin, &p->hist->axis, filled->fullest);
		append(text, " in %u of %u bin%s; most in %s: %llu\n", filled->bins, bins,
		       bins == 1 ? "" : "s", bin, (ull)filled->most);
	} else {
		append(text, outside > 0 ? "; all bins are empty\n" : "\n");
	}
	return wrap(text, p->picture->columns);
}

/* ---- rows ---- */

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

static void add_row(struct channel *of, const char *label, uint64_t count, uint32_t gap, bool flow)
{
	char text[NUMBER_TEXT];
	const int label_width = (int)strlen(label),
		  count_width = (int)number_format_count(text, count);

	if (flow && count == 0)
		return;
	of->row[of->rows++] = (struct row){label, count, gap, flow};
	of->samples += count;
	of->most = count > of->most ? count : of->most;
	of->label_width = label_width > of->label_width ? label_width : of->label_width;
	of->count_width = count_width > of->count_width ? count_width : of->count_width;
}

static void draw_row(const struct plot *p, const struct row *row)
{
	const struct picture *const picture = p->picture;
	const double count = (double)row->count, most = (double)p->of.most;
	const double part = picture->log ? log2(1 + count) / log2(1 + most) : count / most;
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
	if (row->gap > 0) {
		snprintf(percent, sizeof(percent), " %u empty bins", row->gap);
		output_print(p->out, "%-*.*s%s\n", p->of.bar, p->of.bar, percent, line);
		return;
	}
	percent_text(percent, row->count, p->of.samples);
	output_print(p->out, "%s%*s%s %*llu %6s\n", colour ? "\033[0m" : "", p->of.bar - drawn, "",
		     line, p->of.count_width, (unsigned long long)row->count, percent);
}

static void draw_channel(struct plot *p, const struct provenance *from, uint32_t channel)
{
	const struct hist_flow *const flow = &p->hist->flow[channel];
	struct channel *const of = &p->of;
	char text[TEXT];

	*of = (struct channel){.rows = 0};
	add_row(of, "under", flow->under, 0, true);
	for (uint32_t k = 0; k < p->stripes.count && p->filled[channel].bins > 0; k++) {
		const struct stripe *const stripe = &p->stripes.stripe[k];
		add_row(of, p->label[k], stripe_sum(stripe, p->hist, channel),
			stripe->gap ? stripe->end - stripe->first : 0, false);
	}
	add_row(of, "over", flow->over, 0, true);
	add_row(of, "nan", flow->nan, 0, true);
	of->bar = (int)p->picture->columns - of->label_width - of->count_width - 11;
	of->bar = of->bar > 1 ? of->bar : 1;

	make_title(p, text, from, channel);
	output_text(p->out, text);
	for (uint32_t r = 0; r < of->rows; r++)
		draw_row(p, &of->row[r]);
	make_footer(p, text, channel);
	output_text(p->out, text);
}

/* Joins bins to rows, so that rows and the lines around them are at most LINES. */
static void choose_rows(struct plot *p, const struct provenance *from, uint32_t first, uint32_t end,
			uint32_t flows)
{
	char text[TEXT];
	uint32_t around;

	for (uint32_t most = ROWS - flows; most >= 4; most--) {
		if (p->hist->axis.edges.auto_bins.log)
			stripes_join_ranks(&p->stripes, p->hist, first, end, most);
		else
			stripes_join(&p->stripes, &p->hist->axis, first, end, most);
		around = 0;
		for (uint32_t c = 0; c < p->hist->channels; c++) {
			const unsigned lines =
				make_title(p, text, from, c) + make_footer(p, text, c);
			around = lines > around ? lines : around;
		}
		if (flows + p->stripes.count + around <= LINES)
			return;
	}
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
		choose_rows(&p, from, first, end, flows);
		label_rows(&p);
	}
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		output_text(out, c > 0 ? "\n" : "");
		draw_channel(&p, from, c);
	}
}
