/* SPDX-License-Identifier: MIT */
/*
 * gather: whole records to adjacent samples, without the bytes between them.
 *
 * The counter needs adjacent samples, beginning with the first channel. Records without gaps go to
 * it unchanged. Long runs of samples (rows of a picture) go to it one at a time, without a copy.
 * Short runs are first copied, some KiB at a time, to a buffer in L1. The last step, for samples of
 * 10, 12 and 14 bits, is to unpack them; a run holds whole groups.
 */
#include "base/little.h"
#include "count/counter.h"

#define SCRATCH ((size_t)16 << 10) /* bytes copied together: half of a small L1 */
#define DIRECT ((size_t)2 << 10)   /* runs of at least this many bytes are not copied */
#define AT_ONCE ((size_t)64 << 10) /* bytes hashed, then counted, while they are in L2 */

/*
 * Copy `wide` bytes of each run, up to the size of a register; the next run overwrites the surplus.
 * The last run is copied exactly, because there may be no readable bytes after it.
 */
static inline void copy_runs(unsigned char *to, const unsigned char *from, size_t n, size_t run,
			     size_t wide, size_t stride)
{
	for (; n > 1; n--, to += run, from += stride)
		memcpy(to, from, wide);
	memcpy(to, from, run);
}

/* Copy n runs, at least one. A copy of a known size is a load and a store, otherwise a call. */
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

/* ---- packed samples ---- */

/*
 * Unpack 4 samples from the lowest bits of a word to 16 bits each. The first sample is the lowest,
 * or, with `big`, the highest.
 */
static inline uint64_t spread_bits(uint64_t v, unsigned bits, bool big)
{
	const uint64_t mask = ((uint64_t)1 << bits) - 1, swapped = big ? 3 * bits : 0;
	const unsigned one = big ? 2 * bits : bits, two = big ? bits : 2 * bits;

	return (v >> swapped & mask) | (v >> one & mask) << 16 | (v >> two & mask) << 32 |
	       (v >> (3 * bits - swapped) & mask) << 48;
}

/* Unpack n samples, a multiple of 4. Starting at the last 4 samples, 8 bytes must be readable. */
INLINE void unpack_known(unsigned char *to, const unsigned char *p, size_t n, unsigned bits,
			 bool big)
{
	for (size_t i = 0; i < n / 4; i++) {
		const uint64_t v = word_at(p + i * bits / 2, 8, big);
		const uint64_t four = spread_bits(big ? v >> (64 - 4 * bits) : v, bits, big);
		memcpy(to + 8 * i, &four, sizeof(four));
	}
}

static void unpack_samples(const struct sample_type *type, unsigned char *to,
			   const unsigned char *p, size_t n)
{
	const unsigned bits = type->bits;
	const bool big = type->big;

#define KNOWN(bits_, big_)                    \
	if (bits == (bits_) && big == (big_)) \
	unpack_known(to, p, n, bits_, big_)
	KNOWN(10, false);
	KNOWN(10, true);
	KNOWN(12, false);
	KNOWN(12, true);
	KNOWN(14, false);
	KNOWN(14, true);
#undef KNOWN
}

/* Unpack and count whole groups, as many at a time as stay in L1. */
static void give_packed(struct counter *counter, const unsigned char *p, size_t bytes)
{
	const struct sample_type *const type = &counter->c->type;
	/* With many channels, records may continue in the next call of counter_add. */
	const uint32_t together = 4 * (layout_is_many(counter->c->channels)
					       ? sample_group(type)
					       : sample_whole_group(type, counter->c->channels));
	const size_t most = SCRATCH / 2 / together * together;
	unsigned char codes[SCRATCH + 8], last[8];

	for (size_t n = bytes * 8 / type->bits, some; n > 0; n -= some) {
		some = n < most ? n : most;
		const size_t took = (size_t)sample_bytes(type, some);
		/* The last 8 samples are read from a copy, because words extend past their end. */
		size_t whole = some / 4 > 2 ? (some / 4 - 2) * 4 : 0;
		unpack_samples(type, codes, p, whole);
		for (size_t left; whole < some; whole += left) {
			left = some - whole < 4 ? some - whole : 4;
			memset(last, 0, sizeof(last));
			memcpy(last, p + whole * type->bits / 8, (size_t)sample_bytes(type, left));
			unpack_samples(type, codes + 2 * whole, last, 4);
		}
		counter_add(counter, codes, some);
		p += took;
	}
}

