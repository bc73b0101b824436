/* SPDX-License-Identifier: MIT */
/*
 * source_text: the task that reads text, whatever its input is.
 *
 * PIECES. A reader takes a "piece" of an input into its own buffer and makes samples of its lines,
 * a chunk at each call of source_take. There are three ways to get one. Readers read the ranges of
 * a file in parallel. The reader that has the turn reads the next bytes of a stream, or of a file
 * that has grown. If the input is zstd, a reader copies the next bytes of a decoded piece
 * (zstd_seam.c), so that no decoder waits while lines are read. text_list.h puts together the lines
 * that span pieces. The reader whose piece completes such a line reads it, too; if the end of a job
 * or of the input completes it, any reader does.
 *
 * IN ORDER. With -n, --each, or several samples in a record, the number of a sample matters, so the
 * lines of one piece are read at a time; and so are all inputs until a line has decided on the
 * table. Meanwhile the input owns the work, and the reader that continues it has `turn`. Jobs
 * decode ahead.
 *
 * BAD LINES. The sums of lines become known in order, so the first bad line is reported, with its
 * number. If the frame of a bad line fails, even later, the line may be garbage, and the frame is
 * reported instead. Therefore a bad line waits for its frame's end; but not in a stream that is
 * counted while it comes (source_spec.prompt), because that may be endless.
 *
 * MEMORY. A line that spans pieces is kept until both its ends have come. Long ones count against
 * the decoders' memory. When that is full, only the first unfinished input is read on, and only
 * where all before was read; so memory for one line is always available.
 *
 * WHY EVERY WAIT ENDS. A reader waits only for a stream, in bytes.c, with the turn to read, and no
 * lock. It sleeps in source.c only without lines of its own: with some, this task is ready.
 * Consider the first unfinished input, and the first node of its list. A piece belongs to a reader
 * at work. A complete border belongs to one, too, or it is due, and any reader may take it. An
 * incomplete border is followed by a piece or by a gap. A reader may take the gap's next piece
 * however full the memory is: the piece belongs to the first job, which keeps decoding
 * (source.c), or to the rest of the input.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "input/source_text.h"
#include "frames/zstd_job.h"
#include "text/text_list.h"
#include "zstd/zstd_reader.h"

#ifdef TEXT_PIECE_FROM /* the tests' build */
#define TEXT_PIECE_BYTES ((size_t)strtoul(getenv(TEXT_PIECE_FROM), NULL, 10))
#else
#define TEXT_PIECE_BYTES ((size_t)256 << 10) /* it stays in a core's cache while it is read */
#endif
#define PIECE_LEAST ((size_t)4 << 10)
#define FULL_READS 2u /* reads of a stream without a wait before one more reader finds work */

/* Lines to read: of a piece, and of the borders that it has completed. */
struct text_work {
	struct input *in;
	struct text_node *node[TEXT_READY]; /* in order */
	unsigned n, i;                      /* their number; the current one */
	bool set;                           /* `lines` are the current one's */
	bool decided;                       /* whether the input's table is decided */
	bool no_memory;
	struct text_lines lines;
	size_t added; /* bytes appended to end the text's last line */
	struct text_ends ends;
	uint64_t base;      /* offset of the piece among the text's bytes */
	size_t bytes;       /* of the piece */
	uint64_t at;        /* IN ORDER: offset after the last line that was read */
	uint64_t packed_at; /* zstd: packed offset after the piece's job, or UNKNOWN */
	unsigned char *buffer;
	size_t capacity;
};

