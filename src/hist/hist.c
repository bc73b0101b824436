/* SPDX-License-Identifier: MIT */
/* hist: from cells to bins and figures; adding histograms. */
#include "hist/hist.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKED_BITS_MAX 4 /* bits of a sample that shares a byte, at most */

int hist_reserve(struct hist *h, const struct axis *axis, uint32_t channels, struct fail *fail)
{
	*h = (struct hist){.axis = *axis,
			   .channels = channels,
			   .stride = (size_t)axis_bins(axis) + CELL_EXTRA};
	if (edges_copy(&h->axis.edges, &axis->edges) != 0)
		return fail_errno(fail, "edges of %lu bins", (unsigned long)axis_bins(axis));
	if (axis->type.code_bytes > 2) /* hist_fill will use the cells of the totals */
		return 0;
	h->count = calloc(channels * h->stride, sizeof(*h->count));
	return h->count ? 0
			: fail_errno(fail, "counts of %lu bins", (unsigned long)axis_bins(axis));
}

int hist_keep_stats(struct hist *h, const struct quantiles *asked, struct fail *fail)
{
	h->asked = *asked;
	h->stats = calloc(h->channels, sizeof(*h->stats));
	return h->stats
		       ? 0
		       : fail_errno(fail, "statistics of %lu channels", (unsigned long)h->channels);
}

void hist_free(struct hist *h)
{
	free(h->count);
	free(h->stats);
	edges_free(&h->axis.edges);
	h->count = NULL;
	h->stats = NULL;
}

size_t hist_scratch_bytes(const struct sample_type *type)
{
	return sizeof(struct hist_scratch) +
	       (type->code_bytes <= 2 ? sizeof(uint16_t) << type->bits : 0);
}

struct hist_scratch *hist_scratch_new(const struct sample_type *type)
{
	return calloc(1, hist_scratch_bytes(type));
}

/* ---- codes ---- */

/*
 * Turn the counts of a packed type's bytes into counts of samples, in place. Bytes were counted in
 * channels of their own, because a record's samples may be in several bytes, and channels may share
 * a byte.
 */
static void unpack(struct hist *h, uint64_t *cell, size_t cells)
{
	const struct sample_type *const type = &h->axis.type;
	const uint32_t packed = sample_packed(type), values = 1u << type->bits;
	uint64_t sum[LAYOUT_CHANNELS_MAX << PACKED_BITS_MAX] = {0};

	for (size_t i = 0; i < cells; i++)
		for (uint32_t place = 0; place < packed && cell[i] > 0; place++) {
			const uint32_t at = type->big ? packed - 1 - place : place;
			const size_t channel = (i / 256 * packed + place) % h->channels;
			sum[channel * values + (i % 256 >> at * type->bits & (values - 1))] +=
				cell[i];
		}
	memset(cell, 0, cells * sizeof(*cell));
	memcpy(cell, sum, h->channels * values * sizeof(*cell));
	h->samples *= packed;
}

/* Set seen to the codes that were counted, in the order of values; return their number. */
static uint32_t see_all(uint16_t *seen, const struct codebook *book, const uint64_t *count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < book->codes; i++) {
		seen[n] = book->ordered[i];
		n += count[book->ordered[i]] > 0;
	}
	return n;
}

/* Like see_all, but from marks (hist_mark), which are 0 afterwards. */
static uint32_t see_marked(uint16_t *seen, const struct codebook *book, uint64_t *marks)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < HIST_MARKS; i++)
		for (; marks[i] > 0; marks[i] &= marks[i] - 1)
			seen[n++] = book->ordered[64 * i + (uint32_t)__builtin_ctzll(marks[i])];
	return n;
}

/* Return the extent of the codes that were counted in all channels. */
static struct extent extent_of_codes(const struct hist *h, const uint64_t *count,
				     const struct codebook *book, uint16_t *seen)
{
	struct extent all = EXTENT_NONE;

	for (uint32_t c = 0; c < h->channels; c++) {
		const uint32_t n = see_all(seen, book, count + c * book->stride);
		for (uint32_t i = 0; i < n; i++) {
			const struct extent own = auto_extent_of_code(
				&h->axis.type, sample_swapped(&h->axis.type, seen[i]));
			extent_add(&all, &own);
		}
	}
	return all;
}

