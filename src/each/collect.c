/* SPDX-License-Identifier: MIT */
/* collect: the open row, the list of waiting results, and the worker that collects them. */
#include "each/collect.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hist/series.h"

int collect_open_counts(struct counts *c, const struct each *e, const struct counting *counting,
			struct fail *fail)
{
	if (counts_init(c, counting->cells, NULL, fail) != 0)
		return -1;
	return e->spec->asked ? counts_keep_stats(c, &counting->type, e->spec->channels,
						  counting->digits, NULL, fail)
			      : 0;
}

int maker_open(struct maker *m, const struct each *e, const struct counting *counting,
	       struct fail *fail)
{
	const struct row_spec *const spec = e->spec;
	struct hist *const hist = &m->hist;

	if (counts_init(&m->totals, counting->cells, NULL, fail) != 0 ||
	    hist_reserve(hist, spec->axis, spec->channels, fail) != 0 ||
	    series_set_like(hist, spec->series, fail) != 0)
		return -1;
	if (!hist->count &&
	    !(hist->count = calloc(hist->channels * hist->stride, sizeof(*hist->count))))
		return fail_errno(fail, "--each");
	m->scratch = hist_scratch_new(&spec->axis->type, spec->channels);
	if (!m->scratch)
		return fail_errno(fail, "--each");
	hist->keeps_sums = spec->format->can & IS_DOCUMENT;
	const bool kept = counting_adds_stats(counting) || hist->keeps_sums;
	return spec->asked ? hist_keep_stats(hist, spec->asked, kept ? DIGEST_ROUGH : 0, fail) : 0;
}

void maker_close(struct maker *m)
{
	counts_free(&m->totals);
	hist_free(&m->hist);
	free(m->scratch);
}

/* ---- rows ---- */

int maker_write(const struct each *e, struct maker *m, const struct row_place *row,
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

	if (e->row_out == e->out)
		return;
	if (output_failed(e->row_out))
		(void)output_flush(e->row_out, &e->now.fail);
	const char *const text = output_taken(e->row_out, &bytes);
	for (size_t at = 0; at < bytes && e->now.fail.status == STATUS_OK;
	     at += numbers * sizeof(double)) {
		memcpy(row, text + at, numbers * sizeof(double));
		if (sheet_add(&e->sheet, row) != 0)
			(void)fail_errno(&e->now.fail, "--each");
	}
}

/* Write the open row, if there is one. */
static void end_row(struct each *e)
{
	if (!e->now.begun || e->now.fail.status != STATUS_OK)
		return;
	e->now.begun = false;
	e->now.row_count++;
	(void)maker_write(e, &e->now.maker, &e->now.open.row, &e->now.open.counts, NULL, e->row_out,
			  &e->now.saturated, &e->now.fail);
	e->now.open.row.records = 0;
	fill_sheet(e);
}

/* Add a part to the open row, or open a row with it; the part's counts are 0 afterwards. */
static void add_part(struct each *e, struct part *part)
{
	if (part->row.records == 0)
		return;
	if (e->now.begun && e->now.open.row.first != part->row.first)
		end_row(e); /* the file became shorter, so the open row has no end */
	if (!e->now.begun)
		e->now.open.row = (struct row_place){part->row.path, part->row.first, 0};
	e->now.begun = true;
	e->now.open.row.records += part->row.records;
	counts_move(&e->now.open.counts, &part->counts);
	if (e->now.open.row.records == e->spec->size)
		end_row(e);
	part->row.records = 0;
}

/* End an input and its last row. With --each=file, an input without records is a row too. */
static void end_input(struct each *e)
{
	if (!e->now.begun && e->spec->size == ROW_IS_INPUT) {
		e->now.open.row = (struct row_place){e->now.path, 0, 0};
		e->now.begun = true;
	}
	end_row(e);
	e->now.path++;
	e->now.at = 0;
}

/* ---- results, in order ---- */

