/* SPDX-License-Identifier: MIT */
/* bins: the bin of a sample, found by comparing real numbers. */
#include <math.h>

#include "oracle.h"

/* ---- bins that follow from the samples ---- */

/* Return floor(x / 2^k) for a float, from its digits: x is a whole number times 2^e. */
static wide floor_of_real(double x, int k)
{
	int e;
	wide digits = (wide)ldexp(frexp(x, &e), 53);

	for (e -= 53; e > k; e--)
		digits *= 2; /* k is not below the last place of the largest sample */
	for (; e < k && digits != 0 && digits != -1; e++)
		digits = digits >= 0 ? digits / 2 : -((1 - digits) / 2);
	return digits;
}

static wide floor_of(const struct job *job, struct sample s, int k)
{
	wide x = s.whole;

	if (job->type->kind == FLOAT)
		return floor_of_real(s.real, k);
	for (; k; k--)
		x = x >= 0 ? x / 2 : -((1 - x) / 2);
	return x;
}

/* Return the exponent of one unit in the last place of x, in this type. */
static int last_place(const struct type *type, double x)
{
	/* with the digit that is not stored */
	int digits = (int)type->bits - type->exponent_bits;
	int lowest = 3 - (1 << (type->exponent_bits - 1)) - digits;
	int e;

	if (x == 0)
		return lowest;
	frexp(x, &e);
	return e - digits < lowest ? lowest : e - digits;
}

static bool is_less(const struct job *job, struct sample a, struct sample b)
{
	return job->type->kind == FLOAT ? a.real < b.real : a.whole < b.whole;
}

static int sign_of(const struct job *job, struct sample s)
{
	if (job->type->kind == FLOAT)
		return (s.real > 0) - (s.real < 0);
	return (s.whole > 0) - (s.whole < 0);
}

bool is_whole(const struct job *job, struct sample s)
{
	return job->text && job->type->kind == FLOAT && fabs(s.real) <= 9007199254740992.0 &&
	       fmod(s.real, 1) == 0;
}

void note_extremes(struct job *job, struct sample s)
{
	job->fraction |= !s.missing && !isnan(s.real) && !is_whole(job, s);
	if (s.missing || (job->type->kind == FLOAT && !isfinite(s.real)))
		return;
	if (!job->finite || is_less(job, s, job->least))
		job->least = s;
	if (!job->finite || is_less(job, job->greatest, s))
		job->greatest = s;
	job->finite = true;
	if (sign_of(job, s) < 0 && (!job->negative || is_less(job, job->below, s))) {
		job->negative = true;
		job->below = s;
	}
	if (sign_of(job, s) > 0 && (!job->positive || is_less(job, s, job->above))) {
		job->positive = true;
		job->above = s;
	}
}

void set_dyadic(struct job *job)
{
	wide most = (wide)job->by.bins;

	job->bins = 0;
	if (!job->finite)
		return;
	job->k = 0;
	if (job->type->kind == FLOAT) {
		job->k = last_place(job->type,
				    fmax(fabs(job->least.real), fabs(job->greatest.real)));
		job->k = !job->fraction && job->k < 0 ? 0 : job->k;
	} else { /* edges are written as binary64 */
		while (job->greatest.whole >> job->k >= (wide)1 << 53 ||
		       -job->least.whole >> job->k >= (wide)1 << 53)
			job->k++;
	}
	while (floor_of(job, job->greatest, job->k) - floor_of(job, job->least, job->k) + 1 > most)
		job->k++;
	job->first = floor_of(job, job->least, job->k);
	job->bins = (uint64_t)(floor_of(job, job->greatest, job->k) - job->first + 1);
}

/*
 * ---- the same for ranks: the numbers of a type in order, of each sign, and zero ----
 *
 * The place of a positive float is its bits. The place of a whole number is the place of the
 * binary64 next to it towards 0, but bins without a whole number do not count: at most 2^e
 * bins do from 2^e on. The bins below 0 mirror those above it; each then includes its other edge.
 */

static wide power(int e)
{
	return (wide)1 << e;
}

/* Return the bin of a whole number from 0 on. */
static wide bin_of_whole(wide x, int k)
{
	int e = 0;
	wide octave, bin = x > 0; /* x = 0 is -1 in the mirror */

	for (; x > 0 && x >= power(e + 1); e++) {
		octave = k > 52 ? 1 : power(52 - k);
		bin += octave < power(e) ? octave : power(e);
	}
	if (k > 52) /* exponents 2^(k - 52) at a time, as binary64 stores them, with 1023 for 1 */
		return (1022 + bin) / power(k - 52);
	if (x == 0)
		return 0;
	/* the 52 bits after the first, and the bins that are left for them */
	octave = (e > 52 ? x / power(e - 52) : x * power(52 - e)) - power(52);
	octave /= power(k);
	return bin + (52 - k > e ? octave / power(52 - k - e) : octave);
}

static wide down(wide x, int k)
{
	return x >= 0 ? x / power(k) : -((power(k) - 1 - x) / power(k));
}

static wide numbered(const struct job *job, struct sample s, int k)
{
	wide sign = power((int)job->type->bits - 1), code = (wide)s.code;

	if (job->type->kind == FLOAT)
		return down(code >= sign ? sign - code : code, k);
	return s.whole >= 0 ? bin_of_whole(s.whole, k) : -1 - bin_of_whole(-1 - s.whole, k);
}

