/* SPDX-License-Identifier: MIT */
/*
 * source_text: the task that reads text.
 *
 * A "block" is some text in which whole lines begin; the unit of work. One reader reads a block and
 * makes the samples of its lines, a chunk at each call of source_take, in any order with other
 * blocks. A reader with a block goes on with it before it takes anything else.
 *
 * SEQUENTIAL READING. A reader that has the input's turn reads the next bytes, up to a newline at
 * least, and gives the turn back; the bytes behind the last newline are carried to the next block.
 * So are read: streams; a FILE's first lines, until the one that decides on the table was found;
 * the end of a file, which may have grown. A block of a stream ends with the bytes that have
 * arrived, so its numbers wait only for their line's end.
 *
 * PARALLEL READING. Between its first lines and its end, a file is cut at offsets. A line belongs
 * to the block in which it begins: the reader skips up to the first newline at or after the byte
 * before its block, and reads on to the end of its last line. Sequential reading then goes on
 * behind the line that the last such block has read to its end.
 *
 * ZSTD. Text inside zstd is decoded as it is read: sequentially, by the reader that has the turn.
 * It leaves most blocks to other readers and goes on decoding, because its caches hold the window.
 * The next input is opened meanwhile, so that readers decode as many inputs as there are readers.
 *
 * IN ORDER. The number of a record is known once all lines before it were read. With -n, --each,
 * or records of several samples, a reader keeps the turn while it makes the samples of a chunk, and
 * the input keeps the block and what there is of a record.
 *
 * BAD LINES. The number of a line is the sum of the lines of all blocks before its own, so each
 * block adds up its lines. Blocks stay in a list, in order, until all before them are done; only
 * then is the failure of a block reported, so it is the first one.
 *
 * WHY EVERY WAIT ENDS. A reader waits only for a stream, in bytes.c, with the turn and no lock. It
 * sleeps in source.c only without a block: with one, this task is ready. The first block of the
 * list belongs to a reader that is at work on it or will call source_take again; or it was left,
 * and then the task is ready for any reader, and one was called.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "input/source_state.h"
#include "zstd/zstd_reader.h"

#ifdef TEXT_BLOCK_FROM /* the tests' build */
#define TEXT_BLOCK ((size_t)strtoul(getenv(TEXT_BLOCK_FROM), NULL, 10))
#else
#define TEXT_BLOCK ((size_t)256 << 10) /* it stays in a core's cache while it is read */
#endif
#define BLOCK_LEAST ((size_t)4 << 10)
#define EXTENSION ((size_t)4 << 10) /* first read behind a block, for the end of its last line */
#define ADDED_MOST 2u               /* bytes that end a last line without a newline */
#define LEFT_MOST 3u                /* blocks of one input that were left */
#define FULL_READS 2u /* reads of a stream without a wait before one more reader finds work */

struct text_block {
	struct text_block *next;
	struct input *in;
	uint64_t offset; /* of its first byte in the input */
	uint64_t bytes;  /* of the samples made so far */
	bool done;       /* its lines were read, or it failed */
	bool fatal;      /* it failed before its lines, or without --skip-bad */
	bool left;       /* for any reader that has no block */
	unsigned char *buffer;
	size_t capacity;
	size_t added; /* bytes at the end that the input does not have */
	struct text_lines lines;
};

struct text_input {
	struct text_table table;
	struct zstd_reader *zstd;     /* decodes the input; or NULL */
	const struct reader *decoder; /* has decoded the last block */
	unsigned left;                /* blocks that were left */
	bool decided;                 /* the first line has decided on the table */
	bool in_order;                /* see above */
	bool inside;   /* the next byte may be inside a line that belongs to the block before */
	uint64_t at;   /* offset of the next byte to read */
	uint64_t size; /* of a file when it was opened */
	size_t block;  /* bytes of a block */
	unsigned full; /* reads of a stream in a row that did not have to wait */
	bool ended;    /* sequential reading has come to the end */
	struct text_block *blocks, **last; /* not yet done, or after one that is not */
	struct text_block *own;            /* IN ORDER: the current block */
	unsigned char *part;               /* IN ORDER: the samples of an incomplete record */
	size_t parted;                     /* bytes of it */
	uint64_t left_at;                  /* offset after the last line that was read */
	uint64_t lines;                    /* lines of the blocks that are done */
	unsigned char *carry;              /* bytes of an incomplete line */
	size_t carried, carry_capacity;
};

