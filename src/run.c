/* SPDX-License-Identifier: MIT */
/*
 * run: the first input, the plan, the source, the crew, the audit.
 *
 * run_open reads what the first input says of itself, because all that is planned depends on the
 * type; then it plans and takes memory. run_until_end has the crew read and count, and audits the
 * result; run_close hands out the histogram. plan.c decides who may take how much, crew.c who
 * starts whom.
 */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cores.h"
#include "cli/msg.h"
#include "crew.h"
#include "driver/gpu_image.h"
#include "output/output.h"
#include "partial.h"
#include "plan.h"
#include "snapshot.h"
#include "watch.h"

struct run {
	const struct job *asked; /* borrowed; const, so that the watching thread may look at it */
	/*
	 * what was asked for, completed with the type, layout and record that the first input gave
	 */
	struct job job;
	struct header said; /* what the first input says */
	double began;
	struct axis axis; /* of the bins that were asked for */
	struct plan_facts facts;
	struct plan plan; /* const once it is made */
	struct source *source;
	struct counts counts;
	struct crew *crew;
	struct hist hist; /* reserved first, then filled */
	bool done;        /* filled and audited */
	struct run_report report;
	struct watch *watch;
	int stage;                /* what the watching thread may look at; atomic: it only rises */
	struct snapshot snapshot; /* with --every */
	/* used by the watching thread once counting has begun: bytes of all inputs, if known ... */
	uint64_t length;
	bool measured; /* ... once they were looked at */
	/* used by the watching thread alone: */
	struct partial partial;
	bool unsaved; /* the last partial output failed */
	bool blank;   /* one without counts was written */
};

enum { RUN_STARTED, RUN_COUNTS };

/* A callback of the source: there is work for one more worker. */
static void more(void *arg)
{
	const struct run *run = arg;

	crew_more(run->crew);
}

/* A callback of the source: the -M with which decoders may take that much. */
static uint64_t memory_for(void *arg, uint64_t need)
{
	const struct run *run = arg;

	return plan_memory_for(&run->job, &run->facts, need);
}

/* The audit: samples and bytes must agree, and so must what was read and what was counted. */
static int audit(const struct run *run, struct fail *fail)
{
	const struct source_totals *t = &run->report.totals;
	const uint64_t records = run->report.records;

	if (t->bytes != t->skipped + t->tail + records * run->job.source.record ||
	    run->hist.samples != run->report.samples)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: %llu bytes were read, %llu samples of %llu "
				"records counted: "
				"please report this",
				(unsigned long long)t->bytes, (unsigned long long)run->hist.samples,
				(unsigned long long)records);
	return hist_audit(&run->hist, fail);
}

static int make_plan(struct run *run, struct fail *fail)
{
	static const char *const METHODS[] = {[COUNT_BYTES] = "bytes",
					      [COUNT_CODES] = "codes",
					      [COUNT_PRIVATE] = "private tables",
					      [COUNT_SHARED] = "one shared table"};
	const struct job *job = &run->job;
	struct plan *plan = &run->plan;
	/* Looked up only where it may matter. */
	const bool cores = job->threads > 2 && !job->source.raw;

	if (job_axis(&run->axis, job, fail) != 0)
		return -1;
	run->facts = (struct plan_facts){
		.axis = &run->axis,
		.kernels = kernel_image != NULL,
		.cores = cores ? cores_usable() : 0,
		.compressed = source_compressed(&job->source),
		.plain = job->source.raw,
	};
	*plan = plan_make(job, &run->facts);
	/* The files are looked at only where it makes a difference. */
	if ((plan->halved || plan->workers == 0) && (run->facts.plain = source_plain(&job->source)))
		*plan = plan_make(job, &run->facts);
	if (plan->workers == 0)
		return fail_set(fail, STATUS_LIMIT,
				"--memory %s: must be %zuK or more: one worker needs %zu bytes",
				job->memory_text, (plan->tables + 1023) / 1024, plan->tables);
	run->report.isa = cells_isa();
	run->report.method = METHODS[plan->counting.method];
	run->report.kernels = run->facts.kernels;
	run->report.memory = plan->tables + plan->counting.cells * sizeof(uint64_t);
	return 0;
}

/* What the first input says becomes the job's, unless -t or -c was given. */
static int resolve(struct run *run, struct fail *fail)
{
	struct job *job = &run->job;
	const struct header *said = &run->said;

	if (job_layout(job, said, fail) != 0)
		return -1;
	run->report.header = *said;
	run->report.type = job->type;
	run->report.record = job->source.record;
	return 0;
}

