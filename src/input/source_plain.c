/* SPDX-License-Identifier: MIT */
/*
 * source_plain: the task "read": inputs whose bytes are the samples.
 *
 * The whole records that a file holds when it is opened are claimed in parts, which any readers
 * read at the same time. What comes after them, and all of a stream, is read by one reader at a
 * time, who has the input's turn: a file that grew meanwhile, or one whose size is given as 0 (as
 * in /proc), is read as far as it goes. A file ends where a part comes back short: it became
 * shorter, which is an error, or it never held what its size says (as in /sys).
 */
#include <sys/stat.h>

#include "input/source_input.h"

/* The most of a stream for one read: what was read is still in the cache when it is counted. */
#define STREAM_PIECE ((size_t)128 << 10)

/*
 * Did the file have more than `end` bytes when it was opened? Files in /sys hold less than st_size
 * says, then and now. So a file became shorter only if its st_size fell, or if it was changed: one
 * that is written anew, as `cp` does, may have its old size again by now. A device's size is true.
 */
static bool became_shorter(const struct input *in, uint64_t end)
{
	struct stat st;

	if (in->sliced)
		return true;
	if (end >= in->size || end - in->origin >= in->bound)
		return false;
	return !in->is_regular || fstat(in->fd, &st) != 0 || (uint64_t)st.st_size < in->size ||
	       st.st_ctim.tv_sec != in->changed.tv_sec || st.st_ctim.tv_nsec != in->changed.tv_nsec;
}

/* What was claimed from `at` on brought only so much: the file ends there. */
static void came_short(struct source *s, struct input *in, uint64_t at, size_t claimed, size_t got)
{
	in->shorter |= became_shorter(in, in->origin + at + got);
	in->missing += claimed - got;
	in->torn += got % s->spec.record;
	if (!in->ended)
		input_end(s, in);
}

/* ---- parts of a file, side by side ---- */

static void hand_out(struct request *q, size_t bytes)
{
	if (bytes > 0)
		*q->chunk = (struct chunk){.data = q->want->room, .bytes = bytes, .fd = -1};
}

/* With -n the next input waits until this one was given back; its holder would wait for itself. */
static bool lends_ranges(const struct source *s, const struct input *in)
{
	return in->is_regular && (in->limit == NO_END || s->next_path == s->spec.path_count);
}

static void claim_unlocks(struct source *s, struct input *in, struct request *q)
{
	const bool range = q->want->range >= s->spec.record && lends_ranges(s, in);
	const size_t most = range ? q->want->range - q->want->range % s->spec.record : q->cap;
	const size_t n = (size_t)lesser(in->end - in->at, most);
	const uint64_t at = in->at;
	struct fail fail = {.status = STATUS_OK};
	size_t got;

	in->at += n;
	if (range) {
		in->ranges++;
		*q->chunk = (struct chunk){
			.bytes = n, .fd = in->fd, .offset = in->origin + at, .input = in};
		return;
	}
	in->reading++;
	lock_drop(&s->lock);
	const int rc = file_read(in, q->want->room, n, in->origin + at, &got, &fail);
	lock_take(&s->lock);
	in->reading--;
	if (rc != 0)
		source_fail(s, in, at, &fail);
	else if (got < n)
		came_short(s, in, at, n, got);
	hand_out(q, got - got % s->spec.record);
	input_check(s, in);
}

void range_back(struct source *s, const struct chunk *range, size_t counted)
{
	struct input *const in = range->input;

	in->ranges--;
	if (counted < range->bytes)
		came_short(s, in, range->offset - in->origin, range->bytes, counted);
	input_check(s, in);
}

int source_read(const struct chunk *range, size_t at, void *buffer, size_t cap, size_t *got,
		struct fail *fail)
{
	return file_read(range->input, buffer, cap, range->offset + at, got, fail);
}

/* ---- by turns ---- */

/*
 * Fills the room; or, if the source is prompt, reads what is there and waits only for whole
 * records.
 */
static int read_records(struct source *s, struct input *in, uint64_t at, unsigned char *room,
			size_t cap, size_t *got, struct fail *fail)
{
	const size_t record = s->spec.record;
	int rc;

	if (in->is_file)
		return file_read(in, room, cap, in->origin + at, got, fail);
	if (!s->spec.prompt)
		return stream_read(s, in, room, cap, cap, got, fail);
	*got = 0;
	do {
		const size_t rest = record - *got % record, left = cap - *got;
		size_t some;
		rc = stream_read(s, in, room + *got, rest < left ? rest : left, left, &some, fail);
		*got += some;
	} while (rc == 0 && *got % record != 0 && *got < cap && !in->eof);
	return rc;
}

/*
 * Less than a record is left of the samples that the header declares: the tail is read, and what
 * follows them is looked at. Without the lock.
 */
static int finish(struct source *s, struct input *in, uint64_t at, void *room, size_t left,
		  size_t *got, struct fail *fail)
{
	const int rc = read_records(s, in, at, room, left, got, fail);

	in->passed = true;
	return rc == 0 && *got == left ? input_read_rest(s, in, fail) : rc;
}

static void turn_unlocks(struct source *s, struct input *in, struct request *q)
{
	const uint32_t record = s->spec.record;
	const uint64_t at = in->at, left = input_stop(in) - at;
	const size_t piece = STREAM_PIECE < record ? record : STREAM_PIECE;
	const size_t most = in->is_file || q->cap < piece ? q->cap : piece - piece % record;
	const bool finishes = left < record;
	const size_t n = (size_t)lesser(left, most);
	struct fail fail = {.status = STATUS_OK};
	size_t got = 0;

	in->busy = true;
	lock_drop(&s->lock);
	const int rc = finishes ? finish(s, in, at, q->want->room, n, &got, &fail)
				: read_records(s, in, at, q->want->room, n, &got, &fail);
	lock_take(&s->lock);
	in->busy = false;
	if (in->ended) /* meanwhile, by a part that came back short, or by a failure */
		got = 0;
	in->at += got;
	in->torn += got % record;
	/*
	 * To ask a pipe how full it is (FIONREAD) takes its lock and slows the writer by a third.
	 */
	in->full = in->drained ? 0 : in->full + 1;
	if (rc < 0)
		source_fail(s, in, at, &fail);
	const bool ended = in->is_file ? got < n : stream_ended(in) && in->at < input_stop(in);
	if (rc == 0 && in->is_file && ended && !in->ended)
		in->shorter |= became_shorter(in, in->origin + in->at);
	if ((rc != 0 || finishes || ended) && !in->ended)
		input_end(s, in);
	source_call(s);
	hand_out(q, finishes ? 0 : got - got % record);
	input_check(s, in);
}

/* ---- the task ---- */

bool plain_ready(const struct source *s, const struct request *q)
{
	const struct input *const in = s->current;

	return q->got == 0 && in && !in->is_zstd && !in->busy;
}

void plain_run_unlocks(struct source *s, struct request *q)
{
	struct input *const in = s->current;

	if (in->at < in->end) {
		claim_unlocks(s, in, q);
	} else if (in->at >= in->limit || in->sliced) {
		/* What was appended to a file that is cut into slices belongs to none of them. */
		if (in->sliced && in->ends)
			in->at = lesser(in->bound, in->size - in->origin);
		input_end(s, in);
		input_check(s, in);
	} else {
		turn_unlocks(s, in, q);
	}
}
