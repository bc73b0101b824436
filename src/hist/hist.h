/* SPDX-License-Identifier: MIT */
/*
 * hist: the finished histogram: its axis, exact counts, what was out of range, the audit.
 *
 * A histogram stands alone: to write it, report on it or add it to another nothing of the run is
 * needed. Each channel has counts of its own over the one axis.
 */
#ifndef GPUHIST_HIST_H
#define GPUHIST_HIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/axis.h"
#include "count/counts.h"
#include "count/layout.h"
#include "count/stats.h"
#include "hist/codebook.h"

/* Samples of one channel that are in no bin. */
struct hist_flow {
	uint64_t under, over, nan;
};

/* Which quantiles --stats asks for, in units of 10^-4 per cent. */
#define QUANTILES_MAX 128u
#define QUANTILE_ALL 1000000u /* 100 per cent */
struct quantiles {
	unsigned n;
	uint32_t at[QUANTILES_MAX]; /* rising, from 0 to QUANTILE_ALL */
};

enum hist_quantile_kind {
	QUANTILE_NONE,  /* there is no finite sample, or bins have no order */
	QUANTILE_VALUE, /* a value: 8- and 16-bit types */
	QUANTILE_BIN,   /* the bin that holds it: other types, whose samples are not kept */
	QUANTILE_UNDER, /* it is in no bin, but below all of them; OVER: above them */
	QUANTILE_OVER,
};

/* A quantile: the smallest finite sample such that the share asked for is not above it. */
struct hist_quantile {
	enum hist_quantile_kind kind;
	double value; /* VALUE: never -0 */
	uint32_t bin; /* BIN */
	/* BIN: how many of its finite samples the share asked for takes, of 1 */
	double part;
};

/* What --stats says of one channel's finite samples. */
struct hist_stats {
	struct stats_result of;
	/* types of up to 16 bits: samples that equal the extremes, values between them without any */
	uint64_t at_least, at_greatest, never_hit;
	/*
	 * In bits, of the codes of 8- and 16-bit types, or of the bins where codes are not known.
	 * Negative: nothing was counted in these.
	 */
	double entropy;
	struct hist_quantile quantile[QUANTILES_MAX];
};

struct hist {
	struct axis axis;
	uint32_t channels; /* 1 to LAYOUT_CHANNELS_MAX */
	uint64_t *count;   /* all bins of one channel before those of the next; owned */
	size_t stride;     /* from a channel's first bin to the next one's */
	struct hist_flow flow[LAYOUT_CHANNELS_MAX];
	struct hist_flow
		clamped[LAYOUT_CHANNELS_MAX]; /* by a run; of --auto always: in the end bins */
	uint64_t samples; /* of all channels, as the workers counted them while they read */
	bool extent; /* least, greatest are known: finite values of a run of an 8- or 16-bit type */
	double least, greatest;
	struct hist_stats *stats; /* --stats: figures of each channel; owned; else NULL */
	struct quantiles asked;   /* the quantiles in stats */
	bool binned; /* stats are from the bins alone: without extremes, mean and std */
};

/* For counts below ENTROPY_TERMS, what they add to the entropy of n samples; 0: not known yet. */
#define ENTROPY_TERMS 1024u
struct entropy_terms {
	uint64_t n;
	double of[ENTROPY_TERMS];
};

/* Memory that hist_fill works in, one thread at a time; freed by free(). */
struct hist_scratch {
	struct entropy_terms terms;
	uint16_t seen[]; /* codes that were counted, in the order of values */
};

/* NULL: no memory. */
struct hist_scratch *hist_scratch_new(const struct sample_type *type);
size_t hist_scratch_bytes(const struct sample_type *type);

/*
 * Makes a histogram over a copy of this axis. Takes the memory that hist_fill will need now, before
 * hours are spent on reading.
 */
int hist_reserve(struct hist *h, const struct axis *axis, uint32_t channels, struct fail *fail);

/*
 * After hist_reserve, for --stats: hist_fill will need counts that keep them (counts_keep_stats).
 */
int hist_keep_stats(struct hist *h, const struct quantiles *asked, struct fail *fail);

