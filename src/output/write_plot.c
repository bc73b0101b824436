/* SPDX-License-Identifier: MIT */
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

#include <stdio.h>
#include <string.h>

#include "output/plot_bar.h"
#include "output/plot_label.h"
#include "output/plot_rows.h"
#include "output/plot_words.h"

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
	struct edges edges;             /* plot_rows_edges of them */
	struct plot_label label;        /* of the rows, by these edges */
	uint128_t sums[PLOT_ROWS_MOST]; /* of the channel that is drawn */
	/* the largest count of a row, also of under, over and NaN; its bar has the full length */
	uint128_t most;
	/* For the channel that is being drawn: the width of each part in characters. */
	size_t label_width, count_width, bar;
	enum count_way counts;
	bool percent;
};

/*
 * Chooses how many rows there are: as many as fit the screen with a line for each of under, over
 * and NaN, the texts and the prompt.
 */
static void fit_rows(struct plot *p)
{
	const struct hist *const h = p->hist;
	uint32_t first = UINT32_MAX, last = 0, most = p->picture.rows;
	struct plot_words words;

	for (uint32_t c = 0; c < h->channels; c++) {
		if (p->figures[c].filled == 0)
			continue;
		first = p->figures[c].first < first ? p->figures[c].first : first;
		last = p->figures[c].last > last ? p->figures[c].last : last;
	}
	p->filled = first <= last;
	for (bool again = p->filled; again;) {
		uint32_t beside = 0;
		most = most < PLOT_ROWS_LEAST  ? PLOT_ROWS_LEAST
		       : most > PLOT_ROWS_MOST ? PLOT_ROWS_MOST
					       : most;
		plot_rows_join(&p->rows, &h->axis, first, last, most);
		for (uint32_t c = 0; c < h->channels; c++) {
			plot_title(&words, h, p->from, &p->rows, p->picture.log, c);
			uint32_t lines = 1 + p->figures[c].flows +
					 plot_wrap(NULL, &words, p->picture.columns);
			plot_footer(&words, h, &p->figures[c]);
			lines += plot_wrap(NULL, &words, p->picture.columns);
			beside = lines > beside ? lines : beside;
		}
		/* There are fewer rows each time, so this ends. */
		again = p->rows.rows + beside > p->picture.rows && most > PLOT_ROWS_LEAST;
		most = p->picture.rows > beside && p->picture.rows - beside < most
			       ? p->picture.rows - beside
			       : most - 1;
	}
}

/* The edge in the label of row r. */
static uint32_t edge_of(const struct plot *p, uint32_t r)
{
	return (p->rows.skip + r) * p->rows.per;
}

static void label_rows(struct plot *p)
{
	uint32_t bins[PLOT_ROWS_MOST];

	for (uint32_t r = 0; r < p->rows.rows; r++)
		bins[r] = edge_of(p, r);
	p->edges = plot_rows_edges(&p->rows, &p->hist->axis);
	plot_label_choose(&p->label, &p->edges, bins, p->rows.rows, p->rows.per, true);
}

/* Returns the length. */
static size_t count_text(const struct plot *p, uint128_t count, char text[NUMBER_TEXT])
{
	if (p->counts == COUNTS_ROUND && count >= ROUND_FROM)
		return plot_label_exponent(text, (double)count, 2);
	return number_format_integer(text, (int128_t)count);
}

/* Sets the widths of a channel's columns; rows and sums are known. */
static void lay_out(struct plot *p, uint32_t channel)
{
	const struct hist_flow *const flow = &p->hist->flow[channel];
	const size_t columns = p->picture.columns;
	const struct {
		enum count_way counts;
		bool percent;
		size_t least; /* the shortest useful bar */
	} WAYS[] = {{COUNTS_EXACT, true, 16},
		    {COUNTS_EXACT, false, 8},
		    {COUNTS_ROUND, false, 6},
		    {COUNTS_NONE, false, 3}};
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
		if (p->counts == COUNTS_ROUND && p->count_width < ROUND_WIDTH &&
		    p->most >= ROUND_FROM)
			p->count_width = ROUND_WIDTH;
		const size_t beside = p->label_width + 3 +
				      (p->counts != COUNTS_NONE ? 1 + p->count_width : 0) +
				      (p->percent ? 1 + PERCENT_WIDTH : 0);
		p->bar = columns > beside ? columns - beside : 0;
		if (p->bar >= WAYS[i].least)
			return;
	}
	p->bar = WAYS[3].least;
	p->label_width = columns - 3 - p->bar;
}

/*
 * One digit after the point; a row that is not empty is never "0.0%", and one that is not all never
 * "100.0%".
 */
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
	const unsigned length =
		plot_bar_length(count, p->most, (unsigned)p->bar * parts, p->picture.log);
	const char *const line = p->picture.utf8 ? "\u2502" : "|";
	const bool coloured = p->picture.colour && length > 0;
	size_t drawn = 0;

	output_text(p->out, line);
	if (coloured)
		output_text(p->out, colour);
	for (; drawn < length / parts; drawn++)
		output_text(p->out, p->picture.utf8 ? "\u2588" : "#");
	if (length % parts > 0) {
		/* From seven eighths, U+2589, down to one, U+258F. */
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

static void draw_row(const struct plot *p, const char *label, uint128_t count, uint128_t samples,
		     const char *colour)
{
	char line[2 * NUMBER_TEXT], text[NUMBER_TEXT];
	const size_t length = strlen(label),
		     cut = length > p->label_width ? length - p->label_width + 1 : 0;

	snprintf(line, sizeof(line), "%s%*s ", cut > 0 ? "~" : "",
		 cut > 0 ? 0 : (int)p->label_width, label + cut);
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
	struct plot_words words;

	plot_title(&words, p->hist, p->from, &p->rows, p->picture.log, channel);
	plot_wrap(p->out, &words, p->picture.columns);
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
		plot_label_text(&p->label, edge_of(p, r), label);
		draw_row(p, label, p->sums[r], f->samples, BINS_COLOUR);
	}
	if (flow->over > 0)
		draw_row(p, "over", flow->over, f->samples, FLOW_COLOUR);
	if (flow->nan > 0)
		draw_row(p, "nan", flow->nan, f->samples, FLOW_COLOUR);
	plot_footer(&words, p->hist, f);
	plot_wrap(p->out, &words, p->picture.columns);
}

static unsigned within(unsigned n, unsigned none, unsigned least, unsigned most)
{
	return n == 0 ? none : n < least ? least : n > most ? most : n;
}

void write_plot(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
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
