/* SPDX-License-Identifier: MIT */
/* edges: from LO, HI and N to the arithmetic that finds the bin of a sample. */
#include "bins/edges.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char TOO_NARROW[] =
	"the bins are narrower than binary64 can tell apart: fewer bins or a wider range would do";

const char edges_no_memory[] = "no memory for the edges";

/*
 * Sets the keys of an integer type that are in the range: values low .. high, as far as the type has
 * them. If it has none, all from `low` on are "edge", folded into `over`, or, where low is past the
 * type's end, all values, folded into `under`.
 */
static void set_keys(struct edges *e, const struct sample_type *type, int128_t low, int128_t high)
{
	struct binning *b = &e->binning;
	const int128_t min = sample_min(type), max = sample_max(type);
	const int128_t first = low > max || low < min ? min : low;
	int128_t last = high < max ? high : max;

	b->is_signed = type->kind == SAMPLE_SIGNED;
	b->bias = (uint64_t)-min;
	if (low > max || last < first) {
		b->kind = BIN_NONE;
		e->edge_cell = low > max ? EDGE_IS_UNDER : EDGE_IS_OVER;
		last = max;
	}
	b->first = (uint64_t)(first - min);
	b->span = (uint64_t)(last - first);
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

	const uint64_t base = (uint64_t)(first - lo); /* of a value that fits a key */
	if (fits && width % bins == 0 && (per_bin & (per_bin - 1)) == 0) {
		b->kind = BIN_SHIFT;
		b->shift = (struct bin_shift){.base = base};
		while (((int128_t)1 << b->shift.by) < per_bin)
			b->shift.by++;
		/* A shift of the whole key is undefined in C: one bin of 2^32 or 2^64 values. */
		if (b->shift.by < 8 * (type->bytes == 8 ? 8u : 4u))
			return;
	}
	if (fits && type->bytes < 8 && width <= (int128_t)1 << 32 && bins < width) {
		/*
		 * d ceil(2^64 N / W) / 2^64 exceeds d N / W by less than d / 2^64, and as
		 * d <= W <= 2^32 that is less than the 1 / W up to the next whole number.
		 */
		b->kind = BIN_MAGIC;
		b->magic = (struct bin_magic){
			.base = base,
			.multiplier = (uint64_t)((((uint128_t)bins << 64) + (uint128_t)width - 1) /
						 (uint128_t)width),
		};
		return;
	}
	/*
	 * The guess is off by a few times N 2^-53, far below one half. All fits 128 bits:
	 * W < 2^97, N <= 2^28, and e N + offset <= W N.
	 */
	const uint128_t offset = (uint128_t)(first - lo) * bins;
	b->kind = BIN_RATIO;
	b->ratio = (struct bin_ratio){
		.width = {(uint64_t)width, (uint64_t)((uint128_t)width >> 64)},
		.offset = {(uint64_t)offset, (uint64_t)(offset >> 64)},
		.scale = (double)bins / (double)width,
		.guess = (double)offset / (double)width,
	};
}

/* Linspace edges. The caller has checked that lo < hi and that both are finite. */
static void set_linspace(struct edges *e, double lo, double hi)
{
	struct binning *b = &e->binning;
	struct bin_linear *const l = &b->linear;
	const double bins = b->bins;

	l->hi = hi;
	l->last = e->closed ? hi : nextafter(hi, -INFINITY);
	l->unit = 1;
	l->lo = lo;
	if (isinf(hi - lo)) {
		/*
		 * linspace itself overflows here. With lo and step halved, the formula gives what a
		 * wider exponent would: at this magnitude halving and doubling are exact.
		 */
		l->unit = 2;
		l->lo = lo / 2;
		l->step = (hi / 2 - lo / 2) / bins;
	} else {
		l->step = (hi - lo) / bins;
	}
	const double range = hi - lo;
	l->scale = bins / range;

	/*
	 * How far t = (x - lo) scale of bin_nearest can be from i at x = edge i, in bins: edge i is
	 * off from lo + i range/N by at most u (3 range + A), where u = 2^-53 and A = max(|lo|,
	 * |hi|) (range, step, product and sum each round once); an integer x of 64 bits by another
	 * u A; t by 4 u N. Together that is u N (7 + 2 A / range). Twice that has to be below a
	 * quarter, which is half of what "nearest" needs. t is monotone in x, so what holds at the
	 * edges holds between them. Where steps or scale are not normal numbers the bound does not
	 * hold.
	 */
	const double magnitude = fmax(fabs(lo), fabs(hi));
	const double error = DBL_EPSILON * bins * (7 + 2 * magnitude / range);
	const bool normal = l->unit == 1 && l->step > 0x1p-900 && range < 0x1p1000;
	b->kind = normal && error < 0.25 ? BIN_LINEAR : BIN_SEARCH;
}

