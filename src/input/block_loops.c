/* SPDX-License-Identifier: MIT */
/*
 * block_loops: decodes literals and sequences, and executes them. The Makefile compiles this file
 * once for each instruction set, with ISA set to its name.
 *
 * The loops read a stream of bits from its last byte to its first, in 64-bit words that end in the
 * stream; the last word may begin BLOCK_BEFORE bytes before it. A stream is valid only if exactly
 * all its bits are used.
 */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/little.h"
#include "input/block_loops.h"

#ifndef ISA
#define ISA base
#endif
#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)

#define INLINE static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Returns the bits of the last byte down to its highest set bit, the end mark; 9: no mark. */
INLINE unsigned end_bits(const unsigned char *end)
{
	return end[-1] == 0 ? 9 : (unsigned)__builtin_clz(end[-1]) - 23;
}

/* ---- literals ---- */

#define STREAMS 4u
#define TURN 5u /* literals between two refills: 7 + 5 x 11 bits leave one of 64 */

/* The next bits are the word's highest; its lowest set bit marks how many were used. */
struct codes {
	const unsigned char *at; /* address of the word */
	uint64_t word;
};

/* False: the stream has no end. */
INLINE bool codes_begin(struct codes *s, const unsigned char *begin, const unsigned char *end)
{
	const unsigned bits = begin < end ? end_bits(end) : 9;

	if (bits > 8)
		return false;
	s->at = end - 8 - bits / 8;
	s->word = (little64(s->at) | 1) << bits % 8;
	return true;
}

INLINE unsigned char codes_next(struct codes *s, const uint16_t *table)
{
	const unsigned e = table[s->word >> (64 - TREE_LOG)];

	s->word <<= e & 63;
	return (unsigned char)(e >> 8);
}

/* False: more bits were used than the stream has. */
INLINE bool codes_refill(struct codes *s, const unsigned char *begin)
{
	const unsigned used = (unsigned)__builtin_ctzll(s->word);

	s->at -= used / 8;
	if (unlikely(s->at < begin - BLOCK_BEFORE))
		return false;
	s->word = (little64(s->at) | 1) << used % 8;
	return true;
}

/* Decodes the rest of a stream. False: it is damaged, or some bits are left. */
INLINE bool codes_finish(struct codes *s, const uint16_t *table, const unsigned char *begin,
			 unsigned char *to, const unsigned char *end)
{
	while (to < end) {
		*to++ = codes_next(s, table);
		if (!codes_refill(s, begin))
			return false;
	}
	return s->at == begin - BLOCK_BEFORE && (s->word & 1) != 0;
}

/* Each stream holds a quarter of the literals, rounded up; the last holds the rest. */
static bool four_streams(const uint16_t *table, const unsigned char *packed, uint32_t bytes,
			 unsigned char *to, uint32_t n)
{
	const uint32_t quarter = (n + 3) / 4;
	const unsigned char *begin[STREAMS];
	struct codes s[STREAMS];
	uint32_t turns = (n - 3 * quarter) / TURN, done = turns * TURN, at = 6;
	bool fine = true;

	for (unsigned k = 0; k < STREAMS && fine; k++) {
		begin[k] = packed + at;
		at = k == STREAMS - 1 ? bytes : at + packed[2 * k] + 256u * packed[2 * k + 1];
		fine = at <= bytes && codes_begin(&s[k], begin[k], packed + at);
	}
	unsigned char *out = to;
	for (; turns > 0 && fine; turns--, out += TURN) {
		for (unsigned i = 0; i < TURN; i++)
			for (unsigned k = 0; k < STREAMS; k++)
				out[k * quarter + i] = codes_next(&s[k], table);
		for (unsigned k = 0; k < STREAMS; k++)
			fine &= codes_refill(&s[k], begin[k]);
	}
	for (unsigned k = 0; k < STREAMS; k++)
		fine = fine && codes_finish(&s[k], table, begin[k], to + k * quarter + done,
					    k + 1 < STREAMS ? to + (k + 1) * quarter : to + n);
	return fine;
}

static const char *literals(const struct block_coder *c, const struct block *b, unsigned char *to)
{
	const unsigned char *const at = b->literals_at;
	struct codes s;

	if (b->how == LITERALS_ONE_STREAM /* 1023 literals at most: speed does not matter */
		    ? codes_begin(&s, at, at + b->literals_packed) &&
			      codes_finish(&s, c->literals, at, to, to + b->literals)
		    : four_streams(c->literals, at, b->literals_packed, to, b->literals))
		return NULL;
	return "the literals of a block are damaged";
}

/* ---- sequences ---- */

/*
 * A symbol stands for a repeat offset from before the block, which is not known yet: EARLIER(i) for
 * the i-th of the three, EARLIER(i) - k for that offset minus k. A block has too few sequences for
 * k to reach the next symbol.
 */
