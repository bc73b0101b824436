/* options_given: what options.c shares with the files that each know one group of options. */
#ifndef GPUHIST_OPTIONS_GIVEN_H
#define GPUHIST_OPTIONS_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/edges.h"
#include "cli/job.h"

/* What was given, before it is known whether it fits together. */
struct given {
	const char *way[AXIS_DEFAULT]; /* to bin, by its kind: the text of its value, "" where it has none; NULL: not
					  given */
	uint32_t bins;                 /* -b; 0: not given */
	size_t edges;                  /* how many */
	bool counter;
	const char *counting; /* the first long name of an option that is not for --merge; NULL: there is none */
};

/* "OPTION ARGUMENT: why", a usage error; -1. */
static inline int options_usage(struct fail *fail, const char *option, const char *argument, const char *why)
{
	return fail_set(fail, STATUS_USAGE, "%s %s: %s", option, *argument ? argument : "''", why);
}

/* options_bins.c: --bins, --range, --log and --edges, each with its value; then all of them together. */
int options_bins(struct given *g, const char *text, struct fail *fail);
int options_range(struct job *job, struct given *g, const char *text, struct fail *fail);
int options_log(struct job *job, struct given *g, const char *text, struct fail *fail);
int options_edges(struct job *job, struct given *g, const char *text, struct fail *fail);
int options_settle_bins(struct job *job, const struct given *g, struct fail *fail);

/* The option of a way to bin, "--range"; NULL of one that has none. */
extern const char *const options_ways[AXIS_DEFAULT];

/* options_text.c: job->options, once all options are known. */
int options_text(struct job *job, const struct given *g, struct fail *fail);

/* options_output.c: --format, --plot (its value NULL where it has none) and --every; then what is written, where to and
 * how, once all options are known. */
int options_format(struct job *job, const char *text, struct fail *fail);
int options_plot(struct job *job, const char *text, struct fail *fail);
int options_every(struct job *job, const char *text, struct fail *fail);
int options_settle_output(struct job *job, const struct given *g, struct fail *fail);

/* options_merge.c: notes each option by its long name; with --merge, whether all of them go with it; --into, before
 * options_settle_output. */
void options_note(struct given *g, const char *name);
int options_settle_merge(const struct given *g, struct fail *fail);
int options_settle_into(struct job *job, struct fail *fail);

#endif
