/* oracle.c - counts samples into a histogram, the slow and obvious way
 *
 * Prints what gpuhist must print, and shares no line with it. Every sample is
 * put together byte by byte, becomes a number without rounding, and looks for
 * its bin by comparing with the edges as real numbers. Whatever can be done in
 * one plain way is done so; nothing here is meant to be fast.
 *
 *   oracle [-t TYPE] [-b N] [-r LO:HI|full] [--clamp] [--closed] [-S BYTES]
 *          [-n COUNT] [--ignore-tail] [--flow] [--nonzero] [--no-header]
 *          [-f csv|tsv] FILE...
 *
 * Exit status: 0; 1 a file cannot be read, or no memory; 2 usage; 3 an input
 * ends inside a record, or before the bytes to skip have passed.
 */
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Holds x * N and LO * N + i * (HI - LO) exactly: |x| <= 2^64, N <= 2^28 and
 * |LO|, |HI| < 2^96, so nothing reaches 2^126. */
__extension__ typedef __int128 wide;

#define MAX_BINS ((uint64_t)1 << 28)
#define MAX_WHOLE ((wide)1 << 96)

enum { FAIL_SYSTEM = 1, FAIL_USAGE = 2, FAIL_DATA = 3 };

enum kind { UNSIGNED, SIGNED, FLOAT };

struct type {
	const char *name;	/* without the byte order */
	unsigned bytes;		/* of one sample */
	enum kind kind;		/* what its bits mean */
	int exponent_bits;	/* FLOAT: width of the exponent field */
};

static const struct type types[] = {
	{ "u8", 1, UNSIGNED, 0 },  { "i8", 1, SIGNED, 0 },
	{ "u16", 2, UNSIGNED, 0 }, { "i16", 2, SIGNED, 0 },
	{ "u24", 3, UNSIGNED, 0 }, { "i24", 3, SIGNED, 0 },
	{ "u32", 4, UNSIGNED, 0 }, { "i32", 4, SIGNED, 0 },
	{ "u64", 8, UNSIGNED, 0 }, { "i64", 8, SIGNED, 0 },
	{ "f16", 2, FLOAT, 5 },    { "bf16", 2, FLOAT, 8 },
	{ "f32", 4, FLOAT, 8 },    { "f64", 8, FLOAT, 11 },
};

/* One sample, exactly. A binary64 holds every value of every float type. */
struct sample {
	wide whole;		/* the value of an integer sample */
	double real;		/* the value of a float sample, NaN too */
};

/* One end of the range, as it was written. */
struct bound {
	wide whole;		/* its value when is_whole and not is_vast */
	double real;		/* the nearest binary64 */
	bool is_whole;		/* the decimal number has no fraction */
	bool is_vast;		/* whole, but 2^96 or more */
};

struct job {
	const struct type *type;	/* of the samples */
	bool big_endian;	/* first byte is the most significant */
	uint64_t bins;		/* N */
	struct bound lo, hi;	/* the range */
	bool exact;		/* edges are the rationals LO + i (HI - LO) / N */
	double *edge;		/* not exact: the N + 1 edges */
	bool clamp, closed;	/* --clamp, --closed */
	uint64_t skip;		/* bytes at the start of each input */
	uint64_t left;		/* records that may still be read */
	bool ignore_tail;	/* --ignore-tail */
	bool flow, nonzero, header;	/* which lines are written */
	char separator;		/* between columns */
	uint64_t *count;	/* by bin */
	uint64_t under, over, nan;	/* what no bin takes */
};

static _Noreturn void fail(int status, const char *what, const char *why)
{
	fprintf(stderr, "oracle: %s: %s\n", what, why);
	exit(status);
}

static void *take_memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		fail(FAIL_SYSTEM, "memory", "not enough");
	return p;
}

/* ---- bytes to samples ---- */

static double decode_float(uint64_t code, int bits, int exponent_bits)
{
	int fraction_bits = bits - 1 - exponent_bits;
	int bias = (1 << (exponent_bits - 1)) - 1;
	int top = (1 << exponent_bits) - 1;
	uint64_t fraction = code & (((uint64_t)1 << fraction_bits) - 1);
	int exponent = (int)((code >> fraction_bits) & (uint64_t)top);
	bool negative = code >> (bits - 1) & 1;
	double magnitude;

	if (exponent == top)
		magnitude = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		magnitude = ldexp((double)fraction, 1 - bias - fraction_bits);
	else
		magnitude = ldexp((double)(fraction | (uint64_t)1 << fraction_bits),
				  exponent - bias - fraction_bits);
	return negative ? -magnitude : magnitude;
}

