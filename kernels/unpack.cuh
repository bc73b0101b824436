/* SPDX-License-Identifier: MIT */
/*
 * unpack: the blocks of a zstd frame, side by side (unpack.h). In the order in which a batch needs
 * them:
 *
 *     read_sequences     numbers of sequences from their streams of bits; bytes of each block
 *     chain_blocks       where each block begins, and the offsets that repeat; in order
 *     read_literals      from Huffman's codes to bytes
 *     place_sequences    literals to where the sequences say; a byte of a match notes a distance
 *     resolve_matches    each byte of a match from where it comes from
 *     keep_bytes         the batch to the ring, for the matches of later ones
 *
 * What the host has read in headers is right, and trusted: what lies where, and the shares of
 * tables. All bits of streams, jump tables and descriptions of trees are hostile. The verdicts are
 * those of src/input/block_loops.c: a stream is right only if all its bits are used, and no more.
 *
 * Offsets of bytes and bits are counted from UNPACK_BEFORE bytes before the packed ones, so that
 * none is negative where a damaged stream goes on before its beginning.
 */
#ifndef GPUHIST_UNPACK_CUH
#define GPUHIST_UNPACK_CUH

#include "reader.cuh"
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

/* Refuses the batch: only after chain_blocks, which writes the answer. */
INLINE void refuse(const struct unpack_memory &m)
{
	atomicOr(&answer_of(m)->refused, 1u);
}

/* The position of the highest bit that is set, plus one; 0: none is set. */
INLINE u32 bits_of(u32 v)
{
	return 32 - (u32)__clz((int)v);
}

/* ---- streams of bits, read from their last byte to their first --------------- */

/*
 * The next bits are the highest of `bits`, which has n of them. The word before these is fetched
 * while they are used.
 */
struct stream {
	u64 bits;
	int n;
	u32 ahead;
	const u32 *at; /* address of `ahead` */

