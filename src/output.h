/*
 * output: where the histogram goes: all of it, or nothing.
 *
 * A regular file is written under a temporary name in its own folder, synced, and renamed
 * over the old one, so that the name always holds the old file or the whole new one. Devices,
 * FIFOs and standard output are written directly. HUP, INT, QUIT, TERM, PIPE and XCPU remove the
 * temporary file and then kill the process as they would have done, unless they were ignored when it
 * started.
 *
 * One output is open at a time; main thread only.
 */
#ifndef GPUHIST_OUTPUT_H
#define GPUHIST_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "fail.h"

struct output;

/* Call once, before any thread is started. */
void output_init(void);

/* path NULL or "-" is standard output. Takes what it needs from the system now, so that a
 * folder that cannot be written is known before the work is done. */
int output_open(struct output **out, const char *path, struct fail *fail);

/* Buffered; errors are kept and reported by output_commit. */
void output_write(struct output *o, const void *data, size_t bytes);
void output_text(struct output *o, const char *text);

/* Did a write fail already? Then the rest need not be made. */
bool output_failed(const struct output *o);

/* Flushes, syncs, publishes. On failure nothing was published. Frees o either way. */
int output_commit(struct output *o, struct fail *fail);

/* Publishes nothing. Takes NULL. */
void output_abort(struct output *o);

/* Is path (NULL or "-": standard output) the same file as this open or named input? */
bool output_is_input(const char *path, const char *input);

#endif
