/* SPDX-License-Identifier: MIT */
/*
 * output: where the histogram goes: all of it, or nothing.
 *
 * A regular file is written under a temporary name in its own folder, synced, and renamed
 * over the old one, so that the name always holds the old file or the whole new one. The new file
 * has the old one's permissions (output_keep.h), and a file that may not be written is refused. Devices,
 * FIFOs and standard output are written directly. A signal that ends the process removes the
 * temporary file first (signals.h).
 *
 * The main thread has one output open at a time, and one other thread may have one. Each is its thread's alone.
 */
#ifndef GPUHIST_OUTPUT_H
#define GPUHIST_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct output;

/* path NULL or "-" is standard output. Takes what it needs from the system now, so that a
 * folder that cannot be written is known before the work is done. */
int output_open(struct output **out, const char *path, struct fail *fail);

/*
 * For counts that must not appear under the asked name. output_rescue turns the output of a file
 * into that of NAME.rescue.json beside it, or of gpuhist-PID.rescue.json where that name cannot be;
 * false where there is no file to be beside. output_open_rescue opens gpuhist-PID.rescue.json in a
 * folder; shared: for the user's eyes only.
 */
bool output_rescue(struct output *o);
int output_open_rescue(struct output **out, const char *folder, bool shared, struct fail *fail);

/* As messages have it; as long as o is open. */
const char *output_name(const struct output *o);

/* Buffered; errors are kept and reported by output_commit. */
void output_write(struct output *o, const void *data, size_t bytes);
void output_text(struct output *o, const char *text);

/* Did a write fail already? Then the rest need not be made. */
bool output_failed(const struct output *o);

/* *replaced becomes true when the new file has its name, whatever fails after that. */
void output_note_replaced(struct output *o, bool *replaced);

/* Flushes, syncs, publishes. On failure nothing was published, unless the syncing of
 * the folder alone failed. Frees o either way. */
int output_commit(struct output *o, struct fail *fail);

/* Publishes nothing. Takes NULL. */
void output_abort(struct output *o);

#endif
