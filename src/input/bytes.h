/* SPDX-License-Identifier: MIT */
/*
 * bytes: an open file or stream, and what is in it at which offset. What the bytes mean is not
 * known here.
 *
 * Offset 0 is where the input begins; of a redirected file that is the offset at which it was
 * handed to us. A file or a block device can be read at any offset by any thread. A stream is read
 * in order by one thread at a time; what was looked at stays until it is passed or read. No
 * function needs a lock. Where one may wait, it returns 1 when a byte in `wake` ended the wait.
 *
 * If the inputs are text, all are streams, of the samples that a filter makes of the text.
 */
#ifndef GPUHIST_INPUT_BYTES_H
#define GPUHIST_INPUT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "input/text.h"

struct bytes;
struct tee; /* tee.h */

/* What the inputs of a source share. */
struct bytes_shared {
	int wake;      /* the reading end of a pipe */
	int finish;    /* the reading end of a pipe in which a byte ends all streams; or -1 */
	uint64_t kept; /* the most bytes of a stream that are kept, unless one look needs more */
	uint64_t waited_ns; /* atomic: how long threads waited for streams */
	double until;       /* clock_seconds() when a wait ends as by a byte in `wake`; 0: never */
	struct tee *tee;    /* gets all bytes too, and makes files streams; or NULL */
	const struct text_spec *text; /* the bytes are samples made of text; NULL: as they are */
	uint64_t text_bytes;          /* atomic: bytes of text that were read */
	bool fractions;               /* atomic: a number was not written as a whole one */
};

/*
 * Opens a path, "-" for standard input; or takes over its open descriptor if fd is not -1. The path
 * is borrowed. On failure *out is NULL.
 */
int bytes_open(struct bytes **out, const char *path, int fd, struct bytes_shared *shared,
	       struct fail *fail);
void bytes_close(struct bytes *b); /* takes NULL */

bool bytes_in_file(const struct bytes *b);             /* they can be read at any offset */
bool bytes_in_regular(const struct bytes *b);          /* they are in a regular file */
int bytes_fd(const struct bytes *b, uint64_t *origin); /* a file's; offset 0 is at *origin */

/* How long a file was when it was opened; a stream: 0. The system may not tell the truth. */
uint64_t bytes_size(const struct bytes *b);

const char *bytes_name(const struct bytes *b); /* for messages */

/*
 * A read of a file ended at offset `at`: is that because the file became shorter, or was changed?
 * False where it never held what its size says (/sys).
 */
bool bytes_shorter(const struct bytes *b, uint64_t at);

/* Tells whether a file has changed: its size and time of modification when it was opened. */
struct identity {
	uint64_t size;
	int64_t seconds, nanoseconds; /* 0 for all but regular files */
};
struct identity bytes_identity(const struct bytes *b);

/* Reads exactly cap bytes of a file, fewer only where it ends. Any thread. */
int bytes_read_at(const struct bytes *b, uint64_t at, unsigned char *to, size_t cap, size_t *got,
		  struct fail *fail);

/* Reads cap bytes of a file, or `least` to cap of a stream passed up to `at`; fewer at the end. */
int bytes_read(struct bytes *b, uint64_t at, unsigned char *to, size_t least, size_t cap,
	       size_t *got, struct fail *fail);

/*
 * Bytes from `at` on, valid until the next call. *got < least: the input ends before; *got may be
 * more. No more than `most` are read, and none with a `least` of 0.
 */
int bytes_look(struct bytes *b, uint64_t at, size_t least, size_t most, const unsigned char **bytes,
	       size_t *got, struct fail *fail);

/*
 * Nothing before `at` is needed any more: a stream is read up to there, or to its end if that comes
 * first. From bytes_keep until bytes_go_back, which makes them the next bytes again, a stream's
 * bytes from `at` on stay nevertheless.
 */
int bytes_pass(struct bytes *b, uint64_t at, struct fail *fail);
void bytes_keep(struct bytes *b, uint64_t at);
void bytes_go_back(struct bytes *b);
uint64_t bytes_passed(const struct bytes *b);

/* Is nothing left of a stream? Did the last read give less than it could? */
bool bytes_ended(const struct bytes *b);
bool bytes_drained(const struct bytes *b);

/* A byte in `finish` has ended the stream, so something may be missing at its end. */
bool bytes_finished(const struct bytes *b);

/* Asks the system to read a file ahead from this offset on. */
void bytes_hint(struct bytes *b, uint64_t at);

/* Leaves a redirected file at this offset, for the next program. */
void bytes_leave(const struct bytes *b, uint64_t at);

#endif
