/* SPDX-License-Identifier: MIT */
/* sigmf: reads X.sigmf-meta, which describes the samples in X.sigmf-data. */
#ifndef GPUHIST_INPUT_SIGMF_H
#define GPUHIST_INPUT_SIGMF_H

#include "base/fail.h"
#include "format/header.h"

#define SIGMF_DATA ".sigmf-data"
#define SIGMF_META ".sigmf-meta" /* as long as the other suffix */

/* Does the path end in one of these two suffixes? */
bool sigmf_names(const char *path, const char *suffix);

/*
 * Read the file next to X.sigmf-data or X.sigmf-data.zst. 1: *h describes the samples. 0: the path
 * has another name, or there is no such file.
 */
int sigmf_read(struct header *h, const char *path, struct fail *fail);

#endif