#define LONG 0xffffu /* value of `literals` if the lengths are in b->longs */
#define EARLIER(i) (0x80000000u + ((i) + 1u) * 0x10000u)
static_assert(BLOCK_SEQUENCES_MAX < 0x10000u && BLOCK_WINDOW_MAX < 0x80000000u, "");

/* Returns the offset that a symbol stands for; 0: an invalid one. */
static uint32_t earlier_resolve(uint32_t offset, const uint32_t repeat[3])
{
	if (offset < 0x80000000u)
		return offset;
	const uint32_t i = (offset - EARLIER(0) + 0xffff) / 0x10000u;
	const uint32_t less = EARLIER(i) - offset;
	return repeat[i] > less ? repeat[i] - less : 0;
}

/* The next bits are the word's highest. */
struct bits {
	const unsigned char *at; /* address of the word */
	uint64_t word;
	unsigned used; /* bits taken from the word */
};

INLINE uint32_t bits_take(struct bits *s, unsigned n)
{
	const uint32_t v = (uint32_t)(s->word >> 1 >> (63 - n));

	s->word <<= n;
	s->used += n;
	return v;
}

/* Fills the word up to at least 57 bits. False: more bits were used than the stream has. */
INLINE bool bits_refill(struct bits *s, const unsigned char *begin)
{
	s->at -= s->used / 8;
	if (unlikely(s->at < begin - BLOCK_BEFORE))
		return false;
	s->used %= 8;
	s->word = little64(s->at) << s->used;
	return true;
}

/* Turns a packed offset into one in bytes, or a symbol; 0: an invalid one. */
INLINE uint32_t offset_next(uint32_t packed, bool no_literals, uint32_t repeat[3])
{
	if (likely(packed > 3)) {
		repeat[2] = repeat[1];
		repeat[1] = repeat[0];
		return repeat[0] = packed - 3;
	}
	const uint32_t i = packed - 1 + no_literals;
	const uint32_t offset = i == 3 ? repeat[0] - 1 : repeat[i];
	if (i > 1)
		repeat[2] = repeat[1];
	if (i > 0)
		repeat[1] = repeat[0];
	return repeat[0] = offset;
}

static const char *sequences(const struct block_coder *c, struct block *b, struct sequence *to)
{
	static const char DAMAGED[] = "the sequences of a block are damaged";
	const unsigned char *const begin = b->sequences_at, *const end =
								    begin + b->sequences_packed;
	const struct entry *const lengths = c->table[BLOCK_LENGTHS];
	const struct entry *const offsets = c->table[BLOCK_OFFSETS];
	const struct entry *const matches = c->table[BLOCK_MATCHES];
	uint32_t repeat[3] = {EARLIER(0), EARLIER(1), EARLIER(2)};
	struct bits s = {.at = end - 8, .used = end_bits(end)};
	size_t literal_bytes = 0, match_bytes = 0;
	unsigned longs = 0;

	if (s.used > 8 || !bits_refill(&s, begin))
		return DAMAGED;
	struct entry l = lengths[bits_take(&s, b->shares[BLOCK_LENGTHS].log)];
	struct entry o = offsets[bits_take(&s, b->shares[BLOCK_OFFSETS].log)];
	struct entry m = matches[bits_take(&s, b->shares[BLOCK_MATCHES].log)];
	if (!bits_refill(&s, begin))
		return DAMAGED;
	for (uint32_t left = b->sequences;; to++) {
		/* Read the three numbers' bits, then the three states': 9 + 9 + 8 at most. */
		const uint32_t packed = o.base + bits_take(&s, o.extra);
		if (unlikely(o.extra + m.extra + l.extra > 57 - 26) && !bits_refill(&s, begin))
			return DAMAGED;
		const uint32_t match = m.base + bits_take(&s, m.extra);
		const uint32_t plain = l.base + bits_take(&s, l.extra);
		if (unlikely(m.extra + l.extra > 57 - 26) && !bits_refill(&s, begin))
			return DAMAGED;
		to->offset = offset_next(packed, plain == 0, repeat);
		to->literals = (uint16_t)plain;
		to->match = (uint16_t)match;
		if (unlikely(to->offset == 0))
			return DAMAGED;
		literal_bytes += plain;
		match_bytes += match;
		if (unlikely(plain >= LONG || match >= LONG)) {
			if (longs == 2)
				return DAMAGED;
			b->longs[longs][0] = plain;
			b->longs[longs++][1] = match;
			to->literals = LONG;
		}
		if (--left == 0)
			break;
		l = lengths[l.next + bits_take(&s, l.bits)];
		m = matches[m.next + bits_take(&s, m.bits)];
		o = offsets[o.next + bits_take(&s, o.bits)];
		if (!bits_refill(&s, begin))
			return DAMAGED;
	}
	if (8 * (s.at - begin) + 64 != s.used || literal_bytes > b->literals ||
	    match_bytes + b->literals > b->most)
		return DAMAGED;
	memcpy(b->repeat, repeat, sizeof(repeat));
	b->bytes = b->literals + (uint32_t)match_bytes;
	return NULL;
}