/* Return the first whole number in bin j >= 0 or after it, at most `past`. */
static double begin_of_whole(wide j, int k, wide past)
{
	wide low = 0, high = past;

	while (low < high) {
		wide middle = low + (high - low) / 2;

		if (bin_of_whole(middle, k) < j)
			low = middle + 1;
		else
			high = middle;
	}
	return (double)low;
}

static double begin_of_real(const struct job *job, wide j, int k)
{
	const struct type *type = job->type;
	double largest = largest_float(type);
	unsigned char bytes[8];
	struct sample s;

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)((j * power(k)) >> 8 * i);
	s = decode(type, false, bytes, 0);
	if (j * power(k) < power((int)type->bits - 1) && isfinite(s.real))
		return s.real;
	return largest + ldexp(1, last_place(type, largest));
}

/* Return the number at which bin j begins. */
static double begin_of(const struct job *job, wide j)
{
	bool is_signed = job->type->kind == SIGNED;
	wide up = j < 0 ? -j : j;
	double x = job->type->kind == FLOAT
			   ? begin_of_real(job, up, job->k)
			   : begin_of_whole(up, job->k, power((int)job->type->bits - is_signed));

	return j < 0 ? -x : x;
}

static wide bins_between(const struct job *job, bool any, struct sample a, struct sample b)
{
	return any ? numbered(job, b, job->k) - numbered(job, a, job->k) + 1 : 0;
}

void set_numbered(struct job *job)
{
	bool zero =
		job->finite && sign_of(job, job->least) <= 0 && sign_of(job, job->greatest) >= 0;
	double smallest = job->type->kind == FLOAT ? ldexp(1, last_place(job->type, 0)) : 1;
	wide below = 0, above = 0;
	uint64_t n = 0;

	for (job->k = 0;; job->k++) {
		below = bins_between(job, job->negative, job->least, job->below);
		above = bins_between(job, job->positive, job->above, job->greatest);
		if (below + zero + above <= (wide)job->by.bins)
			break;
	}
	job->bins = (uint64_t)(below + zero + above);
	job->edge = take_memory(job->bins + 1, sizeof(*job->edge));
	for (wide i = 0; i <= below && job->negative; i++)
		job->edge[n++] = begin_of(job, numbered(job, job->least, job->k) + i);
	if (zero && !job->negative)
		job->edge[n++] = 0;
	for (wide i = 0; i <= above && job->positive; i++) {
		double x = begin_of(job, numbered(job, job->above, job->k) + i);

		job->edge[n++] = x < smallest ? smallest : x;
	}
	if (zero && !job->positive)
		job->edge[n] = smallest;
	for (uint64_t i = 0; i <= job->bins && job->bins > 0; i++)
		job->edge[i] += 0.0; /* never -0 */
}

/* ---- bins between edges ---- */

wide edge_times_bins(const struct job *job, uint64_t i)
{
	return job->lo.whole * (wide)job->bins + (wide)i * (job->hi.whole - job->lo.whole);
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

int compare(const struct job *job, struct sample s, uint64_t i)
{
	if (job->axis == RATIONAL) {
		wide x = s.whole * (wide)job->bins;
		wide edge = edge_times_bins(job, i);

		return x < edge ? -1 : x > edge;
	}
	if (job->type->kind == FLOAT)
		return s.real < job->edge[i] ? -1 : s.real > job->edge[i];
	return compare_whole_real(s.whole, job->edge[i]);
}

/* Return the last i below N with edge[i] <= x, for LO <= x < HI. If edges coincide, all but one of
 * their bins are empty. */
uint64_t bin_of(const struct job *job, struct sample s)
{
	uint64_t low = 0, high = job->bins;

	if (job->axis == DYADIC)
		return (uint64_t)(floor_of(job, s, job->k) - job->first);
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (compare(job, s, middle) >= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- counting ---- */

static void count_between_edges(struct job *job, unsigned channel, struct sample s)
{
	uint64_t *count = job->count + channel * job->bins;
	int with_hi;

	if (compare(job, s, 0) < 0) {
		++*(job->clamp ? &count[0] : &job->under[channel]);
		return;
	}
	with_hi = compare(job, s, job->bins);
	if (with_hi < 0)
		count[bin_of(job, s)]++;
	else if (job->clamp || (with_hi == 0 && job->closed))
		count[job->bins - 1]++;
	else
		job->over[channel]++;
}

void count_sample(struct job *job, unsigned channel, struct sample s)
{
	uint64_t *count = job->count + channel * job->bins;
	wide n = (wide)job->bins;

	if (s.missing || (job->type->kind == FLOAT && isnan(s.real))) {
		job->nan[channel]++;
	} else if (job->axis == RESIDUE) {
		count[(s.whole % n + n) % n]++;
	} else if (!by_samples(job)) {
		count_between_edges(job, channel, s);
	} else if (job->type->kind == FLOAT && isinf(s.real)) {
		++*(s.real < 0 ? &job->under[channel] : &job->over[channel]);
	} else {
		count[bin_of(job, s)]++;
	}
}
