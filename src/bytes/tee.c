/* SPDX-License-Identifier: MIT */
/* tee: copies bytes to standard output, in the thread that reads them; main copies the rest. */
#include "bytes/tee.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "base/clock.h"
#include "base/signals.h"
#include "base/tally.h"
#include "bytes/bytes.h"
#include "bytes/pipe.h"

int tee_begin(struct tee *t, char *const *paths, size_t count, int to, struct fail *fail)
{
	const int flags = fcntl(to, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return fail_set(fail, STATUS_SYSTEM,
				"standard output is closed or not open for writing");
	pipe_widen(to);
	*t = (struct tee){.paths = paths, .count = count, .to = to, .fd = -1};
	return 0;
}

/* Return 0 or errno. If the reader has left, raise no SIGPIPE in any thread. */
static int write_all(int to, const unsigned char *bytes, size_t n)
{
	sigset_t one, old;

	sigemptyset(&one);
	sigaddset(&one, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &one, &old);
	const int error = write_again(to, bytes, n) == 0 ? 0 : errno;
	if (error == EPIPE)
		(void)sigtimedwait(&one, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

int tee_pass(struct tee *t, const unsigned char *bytes, size_t n, struct fail *fail)
{
	const int error = write_all(t->to, bytes, n);

	if (n == 0)
		tally_add(&t->passed, 1);
	if (error == 0)
		return 0;
	t->left = error == EPIPE;
	/* The Ctrl-C that ended the input has ended that reader, too. */
	if (t->left && signals_finished_soon())
		return 1;
	errno = error;
	fail_errno(&t->fail, "standard output");
	/* The main thread gets the signal, so the process ends now, not after the last worker. */
	if (t->left)
		kill(getpid(), SIGPIPE);
	return fail_pass(fail, &t->fail);
}

bool tee_rest(struct tee *t, double seconds)
{
	struct bytes_shared shared = {.wake = -1,
				      .finish = signals_finish_fd,
				      .until = seconds > 0 ? clock_seconds() + seconds : 0,
				      .tee = t};
	int rc = 0;

	while (rc == 0 && t->passed < t->count && !t->left && t->fail.status == STATUS_OK) {
		struct bytes *b;
		/* After the signal of --finish, no input but the first is opened. */
		if (t->passed > 0 && t->fd < 0 && signals_finished())
			break;
		if (bytes_open(&b, t->paths[t->passed], t->fd, &shared, &t->fail) != 0)
			break;
		t->fd = -1;
		rc = bytes_pass(b, UINT64_MAX, &t->fail);
		bytes_close(b);
	}
	return rc > 0;
}

int tee_end(struct tee *t, struct fail *fail)
{
	/* The signal from tee_pass may still be on its way. */
	if (t->left && t->fail.status != STATUS_OK)
		raise(SIGPIPE);
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	/* NFS and quotas report a failed write here. */
	if (close(t->to) != 0)
		fail_errno(&t->fail, "standard output");
	return t->fail.status != STATUS_OK ? fail_pass(fail, &t->fail) : t->left;
}
