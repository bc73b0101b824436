/* SPDX-License-Identifier: MIT */
/*
 * tee: implements --tee, which copies the bytes of all inputs to standard output.
 *
 * The thread that reads an input also writes the bytes to standard output (bytes.c). Under --tee
 * files are treated as streams, so each input is read once and in order. After the run, main copies
 * the bytes that were not read: the rest of the last open input, and all inputs after it.
 *
 * WHY EVERY WAIT ENDS. A thread that writes holds no lock, and waits only for the reader of
 * standard output, as tee(1) does; the other threads wait for its turn to end. If that reader
 * leaves, the write fails with EPIPE. INT and TERM kill the process even while it sleeps. The first
 * signal of --finish, source_stop() and failures do not interrupt a write, because every byte that
 * was read must be written before the program may end; the thread sees them at its next poll. The
 * second signal of --finish kills the process.
 */
#ifndef GPUHIST_TEE_H
#define GPUHIST_TEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* Used by one thread at a time: the one that reads, then main. Any thread may read `passed`. */
struct tee {
	char *const *paths; /* the inputs */
	size_t count;
	int to;           /* standard output */
	uint64_t passed;  /* a tally: inputs that were copied to their end */
	int fd;           /* descriptor of a partly read input, left open for tee_rest; or -1 */
	bool left;        /* the reader of `to` has left */
	struct fail fail; /* why copying stopped */
};

/* Prepare copying to `to`. -1: `to` is not open for writing. Borrow the paths. */
int tee_begin(struct tee *t, char *const *paths, size_t count, int to, struct fail *fail);

/*
 * Write n bytes of the next input; n is 0 at its end. -1: the write failed; if the reader has
 * left, SIGPIPE was sent. 1: the signal of --finish has ended that reader, so the input ends here.
 */
int tee_pass(struct tee *t, const unsigned char *bytes, size_t n, struct fail *fail);

/*
 * Copy the bytes that the source has not read, after it was closed, for up to `seconds` (0: no
 * limit). True: the time is up, and the call can be repeated.
 */
bool tee_rest(struct tee *t, double seconds);

/*
 * Close `to`. -1: some bytes were not copied; if the reader of `to` has left, raise SIGPIPE
 * first. 1: some bytes were not copied, because the signal of --finish has ended that reader.
 */
int tee_end(struct tee *t, struct fail *fail);

#endif
