/* SPDX-License-Identifier: MIT */
/*
 * source: what workers call: taking, giving back, waiting for work; and what others want to know.
 */
#include "input/source.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tally.h"
#include "input/source_input.h"
#include "input/zstd_read.h"

#define FULL_READS 64
#define MEMORY_DEFAULT ((uint64_t)256 << 20)

static void take_spec(struct source *s, const struct source_spec *spec)
{
	s->spec = *spec;
	if (s->spec.threads == 0)
		s->spec.threads = 1;
	if (s->spec.memory == 0)
		s->spec.memory = MEMORY_DEFAULT;
	s->memory = s->memory_left = (int64_t)(s->spec.memory + s->spec.memory_spare);
}

static int check_record(const struct source_spec *spec, struct fail *fail)
{
	if (spec->record == 0 || spec->record > SOURCE_RECORD_MAX)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: records of %lu bytes: please report this",
				(unsigned long)spec->record);
	return 0;
}

int source_open(struct source **out, const struct source_spec *spec, struct fail *fail)
{
	*out = NULL;
	if (check_record(spec, fail) != 0 || input_check_all(spec, fail) != 0 ||
	    part_check(spec, fail) != 0)
		return -1;
	struct source *s = calloc(1, sizeof(*s));
	if (!s)
		return fail_errno(fail, "inputs");
	take_spec(s, spec);
	/* For a slice, -n limits what is cut into slices, not what is read. */
	s->budget = spec->parts > 0 && spec->limit > 0 ? UINT64_MAX : spec->limit;
	if (pipe(s->wake) != 0) {
		fail_errno(fail, "pipe");
		goto free_source;
	}
	if (lock_init(&s->lock) != 0) {
		fail_set(fail, STATUS_SYSTEM, "lock: cannot be made");
		goto close_pipe;
	}
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->settled, NULL);
	*out = s;
	return 0;
close_pipe:
	close(s->wake[0]);
	close(s->wake[1]);
free_source:
	free(s);
	return -1;
}

int source_settle(struct source *s, const struct source_spec *spec, struct fail *fail)
{
	if (check_record(spec, fail) != 0)
		return -1;
	take_spec(s, spec);
	if (spec->parts > 0)
		return part_measure(s, fail);
	return s->described ? input_agrees(s, s->described, fail) : 0;
}

struct reader *source_reader(struct source *s)
{
	struct reader *r = zstd_reader_new(s);

	if (!r)
		return NULL;
	lock_take(&s->lock);
	r->next = s->readers;
	/* source_counted walks them without the lock */
	__atomic_store_n(&s->readers, r, __ATOMIC_RELEASE);
	lock_drop(&s->lock);
	return r;
}

/* ---- what threads tell each other ---- */

void source_call(struct source *s)
{
	lock_assert_held(&s->lock);
	if (s->sleepers == 0)
		return;
	__atomic_fetch_add(&s->calls, 1, __ATOMIC_RELAXED);
	pthread_cond_signal(&s->work);
}

void source_call_all(struct source *s)
{
	__atomic_fetch_add(&s->calls, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&s->work);
	pthread_cond_broadcast(&s->settled);
}

/* Ends every wait, whatever it is for. */
static void stop(struct source *s)
{
	lock_assert_held(&s->lock);
	s->stopped = true;
	(void)!write(s->wake[1], "", 1);
	source_call_all(s);
}

void source_stop(struct source *s)
{
	lock_take(&s->lock);
	stop(s);
	lock_drop(&s->lock);
}

uint64_t budget_take(struct source *s, uint64_t records)
{
	lock_assert_held(&s->lock);
	if (s->budget == UINT64_MAX)
		return records;
	if (records > s->budget)
		records = s->budget;
	s->budget -= records;
	return records;
}

void budget_give(struct source *s, uint64_t records)
{
	lock_assert_held(&s->lock);
	if (s->budget != UINT64_MAX)
		s->budget += records;
}

/* ---- taking ---- */

static bool may_open(const struct source *s)
{
	/*
	 * How much -n leaves for the next input is known when nothing can be given back any more.
	 */
	return !s->current && !s->opening && s->next_path < s->spec.path_count &&
	       (s->budget == UINT64_MAX || s->users == 0);
}

static bool may_come(const struct source *s)
{
	return s->current || s->opening || s->next_path < s->spec.path_count || s->rings > 0;
}

/*
 * Another thread holds everything that could be done now, and calls when that has changed. Waking a
 * thread takes longer than some pieces take, and costs the caller; so where the last wait was
 * short, this thread first waits awake. On 16 cores that makes small frames of a pipe a tenth
 * faster.
 */
#define SOON 100e-6

static void await_work_unlocks(struct reader *r)
{
	struct source *s = r->source;
	const unsigned seen = s->calls;
	const double start = clock_seconds();

	if (zstd_read_ahead_unlocks(s))
		return;
	if (s->short_of_memory)
		zstd_release(r);
	r->asleep = true;
	s->sleepers++;
	if (s->soon) {
		lock_drop(&s->lock);
		while (__atomic_load_n(&s->calls, __ATOMIC_RELAXED) == seen &&
		       clock_seconds() - start < SOON)
			sched_yield();
		lock_take(&s->lock);
	}
	while (s->calls == seen)
		lock_wait(&s->lock, &s->work);
	s->soon = clock_seconds() - start < 2 * SOON;
	s->sleepers--;
	r->asleep = false;
}

/* The input is free and becomes this reader's until its next piece is claimed, read or found. */
static int take_current_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;
	struct input *in = s->current;
	int rc;

	input_use(s, in);
	if (in->zstd) {
		rc = zstd_cut_unlocks(r, in, q);
	} else {
		rc = in->is_file ? file_take_unlocks(s, in, q) : stream_take_unlocks(s, in, q);
		q->enough |= q->got > 0;
	}
	return rc;
}

