/* SPDX-License-Identifier: MIT */
/* each: divide chunks into rows, and collect results in order. */
#include "each/each.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/minmax.h"
#include "base/tally.h"

#define PAGE 4096u
/*
 * The number of results of a worker. It fills one while others wait for a slower worker. With few
 * cells it has many: with only two, 16 busy cores had half the speed.
 */
#define RESULTS_LEAST 2u
#define RESULTS_MOST 16u
#define RESULTS_BYTES ((size_t)1 << 20) /* limit of the tables of a worker's results */
#define DIGESTS_BYTES ((size_t)8 << 20) /* limit of the digests of a worker's results */
#define TEXT_MOST ((size_t)128 << 10)   /* bytes of text at which a result is submitted */
#define TEXT_BYTES (2 * TEXT_MOST)      /* memory for it, which grows by doubling */

/* A part of a row; without records, nothing. */
struct part {
	struct row_place row;
	struct counts counts;
};

struct result {
	struct result *next;    /* in the list of waiting results, of which the last has none */
	struct result *before;  /* in that list; the first has none */
	struct rows *owner;     /* the worker that fills it */
	size_t path;            /* input of its records */
	uint64_t first;         /* number of its first record */
	uint64_t records;       /* number of its records */
	uint64_t end;           /* number of the next result's first record */
	struct part head, tail; /* parts of the rows that began before it and continue after it */
	struct output *rows;    /* text of the rows in between, in memory */
	uint64_t row_count;     /* number of rows in `rows` */
	uint64_t saturated;     /* number of their counts that were clipped */
	struct fail fail;       /* failure of the first of its rows that failed */
	bool submitted;         /* it waits, or is being collected */
};

/* Turns the counts of a row into a histogram. */
struct maker {
	struct hist hist;
	struct hist_scratch *scratch;
	struct counts totals; /* counts of all rows it has made */
};

struct each {
	struct row_spec own;         /* the spec with the sheet */
	const struct row_spec *spec; /* &own */
	struct output *to;           /* destination of rows; svg: memory for their numbers */
	struct output *file;         /* the output given to each_open */
	struct sheet sheet;          /* svg */
	struct strip strip;          /* plot */

	struct lock lock;
	struct rows *workers;
	struct result *waiting; /* results submitted but not collected, in the order of records */
	struct result *last;    /* the last of them */
	size_t ended;           /* number of inputs that have ended well, at most `whole` */
	size_t whole;           /* number of inputs before the first that lost records (lose) */
	bool stopped;           /* a worker has failed, and is not spare */
	bool failed;            /* `fail` is set */
	bool torn;              /* counted or lent records are lost, so nothing more is collected */
	unsigned active;        /* workers that may still submit results: in a turn, not waiting */

	bool collecting; /* a worker collects; until `failed`, the fields below are its own */
	struct fail fail;
	size_t path;      /* input of the next records to collect */
	uint64_t at;      /* number of the first of these records */
	bool begun;       /* there is an open row */
	struct part open; /* the open row */
	struct maker maker;
	uint64_t records;   /* number of records collected */
	uint64_t rows;      /* number of rows collected */
	uint64_t saturated; /* number of their counts that were clipped */
};

/* The state of a worker. */
struct rows {
	struct rows *next;
	pthread_cond_t collected; /* one of its results was collected, or none ever will be */
	bool waits;               /* the worker waits for `collected` */
	const struct counting *counting;
	struct counter *counter;
	struct counts counts; /* counts of the current row */
	unsigned char *block; /* memory for the bytes of a chunk */
	struct result result[RESULTS_MOST];
	unsigned results; /* how many of these are used */
	struct maker maker;
	uint64_t *marks; /* has_few: codes of the current row (hist.h); else NULL */
};

/* ---- counts ---- */

static int open_counts(struct counts *c, const struct each *e, const struct counting *counting,
		       struct fail *fail)
{
	if (counts_init(c, counting->cells, fail) != 0)
		return -1;
	return e->spec->asked ? counts_keep_stats(c, &counting->type, e->spec->channels,
						  counting->digits, NULL, fail)
			      : 0;
}

static int open_maker(struct maker *m, const struct each *e, const struct counting *counting,
		      struct fail *fail)
{
	const struct row_spec *const spec = e->spec;
	struct hist *const hist = &m->hist;

