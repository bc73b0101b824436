/* SPDX-License-Identifier: MIT */
/*
 * stats: exact sums of samples, and the figures computed from them.
 *
 * For an integer, add its key, value - sample_min, which is never negative: keys and values have
 * the same deviation, and their means differ by sample_min. For a float, add its mantissa times
 * 2^place, an integer. The place is the stored exponent, so the smallest numbers have place 1.
 *
 * Adding one sample at a time takes 2 ns each, so blocks of samples are summed first
 * (stats_loops.c): all blocks of integers, and blocks of floats whose magnitudes are similar,
 * because then sums in binary64 are exact.
 */
#include "count/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "base/little.h"
#include "base/minmax.h"

#define ONE_BY_ONE 63u /* blocks added sample by sample after one that could not be summed */
#define TILE 32u       /* channels whose statistics stay in L1 */
#define RECORDS 512u   /* records whose samples are brought together */
#define WORTH 48u      /* records for which that is worth it */

static uint32_t digits_of(const struct sample_type *type)
{
	const uint32_t exponent = type->bits - 1 - type->mantissa; /* its bits, if it has one */

	return 16 + (type->kind == SAMPLE_FLOAT ? ((uint32_t)1 << exponent) / 32 * 4 : 0);
}

size_t stats_bytes(const struct sample_type *type)
{
	return sizeof(struct stats) + 2 * digits_of(type) * sizeof(int128_t);
}

struct stats *stats_open(const struct sample_type *type, uint32_t channels)
{
	static const struct stats_loops *const LOOPS[] = {
		&stats_loops_base,
#ifdef HAVE_X86_LOOPS
		&stats_loops_avx2,
		&stats_loops_avx512,
		&stats_loops_avx512,
#endif
	};
	const bool real = type->kind == SAMPLE_FLOAT;
	const enum cells_load load = cells_load_of_words(type);
	const uint64_t sign = (uint64_t)1 << (type->bits - 1), one = (uint64_t)1 << type->mantissa;
	const uint32_t digits = digits_of(type);
	struct stats *const stats = calloc(channels, stats_bytes(type));

	if (!stats)
		return NULL;
	int128_t *sums = (int128_t *)(void *)(stats + channels);
	for (uint32_t c = 0; c < channels; c++) {
		struct stats *const s = &stats[c];
		s->type = *type;
		s->loops = LOOPS[isa_best()];
		s->extent_of = cells_best()->extent[load][0];
		s->bias = real ? sign - one : type->kind == SAMPLE_SIGNED ? sign : 0;
		s->magnitude = sign - 1 + (real ? 0 : sign);
		s->exponent_0 = auto_k_least(type) - real;
		s->digits = digits;
		s->extent = EXTENT_NONE;
		s->sum = sums;
		s->square = sums += digits;
		sums += digits;
	}
	return stats;
}

void stats_close(struct stats *stats, uint32_t channels)
{
	for (uint32_t c = 0; stats && c < channels; c++)
		digest_close(&stats[c].digest);
	free(stats);
}

int stats_keep_digest(struct stats *stats, uint32_t channels, uint32_t digits, bool wide,
		      struct digest_memory *memory)
{
	const struct digest_rule rule = digest_rule(&stats->type, digits);

	for (uint32_t c = 0; c < channels; c++) {
		if (digest_open(&stats[c].digest, &rule, wide) != 0)
			return -1;
		stats[c].digest.memory = memory;
		if (!wide && channels > STATS_FEW)
			digest_use_bytes(&stats[c].digest);
	}
	return 0;
}

void stats_share_digest(struct stats *s, struct stats *total, struct lock *lock)
{
	s->total = total;
	s->lock = lock;
	digest_shrink(&s->digest);
	lock_take(lock);
	s->digest.lists &= total->digest.lists;
	lock_drop(lock);
}

void stats_clear(struct stats *s)
{
	digest_clear(&s->digest);
	s->number = s->below = s->above = s->nan = s->zeros = s->one_by_one = 0;
	s->at_least = s->at_greatest = 0;
	s->extent = EXTENT_NONE;
	memset(s->sum, 0, s->digits * sizeof(*s->sum));
	memset(s->square, 0, s->digits * sizeof(*s->square));
}

/* ---- sums ---- */

