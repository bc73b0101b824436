/* SPDX-License-Identifier: MIT */
/* stats: the figures of --stats, from all samples of a channel in their order. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* The samples of a channel: of floats, the finite ones; up to 16 bits, all, for their codes. */
static struct seen {
	struct sample *sample;
	size_t n, room;
	uint64_t below, above, nan;
} seen[MAX_CHANNELS];

static bool is_small(const struct job *job)
{
	return job->type->bits <= 16 && !(is_list(job) && job->word->bits > 8) &&
	       !job->by_key.bytes;
}

/* Of integers of up to 16 bits, each value is counted. */
static bool has_values(const struct job *job)
{
	return is_small(job) || (job->type->bits <= 16 && job->type->kind != FLOAT);
}

static bool is_finite(const struct job *job, struct sample s)
{
	return job->type->kind != FLOAT || isfinite(s.real);
}

void keep_sample(struct job *job, unsigned channel, struct sample s)
{
	struct seen *a = &seen[channel];

	if (s.missing) {
		a->nan++;
		return;
	}
	job->fraction |= !isnan(s.real) && !is_whole(job, s);
	if (!is_finite(job, s))
		++*(isnan(s.real) ? &a->nan : s.real < 0 ? &a->below : &a->above);
	if (!is_finite(job, s) && !is_small(job))
		return;
	if (a->n == a->room) {
		a->room = 2 * a->room + 100;
		a->sample = realloc(a->sample, a->room * sizeof(*a->sample));
		if (!a->sample)
			fail(FAIL_SYSTEM, "samples", "no memory");
	}
	a->sample[a->n++] = s;
}

/* Compare two samples, in each of which the whole number or the float is 0. */
static int by_value(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->whole != y->whole)
		return x->whole < y->whole ? -1 : 1;
	return (x->real > y->real) - (x->real < y->real);
}

/* Print one figure of a channel; tests/jobs compares them with gpuhist's columns. */
static void say(const char *name, const char *text)
{
	fprintf(stderr, "gpuhist: stats: %-10s  %s\n", name, text);
}

/* Shorten to six digits, unless the number is whole and has at most `most` digits. */
static void shorten(char *text, size_t size, size_t most)
{
	size_t digits = strspn(text + (*text == '-'), "0123456789") + (*text == '-');

	if (text[digits] || digits > most)
		snprintf(text, size, "%.6g", strtod(text, NULL));
}

static void say_count(const char *name, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	if (n)
		say(name, text);
}

/* ---- mean and std ----
 *
 * The sum S of n samples is exact. The variance is then the sum of (n x - S)^2 over n^3: each
 * n x - S is exact, too, and no term is negative, so nothing cancels when long double rounds.
 */

#define PLACES 72  /* digits of 32 bits */
#define BELOW 1152 /* of the digits, after the binary point */

struct fixed {
	int64_t digit[PLACES]; /* the least significant first */
};

/* Add a sample `times` times. */
static void fixed_add(const struct job *job, struct fixed *to, struct sample s, int64_t times)
{
	int exponent = 53;
	wide whole = s.whole;

	if (job->type->kind == FLOAT)
		whole = (wide)ldexp(frexp(s.real, &exponent), 53);
	whole *= times;
	bool minus = whole < 0;
	unsigned place = (unsigned)(exponent - 53 + BELOW);
	whole = (minus ? -whole : whole) << place % 32;
	for (int64_t *digit = &to->digit[place / 32]; whole; whole >>= 32, digit++)
		*digit += (minus ? -1 : 1) * (int64_t)(whole & UINT32_MAX);
}

static long double fixed_value(struct fixed f)
{
	long double x = 0;
	int sign = 1;

	for (;; sign = -1) {
		for (int i = 0; i + 1 < PLACES; i++) {
			f.digit[i + 1] += f.digit[i] >> 32;
			f.digit[i] &= UINT32_MAX;
		}
		if (f.digit[PLACES - 1] >= 0)
			break;
		for (int i = 0; i < PLACES; i++)
			f.digit[i] = -f.digit[i];
	}
	for (int i = PLACES - 1; i >= 0; i--)
		x += ldexpl((long double)f.digit[i], 32 * i - BELOW);
	return sign * x;
}