	if (counts_init(&m->totals, counting->cells, fail) != 0 ||
	    hist_reserve(hist, spec->axis, spec->channels, fail) != 0)
		return -1;
	if (!hist->count &&
	    !(hist->count = calloc(hist->channels * hist->stride, sizeof(*hist->count))))
		return fail_errno(fail, "--each");
	m->scratch = hist_scratch_new(&spec->axis->type, spec->channels);
	if (!m->scratch)
		return fail_errno(fail, "--each");
	const bool kept = counting_adds_stats(counting) || spec->format->write == write_json;
	return spec->asked ? hist_keep_stats(hist, spec->asked, kept ? DIGEST_ROUGH : 0, fail) : 0;
}

static void close_maker(struct maker *m)
{
	counts_free(&m->totals);
	hist_free(&m->hist);
	free(m->scratch);
}

/* ---- rows ---- */

/* Audit and write the row of these counts, which are 0 afterwards. */
static int write_row(const struct each *e, struct maker *m, const struct row_place *row,
		     struct counts *counts, uint64_t *marks, struct output *to, uint64_t *saturated,
		     struct fail *fail)
{
	const struct style *const style = e->spec->style;
	const uint64_t most = COUNTERS[style->counter].max;
	struct hist *const hist = &m->hist;

	hist_fill_row(hist, counts, &m->totals, e->spec->book, m->scratch, marks);
	if (hist_audit(hist, fail) != 0)
		return -1;
	if (most < UINT64_MAX && !e->spec->asked) {
		const uint64_t over = hist_exceeding(hist, most) +
				      (style->flow ? hist_rows_exceeding(hist, most) : 0);
		if (over > 0 && style->counter == COUNTER_U32)
			return fail_set(fail, STATUS_LIMIT,
					"%llu count%s in a row of --each exceeded 4294967295, the "
					"maximum of a u32 counter (use -C u64)",
					(unsigned long long)over, over == 1 ? "" : "s");
		*saturated += over;
	}
	row_write(to, e->spec, row, hist);
	return 0;
}

/* For svg: add the numbers in memory to the sheet. */
static void fill_sheet(struct each *e)
{
	const size_t numbers = sheet_numbers(&e->sheet);
	double row[SHEET_NUMBERS];
	size_t bytes;

	if (e->to == e->file)
		return;
	if (output_failed(e->to))
		(void)output_flush(e->to, &e->fail);
	const char *const text = output_taken(e->to, &bytes);
	for (size_t at = 0; at < bytes && e->fail.status == STATUS_OK;
	     at += numbers * sizeof(double)) {
		memcpy(row, text + at, numbers * sizeof(double));
		if (sheet_add(&e->sheet, row) != 0)
			(void)fail_errno(&e->fail, "--each");
	}
}

/* Write the open row, if there is one. */
static void end_row(struct each *e)
{
	if (!e->begun || e->fail.status != STATUS_OK)
		return;
	e->begun = false;
	e->rows++;
	(void)write_row(e, &e->maker, &e->open.row, &e->open.counts, NULL, e->to, &e->saturated,
			&e->fail);
	e->open.row.records = 0;
	fill_sheet(e);
}

/* Add a part to the open row, or open a row with it; the part's counts are 0 afterwards. */
static void add_part(struct each *e, struct part *part)
{
	if (part->row.records == 0)
		return;
	if (e->begun && e->open.row.first != part->row.first)
		end_row(e); /* the file became shorter, so the open row has no end */
	if (!e->begun)
		e->open.row = (struct row_place){part->row.path, part->row.first, 0};
	e->begun = true;
	e->open.row.records += part->row.records;
	counts_move(&e->open.counts, &part->counts);
	if (e->open.row.records == e->spec->size)
		end_row(e);
	part->row.records = 0;
}

/* End an input and its last row. With --each=file, an input without records is a row too. */
static void end_input(struct each *e)
{
	if (!e->begun && e->spec->size == ROW_IS_INPUT) {
		e->open.row = (struct row_place){e->path, 0, 0};
		e->begun = true;
	}
	end_row(e);
	e->path++;
	e->at = 0;
}

/* ---- results, in order ---- */

