/* SPDX-License-Identifier: MIT */
/*
 * block_make: frames that no compressor writes: tables of every mode and shape, streams of random
 * bits, long lengths, every encoding of a size. They are valid by construction: a stream is a walk
 * through the tables that avoids invalid states, and its bits are those that the walk drew.
 */
#ifndef GPUHIST_BLOCK_MAKE_H
#define GPUHIST_BLOCK_MAKE_H

#include <stdlib.h>
#include <string.h>

#include "zstd/block_loops.h"

#define MAKE_BITS ((size_t)1 << 21)
#define MAKE_PACKED ((size_t)1 << 17)

struct make {
	uint64_t state; /* of the draws; not 0 */
	unsigned char *frame;
	size_t bytes;
	uint64_t window, decoded;
	uint32_t most, repeat[3];
	bool tree, tables; /* an earlier block had them */
	struct block_shares usual[BLOCK_KINDS];
	struct block_shares shares[BLOCK_KINDS];
	struct block_coder coder;
	size_t bits; /* of the stream that is being made, in the order in which they are read */
	unsigned char bit[MAKE_BITS];
	unsigned char section[MAKE_PACKED]; /* a block's sequences */
	size_t section_bytes;
};

static inline uint32_t make_draw(struct make *m, uint64_t below)
{
	m->state ^= m->state << 13;
	m->state ^= m->state >> 7;
	m->state ^= m->state << 17;
	return (uint32_t)((m->state >> 11) % below);
}

static inline uint32_t make_bits(struct make *m, uint32_t v, unsigned n)
{
	for (unsigned i = n; i-- > 0;)
		m->bit[m->bits++] = v >> i & 1;
	return v;
}

/* Store the drawn bits as a stream, which is read from its end; return its bytes. */
static inline size_t make_stream(struct make *m, unsigned char *to)
{
	const size_t bytes = m->bits / 8 + 1;

	memset(to, 0, bytes);
	to[m->bits / 8] = (unsigned char)(1 << m->bits % 8);
	for (size_t i = 0; i < m->bits; i++)
		to[(m->bits - 1 - i) / 8] |= (unsigned char)(m->bit[i] << (m->bits - 1 - i) % 8);
	m->bits = 0;
	return bytes;
}

static inline void make_number(unsigned char *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(v >> 8 * i);
}

/* ---- sequences ---- */

/* Write one of the three tables, into the coder and the section; return its mode. */
static inline unsigned make_table(struct make *m, unsigned kind)
{
	static const uint8_t CODES[BLOCK_KINDS] = {36, 31, 53}, LOG[BLOCK_KINDS] = {9, 8, 9};
	unsigned char *const to = m->section + m->section_bytes;
	struct block_shares shares = m->shares[kind];
	unsigned mode = make_draw(m, m->tables ? 4 : 3);
	size_t used = 0;

	if (mode == 0)
		shares = m->usual[kind];
	if (mode == 2) {
		for (unsigned tries = 0; tries < 50 && used == 0; tries++) {
			for (unsigned i = 0; i < 96; i++)
				to[i] = (unsigned char)make_draw(m, 256);
			to[0] = (unsigned char)((to[0] & 0xf0) | make_draw(m, LOG[kind] - 4));
			used = block_shares_read(&shares, to, 96, LOG[kind], CODES[kind]);
		}
		mode = used == 0 ? 1 : 2;
	}
	if (mode == 1) {
		used = 1;
		to[0] = (unsigned char)make_draw(m, kind == BLOCK_OFFSETS ? 18 : CODES[kind]);
		shares = (struct block_shares){.codes = (uint8_t)(to[0] + 1)};
		shares.of[to[0]] = 1;
	}
	m->section_bytes += used;
	m->shares[kind] = shares;
	block_table_build(&m->coder, kind, &shares);
	return mode;
}

/* Limits for the rest of a block's sequences. */
struct make_left {
	uint32_t literals, matches;
	uint64_t at; /* bytes of the frame before the next sequence */
};

