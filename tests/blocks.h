/* SPDX-License-Identifier: MIT */
/* blocks: a frame decoded by src/zstd/block.h, one block after another, in the plainest way. */
#ifndef GPUHIST_BLOCKS_H
#define GPUHIST_BLOCKS_H

#include <stdlib.h>
#include <string.h>

#include "zstd/block.h"

#define BLOCKS_GUARD 40u

/* Mark the bytes after a block, which are not its own; or check that the marks are still there. */
static inline bool blocks_guard(unsigned char *p, size_t n, unsigned char with, bool mark)
{
	bool whole = true;

	for (size_t i = 0; i < n && i < BLOCKS_GUARD; i++) {
		p[i] = mark ? with : p[i];
		whole &= p[i] == with;
	}
	return whole;
}

/*
 * Decode the frame at the beginning of n bytes, each block in memory of exactly its size. Return
 * NULL, or the reason for a refusal. *used: the decoded bytes; *took: the frame's bytes, without a
 * checksum. The window is a ring of the smallest possible size, so that matches lie in two runs.
 */
static inline const char *blocks_decode(const unsigned char *p, size_t n, unsigned char *to,
					size_t room, size_t *used, size_t *took)
{
	struct block_coder *const coder = malloc(block_coder_bytes());
	struct frame_header header;
	struct block_scan scan;
	struct block_past past;
	struct frame_block h = {.last = false};
	const char *refused = NULL;
	size_t at, place = 0;

	*used = 0;
	if (frame_parse(p, n, &header) != FRAME_DATA || header.dictionary ||
	    header.window > BLOCK_WINDOW_MAX) {
		free(coder);
		return "not a frame of ours";
	}
	at = header.bytes;
	const size_t window = header.window < room ? (size_t)header.window : room;
	const size_t ring_bytes =
		window + 2 * (window < FRAME_BLOCK_MAX ? window : FRAME_BLOCK_MAX);
	unsigned char *const ring = malloc(ring_bytes + 1);
	memset(ring, 0xc3, ring_bytes);
	memset(coder, 0xa5, block_coder_bytes());
	block_coder_begin(coder);
	block_scan_begin(&scan, header.window);
	block_past_begin(&past, header.window);
	while (!refused && !h.last) {
		struct block b;
		memset(&b, 0xa5, sizeof(b));
		if (n - at < 3 || frame_block_parse(p + at, &h) != 0 ||
		    n - at - 3 < h.packed_bytes) {
			refused = "a missing block";
			break;
		}
		refused = block_scan(&scan, &h, p + at + 3, &b);
		if (refused)
			break;
		at += 3 + h.packed_bytes;
		struct sequence *const sequences = malloc(b.sequences * sizeof(*sequences));
		unsigned char *const literals = malloc(b.literals + BLOCKS_GUARD);
		if (b.sequences > 0)
			refused = block_sequences(coder, &b, sequences);
		if (!refused && b.bytes > room - *used)
			refused = "no room";
		place = refused || ring_bytes - place < b.bytes ? 0 : place;
		unsigned char *const slack = literals + b.literals, *const here = ring + place;
		unsigned char *const end = here + (refused ? 0 : b.bytes);
		const size_t rest = (size_t)(ring + ring_bytes - end);
		unsigned char behind[BLOCKS_GUARD];
		memcpy(behind, end, rest < BLOCKS_GUARD ? rest : BLOCKS_GUARD);
		blocks_guard(slack, BLOCKS_GUARD, 0x5a, true);
		if (!refused)
			refused = block_literals(coder, &b, literals);
		if (!refused)
			refused = block_execute(&b, sequences, literals, &past, here);
		if (!blocks_guard(slack, BLOCKS_GUARD, 0x5a, false) ||
		    memcmp(behind, end, rest < BLOCKS_GUARD ? rest : BLOCKS_GUARD) != 0)
			abort();
		if (!refused) {
			memcpy(to + *used, here, b.bytes);
			*used += b.bytes;
			place += b.bytes;
		}
		free(sequences);
		free(literals);
	}
	if (!refused && header.declared != FRAME_UNKNOWN && header.declared != *used)
		refused = "another size than the frame's header says";
	*took = at;
	free(ring);
	free(coder);
	return refused;
}

#endif
