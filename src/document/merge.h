/* SPDX-License-Identifier: MIT */
/* merge: all documents of some files, added up: --merge. */
#ifndef GPUHIST_MERGE_H
#define GPUHIST_MERGE_H

#include "document/sum.h"

/*
 * some: of parts not all need be there (sum_finish). Reads the files one after another ("-": standard input), each to
 * its end, and adds their documents; each must hold one at least. One document at a time is in memory beside the sum.
 * Waits for what it reads, and nothing else: a signal ends it. In any case sum_free is due; after -1 it is all that
 * *sum is good for.
 */
int merge_files(struct sum *sum, char *const *paths, size_t count, bool some, struct fail *fail);

#endif
