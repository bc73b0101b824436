/* SPDX-License-Identifier: MIT */
/*
 * edges and binning: for any type, bins, range, list and modulus, every sample falls in the cell
 * found by comparing it with the edges. This file computes the edges itself: linspace in binary64,
 * rationals in 128 bits. A spec is refused exactly when it should be. test_edges runs this on
 * inputs from a seed.
 */
#include "bins/edges.h"

#include <assert.h>
#include <float.h>

#include "count/cells.h"
#include "fuzz.h"

/* A 64-bit sample must fit a long double, so that comparing it with a binary64 is exact. */
static_assert(LDBL_MANT_DIG >= 64, "no exact comparison on this machine");

static const char *const TYPES[] = {"u8",    "i8",    "u16",   "i16",   "u24",    "i24",   "u32",
				    "i32",   "u64",   "i64",   "f16",   "bf16",   "f32",   "f64",
				    "u1bit", "u2bit", "i2bit", "i4bit", "f8e4m3", "f8e5m2"};

#define LIST_MOST 4096u
static double list[LIST_MOST + 1];

/* Samples that were tried, by type (integer or float) and kind of bins. */
static unsigned long reached[2][BIN_KINDS];

struct plain { /* the definition */
	uint32_t bins;
	bool rational, listed, residues, closed;
	int128_t lo, width; /* rational: edge i is (lo bins + i width) / bins */
	double first, last; /* neither rational nor listed: linspace(first, last, bins + 1) */
};

/* The value of a sample: a whole number, or a binary64. */
struct value {
	bool is_float;
	int128_t whole;
	double x;
};

/* Return edge i, if edges are not rational. */
static double real_edge(const struct plain *p, uint32_t i)
{
	const double lo = p->first, hi = p->last, range = hi - lo;
	volatile double y = i; /* each operation rounds to binary64 */

	if (p->listed)
		return list[i];
	if (i == p->bins)
		return hi;
	if (isinf(range)) { /* linspace itself overflows: do the same at half the scale */
		y = y * ((hi / 2 - lo / 2) / p->bins);
		y = y + lo / 2;
		return y * 2;
	}
	if (range / p->bins == 0) {
		y = y / p->bins;
		y = y * range;
	} else {
		y = y * (range / p->bins);
	}
	return y + lo;
}

/* Return the sign of value - edge i. */
static int against(const struct plain *p, const struct value *v, uint32_t i)
{
	if (p->rational) {
		const int128_t left = v->whole * p->bins,
			       right = p->lo * p->bins + (int128_t)i * p->width;
		return (left > right) - (left < right);
	}
	const long double left = v->is_float ? (long double)v->x : (long double)v->whole;
	const long double right = (long double)real_edge(p, i);
	return (left > right) - (left < right);
}

/* Return the cell of a value in the finished histogram, folded, by bisection. */
static uint32_t plain_cell(const struct plain *p, const struct value *v)
{
	uint32_t low = 0, high = p->bins;

	if (p->residues)
		return (uint32_t)((v->whole % p->bins + p->bins) % p->bins);
	if (v->is_float && isnan(v->x))
		return p->bins + 3;
	if (against(p, v, 0) < 0)
		return p->bins + 1;
	const int top = against(p, v, p->bins);
	if (top > 0 || (top == 0 && !p->closed))
		return p->bins + 2;
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		if (against(p, v, middle) < 0)
			high = middle;
		else
			low = middle;
	}
	return low;
}

static uint32_t folded(const struct edges *e, uint32_t cell)
{
	const uint32_t n = e->binning.bins;

	if (cell != n)
		return cell;
	return e->edge_cell == EDGE_IS_LAST ? n - 1 : e->edge_cell == EDGE_IS_UNDER ? n + 1 : n + 2;
}

