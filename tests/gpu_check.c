/* SPDX-License-Identifier: MIT */
/*
 * gpu_check: every kernel against the CPU engine, on a machine with a GPU.
 * usage: gpu_check [SEED [JOBS [FIRST]]]       (jobs FIRST to JOBS - 1)
 *
 * Each job draws a type, bins, a range and a kind of data, starts the GPU engine for it as the
 * program does, and compares the cells of chunks of many sizes with those that the CPU counts. Where the counters would
 * stay on the device they are fetched for each chunk all the same, and then chunks of all kinds are counted in
 * epochs by two threads, and the totals compared.
 *
 * The first jobs go through a list that reaches every way of counting and every kind of bins; the
 * end checks that they did. Behind them are jobs of very many bins, in epochs alone. Last the kernel that adds up
 * counters is compared with sums of our own. Without a GPU it says so and exits 77.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bins/number.h"
#include "check.h"
#include "count/count.h"
#include "driver/device.h"
#include "driver/helper.h"
#include "gpu/gpu.h"
#include "gpu/gpu_epoch.h"
#include "gpu/gpu_size.h"

enum data { NOISE, INSIDE, EDGES, CONSTANT, SORTED, TWO_HOT, FEW, DATA_KINDS };

struct job {
	const char *type;
	uint32_t bins;
	const char *range; /* NULL: none; "full"; LO:HI; "mod"; "auto"; "list ..." for explicit edges of a shape */
	bool closed;
};

/* Together: every kind of bins of every size, every way of keeping counters. */
static const struct job LIST[] = {
	{"u8", 256, NULL, false},
	{"i8", 100, "full", false},
	{"u16", 65536, NULL, false},
	{"i16be", 1000, "full", false},
	{"f16", 500, "-1:1", false},
	{"bf16be", 77, "-2:2", false},
	{"u16", 1024, NULL, false},
	{"u16be", 1000, "full", false},
	{"i16", 2048, "-1024:1024", true},
	{"u16", 16384, NULL, false},
	{"i16be", 777, "-30000:30000", false},
	{"u16", 300, "-0.5:255.5", false},
	{"i16", 4096, "full", true},
	{"u16", 10, "-9:-5", false},
	{"u16", 3000, "-70000:70000", false},
	{"u24", 1024, "full", false},
	{"i24be", 1000, "-5000:5000", true},
	{"u24be", 100003, "full", false},
	{"i24", 1 << 20, "full", false},
	{"u32", 1024, NULL, false},
	{"u32be", 1024, NULL, true},
	{"i32", 2048, "-1024:1024", false},
	{"u32", 1000, "full", false},
	{"i32be", 777, "-12345:54321", true},
	{"u32", 16384, "full", false},
	{"u32", 57000, "full", false},
	{"u32", 58001, "full", false},
	{"u32", 65536, NULL, false},
	{"u32", 100003, "full", false},
	{"i32", 131072, "full", false},
	{"u32", 1 << 20, NULL, false},
	{"i32be", 1000003, "full", false},
	{"u32", 1 << 22, "full", false},
	{"u32", 300, "-0.5:255.5", false},
	{"i32", 70000, "-1e30:1e30", false},
	{"u32", 5000, "3:7", false},
	{"i32", 10, "0.25:0.75", false},
	{"u32", 10, "-9:-5", false},
	{"u64", 1024, "full", false},
	{"i64be", 1000, "full", false},
	{"u64", 300, NULL, true},
	{"i64", 65536, "-1e6:1e6", false},
	{"u64be", 1 << 20, "full", false},
	{"i64", 999, "-0.5:1e18", false},
	{"u64", 64, "0.25:0.75", false},
	{"i64", 3, "1e19:2e19", false},
	{"i64", 1000, "9007199254740991.5:9007199254740995", false},
	{"f32", 1000, "0:1", false},
	{"f32", 1024, "0:1024", false},
	{"f32be", 333, "-1.25:3.1", true},
	{"f32", 65536, "-1:1", false},
	{"f32", 1 << 20, "-1:1", false},
	{"f32", 100, "full", false},
	{"f32", 5000, "16777216:16777220", false},
	{"f32", 10, "1e-320:9e-320", false},
	{"f64", 1000, "0:1", true},
	{"f64be", 100003, "-1:1", false},
	{"f64", 50, "full", false},
	{"f64", 1000, "1:1.0000000000001", false},
	{"f64", 1 << 20, "0:1", false},
	{"u24", 1000, "list regular", false},
	{"i24be", 100003, "list regular", true},
	{"u24be", 1 << 18, "list regular", false},
	{"u32", 12, "list ratios", true},
	{"i32be", 5000, "list crowded", false},
	{"u32be", 100003, "list regular", false},
	{"i32", 1 << 18, "list crowded", false},
	{"u64", 1000, "list ratios", false},
	{"i64be", 100003, "list crowded", true},
	{"i64", 1 << 18, "list regular", false},
	{"f32", 1000, "list regular", false},
	{"f32be", 90, "list ratios", true},
	{"f32", 100003, "list crowded", false},
	{"f32", 1 << 18, "list regular", false},
	{"f64", 300, "list ratios", true},
	{"f64be", 100003, "list regular", false},
	{"f64", 1 << 18, "list crowded", false},
	{"u16", 200, "list ratios", false},
	{"u8", 30, "list regular", true},
	{"f16", 64, "list ratios", false},
	{"u32", 1, "list ratios", false},
	{"f32", 3, "list none", false},
	{"u64be", 3, "list none", false},
	{"u24", 1000, "mod", false},
	{"i24be", 77, "mod", false},
	{"u32", 1024, "mod", false},
	{"i32be", 100003, "mod", false},
	{"u64", 7, "mod", false},
	{"i64be", 1 << 18, "mod", false},
	{"u24be", 1000, "auto", false},
	{"i32", 256, "auto", false},
	{"u64be", 300, "auto", false},
	{"i64", 1 << 18, "auto", false},
	{"f32", 256, "auto", false},
	{"f32be", 70000, "auto", false},
	{"f64", 1000, "auto", false},
	{"f64be", 3, "auto", false},
};
#define LIST_LENGTH (sizeof(LIST) / sizeof(LIST[0]))

