/* SPDX-License-Identifier: MIT */
/*
 * edges: the definition of the bins, computed once, on the host, and printed so that it reads back
 * bit for bit.
 *
 * Float types, and integer types with a fractional LO or HI: numpy.linspace(LO, HI, N+1). Integer
 * types with whole LO and HI: the rationals LO + i(HI-LO)/N, never rounded. Equal ratios: the
 * nearest binary64. Explicit edges: as they are given.
 */
#ifndef GPUHIST_EDGES_H
#define GPUHIST_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "bins/binning.h"
#include "bins/number.h"
#include "bins/sample.h"

#define BINS_MAX ((uint32_t)1 << 28)
#define BINS_DEFAULT 256u
#define BINS_LOG_MAX ((uint32_t)1 << 20)

/* The option that asked for the bins. */
enum axis_kind {
	AXIS_VALUES,  /* --bins alone, of integers: LO = 0, HI = N, so that bin = value */
	AXIS_RANGE,   /* --range */
	AXIS_LOG,     /* --log */
	AXIS_EDGES,   /* --edges */
	AXIS_MOD,     /* --mod: bin = value mod N */
	AXIS_AUTO,    /* --auto: from the samples, 2^k wide, at multiples of 2^k */
	AXIS_RANKS,   /* --log=auto: from the samples, 2^k ranks wide (auto.h) */
	AXIS_DEFAULT, /* of a spec only: axis_settle replaces it */
};

enum axis_spacing {
	SPACING_EVEN,  /* all bins are equally wide */
	SPACING_RATIO, /* all bins are equally wide in the logarithm */
	SPACING_RANKS, /* each power of two has as many bins, from 0 on in both directions */
	SPACING_FREE,
};

/* What the user asked for. */
struct edges_spec {
	uint32_t bins; /* AUTO, RANKS: the most there may be; 0: not asked for */
	enum axis_kind kind;
	bool full;            /* RANGE: all values of the type */
	bool closed;          /* --closed */
	struct number lo, hi; /* RANGE, LOG */
	const double *list;   /* EDGES: bins + 1 of them, finite; owned by the maker of the spec */
	bool definition;      /* EDGES, LOG: nothing will be counted, so no table is made */
};

struct edges;

/* What tells kinds apart. Who writes, reads or adds histograms asks for this, not for a kind. */
struct axis_kind_row {
	const char *name; /* of the option, and in a histogram's metadata */
	/* Bins follow each other as values do, and samples may be under or over; else: residues. */
	bool ordered;
	bool from_samples; /* the samples give the range; edges_spec.bins is the most bins */
	enum axis_spacing spacing;
	uint32_t most; /* bins */
	/* As edges_init, which sets closed, integers and the number of bins before. */
	int (*init)(struct edges *edges, const struct edges_spec *spec,
		    const struct sample_type *type, const char **why);
};

extern const struct axis_kind_row AXIS_KINDS[AXIS_DEFAULT];

/* Which cell the samples of "edge" belong to (binning.h). */
enum edge_cell { EDGE_IS_LAST, EDGE_IS_UNDER, EDGE_IS_OVER };

/* What edge i is, of N bins. */
enum edges_form {
	EDGES_LINEAR,   /* linspace's (binning.linear) */
	EDGES_RATIONAL, /* lo + i width / N, never rounded */
	EDGES_DYADIC,   /* (first + i) 2^k */
	EDGES_RANKS,    /* the number of rank (first + i) 2^k (auto_edge) */
	EDGES_LISTED,
};

struct edges {
	struct binning binning; /* the same definition, as arithmetic */
	enum edge_cell edge_cell;
	enum edges_form form;
	union {
		struct {
			int128_t lo, width; /* LO and HI - LO */
		} rational;
		int64_t first; /* DYADIC, RANKS: the number of the first bin (auto.h) */
		double *list;  /* LISTED: owned */
	};
	bool closed;                /* the last bin takes HI too */
	bool integers;              /* of an integer type: whole edges are written in full */
	int k;                      /* AUTO, RANKS */
	struct auto_bins auto_bins; /* AUTO, RANKS: what the bins hold; else zero */
	uint32_t *table;            /* what binning.table points to, or NULL; owned */
};

/*
 * -1, with nothing to free: *why is edges_no_memory or says why the type cannot have these bins.
 * edges_free comes after the last use of edges and of every copy of edges->binning.
 */
int edges_init(struct edges *edges, const struct edges_spec *spec, const struct sample_type *type,
	       const char **why);
void edges_free(struct edges *edges);
extern const char edges_no_memory[];

/* Copies the definition alone: the copy cannot count by explicit edges. -1: no memory. */
int edges_copy(struct edges *copy, const struct edges *edges);

/*
 * AUTO, RANKS: binning counts in slots (auto.h). When the extent of the samples is known this makes
 * the edges of the histogram, without bins if it is EXTENT_NONE.
 */
void edges_settle(struct edges *edges, const struct extent *extent);

/*
 * AUTO, RANKS: edges_place makes `bins` bins of 2^k, the first of which has the number `first`
 * (auto_bin); edges_first returns that number.
 */
void edges_place(struct edges *edges, int128_t first, uint32_t bins, int k);
int128_t edges_first(const struct edges *edges);

/* Edge i of N+1, as binary64 (the nearest) and as text. */
double edges_value(const struct edges *edges, uint32_t i);
size_t edges_format(const struct edges *edges, uint32_t i, char text[NUMBER_TEXT]);

/* Does each bin hold one whole number? */
static inline bool edges_are_values(const struct edges *e)
{
	return e->form == EDGES_RATIONAL && e->rational.width == e->binning.bins;
}

/* Rational edges (rational.c): makes those from LO to HI, and e->binning, of an integer type. */
void rational_set(struct edges *e, const struct sample_type *type, int128_t lo, int128_t hi);

/*
 * Sets the keys of an integer type that are in the range: values low .. high, as far as the type
 * has them. If it has none, all from `low` on are "edge", folded into `over`, or, if low is past
 * the type's end, all values, folded into `under`.
 */
void rational_keys(struct edges *e, const struct sample_type *type, int128_t low, int128_t high);

/* The bins + 1 edges of equal ratio from lo to hi (powers.c). */
void powers_edges(double *edges, double lo, double hi, uint32_t bins);

/*
 * Explicit edges as arithmetic (table.c): makes e->binning that of its bins between the edges of
 * the list, which rise and are finite, and e->table its memory. Where no sample of the type is in
 * the range, the samples below it or those above it are in the cell "edge", and e->edge_cell says
 * which. -1: no memory.
 */
int table_init(struct edges *e, const double *list, const struct sample_type *type);

/* The cell of a code of an 8- or 16-bit type. */
uint32_t edges_cell_of_code(const struct edges *edges, const struct sample_type *type,
			    uint32_t code);

#endif
