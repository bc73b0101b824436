/* SPDX-License-Identifier: MIT */
/* block_tables: reads descriptions of tables, and builds the tables (RFC 8878, 4.1 and 4.2.1). */
#include "zstd/block_loops.h"

#include <assert.h>
#include <string.h>

#include "base/little.h"

/* The number of bits of v, up to its highest set bit; v > 0. */
static unsigned bits_of(uint32_t v)
{
	return 32 - (unsigned)__builtin_clz(v);
}

/* ---- shares ---- */

/* A share takes ten bits at most. After a zero, each two-bit flag adds up to three more zeros. */
#define SHARES_BYTES 96u
static_assert(8 * SHARES_BYTES > 4 + BLOCK_CODES * 10 + BLOCK_CODES * 2 + BLOCK_CODES, "");

static uint32_t peek(const unsigned char *p, unsigned at)
{
	return little32(p + at / 8) >> at % 8;
}

size_t block_shares_read(struct block_shares *shares, const unsigned char *p, size_t n,
			 unsigned log, unsigned codes)
{
	unsigned char packed[SHARES_BYTES + 8] = {0};
	unsigned at = 4;

	memcpy(packed, p, n < SHARES_BYTES ? n : SHARES_BYTES);
	*shares = (struct block_shares){.log = (uint8_t)((packed[0] & 15) + 5)};
	if (shares->log > log)
		return 0;
	for (uint32_t left = 1u << shares->log; left > 0;) {
		/* A value of 0 .. left + 1; the lowest ones take one bit less. */
		const uint32_t bits = bits_of(left + 1), half = 1u << (bits - 1);
		const uint32_t lower = 2 * half - 2 - left, word = peek(packed, at);
		const bool is_short = (word & (half - 1)) < lower;
		uint32_t v = word & (is_short ? half - 1 : 2 * half - 1);
		v -= !is_short && v >= half ? lower : 0;
		at += bits - is_short;
		if (shares->codes >= codes)
			return 0;
		shares->of[shares->codes++] = (int16_t)((int)v - 1);
		left -= v == 0 ? 1 : v - 1;
		for (uint32_t more = v == 1 ? 3 : 0; more == 3; shares->codes += (uint8_t)more) {
			if (shares->codes >= codes)
				return 0;
			more = peek(packed, at) & 3;
			at += 2;
		}
	}
	return at > 8 * n ? 0 : (at + 7) / 8;
}

/*
 * Fill a table with the states of its codes. A code stands for numbers of extra[code] bits above a
 * base. The numbers of the first code begin at `base`, and the numbers of the next code follow
 * them.
 */
static void table_spread(struct entry *table, const struct block_shares *shares, uint32_t base,
			 const uint8_t *extra)
{
	const uint32_t size = 1u << shares->log, step = size / 2 + size / 8 + 3;
	uint8_t code[1 << TABLE_LOG] = {0};
	struct {
		uint64_t entry; /* its states, without `bits` and `next` */
		uint32_t next;  /* its states are numbered from its share to twice that, less one */
		uint32_t length; /* bits of its first state's number */
	} of[BLOCK_CODES];
	uint32_t at = 0, high = size;

	for (unsigned s = 0; s < shares->codes; s++) {
		of[s].entry = extra[s] | (uint64_t)base << 16;
		of[s].next = shares->of[s] < 0 ? 1 : (uint32_t)shares->of[s];
		of[s].length = of[s].next > 0 ? bits_of(of[s].next) : 0;
		base += 1u << extra[s];
		if (shares->of[s] < 0)
			code[--high] = (uint8_t)s;
	}
	for (unsigned s = 0; s < shares->codes; s++)
		for (int i = 0; i < shares->of[s]; i++) {
			code[at] = (uint8_t)s;
			do
				at = (at + step) & (size - 1);
			while (at >= high);
		}
	for (uint32_t i = 0; i < size; i++) {
		/* Computing the length of each x took most of the time. */
		const uint32_t x = of[code[i]].next++, length = of[code[i]].length;
		const uint32_t bits = shares->log + 1u - length - (x >> length);
		const uint64_t entry =
			of[code[i]].entry | bits << 8 | (uint64_t)((x << bits) - size) << 48;
		memcpy(&table[i], &entry, sizeof(entry));
	}
}