static double value_of_key(const struct sample_type *type, uint64_t key)
{
	return type->kind == SAMPLE_FLOAT ? sample_of_key(type, key) + 0.0
					  : (double)((int128_t)key + sample_min(type));
}

/* ---- statistics ---- */

/* The counts of bins, or of codes that were seen, in the order of values. */
struct profile {
	const uint64_t *count;
	const uint16_t *seen; /* the codes; NULL: bins */
	uint32_t n;           /* number of bins or of codes seen */
};

static inline uint64_t profile_count(const struct profile *c, uint32_t i)
{
	return c->count[c->seen ? c->seen[i] : i];
}

/* The value of code i of those seen; never -0. */
static double profile_value(const struct profile *c, const struct sample_type *type, uint32_t i)
{
	return sample_code(type, sample_swapped(type, c->seen[i])) + 0.0;
}

/*
 * Return the entropy, the sum of p log2(1/p), or a negative number if all counts are 0. No term is
 * negative, so nothing cancels. Terms are off by a few units in the last place, whatever libm's
 * log2, and the sum is compensated, so the error for 2^28 bins is below 10^-13; six digits are
 * shown. If all p are powers of two, the sum is exact, and can be halfway between two such texts.
 */
static double entropy_of(struct entropy_terms *terms, const struct profile *c)
{
	double sum = 0, lost = 0;
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += profile_count(c, i);
	if (n != terms->n)
		*terms = (struct entropy_terms){.n = n};
	for (uint32_t i = 0; i < c->n; i++) {
		const uint64_t count = profile_count(c, i);
		if (count == 0)
			continue;
		double value = count < ENTROPY_TERMS ? terms->of[count] : 0;
		if (value == 0) {
			const double all = (double)n, some = (double)count;
			value = some / all * log2(all / some);
		}
		if (count < ENTROPY_TERMS)
			terms->of[count] = value;
		const double term = value - lost, next = sum + term;
		lost = next - sum - term;
		sum = next;
	}
	return n > 0 ? sum : -1;
}

/*
 * Find the quantiles. `under` samples come before the first bin. Samples that are -inf are among
 * those, or, if clamped, in the first bin.
 */
static void set_quantiles(struct hist_stats *s, const struct quantiles *asked,
			  const struct profile *c, const struct sample_type *type, uint64_t under)
{
	const uint64_t n = s->of.number;
	const uint64_t below = c->seen ? 0 : s->of.below;
	uint64_t passed = under; /* samples passed so far */
	uint64_t before = 0;     /* finite samples before the cell passed last */
	uint32_t cell = 0;

	for (unsigned i = 0; i < asked->n && n > 0; i++) {
		struct hist_quantile *const q = &s->quantile[i];
		const uint64_t nth =
			(uint64_t)(((uint128_t)n * asked->at[i] + QUANTILE_ALL - 1) / QUANTILE_ALL);
		const uint64_t rank = below + (nth > 0 ? nth : 1);
		while (cell < c->n && passed < rank) {
			before = passed > below ? passed - below : 0;
			passed += profile_count(c, cell++);
		}
		q->kind = rank <= under   ? QUANTILE_UNDER
			  : passed < rank ? QUANTILE_OVER
			  : c->seen       ? QUANTILE_VALUE
					  : QUANTILE_BIN;
		if (q->kind == QUANTILE_VALUE)
			q->value = profile_value(c, type, cell - 1);
		if (q->kind != QUANTILE_BIN)
			continue;
		const uint64_t end = passed - below < n ? passed - below : n;
		q->bin = cell - 1;
		q->part = (double)((uint128_t)n * asked->at[i] - (uint128_t)before * QUANTILE_ALL) /
			  (double)((uint128_t)(end - before) * QUANTILE_ALL);
	}
}

/*
 * Count the values between the least and the greatest that have no sample. -0 and 0 are two
 * neighbouring codes, but one value.
 */
