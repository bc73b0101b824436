/* SPDX-License-Identifier: MIT */
/*
 * described_axis: from the metadata's type, binning and range to the axis by which the samples were
 * counted.
 *
 * The range is the text of the first and the last edge, exact for integers. With the number of bins
 * that is all that --range, --log and --mod need; --edges takes the listed edges. For --auto, the
 * width of the bins is the range divided by their number, and must be a power of two. In the end
 * the axis must have exactly the range and edges that the document lists, so nothing that the text
 * says can be overlooked.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/described.h"
#include "output/format.h"

/* LO:HI; -1: the text is not a range. */
static int parse_range(struct edges_spec *spec, const char *range)
{
	const char *const colon = strchr(range, ':');

	if (!colon || number_parse(&spec->lo, range, (size_t)(colon - range)) != 0 ||
	    number_parse(&spec->hi, colon + 1, strlen(colon + 1)) != 0)
		return -1;
	return 0;
}

/* The kind that the metadata names; AXIS_DEFAULT: none. For bin = value it is a range. */
static enum axis_kind kind_of(const struct described *d)
{
	static const enum axis_kind KINDS[] = {AXIS_RANGE, AXIS_LOG, AXIS_EDGES, AXIS_MOD,
					       AXIS_AUTO};

	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
		if (strcmp(d->binning, axis_kind_name(KINDS[i])) == 0)
			return KINDS[i];
	return AXIS_DEFAULT;
}

/* Integers: bins of 2^k from LO to HI, inside the type. */
static bool place_integers(struct edges *e, const struct sample_type *type,
			   const struct edges_spec *range, uint32_t bins)
{
	const int128_t lo = range->lo.integer, hi = range->hi.integer, min = sample_min(type);
	int k = 0;

	if (!range->lo.exact || !range->hi.exact || lo < min || hi > sample_max(type) + 1)
		return false;
	while (k < 64 && (int128_t)bins << k < hi - lo)
		k++;
	if ((int128_t)bins << k != hi - lo || ((lo - min) & (((int128_t)1 << k) - 1)) != 0)
		return false;
	edges_place(e, type, (lo - min) >> k, bins, k);
	return true;
}

/* Floats: the same from lo to hi, each multiplied by 2^-up. */
static bool place_between(struct edges *e, const struct sample_type *type, double lo, double hi,
			  int up, uint32_t bins)
{
	const double width = (hi - lo) / bins, most = ldexp(1, (int)type->mantissa + 1);
	int exponent;

	if (!(width > 0) || frexp(width, &exponent) != 0.5)
		return false;
	const double first = lo / width;
	const int k = exponent - 1 + up;
	/* A sample whose unit is at most 2^k is never further from 0 than that many bins. */
	if (first != floor(first) || fabs(first) > most || fabs(first + bins) > most ||
	    k < auto_k_least(type))
		return false;
	edges_place(e, type, (int128_t)first, bins, k);
	return true;
}

/*
 * For f64, an end of 2^1024 is written as the largest number (write_json.c), so both are tried. At
 * most one can be right: with the largest number as an end, bins are 2^971 wide, because it is odd
 * in these units; with 2^1024 the number of bins must be 1 and k must be 972, but samples that span
 * two bins of 2^971 keep these two.
 */
static bool place_floats(struct edges *e, const struct sample_type *type, double lo, double hi,
			 uint32_t bins)
{
	/*
	 * Large numbers are divided by four, so that no difference is infinite. The digits that
	 * small numbers lose have no place in such bins.
	 */
	const int up = fmax(fabs(lo), fabs(hi)) > 1 ? 2 : 0;
	const double scale = up > 0 ? 0.25 : 1;
	const double end = 0x1p1022;

	return place_between(e, type, lo * scale, hi * scale, up, bins) ||
	       (hi == DBL_MAX && place_between(e, type, lo * scale, end, up, bins)) ||
	       (lo == -DBL_MAX && place_between(e, type, -end, hi * scale, up, bins)) ||
	       (lo == -DBL_MAX && hi == DBL_MAX && place_between(e, type, -end, end, up, bins));
}

static bool place(struct axis *axis, const struct described *d, const struct edges_spec *range)
{
	const uint32_t bins = (uint32_t)described_bins(d);
	const struct sample_type *const type = &axis->type;

	if (bins > axis->edges.most)
		return false;
	if (bins == 0) {
		edges_place(&axis->edges, type, 0, 0, auto_k_least(type));
		return true;
	}
	if (type->kind != SAMPLE_FLOAT)
		return place_integers(&axis->edges, type, range, bins);
	return place_floats(&axis->edges, type, range->lo.value, range->hi.value, bins);
}

static double edge_value(const struct axis *axis, uint32_t i)
{
	const double x = axis->kind == AXIS_MOD ? (double)i : edges_value(&axis->edges, i);

	return isinf(x) ? copysign(DBL_MAX, x) : x;
}

