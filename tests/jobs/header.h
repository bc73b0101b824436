/* SPDX-License-Identifier: MIT */
/* header: what an input says of itself, and what may follow its samples. */
#ifndef JOBS_HEADER_H
#define JOBS_HEADER_H

#include "job.h"

enum { MAX_AROUND = 4000 };

/* Bytes around the samples of an input. */
struct around {
	unsigned char before[MAX_AROUND]; /* the header */
	unsigned char after[MAX_AROUND];
	size_t bytes_before, bytes_after; /* how many there are of each */
};

/* A header that this job's samples may have, or HEADERLESS. */
enum header draw_header(const struct type *t, bool big_endian);

/* Its channels and how they are counted, of a job whose header is drawn. */
void draw_header_channels(struct job *j);

/* For so many bytes of samples. */
void make_around(const struct job *j, struct around *a, size_t bytes);

#endif
