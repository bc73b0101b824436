/* SPDX-License-Identifier: MIT */
/*
 * lock: a mutex that knows its owner in a build with DEBUG=1 or SAN=address.
 *
 * In such a build the mutex is an error-checking one: an assertion fails if a thread takes a lock
 * twice, or releases or waits on one that it does not hold.
 *
 * A function that is called with a lock held, and may release it before it returns, has a name that
 * ends in _unlocks. src/README.md gives the lock order.
 */
#ifndef GPUHIST_BASE_LOCK_H
#define GPUHIST_BASE_LOCK_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

struct lock {
	pthread_mutex_t mutex;
};

/* -1: the system cannot create another mutex; errno says why. */
static inline int lock_init(struct lock *lock)
{
#ifdef LOCKS_CHECKED
	pthread_mutexattr_t kind;

	if ((errno = pthread_mutexattr_init(&kind)) != 0)
		return -1;
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	errno = pthread_mutex_init(&lock->mutex, &kind);
	pthread_mutexattr_destroy(&kind);
#else
	errno = pthread_mutex_init(&lock->mutex, NULL);
#endif
	return errno ? -1 : 0;
}

/* Use CLOCK_MONOTONIC for timed waits, so that setting the time of day cannot prolong them. */
static inline void lock_init_condition(pthread_cond_t *changed)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(changed, &clock);
	pthread_condattr_destroy(&clock);
}

static inline void lock_must(int error)
{
	assert(error == 0);
	(void)error;
}

/* If another thread holds the lock, wait for it, and then fail the assertion. */
static inline void lock_assert_held(struct lock *lock)
{
#ifdef LOCKS_CHECKED
	lock_must(pthread_mutex_lock(&lock->mutex) == EDEADLK ? 0 : EPERM);
#else
	(void)lock;
#endif
}

static inline void lock_destroy(struct lock *lock)
{
	lock_must(pthread_mutex_destroy(&lock->mutex));
}

static inline void lock_take(struct lock *lock)
{
	lock_must(pthread_mutex_lock(&lock->mutex));
}

static inline void lock_drop(struct lock *lock)
{
	lock_must(pthread_mutex_unlock(&lock->mutex));
}

/* Release the lock until the condition is signalled, and take it again. May wake spuriously. */
static inline void lock_wait(struct lock *lock, pthread_cond_t *changed)
{
	lock_must(pthread_cond_wait(changed, &lock->mutex));
}

/* Like lock_wait, for at most `seconds`, on a condition from lock_init_condition. */
static inline void lock_wait_for(struct lock *lock, pthread_cond_t *changed, double seconds)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	const long ns = end.tv_nsec + (long)((seconds - (double)(time_t)seconds) * 1e9);
	end.tv_sec += (time_t)seconds + ns / 1000000000;
	end.tv_nsec = ns % 1000000000;
	const int error = pthread_cond_timedwait(changed, &lock->mutex, &end);
	lock_must(error == ETIMEDOUT ? 0 : error);
}

#endif