static void collect(struct each *e, struct result *r)
{
	size_t bytes;

	add_part(e, &r->head);
	if (output_failed(r->rows))
		(void)output_flush(r->rows, &e->fail);
	const char *const text = output_taken(r->rows, &bytes);
	if (r->row_count > 0 && e->begun)
		end_row(e);
	if (e->fail.status == STATUS_OK) {
		output_write(e->to, text, bytes);
		e->rows += r->row_count;
		e->saturated += r->saturated;
		e->fail = r->fail;
		fill_sheet(e);
	}
	add_part(e, &r->tail);
	e->records += r->records;
	e->at = r->end;
}

/* Is there something to collect: a result, or the end of an input? */
static bool can_collect(const struct each *e, bool *is_result)
{
	const struct result *const r = e->waiting;

	*is_result = r && r->path == e->path && r->first == e->at;
	return !e->failed && !e->torn && (*is_result || e->ended > e->path);
}

static void wait_collected_unlocks(struct each *e, struct rows *rows)
{
	rows->waits = true;
	lock_wait(&e->lock, &rows->collected);
	rows->waits = false;
}

static void wake(struct rows *rows)
{
	if (rows->waits)
		pthread_cond_signal(&rows->collected);
}

static void wake_all(struct each *e)
{
	lock_assert_held(&e->lock);
	for (struct rows *rows = e->workers; rows; rows = rows->next)
		wake(rows);
}

static void leave_waiting(struct each *e, const struct result *r)
{
	*(r->before ? &r->before->next : &e->waiting) = r->next;
	*(r->next ? &r->next->before : &e->last) = r->before;
}

/* Most results belong near the end, and many may wait: from their first on, all cores would queue here. */
static void join_waiting(struct each *e, struct result *r)
{
	struct result *at = e->last;

	while (at && (at->path > r->path || (at->path == r->path && at->first > r->first)))
		at = at->before;
	r->before = at;
	r->next = at ? at->next : e->waiting;
	*(r->before ? &r->before->next : &e->waiting) = r;
	*(r->next ? &r->next->before : &e->last) = r;
}

/* Collect and write all that can be collected, unless another worker is doing that. */
static void collect_all_unlocks(struct each *e)
{
	bool is_result, written = true;

	if (e->collecting)
		return;
	e->collecting = true;
	for (bool more; (more = can_collect(e, &is_result)) || !written; written = !more) {
		struct result *const r = more && is_result ? e->waiting : NULL;
		if (r)
			leave_waiting(e, r);
		lock_drop(&e->lock);
		if (!more)
			(void)output_flush(e->to, &e->fail);
		else if (r)
			collect(e, r);
		else
			end_input(e);
		lock_take(&e->lock);
		e->failed = e->fail.status != STATUS_OK;
		if (r) {
			r->submitted = false;
			wake(r->owner);
		}
		if (e->failed)
			wake_all(e);
	}
	e->collecting = false;
}

static void submit(struct each *e, struct result *r)
{
	lock_take(&e->lock);
	join_waiting(e, r);
	r->submitted = true;
	collect_all_unlocks(e);
	lock_drop(&e->lock);
}

/* A worker waits or its turn is over. If one has failed, the last one to do so wakes all. */
static void rest_active(struct each *e)
{
	if (--e->active == 0 && e->stopped)
		wake_all(e);
}

/*
 * Wait until `least` of the worker's results are free, and return one of them. NULL: they will
 * never be free; if rows have failed, *fail is their failure. `in_turn`: a turn of the worker
 * calls.
 */
static struct result *wait_free(struct each *e, struct rows *rows, unsigned least, bool in_turn,
				struct fail *fail)
{
	struct result *r = NULL;

	lock_take(&e->lock);
	while (!e->failed && !e->torn) {
		unsigned free = 0;
		for (unsigned i = 0; i < rows->results; i++)
			if (!rows->result[i].submitted && ++free >= least)
				r = &rows->result[i];
		/* After a failure, the rows before it are collected while workers submit them. */
		if (r || (e->stopped && e->active == in_turn))
			break;
		if (in_turn)
			rest_active(e);
		wait_collected_unlocks(e, rows);
		e->active += in_turn;
	}
	if (!r && !e->torn) {
		e->torn = true;
		wake_all(e);
	}
	if (!r && e->failed)
		(void)fail_pass(fail, &e->fail);
	lock_drop(&e->lock);
	if (r)
		r->head.row.records = r->tail.row.records = r->records = r->row_count =
			r->saturated = 0;
	return r;
}