/* Channels and gaps, by every kernel that counts channels and every one that packs. */
static const struct {
	struct job job;
	struct layout layout;
} LAID[] = {
	{{"u8", 256, NULL, false}, {.channels = 3}},
	{{"i8", 256, NULL, false}, {.channels = 9}},
	{{"u8", 256, NULL, false}, {.channels = 17}},
	{{"u8", 256, NULL, false}, {.channels = 64}},
	{{"i16", 1000, "full", false}, {.channels = 2}},
	{{"i16be", 500, "full", false}, {.channels = 63}},
	{{"u16", 65536, NULL, false}, {.channels = 2}},
	{{"u16be", 10000, "full", false}, {.channels = 4}}, /* groups would fit, but the counters stay */
	{{"f16", 500, "-1:1", false}, {.channels = 5}},
	{{"u24", 1024, "full", false}, {.channels = 3}},
	{{"i24be", 30000, "full", false}, {.channels = 7}},
	{{"u32", 1024, NULL, false}, {.channels = 2}},
	{{"u32be", 1000, "full", true}, {.channels = 31}},
	{{"i32", 40000, "full", false}, {.channels = 3}},
	{{"u32", 77, "mod", false}, {.channels = 6}},
	{{"u32", 1000, "list ratios", false}, {.channels = 4}},
	{{"u64", 1024, "full", false}, {.channels = 5}},
	{{"i64be", 60000, "full", false}, {.channels = 2}},
	{{"f32", 1000, "0:1", true}, {.channels = 2}},
	{{"f32be", 1000, "list regular", false}, {.channels = 10}},
	{{"f32", 100000, "-1:1", false}, {.channels = 3}},
	{{"f64", 300, "0:1", false}, {.channels = 3}},
	{{"f64be", 40000, "-1:1", false}, {.channels = 2}},
	{{"u8", 256, NULL, false}, {.samples = 100, .pitch = 100, .row = 1, .record = 100}},
	{{"u8", 256, NULL, false}, {.samples = 1, .record = 1, .row = 101, .pitch = 128}},
	{{"u16", 1024, NULL, false}, {.record = 7, .offset = 3}},
	{{"u24", 1024, "full", false}, {.channels = 2, .record = 16, .offset = 1}},
	{{"f32", 1000, "0:1", false}, {.record = 64, .offset = 60}},
	{{"f32", 1000, "list crowded", false}, {.record = 9, .offset = 5}},
	{{"u32", 100003, "full", false}, {.channels = 3, .record = 12, .row = 5, .pitch = 61}},
	{{"f64", 1000, "0:1", false}, {.channels = 2, .record = 24, .offset = 8}},
	{{"i64", 1000, "full", false}, {.channels = 1, .record = 12, .offset = 2, .row = 9, .pitch = 111}},
	{{"i16be", 100, "full", false}, {.channels = 3, .record = 1 << 20, .offset = 12345}},
	{{"f32", 256, "auto", false}, {.channels = 2}},
	{{"i32be", 1000, "auto", false}, {.channels = 3, .record = 20, .offset = 4}},
	{{"f64", 30000, "auto", false}, {.channels = 5}},
};
#define LAID_LENGTH (sizeof(LAID) / sizeof(LAID[0]))

/* So many bins that the CPU's own tables are gigabytes: in epochs alone, the largest last. */
static const struct job MANY[] = {
	{"u32", 1 << 24, "full", false}, {"f32", 1 << 26, "0:1", false}, {"i64", 1 << 28, "full", false},
	{"u24", 1 << 24, NULL, false},   {"u32", 1 << 28, "mod", false},
};
#define MANY_LENGTH (sizeof(MANY) / sizeof(MANY[0]))

