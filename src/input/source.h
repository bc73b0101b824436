/* SPDX-License-Identifier: MIT */
/*
 * source: the contract of where samples come from.
 *
 * A source is the list of inputs of a job. Every worker has a reader and repeats
 *
 *	source_take, count, source_done
 *
 * until a chunk of 0 bytes says that there is no more. A chunk is a run of whole records that no
 * other reader gets. Plain bytes are read into the caller's room; decoded ones are lent, or copied
 * there; and a caller that wants to read by itself gets a range of a file. What must be done to get
 * a chunk (opening, reading, finding frames, decoding) is done inside source_take, by whichever
 * reader comes for one (source.c has the table of these tasks). The order of chunks is not defined,
 * and does not matter to a histogram.
 *
 * A reader may stay away as long as its worker likes. Only what it has borrowed waits for it: a
 * lent chunk holds up its own frame. So it gives that back before it takes again; ranges it may
 * keep.
 *
 * A part of the records (--part) is a run of them, across inputs, that is known before the first
 * one is taken; its inputs must be files that are not compressed (source_part.c).
 *
 * Bytes, skips and limits are those of the samples: in compressed inputs, after decoding; in inputs
 * with a header (header.h), between the header and what follows the samples.
 */
#ifndef GPUHIST_SOURCE_H
#define GPUHIST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/sample.h"
#include "input/header.h"
#include "input/text.h"
#include "input/totals.h"

struct source;
struct reader;
struct tee;      /* tee.h */
struct unpacker; /* unpacker.h */

/* The largest record. Chunks are whole records, so a caller's room must hold one. */
#define SOURCE_RECORD_MAX ((uint32_t)16 << 20)

/* Options for source_open. */
struct source_spec {
	char *const *paths; /* "-" is standard input; borrowed for the source's life */
	size_t path_count;
	struct tee *tee;       /* --tee: copies all bytes that are read; or NULL */
	struct text_spec text; /* inputs are text, and samples are made of it; raw is set too */
	uint64_t skip;         /* bytes to skip at the start of each input */
	/* slice number `part`, from 1, of `parts` slices of all records; 0 of 0: no slices */
	uint32_t part, parts;
	/* a partial record at an input's end is no error, nor is a file that became shorter */
	bool ignore_tail;
	bool raw;    /* all bytes are samples, and the first ones are not looked at */
	bool prompt; /* whole records of a stream are handed out as they arrive */
	/* chunks are handed out in the order of inputs and records, to callers that take lent ones */
	bool ordered;
	bool zstd;     /* fail unless every input is zstd */
	bool no_check; /* content checksums of zstd frames are neither added up nor compared */
	bool typed;    /* -t gave the type; else all inputs have headers, or none has */
	/* -t, or the name of one of the paths, says the type, as a.f32 does */
	bool type_said;
	const char *tensor; /* of safetensors files only this one counts; NULL: none */
	/* the header of the only input, if it was read before; NULL: the input is looked at */
	const struct header *known;
	/* until source_start: bytes of the largest window with which an input is looked at */
	uint64_t memory;
};

/* Options for source_start. */
struct source_use {
	uint32_t record;         /* bytes of one record, 1 to SOURCE_RECORD_MAX */
	uint32_t packed;         /* records that share `record` bytes; 0 or 1: they do not */
	uint64_t limit;          /* records in all, UINT64_MAX for no limit */
	struct sample_type type; /* of all samples; headers must say the same */
	uint32_t channels;       /* channels that headers must say; 0: any number */
	uint64_t last;           /* length of the last axis that headers must say; 0: any */
	/* if ordered: records of a row; plain chunks are cut at the end of their last row; or 0 */
	uint64_t row;
	unsigned threads;  /* the most readers there will be */
	unsigned decoders; /* the most readers that decode at a time; 0: all */
	uint64_t memory;   /* bytes that decoders may take together, half of -M or more */
	/* Called without a lock before long work that one more worker could share; or NULL. */
	void (*more)(void *arg);
	/*
	 * Called without a lock, in source_take and source_done, when the first `inputs` inputs
	 * were given back and nothing is wrong with them; or NULL.
	 */
	void (*ended)(void *arg, size_t inputs);
	/* A device that may decode long frames, once it is ready; or NULL. */
	const struct unpacker *unpacker;
	/*
	 * Called without a lock if a device that is not demanded would pay: starts it, and waits for
	 * some seconds at most. False: it is not ready.
	 */
	bool (*start)(void *arg);
	void *arg; /* for all callbacks */
};

/* Are the inputs likely to be compressed, by --zstd or the first one's name? Nothing is opened. */
bool source_compressed(const struct source_spec *spec);

/*
 * Checks that every named input exists and is no directory. Unless raw it opens the first one and
 * reads what it says; for a pipe it waits for the first bytes, and loses none. On failure *out is
 * NULL and *fail says why.
 */
