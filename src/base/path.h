/* SPDX-License-Identifier: MIT */
/* path: the name of an input, where "-" is standard input. */
#ifndef GPUHIST_PATH_H
#define GPUHIST_PATH_H

#include <stdbool.h>
#include <string.h>

static inline bool path_is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* The name of an input as messages show it. */
static inline const char *path_shown(const char *path)
{
	return path_is_stdin(path) ? "standard input" : *path ? path : "''";
}

#endif
