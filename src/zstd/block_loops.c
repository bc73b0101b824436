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

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "base/little.h"
#include "base/loops.h"
#include "zstd/block_loops.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Return the bits of the last byte down to its highest set bit, the end mark; 9: no mark. */
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

/* Decode the rest of a stream. False: it is damaged, or some bits are left. */
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

/* Take one or two literals, and write two bytes. Return the end of the literals. */
INLINE unsigned char *codes_pair(struct codes *s, const uint32_t *table, unsigned char *to)
{
	const uint32_t e = table[s->word >> (64 - TREE_LOG)];
	const uint16_t two = (uint16_t)(e >> 16);

	s->word <<= e & 63;
	memcpy(to, &two, sizeof(two));
	return to + (e >> 8 & 255);
}

/* Four streams, and where their literals go. */
struct streams {
	struct codes code[STREAMS];
	const unsigned char *begin[STREAMS];
	unsigned char *to[STREAMS], *end[STREAMS];
};

/* Each stream holds a quarter of the literals, rounded up; the last holds the rest. */
static bool streams_begin(struct streams *s, const struct block *b, unsigned char *to)
{
	const unsigned char *const sizes = b->literals_at;
	const uint32_t quarter = (b->literals + 3) / 4;
	uint32_t at = 6;

	for (unsigned k = 0; k < STREAMS; k++) {
		const bool last = k == STREAMS - 1;
		s->begin[k] = sizes + at;
		s->to[k] = to + k * quarter;
		s->end[k] = last ? to + b->literals : s->to[k] + quarter;
		at = last ? b->literals_packed : at + sizes[2 * k] + 256u * sizes[2 * k + 1];
		if (at > b->literals_packed || !codes_begin(&s->code[k], s->begin[k], sizes + at))
			return false;
	}
	return true;
}

/* Return the number of turns, of up to that many literals, that neither read nor write too far. */
INLINE size_t streams_turns(const struct streams *s, size_t literals)
{
	size_t turns = SIZE_MAX;

	for (unsigned k = 0; k < STREAMS; k++) {
		/* A stream that is too short reads the one before it; codes_finish refuses it. */
		const size_t in = (size_t)(s->code[k].at + BLOCK_BEFORE - s->begin[0]) / 7;
		const size_t out = (size_t)(s->end[k] - s->to[k]) / literals;
		turns = in < turns ? in : turns;
		turns = out < turns ? out : turns;
	}
	return turns;
}

/* Decode most of the literals. pairs: up to two at once. */
INLINE void streams_decode(struct streams *all, const struct block_coder *c, bool pairs)
{
	const ptrdiff_t quarter = all->to[1] - all->to[0];
	struct codes s[STREAMS];
	unsigned char *to[STREAMS];

	for (size_t turns; (turns = streams_turns(all, pairs ? 2 * TURN : TURN)) > 0;) {
		memcpy(s, all->code, sizeof(s));
		memcpy(to, all->to, sizeof(to));
		for (size_t n = turns; n > 0; n--) {
			for (unsigned i = 0; i < TURN; i++)
				for (unsigned k = 0; k < STREAMS; k++)
					if (pairs)
						to[k] = codes_pair(&s[k], c->pairs, to[k]);
					else
						to[0][k * quarter + i] =
							codes_next(&s[k], c->literals);
			to[0] += pairs ? 0 : TURN;
			for (unsigned k = 0; k < STREAMS; k++) {
				const unsigned used = (unsigned)__builtin_ctzll(s[k].word);
				s[k].at -= used / 8;
				s[k].word = (little64(s[k].at) | 1) << used % 8;
			}
		}
		memcpy(all->code, s, sizeof(s));
		for (unsigned k = 0; k < STREAMS; k++)
			all->to[k] = pairs ? to[k] : all->to[k] + turns * TURN;
	}
}

static bool four_streams(const struct block_coder *c, const struct block *b, unsigned char *to)
{
	struct streams s;
	bool fine = streams_begin(&s, b, to);

	if (fine && c->in_pairs)
		streams_decode(&s, c, true);
	else if (fine)
		streams_decode(&s, c, false);
	for (unsigned k = 0; k < STREAMS && fine; k++)
		fine = codes_finish(&s.code[k], c->literals, s.begin[k], s.to[k], s.end[k]);
	return fine;
}

