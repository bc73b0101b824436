/* SPDX-License-Identifier: MIT */
/*
 * run: the first input, the plan, the source, the workers, the audit.
 *
 * The first input's header is read first, because the whole plan depends on the type. plan.c
 * divides the memory, worker.c is the main loop of a worker.
 */
#include "run.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/isa.h"
#include "base/lock.h"
#include "base/path.h"
#include "base/signals.h"
#include "base/tally.h"
#include "cli/msg.h"
#include "document/into.h"
#include "each/each.h"
#include "each/list.h"
#include "gpu_helper/cuda.h"
#include "gpu_helper/gpu_image.h"
#include "gpu/gpu_plan.h"
#include "gpu/gpu_resident.h"
#include "gpu/gpu_unpack.h"
#include "input/text_keys.h"
#include "partial.h"
#include "plan.h"
#include "watch.h"
#include "worker.h"

/* Decoders per core: more are no faster, even if some wait for a disk, and each needs memory. */
#define DECODERS_CORE 2u
/* How long a frame waits for the GPU; after that the CPU decodes it. */
#define START_SECONDS 3.0

struct run {
	const struct job *job;
	struct output *rows; /* the output, which --each writes to; or NULL */
	double began;
	struct shape shape;         /* const once the first input is open */
	struct plan plan;           /* const once it is made */
	struct work work;           /* shared by all workers; const once prepared, except for gpu */
	struct unpacker unpacker;   /* the GPU as a decoder, once it has started */
	struct digest_memory pages; /* of all digests */
	struct counts counts;
	struct hist hist; /* reserved first, then filled */
	struct codebook book;
	struct keys keys;             /* --by */
	struct text_keys *names;      /* --by in text: what their numbers stand for */
	struct hist_scratch *scratch; /* for hist */
	struct run_report report;

	struct lock lock; /* guards started, closed, and the GPU's start */
	unsigned started; /* workers started so far */
	bool closed;      /* start no more workers */
	double counting_began;
	struct worker *workers; /* plan.workers of them */

	struct watch *watch;
	struct snapshot snapshot;
	struct partial partial;
	bool prepared;       /* the watching thread may look at the fields above; atomic */
	struct row_spec row; /* --each */
};

/*
 * Records counted so far by all workers, in total or on the GPU. Any thread, without a lock, once
 * the workers are allocated.
 */
static uint64_t records_by(const struct run *run, bool gpu)
{
	uint64_t all = 0;

	/* Workers that never started have counted nothing. */
	for (unsigned i = 0; i < run->plan.workers; i++)
		all += tally_read(gpu ? &run->workers[i].gpu_records : &run->workers[i].records);
	return all;
}

static uint64_t records(const void *run)
{
	return records_by(run, false);
}

/* ---- workers ---- */

static void *work_on(void *arg)
{
	struct worker *const w = arg;
	const double began = clock_core_seconds();
	const int rc = worker_run(w);

	w->core_seconds = clock_core_seconds() - began;
	if (rc == 0)
		return NULL;
	if (worker_is_spare(w))
		w->fail.status = STATUS_OK;
	else
		source_stop(w->work->source);
	return NULL;
}

static struct gpu *start_gpu(const struct run *run, bool unpacks)
{
	struct gpu_spec gpu = plan_gpu(&run->plan, run->job);

	gpu.unpacks = unpacks;
	return gpu_start(&gpu);
}

/* Is a GPU worth starting, given the workers' rate so far? */
static bool gpu_pays(const struct run *run)
{
	const uint64_t counted =
		layout_records_bytes(records(run), run->work.record, run->work.packed);

	return plan_gpu_pays(clock_seconds() - run->counting_began, counted,
			     source_packed(run->work.source) ? source_expected(run->work.source)
							     : source_length(run->work.source));
}

/*
 * Callback for workers: start another worker if the plan allows it or, once all are running, the
 * GPU. Failing to start one is not an error.
 */
static bool start_next(void *arg)
{
	struct run *const run = arg;
	const struct plan *const p = &run->plan;
	bool began = false;

	lock_take(&run->lock);
	if (!run->closed && run->started < p->workers) {
		struct worker *const w = &run->workers[run->started];
		w->work = &run->work;
		if (signals_thread(&w->thread, work_on, w) == 0)
			run->started++;
		else
			run->closed = true;
	} else if (run->started == p->workers && p->lanes > 0 && !run->work.gpu && gpu_pays(run)) {
		struct gpu *const gpu = start_gpu(run, source_unpacks(run->work.source));
		__atomic_store_n(&run->work.gpu, gpu, __ATOMIC_RELEASE);
		began = run->work.gpu != NULL;
	}
	lock_drop(&run->lock);
	return began && !source_compressed(&run->job->source) && p->workers > 1 &&
	       p->workers >= cores_usable();
}

