/* SPDX-License-Identifier: MIT */
/*
 * hist: the finished histogram: its axis, exact counts, samples out of range, the audit.
 *
 * A histogram is complete: writing it, reporting on it and adding it to another need nothing else
 * of the run. All channels have the same axis, and each has its own counts.
 */
#ifndef GPUHIST_HIST_H
#define GPUHIST_HIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/axis.h"
#include "count/counts.h"
#include "count/digest.h"
#include "count/keys.h"
#include "count/layout.h"
#include "count/stats.h"
#include "count/sums.h"
#include "hist/codebook.h"

struct comparison; /* compare.h */

/* The samples of one channel that are in no bin. */
struct hist_flow {
	uint64_t under, over, nan;
};

/* The quantiles that --stats asks for, in units of a millionth. */
#define QUANTILES_MAX 128u
#define QUANTILE_ALL 1000000u
struct quantiles {
	unsigned n;
	bool named;                 /* the user named them */
	uint32_t at[QUANTILES_MAX]; /* rising, from 0 to QUANTILE_ALL */
};

/* A quantile (quantile.h); never -0. */
struct hist_quantile {
	bool known;     /* false: no finite sample, or bins that cannot tell */
	int128_t whole; /* integer types */
	double real;    /* float types */
};

/* The figures of --stats for the finite samples of one channel. */
struct hist_stats {
	struct stats_result of;
	bool all_values;      /* all values of the samples are known */
	uint64_t never_hit;   /* then: values between the extremes without a sample */
	double entropy;       /* in bits, of codes, or else of bins; negative: unknown */
	double chi2;          /* types of 8 bits: of all codes; negative: unknown */
	struct digest digest; /* of finite samples, or of all codes; owned; {0}: none */
	struct sums *sums;    /* of the finite samples; owned; NULL: none, or not known */
};

/* What the channels of a histogram are. Keys are sorted: numbers ascending, texts in byte order. */
enum series { SERIES_CHANNELS, SERIES_COLUMNS, SERIES_KEYS };

struct hist {
	struct axis axis;
	uint32_t channels;
	uint64_t *count;          /* the bins of all channels, channel after channel; owned */
	size_t stride;            /* counts from a channel's first bin to the next channel's */
	struct hist_flow *flow;   /* of each channel; owned (hist_open) */
	uint64_t samples;         /* samples of all channels, as the workers read them */
	bool extent;              /* least and greatest are known: runs of types of up to 16 bits */
	double least, greatest;   /* the extremes of the finite samples of all channels */
	struct hist_stats *stats; /* --stats: figures of each channel; owned; else NULL */
	struct quantiles asked;   /* the quantiles of the figures */
	struct hist_quantile *quantile; /* asked.n of each channel (hist_quantile_of); owned */
	struct comparison *compared;    /* --compare: of each channel; owned; else NULL */
	/* --compare, for pictures: the reference's counts in the bins of each channel, as if it had
	 * as many samples; owned; NULL: none, or its bins are wider */
	double *reference;
	struct linearity *linearity; /* --linearity: of each channel; owned; else NULL */
	enum series what;            /* what the channels are (series.h) */
	uint32_t first;              /* the number of the first channel; of views */
	char **name;                 /* of each channel; owned; NULL: they have numbers */
	/* --by: the name of the keys, which are the channels, such as u16@2; owned; else NULL */
	char *by;
	uint64_t *own;   /* --by: the samples of each key; owned; else NULL */
	bool whole_keys; /* the keys are whole numbers */
	/*
	 * Floats from text: bit c is set if all finite samples of channel c are whole numbers, and
	 * no infinity is among them. Keys and many channels have one for all (hist_is_whole).
	 */
	uint64_t whole;
	bool from_bins;  /* stats are from bins: no extremes, mean, deviation, digest */
	bool keeps_sums; /* hist_fill and hist_fill_row keep exact sums, for a document */
	bool lost;       /* there was no memory for these; hist_audit fails */
	bool rounded;    /* mean and deviation were added without exact sums, so they are rounded */
};