static struct sample decode(const struct job *job, const unsigned char *bytes)
{
	const struct type *type = job->type;
	unsigned n = type->bytes;
	struct sample s = { 0, 0 };
	uint64_t code = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned place = job->big_endian ? n - 1 - i : i;

		code |= (uint64_t)bytes[i] << (8 * place);
	}
	if (type->kind == FLOAT) {
		s.real = decode_float(code, (int)(8 * n), type->exponent_bits);
	} else {
		s.whole = (wide)code;
		if (type->kind == SIGNED && code >> (8 * n - 1))
			s.whole -= (wide)1 << (8 * n);
	}
	return s;
}

/* ---- edges ---- */

/* numpy.linspace(lo, hi, n + 1), operation for operation. The products are
 * volatile lest a compiler fuse them with the addition into one rounding. A
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
	/* A subnormal step that was rounded up can carry the edges past HI.
	 * numpy.histogram refuses edges that fall; so does this, and bin_of()
	 * relies on it. Edges that coincide are in order. */
	for (uint64_t i = 0; i < n; i++) {
		if (edge[i] > edge[i + 1]) {
			free(edge);
			fail(FAIL_USAGE, "range", "too many bins for binary64");
		}
	}
	return edge;
}

/* The numerator of edge i over N, when edges are exact. */
static wide edge_times_bins(const struct job *job, uint64_t i)
{
	return job->lo.whole * (wide)job->bins +
	       (wide)i * (job->hi.whole - job->lo.whole);
}

static int compare_whole_real(wide x, double edge)
{
	double below = floor(edge);

	if (below >= ldexp(1, 100))
		return -1;
	if (below <= -ldexp(1, 100))
		return 1;
	if (x != (wide)below)
		return x < (wide)below ? -1 : 1;
	return edge > below ? -1 : 0;
}

/* Less than 0, 0, more than 0: the sample is below, on, above edge i. */
static int compare(const struct job *job, struct sample s, uint64_t i)
{
	if (job->exact) {
		wide x = s.whole * (wide)job->bins;
		wide edge = edge_times_bins(job, i);

		return x < edge ? -1 : x > edge;
	}
	if (job->type->kind == FLOAT)
		return s.real < job->edge[i] ? -1 : s.real > job->edge[i];
	return compare_whole_real(s.whole, job->edge[i]);
}

/* The last i below N with edge[i] <= x, for LO <= x < HI. Where edges
 * coincide this is the only bin of them that is not empty. */
