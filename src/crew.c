/* SPDX-License-Identifier: MIT */
/* crew: starting workers and the GPU, joining them, the first failure. */
#include "crew.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/lock.h"
#include "base/signals.h"
#include "base/tally.h"
#include "gpu/gpu.h"
#include "worker.h"

struct member {
	struct crew *crew;
	pthread_t thread; /* of all but the first */
	struct worker_report report;
	struct fail fail;
};

struct crew {
	const struct job *job;
	const struct plan *plan;
	struct work work;
	struct lock lock;
	unsigned started; /* members that were started; guarded by lock */
	bool closed;      /* no more may be started; guarded by lock */
	double began;     /* clock at crew_run */
	/* bytes that the inputs held then, as far as is known; 0: not known */
	uint64_t known;
	struct member *members; /* plan->workers of them */
};

static void run_member(struct member *m)
{
	const double began = clock_core_seconds();
	const int rc = worker_run(&m->crew->work, &m->report, &m->fail);

	m->report.core_seconds = clock_core_seconds() - began;
	if (rc == 0)
		return;
	/*
	 * A worker that failed before it asked the source for anything is not missed: the others
	 * read what it would have read.
	 */
	if (m != m->crew->members && !m->report.asked && m->fail.status == STATUS_SYSTEM)
		m->fail.status = STATUS_OK;
	else
		source_stop(m->crew->work.source);
}

static void *member_main(void *arg)
{
	run_member(arg);
	return NULL;
}

/*
 * Decoders give back what they hold of the lanes' memory within milliseconds; a GPU's start takes
 * hundreds.
 */
static struct gpu *start_gpu(const struct crew *crew)
{
	const struct plan *p = crew->plan;

	source_take_spare(crew->work.source);
	return gpu_start(&(struct gpu_spec){
		.counting = &p->counting,
		.devices = crew->job->gpus,
		.lanes = p->lanes,
		.decoded = p->decoded,
		.fetch = crew->work.snapshot != NULL,
		.memory = p->lanes_memory,
	});
}

/*
 * Starts one more worker if the plan has one; having fewer is no error. With the crew's lock held.
 */
static void start_one(struct crew *crew)
{
	lock_assert_held(&crew->lock);
	if (crew->closed || crew->started >= crew->plan->workers)
		return;
	struct member *m = &crew->members[crew->started];
	m->crew = crew;
	if (signals_thread(&m->thread, member_main, m) == 0)
		crew->started++;
	else
		crew->closed = true;
}

void crew_more(struct crew *crew)
{
	lock_take(&crew->lock);
	start_one(crew);
	lock_drop(&crew->lock);
}

/*
 * Is it time for a GPU, at the rate of the workers so far? Of compressed inputs only the packed
 * size is known.
 */
static bool gpu_pays(const struct crew *crew)
{
	uint64_t gpu_records;
	const uint64_t counted = crew_records(crew, &gpu_records) * crew->work.record;

	return plan_gpu_pays(crew->plan, clock_seconds() - crew->began, counted,
			     crew->plan->decoded ? 0 : crew->known);
}

/* The callback `busy` of struct work: starts one more worker, or, when all are there, the GPU. */
static bool start_next(void *arg)
{
	struct crew *crew = arg;
	bool began = false;

	lock_take(&crew->lock);
	if (!crew->work.gpu && crew->started == crew->plan->workers && gpu_pays(crew)) {
		__atomic_store_n(&crew->work.gpu, start_gpu(crew), __ATOMIC_RELEASE);
		began = crew->work.gpu != NULL;
	}
	start_one(crew);
	lock_drop(&crew->lock);
	return began && !crew->plan->decoded && crew->plan->workers > 1 &&
	       crew->plan->workers >= cores_usable();
}

