/* SPDX-License-Identifier: MIT */
/*
 * job: a job, and the functions that draw it, run it and judge it. Each file uses
 * only the files before it.
 */
#ifndef JOBS_JOB_H
#define JOBS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- chance.c: splitmix64, one stream for each job ---- */

/* Seed everything that is drawn from now on. */
void chance_begin(uint64_t seed, uint64_t number);

uint64_t draw(void);
uint64_t below(uint64_t n); /* 0 to n - 1 */
bool once_in(uint64_t n);
uint64_t draw_magnitude(unsigned bits); /* below 2^bits; each length as likely as every other */

/* Report what failed, with errno, and end the program. */
void die(const char *what) __attribute__((noreturn));

/* ---- type.c: samples as codes, and as keys, which are codes in the order of values ---- */

__extension__ typedef __int128 wide;

enum kind { UNSIGNED, SIGNED, FLOAT };

struct type {
	const char *name;       /* the manual's */
	const char *numpy;      /* the name after the order character; NULL: none */
	unsigned bits;          /* of a sample; packed without gaps unless they are whole bytes */
	enum kind kind;         /* meaning of the bits */
	unsigned exponent_bits; /* FLOAT: width of the exponent field */
	bool finite;            /* FLOAT: no infinity; only the greatest magnitude is NaN */
};

const struct type *draw_type(void);
unsigned packed_in(const struct type *t); /* fewest samples that end at a byte */

uint64_t sign_of(const struct type *t);
uint64_t mask_of(const struct type *t);
uint64_t infinity_of(const struct type *t);
uint64_t code_of_key(const struct type *t, uint64_t key);
wide min_of(const struct type *t);
wide max_of(const struct type *t);
uint64_t key_of_whole(const struct type *t, wide x);
double real_of_key(const struct type *t, uint64_t key);

/* Return the key of the smallest sample that is not below x. */
uint64_t key_of_real(const struct type *t, double x);

/* Draw any finite sample of a float type. */
uint64_t draw_finite_key(const struct type *t);

/* ---- a job ---- */

enum {
	MAX_EDGE_KEYS = 256, /* edges of a job near which its data lies */
	MAX_INPUTS = 4,
	MAX_READ = 64, /* columns of a text */
	PATH_BYTES = 512,
	LIST_BYTES = 4000,
};

enum binning { DEFAULT_BINS, RANGE, LOG, EDGES, MOD, AUTO, LOG_AUTO };
enum layout { PLAIN, RECORDS, ROWS };
enum header { HEADERLESS, NUMPY, WAVE, PICTURE, TENSORS };
enum list_form { AS_LIST, AS_FILE };

struct job {
	const struct type *type;          /* of the samples */
	bool big_endian;                  /* their byte order */
	bool type_given;                  /* --type is given */
	bool pair;                        /* ... by a name of complex numbers */
	bool masked;                      /* --mask */
	bool abs;                         /* --abs */
	bool magnitude;                   /* ... of pairs, which are the channels */
	bool binless;                     /* -b 0 */
	char missing[200];                /* --missing; "": not given */
	enum binning binning;             /* the option that chooses the bins */
	uint64_t bins;                    /* N */
	bool bins_given;                  /* --bins is given */
	char lo[80], hi[80];              /* the range as written; "" and "": none, or full */
	char step[80];                    /* RANGE: ... and STEP; "": not given */
	bool full;                        /* --range=full */
	bool exact;                       /* whole bounds, integer samples */
	wide whole_lo, whole_hi;          /* exact: the bounds */
	double real_lo, real_hi;          /* not exact: the bounds */
	double *edge;                     /* EDGES: bins + 1 numbers; owned */
	enum list_form form;              /* EDGES: how they are given */
	char list[LIST_BYTES];            /* EDGES: the list, or the name of its file */
	bool tame;                        /* samples stay near one another, except for a few */
	uint64_t edge_key[MAX_EDGE_KEYS]; /* first samples of some bins */
	unsigned edge_keys;               /* how many there are */
	enum header header;               /* of every input */
	unsigned header_channels;         /* channels by the header, 1 without */
	bool last_axis;                   /* NUMPY: -c last */
	unsigned channels;                /* of the histogram */
	bool channels_given;              /* --channels is given */
	enum layout layout;               /* where the samples are in a record */
	uint64_t stride, first_byte;      /* of a record: its bytes; those before its samples */
	uint64_t width;                   /* of a record: its samples, of all channels */
	bool text;                        /* --text */
	unsigned columns;                 /* ... of a line; 0: no COLUMN */
	bool apart;                       /* each channel is a column; else one column is read */
	unsigned column[MAX_READ];        /* the columns that are read, from 1 */
	uint64_t named;                   /* bits of those that go by their names */
	bool implied;                     /* the columns imply -b 0 */
	unsigned whole;     /* floats are whole numbers: 0: none, 1: all, n: of each n-th channel */
	uint64_t skip;      /* --skip */
	bool limited;       /* --count is given */
	uint64_t limit;     /* --count */
	unsigned key_bits;  /* --by: of a key; 0: not given */
	uint64_t key_byte;  /* --by: of the key in a record */
	bool quiet;         /* -q */
	bool no_check;      /* --no-check */
	char quantiles[64]; /* --stats; "": not given */
	/* number of runs with --part, which are merged afterwards; 0: one run */
	unsigned slices;
	unsigned finer; /* factor by which the runs have more bins than the merge; else 1 */
	/*
	 * --each: rows, as the oracle prints them; or, with slices, documents of one run that are
	 * merged
	 */
	bool each;
	char row[24];        /* its text */
	const char *format;  /* of its rows; NULL: the default, or of shared_flags */
	const char *counter; /* -C; NULL: not given */
};

