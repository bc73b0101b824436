/* SPDX-License-Identifier: MIT */
/*
 * source_plain: the task that reads uncompressed inputs.
 *
 * Readers claim parts of the whole records that a file holds when it is opened, and read them in
 * parallel. One reader at a time, which has the input's turn, reads the bytes after these records,
 * and all of a stream; so a file that has grown, or has a size of 0 as in /proc, is read to its
 * end. If a part comes back short, the file ends there: either it became shorter, which is an
 * error, or its size was too large from the start, as in /sys.
 */
#include <stdlib.h>

#include "source/source_state.h"

#define FULL_READS 64u /* reads of a stream without a wait before one more reader finds work */
/* Largest read from a stream; these bytes are still in the cache when they are counted. */
#ifndef STREAM_PIECE /* the scheduler of the tests has smaller ones */
#define STREAM_PIECE ((size_t)128 << 10)
#endif

struct plain_input {
	unsigned reading; /* parts of a file that are being read */
	uint64_t end;     /* offset after the whole records that a file held when it was opened */
	uint64_t torn;    /* bytes of partial records where reads came back short */
	uint64_t missing; /* claimed bytes that the file did not hold */
	unsigned full;    /* reads of a stream in a row that did not have to wait */
};

/* Did a read of the samples end at offset `at` because the file became shorter? No lock. */
static bool became_shorter(const struct input *in, uint64_t at)
{
	return in->part.sliced || (at < in->bound && bytes_shorter(in->bytes, at));
}

/* Pass over the bytes that -S skips, and find the end of a file's whole records. */
static int plain_begin(struct source *s, struct input *in, struct fail *fail)
{
	const unsigned char *last;
	size_t got = 1;
	int rc = 0;

	in->plain = calloc(1, sizeof(*in->plain));
	if (!in->plain)
		return fail_errno(fail, "%s", in->name);
	/* Does the last skipped byte exist? st_size may be 0 (/proc) or too large (/sys). */
	if (in->begin > INT64_MAX)
		got = 0;
	else if (s->spec.skip > 0 && !in->part.sliced &&
		 (rc = bytes_pass(in->bytes, in->begin - 1, fail)) == 0)
		rc = bytes_look(in->bytes, in->begin - 1, 1, 1, &last, &got, fail);
	if (rc == 0 && got > 0)
		rc = bytes_pass(in->bytes, in->begin, fail);
	const uint64_t end = lesser(bytes_size(in->bytes), input_stop(in));
	/* Unless it is sliced, a file may grow by the rest of its last group. */
	if (end > in->begin)
		in->plain->end = in->part.sliced ? in->begin + whole_records(s, end - in->begin)
						 : end - (end - in->begin) % s->use.record;
	in->at = lesser(in->begin, bytes_in_file(in->bytes) ? NO_END : bytes_passed(in->bytes));
	if (rc == 0 && got == 0 && !bytes_finished(in->bytes))
		return input_too_skipped(s, in, fail);
	return rc;
}

/* End a file that gave only `got` of the claimed bytes. */
static void came_short(struct source *s, struct input *in, size_t claimed, size_t got, bool shorter)
{
	in->shorter |= shorter;
	in->plain->missing += claimed - got;
	in->plain->torn += got - whole_records(s, got);
	if (!in->ended)
		input_end(s, in);
}

/* ---- parts of a file, in parallel ---- */

static void plain_hand_out(const struct source *s, struct input *in, struct request *q, uint64_t at,
			   size_t bytes, size_t claimed)
{
	if (bytes == 0 && (!s->spec.ordered || claimed == 0))
		return;
	*q->chunk = (struct chunk){.data = q->want->buffer,
				   .bytes = bytes,
				   .path = in->index,
				   .record = input_record(s, in, at)};
	if (s->spec.ordered) { /* the input does not end before the chunk is returned */
		q->chunk->input = in;
		q->chunk->next_record = bytes < claimed ? input_record(s, in, at + claimed) : 0;
		in->lent++;
	}
}

/* Of n bytes at an offset, how many reach to the end of the last row in them? n: no row ends. */
static size_t whole_rows(const struct source *s, const struct input *in, uint64_t at, size_t n)
{
	const uint32_t record = s->use.record, packed = s->use.packed;
	const uint64_t row = s->use.row, records = layout_records(n, record, packed);
	const uint64_t beyond = row > 0 ? (input_record(s, in, at) + records) % row : 0;

	return beyond > 0 && beyond < records
		       ? (size_t)layout_records_bytes(records - beyond, record, packed)
		       : n;
}

static void plain_claim_unlocks(struct source *s, struct input *in, struct request *q)
{
	const uint64_t at = in->at;
	const size_t n = whole_rows(s, in, at, (size_t)lesser(in->plain->end - at, q->cap));
	struct fail fail = {.status = STATUS_OK};
	size_t got;

	in->at += n;
	in->plain->reading++;
	source_unlocks(s);
	const int rc = bytes_read_at(in->bytes, at, q->want->buffer, n, &got, &fail);
	const bool shorter = rc == 0 && got < n && became_shorter(in, at + got);
	lock_take(&s->lock);
	in->plain->reading--;
	if (rc != 0)
		source_fail(s, in, at, &fail);
	else if (got < n)
		came_short(s, in, n, got, shorter);
	plain_hand_out(s, in, q, at, (size_t)whole_records(s, got), rc == 0 ? n : 0);
}

/* ---- by turns ---- */

/*
 * Read cap bytes; or, for a stream of a prompt source, the bytes that have arrived, waiting only
 * for whole records.
 */
