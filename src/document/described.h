/* SPDX-License-Identifier: MIT */
/*
 * described: what a document says of one channel, before any of it is believed, and the axis that this makes.
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
	META_MOST = META_NEEDED, /* ... this one in those of --auto ... */
	META_PARTIAL,            /* ... this one where the work went on ... */
	META_CLAMPED_UNDER,      /* ... these two in those of --auto that clamp ... */
	META_CLAMPED_OVER,
	META_HELD,  /* ... this one in sums of some parts ... */
	META_STATE, /* ... and this one in parts */
	METAS,
};

extern const char *const described_meta_names[METAS];

#define META_TEXT (2 * NUMBER_TEXT + 1) /* room for the longest that is known */

struct described {
	/* Where it begins in the input, and where its members' values do; 0: it has none (a brace stands before all).
	 */
	uint64_t at, schema_at, metadata_at, axes_at, storage_at;
	uint64_t schema;

	bool given[METAS];
	uint64_t other_at;   /* a member of another kind of value than ours has: where, or 0 ... */
	enum meta other;     /* ... and which */
	bool ours;           /* its writer_info names gpuhist */
	uint64_t unknown_at; /* a member that the schema does not have; 0: none */
	bool foreign;        /* after described_check: gpuhist did not write it */
	char type[META_TEXT], binning[META_TEXT], range[META_TEXT], counter[META_TEXT]; /* "": too long to be known */
	bool closed, clamp, partial;
	uint64_t channel, channels, samples, under, over, nan, bytes, skipped, tail, inputs, part, parts, most;
	char *options, *held; /* owned */
	uint64_t state;
	struct hist_flow clamped;

	uint64_t axes;          /* how many; what follows is of the last one */
	char axis[META_TEXT];   /* its type: */
	bool regular, variable; /* neither: another */
	double lower, upper;    /* of a regular one ... */
	uint64_t bins;          /* ... which has all three ... */
	bool has_lower, has_upper, has_bins;
	bool integer;  /* of whole numbers, as boost-histogram says of its own */
	double *edges; /* of a variable one; owned */
	uint64_t edge_count;
	bool underflow, overflow, circular;

	char storage[META_TEXT];   /* its type */
	bool has_counts;           /* it has these; in the end as many as the axis has bins, with under and over ... */
	struct json_counts counts; /* their rest is owned */
	bool has_index;           /* ... but where it is sparse, only so many as there are places here, for each axis */
	uint64_t index_rows;      /* of so many axes */
	struct json_counts index; /* of the last one; their rest is owned */
	uint64_t path_at;         /* where a path stands instead of edges, values or an index; 0: nowhere */
};

/* Takes a histogram's member from the reader, or passes over one that is not ours. -1: *fail says why. */
int described_member(struct described *d, struct json_reader *r, const char *name, struct fail *fail);

/*
 * After all members: is it a histogram of ours, or of another writer's that can be taken as plain counts, each number
 * within its bounds? What channels share is not compared. The counts are made those of all bins, with under and over.
 */
int described_check(struct described *d, const struct json_reader *r, struct fail *fail);

/*
 * The axis that the metadata describes, the same as the one that is listed; of another writer's histogram the one that
 * is listed, for samples of f64. To be freed by edges_free.
 */
int described_axis(struct axis *axis, struct described *d, const struct json_reader *r, struct fail *fail);

/* How many bins the listed axis has; of a checked one at most BINS_MAX. */
static inline uint64_t described_bins(const struct described *d)
{
	return d->regular ? d->bins : d->edge_count - 1;
}

/* Frees what it owns, and leaves nothing to be freed. */
void described_free(struct described *d);

#endif