struct text_input {
	struct text_table table;
	struct text_list list;
	struct text_sum sum;   /* of all lines before the list */
	bool decided;          /* a line has decided on the table */
	bool in_order;         /* lines are read IN ORDER even after that */
	bool turn;             /* IN ORDER: a reader takes a piece or makes samples */
	struct text_work *own; /* IN ORDER: the input's work */
	bool stopped;          /* take no further lines: -n has ended, or a reader failed */
	bool enough;           /* -n has ended */
	unsigned works;        /* works that have lines or are getting some */
	uint64_t at;           /* offset of the next byte to read */
	uint64_t size;         /* size of a file when it was opened */
	size_t piece_bytes;    /* of a whole piece */
	unsigned full;         /* reads of a stream in a row that did not have to wait */
	uint64_t held;         /* memory of the list that the budget knows of */
	unsigned char *part;   /* IN ORDER: the samples of an incomplete record */
	size_t parted;         /* bytes in `part` */
	uint64_t made, limit;  /* bytes of samples, and where -n ends */
	uint64_t left_at;      /* IN ORDER: where to leave a redirected file */
};

/* ---- ends; with the lock ---- */

static void text_fail(struct source *s, struct input *in, uint64_t offset, const struct fail *fail)
{
	source_fail(s, in, offset, fail);
	in->text->stopped = true;
}

static void text_no_memory(struct source *s, struct input *in)
{
	struct fail fail = {.status = STATUS_OK};

	fail_errno(&fail, "%s", in->name);
	text_fail(s, in, 0, &fail);
}

/* A piece or gap cannot be read or decoded; report that once all before it was read. */
static void node_fails(struct source *s, struct input *in, struct text_node *x, uint64_t offset,
		       const struct fail *why)
{
	struct fail *const fail = malloc(sizeof(*fail));

	if (!fail) {
		text_fail(s, in, offset, why);
		return;
	}
	*fail = *why;
	text_list_fail(&in->text->list, x, offset, fail);
}

/* Report a failure of lines before which all was read; a failure of their frame comes first. */
static void text_report(struct source *s, struct input *in, uint64_t offset, const struct fail *why)
{
	const struct text_sum *const frame = text_list_failure(&in->text->list, offset);

	text_fail(s, in, frame ? frame->offset : offset, frame ? frame->fail : why);
}

/* Report why the text ends at the lines that are summed up. */
static void report_sum(struct source *s, struct input *in)
{
	const struct text_sum *const sum = &in->text->sum;
	struct fail fail = {.status = STATUS_OK};

	if (sum->fail)
		fail_pass(&fail, sum->fail);
	else if (sum->bad_line > 0)
		fail_set(&fail, STATUS_DATA, "%s: line %llu %s", in->name,
			 (unsigned long long)sum->bad_line, sum->why);
	else
		fail_set(&fail, STATUS_DATA, "%s %s", in->name, sum->why);
	text_report(s, in, sum->offset, &fail);
}

/* Count bad lines that were left out; keep the first one of the first FILE with any. */
static void note_bad(struct source *s, const struct input *in, uint64_t bad)
{
	const struct text_sum *const sum = &in->text->sum;
	struct text_totals *const totals = &s->totals.text;

	if (bad > 0 && (totals->bad == 0 || in->index < totals->bad_path)) {
		totals->bad_path = in->index;
		totals->bad_name = in->name;
		totals->bad_line = sum->bad_line;
		memcpy(totals->bad_why, sum->why, sizeof(totals->bad_why) - 1);
	}
	totals->bad += bad;
}

/* The rest of the input has ended: its last line may lack a newline. */
static void text_ends(struct source *s, struct input *in)
{
	struct text_list *const l = &in->text->list;

	if (bytes_cuts(in->bytes) && text_list_cut(l))
		__atomic_store_n(&s->shared.dropped, true, __ATOMIC_RELAXED);
	text_list_end(l, l->rest);
}

