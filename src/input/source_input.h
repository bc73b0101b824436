/* SPDX-License-Identifier: MIT */
/*
 * source_input: what the files of the source share: its inputs, its readers, its tasks.
 *
 * One lock guards all of it. It is never held while a thread reads, opens, waits for an input,
 * decodes or copies much; what the thread works on is marked as its own then (input.busy,
 * source.opening, job.running, a piece that is FILLING or OUT). Functions are called with the lock
 * held and keep it, unless their comment says that they are called without it; those whose names
 * end in _unlocks give it up in between.
 *
 * Offsets are those of an input's decoded bytes, from where it begins, unless they are called
 * packed.
 */
#ifndef GPUHIST_SOURCE_INPUT_H
#define GPUHIST_SOURCE_INPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/lock.h"
#include "input/first.h"
#include "input/header.h"
#include "input/part.h"
#include "input/source.h"
#include "input/zstd_job.h"

#define NO_END UINT64_MAX

struct input {
	struct input *next; /* of those that live, in their order */
	const char *name;   /* for messages */
	size_t index;       /* among the paths: failures have an order */
	int fd;
	bool owned;       /* close it; standard input is not ours */
	bool is_file;     /* pread works at offsets */
	bool is_regular;  /* ... and ranges of it can be handed out */
	bool is_zstd;     /* its bytes are decoded first; else: */
	bool magic;       /* it begins as one of the headers does */
	bool unseen;      /* zstd: its first bytes could not be decoded; a job will find out why */
	struct text text; /* what is known of its first bytes, decoded ones */

	/* Its header. */
	struct header header;    /* its format is NULL if it has none */
	struct header_scan scan; /* ... for what follows the samples */
	bool unsized;            /* it does not know where samples end: they end with the input */
	/* the first sample that is wanted; the end of the samples, or NO_END */
	uint64_t first, bound;
	uint64_t limit; /* what comes from here on is not wanted, by -n or --part; or NO_END */
	/* For a slice: */
	bool sliced; /* only the records from `from` on, up to `to`, are wanted */
	uint64_t from, to;
	bool begins, ends; /* -S's bytes belong to it, and what follows its last record */

	/* How far it is. */
	bool busy;        /* a reader has its turn, to read or cut what comes next */
	bool ended;       /* nothing more is read or cut */
	unsigned reading; /* parts of it that are being read */
	unsigned ranges;  /* ... that callers have as ranges */
	uint64_t at;      /* what comes next, or UNKNOWN */
	uint64_t torn;    /* plain: bytes of partial records where reads came short */
	/* Files. */
	uint64_t origin;         /* packed offset at which the input begins */
	uint64_t size;           /* of the file when it was opened */
	struct timespec changed; /* ... and its last change then */
	uint64_t end;            /* of the whole records that it held then */
	bool shorter;            /* it is smaller now */
	uint64_t missing;        /* bytes that were claimed and not there */
	bool passed;             /* all of it was looked at, what follows the samples too */
	/* Streams. */
	unsigned full; /* reads in a row that never had to wait */
	bool drained;  /* the last read gave less than asked */
	bool eof;      /* a read found its end */
	bool is_bytes; /* it was seen not to keep messages apart */
	/* What was read and not used; of a file's frames, what was looked at. */
	unsigned char *bytes;
	size_t room, have;
	uint64_t bytes_at; /* zstd: packed offset of the first */
	/* Frames. */
	uint64_t begin, pos;           /* packed: where they begin; what is cut next */
	uint64_t keep;                 /* bytes from here on are kept; NO_END: from `pos` on */
	uint64_t hinted;               /* packed: so far the system was asked to read ahead */
	struct zstd_job *jobs, **last; /* in the order in which they were cut */
	struct zstd_job *open;         /* the last one, while its end is looked for ... */
	struct frame walk;             /* ... as far as that went */
	struct cut cut;
	uint64_t kept; /* memory of the budget for `bytes` */
	struct seam *seams;
	/*
	 * the first REST_BYTES that follow the samples, and the INPUT_END_BYTES where the header
	 * says that the file ends; NULL: they are not looked at
	 */
	unsigned char *rest;
};

/* An input as it was when its records were counted. */
struct measured {
	uint64_t before; /* records of the inputs before it */
	uint64_t size;
	int64_t seconds, nanoseconds; /* of its last modification; 0 for what is no regular file */
};

