/* SPDX-License-Identifier: MIT */
/*
 * hist: the finished histogram: its axis, exact counts, what was out of range, and the audit.
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
#include "bins/layout.h"
#include "count/counts.h"
#include "hist/hist_stats.h"

/* Samples of one channel that are in no bin. */
struct hist_flow {
	uint64_t under, over, nan;
};

struct hist {
	struct axis axis;
	uint32_t channels; /* 1 to LAYOUT_CHANNELS_MAX */
	uint64_t *count;   /* all bins of one channel before those of the next; owned */
	/* entries from a channel's first bin to the next one's, at least the bins */
	size_t stride;
	struct hist_flow flow[LAYOUT_CHANNELS_MAX];
	struct hist_flow clamped[LAYOUT_CHANNELS_MAX]; /* --auto: samples that were clamped into the
							  first and the last bin */
	/* of all channels, as the workers counted them while they read */
	uint64_t samples;
	/* Of types that are counted by their codes: the least and the greatest finite value. */
	bool extent;
	double least, greatest;
	struct hist_stats *stats; /* NULL, or of each channel: --stats; owned */
};

/*
 * Makes a histogram over a copy of this axis. Takes the memory that hist_fill will need now, before
 * hours are spent on reading.
 */
int hist_reserve(struct hist *h, const struct axis *axis, uint32_t channels, struct fail *fail);

/*
 * After hist_reserve: hist_fill will keep statistics. The counts that it takes must keep them too
 * (counts_keep_stats).
 */
int hist_keep_stats(struct hist *h, struct fail *fail);

static inline uint64_t hist_count(const struct hist *h, uint32_t channel, uint32_t bin)
{
	return h->count[channel * h->stride + bin];
}

/* The sum over all channels. */
struct hist_flow hist_flow_sum(const struct hist *h);

/*
 * Takes the totals of a finished run and leaves counts empty. Codes are binned here; the edge cell
 * is folded; where the axis clamps, under and over are added to the first and the last bin.
 */
void hist_fill(struct hist *h, struct counts *counts);

/*
 * Adds a histogram to another over the same axis; the sum has no statistics. Two of --auto for the
 * same number of bins become the histogram of all their samples. -1, and h is as it was: the axes
 * differ (STATUS_DATA), a sum is above 2^64 - 1 (STATUS_LIMIT), or there is no memory.
 */
int hist_add(struct hist *h, const struct hist *more, struct fail *fail);

/* Frees what hist_reserve or hist_fill left. */
void hist_free(struct hist *h);

/* Checks that bins + under + over + nan = samples; else STATUS_INTERNAL. */
int hist_audit(const struct hist *h, struct fail *fail);

/*
 * How many bins of all channels hold more than `most`; how many of the channels' under, over and
 * NaN do.
 */
uint64_t hist_exceeding(const struct hist *h, uint64_t most);
uint64_t hist_rows_exceeding(const struct hist *h, uint64_t most);

/* ---- what hist.c shares with hist_add.c ---- */

/* Extends the extent to this value, unless it is not finite. */
void hist_extend(struct hist *h, double value);

/*
 * In a channel with bins, adds under and over to the first and the last bin. For --auto it is
 * remembered how many they were, because when other histograms are added, other bins may become the
 * first and the last.
 */
void hist_clamp(struct hist *h, uint32_t channel);

#endif
