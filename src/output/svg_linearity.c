/* SPDX-License-Identifier: MIT */
/* svg_linearity: DNL and INL as curves along the codes, a panel for each of every channel. */
#include "output/svg.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hist/linearity.h"
#include "hist/series.h"

#define COLUMNS 1000u /* more codes are joined, so that each column shows its extremes */

/* DNL, or INL if `inl`, of a channel's codes. */
static const double *values_of(const struct hist *hist, uint32_t channel, bool inl)
{
	const struct linearity *const l = &hist->linearity[channel];

	return inl ? l->inl : l->dnl;
}

/* A scale with 0 that all channels share. */
static struct scale scale_of(const struct hist *hist, bool inl, int height)
{
	struct scale y = {.lo = 0};

	for (uint32_t c = 0; c < hist->channels; c++) {
		const struct linearity *const l = &hist->linearity[c];
		const double *const values = values_of(hist, c, inl);
		for (uint32_t i = l->first + 1; i < l->last; i++) {
			y.lo = fmin(y.lo, values[i]);
			y.hi = fmax(y.hi, values[i]);
		}
	}
	y.hi += y.hi <= y.lo;
	scale_ticks(&y, (unsigned)height / 30 + 1, UINT_MAX);
	return y;
}

static void draw_curve(struct output *out, const struct linearity *l, const double *values,
		       const struct panel *panel)
{
	const uint32_t per = (l->last - l->first - 2) / COLUMNS + 1;

	output_text(out, "<path class=\"line\" d=\"");
	for (uint32_t i = l->first + 1; i < l->last; i += per) {
		const uint32_t end = i + per < l->last ? i + per : l->last;
		double low = values[i], high = values[i];
		for (uint32_t k = i; k < end; k++) {
			low = fmin(low, values[k]);
			high = fmax(high, values[k]);
		}
		const double code = panel->x->lo + (i + (end - i) / 2.0);
		output_print(out, "%c" AT " " AT, i == l->first + 1 ? 'M' : 'L',
			     svg_x(panel, scale_at(panel->x, code)),
			     svg_y(panel, scale_at(panel->y, low)));
		if (high > low)
			output_print(out, "V" AT, svg_y(panel, scale_at(panel->y, high)));
	}
	output_text(out, "\"/>\n");
}

static void name_panel(struct output *out, int y, const struct hist *hist, uint32_t channel,
		       bool inl)
{
	const struct linearity *const l = &hist->linearity[channel];
	char label[SERIES_LABEL + 2], code[NUMBER_TEXT], text[64];
	const uint32_t worst = inl ? l->worst_inl : l->worst_dnl;

	if (*series_label(label, hist, channel))
		strcat(label, ": ");
	edges_format(&hist->axis.edges, worst, code);
	snprintf(text, sizeof(text), "%s, worst %.3f at %.12s", inl ? "INL" : "DNL",
		 values_of(hist, channel, inl)[worst], code);
	svg_named(out, START, LEFT, y, label, text);
}

void svg_linearity(struct output *out, const struct hist *hist, const struct style *style,
		   const struct provenance *from)
{
	const int panels = 2 * (int)hist->channels;
	const int fit = 800 / panels - PANEL_TOP - PANEL_GAP;
	const int height = fit > 200 ? 200 : fit < 40 ? 40 : fit;
	const int each = PANEL_TOP + height + PANEL_GAP, end = TOP + panels * each - PANEL_GAP;
	const struct edges *const edges = &hist->axis.edges;
	struct scale x = {.lo = edges_value(edges, 0),
			  .hi = edges_value(edges, axis_bins(&hist->axis)),
			  .whole = true};
	const struct scale y[] = {scale_of(hist, false, height), scale_of(hist, true, height)};
	struct panel panel = {
		.left = LEFT, .width = ACROSS, .height = height, .margin = MARGIN, .x = &x};
	char name[64];

	svg_ticks(&x, &hist->axis, 10);
	svg_room(&panel, &y[1]);
	svg_open(out, end + BOTTOM, style->canvas.title, from->options);
	svg_describe(out, hist, from, "");
	for (int i = 0; i < panels && !output_failed(out); i++) {
		const uint32_t c = (uint32_t)(i / 2);
		const bool inl = i % 2 == 1;
		panel.top = TOP + i * each + PANEL_TOP;
		panel.y = &y[inl];
		name_panel(out, panel.top - 8, hist, c, inl);
		svg_grid(out, &panel);
		draw_curve(out, &hist->linearity[c], values_of(hist, c, inl), &panel);
		svg_axes(out, &panel, i + 1 == panels);
	}
	snprintf(name, sizeof(name), "code (%s)", hist->axis.type.name);
	svg_close(out, &panel, name, "", 0, end);
}
