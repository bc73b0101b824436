/* SPDX-License-Identifier: MIT */
/* plan: one job of the program, and all that is done to one run of it. */
#ifndef TORTURE_PLAN_H
#define TORTURE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

enum route { FILES, REDIRECT, PIPE, TRICKLE, NONBLOCKING };
enum target { STDOUT, NEW, OLD, LINK, INTO_NEW, INTO_OLD };

struct job {
	const char *name;
	/* after -q, and after -o or --into where there is a target; with the FILEs of FILES */
	const char *arguments;
	const char *input; /* of the other routes */
	enum route route;
	enum target target;
	int status; /* when nothing fails */
	/* the files that standard output is to get by --tee, one after another */
	const char *passes;
};

extern const struct job JOBS[];
extern const size_t JOB_COUNT;

/* Jobs whose first calls look at first bytes, before a pipe is read or for a GPU; they work without
 * that too. */
extern const char LOOKS_AHEAD[];
extern const char LOOKS_AT_FILES[];

/* Is the target a document that the run is added to? */
bool adds(const struct job *job);

/* What the file of OLD and LINK holds at first, and that of INTO_OLD; and their mode. */
extern const char OLD_BYTES[], OLD_DOCUMENT[];
const char *old_bytes(const struct job *job);
enum { OLD_MODE = 0640 };

/* The name that the user gives, and the file that it stands for. */
extern const char *const TARGETS[], *const FILES_OF[];

/* What a fault may do to a run that would have succeeded. */
enum effect {
	HARMLESS, /* nothing: status 0, every byte */
	FATAL,    /* status 1: what is lost cannot be replaced */
	EITHER,   /* the program may manage without; exact, or one line */
};

/* The first line that fits counts. A role as in preload.c; "" fits all. */
struct fault {
	const char *function, *role;
	int error;
	enum effect effect;
};

extern const struct fault FAULTS[];
extern const size_t FAULT_COUNT;

enum effect effect_of(const struct job *job, const char *function, const char *role, int error);

extern const int SIGNALS[]; /* the last cannot be caught */
extern const size_t SIGNAL_COUNT;

/* Calls that mark the stages of a run. */
extern const char *const STAGES[];
extern const size_t STAGE_COUNT;

struct plan {
	size_t job;
	const char *function; /* NULL: nothing fails */
	int error;
	enum { FOR_GOOD, ONCE, OTHERS, HOWS } how;
	unsigned n;        /* the call that fails */
	const char *stage; /* NULL: no signal */
	int signal;
	unsigned at; /* the call that is signalled */
	bool after, ignored;
	bool closed;      /* standard output has no reader */
	bool alone;       /* the document to add to is not there, whatever the target */
	uint64_t noise;   /* 0: none */
	uint64_t feed;    /* seed of the pieces in which a pipe is fed */
	unsigned threads; /* 0: as the job says */
	int resource;     /* of setrlimit; -1: no limit */
	rlim_t limit;
};

extern const char *const HOW[];
extern const struct plan PLAIN; /* without a fault */

/* Does the program go on after the plan's signal? */
bool survives(const struct plan *plan);

void print_plan(const struct plan *plan);

#endif