static void set_never_hit(struct hist_stats *s, const struct profile *c,
			  const struct sample_type *type)
{
	const uint32_t zero = type->kind == SAMPLE_FLOAT ? codebook_place(type, 0) : 0;

	if (c->n == 0)
		return;
	const uint64_t first = codebook_place(type, c->seen[0]),
		       last = codebook_place(type, c->seen[c->n - 1]);
	s->never_hit = last - first + 1 - (zero > 0 && first < zero && last >= zero) - c->n;
	for (uint32_t i = 1; i < c->n && zero > 0; i++)
		s->never_hit += c->seen[i] == 0 && codebook_place(type, c->seen[i - 1]) + 1 == zero;
}

/* Count the samples that equal the least and the greatest value; -0 equals 0. */
static void set_ends(struct hist_stats *s, const struct profile *c, const struct sample_type *type)
{
	for (uint32_t i = 0; i < c->n && profile_value(c, type, i) == profile_value(c, type, 0);
	     i++)
		s->at_least += profile_count(c, i);
	for (uint32_t i = c->n;
	     i-- > 0 && profile_value(c, type, i) == profile_value(c, type, c->n - 1);)
		s->at_greatest += profile_count(c, i);
}

/* Set the entropy of the bins and, if they are ordered, the quantiles. */
static void set_binned(struct hist *h, uint32_t channel, struct entropy_terms *terms)
{
	const struct profile bins = {h->count + channel * h->stride, NULL, axis_bins(&h->axis)};
	struct hist_stats *const s = &h->stats[channel];

	s->entropy = entropy_of(terms, &bins);
	if (axis_kind_of(&h->axis)->ordered)
		set_quantiles(s, &h->asked, &bins, &h->axis.type, h->flow[channel].under);
}

/* Set a channel's figures from the sums and the bins. */
static void set_stats(struct hist *h, uint32_t channel, const struct stats *sums,
		      struct entropy_terms *terms)
{
	h->stats[channel] = (struct hist_stats){.of.number = 0};
	stats_result(sums, &h->stats[channel].of);
	set_binned(h, channel, terms);
}

/* Set a channel's figures from the counts of codes, of which n were seen. */
static void set_code_stats(struct hist *h, uint32_t channel, struct stats *sums,
			   const uint64_t *count, uint32_t n, struct hist_scratch *scratch)
{
	const struct sample_type *const type = &h->axis.type;
	struct profile codes = {count, scratch->seen, n};
	struct hist_stats *const s = &h->stats[channel];

	stats_add_codes(sums, scratch->seen, n, count);
	*s = (struct hist_stats){.of.number = 0};
	stats_result(sums, &s->of);
	s->entropy = entropy_of(&scratch->terms, &codes);
	/* Infinities and NaNs come before and after the finite codes. */
	for (; codes.n > 0 && !isfinite(profile_value(&codes, type, 0)); codes.n--)
		codes.seen++;
	while (codes.n > 0 && !isfinite(profile_value(&codes, type, codes.n - 1)))
		codes.n--;
	set_ends(s, &codes, type);
	set_never_hit(s, &codes, type);
	set_quantiles(s, &h->asked, &codes, type, 0);
}

/* Is every sample out of range infinite or NaN? */
static bool holds_finite(const struct axis *axis)
{
	const struct edges *const edges = &axis->edges;

	if (axis->type.kind != SAMPLE_FLOAT || axis_kind_of(axis)->from_samples)
		return axis_kind_of(axis)->from_samples;
	const double most = sample_max_finite(&axis->type);
	const double hi = edges_value(edges, axis_bins(axis));
	return edges_value(edges, 0) <= -most && (edges->closed ? hi >= most : hi > most);
}

int hist_set_stats(struct hist *h, const struct quantiles *asked, struct fail *fail)
{
	struct entropy_terms terms = {.n = 0};

	if (hist_keep_stats(h, asked, fail) != 0)
		return -1;
	h->binned = true;
	for (uint32_t c = 0; c < h->channels; c++) {
		const struct hist_flow *const flow = &h->flow[c], *const clamped = &h->clamped[c];
		struct stats_result *const of = &h->stats[c].of;
		if (holds_finite(&h->axis)) {
			of->below = flow->under + clamped->under;
			of->above = flow->over + clamped->over;
		}
		of->nan = flow->nan;
		of->number = h->samples / h->channels - of->below - of->above - of->nan;
		set_binned(h, c, &terms);
	}
	return 0;
}

