/* readers: threads that take all samples of a source. For tests of compressed inputs. */
#ifndef GPUHIST_READERS_H
#define GPUHIST_READERS_H

#include "source.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "check.h"
#include "scratch.h"
#include "xxh64.h"

#define WORKERS 4

/* A record is its own number, so that a sum and a count tell whether each came once. */
struct worker {
	struct source *source;
	struct fail fail;
	pthread_t thread;
	size_t cap;
	bool lends, slow, done; /* borrows what it counts; takes its time; has ended */
	uint32_t record;
	uint64_t records, sum;
	int rc;
};

static inline void add(struct worker *w, const unsigned char *data, size_t bytes)
{
	for (size_t i = 0; i + w->record <= bytes; i += w->record) {
		uint64_t v = 0;
		memcpy(&v, data + i, w->record);
		w->sum += v * v + 1;
	}
	w->records += bytes / w->record;
	if (bytes % w->record != 0)
		w->sum = 1; /* never right */
}

static inline void *work(void *arg)
{
	struct worker *w = arg;
	unsigned char *buffer = malloc(w->cap);
	struct source_lease lease = {.data = NULL};
	size_t got = 0;

	for (unsigned i = 0;; i++) {
		if (w->lends) {
			w->rc = source_lend(w->source, buffer, w->cap, &lease, &w->fail);
			got = lease.bytes;
			if (w->rc == 0)
				add(w, lease.data, got);
			/* Some add what they read to its checksum, some leave that to the source. */
			if (w->rc == 0 && got > 0 && lease.hash && i % 3 > 0)
				xxh64_add(lease.hash, lease.data, got);
			if (w->slow)
				usleep(3000);
			/* Now and then a worker becomes another kind of worker. */
			if (w->rc == 0 && i % 7 == 6)
				w->rc = source_return_lease(w->source, &lease, &w->fail);
		} else {
			w->rc = source_fill(w->source, buffer, w->cap, &got, &w->fail);
			add(w, buffer, got);
		}
		if (w->rc != 0 || got == 0)
			break;
	}
	free(buffer);
	return NULL;
}

struct outcome {
	int rc;
	uint64_t records, sum;
	struct source_totals totals;
	struct fail fail;
	bool finished;
};

static inline struct outcome read_all(const struct source_spec *spec, unsigned workers, size_t cap)
{
	struct worker w[WORKERS] = {{.rc = 0}};
	struct outcome o = {.rc = 0};
	struct source *s;

	if (source_open(&s, spec, &o.fail) != 0)
		return (struct outcome){.rc = -1};
	for (unsigned i = 0; i < workers; i++) {
		w[i] = (struct worker){.source = s, .cap = cap, .lends = i % 2 == cap % 2, .record = spec->record};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (unsigned i = 0; i < workers; i++) {
		pthread_join(w[i].thread, NULL);
		o.records += w[i].records;
		o.sum += w[i].sum;
		if (w[i].rc != 0)
			o.rc = w[i].rc;
		if (w[i].fail.status != STATUS_OK && o.fail.status == STATUS_OK)
			o.fail = w[i].fail;
	}
	o.totals = *source_totals(s);
	o.finished = source_finished(s);
	source_close(s);
	return o;
}

/* The records of `bytes` of numbers behind a skip. */
static inline void expected(const unsigned char *data, size_t bytes, const struct source_spec *spec, uint64_t *records,
		     uint64_t *sum)
{
	struct worker w = {.record = spec->record};
	size_t rest = bytes - (size_t)spec->skip;

	rest -= rest % spec->record;
	if (spec->limit < rest / spec->record)
		rest = (size_t)spec->limit * spec->record;
	add(&w, data + spec->skip, rest);
	*records = w.records;
	*sum = w.sum;
}

static inline pid_t feed(int fd, const unsigned char *data, size_t bytes, size_t each)
{
	pid_t pid = fork();

	if (pid < 0) { /* whoever kills -1 kills everybody */
		perror("fork");
		exit(1);
	}
	if (pid > 0)
		return pid;
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes < each ? bytes : each);
		if (n <= 0)
			break;
		data += n;
		bytes -= (size_t)n;
	}
	_exit(0);
}

/* One request in a thread of its own; `records` are the bytes it brought. */
static inline void *ask_once(void *arg)
{
	struct worker *w = arg;
	unsigned char *buffer = malloc(w->cap);
	struct source_lease lease = {.data = NULL};
	size_t got = 0;

	if (w->lends) {
		w->rc = source_lend(w->source, buffer, w->cap, &lease, &w->fail);
		got = lease.bytes;
		if (w->rc == 0)
			w->rc = source_return_lease(w->source, &lease, &w->fail);
	} else {
		w->rc = source_fill(w->source, buffer, w->cap, &got, &w->fail);
	}
	w->records = got;
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	free(buffer);
	return NULL;
}

static inline void wait_for(struct worker *w)
{
	for (unsigned i = 0; i < 100 && !__atomic_load_n(&w->done, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
}

static inline void to_stdin(int fd)
{
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* A process writes these bytes into a pipe that becomes standard input. */
static inline pid_t feed_stdin(const unsigned char *data, size_t bytes, size_t each)
{
	int ends[2];

	if (pipe(ends) != 0) {
		perror("pipe");
		exit(1);
	}
	const pid_t feeder = feed(ends[1], data, bytes, each);
	close(ends[1]);
	to_stdin(ends[0]);
	return feeder;
}

#endif