static void format_moments(const struct job *job, char mean[400], char std[400],
			   const struct sample *sample, size_t n)
{
	struct fixed sum = {{0}}, minus = {{0}};
	long double count = (long double)n, squares = 0, lost = 0;

	for (size_t i = 0; i < n; i++) {
		fixed_add(job, &sum, sample[i], 1);
		fixed_add(job, &minus, sample[i], -1);
	}
	for (size_t i = 0, end; i < n; i = end) { /* in order: equal ones together */
		struct fixed distance = minus;
		long double x, next;

		for (end = i + 1; end < n && by_value(&sample[end], &sample[i]) == 0; end++)
			;
		fixed_add(job, &distance, sample[i], (int64_t)n);
		x = fixed_value(distance);
		/* The roundings of millions of terms would add up. */
		x = x * x * (long double)(end - i) - lost;
		next = squares + x;
		lost = next - squares - x;
		squares = next;
	}
	format_real(mean, 400, (double)(fixed_value(sum) / count));
	format_real(std, 400, (double)(sqrtl(squares / count) / count));
}

/* ---- figures ---- */

/* Return the finite samples in order; the caller frees them. */
static struct sample *sorted_of(const struct job *job, unsigned channel, size_t *n)
{
	struct seen *a = &seen[channel];
	struct sample *sorted = take_memory(a->n + 1, sizeof(*sorted));

	*n = 0;
	for (size_t i = 0; i < a->n; i++)
		if (is_finite(job, a->sample[i]))
			sorted[(*n)++] = a->sample[i];
	qsort(sorted, *n, sizeof(*sorted), by_value);
	return sorted;
}

/* Return the entropy. Every p is c / n; log2(n / c) is exact for a power of two. */
static long double entropy_of(const uint64_t *count, uint64_t cells)
{
	long double sum = 0, n = 0;

	for (uint64_t i = 0; i < cells; i++)
		n += (long double)count[i];
	if (n == 0)
		return -1;
	for (uint64_t i = cells; i-- > 0;)
		if (count[i])
			sum += (long double)count[i] / n * log2l(n / (long double)count[i]);
	return sum;
}

/* Samples of a key: a zero has no sign, and a NaN no bits. */
static long double entropy_of_key(const struct job *job, unsigned channel)
{
	struct seen *a = &seen[channel];
	size_t n, values = 0;
	struct sample *sorted = sorted_of(job, channel, &n);
	uint64_t *count = take_memory(n + 3, sizeof(*count));

	for (size_t i = 0; i < n; i++) {
		values += i == 0 || by_value(&sorted[i - 1], &sorted[i]) != 0;
		count[values - 1]++;
	}
	count[values++] = a->below;
	count[values++] = a->above;
	count[values++] = a->nan;
	long double bits = entropy_of(count, values);
	free(sorted);
	free(count);
	return bits;
}

static long double entropy_of_channel(const struct job *job, unsigned channel)
{
	static uint64_t codes[1 << 16];
	struct seen *a = &seen[channel];

	/* The digests of a list tell the values apart, except those of f16. */
	if (!is_small(job) && is_list(job) && job->type->bits <= 16 &&
	    strcmp(job->type->name, "f16") != 0)
		return entropy_of_key(job, channel);
	if (!is_small(job) && job->bins == 1 && !by_samples(job))
		return -1;
	if (!is_small(job))
		return entropy_of(job->count + channel * job->bins, job->bins);
	memset(codes, 0, sizeof(codes));
	for (size_t i = 0; i < a->n; i++)
		codes[a->sample[i].code]++;
	return entropy_of(codes, (uint64_t)1 << job->type->bits);
}

static void say_entropy(const struct job *job, unsigned channel)
{
	long double bits = entropy_of_channel(job, channel);
	char text[64];

	snprintf(text, sizeof(text), "%.6Lf", bits);
	if (bits >= 0)
		say("entropy", text);
}

