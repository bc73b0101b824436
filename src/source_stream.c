/*
 * source_stream: pipes, FIFOs, terminals, sockets, character devices.
 *
 * One reader at a time, under the source's lock, straight into its own buffer. The pipe is
 * asked to be as large as the system lets it: at 1 MiB it carries half as much again as at
 * the 64 KiB that a shell makes, and it feeds on while one worker hands over to the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "source_input.h"
#include "zstd_frame.h"

/* Unprivileged processes may go up to the system's limit, 1 MiB unless it was changed. */
static void widen_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	int size = 1 << 20;
	FILE *f = fopen("/proc/sys/fs/pipe-max-size", "re");

	if (f) {
		if (fscanf(f, "%d", &size) != 1)
			size = 1 << 20;
		fclose(f);
	}
	/* A refusal costs speed only. A pipe that somebody made larger stays so. */
	if (fcntl(fd, F_GETPIPE_SZ) < size)
		(void)fcntl(fd, F_SETPIPE_SZ, size);
#else
	(void)fd;
#endif
}

/* Waits until fd has something to read. 1: yes; 0: the source was stopped; -1: poll failed. */
static int wait_readable(const struct source *s, const struct input *in)
{
	struct pollfd fds[2] = {
		{.fd = in->fd, .events = POLLIN},
		{.fd = s->wake[0], .events = POLLIN},
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		if (fds[1].revents)
			return 0;
		if (fds[0].revents)
			return 1;
	}
}

int stream_read(struct source *s, struct input *in, unsigned char *buffer, size_t least, size_t cap,
		size_t *got, struct fail *fail)
{
	const size_t headed = in->headed - in->head_used;

	*got = headed < cap ? headed : cap;
	memcpy(buffer, in->head + in->head_used, *got);
	in->head_used += *got;
	while (*got < least && !in->eof) {
		/* A read that blocks could not be reached by source_stop; poll costs 2% of it. */
		int ready = wait_readable(s, in);
		if (ready < 0)
			return fail_errno(fail, "%s", in->name);
		if (ready == 0)
			return 1;
		ssize_t n = read(in->fd, buffer + *got, cap - *got);
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
			continue;
		if (n < 0)
			return fail_errno(fail, "%s", in->name);
		in->eof = n == 0;
		in->drained = (size_t)n < cap - *got;
		*got += (size_t)n;
	}
	return 0;
}

static bool at_end(const struct input *in)
{
	return in->eof && in->head_used == in->headed;
}

/* The first bytes that are there, of a pipe or a socket, copied and not taken. */
static ssize_t copy_first(int fd, const int copy[2], unsigned char *bytes)
{
	const ssize_t n = recv(fd, bytes, SNIFF_BYTES, MSG_PEEK | MSG_DONTWAIT);

#ifdef __linux__
	if (n < 0 && errno == ENOTSOCK && tee(fd, copy[1], SNIFF_BYTES, SPLICE_F_NONBLOCK) > 0)
		return read(copy[0], bytes, SNIFF_BYTES);
#else
	(void)copy;
#endif
	return n;
}

/* May these few bytes be a magic number's, and is there somebody who writes the rest? */
static bool more_to_come(int fd, const unsigned char *bytes, size_t n)
{
	struct frame_header header;
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return n < 4 && frame_parse(bytes, n, &header) == FRAME_SHORT && poll(&one, 1, 0) == 1 &&
	       !(one.revents & (POLLHUP | POLLERR));
}

/*
 * Where -n allows fewer bytes than a magic number has, the rest belongs to somebody else. A writer
 * that stops inside what may be one is waited for.
 */
static size_t peek(const struct source *s, const struct input *in, unsigned char *bytes)
{
	ssize_t n = 0;
	int copy[2];

	if (pipe(copy) != 0)
		return 0;
	while (wait_readable(s, in) == 1) {
		n = copy_first(in->fd, copy, bytes);
		if (n <= 0 || !more_to_come(in->fd, bytes, (size_t)n))
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	close(copy[0]);
	close(copy[1]);
	return n > 0 ? (size_t)n : 0;
}

/* Looks at the first bytes of a stream: what input_sniff says of them, or 2 when stopped. */
static int look(struct source *s, struct input *in, struct fail *fail)
{
	unsigned char bytes[SNIFF_BYTES];
	const uint64_t records = s->budget < SNIFF_BYTES ? s->budget : SNIFF_BYTES;
	const uint64_t ours = s->spec.skip < SNIFF_BYTES ? s->spec.skip + records * s->spec.record : SNIFF_BYTES;

	/* Of a compressed stream more is read than is counted anyway. */
	if (ours < SNIFF_BYTES && !s->spec.zstd)
		return input_sniff(s, in, bytes, peek(s, in, bytes), fail);
	const int rc = stream_read(s, in, in->head, SNIFF_BYTES, SNIFF_BYTES, &in->headed, fail);
	in->head_used = 0;
	return rc != 0 ? (rc < 0 ? rc : 2) : input_sniff(s, in, in->head, in->headed, fail);
}

int stream_begin(struct source *s, struct input *in, unsigned char *buffer, size_t cap,
		 struct fail *fail)
{
	uint64_t left = s->spec.skip;

	widen_pipe(in->fd);
	const int kind = s->spec.raw ? 0 : look(s, in, fail);
	if (kind == 1)
		return zstd_begin(s, in, 0, 0, fail);
	s->stopped |= kind == 2;
	if (kind < 0)
		return -1;
	while (left > 0 && !s->stopped) {
		size_t got;
		const size_t n = left < cap ? (size_t)left : cap;
		const int rc = stream_read(s, in, buffer, n, n, &got, fail);
		if (rc < 0)
			return -1;
		s->stopped |= rc > 0;
		s->totals.bytes += got;
		s->totals.skipped += got;
		left -= got;
		if (left > 0 && at_end(in))
			return fail_set(fail, STATUS_DATA, "%s: ends before the %llu bytes to skip",
					in->name, (unsigned long long)s->spec.skip);
	}
	return 0;
}

int stream_fill(struct source *s, struct input *in, unsigned char *buffer, size_t cap, size_t *got,
		struct fail *fail)
{
	const size_t carried = in->carried;
	size_t read;

	memcpy(buffer, in->carry, carried);
	in->carried = 0;
	const int rc = stream_read(s, in, buffer + carried, cap - carried, cap - carried, &read, fail);
	s->stopped |= rc > 0;
	if (rc < 0) {
		in->ended = true;
		return -1;
	}
	s->totals.bytes += read;
	const size_t have = carried + read;
	/* Asking the pipe how full it is (FIONREAD) takes its lock and slows the writer by a third. */
	in->full = in->drained ? 0 : in->full + 1;
	const size_t rest = have % s->spec.record;
	*got = have - rest;
	if (s->budget != UINT64_MAX)
		s->budget -= *got / s->spec.record;
	in->ended = at_end(in);
	if (in->ended) {
		in->tail = rest;
	} else {
		in->carried = rest;
		memcpy(in->carry, buffer + *got, rest);
	}
	return 0;
}
