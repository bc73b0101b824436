/* SPDX-License-Identifier: MIT */
/*
 * watch: one thread that sleeps while the others work, until SIGUSR1, the next line of progress, the next partial
 * output, or the end.
 *
 * It reads tallies and takes no lock for a line of progress, so it holds nothing up and is held up by nothing, also
 * while all workers sleep on a pipe. From watch_start to watch_stop it is the only thread that prints (msg.h) and,
 * beside the main thread's, the only one that has an output open (output.h).
 *
 * The line is drawn where stderr is a terminal whose foreground this process is: from the first second on, but with
 * PROGRESS_ALWAYS at once, and only when something has been counted. With PROGRESS_ALWAYS and no terminal it is a line
 * every few seconds and one at the end. SIGUSR1 has a line printed in any case, under -q too.
 *
 * Every wait ends: signals_wait by a time or watch_stop's call, a stderr that takes nothing (a stopped terminal, a full
 * pipe) by watch_stop too, after which a line that was asked for is given up. A partial output is written to its end
 * first, as the last one will be.
 */
#ifndef GPUHIST_WATCH_H
#define GPUHIST_WATCH_H

#include <stdbool.h>

#include "cli/job.h"
#include "cli/progress.h"

struct watch;

struct watch_spec {
	enum progress line;
	double every; /* seconds from one partial output to the next; 0: none */
	/* How far is it? Called by the thread at any time; rate and seconds are filled in. */
	void (*look)(void *arg, struct progress_now *now);
	/* Writes a partial output; may print. Called by the thread. */
	void (*save)(void *arg);
	void *arg;
};

/* NULL: there is no memory or no thread for it. The run goes on without. Main thread. */
struct watch *watch_start(const struct watch_spec *spec);

/* Ends the thread; nothing of it is on the terminal any more. Takes NULL. The thread that called watch_start. */
void watch_stop(struct watch *w);

#endif
