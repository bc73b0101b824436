/* SPDX-License-Identifier: MIT */
/* binning: edges of every kind, and the samples at the ends of bins. */
#include "job.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- equal ratios ---- */

static double draw_positive(const struct type *t)
{
	if (t->kind == FLOAT)
		return fabs(real_of_key(t, draw_finite_key(t)));
	return (double)draw_magnitude(t->bits) + (once_in(2) ? 0.5 : 0);
}

static void draw_log(struct job *j)
{
	static const char *const plain[][2] = {
		{"1", "1024"}, {"20", "20000"},  {"0.1", "10"},   {"1e-3", "1e3"}, {"1", "1e300"},
		{"1", "2"},    {"0.5", "65536"}, {"5e-324", "1"}, {"1", "1.8e19"}, {"3", "7.5"},
	};
	size_t i = below(sizeof(plain) / sizeof(plain[0]));
	double x = draw_positive(j->type), y = draw_positive(j->type);

	snprintf(j->lo, sizeof(j->lo), "%s", plain[i][0]);
	snprintf(j->hi, sizeof(j->hi), "%s", plain[i][1]);
	if (once_in(3) && x > 0 && y > 0 && x != y) {
		snprintf(j->lo, sizeof(j->lo), "%.17g", fmin(x, y));
		snprintf(j->hi, sizeof(j->hi), "%.17g", fmax(x, y));
	} else if (once_in(4)) { /* bins of a few numbers, or empty ones */
		x = x > 0 ? x : 1;
		y = fmin(x * (1 + ldexp(1 + (double)below(100), -(int)below(54))), DBL_MAX);
		snprintf(j->lo, sizeof(j->lo), "%.17g", x);
		snprintf(j->hi, sizeof(j->hi), "%.17g", y);
	}
	if (once_in(40)) /* a usage error */
		snprintf(j->lo, sizeof(j->lo), "%s", once_in(2) ? "0" : "-1");
	j->real_lo = strtod(j->lo, NULL);
	j->real_hi = strtod(j->hi, NULL);
}

/* Return an edge to within a unit in the last place: good enough to draw samples around it. */
static double log_edge(const struct job *j, uint64_t i)
{
	long double lo = j->real_lo, ratio = j->real_hi / (lo > 0 ? lo : 1);

	return (double)(lo * powl(ratio, (long double)i / (long double)j->bins));
}

/* ---- lists ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double draw_sample_value(const struct type *t)
{
	if (t->kind == FLOAT)
		return real_of_key(t, draw_finite_key(t));
	return (double)(min_of(t) + (wide)(draw() & mask_of(t)));
}

/* Draw n numbers of one kind, in any order; some may be equal. */
static void draw_numbers(const struct job *j, double *x, uint64_t n)
{
	const struct type *t = j->type;
	double centre = draw_sample_value(t), unit = fmax(fabs(centre) * 1e-6, 1);
	uint64_t key = t->kind == FLOAT ? draw_finite_key(t) : draw() & mask_of(t);
	double scale = ldexp(1, (int)below(t->bits < 50 ? t->bits : 50));
	uint64_t sort = below(7);

	for (uint64_t i = 0; i < n; i++) {
		double part = (double)(draw() >> 11) * 0x1p-53;

		switch (sort) {
		case 0: /* regular */
			x[i] = (double)i * scale / (double)n;
			break;
		case 1: /* nearly so */
			x[i] = ((double)i + part / 2) * scale / (double)n;
			break;
		case 2: /* anywhere */
			x[i] = draw_sample_value(t);
			break;
		case 3: /* growing by a ratio, about 0 */
			x[i] = (once_in(2) ? 1 : -1) * ldexp(1 + part, (int)below(t->bits));
			break;
		case 4: /* crowded in one place, except for a few */
			x[i] = once_in(10) ? draw_sample_value(t) : centre + part * unit;
			break;
		case 5: /* neighbouring samples */
			x[i] = t->kind == FLOAT ? real_of_key(t, key + i)
						: (double)(min_of(t) + (wide)key + (wide)i);
			break;
		default: /* small whole numbers */
			x[i] = (double)below(4 * n) - (double)n;
			break;
		}
		if (!isfinite(x[i]))
			x[i] = (double)i;
	}
}

static void draw_list(struct job *j)
{
	uint64_t n = j->bins + 1, kept = 1;
	double *x;

	if (n > 3000 && !once_in(20))
		n = 2 + below(3000);
	x = malloc(n * sizeof(*x));
	if (!x)
		die("memory");
	draw_numbers(j, x, n);
	qsort(x, n, sizeof(*x), by_value);
	for (uint64_t i = 1; i < n; i++)
		if (x[i] != x[kept - 1])
			x[kept++] = x[i];
	if (kept < 2 && !once_in(10)) {
		x[1] = fabs(x[0]) * 2 + 1;
		kept = isfinite(x[1]) ? 2 : 1;
	}
	if (once_in(40) && kept > 1) /* not rising: a usage error */
		x[below(kept - 1) + 1] = x[0];
	j->edge = x;
	j->bins = kept - 1;
	j->bins_given = once_in(4);
	j->form = (enum list_form)below(2);
	if (j->form == AS_LIST && kept > 120)
		j->form = AS_FILE;
}

static void put_number(FILE *out, double x)
{
	char text[40];

	snprintf(text, sizeof(text), "%.15g", x);
	if (strtod(text, NULL) != x)
		snprintf(text, sizeof(text), "%.17g", x);
	fputs(text, out);
}

