/* SPDX-License-Identifier: MIT */
/*
 * epoch: counters that stay on the device, with whole workers on one side of the region and on the
 * other a thread that plays the helper: it counts what is submitted into one table, adds up, hands
 * out pieces and clears; or fails at a point that is drawn. Epochs are short here, so that they end
 * by their limit, by their inputs and by the last lane's leaving. Whatever fails, and whenever: the
 * totals are those of a plain loop, and all that was taken was given back.
 */
#include "gpu/gpu_epoch.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "take.h"
#include "gpu/gpu_state.h"
#include "scratch.h"
#include "worker.h"

#define BINS 3000u
#define PIECE 512u
#define SLOT_BYTES ((size_t)8192)
#define SLOTS 10u
#define FILES 6u
static char NAME[FILES][3] = {"f0", "f1", "f2", "f3", "f4", "f5"};
#define CUT_TO 4000
#define WORKERS_MOST 4u
#define SECONDS_MOST 60.0 /* after which a run is taken to hang */

/* What becomes of the device, at the nth time. */
enum fault {
	NO_FAULT,
	LOST_CHUNK,  /* it is not counted, and the GPU has failed */
	WRONG_CHUNK, /* a sample too many is counted */
	LOST_SUMS,
	WRONG_SUMS, /* one too high */
	MOVED_SUMS, /* one piece's too high, another's too low */
	HUGE_SUMS,  /* which wrap to the right one */
	STALE_SUMS, /* the order is answered, and nothing was written */
	LOST_PIECE,
	WRONG_PIECE,
	STALE_PIECE,
	ODD_PIECE, /* the answer is none of those that there are */
	LOST_CLEAR,
	NO_CLEAR,  /* it is answered, and nothing was cleared */
	ODD,       /* a chunk is answered by what is no answer */
	LATE,      /* a chunk is counted, and answered as the one before it in the same slot */
	CUT,       /* while a chunk is counted the last file is cut */
	CUT_LOST,  /* the same before the sums, which are lost: what is left is counted again */
	CUT_PIECE, /* all are cut before a piece, which is lost: others may be in the totals */
	FAULTS
};
static const char *const NAMES[FAULTS] = {"no fault",   "lost chunk",  "wrong chunk", "lost sums",
					  "wrong sums", "moved sums",  "huge sums",   "stale sums",
					  "lost piece", "wrong piece", "stale piece", "odd piece",
					  "lost clear", "not cleared", "odd",         "late",
					  "cut",        "cut, lost",   "cut, piece"};

struct plan {
	enum fault fault;
	unsigned nth;
	uint64_t samples_most; /* of an epoch */
	unsigned inputs_most, workers;
	bool gpu_only;
};

/* Does a file become shorter? */
static bool cuts(const struct plan *p)
{
	return p->fault == CUT || p->fault == CUT_LOST || p->fault == CUT_PIECE;
}

static struct gpu gpu;
static struct gpu_device *const device = gpu.device;
static struct counting counting;
static struct edges edges;
static struct counts counts;
static struct source *source;
static struct work work;
static struct worker worker[WORKERS_MOST];
static uint64_t expected[BINS + 4];
static uint64_t samples_in_all;
static const struct plan *plan;
static unsigned kind_seen[FAULTS], met, disagreed;
static uint32_t table[BINS + 4];
static bool stop; /* atomic */
static uint64_t seed = 88172645463325252u;

static unsigned below(unsigned n)
{
	return (unsigned)(check_random(&seed) >> 33) % n;
}

/* ---- the other side ---- */

/* Is this the time for the fault? */
static bool now(enum fault fault)
{
	if (plan->fault != fault || ++kind_seen[fault] != plan->nth)
		return false;
	met++;
	return true;
}

/* What the link's thread does when it notices. */
static bool lose(enum fault fault)
{
	if (!now(fault))
		return false;
	gpu_fail(&gpu, "test", NAMES[fault]);
	return true;
}

static void *answer_at(unsigned k)
{
	return region_cells(device->region, &device->layout, k);
}

static void count(unsigned k, const struct shared_slot *s)
{
	const uint32_t *const data = (const uint32_t *)(const void *)device->slot[k].data;

	for (uint64_t i = 0; i < s->samples; i++)
		table[data[i] < BINS ? data[i] : BINS + 2]++;
	if (now(WRONG_CHUNK))
		table[5]++;
}

