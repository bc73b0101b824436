/* SPDX-License-Identifier: MIT */
/* schedule: coroutines behind the calls of threads. */
#include "schedule.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	THREADS = 256,
	STACK = 1 << 20,
	TRACE = 50,
	CHANGES = 4,
	PCT_STEPS = 3000, /* number of steps among which PCT makes its changes */
};

enum state {
	UNUSED,
	RUNNABLE,
	LOCKING,  /* waits for `held` */
	WAITING,  /* waits for `on`, a condition; then takes `held` */
	POLLING,  /* waits for a descriptor, or a time */
	SLEEPING, /* waits for a time, or a signal that wakes it */
	JOINING,  /* waits for thread `joined` */
	WATCHING, /* waits for a wake after the change of a word, `on` */
	ENDED
};

static const char *const STATES[] = {"unused",
				     "can go on",
				     "waits for a lock",
				     "waits for a wake",
				     "polls",
				     "sleeps",
				     "joins",
				     "watches a word",
				     "ended"};

struct thread {
	ucontext_t context;
	void *stack;
	enum state state;
	int *held;
	void *on;
	struct pollfd *fds;
	nfds_t fd_count;
	double until; /* POLLING, SLEEPING; negative: no limit */
	unsigned joined;
	bool woken; /* a signal that ends its sleep is pending */
	uint64_t urgency;
	int error; /* its errno */
	void *(*run)(void *);
	void *arg, *result;
	const char *file;
	int line;
};

static struct thread thread[THREADS];
static ucontext_t outside;
static struct sched_plan plan;
static uint64_t random_state, step, change[CHANGES];
static unsigned current, started, callocs;
static bool running;
static double now;
static void (*main_run)(void *);
static const char *how = "";
static int report = STDOUT_FILENO;
static int handled; /* 1 + the thread in which a signal handler believes it runs */

static struct {
	unsigned thread;
	const char *what, *file;
	int line;
} trace[TRACE];

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dull >> 16) % below;
}

void sched_describe(const char *text)
{
	how = text;
}

void sched_output(int fd)
{
	report = fd;
}

double sched_real_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sched_fail(const char *why)
{
	dprintf(report, "%s\n%s, at step %llu; the last steps:\n", how, why,
		(unsigned long long)step);
	for (uint64_t i = step < TRACE ? 0 : step - TRACE; i < step; i++)
		dprintf(report, "  thread %u %s at %s:%d\n", trace[i % TRACE].thread,
			trace[i % TRACE].what, trace[i % TRACE].file, trace[i % TRACE].line);
	for (unsigned i = 0; i < started; i++)
		if (thread[i].state != ENDED)
			dprintf(report, "  thread %u %s at %s:%d\n", i, STATES[thread[i].state],
				thread[i].file, thread[i].line);
	_exit(SCHED_FAILED);
}

static bool readable(const struct thread *t)
{
	for (nfds_t i = 0; i < t->fd_count; i++)
		t->fds[i].revents = 0;
	return poll(t->fds, t->fd_count, 0) > 0;
}

static bool due(const struct thread *t)
{
	return t->until >= 0 && now >= t->until;
}

static bool can_go_on(const struct thread *t)
{
	switch (t->state) {
	case RUNNABLE:
		return true;
	case LOCKING:
		return *t->held == 0;
	case POLLING:
		return due(t) || readable(t);
	case SLEEPING:
		return due(t) || t->woken;
	case JOINING:
		return thread[t->joined].state == ENDED;
	default:
		return false;
	}
}

/* Let time pass until a thread's wait ends: the one with the shortest. */
static bool pass_time(void)
{
	double next = -1;

	for (unsigned i = 0; i < started; i++) {
		const struct thread *const t = &thread[i];
		if ((t->state == POLLING || t->state == SLEEPING) && t->until >= 0 &&
		    (next < 0 || t->until < next))
			next = t->until;
	}
	now = next > now ? next : now;
	return next >= 0;
}

static unsigned choose(const unsigned *able, unsigned n)
{
	unsigned best = able[0];
	bool same = false;

	for (unsigned i = 0; i < n; i++) {
		same |= able[i] == current;
		if (thread[able[i]].urgency > thread[best].urgency)
			best = able[i];
	}
	if (plan.way == SCHED_PCT)
		return best;
	return plan.way == SCHED_STICKY && same && draw(16) > 0 ? current : able[draw(n)];
}

/* Handle a signal in the main thread, unless that blocks it. */
static bool handle(int number)
{
	sigset_t mask, one;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	if (sigismember(current == 0 ? &mask : &thread[0].context.uc_sigmask, number))
		return false;
	sigemptyset(&one);
	sigaddset(&one, number);
	handled = 1;
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	handled = 0;
	return true;
}

