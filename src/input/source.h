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
 * range of a file that the caller reads; the caller says which of these it can use. Every chunk is
 * given back by source_done, which adds it to the totals. Inputs follow one another. The order in
 * which workers get their chunks is not defined, and does not matter to a histogram.
 *
 *   regular files, block devices   cut into pieces at offsets: a short lock to claim one, then
 *                                  pread without any lock, in parallel (source_file.c)
 *   everything else                one reader at a time, straight into its buffer, until what it
 *                                  read is whole records (source_stream.c)
 *   zstd, in either                frames are found without decoding them and decoded by the
 *                                  readers, in parallel (zstd_read.h)
 *
 * A part of the records (--part) is a run of them, across inputs, that is known before the first
 * one is taken; its inputs must be files (source_part.c).
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

struct source;
struct reader;
struct tee; /* tee.h */

/* The largest record. Chunks are whole records, so a caller's buffer must hold one. */
#define SOURCE_RECORD_MAX ((uint32_t)16 << 20)

struct source_spec {
	char *const *paths; /* "-" is standard input; borrowed for the source's life */
	size_t path_count;
	uint64_t skip;  /* bytes to skip at the start of each input */
	uint64_t limit; /* records in all, UINT64_MAX for no limit */
	/* the part-th, from 1, of so many slices of all records; 0 of 0: all of them */
	uint32_t part, parts;
	uint32_t record; /* bytes of one record, 1 to SOURCE_RECORD_MAX */
	/* a partial record at an input's end is no error, nor is a file that became shorter */
	bool ignore_tail;
	bool raw; /* do not look for the magic numbers of compressed files */
	/* whole records of a stream are handed out as they arrive, not gathered into a piece */
	bool prompt;
	bool zstd; /* fail unless every input is zstd */
	/*
	 * inputs may have headers, unless they are raw; all must have one, or the type must be
	 * given
	 */
	bool headers;
	bool typed; /* the type was given: an input without a header is of that type too */
	/* ... or the name of one of the paths says it, as a.f32 does */
	bool type_said;
	/* with headers: of all samples; before source_settle, with typed only */
	struct sample_type type;
	uint32_t channels; /* with headers: what each of them must say; 0: any number */
	uint64_t last;     /* with headers: the last axis that each array must have; 0: any */
	unsigned threads;  /* the most readers there will be; 0: one */
	unsigned decoders; /* the most readers that decode at a time; 0: all */
	uint64_t memory;   /* the most bytes that decoders may take together; 0: 256 MiB */
	/* Returns the -M with which decoders may take `need` bytes; NULL: it is `need`. */
	uint64_t (*memory_for)(void *arg, uint64_t need);
	uint64_t memory_spare; /* more bytes that they may take, until source_take_spare */
	/* Called without a lock before long work that one more worker could share; or NULL. */
	void (*more)(void *arg);
	void *arg;       /* for both callbacks */
	struct tee *tee; /* all inputs come from it, as pipes; NULL: the source opens them */
};

/*
 * Bytes for records that span several zstd frames, beside the decoders' memory, while so many
 * readers take from the source (zstd_read.h): not worth counting for ordinary samples, half a GiB
 * for eight readers with the largest records.
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
 * Bytes of records that the inputs hold, as far as -n allows. Only files that are not compressed
 * count, and headers count as if they were samples. 0: not known. Looks at files as source_plain
 * does. Any thread.
 */
uint64_t source_length(const struct source_spec *spec);

/* What was taken from the inputs and given back: bytes = skipped + records x record + tail. */
struct source_totals {
	uint64_t bytes;
	uint64_t skipped;
	uint64_t tail;    /* bytes of partial records at the ends of inputs */
	uint64_t tails;   /* how many inputs had one */
	uint64_t shorter; /* how many inputs became shorter while they were read */
	uint64_t cut;     /* how many inputs ended before their headers say */
	uint64_t unsized; /* how many have a header that does not say where samples end */
	uint64_t empty;   /* how many hold nothing at all ... */
	/* ... and the first of them */
	const char *empty_name;
	uint64_t inputs;  /* inputs opened ... */
	uint64_t headers; /* ... and how many of them have a header */
	bool streamed;    /* at least one was not a file ... */
	/* ... and for so many seconds a reader waited for the writer of a stream */
	double waited;
	uint64_t packed; /* bytes of compressed inputs, before they were decoded */
	/*
	 * For a part (source_part.c): what was skipped, the tail and the input itself belong to one
	 * part each.
	 */
	/* a hash of the sizes and times of modification of all inputs, in their order */
	uint64_t state;
	/* inputs of which the part has something; `inputs` are those that begin in it */
	uint64_t read;
	uint64_t first, all; /* records before its own; records of all parts */
};

