/* SPDX-License-Identifier: MIT */
/*
 * described: what a document says of one channel, before any of it is believed, and the axis that
 * follows from it.
 */
#ifndef GPUHIST_DESCRIBED_H
#define GPUHIST_DESCRIBED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/axis.h"
#include "bins/number.h"
#include "document/json_read.h"
#include "hist/hist.h"

/* The members of the metadata that we write and need. */
enum meta {
	META_TYPE,
	META_BINNING,
	META_RANGE,
	META_COUNTER,
	META_CLOSED,
	META_CLAMP,
	META_CHANNEL,
	META_CHANNELS,
	META_SAMPLES,
	META_UNDER,
	META_OVER,
	META_NAN,
	META_BYTES,
	META_SKIPPED,
	META_TAIL,
	META_INPUTS,
	META_PART,
	META_PARTS,
	META_OPTIONS,
	META_NEEDED,             /* those before are in every document ... */
	META_MOST = META_NEEDED, /* ... this one for --auto ... */
	META_PARTIAL,            /* ... this one while the run goes on ... */
	META_CLAMPED_UNDER,      /* ... these two for --auto with --clamp ... */
	META_CLAMPED_OVER,
	META_HELD,  /* ... this one for sums of some parts ... */
	META_STATE, /* ... and this one for parts */
	METAS,
};

extern const char *const described_meta_names[METAS];

#define META_TEXT (2 * NUMBER_TEXT + 1) /* fits the longest known text */

struct described {
	/*
	 * Where it begins in the input, and where the values of these members begin; 0: it does not
	 * have the member (a brace always comes first).
	 */
	uint64_t at, schema_at, metadata_at, axes_at, storage_at;
	uint64_t schema;

	bool given[METAS];
	uint64_t other_at;   /* where a member has a value of another kind than ours, or 0 ... */
	enum meta other;     /* ... and which */
	bool ours;           /* its writer_info names gpuhist */
	uint64_t unknown_at; /* a member that the schema does not have; 0: none */
	bool foreign;        /* after described_check: gpuhist did not write it */
	char type[META_TEXT], binning[META_TEXT], range[META_TEXT],
		counter[META_TEXT]; /* "": too long to be a known one */
	bool closed, clamp, partial;
	uint64_t channel, channels, samples, under, over, nan, bytes, skipped, tail, inputs, part,
		parts, most;
	char *options, *held; /* owned */
	uint64_t state;
	struct hist_flow clamped;

	uint64_t axes;          /* how many; the members below are those of the last one */
	char axis[META_TEXT];   /* its type: */
	bool regular, variable; /* neither: a type that we do not know */
	double lower, upper;    /* of a regular axis ... */
	uint64_t bins;          /* ... which must have all three ... */
	bool has_lower, has_upper, has_bins;
	bool integer;  /* of whole numbers, as boost-histogram marks its own */
	double *edges; /* of a variable one; owned */
	uint64_t edge_count;
	bool underflow, overflow, circular;

	char storage[META_TEXT]; /* its type */
	/* it has counts; once checked as many as the axis has bins, with under and over ... */
	bool has_counts;
	struct json_counts counts; /* the caller frees their rest */
	/* ... but if it is sparse, only as many as there are places here, for each axis */
	bool has_index;
	uint64_t index_rows;      /* of so many axes */
	struct json_counts index; /* of the last axis; the caller frees their rest */
	/* where a path takes the place of edges, values or an index; 0: nowhere */
	uint64_t path_at;
};

/*
 * Takes a member of the histogram from the reader, or skips one that we do not use. -1: *fail says
 * why.
 */
int described_member(struct described *d, struct json_reader *r, const char *name,
		     struct fail *fail);

/*
 * After all members: is it a histogram of ours, or another program's that can be taken as plain
 * counts, with each number within its bounds? Channels are not compared with each other. A sparse
 * storage is expanded: the counts become those of all bins, with under and over.
 */
int described_check(struct described *d, const struct json_reader *r, struct fail *fail);

/*
 * Makes the axis that the metadata describes, which must be the same as the one that is listed; for
 * another program's histogram the one that is listed, for samples of f64. The caller frees it by
 * edges_free.
 */
int described_axis(struct axis *axis, struct described *d, const struct json_reader *r,
		   struct fail *fail);

/* How many bins the listed axis has; once it is checked, at most BINS_MAX. */
static inline uint64_t described_bins(const struct described *d)
{
	return d->regular ? d->bins : d->edge_count - 1;
}

/* Frees what it owns, and leaves nothing to be freed. */
void described_free(struct described *d);

#endif