/* Add up the lines at the beginning of a text that were read; report the first failure. */
static void text_settle(struct source *s, struct input *in)
{
	struct text_input *const t = in->text;
	struct text_list *const l = &t->list;
	struct fail fail = {.status = STATUS_OK};
	uint64_t offset;

	if (in->zstd)
		jobs_settle(s, in);
	if (in->ended && !in->busy && l->rest && !(in->zstd && in->zstd->jobs))
		text_ends(s, in);
	while (!t->stopped && l->first && l->first->what == TEXT_DONE) {
		const uint64_t bad = l->first->sum.bad;
		text_sum_add(&t->sum, &l->first->sum);
		text_list_pop(l);
		note_bad(s, in, bad);
		if (t->sum.fatal && !t->enough)
			report_sum(s, in);
	}
	if (!t->stopped && !t->enough && text_list_too_long(l, &offset)) {
		fail_set(&fail, STATUS_DATA, "%s: line %llu is longer than 16 MiB", in->name,
			 (unsigned long long)t->sum.lines + 1);
		text_report(s, in, offset, &fail);
	}
	s->jobs->budget.live_bytes += l->held - t->held;
	t->held = l->held;
}

/* ---- jobs of zstd ---- */

/*
 * Return the offset that orders failures of the job's lines: they come after the job's own, unless
 * a stream's bad lines are reported at once, or the frame was checked before its bytes were used.
 */
static uint64_t job_offset(const struct source *s, const struct zstd_job *j)
{
	const bool checked = j->cut.how == HOW_CALLS && !(j->sum.follows && j->sum.adds);

	return j->cut.offset + (!checked && (j->in->is_file || !s->spec.prompt));
}

static void text_job_begin(struct source *s, struct zstd_job *j)
{
	j->gap = text_list_gap(&j->in->text->list, job_offset(s, j));
	if (!j->gap)
		text_no_memory(s, j->in);
}

static void text_job_end(struct source *s, struct zstd_job *j)
{
	struct text_input *const t = j->in->text;

	if (j->fail.status == STATUS_OK && job_sum_differs(j))
		frames_bad(j->in->bytes, j->cut.offset, &j->fail, FRAMES_CHECKSUM);
	const bool fails = j->fail.status != STATUS_OK;
	if (fails && t->stopped && !t->enough) /* it comes before the bad line of its text */
		text_fail(s, j->in, j->cut.offset, &j->fail);
	else if (fails && !t->stopped)
		node_fails(s, j->in, j->gap, j->cut.offset, &j->fail);
	else if (j->gap)
		text_list_end(&t->list, j->gap);
	j->gap = NULL;
}

/* ---- the lines of a work; without the lock ---- */

/* Set the lines of the current node. False: no memory. */
static bool set_lines(struct text_work *w)
{
	struct text_node *const x = w->node[w->i];
	struct text_lines *const l = &w->lines;

	l->taken = l->bad = l->bad_line = 0;
	l->why[0] = '\0';
	l->starts_text = false;
	l->marks.from = NULL;
	w->added = 0;
	if (x->what == TEXT_PIECE) {
		l->at = (const char *)w->buffer + w->ends.from;
		l->end = (const char *)w->buffer + w->ends.to;
	} else {
		const struct text_run *const line = text_node_line(x, &w->added);
		if (!line)
			return false;
		l->starts_text = x->starts;
		l->at = (const char *)line->bytes;
		l->end = l->at + line->n + w->added;
	}
	w->set = true;
	return true;
}

/* Return the offset after the last line that was read. */
static uint64_t position(const struct text_work *w)
{
	const size_t left = (size_t)(w->lines.end - w->lines.at);
	const uint64_t end = w->node[w->i]->what == TEXT_PIECE ? w->ends.to
			     : w->i == 0 && w->ends.newline    ? w->ends.from
							       : w->bytes;

	return w->base + end - (left > w->added ? left - w->added : 0);
}

/* The lines of the current node were read, as far as they are wanted. */
static void end_node(struct text_work *w, bool fatal)
{
	const struct text_lines *const l = &w->lines;
	struct text_node *const x = w->node[w->i++];

	w->set = false;
	x->sum.lines = l->taken;
	x->sum.bad = l->bad;
	x->sum.bad_line = l->bad_line;
	memcpy(x->sum.why, l->why, strlen(l->why) + 1);
	x->sum.fatal = fatal;
	x->sum.offset = x->offset;
}