static const char *literals(const struct block_coder *c, const struct block *b, unsigned char *to)
{
	const unsigned char *const at = b->literals_at;
	struct codes s;

	if (b->how == LITERALS_ONE_STREAM /* 1023 literals at most: speed does not matter */
		    ? codes_begin(&s, at, at + b->literals_packed) &&
			      codes_finish(&s, c->literals, at, to, to + b->literals)
		    : four_streams(c, b, to))
		return NULL;
	return "the literals of a block are damaged";
}

/* ---- sequences ---- */

/*
 * A symbol stands for a repeat offset from before the block, which is not known yet: EARLIER(i) for
 * the i-th of the three, EARLIER(i) - k for that offset minus k. A block has too few sequences for
 * k to reach the next symbol.
 */
#define LONG 0xffffu /* value of both lengths if they are in b->longs */
#define EARLIER(i) (0x80000000u + ((i) + 1u) * 0x10000u)
static_assert(2 * LONG > FRAME_BLOCK_MAX - BLOCK_SLACK, "a long sequence ends after the vectors");
static_assert(BLOCK_SEQUENCES_MAX < 0x10000u && BLOCK_WINDOW_MAX < 0x80000000u, "");

/* Return the offset that a symbol stands for; 0: an invalid one. */
static uint32_t earlier_resolve(uint32_t offset, const uint32_t repeat[3])
{
	if (offset < 0x80000000u)
		return offset;
	const uint32_t i = (offset - EARLIER(0) + 0xffff) / 0x10000u;
	const uint32_t less = EARLIER(i) - offset;
	return repeat[i] > less ? repeat[i] - less : 0;
}

#define WORD_BITS 56u /* bits that a word has at least, when it is read */

/* The bits of a word that are not yet taken are its lowest. */
struct bits {
	const unsigned char *at; /* address of the word's last byte */
	uint64_t word;
	uint32_t have; /* number of bits not yet taken; only the lowest six bits count */
};

/* Return the lowest n bits of v; only the lowest eight bits of n count. */
INLINE uint64_t lowest(uint64_t v, uint32_t n)
{
#ifdef __BMI2__
	return _bzhi_u64(v, n);
#else
	return v & (((uint64_t)1 << (n & 63)) - 1);
#endif
}

/* Take up to 31 bits; only the lowest eight bits of n count. */
INLINE uint64_t bits_take(struct bits *s, uint32_t n)
{
	s->have -= n;
	return lowest(s->word >> (s->have & 63), n);
}

/* Read the word that ends with the next bits. False: more were taken than the stream has. */
INLINE bool bits_refill(struct bits *s, const unsigned char *begin)
{
	const uint32_t have = s->have | WORD_BITS;

	s->at -= (have ^ s->have) / 8;
	s->have = have;
	if (unlikely(s->at < begin))
		return false;
	s->word = little64(s->at - 7);
	return true;
}

/*
 * A struct entry in one register: as a struct, the compiler spread it over memory. EXTRA and BITS
 * leave higher bits for bits_take to ignore. Rotating is an instruction less than shifting a copy.
 */
#define ROTATED(e, n) ((uint32_t)((e) >> (n) | (e) << (64 - (n))))
#define EXTRA(e) ((uint32_t)(e))
#define BITS(e) ROTATED(e, 8)
#define BASE(e) ROTATED(e, 16)
#define NEXT(e) ((e) >> 48)

INLINE uint64_t entry_get(const struct block_coder *c, unsigned kind, uint64_t state)
{
	return little64((const unsigned char *)&c->table[kind][state]);
}

/*
 * The last three offsets, which may be symbols. As an array, or copied as a whole, they would lie
 * in memory, not in registers.
 */
struct repeats {
	uint32_t first, second, third;
};

/* Turn a packed offset into one in bytes, or a symbol; 0: an invalid one. */
INLINE uint32_t offset_next(uint32_t packed, bool no_literals, struct repeats *r)
{
	if (likely(packed > 3)) {
		r->third = r->second;
		r->second = r->first;
		return r->first = packed - 3;
	}
	const uint32_t i = packed - 1 + no_literals;
	const uint32_t offset = i == 0   ? r->first
				: i == 1 ? r->second
				: i == 2 ? r->third
					 : r->first - 1;
	r->third = i > 1 ? r->second : r->third;
	r->second = i > 0 ? r->first : r->second;
	return r->first = offset;
}

