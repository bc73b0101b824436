/* SPDX-License-Identifier: MIT */
/*
 * unpack: decodes the blocks of a zstd frame in parallel (unpack.h). A batch takes these steps:
 *
 *     read_sequences     reads the sequences, and the size of each block (sequences.cuh)
 *     chain_blocks       finds the blocks' offsets and the repeated offsets; batch by batch
 *     read_literals      decodes Huffman codes to bytes (literals.cuh)
 *     place_sequences    copies literals into place, and notes a distance for each byte of a match
 *     resolve_matches    copies each byte of a match from its source
 *     keep_bytes         copies the batch to the ring, for the matches of later batches
 *
 * The host has checked the headers, so the kernels trust offsets, sizes and the shares of tables.
 * Bits of streams, jump tables and descriptions of trees may be hostile. The verdicts are the same
 * as in src/zstd/block_loops.c: a stream is right only if exactly all of its bits are used.
 */
#ifndef GPUHIST_UNPACK_CUH
#define GPUHIST_UNPACK_CUH

#include "literals.cuh"
#include "sequences.cuh"

/* ---- the chain ------------------------------------------------------------------- */

/*
 * Find each block's offset and its repeated offsets. One warp, batch by batch. Afterwards, the
 * answer holds what earlier batches found for this one, and the carry is for the next batch.
 */
INLINE void chain_blocks(const struct unpack_memory &m)
{
	__shared__ struct unpack_state s[UNPACK_BLOCKS];
	__shared__ u32 sequences[UNPACK_BLOCKS];
	const struct unpack_batch *const batch = batch_of(m);
	struct unpack_carry *const carry = (struct unpack_carry *)m.carry;
	const u32 i = threadIdx.x;

	if (i < batch->blocks) {
		s[i] = *state_of(m, i);
		sequences[i] = block_of(m, i)->sequences;
	}
	__syncwarp();
	if (i == 0) {
		struct unpack_carry c = *carry;
		struct unpack_answer a = {0, 0, 0, 0, 0};

		if (batch->begins)
			c = {0, 0, batch->window, {1, 4, 8}};
		a.place = c.place;
		a.before = c.before;
		a.window = c.window;
		for (u32 k = 0; k < batch->blocks; k++) {
			u32 after[3];
			s[k].at = a.bytes;
			a.bytes += s[k].bytes;
			a.refused |= s[k].refused;
			for (u32 r = 0; r < 3; r++) {
				s[k].before[r] = c.repeat[r];
				after[r] = sequences[k] ? resolve_offset(s[k].after[r], c.repeat)
							: c.repeat[r];
			}
			for (u32 r = 0; r < 3; r++)
				c.repeat[r] = after[r];
		}
		c.place += a.bytes;
		c.before += a.bytes;
		*carry = c;
		*answer_of(m) = a;
	}
	__syncwarp();
	if (i < batch->blocks)
		*state_of(m, i) = s[i];
}

/* ---- sequences --------------------------------------------------------------------- */

enum { PLACERS = 256, WARPS = PLACERS / 32 };

/* In shared memory. */
struct places {
	u32 literals[WARPS], bytes[WARPS]; /* sums over the sequences of each warp */
	u32 longs;                         /* number of runs left to warps, too long for a lane: */
	u32 from[2 * PLACERS];             /* index of the literals, or offset of the match */
	u32 to[2 * PLACERS], length[2 * PLACERS];
	bool is_match[2 * PLACERS];
};

INLINE void add_long(struct places *p, u32 from, u32 to, u32 length, bool is_match)
{
	const u32 k = atomicAdd(&p->longs, 1u);

	p->from[k] = from;
	p->to[k] = to;
	p->length[k] = length;
	p->is_match[k] = is_match;
}

/* Distance from byte k of a match to its source before the match, even if it overlaps itself. */
INLINE u32 distance_of(u32 offset, u32 k)
{
	return offset * (1 + k / offset);
}

/* Copy long runs of literals and note the distances of long matches, with one warp per run. */
INLINE void place_longs(const struct places *p, const u8 *literals, u8 *to, u32 *distance, u32 warp,
			u32 lane)
{
	for (u32 i = warp; i < p->longs; i += WARPS) {
		if (!p->is_match[i]) {
			copy_by_warp(to + p->to[i], literals + p->from[i], p->length[i], lane);
			continue;
		}
		for (u32 k = lane; k < p->length[i]; k += 32)
			distance[p->to[i] + k] = distance_of(p->from[i], k);
	}
}

struct placed {
	u32 literals, bytes;
};

/* Return *done plus `own` of all threads before this one; add all threads' `own` to *done. */
INLINE struct placed sum_before(struct places *p, struct placed own, struct placed *done)
{
	const u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
	struct placed sum = own;

	for (u32 k = 1; k < 32; k *= 2) {
		const u32 literals = __shfl_up_sync(~0u, sum.literals, k);
		const u32 bytes = __shfl_up_sync(~0u, sum.bytes, k);
		sum.literals += lane >= k ? literals : 0;
		sum.bytes += lane >= k ? bytes : 0;
	}
	if (lane == 31) {
		p->literals[warp] = sum.literals;
		p->bytes[warp] = sum.bytes;
	}
	if (threadIdx.x == 0)
		p->longs = 0;
	__syncthreads();
	sum.literals += done->literals - own.literals;
	sum.bytes += done->bytes - own.bytes;
	for (u32 w = 0; w < WARPS; w++) {
		sum.literals += w < warp ? p->literals[w] : 0;
		sum.bytes += w < warp ? p->bytes[w] : 0;
		done->literals += p->literals[w];
		done->bytes += p->bytes[w];
	}
	return sum;
}