/* Make samples of the work's lines. */
static size_t work_take(const struct text_spec *spec, struct text_table *table, struct text_work *w,
			unsigned char *out, size_t cap)
{
	const size_t bytes = text_bytes(spec);
	struct text_lines *const l = &w->lines;
	size_t got = 0;

	while (w->i < w->n && cap - got >= bytes) {
		if (!w->set && !set_lines(w)) {
			w->no_memory = true;
			break;
		}
		const int begun = w->decided ? 1 : text_begin(table, spec, l);
		w->decided |= begun > 0;
		if (begun > 0)
			got += text_take(table, l, out + got, cap - got);
		w->at = position(w);
		const bool fatal = begun < 0 || (l->why[0] && !spec->skip_bad);
		if (!fatal && l->at < l->end)
			break;
		end_node(w, fatal);
		if (fatal)
			w->n = w->i;
	}
	return got;
}

/* ---- the task; with the lock ---- */

static bool by_turns(const struct text_input *t)
{
	return t->in_order || !t->decided;
}

/* Are the inputs before this one done? */
static bool is_first(const struct source *s, const struct input *in)
{
	for (const struct input *each = s->inputs; each != in; each = each->next)
		if (!each->kind->idle(s, each))
			return false;
	return true;
}

/* Is there memory for a piece whose bytes may all be parts of long lines? */
static bool piece_fits(const struct source *s, const struct input *in, const struct text_node *gap)
{
	const struct text_input *const t = in->text;

	return t->held == 0 ||
	       s->jobs->budget.live_bytes + 2 * t->piece_bytes <= s->jobs->budget.memory ||
	       (text_list_is_next(&t->list, gap) && is_first(s, in));
}

/* IN ORDER: is the first node a border that is due? */
static bool first_is_due(const struct text_input *t)
{
	return t->list.due && t->list.due == t->list.first;
}

/* May the next piece before a gap be taken? */
static bool may_take(const struct source *s, const struct input *in, const struct text_node *gap)
{
	const struct text_input *const t = in->text;

	return (!s->spec.ordered || is_first(s, in)) &&
	       (!by_turns(t) || (!t->turn && t->own->n == 0 && text_list_is_next(&t->list, gap))) &&
	       piece_fits(s, in, gap);
}

static bool text_may_take(const struct source *s, const struct zstd_job *j)
{
	return j->in->text->stopped || may_take(s, j->in, j->gap);
}

static bool may_claim(const struct source *s)
{
	const struct input *const in = s->current;

	return in && in->text && !in->zstd && !in->busy && !in->ended &&
	       may_take(s, in, in->text->list.rest);
}

/* Return the input with lines that any reader may read, or NULL. */
static struct input *with_lines(const struct source *s)
{
	for (struct input *in = s->inputs; in; in = in->next) {
		const struct text_input *const t = in->text;
		if (!t)
			continue;
		if (by_turns(t) ? !t->turn && (t->own->n > 0 || (!t->stopped && first_is_due(t)))
				: t->list.due && !t->stopped)
			return in;
		if (s->spec.ordered && !in->kind->idle(s, in))
			return NULL;
	}
	return NULL;
}

static bool has_lines(const struct reader *r)
{
	return r->work && r->work->n > 0;
}

static bool text_ready(const struct source *s, const struct request *q)
{
	return q->got == 0 && (has_lines(q->reader) || with_lines(s) || may_claim(s));
}

static struct text_work *work_new(struct input *in)
{
	struct text_work *const w = malloc(sizeof(*w));

	if (w)
		*w = (struct text_work){.in = in};
	return w;
}

void text_work_free(struct text_work *w)
{
	if (!w)
		return;
	free(w->buffer);
	free(w);
}

/* Return the work that gets new lines of an input, with room for a piece; or NULL: no memory. */
static struct text_work *work_begin(struct source *s, struct input *in, struct request *q)
{
	struct text_input *const t = in->text;
	struct text_work **const work = by_turns(t) ? &t->own : &q->reader->work;
	const size_t capacity = t->piece_bytes + TEXT_PAD;

