/* SPDX-License-Identifier: MIT */
/*
 * source_ends: how inputs and the source end. A failure ends the source once all work before it is
 * done. When all of an input was handed out and returned, the input is checked and added up.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "base/signals.h"
#include "base/tally.h"
#include "source/source_state.h"

/* ---- failures, and other ends ---- */

bool source_more_inputs(const struct source *s)
{
	return s->next.path < s->spec.path_count && s->left > 0 &&
	       s->failure.fail.status == STATUS_OK && (s->next.path == 0 || !signals_finished());
}

void input_end(struct source *s, struct input *in)
{
	in->ended = true;
	if (s->current == in)
		s->current = NULL;
}

/* Is a failure known that comes before this offset of an input, or at it? */
static bool failed_before(const struct source *s, const struct input *in, uint64_t offset)
{
	return s->failure.fail.status != STATUS_OK &&
	       (in->index > s->failure.index ||
		(in->index == s->failure.index && offset >= s->failure.offset));
}

bool source_is_behind_failure(const struct source *s, const struct input *in, uint64_t offset)
{
	return s->failure.fail.status != STATUS_OK &&
	       (in->index > s->failure.index ||
		(in->index == s->failure.index && offset > s->failure.offset));
}

void source_fail(struct source *s, const struct input *in, uint64_t offset, const struct fail *f)
{
	lock_assert_held(&s->lock);
	if (s->stopped || failed_before(s, in, offset))
		return;
	s->failure.fail = *f;
	s->failure.index = in->index;
	s->failure.offset = offset;
	for (struct input *each = s->inputs; each; each = each->next)
		if (!each->ended)
			input_end(s, each);
}

void source_stop(struct source *s)
{
	lock_take(&s->lock);
	s->stopped = true;
	(void)!write(s->wait.pipe[1], "", 1);
	source_call_all(s);
	lock_drop(&s->lock);
}

/* ---- inputs that are done ---- */

static int refuse_tail(const char *name, uint64_t tail, uint64_t record, struct fail *fail)
{
	return fail_set(
		fail, STATUS_DATA,
		"%s ends inside a record, after %llu of %llu bytes (--ignore-tail leaves them out)",
		name, (unsigned long long)tail, (unsigned long long)record);
}

int source_check_record(const struct source *s, uint32_t record, struct fail *fail)
{
	const struct source_spec *const spec = &s->spec;
	const uint64_t tail = tally_read(&s->length) % record;

	if (tail == 0 || spec->path_count != 1 || !source_all_plain(s) || s->first.said.format ||
	    spec->parts > 0 || spec->ignore_tail || spec->tee)
		return 0;
	return refuse_tail(path_shown(spec->paths[0]), tail, record, fail);
}

int input_check_end(const struct source *s, const struct input *in, uint64_t tail, bool truncated,
		    struct fail *fail)
{
	if (s->spec.ignore_tail || bytes_finished(in->bytes) ||
	    (tail == 0 && !in->shorter && !truncated))
		return 0;
	if (in->shorter)
		return fail_set(
			fail, STATUS_DATA,
			"%s became shorter while it was read (--ignore-tail counts what is left)",
			in->name);
	if (truncated)
		return fail_set(fail, STATUS_DATA,
				"%s holds less than the %llu bytes of samples that its %s header "
				"announces (--ignore-tail counts what it holds)",
				in->name, (unsigned long long)in->content.header.bytes,
				in->content.header.format);
	/* The default type is a guess. */
	if (!s->spec.type_said && !s->spec.raw && !in->content.header.format &&
	    !s->first.said.format)
		return fail_set(
			fail, STATUS_DATA,
			"%s ends inside a sample of %s, the default, after %llu of %llu "
			"bytes; -t u8 counts bytes (and --ignore-tail leaves these out)",
			in->name, s->use.type.name, (unsigned long long)tail,
			(unsigned long long)layout_records_bytes(1, s->use.record, s->use.packed));
	return refuse_tail(in->name, tail, layout_records_bytes(1, s->use.record, s->use.packed),
			   fail);
}

int input_too_skipped(const struct source *s, const struct input *in, struct fail *fail)
{
	/* Only a SigMF header may be longer than the file. */
	return fail_set(fail, STATUS_DATA, "%s ends before the end of the %llu bytes to skip",
			in->name, s->spec.skip > 0 ? (ull)s->spec.skip : (ull)in->begin);
}

int input_changed(const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA,
			"%s has changed since its records were counted, or holds less than its "
			"size says, so its slices would not fit together",
			in->name);
}

static int check_all(const struct source *s, struct input *in, uint64_t tail, bool truncated,
		     struct fail *fail)
{
	if (in->part.sliced && (in->shorter || in->at < in->part.end))
		return input_changed(in, fail);
	if (in->at < in->begin && !bytes_finished(in->bytes) && !in->shorter)
		return input_too_skipped(s, in, fail);
	return input_check_end(s, in, tail, truncated, fail);
}

/* Add up the bytes after the samples, unless -n or another slice ended before them. */
static void add_behind(struct source_totals *t, const struct input *in, uint64_t end)
{
	const uint64_t due = larger(in->bound, in->content.header.end);

	if (in->limit != NO_END || in->bound == NO_END || end < in->bound)
		return;
	t->behind_bytes += end > due ? end - due : 0;
	if (end > due && t->behind.count++ == 0)
		t->behind.name = in->name;
	if (end < due && in->content.header.within && t->lacking.count++ == 0)
		t->lacking.name = in->name;
}

