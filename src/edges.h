/*
 * edges: the definition of the bins. Computed once, on the host; printed so that they read
 * back bit for bit.
 *
 * Float types, and integer types with a fractional LO or HI: numpy.linspace(LO, HI, N+1).
 * Integer types with whole LO and HI: the rationals LO + i(HI-LO)/N, never rounded.
 */
#ifndef GPUHIST_EDGES_H
#define GPUHIST_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binning.h"
#include "number.h"
#include "sample.h"

#define BINS_MAX ((uint32_t)1 << 28)

/* What the user asked for. */
struct edges_spec {
	uint32_t bins;
	bool ranged;       /* lo and hi were given; else LO = 0, HI = N */
	bool full;         /* --range=full */
	bool closed;       /* --closed */
	struct number lo, hi;
};

/* Where the samples of the cell "edge" belong (binning.h). */
enum edge_cell { EDGE_IS_LAST, EDGE_IS_UNDER, EDGE_IS_OVER };

struct edges {
	struct binning binning;  /* the same definition, as arithmetic */
	enum edge_cell edge_cell;
	bool exact;              /* rational edges: these three hold */
	int128_t lo, width;      /* LO and HI - LO */
	double hi;               /* else: the last edge; lo and step are in binning */
	bool closed;             /* the last bin takes HI too */
};

/* -1 when the spec cannot be met for the type; *why is then a text in static storage. */
int edges_init(struct edges *edges, const struct edges_spec *spec, const struct sample_type *type,
	       const char **why);

/* Edge i of N+1, as binary64 (the nearest) and as text. */
double edges_value(const struct edges *edges, uint32_t i);
size_t edges_format(const struct edges *edges, uint32_t i, char text[NUMBER_TEXT]);

/* The cell of a code of an 8- or 16-bit type. */
uint32_t edges_cell_of_code(const struct edges *edges, const struct sample_type *type, uint32_t code);

#endif
