/* SPDX-License-Identifier: MIT */
/* signals: removes the temporary files and lets the signal end the process. */
#include "base/signals.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define TWICE_SECONDS 0.1
#define SOON_MS 50
/*
 * Stack size for signals_thread, whatever `ulimit -s` says: in an unoptimised build a worker needs
 * 16 KiB, and the SVG of --every nearly 256 KiB.
 */
#define STACK_BYTES ((size_t)1 << 20)

char signals_file[SIGNALS_FILES][PATH_MAX + 64];

int signals_finish_fd = -1;

static pthread_t main_thread;
static int finish_pipe;
static int finishing;          /* the signal of --finish, once it has arrived; atomic */
static int echo = -1;          /* terminal that shows ^C when INT arrives; -1: none */
static double finishing_began; /* when it arrived; used only by the main thread */
static sigset_t ours;          /* signals that we handle, including USR1 */

/* `blocking` and `ending` make the handler and all threads but the main one exclude each other. */
static int blocking; /* threads, except the main one, between signals_block and signals_restore */
static int ending;   /* the handler has begun: the process will end */

static const char *last_words; /* printed on INT and TERM, or NULL; atomic */

static const int SIGNALS[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};

/*
 * Does this signal only end streams (--finish)? A second one within TWICE_SECONDS is ignored:
 * timeout(1) sends each signal twice, to the process and to its group.
 */
static bool finishes(int number)
{
	const int error = errno;

	if (signals_finish_fd < 0 || (number != SIGINT && number != SIGTERM))
		return false;
	if (__atomic_exchange_n(&finishing, number, __ATOMIC_SEQ_CST))
		return clock_seconds() - finishing_began < TWICE_SECONDS;
	finishing_began = clock_seconds();
	if (number == SIGINT && echo >= 0)
		(void)!write(echo, "\n", 1);
	(void)!write(finish_pipe, "", 1);
	errno = error;
	return true;
}

/* Print the last words, unless stderr would block. */
static void say_last_words(void)
{
	const char *const line = __atomic_load_n(&last_words, __ATOMIC_ACQUIRE);
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (!line || poll(&p, 1, 0) != 1)
		return;
	/* If nobody reads stderr, the process still dies of its own signal. */
	signal(SIGPIPE, SIG_IGN);
	(void)!write(STDERR_FILENO, line, strlen(line));
}

/* A signal raised here is blocked until the handler returns; then it ends the process. */
static void on_signal(int number)
{
	if (!pthread_equal(pthread_self(), main_thread)) {
		pthread_kill(main_thread, number);
		return;
	}
	if (finishes(number))
		return;
	__atomic_store_n(&ending, 1, __ATOMIC_SEQ_CST);
	/*
	 * This lasts one or two system calls, while a thread opens, renames or removes its file.
	 * signals_block keeps other threads from starting one.
	 */
	while (__atomic_load_n(&blocking, __ATOMIC_SEQ_CST) > 0)
		poll(NULL, 0, 1);
	for (int i = 0; i < SIGNALS_FILES; i++)
		if (signals_file[i][0] != '\0')
			unlink(signals_file[i]);
	if (number == SIGINT || number == SIGTERM)
		say_last_words();
	signal(number, SIG_DFL);
	raise(number);
}

/* Runs only in a library's thread that does not block USR1. */
static void on_usr1(int number)
{
	(void)number;
}

static void catch (int number)
{
	struct sigaction action;

	/* Leave it if ignored, as under nohup, or handled by a preloaded profiler. */
	if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
		return;
	action = (struct sigaction){
		.sa_handler = on_signal, .sa_mask = ours, .sa_flags = SA_RESTART};
	if (sigaction(number, &action, NULL) == 0)
		sigaddset(&ours, number);
}

/*
 * Users of dd send USR1 to ask for progress, so it must never end the process. If it is already
 * ignored or handled, leave it so.
 */
static void catch_usr1(void)
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
	/* Beyond `ulimit -f` a write then fails normally, and the message says why. */
	signal(SIGXFSZ, SIG_IGN);
	catch_usr1();
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++)
		catch (SIGNALS[i]);
}

int signals_finish(int terminal)
{
	int ends[2];

	if (pipe(ends) != 0)
		return -1;
	echo = terminal;
	finish_pipe = ends[1];
	signals_finish_fd = ends[0];
	return 0;
}

void signals_last_words(const char *line)
{
	__atomic_store_n(&last_words, line, __ATOMIC_RELEASE);
}

bool signals_finished(void)
{
	sigset_t pending;

	if (signals_finish_fd < 0 || __atomic_load_n(&finishing, __ATOMIC_SEQ_CST))
		return signals_finish_fd >= 0;
	/* The signal may still be on its way to the main thread. */
	sigpending(&pending);
	return sigismember(&pending, SIGINT) > 0 || sigismember(&pending, SIGTERM) > 0;
}

int signals_finish_number(void)
{
	return __atomic_load_n(&finishing, __ATOMIC_SEQ_CST);
}

const char *signals_finish_name(void)
{
	const int number = signals_finish_number();

	return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : "a signal";
}

bool signals_finished_soon(void)
{
	struct pollfd one = {.fd = signals_finish_fd, .events = POLLIN};

	if (signals_finish_fd >= 0 && !signals_finished())
		(void)poll(&one, 1, SOON_MS);
	return signals_finished();
}

int signals_file_index(void)
{
	return pthread_equal(pthread_self(), main_thread) ? SIGNALS_MAIN : SIGNALS_OTHER;
}

void signals_block(sigset_t *old)
{
	pthread_sigmask(SIG_BLOCK, &ours, old);
	if (pthread_equal(pthread_self(), main_thread))
		return;
	__atomic_fetch_add(&blocking, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST))
		return;
	/* The process is about to end, and the handler would miss a file created now. */
	__atomic_fetch_sub(&blocking, 1, __ATOMIC_SEQ_CST);
	for (;;)
		poll(NULL, 0, -1);
}

void signals_restore(const sigset_t *old)
{
	if (!pthread_equal(pthread_self(), main_thread))
		__atomic_fetch_sub(&blocking, 1, __ATOMIC_SEQ_CST);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* A new thread inherits the signal mask of its creator. */
int signals_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attributes;
	sigset_t blocked = ours, old;

	/* Always block USR1: signals_wake must reach the waiting thread and not end the process. */
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	const int error = pthread_create(thread, &attributes, run, arg);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

bool signals_wait(double seconds)
{
	const double most = 1e6; /* the caller checks the time again */
	const double wait = seconds < 0 ? 0 : seconds < most ? seconds : most;
	const struct timespec time = {.tv_sec = (time_t)wait,
				      .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9)};
	siginfo_t from;
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	/* A USR1 from this process was sent by signals_wake. */
	return sigtimedwait(&usr1, &from, &time) == SIGUSR1 && from.si_pid != getpid();
}

void signals_wake(pthread_t thread)
{
	pthread_kill(thread, SIGUSR1);
}
