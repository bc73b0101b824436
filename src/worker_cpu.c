/* SPDX-License-Identifier: MIT */
/* worker_cpu: fill, count, until there is nothing left. */
#include "worker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "gpu/gpu.h"

#define PAGE 4096u

size_t worker_cpu_memory(const struct counting *counting, size_t block)
{
	return counting->memory + block + PAGE;
}

static void flush(void *counter)
{
	counter_flush(counter);
}

int worker_cpu(const struct work *work, struct reader *reader, struct lane **lane, struct worker_report *report,
	       struct fail *fail)
{
	int rc = -1;
	struct chunk chunk = {.bytes = 0};
	struct counter *counter = counter_open(work->counting, work->counts);
	unsigned char *block = aligned_alloc(PAGE, (work->block + PAGE - 1) / PAGE * PAGE);
	const struct want want = {.buffer = block, .cap = work->block, .lent = true};
	struct holder holder = {.of = NULL};

	*lane = NULL;
	if (!counter || !block) {
		fail_errno(fail, "worker");
		goto out;
	}
	if (snapshot_join(work->snapshot, &holder, flush, counter, fail) != 0)
		goto out;
	report->asked = true;
	for (double start = clock_seconds();;) {
		rc = source_take(reader, &want, &chunk, fail);
		const double filled = clock_seconds();
		report->read_seconds += filled - start;
		if (rc != 0 || chunk.bytes == 0)
			break;
		worker_found(work, report, chunk.bytes);
		worker_count(work, counter, &holder, report, &chunk);
		start = clock_seconds();
		report->count_seconds += start - filled;
		if ((rc = source_done(reader, &chunk, chunk.bytes, fail)) != 0)
			break;
		struct gpu *gpu = __atomic_load_n(&work->gpu, __ATOMIC_ACQUIRE);
		if (gpu && (*lane = gpu_take_lane(gpu)) != NULL)
			break;
	}
out:
	snapshot_leave(&holder);
	counter_close(counter);
	free(block);
	return rc;
}