void hist_stats_format_extreme(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel,
			       bool greatest)
{
	const struct stats_result *const r = &h->stats[channel].of;

	if (h->binned)
		strcpy(text, greatest ? "inf" : "-inf");
	else if (h->axis.type.kind == SAMPLE_FLOAT)
		number_format(text, greatest ? r->greatest_real : r->least_real);
	else
		number_format_integer(text, greatest ? r->greatest : r->least);
}

void quantile_name(char text[NUMBER_TEXT], const struct quantiles *asked, unsigned i)
{
	number_format(text, asked->at[i] * 100.0 / QUANTILE_ALL);
}

/* The interval of a quantile whose value is unknown. */
struct interval {
	uint32_t past; /* the edge at its upper end; the lower end is the edge before */
	bool first;    /* the lower end is the least sample instead */
	bool last;     /* the upper end is the greatest sample instead */
};

static struct interval interval_of(const struct hist *h, uint32_t channel, unsigned i)
{
	const struct hist_quantile *const q = &h->stats[channel].quantile[i];
	const struct edges *const edges = &h->axis.edges;
	const uint32_t bins = axis_bins(&h->axis);
	/* Infinities are clamped too. Documents have the clamped counts only for AUTO and RANKS. */
	const bool unknown = h->binned && h->axis.clamp && !axis_kind_of(&h->axis)->from_samples;
	const bool below = unknown || h->clamped[channel].under > h->stats[channel].of.below,
		   above = unknown || h->clamped[channel].over > h->stats[channel].of.above;
	const uint32_t past = q->kind == QUANTILE_UNDER  ? 0
			      : q->kind == QUANTILE_OVER ? bins + 1
							 : q->bin + 1;

	return (struct interval){
		past, past == 0 || (past == 1 && below) || isinf(edges_value(edges, past - 1)),
		past > bins || (past == bins && (above || isinf(edges_value(edges, past))))};
}

bool hist_stats_format_quantile(char lower[NUMBER_TEXT], char upper[NUMBER_TEXT],
				const struct hist *h, uint32_t channel, unsigned i)
{
	const struct hist_quantile *const q = &h->stats[channel].quantile[i];
	const struct edges *const edges = &h->axis.edges;

	if (q->kind == QUANTILE_VALUE) {
		number_format(lower, q->value);
		number_format(upper, q->value);
		return true;
	}
	const struct interval in = interval_of(h, channel, i);
	if (in.first)
		hist_stats_format_extreme(lower, h, channel, false);
	else
		edges_format(edges, in.past - 1, lower);
	if (in.last)
		hist_stats_format_extreme(upper, h, channel, true);
	else
		edges_format(edges, in.past, upper);
	return in.last ? !h->binned : in.past == axis_bins(&h->axis) && edges->closed;
}

/* Return the least whole number not below edge i, or, with `above`, above it. */
static int128_t whole_from(const struct edges *e, uint32_t i, bool above)
{
	if (e->form == EDGES_RATIONAL) {
		const int128_t moved = (int128_t)i * e->rational.width;
		return e->rational.lo + moved / e->binning.bins +
		       (above || moved % e->binning.bins > 0);
	}
	/* 2^70 is past the values of every type. */
	const double x = fmax(fmin(edges_value(e, i), 0x1p70), -0x1p70);
	return (int128_t)(above ? floor(x) + 1 : ceil(x));
}

/* Return the number that is `part` of the way from lower to upper. */
static double between(double lower, double upper, double part)
{
	const double width = upper - lower;

	return isinf(width) ? 2 * (lower / 2 + part * (upper / 2 - lower / 2))
			    : fmin(lower + part * width, upper);
}

