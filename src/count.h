/*
 * count: samples in memory to exact 64-bit counts of cells, on the CPU.
 *
 *   struct counts    the totals, one for the whole run; any engine adds to it
 *   struct counting  how to count this job's samples: chosen once, then const
 *   struct counter   one worker's share, private to it until it is flushed
 *
 * What a "cell" is depends on the job: for 8- and 16-bit types it is the code itself, as it
 * lies in memory read little endian, and hist.c bins the codes when all is counted; for the
 * others it is the cell of binning.h.
 */
#ifndef GPUHIST_COUNT_H
#define GPUHIST_COUNT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cells.h"
#include "edges.h"
#include "fail.h"
#include "sample.h"
#include "xxh64.h"

struct counts {
	uint64_t *cell;       /* under lock, or atomically where counting.shared says so */
	size_t cells;
	uint64_t samples;     /* counted into cell; under lock */
	pthread_mutex_t lock;
};

enum count_method {
	COUNT_BYTES,   /* 256 codes in 8 tables, one for each byte of a word */
	COUNT_CODES,   /* 65,536 codes in two tables */
	COUNT_PRIVATE, /* cells in 1 to 4 tables of 32 bits */
	COUNT_SHARED,  /* too many cells for that: straight into counts.cell */
};

struct counting {
	struct sample_type type;
	struct binning binning;
	enum count_method method;
	cells_fn *cells_of; /* PRIVATE, SHARED: samples to cells */
	cells_max_fn *max;  /* PRIVATE: not NULL where a sample up to span is its own cell */
	uint32_t bytes;     /* of a sample */
	size_t cells;
	unsigned tables;
	bool alone;         /* SHARED with one worker needs no atomics */
	size_t memory;      /* bytes that each counter takes */
};

struct counter;

/* The number of cells that a type and its bins need. */
size_t counting_cells(const struct sample_type *type, const struct edges *edges);

/*
 * How `workers` of them would count. With spare, private tables are not taken: the slower way
 * that needs the least memory.
 */
void counting_init(struct counting *c, const struct sample_type *type, const struct edges *edges,
		   unsigned workers, bool spare);

/* Zeroed totals. Takes the memory at once; large ones come in huge pages where possible. */
int counts_init(struct counts *counts, size_t cells, struct fail *fail);
void counts_free(struct counts *counts);

/* One for each worker; NULL when memory is short. Both arguments must outlive it. */
struct counter *counter_open(const struct counting *c, struct counts *counts);

/* Counts n whole samples that lie one behind the other, and adds them to a checksum if it is not NULL. */
void counter_add(struct counter *counter, const unsigned char *samples, size_t n, struct xxh64 *hash);

/* Adds what it holds to the totals and frees it. Takes NULL. */
void counter_close(struct counter *counter);

#endif
