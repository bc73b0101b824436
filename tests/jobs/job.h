/* SPDX-License-Identifier: MIT */
/* job: what is counted and how; each part of a job is drawn by a file of its own. */
#ifndef JOBS_JOB_H
#define JOBS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "type.h"

enum {
	MAX_EDGE_KEYS = 256, /* edges of a job near which its data is */
	MAX_INPUTS = 4,
	PATH_BYTES = 512,
	LIST_BYTES = 4000,
};

enum binning { DEFAULT_BINS, RANGE, LOG, EDGES, MOD, AUTO };
enum layout { PLAIN, RECORDS, ROWS };
enum header { HEADERLESS, NUMPY, WAVE, PICTURE };
enum list_form { AS_LIST, AS_FILE };

struct job {
	const struct type *type;          /* of the samples */
	bool big_endian;                  /* their byte order */
	bool type_given;                  /* --type is given */
	enum binning binning;             /* which option says the bins */
	uint64_t bins;                    /* N */
	bool bins_given;                  /* --bins is given */
	char lo[80], hi[80];              /* the range as written; "" and "": none, or full */
	bool full;                        /* --range=full */
	bool exact;                       /* whole bounds, integer samples */
	wide whole_lo, whole_hi;          /* exact: the bounds */
	double real_lo, real_hi;          /* not exact: the bounds */
	double *edge;                     /* EDGES: bins + 1 numbers; owned */
	enum list_form form;              /* EDGES: how they are given */
	char list[LIST_BYTES];            /* EDGES: the list, or the name of its file */
	bool tame;                        /* samples stay near one another, but for a few */
	uint64_t edge_key[MAX_EDGE_KEYS]; /* first samples of some bins */
	unsigned edge_keys;               /* how many there are */
	enum header header;               /* what the inputs begin with */
	unsigned header_channels;         /* what it says of channels, 1 if nothing */
	bool last_axis;                   /* NUMPY: -c last */
	unsigned channels;                /* of the histogram */
	bool channels_given;              /* --channels is given */
	enum layout layout;               /* where the samples are in a record */
	uint64_t stride, first_byte;      /* of a record: its bytes; those before its samples */
	uint64_t width;                   /* of a record: its samples, of all channels */
	uint64_t skip;                    /* --skip */
	bool limited;                     /* --count is given */
	uint64_t limit;                   /* --count */
	bool quiet;                       /* -q */
	/* counted by so many runs, each a --part, and merged; 0: by one run */
	unsigned slices;
};

/* ---- range.c, of a job whose type and bins are drawn ---- */

void draw_range(struct job *j);
double real_edge(const struct job *j, uint64_t i); /* of a range that is not exact */
/* the smallest sample that is not below the edge */
uint64_t key_at_edge(const struct job *j, uint64_t i);
uint64_t key_at_real(const struct type *t, double x); /* ... that is not below x */

/* ---- binning.c, of a job whose way to bin is drawn too ---- */

void draw_binning(struct job *j);
/* the samples say the range, by option or default */
bool is_automatic(const struct job *j);
void draw_edge_keys(struct job *j);                  /* ... and its edges */
void write_edges(struct job *j, const char *folder); /* of EDGES, in the job's words */

/* ---- layout.c, of a job whose layout, header and channels are drawn ---- */

void draw_layout(struct job *j);

/* ---- data.c ---- */

/* Stretches of one pattern each: sample by sample, constant, in runs, or
 * rising through neighbouring samples. */
void fill_samples(const struct job *j, unsigned char *at, size_t samples);
/* and noise between the samples */
void fill_records(const struct job *j, unsigned char *at, size_t records);
void fill_noise(unsigned char *at, size_t bytes);

#endif
