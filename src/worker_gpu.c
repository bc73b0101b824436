/*
 * worker_gpu: one lane: fill a slot, submit it, reap the one before.
 *
 * A chunk counts when it is committed: its event is done, its counters were fetched, and they
 * sum to its samples. Only then is the slot free. When the GPU fails, in whatever way, the
 * chunks that are submitted and not committed still lie in our own memory and are counted by
 * the CPU, and those that were mapped can be read again; nothing is lost and nothing is counted
 * twice.
 */
#include "worker.h"

#include <time.h>

#include "clock.h"
#include "gpu.h"

/*
 * How long a chunk may take. The slowest kernel counts 64 MiB in milliseconds and a shared
 * GPU may be busy with somebody else's for seconds; what lasts longer than this hangs.
 */
#define WATCHDOG_SECONDS 20.0
/* Between two looks: a quarter of what 4 MiB take on PCIe 5 x16; of a window, 32. */
#define NAP_NS 20000
#define WINDOW_NAP_NS 150000

/* Adds a chunk's counters; false when they do not sum to its samples. */
static bool commit(struct counts *counts, struct lane *lane, const struct slot *slot)
{
	const size_t cells = lane->cells;
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

/* One worker on its lane. */
struct walk {
	const struct work *work;
	struct lane *lane;
	struct worker_report *report;
	struct fail *fail;
	struct source_piece piece[GPU_SLOTS]; /* what a slot maps; bytes 0: it has the samples itself */
	uint64_t committed;
	bool came_short; /* a piece was cut: what -n had reserved for it is free again */
};

static int give_back(struct walk *w, unsigned k)
{
	struct source_piece *piece = &w->piece[k];

	return piece->bytes == 0 ? 0 : source_return(w->work->source, piece, piece->bytes, w->fail);
}

/* Counts on the CPU what a slot holds: from our own memory, or from the file once more. */
static int recount_slot(struct walk *w, struct counter *counter, unsigned k)
{
	struct slot *slot = &w->lane->slot[k];
	struct source_piece *piece = &w->piece[k];
	const uint32_t record = w->work->record;
	const size_t cap = gpu_slot_bytes(w->lane->gpu) / record * record;
	size_t counted = 0, got = cap;
	uint64_t samples = slot->samples;

	slot->samples = 0;
	if (piece->bytes == 0) {
		counter_add(counter, slot->data, samples, NULL);
		w->report->records += samples;
		return 0;
	}
	while (got == cap && counted < piece->bytes) {
		const size_t want = piece->bytes - counted < cap ? piece->bytes - counted : cap;
		if (source_read(piece, counted, slot->data, want, &got, w->fail) != 0)
			return -1;
		counter_add(counter, slot->data, got / record, NULL);
		counted += got;
	}
	w->report->records += counted / record;
	w->came_short |= counted < piece->bytes;
	return source_return(w->work->source, piece, counted, w->fail);
}

/* The same for slots `from` up to `to`, those of them that hold anything. */
static int recount(struct walk *w, unsigned from, unsigned to)
{
	struct counter *counter = NULL;
	int rc = 0;

	for (unsigned k = from; k < to && rc == 0; k++) {
		if (w->lane->slot[k].samples == 0)
			continue;
		if (!counter && !(counter = counter_open(w->work->counting, w->work->counts)))
			return fail_errno(w->fail, "recounting what the GPU did not");
		rc = recount_slot(w, counter, k);
	}
	counter_close(counter);
	return rc;
}

/*
 * Waits for a slot and commits it. -1: the gpu has failed and the slot is as it was, or, with
 * w->fail set, something else has.
 */
static int reap(struct walk *w, unsigned k)
{
	struct lane *lane = w->lane;
	struct slot *slot = &lane->slot[k];
	const double start = clock_seconds();
	int done;

	if (slot->samples == 0)
		return 0;
	while ((done = gpu_done(lane, slot)) == 0) {
		/* Asked once more: it may be the process that stood still. */
		if (clock_seconds() - start > WATCHDOG_SECONDS && (done = gpu_done(lane, slot)) == 0) {
			gpu_fail(lane->gpu, "watchdog", "a chunk was not counted in time");
			return -1;
		}
		if (done != 0)
			break;
		nanosleep(&(struct timespec){.tv_nsec = slot->window ? WINDOW_NAP_NS : NAP_NS}, NULL);
	}
	if (done < 0)
		return -1;
	if (slot->window && gpu_unmap(lane, slot) != 0)
		return -1;
	/* Behind a file's new end the device has read zeros: what is there decides. */
	if (w->piece[k].bytes > 0 && !source_intact(&w->piece[k]))
		return recount(w, k, k + 1);
	if (!commit(w->work->counts, lane, slot)) {
		gpu_fail(lane->gpu, "check", "a chunk's counts do not sum to its samples");
		return -1;
	}
	w->report->records += slot->samples;
	w->report->gpu_records += slot->samples;
	w->committed += slot->samples;
	if (w->piece[k].bytes > 0)
		w->report->mapped_records += slot->samples;
	slot->samples = 0;
	return give_back(w, k);
}

/* The next records for a slot: a window of the file where there is one, else a copy. */
static int fill(struct walk *w, unsigned k, size_t *got)
{
	struct lane *lane = w->lane;
	struct slot *slot = &lane->slot[k];
	struct source_piece *piece = &w->piece[k];

	if (lane->window_bytes > 0)
		source_claim(w->work->source, lane->window_bytes, piece);
	if (piece->bytes == 0) {
		if (source_fill(w->work->source, slot->data, gpu_slot_bytes(lane->gpu), got, w->fail) != 0)
			return -1;
		/* From here on the chunk is ours to count, come what may. */
		slot->samples = *got / w->work->record;
		return 0;
	}
	*got = piece->bytes;
	slot->samples = *got / w->work->record;
	if (gpu_map(lane, slot, piece->fd, piece->offset, piece->bytes) == 0)
		return 0;
	return gpu_failed(lane->gpu) ? 0 : recount(w, k, k + 1);
}

/* Fill, submit, reap until the source has ended and every slot is free. */
static int walk(struct walk *w)
{
	struct lane *lane = w->lane;
	size_t got = 1;

	for (unsigned k = 0; got > 0; k = (k + 1) % lane->slots) {
		const double waiting = clock_seconds();
		if (reap(w, k) != 0)
			return -1;
		const double start = clock_seconds();
		w->report->count_seconds += start - waiting; /* the bus and the GPU */
		if (fill(w, k, &got) != 0)
			return -1;
		w->report->read_seconds += clock_seconds() - start;
		if (got == 0)
			continue;
		worker_found(w->work, w->report, got);
		if (lane->slot[k].samples > 0 && gpu_submit(lane, &lane->slot[k], lane->slot[k].samples) != 0)
			return -1;
	}
	for (unsigned k = 0; k < lane->slots; k++)
		if (reap(w, k) != 0)
			return -1;
	return 0;
}

/* The lane's own totals to everybody's, once, at the end; a group's to the first of its cells. */
static void add_totals(struct counts *counts, struct lane *lane, uint64_t committed)
{
	pthread_mutex_lock(&counts->lock);
	for (size_t i = 0; lane->total && i < counts->cells; i++) {
		uint64_t *own = &lane->total[gpu_counter(lane, i)];
		if (*own)
			__atomic_fetch_add(&counts->cell[i], *own, __ATOMIC_RELAXED);
		*own = 0;
	}
	counts->samples += committed;
	pthread_mutex_unlock(&counts->lock);
}

int worker_gpu(const struct work *work, struct lane *lane, struct worker_report *report,
	       struct fail *fail)
{
	struct walk w = {.work = work, .lane = lane, .report = report, .fail = fail};
	int rc = 0;

	report->asked = true;
	do {
		w.came_short = false;
		rc = walk(&w);
	} while (rc == 0 && w.came_short);
	add_totals(work->counts, lane, w.committed);
	if (rc == 0)
		return WORKER_DONE;
	/* Without a word in *fail it is the gpu that failed. */
	if (fail->status == STATUS_OK && recount(&w, 0, lane->slots) == 0)
		return WORKER_LOST_GPU;
	for (unsigned k = 0; k < lane->slots; k++)
		give_back(&w, k);
	return WORKER_FAILED;
}