static uint64_t bin_of(const struct job *job, struct sample s)
{
	uint64_t low = 0, high = job->bins;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (compare(job, s, middle) >= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void count_sample(struct job *job, struct sample s)
{
	uint64_t last = job->bins - 1;
	int with_hi;

	if (job->type->kind == FLOAT && isnan(s.real)) {
		job->nan++;
		return;
	}
	if (compare(job, s, 0) < 0) {
		++*(job->clamp ? &job->count[0] : &job->under);
		return;
	}
	with_hi = compare(job, s, job->bins);
	if (with_hi < 0)
		job->count[bin_of(job, s)]++;
	else if (job->clamp || (with_hi == 0 && job->closed))
		job->count[last]++;
	else
		job->over++;
}

/* ---- inputs ---- */

static unsigned char *read_file(const char *name, uint64_t *bytes)
{
	FILE *file = fopen(name, "rb");
	unsigned char *data;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		fail(FAIL_SYSTEM, name, "cannot be read");
	rewind(file);
	data = take_memory((size_t)size, 1);
	if (fread(data, 1, (size_t)size, file) != (size_t)size)
		fail(FAIL_SYSTEM, name, "cannot be read");
	fclose(file);
	*bytes = (uint64_t)size;
	return data;
}

static void count_file(struct job *job, const char *name)
{
	uint64_t size = job->type->bytes;
	uint64_t bytes, at;
	unsigned char *data = read_file(name, &bytes);

	if (bytes < job->skip)
		fail(FAIL_DATA, name, "ends before the bytes to skip have passed");
	for (at = job->skip; job->left && bytes - at >= size; at += size) {
		count_sample(job, decode(job, data + at));
		job->left--;
	}
	if (job->left && at < bytes && !job->ignore_tail)
		fail(FAIL_DATA, name, "ends inside a record");
	free(data);
}

/* ---- output ---- */

/* The quotient nearest to a / n, ties to even, by long division: bits are
 * drawn until there are more than the 53 of a binary64, then rounded once. */
static double nearest_real(wide a, uint64_t n)
{
	bool negative = a < 0;
	wide quotient = (negative ? -a : a) / (wide)n;
	wide rest = (negative ? -a : a) % (wide)n;
	int exponent = 0;
	bool more, half, odd;

	while (quotient < (wide)1 << 54) {
		rest *= 2;
		quotient = quotient * 2 + (rest >= (wide)n);
		if (rest >= (wide)n)
			rest -= (wide)n;
		exponent--;
	}
	more = rest != 0;
	while (quotient >= (wide)1 << 54) {
		more |= quotient & 1;
		quotient /= 2;
		exponent++;
	}
	half = quotient & 1;
	odd = quotient >> 1 & 1;
	quotient = quotient / 2 + (half && (more || odd));
	return ldexp((double)quotient, exponent + 1) * (negative ? -1 : 1);
}

/* The fewest significant digits that read back, written as %.15g would write
 * them: 100000, not 1e+05. 15 digits say whatever fewer can, except among the
 * denormals. The nearest decimal is not always the one that reads back: its
 * neighbours in the last digit are tried too, which matters at powers of two. */
static void format_real(char *text, size_t size, double x)
{
	int p, up;

	if (x == 0)
		x = 0;	/* not -0 */
	for (p = fabs(x) < 0x1p-1022 ? 1 : 15; p <= 17; p++) {
		for (up = 0; up <= 1; up++) {
			char *last;

			snprintf(text, size, "%.*g", p, x);
			if (up) {
				snprintf(text, size, "%.*e", p - 1, x);
				last = strchr(text, 'e') - 1;
				if (*last < '0' || *last > '8')
					continue;
				++*last;
			}
			if (strtod(text, NULL) == x)
				return;
		}
	}
	abort();	/* 17 digits always read back */
}

static void format_whole(char *text, size_t size, wide x)
{
	char digits[64];
	size_t at = sizeof(digits);
	bool negative = x < 0;

	digits[--at] = '\0';
	do {
		int digit = (int)(x % 10);

		digits[--at] = (char)('0' + abs(digit));
		x /= 10;
	} while (x);
	if (negative)
		digits[--at] = '-';
	snprintf(text, size, "%s", digits + at);
}

static void format_edge(const struct job *job, char *text, size_t size, uint64_t i)
{
	wide n = (wide)job->bins;

	if (!job->exact)
		format_real(text, size, job->edge[i]);
	else if (edge_times_bins(job, i) % n == 0)
		format_whole(text, size, edge_times_bins(job, i) / n);
	else
		format_real(text, size, nearest_real(edge_times_bins(job, i), job->bins));
}

static void put_row(const struct job *job, const char *bin, const char *lower,
		    const char *upper, uint64_t count)
{
	char c = job->separator;

	printf("%s%c%s%c%s%c%llu\n", bin, c, lower, c, upper, c,
	       (unsigned long long)count);
}

static void put_histogram(const struct job *job)
{
	char c = job->separator;
	char bin[32], lower[64], upper[64];

	if (job->header)
		printf("bin%clower%cupper%ccount\n", c, c, c);
	if (job->flow) {
		format_edge(job, upper, sizeof(upper), 0);
		put_row(job, "under", "-inf", upper, job->under);
	}
	for (uint64_t i = 0; i < job->bins; i++) {
		if (job->nonzero && !job->count[i])
			continue;
		snprintf(bin, sizeof(bin), "%llu", (unsigned long long)i);
		format_edge(job, lower, sizeof(lower), i);
		format_edge(job, upper, sizeof(upper), i + 1);
		put_row(job, bin, lower, upper, job->count[i]);
	}
	if (job->flow) {
		format_edge(job, lower, sizeof(lower), job->bins);
		put_row(job, "over", lower, "inf", job->over);
		put_row(job, "nan", "nan", "nan", job->nan);
	}
	if (fflush(stdout) || ferror(stdout))
		fail(FAIL_SYSTEM, "standard output", "cannot be written");
}

/* ---- options ---- */

static void parse_type(struct job *job, const char *text)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t n = strlen(types[i].name);
		const char *order = text + n;

		if (strncmp(text, types[i].name, n))
			continue;
		if (strcmp(order, "") && strcmp(order, "le") && strcmp(order, "be"))
			continue;
		job->type = &types[i];
		job->big_endian = !strcmp(order, "be");
		return;
	}
	fail(FAIL_USAGE, text, "unknown type");
}

