/* SPDX-License-Identifier: MIT */
/*
 * worker: the worker that begins the start of a GPU leaves its core to the driver. It takes nothing
 * more until the GPU is ready or has failed, or until nothing is left to take; the others count the
 * rest.
 */
#include <pthread.h>
#include <fcntl.h>
#include <time.h>

#include "base/tally.h"
#include "check.h"
#include "take.h"
#include "gpu/gpu_state.h"
#include "scratch.h"
#include "run/worker.h"

#define BLOCK ((size_t)128 << 10)
#define BLOCKS 64u

static struct gpu gpu; /* neither the GPU nor its driver ever does anything */
static struct work work;
static struct worker worker[2];
static pthread_t other;
static bool begun;           /* atomic: pthread_create may set `other` after the thread has begun */
static enum gpu_state state; /* state of the GPU once it was started */

static void *run(void *arg)
{
	worker_run(arg);
	return NULL;
}

/*
 * The first call, by the first worker, begins the start. The other worker leaves it time to take
 * more than it should; if the GPU has failed, as long as it needs to take more.
 */
static bool begin(void *arg)
{
	(void)arg;
	if (__atomic_exchange_n(&begun, true, __ATOMIC_SEQ_CST)) {
		const int most = state == GPU_FAILED ? 60000 : 20;
		for (int i = 0; i < most && tally_read(&worker[0].chunks) < 2; i++)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		return false;
	}
	__atomic_store_n(&work.gpu, &gpu, __ATOMIC_RELEASE);
	__atomic_store_n(&gpu.report.state, state, __ATOMIC_RELEASE);
	CHECK(pthread_create(&other, NULL, run, &worker[1]) == 0, "thread");
	return true;
}

/* Both workers count one file; return how much of it the first one counted. */
static uint64_t taken_by_first(const struct counting *counting, struct counts *counts,
			       const struct setup *spec)
{
	struct fail fail = {.status = STATUS_OK};

	worker[0] = worker[1] = (struct worker){.work = &work};
	begun = false;
	counts->samples = 0;
	gpu.report.state = GPU_NONE;
	work = (struct work){.counting = counting,
			     .counts = counts,
			     .block = BLOCK,
			     .record = 4,
			     .start_next = begin};
	CHECK(setup_open(&work.source, spec, &fail) == 0, "%s", fail.text);
	run(&worker[0]);
	pthread_join(other, NULL);
	CHECK(worker[0].fail.status == STATUS_OK && worker[1].fail.status == STATUS_OK, "%s%s",
	      worker[0].fail.text, worker[1].fail.text);
	CHECK(worker[0].chunks + worker[1].chunks == BLOCKS &&
		      counts->samples == BLOCKS * BLOCK / 4,
	      "%llu and %llu blocks, %llu samples", (unsigned long long)worker[0].chunks,
	      (unsigned long long)worker[1].chunks, (unsigned long long)counts->samples);
	source_close(work.source);
	return worker[0].chunks;
}

int main(void)
{
	static char *const FILES[] = {"file"};
	const struct setup spec = {.open.paths = FILES,
				   .open.path_count = 1,
				   .use.limit = UINT64_MAX,
				   .use.record = 4,
				   .open.raw = true,
				   .use.threads = 2};
	const struct axis_spec bins = {.bins = 1024};
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	struct counts counts;
	struct fail fail = {.status = STATUS_OK};
	const char *why;

	alarm(300);
	scratch_enter();
	sample_type_parse(&type, "u32");
	const int fd = open("file", O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || ftruncate(fd, BLOCKS * BLOCK) != 0 || close(fd) != 0 ||
	    edges_init(&edges, &bins, &type, &why) != 0)
		return 1;
	counting_init(&counting, &type, &edges, NULL, false);
	if (counts_init(&counts, counting.cells, NULL, &fail) != 0)
		return 1;
	state = GPU_STARTING;
	const uint64_t starting = taken_by_first(&counting, &counts, &spec);
	CHECK(starting == 1, "%llu blocks while the GPU starts", (unsigned long long)starting);
	state = GPU_FAILED;
	const uint64_t failed = taken_by_first(&counting, &counts, &spec);
	CHECK(failed > 1, "%llu blocks where the GPU has failed", (unsigned long long)failed);
	counts_free(&counts);
	scratch_leave();
	return check_report();
}
