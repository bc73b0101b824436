/* SPDX-License-Identifier: MIT */
/* literals: decodes Huffman codes to bytes, one warp per block (unpack.cuh). */
#ifndef GPUHIST_LITERALS_CUH
#define GPUHIST_LITERALS_CUH

#include "packed.cuh"

/* ---- trees of literals ----------------------------------------------------------- */

enum { TREE_BITS = 11, TREE_CODES = 1 << TREE_BITS, WEIGHTS_BITS = 6 };

/* In shared memory. */
struct tree {
	u8 length[TREE_CODES], literal[TREE_CODES]; /* indexed by the stream's next bits */
	u8 weight[256], sorted[256];                /* weights; literals sorted by weight */
	u32 packed[34];                             /* the last one is read but not used */
	u32 with[TREE_BITS + 1];                    /* number of literals of each weight */
	u32 weights, log;                           /* number of weights, 0 if refused; height */
	struct unpack_shares shares;                /* of the weights; their states are below */
	u32 step[1 << WEIGHTS_BITS];                /* weight | bits << 8 | next state << 16 */
	u8 code[1 << WEIGHTS_BITS];
	u16 next[TREE_BITS + 1];
};

/* The bits from position `at` on: 25 valid ones; those above may be wrong. */
INLINE u32 bits_from(const u8 *p, u32 at)
{
	p += at / 8;
	return (p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24) >> at % 8;
}

/* Read the weights' shares from the n bytes at p. Return the bytes they take; 0: refused. */
INLINE u32 read_shares(struct unpack_shares *s, const u8 *p, u32 n)
{
	u32 at = 4, codes = 0;

	s->log = (u8)((p[0] & 15) + 5);
	if (s->log > WEIGHTS_BITS)
		return 0;
	for (u32 left = 1u << s->log; left > 0;) {
		const u32 bits = bits_of(left + 1), half = 1u << (bits - 1);
		const u32 lower = 2 * half - 2 - left;

		if (at / 8 >= n || codes > TREE_BITS)
			return 0;
		const u32 word = bits_from(p, at);
		const bool is_short = (word & (half - 1)) < lower;
		u32 v = word & (is_short ? half - 1 : 2 * half - 1);
		v -= !is_short && v >= half ? lower : 0;
		at += bits - is_short;
		s->of[codes++] = (int16_t)((int)v - 1);
		left -= v == 0 ? 1 : v - 1;
		for (u32 more = v == 1 ? 3 : 0; more == 3;) {
			if (at / 8 >= n)
				return 0;
			more = bits_from(p, at) & 3;
			at += 2;
			for (u32 k = 0; k < more; k++) {
				if (codes > TREE_BITS)
					return 0;
				s->of[codes++] = 0;
			}
			if (codes > TREE_BITS && more == 3)
				return 0;
		}
	}
	s->codes = (u8)codes;
	return at > 8 * n ? 0 : (at + 7) / 8;
}

/* Decode weights from n bytes, with two alternating states. Return how many; 0: refused. */
INLINE u32 unpack_weights(struct tree *t, u32 n)
{
	const u8 *const p = (const u8 *)t->packed + 1;
	const u32 used = read_shares(&t->shares, p, n);
	u32 state[2], count = 0;

	if (used == 0 || used >= n || p[n - 1] == 0)
		return 0;
	spread_states(&t->shares, t->code, t->next, [&](u32 i, u32 c, u32 bits, u32 next) {
		t->step[i] = c | bits << 8 | next << 16;
	});
	const u32 first = 8 * used, log = t->shares.log;
	u32 at = 8 * (n - 1) + bits_of(p[n - 1]) - 1;
	for (u32 i = 0; i < 2; i++) {
		if (at < first + log)
			return 0;
		at -= log;
		state[i] = bits_from(p, at) & ((1u << log) - 1);
	}
	for (u32 i = 0; count < 254; i ^= 1) {
		const u32 e = t->step[state[i]], bits = e >> 8 & 255;

		t->weight[count++] = (u8)e;
		if (at < first + bits) {
			t->weight[count++] = (u8)t->step[state[i ^ 1]];
			return count;
		}
		at -= bits;
		state[i] = (e >> 16) + (bits_from(p, at) & ((1u << bits) - 1));
	}
	return 0;
}

