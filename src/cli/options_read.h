/* SPDX-License-Identifier: MIT */
/* options_read: a row of the table of options, and the readers of values. */
#ifndef GPUHIST_OPTIONS_READ_H
#define GPUHIST_OPTIONS_READ_H

#include "cli/options_given.h"

struct known;

/*
 * Read an option's value and store it at the row's `to`, or wherever else it belongs. -1: the value
 * is invalid; *g->fail or else the row's `must` says why.
 */
typedef int read_fn(struct given *g, const struct known *o, const char *text);

enum about {
	WRITES,      /* output of the counts */
	SPEEDS,      /* speed and progress: scripts may set them with --merge, too */
	COUNTS,      /* how to count samples: not with --merge, which counts none */
	DECIDES,     /* selects samples or bins: written in documents, and not with --merge */
	DECIDES_SUM, /* like DECIDES, but also allowed with --merge */
};

/* Another option, and why it must be absent or present too. */
struct other {
	const char *name, *why;
};

struct known {
	const char *name;
	char letter;       /* 0: none */
	const char *value; /* "=N", or "[=N]" if it is optional; NULL: none */
	enum about about;
	read_fn *read; /* NULL: any text is valid */
	size_t to;     /* offset in struct given for the value */
	size_t text;   /* offset in struct given for the pointer to its text; 0: none */
	/* bounds of a number, which is stored as a uint32_t if `most` fits one, else a uint64_t */
	uint64_t least, most;
	const char *must; /* message for an invalid value */
	int choice;       /* new value of the enum */
	bool off;         /* read_flag: false, not true */
	struct other apart[7], needs;
};

extern read_fn read_flag, read_choice, read_type, read_text, read_number, read_ends, read_edges,
	read_channels, read_rows, read_part, read_each, read_counter, read_color, read_format,
	read_every, read_plot, read_stats, read_device, read_alarm, read_wave;

#endif
