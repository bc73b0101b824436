/* SPDX-License-Identifier: MIT */
/*
 * watch: the line of progress, its rate, and the thread that prints it: it answers SIGUSR1 at any
 * time, however often it comes, and the signal never ends the process; the thread ends at once on
 * request.
 */
#include "run/watch.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/signals.h"
#include "check.h"
#include "cli/msg.h"
#include "scratch.h"

static void text_is(const struct progress_now *p, unsigned columns, const char *expected)
{
	char text[PROGRESS_TEXT];

	progress_text(text, p, columns);
	CHECK(strcmp(text, expected) == 0, "%u columns: '%s', not '%s'", columns, text, expected);
}

static void texts(void)
{
	const struct progress_now none = {.seconds = 3600};
	const struct progress_now pipe = {
		.bytes = 12345678901, .records = 9, .seconds = 3723.9, .rate = 999499};
	const struct progress_now file = {
		.bytes = 999, .length = 1000, .records = 5, .seconds = 5, .rate = 0.5};
	const struct progress_now stands = {.bytes = 999500, .length = 4000000, .seconds = 59.9};
	const struct progress_now gpu = {.bytes = (uint64_t)3 << 30,
					 .length = (uint64_t)4 << 30,
					 .records = 1000,
					 .gpu_records = 874,
					 .seconds = 1,
					 .rate = 2.5e9};
	const struct progress_now done = {
		.bytes = 7, .length = 7, .records = 7, .gpu_records = 9, .seconds = 61, .rate = 1};
	const struct progress_now grown = {.bytes = 9, .length = 7, .seconds = 1, .rate = 9};
	const struct progress_now all = {.bytes = UINT64_MAX, .seconds = 1e9, .rate = 1.8e19};
	char text[PROGRESS_TEXT];

	text_is(&none, 80, "nothing counted yet after 1:00:00");
	text_is(&pipe, 80, "12.3 GB in 1:02:03, 999 kB/s");
	text_is(&file, 80, "99 %, 999 B of 1.00 kB, 0 B/s, 0:02 left");
	text_is(&stands, 80, "24 %, 1.00 MB of 4.00 MB, 0 B/s");
	text_is(&gpu, 80, "75 %, 3.22 GB of 4.29 GB, 2.50 GB/s, 0:00 left, GPU 87 %, CPU 13 %");
	text_is(&done, 80, "100 %, 7 B of 7 B, 1 B/s, in 1:01, GPU 100 %, CPU 0 %");
	text_is(&grown, 80, "100 %, 9 B of 7 B, 9 B/s, in 0:01");
	text_is(&all, 80, "18.4 EB in 277777:46:40, 18.0 EB/s");
	/* Parts are whole, the last ones go first. */
	text_is(&gpu, 66, "75 %, 3.22 GB of 4.29 GB, 2.50 GB/s, 0:00 left, GPU 87 %, CPU 13 %");
	text_is(&gpu, 65, "75 %, 3.22 GB of 4.29 GB, 2.50 GB/s, 0:00 left");
	text_is(&gpu, 35, "75 %, 3.22 GB of 4.29 GB, 2.50 GB/s");
	text_is(&gpu, 34, "75 %, 3.22 GB of 4.29 GB");
	text_is(&gpu, 3, "75 ");
	text_is(&pipe, 0, "");
	for (unsigned columns = 0; columns <= 300; columns++) {
		progress_text(text, &gpu, columns);
		CHECK(strlen(text) <= columns, "%u columns: '%s'", columns, text);
	}
}

static void rates(void)
{
	struct rate rate = {.begun = false};
	double last = 0;

	CHECK(rate_look(&rate, 100, 0) == 0, "the first look");
	CHECK(rate_look(&rate, 102, 10) == 5, "the second");
	/* Seldom asked: the rate since the look before. */
	CHECK(rate_look(&rate, 160, 70) == 70.0 / 60, "after a minute");
	CHECK(rate_look(&rate, 170, 80) == 1, "after another");
	/* Often asked: the rate of the last seconds alone. 10 bytes a second, then 1000. */
	memset(&rate, 0, sizeof(rate));
	uint64_t bytes = 0;
	for (unsigned i = 0; i < 400; i++) {
		last = rate_look(&rate, i * 0.25, bytes);
		if (i == 200)
			CHECK(fabs(last - 10) < 1, "%g", last);
		bytes += i < 200 ? i % 2 ? 2 : 3 : 250;
	}
	CHECK(fabs(last - 1000) < 1, "%g", last);
	CHECK(rate_look(&rate, 100, bytes) >= 0 && rate_look(&rate, 100, bytes) >= 0,
	      "no time between two looks");
}

/* ---- the thread ---- */

static uint64_t counted; /* by the run under watch; atomic */
static unsigned saves;   /* atomic */
static double save_seconds;
static double saved, took; /* when the last save ended, how long it took */
static bool hurried;       /* one began sooner than `took` after the last */

static void look(void *arg, struct progress_now *now)
{
	(void)arg;
	now->bytes = __atomic_load_n(&counted, __ATOMIC_RELAXED);
}

static bool saving; /* atomic */

static void save(void *arg)
{
	(void)arg;
	__atomic_store_n(&saving, true, __ATOMIC_RELAXED);
	const double begin = clock_seconds();
	hurried |= begin - saved < took;
	while (clock_seconds() - begin < save_seconds)
		;
	saved = clock_seconds();
	took = saved - begin;
	__atomic_fetch_add(&saves, 1, __ATOMIC_RELAXED);
}

