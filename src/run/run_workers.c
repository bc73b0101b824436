/* SPDX-License-Identifier: MIT */
/*
 * run_workers: starts workers, then the GPU, and adds up their results. worker.c is the main loop
 * of a worker.
 */
#include "run/run_state.h"

#include <math.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/lock.h"
#include "base/signals.h"
#include "base/tally.h"
#include "gpu/gpu_resident.h"
#include "input/source_open.h"
#include "run/worker.h"

/* How long a frame waits for the GPU; after that the CPU decodes it. */
#define START_SECONDS 3.0

uint64_t run_records(const struct run *run, bool gpu)
{
	uint64_t all = 0;

	/* Workers that never started have counted nothing. */
	for (unsigned i = 0; i < run->plan.workers; i++)
		all += tally_read(gpu ? &run->team.workers[i].gpu_records
				      : &run->team.workers[i].records);
	return all;
}

static void *work_on(void *arg)
{
	struct worker *const w = arg;
	const double began = clock_core_seconds();
	const int rc = worker_run(w);

	w->core_seconds = clock_core_seconds() - began;
	if (rc == 0)
		return NULL;
	if (worker_is_spare(w))
		w->fail.status = STATUS_OK;
	else
		source_stop(w->work->source);
	return NULL;
}

static struct gpu *start_gpu(const struct run *run, bool unpacks)
{
	struct gpu_spec gpu = plan_gpu(&run->plan, run->job);

	gpu.unpacks = unpacks;
	return gpu_start(&gpu);
}

/* Is a GPU worth starting, given the workers' rate so far? */
static bool gpu_pays(const struct run *run)
{
	const uint64_t counted =
		layout_records_bytes(run_records(run, false), run->work.record, run->work.packed);

	return plan_gpu_pays(clock_seconds() - run->team.began, counted,
			     source_packed(run->work.source) ? source_expected(run->work.source)
							     : source_length(run->work.source));
}

bool run_start_next(void *arg)
{
	struct run *const run = arg;
	const struct plan *const p = &run->plan;
	bool began = false;

	lock_take(&run->team.lock);
	if (!run->team.closed && run->team.started < p->workers) {
		struct worker *const w = &run->team.workers[run->team.started];
		w->work = &run->work;
		if (signals_thread(&w->thread, work_on, w) == 0)
			run->team.started++;
		else
			run->team.closed = true;
	} else if (run->team.started == p->workers && p->lanes > 0 && !run->work.gpu &&
		   gpu_pays(run)) {
		struct gpu *const gpu = start_gpu(run, source_unpacks(run->work.source));
		__atomic_store_n(&run->work.gpu, gpu, __ATOMIC_RELEASE);
		began = run->work.gpu != NULL;
	}
	lock_drop(&run->team.lock);
	return began && !source_compressed(&run->job->source) && p->workers > 1 &&
	       p->workers >= cores_usable();
}

void run_more(void *arg)
{
	(void)run_start_next(arg);
}

bool run_start_unpacker(void *arg)
{
	struct run *const run = arg;

	lock_take(&run->team.lock);
	if (!run->work.gpu)
		__atomic_store_n(&run->work.gpu, start_gpu(run, true), __ATOMIC_RELEASE);
	struct gpu *const gpu = run->work.gpu;
	lock_drop(&run->team.lock);
	return gpu && gpu_wait(gpu, START_SECONDS);
}

/* With --device=gpu, wait for the GPU before anything is read. */
static int wait_for_gpu(struct run *run, struct fail *fail)
{
	struct gpu_report gpu;

	run->work.gpu = start_gpu(run, source_unpacks(run->work.source));
	if (!run->work.gpu)
		return fail_errno(fail, "GPU");
	if (gpu_wait(run->work.gpu, INFINITY))
		return 0;
	gpu_describe(run->work.gpu, &gpu);
	return fail_set(fail, STATUS_DEVICE, "--device=gpu cannot be used: %s", gpu.why);
}

/* Join all workers. The last one may start another until it is joined. */
static void join_workers(struct run *run)
{
	for (unsigned i = 1;; i++) {
		lock_take(&run->team.lock);
		const bool is_one = i < run->team.started;
		run->team.closed |= !is_one;
		lock_drop(&run->team.lock);
		if (!is_one)
			return;
		pthread_join(run->team.workers[i].thread, NULL);
	}
}

/* Add up the workers' totals; *fail gets the first failure. */
static int sum_up(struct run *run, struct fail *fail)
{
	struct work_report *const all = &run->report.work;
	int rc = 0;

	for (unsigned i = 0; i < run->team.started; i++) {
		const struct worker *const one = &run->team.workers[i];
		all->records += one->records;
		all->gpu_records += one->gpu_records;
		all->workers += one->chunks > 0;
		all->read_seconds += one->read_seconds;
		all->count_seconds += one->count_seconds;
		all->core_seconds += one->core_seconds;
		if (one->fail.status != STATUS_OK)
			rc = fail_pass(fail, &one->fail);
	}
	return rc;
}

/* With --skip-bad, some line must be good. */
static int check_bad(const struct run *run, struct fail *fail)
{
	const struct text_totals *const text = &source_totals(run->work.source)->text;

	if (text->bad == 0)
		return 0;
	return fail_set(fail, STATUS_DATA, "%s: line %llu %s; all other lines are bad, too",
			text->bad_name, (unsigned long long)text->bad_line, text->bad_why);
}

int run_count(struct run *run, struct fail *fail)
{
	run->team.began = clock_seconds();
	int rc = run->work.gpu_only ? wait_for_gpu(run, fail) : 0;

	if (rc == 0) {
		run->team.workers[0].work = &run->work;
		run->team.workers[0].owns_failure = true; /* its failure is the run's */
		run->team.started = 1;
		work_on(&run->team.workers[0]);
		join_workers(run);
		rc = sum_up(run, fail);
	}
	if (rc == 0)
		rc = counts_check(&run->counts, fail);
	if (rc == 0 && run->report.work.records == 0)
		rc = check_bad(run, fail);
	if (rc == 0 && run->work.gpu && gpu_resident_fetch(run->work.gpu, &run->counts) != 0)
		rc = gpu_fail_run(run->work.gpu, fail);
	if (run->work.gpu)
		gpu_describe(run->work.gpu, &run->report.gpu);
	return rc;
}
