/* SPDX-License-Identifier: MIT */
/* watch: the thread that sleeps, looks, and prints. */
#include "run/watch.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/signals.h"
#include "cli/msg.h"

#define DRAW_SECONDS 0.25
#define LINE_SECONDS 5.0 /* between lines that are not drawn in place */
#define PATIENCE_SECONDS 1.0
/* between attempts to print the line for SIGUSR1 to a blocked stderr */
#define RETRY_SECONDS 0.1

struct watch {
	struct watch_spec spec;
	pthread_t thread;
	bool ended; /* set by watch_stop; atomic */
	/* Used only by the thread. */
	double began, next_line, next_save; /* INFINITY: never */
	bool terminal;                      /* draw lines in place, not one after another */
	bool asked;                         /* SIGUSR1 is not yet answered */
	struct rate rate;
};

/* Format the line; false: nothing has been counted yet. */
static bool make_line(struct watch *w, char text[PROGRESS_TEXT])
{
	const double now = clock_seconds();
	struct progress_now p = {.seconds = now - w->began};

	w->spec.look(w->spec.arg, &p);
	p.rate = rate_look(&w->rate, now, p.bytes);
	progress_text(text, &p, msg_columns());
	return p.bytes > 0;
}

/* Print the line for SIGUSR1; the request stays pending until stderr accepts it. */
static void watch_answer(struct watch *w)
{
	char text[PROGRESS_TEXT];

	if (!w->asked || !msg_ready())
		return;
	w->asked = false;
	make_line(w, text);
	msg_always("%s", text);
}

static void watch_show(struct watch *w)
{
	char text[PROGRESS_TEXT];

	if (w->terminal && !msg_foreground())
		return;
	if (!make_line(w, text))
		return;
	if (w->terminal)
		msg_progress(text);
	else if (msg_ready())
		msg_always("%s", text);
}

/* First time after `now` that is a whole number of steps after `at`. */
static double watch_after(double at, double step, double now)
{
	at += step;
	return at > now ? at : now + step - fmod(now - at, step);
}

static void *watch_main(void *arg)
{
	struct watch *const w = arg;
	bool ended = false;

	while (!ended) {
		double next = w->next_line < w->next_save ? w->next_line : w->next_save;
		double now = clock_seconds();
		if (w->spec.early && now + DRAW_SECONDS < next)
			next = now + DRAW_SECONDS;
		if (w->asked && now + RETRY_SECONDS < next)
			next = now + RETRY_SECONDS;
		w->asked |= signals_wait(next - now);
		/* Answer a signal that came before the end. */
		ended = __atomic_load_n(&w->ended, __ATOMIC_ACQUIRE);
		if (ended)
			w->asked |= signals_wait(0);
		watch_answer(w);
		now = clock_seconds();
		if (!ended && now >= w->next_line) {
			watch_show(w);
			w->next_line = watch_after(w->next_line,
						   w->terminal ? DRAW_SECONDS : LINE_SECONDS, now);
		}
		if (!ended && now < w->next_save && w->spec.early && w->spec.early(w->spec.arg))
			w->spec.save(w->spec.arg);
		if (!ended && now >= w->next_save) {
			w->spec.save(w->spec.arg);
			/* Pause at least as long as the save took. */
			const double end = clock_seconds();
			w->next_save = watch_after(w->next_save, w->spec.every, end + (end - now));
		}
	}
	if (w->terminal)
		msg_progress("");
	else if (w->spec.line == PROGRESS_ALWAYS)
		watch_show(w);
	return NULL;
}

struct watch *watch_start(const struct watch_spec *spec)
{
	struct watch *const w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	const double now = clock_seconds();
	w->spec = *spec;
	w->began = now;
	w->next_line = w->next_save = INFINITY;
	rate_look(&w->rate, now, 0);
	w->terminal = spec->line != PROGRESS_NEVER && spec->in_place;
	if (w->terminal)
		w->next_line =
			now + (spec->line == PROGRESS_ALWAYS ? DRAW_SECONDS : PATIENCE_SECONDS);
	else if (spec->line == PROGRESS_ALWAYS)
		w->next_line = now + LINE_SECONDS;
	if (spec->every > 0)
		w->next_save = now + spec->every;
	if (signals_thread(&w->thread, watch_main, w) == 0)
		return w;
	free(w);
	return NULL;
}

void watch_stop(struct watch *w)
{
	if (!w)
		return;
	__atomic_store_n(&w->ended, true, __ATOMIC_RELEASE);
	signals_wake(w->thread);
	pthread_join(w->thread, NULL);
	free(w);
}
