/* SPDX-License-Identifier: MIT */
/* partial: a snapshot, a histogram from it, a file. */
#include "run.h"

#include "output/output.h"

/* Called at the moment of a snapshot. */
static void look(void *arg)
{
	struct run *const run = arg;

	run->records = run_records(run, false);
	run->inputs = source_inputs(run->work.source);
}

/* Records only grow: as long as there are no more of them, the counts are the same too. */
static bool unchanged(const struct run *run)
{
	return run->written && run_records(run, false) == run->records &&
	       source_inputs(run->work.source) == run->inputs;
}

static int fill(struct run *run, struct hist *hist, struct fail *fail)
{
	struct counts copy = {.cell = NULL};
	int rc = -1;

	if (hist_reserve(hist, &run->job.axis, run->job.channels, fail) == 0 &&
	    counts_init(&copy, run->counts.cells, fail) == 0) {
		snapshot_take(&run->snapshot, &copy, &run->counts, look, run);
		hist_fill(hist, &copy);
		rc = hist_audit(hist, fail);
	}
	if (rc == 0 && hist->samples != run->records * job_record_samples(&run->job))
		rc = fail_set(fail, STATUS_INTERNAL,
			      "internal error: %llu samples of %llu records: please report this",
			      (unsigned long long)hist->samples, (unsigned long long)run->records);
	counts_free(&copy);
	return rc;
}

/*
 * The histogram of no samples, as the options alone say it: the inputs have not said yet what they
 * are. Where what was asked for needs their word, the bins are those of --auto, of one channel.
 */
static int make_blank(struct hist *hist, const struct job *asked, struct fail *fail)
{
	static const struct header nothing;
	const bool settled = asked->axis.type.bytes > 0;
	struct job job = *asked;
	struct counts none = {.cell = NULL};
	struct counting counting;
	struct fail unused = {.status = STATUS_OK};
	int rc = -1;

	if (!settled && job_settle(&job, &nothing, &unused) != 0) {
		job.source.typed = true;
		job.layout_options = (struct layout_options){.channels = 1};
		if (job_settle(&job, &nothing, &unused) != 0) {
			job.bins = (struct axis_spec){.edges.kind = AXIS_AUTO};
			if (job_settle(&job, &nothing, fail) != 0)
				return -1;
		}
	}
	counting_init_layout(&counting, &job.type, &job.axis.edges, &job.layout, true);
	if (hist_reserve(hist, &job.axis, job.channels, fail) == 0 &&
	    counts_init(&none, counting.cells, fail) == 0) {
		if (counting.most > 0)
			counts_set_auto(&none, &job.type, counting.most);
		hist_fill(hist, &none);
		rc = 0;
	}
	counts_free(&none);
	if (!settled)
		edges_free(&job.axis.edges);
	return rc;
}

int partial_write(struct run *run, struct fail *fail)
{
	const bool counts = __atomic_load_n(&run->counts_are_there, __ATOMIC_ACQUIRE);
	const struct job *const job = counts ? &run->job : run->asked;
	struct source_totals totals = {0};
	struct hist hist = {.channels = 0};
	struct output *out;

	if (counts ? unchanged(run) : run->blank)
		return 0;
	run->written = false;
	int rc = counts ? fill(run, &hist, fail) : make_blank(&hist, job, fail);
	if (rc == 0 && counts) {
		totals.inputs = run->inputs;
		totals.bytes = run->records * job->record;
		totals.state = source_state(run->work.source);
	}
	struct provenance from = run_provenance(job, &totals);
	from.partial = true;
	if (rc == 0 && (rc = output_open(&out, job->output, fail)) == 0) {
		job->format->write(out, &hist, &job->style, &from);
		rc = output_commit(out, fail);
	}
	run->written = rc == 0 && counts;
	run->blank |= rc == 0;
	hist_free(&hist);
	return rc;
}
