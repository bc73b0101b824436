/* SPDX-License-Identifier: MIT */
/*
 * collect: the results of --each, collected in the order of records (each.h says why every wait
 * ends), and the maker of a row.
 */
#ifndef GPUHIST_EACH_COLLECT_H
#define GPUHIST_EACH_COLLECT_H

#include "each/each.h"

#define RESULTS_MOST 16u /* of a worker */

/* A part of a row; without records, nothing. */
struct part {
	struct row_place row;
	struct counts counts;
};

struct result {
	struct result *next;      /* in the list of waiting results; NULL in the last one */
	struct result *before;    /* in that list; the first has none */
	struct row_worker *owner; /* the worker that fills it */
	size_t path;              /* input of its records */
	uint64_t first;           /* number of its first record */
	uint64_t records;         /* number of its records */
	uint64_t end;             /* number of the next result's first record */
	struct part head, tail;   /* parts of the rows that began before it and continue after it */
	struct output *text;      /* text of the rows in between, in memory */
	uint64_t row_count;       /* number of rows in `text` */
	uint64_t saturated;       /* number of their counts that were clipped */
	struct fail fail;         /* failure of the first of its rows that failed */
	bool submitted;           /* it waits, or is being collected */
};

/* Turns the counts of a row into a histogram. */
struct maker {
	struct hist hist;
	struct hist_scratch *scratch;
	struct counts totals; /* counts of all rows it has made */
};

/* How far the results are collected. */
struct collector {
	struct fail fail;
	size_t path;      /* input of the next records to collect */
	uint64_t at;      /* number of the first of these records */
	bool begun;       /* there is an open row */
	struct part open; /* the open row */
	struct maker maker;
	uint64_t records;   /* number of records collected */
	uint64_t row_count; /* number of rows collected */
	uint64_t saturated; /* number of their counts that were clipped */
};

struct each {
	struct row_spec own;         /* the spec with the sheet */
	const struct row_spec *spec; /* &own */
	struct output *row_out;      /* destination of rows; svg: memory for their numbers */
	struct output *out;          /* the output given to each_open */
	struct sheet sheet;          /* svg */
	struct strip strip;          /* plot */

	struct lock lock;
	struct row_worker *workers;
	struct result *waiting; /* results submitted but not collected, in the order of records */
	struct result *last;    /* the last of them */
	size_t ended;           /* number of inputs that have ended well, at most `whole` */
	size_t whole;           /* number of inputs before the first that lost records */
	bool stopped;           /* a worker has failed, and is not spare */
	bool failed;            /* now.fail is set */
	bool torn;              /* counted or lent records are lost, so nothing more is collected */
	unsigned active;        /* workers that may still submit results: in a turn, not waiting */

	bool collecting; /* a worker collects; until `failed`, `now` is its own */
	struct collector now;
};

/* The state of a worker. */
struct row_worker {
	struct row_worker *next;
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

/* ---- rows ---- */

/* Open counts for a row, with statistics if they are asked for. */
int collect_open_counts(struct counts *c, const struct each *e, const struct counting *counting,
			struct fail *fail);

int maker_open(struct maker *m, const struct each *e, const struct counting *counting,
	       struct fail *fail);
void maker_close(struct maker *m);

/* Audit and write the row of these counts, which are 0 afterwards. */
int maker_write(const struct each *e, struct maker *m, const struct row_place *row,
		struct counts *counts, uint64_t *marks, struct output *to, uint64_t *saturated,
		struct fail *fail);

/* ---- for workers ---- */

/* A worker comes; it leaves when it will submit nothing more (collect_leave). */
void collect_join(struct each *e, struct row_worker *rows);

/* A worker is between these calls if it may submit a result. */
void collect_begin_turn(struct each *e);
void collect_end_turn(struct each *e, bool failed);

/* Submit a result, and collect all that can be. */
void collect_submit(struct each *e, struct result *r);

/*
 * Wait until `least` of the worker's results are free, and return one of them. NULL: they will
 * never be free; if rows have failed, *fail is their failure. `in_turn`: a turn of the worker
 * calls.
 */
struct result *collect_wait(struct each *e, struct row_worker *rows, unsigned least, bool in_turn,
			    struct fail *fail);

/* Records of this input are lost: it never ends well, although its chunks are returned. */
void collect_lose(struct each *e, size_t path);

/* Withdraw the results of a leaving worker that will never be collected, as after a failure. */
void collect_leave(struct each *e, struct row_worker *rows);

#endif
