/* SPDX-License-Identifier: MIT */
/*
 * edges and binning: for every type and every kind of bins, samples on the edges, beside them
 * and anywhere go where the definition says: edge[i] <= x < edge[i+1], compared as numbers.
 * The edges are computed here anew: linspace in binary64, rationals in 128 bits.
 */
#include "bins/edges.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* A 64-bit sample must fit a long double: the comparison with a binary64 is then exact. */
static_assert(LDBL_MANT_DIG >= 64, "no exact comparison on this machine");

enum { UNDER = -1, OVER = -2, NOT = -3 }; /* the cell of a sample that is in no bin; NOT: NaN */

static uint64_t state = 0x6564676573;
static const char *shown; /* the spec that is tested, for messages */
static char shown_text[160];
static unsigned long reached[2][BIN_KINDS + 1]; /* by float or integer type, by kind */

struct plain { /* the definition, the slow way */
	bool rational, closed;
	int128_t lo, width; /* rational */
	double *edge;       /* else */
	uint32_t bins;
};

static void linspace(struct plain *p, double lo, double hi)
{
	const double delta = hi - lo, step = delta / p->bins;

	p->edge = malloc(((size_t)p->bins + 1) * sizeof(double));
	for (uint32_t i = 0; i < p->bins; i++) {
		volatile double y = i; /* each operation rounds to binary64, as NumPy's arrays do */
		if (isinf(delta)) {    /* where NumPy gives up: the same at half the scale */
			y = y * ((hi / 2 - lo / 2) / p->bins);
			y = y + lo / 2;
			y = y * 2;
		} else {
			y = step == 0 ? y / p->bins : y * step;
			y = step == 0 ? y * delta : y;
			y = y + lo;
		}
		p->edge[i] = y;
	}
	p->edge[p->bins] = hi;
}

