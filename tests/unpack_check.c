/* SPDX-License-Identifier: MIT */
/*
 * unpack_check: the kernels that decode zstd's blocks, compared with libzstd and with the decoder
 * for the cores.
 * usage: unpack_check [SEED [FRAMES [KIB]]]     KIB: decoded bytes of a frame, at most
 *        unpack_check stages FILE               how fast each kernel is
 *
 * Frames of many kinds of data and levels, and frames that no compressor writes (block_make.h), go
 * through the device in batches of random sizes, several at once. Every byte is compared with the
 * result of the cores; then bits of the frames are flipped, and the verdict must be the same as the
 * cores', and the bytes, unless both refuse. Without a GPU it reports that and exits with 77.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "block_make.h"
#include "blocks.h"
#include "base/clock.h"
#include "check.h"
#include "gpu_helper/cuda.h"
#include "../kernels/zstd/unpack.h"

#define LANES 8u       /* batches on their way ... */
#define LANES_MOST 24u /* ... as in the program, with the memory that it usually takes */
#define PAGE 4096u
#define APART (UNPACK_BLOCKS * (UNPACK_BLOCK_MAX + 64))
#define PACKED_MOST (UNPACK_BLOCKS * (UNPACK_BLOCK_MAX + 64))

static struct cuda cuda;
static CUfunction sequences, chain, literals, place, resolve, keep;
static CUdeviceptr carry, ring;
static uint64_t state = 1;
static bool opened;

static uint64_t draw(uint64_t below)
{
	return check_random(&state) % below;
}

static void fail(const char *what, const char *why)
{
	printf("unpack_check: %s: %s\n0 passed, %d failed\n", what, why, opened);
	exit(opened ? 1 : 77);
}

static void must(CUresult r, const char *what)
{
	cuda_must(&cuda, r, what);
}

/* ---- a lane: memory for a batch, and a stream ---- */

static struct lane {
	CUstream stream;
	CUevent chained, kept, done;
	CUdeviceptr packed_room;
	struct unpack_memory memory;
	struct unpack_orders *orders;
	struct unpack_answer *answer;
	unsigned char *packed, *decoded;
	uint32_t packed_bytes, most;
	bool busy;
} lanes[LANES_MOST];

/* Allocate device memory that ends at a page without access, and begins after one. */
static CUdeviceptr device_bytes(size_t bytes)
{
	CUdeviceptr at;

	must(cuda.memory_alloc(&at, (bytes + PAGE - 1) / PAGE * PAGE), "memory");
	return at;
}