static uint64_t parse_count(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!isdigit((unsigned char)text[0]) || *end)
		fail(FAIL_USAGE, text, "not a number");
	return n;
}

/* [-]digits[.digits][e[+-]digits], read as digits * 10^scale. */
static struct bound parse_bound(const char *text)
{
	struct bound b = { 0, 0, false, false };
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
		scale = 0;	/* zero, however many places it is written with */
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
	return (struct bound){ x, (double)x, true, false };
}

static void full_range(struct job *job)
{
	unsigned bits = 8 * job->type->bytes;

	if (job->type->kind == FLOAT) {
		int e = job->type->exponent_bits;
		uint64_t infinity = (((uint64_t)1 << e) - 1) << (bits - 1 - (unsigned)e);

		job->hi.real = decode_float(infinity - 1, (int)bits, e);
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

static void set_range(struct job *job, const char *text)
{
	char lo[1024];
	const char *colon = text ? strchr(text, ':') : NULL;

	if (!text) {
		if (job->type->kind == FLOAT)
			fail(FAIL_USAGE, "range", "float samples need one here");
		job->lo = whole_bound(0);
		job->hi = whole_bound((wide)job->bins);
	} else if (!strcmp(text, "full")) {
		full_range(job);
	} else {
		if (!colon || (size_t)(colon - text) >= sizeof(lo))
			fail(FAIL_USAGE, text, "not a range");
		snprintf(lo, sizeof(lo), "%.*s", (int)(colon - text), text);
		job->lo = parse_bound(lo);
		job->hi = parse_bound(colon + 1);
	}
	job->exact = job->type->kind != FLOAT && job->lo.is_whole && job->hi.is_whole;
	if (job->exact && (job->lo.is_vast || job->hi.is_vast))
		fail(FAIL_USAGE, text, "whole numbers end at 2^96 here");
	if (job->exact ? job->lo.whole >= job->hi.whole : !(job->lo.real < job->hi.real))
		fail(FAIL_USAGE, text ? text : "range", "LO must be below HI");
	if (!job->exact)
		job->edge = linspace(job->lo.real, job->hi.real, job->bins);
}

/* Returns the index of the first FILE. */
static int parse_options(struct job *job, int argc, char **argv)
{
	enum { CLAMP = 256, CLOSED, IGNORE_TAIL, FLOW, NONZERO, NO_HEADER };
	static const struct option longs[] = {
		{ "clamp", no_argument, NULL, CLAMP },
		{ "closed", no_argument, NULL, CLOSED },
		{ "ignore-tail", no_argument, NULL, IGNORE_TAIL },
		{ "flow", no_argument, NULL, FLOW },
		{ "nonzero", no_argument, NULL, NONZERO },
		{ "no-header", no_argument, NULL, NO_HEADER },
		{ NULL, 0, NULL, 0 },
	};
	const char *range = NULL;
	int option;

	parse_type(job, "u32");
	while ((option = getopt_long(argc, argv, "t:b:r:S:n:f:", longs, NULL)) != -1) {
		switch (option) {
		case 't': parse_type(job, optarg); break;
		case 'b': job->bins = parse_count(optarg); break;
		case 'r': range = optarg; break;
		case 'S': job->skip = parse_count(optarg); break;
		case 'n': job->left = parse_count(optarg); break;
		case 'f': job->separator = strcmp(optarg, "tsv") ? ',' : '\t'; break;
		case CLAMP: job->clamp = true; break;
		case CLOSED: job->closed = true; break;
		case IGNORE_TAIL: job->ignore_tail = true; break;
		case FLOW: job->flow = true; break;
		case NONZERO: job->nonzero = true; break;
		case NO_HEADER: job->header = false; break;
		default: exit(FAIL_USAGE);
		}
	}
	if (job->bins < 1 || job->bins > MAX_BINS)
		fail(FAIL_USAGE, "bins", "1 to 2^28");
	if (optind == argc)
		fail(FAIL_USAGE, "FILE", "missing");
	set_range(job, range);
	return optind;
}

int main(int argc, char **argv)
{
	struct job job = {
		.bins = 256, .left = UINT64_MAX, .header = true, .separator = ',',
	};
	int first = parse_options(&job, argc, argv);

	job.count = take_memory((size_t)job.bins, sizeof(*job.count));
	/* What follows the last record asked for is not looked at. */
	for (int i = first; i < argc && job.left; i++)
		count_file(&job, argv[i]);
	put_histogram(&job);
	free(job.edge);
	free(job.count);
	return 0;
}
