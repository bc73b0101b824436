/* SPDX-License-Identifier: MIT */
/* output_keep: owner, group, access control list and mode, in this order. */
#include "output/output_keep.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIST "system.posix_acl_access"
#define LIST_BYTES 4096 /* some 500 entries, more than most file systems store */

/*
 * Copies the list in the kernel's own form, which needs no library. A list was made for one owning
 * group.
 */
static bool keep_list(int fd, const char *path, bool group)
{
	char list[LIST_BYTES];
	const ssize_t n = getxattr(path, LIST, list, sizeof(list));

	if (n > 0 && group)
		return fsetxattr(fd, LIST, list, (size_t)n, 0) == 0;
	if (n < 0 && errno != ENODATA && errno != ENOTSUP)
		return false;
	/* The new file may have got a list from the folder's default list. */
	return fremovexattr(fd, LIST) == 0 || errno == ENODATA || errno == ENOTSUP;
}

/* The owner first: a process that has given the file away may still change its group and mode. */
static bool keep_group(int fd, const struct stat *now, const struct stat *old)
{
	if (now->st_uid != old->st_uid && fchown(fd, old->st_uid, old->st_gid) == 0)
		return true;
	return now->st_gid == old->st_gid || fchown(fd, (uid_t)-1, old->st_gid) == 0;
}

int output_keep(int fd, const char *path, const struct stat *old)
{
	struct stat now;
	mode_t mode = old->st_mode & 0777;

	if (fstat(fd, &now) != 0)
		return -1;
	const bool group = keep_group(fd, &now, old);
	const bool list = keep_list(fd, path, group);
	if (!group || !list)
		mode &= 0707 | (mode & 07) << 3;
	/* A file system without modes cannot set them, and need not. */
	if (fstat(fd, &now) != 0)
		return -1;
	return (now.st_mode & 07777) == mode ? 0 : fchmod(fd, mode);
}