/* Opens the inputs, and learns of what type they are. */
static int open_source(struct run *run, struct fail *fail)
{
	struct source_spec spec = run->job.source;

	spec.memory = run->job.memory;
	if (source_open(&run->source, &spec, fail) != 0 ||
	    source_describe(run->source, &run->said, fail) != 0)
		return -1;
	return resolve(run, fail);
}

static int settle_source(struct run *run, struct fail *fail)
{
	struct source_spec *spec = &run->job.source;

	spec->threads = run->plan.workers;
	spec->decoders = run->plan.decoding;
	spec->memory = run->plan.decoders;
	spec->memory_spare = run->plan.spare;
	spec->memory_for = memory_for;
	spec->more = more;
	spec->arg = run;
	return source_settle(run->source, spec, fail);
}

static int keep_stats(struct run *run, struct fail *fail)
{
	const struct job *job = &run->job;

	if (!job->stats)
		return 0;
	return hist_keep_stats(&run->hist, fail) != 0
		       ? -1
		       : counts_keep_stats(&run->counts, &job->type, job->layout.channels, fail);
}

/* ---- while it goes on, by the thread that watches ---- */

static bool has_reached(struct run *run, int stage)
{
	return __atomic_load_n(&run->stage, __ATOMIC_ACQUIRE) >= stage;
}

/* Bytes of all inputs, or those of the slice that this process counts; 0: not known. */
static uint64_t length_of(const struct run *run)
{
	return run->job.source.parts > 0 ? source_known_bytes(run->source)
					 : source_length(&run->job.source);
}

static void look(void *arg, struct progress_now *now)
{
	struct run *run = arg;

	if (!has_reached(run, RUN_COUNTS))
		return;
	/* The offset of standard input has changed since the run began. */
	if (!run->measured && !job_reads_stdin(&run->job))
		run->length = length_of(run);
	run->measured = true;
	now->length = run->length;
	now->bytes = source_counted(run->source);
	now->records = crew_records(run->crew, &now->gpu_records);
}

/*
 * The histogram of no samples, as the options alone say it: the inputs have not said yet what they
 * are. Where what was asked for needs their word, the bins are those of --auto, of one channel.
 */
static int make_blank(struct hist *hist, const struct job *asked, struct fail *fail)
{
	struct job job = *asked;
	struct axis axis;
	struct counts none = {.cell = NULL};
	struct fail unused;
	int rc = -1;

	if (job_layout(&job, NULL, &unused) != 0) {
		job.layout_options = (struct layout_options){.channels = 1};
		(void)job_layout(&job, NULL, &unused);
	}
	if (job_axis(&axis, &job, &unused) != 0) {
		job.axis = (struct axis_spec){.edges.kind = AXIS_AUTO};
		if (job_axis(&axis, &job, fail) != 0)
			return -1;
	}
	const struct plan_facts facts = {.axis = &axis};
	const struct plan plan = plan_make(&job, &facts);
	if (hist_reserve(hist, &axis, job.layout.channels, fail) == 0 &&
	    counts_init(&none, plan.counting.cells, fail) == 0) {
		if (plan.counting.most > 0)
			counts_set_auto(&none, &job.type, plan.counting.most);
		hist_fill(hist, &none);
		rc = 0;
	}
	counts_free(&none);
	edges_free(&axis.edges);
	return rc;
}

/* Before there are counts: what an earlier run left must not look like this one's. */
static int save_blank(const struct run *run, struct fail *fail)
{
	const struct job *const job = run->asked;
	const struct provenance from = {
		.partial = true,
		.part = job->source.parts > 0 ? job->source.part : 1,
		.parts = job->source.parts > 0 ? job->source.parts : 1,
		.options = job->options,
	};
	struct hist hist = {.channels = 0};
	struct output *out;
	int rc = make_blank(&hist, job, fail);

	if (rc == 0 && (rc = output_open(&out, job->output, fail)) == 0) {
		job->format->write(out, &hist, &job->style, &from);
		rc = output_commit(out, fail);
	}
	hist_free(&hist);
	return rc;
}

/* A failure has no other consequence. It is reported unless the one before failed too. */
static void save(void *arg)
{
	struct run *run = arg;
	struct fail fail = {.status = STATUS_OK};

	const bool counts = has_reached(run, RUN_COUNTS);
	if (!counts && run->blank)
		return;
	if (counts && !run->partial.job)
		run->partial = (struct partial){
			.job = &run->job,
			.axis = &run->axis,
			.source = run->source,
			.crew = run->crew,
			.counts = &run->counts,
			.snapshot = &run->snapshot,
		};
	const bool failed =
		(counts ? partial_write(&run->partial, &fail) : save_blank(run, &fail)) != 0;
	run->blank |= !failed;
	if (failed && !run->unsaved)
		msg_warning("--every: %s (the work goes on)", fail.text);
	run->unsaved = failed;
}

