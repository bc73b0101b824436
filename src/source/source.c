/* SPDX-License-Identifier: MIT */
/*
 * source: runs the tasks of readers, who wait here, and answers questions of other threads.
 *
 * A reader that needs a chunk runs the first ready task of source.tasks, again and again, until
 * it has a chunk. `ready` only looks; `run_unlocks` drops the lock while it works.
 *
 * WHY EVERY WAIT ENDS. Readers wait for each other in one place, await_unlocks, and only if no task
 * is ready. Consider the first unfinished input, its first job, and the first piece or block of
 * that job. All earlier work is done, so its offset is known and its memory is free. Hence a reader
 * works on it, or one of its tasks is ready (zstd_blocks.c, zstd_device.c, zstd_seam.c). A reader
 * that waits here has returned its chunk; only a failure waits for chunks of readers that may wait
 * elsewhere, and under --each these come from before it, so they are counted and returned. A cut
 * that needs more memory blocks no thread; it stays recorded until jobs end. With -n and --tee, an
 * input is not opened before the inputs ahead of it are done. A thread that reads a stream also
 * polls the wake-up pipe.
 *
 * WAKE-UPS. A reader that releases the lock, to leave, work or wait without it, wakes a sleeping
 * reader if a task is ready then, or if the device, which wakes nobody, has a batch and no reader
 * waits for it. The woken reader does the same. So no core is idle while there is work, and tasks
 * need not know whom their results concern. Only the end and failures wake all readers.
 */
#include "source/source.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/tally.h"
#include "source/source_state.h"

struct reader *source_reader(struct source *s)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->source = s;
	lock_take(&s->lock);
	r->next = s->readers.head;
	/* source_counted walks the list without the lock */
	__atomic_store_n(&s->readers.head, r, __ATOMIC_RELEASE);
	lock_drop(&s->lock);
	return r;
}

/* ---- tasks ---- */

static const struct task *ready_task(const struct source *s, const struct request *q)
{
	const struct task *const *task = s->tasks->list;

	while (*task && !(*task)->ready(s, q))
		task++;
	return *task;
}

/* ---- waiting ---- */

/* Could a sleeping reader do something now, or wait for the device's answer, or see the end? */
static bool has_work(const struct source *s)
{
	struct reader other = {.takes = true};

	return ready_task(s, &(struct request){.reader = &other}) || s->tasks->answer_due(s) ||
	       source_is_over(s);
}

/* Wake a sleeping reader if there is work for it. It will wake the next one itself. */
static void call_for_work(struct source *s)
{
	if (s->wait.sleepers == 0 || s->wait.called || !has_work(s))
		return;
	s->wait.called = true;
	pthread_cond_signal(&s->wait.wake);
}

void source_call_all(struct source *s)
{
	pthread_cond_broadcast(&s->wait.wake);
}

/* Release the lock while `others` readers are inside. */
static void release_unlocks(struct source *s, unsigned others)
{
	call_for_work(s);
	/* If the others sleep, and none was woken, there is no work, nor an answer to wait for. */
	lock_assert_woken(&s->wait.wake, others,
			  LOCKS_SCHEDULED && (has_work(s) || s->tasks->answer_due(s)));
	lock_drop(&s->lock);
}

void source_unlocks(struct source *s)
{
	release_unlocks(s, s->wait.inside - 1);
}

/* Wait, as no task is ready: other threads hold all work, and will wake this one. */
static void await_unlocks(struct source *s)
{
	if (s->tasks->wait_unlocks(s))
		return;
	s->wait.sleepers++;
	lock_wait(&s->lock, &s->wait.wake);
	s->wait.sleepers--;
	s->wait.called = false;
}

/* ---- interface of workers ---- */

static bool request_answered(const struct request *q)
{
	return q->chunk->bytes > 0 || q->chunk->next_record > 0 || q->got == q->cap;
}

static void start_worker_unlocks(struct source *s)
{
	s->wanted = false;
	if (!s->use.start_worker)
		return;
	source_unlocks(s);
	s->use.start_worker(s->use.arg);
	lock_take(&s->lock);
}