/* ---- blocks; with the lock ---- */

static struct text_block *block_new(struct source *s, struct input *in)
{
	struct text_input *const t = in->text;
	struct text_block *b = s->readers.free_blocks;
	unsigned char *buffer = NULL;
	size_t capacity = 0;

	if (b) {
		s->readers.free_blocks = b->next;
		buffer = b->buffer;
		capacity = b->capacity;
	} else if (!(b = malloc(sizeof(*b)))) {
		return NULL;
	}
	b->next = NULL;
	b->in = in;
	b->offset = t->at;
	b->bytes = 0;
	b->done = b->fatal = b->left = false;
	b->buffer = buffer;
	b->capacity = capacity;
	b->added = 0;
	b->lines.at = b->lines.end = NULL;
	b->lines.starts_text = b->lines.fractions = false;
	b->lines.taken = b->lines.bad = b->lines.bad_line = 0;
	b->lines.why[0] = '\0';
	b->lines.marks.from = NULL;
	*t->last = b;
	t->last = &b->next;
	return b;
}

static void block_free(struct source *s, struct text_block *b)
{
	b->next = s->readers.free_blocks;
	s->readers.free_blocks = b;
}

void text_free_blocks(struct source *s)
{
	for (struct text_block *b; (b = s->readers.free_blocks) != NULL;) {
		s->readers.free_blocks = b->next;
		free(b->buffer);
		free(b);
	}
}

/* Report a bad line of a block; all lines before it were read. */
static void text_report(struct source *s, const struct text_block *b)
{
	struct input *const in = b->in;
	struct fail fail = {.status = STATUS_OK};
	const unsigned long long line = in->text->lines + b->lines.bad_line;

	if (b->lines.bad_line > 0)
		fail_set(&fail, STATUS_DATA, "%s: line %llu %s", in->name, line, b->lines.why);
	else
		fail_set(&fail, STATUS_DATA, "%s %s", in->name, b->lines.why);
	source_fail(s, in, b->offset, &fail);
}

/* Add up the blocks at the beginning of the list that are done. */
static void blocks_settle(struct source *s, struct input *in)
{
	struct text_input *const t = in->text;
	struct text_totals *const totals = &s->totals.text;

	for (struct text_block *b; (b = t->blocks) != NULL && b->done;) {
		struct text_lines *const l = &b->lines;
		if (b->fatal)
			text_report(s, b);
		if (l->bad > 0 && totals->bad == 0) {
			totals->bad_name = in->name;
			totals->bad_line = t->lines + l->bad_line;
			memcpy(totals->bad_why, l->why, sizeof(totals->bad_why) - 1);
		}
		totals->bad += l->bad;
		totals->fractions |= l->fractions;
		t->lines += l->taken;
		in->at += b->bytes;
		t->blocks = b->next;
		if (t->last == &b->next)
			t->last = &t->blocks;
		block_free(s, b);
	}
}

static void block_done(struct source *s, struct text_block *b)
{
	b->done = true;
	blocks_settle(s, b->in);
}

/* ---- reading; without the lock ---- */

static bool block_grow(struct text_block *b, size_t have, size_t more)
{
	const size_t need = have + more + TEXT_PAD + ADDED_MOST, doubled = b->capacity * 2;

	if (b->capacity >= need)
		return true;
	const size_t capacity = have > 0 && doubled > need ? doubled : need;
	unsigned char *const buffer = realloc(b->buffer, capacity);
	if (!buffer)
		return false;
	b->buffer = buffer;
	b->capacity = capacity;
	return true;
}

static int text_too_long(struct text_block *b)
{
	b->lines.bad_line = 0;
	strcpy(b->lines.why, "has a line of more than 16 MiB, which is no text");
	return -1;
}

