/* SPDX-License-Identifier: MIT */
/* tee: the passer, and the pipes that it hands to the source. */
#include "input/tee.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/again.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/path.h"
#include "base/signals.h"
#include "input/pipe.h"

/* what `cat` reads in one call; stays in the cache until it is written */
#define COPY_BYTES ((size_t)128 << 10)
/* the most in one call: still in the cache when the source copies it */
#define MOVE_BYTES ((size_t)256 << 10)

struct tee {
	char *const *paths;
	size_t count;
	int to;
	pthread_t passer;

	struct lock lock;
	pthread_cond_t changed; /* signals each of the three below: */
	/* reading end of an input's pipe that the source has not taken yet; -1: none */
	int offered;
	bool over; /* the passer will offer no more */
	bool left; /* the source will take no more */

	/* Used by the passer alone until it is joined. */
	int hand[2]; /* the pipe in hand: bytes taken from the input and not passed yet */
	/* writing end of the source's pipe; -1: this input is not counted, or no longer */
	int source;
	bool copies;           /* splice was refused: read and write from now on */
	bool reader_left;      /* writing to `to` gave EPIPE */
	struct fail passing;   /* a failure that ended the passing */
	unsigned char *buffer; /* of COPY_BYTES */

	/* Set by the passer before `over`, and read after the passer is joined. */
	/* a byte that was passed did not reach the source, which still wanted it */
	struct fail counting;
};

/* The input that is being passed. */
struct passed {
	const char *name; /* for messages */
	int fd;
	bool looked; /* whether it consists of messages was checked */
	bool copies; /* splice from it was refused */
};

/* Waits until fd can be read or written, or has an end that the next call will report. */
static int wait_for(int fd, short events)
{
	struct pollfd one = {.fd = fd, .events = events};
	int rc;

	do
		rc = poll(&one, 1, -1);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -1 : 0;
}

/* After a call on fd has failed: should it be repeated? Waits first where it would have blocked. */
static bool again(int fd, short events)
{
	if (errno == EINTR)
		return true;
	return (errno == EAGAIN || errno == EWOULDBLOCK) && wait_for(fd, events) == 0;
}

/* ---- what leaves ---- */

static int write_all(int fd, const unsigned char *bytes, size_t n)
{
	while (n > 0) {
		const ssize_t some = write(fd, bytes, n);
		if (some >= 0) {
			bytes += some;
			n -= (size_t)some;
		} else if (!again(fd, POLLOUT)) {
			return -1;
		}
	}
	return 0;
}

static void leave_source(struct tee *t)
{
	if (t->source >= 0)
		close(t->source);
	t->source = -1;
}

/* The source may have closed its end, which is no failure. */
static void copy_to_source(struct tee *t, const unsigned char *bytes, size_t n)
{
	if (t->source < 0 || n == 0 || write_all(t->source, bytes, n) == 0)
		return;
	if (errno != EPIPE)
		fail_errno(&t->counting, "pipe");
	leave_source(t);
}

static int copy_out(struct tee *t, const unsigned char *bytes, size_t n)
{
	if (write_all(t->to, bytes, n) == 0)
		return 0;
	t->reader_left = errno == EPIPE;
	fail_errno(&t->passing, "standard output");
	/*
	 * Immediately, not when all workers have ended. The signal goes to the process: this thread
	 * has it blocked.
	 */
	if (t->reader_left)
		kill(getpid(), SIGPIPE);
	return -1;
}

