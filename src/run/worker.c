/* SPDX-License-Identifier: MIT */
/* worker: chooses an engine for each turn. */
#include "run/worker.h"

#include "base/clock.h"
#include "each/each.h"
#include "gpu/gpu.h"

#define YIELD_SECONDS 3.0
#define YIELD_POLL_SECONDS 0.001

static const struct engine *const ENGINES[] = {&each_engine, &gpu_engine, &cpu_engine};
#define ENGINE_COUNT (sizeof(ENGINES) / sizeof(ENGINES[0]))

/*
 * Starting the driver keeps a core busy for a quarter of a second. With a worker on every core it
 * took twice as long, and the GPU would have counted more in that time than one worker does. So the
 * worker that started the GPU waits until it is ready, the input ends, something fails, or
 * YIELD_SECONDS have passed.
 */
static void yield_core(const struct work *work)
{
	const struct gpu *const gpu = __atomic_load_n(&work->gpu, __ATOMIC_ACQUIRE);
	const double began = clock_seconds();

	while (gpu_starting(gpu) && source_backlog(work->source) &&
	       clock_seconds() - began < YIELD_SECONDS)
		(void)gpu_wait(gpu, YIELD_POLL_SECONDS);
}

static enum turn turn_of(struct worker *w)
{
	const struct engine *engine = NULL;
	enum turn turn = TURN_BUSY;

	for (size_t i = 0; i < ENGINE_COUNT && turn == TURN_BUSY; i++) {
		engine = ENGINES[i];
		turn = engine->turn(w);
	}
	for (size_t i = 0; i < ENGINE_COUNT && turn == TURN_END; i++) {
		engine = ENGINES[i];
		turn = engine->finish(w);
	}
	if (turn != TURN_LOST)
		return turn;
	return engine->recount(w) == 0 ? TURN_DONE : TURN_FAILED;
}

int worker_run(struct worker *w)
{
	enum turn turn = TURN_DONE;

	if (!(w->reader = source_reader(w->work->source)))
		return fail_errno(&w->fail, "worker");
	while ((turn = turn_of(w)) == TURN_DONE) {
		if (w->started_gpu)
			yield_core(w->work);
		w->started_gpu = false;
	}
	for (size_t i = 0; i < ENGINE_COUNT; i++)
		ENGINES[i]->close(w);
	return turn == TURN_FAILED ? -1 : 0;
}
