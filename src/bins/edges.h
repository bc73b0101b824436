/* SPDX-License-Identifier: MIT */
/*
 * edges: the definition of the bins, computed once, on the host, and printed so that it reads back
 * bit for bit.
 *
 * The edges of a range are numpy.linspace(LO, HI, N+1), but for integer types with whole LO and HI
 * they are the rationals LO + i(HI-LO)/N, never rounded. Edges of equal ratio are the nearest
 * binary64. Explicit edges are used as given.
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

/* The option that chose the bins. */
enum axis_kind {
	AXIS_VALUES,  /* --bins alone, for integers: LO = 0, HI = N, so that bin = value */
	AXIS_RANGE,   /* --range */
	AXIS_LOG,     /* --log */
	AXIS_EDGES,   /* --edges */
	AXIS_MOD,     /* --mod: bin = value mod N */
	AXIS_AUTO,    /* --auto: from the samples, 2^k wide, at multiples of 2^k */
	AXIS_RANKS,   /* --log=auto: from the samples, 2^k ranks wide (auto.h) */
	AXIS_DEFAULT, /* no option; axis_complete replaces it */
};

enum axis_spacing {
	SPACING_EVEN,  /* bins of equal width */
	SPACING_RATIO, /* bins of equal ratio */
	SPACING_RANKS, /* the same number of bins for each power of two, either sign; zero */
	SPACING_FREE,
};

/* The user's request, without the type. */
struct axis_spec {
	uint32_t bins; /* AUTO, RANKS: limit of the number of bins; 0: not given */
	enum axis_kind kind;
	bool full;            /* RANGE: all values of the type */
	bool closed;          /* --closed */
	bool clamp;           /* --clamp */
	struct number lo, hi; /* RANGE, LOG */
	const double *list;   /* EDGES: bins + 1 finite edges; borrowed */
	bool definition;      /* EDGES, LOG: no sample will be counted, so no table is needed */
};

struct edges;

/*
 * The properties of a kind. Code that writes, reads or adds histograms tests these, not the kind.
 */
struct axis_kind_row {
	const char *name;  /* of the option, and in a histogram's metadata */
	bool ordered;      /* bins are in the order of values, and samples may be under or over */
	bool from_samples; /* the samples determine the range, and axis_spec.bins is a limit */
	enum axis_spacing spacing;
	uint32_t most; /* limit of the number of bins */
	/* Like edges_init, which has set closed, integers and the number of bins. */
	int (*init)(struct edges *edges, const struct axis_spec *spec,
		    const struct sample_type *type, const char **why);
};

extern const struct axis_kind_row AXIS_KINDS[AXIS_DEFAULT];

/* The cell to which samples in the cell "edge" (binning.h) are added: the last bin, under, over. */
enum edge_cell { EDGE_IS_LAST, EDGE_IS_UNDER, EDGE_IS_OVER };

/* How edge i of N bins is computed. */
enum edges_form {
	EDGES_LINEAR,   /* by linspace's formula (binning.linear) */
	EDGES_RATIONAL, /* lo + i width / N, never rounded */
	EDGES_DYADIC,   /* (first + i) 2^k, by the span */
	EDGES_RANKS,    /* the edges of a span (auto_edge) */
	EDGES_LISTED,
};

struct edges {
	struct binning binning; /* the rule that finds a sample's cell */
	enum edge_cell edge_cell;
	enum edges_form form;
	union {
		struct {
			int128_t lo, width; /* LO and HI - LO */
		} rational;
		double *list; /* LISTED: owned */
	};
	bool closed;           /* the last bin includes HI */
	bool integers;         /* the type is an integer type: print all digits of whole edges */
	struct auto_span span; /* AUTO, RANKS: the bins */
	struct auto_bins auto_bins; /* AUTO, RANKS; else zero */
	uint32_t *table;            /* memory that binning.table points to, or NULL; owned */
};

/*
 * -1: *why is edges_no_memory or says why the type cannot have these bins; nothing needs to be
 * freed. Call edges_free after the last use of the edges and of every copy of edges->binning.
 */
int edges_init(struct edges *edges, const struct axis_spec *spec, const struct sample_type *type,
	       const char **why);
void edges_free(struct edges *edges);
extern const char edges_no_memory[];

/* Copy the edges without the table, so the copy cannot count by explicit edges. -1: no memory. */
int edges_copy(struct edges *copy, const struct edges *edges);

/*
 * AUTO, RANKS: until the extent of all samples is known, the rule counts in slots (auto.h). Make
 * the final edges for this extent; for EXTENT_NONE there are no bins.
 */
void edges_place_for(struct edges *edges, const struct extent *extent);

/* AUTO, RANKS: make the bins of a span. */
void edges_place(struct edges *edges, const struct auto_span *span);

/* Return edge i of N+1 as the nearest binary64. */
double edges_value(const struct edges *edges, uint32_t i);

/* Do all edges differ as binary64? Those of integers may be closer. */
bool edges_distinct(const struct edges *edges);

/* Write edge i as text; return its length. */
size_t edges_format(const struct edges *edges, uint32_t i, char text[NUMBER_TEXT]);

/* Does each bin hold one whole number? */
static inline bool edges_are_values(const struct edges *e)
{
	return e->form == EDGES_RATIONAL && e->rational.width == e->binning.bins;
}

/* Make rational edges from LO to HI for an integer type, and e->binning (rational.c). */
void rational_set(struct edges *e, const struct sample_type *type, int128_t lo, int128_t hi);

/*
 * Set the keys that are in the range: the type's values from low to high. If the type has no such
 * value, BIN_NONE puts every value from `low` up into the cell "edge", which counts as over; if low
 * is past the type's last value, it puts all values there, and "edge" counts as under.
 */
void rational_keys(struct edges *e, const struct sample_type *type, int128_t low, int128_t high);

/* Compute the bins + 1 edges of equal ratio from lo to hi (powers.c). */
void powers_edges(double *edges, double lo, double hi, uint32_t bins);

/*
 * Make e->binning for the bins between the edges of a list, which rise and are finite, and e->table
 * (table.c). If the range contains no value of the type, the samples below it or above it are
 * counted in the cell "edge"; e->edge_cell says which. -1: no memory.
 */
int table_init(struct edges *e, const double *list, const struct sample_type *type);

/* Return the cell of a code of an 8- or 16-bit type. */
uint32_t edges_cell_of_code(const struct edges *edges, const struct sample_type *type,
			    uint32_t code);

#endif