static void write_sums(unsigned k)
{
	uint64_t *const sums = answer_at(k);
	const uint32_t pieces = (BINS + 4 + PIECE - 1) / PIECE;
	uint64_t all = 0;

	if (now(STALE_SUMS))
		return;
	memset(sums, 0, pieces * sizeof(*sums));
	for (uint32_t i = 0; i < BINS + 4; i++) {
		sums[i / PIECE] += table[i];
		all += table[i];
	}
	CHECK(device->epoch.inputs <= plan->inputs_most, "%u inputs are open",
	      device->epoch.inputs);
	/* Or a counter of 32 bits could wrap. */
	CHECK(all <= plan->samples_most + 1 || plan->fault == NO_CLEAR, "an epoch of %llu samples",
	      (unsigned long long)all);
	sums[0] += now(WRONG_SUMS);
	if (now(MOVED_SUMS)) {
		sums[1]++;
		sums[2]--;
	}
	if (now(HUGE_SUMS)) {
		sums[0] += (uint64_t)1 << 63;
		sums[1] += (uint64_t)1 << 63;
	}
}

static void write_piece(unsigned k, uint32_t piece)
{
	const uint32_t from = piece * PIECE, left = BINS + 4 - from,
		       n = left < PIECE ? left : PIECE;

	if (now(STALE_PIECE))
		return;
	memcpy(answer_at(k), table + from, n * sizeof(*table));
	if (now(WRONG_PIECE))
		++*(uint32_t *)answer_at(k);
}

/* Makes the files from this one on shorter. */
static void cut(unsigned first)
{
	for (unsigned i = first; i < FILES; i++)
		CHECK(truncate(NAME[i], CUT_TO) == 0, "cut");
}

/* False: the device answers no more. */
static bool obey(unsigned k)
{
	struct shared_slot *const s = &device->region->slot[k];
	uint32_t number = slot_number_of(s);
	enum shared_state answer = SHARED_DONE;

	switch (s->order) {
	case ORDER_COUNT:
		if (lose(LOST_CHUNK))
			return false;
		if (now(CUT))
			cut(FILES - 1);
		count(k, s);
		if (now(ODD))
			answer = 3;
		if (now(LATE))
			number--;
		break;
	case ORDER_SUMS:
		if (plan->fault == CUT_LOST && kind_seen[CUT_LOST] + 1 == plan->nth)
			cut(FILES - 1);
		if (lose(LOST_SUMS) || lose(CUT_LOST))
			return false;
		write_sums(k);
		break;
	case ORDER_PIECE:
		if (plan->fault == CUT_PIECE && kind_seen[CUT_PIECE] + 1 == plan->nth)
			cut(0);
		if (lose(LOST_PIECE) || lose(CUT_PIECE))
			return false;
		if (now(ODD_PIECE))
			answer = SHARED_FREE;
		write_piece(k, s->piece);
		break;
	case ORDER_CLEAR:
		if (lose(LOST_CLEAR))
			return false;
		if (!now(NO_CLEAR))
			memset(table, 0, sizeof(table));
		break;
	}
	slot_answer(s, number, answer);
	return true;
}

static void *play_helper(void *arg)
{
	uint64_t state = 1;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		const unsigned first = (unsigned)(check_random(&state) >> 33) % SLOTS;
		const uint32_t seen = __atomic_load_n(&device->region->doorbell, __ATOMIC_SEQ_CST);
		bool worked = false;
		for (unsigned i = 0; i < SLOTS; i++) {
			const unsigned k = (first + i) % SLOTS;
			if (slot_state_of(&device->region->slot[k]) != SHARED_SUBMITTED)
				continue;
			worked = true;
			if (!obey(k))
				return NULL;
		}
		if (!worked)
			region_wait(&device->region->doorbell, seen, 0.0005);
	}
	return arg;
}

/* ---- this side ---- */

