/* SPDX-License-Identifier: MIT */
/*
 * source_input: one input: what is wanted of it, and how far it was read.
 *
 * Offsets are those of an input's decoded bytes, from where it begins, unless they are called
 * packed.
 */
#ifndef GPUHIST_SOURCE_INPUT_H
#define GPUHIST_SOURCE_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "input/bytes.h"
#include "input/content.h"
#include "input/part.h"
#include "input/source.h"

struct plain_input; /* source_plain.c */
struct zstd_input;  /* zstd_job.h */
struct slice;       /* source_part.c */

/* What was taken of an input when nothing more of it comes. */
struct taken {
	uint64_t left_at; /* packed: where the next program goes on with a redirected file */
	uint64_t packed;  /* packed bytes that were decoded */
	uint64_t missing; /* bytes before in->at that were not there after all */
	uint64_t bytes;   /* bytes of samples */
	uint64_t tail;    /* bytes of samples after the last whole record */
};

/* What plain inputs and zstd inputs do in their own ways, with the lock but for `begin`. */
struct input_kind {
	/* Gets ready for the first task. 1: the source was stopped. */
	int (*begin)(struct source *s, struct input *in, struct fail *fail);
	void (*free)(struct source *s, struct input *in);
	/* Nothing of the input is being read or decoded, or will be handed out. */
	bool (*idle)(const struct source *s, const struct input *in);
	bool (*backlog)(const struct source *s, const struct input *in); /* source_backlog */
	struct taken (*taken)(const struct source *s, const struct input *in);
	/* Looks at what follows the samples, where that was not done before. */
	int (*check_rest)(struct input *in, struct fail *fail);
};
extern const struct input_kind plain_kind, zstd_kind;

/* The part of an input that this run counts (--part). */
struct portion {
	bool sliced;       /* only the bytes from `from` on, up to `to`, are wanted */
	uint64_t from, to; /* offsets from the first sample */
	bool begins;       /* the bytes that -S skips belong to it */
	bool ends;         /* the bytes after the records belong to it */
};

struct input {
	struct input *next; /* the next live input, in the order of the paths */
	const char *name;   /* for messages */
	size_t index;       /* its index among the paths, by which failures are ordered */
	struct bytes *bytes;
	bool is_file; /* its bytes can be read at any offset */
	struct content content;
	/* offset of the first sample that is wanted; offset where samples end, or NO_END */
	uint64_t first, bound;
	uint64_t limit; /* offset from which on -n or --part want nothing; or NO_END */
	struct portion part;

	uint64_t at;   /* offset of what is read or cut next, or UNKNOWN */
	bool busy;     /* a reader has its turn, to read or cut what comes next */
	bool ended;    /* nothing more is read or cut */
	bool shorter;  /* the file is smaller than it was */
	unsigned lent; /* chunks of it that callers have yet to give back */
	bool spent;    /* nothing of it is left to hand out, and a reader was called */
	const struct input_kind *kind;
	struct plain_input *plain; /* NULL unless a plain input has begun */
	struct zstd_input *zstd;   /* NULL unless a zstd input has begun */
};

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a + b, or the largest offset where the sum is larger. */
static inline uint64_t offset_sum(uint64_t a, uint64_t b)
{
	return a < NO_END - b ? a + b : NO_END;
}

/* Where the records of an input end at the latest. */
static inline uint64_t input_stop(const struct input *in)
{
	return lesser(in->limit, in->bound);
}

/* ---- source_input.c: without the lock ---- */

/*
 * Checks that every named input exists, is no directory, and may be read. *length is how many bytes
 * follow those that -S skips, or 0 if an input is no regular file or is compressed by its name.
 */
int input_check_all(const struct source_spec *spec, uint64_t *length, struct fail *fail);

/*
 * Opens an input and looks at its beginning: is it zstd, does it have a header? No byte of a pipe
 * is lost. The caller frees *out in any case. 1: the source was stopped.
 */
int input_open(struct source *s, size_t path, struct input **out, struct fail *fail);
void input_free(struct source *s, struct input *in);

/* Finds the first sample that -S does not skip, and where the samples end. -1: -S is larger. */
int input_bounds(const struct source *s, struct input *in, struct fail *fail);

/* Gets the input ready; -n leaves `left` records for it. 1: the source was stopped. */
int input_begin(struct source *s, struct input *in, uint64_t left, struct fail *fail);

/* Does the header agree with what samples are taken to be, and with the first input? */
int input_agrees(const struct source *s, const struct input *in, struct fail *fail);

/* Sets *fail and returns -1: -S is larger than the samples are. */
int input_too_skipped(const struct source *s, const struct input *in, struct fail *fail);

/* ---- source_part.c: the records of a slice; without the lock ---- */

uint64_t part_records(const struct slice *slice); /* how many records it has */

/* Can the input that this path names, of file type `mode`, be cut into slices? */
int part_check(const struct source_spec *spec, size_t path, mode_t mode, struct fail *fail);

/* Counts the records of all inputs: opens each and closes it again. Makes s->slice. */
int part_measure(struct source *s, struct fail *fail);

/* Finds which records of an open input the slice wants. -1: the input has changed. */
int part_enter(const struct source *s, struct input *in, struct fail *fail);

/* Sets *fail and returns -1: the input has changed since its records were counted. */
int part_changed(const struct input *in, struct fail *fail);

#endif