static const char *sequences(const struct block_coder *c, struct block *b, struct sequence *to)
{
	static const char DAMAGED[] = "the sequences of a block are damaged";
	const unsigned char *const begin = b->sequences_at, *const end =
								    begin + b->sequences_packed;
	const struct sequence *const last = to + b->sequences - 1;
	struct repeats repeat = {EARLIER(0), EARLIER(1), EARLIER(2)};
	struct bits s = {.at = end - 1, .have = 64 - end_bits(end)};
	uint64_t literal_bytes = 0, match_bytes = 0;
	unsigned longs = 0;

	if (s.have < WORD_BITS)
		return DAMAGED;
	s.word = little64(s.at - 7);
	uint64_t l = entry_get(c, BLOCK_LENGTHS, bits_take(&s, b->shares[BLOCK_LENGTHS].log));
	uint64_t o = entry_get(c, BLOCK_OFFSETS, bits_take(&s, b->shares[BLOCK_OFFSETS].log));
	uint64_t m = entry_get(c, BLOCK_MATCHES, bits_take(&s, b->shares[BLOCK_MATCHES].log));
	if (!bits_refill(&s, begin))
		return DAMAGED;
	for (;; to++) {
		/* Read the three numbers' bits, then the three states': 9 + 9 + 8 at most. */
		const bool many = (uint8_t)(EXTRA(l) + EXTRA(m) + EXTRA(o)) > WORD_BITS - 26;
		const uint32_t packed = BASE(o) + (uint32_t)bits_take(&s, EXTRA(o));
		if (unlikely(many) && !bits_refill(&s, begin))
			return DAMAGED;
		const uint64_t match = BASE(m) + bits_take(&s, EXTRA(m));
		const uint64_t plain = BASE(l) + bits_take(&s, EXTRA(l));
		if (unlikely(many) && !bits_refill(&s, begin))
			return DAMAGED;
		const uint32_t offset = offset_next(packed, plain == 0, &repeat);
		if (unlikely(offset == 0))
			return DAMAGED;
		to->offset = offset;
		to->literals = (uint16_t)plain;
		to->match = (uint16_t)match;
		literal_bytes += plain;
		match_bytes += match;
		if (unlikely((plain | match) >= LONG) && (plain >= LONG || match >= LONG)) {
			if (longs == 2)
				return DAMAGED;
			b->longs[longs][0] = (uint32_t)plain;
			b->longs[longs++][1] = (uint32_t)match;
			to->literals = to->match = LONG;
		}
		if (to == last)
			break;
		l = entry_get(c, BLOCK_LENGTHS, NEXT(l) + bits_take(&s, BITS(l)));
		m = entry_get(c, BLOCK_MATCHES, NEXT(m) + bits_take(&s, BITS(m)));
		o = entry_get(c, BLOCK_OFFSETS, NEXT(o) + bits_take(&s, BITS(o)));
		if (!bits_refill(&s, begin))
			return DAMAGED;
	}
	if (8 * (begin - s.at + 7) != (s.have & 63) || literal_bytes > b->literals ||
	    match_bytes + b->literals > b->most)
		return DAMAGED;
	b->repeat[0] = repeat.first;
	b->repeat[1] = repeat.second;
	b->repeat[2] = repeat.third;
	b->bytes = b->literals + (uint32_t)match_bytes;
	return NULL;
}

/* ---- execution ---- */

/*
 * Copies of whole vectors write up to BLOCK_SLACK bytes too many. That is allowed only away from
 * the block's end, after which another thread may write.
 */

/* Copy literals, and read and write fewer than BLOCK_SLACK bytes too many. */
INLINE void copy_literals(unsigned char *to, const unsigned char *from, size_t n)
{
	memcpy(to, from, 16);
	if (unlikely(n > 16))
		for (size_t i = 16; i < n; i += 32)
			memcpy(to + i, from + i, 32);
}

/* Copy the first 16 bytes of a match. */
INLINE void copy_first(unsigned char *to, size_t offset)
{
	const unsigned char *const from = to - offset;
#ifdef __SSSE3__
	/* Without a branch: short offsets come unpredictably. */
#define ROW(n)                                                                                \
	{                                                                                     \
		0 % n, 1 % n, 2 % n, 3 % n, 4 % n, 5 % n, 6 % n, 7 % n, 8 % n, 9 % n, 10 % n, \
			11 % n, 12 % n, 13 % n, 14 % n, 15 % n                                \
	}
	static const uint8_t ORDER[17][16] __attribute__((aligned(16))) = {
		{0},    ROW(1),  ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7), ROW(8),
		ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15), ROW(16)};
	const __m128i order =
		_mm_load_si128((const __m128i *)(const void *)ORDER[offset < 16 ? offset : 16]);
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)from);
	_mm_storeu_si128((__m128i *)(void *)to, _mm_shuffle_epi8(v, order));
