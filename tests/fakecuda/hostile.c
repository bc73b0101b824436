/* SPDX-License-Identifier: MIT */
/*
 * hostile: a GPU process whose driver or device has gone mad, as seen by the program that started
 * it (gpu/region.h). None of this may harm the program or change a count.
 *
 * Sent once, and then nothing more:
 *
 *	kind               a notice of an unknown kind
 *	short              too few bytes
 *	slots0, slotsmany  number of slots: none, 2^32-1
 *	failed, escape     a failure without a reason; one with bytes for a terminal
 *	close              the end of the socket; the process lives on
 *
 * Written again and again, from then on, by a thread:
 *
 *	cells, extent      the counters, the least and greatest sample
 *	infinity           infinity as the greatest sample of f32
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "gpu/region.h"

static struct region *region;
static const char *writes;

/* Find the region that this process has mapped; false: none. */
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
	region = (struct region *)from;
	return from != 0;
}

static bool is(const char *what, const char *word)
{
	return strcmp(what, word) == 0;
}

static void say(const char *what)
{
	struct notice n = {.kind = NOTICE_READY, .slots = region->slots, .name = "hostile"};

	if (is(what, "kind"))
		n.kind = 77;
	else if (is(what, "slots0"))
		n.slots = 0;
	else if (is(what, "slotsmany"))
		n.slots = UINT32_MAX;
	else if (is(what, "failed") || is(what, "escape")) {
		n.kind = NOTICE_FAILED;
		snprintf(n.why, sizeof(n.why), "%s",
			 is(what, "escape") ? "\033[2J\r\n\001: \033]0;mad\a" : "without a reason");
	} else if (!is(what, "short"))
		wrong("FAKECUDA_HOSTILE: %s", what);
	if (send(HELPER_SOCKET, &n, is(what, "short") ? 5 : sizeof(n), MSG_NOSIGNAL) < 0)
		note("unsaid\n");
}

static uint64_t noise(void)
{
	static uint64_t s = 88172645463325252u;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s;
}

static void *write_on(void *arg)
{
	(void)arg;
	for (;;) {
		for (unsigned k = 0; k < region->slots; k++)
			if (is(writes, "cells"))
				++*region_cells(region, k);
			else if (is(writes, "infinity"))
				region->slot[k].extent.greatest = 0xff800000;
			else
				region->slot[k].extent =
					(struct extent){noise(), noise(), noise(), noise()};
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	return NULL;
}

void hostile_act(const char *what)
{
	pthread_t thread;

	note("met hostile\n");
	if (is(what, "close")) {
		shutdown(HELPER_SOCKET, SHUT_RDWR);
		return;
	}
	if (!find_region())
		wrong("no region is mapped");
	if (is(what, "cells") || is(what, "extent") || is(what, "infinity")) {
		writes = what;
		if (pthread_create(&thread, NULL, write_on, NULL) != 0)
			wrong("no thread to write");
		pthread_detach(thread);
		return;
	}
	say(what);
	/* Without this, the program would refuse a later message of this process instead. */
	for (;;)
		pause();
}