static void *host_bytes(size_t bytes)
{
	void *const at = mmap(NULL, (bytes + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("memory", "none");
	must(cuda.host_register(at, (bytes + PAGE - 1) / PAGE * PAGE, 0), "memory");
	return at;
}

static void lane_open(struct lane *l)
{
	struct unpack_memory *const m = &l->memory;

	must(cuda.stream_create(&l->stream, CU_STREAM_NON_BLOCKING), "stream");
	must(cuda.event_create(&l->chained, CU_EVENT_DISABLE_TIMING), "event");
	must(cuda.event_create(&l->kept, CU_EVENT_DISABLE_TIMING), "event");
	must(cuda.event_create(&l->done, CU_EVENT_DISABLE_TIMING), "event");
	l->orders = host_bytes(sizeof(*l->orders));
	l->answer = host_bytes(sizeof(*l->answer));
	l->packed = host_bytes(PACKED_MOST);
	l->decoded = host_bytes(APART);
	l->packed_room = device_bytes(UNPACK_BEFORE + PACKED_MOST + UNPACK_AFTER);
	m->batch = device_bytes(sizeof(struct unpack_orders));
	m->block = m->batch + offsetof(struct unpack_orders, block);
	m->state = device_bytes(UNPACK_BLOCKS * sizeof(struct unpack_state));
	m->answer = device_bytes(sizeof(struct unpack_answer));
	m->offset = device_bytes(4 * (size_t)UNPACK_SEQUENCES);
	m->literals = device_bytes(4 * (size_t)UNPACK_SEQUENCES);
	m->match = device_bytes(4 * (size_t)UNPACK_SEQUENCES);
	m->apart = device_bytes(APART);
	m->decoded = device_bytes(APART);
	m->distance = device_bytes(4 * (size_t)UNPACK_BLOCKS * UNPACK_BLOCK_MAX);
	m->carry = carry;
	m->ring = ring;
}

static void open_device(unsigned lane_count)
{
	cuda.fail = fail;
	cuda_open(&cuda);
	opened = true;
	sequences = cuda_function(&cuda, "unpack_sequences");
	chain = cuda_function(&cuda, "unpack_chain");
	literals = cuda_function(&cuda, "unpack_literals");
	place = cuda_function(&cuda, "unpack_place");
	resolve = cuda_function(&cuda, "unpack_resolve");
	keep = cuda_function(&cuda, "unpack_keep");
	carry = device_bytes(sizeof(struct unpack_carry));
	ring = device_bytes((size_t)32 << 20);
	for (unsigned i = 0; i < lane_count; i++)
		lane_open(&lanes[i]);
}

/* ---- a batch ---- */

/* Add a block; false: there is no room. */
static bool batch_add(struct lane *l, const struct block *b, const unsigned char *packed,
		      uint32_t n)
{
	struct unpack_batch *const batch = &l->orders->batch;
	struct unpack_block *const to = &l->orders->block[batch->blocks];
	const uint32_t at = l->packed_bytes;
	const struct unpack_block *const last = to - 1;

	if (batch->blocks == UNPACK_BLOCKS || n > PACKED_MOST - at)
		return false;
	memset(to, 0xa5, sizeof(*to));
	memcpy(l->packed + at, packed, n);
	l->packed_bytes += n;
	to->literals_at = at + (uint32_t)(b->literals_at - packed);
	to->literals_packed = b->literals_packed;
	to->literals = b->literals;
	to->how = (uint32_t)b->how;
	to->sequences = b->sequences;
	to->first = batch->sequences;
	to->apart = batch->blocks == 0
			    ? 0
			    : (last->apart + (last->sequences ? last->literals : 0) + 15) / 16 * 16;
	to->most = b->sequences ? b->most : b->literals;
	if (b->sequences > 0) {
		to->sequences_at = at + (uint32_t)(b->sequences_at - packed);
		to->sequences_packed = b->sequences_packed;
		memcpy(to->shares, b->shares, sizeof(to->shares));
	}
	if (b->how >= LITERALS_ONE_STREAM)
		memcpy(to->tree, b->tree.packed, sizeof(b->tree.packed));
	batch->blocks++;
	batch->sequences += b->sequences;
	l->most += to->most;
	return true;
}

/* Lanes whose batches are decoded together, in order, on the stream of the first of them. */
struct group {
	struct lane *lane[UNPACK_GROUP];
	unsigned count;
};

static void launch_group(const struct group *g, CUfunction kernel, unsigned threads)
{
	struct unpack_group memory;
	void *arguments[] = {&memory};
	unsigned grid = 0;

	for (unsigned i = 0; i < g->count; i++) {
		const unsigned blocks = g->lane[i]->orders->batch.blocks;
		memory.of[i] = g->lane[i]->memory;
		grid = blocks > grid ? blocks : grid;
	}
	must(cuda.launch(kernel, grid, g->count, 1, threads, 1, 1, 0, g->lane[0]->stream, arguments,
			 NULL),
	     "kernel");
}

static void launch(const struct lane *l, CUstream stream, CUfunction kernel, unsigned grid,
		   unsigned threads, uint32_t from)
{
	struct unpack_memory memory = l->memory;
	void *arguments[] = {&memory, &from};

	must(cuda.launch(kernel, grid, 1, 1, threads, 1, 1, 0, stream, arguments, NULL), "kernel");
}

static void copy_in(struct lane *l, CUstream stream, uint64_t ring_bytes)
{
	struct unpack_memory *const m = &l->memory;
	const size_t room = (UNPACK_BEFORE + PACKED_MOST + UNPACK_AFTER + PAGE - 1) / PAGE * PAGE;

	/* At the beginning of its memory, or at the end. */
	m->packed = l->packed_room + UNPACK_BEFORE;
	if (draw(2))
		m->packed = (l->packed_room + room - UNPACK_AFTER - l->packed_bytes) / 4 * 4;
	m->ring_bytes = ring_bytes;
	must(cuda.to_device(m->batch, l->orders, sizeof(*l->orders), stream), "copy");
	must(cuda.to_device(m->packed, l->packed, l->packed_bytes, stream), "copy");
	if (l->orders->batch.sequences > 0)
		must(cuda.fill32(m->distance, 0, l->most, stream), "fill");
}

static void put_together(const struct lane *l, CUstream stream)
{
	const bool matches = l->orders->batch.sequences > 0;

	for (uint32_t from = 0; matches && from < l->most; from += UNPACK_REGION) {
		const uint32_t rest = l->most - from;
		launch(l, stream, resolve,
		       ((rest < UNPACK_REGION ? rest : UNPACK_REGION) + 1023) / 1024, 256, from);
	}
	launch(l, stream, keep, 2, 256, 0);
}

static void copy_out(struct lane *l, CUstream stream)
{
	const struct unpack_memory *const m = &l->memory;

	must(cuda.to_host(l->answer, m->answer, sizeof(*l->answer), stream), "copy");
	must(cuda.to_host(l->decoded, m->decoded, l->most > 0 ? l->most : 1, stream), "copy");
	must(cuda.event_record(l->done, stream), "event");
	l->busy = true;
}

/* Begin a group. before: the first lane of the group before it; NULL: none. */
static void group_begin(const struct group *g, const struct lane *before, uint64_t ring_bytes)
{
	const CUstream stream = g->lane[0]->stream;

	for (unsigned i = 0; i < g->count; i++)
		copy_in(g->lane[i], stream, ring_bytes);
	launch_group(g, sequences, 64);
	if (before)
		must(cuda.stream_wait(stream, before->chained, 0), "wait");
	for (unsigned i = 0; i < g->count; i++)
		launch(g->lane[i], stream, chain, 1, 32, 0);
	must(cuda.event_record(g->lane[0]->chained, stream), "event");
	launch_group(g, literals, 32);
	launch_group(g, place, 256);
	if (before)
		must(cuda.stream_wait(stream, before->kept, 0), "wait");
	for (unsigned i = 0; i < g->count; i++)
		put_together(g->lane[i], stream);
	must(cuda.event_record(g->lane[0]->kept, stream), "event");
	for (unsigned i = 0; i < g->count; i++)
		copy_out(g->lane[i], stream);
}

/* The result of a frame. */
struct outcome {
	bool refused;
	size_t bytes;
};

static void batch_end(struct lane *l, unsigned char *to, size_t room, struct outcome *o)
{
	CUresult r;

	if (!l->busy)
		return;
	while ((r = cuda.event_query(l->done)) == CUDA_ERROR_NOT_READY)
		usleep(20);
	must(r, "event");
	l->busy = false;
	o->refused |= l->answer->refused != 0 || l->answer->bytes > room - o->bytes;
	CHECK(l->answer->bytes <= l->most, "%u bytes", l->answer->bytes);
	if (o->refused)
		return;
	memcpy(to + o->bytes, l->decoded, l->answer->bytes);
	o->bytes += l->answer->bytes;
}

/* Decode on the device; false: the scan refuses the frame. */
static bool device_decode(const unsigned char *p, size_t n, unsigned char *to, size_t room,
			  struct outcome *o)
{
	struct frame_header header;
	struct block_scan scan;
	struct frame_block h = {.last = false};
	const struct lane *before = NULL;
	struct group group = {.count = 0};
	unsigned next = 0;
	bool fine = true;

	*o = (struct outcome){0};
	if (frame_parse(p, n, &header) != FRAME_DATA || header.window > (uint64_t)16 << 20)
		return false;
	const uint32_t most =
		header.window < FRAME_BLOCK_MAX ? (uint32_t)header.window : FRAME_BLOCK_MAX;
	const unsigned few = 1 + (unsigned)draw(draw(3) ? 4 : UNPACK_BLOCKS);
	const unsigned together = 1 + (unsigned)draw(UNPACK_GROUP);
	uint64_t ring_bytes = 16384;
	while (ring_bytes < header.window + (uint64_t)few * most)
		ring_bytes *= 2;
	block_scan_begin(&scan, header.window);
	for (size_t at = header.bytes; fine && !h.last;) {
		struct lane *const l = &lanes[next++ % LANES];
		const unsigned many = 1 + (unsigned)draw(few);
		batch_end(l, to, room, o);
		l->packed_bytes = l->most = 0;
		l->orders->batch = (struct unpack_batch){.begins = at == header.bytes,
							 .window = header.window};
		while (!h.last && l->orders->batch.blocks < many && fine) {
			struct block b;
			fine = n - at >= 3 && frame_block_parse(p + at, &h) == 0 &&
			       n - at - 3 >= h.packed_bytes &&
			       !block_scan(&scan, &h, p + at + 3, &b) &&
			       batch_add(l, &b, p + at + 3, h.packed_bytes);
			at += 3 + (size_t)h.packed_bytes;
		}
		if (!fine)
			break;
		group.lane[group.count++] = l;
		if (!h.last && group.count < together)
			continue;
		group_begin(&group, before, ring_bytes);
		before = group.lane[0];
		group.count = 0;
	}
	if (group.count > 0)
		group_begin(&group, before, ring_bytes);
	for (unsigned i = 0; i < LANES; i++)
		batch_end(&lanes[next++ % LANES], to, room, o);
	return fine;
}

/* ---- frames ---- */

static unsigned long refusals, agreements, scanned_out, silent;

/* Compare the verdict and the bytes with the cores'. */
static void compare(const unsigned char *p, size_t n, size_t room, bool whole, const char *what)
{
	unsigned char *const cores = malloc(room + 1), *const device = malloc(room + 1);
	size_t used, took;
	struct outcome o;
	const char *why = blocks_decode(p, n, cores, room, &used, &took);

	if (why && strcmp(why, "another size than the frame's header says") == 0)
		why = NULL;
	if (!device_decode(p, n, device, room, &o)) {
		CHECK(why && !whole, "%s: not scanned", what);
		scanned_out++;
	} else if (why && strcmp(why, "no room") == 0) {
		scanned_out++;
	} else {
		CHECK(o.refused == (why != NULL), "%s: the device %s, the cores: %s", what,
		      o.refused ? "refuses" : "does not refuse", why ? why : "right");
		CHECK(!whole || !why, "%s: %s", what, why);
		if (!o.refused && !why) {
			size_t first = 0;
			while (first < used && first < o.bytes && cores[first] == device[first])
				first++;
			CHECK(o.bytes == used && first == used, "%s: %zu bytes, not %zu; first %zu",
			      what, o.bytes, used, first);
			silent += !whole;
		}
		refusals += why != NULL;
		agreements++;
	}
	free(cores);
	free(device);
}

/* Return where one of a frame's streams of literals ends, or `otherwise` if there is none. */
static size_t end_of_literals(const unsigned char *p, size_t n, size_t otherwise)
{
	struct frame_header header;
	struct block_scan scan;
	struct frame_block h = {.last = false};
	unsigned seen = 0;

	if (frame_parse(p, n, &header) != FRAME_DATA)
		return otherwise;
	block_scan_begin(&scan, header.window);
	for (size_t at = header.bytes; !h.last; at += 3 + (size_t)h.packed_bytes) {
		struct block b;
		if (frame_block_parse(p + at, &h) != 0 || block_scan(&scan, &h, p + at + 3, &b))
			break;
		if (b.how >= LITERALS_ONE_STREAM && draw(++seen) == 0)
			otherwise = (size_t)(b.literals_at - p) +
				    (b.how == LITERALS_FOUR_STREAMS ? 6 : 0);
	}
	return otherwise;
}

/*
 * Flip bits of some blocks, but not of the headers that the scan follows. In a third of the frames
 * it is a bit at the end of literals, after which the last one may need more bits than are left.
 */
static void compare_flipped(unsigned char *p, size_t n, size_t room, unsigned times,
			    const char *what)
{
	enum {
		HEADS = 12
	}; /* bytes of the frame's header and of the first block's, or some more */
	unsigned char *const own = malloc(n);

	for (unsigned i = 0; i < times && n > HEADS; i++) {
		memcpy(own, p, n);
		const unsigned bits = 1 + (unsigned)draw(draw(3) ? 1 : 6);
		const bool ends = draw(3) == 0;
		for (unsigned k = 0; k < bits; k++) {
			const size_t any = HEADS + draw(n - HEADS);
			const size_t at = ends ? end_of_literals(p, n, any) + draw(2) : any;
			own[at < n ? at : any] ^= (unsigned char)(1 << draw(8));
		}
		/* A smaller window than the matches were made for, and nothing flipped. */
		if (draw(3) == 0 && (own[4] & 0x20) == 0) {
			memcpy(own + HEADS, p + HEADS, n - HEADS);
			own[5] = (unsigned char)draw(own[5] + 1u);
		}
		compare(own, n, room, false, what);
	}
	free(own);
}

enum { FEW_BITS, BELL, TEXT, WALK, RUNS, RECORDS, NOISE, ZEROS, DATA_KINDS };

static void fill_data(unsigned char *p, size_t n, unsigned kind)
{
	static const char WORDS[] =
		"of the and that device block stream literal match offset window ";
	int walk = 0;

	for (size_t i = 0; i < n; i++)
		switch (kind) {
		case FEW_BITS:
			p[i] = (unsigned char)(i % 4 == 1 ? draw(4) : i % 4 == 0 ? draw(256) : 0);
			break;
		case BELL:
			p[i] = (unsigned char)(draw(16) + draw(16) + draw(16) + draw(16));
			break;
		case TEXT:
			p[i] = (unsigned char)
				WORDS[(i * 7 + draw(3)) % 13 * 4 % (sizeof(WORDS) - 1)];
			if (i > 40 && draw(12) == 0) {
				size_t m = 4 + draw(30), from = draw(i);
				for (; m > 0 && i + 1 < n; m--)
					p[++i] = p[from++];
			}
			break;
		case WALK:
			walk += (int)draw(5) - 2;
			p[i] = (unsigned char)(i % 2 ? walk >> 8 : walk);
			break;
		case RUNS:
			p[i] = i > 0 && draw(50) ? p[i - 1] : (unsigned char)draw(256);
			break;
		case RECORDS:
			p[i] = i >= 48 && draw(30) ? p[i - 48] : (unsigned char)draw(256);
			break;
		case NOISE:
			p[i] = (unsigned char)draw(256);
			break;
		default:
			p[i] = 0;
		}
}

static void one_frame(uint64_t seed, size_t kib, unsigned flips)
{
	static struct make make;
	char what[100];

	state = (seed + 1) * 0x9e3779b97f4a7c15u;
	draw(2);
	if (seed % 3 == 0) { /* one that no compressor writes */
		unsigned char *const p = malloc(MAKE_FRAME);
		make_frame(&make, seed, p);
		snprintf(what, sizeof(what), "made frame %llu", (unsigned long long)seed);
		compare(p, make.bytes, make.decoded, true, what);
		compare_flipped(p, make.bytes, make.decoded + 5000, flips, what);
		free(p);
		return;
	}
	const unsigned kind = (unsigned)draw(DATA_KINDS);
	const int level = (int)draw(25) - 5;
	const size_t n = 1 + draw(draw(2) ? kib << 10 : 5000), bound = ZSTD_compressBound(n);
	unsigned char *const data = malloc(n), *const p = malloc(bound), *const back = malloc(n);
	ZSTD_CCtx *const c = ZSTD_createCCtx();
	size_t used, took;

	fill_data(data, n, kind);
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, (int)draw(2));
	if (draw(2))
		ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 10 + (int)draw(11));
	const size_t packed = ZSTD_compress2(c, p, bound, data, n);
	ZSTD_freeCCtx(c);
	snprintf(what, sizeof(what), "frame %llu: data %u, level %d, %zu bytes",
		 (unsigned long long)seed, kind, level, n);
	CHECK(!ZSTD_isError(packed) && !blocks_decode(p, packed, back, n, &used, &took) &&
		      used == n && memcmp(back, data, n) == 0,
	      "%s: the cores", what);
	compare(p, packed, n, true, what);
	compare_flipped(p, packed, n + 5000, flips, what);
	free(data);
	free(p);
	free(back);
}

