/* SPDX-License-Identifier: MIT */
/*
 * plot: draws a histogram as text that fits its canvas.
 *
 *     f32: 1000 bins from -5 to 5, 50 per row
 *     -1.0 |##########################      |  9193   9.2%
 *
 * A row is labelled with its lower edge. Each bar runs between two vertical lines, which mark both
 * ends of the scale without colour. Several channels are drawn side by side as "panels", with the
 * same rows and one scale; if they would be too narrow, in several "blocks", one below the other.
 */
#include "output/format.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "hist/linearity.h"
#include "hist/series.h"
#include "output/picture.h"

#define ROWS_MOST 512u
#define TEXT 2048 /* title or footer: 200 UTF-8 characters and some numbers */
#define TITLE 8   /* characters of the title that are always shown */
#define LABEL 32
#define DIGITS 17      /* enough for any binary64 */
#define NEAR 20        /* a label must be this many times nearer its edge than the next edge */
#define BAR_GOOD 8     /* if bars are shorter, use another block */
#define SHARE 6        /* characters of a percentage */
#define BAR_COUNTED 12 /* shortest bars with counts next to them */

#define MARK "\u2503" /* the end of a reference's bar */
#define MARK_ASCII "!"

struct plot {
	struct output *out;
	const struct canvas *canvas;
	struct picture p;
	char label[ROWS_MOST][LABEL];
	int label_width, count_width, bar; /* in characters */
	bool counts;                       /* write counts and percentages */
	uint32_t across, blocks;           /* panels side by side; blocks of panels */
	bool gaps;                         /* blank lines around the bin of zero */
};

/* ---- labels ---- */

/*
 * Write all labels with `digits` significant digits. True if each is NEAR times nearer to its edge
 * than the next edge is.
 */
static bool write_labels(struct plot *plot, int digits)
{
	const struct edges *const edges = &plot->p.axis.edges;
	bool good = true;

	for (uint32_t k = 0; k < plot->p.bars; k++) {
		char *const text = plot->label[k];
		const double x = edges_value(edges, plot->p.bar[k].from);
		/* Halves do not overflow. linspace may miss zero by its rounding error. */
		const double gap = edges_value(edges, plot->p.bar[k].to) / 2 - x / 2;
		const bool zero = picture_is_band(&plot->p, k) ||
				  (edges->form == EDGES_LINEAR && fabs(x / 2) * 1e9 < gap);
		const double shown = zero ? 0 : x;
		int whole = 0;
		for (double bound = 1; fabs(x) >= bound && whole <= 7; bound *= 10)
			whole++;
		/* Digits before the point are not rounded: 85 1/3 is 85, never 9e+01. */
		snprintf(text, LABEL, "%.*g", digits > whole || whole > 7 ? digits : whole, shown);
		good = good && (zero || !isfinite(gap) ||
				fabs(strtod(text, NULL) / 2 - shown / 2) * NEAR <= gap);
	}
	return good;
}

/* Write whole numbers in full, and others with the fewest digits that tell edges apart. */
static void label_rows(struct plot *plot, bool flows)
{
	char text[NUMBER_TEXT];
	bool done = true;

	for (uint32_t k = 0; k < plot->p.bars; k++) {
		edges_format(&plot->p.axis.edges, plot->p.bar[k].from, text);
		done = done && (edge_is_whole(text) || picture_is_band(&plot->p, k));
		snprintf(plot->label[k], LABEL, "%.28s", picture_is_band(&plot->p, k) ? "0" : text);
	}
	for (int digits = 3; !done && digits <= DIGITS; digits++)
		done = write_labels(plot, digits);
	const struct hist *const h = plot->p.hist;
	const bool missing = h->axis.type.kind != SAMPLE_FLOAT && hist_flow_sum(h).nan > 0;
	plot->label_width = missing ? 7 : flows ? 5 : 1; /* "under" */
	for (uint32_t k = 0; k < plot->p.bars; k++) {
		snprintf(text, sizeof(text), "*%s", plot->label[k]);
		if (picture_is_short(&plot->p, k))
			snprintf(plot->label[k], LABEL, "%.31s", text);
		plot->label_width = (int)fmax(plot->label_width, (double)strlen(plot->label[k]));
	}
}

