/* SPDX-License-Identifier: MIT */
/* pack: bytes as zstd frames of many kinds, drawn from a seed. For tests; needs libzstd. */
#ifndef GPUHIST_PACK_H
#define GPUHIST_PACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct pack {
	unsigned char *data; /* freed by the caller */
	size_t bytes, room;
	uint64_t state; /* of the seed; not 0 */
	unsigned frames;
	bool flushes; /* frames that declare their size end with an empty block, like the others */
};

static inline uint64_t pack_draw(struct pack *p, uint64_t below)
{
	p->state ^= p->state << 13;
	p->state ^= p->state >> 7;
	p->state ^= p->state << 17;
	return (p->state >> 11) % below;
}

static inline unsigned char *pack_room(struct pack *p, size_t bytes)
{
	if (p->bytes + bytes > p->room) {
		p->room = 2 * (p->bytes + bytes);
		p->data = realloc(p->data, p->room);
		if (!p->data)
			abort();
	}
	return p->data + p->bytes;
}

/* Add one frame of n bytes; told: its header declares n. */
static inline void pack_frame(struct pack *p, const void *bytes, size_t n, int level, bool told,
			      bool checksum, int window_log)
{
	/* kept: creating one for each frame took half of the time of some tests */
	static ZSTD_CCtx *c;
	ZSTD_inBuffer in = {.src = bytes, .size = n};
	ZSTD_outBuffer out = {.size = ZSTD_compressBound(n) + 64};

	if (!c && !(c = ZSTD_createCCtx()))
		abort();
	ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters);
	out.dst = pack_room(p, out.size);
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum);
	if (window_log > 0)
		ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log);
	if (told)
		ZSTD_CCtx_setPledgedSrcSize(c, n);
	if (!told || p->flushes)
		ZSTD_compressStream2(
			c, &out, &in,
			ZSTD_e_flush); /* so that libzstd does not know that the end is near */
	if (ZSTD_compressStream2(c, &out, &in, ZSTD_e_end) != 0)
		abort();
	p->bytes += out.pos;
	p->frames++;
}

/*
 * Add one frame of n bytes, written by a single call that must not declare the size: its window is
 * as small as its data.
 */
static inline void pack_silent(struct pack *p, const void *bytes, size_t n, int level,
			       bool checksum)
{
	static ZSTD_CCtx *c;
	const size_t room = ZSTD_compressBound(n);

	if (!c && !(c = ZSTD_createCCtx()))
		abort();
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum);
	ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
	const size_t packed = ZSTD_compress2(c, pack_room(p, room), room, bytes, n);
	if (ZSTD_isError(packed))
		abort();
	p->bytes += packed;
	p->frames++;
}

static inline void pack_skippable(struct pack *p, size_t n)
{
	unsigned char *at = pack_room(p, n + 8);

	memcpy(at,
	       (const unsigned char[]){(unsigned char)(0x50 + pack_draw(p, 16)), 0x2a, 0x4d, 0x18},
	       4);
	for (unsigned i = 0; i < 4; i++)
		at[4 + i] = (unsigned char)(n >> 8 * i);
	memset(at + 8, 0x28, n);
	p->bytes += n + 8;
}

/* Pack everything in random frames: tiny, small, large, empty, with skippable ones between. */
static inline struct pack pack_all(const unsigned char *bytes, size_t n, uint64_t seed)
{
	struct pack p = {.state = seed | 1};
	const uint64_t most = pack_draw(&p, 3) == 0 ? n + 1 : 1 + n / (1 + pack_draw(&p, 40));
	size_t at = 0;

	do {
		const uint64_t kind = pack_draw(&p, 10);
		size_t piece = (size_t)pack_draw(&p, kind == 0 ? 12 : most + 1);
		if (piece > n - at || p.frames > 300)
			piece = n - at;
		if (pack_draw(&p, 12) == 0)
			pack_skippable(&p, (size_t)pack_draw(&p, 100));
		pack_frame(&p, bytes + at, piece,
			   pack_draw(&p, 20) == 0 ? 12 : (int)(1 + pack_draw(&p, 3)),
			   pack_draw(&p, 2), pack_draw(&p, 2),
			   pack_draw(&p, 8) == 0 ? 10 + (int)pack_draw(&p, 6) : 0);
		at += piece;
	} while (at < n);
	if (pack_draw(&p, 12) == 0)
		pack_skippable(&p, (size_t)pack_draw(&p, 100));
	return p;
}

#endif