static struct watch *start(enum progress line, double every)
{
	const struct watch_spec spec = {.line = line, .every = every, .look = look, .save = save};
	struct watch *w = watch_start(&spec);

	CHECK(w != NULL, "no thread");
	return w;
}

/* Return the number of lines on stderr, a file, so far. */
static unsigned lines(void)
{
	size_t bytes;
	char *text = scratch_read("err", &bytes);
	unsigned n = 0;

	for (char *p = text; p && *p; p = strchr(p, '\n') + 1) {
		CHECK(strncmp(p, "gpuhist: ", 9) == 0 && strchr(p, '\n'), "'%s'", p);
		n++;
		if (!strchr(p, '\n'))
			break;
	}
	free(text);
	return n;
}

/* Send USR1 from another process, this many times. */
static void ask(unsigned times)
{
	const pid_t us = getpid(), child = fork();

	if (child == 0) {
		for (unsigned i = 0; i < times; i++)
			kill(us, SIGUSR1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void wait_for_lines(unsigned n)
{
	while (lines() < n)
		usleep(1000);
}

static void empty(void)
{
	CHECK(ftruncate(STDERR_FILENO, 0) == 0, "stderr");
}

/* In a process of its own, whose stderr is a file. */
static int thread_in_child(void)
{
	const int err = open("err", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);

	if (err < 0 || dup2(err, STDERR_FILENO) < 0)
		return 99;
	signals_init();
	ask(5); /* before there is a thread: the process lives on, and answers */
	struct watch *w = start(PROGRESS_NEVER, 0);
	wait_for_lines(1);
	watch_stop(w);
	CHECK(lines() >= 1, "%u lines", lines());
	/* Without a request nothing is printed, and no time is lost. */
	empty();
	const double begin = clock_seconds();
	for (unsigned i = 0; i < 200; i++)
		watch_stop(start(i % 2 ? PROGRESS_NEVER : PROGRESS_TERMINAL, i % 3 ? 0 : 1000));
	CHECK(clock_seconds() - begin < 20, "the end is waited for");
	CHECK(lines() == 0, "%u lines", lines());
	/* Repeated requests. */
	w = start(PROGRESS_NEVER, 0);
	for (unsigned i = 1; i <= 20; i++) {
		ask(1);
		wait_for_lines(i);
	}
	ask(3000);
	wait_for_lines(21);
	watch_stop(w);
	CHECK(lines() >= 21 && lines() <= 3020, "%u lines", lines());
	/* A request just before the end, while the thread is busy, is answered as well. */
	save_seconds = 0.02;
	for (unsigned i = 0; i < 20; i++) {
		empty();
		__atomic_store_n(&saving, false, __ATOMIC_RELAXED);
		w = start(PROGRESS_NEVER, 0.001);
		while (!__atomic_load_n(&saving, __ATOMIC_RELAXED))
			usleep(100);
		ask(1);
		watch_stop(w);
		CHECK(lines() >= 1, "%u: %u lines", i, lines());
	}
	/* Without a terminal: a line at the end, if there is anything to report. */
	empty();
	watch_stop(start(PROGRESS_ALWAYS, 0));
	CHECK(lines() == 0, "%u lines of nothing", lines());
	__atomic_store_n(&counted, 1000, __ATOMIC_RELAXED);
	watch_stop(start(PROGRESS_ALWAYS, 0));
	watch_stop(start(PROGRESS_TERMINAL, 0));
	CHECK(lines() == 1, "%u lines", lines());
	/* Partial outputs, even if each takes longer than the time between two. */
	for (unsigned k = 0; k < 2; k++) {
		__atomic_store_n(&saves, 0, __ATOMIC_RELAXED);
		saved = took = 0;
		hurried = false;
		save_seconds = k * 0.02;
		w = start(PROGRESS_NEVER, 0.01);
		while (__atomic_load_n(&saves, __ATOMIC_RELAXED) < 3)
			usleep(1000);
		watch_stop(w);
		const unsigned then = saves;
		usleep(30000);
		CHECK(saves == then, "saved after the end");
		CHECK(!hurried, "%u: a pause shorter than the save before it", k);
	}
	/*
	 * A stderr that takes no bytes delays nothing: neither the end nor a line that is asked
	 * for.
	 */
	int full[2];
	char byte = 0;
	CHECK(pipe(full) == 0 && fcntl(full[1], F_SETFL, O_NONBLOCK) == 0, "pipe");
	while (write(full[1], &byte, 1) == 1)
		;
	CHECK(fcntl(full[1], F_SETFL, 0) == 0 && dup2(full[1], STDERR_FILENO) >= 0, "stderr");
	w = start(PROGRESS_ALWAYS, 0);
	ask(1);
	usleep(20000);
	watch_stop(w);
	CHECK(dup2(err, STDERR_FILENO) >= 0, "stderr");
	return check_failed > 0;
}

int main(void)
{
	int status;

	alarm(300); /* ends a wait for a line that does not come */
	scratch_enter();
	texts();
	rates();
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		const int result = thread_in_child();
		fflush(stdout);
		_exit(result);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
	scratch_leave();
	return check_report();
}