void each_ended(struct each *e, size_t inputs)
{
	lock_take(&e->lock);
	if (inputs > e->whole)
		inputs = e->whole;
	if (inputs > e->ended) /* two threads may call in either order */
		e->ended = inputs;
	collect_all_unlocks(e);
	lock_drop(&e->lock);
}

/* Records of this input are lost: it never ends well, although its chunks are returned. */
static void lose(struct each *e, size_t path)
{
	lock_take(&e->lock);
	if (path < e->whole)
		e->whole = path;
	lock_drop(&e->lock);
}

static void begin_turn(struct each *e)
{
	lock_take(&e->lock);
	e->active++;
	lock_drop(&e->lock);
}

static void end_turn(struct each *e, bool failed)
{
	lock_take(&e->lock);
	e->stopped |= failed;
	rest_active(e);
	lock_drop(&e->lock);
}

/* ---- a worker ---- */

/* Make a whole row of rows->counts, and write it to the result. */
static void end_whole(struct each *e, struct rows *rows, struct result *r,
		      const struct row_place *row, uint64_t *marks)
{
	r->row_count++;
	if (r->fail.status == STATUS_OK)
		(void)write_row(e, &rows->maker, row, &rows->counts, marks, r->rows, &r->saturated,
				&r->fail);
}

/*
 * Count row->records records of a row, from record `at` on. If they are the whole row, add it to
 * the result's rows; otherwise, if they begin the row, make them the tail; otherwise, the head.
 */
static void count_part(struct worker *w, struct result *r, const struct row_place *row, uint64_t at,
		       const unsigned char *data, struct xxh64 *hash)
{
	struct each *const e = w->work->each;
	struct rows *const rows = w->rows;
	const bool begins = at == row->first;
	struct part *const part = begins ? &r->tail : &r->head;

	gather_add(rows->counting, rows->counter, data, work_bytes(w->work, row->records), hash);
	counter_flush_all(rows->counter);
	if (begins && row->records == e->spec->size) {
		end_whole(e, rows, r, row, NULL);
		return;
	}
	counts_swap(&part->counts, &rows->counts); /* the part's counts were 0 */
	part->row = *row;
}

/* ---- a few samples of 16 bits ---- */

/* Do rows have so few samples that it is faster to mark their codes than to go over all codes? */
static bool has_few(const struct each *e, const struct counting *c)
{
	const uint32_t samples = e->spec->record / 2;

	return c->type.bits == 16 && layout_is_contiguous(&c->layout, c->bytes) &&
	       e->spec->size <= c->cells / 4 / samples;
}

/* Count a whole row. */
static void count_few(struct worker *w, struct result *r, const struct row_place *row,
		      const unsigned char *data, struct xxh64 *hash)
{
	const size_t bytes = (size_t)row->records * w->work->record, n = bytes / 2;
	struct rows *const rows = w->rows;
	const struct sample_type type = rows->counting->type;
	const uint32_t channels = rows->counting->channels;
	uint32_t channel = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t code = data[2 * i] | (uint32_t)data[2 * i + 1] << 8;
		rows->counts.cell[(size_t)channel << 16 | code]++;
		hist_mark(rows->marks + (size_t)channel * HIST_MARKS, codebook_place(&type, code));
		channel = channel + 1 < channels ? channel + 1 : 0;
	}
	if (hash)
		xxh64_add(hash, data, bytes);
	rows->counts.samples = n;
	end_whole(w->work->each, rows, r, row, rows->marks);
}

/* ---- a chunk ---- */

