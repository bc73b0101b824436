/* SPDX-License-Identifier: MIT */
/* report_verbose: -v, the run in its figures. */
#include <stdio.h>
#include <string.h>

#include "cli/msg.h"
#include "cli/report.h"

typedef unsigned long long ull;

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* The header of the first input, and how many other inputs have one. */
static void report_header(const struct job *job, const struct run_report *run)
{
	const char *const path = job->source.paths[0];
	char text[HEADER_TEXT], others[64] = "";

	if (!run->header.format)
		return;
	header_text(text, &run->header);
	if (run->totals.headers > 1)
		snprintf(others, sizeof(others), "; %llu more inputs have headers",
			 (ull)run->totals.headers - 1);
	msg_note("%s: %s%s", strcmp(path, "-") == 0 ? "standard input" : path, text, others);
}

/* The GPU's share, or why it has none. */
static void report_gpu(const struct job *job, const struct run_report *run)
{
	char more[32] = "";

	if (run->gpu.devices > 1)
		snprintf(more, sizeof(more), " and %u more", run->gpu.devices - 1);
	if (run->gpu.slots > 0)
		msg_note(
			"gpu: %s%s, %u slots of %.3g MiB, ready after %.2f s, %s; counted %.1f%% "
			"of the samples, "
			"%.1f%% from "
			"mapped files",
			run->gpu.name, more, run->gpu.slots,
			(double)run->gpu.slot_bytes / (1 << 20), run->gpu.start_seconds,
			run->gpu.kernel, share(run->gpu_records, run->records),
			share(run->mapped_records, run->records));
	else if (run->gpu.state != GPU_NONE)
		msg_note("gpu: %s",
			 run->gpu.state == GPU_FAILED ? run->gpu.why : "not ready before the end");
	else if (job->device == DEVICE_CPU)
		msg_note("no gpu: --device=cpu");
	else if (!run->kernels)
		msg_note("no gpu: the program was built without kernels");
	else
		msg_note(
			"no gpu: its start would not have paid (--device=gpu uses it all the "
			"same)");
}

/* "3.4 GB/s", "20.5 kB/s" */
static void format_rate(char text[32], double rate)
{
	if (rate >= 1e9)
		snprintf(text, 32, "%.1f GB/s", rate * 1e-9);
	else if (rate >= 1e6)
		snprintf(text, 32, "%.1f MB/s", rate * 1e-6);
	else
		snprintf(text, 32, "%.1f kB/s", rate * 1e-3);
}

/* A pipe that was empty for most of the time. Reading a file would have saved only that time. */
static void of_writer(char text[BOTTLENECK_TEXT], const struct run_report *run)
{
	const double own = run->seconds - run->totals.waited;
	const double times = own > 0 ? run->seconds / own : 0;
	const uint64_t bytes = run->totals.packed > 0 ? run->totals.packed : run->totals.bytes;
	char rate[32];

	format_rate(rate, (double)bytes / run->seconds);
	const int used = snprintf(
		text, BOTTLENECK_TEXT,
		"bottleneck: the writer of the input: %s; gpuhist waited %.0f%% of the time.", rate,
		100 * run->totals.waited / run->seconds);

	if (times >= 1.5 && used > 0 && used < BOTTLENECK_TEXT)
		snprintf(text + used, BOTTLENECK_TEXT - (size_t)used,
			 " If it only copies a file, the file's name instead would be up to %.*f "
			 "times as fast.",
			 times < 10 ? 1 : 0, times);
}

/* What would let more workers count, if something kept them from it; else "". */
static void of_workers(char text[BOTTLENECK_TEXT], const struct job *job,
		       const struct run_report *run)
{
	text[0] = '\0';
	if (run->workers < run->planned)
		return; /* there was no work for more */
	if (run->planned < job->threads)
		snprintf(text, BOTTLENECK_TEXT,
			 " -M %s allowed %u of %u workers: a larger one allows more.",
			 job->memory_text, run->planned, job->threads);
	else if (job->threads < run->cores)
		snprintf(text, BOTTLENECK_TEXT,
			 " -T %u left %u of %u cores unused: -T 0 takes all.", job->threads,
			 run->cores - job->threads, run->cores);
	else if (run->shared)
		snprintf(text, BOTTLENECK_TEXT,
			 " All workers share one table, as there are too many bins for a table "
			 "each: with fewer (-b) "
			 "each "
			 "has its own.");
}

