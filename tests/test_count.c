/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * count: every method and instruction set compared with a plain loop, for one worker and for
 * several that share one struct counts; more samples than 32 bits can count; digests without memory
 * for more than the totals'; and, with figures, small integers and bins that follow from digests,
 * compared with the other ways of counting.
 */
#include "count/count.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "check.h"
#include "count/counter.h"
#include "hist/quantile.h"

#define SAMPLES 200003u /* not a multiple of any unrolled loop or block */
#define WORKERS_MAX 3u

enum pattern { NOISE, HOT, SORTED, TWO, PATTERNS };

static uint64_t state = 0x636f756e74;
static unsigned long reached[4], tables_reached[9], atomics, derived;

static void set_up(struct sample_type *t, struct edges *e, const char *type, uint32_t bins)
{
	struct axis_spec spec = {.bins = bins, .kind = AXIS_RANGE};
	const char *why = NULL;

	sample_type_parse(t, type);
	number_parse(&spec.lo, "3", 1);
	spec.hi = spec.lo;
	spec.hi.value += bins;
	spec.hi.integer += bins;
	CHECK(edges_init(e, &spec, t, &why) == 0, "%s", why);
}

static void put(unsigned char *p, const struct sample_type *t, uint64_t value)
{
	for (uint32_t k = 0; k < t->code_bytes; k++)
		p[k] = (unsigned char)(value >> 8 * (t->big ? t->code_bytes - 1 - k : k));
}

static unsigned char *make(const struct sample_type *t, uint32_t bins, enum pattern pattern)
{
	unsigned char *p = malloc((size_t)SAMPLES * t->code_bytes + 1);

	for (uint64_t i = 0; i < SAMPLES; i++) {
		const uint64_t r = check_random(&state) % (bins + 10); /* some under, some over */
		put(p + 1 + i * t->code_bytes, t,
		    pattern == NOISE    ? r
		    : pattern == HOT    ? (r % 50 ? 7 : r)
		    : pattern == SORTED ? i * (bins + 10) / SAMPLES
					: i % 2 * 1024 + 5);
	}
	return p;
}

/* Return the cell of a sample that count.h promises, from the bytes alone. */
static size_t cell_of(const struct edges *e, const struct sample_type *t, const unsigned char *p)
{
	uint64_t value = 0;

	if (t->code_bytes <= 2)
		return t->code_bytes == 1 ? p[0] : (size_t)p[0] + 256 * p[1];
	for (uint32_t k = 0; k < t->code_bytes; k++)
		value += (uint64_t)p[k] << 8 * (t->big ? t->code_bytes - 1 - k : k);
	return value < 3                                ? cell_under(&e->binning)
	       : value >= 3 + (uint64_t)e->binning.bins ? cell_over(&e->binning)
							: (size_t)value - 3;
}

struct share {
	pthread_t thread;
	const struct counting *c;
	struct counts *counts;
	const unsigned char *p;
	size_t n;
	uint64_t seed;
};

static void *count_share(void *arg)
{
	struct share *s = arg;
	struct counter *counter = counter_open(s->c, s->counts);
	uint64_t seed = s->seed;

	if (!counter)
		return NULL;
	/* In pieces of any length, even 0. */
	for (size_t done = 0; done < s->n;) {
		const unsigned char *const p = s->p + done * s->c->bytes;
		size_t some = check_random(&seed) % 3000 * s->c->channels;
		if (some > s->n - done)
			some = s->n - done;
		counter_add(counter, p, some);
		done += some;
	}
	counter_close(counter);
	return NULL;
}

static void one(const char *type, uint32_t bins, unsigned workers, bool shared,
		enum pattern pattern)
{
	struct sample_type t;
	struct edges e;
	struct counting c;
	struct counts counts;
	struct fail fail = {0};
	struct share shares[WORKERS_MAX];

	set_up(&t, &e, type, bins);
	counting_init(&c, &t, &e, NULL, shared);
	c.alone = workers == 1;
	reached[c.method]++;
	tables_reached[c.tables]++;
	atomics += c.method == COUNT_SHARED && !c.alone;
	CHECK(counts_init(&counts, c.cells, NULL, &fail) == 0, "%s", fail.text);
	unsigned char *p = make(&t, bins, pattern);
	uint64_t *expected = calloc(c.cells, sizeof(*expected));
	for (size_t i = 0; i < SAMPLES; i++)
		expected[cell_of(&e, &t, p + 1 + i * t.code_bytes)]++;

