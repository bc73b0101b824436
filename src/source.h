/*
 * source: the contract of where samples come from.
 *
 * A source is the list of inputs of a job. Workers call source_fill from any thread; each
 * call hands out the next whole records that nobody else gets, in the caller's own buffer.
 * Inputs follow one another; the order in which workers get their pieces is not defined, and
 * a histogram does not care.
 *
 *   regular files, block devices   cut into pieces at offsets: a short lock to claim one, then
 *                                  pread without any lock, in parallel (source_file.c);
 *                                  whoever wants to map a piece claims it and says when it is done
 *   everything else                one reader at a time, holding the lock, straight into its
 *                                  buffer; a record cut by a read waits here (source_stream.c)
 *   zstd, in either                frames are found without decoding them and decoded by whoever
 *                                  asks, in parallel (source_zstd.c)
 *
 * Bytes, skips and limits are those of the samples: of zstd's inputs, after decoding.
 */
#ifndef GPUHIST_SOURCE_H
#define GPUHIST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fail.h"

struct source;

struct source_spec {
	char *const *paths; /* "-" is standard input; borrowed for the source's life */
	size_t path_count;
	uint64_t skip;      /* bytes to skip at the start of each input */
	uint64_t limit;     /* records in all, UINT64_MAX for no limit */
	uint32_t record;    /* bytes of one record */
	bool ignore_tail;   /* a partial record at an input's end is no error */
	bool raw;           /* do not look for the magic numbers of compressed files */
	bool zstd;          /* every input must be zstd's */
	unsigned threads;   /* workers that there may be; 0: one */
	uint64_t memory;    /* bytes that decoders may take together; 0: 256 MiB */
	/* The -M with which they may take `need` bytes; NULL: that many. */
	uint64_t (*memory_for)(void *arg, uint64_t need);
	uint64_t memory_spare; /* bytes that they may take beside, until source_take_spare */
	/* Called in front of long work that one more worker could share; NULL: nobody listens. */
	void (*more)(void *arg);
	void *arg; /* of both */
};

/* Are the inputs likely to be compressed, by --zstd or the first one's name? Nothing is opened. */
bool source_compressed(const struct source_spec *spec);

/* What has been taken from the inputs: bytes = skipped + records x record + tail. */
struct source_totals {
	uint64_t bytes;
	uint64_t skipped;
	uint64_t tail;    /* bytes of partial records at the ends of inputs */
	uint64_t tails;   /* how many inputs ended so */
	uint64_t inputs;  /* inputs opened */
	bool streamed;    /* at least one was not a file */
	uint64_t packed;  /* bytes of compressed inputs, before they were decoded */
};

/*
 * Checks that every named input is there and is no directory, opens nothing yet.
 * On failure *out is NULL and *fail says why.
 */
int source_open(struct source **out, const struct source_spec *spec, struct fail *fail);

/*
 * Hands out up to cap bytes of whole records. *got = 0 means the end of all inputs (or that
 * source_stop was called). cap must hold a record. -1: an input failed, *fail says how; every
 * later call ends at once. Blocks while a stream has nothing to give.
 */
int source_fill(struct source *s, void *buffer, size_t cap, size_t *got, struct fail *fail);

/*
 * The same without a copy: *lease tells where the records lie, in `buffer` or, until the next call
 * with this lease or source_return_lease, in memory of the source's. A lease starts as zeros, and
 * must be returned when source_lend is not called until it says 0 bytes or fails. Whoever reads the
 * bytes may add them to `hash`, all of them, in their order; what is not added is when it returns.
 */
struct source_lease {
	const unsigned char *data;
	size_t bytes;            /* 0: the end */
	struct xxh64 *hash;      /* NULL: nobody asks for it */
	struct decoder *decoder; /* whose memory it is; NULL: the buffer */
	struct piece *piece;     /* ... which part of it */
};
int source_lend(struct source *s, void *buffer, size_t cap, struct source_lease *lease,
		struct fail *fail);
int source_return_lease(struct source *s, struct source_lease *lease, struct fail *fail);

/*
 * A run of whole records of a regular file that its taker gets at by itself, by mapping it.
 * Every piece that was claimed must be given back.
 */
struct source_piece {
	struct input *input; /* the source's own */
	int fd;              /* open until the piece is given back */
	uint64_t offset;
	size_t bytes;        /* 0: no piece */
};

/*
 * Claims up to cap bytes where the file that is being read has far more ahead of it and holds
 * them in the page cache. Otherwise piece->bytes = 0: call source_fill.
 */
void source_claim(struct source *s, size_t cap, struct source_piece *piece);

/* Is all of the piece in the file now? A file that was cut reads as zeros behind its new end. */
bool source_intact(const struct source_piece *piece);

/* Reads from byte `at` of the piece on; *got < cap: the file ends there. Any thread. */
int source_read(const struct source_piece *piece, size_t at, void *buffer, size_t cap, size_t *got,
		struct fail *fail);

/* Gives a piece back, of which the first `counted` bytes were there; -1 as source_fill. */
int source_return(struct source *s, struct source_piece *piece, size_t counted,
		  struct fail *fail);

/* The spare memory is wanted: decoders give it back as they end their frames. */
void source_take_spare(struct source *s);

/* Bytes that the regular files among the inputs still hold, as far as -n allows. */
uint64_t source_known_bytes(const struct source *s);

/*
 * Is there work for one more worker than there are? Files: always. Streams: only when one
 * reader did not have to wait for data many times in a row; a second reader of a pipe that one can
 * keep empty would take the writer's core and the writer's cache.
 */
bool source_backlog(struct source *s);

/* Makes every call of source_fill, blocked ones included, end soon. Any thread. */
void source_stop(struct source *s);

/* Was everything handed out that there is, or that -n allows? When no source_fill is running. */
bool source_finished(const struct source *s);

/* Valid when no source_fill is running. */
const struct source_totals *source_totals(struct source *s);

/*
 * Leaves the offset of a redirected standard input behind the last record that was handed
 * out, as head does. Takes NULL.
 */
void source_close(struct source *s);

#endif
