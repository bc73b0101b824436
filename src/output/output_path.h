/* SPDX-License-Identifier: MIT */
/* output_path: what the name of an output stands for. */
#ifndef GPUHIST_OUTPUT_PATH_H
#define GPUHIST_OUTPUT_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/fail.h"

/*
 * The descriptor that a path such as /dev/stdout or /dev/fd/3 stands for (NULL or "-": standard
 * output), or -1. The file behind it belongs to the program that opened it, which has an offset in
 * it: it is written to, and never replaced.
 */
int output_descriptor(const char *path);

/*
 * The path at the end of a chain of links: the target is replaced, not the link. For a link to
 * nothing it is the file to create.
 */
int output_resolve(char target[PATH_MAX], const char *path, struct fail *fail);

/* Is path (NULL or "-": standard output) the same file as this open or named input? */
bool output_is_input(const char *path, const char *input);

/*
 * Would output written to path (NULL or "-": standard output) be mixed with the bytes of standard
 * output?
 */
bool output_is_stdout(const char *path);

#endif
