/* SPDX-License-Identifier: MIT */
/*
 * watch: one thread that sleeps while the others work, until SIGUSR1, the next line of progress,
 * the next partial output, or the end.
 *
 * For a line of progress it reads tallies and takes no lock, so it delays no other thread and none
 * delays it. From watch_start to watch_stop it is the only thread that prints (msg.h) and, beside
 * the main thread, the only one that has an output open (output.h).
 *
 * The line is drawn if this process is in its terminal's foreground: after the first second, or with
 * PROGRESS_ALWAYS immediately, and only when something has been counted. With PROGRESS_ALWAYS, and
 * not in place, there is a line every few seconds and one at the end. SIGUSR1
 * prints a line in any case, under -q too.
 *
 * A wait for a stderr that takes nothing (a stopped terminal, a full pipe) ends by watch_stop, after
 * which a line that was asked for is given up. A partial output that was begun is completed first.
 */
#ifndef GPUHIST_WATCH_H
#define GPUHIST_WATCH_H

#include <stdbool.h>

#include "cli/job.h"
#include "cli/progress.h"

struct watch;

struct watch_spec {
	enum progress line;
	bool in_place; /* lines are drawn one over the other; else each stays */
	/* Seconds between partial outputs, more where writing one takes half of that; 0: none */
	double every;
	/* Fills in how far the run is, but for rate and seconds. Called by the thread at any time. */
	void (*look)(void *arg, struct progress_now *now);
	/* Writes a partial output; may print. Called by its thread. */
	void (*save)(void *arg);
	/* Is it time for one before its time? NULL: never */
	bool (*early)(void *arg);
	void *arg;
};

/* NULL: there is no memory or no thread for it, and the run goes on without. Main thread. */
struct watch *watch_start(const struct watch_spec *spec);

/* Ends the thread, and removes its line from the terminal. Takes NULL. Main thread. */
void watch_stop(struct watch *w);

#endif
