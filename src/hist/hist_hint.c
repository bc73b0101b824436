/* SPDX-License-Identifier: MIT */
/* hist_hint: blocks of exponents, denormal numbers, samples outside, one bin. */
#include "hist/hist_hint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FEW_SAMPLES 100u            /* with fewer samples no hint is given */
#define LOOKED_AT ((size_t)1 << 24) /* counts: some 10 ms */
#define BINS_OF_CODES 65536u        /* as many as 16-bit codes have */
#define BLOCKS 2048u                /* exponents of binary64, the most */

/*
 * What integers of so many bytes may be: floats with this number of mantissa bits and this exponent
 * of 1.
 */
static const struct float_type {
	const char *name;
	uint32_t bytes, mantissa;
	int bias, reach; /* exponents that are plausible: bias - reach to bias + reach */
} FLOATS[] = {
	{"f16", 2, 10, 15, 14},
	{"bf16", 2, 7, 127, 64},
	{"f32", 4, 23, 127, 64},
	{"f64", 8, 52, 1023, 64},
};

/*
 * The counts of a histogram by the exponent that its samples would have as floats: how many each
 * block holds, by sign.
 */
struct blocks {
	unsigned shift;  /* of a code without its sign, to its block */
	unsigned number; /* of blocks for one sign */
	int exponents;   /* in a block; a power of two */
	uint64_t all;    /* samples but those in the bins of 0 and -0 */
	uint64_t count[2][BLOCKS];
	bool halves;            /* bins are so narrow that the halves of blocks are known too: */
	uint64_t lower[BLOCKS]; /* what the lower half of a block holds, of both signs */
};

static unsigned log2_of(int128_t x)
{
	unsigned n = 0;

	for (; x > 1; x >>= 1)
		n++;
	return n;
}

/* False where bins are neither whole blocks nor whole parts of one. */
static bool sort_into_blocks(struct blocks *b, const struct hist *h, const struct float_type *f)
{
	const struct edges *const e = &h->axis.edges;
	const uint32_t bins = axis_bins(&h->axis);
	const unsigned bits = 8 * f->bytes;

	if (!e->exact || bins == 0 || bins > BINS_OF_CODES || e->width % bins != 0)
		return false;
	const int128_t step = e->width / bins;
	if ((step & (step - 1)) != 0 || e->lo % step != 0)
		return false;
	const unsigned step_bits = log2_of(step);
	memset(b, 0, sizeof(*b));
	b->shift = step_bits > f->mantissa ? step_bits : f->mantissa;
	if (b->shift > bits - 4) /* a few blocks show nothing */
		return false;
	b->number = 1u << (bits - 1 - b->shift);
	b->halves = step_bits < b->shift;
	b->exponents = 1 << (b->shift - f->mantissa);
	for (uint32_t i = 0; i < bins; i++) {
		const int128_t low = e->lo + (int128_t)i * step;
		uint64_t n = 0;
		for (uint32_t c = 0; c < h->channels; c++)
			n += hist_count(h, c, i);
		/* Two's complement: negative integers are the codes with the sign. */
		const uint64_t code = (uint64_t)low & (UINT64_MAX >> (64 - bits));
		const uint64_t magnitude = code & (UINT64_MAX >> (65 - bits));
		if (magnitude == 0 || n == 0)
			continue;
		b->count[code >> (bits - 1)][magnitude >> b->shift] += n;
		b->all += n;
		if (b->halves && (magnitude >> (b->shift - 1) & 1) == 0)
			b->lower[magnitude >> b->shift] += n;
	}
	return true;
}

static uint64_t both(const struct blocks *b, unsigned i)
{
	return b->count[0][i] + b->count[1][i];
}

/* 99 of 100 samples have an exponent that is plausible. */
static bool is_plausible(const struct blocks *b, const struct float_type *f)
{
	const unsigned first = (unsigned)((f->bias - f->reach) / b->exponents);
	const unsigned last = (unsigned)((f->bias + f->reach) / b->exponents);
	uint64_t sum = 0;

	for (unsigned i = first; i <= last && i < b->number; i++)
		sum += both(b, i);
	return b->all >= FEW_SAMPLES && sum >= b->all - b->all / 100;
}