/* Callback for the source, when it has work for another worker. */
static void more(void *arg)
{
	(void)start_next(arg);
}

/* Callback for the source, when a GPU would decode the next frame sooner than the CPU. */
static bool start_unpacker(void *arg)
{
	struct run *const run = arg;

	lock_take(&run->lock);
	if (!run->work.gpu)
		__atomic_store_n(&run->work.gpu, start_gpu(run, true), __ATOMIC_RELEASE);
	struct gpu *const gpu = run->work.gpu;
	lock_drop(&run->lock);
	return gpu && gpu_wait(gpu, START_SECONDS);
}

/* With --device=gpu, wait for the GPU before anything is read. */
static int wait_for_gpu(struct run *run, struct fail *fail)
{
	struct gpu_report gpu;

	run->work.gpu = start_gpu(run, source_unpacks(run->work.source));
	if (!run->work.gpu)
		return fail_errno(fail, "GPU");
	if (gpu_wait(run->work.gpu, INFINITY))
		return 0;
	gpu_describe(run->work.gpu, &gpu);
	return fail_set(fail, STATUS_DEVICE, "--device=gpu cannot be used: %s", gpu.why);
}

/* Join all workers. The last one may start another until it is joined. */
static void join(struct run *run)
{
	for (unsigned i = 1;; i++) {
		lock_take(&run->lock);
		const bool is_one = i < run->started;
		run->closed |= !is_one;
		lock_drop(&run->lock);
		if (!is_one)
			return;
		pthread_join(run->workers[i].thread, NULL);
	}
}

/* Add up the workers' totals; *fail gets the first failure. */
static int sum_up(struct run *run, struct fail *fail)
{
	struct work_report *const all = &run->report.work;
	int rc = 0;

	for (unsigned i = 0; i < run->started; i++) {
		const struct worker *const one = &run->workers[i];
		all->records += one->records;
		all->gpu_records += one->gpu_records;
		all->workers += one->fills > 0;
		all->read_seconds += one->read_seconds;
		all->count_seconds += one->count_seconds;
		all->core_seconds += one->core_seconds;
		if (one->fail.status != STATUS_OK)
			rc = fail_pass(fail, &one->fail);
	}
	return rc;
}

/* With --skip-bad, some line must be good. */
static int check_bad(const struct run *run, struct fail *fail)
{
	const struct text_totals *const text = &source_totals(run->work.source)->text;

	if (text->bad == 0)
		return 0;
	return fail_set(fail, STATUS_DATA, "%s: line %llu %s; all other lines are bad, too",
			text->bad_name, (unsigned long long)text->bad_line, text->bad_why);
}

static int count(struct run *run, struct fail *fail)
{
	run->counting_began = clock_seconds();
	int rc = run->work.gpu_only ? wait_for_gpu(run, fail) : 0;

	if (rc == 0) {
		run->workers[0].work = &run->work;
		run->workers[0].asked = true; /* its failure is the run's */
		run->started = 1;
		work_on(&run->workers[0]);
		join(run);
		rc = sum_up(run, fail);
	}
	if (rc == 0)
		rc = counts_check(&run->counts, fail);
	if (rc == 0 && run->report.work.records == 0)
		rc = check_bad(run, fail);
	if (rc == 0 && run->work.gpu && gpu_resident_fetch(run->work.gpu, &run->counts) != 0)
		rc = gpu_fail_run(run->work.gpu, fail);
	if (run->work.gpu)
		gpu_describe(run->work.gpu, &run->report.gpu);
	return rc;
}

/* ---- callbacks for the watching thread ---- */

static void look(void *arg, struct progress_now *now)
{
	struct run *const run = arg;

	if (!__atomic_load_n(&run->prepared, __ATOMIC_ACQUIRE))
		return;
	now->length = source_length(run->work.source);
	now->bytes = source_progress(run->work.source);
	now->gpu_records = records_by(run, true);
	now->records = records(run);
}

static void save(void *arg)
{
	struct run *const run = arg;

	if (__atomic_load_n(&run->prepared, __ATOMIC_ACQUIRE))
		partial_write(&run->partial);
}