void hist_stats_format_number(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel,
			      unsigned i)
{
	const struct stats_result *const of = &h->stats[channel].of;
	const struct hist_quantile *const q = &h->stats[channel].quantile[i];
	const struct edges *const edges = &h->axis.edges;
	const struct sample_type *const type = &h->axis.type;

	text[0] = '\0';
	if (q->kind == QUANTILE_VALUE)
		number_format(text, q->value);
	if (q->kind != QUANTILE_BIN)
		return;
	const struct interval in = interval_of(h, channel, i);
	if (h->binned && (in.first || in.last))
		return;
	if (type->kind == SAMPLE_FLOAT) {
		const double lower = in.first ? of->least_real : edges_value(edges, in.past - 1),
			     upper = in.last ? of->greatest_real : edges_value(edges, in.past),
			     x = between(lower, upper, q->part) + 0.0;
		number_format(text,
			      h->binned ? x : fmax(fmin(x, of->greatest_real), of->least_real));
		return;
	}
	const bool closed = edges->closed && in.past == axis_bins(&h->axis);
	const int128_t least = h->binned ? sample_min(type) : of->least,
		       greatest = h->binned ? sample_max(type) : of->greatest,
		       from = in.first ? least : whole_from(edges, in.past - 1, false),
		       to = in.last ? greatest : whole_from(edges, in.past, closed) - 1,
		       lower = from > sample_min(type) ? from : sample_min(type),
		       upper = to < sample_max(type) ? to : sample_max(type);
	const double x = between((double)lower, (double)upper, q->part);
	if (lower >= upper || x <= (double)least)
		number_format_integer(text, lower > least ? lower : least);
	else if (x >= (double)greatest)
		number_format_integer(text, greatest);
	else
		number_format(text, x);
}

/* ---- from the totals of a run ---- */

/* Move the cells after the bins to the flow; add the cell "edge" where it belongs. */
static void fold(struct hist *h)
{
	const struct edges *const edges = &h->axis.edges;
	const uint32_t bins = axis_bins(&h->axis);

	for (uint32_t c = 0; c < h->channels; c++) {
		uint64_t *const count = h->count + c * h->stride;
		struct hist_flow *const flow = &h->flow[c];
		flow->under = count[cell_under(&edges->binning)];
		flow->over = count[cell_over(&edges->binning)];
		flow->nan = count[cell_nan(&edges->binning)];
		*(edges->edge_cell == EDGE_IS_LAST    ? &count[bins - 1]
		  : edges->edge_cell == EDGE_IS_UNDER ? &flow->under
						      : &flow->over) += count[bins];
	}
}

/*
 * If the axis clamps, add under and over to the first and the last bin. Their numbers go to
 * h->clamped, because with AUTO and RANKS, adding another histogram may change which bins are the
 * first and the last.
 */
static void clamp_flow(struct hist *h)
{
	for (uint32_t c = 0; c < h->channels && h->axis.clamp && axis_bins(&h->axis) > 0; c++) {
		uint64_t *const count = h->count + c * h->stride;
		struct hist_flow *const flow = &h->flow[c];
		count[0] += flow->under;
		count[axis_bins(&h->axis) - 1] += flow->over;
		h->clamped[c] = (struct hist_flow){.under = flow->under, .over = flow->over};
		flow->under = flow->over = 0;
	}
}

/* AUTO, RANKS: make the final edges, and put the slots into the order of the bins. */
static void place_bins(struct hist *h, const struct extent *extent)
{
	struct edges *const edges = &h->axis.edges;
	const uint32_t slots = axis_bins(&h->axis);

	edges_settle(edges, extent);
	for (uint32_t c = 0; c < h->channels; c++)
		auto_turn64(h->count + c * h->stride, slots, auto_slot(edges_first(edges), slots));
}

/* Bin a channel's codes and set its figures from them; return the number of codes seen. */
static uint32_t bin_codes(struct hist *h, uint32_t channel, const uint64_t *count,
			  struct stats *sums, const struct codebook *book,
			  struct hist_scratch *scratch, uint64_t *marks)
{
	const struct sample_type *const type = &h->axis.type;
	const uint16_t *const seen = scratch->seen;
	uint64_t *const bin = h->count + channel * h->stride;
	const uint32_t n = marks ? see_marked(scratch->seen, book, marks)
				 : see_all(scratch->seen, book, count);

