/* SPDX-License-Identifier: MIT */
/* progress: the line that says how far a run is. Pure: the figures in, text out. */
#ifndef GPUHIST_PROGRESS_H
#define GPUHIST_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* How far a run is. */
struct progress_now {
	uint64_t bytes;                /* of records, counted so far */
	uint64_t length;               /* of all inputs; 0: not known */
	uint64_t records, gpu_records; /* counted so far; of these, by a GPU */
	double seconds;                /* since the run began */
	double rate;                   /* bytes a second, of late */
};

#define PROGRESS_TEXT 160

/*
 * The line without its newline, at most `columns` long: what does not fit is left out, the last parts first, each of
 * them whole; of the first one as much as fits.
 */
void progress_text(char text[PROGRESS_TEXT], const struct progress_now *p, unsigned columns);

/*
 * The rate of late: bytes a second since the oldest look that is no older than RATE_SECONDS, or, where there is none
 * (looks that SIGUSR1 asks for), since the one before.
 */
#define RATE_SECONDS 5.0
#define RATE_LOOKS 24u

struct rate {
	double at[RATE_LOOKS];
	uint64_t bytes[RATE_LOOKS];
	unsigned looks; /* so many of the last ones are kept; zeroed: none */
	unsigned next;
};

/* What a look finds, and the rate that follows. The first begins at 0 bytes when it is told of them. */
double rate_look(struct rate *rate, double now, uint64_t bytes);

#endif
