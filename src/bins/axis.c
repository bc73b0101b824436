/* SPDX-License-Identifier: MIT */
/* axis: from what was asked for to what is counted by; which axes are the same. */
#include "bins/axis.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct edges_spec axis_settle(const struct edges_spec *spec, const struct sample_type *type)
{
	struct edges_spec settled = *spec;
	const bool is_float = type->kind == SAMPLE_FLOAT, packed = type->bits < 8;

	if (spec->kind == AXIS_DEFAULT) {
		settled.kind =
			is_float || (spec->bins == 0 && type->bytes > 1) ? AXIS_AUTO : AXIS_VALUES;
		if (spec->bins == 0 && type->bytes == 1 && !is_float &&
		    (packed || type->kind == SAMPLE_SIGNED)) {
			settled.kind = AXIS_RANGE;
			settled.full = true;
		}
	}
	/* There are no more values than that. */
	if (settled.bins == 0)
		settled.bins = packed && settled.full ? 1u << type->bits : BINS_DEFAULT;
	return settled;
}

int axis_init(struct axis *axis, const struct axis_spec *spec, const struct sample_type *type,
	      const char **why)
{
	const struct edges_spec settled = axis_settle(&spec->edges, type);

	if (spec->clamp && !AXIS_KINDS[settled.kind].ordered) {
		*why = "--clamp has nothing to clamp with --mod";
		return -1;
	}
	*axis = (struct axis){
		.kind = settled.kind,
		.type = *type,
		.clamp = spec->clamp,
	};
	return edges_init(&axis->edges, &settled, type, why);
}

int axis_join(struct axis *axis, uint32_t bins)
{
	const struct edges *const e = &axis->edges;
	const uint32_t had = axis_bins(axis), each = had / bins;
	double *const list = malloc(((size_t)bins + 1) * sizeof(*list));
	struct axis_spec spec = {
		.edges = {.bins = bins,
			  .kind = axis->kind,
			  .closed = e->closed,
			  .lo = {edges_value(e, 0), e->exact, e->exact, .integer = e->lo},
			  .hi = {edges_value(e, had), e->exact, e->exact,
				 .integer = e->lo + e->width},
			  .list = list,
			  .definition = true},
		.clamp = axis->clamp};
	struct axis joined;
	const char *why;

	if (!list)
		return -1;
	for (uint32_t i = 0; i <= bins; i++)
		list[i] = edges_value(e, i * each);
	int rc = axis_init(&joined, &spec, &axis->type, &why);
	for (uint32_t i = 0; i <= bins && rc == 0 && AXIS_KINDS[axis->kind].ordered; i++)
		if (edges_value(&joined.edges, i) != list[i]) {
			edges_free(&joined.edges);
			rc = -1;
		}
	spec.edges.kind = AXIS_EDGES;
	if (rc != 0)
		rc = axis_init(&joined, &spec, &axis->type, &why);
	free(list);
	if (rc != 0)
		return -1;
	edges_free(&axis->edges);
	*axis = joined;
	return 0;
}

/* Both have the same number of bins. Rational edges may differ by less than binary64 can tell. */
static bool same_edges(const struct edges *a, const struct edges *b)
{
	if (a->exact && b->exact)
		return a->lo == b->lo && a->width == b->width;
	if (a->exact || b->exact)
		return false;
	/*
	 * What binning_edge_careful computes edges from: where these agree, up to 2^24 edges need
	 * not be compared one by one.
	 */
	const bool equal_width = !a->list && !b->list && !a->dyadic && !b->dyadic;
	if (equal_width && a->binning.linear.lo == b->binning.linear.lo &&
	    a->binning.linear.hi == b->binning.linear.hi &&
	    a->binning.linear.step == b->binning.linear.step &&
	    a->binning.linear.unit == b->binning.linear.unit)
		return true;
	for (uint32_t i = 0; i <= a->binning.bins; i++)
		if (edges_value(a, i) != edges_value(b, i))
			return false;
	return true;
}

const char *axis_difference(const struct axis *a, const struct axis *b)
{
	if (strcmp(a->type.name, b->type.name) != 0)
		return "type";
	const struct axis_kind_row *const kind = &AXIS_KINDS[a->kind], *const other =
									       &AXIS_KINDS[b->kind];
	if (kind->ordered != other->ordered || kind->from_samples != other->from_samples)
		return "binning";
	/*
	 * Bins of --auto can become those of all samples together, which depend on how many bins
	 * were asked for.
	 */
	if (kind->from_samples)
		return a->edges.most != b->edges.most ? "number of bins"
		       : a->clamp != b->clamp         ? "--clamp"
						      : NULL;
	if (axis_bins(a) != axis_bins(b))
		return "number of bins";
	if (!same_edges(&a->edges, &b->edges))
		return "range";
	if (a->edges.closed != b->edges.closed)
		return "--closed";
	if (a->clamp != b->clamp)
		return "--clamp";
	return NULL;
}
