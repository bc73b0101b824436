/* SPDX-License-Identifier: MIT */
/* sequences: decodes sequences from their bit streams, two warps per block (unpack.cuh). */
#ifndef GPUHIST_SEQUENCES_CUH
#define GPUHIST_SEQUENCES_CUH

#include "packed.cuh"

enum { LENGTHS, OFFSETS, MATCHES, KINDS };
enum { STATES = 512, CODES = 53, BATCH = 64 };

/* Extra bits after each code of a number. */
__constant__ u8 EXTRA[KINDS][CODES] = {
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  1,  1,
	 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
	 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30},
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
	 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
};

/*
 * An offset that repeats one from before the block is not yet known: EARLIER(i) stands for the i-th
 * earlier offset, and EARLIER(i) - k for that offset minus k (block_loops.c).
 */
#define EARLIER(i) (0x80000000u + ((i) + 1u) * 0x10000u)

/* Return 0 if the offset does not exist. */
INLINE u32 resolve_offset(u32 offset, const u32 *repeat)
{
	if (offset < 0x80000000u)
		return offset;
	const u32 i = (offset - EARLIER(0) + 0xffff) / 0x10000u, less = EARLIER(i) - offset;
	const u32 known = i == 0 ? repeat[0] : i == 1 ? repeat[1] : i == 2 ? repeat[2] : 0;
	return known > less ? known - less : 0;
}

/* In shared memory. */
struct sequences {
	u32 step[KINDS][STATES]; /* next state | bits to it << 16 | bits of the number << 24 */
	u8 code[KINDS][STATES];
	u32 base[KINDS][CODES]; /* least number of each code */
	u16 next[KINDS][CODES];
	uint2 met[2][BATCH]; /* a sequence's bit position; its three states, 10 bits each */
	u32 stop[2];         /* not 0: this batch of sequences is refused */
};

INLINE void build_table(struct sequences *q, u32 kind, const struct unpack_shares *shares)
{
	u32 base = kind == LENGTHS ? 0 : kind == OFFSETS ? 1 : 3;

	for (u32 c = 0; c < shares->codes; c++) {
		q->base[kind][c] = base;
		base += 1u << EXTRA[kind][c];
	}
	spread_states(shares, q->code[kind], q->next[kind], [=](u32 i, u32 c, u32 bits, u32 next) {
		q->step[kind][i] = next | bits << 16 | (u32)EXTRA[kind][c] << 24;
	});
}

/* The lane that walks through the states, a single chain of dependencies. */
struct walk {
	struct stream s;
	u32 at, bottom; /* the next bit is the one before `at` */
	u32 length, offset, match;

	INLINE void begin(const struct unpack_block *b, const u8 *packed, u32 top)
	{
		const u32 l = b->shares[LENGTHS].log, o = b->shares[OFFSETS].log,
			  m = b->shares[MATCHES].log;

		bottom = 8 * (b->sequences_at + UNPACK_BEFORE);
		at = top - (l + o + m);
		length = bits_before(packed, top, l);
		offset = bits_before(packed, top - l, o);
		match = bits_before(packed, top - l - o, m);
		s.begin(packed, at);
	}

	/* Walk n sequences into `met`; ends: the last ends the stream. False: refused. */
	INLINE bool turn(const struct sequences *q, const u8 *packed, uint2 *met, u32 n, bool ends)
	{
		for (u32 i = 0; i < n; i++) {
			const u32 l = q->step[LENGTHS][length], o = q->step[OFFSETS][offset],
				  m = q->step[MATCHES][match];
			/* None of the three parts of a sum overflows. */
			const u32 sum = l + o + m, extra = sum >> 24, bits = sum >> 16 & 255;

			met[i].x = at;
			met[i].y = length | offset << 10 | match << 20;
			at -= extra;
			if (ends && i + 1 == n)
				return at == bottom;
			if (extra < 32) {
				s.skip(extra);
				s.refill();
			} else {
				s.begin(packed, at);
				s.refill();
			}
			const u32 first = (u32)(s.bits >> 32), second = first << (l >> 16 & 15),
				  third = second << (m >> 16 & 15);
			length = (l & 0xffff) + highest(first, l >> 16);
			match = (m & 0xffff) + highest(second, m >> 16);
			offset = (o & 0xffff) + highest(third, o >> 16);
			s.skip(bits);
			s.refill();
			at -= bits;
		}
		return (int)(at - bottom) >= 0;
	}
};

/* The warp that reads the numbers and tracks repeated offsets. */
struct numbers {
	u32 repeat[3];
	u32 literals, matches; /* bytes of this lane's sequences */
	bool no_offset;

