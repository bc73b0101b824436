/* SPDX-License-Identifier: MIT */
/* merge: all documents of some files, added up: --merge. */
#ifndef GPUHIST_MERGE_H
#define GPUHIST_MERGE_H

#include "document/sum.h"

/*
 * Reads the files one after another ("-": standard input), each to its end, and adds their
 * documents; each file must hold at least one. With `some`, not all parts of a whole need be there
 * (sum_finish). Beside the sum each thread has one document in memory. It waits for nothing but
 * what it reads, and a signal ends it. The caller calls sum_free in any case; after -1 *sum is good
 * for nothing else.
 */
int merge_files(struct sum *sum, char *const *paths, size_t count, bool some, struct fail *fail);

#endif