static bool resized(void *arg)
{
	const struct run *const run = arg;

	return __atomic_load_n(&run->prepared, __ATOMIC_ACQUIRE) &&
	       screen_changed(&run->partial.screen);
}

/*
 * Is stderr's terminal also used for typed samples, rows, pictures or the output of --tee?
 */
static bool shares_terminal(const struct job *job)
{
	return (job_reads_stdin(job) && isatty(STDIN_FILENO)) || job_draws_in_place(job) ||
	       (job->each > 0 && output_is_stderr_terminal(job->output)) ||
	       (job->tee && output_is_stderr_terminal(NULL));
}

/* On a shared terminal, draw no line of progress unless the user asked for it. */
static enum progress line_of(const struct job *job)
{
	if (job->progress != PROGRESS_TERMINAL)
		return job->progress;
	return job->voice == VOICE_QUIET || !msg_terminal() || shares_terminal(job)
		       ? PROGRESS_NEVER
		       : PROGRESS_TERMINAL;
}

static void start_watch(struct run *run)
{
	const struct job *job = run->job;

	run->watch = watch_start(&(struct watch_spec){
		.line = line_of(job),
		.in_place = msg_terminal() && !shares_terminal(job),
		.every = job->every,
		.look = look,
		.save = save,
		.early = job_draws_in_place(job) ? resized : NULL,
		.arg = run,
	});
	if (!run->watch && job->every > 0)
		msg_warning(
			"--every could not start a thread; only the final output will be written");
}

/* ---- from the first record to the last ---- */

/* Are all inputs files, which can be read again? */
static bool reads_files(const struct job *job)
{
	for (size_t i = 0; i < job->source.path_count; i++) {
		const char *const path = job->source.paths[i];
		struct stat st;
		if ((path_is_stdin(path) ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 ||
		    (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)))
			return false;
	}
	return !job->tee;
}

/* Decide whether a GPU may be started. Returns the reason against it, for -v, or NULL. */
static const char *choose_gpu(struct run *run)
{
	const struct gpu_spec gpu = plan_gpu(&run->plan, run->job);

	if (run->job->machine.device == DEVICE_CPU)
		return "--device=cpu";
	if (gpu_declines(run->job, &run->shape))
		return gpu_declines(run->job, &run->shape);
	if (!kernel_image)
		return "the program was built without kernels";
	if (run->plan.lanes == 0)
		return "its buffers and counters do not fit in -M (--device=gpu starts it anyway)";
	const bool text = run->job->source.text.on;
	if (run->job->machine.device == DEVICE_GPU ||
	    (!text && (!gpu_size(&gpu).resident || reads_files(run->job))))
		return NULL;
	run->plan.lanes = 0;
	if (text)
		return "reading text takes longer than counting (--device=gpu starts it anyway)";
	return "it would hold the counts of a stream, which cannot be read again if it fails "
	       "(--device=gpu starts it anyway)";
}

static int make_plan(struct run *run, const struct source *source, struct fail *fail)
{
	static const char *const METHODS[] = {[COUNT_BYTES] = "bytes",
					      [COUNT_CODES] = "codes",
					      [COUNT_PRIVATE] = "private tables",
					      [COUNT_SHARED] = "one shared table"};
	const struct job *job = run->job;
	struct plan *plan = &run->plan;

	const struct plan_facts facts = {
		.kernels = kernel_image != NULL,
		.plain = source_all_plain(source),
	};
	*plan = plan_make(job, &run->shape, &facts);
	if (plan->workers == 0)
		return fail_set(fail, STATUS_LIMIT,
				"--memory %s is too small for one worker, which needs %zu bytes; "
				"-M %zuK is enough",
				job->machine.memory_text, plan->tables,
				(2 * plan->tables + 1023) / 1024);
	run->pages.most = plan->digests;
	plan->counting.pages = job->each > 0 ? NULL : &run->pages;
	run->report.plan.isa = isa_name(isa_best());
	run->report.plan.method = METHODS[plan->counting.method];
	run->report.plan.no_gpu = choose_gpu(run);
	run->report.plan.memory = plan->tables + plan->counting.cells * sizeof(uint64_t);
	return 0;
}

