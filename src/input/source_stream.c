/* SPDX-License-Identifier: MIT */
/*
 * source_stream: pipes, FIFOs, terminals, sockets, character devices: opened, looked at, read.
 *
 * The system is asked to make the pipe as large as it allows: with 1 MiB a pipe carries half as
 * much again as with the 64 KiB that a shell gives it, and the writer can continue while one worker
 * hands over to the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "input/pipe.h"
#include "input/source_input.h"

/* Waits until fd has something to read. 1: yes; 0: the source was stopped; -1: poll failed. */
static int wait_readable(struct source *s, const struct input *in)
{
	const double began = clock_seconds();
	struct pollfd fds[2] = {
		{.fd = in->fd, .events = POLLIN},
		{.fd = s->wake_pipe[0], .events = POLLIN},
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		if (fds[0].revents == 0 && fds[1].revents == 0)
			continue;
		/* For -v; two calls of the clock take a twentieth of the time of a poll. */
		__atomic_fetch_add(&s->waited_ns, (uint64_t)((clock_seconds() - began) * 1e9),
				   __ATOMIC_RELAXED);
		return fds[1].revents == 0;
	}
}

/*
 * Inputs that consist of messages are refused before anything is taken. `cat` can carry a packet,
 * which fits a page; a socket's message may be larger than the 128 KiB that `cat` reads in one
 * call.
 */
static int refuse_messages(struct input *in, struct fail *fail)
{
	struct stat st;

	if (pipe_check_socket(in->fd, in->name, fail) != 0)
		return -1;
	if (fstat(in->fd, &st) != 0)
		return fail_errno(fail, "%s", in->name);
	const int packets = S_ISFIFO(st.st_mode) ? pipe_holds_packets(in->fd) : 0;
	if (packets < 0)
		return fail_errno(fail, "%s", in->name);
	if (packets > 0)
		return fail_set(fail, STATUS_DATA,
				"%s: a pipe in packet mode (O_DIRECT): pipe it through `cat`, "
				"which reads whole packets",
				in->name);
	in->is_bytes = true;
	return 0;
}

bool stream_ended(const struct input *in)
{
	return in->eof && in->have == 0;
}

int stream_more(struct source *s, struct input *in, unsigned char *to, size_t least, size_t cap,
		size_t *got, struct fail *fail)
{
	*got = 0;
	while (*got < least && !in->eof) {
		/* source_stop could not end a read that blocks; the poll costs 2% of it. */
		const int ready = wait_readable(s, in);
		if (ready < 0)
			return fail_errno(fail, "%s", in->name);
		if (ready == 0)
			return 1;
		if (!in->is_bytes && refuse_messages(in, fail) != 0)
			return -1;
		const ssize_t n = read(in->fd, to + *got, cap - *got);
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

int stream_read(struct source *s, struct input *in, unsigned char *to, size_t least, size_t cap,
		size_t *got, struct fail *fail)
{
	const size_t had = in->have < cap ? in->have : cap;

	if (had > 0) {
		memcpy(to, in->bytes, had);
		in->have -= had;
		memmove(in->bytes, in->bytes + had, in->have);
	}
	const int rc =
		stream_more(s, in, to + had, least > had ? least - had : 0, cap - had, got, fail);
	*got += had;
	return rc != 0 ? rc : input_look_for_text(in, to, *got, stream_ended(in), fail);
}

bool stream_ready(const struct input *in)
{
	struct pollfd one = {.fd = in->fd, .events = POLLIN};

	return in->eof || poll(&one, 1, 0) == 1;
}

/* Copies what is there of the next n bytes of a pipe or a socket, without taking them. */
static size_t copy_next(int fd, unsigned char *bytes, size_t n)
{
	ssize_t copied = recv(fd, bytes, n, MSG_PEEK | MSG_DONTWAIT);

#ifdef __linux__
	int copy[2];
	if (copied < 0 && errno == ENOTSOCK && pipe(copy) == 0) {
		if (tee(fd, copy[1], n, SPLICE_F_NONBLOCK) > 0)
			copied = read(copy[0], bytes, n);
		close(copy[0]);
		close(copy[1]);
	}
#endif
	return copied > 0 ? (size_t)copied : 0;
}

/*
 * The first bytes, as many as decide what the input is; they are read again. Bytes that -n leaves
 * to the next reader of the stream are looked at if they are there, and not taken. 1: the source
 * was stopped.
 */
static int look(struct source *s, struct input *in, unsigned char bytes[FIRST_BYTES], size_t *n,
		struct fail *fail)
{
	/* Reading a compressed stream takes more bytes than are counted anyway. */
	const size_t wanted = s->spec.zstd ? FIRST_BYTES : input_wanted(s, FIRST_BYTES);
	size_t got;
	int rc = 0;

	if (input_grow(in, FIRST_BYTES, fail) != 0)
		return -1;
	while (rc == 0 && in->have < wanted && !in->eof &&
	       input_undecided(s, in->bytes, in->have)) {
		rc = stream_more(s, in, in->bytes + in->have, 1, wanted - in->have, &got, fail);
		in->have += got;
	}
	*n = in->have;
	memcpy(bytes, in->bytes, *n);
	if (rc == 0 && !in->eof && *n < FIRST_BYTES && input_undecided(s, bytes, *n))
		*n += copy_next(in->fd, bytes + *n, FIRST_BYTES - *n);
	return rc;
}

int stream_open(struct source *s, struct input *in, struct fail *fail)
{
	unsigned char bytes[FIRST_BYTES];
	size_t n;

	pipe_widen(in->fd);
	if (s->spec.raw)
		return 0;
	const int rc = look(s, in, bytes, &n, fail);
	if (rc != 0)
		return rc;
	const int kind = input_sniff(s, in, bytes, n, fail);
	in->is_zstd = kind > 0;
	in->magic = kind == 0 && header_magic(bytes, n, true) == HEADER_FOUND;
	in->text.other |= in->magic;
	return kind < 0 ? -1 : 0;
}

int stream_begin(struct source *s, struct input *in, unsigned char *room, size_t cap,
		 struct fail *fail)
{
	in->at = in->header.begin; /* as far as it was read */
	while (in->at < in->first) {
		const size_t n = (size_t)lesser(in->first - in->at, cap);
		size_t got;
		const int rc = stream_read(s, in, room, n, n, &got, fail);
		if (rc != 0)
			return rc;
		in->at += got;
		if (in->at < in->first && stream_ended(in))
			return input_too_skipped(s, in, fail);
	}
	return 0;
}