/* Read the weights of all literals; the last makes the sum a power of two. For one thread. */
INLINE void read_weights(struct tree *t)
{
	const u8 *const p = (const u8 *)t->packed;
	u32 n = p[0], sum = 0;

	if (n < 128) {
		n = unpack_weights(t, n);
	} else {
		n -= 127;
		for (u32 i = 0; i < n; i++)
			t->weight[i] = i % 2 ? p[1 + i / 2] & 15 : p[1 + i / 2] >> 4;
	}
	for (u32 i = 0; i < n; i++)
		sum += 1u << t->weight[i] >> 1;
	const u32 log = bits_of(sum), rest = (1u << log) - sum;
	t->weights = 0;
	if (sum == 0 || sum >= TREE_CODES || (rest & (rest - 1)) != 0)
		return;
	t->weight[n] = (u8)bits_of(rest);
	t->weights = n + 1;
	t->log = log;
}

/* Build a tree's tables with all lanes of a warp. Return false in all lanes if it is refused. */
INLINE bool build_tree(struct tree *t, const u8 *description, u32 lane)
{
	for (u32 i = lane; i < 33; i += 32)
		t->packed[i] = ((const u32 *)description)[i];
	__syncwarp();
	if (lane == 0)
		read_weights(t);
	__syncwarp();
	const u32 n = t->weights, log = t->log;
	if (n == 0)
		return false;
	if (lane <= TREE_BITS) {
		u32 with = 0;
		for (u32 i = 0; i < n; i++)
			with += t->weight[i] == lane;
		t->with[lane] = with;
	}
	__syncwarp();
	if (t->with[1] < 2 || t->with[1] % 2 != 0)
		return false;
	if (lane > 0 && lane <= log) {
		u32 at = 0;
		for (u32 w = 1; w < lane; w++)
			at += t->with[w];
		for (u32 i = 0; i < n; i++)
			if (t->weight[i] == lane)
				t->sorted[at++] = (u8)i;
	}
	__syncwarp();
	u32 entry = 0, first = 0;
	for (u32 w = 1; w <= log; w++) {
		const u32 shift = w - 1 + TREE_BITS - log, entries = t->with[w] << shift;

		for (u32 i = lane; i < entries; i += 32) {
			t->length[entry + i] = (u8)(log + 1 - w);
			t->literal[entry + i] = t->sorted[first + (i >> shift)];
		}
		entry += entries;
		first += t->with[w];
	}
	__syncwarp();
	return true;
}

/* ---- literals -------------------------------------------------------------------- */

/* Skip the next literal. Return the length of its code. */
INLINE u32 skip_literal(struct stream &s, const struct tree *t)
{
	const u32 bits = t->length[s.bits >> (64 - TREE_BITS)];

	s.skip(bits);
	return bits;
}

INLINE u32 next_literal(struct stream &s, const struct tree *t)
{
	const u32 literal = t->literal[s.bits >> (64 - TREE_BITS)];

	skip_literal(s, t);
	return literal;
}

/* Two literals take at most 22 of the more than 32 bits after a refill. */
INLINE u32 two_literals(struct stream &s, const struct tree *t)
{
	s.refill();
	const u32 first = next_literal(s, t);
	return first | next_literal(s, t) << 8;
}

/*
 * Count the literals that begin from position `top` down to above `bottom`. Set top to the start
 * of the next one, which is at `bottom` or up to TREE_BITS - 1 bits below.
 */
INLINE u32 count_literals(const u8 *packed, const struct tree *t, u32 &top, u32 bottom)
{
	enum { TURN = 16 };
	struct stream s;
	int left = (int)(top - bottom);
	u32 n = 0;

	if (left <= 0)
		return 0;
	s.begin(packed, top);
	for (; left > TURN * TREE_BITS; n += TURN)
#pragma unroll 2
		for (u32 i = 0; i < TURN; i += 2) {
			s.refill();
			left -= (int)skip_literal(s, t);
			left -= (int)skip_literal(s, t);
		}
	for (; left > 0; n++) {
		s.refill();
		left -= (int)skip_literal(s, t);
	}
	top = bottom + (u32)left;
	return n;
}

/* Write n literals, from position `top` down. */
INLINE void write_literals(const u8 *packed, const struct tree *t, u32 top, u8 *to, u32 n)
{
	struct stream s;

	s.begin(packed, top);
	for (; n > 0 && ((u64)to & 3) != 0; n--) {
		s.refill();
		*to++ = (u8)next_literal(s, t);
	}
#pragma unroll 2
	for (; n >= 4; n -= 4, to += 4) {
		const u32 two = two_literals(s, t);
		*(u32 *)to = two | two_literals(s, t) << 16;
	}
	for (; n > 0; n--) {
		s.refill();
		*to++ = (u8)next_literal(s, t);
	}
}

/*
 * One of a block's streams (one or four): its bits from `top` down to `bottom`, its literals from
 * `first` on. exists: these eight lanes have a stream; fine: its end is marked, inside the block.
 */
struct literals_stream {
	bool exists, fine;
	u32 top, bottom, first, literals;
};

