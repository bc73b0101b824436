/* SPDX-License-Identifier: MIT */
/*
 * edges_arg: the argument of --edges: numbers, or @ and the name of a file that holds them.
 *
 * Numbers are separated by blanks, commas and newlines in any mixture, a comma standing between two numbers. In a
 * file, '#' begins a comment, to the end of its line; and a file may be a one-dimensional .npy of any type that
 * --type names. They are finite and rise as binary64, which each is rounded to. There are 2 to EDGES_MAX of them.
 */
#ifndef GPUHIST_EDGES_ARG_H
#define GPUHIST_EDGES_ARG_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

#define EDGES_MAX (((size_t)1 << 20) + 1)

/*
 * *edges is then the caller's to free, *count how many. On failure *edges is NULL, and *fail names the line of a
 * text file, else the number's position: STATUS_SYSTEM where the file cannot be read, else STATUS_USAGE.
 */
int edges_arg_read(double **edges, size_t *count, const char *argument, struct fail *fail);

/* The same for text or the bytes of a file in memory; `what` begins the messages. */
int edges_arg_parse(double **edges, size_t *count, const char *what, const unsigned char *bytes, size_t size,
		    int is_file, struct fail *fail);

#endif