	if (!*work)
		*work = work_new(in);
	struct text_work *const w = *work;
	if (w && w->capacity < capacity) {
		free(w->buffer);
		w->buffer = malloc(capacity);
		w->capacity = w->buffer ? capacity : 0;
	}
	if (!w || w->capacity == 0) {
		text_no_memory(s, in);
		return NULL;
	}
	assert(w->n == 0);
	w->in = in;
	w->i = 0;
	w->set = w->no_memory = false;
	w->bytes = 0;
	w->base = t->at;
	w->packed_at = UNKNOWN;
	w->ends = (struct text_ends){.newline = false};
	t->works++;
	t->turn = by_turns(t);
	return w;
}

/* The work has all its lines now. */
static void work_begun(struct text_work *w)
{
	struct text_input *const t = w->in->text;

	t->works -= w->n == 0;
	t->turn = false;
}

/* The bytes of a piece have come. */
static void work_put(struct source *s, struct text_work *w, struct text_node *piece)
{
	__atomic_fetch_add(&s->shared.text_bytes, w->bytes, __ATOMIC_RELAXED);
	w->n = text_list_put(&w->in->text->list, piece, &w->ends, w->node);
}

/* Read the next bytes of a file or of a stream. */
static void claim_unlocks(struct source *s, struct request *q)
{
	struct input *const in = s->current;
	struct text_input *const t = in->text;
	const uint64_t at = t->at;
	const bool parallel = !by_turns(t) && in->is_file && at + t->piece_bytes <= t->size;
	struct text_work *const w = work_begin(s, in, q);
	struct text_node *const p = w ? text_list_piece(&t->list, t->list.rest, at) : NULL;
	struct fail fail = {.status = STATUS_OK};
	size_t got = 0;

	if (!p) {
		text_no_memory(s, in);
		if (w)
			work_begun(w);
		return;
	}
	if (parallel)
		t->at += t->piece_bytes;
	else
		in->busy = true;
	source_unlocks(s);
	const int rc =
		parallel ? bytes_read_at(in->bytes, at, w->buffer, t->piece_bytes, &got, &fail)
			 : bytes_read(in->bytes, at, w->buffer, 1, t->piece_bytes, &got, &fail);
	const bool ends = rc == 0 && (parallel ? got < t->piece_bytes : got == 0);
	const bool shorter = ends && in->is_file && bytes_shorter(in->bytes, at + got);
	const bool found = rc == 0 && text_ends_find(&w->ends, w->buffer, got, at);
	lock_take(&s->lock);
	w->bytes = got;
	if (!parallel) {
		in->busy = false;
		t->at += got;
		t->full = bytes_drained(in->bytes) ? 0 : t->full + 1;
	}
	if (found)
		work_put(s, w, p);
	else if (rc == 0)
		text_no_memory(s, in);
	else if (rc < 0)
		node_fails(s, in, p, at, &fail);
	work_begun(w);
	in->shorter |= shorter;
	if ((ends || rc != 0) && !in->ended)
		input_end(s, in);
}

