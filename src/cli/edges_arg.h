/* SPDX-License-Identifier: MIT */
/*
 * edges_arg: the argument of --edges: numbers, or @ and the name of a file that holds them.
 *
 * Numbers are separated by blanks, commas and newlines in any mixture, where a comma must be
 * between two numbers; '#' begins a comment, to the end of its line. After each is rounded to
 * binary64 they must be finite and rise. There are 2 to EDGES_MAX of them.
 */
#ifndef GPUHIST_EDGES_ARG_H
#define GPUHIST_EDGES_ARG_H

#include <stddef.h>

#include "base/fail.h"

#define EDGES_MAX (((size_t)1 << 20) + 1)

/*
 * The caller frees *edges; *count is their number. On failure *edges is NULL, and *fail names the
 * number's position: STATUS_SYSTEM if the file cannot be read, else STATUS_USAGE.
 */
int edges_arg_read(double **edges, size_t *count, const char *argument, struct fail *fail);

/* Like edges_arg_read, for numbers in memory; messages begin with `what`. */
int edges_arg_parse(double **edges, size_t *count, const char *what, const char *text, size_t size,
		    struct fail *fail);

#endif