/* ---- range.c, for a job whose type and bins are drawn ---- */

void draw_range(struct job *j);
double real_edge(const struct job *j, uint64_t i); /* if the range is not exact */
/* the smallest sample that is not below the edge */
uint64_t key_at_edge(const struct job *j, uint64_t i);
uint64_t key_at_real(const struct type *t, double x); /* ... that is not below x */

/* ---- binning.c, for a job whose kind of bins is drawn too ---- */

void draw_binning(struct job *j);
/* the samples decide the range, by option or default */
bool is_automatic(const struct job *j);
void draw_edge_keys(struct job *j);                  /* ... and its edges */
void write_edges(struct job *j, const char *folder); /* for EDGES, as the job spells them */

/* ---- layout.c, for a job whose layout, header and channels are drawn ---- */

void draw_layout(struct job *j);

/* ---- data.c ---- */

/* Fill in stretches of one pattern each: sample by sample, constant, in runs, or
 * rising through neighbouring samples. */
void fill_samples(const struct job *j, unsigned char *at, size_t samples);
/* The same, with noise between the samples. */
void fill_records(const struct job *j, unsigned char *at, size_t records);
void fill_noise(unsigned char *at, size_t bytes);

/* ---- header.c: headers, and the bytes after the samples ---- */

enum { MAX_AROUND = 4000 };

/* Bytes around the samples of an input. */
struct around {
	unsigned char before[MAX_AROUND]; /* the header */
	unsigned char after[MAX_AROUND];
	size_t bytes_before, bytes_after; /* how many bytes each holds */
};

/* Draw a header that this job's samples may have, or HEADERLESS. */
enum header draw_header(const struct type *t, bool big_endian);

/* Draw the header's channels and how they are counted, for a job whose header is drawn. */
void draw_header_channels(struct job *j);

/* TENSORS: the tensor that is counted. */
#define TENSOR_NAME "h.0.mlp"

/* Draw a header for this many bytes of samples; TENSORS: `absent`: under another name. */
void make_around(const struct job *j, struct around *a, size_t bytes, bool absent);

/* ---- text.c: samples as text ---- */

struct input;

void draw_text(struct job *j);
/* The argument of --text, and the same names for the oracle. */
void text_arguments(const struct job *j, char *text, char *names, size_t size);
/* Write the samples of an input as text. */
void write_text(const struct job *j, struct input *in);

/* ---- input.c: the bytes of a job, and the route by which the program gets them ---- */

enum route { BY_NAME, BY_FIFO, REDIRECT, REDIRECT_INSIDE, PIPE_WHOLE, PIPE_TRICKLE };

extern const char *const route_names[];

