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
#include <stdbool.h>

struct lock {
	pthread_mutex_t mutex;
};

static inline void lock_must(int error)
{
	assert(error == 0);
	(void)error;
}

/* Initialize a mutex, which cannot fail with glibc: it allocates nothing. */
static inline void lock_init(struct lock *lock)
{
#ifdef LOCKS_CHECKED
	lock->mutex = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
#else
	lock->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
#endif
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

/* Unless one of the n threads that wait was woken, there is no work. tests/sched checks it. */
#define LOCKS_SCHEDULED false
#define lock_assert_woken(changed, n, work) ((void)(n), (void)(work))

#endif