/* May this sequence come next? If so, update the repeat offsets and the limits. */
static inline bool make_fits(struct make *m, uint32_t packed, uint32_t plain, uint32_t match,
			     struct make_left *left)
{
	const uint64_t at = left->at + plain, reach = at < m->window ? at : m->window;
	const uint32_t i = packed > 3 ? 3 : packed - 1 + (plain == 0);
	const uint32_t offset = packed > 3 ? packed - 3 : i == 3 ? m->repeat[0] - 1 : m->repeat[i];

	if (plain > left->literals || match > left->matches || offset == 0 || offset > reach)
		return false;
	for (uint32_t k = i < 2 ? i : 2; k > 0; k--)
		m->repeat[k] = m->repeat[k - 1];
	m->repeat[0] = offset;
	left->literals -= plain;
	left->matches -= match;
	left->at = at + match;
	return true;
}

/* Draw the next sequence of a walk, at states to which `bits` lead; false: none was found. */
static inline bool make_sequence(struct make *m, unsigned bits[BLOCK_KINDS],
				 struct entry at[BLOCK_KINDS], const unsigned order[BLOCK_KINDS],
				 struct make_left *left)
{
	for (unsigned tries = 0; tries < 40; tries++) {
		uint32_t draw[BLOCK_KINDS], extra[BLOCK_KINDS], v[BLOCK_KINDS];
		struct entry e[BLOCK_KINDS];
		for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
			draw[kind] = make_draw(m, 1u << bits[kind]);
			e[kind] = m->coder.table[kind][at[kind].next + draw[kind]];
			extra[kind] = make_draw(m, 1u << e[kind].extra) >>
				      make_draw(m, 1u + e[kind].extra);
			v[kind] = e[kind].base + extra[kind];
		}
		if (!make_fits(m, v[BLOCK_OFFSETS], v[BLOCK_LENGTHS], v[BLOCK_MATCHES], left))
			continue;
		for (unsigned i = 0; i < BLOCK_KINDS; i++)
			make_bits(m, draw[order[i]], bits[order[i]]);
		make_bits(m, extra[BLOCK_OFFSETS], e[BLOCK_OFFSETS].extra);
		make_bits(m, extra[BLOCK_MATCHES], e[BLOCK_MATCHES].extra);
		make_bits(m, extra[BLOCK_LENGTHS], e[BLOCK_LENGTHS].extra);
		for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
			at[kind] = e[kind];
			bits[kind] = e[kind].bits;
		}
		return true;
	}
	return false;
}

/* Write the sequences' section of a block with this many literals to `to`; return its bytes. */
static inline size_t make_sequences(struct make *m, uint32_t literals, unsigned char *to)
{
	static const unsigned FIRST[] = {BLOCK_LENGTHS, BLOCK_OFFSETS, BLOCK_MATCHES};
	static const unsigned THEN[] = {BLOCK_LENGTHS, BLOCK_MATCHES, BLOCK_OFFSETS};
	const uint32_t most = m->most / 64, few = 8u << 2 * make_draw(m, 5);
	const uint32_t want = make_draw(m, 6) == 0 ? 0 : 1 + make_draw(m, few < most ? few : most);
	struct make_left left = {literals, m->most - literals, m->decoded};
	struct block_shares before[BLOCK_KINDS];
	struct entry at[BLOCK_KINDS] = {{0}};
	unsigned bits[BLOCK_KINDS], modes = 0;
	uint32_t count = 0;
	size_t n = 0;

	memcpy(before, m->shares, sizeof(before));
	m->section_bytes = 0;
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
		modes |= make_table(m, kind) << (6 - 2 * kind);
		bits[kind] = m->shares[kind].log;
	}
	while (count < want && make_sequence(m, bits, at, count == 0 ? FIRST : THEN, &left))
		count++;
	m->decoded = left.at + left.literals;
	if (count == 0) {
		memcpy(m->shares, before, sizeof(before));
		to[0] = 0;
		return 1;
	}
	m->tables = true;
	if (count < 128 && make_draw(m, 4) > 0) {
		to[n++] = (unsigned char)count;
	} else if (count < 0x7f00) {
		to[n++] = (unsigned char)(128 + (count >> 8));
		to[n++] = (unsigned char)count;
	} else {
		to[n++] = 255;
		make_number(to + n, count - 0x7f00, 2);
		n += 2;
	}
	to[n++] = (unsigned char)modes;
	memcpy(to + n, m->section, m->section_bytes);
	n += m->section_bytes;
	return n + make_stream(m, to + n);
}