/* Add or subtract x 2^place; a digit of the sum has `bits` bits. */
static void sum_add(int128_t *sum, unsigned bits, uint128_t x, unsigned place, bool minus)
{
	for (sum += place / bits, place %= bits; x > 0; x >>= 32, sum += 32 / bits) {
		const int64_t part = (int64_t)((uint64_t)(uint32_t)x << place);
		*sum += minus ? -part : part;
	}
}

static void add_bits(struct stats *s, uint64_t bits, uint64_t n);

/*
 * Add n floats one at a time; the caller adds the extent and the zeros. With `alike`, do not add
 * zeros and finite floats whose magnitude, as bits, is at least `low`; copy them there and return
 * their number.
 */
INLINE size_t add_each(struct stats *s, const unsigned char *p, size_t n, uint32_t bytes,
		       uint64_t low, unsigned char *alike)
{
	const uint32_t mantissa = bytes == 4 ? 23 : 52, exponents = bytes == 4 ? 0xff : 0x7ff;
	const uint64_t one = (uint64_t)1 << mantissa, infinity = exponents * one;
	size_t some = 0, others = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t bits = word_at(p + i * bytes, bytes, false);
		const uint64_t size = bits & UINT64_MAX >> (65 - 8 * bytes);
		if (alike && (size == 0 || (size >= low && size < infinity))) {
			memcpy(alike + some++ * bytes, &bits, bytes);
			continue;
		}
		const uint32_t place = (uint32_t)(bits >> mantissa) & exponents;
		if (__builtin_expect(place - 1 >= exponents - 1, 0)) {
			add_bits(s, bits, 1);
			others++;
			continue;
		}
		const int64_t sign = -(int64_t)(bits >> (8 * bytes - 1));
		const uint64_t x = ((bits & (one - 1)) | one) << place % 8;
		const uint128_t square = (uint128_t)x * x;
		s->sum[place / 8] += ((int64_t)x ^ sign) - sign;
		s->square[place / 8] += (uint64_t)square;
		if (bytes == 8)
			s->square[place / 8 + 4] += (uint64_t)(square >> 64);
	}
	s->number += n - some - others;
	return some;
}

/* Add n equal samples, but not to the zeros. */
static void add_bits(struct stats *s, uint64_t bits, uint64_t n)
{
	const struct sample_type *const type = &s->type;
	const uint64_t one = (uint64_t)1 << type->mantissa;
	const bool real = type->kind == SAMPLE_FLOAT;
	const bool negative = real && bits >> (type->bits - 1) & 1;
	uint64_t key = bits ^ s->bias, x = key;
	uint32_t place = 0;

	if (real) {
		const uint32_t exponents = (uint32_t)(s->bias >> type->mantissa);
		place = (uint32_t)(bits >> type->mantissa) & exponents;
		x = (bits & (one - 1)) | (place > 0 ? one : 0);
		/* In f8e4m3, most codes of the largest exponent are numbers. */
		if (place == exponents &&
		    (type->code_bytes > 1 || !isfinite(sample_value(type, (uint32_t)bits)))) {
			*(x > one ? &s->nan : negative ? &s->below : &s->above) += n;
			return;
		}
		place += place == 0;
		key = type->code_bytes <= 2   ? auto_extent_of_code(type, (uint32_t)bits).least
		      : type->code_bytes == 4 ? key32_of_float((uint32_t)bits)
					      : key64_of_double(bits);
	}
	const uint128_t square = (uint128_t)x * x;
	sum_add(s->sum, 8, (uint128_t)x * n, place, negative);
	sum_add(s->square, 16, (uint128_t)(uint64_t)square * n, 2 * place, false);
	sum_add(s->square, 16, (square >> 64) * n, 2 * place + 64, false);
	extent_add(&s->extent, &EXTENT_OF(key));
	s->number += n;
}

void stats_add_bits(struct stats *s, uint64_t bits, uint64_t n)
{
	s->zeros += (bits & s->magnitude) == 0 ? n : 0;
	add_bits(s, bits, n);
}

static uint64_t bits_of_key(const struct stats *s, uint64_t key)
{
	const uint64_t sign = (uint64_t)1 << (s->type.bits - 1);

	return s->type.kind != SAMPLE_FLOAT ? key ^ s->bias
	       : key >= sign                ? key ^ sign
					    : key ^ (sign - 1 + sign);
}

