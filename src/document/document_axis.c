/* SPDX-License-Identifier: MIT */
/* document_axis: rebuilds the axis from type, binning and range, and compares it with the edges. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "document/members.h"

/* Parse LO:HI; false: the text is not a range. */
static bool parse_range(struct axis_spec *spec, const char *range)
{
	const char *const colon = strchr(range, ':');

	return colon && number_parse(&spec->lo, range, (size_t)(colon - range)) == 0 &&
	       number_parse(&spec->hi, colon + 1, strlen(colon + 1)) == 0;
}

/* Find a kind of bins by name, or AXIS_DEFAULT. AXIS_VALUES has the same name as AXIS_RANGE. */
static enum axis_kind kind_of(const char *binning)
{
	enum axis_kind kind = AXIS_RANGE;

	while (kind < AXIS_DEFAULT && strcmp(binning, AXIS_KINDS[kind].name) != 0)
		kind++;
	return kind;
}

/* Parse the bin of zero. "none": all bins are above zero, or all below. False: it is malformed. */
static bool parse_zero(struct axis_spec *zero, const struct axis_spec *range, const char *text)
{
	zero->lo = zero->hi = range->hi.value > 0 ? range->lo : range->hi;
	if (strcmp(text, "none") == 0)
		return range->lo.value > 0 || range->hi.value <= 0;
	return parse_range(zero, text) && range->lo.value <= zero->lo.value &&
	       zero->lo.value <= 0 && 0 < zero->hi.value && zero->hi.value <= range->hi.value;
}

/* The key of an edge, or of the greatest number below it. It may lie beyond the greatest number. */
static uint64_t key_at(const struct sample_type *type, const struct number *edge, bool before)
{
	if (type->kind != SAMPLE_FLOAT)
		return (uint64_t)(edge->integer - sample_min(type)) - before;
	const double most = sample_max_finite(type), x = fmax(edge->value, -most);
	if (before && x > most)
		return sample_key(type, most);
	/* The greatest number below 0 is the one before -0. */
	return sample_key(type, before && x == 0 ? -0.0 : x) - before;
}

/*
 * Find the extent of all samples that fit a range and, with --log=auto, lie outside the bin of
 * zero; false: the type has no such range.
 */
static bool range_extent(struct extent *extent, const struct axis *axis,
			 const struct axis_spec *range, const struct axis_spec *zero)
{
	const struct sample_type *const type = &axis->type;
	const bool real = type->kind == SAMPLE_FLOAT;
	const double most = real ? sample_max_finite(type) : 0;

	if (real ? range->lo.value > most || range->hi.value <= -most
		 : !range->lo.exact || !range->hi.exact || range->lo.integer < sample_min(type) ||
			    range->lo.integer >= range->hi.integer ||
			    range->hi.integer > sample_max(type) + 1)
		return false;
	*extent = (struct extent){.least = key_at(type, &range->lo, false),
				  .greatest = key_at(type, &range->hi, true),
				  .below = 0,
				  .above = UINT64_MAX};
	if (axis->kind == AXIS_RANKS && !real && (!zero->lo.exact || !zero->hi.exact))
		return false;
	if (axis->kind == AXIS_RANKS && range->lo.value < zero->lo.value)
		extent->below = key_at(type, &zero->lo, true);
	if (axis->kind == AXIS_RANKS && zero->hi.value < range->hi.value)
		extent->above = key_at(type, &zero->hi, false);
	else if (axis->kind == AXIS_RANKS && range->hi.value > 0)
		extent->greatest = key_at(type, &(struct number){.value = 0}, false);
	return true;
}

/* Is edge i this number? Infinity is written as a finite number (write_json.c). */
static bool is_edge(const struct axis *axis, uint32_t i, double listed)
{
	const double x = edges_value(&axis->edges, i);

	return listed == (isinf(x) ? copysign(DBL_MAX, x) : x);
}

/* Place the bins for all samples that fit a range. False: that does not give `bins` bins. */
static bool place_for(struct axis *axis, const struct axis_spec *range, const char *zero,
		      uint32_t bins)
{
	struct extent extent = EXTENT_NONE;
	struct axis_spec of_zero = {.bins = 0};

	if (bins > 0 && axis->kind == AXIS_RANKS && !parse_zero(&of_zero, range, zero))
		return false;
	if (bins > 0 && !range_extent(&extent, axis, range, &of_zero))
		return false;
	if (axis->kind == AXIS_RANKS && !auto_is_extent(&axis->edges.auto_bins, &extent))
		return false;
	edges_place_for(&axis->edges, &extent);
	return axis_bins(axis) == bins;
}

