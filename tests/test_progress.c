/* SPDX-License-Identifier: MIT */
/*
 * progress: what the workers and the source have counted can be read at any time without a lock,
 * also while every worker sleeps and waits for a pipe, and it never falls.
 */
#include <pthread.h>
#include <sched.h>

#include "base/tally.h"
#include "check.h"
#include "scratch.h"
#include "worker.h"

#define WORKERS 3
#define PART ((size_t)3 << 20)

static struct work work;
static struct worker_report report[WORKERS];
static struct fail fails[WORKERS];

static bool ignore(void *arg)
{
	(void)arg;
	return false;
}

static void *run(void *arg)
{
	const unsigned i = (unsigned)((struct worker_report *)arg - report);

	worker_run(&work, arg, &fails[i]);
	return NULL;
}

static uint64_t records(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WORKERS; i++)
		sum += tally_read(&report[i].records);
	return sum;
}

/* Writes a part and watches until all of it is counted; then the pipe is empty, and stays open. */
static void feed(int fd, const unsigned char *part, uint64_t before)
{
	uint64_t bytes = before, least = before / work.record;

	for (size_t at = 0;
	     at < PART || bytes < before + PART || least < (before + PART) / work.record;) {
		const ssize_t n =
			at < PART ? write(fd, part + at, PART - at > 65536 ? 65536 : PART - at) : 0;
		at += n > 0 ? (size_t)n : 0;
		const uint64_t now = source_counted(work.source), counted = records();
		CHECK(now >= bytes && counted >= least,
		      "%llu bytes after %llu, %llu records after %llu", (unsigned long long)now,
		      (unsigned long long)bytes, (unsigned long long)counted,
		      (unsigned long long)least);
		bytes = now;
		least = counted;
		sched_yield();
	}
	CHECK(bytes == before + PART && least == bytes / work.record, "%llu bytes, %llu records",
	      (unsigned long long)bytes, (unsigned long long)least);
}

int main(void)
{
	static char *const FIFO[] = {"fifo"};
	const struct source_spec spec = {.paths = FIFO,
					 .path_count = 1,
					 .limit = UINT64_MAX,
					 .record = 4,
					 .threads = WORKERS};
	const struct edges_spec bins = {.bins = 1024};
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	struct counts counts;
	struct fail fail = {.status = STATUS_OK};
	pthread_t thread[WORKERS];
	unsigned char *part = calloc(PART, 1);
	const char *why;

	alarm(300); /* a number that does not come is waited for in vain */
	scratch_enter();
	sample_type_parse(&type, "u32");
	if (!part || mkfifo("fifo", 0600) != 0 || edges_init(&edges, &bins, &type, &why) != 0)
		return 1;
	counting_init(&counting, &type, &edges, false);
	if (counts_init(&counts, counting.cells, &fail) != 0 ||
	    source_open(&work.source, &spec, &fail) != 0)
		return 1;
	work.counting = &counting;
	work.counts = &counts;
	work.block = 1 << 17;
	work.record = 4;
	work.busy = ignore;
	for (unsigned i = 0; i < WORKERS; i++)
		CHECK(pthread_create(&thread[i], NULL, run, &report[i]) == 0, "thread");
	const int fd = open("fifo", O_WRONLY);
	for (unsigned k = 0; k < 3; k++)
		feed(fd, part, k * PART);
	close(fd);
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(thread[i], NULL);
		CHECK(fails[i].status == STATUS_OK, "%s", fails[i].text);
	}
	CHECK(source_totals(work.source)->bytes == 3 * PART && records() == 3 * PART / 4,
	      "at the end");
	source_close(work.source);
	counts_free(&counts);
	free(part);
	scratch_leave();
	return check_report();
}