static bool answered(const struct request *q)
{
	return q->chunk->bytes > 0 || q->enough || q->got == q->cap;
}

int source_take(struct reader *r, const struct want *want, struct chunk *chunk, struct fail *fail)
{
	struct source *s = r->source;
	struct request q = {.want = want,
			    .cap = want->cap - want->cap % s->spec.record,
			    .chunk = chunk,
			    .fail = fail};
	int rc = 0;

	/* With less room a call would hand out nothing, which means the end. */
	assert(want->cap >= s->spec.record);
	*chunk = (struct chunk){.fd = -1};
	lock_take(&s->lock);
	while (rc == 0 && !s->stopped && !answered(&q)) {
		if (zstd_in_hand(r))
			rc = zstd_go_on_unlocks(r, &q);
		else if (s->ready > 0)
			rc = zstd_take_ready_unlocks(r, &q);
		else if (s->budget == 0)
			break;
		else if (s->current && s->current->state == INPUT_FREE &&
			 (q.got == 0 || s->current->zstd))
			rc = take_current_unlocks(r, &q);
		else if (q.got > 0)
			break;
		else if (may_open(s))
			rc = input_next_unlocks(s, &q);
		else if (!may_come(s))
			break;
		else
			await_work_unlocks(r);
	}
	if (rc == 0 && q.got > 0)
		*chunk = (struct chunk){.data = want->buffer, .bytes = q.got, .fd = -1};
	if (rc == 0 && chunk->bytes == 0) { /* what ends this reader ends those that wait, too */
		zstd_release(r);
		source_call_all(s);
	}
	if (rc != 0)
		stop(s);
	lock_drop(&s->lock);
	return rc;
}

int source_done(struct reader *r, struct chunk *chunk, size_t counted, struct fail *fail)
{
	struct source *s = r->source;
	int rc = 0;

	if (chunk->bytes == 0)
		return 0;
	/* the rest is the input's tail */
	tally_add(&r->counted, counted - counted % s->spec.record);
	if (chunk->input) {
		lock_take(&s->lock);
		rc = chunk->fd >= 0 ? file_return(s, chunk, counted, fail)
				    : zstd_done_unlocks(r, chunk, fail);
		if (rc != 0)
			stop(s);
		lock_drop(&s->lock);
	}
	*chunk = (struct chunk){.fd = -1};
	return rc;
}

bool source_owes(struct reader *r)
{
	struct source *s = r->source;

	/* It has no unit without memory. Of plain inputs no reader takes the lock here. */
	if (r->held == 0)
		return false;
	lock_take(&s->lock);
	const bool owes = zstd_in_hand(r);
	if (!owes && s->short_of_memory)
		zstd_release(r);
	lock_drop(&s->lock);
	return owes;
}

/* ---- what others want to know ---- */

uint64_t source_counted(const struct source *s)
{
	uint64_t bytes = 0;

	for (const struct reader *r = __atomic_load_n(&s->readers, __ATOMIC_ACQUIRE); r;
	     r = r->next)
		bytes += tally_read(&r->counted);
	return bytes;
}

uint64_t source_inputs(const struct source *s)
{
	return tally_read(&s->totals.inputs);
}

uint64_t source_state(const struct source *s)
{
	return s->totals.state;
}

void source_take_spare(struct source *s)
{
	lock_take(&s->lock);
	__atomic_fetch_sub(&s->memory, (int64_t)s->spec.memory_spare, __ATOMIC_RELAXED);
	s->memory_left -= (int64_t)s->spec.memory_spare;
	s->spec.memory_spare = 0;
	lock_drop(&s->lock);
}

bool source_backlog(struct source *s)
{
	lock_take(&s->lock);
	const struct input *in = s->current;
	/*
	 * A long frame can occupy one more thread; frames side by side can as long as there are
	 * any.
	 */
	const bool zstd = in ? in->zstd != NULL : s->rings > 0;
	const bool more = zstd ? s->sleepers == 0 : in && (in->is_file || in->full >= FULL_READS);
	const bool backlog = more && !s->stopped;
	lock_drop(&s->lock);
	return backlog;
}

bool source_finished(const struct source *s)
{
	if (s->slice && source_counted(s) != source_known_bytes(s))
		return false;
	return s->budget == 0 ||
	       (!s->current && s->next_path == s->spec.path_count && s->users == 0);
}

const struct source_totals *source_totals(struct source *s)
{
	s->totals.waited = (double)__atomic_load_n(&s->waited_ns, __ATOMIC_RELAXED) * 1e-9;
	if (s->current && s->current->zstd) /* -n has ended inside it */
		zstd_account(s, s->current);
	for (struct reader *r = s->readers; r; r = r->next) {
		s->totals.bytes += r->counted;
		r->counted = 0;
	}
	return &s->totals;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	for (struct reader *r; (r = s->readers) != NULL;) {
		struct input *in = r->in;
		s->readers = r->next;
		zstd_reader_free(r);
		if (in && --in->users == 0 && in != s->current)
			input_free(in);
	}
	assert(s->memory_left == s->memory);
	if (s->current) {
		struct input *in = s->current;
		source_leave_current(s);
		input_free(in);
	}
	if (s->described)
		input_free(s->described);
	close(s->wake[0]);
	close(s->wake[1]);
	pthread_cond_destroy(&s->settled);
	pthread_cond_destroy(&s->work);
	lock_destroy(&s->lock);
	free(s->slice);
	free(s);
}
