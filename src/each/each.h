/* SPDX-License-Identifier: MIT */
/*
 * each: --each: a histogram for every N records of an input, or for each input: a row.
 *
 * An engine, which has every turn of such a run. The source hands chunks out in the order of inputs
 * and records (source_spec.ordered), and a worker counts its chunk into results of its own:
 *
 *	head    the part of a row that began before the chunk
 *	rows    rows that lie in it whole, as they are written
 *	tail    the part of a row that goes on after the chunk
 *
 * Results are taken in the order of records, by whichever worker submits the next one: its head is
 * added to the open row, which is written if that completes it; its rows are written; its tail is
 * the open row from then on. So all workers count and format, and one row is shared.
 *
 * Rows of an input are taken when all inputs before it have ended well: what comes after bad input
 * is never written.
 *
 * Why every wait ends. A worker waits for one of its own results to be taken. These wait for the
 * results of earlier records, which were handed out earlier; the worker with the earliest of
 * them waits for nothing, as what it submits is taken immediately. If a file has become shorter,
 * the worker whose range came short says where the next result begins. They also wait for
 * earlier inputs to end: all of their chunks were handed out by then, their workers give them
 * back, and who gives back the last one calls each_ended. Where a worker fails, or meets the
 * failure of an input, that wakes all.
 */
#ifndef GPUHIST_EACH_H
#define GPUHIST_EACH_H

#include "each/row.h"
#include "engine/engine.h"

struct each;

extern const struct engine each_engine; /* always busy if work.each is NULL */

/*
 * Writes what comes before the first row. Spec and output are borrowed until each_close, which
 * frees what is there after a failure, too.
 */
int each_open(struct each **out, const struct row_spec *spec, const struct counting *counting,
	      struct output *to, struct fail *fail);

/* Bytes that each worker takes for what it submits, texts aside. */
size_t each_memory(const struct counting *counting);

/* The first `inputs` inputs have ended well (source_use.ended). */
void each_ended(struct each *e, size_t inputs);

/*
 * After the last worker of a run that did not fail: writes what comes after the last row, and adds
 * to the totals the rows that no single worker had. -1: the rows do not hold `records`, or cannot be
 * written. *saturated: counts in them that were clipped.
 */
int each_finish(struct each *e, uint64_t records, struct counts *totals, uint64_t *saturated,
		struct fail *fail);

/* Takes NULL. */
void each_close(struct each *e);

#endif
