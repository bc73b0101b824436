/* SPDX-License-Identifier: MIT */
/*
 * source: hands out the records of all inputs to the workers.
 *
 * Each worker has a reader and repeats source_take, count, source_done until the source has ended.
 * A chunk is a run of whole records that no other reader gets. Plain bytes are read into the
 * caller's buffer. Decoded bytes are lent, or copied there. The reader that asks for a chunk also
 * does the work for it inside source_take: opening, reading, finding frames, decoding
 * (source_open.c lists these tasks). Unless the source is ordered, chunks come in any order, as a
 * histogram needs none.
 *
 * A worker may count for as long as it likes. While a chunk is lent, only its own frame waits for
 * memory; the reader returns it before it takes the next.
 *
 * A slice (--part) is a run of records of each input. Its inputs must be uncompressed files
 * (source_part.c).
 *
 * Bytes, skips and limits count bytes of samples: after decoding if an input is compressed, and
 * between the header and the end of the samples if it has a header (header.h).
 */
#ifndef GPUHIST_SOURCE_H
#define GPUHIST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/sample.h"
#include "format/header.h"
#include "text/text.h"
#include "source/totals.h"

struct source;
struct reader;
struct tee;      /* tee.h */
struct unpacker; /* unpacker.h */

/* The largest record. Chunks are whole records, so a caller's buffer must hold one. */
#define SOURCE_RECORD_MAX ((uint32_t)16 << 20)

#define NO_LIMIT UINT64_MAX /* of records */

/* Options for source_open. */
struct source_spec {
	char *const *paths; /* "-" is standard input; borrowed for the source's life */
	size_t path_count;
	struct tee *tee;       /* --tee: copies all bytes that are read; or NULL */
	struct text_spec text; /* --text; if on, raw is set too */
	uint64_t skip;         /* bytes to skip at the start of each input */
	uint32_t part;         /* --part: number of the slice, from 1; 0: no slices */
	uint32_t parts;        /* --part: number of slices */
	bool ignore_tail;      /* allow partial records at ends, and files that became shorter */
	bool raw;              /* all bytes are samples; do not look for headers or zstd */
	bool prompt;           /* hand out whole records of a stream as they arrive */
	bool ordered;          /* hand out chunks in order; all callers take lent ones */
	bool zstd;             /* fail unless every input is zstd */
	bool no_check;         /* do not verify the content checksums of zstd frames */
	bool typed;            /* -t gave the type; else all inputs have headers, or none has */
	bool type_said;        /* -t or the name of a path gives the type, as a.f32 does */
	const char *tensor;    /* the only tensor to count in safetensors files; or NULL */
	const struct header *known; /* header of the only input, if already read; or NULL */
	/*
	 * largest zstd window for looking at the first input, and memory for a safetensors header
	 */
	uint64_t memory;
};

/* Options for source_start. */
struct source_use {
	uint32_t record;         /* bytes of one record, 1 to SOURCE_RECORD_MAX */
	uint32_t packed;         /* records that share `record` bytes; 0 means 1 */
	uint64_t limit;          /* largest number of records in all, or NO_LIMIT */
	struct sample_type type; /* of all samples; headers must give the same */
	uint32_t channels;       /* channels that headers must give; 0: any number */
	uint64_t last;           /* length of the last axis that headers must give; 0: any */
	uint64_t row;            /* if ordered: records of a row, to end plain chunks at; or 0 */
	unsigned threads;        /* largest number of readers */
	unsigned decoders;       /* largest number of readers that decode at a time; 0: all */
	uint64_t memory;         /* bytes for all decoders together, half of -M or more */
	/*
	 * Gets each input's offset of its first record, after decoding, before a chunk of the input
	 * is handed out and before it ends; or NULL.
	 */
	uint64_t *begin;
	/* Called without a lock before long work that one more worker could share; or NULL. */
	void (*start_worker)(void *arg);
	/*
	 * Called without a lock, in source_take and source_done, when all chunks of the first
	 * `inputs` inputs were returned and these inputs are sound; or NULL.
	 */
	void (*ended)(void *arg, size_t inputs);
	/* A device that may decode long frames, once it is ready; or NULL. */
	const struct unpacker *unpacker;
	/*
	 * Called without a lock if an optional device would save time: starts it, and waits some
	 * seconds at most. False: it is not ready.
	 */
	bool (*start_device)(void *arg);
	void *arg; /* for all callbacks */
};

