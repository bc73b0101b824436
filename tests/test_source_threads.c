/* SPDX-License-Identifier: MIT */
/*
 * source: every record once, from files and pipes, to any number of threads; and every wait
 * ends. Nothing here depends on how long something takes; a wait that would never end is ended by
 * the alarm.
 */
#include "input/source.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "check.h"
#include "scratch.h"
#include "take.h"

#define RECORDS 400000u /* of 8 bytes: 12 pieces of 256 KiB and a part of one */
#define THREADS 4

static uint32_t numbers[RECORDS][2];

struct seen {
	struct source *source;
	size_t cap;
	unsigned char count[RECORDS]; /* how often each number came; atomically */
	int failed;
};

static void *take_all(void *arg)
{
	struct seen *s = arg;
	struct fail fail = {0};
	uint32_t(*buffer)[2] = malloc(s->cap);
	size_t got;

	struct reader *const reader = source_reader(s->source);
	while (take_copy(reader, buffer, s->cap, &got, &fail) == 0 && got > 0)
		for (size_t i = 0; i < got / 8; i++)
			if (buffer[i][0] < RECORDS && buffer[i][1] == ~buffer[i][0])
				__atomic_fetch_add(&s->count[buffer[i][0]], 1, __ATOMIC_RELAXED);
			else
				__atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
	if (fail.status != STATUS_OK)
		__atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
	free(buffer);
	return NULL;
}

static struct seen *spread(const struct source_spec *spec, size_t cap)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct fail fail = {0};
	pthread_t threads[THREADS];

	s->cap = cap;
	CHECK(source_open(&s->source, spec, &fail) == 0, "%s", fail.text);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, take_all, s);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(!s->failed, "a number came torn, or a failure");
	const struct source_totals *t = source_totals(s->source);
	CHECK((t->bytes - t->skipped - t->tail) % spec->record == 0, "bytes and records");
	source_close(s->source);
	return s;
}

static void each_once(char *const *paths, size_t path_count, unsigned times, size_t cap)
{
	const struct source_spec spec = {
		.paths = paths, .path_count = path_count, .limit = UINT64_MAX, .record = 8};
	struct seen *s = spread(&spec, cap);

	uint32_t right = 0;
	while (right < RECORDS && s->count[right] == times)
		right++;
	CHECK(right == RECORDS, "record %u of %s came %d times", right, paths[0], s->count[right]);
	free(s);
}

static void *feed(void *arg)
{
	const int fd = *(int *)arg;
	const unsigned char *p = (const unsigned char *)numbers;
	uint64_t state = 0x66656564;

	/* Pieces that cut records anywhere. */
	for (size_t done = 0; done < sizeof(numbers);) {
		size_t some = 1 + check_random(&state) % 30000;
		if (some > sizeof(numbers) - done)
			some = sizeof(numbers) - done;
		const ssize_t n = write(fd, p + done, some);
		if (n < 0)
			break;
		done += (size_t)n;
	}
	close(fd);
	return NULL;
}

/* A pipe as standard input; nonblocking, as another program may have set it. */
static void pipe_each_once(int nonblocking, size_t cap)
{
	static char *const STDIN[] = {"-"};
	int fds[2];
	pthread_t feeder;

	(void)!pipe(fds);
	if (nonblocking)
		fcntl(fds[0], F_SETFL, fcntl(fds[0], F_GETFL) | O_NONBLOCK);
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	pthread_create(&feeder, NULL, feed, &fds[1]);
	each_once(STDIN, 1, 1, cap);
	pthread_join(feeder, NULL);
}

static void many_threads(void)
{
	static char *const ONE[] = {"n"};
	static char *const SEVERAL[] = {"n", "empty", "n", "n", "empty"};
	static const size_t CAPS[] = {
		8, 12, 4096, 100001, 256 << 10, sizeof(numbers), sizeof(numbers) + 99};

	for (uint32_t i = 0; i < RECORDS; i++) {
		numbers[i][0] = i;
		numbers[i][1] = ~i;
	}
	scratch_write("n", numbers, sizeof(numbers));
	scratch_write("empty", "", 0);
	for (size_t i = 1; i < sizeof(CAPS) / sizeof(CAPS[0]); i++) {
		each_once(ONE, 1, 1, CAPS[i]);
		each_once(SEVERAL, 5, 3, CAPS[i]);
		pipe_each_once(i % 2 != 0, CAPS[i]);
	}

	/* -n: exactly that many, and they are the first ones. */
	for (uint64_t limit = 0; limit <= RECORDS + 1; limit += limit < 3 ? 1 : 99991) {
		const struct source_spec spec = {
			.paths = SEVERAL, .path_count = 1, .limit = limit, .record = 8};
		struct seen *s = spread(&spec, 4096);
		uint32_t right = 0;
		while (right < RECORDS && s->count[right] == (right < limit))
			right++;
		CHECK(right == RECORDS, "limit %u: record %u: %d", (unsigned)limit, right,
		      s->count[right]);
		free(s);
	}
	scratch_clean();
}

static void *fill_once(void *arg)
{
	struct fail fail = {0};
	char buffer[64];
	size_t got;

	struct reader *const reader = source_reader(arg);
	while (take_copy(reader, buffer, sizeof(buffer), &got, &fail) == 0 && got > 0)
		;
	return NULL;
}

/* source_stop ends a wait for a pipe that, after `given` bytes, has nothing more. */
static void stop_wakes(size_t given)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		static char *const STDIN[] = {"-"};
		const struct source_spec spec = {
			.paths = STDIN, .path_count = 1, .limit = UINT64_MAX, .record = 1};
		static const char zeros[256];
		struct source *s;
		struct fail fail = {0};
		pthread_t reader, second;
		int fds[2], left = 1;
		(void)!pipe(fds);
		dup2(fds[0], STDIN_FILENO);
		(void)!write(fds[1], zeros, given);
		source_open(&s, &spec, &fail);
		pthread_create(&reader, NULL, fill_once, s);
		pthread_create(&second, NULL, fill_once, s);
		/* The pipe is empty once the reader has come to the wait. */
		alarm(30);
		while (ioctl(fds[0], FIONREAD, &left) == 0 && left > 0)
			;
		source_stop(s);
		pthread_join(reader, NULL);
		pthread_join(second, NULL);
		source_close(s);
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "after %zu bytes the reader was not woken", given);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	many_threads();
	stop_wakes(0);
	stop_wakes(1);
	stop_wakes(63);
	stop_wakes(64); /* a read that filled the buffer, and nothing after it */
	stop_wakes(128);
	scratch_leave();
	return check_report();
}
