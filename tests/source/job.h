/* SPDX-License-Identifier: MIT */
/*
 * job: one job of the source, drawn from a seed (draw.c); what it must deliver (model.c); what it
 * does deliver (take.c).
 */
#ifndef TESTS_SOURCE_JOB_H
#define TESTS_SOURCE_JOB_H

#include <stdio.h>

#include "../take.h"

#define OFFERS 5u        /* inputs of a job, at most */
#define READERS_MOST 16u /* threads */
#define FRAMES_KNOWN 300u

enum route { ROUTE_FILE, ROUTE_REDIRECTED, ROUTE_PIPE, ROUTE_STDIN };

/* An input. */
struct offer {
	enum route route;
	char path[24];
	unsigned char *bytes; /* what is read; of a redirected file, after `origin` bytes */
	size_t size, origin;
	size_t piece; /* most bytes that a writer writes at a time */
	size_t stops; /* the writer stops here, and stays until the job ends; or 0 */
	bool paced;   /* the writer waits until the whole records that it wrote are delivered */
	/* What its samples were made of, before they were packed and damaged. */
	size_t plain;            /* bytes, with a header */
	const char *format;      /* of its header; NULL: none */
	unsigned char said[512]; /* the header */
	uint64_t begin;          /* bytes of the header */
	uint64_t samples;        /* bytes of samples that it announces; NO_LIMIT: all that follow */
	bool chunks;             /* it is WAVE: chunks may follow the samples */
	bool packed;             /* in zstd */
	bool foreign;            /* the frames may be damaged */
	size_t end[FRAMES_KNOWN]; /* where its first frames end, before it was damaged */
	unsigned frames;
};

/* A device that decodes frames (unpack_soft.h). */
struct device_plan {
	bool has, demanded, vanishes, never;
	unsigned rooms, looks, lost, wrong, refused;
};

struct job {
	struct offer offer[OFFERS];
	char *paths[OFFERS];
	struct setup setup;
	unsigned workers;
	unsigned stop; /* after so many chunks a reader stops the source; or 0 */
	size_t cap;
	bool unpacked;
	struct device_plan device;
	uint64_t seed; /* of what draws while it runs */
};

/*
 * Draws a job. The seed decides, or the first 64 of n bytes, if there are any; the rest may be what
 * the first input holds.
 */
void job_draw(struct job *job, uint64_t seed, const unsigned char *bytes, size_t n);
void job_describe(const struct job *job);
void job_free(struct job *job);

/* What must be seen of an input. */
struct view {
	unsigned char *data; /* decoded */
	size_t bytes;
	uint64_t first; /* offset of the first wanted byte */
	size_t wanted;  /* bytes of its records that are wanted */
};

struct truth {
	struct view view[OFFERS];
	size_t inputs; /* that are opened */
	struct source_totals totals;
	uint64_t wanted, sum; /* of all records */
	bool must, may;       /* it must fail; or it may, because -n ends in the damage */
	bool unclear; /* libzstd itself takes it for right in one way and wrong in another */
	bool late;    /* it is found at the input's end: what follows may come before */
	bool vague;   /* one more block may be delivered before */
	size_t input; /* of the failure */
	size_t sure;  /* bytes of it that are delivered before, if ordered */
	enum status status;
	char text[200]; /* the beginning of the message */
	int64_t left;   /* offset at which a redirected file is left; -1: it is none */
};

void model(struct truth *t, const struct job *job);
void model_free(struct truth *t);

/* A sum of all records, in any order; if n is no multiple of their size, one is shorter. */
uint64_t model_sum(const unsigned char *bytes, uint64_t n, uint32_t record);

/* Records in n bytes of packed groups; the bytes of so many. */
uint64_t model_records(const struct source_use *use, uint64_t bytes);
uint64_t model_bytes(const struct source_use *use, uint64_t records);

/*
 * Reads all inputs with one reader, then with all, and checks (check.h) that both deliver what the
 * model says. Returns the batches that a device decoded.
 */
uint64_t take_all(struct job *job, const struct truth *t);
unsigned long take_failed(void); /* checks that failed so far */

#endif
