/* SPDX-License-Identifier: MIT */
/* print: the histogram as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* Return the quotient nearest to a / n, ties to even, by long division: produce bits
 * until there are more than the 53 of a binary64, then round once. */
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

/* Write the fewest significant digits that read back, in the form of %.15g:
 * 100000, not 1e+05. Except among the denormals, %.15g finds every text of
 * 15 digits or fewer. The nearest decimal is not always the one that reads back:
 * its neighbours in the last digit are tried too, which matters at powers of two. */
void format_real(char *text, size_t size, double x)
{
	int p, up;

	if (isinf(x)) { /* the end of --auto's last bin may be 2^1024 */
		snprintf(text, size, "%s", x < 0 ? "-inf" : "inf");
		return;
	}
	if (x == 0)
		x = 0; /* not -0 */
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
	abort(); /* 17 digits always read back */
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

/* Bin 0's lower edge is edge 0. Without any bin (DYADIC, no finite sample) there is no edge. */
void format_edge(const struct job *job, char *text, size_t size, uint64_t i)
{
	wide n = (wide)job->bins;

	if (job->axis == RESIDUE)
		format_whole(text, size, (wide)i);
	else if (by_samples(job) && !job->finite)
		snprintf(text, size, "%s", "nan");
	else if (job->edge && job->type->kind != FLOAT && job->edge[i] == floor(job->edge[i]))
		snprintf(text, size, "%.0f", job->edge[i] + 0.0); /* all digits; never "-0" */
	else if (job->edge)
		format_real(text, size, job->edge[i]);
	else if (job->axis == DYADIC && job->type->kind == FLOAT)
		format_real(text, size, ldexp((double)(job->first + (wide)i), job->k));
	else if (job->axis == DYADIC)
		format_whole(text, size, (job->first + (wide)i) * ((wide)1 << job->k));
	else if (edge_times_bins(job, i) % n == 0)
		format_whole(text, size, edge_times_bins(job, i) / n);
	else
		format_real(text, size, nearest_real(edge_times_bins(job, i), job->bins));
}

void format_sample(const struct job *job, char *text, size_t size, struct sample s)
{
	if (job->type->kind == FLOAT)
		format_real(text, size, s.real);
	else
		format_whole(text, size, s.whole);
}

/* Print the counts of all channels, whose counters are `apart` from each other. */
static void put_row(const struct job *job, const char *bin, const char *lower, const char *upper,
		    const uint64_t *count, uint64_t apart)
{
	char c = job->separator;

	printf("%s%c%s%c%s", bin, c, lower, c, upper);
	for (unsigned i = 0; i < job->channels; i++)
		printf("%c%llu", c, (unsigned long long)count[i * apart]);
	putchar('\n');
}

static void put_names(const struct job *job)
{
	char c = job->separator;

	printf("bin%clower%cupper", c, c);
	if (job->channels == 1)
		printf("%ccount", c);
	for (unsigned i = 0; job->channels > 1 && i < job->channels; i++)
		if (job->column[0])
			printf("%c%s", c, job->column[i]);
		else
			printf("%ccount%u", c, i);
	putchar('\n');
}

static bool is_empty(const struct job *job, uint64_t bin)
{
	for (unsigned i = 0; i < job->channels; i++)
		if (job->count[i * job->bins + bin])
			return false;
	return true;
}

void put_histogram(const struct job *job)
{
	char bin[32], lower[400], upper[400];

	if (job->header)
		put_names(job);
	if (job->flow && job->axis != RESIDUE) { /* every integer has a residue */
		format_edge(job, upper, sizeof(upper), 0);
		put_row(job, "under", "-inf", upper, job->under, 1);
	}
	for (uint64_t i = 0; i < job->bins; i++) {
		if (job->nonzero && is_empty(job, i))
			continue;
		snprintf(bin, sizeof(bin), "%llu", (unsigned long long)i);
		format_edge(job, lower, sizeof(lower), i);
		format_edge(job, upper, sizeof(upper), job->axis == RESIDUE ? i : i + 1);
		put_row(job, bin, lower, upper, job->count + i, job->bins);
	}
	if (job->flow && job->axis != RESIDUE) { /* every integer has a residue */
		format_edge(job, lower, sizeof(lower), job->bins);
		put_row(job, "over", lower, "inf", job->over, 1);
		put_row(job, "nan", "nan", "nan", job->nan, 1);
	}
	if (fflush(stdout) || ferror(stdout))
		fail(FAIL_SYSTEM, "standard output", "cannot be written");
}
