/* SPDX-License-Identifier: MIT */
/*
 * each: --each: a histogram for every N records of an input, or for each input: a "row".
 *
 * This is an engine, and takes every turn of a run with --each. The source hands out chunks in the
 * order of inputs and records (source_spec.ordered). A worker counts its chunk into "results":
 *
 * 	head    the part of a row that began before the chunk
 * 	rows    rows that are whole in the chunk, already formatted
 * 	tail    the part of a row that continues after the chunk
 *
 * Results are collected in the order of records, by the worker that submits the next one. It adds
 * the head to the open row and writes that row if it is now complete, writes the rows, and makes
 * the tail the open row. So all workers count and format, and they share only the open row.
 *
 * The rows of an input are collected after all inputs before it have ended well. All whole rows
 * before bad input are written, and none after it, however many threads there are: the source fails
 * only when all chunks before the damage have come back (or were handed out, if a part of a file
 * cannot be read), and a result is given up only when no worker can submit an earlier one.
 *
 * WHY EVERY WAIT ENDS. A worker waits for one of its own results to be collected. That waits for
 * two things. First, for the results of earlier records, whose chunks were handed out earlier. The
 * worker with the earliest records never waits, because its results are collected immediately. If a
 * file has become shorter, the chunk that lost records tells where the next result begins.
 * Second, for earlier inputs to end. By then all of their chunks were handed out; their workers
 * return them, and the worker that returns the last one calls each_ended. After a failure some of
 * this never happens. Then each worker waits or has left as soon as its chunk cannot go on, and the
 * last one to do so wakes all others, which give up.
 */
#ifndef GPUHIST_EACH_H
#define GPUHIST_EACH_H

#include "each/row.h"
#include "engine/engine.h"

struct each;

extern const struct engine each_engine; /* if work.each is NULL, every turn is TURN_BUSY */

/*
 * Open the output and write the text before the first row. Spec and output are borrowed until
 * each_close, which must be called after a failure too.
 */
int each_open(struct each **out, const struct row_spec *spec, const struct counting *counting,
	      struct output *to, struct fail *fail);

/* The memory of each worker for its results and their text. */
size_t each_memory(const struct counting *counting);

/* Report that the first `inputs` inputs have ended well (source_use.ended). */
void each_ended(struct each *e, size_t inputs);

/*
 * After the last worker of a run that did not fail: write the text after the last row, and add the
 * rows that were divided between workers to the totals. *saturated gets the number of counts that
 * were clipped. -1: a row failed, or the rows do not have this number of records.
 */
int each_finish(struct each *e, uint64_t records, struct counts *totals, uint64_t *saturated,
		struct fail *fail);

/* e may be NULL. */
void each_close(struct each *e);

#endif
