/* SPDX-License-Identifier: MIT */
/*
 * svg_sheet: rows (sheet.h) as SVG. Up to PANELS_MOST rows are panels of bars with one axis and one
 * scale, as in svg.c. More are a heat map, side by side for each channel: rectangles, or an image if
 * they would be too many.
 *
 * Figures of rows along an input are lines with their names at the right, which end with each FILE.
 * Rows that do not follow each other (FILEs, keys, channels) are dots on a line for each row.
 */
#include "output/svg.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "hist/series.h"
#include "output/sheet.h"

#define MAP_HEIGHT 480
#define MAP_GAP 12
#define LINE 13           /* from one label of a row to the next */
#define NAME_COLUMNS 30   /* of the longest label of a row */
#define NAMED 70          /* width for the names of lines */
#define RECTANGLES 20000u /* a heat map of more is an image */

/* ---- labels ---- */

/* Write the name of a row, or of its FILE, and cut out its middle if it is long. */
static void name_row(char text[TICK_TEXT], const struct sheet *s, uint32_t row)
{
	const uint64_t first = row * s->joined;
	char number[NUMBER_TEXT];
	const char *const name = s->unit ? series_name(s->series, (uint32_t)first, number)
				 : path_is_stdin(s->paths[s->path[row]])
					 ? "-"
					 : path_name(s->paths[s->path[row]]);

	picture_shorten(text, TICK_TEXT, name, NAME_COLUMNS, "\u2026");
}

/* Does each row, or each FILE of several, have a name? */
static bool has_names(const struct sheet *s)
{
	return s->named || s->files > 1;
}

/* The end of the rows that have the same name as this one. */
static uint32_t same_until(const struct sheet *s, uint32_t row)
{
	uint32_t end = row + 1;

	while (!s->named && end < s->rows && s->path[end] == s->path[row])
		end++;
	return end;
}

/* Make an axis of rows with their names; leave some out if they are too close. */
static struct scale scale_of_names(const struct sheet *s, int units, double least)
{
	struct scale y = {.hi = 1, .names = true};
	uint32_t every = 1, ten = 1; /* every is 1, 2 or 5 times ten */

	while (s->named && every * (double)units < least * s->rows) {
		ten *= every == 5 * ten ? 10 : 1;
		every = every < ten ? ten : every == ten ? 2 * ten : 5 * ten;
	}
	for (uint32_t r = 0, end; r < s->rows && y.ticks < TICKS_MAX; r = end) {
		end = same_until(s, r);
		const double at = (r + end) / 2.0 / s->rows;
		if (r % every != 0 ||
		    (y.ticks > 0 && (at - y.tick[y.ticks - 1].at) * units < least - 1e-6))
			continue;
		y.tick[y.ticks].at = at;
		name_row(y.tick[y.ticks++].text, s, r);
	}
	return y;
}

/* The axis along the input, in records or rows. */
static struct scale scale_of_rows(const struct sheet *s, unsigned ticks, unsigned characters)
{
	const bool records = s->size > 0;
	const bool hex = records && s->bytes;
	const double lo = hex ? (double)*s->begin : 0;
	struct scale along = {.lo = lo,
			      .hi = lo + (double)s->count * (records ? (double)s->size : 1),
			      .whole = true,
			      .hex = hex};

	if (s->count > 0)
		scale_ticks(&along, ticks, characters);
	return along;
}

static const char *name_of_rows(const struct sheet *s)
{
	return has_names(s)   ? s->unit ? s->unit : ""
	       : s->size == 0 ? "row"
	       : s->bytes     ? "offset"
			      : "record";
}

