/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * block: frames written by hand, whose blocks are just right or just wrong; and the checks of
 * fuzz_block on libzstd's frames and on block_make's, whole and changed, from a seed. zstd_orders:
 * blocks that a file's change has made longer.
 */
#include "fuzz/fuzz_block.c"

#include "check.h"
#include "zstd/zstd_orders.h"

/* ---- by hand ---- */

/* Decode a frame with a window of 1 MiB and these blocks. */
static const char *decode(const void *blocks, size_t n, size_t *used)
{
	unsigned char p[256] = "\x28\xb5\x2f\xfd\x00\x50";
	size_t took;

	memcpy(p + 6, blocks, n);
	const char *const refused = blocks_decode(p, n + 6, ours, DECODED_MAX, used, &took);
	const size_t got = ZSTD_decompress(theirs, DECODED_MAX, p, n + 6);
	CHECK(refused || (got == *used && memcmp(ours, theirs, *used) == 0), "%zu bytes: %s", *used,
	      ZSTD_getErrorName(got));
	return refused;
}

#define BLOCK(last, n) (char)(4 | (last) | (n) << 3), 0, 0
#define DECODED(text, ...)                                                                      \
	do {                                                                                    \
		const char bytes_[] = {__VA_ARGS__};                                            \
		size_t used_;                                                                   \
		const char *const refused_ = decode(bytes_, sizeof(bytes_), &used_);            \
		CHECK(!refused_ && used_ == sizeof(text) - 1 && memcmp(ours, text, used_) == 0, \
		      "%s: %s, %.*s", text, refused_ ? refused_ : "accepted",                   \
		      refused_ ? 0 : (int)used_, (const char *)ours);                           \
	} while (0)
#define REFUSED(why, ...)                                                            \
	do {                                                                         \
		const char bytes_[] = {__VA_ARGS__};                                 \
		size_t used_;                                                        \
		const char *const refused_ = decode(bytes_, sizeof(bytes_), &used_); \
		CHECK(refused_ != NULL, "%s: accepted", why);                        \
	} while (0)

/*
 * Tables of one code each, so that a stream holds only the extra bits of lengths and offsets: modes
 * 0x54, then the codes of literals, offset and match.
 */
