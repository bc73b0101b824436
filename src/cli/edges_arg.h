/* SPDX-License-Identifier: MIT */
/*
 * edges_arg: parses the argument of --edges: 2 to EDGES_MAX numbers, or @FILE.
 *
 * Any mix of blanks, commas and newlines separates numbers, but a comma must be between two of
 * them; '#' begins a comment that ends with the line. Rounded to binary64, the numbers must be
 * finite and increasing.
 */
#ifndef GPUHIST_EDGES_ARG_H
#define GPUHIST_EDGES_ARG_H

#include <stddef.h>

#include "base/fail.h"

#define EDGES_MAX (((size_t)1 << 20) + 1)

/*
 * The caller frees *edges, *count numbers. On failure *edges is NULL and *fail gives the number's
 * position: STATUS_SYSTEM if the file cannot be read, else STATUS_USAGE.
 */
int edges_arg_read(double **edges, size_t *count, const char *argument, struct fail *fail);

/* Like edges_arg_read, for numbers in memory; messages begin with `what`. */
int edges_arg_parse(double **edges, size_t *count, const char *what, const char *text, size_t size,
		    struct fail *fail);

#endif