/* Note a step, and go on with the thread that the plan chooses, which may be this one. */
static void next(const char *what, const char *file, int line)
{
	struct thread *const self = &thread[current];
	unsigned able[THREADS], n = 0;

	trace[step % TRACE].thread = current;
	trace[step % TRACE].what = what;
	trace[step % TRACE].file = file;
	trace[step % TRACE].line = line;
	self->file = file;
	self->line = line;
	self->error = errno;
	step++;
	now += draw(512) == 0 ? 0.02 * (double)draw(16) : 1e-6;
	if (step > plan.steps_most)
		sched_fail("the threads do not come to an end");
	if (plan.signal && step >= plan.signal_step && *plan.signal_fd >= 0 && handle(plan.signal))
		plan.signal = 0;
	for (unsigned i = 0; i < CHANGES; i++)
		if (step == change[i])
			self->urgency = CHANGES - i;
	if (plan.spurious && draw(64) == 0) {
		struct thread *const t = &thread[draw(started)];
		if (t->state == WAITING)
			t->state = LOCKING;
	}
	do {
		for (unsigned i = 0; i < started; i++)
			if (can_go_on(&thread[i]))
				able[n++] = i;
	} while (n == 0 && pass_time());
	if (n == 0)
		sched_fail("all threads wait, and nobody can wake them");
	current = choose(able, n);
	struct thread *const to = &thread[current];
	if (to != self)
		swapcontext(&self->context, &to->context);
	errno = self->error;
	self->state = self->state == ENDED ? ENDED : RUNNABLE;
}

static void entry(void)
{
	struct thread *const self = &thread[current];

	if (self == &thread[0])
		main_run(self->arg);
	else
		self->result = self->run(self->arg);
	self->state = ENDED;
	if (self == &thread[0]) {
		for (unsigned i = 1; i < started; i++)
			if (thread[i].state != ENDED)
				sched_fail("a thread was not joined");
		setcontext(&outside);
	}
	next("ends", __FILE__, __LINE__);
	abort();
}

static unsigned add_thread(void)
{
	struct thread *const t = &thread[started];
	void *const stack = t->stack;

	if (started == THREADS)
		sched_fail("too many threads");
	*t = (struct thread){
		.stack = stack, .state = RUNNABLE, .urgency = CHANGES + 1 + draw(1u << 20)};
	if (!stack) {
		/* The lowest page stays closed, so that a stack overflow is seen. */
		t->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
		if (t->stack == MAP_FAILED || mprotect(t->stack, 4096, PROT_NONE) != 0)
			sched_fail("no memory for a stack");
	}
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = t->stack;
	t->context.uc_stack.ss_size = STACK;
	t->context.uc_link = NULL;
	makecontext(&t->context, entry, 0);
	return started++;
}

uint64_t sched_run(const struct sched_plan *p, void (*run)(void *arg), void *arg)
{
	plan = *p;
	plan.steps_most += p->steps_most == 0 ? 100000 : 0;
	random_state = (p->seed + 1) * 0x9e3779b97f4a7c15ull | 1;
	step = 0;
	now = 1;
	current = started = callocs = 0;
	for (unsigned i = 0; i < CHANGES; i++)
		change[i] = plan.way == SCHED_PCT ? draw(PCT_STEPS) : UINT64_MAX;
	main_run = run;
	thread[add_thread()].arg = arg;
	running = true;
	swapcontext(&outside, &thread[0].context);
	running = false;
	return step;
}

void sched_point(const char *file, int line)
{
	if (running && !handled)
		next("meets an atomic", file, line);
}

void sched_take(int *held, const char *file, int line)
{
	if (!running) {
		*held = 1;
		return;
	}
	next("wants a lock", file, line);
	while (*held != 0) {
		if (*held == (int)current + 1)
			sched_fail("a lock is taken twice");
		thread[current].state = LOCKING;
		thread[current].held = held;
		next("waits for a lock", file, line);
	}
	*held = (int)current + 1;
}

void sched_held(const int *held)
{
	if (running && *held != (int)current + 1)
		sched_fail("a lock is not held");
}

bool sched_sleep_all(const void *condition, unsigned n)
{
	unsigned asleep = 0;

	for (unsigned i = 0; i < started; i++)
		asleep += thread[i].state == WAITING && thread[i].on == condition;
	return running && n > 0 && asleep == n;
}

void sched_drop(int *held, const char *file, int line)
{
	sched_held(held);
	*held = 0;
	if (running)
		next("dropped a lock", file, line);
}