/*
 * Set the bins of --auto or --log=auto to the bins for all samples that fit the range. The actual
 * samples gave the same bins: at a smaller k both would span too many. But k also depends on the
 * largest magnitude, and an integer above -2^j may have a bin that begins there. For f64, an end of
 * 2^1024 is written as the greatest number (write_json.c), so that number may be a sample.
 */
static bool place_bins(struct axis *axis, const struct axis_spec *range, const char *zero,
		       uint32_t bins)
{
	struct axis_spec other = *range;

	/* Floats that were all whole numbers have bins at least 1 wide: try both ways. */
	const int most = axis->type.kind == SAMPLE_FLOAT ? 1 : 0;
	for (int whole = 0; whole <= most; whole++) {
		axis->edges.auto_bins.whole = whole > 0;
		if (place_for(axis, range, zero, bins) &&
		    (bins == 0 ||
		     (is_edge(axis, 0, range->lo.value) && is_edge(axis, bins, range->hi.value))))
			return true;
	}
	if (axis->kind == AXIS_AUTO && axis->type.kind == SAMPLE_SIGNED)
		other.lo.integer++;
	else if (axis->type.kind == SAMPLE_FLOAT && range->hi.value == DBL_MAX)
		other.hi.value = INFINITY;
	else
		return false;
	return place_for(axis, &other, zero, bins);
}

/*
 * The range has the text of the first and last edge, exact for integers; with the number of bins,
 * that is enough for --range, --log and --mod. --edges uses the listed edges.
 */
const char *document_axis(struct axis *axis, const struct documents *d, uint64_t bins,
			  struct fail *fail)
{
	struct axis_spec spec = {.kind = kind_of(members_text(d, BINNING)),
				 .bins = (uint32_t)bins,
				 .closed = members_flag(d, CLOSED, fail),
				 .list = d->list[EDGES].at,
				 .definition = true,
				 .clamp = members_flag(d, CLAMP, fail)};
	struct sample_type type;
	struct axis made;
	const char *why;

	if (spec.kind < AXIS_DEFAULT && AXIS_KINDS[spec.kind].from_samples)
		spec.bins = (uint32_t)members_count(d, MOST, BINS_MAX, fail);
	if (sample_type_parse(&type, members_text(d, TYPE)) != 0)
		return "its type is unknown";
	if (spec.kind == AXIS_DEFAULT)
		return "its binning is unknown";
	if (spec.kind == AXIS_RANKS && d->value[ZERO] == 0)
		return "gpuhist 0.3 wrote it, and its --log=auto had other bins; count the samples "
		       "again";
	if (bins > 0 && !parse_range(&spec, members_text(d, RANGE)))
		return "its range is not LO:HI";
	if (spec.bins < 1 || bins > AXIS_KINDS[spec.kind].most ||
	    (spec.kind == AXIS_EDGES && !spec.list))
		return "its number of bins does not fit its binning";
	if (axis_init(&made, &spec, &type, &why) != 0)
		return why;
	const struct sample_type before = sample_type_signed(&type);
	if (d->value[MISSING] > 0 &&
	    missing_parse(&made.missing, &before, members_text(d, MISSING), false, &why) != NULL) {
		edges_free(&made.edges);
		return "its missing values are none";
	}
	*axis = made;
	spec.definition = false;
	spec.list = spec.kind == AXIS_EDGES ? axis->edges.list : NULL;
	d->document->bins = spec;
	return !axis_kind_of(axis)->from_samples ||
			       place_bins(axis, &spec, members_text(d, ZERO), (uint32_t)bins)
		       ? NULL
	       : spec.kind == AXIS_AUTO ? "--auto does not make such bins"
					: "--log=auto does not make such bins";
}

int document_edges(const struct documents *d, const struct axis *axis, struct fail *fail)
{
	const struct list *const list = &d->list[EDGES];
	const double *const listed = list->at;
	const uint32_t bins = axis_bins(axis);
	struct number n;
	bool equal = !listed || list->n == (size_t)bins + 1;

	for (uint32_t i = 0; listed && i <= bins && equal; i++)
		equal = is_edge(axis, i, listed[i]);
	for (enum document_member m = LOWER; !listed && bins > 0 && m <= UPPER && equal; m++)
		equal = number_parse(&n, members_text(d, m), strlen(members_text(d, m))) == 0 &&
			is_edge(axis, m == LOWER ? 0 : bins, n.value);
	return equal ? 0
		     : members_refuse(d, fail,
				      "its edges do not follow from its type, binning and range");
}