/*
 * Neighbouring edges may round to the same number; a step among the denormals may round up so far
 * that edges pass HI. Not where the bound of set_linspace holds.
 */
static bool rises(const struct binning *b)
{
	double edge = binning_edge_careful(b, 0);

	for (uint32_t i = 1; i <= b->bins && b->kind != BIN_LINEAR; i++) {
		const double next = binning_edge_careful(b, i);
		if (!(edge < next))
			return false;
		edge = next;
	}
	return true;
}

/* Integer types with edges of set_linspace: which whole values lie between them. */
static void set_linspace_keys(struct edges *e, const struct sample_type *type, double lo, double hi)
{
	const double huge = 0x1p70; /* past every type, and whole: more is not needed */
	const int128_t low = (int128_t)ceil(fmax(fmin(lo, huge), -huge));
	const double top = fmax(fmin(hi, huge), -huge);
	const int128_t high = e->closed ? (int128_t)floor(top) : (int128_t)ceil(top) - 1;

	set_keys(e, type, low, high);
}

/* Takes a copy of explicit edges. -1 with *why as edges_init's; it is `refused` if they do not rise. */
static int set_list(struct edges *e, const double *list, const struct edges_spec *spec,
		    const struct sample_type *type, const char *refused, const char **why)
{
	const size_t bytes = ((size_t)spec->bins + 1) * sizeof(*list);

	*why = refused;
	for (uint32_t i = 0; i < spec->bins; i++)
		if (!(list[i] < list[i + 1]))
			return -1;
	*why = edges_no_memory;
	e->list = malloc(bytes);
	if (!e->list)
		return -1;
	memcpy(e->list, list, bytes);
	if (spec->definition || table_init(e, list, type) == 0)
		return 0;
	edges_free(e);
	return -1;
}

static int init_list(struct edges *e, const struct edges_spec *spec, const struct sample_type *type,
		     const char **why)
{
	return set_list(e, spec->list, spec, type, "edges must be strictly increasing", why);
}

/* ---- edges of equal ratio ----
 *
 * Edge i is lo (hi/lo)^(i/bins), the nearest binary64 on every system; the last bit of libm's pow
 * is not. It is 2^x with x = log2(lo) + i (log2(hi) - log2(lo)) / bins, in integers of 128 bits:
 * numbers from 1 up to 2 are held with 127 bits after the point ("ones"), logarithms with 116.
 * Everything is made of root[j] = 2^(2^-j), found by square roots. A logarithm is found by dividing
 * out one root after another, bit by bit; a power by multiplying the roots of its bits.
 *
 * Errors, in units of 2^-127 and relative to values of 1 and more: a product or root is cut off, by
 * less than 1; root[j] inherits half of the error of the one before, so each is off by less than 2,
 * and its inverse by less than 4. A logarithm takes 116 divisions, off by less than 5 each: 580, or
 * 2^-117, and 1.5 2^-117 as a logarithm; cut off to 116 bits, 2^-115. x adds up two of them, with
 * factors that sum to one, and is cut off: 2^-114. A power of it inherits 2^-114 too, and the error
 * of 64 roots and products, below 2^-119. In all that is 2^-113.
 *
 * A power is never exactly the middle of two binary64 numbers: a middle has an odd mantissa of 54
 * digits, whose power by `bins` has more digits than the product lo^(bins-i) hi^i can have. So an
 * edge is the nearest binary64 unless its power is nearer than 2^-110 to a middle, which is to be
 * expected once among 2^56 edges.
 */

#define POINT 116u /* bits of a logarithm after its point */
#define ONE ((uint128_t)1 << 127)
#define LN2_64 0xb17217f7d1cf79acu /* ln 2, in units of 2^-64 */
/* The upper 128 of 256 bits. */
static uint128_t multiply_high(uint128_t a, uint128_t b)
{
	const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64),
		       b0 = (uint64_t)b;
	const uint128_t low = (uint128_t)a0 * b0, left = (uint128_t)a1 * b0,
			right = (uint128_t)a0 * b1;
	const uint128_t middle = (low >> 64) + (uint64_t)left + (uint64_t)right;

	return (uint128_t)a1 * b1 + (left >> 64) + (right >> 64) + (middle >> 64);
}

