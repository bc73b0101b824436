/* SPDX-License-Identifier: MIT */
/*
 * members: for the files of document: the members that define a histogram, as read from a text.
 *
 * MEMBERS is the tree of these members. A value that is missing has the text "". Functions that
 * check a value set *fail unless it has failed already.
 */
#ifndef GPUHIST_MEMBERS_H
#define GPUHIST_MEMBERS_H

#include "document/document.h"
#include "hist/figures.h"
#include "format/json.h"

/*
 * Each member with its name and its parent, in this order: objects; lists, EDGES to DIGEST (which
 * is written as a string); plain values of a channel, from UNDER on; plain values common to all
 * channels, from SAMPLES on (but each key has its own number of samples). OF_ precedes the figures
 * that JSON has; the reader takes only those that it cannot compute.
 */
#define MEMBER_LIST(X, FIGURE)                   \
	X(WRITER_INFO, "writer_info", HISTOGRAM) \
	X(COUNTED, "gpuhist", WRITER_INFO)       \
	X(METADATA, "metadata", HISTOGRAM)       \
	X(AXIS, "axes", HISTOGRAM)               \
	X(STORAGE, "storage", HISTOGRAM)         \
	X(EDGES, "edges", AXIS)                  \
	X(VALUES, "values", STORAGE)             \
	X(INDEX, "index", STORAGE)               \
	X(DIGEST, "stats_digest", COUNTED)       \
	X(UNDER, "under", COUNTED)               \
	X(OVER, "over", COUNTED)                 \
	X(NO_NUMBER, "nan", COUNTED)             \
	X(WHOLE, "whole", COUNTED)               \
	FIGURES(FIGURE, FIGURE_NOTHING)          \
	X(SUM, "stats_sum", COUNTED)             \
	X(SQUARE, "stats_square", COUNTED)       \
	X(CELLS, "stats_cells", COUNTED)         \
	X(LISTED, "stats_values", COUNTED)       \
	X(CHANNEL, "channel", METADATA)          \
	X(NAME, "name", METADATA)                \
	X(COLUMN, "column", METADATA)            \
	X(SAMPLES, "samples", COUNTED)           \
	X(KEY, "key", METADATA)                  \
	X(KEYS, "keys", METADATA)                \
	X(BYTES, "bytes", COUNTED)               \
	X(SKIPPED, "skipped", COUNTED)           \
	X(TAIL, "tail", COUNTED)                 \
	X(BAD_LINES, "bad_lines", COUNTED)       \
	X(INPUTS, "inputs", COUNTED)             \
	X(PART, "part", COUNTED)                 \
	X(PARTS, "parts", COUNTED)               \
	X(STATE, "inputs_state", COUNTED)        \
	X(PARTIAL, "partial", COUNTED)           \
	X(TYPE, "type", METADATA)                \
	X(BINNING, "binning", METADATA)          \
	X(RANGE, "range", METADATA)              \
	X(ZERO, "zero", METADATA)                \
	X(MOST, "most", METADATA)                \
	X(CLOSED, "closed", METADATA)            \
	X(CLAMP, "clamp", METADATA)              \
	X(MISSING, "missing", METADATA)          \
	X(CHANNELS, "channels", METADATA)        \
	X(OPTIONS, "options", METADATA)          \
	X(SAID_BINS, "bins", METADATA)           \
	X(LOWER, "lower", AXIS)                  \
	X(UPPER, "upper", AXIS)                  \
	X(BINS, "bins", AXIS)

/*
 * DOCUMENT has the members of a HISTOGRAM, or channels or keys. Members of UNKNOWN are UNKNOWN too.
 */
#define MEMBER(id, name, in) id,
#define MEMBER_FIGURE(id, ...) OF_##id,
enum document_member { UNKNOWN, DOCUMENT, HISTOGRAM, MEMBER_LIST(MEMBER, MEMBER_FIGURE) END };

struct member_place {
	const char *name;
	enum document_member in;
};
extern const struct member_place MEMBERS[END];

/* Numbers of an array; NULL: the channel does not have it. */
struct list {
	void *at;
	size_t n;
};

struct documents {
	struct json in;
	struct document *document;                  /* the document being read */
	uint32_t seen;                              /* number of channels already read */
	uint64_t is_seen[LAYOUT_CHANNELS_MAX / 64]; /* bitmap of these channels */
	char *name;                   /* channel's name in the document; owned; NULL: none */
	size_t value[END];            /* channel's values, as offsets in in.text; 0: missing */
	size_t first[END];            /* the same for the first channel read */
	struct list list[DIGEST + 1]; /* channel's lists */
};

/* Fail with STATUS_DATA: "FILE: why". Return -1. */
__attribute__((format(printf, 3, 4))) int
members_refuse(const struct documents *d, struct fail *fail, const char *format, ...);

/* The text of a plain value, or "". */
const char *members_text(const struct documents *d, enum document_member m);

/* Return a count. If it is missing or not a count up to `most`, *fail says so. */
uint64_t members_count(const struct documents *d, enum document_member m, uint64_t most,
		       struct fail *fail);

/* Return true or false. If it is missing or neither, *fail says so. */
bool members_flag(const struct documents *d, enum document_member m, struct fail *fail);

/* ---- document_axis.c ---- */

/*
 * Make the axis that the metadata describe, with `bins` bins, and set the document's options for
 * it. Return why it cannot be made, or NULL.
 */
const char *document_axis(struct axis *axis, const struct documents *d, uint64_t bins,
			  struct fail *fail);

/* Does the channel list the edges of the axis? -1: it does not. */
int document_edges(const struct documents *d, const struct axis *axis, struct fail *fail);

/* ---- document_stats.c ---- */

/*
 * Take the figures of channel c, if the document has those of all channels; otherwise the histogram
 * has no statistics.
 */
int document_stats(struct documents *d, struct hist *h, uint32_t c, struct fail *fail);

#endif