#else
	if (likely(offset >= 16))
		memcpy(to, from, 16);
	else
		for (size_t i = 0; i < 16; i++)
			to[i] = from[i];
#endif
}

/*
 * Copy a match from `offset` bytes back, and write up to BLOCK_SLACK bytes too many. wide:
 * copy 32 bytes at least, because many matches have more than 16.
 */
INLINE void copy_match(unsigned char *to, size_t offset, size_t n, bool wide)
{
	/* The least multiple of a short offset that is at least 16. */
	static const uint8_t BACK[16] = {0,  16, 16, 18, 16, 20, 18, 21,
					 16, 18, 20, 22, 24, 26, 28, 30};

	copy_first(to, offset);
	if (!wide && likely(n <= 16))
		return;
	memcpy(to + 16, to + 16 - (offset < 16 ? BACK[offset] : offset), 16);
	if (unlikely(n > 32)) {
		const size_t back = offset < 32 ? offset * ((31 + offset) / offset) : offset;
		for (size_t i = 32; i < n; i += 32)
			memcpy(to + i, to + i - back, 32);
	}
}

/* Copy a match, and write no byte too many. Only the end of a long match is copied by bytes. */
static void copy_match_exactly(unsigned char *to, size_t offset, size_t n)
{
	const unsigned char *const from = to - offset;
	size_t i = 0;

	if (n >= 2 * BLOCK_SLACK) {
		i = n - BLOCK_SLACK;
		copy_match(to, offset, i, true);
	}
	for (; n - i >= 16 && offset >= 16; i += 16)
		memcpy(to + i, from + i, 16);
	for (; i < n; i++)
		to[i] = from[i];
}

/* Execute a block's sequences; wide: as in copy_match. */
INLINE const char *execute_as(const struct block *b, const struct sequence *s,
			      const unsigned char *from, struct block_past *past, unsigned char *to,
			      bool wide)
{
	const unsigned char *const from_end = from + b->literals, *const begin = past->begin;
	const struct sequence *const end = s + b->sequences;
	const uint64_t before = past->bytes, window = past->window;
	/* Sequences that end here or earlier are copied by vectors; LONG ones seem to end later. */
	const size_t roomy = b->bytes < BLOCK_SLACK ? 0 : b->bytes - BLOCK_SLACK;
	const unsigned char *const vectors = to + roomy;
	unsigned char *out = to;
	uint64_t reach = 0; /* the run in memory and the window go back this far, at least */
	unsigned longs = 0;

	for (; s < end; s++) {
		size_t plain = s->literals, match = s->match, offset = s->offset;
		if (unlikely((ptrdiff_t)(plain + match) > vectors - out || offset > reach)) {
			if (plain == LONG) {
				plain = b->longs[longs][0];
				match = b->longs[longs++][1];
			}
			const size_t run = (size_t)(out + plain - begin);
			reach = run < window ? run : window;
			if (offset > reach)
				offset = earlier_resolve(s->offset, past->repeat);
			if (offset == 0 || offset > window ||
			    offset > before + (size_t)(out + plain - to))
				return "a match begins before the frame or its window";
			if ((ptrdiff_t)(plain + match) > vectors - out || offset > reach) {
				memcpy(out, from, plain);
				from += plain;
				out += plain;
				if (offset > run) {
					const size_t more = offset - run;
					const size_t n = more < match ? more : match;
					memcpy(out, past->older - more, n);
					match -= n;
					out += n;
				}
				copy_match_exactly(out, offset, match);
				out += match;
				continue;
			}
		}
		copy_literals(out, from, plain);
		from += plain;
		out += plain;
		copy_match(out, offset, match, wide);
		out += match;
	}
	memcpy(out, from, (size_t)(from_end - from));
	uint32_t repeat[3];
	for (unsigned i = 0; i < 3; i++)
		repeat[i] = earlier_resolve(b->repeat[i], past->repeat);
	memcpy(past->repeat, repeat, sizeof(repeat));
	return NULL;
}

static const char *execute(const struct block *b, const struct sequence *s,
			   const unsigned char *from, struct block_past *past, unsigned char *to)
{
	const bool wide = b->bytes - b->literals > 10 * b->sequences;

	return wide ? execute_as(b, s, from, past, to, true)
		    : execute_as(b, s, from, past, to, false);
}

const struct block_loops FOR_ISA(block_loops_) = {sequences, literals, execute};
