/* SPDX-License-Identifier: MIT */
/* command: one job in the words of both programs. */
#ifndef JOBS_COMMAND_H
#define JOBS_COMMAND_H

#include "input.h"

enum { MAX_ARGS = 64 };

struct command {
	char *argv[MAX_ARGS + 1]; /* for execv; points into text */
	unsigned args;            /* how many */
	char text[16384];         /* the arguments themselves */
	size_t used;              /* of text */
};

void arg(struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The options that both programs get in the same words; `output`: the command of ours that those of
 * the output go to.
 */
void shared_flags(struct command *a, struct command *output, struct command *b,
		  const struct job *j);
/* of bins and layout */
void shared_options(struct command *c, struct command *oracle, const struct job *j);
void oracle_options(struct command *c, const struct job *j);

/* `more` ends with NULL. */
void gpuhist_options(struct command *c, const struct job *j, char **more);
void input_args(struct command *c, struct command *oracle, const struct input *in, unsigned inputs,
		const struct job *j);

#endif
