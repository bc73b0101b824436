/* edges: from LO, HI and N to the arithmetic that finds the bin of a sample. */
#include "edges.h"

#include <float.h>
#include <math.h>

static int128_t clamp(int128_t x, int128_t low, int128_t high)
{
	return x < low ? low : x > high ? high : x;
}

/*
 * The keys of an integer type that lie in the range: values low .. high, after clipping to
 * the type. An empty range counts everything from `low` on as "edge", folded into `over`,
 * or, where low is past the type's end, everything into `under`.
 */
static void set_keys(struct edges *e, const struct sample_type *type, int128_t low, int128_t high)
{
	struct binning *b = &e->binning;
	const int128_t min = sample_min(type), max = sample_max(type);

	b->is_signed = type->kind == SAMPLE_SIGNED;
	b->bias = (uint64_t)-min;
	e->edge_cell = EDGE_IS_LAST;
	if (low > max) {
		b->kind = BIN_NONE;
		e->edge_cell = EDGE_IS_UNDER;
		low = min;
		high = max;
	}
	low = clamp(low, min, max);
	high = high > max ? max : high;
	if (high < low) {
		b->kind = BIN_NONE;
		e->edge_cell = EDGE_IS_OVER;
		high = max;
	}
	b->first = (uint64_t)(low - min);
	b->span = (uint64_t)(high - low);
}

/* Integer types, whole LO and HI: bin = floor((value - LO) N / W). */
static void set_exact(struct edges *e, const struct sample_type *type, int128_t lo, int128_t hi)
{
	struct binning *b = &e->binning;
	const int128_t width = hi - lo;
	const uint32_t bins = b->bins;

	e->exact = true;
	e->lo = lo;
	e->width = width;
	set_keys(e, type, lo, e->closed ? hi : hi - 1);
	if (b->kind == BIN_NONE)
		return;

	const int128_t first = sample_min(type) + (int128_t)b->first;
	const uint64_t key_max = type->bytes == 8 ? UINT64_MAX : UINT32_MAX;
	const bool fits = first - lo + (int128_t)b->span <= (int128_t)key_max; /* d fits a key */
	const int128_t per_bin = width / bins;

	b->base = (uint64_t)(first - lo);
	if (fits && width % bins == 0 && (per_bin & (per_bin - 1)) == 0) {
		b->kind = BIN_SHIFT;
		b->shift = 0;
		while (((int128_t)1 << b->shift) < per_bin)
			b->shift++;
		/* A shift of the whole key is undefined in C: one bin of 2^32 or 2^64 values. */
		if (b->shift < 8 * (type->bytes == 8 ? 8u : 4u))
			return;
	}
	if (fits && type->bytes < 8 && width <= (int128_t)1 << 32 && bins < width) {
		/*
		 * d ceil(2^64 N / W) / 2^64 exceeds d N / W by less than d / 2^64, and as
		 * d <= W <= 2^32 that is less than the 1 / W up to the next whole number.
		 */
		b->kind = BIN_MAGIC;
		b->magic = (uint64_t)((((uint128_t)bins << 64) + (uint128_t)width - 1) /
				      (uint128_t)width);
		return;
	}
	/*
	 * The guess is off by a few times N 2^-53, far below one half. All fits 128 bits:
	 * W < 2^97, N <= 2^28, and e N + offset <= W N.
	 */
	const uint128_t offset = (uint128_t)(first - lo) * bins;
	b->kind = BIN_RATIO;
	b->width[0] = (uint64_t)width;
	b->width[1] = (uint64_t)((uint128_t)width >> 64);
	b->offset[0] = (uint64_t)offset;
	b->offset[1] = (uint64_t)(offset >> 64);
	b->scale = (double)bins / (double)width;
	b->guess = (double)offset / (double)width;
}

