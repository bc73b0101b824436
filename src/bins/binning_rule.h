/* SPDX-License-Identifier: MIT */
/* binning_rule: the kinds of bins, their parameters, and the numbers of cells. */
#ifndef GPUHIST_BINNING_RULE_H
#define GPUHIST_BINNING_RULE_H

#include <math.h>
#include <stdint.h>

#include "wide.h"

#ifdef __CUDACC__
#define BINNING_INLINE static __device__ __forceinline__
#define BINNING_MUL(a, b) __dmul_rn((a), (b))
#define BINNING_ADD(a, b) __dadd_rn((a), (b))
#define BINNING_MUL_FLOAT(a, b) __fmul_rn((a), (b))
#define BINNING_ADD_FLOAT(a, b) __fadd_rn((a), (b))
#define BINNING_LOAD(p) __ldg(p)
#else
#define BINNING_INLINE static inline __attribute__((always_inline))
#define BINNING_MUL(a, b) ((a) * (b))
#define BINNING_ADD(a, b) ((a) + (b))
#define BINNING_MUL_FLOAT(a, b) ((a) * (b))
#define BINNING_ADD_FLOAT(a, b) ((a) + (b))
#define BINNING_LOAD(p) (*(p))
#endif

/*
 * One row for each kind, with 1 or 0 for each group of loops: keys of 32 bits, keys of 64 bits,
 * floats. Enum bin_kind and the loops of each instruction set (cells_loops.c) are made from this
 * list. X is called with `with`, then the row.
 *
 *   SHIFT   integers: every bin is 2^by values wide
 *   MAGIC   integers: floor(d N / W) by one multiplication, exact for W <= 2^32
 *   RATIO   integers: floor(d N / W) by a guess and a comparison in 128 bits
 *   LINEAR  edges LO + i step in binary64: guess the nearest edge, then compare
 *   SEARCH  the same edges if no guess can be trusted: bisection
 *   NONE    integers: no value is in the range; every key from `first` up is "edge"
 *   TABLE   explicit edges in memory: a guide, then bisection among the edges that remain
 *   MOD     integers: value mod N
 *   SLOT    bins of 2^k whose range is not known yet: bin j is counted in slot j mod W (auto.h)
 *   RANK    the same for bins of 2^k ranks, and zero
 */
#define BIN_KIND_LIST(X, with)   \
	X(with, SHIFT, 1, 1, 0)  \
	X(with, MAGIC, 1, 0, 0)  \
	X(with, RATIO, 1, 1, 0)  \
	X(with, LINEAR, 1, 1, 1) \
	X(with, SEARCH, 1, 1, 1) \
	X(with, NONE, 1, 1, 0)   \
	X(with, TABLE, 1, 1, 1)  \
	X(with, MOD, 1, 1, 0)    \
	X(with, SLOT, 1, 1, 1)   \
	X(with, RANK, 1, 1, 1)

#define BIN_KIND_MEMBER(with, kind, ...) BIN_##kind,
enum bin_kind { BIN_KIND_LIST(BIN_KIND_MEMBER, ) BIN_KINDS };
#undef BIN_KIND_MEMBER

/* The parameters of each kind; LINEAR and SEARCH have the same. */
struct bin_shift {
	uint64_t base; /* d = key - first + base is the distance from LO */
	uint32_t by;
};

struct bin_magic {
	uint64_t base;       /* d = key - first + base is the distance from LO */
	uint64_t multiplier; /* ceil(2^64 N / W) */
};

struct bin_ratio {
	uint64_t width[2];  /* W, low half first; C and CUDA align 128-bit members differently */
	uint64_t offset[2]; /* (value(first) - LO) N */
	double scale;       /* bins per unit of the sample, for the guess */
	double guess;       /* the guess at e = 0 */
};

struct bin_linear {
	double lo;   /* edge i is (i step + lo) unit; edge 0 is LO */
	double last; /* the largest binary64 in the range */
	double step;
	double unit;  /* 1, or 2 if HI - LO overflows and lo and step are halved */
	double scale; /* LINEAR: bins per unit of the sample, for the guess */
	double hi;    /* edge N */
};

