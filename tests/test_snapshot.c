/* SPDX-License-Identifier: MIT */
/*
 * snapshot: copies of the counts while workers count. Each copy holds the counts of all workers
 * between two chunks, the same ones for every channel, and adds up to their reports; no copy is
 * smaller than an earlier one; the totals at the end are complete.
 */
#include "engine/snapshot.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tally.h"
#include "check.h"
#include "count/count.h"
#include "engine/engine.h"

#define WORKERS 4
#define CHUNKS 400
#define RECORDS 1000 /* of a chunk */

static struct counting counting;
static struct counts counts;
static struct snapshot snapshot;
static struct work work;
static struct worker worker[WORKERS];
static unsigned char *chunk;
static size_t chunk_bytes;
static unsigned ended; /* workers; atomic */

static void flush(void *counter)
{
	counter_flush(counter);
}

static void *count(void *arg)
{
	struct worker *const own = arg;

	/* Twice: a worker may leave, and come again with other tables. */
	for (unsigned turn = 0; turn < 2; turn++) {
		CHECK(cpu_open(own, &counting, &counts) == 0, "%s", own->fail.text);
		for (unsigned i = 0; i < CHUNKS; i++)
			cpu_count(own, &(struct chunk){.data = chunk, .bytes = chunk_bytes});
		cpu_close(own);
	}
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void look(void *arg)
{
	uint64_t *records = arg;

	*records = 0;
	for (unsigned i = 0; i < WORKERS; i++)
		*records += tally_read(&worker[i].records);
}

/* Every cell that a chunk counts in holds its share of the same number of chunks, exactly. */
static void check_copy(const struct counts *copy, const uint64_t *each, uint64_t records,
		       const char *name)
{
	const uint64_t chunks = records / RECORDS;
	size_t wrong = 0;

	CHECK(records % RECORDS == 0, "%s: %llu records", name, (unsigned long long)records);
	CHECK(copy->samples == records * counting.channels, "%s: %llu samples of %llu records",
	      name, (unsigned long long)copy->samples, (unsigned long long)records);
	for (size_t i = 0; i < copy->cells; i++)
		wrong += copy->cell[i] != chunks * each[i];
	CHECK(wrong == 0, "%s: %zu cells of %zu are wrong", name, wrong, copy->cells);
}

static void workers(const char *name, const char *type_name, uint32_t bins, uint32_t channels,
		    bool shared)
{
	const struct axis_spec spec = {.bins = bins};
	struct sample_type type;
	struct edges edges;
	struct fail fail = {.status = STATUS_OK};
	pthread_t thread[WORKERS];
	uint64_t last = 0, looks = 0, seed = 1, samples;
	const char *why;

	sample_type_parse(&type, type_name);
	CHECK(edges_init(&edges, &spec, &type, &why) == 0, "%s", why);
	const struct layout layout = {
		.record = type.code_bytes * channels, .samples = channels, .channels = channels};
	counting_init(&counting, &type, &edges, &layout, shared);
	chunk_bytes = (size_t)RECORDS * layout.record;
	chunk = calloc(chunk_bytes, 1);
	for (size_t i = 0; i < chunk_bytes; i++)
		chunk[i] =
			(unsigned char)(check_random(&seed) & (i % type.code_bytes < 2 ? 255 : 0));
	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = (struct worker){.work = &work};
	ended = 0;
	work = (struct work){.counting = &counting,
			     .counts = &counts,
			     .block = 4096,
			     .record = layout.record,
			     .snapshot = &snapshot};
	/* The counts of one chunk, which are in the totals when a worker has left. */
	CHECK(counts_init(&counts, counting.cells, NULL, &fail) == 0, "%s", fail.text);
	snapshot_init(&snapshot);
	struct counter *counter = counter_open(&counting, &counts);
	struct holder holder;
	snapshot_join(&snapshot, &holder, flush, counter);
	gather_add(counter, chunk, chunk_bytes, NULL);
	snapshot_leave(&holder);
	CHECK(counts.samples == RECORDS * channels, "%s: left, and not counted", name);
	counter_close(counter);
	uint64_t *const each = counts_take(&counts, &samples);
	CHECK(samples == RECORDS * channels &&
		      counts_init(&counts, counting.cells, NULL, &fail) == 0,
	      "%s", name);
	for (unsigned i = 0; i < WORKERS; i++)
		CHECK(pthread_create(&thread[i], NULL, count, &worker[i]) == 0, "thread");
	do {
		struct counts copy;
		uint64_t records;
		const bool last_one = __atomic_load_n(&ended, __ATOMIC_ACQUIRE) == WORKERS;
		CHECK(counts_init(&copy, counting.cells, NULL, &fail) == 0, "%s", fail.text);
		snapshot_take(&snapshot, &copy, &counts, look, &records);
		check_copy(&copy, each, records, name);
		CHECK(records >= last, "%s: fewer records than before", name);
		last = records;
		looks++;
		counts_free(&copy);
		if (last_one)
			break;
		sched_yield();
	} while (looks < 1000000);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	CHECK(last == (uint64_t)WORKERS * 2 * CHUNKS * RECORDS, "%s: %llu at the end", name,
	      (unsigned long long)last);
	snapshot_destroy(&snapshot);
	counts_free(&counts);
	edges_free(&edges);
	free(each);
	free(chunk);
}

/* Without --every nothing is joined, and leaving does nothing. */
static void none(void)
{
	struct holder holder, zeroed = {.of = NULL};

	snapshot_join(NULL, &holder, flush, NULL);
	snapshot_lock_take(&holder);
	snapshot_unlocks(&holder);
	snapshot_leave(&holder);
	snapshot_leave(&zeroed);
}

int main(void)
{
	alarm(300);
	none();
	workers("bytes", "u8", 256, 1, false);
	workers("codes of channels", "u16", 1000, 3, false);
	workers("private tables", "u32", 1000, 1, false);
	workers("private tables of channels", "u32", 100, 2, false);
	workers("one shared table", "u32", 70000, 2, true);
	return check_report();
}
