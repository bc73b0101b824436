/* SPDX-License-Identifier: MIT */
/*
 * source: runs the tasks of readers; handles waiting, failures and the ends of inputs.
 *
 * A reader that needs a chunk runs the first ready task of the table TASKS, again and again, until
 * it has a chunk. `ready` only looks; `run_unlocks` drops the lock while it works.
 *
 * WHY EVERY WAIT ENDS. Readers wait for each other in one place, await_unlocks, and only if no task
 * is ready. Consider the first unfinished input, its first job, and the first piece or block of
 * that job. All earlier work is done, so its place is known and its memory is free. Hence a reader
 * works on it, or one of its tasks is ready (zstd_blocks.c, zstd_device.c, zstd_seam.c). A reader
 * that waits here has returned its chunk; only a failure waits for chunks of readers that may wait
 * elsewhere, and under --each these come from before it, so they are counted and returned. A cut
 * that needs more memory blocks no thread; it stays recorded until jobs end. With -n and --tee, an
 * input is not opened before the inputs ahead of it are done. A thread that reads a stream also
 * polls the wake-up pipe. A thread that makes a task ready wakes a sleeping reader or runs the task
 * next itself; the thread that sees the end wakes all readers. So no reader leaves with a chunk
 * while a task is ready and all others sleep: nothing would hang, but cores would be idle. The
 * scheduler of the tests checks it.
 */
#include "input/source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/signals.h"
#include "base/tally.h"
#include "input/first.h"
#include "input/source_state.h"
#include "input/tee.h"

/* ---- opening ---- */

/* Sets the number of a stream's bytes that may be kept, if decoders may take `memory` bytes. */
static void set_kept(struct source *s, uint64_t memory)
{
	s->shared.kept = lesser(memory / 4, FIND_MAX) + 2 * PACKED_BYTES;
}

static int no_tensor(const struct source *s, const char *near, struct fail *fail)
{
	const bool several = s->spec.path_count > 1;

	return fail_set(fail, STATUS_DATA, "%s has %stensor %s%s%s%s",
			several ? "none of the inputs" : path_shown(s->spec.paths[0]),
			several ? "" : "no ", s->spec.tensor,
			*near ? "; did you mean "
			      : " (gpuhist lists the first ones if --tensor is left out)",
			near, *near ? "?" : "");
}

/*
 * If neither -t, nor the first input's header or name gives the type, the header of a later file
 * does, whose name promises one. Its samples are read later.
 */
