/* SPDX-License-Identifier: MIT */
/* snapshot: collects the counts while every worker is between two chunks. */
#include "engine/snapshot.h"

void snapshot_init(struct snapshot *s)
{
	*s = (struct snapshot){.first = NULL};
	lock_init(&s->lock, LOCK_SNAPSHOT);
}

void snapshot_destroy(struct snapshot *s)
{
	lock_destroy(&s->lock);
}

void snapshot_join(struct snapshot *s, struct holder *h, void (*flush)(void *arg), void *arg)
{
	*h = (struct holder){.of = s, .flush = flush, .arg = arg};
	if (!s)
		return;
	lock_init(&h->lock, LOCK_HOLDER);
	lock_take(&s->lock);
	h->next = s->first;
	s->first = h;
	lock_drop(&s->lock);
}

void snapshot_lock_take(struct holder *h)
{
	struct snapshot *const s = h->of;

	if (!s)
		return;
	if (__atomic_load_n(&s->wanted, __ATOMIC_RELAXED)) {
		/*
		 * Wait for the snapshot, which holds this lock until it is done. Otherwise a busy
		 * worker might take its holder's mutex again and again before the snapshot does.
		 */
		lock_take(&s->lock);
		lock_drop(&s->lock);
	}
	lock_take(&h->lock);
}

void snapshot_unlocks(struct holder *h)
{
	if (h->of)
		lock_drop(&h->lock);
}

void snapshot_leave(struct holder *h)
{
	struct snapshot *const s = h->of;

	if (!s)
		return;
	lock_take(&s->lock);
	/* Under the list's lock: a snapshot sees the counts in the tables or in the totals. */
	h->flush(h->arg);
	for (struct holder **at = &s->first; *at; at = &(*at)->next)
		if (*at == h) {
			*at = h->next;
			break;
		}
	lock_drop(&s->lock);
	lock_destroy(&h->lock);
	h->of = NULL;
}

void snapshot_take(struct snapshot *s, struct counts *copy, struct counts *totals,
		   void (*look)(void *arg), void *arg)
{
	lock_take(&s->lock);
	__atomic_store_n(&s->wanted, true, __ATOMIC_RELAXED);
	for (struct holder *h = s->first; h; h = h->next)
		lock_take(&h->lock);
	for (struct holder *h = s->first; h; h = h->next)
		h->flush(h->arg);
	counts_copy(copy, totals);
	look(arg);
	for (struct holder *h = s->first; h; h = h->next)
		lock_drop(&h->lock);
	__atomic_store_n(&s->wanted, false, __ATOMIC_RELAXED);
	lock_drop(&s->lock);
}
