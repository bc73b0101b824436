/* SPDX-License-Identifier: MIT */
/*
 * output: writes the histogram, all of it or nothing.
 *
 * A regular file is written under a temporary name in its own directory, synced, and renamed over
 * the old one, so the name always refers to the whole old file or the whole new one. The new file
 * gets the old one's mode, POSIX access control list, group, and, if the process may change it,
 * owner; if the group or the list cannot be kept, no user gains access. A file that may not be
 * written is refused. Devices, FIFOs and standard output are written directly. A signal that ends
 * the process removes the temporary file first (signals.h).
 *
 * The main thread and one other thread may each have one output open at a time. Only the thread
 * that opened an output may use it.
 */
#ifndef GPUHIST_OUTPUT_H
#define GPUHIST_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct output;

/*
 * Open an output; path NULL or "-" is standard output. Acquires everything it needs from the system
 * now, so that an unwritable directory is reported before the work.
 */
int output_open(struct output **out, const char *path, struct fail *fail);

/*
 * Save counts that must not appear under the name asked for, in a "rescue file". output_rescue
 * makes o one, with FILE's permissions; false: o is not a regular file, or the name would be too
 * long. Then output_commit_rescue gives it the first free name of FILE.rescue.json,
 * FILE.2.rescue.json ..., even if several runs do so at once. output_open_rescue opens
 * gpuhist-PID.rescue.json, or one with a number, in a directory; shared: others use it too, so only
 * the user may read the file.
 */
bool output_rescue(struct output *o);
int output_open_rescue(struct output **out, const char *folder, bool shared, struct fail *fail);

/*
 * Open an output in memory; only output_abort may end it. output_taken returns the bytes written
 * since its last call, valid until the next write.
 */
int output_open_memory(struct output **out, struct fail *fail);
const char *output_taken(struct output *o, size_t *bytes);
size_t output_used(const struct output *o); /* what output_taken would return */

/* Write to a buffer. output_commit reports the first error. */
void output_write(struct output *o, const void *data, size_t bytes);
void output_text(struct output *o, const char *text);

/* printf, at most OUTPUT_PRINT - 1 bytes. */
#define OUTPUT_PRINT 1024
void output_print(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Write arbitrary bytes as UTF-8. Calls `escape` for each character, and with length 0 for each
 * invalid byte. If it returns NULL, the bytes are written unchanged; otherwise the text that it
 * returns, which may be in `text`.
 */
#define OUTPUT_ESCAPE 8
typedef const char *escape_fn(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE]);
void output_escaped(struct output *o, const char *text, size_t bytes, escape_fn *escape);

/* Make the output fail with errno, for example if a writer runs out of memory. */
void output_fail(struct output *o);

/* Has a write failed already? Then there is no point in writing more. */
bool output_failed(const struct output *o);

/*
 * Allocate this many bytes on the disk for a regular file, so that a disk which is too small is
 * reported before the work. 0 too if the file system cannot do that. -1: *fail says how much is
 * needed, and `advice` how to need less.
 */
int output_reserve(struct output *o, uint64_t bytes, const char *advice, struct fail *fail);

/* Pass the buffer to the system now. -1: *fail says what failed. */
int output_flush(struct output *o, struct fail *fail);

/* Overwrite the first bytes of a file; at least that many must have been written before. */
void output_write_over(struct output *o, const void *data, size_t bytes);

/*
 * Flush, sync and publish; frees o, even on failure. -1: nothing was published, and *fail says why.
 * 1: everything was published, but *fail says why the directory could not be synced.
 */
int output_commit(struct output *o, struct fail *fail);

/* The same for a rescue file, whose name it stores. */
int output_commit_rescue(struct output *o, char name[PATH_MAX], struct fail *fail);

/*
 * The same for a run's result: once the file is replaced, no signal ends the process, so its exit
 * status tells whether it was replaced. Only reports and --into may follow; neither waits for long.
 * Main thread only.
 */
int output_commit_finally(struct output *o, struct fail *fail);

/*
 * Free o and publish nothing. If a write failed because the reader of a pipe has left, the process
 * dies of PIPE, whichever thread wrote, unless PIPE is ignored. Accepts NULL.
 */
void output_abort(struct output *o);

/* ---- output names; NULL or "-": standard output ---- */

/*
 * Return the descriptor for a path like /dev/stdout or /dev/fd/3, or -1. The file behind it belongs
 * to the program that opened it and has its own offset, so it is written to, never replaced.
 */
int output_descriptor(const char *path);

/*
 * Follow a chain of symbolic links: the target is replaced, not the link. A dangling link gives the
 * file to create.
 */
int output_resolve(char target[PATH_MAX], const char *path, struct fail *fail);

/* Directory of a path, with a trailing slash. */
void output_folder(char folder[PATH_MAX], const char *path);

/* Is the output a regular file, or will it be one? */
bool output_is_file(const char *path);

/* Is the output `path` the same regular file as `input`, where "-" is standard input? */
bool output_is_input(const char *path, const char *input);

/* Would two outputs of one command be the same file, whether or not it exists yet? */
bool output_is_output(const char *path, const char *other);

/* Is the output the same terminal as standard error? */
bool output_is_stderr_terminal(const char *path);

/* Would output written to path be mixed with the bytes of standard output? */
bool output_is_stdout(const char *path);

#endif