/* ---- literals ---- */

/* Write a tree of some literals, into the coder and to `to`; return its bytes. */
static inline size_t make_tree(struct make *m, unsigned char *to)
{
	unsigned char length[129] = {0}, at[129], weight[130] = {0};
	const unsigned most = 2 + make_draw(m, 128), deepest = 1 + make_draw(m, TREE_LOG);
	unsigned count = 1, last = 0, log = 0;

	/* Split leaves in two, then assign each leaf to a literal of its own. */
	for (unsigned tries = 0; tries < 4 * most && count < most; tries++) {
		const unsigned i = make_draw(m, count);
		if (length[i] < deepest)
			length[count++] = ++length[i];
	}
	for (unsigned i = 0; i < 129; i++)
		at[i] = (unsigned char)i;
	for (unsigned i = 0; i < count; i++) {
		const unsigned k = i + make_draw(m, 129 - i);
		const unsigned char was = at[i];
		at[i] = at[k];
		at[k] = was;
		last = at[i] > last ? at[i] : last;
		log = length[i] > log ? length[i] : log;
	}
	for (unsigned i = 0; i < count; i++)
		weight[at[i]] = (unsigned char)(log + 1 - length[i]);
	to[0] = (unsigned char)(127 + last);
	for (unsigned i = 0; i < last; i += 2)
		to[1 + i / 2] =
			(unsigned char)(weight[i] << 4 | (i + 1 < last ? weight[i + 1] : 0));
	struct block_tree tree = {.bytes = (uint8_t)(1 + (last + 1) / 2)};
	memcpy(tree.packed, to, tree.bytes);
	if (block_tree_build(&m->coder, &tree))
		abort();
	m->tree = true;
	return tree.bytes;
}

static inline size_t make_codes(struct make *m, uint32_t n, unsigned char *to)
{
	m->bits = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t v = make_draw(m, 1u << TREE_LOG), bits = m->coder.literals[v] & 15;
		make_bits(m, v >> (TREE_LOG - bits), bits);
	}
	return make_stream(m, to);
}

/* Write the sizes of a literals' section, in an encoding that can hold them; return its bytes. */
static inline size_t make_sizes(struct make *m, unsigned type, bool four, uint32_t n, size_t packed,
				unsigned char *to)
{
	unsigned bytes = 1 + make_draw(m, 3), format = four ? 1 + make_draw(m, 3) : 0;

	if (type < 2) {
		while (n >> (bytes == 1 ? 5 : 8 * bytes - 4) != 0)
			bytes++;
		make_number(to, bytes == 1 ? type | n << 3 : type | (2 * bytes - 3) << 2 | n << 4,
			    bytes);
		return bytes;
	}
	while ((n | packed) >> (format < 2 ? 10 : 4 * format + 6) != 0)
		format++;
	bytes = format < 2 ? 3 : format + 2;
	make_number(to, type | format << 2 | (uint64_t)n << 4 | (uint64_t)packed << (4 * bytes + 2),
		    bytes);
	return bytes;
}