/* ---- lines of text ---- */

static void plot_append(char text[TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void plot_append(char text[TEXT], const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, TEXT - used, format, arguments);
	va_end(arguments);
}

/* Write the rest of a line; if it is wider than the canvas, truncate it with "...". */
static void end_line(const struct plot *plot, const char *text)
{
	const unsigned columns = plot->canvas->columns;
	const bool cut = picture_width(text) > columns;

	output_write(plot->out, text, picture_cut(text, cut ? columns - 3 : columns));
	output_text(plot->out, cut ? "..." : "");
	output_text(plot->out, plot->canvas->redraws ? "\033[K\n" : "\n");
}

/* The phrases of the title line; a long line leaves out those without `keep`. */
struct phrases {
	unsigned n;
	struct {
		bool keep;
		char text[96];
	} of[8];
};

static void add_phrase(struct phrases *p, bool keep, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_phrase(struct phrases *p, bool keep, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(p->of[p->n].text, sizeof(p->of[0].text), format, arguments);
	va_end(arguments);
	p->of[p->n++].keep = keep;
}

/* Write the line above the rows: a long title loses its middle only after phrases are left out. */
static void put_phrases(const struct plot *plot, struct phrases *p)
{
	const char *const title = plot->canvas->title ? plot->canvas->title : "";
	const size_t columns = plot->canvas->columns;
	char line[TEXT] = "";
	size_t rest = *title ? 2 : 0;

	for (unsigned i = 0; i < p->n; i++)
		rest += picture_width(p->of[i].text) + (i > 0 ? 2 : 0);
	for (unsigned i = p->n; i-- > 0;)
		if (!p->of[i].keep && picture_width(title) + rest > columns) {
			rest -= picture_width(p->of[i].text) + 2;
			p->of[i].text[0] = '\0';
		}
	if (*title) {
		picture_shorten(line, TEXT / 2, title,
				rest + TITLE < columns ? columns - rest : TITLE, "...");
		utf8_make_plain(line);
	}
	const char *before = *line ? ": " : "";
	for (unsigned i = 0; i < p->n; i++)
		if (p->of[i].text[0]) {
			plot_append(line, "%s%s", before, p->of[i].text);
			before = ", ";
		}
	end_line(plot, line);
}

static void put_title(const struct plot *plot, const struct provenance *from)
{
	const struct picture *const p = &plot->p;
	const struct axis *const axis = &p->hist->axis;
	const uint32_t bins = axis_bins(axis);
	struct phrases of = {.n = 0};
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT], number[NUMBER_TEXT], unit[UNIT_TEXT];

	number_format_count(number, bins);
	add_phrase(&of, from->partial, "%s%s", from->partial ? "partial: still counting, " : "",
		   axis->type.name);
	if (from->parts > 1)
		add_phrase(&of, true, "part %u of %u", from->part, from->parts);
	if (p->hist->channels > 1)
		add_phrase(&of, false, "%u %ss", p->hist->channels, series_head(p->hist));
	edge_text(lo, axis, 0);
	edge_text(hi, axis, bins);
	if (bins > 0 && axis_kind_of(axis)->ordered)
		add_phrase(&of, false, bins == 1 ? "%sfrom %s to %s" : "%s bins from %s to %s",
			   bins == 1 ? "" : number, lo, hi);
	else
		add_phrase(&of, false, bins > 0 ? "%s bins, modulo %s" : "%s bins", number, number);
	if (p->per > 1)
		add_phrase(&of, false, "%s%u per row", p->axis.edges.auto_bins.log ? "up to " : "",
			   p->per);
	picture_unit(unit, p);
	if (p->bars > 0 && !p->ruler.counted)
		add_phrase(&of, true, "bars per %s", unit);
	if (p->bars > 0 && plot->canvas->log)
		add_phrase(&of, true, "log counts");
	put_phrases(plot, &of);
}

/* Report the empty bins at both ends, which have no rows. */
static void put_hidden(const struct plot *plot)
{
	const struct picture *const p = &plot->p;
	const uint32_t below = p->bars > 0 ? p->bar[0].first : 0;
	const uint32_t above =
		p->bars > 0 ? axis_bins(&p->hist->axis) - p->bar[p->bars - 1].end : 0;
	char text[TEXT] = "not shown: ";

	if (below + above == 0)
		return;
	plot_append(text, "%u empty bin%s %s", below > 0 ? below : above,
		    (below > 0 ? below : above) == 1 ? "" : "s", below > 0 ? "below" : "above");
	if (below > 0 && above > 0)
		plot_append(text, ", %u above", above);
	end_line(plot, text);
}

/* The name of a column may come from anybody. */
static const char *plain_label(char text[SERIES_LABEL], const struct hist *hist, uint32_t channel)
{
	series_label(text, hist, channel);
	utf8_make_plain(text);
	return text;
}

/* Write the line below the rows. */
static void put_footer(const struct plot *plot)
{
	const struct hist *const hist = plot->p.hist;
	const struct hist_flow flow = hist_flow_sum(hist);
	const uint64_t outside = flow.under + flow.over + flow.nan;
	const uint32_t bins = axis_bins(&hist->axis);
	const struct facts *most = plot->p.facts;
	uint64_t inside = 0;
	char text[TEXT] = "", bin[BIN_TEXT], label[SERIES_LABEL];

	for (uint32_t c = 0; c < hist->channels; c++) {
		inside += plot->p.facts[c].samples;
		most = plot->p.facts[c].most > most->most ? &plot->p.facts[c] : most;
	}
	if (outside > 0 && inside > 0)
		plot_append(text, "%llu of ", (ull)inside);
	plot_append(text, "%llu sample%s", (ull)(inside + outside),
		    inside + outside == 1 ? "" : "s");
	if (inside == 0) {
		end_line(plot, strcat(text, outside > 0 ? "; all bins are empty" : ""));
		return;
	}
	if (hist->channels == 1)
		plot_append(text, " in %u of %u bin%s", most->filled, bins, bins == 1 ? "" : "s");
	bin_text(bin, &hist->axis, most->fullest);
	plot_append(text, "; most in %s", bin);
	if (hist->channels > 1)
		plot_append(text, " of %s",
			    plain_label(label, hist, (uint32_t)(most - plot->p.facts)));
	plot_append(text, ": %llu", (ull)most->most);
	if (hist->reference)
		plot_append(text, "; %s: the reference", plot->canvas->utf8 ? MARK : MARK_ASCII);
	end_line(plot, text);
}

/* ---- rows ---- */

/* The length of a value's bar, in parts of a character. */
static int length_of(const struct plot *plot, double value, int parts)
{
	const double most = plot->p.most;
	const double base = plot->canvas->log && value > 0 ? picture_base(&plot->p) : 0;
	const double part = base > 0 ? log(value / base) / log(most / base) : value / most;

	return value > 0 ? (int)fmax(1, picture_round(part * plot->bar * parts)) : 0;
}

/* Draw the bar of a value. A reference above 0 is a mark at the end of its bar. */
static void draw_bar(const struct plot *plot, double value, double reference)
{
	const struct canvas *const canvas = plot->canvas;
	const int parts = canvas->utf8 ? 8 : 1, length = length_of(plot, value, parts);
	const int mark = length_of(plot, reference, 1) - 1;
	const char *colour = "";

	for (int i = 0; i < plot->bar; i++) {
		const bool drawn = i * parts < length;
		const char *const own = i == mark ? "\033[31m" : drawn ? "\033[36m" : "\033[0m";
		if (canvas->colour && (*colour || i == mark || drawn) && strcmp(own, colour) != 0)
			output_text(plot->out, colour = own);
		if (i == mark)
			output_text(plot->out, canvas->utf8 ? MARK : MARK_ASCII);
		else if (!drawn)
			output_text(plot->out, " ");
		else if (length - i * parts >= parts)
			output_text(plot->out, canvas->utf8 ? "\u2588" : "#");
		else /* from seven eighths, U+2589, down to one, U+258F */
			output_print(plot->out, "\xe2\x96%c", 0x90 - length % parts);
	}
	if (strlen(colour) > 4) /* not reset yet */
		output_text(plot->out, "\033[0m");
}

/* Samples of a channel in a row: bar k or, from k = bars on, under, over, NaN. */
static uint64_t row_count(const struct plot *plot, uint32_t channel, uint32_t k)
{
	const struct hist_flow *const flow = &plot->p.hist->flow[channel];
	const uint64_t flows[] = {flow->under, flow->over, flow->nan};

	return k < plot->p.bars ? picture_sum(&plot->p, channel, k) : flows[k - plot->p.bars];
}

/* Draw one row across all panels of a block; samples in no bin have no bar. */
static void draw_row(const struct plot *plot, uint32_t block, uint32_t k)
{
	const bool real = plot->p.hist->axis.type.kind == SAMPLE_FLOAT;
	const char *const FLOW[] = {"under", "over", real ? "nan" : "missing"};
	const bool flow = k >= plot->p.bars;
	const char *const side = flow ? " " : plot->canvas->utf8 ? "\u2502" : "|";
	const uint32_t first = block * plot->across, channels = plot->p.hist->channels;
	char percent[NUMBER_TEXT];

	output_print(plot->out, "%*s %s", plot->label_width,
		     flow ? FLOW[k - plot->p.bars] : plot->label[k], side);
	for (uint32_t c = first; c < first + plot->across && c < channels; c++) {
		const struct hist_flow *const out = &plot->p.hist->flow[c];
		const uint64_t count = row_count(plot, c, k);
		percent_text(percent, count,
			     plot->p.facts[c].samples + out->under + out->over + out->nan);
		if (c > first && plot->counts)
			output_print(plot->out, " %s", side);
		if (flow)
			output_print(plot->out, "%*s", plot->bar,
				     plot->counts || plot->bar < SHARE ? "" : percent);
		else
			draw_bar(plot, picture_value(&plot->p, c, k),
				 picture_reference(&plot->p, c, k));
		output_text(plot->out, side);
		if (plot->counts)
			output_print(plot->out, " %*llu %6s", plot->count_width, (ull)count,
				     percent);
	}
	end_line(plot, "");
}

/* Draw the channel names above the panels of a block. */
static void draw_names(const struct plot *plot, uint32_t block)
{
	const uint32_t first = block * plot->across, channels = plot->p.hist->channels;
	const int width = plot->bar + (plot->counts ? plot->count_width + 11 : 1);

	output_print(plot->out, "%*s", plot->label_width + 2, "");
	for (uint32_t c = first; c < first + plot->across && c < channels; c++)
		picture_series(plot->out, plot->p.hist, c, (unsigned)width,
			       c + 1 == first + plot->across);
	end_line(plot, "");
}

/* ---- how much fits ---- */

/* Choose the bar length for that many blocks. */
static void fit_blocks(struct plot *plot, uint32_t blocks)
{
	plot->blocks = blocks;
	plot->across = (plot->p.hist->channels + blocks - 1) / blocks;
	const int width = (int)plot->canvas->columns - plot->label_width,
		  across = (int)plot->across;
	plot->bar = width / across - plot->count_width - 11;
	plot->counts = plot->across == 1 || plot->bar >= BAR_COUNTED;
	if (!plot->counts)
		plot->bar = (width - 2) / across - 1;
}

/* Rows per block, for that many blocks and `around` other lines. */
static uint32_t rows_of(const struct plot *plot, uint32_t blocks, uint32_t around)
{
	const uint32_t names = plot->p.hist->channels > 1, lines = plot->canvas->lines;
	const uint32_t each = lines > around ? (lines - around) / blocks : 0;

	return each < names + 2 ? 2 : each - names < ROWS_MOST ? each - names : ROWS_MOST;
}

/* Join bins into rows, with `flows` more rows for under, over and NaN. */
static void lay_out(struct plot *plot, uint32_t flows)
{
	const struct picture *const p = &plot->p;
	const uint32_t channels = p->hist->channels;
	/* the title, the footer, and perhaps "not shown" and a row of fewer bins */
	const uint32_t hidden = p->first > 0 || p->end < axis_bins(&p->hist->axis),
		       around = 2 + hidden +
				(!axis_kind_of(&p->axis)->from_samples &&
				 p->end - p->first > rows_of(plot, 1, 2 + hidden + flows));
	uint32_t blocks = 1;
	uint64_t most = 0;
	char text[NUMBER_TEXT];

	plot->label_width = 8; /* typical */
	plot->count_width = 6;
	while (blocks < channels && (fit_blocks(plot, blocks), plot->bar < BAR_GOOD) &&
	       (plot->bar < 1 || rows_of(plot, blocks + 1, around) >= flows + 4))
		blocks++;
	const uint32_t rows = rows_of(plot, blocks, around);
	const uint32_t gaps = picture_gaps(p);
	const uint32_t least = gaps == 1 ? 2 : 3; /* bars, as one gap separates two */
	plot->gaps = rows >= flows + gaps + least;
	const uint32_t others = flows + (plot->gaps ? gaps : 0);
	picture_join(&plot->p, rows > others + least ? rows - others : least);
	picture_count(&plot->p);
	label_rows(plot, flows > 0);
	for (uint32_t i = 0; i < channels * (p->bars + 3); i++) {
		const uint64_t count = row_count(plot, i % channels, i / channels);
		most = count > most ? count : most;
	}
	plot->count_width = (int)number_format_count(text, most);
	while (fit_blocks(plot, blocks), plot->bar < 1 && blocks < channels)
		blocks++; /* long labels */
	plot->bar = plot->bar > 1 ? plot->bar : 1;
}

/* ---- --linearity ---- */

#define DNL 8 /* columns of a number */

/* Draw DNL of codes first .. end - 1 as a bar from the least through 0 to the greatest. */
static void draw_dnl(const struct plot *plot, const struct linearity *l, uint32_t first,
		     uint32_t end, const double scale[2])
{
	const struct canvas *const canvas = plot->canvas;
	const char *const side = canvas->utf8 ? "\u2502" : "|";
	double least = l->dnl[first], most = l->dnl[first];
	int at[3];
	char label[NUMBER_TEXT];

	for (uint32_t i = first; i < end; i++) {
		least = fmin(least, l->dnl[i]);
		most = fmax(most, l->dnl[i]);
	}
	const double values[] = {fmin(least, 0), 0, fmax(most, 0)};
	for (int i = 0; i < 3; i++)
		at[i] = (int)picture_round((values[i] - scale[0]) / (scale[1] - scale[0]) *
					   (plot->bar - 1));
	edges_format(&plot->p.hist->axis.edges, first, label);
	output_print(plot->out, "%*s %s", plot->label_width, label, side);
	for (int i = 0; i < plot->bar; i++) {
		const bool drawn = at[0] <= i && i <= at[2] && i != at[1];
		output_text(plot->out, drawn && canvas->colour ? "\033[36m" : "");
		output_text(plot->out, i == at[1]     ? side
				       : !drawn       ? " "
				       : canvas->utf8 ? "\u2588"
						      : "#");
		output_text(plot->out, drawn && canvas->colour ? "\033[0m" : "");
	}
	output_print(plot->out, "%s %*.3f %*.3f", side, DNL - 1, least, DNL - 1, most);
	end_line(plot, "");
}

/* Draw DNL of all channels, one below the other, on one scale. */
static void plot_linearity(struct plot *plot, const struct provenance *from)
{
	const struct hist *const hist = plot->p.hist;
	const uint32_t channels = hist->channels, lines = plot->canvas->lines;
	const uint32_t fit = (lines > 2 ? lines - 2 : 0) / channels, rows = fit > 4 ? fit - 1 : 3;
	double scale[] = {0, 0};
	uint32_t most = 1;

	for (uint32_t c = 0; c < channels; c++) {
		const struct linearity *const l = &hist->linearity[c];
		most = l->last - l->first > most ? l->last - l->first : most;
		for (uint32_t i = l->first + 1; i < l->last; i++) {
			scale[0] = fmin(scale[0], l->dnl[i]);
			scale[1] = fmax(scale[1], l->dnl[i]);
		}
	}
	scale[1] += scale[1] <= scale[0];
	for (plot->p.per = 1; most / plot->p.per + 2 > rows;)
		plot->p.per *= 2;
	plot->label_width = 6;
	plot->bar = (int)plot->canvas->columns - plot->label_width - 3 - 2 * DNL;
	put_title(plot, from);
	for (uint32_t c = 0; c < channels; c++) {
		const struct linearity *const l = &hist->linearity[c];
		char text[TEXT] = "", label[SERIES_LABEL];
		plot_append(text, "%*s  ", plot->label_width, "code");
		if (channels > 1)
			plot_append(text, "%s: ", plain_label(label, hist, c));
		plot_append(text, "DNL from %.3g to %.3g, 0 at the line", scale[0], scale[1]);
		plot_append(text, "%*s", plot->label_width + plot->bar + 3 - (int)strlen(text), "");
		plot_append(text, "%*s%*s", DNL, "least", DNL, "most");
		end_line(plot, text);
		for (uint32_t i = l->first + 1, end; i < l->last; i = end) {
			end = i - i % plot->p.per + plot->p.per;
			end = end < l->last ? end : l->last;
			draw_dnl(plot, l, i, end, scale);
		}
	}
}

void write_plot(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
{
	struct plot plot = {.out = out, .canvas = &style->canvas};
	const struct hist_flow flow = hist_flow_sum(hist);
	char shorter[SHORT_TEXT];

	if (picture_open(&plot.p, hist, false, ROWS_MOST) != 0) {
		output_fail(out);
		return;
	}
	if (hist->linearity) {
		plot_linearity(&plot, from);
		picture_free(&plot.p);
		return;
	}
	lay_out(&plot, (uint32_t)(flow.under > 0) + (flow.over > 0) + (flow.nan > 0));
	if (style->canvas.lines_up > 0)
		output_print(out, "\r\033[%uA", style->canvas.lines_up); /* a terminal echoes ^C */
	put_title(&plot, from);
	put_hidden(&plot);
	for (uint32_t block = 0; block < plot.blocks && !output_failed(out); block++) {
		if (hist->channels > 1)
			draw_names(&plot, block);
		if (flow.under > 0)
			draw_row(&plot, block, plot.p.bars);
		for (uint32_t k = 0; k < plot.p.bars; k++) {
			if (plot.gaps && k > 0 &&
			    picture_is_band(&plot.p, k) != picture_is_band(&plot.p, k - 1))
				end_line(&plot, ""); /* the gap */
			draw_row(&plot, block, k);
		}
		if (flow.over > 0)
			draw_row(&plot, block, plot.p.bars + 1);
		if (flow.nan > 0)
			draw_row(&plot, block, plot.p.bars + 2);
	}
	put_footer(&plot);
	picture_say_short(shorter, &plot.p);
	if (*shorter)
		end_line(&plot, shorter);
	output_text(out, style->canvas.redraws ? "\033[J" : "");
	picture_free(&plot.p);
}
