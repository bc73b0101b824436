/* SPDX-License-Identifier: MIT */
/* edges: the bins, from the options or the defaults; computed before any sample is read. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* With 113 bits an edge of --log rounds as the exact one does: the power
 * is right to more than 2^-100 of itself, and a geometric mean of binary64
 * numbers is never half-way between two of them. */
#if LDBL_MANT_DIG >= 113
typedef long double quad;
#define quad_power powl
#else
__extension__ typedef __float128 quad;
quad powf128(quad x, quad y); /* glibc's */
#define quad_power powf128
#endif

/* Read [-]digits[.digits][e[+-]digits] as digits * 10^scale. */
struct bound parse_bound(const char *text)
{
	struct bound b = {0, 0, false, false};
	char digits[512];
	size_t n = 0;
	long scale = 0;
	const char *at = text + (*text == '-' || *text == '+');
	bool point = false;
	char *end;

	for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		if (n == sizeof(digits))
			fail(FAIL_USAGE, text, "too many digits");
		digits[n++] = *at;
		scale -= point;
	}
	b.real = strtod(text, &end);
	if (n == 0 || (*at && tolower((unsigned char)*at) != 'e') || *end || isinf(b.real))
		fail(FAIL_USAGE, text, "not a bound of a range");
	if (*at)
		scale += strtol(at + 1, NULL, 10);
	while (n && digits[n - 1] == '0') {
		n--;
		scale++;
	}
	if (n == 0)
		scale = 0; /* zero, whatever its digits */
	b.is_whole = scale >= 0;
	for (size_t i = 0; i < n && !b.is_vast; i++) {
		b.whole = b.whole * 10 + (digits[i] - '0');
		b.is_vast = b.whole >= MAX_WHOLE;
	}
	for (; scale > 0 && !b.is_vast; scale--) {
		b.whole *= 10;
		b.is_vast = b.whole >= MAX_WHOLE;
	}
	if (*text == '-')
		b.whole = -b.whole;
	return b;
}

static struct bound whole_bound(wide x)
{
	return (struct bound){x, (double)x, true, false};
}

/* Compute numpy.linspace(lo, hi, n + 1), operation for operation. The products are
 * volatile, or a compiler might fuse them with the addition into one rounding. A
 * span beyond binary64 is computed at half size, where every operation rounds
 * as it would with an unbounded exponent: both ends are then so large that
 * halving them is exact. */
static double *linspace(double lo, double hi, uint64_t n)
{
	double *edge = take_memory((size_t)n + 1, sizeof(*edge));
	double scale = isinf(hi - lo) ? 2 : 1;
	double start = lo / scale;
	double span = hi / scale - start;
	double step = span / (double)n;

	for (uint64_t i = 0; i < n; i++) {
		volatile double product;

		if (step == 0)
			product = (double)i / (double)n * span;
		else
			product = (double)i * step;
		edge[i] = (product + start) * scale;
	}
	edge[n] = hi;
	/* A subnormal step that was rounded up can take the edges past HI, and the edges
	 * of very narrow bins coincide. */
	for (uint64_t i = 0; i < n; i++) {
		if (edge[i] >= edge[i + 1]) {
			free(edge);
			fail(FAIL_USAGE, "range", "too many bins for binary64");
		}
	}
	return edge;
}

/* Compute edges of equal ratio, each the binary64 nearest to LO (HI / LO)^(i / N). */
static double *logspace(double lo, double hi, uint64_t n)
{
	double *edge = take_memory((size_t)n + 1, sizeof(*edge));

	for (uint64_t i = 1; i < n; i++)
		edge[i] = (double)(lo * quad_power((quad)hi / lo, (quad)i / (quad)n));
	edge[0] = lo;
	edge[n] = hi;
	return edge;
}

/* ---- edges as numbers ---- */

struct list {
	double *number; /* freed by the caller */
	uint64_t n;
};

static void add_number(struct list *list, double x)
{
	if (list->n > MAX_EDGE_BINS)
		fail(FAIL_USAGE, "edges", "too many");
	list->number[list->n++] = x;
}

static bool is_separator(char c)
{
	return c == ',' || isspace((unsigned char)c);
}