void sched_wait(void *condition, int *held, const char *file, int line)
{
	struct thread *const self = &thread[current];

	if (!running) {
		dprintf(report, "%s:%d waits outside of a schedule\n", file, line);
		abort();
	}
	sched_held(held);
	*held = 0;
	self->state = WAITING;
	self->on = condition;
	self->held = held;
	next("waits", file, line);
	while (*held != 0) {
		self->state = LOCKING;
		next("waits for a lock", file, line);
	}
	*held = (int)current + 1;
}

int sched_wake(void *condition, bool all, const char *file, int line)
{
	unsigned waiting[THREADS], n = 0;

	if (!running)
		return 0;
	for (unsigned i = 0; i < started; i++)
		if (thread[i].state == WAITING && thread[i].on == condition)
			waiting[n++] = i;
	if (n > 0 && !all) {
		waiting[0] = waiting[draw(n)];
		n = 1;
	}
	for (unsigned i = 0; i < n; i++)
		thread[waiting[i]].state = LOCKING;
	next(n > 0 ? "woke" : "would have woken", file, line);
	return 0;
}

int sched_create(pthread_t *t, const pthread_attr_t *attributes, void *(*run)(void *), void *arg,
		 const char *file, int line)
{
	(void)attributes;
	if (!running)
		abort();
	const unsigned number = add_thread();

	thread[number].run = run;
	thread[number].arg = arg;
	*t = number + 1;
	next("started a thread", file, line);
	return 0;
}

int sched_join(pthread_t t, void **result, const char *file, int line)
{
	thread[current].state = JOINING;
	thread[current].joined = (unsigned)t - 1;
	next("joins", file, line);
	if (result)
		*result = thread[t - 1].result;
	return 0;
}

pthread_t sched_self(void)
{
	return !running ? 1 : handled ? (pthread_t)handled : current + 1;
}

/* Send a signal to a sleeping thread, which ends its sleep; the program sends threads no other. */
int sched_kill(pthread_t t, int number)
{
	(void)number;
	if (running)
		thread[t - 1].woken = true;
	return 0;
}

int sched_poll(const char *file, int line, struct pollfd *fds, nfds_t n, int milliseconds)
{
	struct thread *const self = &thread[current];

	if (!running || handled)
		return poll(fds, n, milliseconds);
	self->state = POLLING;
	self->fds = fds;
	self->fd_count = n;
	self->until = milliseconds < 0 ? -1 : now + 1e-3 * milliseconds;
	next("polls", file, line);
	return poll(fds, n, 0);
}

int sched_sleep(const char *file, int line, const struct timespec *time, struct timespec *rest)
{
	(void)rest;
	if (!running)
		return 0;
	thread[current].state = SLEEPING;
	thread[current].until = now + (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
	next("sleeps", file, line);
	return 0;
}

long sched_syscall(const char *file, int line, long number, ...)
{
	long a[6];
	va_list arguments;

	va_start(arguments, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (!running || number != SYS_futex)
		return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	uint32_t *const word = (uint32_t *)a[0];
	if ((int)a[1] == FUTEX_WAKE) {
		for (unsigned i = 0; i < started; i++)
			if (thread[i].state == WATCHING && thread[i].on == word)
				thread[i].state = RUNNABLE;
		next("woke", file, line);
	} else if (*word == (uint32_t)a[2]) {
		thread[current].state = WATCHING;
		thread[current].on = word;
		next("watches", file, line);
	}
	return 0;
}

void *sched_calloc(size_t n, size_t size)
{
	enum { FAILURES = 12 };

	if (running && current > 0 && plan.calloc_fails > 0) {
		callocs++;
		if (callocs >= plan.calloc_fails && callocs < plan.calloc_fails + FAILURES) {
			errno = ENOMEM;
			return NULL;
		}
	}
	return calloc(n, size);
}

int sched_clock(clockid_t clock, struct timespec *time)
{
	if (!running)
		return clock_gettime(clock, time);
	time->tv_sec = (time_t)now;
	time->tv_nsec = (long)((now - (double)time->tv_sec) * 1e9);
	return 0;
}

int sched_sigtimedwait(const char *file, int line, const sigset_t *set, siginfo_t *info,
		       const struct timespec *time)
{
	if (!running || sigismember(set, SIGUSR1) != 1)
		return sigtimedwait(set, info, time);
	sched_sleep(file, line, time, NULL);
	if (!thread[current].woken) {
		errno = EAGAIN;
		return -1;
	}
	thread[current].woken = false;
	if (info)
		info->si_pid = getpid();
	return SIGUSR1;
}
