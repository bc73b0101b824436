/* SPDX-License-Identifier: MIT */
/* tee: the passer, and the pipes through which the source gets the inputs. */
#include "input/tee.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/again.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/path.h"
#include "base/signals.h"
#include "input/pipe.h"

/*
 * Small enough to be in the processor's cache still when it is written (bench/README.md); large
 * enough for a packet, of 4096 bytes at most, to be read whole.
 */
#define BUFFER_BYTES ((size_t)256 << 10)

struct tee {
	char *const *paths;
	size_t count;
	int to;
	pthread_t passer;

	struct lock lock;
	pthread_cond_t changed; /* signals each of the three below: */
	int asked;              /* writing end of the pipe for the next input; -1: none */
	bool over;              /* the passer begins no more inputs */
	bool left;              /* the source asks for no more inputs */

	/* Used by the passer alone until it is over. */
	unsigned char *buffer;
	int source;       /* writing end of the source's pipe; -1: the source takes no more */
	bool reader_left; /* writing to `to` gave EPIPE */
	struct fail fail; /* what ended the passing, or kept a byte from a source that wanted it */
};

static void leave_source(struct tee *t)
{
	if (t->source >= 0)
		close(t->source);
	t->source = -1;
}

/* Passes on the first n bytes of the buffer. Returns 1; -1: standard output cannot be written. */
static int pass_bytes(struct tee *t, size_t n)
{
	/* The source may have closed its end, which is no failure. */
	if (t->source >= 0 && write_again(t->source, t->buffer, n) != 0) {
		if (errno != EPIPE)
			fail_errno(&t->fail, "pipe");
		leave_source(t);
	}
	if (write_again(t->to, t->buffer, n) == 0)
		return 1;
	const int error = errno;
	t->reader_left = error == EPIPE;
	/* The Ctrl-C that ends the input ends that reader, too. */
	if (t->reader_left && signals_finished_soon())
		return -1;
	errno = error;
	fail_errno(&t->fail, "standard output");
	/*
	 * Sent immediately, not when all workers have ended. It goes to the process: this thread
	 * has it blocked.
	 */
	if (t->reader_left)
		kill(getpid(), SIGPIPE);
	return -1;
}

/*
 * Passes the next bytes of an input, at most *left; after the signal of --finish, *left is what the
 * input held when the signal came. 1: there may be more; 0: it has ended.
 */
static int pass_some(struct tee *t, int fd, const char *name, size_t *left)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN},
				{.fd = signals_finish_fd, .events = POLLIN}};

	/* Waits also where a FIFO has no writer yet (again.h). */
	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? 1 : fail_errno(&t->fail, "%s", name);
	if (fds[1].revents != 0 && *left == SIZE_MAX)
		*left = pipe_holds(fd);
	if (*left == 0)
		return 0;
	const ssize_t got = read(fd, t->buffer, *left < BUFFER_BYTES ? *left : BUFFER_BYTES);
	if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return 1;
	if (got < 0)
		return fail_errno(&t->fail, "%s", name);
	if (*left != SIZE_MAX)
		*left -= (size_t)got;
	return got == 0 ? 0 : pass_bytes(t, (size_t)got);
}

/* Waits until the source asks for the next input, or takes no more. */
static void wait_source(struct tee *t)
{
	lock_take(&t->lock);
	while (t->asked < 0 && !t->left)
		lock_wait(&t->lock, &t->changed);
	t->source = t->asked;
	t->asked = -1;
	pthread_cond_broadcast(&t->changed);
	lock_drop(&t->lock);
}

static int pass_input(struct tee *t, const char *path)
{
	const bool owned = !path_is_stdin(path);
	const char *const name = path_shown(path);
	const int fd = owned ? open_input(path) : STDIN_FILENO;
	size_t left = SIZE_MAX;
	int rc;

	if (fd < 0)
		return fail_errno(&t->fail, "%s", name);
	pipe_widen(fd);
	rc = pipe_check_socket(fd, name, &t->fail);
	if (rc == 0) {
		wait_source(t);
		do
			rc = pass_some(t, fd, name, &left);
		while (rc > 0);
		leave_source(t);
	}
	if (owned)
		close(fd);
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
	for (size_t i = 0; rc == 0 && i < t->count && (i == 0 || !signals_finished()); i++)
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
	int ends[2];

	if (pipe(ends) != 0)
		return fail_errno(fail, "pipe");
	pipe_widen(ends[1]);
	lock_take(&t->lock);
	t->asked = ends[1];
	pthread_cond_broadcast(&t->changed);
	while (t->asked >= 0 && !t->over)
		lock_wait(&t->lock, &t->changed);
	const bool reached = t->asked < 0;
	t->asked = -1;
	lock_drop(&t->lock);
	if (reached) {
		*fd = ends[0];
		return 0;
	}
	close(ends[0]);
	close(ends[1]);
	if (t->fail.status != STATUS_OK)
		return fail_pass(fail, &t->fail);
	assert(signals_finished());
	return 1;
}

static void free_tee(struct tee *t)
{
	pthread_cond_destroy(&t->changed);
	lock_destroy(&t->lock);
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
	t = calloc(1, sizeof(*t));
	if (!t || !(t->buffer = malloc(BUFFER_BYTES)) || lock_init(&t->lock) != 0) {
		fail_errno(fail, "standard output");
		free(t ? t->buffer : NULL);
		free(t);
		return -1;
	}
	lock_init_condition(&t->changed);
	t->paths = paths;
	t->count = count;
	t->to = to;
	t->asked = t->source = -1;
	pipe_widen(to);
	errno = signals_thread(&t->passer, pass_all, t);
	if (errno != 0) {
		fail_errno(fail, "a thread for standard output");
		free_tee(t);
		return -1;
	}
	*out = t;
	return 0;
}

bool tee_goes_on(struct tee *t, double seconds)
{
	const double end = clock_seconds() + seconds;

	lock_take(&t->lock);
	t->left = true;
	pthread_cond_broadcast(&t->changed);
	while (!t->over && seconds > 0) {
		lock_wait_for(&t->lock, &t->changed, seconds);
		seconds = end - clock_seconds();
	}
	const bool over = t->over;
	lock_drop(&t->lock);
	return !over;
}

int tee_end(struct tee *t, struct fail *fail)
{
	int rc;

	tee_goes_on(t, 0); /* wakes the passer if it waits for the source */
	pthread_join(t->passer, NULL);
	/* The passer's signal may still be on its way. */
	if (t->reader_left && t->fail.status != STATUS_OK)
		raise(SIGPIPE);
	/* NFS and quotas report a failed write here. */
	if (close(t->to) != 0)
		fail_errno(&t->fail, "standard output");
	rc = t->fail.status != STATUS_OK ? fail_pass(fail, &t->fail) : t->reader_left;
	free_tee(t);
	return rc;
}
