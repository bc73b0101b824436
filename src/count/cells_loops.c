/* SPDX-License-Identifier: MIT */
/*
 * cells_loops: the loops of cells.h, compiled once for each instruction set, with ISA set to its
 * name. They are plain C that the compiler can vectorise: one sample in, one cell out, and no
 * branch in between for the common kinds.
 *
 * load and kind are constants in every caller, so each function compiles to one straight loop.
 */
#include <stdbool.h>

#include "base/little.h"
#include "base/loops.h"
#include "count/cells.h"

/* ---- samples ---- */

/* In enum cells_load, each little-endian load precedes the big-endian one. */
BINNING_INLINE bool is_big(enum cells_load load)
{
	return load % 2 == 1;
}

BINNING_INLINE bool is_real(enum cells_load load)
{
	return load >= LOAD_F32;
}

BINNING_INLINE bool is_wide(enum cells_load load)
{
	return load == LOAD_KEY64 || load == LOAD_KEY64_BIG || load == LOAD_F64 ||
	       load == LOAD_F64_BIG;
}

BINNING_INLINE size_t bytes_of(enum cells_load load)
{
	return load <= LOAD_KEY24_BIG ? 3 : is_wide(load) ? 8 : 4;
}

BINNING_INLINE uint32_t word32(const unsigned char *p, enum cells_load load)
{
	return (uint32_t)word_at(p, load <= LOAD_KEY24_BIG ? 3 : 4, is_big(load));
}

BINNING_INLINE uint64_t word64(const unsigned char *p, enum cells_load load)
{
	return word_at(p, 8, is_big(load));
}

/* ---- explicit edges ----
 *
 * The steps of one bisection depend on each other, so a block of samples takes each step together.
 */

#define STRIDE 256u /* samples that take each step together; their state stays in L1 */

/* Return the cell of a sample that is out of range, or 0 for a sample in the range. */
BINNING_INLINE uint32_t outside_of(const struct binning *b, bool inside, bool is_nan, bool below)
{
	return inside ? 0 : is_nan ? cell_nan(b) : below ? cell_under(b) : cell_over(b);
}

/* A sample out of range takes the steps of the nearest sample in the range. */
BINNING_INLINE void table_stride(const struct binning *b, const unsigned char *p, size_t n,
				 uint32_t *restrict cells, enum cells_load load)
{
	const uint32_t *const guide = (const uint32_t *)(uintptr_t)b->table.at;
	const uint32_t *const below32 = guide + table_guide_words(&b->table);
	const uint64_t *const below64 = (const uint64_t *)(const void *)below32;
	const uint64_t first = b->first, span = b->span, bias = b->bias;
	const uint32_t first32 = (uint32_t)first, span32 = (uint32_t)span, bias32 = (uint32_t)bias;
	const bool real = is_real(load), wide = is_wide(load);
	const size_t size = bytes_of(load);
	uint32_t e32[STRIDE], outside[STRIDE];
	uint64_t e64[STRIDE];

	for (size_t i = 0; i < n && wide; i++) {
		const uint64_t word = word64(p + size * i, load);
		const uint64_t key = real ? key64_of_double(word) : word ^ bias, e = key - first;
		const double x = real ? double_of_bits(word) : (double)e;
		outside[i] = outside_of(b, e <= span, x != x, key < first);
		e64[i] = e;
		cells[i] = table_entry64(&b->table, x);
	}
	for (size_t i = 0; i < n && !wide; i++) {
		const uint32_t word = word32(p + size * i, load);
		const uint32_t key = real ? key32_of_float(word) : word ^ bias32, e = key - first32;
		const float x = real ? float_of_bits(word) : (float)e;
		outside[i] = outside_of(b, e <= span32, x != x, key < first32);
		e32[i] = e;
		cells[i] = table_entry32(&b->table, x);
	}
	for (size_t i = 0; i < n; i++)
		cells[i] = guide[(int32_t)cells[i]];
	for (uint32_t half = b->table.half; half > 0; half /= 2) {
		for (size_t i = 0; i < n && wide; i++)
			/* cppcheck-suppress uninitvar */
			cells[i] += e64[i] > below64[(int32_t)(cells[i] + half - 1)] ? half : 0;
		for (size_t i = 0; i < n && !wide; i++)
			/* cppcheck-suppress uninitvar */
			cells[i] += e32[i] > below32[(int32_t)(cells[i] + half - 1)] ? half : 0;
	}
	for (size_t i = 0; i < n; i++)
		cells[i] = outside[i] ? outside[i] : cells[i];
}