/* The ends of integers were written with exponents once: 1.8446744073709552e+19 is 2^64 as well. */
static bool same_ends(const struct axis *axis, const char *range)
{
	struct edges_spec ends;

	return axis->edges.integers && !axis->edges.exact && parse_range(&ends, range) == 0 &&
	       ends.lo.value == edge_value(axis, 0) &&
	       ends.hi.value == edge_value(axis, axis_bins(axis));
}

/* Is the axis the one that is listed? */
static bool same(const struct axis *axis, const struct described *d)
{
	const uint32_t bins = axis_bins(axis);
	char range[META_TEXT] = "";

	if (bins > 0) {
		size_t used = write_json_edge(axis, 0, range);
		range[used++] = ':';
		write_json_edge(axis, bins, range + used);
	}
	if ((strcmp(range, d->range) != 0 && !same_ends(axis, d->range)) ||
	    axis->edges.closed != d->closed)
		return false;
	if (bins == 0)
		return d->regular && d->lower == 0 && d->upper == 0;
	if (d->regular)
		return axis->kind != AXIS_LOG && axis->kind != AXIS_EDGES &&
		       d->lower == edge_value(axis, 0) && d->upper == edge_value(axis, bins);
	for (uint32_t i = 0; i <= bins; i++)
		if (d->edges[i] != edge_value(axis, i))
			return false;
	return true;
}

/* -1: *why says what is wrong with the metadata, or is edges_no_memory. */
static int make(struct axis *axis, const struct described *d, const char **why)
{
	struct axis_spec spec = {
		.edges = {.kind = kind_of(d), .closed = d->closed, .definition = true},
		.clamp = d->clamp};
	struct edges_spec *const edges = &spec.edges;
	const uint64_t bins = described_bins(d);
	struct sample_type type;

	*why = "a type that is not known";
	if (sample_type_parse(&type, d->type) != 0 || strcmp(type.name, d->type) != 0)
		return -1;
	*why = "a binning that is not known";
	if (edges->kind == AXIS_DEFAULT)
		return -1;
	*why = "a range that is not LO:HI";
	if (bins > 0 && parse_range(edges, d->range) != 0)
		return -1;
	*why = "a number of bins that such an axis does not have";
	if (edges->kind == AXIS_AUTO ? !d->given[META_MOST] || d->most < 1 || d->most > BINS_MAX
				     : bins < 1)
		return -1;
	if ((edges->kind == AXIS_LOG && bins > BINS_LOG_MAX) ||
	    (edges->kind == AXIS_EDGES && !d->variable))
		return -1;
	edges->bins = (uint32_t)(edges->kind == AXIS_AUTO ? d->most : bins);
	edges->list = d->edges;
	if (axis_init(axis, &spec, &type, why) != 0)
		return -1;
	*why = "bins that are not 2^k wide, at multiples of 2^k";
	if (edges->kind != AXIS_AUTO || place(axis, d, edges))
		return 0;
	edges_free(&axis->edges);
	return -1;
}

/*
 * Describes another program's axis in terms of our metadata. If it is regular its edges are those
 * that its readers compute (write_json.c); where they differ from those of --range, they become
 * explicit edges.
 */
static int describe(struct described *d, const char **why)
{
	const uint64_t bins = described_bins(d);
	struct axis axis;
	size_t used;

	strcpy(d->type, "f64");
	strcpy(d->binning, axis_kind_name(d->regular ? AXIS_RANGE : AXIS_EDGES));
	used = number_format(d->range, d->regular ? d->lower : d->edges[0]);
	d->range[used++] = ':';
	number_format(d->range + used, d->regular ? d->upper : d->edges[bins]);
	if (!d->regular)
		return 0;
	if (make(&axis, d, why) != 0)
		return -1;
	const bool regular =
		(d->integer && d->upper - d->lower == (double)bins) || write_json_is_regular(&axis);
	edges_free(&axis.edges);
	if (regular)
		return 0;
	free(d->edges);
	d->edges = malloc(((size_t)bins + 1) * sizeof(*d->edges));
	*why = edges_no_memory;
	if (!d->edges)
		return -1;
	const double lo = d->lower, top = lo + (d->upper - lo);
	for (uint64_t i = 0; i <= bins; i++) {
		const double z = (double)i / (double)bins;
		d->edges[i] = (1 - z) * lo + z * top;
	}
	d->edge_count = bins + 1;
	d->regular = false;
	d->variable = true;
	return describe(d, why);
}

int described_axis(struct axis *axis, struct described *d, const struct json_reader *r,
		   struct fail *fail)
{
	const char *why;

	if (d->foreign && describe(d, &why) != 0)
		return why == edges_no_memory
			       ? fail_set(fail, STATUS_SYSTEM, "%s: %s", r->name, why)
			       : json_bad(r, d->axes_at, fail, "%s", why);
	if (make(axis, d, &why) != 0)
		return why == edges_no_memory
			       ? fail_set(fail, STATUS_SYSTEM, "%s: %s", r->name, why)
			       : json_bad(r, d->foreign ? d->axes_at : d->metadata_at, fail, "%s",
					  why);
	if (same(axis, d))
		return 0;
	edges_free(&axis->edges);
	return json_bad(r, d->axes_at, fail,
			"the axis is not that of the metadata's binning and range");
}
