/* SPDX-License-Identifier: MIT */
/*
 * bin_table: in which cell a sample falls where the edges are explicit: a guide leads to a few
 * bins, a bisection picks one of them. table.h makes both. The C compiler and nvcc compile this
 * same text.
 */
#ifndef GPUHIST_BIN_TABLE_H
#define GPUHIST_BIN_TABLE_H

#include "bins/bin_kinds.h"

/*
 * Keys of floats, in the order of the values, with -0 before 0; NaNs come before -inf and after
 * inf.
 */
BINNING_INLINE uint32_t key32_of_float(uint32_t bits)
{
	return bits ^ ((0u - (bits >> 31)) | 0x80000000u);
}

BINNING_INLINE uint64_t key64_of_double(uint64_t bits)
{
	return bits ^ ((0u - (bits >> 63)) | 0x8000000000000000u);
}

/*
 * Each step rounds to the type, and rounding never reverses an order: these entries never fall as x
 * rises.
 */
BINNING_INLINE uint32_t table_entry_float(const struct bin_table *t, float x)
{
	return (uint32_t)(int32_t)BINNING_MUL_FLOAT(BINNING_ADD_FLOAT(x, -(float)t->lo),
						    (float)t->scale);
}

BINNING_INLINE uint32_t table_entry_double(const struct bin_table *t, double x)
{
	return (uint32_t)(int32_t)BINNING_MUL(BINNING_ADD(x, -t->lo), t->scale);
}

/*
 * For integers: entries at equal ratios, for edges such as 1, 2, 4, 8. Rounding to a float never
 * reverses an order.
 */
BINNING_INLINE uint32_t table_entry_ratio32(const struct bin_table *t, uint32_t e)
{
	const float x = (float)(e + (uint32_t)t->from);
#ifdef __CUDACC__
	const uint32_t bits = __float_as_uint(x);
#else
	uint32_t bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
#endif
	return (bits >> t->shift) - (uint32_t)t->origin;
}

BINNING_INLINE uint32_t table_entry_ratio64(const struct bin_table *t, uint64_t e)
{
	const double x = (double)(e + t->from);
#ifdef __CUDACC__
	const uint64_t bits = (uint64_t)__double_as_longlong(x);
#else
	uint64_t bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
#endif
	return (uint32_t)((bits >> t->shift) - t->origin);
}

/* The entry at which the keys begin: an even one, so that 64-bit keys are aligned. */
BINNING_INLINE uint32_t table_guide_words(const struct bin_table *t)
{
	return (t->guide + 1) & ~1u;
}

BINNING_INLINE uint32_t bin_of_entry32(const struct bin_table *t, uint32_t e, uint32_t entry)
{
	const uint32_t *guide = (const uint32_t *)(uintptr_t)t->at;
	const uint32_t *below = guide + table_guide_words(t);
	uint32_t bin = BINNING_LOAD(guide + entry);

	for (uint32_t half = t->half; half > 0; half /= 2)
		bin += e > BINNING_LOAD(below + bin + half - 1) ? half : 0;
	return bin;
}

BINNING_INLINE uint32_t bin_of_entry64(const struct bin_table *t, uint64_t e, uint32_t entry)
{
	const uint32_t *guide = (const uint32_t *)(uintptr_t)t->at;
	const uint64_t *below = (const uint64_t *)(const void *)(guide + table_guide_words(t));
	uint32_t bin = BINNING_LOAD(guide + entry);

	for (uint32_t half = t->half; half > 0; half /= 2)
		bin += e > BINNING_LOAD(below + bin + half - 1) ? half : 0;
	return bin;
}

BINNING_INLINE uint32_t bin_table_key32(const struct binning *b, uint32_t key)
{
	const uint32_t e = key - (uint32_t)b->first;

	if (e > (uint32_t)b->span)
		return key < (uint32_t)b->first ? cell_under(b) : cell_over(b);
	return bin_of_entry32(&b->table, e,
			      b->table.by_ratio ? table_entry_ratio32(&b->table, e)
						: e >> b->table.shift);
}

BINNING_INLINE uint32_t bin_table_key64(const struct binning *b, uint64_t key)
{
	const uint64_t e = key - b->first;

	if (e > b->span)
		return key < b->first ? cell_under(b) : cell_over(b);
	return bin_of_entry64(&b->table, e,
			      b->table.by_ratio ? table_entry_ratio64(&b->table, e)
						: (uint32_t)(e >> b->table.shift));
}

/* The cell of x, whose bits are `bits`. */
BINNING_INLINE uint32_t bin_table_float(const struct binning *b, float x, uint32_t bits)
{
	const uint32_t key = key32_of_float(bits), e = key - (uint32_t)b->first;

	if (e > (uint32_t)b->span)
		return x != x                     ? cell_nan(b)
		       : key < (uint32_t)b->first ? cell_under(b)
						  : cell_over(b);
	return bin_of_entry32(&b->table, e,
			      b->table.by_value ? table_entry_float(&b->table, x)
						: e >> b->table.shift);
}

BINNING_INLINE uint32_t bin_table_double(const struct binning *b, double x, uint64_t bits)
{
	const uint64_t key = key64_of_double(bits), e = key - b->first;

	if (e > b->span)
		return x != x ? cell_nan(b) : key < b->first ? cell_under(b) : cell_over(b);
	return bin_of_entry64(&b->table, e,
			      b->table.by_value ? table_entry_double(&b->table, x)
						: (uint32_t)(e >> b->table.shift));
}

#endif
