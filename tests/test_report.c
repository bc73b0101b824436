/* SPDX-License-Identifier: MIT */
/* report: the sentences about a run's bottleneck, from figures: each says what these show and nothing more. */
#include "cli/report.h"

#include <string.h>

#include "check.h"

/* Two workers of two, for 10 s on two cores: 2 s of reading, 18 s of counting. */
static const struct run_report BASE = {
	.totals = {.bytes = 8000000000, .inputs = 1},
	.records = 1000,
	.seconds = 10,
	.workers = 2,
	.planned = 2,
	.cores = 2,
	.read_seconds = 2,
	.count_seconds = 18,
	.core_seconds = 20,
};
static const struct job JOB = {.threads = 2, .memory_text = "4M"};

static void says(const struct job *job, const struct run_report *run, const char *wanted)
{
	char text[BOTTLENECK_TEXT];

	report_bottleneck(text, job, run);
	CHECK(strcmp(text, wanted) == 0, "\n  %s\nnot\n  %s", text, wanted);
}

static void counting(void)
{
	struct run_report run = BASE;
	struct job job = JOB;

	says(&job, &run, "bottleneck: counting took 90% of the workers' time.");
	run.shared = true;
	says(&job, &run,
	     "bottleneck: counting took 90% of the workers' time. All workers share one table, as there are too many "
	     "bins "
	     "for a table each: with fewer (-b) each has its own.");
	run.cores = 16;
	says(&job, &run,
	     "bottleneck: counting took 90% of the workers' time. -T 2 left 14 of 16 cores unused: -T 0 takes all.");
	job.threads = 16;
	says(&job, &run,
	     "bottleneck: counting took 90% of the workers' time. -M 4M allowed 2 of 16 workers: a larger one allows "
	     "more.");
	/* More would have had nothing to do. */
	run.workers = 1;
	says(&job, &run, "bottleneck: counting took 90% of the workers' time.");
	run.core_seconds = 8;
	says(&job, &run,
	     "bottleneck: counting took 90% of the workers' time. They had a core for 40% of it: other programs on the "
	     "cores "
	     "held them up.");
	/* A worker on a lane of a GPU sleeps while the bus works. */
	run.gpu_records = 999;
	says(&job, &run, "bottleneck: counting, by the bus and the GPU, took 90% of the workers' time.");
}

static void reading(void)
{
	struct run_report run = BASE;

	run.read_seconds = 15;
	run.count_seconds = 5;
	says(&JOB, &run, "bottleneck: reading took 75% of the workers' time.");
	run.core_seconds = 2;
	says(&JOB, &run,
	     "bottleneck: reading took 75% of the workers' time. They had a core for 10% of it: the storage, or other "
	     "programs on the cores held them up.");
	run.core_seconds = 20;
	run.totals.packed = 1000;
	says(&JOB, &run, "bottleneck: reading, decompression included, took 75% of the workers' time.");
	run.totals.packed = 0;
	run.totals.streamed = true;
	run.totals.waited = 4.9;
	says(&JOB, &run,
	     "bottleneck: reading a pipe, one worker at a time, took 75% of the workers' time. A file, by its name, is "
	     "read "
	     "by up to 2 workers at once.");
	run.core_seconds = 2;
	says(&JOB, &run,
	     "bottleneck: reading a pipe, one worker at a time, took 75% of the workers' time. They had a core for 10% "
	     "of it: "
	     "turns at the pipe, or other programs on the cores held them up.");
}

static void the_writer(void)
{
	struct run_report run = BASE;

	run.totals.streamed = true;
	run.totals.waited = 9.1;
	says(&JOB, &run,
	     "bottleneck: the writer of the input: 800.0 MB/s; gpuhist waited 91% of the time. If it only copies a "
	     "file, the "
	     "file's name instead would be up to 11 times as fast.");
	run.totals.waited = 8;
	run.totals.packed = 4000000000;
	says(&JOB, &run,
	     "bottleneck: the writer of the input: 400.0 MB/s; gpuhist waited 80% of the time. If it only copies a "
	     "file, the "
	     "file's name instead would be up to 5.0 times as fast.");
	run.totals.packed = 34000000000;
	says(&JOB, &run,
	     "bottleneck: the writer of the input: 3.4 GB/s; gpuhist waited 80% of the time. If it only copies a file, "
	     "the "
	     "file's name instead would be up to 5.0 times as fast.");
	run.totals.packed = 4000;
	run.totals.waited = 10; /* to the last digit: no quotient */
	says(&JOB, &run, "bottleneck: the writer of the input: 0.4 kB/s; gpuhist waited 100% of the time.");
}

static void nothing(void)
{
	struct run_report run = BASE;

	run.read_seconds = run.count_seconds = 0;
	says(&JOB, &run, "");
}

int main(void)
{
	counting();
	reading();
	the_writer();
	nothing();
	return check_report();
}
