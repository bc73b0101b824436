/* SPDX-License-Identifier: MIT */
/*
 * block: our decoder of blocks compared with libzstd: if ours accepts a frame, so does libzstd, in
 * one call and as a stream, and both decode the same bytes. Ours may refuse more.
 *
 * A frame is the input itself, or libzstd's with drawn parameters, or made of drawn tables and
 * streams (block_make.h); then its structure is changed. Ours must accept a made frame that was not
 * changed. Checksums are left out, because they would hide everything else.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/isa.h"
#include "fuzz.h"
/* Not instrumented: making frames teaches the fuzzer nothing, and took most of its time. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif
#include "../block_make.h"
#include "../blocks.h"

#define DECODED_MAX ((size_t)1 << 20)
#define PLACES 256u
#define VARIANTS 4u

static uint8_t frame[MAKE_FRAME + 64], base[MAKE_FRAME], ours[DECODED_MAX], theirs[DECODED_MAX];
static struct make make;
static unsigned long same, both_refuse, ours_refuses;

static void report(void)
{
	fprintf(stderr,
		"%lu frames: same output %lu, both refuse %lu, only ours refuses %lu; "
		"only libzstd's refuses 0, outputs differ 0\n",
		same + both_refuse + ours_refuses, same, both_refuse, ours_refuses);
}

/* ---- frames that libzstd makes ---- */

/* Draw samples or text of one of several kinds. */
static void draw_data(uint8_t *data, size_t n, unsigned kind, uint64_t seed)
{
	make.state = seed * 2 + 1;
	for (size_t i = 0; i < n; i++) {
		const unsigned r = make_draw(&make, 1u << 16), a = r & 255, b = r >> 8;
		switch (kind) {
		case 0: /* bytes of a narrow bell */
			data[i] = (uint8_t)((a & 15) + (a >> 4) + (b & 15) + (b >> 4));
			break;
		case 1: /* words of ten bits */
			data[i] = (uint8_t)(i % 4 == 0 ? a : i % 4 == 1 ? b & 3 & b >> 2 : 0);
			break;
		case 2: /* a wide bell of 16 bits */
			data[i] = (uint8_t)(i % 2 == 0 ? a : (b & 3) + (b >> 2 & 3) + (b >> 4 & 7));
			break;
		case 3: /* some words, in any order */
			data[i] = (uint8_t)(i % 7 == 6 ? ' ' : 'a' + (i % 7 * 5 + (r & 1)) % 26);
			break;
		case 4: /* copies from before, near and far */
			data[i] =
				i > 40 && a < 250 ? data[i - 1 - (i >> (b & 7)) % 40] : (uint8_t)b;
			break;
		case 5: /* noise */
			data[i] = (uint8_t)a;
			break;
		case 6: /* a pattern, seldom disturbed */
			data[i] = (uint8_t)(r < 50 ? a : i * 7 % 251);
			break;
		default: /* runs */
			data[i] = i > 0 && a < 200 ? data[i - 1] : (uint8_t)(b & 31);
		}
	}
}

static size_t compress(struct bytes *b)
{
	static const ZSTD_cParameter MORE[] = {
		ZSTD_c_strategy,         ZSTD_c_minMatch,
		ZSTD_c_targetLength,     ZSTD_c_hashLog,
		ZSTD_c_searchLog,        ZSTD_c_enableLongDistanceMatching,
		ZSTD_c_targetCBlockSize, ZSTD_c_literalCompressionMode};
	static uint8_t data[300000];
	static ZSTD_CCtx *c;
	const unsigned kind = (unsigned)take(b, 1), size = (unsigned)take(b, 2);
	const size_t n = kind >= 248 ? size * (sizeof(data) / 65536) : size / 32;
	ZSTD_inBuffer in = {.src = data};
	ZSTD_outBuffer out = {.dst = frame, .size = MAKE_FRAME};

	if (!c)
		c = ZSTD_createCCtx();
	ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters);
	draw_data(data, n, kind & 7, take(b, 4));
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, (int)(take(b, 1) % 27) - 7);
	/* mostly small windows: the tables of large ones took longer than everything else */
	const unsigned log = (unsigned)take(b, 1);
	ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 10 + (int)(log < 240 ? log % 3 : log % 9));
	for (unsigned i = 0; i < sizeof(MORE) / sizeof(MORE[0]); i++) {
		const int v = (int)take(b, 1); /* nonsense is not set */
		if (v >= 128)
			ZSTD_CCtx_setParameter(c, MORE[i], i == 6 ? v * 16 : v & 15);
	}
	if (kind & 64)
		ZSTD_CCtx_setPledgedSrcSize(c, n);
	for (in.size = n / 3; in.size < n; in.size += 1 + n / (1 + (kind >> 3 & 3)))
		while (ZSTD_compressStream2(c, &out, &in, ZSTD_e_flush) != 0)
			;
	in.size = n;
	const size_t rest = ZSTD_compressStream2(c, &out, &in, ZSTD_e_end);
	REQUIRE(rest == 0, "%s", ZSTD_getErrorName(rest));
	return out.pos;
}

