/* SPDX-License-Identifier: MIT */
/*
 * cells_loops: the loops of cells.h, compiled once for each instruction set with ISA set
 * to its name. The loops are plain C; they are written so that the compiler vectorises them:
 * one sample in, one cell out, no branch in between for the kinds that matter.
 */
#include <stdbool.h>
#include <string.h>

#include "base/little.h"
#include "count/cells.h"

#ifndef ISA
#define ISA base
#endif
#define PASTE(a, b) a##_##b
#define NAME(a, b) PASTE(a, b)

BINNING_INLINE uint32_t load24(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

BINNING_INLINE uint32_t load24_big(const unsigned char *p)
{
	return (uint32_t)p[2] | (uint32_t)p[1] << 8 | (uint32_t)p[0] << 16;
}

BINNING_INLINE double double_of(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

BINNING_INLINE float single_of(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* ---- explicit edges: steps of one bisection depend on each other, so many samples take each step
 * together ---- */

#define STRIDE 256u /* samples that take each step together; their state stays in L1 */

/* The cell of a sample that is out of the range, 0 where it is in the range. */
BINNING_INLINE uint32_t outside32(const struct binning *b, uint32_t e, uint32_t key, bool is_nan)
{
	return e <= (uint32_t)b->span     ? 0
	       : is_nan                   ? cell_nan(b)
	       : key < (uint32_t)b->first ? cell_under(b)
					  : cell_over(b);
}

BINNING_INLINE uint32_t outside64(const struct binning *b, uint64_t e, uint64_t key, bool is_nan)
{
	return e <= b->span     ? 0
	       : is_nan         ? cell_nan(b)
	       : key < b->first ? cell_under(b)
				: cell_over(b);
}

BINNING_INLINE size_t bytes_of(enum cells_load load)
{
	const bool wide = load == LOAD_KEY64 || load == LOAD_KEY64_BIG || load == LOAD_F64 ||
			  load == LOAD_F64_BIG;

	return load <= LOAD_KEY24_BIG ? 3 : wide ? 8 : 4;
}

BINNING_INLINE uint32_t word32(const unsigned char *p, enum cells_load load)
{
	switch (load) {
	case LOAD_KEY24:
		return load24(p);
	case LOAD_KEY24_BIG:
		return load24_big(p);
	case LOAD_KEY32_BIG:
	case LOAD_F32_BIG:
		return __builtin_bswap32(little32(p));
	default:
		return little32(p);
	}
}

BINNING_INLINE uint64_t word64(const unsigned char *p, bool big)
{
	return big ? __builtin_bswap64(little64(p)) : little64(p);
}

/*
 * real, size and by_value are constants in every caller. A sample out of the range takes the steps
 * of one at its beginning.
 */
BINNING_INLINE void table_stride32(const struct binning *b, const unsigned char *p, size_t n,
				   uint32_t *restrict cells, enum cells_load load, bool real,
				   size_t size, bool by_value, bool by_ratio)
{
	const uint32_t *const guide = (const uint32_t *)(uintptr_t)b->table.at;
	const uint32_t *const below = guide + table_guide_words(&b->table);
	const uint32_t first = (uint32_t)b->first, span = (uint32_t)b->span,
		       bias = (uint32_t)b->bias;
	const float lo = (float)b->table.lo;
	uint32_t e[STRIDE], outside[STRIDE];

	for (size_t i = 0; i < n; i++) {
		const uint32_t word = word32(p + size * i, load);
		const uint32_t key = real ? key32_of_float(word) : word ^ bias, above = key - first;
		const bool inside = above <= span;
		const float x = single_of(word);
		outside[i] = outside32(b, above, key, real && x != x);
		e[i] = inside ? above : 0;
		cells[i] = by_value   ? table_entry_float(&b->table, inside ? x : lo)
			   : by_ratio ? table_entry_ratio32(&b->table, e[i])
				      : e[i] >> b->table.shift;
	}
	for (size_t i = 0; i < n; i++)
		cells[i] = guide[(int32_t)cells[i]];
	for (uint32_t half = b->table.half; half > 0; half /= 2)
		for (size_t i = 0; i < n; i++)
			cells[i] += e[i] > below[(int32_t)(cells[i] + half - 1)] ? half : 0;
	for (size_t i = 0; i < n; i++)
		cells[i] = outside[i] ? outside[i] : cells[i];
}

BINNING_INLINE void table_stride64(const struct binning *b, const unsigned char *p, size_t n,
				   uint32_t *restrict cells, bool big, bool real, bool by_value,
				   bool by_ratio)
{
	const uint32_t *const guide = (const uint32_t *)(uintptr_t)b->table.at;
	const uint64_t *const below =
		(const uint64_t *)(const void *)(guide + table_guide_words(&b->table));
	const uint64_t first = b->first, span = b->span, bias = b->bias;
	uint64_t e[STRIDE];
	uint32_t outside[STRIDE];

	for (size_t i = 0; i < n; i++) {
		const uint64_t word = word64(p + 8 * i, big),
			       key = real ? key64_of_double(word) : word ^ bias,
			       above = key - first;
		const bool inside = above <= span;
		const double x = double_of(word);
		outside[i] = outside64(b, above, key, real && x != x);
		e[i] = inside ? above : 0;
		cells[i] = by_value   ? table_entry_double(&b->table, inside ? x : b->table.lo)
			   : by_ratio ? table_entry_ratio64(&b->table, e[i])
				      : (uint32_t)(e[i] >> b->table.shift);
	}
	for (size_t i = 0; i < n; i++)
		cells[i] = guide[(int32_t)cells[i]];
	for (uint32_t half = b->table.half; half > 0; half /= 2)
		for (size_t i = 0; i < n; i++)
			cells[i] += e[i] > below[(int32_t)(cells[i] + half - 1)] ? half : 0;
	for (size_t i = 0; i < n; i++)
		cells[i] = outside[i] ? outside[i] : cells[i];
}

/* load is a constant in every caller. */
BINNING_INLINE void table_loop(const struct binning *b, const unsigned char *p, size_t n,
			       uint32_t *restrict cells, enum cells_load load)
{
	const bool real = load >= LOAD_F32,
		   key64 = load == LOAD_KEY64 || load == LOAD_KEY64_BIG || load >= LOAD_F64;
	const bool by_value = real && b->table.by_value, by_ratio = !real && b->table.by_ratio;
	const size_t size = bytes_of(load);
	const bool big = load == LOAD_KEY64_BIG || load == LOAD_F64_BIG;

	for (; n > 0;) {
		const size_t some = n < STRIDE ? n : STRIDE;
		if (key64 && by_value)
			table_stride64(b, p, some, cells, big, real, true, false);
		else if (key64 && by_ratio)
			table_stride64(b, p, some, cells, big, false, false, true);
		else if (key64)
			table_stride64(b, p, some, cells, big, real, false, false);
		else if (by_value)
			table_stride32(b, p, some, cells, load, real, size, true, false);
		else if (by_ratio)
			table_stride32(b, p, some, cells, load, false, size, false, true);
		else
			table_stride32(b, p, some, cells, load, real, size, false, false);
		p += size * some;
		cells += some;
		n -= some;
	}
}

/* load and kind are constants in every caller: what remains is one straight loop. */
BINNING_INLINE void loop(const struct binning *b, const unsigned char *p, size_t n,
			 uint32_t *restrict cells, enum cells_load load, uint32_t kind)
{
	const struct binning local = *b; /* a copy, which no store through cells can change */
	const uint32_t bias = (uint32_t)local.bias;
	const size_t size = bytes_of(load);

	if (kind == BIN_TABLE) {
		table_loop(&local, p, n, cells, load);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (load <= LOAD_KEY32_BIG) {
			cells[i] = bin_key32(&local, kind, word32(p + size * i, load) ^ bias);
		} else if (load <= LOAD_KEY64_BIG) {
			cells[i] = bin_key64(&local, kind,
					     word64(p + size * i, load == LOAD_KEY64_BIG) ^
						     local.bias);
		} else if (load <= LOAD_F32_BIG) {
			const uint32_t word = word32(p + size * i, load);
			cells[i] = kind == BIN_SLOT
					   ? bin_slot_single(&local, single_of(word), word)
					   : bin_float(&local, kind, (double)single_of(word));
		} else {
			cells[i] = bin_float(&local, kind,
					     double_of(word64(p + size * i, load == LOAD_F64_BIG)));
		}
	}
}

uint32_t NAME(cells_max, ISA)(const unsigned char *samples, size_t n)
{
	uint32_t max = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t v = little32(samples + 4 * i);
		max = v > max ? v : max;
	}
	return max;
}

/* ---- extents: NaN and infinities, all ones in their exponent, change neither end ---- */

BINNING_INLINE struct extent extent32(const unsigned char *p, size_t n, uint32_t bias,
				      enum cells_load load)
{
	const size_t size = load <= LOAD_KEY24_BIG ? 3 : 4;
	uint32_t least = UINT32_MAX, greatest = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t word = word32(p + size * i, load);
		const uint32_t key = load >= LOAD_F32 ? key32_of_float(word) : word ^ bias;
		const uint32_t finite =
			0u - (uint32_t)(load < LOAD_F32 || (word & 0x7fffffffu) < 0x7f800000u);
		/* masks: branches would not be vectorised */
		const uint32_t low = key | ~finite, high = key & finite;
		least = low < least ? low : least;
		greatest = high > greatest ? high : greatest;
	}
	return least <= greatest ? (struct extent){least, greatest} : EXTENT_NONE;
}

BINNING_INLINE struct extent extent64(const unsigned char *p, size_t n, uint64_t bias,
				      enum cells_load load)
{
	const bool big = load == LOAD_KEY64_BIG || load == LOAD_F64_BIG, real = load >= LOAD_F64;
	uint64_t least = UINT64_MAX, greatest = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t word = word64(p + 8 * i, big),
			       key = real ? key64_of_double(word) : word ^ bias,
			       infinity = 0x7ff0000000000000u;
		const uint64_t finite =
			(uint64_t)0 - (uint64_t)(!real || (word & (UINT64_MAX >> 1)) < infinity);
		const uint64_t low = key | ~finite, high = key & finite;
		least = low < least ? low : least;
		greatest = high > greatest ? high : greatest;
	}
	return (struct extent){least, greatest}; /* EXTENT_NONE where no end was changed */
}

