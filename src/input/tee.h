/* SPDX-License-Identifier: MIT */
/*
 * tee: --tee, which copies the bytes of all inputs to standard output.
 *
 * The thread whose turn it is to read an input also writes the bytes to standard output (bytes.c).
 * Under --tee files are streams, so each input is read once and in order. After the run main copies
 * the bytes that nobody has read: the rest of the input that was open last, and all inputs after it.
 *
 * Why every wait ends. A thread that writes holds no lock, and waits only for the reader of standard
 * output, as tee(1) does; the other threads wait for its turn to end. If that reader leaves, the
 * write fails with EPIPE. INT and TERM kill the process wherever it sleeps. The first signal of
 * --finish, source_stop() and failures do not interrupt a write, because every byte that was read
 * must pass before the program may end; the thread sees them when it next polls its input. The
 * second signal of --finish kills.
 */
#ifndef GPUHIST_TEE_H
#define GPUHIST_TEE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* Used by one thread at a time: the one that reads, then main. */
struct tee {
	char *const *paths; /* the inputs */
	size_t count;
	int to;           /* standard output */
	size_t passed;    /* inputs that were copied to their end */
	int fd;           /* the next input, if it is closed and was not read to its end; or -1 */
	bool left;        /* the reader of `to` has left */
	struct fail fail; /* why copying stopped */
};

/* -1: `to`, standard output in messages, is not open for writing. The paths are borrowed. */
int tee_begin(struct tee *t, char *const *paths, size_t count, int to, struct fail *fail);

/*
 * Writes n bytes of the next input; n is 0 at its end. -1: they cannot be written; if the reader has
 * left, SIGPIPE was sent. 1: the signal of --finish has ended that reader, so the input ends here.
 */
int tee_pass(struct tee *t, const unsigned char *bytes, size_t n, struct fail *fail);

/*
 * Copies the bytes that the source has not read, once that is closed. True: it is not done after
 * that many seconds, and can be called again; 0 seconds: no limit.
 */
bool tee_rest(struct tee *t, double seconds);

/*
 * Closes `to`. -1: not everything was copied; if the reader of `to` has left, raises SIGPIPE first.
 * 1: the same, but the signal of --finish has ended that reader.
 */
int tee_end(struct tee *t, struct fail *fail);

#endif