	/* The next bit is the one before position `top`. */
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
	/* Afterwards there are more than 32 bits, if any was left. */
	INLINE void refill()
	{
		if (n > 32)
			return;
		bits |= (u64)ahead << (32 - n);
		n += 32;
		ahead = __ldg(--at);
	}
	/* Skips at most 32 bits. */
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

/* ---- tables of states ---------------------------------------------------------- */

/*
 * Fills a table of states: sets code[i] and calls each(i, code, bits, next) for each state i. One
 * thread. code has an entry for each state, next has one for each code.
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

/* ---- trees of literals ----------------------------------------------------------- */

enum { TREE_BITS = 11, TREE_CODES = 1 << TREE_BITS, WEIGHTS_BITS = 6 };

/* In shared memory. */
struct tree {
	u8 length[TREE_CODES], literal[TREE_CODES]; /* by the stream's next bits */
	u8 weight[256], sorted[256];                /* sorted: the literals, by their weights */
	u32 packed[34];                             /* the last one is read, but not used */
	u32 with[TREE_BITS + 1];                    /* literals of each weight */
	u32 weights, log;                           /* weights: 0: the tree is refused */
	struct unpack_shares shares;                /* of the weights; their states follow */
	u32 step[1 << WEIGHTS_BITS];                /* weight | bits << 8 | next state << 16 */
	u8 code[1 << WEIGHTS_BITS];
	u16 next[TREE_BITS + 1];
};

/* The bits from position `at` on: 25 that are right, and some above that may be wrong. */
INLINE u32 bits_from(const u8 *p, u32 at)
{
	p += at / 8;
	return (p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24) >> at % 8;
}

/* Reads the weights' shares from the n bytes at p. Returns how many they take; 0: refused. */
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

/* Unpacks weights from n bytes, by two states in turns. Returns how many; 0: refused. */
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

/* The weights of all literals; the last one makes the sum a power of two. One thread. */
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

/* Builds a tree's tables, by all lanes of a warp. False, in all lanes: the tree is refused. */
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

/* Copies n bytes, by all lanes of a warp, in whole words as far as possible. */
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

/* Skips the next literal. Returns how many bits it has. */
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

/* Two literals take 22 of more than 32 bits, and leave enough for a refill. */
INLINE u32 two_literals(struct stream &s, const struct tree *t)
{
	s.refill();
	const u32 first = next_literal(s, t);
	return first | next_literal(s, t) << 8;
}

/*
 * How many literals begin from position `top` down to above `bottom`; top becomes where the next
 * one begins, which is at `bottom` or up to TREE_BITS - 1 bits below.
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

/* Writes the next n literals, from position `top` down. */
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
 * One of a block's one or four streams: its bits go from `top` down to `bottom`, and its literals
 * from `first` on. exists: these eight lanes have one; fine: it has an end, in the block's bytes.
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
	if (four) { /* the sizes of the first three streams are before the streams */
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
 * Reads a stream by eight lanes. Where codes begin in the middle of a stream is not known; but a
 * lane that begins anywhere soon meets them, usually within 60 bits. So each lane begins EARLY bits
 * before its eighth, and counts the literals that begin in its eighth. If the lane before it ended
 * elsewhere, it counts again from there: lane i is right after i turns at the latest. Then each
 * lane knows where its literals go, and writes them.
 *
 * False: the stream is refused. Nothing is written if any stream of the block is refused.
 */
INLINE bool read_stream(const struct literals_stream &a, const u8 *packed, const struct tree *t,
			u8 *to, u32 lane)
{
	enum { EARLY = 512, SHORT = 4096 }; /* bits; streams below SHORT are read by one lane */
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
 * Decodes the literals of a block, by a warp.
 *
 * Each load of packed bytes and each look at a table is a wait. As many warps as fit hide these
 * waits, and the 5 KiB of a tree allow 32 warps on a multiprocessor.
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

/* ---- sequences ----------------------------------------------------------------- */

enum { LENGTHS, OFFSETS, MATCHES, KINDS };
enum { STATES = 512, CODES = 53, BATCH = 64 };

/* Bits that follow each code of a number. */
__constant__ u8 EXTRA[KINDS][CODES] = {
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  1,  1,
	 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
	 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30},
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
	 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
};

/*
 * An offset that repeats one from before the block is not known yet: EARLIER(i) stands for the i-th
 * offset from before, and EARLIER(i) - k for that offset less k (block_loops.c).
 */
#define EARLIER(i) (0x80000000u + ((i) + 1u) * 0x10000u)

/* 0: there is no such offset. */
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
	uint2 met[2][BATCH]; /* of a sequence: position of its bits; states, 10 bits each */
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

/* The lane that walks through the states; all that it does is one chain. */
struct walk {
	struct stream s;
	u32 at, bottom; /* the next bit is before `at` */
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

	/* Walks the next n sequences into `met`; ends: the last ends the stream. False: refused. */
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

/* The warp that reads the numbers, and follows the offsets that repeat. */
struct numbers {
	u32 repeat[3];
	u32 literals, matches; /* of this lane's sequences */
	bool no_offset;

	/* Reads the sequences from `from` on, a lane each; `met` is this lane's. */
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
		/* 0 to 2: which offset repeats; 3: the first, less one; more: an offset plus 3. */
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

	/* Writes the state of the block, after its last sequence. */
	INLINE void finish(const struct unpack_block *b, struct unpack_state *state, bool stopped,
			   u32 lane)
	{
		/* If this is so of no lane, neither of the sums of 32 lanes wraps around. */
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
 * Reads the sequences of a block, by two warps. One lane of the first walks through the states: 128
 * ns a sequence on an H200, which only many blocks at a time make up for. The second warp reads the
 * numbers, BATCH sequences behind.
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

/* ---- the chain ------------------------------------------------------------------- */

/*
 * Finds where each block is and which offsets repeat; batch after batch, one warp. Afterwards the
 * answer has what this batch needs of those before it, and the carry what the next batch needs.
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

		if (batch->begins) {
			c = {batch->before,
			     batch->before,
			     batch->window,
			     {batch->repeat[0], batch->repeat[1], batch->repeat[2]}};
		}
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

/* ---- places ------------------------------------------------------------------------ */

enum { PLACERS = 256, WARPS = PLACERS / 32 };

/* In shared memory. */
struct places {
	u32 literals[WARPS], bytes[WARPS]; /* of the sequences of each warp */
	u32 longs;                         /* runs too long for a lane, left to warps: */
	u32 from[2 * PLACERS];             /* literals: where they are; a match: its offset */
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

/* How far back byte k of a match comes from: before the match, even if that overlaps itself. */
INLINE u32 distance_of(u32 offset, u32 k)
{
	return offset * (1 + k / offset);
}

/* By a warp each: copies the long runs of literals, and notes the distances of long matches. */
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

/* The sum of *done and of all `own` before this thread's; adds those of all threads to *done. */
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
 * Copies literals to their place, and notes for each byte of a match how far back it comes from;
 * 256 sequences at a time. A block whose sequences were refused is left as it is: numbers may be
 * missing.
 */
INLINE void place_sequences(const struct unpack_memory &m)
{
	enum { FEW_LITERALS = 8, FEW_BYTES = 32, PIECE = 4096 }; /* few: what one lane does */
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
 * Resolves each byte of a match in the region from `from` on, 1024 bytes a CTA: follows distances
 * to a literal, a byte before the region, which is final, or one before the batch, which is in the
 * ring. A thread follows four bytes side by side, as each hop is a wait.
 *
 * Threads lengthen distances that others may read, to save hops: the old and the new are right.
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

/* Copies the batch to its place in the ring, in pieces, a warp each; any grid. */
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
