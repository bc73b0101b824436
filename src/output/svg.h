/* SPDX-License-Identifier: MIT */
/* svg: the parts of all SVG pictures: lengths, headings, panels with axes. */
#ifndef GPUHIST_OUTPUT_SVG_H
#define GPUHIST_OUTPUT_SVG_H

#include "output/format.h"
#include "output/ruler.h"

/* Lengths in units, about a point each if the picture is not scaled. */
#define LEFT 100 /* left edge of the panels */
#define ACROSS 700
#define TOP 62       /* top of the first panel, below the headings */
#define PANEL_TOP 22 /* a line of text above each panel */
#define PANEL_GAP 14
#define BOTTOM 52 /* numbers and name of the axis */

#define X_CHARACTERS 90 /* characters that fit side by side below the axis */
#define AT "%.7g" /* a coordinate, to hundredths even for 64 panels, without zeros at its end */
#define START "text-anchor=\"start\""

/* A rectangle with two axes. */
struct panel {
	int left, top, width, height;
	const struct scale *x, *y;
	bool map; /* y goes down, and no lines are drawn across */
};

/* Write everything before the panels; the line below the title is left open. */
void svg_open(struct output *out, int height, const char *title, const char *options);

/* Write that line, about the data. */
void svg_describe(struct output *out, const struct hist *hist, const struct provenance *from);

/*
 * Name both axes, the left one upwards with its centre at `middle`, next to the numbers of `y`; end
 * the picture.
 */
void svg_close(struct output *out, const char *below, const char *left, const struct scale *y,
	       int middle, int base);

/* Text with thin spaces between thousands. */
void svg_text(struct output *out, const char *attributes, double x, double y, const char *text);

/* Positions from 0 to 1 in a panel. */
double svg_x(const struct panel *p, double at);
double svg_y(const struct panel *p, double at);

/* Draw horizontal lines at the left axis' ticks, and vertical ones if x is logarithmic. */
void svg_grid(struct output *out, const struct panel *p);

/* Draw both axes with ticks, and the left labels; `below`: the labels of the x axis too. */
void svg_axes(struct output *out, const struct panel *p, bool below);

/* Find ticks for values; if no round numbers fit between the ends, use the ends. */
void svg_ticks(struct scale *x, const struct axis *axis, unsigned most);

/* --linearity: DNL and INL instead of the bars (svg_linearity.c). */
void svg_linearity(struct output *out, const struct hist *hist, const struct style *style,
		   const struct provenance *from);

#endif