	const unsigned running = workers < WORKERS_MAX ? workers : WORKERS_MAX;
	const size_t each = SAMPLES / running;
	for (unsigned w = 0; w < running; w++) {
		shares[w] = (struct share){.c = &c,
					   .counts = &counts,
					   .p = p + 1 + w * each * t.code_bytes,
					   .n = w + 1 < running ? each : SAMPLES - w * each,
					   .seed = check_random(&state)};
		CHECK(pthread_create(&shares[w].thread, NULL, count_share, &shares[w]) == 0,
		      "thread");
	}
	for (unsigned w = 0; w < running; w++)
		pthread_join(shares[w].thread, NULL);

	CHECK(counts.samples == SAMPLES, "%s: %llu samples", type,
	      (unsigned long long)counts.samples);
	size_t right = 0;
	while (right < c.cells && counts.cell[right] == expected[right])
		right++;
	CHECK(right == c.cells, "%s -b %u, %u workers, pattern %d: cell %zu is wrong", type, bins,
	      workers, (int)pattern, right);
	free(expected);
	free(p);
	counts_free(&counts);
}

/* Count samples of several channels with a digest each by several workers. */
static void count_digests(struct counts *counts, const struct sample_type *t,
			  const unsigned char *p, size_t n, uint32_t channels, uint32_t digits,
			  struct digest_memory *memory)
{
	const struct layout layout = {
		.record = channels * t->code_bytes, .samples = channels, .channels = channels};
	struct sample_type same;
	struct edges e;
	struct counting c;
	struct fail fail = {0};
	struct share shares[WORKERS_MAX];

	set_up(&same, &e, "f32", 100);
	counting_init(&c, t, &e, &layout, false);
	counting_keep_stats(&c, digits);
	c.pages = memory;
	CHECK(counts_init(counts, c.cells, NULL, &fail) == 0 &&
		      counts_keep_stats(counts, t, channels, digits, memory, &fail) == 0,
	      "%s", fail.text);
	for (unsigned w = 0; w < WORKERS_MAX; w++) {
		shares[w] = (struct share){.c = &c,
					   .counts = counts,
					   .p = p + w * n * t->code_bytes,
					   .n = n,
					   .seed = check_random(&state)};
		CHECK(pthread_create(&shares[w].thread, NULL, count_share, &shares[w]) == 0,
		      "thread");
	}
	for (unsigned w = 0; w < WORKERS_MAX; w++)
		pthread_join(shares[w].thread, NULL);
}

/*
 * Workers that count in the digests of the totals find what workers with digests of their own do.
 * A channel of few finite samples keeps them listed.
 */
static void digests(uint32_t channels, uint32_t digits)
{
	const size_t n = ((size_t)1 << 20) / channels * channels, all = WORKERS_MAX * n;
	struct digest_memory none = {.most = 0};
	struct sample_type t;
	struct counts own, shared;

	sample_type_parse(&t, "f32");
	unsigned char *const p = malloc(all * t.code_bytes);
	for (size_t i = 0; i < all; i++) {
		const uint64_t r = check_random(&state);
		/* A value that comes more often than a byte can count, NaN of both signs, and any. */
		const uint64_t nan = 0x7fc00000,
			       bits = r % 64 < 16    ? 0x3f000000
				      : r % 64 == 16 ? nan + (r >> 8 & 1) * 0x80000000
						     : 0x3c000000 + (r >> 32) % 0x5000000;
		put(p + i * t.code_bytes, &t, i % channels == 1 && r % 512 > 0 ? nan : bits);
	}
	count_digests(&own, &t, p, n, channels, digits, NULL);
	count_digests(&shared, &t, p, n, channels, digits, &none);
	for (uint32_t c = 0; c < channels; c++) {
		struct stats *const a = &own.stats[c], *const b = &shared.stats[c];
		struct stats_result of, same;
		uint64_t x = 0, y = 0;
		uint32_t i = 0, k = 0;
		CHECK(a->digest.pending == 0 && (b->digest.pending > 0 || b->digest.lists),
		      "channel %u was not counted in the totals", c);
		CHECK(a->digest.lists == b->digest.lists &&
			      a->digest.lists == (c == 1 && digits == DIGEST_FINE) &&
			      a->digest.listed == b->digest.listed,
		      "channel %u of %u lists", c, channels);
		CHECK(a->number == b->number && a->nan == b->nan, "channel %u: numbers", c);
		stats_result(a, &of);
		stats_result(b, &same);
		CHECK(of.mean == same.mean && of.deviation == same.deviation, "channel %u: sums",
		      c);
		digest_keep_finite(&a->digest, &t, &of);
		digest_keep_finite(&b->digest, &t, &same);
		while (digest_next(&a->digest, &i, &x) && digest_next(&b->digest, &k, &y) &&
		       i == k && x == y)
			i++, k++;
		CHECK(!digest_next(&a->digest, &i, &x) && !digest_next(&b->digest, &k, &y),
		      "channel %u of %u: digests differ", c, channels);
	}
	free(p);
	counts_free(&own);
	counts_free(&shared);
}

