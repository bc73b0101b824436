/* SPDX-License-Identifier: MIT */
/* hist: from cells to bins and figures; the audit. */
#include "hist/hist.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hist/hist_stats.h"
#include "hist/linearity.h"

int hist_open(struct hist *h, uint32_t channels)
{
	h->channels = channels;
	h->flow = calloc(channels, sizeof(*h->flow));
	return h->flow ? 0 : -1;
}

int hist_reserve(struct hist *h, const struct axis *axis, uint32_t channels, struct fail *fail)
{
	*h = (struct hist){.axis = *axis, .stride = (size_t)axis_bins(axis) + CELL_EXTRA};
	if (edges_copy(&h->axis.edges, &axis->edges) != 0)
		return fail_errno(fail, "edges of %lu bins", (unsigned long)axis_bins(axis));
	if (hist_open(h, channels) != 0)
		return fail_errno(fail, "%lu channels", (unsigned long)channels);
	if (!sample_is_code(&axis->type)) /* hist_fill will use the cells of the totals */
		return 0;
	h->count = calloc(channels * h->stride, sizeof(*h->count));
	return h->count ? 0
			: fail_errno(fail, "counts of %lu bins", (unsigned long)axis_bins(axis));
}

int hist_keep_stats(struct hist *h, const struct quantiles *asked, uint32_t digits,
		    struct fail *fail)
{
	const struct sample_type counted = sample_type_counted(&h->axis.type);
	const struct digest_rule rule = digest_rule(&counted, digits);
	int rc = 0;

	h->stats = calloc(h->channels, sizeof(*h->stats));
	if (hist_ask(h, asked) != 0)
		rc = -1;
	for (uint32_t c = 0; c < h->channels && h->stats && digits > 0 && rc == 0; c++)
		rc = digest_open(&h->stats[c].digest, &rule, true);
	return h->stats && rc == 0
		       ? 0
		       : fail_errno(fail, "statistics of %lu channels", (unsigned long)h->channels);
}

void hist_free(struct hist *h)
{
	hist_drop_stats(h);
	for (uint32_t c = 0; h->name && c < h->channels; c++)
		free(h->name[c]);
	free(h->name);
	free(h->own);
	free(h->by);
	free(h->count);
	free(h->flow);
	free(h->compared);
	free(h->reference);
	if (h->linearity)
		free(h->linearity->dnl);
	free(h->linearity);
	edges_free(&h->axis.edges);
	h->count = NULL;
	h->flow = NULL;
	h->compared = NULL;
	h->reference = NULL;
	h->linearity = NULL;
	h->name = NULL;
	h->own = NULL;
	h->by = NULL;
}

/* The sums for packed types: of bytes that hold several samples. */
static size_t packed_sums(const struct sample_type *type, uint32_t channels)
{
	return type->bits < 8 && type->word == 0 ? (size_t)channels << type->bits : 0;
}

size_t hist_scratch_bytes(const struct sample_type *type, uint32_t channels)
{
	return sizeof(struct hist_scratch) + packed_sums(type, channels) * sizeof(uint64_t) +
	       (sample_is_code(type) ? sizeof(uint16_t) << type->bits : 0);
}

struct hist_scratch *hist_scratch_new(const struct sample_type *type, uint32_t channels)
{
	struct hist_scratch *const scratch = calloc(1, hist_scratch_bytes(type, channels));

	if (scratch)
		scratch->seen = (uint16_t *)(void *)(scratch->sums + packed_sums(type, channels));
	return scratch;
}

/* ---- codes ---- */

/*
 * Turn the counts of a packed type's bytes into counts of samples, in place. Bytes were counted in
 * channels of their own, because a record's samples may be in several bytes, and channels may share
 * a byte.
 */
