/* SPDX-License-Identifier: MIT */
/* output_path: what the name of an output stands for. */
#ifndef GPUHIST_OUTPUT_PATH_H
#define GPUHIST_OUTPUT_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/fail.h"

/*
 * The descriptor that a path like /dev/stdout or /dev/fd/3 stands for (NULL or "-": standard
 * output), or -1. What it leads to belongs to the program that opened it, at an offset of its own:
 * it is written, never replaced.
 */
int output_descriptor(const char *path);

/*
 * The path at the end of a chain of links: a link is not replaced by the file, its target is. A
 * link to nothing names the file to make.
 */
int output_resolve(char target[PATH_MAX], const char *path, struct fail *fail);

/* Is path (NULL or "-": standard output) the same file as this open or named input? */
bool output_is_input(const char *path, const char *input);

/* Does what is written to path (NULL or "-": standard output) get among the bytes of standard output? */
bool output_is_stdout(const char *path);

#endif
