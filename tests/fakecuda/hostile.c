/* SPDX-License-Identifier: MIT */
/*
 * hostile: a helper that has gone mad, as the program that started it sees it (gpu/region.h): what
 * it says on the
 *socket, what it writes into the memory that both share. Nothing of it may harm the program, or change a count.
 *
 * Said at once, and then no more but "twice":
 *
 *	kind, zero        a notice of an unknown kind
 *	short, long       too few bytes, too many
 *	slots0, slots65   so many slots; slotsmany: 2^32-1
 *	devices           none
 *	twice             what may well be true, once more
 *	failed, escape    a failure without a reason; one with bytes for a terminal
 *	close             the socket's end, and the process lives on
 *
 * Written again and again, from then on, by a thread:
 *
 *	state, done, submitted, odd   what state slots are in
 *	k, extent, cells, sums   what was counted, and how
 *	head                     what the region says of itself
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "gpu/region.h"

static struct region *region;
static struct region first; /* as it was */
static const char *writes;

/* Where this process has mapped the region; false: nowhere. */
static bool find_region(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from = 0;

	while (maps && from == 0 && fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:gpuhist") && sscanf(line, "%lx-", &from) != 1)
			from = 0;
	if (maps)
		fclose(maps);
	if (from == 0)
		return false;
	region = (struct region *)from;
	memcpy(&first, region, sizeof(first));
	return true;
}

/* ---- words ---- */

static bool is(const char *what, const char *word)
{
	return strcmp(what, word) == 0;
}

/* What a helper in its right mind could say. */
static struct notice likely(void)
{
	return (struct notice){
		.kind = NOTICE_READY,
		.devices = 1,
		.slots = first.slots,
		.name = "hostile",
		.kernel = "none",
	};
}

static void say(const char *what)
{
	unsigned char message[sizeof(struct notice) + 64] = {0};
	struct notice n = likely();
	size_t bytes = sizeof(n);

	if (is(what, "kind"))
		n.kind = 77;
	else if (is(what, "zero"))
		n = (struct notice){.kind = 0};
	else if (is(what, "short"))
		bytes = 5;
	else if (is(what, "long"))
		bytes = sizeof(message);
	else if (is(what, "slots0"))
		n.slots = 0;
	else if (is(what, "slots65"))
		n.slots = 65;
	else if (is(what, "slotsmany"))
		n.slots = UINT32_MAX;
	else if (is(what, "devices"))
		n.devices = 0;
	else if (is(what, "failed") || is(what, "escape")) {
		n.kind = NOTICE_FAILED;
		snprintf(n.why, sizeof(n.why), "%s",
			 is(what, "escape") ? "\033[2J\r\n\001: \033]0;mad\a" : "without a reason");
	} else if (!is(what, "twice"))
		wrong("FAKECUDA_HOSTILE: %s", what);
	memcpy(message, &n, sizeof(n));
	if (send(HELPER_SOCKET, message, bytes, MSG_NOSIGNAL) < 0)
		note("unsaid\n");
}

/* ---- writing ---- */

static uint64_t noise(void)
{
	static uint64_t s = 88172645463325252u;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s;
}

static void write_slot(struct shared_slot *s)
{
	const enum shared_state state = slot_state_of(s);
	const uint32_t number = slot_number_of(s);

	if (is(writes, "state"))
		__atomic_store_n(&s->word, (uint32_t)noise(), __ATOMIC_RELEASE);
	else if (is(writes, "done") && state == SHARED_SUBMITTED)
		__atomic_store_n(&s->word, slot_word(number, SHARED_DONE), __ATOMIC_RELEASE);
	else if (is(writes, "submitted") && state == SHARED_DONE)
		__atomic_store_n(&s->word, slot_word(number, SHARED_SUBMITTED), __ATOMIC_RELEASE);
	else if (is(writes, "odd") && state != SHARED_FREE)
		__atomic_store_n(&s->word, number << 2 | 3, __ATOMIC_RELEASE);
	else if (is(writes, "k"))
		__atomic_store_n(&s->k, (int32_t)noise(), __ATOMIC_RELAXED);
	else if (is(writes, "extent"))
		s->extent = (struct extent){noise(), noise()};
}

/* A count more, in each slot. */
static void write_cells(void)
{
	for (unsigned k = 0; first.cell_bytes > 0 && k < first.slots; k++)
		++*(uint32_t *)((unsigned char *)region + first.cells_at + k * first.cell_bytes);
}

/* What the device sends of counters that stay arrives as noise: a piece, or the sums of all. */
void hostile_copied(void *at)
{
	if (writes && is(writes, "sums") && first.piece > 0)
		*(uint64_t *)at = noise() >> (noise() % 2 ? 0 : 40);
}

static void write_head(void)
{
	struct region mad = first;

	mad.total = noise();
	mad.table_at = noise();
	mad.cells_at = noise();
	mad.data_at = noise();
	mad.table_bytes = noise();
	mad.slot_bytes = noise();
	mad.cell_bytes = noise();
	mad.slots = (uint32_t)noise();
	mad.piece = (uint32_t)noise();
	memcpy(region, &mad, offsetof(struct region, doorbell));
	memset(&region->counting, 0xa5, sizeof(region->counting));
}

static void *write_on(void *arg)
{
	(void)arg;
	for (;;) {
		for (unsigned k = 0; k < first.slots; k++)
			write_slot(&region->slot[k]);
		if (is(writes, "cells"))
			write_cells();
		if (is(writes, "head"))
			write_head();
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	return NULL;
}

void hostile_act(const char *what)
{
	static const char *const WRITTEN[] = {"state",  "done",  "submitted", "odd", "k",
					      "extent", "cells", "sums",      "head"};
	pthread_t thread;

	note("met hostile\n");
	if (is(what, "close")) {
		shutdown(HELPER_SOCKET, SHUT_RDWR);
		return;
	}
	if (!find_region())
		wrong("no region is mapped");
	for (size_t i = 0; i < sizeof(WRITTEN) / sizeof(WRITTEN[0]); i++)
		if (is(what, WRITTEN[i])) {
			writes = WRITTEN[i];
			if (pthread_create(&thread, NULL, write_on, NULL) != 0)
				wrong("no thread to write");
			pthread_detach(thread);
			return;
		}
	say(what);
	/* Or what this process says next would be refused in its place. */
	while (!is(what, "twice"))
		pause();
}