/* Where the user types the samples, no line is drawn among them unless it was asked for. */
static enum progress line_of(const struct job *job)
{
	if (job->progress != PROGRESS_TERMINAL)
		return job->progress;
	const bool typed = job_reads_stdin(job) && isatty(STDIN_FILENO);
	return job->quiet || typed || !msg_terminal() ? PROGRESS_NEVER : PROGRESS_TERMINAL;
}

static void start_watch(struct run *run)
{
	const struct job *job = &run->job;

	run->watch = watch_start(&(struct watch_spec){
		.line = line_of(job),
		.every = job->every,
		.look = look,
		.save = save,
		.arg = run,
	});
	if (!run->watch && job->every > 0)
		msg_warning(
			"--every: no thread could be started: only the last output will be "
			"written");
}

/* ---- from the first record to the last ---- */

static int prepare(struct run *run, struct fail *fail)
{
	const struct job *job = &run->job;
	struct snapshot *const snapshot = job->every > 0 ? &run->snapshot : NULL;

	if (open_source(run, fail) != 0 || make_plan(run, fail) != 0 ||
	    settle_source(run, fail) != 0 ||
	    hist_reserve(&run->hist, &run->axis, job->layout.channels, fail) != 0 ||
	    counts_init(&run->counts, run->plan.counting.cells, fail) != 0 ||
	    keep_stats(run, fail) != 0)
		return -1;
	const struct crew_work work = {&run->job, &run->plan, run->source, &run->counts, snapshot};
	if (crew_open(&run->crew, &work, fail) != 0)
		return -1;
	if (run->plan.counting.most > 0)
		counts_set_auto(&run->counts, &job->type, run->plan.counting.most);
	/*
	 * Look at sizes before anything is read, if a line will show them; otherwise only when
	 * SIGUSR1 asks.
	 */
	run->measured = line_of(job) != PROGRESS_NEVER;
	if (run->measured)
		run->length = length_of(run);
	__atomic_store_n(&run->stage, RUN_COUNTS, __ATOMIC_RELEASE);
	return 0;
}

int run_open(struct run **out, const struct job *job, struct fail *fail)
{
	struct run *run = calloc(1, sizeof(*run));

	*out = NULL;
	if (!run)
		return fail_errno(fail, "a run");
	if (snapshot_init(&run->snapshot, fail) != 0) {
		free(run);
		return -1;
	}
	run->asked = job;
	run->job = *job;
	run->job.source.prompt =
		job->every > 0; /* what came slowly is in the next partial output */
	run->began = clock_seconds();
	start_watch(run);
	if (prepare(run, fail) != 0) {
		run_close(run, NULL, NULL);
		return -1;
	}
	*out = run;
	return 0;
}

const struct hist *run_hist(const struct run *run)
{
	return &run->hist;
}

int run_until_end(struct run *run, struct fail *fail)
{
	int rc = crew_run(run->crew, &run->report, fail);

	watch_stop(run->watch);
	run->watch = NULL;
	if (rc == 0 && !source_finished(run->source))
		rc = fail_set(fail, STATUS_INTERNAL,
			      "internal error: the input was left unread: please report this");
	run->report.totals = *source_totals(run->source);
	if (rc != 0)
		return -1;
	/* No overflow: a sample is at least a byte, and the bytes were counted. */
	run->report.samples = run->report.records * layout_samples(&run->job.layout);
	hist_fill(&run->hist, &run->counts);
	run->done = audit(run, fail) == 0;
	return run->done ? 0 : -1;
}

void run_close(struct run *run, struct hist *hist, struct run_report *report)
{
	if (hist)
		*hist = (struct hist){0};
	if (report)
		*report = (struct run_report){0};
	if (!run)
		return;
	watch_stop(run->watch);
	crew_close(run->crew);
	counts_free(&run->counts);
	source_close(run->source);
	if (hist && run->done)
		*hist = run->hist;
	else
		hist_free(&run->hist);
	run->report.seconds = clock_seconds() - run->began;
	if (report)
		*report = run->report;
	edges_free(&run->axis.edges);
	snapshot_destroy(&run->snapshot);
	free(run);
}

int run_job(const struct job *job, struct hist *hist, struct run_report *report, struct fail *fail)
{
	struct run *run;
	int rc = run_open(&run, job, fail);

	if (rc == 0)
		rc = run_until_end(run, fail);
	run_close(run, hist, report);
	return rc;
}
