/* SPDX-License-Identifier: MIT */
/* edges: from a request to edges, and to the rule that finds the bin of a sample. */
#include "bins/edges.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bins/exact.h"

static const char TOO_NARROW[] =
	"the bins are too narrow for binary64; use fewer bins or a wider range";

const char edges_no_memory[] = "not enough memory for the edges";

/* Set linspace edges from lo to hi; both are finite, and lo < hi. */
static void set_linspace(struct edges *e, double lo, double hi)
{
	struct binning *b = &e->binning;
	struct bin_linear *const l = &b->linear;
	const double bins = b->bins;

	e->form = EDGES_LINEAR;
	l->hi = hi;
	l->last = e->closed ? hi : nextafter(hi, -INFINITY);
	l->unit = 1;
	l->lo = lo;
	if (isinf(hi - lo)) {
		/*
		 * linspace itself overflows here. With lo and step halved, the formula has the same
		 * result as with a wider exponent, because halving and doubling are exact at this
		 * magnitude.
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
	 * In bin_nearest, t = (x - lo) scale should be i at x = edge i. How far can it be off?
	 * Let u = 2^-53 and A = max(|lo|, |hi|). Edge i differs from lo + i range/N by at most
	 * u (3 range + A), because range, step, product and sum each round once. A 64-bit integer x
	 * adds u A, and the computation of t adds 4 u N. The total is u N (7 + 2 A / range) bins.
	 * Twice that must be below a quarter; "nearest" needs only half. t never falls as x rises,
	 * so the bound holds between the edges too. It does not hold if step or scale is not a
	 * normal number.
	 */
	const double magnitude = fmax(fabs(lo), fabs(hi));
	const double error = DBL_EPSILON * bins * (7 + 2 * magnitude / range);
	const bool normal = l->unit == 1 && l->step > 0x1p-900 && range < 0x1p1000;
	b->kind = normal && error < 0.25 ? BIN_LINEAR : BIN_SEARCH;
}

/*
 * Does each edge exceed the one before? Neighbouring edges may round to the same number, and a
 * denormal step may round up so far that edges pass HI. The bound in set_linspace excludes both.
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

/* For integer types: set the whole values that lie between the edges of set_linspace. */
static void set_linspace_keys(struct edges *e, const struct sample_type *type, double lo, double hi)
{
	const double huge = 0x1p70; /* past the values of every type, and fits an int128_t */
	const int128_t low = (int128_t)ceil(fmax(fmin(lo, huge), -huge));
	const double top = fmax(fmin(hi, huge), -huge);
	const int128_t high = e->closed ? (int128_t)floor(top) : (int128_t)ceil(top) - 1;

	rational_keys(e, type, low, high);
}

static int make_list(struct edges *e)
{
	e->form = EDGES_LISTED;
	e->list = malloc(((size_t)e->binning.bins + 1) * sizeof(*e->list));
	return e->list ? 0 : -1;
}

/* Complete listed edges. -1: *why is as in edges_init, or `refused` if the edges do not rise. */
static int count_by_list(struct edges *e, const struct axis_spec *spec,
			 const struct sample_type *type, const char *refused, const char **why)
{
	bool rises = true;

	for (uint32_t i = 0; i < spec->bins && rises; i++)
		rises = e->list[i] < e->list[i + 1];
	*why = rises ? edges_no_memory : refused;
	if (rises && (spec->definition || table_init(e, e->list, type) == 0))
		return 0;
	edges_free(e);
	return -1;
}

static int init_list(struct edges *e, const struct axis_spec *spec, const struct sample_type *type,
		     const char **why)
{
	*why = edges_no_memory;
	if (make_list(e) != 0)
		return -1;
	memcpy(e->list, spec->list, ((size_t)spec->bins + 1) * sizeof(*e->list));
	return count_by_list(e, spec, type, "edges must be strictly increasing", why);
}

static int init_log(struct edges *e, const struct axis_spec *spec, const struct sample_type *type,
		    const char **why)
{
	if (!(spec->lo.value > 0 && spec->lo.value < spec->hi.value)) {
		*why = "LO must be above 0 and below HI";
		return -1;
	}
	assert(spec->bins <= BINS_LOG_MAX);
	*why = edges_no_memory;
	if (make_list(e) != 0)
		return -1;
	powers_edges(e->list, spec->lo.value, spec->hi.value, spec->bins);
	return count_by_list(e, spec, type, TOO_NARROW, why);
}

/* The edges of residues are the residues themselves, for output. */
static int init_mod(struct edges *e, const struct axis_spec *spec, const struct sample_type *type,
		    const char **why)
{
	struct binning *b = &e->binning;
	const uint64_t bias = (uint64_t)-sample_min(type);

	if (type->kind == SAMPLE_FLOAT) {
		*why = "--mod works only with integer types";
		return -1;
	}
	e->form = EDGES_RATIONAL;
	e->rational.width = spec->bins;
	b->kind = BIN_MOD;
	b->is_signed = type->kind == SAMPLE_SIGNED;
	b->bias = bias;
	b->span = UINT64_MAX;
	b->mod.multiplier = (type->code_bytes == 8 ? UINT64_MAX : UINT32_MAX) / b->bins;
	b->mod.add = (b->bins - bias % b->bins) % b->bins;
	return 0;
}

void edges_place(struct edges *e, const struct auto_span *span)
{
	const int128_t bins = auto_span_bins(span);

	e->binning.bins = (uint32_t)bins;
	e->span = *span;
	if (e->form != EDGES_RATIONAL)
		return;
	e->rational.lo =
		sample_min(&e->auto_bins.type) + span->above.first * ((int128_t)1 << span->k);
	e->rational.width = bins << span->k;
}

static int init_auto(struct edges *e, const struct axis_spec *spec, const struct sample_type *type,
		     const char **why)
{
	const bool log = spec->kind == AXIS_RANKS;

	e->auto_bins = (struct auto_bins){.type = *type, .most = spec->bins, .log = log};
	if (spec->bins < auto_bins_least(&e->auto_bins)) {
		*why = !log ? "--auto needs at least 2 bins, because no bin holds both negative "
			      "and "
			      "nonnegative values"
		       : type->kind == SAMPLE_UNSIGNED
			       ? "--log=auto needs at least 2 bins, one of them for zeros"
			       : "--log=auto needs at least 3 bins, for zeros and each sign";
		return -1;
	}
	e->form = log ? EDGES_RANKS : type->kind == SAMPLE_FLOAT ? EDGES_DYADIC : EDGES_RATIONAL;
	edges_place_for(e, &EXTENT_NONE);
	auto_rule(&e->binning, &e->auto_bins, e->span.k);
	return 0;
}

void edges_place_for(struct edges *e, const struct extent *extent)
{
	const struct auto_span span =
		auto_span_of(&e->auto_bins, extent, auto_k(&e->auto_bins, extent));

	edges_place(e, &span);
}

static int init_range(struct edges *e, const struct axis_spec *spec, const struct sample_type *type,
		      const char **why)
{
	const bool is_float = type->kind == SAMPLE_FLOAT;
	const bool whole = !is_float && spec->lo.whole && spec->hi.whole;

	if (spec->full && is_float) {
		/* HI is the largest finite value, which must be in the last bin. */
		e->closed = true;
		set_linspace(e, -sample_max_finite(type), sample_max_finite(type));
		return 0;
	}
	if (spec->full || spec->kind == AXIS_VALUES) {
		rational_set(e, type, spec->full ? sample_min(type) : 0,
			     spec->full ? sample_max(type) + 1 : spec->bins);
		return 0;
	}
	if (whole && (!spec->lo.exact || !spec->hi.exact)) {
		*why = "for an integer type, whole LO and HI must be below 2^96";
		return -1;
	}
	if (whole ? spec->lo.integer >= spec->hi.integer : spec->lo.value >= spec->hi.value) {
		*why = "LO must be below HI";
		return -1;
	}
	if (whole) {
		rational_set(e, type, spec->lo.integer, spec->hi.integer);
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
	/* bin = value is the range 0:N. */
	[AXIS_VALUES] = {"range", true, false, SPACING_EVEN, BINS_MAX, init_range},
	[AXIS_RANGE] = {"range", true, false, SPACING_EVEN, BINS_MAX, init_range},
	[AXIS_LOG] = {"log", true, false, SPACING_RATIO, BINS_LOG_MAX, init_log},
	[AXIS_EDGES] = {"edges", true, false, SPACING_FREE, BINS_MAX, init_list},
	[AXIS_MOD] = {"mod", false, false, SPACING_EVEN, BINS_MAX, init_mod},
	[AXIS_AUTO] = {"auto", true, true, SPACING_EVEN, BINS_MAX, init_auto},
	[AXIS_RANKS] = {"log=auto", true, true, SPACING_RANKS, BINS_MAX, init_auto},
};

int edges_init(struct edges *e, const struct axis_spec *spec, const struct sample_type *type,
	       const char **why)
{
	const struct axis_kind_row *const kind = &AXIS_KINDS[spec->kind];

	*e = (struct edges){.closed = spec->closed,
			    .integers = type->kind != SAMPLE_FLOAT,
			    .binning.bins = spec->bins};
	if (spec->closed && (!kind->ordered || kind->from_samples)) {
		*why = "--closed works only with bins whose last edge is given, as by --range";
		return -1;
	}
	return kind->init(e, spec, type, why);
}

int edges_copy(struct edges *copy, const struct edges *e)
{
	*copy = *e;
	copy->table = NULL;
	if (e->form != EDGES_LISTED)
		return 0;
	if (make_list(copy) != 0)
		return -1;
	memcpy(copy->list, e->list, ((size_t)e->binning.bins + 1) * sizeof(*e->list));
	return 0;
}

void edges_free(struct edges *e)
{
	if (e->form == EDGES_LISTED) {
		free(e->list);
		e->list = NULL;
	}
	free(e->table);
	e->table = NULL;
}

double edges_value(const struct edges *e, uint32_t i)
{
	const uint32_t bins = e->binning.bins;

	if (bins == 0)
		return (double)NAN;
	switch (e->form) {
	case EDGES_RATIONAL:
		return exact_ratio(
			e->rational.lo * (int128_t)bins + (int128_t)i * e->rational.width, bins);
	case EDGES_DYADIC:
		return ldexp((double)(e->span.above.first + (int128_t)i), e->span.k);
	case EDGES_RANKS:
		return auto_edge(&e->auto_bins, &e->span, i);
	case EDGES_LISTED:
		return e->list[i];
	default:
		return binning_edge_careful(&e->binning, i);
	}
}

size_t edges_format(const struct edges *e, uint32_t i, char text[NUMBER_TEXT])
{
	const uint32_t bins = e->binning.bins;

	if (e->form == EDGES_RATIONAL && bins > 0) {
		const int128_t moved = (int128_t)i * e->rational.width;
		if (moved % bins == 0)
			return number_format_integer(text, e->rational.lo + moved / bins);
	}
	const double x = edges_value(e, i);
	if (e->form != EDGES_RATIONAL && e->integers && x == floor(x))
		return number_format_whole(text, x);
	return number_format(text, x);
}

uint32_t edges_cell_of_code(const struct edges *e, const struct sample_type *type, uint32_t code)
{
	const struct binning *b = &e->binning;

	if (type->kind == SAMPLE_FLOAT) {
		const double x = sample_value(type, code);
		const float same = (float)x;
		uint32_t bin;
		/* Finite samples have the ranks of their type, not of binary32. */
		return b->kind == BIN_TABLE
			       ? bin_table32(b, key32_of_float(bits_of_float(same)), same)
		       : b->kind != BIN_RANK
			       ? bin_float(b, b->kind, x)
			       : bin_rank_single(b,
						 isfinite(x) ? code << (32 - type->bits)
							     : bits_of_float(same),
						 &bin);
	}
	return bin_key32(b, b->kind, code ^ (uint32_t)b->bias);
}