void block_table_build(struct block_coder *c, unsigned kind, const struct block_shares *shares)
{
	static const uint32_t BASE[BLOCK_KINDS] = {0, 1, 3};
	static const uint8_t EXTRA[BLOCK_KINDS][BLOCK_CODES] = {
		{[16] = 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30},
		{[32] = 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	};

	if (memcmp(&c->shares[kind], shares, sizeof(*shares)) == 0)
		return;
	table_spread(c->table[kind], shares, BASE[kind], EXTRA[kind]);
	c->shares[kind] = *shares;
}

/* ---- trees ---- */

#define WEIGHTS 256u
#define WEIGHTS_LOG 6u

/* Unpack weights, read from two states in turn. Return their number; 0: damaged. */
static unsigned weights_unpack(uint8_t *weight, const unsigned char *p, size_t n)
{
	static const uint8_t NO_EXTRA[TREE_LOG + 1];
	unsigned char packed[8 + 128 + 4] = {0}; /* the 8 bytes before the first bit are zeros */
	struct entry table[1 << WEIGHTS_LOG];
	struct block_shares shares;
	const size_t used = block_shares_read(&shares, p, n, WEIGHTS_LOG, TREE_LOG + 1);
	unsigned state[2], count = 0;

	if (used == 0 || used >= n || p[n - 1] == 0)
		return 0;
	table_spread(table, &shares, 0, NO_EXTRA);
	memcpy(packed + 8, p + used, n - used);
	unsigned at = (unsigned)(8 * (8 + n - used) -
				 (9 - bits_of(p[n - 1]))); /* the bits before it are unread */
	for (unsigned i = 0; i < 2; i++) {
		at -= shares.log;
		state[i] = peek(packed, at) & ((1u << shares.log) - 1);
	}
	if (at < 64)
		return 0;
	for (unsigned i = 0; count < WEIGHTS - 2; i ^= 1) {
		const struct entry e = table[state[i]];
		weight[count++] = (uint8_t)e.base;
		if (at < 64u + e.bits) {
			weight[count++] = (uint8_t)table[state[i ^ 1]].base;
			return count;
		}
		at -= e.bits;
		state[i] = e.next + (peek(packed, at) & ((1u << e.bits) - 1));
	}
	return 0;
}

/* Read all weights but the last nonzero one. Return their number; 0: damaged. */
static unsigned weights_read(uint8_t *weight, const struct block_tree *tree)
{
	const unsigned first = tree->packed[0];

	if (first < 128)
		return weights_unpack(weight, tree->packed + 1, first);
	for (unsigned i = 0; i < first - 127; i++)
		weight[i] = i % 2 ? tree->packed[1 + i / 2] & 15 : tree->packed[1 + i / 2] >> 4;
	return first - 127;
}

const char *block_tree_build(struct block_coder *c, const struct block_tree *tree)
{
	uint8_t weight[WEIGHTS];
	uint32_t with[16] = {0}, start[16] = {0}, sum = 0;

	if (memcmp(&c->tree, tree, 1u + tree->bytes) == 0)
		return NULL;
	c->tree.bytes = 0;
	unsigned count = weights_read(weight, tree);
	for (unsigned i = 0; i < count; i++)
		sum += 1u << weight[i] >> 1;
	if (sum == 0 || sum >= 1u << TREE_LOG)
		return "a tree of literals is damaged";
	/* The last weight fills the sum up to a power of two. */
	const unsigned log = bits_of(sum);
	const uint32_t rest = (1u << log) - sum;
	weight[count++] = (uint8_t)bits_of(rest);
	for (unsigned i = 0; i < count; i++)
		with[weight[i]]++;
	if ((rest & (rest - 1)) != 0 || with[1] < 2 || with[1] % 2 != 0)
		return "a tree of literals is damaged";
	for (unsigned w = 1; w <= log; w++)
		start[w + 1] = start[w] + (with[w] << (w - 1 + TREE_LOG - log));
	for (unsigned i = 0; i < count; i++) {
		const unsigned w = weight[i];
		const uint32_t size = w == 0 ? 0 : 1u << (w - 1 + TREE_LOG - log);
		for (uint32_t k = 0; k < size; k++)
			c->literals[start[w] + k] = (uint16_t)(i << 8 | (log + 1 - w));
		start[w] += size;
	}
	c->tree = *tree;
	c->has_pairs = false;
	return NULL;
}

void block_pairs_build(struct block_coder *c)
{
	if (c->has_pairs)
		return;
	for (uint32_t i = 0; i < 1u << TREE_LOG; i++) {
		const uint32_t one = c->literals[i], bits = one & 255;
		const uint32_t next = c->literals[i << bits & ((1u << TREE_LOG) - 1)];
		const uint32_t both = bits + (next & 255);
		c->pairs[i] = (next >> 8) << 24 | (one >> 8) << 16 |
			      (both <= TREE_LOG ? 2u << 8 | both : 1u << 8 | bits);
	}
	c->has_pairs = true;
}