/* The product of two numbers from 1 up to 2, which is below 2. */
static uint128_t multiply(uint128_t a, uint128_t b)
{
	return multiply_high(a, b) << 1;
}

/* The square root of twice `half`, bit by bit: the largest whose square is not above that. */
static uint128_t square_root(uint128_t half)
{
	uint128_t s = ONE;

	for (uint128_t bit = ONE >> 1; bit > 0; bit >>= 1)
		if (multiply_high(s | bit, s | bit) <= half)
			s |= bit;
	return s;
}

static void set_roots(uint128_t root[POINT + 1])
{
	uint128_t half = ONE; /* half of 2, then of each root */

	for (uint32_t j = 1; j <= POINT; j++) {
		root[j] = square_root(half);
		half = root[j] >> 1;
	}
}

/* a / b, of numbers from 1 up to 2, a not below b. */
static uint128_t divide(uint128_t a, uint128_t b)
{
	uint128_t quotient = ONE, rest = a - b;

	for (uint128_t bit = ONE >> 1; bit > 0; bit >>= 1) {
		const bool past = rest >> 127; /* the doubled rest is above 2^128, and b */
		rest <<= 1;
		if (past || rest >= b) {
			rest -= b;
			quotient |= bit;
		}
	}
	return quotient;
}

/* The logarithm of a positive x to base 2: returns the fraction; the whole part is *whole. */
static uint128_t logarithm(const uint128_t root[POINT + 1], double x, int *whole)
{
	uint128_t rest = (uint128_t)(uint64_t)ldexp(frexp(x, whole), 53) << 75, bits = 0;

	--*whole;
	for (uint32_t j = 1; j <= POINT; j++) {
		if (rest < root[j])
			continue;
		rest = divide(rest, root[j]);
		bits |= (uint128_t)1 << (POINT - j);
	}
	return bits;
}

/* 2^fraction, of a fraction with POINT bits. */
static uint128_t power(const uint128_t root[POINT + 1], uint128_t fraction)
{
	/* in units of 2^-128: below 2^-64 */
	const uint64_t rest = (uint64_t)fraction << (128 - POINT);
	uint128_t product = ONE;

	for (uint32_t j = 1; j <= 64; j++)
		if (fraction >> (POINT - j) & 1)
			product = multiply(product, root[j]);
	/* 2^r is 1 + r ln 2, up to r^2 / 4. */
	const uint64_t above = (uint64_t)((uint128_t)rest * LN2_64 >> 64); /* in units of 2^-128 */
	return product + multiply_high(product, above);
}

/* ones 2^exponent to the nearest binary64. */
static double nearest(uint128_t ones, int exponent)
{
	const int bits = exponent < -1022 ? 1075 + exponent : 53; /* fewer if it is subnormal */

	if (bits < 1)
		return ldexp(1, -1074);
	const uint32_t cut = 128 - (uint32_t)bits;
	const uint128_t half = (uint128_t)1 << (cut - 1), rest = ones & ((half << 1) - 1);
	const uint64_t kept = (uint64_t)(ones >> cut);

	return ldexp((double)(kept + (rest >= half)), exponent + 1 - bits);
}

static void ratio_edges(double *edges, double lo, double hi, uint32_t bins)
{
	uint128_t root[POINT + 1];
	int lo_whole, hi_whole;

	set_roots(root);
	const uint128_t lo_part = logarithm(root, lo, &lo_whole),
			hi_part = logarithm(root, hi, &hi_whole);
	/* Below 2^128: the whole parts differ by at most 2098. */
	const uint128_t span = ((uint128_t)(hi_whole - lo_whole) << POINT) + hi_part - lo_part;
	const uint128_t step = span / bins, rest = span % bins;

	edges[0] = lo;
	for (uint32_t i = 1; i < bins; i++) {
		const uint128_t x = lo_part + step * i + rest * i / bins;
		edges[i] = nearest(power(root, x & (((uint128_t)1 << POINT) - 1)),
				   lo_whole + (int)(x >> POINT));
	}
	edges[bins] = hi;
}

