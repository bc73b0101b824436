/* hist: from cells to bins, and the sum that must come out. */
#include "hist.h"

#include <stdlib.h>

static const struct {
	const char *name;
	uint32_t bytes;
	uint64_t max;
} COUNTERS[] = {
	[COUNTER_U64] = {"u64", 8, UINT64_MAX},
	[COUNTER_U32] = {"u32", 4, UINT32_MAX},
	[COUNTER_SAT8] = {"sat8", 1, UINT8_MAX},
	[COUNTER_SAT16] = {"sat16", 2, UINT16_MAX},
	[COUNTER_SAT32] = {"sat32", 4, UINT32_MAX},
};

uint64_t counter_max(enum counter_kind kind)
{
	return COUNTERS[kind].max;
}

uint32_t counter_bytes(enum counter_kind kind)
{
	return COUNTERS[kind].bytes;
}

const char *counter_name(enum counter_kind kind)
{
	return COUNTERS[kind].name;
}

/* count[] has room for bins + CELL_EXTRA cells. */
static void bin_codes(uint64_t *count, const struct counts *codes, const struct edges *edges,
		     const struct sample_type *type)
{
	for (uint32_t code = 0; code < codes->cells; code++) {
		if (codes->cell[code] == 0)
			continue;
		/* Codes are counted as they lie in memory, read little endian. */
		const uint32_t value = type->big ? (code & 255) << 8 | code >> 8 : code;
		count[edges_cell_of_code(edges, type, value)] += codes->cell[code];
	}
}

int hist_reserve(struct hist *h, const struct edges *edges, const struct sample_type *type,
		 struct fail *fail)
{
	*h = (struct hist){.bins = edges->binning.bins};
	if (type->bytes > 2) /* the totals themselves will do */
		return 0;
	h->count = calloc((size_t)h->bins + CELL_EXTRA, sizeof(*h->count));
	if (!h->count)
		return fail_errno(fail, "counts of %lu bins", (unsigned long)h->bins);
	return 0;
}

void hist_fill(struct hist *h, struct counts *counts, const struct edges *edges,
	       const struct sample_type *type, bool clamp)
{
	const uint32_t bins = h->bins;

	h->samples = counts->samples;
	if (type->bytes <= 2) {
		bin_codes(h->count, counts, edges, type);
	} else {
		h->count = counts->cell;
		counts->cell = NULL;
		pthread_mutex_destroy(&counts->lock);
	}
	const uint64_t edge = h->count[bins];
	h->under = h->count[cell_under(&edges->binning)];
	h->over = h->count[cell_over(&edges->binning)];
	h->nan = h->count[cell_nan(&edges->binning)];
	*(edges->edge_cell == EDGE_IS_LAST    ? &h->count[bins - 1]
	  : edges->edge_cell == EDGE_IS_UNDER ? &h->under
					      : &h->over) += edge;
	if (clamp) {
		h->count[0] += h->under;
		h->count[bins - 1] += h->over;
		h->under = h->over = 0;
	}
}

void hist_free(struct hist *h)
{
	free(h->count);
	h->count = NULL;
}

int hist_audit(const struct hist *h, struct fail *fail)
{
	uint64_t sum = h->under + h->over + h->nan;

	for (uint32_t i = 0; i < h->bins; i++)
		sum += h->count[i];
	if (sum == h->samples)
		return 0;
	return fail_set(fail, STATUS_INTERNAL,
			"internal error: %llu samples were read, %llu were counted: please report this",
			(unsigned long long)h->samples, (unsigned long long)sum);
}

uint64_t hist_exceeding(const struct hist *h, enum counter_kind kind)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < h->bins; i++)
		n += h->count[i] > counter_max(kind);
	return n;
}
