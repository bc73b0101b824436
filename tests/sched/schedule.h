/* SPDX-License-Identifier: MIT */
/*
 * schedule: a scheduler for tests. Threads become coroutines of one thread of the system, and at
 * each lock, wait, wake, poll, sleep and atomic access, a seed decides which one goes on.
 *
 * `make SCHED=1` builds src with points.h, which sends these calls here, and with base/lock.h of
 * this directory. Outside of sched_run they do their usual work.
 *
 * Time is the scheduler's: it advances a little with each step, by leaps now and then, and, if no
 * thread can go on, to the next time that a thread waits for. If there is no such time either, all
 * threads wait and nobody can wake them: sched_run prints the last steps and ends the process, as
 * it does after too many steps.
 */
#ifndef TESTS_SCHEDULE_H
#define TESTS_SCHEDULE_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum sched_way {
	SCHED_UNIFORM, /* any thread that can go on, each as likely as the others */
	SCHED_STICKY,  /* the same thread, with some changes */
	SCHED_PCT,     /* the most urgent one; some changes make the running one the least urgent */
	SCHED_WAYS
};

struct sched_plan {
	uint64_t seed;
	enum sched_way way;
	bool spurious;       /* waits may end without a signal, as POSIX allows */
	uint64_t steps_most; /* a run with more fails; 0: 100,000 */
	/* The signal that reaches the main thread at some step; 0: none. */
	int signal;
	uint64_t signal_step;
	/* From this call of calloc on, in any thread but the main one, some fail; 0: none. */
	unsigned calloc_fails;
	const int *signal_fd; /* the signal comes once this is not negative */
};

/* Run a function and all threads that it starts; return the number of steps. */
uint64_t sched_run(const struct sched_plan *plan, void (*run)(void *arg), void *arg);

/* The exit status of the process after a failure, whose trace goes to the descriptor. */
#define SCHED_FAILED 99
void sched_output(int fd);

double sched_real_seconds(void);

/* Set the line that is printed before the trace of a failure: how to repeat it. Borrowed. */
void sched_describe(const char *how);

/* Do n threads wait for a condition, none of them woken? */
bool sched_sleep_all(const void *condition, unsigned n);

/* Print the last steps, and end the process. */
__attribute__((noreturn)) void sched_fail(const char *why);

/* Replacements for the calls. `file` and `line` are the place of the call. */
void sched_take(int *held, const char *file, int line);
void sched_drop(int *held, const char *file, int line);
void sched_held(const int *held);
void sched_wait(void *condition, int *held, const char *file, int line);
int sched_wake(void *condition, bool all, const char *file, int line);
void sched_point(const char *file, int line);
int sched_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		 void *arg, const char *file, int line);
int sched_join(pthread_t thread, void **result, const char *file, int line);
pthread_t sched_self(void);
int sched_kill(pthread_t thread, int number);
int sched_poll(const char *file, int line, struct pollfd *fds, nfds_t n, int milliseconds);
int sched_sleep(const char *file, int line, const struct timespec *time, struct timespec *rest);
/* SYS_futex: a wait has no limit, so that a lost wake is not made up for. */
long sched_syscall(const char *file, int line, long number, ...);
void *sched_calloc(size_t n, size_t size);
int sched_clock(clockid_t clock, struct timespec *time);
int sched_sigtimedwait(const char *file, int line, const sigset_t *set, siginfo_t *info,
		       const struct timespec *time);

#endif
