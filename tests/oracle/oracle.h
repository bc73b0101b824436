/* SPDX-License-Identifier: MIT */
/*
 * oracle: shared by its files. Each uses only those before it: sample, input, edges, bins,
 * print, stats, rows, main.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Holds x * N and LO * N + i * (HI - LO) exactly: |x| <= 2^64, N <= 2^28 and
 * |LO|, |HI| < 2^96, so nothing reaches 2^126. */
__extension__ typedef __int128 wide;

#define MAX_BINS ((uint64_t)1 << 28)
#define MAX_EDGE_BINS ((uint64_t)1 << 20) /* for --log and --edges */
#define MAX_WHOLE ((wide)1 << 96)
#define MAX_RECORD ((uint64_t)16 << 20)

enum {
	FAIL_SYSTEM = 1,
	FAIL_USAGE = 2,
	FAIL_DATA = 3,
	MAX_CHANNELS = 65536,
	FEW_CHANNELS = 64,
	FEW_SAMPLES = 4096
};

enum kind { UNSIGNED, SIGNED, FLOAT };

struct type {
	const char *name;  /* without the byte order */
	unsigned bits;     /* of one sample; packed without gaps unless they are whole bytes */
	enum kind kind;    /* meaning of the bits */
	int exponent_bits; /* FLOAT: width of the exponent field */
	bool finite;       /* FLOAT: no infinity; only the greatest magnitude is NaN */
};

/* One sample, exactly. A binary64 holds every value of every float type. */
struct sample {
	wide whole;    /* the value of an integer sample */
	double real;   /* the value of a float sample, NaN too */
	uint64_t code; /* its bits */
	bool missing;  /* an integer of --missing; a float is NaN instead */
};

/* One end of the range, as the user wrote it. */
struct bound {
	wide whole;    /* its value when is_whole and not is_vast */
	double real;   /* the nearest binary64 */
	bool is_whole; /* the decimal number has no fraction */
	bool is_vast;  /* whole, but 2^96 or more */
};

enum axis {
	RATIONAL, /* edge i is LO + i (HI - LO) / N, exactly */
	LISTED,   /* the edges are numbers in a list */
	RESIDUE,  /* bin i holds the samples that are i modulo N */
	DYADIC,   /* bins of width 2^k at multiples of 2^k, which the samples decide */
	NUMBERED, /* the same for the ranks of a type's numbers: --log=auto */
};

/* The bins that an option or the default asks for. */
struct binning {
	const char *range, *log, *edges; /* the options' texts; NULL: not given */
	bool mod, automatic;             /* --mod, --auto */
	bool numbered;                   /* --log=auto */
	uint64_t bins;                   /* -b, or 256 */
	bool bins_given;                 /* -b */
};

enum format { TEXT, RAW_ROWS, NPY_ROWS };

/* --each: a histogram for each N records of an input, or for each input. */
struct row_worker {
	uint64_t size;           /* records; UINT64_MAX: a row is an input; 0: not given */
	char *name[64];          /* --name: the name of each input */
	unsigned names, input;   /* how many inputs; which one is read */
	uint64_t first, records; /* of the row that is being counted */
	uint64_t begin;          /* offset of the input's first record */
	bool pairs;              /* --pairs: complex samples, channels are I and Q */
	enum format format;
	const char *counter; /* -C */
	uint64_t most;       /* the largest count */
	unsigned bytes;      /* of a count */
	uint64_t written;    /* NPY_ROWS: number of rows ... */
	unsigned char *data; /* ... and their counts */
	size_t used;         /* bytes of data */
};

