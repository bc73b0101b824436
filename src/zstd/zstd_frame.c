/* SPDX-License-Identifier: MIT */
/* zstd_frame: the headers of frames and blocks. */
#include "zstd/zstd_frame.h"

#define FLAGS_AT 4 /* after the magic number */
#define FLAG_CHECKSUM 4

static uint64_t little(const unsigned char *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static uint64_t window_of(unsigned char descriptor)
{
	const uint64_t base = (uint64_t)1 << (10 + (descriptor >> 3));

	return base + base / 8 * (descriptor & 7);
}

static enum frame_kind data_frame(const unsigned char *p, size_t n, struct frame_header *h)
{
	static const unsigned char DICTIONARY[] = {0, 1, 2, 4}, CONTENT[] = {0, 2, 4, 8};

	if (n < 5)
		return FRAME_SHORT;
	const unsigned char flags = p[FLAGS_AT];
	const bool single = flags & 0x20;
	const unsigned dictionary = DICTIONARY[flags & 3];
	const unsigned content = flags >> 6 == 0 && single ? 1 : CONTENT[flags >> 6];
	const unsigned at = 5 + !single;

	h->bytes = at + dictionary + content;
	if (n < h->bytes)
		return FRAME_SHORT;
	if (flags & 8) /* reserved: a decoder of today must refuse it */
		return FRAME_BROKEN;
	h->checksum = flags & FLAG_CHECKSUM;
	h->dictionary = little(p + at, dictionary) != 0;
	h->declared = content == 0
			      ? FRAME_UNKNOWN
			      : little(p + at + dictionary, content) + (content == 2 ? 256 : 0);
	h->window = single ? h->declared : window_of(p[5]);
	return FRAME_DATA;
}

/* Could fewer than four bytes be the beginning of a magic number? */
static bool begins_magic(const unsigned char *p, size_t n)
{
	const bool skippable = n > 0 && p[0] >> 4 == 5;
	const unsigned char rest[2][2] = {{0xb5, 0x2f}, {0x2a, 0x4d}};

	if (n > 0 && !skippable && p[0] != 0x28 && p[0] != 0x1e && (p[0] < 0x22 || p[0] > 0x27))
		return false;
	for (size_t i = 1; i < n; i++)
		if (p[i] != rest[skippable][i - 1])
			return false;
	return true;
}

enum frame_kind frame_parse(const unsigned char *p, size_t n, struct frame_header *h)
{
	if (n < 4)
		return begins_magic(p, n) ? FRAME_SHORT : FRAME_OTHER;
	const uint32_t magic = (uint32_t)little(p, 4);
	if (magic == 0xfd2fb528)
		return data_frame(p, n, h);
	if (magic >> 4 == 0x184d2a5) {
		if (n < 8)
			return FRAME_SHORT;
		*h = (struct frame_header){.bytes = 8, .declared = little(p + 4, 4)};
		return FRAME_SKIPPABLE;
	}
	return magic == 0xfd2fb51e || (magic >= 0xfd2fb522 && magic <= 0xfd2fb527) ? FRAME_LEGACY
										   : FRAME_OTHER;
}

void frame_hide_checksum(unsigned char *p)
{
	p[FLAGS_AT] &= (unsigned char)~FLAG_CHECKSUM;
}

int frame_block_parse(const unsigned char p[3], struct frame_block *b)
{
	const uint32_t word = (uint32_t)little(p, FRAME_BLOCK_HEADER);
	const uint32_t type = word >> 1 & 3, size = word >> 3;

	b->last = word & 1;
	b->packed_bytes = type == 1 ? 1 : size; /* type 1: one byte that repeats */
	/* for a plain block, size is its decoded size */
	b->most = type < 2 ? size : FRAME_BLOCK_MAX;
	b->plain = type < 2;
	b->repeats = type == 1;
	return type == 3 || size > FRAME_BLOCK_MAX ? -1 : 0;
}

void frame_add_block(struct frame *f, const struct frame_block *b)
{
	/* A block decodes to at most a window. */
	f->decoded_most += f->header.window < b->most ? f->header.window : b->most;
	f->walked += FRAME_BLOCK_HEADER + b->packed_bytes;
}

bool frame_measure(const unsigned char *p, size_t n, struct frame *f)
{
	struct frame_block block = {.last = false};

	*f = (struct frame){.packed_bytes = 0};
	if (frame_parse(p, n, &f->header) != FRAME_DATA)
		return false;
	f->walked = f->header.bytes;
	while (!block.last) {
		if (f->walked + FRAME_BLOCK_HEADER > n ||
		    frame_block_parse(p + f->walked, &block) != 0)
			return false;
		frame_add_block(f, &block);
	}
	f->packed_bytes = f->walked + (f->header.checksum ? FRAME_CHECKSUM : 0);
	f->bound = f->header.declared != FRAME_UNKNOWN ? f->header.declared : f->decoded_most;
	return f->packed_bytes <= n;
}