/* ---- statistics of keys ---- */

/* Give record i a key of two bytes and a sample: new keys come in order, and then again at random. */
static void put_record(unsigned char *p, const struct sample_type *t, uint32_t keys, uint64_t i)
{
	const uint64_t key = i % 7 == 0 ? check_random(&state) % keys : i * keys / SAMPLES;
	const double real = (double)(check_random(&state) % 4000) / 8 - 100;

	memcpy(p, &(uint16_t){(uint16_t)key}, 2);
	if (t->kind == SAMPLE_FLOAT)
		memcpy(p + 2, &real, sizeof(real));
	else
		put(p + 2, t, check_random(&state) % 5000);
}

static void *gather_share(void *arg)
{
	struct share *s = arg;
	struct counter *counter = counter_open(s->c, s->counts);

	if (counter)
		gather_add(counter, s->p, s->n * s->c->layout.record, NULL);
	counter_close(counter);
	return NULL;
}

/* Count all records by several workers. */
static void gather(const struct counting *c, struct counts *counts, const unsigned char *p,
		   unsigned workers)
{
	struct share shares[WORKERS_MAX];

	for (unsigned w = 0; w < workers; w++) {
		const uint32_t from = SAMPLES / workers * w;
		shares[w] =
			(struct share){.c = c,
				       .counts = counts,
				       .p = p + (size_t)from * c->layout.record,
				       .n = w + 1 < workers ? SAMPLES / workers : SAMPLES - from};
		CHECK(pthread_create(&shares[w].thread, NULL, gather_share, &shares[w]) == 0,
		      "thread");
	}
	for (unsigned w = 0; w < workers; w++)
		pthread_join(shares[w].thread, NULL);
}

static bool same_digest(const struct digest *a, const struct digest *b)
{
	uint64_t count, other = 0;
	uint32_t i = 0, k = 0;

	for (; digest_next(a, &i, &count); i++, k++)
		if (!digest_next(b, &k, &other) || i != k || count != other)
			return false;
	return !digest_next(b, &k, &other);
}

/* Sums may be the same with other carries. */
static bool same_stats(const struct stats *a, const struct stats *b)
{
	struct stats_result x, y;

	stats_result(a, &x);
	stats_result(b, &y);
	return a->number == b->number && a->zeros == b->zeros && a->below == b->below &&
	       a->above == b->above && a->nan == b->nan && a->extent.least == b->extent.least &&
	       a->extent.greatest == b->extent.greatest && memcmp(&x.total, &y.total, 8) == 0 &&
	       memcmp(&x.deviation, &y.deviation, 8) == 0 && same_digest(&a->digest, &b->digest);
}