	for (uint32_t i = 0; i < n && book->cell; i++)
		bin[book->cell[seen[i]]] += count[seen[i]];
	for (uint32_t i = 0; i < n && !book->cell; i++)
		bin[edges_cell_of_code(&h->axis.edges, type, sample_swapped(type, seen[i]))] +=
			count[seen[i]];
	if (h->stats)
		set_code_stats(h, channel, sums, count, n, scratch);
	return n;
}

void hist_fill(struct hist *h, struct counts *counts, const struct codebook *book,
	       struct hist_scratch *scratch)
{
	struct edges *const edges = &h->axis.edges;
	const bool coded = book->codes > 0;
	const size_t cells = counts->cells;
	struct extent extent = counts->extent;
	const int k = counts->k;
	uint64_t *const cell = counts_take(counts, &h->samples);

	if (h->axis.type.bits < 8)
		unpack(h, cell, cells);
	if (coded) {
		extent = extent_of_codes(h, cell, book, scratch->seen);
		h->extent = !extent_is_none(&extent);
		h->least = h->extent ? value_of_key(&h->axis.type, extent.least) : 0;
		h->greatest = h->extent ? value_of_key(&h->axis.type, extent.greatest) : 0;
	}
	if (axis_kind_of(&h->axis)->from_samples && coded)
		auto_rule(&edges->binning, &edges->auto_bins, auto_k(&edges->auto_bins, &extent));
	if (!coded)
		h->count = cell;
	for (uint32_t c = 0; c < h->channels && coded; c++)
		bin_codes(h, c, cell + c * book->stride, h->stats ? &counts->stats[c] : NULL, book,
			  scratch, NULL);
	if (coded)
		free(cell);
	fold(h);
	if (axis_kind_of(&h->axis)->from_samples) {
		place_bins(h, &extent);
		assert(coded || k == edges->k);
	}
	clamp_flow(h);
	for (uint32_t c = 0; c < h->channels && h->stats && !coded; c++)
		set_stats(h, c, &counts->stats[c], &scratch->terms);
}

/* ---- the rows of --each ---- */

/* Fill a row whose cells are bins. */
static void move_cells(struct hist *h, struct counts *counts, struct counts *totals,
		       struct entropy_terms *terms)
{
	for (size_t i = 0; i < counts->cells; i++) {
		h->count[i] = counts->cell[i];
		totals->cell[i] += counts->cell[i];
		counts->cell[i] = 0;
	}
	fold(h);
	clamp_flow(h);
	for (uint32_t c = 0; c < h->channels && h->stats; c++) {
		set_stats(h, c, &counts->stats[c], terms);
		stats_clear(&counts->stats[c]);
	}
}

/* Fill a channel of a row from its codes. For packed types, the totals have the bytes already. */
static void move_codes(struct hist *h, uint32_t channel, struct counts *counts,
		       struct counts *totals, const struct codebook *book,
		       struct hist_scratch *scratch, uint64_t *marks)
{
	const size_t first = channel * book->stride;
	uint64_t *const count = counts->cell + first;
	struct stats *const sums = h->stats ? &counts->stats[channel] : NULL;
	const uint32_t n = bin_codes(h, channel, count, sums, book, scratch, marks);
	const uint16_t *const seen = scratch->seen;

	if (sums)
		stats_clear(sums);
	for (uint32_t i = 0; i < n; i++) {
		if (h->axis.type.bits >= 8)
			totals->cell[first + seen[i]] += count[seen[i]];
		count[seen[i]] = 0;
	}
}

void hist_fill_row(struct hist *h, struct counts *counts, struct counts *totals,
		   const struct codebook *book, struct hist_scratch *scratch, uint64_t *marks)
{
	h->samples = counts->samples;
	if (h->axis.type.bits < 8) {
		counts_add_counts(totals, counts);
		unpack(h, counts->cell, counts->cells);
	} else {
		totals->samples += counts->samples;
	}
	counts->samples = 0;
	if (book->codes == 0) {
		move_cells(h, counts, totals, &scratch->terms);
		return;
	}
	memset(h->count, 0, h->channels * h->stride * sizeof(*h->count));
	for (uint32_t c = 0; c < h->channels; c++)
		move_codes(h, c, counts, totals, book, scratch,
			   marks ? marks + (size_t)c * HIST_MARKS : NULL);
	fold(h);
	clamp_flow(h);
}

