/*
 * worker_gpu: one lane: fill a slot, submit it, reap the one before.
 *
 * A chunk counts when it is committed: its event is done, its counters were fetched, and they
 * sum to its samples. Only then is the slot free. When the GPU fails, in whatever way, the
 * chunks that are submitted and not committed still lie in our own memory and are counted by
 * the CPU; nothing is lost and nothing is counted twice.
 */
#include "worker.h"

#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "gpu.h"

/*
 * How long a chunk may take. The slowest kernel counts 64 MiB in milliseconds and a shared
 * GPU may be busy with somebody else's for seconds; what lasts longer than this hangs.
 */
#define WATCHDOG_SECONDS 20.0
#define NAP_NS 20000 /* between two looks: a quarter of what 4 MiB take on PCIe 5 x16 */

/* Adds a chunk's counters; false when they do not sum to its samples. */
static bool commit(struct counts *counts, struct lane *lane, const struct slot *slot)
{
	const size_t cells = counts->cells;
	uint64_t sum = 0;

	for (size_t i = 0; i < cells; i++)
		sum += slot->cells[i];
	if (sum != slot->samples)
		return false;
	if (lane->total) {
		for (size_t i = 0; i < cells; i++)
			lane->total[i] += slot->cells[i];
		return true;
	}
	/* Very many cells: other workers may be adding to this table atomically. */
	for (size_t i = 0; i < cells; i++)
		if (slot->cells[i])
			__atomic_fetch_add(&counts->cell[i], slot->cells[i], __ATOMIC_RELAXED);
	return true;
}

/* Waits for a slot and commits it; -1: the gpu has failed and the slot is as it was. */
static int reap(struct counts *counts, struct lane *lane, struct slot *slot, uint64_t *committed)
{
	const double start = clock_seconds();
	int done;

	if (slot->samples == 0)
		return 0;
	while ((done = gpu_done(lane, slot)) == 0) {
		if (clock_seconds() - start > WATCHDOG_SECONDS) {
			gpu_fail(lane->gpu, "watchdog", "a chunk was not counted in time");
			return -1;
		}
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	}
	if (done < 0)
		return -1;
	if (!commit(counts, lane, slot)) {
		gpu_fail(lane->gpu, "check", "a chunk's counts do not sum to its samples");
		return -1;
	}
	*committed += slot->samples;
	slot->samples = 0;
	return 0;
}

/* Counts what was submitted and never committed. */
static int recount(const struct work *work, struct lane *lane)
{
	struct counter *counter = counter_open(work->counting, work->counts);

	if (!counter)
		return -1;
	for (unsigned k = 0; k < GPU_SLOTS; k++) {
		counter_add(counter, lane->slot[k].data, lane->slot[k].samples);
		lane->slot[k].samples = 0;
	}
	counter_close(counter);
	return 0;
}

/* The lane's own totals to everybody's, once, at the end. */
static void add_totals(struct counts *counts, const struct lane *lane, uint64_t committed)
{
	pthread_mutex_lock(&counts->lock);
	if (lane->total)
		for (size_t i = 0; i < counts->cells; i++)
			if (lane->total[i])
				__atomic_fetch_add(&counts->cell[i], lane->total[i],
						   __ATOMIC_RELAXED);
	counts->samples += committed;
	pthread_mutex_unlock(&counts->lock);
}

int worker_gpu(const struct work *work, struct lane *lane, struct worker_report *report,
	       struct fail *fail)
{
	const size_t cap = gpu_slot_bytes(lane->gpu);
	uint64_t committed = 0;
	size_t got = 1;
	int rc = 0;

	for (unsigned k = 0; got > 0; k = (k + 1) % GPU_SLOTS) {
		struct slot *slot = &lane->slot[k];
		const double waiting = clock_seconds();
		if (reap(work->counts, lane, slot, &committed) != 0)
			break;
		const double start = clock_seconds();
		report->count_seconds += start - waiting; /* the bus and the GPU */
		rc = source_fill(work->source, slot->data, cap, &got, fail);
		report->read_seconds += clock_seconds() - start;
		if (rc != 0)
			break;
		if (got == 0)
			continue;
		worker_found(work, report);
		report->records += got / work->record;
		report->gpu_records += got / work->record;
		/* From here on the chunk is ours to count, come what may. */
		slot->samples = got / work->record;
		if (gpu_submit(lane, slot, slot->samples) != 0)
			break;
	}
	for (unsigned k = 0; k < GPU_SLOTS && rc == 0 && !gpu_failed(lane->gpu); k++)
		reap(work->counts, lane, &lane->slot[k], &committed);
	add_totals(work->counts, lane, committed);
	if (rc != 0)
		return WORKER_FAILED;
	if (!gpu_failed(lane->gpu))
		return WORKER_DONE;
	if (recount(work, lane) != 0) {
		fail_errno(fail, "recounting what the GPU did not");
		return WORKER_FAILED;
	}
	return WORKER_LOST_GPU;
}