void report_bottleneck(char text[BOTTLENECK_TEXT], const struct job *job,
		       const struct run_report *run)
{
	const double busy = run->read_seconds + run->count_seconds;
	const bool reading = run->read_seconds > run->count_seconds;
	const double larger = reading ? run->read_seconds : run->count_seconds;
	const bool gpu = run->gpu_records > run->records / 2;
	/* A worker on a GPU's lane sleeps while the bus works. */
	const bool idle = !gpu && run->core_seconds < busy / 2;
	char more[BOTTLENECK_TEXT] = "";

	text[0] = '\0';
	if (!(busy > 0) || !(run->seconds > 0))
		return;
	if (run->totals.waited > run->seconds / 2) {
		of_writer(text, run);
		return;
	}
	const char *const what = !reading && gpu          ? "counting, by the bus and the GPU,"
				 : !reading               ? "counting"
				 : run->totals.packed > 0 ? "reading, decompression included,"
				 : run->totals.streamed   ? "reading a pipe, one worker at a time,"
							  : "reading";
	if (idle)
		snprintf(more, sizeof(more),
			 " They had a core for %.0f%% of it: %sother programs on the cores held "
			 "them up.",
			 100 * run->core_seconds / busy,
			 !reading               ? ""
			 : run->totals.streamed ? "turns at the pipe, or "
						: "the storage, or ");
	else if (reading && run->totals.streamed && run->totals.packed == 0 && run->planned > 1)
		snprintf(more, sizeof(more),
			 " A file, by its name, is read by up to %u workers at once.",
			 run->planned);
	else if (!gpu)
		of_workers(more, job, run);
	snprintf(text, BOTTLENECK_TEXT, "bottleneck: %s took %.0f%% of the workers' time.%s", what,
		 100 * larger / busy, more);
}

static void report_part(const struct job *job, const struct run_report *run)
{
	const unsigned long part = job->source.part, parts = job->source.parts;
	const ull before = run->totals.first, all = run->totals.all;
	char which[48] = "";

	/* Under --part=auto every message names the part. */
	if (!job->part_variable || parts == 1)
		snprintf(which, sizeof(which), "part %lu of %lu: ", part, parts);
	if (parts > 0 && run->records > 0)
		msg_note("%srecords %llu to %llu of %llu", which, before + 1,
			 before + (ull)run->records, all);
	else if (parts > 0)
		msg_note("%snone of %llu records", which, all);
}

void report_verbose(const struct job *job, const struct run_report *run)
{
	const uint64_t inputs = job->source.parts > 0 ? run->totals.read : run->totals.inputs;
	char records[64] = "", bottleneck[BOTTLENECK_TEXT];

	if (!job->verbose)
		return;
	if (run->record != run->type.bytes)
		snprintf(records, sizeof(records), " in %llu record%s of %lu bytes",
			 (ull)run->records, run->records == 1 ? "" : "s",
			 (unsigned long)run->record);
	report_header(job, run);
	report_part(job, run);
	msg_note("%llu bytes from %llu input%s, %llu samples of %s%s, %.3f s: %.2f GB/s",
		 (ull)run->totals.bytes, (ull)inputs, inputs == 1 ? "" : "s", (ull)run->samples,
		 run->type.name, records, run->seconds,
		 (double)run->totals.bytes / run->seconds * 1e-9);
	if (run->totals.packed > 0)
		msg_note("zstd: decoded from %llu bytes", (ull)run->totals.packed);
	msg_note(
		"cpu: %u of %u workers had work, with %s loops (%s); %.1f MiB for buffers and "
		"counts",
		run->workers, job->threads, run->isa, run->method, (double)run->memory / (1 << 20));
	report_gpu(job, run);
	report_bottleneck(bottleneck, job, run);
	if (bottleneck[0] != '\0')
		msg_note("%s", bottleneck);
}