/* ---- sums over all channels ---- */

struct hist_flow hist_flow_sum(const struct hist *h)
{
	struct hist_flow sum = {0};

	for (uint32_t c = 0; c < h->channels; c++) {
		sum.under += h->flow[c].under;
		sum.over += h->flow[c].over;
		sum.nan += h->flow[c].nan;
	}
	return sum;
}

int hist_audit(const struct hist *h, struct fail *fail)
{
	const struct hist_flow flow = hist_flow_sum(h);
	uint64_t sum = flow.under + flow.over + flow.nan;

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			sum += hist_count(h, c, i);
	if (sum == h->samples)
		return 0;
	return fail_set(
		fail, STATUS_INTERNAL,
		"internal error: %llu samples were read, but %llu were counted; please report this",
		(unsigned long long)h->samples, (unsigned long long)sum);
}

uint64_t hist_exceeding(const struct hist *h, uint64_t most)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			n += hist_count(h, c, i) > most;
	return n;
}

uint64_t hist_rows_exceeding(const struct hist *h, uint64_t most)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < h->channels; c++)
		n += (uint64_t)(h->flow[c].under > most) + (h->flow[c].over > most) +
		     (h->flow[c].nan > most);
	return n;
}

/* ---- adding histograms ----
 *
 * With AUTO and RANKS, the bins of each histogram depend on its samples: they have their own k and
 * their own first bin. The k of the sum is the smallest one, not below the k of either histogram,
 * at which their bins together span no more than the limit. That is the auto_k of all samples: the
 * auto_k of a subset is never larger (auto.h), and a sample's bin at one k determines its bin
 * at every larger k.
 */

static void add_flow(struct hist *h, const struct hist *more)
{
	for (uint32_t c = 0; c < h->channels; c++) {
		h->flow[c].under += more->flow[c].under;
		h->flow[c].over += more->flow[c].over;
		h->flow[c].nan += more->flow[c].nan;
	}
	h->samples += more->samples;
	/* The figures of the whole cannot be computed from rounded figures of its parts. */
	free(h->stats);
	h->stats = NULL;
}

/* ---- --auto ---- */

/* A range of bins of 2^k, by their numbers (auto_bin); empty if last < first. */
struct reach {
	int128_t first, last;
	int k;
};

static struct reach reach_of(const struct hist *h)
{
	const int128_t first = edges_first(&h->axis.edges);

	return (struct reach){first, first + axis_bins(&h->axis) - 1, h->axis.edges.k};
}

static bool is_none(const struct reach *s)
{
	return s->last < s->first;
}

static struct reach reach_together(const struct auto_bins *bins, const struct reach *a,
				   const struct reach *b)
{
	a = is_none(a) ? b : a;
	b = is_none(b) ? a : b;
	for (int k = a->k > b->k ? a->k : b->k;; k++) {
		const int128_t a_first = auto_coarser(bins, a->first, a->k, k),
			       b_first = auto_coarser(bins, b->first, b->k, k);
		const int128_t a_last = auto_coarser(bins, a->last, a->k, k),
			       b_last = auto_coarser(bins, b->last, b->k, k);
		const struct reach s = {a_first < b_first ? a_first : b_first,
					a_last > b_last ? a_last : b_last, k};
		/*
		 * This ends, because with a k of as many bits as the numbers there are at most 2
		 * bins, or 1 for unsigned types.
		 */
		if (s.last - s.first < (int128_t)bins->most)
			return s;
	}
}

/* The count of a bin without the samples clamped into it. */
static uint64_t own_count(const struct hist *h, uint32_t channel, uint32_t bin)
{
	const struct hist_flow *const clamped = &h->clamped[channel];

	return hist_count(h, channel, bin) - (bin == 0 ? clamped->under : 0) -
	       (bin + 1 == axis_bins(&h->axis) ? clamped->over : 0);
}