/* The largest i below N with edge[i] <= x. */
static int64_t last_not_above(const struct plain *p, long double x)
{
	int64_t low = 0, high = p->bins;

	while (high - low > 1) {
		const int64_t middle = (low + high) / 2;
		if ((long double)p->edge[middle] <= x)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int64_t place_integer(const struct plain *p, int128_t x)
{
	if (p->rational) {
		if (x < p->lo)
			return UNDER;
		if (x > p->lo + p->width || (x == p->lo + p->width && !p->closed))
			return OVER;
		const int128_t bin = (x - p->lo) * p->bins / p->width;
		return (int64_t)(bin < p->bins ? bin : p->bins - 1);
	}
	const long double value = (long double)x;
	if (value < (long double)p->edge[0])
		return UNDER;
	const long double hi = (long double)p->edge[p->bins];
	if (value > hi || (value == hi && !p->closed))
		return OVER;
	return last_not_above(p, value);
}

static int64_t place_float(const struct plain *p, double x)
{
	if (isnan(x))
		return NOT;
	if (x < p->edge[0])
		return UNDER;
	if (x > p->edge[p->bins] || (x == p->edge[p->bins] && !p->closed))
		return OVER;
	return last_not_above(p, (long double)x);
}

/* A cell as the finished histogram shows it. */
static int64_t fold(const struct edges *e, uint32_t cell)
{
	const struct binning *b = &e->binning;

	if (cell == b->bins)
		return e->edge_cell == EDGE_IS_LAST    ? (int64_t)b->bins - 1
		       : e->edge_cell == EDGE_IS_UNDER ? UNDER
						       : OVER;
	return cell == cell_under(b)  ? UNDER
	       : cell == cell_over(b) ? OVER
	       : cell == cell_nan(b)  ? NOT
				      : (int64_t)cell;
}

static void try_integer(const struct edges *e, const struct plain *p, const struct sample_type *t,
			int128_t x)
{
	char text[NUMBER_TEXT];
	uint32_t cell;

	if (x < sample_min(t) || x > sample_max(t))
		return;
	const uint64_t key = (uint64_t)(x - sample_min(t));
	if (t->bytes <= 2)
		cell = edges_cell_of_code(e, t, (uint32_t)x & ((1u << 8 * t->bytes) - 1));
	else if (t->bytes < 8)
		cell = bin_key32(&e->binning, e->binning.kind, (uint32_t)key);
	else
		cell = bin_key64(&e->binning, e->binning.kind, key);
	const int64_t got = fold(e, cell), expected = place_integer(p, x);
	if (got != expected)
		number_format_integer(text, x);
	CHECK(got == expected, "%s kind %u: %s goes to %lld, not %lld", shown, e->binning.kind,
	      text, (long long)got, (long long)expected);
	reached[0][e->binning.kind]++;
}

static void try_float(const struct edges *e, const struct plain *p, const struct sample_type *t,
		      double x)
{
	int64_t got = fold(e, bin_float(&e->binning, e->binning.kind, x));

	CHECK(got == place_float(p, x), "%s kind %u: %a goes to %lld, not %lld", shown,
	      e->binning.kind, x, (long long)got, (long long)place_float(p, x));
	reached[1][e->binning.kind]++;
	if (t->bytes > 2)
		return;
	const uint32_t code = (uint32_t)check_random(&state) & 65535;
	const double half = sample_code(t, code);
	got = fold(e, edges_cell_of_code(e, t, code));
	CHECK(got == place_float(p, half), "%s: code %04x", shown, code);
}

/* Edges as they are printed: values, and texts that read back as those values. */
static void compare_edges(const struct edges *e, const struct plain *p)
{
	char text[NUMBER_TEXT];

	for (uint32_t i = 0; i <= p->bins; i++) {
		const double value = edges_value(e, i);
		edges_format(e, i, text);
		CHECK(strtod(text, NULL) == value, "%s: edge %u: %s is not %a", shown, i, text,
		      value);
		if (!p->rational) {
			CHECK(value == p->edge[i], "%s: edge %u: %a, not %a", shown, i, value,
			      p->edge[i]);
			continue;
		}
		const int128_t n = p->lo * p->bins + (int128_t)i * p->width;
		CHECK(value == number_ratio(n, p->bins), "%s: edge %u", shown, i);
		if (n % p->bins == 0) {
			char whole[NUMBER_TEXT];
			number_format_integer(whole, n / p->bins);
			CHECK(strcmp(text, whole) == 0, "%s: edge %u: %s, not %s", shown, i, text,
			      whole);
		}
	}
}

static void sweep_integer(const struct edges *e, const struct plain *p, const struct sample_type *t)
{
	const int128_t min = sample_min(t), max = sample_max(t);
	const uint32_t every = p->bins / 120 + 1;

	for (int128_t near = -2; near <= 2; near++) {
		try_integer(e, p, t, min + near);
		try_integer(e, p, t, max + near);
		try_integer(e, p, t, near);
		for (uint32_t i = 0; i <= p->bins;
		     i = i + every > p->bins && i < p->bins ? p->bins : i + every) {
			double edge = p->rational ? 0 : fmax(fmin(p->edge[i], 0x1p70), -0x1p70);
			try_integer(e, p, t,
				    (p->rational ? p->lo + (int128_t)i * p->width / p->bins
						 : (int128_t)edge) +
					    near);
		}
	}
	for (int i = 0; i < 300; i++)
		try_integer(e, p, t,
			    min + (int128_t)(check_random(&state) &
					     (uint64_t)((uint128_t)(max - min))));
}

static void sweep_float(const struct edges *e, const struct plain *p, const struct sample_type *t)
{
	static const double SPECIAL[] = {0.0,          -0.0,          DBL_MAX, -DBL_MAX,
					 DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_MIN, FLT_MAX,
					 -FLT_MAX,     FLT_TRUE_MIN,  1,       -1};
	const uint32_t every = p->bins / 120 + 1;
	const double inf = (double)INFINITY;

	for (size_t i = 0; i < sizeof(SPECIAL) / sizeof(SPECIAL[0]); i++)
		try_float(e, p, t, SPECIAL[i]);
	try_float(e, p, t, inf);
	try_float(e, p, t, -inf);
	try_float(e, p, t, (double)NAN);
	try_float(e, p, t, -(double)NAN);
	for (uint32_t i = 0; i <= p->bins;
	     i = i + every > p->bins && i < p->bins ? p->bins : i + every) {
		const double x = p->edge[i];
		try_float(e, p, t, x);
		try_float(e, p, t, nextafter(x, inf));
		try_float(e, p, t, nextafter(x, -inf));
		try_float(e, p, t, (double)(float)x);
	}
	for (int i = 0; i < 300; i++) {
		const double lo = p->edge[0], hi = p->edge[p->bins];
		const double part = (double)(check_random(&state) >> 11) * 0x1p-53;
		uint64_t bits = check_random(&state);
		double any;
		memcpy(&any, &bits, sizeof(any));
		try_float(e, p, t, lo + (hi / 2 - lo / 2) * 2 * part);
		try_float(e, p, t, any);
	}
}

static void one(const char *type, const char *lo, const char *hi, uint32_t bins, bool closed)
{
	struct edges_spec spec = {.bins = bins, .closed = closed, .kind = AXIS_RANGE};
	struct plain p = {.bins = bins, .closed = closed};
	struct sample_type t;
	struct edges e;
	const char *why = "";

	snprintf(shown_text, sizeof(shown_text), "%s -r %s:%s -b %u%s", type, lo, hi, bins,
		 closed ? " --closed" : "");
	shown = shown_text;
	sample_type_parse(&t, type);
	spec.full = lo[0] == 'f';
	if (!spec.full && (number_parse(&spec.lo, lo, strlen(lo)) != 0 ||
			   number_parse(&spec.hi, hi, strlen(hi)) != 0)) {
		CHECK(false, "%s does not parse", shown);
		return;
	}
	const bool made = edges_init(&e, &spec, &t, &why) == 0;
	bool rises = true;

	p.rational = t.kind != SAMPLE_FLOAT && (spec.full || (spec.lo.whole && spec.hi.whole));
	if (p.rational) {
		p.lo = spec.full ? sample_min(&t) : spec.lo.integer;
		p.width = (spec.full ? sample_max(&t) + 1 : spec.hi.integer) - p.lo;
	} else if (spec.full) {
		p.closed = true;
		linspace(&p, -sample_max_finite(&t), sample_max_finite(&t));
	} else {
		linspace(&p, spec.lo.value, spec.hi.value);
		for (uint32_t i = 0; i < bins; i++)
			rises &= p.edge[i] < p.edge[i + 1];
	}
	/* Refused are edges that are equal, and nothing else. */
	CHECK(made == rises, "%s: %s", shown, made ? "is not refused" : why);
	if (!made) {
		free(p.edge);
		return;
	}
	compare_edges(&e, &p);
	if (t.kind == SAMPLE_FLOAT)
		sweep_float(&e, &p, &t);
	else
		sweep_integer(&e, &p, &t);
	free(p.edge);
}

static void all_types(const char *lo, const char *hi, uint32_t bins)
{
	static const char *const TYPES[] = {"u8",  "i8",  "u16", "i16", "u24",  "i24", "u32",
					    "i32", "u64", "i64", "f16", "bf16", "f32", "f64"};

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
		/* Whole bounds past 2^96 are refused for integer types; those are tested apart. */
		one(TYPES[i], lo, hi, bins, false);
		one(TYPES[i], lo, hi, bins, true);
	}
}

static void refusals(void)
{
	static const struct {
		const char *type, *lo, *hi;
		uint32_t bins;
	} BAD[] = {
		{"u8", "5", "5", 2},
		{"u8", "6", "5", 2},
		{"f32", "5", "5", 2},
		{"f32", "1", "0.5", 2},
		{"u8", "0.5", "0.5", 1},
		{"u64", "0", "79228162514264337593543950336", 1},
		{"i64", "-79228162514264337593543950336", "0", 1},
		{"u8", "0", "1e-400", 1},
		{"f64", "0", "5e-324", 1000000},
		{"f64", "-0", "0", 1},
	};

	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		struct edges_spec spec = {.bins = BAD[i].bins, .kind = AXIS_RANGE};
		struct sample_type t;
		struct edges e;
		const char *why = NULL;
		sample_type_parse(&t, BAD[i].type);
		number_parse(&spec.lo, BAD[i].lo, strlen(BAD[i].lo));
		number_parse(&spec.hi, BAD[i].hi, strlen(BAD[i].hi));
		CHECK(edges_init(&e, &spec, &t, &why) == -1 && why, "%s %s:%s is taken",
		      BAD[i].type, BAD[i].lo, BAD[i].hi);
	}
}

