/* SPDX-License-Identifier: MIT */
/*
 * run_watch: called by the watching thread: progress, and the counts so far (--every), which it
 * takes as a snapshot, turns into a histogram, and writes. Partial counts are audited like final
 * ones.
 */
#include "run/run_state.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/msg.h"
#include "output/format.h"

/* ---- progress ---- */

static void run_look(void *arg, struct progress_now *now)
{
	struct run *const run = arg;

	if (!__atomic_load_n(&run->prepared, __ATOMIC_ACQUIRE))
		return;
	now->length = source_length(run->work.source);
	now->bytes = source_progress(run->work.source);
	now->gpu_records = run_records(run, true);
	now->records = run_records(run, false);
}

/* ---- partial output ---- */

/* Called while the snapshot is taken. */
static void note_inputs(void *arg)
{
	struct run *const run = arg;

	run->partial.inputs = source_inputs(run->work.source);
}

/* The number of records only grows; as long as it is the same, so are the counts. */
static bool unchanged(const struct run *run)
{
	const struct partial *const p = &run->partial;

	return p->written && run_records(run, false) == p->records &&
	       source_inputs(run->work.source) == p->inputs;
}

static int partial_fill(struct run *run, struct hist *hist, struct fail *fail)
{
	const struct shape *const shape = &run->shape;
	struct counts copy = {.cell = NULL};
	struct hist_scratch *const scratch = hist_scratch_new(&shape->axis.type, shape->channels);
	int rc = -1;

	if (!scratch)
		(void)fail_errno(fail, "counts so far");
	else if (hist_reserve(hist, &shape->axis, shape->channels, fail) == 0 &&
		 run_name_series(run, hist, fail) == 0 &&
		 counts_init(&copy, run->counts.cells, NULL, fail) == 0) {
		snapshot_take(&run->snapshot, &copy, &run->counts, note_inputs, run);
		hist_fill(hist, &copy, &run->book, scratch);
		run->partial.records = hist->samples / shape->samples;
		rc = hist_audit(hist, fail);
	}
	if (rc == 0 && hist->samples % shape->samples != 0)
		rc = fail_set(fail, STATUS_INTERNAL,
			      "internal error: %llu samples in records of %llu; please report this",
			      (unsigned long long)hist->samples,
			      (unsigned long long)shape->samples);
	counts_free(&copy);
	free(scratch);
	return rc;
}

#define SKIPPED 2 /* another program has the terminal */

/* Draw the counts so far over the previous picture. */
static int partial_draw(struct run *run, const struct hist *hist, const struct provenance *from,
			struct fail *fail)
{
	struct style style = run->report.style;
	struct output *out;
	size_t bytes;

	if (tcgetpgrp(STDOUT_FILENO) != getpgrp())
		return SKIPPED;
	if (output_open_memory(&out, fail) != 0)
		return -1;
	screen_begin(&run->partial.screen, &style.canvas);
	write_plot(out, hist, &style, from);
	const int rc = output_flush(out, fail);
	const char *const text = output_taken(out, &bytes);
	if (rc == 0)
		screen_draw(&run->partial.screen, text, bytes);
	output_abort(out);
	return rc;
}

static int partial_replace(struct run *run, struct fail *fail)
{
	const struct job *const job = run->job;
	const struct shape *const shape = &run->shape;
	struct source_totals totals = {0};
	struct hist hist = {.channels = 0};
	struct output *out;
	int rc = partial_fill(run, &hist, fail);

	if (rc == 0) {
		totals.inputs = run->partial.inputs;
		totals.bytes =
			layout_records_bytes(run->partial.records, shape->record, shape->packed);
		totals.slice.state = source_slice_state(run->work.source);
	}
	struct provenance from = run_provenance(job, &totals);
	from.partial = true;
	if (rc == 0 && job_draws_in_place(job)) {
		rc = partial_draw(run, &hist, &from, fail);
	} else if (rc == 0 && (rc = output_open(&out, job->output, fail)) == 0) {
		format_write(out, job->format, &hist, &run->report.style, &from);
		rc = output_commit(out, fail);
	}
	hist_free(&hist);
	return rc;
}

static void partial_save(void *arg)
{
	struct run *const run = arg;
	struct partial *const p = &run->partial;
	struct fail fail = {.status = STATUS_OK};

	if (!__atomic_load_n(&run->prepared, __ATOMIC_ACQUIRE) ||
	    (unchanged(run) && !screen_changed(&p->screen)))
		return;
	const int rc = partial_replace(run, &fail);
	if (rc != 0 && rc != SKIPPED && !p->failed)
		msg_warning("--every could not write the counts so far (%s); counting goes on",
			    fail.text);
	p->failed = rc != 0 && rc != SKIPPED;
	p->written = rc == 0;
}

static bool resized(void *arg)
{
	const struct run *const run = arg;

	return __atomic_load_n(&run->prepared, __ATOMIC_ACQUIRE) &&
	       screen_changed(&run->partial.screen);
}

/* ---- the thread ---- */

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

void run_start_watch(struct run *run)
{
	const struct job *job = run->job;

	run->watch = watch_start(&(struct watch_spec){
		.line = line_of(job),
		.in_place = msg_terminal() && !shares_terminal(job),
		.every = job->every,
		.look = run_look,
		.save = partial_save,
		.early = job_draws_in_place(job) ? resized : NULL,
		.arg = run,
	});
	if (!run->watch && job->every > 0)
		msg_warning(
			"--every could not start a thread; only the final output will be written");
}