BINNING_INLINE void table_loop(const struct binning *b, const unsigned char *p, size_t n,
			       uint32_t *restrict cells, enum cells_load load)
{
	for (size_t some; n > 0; n -= some, p += bytes_of(load) * some, cells += some) {
		some = n < STRIDE ? n : STRIDE;
		table_stride(b, p, some, cells, load);
	}
}

/* ---- ranks ---- */

BINNING_INLINE bool rank_loop(const struct binning *b, const unsigned char *p, size_t n,
			      uint32_t *restrict cells, enum cells_load load)
{
	const bool real = is_real(load);
	const uint32_t low = b->rank.low, inner = b->rank.inner, bias = (uint32_t)b->bias;
	uint32_t far = 0, near = UINT32_MAX;

	for (size_t i = 0; i < n; i++, p += bytes_of(load)) {
		uint32_t bin;
		if (is_wide(load))
			cells[i] = real ? bin_rank_double(b, word64(p, load), &bin)
					: bin_rank_key64(b, word64(p, load) ^ b->bias, &bin);
		else
			cells[i] = real ? bin_rank_single(b, word32(p, load), &bin)
					: bin_rank_key32(b, word32(p, load) ^ bias, &bin);
		far = bin - low > far ? bin - low : far;
		near = bin - inner < near ? bin - inner : near;
	}
	return far <= b->rank.span && near >= b->rank.gap;
}

/* ---- all other kinds ---- */

BINNING_INLINE bool loop(const struct binning *b, const unsigned char *p, size_t n,
			 uint32_t *restrict cells, enum cells_load load, uint32_t kind)
{
	const struct binning local = *b; /* a copy, which no store through cells can change */
	const uint32_t bias = (uint32_t)local.bias;
	const size_t size = bytes_of(load);

	if (kind == BIN_RANK)
		return rank_loop(&local, p, n, cells, load);
	if (kind == BIN_TABLE) {
		table_loop(&local, p, n, cells, load);
		return true;
	}
	for (size_t i = 0; i < n; i++, p += size) {
		if (is_wide(load)) {
			const uint64_t word = word64(p, load);
			cells[i] = !is_real(load) ? bin_key64(&local, kind, word ^ local.bias)
						  : bin_float(&local, kind, double_of_bits(word));
		} else {
			const uint32_t word = word32(p, load);
			cells[i] = !is_real(load) ? bin_key32(&local, kind, word ^ bias)
				   : kind == BIN_SLOT
					   ? bin_slot_single(&local, float_of_bits(word), word)
					   : bin_float(&local, kind, (double)float_of_bits(word));
		}
	}
	return true;
}

/* ---- extents ---- */

/*
 * NaN and infinities, whose exponents are all ones, change neither end. There are masks instead of
 * branches, so that the loop vectorises.
 *
 * signs: also find the samples next to zero, as their distances from it, less 1, which are unsigned
 * numbers: samples of the other sign and zero are then larger than all others, and so are infinity
 * and NaN.
 */
