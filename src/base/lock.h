/* SPDX-License-Identifier: MIT */
/*
 * lock: a mutex that knows its owner in a build with DEBUG=1 or SAN=address.
 *
 * In such a build the mutex is an error-checking one, and each thread knows the locks that it
 * holds. An assertion fails if it takes a lock twice or out of order, releases or waits on one that
 * it does not hold, or waits while it holds another.
 *
 * A function that is called with a lock held, and may release it before it returns, has a name that
 * ends in _unlocks.
 */
#ifndef GPUHIST_BASE_LOCK_H
#define GPUHIST_BASE_LOCK_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

/* The order in which a thread may take locks; src/README.md names them. */
enum lock_order {
	LOCK_RUN,
	LOCK_SOURCE,
	LOCK_SNAPSHOT,
	LOCK_HOLDER, /* several, in the order of the snapshot's list */
	LOCK_LAST,   /* no other is taken after it */
	LOCK_ALONE,  /* never together with another */
	LOCK_ORDERS
};

struct lock {
	pthread_mutex_t mutex;
	enum lock_order order;
};

#ifdef LOCKS_CHECKED
void lock_note_taken(enum lock_order order);
void lock_note_dropped(enum lock_order order);
void lock_check_wait(enum lock_order order);
#else
#define lock_note_taken(order) ((void)(order))
#define lock_note_dropped(order) ((void)(order))
#define lock_check_wait(order) ((void)(order))
#endif

static inline void lock_must(int error)
{
	assert(error == 0);
	(void)error;
}

/* Initialize a mutex, which cannot fail with glibc: it allocates nothing. */
static inline void lock_init(struct lock *lock, enum lock_order order)
{
	lock->order = order;
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
	lock_note_taken(lock->order);
	lock_must(pthread_mutex_lock(&lock->mutex));
}

static inline void lock_drop(struct lock *lock)
{
	lock_note_dropped(lock->order);
	lock_must(pthread_mutex_unlock(&lock->mutex));
}

/* Release the lock until the condition is signalled, and take it again. May wake spuriously. */
static inline void lock_wait(struct lock *lock, pthread_cond_t *changed)
{
	lock_check_wait(lock->order);
	lock_must(pthread_cond_wait(changed, &lock->mutex));
}

/* Claim: one of the n waiting threads was woken, or there is no work. tests/sched checks it. */
#define LOCKS_SCHEDULED false
#define lock_assert_woken(changed, n, work) ((void)(n), (void)(work))

#endif