/* Copy the next bytes of a decoded piece. */
static void text_piece_unlocks(struct source *s, struct zstd_piece *piece, struct request *q)
{
	struct zstd_job *const j = piece->job;
	struct input *const in = j->in;
	struct text_input *const t = in->text;
	const size_t from = piece->from, n = (size_t)lesser(piece->bytes - from, t->piece_bytes);
	const uint64_t offset = job_offset(s, j);

	if (t->stopped) { /* none of it is wanted */
		piece_hold(piece, piece->bytes);
		piece_release_unlocks(s, piece);
		return;
	}
	struct text_work *const w = work_begin(s, in, q);
	struct text_node *const p = w ? text_list_piece(&t->list, j->gap, offset) : NULL;
	if (!p) {
		text_no_memory(s, in);
		if (w)
			work_begun(w);
		return;
	}
	w->base = j->at == UNKNOWN ? 0 : j->at + piece->begin + from; /* IN ORDER it is known */
	w->packed_at =
		j->cut.packed_bytes == UNKNOWN ? UNKNOWN : j->cut.offset + j->cut.packed_bytes;
	w->bytes = n;
	piece_hold(piece, from + n);
	source_unlocks(s);
	memcpy(w->buffer, piece->data + from, n);
	const bool found = text_ends_find(&w->ends, w->buffer, n, offset);
	lock_take(&s->lock);
	if (found)
		work_put(s, w, p);
	else
		text_no_memory(s, in);
	work_begun(w);
	piece_release_unlocks(s, piece);
}

/* Take a border that no piece has completed. */
static struct text_work *take_due(struct source *s, struct input *in, struct request *q)
{
	struct text_work *const w = work_begin(s, in, q);

	if (!w)
		return NULL;
	w->node[w->n++] = text_list_due(&in->text->list);
	work_begun(w);
	return w;
}

/* -n has ended at the last line that was read. */
static void end_limit(struct source *s, struct text_work *w)
{
	struct input *const in = w->in;
	struct text_input *const t = in->text;

	if (t->stopped)
		return;
	t->enough = true;
	text_settle(s, in); /* the bad lines left out before it */
	t->stopped = true;
	if (in->zstd) {
		in->limit = w->at;
		t->left_at = w->packed_at;
	}
	if (!in->ended)
		input_end(s, in);
}

/* Make the samples of the work's next lines. Without the lock. */
static size_t work_read(const struct source *s, struct text_work *w, const struct request *q)
{
	const struct input *const in = w->in;
	struct text_input *const t = in->text;
	unsigned char *const buffer = q->want->buffer;
	size_t got = t->parted;

	if (!t->in_order)
		return work_take(&s->spec.text, &t->table, w, buffer, q->cap);
	const size_t cap = (size_t)lesser(q->cap, t->limit - t->made);
	if (got > 0)
		memcpy(buffer, t->part, got);
	got += work_take(&s->spec.text, &t->table, w, buffer + got, cap - got);
	t->parted = got % s->use.record;
	got -= t->parted;
	memcpy(t->part, buffer + got, t->parted);
	return got;
}

static void hand_out(const struct source *s, struct input *in, struct request *q, size_t got)
{
	struct text_input *const t = in->text;

	*q->chunk = (struct chunk){.data = q->want->buffer,
				   .bytes = got,
				   .path = in->index,
				   .record = t->in_order ? input_record(s, in, t->made) : 0};
	if (s->spec.ordered) { /* the input does not end before the chunk is returned */
		q->chunk->input = in;
		in->lent++;
	}
	t->made += got;
}

static void parse_unlocks(struct source *s, struct text_work *w, struct request *q)
{
	struct input *const in = w->in;
	struct text_input *const t = in->text;
	const bool turns = by_turns(t);
	const unsigned from = w->i;
	size_t got = 0;

	w->decided = t->decided;
	t->turn |= turns;
	if (t->stopped) {
		w->n = w->i;
	} else {
		source_unlocks(s);
		got = work_read(s, w, q);
		lock_take(&s->lock);
	}
	if (turns) {
		t->turn = false;
		t->decided = w->decided;
		if (!in->zstd)
			t->left_at = w->at;
	}
	if (got > 0)
		hand_out(s, in, q, got);
	if (t->made >= t->limit && w->set)
		end_node(w, false);
	for (unsigned i = from; i < w->i; i++)
		text_list_done(&t->list, w->node[i]);
	if (w->no_memory)
		text_no_memory(s, in);
	if (t->made >= t->limit)
		end_limit(s, w);
	if (w->i == w->n || t->stopped) {
		w->n = 0;
		t->works--;
	} else if (turns && !by_turns(t)) { /* its lines are this reader's now */
		t->own = q->reader->work;
		q->reader->work = w;
	}
}