static int look_further(struct source *s, struct fail *fail)
{
	char suffix[FIRST_SUFFIX];
	struct sample_type type;
	struct input *in = NULL;
	struct stat st;
	bool pair;
	int rc = 0;

	if (s->spec.typed || s->spec.tee || first_named(&type, &pair, s->spec.paths[0], suffix))
		return 0;
	for (size_t i = 1; i < s->spec.path_count && rc == 0 && !s->first.said.format; i++) {
		const char *const path = s->spec.paths[i];
		if (!input_promises_header(path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		rc = input_open(s, i, &in, fail);
		if (rc == 0 && in->content.header.format) {
			s->first.name = in->name;
			s->first.said = in->content.header;
			s->first.said.input = in->name;
		}
		if (in)
			input_free(s, in);
	}
	return rc == 0 ? 0 : -1;
}

/*
 * Opens the first input and reads its header; with --tensor, the first input that has the tensor,
 * passing over the inputs before it.
 */
static int describe(struct source *s, struct fail *fail)
{
	char near[TENSOR_NEAR] = "";
	struct input *in = NULL;
	int rc = 0;

	if (s->spec.raw || s->spec.path_count == 0)
		return 0;
	for (; rc == 0 && s->next.path < s->spec.path_count && !s->first.input; s->next.path++) {
		rc = input_open(s, s->next.path, &in, fail);
		if (rc == 0 && in->content.absent) {
			if (in->content.near[0])
				memcpy(near, in->content.near, sizeof(near));
			rc = bytes_pass(in->bytes, NO_END, fail);
		} else if (rc == 0) {
			s->first.input = in;
			break;
		}
		if (in)
			input_free(s, in);
	}
	if (rc != 0)
		return -1;
	if (!s->first.input)
		return no_tensor(s, near, fail);
	s->first.name = s->totals.first = in->name;
	s->first.said = in->content.header;
	s->first.said.input = in->name;
	return in->content.header.format ? 0 : look_further(s, fail);
}

int source_open(struct source **out, const struct source_spec *spec, struct fail *fail)
{
	uint64_t length;

	*out = NULL;
	if (input_check_all(spec, &length, fail) != 0)
		return -1;
	struct source *s = calloc(1, sizeof(*s));
	if (!s)
		return fail_errno(fail, "inputs");
	s->spec = *spec;
	s->length = length;
	set_kept(s, spec->memory);
	if (pipe(s->wait.pipe) != 0) {
		free(s);
		return fail_errno(fail, "pipe");
	}
	s->shared.wake = s->wait.pipe[0];
	s->shared.finish = signals_finish_fd;
	s->shared.tee = spec->tee;
	lock_init(&s->lock, LOCK_SOURCE);
	pthread_cond_init(&s->wait.wake, NULL);
	if (describe(s, fail) != 0) {
		source_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

const struct header *source_said(const struct source *s)
{
	return &s->first.said;
}

int source_start(struct source *s, const struct source_use *use, struct fail *fail)
{
	if (use->record == 0 || use->record > SOURCE_RECORD_MAX)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: records of %lu bytes; please report this",
				(unsigned long)use->record);
	s->use = *use;
	s->use.packed += use->packed == 0;
	if (use->decoders == 0 || use->decoders > use->threads)
		s->use.decoders = use->threads;
	s->budget.memory = use->memory;
	set_kept(s, use->memory);
	/* With slices, -n limits the records that are sliced, not those that this run reads. */
	s->left = s->spec.parts > 0 && use->limit > 0 ? UINT64_MAX : use->limit;
	if (s->spec.parts > 0)
		return part_measure(s, fail);
	return s->first.input ? input_agrees(s, s->first.input, fail) : 0;
}

struct reader *source_reader(struct source *s)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->source = s;
	lock_take(&s->lock);
	r->next = s->readers.first;
	/* source_counted walks the list without the lock */
	__atomic_store_n(&s->readers.first, r, __ATOMIC_RELEASE);
	lock_drop(&s->lock);
	return r;
}

/* ---- waiting ---- */

void source_call(struct source *s)
{
	lock_assert_held(&s->lock);
	if (s->wait.sleepers > 0)
		pthread_cond_signal(&s->wait.wake);
}

void source_call_all(struct source *s)
{
	pthread_cond_broadcast(&s->wait.wake);
}

/* Waits, as no task is ready: other threads hold all work, and will wake this one. */
static void await_unlocks(struct source *s)
{
	if (device_wait_unlocks(s))
		return;
	cut_waits(s);
	s->wait.sleepers++;
	lock_wait(&s->lock, &s->wait.wake);
	s->wait.sleepers--;
}

/* ---- failures, and other ends ---- */

/* --finish opens no stream after the first. */
static bool more_inputs(const struct source *s)
{
	return s->next.path < s->spec.path_count && s->left > 0 &&
	       s->failure.fail.status == STATUS_OK && (s->next.path == 0 || !signals_finished());
}

/* Wakes a reader to open the next input; if there is none, wakes all to see that. */
static void call_for_next(struct source *s)
{
	if (more_inputs(s))
		source_call(s);
	else
		source_call_all(s);
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

int input_check_end(const struct source *s, const struct input *in, uint64_t tail, bool cut,
		    struct fail *fail)
{
	if (s->spec.ignore_tail || bytes_finished(in->bytes) || (tail == 0 && !in->shorter && !cut))
		return 0;
	if (in->shorter)
		return fail_set(
			fail, STATUS_DATA,
			"%s became shorter while it was read (--ignore-tail counts what is left)",
			in->name);
	if (cut)
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
	return fail_set(
		fail, STATUS_DATA,
		"%s ends inside a record, after %llu of %llu bytes (--ignore-tail leaves them out)",
		in->name, (unsigned long long)tail,
		(unsigned long long)layout_records_bytes(1, s->use.record, s->use.packed));
}

static int check_all(const struct source *s, struct input *in, uint64_t tail, bool cut,
		     struct fail *fail)
{
	if (in->part.sliced && (in->shorter || in->at < in->first + in->part.to - in->part.from))
		return part_changed(in, fail);
	if (in->at < in->first && !bytes_finished(in->bytes) && !in->shorter)
		return input_too_skipped(s, in, fail);
	/* If -n or the file ended first, the bytes after the samples are not checked. */
	if (!in->shorter && in->limit > in->bound && in->kind->check_rest(in, fail) != 0)
		return -1;
	return input_check_end(s, in, tail, cut, fail);
}

static void add_up(struct source *s, struct input *in)
{
	struct source_totals *const t = &s->totals;
	const struct taken taken = in->kind->taken(s, in);
	const uint64_t begin = in->content.header.begin;
	const bool cut = in->bound != NO_END && in->at - taken.missing < input_stop(in);
	const bool holds = in->at > begin;
	uint64_t skipped = lesser(in->at, in->first);
	struct fail fail = {.status = STATUS_OK};

	skipped = in->part.sliced   ? (in->part.begins ? s->spec.skip : 0)
		  : skipped > begin ? skipped - begin
				    : 0;
	t->bytes += skipped + taken.bytes;
	t->skipped += skipped;
	t->tail += taken.tail;
	t->tails += taken.tail > 0;
	t->shorter += in->shorter;
	t->finished |= bytes_finished(in->bytes);
	t->cut += cut && !in->shorter;
	t->unsized += in->part.ends && in->content.unsized && holds;
	t->zstd.packed += taken.packed;
	if (in->part.begins && in->content.text && holds && t->texts.count++ == 0)
		t->texts.name = in->name;
	if (in->part.ends && !in->content.header.format && taken.tail == 0 && !in->shorter &&
	    !holds && t->empty.count++ == 0)
		t->empty.name = in->name;
	const uint64_t records =
		layout_records(taken.bytes - taken.tail, s->use.record, s->use.packed);
	t->padding += -(records * (8 * s->use.record / s->use.packed)) % 8;
	if (s->left != UINT64_MAX)
		s->left -= lesser(records, s->left);
	if (check_all(s, in, taken.tail, cut, &fail) != 0)
		source_fail(s, in, UNKNOWN - 1, &fail);
	if (in->content.shorter && !in->shorter && t->lacking.count++ == 0)
		t->lacking.name = in->name;
}

/* Has all of the input been handed out? Callers may still hold chunks of it. */
static bool nothing_left(const struct source *s, const struct input *in)
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
		if (!nothing_left(s, in) || (s->spec.ordered && in->lent > 0))
			return false;
	if (!in || in->index > f->index)
		return true;
	/* Parts of the file that lie behind the failure may be lent to readers that wait for it. */
	if (s->spec.ordered &&
	    ((in->lent > 0 && !in->plain) || (in->zstd && jobs_made_at(in->zstd, f->offset))))
		return false;
	return nothing_left(s, in) || (in->zstd && !jobs_before(in->zstd, f->offset));
}

/* Closes an input. Leaves a redirected file after its last record, for the next program. */
static void close_input(struct source *s, struct input *in)
{
	/* A slice depends on the offsets of all inputs, so it moves none; --tee reads all. */
	if (!in->part.sliced && !s->spec.tee)
		bytes_leave(in->bytes, in->kind->taken(s, in).left_at);
	input_free(s, in);
}

/* Adds up and frees an input that was handed out; false: its chunks have yet to return. */
static bool settle_input(struct source *s, struct input **link)
{
	struct input *const in = *link;

	/*
	 * The next input may have waited for this one (-n), or a cut for its memory (zstd). If no
	 * input follows, readers must see the end, as they do not wait for other workers' chunks.
	 */
	if (!in->spent && (in->zstd || in->text || s->left != UINT64_MAX || !more_inputs(s)))
		call_for_next(s);
	in->spent = true;
	if (in->lent > 0)
		return false;
	if (!s->stopped && !failed_before(s, in, UNKNOWN - 1))
		add_up(s, in);
	*link = in->next;
	close_input(s, in);
	if (s->left != UINT64_MAX && !s->inputs)
		call_for_next(s);
	return true;
}

/* Calls source_use.ended for the inputs before the first that is live, failed or not yet open. */
static void tell_ended_unlocks(struct source *s)
{
	size_t ended = s->inputs ? s->inputs->index : s->next.path;

	if (s->failure.fail.status != STATUS_OK && s->failure.index < ended)
		ended = s->failure.index;
	if (!s->use.ended || ended <= s->told.inputs)
		return;
	s->told.inputs = ended;
	s->told.tellers++;
	lock_drop(&s->lock);
	s->use.ended(s->use.arg, ended);
	lock_take(&s->lock);
	s->told.tellers--;
}

/*
 * Frees jobs and inputs that are done, and ends the run when its failure is due; rows of earlier
 * inputs are written by then. Only this function, called between tasks, frees jobs and live inputs,
 * so tasks may keep pointers to them.
 */
static void settle_unlocks(struct source *s)
{
	for (struct input **link = &s->inputs, *in; (in = *link) != NULL;) {
		if (in->zstd)
			jobs_settle(s, in);
		if (!nothing_left(s, in) || !settle_input(s, link))
			link = &in->next;
	}
	tell_ended_unlocks(s);
	if (s->failure.due || s->told.tellers > 0 || !failure_is_due(s))
		return;
	s->failure.due = true;
	(void)!write(s->wait.pipe[1], "", 1);
	source_call_all(s);
}

/* ---- tasks ---- */

/*
 * With -n, an input's limit is known once all chunks of earlier inputs have returned. --tee copies
 * inputs one after another, so the earlier ones must be copied to their ends.
 */
static bool open_ready(const struct source *s, const struct request *q)
{
	return q->got == 0 && !s->current && !s->next.opening && more_inputs(s) &&
	       (s->left == UINT64_MAX || !s->inputs) &&
	       (!s->spec.tee || s->spec.tee->passed >= s->next.path);
}

/* No lock. */
static int open_next(struct source *s, size_t path, struct input **in, struct fail *fail)
{
	int rc = 0;

	if (!*in)
		rc = input_open(s, path, in, fail);
	if (rc == 0)
		rc = input_agrees(s, *in, fail);
	if (rc == 0 && s->slice)
		rc = part_enter(s, *in, fail);
	if (rc == 0)
		rc = input_begin(s, *in, s->left, fail);
	return rc;
}

/* Appends an input to the list and makes it the current one. */
static void append(struct source *s, struct input *in)
{
	struct input **link = &s->inputs;
	const bool begins = in->part.begins && !in->content.absent;

	while (*link)
		link = &(*link)->next;
	*link = in;
	s->current = in;
	tally_add(&s->totals.inputs, begins); /* one thread at a time: under the lock */
	s->totals.headers += begins && in->content.header.format;
	s->totals.streamed |= !in->is_file;
}

static void open_run_unlocks(struct source *s, struct request *q)
{
	struct input *in = s->first.input;
	struct fail fail = {.status = STATUS_OK};

	(void)q;
	s->first.input = NULL;
	s->next.opening = true;
	lock_drop(&s->lock);
	const size_t path = s->next.path;
	const int rc = open_next(s, path, &in, &fail);
	lock_take(&s->lock);
	s->next.opening = false;
	s->next.path++;
	if (rc < 0)
		source_fail(s, in ? in : &(struct input){.index = path}, 0, &fail);
	if (rc == 0 && s->failure.fail.status == STATUS_OK)
		append(s, in);
	else if (in)
		input_free(s, in);
	if (!more_inputs(s)) /* else this reader continues with the next */
		source_call_all(s);
}

static const struct task open_task = {open_ready, open_run_unlocks};

/*
 * The most urgent tasks first: tasks that free memory before new work, and the device, which is
 * served quickly, before tasks that take long.
 */
static const struct task *const TASKS[] = {
	&execute_task, &device_task, &feed_task,  &decode_task, &piece_task, &short_task,
	&unpack_task,  &text_task,   &plain_task, &cut_task,    &open_task,
};

static const struct task *ready_task(const struct source *s, const struct request *q)
{
	for (size_t i = 0; i < sizeof(TASKS) / sizeof(TASKS[0]); i++)
		if (TASKS[i]->ready(s, q))
			return TASKS[i];
	return NULL;
}

/* ---- interface of workers ---- */

/* Under the scheduler of the tests: is there work for a reader? */
static bool has_work(const struct source *s)
{
	struct reader other = {.takes = true};

	return LOCKS_SCHEDULED && ready_task(s, &(struct request){.reader = &other});
}

static bool answered(const struct request *q)
{
	return q->chunk->bytes > 0 || q->chunk->next > 0 || q->got == q->cap;
}

static bool is_over(const struct source *s)
{
	if (s->failure.fail.status != STATUS_OK)
		return s->failure.due;
	for (const struct input *in = s->inputs; in; in = in->next)
		if (!nothing_left(s, in))
			return false;
	return !s->next.opening && !more_inputs(s);
}

static void call_for_more_unlocks(struct source *s)
{
	s->wanted = false;
	if (!s->use.more)
		return;
	lock_drop(&s->lock);
	s->use.more(s->use.arg);
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
		settle_unlocks(s);
		if (s->stopped || s->failure.due || answered(&q))
			break;
		const struct task *const task = ready_task(s, &q);
		if (task) {
			task->run_unlocks(s, &q);
			if (s->wanted)
				call_for_more_unlocks(s);
			continue;
		}
		if (q.got > 0)
			break;
		if (is_over(s)) {
			source_call_all(s); /* perhaps no other reader was woken */
			break;
		}
		await_unlocks(s);
	}
	if (q.got > 0)
		*chunk = (struct chunk){.data = want->room, .bytes = q.got};
	if (chunk->bytes == 0 && s->failure.fail.status != STATUS_OK)
		rc = fail_pass(fail, &s->failure.fail);
	s->wait.inside--;
	lock_assert_woken(&s->wait.wake, s->wait.inside, has_work(s));
	lock_drop(&s->lock);
	return rc;
}

void source_done(struct reader *r, struct chunk *chunk)
{
	struct source *s = r->source;

	tally_add(&r->counted, chunk->bytes);
	if (chunk->piece || chunk->input) {
		lock_take(&s->lock);
		s->wait.inside++;
		const bool had = has_work(s);
		if (chunk->piece)
			piece_back_unlocks(s, chunk);
		else
			chunk->input->lent--;
		settle_unlocks(s);
		s->wait.inside--;
		/* Unless a reader is inside and looks for work, a sleeper is woken for new work. */
		lock_assert_woken(&s->wait.wake, s->wait.inside, !had && has_work(s));
		lock_drop(&s->lock);
	}
	*chunk = (struct chunk){.bytes = 0};
}

/* ---- questions of other threads ---- */

uint64_t source_counted(const struct source *s)
{
	uint64_t bytes = 0;

	for (const struct reader *r = __atomic_load_n(&s->readers.first, __ATOMIC_ACQUIRE); r;
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

uint64_t source_state(const struct source *s)
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

bool source_all_plain(const struct source *s)
{
	return s->spec.raw || s->spec.parts > 0 ||
	       (s->spec.path_count == 1 && s->first.input && !s->first.input->content.is_zstd);
}

/* Is the job a long frame? */
static bool is_long(const struct zstd_job *j)
{
	return j->cut.how != HOW_CALLS || j->cut.room > WHOLE_MAX;
}

bool source_unpacks(struct source *s)
{
	lock_take(&s->lock);
	const struct input *const first = s->next.path == 0 ? s->first.input : NULL;
	bool unpacks = first && first->is_file && first->content.is_zstd;
	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j))
		unpacks |= j->cut.from == FROM_FILE && is_long(j);
	lock_drop(&s->lock);
	return unpacks;
}

/* Estimates the decoded bytes of the job's input; 0: unknown. */
static uint64_t expected(const struct zstd_job *j)
{
	const double packed = (double)j->cut.offset, size = (double)bytes_size(j->in->bytes);

	if (j->cut.content == UNKNOWN || j->at == UNKNOWN)
		return 0;
	if (j->cut.how == HOW_BLOCKS)
		return offset_sum(j->at, j->cut.content);
	if (!is_long(j) || packed == 0 || !j->in->is_file)
		return 0;
	const double all = (double)j->at / packed * size; /* headers may announce nearly 2^64 */
	return all < 0x1p63 ? (uint64_t)all : 0;
}

uint64_t source_expected(struct source *s)
{
	uint64_t bytes = 0;

	lock_take(&s->lock);
	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j)) {
		const uint64_t all = lesser(expected(j), j->in->limit);
		/* Whether to use a device for a long frame was decided when the frame was cut. */
		if (j->cut.how == HOW_BLOCKS && j->cut.from == FROM_FILE)
			bytes = source_counted(s);
		else if (all > 0)
			bytes = source_counted(s) + (all > j->at ? all - j->at : 0) +
				all * (s->spec.path_count - j->in->index - 1);
	}
	lock_drop(&s->lock);
	return bytes;
}