/* Linspace edges. The caller has seen to lo < hi, both finite. */
static void set_linspace(struct edges *e, double lo, double hi)
{
	struct binning *b = &e->binning;
	const double bins = b->bins;

	e->hi = hi;
	b->hi = hi;
	b->last = e->closed ? hi : nextafter(hi, -INFINITY);
	b->unit = 1;
	b->lo = lo;
	if (isinf(hi - lo)) {
		/* linspace itself fails here. Halved, the formula gives what a wider exponent
		 * would: at this magnitude halving and doubling are exact. */
		b->unit = 2;
		b->lo = lo / 2;
		b->step = (hi / 2 - lo / 2) / bins;
	} else {
		b->step = (hi - lo) / bins;
	}
	const double range = hi - lo;
	b->scale = bins / range;

	/*
	 * How far t = (x - lo) scale of bin_nearest can be from i at x = edge i, in bins:
	 * edge i is off from lo + i range/N by at most u (3 range + A), u = 2^-53 and
	 * A = max(|lo|, |hi|) (range, step, product and sum each round once); an integer x of
	 * 64 bits by another u A; t by 4 u N. Together u N (7 + 2 A / range); twice that is
	 * asked to stay below a quarter, half of what "nearest" needs. t is monotone in x, so
	 * what holds at the edges holds between them. Where steps or scale leave the normal
	 * numbers the bound is void.
	 */
	const double magnitude = fmax(fabs(lo), fabs(hi));
	const double error = DBL_EPSILON * bins * (7 + 2 * magnitude / range);
	const bool normal = b->unit == 1 && b->step > 0x1p-900 && range < 0x1p1000;
	b->kind = normal && error < 0.25 ? BIN_LINEAR : BIN_SEARCH;
}

/* Integer types with linspace edges: which whole values lie between them. */
static void set_linspace_keys(struct edges *e, const struct sample_type *type, double lo, double hi)
{
	const double huge = 0x1p70; /* past every type, and whole: no more than that is needed */
	const int128_t low = (int128_t)ceil(fmax(fmin(lo, huge), -huge));
	const double top = fmax(fmin(hi, huge), -huge);
	const int128_t high = e->closed ? (int128_t)floor(top) : (int128_t)ceil(top) - 1;

	set_linspace(e, lo, hi);
	set_keys(e, type, low, high);
}

int edges_init(struct edges *e, const struct edges_spec *spec, const struct sample_type *type,
	       const char **why)
{
	const bool is_float = type->kind == SAMPLE_FLOAT;

	*e = (struct edges){.closed = spec->closed};
	e->binning.bins = spec->bins;
	if (spec->full && is_float) {
		/* "Every value": the largest finite one is HI, so HI belongs in. */
		e->closed = true;
		set_linspace(e, -sample_max_finite(type), sample_max_finite(type));
		return 0;
	}
	if (spec->full) {
		set_exact(e, type, sample_min(type), sample_max(type) + 1);
		return 0;
	}
	if (!spec->ranged && is_float) {
		*why = "a float type needs --range=LO:HI";
		return -1;
	}
	if (!spec->ranged) {
		set_exact(e, type, 0, spec->bins);
		return 0;
	}
	if (!is_float && spec->lo.whole && spec->hi.whole) {
		if (!spec->lo.exact || !spec->hi.exact) {
			*why = "whole LO and HI of an integer type must be below 2^96";
			return -1;
		}
		if (spec->lo.integer >= spec->hi.integer) {
			*why = "LO must be less than HI";
			return -1;
		}
		set_exact(e, type, spec->lo.integer, spec->hi.integer);
		return 0;
	}
	if (!(spec->lo.value < spec->hi.value)) {
		*why = "LO must be less than HI";
		return -1;
	}
	if (is_float)
		set_linspace(e, spec->lo.value, spec->hi.value);
	else
		set_linspace_keys(e, type, spec->lo.value, spec->hi.value);
	/* A step among the denormals may round up so far that the edges pass HI. */
	if (binning_edge_careful(&e->binning, spec->bins - 1) > e->hi) {
		*why = "the bins are narrower than binary64 can tell apart";
		return -1;
	}
	return 0;
}

double edges_value(const struct edges *e, uint32_t i)
{
	if (e->exact)
		return number_ratio(e->lo * (int128_t)e->binning.bins + (int128_t)i * e->width,
				    e->binning.bins);
	return binning_edge_careful(&e->binning, i);
}

size_t edges_format(const struct edges *e, uint32_t i, char text[NUMBER_TEXT])
{
	if (e->exact) {
		const int128_t moved = (int128_t)i * e->width;
		if (moved % e->binning.bins == 0)
			return number_format_integer(text, e->lo + moved / e->binning.bins);
	}
	return number_format(text, edges_value(e, i));
}

uint32_t edges_cell_of_code(const struct edges *e, const struct sample_type *type, uint32_t code)
{
	const struct binning *b = &e->binning;

	if (type->kind == SAMPLE_FLOAT)
		return bin_float(b, b->kind, sample_half(type, code));
	return bin_key32(b, b->kind, code ^ (uint32_t)b->bias);
}
