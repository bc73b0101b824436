/* SPDX-License-Identifier: MIT */
/* each: divides chunks into rows, and counts them. */
#include "each/collect.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/minmax.h"
#include "base/tally.h"

/*
 * The number of results of a worker. It fills one while others wait for a slower worker. If tables
 * are small, it has many: with two results each, 16 busy cores had half the speed.
 */
#define RESULTS_LEAST 2u
#define RESULTS_BYTES ((size_t)1 << 20) /* limit of the tables of a worker's results */
#define DIGESTS_BYTES ((size_t)8 << 20) /* limit of the digests of a worker's results */
#define TEXT_MOST ((size_t)128 << 10)   /* bytes of text at which a result is submitted */
#define TEXT_BYTES (2 * TEXT_MOST)      /* memory for it, which grows by doubling */

/* ---- rows ---- */

/* Make a whole row of rows->counts, and write it to the result. */
static void end_whole(struct each *e, struct row_worker *rows, struct result *r,
		      const struct row_place *row, uint64_t *marks)
{
	r->row_count++;
	if (r->fail.status == STATUS_OK)
		(void)maker_write(e, &rows->maker, row, &rows->counts, marks, r->text,
				  &r->saturated, &r->fail);
}

/*
 * Count row->records records of a row, from record `at` on. If they are the whole row, add it to
 * the result's rows; otherwise, if they begin the row, make them the tail; otherwise, the head.
 */
static void count_part(struct worker *w, struct result *r, const struct row_place *row, uint64_t at,
		       const unsigned char *data, struct xxh64 *hash)
{
	struct each *const e = w->work->each;
	struct row_worker *const rows = w->rows;
	const bool begins = at == row->first;
	struct part *const part = begins ? &r->tail : &r->head;

	gather_add(rows->counter, data, work_bytes(w->work, row->records), hash);
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

	return c->type.bits == 16 && c->type.word == 0 && e->spec->axis->missing.n == 0 &&
	       layout_is_contiguous(&c->layout, c->bytes) &&
	       e->spec->size <= c->cells / 4 / samples;
}

