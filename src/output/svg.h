/* SPDX-License-Identifier: MIT */
/* svg: the parts of all SVG pictures: lengths, headings, panels with axes, bars. */
#ifndef GPUHIST_OUTPUT_SVG_H
#define GPUHIST_OUTPUT_SVG_H

#include "output/format.h"
#include "output/picture.h"

/* Lengths in units, about a point each if the picture is not scaled. */
#define LEFT 100 /* left edge of the panels */
#define ACROSS 700
#define RIGHT (LEFT + ACROSS)
#define MARGIN 24 /* free space next to the panels */
#define WIDTH (RIGHT + MARGIN + 2)
#define TOP 62       /* top of the first panel, below the headings */
#define PANEL_TOP 22 /* a line of text above each panel */
#define PANEL_GAP 14
#define BOTTOM 52 /* numbers and name of the axis */

#define X_CHARACTERS 90 /* characters that fit side by side below the axis */
#define AT "%.7g" /* a coordinate, to hundredths even for 64 panels, without zeros at its end */
#define START "text-anchor=\"start\""
#define MIDDLE "text-anchor=\"middle\""
#define END "text-anchor=\"end\""
#define DOT " \u00b7 "

#define PANELS_MOST 16 /* more series are a heat map */
#define SVG_NAME 96

/* A rectangle with two axes. */
struct panel {
	int left, top, width, height;
	int margin; /* on either side, for numbers below the panel */
	const struct scale *x, *y;
	bool map; /* y goes down, and no lines are drawn across */
};

/* Write everything before the panels except the line below the title; title NULL: none. */
void svg_open(struct output *out, int height, const char *title, const char *options);

/* A line of phrases; those that do not fit are left out. Begin with {0}. */
struct caption {
	bool full;
	double before; /* width of a text before it */
	char text[512];
};
void svg_say(struct caption *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "20 u8 samples of 2 channels", "256 bins" */
void svg_say_samples(struct caption *c, uint64_t samples, const struct hist *series,
		     uint32_t channels);

/* Write such a line about the data, with a note, which may be "". */
void svg_describe(struct output *out, const struct hist *hist, const struct provenance *from,
		  const char *note);

/* Move the left end of a panel, so that the labels of y and the name of the axis fit. */
void svg_room(struct panel *p, const struct scale *y);

/*
 * Name both axes, the left one upwards with its centre at `middle`, next to the labels of the panel
 * p; end the picture.
 */
void svg_close(struct output *out, const struct panel *p, const char *below, const char *left,
	       int middle, int base);

/* Write text with thin spaces between thousands, minus signs and superscripts. */
void svg_put(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text element: a number or short text of our own, as svg_put writes it; any name. */
void svg_text(struct output *out, const char *attributes, double x, double y, const char *text);
void svg_name(struct output *out, const char *attributes, double x, double y, const char *name);
/* A name, and the text after it. */
void svg_named(struct output *out, const char *attributes, double x, double y, const char *name,
	       const char *text);

/* At least the width of a text in the usual fonts. */
double svg_width(const char *text);

/* Positions from 0 to 1 in a panel. */
double svg_x(const struct panel *p, double at);
double svg_y(const struct panel *p, double at);

/* Draw horizontal lines at the left axis' ticks, and vertical ones if x is logarithmic. */
void svg_grid(struct output *out, const struct panel *p);

/* Draw both axes with ticks, and the left labels; `below`: the labels of the x axis too. */
void svg_axes(struct output *out, const struct panel *p, bool below);

/* Find ticks for values; if no round numbers fit between the ends, use the ends. */
void svg_ticks(struct scale *x, const struct axis *axis, unsigned most);

/* The name of the axis of values. */
void svg_values(char name[SVG_NAME], const struct canvas *canvas, const struct axis *axis,
		const struct scale *x);

/* The values of bars, and their two ends from 0 to 1. */
struct outline {
	uint32_t n;
	double value[BARS_MOST], at[BARS_MOST][2];
};
void svg_bars(struct output *out, const struct outline *o, const struct panel *panel);

/* Make the axis of heights of bars whose values, above 0, are from least to most. */
void svg_heights(struct scale *y, double least, double most, bool log, int height);

/* Panels of bars below each other: from one top to the next, and the end of the last. */
struct stack {
	int each, height, end;
};
struct stack svg_stack(int panels);

/* Many channels as rows (svg_sheet.c). */
void svg_channels(struct output *out, const struct hist *hist, const struct style *style,
		  const struct provenance *from);

/* --linearity: DNL and INL instead of the bars (svg_linearity.c). */
void svg_linearity(struct output *out, const struct hist *hist, const struct style *style,
		   const struct provenance *from);

#endif
