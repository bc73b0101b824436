/* SPDX-License-Identifier: MIT */
/* progress: the line that shows how far a run is. Pure: figures in, text out. */
#ifndef GPUHIST_PROGRESS_H
#define GPUHIST_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far a run is. */
struct progress_now {
	uint64_t bytes;                /* bytes of records counted so far */
	uint64_t length;               /* bytes of all inputs; 0: not known */
	uint64_t records, gpu_records; /* records counted so far, and those of them by a GPU */
	double seconds;                /* since the run began */
	double rate;                   /* bytes a second, recently */
};

#define SIZE_TEXT 16

/* Three digits and a unit: 999 B, 1.00 kB, 12.3 MB. */
void size_text(char text[SIZE_TEXT], double bytes);

#define PROGRESS_TEXT 160

/*
 * Makes the line without a newline, at most `columns` long: parts that do not fit are left out, the
 * last ones first; the first part is cut.
 */
void progress_text(char text[PROGRESS_TEXT], const struct progress_now *p, unsigned columns);

/* The recent rate counts from the earlier of two looks, which are this far apart or more. */
#define RATE_SECONDS 2.5

struct rate {
	double at[2];
	uint64_t bytes[2];
	bool begun;
};

/*
 * Notes a look at the bytes counted so far and returns the recent rate. The first call, with 0
 * bytes, notes the beginning.
 */
double rate_look(struct rate *rate, double now, uint64_t bytes);

#endif