/* A part of the records: which, and of what (source_part.c). */
struct slice {
	struct part part;
	size_t inputs;           /* how many are looked at: -n may end before the last one ... */
	bool within;             /* ... and then it ends in the last of these */
	struct measured input[]; /* one for each path, and one for the end */
};

struct reader {
	struct source *source;
	struct reader *next;
	uint64_t counted; /* a tally: bytes that came back with source_done */
};

struct source {
	struct source_spec spec;
	struct slice *slice; /* NULL: all records are wanted */
	struct source_totals totals;
	struct lock lock;
	pthread_cond_t wake;
	unsigned sleepers;
	unsigned calls;         /* rises with each call to them; read without the lock too */
	bool soon;              /* the last wait was short: one thread waits awake ... */
	bool awake, called;     /* ... it does, and has been called */
	bool wanted;            /* one more reader would find work */
	bool stopped;           /* by source_stop */
	int wake_pipe[2];       /* a byte in it ends every poll */
	struct reader *readers; /* atomic; a reader stays where it is until the source is closed */
	unsigned reader_count;
	struct input *inputs;    /* that live */
	struct input *current;   /* the last of them, until nothing more is read or cut of it */
	struct input *described; /* the first input, opened for its header and not in use yet */
	struct header said;      /* by the first input ... */
	const char *first_name;  /* ... whose name is this; NULL: none was opened */
	size_t next_path;
	bool opening;       /* a thread opens the next input */
	uint64_t left;      /* records that -n leaves for inputs that are not open */
	uint64_t waited_ns; /* atomic; in streams, until there was something to read */
	/* Decoding (zstd_job.h). */
	struct zstd_piece *queue, **queue_end; /* ready, of known offset: for any reader */
	struct seam *mended;        /* records that were put together, to be handed out */
	struct zstd_job *free_jobs; /* which keep their buffers for the next ones */
	unsigned jobs, decoding;    /* that live; that a thread works on */
	uint64_t memory;            /* that jobs may take; less, once a GPU takes its part back */
	uint64_t held, kept;  /* of it: by live jobs and what inputs have read; by free jobs */
	struct fail fail;     /* the first failure ... */
	size_t fail_index;    /* ... is of this input, ... */
	uint64_t fail_offset; /* ... at this offset, packed for zstd */
};

