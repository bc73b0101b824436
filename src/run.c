/*
 * run: starts the workers, joins them, audits.
 *
 * Workers start one another: the first runs in the calling thread, and each that finds more
 * work than it can do starts the next. A small input costs one thread, a long
 * one has all of them within a few blocks, and nobody has to know the size beforehand.
 */
#include "run.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "gpu.h"
#include "gpu_kernel.h"
#include "worker.h"

/*
 * Large enough that a claim and a system call are nothing, small enough to stay in L2 and to
 * keep a pipe nearly empty, its pages warm. Files do the same from 64 KiB to 1 MiB; a pipe
 * that `cat` fills is read 15% faster by 128 KiB than by 64 or 256.
 */
#define BLOCK_BYTES ((size_t)128 << 10)
#define LANES_EACH 8u /* of a device: as many threads as fill PCIe 5 x16 by pread */
#define LANES_AUTO 6u /* the same beside CPU workers */

struct crew;

struct member {
	struct crew *crew;
	pthread_t thread;            /* of all but the first */
	struct worker_report report;
	struct fail fail;
};

struct crew {
	const struct job *job;
	struct work work;
	unsigned most;               /* members that there may be */
	unsigned lanes;              /* of the GPU, if there is one */
	bool compressed;             /* the inputs are, most likely */
	uint64_t lanes_memory;       /* that a GPU's lanes may take */
	pthread_mutex_t lock;
	unsigned started;            /* members whose thread runs or ran; under lock */
	bool closed;                 /* no more are started; under lock */
	unsigned asked;              /* times that start_next was called; under lock */
	struct member *members;
};

