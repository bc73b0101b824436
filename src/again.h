/* again: system calls that may wait, and that a signal's arrival is no reason to give up. */
#ifndef GPUHIST_AGAIN_H
#define GPUHIST_AGAIN_H

#include <errno.h>
#include <fcntl.h>
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

static inline int fsync_again(int fd)
{
	int rc;

	do
		rc = fsync(fd);
	while (rc != 0 && errno == EINTR);
	return rc;
}

#endif