static uint64_t state;

static uint64_t draw(void)
{
	return check_random(&state);
}

/* bins + 1 explicit edges. */
static double *make_list(const char *shape, uint32_t bins, bool real)
{
	double *list = calloc((size_t)bins + 1, sizeof(*list));
	const double step = real ? 2.0 / bins : 37;

	for (uint32_t i = 0; list && i <= bins; i++) {
		const double x = i;
		if (strstr(shape, "regular"))
			list[i] = x * step - 1;
		else if (strstr(shape, "ratios"))
			list[i] = exp2(x * 40 / bins) + (real ? 0 : x);
		else if (strstr(shape, "crowded")) /* one half of them in a thousandth of the range */
			list[i] = i <= bins / 2 ? x * step : (bins / 2 + (x - bins / 2) * 1000) * step;
		else /* where no sample lies */
			list[i] = real ? 1e-60 * (x + 1) : 0.25 + x / bins / 2;
	}
	return list;
}

/* A real number for a float type: from the range, an edge, a neighbour, or something odd. */
static double real_sample(const struct edges *e, const struct sample_type *t, bool edges_only)
{
	const uint32_t bins = e->binning.bins;
	const double lo = edges_value(e, 0), hi = edges_value(e, bins);
	const uint64_t r = draw();
	double x;

	if (!edges_only && r % 64 == 0) {
		static const double ODD[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e-45, -1e-310};
		return ODD[r / 64 % 7];
	}
	if (!edges_only && r % 64 < 48)
		return lo + (hi - lo) * ((double)(r >> 11) * 0x1.1p-53 - 0.03);
	x = edges_value(e, (uint32_t)((r >> 20) % (bins + 1u)));
	if (t->bytes == 4) {
		const float f = (float)x;
		return (double)(r % 3 == 0 ? f : nextafterf(f, r % 3 == 1 ? INFINITY : -INFINITY));
	}
	return r % 3 == 0 ? x : nextafter(x, r % 3 == 1 ? (double)INFINITY : -(double)INFINITY);
}

/* The bits of one sample, as a little-endian number. */
static uint64_t sample_bits(const struct edges *e, const struct sample_type *t, enum data data)
{
	const struct binning *b = &e->binning;
	const uint64_t mask = t->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * t->bytes) - 1;
	const uint64_t r = draw();

	if (data == NOISE || t->bytes <= 2)
		return r & mask;
	if (t->kind == SAMPLE_FLOAT) {
		const double x = real_sample(e, t, data == EDGES);
		const float f = (float)x;
		uint64_t bits = 0;
		if (t->bytes == 4)
			memcpy(&bits, &f, 4);
		else
			memcpy(&bits, &x, 8);
		return bits;
	}
	if (e->list && r % 4 != 0) { /* an edge, or near it */
		const double edge = ceil(e->list[r / 4 % (b->bins + 1u)]), top = ldexp(1, (int)(8 * t->bytes)) - 2048;
		const double held = edge < -1e15 ? -1e15 : edge > top / 2 ? top / 2 : edge;
		return ((uint64_t)(int64_t)held + (r >> 40) % 5 - 2) & mask;
	}
	/* Keys from a little below the range to a little above; or about the edges. */
	uint64_t key = b->first - 3 + (b->span + 7 == 0 ? r : r % (b->span + 7));
	if (data == EDGES && b->span > 1000)
		key = b->first + (uint64_t)((double)b->span * ((double)(r % b->bins) / b->bins)) + r % 5 - 2;
	return (key ^ b->bias) & mask;
}

