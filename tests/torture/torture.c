/* SPDX-License-Identifier: MIT */
/* torture: the shipping program while the system around it fails
 *
 *   torture GPUHIST PRELOAD                every job, every function, every early call
 *   torture GPUHIST PRELOAD SEED           an eighth of these plans, another one for each seed
 *   torture GPUHIST PRELOAD SEED SECONDS   random plans until the time is over
 *
 * PRELOAD is torture_preload.so, made from preload.c, whose head explains plans. For each job and
 * each function, the first call fails, then the second, up to the last, alone or with all later
 * ones; signals arrive before and after calls; reads and writes are cut short and interrupted;
 * memory, descriptors and file sizes are limited.
 *
 * The program's promises: it ends, by itself or by the signal that was sent. With exit status 0
 * its output is exact to the byte. Otherwise it prints one line and publishes nothing: an existing
 * file is untouched. No temporary file is left. FAULTS lists the effects that each fault may have.
 *
 * Files: files, plan (jobs and faults), process, verdict; this one has the systematic run and the
 * random one. A failure prints its plan, which is enough to repeat it.
 */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAID_MAX = 20 }; /* failures that are printed in full */

static unsigned long passed, failed;

static void verdict(const struct plan *plan, const struct result *r, const char *why)
{
	if (!why) {
		passed++;
		return;
	}
	if (failed++ >= SAID_MAX)
		return;
	printf("FAILED %s (wait status 0x%x)\n", why, (unsigned)r->status);
	print_plan(plan);
	if (r->err.n > 0)
		printf("  ! %.*s\n", (int)strcspn(r->err.data, "\n"), r->err.data);
}

/* Run a plan and judge it. Return whether the fault or the signal was met. */
static bool torture(const struct plan *plan)
{
	struct result r = run(plan);
	const bool met = r.failed || r.raised;
	const bool killed = r.raised && plan->signal == SIGKILL;
	const char *why = judge(plan, &r);

	if (killed) {
		/*
		 * A signal that cannot be caught leaves a temporary file; it must not disturb the
		 * next run.
		 */
		struct plan again = PLAIN;
		again.job = plan->job;
		struct result s = run(&again);
		if (!why)
			why = judge(&again, &s);
		result_free(&s);
	}
	if (clean(".") > 0 && !killed && !may_leave(plan, &r) && !why)
		why = "a temporary file was left";
	verdict(plan, &r, why);
	result_free(&r);
	return met;
}

/* ---- the systematic run ---- */

enum { SAMPLE = 8 }; /* with a seed, one plan in eight is run */

static bool sampled;
static struct bytes logs[JOBS_MAX]; /* the calls of each job if nothing fails */

static bool wanted(void)
{
	return !sampled || below(SAMPLE) == 0;
}

static unsigned calls_of(size_t k, const char *function)
{
	const size_t length = strlen(function);
	unsigned calls = 0;

	for (const char *p = logs[k].data; *p; p += strcspn(p, "\n") + 1)
		calls += strncmp(p, function, length) == 0 && p[length] == ' ';
	return calls;
}

/* Return the bytes that --tee must pass on. */
static struct bytes joined(const char *names)
{
	struct bytes all = {0};
	char text[64], path[80];

	snprintf(text, sizeof(text), "%s", names);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		snprintf(path, sizeof(path), "../%s", word);
		const struct bytes one = slurp(path);
		if (!(all.data = realloc(all.data, all.n + one.n + 1)))
			die(path);
		memcpy(all.data + all.n, one.data, one.n + 1);
		all.n += one.n;
		free(one.data);
	}
	return all;
}

/*
 * Learn the job's output and messages from a plain run with one thread; then run it with its own
 * threads, with the library, and a fault far after the last call.
 */
