/* SPDX-License-Identifier: MIT */
/*
 * tee: passes the bytes of all inputs on to standard output while they are counted.
 *
 * A thread of its own, the passer, reads the inputs one after another, and the source opens none of
 * them: for each input it gets the reading end of a pipe (tee_next). So the counting code sees
 * nothing but streams, every byte is read once, and what is counted is what was passed. With
 * --finish the passer ends where the signal finds it; only a reader of standard output that the
 * same signal has ended may then miss some of what is counted.
 *
 *	input --read--> buffer --write--> the source's pipe --> readers
 *	                     `---write--> standard output
 *
 * Bytes are passed even if the counting ends or fails. If the source closes its end, at the end of
 * -n or after a failure, or asks for no further input, only the passing goes on. The passing ends
 * early only where an input cannot be read or standard output cannot be written; then the source's
 * pipe ends too.
 *
 * Why every wait ends. The passer waits
 *   - for its input and for standard output, as cat does: these are the user's;
 *   - for room in the source's pipe, which is always read or closed: readers take from it until
 *     they end, and when all have ended the source is closed, before tee_end;
 *   - for the source to ask for the next input, which it does when it has read this one to the end,
 *     or tee_end says that it never will.
 * A reader waits in tee_next for the passer to reach the next input. It asks only when it is done
 * with the one before and has closed it, so the passer is not waiting for it any more; a passer
 * that ends wakes it. tee_end waits for the passer, which by then waits for nothing of ours.
 *
 * The lock is taken alone, and never held while a thread reads, writes or opens.
 */
#ifndef GPUHIST_TEE_H
#define GPUHIST_TEE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tee;

/*
 * Starts to pass the inputs ("-": standard input) to the descriptor `to`, which messages call
 * standard output. The paths are borrowed until tee_end. -1: nothing was passed, and nothing has to
 * be freed.
 */
int tee_start(struct tee **out, char *const *paths, size_t count, int to, struct fail *fail);

/*
 * The next input, in their order, as the reading end of a pipe, which the caller closes. Waits
 * until the passer has reached it. -1: the input could not be opened, or the passing ended before
 * it, or there is no pipe. 1: --finish has ended it before. One thread at a time.
 */
int tee_next(struct tee *t, int *fd, struct fail *fail);

/*
 * Call it when the source takes no more: waits at most so many seconds for the end of the passing.
 * True: bytes are still being passed. Main thread, after every descriptor that tee_next gave is
 * closed.
 */
bool tee_goes_on(struct tee *t, double seconds);

/*
 * Waits until everything has been passed, closes `to`, and frees. Every descriptor that tee_next
 * gave must be closed by then. -1: not everything was passed, or a part of it could not be handed
 * to the source, so that counts of it are wrong. Where the reader of `to` has left, raises SIGPIPE
 * first; but with --finish, after its signal, 1. Main thread.
 */
int tee_end(struct tee *t, struct fail *fail);

#endif
