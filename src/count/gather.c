/* SPDX-License-Identifier: MIT */
/*
 * gather: whole records to samples that can be counted; the bytes between samples are left out.
 *
 * The counter gets samples without gaps, beginning with the first channel. Samples that have no
 * gaps go to it as they are. Long runs of samples (rows of a picture) go to it one by one, from
 * where they are. Short runs are first copied, some KiB at a time, to a buffer in L1.
 */
#include <string.h>

#include "count/count.h"

/* samples copied together: half of a small L1, a unit of count.c */
#define SCRATCH ((size_t)16 << 10)
#define DIRECT ((size_t)2 << 10) /* runs of this many bytes and more are counted where they are */
/* bytes that are added to a checksum and then counted: they stay in L2 */
#define AT_ONCE ((size_t)64 << 10)

/*
 * Copies `wide` bytes of each run: the run itself, or, where it does not have the size of a
 * register, up to twice as much, because the next run overwrites the surplus. The last run is
 * copied exactly, because there may be no readable bytes after it.
 */
static inline void copy_runs(unsigned char *to, const unsigned char *from, size_t n, size_t run,
			     size_t wide, size_t stride)
{
	for (; n > 1; n--, to += run, from += stride)
		memcpy(to, from, wide);
	memcpy(to, from, run);
}

/*
 * Copies n runs, at least one. A copy of a known size is a load and a store; one of an unknown size
 * is a call.
 */
static void copy_together(unsigned char *to, const unsigned char *from, size_t n, size_t run,
			  size_t stride)
{
#define KNOWN(run, wide)                                   \
	case run:                                          \
		copy_runs(to, from, n, run, wide, stride); \
		break
	switch (run) {
		KNOWN(1, 1);
		KNOWN(2, 2);
		KNOWN(3, 4);
		KNOWN(4, 4);
		KNOWN(6, 8);
		KNOWN(8, 8);
		KNOWN(12, 16);
		KNOWN(16, 16);
	default:
		copy_runs(to, from, n, run, run, stride);
	}
#undef KNOWN
}

/* Where samples go: to the counter, or, if that is NULL, to the statistics. */
struct sink {
	const struct counting *c;
	struct counter *counter;
	struct stats *stats;
};

static void give(const struct sink *to, const unsigned char *samples, size_t bytes)
{
	const size_t n = bytes / to->c->type.code_bytes;

	if (to->counter)
		counter_add(to->counter, samples, n);
	else
		stats_add_channels(to->stats, to->c->channels, samples, n);
}

/* Gives n runs of `run` bytes, each `stride` bytes after the one before. */
static void give_runs(const struct sink *to, const unsigned char *p, size_t n, size_t run,
		      size_t stride)
{
	unsigned char scratch[SCRATCH];
	const size_t most = SCRATCH / run;

	for (; run >= DIRECT && n > 0; n--, p += stride)
		give(to, p, run);
	while (n > 0) {
		const size_t some = n < most ? n : most;
		copy_together(scratch, p, some, run, stride);
		give(to, scratch, some * run);
		p += some * stride;
		n -= some;
	}
}

/* Gives the samples of whole records, or of whole rows where there are rows. */
static void give_units(const struct sink *to, const unsigned char *p, size_t bytes)
{
	const struct layout *const l = &to->c->layout;
	const size_t samples = (size_t)l->samples * to->c->bytes;
	size_t n = bytes / layout_bytes(l);

	if (layout_is_contiguous(l, to->c->bytes)) {
		give(to, p, bytes);
	} else if (l->row == 0) {
		give_runs(to, p + l->offset, n, samples, l->record);
	} else if (samples == l->record) { /* without gaps inside a row */
		give_runs(to, p, n, l->row * samples, l->pitch);
	} else {
		for (; n > 0; n--, p += l->pitch)
			give_runs(to, p + l->offset, l->row, samples, l->record);
	}
}

void gather_add(const struct counting *c, struct counter *counter, const unsigned char *records,
		size_t bytes, struct xxh64 *hash)
{
	const size_t unit = layout_bytes(&c->layout);
	const size_t most = !hash ? bytes : unit < AT_ONCE ? AT_ONCE / unit * unit : unit;
	const struct sink to = {.c = c, .counter = counter};

	for (size_t some; bytes > 0; bytes -= some, records += some) {
		some = bytes < most ? bytes : most;
		if (hash)
			xxh64_add(hash, records, some);
		give_units(&to, records, some);
	}
}

void gather_stats(const struct counting *c, struct stats *stats, const unsigned char *records,
		  size_t bytes)
{
	give_units(&(struct sink){.c = c, .stats = stats}, records, bytes);
}