/* Count a whole row. */
static void count_few(struct worker *w, struct result *r, const struct row_place *row,
		      const unsigned char *data, struct xxh64 *hash)
{
	const size_t bytes = (size_t)row->records * w->work->record, n = bytes / 2;
	struct row_worker *const rows = w->rows;
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

/* Count the records of a chunk. If its file became shorter, skip the missing ones. */
static int count_chunk(struct worker *w, const struct chunk *chunk)
{
	struct each *const e = w->work->each;
	const uint64_t size = e->spec->size, first = chunk->record,
		       end = first + work_records(w->work, chunk->bytes);
	const unsigned char *data = chunk->data;
	struct result *r = NULL;
	uint64_t at = first;

	do {
		const uint64_t left = size - at % size;
		if (!r && !(r = collect_wait(e, w->rows, 1, true, &w->fail)))
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
		if (output_used(r->text) >= TEXT_MOST || at == end) {
			r->end = at == end && chunk->next_record > 0 ? chunk->next_record : at;
			collect_submit(e, r);
			r = NULL;
		}
	} while (at < end);
	tally_add(&w->records, at - first);
	return 0;
}

/* ---- a worker ---- */

static void close_result(struct result *r)
{
	counts_free(&r->head.counts);
	counts_free(&r->tail.counts);
	output_abort(r->text);
}

static void rows_leave(struct worker *w)
{
	struct row_worker *const rows = w->rows;

	if (!rows)
		return;
	collect_leave(w->work->each, rows);
	if (rows->maker.totals.cell)
		counts_add_counts(w->work->counts, &rows->maker.totals);
	counter_close(rows->counter);
	counts_free(&rows->counts);
	for (unsigned i = 0; i < rows->results; i++)
		close_result(&rows->result[i]);
	maker_close(&rows->maker);
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

static int rows_join(struct worker *w)
{
	const struct counting *const counting = w->work->counting;
	struct each *const e = w->work->each;
	struct row_worker *const rows = w->rows = calloc(1, sizeof(*rows));

	if (!rows)
		return fail_errno(&w->fail, "worker");
	pthread_cond_init(&rows->collected, NULL);
	collect_join(e, rows);
	rows->counting = counting;
	rows->results = results_of(counting);
	rows->block = aligned_alloc(PAGE, round_up(w->work->block, PAGE));
	if (collect_open_counts(&rows->counts, e, counting, &w->fail) != 0 ||
	    maker_open(&rows->maker, e, counting, &w->fail) != 0)
		return -1;
	for (unsigned i = 0; i < rows->results; i++)
		rows->result[i].owner = rows;
	for (unsigned i = 0; i < rows->results; i++)
		if (collect_open_counts(&rows->result[i].head.counts, e, counting, &w->fail) != 0 ||
		    collect_open_counts(&rows->result[i].tail.counts, e, counting, &w->fail) != 0 ||
		    output_open_memory(&rows->result[i].text, &w->fail) != 0)
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

	if (!w->rows && rows_join(w) != 0)
		return TURN_FAILED;
	const struct want want = {.buffer = w->rows->block, .cap = w->work->block, .lent = true};
	int rc = worker_take(w, &want, &chunk);
	if (rc == 0 && chunk.bytes == 0 && chunk.next_record == 0)
		return TURN_END;
	const double began = clock_seconds();
	if (rc == 0) {
		rc = count_chunk(w, &chunk);
		if (rc != 0)
			collect_lose(e, chunk.path);
		source_done(w->reader, &chunk);
		if (rc != 0) /* a turn of another worker may wait for a stream */
			source_stop(w->work->source);
	}
	w->count_seconds += clock_seconds() - began;
	return rc == 0 ? TURN_DONE : TURN_FAILED;
}

static enum turn rows_turn(struct worker *w)
{
	struct each *const e = w->work->each;

	if (!e)
		return TURN_BUSY;
	collect_begin_turn(e);
	const enum turn turn = take_turn(w);
	collect_end_turn(e, turn == TURN_FAILED && !worker_is_spare(w));
	return turn;
}

/* Wait until all results of the worker are collected. */
static enum turn rows_finish(struct worker *w)
{
	if (w->rows)
		(void)collect_wait(w->work->each, w->rows, w->rows->results, false,
				   &(struct fail){.status = STATUS_OK});
	return TURN_END;
}

const struct engine each_engine = {rows_turn, rows_finish, NULL, rows_leave};

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
	e->row_out = e->out = to;
	e->whole = SIZE_MAX;
	lock_init(&e->lock, LOCK_ALONE);
	if (spec->format->write == write_svg) {
		row_begin_sheet(&e->sheet, spec);
		e->own.sheet = &e->sheet;
		if (output_open_memory(&e->row_out, fail) != 0)
			return -1;
	}
	if (row_begin_strip(&e->strip, spec))
		e->own.strip = &e->strip;
	if (collect_open_counts(&e->now.open.counts, e, counting, fail) != 0 ||
	    maker_open(&e->now.maker, e, counting, fail) != 0)
		return -1;
	row_begin(to, spec);
	return 0;
}

int each_finish(struct each *e, uint64_t records, struct counts *totals, uint64_t *saturated,
		struct fail *fail)
{
	if (e->now.fail.status != STATUS_OK)
		return fail_pass(fail, &e->now.fail);
	if (e->now.records != records || e->waiting || e->now.begun)
		return fail_set(
			fail, STATUS_INTERNAL,
			"internal error: the rows hold %llu of %llu records; please report this",
			(unsigned long long)e->now.records, (unsigned long long)records);
	counts_add_counts(totals, &e->now.maker.totals);
	row_end(e->out, e->spec, e->now.row_count);
	*saturated = e->now.saturated;
	return 0;
}

void each_close(struct each *e)
{
	if (!e)
		return;
	assert(!e->workers && e->active == 0 && !e->collecting);
	counts_free(&e->now.open.counts);
	maker_close(&e->now.maker);
	free(e->sheet.value);
	if (e->row_out != e->out)
		output_abort(e->row_out);
	lock_destroy(&e->lock);
	free(e);
}