/* Set a block's lines: the bytes from `from` to `to`. End a last line that has no newline. */
static void set_lines(struct text_block *b, size_t from, size_t to, bool end)
{
	const size_t read = to;

	if (end && to > from && b->buffer[to - 1] != '\n') {
		/* A CR at the end of the text is not before LF. */
		if (b->buffer[to - 1] == '\r')
			b->buffer[to++] = '\r';
		b->buffer[to++] = '\n';
	}
	b->added = to - read;
	b->lines.marks.from = NULL;
	b->lines.at = (const char *)b->buffer + from;
	b->lines.end = (const char *)b->buffer + to;
}

/* Decode 1 to cap bytes, 0 only at the end. 1: the source was stopped. */
static int text_decode(const struct input *in, unsigned char *to, size_t cap, size_t *got,
		       struct fail *fail)
{
	struct zstd_reader *const z = in->text->zstd;
	struct fail why = {.status = STATUS_OK};
	const int rc = zstd_reader_read(z, to, cap, got, fail);
	const enum zstd_reader_state state = zstd_reader_state(z, &why);

	if (rc != 0 || *got > 0 || state == ZSTD_READER_ENDED ||
	    (state == ZSTD_READER_CUT && bytes_finished(in->bytes)))
		return rc;
	return fail_pass(fail, &why);
}

/* Read the next lines, at least one unless the text ends. 1: the source was stopped. */
static int text_read_on(struct source *s, struct input *in, struct text_block *b, struct fail *fail)
{
	struct text_input *const t = in->text;
	size_t have = t->carried, got, whole = 0, begin = 0;
	const unsigned char *newline = NULL;
	int rc = 0;

	b->offset = t->at - have;
	b->lines.starts_text = b->offset == 0;
	while (rc == 0 && !newline && !t->ended) {
		if (have > TEXT_LINE_MOST)
			return text_too_long(b);
		if (!block_grow(b, have, t->block))
			return fail_errno(fail, "%s", in->name);
		if (have == t->carried && have > 0)
			memcpy(b->buffer, t->carry, have);
		const size_t cap = in->is_file || t->block < 2 * have ? t->block : t->block - have;
		rc = t->zstd ? text_decode(in, b->buffer + have, cap, &got, fail)
			     : bytes_read(in->bytes, t->at, b->buffer + have, 1, cap, &got, fail);
		__atomic_store_n(&t->at, t->at + got, __ATOMIC_RELAXED); /* see text_backlog */
		__atomic_fetch_add(&s->shared.text_bytes, got, __ATOMIC_RELAXED);
		t->ended = rc == 0 && got == 0;
		in->shorter |=
			in->is_file && t->ended && !t->zstd && bytes_shorter(in->bytes, t->at);
		newline = memrchr(b->buffer + have, '\n', got);
		have += got;
	}
	if (rc != 0)
		return rc;
	whole = newline ? (size_t)(newline + 1 - b->buffer) : 0;
	if (t->ended && have > 0 && bytes_cuts(in->bytes))
		__atomic_store_n(&s->shared.dropped, true, __ATOMIC_RELAXED);
	else if (t->ended)
		whole = have;
	t->carried = have - whole;
	if (t->carried > t->carry_capacity) {
		unsigned char *const carry = realloc(t->carry, t->carried + 4096);
		if (!carry)
			return fail_errno(fail, "%s", in->name);
		t->carry = carry;
		t->carry_capacity = t->carried + 4096;
	}
	if (t->carried > 0)
		memcpy(t->carry, b->buffer + whole, t->carried);
	if (t->inside && whole > 0) { /* the rest of a line that another block has read */
		newline = memchr(b->buffer, '\n', whole);
		begin = newline ? (size_t)(newline + 1 - b->buffer) : whole;
		t->inside = !newline && !t->ended;
	}
	set_lines(b, begin, whole, t->ended);
	if (t->decided || whole == 0)
		return 0;
	const int begun = text_begin(&t->table, &s->spec.text, &b->lines);
	t->decided = begun > 0;
	return begun < 0 ? -1 : 0;
}

/* Read a block of a file at its offset. *got: the bytes of it that the file holds. */
static int read_block(struct source *s, struct input *in, struct text_block *b, size_t *got,
		      struct fail *fail)
{
	const size_t size = in->text->block;
	const uint64_t from = b->offset - 1;
	size_t have, more = EXTENSION, some;

