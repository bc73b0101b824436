/* SPDX-License-Identifier: MIT */
/*
 * bytes: reads files and block devices by pread; pipes, FIFOs, terminals, sockets and character
 * devices by poll and read.
 *
 * WHY EVERY WAIT ENDS. A thread waits only in wait_readable, for a stream, and a byte in
 * shared.wake ends that wait.
 */
#include "bytes/bytes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "base/clock.h"
#include "base/huge.h"
#include "base/path.h"
#include "base/signals.h"
#include "bytes/pipe.h"
#include "bytes/tee.h"

#define LOOK_LEAST ((size_t)256)        /* bytes read for a first look at a file */
#define LOOK_MOST ((size_t)16 << 10)    /* bytes read for a look close after the last one */
#define STREAM_ROOM ((size_t)128 << 10) /* spare bytes of the buffer for a stream's content */
#define HINT_BYTES ((uint64_t)8 << 20)  /* bytes to read ahead at a time */

/* The part of a file that is the input. */
struct stretch {
	uint64_t origin; /* offset of its beginning in the file */
	uint64_t end;    /* offset of its end in the file */
	uint64_t hinted; /* offset in the input up to which posix_fadvise was called */
};

struct bytes {
	const char *name; /* for messages */
	struct bytes_shared *shared;
	int fd;
	bool owned;     /* bytes_close closes fd; false for standard input */
	bool in_file;   /* pread works at any offset; false for streams */
	struct stat st; /* of the file when it was opened */
	struct stretch file;
	/* Streams. */
	bool checked;        /* refuse_messages has accepted it */
	bool eof;            /* a read found the stream's end */
	bool drained;        /* the last read gave less than was asked for */
	bool finished;       /* bytes_shared.finish has ended the stream */
	size_t left_in_pipe; /* if finished: bytes in the stream that are still to be read */
	uint64_t passed;     /* offset of the first byte not yet passed */
	uint64_t hold_from;  /* offset from which passed bytes stay, too; UINT64_MAX: none */
	/* Both. The buffer holds a stream's bytes that were not passed, or a file's last look. */
	uint64_t from; /* offset of the first byte in the buffer */
	unsigned char *buffer;
	size_t capacity; /* bytes allocated */
	size_t have;     /* bytes in the buffer */
};

/* ---- opening and closing ---- */

static int open_file(struct bytes *b, struct fail *fail)
{
	/* A redirected file starts at its offset; seeking finds the size of a device. */
	const off_t here = b->owned ? 0 : lseek(b->fd, 0, SEEK_CUR);
	off_t end = b->st.st_size;

	if (here >= 0 && S_ISBLK(b->st.st_mode)) {
		end = lseek(b->fd, 0, SEEK_END);
		if (end >= 0 && lseek(b->fd, here, SEEK_SET) < 0)
			end = -1;
	}
	if (here < 0 || end < 0)
		return fail_errno(fail, "%s", b->name);
	b->file.origin = (uint64_t)here;
	b->file.end = (uint64_t)end;
	return 0;
}

int bytes_open(struct bytes **out, const char *path, int fd, struct bytes_shared *shared,
	       struct fail *fail)
{
	struct bytes *const b = calloc(1, sizeof(*b));
	int rc = 0;

	*out = NULL;
	assert(!shared->tee || fd == shared->tee->fd); /* inputs are read one after another */
	if (!b)
		return fail_errno(fail, "%s", path_shown(path));
	b->name = path_shown(path);
	b->shared = shared;
	b->hold_from = UINT64_MAX;
	b->owned = !path_is_stdin(path);
	b->fd = fd >= 0 ? fd : b->owned ? open_input(path) : STDIN_FILENO;
	const bool opened = b->fd >= 0 && fstat(b->fd, &b->st) == 0;
	b->in_file = !shared->tee && (S_ISREG(b->st.st_mode) || S_ISBLK(b->st.st_mode));
	if (opened && S_ISDIR(b->st.st_mode))
		errno = EISDIR;
	if (!opened || S_ISDIR(b->st.st_mode))
		rc = fail_errno(fail, "%s", b->name);
	else if (b->in_file)
		rc = open_file(b, fail);
	if (rc != 0) {
		bytes_close(b);
		return -1;
	}
	/*
	 * A pipe of 1 MiB is 1.5 times as fast as the default of 64 KiB, and its writer can
	 * continue while the next worker takes over.
	 */
	if (!b->in_file)
		pipe_widen(b->fd);
	*out = b;
	return 0;
}

