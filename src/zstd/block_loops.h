/* SPDX-License-Identifier: MIT */
/* block_loops: the coder and the loops of block.c, block_tables.c and block_loops.c. */
#ifndef GPUHIST_ZSTD_BLOCK_LOOPS_H
#define GPUHIST_ZSTD_BLOCK_LOOPS_H

#include "zstd/block.h"

#define TREE_LOG 11u /* most bits of a literal's code */
#define TABLE_LOG 9u /* most bits of a state of a sequences' table */

/*
 * A state of a sequences' table. It stands for a number, and leads to the next state. The loops
 * hold it in one register: lowest bits first.
 */
struct entry {
	uint64_t extra : 8; /* bits to read and add to base */
	uint64_t bits : 8;  /* bits to read and add to next */
	uint64_t base : 32; /* the number without its extra bits */
	uint64_t next : 16; /* the next state without its bits */
};

struct block_coder {
	const struct block_loops *loops;
	/* the descriptions of the tables: blocks with the same ones use the tables again */
	struct block_tree tree;
	struct block_shares shares[BLOCK_KINDS];
	uint16_t literals[1 << TREE_LOG]; /* by the next bits: a literal << 8 | bits of its code */
	uint32_t pairs[1 << TREE_LOG]; /* by the next bits: one or two << 16 | number << 8 | bits */
	bool has_pairs;                /* `pairs` is built from `literals` */
	bool in_pairs;                 /* the block's literals are decoded in pairs */
	struct entry table[BLOCK_KINDS][1 << TABLE_LOG];
};

/* The loops for an instruction set; they use the coder's tables, built for the block. */
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
 * Read a description with at most `codes` shares of 2^log at most from the n bytes at p. Return
 * the bytes that it takes; 0: it is damaged.
 */
size_t block_shares_read(struct block_shares *shares, const unsigned char *p, size_t n,
			 unsigned log, unsigned codes);

/* Build the table of pairs from the table of literals, unless the coder has it. */
void block_pairs_build(struct block_coder *c);

/* Build a block's tables, unless the coder has them. Return NULL, or why they are refused. */
const char *block_tree_build(struct block_coder *c, const struct block_tree *tree);
void block_table_build(struct block_coder *c, unsigned kind, const struct block_shares *shares);

#endif