/* Load and count samples, as many whole records at a time as stay in L1. */
static void give_loaded(struct counter *counter, const unsigned char *p, size_t n)
{
	const size_t channels = layout_is_many(counter->c->channels) ? 1 : counter->c->channels,
		     most = SCRATCH / 8 / channels * channels;
	unsigned char samples[SCRATCH];

	for (size_t some; n > 0; n -= some, p += some * counter->c->bytes) {
		some = n < most ? n : most;
		load_samples(&counter->c->load, samples, p, some);
		counter_add(counter, samples, some);
	}
}

static void give_samples(struct counter *counter, const unsigned char *samples, size_t bytes)
{
	if (counter->c->load.on) {
		give_loaded(counter, samples, bytes / counter->c->bytes);
		return;
	}
	if (sample_unpacks(&counter->c->type)) {
		give_packed(counter, samples, bytes);
		return;
	}
	counter_add(counter, samples, bytes / counter->c->type.code_bytes);
}

/* Pass on n runs of `run` bytes, each `stride` bytes after the one before. */
static void give_runs(struct counter *counter, const unsigned char *p, size_t n, size_t run,
		      size_t stride)
{
	unsigned char scratch[SCRATCH];
	const size_t most = SCRATCH / run;

	for (; run >= DIRECT && n > 0; n--, p += stride)
		give_samples(counter, p, run);
	while (n > 0) {
		const size_t some = n < most ? n : most;
		copy_together(scratch, p, some, run, stride);
		give_samples(counter, scratch, some * run);
		p += some * stride;
		n -= some;
	}
}

/* Pass on the samples of records with their keys. */
static void give_keyed(struct counter *counter, const unsigned char *p, size_t n)
{
	const struct layout *const l = &counter->c->layout;
	unsigned char scratch[16 * KEYED], loaded[8 * KEYED];
	uint32_t index[KEYED];

	for (size_t some; n > 0; n -= some, p += some * l->record) {
		some = n < KEYED ? n : KEYED;
		if (counter_add_records(counter, p, some))
			continue;
		copy_together(scratch, p + l->offset, some, counter->c->bytes, l->record);
		keys_find(counter->c->keys, index, p, some, l->record);
		if (counter->c->load.on)
			load_samples(&counter->c->load, loaded, scratch, some);
		counter_add_keyed(counter, counter->c->load.on ? loaded : scratch, index, some);
	}
}

/* Pass on the samples of whole records, or of whole rows if the layout has rows. */
static void give_units(struct counter *counter, const unsigned char *p, size_t bytes)
{
	const struct layout *const l = &counter->c->layout;
	const size_t samples = (size_t)l->samples * counter->c->bytes;
	size_t n = bytes / layout_bytes(l);

	if (counter->c->keys) {
		give_keyed(counter, p, n);
	} else if (layout_is_contiguous(l, counter->c->bytes)) {
		give_samples(counter, p, bytes);
	} else if (l->row == 0) {
		give_runs(counter, p + l->offset, n, samples, l->record);
	} else if (samples == l->record) { /* no gaps inside a row */
		give_runs(counter, p, n, l->row * samples, l->pitch);
	} else {
		for (; n > 0; n--, p += l->pitch)
			give_runs(counter, p + l->offset, l->row, samples, l->record);
	}
}

void gather_add(struct counter *counter, const unsigned char *records, size_t bytes,
		struct xxh64 *hash)
{
	const size_t unit = layout_bytes(&counter->c->layout);
	const size_t most = !hash ? bytes : unit < AT_ONCE ? AT_ONCE / unit * unit : unit;

	for (size_t some; bytes > 0; bytes -= some, records += some) {
		some = bytes < most ? bytes : most;
		if (hash)
			xxh64_add(hash, records, some);
		give_units(counter, records, some);
	}
}