void stats_add_key(struct stats *s, uint64_t key, uint64_t n)
{
	stats_add_bits(s, bits_of_key(s, key), n);
}

void stats_add_codes(struct stats *s, const uint16_t *code, size_t n, const uint64_t *count)
{
	uint128_t sum = 0, square = 0; /* fit: fewer than 2^64 keys, each below 2^16 */

	for (size_t i = 0; i < n; i++) {
		const uint64_t bits = sample_swapped(&s->type, code[i]), times = count[code[i]];
		const uint64_t key = bits ^ s->bias;
		/* The first and the last code also extend the extent. */
		if (s->type.kind == SAMPLE_FLOAT || i == 0 || i == n - 1) {
			stats_add_bits(s, bits, times);
			continue;
		}
		s->zeros += bits == 0 ? times : 0;
		s->number += times;
		sum += (uint128_t)key * times;
		square += (uint128_t)(key * key) * times;
	}
	sum_add(s->sum, 8, sum, 0, false);
	sum_add(s->square, 16, square, 0, false);
}

/* ---- blocks of words ---- */

static void add_terms(struct stats *s, const struct stats_terms *t, size_t n, unsigned place)
{
	/* The place of each part; for floats, relative to the block's place. */
	static const unsigned char PLACES[][8] = {{0, 0, 0, 32, 0, 0, 0, 32},
						  {0, 32, 0, 32, 33, 65, 64, 96},
						  {0, 28, 52, 96, 0, 43, 0, 0}};
	const unsigned row = s->type.kind == SAMPLE_FLOAT ? 2 : s->type.code_bytes == 8;

	for (unsigned i = 0; i < 8; i++)
		sum_add(i < 2 ? s->sum : s->square, i < 2 ? 8 : 16, (uint64_t)llabs(t->part[i]),
			(i < 2 ? 1 : 2) * place + PLACES[row][i], t->part[i] < 0);
	s->number += n;
}

/* Pad n words to whole steps with words that change no sum; return the new number. */
static size_t pad_words(const struct stats *s, unsigned char *words, size_t n)
{
	const size_t size = s->type.code_bytes == 8 ? 8 : 4;
	const uint64_t zero = s->type.kind == SAMPLE_FLOAT ? 0 : s->bias;

	for (; n % STATS_STEP > 0; n++)
		memcpy(words + n * size, &zero, size);
	return n;
}

/*
 * Add a block of floats. Its exponent e is the stored exponent of its greatest finite magnitude,
 * but at least `first`, so that no place is below 0. At `end` or above, sums could overflow.
 */
INLINE void add_reals(struct stats *s, const unsigned char *words, size_t padded, size_t n,
		      const struct extent *extent, uint32_t bytes)
{
	const bool wide = bytes == 8;
	const int first = wide ? 622 : 45, end = wide ? 1501 : 255, bias = wide ? 1022 : 126;
	const uint32_t mantissa = wide ? 52 : 23;
	const uint64_t half = (uint64_t)1 << (8 * bytes - 1);
	const int64_t plus = (int64_t)(extent->greatest - half),
		      minus = (int64_t)(half - 1 - extent->least);
	int e = (int)((plus > minus ? plus : minus) >> mantissa);
	unsigned char alike[8 * STATS_BLOCK];
	struct stats_terms terms;

	e = e > first ? e : first;
	bool summed = s->one_by_one == 0 && !extent_is_none(extent) && e < end;
	const double top = ldexp(1, e - bias);
	s->one_by_one -= s->one_by_one > 0;
	if (summed && !s->loops->reals(words, padded, top, wide, &terms)) {
		const uint64_t low = (uint64_t)(e + 1 - STATS_SPAN(wide)) << mantissa;
		const size_t some = add_each(s, words, n, bytes, low, alike);
		summed = s->loops->reals(alike, pad_words(s, alike, some), top, wide, &terms);
		s->one_by_one = summed && n - some <= n / 8 ? 0 : ONE_BY_ONE;
		words = alike;
		n = some;
	}
	if (summed)
		add_terms(s, &terms, n, (unsigned)(e - bias - STATS_UNIT - s->exponent_0));
	else
		add_each(s, words, n, bytes, 0, NULL);
}