/* What source_take was asked for, and how far that is answered. */
struct request {
	const struct want *want;
	struct chunk *chunk; /* bytes > 0: answered */
	size_t cap, got;     /* of want->room: what decoded bytes were copied to it so far */
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

/* ---- source.c ---- */

/* There is something to do for one more reader; for all. */
void source_call(struct source *s);
void source_call_all(struct source *s);

/*
 * A failure of an input at an offset. The first one counts, by input and offset; what lies behind
 * it ends, what lies before goes on, and may fail too.
 */
void source_fail(struct source *s, const struct input *in, uint64_t offset, const struct fail *f);
bool source_failed_before(const struct source *s, const struct input *in, uint64_t offset);

/* Nothing more is read or cut of the input. */
void input_end(struct source *s, struct input *in);

/* Was all of it handed out, and given back? Then it is checked, added to the totals, and freed. */
void input_check(struct source *s, struct input *in);

/* What is wrong with its end: it lacks something (cut), or has a partial record. No lock. */
int input_check_end(const struct source *s, const struct input *in, uint64_t tail, bool cut,
		    struct fail *fail);

/* ---- source_input.c: without the lock ---- */

/* Checks that every named input exists, is no directory, and may be read. */
int input_check_all(const struct source_spec *spec, struct fail *fail);

/*
 * Opens an input and looks at its beginning: is it zstd, does it have a header? No byte of a pipe
 * is lost. The caller frees *out in any case. 1: the source was stopped.
 */
int input_open(struct source *s, size_t path, struct input **out, struct fail *fail);
void input_free(struct source *s, struct input *in);

/* Finds the first sample that -S does not skip, and where the samples end. -1: -S is larger. */
int input_bounds(const struct source *s, struct input *in, struct fail *fail);

/* Gets it ready for reading, `left` records of -n, and skips by way of the room. 1: stopped. */
int input_begin(struct source *s, struct input *in, uint64_t left, void *room, size_t cap,
		struct fail *fail);

/* What the first bytes of an input show: 0 samples, 1 zstd, -1 a format that is not read. */
int input_sniff(const struct source *s, const struct input *in, const unsigned char *bytes,
		size_t length, struct fail *fail);

/* May that, or whether there is a header, depend on what follows n first bytes? */
bool input_undecided(const struct source *s, const unsigned char *bytes, size_t n);

/* Of the first `most` bytes of an input, how many may be waited for: all but what -n leaves. */
size_t input_wanted(const struct source *s, size_t most);

/* Looks for text in the next bytes of an input, which end there if it `ended`. -1: it is text. */
int input_look_for_text(struct input *in, const unsigned char *bytes, size_t n, bool ended,
			struct fail *fail);

/* Sets *fail and returns -1: it is what first_refused has found. */
int input_refuse(const struct input *in, const char *advice, struct fail *fail);

/* At least n bytes of in->bytes; keeps what it has. -1: no memory. */
int input_grow(struct input *in, size_t n, struct fail *fail);

/* ---- source_header.c: without the lock ---- */

/* Reads the header of an input that was just opened, if it has one. 1: the source was stopped. */
int input_read_header(struct source *s, struct input *in, struct fail *fail);

/* Does its header agree with what the samples are taken to be, and with the first input? */
int input_agrees(const struct source *s, const struct input *in, struct fail *fail);

/*
 * Set *fail and return -1: samples end before the header says; something follows them; -S is larger
 * than they are.
 */
int input_too_short(const struct input *in, struct fail *fail);
int input_too_long(const struct input *in, struct fail *fail);
int input_too_skipped(const struct source *s, const struct input *in, struct fail *fail);

/*
 * Looks at what follows the samples of a file or a stream; reads all of it from a stream. 1: the
 * source was stopped.
 */
int input_read_rest(struct source *s, struct input *in, struct fail *fail);

/*
 * The same for n bytes that follow the samples of a compressed input with chunks, and for the
 * INPUT_END_BYTES at the end of the file as its header gives it; NULL: there are not so many.
 */
#define INPUT_END_BYTES 9
#define REST_BYTES ((size_t)64 << 10) /* of what follows the samples, kept to be looked at */
int input_check_rest(struct input *in, const unsigned char *bytes, size_t n,
		     const unsigned char *end, struct fail *fail);

/* ---- source_part.c: the records of a slice; without the lock ---- */

/* Can all inputs be cut into slices? Opens none. */
int part_check(const struct source_spec *spec, struct fail *fail);

/* Counts the records of all inputs: opens each and closes it again. Then there is a slice. */
int part_measure(struct source *s, struct fail *fail);

/* An input that was opened to be read: which of its records are wanted? -1: it has changed. */
int part_enter(const struct source *s, struct input *in, struct fail *fail);

/* Of zstd: goes to the first frame that the slice needs. */
int part_begin_zstd(struct source *s, struct input *in, struct fail *fail);

/* Sets *fail and returns -1: it does not hold what it held when its records were counted. */
int part_changed(const struct input *in, struct fail *fail);

/* ---- source_file.c: files and block devices ---- */

/* Finds where the open file begins, its size, its first bytes. Without the lock. */
int file_open(struct source *s, struct input *in, struct fail *fail);

/* Is what -S skips there? Which whole records? Without the lock. */
int file_begin(struct source *s, struct input *in, struct fail *fail);

/*
 * Reads exactly cap bytes at a packed offset, fewer only where the file ends. Any thread, without
 * the lock.
 */
int file_read(const struct input *in, unsigned char *buffer, size_t cap, uint64_t packed,
	      size_t *got, struct fail *fail);

/* ---- source_stream.c: everything else; without the lock, by the thread whose turn it is ---- */

/* As file_open and file_begin; skips by way of the room. 1: the source was stopped. */
int stream_open(struct source *s, struct input *in, struct fail *fail);
int stream_begin(struct source *s, struct input *in, unsigned char *room, size_t cap,
		 struct fail *fail);

/*
 * Reads `least` to cap bytes, fewer only where it ends; stream_read takes those first that were
 * read already. 1: the source was stopped.
 */
int stream_more(struct source *s, struct input *in, unsigned char *to, size_t least, size_t cap,
		size_t *got, struct fail *fail);
int stream_read(struct source *s, struct input *in, unsigned char *to, size_t least, size_t cap,
		size_t *got, struct fail *fail);

/* Is nothing left to read of it? Can more be read, or its end, without waiting? */
bool stream_ended(const struct input *in);
bool stream_ready(const struct input *in);

/* ---- source_plain.c: the task "read" ---- */

bool plain_ready(const struct source *s, const struct request *q);
void plain_run_unlocks(struct source *s, struct request *q);

/* A range comes back, of which `counted` bytes were there. */
void range_back(struct source *s, const struct chunk *range, size_t counted);

#endif