	if (!block_grow(b, 0, size + 1 + more))
		return fail_errno(fail, "%s", in->name);
	if (bytes_read_at(in->bytes, from, b->buffer, size + 1, &have, fail) != 0)
		return -1;
	*got = have > 0 ? have - 1 : 0;
	__atomic_fetch_add(&s->shared.text_bytes, *got, __ATOMIC_RELAXED);
	const unsigned char *const first = memchr(b->buffer, '\n', have);
	const size_t begin = first ? (size_t)(first + 1 - b->buffer) : have;
	if (begin >= have) /* a line that begins with the next block is that one's */
		return set_lines(b, 0, 0, false), 0;
	while (b->buffer[have - 1] != '\n') {
		if (have - begin > TEXT_LINE_MOST)
			return text_too_long(b);
		if (!block_grow(b, have, more))
			return fail_errno(fail, "%s", in->name);
		if (bytes_read_at(in->bytes, from + have, b->buffer + have, more, &some, fail) != 0)
			return -1;
		const unsigned char *const end = memchr(b->buffer + have, '\n', some);
		have = end ? (size_t)(end + 1 - b->buffer) : have + some;
		if (some < more)
			break;
		more = 2 * more < size ? 2 * more : more;
	}
	set_lines(b, begin, have, true);
	return 0;
}

/* ---- the task; with the lock ---- */

/* The input whose next bytes can be read, or NULL. */
static struct input *next_input(const struct source *s)
{
	struct input *in = s->inputs;

	while (in && (!in->text || in->busy || in->ended))
		in = in->next;
	return in;
}

/*
 * The input from which the reader should take a block that was left, or NULL. A reader that has
 * decoded goes on with that until enough blocks are left.
 */
static struct input *input_with_left(const struct source *s, const struct reader *r)
{
	struct input *in = s->inputs;

	while (in &&
	       (!in->text || in->text->left == 0 ||
		(in->text->decoder == r && in->text->left < LEFT_MOST && !in->busy && !in->ended)))
		in = in->next;
	return in;
}

static bool text_ready(const struct source *s, const struct request *q)
{
	return q->got == 0 && (q->reader->block || next_input(s) || input_with_left(s, q->reader));
}

static void take_left(struct input *in, struct reader *r)
{
	struct text_block *b = in->text->blocks;

	while (!b->left)
		b = b->next;
	b->left = false;
	in->text->left--;
	r->block = b;
}

/* Leave the reader's block to others, if there are any, so that this one can decode on. */
static void leave_block(struct source *s, struct reader *r)
{
	struct text_block *const b = r->block;
	struct text_input *const t = b->in->text;

	t->decoder = r;
	if (s->readers.takers < 2 || !t->decided || b->lines.at >= b->lines.end ||
	    t->left == LEFT_MOST)
		return;
	b->left = true;
	t->left++;
	r->block = NULL;
}

/* After an attempt to read a block: a failure ends the input once it is the first. */
static void after_read(struct source *s, struct text_block *b, int rc, const struct fail *fail)
{
	struct input *const in = b->in;

	b->fatal = rc < 0 && b->lines.why[0] != '\0';
	if (rc < 0 && !b->fatal)
		source_fail(s, in, b->offset, fail);
	if (rc != 0)
		b->lines.at = b->lines.end = NULL;
	/* While a reader has the turn, only it knows whether the text has ended. */
	if ((rc != 0 || (!in->busy && in->text->ended)) && !in->ended && !in->text->own)
		input_end(s, in);
	source_call(s); /* for the next block, or input */
}