static void put(unsigned char *p, const struct sample_type *t, uint64_t bits)
{
	for (uint32_t k = 0; k < t->bytes; k++)
		p[t->big ? t->bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

static void fill(unsigned char *p, size_t n, const struct edges *e, const struct sample_type *t, enum data data)
{
	const uint64_t a = sample_bits(e, t, INSIDE), b = sample_bits(e, t, INSIDE);

	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		if (data == CONSTANT)
			bits = a;
		else if (data == TWO_HOT)
			bits = draw() % 16 == 0 ? sample_bits(e, t, NOISE) : draw() % 2 ? a : b;
		else if (data == FEW)
			bits = a + draw() % 5;
		else if (data == SORTED) /* in long runs, whatever the order of the type */
			bits = a + i / 777;
		else
			bits = sample_bits(e, t, data);
		put(p + i * t->bytes, t, bits);
	}
}

/* What a lane counts, and how: its samples are laid out in the slot, and counted here one channel at a time. */
struct subject {
	const struct counting *counting; /* with the layout */
	const struct counting *plain;    /* of one channel without gaps */
	const struct edges *edges;
	struct counts *all; /* --auto: what the CPU counted of all chunks, with a k of its own */
	const char *what;
};

/* Spreads samples over records; what is between them is noise. */
static void lay_out(unsigned char *to, const unsigned char *samples, size_t records, const struct layout *l,
		    uint32_t bytes)
{
	const uint32_t own = l->samples * bytes, inner = l->row > 0 ? l->row : 1;

	for (size_t i = 0; i < records * layout_bytes(l); i++)
		to[i] = (unsigned char)draw();
	for (size_t i = 0; i < records; i++, to += layout_bytes(l))
		for (uint32_t k = 0; k < inner; k++, samples += own)
			memcpy(to + (size_t)k * l->record + l->offset, samples, own);
}

/* The counters of the slot that the CPU expects. */
static uint64_t *expect(const struct subject *s, const struct lane *lane, const struct slot *slot,
			const unsigned char *samples, size_t n)
{
	const uint32_t channels = s->counting->channels, bytes = s->counting->bytes;
	uint64_t *const expected = calloc(lane->cells, sizeof(*expected));
	unsigned char *const own = malloc(n * bytes + 1);
	struct fail fail = {.status = STATUS_OK};
	struct counting plain = *s->plain;

	if (lane->slots_of_k) { /* at the chunk's k, whatever that is */
		auto_rule(&plain.binning, &plain.type, plain.binning.bins, slot->k);
		plain.most = 0;
	}
	for (uint32_t c = 0; c < channels; c++) {
		struct counts counts;
		size_t used = 0;
		for (size_t i = c; i < n; i += channels, used++)
			memcpy(own + used * bytes, samples + i * bytes, bytes);
		if (counts_init(&counts, s->plain->cells, &fail) != 0)
			break;
		struct counter *counter = counter_open(&plain, &counts);
		counter_add(counter, own, used, NULL);
		counter_close(counter);
		for (size_t i = 0; i < s->plain->cells; i++)
			expected[gpu_counter(lane, c * s->plain->cells + i)] += counts.cell[i];
		counts_free(&counts);
	}
	free(own);
	return expected;
}

/* The chunk's extent is that of its samples, and its k is no larger than the samples so far make it. */
static void check_auto(const struct subject *s, struct lane *lane, struct slot *slot, const unsigned char *samples,
		       size_t n)
{
	const struct counting *c = s->counting;
	const struct extent own = c->extent(samples, n, c->binning.bias);
	struct counter *const counter = counter_open(c, s->all);
	struct extent all = lane->extent;

	CHECK(own.least == slot->extent.least && own.greatest == slot->extent.greatest, "%s: extent", s->what);
	extent_add(&all, &own);
	CHECK(slot->k >= auto_k(&own, c->most, &c->type) && slot->k <= auto_k(&all, c->most, &c->type), "%s: k %d",
	      s->what, slot->k);
	gpu_align(lane, slot);
	CHECK(lane->k == auto_k(&all, c->most, &c->type), "%s: k %d of the lane", s->what, lane->k);
	for (size_t i = 0; i < lane->cells; i++)
		lane->total[i] += slot->cells[i];
	counter_add(counter, samples, n, NULL);
	counter_close(counter);
}

/* What the lane has of all chunks is what the CPU has. */
static void check_auto_totals(const struct subject *s, struct lane *lane)
{
	struct counts counts;
	struct fail fail = {.status = STATUS_OK};
	size_t differ = 0;

	if (counts_init(&counts, s->counting->cells, &fail) != 0)
		return;
	counts_set_auto(&counts, &s->counting->type, s->counting->most);
	counts_add_auto64(&counts, lane->total, s->all->samples, lane->k, &lane->extent);
	for (size_t i = 0; i < counts.cells; i++)
		differ += counts.cell[i] != s->all->cell[i];
	CHECK(differ == 0 && counts.k == s->all->k, "%s: %zu totals differ, k %d and %d", s->what, differ, counts.k,
	      s->all->k);
	counts_free(&counts);
}

/* A chunk on its way: what its slot was filled from. */
struct sent {
	struct slot *slot;
	unsigned char *samples;
	size_t n;
	enum data data;
};

static struct sent submit(const struct subject *s, struct lane *lane, struct slot *slot, size_t records, enum data data)
{
	const struct layout *const l = &s->counting->layout;
	const struct sent sent = {slot, malloc(records * layout_samples(l) * s->counting->bytes + 1),
				  records * layout_samples(l), data};

	fill(sent.samples, sent.n, s->edges, &s->counting->type, data);
	lay_out(slot->data, sent.samples, records, l, s->counting->bytes);
	gpu_fill(lane, slot, records * layout_bytes(l));
	CHECK(gpu_submit(lane, slot) == 0, "%s: submit", s->what);
	return sent;
}

static enum gpu_answer answer_of(struct lane *lane, struct slot *slot)
{
	enum gpu_answer answer;

	while ((answer = gpu_done(lane, slot, 1.0)) == GPU_NOT_YET)
		;
	return answer;
}

/* Waits for the chunk and compares its counters with those that the CPU counts. */
static void compare(const struct subject *s, struct lane *lane, struct sent *sent)
{
	struct slot *const slot = sent->slot;
	uint64_t differ = 0, first = 0;
	const bool done = slot->state == SLOT_SUBMITTED && answer_of(lane, slot) == GPU_DONE;

	CHECK(done && slot->samples == sent->n, "%s, data %d: not counted", s->what, (int)sent->data);
	if (done) {
		uint64_t *const expected = expect(s, lane, slot, sent->samples, sent->n);
		for (size_t i = 0; i < lane->cells; i++)
			if (expected[i] != slot->cells[i] && differ++ == 0)
				first = i;
		CHECK(differ == 0, "%s, data %d, %zu samples: %llu cells differ, first %llu: cpu %llu, gpu %lu",
		      s->what, (int)sent->data, sent->n, (unsigned long long)differ, (unsigned long long)first,
		      (unsigned long long)expected[first], (unsigned long)slot->cells[first]);
		free(expected);
		if (lane->slots_of_k)
			check_auto(s, lane, slot, sent->samples, sent->n);
		gpu_free(lane, slot);
	}
	free(sent->samples);
}

#define WAYS 5
static const char *const NAMES[WAYS] = {"striped", "whole", "pair", "split", "far"};

/* What the jobs reached. */
static struct seen {
	unsigned ways[WAYS], kinds[BIN_KINDS], epochs;
} seen;

/* All kinds of data, chunk by chunk: as many as there are slots are on their way at once. */
static void compare_chunks(const struct subject *s, struct lane *lane, unsigned long number)
{
	const struct layout *const l = &s->counting->layout;
	const size_t most = gpu_slot_bytes(lane) / layout_bytes(l),
		     few = layout_samples(l) < 64 ? 1 : layout_samples(l) / 32;
	struct sent sent[REGION_SLOTS];
	unsigned first = 0, count = 0;

	for (int data = 0; data < DATA_KINDS; data++) {
		const size_t sizes[] = {draw() % 70, draw() % 5000 / few, draw() % 100000 / few,
					data == (int)(number % DATA_KINDS) ? most : most / 16 + 1, most / 17};
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct slot *slot;
			if (sizes[i] == 0)
				continue;
			while (!(slot = gpu_take_slot(lane)) && count > 0) {
				compare(s, lane, &sent[first++ % REGION_SLOTS]);
				count--;
			}
			CHECK(slot, "%s: no slot is free", s->what);
			if (!slot || gpu_failed(lane->gpu))
				break;
			sent[(first + count++) % REGION_SLOTS] =
				submit(s, lane, slot, sizes[i] < most ? sizes[i] : most, (enum data)data);
		}
	}
	for (; count > 0; count--)
		compare(s, lane, &sent[first++ % REGION_SLOTS]);
	if (lane->slots_of_k)
		check_auto_totals(s, lane);
}

