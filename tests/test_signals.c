/* SPDX-License-Identifier: MIT */
/*
 * signals: which signals end the process and which do not, and the removal of the temporary file.
 */
#include "base/signals.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "check.h"
#include "output/output.h"
#include "scratch.h"

static void *raise_there(void *number)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	raise(*(int *)number);
	return NULL;
}

/*
 * In a process of its own: return the wait status after a signal between opening and publishing
 * "f". The signal to a thread comes while the main thread blocks such signals: the main thread goes
 * on and makes "held".
 */
static int signalled(int number, bool ignored, bool from_thread)
{
	int status;
	const pid_t child = fork();

	if (child == 0) {
		struct fail fail = {0};
		struct output *o;
		pthread_t thread;
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		signal(number, ignored ? SIG_IGN : SIG_DFL);
		signals_init();
		if (output_open(&o, "f", &fail) != 0)
			_exit(99);
		if (from_thread) {
			sigset_t old;
			signals_block(&old);
			if (pthread_create(&thread, NULL, raise_there, &number) != 0 ||
			    pthread_join(thread, NULL) != 0)
				_exit(97);
			scratch_write("held", "", 0);
			signals_restore(&old);
		} else {
			raise(number);
		}
		_exit(output_commit(o, &fail) == 0 ? 42 : 98);
	}
	waitpid(child, &status, 0);
	return status;
}

/*
 * A signal removes the temporary file and ends the process, whichever thread receives it; a signal
 * that was ignored at the start does not, nor do USR1 and XFSZ.
 */
static void signals(void)
{
	const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGXFSZ};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const int n = numbers[i];
		for (int how = 0; how < 4; how++) {
			const bool ignored = how & 1,
				   survives = ignored || n == SIGUSR1 || n == SIGXFSZ;
			const int status = signalled(n, ignored, how & 2);
			if (how & 2)
				CHECK(unlink("held") == 0,
				      "signal %d: not held back from the main thread", n);
			if (survives)
				CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42,
				      "signal %d: status %x", n, (unsigned)status);
			else
				CHECK(WIFSIGNALED(status) && WTERMSIG(status) == n,
				      "signal %d: status %x", n, (unsigned)status);
			CHECK(scratch_files() == (unsigned)survives, "signal %d: %u files", n,
			      scratch_files());
			scratch_clean();
		}
	}
}

static void *blocked_there(void *arg)
{
	pthread_sigmask(SIG_BLOCK, NULL, arg);
	return NULL;
}

static void *stack_here(void *size)
{
	pthread_attr_t attributes;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
	    pthread_attr_getstacksize(&attributes, size) != 0)
		return size;
	pthread_attr_destroy(&attributes);
	return NULL;
}

/* The stack of a thread does not depend on `ulimit -s`, here usually 8 MiB. */
static void stacks(void)
{
	pthread_t thread;
	size_t size = 0;

	signals_init();
	CHECK(signals_thread(&thread, stack_here, &size) == 0, "no thread");
	pthread_join(thread, NULL);
	CHECK(size >> 20 == 1, "%zu bytes", size);
}

static void on_profile(int number)
{
	(void)number;
}

/*
 * Our own threads receive none of these signals, the main thread receives them all. A handler that
 * a preloaded profiler installed stays.
 */
