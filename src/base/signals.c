/* signals: the temporary file is removed, and the process ends as it would have done. */
#include "base/signals.h"

#include <stddef.h>
#include <unistd.h>

char signals_file[PATH_MAX + 64];

static pthread_t main_thread;
static sigset_t ours; /* those that have our handler */

static const int SIGNALS[] = {
	SIGHUP,    SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR2, SIGIO,
#ifdef SIGPWR
	SIGPWR,
#endif
#ifdef SIGSTKFLT
	SIGSTKFLT,
#endif
};

/* The signal is blocked while its handler runs: what is raised here ends the process on return. */
static void on_signal(int number)
{
	if (!pthread_equal(pthread_self(), main_thread)) {
		pthread_kill(main_thread, number);
		return;
	}
	if (signals_file[0] != '\0')
		unlink(signals_file);
	signal(number, SIG_DFL);
	raise(number);
}

static void take(int number)
{
	struct sigaction action;

	/* nohup has it ignored; a profiler that was preloaded has a handler of its own. */
	if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
		return;
	action = (struct sigaction){.sa_handler = on_signal, .sa_mask = ours};
	if (sigaction(number, &action, NULL) == 0)
		sigaddset(&ours, number);
}

void signals_init(void)
{
	main_thread = pthread_self();
	sigemptyset(&ours);
	/* Past `ulimit -f` a write then fails like any other, and the message says why. */
	signal(SIGXFSZ, SIG_IGN);
	/* Users of dd send it to ask for progress; it must never end the work. */
	signal(SIGUSR1, SIG_IGN);
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++)
		take(SIGNALS[i]);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		take(number);
}

void signals_block(sigset_t *old)
{
	pthread_sigmask(SIG_BLOCK, &ours, old);
}

void signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

int signals_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t old;

	/* A new thread begins with the mask of the thread that starts it. */
	signals_block(&old);
	const int error = pthread_create(thread, NULL, run, arg);
	signals_restore(&old);
	return error;
}
