/* SPDX-License-Identifier: MIT */
/* partial: takes a snapshot, makes a histogram from it, and writes that. */
#include "partial.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/msg.h"
#include "each/list.h"
#include "output/output.h"
#include "run.h"

/* Called while the snapshot is taken. */
static void look(void *arg)
{
	struct partial *const p = arg;

	p->inputs = source_inputs(p->source);
}

/* The number of records only grows; as long as it is the same, so are the counts. */
static bool unchanged(const struct partial *p)
{
	return p->written && p->counted(p->arg) == p->records &&
	       source_inputs(p->source) == p->inputs;
}

static int fill(struct partial *p, struct hist *hist, struct fail *fail)
{
	const struct shape *const shape = p->shape;
	struct counts copy = {.cell = NULL};
	struct hist_scratch *const scratch = hist_scratch_new(&shape->axis.type, shape->channels);
	int rc = -1;

	if (!scratch)
		(void)fail_errno(fail, "counts so far");
	else if (hist_reserve(hist, &shape->axis, shape->channels, fail) == 0 &&
		 counts_init(&copy, p->counts->cells, fail) == 0) {
		snapshot_take(p->snapshot, &copy, p->counts, look, p);
		hist_fill(hist, &copy, p->book, scratch);
		p->records = hist->samples / shape->samples;
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
static int draw(struct partial *p, const struct hist *hist, const struct provenance *from,
		struct fail *fail)
{
	struct style style = *p->style;
	struct output *out;
	size_t bytes;

	if (tcgetpgrp(STDOUT_FILENO) != getpgrp())
		return SKIPPED;
	if (output_open_memory(&out, fail) != 0)
		return -1;
	screen_begin(&p->screen, &style.canvas);
	write_plot(out, hist, &style, from);
	const int rc = output_flush(out, fail);
	const char *const text = output_taken(out, &bytes);
	if (rc == 0)
		screen_draw(&p->screen, text, bytes);
	output_abort(out);
	return rc;
}

static int replace(struct partial *p, struct fail *fail)
{
	const struct job *const job = p->job;
	struct source_totals totals = {0};
	struct hist hist = {.channels = 0};
	struct output *out;
	int rc = fill(p, &hist, fail);

	if (rc == 0) {
		totals.inputs = p->inputs;
		totals.bytes = layout_records_bytes(p->records, p->shape->record, p->shape->packed);
		totals.slice.state = source_state(p->source);
	}
	struct provenance from = run_provenance(job, &totals);
	from.partial = true;
	if (rc == 0 && job_draws_in_place(job)) {
		rc = draw(p, &hist, &from, fail);
	} else if (rc == 0 && (rc = output_open(&out, job->output, fail)) == 0) {
		list_format(job->format, &hist)->write(out, &hist, p->style, &from);
		rc = output_commit(out, fail);
	}
	hist_free(&hist);
	return rc;
}

void partial_write(struct partial *p)
{
	struct fail fail = {.status = STATUS_OK};

	if (unchanged(p) && !screen_changed(&p->screen))
		return;
	const int rc = replace(p, &fail);
	if (rc != 0 && rc != SKIPPED && !p->failed)
		msg_warning("--every could not write the counts so far (%s); counting goes on",
			    fail.text);
	p->failed = rc != 0 && rc != SKIPPED;
	p->written = rc == 0;
}