/*
 * Going down from a block: does each block hold the share of the one above it that a constant
 * density gives, as long as there are enough samples to tell? Below the last one there may be none
 * at all, where values are quantised.
 */
static bool falls_from(const struct blocks *b, unsigned top)
{
	/*
	 * By the exponents in a block, 1, 2 or 4: limits around 1/2, 1/4, 1/16, too narrow for the
	 * flank of a bell curve.
	 */
	static const struct {
		double ratio, least, most;
		unsigned steps;
	} RULES[] = {{0.5, 0.3, 0.7, 4}, {0.25, 0.17, 0.36, 3}, {0.0625, 0.03, 0.12, 2}};
	const unsigned rule = b->exponents == 1 ? 0 : b->exponents == 2 ? 1 : 2;
	unsigned steps = 0;
	uint64_t sum = 0, halves = 0;

	/* The lowest block is left out: it has the denormals. */
	for (unsigned i = top; i > 1; i--) {
		const double above = (double)both(b, i), here = (double)both(b, i - 1);
		const double expected = above * RULES[rule].ratio, chance = 2 * sqrt(expected);
		if (expected < 16)
			break;
		uint64_t lower = 0;
		for (unsigned k = 0; k < i; k++)
			lower += both(b, k);
		if (lower == 0)
			break;
		if (here < above * RULES[rule].least - chance ||
		    here > above * RULES[rule].most + chance)
			return false;
		sum += both(b, i - 1);
		halves += b->lower[i - 1];
		steps++;
	}
	/*
	 * Floats fall in steps, from block to block, and both halves of a block hold the same.
	 * Integers that fall like that, as pulses below a baseline do, fall within a block too:
	 * 0.41 of it is in the lower half.
	 */
	return steps >= RULES[rule].steps && (!b->halves || (double)halves > 0.46 * (double)sum);
}

/* Does each sign have at least a sixteenth? */
static bool has_both_signs(const struct blocks *b)
{
	uint64_t of_sign[2] = {0};

	for (unsigned i = 0; i < b->number; i++) {
		of_sign[0] += b->count[0][i];
		of_sign[1] += b->count[1][i];
	}
	return of_sign[0] >= b->all / 16 && of_sign[1] >= b->all / 16;
}

/*
 * Blocks of 16 exponents, which binary64 of both signs has in 256 bins. For values around 1 one
 * block for each sign, that of 2^-15 to 2, holds all samples, perhaps with the next one.
 */
static bool is_around_one(const struct blocks *b, const struct float_type *f)
{
	const unsigned one = (unsigned)f->bias / 16u;
	const uint64_t sum = both(b, one) + both(b, one + 1);

	return b->exponents == 16 && sum >= b->all - b->all / 1000 &&
	       b->count[0][one] >= b->all / 16 && b->count[1][one] >= b->all / 16;
}

static bool looks_like(const struct hist *h, const struct float_type *f)
{
	static struct blocks b; /* 32 KiB; only the thread that reports uses it */
	unsigned mode = 0;

	if (!sort_into_blocks(&b, h, f) || !is_plausible(&b, f))
		return false;
	if (is_around_one(&b, f))
		return true;
	/*
	 * Without halves this proves too little, unless values of both signs, which are far apart
	 * as integers, agree.
	 */
	const bool coarse = !b.halves && (f->bytes == 2 || b.exponents > 1);
	if (b.exponents > 4 || (coarse && !has_both_signs(&b)))
		return false;
	for (unsigned i = 0; i < b.number; i++)
		if (both(&b, i) > both(&b, mode))
			mode = i;
	/*
	 * The largest value may cut its block short, and the blocks below may hold the bend of a
	 * curve.
	 */
	for (unsigned below = 0; below < (b.halves ? 3u : 2u) && mode > below + 1; below++)
		if (falls_from(&b, mode - below))
			return true;
	return false;
}

static bool set_type(struct hint *hint, enum hint_kind kind, const char *name,
		     const struct sample_type *now)
{
	hint->kind = kind;
	snprintf(hint->type, sizeof(hint->type), "%.8s%s", name, now->big ? "be" : "");
	return true;
}

