/* SPDX-License-Identifier: MIT */
/*
 * zstd_parts: the pure parts of compressed inputs: which byte is whose; what headers say, as
 * libzstd reads them.
 */
#include <stdlib.h>

#include "check.h"
#include "pack.h"
#include "input/zstd_job.h"

/* ---- zstd_parts ---- */

/* One byte after another: what each is, and of which record. */
static bool same_parts(uint64_t at, size_t n, uint64_t skip, uint64_t limit, uint32_t record)
{
	const struct parts p = zstd_parts(at, n, skip, limit, record);
	size_t skipped = 0, head = 0, body = 0, tail = 0;
	uint64_t head_record = 0, tail_record = 0;
	uint32_t phase = 0;

	for (uint64_t b = at; b < at + n; b++) {
		if (b < skip) {
			skipped++;
			continue;
		}
		if (b >= limit)
			continue;
		const uint64_t r = (b - skip) / record, first = skip + r * record,
			       last = first + record - 1;
		if (first < at) {
			phase = head == 0 ? (uint32_t)(b - first) : phase;
			head_record = r;
			head++;
		} else if (last >= at + n || last >= limit) {
			tail_record = r;
			tail++;
		} else {
			body++;
		}
	}
	return p.skipped == skipped && p.head == head && p.body == body && p.tail == tail &&
	       (head == 0 || (p.phase == phase && p.head_record == head_record)) &&
	       (tail == 0 || p.tail_record == tail_record);
}

static void parts(void)
{
	for (uint32_t record = 1; record <= 8; record++)
		for (uint64_t skip = 0; skip <= 11; skip++)
			/* No limit, and one of so many records after the skipped bytes. */
			for (unsigned records = 0; records <= 4; records++)
				for (uint64_t at = 0; at <= 30; at++)
					for (size_t n = 0; n <= 26; n++) {
						const uint64_t limit =
							records == 4 ? UINT64_MAX
								     : skip + records * record;
						CHECK(same_parts(at, n, skip, limit, record),
						      "at %u, %u bytes, skip %u, limit %llu, "
						      "record %u",
						      (unsigned)at, (unsigned)n, (unsigned)skip,
						      (unsigned long long)limit, record);
					}
	/* Far from the beginning, where sums must not wrap. */
	for (uint32_t record = 1; record <= 8; record++)
		for (unsigned i = 0; i < 40; i++) {
			const uint64_t at = UINT64_MAX - 100 - i;
			CHECK(same_parts(at, 20, 3, UINT64_MAX, record), "record %u, %u", record,
			      i);
			CHECK(same_parts(at, 20, at + 7, UINT64_MAX, record), "record %u, %u",
			      record, i);
			CHECK(same_parts(at, 20, 5, at + 9 - (at + 9 - 5) % record, record),
			      "record %u, %u", record, i);
		}
}

/* ---- headers ---- */

/* A header with these flags, its fields drawn; the length of it. */
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
				/* libzstd too wants all of it */
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
			CHECK(h.content == content_of(p, n), "flags %#x: %llu bytes, libzstd: %llu",
			      flags, (unsigned long long)h.content,
			      (unsigned long long)content_of(p, n));
			CHECK(!(flags & 0x20) || h.window == h.content, "flags %#x: window %llu",
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
			CHECK(h.bytes == 8 && h.content == 0x105, "row %u: %llu bytes", i,
			      (unsigned long long)h.content);
		for (size_t less = 0; less < (TABLE[i].kind == FRAME_SKIPPABLE ? 8 : 4); less++) {
			/* Short of a magic number: only what may become one. */
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

/* ---- frame_measure ---- */

static void measures(void)
{
	const size_t room = 400000;
	unsigned char *data = malloc(room);
	uint64_t state = 9;

	for (size_t i = 0; i < room; i++)
		data[i] = (unsigned char)(i % 7000 < 3000 ? check_random(&state) >> 30 : i >> 12);
	for (unsigned round = 0; round < 120; round++) {
		struct pack p = {.state = round + 1};
		const bool told = round & 1, sum = round & 2;
		const size_t n = (size_t)pack_draw(&p, round % 4 == 0   ? 20
						       : round % 4 == 1 ? 2000
									: room);
		struct frame f;
		pack_frame(&p, data, n, 1 + (int)pack_draw(&p, 5), told, sum,
			   round % 5 == 0 ? 10 + (int)pack_draw(&p, 8) : 0);
		const size_t bytes = p.bytes;
		/* what follows is not looked at */
		memcpy(pack_room(&p, 8), "\x28\xb5\x2f\xfdmore", 8);
		CHECK(frame_measure(p.data, bytes + 8, &f) && f.stored == bytes,
		      "round %u: %llu of %zu bytes", round, (unsigned long long)f.stored, bytes);
		CHECK(ZSTD_findFrameCompressedSize(p.data, bytes + 8) == f.stored, "round %u",
		      round);
		CHECK(f.bound >= n && f.header.content == (told ? n : FRAME_UNKNOWN) &&
			      f.header.checksum == sum,
		      "round %u: %zu bytes, at most %llu", round, n, (unsigned long long)f.bound);
		for (size_t less = 0; less < bytes;
		     less += bytes < 3000 ? 1 : 1 + (size_t)pack_draw(&p, 3000))
			CHECK(!frame_measure(p.data, less, &f), "round %u: %zu of %zu bytes", round,
			      less, bytes);
		CHECK(!frame_measure(p.data, bytes - 1, &f), "round %u: without its last byte",
		      round);
		free(p.data);
	}
	free(data);
}

/* Blocks made by hand: their length, and what may be none. */
static void blocks(void)
{
	static const struct {
		unsigned type;
		uint32_t size, stored, most;
		bool good;
	} TABLE[] = {
		{0, 0, 0, 0, true},           {0, 131072, 131072, 131072, true},
		{0, 131073, 0, 0, false},     {1, 5, 1, 5, true},
		{1, 131072, 1, 131072, true}, {1, 131073, 0, 0, false},
		{2, 9, 9, 131072, true},      {2, 131073, 0, 0, false},
		{3, 0, 0, 0, false},          {3, 9, 0, 0, false},
	};
	struct frame_block b;

	for (unsigned i = 0; i < 2 * sizeof(TABLE) / sizeof(TABLE[0]); i++) {
		const unsigned k = i / 2, last = i % 2;
		const uint32_t word = TABLE[k].size << 3 | TABLE[k].type << 1 | last;
		const unsigned char p[3] = {word & 255, word >> 8 & 255, word >> 16 & 255};
		CHECK((frame_block_parse(p, &b) == 0) == TABLE[k].good, "row %u", k);
		CHECK(!TABLE[k].good || (b.stored == TABLE[k].stored && b.most == TABLE[k].most &&
					 b.last == last),
		      "row %u: %u bytes, of %u at most", k, b.stored, b.most);
	}
}

int main(void)
{
	parts();
	headers();
	kinds();
	measures();
	blocks();
	return check_report();
}