/* Add the bins of h to the bins of `all` in count, which has `stride` entries for each channel. */
static void add_bins(uint64_t *count, size_t stride, const struct reach *all, const struct hist *h)
{
	const struct reach own = reach_of(h);

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++) {
			const int128_t bin = auto_coarser(&h->axis.edges.auto_bins, own.first + i,
							  own.k, all->k) -
					     all->first;
			count[c * stride + (size_t)bin] += own_count(h, c, i);
		}
}

static int add_auto(struct hist *h, const struct hist *more, struct fail *fail)
{
	const struct reach a = reach_of(h), b = reach_of(more),
			   all = reach_together(&h->axis.edges.auto_bins, &a, &b);
	const uint32_t bins = (uint32_t)(all.last - all.first + 1);
	/* One more entry, so that the size is never 0. */
	uint64_t *const count = calloc(h->channels * ((size_t)bins + 1), sizeof(*count));

	if (!count)
		return fail_errno(fail, "counts of %lu bins", (unsigned long)bins);
	add_bins(count, bins, &all, h);
	add_bins(count, bins, &all, more);
	free(h->count);
	h->count = count;
	h->stride = bins;
	edges_place(&h->axis.edges, all.first, bins, all.k);
	add_flow(h, more);
	/* Move clamped samples to the first and the last bin of the sum. */
	for (uint32_t c = 0; c < h->channels && h->axis.clamp && bins > 0; c++) {
		h->flow[c].under += h->clamped[c].under + more->clamped[c].under;
		h->flow[c].over += h->clamped[c].over + more->clamped[c].over;
	}
	clamp_flow(h);
	return 0;
}

/* Add counts other than 0, so that untouched pages of zeros stay untouched. */
static void add_counts(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (from[i] > 0)
			to[i] += from[i];
}

int hist_add(struct hist *h, const struct hist *more, struct fail *fail)
{
	assert(h->channels == more->channels);
	/* No count is above the number of samples. */
	if (more->samples > UINT64_MAX - h->samples)
		return fail_set(fail, STATUS_LIMIT, "the sum of the counts exceeds 2^64 - 1");
	if (axis_kind_of(&h->axis)->from_samples)
		return add_auto(h, more, fail);
	for (uint32_t c = 0; c < h->channels; c++)
		add_counts(h->count + c * h->stride, more->count + c * more->stride,
			   axis_bins(&h->axis));
	add_flow(h, more);
	return 0;
}

int hist_rebin(struct hist *h, uint32_t bins, struct fail *fail)
{
	const uint32_t had = axis_bins(&h->axis), most = h->axis.edges.auto_bins.most;
	const bool ordered = axis_kind_of(&h->axis)->ordered;

	if (axis_kind_of(&h->axis)->from_samples) {
		const struct hist none = {.channels = h->channels};
		const uint32_t least = auto_bins_least(&h->axis.type);
		if (bins < least || bins > most)
			return fail_set(fail, STATUS_USAGE,
					"--bins %lu is invalid; it must be from %lu to %lu, the "
					"maximum that --%s had",
					(unsigned long)bins, (unsigned long)least,
					(unsigned long)most, axis_kind_of(&h->axis)->name);
		h->axis.edges.auto_bins.most = bins;
		if (add_auto(h, &none, fail) == 0)
			return 0;
		h->axis.edges.auto_bins.most = most;
		return -1;
	}
	if (had % bins != 0)
		return fail_set(
			fail, STATUS_USAGE,
			"--bins %lu does not divide %lu, the number of bins of the histograms",
			(unsigned long)bins, (unsigned long)had);
	if (axis_join(&h->axis, bins) != 0)
		return fail_errno(fail, "edges of %lu bins", (unsigned long)bins);
	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < had; i++) {
			uint64_t *const bin = h->count + c * h->stride, n = bin[i];
			if (n == 0) /* leave untouched pages so */
				continue;
			bin[i] = 0;
			bin[ordered ? i / (had / bins) : i % bins] += n;
		}
	return 0;
}
