/* SPDX-License-Identifier: MIT */
/* block_loops: what block.c, block_tables.c and block_loops.c share. */
#ifndef GPUHIST_BLOCK_LOOPS_H
#define GPUHIST_BLOCK_LOOPS_H

#include "input/block.h"

#define TREE_LOG 11u /* bits of a literal's code at most */
#define TABLE_LOG 9u /* bits of a state of a sequences' table at most */

/* A state of a sequences' table. Its number: base + `extra` bits; the next state: next + `bits`. */
struct entry {
	uint32_t base;
	uint16_t next;
	uint8_t extra, bits;
};

struct block_coder {
	const struct block_loops *loops;
	/* What each table was made of; a table serves all blocks whose descriptions are the same. */
	struct block_tree tree;
	struct block_shares shares[BLOCK_KINDS];
	uint16_t literals[1 << TREE_LOG]; /* by the next bits: a literal << 8 | bits of its code */
	struct entry table[BLOCK_KINDS][1 << TABLE_LOG];
};

/* The loops of an instruction set; the coder's tables are those of the block. */
struct block_loops {
	const char *(*sequences)(const struct block_coder *c, struct block *b, struct sequence *to);
	const char *(*literals)(const struct block_coder *c, const struct block *b,
				unsigned char *to);
	const char *(*execute)(const struct block *b, const struct sequence *sequences,
			       const unsigned char *literals, struct block_past *past,
			       unsigned char *to);
};
extern const struct block_loops block_loops_base, block_loops_avx2;

/*
 * Reads at most `codes` shares, of 2^log at most, from the n bytes at p. Returns the bytes that
 * they take; 0: they are damaged.
 */
size_t block_shares_read(struct block_shares *shares, const unsigned char *p, size_t n,
			 unsigned log, unsigned codes);

/* Build tables of a block, unless the coder has them. NULL, or why they are refused. */
const char *block_tree_build(struct block_coder *c, const struct block_tree *tree);
void block_table_build(struct block_coder *c, unsigned kind, const struct block_shares *shares);

#endif