/* However many samples a worker keeps of each key, all of them reach the statistics. */
static void keyed(const char *type, uint32_t keys, unsigned workers)
{
	struct sample_type t;
	struct edges e;
	struct counting c;
	struct counts counts;
	struct keys k;
	struct fail fail = {0};

	set_up(&t, &e, type, 100);
	const uint32_t record = 2 + t.code_bytes;
	const struct layout layout = {.record = record, .offset = 2, .samples = 1, .channels = 1};
	counting_init(&c, &t, &e, &layout, false);
	counting_keep_stats(&c, keys_digits(&c.counted));
	counting_keep_keys(&c, 1 << 16);
	CHECK(keys_open(&k, &(struct key_place){.bytes = 2}, 100, &fail) == 0 &&
		      keys_keep_stats(&k, &c.counted, UINT64_MAX, &fail) == 0 &&
		      counts_init(&counts, c.cells, &k, &fail) == 0,
	      "%s", fail.text);
	c.keys = &k;
	unsigned char *const p = malloc((size_t)SAMPLES * record);
	struct stats **const expected = calloc(keys, sizeof(struct stats *));
	for (uint32_t i = 0; i < keys; i++) {
		expected[i] = stats_open(&c.counted, 1);
		stats_keep_digest(expected[i], 1, k.digits, true, NULL);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		put_record(p + (size_t)i * record, &t, keys, i);
		uint16_t key;
		memcpy(&key, p + (size_t)i * record, sizeof(key));
		stats_add_channels(expected[key], 1, p + (size_t)i * record + 2, 1);
	}
	gather(&c, &counts, p, workers);
	CHECK(k.n == keys && keys_check(&k, &fail) == 0, "%u keys; %s", k.n, fail.text);
	for (uint32_t i = 0; i < k.n; i++) {
		const struct stats *const a = k.stats[i], *const b = expected[k.key[i]];
		CHECK(same_stats(a, b),
		      "%s by %u keys, %u workers: key %u has %llu of %llu samples", type, keys,
		      workers, k.key[i], (unsigned long long)a->number,
		      (unsigned long long)b->number);
	}
	for (uint32_t i = 0; i < keys; i++)
		stats_close(expected[i], 1);
	free(expected);
	free(p);
	keys_free(&k);
	counts_free(&counts);
}

/*
 * Codes are counted by key in one pass, those of a key of 4 bytes in several; the first keys are
 * private.
 */
static void keyed_codes(const char *type, uint32_t key_bytes, uint32_t keys, unsigned workers)
{
	enum { BINS = 100 };
	struct sample_type t;
	struct edges e;
	struct counting c;
	struct counts counts;
	struct keys k;
	struct fail fail = {0};
	uint32_t words[65536], at[65536];
	size_t wrong = 0;

	set_up(&t, &e, type, BINS);
	t.binned = true;
	const uint32_t record = 4 + t.code_bytes;
	const struct layout layout = {.record = record, .offset = 4, .samples = 1, .channels = 1};
	counting_init(&c, &t, &e, &layout, false);
	counting_keep_keys(&c, 1 << 16);
	for (uint32_t i = 0; i < 65536; i++)
		words[i] = sample_swapped(&t, i);
	c.words = words;
	c.code_cells = counting_code_cells(&c);
	c.keys = &k;
	CHECK(c.code_cells &&
		      keys_open(&k, &(struct key_place){.bytes = key_bytes}, BINS, &fail) == 0 &&
		      counts_init(&counts, c.cells, &k, &fail) == 0,
	      "%s", fail.text);
	unsigned char *const p = calloc(SAMPLES, record);
	uint64_t *const expected = calloc(keys * c.channel_cells, sizeof(*expected));
	for (uint32_t i = 0; i < SAMPLES; i++) {
		const uint32_t key = (uint32_t)(check_random(&state) % keys),
			       value = (uint32_t)(check_random(&state) % 150);
		memcpy(p + (size_t)i * record, &key, 4);
		put(p + (size_t)i * record + 4, &t, value);
		expected[key * c.channel_cells + (value < 3           ? cell_under(&e.binning)
						  : value >= 3 + BINS ? cell_over(&e.binning)
								      : value - 3)]++;
	}
	gather(&c, &counts, p, workers);
	CHECK(k.n == keys, "%u keys of %u", k.n, keys);
	for (uint32_t i = 0; i < k.n; i++)
		at[k.key[i]] = i;
	for (uint32_t i = 0; i < k.n; i++)
		for (size_t cell = 0; cell < c.channel_cells; cell++)
			wrong += counts.cell[at[i] * c.channel_cells + cell] !=
				 expected[i * c.channel_cells + cell];
	CHECK(wrong == 0 && counts.samples == SAMPLES,
	      "%s by %u keys, %u workers: %zu cells are wrong", type, keys, workers, wrong);
	free(expected);
	free(p);
	free((void *)c.code_cells);
	keys_free(&k);
	counts_free(&counts);
}

/*
 * 32-bit tables must be flushed before 2^32 samples, here all in one cell of one table: a code, or
 * with statistics a small integer.
 */
