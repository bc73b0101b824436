/*
 * write_plot: a histogram as a picture of text, for a terminal. Channel after channel, each with a title, rows and a
 * footer that fit a screen together with the prompt. All channels have the same rows, so that they can be compared.
 *
 *     f32: 1000 bins from -5 to 5, 50 a row
 *     -1.0 |##########################      |  9193   9.2%
 *
 * A row is named by its lower edge. A bar is between two lines, which show where it begins and ends, in whatever
 * colours. Where columns are few the percentages go first, then counts are rounded, then they go too, and at last the
 * front of labels; the bar always stays.
 */
#include "output/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output/plot_bar.h"
#include "output/plot_label.h"
#include "output/plot_rows.h"

#define COLUMNS_LEAST 20u
#define COLUMNS_MOST 300u
#define COLUMNS_DEFAULT 80u
#define LINES_LEAST 10u
#define LINES_DEFAULT 24u
#define PERCENT_WIDTH 6u /* "100.0%" */
#define ROUND_WIDTH 6u   /* "1.2e19" */
#define ROUND_FROM 1000000u
#define WORDS 1024 /* room for a title or a footer */

enum count_way { COUNTS_EXACT, COUNTS_ROUND, COUNTS_NONE };

/* One picture of all channels. */
struct plot {
	struct output *out;
	const struct hist *hist;
	const struct provenance *from;
	struct picture picture; /* with numbers that can be drawn */
	struct plot_figures figures[LAYOUT_CHANNELS_MAX];
	bool filled; /* there is a channel with a bin that is not empty: then there are rows */
	struct plot_rows rows;
	struct plot_label label;        /* of the rows */
	uint128_t sums[PLOT_ROWS_MOST]; /* of the channel that is drawn */
	uint128_t most;                 /* the largest count of a row, flow rows too, whose bar is all of `bar` */
	/* Of the channel that is drawn: the characters of each part. */
	size_t label_width, count_width, bar;
	enum count_way counts;
	bool percent;
};

/* Words of a title or a footer, which may be broken at blanks. */
struct words {
	char text[WORDS];
	size_t used;
};

static void say(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *w, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	const int n = vsnprintf(w->text + w->used, sizeof(w->text) - w->used, format, ap);
	va_end(ap);
	if (n > 0)
		w->used += (size_t)n;
	if (w->used > sizeof(w->text) - 1)
		w->used = sizeof(w->text) - 1;
}

/* Broken at blanks, and inside words that are longer than a line. Returns the lines; out NULL: only counts them. */
static unsigned wrap(struct output *out, const struct words *w, size_t columns)
{
	const char *p = w->text;
	unsigned lines = 0;

	while (*p) {
		size_t length = strcspn(p, "\n");
		if (length > columns) {
			length = columns;
			while (length > 0 && p[length] != ' ')
				length--;
			length = length > 0 ? length : columns;
		}
		if (out) {
			output_write(out, p, length);
			output_text(out, "\n");
		}
		lines++;
		p += length;
		p += *p == ' ' || *p == '\n';
	}
	return lines;
}

/* An end of the axis: whole numbers as they are, others by six digits. */
static void say_edge(struct words *w, const struct edges *e, uint32_t i)
{
	char text[NUMBER_TEXT];
	const double x = edges_value(e, i);

	edges_format(e, i, text);
	if (text[strspn(text, "-0123456789")] != '\0' && x - x == 0)
		plot_label_round(text, x, 6);
	say(w, "%s", text);
}

/* Bins without rows. */
static void say_cut(struct words *w, uint32_t below, uint32_t above)
{
	const uint32_t sum = below + above;

	say(w, ", not shown: ");
	if (below > 0 && above > 0)
		say(w, "%lu empty below, %lu above", (unsigned long)below, (unsigned long)above);
	else
		say(w, "%lu empty %s", (unsigned long)sum, below > 0 ? "below" : "above");
}