#ifdef __clang__
#pragma clang attribute pop
#endif

/* ---- changes ---- */

struct place {
	size_t at, block; /* block: the offset of its block's header */
};

/* Find the offsets in a frame at which a part begins or ends; return how many. */
static unsigned find_places(size_t n, struct place *place)
{
	struct frame_header header;
	struct frame_block h = {.last = false};
	struct block_scan scan;
	struct block b;
	unsigned count = 0;

	if (frame_parse(frame, n, &header) != FRAME_DATA)
		return 0;
	block_scan_begin(&scan, header.window);
	for (size_t at = header.bytes; !h.last && n - at >= 3 && count + 12 < PLACES;) {
		const uint8_t *const packed = frame + at + 3;
		if (frame_block_parse(frame + at, &h) != 0 || n - at - 3 < h.packed_bytes ||
		    block_scan(&scan, &h, packed, &b))
			break;
		const uint8_t *all[12] = {packed - 3, packed, packed + h.packed_bytes - 1};
		unsigned found = 3;
		if (!h.plain) {
			const uint8_t *stream = b.literals_at, *end = stream + b.literals_packed;
			all[found++] = stream;
			all[found++] = end - 1;
			all[found++] = end;
			if (b.how == LITERALS_FOUR_STREAMS)
				for (unsigned k = 0; k < 3; k++) {
					stream += b.literals_at[2 * k] +
						  256 * b.literals_at[2 * k + 1];
					all[found++] = stream + 5;
				}
			if (b.sequences > 0)
				all[found++] = b.sequences_at;
		}
		for (unsigned i = 0; i < found; i++)
			if (all[i] < frame + n)
				place[count++] = (struct place){(size_t)(all[i] - frame), at};
		at += 3 + h.packed_bytes;
	}
	return count;
}

/* Change something near a place; return the frame's bytes. */
static size_t change(struct bytes *b, size_t n, const struct place *place, unsigned count)
{
	const unsigned how = (unsigned)take(b, 1), which = (unsigned)take(b, 1);
	const unsigned far = (unsigned)take(b, 1), v = (unsigned)take(b, 1);
	struct place p = {(size_t)which * 256 + far, 0};

	if (count > 0 && how < 240)
		p = place[which % count];
	p.at += count == 0 || how >= 240 ? 0 : how & 8 ? far % 80 : far % 6;
	if (p.at >= n || p.at < 5)
		return n;
	const uint32_t size =
		(uint32_t)(frame[p.block] | frame[p.block + 1] << 8 | frame[p.block + 2] << 16);
	const bool within = p.block > 0 && p.at >= p.block + 3 && n < MAKE_FRAME;
	switch (how & 7) {
	case 0:
	case 1:
		frame[p.at] ^= (uint8_t)(1 << v % 8);
		break;
	case 2:
		frame[p.at] = (uint8_t)v;
		break;
	case 3:
		frame[p.at] = (uint8_t)(frame[p.at] + (v & 1 ? 1 : -1));
		break;
	case 4: /* copy bytes from another offset */
		p.block = count > 0 ? place[v % count].at : v;
		memmove(frame + p.at, frame + p.block,
			n - (p.block > p.at ? p.block : p.at) > 6
				? 1 + far % 6
				: n - (p.block > p.at ? p.block : p.at));
		break;
	case 5: /* one byte more in this block */
		if (within) {
			memmove(frame + p.at + 1, frame + p.at, n++ - p.at);
			frame[p.at] = (uint8_t)v;
			make_number(frame + p.block, size + 8, 3);
		}
		break;
	case 6: /* one less */
		if (within && size >= 8) {
			memmove(frame + p.at, frame + p.at + 1, --n - p.at);
			make_number(frame + p.block, size - 8, 3);
		}
		break;
	default: /* a number of several bits, changed by a power of two */
		make_number(frame + p.at,
			    frame[p.at] + 256u * frame[p.at + 1] +
				    (v & 1 ? 1u : ~0u) * (1u << v / 2 % 16),
			    2);
	}
	return n;
}

