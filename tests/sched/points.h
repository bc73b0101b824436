/* SPDX-License-Identifier: MIT */
/*
 * points: included before everything else in a build with SCHED=1; sends the calls at which threads
 * meet to the scheduler.
 */
#ifndef TESTS_SCHED_POINTS_H
#define TESTS_SCHED_POINTS_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../tests/sched/schedule.h"

/* An initialised mutex is all zeros: its first word holds its owner. */
#define pthread_mutex_lock(m) sched_take((int *)(void *)(m), __FILE__, __LINE__)
#define pthread_mutex_unlock(m) sched_drop((int *)(void *)(m), __FILE__, __LINE__)
#define pthread_mutex_destroy(m) ((void)(m))
#define pthread_cond_destroy(c) ((void)(c))
#define pthread_cond_wait(c, m) sched_wait(c, (int *)(void *)(m), __FILE__, __LINE__)
#define pthread_cond_signal(c) sched_wake(c, false, __FILE__, __LINE__)
#define pthread_cond_broadcast(c) sched_wake(c, true, __FILE__, __LINE__)
#define pthread_create(t, a, run, arg) sched_create(t, a, run, arg, __FILE__, __LINE__)
#define pthread_join(t, result) sched_join(t, result, __FILE__, __LINE__)
#define pthread_self() sched_self()
#define pthread_kill(t, number) sched_kill(t, number)
#define poll(...) sched_poll(__FILE__, __LINE__, __VA_ARGS__)
#define nanosleep(...) sched_sleep(__FILE__, __LINE__, __VA_ARGS__)
#define usleep(us) \
	sched_sleep(__FILE__, __LINE__, &(struct timespec){.tv_nsec = 1000L * (us)}, NULL)
#define clock_gettime(clock, time) sched_clock(clock, time)
#define sigtimedwait(...) sched_sigtimedwait(__FILE__, __LINE__, __VA_ARGS__)

#define syscall(...) sched_syscall(__FILE__, __LINE__, __VA_ARGS__)
#define calloc(n, size) sched_calloc(n, size)

/* A macro's own name is not expanded again. Additions are left out: no thread waits for a sum. */
#define __atomic_load_n(p, order) (sched_point(__FILE__, __LINE__), __atomic_load_n(p, order))
#define __atomic_store_n(p, v, order) \
	(sched_point(__FILE__, __LINE__), __atomic_store_n(p, v, order))
#define __atomic_exchange_n(p, v, order) \
	(sched_point(__FILE__, __LINE__), __atomic_exchange_n(p, v, order))

#endif
