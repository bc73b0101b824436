/* SPDX-License-Identifier: MIT */
/* source_open: opens a source, starts it, and closes it. */
#ifndef GPUHIST_SOURCE_OPEN_H
#define GPUHIST_SOURCE_OPEN_H

#include "source/source.h"

/* Are the inputs likely to be compressed, by --zstd or the first one's name? Opens nothing. */
bool source_compressed(const struct source_spec *spec);

/*
 * Check that every named input exists and is no directory. Unless raw, open the first one and
 * read its header; wait for the first bytes of a pipe, and lose none. On failure *out is NULL
 * and *fail says why.
 */
int source_open(struct source **out, const struct source_spec *spec, struct fail *fail);

/* The header of the first input; its format is NULL if it was not read or does not exist. */
const struct header *source_said(const struct source *s);

/*
 * Set how the source is used. Called once, before there is a reader. -1: the first input has
 * another type, or an input of a slice is missing.
 */
int source_start(struct source *s, const struct source_use *use, struct fail *fail);

/* Leave a redirected standard input after the last record handed out. Accepts NULL. */
void source_close(struct source *s);

#endif
