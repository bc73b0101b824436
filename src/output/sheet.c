/* SPDX-License-Identifier: MIT */
/* sheet: converting bins to cells and cells to shades; joining rows. */
#include "output/sheet.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count/keys.h"
#include "hist/figures.h"

#define TERMS 4096u
#define CELLS_ACROSS 350u /* cells in a row of SVG, over all channels */

const struct shade RAMP[SHADES] = {
	{53, 0x440154},  {54, 0x471a6c},  {55, 0x46327e},  {24, 0x3f4788},  {25, 0x375b8c},
	{30, 0x2e6e8e},  {31, 0x277f8e},  {36, 0x21918c},  {71, 0x20a187},  {77, 0x2db27d},
	{113, 0x4bc26c}, {148, 0x72cf56}, {184, 0xa0da39}, {220, 0xd0e11e}, {226, 0xfde725},
};

static double term[TERMS]; /* n log2 n */

void strip_begin(void)
{
	for (uint32_t n = 2; n < TERMS; n++)
		term[n] = n * log2(n);
}

void strip_fill(double *value, const struct strip *strip, const struct hist *hist, uint32_t channel)
{
	const uint64_t *const count = hist->count + channel * hist->stride;

	for (uint32_t i = 0; i < strip->cells; i++) {
		/* A bin that spans two cells counts for both, in proportion. */
		const struct strip_cell *const cell = &strip->cell[i];
		double sum = 0;
		for (uint32_t bin = (uint32_t)cell->begin; bin < cell->end; bin++)
			sum += (double)count[bin] *
			       (fmin(cell->end, bin + 1.0) - fmax(cell->begin, bin));
		value[i] = sum * cell->weight;
	}
}

void strip_shades(unsigned *shade, const double *value, uint32_t n, unsigned levels, bool logarithm)
{
	double most = 0, least = DBL_MAX;

	for (uint32_t i = 0; i < n; i++) {
		most = fmax(most, value[i]);
		least = value[i] > 0 ? fmin(least, value[i]) : least;
	}
	const double base = logarithm && most > 0 ? scale_below(least) : 0;
	for (uint32_t i = 0; i < n; i++) {
		const double part = value[i] <= 0 ? 0
				    : base > 0    ? log(value[i] / base) / log(most / base)
						  : value[i] / most;
		const double level = ceil(part * levels - 1e-9);
		shade[i] = value[i] <= 0    ? 0
			   : level < 1      ? 1
			   : level > levels ? levels
					    : (unsigned)level;
	}
}

double strip_entropy(const struct hist *hist, uint32_t channel)
{
	const uint64_t *const count = hist->count + channel * hist->stride;
	double sum = 0;
	uint64_t n = 0;

	for (uint32_t i = 0; i < axis_bins(&hist->axis); i++) {
		n += count[i];
		sum += count[i] < TERMS ? term[count[i]]
					: (double)count[i] * log2((double)count[i]);
	}
	return n > 0 ? fmax(log2((double)n) - sum / (double)n, 0) : 0;
}

/* Is the entropy of a row computed from codes, not from bins? Keys keep their codes, too. */
static bool entropy_is_of_codes(const struct axis *axis, const struct hist *series)
{
	return sample_is_code(&axis->type) ||
	       (series->what == SERIES_KEYS && keys_hold_codes(&axis->type));
}

bool sheet_has_entropy(const struct axis *axis, const struct hist *series)
{
	return entropy_is_of_codes(axis, series) || axis_divides(axis);
}

double sheet_bits(const struct axis *axis, const struct hist *series)
{
	const double bits =
		entropy_is_of_codes(axis, series) ? axis->type.bits : log2(axis_bins(axis));

	return fmax(bits, 1);
}

/* The figures of the curves. */
static const enum figure_id CURVES[] = {
	[CURVE_COUNT] = FIGURE_COUNT,       [CURVE_ENTROPY] = FIGURE_ENTROPY,
	[CURVE_LEAST] = FIGURE_LEAST,       [CURVE_MEAN] = FIGURE_MEAN,
	[CURVE_GREATEST] = FIGURE_GREATEST,
};