#define EXTENT(bits)                                                                             \
	BINNING_INLINE struct extent extent##bits(const unsigned char *p, size_t n,              \
						  uint##bits##_t bias, enum cells_load load,     \
						  bool signs)                                    \
	{                                                                                        \
		const uint##bits##_t all = ~(uint##bits##_t)0, top = all / 2;                    \
		const bool real = is_real(load);                                                 \
		uint##bits##_t least = all, greatest = 0, up = all, down = all;                  \
		for (size_t i = 0; i < n; i++) {                                                 \
			const uint##bits##_t word = word##bits(p + bytes_of(load) * i, load);    \
			const uint##bits##_t sign = 0 - (word >> (bits - 1));                    \
			const uint##bits##_t finite =                                            \
				0 - (uint##bits##_t)(!real || (word & top) < bias);              \
			const uint##bits##_t key = word ^ (real ? sign | (top + 1) : bias);      \
			const uint##bits##_t low = key | ~finite, high = key & finite;           \
			const uint##bits##_t over = (real ? word : key - bias) - 1;              \
			const uint##bits##_t under = (real ? word ^ (top + 1) : bias - key) - 1; \
			least = low < least ? low : least;                                       \
			greatest = high > greatest ? high : greatest;                            \
			up = signs && over < up ? over : up;                                     \
			down = signs && under < down ? under : down;                             \
		}                                                                                \
		const uint##bits##_t zero = real ? top + 1 : bias, minus = zero - real,          \
				     most = real ? bias - 1 : bias;                              \
		if (least > greatest)                                                            \
			return EXTENT_NONE;                                                      \
		return (struct extent){.least = least,                                           \
				       .greatest = greatest,                                     \
				       .below = down < most ? minus - 1 - down : 0,              \
				       .above = greatest > zero ? zero + 1 + up : UINT64_MAX};   \
	}
EXTENT(32)
EXTENT(64)

/* ---- a function for each load and each kind that has loops for it (BIN_KIND_LIST) ---- */

#define LOOP_0(load, kind)
#define LOOP_1(load, kind)                                                                   \
	static bool load##_##kind(const struct binning *b, const unsigned char *p, size_t n, \
				  uint32_t *cells)                                           \
	{                                                                                    \
		return loop(b, p, n, cells, LOAD_##load, BIN_##kind);                        \
	}
#define KEY32_LOOP(load, kind, key32, key64, real) LOOP_##key32(load, kind)
#define KEY64_LOOP(load, kind, key32, key64, real) LOOP_##key64(load, kind)
#define FLOAT_LOOP(load, kind, key32, key64, real) LOOP_##real(load, kind)

#define ENTRY_0(load, kind) NULL
#define ENTRY_1(load, kind) load##_##kind
#define KEY32_ENTRY(load, kind, key32, key64, real) ENTRY_##key32(load, kind),
#define KEY64_ENTRY(load, kind, key32, key64, real) ENTRY_##key64(load, kind),
#define FLOAT_ENTRY(load, kind, key32, key64, real) ENTRY_##real(load, kind),

#define FUNCTIONS(load, bits, group)                                                           \
	BIN_KIND_LIST(group##_LOOP, load)                                                      \
	static struct extent extent_of_##load(const unsigned char *p, size_t n, uint64_t bias) \
	{                                                                                      \
		return extent##bits(p, n, (uint##bits##_t)bias, LOAD_##load, false);           \
	}                                                                                      \
	static struct extent signs_of_##load(const unsigned char *p, size_t n, uint64_t bias)  \
	{                                                                                      \
		return extent##bits(p, n, (uint##bits##_t)bias, LOAD_##load, true);            \
	}
#define CELLS_ROW(load, bits, group) [LOAD_##load] = {BIN_KIND_LIST(group##_ENTRY, load)},
#define EXTENT_ROW(load, bits, group) [LOAD_##load] = {extent_of_##load, signs_of_##load},

CELLS_LOADS(FUNCTIONS)

const struct cells_isa FOR_ISA(cells_) = {
	.cells = {CELLS_LOADS(CELLS_ROW)},
	.extent = {CELLS_LOADS(EXTENT_ROW)},
};