/* ---- the digest ---- */

/*
 * digest_keep_finite removes infinities and NaNs from the cells, so cells must hold them, but the
 * list does not. When the list moves to the cells, add those that came before.
 */
static void add_others(struct digest *d, const struct stats *s)
{
	if (!d->rule.real)
		return;
	const int64_t infinity = (int64_t)(s->bias >> d->rule.shift);
	digest_add(d, -infinity, s->below);
	digest_add(d, infinity, s->above + s->nan);
}

/* Move the list to the cells of this digest. */
static void spill_own(struct stats *s)
{
	digest_spill(&s->digest);
	add_others(&s->digest, s);
}

/* Move the list to the cells, of this digest or of the totals'. */
static void spill_list(struct stats *s)
{
	if (!s->total) {
		spill_own(s);
		return;
	}
	struct digest *const to = &s->total->digest;
	lock_take(s->lock);
	if (to->lists)
		spill_own(s->total);
	digest_merge(to, &s->digest);
	add_others(to, s);
	lock_drop(s->lock);
	digest_clear(&s->digest);
	digest_shrink(&s->digest);
	s->digest.lists = false;
}

/* List the samples of a block, if all samples so far are listed and these fit. */
static bool list_block(struct stats *s, const unsigned char *words, size_t n)
{
	const bool real = s->type.kind == SAMPLE_FLOAT, wide = s->type.code_bytes == 8;
	uint64_t keys[STATS_BLOCK];
	size_t finite = 0;

	if (!s->digest.lists)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t bits =
			wide ? word_at(words + 8 * i, 8, false) : word_at(words + 4 * i, 4, false);
		if (real && (bits & s->magnitude) >= s->bias)
			continue;
		bits = real && (bits & s->magnitude) == 0 ? 0 : bits; /* -0 is 0 */
		keys[finite++] = !real  ? bits ^ s->bias
				 : wide ? key64_of_double(bits)
					: key32_of_float((uint32_t)bits);
	}
	if (digest_list(&s->digest, keys, finite))
		return true;
	spill_list(s);
	return false;
}

/* Count the samples in these cells. */
static void count_cells(struct stats *s, const uint32_t *indices, size_t n)
{
	if (!s->total) {
		digest_count(&s->digest, indices, n);
		return;
	}
	lock_take(s->lock);
	digest_count(&s->total->digest, indices, n);
	lock_drop(s->lock);
}

static void add_block(struct stats *s, const unsigned char *words, size_t padded, size_t n)
{
	const bool wide = s->type.code_bytes == 8, real = s->type.kind == SAMPLE_FLOAT;
	const struct extent extent = s->extent_of(words, n, s->bias);
	/* The keys of 0 and -0; an integer has only one. */
	const uint64_t plus = real ? s->magnitude + 1 : s->bias, minus = plus - real;
	struct stats_terms terms;

	if (s->digest.touched && !list_block(s, words, n)) {
		uint32_t indices[STATS_BLOCK];
		s->loops->cells(words, n, &s->digest.rule, wide, indices);
		count_cells(s, indices, n);
	}
	extent_add(&s->extent, &extent);
	if (extent.least <= plus && extent.greatest >= minus)
		s->zeros += s->loops->zeros(words, padded, s->magnitude, wide) -
			    (real || s->bias == 0 ? padded - n : 0);
	if (real) {
		wide ? add_reals(s, words, padded, n, &extent, 8)
		     : add_reals(s, words, padded, n, &extent, 4);
	} else {
		s->loops->keys(words, padded, s->bias, wide, &terms);
		add_terms(s, &terms, n, 0);
	}
}

/* ---- words with counts ---- */

/* Add times[i] samples of word i to the digest; `all` is their sum. */
static void add_words_to_digest(struct stats *s, const unsigned char *words, const uint32_t *times,
				size_t n, uint64_t all)
{
	struct digest *const d = &s->digest;
	const bool wide = s->type.code_bytes == 8,
		   lists = d->lists && all <= d->rule.few - d->listed;
	uint32_t indices[STATS_BLOCK];

	for (size_t i = 0; i < n && lists; i++) {
		const uint64_t key =
			word_at(words + (wide ? 8 : 4) * i, wide ? 8 : 4, false) ^ s->bias;
		for (uint32_t k = 0; k < times[i]; k++)
			(void)digest_list(d, &key, 1);
	}
	if (lists)
		return;
	if (d->lists)
		spill_list(s);
	s->loops->cells(words, n, &d->rule, wide, indices);
	if (s->total)
		lock_take(s->lock);
	for (size_t i = 0; i < n; i++)
		digest_add(s->total ? &s->total->digest : d, digest_cell(&d->rule, indices[i]),
			   times[i]);
	if (s->total)
		lock_drop(s->lock);
}