/* ---- epochs ---- */

#define FEEDERS 2u
#define CHUNKS 6u /* of each */

/* A thread that feeds a lane with chunks of its own, and ends an epoch now and then. */
struct feed {
	struct lane *lane;
	struct counts *totals;
	unsigned char *chunk[CHUNKS];
	size_t bytes[CHUNKS];
	unsigned ends; /* a bit for each chunk: the epoch is ended behind it */
	unsigned counted;
	bool left;
};

static void *feed_main(void *arg)
{
	struct feed *f = arg;

	for (unsigned i = 0; i < CHUNKS && !gpu_failed(f->lane->gpu);) {
		struct slot *const slot = gpu_take_slot(f->lane);
		const struct chunk chunk = {.data = f->chunk[i], .bytes = f->bytes[i], .fd = -1};
		uint64_t epoch;
		if (!slot) {
			nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
			continue;
		}
		memcpy(slot->data, f->chunk[i], f->bytes[i]);
		gpu_fill(f->lane, slot, f->bytes[i]);
		if (epoch_submit(f->lane, slot, &chunk, &epoch, f->totals) != EPOCH_OK)
			break;
		f->counted += answer_of(f->lane, slot) == GPU_DONE;
		gpu_free(f->lane, slot);
		if (f->ends >> i++ & 1 && epoch_end(f->lane, f->totals) != EPOCH_OK)
			break;
	}
	f->left = epoch_leave(f->lane, true, f->totals) == EPOCH_OK;
	return NULL;
}

