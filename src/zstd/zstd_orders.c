/* SPDX-License-Identifier: MIT */
/* zstd_orders: writes the parts of scanned blocks in the form that the device's kernels read. */
#include "zstd/zstd_orders.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct unpack_shares) == sizeof(struct block_shares), "the same text");
static_assert(UNPACK_BLOCK_MAX == FRAME_BLOCK_MAX, "one format");

static void describe_block(const struct block *b, const unsigned char *room, struct unpack_batch *o,
			   struct unpack_block *to, uint32_t *apart)
{
	static const uint32_t HOW[] = {[LITERALS_PLAIN] = UNPACK_PLAIN,
				       [LITERALS_REPEAT] = UNPACK_REPEAT,
				       [LITERALS_ONE_STREAM] = UNPACK_ONE_STREAM,
				       [LITERALS_FOUR_STREAMS] = UNPACK_FOUR_STREAMS};

	*to = (struct unpack_block){
		.literals_at = (uint32_t)(b->literals_at - room),
		.literals_packed = b->literals_packed,
		.literals = b->literals,
		.how = HOW[b->how],
		.sequences = b->sequences,
		.first = o->sequences,
		.apart = *apart,
		.most = b->sequences > 0 ? b->most : b->bytes,
	};
	if (b->how >= LITERALS_ONE_STREAM)
		memcpy(to->tree, b->tree.packed, sizeof(b->tree.packed));
	if (b->sequences == 0)
		return;
	to->sequences_at = (uint32_t)(b->sequences_at - room);
	to->sequences_packed = b->sequences_packed;
	memcpy(to->shares, b->shares, sizeof(to->shares));
	o->sequences += b->sequences;
	*apart += (b->literals + 31) / 16 * 16;
}

const char *orders_packed(struct unpack_orders *o, struct block_scan *scan,
			  const unsigned char *room, size_t bytes)
{
	const unsigned char *at = room;
	uint32_t apart = 0;

	for (uint32_t i = 0; i < o->batch.blocks; i++) {
		struct frame_block h;
		struct block block;
		const size_t left = (size_t)(room + bytes - at);
		/* The file may have changed since. */
		if (left < FRAME_BLOCK_HEADER || frame_block_parse(at, &h) != 0 ||
		    h.packed_bytes > left - FRAME_BLOCK_HEADER)
			return "it has changed while it was read";
		at += FRAME_BLOCK_HEADER;
		const char *const why = block_scan(scan, &h, at, &block);
		if (why)
			return why;
		describe_block(&block, room, &o->batch, &o->block[i], &apart);
		at += h.packed_bytes;
	}
	return NULL;
}
