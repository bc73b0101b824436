/* report: what a user should know about a finished run, as messages. */
#include "report.h"

#include <stdio.h>

#include "msg.h"

typedef unsigned long long ull;

void report_warnings(const struct job *job, const struct hist *hist,
		     const struct run_report *run)
{
	const uint64_t outside = hist->under + hist->over + hist->nan;
	const bool doubtful = outside > hist->samples / 2;

	if (run->gpu.failed && run->gpu.ready)
		msg_warning("the GPU failed (%s): the CPU counted the rest", run->gpu.why);
	if (run->totals.tails > 0)
		msg_warning("%llu input%s inside a record: %llu bytes were not counted",
			    (ull)run->totals.tails, run->totals.tails == 1 ? " ends" : "s end",
			    (ull)run->totals.tail);
	if (outside > 0)
		msg_warning("%llu of %llu samples are in no bin: %llu under, %llu over, %llu nan%s%s%s",
			    (ull)outside, (ull)hist->samples, (ull)hist->under, (ull)hist->over,
			    (ull)hist->nan,
			    doubtful ? "; more than half: is it really --type=" : "",
			    doubtful ? job->type.name : "", doubtful ? "?" : "");
	if (job->counter >= COUNTER_SAT8) {
		const uint64_t saturated = hist_exceeding(hist, job->counter);
		if (saturated > 0)
			msg_warning("%llu bin%s saturated at %llu", (ull)saturated,
				    saturated == 1 ? "" : "s", (ull)counter_max(job->counter));
	}
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

void report_verbose(const struct job *job, const struct run_report *run)
{
	const double busy = run->read_seconds + run->count_seconds;

	if (!job->verbose)
		return;
	msg_note("%llu bytes from %llu input%s, %llu samples of %s, %.3f s: %.2f GB/s",
		 (ull)run->totals.bytes, (ull)run->totals.inputs,
		 run->totals.inputs == 1 ? "" : "s", (ull)run->records, job->type.name,
		 run->seconds, (double)run->totals.bytes / run->seconds * 1e-9);
	if (run->totals.packed > 0)
		msg_note("zstd: decoded from %llu bytes", (ull)run->totals.packed);
	msg_note("cpu: %u of %u workers, %s loops, counted in %s; %.1f MiB for buffers and counts",
		 run->workers, job->threads, run->isa, run->method,
		 (double)run->memory / (1 << 20));
	char more[32] = "";
	if (run->gpu.devices > 1)
		snprintf(more, sizeof(more), " and %u more", run->gpu.devices - 1);
	if (run->gpu.ready)
		msg_note("gpu: %s%s, %u lanes, ready after %.2f s, %s; counted %.1f%% of the samples, %.1f%% from mapped files",
			 run->gpu.name, more, run->gpu.lanes, run->gpu.start_seconds, run->gpu.kernel,
			 share(run->gpu_records, run->records), share(run->mapped_records, run->records));
	else if (run->gpu.started)
		msg_note("gpu: %s", run->gpu.failed ? run->gpu.why : "not ready before the end");
	if (busy > 0)
		msg_note("bottleneck: %s took %.0f%% of the workers' time",
			 run->read_seconds > run->count_seconds ? "reading" : "counting",
			 100 * (run->read_seconds > run->count_seconds ? run->read_seconds
								       : run->count_seconds) / busy);
}