void bytes_close(struct bytes *b)
{
	if (!b)
		return;
	if (b->shared->tee && !b->eof)
		b->shared->tee->fd = b->fd; /* main copies the rest */
	else if (b->owned && b->fd >= 0)
		close(b->fd);
	free(b->buffer);
	free(b);
}

const char *bytes_name(const struct bytes *b)
{
	return b->name;
}

bool bytes_in_file(const struct bytes *b)
{
	return b->in_file;
}

bool bytes_in_regular(const struct bytes *b)
{
	return S_ISREG(b->st.st_mode);
}

uint64_t bytes_size(const struct bytes *b)
{
	return b->file.end > b->file.origin ? b->file.end - b->file.origin : 0;
}

/* A file that is rewritten, as by `cp`, may have its old size again, but its times have changed. */
bool bytes_changed(const struct bytes *b)
{
	struct stat st;

	return bytes_in_regular(b) && (fstat(b->fd, &st) != 0 || st.st_size != b->st.st_size ||
				       st.st_ctim.tv_sec != b->st.st_ctim.tv_sec ||
				       st.st_ctim.tv_nsec != b->st.st_ctim.tv_nsec);
}

/* The size that a device reports is right, so a shorter read means a change. */
bool bytes_shorter(const struct bytes *b, uint64_t at)
{
	return b->in_file && at < bytes_size(b) && (!bytes_in_regular(b) || bytes_changed(b));
}

/* A device's times only show when its node was made. */
struct identity bytes_identity(const struct bytes *b)
{
	const bool regular = bytes_in_regular(b);

	return (struct identity){.size = bytes_size(b),
				 .seconds = regular ? b->st.st_mtim.tv_sec : 0,
				 .nanoseconds = regular ? b->st.st_mtim.tv_nsec : 0};
}

void bytes_leave(const struct bytes *b, uint64_t at)
{
	if (!b->owned && b->in_file)
		(void)lseek(b->fd, (off_t)(b->file.origin + at), SEEK_SET);
}

/* ---- files ---- */

int bytes_read_at(const struct bytes *b, uint64_t at, unsigned char *to, size_t cap, size_t *got,
		  struct fail *fail)
{
	/* No file is longer, and the system refuses a read that would go further. */
	const uint64_t longest = INT64_MAX - b->file.origin;

