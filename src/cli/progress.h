/* SPDX-License-Identifier: MIT */
/* progress: formats the line of progress. Pure functions. */
#ifndef GPUHIST_PROGRESS_H
#define GPUHIST_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far a run is. */
struct progress_now {
	uint64_t bytes;                /* bytes counted so far */
	uint64_t length;               /* bytes in all inputs; 0: unknown */
	uint64_t records, gpu_records; /* records counted so far, in total and by a GPU */
	double seconds;                /* since the run began */
	double rate;                   /* recent bytes per second */
};

#define SIZE_TEXT 16

/* Three digits and a unit: 999 B, 1.00 kB, 12.3 MB. */
void size_text(char text[SIZE_TEXT], double bytes);

#define PROGRESS_TEXT 160

/*
 * Format the line without a newline, at most `columns` long: parts that do not fit are left out,
 * the last ones first; the first part is truncated.
 */
void progress_text(char text[PROGRESS_TEXT], const struct progress_now *p, unsigned columns);

/* The recent rate is measured from the earlier of two samples, at least this far apart. */
#define RATE_SECONDS 2.5

struct rate {
	double at[2];
	uint64_t bytes[2];
	bool begun;
};

/*
 * Record the bytes counted so far and return the recent rate. The first call, with 0 bytes, records
 * the start.
 */
double rate_look(struct rate *rate, double now, uint64_t bytes);

#endif
