/* SPDX-License-Identifier: MIT */
/*
 * profile: what --stats keeps of a series: values, or cells of values, in ascending order, each
 * with a count. Codes, digests and bins that hold one value each have one reader, and all figures
 * but the sums are computed from it.
 */
#ifndef GPUHIST_PROFILE_H
#define GPUHIST_PROFILE_H

#include "hist/hist.h"

struct profile {
	struct sample_type type;     /* as counted */
	bool whole;                  /* floats are whole numbers */
	const struct digest *digest; /* for types of up to 16 bits, its cells are codes */
	const uint64_t *count;       /* without a digest: counts of codes or of bins */
	const uint16_t *seen;        /* the codes that were counted; NULL: bins */
	uint32_t first, end;         /* entries: indices in the digest, in `seen`, or of bins */
	uint64_t before;             /* samples below the bins */
	int128_t least;              /* the value of bin 0 */
	const struct stats_result *others; /* entropy: infinities and NaNs that are no entries */
};

/* The profiles of codes that were seen, of a digest, and of all bins of a channel. */
struct profile profile_of_codes(const struct sample_type *type, const uint64_t *count,
				const uint16_t *seen, uint32_t n);
struct profile profile_of_digest(const struct sample_type *counted, const struct digest *digest);
struct profile profile_of_bins(const struct hist *h, uint32_t channel);

/* Find the first entry from *at on that holds something, and its count. */
static inline bool profile_next(const struct profile *p, uint32_t *at, uint64_t *count)
{
	uint32_t i = *at; /* a copy, so that the caller's can be in registers */
	uint64_t n = 0;

	if (p->digest) {
		if (!digest_next(p->digest, &i, &n))
			i = p->end;
	} else {
		while (i < p->end && (n = p->count[p->seen ? p->seen[i] : i]) == 0)
			i++;
	}
	*at = i;
	*count = n;
	return i < p->end;
}

/* The code of an entry, for codes. */
static inline uint32_t profile_code(const struct profile *p, uint32_t at)
{
	return p->digest ? codebook_code(&p->type, at) : p->seen[at];
}

/* Leave out the codes of infinities and NaNs, which come before and after the finite ones. */
void profile_keep_finite(struct profile *p);

/*
 * Return the entropy of n samples, the sum of p log2(1/p), or a negative number if n is 0. No term is
 * negative, so nothing cancels. Terms are off by a few units in the last place, whatever libm's
 * log2, and the sum is compensated, so the error for 2^28 bins is below 10^-13; six digits are
 * shown. If all p are powers of two, the sum is exact, and can be halfway between two such texts.
 *
 * If chi_square is not NULL, set it to Pearson's chi square against an equal share of each of the
 * 256 codes of a type of 8 bits, or to a negative number for other types and if n is 0.
 */
double profile_entropy(const struct profile *p, uint64_t n, struct entropy_terms *terms,
		       double *chi_square);

/*
 * For finite codes: count the samples that equal the least and the greatest value, and the values
 * between these that have no sample. -0 and 0 are two codes, but one value.
 */
void profile_ends(const struct profile *p, struct hist_stats *s);

/* The same for integers and a digest whose cells are values. */
void profile_ends_of_cells(const struct profile *p, struct hist_stats *s);

/* Find the quantiles of a channel, whose figures have the number of samples and the extremes. */
void profile_quantiles(const struct profile *p, struct hist *h, uint32_t channel);

#endif