/* Write a literals' section to `to`; return its bytes, and the number of literals in *n. */
static inline size_t make_literals(struct make *m, uint32_t *n, unsigned char *to)
{
	static unsigned char packed[MAKE_PACKED];
	const unsigned type = make_draw(m, m->tree ? 4 : 3);
	const uint32_t quarter = m->most / 4, few = 12u << 2 * make_draw(m, 7);
	const uint32_t some = few < quarter ? few : quarter;
	size_t bytes = 0;
	bool four = false;

	if (type == 0) {
		*n = make_draw(m, some);
		for (; bytes < *n; bytes++)
			packed[bytes] = (unsigned char)make_draw(m, 256);
	} else if (type == 1) {
		*n = make_draw(m, make_draw(m, 9) == 0 ? m->most + 1 : some);
		packed[bytes++] = (unsigned char)make_draw(m, 256);
	} else {
		*n = 1 + make_draw(m, some);
		four = *n >= 6 && (*n > 600 || make_draw(m, 2));
		bytes = type == 2 ? make_tree(m, packed) : 0;
		if (!four)
			bytes += make_codes(m, *n, packed + bytes);
		size_t at = bytes + 6;
		for (unsigned k = 0; four && k < 4; k++) {
			const uint32_t part = (*n + 3) / 4;
			const size_t stream =
				make_codes(m, k < 3 ? part : *n - 3 * part, packed + at);
			if (k < 3)
				make_number(packed + bytes + 2 * k, stream, 2);
			at += stream;
		}
		bytes = four ? at : bytes;
	}
	const size_t head = make_sizes(m, type, four, *n, bytes, to);
	memcpy(to + head, packed, bytes);
	return head + bytes;
}

/* ---- frames ---- */

static inline void make_block(struct make *m, bool last)
{
	unsigned char *const to = m->frame + m->bytes + 3;
	const unsigned type = make_draw(m, 8);
	uint32_t literals, size = make_draw(m, m->most + 1) >> 2 * make_draw(m, 7);

	if (type == 0) { /* stored */
		for (uint32_t i = 0; i < size; i++)
			to[i] = (unsigned char)make_draw(m, 256);
		m->decoded += size;
		m->bytes += size;
	} else if (type == 1) { /* one byte that repeats */
		to[0] = (unsigned char)make_draw(m, 256);
		m->decoded += size;
		m->bytes++;
	} else {
		const uint64_t before = m->decoded;
		size = (uint32_t)make_literals(m, &literals, to);
		size += (uint32_t)make_sequences(m, literals, to + size);
		size = m->decoded == before ? 0 : size; /* nothing decoded: an empty stored block */
		m->bytes += size;
	}
	make_number(to - 3,
		    (unsigned)last | (type > 1 && size > 0 ? 2u : type == 1) << 1 | size << 3, 3);
	m->bytes += 3;
}

#define MAKE_BLOCKS 6u
#define MAKE_FRAME (8 + MAKE_BLOCKS * (MAKE_PACKED + 3)) /* bytes at most */
#define MAKE_DECODED (MAKE_BLOCKS * (size_t)FRAME_BLOCK_MAX)

/* Make a frame of some blocks at `frame`, as the seed decides; set m->bytes and m->decoded. */
static inline void make_frame(struct make *m, uint64_t seed, unsigned char *frame)
{
	static const unsigned char USUAL[] = {0, 1, 0, 1};
	const struct frame_block usual = {.packed_bytes = sizeof(USUAL)};
	struct block_scan scan;
	struct block b;

	memset(m, 0, offsetof(struct make, coder));
	block_coder_begin(&m->coder);
	block_scan_begin(&scan, FRAME_BLOCK_MAX);
	if (block_scan(&scan, &usual, USUAL, &b))
		abort();
	memcpy(m->usual, b.shares, sizeof(m->usual));
	m->state = seed * 2 + 1;
	for (unsigned i = 0; i < 8; i++)
		make_draw(m, 2);
	m->frame = frame;
	const unsigned log = 12 + make_draw(m, make_draw(m, 4) == 0 ? 10 : 3),
		       blocks = 1 + make_draw(m, MAKE_BLOCKS);
	memcpy(frame, "\x28\xb5\x2f\xfd\x00", 5);
	frame[5] = (unsigned char)((log - 10) << 3);
	m->bytes = 6;
	m->window = (uint64_t)1 << log;
	m->most = log < 17 ? 1u << log : FRAME_BLOCK_MAX;
	memcpy(m->repeat, ((uint32_t[]){1, 4, 8}), sizeof(m->repeat));
	for (unsigned i = 0; i < blocks; i++)
		make_block(m, i + 1 == blocks);
}

#endif