/*
 * Checks that every named input exists and is no directory; opens none yet. On failure *out is NULL
 * and *fail says why.
 */
int source_open(struct source **out, const struct source_spec *spec, struct fail *fail);

/*
 * Opens the first input and reads its header. said->format is NULL where there is none, where the
 * spec does not ask for headers, and where no records are wanted. For a pipe it waits for the first
 * bytes, and loses none. Called at most once, before there is a reader. -1: the input cannot be
 * opened, or its header is wrong.
 */
int source_describe(struct source *s, struct header *said, struct fail *fail);

/*
 * Sets what could not be known before: record, type, channels, threads, memory, callbacks. The
 * inputs, -S, -n and flags of the spec must be those that the source was opened with. Called before
 * there is a reader. -1: the first input is of another type. For a part of the records this call is
 * required: it looks at all inputs, and fails if anything is wrong with one.
 */
int source_settle(struct source *s, const struct source_spec *spec, struct fail *fail);

/*
 * Makes a reader, which one thread at a time may use until the source is closed. NULL: no memory.
 */
struct reader *source_reader(struct source *s);

/* What a caller of source_take can use. */
struct want {
	void *buffer; /* of `cap` bytes, at least a record */
	size_t cap;
	bool lent; /* memory of the source will do too, of any size, without a copy ... */
	/* ... and so will a range of a file, of at most this size; 0: it will not */
	size_t range;
};

struct chunk {
	const unsigned char *data; /* the records; NULL: they are a range of a file */
	size_t bytes;              /* whole records; 0: the end */
	/* If not NULL, the caller may add all of the bytes to it, in their order. */
	struct xxh64 *hash;
	/* The file of a range, open until it is given back; else -1. */
	int fd;
	uint64_t offset;
	/* Used by the source: the input that the bytes belong to. */
	struct input *input;
	struct piece *piece;
	bool unit;
};

/*
 * Takes the next records. Blocks while an input has nothing to give. chunk->bytes == 0: all inputs
 * have ended, or source_stop was called. -1: an input failed, *fail says how, and every later call
 * of any reader ends immediately. A reader that has begun must go on until one of these. It must
 * give back a lent chunk before it takes again; it may keep ranges longer.
 */
int source_take(struct reader *r, const struct want *want, struct chunk *chunk, struct fail *fail);

/*
 * Gives a chunk back, of which the first `counted` bytes were there (fewer than all only for a
 * range of a file that was cut). -1 as source_take: a checksum is wrong, or the input ends badly.
 * Does nothing for a chunk of 0 bytes.
 */
int source_done(struct reader *r, struct chunk *chunk, size_t counted, struct fail *fail);

/* Reads from byte `at` of a range on; *got < cap: the file ends there. Any thread. */
int source_read(const struct chunk *range, size_t at, void *buffer, size_t cap, size_t *got,
		struct fail *fail);

/* The spare memory is needed elsewhere: decoders give it back as they end their frames. */
void source_take_spare(struct source *s);

/*
 * Bytes that the regular files among the inputs still hold, as far as -n allows; for a part, its
 * whole length.
 */
uint64_t source_known_bytes(const struct source *s);

/*
 * A worker that waits for anything but the source calls this again and again. True: its reader has
 * begun something that other readers may be waiting for, so the worker must not wait for those
 * readers, and must call source_take. False: no reader waits for it; memory that its reader kept
 * was given back if another reader lacks it.
 */
bool source_owes(struct reader *r);

/*
 * Is there work for one more worker than there are? Files: always. Streams: only when one reader
 * has not had to wait for data many times in a row; a second reader of a pipe that one can keep
 * empty would compete with the writer for its core and its cache.
 */
bool source_backlog(struct source *s);

/* Makes every call of source_take, blocked ones included, end soon. Any thread. */
void source_stop(struct source *s);

/*
 * Has everything been handed out that there is, or that -n allows? Call it when no source_take is
 * running, before source_totals.
 */
bool source_finished(const struct source *s);

/*
 * Bytes of records that source_done has reported so far. Any thread, at any time before
 * source_totals: it takes no lock, which a reader that is asleep or at work might hold up.
 */
uint64_t source_counted(const struct source *s);

/* How many inputs were begun so far. Any thread, at any time, without a lock. */
uint64_t source_inputs(const struct source *s);

/*
 * For a part: a number for the state of all inputs (source_totals). After source_settle, any
 * thread.
 */
uint64_t source_state(const struct source *s);

/* Valid when no source_take is running. */
const struct source_totals *source_totals(struct source *s);

/*
 * Frees the source. Leaves the offset of a redirected standard input after the last record that was
 * handed out, as head does. Takes NULL.
 */
void source_close(struct source *s);

#endif
