/* SPDX-License-Identifier: MIT */
/* gather: runs of samples, copied together where they are short. */
#include "count/gather.h"

#include <string.h>

/* samples copied together: half of a small L1, a unit of count.c */
#define SCRATCH ((size_t)16 << 10)
#define DIRECT ((size_t)2 << 10) /* runs of this many bytes and more are counted where they are */
/* bytes of records with gaps that are handled together, twice: they stay in L2 */
#define AT_ONCE ((size_t)64 << 10)

/* Runs of samples that follow one another: n of them, each `stride` bytes after the one before. */
struct runs {
	size_t run, stride; /* bytes */
};

/*
 * Copies `wide` bytes, up to twice the run, where the run does not have the size of a register: the
 * next run overwrites what is too much. The last run is copied exactly, because there may be no
 * readable bytes after it.
 */
static inline void copy_runs(unsigned char *to, const unsigned char *from, size_t n, size_t run,
			     size_t wide, size_t stride)
{
	for (; n > 1; n--, to += run, from += stride)
		memcpy(to, from, wide);
	memcpy(to, from, run);
}

/*
 * n runs, at least one. A copy of a known size is a load and a store; one of an unknown size is a
 * call.
 */
static void copy_together(unsigned char *to, const unsigned char *from, size_t n, size_t run,
			  size_t stride)
{
	switch (run) {
	case 1:
		copy_runs(to, from, n, 1, 1, stride);
		break;
	case 2:
		copy_runs(to, from, n, 2, 2, stride);
		break;
	case 3:
		copy_runs(to, from, n, 3, 4, stride);
		break;
	case 4:
		copy_runs(to, from, n, 4, 4, stride);
		break;
	case 6:
		copy_runs(to, from, n, 6, 8, stride);
		break;
	case 8:
		copy_runs(to, from, n, 8, 8, stride);
		break;
	case 12:
		copy_runs(to, from, n, 12, 16, stride);
		break;
	case 16:
		copy_runs(to, from, n, 16, 16, stride);
		break;
	default:
		copy_runs(to, from, n, run, run, stride);
		break;
	}
}

/* Where the samples go. */
struct sink {
	struct counter *counter; /* or, if it is NULL, ... */
	struct stats *stats;
};

static void give(const struct counting *c, const struct sink *to, const unsigned char *samples,
		 size_t n)
{
	if (to->counter)
		counter_add(to->counter, samples, n, NULL);
	else
		stats_add_channels(to->stats, c->channels, samples, n);
}

static void add_short(const struct counting *c, const struct sink *to, const unsigned char *p,
		      size_t n, const struct runs *r)
{
	unsigned char scratch[SCRATCH];
	const size_t most = SCRATCH / r->run;

	while (n > 0) {
		const size_t some = n < most ? n : most;
		copy_together(scratch, p, some, r->run, r->stride);
		give(c, to, scratch, some * r->run / c->bytes);
		p += some * r->stride;
		n -= some;
	}
}

static void add_runs(const struct counting *c, const struct sink *to, const unsigned char *p,
		     size_t n, const struct runs *r)
{
	if (r->run < DIRECT) {
		add_short(c, to, p, n, r);
		return;
	}
	for (; n > 0; n--, p += r->stride)
		give(c, to, p, r->run / c->bytes);
}

/* n whole records, or rows. */
static void add_units(const struct counting *c, const struct sink *to, const unsigned char *p,
		      size_t n)
{
	const struct layout *l = &c->layout;
	const size_t samples = (size_t)l->samples * c->bytes;

	if (l->row == 0) {
		add_runs(c, to, p + l->offset, n, &(struct runs){samples, l->record});
	} else if (samples == l->record) { /* without gaps inside a row */
		add_runs(c, to, p, n, &(struct runs){l->row * samples, l->pitch});
	} else {
		for (; n > 0; n--, p += l->pitch)
			add_runs(c, to, p + l->offset, l->row, &(struct runs){samples, l->record});
	}
}

void gather_add(const struct counting *c, struct counter *counter, const unsigned char *records,
		size_t bytes, struct xxh64 *hash)
{
	const size_t unit = layout_bytes(&c->layout);
	size_t units = bytes / unit;
	const size_t most = unit < AT_ONCE ? AT_ONCE / unit : 1;
	const struct sink to = {.counter = counter};

	if (layout_is_contiguous(&c->layout, c->bytes)) {
		counter_add(counter, records, bytes / c->bytes, hash);
		return;
	}
	while (units > 0) {
		const size_t some = !hash ? units : units < most ? units : most;
		if (hash)
			xxh64_add(hash, records, some * unit);
		add_units(c, &to, records, some);
		records += some * unit;
		units -= some;
	}
}

void gather_stats(const struct counting *c, struct stats *stats, const unsigned char *records,
		  size_t bytes)
{
	const struct sink to = {.stats = stats};

	if (layout_is_contiguous(&c->layout, c->bytes))
		give(c, &to, records, bytes / c->bytes);
	else
		add_units(c, &to, records, bytes / layout_bytes(&c->layout));
}