static bool make_device(void)
{
	memset(&gpu, 0, sizeof(gpu));
	memset(table, 0, sizeof(table));
	memset(kind_seen, 0, sizeof(kind_seen));
	gpu.spec = (struct gpu_spec){.counting = &counting, .devices = "0", .lanes = plan->workers};
	gpu.size.lanes = plan->workers;
	gpu.devices = 1;
	gpu.state = GPU_READY;
	CHECK(lock_init(&gpu.lock) == 0, "a lock");
	device->gpu = &gpu;
	device->link.socket = -1;
	device->layout = (struct region){
		.slot_bytes = SLOT_BYTES, .cell_bytes = 4 * PIECE, .slots = SLOTS, .piece = PIECE};
	region_lay_out(&device->layout);
	const size_t bytes = (size_t)device->layout.total;
	device->region = aligned_alloc(4096, bytes);
	if (!device->region)
		return false;
	memset(device->region, 0, bytes);
	*device->region = device->layout;
	device->facts.slots = SLOTS;
	device->cells = BINS + 4;
	for (unsigned k = 0; k < SLOTS; k++)
		device->slot[k] = (struct slot){
			.index = k, .data = region_data(device->region, &device->layout, k)};
	const bool made = epoch_init(device) == 0;
	device->epoch.samples_most = plan->samples_most;
	device->epoch.inputs_most = plan->inputs_most;
	device->ready = true;
	return made;
}

static void drop_device(void)
{
	epoch_destroy(&device->epoch);
	free(device->region);
	lock_destroy(&gpu.lock);
}

struct one {
	pthread_t thread;
	int rc;
	struct worker *worker;
};

static void *work_on(void *arg)
{
	struct one *const one = arg;

	one->rc = worker_run(one->worker);
	if (one->rc != 0)
		source_stop(source);
	return NULL;
}

static bool no_more(void *arg)
{
	(void)arg;
	return false;
}

/* A run that hangs fails here, and not by the patience of who waits for it. */
static void *watch(void *arg)
{
	const double end = clock_seconds() + SECONDS_MOST;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		if (clock_seconds() > end) {
			printf("%s, %u: it hangs\n0 passed, 1 failed\n", NAMES[plan->fault],
			       plan->nth);
			fflush(stdout);
			_exit(1);
		}
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	return arg;
}

static void check_totals(const struct one *one)
{
	uint64_t records = 0, wrong = 0;
	const struct source_totals *const t = source_totals(source);

	for (unsigned i = 0; i < plan->workers; i++)
		records += one[i].worker->records;
	CHECK(source_finished(source), "%s, %u: something was left", NAMES[plan->fault], plan->nth);
	if (cuts(plan)) { /* as much as was counted in time */
		uint64_t sum = 0;
		for (size_t i = 0; i < BINS + 4; i++)
			sum += counts.cell[i];
		CHECK(sum == counts.samples && records == sum && t->bytes == 4 * sum,
		      "%s, %u: %llu in cells, %llu counted, %llu reported, %llu bytes",
		      NAMES[plan->fault], plan->nth, (unsigned long long)sum,
		      (unsigned long long)counts.samples, (unsigned long long)records,
		      (unsigned long long)t->bytes);
		return;
	}
	for (size_t i = 0; i < BINS + 4; i++)
		wrong += counts.cell[i] != expected[i];
	CHECK(wrong == 0, "%s, %u: %llu cells are wrong", NAMES[plan->fault], plan->nth,
	      (unsigned long long)wrong);
	CHECK(counts.samples == samples_in_all && records == samples_in_all &&
		      t->bytes == 4 * samples_in_all,
	      "%s, %u: %llu counted, %llu reported, %llu bytes given back, of %llu samples",
	      NAMES[plan->fault], plan->nth, (unsigned long long)counts.samples,
	      (unsigned long long)records, (unsigned long long)t->bytes,
	      (unsigned long long)samples_in_all);
}

/* Is what was counted again not what the device had counted? */
static bool disagrees(void)
{
	bool any = false;

	for (unsigned i = 0; i < plan->workers; i++)
		any |= strstr(worker[i].fail.text, "what the input holds now") != NULL;
	disagreed += any;
	return any && plan->fault == CUT_PIECE;
}

