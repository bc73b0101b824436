/* SPDX-License-Identifier: MIT */
/* stats: what --stats says, from all samples of a channel in their order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* The samples of a channel; of floats the finite ones, and all of 16 bits or fewer for their codes. */
static struct seen {
	struct sample *sample;
	size_t n, room;
	uint64_t below, above, nan;
} seen[MAX_CHANNELS];

static bool is_small(const struct job *job)
{
	return job->type->bits <= 16;
}

static bool is_finite(const struct job *job, struct sample s)
{
	return job->type->kind != FLOAT || isfinite(s.real);
}

void keep_sample(struct job *job, unsigned channel, struct sample s)
{
	struct seen *a = &seen[channel];

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

/* One of the two is 0. */
static int by_value(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->whole != y->whole)
		return x->whole < y->whole ? -1 : 1;
	return (x->real > y->real) - (x->real < y->real);
}

/* A table of one column for each channel, which tests/jobs compares with gpuhist's columns. */
static void say(const char *name, const char *text)
{
	fprintf(stderr, "gpuhist: stats: %-10s  %s\n", name, text);
}

/* Six digits, unless the number is whole. */
static void shorten(char *text, size_t size)
{
	size_t digits = strspn(text + (*text == '-'), "0123456789") + (*text == '-');

	if (text[digits] || digits > 21)
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
 * The sum S of n samples is exact. With it the variance is the sum of (n x - S)^2 over n^3: each
 * n x - S is exact, too, and no term is negative, so nothing cancels where long double rounds.
 */

#define PLACES 72  /* digits of 32 bits */
#define BELOW 1152 /* of them after the binary point */

struct fixed {
	int64_t digit[PLACES]; /* the least significant first */
};

/* Adds a sample `times` times. */
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
	for (size_t i = 0, end; i < n; i = end) { /* samples are in order: equal ones together */
		struct fixed distance = minus;
		long double x, next;

		for (end = i + 1; end < n && by_value(&sample[end], &sample[i]) == 0; end++)
			;
		fixed_add(job, &distance, sample[i], (int64_t)n);
		x = fixed_value(distance);
		/* Of millions of terms the roundings would add up. */
		x = x * x * (long double)(end - i) - lost;
		next = squares + x;
		lost = next - squares - x;
		squares = next;
	}
	format_real(mean, 400, (double)(fixed_value(sum) / count));
	format_real(std, 400, (double)(sqrtl(squares / count) / count));
}

/* ---- figures ---- */

/* Every p is c / n; log2(n / c) of a power of two is exact. */
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