/* ---- execution ---- */

/*
 * Copies of whole vectors write up to BLOCK_SLACK - 1 bytes too many. That is allowed only away
 * from the block's end, behind which another thread may write.
 */

/* Copies literals, and reads and writes up to BLOCK_SLACK - 1 bytes too many. */
INLINE void copy_literals(unsigned char *to, const unsigned char *from, size_t n)
{
	memcpy(to, from, 16);
	if (unlikely(n > 16))
		for (size_t i = 16; i < n; i += 32)
			memcpy(to + i, from + i, 32);
}

/* Copies a match from `offset` bytes back, and writes up to BLOCK_SLACK - 1 bytes too many. */
INLINE void copy_match(unsigned char *to, size_t offset, size_t n)
{
	/* The least multiple of a short offset that is at least 8. */
	static const uint8_t BACK[16] = {0, 8, 8, 9, 8, 10, 12, 14, 8, 9, 10, 11, 12, 13, 14, 15};
	const unsigned char *const from = to - offset;

	if (likely(offset >= 16)) {
		memcpy(to, from, 16);
		if (unlikely(n > 16))
			for (size_t i = 16; i < n; i += 32) {
				memcpy(to + i, from + i, 16);
				memcpy(to + i + 16, from + i + 16, 16);
			}
	} else if (offset == 1) {
		memset(to, *from, n);
	} else {
		for (size_t i = 0; i < 16; i++)
			to[i] = from[i];
		for (size_t i = 16; i < n; i += 8)
			memcpy(to + i, to + i - BACK[offset], 8);
	}
}

/* Copies a match, and writes no byte too many. Only the end of a long match is copied by bytes. */
INLINE void copy_match_exactly(unsigned char *to, size_t offset, size_t n)
{
	const unsigned char *const from = to - offset;
	size_t i = 0;

	if (n >= 2 * BLOCK_SLACK) {
		i = n - BLOCK_SLACK;
		copy_match(to, offset, i);
	}
	for (; n - i >= 16 && offset >= 16; i += 16)
		memcpy(to + i, from + i, 16);
	for (; i < n; i++)
		to[i] = from[i];
}

/* Returns the lengths of a sequence, which may be in b->longs. */
INLINE void lengths_of(const struct block *b, const struct sequence *s, unsigned *longs,
		       size_t *plain, size_t *match)
{
	*plain = s->literals;
	*match = s->match;
	if (unlikely(*plain == LONG)) {
		*plain = b->longs[*longs][0];
		*match = b->longs[(*longs)++][1];
	}
}

static const char *execute(const struct block *b, const struct sequence *s,
			   const unsigned char *from, struct block_past *past, unsigned char *to)
{
	const unsigned char *const from_end = from + b->literals;
	const struct sequence *const end = s + b->sequences;
	unsigned char *const to_end = to + b->bytes, *out = to;
	const uint64_t before = past->bytes, window = past->window;
	const unsigned char *const begin = past->begin;
	unsigned longs = 0;

	for (; s < end; s++) {
		size_t plain, match, offset = s->offset;
		lengths_of(b, s, &longs, &plain, &match);
		const bool roomy = (size_t)(to_end - out) >= plain + match + BLOCK_SLACK;
		if (likely(roomy))
			copy_literals(out, from, plain);
		else
			memcpy(out, from, plain);
		out += plain;
		from += plain;
		const size_t run = (size_t)(out - begin);
		if (unlikely(offset > run || offset > window)) {
			offset = earlier_resolve(s->offset, past->repeat);
			if (offset == 0 || offset > window || offset > before + (size_t)(out - to))
				return "a match begins before the frame or its window";
			if (offset > run) {
				const size_t n = offset - run < match ? offset - run : match;
				memcpy(out, past->older - (offset - run), n);
				copy_match_exactly(out + n, run + n, match - n);
				out += match;
				continue;
			}
		}
		if (likely(roomy))
			copy_match(out, offset, match);
		else
			copy_match_exactly(out, offset, match);
		out += match;
	}
	memcpy(out, from, (size_t)(from_end - from));
	uint32_t repeat[3];
	for (unsigned i = 0; i < 3; i++)
		repeat[i] = earlier_resolve(b->repeat[i], past->repeat);
	memcpy(past->repeat, repeat, sizeof(repeat));
	return NULL;
}

const struct block_loops NAME(block_loops_, ISA) = {sequences, literals, execute};
