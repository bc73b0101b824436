/* SPDX-License-Identifier: MIT */
/* block: scans blocks, and chooses tables and loops. */
#include "zstd/block_loops.h"

#include <string.h>

#include "base/isa.h"

/* ---- scan ---- */

static const char DAMAGED[] = "a block's header is damaged";

/* The default tables, which need no description. */
static const struct block_shares USUAL[BLOCK_KINDS] = {
	{6, 36, {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
		 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}},
	{5, 29, {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
		 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}},
	{6, 53, {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
		 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
		 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}},
};

void block_scan_begin(struct block_scan *scan, uint64_t window)
{
	*scan = (struct block_scan){.most = window < FRAME_BLOCK_MAX ? (uint32_t)window
								     : FRAME_BLOCK_MAX};
}

/* Packed bytes not yet scanned. */
struct rest {
	const unsigned char *at, *end;
};

static uint32_t rest_left(const struct rest *r)
{
	return (uint32_t)(r->end - r->at);
}

/* Take the next n bytes as a number; the caller has checked that they exist. */
static uint64_t number(struct rest *r, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)r->at[i] << 8 * i;
	r->at += n;
	return v;
}

/* Scan a literals section. */
static const char *scan_literals(struct block_scan *scan, struct rest *r, struct block *b)
{
	enum { PLAIN, REPEAT, TREE, SAME_TREE }; /* as in the first byte */
	const unsigned type = *r->at & 3, format = *r->at >> 2 & 3;

	if (type < TREE) {
		const unsigned bytes = format == 1 ? 2 : format == 3 ? 3 : 1;
		if (rest_left(r) <= bytes)
			return DAMAGED;
		b->literals = (uint32_t)(number(r, bytes) >> (bytes == 1 ? 3 : 4));
		b->how = type == REPEAT ? LITERALS_REPEAT : LITERALS_PLAIN;
		b->literals_packed = type == REPEAT ? 1 : b->literals;
	} else {
		const unsigned bytes = format < 2 ? 3 : format + 2, bits = 4 * bytes - 2;
		if (rest_left(r) <= bytes)
			return DAMAGED;
		const uint64_t word = number(r, bytes) >> 4;
		b->literals = (uint32_t)word & ((1u << bits) - 1);
		b->how = format == 0 ? LITERALS_ONE_STREAM : LITERALS_FOUR_STREAMS;
		b->literals_packed = (uint32_t)(word >> bits);
	}
	if (rest_left(r) <= b->literals_packed || b->literals > scan->most)
		return DAMAGED;
	b->literals_at = r->at;
	r->at += b->literals_packed;
	if (type < TREE)
		return NULL;
	if (type == TREE) {
		const unsigned first = *b->literals_at;
		const unsigned bytes = 1 + (first < 128 ? first : (first - 126) / 2);
		if (bytes > b->literals_packed)
			return DAMAGED;
		scan->tree = (struct block_tree){.bytes = (uint8_t)bytes};
		memcpy(scan->tree.packed, b->literals_at, bytes);
		b->literals_at += bytes;
		b->literals_packed -= bytes;
	}
	b->tree = scan->tree;
	/* Four streams take 6 bytes of lengths and a byte each, or more; 5 literals fill three. */
	const bool four = b->how == LITERALS_FOUR_STREAMS;
	return b->tree.bytes == 0 || b->literals < (four ? 6 : 1) ||
			       b->literals_packed < (four ? 10 : 1)
		       ? DAMAGED
		       : NULL;
}

/* Scan the description of one of a block's three tables. */
static const char *scan_shares(struct block_shares *shares, unsigned kind, unsigned mode,
			       struct rest *r)
{
	enum { IS_USUAL, ONE_CODE, DESCRIBED };
	static const uint8_t CODES[BLOCK_KINDS] = {36, 31, 53}, LOG[BLOCK_KINDS] = {9, 8, 9};
	size_t used;

	switch (mode) {
	case IS_USUAL:
		*shares = USUAL[kind];
		return NULL;
	case ONE_CODE:
		if (rest_left(r) == 0 || *r->at >= CODES[kind])
			return DAMAGED;
		*shares = (struct block_shares){.codes = *r->at + 1};
		shares->of[*r->at++] = 1;
		return NULL;
	case DESCRIBED:
		used = block_shares_read(shares, r->at, rest_left(r), LOG[kind], CODES[kind]);
		r->at += used;
		return used == 0 ? "a table of sequences is damaged" : NULL;
	default: /* the table of the previous block */
		return shares->codes == 0 ? DAMAGED : NULL;
	}
}