static void title(struct words *w, const struct plot *p, uint32_t channel)
{
	const struct hist *const h = p->hist;
	const uint32_t bins = axis_bins(&h->axis), end = plot_rows_end(&p->rows, bins);
	const uint32_t last = p->rows.rows > 0 ? (end - 1) % p->rows.per + 1 : 0;

	*w = (struct words){.used = 0};
	say(w, "%s", h->axis.type.name);
	if (h->channels > 1)
		say(w, " channel %lu of 0 to %lu", (unsigned long)channel, (unsigned long)h->channels - 1);
	if (p->from->parts > 1)
		say(w, " part %lu of %lu", (unsigned long)p->from->part, (unsigned long)p->from->parts);
	if (p->from->partial)
		say(w, ", PARTIAL, counts so far");
	say(w, ": %lu bin%s", (unsigned long)bins, bins == 1 ? "" : "s");
	if (bins > 0 && h->axis.kind == AXIS_MOD) {
		say(w, " of residues");
	} else if (bins > 0) {
		say(w, " from ");
		say_edge(w, &h->axis.edges, 0);
		say(w, " to ");
		say_edge(w, &h->axis.edges, bins);
	}
	if (!p->filled)
		return;
	if (p->rows.per > 1)
		say(w, ", %lu a row", (unsigned long)p->rows.per);
	if (last != p->rows.per)
		say(w, " (%lu in the last)", (unsigned long)last);
	if (p->picture.log)
		say(w, ", log counts");
	if (p->rows.first > 0 || end < bins)
		say_cut(w, p->rows.first, bins - end);
}

/* Labels of the figures' own: those of the rows may be too coarse for single bins. */
static void label_figures(struct plot_label *label, const struct plot *p, const struct plot_figures *f)
{
	uint32_t bins[PLOT_PLACES + 1];
	size_t n = 0;

	bins[n++] = f->mode;
	for (unsigned i = 0; i < PLOT_PLACES; i++)
		if (f->at[i].where == WHERE_BIN)
			bins[n++] = f->at[i].bin;
	plot_label_choose(label, &p->hist->axis.edges, bins, n, 1);
}

static void say_number(struct words *w, uint128_t n)
{
	char text[NUMBER_TEXT];

	number_format_integer(text, (int128_t)n);
	say(w, "%s", text);
}

/* Is a bin's lower edge its one value? */
static bool is_value(const struct axis *axis)
{
	return axis->edges.exact && axis->edges.width == (int128_t)axis_bins(axis) && axis->type.kind != SAMPLE_FLOAT;
}

static void footer(struct words *w, const struct plot *p, uint32_t channel)
{
	static const char *const NAMES[PLOT_PLACES] = {"min", "5%", "median", "95%", "max"};
	const struct plot_figures *const f = &p->figures[channel];
	struct plot_label label;
	char text[NUMBER_TEXT] = "";

	*w = (struct words){.used = 0};
	say_number(w, f->samples);
	say(w, f->samples == 1 ? " sample" : " samples");
	if (f->samples == 0)
		return;
	say(w, f->filled > 0 ? " in %lu bin%s" : "; all bins are empty", (unsigned long)f->filled,
	    f->filled == 1 ? "" : "s");
	if (f->filled > 0) {
		label_figures(&label, p, f);
		plot_label_text(&label, f->mode, text);
		say(w, "; mode %s (", text);
		say_number(w, f->most);
		say(w, ")");
	}
	for (unsigned i = 0; i < PLOT_PLACES; i++) {
		if (f->at[i].where == WHERE_NONE)
			continue;
		if (f->at[i].where == WHERE_BIN)
			plot_label_text(&label, f->at[i].bin, text);
		else
			snprintf(text, sizeof(text), "%s", f->at[i].where == WHERE_UNDER ? "under" : "over");
		say(w, "%s%s %s", i > 0 ? ", " : is_value(&p->hist->axis) ? "\n" : "\nlower edges: ", NAMES[i], text);
	}
}