/* Counts chunks of all kinds of data in epochs, by two threads, and on the CPU. */
static void compare_epochs(const struct subject *s, struct gpu *gpu)
{
	const struct counting *const c = s->counting;
	const size_t samples = layout_samples(&c->layout), record = layout_bytes(&c->layout);
	struct counts totals;
	struct fail fail = {.status = STATUS_OK};
	struct feed feed[FEEDERS];
	pthread_t thread[FEEDERS];
	uint64_t differ = 0, first = 0;

	if (counts_init(&totals, c->cells, &fail) != 0)
		return;
	struct counter *const counter = counter_open(c, s->all);
	for (unsigned k = 0; k < FEEDERS; k++) {
		feed[k] = (struct feed){.lane = gpu_lane_open(gpu), .totals = &totals, .ends = (unsigned)draw() % 64};
		CHECK(feed[k].lane && feed[k].lane->stays, "%s: a lane whose counters stay", s->what);
		if (!feed[k].lane)
			return;
		for (unsigned i = 0; i < CHUNKS; i++) {
			const size_t most = gpu_slot_bytes(feed[k].lane) / record;
			const size_t usual = 1 + draw() % (100000 / samples + 1), records = usual < most ? usual : most;
			unsigned char *const own = malloc(records * samples * c->bytes);
			fill(own, records * samples, s->edges, &c->type, (enum data)((k + i) % DATA_KINDS));
			feed[k].bytes[i] = records * record;
			feed[k].chunk[i] = malloc(feed[k].bytes[i]);
			lay_out(feed[k].chunk[i], own, records, &c->layout, c->bytes);
			counter_add(counter, own, records * samples, NULL);
			free(own);
		}
	}
	counter_close(counter);
	for (unsigned k = 0; k < FEEDERS; k++)
		CHECK(pthread_create(&thread[k], NULL, feed_main, &feed[k]) == 0, "thread");
	for (unsigned k = 0; k < FEEDERS; k++) {
		pthread_join(thread[k], NULL);
		CHECK(feed[k].counted == CHUNKS && feed[k].left, "%s: %u chunks counted", s->what, feed[k].counted);
		for (unsigned i = 0; i < CHUNKS; i++)
			free(feed[k].chunk[i]);
	}
	seen.epochs += (unsigned)epoch_committed(feed[0].lane);
	CHECK(!gpu_lane_free(gpu) || gpu_failed(gpu), "%s: a lane more than there may be", s->what);
	for (unsigned k = 0; k < FEEDERS; k++)
		gpu_lane_close(feed[k].lane);
	CHECK(gpu_lane_free(gpu) || gpu_failed(gpu), "%s: no lane came back", s->what);
	for (size_t i = 0; i < totals.cells; i++)
		if (totals.cell[i] != s->all->cell[i] && differ++ == 0)
			first = i;
	CHECK(differ == 0 && totals.samples == s->all->samples,
	      "%s: %llu of all cells differ, first %llu: cpu %llu, gpu %llu; %llu and %llu samples", s->what,
	      (unsigned long long)differ, (unsigned long long)first, (unsigned long long)s->all->cell[first],
	      (unsigned long long)totals.cell[first], (unsigned long long)s->all->samples,
	      (unsigned long long)totals.samples);
	counts_free(&totals);
}

/* ---- a job ---- */

/* What the job counts by; false: it cannot be. The list is the caller's to free. */
static bool make_edges(const struct job *job, const struct sample_type *type, struct edges *edges, double **list)
{
	struct edges_spec spec = {
		.bins = job->bins, .closed = job->closed, .kind = job->range ? AXIS_RANGE : AXIS_VALUES};
	const char *why;

	*list = NULL;
	spec.full = job->range && strcmp(job->range, "full") == 0;
	if (job->range && strncmp(job->range, "list", 4) == 0) {
		spec.kind = AXIS_EDGES;
		spec.list = *list = make_list(job->range, job->bins, type->kind == SAMPLE_FLOAT);
	} else if (job->range && strcmp(job->range, "mod") == 0) {
		spec.kind = AXIS_MOD;
	} else if (job->range && strcmp(job->range, "auto") == 0) {
		spec.kind = AXIS_AUTO;
	} else if (job->range && !spec.full) {
		const char *colon = strchr(job->range, ':');
		number_parse(&spec.lo, job->range, (size_t)(colon - job->range));
		number_parse(&spec.hi, colon + 1, strlen(colon + 1));
	}
	return edges_init(edges, &spec, type, &why) == 0;
}

/* NULL: there is none, and why was said. */
static struct gpu *start(const struct subject *s, bool fetch, struct gpu_report *report)
{
	struct gpu *gpu = gpu_start(&(struct gpu_spec){
		.counting = s->counting, .devices = "0", .lanes = FEEDERS, .fetch = fetch, .memory = 8 << 20});

	if (gpu && gpu_wait(gpu) == 0) {
		gpu_describe(gpu, report);
		return gpu;
	}
	if (gpu)
		gpu_describe(gpu, report);
	gpu_close(gpu);
	return NULL;
}

static void see(const struct gpu_report *report, const struct edges *edges)
{
	for (int i = 0; i < WAYS; i++)
		seen.ways[i] += strncmp(report->kernel, NAMES[i], strlen(NAMES[i])) == 0;
	seen.kinds[edges->binning.kind]++;
}

