/* SPDX-License-Identifier: MIT */
/*
 * series: the names of a histogram's channels. Data, pictures and messages all take them from here.
 */
#ifndef GPUHIST_HIST_SERIES_H
#define GPUHIST_HIST_SERIES_H

#include "hist/hist.h"

/* What the channels are: "channel", "column" or "key". */
const char *series_head(const struct hist *h);

/* Is each channel named, because there are several or they are keys? */
static inline bool series_many(const struct hist *h)
{
	return h->channels > 1 || h->what == SERIES_KEYS;
}

/* The name of a channel, or its number, as text in `number`. */
const char *series_name(const struct hist *h, uint32_t channel, char number[NUMBER_TEXT]);

/*
 * "channel 3", "key cart"; a name of more than 60 bytes loses its middle. "" if it is the only
 * channel.
 */
#define SERIES_LABEL 72
const char *series_label(char text[SERIES_LABEL], const struct hist *h, uint32_t channel);

/* Name all channels, before or after they are counted. -1: no memory. */
int series_set(struct hist *h, enum series what, const char *const *name, struct fail *fail);

/* Name the channels of complex samples I and Q, or I0, Q0, I1, Q1... */
int series_set_pairs(struct hist *h, struct fail *fail);

/* Copy the names of `like`, which has as many channels. */
int series_set_like(struct hist *h, const struct hist *like, struct fail *fail);

/*
 * Find the channel of h that corresponds to a channel of `other`: the same key, which h may lack,
 * or the same number.
 */
bool series_find(const struct hist *h, const struct hist *other, uint32_t channel, uint32_t *found);

/* Do both have the same channels, as far as these have names? False: `why` says what differs. */
bool series_fit(char why[AXIS_WHY], const struct hist *h, const struct hist *other);

/* The order of two keys. */
int series_compare(bool whole, const char *a, const char *b);

#endif