int source_take(struct reader *r, const struct want *want, struct chunk *chunk, struct fail *fail)
{
	struct source *s = r->source;
	struct request q = {
		.want = want,
		.chunk = chunk,
		.cap = want->cap - want->cap % s->use.record,
		.reader = r,
	};
	int rc = 0;

	/* With a smaller buffer a call would return 0 bytes, which means the end. */
	assert(want->cap >= s->use.record);
	*chunk = (struct chunk){.bytes = 0};
	lock_take(&s->lock);
	s->readers.takers += !r->takes;
	r->takes = true;
	s->wait.inside++;
	for (;;) {
		/* First, because this may make a task ready: libzstd may decode a frame again. */
		source_settle_unlocks(s);
		if (s->stopped || s->failure.due || request_answered(&q))
			break;
		const struct task *const task = ready_task(s, &q);
		if (task) {
			task->run_unlocks(s, &q);
			if (s->wanted)
				start_worker_unlocks(s);
			continue;
		}
		if (q.got > 0)
			break;
		if (source_is_over(s)) {
			source_call_all(s); /* perhaps no other reader was woken */
			break;
		}
		await_unlocks(s);
	}
	if (q.got > 0)
		*chunk = (struct chunk){.data = want->buffer, .bytes = q.got};
	if (chunk->bytes == 0 && s->failure.fail.status != STATUS_OK)
		rc = fail_pass(fail, &s->failure.fail);
	release_unlocks(s, --s->wait.inside);
	return rc;
}

void source_done(struct reader *r, struct chunk *chunk)
{
	struct source *s = r->source;

	tally_add(&r->counted, chunk->bytes);
	if (chunk->input) {
		lock_take(&s->lock);
		s->wait.inside++;
		if (chunk->piece)
			chunk->input->kind->back_unlocks(s, chunk);
		else
			chunk->input->lent--;
		source_settle_unlocks(s);
		release_unlocks(s, --s->wait.inside);
	}
	*chunk = (struct chunk){.bytes = 0};
}

/* ---- questions of other threads ---- */

uint64_t source_length(const struct source *s)
{
	const uint64_t bytes = tally_read(&s->length);
	const uint32_t record = s->use.record;

	if (s->spec.parts > 0)
		return bytes;
	if (s->first.said.within)
		return s->first.said.bytes;
	if (s->spec.text.on)
		return s->use.limit == NO_LIMIT ? bytes : 0;
	const uint64_t records = layout_records(bytes, record, s->use.packed);
	return layout_records_bytes(lesser(s->use.limit, records), record, s->use.packed);
}

uint64_t source_counted(const struct source *s)
{
	uint64_t bytes = 0;

	for (const struct reader *r = __atomic_load_n(&s->readers.head, __ATOMIC_ACQUIRE); r;
	     r = r->next)
		bytes += tally_read(&r->counted);
	return bytes;
}

uint64_t source_progress(const struct source *s)
{
	return s->spec.text.on ? __atomic_load_n(&s->shared.text_bytes, __ATOMIC_RELAXED)
			       : source_counted(s);
}

uint64_t source_inputs(const struct source *s)
{
	return tally_read(&s->totals.inputs);
}

uint64_t source_slice_state(const struct source *s)
{
	return s->totals.slice.state;
}

bool source_packed(struct source *s)
{
	lock_take(&s->lock);
	const struct input *const in = s->inputs ? s->inputs : s->first.input;
	const bool packed = in && in->content.is_zstd;
	lock_drop(&s->lock);
	return packed;
}

bool source_unpacks(struct source *s)
{
	lock_take(&s->lock);
	const struct input *const first = s->next.path == 0 ? s->first.input : NULL;
	bool unpacks = first && first->is_file && first->content.is_zstd;
	for (const struct input *in = s->inputs; in; in = in->next)
		unpacks |= in->kind->unpacks && in->kind->unpacks(in);
	lock_drop(&s->lock);
	return unpacks;
}

uint64_t source_expected(struct source *s)
{
	uint64_t bytes = 0;

	lock_take(&s->lock);
	for (const struct input *in = s->inputs; in; in = in->next) {
		const uint64_t these = in->kind->expected ? in->kind->expected(s, in) : 0;
		bytes = these > 0 ? these : bytes;
	}
	lock_drop(&s->lock);
	return bytes;
}

bool source_all_plain(const struct source *s)
{
	return s->spec.raw || s->spec.parts > 0 ||
	       (s->spec.path_count == 1 && s->first.input && !s->first.input->content.is_zstd);
}

bool source_backlog(struct source *s)
{
	lock_take(&s->lock);
	const struct input *in = s->inputs;
	while (in && !in->kind->backlog(s, in))
		in = in->next;
	const bool backlog = in && !s->stopped;
	lock_drop(&s->lock);
	return backlog;
}

const struct source_totals *source_totals(struct source *s)
{
	s->totals.waited = (double)__atomic_load_n(&s->shared.waited_ns, __ATOMIC_RELAXED) * 1e-9;
	s->totals.text.bytes = s->shared.text_bytes;
	s->totals.text.dropped = s->shared.dropped;
	if (s->left > 0 && signals_finished())
		s->totals.unopened = s->spec.path_count - s->totals.inputs;
	return &s->totals;
}