static uint64_t count_equal(const struct sample *sorted, size_t n, struct sample s)
{
	uint64_t equal = 0;

	for (size_t i = 0; i < n; i++)
		equal += by_value(&sorted[i], &s) == 0;
	return equal;
}

static uint64_t count_zeros(const struct job *job, const struct sample *sorted, size_t n)
{
	uint64_t zeros = 0;

	for (size_t i = 0; i < n; i++)
		zeros += job->type->kind == FLOAT ? sorted[i].real == 0 : sorted[i].whole == 0;
	return zeros;
}

/* Print the least or the greatest of n samples; for small types also how many equal it. */
static void say_end(const struct job *job, const char *name, struct sample end,
		    const struct sample *sorted, size_t n)
{
	char text[400], at[32];

	format_sample(job, text, sizeof(text), end);
	shorten(text, sizeof(text), 21);
	say(name, text);
	snprintf(at, sizeof(at), "at %s", name);
	if (is_small(job))
		say_count(at, count_equal(sorted, n, end));
}

/* Return the index of the first of n sorted samples that reaches this share, in millionths. */
static size_t place_of(size_t n, long long millionths)
{
	size_t k = 1;

	while ((wide)k * 1000000 < (wide)n * millionths)
		k++;
	return k - 1;
}

/* For a small type: how many values between the extremes have no sample. */
static uint64_t never_hit(const struct job *job, const struct sample *sorted, size_t n)
{
	uint64_t missing = 0;

	for (uint64_t code = 0; code < (uint64_t)1 << job->type->bits; code++) {
		const unsigned char bytes[] = {(unsigned char)code, (unsigned char)(code >> 8)};
		struct sample s = decode(job->type, false, bytes, 0);

		if (!is_finite(job, s) || (s.real == 0 && signbit(s.real)))
			continue; /* -0 is 0 */
		missing += by_value(&s, &sorted[0]) >= 0 && by_value(&s, &sorted[n - 1]) <= 0 &&
			   !bsearch(&s, sorted, n, sizeof(s), by_value);
	}
	return missing;
}

/* Chi square of a type of 8 bits against equal shares of all codes; negative: it has none. */
static double chi_square(const struct job *job, unsigned channel)
{
	const struct seen *a = &seen[channel];
	wide codes[256] = {0}, sum = 0, all = (wide)a->n;

	/* The zeros and NaNs of a key lose their bits. */
	if (job->type->bits != 8 || a->n == 0 ||
	    (!is_small(job) && (!is_list(job) || job->type->kind == FLOAT)))
		return -1;
	for (size_t i = 0; i < a->n; i++)
		codes[a->sample[i].code]++;
	for (int i = 0; i < 256; i++)
		sum += (256 * codes[i] - all) * (256 * codes[i] - all);
	return (double)(sum / 256) / (double)all;
}

/* ---- quantiles ---- */

/* Values that a digest cannot tell apart: `low` to below `past`, or whole numbers to `high`. */
struct cell {
	double low, past;
	wide first, last;
};

/* Cells cut each power of two into 2^digits parts. A whole number below 2^(digits + 1) is alone. */
static struct cell whole_cell(wide x, int digits)
{
	wide own = x < 0 ? -1 - x : x, unit = 1;

	while (own / unit >= (wide)2 << digits)
		unit *= 2;
	own -= own % unit;
	return x < 0 ? (struct cell){.first = -own - unit, .last = -1 - own}
		     : (struct cell){.first = own, .last = own + unit - 1};
}

/* Below 0, a cell's end towards 0 belongs to the next cell, so a power of two ends the smaller
 * cells. */
static struct cell real_cell(const struct job *job, double x, int digits)
{
	int exponent, least = job->type->bits <= 32 ? -125 : -1021;
	double part = frexp(fabs(x), &exponent), unit;

	exponent -= x < 0 && part == 0.5;
	unit = ldexp(1, (exponent < least ? least : exponent) - 1 - digits);
	if (x < 0)
		return (struct cell){.low = -ceil(-x / unit) * unit,
				     .past = -(ceil(-x / unit) - 1) * unit};
	return (struct cell){.low = floor(x / unit) * unit, .past = (floor(x / unit) + 1) * unit};
}