BINNING_INLINE struct extent extent16(const unsigned char *p, size_t n, uint16_t bias,
				      enum cells_load load)
{
	const bool big = load == LOAD_KEY16_BIG || load == LOAD_F16_BIG,
		   swaps = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint16_t least = UINT16_MAX, greatest = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t code;
		memcpy(&code, p + 2 * i, sizeof(code));
		if (swaps)
			code = (uint16_t)(code << 8 | code >> 8);
		const bool real = load >= LOAD_F16;
		const uint16_t sign = (uint16_t)(0 - (code >> 15)),
			       key = real ? code ^ (sign | 0x8000u) : code ^ bias,
			       finite = (uint16_t)(0 - (!real || (code & 0x7fff) < bias));
		const uint16_t low = key | (uint16_t)~finite, high = key & finite;
		least = low < least ? low : least;
		greatest = high > greatest ? high : greatest;
	}
	return least <= greatest ? (struct extent){least, greatest} : EXTENT_NONE;
}

#define EXTENT(load, bits)                                                                     \
	static struct extent extent_of_##load(const unsigned char *p, size_t n, uint64_t bias) \
	{                                                                                      \
		return extent##bits(p, n, (uint##bits##_t)bias, load);                         \
	}
EXTENT(LOAD_KEY24, 32)
EXTENT(LOAD_KEY24_BIG, 32)
EXTENT(LOAD_KEY32, 32)
EXTENT(LOAD_KEY32_BIG, 32)
EXTENT(LOAD_KEY64, 64)
EXTENT(LOAD_KEY64_BIG, 64)
EXTENT(LOAD_F32, 32)
EXTENT(LOAD_F32_BIG, 32)
EXTENT(LOAD_F64, 64)
EXTENT(LOAD_F64_BIG, 64)
EXTENT(LOAD_KEY16, 16)
EXTENT(LOAD_KEY16_BIG, 16)
EXTENT(LOAD_F16, 16)
EXTENT(LOAD_F16_BIG, 16)

