/* SPDX-License-Identifier: MIT */
/*
 * packed: functions shared by the steps of unpack.cuh: a batch's memory, bit streams, state tables,
 * copies by a warp.
 *
 * Byte and bit offsets count from UNPACK_BEFORE bytes before the packed bytes, so that none is
 * negative if a damaged stream runs past its beginning.
 */
#ifndef GPUHIST_PACKED_CUH
#define GPUHIST_PACKED_CUH

#include "../types.cuh"
#include "unpack.h"

INLINE const struct unpack_batch *batch_of(const struct unpack_memory &m)
{
	return (const struct unpack_batch *)m.batch;
}

INLINE const struct unpack_block *block_of(const struct unpack_memory &m, u32 i)
{
	return (const struct unpack_block *)m.block + i;
}

INLINE struct unpack_state *state_of(const struct unpack_memory &m, u32 i)
{
	return (struct unpack_state *)m.state + i;
}

INLINE struct unpack_answer *answer_of(const struct unpack_memory &m)
{
	return (struct unpack_answer *)m.answer;
}

INLINE const u8 *packed_of(const struct unpack_memory &m)
{
	return (const u8 *)(m.packed - UNPACK_BEFORE);
}

/* Refuse the batch. Only after chain_blocks, which writes the answer. */
INLINE void refuse(const struct unpack_memory &m)
{
	atomicOr(&answer_of(m)->refused, 1u);
}

/* The position of the highest set bit plus one, or 0 if none is set. */
INLINE u32 bits_of(u32 v)
{
	return 32 - (u32)__clz((int)v);
}

/* ---- bit streams, read from their last byte to their first ------------------- */

/* The next n bits are the highest of `bits`. The word before them is fetched ahead. */
struct stream {
	u64 bits;
	int n;
	u32 ahead;
	const u32 *at; /* address of `ahead` */

	/* Start with the bit before position `top`. */
	INLINE void begin(const u8 *packed, u32 top)
	{
		const u32 odd = top & 31;

		at = (const u32 *)packed + (top >> 5);
		bits = (u64)__ldg(at) << 32 << (32 - odd);
		bits |= (u64)__ldg(at - 1) << (32 - odd);
		n = (int)(32 + odd);
		at -= 2;
		ahead = __ldg(at);
	}
	/* Ensure that n > 32 (past the stream's beginning, too). */
	INLINE void refill()
	{
		if (n > 32)
			return;
		bits |= (u64)ahead << (32 - n);
		n += 32;
		ahead = __ldg(--at);
	}
	/* Skip at most 32 bits. */
	INLINE void skip(u32 k)
	{
		bits <<= k;
		n -= (int)k;
	}
};

/* The highest n bits of a word, n modulo 32. */
INLINE u32 highest(u32 word, u32 n)
{
	return __funnelshift_l(word, 0, n);
}

/* The n bits before position `top`; n < 32. */
INLINE u32 bits_before(const u8 *packed, u32 top, u32 n)
{
	const u32 *const at = (const u32 *)packed + (top >> 5);

	return highest(__funnelshift_r(__ldg(at - 1), __ldg(at), top), n);
}

/* ---- state tables -------------------------------------------------------------- */

/*
 * Fill a state table: set code[i] and call each(i, code, bits, next) for each state i. For one
 * thread. code has an entry per state, next one per code.
 */
template <class EACH>
INLINE void spread_states(const struct unpack_shares *s, u8 *code, u16 *next, const EACH &each)
{
	const u32 size = 1u << s->log, step = size / 2 + size / 8 + 3;
	u32 at = 0, high = size;

	for (u32 c = 0; c < s->codes; c++) {
		next[c] = (u16)(s->of[c] < 0 ? 1 : s->of[c]);
		if (s->of[c] < 0)
			code[--high] = (u8)c;
	}
	for (u32 c = 0; c < s->codes; c++)
		for (int i = 0; i < s->of[c]; i++) {
			code[at] = (u8)c;
			do
				at = (at + step) & (size - 1);
			while (at >= high);
		}
	for (u32 i = 0; i < size; i++) {
		const u32 x = next[code[i]]++, bits = s->log + 1u - bits_of(x);

		each(i, code[i], bits, (x << bits) - size);
	}
}

/* ---- bytes ---------------------------------------------------------------------- */

/* Copy n bytes with all lanes of a warp, as far as possible in whole words. */
INLINE void copy_by_warp(u8 *to, const u8 *from, u32 n, u32 lane)
{
	const u32 to_word = (u32)(0 - (u64)to) & 3, head = to_word < n ? to_word : n;

	if (lane < head)
		to[lane] = __ldg(from + lane);
	to += head;
	from += head;
	n -= head;
	const u32 odd = (u32)(u64)from & 3;
	const u32 *const word = (const u32 *)(from - odd);
	u32 *const out = (u32 *)to;
#pragma unroll 4
	for (u32 i = lane; i < n / 4; i += 32)
		out[i] = odd ? __funnelshift_r(__ldg(word + i), __ldg(word + i + 1), 8 * odd)
			     : __ldg(word + i);
	if (lane < (n & 3))
		to[(n & ~3u) + lane] = __ldg(from + (n & ~3u) + lane);
}

#endif