/* Open the inputs; the options or else the first header decide the shape. */
static int open_source(struct run *run, struct source **source, struct fail *fail)
{
	const struct job *const job = run->job;
	struct source_spec spec = job->source;

	/* Count slow input promptly, for the next partial output or row. */
	spec.prompt = job->every > 0 || job->each > 0;
	spec.ordered = job->each > 0;
	spec.memory = job->machine.memory;
	if (spec.text.by && !(run->names = text_keys_new()))
		return fail_errno(fail, "--by");
	spec.text.keys = run->names;
	if (source_open(source, &spec, fail) != 0)
		return -1;
	run->report.header = *source_said(*source);
	run->report.style = job->style;
	if (job->source.tensor && !job->titled) {
		snprintf(run->report.title, TITLE_TEXT, "%s %s",
			 path_name(source_totals(*source)->first), job->source.tensor);
		run->report.style.canvas.title = run->report.title;
	}
	if (job_shape(&run->shape, job, &run->report.header, fail) != 0)
		return -1;
	run->report.type = run->shape.axis.type;
	run->report.record = run->shape.record;
	run->report.packed = run->shape.packed;
	return 0;
}

/* Callback for the source. */
static void ended(void *arg, size_t inputs)
{
	const struct run *const run = arg;

	each_ended(run->work.each, inputs);
}

static int start_source(struct run *run, struct source *source, struct fail *fail)
{
	const struct job *const job = run->job;
	const struct shape *const shape = &run->shape;
	const unsigned workers = run->plan.workers;
	/* Look up cores only if it may matter. */
	const bool many = workers > DECODERS_CORE && !job->source.raw;

	const bool offsets = job->each > 0 && !job->source.text.on;

	if (offsets)
		run->row.begin = calloc(job->source.path_count, sizeof(*run->row.begin));
	const struct source_use use = {
		.record = shape->record,
		.packed = shape->packed,
		.limit = shape->limit,
		.type = sample_type_word(&shape->axis.type),
		.channels = shape->header_channels,
		.last = shape->header_last,
		.row = shape->row == ROW_IS_INPUT ? 0 : shape->row,
		.ended = job->each > 0 ? ended : NULL,
		.threads = workers,
		.decoders = many ? DECODERS_CORE * cores_usable() : 0,
		.memory = run->plan.decoders,
		.begin = run->row.begin,
		.more = more,
		.start = start_unpacker,
		.arg = run,
		.unpacker = run->plan.lanes > 0 ? &run->unpacker : NULL,
	};

	if (offsets && !run->row.begin)
		return fail_errno(fail, "--each");
	run->unpacker = gpu_unpacker(&run->work.gpu);
	run->unpacker.demanded = job->machine.device == DEVICE_GPU;
	return source_start(source, &use, fail);
}

static int open_rows(struct run *run, struct each **each, struct fail *fail)
{
	const struct job *const job = run->job;

	run->row = (struct row_spec){
		.paths = job->source.paths,
		.path_count = job->source.path_count,
		.size = run->shape.row,
		.axis = &run->hist.axis,
		.book = &run->book,
		.channels = run->shape.channels,
		.record = run->shape.record,
		.packed = run->shape.packed,
		.skip = job->source.skip,
		.begin = run->row.begin,
		.asked = job->quantiles.n > 0 ? &job->quantiles : NULL,
		.format = job->format,
		.style = &run->report.style,
		.options = job->options,
	};
	return each_open(each, &run->row, &run->plan.counting, run->rows, fail);
}

/* The digits of the digests; 0: none are needed, because codes tell the quantiles, or no room. */
static uint32_t digest_digits(const struct job *job, const struct shape *shape)
{
	const bool document = job->into || job->format->write == write_json ||
			      job->format->kind == FORMAT_PERCENTILES;

	if (layout_is_many(shape->channels))
		return 0;
	return !sample_is_code(&shape->axis.type) || document ? DIGEST_FINE : 0;
}