void stats_add_words(struct stats *s, const unsigned char *words, const uint32_t *times, size_t n)
{
	const uint32_t size = s->type.code_bytes == 8 ? 8 : 4;
	const uint64_t first = word_at(words, size, false) ^ s->bias;
	uint64_t all = 0, sum = 0, last = first; /* the sum of the distances from the first key */
	uint128_t square = 0;

	for (size_t i = 0; i < n; i++) {
		last = word_at(words + size * i, size, false) ^ s->bias;
		const uint64_t part = (last - first) * times[i];
		all += times[i];
		sum += part;
		square += (uint128_t)part * (last - first);
		s->zeros += last == s->bias ? times[i] : 0;
	}
	/* (first + x)^2 = first^2 + 2 first x + x^2 */
	const uint128_t own = (uint128_t)first * first;
	sum_add(s->sum, 8, (uint128_t)first * all + sum, 0, false);
	sum_add(s->square, 16, (uint128_t)(uint64_t)own * all, 0, false);
	sum_add(s->square, 16, (own >> 64) * all, 64, false);
	sum_add(s->square, 16, (uint128_t)first * sum, 1, false);
	sum_add(s->square, 16, square, 0, false);
	s->number += all;
	extent_add(&s->extent, &EXTENT_OF(first));
	extent_add(&s->extent, &EXTENT_OF(last));
	if (s->digest.touched)
		add_words_to_digest(s, words, times, n, all);
}

size_t stats_words(const struct stats *s, uint32_t *index, unsigned char *words, uint32_t *times)
{
	const struct digest *const d = &s->digest;
	const bool real = s->type.kind == SAMPLE_FLOAT, cells = real && !d->lists;
	const size_t size = s->type.code_bytes == 8 ? 8 : 4;
	/* The cells of infinities; -inf shares its own with the largest magnitudes. */
	const uint32_t reach = (uint32_t)(s->bias >> d->rule.shift), zero = d->rule.zero;
	uint64_t count;
	size_t n = 0;

	for (; n + 2 <= STATS_BLOCK && digest_next(d, index, &count); ++*index) {
		const uint64_t bits = d->lists ? bits_of_key(s, d->value[*index])
					       : digest_word(&d->rule, *index),
			       none = 0;
		if (cells && (*index < zero - reach || *index >= zero + reach))
			continue;
		if (cells && *index == zero && s->zeros > 0) {
			memcpy(words + n * size, &none, size);
			times[n++] = (uint32_t)s->zeros;
			count -= s->zeros;
		}
		count -= cells && *index == zero - reach ? s->below : 0;
		if (count == 0)
			continue;
		memcpy(words + n * size, &bits, size);
		times[n++] = (uint32_t)count;
	}
	return n;
}

/* ---- channels ---- */

void stats_add_channels(struct stats *stats, uint32_t channels, const unsigned char *samples,
			size_t n)
{
	const struct sample_type *const type = &stats->type;
	const size_t record = channels * type->code_bytes;
	unsigned char own[8 * STATS_BLOCK];

	for (size_t some; n > 0; n -= some * channels, samples += some * record) {
		some = n / channels < STATS_BLOCK ? n / channels : STATS_BLOCK;
		const bool as_is = record != 3 && !type->big && some % STATS_STEP == 0;
		if (channels == 1 && as_is)
			add_block(stats, samples, some, some);
		for (uint32_t c = 0; c < channels && (channels > 1 || !as_is); c++) {
			stats->loops->fetch(own, type, samples + c * type->code_bytes, some,
					    record);
			add_block(&stats[c], own, pad_words(stats, own, some), some);
		}
	}
}

/* ---- many channels ---- */

/*
 * Add a sample of 4 bytes or 8 of a float type, or of an integer type, to all but the digest. `all`
 * holds everything that the channels have in common; sum and square belong to s. Each line of s
 * that is not read saves a miss.
 */
