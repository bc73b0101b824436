/* SPDX-License-Identifier: MIT */
/*
 * watch: a thread that sleeps while the others work, until SIGUSR1, the next line of progress, the
 * next partial output, or the end.
 *
 * For a line of progress it reads tallies without a lock, so it neither delays other threads nor
 * waits for them. From watch_start to watch_stop it is the only thread that prints (msg.h);
 * only it and the main thread may have an output open (output.h).
 *
 * It draws the line if this process is in its terminal's foreground, after the first second (with
 * PROGRESS_ALWAYS, immediately), and only once something has been counted. With PROGRESS_ALWAYS, if
 * lines are not drawn in place, it prints one every few seconds and one at the end. SIGUSR1 always
 * prints a line, even with -q.
 *
 * watch_stop ends a wait for a blocked stderr (a stopped terminal, a full pipe) and drops the
 * pending line, but lets a partial output finish first.
 */
#ifndef GPUHIST_WATCH_H
#define GPUHIST_WATCH_H

#include <stdbool.h>

#include "cli/job.h"
#include "cli/progress.h"

struct watch;

struct watch_spec {
	enum progress line;
	bool in_place; /* draw each line over the previous one */
	/* seconds between partial outputs, more if writing one takes over half of that; 0: none */
	double every;
	/* Fill in the progress, except for rate and seconds. The thread may call it at any time. */
	void (*look)(void *arg, struct progress_now *now);
	/* Write a partial output; may print. Called by the thread. */
	void (*save)(void *arg);
	/* Is a partial output needed early? NULL: never */
	bool (*early)(void *arg);
	void *arg;
};

/* NULL: no memory or no thread; the run goes on without it. Main thread. */
struct watch *watch_start(const struct watch_spec *spec);

/* End the thread and erase its line from the terminal. Accepts NULL. Main thread. */
void watch_stop(struct watch *w);

#endif
