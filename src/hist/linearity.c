/* SPDX-License-Identifier: MIT */
/* linearity: levels of codes from counts. */
#include "hist/linearity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/exact.h"
#include "hist/series.h"

#define PI 3.14159265358979323846

const char *linearity_refuses(const struct axis *axis, uint32_t channels)
{
	const struct edges *const e = &axis->edges;

	if (axis->type.kind == SAMPLE_FLOAT || axis->type.code_bytes > 2)
		return "needs integers of up to 16 bits, the codes of an ADC";
	if (layout_is_many(channels))
		return "takes up to 64 channels";
	if (!edges_are_values(e) || !axis_kind_of(axis)->ordered || e->closed)
		return "needs a bin for each code: -b 4096 for 12 bits, -r full -b 65536 for i16";
	return NULL;
}

/* The counts of a channel. */
struct codes {
	enum waveform wave;
	const uint64_t *count;
	uint64_t under, all;  /* samples below the bins; in all */
	uint32_t first, last; /* the codes that are left out */
	uint64_t start, end;  /* samples at or below `first`, and below `last` */
};

/*
 * Return the difference of the levels that have `from` and `to` samples below. The product of sines
 * does not cancel; beyond the middle, the sine is taken from the other end.
 */
static double rise(const struct codes *c, uint64_t from, uint64_t to)
{
	const double all = (double)c->all, low = (double)from, high = (double)to;
	const double middle =
		low + high <= all ? low + high : (double)(c->all - from) + (double)(c->all - to);

	return 2 * sin(PI * (middle / all) / 2) * sin(PI * ((double)(to - from) / all) / 2);
}

/*
 * The distance of two levels in mean widths, less `codes`. For a ramp, all is exact but the last
 * division.
 */
static double excess(const struct codes *c, uint64_t from, uint64_t to, uint32_t codes)
{
	const uint32_t between = c->last - c->first - 1;
	const uint64_t width = c->end - c->start;

	if (c->wave == WAVE_SINE)
		return rise(c, from, to) / rise(c, c->start, c->end) * between - codes;
	return exact_ratio((int128_t)(to - from) * between - (int128_t)width * codes, width);
}

/*
 * The error of a count n is its square root. The codes in the middle of a sine are hit least; the
 * level rises there by pi for each whole share.
 */
static double error_of(const struct codes *c)
{
	const double between = c->last - c->first - 1;
	const double hits = c->wave == WAVE_SINE
				    ? (double)c->all * rise(c, c->start, c->end) / between / PI
				    : (double)(c->end - c->start) / between;

	return 1 / sqrt(hits);
}

static void set_channel(struct linearity *l, const struct codes *c)
{
	uint64_t sum = c->start;

	l->first = l->worst_dnl = l->worst_inl = c->first;
	l->last = c->last;
	for (uint32_t i = c->first + 1; i < c->last; i++) {
		l->inl[i] = excess(c, c->start, sum, i - c->first - 1);
		l->dnl[i] = excess(c, sum, sum + c->count[i], 1);
		sum += c->count[i];
		l->missing += c->count[i] == 0;
		if (!linearity_has(l, l->worst_dnl) || fabs(l->dnl[i]) > fabs(l->dnl[l->worst_dnl]))
			l->worst_dnl = i;
		if (!linearity_has(l, l->worst_inl) || fabs(l->inl[i]) > fabs(l->inl[l->worst_inl]))
			l->worst_inl = i;
	}
	l->error = error_of(c);
}

/* False: there is no code, or no sample, between the first and the last code. */
static bool find_codes(struct codes *c, const struct hist *h, uint32_t channel)
{
	const uint32_t bins = axis_bins(&h->axis);

	if (bins == 0) /* --auto without a sample */
		return false;
	c->count = h->count + channel * h->stride;
	c->under = h->flow[channel].under;
	c->first = 0;
	c->last = bins - 1;
	while (c->first < c->last && c->count[c->first] == 0)
		c->first++;
	while (c->last > c->first && c->count[c->last] == 0)
		c->last--;
	c->start = c->under + c->count[c->first];
	c->end = c->start;
	for (uint32_t i = c->first + 1; i < c->last; i++)
		c->end += c->count[i];
	c->all = c->end + c->count[c->last] + h->flow[channel].over;
	return c->end > c->start;
}

int linearity_measure(struct hist *h, enum waveform wave, struct fail *fail)
{
	const uint32_t bins = axis_bins(&h->axis);
	double *const memory = calloc((size_t)h->channels * bins + 1, 2 * sizeof(*memory));

	h->linearity = calloc(h->channels, sizeof(*h->linearity));
	if (!h->linearity || !memory) {
		free(memory);
		return fail_errno(fail, "--linearity");
	}
	for (uint32_t i = 0; i < h->channels; i++) {
		struct linearity *const l = &h->linearity[i];
		struct codes codes = {.wave = wave};
		char label[SERIES_LABEL];
		l->dnl = memory + (size_t)i * 2 * bins;
		l->inl = l->dnl + bins;
		if (!find_codes(&codes, h, i)) {
			free(memory);
			free(h->linearity);
			h->linearity = NULL;
			return fail_set(fail, STATUS_DATA,
					"--linearity: %s no samples between the first and the last "
					"code",
					*series_label(label, h, i) ? strcat(label, " has")
								   : "there are");
		}
		set_channel(l, &codes);
	}
	return 0;
}

void linearity_format(char text[NUMBER_TEXT], const struct linearity *l, const double *values,
		      uint32_t bin)
{
	*text = '\0';
	if (linearity_has(l, bin)) /* 0 has no sign */
		snprintf(text, NUMBER_TEXT, "%.6f", fabs(values[bin]) < 5e-7 ? 0 : values[bin]);
}