/* Return the digits of a whole number that printf writes as d.ddde+dd. */
static wide whole_of(const char *text)
{
	const bool minus = *text == '-';
	wide x = 0;
	int power = atoi(strchr(text, 'e') + 1), after = 0;
	const char *p = text + minus;

	for (bool point = false; *p != 'e'; p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		after += point;
		x = 10 * x + (*p - '0');
	}
	for (; after < power; after++)
		x *= 10;
	return minus ? -x : x;
}

/* printf rounds as this says. */
static const int WAYS[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD};

/* Return x with the fewest digits that keep it from low to high, below past, and not 0. */
static double near_real(double x, double low, double high, double past)
{
	char text[400];

	for (int places = 2; places < 16; places++)
		for (int way = 0; way < 3; way++) {
			fesetround(WAYS[way]);
			snprintf(text, sizeof(text), "%.*e", places, x);
			fesetround(FE_TONEAREST);
			double near = strtod(text, NULL);
			if (near >= low && near <= high && near < past && near != 0)
				return near;
		}
	return x;
}

/* Return the middle of whole numbers, between others, with the fewest digits that keep it there. */
static wide near_whole(wide first, wide last, wide least, wide most)
{
	wide x = (first + last - ((first + last) % 2 != 0 && first + last < 0)) / 2, near;
	char text[400];
	int places = 2;

	x = x < least ? least : x > most ? most : x;
	for (; places < 20; places++)
		for (int way = 0; way < 3; way++) {
			fesetround(WAYS[way]);
			snprintf(text, sizeof(text), "%.*Le", places, (long double)x);
			fesetround(FE_TONEAREST);
			near = whole_of(text);
			if (near >= first && near <= last && near >= least && near <= most)
				return near;
		}
	return x;
}

/* Are all samples of a channel whole numbers? Many channels are whole only together. */
static bool all_whole(const struct job *job, unsigned channel)
{
	const struct seen *a = &seen[channel];
	bool whole = is_list(job) ? job->text && !job->fraction : a->below + a->above == 0;

	for (size_t i = 0; i < a->n; i++)
		whole &= is_whole(job, a->sample[i]);
	return whole;
}

/*
 * Write the quantile of a large type: the middle of the cell, but between the extremes, with the
 * fewest digits, at least three, that keep it there and in the cell.
 */
static void format_near(const struct job *job, char *text, size_t size, struct sample s,
			struct sample least, struct sample most, bool whole)
{
	int digits = job->rows.size || job->rough || is_list(job) ? 7 : 10;
	struct cell c;

	if (job->type->kind != FLOAT) {
		c = whole_cell(s.whole, digits);
		s.whole = near_whole(c.first, c.last, least.whole, most.whole);
	} else if (s.real != 0 && whole) {
		c = real_cell(job, s.real, digits);
		s.real = (double)near_whole((wide)ceil(c.low), (wide)ceil(c.past) - 1,
					    (wide)least.real, (wide)most.real);
	} else if (s.real != 0) {
		c = real_cell(job, s.real, digits);
		double x = c.low / 2 + c.past / 2;

		if (isinf(c.past)) /* 2^1024 */
			x = c.low + ldexp(1, 1023 - 1 - digits);
		if (isinf(c.low))
			x = c.past - ldexp(1, 1023 - 1 - digits);
		x = fmin(fmax(x, least.real), most.real);
		s.real = near_real(x, fmax(c.low, least.real), fmin(c.past, most.real), c.past);
	}
	format_sample(job, text, size, s);
}

static void format_quantile(const struct job *job, char *text, size_t size,
			    const struct sample *sorted, size_t n, long long millionths, bool whole)
{
	struct sample s = sorted[place_of(n, millionths)];

	const bool few = n <= FEW_SAMPLES && !job->rows.size && !job->rough && !is_list(job);

	if (few || has_values(job))
		format_sample(job, text, size, s);
	else
		format_near(job, text, size, s, sorted[0], sorted[n - 1], whole);
}