int crew_open(struct crew **out, const struct crew_work *on, struct fail *fail)
{
	struct crew *crew = calloc(1, sizeof(*crew));

	*out = NULL;
	if (!crew || !(crew->members = calloc(on->plan->workers, sizeof(*crew->members)))) {
		fail_errno(fail, "workers");
		goto free_crew;
	}
	if (lock_init(&crew->lock) != 0) {
		fail_set(fail, STATUS_SYSTEM, "lock: cannot be made");
		goto free_members;
	}
	crew->job = on->job;
	crew->plan = on->plan;
	crew->work = (struct work){
		.counting = &on->plan->counting,
		.source = on->source,
		.counts = on->counts,
		.block = on->plan->block,
		.record = on->job->source.record,
		.busy = start_next,
		.arg = crew,
		.gpu_only = on->job->device == DEVICE_GPU,
		.snapshot = on->snapshot,
	};
	*out = crew;
	return 0;
free_members:
	free(crew->members);
free_crew:
	free(crew);
	return -1;
}

/*
 * --device=gpu waits for the GPU before anything is read; under auto workers start it later, where
 * it pays.
 */
static int prepare_gpu(struct crew *crew, struct fail *fail)
{
	struct gpu_report gpu;

	if (crew->work.gpu_only) {
		crew->work.gpu = start_gpu(crew);
		if (!crew->work.gpu)
			return fail_errno(fail, "GPU");
		if (gpu_wait(crew->work.gpu) == 0)
			return 0;
		gpu_describe(crew->work.gpu, &gpu);
		return fail_set(fail, STATUS_DEVICE, "--device=gpu: %s", gpu.why);
	}
	return 0;
}

/* Waits for the workers that other workers started. */
static void join(struct crew *crew)
{
	/*
	 * The last one that was started may start another until it is joined; after that no thread
	 * is left that could.
	 */
	for (unsigned i = 1;; i++) {
		lock_take(&crew->lock);
		const bool more = i < crew->started;
		crew->closed |= !more;
		lock_drop(&crew->lock);
		if (!more)
			return;
		pthread_join(crew->members[i].thread, NULL);
	}
}

/*
 * Adds up what all workers did; of their failures, the first in the order of the workers is
 * *fail's.
 */
static int sum_up(const struct crew *crew, struct run_report *report, struct fail *fail)
{
	int rc = 0;

	for (unsigned i = 0; i < crew->started; i++) {
		const struct member *m = &crew->members[i];
		report->records += m->report.records;
		report->gpu_records += m->report.gpu_records;
		report->workers += m->report.fills > 0;
		report->read_seconds += m->report.read_seconds;
		report->count_seconds += m->report.count_seconds;
		report->core_seconds += m->report.core_seconds;
		if (m->fail.status != STATUS_OK)
			rc = fail_pass(fail, &m->fail);
	}
	return rc;
}

int crew_run(struct crew *crew, struct run_report *report, struct fail *fail)
{
	crew->began = clock_seconds();
	crew->known = crew->plan->gpu ? source_known_bytes(crew->work.source) : 0;
	int rc = prepare_gpu(crew, fail);

	if (rc == 0) {
		crew->members[0].crew = crew;
		crew->started = 1;
		run_member(&crew->members[0]);
		join(crew);
		rc = sum_up(crew, report, fail);
	}
	if (crew->work.gpu)
		gpu_describe(crew->work.gpu, &report->gpu);
	return rc;
}

uint64_t crew_records(const struct crew *crew, uint64_t *gpu_records)
{
	uint64_t all = 0;

	*gpu_records = 0;
	/* Includes members that were never started, which have counted nothing. */
	for (unsigned i = 0; i < crew->plan->workers; i++) {
		*gpu_records += tally_read(&crew->members[i].report.gpu_records);
		all += tally_read(&crew->members[i].report.records);
	}
	return all;
}

void crew_close(struct crew *crew)
{
	if (!crew)
		return;
	gpu_close(crew->work.gpu);
	lock_destroy(&crew->lock);
	free(crew->members);
	free(crew);
}
