/* SPDX-License-Identifier: MIT */
/* partial: a snapshot, a histogram from it, a file. */
#include "partial.h"

#include "hist/hist.h"
#include "output/output.h"

/*
 * Taken at the moment of a snapshot: what the workers' reports say, and how many inputs were begun.
 */
struct moment {
	const struct partial *p;
	uint64_t records, inputs;
};

static void look(void *arg)
{
	struct moment *const m = arg;
	uint64_t gpu;

	m->records = crew_records(m->p->crew, &gpu);
	m->inputs = source_inputs(m->p->source);
}

static int fill(const struct partial *p, struct hist *hist, struct moment *moment,
		struct fail *fail)
{
	const struct layout *const layout = &p->job->layout;
	struct counts copy = {.cell = NULL};
	int rc = -1;

	if (hist_reserve(hist, p->axis, layout->channels, fail) == 0 &&
	    counts_init(&copy, p->counts->cells, fail) == 0) {
		snapshot_take(p->snapshot, &copy, p->counts, look, moment);
		hist_fill(hist, &copy);
		rc = hist_audit(hist, fail);
	}
	if (rc == 0 && hist->samples != moment->records * layout_samples(layout))
		rc = fail_set(fail, STATUS_INTERNAL,
			      "internal error: %llu samples of %llu records: please report this",
			      (unsigned long long)hist->samples,
			      (unsigned long long)moment->records);
	counts_free(&copy);
	return rc;
}

int partial_write(const struct partial *p, struct fail *fail)
{
	const struct job *const job = p->job;
	struct moment moment = {.p = p};
	struct hist hist = {.channels = 0};
	struct output *out;
	int rc = fill(p, &hist, &moment, fail);

	if (rc == 0 && (rc = output_open(&out, job->output, fail)) == 0) {
		const struct provenance from = {
			.inputs = moment.inputs,
			.bytes = moment.records * job->source.record,
			.partial = true,
			.part = job->source.parts > 0 ? job->source.part : 1,
			.parts = job->source.parts > 0 ? job->source.parts : 1,
			.state = source_state(p->source),
			.options = job->options,
		};
		job->format->write(out, &hist, &job->style, &from);
		rc = output_commit(out, fail);
	}
	hist_free(&hist);
	return rc;
}