static void add_up(struct source *s, struct input *in)
{
	struct source_totals *const t = &s->totals;
	const struct input_sums sums = in->kind->sums(s, in);
	const uint64_t begin = in->content.header.begin;
	const bool truncated = in->bound != NO_END && in->at - sums.missing < input_stop(in);
	const uint64_t end = in->part.sliced ? bytes_size(in->bytes) : in->at;
	const bool holds = s->spec.text.on ? sums.bytes > 0 : end > begin;
	uint64_t skipped = lesser(in->at, in->begin);
	struct fail fail = {.status = STATUS_OK};

	skipped = in->part.sliced   ? (in->part.begins ? s->spec.skip : 0)
		  : skipped > begin ? skipped - begin
				    : 0;
	t->bytes += skipped + sums.bytes;
	t->skipped += skipped;
	t->tail += sums.tail;
	t->tails += sums.tail > 0;
	t->shorter += in->shorter;
	t->finished |= bytes_finished(in->bytes);
	t->truncated += truncated && !in->shorter;
	t->unsized += in->part.ends && in->content.unsized && holds;
	t->zstd.packed += sums.packed;
	if (in->part.begins && in->content.text && holds && t->texts.count++ == 0)
		t->texts.name = in->name;
	if (in->part.ends && !in->content.header.format && sums.tail == 0 && !in->shorter &&
	    !holds && t->empty.count++ == 0)
		t->empty.name = in->name;
	const uint64_t records =
		layout_records(sums.bytes - sums.tail, s->use.record, s->use.packed);
	t->slice.all += in->part.records;
	t->padding += -(records * (8 * s->use.record / s->use.packed)) % 8;
	if (s->left != NO_LIMIT)
		s->left -= lesser(records, s->left);
	if (check_all(s, in, sums.tail, truncated, &fail) != 0)
		source_fail(s, in, OFFSET_MOST, &fail);
	if (!in->shorter)
		add_behind(t, in, sums.end);
}

bool input_is_done(const struct source *s, const struct input *in)
{
	return in->ended && !in->busy && in->kind->idle(s, in);
}

/*
 * Is all work before the failure done, so that nothing can fail earlier? With --each, readers also
 * wait for the chunks of earlier records: the ends of earlier inputs are checked when these return,
 * and their rows are written.
 */
static bool failure_is_due(const struct source *s)
{
	const struct failure *const f = &s->failure;
	const struct input *in = s->inputs;

	if (f->fail.status == STATUS_OK)
		return false;
	for (; in && in->index < f->index; in = in->next)
		if (!input_is_done(s, in) || (s->spec.ordered && in->lent > 0))
			return false;
	if (!in || in->index > f->index)
		return true;
	return in->kind->due(s, in, f->offset);
}

void input_free(struct source *s, struct input *in)
{
	if (in->kind)
		in->kind->free(s, in);
	bytes_close(in->bytes);
	free(in);
}

void input_close(struct source *s, struct input *in)
{
	/* A slice depends on the offsets of all inputs, so it moves none; --tee reads all. */
	if (!in->part.sliced && !s->spec.tee)
		bytes_leave(in->bytes, in->kind->sums(s, in).left_at);
	input_free(s, in);
}

/* Add up and free an input that was handed out; false: its chunks have yet to return. */
static bool settle_input(struct source *s, struct input **link)
{
	struct input *const in = *link;

	if (in->lent > 0)
		return false;
	if (!s->stopped && !failed_before(s, in, OFFSET_MOST))
		add_up(s, in);
	*link = in->next;
	input_close(s, in);
	return true;
}

/* Call source_use.ended for the inputs before the first that is live, failed or not yet open. */
static void report_ended_unlocks(struct source *s)
{
	size_t ended = s->inputs ? s->inputs->index : s->next.path;

	if (s->failure.fail.status != STATUS_OK && s->failure.index < ended)
		ended = s->failure.index;
	if (!s->use.ended || ended <= s->reported.inputs)
		return;
	s->reported.inputs = ended;
	s->reported.callers++;
	source_unlocks(s);
	s->use.ended(s->use.arg, ended);
	lock_take(&s->lock);
	s->reported.callers--;
}

void source_settle_unlocks(struct source *s)
{
	for (struct input **link = &s->inputs, *in; (in = *link) != NULL;) {
		if (in->kind->settle)
			in->kind->settle(s, in);
		if (!input_is_done(s, in) || !settle_input(s, link))
			link = &in->next;
	}
	report_ended_unlocks(s);
	if (s->failure.due || s->reported.callers > 0 || !failure_is_due(s))
		return;
	s->failure.due = true;
	(void)!write(s->wait.pipe[1], "", 1);
	source_call_all(s);
}

/* ---- the end of all ---- */

bool source_is_over(const struct source *s)
{
	if (s->failure.fail.status != STATUS_OK)
		return s->failure.due;
	for (const struct input *in = s->inputs; in; in = in->next)
		if (!input_is_done(s, in))
			return false;
	return !s->next.opening && !source_more_inputs(s);
}

bool source_exhausted(const struct source *s)
{
	return !s->inputs && source_is_over(s) && s->failure.fail.status == STATUS_OK;
}

int source_failure(const struct source *s, struct fail *fail)
{
	return s->failure.fail.status == STATUS_OK ? 0 : fail_pass(fail, &s->failure.fail);
}
