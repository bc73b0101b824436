/* SPDX-License-Identifier: MIT */
/* again: system calls that may wait, and that a signal's arrival is no reason to give up. */
#ifndef GPUHIST_AGAIN_H
#define GPUHIST_AGAIN_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* A FIFO waits for its other end, a network for its server. mode as open has it. */
static inline int open_again(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/*
 * Opens an input to read. Where path is a FIFO it does not wait for the writer, which could not be
 * interrupted: poll waits instead, also on other descriptors. Linux reports nothing, not even
 * POLLHUP, for a FIFO opened so until a writer has come; after that POLLIN while there are bytes and
 * POLLHUP when the last writer has left, seen or not. So poll before every read: without it, a read
 * that gives 0 may be "no writer yet" as well as the end. The flag stays set, on a file description
 * that is ours alone: where another reader of the FIFO is faster, read gives EAGAIN and does not block.
 */
static inline int open_input(const char *path)
{
	struct stat st;
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;

	return open_again(path, stat(path, &st) == 0 && S_ISFIFO(st.st_mode) ? flags | O_NONBLOCK : flags, 0);
}

static inline int fsync_again(int fd)
{
	int rc;

	do
		rc = fsync(fd);
	while (rc != 0 && errno == EINTR);
	return rc;
}

#endif