static void past_32_bits(const char *type, bool stats)
{
	const size_t length = (size_t)1 << 20;
	const unsigned rounds = 4097; /* 2^32 + 2^20 samples */
	struct sample_type t;
	struct edges e;
	struct counting c;
	struct counts counts;
	struct fail fail = {0};

	set_up(&t, &e, type, 256);
	unsigned char *const p = calloc(length, t.code_bytes);
	counting_init(&c, &t, &e, NULL, false);
	CHECK(counts_init(&counts, c.cells, NULL, &fail) == 0, "%s", fail.text);
	if (stats) {
		counting_keep_stats(&c, DIGEST_FINE);
		CHECK(counts_keep_stats(&counts, &t, 1, DIGEST_FINE, NULL, &fail) == 0, "%s",
		      fail.text);
	}
	const size_t zero = stats ? cell_under(&e.binning) : 0, last = stats ? 252 : 255;
	struct counter *counter = counter_open(&c, &counts);
	for (unsigned i = 0; i < rounds; i++)
		counter_add(counter, p, length);
	put(p, &t, 255);
	counter_add(counter, p, 1);
	counter_close(counter);
	CHECK(counts.cell[zero] == (uint64_t)rounds * length, "%llu zeros",
	      (unsigned long long)counts.cell[zero]);
	CHECK(counts.cell[last] == 1, "%llu of 255", (unsigned long long)counts.cell[last]);
	CHECK(counts.samples == (uint64_t)rounds * length + 1, "%llu samples",
	      (unsigned long long)counts.samples);
	CHECK(!stats || (counts.stats[0].number == counts.samples &&
			 counts.stats[0].zeros == counts.samples - 1 &&
			 digest_sum(&counts.stats[0].digest) == counts.samples),
	      "%s: figures of %llu samples", type, (unsigned long long)counts.samples);
	free(p);
	counts_free(&counts);
}

/* ---- small integers with statistics ---- */

enum { UNITS = 160, UNIT = 1024 };

struct near {
	const char *type;
	enum axis_kind kind;
	uint64_t first;  /* all samples are `spread` values from here on; 0: most are near zero */
	uint64_t spread; /* number of their values */
	uint32_t channels;
	bool shared;
	uint32_t digits;
	struct digest_memory *memory;
};

/* A float: about 1, an extreme, zero, infinite, NaN or, with `others`, anything. */
static uint64_t near_real(const struct sample_type *t, uint64_t spread, bool others)
{
	const uint64_t sign = (uint64_t)1 << (t->bits - 1), unit = (uint64_t)1 << t->mantissa,
		       infinity = sign - unit, r = check_random(&state);
	const uint64_t SPECIAL[] = {0,
				    1,
				    unit - 1,
				    infinity - 1,
				    infinity - 5,
				    infinity,
				    infinity + 1,
				    sign - 1,
				    unit,
				    infinity / 2,
				    2,
				    infinity - unit / 2};

	if (others && r % 100 == 0)
		return check_random(&state);
	if (r % 64 < 12)
		return SPECIAL[r % 64] | (r >> 20 & 1 ? sign : 0);
	return (infinity / 2 + (r >> 21) % spread * 64) | (r >> 20 & 1 ? sign : 0);
}

/* Samples near zero, in runs of units; some units have others, too. */
static unsigned char *make_near(const struct sample_type *t, const struct near *n)
{
	unsigned char *const p = malloc((size_t)UNITS * UNIT * t->code_bytes);
	const uint64_t half = t->kind == SAMPLE_SIGNED ? n->spread / 2 : 0;

	for (size_t unit = 0; unit < UNITS; unit++) {
		const bool others = check_random(&state) % 8 == 0;
		for (size_t i = 0; i < UNIT; i++) {
			const uint64_t r = check_random(&state);
			put(p + (unit * UNIT + i) * t->code_bytes, t,
			    n->first > 0              ? n->first + r % n->spread
			    : t->kind == SAMPLE_FLOAT ? near_real(t, n->spread, others)
			    : others && r % 100 == 0  ? r >> 20
						      : r % n->spread - half);
		}
	}
	return p;
}