static bool are_floats(struct hint *hint, const struct hist *h)
{
	const struct sample_type *const type = &h->axis.type;

	if (type->kind == SAMPLE_FLOAT)
		return false;
	for (size_t i = 0; i < sizeof(FLOATS) / sizeof(FLOATS[0]); i++)
		if (FLOATS[i].bytes == type->bytes && looks_like(h, &FLOATS[i]))
			return set_type(hint, HINT_FLOATS, FLOATS[i].name, type);
	return false;
}

/* Finds the least and the greatest finite sample: by the bins of --auto, or by --stats. */
static bool extent_of(const struct hist *h, double *least, double *greatest)
{
	if (h->axis.kind == AXIS_AUTO && axis_bins(&h->axis) > 0) {
		*least = edges_value(&h->axis.edges, 0);
		*greatest = edges_value(&h->axis.edges, axis_bins(&h->axis));
		return true;
	}
	*least = INFINITY;
	*greatest = -INFINITY;
	for (uint32_t c = 0; c < h->channels && h->stats; c++) {
		*least = fmin(*least,
			      h->stats[c].of.number > 0 ? h->stats[c].of.least_real : INFINITY);
		*greatest = fmax(*greatest, h->stats[c].of.number > 0 ? h->stats[c].of.greatest_real
								      : -INFINITY);
	}
	return *least <= *greatest;
}

static bool are_integers(struct hint *hint, const struct hist *h)
{
	const struct sample_type *const type = &h->axis.type;
	const struct hist_flow flow = hist_flow_sum(h);
	char name[16];
	double least, greatest;

	if (type->kind != SAMPLE_FLOAT || !extent_of(h, &least, &greatest))
		return false;
	/* No f16 but 0 is that small as f32: denormals of f16 are ordinary numbers. */
	const double normal = type->mantissa == 52 ? 0x1p-1022 : 0x1p-126;
	uint64_t zeros = 0;
	if (least == 0 && h->axis.kind == AXIS_AUTO)
		for (uint32_t c = 0; c < h->channels; c++)
			zeros += hist_count(h, c, 0);
	if (!(least >= 0 && greatest > 0 && greatest <= normal) ||
	    h->samples - flow.nan - zeros < FEW_SAMPLES)
		return false;
	snprintf(name, sizeof(name), "%c%lu", flow.nan > 0 ? 'i' : 'u', 8ul * type->bytes);
	return set_type(hint, HINT_INTEGERS, name, type);
}

static bool are_equal(const struct hist *h)
{
	const struct edges *const e = &h->axis.edges;

	if (e->exact && e->width == (int128_t)axis_bins(&h->axis))
		return true; /* of one bin, if each bin is one value */
	if (h->extent)
		return h->least == h->greatest;
	for (uint32_t c = 0; c < h->channels && h->stats; c++)
		if (h->stats[c].of.number > 0 && h->stats[c].of.deviation > 0)
			return false;
	return h->stats != NULL;
}

/*
 * Explicit or regular bins: are all samples in one of them, with more than one value as far as is
 * known?
 */
static bool are_in_one_bin(struct hint *hint, const struct hist *h)
{
	const uint32_t bins = axis_bins(&h->axis);
	const enum axis_kind kind = h->axis.kind;
	bool found = false;

	if ((kind != AXIS_RANGE && kind != AXIS_LOG && kind != AXIS_EDGES) || bins < 4 ||
	    h->axis.clamp || (size_t)bins * h->channels > LOOKED_AT || are_equal(h))
		return false;
	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < bins; i++) {
			if (hist_count(h, c, i) == 0 || (found && hint->bin == i))
				continue;
			if (found)
				return false;
			found = true;
			hint->bin = i;
		}
	hint->kind = HINT_ONE_BIN;
	return found;
}

struct hint hist_hint(const struct hist *h, bool certain)
{
	const struct hist_flow flow = hist_flow_sum(h);
	const uint64_t outside = flow.under + flow.over;
	struct hint hint = {.kind = HINT_NONE};

	if (h->samples < FEW_SAMPLES ||
	    (!certain && (are_floats(&hint, h) || are_integers(&hint, h))))
		return hint;
	if (outside > h->samples / 2 && h->axis.kind != AXIS_AUTO) {
		hint.kind = HINT_OUTSIDE;
		return hint;
	}
	if (outside > 0 || flow.nan == h->samples || !are_in_one_bin(&hint, h))
		hint.kind = HINT_NONE;
	return hint;
}