/*
 * Edges by their keys (table.c). A sample in the range, at distance e = key - first, has entry g of
 * the guide (table_entry32, table_entry64). Its bin is guide[g] plus the number of keys from there
 * on that e is above.
 */
struct bin_table {
	uint32_t guide;     /* 32-bit entries of the guide; the keys follow at an even entry */
	uint32_t half;      /* 2^(steps - 1) of the bisection; 0: no step */
	uint32_t shift;     /* g = (the distance's bits as a float >> shift) - origin */
	uint32_t origin;    /* makes g = 0 at the distance `least` */
	double lo;          /* floats: the first value of the range; integers: -1 */
	double least, most; /* a distance outside these has the entry of the nearer one */
	uint64_t words;     /* 32-bit words of the guide and the keys together */
	uint64_t at;        /* address of these words; on a device, in its memory */
};

/* The value of a key is key - bias, and mod N that is (key mod N + add) mod N. */
struct bin_mod {
	uint64_t multiplier; /* floor((2^w - 1) / N) for keys of w bits, 32 or 64 */
	uint64_t add;        /* -bias mod N */
};

/* b->bins is W, a power of two. */
struct bin_slot {
	double scale[2]; /* floats: x scale[0] scale[1] is x 2^-k; both are powers of two */
	double slots;    /* W */
	double inverse;  /* 1 / W */
	uint32_t shift;  /* integers: the bin is key >> shift */
	uint32_t mask;   /* W - 1 */
};

/*
 * The bins of --log=auto (auto.h). First come the slots of the bins below 0, which unsigned types
 * do not have, then the slot of zero, then the slots of the bins above 0.
 */
struct bin_rank {
	uint32_t shift;  /* floats: bin = rank >> shift; integers: 2^shift powers are joined */
	uint32_t digits; /* integers: binary digits after a value's first that identify its bin */
	uint32_t before; /* floats of 8 bytes: bins of 64-bit ranks below 0, mod 2^32; integers: */
			 /* bins below the bin of 1, less 1 */
	uint32_t mask;   /* W - 1 */
	uint32_t above;  /* slots that precede the bins above 0 */
	/*
	 * The bins that are known to hold samples, mod 2^32 (auto_know): from `low` to low + span,
	 * except `gap` bins from `inner` up, next to zero.
	 */
	uint32_t low, span, inner, gap;
	uint32_t unknown; /* 1: there are no zeros yet; their bin is then low - 1 (else low) */
};

/* The complete rule, for a counting loop or a kernel: plain data, passed by value to the GPU. */
struct binning {
	uint32_t kind;      /* enum bin_kind */
	uint32_t bins;      /* N */
	uint32_t is_signed; /* keys of a signed type: value = key - 2^(bits-1) */
	uint64_t bias;      /* 2^(bits-1) for a signed type, else 0 */
	uint64_t first;     /* integers, TABLE: the smallest key in the range */
	uint64_t span;      /* integers, TABLE: keys with key - first <= span are in the range */
	union {             /* by kind */
		struct bin_shift shift;
		struct bin_magic magic;
		struct bin_ratio ratio;
		struct bin_linear linear;
		struct bin_table table;
		struct bin_mod mod;
		struct bin_slot slot;
		struct bin_rank rank;
	};
};

/* Is the range still unknown? */
BINNING_INLINE int binning_is_open(const struct binning *b)
{
	return b->kind == BIN_SLOT || b->kind == BIN_RANK;
}

#define CELL_EXTRA 4u /* edge, under, over, NaN */

BINNING_INLINE uint32_t cell_under(const struct binning *b)
{
	return b->bins + 1;
}

BINNING_INLINE uint32_t cell_over(const struct binning *b)
{
	return b->bins + 2;
}

BINNING_INLINE uint32_t cell_nan(const struct binning *b)
{
	return b->bins + 3;
}

BINNING_INLINE uint32_t bits_of_float(float x)
{
	uint32_t bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}

BINNING_INLINE uint64_t bits_of_double(double x)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}

BINNING_INLINE float float_of_bits(uint32_t bits)
{
	float x;
	__builtin_memcpy(&x, &bits, sizeof(x));
	return x;
}

BINNING_INLINE double double_of_bits(uint64_t bits)
{
	double x;
	__builtin_memcpy(&x, &bits, sizeof(x));
	return x;
}

#endif