/* Count in one counter: calls of whole records, and flushes. */
static void count_near(const struct counting *c, struct counts *counts, const unsigned char *p,
		       uint64_t seed)
{
	struct counter *const counter = counter_open(c, counts);
	size_t n = (size_t)UNITS * UNIT / c->channels * c->channels;

	for (size_t some; n > 0; n -= some, p += some * c->type.code_bytes) {
		some = check_random(&seed) % (check_random(&seed) % 4 == 0 ? 3000 : 30000);
		some = some < n ? some / c->channels * c->channels : n;
		counter_add(counter, p, some);
		derived += counter->derived;
		if (check_random(&seed) % 8 == 0)
			counter_flush(counter);
		if (check_random(&seed) % 16 == 0)
			counter_flush_all(counter);
	}
	counter_close(counter);
}

/*
 * Small integers are counted apart, and bins may follow from digests; everything is as if they were
 * not and did not. Without memory for digests, the digest is that of the totals.
 */
static void near(const struct near *n)
{
	const struct axis_spec spec = {.bins = 1000,
				       .kind = n->kind,
				       .lo = {3, true, true, 3},
				       .hi = {2003, true, true, 2003}};
	struct counts counts[2];
	struct fail fail = {0};
	struct sample_type t;
	struct edges e;
	const char *why = NULL;

	sample_type_parse(&t, n->type);
	CHECK(edges_init(&e, &spec, &t, &why) == 0, "%s", why);
	const struct layout layout = {.record = n->channels * t.code_bytes,
				      .samples = n->channels,
				      .channels = n->channels};
	unsigned char *const p = make_near(&t, n);
	const uint64_t seed = check_random(&state);
	for (int apart = 0; apart < 2; apart++) {
		struct counting c;
		counting_init(&c, &t, &e, &layout, n->shared);
		counting_keep_stats(&c, n->digits);
		c.pages = n->memory;
		c.alone = true;
		CHECK(c.small.cells || t.kind == SAMPLE_FLOAT,
		      "%s: small integers are not counted apart", n->type);
		CHECK((c.derived_k > 0) == (n->kind == AXIS_RANKS && n->digits == DIGEST_FINE),
		      "%s: which bins follow from digests", n->type);
		c.small.cells = apart ? c.small.cells : NULL;
		c.derived_k = apart ? c.derived_k : 0;
		CHECK(counts_init(&counts[apart], c.cells, NULL, &fail) == 0 &&
			      counts_keep_stats(&counts[apart], &t, n->channels, n->digits,
						n->memory, &fail) == 0,
		      "%s", fail.text);
		if (c.auto_bins.most > 0)
			counts_set_auto(&counts[apart], &c.auto_bins);
		count_near(&c, &counts[apart], p, seed);
	}
	CHECK(counts[0].samples == counts[1].samples && counts[0].k == counts[1].k &&
		      memcmp(counts[0].cell, counts[1].cell, counts[0].cells * sizeof(uint64_t)) ==
			      0,
	      "%s, kind %d, below %llu, %u channels: other counts", n->type, (int)n->kind,
	      (unsigned long long)n->spread, n->channels);
	for (uint32_t i = 0; i < n->channels; i++) {
		for (int apart = 0; apart < 2; apart++) {
			struct stats_result r;
			stats_result(&counts[apart].stats[i], &r);
			digest_keep_finite(&counts[apart].stats[i].digest, &t, &r);
		}
		CHECK(same_stats(&counts[0].stats[i], &counts[1].stats[i]),
		      "%s, kind %d, below %llu, channel %u of %u: other figures", n->type,
		      (int)n->kind, (unsigned long long)n->spread, i, n->channels);
	}
	free(p);
	edges_free(&e);
	counts_free(&counts[0]);
	counts_free(&counts[1]);
}

