/* SPDX-License-Identifier: MIT */
/* report_figures: tables of figures on stderr, a column per channel, and lines of --linearity. */
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/msg.h"
#include "each/formats.h"
#include "each/list.h"
#include "hist/compare.h"
#include "hist/figures.h"
#include "hist/series.h"
#include "output/picture.h"

/* ---- --stats ---- */

/*
 * Format a figure for people: six digits, except whole numbers. A rounded number from 10^15 on looks
 * whole although its last digits say nothing.
 */
static void figure_short(char text[NUMBER_TEXT], struct figure_value value)
{
	const size_t length = figure_format(text, value);

	if (length > 0 && value.kind != VALUE_FIXED &&
	    (!edge_is_whole(text) || (value.kind == VALUE_ROUNDED && length > 15)))
		snprintf(text, NUMBER_TEXT, "%.6g", figure_real(value));
}

/* A table with a column for each channel: the names of its rows, and their cells, perhaps "". */
struct channel_table {
	const char *title;
	int width; /* of the names */
	size_t rows;
	void (*name)(char text[NUMBER_TEXT], const struct hist *hist, size_t row);
	void (*cell)(char text[NUMBER_TEXT], const struct hist *hist, uint32_t channel, size_t row);
};

static void figures_name(char text[NUMBER_TEXT], const struct hist *hist, size_t row)
{
	struct figure f[FIGURES_MOST];
	char name[NUMBER_TEXT];

	(void)figures_list(f, IN_REPORT, &hist->asked, NULL, 0);
	const bool missing =
		row > 0 && f[row - 1].row->id == FIGURE_NAN && hist->axis.type.kind != SAMPLE_FLOAT;
	strcpy(text, row == 0  ? series_head(hist)
		     : missing ? "missing"
			       : figure_name(name, &f[row - 1], IN_REPORT, &hist->asked));
}

/* The name of a channel among several. */
static void name_cell(char text[NUMBER_TEXT], const struct hist *hist, uint32_t channel)
{
	char number[NUMBER_TEXT];

	picture_shorten(text, NUMBER_TEXT,
			series_many(hist) ? series_name(hist, channel, number) : "",
			NUMBER_TEXT - 1, "...");
}

/* Format a cell of the table; may be "". */
static void figures_cell(char text[NUMBER_TEXT], const struct hist *hist, uint32_t channel,
			 size_t row)
{
	const unsigned hidden =
		hist->stats[channel].of.number > 0 ? HIDE_ZERO : HIDE_ZERO | HIDE_NONE;
	struct figure f[FIGURES_MOST];

	text[0] = '\0';
	if (row == 0) {
		name_cell(text, hist, channel);
		return;
	}
	(void)figures_list(f, IN_REPORT, &hist->asked, hist, channel);
	if (!(f[row - 1].row->rule & hidden && figure_real(f[row - 1].value) == 0))
		figure_short(text, f[row - 1].value);
}

/* Print a row for channels first .. end - 1, unless all its cells are empty. */
static void report_row(const struct channel_table *t, const struct hist *hist, uint32_t first,
		       uint32_t end, size_t row, int width)
{
	char name[NUMBER_TEXT], cell[NUMBER_TEXT], line[FAIL_TEXT];
	size_t used = 0, said = 0;

	for (uint32_t c = first; c < end; c++) {
		t->cell(cell, hist, c, row);
		said += strlen(cell);
		used += (size_t)snprintf(line + used, sizeof(line) - used, "  %-*s",
					 c + 1 < end ? width : 0, *cell ? cell : "-");
	}
	t->name(name, hist, row);
	if (said > 0)
		msg_always("%s: %-*s%s", t->title, t->width, name, line);
}

/*
 * Print a line for each channel, as many as have columns in a table, unless the output has the
 * figures of all.
 */
static void report_list(const struct job *job, const struct hist *hist)
{
	const uint32_t left =
		layout_is_many(hist->channels) ? hist->channels - LAYOUT_CHANNELS_FEW : 0;
	struct hist some = *hist;
	struct fail lost = {.status = STATUS_OK};
	struct style style = job->style;
	struct output *out;

	if (!job->output_none && job->format->list && job->format->can & CAN_FIGURES)
		return;
	if (output_open(&out, "/dev/stderr", &lost) != 0)
		return;
	msg_progress("");
	terminal_canvas(&style.canvas, STDERR_FILENO, job->color);
	some.channels -= left;
	if (left > 0 && !hist->own)
		some.samples -= left * hist_samples(hist, 0);
	list_table(out, &some, &style);
	(void)output_commit(out, &lost);
	if (left > 0)
		msg_always("%lu more %s%s; csv, tsv and json have the statistics of all",
			   (unsigned long)left, series_head(hist), left == 1 ? "" : "s");
}

/* Print a table, with as many channels side by side as fit on the terminal. */
static void report_channels(const struct channel_table *t, const struct hist *hist)
{
	const int columns =
		(int)msg_columns() - (int)strlen(t->title) - (int)strlen(": ") - t->width;
	int longest = 1;
	char cell[NUMBER_TEXT];

	for (uint32_t c = 0; c < hist->channels; c++)
		for (size_t row = 0; row < t->rows; row++) {
			t->cell(cell, hist, c, row);
			longest = (int)strlen(cell) > longest ? (int)strlen(cell) : longest;
		}
	const uint32_t each = columns > longest + 2 ? (uint32_t)(columns / (longest + 2)) : 1;
	for (uint32_t first = 0; first < hist->channels; first += each) {
		const uint32_t left = hist->channels - first;
		for (size_t row = 0; row < t->rows; row++)
			report_row(t, hist, first, first + (left < each ? left : each), row,
				   longest);
	}
}

