/* SPDX-License-Identifier: MIT */
/*
 * list: a finished histogram of many channels, or of keys, written as rows: each is a row (row.h).
 */
#ifndef GPUHIST_EACH_LIST_H
#define GPUHIST_EACH_LIST_H

#include "hist/hist.h"
#include "output/format.h"

/* Are the channels of a histogram rows of the output? */
static inline bool hist_is_list(const struct hist *hist)
{
	return layout_is_many(hist->channels) || hist->key;
}

/*
 * The format that writes this histogram: the same one, unless its channels are rows and the format
 * has rows for them. With style.figures, rows have figures instead of bins.
 */
const struct format *list_format(const struct format *format, const struct hist *hist);

/* Why the histograms of keys cannot be written in this format; `names`: the keys are text. */
const char *list_refused(const struct format *format, const struct style *style, bool names);

/*
 * -1: the format does not hold these keys, the largest is too large for npy (STATUS_LIMIT), or prom
 * cannot tell them apart (STATUS_DATA).
 */
int list_check(const struct format *format, const struct style *style, const struct hist *hist,
	       struct fail *fail);

/* Does a list in this format have the figures? */
bool list_has_figures(const struct format *format);

/* Write the figures as aligned columns. */
void list_table(struct output *out, const struct hist *hist, const struct style *style);

#endif