/* ---- how fast ---- */

enum stage { SEQUENCES, CHAIN, LITERALS, PLACE, RESOLVE, KEEP, STAGES };

/* Queue n lanes; stages that wait for the batch before them are on one stream. */
static void queue(unsigned n, enum stage stage)
{
	const CUfunction kernel[STAGES] = {sequences, chain, literals, place, resolve, keep};
	const unsigned threads[STAGES] = {64, 32, 32, 256, 256, 256};
	const bool serial = stage == CHAIN || stage >= RESOLVE;
	struct group g = {.count = 0};

	for (unsigned i = 0; i < n && !serial; i++) {
		g.lane[g.count++] = &lanes[i];
		if (i + 1 < n && g.count < UNPACK_GROUP)
			continue;
		launch_group(&g, kernel[stage], threads[stage]);
		g.count = 0;
	}
	for (unsigned i = 0; i < n && serial; i++) {
		const struct lane *const l = &lanes[i];
		const unsigned grid = stage == RESOLVE ? UNPACK_REGION / 1024
				      : stage == KEEP  ? 32
						       : 1;
		const uint32_t end = stage == RESOLVE && l->orders->batch.sequences == 0 ? 0
				     : stage == RESOLVE                                  ? l->most
											 : 1;
		for (uint32_t from = 0; from < end; from += UNPACK_REGION)
			launch(l, lanes[0].stream, kernel[stage], grid, threads[stage], from);
	}
}

