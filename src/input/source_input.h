/* SPDX-License-Identifier: MIT */
/*
 * source_input: what the files of a source share: its inputs, its readers, and what wakes a thread.
 *
 * One lock guards all of it. It is never held while a thread reads, opens or waits for an input:
 * that thread has set the input's state to INPUT_BUSY (or s->opening) and owns what that state
 * covers. So a thread that fails can always take the lock and end every wait: readers in poll by
 * the wake-up pipe, the others by the two conditions.
 *
 *   work     there may be something to do: an input is free, a piece is ready, a path can be
 *            opened, or there is nothing more to come. Threads without work wait here (source.c)
 *   settled  something that another thread held has come back: an offset, memory, a piece
 *            (zstd_read.h)
 *
 * Functions are called with the lock held unless they say otherwise, and keep it; those whose names
 * end in _unlocks give it up in between.
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

#define NO_END UINT64_MAX

enum input_state {
	INPUT_FREE, /* the next reader may take what comes next */
	/* one thread reads what comes next, or is inside a frame whose end it will find */
	INPUT_BUSY,
	INPUT_ENDED, /* nothing more will be taken from it */
};

struct input {
	const char *name; /* for messages */
	int fd;
	bool owned;      /* close it; standard input is not ours */
	bool is_file;    /* pread works at offsets */
	bool is_regular; /* ... and ranges of it can be handed out */
	bool is_zstd;    /* its bytes are decoded first; else: */
	bool magic;      /* it begins as one of the headers does */
	/* zstd: its first bytes could not be decoded; a reader will find out why */
	bool unseen;
	enum input_state state;
	/* For a slice: */
	bool sliced;       /* only the records from `from` on, up to `to`, are wanted ... */
	uint64_t from, to; /* ... of those that it holds */
	uint64_t until;    /* where the last of them ends, on the same scale as `first` */
	bool begins;       /* what is skipped is ours: always true except for a slice */
	bool ends;         /* so is what follows its last record */
	/* Its header. Offsets are those of the decoded bytes, from where the input begins. */
	struct header header;    /* its format is NULL if it has none */
	struct header_scan scan; /* ... for what follows the samples */
	/* offset of the first sample that is wanted; of the end of the samples, or NO_END */
	uint64_t first, bound;
	/* the header does not know that end: samples end with the input */
	bool unsized;
	bool cut;        /* it ended before */
	unsigned users;  /* pieces and units that were taken and not given back */
	uint64_t origin; /* file: offset at which the input begins */
	uint64_t start;  /* file: offset of the first record */
	/* file: offset of the next piece to claim, whole records from start */
	uint64_t next;
	/* file: end of the whole records that it had when it was opened */
	uint64_t end;
	/* file: where samples end, or NO_END: nothing after it is claimed */
	uint64_t stop;
	uint64_t size;            /* file: its size when it was opened */
	struct timespec changed;  /* file: its last change when it was opened */
	bool shorter;             /* file: it is smaller now */
	uint64_t skipped;         /* bytes that -S passed over */
	uint64_t tail;            /* bytes of a partial record found at its end */
	uint64_t taken;           /* stream: bytes of samples and header that were read */
	unsigned full;            /* stream: reads in a row that never had to wait */
	bool drained;             /* stream: the last read gave less than asked */
	bool eof;                 /* stream: a read found its end */
	bool is_bytes;            /* stream: it was seen not to keep messages apart */
	struct zstd *zstd;        /* NULL: its bytes are the samples */
	unsigned char *head;      /* stream: its beginning, read for a first look, or NULL ... */
	size_t headed, head_used; /* ... and how much of it was handed on */
	uint64_t dropped;         /* stream of zstd: bytes before its head that hold no samples */
	struct text text;         /* what is known of its first bytes, decoded ones */
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

struct source {
	struct source_spec spec;
	struct slice *slice;         /* NULL: all records are wanted */
	struct source_totals totals; /* except for the bytes that readers have counted */
	struct lock lock;
	pthread_cond_t work, settled;
	unsigned sleepers;     /* threads that wait for work */
	unsigned calls;        /* rises with each call to them */
	bool soon;             /* the last wait was short */
	struct input *current; /* NULL between inputs */
	/* the first input, opened for its header; NULL: it was not, or is in use already */
	struct input *described;
	struct header said;     /* by the first input ... */
	const char *first_name; /* ... whose name is this; NULL: none was opened */
	size_t next_path;
	bool opening;           /* a thread opens the next input */
	uint64_t budget;        /* records that -n still allows */
	unsigned users;         /* users of all inputs: some may give back what they took of -n */
	bool stopped;           /* an error, or source_stop */
	uint64_t waited_ns;     /* atomic; in streams, until there was something to read */
	int wake[2];            /* a pipe: a byte in it ends every poll */
	struct reader *readers; /* atomic; a reader stays where it is until the source is closed */
	unsigned rings;         /* long frames that are being decoded ... */
	unsigned ready;         /* ... and their pieces that any reader may take */
	/*
	 * What decoders may hold together, and how much of that no reader holds; below 0 while a
	 * GPU takes its part back.
	 */
	int64_t memory, memory_left;
	struct reader *short_of_memory; /* waits for some of it */
	unsigned decoders;              /* readers that hold some of it */
	unsigned seams;     /* records that are being put together from several units ... */
	unsigned seam_most; /* ... and the most there may be */
};

/* What source_take was asked for, and how far that is answered. */
struct request {
	const struct want *want;
	struct chunk *chunk; /* bytes > 0: answered */
	size_t cap, got;     /* of want->buffer */
	bool enough;         /* what was got is the answer, even if the buffer is not full */
	struct fail *fail;
};

/* ---- source_input.c: without the lock ---- */

/* Checks that every named input exists, is no directory, and may be read. */
int input_check_all(const struct source_spec *spec, struct fail *fail);

/*
 * Opens an input and looks at its beginning: is it zstd, does it have a header? No byte of a pipe
 * is lost. The caller frees *out in any case. 1: the source was stopped.
 */
int input_open(struct source *s, const char *path, struct input **out, struct fail *fail);
void input_free(struct input *in);

/* Finds where its samples begin, without -S, and end. -1: -S is larger than they are. */
int input_bounds(const struct source *s, struct input *in, struct fail *fail);

/* Gets it ready for reading, and skips. 1: the source was stopped. */
int input_begin(struct source *s, struct input *in, const struct request *q);

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

/* ---- source_header.c: without the lock ---- */

/* Reads the header of an input that was just opened, if it has one. 1: the source was stopped. */
int input_read_header(struct source *s, struct input *in, struct fail *fail);

/* Does its header agree with what the samples are taken to be, and with the first input? */
int input_agrees(const struct source *s, const struct input *in, struct fail *fail);

/* Did anything follow the header of an input that has ended? */
bool input_holds_samples(const struct input *in);

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
int input_check_rest(struct input *in, const unsigned char *bytes, size_t n,
		     const unsigned char *end, struct fail *fail);

/* ---- source_part.c: the records of a slice; without the lock ---- */

/* Can all inputs be cut into slices? Opens none. */
int part_check(const struct source_spec *spec, struct fail *fail);

/*
 * Counts the records of all inputs: opens each and closes it again. The source has its slice then.
 */
int part_measure(struct source *s, struct fail *fail);

/*
 * For an input that was opened to be read: finds which of its records are wanted. -1: it has
 * changed.
 */
int part_enter(const struct source *s, size_t path, struct input *in, struct fail *fail);

/* Sets *fail and returns -1: it does not hold what it held when its records were counted. */
int part_changed(const struct input *in, struct fail *fail);

/* ---- source_next.c ---- */

/*
 * Opens the next input of the list and makes it the current one, unless the source was stopped. -1:
 * it failed.
 */
int input_next_unlocks(struct source *s, const struct request *q);

/* Nothing more will be taken from the current input; pieces of it may still be on their way. */
void source_leave_current(struct source *s);

/* One more user of an input: it stays open until all have left it. */
void input_use(struct source *s, struct input *in);

/* A user of the input is done. Closes it after its last one; -1: it has ended, and not well. */
int input_leave(struct source *s, struct input *in, int rc, struct fail *fail);

/* What is wrong with the end of an input: it lacks something, or ends inside a record. */
int input_check_end(const struct source *s, const struct input *in, struct fail *fail);

/* ---- source.c ---- */

/* Takes up to `records` of what -n allows; gives back what was not there. */
uint64_t budget_take(struct source *s, uint64_t records);
void budget_give(struct source *s, uint64_t records);

/* Call it when one more thread may find work, or when all may. */
void source_call(struct source *s);
void source_call_all(struct source *s);

/* ---- source_file.c ---- */

/*
 * fd is an open regular file or block device: finds where it begins, its size, its first bytes.
 * Without the lock.
 */
int file_open(struct source *s, struct input *in, struct fail *fail);

/* Finds the pieces; skips. Without the lock. */
int file_begin(struct source *s, struct input *in, struct fail *fail);

/*
 * Takes the next piece of a free file: reads it into the request, or hands out a range. The caller
 * is a user of the input.
 */
int file_take_unlocks(struct source *s, struct input *in, struct request *q);

/* Takes a range back, of which `counted` bytes were there. */
int file_return(struct source *s, const struct chunk *range, size_t counted, struct fail *fail);

/*
 * Reads exactly cap bytes at offset, fewer only where the file ends. Any thread, without the lock.
 */
int file_read(const struct input *in, unsigned char *buffer, size_t cap, uint64_t offset,
	      size_t *got, struct fail *fail);

/* ---- source_stream.c ---- */

/*
 * As file_open and file_begin, for a stream; skips by way of the buffer. 1: the source was stopped.
 */
int stream_open(struct source *s, struct input *in, struct fail *fail);
int stream_begin(struct source *s, struct input *in, unsigned char *buffer, size_t cap,
		 struct fail *fail);

int stream_take_unlocks(struct source *s, struct input *in, struct request *q);

/* Is nothing left to read of it? */
bool stream_ended(const struct input *in);

/* Can something be read of it, or its end, without waiting? */
bool stream_ready(const struct input *in);

/*
 * Reads `least` to cap bytes of a stream, fewer only where it ends. 1: the source was stopped.
 * Called without the lock, by the thread that made the input busy.
 */
int stream_read(struct source *s, struct input *in, unsigned char *buffer, size_t least, size_t cap,
		size_t *got, struct fail *fail);

#endif