static void collect(struct each *e, struct result *r)
{
	size_t bytes;

	add_part(e, &r->head);
	if (output_failed(r->text))
		(void)output_flush(r->text, &e->now.fail);
	const char *const lines = output_taken(r->text, &bytes);
	if (r->row_count > 0 && e->now.begun)
		end_row(e);
	if (e->now.fail.status == STATUS_OK) {
		output_write(e->row_out, lines, bytes);
		e->now.row_count += r->row_count;
		e->now.saturated += r->saturated;
		e->now.fail = r->fail;
		fill_sheet(e);
	}
	add_part(e, &r->tail);
	e->now.records += r->records;
	e->now.at = r->end;
}

/* Does the next result wait? */
static bool has_next(const struct each *e)
{
	const struct result *const r = e->waiting;

	return r && r->path == e->now.path && r->first == e->now.at;
}

/* Is there something to collect: a result, or the end of an input? */
static bool can_collect(const struct each *e)
{
	return !e->failed && !e->torn && (has_next(e) || e->ended > e->now.path);
}

static void wait_collected_unlocks(struct each *e, struct row_worker *rows)
{
	/* Nobody sleeps while something could be collected and nobody does it. */
	assert(e->collecting || !can_collect(e));
	rows->waits = true;
	lock_wait(&e->lock, &rows->collected);
	rows->waits = false;
}

static void wake(struct row_worker *rows)
{
	if (rows->waits)
		pthread_cond_signal(&rows->collected);
}

static void wake_all(struct each *e)
{
	lock_assert_held(&e->lock);
	for (struct row_worker *rows = e->workers; rows; rows = rows->next)
		wake(rows);
}

static void leave_waiting(struct each *e, const struct result *r)
{
	*(r->before ? &r->before->next : &e->waiting) = r->next;
	*(r->next ? &r->next->before : &e->last) = r->before;
}

/* Search from the end, where most results belong: many may wait, and all cores would queue here. */
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
	bool written = true;

	if (e->collecting)
		return;
	e->collecting = true;
	for (bool more; (more = can_collect(e)) || !written; written = !more) {
		struct result *const r = more && has_next(e) ? e->waiting : NULL;
		if (r)
			leave_waiting(e, r);
		lock_drop(&e->lock);
		if (!more)
			(void)output_flush(e->row_out, &e->now.fail);
		else if (r)
			collect(e, r);
		else
			end_input(e);
		lock_take(&e->lock);
		e->failed = e->now.fail.status != STATUS_OK;
		if (r) {
			r->submitted = false;
			wake(r->owner);
		}
		if (e->failed)
			wake_all(e);
	}
	e->collecting = false;
}

void collect_submit(struct each *e, struct result *r)
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
	assert(e->active > 0);
	if (--e->active == 0 && e->stopped)
		wake_all(e);
}

struct result *collect_wait(struct each *e, struct row_worker *rows, unsigned least, bool in_turn,
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
		(void)fail_pass(fail, &e->now.fail);
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

void collect_lose(struct each *e, size_t path)
{
	lock_take(&e->lock);
	if (path < e->whole)
		e->whole = path;
	lock_drop(&e->lock);
}

void collect_begin_turn(struct each *e)
{
	lock_take(&e->lock);
	e->active++;
	lock_drop(&e->lock);
}

void collect_end_turn(struct each *e, bool failed)
{
	lock_take(&e->lock);
	e->stopped |= failed;
	rest_active(e);
	lock_drop(&e->lock);
}

/* ---- workers come and go ---- */

void collect_join(struct each *e, struct row_worker *rows)
{
	lock_take(&e->lock);
	rows->next = e->workers;
	e->workers = rows;
	lock_drop(&e->lock);
}

void collect_leave(struct each *e, struct row_worker *rows)
{
	(void)collect_wait(e, rows, rows->results, false, &(struct fail){.status = STATUS_OK});
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
	struct row_worker **link = &e->workers;
	while (*link != rows)
		link = &(*link)->next;
	*link = rows->next;
	lock_drop(&e->lock);
}