/* Was it met? Then the GPU has failed, but not by what was met at the very end. */
static bool run(const struct plan *given, char **paths, size_t path_count)
{
	const struct setup spec = {.open.paths = paths,
				   .open.path_count = path_count,
				   .use.limit = UINT64_MAX,
				   .use.record = 4,
				   .open.raw = true,
				   .open.ignore_tail = cuts(given),
				   .use.threads = given->workers};
	struct one one[WORKERS_MOST] = {{.rc = 0}};
	struct fail fail = {.status = STATUS_OK};
	pthread_t helper, watcher;
	int rc = 0;

	plan = given;
	met = 0;
	__atomic_store_n(&stop, false, __ATOMIC_RELEASE);
	if (!make_device() || setup_open(&source, &spec, &fail) != 0 ||
	    counts_init(&counts, counting.cells, &fail) != 0) {
		CHECK(false, "%s", fail.text);
		return false;
	}
	work = (struct work){.counting = &counting,
			     .source = source,
			     .counts = &counts,
			     .block = 4096,
			     .record = 4,
			     .busy = no_more,
			     .gpu = &gpu,
			     .gpu_only = plan->gpu_only};
	pthread_create(&watcher, NULL, watch, NULL);
	pthread_create(&helper, NULL, play_helper, NULL);
	for (unsigned i = 0; i < plan->workers; i++) {
		worker[i] = (struct worker){.work = &work};
		one[i].worker = &worker[i];
		pthread_create(&one[i].thread, NULL, work_on, &one[i]);
	}
	for (unsigned i = 0; i < plan->workers; i++) {
		pthread_join(one[i].thread, NULL);
		rc |= one[i].rc;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(helper, NULL);
	pthread_join(watcher, NULL);
	const bool failed = gpu_failed(&gpu);
	CHECK(!failed || met > 0, "%s, %u: %s", NAMES[plan->fault], plan->nth, gpu.report.why);
	/* A table that was not cleared may have been the last one. */
	CHECK(failed || met == 0 || plan->fault == NO_CLEAR || plan->fault == CUT,
	      "%s, %u: overlooked", NAMES[plan->fault], plan->nth);
	if (rc == 0)
		check_totals(one);
	else
		CHECK(failed && (plan->gpu_only || disagrees()), "%s, %u: a worker failed: %s",
		      NAMES[plan->fault], plan->nth, worker[0].fail.text);
	counts_free(&counts);
	source_close(source);
	drop_device();
	return met > 0;
}

/* ---- what is counted ---- */

static void add(uint32_t sample)
{
	expected[sample < BINS ? sample : BINS + 2]++;
	samples_in_all++;
}

/* Files of a few slots each, the last of them of half a slot; some samples are over. */
static void make_files(void)
{
	for (unsigned i = 0; i < FILES; i++) {
		FILE *f = fopen(NAME[i], "wbe");
		for (unsigned n = 0; f && n < 9 * SLOT_BYTES / 4 + 700 * i; n++) {
			const uint32_t sample = below(BINS + 50);
			if (fwrite(&sample, sizeof(sample), 1, f) == 1)
				add(sample);
		}
		CHECK(f && fclose(f) == 0, "%s", NAME[i]);
	}
}

/* The files, as they were. */
static void restore(bool keep)
{
	static unsigned char whole[FILES][16 * SLOT_BYTES];
	static size_t bytes[FILES];

	for (unsigned i = 0; i < FILES; i++) {
		FILE *f = fopen(NAME[i], keep ? "rbe" : "wbe");
		if (f && keep)
			bytes[i] = fread(whole[i], 1, sizeof(whole[i]), f);
		else if (f)
			CHECK(fwrite(whole[i], 1, bytes[i], f) == bytes[i], "%s", NAME[i]);
		CHECK(f && fclose(f) == 0 && bytes[i] < sizeof(whole[i]), "%s", NAME[i]);
	}
}

static void every_fault(char **paths)
{
	restore(true);
	for (enum fault fault = NO_FAULT; fault < FAULTS; fault++) {
		unsigned times_met = 0;
		for (unsigned nth = 1; nth <= 12; nth++) {
			const struct plan p = {.fault = fault,
					       .nth = nth,
					       .samples_most = SLOT_BYTES / 4 * (1 + below(12)),
					       .inputs_most = below(3) ? 100 : 1 + below(2),
					       .workers = 1 + below(WORKERS_MOST),
					       .gpu_only = nth % 4 == 0};
			times_met += run(&p, paths, FILES);
			if (cuts(&p))
				restore(false);
		}
		CHECK(fault == NO_FAULT ? times_met == 0 : times_met >= 2, "%s: met %u times",
		      NAMES[fault], times_met);
	}
	/* The last file is cut when it has been opened, so ranges that were claimed come short. */
	for (unsigned nth = 46; nth <= 58; nth++) {
		const struct plan p = {.fault = CUT,
				       .nth = nth,
				       .samples_most = UINT32_MAX,
				       .inputs_most = 100,
				       .workers = 1 + nth % WORKERS_MOST,
				       .gpu_only = true};
		run(&p, paths, FILES);
		restore(false);
	}
	/* One lane has two pieces on their way at most, so of one epoch some are added by then. */
	for (unsigned nth = 4; nth <= 6; nth++) {
		const struct plan p = {.fault = CUT_PIECE,
				       .nth = nth,
				       .samples_most = UINT32_MAX,
				       .inputs_most = 100,
				       .workers = 1};
		run(&p, paths, FILES);
		restore(false);
	}
}

/* With room for all there is one epoch, which the last to leave ends. */
static void one_epoch(char **paths)
{
	for (unsigned workers = 1; workers <= WORKERS_MOST; workers++) {
		const struct plan p = {.samples_most = UINT32_MAX,
				       .inputs_most = 100,
				       .workers = workers,
				       .gpu_only = true};
		run(&p, paths, FILES);
		CHECK(worker[0].gpu_records + worker[1].gpu_records + worker[2].gpu_records +
				      worker[3].gpu_records ==
			      samples_in_all,
		      "not all by the GPU");
	}
}

/* ---- what cannot be read again ---- */

static void *feed(void *arg)
{
	const int fd = open(arg, O_WRONLY | O_CLOEXEC);
	unsigned char block[3000];
	bool goes = fd >= 0;

	for (unsigned i = 0; i < FILES && goes; i++) {
		FILE *f = fopen(NAME[i], "rbe");
		for (size_t n; f && goes && (n = fread(block, 1, sizeof(block), f)) > 0;)
			goes = write(fd, block, n) == (ssize_t)n;
		if (f)
			fclose(f);
	}
	close(fd);
	return NULL;
}

/*
 * Of a FIFO slots keep their chunks until the epoch's end: under --device=gpu, where no other
 * engine counts them.
 */
static void from_a_fifo(void)
{
	char name[] = "fifo";
	char *paths[] = {name};
	static const enum fault POSSIBLE[] = {NO_FAULT,  NO_FAULT,    LOST_CHUNK,
					      LOST_SUMS, WRONG_PIECE, LOST_CLEAR};

	for (unsigned i = 0; i < 18; i++) {
		const struct plan p = {.fault = POSSIBLE[i % 6],
				       .nth = 1 + i / 6,
				       .samples_most = SLOT_BYTES / 4 * (2 + below(20)),
				       .inputs_most = 100,
				       .workers = 1 + i % 3,
				       .gpu_only = i % 4 != 3};
		pthread_t feeder;
		CHECK(mkfifo(name, 0600) == 0, "a FIFO");
		pthread_create(&feeder, NULL, feed, name);
		run(&p, paths, 1);
		pthread_join(feeder, NULL);
		unlink(name);
	}
}

int main(void)
{
	struct sample_type type;
	const struct edges_spec spec = {.bins = BINS};
	char *paths[FILES];
	const char *why = "";

	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	CHECK(sample_type_parse(&type, "u32") == 0 && edges_init(&edges, &spec, &type, &why) == 0,
	      "%s", why);
	counting_init_layout(&counting, &type, &edges, NULL, false);
	CHECK(counting.cells == BINS + 4, "%zu cells", counting.cells);
	make_files();
	for (unsigned i = 0; i < FILES; i++)
		paths[i] = NAME[i];
	one_epoch(paths);
	every_fault(paths);
	from_a_fifo();
	CHECK(disagreed > 0, "no file changed in time");
	edges_free(&edges);
	scratch_leave();
	return check_report();
}
