/* SPDX-License-Identifier: MIT */
/*
 * zstd_frame: the facts in each header of a frame, as libzstd reads it; and bytes without one.
 */
#include <stdlib.h>

#include "check.h"
#include "pack.h"
#include "zstd/zstd_frame.h"

/* Write a header with these flags and drawn fields; return its length. */
static size_t draw_header(unsigned char *p, unsigned flags, uint64_t *state)
{
	static const size_t DICTIONARY[] = {0, 1, 2, 4}, CONTENT[] = {0, 2, 4, 8};
	const bool single = flags & 0x20;
	const size_t n = (single ? 5 : 6) + DICTIONARY[flags & 3] +
			 (flags >> 6 == 0 && single ? 1 : CONTENT[flags >> 6]);

	memcpy(p, "\x28\xb5\x2f\xfd", 4);
	p[4] = (unsigned char)flags;
	for (size_t i = 5; i < n; i++)
		p[i] = (unsigned char)(check_random(state) >> 56);
	if (!single)
		p[5] %= 21 << 3; /* windows up to 1 GiB */
	return n;
}

static uint64_t content_of(const unsigned char *p, size_t n)
{
	const unsigned long long content = ZSTD_getFrameContentSize(p, n);

	return content == ZSTD_CONTENTSIZE_UNKNOWN ? FRAME_UNKNOWN : content;
}

static void headers(void)
{
	unsigned char p[FRAME_HEADER_MAX];
	struct frame_header h;
	uint64_t state = 3;

	for (unsigned flags = 0; flags < 256; flags++)
		for (unsigned round = 0; round < 20; round++) {
			const size_t n = draw_header(p, flags, &state);
			const enum frame_kind kind = frame_parse(p, n, &h);
			CHECK(n <= FRAME_HEADER_MAX, "flags %#x: %zu bytes", flags, n);
			for (size_t less = 0; less < n; less++) {
				struct frame_header cut;
				CHECK(frame_parse(p, less, &cut) == FRAME_SHORT,
				      "flags %#x: %zu of %zu bytes", flags, less, n);
				/* libzstd needs all of it, too */
				CHECK(ZSTD_getFrameContentSize(p, less) == ZSTD_CONTENTSIZE_ERROR,
				      "flags %#x: %zu of %zu bytes", flags, less, n);
			}
			if (flags & 8) {
				CHECK(kind == FRAME_BROKEN, "flags %#x: %d", flags, kind);
				continue;
			}
			CHECK(kind == FRAME_DATA && h.bytes == n, "flags %#x: %d, %zu of %zu bytes",
			      flags, kind, h.bytes, n);
			CHECK(h.checksum == ((flags & 4) != 0), "flags %#x", flags);
			CHECK(h.declared == content_of(p, n),
			      "flags %#x: %llu bytes, libzstd: %llu", flags,
			      (unsigned long long)h.declared, (unsigned long long)content_of(p, n));
			CHECK(!(flags & 0x20) || h.window == h.declared, "flags %#x: window %llu",
			      flags, (unsigned long long)h.window);
			if (!(flags & 0x20)) {
				const uint64_t power = (uint64_t)1 << (10 + p[5] / 8);
				CHECK(h.window == power + power / 8 * (p[5] % 8),
				      "window %#x: %llu", p[5], (unsigned long long)h.window);
			}
			uint32_t id = 0;
			const size_t at = 5 + !(flags & 0x20);
			for (unsigned i = (flags & 3) == 3 ? 4 : flags & 3; i-- > 0;)
				id = id << 8 | p[at + i];
			CHECK(h.dictionary == (id != 0), "flags %#x: dictionary %u", flags, id);
		}
}

static void kinds(void)
{
	static const struct {
		unsigned char bytes[8];
		enum frame_kind kind;
	} TABLE[] = {
		{{0x50, 0x2a, 0x4d, 0x18, 5, 1, 0, 0}, FRAME_SKIPPABLE},
		{{0x5f, 0x2a, 0x4d, 0x18, 5, 1, 0, 0}, FRAME_SKIPPABLE},
		{{0x60, 0x2a, 0x4d, 0x18}, FRAME_OTHER},
		{{0x4f, 0x2a, 0x4d, 0x18}, FRAME_OTHER},
		{{0x1e, 0xb5, 0x2f, 0xfd}, FRAME_LEGACY},
		{{0x22, 0xb5, 0x2f, 0xfd}, FRAME_LEGACY},
		{{0x27, 0xb5, 0x2f, 0xfd}, FRAME_LEGACY},
		{{0x21, 0xb5, 0x2f, 0xfd}, FRAME_OTHER},
		{{0x1f, 0xb5, 0x2f, 0xfd}, FRAME_OTHER},
		{{0x29, 0xb5, 0x2f, 0xfd}, FRAME_OTHER},
		{{0x28, 0xb5, 0x2f, 0xfc}, FRAME_OTHER},
		{{0}, FRAME_OTHER},
	};
	struct frame_header h;

	for (unsigned i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
		const unsigned char *p = TABLE[i].bytes;
		CHECK(frame_parse(p, 8, &h) == TABLE[i].kind, "row %u", i);
		if (TABLE[i].kind == FRAME_SKIPPABLE)
			CHECK(h.bytes == 8 && h.declared == 0x105, "row %u: %llu bytes", i,
			      (unsigned long long)h.declared);
		for (size_t less = 0; less < (TABLE[i].kind == FRAME_SKIPPABLE ? 8 : 4); less++) {
			/* With less than a magic number: only bytes that may become one. */
			bool may = TABLE[i].kind != FRAME_OTHER;
			for (unsigned k = 0; k < sizeof(TABLE) / sizeof(TABLE[0]); k++)
				may |= TABLE[k].kind != FRAME_OTHER &&
				       memcmp(TABLE[k].bytes, p, less) == 0;
			may |= memcmp("\x28\xb5\x2f\xfd", p, less < 4 ? less : 4) == 0;
			CHECK((frame_parse(p, less, &h) == FRAME_SHORT) == may, "row %u, %zu bytes",
			      i, less);
		}
	}
}

int main(void)
{
	headers();
	kinds();
	return check_report();
}