static void small(void)
{
	static const char *const TYPES[] = {"u24", "i24be", "u32", "i32be", "u64be", "i64"};
	static const enum axis_kind KINDS[] = {AXIS_RANGE, AXIS_AUTO, AXIS_RANKS, AXIS_MOD};
	static const uint64_t SPREADS[] = {1, 50, 1000, 1 << 16};
	static const uint32_t CHANNELS[] = {2, 3, 16, 17, 64};

	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t k = 0; k < 4; k++)
			for (uint32_t s = 0; s < 8; s++)
				near(&(struct near){TYPES[i], KINDS[k], 0, SPREADS[s / 2],
						    s % 2 ? CHANNELS[(i + k + s / 2) % 5] : 1,
						    s / 2 % 2, s < 4 ? DIGEST_ROUGH : DIGEST_FINE,
						    k % 2 ? &(struct digest_memory){.most = 0}
							  : NULL});
	for (uint32_t s = 0; s < 12; s++)
		near(&(struct near){s % 2 ? "f32be" : "f64", AXIS_RANKS, 0, s % 3 ? 1 << 20 : 1,
				    s % 4 < 2 ? 1 : CHANNELS[s / 4 + 1], s % 2, DIGEST_FINE,
				    s % 6 > 3 ? &(struct digest_memory){.most = 0} : NULL});
	/* 1,000 bins are finer than the cells of a digest, as wide, or wider. */
	for (uint32_t s = 0; s < 8; s++) {
		static const uint64_t SPREAD[] = {1 << 14, 400 << 10, 900 << 10, 1 << 20};
		near(&(struct near){"u32", AXIS_RANKS, 1 << 20, SPREAD[s / 2], 1 + s % 2, s % 2,
				    DIGEST_FINE, NULL});
		near(&(struct near){"f32", AXIS_RANKS, 0x3f800000, SPREAD[s / 2] * 8, 1 + s % 2,
				    s % 2, DIGEST_FINE, NULL});
	}
}

/* The sizes that the caller learns before any memory is allocated. */
static void sizes(void)
{
	struct sample_type t;
	struct edges e;

	set_up(&t, &e, "u8", 1u << 28);
	CHECK(counting_cells(&t, &e) == 256, "8 bits");
	set_up(&t, &e, "i16be", 2);
	CHECK(counting_cells(&t, &e) == 65536, "16 bits");
	set_up(&t, &e, "u32", 1000);
	CHECK(counting_cells(&t, &e) == 1000 + CELL_EXTRA, "32 bits");
	counts_free(&(struct counts){0});
	counter_close(NULL);
}

static void patterns(void)
{
	static const char *const SMALL[] = {"u8", "i8", "u16", "u16be", "i16"};
	static const char *const WIDE[] = {"u24be", "u32", "i32be", "u64", "i64be"};

	for (int pattern = 0; pattern < PATTERNS; pattern++) {
		for (unsigned workers = 1; workers <= 2; workers++) {
			for (size_t i = 0; i < sizeof(SMALL) / sizeof(SMALL[0]); i++)
				one(SMALL[i], 200, workers, false, (enum pattern)pattern);
			for (size_t i = 0; i < sizeof(WIDE) / sizeof(WIDE[0]); i++)
				one(WIDE[i], 1000, workers, false, (enum pattern)pattern);
			one("u32", 40000, workers, false, (enum pattern)pattern);
			one("u32", 100000, workers, false, (enum pattern)pattern);
		}
		one("u32", 100000, WORKERS_MAX, true, (enum pattern)pattern);
		one("u24", 100000, WORKERS_MAX, true, (enum pattern)pattern);
	}
}

int main(void)
{
	for (enum isa isa = ISA_BASE; isa < ISAS; isa++)
		if (isa_force(isa_name(isa)) == 0)
			patterns(), small();
	CHECK(isa_force("avx1024") != 0 && isa_force(NULL) == 0, "the best instruction set");
	one("u32", (1u << 25) + 1, 1, true, NOISE);
	past_32_bits("u8", false);
	past_32_bits("u32", true);
	digests(3, DIGEST_FINE);
	digests(STATS_FEW, DIGEST_FINE);
	digests(STATS_FEW + 8, DIGEST_FINE);
	digests(3, DIGEST_ROUGH);
	digests(99, DIGEST_ROUGH);
	sizes();
	for (unsigned workers = 1; workers <= WORKERS_MAX; workers += WORKERS_MAX - 1) {
		keyed("u24be", 3, workers);
		keyed("u32", 1000, workers);
		keyed("f64", 5000, workers);
		keyed_codes("u8", 1, 256, workers);
		keyed_codes("u8", 2, 1000, workers);
		keyed_codes("u16be", 1, 200, workers);
		keyed_codes("u16", 2, 1000, workers);
		keyed_codes("u16", 4, 1000, workers);
	}
	for (int m = COUNT_BYTES; m <= COUNT_SHARED; m++)
		CHECK(reached[m] > 0, "method %d was not reached", m);
	CHECK(tables_reached[1] && tables_reached[2] && tables_reached[4] && tables_reached[8],
	      "tables");
	CHECK(atomics > 0, "no atomic additions");
	CHECK(derived > 0, "no bins that follow from digests");
	return check_report();
}