static void describe(struct output *out, const struct sheet *s)
{
	const char *const row = s->unit ? s->unit : "row";
	struct caption c = {.full = false};
	char of[64] = "";

	if (s->size > 0 && !s->unit)
		snprintf(of, sizeof(of), " of %llu %s", (ull)s->size,
			 s->bytes ? "bytes" : "records");
	svg_say(&c, "%llu %s%s%s", (ull)s->count, row, s->count == 1 ? "" : "s", of);
	svg_say_samples(&c, s->samples, s->series, s->channels);
	if (s->out > 0)
		svg_say(&c, "%llu out of range or NaN", (ull)s->out);
	if (s->joined > 1)
		svg_say(&c, "%llu %ss are drawn as one", (ull)s->joined, row);
	if (s->series->compared)
		svg_say(&c, "the reference is not drawn");
	svg_text(out, START, LEFT, 48, c.text);
}

/* Draw thin lines between the rows of different FILEs; `across`: rows go down. */
static void draw_borders(struct output *out, const struct sheet *s, const struct panel *p,
			 bool across)
{
	if (s->named || s->files < 2)
		return;
	output_text(out, "<path class=\"axis\" stroke-width=\"0.5\" d=\"");
	for (uint32_t r = same_until(s, 0); r < s->rows; r = same_until(s, r))
		if (across)
			output_print(out, "M%d " AT "h%d", p->left, svg_y(p, (double)r / s->rows),
				     p->width);
		else
			output_print(out, "M" AT " %dv%d", svg_x(p, (double)r / s->rows), p->top,
				     p->height);
	output_text(out, "\"/>\n");
}

/* ---- bars ---- */

/* The name above a panel: the row's and, among several, the channel's. */
static void name_panel(char name[SVG_NAME], const struct sheet *s, uint32_t row, uint32_t channel)
{
	char text[TICK_TEXT], label[SERIES_LABEL];

	name_row(text, s, row);
	if (!has_names(s))
		snprintf(text, sizeof(text), s->bytes ? "offset 0x%llX" : "record %llu",
			 (ull)(row * s->size + (s->bytes ? *s->begin : 0)));
	else if (!s->named)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", row %lu",
			 (unsigned long)row);
	snprintf(name, SVG_NAME, s->channels > 1 ? "%s, %s" : "%s", text,
		 series_label(label, s->series, channel));
}

static void write_panels(struct output *out, const struct sheet *s)
{
	const struct ruler *const r = &s->strip.ruler;
	const int panels = (int)(s->rows * s->channels);
	const struct stack stack = svg_stack(panels);
	struct scale x = r->x, y = {.whole = r->counted};
	struct panel p = {.left = LEFT,
			  .width = ACROSS,
			  .height = stack.height,
			  .margin = MARGIN,
			  .x = &x,
			  .y = &y};
	struct outline *const o = malloc(sizeof(*o));
	char name[SVG_NAME];
	double least = DBL_MAX, most = 0;

	if (!o) {
		output_fail(out);
		return;
	}
	for (uint32_t i = 0; i < s->width * (uint32_t)panels; i++) {
		least = s->value[i] > 0 ? fmin(least, s->value[i]) : least;
		most = fmax(most, s->value[i]);
	}
	svg_heights(&y, least, most, s->canvas->log, stack.height);
	svg_room(&p, &y);
	svg_ticks(&x, s->axis, 10);
	svg_open(out, stack.end + BOTTOM, s->canvas->title, s->options);
	describe(out, s);
	o->n = s->width;
	for (uint32_t i = 0; i < (uint32_t)panels && !output_failed(out); i++) {
		const double *const value = sheet_at(s, 0, i);
		for (uint32_t k = 0; k < s->width; k++) {
			o->value[k] = value[k];
			o->at[k][0] = (double)k / s->width;
			o->at[k][1] = (k + 1.0) / s->width;
		}
		p.top = TOP + (int)i * stack.each + PANEL_TOP;
		name_panel(name, s, i / s->channels, i % s->channels);
		svg_name(out, "class=\"note\"", LEFT, p.top - 8, name);
		svg_grid(out, &p);
		svg_bars(out, o, &p);
		svg_axes(out, &p, i + 1 == (uint32_t)panels);
	}
	snprintf(name, sizeof(name), "samples per %s%s",
		 x.log        ? "doubling"
		 : r->counted ? "bin"
			      : "unit",
		 s->canvas->log ? ", logarithmic" : "");
	char below[SVG_NAME];
	svg_values(below, s->canvas, s->axis, &x);
	svg_close(out, &p, below, name, (TOP + PANEL_TOP + stack.end) / 2, stack.end);
	free(o);
}