static void by_hand(void)
{
	/* four literals; three of them, then 4 bytes from 2 back (1 + 4 - 3), then the last one */
	DECODED("abcbcbcd", BLOCK(1, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 3, 2, 1, 4 | 1);
	/* the bit that ends a stream, and bits that are left over */
	REFUSED("no end of a stream", BLOCK(1, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 3, 2, 1,
		0);
	REFUSED("a bit too many", BLOCK(1, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 3, 2, 1,
		8 | 1);
	REFUSED("a bit too few", BLOCK(1, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 3, 2, 1, 2 | 1);
	REFUSED("more literals than there are", BLOCK(1, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54,
		5, 2, 1, 4 | 1);
	REFUSED("an offset before the frame", BLOCK(1, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 3,
		2, 1, 4 | 3);
	/* repeat offsets: 1, 4, 8 at first; without literals the next, and the first minus one */
	DECODED("abbbb", BLOCK(1, 9), 2 << 3, 'a', 'b', 1, 0x54, 2, 0, 0, 1);
	DECODED("abcdebcde", BLOCK(1, 12), 5 << 3, 'a', 'b', 'c', 'd', 'e', 1, 0x54, 5, 1, 1,
		2 | 0);
	REFUSED("one less than 1", BLOCK(1, 12), 5 << 3, 'a', 'b', 'c', 'd', 'e', 1, 0x54, 0, 1, 1,
		2 | 1);
	/* a second block repeats the offset 3 of the first, a third takes one less than that */
	DECODED("abcdbcdbcd"
		"x"
		"cdx"
		"dxd",
		BLOCK(0, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 4, 2, 3, 4 | 2, BLOCK(0, 8),
		1 << 3, 'x', 1, 0x54, 1, 0, 0, 1, BLOCK(1, 7), 0, 1, 0x54, 0, 1, 0, 2 | 1);
	/* ... and a block with the tables of the one before */
	DECODED("abcdabcdefghefgh", BLOCK(0, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 4, 2, 1,
		4 | 3, BLOCK(1, 8), 4 << 3, 'e', 'f', 'g', 'h', 1, (char)0xfc, 4 | 3);
	REFUSED("tables of a block before the first", BLOCK(1, 8), 4 << 3, 'a', 'b', 'c', 'd', 1,
		(char)0xfc, 4 | 3);
	REFUSED("more than a block may hold", BLOCK(1, 10), 1 << 3, 'a', 1, 0x54, 1, 0, 52,
		(char)255, (char)255, 1);
	REFUSED("a table that goes on behind its block", BLOCK(1, 5), 1 << 3, 'a', 1, (char)0x80,
		0);
	REFUSED("a reserved bit", BLOCK(1, 11), 4 << 3, 'a', 'b', 'c', 'd', 1, 0x55, 3, 2, 1,
		4 | 1);
	REFUSED("bytes after no sequences", BLOCK(1, 7), 4 << 3, 'a', 'b', 'c', 'd', 0, 0);
	REFUSED("no sequences in two bytes", BLOCK(1, 7), 4 << 3, 'a', 'b', 'c', 'd', (char)128, 0);
	REFUSED("no sequences, and tables of them", BLOCK(1, 12), 4 << 3, 'a', 'b', 'c', 'd',
		(char)128, 0, 0x54, 3, 2, 1, 4 | 1);
	DECODED("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", BLOCK(1, 8), (char)(1 | 31 << 3), 'a', 1,
		0x54, 20, 0, 0, 4 | 3);
	REFUSED("five literals in four streams", BLOCK(1, 16), 0x56, 0, 3, (char)128, 0x10, 1, 0, 1,
		0, 1, 0, 4, 4, 4, 1, 0);
	REFUSED("sizes that are cut", BLOCK(1, 3), 13, 0, 0);
	REFUSED("sizes of a tree's literals that are cut", BLOCK(1, 3), 14, 0, 0);
	REFUSED("no bytes", BLOCK(1, 3), 4, 0, 0);
	/* a tree of two codes: weight 1, and the weight that makes the sum a power of two */
	DECODED("\1\1\0\1", BLOCK(1, 7), 2 | 4 << 4, (char)(3 << 6), 0, (char)128, 0x10, 16 | 13,
		0);
	REFUSED("a tree before the first", BLOCK(1, 5), 3 | 4 << 4, 1 << 6, 0, 16 | 13, 0);
	REFUSED("weights that are no power of two", BLOCK(1, 8), 2 | 4 << 4, 0, 1, (char)130, 0x11,
		0x40, 16 | 13, 0);
	REFUSED("no code of the least weight", BLOCK(1, 7), 2 | 4 << 4, (char)(3 << 6), 0,
		(char)128, 0x20, 16 | 13, 0);
	REFUSED("a code's bit too many", BLOCK(1, 7), 2 | 4 << 4, (char)(3 << 6), 0, (char)128,
		0x10, 32 | 13, 0);
}

/* Lengths just too long for a sequence, and far too long; more of them than fit a block. */
static void long_lengths(void)
{
	static const char LITERALS[] = {
		BLOCK(1, 11), (char)0xfd, (char)255, 15, 'a',       1,
		0x54,         34,         0,         0,  (char)255, (char)255};
	static const char MATCH[] = {BLOCK(1, 9), 1 << 3, 'a', 1,         0x54,
				     1,           0,      51,  (char)252, (char)255};
	static const char TWO[] = {BLOCK(1, 12), 2 << 3,    'a', 'a',       2,  0x54, 1, 0,
				   51,           (char)252, 127, (char)254, 127};
	size_t used;

	CHECK(!decode(LITERALS, sizeof(LITERALS), &used) && used == 65535 + 3, "%zu", used);
	CHECK(!decode(MATCH, sizeof(MATCH), &used) && used == 1 + 65535, "%zu", used);
	CHECK(!decode(TWO, sizeof(TWO), &used) && used == 2 + 2 * 65535, "%zu", used);
	REFUSED("three long matches", BLOCK(1, 16), 3 << 3, 'a', 'b', 'c', 3, 0x54, 1, 0, 52, 0, 0,
		0, 0, 0, 0, 1);
	REFUSED("200000 literals", BLOCK(1, 5), 13, (char)0xd4, 0x30, 'a', 0);
}

/* A packed block may be as large as a plain one, though libzstd before 1.5.4 refuses that. */
static void largest(void)
{
	unsigned char p[9 + FRAME_BLOCK_MAX] = "\x28\xb5\x2f\xfd\x00\x50";
	const uint32_t literals = FRAME_BLOCK_MAX - 4;
	size_t used, took;

	for (unsigned i = 0; i < 3; i++) {
		p[6 + i] = (unsigned char)((5 | FRAME_BLOCK_MAX << 3) >> 8 * i);
		p[9 + i] = (unsigned char)((12 | literals << 4) >> 8 * i);
	}
	const char *const refused = blocks_decode(p, sizeof(p), ours, DECODED_MAX, &used, &took);
	CHECK(!refused && used == literals, "%s", refused ? refused : "accepted");
	if (ZSTD_versionNumber() >= 10504)
		CHECK(ZSTD_decompress(theirs, DECODED_MAX, p, took) == used, "%zu bytes", took);
}

/* The scan alone bounds the memory for sequences. */
static void counts(void)
{
	static const unsigned char PACKED[2][9] = {{1 << 3, 'a', 128 + 3, 232, 0x54, 0, 0, 0, 1},
						   {1 << 3, 'a', 128 + 3, 233, 0x54, 0, 0, 0, 1}};
	const struct frame_block h = {.packed_bytes = sizeof(PACKED[0])};
	struct block_scan scan;
	struct block b;

	for (unsigned more = 0; more < 2; more++) {
		block_scan_begin(&scan, 3000);
		const char *const refused = block_scan(&scan, &h, PACKED[more], &b);
		CHECK(more > 0 ? refused != NULL : !refused && b.sequences == 1000,
		      "%u sequences in 3000 bytes: %s", 1000 + more,
		      refused ? refused : "accepted");
	}
}

/* A match 1024 back in a window of 1 KiB, then one 1025 back, which libzstd accepts in one call. */
static void window(void)
{
	unsigned char p[] = {0x28, 0xb5, 0x2f, 0xfd, 0,   0,  0x42, 0x1f, 0,
			     'a',  0x42, 0x1f, 0,    'b', 77, 0,    0,    1 << 3,
			     'c',  1,    0x54, 1,    10,  0,  3,    4};
	size_t used, took;

	for (unsigned more = 0; more < 2; more++) {
		p[sizeof(p) - 2] = (unsigned char)(3 + more);
		const char *const refused =
			blocks_decode(p, sizeof(p), ours, DECODED_MAX, &used, &took);
		CHECK(more > 0 ? refused != NULL : !refused && used == 2004, "%u: %s", 1024 + more,
		      refused ? refused : "accepted");
	}
	/* nor may a block be larger than the window */
	for (unsigned more = 0; more < 2; more++) {
		const unsigned char one[] = {
			0x28, 0xb5, 0x2f, 0xfd, 0, 0, (unsigned char)(3 + 8 * more), 0x20, 0, 'a'};
		const char *const refused =
			blocks_decode(one, sizeof(one), ours, DECODED_MAX, &used, &took);
		CHECK((refused != NULL) == (more > 0), "%u bytes of one: %s", 1024 + more,
		      refused ? refused : "accepted");
	}
}

/* Streams far too short for their literals, with the longest codes: nothing before them is read. */
static void short_streams(void)
{
	enum { STREAM = 60, PACKED = 6 + 4 * STREAM };
	/* Codes of 1 to 10 bits, and two of 11, one of which is all zeros. */
	struct block b = {.how = LITERALS_FOUR_STREAMS,
			  .literals_packed = PACKED,
			  .tree = {7, {127 + 11, 0x11, 0x23, 0x45, 0x67, 0x89, 0xa0}}};
	struct block_coder *const coder = malloc(block_coder_bytes());

	for (unsigned i = 0; i < 4; i++) {
		b.literals = i % 2 == 0 ? 6000 : 60000; /* one by one, and in pairs */
		unsigned char *const packed = calloc(1, BLOCK_BEFORE + PACKED);
		unsigned char *const to = malloc(b.literals);
		unsigned char *const at = packed + BLOCK_BEFORE;
		at[0] = at[2] = at[4] = STREAM;
		for (unsigned k = 1; k <= 4; k++)
			at[6 + k * STREAM - 1] = 1;
		b.literals_at = at;
		isa_force(i < 2 ? "base" : NULL);
		block_coder_begin(coder);
		CHECK(block_literals(coder, &b, to) != NULL, "%u literals", b.literals);
		free(packed);
		free(to);
	}
	free(coder);
}

/* A file that changes after its blocks were found: a batch may end anywhere in the last one. */
static void orders(void)
{
	static const unsigned char TEXT[] = {4 << 3, 'a', 'b', 'c', 'd', 1, 0x54, 3, 2, 1, 4 | 1};
	static struct unpack_orders o;
	unsigned char blocks[2 * (3 + sizeof(TEXT))] = {0};
	struct block_scan scan;

	for (unsigned i = 0; i < 2; i++) {
		blocks[i * sizeof(blocks) / 2] = 4 | sizeof(TEXT) << 3;
		memcpy(blocks + i * sizeof(blocks) / 2 + 3, TEXT, sizeof(TEXT));
	}
	for (size_t bytes = sizeof(blocks) / 2; bytes <= sizeof(blocks); bytes++) {
		o.batch = (struct unpack_batch){.blocks = 2};
		block_scan_begin(&scan, 1 << 20);
		const char *const refused = orders_packed(&o, &scan, blocks, bytes);
		CHECK((refused == NULL) == (bytes == sizeof(blocks)), "%zu bytes of %zu: %s", bytes,
		      sizeof(blocks), refused ? refused : "accepted");
	}
}

static void drawn(void)
{
	uint64_t state = 5;
	uint8_t data[64];

	for (unsigned i = 0; i < 3000; i++) {
		for (size_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)(check_random(&state) >> 40);
		data[0] |= 1;                          /* whole frames, then changed */
		data[1] |= i % 8 == 0 ? 248 : 0;       /* up to 300 KB */
		data[9] = i % 64 == 0 ? 251 : data[9]; /* and blocks of 128 KiB */
		CHECK(LLVMFuzzerTestOneInput(data, sizeof(data)) == 0, "%u", i);
	}
	CHECK(same > 3000 && both_refuse + ours_refuses > 3000, "%lu accepted, %lu refused", same,
	      both_refuse + ours_refuses);
}

int main(int argc, char **argv)
{
	LLVMFuzzerInitialize(&argc, &argv);
	by_hand();
	long_lengths();
	largest();
	counts();
	window();
	short_streams();
	orders();
	drawn();
	return check_report();
}