static void threads_block(void)
{
	const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
	int status;
	const pid_t child = fork();

	if (child == 0) {
		struct sigaction after;
		sigset_t there, here;
		pthread_t thread;
		int wrong = 0;
		signal(SIGQUIT, on_profile);
		signals_init();
		sigemptyset(&there);
		wrong += signals_thread(&thread, blocked_there, &there) != 0 ||
			 pthread_join(thread, NULL) != 0;
		pthread_sigmask(SIG_BLOCK, NULL, &here);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			wrong += !sigismember(&there, numbers[i]) + sigismember(&here, numbers[i]);
		wrong += sigismember(&there, SIGQUIT);
		sigaction(SIGQUIT, NULL, &after);
		wrong += after.sa_handler != on_profile;
		_exit(wrong);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

/*
 * Make files as an output does, one after another. *late: for longer than handling the signal
 * takes.
 */
static void *make_files(void *late)
{
	sigset_t old;

	for (;;) {
		signals_block(&old);
		CHECK(signals_file_index() == SIGNALS_OTHER, "slot %d", signals_file_index());
		strcpy(signals_file[SIGNALS_OTHER], "other");
		if (*(bool *)late) {
			kill(getpid(), SIGTERM);
			usleep(20000);
			scratch_write("waited", "", 0);
		}
		scratch_write("other", "", 0);
		signals_restore(&old);
		signals_block(&old);
		unlink("other");
		signals_file[SIGNALS_OTHER][0] = '\0';
		signals_restore(&old);
	}
	return NULL;
}

/*
 * A signal while another thread makes a file, or at any time between: the process dies of it, and
 * no file is left.
 */
static void two_threads_make_files(void)
{
	for (unsigned i = 0; i < 60; i++) {
		bool late = i < 5;
		int status;
		const pid_t child = fork();
		if (child == 0) {
			struct fail fail = {0};
			struct output *o;
			pthread_t thread;
			signals_init();
			if (output_open(&o, "f", &fail) != 0 ||
			    signals_thread(&thread, make_files, &late) != 0)
				_exit(99);
			if (!late) {
				usleep(500 + i * 37);
				raise(SIGTERM);
			}
			for (;;)
				pause();
		}
		waitpid(child, &status, 0);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "status %x",
		      (unsigned)status);
		CHECK(!late || unlink("waited") == 0, "the handler has not waited");
		CHECK(scratch_files() == 0, "%u: %u files", i, scratch_files());
		scratch_clean();
	}
}

/*
 * One thread waits for USR1; if the signal was ignored at the start, or a preloaded library handles
 * it, that stays so.
 */
static void *wait_here(void *came)
{
	const bool first = signals_wait(10), then = signals_wait(0);

	*(int *)came = first + 2 * then;
	return NULL;
}

static void usr1(void)
{
	for (int how = 0; how < 3; how++) {
		int status;
		const pid_t child = fork();
		if (child == 0) {
			sigset_t here;
			struct sigaction after;
			pthread_t thread;
			int came = 0;
			signal(SIGUSR1, how == 0 ? SIG_DFL : how == 1 ? SIG_IGN : on_profile);
			signals_init();
			pthread_sigmask(SIG_BLOCK, NULL, &here);
			sigaction(SIGUSR1, NULL, &after);
			if (sigismember(&here, SIGUSR1) != (how == 0) ||
			    (how == 1) != (after.sa_handler == SIG_IGN) ||
			    (how == 2) != (after.sa_handler == on_profile))
				_exit(50);
			const pid_t us = getpid(), other = fork();
			if (other == 0)
				_exit(kill(us, SIGUSR1));
			waitpid(other, &status, 0);
			if (signals_thread(&thread, wait_here, &came) != 0)
				_exit(51);
			/* A signal that is ignored or handled does not end the wait: this does. */
			if (how > 0)
				signals_wake(thread);
			pthread_join(thread, NULL);
			_exit(came);
		}
		waitpid(child, &status, 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (how == 0), "%d: status %x", how,
		      (unsigned)status);
	}
}

static void *has_finished(void *arg)
{
	*(bool *)arg = signals_finished();
	return NULL;
}

/*
 * --finish: the first INT or TERM is only remembered, even while it is blocked, and so is one that
 * comes with it, as from timeout(1). A later one ends the process, and HUP always does.
 */
static void finish(void)
{
	const int first[] = {SIGINT, SIGTERM, SIGTERM, SIGHUP};
	const int second[] = {SIGINT, SIGINT, SIGHUP, 0};

	for (size_t i = 0; i < 4; i++) {
		const int last = second[i] ? second[i] : first[i];
		int status;
		const pid_t child = fork();
		if (child == 0) {
			sigset_t old;
			pthread_t thread;
			bool before = true, pending = false;
			signals_init();
			if (signals_finished() || signals_finish(-1) != 0)
				_exit(99);
			before = signals_finished();
			signals_block(&old);
			kill(getpid(), first[i]);
			if (signals_thread(&thread, has_finished, &pending) != 0 ||
			    pthread_join(thread, NULL) != 0)
				_exit(98);
			signals_restore(&old);
			raise(first[i]);
			char byte;
			if (before || !pending || !signals_finished() ||
			    read(signals_finish_fd, &byte, 1) != 1)
				_exit(97);
			usleep(150000);
			raise(second[i]);
			_exit(96);
		}
		waitpid(child, &status, 0);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == last, "%zu: status %x", i,
		      (unsigned)status);
	}
}

/*
 * INT and TERM print the last words, whole or not at all: they do not wait for stderr, and the
 * process dies of the same signal if nobody reads it.
 */
static void last_words(void)
{
	static const char LINE[] = "these\n";
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	enum { READ, FULL, CLOSED, NONE, HOWS };

	for (int i = 0; i < 4 * HOWS; i++) {
		const int number = numbers[i / HOWS], how = i % HOWS;
		char text[1 << 12], fill[1 << 12] = "";
		int ends[2], status;
		CHECK(pipe(ends) == 0, "pipe");
		const pid_t child = fork();
		if (child == 0) {
			setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
			dup2(ends[1], STDERR_FILENO);
			if (how == CLOSED)
				close(ends[0]);
			fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
			while (how == FULL && write(STDERR_FILENO, fill, sizeof(fill)) > 0)
				;
			fcntl(STDERR_FILENO, F_SETFL, 0);
			signals_init();
			signals_last_words("others\n");
			signals_last_words(how == NONE ? NULL : LINE);
			raise(number);
			_exit(96);
		}
		close(ends[1]);
		if (how == CLOSED)
			close(ends[0]);
		waitpid(child, &status, 0);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number, "%d: status %x", i,
		      (unsigned)status);
		if (how == CLOSED)
			continue;
		ssize_t n, all = 0;
		while ((n = read(ends[0], text, sizeof(text))) > 0 && how == FULL)
			all += n;
		if (how == FULL)
			CHECK(all > 0 && all % (ssize_t)sizeof(fill) == 0, "%d: %zd bytes", i, all);
		else
			CHECK(how == READ && i < 2 * HOWS
				      ? n == (ssize_t)strlen(LINE) &&
						memcmp(text, LINE, (size_t)n) == 0
				      : n == 0,
			      "%d: %zd bytes", i, n);
		close(ends[0]);
	}
}

int main(void)
{
	alarm(300);
	scratch_enter();
	signals();
	two_threads_make_files();
	usr1();
	threads_block();
	finish();
	last_words();
	stacks();
	scratch_leave();
	return check_report();
}