static int read_records(struct source *s, struct input *in, uint64_t at, unsigned char *buffer,
			size_t cap, size_t *got, struct fail *fail)
{
	const size_t record = s->use.record;
	int rc;

	if (in->is_file || !s->spec.prompt)
		return bytes_read(in->bytes, at, buffer, cap, cap, got, fail);
	*got = 0;
	do {
		const size_t rest = record - *got % record, left = cap - *got;
		size_t some;
		rc = bytes_read(in->bytes, at + *got, buffer + *got, rest < left ? rest : left,
				left, &some, fail);
		*got += some;
	} while (rc == 0 && *got % record != 0 && *got < cap && !bytes_ended(in->bytes));
	return rc;
}

/*
 * Read the tail, when less than a record is left of the samples that the header declares, and pass
 * over the bytes after it, so that the writer of a stream can finish. No lock.
 */
static int plain_finish(struct source *s, struct input *in, uint64_t at, void *buffer, size_t left,
			size_t *got, struct fail *fail)
{
	const int rc = read_records(s, in, at, buffer, left, got, fail);

	return rc == 0 && *got == left ? bytes_pass(in->bytes, NO_END, fail) : rc;
}

static void plain_turn_unlocks(struct source *s, struct input *in, struct request *q)
{
	const uint32_t record = s->use.record;
	const uint64_t at = in->at, left = input_stop(in) - at;
	const size_t piece = STREAM_PIECE < record ? record : STREAM_PIECE;
	const bool all = in->is_file || s->spec.ordered || q->cap < piece;
	const size_t most = all ? q->cap : piece - piece % record;
	const bool finishes = in->bound - at < record;
	const size_t n =
		finishes ? (size_t)left : whole_rows(s, in, at, (size_t)lesser(left, most));
	struct fail fail = {.status = STATUS_OK};
	size_t got = 0;

	in->busy = true;
	source_unlocks(s);
	const int rc = finishes ? plain_finish(s, in, at, q->want->buffer, n, &got, &fail)
				: read_records(s, in, at, q->want->buffer, n, &got, &fail);
	const bool shorter = rc == 0 && in->is_file && got < n && became_shorter(in, at + got);
	lock_take(&s->lock);
	in->busy = false;
	if (in->ended) /* meanwhile: a part came back short, or another read failed */
		got = 0;
	in->at += got;
	const size_t whole = (size_t)whole_records(s, got);
	in->plain->torn += got - whole;
	/*
	 * Asking a pipe how full it is (FIONREAD) takes its lock: the writer is a third slower.
	 */
	in->plain->full = bytes_drained(in->bytes) ? 0 : in->plain->full + 1;
	if (rc < 0)
		source_fail(s, in, at, &fail);
	const bool ended =
		in->is_file ? got < n : bytes_ended(in->bytes) && in->at < input_stop(in);
	if (!in->ended)
		in->shorter |= shorter;
	if ((rc != 0 || finishes || ended) && !in->ended)
		input_end(s, in);
	plain_hand_out(s, in, q, at, whole, 0);
}

/* ---- the task ---- */

/* If ordered: must an earlier input hand something out first? */
static bool must_wait(const struct source *s, const struct input *until)
{
	for (const struct input *in = s->inputs; in != until && s->spec.ordered; in = in->next)
		if (in->kind->precedes && in->kind->precedes(s, in))
			return true;
	return false;
}

static bool plain_ready(const struct source *s, const struct request *q)
{
	const struct input *const in = s->current;

	return q->got == 0 && in && in->plain && !in->busy && !must_wait(s, in);
}

static void plain_run_unlocks(struct source *s, struct request *q)
{
	struct input *const in = s->current;

	if (in->at < in->plain->end) {
		plain_claim_unlocks(s, in, q);
	} else if (in->at >= in->limit || in->part.sliced) {
		/* Bytes appended to a sliced file belong to no slice. */
		if (in->part.sliced && in->part.ends)
			in->at = lesser(in->bound, bytes_size(in->bytes));
		input_end(s, in);
	} else {
		plain_turn_unlocks(s, in, q);
	}
}

const struct task plain_task = {plain_ready, plain_run_unlocks};

/* ---- its kind ---- */

static void plain_free(struct source *s, struct input *in)
{
	(void)s;
	free(in->plain);
}

static bool plain_idle(const struct source *s, const struct input *in)
{
	(void)s;
	return in->plain->reading == 0;
}

static bool plain_backlog(const struct source *s, const struct input *in)
{
	(void)s;
	return !in->ended && (in->is_file || in->plain->full >= FULL_READS);
}

static struct input_sums plain_sums(const struct source *s, const struct input *in)
{
	const struct plain_input *const plain = in->plain;
	const uint64_t end = lesser(in->at, input_stop(in)), size = bytes_size(in->bytes);
	struct input_sums t = {.left_at = in->at - plain->missing - plain->torn,
			       .missing = plain->missing,
			       .tail = plain->torn};

	if (in->limit == NO_END && in->at >= in->bound && plain->missing == 0)
		t.end = in->is_file ? size : bytes_passed(in->bytes);
	if (t.end > in->at)
		t.left_at = t.end;
	if (end > in->begin)
		t.bytes = end - in->begin - plain->missing;
	if (in->part.sliced)
		t.tail = t.bytes - whole_records(s, t.bytes);
	return t;
}

/* Readers that wait for the failure may hold chunks after it, so these need not return. */
static bool plain_due(const struct source *s, const struct input *in, uint64_t offset)
{
	(void)offset;
	return input_is_done(s, in);
}

const struct input_kind plain_kind = {
	.begin = plain_begin,
	.free = plain_free,
	.idle = plain_idle,
	.backlog = plain_backlog,
	.sums = plain_sums,
	.due = plain_due,
};