/* A line for each row, for under, over and NaN, for the prompt; as few rows as it takes until all of it fits. */
static void fit_rows(struct plot *p)
{
	const struct hist *const h = p->hist;
	uint32_t first = UINT32_MAX, last = 0, most = p->picture.rows;
	struct words words;

	for (uint32_t c = 0; c < h->channels; c++) {
		if (p->figures[c].filled == 0)
			continue;
		first = p->figures[c].first < first ? p->figures[c].first : first;
		last = p->figures[c].last > last ? p->figures[c].last : last;
	}
	p->filled = first <= last;
	for (bool again = p->filled; again;) {
		uint32_t beside = 0;
		most = most < PLOT_ROWS_LEAST ? PLOT_ROWS_LEAST : most > PLOT_ROWS_MOST ? PLOT_ROWS_MOST : most;
		plot_rows_join(&p->rows, &h->axis.edges, first, last, most);
		for (uint32_t c = 0; c < h->channels; c++) {
			title(&words, p, c);
			uint32_t lines = 1 + p->figures[c].flows + wrap(NULL, &words, p->picture.columns);
			footer(&words, p, c);
			lines += wrap(NULL, &words, p->picture.columns);
			beside = lines > beside ? lines : beside;
		}
		/* Fewer rows each time: so it ends. */
		again = p->rows.rows + beside > p->picture.rows && most > PLOT_ROWS_LEAST;
		most = p->picture.rows > beside && p->picture.rows - beside < most ? p->picture.rows - beside
										   : most - 1;
	}
}

static void label_rows(struct plot *p)
{
	uint32_t bins[PLOT_ROWS_MOST];

	for (uint32_t r = 0; r < p->rows.rows; r++)
		bins[r] = p->rows.first + r * p->rows.per;
	plot_label_choose(&p->label, &p->hist->axis.edges, bins, p->rows.rows, p->rows.per);
}

/* Returns the length. */
static size_t count_text(const struct plot *p, uint128_t count, char text[NUMBER_TEXT])
{
	if (p->counts == COUNTS_ROUND && count >= ROUND_FROM)
		return plot_label_round(text, (double)count, 2);
	return number_format_integer(text, (int128_t)count);
}

/* The widths of a channel's columns; rows and sums are known. */
static void lay_out(struct plot *p, uint32_t channel)
{
	const struct hist_flow *const flow = &p->hist->flow[channel];
	const size_t columns = p->picture.columns;
	const struct {
		enum count_way counts;
		bool percent;
		size_t least; /* of the bar */
	} WAYS[] = {
		{COUNTS_EXACT, true, 16}, {COUNTS_EXACT, false, 8}, {COUNTS_ROUND, false, 6}, {COUNTS_NONE, false, 3}};
	char text[NUMBER_TEXT];

	p->label_width = p->filled ? p->label.width : 0;
	if (flow->nan > 0 && p->label_width < 3)
		p->label_width = 3;
	if (flow->over > 0 && p->label_width < 4)
		p->label_width = 4;
	if (flow->under > 0 && p->label_width < 5)
		p->label_width = 5;
	for (size_t i = 0; i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
		p->counts = WAYS[i].counts;
		p->percent = WAYS[i].percent;
		p->count_width = count_text(p, p->most, text);
		if (p->counts == COUNTS_ROUND && p->count_width < ROUND_WIDTH && p->most >= ROUND_FROM)
			p->count_width = ROUND_WIDTH;
		const size_t beside = p->label_width + 3 + (p->counts != COUNTS_NONE ? 1 + p->count_width : 0) +
				      (p->percent ? 1 + PERCENT_WIDTH : 0);
		p->bar = columns > beside ? columns - beside : 0;
		if (p->bar >= WAYS[i].least)
			return;
	}
	p->bar = WAYS[3].least;
	p->label_width = columns - 3 - p->bar;
}

/* One digit after the point; what is not none, or not all, is never said to be. */
static void percent_text(char text[NUMBER_TEXT], uint128_t count, uint128_t samples)
{
	const unsigned thousandth = (unsigned)((count * 1000 + samples / 2) / samples);

	if (count > 0 && thousandth == 0)
		snprintf(text, NUMBER_TEXT, "<0.1%%");
	else if (count < samples && thousandth == 1000)
		snprintf(text, NUMBER_TEXT, ">99.9%%");
	else
		snprintf(text, NUMBER_TEXT, "%u.%u%%", thousandth / 10, thousandth % 10);
}

