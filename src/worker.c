/* SPDX-License-Identifier: MIT */
/* worker: the CPU and the GPU as two legs of one walk through the source. */
#include "worker.h"

#include "base/tally.h"
#include "count/gather.h"
#include "gpu/gpu.h"

void worker_found(const struct work *work, struct worker_report *report, size_t bytes)
{
	report->unasked += bytes;
	/*
	 * At once, then now and then: what a slow start does not need a long run may. Under
	 * --device=gpu a worker is of use only where there is a lane for it.
	 */
	const bool ask =
		work->gpu_only ? gpu_lane_free(work->gpu) : !report->passed_on || report->unasked >= WORKER_ASKS_BYTES;
	if (ask)
		report->unasked = 0;
	if (ask && source_backlog(work->source)) {
		report->passed_on = true;
		work->busy(work->arg);
	}
	tally_add(&report->fills, 1);
}

void worker_count(const struct work *work, struct counter *counter, struct holder *holder, struct worker_report *report,
		  const struct chunk *chunk)
{
	snapshot_let(holder);
	if (holder->of)
		lock_take(&holder->lock);
	gather_add(work->counting, counter, chunk->data, chunk->bytes, chunk->hash);
	tally_add(&report->records, chunk->bytes / work->record);
	if (holder->of)
		lock_drop(&holder->lock);
}

/* Under --device=gpu no worker takes the place of a GPU that failed. */
static int lost_gpu(const struct work *work, struct fail *fail)
{
	struct gpu_report gpu;

	gpu_describe(work->gpu, &gpu);
	return fail_set(fail, STATUS_SYSTEM, "the GPU failed: %s", gpu.why);
}

int worker_run(const struct work *work, struct worker_report *report, struct fail *fail)
{
	struct reader *const reader = source_reader(work->source);
	struct lane *lane = NULL;

	if (!reader)
		return fail_errno(fail, "worker");
	if (work->gpu_only) {
		lane = gpu_take_lane(work->gpu);
		if (!lane)
			return gpu_failed(work->gpu) ? lost_gpu(work, fail) : 0;
	} else if (worker_cpu(work, reader, &lane, report, fail) != 0) {
		return -1;
	}
	if (!lane)
		return 0;
	switch (worker_gpu(work, reader, lane, report, fail)) {
	case WORKER_DONE:
		return 0;
	case WORKER_LOST_GPU:
		if (work->gpu_only)
			return lost_gpu(work, fail);
		/* gpu_take_lane gives none any more: this is a CPU worker to the end. */
		return worker_cpu(work, reader, &lane, report, fail);
	default:
		return -1;
	}
}