/* Allocate the histogram, the totals and the workers. */
static int take_memory(struct run *run, struct fail *fail)
{
	const struct job *const job = run->job;
	const struct counting *const counting = &run->plan.counting;
	const struct axis *const axis = &run->shape.axis;
	const bool by = job->by_text;
	const uint32_t channels = by ? keys_most(axis_bins(axis)) : run->shape.channels;

	if (by && keys_open(&run->keys, &run->shape.by, axis_bins(axis), fail) != 0)
		return -1;
	if (hist_reserve(&run->hist, axis, channels, fail) != 0 ||
	    codebook_init(&run->book, axis, fail) != 0 ||
	    (by ? counts_init_keys(&run->counts, counting->cells, &run->keys, fail)
		: counts_init(&run->counts, counting->cells, fail)) != 0)
		return -1;
	run->scratch = hist_scratch_new(&axis->type, channels);
	if (!run->scratch)
		return fail_errno(fail, "the histogram");
	run->plan.counting.words = run->book.words;
	run->plan.counting.ranks = run->book.ranks;
	run->hist.keyed = by;
	run->plan.counting.keys = by ? &run->keys : NULL;
	if (by && job->quantiles.n > 0 &&
	    (hist_keep_stats(&run->hist, &job->quantiles, 0, fail) != 0 ||
	     keys_keep_stats(&run->keys, &counting->counted, run->plan.digests, fail) != 0))
		return -1;
	if (job->quantiles.n > 0 && job->each == 0 && !by &&
	    (hist_keep_stats(&run->hist, &job->quantiles, digest_digits(job, &run->shape), fail) !=
		     0 ||
	     counts_keep_stats(&run->counts, &counting->counted, channels, counting->digits,
			       &run->pages, fail) != 0))
		return -1;
	if (counting->auto_bins.most > 0)
		counts_set_auto(&run->counts, &counting->auto_bins);
	run->workers = calloc(run->plan.workers, sizeof(*run->workers));
	return run->workers ? 0 : fail_errno(fail, "workers");
}

static int prepare(struct run *run, struct fail *fail)
{
	const struct job *const job = run->job;
	struct source *source = NULL;
	struct each *each = NULL;
	const bool failed = open_source(run, &source, fail) != 0 ||
			    make_plan(run, source, fail) != 0 ||
			    start_source(run, source, fail) != 0 || take_memory(run, fail) != 0 ||
			    (job->each > 0 && open_rows(run, &each, fail) != 0);

	/* Fill it in even after a failure: cleanup uses it. */
	run->work = (struct work){
		.each = each,
		.counting = &run->plan.counting,
		.source = source,
		.counts = &run->counts,
		.block = run->plan.block,
		.step = run->plan.step,
		.part = run->plan.part,
		.record = run->shape.record,
		.packed = run->shape.packed,
		.more = start_next,
		.arg = run,
		.gpu_only = job->machine.device == DEVICE_GPU,
		.snapshot = job->every > 0 ? &run->snapshot : NULL,
	};
	if (failed)
		return -1;
	run->partial = (struct partial){
		.job = job,
		.style = &run->report.style,
		.shape = &run->shape,
		.source = source,
		.counts = &run->counts,
		.book = &run->book,
		.snapshot = &run->snapshot,
		.counted = records,
		.arg = run,
	};
	__atomic_store_n(&run->prepared, true, __ATOMIC_RELEASE);
	return 0;
}

/* Audit: samples must match bytes, and records read must match records counted. */
static int audit(const struct run *run, struct fail *fail)
{
	const struct source_totals *t = &run->report.totals;
	const uint64_t records = run->report.work.records;
	const uint64_t bits = (uint64_t)8 * run->shape.record / run->shape.packed;

	if ((t->bytes - t->skipped - t->tail) * 8 != records * bits + t->padding ||
	    run->hist.samples != run->report.samples)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: %llu bytes were read, %llu samples of %llu "
				"records counted; please report this",
				(unsigned long long)t->bytes, (unsigned long long)run->hist.samples,
				(unsigned long long)records);
	return hist_audit(&run->hist, fail);
}

/* Count all inputs and make the histogram. */
static int count_all(struct run *run, struct fail *fail)
{
	struct source *const source = run->work.source;
	int rc = count(run, fail);

	watch_stop(run->watch);
	run->watch = NULL;
	if (rc == 0)
		rc = source_failure(source, fail);
	if (rc == 0 && !source_finished(source))
		rc = fail_set(fail, STATUS_INTERNAL,
			      "internal error: the input was left unread; please report this");
	if (rc != 0)
		return -1;
	if (run->work.each && each_finish(run->work.each, run->report.work.records, &run->counts,
					  &run->report.saturated, fail) != 0)
		return -1;
	run->report.totals = *source_totals(source);
	run->report.samples = run->report.work.records * run->shape.samples;
	if (run->job->by_text)
		run->hist.channels = run->keys.n;
	hist_fill(&run->hist, &run->counts, &run->book, run->scratch);
	if (run->job->by_text &&
	    (hist_set_keys(&run->hist, &run->keys, run->names ? text_keys_names(run->names) : NULL,
			   fail) != 0 ||
	     list_check(run->job->format, &run->hist, fail) != 0))
		return -1;
	return audit(run, fail);
}

