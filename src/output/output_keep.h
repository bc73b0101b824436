/* SPDX-License-Identifier: MIT */
/* output_keep: what a file that replaces another takes over from it. */
#ifndef GPUHIST_OUTPUT_KEEP_H
#define GPUHIST_OUTPUT_KEEP_H

#include <sys/stat.h>

/*
 * Gives the new file fd the permissions of the file at path, whose state is *old: mode, POSIX
 * access control list, group, and owner if the process may give files away. Set-user-ID and
 * set-group-ID are left out, as when another user writes to a file. Where the group or the list
 * cannot be kept, the group gets no more rights than others have: no user gains access.
 *
 * -1 and errno if the mode cannot be set.
 */
int output_keep(int fd, const char *path, const struct stat *old);

#endif