void sheet_begin(struct sheet *s, const struct hist *series, uint32_t channels,
		 const struct quantiles *asked, const struct canvas *canvas, const char *options)
{
	*s = (struct sheet){.axis = &series->axis,
			    .series = series,
			    .canvas = canvas,
			    .channels = channels,
			    .curves = asked,
			    .quantiles = asked && asked->named ? asked : NULL,
			    .options = options};
	s->width = s->quantiles ? 1 + s->quantiles->n : CURVE_WIDTH;
	if (asked)
		return;
	strip_make(&s->strip, s->axis, CELLS_ACROSS / channels);
	s->width = s->strip.cells;
}

size_t sheet_row(const struct sheet *s, double numbers[SHEET_NUMBERS], const struct hist *hist,
		 size_t path)
{
	const struct hist_flow flow = hist_flow_sum(hist);
	struct figure_value value[FIGURE_IDS];
	double *row = numbers;

	*row++ = (double)hist->samples;
	*row++ = (double)(flow.under + flow.over + flow.nan);
	*row++ = (double)path;
	for (uint32_t c = 0; c < s->channels; c++, row += s->width) {
		if (!s->curves) {
			strip_fill(row, &s->strip, hist, c);
			continue;
		}
		figure_values(value, hist, c);
		for (uint32_t i = 0; i < s->width; i++)
			row[i] = figure_real(s->quantiles && i > 0 ? figure_quantile(hist, c, i - 1)
								   : value[CURVES[i]]);
	}
	return sheet_numbers(s);
}

/* Join two rows of a channel; entropy and quantiles become their weighted means. */
static void join_numbers(const struct sheet *s, double *a, const double *b)
{
	const double n = s->curves ? a[CURVE_COUNT] + b[CURVE_COUNT] : 0;

	for (uint32_t i = 0; i < s->width && !s->curves; i++)
		a[i] += b[i];
	if (!s->curves || b[CURVE_COUNT] <= 0)
		return;
	if (a[CURVE_COUNT] <= 0) {
		memcpy(a, b, s->width * sizeof(*a));
		return;
	}
	const double share = b[CURVE_COUNT] / n;
	a[CURVE_COUNT] = n;
	for (uint32_t i = 1; i < s->width && s->quantiles; i++)
		a[i] += (b[i] - a[i]) * share;
	if (s->quantiles)
		return;
	a[CURVE_ENTROPY] += (b[CURVE_ENTROPY] - a[CURVE_ENTROPY]) * share;
	a[CURVE_MEAN] += (b[CURVE_MEAN] - a[CURVE_MEAN]) * share;
	a[CURVE_LEAST] = fmin(a[CURVE_LEAST], b[CURVE_LEAST]);
	a[CURVE_GREATEST] = fmax(a[CURVE_GREATEST], b[CURVE_GREATEST]);
}

static void join_row(const struct sheet *s, double *a, const double *b)
{
	for (uint32_t c = 0; c < s->channels; c++)
		join_numbers(s, a + (size_t)c * s->width, b + (size_t)c * s->width);
}

/* Join neighbouring rows in pairs. */
static void halve(struct sheet *s)
{
	const size_t row = (size_t)s->channels * s->width;

	for (uint32_t i = 0; i < s->rows / 2; i++) {
		memmove(s->value + i * row, s->value + 2 * i * row, row * sizeof(double));
		s->path[i] = s->path[2 * i];
		join_row(s, s->value + i * row, s->value + (2 * i + 1) * row);
	}
	s->rows /= 2; /* there were SHEET_ROWS */
	s->joined *= 2;
	s->last = s->joined;
}

int sheet_add(struct sheet *s, const double *numbers)
{
	const size_t width = (size_t)s->channels * s->width;
	const double *const row = numbers + SHEET_HEAD;

	s->samples += (uint64_t)numbers[0];
	s->out += (uint64_t)numbers[1];
	s->count++;
	if (s->rows == SHEET_ROWS && s->last == s->joined)
		halve(s);
	if (s->rows > 0 && s->last < s->joined) {
		s->last++;
		join_row(s, s->value + (s->rows - 1) * width, row);
		return 0;
	}
	/* Pages without rows stay untouched. */
	if (!s->value && !(s->value = malloc(SHEET_ROWS * width * sizeof(double))))
		return -1;
	s->path[s->rows] = (uint32_t)numbers[2];
	memcpy(s->value + s->rows++ * width, row, width * sizeof(double));
	s->last = 1;
	s->joined = s->joined > 0 ? s->joined : 1;
	return 0;
}
