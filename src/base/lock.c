/* SPDX-License-Identifier: MIT */
/* lock: keeps track of the locks that a thread holds, in builds that check them. */
#include "base/lock.h"

#ifdef LOCKS_CHECKED

static _Thread_local unsigned held[LOCK_ORDERS];

static unsigned held_from(enum lock_order first)
{
	unsigned sum = 0;

	for (unsigned i = first; i < LOCK_ORDERS; i++)
		sum += held[i];
	return sum;
}

void lock_note_taken(enum lock_order order)
{
	assert(held_from(order == LOCK_ALONE    ? LOCK_RUN
			 : order == LOCK_HOLDER ? LOCK_HOLDER + 1
						: order) == 0);
	held[order]++;
}

void lock_note_dropped(enum lock_order order)
{
	assert(held[order] > 0);
	held[order]--;
}

void lock_check_wait(enum lock_order order)
{
	assert(held[order] == 1 && held_from(LOCK_RUN) == 1);
}

#endif