/* Every chunk, and, where counters are so many, epochs; false when there is no GPU. */
static bool run_counting(struct subject *s, char *what, size_t size, bool chunks, unsigned long number)
{
	struct gpu_report report = {.state = GPU_NONE};
	const size_t named = strlen(what);
	struct gpu *gpu = chunks ? start(s, true, &report) : NULL;

	if (gpu) {
		snprintf(what + named, size - named, ", %s", report.kernel);
		see(&report, s->edges);
		struct lane *lane = gpu_lane_open(gpu);
		CHECK(lane && !lane->stays, "%s: a lane", what);
		if (lane)
			compare_chunks(s, lane, number);
		gpu_lane_close(lane);
		gpu_close(gpu);
	}
	const struct gpu_spec spec = {.counting = s->counting, .lanes = FEEDERS};
	if ((gpu || !chunks) && gpu_size(&spec, 8 << 20).stays) {
		gpu = start(s, false, &report);
		snprintf(what + named, size - named, ", epochs, %s", report.kernel);
		if (gpu) {
			see(&report, s->edges);
			compare_epochs(s, gpu);
		}
		gpu_close(gpu);
	}
	if (!gpu && number == 0)
		printf("no GPU: %s\n", report.why);
	CHECK(gpu || number == 0, "%s: %s", what, report.why);
	return gpu || number != 0;
}

/* One job on all kinds of data; false when there is no GPU. */
static bool run(const struct job *job, const struct layout *asked, bool chunks, unsigned long number)
{
	struct sample_type type;
	struct edges edges;
	struct counting counting, plain;
	struct layout layout;
	struct counts all;
	struct fail fail = {.status = STATUS_OK};
	const char *why;
	double *list;
	char what[250];
	bool there = true;

	sample_type_parse(&type, job->type);
	if (!make_edges(job, &type, &edges, &list) || layout_init(&layout, asked, type.bytes, &why) != 0) {
		free(list);
		return true;
	}
	counting_init(&plain, &type, &edges, false);
	counting_init_layout(&counting, &type, &edges, &layout, !chunks);
	snprintf(what, sizeof(what), "job %lu: %s -b %lu -r %s%s, layout %u %u+%u %u/%u", number, job->type,
		 (unsigned long)job->bins, job->range ? job->range : "none", job->closed ? " closed" : "",
		 layout.channels, layout.record, layout.offset, layout.row, layout.pitch);
	if (counts_init(&all, counting.cells, &fail) == 0) {
		struct subject subject = {&counting, &plain, &edges, &all, what};
		if (counting.most > 0)
			counts_set_auto(&all, &type, counting.most);
		there = run_counting(&subject, what, sizeof(what), chunks, number);
		counts_free(&all);
	}
	edges_free(&edges);
	free(list);
	return there;
}

/* A job of random parts. */
static struct job random_job(char *range, size_t size)
{
	static const uint32_t BINS[] = {1,     2,     5,     255,   256,    1000,   1024,    5000,   16384,
					57340, 58000, 65536, 90000, 114000, 131072, 1 << 18, 1000000};
	struct job job = LIST[draw() % LIST_LENGTH];

	job.bins = BINS[draw() % (sizeof(BINS) / sizeof(BINS[0]))];
	job.closed = draw() % 4 == 0;
	if (draw() % 3 == 0) {
		const double lo = ldexp((double)(int64_t)draw(), -(int)(draw() % 70));
		snprintf(range, size, "%.17g:%.17g", lo,
			 lo + ldexp(1 + (double)(draw() % 1000), (int)(draw() % 40) - 8));
		job.range = range;
	}
	return job;
}

/* One in two has channels, one in four gaps. */
static struct layout random_layout(const struct job *job)
{
	struct layout layout = {.channels = draw() % 2 ? 1 : 1 + (uint32_t)(draw() % 64)};
	struct sample_type type;

	sample_type_parse(&type, job->type);
	if (draw() % 4 == 0) {
		layout.offset = (uint32_t)(draw() % 20);
		layout.record = layout.offset + layout.channels * type.bytes + (uint32_t)(draw() % 30);
	}
	if (draw() % 4 == 0) {
		layout.row = 1 + (uint32_t)(draw() % 100);
		layout.pitch = layout.row * (layout.record > 0 ? layout.record : layout.channels * type.bytes) +
			       (uint32_t)(draw() % 50);
	}
	return layout;
}

static bool run_job(uint64_t seed, unsigned long i)
{
	static const struct layout plain = {.channels = 1};
	const unsigned long laid = i - LIST_LENGTH, many = laid - LAID_LENGTH;
	char range[100];

	state = (seed + 1) * 0x9e3779b97f4a7c15u ^ (i * 0xbf58476d1ce4e5b9u + 1);
	if (i < LIST_LENGTH)
		return run(&LIST[i], &plain, true, i);
	if (laid < LAID_LENGTH)
		return run(&LAID[laid].job, &LAID[laid].layout, true, i);
	if (many < MANY_LENGTH)
		return run(&MANY[many], &plain, false, i);
	const struct job job = random_job(range, sizeof(range));
	const struct layout layout = random_layout(&job);
	return run(&job, &layout, true, i);
}

/* ---- sums of counters ---- */