/* Count the records of a chunk. If its file became shorter, pass over the missing ones. */
static int count_chunk(struct worker *w, const struct chunk *chunk)
{
	struct each *const e = w->work->each;
	const uint64_t size = e->spec->size, first = chunk->first,
		       end = first + work_records(w->work, chunk->bytes);
	const unsigned char *data = chunk->data;
	struct result *r = NULL;
	uint64_t at = first;

	do {
		const uint64_t left = size - at % size;
		if (!r && !(r = wait_free(e, w->rows, 1, true, &w->fail)))
			return -1;
		if (r->records == 0) {
			r->path = chunk->path;
			r->first = at;
		}
		struct row_place row = {chunk->path, at - at % size,
					end - at < left ? end - at : left};
		if (w->rows->marks && row.records == size)
			count_few(w, r, &row, data, chunk->hash);
		else if (row.records > 0)
			count_part(w, r, &row, at, data, chunk->hash);
		data += work_bytes(w->work, row.records);
		at += row.records;
		r->records += row.records;
		if (output_used(r->rows) >= TEXT_MOST || at == end) {
			r->end = at == end && chunk->next > 0 ? chunk->next : at;
			submit(e, r);
			r = NULL;
		}
	} while (at < end);
	tally_add(&w->records, at - first);
	return 0;
}

/* Withdraw the results of a leaving worker that will never be collected, as after a failure. */
static void withdraw(struct each *e, struct rows *rows)
{
	(void)wait_free(e, rows, rows->results, false, &(struct fail){.status = STATUS_OK});
	lock_take(&e->lock);
	for (struct result *r = e->waiting; r; r = r->next) {
		if (r->owner != rows)
			continue;
		r->submitted = false;
		e->torn = true;
		leave_waiting(e, r);
	}
	for (unsigned i = 0; i < rows->results; i++)
		while (rows->result[i].submitted)
			wait_collected_unlocks(e, rows);
	struct rows **link = &e->workers;
	while (*link != rows)
		link = &(*link)->next;
	*link = rows->next;
	lock_drop(&e->lock);
}

static void close_result(struct result *r)
{
	counts_free(&r->head.counts);
	counts_free(&r->tail.counts);
	output_abort(r->rows);
}

static void leave(struct worker *w)
{
	struct rows *const rows = w->rows;

	if (!rows)
		return;
	withdraw(w->work->each, rows);
	if (rows->maker.totals.cell)
		counts_add_counts(w->work->counts, &rows->maker.totals);
	counter_close(rows->counter);
	counts_free(&rows->counts);
	for (unsigned i = 0; i < rows->results; i++)
		close_result(&rows->result[i]);
	close_maker(&rows->maker);
	pthread_cond_destroy(&rows->collected);
	free(rows->marks);
	free(rows->block);
	free(rows);
	w->rows = NULL;
}

/* The memory of the counts of a row, without digests. */
static size_t table_bytes(const struct counting *c)
{
	return c->cells * sizeof(uint64_t) + (c->stats ? c->channels * stats_bytes(&c->type) : 0);
}

/* The memory of the digests of a row: samples are rarely in more than an eighth of all cells. */
static size_t digests_bytes(const struct counting *c)
{
	const struct digest_rule rule = digest_rule(&c->type, c->digits);

	return counting_adds_stats(c) ? (size_t)digest_bytes(&rule, true) / 8 * c->channels : 0;
}

static unsigned results_of(const struct counting *c)
{
	const uint64_t fit = lesser(RESULTS_BYTES / (2 * table_bytes(c)),
				    DIGESTS_BYTES / (2 * digests_bytes(c) + 1));

	return (unsigned)within(fit, RESULTS_LEAST, RESULTS_MOST);
}

static int join(struct worker *w)
{
	const struct counting *const counting = w->work->counting;
	struct each *const e = w->work->each;
	struct rows *const rows = w->rows = calloc(1, sizeof(*rows));

	if (!rows)
		return fail_errno(&w->fail, "worker");
	pthread_cond_init(&rows->collected, NULL);
	lock_take(&e->lock);
	rows->next = e->workers;
	e->workers = rows;
	lock_drop(&e->lock);
	rows->counting = counting;
	rows->results = results_of(counting);
	rows->block = aligned_alloc(PAGE, round_up(w->work->block, PAGE));
	if (open_counts(&rows->counts, e, counting, &w->fail) != 0 ||
	    open_maker(&rows->maker, e, counting, &w->fail) != 0)
		return -1;
	for (unsigned i = 0; i < rows->results; i++)
		rows->result[i].owner = rows;
	for (unsigned i = 0; i < rows->results; i++)
		if (open_counts(&rows->result[i].head.counts, e, counting, &w->fail) != 0 ||
		    open_counts(&rows->result[i].tail.counts, e, counting, &w->fail) != 0 ||
		    output_open_memory(&rows->result[i].rows, &w->fail) != 0)
			return -1;
	rows->counter = counter_open(counting, &rows->counts);
	if (has_few(e, counting) &&
	    !(rows->marks = calloc(counting->channels * HIST_MARKS, sizeof(*rows->marks))))
		return fail_errno(&w->fail, "worker");
	return rows->block && rows->counter ? 0 : fail_errno(&w->fail, "worker");
}