/* ---- heat maps ---- */

/* The shades of a row's cells. */
static void shades_of(unsigned *shade, const struct sheet *s, uint32_t row, uint32_t channel)
{
	strip_shades(shade, sheet_at(s, row, channel), s->width, SHADES, s->canvas->log);
}

/* Bytes in base64. */
struct base64 {
	struct output *out;
	uint32_t bits;
	unsigned bytes; /* number of bytes in `bits`: 0 to 2 */
};

static void flush64(struct base64 *b)
{
	static const char DIGITS[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[] = "====";

	for (unsigned i = 0; i <= b->bytes; i++)
		text[i] = DIGITS[b->bits << 8 * (3 - b->bytes) >> (18 - 6 * i) & 63];
	output_write(b->out, text, b->bytes > 0 ? 4 : 0);
	b->bits = b->bytes = 0;
}

static void put64(struct base64 *b, unsigned byte)
{
	b->bits = b->bits << 8 | byte;
	if (++b->bytes == 3)
		flush64(b);
}

/*
 * Write a GIF of 128 colours. Codes have 8 bits until 127 of them follow a clear code, so a clear
 * code before every 120 pixels makes each code a byte.
 */
static void put_gif(struct output *out, const struct sheet *s, uint32_t channel)
{
	const uint32_t w = s->width, h = s->rows, all = w * h;
	const unsigned before[] = {'G',    'I',     'F',    '8',  '9', 'a', w & 255,
				   w >> 8, h & 255, h >> 8, 0xf6, 0,   0},
		       after[] = {0x21, 0xf9, 4, 1,       0,      0,       0,      0, 0x2c, 0,
				  0,    0,    0, w & 255, w >> 8, h & 255, h >> 8, 0, 7};
	struct base64 b = {.out = out};
	unsigned shade[STRIP_CELLS];

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		put64(&b, before[i]);
	for (unsigned i = 0; i < 128 * 3; i++) /* 0 is transparent */
		put64(&b,
		      i < 3 || i / 3 > SHADES ? 0 : RAMP[i / 3 - 1].rgb >> (16 - i % 3 * 8) & 255);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		put64(&b, after[i]);
	for (uint32_t i = 0; i < all && !output_failed(out); i++) {
		if (i % w == 0)
			shades_of(shade, s, i / w, channel);
		if (i % 120 == 0) {
			put64(&b, all - i < 120 ? all - i + 1 : 121);
			put64(&b, 128);
		}
		put64(&b, shade[i % w]);
	}
	for (int i = 0; i < 4; i++) /* a block with the end code, an empty block, the end */
		put64(&b, (const unsigned[]){1, 129, 0, 0x3b}[i]);
	flush64(&b);
}

/* The cells of a row from k on that have the same shade; returns where they end. */
static uint32_t run_until(const unsigned *shade, uint32_t width, uint32_t k)
{
	uint32_t end = k + 1;

	while (end < width && shade[end] == shade[k])
		end++;
	return end;
}

/* Draw the rectangles of one shade, or with `level` 0 only count all; returns their number. */
static uint32_t draw_shade(struct output *out, const struct sheet *s, uint32_t channel,
			   const struct panel *p, unsigned level)
{
	unsigned shade[STRIP_CELLS];
	uint32_t n = 0;

	for (uint32_t r = 0; r < s->rows; r++) {
		shades_of(shade, s, r, channel);
		for (uint32_t k = 0, end; k < s->width; k = end) {
			end = run_until(shade, s->width, k);
			if (shade[k] == 0 || (level > 0 && shade[k] != level))
				continue;
			const double x = svg_x(p, (double)k / s->width),
				     y = svg_y(p, (double)r / s->rows);
			if (level > 0 && n == 0)
				output_print(out, "<path fill=\"#%06x\" d=\"", RAMP[level - 1].rgb);
			if (level > 0)
				output_print(out, "M" AT " " AT "H" AT "V" AT "H" AT "z", x, y,
					     svg_x(p, (double)end / s->width),
					     svg_y(p, (r + 1.0) / s->rows), x);
			n++;
		}
	}
	output_text(out, level > 0 && n > 0 ? "\"/>\n" : "");
	return n;
}

/* Draw a channel's cells, brightest at the row's largest value. */
static void draw_cells(struct output *out, const struct sheet *s, uint32_t channel,
		       const struct panel *p)
{
	if (draw_shade(out, s, channel, p, 0) <= RECTANGLES / s->channels) {
		output_text(out, "<g shape-rendering=\"crispEdges\">\n");
		for (unsigned level = 1; level <= SHADES; level++)
			(void)draw_shade(out, s, channel, p, level);
		output_text(out, "</g>\n");
		return;
	}
	const bool sharp = (int)s->rows <= p->height && (int)s->width <= p->width;
	output_print(out,
		     "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		     "preserveAspectRatio=\"none\"%s href=\"data:image/gif;base64,",
		     p->left, p->top, p->width, p->height,
		     sharp ? " style=\"image-rendering: pixelated\"" : "");
	put_gif(out, s, channel);
	output_text(out, "\"/>\n");
}

/* Draw the colour ramp and its labels above the right end of the panels. */
static void draw_ramp(struct output *out, const struct sheet *s, int y)
{
	const int left = RIGHT - 40 - 8 * (int)SHADES;

	output_print(out, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" class=\"axis\"/>\n",
		     left - 134, y - 10);
	svg_text(out, START, left - 116, y, "none");
	for (int i = 0; i < (int)SHADES; i++)
		output_print(out,
			     "<rect x=\"%d\" y=\"%d\" width=\"8\" height=\"12\" fill=\"#%06x\"/>\n",
			     left + 8 * i, y - 10, RAMP[i].rgb);
	svg_text(out, END, left - 140, y,
		 s->canvas->log ? "samples in each row, logarithmic:" : "samples in each row:");
	svg_text(out, END, left - 6, y, "few");
	svg_text(out, END, RIGHT, y, "most");
}

/* ---- figures ---- */

/* The first and the last number of a row that its panel shows. */
struct figures {
	uint32_t low, high;
	bool entropy;
};

/* Each channel has a panel of figures, preceded by one of the entropy if there is one. */
static unsigned panels_of(const struct sheet *s)
{
	return !s->quantiles && sheet_has_entropy(s->axis, s->series) ? 2 : 1;
}

static struct figures figures_of(const struct sheet *s, uint32_t panel)
{
	if (s->quantiles)
		return (struct figures){1, s->width - 1, false};
	if (panels_of(s) == 2 && panel % 2 == 0)
		return (struct figures){CURVE_ENTROPY, CURVE_ENTROPY, true};
	return (struct figures){CURVE_LEAST, CURVE_GREATEST, false};
}

/* The scale of figures in all channels. */
static struct scale scale_of_figures(const struct sheet *s, const struct figures *f)
{
	struct scale y = {.lo = DBL_MAX, .hi = -DBL_MAX, .whole = s->axis->edges.integers};

	if (f->entropy)
		return (struct scale){.hi = sheet_bits(s->axis, s->series)};
	for (uint32_t i = 0; i < s->rows * s->channels; i++) {
		const double *const row = sheet_at(s, 0, i);
		if (row[CURVE_COUNT] <= 0)
			continue;
		y.lo = fmin(y.lo, row[f->low]);
		y.hi = fmax(y.hi, row[f->high]);
	}
	const double pad = y.hi > y.lo ? (y.hi / 2 - y.lo / 2) / 16 : 0.5;
	if (y.lo <= y.hi && isfinite(2 * (y.hi + pad)) && isfinite(2 * (y.lo - pad))) {
		y.lo -= pad;
		y.hi += pad;
	}
	return y;
}

/* The name of a figure. */
static void name_figure(char text[NUMBER_TEXT], const struct sheet *s, uint32_t figure)
{
	static const char *const NAMES[] = {"", "entropy", "minimum", "mean", "maximum"};

	if (!s->quantiles) {
		strcpy(text, NAMES[figure]);
		return;
	}
	quantile_name(text, s->quantiles, figure - 1);
	strcat(text, "%");
}

/* Name the figures of a panel. */
static void name_figures(char name[SVG_NAME], const struct sheet *s, uint32_t channel,
			 const struct figures *f)
{
	char text[NUMBER_TEXT + 1], label[SERIES_LABEL];
	size_t used = 0;

	name[0] = '\0';
	if (s->channels > 1)
		used = (size_t)snprintf(name, SVG_NAME,
					"%s: ", series_label(label, s->series, channel));
	for (uint32_t i = f->low; i <= f->high; i++) {
		name_figure(text, s, i);
		const char *const after = f->entropy ? " in bits" : i < f->high ? ", " : "";
		if (used + strlen(text) + strlen(after) + 4 >= SVG_NAME) {
			strcpy(name + used, "...");
			return;
		}
		used += (size_t)snprintf(name + used, SVG_NAME - used, "%s%s", text, after);
	}
}

/* Draw a figure of all rows as a line; `back`: continue it from the last row to the first. */
static void trace(struct output *out, const struct sheet *s, uint32_t channel, uint32_t figure,
		  const struct panel *panel, uint32_t first, uint32_t end, bool back)
{
	bool begun = back;

	for (uint32_t i = 0; i < end - first; i++) {
		const uint32_t r = back ? end - 1 - i : first + i;
		const double *const row = sheet_at(s, r, channel);
		const double middle = (r + 0.5) * (double)s->joined / (double)s->count;
		if (row[CURVE_COUNT] <= 0)
			continue;
		output_print(out, "%c" AT " " AT, begun ? 'L' : 'M', svg_x(panel, fmin(middle, 1)),
			     svg_y(panel, scale_at(panel->y, row[figure])));
		begun = true;
	}
}

/* Draw the lines of a panel, with the area between the first and the last filled, for each FILE. */
static void draw_lines(struct output *out, const struct sheet *s, uint32_t channel,
		       const struct figures *f, const struct panel *p)
{
	for (uint32_t r = 0, end; r < s->rows; r = end) {
		end = same_until(s, r);
		output_text(out, f->high > f->low ? "<path class=\"band\" d=\"" : "");
		if (f->high > f->low) {
			trace(out, s, channel, f->high, p, r, end, false);
			trace(out, s, channel, f->low, p, r, end, true);
			output_text(out, "\"/>\n");
		}
		for (uint32_t i = f->low; i <= f->high; i++) {
			output_text(out, "<path class=\"line\" d=\"");
			trace(out, s, channel, i, p, r, end, false);
			output_text(out, "\"/>\n");
		}
	}
}

/* Write the names of lines at their ends, apart from each other; some if there are too many. */
static void name_lines(struct output *out, const struct sheet *s, uint32_t channel,
		       const struct figures *f, const struct panel *p)
{
	const uint32_t n = f->high - f->low + 1, fit = (uint32_t)(p->height / LINE) + 1,
		       every = (n - 1) / fit + 1;
	double at[QUANTILES_MAX + 1], bottom = p->top + p->height + 4;
	const double *row = NULL;
	char text[NUMBER_TEXT + 1];

	for (uint32_t r = 0; r < s->rows; r++)
		if (sheet_at(s, r, channel)[CURVE_COUNT] > 0)
			row = sheet_at(s, r, channel);
	if (!row || f->entropy)
		return;
	for (uint32_t i = 0; i < n; i += every, bottom -= LINE)
		bottom = at[i] = fmin(bottom, svg_y(p, scale_at(p->y, row[f->low + i])) + 4);
	double top = p->top - 4;
	for (uint32_t i = (n - 1) / every * every; i < n; i -= every, top += LINE) {
		top = at[i] = fmax(top, at[i]);
		name_figure(text, s, f->low + i);
		svg_text(out, START, p->left + p->width + 6, at[i], text);
	}
}

/* Draw the figures of each row as dots on a line from the first to the last. */
static void draw_dots(struct output *out, const struct sheet *s, uint32_t channel,
		      const struct figures *f, const struct panel *p)
{
	const double radius = p->height / (double)s->rows < 8 ? 1.5 : 3;

	for (uint32_t r = 0; r < s->rows; r++) {
		const double *const row = sheet_at(s, r, channel);
		const double y = svg_y(p, (r + 0.5) / s->rows);
		if (row[CURVE_COUNT] <= 0)
			continue;
		if (f->high > f->low)
			output_print(out, "<path class=\"line\" d=\"M" AT " " AT "H" AT "\"/>\n",
				     svg_x(p, scale_at(p->x, row[f->low])), y,
				     svg_x(p, scale_at(p->x, row[f->high])));
		for (uint32_t i = f->low; i <= f->high; i++)
			output_print(out,
				     "<circle class=\"dots\" cx=\"" AT "\" cy=\"" AT "\" r=\"" AT
				     "\"/>\n",
				     svg_x(p, scale_at(p->x, row[i])), y, radius);
	}
}

static void write_lines(struct output *out, const struct sheet *s)
{
	const unsigned each_channel = panels_of(s);
	const int panels = (int)(each_channel * s->channels);
	const int fit = 800 / panels - PANEL_TOP - PANEL_GAP;
	const int height = fit > 200 ? 200 : fit < 40 ? 40 : fit;
	const int each = PANEL_TOP + height + PANEL_GAP, end = TOP + panels * each - PANEL_GAP;
	struct scale x = has_names(s) ? scale_of_names(s, ACROSS - NAMED, 1)
				      : scale_of_rows(s, 10, X_CHARACTERS),
		     y = {.lo = 0};
	struct panel panel = {.left = LEFT,
			      .width = ACROSS - NAMED,
			      .height = height,
			      .margin = MARGIN,
			      .x = &x,
			      .y = &y};
	char name[SVG_NAME];

	for (int i = 0; i < panels; i++) {
		const struct figures f = figures_of(s, (uint32_t)i);
		y = scale_of_figures(s, &f);
		if (y.lo < y.hi)
			scale_ticks(&y, (unsigned)height / 30 + 1, UINT_MAX);
	}
	svg_room(&panel, &y); /* the last one's are the widest */
	svg_open(out, end + BOTTOM, s->canvas->title, s->options);
	describe(out, s);
	for (int i = 0; i < panels && !output_failed(out); i++) {
		const uint32_t c = (uint32_t)i / each_channel;
		const struct figures f = figures_of(s, (uint32_t)i);
		panel.top = TOP + i * each + PANEL_TOP;
		y = scale_of_figures(s, &f);
		if (y.lo < y.hi)
			scale_ticks(&y, (unsigned)height / 30 + 1, UINT_MAX);
		name_figures(name, s, c, &f);
		svg_name(out, START, LEFT, panel.top - 8, name);
		svg_grid(out, &panel);
		draw_lines(out, s, c, &f, &panel);
		draw_borders(out, s, &panel, false);
		name_lines(out, s, c, &f, &panel);
		svg_axes(out, &panel, i + 1 == panels);
	}
	svg_close(out, &panel, name_of_rows(s), "", 0, end);
}

/* ---- rows from top to bottom ---- */

/* A heat map, or with s->curves dots: panels side by side. */
static void write_map(struct output *out, const struct sheet *s)
{
	const unsigned each_channel = s->curves ? panels_of(s) : 1;
	const int panels = (int)(s->channels * each_channel), rows = (int)s->rows;
	const int each = rows == 0 ? 24 : MAP_HEIGHT / rows < 24 ? MAP_HEIGHT / rows : 24;
	const int height = each == 0 ? MAP_HEIGHT : each * (rows > 0 ? rows : 1);
	const struct scale none = {.lo = 0};
	struct scale x = s->strip.ruler.x,
		     y = has_names(s) ? scale_of_names(s, height, LINE)
				      : scale_of_rows(s, (unsigned)height / 40 + 1, UINT_MAX);
	/* With several panels, a line for their names below the line of the colours. */
	const int top = TOP + PANEL_TOP + (panels > 1 && !s->curves ? PANEL_TOP : 0);
	struct panel p = {.left = LEFT,
			  .width = ACROSS,
			  .top = top,
			  .height = height,
			  .x = &x,
			  .y = &y,
			  .map = true};

	svg_room(&p, &y);
	const int left = p.left, across = p.width;
	const int gap = across / panels / 5 < MAP_GAP ? across / panels / 5
			: s->curves                   ? 3 * MAP_GAP
						      : MAP_GAP;
	char name[SVG_NAME];

	p.width = (across + gap) / panels - gap;
	if (!s->curves)
		svg_ticks(&x, s->axis, panels > 5 ? 2 : 10 / (unsigned)panels);
	svg_open(out, p.top + height + BOTTOM, s->canvas->title, s->options);
	describe(out, s);
	if (!s->curves)
		draw_ramp(out, s, TOP + PANEL_TOP - 8);
	for (int i = 0; i < panels && !output_failed(out); i++) {
		const uint32_t c = (uint32_t)i / each_channel;
		const struct figures f = figures_of(s, (uint32_t)i);
		p.left = left + i * (across + gap) / panels;
		p.margin = panels == 1 ? MARGIN : gap / 2 - 3;
		name[0] = '\0';
		if (panels > 1)
			series_label(name, s->series, c);
		if (s->curves) {
			x = scale_of_figures(s, &f);
			if (x.lo < x.hi)
				scale_ticks(&x, 1 + 8 / (unsigned)panels,
					    X_CHARACTERS / (unsigned)panels);
			name_figures(name, s, c, &f);
		}
		if (*name && svg_width(name) <= p.width + gap)
			svg_name(out, START, p.left, p.top - 8, name);
		if (rows > 0)
			s->curves ? draw_dots(out, s, c, &f, &p) : draw_cells(out, s, c, &p);
		draw_borders(out, s, &p, true);
		svg_axes(out, &p, p.width > 60);
		p.y = &none; /* has its numbers by now */
	}
	svg_values(name, s->canvas, s->axis, &x);
	p.left = left;
	p.y = &y;
	svg_close(out, &p, name, name_of_rows(s), p.top + height / 2, p.top + height);
}

void write_svg_sheet(struct output *out, const struct sheet *s)
{
	const bool few = s->rows > 0 && s->rows * s->channels <= PANELS_MOST && s->joined == 1;

	if (s->curves)
		(s->named ? write_map : write_lines)(out, s);
	else
		(few ? write_panels : write_map)(out, s);
}

void svg_channels(struct output *out, const struct hist *hist, const struct style *style,
		  const struct provenance *from)
{
	struct sheet s;
	double numbers[SHEET_NUMBERS];

	sheet_begin(&s, hist, 1, NULL, &style->canvas, from->options);
	s.unit = series_head(hist);
	s.named = true;
	for (uint32_t c = 0; c < hist->channels; c++) {
		const struct hist one = hist_view(hist, c);
		sheet_row(&s, numbers, &one, 0);
		if (sheet_add(&s, numbers) != 0)
			output_fail(out);
	}
	write_svg_sheet(out, &s);
	free(s.value);
}