static void learn(size_t k)
{
	struct plan plan = PLAIN;

	plan.job = k;
	plan.threads = 1;
	if (JOBS[k].passes)
		passes[k] = joined(JOBS[k].passes);
	struct result r = run(&plan);
	if (r.status < 0 || !WIFEXITED(r.status) || WEXITSTATUS(r.status) != JOBS[k].status) {
		verdict(&plan, &r, "fails without a fault");
		printf("%lu passed, %lu failed\n", passed, failed);
		exit(1);
	}
	expected[k] = r.published;
	said[k] = r.err;
	r.published = r.err = (struct bytes){0};
	result_free(&r);
	clean(".");
	if (adds(&JOBS[k]) && JOBS[k].status == 0) {
		plan.alone = true;
		r = run(&plan);
		counted[k] = r.published;
		r.published = (struct bytes){0};
		result_free(&r);
		clean(".");
		plan.alone = false;
	}
	plan.threads = 0;
	plan.function = "write";
	plan.error = EIO;
	plan.n = 1000000000;
	r = run(&plan);
	const char *why = judge(&plan, &r);
	if (!why && (JOBS[k].target != STDOUT && JOBS[k].status == 0))
		why = judge_order(k, r.log.data);
	verdict(&plan, &r, why);
	logs[k] = r.log;
	r.log = (struct bytes){0};
	result_free(&r);
	clean(".");
}

/* Calls 1, 2, 3 ... and then ever fewer: the hundredth read is like the ninety-ninth. */
static unsigned later(unsigned n)
{
	return n < 10 ? n + 1 : 2 * n;
}

static void faults(size_t k)
{
	for (const struct fault *f = FAULTS; f < FAULTS + FAULT_COUNT; f++) {
		/* Lines for other roles lead to the same plan. */
		bool done = false;
		for (const struct fault *g = FAULTS; g < f; g++)
			done |= strcmp(f->function, g->function) == 0 && f->error == g->error;
		for (unsigned how = 0; how < HOWS && !done; how++) {
			struct plan plan = PLAIN;
			plan.job = k;
			plan.function = f->function;
			plan.error = f->error;
			plan.how = how;
			for (plan.n = 1; plan.n <= calls_of(k, f->function); plan.n = later(plan.n))
				if (wanted() && !torture(&plan))
					break;
		}
	}
}

/* Around each call, send one signal, a different one each time; and one that is ignored. */
static void signals(size_t k)
{
	unsigned turn = (unsigned)k;

	for (size_t i = 0; i < STAGE_COUNT; i++) {
		struct plan plan = PLAIN;
		plan.job = k;
		const unsigned calls = calls_of(k, STAGES[i]);
		plan.stage = STAGES[i];
		for (plan.at = 1; plan.at <= calls;
		     plan.at = plan.after ? plan.at : later(plan.at)) {
			plan.signal = SIGNALS[turn++ % SIGNAL_COUNT];
			plan.after = !plan.after;
			if (wanted())
				torture(&plan);
		}
		plan.signal = SIGNALS[i % (SIGNAL_COUNT - 1)];
		plan.at = 1;
		plan.ignored = true;
		if (calls > 0 && wanted())
			torture(&plan);
	}
}

static void noise(size_t k)
{
	for (unsigned i = 1; i <= 12; i++) {
		struct plan plan = PLAIN;
		plan.job = k;
		plan.noise = plan.feed = i;
		if (wanted())
			torture(&plan);
	}
}

/* Limit descriptors, file sizes and memory, which affects libc's own calls, too. */
static void limits(size_t k, rlim_t memory)
{
	static const rlim_t SIZES[] = {300, 1000, 5000, 70000, 150000};
	struct plan plan = PLAIN;

	plan.job = k;
	plan.resource = RLIMIT_NOFILE;
	for (plan.limit = 4; plan.limit < 12; plan.limit++)
		if (wanted())
			torture(&plan);
	plan.resource = RLIMIT_FSIZE;
	for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
		plan.limit = SIZES[i];
		if (wanted())
			torture(&plan);
	}
	plan.resource = RLIMIT_AS;
	for (unsigned i = 0; i < 36; i++) {
		plan.limit = memory + (i < 20 ? (rlim_t)i << 16 : (rlim_t)(i - 18) << 20);
		if (wanted())
			torture(&plan);
	}
}

/* Return the least memory with which the loader succeeds. */
static rlim_t least_memory(void)
{
	struct plan plan = PLAIN;

	plan.job = JOB_COUNT - 1; /* the version */
	plan.resource = RLIMIT_AS;
	for (plan.limit = 0;; plan.limit += 1 << 16) {
		struct result r = run(&plan);
		const bool loaded =
			r.status >= 0 && WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0;
		result_free(&r);
		if (loaded || plan.limit > (rlim_t)1 << 30)
			return plan.limit;
	}
}