struct job {
	bool text;                      /* --text: the samples were text */
	char *column[FEW_CHANNELS];     /* --text=NAME,...: the names of the channels; or NULL */
	const struct type *type;        /* of the samples */
	const struct type *number;      /* of the samples before --abs */
	const struct type *word;        /* of the words that hold them; without --mask, `type` */
	uint64_t mask;                  /* bits of a word that are the sample; 0: all */
	bool masked;                    /* --mask */
	bool abs;                       /* --abs */
	const char *missing;            /* --missing; NULL: not given */
	unsigned parts;                 /* words of a sample: 2 for --abs=pair, else 1 */
	bool big_endian;                /* first byte, or sample of it, is the most significant */
	bool type_given;                /* -t */
	unsigned channels;              /* from -c or the first input */
	bool channels_given, last_axis; /* -c N, -c last */
	bool raw;                       /* --raw: recognise no header */
	const char *tensor;             /* --tensor; NULL: not given */
	struct {
		uint64_t offset, bytes; /* 0: not given */
		bool big;
	} by_key;                              /* --by */
	uint32_t *key;                         /* --by: of each channel, as they came */
	const char *record, *offset, *pitched; /* texts of --record, --offset, --rows; or NULL */
	uint64_t stride;                       /* bits from one record to the next */
	uint64_t first_byte;                   /* of the samples in a record */
	uint64_t samples;                      /* in a record, of all channels */
	/* bytes at the start of each input's samples */
	uint64_t skip;
	uint64_t limit;    /* records to be read at most */
	bool ignore_tail;  /* --ignore-tail */
	struct binning by; /* the options */
	enum axis axis;    /* the axis that follows from the options */
	/* N; DYADIC: as many bins as the samples need */
	uint64_t bins;
	struct bound lo, hi;           /* RATIONAL: the range */
	double *edge;                  /* LISTED, NUMBERED: the N + 1 edges */
	int k;                         /* DYADIC, NUMBERED */
	wide first;                    /* DYADIC: bin 0 begins at first * 2^k */
	bool finite;                   /* DYADIC, NUMBERED: there is a finite sample */
	bool fraction;                 /* ... and one that is not whole (is_whole) */
	struct sample least, greatest; /* DYADIC, NUMBERED: of the finite samples */
	bool negative, positive;       /* NUMBERED: there are samples of this sign */
	struct sample below, above;    /* NUMBERED: the samples next to zero */
	bool clamp, closed;            /* --clamp, --closed */
	bool flow, nonzero, header;    /* the lines that are written */
	const char *stats;             /* --stats: the quantiles; NULL: not given */
	bool rough;                    /* --rough: the figures are merged from rows */
	bool binless;                  /* --binless: figures instead of bins */
	char separator;                /* between columns */
	struct row_worker rows;        /* --each */
	uint64_t *count;               /* by channel, then by bin */
	uint64_t total;                /* samples of all channels */
	uint64_t under[MAX_CHANNELS], over[MAX_CHANNELS]; /* samples outside all bins */
	uint64_t nan[MAX_CHANNELS];                       /* ... because they are NaN */
};

/* Is each channel a line of the output? */
static inline bool is_list(const struct job *job)
{
	return job->channels > FEW_CHANNELS || job->by_key.bytes;
}

/* ---- sample.c ---- */

_Noreturn void fail(int status, const char *what, const char *why);
void *take_memory(size_t n, size_t size);
unsigned char *read_file(const char *name, uint64_t *bytes);

const struct type *type_named(const char *name, size_t length); /* NULL: no such type */
/* Return sample i of those that begin at these bytes. */
struct sample decode(const struct type *type, bool big_endian, const unsigned char *bytes,
		     uint64_t i);
double largest_float(const struct type *type);

/* Do the samples decide the range? */
static inline bool by_samples(const struct job *job)
{
	return job->axis == DYADIC || job->axis == NUMBERED;
}

/* ---- input.c ---- */

/* The contents of a header. */
struct input {
	unsigned char *data;     /* the whole file; freed by the caller */
	uint64_t begin, end;     /* offsets of its samples */
	const struct type *type; /* NULL: the header gives none */
	bool big_endian;         /* the order of its samples */
	unsigned channels;       /* 0: the header gives none */
	bool absent;             /* it holds only other tensors */
	uint64_t dimensions;     /* of a .npy */
	uint64_t last_axis;      /* of a .npy that is not in Fortran order; else 0 */
};

struct input open_input(const char *name, const struct job *job);

/* ---- edges.c: the edges before any sample is read ---- */

struct bound parse_bound(const char *text);
void set_axis(struct job *job);

/* ---- bins.c ---- */

/* DYADIC, NUMBERED: note each sample; then find the axis. */
void note_extremes(struct job *job, struct sample s);
/* Is a float from a text a whole number that binary64 tells from its neighbours? */
bool is_whole(const struct job *job, struct sample s);
void set_dyadic(struct job *job);
void set_numbered(struct job *job);

/* Return the numerator of edge i over N, if edges are exact. */
wide edge_times_bins(const struct job *job, uint64_t i);
void count_sample(struct job *job, unsigned channel, struct sample s);

/* Return less than 0, 0, or more than 0 for a sample below, on, or above edge i. */
int compare(const struct job *job, struct sample s, uint64_t i);
/* Return a sample's bin; the sample must be in one without --clamp. */
uint64_t bin_of(const struct job *job, struct sample s);

/* ---- print.c ---- */

void put_histogram(const struct job *job);
void format_edge(const struct job *job, char *text, size_t size, uint64_t i);
void format_real(char *text, size_t size, double x);
void format_sample(const struct job *job, char *text, size_t size, struct sample s);

/* ---- stats.c: --stats ---- */

/* Keep every sample; once all are counted, print gpuhist's figures except mean and std. */
void keep_sample(struct job *job, unsigned channel, struct sample s);
void put_stats(const struct job *job);
/* Print a channel's figures in the columns of --each; mean and std stay empty. */
void put_figures(const struct job *job, unsigned channel);

/* ---- rows.c: --each ---- */

void begin_rows(struct job *job);
void put_row_of(struct job *job); /* the one that is counted; begins the next */
void put_list(struct job *job);   /* for many channels, keys, and --binless */
void end_rows(struct job *job);

#endif