INLINE struct literals_stream find_stream(const struct unpack_block *b, const u8 *packed, u32 k)
{
	const bool four = b->how == UNPACK_FOUR_STREAMS;
	const u32 last = four ? 3 : 0, quarter = four ? (b->literals + 3) / 4 : b->literals;
	u32 from = b->literals_at + UNPACK_BEFORE, to = from + b->literals_packed;
	struct literals_stream s = {k <= last, k > last, 0, 0, k * quarter, quarter};

	if (!s.exists)
		return s;
	if (four) { /* the sizes of the first three streams precede the streams */
		const u32 end = to;
		const u8 *const sizes = packed + from;
		for (u32 i = 0, begin = from + 6; i <= k; i++) {
			from = begin;
			begin += i < 3 ? sizes[2 * i] | (u32)sizes[2 * i + 1] << 8 : 0;
			to = i < 3 ? begin : end;
		}
		s.fine = from < to && to <= end;
	} else {
		s.fine = true;
	}
	if (k == last)
		s.literals = b->literals - s.first;
	const u32 mark = s.fine ? packed[to - 1] : 0;
	s.fine = mark != 0;
	s.bottom = 8 * from;
	s.top = 8 * (to - 1) + bits_of(mark) - 1;
	return s;
}

/*
 * Read a stream with eight lanes. The positions of codes in the middle of a stream are unknown,
 * but a lane that begins anywhere synchronises with them, usually within 60 bits. So each lane
 * begins EARLY bits before its eighth, and counts the literals that begin in its eighth. If the
 * lane before it ended elsewhere, it counts again from there: lane i is right after i turns at
 * most. Then each lane knows the offset of its literals, and writes them.
 *
 * Return false if the stream is refused. If any stream of the block is, nothing is written.
 */
INLINE bool read_stream(const struct literals_stream &a, const u8 *packed, const struct tree *t,
			u8 *to, u32 lane)
{
	enum { EARLY = 512, SHORT = 4096 }; /* bits; one lane reads a stream below SHORT */
	const u32 i = lane & 7, bits = a.top - a.bottom;
	const bool mine = a.exists && a.fine, is_short = bits < SHORT;
	const u32 begin = is_short && i > 0 ? a.bottom : a.top - bits * i / 8;
	const u32 end = is_short || i == 7 ? a.bottom : a.top - bits * (i + 1) / 8;
	u32 from = begin, next = begin, n = 0;

	if (mine && i > 0 && !is_short) {
		next = begin + EARLY < a.top ? begin + EARLY : a.top;
		count_literals(packed, t, next, begin);
		from = next;
	}
	if (mine)
		n = count_literals(packed, t, next, end);
	for (;;) {
		const u32 before = __shfl_up_sync(~0u, next, 1);
		const bool wrong = mine && i > 0 && from != before;
		if (!__any_sync(~0u, wrong))
			break;
		if (wrong) {
			from = next = before;
			n = count_literals(packed, t, next, end);
		}
	}
	u32 sum = n;
	for (u32 k = 1; k < 8; k *= 2) {
		const u32 before = __shfl_up_sync(~0u, sum, k);
		sum += i >= k ? before : 0;
	}
	const bool fine = a.fine && (!mine || i < 7 || (sum == a.literals && next == a.bottom));
	if (!__any_sync(~0u, !fine) && mine && n > 0)
		write_literals(packed, t, from, to + a.first + (sum - n), n);
	return fine;
}

/*
 * Decode the literals of a block with a warp. Each load of packed bytes and each table look-up is
 * a wait. Other warps hide these waits: the 5 KiB of a tree allow 32 warps on a multiprocessor.
 */
INLINE void read_literals(const struct unpack_memory &m)
{
	__shared__ struct tree tree;
	const u32 lane = threadIdx.x;
	const struct unpack_block *const b = block_of(m, blockIdx.x);
	const u8 *const packed = packed_of(m), *const at = packed + UNPACK_BEFORE + b->literals_at;
	u8 *const to = b->sequences > 0 ? (u8 *)m.apart + b->apart
					: (u8 *)m.decoded + state_of(m, blockIdx.x)->at;

	if (b->how == UNPACK_PLAIN) {
		copy_by_warp(to, at, b->literals, lane);
		return;
	}
	if (b->how == UNPACK_REPEAT) {
		for (u32 i = lane; i < b->literals; i += 32)
			to[i] = __ldg(at);
		return;
	}
	bool fine = build_tree(&tree, b->tree, lane);
	if (fine)
		fine = read_stream(find_stream(b, packed, lane / 8), packed, &tree, to, lane);
	if (!fine)
		refuse(m);
}

#endif
