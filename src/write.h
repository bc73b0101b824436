/*
 * write: the contract of a writer: a finished histogram in, bytes out. Writers do not fail;
 * output_commit tells what became of the bytes.
 */
#ifndef GPUHIST_WRITE_H
#define GPUHIST_WRITE_H

#include "hist.h"
#include "job.h"
#include "output.h"

typedef void write_fn(struct output *out, const struct job *job, const struct hist *hist);

write_fn write_text; /* csv, tsv */
write_fn write_raw;
write_fn write_json; /* exact counts, whatever -C says: the rescue file is one of these */

/* The writer of a format: job->format, as -f or the file's suffix chose it. */
write_fn *write_choose(enum format format);

/* What the counter that was asked for shows of a count. */
uint64_t write_clip(const struct job *job, uint64_t count);

#endif