/* Read a block for this reader. */
static void text_claim_unlocks(struct source *s, struct input *in, struct request *q)
{
	struct text_input *const t = in->text;
	const bool parallel = t->decided && in->is_file && t->at + t->block <= t->size;
	struct text_block *const b = block_new(s, in);
	struct fail fail = {.status = STATUS_OK};
	size_t got = t->block;
	int rc;

	if (!b) {
		fail_errno(&fail, "%s", in->name);
		source_fail(s, in, t->at, &fail);
		return;
	}
	q->reader->block = b;
	if (parallel) {
		if (t->carried > 0) { /* read it again */
			b->offset = t->at -= t->carried;
			__atomic_fetch_sub(&s->shared.text_bytes, t->carried, __ATOMIC_RELAXED);
			t->carried = 0;
		}
		t->at += t->block;
		t->inside = true;
		source_call(s);
	} else {
		if (t->inside && t->carried == 0 && t->at > 0)
			t->at--; /* is the byte before it a newline? */
		in->busy = true;
		if (t->zstd && s->current == in) { /* the next input can be opened */
			s->current = NULL;
			source_call(s);
		}
	}
	lock_drop(&s->lock);
	rc = parallel ? read_block(s, in, b, &got, &fail) : text_read_on(s, in, b, &fail);
	const bool shorter = got < t->block && bytes_shorter(in->bytes, b->offset + got);
	lock_take(&s->lock);
	if (parallel && got < t->block) {
		in->shorter |= shorter;
		if (!in->ended)
			input_end(s, in);
	}
	if (!parallel) {
		in->busy = false;
		t->full = bytes_drained(in->bytes) ? 0 : t->full + 1;
	}
	after_read(s, b, rc, &fail);
	if (t->zstd)
		leave_block(s, q->reader);
}

/* Make the next samples of the reader's block. */
static void parse_unlocks(struct source *s, struct text_block *b, struct request *q)
{
	struct text_input *const t = b->in->text;
	size_t got = 0;

	lock_drop(&s->lock);
	if (!b->fatal && b->lines.at < b->lines.end)
		got = text_take(&t->table, &b->lines, q->want->buffer, q->cap);
	lock_take(&s->lock);
	b->bytes += got;
	if (got > 0)
		*q->chunk =
			(struct chunk){.data = q->want->buffer, .bytes = got, .path = b->in->index};
	b->fatal |= b->lines.why[0] != '\0' && !s->spec.text.skip_bad;
	if (!b->fatal && b->lines.at < b->lines.end)
		return;
	q->reader->block = NULL;
	block_done(s, b);
}

/* ---- in order ---- */

/* Make the samples of a chunk, from n bytes in the buffer on. Return as text_read_on does. */
static int make_chunk(struct source *s, struct input *in, struct request *q, size_t cap,
		      size_t *got, struct fail *fail)
{
	struct text_input *const t = in->text;
	struct text_block *const b = t->own;
	unsigned char *const buffer = q->want->buffer;
	int rc = 0;

	while (*got < s->use.record) {
		if (b->lines.at == b->lines.end) {
			if (t->ended || (rc = text_read_on(s, in, b, fail)) != 0)
				return rc;
			continue;
		}
		*got += text_take(&t->table, &b->lines, buffer + *got, cap - *got);
		if (b->lines.why[0] != '\0' && !s->spec.text.skip_bad)
			return *got >= s->use.record ? 0 : -1;
	}
	return 0;
}

static void end_in_order(struct source *s, struct input *in)
{
	struct text_block *const b = in->text->own;

	in->text->own = NULL;
	if (b)
		block_done(s, b);
	if (!in->ended)
		input_end(s, in);
}

static void text_turn_unlocks(struct source *s, struct input *in, struct request *q)
{
	struct text_input *const t = in->text;
	const size_t record = s->use.record;
	const size_t cap = (size_t)lesser(q->cap, in->limit - in->at);
	struct fail fail = {.status = STATUS_OK};
	size_t got = t->parted;

	if (in->at >= in->limit) {
		end_in_order(s, in);
		return;
	}
	if (!t->own && !(t->own = block_new(s, in))) {
		fail_errno(&fail, "%s", in->name);
		source_fail(s, in, 0, &fail);
		return;
	}
	in->busy = true;
	lock_drop(&s->lock);
	memcpy(q->want->buffer, t->part, got);
	const int rc = make_chunk(s, in, q, cap, &got, &fail);
	t->parted = got % record;
	got -= t->parted;
	memcpy(t->part, (unsigned char *)q->want->buffer + got, t->parted);
	lock_take(&s->lock);
	in->busy = false;
	struct text_block *const b = t->own;
	t->left_at = t->at - t->carried + b->added - (uint64_t)(b->lines.end - b->lines.at);
	if (got > 0) {
		*q->chunk = (struct chunk){.data = q->want->buffer,
					   .bytes = got,
					   .path = in->index,
					   .record = input_record(s, in, in->at)};
		if (s->spec.ordered) { /* the input does not end before the chunk is returned */
			q->chunk->input = in;
			in->lent++;
		}
		in->at += got;
	} else {
		in->at += t->parted;
		if (rc < 0 && b->lines.why[0] != '\0')
			b->fatal = true;
		else if (rc < 0)
			source_fail(s, in, b->offset, &fail);
		end_in_order(s, in);
	}
	source_call(s);
}