bool source_backlog(struct source *s)
{
	lock_take(&s->lock);
	const struct input *in = s->current ? s->current : s->inputs;
	if (in && !s->current && !in->text)
		in = NULL;
	const bool more = in ? in->kind->backlog(s, in) : jobs_backlog(s);
	const bool backlog = more && !s->stopped;
	lock_drop(&s->lock);
	return backlog;
}

bool source_finished(const struct source *s)
{
	return !s->inputs && is_over(s) && s->failure.fail.status == STATUS_OK;
}

int source_failure(const struct source *s, struct fail *fail)
{
	return s->failure.fail.status == STATUS_OK ? 0 : fail_pass(fail, &s->failure.fail);
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

void source_close(struct source *s)
{
	if (!s)
		return;
	for (struct reader *r; (r = s->readers.first) != NULL;) {
		s->readers.first = r->next;
		free(r);
	}
	for (struct input *in; (in = s->inputs) != NULL;) { /* after source_stop or a failure */
		s->inputs = in->next;
		close_input(s, in);
	}
	if (s->first.input)
		input_free(s, s->first.input);
	jobs_free(s);
	text_free_blocks(s);
	free(s->zstd.rooms);
	assert(s->budget.held == 0 && s->budget.kept == 0);
	close(s->wait.pipe[0]);
	close(s->wait.pipe[1]);
	pthread_cond_destroy(&s->wait.wake);
	lock_destroy(&s->lock);
	free(s->slice);
	free(s);
}
