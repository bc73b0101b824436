/* SPDX-License-Identifier: MIT */
/*
 * source_next: one input after another: the next is opened, the current one is left, its last user
 * closes it.
 */
#include "input/source_input.h"

#include <unistd.h>

#include "base/tally.h"
#include "input/zstd_read.h"

int input_next_unlocks(struct source *s, const struct request *q)
{
	const size_t at = s->next_path++;
	struct input *in = s->described;
	int rc = 0;

	s->opening = true;
	s->described = NULL;
	lock_drop(&s->lock);
	if (!in)
		rc = input_open(s, s->spec.paths[at], &in, q->fail);
	if (rc == 0 && s->first_name)
		rc = input_agrees(s, in, q->fail);
	if (rc == 0 && s->slice)
		rc = part_enter(s, at, in, q->fail);
	if (rc == 0)
		rc = input_begin(s, in, q);
	lock_take(&s->lock);
	s->opening = false;
	if (rc != 0) {
		if (in)
			input_free(in);
		return rc < 0 ? -1 : 0;
	}
	if (!s->first_name) {
		s->first_name = in->name;
		s->said = in->header;
	}
	tally_add(&s->totals.inputs, in->begins); /* one thread at a time: under the lock */
	s->totals.headers += in->begins && in->header.format;
	s->totals.streamed |= !in->is_file;
	s->totals.bytes += in->skipped;
	s->totals.skipped += in->skipped;
	s->current = in;
	source_call_all(s);
	return 0;
}

void source_leave_current(struct source *s)
{
	struct input *in = s->current;

	/*
	 * Before any thread can open standard input a second time. For a slice the offset does not
	 * move, because where it begins depends on where all inputs do.
	 */
	if (!in->owned && in->is_file && !in->sliced)
		(void)lseek(in->fd, (off_t)in->next, SEEK_SET);
	s->current = NULL;
}

int input_check_end(const struct source *s, const struct input *in, struct fail *fail)
{
	if (in->shorter && in->sliced)
		return part_changed(in, fail);
	if ((in->tail == 0 && !in->shorter && !in->cut) || s->spec.ignore_tail)
		return 0;
	if (in->shorter)
		return fail_set(
			fail, STATUS_DATA,
			"%s: became shorter while it was read (--ignore-tail counts what is left)",
			in->name);
	if (in->cut)
		return input_too_short(in, fail);
	return fail_set(
		fail, STATUS_DATA,
		"%s: ends inside a record: %llu of %lu bytes (--ignore-tail leaves them out)",
		in->name, (unsigned long long)in->tail, (unsigned long)s->spec.record);
}

/*
 * After the last user of an input that has ended: has it become shorter, or is there a partial
 * record?
 */
static int end_input(struct source *s, struct input *in, struct fail *fail)
{
	s->totals.tail += in->tail;
	s->totals.bytes += in->tail;
	s->totals.tails += in->tail > 0;
	s->totals.shorter += in->shorter;
	s->totals.cut += in->cut && !in->shorter;
	s->totals.unsized += in->ends && in->unsized && input_holds_samples(in);
	if (in->ends && !in->header.format && in->tail == 0 && !in->shorter &&
	    !input_holds_samples(in) && s->totals.empty++ == 0)
		s->totals.empty_name = in->name;
	return input_check_end(s, in, fail);
}

void input_use(struct source *s, struct input *in)
{
	lock_assert_held(&s->lock);
	in->users++;
	s->users++;
}

int input_leave(struct source *s, struct input *in, int rc, struct fail *fail)
{
	lock_assert_held(&s->lock);
	in->users--;
	s->users--;
	if (in->state == INPUT_ENDED && s->current == in)
		source_leave_current(s);
	if (in->state == INPUT_ENDED && in->users == 0) {
		/*
		 * After a failure not everything was read: what is missing is not a second error.
		 */
		if (rc == 0 && !s->stopped && in->zstd)
			rc = zstd_end(s, in, fail);
		if (rc == 0 && !s->stopped)
			rc = end_input(s, in, fail);
		input_free(in);
		source_call_all(s);
	}
	return rc;
}