int source_open(struct source **out, const struct source_spec *spec, struct fail *fail);

/* What the first input said; format is NULL where there is no header, or none was asked for. */
const struct header *source_said(const struct source *s);

/*
 * Called once, before there is a reader. -1: the first input is of another type; or, for a part,
 * which looks at all inputs here, something is wrong with one.
 */
int source_start(struct source *s, const struct source_use *use, struct fail *fail);

/*
 * Makes a reader, which one thread at a time may use until the source is closed. NULL: no memory.
 */
struct reader *source_reader(struct source *s);

/* The kinds of chunk that a caller of source_take accepts. */
struct want {
	void *room; /* of `cap` bytes, at least a record */
	size_t cap;
	bool lent;     /* the caller also takes memory of the source, of any size, without a copy */
	bool unpacked; /* the caller also takes memory that holds what the unpacker decoded */
	size_t range;  /* the most bytes of a range of a file that the caller takes; 0: no ranges */
};

struct chunk {
	const unsigned char *data; /* the records; NULL: they are a range of a file */
	/* Whole records; 0: the end. Only the last packed records of an input end inside a group. */
	size_t bytes;
	/* If not NULL, the caller may add all of the bytes to it, in their order. */
	struct xxh64 *hash;
	size_t path;    /* index of the chunk's input among the paths */
	uint64_t first; /* number of the chunk's first record in its input */
	int fd;         /* the file of a range, open until that is given back; else -1 */
	uint64_t offset;
	/* The source's own: */
	struct input *input; /* the input of a range; if ordered, of any chunk without a piece */
	struct zstd_piece *piece; /* the piece that is lent; or NULL */
};

/*
 * Takes the next records. Blocks while an input has nothing to give. chunk->bytes == 0: all inputs
 * have ended, or source_stop was called. -1: an input failed, and nothing comes any more; all
 * readers get the same *fail, the first failure in the order of the inputs and their bytes.
 */
int source_take(struct reader *r, const struct want *want, struct chunk *chunk, struct fail *fail);

/*
 * Gives a chunk back, of which the first `counted` bytes were there (fewer than all only for a
 * range of a file that was cut). Does nothing for a chunk of 0 bytes.
 */
void source_done(struct reader *r, struct chunk *chunk, size_t counted);

/* Reads from byte `at` of a range on; *got < cap: the file ends there. Any thread. */
int source_read(const struct chunk *range, size_t at, void *buffer, size_t cap, size_t *got,
		struct fail *fail);

/* Is the first input compressed? Any thread, after source_open. */
bool source_packed(struct source *s);

/*
 * Is it certain that no input is compressed? So it is if there is one, which was looked at, and if
 * compressed ones would be refused. After source_open, before source_start.
 */
bool source_all_plain(const struct source *s);

/* Are long frames of a file decoded, or may one come, as nothing was read yet? Any thread. */
bool source_unpacks(struct source *s);

/*
 * Estimates the bytes of samples in compressed files, if the rest is packed like the part read so
 * far and later files are like this one. For a long frame of a file that all readers decode: the
 * bytes counted so far. 0: unknown. Any thread.
 */
uint64_t source_expected(struct source *s);

/*
 * Is there work for one more worker than there are? Files: always. Streams: only when one reader
 * has not had to wait for data many times in a row; a second reader of a pipe that one can keep
 * empty would compete with the writer for its core and its cache.
 */
bool source_backlog(struct source *s);

/* Makes every call of source_take, blocked ones included, end soon. Any thread. */
void source_stop(struct source *s);

/*
 * When no source_take is running and all was given back: has everything been handed out that there
 * is, or that -n allows? -1: an input failed, perhaps when its last range came back.
 */
bool source_finished(const struct source *s);
int source_failure(const struct source *s, struct fail *fail);

/*
 * Bytes of records that source_done has reported so far. Any thread, at any time, without a lock.
 */
uint64_t source_counted(const struct source *s);

/* The same as source_length counts: of text, the bytes that were read. */
uint64_t source_progress(const struct source *s);

/* How many inputs were begun so far. Any thread, at any time, without a lock. */
uint64_t source_inputs(const struct source *s);

/*
 * After source_start: bytes of records in the inputs, up to -n, or in the part. Headers count as
 * samples; for text, all its bytes count. 0: unknown, because an input is no regular file or is
 * compressed (by its name, or once it was opened). Any thread.
 */
uint64_t source_length(const struct source *s);

/* For a part, after source_start: totals.slice.state. */
uint64_t source_state(const struct source *s);

/* Valid when no source_take is running. */
const struct source_totals *source_totals(struct source *s);

/*
 * Frees the source. Leaves the offset of a redirected standard input after the last record that was
 * handed out, as head does. Takes NULL.
 */
void source_close(struct source *s);

#endif