/* Copies n bytes of the pipe in hand, of which the source has the first `shown` already. */
static int copy_hand(struct tee *t, const struct passed *in, size_t n, size_t shown)
{
	while (n > 0) {
		const ssize_t got = read(t->hand[0], t->buffer, n < COPY_BYTES ? n : COPY_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fail_errno(&t->passing, "%s", in->name);
		const size_t some = (size_t)got, known = shown < some ? shown : some;
		copy_to_source(t, t->buffer + known, some - known);
		if (copy_out(t, t->buffer, some) != 0)
			return -1;
		n -= some;
		shown -= known;
	}
	return 0;
}

#ifdef __linux__

/*
 * Shows n bytes in hand to the source; returns how many it has now, or n if it takes none any more.
 * -1: there is no such call here.
 */
static ssize_t show_source(struct tee *t, size_t n)
{
	ssize_t some;

	if (t->source < 0)
		return (ssize_t)n;
	do
		some = tee(t->hand[0], t->source, n, 0);
	while (some < 0 && again(t->source, POLLOUT));
	if (some < 0 && errno == EPIPE) {
		leave_source(t);
		return (ssize_t)n;
	}
	return some > 0 ? some : -1;
}

static int move_hand(struct tee *t, const struct passed *in, size_t n)
{
	while (n > 0) {
		ssize_t shown = show_source(t, n);
		t->copies |= shown < 0;
		while (shown > 0 && !t->copies) {
			const ssize_t some =
				splice(t->hand[0], NULL, t->to, NULL, (size_t)shown, SPLICE_F_MOVE);
			if (some > 0) {
				shown -= some;
				n -= (size_t)some;
			} else {
				t->copies = some == 0 || !again(t->to, POLLOUT);
			}
		}
		if (t->copies)
			return copy_hand(t, in, n, shown > 0 ? (size_t)shown : 0);
	}
	return 0;
}

static ssize_t take_in_hand(struct tee *t, const struct passed *in)
{
	return splice(in->fd, NULL, t->hand[1], NULL, MOVE_BYTES, SPLICE_F_MOVE);
}

#else

static int move_hand(struct tee *t, const struct passed *in, size_t n)
{
	return copy_hand(t, in, n, 0);
}

static ssize_t take_in_hand(struct tee *t, const struct passed *in)
{
	(void)t, (void)in;
	errno = ENOSYS;
	return -1;
}

#endif

/* ---- what comes ---- */

/* A packet must be read whole, and a socket's message may be larger than any buffer. */
static int look(struct tee *t, struct passed *in)
{
	struct stat st;

	in->looked = true;
	if (pipe_check_socket(in->fd, in->name, &t->passing) != 0)
		return -1;
	if (fstat(in->fd, &st) != 0)
		return fail_errno(&t->passing, "%s", in->name);
	in->copies = S_ISFIFO(st.st_mode) && pipe_holds_packets(in->fd) != 0;
	return 0;
}

/*
 * Passes the next bytes of an input, as many as are there. 1: there may be more; 0: it has ended.
 */
static int pass_some(struct tee *t, struct passed *in)
{
	/* Before every read, also from a FIFO that has no writer yet (again.h). */
	if (wait_for(in->fd, POLLIN) != 0)
		return fail_errno(&t->passing, "%s", in->name);
	if (!in->looked && look(t, in) != 0)
		return -1;
	const bool copies = t->copies || in->copies;
	const ssize_t got = copies ? read(in->fd, t->buffer, COPY_BYTES) : take_in_hand(t, in);
	if (got == 0 || (got < 0 && again(in->fd, POLLIN)))
		return got < 0;
	if (got < 0 && copies)
		return fail_errno(&t->passing, "%s", in->name);
	in->copies |= got < 0;
	if (got < 0)
		return 1;
	if (!copies)
		return move_hand(t, in, (size_t)got) == 0 ? 1 : -1;
	copy_to_source(t, t->buffer, (size_t)got);
	return copy_out(t, t->buffer, (size_t)got) == 0 ? 1 : -1;
}

/* ---- from input to input ---- */

/* Makes the pipe through which the source gets the next input, once it has taken the one before. */
static void offer(struct tee *t, const char *name)
{
	int ends[2];

	lock_take(&t->lock);
	while (t->offered >= 0 && !t->left)
		lock_wait(&t->lock, &t->changed);
	bool wanted = !t->left && !t->over;
	lock_drop(&t->lock);
	if (!wanted)
		return;
	const bool made = pipe(ends) == 0;
	if (made)
		pipe_widen(ends[1]);
	else
		fail_errno(&t->counting, "%s", name);
	lock_take(&t->lock);
	wanted = made && !t->left;
	if (wanted)
		t->offered = ends[0];
	t->over |= !made;
	pthread_cond_broadcast(&t->changed);
	lock_drop(&t->lock);
	if (wanted)
		t->source = ends[1];
	else if (made) {
		close(ends[0]);
		close(ends[1]);
	}
}

static int pass_input(struct tee *t, const char *path)
{
	const bool owned = !path_is_stdin(path);
	struct passed in = {.name = owned ? path : "standard input",
			    .fd = owned ? open_input(path) : STDIN_FILENO};
	int rc;

	if (in.fd < 0)
		return fail_errno(&t->passing, "%s", *path ? path : "''");
	pipe_widen(in.fd);
	offer(t, in.name);
	do
		rc = pass_some(t, &in);
	while (rc > 0);
	leave_source(t);
	if (owned)
		close(in.fd);
	return rc;
}

static void *pass_all(void *arg)
{
	struct tee *t = arg;
	sigset_t pipe_signal;
	int rc = 0;

	/*
	 * The source closes its pipe when it wants no more, which must not raise SIGPIPE here;
	 * where `to` has lost its reader, this thread sends the signal itself.
	 */
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
	for (size_t i = 0; rc == 0 && i < t->count; i++)
		rc = pass_input(t, t->paths[i]);
	lock_take(&t->lock);
	t->over = true;
	pthread_cond_broadcast(&t->changed);
	lock_drop(&t->lock);
	return NULL;
}

/* ---- the other threads' ---- */

int tee_next(struct tee *t, int *fd, struct fail *fail)
{
	lock_take(&t->lock);
	while (t->offered < 0 && !t->over)
		lock_wait(&t->lock, &t->changed);
	*fd = t->offered;
	t->offered = -1;
	pthread_cond_broadcast(&t->changed);
	lock_drop(&t->lock);
	if (*fd >= 0)
		return 0;
	/*
	 * The passer has ended: it changes `counting` no more, nor `passing`, which is read only if
	 * `counting` has no reason.
	 */
	const struct fail *why = t->counting.status != STATUS_OK ? &t->counting : &t->passing;
	return why->status != STATUS_OK ? fail_pass(fail, why)
					: fail_set(fail, STATUS_INTERNAL,
						   "internal error: more inputs were asked for "
						   "than passed: please report this");
}

static void free_tee(struct tee *t)
{
	if (t->hand[0] >= 0)
		close(t->hand[0]);
	if (t->hand[1] >= 0)
		close(t->hand[1]);
	free(t->buffer);
	free(t);
}

int tee_start(struct tee **out, char *const *paths, size_t count, int to, struct fail *fail)
{
	const int flags = fcntl(to, F_GETFL);
	struct tee *t;

	*out = NULL;
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return fail_set(fail, STATUS_SYSTEM,
				"standard output: closed, or not open for writing");
	if (!(t = calloc(1, sizeof(*t))) || !(t->buffer = malloc(COPY_BYTES))) {
		free(t);
		return fail_errno(fail, "standard output");
	}
	*t = (struct tee){.paths = paths,
			  .count = count,
			  .to = to,
			  .offered = -1,
			  .source = -1,
			  .buffer = t->buffer};
	t->copies = pipe(t->hand) != 0;
	if (t->copies)
		t->hand[0] = t->hand[1] = -1;
	else
		pipe_widen(t->hand[1]);
	pipe_widen(to);
	if (lock_init(&t->lock) != 0) {
		free_tee(t);
		return fail_set(fail, STATUS_SYSTEM, "lock: cannot be made");
	}
	pthread_cond_init(&t->changed, NULL);
	errno = signals_thread(&t->passer, pass_all, t);
	if (errno == 0) {
		*out = t;
		return 0;
	}
	fail_errno(fail, "a thread for standard output");
	pthread_cond_destroy(&t->changed);
	lock_destroy(&t->lock);
	free_tee(t);
	return -1;
}

/* The source will take no more inputs. */
static void leave(struct tee *t)
{
	lock_take(&t->lock);
	t->left = true;
	const int unused = t->offered;
	t->offered = -1;
	pthread_cond_broadcast(&t->changed);
	lock_drop(&t->lock);
	if (unused >= 0)
		close(unused);
}

bool tee_goes_on(struct tee *t, double seconds)
{
	const double end = clock_seconds() + seconds;
	double left = seconds;

	leave(t);
	lock_take(&t->lock);
	while (!t->over && left > 0) {
		lock_wait_for(&t->lock, &t->changed, left);
		left = end - clock_seconds();
	}
	const bool over = t->over;
	lock_drop(&t->lock);
	return !over;
}

int tee_end(struct tee *t, struct fail *fail)
{
	leave(t);
	pthread_join(t->passer, NULL);
	/* The passer's signal may still be on its way. */
	if (t->reader_left)
		raise(SIGPIPE);
	/* NFS and quotas report a failed write here. */
	if (close(t->to) != 0)
		fail_errno(&t->passing, "standard output");
	int rc = 0;
	if (t->passing.status != STATUS_OK)
		rc = fail_pass(fail, &t->passing);
	else if (t->counting.status != STATUS_OK)
		rc = fail_pass(fail, &t->counting);
	pthread_cond_destroy(&t->changed);
	lock_destroy(&t->lock);
	free_tee(t);
	return rc;
}
