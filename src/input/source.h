/* SPDX-License-Identifier: MIT */
/*
 * source: the contract of where samples come from.
 *
 * A source is the list of inputs of a job. Every worker has a reader of its own and loops
 *
 *	source_take, count, source_done
 *
 * until a chunk of 0 bytes says that there is no more. A chunk is a run of whole records that no
 * other reader gets. It is in the caller's buffer, in memory that the source lends, or it is a
 * range of a file that the caller maps; the caller says which of these it can use. Every chunk is
 * given back by source_done, which adds it to the totals. Inputs follow one another; in which
 * order workers get their chunks is not defined, and a histogram does not care.
 *
 *   regular files, block devices   cut into pieces at offsets: a short lock to claim one, then
 *                                  pread without any lock, in parallel (source_file.c)
 *   everything else                one reader at a time, straight into its buffer, until what it read
 *                                  is whole records (source_stream.c)
 *   zstd, in either                frames are found without decoding them and decoded by the
 *                                  readers, in parallel (zstd_read.h)
 *
 * A part of the records (--part) is a run of them, across inputs, that is known before the first one is taken; its
 * inputs must be files (source_part.c).
 *
 * Bytes, skips and limits are those of the samples: of compressed inputs, after decoding, of those with a header
 * (header.h), between it and what follows them.
 */
#ifndef GPUHIST_SOURCE_H
#define GPUHIST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/sample.h"
#include "input/header.h"

struct source;
struct reader;
struct tee; /* tee.h */

/* The largest record. Chunks are whole records, so a caller's buffer must hold one. */
#define SOURCE_RECORD_MAX ((uint32_t)16 << 20)

struct source_spec {
	char *const *paths; /* "-" is standard input; borrowed for the source's life */
	size_t path_count;
	uint64_t skip;           /* bytes to skip at the start of each input */
	uint64_t limit;          /* records in all, UINT64_MAX for no limit */
	uint32_t part, parts;    /* the part-th, from 1, of so many slices of all records; 0 of 0: all of them */
	uint32_t record;         /* bytes of one record, 1 to SOURCE_RECORD_MAX */
	bool ignore_tail;        /* a partial record at an input's end is no error, nor is a file that became shorter */
	bool raw;                /* do not look for the magic numbers of compressed files */
	bool prompt;             /* whole records of a stream are handed out as they come, not gathered to a piece */
	bool zstd;               /* fail unless every input is zstd */
	bool headers;            /* inputs may say what they are, unless they are raw; all of them, or `typed` */
	bool typed;              /* the type was given: an input without a header is of that type too */
	struct sample_type type; /* with headers: of all samples; before source_settle, with typed only */
	uint32_t channels;       /* with headers: what each of them must say; 0: any number */
	uint64_t last;           /* with headers: the last axis that each array must have; 0: any */
	unsigned threads;        /* readers that there may be; 0: one */
	uint64_t memory;         /* bytes that decoders may take together; 0: 256 MiB */
	/* The -M with which they may take `need` bytes; NULL: that many. */
	uint64_t (*memory_for)(void *arg, uint64_t need);
	uint64_t memory_spare; /* bytes that they may take beside, until source_take_spare */
	/* Called before long work that one more worker could share, without a lock; or NULL. */
	void (*more)(void *arg);
	void *arg;       /* of both */
	struct tee *tee; /* all inputs come from it, as pipes; NULL: the source opens them */
};

/*
 * What records that lie in several zstd frames may take beside the decoders' memory, while so many readers
 * take from the source (zstd_read.h): nothing worth counting for samples, half a GiB for eight readers with
 * the largest records.
 */
uint64_t source_seam_bytes(uint32_t record, unsigned threads);

/* Are the inputs likely to be compressed, by --zstd or the first one's name? Nothing is opened. */
bool source_compressed(const struct source_spec *spec);

/*
 * Is none of the inputs compressed, as far as a look at the first bytes of files shows? False where
 * that would have to read a pipe, or would take long. Opens files and closes them.
 */
bool source_plain(const struct source_spec *spec);

/*
 * Bytes of records that the inputs hold, as far as -n allows: of files that are not compressed; headers count as if
 * they were samples. 0: not known. Looks at files as source_plain does. Any thread.
 */
uint64_t source_length(const struct source_spec *spec);

/* What was taken from the inputs and given back: bytes = skipped + records x record + tail. */
struct source_totals {
	uint64_t bytes;
	uint64_t skipped;
	uint64_t tail;    /* bytes of partial records at the ends of inputs */
	uint64_t tails;   /* how many inputs ended so */
	uint64_t shorter; /* how many inputs became shorter while they were read */
	uint64_t cut;     /* how many inputs ended before their headers say */
	uint64_t unsized; /* how many have a header that does not say where samples end */
	uint64_t inputs;  /* inputs opened ... */
	uint64_t headers; /* ... and how many of them have a header */
	bool streamed;    /* at least one was not a file ... */
	double waited;    /* ... and for so many seconds there was nothing to read from one: its writer was awaited */
	uint64_t packed;  /* bytes of compressed inputs, before they were decoded */
	/* Of a part (source_part.c): what was skipped, the tail and the input itself are one part's each. */
	uint64_t state;      /* a hash of the sizes and times of modification of all inputs, in their order */
	uint64_t read;       /* inputs of which it holds something: `inputs` are those that begin in it */
	uint64_t first, all; /* records before its own; records of all parts */
};