	cap = (size_t)lesser(cap, at < longest ? longest - at : 0);
	*got = 0;
	while (*got < cap) {
		const ssize_t n =
			pread(b->fd, to + *got, cap - *got, (off_t)(b->file.origin + at + *got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(fail, "%s", b->name);
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	return 0;
}

void bytes_hint(struct bytes *b, uint64_t at)
{
	if (!b->in_file || at + HINT_BYTES / 2 <= b->file.hinted)
		return;
	if (b->file.hinted < at) /* some bytes were passed over */
		b->file.hinted = at;
	(void)posix_fadvise(b->fd, (off_t)(b->file.origin + b->file.hinted), (off_t)HINT_BYTES,
			    POSIX_FADV_WILLNEED);
	b->file.hinted += HINT_BYTES;
}

/* ---- streams ---- */

/* Wait until there are bytes to read. 1: the wait was ended. */
static int wait_readable(struct bytes *b, struct fail *fail)
{
	const double began = clock_seconds();
	struct pollfd fds[3] = {
		{.fd = b->fd, .events = POLLIN},
		{.fd = b->shared->wake, .events = POLLIN},
		{.fd = b->shared->finish, .events = POLLIN},
	};
	const double until = b->shared->until;
	int ready;

	if (until > 0 && began >= until)
		return 1;
	do
		ready = poll(fds, 3, until > 0 ? (int)((until - began) * 1000) : -1);
	while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return fail_errno(fail, "%s", b->name);
	if (fds[2].revents != 0 && !b->finished) {
		b->finished = true;
		b->left_in_pipe = pipe_holds(b->fd);
	}
	/* For -v. Two calls of the clock take a twentieth of the time of a poll. */
	__atomic_fetch_add(&b->shared->waited_ns, (uint64_t)((clock_seconds() - began) * 1e9),
			   __ATOMIC_RELAXED);
	return fds[1].revents != 0 || ready == 0;
}

/*
 * Refuse an input that consists of messages, before any byte is taken. The advice differs: `cat`
 * reads whole packets, which fit a page, but a socket's message may exceed its buffer of 128 KiB.
 */
static int refuse_messages(struct bytes *b, struct fail *fail)
{
	if (b->checked)
		return 0;
	if (pipe_check_socket(b->fd, b->name, fail) != 0)
		return -1;
	const int packets = S_ISFIFO(b->st.st_mode) ? pipe_holds_packets(b->fd) : 0;
	if (packets < 0)
		return fail_errno(fail, "%s", b->name);
	if (packets > 0)
		return fail_set(fail, STATUS_DATA,
				"%s is a pipe in packet mode (O_DIRECT); pipe it through `cat`, "
				"which reads whole packets",
				b->name);
	b->checked = true;
	return 0;
}

/* Read `least` to cap bytes of a stream, fewer only at its end. */
static int read_on(struct bytes *b, unsigned char *to, size_t least, size_t cap, size_t *got,
		   struct fail *fail)
{
	*got = 0;
	while (*got < least && !b->eof) {
		/* bytes_shared.wake cannot end a blocked read; a poll costs 2% of a read. */
		const int rc = wait_readable(b, fail);
		if (rc != 0)
			return rc;
		if (refuse_messages(b, fail) != 0)
			return -1;
		const size_t most =
			(size_t)lesser(b->finished ? b->left_in_pipe : SIZE_MAX, cap - *got);
		const ssize_t n = most > 0 ? read(b->fd, to + *got, most) : 0;
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) {
			b->left_in_pipe = 0; /* another reader of the pipe has taken it */
			continue;
		}
		if (n < 0)
			return fail_errno(fail, "%s", b->name);
		const int passed =
			b->shared->tee ? tee_pass(b->shared->tee, to + *got, (size_t)n, fail) : 0;
		if (passed < 0)
			return -1;
		b->eof = n == 0 || passed > 0;
		if (b->finished)
			b->left_in_pipe -= (size_t)n;
		else
			b->finished = b->eof && signals_finished_soon();
		b->drained = (size_t)n < cap - *got;
		*got += (size_t)n;
	}
	return 0;
}

bool bytes_cuts(const struct bytes *b)
{
	struct pollfd one = {.fd = b->fd, .events = POLLIN};

	return b->finished && (signals_finish_number() != SIGTERM || poll(&one, 1, 0) != 1 ||
			       (one.revents & (POLLIN | POLLHUP)) != POLLHUP);
}

bool bytes_ended(const struct bytes *b)
{
	return b->eof && b->passed == b->from + b->have;
}

bool bytes_finished(const struct bytes *b)
{
	return b->finished;
}

bool bytes_drained(const struct bytes *b)
{
	return b->drained;
}

/* ---- files and streams ---- */

int bytes_read(struct bytes *b, uint64_t at, unsigned char *to, size_t least, size_t cap,
	       size_t *got, struct fail *fail)
{
	if (b->in_file)
		return bytes_read_at(b, at, to, cap, got, fail);
	assert(at == b->passed);
	const size_t had = (size_t)lesser(b->from + b->have - at, cap);
	if (had > 0)
		memcpy(to, b->buffer + (at - b->from), had);
	const int rc = read_on(b, to + had, least > had ? least - had : 0, cap - had, got, fail);
	*got += had;
	b->passed += *got;
	if (b->passed > b->from + b->have) {
		b->from = b->passed;
		b->have = 0;
	}
	return rc;
}

static int bytes_grow(struct bytes *b, size_t n, struct fail *fail)
{
	return huge_grow(&b->buffer, &b->capacity, n, b->have) ? 0
							       : fail_errno(fail, "%s", b->name);
}

/* Remove passed bytes of a stream from the buffer, unless they are kept. */
static void bytes_drop(struct bytes *b)
{
	const size_t n = (size_t)lesser(lesser(b->passed, b->hold_from) - b->from, b->have);

	b->have -= n;
	b->from += n;
	if (n > 0)
		memmove(b->buffer, b->buffer + n, b->have);
}

/* Read a stream into the buffer, at least up to offset `end`, and up to `most` bytes beyond. */
static int look_further(struct bytes *b, uint64_t end, size_t most, struct fail *fail)
{
	int rc = 0;

	while (rc == 0 && end > b->from + b->have && !b->eof) {
		const size_t spare = most < STREAM_ROOM ? most : STREAM_ROOM;
		size_t got;
		if (end + spare > b->from + b->capacity)
			bytes_drop(b);
		const size_t need = (size_t)(end - b->from) - b->have,
			     room = b->have + need + spare;
		const uint64_t larger = lesser(room + room / 2, b->shared->keep_most);
		if (b->capacity < room &&
		    bytes_grow(b, larger > room ? (size_t)larger : room, fail) != 0)
			return -1;
		const size_t left = b->capacity - b->have;
		rc = read_on(b, b->buffer + b->have, need, left - need < most ? left : need + most,
			     &got, fail);
		b->have += got;
	}
	return rc;
}

/* Read a file at an offset, and more than asked for if looks are close: they share a read. */
static int look_there(struct bytes *b, uint64_t at, size_t least, size_t most, struct fail *fail)
{
	const bool near = at >= b->from && at - b->from < 2 * LOOK_MOST;
	const size_t some = (size_t)lesser(most, near ? LOOK_MOST : LOOK_LEAST);

	b->from = at;
	b->have = 0;
	if (bytes_grow(b, least > LOOK_MOST ? least : LOOK_MOST, fail) != 0)
		return -1;
	return bytes_read_at(b, at, b->buffer, least > some ? least : some, &b->have, fail);
}

int bytes_look(struct bytes *b, uint64_t at, size_t least, size_t most, const unsigned char **bytes,
	       size_t *got, struct fail *fail)
{
	int rc = 0;

	if (least > 0 && (at < b->from || at + least > b->from + b->have))
		rc = b->in_file ? look_there(b, at, least, most, fail)
				: look_further(b, at + least, most - least, fail);
	const uint64_t end = b->from + b->have;
	*got = at >= b->from && at < end ? (size_t)(end - at) : 0;
	*bytes = *got > 0 ? b->buffer + (at - b->from) : (const unsigned char *)"";
	return rc;
}

int bytes_pass(struct bytes *b, uint64_t at, struct fail *fail)
{
	int rc = 0;

	if (b->in_file) /* any thread may call this for a file, so it changes no state */
		return 0;
	if (b->hold_from != UINT64_MAX)
		rc = look_further(b, at, SIZE_MAX, fail);
	while (rc == 0 && at > b->from + b->have && !b->eof) {
		size_t got;
		b->from += b->have;
		b->passed = b->from;
		b->have = 0;
		if (bytes_grow(b, STREAM_ROOM, fail) != 0)
			return -1;
		rc = read_on(b, b->buffer, 1, (size_t)lesser(b->capacity, at - b->from), &got,
			     fail);
		b->have = got;
	}
	b->passed = lesser(at, b->from + b->have);
	return rc;
}

void bytes_keep(struct bytes *b, uint64_t at)
{
	b->hold_from = at;
}

void bytes_go_back(struct bytes *b)
{
	if (b->hold_from != UINT64_MAX)
		b->passed = b->hold_from;
	b->hold_from = UINT64_MAX;
}

uint64_t bytes_passed(const struct bytes *b)
{
	return b->passed;
}