static void __attribute__((noreturn)) no_device(void *arg, const char *what, const char *why)
{
	(void)arg;
	printf("sums: %s: %s\n0 passed, 1 failed\n", what, why);
	exit(1);
}

/* sum_pieces of a table, on a device that is open, beside sums of our own. */
static void check_sums(struct device *d, CUfunction sum_pieces, CUevent event, size_t cells, uint32_t piece)
{
	const uint32_t pieces = (uint32_t)((cells + piece - 1) / piece);
	const size_t bytes = (cells * sizeof(uint32_t) + 4095) / 4096 * 4096,
		     all = bytes + (pieces * 8 / 4096 + 1) * 4096;
	unsigned char *const memory = aligned_alloc(4096, all);
	uint32_t *const table = (uint32_t *)(void *)memory;
	const uint64_t *const found = (const uint64_t *)(void *)(memory + bytes);
	uint64_t many = cells, wrong = 0;
	CUdeviceptr counters, sums;
	CUresult r;

	for (size_t i = 0; i < cells; i++)
		table[i] = draw() % 3 == 0 ? UINT32_MAX - (uint32_t)(draw() % 3) : (uint32_t)draw() >> draw() % 32;
	device_must(d, d->cuda.host_register(memory, all, 0), "host memory");
	device_must(d, d->cuda.memory_alloc(&counters, cells * sizeof(uint32_t)), "memory");
	device_must(d, d->cuda.memory_alloc(&sums, pieces * sizeof(uint64_t)), "memory");
	device_must(d, d->cuda.to_device(counters, memory, cells * sizeof(uint32_t), d->stream[0]), "copy");
	void *arguments[] = {&counters, &many, &piece, &sums};
	device_must(d, d->cuda.launch(sum_pieces, pieces, 1, 1, 1024, 1, 1, 0, d->stream[0], arguments, NULL),
		    "kernel");
	device_must(d, d->cuda.to_host(memory + bytes, sums, pieces * sizeof(uint64_t), d->stream[0]), "copy");
	device_must(d, d->cuda.event_record(event, d->stream[0]), "event");
	while ((r = d->cuda.event_query(event)) == CUDA_ERROR_NOT_READY)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	device_must(d, r, "kernel");
	for (uint32_t p = 0; p < pieces; p++) {
		uint64_t sum = 0;
		for (size_t i = (size_t)p * piece; i < cells && i < (size_t)(p + 1) * piece; i++)
			sum += table[i];
		wrong += sum != found[p];
	}
	CHECK(wrong == 0, "%llu of %lu sums of %zu counters in pieces of %lu are wrong", (unsigned long long)wrong,
	      (unsigned long)pieces, cells, (unsigned long)piece);
	device_must(d, d->cuda.memory_free(counters), "memory");
	device_must(d, d->cuda.memory_free(sums), "memory");
	device_must(d, d->cuda.host_unregister(memory), "host memory");
	free(memory);
}

static void check_all_sums(uint64_t seed)
{
	static const size_t CELLS[] = {1, 31, 1023, 1024, 1025, 4099, 131077, 1000003};
	static const uint32_t PIECES[] = {1, 33, 1024, 1000, 65536, 1 << 18, 1 << 20};
	static struct region region; /* all that opening asks for */
	static struct device d;
	CUfunction sum_pieces;
	CUevent event;

	state = seed + 77;
	d = (struct device){.region = &region, .fail = no_device};
	device_open(&d);
	device_must(&d, d.cuda.module_function(&sum_pieces, d.module, "sum_pieces"), "kernels");
	device_must(&d, d.cuda.event_create(&event, CU_EVENT_DISABLE_TIMING), "event");
	for (size_t i = 0; i < sizeof(CELLS) / sizeof(CELLS[0]); i++)
		for (size_t k = 0; k < sizeof(PIECES) / sizeof(PIECES[0]); k++)
			if (CELLS[i] / PIECES[k] < 150) /* blocks, which are slow where they are simulated */
				check_sums(&d, sum_pieces, event, CELLS[i], PIECES[k]);
}

int main(int argc, char **argv)
{
	if (helper_asked(argc, argv))
		return helper_main(argv);
	const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const unsigned long jobs = argc > 2 ? strtoul(argv[2], NULL, 10) : LIST_LENGTH + LAID_LENGTH + MANY_LENGTH;
	const unsigned long first = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	const bool whole = first == 0 && jobs >= LIST_LENGTH;

	for (unsigned long i = first; i < jobs; i++)
		if (!run_job(seed, i))
			return 77;
	for (int i = 0; i < WAYS && whole; i++)
		CHECK(seen.ways[i] > 0, "%s was never taken", NAMES[i]);
	for (int i = 0; i < BIN_KINDS && whole; i++)
		CHECK(seen.kinds[i] > 0, "kind %d was never taken", i);
	CHECK(!whole || seen.epochs > 100, "%u epochs", seen.epochs);
	check_all_sums(seed);
	return check_report();
}