/* Take a chunk and count it. */
static enum turn take_turn(struct worker *w)
{
	struct each *const e = w->work->each;
	struct chunk chunk;

	if (!w->rows && join(w) != 0)
		return TURN_FAILED;
	const struct want want = {.room = w->rows->block, .cap = w->work->block, .lent = true};
	int rc = worker_take(w, &want, &chunk);
	if (rc == 0 && chunk.bytes == 0 && chunk.next == 0)
		return TURN_END;
	const double began = clock_seconds();
	if (rc == 0) {
		rc = count_chunk(w, &chunk);
		if (rc != 0)
			lose(e, chunk.path);
		source_done(w->reader, &chunk);
		if (rc != 0) /* a turn of another worker may wait for a stream */
			source_stop(w->work->source);
	}
	w->count_seconds += clock_seconds() - began;
	return rc == 0 ? TURN_DONE : TURN_FAILED;
}

static enum turn turn(struct worker *w)
{
	struct each *const e = w->work->each;

	if (!e)
		return TURN_BUSY;
	begin_turn(e);
	const enum turn turn = take_turn(w);
	end_turn(e, turn == TURN_FAILED && !worker_is_spare(w));
	return turn;
}

/* Wait until all results of the worker are collected. */
static enum turn finish(struct worker *w)
{
	if (w->rows)
		(void)wait_free(w->work->each, w->rows, w->rows->results, false,
				&(struct fail){.status = STATUS_OK});
	return TURN_END;
}

const struct engine each_engine = {turn, finish, NULL, leave};

/* ---- all of it ---- */

size_t each_memory(const struct counting *counting)
{
	const size_t results = results_of(counting), tables = 3 + 2 * results;

	return tables * (table_bytes(counting) + digests_bytes(counting)) + results * TEXT_BYTES +
	       hist_scratch_bytes(&counting->type, counting->channels);
}

int each_open(struct each **out, const struct row_spec *spec, const struct counting *counting,
	      struct output *to, struct fail *fail)
{
	struct each *const e = *out = calloc(1, sizeof(*e));

	if (!e)
		return fail_errno(fail, "--each");
	e->own = *spec;
	e->spec = &e->own;
	e->to = e->file = to;
	e->whole = SIZE_MAX;
	lock_init(&e->lock, LOCK_ALONE);
	if (spec->format->write == write_svg) {
		row_begin_sheet(&e->sheet, spec);
		e->own.sheet = &e->sheet;
		if (output_open_memory(&e->to, fail) != 0)
			return -1;
	}
	if (row_begin_strip(&e->strip, spec))
		e->own.strip = &e->strip;
	if (open_counts(&e->open.counts, e, counting, fail) != 0 ||
	    open_maker(&e->maker, e, counting, fail) != 0)
		return -1;
	row_begin(to, spec);
	return 0;
}

int each_finish(struct each *e, uint64_t records, struct counts *totals, uint64_t *saturated,
		struct fail *fail)
{
	if (e->fail.status != STATUS_OK)
		return fail_pass(fail, &e->fail);
	if (e->records != records || e->waiting || e->begun)
		return fail_set(
			fail, STATUS_INTERNAL,
			"internal error: the rows hold %llu of %llu records; please report this",
			(unsigned long long)e->records, (unsigned long long)records);
	counts_add_counts(totals, &e->maker.totals);
	row_end(e->file, e->spec, e->rows);
	*saturated = e->saturated;
	return 0;
}

void each_close(struct each *e)
{
	if (!e)
		return;
	counts_free(&e->open.counts);
	close_maker(&e->maker);
	free(e->sheet.value);
	if (e->to != e->file)
		output_abort(e->to);
	lock_destroy(&e->lock);
	free(e);
}
