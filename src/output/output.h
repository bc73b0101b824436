/* SPDX-License-Identifier: MIT */
/*
 * output: where the histogram is written: all of it, or nothing.
 *
 * A regular file is written under a temporary name in its own folder, synced, and renamed over the
 * old one, so that the name always holds the whole old file or the whole new one. The new file has
 * the old one's mode, POSIX access control list, group, and owner if the process may give files
 * away; where the group or the list cannot be kept, no user gains access. A file that may not be
 * written is refused. Devices, FIFOs and standard output are written directly. A signal that ends
 * the process removes the temporary file first (signals.h).
 *
 * The main thread has at most one output open at a time, and so has one other thread. An output is
 * used by the thread that opened it alone.
 */
#ifndef GPUHIST_OUTPUT_H
#define GPUHIST_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct output;

/*
 * Opens an output; path NULL or "-" is standard output. Everything it needs from the system is
 * taken now, so that a folder that cannot be written is reported before the work.
 */
int output_open(struct output **out, const char *path, struct fail *fail);

/*
 * For counts that must not appear under the name asked for. output_free_name finds the first free
 * name of TARGET.rescue.json, TARGET.2.rescue.json ...; false if none is free or it would be too
 * long, and errno says why. output_rescue gives the output of a file such a name; false if it is no
 * file either. output_open_rescue opens gpuhist-PID.rescue.json, or with a number, in a folder;
 * shared: the folder is shared, so only the user may read the file.
 */
bool output_free_name(char name[PATH_MAX], const char *target);
bool output_rescue(struct output *o);
int output_open_rescue(struct output **out, const char *folder, bool shared, struct fail *fail);

/*
 * Opens an output in memory, which output_abort alone may end. output_taken returns what was
 * written to it since the last call of output_taken; that is valid until something is written.
 */
int output_open_memory(struct output **out, struct fail *fail);
const char *output_taken(struct output *o, size_t *bytes);
size_t output_used(const struct output *o); /* what output_taken would return */

/* The name for messages; valid while o is open. */
const char *output_name(const struct output *o);

/* Writes to a buffer. An error is remembered, and output_commit reports it. */
void output_write(struct output *o, const void *data, size_t bytes);
void output_text(struct output *o, const char *text);

/* printf, at most OUTPUT_PRINT - 1 bytes. */
#define OUTPUT_PRINT 1024
void output_print(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes a text of any bytes as UTF-8. `escape` is called for each character, and with length 0 for
 * each byte that begins no character. If it returns NULL the bytes are written as they are, else
 * the text that it returns, for which `text` has room.
 */
#define OUTPUT_ESCAPE 8
typedef const char *escape_fn(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE]);
void output_escaped(struct output *o, const char *text, size_t bytes, escape_fn *escape);

/* Makes the output fail with errno, as a write does that cannot be made for lack of memory. */
void output_fail(struct output *o);

/* Has a write failed already? Then the rest need not be made. */
bool output_failed(const struct output *o);

/* Hands what was written to the system now. -1: *fail says what failed. */
int output_flush(struct output *o, struct fail *fail);

/* Writes over the first bytes of a file, to which at least as many were written before. */
void output_write_over(struct output *o, const void *data, size_t bytes);

/*
 * Flushes, syncs, publishes; frees o in any case. -1: nothing was published, and *fail says why.
 * 1: all was, but *fail says why the folder could not be synced.
 */
int output_commit(struct output *o, struct fail *fail);

/* Frees o and publishes nothing. Takes NULL. */
void output_abort(struct output *o);

/* ---- what the name of an output stands for; NULL or "-": standard output ---- */

/*
 * The descriptor that a path such as /dev/stdout or /dev/fd/3 stands for, or -1. The file behind it
 * belongs to the program that opened it, which has an offset in it: it is written to, and never
 * replaced.
 */
int output_descriptor(const char *path);

/*
 * The path at the end of a chain of links: the target is replaced, not the link. For a link to
 * nothing it is the file to create.
 */
int output_resolve(char target[PATH_MAX], const char *path, struct fail *fail);

/* The folder of a path, with a slash at its end. */
void output_folder(char folder[PATH_MAX], const char *path);

/* Is the output a regular file, or will it be one? */
bool output_is_file(const char *path);

/* Is the output `path` the same regular file as `input`, where "-" is standard input? */
bool output_is_input(const char *path, const char *input);

/* Would two outputs of one command be the same file, whether or not it exists yet? */
bool output_is_output(const char *path, const char *other);

/* Does the output go to the terminal that standard error is? */
bool output_is_stderr_terminal(const char *path);

/* Would output written to path be mixed with the bytes of standard output? */
bool output_is_stdout(const char *path);

#endif