/* Does -q leave a table to the JSON, which has its figures? */
static bool json_has_them(const struct job *job)
{
	return job->voice == VOICE_QUIET && job->format->can & IS_DOCUMENT && !job->output_none;
}

void report_stats(const struct job *job, const struct hist *hist)
{
	struct figure f[FIGURES_MOST];
	struct channel_table table = {"stats", 10, 1, figures_name, figures_cell};

	const bool written = job->style.binless && !job->output_none && job->format->list;

	/* A document's figures may have been added although nobody asked for them. */
	if (!hist->stats || !job->tabled || written || json_has_them(job))
		return;
	table.rows += figures_list(f, IN_REPORT, &hist->asked, NULL, 0);
	if (hist_is_list(hist))
		report_list(job, hist);
	else
		report_channels(&table, hist);
	if (hist->rounded)
		msg_always(
			"stats: mean and std are to within rounding, because not all documents "
			"have exact sums (version 0.5 writes them)");
}

/* ---- --compare ---- */

enum compared_row { COMPARED_CHANNEL, COMPARED_KS, COMPARED_AT, COMPARED_MOVED, COMPARED_BITS };

static void compared_name(char text[NUMBER_TEXT], const struct hist *hist, size_t row)
{
	static const char *const NAMES[] = {"", "KS", "KS at", "Wasserstein", "JS, bits"};

	strcpy(text, row == COMPARED_CHANNEL ? series_head(hist) : NAMES[row]);
}

static void compared_cell(char text[NUMBER_TEXT], const struct hist *hist, uint32_t channel,
			  size_t row)
{
	const struct comparison *const c = &hist->compared[channel];
	const double x = row == COMPARED_KS      ? c->ks
			 : row == COMPARED_AT    ? c->at
			 : row == COMPARED_MOVED ? c->wasserstein
						 : c->divergence;

	text[0] = '\0';
	if (row == COMPARED_CHANNEL)
		name_cell(text, hist, channel);
	else if (row > COMPARED_CHANNEL && !isnan(x))
		snprintf(text, NUMBER_TEXT, "%.6g", x);
}

/* Warn about keys that only one side of a comparison has. */
static void warn_lacking(const struct hist *hist, const struct hist *from, const char *where)
{
	uint32_t first = 0;
	const uint32_t n = hist_keys_lacking(hist, from, &first);

	if (n > 0)
		msg_warning(COUNTED " %s not in %s, such as %.60s", COUNT(n, "key"),
			    n == 1 ? "is" : "are", where, from->name[first]);
}

void report_comparison(const struct job *job, const struct hist *hist)
{
	const struct channel_table table = {"compare", 11, COMPARED_BITS + 1, compared_name,
					    compared_cell};

	uint32_t worst;

	if (!hist->compared || json_has_them(job))
		return;
	if (!hist_is_list(hist)) {
		report_channels(&table, hist);
		return;
	}
	warn_lacking(job->reference, hist, job->compare);
	warn_lacking(hist, job->reference, "these inputs");
	comparison_worst(hist, &worst);
	for (size_t row = 0; row < table.rows; row++)
		report_row(&table, hist, worst, worst + 1, row, 0);
}

/* ---- --linearity ---- */

static void describe_worst(char text[80], const struct hist *hist, const double *values,
			   uint32_t bin)
{
	char code[NUMBER_TEXT];

	edges_format(&hist->axis.edges, bin, code);
	snprintf(text, 80, "%.3f at %.20s", values[bin], code);
}

#define CODE_TEXT 24
#define MISSING_NAMED 10
#define MISSING_LIST (MISSING_NAMED * CODE_TEXT + 8)

/* Format the first missing codes as ": 12, 40, ..."; "": no code is missing. */
static void name_missing(char text[MISSING_LIST], const struct hist *hist, uint32_t channel)
{
	const struct linearity *const l = &hist->linearity[channel];
	char code[NUMBER_TEXT];
	unsigned named = 0;

	*text = '\0';
	for (uint32_t i = l->first + 1; i < l->last && named <= MISSING_NAMED; i++) {
		if (hist_count(hist, channel, i) > 0)
			continue;
		edges_format(&hist->axis.edges, i, code);
		text += snprintf(text, CODE_TEXT, "%s%.20s", named == 0 ? ": " : ", ",
				 named == MISSING_NAMED ? "..." : code);
		named++;
	}
}

void report_linearity(const struct hist *hist)
{
	char dnl[80], inl[80], missing[MISSING_LIST], label[SERIES_LABEL + 2];
	char first[NUMBER_TEXT], last[NUMBER_TEXT];

	for (uint32_t c = 0; c < hist->channels && hist->linearity; c++) {
		const struct linearity *const l = &hist->linearity[c];
		const uint32_t bins = axis_bins(&hist->axis);
		describe_worst(dnl, hist, l->dnl, l->worst_dnl);
		describe_worst(inl, hist, l->inl, l->worst_inl);
		edges_format(&hist->axis.edges, l->first, first);
		edges_format(&hist->axis.edges, l->last, last);
		name_missing(missing, hist, c);
		if (*series_label(label, hist, c))
			strcat(label, ": ");
		msg_always(
			"linearity: %sDNL %s, INL %s, standard error of DNL %.2g; "
			"codes %s to %s of %lu, " COUNTED "%s",
			label, dnl, inl, l->error, first, last, (unsigned long)bins,
			COUNT(l->missing, "missing code"), missing);
		if (2 * (l->last - l->first + 1) < bins)
			msg_warning(
				"linearity: %sthe signal reached only %lu of %lu codes; a "
				"larger one would measure the others",
				label, (unsigned long)(l->last - l->first + 1),
				(unsigned long)bins);
	}
}