/* Scan a sequences section, which ends with the block. */
static const char *scan_sequences(struct block_scan *scan, struct rest *r, struct block *b)
{
	const unsigned first = *r->at++, more = first < 128 ? 0 : first < 255 ? 1 : 2;

	b->sequences = first;
	if (rest_left(r) < more)
		return DAMAGED;
	if (more > 0)
		b->sequences = (uint32_t)number(r, more) + (more == 1 ? 0 : 0x7f00);
	if (more == 1)
		b->sequences |= (first - 128) << 8;
	if (first == 0)
		return rest_left(r) > 0 ? DAMAGED : NULL;
	if (b->sequences == 0 || b->sequences > scan->most / 3 || rest_left(r) == 0)
		return DAMAGED;
	const unsigned modes = *r->at++;
	if ((modes & 3) != 0)
		return DAMAGED;
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
		const char *const refused =
			scan_shares(&scan->shares[kind], kind, modes >> (6 - 2 * kind) & 3, r);
		if (refused)
			return refused;
		b->shares[kind] = scan->shares[kind];
	}
	b->sequences_at = r->at;
	b->sequences_packed = rest_left(r);
	return rest_left(r) == 0 ? DAMAGED : NULL;
}

const char *block_scan(struct block_scan *scan, const struct frame_block *h,
		       const unsigned char *packed, struct block *b)
{
	struct rest r = {packed, packed + h->packed_bytes};
	const char *refused;

	b->most = scan->most;
	b->sequences = 0;
	if (h->plain) {
		b->how = h->repeats ? LITERALS_REPEAT : LITERALS_PLAIN;
		b->literals_at = packed;
		b->literals_packed = h->packed_bytes;
		b->bytes = b->literals = h->most;
		return h->most > scan->most ? "a block is larger than the window" : NULL;
	}
	if (h->packed_bytes < 3 || h->packed_bytes > scan->most)
		return DAMAGED;
	refused = scan_literals(scan, &r, b);
	if (!refused)
		refused = scan_sequences(scan, &r, b);
	b->bytes = b->literals;
	/* Some functions of libzstd refuse a block that decodes to no bytes. */
	return refused || b->literals + b->sequences > 0 ? refused : DAMAGED;
}

/* ---- tables and loops ---- */

size_t block_coder_bytes(void)
{
	return sizeof(struct block_coder);
}

static const struct block_loops *loops_best(void)
{
#ifdef HAVE_X86_LOOPS
	if (isa_best() != ISA_BASE)
		return &block_loops_avx2;
#endif
	return &block_loops_base;
}

void block_coder_begin(struct block_coder *c)
{
	c->loops = loops_best();
	c->tree.bytes = 0;
	memset(c->shares, 0, sizeof(c->shares));
}

const char *block_sequences(struct block_coder *c, struct block *b, struct sequence *to)
{
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		block_table_build(c, kind, &b->shares[kind]);
	return c->loops->sequences(c, b, to);
}

/*
 * A table of pairs pays if it is often used and codes are short: then literals decode 1.5 times as
 * fast. To build it takes as long as to decode some 4000 literals.
 */
#define PAIRS_LEAST 32768u /* literals */
#define PAIRS_BITS 7u      /* packed bits of a literal, on average */

const char *block_literals(struct block_coder *c, const struct block *b, unsigned char *to)
{
	if (b->how == LITERALS_PLAIN) {
		memcpy(to, b->literals_at, b->literals);
		return NULL;
	}
	if (b->how == LITERALS_REPEAT) {
		memset(to, *b->literals_at, b->literals);
		return NULL;
	}
	const char *const refused = block_tree_build(c, &b->tree);
	if (refused)
		return refused;
	c->in_pairs =
		b->literals >= PAIRS_LEAST && b->literals_packed < b->literals / 8 * PAIRS_BITS;
	if (c->in_pairs)
		block_pairs_build(c);
	return c->loops->literals(c, b, to);
}

void block_past_begin(struct block_past *past, uint64_t window)
{
	*past = (struct block_past){.loops = loops_best(), .window = window, .repeat = {1, 4, 8}};
}

const char *block_execute(const struct block *b, const struct sequence *sequences,
			  const unsigned char *literals, struct block_past *past, unsigned char *to)
{
	const char *refused = NULL;

	if (to != past->end) {
		past->older = past->end;
		past->begin = to;
	}
	past->end = to + b->bytes;
	if (b->sequences > 0)
		refused = past->loops->execute(b, sequences, literals, past, to);
	else if (literals != to)
		memcpy(to, literals, b->bytes);
	past->bytes += b->bytes;
	return refused;
}
