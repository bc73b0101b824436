/* hist: the finished histogram: exact counts, what was out of range, and the audit. */
#ifndef GPUHIST_HIST_H
#define GPUHIST_HIST_H

#include <stdbool.h>
#include <stdint.h>

#include "count.h"
#include "edges.h"
#include "fail.h"
#include "sample.h"

/* What -C writes. */
enum counter_kind { COUNTER_U64, COUNTER_U32, COUNTER_SAT8, COUNTER_SAT16, COUNTER_SAT32 };

struct hist {
	uint32_t bins;
	uint64_t *count; /* bins of them; owned */
	uint64_t under, over, nan;
	uint64_t samples; /* as the workers counted them while reading */
};

/* Takes the memory that hist_fill will need, before hours are spent on reading. */
int hist_reserve(struct hist *h, const struct edges *edges, const struct sample_type *type,
		 struct fail *fail);

/*
 * Takes the totals of a finished run and leaves counts empty. Codes are binned here; the
 * edge cell is folded; with clamp, under and over go to the first and the last bin.
 */
void hist_fill(struct hist *h, struct counts *counts, const struct edges *edges,
	       const struct sample_type *type, bool clamp);

/* Takes what hist_reserve or hist_fill left. */
void hist_free(struct hist *h);

/* bins + under + over + nan = samples, or STATUS_INTERNAL. */
int hist_audit(const struct hist *h, struct fail *fail);

/* The largest count that a counter holds, and its bytes. */
uint64_t counter_max(enum counter_kind kind);
uint32_t counter_bytes(enum counter_kind kind);
const char *counter_name(enum counter_kind kind);

/* How many bins hold more than the counter. */
uint64_t hist_exceeding(const struct hist *h, enum counter_kind kind);

#endif
