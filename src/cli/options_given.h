/* SPDX-License-Identifier: MIT */
/* options_given: what options.c shares with the files that each know one group of options. */
#ifndef GPUHIST_OPTIONS_GIVEN_H
#define GPUHIST_OPTIONS_GIVEN_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/edges.h"
#include "cli/job.h"

/* What was given, before it is known whether the options fit together. */
struct given {
	const char *way[AXIS_DEFAULT]; /* the value of each way to bin, by its kind; "" if it has
					  none; NULL: not given */
	uint32_t bins;                 /* -b; 0: not given */
	size_t edges;                  /* how many */
	bool counter;
	bool part_auto; /* --part=auto, and no other --part followed it */
	/* the long name of the first option that does not go with --merge; NULL: there is none */
	const char *counting;
};

/* "OPTION ARGUMENT: why", a usage error; -1. */
static inline int options_usage(struct fail *fail, const char *option, const char *argument,
				const char *why)
{
	return fail_set(fail, STATUS_USAGE, "%s %s: %s", option, *argument ? argument : "''", why);
}

/* options.c: the tables for getopt. For a long option without a letter `val` is 256 or more. */
extern const struct option options_long[];
extern const char options_letters[];

/*
 * options_refuse.c. Explains why getopt returned '?' or ':'. getopt leaves in optopt the unknown
 * letter, or the value of the option that is used wrongly, or 0 if a long name is unknown. Always
 * -1.
 */
int options_refuse(int option, char **argv, struct fail *fail);

/* The row of an option that getopt returned; NULL: there is none. */
const struct option *option_by_value(int value);

/*
 * A value was refused: if it is the rest of a long option's name after one dash, as in -bins, *fail
 * says that instead. Always -1.
 */
int options_one_dash(char **argv, struct fail *fail);

/*
 * options_near.c: says why a value is refused, and suggests what was meant if that can be guessed:
 * a near word of the list or another tool's, a number from least to most written with another unit,
 * blanks, or an exponent, or two ends with something other than a colon between them. Always -1.
 */
int options_refuse_format(struct fail *fail, const char *text);
int options_refuse_counter(struct fail *fail, const char *text);
int options_refuse_device(struct fail *fail, const char *text);
int options_refuse_ends(struct fail *fail, const char *option, const char *text, const char *form);
int options_refuse_size(struct fail *fail, const char *option, const char *text, const char *why,
			uint64_t least, uint64_t most);

/*
 * options_bins.c: --bins, --range, --log and --edges, each with its value; then all of them
 * together.
 */
int options_bins(struct given *g, const char *text, struct fail *fail);
int options_range(struct job *job, struct given *g, const char *text, struct fail *fail);
int options_log(struct job *job, struct given *g, const char *text, struct fail *fail);
int options_edges(struct job *job, struct given *g, const char *text, struct fail *fail);
int options_settle_bins(struct job *job, const struct given *g, struct fail *fail);

/* The option for a way to bin, such as "--range"; NULL if there is none. */
extern const char *const options_ways[AXIS_DEFAULT];

/* options_text.c: job->options, once all options are known. */
int options_text(struct job *job, const struct given *g, struct fail *fail);

/*
 * options_output.c: --format, --plot (its value NULL if it has none) and --every; then what is
 * written, where to and how, once all options are known.
 */
int options_format(struct job *job, const char *text, struct fail *fail);
int options_plot(struct job *job, const char *text, struct fail *fail);
int options_every(struct job *job, const char *text, struct fail *fail);
int options_settle_output(struct job *job, const struct given *g, struct fail *fail);

/*
 * options_part.c: --part; then, before options_settle_output, which part this is, and -o with %K
 * and %N replaced.
 */
int options_part(struct job *job, struct given *g, const char *text, struct fail *fail);
int options_settle_part(struct job *job, const struct given *g, struct fail *fail);

/*
 * options_merge.c: --merge, its value NULL if it has none; a note of each option by its long name;
 * with --merge, whether all of them go with it; --into, before options_settle_output; after that,
 * whether a sum of some parts can be written in the format.
 */
int options_merge(struct job *job, const char *text, struct fail *fail);
int options_settle_some(const struct job *job, struct fail *fail);
void options_note(struct given *g, const char *name);
int options_settle_merge(const struct given *g, struct fail *fail);
int options_settle_into(struct job *job, struct fail *fail);

#endif
