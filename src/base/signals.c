/* SPDX-License-Identifier: MIT */
/* signals: the temporary file is removed, and the process ends as it would have done. */
#include "base/signals.h"

#include <poll.h>
#include <stddef.h>
#include <unistd.h>

char signals_file[SIGNALS_FILES][PATH_MAX + 64];

static pthread_t main_thread;
static sigset_t ours; /* those that have our handler */

/* The handler and the threads other than the main one exclude each other by these two. */
static int holders; /* threads, the main one aside, between signals_block and signals_restore */
static int ending;  /* the handler has begun: the process will end */

static const int SIGNALS[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};

/*
 * The signal is blocked while its handler runs: raised here, it ends the process when the handler
 * returns.
 */
static void on_signal(int number)
{
	if (!pthread_equal(pthread_self(), main_thread)) {
		pthread_kill(main_thread, number);
		return;
	}
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	/*
	 * This takes a system call or two, in which a thread opens, renames or removes its file. No
	 * other thread begins one.
	 */
	while (__atomic_load_n(&holders, __ATOMIC_SEQ_CST) > 0)
		poll(NULL, 0, 1);
	for (int i = 0; i < SIGNALS_FILES; i++)
		if (signals_file[i][0] != '\0')
			unlink(signals_file[i]);
	signal(number, SIG_DFL);
	raise(number);
}

/* For a thread that is not ours and does not block it. */
static void on_usr1(int number)
{
	(void)number;
}

static void take(int number)
{
	struct sigaction action;

	/* Ignored, as under nohup, or handled already, by a profiler that was preloaded. */
	if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
		return;
	action = (struct sigaction){.sa_handler = on_signal, .sa_mask = ours};
	if (sigaction(number, &action, NULL) == 0)
		sigaddset(&ours, number);
}

/*
 * Users of dd send this signal to ask for progress; it must never end the work. Where it is ignored
 * it stays so.
 */
static void take_usr1(void)
{
	struct sigaction action;
	sigset_t usr1;

	if (sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
		return;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	sigaddset(&ours, SIGUSR1);
	action = (struct sigaction){.sa_handler = on_usr1, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &action, NULL);
}

void signals_init(void)
{
	main_thread = pthread_self();
	sigemptyset(&ours);
	/* Past `ulimit -f` a write then fails like any other, and the message says why. */
	signal(SIGXFSZ, SIG_IGN);
	take_usr1();
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++)
		take(SIGNALS[i]);
}

int signals_slot(void)
{
	return pthread_equal(pthread_self(), main_thread) ? SIGNALS_MAIN : SIGNALS_OTHER;
}

void signals_block(sigset_t *old)
{
	pthread_sigmask(SIG_BLOCK, &ours, old);
	if (pthread_equal(pthread_self(), main_thread))
		return;
	__atomic_fetch_add(&holders, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST))
		return;
	/* The handler would miss a file that this thread makes now. The process ends in a moment. */
	__atomic_fetch_sub(&holders, 1, __ATOMIC_SEQ_CST);
	for (;;)
		poll(NULL, 0, -1);
}

void signals_restore(const sigset_t *old)
{
	if (!pthread_equal(pthread_self(), main_thread))
		__atomic_fetch_sub(&holders, 1, __ATOMIC_SEQ_CST);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* A new thread begins with the mask of the thread that starts it. */
static int start(pthread_t *thread, const sigset_t *blocked, void *(*run)(void *), void *arg)
{
	sigset_t old;

	pthread_sigmask(SIG_BLOCK, blocked, &old);
	const int error = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

int signals_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	return start(thread, &ours, run, arg);
}

int signals_waiter(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t blocked = ours;

	sigaddset(&blocked, SIGUSR1);
	return start(thread, &blocked, run, arg);
}

bool signals_wait(double seconds)
{
	const double most = 1e6; /* the caller looks at the time again */
	const double wait = seconds < 0 ? 0 : seconds < most ? seconds : most;
	const struct timespec time = {.tv_sec = (time_t)wait,
				      .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9)};
	siginfo_t from;
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	/* From this process it is signals_wake's. */
	return sigtimedwait(&usr1, &from, &time) == SIGUSR1 && from.si_pid != getpid();
}

void signals_wake(pthread_t thread)
{
	pthread_kill(thread, SIGUSR1);
}