/* Read numbers from a text, with at most one comma between two, and around all of them. */
static void read_text(struct list *list, const char *text, bool comments)
{
	bool comma = false;

	while (*text) {
		char *end;

		if (comments && *text == '#') {
			text += strcspn(text, "\n");
			continue;
		}
		if (*text == ',') {
			if (comma || list->n == 0)
				fail(FAIL_USAGE, text, "no number before this comma");
			comma = true;
		}
		if (is_separator(*text)) {
			text++;
			continue;
		}
		add_number(list, strtod(text, &end));
		if (end == text || (*end && !is_separator(*end) && !(comments && *end == '#')))
			fail(FAIL_USAGE, text, "not a number");
		text = end;
		comma = false;
	}
	if (comma)
		fail(FAIL_USAGE, "edges", "no number after the last comma");
}

static void read_list_file(struct list *list, const char *name)
{
	struct input in = open_input(name, &(struct job){.raw = true});

	if (strlen((char *)in.data) != in.end)
		fail(FAIL_USAGE, name, "not a text");
	read_text(list, (char *)in.data, true);
	free(in.data);
}

static void set_listed(struct job *job, const char *text)
{
	struct list list = {take_memory((size_t)MAX_EDGE_BINS + 1, sizeof(double)), 0};

	if (*text == '@')
		read_list_file(&list, text + 1);
	else
		read_text(&list, text, false);
	if (list.n < 2)
		fail(FAIL_USAGE, text, "fewer than two edges");
	job->edge = list.number;
	job->bins = list.n - 1;
	if (job->by.bins_given && job->by.bins != job->bins)
		fail(FAIL_USAGE, "bins", "not as many as there are between the edges");
}

static void set_log(struct job *job, const char *text)
{
	char lo[1024];
	const char *colon = strchr(text, ':');

	if (!colon || (size_t)(colon - text) >= sizeof(lo))
		fail(FAIL_USAGE, text, "not a range");
	snprintf(lo, sizeof(lo), "%.*s", (int)(colon - text), text);
	job->lo = parse_bound(lo);
	job->hi = parse_bound(colon + 1);
	if (!(job->lo.real > 0))
		fail(FAIL_USAGE, text, "LO must be above 0");
	if (job->bins > MAX_EDGE_BINS)
		fail(FAIL_USAGE, text, "2^20 bins at most");
	if (job->lo.real < job->hi.real)
		job->edge = logspace(job->lo.real, job->hi.real, job->bins);
	else
		fail(FAIL_USAGE, text, "LO must be below HI");
}

static void need_rising_edges(const struct job *job)
{
	for (uint64_t i = 0; i <= job->bins; i++)
		if (!isfinite(job->edge[i]) || (i && !(job->edge[i - 1] < job->edge[i])))
			fail(FAIL_USAGE, "edges", "not finite, or not increasing");
}

/* ---- a range ---- */

static void full_range(struct job *job)
{
	unsigned bits = job->type->bits;

	if (job->type->kind == FLOAT) {
		job->hi.real = largest_float(job->type);
		job->lo.real = -job->hi.real;
		job->closed = true;
	} else if (job->type->kind == SIGNED) {
		job->lo = whole_bound(-((wide)1 << (bits - 1)));
		job->hi = whole_bound((wide)1 << (bits - 1));
	} else {
		job->lo = whole_bound(0);
		job->hi = whole_bound((wide)1 << bits);
	}
}

/* Return how many STEPs the range is: a whole number, to one part in 10^9. */
static uint64_t count_steps(const struct bound *lo, const struct bound *hi, const char *text)
{
	bool whole = lo->is_whole && hi->is_whole && !lo->is_vast && !hi->is_vast;
	long double width = whole ? (long double)(hi->whole - lo->whole)
				  : (long double)hi->real - (long double)lo->real;
	long double step = parse_bound(text).real, n = roundl(width / step);

	if (!(step > 0))
		fail(FAIL_USAGE, text, "STEP must be above 0");
	if (!(width > 0))
		fail(FAIL_USAGE, text, "LO must be below HI");
	if (n > MAX_BINS)
		fail(FAIL_USAGE, text, "too many bins");
	if (n < 1 || fabsl(n * step / width - 1) > 1e-9L)
		fail(FAIL_USAGE, text, "not a whole number of steps");
	return (uint64_t)n;
}

