/* SPDX-License-Identifier: MIT */
/* input: the bytes of a job, and the route by which the program gets them. */
#ifndef JOBS_INPUT_H
#define JOBS_INPUT_H

#include "job.h"

enum route { BY_NAME, BY_FIFO, REDIRECT, REDIRECT_INSIDE, PIPE_WHOLE, PIPE_TRICKLE };

extern const char *const route_names[];

struct input {
	enum route route;       /* from REDIRECT on: standard input */
	unsigned char *data;    /* owned */
	size_t bytes;           /* of data */
	size_t before;          /* REDIRECT_INSIDE: bytes before the file offset */
	bool compressed;        /* data is zstd, from offset `before` on */
	bool text;              /* chance made the samples text */
	bool at_once;           /* no pipe trickles: -n waits for no magic number */
	char file[PATH_BYTES];  /* all of data */
	char fifo[PATH_BYTES];  /* BY_FIFO: what gpuhist opens */
	char plain[PATH_BYTES]; /* what the oracle opens */
};

/* Draws the inputs of a job, MAX_INPUTS at most, and writes their files; at
 * most one is standard input. Returns how many. */
unsigned make_inputs(const struct job *j, struct input *in, const char *folder);

/* Chance may begin an input with the magic of a compressor. */
bool looks_compressed(const struct input *in);

#endif
