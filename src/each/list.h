/* SPDX-License-Identifier: MIT */
/*
 * list: a finished histogram of many channels, or of keys, or without bins (-b 0), written as rows:
 * each channel is a row (row.h).
 */
#ifndef GPUHIST_EACH_LIST_H
#define GPUHIST_EACH_LIST_H

#include "hist/hist.h"
#include "output/format.h"

/*
 * Write a histogram in the rows of a format; with style.figures, rows have figures instead of bins.
 */
list_fn list_rows, list_npy;

/* -1: the largest key is too large for npy (STATUS_LIMIT). */
int list_check_npy(const struct hist *hist, struct fail *fail);

/* Write the figures as aligned columns. */
void list_table(struct output *out, const struct hist *hist, const struct style *style);

#endif