static void finish(unsigned n)
{
	CUresult r;

	for (unsigned i = 0; i < n; i++) {
		if (!lanes[i].busy)
			must(cuda.event_record(lanes[i].done, lanes[i].stream), "event");
		lanes[i].busy = false;
		while ((r = cuda.event_query(lanes[i].done)) == CUDA_ERROR_NOT_READY)
			;
		must(r, "work");
	}
}

/* Time n batches that were decoded once; earlier stages have left the distances. */
static double stage_seconds(unsigned n, enum stage stage)
{
	double best = 1e9;

	for (unsigned turn = 0; turn < 5; turn++) {
		for (unsigned i = 0; i < n && (stage == PLACE || stage == RESOLVE); i++)
			must(cuda.fill32(lanes[i].memory.distance, 0, lanes[i].most,
					 lanes[i / UNPACK_GROUP * UNPACK_GROUP].stream),
			     "fill");
		if (stage == RESOLVE)
			queue(n, PLACE);
		finish(n);
		const double start = clock_seconds();
		queue(n, stage);
		finish(n);
		const double seconds = clock_seconds() - start;
		best = seconds < best ? seconds : best;
	}
	return best;
}

/* Load all batches that fill the lanes, from the beginning of a frame; return how many. */
static unsigned load(const unsigned char *p, size_t n, struct frame_header *header)
{
	struct frame_block h = {.last = false};
	struct block_scan scan;
	size_t at;
	unsigned lane = 0;

	if (frame_parse(p, n, header) != FRAME_DATA || header->window > (uint64_t)16 << 20)
		fail("stages", "no frame of zstd, or one with a large window");
	block_scan_begin(&scan, header->window);
	for (at = header->bytes; lane < LANES_MOST && !h.last; lane++) {
		struct lane *const l = &lanes[lane];
		l->orders->batch =
			(struct unpack_batch){.begins = lane == 0, .window = header->window};
		for (bool room = true; room && !h.last;
		     at += room ? 3 + (size_t)h.packed_bytes : 0) {
			struct block b;
			if (n - at < 3 || frame_block_parse(p + at, &h) != 0 ||
			    n - at - 3 < h.packed_bytes)
				return lane;
			room = l->orders->batch.blocks < UNPACK_BLOCKS;
			if (!room)
				h.last = false;
			else if (block_scan(&scan, &h, p + at + 3, &b) ||
				 !batch_add(l, &b, p + at + 3, h.packed_bytes))
				fail("stages", "a block is refused");
		}
	}
	return lane;
}