static void run_member(struct member *m)
{
	if (worker_run(&m->crew->work, &m->report, &m->fail) == 0)
		return;
	/* One that never asked for anything is not missed: the others read what it would have. */
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
 * Under auto the GPU's start must pay: it takes some 0.3 s, and part of a core that could
 * count. So the work that is left must keep the CPU busy for twice that, at the rate of a slow
 * core's worker. Tables too large to fetch for every chunk are the CPU's.
 */
#define CPU_BYTES_PER_SECOND 2.7e9
#define WORTH_SECONDS 0.6
#define AUTO_CELLS_MAX ((size_t)1 << 20)

static bool gpu_pays(const struct crew *crew, double bytes)
{
	return crew->job->device == DEVICE_AUTO && !crew->work.gpu && kernel_image &&
	       crew->work.counting->cells <= AUTO_CELLS_MAX &&
	       bytes > crew->most * CPU_BYTES_PER_SECOND * WORTH_SECONDS;
}

/*
 * Alone, a lane for each thread up to those that fill the bus; where one or two threads are all, one
 * lane, which maps files, does more than two that read. Beside CPU workers, a lane for three threads
 * of eight. Of a compressed input all threads decode, and none of them has to count.
 */
static unsigned lanes(const struct job *job, bool compressed)
{
	const unsigned most = job->threads < GPU_LANES_MAX ? job->threads : GPU_LANES_MAX;

	if (compressed)
		return most;
	if (job->device == DEVICE_GPU) /* of one device and of several, when they are known, fewer */
		return job->threads <= 2 && !strchr(job->gpus, ',') && strcmp(job->gpus, "all") != 0 ? 1 : most;
	const unsigned n = job->threads * 3 / 8;
	return n < 1 ? 1 : n < LANES_AUTO ? n : LANES_AUTO;
}

/*
 * -M is shared: CPU workers have what they are planned with, lanes up to a quarter of it beside
 * them as long as half is left, or half where there are none but lanes. Decoders of compressed inputs
 * have the rest and, as long as no GPU is started, the lanes' part too.
 */
struct split {
	unsigned workers; /* on the CPU, with these bytes; 0: not even one */
	size_t on_cpu;
	uint64_t lanes, decoders;
};

/*
 * As many workers as -T, the cores and the memory bound allow, the last resort being one that
 * shares the totals' table.
 */
static unsigned plan(const struct job *job, uint64_t memory, struct counting *counting, size_t *on_cpu)
{
	for (unsigned workers = job->threads; workers > 0; workers--) {
		counting_init(counting, &job->type, &job->edges, workers, false);
		*on_cpu = workers * worker_cpu_memory(counting, BLOCK_BYTES);
		if (*on_cpu <= memory)
			return workers;
	}
	counting_init(counting, &job->type, &job->edges, 1, true);
	*on_cpu = worker_cpu_memory(counting, BLOCK_BYTES);
	return *on_cpu <= memory ? 1 : 0;
}

static struct split split_memory(const struct job *job, uint64_t memory, struct counting *counting)
{
	struct split s = {.decoders = 1};

	s.workers = plan(job, memory, counting, &s.on_cpu);
	if (s.workers == 0)
		return s;
	const uint64_t left = memory - (job->device == DEVICE_GPU ? 0 : s.on_cpu);
	const uint64_t half = memory / 2, beside = left > half ? left - half : 0;
	if (job->device == DEVICE_GPU)
		s.lanes = half;
	else if (job->device == DEVICE_AUTO && kernel_image)
		s.lanes = beside < memory / 4 ? beside : memory / 4;
	if (left > s.lanes)
		s.decoders = left - s.lanes;
	return s;
}

/* The source's: the least -M that leaves decoders so much. */
static uint64_t memory_for(void *arg, uint64_t need)
{
	const struct crew *crew = arg;
	uint64_t memory = crew->job->memory;

	/* Of more memory decoders never get more than that: each step is too short, or just enough. */
	for (;;) {
		struct counting counting;
		const uint64_t have = split_memory(crew->job, memory, &counting).decoders;
		if (have >= need)
			return memory;
		memory += (need - have + 1023) / 1024 * 1024;
	}
}

/* What decoders have, they give back in the milliseconds that a GPU's start takes hundreds of. */
static struct gpu *start_gpu(const struct crew *crew)
{
	source_take_spare(crew->work.source);
	return gpu_start(&(struct gpu_spec){
		.counting = crew->work.counting,
		.devices = crew->job->gpus,
		.lanes = crew->lanes,
		/* Beside CPU workers half of them will do, with slots that larger frames fit. */
		.lanes_least = crew->compressed && crew->job->device != DEVICE_GPU ? (crew->lanes + 1) / 2 : 0,
		.lanes_each = crew->compressed ? 0 : LANES_EACH,
		.decoded = crew->compressed,
		.memory = crew->lanes_memory,
	});
}

/* One more worker, if one may be; fewer than asked for is no error. Lock held. */
static void start_one(struct crew *crew)
{
	const unsigned most = crew->work.gpu_only ? gpu_lanes(crew->work.gpu) : crew->most;

	if (crew->closed || crew->started >= crew->most || crew->started >= most)
		return;
	struct member *m = &crew->members[crew->started];
	m->crew = crew;
	if (pthread_create(&m->thread, NULL, member_main, m) == 0)
		crew->started++;
	else
		crew->closed = true;
}

/* The source's: somebody begins long work that one more could share. */
static void start_another(void *arg)
{
	struct crew *crew = arg;

	pthread_mutex_lock(&crew->lock);
	start_one(crew);
	pthread_mutex_unlock(&crew->lock);
}

/*
 * struct work's busy: there is more to do than is done. One more worker, if one may be (fewer
 * than asked for is no error), under --device=gpu one for each lane; when all are there, the GPU.
 */
static void start_next(void *arg)
{
	struct crew *crew = arg;

	pthread_mutex_lock(&crew->lock);
	crew->asked++;
	if (crew->started == crew->most && gpu_pays(crew, crew->asked * (double)WORKER_ASKS_BYTES))
		__atomic_store_n(&crew->work.gpu, start_gpu(crew), __ATOMIC_RELEASE);
	start_one(crew);
	pthread_mutex_unlock(&crew->lock);
}

/* Runs the first worker here and waits for all; the first failure in their order is *fail's. */
static int run_crew(struct crew *crew, struct run_report *report, struct fail *fail)
{
	crew->members[0].crew = crew;
	crew->started = 1;
	run_member(&crew->members[0]);
	/* Nobody starts a worker behind the one that is joined here, but that one itself. */
	for (unsigned i = 1;; i++) {
		pthread_mutex_lock(&crew->lock);
		const bool more = i < crew->started;
		crew->closed |= !more;
		pthread_mutex_unlock(&crew->lock);
		if (!more)
			break;
		pthread_join(crew->members[i].thread, NULL);
	}
	int rc = 0;
	for (unsigned i = 0; i < crew->started; i++) {
		const struct member *m = &crew->members[i];
		report->records += m->report.records;
		report->gpu_records += m->report.gpu_records;
		report->mapped_records += m->report.mapped_records;
		report->workers += m->report.fills > 0;
		report->read_seconds += m->report.read_seconds;
		report->count_seconds += m->report.count_seconds;
		if (m->fail.status != STATUS_OK)
			rc = fail_pass(fail, &m->fail);
	}
	return rc;
}

/* Samples and bytes must agree; so must what was read and what was counted. */
static int audit(const struct job *job, const struct hist *hist, const struct run_report *report,
		 struct fail *fail)
{
	const struct source_totals *t = &report->totals;

	if (t->bytes != t->skipped + t->tail + report->records * job->source.record ||
	    hist->samples != report->records)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: %llu bytes were read, %llu samples counted: please report this",
				(unsigned long long)t->bytes, (unsigned long long)report->records);
	return hist_audit(hist, fail);
}

