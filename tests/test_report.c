/* SPDX-License-Identifier: MIT */
/* report: the sentences about a run, from its figures: each tells what these show, and no more. */
#include "cli/report.h"

#include <fcntl.h>
#include <string.h>

#include "check.h"
#include "scratch.h"

/* Two workers of two, for 10 s: 2 s of reading, 18 s of counting. */
static const struct run_report BASE = {
	.totals = {.bytes = 8000000000, .inputs = 1},
	.seconds = 10,
	.work = {.records = 1000,
		 .workers = 2,
		 .read_seconds = 2,
		 .count_seconds = 18,
		 .core_seconds = 20},
	.type = {.name = "u32", .bits = 32},
	.record = 4,
	.plan = {.isa = "some", .method = "some"},
};

/* Return the text that report_verbose writes to standard error. */
static const char *verbose(const struct job *job, const struct run_report *run)
{
	static char text[4096];
	const int own = dup(STDERR_FILENO), file = open("stderr", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (own < 0 || file < 0 || dup2(file, STDERR_FILENO) < 0)
		exit(1);
	report_verbose(job, run);
	fflush(stderr);
	dup2(own, STDERR_FILENO);
	const ssize_t got = pread(file, text, sizeof(text) - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	close(own);
	close(file);
	return text;
}

#define BOTTLENECK "bottleneck: "
#define GPU "gpuhist: GPU"

/* Among the lines with this mark there must be one, and be this one; "": none. */
static void says(const struct job *job, const struct run_report *run, const char *mark,
		 const char *wanted)
{
	const char *const text = verbose(job, run), *const found = strstr(text, mark);
	char line[256];

	snprintf(line, sizeof(line), "gpuhist: %s\n", wanted);
	CHECK(*wanted ? found && !strstr(found + 1, mark) && strstr(text, line) : !found,
	      "\n%swhere this was wanted:\n%s", text, line);
}

static void bottlenecks(const struct job *job)
{
	struct run_report run = BASE;

	says(job, &run, BOTTLENECK, "bottleneck: counting took 90% of the workers' time");
	run.work.core_seconds = 8;
	says(job, &run, BOTTLENECK,
	     "bottleneck: counting took 90% of the workers' time; they had a core for 40% of it");
	/* A worker on a GPU's lane sleeps while the bus works. */
	run.work.gpu_records = 999;
	says(job, &run, BOTTLENECK,
	     "bottleneck: transfers and counting on the GPU took 90% of the workers' time");

	run = BASE;
	run.work.read_seconds = 15;
	run.work.count_seconds = 5;
	says(job, &run, BOTTLENECK, "bottleneck: reading took 75% of the workers' time");
	run.totals.zstd.packed = 1000;
	says(job, &run, BOTTLENECK,
	     "bottleneck: reading and decompressing took 75% of the workers' time");
	run.totals.zstd.packed = 0;
	run.totals.streamed = true;
	run.totals.waited = 4.9;
	says(job, &run, BOTTLENECK,
	     "bottleneck: reading a pipe, one worker at a time, took 75% of the workers' time");

	run.totals.waited = 9.1;
	says(job, &run, BOTTLENECK,
	     "bottleneck: the writer of the input, at 800 MB/s; gpuhist waited for it 91% of the "
	     "time");
	run.totals.zstd.packed = 34000000000;
	says(job, &run, BOTTLENECK,
	     "bottleneck: the writer of the input, at 3.40 GB/s; gpuhist waited for it 91% of the "
	     "time");
	run.totals.zstd.packed = 4000;
	says(job, &run, BOTTLENECK,
	     "bottleneck: the writer of the input, at 400 B/s; gpuhist waited for it 91% of the "
	     "time");

	run.work.read_seconds = run.work.count_seconds = 0;
	says(job, &run, BOTTLENECK, "");
}

static void gpu(struct job *job)
{
	struct run_report run = BASE;

	/* No GPU was started. */
	run.plan.no_gpu = "--device=cpu";
	says(job, &run, GPU, "GPU not used: --device=cpu");
	run.plan.no_gpu = NULL;
	says(job, &run, GPU,
	     "GPU not used: starting it would have taken longer than it saved (--device=gpu starts "
	     "it)");
	/* The GPU was not ready, or never will be. */
	run.gpu.state = GPU_STARTING;
	says(job, &run, GPU, "GPU: it was not ready before the end");
	run.gpu.state = GPU_FAILED;
	strcpy(run.gpu.why, "no NVIDIA driver found: libcuda.so.1");
	says(job, &run, GPU, "GPU: no NVIDIA driver found: libcuda.so.1");
	/* The GPU counted. */
	run.gpu = (struct gpu_report){.state = GPU_READY,
				      .name = "NVIDIA H200",
				      .start_seconds = 0.254,
				      .slots = 12,
				      .slot_bytes = 4 << 20,
				      .memory = 49 << 20,
				      .kernel = "whole_4_key"};
	run.work.gpu_records = 750;
	says(job, &run, GPU,
	     "GPU: NVIDIA H200, 12 slots of 4 MiB, 49.0 MiB with all counters, ready after 0.25 "
	     "s, whole_4_key; counted 75.0% of the samples");
	/* Sizes have as few digits as they need. */
	run.gpu.slots = 60;
	run.gpu.slot_bytes = 1500 << 10;
	says(job, &run, GPU,
	     "GPU: NVIDIA H200, 60 slots of 1.46 MiB, 49.0 MiB with all counters, ready after 0.25 "
	     "s, whole_4_key; counted 75.0% of the samples");
	/* The GPU was lost later on; its counts up to then remain. */
	run.gpu.state = GPU_FAILED;
	says(job, &run, GPU,
	     "GPU: NVIDIA H200, 60 slots of 1.46 MiB, 49.0 MiB with all counters, ready after 0.25 "
	     "s, whole_4_key; counted 75.0% of the samples");
	job->voice = VOICE_PLAIN;
	CHECK(verbose(job, &run)[0] == '\0', "without -v");
}

int main(void)
{
	static char *paths[] = {"-"};
	struct job job = {.machine.threads = 2, .voice = VOICE_VERBOSE, .source = {.paths = paths}};

	scratch_enter();
	bottlenecks(&job);
	gpu(&job);
	scratch_leave();
	return check_report();
}
