/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * run: a whole job. The run does without workers whose memory cannot be allocated, the histogram is
 * the same with any number of them, and the bound of -M is kept if possible.
 */
#include "run/run.h"

#include <getopt.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/signals.h"
#include "check.h"
#include "cli/options.h"
#include "pack.h"
#include "scratch.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* sanitizers need the address space */
#else
#define SANITIZED 0
#endif

#define SAMPLES 3000000u

static int run_with(char *const *arguments, struct hist *h, struct run_report *report,
		    struct fail *fail)
{
	char *argv[64] = {"gpuhist"};
	struct job job;
	int argc = 1;

	for (; *arguments; arguments++)
		argv[argc++] = *arguments;
	*fail = (struct fail){0};
	optind = 0;
	const int rc = options_parse(&job, argc, argv, fail) == OPTIONS_RUN
			       ? run_job(&job, NULL, h, report, fail)
			       : -1;
	options_free(&job);
	return rc;
}

static void check_bins(const struct hist *h, const struct fail *fail, const char *what)
{
	CHECK(fail->status == STATUS_OK, "%s: %s", what, fail->text);
	CHECK(h->samples == SAMPLES, "%s: %llu samples", what, (unsigned long long)h->samples);
	uint32_t right = 0;
	while (h->count && right < axis_bins(&h->axis) && h->count[right] == (right < SAMPLES))
		right++;
	CHECK(h->count && right == axis_bins(&h->axis), "%s: bin %u is wrong", what, right);
}

/* The same with any number of workers, and with any memory that suffices for one. */
static void workers_and_memory(void)
{
	static char *const THREADS[] = {"1", "2", "7", "64", "500"};
	static char *const MEMORY[] = {"256M", "20M", "14M"};

	for (size_t t = 0; t < sizeof(THREADS) / sizeof(THREADS[0]); t++)
		for (size_t m = 0; m < sizeof(MEMORY) / sizeof(MEMORY[0]); m++) {
			char *const arguments[] = {"-b", "3000000", "-T",   THREADS[t],
						   "-M", MEMORY[m], "ramp", NULL};
			struct run_report report;
			struct hist h;
			struct fail fail;
			run_with(arguments, &h, &report, &fail);
			check_bins(&h, &fail, "workers");
			CHECK(report.work.records == SAMPLES, "%llu records",
			      (unsigned long long)report.work.records);
			hist_free(&h);
		}
}

/*
 * Memory is reserved for decoders only if there may be something to decode: tables for two workers
 * fit -M, one worker's fit half of it.
 */
static void half_for_decoders(void)
{
	char *const plain[] = {"-b",  "1000000",      "-T",   "2", "-M",
			       "10M", "--device=cpu", "ramp", NULL};
	char *const unknown[] = {"-b",  "1000000",      "-T",   "2",         "-M",
				 "10M", "--device=cpu", "ramp", "/dev/null", NULL};
	char *const raw[] = {"-b",           "1000000", "-T",   "2",         "-M", "10M",
			     "--device=cpu", "--raw",   "ramp", "/dev/null", NULL};
	char *const *const jobs[] = {unknown, plain, raw};

	for (unsigned i = 0; i < 3; i++) {
		const unsigned workers = i == 0 ? 1 : 2;
		struct run_report report;
		struct hist h;
		struct fail fail;
		CHECK(run_with(jobs[i], &h, &report, &fail) == 0, "%s", fail.text);
		/* A table of 4 MB for each worker, and the bins. */
		CHECK(report.plan.memory / 4000000 == workers + 2, "%u: %zu bytes", i,
		      report.plan.memory);
		CHECK(report.work.records == SAMPLES, "%u: %llu records", i,
		      (unsigned long long)report.work.records);
		hist_free(&h);
	}
}

/*
 * If there is address space for one worker, a lack of it for the others is no failure: a run that
 * worked still works with more.
 */
static void short_of_memory(void)
{
	char *const arguments[] = {"-b", "1000000", "-r", "full", "-T", "3", "ramp", NULL};
	unsigned worked = 0;

	for (unsigned mib = 0; mib < 64 && !SANITIZED; mib++) {
		int status;
		const pid_t child = fork();
		if (child == 0) {
			unsigned long pages = 0;
			FILE *f = fopen("/proc/self/statm", "r");
			if (!f || fscanf(f, "%lu", &pages) != 1)
				_exit(2);
			fclose(f);
			const rlim_t bytes =
				pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)mib << 20);
			setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
			struct run_report report;
			struct hist h;
			struct fail fail;
			_exit(run_with(arguments, &h, &report, &fail) == 0 ? 0 : 1);
		}
		waitpid(child, &status, 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "died: %x", (unsigned)status);
		CHECK(status == 0 || worked == 0, "%u MiB sufficed, %u MiB do not", worked, mib);
		if (status == 0 && worked == 0)
			worked = mib;
	}
	CHECK(SANITIZED || worked > 0, "64 MiB do not suffice");
}

/*
 * If the memory suffices for fewer decoders than threads, it stays mapped once it was: 48
 * frames with windows of 8 MiB, 2,048 pages each, in 64 MiB.
 */
static void stays_mapped(void)
{
	const size_t bytes = (size_t)8 << 20;
	char *arguments[8 + 48 + 1] = {"-q", "-b", "256", "-T", "16", "-M", "64M", "--device=cpu"};
	unsigned char *data = malloc(bytes);
	struct pack p = {.state = 1};
	uint64_t state = 1;
	struct rusage before, after;
	int status;

	for (size_t i = 0; i < bytes; i += 8)
		memcpy(data + i, &(uint64_t){check_random(&state)}, 8);
	pack_frame(&p, data, bytes, 1, true, true, 23);
	scratch_write("frame", p.data, p.bytes);
	for (unsigned i = 0; i < 48; i++)
		arguments[8 + i] = "frame";
	getrusage(RUSAGE_CHILDREN, &before);
	const pid_t child = fork();
	if (child == 0) {
		struct run_report report;
		struct hist h;
		struct fail fail;
		_exit(run_with(arguments, &h, &report, &fail) == 0 && h.samples == 48 * bytes / 4
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	getrusage(RUSAGE_CHILDREN, &after);
	const long faults = after.ru_minflt - before.ru_minflt;
	CHECK(status == 0, "%x", (unsigned)status);
	CHECK(SANITIZED || faults < 16 * 2048, "%ld page faults", faults);
	free(p.data);
	free(data);
}

int main(void)
{
	uint32_t *ramp = malloc(SAMPLES * sizeof(*ramp));

	signals_init();
	scratch_enter();
	for (uint32_t i = 0; i < SAMPLES; i++)
		ramp[i] = i;
	scratch_write("ramp", ramp, SAMPLES * sizeof(*ramp));
	free(ramp);
	short_of_memory(); /* first: threads that have ended leave stacks and arenas behind */
	workers_and_memory();
	half_for_decoders();
	stays_mapped();
	scratch_leave();
	return check_report();
}