const cells_extents NAME(cells_extents, ISA) = {
	[LOAD_KEY24] = extent_of_LOAD_KEY24, [LOAD_KEY24_BIG] = extent_of_LOAD_KEY24_BIG,
	[LOAD_KEY32] = extent_of_LOAD_KEY32, [LOAD_KEY32_BIG] = extent_of_LOAD_KEY32_BIG,
	[LOAD_KEY64] = extent_of_LOAD_KEY64, [LOAD_KEY64_BIG] = extent_of_LOAD_KEY64_BIG,
	[LOAD_F32] = extent_of_LOAD_F32,     [LOAD_F32_BIG] = extent_of_LOAD_F32_BIG,
	[LOAD_F64] = extent_of_LOAD_F64,     [LOAD_F64_BIG] = extent_of_LOAD_F64_BIG,
	[LOAD_KEY16] = extent_of_LOAD_KEY16, [LOAD_KEY16_BIG] = extent_of_LOAD_KEY16_BIG,
	[LOAD_F16] = extent_of_LOAD_F16,     [LOAD_F16_BIG] = extent_of_LOAD_F16_BIG,
};

size_t NAME(cells_repeat, ISA)(const unsigned char *samples, size_t bytes, uint32_t sample)
{
	if (bytes < CELLS_STRIDE || memcmp(samples, samples + sample, CELLS_STRIDE - sample) != 0)
		return 0;
	size_t n = CELLS_STRIDE;
	for (; bytes - n >= CELLS_STRIDE; n += CELLS_STRIDE) {
		uint64_t differ = 0;
		for (size_t i = 0; i < CELLS_STRIDE; i += 8)
			differ |= little64(samples + i) ^ little64(samples + n + i);
		if (differ != 0)
			break;
	}
	return n;
}