/* Raw and npy have a size that is known before the work, unless rows come from a stream. */
static int reserve(const struct run *run, struct fail *fail)
{
	const struct job *const job = run->job;
	const struct source *const source = run->work.source;
	const uint64_t heads = source_said(source)->begin * job->source.path_count,
		       length = source_length(source), bytes = length > heads ? length - heads : 0,
		       records = layout_records(bytes, run->shape.record, run->shape.packed);
	const uint64_t rows = job->each == 0              ? 1
			      : job->each == ROW_IS_INPUT ? job->source.path_count
							  : records / job->each;
	uint64_t size = (uint64_t)run->shape.channels * axis_bins(&run->shape.axis) *
			COUNTERS[job->style.counter].bytes;

	if (!run->rows || job->format->kind != FORMAT_BINARY)
		return 0;
	if (__builtin_mul_overflow(size, rows, &size))
		size = UINT64_MAX;
	return output_reserve(
		run->rows, size,
		job->each > 0 ? "use fewer bins or longer rows of --each" : "use fewer bins", fail);
}

/* --compare: the reference must have the bins of this run. */
static int check_reference(const struct job *job, const struct hist *hist, struct fail *fail)
{
	char why[AXIS_WHY];

	if (sum_fits(why, job->reference, hist))
		return 0;
	return fail_set(fail, STATUS_DATA, "this run cannot be compared with %s: %s", job->compare,
			why);
}

/* Set *lost if the run failed because a GPU failed and took its counts with it. */
static int run_once(const struct job *job, struct output *rows, struct hist *hist,
		    struct run_report *report, bool *lost, struct fail *fail)
{
	struct run run = {.job = job, .began = clock_seconds(), .rows = rows};

	*hist = (struct hist){0};
	snapshot_init(&run.snapshot);
	lock_init(&run.lock, LOCK_RUN);
	start_watch(&run);
	int rc = prepare(&run, fail);
	/* Report an unsuitable FILE before the work. */
	if (rc == 0 && job->into)
		rc = into_compare(job->into, &run.hist, fail);
	if (rc == 0 && job->reference)
		rc = check_reference(job, &run.hist, fail);
	if (rc == 0)
		rc = reserve(&run, fail);
	if (rc == 0)
		rc = count_all(&run, fail);
	watch_stop(run.watch);
	*lost = rc != 0 && run.work.gpu && gpu_resident_lost(run.work.gpu);
	gpu_close(run.work.gpu);
	each_close(run.work.each);
	free(run.row.begin);
	counts_free(&run.counts);
	keys_free(&run.keys);
	codebook_free(&run.book);
	free(run.scratch);
	source_close(run.work.source);
	text_keys_free(run.names);
	if (rc == 0)
		*hist = run.hist;
	else
		hist_free(&run.hist);
	run.report.screen = run.partial.screen;
	run.report.seconds = clock_seconds() - run.began;
	if (job->voice == VOICE_VERBOSE && run.report.gpu.state == GPU_NONE &&
	    !run.report.plan.no_gpu && !cuda_found())
		run.report.plan.no_gpu = "no NVIDIA driver found (libcuda.so.1)";
	*report = run.report;
	if (report->title[0])
		report->style.canvas.title = report->title;
	edges_free(&run.shape.axis.edges);
	lock_destroy(&run.lock);
	snapshot_destroy(&run.snapshot);
	free(run.workers);
	return rc;
}

int run_job(const struct job *job, struct output *rows, struct hist *hist,
	    struct run_report *report, struct fail *fail)
{
	const off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	struct job again = *job;
	bool lost = false;
	const int rc = run_once(job, rows, hist, report, &lost, fail);

	if (!lost || job->machine.device == DEVICE_GPU || !reads_files(job))
		return rc;
	msg_warning("the GPU failed (%s); counting starts again on the CPU", report->gpu.why);
	if (job_reads_stdin(job))
		(void)lseek(STDIN_FILENO, start, SEEK_SET);
	again.machine.device = DEVICE_CPU;
	*fail = (struct fail){.status = STATUS_OK};
	const int rc_again = run_once(&again, rows, hist, report, &lost, fail);
	report->plan.no_gpu = "it failed";
	return rc_again;
}

struct provenance run_provenance(const struct job *job, const struct source_totals *totals)
{
	const bool slices = job->source.parts > 0;

	return (struct provenance){
		.inputs = totals->inputs,
		.bytes = totals->bytes,
		.skipped = totals->skipped,
		.tail = totals->tail,
		.bad = totals->text.bad,
		.state = totals->slice.state,
		.part = slices ? job->source.part : 1,
		.parts = slices ? job->source.parts : 1,
		.options = job->options,
	};
}
