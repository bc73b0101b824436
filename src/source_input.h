/* source_input: one input of a source, as source.c, source_file.c and source_stream.c share it. */
#ifndef GPUHIST_SOURCE_INPUT_H
#define GPUHIST_SOURCE_INPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "source.h"

#define SNIFF_BYTES 10 /* what input_sniff would like to see; it takes less */

struct input {
	const char *name;  /* for messages */
	int fd;
	bool owned;        /* close it; standard input is not ours */
	bool is_file;      /* pread works at offsets */
	bool is_regular;   /* ... and pieces of it can be mapped */
	bool ended;        /* nothing more will be handed out of it */
	uint64_t start;    /* file: offset of the first record */
	uint64_t next;     /* file: offset of the next piece to claim, whole records from start */
	uint64_t end;      /* file: end of the whole records that it had when it was opened */
	unsigned readers;  /* file: pieces claimed and not yet read */
	uint64_t tail;     /* bytes of a partial record found at its end */
	unsigned full;     /* stream: fills in a row that never had to wait */
	bool drained;      /* stream: the last read gave less than asked */
	bool eof;          /* stream: a read found its end */
	struct zstd_input *zstd; /* NULL: its bytes are the samples */
	size_t carried;    /* stream: bytes of a record that the last read cut ... */
	unsigned char carry[8]; /* ... RECORD_MAX - 1 of them at most */
	unsigned char head[SNIFF_BYTES]; /* stream: its beginning, read to be looked at ... */
	size_t headed, head_used;        /* ... and what of it was handed on */
};

#define RECORD_MAX 8 /* the largest sample */

struct source {
	struct source_spec spec;
	struct source_totals totals; /* under lock */
	pthread_mutex_t lock;        /* all below; streams are read under it */
	struct input *current;       /* NULL between inputs */
	size_t next_path;
	uint64_t budget;             /* records that -n still allows */
	unsigned claimed;            /* pieces of files that are not yet read: some of them may be given back */
	bool stopped;                /* an error, or source_stop */
	int wake[2];                 /* a pipe: a byte in it ends every poll */
	struct zstd_pool *zstd;      /* decoders; NULL until the first compressed input */
};

/* fd is an open regular file or block device. Finds the pieces; skips. Lock held. */
int file_begin(struct source *s, struct input *in, struct fail *fail);

/*
 * Hands out the next piece of a file; *got = 0: it is at its end. Called with the lock held
 * and returns with it held, but gives it up while it reads.
 */
int file_fill(struct source *s, struct input *in, unsigned char *buffer, size_t cap, size_t *got,
	      struct fail *fail);

/* The next piece to map, or none. Lock held. */
void file_claim(struct source *s, struct input *in, size_t cap, struct source_piece *piece);

/* A piece comes back, `counted` bytes of it were there. Lock held. */
void file_return(struct source *s, const struct source_piece *piece, size_t counted);

/* As file_begin and file_fill, for a stream; keeps the lock. begin skips, through buffer. */
int stream_begin(struct source *s, struct input *in, unsigned char *buffer, size_t cap,
		 struct fail *fail);
int stream_fill(struct source *s, struct input *in, unsigned char *buffer, size_t cap, size_t *got,
		struct fail *fail);

/* Reads exactly cap bytes at offset unless the file ends before. */
int file_read(const struct input *in, unsigned char *buffer, size_t cap, uint64_t offset,
	      size_t *got, struct fail *fail);

/*
 * Reads `least` to cap bytes of a stream unless it ends before. 1: the source was stopped. One
 * reader at a time, with the lock or without.
 */
int stream_read(struct source *s, struct input *in, unsigned char *buffer, size_t least, size_t cap,
		size_t *got, struct fail *fail);

/* What the first bytes of an input say: 0 samples, 1 zstd, -1 what is not read. */
int input_sniff(const struct source *s, const struct input *in, const unsigned char *bytes,
		size_t length, struct fail *fail);

void input_free(struct input *in);

/* Nothing more is to be read: whoever waits for an input or for others looks up. Lock held. */
void source_wake(struct source *s);

/*
 * Takes an input that has ended off, closes it behind its last reader, and says whether it ended
 * well. Lock held.
 */
int input_settle(struct source *s, struct input *in, int rc, struct fail *fail);

/* ---- source_zstd.c; all with the lock held ---- */

/* Where a fill puts what it finds. */
struct request {
	unsigned char *buffer;
	size_t cap, got;
	struct source_lease *lease; /* NULL: everything goes into the buffer */
	struct fail *fail;
};

/* The input is zstd's: from `offset` of a file of `size` on, or behind what is in a stream's head. */
int zstd_begin(struct source *s, struct input *in, uint64_t offset, uint64_t size, struct fail *fail);

/*
 * Decodes until the request is full, or there is nothing that can be had without waiting for an
 * input that comes next. Gives the lock up while it works or waits.
 */
int zstd_fill(struct source *s, struct request *r);

/* Is anything being decoded, or decoded and not yet handed out? */
bool zstd_pending(const struct source *s);

/* Could one more worker find work in it? */
bool zstd_backlog(const struct source *s, const struct input *in);

/* -1: the input of the lease has ended, and not well. */
int zstd_return(struct source *s, struct source_lease *lease, struct fail *fail);
void zstd_wake(struct source *s);
void zstd_close(struct source *s);

/* What was read of an input and skipped, into the totals: when it ends, or when nothing more is wanted. */
void zstd_account(struct source *s, struct zstd_input *z);
void zstd_input_free(struct zstd_input *z);

#endif
