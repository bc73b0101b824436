/* SPDX-License-Identifier: MIT */
/* partial: a snapshot, a histogram from it, a file. */
#include "partial.h"

#include "hist/hist.h"
#include "output/output.h"

/* Called at the moment of a snapshot. */
static void look(void *arg)
{
	struct partial *const p = arg;
	uint64_t gpu;

	p->records = crew_records(p->crew, &gpu);
	p->inputs = source_inputs(p->source);
}

/* Records only grow: where there are as many as then, the counts are those of then. */
static bool unchanged(const struct partial *p)
{
	struct partial now = *p;

	look(&now);
	return p->written && now.records == p->records && now.inputs == p->inputs;
}

static int fill(struct partial *p, struct hist *hist, struct fail *fail)
{
	const struct layout *const layout = &p->job->layout;
	struct counts copy = {.cell = NULL};
	int rc = -1;

	if (hist_reserve(hist, p->axis, layout->channels, fail) == 0 &&
	    counts_init(&copy, p->counts->cells, fail) == 0) {
		snapshot_take(p->snapshot, &copy, p->counts, look, p);
		hist_fill(hist, &copy);
		rc = hist_audit(hist, fail);
	}
	if (rc == 0 && hist->samples != p->records * layout_samples(layout))
		rc = fail_set(fail, STATUS_INTERNAL,
			      "internal error: %llu samples of %llu records: please report this",
			      (unsigned long long)hist->samples, (unsigned long long)p->records);
	counts_free(&copy);
	return rc;
}

int partial_write(struct partial *p, struct fail *fail)
{
	const struct job *const job = p->job;
	struct hist hist = {.channels = 0};
	struct output *out;

	if (unchanged(p))
		return 0;
	p->written = false;
	int rc = fill(p, &hist, fail);
	if (rc == 0 && (rc = output_open(&out, job->output, fail)) == 0) {
		const struct provenance from = {
			.inputs = p->inputs,
			.bytes = p->records * job->source.record,
			.partial = true,
			.part = job->source.parts > 0 ? job->source.part : 1,
			.parts = job->source.parts > 0 ? job->source.parts : 1,
			.state = source_state(p->source),
			.options = job->options,
		};
		job->format->write(out, &hist, &job->style, &from);
		rc = output_commit(out, fail);
	}
	p->written = rc == 0;
	hist_free(&hist);
	return rc;
}
