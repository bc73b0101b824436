/* SPDX-License-Identifier: MIT */
/* axis: from a request to bins; comparing axes. */
#include "bins/axis.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bin for each whole number in the range, but BINS_DEFAULT bins if there would be more. */
static uint32_t bins_of_values(const struct axis_spec *spec, const struct sample_type *type)
{
	const struct number *const lo = &spec->lo, *const hi = &spec->hi;
	int128_t values = 0;

	if (type->kind == SAMPLE_FLOAT || spec->kind != AXIS_RANGE)
		return BINS_DEFAULT;
	if (spec->full)
		values = sample_max(type) - sample_min(type) + 1;
	else if (lo->exact && hi->exact)
		values = hi->integer - lo->integer;
	return values > 0 && values <= BINS_DEFAULT ? (uint32_t)values : BINS_DEFAULT;
}

struct axis_spec axis_complete(const struct axis_spec *spec, const struct sample_type *type)
{
	struct axis_spec complete = *spec;
	const bool is_float = type->kind == SAMPLE_FLOAT;

	if (spec->kind == AXIS_DEFAULT) {
		complete.kind =
			is_float || (spec->bins == 0 && type->bits > 8) ? AXIS_AUTO : AXIS_VALUES;
		if (spec->bins == 0 && type->bits <= 8 && !is_float &&
		    (type->bits < 8 || type->kind == SAMPLE_SIGNED)) {
			complete.kind = AXIS_RANGE;
			complete.full = true;
		}
	}
	if (complete.bins == 0)
		complete.bins = bins_of_values(&complete, type);
	return complete;
}

int axis_init(struct axis *axis, const struct axis_spec *spec, const struct sample_type *type,
	      const char **why)
{
	const struct axis_spec complete = axis_complete(spec, type);

	if (spec->clamp &&
	    (!AXIS_KINDS[complete.kind].ordered || AXIS_KINDS[complete.kind].from_samples)) {
		*why = AXIS_KINDS[complete.kind].from_samples
			       ? "--clamp has nothing to clamp if the samples decide the range; "
				 "give one "
				 "with -r, --log=LO:HI or --edges"
			       : "--clamp has nothing to clamp with --mod";
		return -1;
	}
	*axis = (struct axis){
		.kind = complete.kind,
		.type = *type,
		.clamp = spec->clamp,
	};
	return edges_init(&axis->edges, &complete, type, why);
}

bool axis_is_blind(const struct axis *axis)
{
	const struct sample_type *const type = &axis->type;
	const bool real = type->kind == SAMPLE_FLOAT, closed = axis->edges.closed;

	if (axis_divides(axis))
		return false;
	if (axis->clamp || !axis_kind_of(axis)->ordered)
		return true;
	const double least = real ? -sample_max_finite(type) : (double)sample_min(type),
		     most = real ? sample_max_finite(type) : (double)(sample_max(type) + !closed),
		     end = edges_value(&axis->edges, 1);
	return edges_value(&axis->edges, 0) <= least &&
	       (real && !closed ? end > most : end >= most);
}

int axis_join(struct axis *axis, uint32_t bins)
{
	const struct edges *const e = &axis->edges;
	const uint32_t had = axis_bins(axis), each = had / bins;
	double *const list = malloc(((size_t)bins + 1) * sizeof(*list));
	const bool exact = e->form == EDGES_RATIONAL;
	const int128_t lo = exact ? e->rational.lo : 0, width = exact ? e->rational.width : 0;
	struct axis_spec spec = {.bins = bins,
				 .kind = axis->kind,
				 .closed = e->closed,
				 .lo = {edges_value(e, 0), exact, exact, .integer = lo},
				 .hi = {edges_value(e, had), exact, exact, .integer = lo + width},
				 .list = list,
				 .definition = true,
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
	spec.kind = AXIS_EDGES;
	if (rc != 0)
		rc = axis_init(&joined, &spec, &axis->type, &why);
	free(list);
	if (rc != 0)
		return -1;
	edges_free(&axis->edges);
	joined.missing = axis->missing;
	*axis = joined;
	return 0;
}

/*
 * Compare the edges of the same number of bins. Rational edges are compared exactly, because
 * different ones may be equal as binary64.
 */
static bool same_edges(const struct edges *a, const struct edges *b)
{
	if (a->form == EDGES_RATIONAL && b->form == EDGES_RATIONAL)
		return a->rational.lo == b->rational.lo && a->rational.width == b->rational.width;
	if (a->form == EDGES_RATIONAL || b->form == EDGES_RATIONAL)
		return false;
	/* LO, HI and N determine all linspace edges. Otherwise, up to 2^28 edges are compared. */
	const bool linear = a->form == EDGES_LINEAR && b->form == EDGES_LINEAR;
	for (uint32_t i = 0; i <= a->binning.bins; i += linear ? a->binning.bins : 1)
		if (edges_value(a, i) != edges_value(b, i))
			return false;
	return true;
}

enum { ENDS = 2 * NUMBER_TEXT + 1 };

/* The first and the last edge as text, with a colon between them. */
static void ends_text(char text[ENDS], const struct axis *axis)
{
	size_t used = edges_format(&axis->edges, 0, text);

	text[used++] = ':';
	edges_format(&axis->edges, axis_bins(axis), text + used);
}

static void edges_why(char why[AXIS_WHY], const struct axis *axis, const struct axis *more)
{
	char ends[ENDS], other[ENDS];

	ends_text(ends, axis);
	ends_text(other, more);
	if (strcmp(ends, other) != 0)
		snprintf(why, AXIS_WHY, "its range is %s, not %s", other, ends);
	else
		snprintf(why, AXIS_WHY, "its edges between %s differ", ends);
}

bool axis_fits(char why[AXIS_WHY], const struct axis *axis, const struct axis *more)
{
	const struct axis_kind_row *const kind = axis_kind_of(axis);
	const bool ordered = axis_kind_of(more)->ordered,
		   is_auto = axis_kind_of(more)->from_samples;
	/* The bins of --auto depend on the limit only, and can become the bins of all samples. */
	const uint32_t bins = is_auto ? axis->edges.auto_bins.most : axis_bins(axis),
		       more_bins = is_auto ? more->edges.auto_bins.most : axis_bins(more);

	if (strcmp(axis->type.name, more->type.name) != 0)
		snprintf(why, AXIS_WHY, "its samples are %s, not %s", more->type.name,
			 axis->type.name);
	else if (!missing_equal(&axis->missing, &more->missing))
		snprintf(why, AXIS_WHY, "they differ in --missing");
	else if (kind->from_samples != is_auto || (is_auto && axis->kind != more->kind))
		snprintf(why, AXIS_WHY, "its bins %s from --%s", is_auto ? "come" : "do not come",
			 AXIS_KINDS[is_auto ? more->kind : axis->kind].name);
	else if (bins != more_bins)
		snprintf(why, AXIS_WHY, "it %s%s%s %lu bin%s, not %lu", is_auto ? "used --" : "has",
			 is_auto ? kind->name : "", is_auto ? " with at most" : "",
			 (unsigned long)more_bins, more_bins == 1 ? "" : "s", (unsigned long)bins);
	else if (kind->ordered != ordered)
		snprintf(why, AXIS_WHY, "only one of them used --mod");
	else if (!is_auto && !same_edges(&axis->edges, &more->edges))
		edges_why(why, axis, more);
	else if (axis->edges.closed != more->edges.closed)
		snprintf(why, AXIS_WHY, "only one of them used --closed");
	else if (axis->clamp != more->clamp)
		snprintf(why, AXIS_WHY, "only one of them used --clamp");
	else
		return true;
	return false;
}
