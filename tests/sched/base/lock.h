/* SPDX-License-Identifier: MIT */
/* lock: replaces src/base/lock.h for the tests' scheduler, because it is found first. */
#ifndef GPUHIST_BASE_LOCK_H
#define GPUHIST_BASE_LOCK_H

#include <assert.h>

struct lock {
	int held;
};

#define lock_init(lock, order) ((lock)->held = 0)
#define lock_destroy(lock) assert((lock)->held == 0)
#define lock_assert_held(lock) sched_held(&(lock)->held)
#define lock_take(lock) sched_take(&(lock)->held, __FILE__, __LINE__)
#define lock_drop(lock) sched_drop(&(lock)->held, __FILE__, __LINE__)
#define LOCKS_SCHEDULED true
#define lock_assert_woken(changed, n, work) \
	(sched_sleep_all(changed, n) && (work) ? sched_fail("work is left to sleepers") : (void)0)
#define lock_wait(lock, changed) sched_wait(changed, &(lock)->held, __FILE__, __LINE__)

#endif