/* The terms by which counts below ENTROPY_TERMS enter the entropy of n samples; 0: not computed. */
#define ENTROPY_TERMS 1024u
struct entropy_terms {
	uint64_t n;
	double of[ENTROPY_TERMS];
};

/* Working memory of hist_fill, for one thread at a time; freed by free(). */
struct hist_scratch {
	struct entropy_terms terms;
	uint16_t *seen;  /* codes that were counted, in the order of values; in the same memory */
	uint64_t sums[]; /* packed types: counts of the samples of all channels */
};

/* NULL: no memory. */
struct hist_scratch *hist_scratch_new(const struct sample_type *type, uint32_t channels);
size_t hist_scratch_bytes(const struct sample_type *type, uint32_t channels);

/* Allocate the channels of an empty histogram. -1: no memory. */
int hist_open(struct hist *h, uint32_t channels);

/*
 * Make a histogram with a copy of the axis, and with all memory that hist_fill will need, so that
 * a lack of memory is found before hours of reading.
 */
int hist_reserve(struct hist *h, const struct axis *axis, uint32_t channels, struct fail *fail);

/*
 * After hist_reserve, for --stats: hist_fill will expect counts with counts_keep_stats. Types of
 * more than 16 bits have digests of that many digits. Smaller types need a digest only in
 * documents; 0: none.
 */
int hist_keep_stats(struct hist *h, const struct quantiles *asked, uint32_t digits,
		    struct fail *fail);

/*
 * Fill the histogram from the totals of a finished run, which are empty afterwards. This unpacks
 * and bins codes, adds the cell "edge" to the cell that struct edges names, and, if the axis
 * clamps, adds under and over to the first and the last bin.
 */
void hist_fill(struct hist *h, struct counts *counts, const struct codebook *book,
	       struct hist_scratch *scratch);

/* ---- --by (hist_keys.c) ---- */

/*
 * Make the keys of a histogram that hist_fill has filled, whose channels are in the order of the
 * keys' indices, and put them into their own order. `names` has the text of each key that is the
 * number of one; NULL: the keys are numbers. -1: no memory.
 */
int hist_set_keys(struct hist *h, const struct keys *keys, char *const *names, struct fail *fail);

/* Prepare a histogram that has an axis, but no channels yet, for keys. -1: no memory. */
int hist_open_keys(struct hist *h, const char *by, bool whole, struct fail *fail);

/*
 * Append a key without samples, with a digest like this one unless it is NULL or {0}. The keys are
 * out of order until hist_sort_keys. -1: too many keys (STATUS_LIMIT), or no memory.
 */
int hist_add_key(struct hist *h, const char *name, const struct digest *like, struct fail *fail);

/* Put the keys in order. -1: no memory. */
int hist_sort_keys(struct hist *h, struct fail *fail);

/* Give h the keys of `other` that it lacks, without samples. */
int hist_take_keys(struct hist *h, const struct hist *other, struct fail *fail);

/* ---- rows, sums, figures ---- */

/*
 * Fill the histogram of a row (--each), again for each row, and move the row's counts to the
 * totals; they are 0 afterwards. Not for AUTO.
 *
 * For a row with few 16-bit samples, the caller can mark their codes with hist_mark; only those are
 * then visited. `marks` has HIST_MARKS words for each channel, which are 0 afterwards, or is NULL.
 */
#define HIST_MARKS (65536u / 64u)
void hist_fill_row(struct hist *h, struct counts *counts, struct counts *totals,
		   const struct codebook *book, struct hist_scratch *scratch, uint64_t *marks);

/* Mark the code whose codebook_place is `place`. */
static inline void hist_mark(uint64_t *marks, uint32_t place)
{
	marks[place / 64] |= (uint64_t)1 << place % 64;
}