static void say_quantiles(const struct job *job, const struct sample *sorted, size_t n, bool whole)
{
	char name[32], text[400];

	for (const char *q = job->stats; n; q += strcspn(q, ",") + 1) {
		size_t length = strcspn(q, ",");

		snprintf(name, sizeof(name), "%.*s%%", (int)length, q);
		format_quantile(job, text, sizeof(text), sorted, n, llround(strtod(q, NULL) * 1e4),
				whole);
		shorten(text, sizeof(text), 21);
		say(name, text);
		if (!q[length])
			break;
	}
}

void put_figures(const struct job *job, unsigned channel)
{
	struct seen *a = &seen[channel];
	char c = job->separator, text[400];
	size_t n;
	struct sample *sorted = sorted_of(job, channel, &n);
	long double bits = entropy_of_channel(job, channel);

	printf("%c%llu", c, (unsigned long long)count_zeros(job, sorted, n));
	for (int end = 0; end < 2; end++) {
		struct sample at = sorted[end && n ? n - 1 : 0];

		format_sample(job, text, sizeof(text), at);
		printf("%c%s%c", c, n ? text : "", c);
		if (n && (has_values(job) || (job->type->bits <= 16 && !job->by_key.bytes)))
			printf("%llu", (unsigned long long)count_equal(sorted, n, at));
	}
	char mean[400] = "", std[400] = "";
	if (n)
		format_moments(job, mean, std, sorted, n);
	printf("%c%s%c%s%c", c, mean, c, std, c);
	if (bits >= 0)
		printf("%.6Lf", bits);
	for (const char *q = job->stats; *q; q += strcspn(q, ","), q += *q == ',') {
		long long millionths = llround(strtod(q, NULL) * 1e4);

		putchar(c);
		if (!n)
			continue;
		format_quantile(job, text, sizeof(text), sorted, n, millionths,
				all_whole(job, channel));
		printf("%s", text);
	}
	putchar(c);
	if (n && has_values(job))
		printf("%llu", (unsigned long long)never_hit(job, sorted, n));
	printf("%c%llu%c", c, (unsigned long long)(a->below + a->above), c);
	if (chi_square(job, channel) >= 0) {
		format_real(text, sizeof(text), chi_square(job, channel));
		printf("%s", text);
	}
	free(sorted);
	a->n = a->below = a->above = a->nan = 0;
}

static void put_channel(const struct job *job, unsigned channel)
{
	struct seen *a = &seen[channel];
	size_t n;
	char text[48], mean[400], std[400];
	struct sample *sorted = sorted_of(job, channel, &n);

	snprintf(text, sizeof(text), "%u", channel);
	if (job->column[0])
		say("column", job->column[channel]);
	else
		say("channel", text);
	snprintf(text, sizeof(text), "%zu", n);
	say("count", text);
	/* With --clamp, no sample is outside. */
	if (job->under[channel] + job->over[channel] > a->below + a->above)
		say_count("outside",
			  job->under[channel] + job->over[channel] - a->below - a->above);
	say_count("-inf", a->below);
	say_count("inf", a->above);
	say_count(job->type->kind == FLOAT ? "nan" : "missing", a->nan);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)count_zeros(job, sorted, n));
	if (n)
		say("zeros", text);
	if (n) {
		say_end(job, "minimum", sorted[0], sorted, n);
		say_end(job, "maximum", sorted[n - 1], sorted, n);
		format_moments(job, mean, std, sorted, n);
		shorten(mean, sizeof(mean), 15);
		shorten(std, sizeof(std), 15);
		say("mean", mean);
		say("std", std);
	}
	say_entropy(job, channel);
	say_quantiles(job, sorted, n, all_whole(job, channel));
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(n && is_small(job) ? never_hit(job, sorted, n) : 0));
	if (n && is_small(job))
		say("never hit", text);
	if (chi_square(job, channel) >= 0) {
		format_real(mean, sizeof(mean), chi_square(job, channel));
		shorten(mean, sizeof(mean), 15);
		say("chi2", mean);
	}
	free(sorted);
	free(a->sample);
}

void put_stats(const struct job *job)
{
	for (unsigned channel = 0; channel < job->channels; channel++)
		put_channel(job, channel);
}