INLINE void add_one(struct stats *s, int128_t *sum, int128_t *square_sum, const struct stats *all,
		    uint64_t bits, uint32_t bytes, bool real, bool ends)
{
	const uint32_t mantissa = bytes == 4 ? 23 : 52, exponents = bytes == 4 ? 0xff : 0x7ff;
	const uint64_t one = (uint64_t)1 << mantissa;
	const uint32_t place = (uint32_t)(bits >> mantissa) & exponents;
	uint64_t key = bits ^ all->bias;
	uint128_t square = (uint128_t)key * key;

	if (real && __builtin_expect(place == exponents, 0)) {
		add_bits(s, bits, 1);
		return;
	}
	if (real) {
		const int64_t sign = -(int64_t)(bits >> (8 * bytes - 1));
		const uint32_t at = place > 0 ? place : 1;
		const uint64_t x = ((bits & (one - 1)) | (place > 0 ? one : 0)) << at % 8;
		key = bytes == 4 ? key32_of_float((uint32_t)bits) : key64_of_double(bits);
		square = (uint128_t)x * x;
		sum[at / 8] += ((int64_t)x ^ sign) - sign;
		square_sum[at / 8] += (uint64_t)square;
		if (bytes == 8)
			square_sum[at / 8 + 4] += (uint64_t)(square >> 64);
	} else {
		sum[0] += key;
		square_sum[0] += (uint64_t)square;
		if (bytes == 8)
			square_sum[4] += (uint64_t)(square >> 64);
	}
	s->zeros += (bits & all->magnitude) == 0;
	s->number++;
	if (ends) {
		s->at_least = key < s->extent.least ? 1 : s->at_least + (key == s->extent.least);
		s->at_greatest =
			key > s->extent.greatest ? 1 : s->at_greatest + (key == s->extent.greatest);
	}
	s->extent.least = key < s->extent.least ? key : s->extent.least;
	s->extent.greatest = key > s->extent.greatest ? key : s->extent.greatest;
}

/* Add n samples, which fit in a block, the first one of channel `first`. */
INLINE void add_run(struct stats *stats, const struct stats *all, size_t first,
		    const unsigned char *p, size_t n, uint32_t size, bool real,
		    const uint32_t *words)
{
	const uint32_t digits = all->digits, bytes = size == 8 ? 8 : 4;
	unsigned char own[8 * STATS_BLOCK];
	uint32_t indices[STATS_BLOCK];

	for (size_t i = 0; i < n; i++, p += size) {
		const size_t c = first + i;
		int128_t *const sum = all->sum + c * 2 * digits;
		const uint64_t bits =
			size == 2 ? words[p[0] | p[1] << 8] : word_at(p, size, all->type.big);
		memcpy(own + i * bytes, &bits, bytes);
		add_one(&stats[c], sum, sum + digits, all, bits, bytes, real, size == 2);
	}
	if (!all->digest.touched)
		return;
	all->loops->cells(own, n, &all->digest.rule, bytes == 8, indices);
	for (size_t i = 0; i < n; i++)
		count_cells(&stats[first + i], &indices[i], 1);
}

/* Count the words of a block that equal an extreme; `before` was the extent without the block. */
static void count_ends(struct stats *s, const unsigned char *words, size_t n,
		       const struct extent *before)
{
	const uint64_t least = bits_of_key(s, s->extent.least),
		       greatest = bits_of_key(s, s->extent.greatest);

	s->at_least = s->extent.least == before->least ? s->at_least : 0;
	s->at_greatest = s->extent.greatest == before->greatest ? s->at_greatest : 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t bits = word_at(words + 4 * i, 4, false);
		s->at_least += bits == least;
		s->at_greatest += bits == greatest;
	}
}

/*
 * Add n whole records. The samples of each channel are first brought together, for as many channels
 * at a time as a line of a record holds.
 */
