/* SPDX-License-Identifier: MIT */
/*
 * bin_kinds: the kinds of bins, and what each of them has to know of a job. How a sample is
 * compared with them is in binning.h. The C compiler and nvcc compile this same text.
 */
#ifndef GPUHIST_BIN_KINDS_H
#define GPUHIST_BIN_KINDS_H

#include <stdint.h>

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
 * One row for each kind: its name; whether there are loops for keys of 32 bits, for keys of 64 bits
 * and for floats (1 or 0); the end of the name of the kernel that counts it alone, for integers and
 * for floats of 32 bits, if there is one. Enum bin_kind, the loops of each instruction set
 * (cells_loops.c) and the choice of a kernel (driver/kernel.c) are made from this list. X is called
 * with the argument `with`, then the row.
 *
 *   SHIFT   integers: every bin is 2^by values wide
 *   MAGIC   integers: floor(d N / W) by one multiplication, exact for W <= 2^32
 *   RATIO   integers: floor(d N / W) by a guess and a comparison in 128 bits
 *   LINEAR  edges LO + i step in binary64: the nearest edge is guessed, then compared
 *   SEARCH  the same edges where no guess can be trusted: bisection
 *   NONE    integers: no value is in the range; every key from first on is "edge"
 *   TABLE   explicit edges, in memory: a guide, then bisection between the edges that it leaves
 *   MOD     integers: value mod N
 *   SLOT    bins of 2^k whose range is not known yet: bin j is counted in slot j mod W (auto.h)
 */
#define BIN_KIND_LIST(X, with)                           \
	X(with, SHIFT, "shift", 1, 1, 0, "shift", "")    \
	X(with, MAGIC, "magic", 1, 0, 0, "magic", "")    \
	X(with, RATIO, "ratio", 1, 1, 0, "", "")         \
	X(with, LINEAR, "linear", 1, 1, 1, "", "linear") \
	X(with, SEARCH, "search", 1, 1, 1, "", "")       \
	X(with, NONE, "none", 1, 1, 0, "", "")           \
	X(with, TABLE, "table", 1, 1, 1, "", "")         \
	X(with, MOD, "mod", 1, 1, 0, "", "")             \
	X(with, SLOT, "slot", 1, 1, 1, "", "")

#define BIN_KIND_MEMBER(with, kind, ...) BIN_##kind,
enum bin_kind { BIN_KIND_LIST(BIN_KIND_MEMBER, ) BIN_KINDS };
#undef BIN_KIND_MEMBER

/* What each kind has to know; LINEAR and SEARCH know the same. */
struct bin_shift {
	uint64_t base; /* d = key - first + base is the distance from LO */
	uint32_t by;
};

struct bin_magic {
	uint64_t base;       /* the same */
	uint64_t multiplier; /* ceil(2^64 N / W) */
};

struct bin_ratio {
	uint64_t width[2];  /* W, low half first (no 128-bit member: alignment differs) */
	uint64_t offset[2]; /* (value(first) - LO) N */
	double scale;       /* bins per unit of the sample, for the guess */
	double guess;       /* at e = 0 */
};

struct bin_linear {
	double lo;   /* edge i is (i step + lo) unit; edge 0 and the ... */
	double last; /* ... largest binary64 in the range */
	double step;
	double unit;  /* 1, or 2 where HI - LO overflows and lo, step are halved */
	double scale; /* LINEAR: bins per unit of the sample, for the guess */
	double hi;    /* edge N */
};

/*
 * Edges by their keys (table.h). A sample in the range, at distance e = key - first, has the entry
 * g of the guide (table_entry_...). Its bin is guide[g] plus the number of keys, from there on,
 * that e is above.
 */
struct bin_table {
	uint32_t guide;    /* 32-bit entries of the guide; the keys follow, from an even entry on */
	uint32_t half;     /* 2^(steps - 1) of the bisection; 0: no step is needed */
	uint32_t shift;    /* g = e >> shift ... */
	uint32_t by_value; /* ... or, for floats, g = floor((x - lo) scale) */
	/* ... or, for integers, g = (bits of e + from as a float) >> shift, less those at e = 0 */
	uint32_t by_ratio;
	uint32_t spare;   /* so that the struct has no padding here */
	uint64_t from;    /* the first value of the range, or 1, or 0: e + from fits a key */
	uint64_t origin;  /* bits of from as a float, >> shift */
	double lo, scale; /* in binary32 if the samples are */
	uint64_t words;   /* of 32 bits, in all */
	uint64_t at;      /* their address; in the rule of a kernel, in its device's memory */
};

/* A value is its key - bias; mod N that is (key mod N + add) mod N. */
struct bin_mod {
	uint64_t multiplier; /* floor((2^w - 1) / N) for keys of w bits, 32 or 64 */
	uint64_t add;        /* -bias mod N */
};

/* b->bins is W, a power of two. */
struct bin_slot {
	double scale[2]; /* floats: x scale[0] scale[1] is x 2^-k; each is a power of two */
	double slots;    /* W */
	double inverse;  /* 1 / W */
	uint32_t shift;  /* integers: the bin is key >> shift */
	uint32_t mask;   /* W - 1 */
};

/* All that a kernel or a counting loop has to know: plain data, passed by value to the GPU. */
struct binning {
	uint32_t kind;      /* enum bin_kind */
	uint32_t bins;      /* N */
	uint32_t is_signed; /* keys of a signed type: value = key - 2^(bits-1) */
	uint64_t bias;      /* 2^(bits-1) for a signed type, else 0 */
	uint64_t first;     /* integers, TABLE: smallest key in the range */
	uint64_t span;      /* integers, TABLE: in the range when key - first <= span */
	union {             /* by kind */
		struct bin_shift shift;
		struct bin_magic magic;
		struct bin_ratio ratio;
		struct bin_linear linear;
		struct bin_table table;
		struct bin_mod mod;
		struct bin_slot slot;
	};
};

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

#endif