/*
 * Takes the totals of a finished run and leaves counts empty. Codes are binned here, packed ones
 * after they were taken out of their bytes; the edge cell is added to the cell that struct edges
 * names; where the axis clamps, under and over are added to the first and the last bin.
 */
void hist_fill(struct hist *h, struct counts *counts, const struct codebook *book,
	       struct hist_scratch *scratch);

/*
 * For rows (--each), whose range is known before: makes h the histogram of a row's counts, in the
 * same h->count for every row, and moves the counts to the totals: they are 0 afterwards.
 *
 * Where a row has few samples of 16 bits, the caller may mark their codes by hist_mark, so that not
 * all are gone over: marks has HIST_MARKS words for each channel, 0 afterwards. Else it is NULL.
 */
#define HIST_MARKS (65536u / 64u)
void hist_fill_row(struct hist *h, struct counts *counts, struct counts *totals,
		   const struct codebook *book, struct hist_scratch *scratch, uint64_t *marks);

/* place: codebook_place of the code. */
static inline void hist_mark(uint64_t *marks, uint32_t place)
{
	marks[place / 64] |= (uint64_t)1 << place % 64;
}

/*
 * Adds a histogram to another over the same axis (axis_fits) with the same channels, where
 * both hold their audit; the sum has no statistics. Two of --auto for the same number of bins
 * become the histogram of all their samples. -1, and h is as it was: the samples are more than
 * 2^64 - 1 (STATUS_LIMIT), or there is no memory.
 */
int hist_add(struct hist *h, const struct hist *more, struct fail *fail);

/*
 * Makes of a document's histogram the one that a run with -b `bins` would have counted, as far as
 * the edges of both agree to the bit: neighbouring bins are added, with --mod those of the same
 * residue, and --auto gets a larger k. -1: that many cannot be made of its bins (STATUS_USAGE), or
 * there is no memory; h is as it was.
 */
int hist_rebin(struct hist *h, uint32_t bins, struct fail *fail);

/*
 * --stats of a histogram whose samples are gone: how many they are, the entropy of the bins, and
 * the bins of the quantiles. Infinities are known from other samples that are out of range only
 * with --auto; else they count as samples.
 */
int hist_set_stats(struct hist *h, const struct quantiles *asked, struct fail *fail);

/* Frees what hist_reserve or hist_fill left. */
void hist_free(struct hist *h);

/* Checks that bins + under + over + nan = samples; else STATUS_INTERNAL. */
int hist_audit(const struct hist *h, struct fail *fail);

static inline uint64_t hist_count(const struct hist *h, uint32_t channel, uint32_t bin)
{
	return h->count[channel * h->stride + bin];
}

/* Does any channel have samples in this bin? */
static inline bool hist_is_filled(const struct hist *h, uint32_t bin)
{
	for (uint32_t c = 0; c < h->channels; c++)
		if (hist_count(h, c, bin) > 0)
			return true;
	return false;
}

struct hist_flow hist_flow_sum(const struct hist *h);

/* How many bins hold more than `most`; how many of the channels' under, over and NaN do. */
uint64_t hist_exceeding(const struct hist *h, uint64_t most);
uint64_t hist_rows_exceeding(const struct hist *h, uint64_t most);

/* The least or the greatest finite sample of a channel with statistics, as text. */
void hist_stats_format_extreme(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel,
			       bool greatest);

/* The share of quantile i in percent, as in "99.9". */
void quantile_name(char text[NUMBER_TEXT], const struct quantiles *asked, unsigned i);

/*
 * Quantile i, which must exist, as one number: interpolated linearly in its bin, of integers from its
 * first whole number to its last, but not beyond the extremes. "": it is in no bin, or that has no end.
 */
void hist_stats_format_number(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel,
			      unsigned i);

/*
 * Two numbers between which quantile i is, which must exist: its value twice, or its bin's ends.
 * Where an end is infinite, or the bin may hold samples beyond it, the least or the greatest sample
 * takes its place, or an infinity if these are not known. True: the quantile may equal the upper
 * number; false: it is below that.
 */
bool hist_stats_format_quantile(char lower[NUMBER_TEXT], char upper[NUMBER_TEXT],
				const struct hist *h, uint32_t channel, unsigned i);

#endif
