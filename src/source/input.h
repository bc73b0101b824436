/* SPDX-License-Identifier: MIT */
/*
 * input: keeps the state of one input: its bounds, and how far it has been read.
 *
 * Offsets count an input's decoded bytes from its beginning, unless they are called packed.
 */
#ifndef GPUHIST_INPUT_H
#define GPUHIST_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bytes/bytes.h"
#include "format/content.h"
#include "source/source.h"
#include "zstd/zstd_frame.h"

#define UNKNOWN FRAME_UNKNOWN     /* of an offset or a number of bytes */
#define OFFSET_MOST (UNKNOWN - 1) /* offsets stop here if headers lie about sizes */

struct plain_input; /* source_plain.c */
struct zstd_input;  /* zstd_job.h */
struct text_input;  /* source_text.c */

/* The bytes read from an input that has ended. */
struct input_sums {
	uint64_t left_at; /* packed offset at which to leave a redirected file */
	uint64_t packed;  /* packed bytes that were decoded */
	uint64_t missing; /* claimed bytes before in->at that the file did not hold */
	uint64_t bytes;   /* bytes of samples */
	uint64_t tail;    /* bytes of samples after the last whole record */
	uint64_t end;     /* offset of the end of all, if it was read or passed over; or 0 */
};

/* The operations of a kind: plain samples, zstd or text. All but `begin` need the lock. */
struct input_kind {
	/* Prepare the first task. 1: the source was stopped. */
	int (*begin)(struct source *s, struct input *in, struct fail *fail);
	void (*free)(struct source *s, struct input *in);
	/* Is no byte of the input being read or decoded, or still to be handed out? */
	bool (*idle)(const struct source *s, const struct input *in);
	/* Would one more reader find work in the input? */
	bool (*backlog)(const struct source *s, const struct input *in);
	struct input_sums (*sums)(const struct source *s, const struct input *in);
	/* Is all before the failure at this offset done, so that nothing of it can fail earlier? */
	bool (*due)(const struct source *s, const struct input *in, uint64_t offset);

	/* The kind may lack these: */
	/* Free and add up those parts that are done. */
	void (*settle)(struct source *s, struct input *in);
	/* If ordered: must later inputs wait until it has handed out its samples? */
	bool (*precedes)(const struct source *s, const struct input *in);
	/* Take back a piece that was lent. */
	void (*back_unlocks)(struct source *s, const struct chunk *chunk);
	/* For source_unpacks and source_expected. */
	bool (*unpacks)(const struct input *in);
	uint64_t (*expected)(const struct source *s, const struct input *in);
};

/* The part of an input that belongs to this run's slice (--part). */
struct portion {
	bool sliced;      /* there are slices; else the whole input is wanted */
	bool begins;      /* the input and the bytes before the records belong to it */
	bool ends;        /* the bytes after the records belong to it */
	uint64_t end;     /* if sliced: offset of the end of its records */
	uint64_t records; /* if sliced: records of all slices in the input */
};

struct input {
	struct input *next; /* the next live input, in the order of the paths */
	const char *name;   /* for messages */
	size_t index;       /* its index among the paths, by which failures are ordered */
	struct bytes *bytes;
	bool is_file; /* its bytes can be read at any offset */
	struct content content;
	uint64_t begin; /* offset of the first wanted sample */
	uint64_t bound; /* offset of the end of the samples, or NO_END */
	uint64_t limit; /* offset at which -n or --part ends, or NO_END */
	struct portion part;

	uint64_t at;   /* offset of the next byte to read or cut, or UNKNOWN */
	bool busy;     /* a reader has the turn to read or cut the next bytes */
	bool ended;    /* its last bytes were read or cut */
	bool shorter;  /* the file is smaller than it was */
	unsigned lent; /* chunks of it that callers have yet to return */
	const struct input_kind *kind;
	struct plain_input *plain; /* NULL unless a plain input has begun */
	struct zstd_input *zstd;   /* NULL unless a zstd input has begun */
	struct text_input *text;   /* NULL unless text has begun */
};

/* a + b, or NO_END if the sum is larger. */
static inline uint64_t offset_sum(uint64_t a, uint64_t b)
{
	return a < NO_END - b ? a + b : NO_END;
}

/* The largest offset at which the records of an input may end. */
static inline uint64_t input_stop(const struct input *in)
{
	return lesser(in->limit, in->bound);
}

/* ---- source_part.c: the records of a slice; without the lock ---- */

/* Check that the input at this path, of file type `mode`, can be sliced. */
int part_check(const struct source_spec *spec, size_t path, mode_t mode, struct fail *fail);

/* Read the sizes and times of all inputs; estimate the slice's bytes. */
int part_start(struct source *s, struct fail *fail);

/* Find the slice's records in an open input with bounds. -1: not to be sliced, or changed. */
int part_cut(const struct source *s, struct input *in, struct fail *fail);

#endif
