/* SPDX-License-Identifier: MIT */
/*
 * bytes: reads an open file or stream by offset.
 *
 * Offset 0 is the beginning of the input; for a redirected file, the offset at which the program
 * got it. Any thread can read a file or block device at any offset. A stream is read in order by
 * one thread at a time; bytes that were looked at stay until they are passed or read. No function
 * needs a lock. A function that may wait returns 1 if a byte in `wake` ended the wait.
 */
#ifndef GPUHIST_BYTES_BYTES_H
#define GPUHIST_BYTES_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/minmax.h"

struct bytes;
struct tee; /* tee.h */

/* State shared by the inputs of a source. */
struct bytes_shared {
	int wake;           /* reading end of the wake-up pipe */
	int finish;         /* reading end of a pipe in which a byte ends all streams; or -1 */
	uint64_t keep_most; /* most bytes of a stream to keep, unless a look needs more */
	uint64_t waited_ns; /* atomic: time for which threads waited for streams */
	double until;    /* clock_seconds() at which waits end as by a byte in `wake`; 0: never */
	struct tee *tee; /* --tee: gets all bytes too, and makes files streams; or NULL */
	uint64_t text_bytes; /* atomic: bytes of text that were read */
	bool dropped;        /* atomic: --finish left out an incomplete last line */
};

/*
 * Open a path, "-" for standard input; or use its descriptor fd if that is not -1. Borrow the
 * path. On failure *out is NULL.
 */
int bytes_open(struct bytes **out, const char *path, int fd, struct bytes_shared *shared,
	       struct fail *fail);
void bytes_close(struct bytes *b); /* accepts NULL */

bool bytes_in_file(const struct bytes *b);    /* can they be read at any offset? */
bool bytes_in_regular(const struct bytes *b); /* are they in a regular file? */

/* The size of a file when it was opened, as the system gave it; 0 for a stream. */
uint64_t bytes_size(const struct bytes *b);

const char *bytes_name(const struct bytes *b); /* for messages */

/* Has a regular file changed since it was opened, as its size and times show? */
bool bytes_changed(const struct bytes *b);

/*
 * Did a read of a file end at offset `at` because the file was changed? False if its size was too
 * large from the start (/sys).
 */
bool bytes_shorter(const struct bytes *b, uint64_t at);

/* A file's state when it was opened, to tell whether it has changed. */
struct identity {
	uint64_t size;
	int64_t seconds;     /* modification time; 0 unless the file is regular */
	int64_t nanoseconds; /* nanoseconds of that time */
};
struct identity bytes_identity(const struct bytes *b);

/* Read exactly cap bytes of a file, fewer only at its end. Any thread. */
int bytes_read_at(const struct bytes *b, uint64_t at, unsigned char *to, size_t cap, size_t *got,
		  struct fail *fail);

/* Read cap bytes of a file, or `least` to cap of a stream passed up to `at`; fewer at the end. */
int bytes_read(struct bytes *b, uint64_t at, unsigned char *to, size_t least, size_t cap,
	       size_t *got, struct fail *fail);

/*
 * Find the bytes that start at `at`, valid until the next call. *got < least: the input ends there;
 * *got may be larger. Read `most` bytes at most, and none if `least` is 0.
 */
int bytes_look(struct bytes *b, uint64_t at, size_t least, size_t most, const unsigned char **bytes,
	       size_t *got, struct fail *fail);

/* Drop the bytes before `at`: read a stream up to there, or to its end if that comes first. */
int bytes_pass(struct bytes *b, uint64_t at, struct fail *fail);

/* Keep a stream's bytes from `at`, even if they are passed, until bytes_go_back. */
void bytes_keep(struct bytes *b, uint64_t at);

/* Make the kept bytes the next ones again. */
void bytes_go_back(struct bytes *b);
uint64_t bytes_passed(const struct bytes *b);

/* Have all bytes of a stream been passed or read? */
bool bytes_ended(const struct bytes *b);

/* Did the last read of a stream give less than was asked for? */
bool bytes_drained(const struct bytes *b);

/* Did a byte in `finish` end the stream? Its last record may then be partial. */
bool bytes_finished(const struct bytes *b);

/*
 * Did a signal end the stream (`finish`), so that its last line may be incomplete? Ctrl-C may end
 * its writer too, anywhere; TERM comes to this process alone, but then only a stream that its
 * writer has closed is whole.
 */
bool bytes_cuts(const struct bytes *b);

/* Ask the system to read ahead in a file, starting at this offset. */
void bytes_hint(struct bytes *b, uint64_t at);

/* Leave a redirected file at this offset, for the next program. */
void bytes_leave(const struct bytes *b, uint64_t at);

#endif