/*
 * Copy literals into place and note a distance for each byte of a match, 256 sequences at a
 * time. Skip a block whose sequences were refused, because numbers may be missing.
 */
INLINE void place_sequences(const struct unpack_memory &m)
{
	enum { FEW_LITERALS = 8, FEW_BYTES = 32, PIECE = 4096 }; /* few: done by one lane */
	__shared__ struct places p;
	const u32 tid = threadIdx.x, lane = tid & 31, warp = tid / 32;
	const struct unpack_block *const b = block_of(m, blockIdx.x);
	const struct unpack_state *const state = state_of(m, blockIdx.x);
	const u8 *const literals = (const u8 *)m.apart + b->apart;
	u8 *const to = (u8 *)m.decoded + state->at;
	u32 *const distance = (u32 *)m.distance + state->at;
	const u64 before = answer_of(m)->before + state->at, window = answer_of(m)->window;
	struct placed done = {0, 0};
	bool refused = false;

	if (b->sequences == 0 || state->refused)
		return;
	for (u32 from = 0; from < b->sequences; from += PLACERS) {
		const u32 i = b->first + from + tid;
		const bool live = from + tid < b->sequences;
		const u32 plain = live ? ((const u32 *)m.literals)[i] : 0,
			  match = live ? ((const u32 *)m.match)[i] : 0;
		u32 offset = live ? resolve_offset(((const u32 *)m.offset)[i], state->before) : 1;
		const struct placed at = sum_before(&p, {plain, plain + match}, &done);
		const u32 at_match = at.bytes + plain;

		if (live && (offset == 0 || offset > window || offset > before + at_match)) {
			refused = true;
			offset = 1;
		}
		if (plain > FEW_LITERALS)
			add_long(&p, at.literals, at.bytes, plain, false);
		else
			for (u32 k = 0; k < plain; k++)
				to[at.bytes + k] = literals[at.literals + k];
		if (match > FEW_BYTES)
			add_long(&p, offset, at_match, match, true);
		else
			for (u32 k = 0, c = 0, x = offset; k < match; k++) {
				distance[at_match + k] = x;
				if (++c == offset) {
					c = 0;
					x += offset;
				}
			}
		__syncthreads();
		place_longs(&p, literals, to, distance, warp, lane);
		__syncthreads();
	}
	/* The literals after the last match. */
	const u32 rest = b->literals - done.literals;
	for (u32 i = warp * PIECE; i < rest; i += WARPS * PIECE)
		copy_by_warp(to + done.bytes + i, literals + done.literals + i,
			     rest - i < PIECE ? rest - i : (u32)PIECE, lane);
	if (refused)
		refuse(m);
}

/* ---- matches ------------------------------------------------------------------- */

/*
 * Resolve each byte of a match in the region from `from` on, 1024 bytes per CTA: follow distances
 * to a literal, to a byte before the region, which is final, or to one before the batch, which is
 * in the ring. Each hop is a wait, so a thread follows four bytes at once.
 *
 * To save hops, threads lengthen distances that others may be reading: old and new are both right.
 */
INLINE void resolve_matches(const struct unpack_memory &m, u32 from)
{
	enum { EACH = 4 };
	const struct unpack_answer *const a = answer_of(m);
	const u32 n = a->bytes;
	const u32 i = from + blockIdx.x * EACH * blockDim.x + threadIdx.x / 32 * 32 * EACH +
		      (threadIdx.x & 31);
	volatile u32 *const distance = (volatile u32 *)m.distance;
	u8 *const out = (u8 *)m.decoded;
	const u8 *const ring = (const u8 *)m.ring;
	u32 first[EACH];
	int at[EACH];
	bool goes_on[EACH], any = false;

#pragma unroll
	for (u32 k = 0; k < EACH; k++) {
		const u32 own = i + 32 * k;
		first[k] = own < n ? distance[own] : 0;
		at[k] = (int)(own - first[k]);
		goes_on[k] = first[k] != 0 && at[k] >= (int)from;
		any |= goes_on[k];
	}
	while (any) {
		u32 more[EACH];
#pragma unroll
		for (u32 k = 0; k < EACH; k++)
			more[k] = goes_on[k] ? distance[at[k]] : 0;
		any = false;
#pragma unroll
		for (u32 k = 0; k < EACH; k++) {
			at[k] -= (int)more[k];
			goes_on[k] = more[k] != 0 && at[k] >= (int)from;
			any |= goes_on[k];
		}
	}
#pragma unroll
	for (u32 k = 0; k < EACH; k++) {
		const u32 own = i + 32 * k;
		if (first[k] == 0)
			continue;
		if (own - first[k] != (u32)at[k])
			distance[own] = own - (u32)at[k];
		out[own] = at[k] >= 0 ? out[at[k]]
				      : ring[(a->place + (u64)(int64_t)at[k]) & (m.ring_bytes - 1)];
	}
}

/* Copy the batch to the ring, in pieces, one warp per piece; any grid. */
INLINE void keep_bytes(const struct unpack_memory &m)
{
	enum { PIECE = 4096 };
	const struct unpack_answer *const a = answer_of(m);
	const u8 *const from = (const u8 *)m.decoded;
	u8 *const ring = (u8 *)m.ring;
	const u32 lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32,
		  warps = gridDim.x * blockDim.x / 32;

	for (u32 i = warp * PIECE; i < a->bytes; i += warps * PIECE) {
		const u32 n = a->bytes - i < PIECE ? a->bytes - i : (u32)PIECE;
		const u64 at = (a->place + i) & (m.ring_bytes - 1), room = m.ring_bytes - at;
		const u32 straight = room < n ? (u32)room : n;
		copy_by_warp(ring + at, from + i, straight, lane);
		copy_by_warp(ring, from + i + straight, n - straight, lane);
	}
}

#endif