/* Time each kernel alone, for as many batches as the program sends at once, and all with copies. */
static int stages(const char *path)
{
	static const char *const NAME[STAGES] = {"sequences", "chain",   "literals",
						 "place",     "resolve", "keep"};
	const size_t most = LANES_MOST * PACKED_MOST;
	unsigned char *const p = malloc(most);
	FILE *const f = fopen(path, "rb");
	struct frame_header header;
	double bytes = 0, best = 1e9;

	if (!f || !p)
		fail("stages", path);
	const size_t n = fread(p, 1, most, f);
	open_device(LANES_MOST);
	const unsigned count = load(p, n, &header);
	for (unsigned turn = 0; turn < 5; turn++) {
		const double start = clock_seconds();
		const struct lane *before = NULL;
		for (unsigned i = 0; i < count; i += UNPACK_GROUP) {
			struct group g = {.count = 0};
			while (g.count < UNPACK_GROUP && i + g.count < count) {
				g.lane[g.count] = &lanes[i + g.count];
				g.count++;
			}
			group_begin(&g, before, (uint64_t)32 << 20);
			before = g.lane[0];
		}
		finish(count);
		const double seconds = clock_seconds() - start;
		best = seconds < best ? seconds : best;
	}
	for (unsigned i = 0; i < count; i++) {
		if (lanes[i].answer->refused)
			fail("stages", "a batch is refused");
		bytes += lanes[i].answer->bytes;
	}
	printf("%u batches, %.0f MB, GB/s: all %.1f", count, bytes * 1e-6, bytes / best * 1e-9);
	for (unsigned i = 0; i < STAGES; i++)
		printf(", %s %.1f", NAME[i], bytes / stage_seconds(count, (enum stage)i) * 1e-9);
	printf("\n");
	fclose(f);
	free(p);
	return 0;
}

int main(int argc, char **argv)
{
	const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const unsigned long frames = argc > 2 ? strtoul(argv[2], NULL, 10) : 60;
	const size_t kib = argc > 3 ? strtoul(argv[3], NULL, 10) : 60;

	if (argc == 3 && strcmp(argv[1], "stages") == 0)
		return stages(argv[2]);
	open_device(LANES);
	for (unsigned long i = 0; i < frames; i++)
		one_frame(seed * 1000003 + i, kib, 6);
	printf("%lu frames decoded, %lu of them refused, %lu damaged unnoticed; %lu not scanned\n",
	       agreements, refusals, silent, scanned_out);
	CHECK(refusals > 0 && silent > 0, "no damage was seen, or all");
	return check_report();
}