/* Run with a pipe without a reader; if SIGPIPE is ignored, that is an error like others. */
static void closed(size_t k)
{
	struct plan plan = PLAIN;

	plan.job = k;
	plan.closed = true;
	plan.signal = SIGPIPE;
	const bool writes = JOBS[k].target == STDOUT ? JOBS[k].status == 0 : JOBS[k].passes != NULL;

	for (int ignored = 0; ignored <= 1 && writes; ignored++) {
		plan.ignored = ignored;
		torture(&plan);
	}
}

static void all_of(size_t k, rlim_t memory)
{
	noise(k);
	closed(k);
	limits(k, memory);
	faults(k);
	signals(k);
}

/* ---- the random run ---- */

static struct plan draw_plan(void)
{
	const int CAUGHT = (int)SIGNAL_COUNT - 1;
	struct plan plan = PLAIN;

	plan.job = below(JOB_COUNT);
	plan.threads = below(5);
	plan.feed = draw();
	if (below(3) > 0) {
		const struct fault *f = &FAULTS[below(FAULT_COUNT)];
		plan.function = f->function;
		plan.error = f->error;
		plan.how = below(HOWS);
		plan.n = 1 + below((size_t)1 << below(7));
	}
	if (below(3) == 0) {
		plan.stage = STAGES[below(STAGE_COUNT)];
		plan.at = 1 + below((size_t)1 << below(7));
		plan.after = below(2);
		plan.ignored = below(4) == 0;
		plan.signal = SIGNALS[below((size_t)(plan.ignored ? CAUGHT : CAUGHT + 1))];
	}
	if (below(2) == 0 || (!plan.function && !plan.stage))
		plan.noise = 1 + below(1000000000);
	return plan;
}

static void random_plans(time_t end)
{
	while (time(NULL) < end) {
		const struct plan plan = draw_plan();
		torture(&plan);
	}
}

/* ---- */

/* Be one of the workers, which has a directory of its own and does every second job. */
static void work(unsigned part, unsigned parts, uint64_t seed, time_t seconds)
{
	const char *base = getenv("TMPDIR");
	char run_folder[PATH_BYTES];

	snprintf(folder, sizeof(folder), "%.40s/torture-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder) || chdir(folder) != 0)
		die(folder);
	make_input("tiny", 2500);
	make_input("small", 150000);
	make_input("large", 2500000);
	make_packed();
	make_headed();
	make_text();
	make_documents();
	spill("odd", OLD_BYTES, strlen(OLD_BYTES) - 1);
	if (mkdir("run", 0777) != 0 || chdir("run") != 0)
		die("run");
	for (size_t k = 0; k < JOB_COUNT; k++)
		learn(k);
	chance_begin(seed * parts + part);
	if (seconds > 0) {
		random_plans(time(NULL) + seconds);
	} else {
		const rlim_t memory = least_memory();
		for (size_t k = part; k < JOB_COUNT; k += parts)
			all_of(k, memory);
	}
	rmdir("sub");
	if (chdir("..") == 0)
		clean(".");
	if (chdir("/") != 0 || snprintf(run_folder, sizeof(run_folder), "%s/run", folder) < 0 ||
	    rmdir(run_folder) != 0 || rmdir(folder) != 0)
		die(folder);
}

enum { PARTS = 2 };

int main(int argc, char **argv)
{
	int ends[2];

	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: torture GPUHIST PRELOAD [SEED [SECONDS]]\n");
		return 2;
	}
	if (!realpath(argv[1], gpuhist) || !realpath(argv[2], preload) ||
	    pipe2(ends, O_CLOEXEC) != 0)
		die(argv[1]);
	for (unsigned part = 0; part < PARTS; part++) {
		const pid_t pid = fork();
		if (pid < 0)
			die("fork");
		if (pid > 0)
			continue;
		sampled = argc == 4;
		work(part, PARTS, argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
		     argc > 4 ? (time_t)strtoull(argv[4], NULL, 10) : 0);
		const unsigned long sums[2] = {passed, failed};
		fflush(stdout);
		_exit(write(ends[1], sums, sizeof(sums)) != sizeof(sums));
	}
	close(ends[1]);
	/* A worker that died before its report is a failure. */
	failed = PARTS;
	for (unsigned long sums[2]; read(ends[0], sums, sizeof(sums)) == sizeof(sums); failed--) {
		passed += sums[0];
		failed += sums[1];
	}
	while (wait(NULL) > 0)
		;
	printf("%lu passed, %lu failed\n", passed, failed);
	return failed ? 1 : 0;
}