static void text_run_unlocks(struct source *s, struct request *q)
{
	struct input *const left = input_with_left(s, q->reader), *const in = next_input(s);

	if (!q->reader->block && left)
		take_left(left, q->reader);
	if (q->reader->block)
		parse_unlocks(s, q->reader->block, q);
	else if (in->text->in_order)
		text_turn_unlocks(s, in, q);
	else
		text_claim_unlocks(s, in, q);
}

const struct task text_task = {text_ready, text_run_unlocks};

/* ---- its kind ---- */

static int text_start(struct source *s, struct input *in, struct fail *fail)
{
	struct text_input *const t = in->text = calloc(1, sizeof(*t));
	const uint64_t share = s->use.memory / s->use.threads / 4;

	if (!t || !(t->part = malloc(s->use.record)))
		return fail_errno(fail, "%s", in->name);
	t->last = &t->blocks;
	const struct zstd_reader_rules rules = {.window = s->use.memory,
						.no_check = s->spec.no_check};
	bool is_zstd;
	const int rc = zstd_reader_detect(in->bytes, &is_zstd, fail);
	if (rc != 0)
		return rc;
	if (is_zstd && !(t->zstd = zstd_reader_open(in->bytes, &rules, fail)))
		return -1;
	if (t->zstd)
		__atomic_store_n(&s->length, 0, __ATOMIC_RELAXED);
	t->size = in->is_file && !t->zstd ? bytes_size(in->bytes) : 0;
	t->block = (size_t)larger(lesser(TEXT_BLOCK, share), lesser(TEXT_BLOCK, BLOCK_LEAST));
	t->in_order = s->spec.ordered || in->limit != NO_END ||
		      s->use.record != text_bytes(&s->spec.text);
	in->at = 0;
	return 0;
}

static void text_free(struct source *s, struct input *in)
{
	struct text_input *const t = in->text;

	if (!t)
		return;
	for (struct text_block *b; (b = t->blocks) != NULL;) {
		t->blocks = b->next;
		block_free(s, b);
	}
	zstd_reader_close(t->zstd);
	free(t->part);
	free(t->carry);
	free(t);
}

static bool text_idle(const struct source *s, const struct input *in)
{
	(void)s;
	return !in->text->blocks || (in->text->own && in->text->blocks == in->text->own);
}

static bool text_backlog(const struct source *s, const struct input *in)
{
	const struct text_input *const t = in->text;

	if (t->zstd)
		return s->wait.sleepers == 0;
	/* Another reader may be reading, with the input's turn. */
	return in->is_file ? __atomic_load_n(&t->at, __ATOMIC_RELAXED) + t->block <= t->size
			   : t->full >= FULL_READS;
}

static struct input_sums text_sums(const struct source *s, const struct input *in)
{
	const struct text_input *const t = in->text;

	(void)s;
	return (struct input_sums){.left_at = t->zstd       ? zstd_reader_at(t->zstd)
					      : t->in_order ? t->left_at
							    : t->at,
				   .bytes = in->at,
				   .tail = t->in_order ? t->parted : 0};
}

static int text_check_rest(struct input *in, struct fail *fail)
{
	(void)in;
	(void)fail;
	return 0;
}

const struct input_kind text_kind = {text_start,   text_free, text_idle,
				     text_backlog, text_sums, text_check_rest};