static void split_bytes(struct hist *h, uint64_t *cell, size_t cells, uint64_t *sum)
{
	const struct sample_type *const type = &h->axis.type;
	const uint32_t packed = sample_group(type), values = 1u << type->bits;

	memset(sum, 0, h->channels * values * sizeof(*sum));
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

/* Count n missing samples as NaN; integers have no code for it. */
static void add_missing(struct hist *h, uint32_t channel, uint64_t *cell, uint64_t n)
{
	const struct sample_type *const type = &h->axis.type;
	const uint32_t nan = (1u << (type->bits - 1)) - 1;

	if (type->kind == SAMPLE_FLOAT)
		cell[sample_swapped(type, nan)] += n;
	else
		h->flow[channel].nan += n;
}

/* Move the counts of missing codes to NaN. */
static void drop_missing(struct hist *h, uint64_t *cell, size_t stride)
{
	const struct missing *const missing = &h->axis.missing;

	for (uint32_t c = 0; c < h->channels; c++, cell += stride)
		for (uint32_t i = 0; i < missing->n; i++) {
			uint64_t *const own =
				&cell[sample_swapped(&h->axis.type, (uint32_t)missing->code[i])];
			const uint64_t n = *own;
			*own = 0;
			add_missing(h, c, cell, n);
		}
}

/* Turn the counts of words (--mask, --abs) into counts of samples, in place. */
static void unmask(struct hist *h, uint64_t *cell)
{
	const struct sample_type *const type = &h->axis.type, word = sample_type_word(type),
					before = sample_type_signed(type);
	const uint32_t words = 1u << type->word;

	for (uint32_t c = 0; c < h->channels; c++, cell += words) {
		for (uint32_t code = 0; code < words && word.big; code++) {
			const uint32_t own = sample_swapped(&word, code);
			const uint64_t n = cell[code];
			if (own > code) {
				cell[code] = cell[own];
				cell[own] = n;
			}
		}
		uint64_t missing = 0;
		/* A sample is never above its word, so cells not yet reached still count words. */
		for (uint32_t own = 0; own < words; own++) {
			const uint64_t n = cell[own];
			cell[own] = 0;
			if (h->axis.missing.n > 0 &&
			    codebook_missing(&h->axis.missing, &before, own))
				missing += n;
			else
				cell[sample_masked(type, own)] += n;
		}
		add_missing(h, c, cell, missing);
	}
}

/* Do counts of codes differ from counts of samples: are some packed, masked or missing? */
static bool folds(const struct axis *axis)
{
	const struct sample_type *const type = &axis->type;

	return sample_is_code(type) && (type->bits < 8 || type->word > 0 || axis->missing.n > 0);
}

static void unfold(struct hist *h, uint64_t *cell, size_t cells, const struct codebook *book,
		   struct hist_scratch *scratch)
{
	for (uint32_t c = 0; c < h->channels; c++)
		h->flow[c].nan = 0;
	if (h->axis.type.word > 0) {
		unmask(h, cell);
		return;
	}
	if (h->axis.type.bits < 8)
		split_bytes(h, cell, cells, scratch->sums);
	drop_missing(h, cell, book->stride);
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

/* For floats: is a code a fraction, an infinity, or a number beyond 2^53? */
static bool have_fraction(const struct sample_type *type, const uint16_t *seen, uint32_t n)
{
	bool found = false;

	for (uint32_t i = 0; i < n && !found; i++) {
		const double x = sample_value(type, sample_swapped(type, seen[i]));
		found = x != floor(x) && !isnan(x);
		found |= fabs(x) > 0x1p53;
	}
	return found;
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

/* ---- from the totals of a run ---- */

/* Move the cells after the bins to the flow; add the cell "edge" where it belongs. */
static void split_cells(struct hist *h)
{
	const struct edges *const edges = &h->axis.edges;
	const uint32_t bins = axis_bins(&h->axis);
	const bool codes = folds(&h->axis);

	for (uint32_t c = 0; c < h->channels; c++) {
		uint64_t *const count = h->count + c * h->stride;
		struct hist_flow *const flow = &h->flow[c];
		flow->under = count[cell_under(&edges->binning)];
		flow->over = count[cell_over(&edges->binning)];
		/* Missing integers are there already. */
		flow->nan = (codes ? flow->nan : 0) + count[cell_nan(&edges->binning)];
		*(edges->edge_cell == EDGE_IS_LAST    ? &count[bins - 1]
		  : edges->edge_cell == EDGE_IS_UNDER ? &flow->under
						      : &flow->over) += count[bins];
	}
}

/* If the axis clamps, add under and over to the first and the last bin. */
static void clamp_flow(struct hist *h)
{
	for (uint32_t c = 0; c < h->channels && h->axis.clamp && axis_bins(&h->axis) > 0; c++) {
		uint64_t *const count = h->count + c * h->stride;
		struct hist_flow *const flow = &h->flow[c];
		count[0] += flow->under;
		count[axis_bins(&h->axis) - 1] += flow->over;
		flow->under = flow->over = 0;
	}
}

/* AUTO, RANKS: make the final edges, and move the counts of the slots, at k, to their bins. */
static void place_bins(struct hist *h, const struct extent *extent, int k)
{
	struct edges *const edges = &h->axis.edges;
	struct auto_bins *const bins = &edges->auto_bins;

	bins->whole = true;
	for (uint32_t c = 0; c < h->channels; c++)
		bins->whole &= hist_is_whole(h, c);
	edges_place_for(edges, extent);
	assert(k == edges->span.k || (bins->whole && k < edges->span.k));
	for (uint32_t c = 0; c < h->channels; c++) {
		uint64_t *const count = h->count + c * h->stride;
		auto_coarsen64(count, bins, extent, k, edges->span.k);
		auto_arrange64(count, bins, &edges->span);
	}
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
	h->whole &= ~((uint64_t)have_fraction(type, seen, h->axis.finds_whole ? n : 0)
		      << hist_whole_bit(h, channel));
	if (h->stats)
		hist_stats_of_codes(h, channel, sums, count, n, scratch);
	return n;
}

void hist_fill(struct hist *h, struct counts *counts, const struct codebook *book,
	       struct hist_scratch *scratch)
{
	struct edges *const edges = &h->axis.edges;
	const bool coded = book->codes > 0;
	const size_t cells = counts->cells;
	struct extent extent = counts->extent;
	int k = counts->k;
	uint64_t *const cell = counts_take(counts, &h->samples);

	h->whole = h->axis.finds_whole ? ~counts->fractions : 0;
	if (folds(&h->axis))
		unfold(h, cell, cells, book, scratch);
	if (coded) {
		extent = extent_of_codes(h, cell, book, scratch->seen);
		h->extent = !extent_is_none(&extent);
		h->least = h->extent ? value_of_key(&h->axis.type, extent.least) : 0;
		h->greatest = h->extent ? value_of_key(&h->axis.type, extent.greatest) : 0;
	}
	if (axis_kind_of(&h->axis)->from_samples && coded)
		auto_rule(&edges->binning, &edges->auto_bins,
			  k = auto_k(&edges->auto_bins, &extent));
	if (!coded)
		h->count = cell;
	for (uint32_t c = 0; c < h->channels && coded; c++)
		bin_codes(h, c, cell + c * book->stride, h->stats ? &counts->stats[c] : NULL, book,
			  scratch, NULL);
	if (coded)
		free(cell);
	split_cells(h);
	if (axis_kind_of(&h->axis)->from_samples)
		place_bins(h, &extent, k);
	clamp_flow(h);
	for (uint32_t c = 0; c < h->channels && h->stats && !coded; c++)
		hist_stats_of_bins(h, c, counts->keys ? counts->keys->stats[c] : &counts->stats[c],
				   &scratch->terms);
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
	split_cells(h);
	clamp_flow(h);
	for (uint32_t c = 0; c < h->channels && h->stats; c++) {
		hist_stats_of_bins(h, c, &counts->stats[c], terms);
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
		if (!folds(&h->axis))
			totals->cell[first + seen[i]] += count[seen[i]];
		count[seen[i]] = 0;
	}
}

void hist_fill_row(struct hist *h, struct counts *counts, struct counts *totals,
		   const struct codebook *book, struct hist_scratch *scratch, uint64_t *marks)
{
	h->samples = counts->samples;
	h->whole = h->axis.finds_whole ? ~counts->fractions : 0;
	counts->fractions = 0;
	if (folds(&h->axis)) {
		counts_add_counts(totals, counts);
		unfold(h, counts->cell, counts->cells, book, scratch);
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
	split_cells(h);
	clamp_flow(h);
}

struct hist hist_view(const struct hist *h, uint32_t channel)
{
	struct hist one = *h;

	one.channels = 1;
	one.count += channel * h->stride;
	one.flow += channel;
	one.stats = h->stats ? h->stats + channel : NULL;
	one.quantile = h->stats ? hist_quantile_of(h, channel, 0) : NULL;
	one.samples = hist_samples(h, channel);
	one.first += channel;
	one.name = h->name ? h->name + channel : NULL;
	one.own = h->own ? h->own + channel : NULL;
	one.whole = hist_is_whole(h, channel);
	one.compared = NULL;
	one.reference = h->reference ? h->reference + (size_t)channel * axis_bins(&h->axis) : NULL;
	one.linearity = NULL;
	return one;
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

	bool digested = true; /* do digests hold all samples? */
	/* Missing integers have no code. */
	const bool codes = sample_is_code(&h->axis.type) && h->axis.type.kind == SAMPLE_FLOAT;

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			sum += hist_count(h, c, i);
	for (uint32_t c = 0; c < h->channels && h->stats; c++) {
		const struct stats_result *const of = &h->stats[c].of;
		const uint64_t others = of->below + of->above + of->nan;
		digested &= !h->stats[c].digest.touched ||
			    digest_sum(&h->stats[c].digest) == of->number + (codes ? others : 0);
	}
	if (!digested)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: the quantiles are not those of all samples; "
				"please report this");
	errno = ENOMEM;
	if (h->lost)
		return fail_errno(fail, "statistics");
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