static void draw_bar(const struct plot *p, uint128_t count, const char *colour)
{
	const unsigned parts = p->picture.utf8 ? 8 : 1;
	const unsigned length = plot_bar_length(count, p->most, (unsigned)p->bar * parts, p->picture.log);
	const char *const line = p->picture.utf8 ? "\u2502" : "|";
	const bool coloured = p->picture.colour && length > 0;
	size_t drawn = 0;

	output_text(p->out, line);
	if (coloured)
		output_text(p->out, colour);
	for (; drawn < length / parts; drawn++)
		output_text(p->out, p->picture.utf8 ? "\u2588" : "#");
	if (length % parts > 0) {
		/* From seven eighths, U+2589, to one, U+258F. */
		const char block[4] = {'\xe2', '\x96', (char)(0x90 - length % parts), '\0'};
		output_text(p->out, block);
		drawn++;
	}
	if (coloured)
		output_text(p->out, "\033[0m");
	for (; drawn < p->bar; drawn++)
		output_text(p->out, " ");
	output_text(p->out, line);
}

static void draw_row(const struct plot *p, const char *label, uint128_t count, uint128_t samples, const char *colour)
{
	char line[2 * NUMBER_TEXT], text[NUMBER_TEXT];
	const size_t length = strlen(label), cut = length > p->label_width ? length - p->label_width + 1 : 0;

	snprintf(line, sizeof(line), "%s%*s ", cut > 0 ? "~" : "", cut > 0 ? 0 : (int)p->label_width, label + cut);
	output_text(p->out, line);
	draw_bar(p, count, colour);
	if (p->counts != COUNTS_NONE) {
		count_text(p, count, text);
		snprintf(line, sizeof(line), " %*s", (int)p->count_width, text);
		output_text(p->out, line);
	}
	if (p->percent) {
		percent_text(text, count, samples);
		snprintf(line, sizeof(line), " %*s", (int)PERCENT_WIDTH, text);
		output_text(p->out, line);
	}
	output_text(p->out, "\n");
}

static void draw_channel(struct plot *p, uint32_t channel)
{
	static const char BINS_COLOUR[] = "\033[36m", FLOW_COLOUR[] = "\033[33m";
	const struct plot_figures *const f = &p->figures[channel];
	const struct hist_flow *const flow = &p->hist->flow[channel];
	char label[NUMBER_TEXT];
	struct words words;

	title(&words, p, channel);
	wrap(p->out, &words, p->picture.columns);
	p->most = flow->under > flow->over ? flow->under : flow->over;
	p->most = flow->nan > p->most ? flow->nan : p->most;
	if (f->filled > 0)
		plot_rows_sum(p->sums, &p->rows, p->hist, channel);
	for (uint32_t r = 0; f->filled > 0 && r < p->rows.rows; r++)
		p->most = p->sums[r] > p->most ? p->sums[r] : p->most;
	lay_out(p, channel);
	if (flow->under > 0)
		draw_row(p, "under", flow->under, f->samples, FLOW_COLOUR);
	for (uint32_t r = 0; f->filled > 0 && r < p->rows.rows; r++) {
		plot_label_text(&p->label, p->rows.first + r * p->rows.per, label);
		draw_row(p, label, p->sums[r], f->samples, BINS_COLOUR);
	}
	if (flow->over > 0)
		draw_row(p, "over", flow->over, f->samples, FLOW_COLOUR);
	if (flow->nan > 0)
		draw_row(p, "nan", flow->nan, f->samples, FLOW_COLOUR);
	footer(&words, p, channel);
	wrap(p->out, &words, p->picture.columns);
}

static unsigned within(unsigned n, unsigned none, unsigned least, unsigned most)
{
	return n == 0 ? none : n < least ? least : n > most ? most : n;
}

void write_plot(struct output *out, const struct hist *hist, const struct style *style, const struct provenance *from)
{
	struct plot p = {.out = out, .hist = hist, .from = from, .picture = style->picture};

	p.picture.columns = within(p.picture.columns, COLUMNS_DEFAULT, COLUMNS_LEAST, COLUMNS_MOST);
	p.picture.rows = within(p.picture.rows, LINES_DEFAULT, LINES_LEAST, PLOT_ROWS_MOST);
	for (uint32_t c = 0; c < hist->channels; c++)
		plot_figures(&p.figures[c], hist, c);
	fit_rows(&p);
	if (p.filled)
		label_rows(&p);
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		if (c > 0)
			output_text(out, "\n");
		draw_channel(&p, c);
	}
}