/*
 * After source_open, before memory is taken. -1: the only input is a regular file that would end
 * inside a record of that many bytes.
 */
int source_check_record(const struct source *s, uint32_t record, struct fail *fail);

/*
 * Make a reader, which one thread at a time may use until the source is closed. NULL: no memory.
 */
struct reader *source_reader(struct source *s);

/* The kinds of chunk that a caller of source_take accepts. */
struct want {
	void *buffer; /* of `cap` bytes, at least a record */
	size_t cap;
	bool lent;     /* the caller also takes memory of the source, of any size, without a copy */
	bool unpacked; /* the caller also takes the unpacker's memory */
};

struct chunk {
	const unsigned char *data;
	size_t bytes;       /* whole records; only an input's last packed ones may end in a group */
	struct xxh64 *hash; /* the caller may add all of the bytes to it, in order; or NULL */
	size_t path;        /* index of the chunk's input among the paths */
	uint64_t record;    /* number of its first record in its input */
	uint64_t next_record; /* the next chunk's, if ordered and the file lost records; or 0 */
	/* The source's own: */
	struct input *input;      /* if a piece was lent, or if ordered: the chunk's input */
	struct zstd_piece *piece; /* the piece that was lent; or NULL */
};

/*
 * Take the next records. Block while an input has no bytes. chunk->bytes == 0: all inputs have
 * ended, or source_stop was called. -1: an input failed, and this was the last chunk; all readers
 * get the same *fail, the first failure in the order of the inputs and their bytes.
 */
int source_take(struct reader *r, const struct want *want, struct chunk *chunk, struct fail *fail);

/* Return a chunk. */
void source_done(struct reader *r, struct chunk *chunk);

/* Is the first input compressed? Any thread, after source_open. */
bool source_packed(struct source *s);

/*
 * Is it certain that no input is compressed, because the only one was looked at, or because
 * compressed ones count as they are or are refused? After source_open, before source_start.
 */
bool source_all_plain(const struct source *s);

/* Is a long frame of a file being decoded, or, before the first read, may one come? Any thread. */
bool source_unpacks(struct source *s);

/*
 * Estimate the bytes of samples in compressed files, assuming that the rest is packed like the
 * part read so far and later files are like this one. For a long frame of a file that all readers
 * decode: the bytes counted so far. 0: unknown. Any thread.
 */
uint64_t source_expected(struct source *s);

/*
 * Is there work for one more worker? Files: always. Streams: only if a reader has found data
 * without waiting many times in a row; a second reader of a pipe that one can keep empty would
 * compete with the writer for its core and its cache.
 */
bool source_backlog(struct source *s);

/* Make every source_take return soon, even if it is blocked. Any thread. */
void source_stop(struct source *s);

/* Were all records handed out, up to -n? After the last source_take and source_done. */
bool source_exhausted(const struct source *s);

/* -1: an input failed. After the last source_done. */
int source_failure(const struct source *s, struct fail *fail);

/* Bytes of records that source_done has reported so far. Any thread, without a lock. */
uint64_t source_counted(const struct source *s);

/* Progress in the unit of source_length: for text, bytes that were read. */
uint64_t source_progress(const struct source *s);

/* Number of inputs begun so far. Any thread, without a lock. */
uint64_t source_inputs(const struct source *s);

/*
 * After source_start: bytes of records in the inputs, up to -n, or in the slice. Headers count as
 * samples; for text, all bytes count. 0: unknown, because an input is no regular file or is
 * compressed (by its name, or once opened). Any thread.
 */
uint64_t source_length(const struct source *s);

/* For a slice, after source_start: totals.slice.state. */
uint64_t source_slice_state(const struct source *s);

/* Valid when no source_take is running. */
const struct source_totals *source_totals(struct source *s);

#endif
