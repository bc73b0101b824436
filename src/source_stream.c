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
#include <unistd.h>

#include "source_input.h"

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

/* Reads until cap bytes are there or the stream ends; *got < cap means it has ended or stopped. */
static int read_all(struct source *s, struct input *in, unsigned char *buffer, size_t cap,
		    size_t *got, struct fail *fail)
{
	*got = 0;
	while (*got < cap) {
		/* A read that blocks could not be reached by source_stop; poll costs 2% of it. */
		int ready = wait_readable(s, in);
		if (ready < 0)
			return fail_errno(fail, "%s", in->name);
		if (ready == 0) {
			s->stopped = true;
			return 0;
		}
		ssize_t n = read(in->fd, buffer + *got, cap - *got);
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
			continue;
		if (n < 0)
			return fail_errno(fail, "%s", in->name);
		if (n == 0) {
			in->ended = true;
			return 0;
		}
		in->drained = (size_t)n < cap - *got;
		*got += (size_t)n;
		s->totals.bytes += (size_t)n;
	}
	return 0;
}

/* Looks at the first bytes of a stream, as they come: -S and -n may cut them small. */
static int sniff(const struct source *s, struct input *in, const unsigned char *bytes, size_t n,
		 struct fail *fail)
{
	if (s->spec.raw || in->headed == SNIFF_BYTES)
		return 0;
	const size_t room = SNIFF_BYTES - in->headed;
	memcpy(in->head + in->headed, bytes, n < room ? n : room);
	in->headed += n < room ? n : room;
	return input_sniff(in, in->head, in->headed, fail);
}

/*
 * Where -n allows fewer bytes than a magic number has, the rest belongs to somebody else:
 * the first bytes of a pipe are copied, not taken.
 */
static int peek(const struct source *s, struct input *in, struct fail *fail)
{
	int rc = 0;
#ifdef __linux__
	unsigned char bytes[SNIFF_BYTES];
	int copy[2];

	if (s->spec.raw || s->budget >= SNIFF_BYTES || s->spec.skip >= SNIFF_BYTES ||
	    pipe(copy) != 0)
		return 0;
	if (wait_readable(s, in) == 1 && tee(in->fd, copy[1], sizeof(bytes), SPLICE_F_NONBLOCK) > 0) {
		ssize_t n = read(copy[0], bytes, sizeof(bytes));
		rc = n > 0 ? input_sniff(in, bytes, (size_t)n, fail) : 0;
	}
	close(copy[0]);
	close(copy[1]);
#else
	(void)s, (void)in, (void)fail;
#endif
	return rc;
}

int stream_begin(struct source *s, struct input *in, unsigned char *buffer, size_t cap,
		 struct fail *fail)
{
	uint64_t left = s->spec.skip;

	widen_pipe(in->fd);
	if (peek(s, in, fail) != 0)
		return -1;
	while (left > 0 && !s->stopped) {
		size_t got;
		if (read_all(s, in, buffer, left < cap ? (size_t)left : cap, &got, fail) != 0)
			return -1;
		if (sniff(s, in, buffer, got, fail) != 0)
			return -1;
		s->totals.skipped += got;
		left -= got;
		if (in->ended)
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
	if (read_all(s, in, buffer + carried, cap - carried, &read, fail) != 0) {
		in->ended = true;
		return -1;
	}
	const size_t have = carried + read;
	if (sniff(s, in, buffer + carried, read, fail) != 0) {
		in->ended = true;
		return -1;
	}
	/* Asking the pipe how full it is (FIONREAD) takes its lock and slows the writer by a third. */
	in->full = in->drained ? 0 : in->full + 1;
	const size_t rest = have % s->spec.record;
	*got = have - rest;
	if (s->budget != UINT64_MAX)
		s->budget -= *got / s->spec.record;
	if (in->ended) {
		in->tail = rest;
	} else {
		in->carried = rest;
		memcpy(in->carry, buffer + *got, rest);
	}
	return 0;
}
