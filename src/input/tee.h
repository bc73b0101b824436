/* SPDX-License-Identifier: MIT */
/*
 * tee: passes the bytes of all inputs on to standard output while they are counted.
 *
 * A thread of its own, the passer, opens the inputs one after another, and the source opens none of them: for each
 * input it gets the reading end of a pipe (tee_next) into which the passer copies what it passes. So the counting
 * code sees streams and nothing else, every byte is read once, and what is counted is what was passed.
 *
 *	input --splice--> pipe in hand --tee----> the source's pipe --> readers
 *	                        `-------splice--> standard output
 *
 * Pages of a pipe, and of a file's cache, move and are not copied: a writer that lends its own pages to a pipe
 * (vmsplice) must not reuse them, as vmsplice(2) says of every pipe. Where splice is refused - output that is
 * appended to, some devices, packets - bytes are read and written instead, and a call that fails is repeated so
 * before it is called an error.
 *
 * Bytes pass whatever becomes of the counting. If the source closes its end, at the end of -n or after a
 * failure, or a pipe for it cannot be made, only the passing goes on. The passing ends early only where an input
 * cannot be read or standard output not be written; then the source's pipe ends too.
 *
 * Why every wait ends. The passer waits
 *   - for its input and for standard output, as cat does: these are the user's;
 *   - for room in the source's pipe, which is always read or closed: readers take from it until they end, and when
 *     all have ended the source is closed, before tee_end;
 *   - for the source to take the pipe of the next input, which it does when it has read this one to the end, or
 *     tee_end says that it never will.
 * A reader waits in tee_next for the passer to reach the next input. It asks only when it is done with the one
 * before and has closed it, so that it no longer holds the passer up; a passer that ends calls it. tee_end
 * waits for the passer, which by then waits for nothing of ours.
 *
 * The lock is taken alone, and not held while a thread reads, writes or opens.
 */
#ifndef GPUHIST_TEE_H
#define GPUHIST_TEE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tee;

/*
 * Starts to pass the inputs ("-": standard input) to the descriptor `to`, which messages call standard output.
 * The paths are borrowed until tee_end. -1: nothing was passed and nothing is left behind.
 */
int tee_start(struct tee **out, char *const *paths, size_t count, int to, struct fail *fail);

/*
 * The next input, in their order, as the reading end of a pipe, which is then the caller's to close. Waits until
 * the passer has reached it. -1: it could not be opened, or the passing ended before. One thread at a time.
 */
int tee_next(struct tee *t, int *fd, struct fail *fail);

/*
 * The source takes no more, and so many seconds pass: do bytes still pass? By the main thread, where every
 * descriptor that tee_next gave is closed.
 */
bool tee_goes_on(struct tee *t, double seconds);

/*
 * Waits until everything has passed, closes `to`, and frees. Every descriptor that tee_next gave must be closed
 * by then. -1: not all passed, or a part of it could not be handed to the source, so that no counts of it are
 * true. Where the reader of `to` has left, raises SIGPIPE first. By the main thread.
 */
int tee_end(struct tee *t, struct fail *fail);

#endif
