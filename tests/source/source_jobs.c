/* SPDX-License-Identifier: MIT */
/*
 * source_jobs: random jobs of the source, drawn from a seed: with one reader and with several it
 * delivers the records, totals and first failure that the model says.
 *
 * usage: source_jobs [SEED [JOBS [SECONDS]]]    until the first of both
 *        source_jobs SEED --only NUMBER         that job again, described
 *
 * In a build with SCHED=1 each job runs in a process of its own, under a schedule that its number
 * decides.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

static unsigned long long seed = 1, number;
static uint64_t failures, batches, passed, failed;
static bool only;

static void run(void *arg)
{
	struct job *const job = arg;
	struct truth t;

	model(&t, job);
	if (only)
		printf("  %s'%s'%s\n",
		       t.must  ? "must fail: "
		       : t.may ? "may fail: "
			       : "does not fail: ",
		       t.text, t.unclear ? ", unclear" : "");
	batches += take_all(job, &t);
	failures += t.must;
	model_free(&t);
}

#ifdef TESTS_SCHED_POINTS_H
/* Under a schedule, in a process of its own. */
static bool try(struct job *job)
{
	const struct sched_plan plan = {.seed = job->seed,
					.way = (enum sched_way)(job->seed % SCHED_WAYS),
					.spurious = job->seed % 8 == 0,
					.steps_most = 5000000};
	char how[100];
	int status;

	const pid_t child = fork();
	if (child == 0) {
		snprintf(how, sizeof(how), "source_jobs %llu --only %llu", seed, number);
		sched_describe(how);
		alarm(120);
		sched_run(&plan, run, job);
		_exit(take_failed() > 0);
	}
	waitpid(child, &status, 0);
	return status == 0;
}
#else
static bool try(struct job *job)
{
	const unsigned long before = take_failed();

	alarm(300);
	run(job);
	alarm(0);
	return take_failed() == before;
}
#endif

static void draw_and_try(void)
{
	struct job job;

	job_draw(&job, seed * 1000003 + number, NULL, 0);
	if (only)
		job_describe(&job);
	if (!try(&job)) {
		failed++;
		printf("job %llu: source_jobs %llu --only %llu\n", number, seed, number);
		job_describe(&job);
	} else {
		passed++;
	}
	job_free(&job);
}

static void hangs(int signal)
{
	char text[100];
	const int n =
		snprintf(text, sizeof(text), "hangs: source_jobs %llu --only %llu\n", seed, number);

	(void)signal;
	(void)!write(STDOUT_FILENO, text, (size_t)n);
	_exit(1);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	only = argc > 3 && strcmp(argv[2], "--only") == 0;
	const unsigned long long jobs = argc > 2 && !only ? strtoull(argv[2], NULL, 10) : 100000;
	const double end = seconds_now() + (argc > 3 && !only ? strtod(argv[3], NULL) : 15);

	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, hangs);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (only) {
		number = strtoull(argv[3], NULL, 10);
		draw_and_try();
	}
	for (number = 1; !only && number <= jobs && seconds_now() < end && failed < 5; number++)
		draw_and_try();
	if (!only)
		printf("reached: %llu jobs, %llu failures, %llu batches of a device\n", number - 1,
		       (unsigned long long)failures, (unsigned long long)batches);
	printf("%llu passed, %llu failed\n", (unsigned long long)passed,
	       (unsigned long long)failed);
	return failed > 0;
}