	/* Read the sequences from `from` on, one per lane; `met` is this lane's. */
	INLINE void read(const struct sequences *q, const struct unpack_memory &m,
			 const struct unpack_block *b, uint2 met, u32 from, u32 lane)
	{
		const u8 *const packed = packed_of(m);
		const u32 i = from + lane, n = b->sequences - from < 32 ? b->sequences - from : 32;
		const bool live = lane < n;
		u32 packed_offset = 4, plain = 0, match = 0, offset = 1;

		if (live) {
			const u32 l = q->code[LENGTHS][met.y & 1023],
				  o = q->code[OFFSETS][met.y >> 10 & 1023],
				  k = q->code[MATCHES][met.y >> 20];
			const u32 after_offset = met.x - EXTRA[OFFSETS][o],
				  after_match = after_offset - EXTRA[MATCHES][k];
			packed_offset =
				q->base[OFFSETS][o] + bits_before(packed, met.x, EXTRA[OFFSETS][o]);
			match = q->base[MATCHES][k] +
				bits_before(packed, after_offset, EXTRA[MATCHES][k]);
			plain = q->base[LENGTHS][l] +
				bits_before(packed, after_match, EXTRA[LENGTHS][l]);
		}
		literals += plain;
		matches += match;
		/* 0 to 2: the offset that repeats; 3: the first minus one; more: an offset + 3. */
		const u32 key =
			packed_offset > 3 ? packed_offset : packed_offset - 1 + (plain == 0);
		for (u32 k = 0; k < n; k++) {
			const u32 which = __shfl_sync(~0u, key, k);
			const u32 its = which > 3    ? which - 3
					: which == 0 ? repeat[0]
					: which == 1 ? repeat[1]
					: which == 2 ? repeat[2]
						     : repeat[0] - 1;
			repeat[2] = which > 1 ? repeat[1] : repeat[2];
			repeat[1] = which > 0 ? repeat[0] : repeat[1];
			repeat[0] = its;
			offset = lane == k ? its : offset;
		}
		no_offset |= offset == 0;
		if (live) {
			((u32 *)m.offset)[b->first + i] = offset;
			((u32 *)m.literals)[b->first + i] = plain;
			((u32 *)m.match)[b->first + i] = match;
		}
	}

	/* Write the block's state, after its last sequence. */
	INLINE void finish(const struct unpack_block *b, struct unpack_state *state, bool stopped,
			   u32 lane)
	{
		/* If `over` is false in all lanes, neither sum over 32 lanes wraps around. */
		bool over = literals > b->literals || matches > b->most || no_offset;

		for (u32 k = 1; k < 32; k *= 2) {
			literals += __shfl_xor_sync(~0u, literals, k);
			matches += __shfl_xor_sync(~0u, matches, k);
		}
		over = __any_sync(~0u, over) || stopped || literals > b->literals ||
		       matches + b->literals > b->most;
		if (lane > 0)
			return;
		state->bytes = over ? b->literals : b->literals + matches;
		for (u32 k = 0; k < 3; k++)
			state->after[k] = repeat[k];
		state->refused = over;
	}
};

/*
 * Read the sequences of a block with two warps. One lane of the first walks through the states, at
 * 128 ns per sequence on an H200; only many blocks at a time make up for that. The second warp
 * reads the numbers, BATCH sequences behind.
 */
INLINE void read_sequences(const struct unpack_memory &m)
{
	__shared__ struct sequences q;
	const u32 tid = threadIdx.x, lane = tid & 31;
	const struct unpack_block *const b = block_of(m, blockIdx.x);
	struct unpack_state *const state = state_of(m, blockIdx.x);
	const u32 n = b->sequences, batches = (n + BATCH - 1) / BATCH;

	if (n == 0) {
		if (tid == 0) {
			state->bytes = b->literals;
			state->refused = 0;
		}
		return;
	}
	if (tid < KINDS)
		build_table(&q, tid, &b->shares[tid]);
	if (tid < 2)
		q.stop[tid] = 0;
	__syncthreads();
	const u8 *const packed = packed_of(m);
	const u32 last = b->sequences_at + UNPACK_BEFORE + b->sequences_packed - 1;
	const u32 mark = packed[last];
	struct numbers numbers = {{EARLIER(0), EARLIER(1), EARLIER(2)}, 0, 0, false};
	struct walk walk;
	bool stopped = false;

	if (tid == 0)
		walk.begin(b, packed, 8 * last + bits_of(mark | 1) - 1);
	for (u32 turn = 0; turn <= batches && !stopped; turn++) {
		if (tid == 0 && turn < batches) {
			const bool ends = turn + 1 == batches;
			const u32 many = ends ? n - turn * BATCH : (u32)BATCH;
			q.stop[turn & 1] =
				!walk.turn(&q, packed, q.met[turn & 1], many, ends) || mark == 0;
		}
		for (u32 half = 0; tid >= 32 && turn > 0 && half < BATCH; half += 32) {
			const u32 from = (turn - 1) * BATCH + half;
			if (from < n)
				numbers.read(&q, m, b, q.met[(turn - 1) & 1][half + lane], from,
					     lane);
		}
		__syncthreads();
		stopped = q.stop[turn & 1] != 0;
	}
	if (tid >= 32)
		numbers.finish(b, state, stopped, lane);
}

#endif
