/* SPDX-License-Identifier: MIT */
/*
 * source_stream: pipes, FIFOs, terminals, sockets, character devices.
 *
 * One reader at a time reads straight into its own buffer until that holds whole records; the
 * others wait until the input is free. The system is asked to make the pipe as large as it allows:
 * with 1 MiB a pipe carries half as much again as with the 64 KiB that a shell gives it, and the
 * writer can continue while one worker hands over to the next.
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
#include "input/zstd_read.h"

/* Waits until fd has something to read. 1: yes; 0: the source was stopped; -1: poll failed. */
static int wait_readable(struct source *s, const struct input *in)
{
	const double began = clock_seconds();
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
	return in->eof && in->head_used == in->headed;
}

int stream_read(struct source *s, struct input *in, unsigned char *buffer, size_t least, size_t cap,
		size_t *got, struct fail *fail)
{
	const size_t headed = in->headed - in->head_used;

	*got = headed < cap ? headed : cap;
	if (*got > 0)
		memcpy(buffer, in->head + in->head_used, *got);
	in->head_used += *got;
	while (*got < least && !in->eof) {
		/* source_stop could not end a read that blocks; the poll costs 2% of it. */
		int ready = wait_readable(s, in);
		if (ready < 0)
			return fail_errno(fail, "%s", in->name);
		if (ready == 0)
			return 1;
		if (!in->is_bytes && refuse_messages(in, fail) != 0)
			return -1;
		ssize_t n = read(in->fd, buffer + *got, cap - *got);
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
			continue;
		if (n < 0)
			return fail_errno(fail, "%s", in->name);
		in->eof = n == 0;
		in->drained = (size_t)n < cap - *got;
		*got += (size_t)n;
	}
	return in->is_zstd ? 0 : input_look_for_text(in, buffer, *got, stream_ended(in), fail);
}

bool stream_ready(const struct input *in)
{
	struct pollfd one = {.fd = in->fd, .events = POLLIN};

	return in->head_used < in->headed || in->eof || poll(&one, 1, 0) == 1;
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
 * The first bytes, as many as decide what the input is; they are in its head, too. Bytes that -n
 * leaves to the next reader of the stream are looked at if they are there, and not taken. 1: the
 * source was stopped.
 */
static int look(struct source *s, struct input *in, unsigned char bytes[FIRST_BYTES], size_t *n,
		struct fail *fail)
{
	/* Reading a compressed stream takes more bytes than are counted anyway. */
	const size_t wanted = s->spec.zstd ? FIRST_BYTES : input_wanted(s, FIRST_BYTES);
	size_t got;
	int rc = 0;

	*n = 0;
	if (!(in->head = malloc(FIRST_BYTES)))
		return fail_errno(fail, "%s", in->name);
	while (rc == 0 && *n < wanted && !in->eof && input_undecided(s, bytes, *n)) {
		rc = stream_read(s, in, bytes + *n, 1, wanted - *n, &got, fail);
		*n += got;
	}
	memcpy(in->head, bytes, *n);
	in->headed = *n;
	if (rc == 0 && !in->eof && *n < FIRST_BYTES && input_undecided(s, bytes, *n))
		*n += copy_next(in->fd, bytes + *n, FIRST_BYTES - *n);
	return rc;
}

int stream_open(struct source *s, struct input *in, struct fail *fail)
{
	const struct text text = in->text;
	unsigned char bytes[FIRST_BYTES];
	size_t n;

	pipe_widen(in->fd);
	if (s->spec.raw)
		return 0;
	in->text.other = true; /* these bytes will be read again */
	const int rc = look(s, in, bytes, &n, fail);
	if (rc != 0)
		return rc;
	const int kind = input_sniff(s, in, bytes, n, fail);
	in->is_zstd = kind > 0;
	in->magic = kind == 0 && header_magic(bytes, n, true) == HEADER_FOUND;
	if (!in->magic)
		in->text = text;
	return kind < 0 ? -1 : 0;
}

int stream_begin(struct source *s, struct input *in, unsigned char *buffer, size_t cap,
		 struct fail *fail)
{
	uint64_t left = s->spec.skip;

	while (left > 0) {
		size_t got;
		const size_t n = left < cap ? (size_t)left : cap;
		const int rc = stream_read(s, in, buffer, n, n, &got, fail);
		if (rc != 0)
			return rc;
		in->skipped += got;
		in->taken += got;
		left -= got;
		if (left > 0 && stream_ended(in))
			return input_too_skipped(s, in, fail);
	}
	return 0;
}

/* The most for one read: what was read is still in the cache when it is counted. */
#define STREAM_PIECE ((size_t)128 << 10)

/* All samples that the header declares have been read; what follows is not counted. */
static int finish_unlocks(struct source *s, struct input *in, struct request *q)
{
	in->state = INPUT_BUSY;
	lock_drop(&s->lock);
	const int rc = input_read_rest(s, in, q->fail);
	lock_take(&s->lock);
	in->state = INPUT_ENDED;
	s->stopped |= rc > 0;
	return input_leave(s, in, rc < 0 ? -1 : 0, q->fail);
}

/*
 * Fills the buffer; or, if the source is prompt, reads what is there and waits only for whole
 * records.
 */
static int read_records(struct source *s, struct input *in, unsigned char *buffer, size_t cap,
			size_t *got, struct fail *fail)
{
	const size_t record = s->spec.record;
	int rc;

	if (!s->spec.prompt)
		return stream_read(s, in, buffer, cap, cap, got, fail);
	*got = 0;
	do {
		const size_t rest = record - *got % record, room = cap - *got;
		size_t some;
		rc = stream_read(s, in, buffer + *got, rest < room ? rest : room, room, &some,
				 fail);
		*got += some;
	} while (rc == 0 && *got % record != 0 && *got < cap && !in->eof);
	return rc;
}

int stream_take_unlocks(struct source *s, struct input *in, struct request *q)
{
	const uint64_t left = in->bound - in->taken;

	if (left == 0)
		return finish_unlocks(s, in, q);
	const uint32_t record = s->spec.record;
	const size_t piece = STREAM_PIECE < record ? record : STREAM_PIECE;
	const size_t most = q->cap < piece ? q->cap : piece;
	const uint64_t allowed = budget_take(s, most / record);
	const size_t allowed_bytes = (size_t)allowed * record;
	const size_t cap = allowed_bytes < left ? allowed_bytes : (size_t)left;
	size_t read;

	in->state = INPUT_BUSY;
	lock_drop(&s->lock);
	const int rc = read_records(s, in, q->want->buffer, cap, &read, q->fail);
	/*
	 * Bytes are left over only where the samples or the stream end, or the source was stopped.
	 */
	const size_t rest = read % record;
	lock_take(&s->lock);
	in->taken += read;
	in->tail = rest;
	q->got = read - rest;
	budget_give(s, allowed - q->got / record);
	/*
	 * To ask a pipe how full it is (FIONREAD) takes its lock and slows the writer by a third.
	 */
	in->full = in->drained ? 0 : in->full + 1;
	if (rc != 0 || (stream_ended(in) && in->taken < in->bound)) {
		in->state = INPUT_ENDED;
		in->cut = in->bound != NO_END;
	} else {
		in->state = INPUT_FREE;
		source_call(s);
	}
	s->stopped |= rc > 0;
	return input_leave(s, in, rc < 0 ? -1 : 0, q->fail);
}
