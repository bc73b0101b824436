/* SPDX-License-Identifier: MIT */
/* readers: threads that together read all records of a source. For tests of compressed inputs. */
#ifndef GPUHIST_READERS_H
#define GPUHIST_READERS_H

#include "input/source_state.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "check.h"
#include "scratch.h"
#include "take.h"
#include "base/xxh64.h"

#define WORKERS 4
#define READERS_MOST 16

/* Records differ, so the sum and the number show whether each was read once and whole. */
struct worker {
	struct source *source;
	struct fail fail;
	pthread_t thread;
	size_t cap;
	bool lends, flips, slow; /* borrows its chunks; at times copies them; is slow */
	unsigned stops;          /* number of chunks after which it stops the source; 0: never */
	/* A frame was decoded in blocks; again in steps; more memory was taken than there is. */
	bool blocks, again, beyond;
	uint32_t record;
	uint64_t records, sum;
	int rc;
};

static inline void add(struct worker *w, const unsigned char *data, size_t bytes)
{
	for (size_t i = 0; i + w->record <= bytes; i += w->record) {
		uint64_t v = 0;
		if (w->record <= sizeof(v)) {
			memcpy(&v, data + i, w->record);
		} else {
			struct xxh64 h;
			xxh64_begin(&h);
			xxh64_add(&h, data + i, w->record);
			v = xxh64_end(&h);
		}
		w->sum += v * v + 1;
	}
	w->records += bytes / w->record;
	if (bytes % w->record != 0)
		w->sum = 1; /* makes the sum wrong */
}

/* Look how frames are decoded, and in how much memory. */
static inline void look(struct worker *w)
{
	struct source *const s = w->source;
	uint64_t kept = 0;

	lock_take(&s->lock);
	for (const struct input *in = s->inputs; in; in = in->next)
		kept += in->zstd ? in->zstd->kept : 0;
	for (const struct zstd_job *j = s->budget.free_jobs; j; j = j->next) {
		w->again |= j->known > 0;
		w->beyond |= job_takes(j, &(struct cut){.pieces = 0}) > j->held;
	}
	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j)) {
		w->blocks |= j->cut.how == HOW_BLOCKS;
		w->again |= j->known > 0;
		w->beyond |= j->running == 0 && job_takes(j, &(struct cut){.pieces = 0}) > j->held;
	}
	w->beyond |= s->budget.jobs > 1 && s->budget.held > s->budget.memory + kept;
	lock_drop(&s->lock);
}

static inline void *work(void *arg)
{
	struct worker *w = arg;
	struct reader *const reader = source_reader(w->source);
	unsigned char *buffer = malloc(w->cap);
	struct chunk chunk;

	for (unsigned i = 0; w->rc == 0; i++) {
		const struct want want = {
			.room = buffer, .cap = w->cap, .lent = w->flips ? i % 5 < 3 : w->lends};
		w->rc = source_take(reader, &want, &chunk, &w->fail);
		if (w->rc != 0 || chunk.bytes == 0)
			break;
		look(w);
		add(w, chunk.data, chunk.bytes);
		/* Some chunks are added to their checksum here, the rest by the source. */
		if (chunk.hash && i % 3 > 0)
			xxh64_add(chunk.hash, chunk.data, chunk.bytes);
		if (chunk.hash && w->source->spec.no_check)
			w->rc = -1;
		if (w->slow && i % 8 == 7)
			usleep(300);
		source_done(reader, &chunk);
		if (w->stops > 0 && i == w->stops)
			source_stop(w->source);
	}
	free(buffer);
	return NULL;
}

struct outcome {
	int rc;
	bool blocks, again, beyond;
	uint64_t records, sum;
	struct source_totals totals;
	struct fail fail;
	bool finished;
	struct header said; /* of the first input, if the spec asks for headers */
};

/* Read with several threads, any of which stops the source after `stops` chunks; 0: never. */
static inline struct outcome read_some(const struct setup *spec, unsigned workers, size_t cap,
				       unsigned stops)
{
	struct worker w[READERS_MOST] = {{.rc = 0}};
	struct outcome o = {.rc = 0};
	struct source *s;

	if (setup_open(&s, spec, &o.fail) != 0) {
		o.rc = -1;
		return o;
	}
	o.said = *source_said(s);
	for (unsigned i = 0; i < workers; i++) {
		w[i] = (struct worker){.source = s,
				       .cap = cap,
				       .lends = i % 2 == cap % 2,
				       .flips = i >= 2,
				       .slow = i % 4 == 3,
				       .record = spec->use.record,
				       .stops = stops};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (unsigned i = 0; i < workers; i++) {
		pthread_join(w[i].thread, NULL);
		look(&w[i]); /* includes the memory of jobs that have ended */
		o.records += w[i].records;
		o.sum += w[i].sum;
		o.blocks |= w[i].blocks;
		o.again |= w[i].again;
		o.beyond |= w[i].beyond;
		if (w[i].rc != 0)
			o.rc = w[i].rc;
		if (w[i].fail.status != STATUS_OK && o.fail.status == STATUS_OK)
			o.fail = w[i].fail;
	}
	o.finished = source_finished(s);
	o.totals = *source_totals(s);
	source_close(s);
	return o;
}

static inline struct outcome read_all(const struct setup *spec, unsigned workers, size_t cap)
{
	return read_some(spec, workers, cap, 0);
}

/* Find the number and the sum of the records that a source of these bytes gives. */
static inline void expected(const unsigned char *data, size_t bytes, const struct setup *spec,
			    uint64_t *records, uint64_t *sum)
{
	struct worker w = {.record = spec->use.record};
	size_t rest = bytes - (size_t)spec->open.skip;

	rest -= rest % spec->use.record;
	if (spec->use.limit < rest / spec->use.record)
		rest = (size_t)spec->use.limit * spec->use.record;
	add(&w, data + spec->open.skip, rest);
	*records = w.records;
	*sum = w.sum;
}

static inline pid_t feed(int fd, const unsigned char *data, size_t bytes, size_t each)
{
	pid_t pid = fork();

	if (pid < 0) { /* kill(-1) would kill every process */
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

static inline void to_stdin(int fd)
{
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* Start a process that writes these bytes into a pipe, which becomes standard input. */
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
