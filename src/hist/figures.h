/* SPDX-License-Identifier: MIT */
/*
 * figures: the list of figures of --stats, their values, and these as text.
 *
 * To add a figure, add a row to FIGURES and a line to figure_values. A row has the figure's name in
 * each output, "" if it is not there; all outputs follow the order of the rows. A figure that has
 * another position in some outputs gets a second row there, PLACE.
 */
#ifndef GPUHIST_HIST_FIGURES_H
#define GPUHIST_HIST_FIGURES_H

#include "hist/hist.h"

/* clang-format off */
/*      figure              csv, prom    JSON                 report        columns    rule */
#define FIGURES(FIGURE, PLACE)                                                                             \
	FIGURE(SAMPLES,      "samples",   "",                  "",           "samples", 7)                 \
	FIGURE(UNDER,        "under",     "",                  "",           "",        0)                 \
	FIGURE(OVER,         "over",      "",                  "",           "",        0)                 \
	FIGURE(COUNT,        "",          "stats_count",       "count",      "",        0)                 \
	FIGURE(OUTSIDE,      "",          "",                  "outside",    "",        HIDE_ZERO)         \
	FIGURE(BELOW,        "",          "stats_minus_inf",   "-inf",       "",        HIDE_ZERO | REALS) \
	FIGURE(ABOVE,        "",          "stats_plus_inf",    "inf",        "",        HIDE_ZERO | REALS) \
	FIGURE(NAN,          "nan",       "",                  "nan",        "",        HIDE_ZERO | GAUGE) \
	FIGURE(ZEROS,        "zeros",     "stats_zeros",       "zeros",      "",        HIDE_NONE | GAUGE) \
	FIGURE(LEAST,        "min",       "stats_minimum",     "minimum",    "min",     1 | GAUGE)         \
	FIGURE(AT_LEAST,     "at_min",    "stats_at_minimum",  "at minimum", "",        GAUGE)             \
	FIGURE(GREATEST,     "max",       "stats_maximum",     "maximum",    "max",     2 | GAUGE)         \
	FIGURE(AT_GREATEST,  "at_max",    "stats_at_maximum",  "at maximum", "",        GAUGE)             \
	FIGURE(MEAN,         "mean",      "stats_mean",        "mean",       "mean",    3)                 \
	FIGURE(DEVIATION,    "std",       "stats_std",         "std",        "std",     4 | GAUGE)         \
	FIGURE(ENTROPY,      "entropy",   "stats_entropy",     "entropy",    "entropy", 6 | GAUGE)         \
	PLACE(ZEROS,         "",          "",                  "",           "zeros",   6 | SHARE)         \
	PLACE(NAN,           "",          "",                  "",           "nan",     8 | SHARE)         \
	PLACE(INF,           "",          "",                  "",           "inf",     9 | SHARE)         \
	FIGURE(QUANTILE,     "%s%%",      "stats_quantile_%s", "%s%%",       "%s%%",    0)                 \
	FIGURE(NEVER_HIT,    "never_hit", "stats_never_hit",   "never hit",  "",        GAUGE)             \
	FIGURE(INF,          "inf",       "",                  "",           "",        GAUGE)             \
	FIGURE(CHI2,         "chi2",      "stats_chi2",        "chi2",       "chi2",    9 | GAUGE)
/* clang-format on */

/* The rule of a row. */
enum {
	FIGURE_WORTH = 15, /* aligned columns: its turn to get a column, 1 first */
	NAMED_WORTH = 5,   /* the turn of quantiles that the user named; others are last */
	HIDE_ZERO = 16,    /* report: left out if it is 0 */
	HIDE_NONE = 32,    /* report: left out if it is 0 and no sample is finite */
	REALS = 64,        /* JSON: only of float types, and not from bins */
	SHARE = 128,       /* aligned columns: a count, as a percentage of the samples */
	GAUGE = 256,       /* prom: a gauge, with the name in CSV */
};

#define FIGURE_ID(id, ...) FIGURE_##id,
#define FIGURE_NOTHING(...)
enum figure_id { FIGURES(FIGURE_ID, FIGURE_NOTHING) FIGURE_IDS };

/* The outputs that show figures; a row has a name for each. */
enum figure_place { IN_CSV, IN_JSON, IN_REPORT, IN_COLUMNS, FIGURE_PLACES };

struct figure_value {
	enum {
		VALUE_NONE, /* undefined or unknown */
		VALUE_COUNT,
		VALUE_WHOLE,
		VALUE_REAL,
		VALUE_ROUNDED, /* a real number that is rounded, even if it looks whole */
		VALUE_FIXED,   /* a real number with six decimals */
	} kind;
	union {
		uint64_t count;
		int64_t whole;
		double real;
	};
};

struct figure {
	const struct figure_row {
		enum figure_id id;
		const char *name[FIGURE_PLACES];
		unsigned rule;
	} * row;
	unsigned quantile; /* FIGURE_QUANTILE: which one */
	struct figure_value value;
};

/*
 * List the figures of a channel with statistics in the order of an output; return their number. If
 * hist is NULL, they have no values, only names.
 */
#define FIGURES_MOST (32 + QUANTILES_MAX)
size_t figures_list(struct figure f[FIGURES_MOST], enum figure_place place,
		    const struct quantiles *asked, const struct hist *hist, uint32_t channel);

/* The name of a figure in an output; `text` holds the name of a quantile. */
const char *figure_name(char text[NUMBER_TEXT], const struct figure *f, enum figure_place place,
			const struct quantiles *asked);

/* Compute all figures; quantiles are VALUE_NONE here, and come from figure_quantile. */
void figure_values(struct figure_value value[FIGURE_IDS], const struct hist *hist,
		   uint32_t channel);
struct figure_value figure_quantile(const struct hist *hist, uint32_t channel, unsigned i);

/* Format a value in full; "" for VALUE_NONE. */
size_t figure_format(char text[NUMBER_TEXT], struct figure_value value);

/* The gauges of prom: call put for each in turn, with its name and number in figure_values. */
void figures_gauges(void (*put)(void *to, const char *name, enum figure_id id), void *to);

/* The nearest binary64; 0 for VALUE_NONE. */
double figure_real(struct figure_value value);

#endif