int main(void)
{
	static const uint32_t BINS[] = {1, 2, 3, 7, 10, 100, 256, 1000};

	for (size_t i = 0; i < sizeof(BINS) / sizeof(BINS[0]); i++) {
		all_types("0", "256", BINS[i]);
		all_types("full", "", BINS[i]);
		all_types("-100", "1000", BINS[i]);
		all_types("-1", "1", BINS[i]);
		all_types("0.5", "77.25", BINS[i]);
		all_types("-1e-3", "0.3", BINS[i]);
	}
	all_types("3", "100003", 4096);
	all_types("0", "18446744073709551616", 1000);
	all_types("0", "18446744073709551615", 4096);
	all_types("-9223372036854775808", "9223372036854775807", 9999);
	all_types("9223372036854775000", "9223372036854776000", 999);
	all_types("18446744073709541600", "18446744073709551700", 33);
	all_types("-79228162514264337593543950335", "79228162514264337593543950335", 1000);
	all_types("0", "4294967296", 1);
	all_types("0", "4294967295", 3);
	all_types("-2147483648", "2147483648", 10000);
	all_types("0", "4294967296", 20000);
	all_types("1000", "1001", 4096); /* far more bins than values */
	all_types("-5", "-1", 4);        /* no value of the unsigned types */
	all_types("70000000000", "80000000000", 7);
	all_types("0.25", "0.75", 5); /* no whole number in between */
	all_types("-3.5", "-2.5", 3);
	all_types("254.5", "1e20", 9);
	all_types("1.5", "9223372036854775807", 100);
	all_types("9007199254740992.5", "9007199254750000.5", 1000); /* linspace rounds to even */
	all_types("1e19", "18446744073709551615.5", 12345);
	all_types("-1e300", "1.5", 100);
	for (int closed = 0; closed <= 1; closed++) {
		one("f64", "-1e308", "1.7e308", 777, closed);     /* HI - LO overflows */
		one("f64", "1", "1.0000000000000002", 5, closed); /* edges that are equal */
		one("f64", "1", "1.0000000000001", 400, closed);
		one("f64", "0", "1e-310", 10, closed);
		one("f64", "0", "5e-324", 1, closed);
		one("f64", "1e15", "1.0000000000000020e15", 1000, closed);
		one("f32", "0", "1e-44", 7, closed);
		one("f32", "1e38", "1e39", 1000, closed);
		one("f64", "0", "1", 100003, closed);
		one("f64", "-1e-300", "1e300", 1000, closed);
	}
	refusals();
	static const int REACHED[2][BIN_KINDS] = {{1, 1, 1, 1, 1, 1}, {0, 0, 0, 1, 1, 0}};
	for (int f = 0; f < 2; f++)
		for (int k = 0; k < BIN_KINDS; k++)
			CHECK((reached[f][k] > 0) == REACHED[f][k],
			      "kind %d of %s types: %lu samples", k, f ? "float" : "integer",
			      reached[f][k]);
	return check_report();
}
