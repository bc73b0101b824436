/* SPDX-License-Identifier: MIT */
/* path: file names; "-" is standard input. */
#ifndef GPUHIST_PATH_H
#define GPUHIST_PATH_H

#include <stdbool.h>
#include <string.h>

static inline bool path_is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* Name of an input for messages. */
static inline const char *path_shown(const char *path)
{
	return path_is_stdin(path) ? "standard input" : *path ? path : "''";
}

/* Name of a file without its directory. */
static inline const char *path_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
