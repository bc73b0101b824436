/* SPDX-License-Identifier: MIT */
/* again: blocking system calls, restarted when a signal interrupts them. */
#ifndef GPUHIST_AGAIN_H
#define GPUHIST_AGAIN_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * open, restarted when a signal interrupts it while it waits for the other end of a FIFO or for a
 * network file system.
 */
static inline int open_again(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/*
 * Open an input for reading. If path is a FIFO, do not wait for the writer, because that wait could
 * not be interrupted: the caller polls instead, together with other descriptors.
 *
 * For a FIFO opened this way, Linux reports nothing, not even POLLHUP, until a writer opens it;
 * then POLLIN while bytes are available, and POLLHUP once the last writer has closed it, even if
 * the reader never saw that writer. So poll before every read: otherwise a read that returns 0 can
 * mean "no writer yet" as well as the end.
 *
 * O_NONBLOCK stays set. Nobody else shares the file description; if another reader of the FIFO
 * takes the bytes first, read fails with EAGAIN instead of blocking.
 */
static inline int open_input(const char *path)
{
	struct stat st;
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;

	return open_again(
		path, stat(path, &st) == 0 && S_ISFIFO(st.st_mode) ? flags | O_NONBLOCK : flags, 0);
}

/* Write all n bytes; also waits if another program made the pipe or terminal non-blocking. */
static inline int write_again(int fd, const void *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		const ssize_t some = write(fd, (const char *)bytes + done, n - done);
		if (some >= 0)
			done += (size_t)some;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			(void)poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		else if (errno != EINTR)
			return -1;
	}
	return 0;
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