INLINE void add_tiles(struct stats *stats, size_t channels, const unsigned char *p, size_t n,
		      uint32_t size, bool big, const uint32_t *words)
{
	enum { LINE = 64 };
	const size_t bytes = size == 8 ? 8 : 4, row = RECORDS * bytes + LINE; /* in other sets */
	unsigned char own[LINE / 4 * (RECORDS * 4 + LINE)];

	for (size_t some; n > 0; n -= some, p += some * channels * size) {
		some = lesser(n, RECORDS);
		for (size_t c = 0, more; c < channels; c += more) {
			more = lesser(channels - c, LINE / bytes);
			for (size_t r = 0; r < some; r++) {
				const unsigned char *from = p + (r * channels + c) * size;
				unsigned char *to = own + r * bytes;
				for (size_t k = 0; k < more; k++, from += size, to += row) {
					const uint64_t bits =
						size == 2 ? words[from[0] | from[1] << 8]
							  : word_at(from, size, big);
					memcpy(to, &bits, bytes);
				}
			}
			for (size_t k = 0; k < more; k++) {
				struct stats *const s = &stats[c + k];
				const struct extent before = s->extent;
				unsigned char *const block = own + k * row;
				add_block(s, block, pad_words(s, block, some), some);
				if (size == 2)
					count_ends(s, block, some, &before);
			}
		}
	}
}

/*
 * The loop of stats_add_across. Many records are added in blocks, because only blocks can be
 * listed. If there are few, a tile of channels stays in L1 while its samples are added.
 */
INLINE void add_across(struct stats *stats, size_t channels, size_t first, const unsigned char *p,
		       size_t n, uint32_t size, bool real, const uint32_t *words)
{
	const struct stats all = *stats;
	const bool blocks = n / channels >= WORTH || all.digest.rule.few > 0;

	for (size_t run; n > 0 && (first > 0 || n < channels); n -= run, p += run * size) {
		run = lesser(lesser(n, channels - first), STATS_BLOCK);
		add_run(stats, &all, first, p, run, size, real, words);
		first = (first + run) % channels;
	}
	if (blocks)
		add_tiles(stats, channels, p, n / channels, size, all.type.big, words);
	for (size_t tile = 0; tile < channels && n > 0 && !blocks; tile += TILE)
		for (size_t r = 0; r < n / channels; r++)
			add_run(stats, &all, tile, p + (r * channels + tile) * size,
				lesser(channels - tile, TILE), size, real, words);
	p += n / channels * channels * size;
	n %= channels;
	for (size_t run; n > 0; n -= run, p += run * size, first += run) {
		run = lesser(n, STATS_BLOCK);
		add_run(stats, &all, first, p, run, size, real, words);
	}
}

void stats_add_across(struct stats *stats, uint32_t channels, uint32_t first,
		      const unsigned char *p, size_t n, const uint32_t *words)
{
	const bool real = stats->type.kind == SAMPLE_FLOAT;
	const uint32_t size = words ? 2 : stats->type.code_bytes;

#define KNOWN(size_, real_)                     \
	if (size == (size_) && real == (real_)) \
	add_across(stats, channels, first, p, n, size_, real_, words)
	KNOWN(2, false);
	KNOWN(2, true);
	KNOWN(3, false);
	KNOWN(4, false);
	KNOWN(8, false);
	KNOWN(4, true);
	KNOWN(8, true);
#undef KNOWN
}

/* ---- merging ---- */

/* The number of samples at the extremes of both. */
static void add_ends(struct stats *to, const struct stats *from)
{
	const struct extent *const a = &to->extent, *const b = &from->extent;

	if (b->least <= a->least)
		to->at_least = from->at_least + (b->least == a->least ? to->at_least : 0);
	if (b->greatest >= a->greatest)
		to->at_greatest =
			from->at_greatest + (b->greatest == a->greatest ? to->at_greatest : 0);
}

void stats_merge(struct stats *to, const struct stats *from)
{
	struct digest *const digest = &to->digest;
	const bool listed = digest->lists;

	if (digest->touched)
		digest_merge(digest, &from->digest);
	if (listed && !digest->lists)
		add_others(digest, to);
	if (digest->touched && !digest->lists && from->digest.lists)
		add_others(digest, from);
	to->number += from->number;
	to->below += from->below;
	to->above += from->above;
	to->nan += from->nan;
	to->zeros += from->zeros;
	add_ends(to, from);
	extent_add(&to->extent, &from->extent);
	for (size_t i = 0; i < to->digits; i++) {
		to->sum[i] += from->sum[i];
		to->square[i] += from->square[i];
	}
}