/* Edges of equal ratio, counted as explicit ones. */
static int init_log(struct edges *e, const struct edges_spec *spec, const struct sample_type *type,
		    const char **why)
{
	if (!(spec->lo.value > 0 && spec->lo.value < spec->hi.value)) {
		*why = "LO must be above 0 and less than HI";
		return -1;
	}
	assert(spec->bins <= BINS_LOG_MAX);
	double *const list = malloc(((size_t)spec->bins + 1) * sizeof(*list));
	*why = edges_no_memory;
	if (!list)
		return -1;
	ratio_edges(list, spec->lo.value, spec->hi.value, spec->bins);
	const int rc = set_list(e, list, spec, type, TOO_NARROW, why);
	free(list);
	return rc;
}

/* Residues are their own edges, for output. */
static int init_mod(struct edges *e, const struct edges_spec *spec, const struct sample_type *type,
		    const char **why)
{
	struct binning *b = &e->binning;
	const uint64_t bias = (uint64_t)-sample_min(type);

	if (type->kind == SAMPLE_FLOAT) {
		*why = "--mod is for integer types";
		return -1;
	}
	e->exact = true;
	e->width = spec->bins;
	b->kind = BIN_MOD;
	b->is_signed = type->kind == SAMPLE_SIGNED;
	b->bias = bias;
	b->span = UINT64_MAX;
	b->mod.multiplier = (type->bytes == 8 ? UINT64_MAX : UINT32_MAX) / b->bins;
	b->mod.add = (b->bins - bias % b->bins) % b->bins;
	return 0;
}

void edges_place(struct edges *e, int128_t first, uint32_t bins, int k)
{
	const struct auto_bins *const of = &e->auto_bins;

	e->k = k;
	e->dyadic = !of->log && of->type.kind == SAMPLE_FLOAT;
	e->exact = !of->log && !e->dyadic;
	if (e->exact) {
		e->lo = sample_min(&of->type) + (first << k);
		e->width = (int128_t)bins << k;
	} else {
		e->first = (int64_t)first;
	}
	e->binning.bins = bins;
}

int128_t edges_first(const struct edges *e)
{
	return e->exact ? (e->lo - sample_min(&e->auto_bins.type)) >> e->k : (int128_t)e->first;
}

static int init_auto(struct edges *e, const struct edges_spec *spec, const struct sample_type *type,
		     const char **why)
{
	const bool log = spec->kind == AXIS_RANKS;

	if (spec->bins < auto_bins_least(type)) {
		*why = log ? "--log=auto needs 2 bins or more, because a bin from 0 on holds no "
			     "negative value"
			   : "--auto needs 2 bins or more, because a bin from 0 on holds no "
			     "negative "
			     "value";
		return -1;
	}
	e->auto_bins = (struct auto_bins){.type = *type, .most = spec->bins, .log = log};
	const int k = auto_k(&e->auto_bins, &EXTENT_NONE);
	auto_rule(&e->binning, &e->auto_bins, k);
	edges_place(e, 0, e->binning.bins, k);
	return 0;
}

void edges_settle(struct edges *e, const struct extent *extent)
{
	const int k = auto_k(&e->auto_bins, extent);
	const bool none = extent_is_none(extent);
	const int128_t first = none ? 0 : auto_bin(&e->auto_bins, extent->least, k);
	const int128_t last = none ? -1 : auto_bin(&e->auto_bins, extent->greatest, k);

	edges_place(e, first, (uint32_t)(last - first + 1), k);
}

static int init_values(struct edges *e, const struct edges_spec *spec,
		       const struct sample_type *type, const char **why)
{
	(void)why;
	set_exact(e, type, 0, spec->bins);
	return 0;
}

static int init_range(struct edges *e, const struct edges_spec *spec,
		      const struct sample_type *type, const char **why)
{
	const bool is_float = type->kind == SAMPLE_FLOAT;
	const bool whole = !is_float && spec->lo.whole && spec->hi.whole;

	if (spec->full && is_float) {
		/* "Every value": HI is the largest finite value, so it belongs to the last bin. */
		e->closed = true;
		set_linspace(e, -sample_max_finite(type), sample_max_finite(type));
		return 0;
	}
	if (spec->full) {
		set_exact(e, type, sample_min(type), sample_max(type) + 1);
		return 0;
	}
	if (whole && (!spec->lo.exact || !spec->hi.exact)) {
		*why = "whole LO and HI of an integer type must be below 2^96";
		return -1;
	}
	if (whole ? spec->lo.integer >= spec->hi.integer : spec->lo.value >= spec->hi.value) {
		*why = "LO must be less than HI";
		return -1;
	}
	if (whole) {
		set_exact(e, type, spec->lo.integer, spec->hi.integer);
		return 0;
	}
	set_linspace(e, spec->lo.value, spec->hi.value);
	if (!is_float)
		set_linspace_keys(e, type, spec->lo.value, spec->hi.value);
	if (!rises(&e->binning)) {
		*why = TOO_NARROW;
		return -1;
	}
	return 0;
}

