/* SPDX-License-Identifier: MIT */
/* zstd_orders: describes the blocks in a room to a device (unpacker.h). Pure. */
#ifndef GPUHIST_ZSTD_ORDERS_H
#define GPUHIST_ZSTD_ORDERS_H

#include "zstd/block.h"
#include "zstd/unpacker.h"

/*
 * Fill in the orders for the o->batch.blocks blocks at the beginning of a room, which lie there as
 * in the frame, with their headers. The caller sets o->batch, except its number of sequences.
 * `scan`: the state after the blocks before these. Return NULL, or why a block is refused, a
 * constant text.
 */
const char *orders_packed(struct unpack_orders *o, struct block_scan *scan,
			  const unsigned char *room, size_t bytes);

#endif