static void put_text(const struct job *j, FILE *out, bool file)
{
	static const char *const between[] = {",",     " ",   "\n",     ", ",
					      "\t \n", " , ", " # 7\n", "\n# 1, 2\n,"};
	bool mixed = once_in(2);
	uint64_t usual = below(file ? 8 : 6);

	if (file && once_in(4))
		fputs("# edges\n\n", out);
	for (uint64_t i = 0; i <= j->bins; i++) {
		if (i)
			fputs(between[mixed ? below(file ? 8 : 6) : usual], out);
		put_number(out, j->edge[i]);
	}
	if (file && !once_in(4))
		fputs("\n", out);
}

void write_edges(struct job *j, const char *folder)
{
	char name[PATH_BYTES];
	FILE *out;

	if (j->binning != EDGES)
		return;
	snprintf(name, sizeof(name), "%s/edges", folder);
	out = j->form == AS_LIST ? fmemopen(j->list, sizeof(j->list), "w") : fopen(name, "w");
	if (!out)
		die("edges");
	put_text(j, out, j->form == AS_FILE);
	if (fclose(out))
		die("edges");
	if (j->form != AS_LIST)
		snprintf(j->list, sizeof(j->list), "@%s", name);
}

/* ---- all kinds ---- */

bool is_automatic(const struct job *j)
{
	return j->binning == AUTO || j->binning == LOG_AUTO ||
	       (j->binning == DEFAULT_BINS &&
		(j->type->kind == FLOAT || (!j->bins_given && j->type->bits > 8)));
}

void draw_binning(struct job *j)
{
	j->bins_given = j->bins != 256 || once_in(2);
	switch (j->binning) {
	case DEFAULT_BINS:
		j->bins_given = once_in(3);
		if (!j->bins_given)
			j->bins = j->type->bits < 8 ? (uint64_t)1 << j->type->bits : 256;
		j->exact = true;
		j->whole_lo = j->bins_given ? 0 : min_of(j->type);
		j->whole_hi = j->whole_lo + (wide)j->bins;
		break;
	case RANGE:
		draw_range(j);
		j->bins_given |= !j->full && !j->lo[0]; /* bin = value */
		break;
	case LOG:
		draw_log(j);
		break;
	case EDGES:
		draw_list(j);
		break;
	case MOD:
		if (once_in(2))
			j->bins = 1 + draw_magnitude(once_in(10) ? 20 : 12);
		j->bins_given |= j->bins != 256;
		break;
	case AUTO:
	case LOG_AUTO:
		break;
	}
	j->tame = is_automatic(j) && !once_in(5);
}

/* Draw keys from the first to the last of a cluster, far from 0 or around it, narrow or wide. */
static void draw_cluster(struct job *j)
{
	const struct type *t = j->type;
	uint64_t centre = t->kind == FLOAT ? draw_finite_key(t) : (uint64_t)((draw() & mask_of(t)));
	uint64_t reach = draw_magnitude(once_in(2) ? t->bits - 1 : 12);
	uint64_t low = 0, high = mask_of(t);

	if (once_in(3)) /* around 0 */
		centre = t->kind == FLOAT ? sign_of(t) : key_of_whole(t, 0);
	if (t->kind == FLOAT) { /* finite */
		low = ~(infinity_of(t) | sign_of(t)) + 1;
		low &= mask_of(t);
		high = (infinity_of(t) | sign_of(t)) - 1;
	}
	j->edge_key[0] = centre - low > reach ? centre - reach : low;
	j->edge_key[1] = high - centre > reach ? centre + reach : high;
}

/*
 * Round a key towards 0 to a multiple of a power of two, which may be the end of a bin; return it
 * unchanged if that would leave the cluster.
 */
static uint64_t round_key(const struct job *j, uint64_t key)
{
	uint64_t low_bits = ((uint64_t)1 << below(j->type->bits)) - 1;
	uint64_t rounded =
		j->type->kind == FLOAT && key < sign_of(j->type) ? key | low_bits : key & ~low_bits;

	return rounded < j->edge_key[0] || rounded > j->edge_key[1] ? key : rounded;
}

static uint64_t key_of_bin(const struct job *j, uint64_t i)
{
	wide n = (wide)j->bins, x;

	switch (j->binning) {
	case LOG:
		return key_at_real(j->type, log_edge(j, i));
	case EDGES:
		return key_at_real(j->type, j->edge[i]);
	case MOD:
		x = min_of(j->type) + (wide)(draw() & mask_of(j->type));
		return key_of_whole(j->type, x - x % n);
	default:
		return key_at_edge(j, i);
	}
}

void draw_edge_keys(struct job *j)
{
	bool automatic = is_automatic(j), zeros = automatic && once_in(2);
	uint64_t zero = j->type->kind == FLOAT ? sign_of(j->type) : key_of_whole(j->type, 0);

	if (automatic) {
		draw_cluster(j);
	} else if (j->binning == MOD) {
		j->edge_key[0] = 0;
		j->edge_key[1] = mask_of(j->type);
	} else {
		j->edge_key[0] = key_of_bin(j, 0);
		j->edge_key[1] = key_of_bin(j, j->bins);
	}
	for (j->edge_keys = 2; j->edge_keys < MAX_EDGE_KEYS; j->edge_keys++) {
		uint64_t i = j->edge_keys - 1, width = j->edge_key[1] - j->edge_key[0];

		if (zeros && once_in(4)) { /* zero may be far from the cluster */
			j->edge_key[j->edge_keys] = zero;
			continue;
		}
		if (automatic) {
			j->edge_key[j->edge_keys] = round_key(
				j,
				j->edge_key[0] + (width == UINT64_MAX ? draw() : below(width + 1)));
			continue;
		}
		if (j->bins > MAX_EDGE_KEYS || j->binning == MOD)
			i = below(j->bins + 1);
		else if (i >= j->bins)
			break;
		j->edge_key[j->edge_keys] = key_of_bin(j, i);
	}
}
