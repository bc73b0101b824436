/* SPDX-License-Identifier: MIT */
/* region: its layout, and sleeping on a word of it. */
#include "gpu/region.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/minmax.h"

void region_lay_out(struct region *r)
{
	r->cell_bytes = round_up(r->cell_bytes, 256);
	r->edges_at = round_up(sizeof(*r), PAGE);
	r->cells_at = r->edges_at + round_up(r->edges_bytes, PAGE);
	r->data_at = r->cells_at + round_up(r->slots * r->cell_bytes, PAGE);
	r->total = r->data_at + round_up(r->slots * r->slot_bytes, PAGE);
}

void region_wait(uint32_t *word, uint32_t seen, double seconds)
{
	const struct timespec limit = {.tv_sec = (time_t)seconds,
				       .tv_nsec =
					       (long)((seconds - (double)(time_t)seconds) * 1e9)};

	/* Not FUTEX_PRIVATE: the other process wakes us. */
	(void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

void region_wake(uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