static long double entropy_of_channel(const struct job *job, unsigned channel)
{
	static uint64_t codes[1 << 16];
	struct seen *a = &seen[channel];

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

/* One of n samples, the least or the greatest; of the small types how many equal it. */
static void say_end(const struct job *job, const char *name, struct sample end,
		    const struct sample *sorted, size_t n)
{
	char text[400], at[32];

	format_sample(job, text, sizeof(text), end);
	shorten(text, sizeof(text));
	say(name, text);
	snprintf(at, sizeof(at), "at %s", name);
	if (is_small(job))
		say_count(at, count_equal(sorted, n, end));
}

/* Index of the first of n sorted samples that reaches this share, in millionths. */
static size_t place_of(size_t n, long long millionths)
{
	size_t k = 1;

	while ((wide)k * 1000000 < (wide)n * millionths)
		k++;
	return k - 1;
}

/* For a small type, say how many values between the extremes no sample has. */
static void say_never_hit(const struct job *job, const struct sample *sorted, size_t n)
{
	char text[32];
	uint64_t missing = 0;

	for (uint64_t code = 0; code < (uint64_t)1 << job->type->bits; code++) {
		const unsigned char bytes[] = {(unsigned char)code, (unsigned char)(code >> 8)};
		struct sample s = decode(job->type, false, bytes, 0);

		if (!is_finite(job, s) || (s.real == 0 && signbit(s.real)))
			continue; /* -0 is 0 */
		missing += by_value(&s, &sorted[0]) >= 0 && by_value(&s, &sorted[n - 1]) <= 0 &&
			   !bsearch(&s, sorted, n, sizeof(s), by_value);
	}
	snprintf(text, sizeof(text), "%llu", (unsigned long long)missing);
	say("never hit", text);
}

/* The bin that a sample is in: below 0, it is below all of them; from N on, above. */
static wide place_in(const struct job *job, struct sample s)
{
	bool dyadic = job->axis == DYADIC, closed = job->closed && !by_samples(job);
	wide width = (wide)1 << (dyadic && job->type->kind != FLOAT ? job->k : 0);
	int top;

	if (dyadic && job->type->kind == FLOAT)
		return (wide)bin_of(job, s);
	if (dyadic)
		return s.whole / width - (s.whole % width < 0) - job->first;
	top = compare(job, s, job->bins);
	if (compare(job, s, 0) < 0)
		return -1;
	return top > 0 || (top == 0 && !closed) ? (wide)job->bins
	       : top == 0                       ? (wide)job->bins - 1
						: (wide)bin_of(job, s);
}

/* The bin that counts it: the same, but for --clamp. */
static wide counted_in(const struct job *job, struct sample s)
{
	wide bin = place_in(job, s), last = (wide)job->bins - 1;

	return !job->clamp ? bin : bin < 0 ? 0 : bin > last ? last : bin;
}

/* The least whole number from `low` on, up to `high`, that is in this bin or after it. */
static wide begin_of(const struct job *job, wide low, wide high, wide bin)
{
	while (low < high) {
		wide middle = low + (high - low) / 2;

		if (place_in(job, (struct sample){.whole = middle}) < bin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double edge_value(const struct job *job, wide i)
{
	char text[400];

	format_edge(job, text, sizeof(text), (uint64_t)i);
	return strtod(text, NULL);
}

/*
 * A quantile as one number: on the line from the least to the greatest value that its bin has, as far
 * as the bin's samples are below the share that was asked for; and between the extremes. "": in no bin.
 */
static void format_number(const struct job *job, char *text, size_t size,
			  const struct sample *sorted, size_t n, long long millionths)
{
	struct sample s = sorted[place_of(n, millionths)], least = sorted[0], most = sorted[n - 1];
	bool is_signed = job->type->kind == SIGNED, is_float = job->type->kind == FLOAT;
	wide bin = is_small(job) ? 0 : counted_in(job, s), before = 0, here = 0, min = 0, max;
	double lower, upper, part, x;

	snprintf(text, size, "%s", "");
	if (is_small(job))
		format_sample(job, text, size, s);
	if (is_small(job) || bin < 0 || bin == (wide)job->bins)
		return;
	for (size_t i = 0; i < n; i++) {
		before += counted_in(job, sorted[i]) < bin;
		here += counted_in(job, sorted[i]) == bin;
	}
	/* what --clamp put there is beyond the edges */
	bool below = job->clamp && bin == 0 && place_in(job, least) < 0,
	     above = job->clamp && bin == (wide)job->bins - 1 && place_in(job, most) > bin;
	if (is_float) {
		lower = below ? least.real : edge_value(job, bin);
		upper = above ? most.real : edge_value(job, bin + 1);
		lower = isinf(lower) ? least.real : lower;
		upper = isinf(upper) ? most.real : upper;
	} else {
		min = is_signed ? -((wide)1 << (job->type->bits - 1)) : 0;
		max = min + ((wide)1 << job->type->bits) - 1;
		min = below ? least.whole : begin_of(job, min, max, bin);
		max = above ? most.whole : begin_of(job, min, max + 1, bin + 1) - 1;
		lower = (double)min;
		upper = (double)max;
		s.whole = min;
		format_sample(job, text, size, s);
		if (min == max)
			return;
	}
	part = (double)((wide)n * millionths - before * 1000000) / (double)(here * 1000000);
	x = lower + part * (upper - lower);
	if (isinf(upper - lower))
		x = 2 * (lower / 2 + part * (upper / 2 - lower / 2));
	x = fmin(x, upper);
	if (!is_float && x <= (double)least.whole && min > least.whole)
		return; /* text has min, which binary64 cannot tell from the least sample */
	if (x <= (is_float ? least.real : (double)least.whole))
		format_sample(job, text, size, least);
	else if (x >= (is_float ? most.real : (double)most.whole))
		format_sample(job, text, size, most);
	else
		format_real(text, size, x);
}

/* Does a bin of whole numbers hold one, whichever samples there are? */
static bool holds_one(const struct job *job, wide bin)
{
	wide last = (wide)job->bins - 1;

	if (job->type->kind == FLOAT || (bin == last && job->closed) ||
	    (job->clamp && (bin == 0 || bin == last)))
		return false;
	return job->axis == RATIONAL   ? job->hi.whole - job->lo.whole == (wide)job->bins
	       : job->axis == NUMBERED ? job->edge[bin + 1] - job->edge[bin] <= 1
				       : job->axis == DYADIC && job->k == 0;
}

/* The bin that a sample is in, between two of the ends. */
static void format_bin(const struct job *job, char *text, size_t size, const char *number,
		       struct sample s, struct sample least, struct sample greatest)
{
	char shorter[400];
	char lower[400], upper[400];
	uint64_t bin = 0, last = job->bins - 1;
	bool dyadic = by_samples(job);
	int top = dyadic ? -1 : compare(job, s, job->bins);
	bool above = top > 0 || (top == 0 && !job->closed),
	     below = !dyadic && compare(job, s, 0) < 0;

	if (!job->clamp && (above || below)) {
		snprintf(text, size, below ? "under" : "over");
		return;
	}
	bin = below ? 0 : top >= 0 ? last : bin_of(job, s);
	format_edge(job, lower, sizeof(lower), bin);
	format_edge(job, upper, sizeof(upper), bin + 1);
	top = dyadic ? -1 : compare(job, greatest, job->bins);
	bool closed = bin == last && job->closed && !dyadic;
	/* An edge of 2^1024 is no number of JSON's. */
	if (bin == 0 &&
	    ((job->clamp && !dyadic && compare(job, least, 0) < 0) || !strcmp(lower, "-inf")))
		format_sample(job, lower, sizeof(lower), least);
	if (bin == last &&
	    ((job->clamp && (top > 0 || (top == 0 && !job->closed))) || !strcmp(upper, "inf"))) {
		format_sample(job, upper, sizeof(upper), greatest);
		closed = true;
	}
	snprintf(shorter, sizeof(shorter), "%s", number);
	shorten(shorter, sizeof(shorter));
	snprintf(text, size, "%s in [%s, %s%c", number, lower, upper, closed ? ']' : ')');
	shorten(lower, sizeof(lower));
	shorten(upper, sizeof(upper));
	if (strcmp(lower, upper))
		snprintf(text, size, "%s in [%s, %s%c", shorter, lower, upper, closed ? ']' : ')');
	if (holds_one(job, (wide)bin))
		snprintf(text, size, "%s", shorter);
}

static void say_quantiles(const struct job *job, const struct sample *sorted, size_t n)
{
	char name[32], text[1250], number[400];

	for (const char *q = job->stats; n; q += strcspn(q, ",") + 1) {
		size_t length = strcspn(q, ",");
		long long millionths = llround(strtod(q, NULL) * 1e4);
		struct sample s = sorted[place_of(n, millionths)];

		snprintf(name, sizeof(name), "%.*s%%", (int)length, q);
		if (job->axis == RESIDUE && !is_small(job))
			break; /* residues have no order */
		format_number(job, number, sizeof(number), sorted, n, millionths);
		snprintf(text, sizeof(text), "%s", number);
		if (is_small(job))
			shorten(text, sizeof(text));
		else
			format_bin(job, text, sizeof(text), number, s, sorted[0], sorted[n - 1]);
		say(name, text);
		if (!q[length])
			break;
	}
}

/* The finite samples in their order; the caller frees them. */
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

/* The ends of a quantile of a row: the edges of its bin, or the outer edge and the extreme. */
static void put_ends(const struct job *job, struct sample s, struct sample least,
		     struct sample greatest)
{
	char lower[400], upper[400], c = job->separator;
	uint64_t last = job->bins - 1, bin;
	int top = compare(job, s, job->bins), most = compare(job, greatest, job->bins);
	bool above = top > 0 || (top == 0 && !job->closed), below = compare(job, s, 0) < 0;
	bool clamped_above = job->clamp && (most > 0 || (most == 0 && !job->closed));

	if (below && !job->clamp) {
		format_sample(job, lower, sizeof(lower), least);
		format_edge(job, upper, sizeof(upper), 0);
	} else if (above && !job->clamp) {
		format_edge(job, lower, sizeof(lower), job->bins);
		format_sample(job, upper, sizeof(upper), greatest);
	} else {
		bin = below ? 0 : top >= 0 ? last : bin_of(job, s);
		format_edge(job, lower, sizeof(lower), bin);
		format_edge(job, upper, sizeof(upper), bin + 1);
		if (bin == 0 && job->clamp && compare(job, least, 0) < 0)
			format_sample(job, lower, sizeof(lower), least);
		if (bin == last && clamped_above)
			format_sample(job, upper, sizeof(upper), greatest);
	}
	printf("%c%s%c%s", c, lower, c, upper);
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
		if (n && is_small(job))
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

		if (!n || (job->axis == RESIDUE && !is_small(job))) {
			printf(is_small(job) ? "%c" : "%c%c%c", c, c, c);
			continue;
		}
		format_number(job, text, sizeof(text), sorted, n, millionths);
		printf("%c%s", c, text);
		if (!is_small(job))
			put_ends(job, sorted[place_of(n, millionths)], sorted[0], sorted[n - 1]);
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
	say("channel", text);
	snprintf(text, sizeof(text), "%zu", n);
	say("count", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)count_zeros(job, sorted, n));
	if (n)
		say("zeros", text);
	say_count("-inf", a->below);
	say_count("inf", a->above);
	say_count("nan", a->nan);
	if (n) {
		say_end(job, "minimum", sorted[0], sorted, n);
		say_end(job, "maximum", sorted[n - 1], sorted, n);
		if (is_small(job))
			say_never_hit(job, sorted, n);
		format_moments(job, mean, std, sorted, n);
		shorten(mean, sizeof(mean));
		shorten(std, sizeof(std));
		say("mean", mean);
		say("std", std);
	}
	say_entropy(job, channel);
	say_quantiles(job, sorted, n);
	free(sorted);
	free(a->sample);
}

void put_stats(const struct job *job)
{
	for (unsigned channel = 0; channel < job->channels; channel++)
		put_channel(job, channel);
}