/* --device=gpu waits for the GPU before anything is read; auto starts it where it pays. */
static int prepare_gpu(struct crew *crew, struct fail *fail)
{
	const struct job *job = crew->job;

	if (job->device == DEVICE_GPU) {
		struct gpu_report gpu;
		crew->work.gpu_only = true;
		crew->work.gpu = start_gpu(crew);
		if (!crew->work.gpu)
			return fail_errno(fail, "GPU");
		if (gpu_wait(crew->work.gpu) == 0)
			return 0;
		gpu_describe(crew->work.gpu, &gpu);
		return fail_set(fail, STATUS_DEVICE, "--device=gpu: %s", gpu.why);
	}
	if (gpu_pays(crew, (double)source_known_bytes(crew->work.source)))
		crew->work.gpu = start_gpu(crew);
	return 0;
}

int run_job(const struct job *job, struct hist *hist, struct run_report *report,
	    struct fail *fail)
{
	static const char *const METHODS[] = {
		[COUNT_BYTES] = "bytes", [COUNT_CODES] = "codes",
		[COUNT_PRIVATE] = "private tables", [COUNT_SHARED] = "one shared table"};
	const double start = clock_seconds();
	struct counting counting;
	struct counts counts = {0};
	struct crew crew = {.most = 0};
	int rc = -1;

	*hist = (struct hist){0};
	*report = (struct run_report){.isa = cells_isa()};
	crew.job = job;
	crew.compressed = source_compressed(&job->source);
	const struct split split = split_memory(job, job->memory, &counting);
	crew.most = split.workers;
	crew.lanes_memory = split.lanes;
	report->memory = split.on_cpu;
	if (crew.most == 0)
		return fail_set(fail, STATUS_LIMIT, "-M: one worker needs %zu bytes",
				report->memory);
	crew.lanes = lanes(job, crew.compressed);
	if (job->device == DEVICE_GPU)
		crew.most = crew.lanes;
	report->method = METHODS[counting.method];
	if (pthread_mutex_init(&crew.lock, NULL) != 0)
		return fail_set(fail, STATUS_SYSTEM, "lock: cannot be made");
	crew.members = calloc(crew.most, sizeof(*crew.members));
	if (!crew.members) {
		fail_errno(fail, "workers");
		goto destroy_lock;
	}
	crew.work = (struct work){
		.counting = &counting,
		.counts = &counts,
		.block = BLOCK_BYTES,
		.record = job->source.record,
		.busy = start_next,
		.arg = &crew,
	};
	struct source_spec spec = job->source;
	spec.threads = crew.most;
	spec.memory = split.decoders;
	spec.memory_for = memory_for;
	spec.memory_spare = split.lanes;
	spec.more = start_another;
	spec.arg = &crew;
	if (source_open(&crew.work.source, &spec, fail) != 0)
		goto free_members;
	/* Another worker or a lane may add to a shared table at any time. */
	counting.alone &= job->device == DEVICE_CPU;
	if (hist_reserve(hist, &job->edges, &job->type, fail) != 0)
		goto close_source;
	if (counts_init(&counts, counting.cells, fail) != 0)
		goto free_hist;
	report->memory += counting.cells * sizeof(uint64_t);
	rc = prepare_gpu(&crew, fail);
	if (rc == 0)
		rc = run_crew(&crew, report, fail);
	if (rc == 0 && !source_finished(crew.work.source))
		rc = fail_set(fail, STATUS_INTERNAL,
			      "internal error: the input was left unread: please report this");
	if (crew.work.gpu)
		gpu_describe(crew.work.gpu, &report->gpu);
	report->totals = *source_totals(crew.work.source);
	if (rc == 0) {
		hist_fill(hist, &counts, &job->edges, &job->type, job->clamp);
		rc = audit(job, hist, report, fail);
	}
	counts_free(&counts);
free_hist:
	if (rc != 0)
		hist_free(hist);
close_source:
	source_close(crew.work.source);
free_members:
	free(crew.members);
destroy_lock:
	pthread_mutex_destroy(&crew.lock);
	report->seconds = clock_seconds() - start;
	return rc;
}
