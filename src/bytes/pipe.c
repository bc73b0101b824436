/* SPDX-License-Identifier: MIT */
/* pipe: enlarges pipes, and detects streams of messages. */
#include "bytes/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

void pipe_widen(int fd)
{
#ifdef F_SETPIPE_SZ
	int size = 1 << 20;
	FILE *f = fopen("/proc/sys/fs/pipe-max-size", "re");

	if (f) {
		if (fscanf(f, "%d", &size) != 1)
			size = 1 << 20;
		fclose(f);
	}
	if (fcntl(fd, F_GETPIPE_SZ) < size)
		(void)fcntl(fd, F_SETPIPE_SZ, size);
#else
	(void)fd;
#endif
}

size_t pipe_holds(int fd)
{
	int bytes;

	return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

/* Two copies of the first byte come back in one read if they are a stream, in two if packets. */
int pipe_holds_packets(int fd)
{
	int packets = 0;
#ifdef __linux__
	unsigned char one, other;
	const struct iovec both[2] = {{.iov_base = &one, .iov_len = 1},
				      {.iov_base = &other, .iov_len = 1}};
	int copy[2], copies = 0;
	ssize_t n;

	if (pipe(copy) != 0)
		return -1;
	do
		n = tee(fd, copy[1], 1, SPLICE_F_NONBLOCK);
	while ((n < 0 && errno == EINTR) || (n == 1 && ++copies < 2));
	packets = copies == 2 && readv(copy[0], both, 2) == 1;
	close(copy[0]);
	close(copy[1]);
#else
	(void)fd;
#endif
	return packets;
}

int pipe_check_socket(int fd, const char *name, struct fail *fail)
{
	struct stat st;
	int type;
	socklen_t length = sizeof(type);

	if (fstat(fd, &st) != 0)
		return fail_errno(fail, "%s", name);
	if (!S_ISSOCK(st.st_mode))
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0)
		return fail_errno(fail, "%s", name);
	if (type != SOCK_STREAM)
		return fail_set(fail, STATUS_DATA,
				"%s is a socket that keeps messages apart; pipe it through `dd "
				"bs=16M`, which reads whole messages",
				name);
	return 0;
}