/*
 * Checks that every named input is there and is no directory, opens nothing yet.
 * On failure *out is NULL and *fail says why.
 */
int source_open(struct source **out, const struct source_spec *spec, struct fail *fail);

/*
 * Opens the first input and reads its header, if there is one: said->format is NULL where there is none, where
 * the spec does not ask for headers, and where no records are wanted. Of a pipe waits for its first bytes, and
 * loses none. Called once at most, before there is a reader. -1: the input cannot be opened, its header is wrong.
 */
int source_describe(struct source *s, struct header *said, struct fail *fail);

/*
 * What could be known only then: record, type, channels, threads, memory, calls. The inputs, -S, -n and flags of
 * the spec must be those it was opened with. Before there is a reader. -1: the first input is of another type.
 * For a part of the records it must be called: all inputs are looked at, and what is wrong with one is a failure.
 */
int source_settle(struct source *s, const struct source_spec *spec, struct fail *fail);

/* A reader, one thread's at a time, until the source is closed. NULL: no memory. */
struct reader *source_reader(struct source *s);

/* What a caller of source_take can use. */
struct want {
	void *buffer; /* of `cap` bytes, at least a record */
	size_t cap;
	bool lent;    /* memory of the source's will do too, of any size, without a copy ... */
	size_t range; /* ... and so will a range of a file, of this size at most; 0: it will not; ... */
	bool reads;   /* ... which is not mapped, but read: small ones and what is on the disk will do too */
};

struct chunk {
	const unsigned char *data; /* the records; NULL: they are a range of a file */
	size_t bytes;              /* whole records; 0: the end */
	/* Where it is not NULL the caller may add all of the bytes to it, in their order. */
	struct xxh64 *hash;
	/* A range, open until it is given back. */
	int fd;
	uint64_t offset;
	/* The source's own: where the bytes belong. */
	struct input *input;
	struct piece *piece;
	bool unit;
};

/*
 * The next records. Blocks while an input has nothing to give. chunk->bytes == 0: the end of all
 * inputs, or source_stop was called. -1: an input failed, *fail says how, and every later call of
 * any reader ends at once. A reader that has begun must go on until one of these; a lent chunk or
 * a range must be given back before its reader asks again, unless the source lent it to be kept.
 */
int source_take(struct reader *r, const struct want *want, struct chunk *chunk, struct fail *fail);

/*
 * Gives a chunk back, of which the first `counted` bytes were there (less than all only of a range
 * of a file that was cut). -1 as source_take: a checksum is wrong, or the input ends badly. Does
 * nothing for a chunk of 0 bytes.
 */
int source_done(struct reader *r, struct chunk *chunk, size_t counted, struct fail *fail);

/* Is all of a range in the file now? A file that was cut reads as zeros after its new end. */
bool source_intact(const struct chunk *range);

/* Reads from byte `at` of a range on; *got < cap: the file ends there. Any thread. */
int source_read(const struct chunk *range, size_t at, void *buffer, size_t cap, size_t *got, struct fail *fail);

/* The spare memory is wanted: decoders give it back as they end their frames. */
void source_take_spare(struct source *s);

/* Bytes that the regular files among the inputs still hold, as far as -n allows; of a part, all of it. */
uint64_t source_known_bytes(const struct source *s);

/*
 * A worker that waits for something else than the source asks this again and again. True: its reader has begun what
 * other readers may be waiting for, so the worker must call source_take, and wait for none of them. False: none
 * waits for it; the memory that its reader kept was given back if another one lacks it.
 */
bool source_owes(struct reader *r);

/*
 * Is there work for one more worker than there are? Files: always. Streams: only when one
 * reader did not have to wait for data many times in a row; a second reader of a pipe that one can
 * keep empty would take the writer's core and the writer's cache.
 */
bool source_backlog(struct source *s);

/* Makes every call of source_take, blocked ones included, end soon. Any thread. */
void source_stop(struct source *s);

/* Was everything handed out that there is, or that -n allows? When no source_take is running, before source_totals. */
bool source_finished(const struct source *s);

/*
 * Bytes of records that source_done has reported so far. Any thread, at any time before source_totals:
 * it takes no lock, which a reader that is asleep or at work might hold up.
 */
uint64_t source_counted(const struct source *s);

/* How many inputs were begun so far. Any thread, at any time, without a lock. */
uint64_t source_inputs(const struct source *s);

/* Of a part: what all inputs were like (source_totals). After source_settle, any thread. */
uint64_t source_state(const struct source *s);

/* Valid when no source_take is running. */
const struct source_totals *source_totals(struct source *s);

/*
 * Leaves the offset of a redirected standard input after the last record that was handed
 * out, as head does. Takes NULL.
 */
void source_close(struct source *s);

#endif
