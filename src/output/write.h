/* SPDX-License-Identifier: MIT */
/*
 * write: the contract of a writer: a finished histogram in, bytes out. Writers know nothing of the
 * job; struct provenance tells them where the counts come from. They do not fail: output_commit
 * reports what happened to the bytes.
 */
#ifndef GPUHIST_WRITE_H
#define GPUHIST_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "hist/hist.h"
#include "output/counter.h"
#include "output/output.h"

/* How a picture is drawn. The same settings give the same bytes. */
struct picture {
	bool utf8;   /* bars have eighths of a block; else '#' */
	bool colour; /* for a terminal that has it; it carries no meaning */
	bool log;    /* bars and columns show the logarithms of the counts */
};

/* How the user wants it to look; each writer uses the members that its format has. */
struct style {
	enum counter_kind counter;
	bool header;  /* a line with the names of the columns */
	bool nonzero; /* only bins that hold something */
	bool flow;    /* rows for under, over and NaN */
	struct picture picture;
};

/* Where the counts come from, for formats that say so; of all inputs and channels together. */
struct provenance {
	uint64_t inputs;  /* how many were read */
	uint64_t bytes;   /* of all inputs, decoded: records, skipped and tail ... */
	uint64_t skipped; /* ... of these, bytes skipped at the starts of inputs ... */
	uint64_t tail;    /* ... and parts of records at their ends */
	bool partial;     /* these are the counts so far, of a run that goes on */
	/* the part-th, from 1, of so many slices of the records; 1 of 1 is all of them */
	uint32_t part, parts;
	/* of a part: a number for the state of all inputs (source_totals); 0: not known */
	uint64_t state;
	/*
	 * The parts in a sum of some parts ("1-4,7", document/held.h), of which `part` is the
	 * first; NULL: it is no such sum.
	 */
	const char *held; /* borrowed */
	/*
	 * The options that decide what is counted and into which bins, as a shell reads them;
	 * borrowed, NULL for "".
	 */
	const char *options;
};

typedef void write_fn(struct output *out, const struct hist *hist, const struct style *style,
		      const struct provenance *from);

write_fn write_csv, write_tsv; /* write_text.c */
write_fn write_raw;
write_fn write_npy;
write_fn write_json; /* exact counts, whatever -C says: the rescue file is one of these */

write_fn write_plot;
write_fn write_svg;

/* write_json.c: edge i as it is written in JSON, which has no infinity. */
size_t write_json_edge(const struct axis *axis, uint32_t i, char text[NUMBER_TEXT]);

/* Is it written as a regular axis? */
bool write_json_is_regular(const struct axis *axis);

/*
 * --stats in JSON: `"name": value, ` for each figure of a channel, written as json.h writes
 * members; nothing without --stats.
 */
void write_stats_members(struct output *out, const struct hist *hist, uint32_t channel);

#endif
