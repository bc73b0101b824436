/* SPDX-License-Identifier: MIT */
/*
 * source_input: checks inputs before the run; opens, prepares and compares single inputs. Without
 * the lock.
 */
#ifndef GPUHIST_SOURCE_INPUT_H
#define GPUHIST_SOURCE_INPUT_H

#include "source/input.h"

/*
 * Check that every named input exists, is no directory, and may be read. *length is the number of
 * bytes after those that -S skips, or 0 if an input is no regular file or is compressed by its
 * name.
 */
int input_check_all(const struct source_spec *spec, uint64_t *length, struct fail *fail);

/* Does the name of a file promise a header with a type (.npy, .sigmf-data)? */
bool input_promises_header(const char *path);

/*
 * Open an input, detect zstd and read its header. Lose no byte of a pipe. The caller frees *out
 * even after a failure. 1: the source was stopped.
 */
int input_open(struct source *s, size_t path, struct input **out, struct fail *fail);

/* Find the first sample after -S and the end of the samples. -1: -S goes beyond the end. */
int input_bounds(const struct source *s, struct input *in, struct fail *fail);

/* Prepare the input for its tasks; -n leaves `left` records for it. 1: the source was stopped. */
int input_begin(struct source *s, struct input *in, uint64_t left, struct fail *fail);

/* Check that the header agrees with the options and with the first input. */
int input_agrees(const struct source *s, const struct input *in, struct fail *fail);

#endif