const struct axis_kind_row AXIS_KINDS[] = {
	/* bin = value is the range 0:N */
	[AXIS_VALUES] = {"range", true, false, SPACING_EVEN, BINS_MAX, init_values},
	[AXIS_RANGE] = {"range", true, false, SPACING_EVEN, BINS_MAX, init_range},
	[AXIS_LOG] = {"log", true, false, SPACING_RATIO, BINS_LOG_MAX, init_log},
	[AXIS_EDGES] = {"edges", true, false, SPACING_FREE, BINS_MAX, init_list},
	[AXIS_MOD] = {"mod", false, false, SPACING_EVEN, BINS_MAX, init_mod},
	[AXIS_AUTO] = {"auto", true, true, SPACING_EVEN, BINS_MAX, init_auto},
	[AXIS_RANKS] = {"log=auto", true, true, SPACING_RANKS, BINS_MAX, init_auto},
};

int edges_init(struct edges *e, const struct edges_spec *spec, const struct sample_type *type,
	       const char **why)
{
	const struct axis_kind_row *const kind = &AXIS_KINDS[spec->kind];

	*e = (struct edges){.closed = spec->closed,
			    .integers = type->kind != SAMPLE_FLOAT,
			    .binning.bins = spec->bins};
	if (spec->closed && (!kind->ordered || kind->from_samples)) {
		*why = "--closed needs a last edge, such as that of --range";
		return -1;
	}
	return kind->init(e, spec, type, why);
}

int edges_copy(struct edges *copy, const struct edges *e)
{
	const size_t bytes = ((size_t)e->binning.bins + 1) * sizeof(*e->list);

	*copy = *e;
	copy->table = NULL;
	if (!e->list)
		return 0;
	copy->list = malloc(bytes);
	if (!copy->list)
		return -1;
	memcpy(copy->list, e->list, bytes);
	return 0;
}

void edges_free(struct edges *e)
{
	free(e->list);
	free(e->table);
	e->list = NULL;
	e->table = NULL;
}

double edges_value(const struct edges *e, uint32_t i)
{
	if (e->list)
		return e->list[i];
	if (e->binning.bins == 0)
		return (double)NAN;
	if (e->dyadic)
		return ldexp((double)(e->first + (int64_t)i), e->k);
	if (e->auto_bins.log)
		return auto_edge(&e->auto_bins, e->first + (int64_t)i, e->k);
	if (e->exact)
		return number_ratio(e->lo * (int128_t)e->binning.bins + (int128_t)i * e->width,
				    e->binning.bins);
	return binning_edge_careful(&e->binning, i);
}

size_t edges_format(const struct edges *e, uint32_t i, char text[NUMBER_TEXT])
{
	if (e->exact && e->binning.bins > 0) {
		const int128_t moved = (int128_t)i * e->width;
		if (moved % e->binning.bins == 0)
			return number_format_integer(text, e->lo + moved / e->binning.bins);
	}
	const double x = edges_value(e, i);
	if (!e->exact && e->integers && x == floor(x))
		return number_format_whole(text, x);
	return number_format(text, x);
}

uint32_t edges_cell_of_code(const struct edges *e, const struct sample_type *type, uint32_t code)
{
	const struct binning *b = &e->binning;

	if (type->kind == SAMPLE_FLOAT) {
		const double x = sample_code(type, code);
		const float same = (float)x;
		/* Finite samples have the ranks of their own type. */
		return b->kind == BIN_TABLE ? bin_table_float(b, same, bits_of_float(same))
		       : b->kind != BIN_RANK
			       ? bin_float(b, b->kind, x)
			       : bin_rank_single(b, isfinite(x) ? code << (32 - type->bits)
								: bits_of_float(same));
	}
	return bin_key32(b, b->kind, code ^ (uint32_t)b->bias);
}