/*
 * Add a histogram with the same axis (axis_fits) and channels; both have passed their audit. If
 * both have statistics, hist_set_stats computes the statistics of the sum. With AUTO and RANKS, the
 * sum has the bins that a run over all samples makes.
 * -1: the sum of the samples is above 2^64 - 1 (STATUS_LIMIT), and h is unchanged; or no memory, or
 * too many keys, and h can only be freed.
 */
int hist_add(struct hist *h, const struct hist *other, struct fail *fail);

/*
 * Turn a document's histogram into the one that -b `bins` would have made, if both have the same
 * edges to the bit: add neighbouring bins, or with --mod the bins of the same residue, or with AUTO
 * and RANKS choose a larger k. -1: its bins cannot become that many (STATUS_USAGE), or no memory; h
 * is unchanged.
 */
int hist_rebin(struct hist *h, uint32_t bins, struct fail *fail);

/*
 * For a histogram with figures: turn it into the one that -b 0 would have made, whose only bin holds
 * all finite samples. -1: no memory.
 */
int hist_unbin(struct hist *h, struct fail *fail);

/* AUTO, RANKS: make a copy, without statistics, whose bins are at a k that is not smaller. */
int hist_joined(struct hist *copy, const struct hist *h, int k, struct fail *fail);

/*
 * For a histogram from documents: compute the figures of its statistics, or, without any, the
 * figures that the bins alone determine (h->from_bins): the number of samples, the entropy of the
 * bins, and quantiles if the bins hold one value each. Then samples out of range count as finite,
 * unless the bins hold all finite values of the type.
 */
int hist_set_stats(struct hist *h, const struct quantiles *asked, struct fail *fail);

/*
 * Allocate these quantiles, all unknown. Many channels, except keys, have only those that the user
 * named. -1: no memory.
 */
int hist_ask(struct hist *h, const struct quantiles *asked);

static inline struct hist_quantile *hist_quantile_of(const struct hist *h, uint32_t channel,
						     unsigned i)
{
	return &h->quantile[(size_t)channel * h->asked.n + i];
}

/* Forget the statistics. */
void hist_drop_stats(struct hist *h);

/*
 * Do the bins of a channel determine the values of all its samples? Then a document needs no
 * digest: hist_values_digest makes it from the bins. -1: no memory.
 */
bool hist_has_values(const struct hist *h, uint32_t channel);
int hist_values_digest(struct hist *h, uint32_t channel, struct fail *fail);

/* Free everything that the histogram owns. */
void hist_free(struct hist *h);

/* Check that bins + under + over + nan = samples; otherwise STATUS_INTERNAL. */
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

/* Are the channels rows of the output: many, or keys? */
static inline bool hist_is_list(const struct hist *h)
{
	return layout_is_many(h->channels) || h->what == SERIES_KEYS;
}

/* Which bit of h->whole is a channel's? */
static inline unsigned hist_whole_bit(const struct hist *h, uint32_t channel)
{
	return h->by || layout_is_many(h->channels) ? 0 : channel;
}

/* Are quantiles of a channel of floats whole numbers? */
static inline bool hist_is_whole(const struct hist *h, uint32_t channel)
{
	return h->whole >> hist_whole_bit(h, channel) & 1;
}

/* The samples of a channel. */
static inline uint64_t hist_samples(const struct hist *h, uint32_t channel)
{
	return h->own ? h->own[channel] : h->samples / h->channels;
}

/* A channel as a histogram of its own, which borrows its memory. */
struct hist hist_view(const struct hist *h, uint32_t channel);

struct hist_flow hist_flow_sum(const struct hist *h);

/* The number of bins with more than `most` samples. */
uint64_t hist_exceeding(const struct hist *h, uint64_t most);

/* How many of under, over and NaN of all channels have more than `most` samples. */
uint64_t hist_rows_exceeding(const struct hist *h, uint64_t most);

/* Write the share of quantile i as a percentage, such as "99.9". */
void quantile_name(char text[NUMBER_TEXT], const struct quantiles *asked, unsigned i);

#endif
