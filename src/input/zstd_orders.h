/* SPDX-License-Identifier: MIT */
/*
 * zstd_orders: what a device is told of the o->batch.blocks blocks in a room (unpacker.h). Pure; the
 * rest of o->batch is the caller's, but for the number of sequences.
 */
#ifndef GPUHIST_ZSTD_ORDERS_H
#define GPUHIST_ZSTD_ORDERS_H

#include "input/block.h"
#include "input/unpacker.h"

/*
 * The room holds blocks as they lie in the frame, headers too; `scan` is what is known of those
 * before. NULL, or why one is refused, a constant text.
 */
const char *orders_packed(struct unpack_orders *o, struct block_scan *scan,
			  const unsigned char *room, size_t bytes);

#endif