struct input {
	enum route route;      /* from REDIRECT on: standard input */
	unsigned char *data;   /* owned */
	size_t bytes;          /* of data */
	size_t before;         /* REDIRECT_INSIDE: bytes before the file offset */
	bool compressed;       /* data is zstd, from offset `before` on */
	bool lines;            /* data is text, and the oracle gets it as binary samples */
	unsigned char *oracle; /* ... which these are, after `before` bytes */
	size_t oracle_bytes;
	bool text;               /* the samples are text by chance */
	bool at_once;            /* no pipe trickles, so -n waits for no magic number */
	size_t records;          /* approximate number of records */
	size_t front;            /* decoded bytes before the first record */
	bool damaged;            /* one of its frames is damaged; the oracle reads it undamaged */
	bool sum_damaged;        /* ... only in its checksum */
	size_t bad_from, bad_to; /* decoded bytes before that frame, and with it */
	char file[PATH_BYTES];   /* holds all of data */
	char fifo[PATH_BYTES];   /* BY_FIFO: what gpuhist opens */
	char plain[PATH_BYTES];  /* opened by the oracle */
};

/* Draw the inputs of a job, at most MAX_INPUTS, and write their files; at
 * most one is standard input. Return how many there are. */
unsigned make_inputs(const struct job *j, struct input *in, const char *folder);

/* Damage a frame of one of the compressed inputs, after the header, if there is one. */
void damage_inputs(struct input *in, unsigned inputs);

/* Does an input begin with the magic number of a compressor, by chance? */
bool looks_compressed(const struct input *in);

/* ---- command.c: one job as a command line for both programs ---- */

enum { MAX_ARGS = 64 };

struct command {
	char *argv[MAX_ARGS + 1]; /* for execv; points into text */
	unsigned args;            /* how many */
	char text[16384];         /* the arguments themselves */
	size_t used;              /* of text */
};

void arg(struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Draw options that both programs spell alike; `output` is the gpuhist command that gets the
 * options for the output.
 */
void shared_flags(struct command *a, struct command *output, struct command *b,
		  const struct job *j);
/* The same for options of bins and layout. */
void shared_options(struct command *c, struct command *oracle, const struct job *j);
void oracle_options(struct command *c, const struct job *j);

const char *input_name(const struct input *in); /* as it appears in rows */

/* Add --each, its format and counter; npy writes its rows to this file. */
void each_options(struct command *c, struct command *oracle, const struct job *j,
		  const struct input *in, unsigned inputs, const char *file);

/* Add gpuhist's own options. `more` ends with NULL. */
void gpuhist_options(struct command *c, const struct job *j, char **more);
void input_args(struct command *c, struct command *oracle, const struct input *in, unsigned inputs,
		const struct job *j);

/* ---- process.c: programs, and the processes that feed them ---- */

/* Start a process that writes an input. It is killed once gpuhist has ended, because a FIFO that is
 * never opened would block it for ever. */
pid_t start_writer(const struct input *in, int fd, int reader);

/* Open gpuhist's standard input. */
int open_stdin(const struct input *in, pid_t *writer);

pid_t start(char **argv, int in, const char *out, const char *err);

/* Return the exit status, 128 + N for signal N, or -1 for a process that hung.
 * SIGCHLD is blocked, so that one between waitpid and sigtimedwait is not lost. */
int finish(pid_t pid);

double now(void);

/* ---- verdict.c: run both programs, and compare their output ---- */

struct result {
	int status;           /* as finish() returns it */
	char out[PATH_BYTES]; /* file with standard output */
	char err[PATH_BYTES]; /* file with standard error */
};

enum { MAX_SLICES = 40 };

/* A job that several runs count, one --part each. */
struct slices {
	struct command *merge; /* adds their documents up, which become its arguments */
	unsigned count;        /* 0: one run counts everything */
	const char *row;       /* --each of the one run that writes the documents; NULL: slices */
	const char *folder;    /* for their documents */
};

void run_both(const struct command *gpuhist, const struct command *oracle, const struct input *in,
	      unsigned inputs, const struct slices *slices, struct result *ours,
	      struct result *theirs);

/*
 * Did the job pass? If not, write the reason. The mean and std of a row may differ from the
 * oracle's by one unit in the last place.
 */
bool judge(const struct job *j, const struct input *in, unsigned inputs, const struct result *ours,
	   const struct result *theirs, FILE *why);

void print_command(const char *who, const struct command *c, const struct input *in,
		   unsigned inputs);
void remove_job(const struct input *in, unsigned inputs, const struct slices *slices,
		const struct result *ours, const struct result *theirs);

#endif