/* ---- a function for each way of reading and each kind that has loops for it (BIN_KIND_LIST) ----
 */

#define LOOP_0(load, kind)
#define LOOP_1(load, kind)                                                                   \
	static void load##_##kind(const struct binning *b, const unsigned char *p, size_t n, \
				  uint32_t *cells)                                           \
	{                                                                                    \
		loop(b, p, n, cells, load, BIN_##kind);                                      \
	}
#define ENTRY_0(load, kind) NULL
#define ENTRY_1(load, kind) load##_##kind

#define KEY32_LOOP(load, kind, name, key32, key64, real, ...) LOOP_##key32(load, kind)
#define KEY64_LOOP(load, kind, name, key32, key64, real, ...) LOOP_##key64(load, kind)
#define FLOAT_LOOP(load, kind, name, key32, key64, real, ...) LOOP_##real(load, kind)
#define KEY32_ENTRY(load, kind, name, key32, key64, real, ...) \
	[BIN_##kind] = ENTRY_##key32(load, kind),
#define KEY64_ENTRY(load, kind, name, key32, key64, real, ...) \
	[BIN_##kind] = ENTRY_##key64(load, kind),
#define FLOAT_ENTRY(load, kind, name, key32, key64, real, ...) \
	[BIN_##kind] = ENTRY_##real(load, kind),

BIN_KIND_LIST(KEY32_LOOP, LOAD_KEY24)
BIN_KIND_LIST(KEY32_LOOP, LOAD_KEY24_BIG)
BIN_KIND_LIST(KEY32_LOOP, LOAD_KEY32)
BIN_KIND_LIST(KEY32_LOOP, LOAD_KEY32_BIG)
BIN_KIND_LIST(KEY64_LOOP, LOAD_KEY64)
BIN_KIND_LIST(KEY64_LOOP, LOAD_KEY64_BIG)
BIN_KIND_LIST(FLOAT_LOOP, LOAD_F32)
BIN_KIND_LIST(FLOAT_LOOP, LOAD_F32_BIG)
BIN_KIND_LIST(FLOAT_LOOP, LOAD_F64)
BIN_KIND_LIST(FLOAT_LOOP, LOAD_F64_BIG)

const cells_table NAME(cells_table, ISA) = {
	[LOAD_KEY24] = {BIN_KIND_LIST(KEY32_ENTRY, LOAD_KEY24)},
	[LOAD_KEY24_BIG] = {BIN_KIND_LIST(KEY32_ENTRY, LOAD_KEY24_BIG)},
	[LOAD_KEY32] = {BIN_KIND_LIST(KEY32_ENTRY, LOAD_KEY32)},
	[LOAD_KEY32_BIG] = {BIN_KIND_LIST(KEY32_ENTRY, LOAD_KEY32_BIG)},
	[LOAD_KEY64] = {BIN_KIND_LIST(KEY64_ENTRY, LOAD_KEY64)},
	[LOAD_KEY64_BIG] = {BIN_KIND_LIST(KEY64_ENTRY, LOAD_KEY64_BIG)},
	[LOAD_F32] = {BIN_KIND_LIST(FLOAT_ENTRY, LOAD_F32)},
	[LOAD_F32_BIG] = {BIN_KIND_LIST(FLOAT_ENTRY, LOAD_F32_BIG)},
	[LOAD_F64] = {BIN_KIND_LIST(FLOAT_ENTRY, LOAD_F64)},
	[LOAD_F64_BIG] = {BIN_KIND_LIST(FLOAT_ENTRY, LOAD_F64_BIG)},
};
