/* SPDX-License-Identifier: MIT */
/* torture: shared by its files. Each uses only the files before it. */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* ---- files.c: whole files read and written, and random contents ---- */

/* Report what failed, with errno, and end the program. */
void die(const char *what) __attribute__((noreturn));

/* Seed splitmix64, which draws everything from now on. */
void chance_begin(uint64_t seed);
uint64_t draw(void);
unsigned below(size_t n);

struct bytes {
	char *data; /* with a zero at the end; NULL: no such file */
	size_t n;
};

struct bytes slurp(const char *path);
void spill(const char *path, const void *data, size_t n);
bool same(struct bytes a, struct bytes b);

/* Write samples of all sizes, most of them small. */
void make_input(const char *path, size_t n);

/*
 * Write the samples of `small` in zstd frames: in many, in one, and in one that is cut; "long":
 * some of `large` in one.
 */
void make_packed(void);

/*
 * Write documents to be merged: "one.json", "two.json", "both.json" and "far.json", which is near
 * the largest count. In plan.c.
 */
void make_documents(void);

/*
 * Write "headed": "small" as a WAVE with chunks before and after; "headed-packed": in zstd frames;
 * "headed-cut".
 */
void make_headed(void);
void make_text(void);

/* ---- plan.c: one job of the program, and everything that is done to one run of it ---- */

enum route { FILES, REDIRECT, PIPE, TRICKLE, NONBLOCKING };
enum target { STDOUT, NEW, OLD, LINK, INTO_NEW, INTO_OLD };

struct job {
	const char *name;
	/* after -q, and after -o or --into if there is a target; for FILES, with the files */
	const char *arguments;
	const char *input; /* for the other routes */
	enum route route;
	enum target target;
	int status; /* if nothing fails */
	/* the files that --tee must pass to standard output, one after another */
	const char *passes;
};

extern const struct job JOBS[];
extern const size_t JOB_COUNT;

/* A job whose first calls look at the first bytes of a pipe; it also works without that. */
extern const char LOOKS_AHEAD[];

/* Is the target a document to which the run is added? */
bool adds(const struct job *job);

/* First contents of the file for OLD and LINK, and for INTO_OLD; and their mode. */
extern const char OLD_BYTES[], OLD_DOCUMENT[];
const char *old_bytes(const struct job *job);
enum { OLD_MODE = 0640 };

/* The name that the user gives, and the file that it stands for. */
extern const char *const TARGETS[], *const FILES_OF[];

/* The effect that a fault may have on a run that would have succeeded. */
enum effect {
	HARMLESS, /* nothing: status 0, every byte */
	FATAL,    /* status 1: the loss cannot be repaired */
	EITHER,   /* the program may manage without: exact output, or one line */
};

/* The first line that fits applies. Roles as in preload.c; "" fits all. */
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
	bool alone;       /* no document to add to, whatever the target */
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

/* ... or, once counting has begun, end its stream and publish the bytes that it counted? */
bool finishes(const struct plan *plan);

void print_plan(const struct plan *plan);

/* ---- process.c: one run of the program, as a plan has it ---- */

enum { PATH_BYTES = 512 };

/* Absolute paths: the program, the library, and the directory above the program's own. */
extern char gpuhist[PATH_BYTES], preload[PATH_BYTES], folder[64];

struct result {
	int status;          /* as from wait; -1: hung */
	bool failed, raised; /* the plan was met */
	struct bytes out, err, log, published;
};

struct result run(const struct plan *plan);
void result_free(struct result *r);

/* Remove everything, and return how many files do not belong there. */
unsigned clean(const char *path);

/* ---- verdict.c: was a run right? ---- */

enum { JOBS_MAX = 80 };

/* Each job's output and messages in a plain run in which nothing fails. */
extern struct bytes expected[JOBS_MAX], said[JOBS_MAX];

/* The bytes that a job with --tee passes to standard output. */
extern struct bytes passes[JOBS_MAX];
/* For a job that adds to a document: its own counts. */
extern struct bytes counted[JOBS_MAX];

/* Return the fault of a run, or NULL. */
const char *judge(const struct plan *plan, const struct result *r);

/* May a run have left a temporary file? */
bool may_leave(const struct plan *plan, const struct result *r);

/* Is the data synced before the file gets its name, and the directory afterwards? */
const char *judge_order(size_t k, const char *log);

#endif
