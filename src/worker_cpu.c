/* worker_cpu: fill, count, until there is nothing left. */
#include "worker.h"

#include <stdlib.h>

#include "clock.h"
#include "gpu.h"

#define PAGE 4096u

size_t worker_cpu_memory(const struct counting *counting, size_t block)
{
	return counting->memory + block + PAGE;
}

int worker_cpu(const struct work *work, struct lane **lane, struct worker_report *report,
	       struct fail *fail)
{
	int rc = -1;
	struct source_lease lease = {.data = NULL};
	struct counter *counter = counter_open(work->counting, work->counts);
	unsigned char *block = aligned_alloc(PAGE, (work->block + PAGE - 1) / PAGE * PAGE);

	*lane = NULL;
	if (!counter || !block) {
		fail_errno(fail, "worker");
		goto out;
	}
	report->asked = true;
	for (double start = clock_seconds();;) {
		rc = source_lend(work->source, block, work->block, &lease, fail);
		const double filled = clock_seconds();
		report->read_seconds += filled - start;
		if (rc != 0 || lease.bytes == 0)
			break;
		worker_found(work, report, lease.bytes);
		counter_add(counter, lease.data, lease.bytes / work->record, lease.hash);
		report->records += lease.bytes / work->record;
		start = clock_seconds();
		report->count_seconds += start - filled;
		struct gpu *gpu = __atomic_load_n(&work->gpu, __ATOMIC_ACQUIRE);
		if (gpu && (*lane = gpu_take_lane(gpu)) != NULL)
			break;
	}
out:
	if (source_return_lease(work->source, &lease, fail) != 0)
		rc = -1;
	counter_close(counter);
	free(block);
	return rc;
}