static double float_of(const struct sample_type *t, uint64_t bits)
{
	double x;
	float f;
	const uint32_t low = (uint32_t)bits;

	if (t->code_bytes <= 2)
		return sample_value(t, low & ((1u << t->bits) - 1));
	if (t->code_bytes == 4) {
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	}
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static struct value value_of(const struct sample_type *t, uint64_t bits)
{
	struct value v = {.is_float = t->kind == SAMPLE_FLOAT};
	const unsigned width = t->bits;

	if (v.is_float) {
		v.x = float_of(t, bits);
	} else {
		v.whole = (int128_t)bits;
		if (t->kind == SAMPLE_SIGNED && bits >> (width - 1) & 1)
			v.whole -= (int128_t)1 << width;
	}
	return v;
}

/* Return the cell by the counting loop for the type, if there is one, or by the sample's code. */
static uint32_t cell_of(const struct edges *e, const struct sample_type *t, uint64_t bits)
{
	unsigned char sample[8];
	uint32_t cell = UINT32_MAX;

	if (t->code_bytes <= 2)
		return edges_cell_of_code(e, t, (uint32_t)bits);
	for (uint32_t i = 0; i < t->code_bytes; i++)
		sample[i] = (unsigned char)(bits >> 8 * (t->big ? t->code_bytes - 1 - i : i));
	cells_best()->cells[cells_load(t)][e->binning.kind](&e->binning, sample, 1, &cell);
	return cell;
}

static void try_sample(const struct edges *e, const struct plain *p, const struct sample_type *t,
		       uint64_t bits)
{
	bits &= UINT64_MAX >> (64 - t->bits);
	const struct value v = value_of(t, bits);
	const uint32_t got = folded(e, cell_of(e, t, bits)), expected = plain_cell(p, &v);

	reached[v.is_float][e->binning.kind]++;
	REQUIRE(got == expected, "%s %#llx (%.17g): cell %lu, not %lu of %lu, kind %lu", t->name,
		(unsigned long long)bits, v.is_float ? v.x : (double)v.whole, (unsigned long)got,
		(unsigned long)expected, (unsigned long)p->bins, (unsigned long)e->binning.kind);
}

static bool edge_fits(const struct plain *p, uint32_t i, double *x)
{
	*x = p->rational ? plain_ratio(p->lo * p->bins + (int128_t)i * p->width, p->bins)
			 : real_edge(p, i);
	return isfinite(*x);
}

/* Try samples at edge i and next to it. */
static void try_edge(const struct edges *e, const struct plain *p, const struct sample_type *t,
		     uint32_t i)
{
	double x;

	if (!edge_fits(p, i, &x))
		return;
	if (t->kind != SAMPLE_FLOAT) {
		int128_t whole = p->rational         ? p->lo + (int128_t)i * p->width / p->bins
				 : fabs(x) < 0x1p100 ? (int128_t)x
						     : 0;
		for (int128_t near = whole - 2; near <= whole + 2; near++)
			if (near >= sample_min(t) && near <= sample_max(t))
				try_sample(e, p, t, (uint64_t)near);
		return;
	}
	const float f = fabs(x) > (double)FLT_MAX ? FLT_MAX : (float)x;
	uint64_t bits = 0;
	uint32_t low;
	if (t->code_bytes == 8) {
		memcpy(&bits, &x, sizeof(bits));
	} else if (t->code_bytes == 4) {
		memcpy(&low, &f, sizeof(low));
		bits = low;
	} else { /* find the code by bisection: magnitudes are in the order of their codes */
		uint32_t code = 0;
		for (uint32_t step = 1u << (t->bits - 2); step > 0; step /= 2)
			code += sample_value(t, code + step) <= fabs(x) ? step : 0;
		bits = code | (x < 0 ? 1u << (t->bits - 1) : 0);
	}
	for (uint64_t near = 0; near <= 4; near++)
		try_sample(e, p, t, bits + near - 2);
}

/* Check the edge as a number and as text, and that it is not below the edge before it. */
static void check_edge(const struct edges *e, const struct plain *p, uint32_t i)
{
	char text[NUMBER_TEXT];
	double x;

	REQUIRE(edge_fits(p, i, &x), "edge %lu is %g", (unsigned long)i, x);
	REQUIRE(edges_value(e, i) == x, "edge %lu is %a, not %a", (unsigned long)i,
		edges_value(e, i), x);
	const double before = i > 0 ? edges_value(e, i - 1) : -INFINITY;
	REQUIRE(p->rational ? before <= x : before < x, "edge %lu is not above the last",
		(unsigned long)i);
	edges_format(e, i, text);
	REQUIRE(strtod(text, NULL) == x, "edge %lu, %a, is printed as %s", (unsigned long)i, x,
		text);
}

/* Return x as number_parse would read it, printed in full. */
static struct number of_double(double x)
{
	struct number n = {.value = x, .whole = x == floor(x)};

	n.exact = n.whole && fabs(x) < 0x1p96;
	n.integer = n.exact ? (int128_t)x : 0;
	return n;
}

/* Take a whole number of any size, a fraction, a power of two, or any binary64. */
static struct number take_number(struct bytes *b)
{
	const unsigned how = (unsigned)take(b, 1);
	struct number n = {.value = 0};

	switch (how % 6) {
	case 0:
		n.integer = (int128_t)take(b, 1);
		break;
	case 1:
		n.integer = (int64_t)take(b, 8) >> (how / 6);
		break;
	case 2:
		n.integer = ((int128_t)1 << (how / 6 * 3)) + (int8_t)take(b, 1);
		break;
	case 3:
		n.integer = (int128_t)((uint128_t)take(b, 8) << 64 | take(b, 8)) >> 32;
		break;
	case 4:
		n.value = (double)(int32_t)take(b, 4) / (double)(1 + take(b, 1));
		break;
	default:
		n.value = take_double(b);
		break;
	}
	if (how % 6 >= 4)
		return of_double(isfinite(n.value) ? n.value : 0.5);
	n.integer = how & 128 ? -n.integer : n.integer;
	n.value = plain_ratio(n.integer, 1);
	n.whole = true;
	n.exact = n.integer < WHOLE_LIMIT && n.integer > -WHOLE_LIMIT;
	return n;
}

/*
 * Take any upper bound, or one so few binary64 numbers above LO that a bin is about as wide as the
 * gap between two of them: a guess is then just good enough, or just not.
 */
static struct number take_hi(struct bytes *b, const struct number *lo, uint32_t bins)
{
	if (b->size == 0 || *b->data < 192)
		return take_number(b);
	const unsigned how = (unsigned)take(b, 1);
	const double ulp = nextafter(fabs(lo->value), INFINITY) - fabs(lo->value);
	const double steps = ceil(bins * (double)(1 + take(b, 1)) / (how % 2 ? 4 : 64));
	const double hi = lo->value + steps * ulp;
	return of_double(isfinite(hi) ? hi : DBL_MAX);
}

static uint32_t take_bins(struct bytes *b)
{
	const unsigned how = (unsigned)take(b, 1);
	uint32_t bins;

	if (how % 4 == 0)
		bins = (uint32_t)take(b, 1);
	else if (how % 4 == 1)
		bins = (uint32_t)1 << how / 4 % 29;
	else if (how % 4 == 2)
		bins = (uint32_t)take(b, 2);
	else
		bins = (uint32_t)take(b, 4) % (BINS_MAX + 1);
	return bins == 0 ? 1 : bins;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Set the list to edges of one shape; some edges may be equal, or, rarely, fall. */
static void take_list(struct bytes *b, uint32_t bins)
{
	const unsigned shape = (unsigned)take(b, 1);
	const double lo = take_number(b).value, hi = take_number(b).value,
		     from = isfinite(lo) ? lo : 0, to = isfinite(hi) ? hi : 1;

	for (uint32_t i = 0; i <= bins; i++) {
		const double part = (double)i / bins;
		list[i] = shape % 6 == 0   ? from + i                              /* regular */
			  : shape % 6 == 1 ? from * (1 - part) + to * part         /* nearly so */
			  : shape % 6 == 2 ? ldexp(1 + part, (int)(i % 128) - 64)  /* ratios */
			  : shape % 6 == 3 ? ldexp(from + i, -(int)(shape / 8))    /* crowded */
			  : shape % 6 == 4 ? nextafter(i ? list[i - 1] : from, to) /* neighbours */
					   : take_number(b).value;
		if (!isfinite(list[i]))
			list[i] = i;
	}
	/* Crowded between two distant ends. */
	if (shape % 6 == 3 && bins > 2) {
		list[0] = fmin(from, -fabs(to));
		list[bins] = fmax(from + bins, fabs(to));
	}
	if (shape < 250)
		qsort(list, bins + 1, sizeof(*list), by_value);
}

/* Remove duplicates from the list. */
static uint32_t unique(uint32_t bins)
{
	uint32_t kept = 0;

	for (uint32_t i = 1; i <= bins; i++)
		if (list[i] != list[kept])
			list[++kept] = list[i];
	if (kept == 0)
		list[++kept] = fmax(list[0] + 1, fabs(list[0]) * 2);
	return isfinite(list[kept]) ? kept : 0;
}

/* Are all edges of a range different? They must be, if bins are wide. */
static bool rises(const struct plain *p)
{
	const double most = fmax(fabs(p->first), fabs(p->last));
	const double gap = most - nextafter(most, 0);

	if (!p->listed && p->last / p->bins - p->first / p->bins > 16 * gap && gap > 0x1p-1060)
		return true;
	for (uint32_t i = 0; i < p->bins; i++)
		if (!(real_edge(p, i) < real_edge(p, i + 1)))
			return false;
	return true;
}

/* Return the result that edges_init must have, and the edges if it accepts them. */
static bool plain_init(struct plain *p, const struct axis_spec *spec, const struct sample_type *t)
{
	const bool is_float = t->kind == SAMPLE_FLOAT;

	*p = (struct plain){.bins = spec->bins, .closed = spec->closed};
	p->listed = spec->kind == AXIS_EDGES;
	p->residues = spec->kind == AXIS_MOD;
	if (p->listed)
		return rises(p);
	if (p->residues) {
		p->rational = true;
		p->width = spec->bins;
		return !is_float && !spec->closed;
	}
	if (spec->full && is_float) {
		const double most = t->code_bytes == 8   ? DBL_MAX
				    : t->code_bytes == 4 ? (double)FLT_MAX
				    : t->mantissa == 10  ? 65504
				    : t->mantissa == 3   ? 448
				    : t->mantissa == 2   ? 57344
							 : 0x1.fep127;
		p->first = -most;
		p->last = most;
		p->closed = true;
		return true;
	}
	if (spec->full || spec->kind == AXIS_VALUES) {
		p->rational = true;
		p->lo = spec->full && t->kind == SAMPLE_SIGNED ? -((int128_t)1 << (t->bits - 1))
							       : 0;
		p->width = spec->full ? (int128_t)1 << t->bits : spec->bins;
		return true;
	}
	if (!is_float && spec->lo.whole && spec->hi.whole) {
		p->rational = true;
		p->lo = spec->lo.integer;
		p->width = spec->hi.integer - spec->lo.integer;
		return spec->lo.exact && spec->hi.exact && p->width > 0;
	}
	p->first = spec->lo.value;
	p->last = spec->hi.value;
	return p->first < p->last && rises(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, size};
	struct sample_type type;
	struct edges edges;
	struct plain plain;
	const char *why = NULL;
	char name[16];
	bool pair;

	const unsigned which = (unsigned)take(&b, 1), flags = (unsigned)take(&b, 1);
	snprintf(name, sizeof(name), "%s%s", TYPES[which % 20], which & 128 ? "be" : "");
	REQUIRE(sample_type_named(&type, &pair, name) == 0 && !pair, "%s", name);
	struct axis_spec spec = {.bins = take_bins(&b), .closed = flags >> 7};
	spec.kind = flags % 8 < 2                                  ? AXIS_EDGES
		    : flags % 64 == 2                              ? AXIS_MOD
		    : flags % 64 == 3 && type.kind != SAMPLE_FLOAT ? AXIS_VALUES
								   : AXIS_RANGE;
	spec.full = spec.kind == AXIS_RANGE && flags % 8 == 4;
	if (spec.kind == AXIS_EDGES) {
		spec.list = list;
		spec.bins = 1 + (spec.bins - 1) % LIST_MOST;
		take_list(&b, spec.bins);
		spec.bins = flags / 8 % 8 == 0 ? spec.bins : unique(spec.bins);
		if (spec.bins == 0)
			return 0;
	}
	if (spec.kind == AXIS_RANGE && !spec.full) {
		spec.lo = take_number(&b);
		spec.hi = take_hi(&b, &spec.lo, spec.bins);
		/* The edges of these may have to be tried one by one. */
		if (type.kind == SAMPLE_FLOAT || !spec.lo.whole || !spec.hi.whole)
			spec.bins = spec.bins > 1 << 22 ? spec.bins >> 6 : spec.bins;
	}
	const bool accepted = edges_init(&edges, &spec, &type, &why) == 0;
	REQUIRE(accepted == plain_init(&plain, &spec, &type),
		"%s, %lu bins from %.17g to %.17g: %s", name, (unsigned long)spec.bins,
		spec.lo.value, spec.hi.value, accepted ? "accepted" : why);
	if (!accepted)
		return 0;
	REQUIRE((edges.form == EDGES_RATIONAL) == plain.rational && edges.closed == plain.closed &&
			edges.binning.bins == spec.bins,
		"%s: not the edges asked for", name);

	/* Both ends always; every edge if the bins are few; else edges that the input chooses. */
	const uint32_t all = spec.bins < 16 ? spec.bins : 4;
	for (uint32_t i = 0; i <= all; i++) {
		check_edge(&edges, &plain, i);
		check_edge(&edges, &plain, spec.bins - i);
		try_edge(&edges, &plain, &type, i);
		try_edge(&edges, &plain, &type, spec.bins - i);
	}
	while (b.size > 0) {
		const uint32_t i = (uint32_t)take(&b, 4) % (spec.bins + 1);
		check_edge(&edges, &plain, i);
		try_edge(&edges, &plain, &type, i);
		try_sample(&edges, &plain, &type, take(&b, 8));
	}
	edges_free(&edges);
	return 0;
}
