/* SPDX-License-Identifier: MIT */
/* picture: bins joined, edges as text. */
#include "output/picture.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHORT_EDGE 12 /* characters that can be read at a glance */
#define WHOLE_EDGE 21 /* those of all 64-bit integers, and of the edge after the last */

/* How many bins bin 0 is from the beginning of its part: only parts of --auto are aligned. */
static uint64_t lead_of(const struct axis *axis, uint32_t per)
{
	if (axis->kind != AXIS_AUTO)
		return 0;
	return (uint32_t)edges_first(&axis->edges, &axis->type) & (per - 1);
}

static uint64_t parts_of(const struct axis *axis, uint32_t first, uint32_t end, uint32_t per)
{
	const uint64_t lead = lead_of(axis, per);

	return (lead + end - 1) / per - (lead + first) / per + 1;
}

/* 1, 2 or 5 times a power of ten, or a power of two. */
static bool is_round(uint32_t n)
{
	if ((n & (n - 1)) == 0)
		return true;
	while (n % 10 == 0)
		n /= 10;
	return n == 1 || n == 2 || n == 5;
}

/*
 * The edges of --auto are round in powers of two. Otherwise the number is best a round divisor of
 * the bins, then any divisor; none above twice what is needed is looked for.
 */
static uint32_t bins_a_part(const struct axis *axis, uint32_t first, uint32_t end, uint32_t most)
{
	const uint32_t bins = axis_bins(axis), least = (end - first - 1) / most + 1;
	uint32_t best = 0;

	for (uint32_t per = 1; axis->kind == AXIS_AUTO; per *= 2)
		if (parts_of(axis, first, end, per) <= most)
			return per;
	for (uint32_t per = least; per <= 2 * least; per++) {
		if (parts_of(axis, first, end, per) > most)
			continue;
		if (bins % per == 0 && is_round(per))
			return per;
		if (best == 0 || (bins % per == 0 && bins % best != 0))
			best = per;
	}
	return best;
}

void parts_join(struct parts *parts, const struct axis *axis, uint32_t first, uint32_t end,
		uint32_t most)
{
	const uint32_t bins = axis_bins(axis), per = bins_a_part(axis, first, end, most);
	const uint64_t lead = lead_of(axis, per);
	struct part *const part = parts->part;

	assert(4 <= most && most <= PARTS_MOST && first < end && end <= bins);
	parts->per = per;
	parts->count = 0;
	for (uint64_t at = (lead + first) / per * per; at < lead + end; at += per)
		part[parts->count++] = (struct part){
			.first = at > lead ? (uint32_t)(at - lead) : 0,
			.end = at + per - lead < bins ? (uint32_t)(at + per - lead) : bins,
		};
	const struct part *const last = &part[parts->count - 1];
	if (parts->count > 1 && 2 * (uint64_t)(last->end - last->first) < per)
		part[--parts->count - 1].end = last->end;
	if (parts->count > 1 && 2 * (uint64_t)(part->end - part->first) < per) {
		part[1].first = part->first;
		memmove(part, part + 1, --parts->count * sizeof(*part));
	}
	if (parts->count == 1)
		parts->per = part->end - part->first;
	for (uint32_t i = 0; i < parts->count; i++)
		part[i].scale = (double)parts->per / (part[i].end - part[i].first);
}

uint64_t part_sum(const struct part *part, const struct hist *hist, uint32_t channel)
{
	const uint64_t *const count = hist->count + channel * hist->stride;
	uint64_t sum = 0;

	for (uint32_t i = part->first; i < part->end; i++)
		sum += count[i];
	return sum;
}

void filled_bins(struct filled *f, const struct hist *hist, uint32_t channel)
{
	const uint32_t bins = axis_bins(&hist->axis);

	*f = (struct filled){.bins = 0};
	for (uint32_t i = 0; i < bins; i++) {
		const uint64_t count = hist_count(hist, channel, i);
		if (count == 0)
			continue;
		if (f->bins++ == 0)
			f->first = i;
		f->end = i + 1;
		if (count > f->most)
			f->fullest = i;
		f->most = count > f->most ? count : f->most;
	}
}

bool edge_is_whole(const char *text)
{
	return text[strspn(text, "-0123456789")] == '\0' && strlen(text) <= WHOLE_EDGE;
}

void edge_text(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i)
{
	if (edges_format(&axis->edges, i, text) > SHORT_EDGE && !edge_is_whole(text))
		snprintf(text, NUMBER_TEXT, "%.6g", edges_value(&axis->edges, i));
}

void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin)
{
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);
	const bool end = bin == 0 || bin + 1 == bins, closed = edges->closed && bin + 1 == bins;
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];

	edge_text(lower, axis, bin);
	edge_text(upper, axis, bin + 1);
	if (axis->type.kind != SAMPLE_FLOAT && edges->exact && edges->width == bins && !closed &&
	    !(axis->clamp && end))
		snprintf(text, BIN_TEXT, "%s", lower);
	else
		snprintf(text, BIN_TEXT, "[%s, %s%c", lower, upper, closed ? ']' : ')');
}

double picture_round(double x)
{
	return floor(x + 0.5 + 1e-9);
}