static void text_run_unlocks(struct source *s, struct request *q)
{
	struct text_work *w = has_lines(q->reader) ? q->reader->work : NULL;
	struct input *const in = w ? w->in : with_lines(s);

	if (!w && in)
		w = by_turns(in->text) && in->text->own->n > 0 ? in->text->own : take_due(s, in, q);
	if (w)
		parse_unlocks(s, w, q);
	else if (!in)
		claim_unlocks(s, q);
}

const struct task text_task = {text_ready, text_run_unlocks};

/* ---- its kind ---- */

static const struct consumer lines = {
	text_job_begin,
	text_job_end,
	text_may_take,
	text_piece_unlocks,
};

static int text_start(struct source *s, struct input *in, struct fail *fail)
{
	struct text_input *const t = in->text = calloc(1, sizeof(*t));
	const uint64_t share = s->use.memory / s->use.threads / 4;
	bool is_zstd;

	if (!t || !text_list_begin(&t->list) || !(t->own = work_new(in)) ||
	    !(t->part = malloc(s->use.record)))
		return fail_errno(fail, "%s", in->name);
	t->limit = in->limit;
	in->limit = NO_END; /* of decoded bytes: where -n ends is known when its line is read */
	t->piece_bytes = (size_t)larger(lesser(TEXT_PIECE_BYTES, share),
					lesser(TEXT_PIECE_BYTES, PIECE_LEAST));
	t->in_order =
		s->spec.ordered || t->limit != NO_END || s->use.record != text_bytes(&s->spec.text);
	in->at = 0;
	const int rc = zstd_reader_detect(in->bytes, &is_zstd, fail);
	if (rc != 0)
		return rc;
	t->size = in->is_file && !is_zstd ? bytes_size(in->bytes) : 0;
	if (!is_zstd)
		return 0;
	__atomic_store_n(&s->length, 0, __ATOMIC_RELAXED);
	if (zstd_kind.begin(s, in, fail) != 0)
		return -1;
	in->zstd->consumer = &lines;
	return 0;
}

static void text_free(struct source *s, struct input *in)
{
	struct text_input *const t = in->text;

	zstd_kind.free(s, in);
	if (!t)
		return;
	s->jobs->budget.live_bytes -= t->held;
	text_list_free(&t->list);
	free(t->sum.fail);
	text_work_free(t->own);
	free(t->part);
	free(t);
}

static bool text_idle(const struct source *s, const struct input *in)
{
	const struct text_input *const t = in->text;

	return (t->stopped || !t->list.first) && t->works == 0 &&
	       (!in->zstd || zstd_kind.idle(s, in));
}

static bool text_backlog(const struct source *s, const struct input *in)
{
	const struct text_input *const t = in->text;

	if (in->zstd)
		return zstd_kind.backlog(s, in);
	return !in->ended &&
	       (in->is_file ? t->at + t->piece_bytes <= t->size : t->full >= FULL_READS);
}

static struct input_sums text_sums(const struct source *s, const struct input *in)
{
	const struct text_input *const t = in->text;
	const bool at_line = t->in_order && (!in->zstd || (t->enough && t->left_at != UNKNOWN));

	(void)s;
	return (struct input_sums){.left_at = at_line    ? t->left_at
					      : in->zstd ? in->zstd->pos
							 : t->at,
				   .bytes = t->made + t->parted,
				   .tail = t->parted};
}

/* A failure of plain text is known once all before it was read. */
static bool text_due(const struct source *s, const struct input *in, uint64_t offset)
{
	return in->zstd ? jobs_due(s, in, offset) : !s->spec.ordered || in->lent == 0;
}

const struct input_kind text_kind = {
	.begin = text_start,
	.free = text_free,
	.idle = text_idle,
	.backlog = text_backlog,
	.sums = text_sums,
	.due = text_due,
	.settle = text_settle,
};
