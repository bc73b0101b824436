/* job: what is counted and how; each part of a job is drawn by a room of its own. */
#ifndef JOBS_JOB_H
#define JOBS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "type.h"

enum {
	MAX_EDGE_KEYS = 256,	/* edges of a job that its data sits on */
	MAX_INPUTS = 4,
	PATH_BYTES = 512,
};

struct job {
	const struct type *type;	/* of the samples */
	bool big_endian;	/* their byte order */
	uint64_t bins;		/* N */
	char lo[80], hi[80];	/* the range as written; "" and "": none, or full */
	bool full;		/* --range=full */
	bool exact;		/* whole bounds, integer samples */
	wide whole_lo, whole_hi;	/* exact: the bounds */
	double real_lo, real_hi;	/* not exact: the bounds */
	uint64_t edge_key[MAX_EDGE_KEYS];	/* first samples of some bins */
	unsigned edge_keys;	/* how many there are */
	uint64_t skip;		/* --skip */
	bool limited;		/* --count is given */
	uint64_t limit;		/* --count */
	bool quiet;		/* -q */
};

/* ---- range.c, of a job whose type and bins are drawn ---- */

void draw_range(struct job *j);
void draw_edge_keys(struct job *j);	/* ... and its range */

/* ---- data.c ---- */

/* Stretches of one pattern each: sample by sample, constant, in runs, or
 * rising through neighbouring samples. */
void fill_samples(const struct job *j, unsigned char *at, size_t samples);
void fill_noise(unsigned char *at, size_t bytes);

#endif