static void set_range(struct job *job, const char *text)
{
	char lo[1024], hi[1024];
	const char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;

	if (!strcmp(text, "full")) {
		full_range(job);
	} else {
		if (!colon || strlen(text) >= sizeof(lo))
			fail(FAIL_USAGE, text, "not a range");
		snprintf(lo, sizeof(lo), "%.*s", (int)(colon - text), text);
		snprintf(hi, sizeof(hi), "%s", colon + 1);
		hi[strcspn(hi, ":")] = '\0';
		job->lo = parse_bound(lo);
		job->hi = parse_bound(hi);
	}
	if (second) {
		if (job->by.bins_given)
			fail(FAIL_USAGE, "bins", "and STEP");
		job->bins = count_steps(&job->lo, &job->hi, second + 1);
	}
	if (job->type->kind != FLOAT && job->lo.is_whole && job->hi.is_whole) {
		job->axis = RATIONAL;
		if (job->lo.is_vast || job->hi.is_vast)
			fail(FAIL_USAGE, text, "whole numbers end at 2^96 here");
		if (job->lo.whole >= job->hi.whole)
			fail(FAIL_USAGE, text, "LO must be below HI");
		if (!job->by.bins_given && !second && job->hi.whole - job->lo.whole <= 256)
			job->bins = (uint64_t)(job->hi.whole - job->lo.whole);
		return;
	}
	if (!(job->lo.real < job->hi.real))
		fail(FAIL_USAGE, text, "LO must be below HI");
	job->edge = linspace(job->lo.real, job->hi.real, job->bins);
}

/* ---- choosing the bins ---- */

static void set_automatic(struct job *job)
{
	job->axis = job->by.numbered ? NUMBERED : DYADIC;
	if (job->closed)
		fail(FAIL_USAGE, "--closed", "the samples decide where the last bin ends");
	/* Each side of 0 needs a bin, and --log=auto one more for 0. */
	if (job->bins < (job->type->kind == UNSIGNED ? 1u : 2u) + job->by.numbered)
		fail(FAIL_USAGE, "bins", "--auto needs more");
}

static void set_default(struct job *job)
{
	if (job->type->kind != FLOAT && job->by.bins_given) {
		job->axis = RATIONAL;
		job->lo = whole_bound(0);
		job->hi = whole_bound((wide)job->bins);
	} else if (job->type->kind != FLOAT && job->type->bits <= 8) {
		job->axis = RATIONAL;
		full_range(job);
		job->bins = (uint64_t)1 << job->type->bits;
	} else if ((job->rows.size || is_list(job)) && job->stats && !job->by.bins_given &&
		   !job->closed && !job->clamp) {
		job->bins = 1; /* rows of figures need no bins, and no options for them */
		set_range(job, "full");
	} else {
		set_automatic(job);
	}
}

void set_axis(struct job *job)
{
	const struct binning *by = &job->by;

	if (!!by->range + !!by->log + !!by->edges + by->mod + by->automatic + by->numbered > 1)
		fail(FAIL_USAGE, "bins", "two ways to bin");
	if (by->bins < 1 || by->bins > MAX_BINS)
		fail(FAIL_USAGE, "bins", "1 to 2^28");
	if (by->mod && (job->type->kind == FLOAT || job->closed || job->clamp))
		fail(FAIL_USAGE, "--mod", "of integers, without --closed and --clamp");
	job->bins = by->bins;
	job->axis = by->mod ? RESIDUE : LISTED;
	if (by->range)
		set_range(job, by->range);
	else if (by->log)
		set_log(job, by->log);
	else if (by->edges)
		set_listed(job, by->edges);
	else if (by->automatic || by->numbered)
		set_automatic(job);
	else if (!by->mod)
		set_default(job);
	if (job->clamp && by_samples(job))
		fail(FAIL_USAGE, "--clamp", "not of a range that the samples decide");
	if (by->log || by->edges)
		need_rising_edges(job);
}