/* ---- both ---- */

static ZSTD_DCtx *decoder;

static size_t stream(const uint8_t *p, size_t n, size_t *rc)
{
	ZSTD_inBuffer in = {.src = p, .size = n};
	ZSTD_outBuffer out = {.dst = theirs, .size = DECODED_MAX};

	ZSTD_DCtx_reset(decoder, ZSTD_reset_session_only);
	ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 30);
	do
		*rc = ZSTD_decompressStream(decoder, &out, &in);
	while (!ZSTD_isError(*rc) && *rc > 0 && (in.pos < in.size || out.pos < out.size) &&
	       out.pos < out.size);
	return out.pos;
}

static void compare(size_t n, bool right)
{
	size_t used, took, rc;

	frame[4] &= (uint8_t)~4;
	/* memory of exactly its size */
	uint8_t *const p = malloc(n);
	memcpy(p, frame, n);
	/* the loops of each instruction set of this machine in turn */
	isa_force(n % 3 == 0 ? "base" : n % 3 == 1 ? "avx2" : NULL);
	const char *const refused = blocks_decode(p, n, ours, DECODED_MAX, &used, &took);
	const size_t got = ZSTD_decompressDCtx(decoder, theirs, DECODED_MAX, p, refused ? n : took);
	REQUIRE(!right || !refused, "a right frame is refused: %s", refused);
	if (refused) {
		both_refuse += ZSTD_isError(got);
		ours_refuses += !ZSTD_isError(got);
		free(p);
		return;
	}
	REQUIRE(!ZSTD_isError(got), "only libzstd refuses: %s", ZSTD_getErrorName(got));
	REQUIRE(got == used && memcmp(ours, theirs, used) == 0, "%zu and %zu bytes", used, got);
	const size_t streamed = stream(p, took, &rc);
	REQUIRE(rc == 0, "only libzstd's stream refuses: %s", ZSTD_getErrorName(rc));
	REQUIRE(streamed == used && memcmp(ours, theirs, used) == 0, "%zu and %zu bytes", used,
		streamed);
	same++;
	free(p);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	decoder = ZSTD_createDCtx();
	atexit(report);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct bytes b = {bytes, size};
	const unsigned kind = (unsigned)take(&b, 1), changes = kind >> 2 & 7;
	struct place place[PLACES];
	size_t n;

	if (kind % 4 == 0) {
		n = b.size < MAKE_FRAME ? b.size : MAKE_FRAME;
		if (n < 6)
			return 0;
		memcpy(frame, b.data, n);
		compare(n, false);
		return 0;
	}
	if (kind % 4 == 1) {
		n = compress(&b);
	} else {
		make_frame(&make, take(&b, 6), frame);
		n = make.bytes;
	}
	compare(n, true);
	const unsigned count = find_places(n, place);
	memcpy(base, frame, n);
	/*
	 * The first variant is changed as the input says, so that the fuzzer can find its way; the
	 * others by chance, because making a frame takes far longer than decoding it.
	 */
	for (unsigned i = 0; changes > 0 && i < VARIANTS; i++) {
		uint8_t drawn[4 * 7];
		size_t changed = n;
		for (size_t k = 0; k < sizeof(drawn); k++)
			drawn[k] = (uint8_t)make_draw(&make, 256);
		struct bytes d = {drawn, sizeof(drawn)};
		memcpy(frame, base, n);
		for (unsigned k = 0; k <= i % changes; k++)
			changed = change(i == 0 ? &b : &d, changed, place, count);
		compare(changed, false);
	}
	return 0;
}
