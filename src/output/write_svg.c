/* SPDX-License-Identifier: MIT */
/*
 * write_svg: a histogram as a picture, in one file without scripts or fonts of its own.
 *
 * There is a panel for each channel, one below the other, with one axis and one scale. In each
 * panel there is one path: the filled outline of the columns (columns.h), with a part of its own
 * for each run of columns that are not empty. So an empty column draws nothing, and any other is at
 * least one unit high.
 *
 * Coordinates are whole hundredths of a unit, written without exponents, signs and printf's
 * rounding. Both colour schemes paint a background of their own, because a page may be light where
 * the system is dark.
 *
 * The constants of the drawing come first, in units: about a point each where the picture is not
 * scaled.
 */
#include "output/write.h"

#include <string.h>

#include "output/columns.h"
#include "output/svg_text.h"
#include "output/ticks.h"
#include "output/xml.h"

#define LEFT 84 /* left edge of the panels */
#define ACROSS 700
#define WIDTH (LEFT + ACROSS + 26)
#define TOP 62       /* top of the first panel, below the headings */
#define PANEL_TOP 22 /* a line of text above each panel */
#define PANEL_GAP 14
#define BOTTOM 52 /* numbers and title of the axis */

#define X_TICKS 10
#define X_CHARACTERS 90 /* characters that fit side by side below the axis */

/* What is drawn, and to which scale. */
struct drawing {
	struct output *out;
	const struct hist *hist;
	const struct columns *columns;
	bool log;           /* heights */
	struct span height; /* heights, from the base line to the top of a panel */
	struct ticks x, y;
	int panel; /* height of a panel, in units */
};

static const char STYLE[] =
	"<style>\n"
	".gpuhist { font: 12px system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif "
	"}\n"
	".gpuhist text { fill: #1f2328 }\n"
	".gpuhist .head { font-size: 14px; font-weight: 600 }\n"
	".gpuhist .note { fill: #59636e }\n"
	".gpuhist .page { fill: #ffffff }\n"
	".gpuhist .grid { stroke: #d8dee4; fill: none }\n"
	".gpuhist .axis { stroke: #59636e; fill: none }\n"
	".gpuhist .bins { fill: #9cc3ec; stroke: #1f5fa8; stroke-linejoin: round }\n"
	"@media screen and (prefers-color-scheme: dark) {\n"
	".gpuhist text { fill: #e6edf3 }\n"
	".gpuhist .note { fill: #9198a1 }\n"
	".gpuhist .page { fill: #0d1117 }\n"
	".gpuhist .grid { stroke: #2b323b }\n"
	".gpuhist .axis { stroke: #9198a1 }\n"
	".gpuhist .bins { fill: #1f4f85; stroke: #6cb2ff }\n"
	"}\n"
	"</style>\n";

/* Writes a command of a path and its number, in hundredths. */
static void put(struct output *out, char command, long hundredths)
{
	if (hundredths % 100 == 0)
		xml_markup(out, "%c%ld", command, hundredths / 100);
	else
		xml_markup(out, "%c%ld.%02ld", command, hundredths / 100, hundredths % 100);
}

/* Writes an attribute that is a coordinate; put_y ends the tag. */
static void put_x(struct output *out, long x)
{
	xml_markup(out, " x=\"%ld.%02ld\"", x / 100, x % 100);
}

static void put_y(struct output *out, long y)
{
	xml_markup(out, " y=\"%ld.%02ld\">", y / 100, y % 100);
}

/* The position `at`, 0 to 1, on something that is `units` long. */
static long hundredths(double at, long units)
{
	return (long)(at * (double)(100 * units) + 0.5);
}

/* base: the line on which the columns stand, in hundredths. */
static void draw_columns(const struct drawing *d, uint32_t channel, long base)
{
	long end = 0, top = 0; /* of the columns drawn so far; end 0: no run has begun */

	output_text(d->out, "<path class=\"bins\" d=\"");
	for (uint32_t k = 0; k < d->columns->count && !output_failed(d->out); k++) {
		const struct column *const column = &d->columns->column[k];
		const uint64_t sum = columns_sum(column, d->hist, channel);
		if (sum == 0 && end > 0) {
			put(d->out, 'H', end);
			put(d->out, 'V', base);
			output_text(d->out, "Z");
			end = 0;
		}
		if (sum == 0)
			continue;
		const long high =
			hundredths(span_at(&d->height, (double)sum * column->scale), d->panel);
		const long y = base - (high > 100 ? high : 100);
		if (end == 0) {
			put(d->out, 'M', 100 * LEFT + hundredths(column->from, ACROSS));
			put(d->out, ' ', base);
			put(d->out, 'V', y);
		} else if (y != top) {
			put(d->out, 'H', end);
			put(d->out, 'V', y);
		}
		top = y;
		end = 100 * LEFT + hundredths(column->to, ACROSS);
	}
	if (end > 0) {
		put(d->out, 'H', end);
		put(d->out, 'V', base);
		output_text(d->out, "Z");
	}
	output_text(d->out, "\"/>\n");
}

/*
 * Finds the lowest and the highest column that are not empty, in all channels; false: there are
 * none.
 */
static bool extremes(const struct drawing *d, double *least, double *most)
{
	bool any = false;

	for (uint32_t c = 0; c < d->hist->channels; c++) {
		for (uint32_t k = 0; k < d->columns->count; k++) {
			const struct column *const column = &d->columns->column[k];
			const uint64_t sum = columns_sum(column, d->hist, c);
			const double height = (double)sum * column->scale;
			if (sum == 0)
				continue;
			*least = !any || height < *least ? height : *least;
			*most = !any || height > *most ? height : *most;
			any = true;
		}
	}
	return any;
}

/*
 * The scale leaves some room above the highest column. One sample is visible on a logarithmic axis
 * too.
 */
static void scale_heights(struct drawing *d)
{
	double least = 1, most = 1;
	const bool any = extremes(d, &least, &most), counts = d->columns->joined > 0;

	if (d->log)
		d->height = (struct span){
			.lo = counts ? 0.5 : least / 2, .hi = most * 1.5, .log = true};
	else
		d->height = (struct span){.lo = 0, .hi = most * 1.05};
	d->y.count = 0;
	if (any)
		ticks_of_span(&d->y, &d->height, (unsigned)(d->panel + 40) / 60, SIZE_MAX, counts);
}

/*
 * If the ends are too close together for round numbers between them, the ends themselves are
 * written.
 */
static void name_values(struct drawing *d)
{
	const struct axis *const axis = &d->hist->axis;
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);

	d->x.count = 0;
	if (bins == 0)
		return;
	if (axis->kind == AXIS_MOD)
		ticks_of_whole(&d->x, 0, bins, X_TICKS, X_CHARACTERS);
	else if (edges->exact && !d->columns->span.log && !edges->list)
		ticks_of_whole(&d->x, edges->lo, edges->width, X_TICKS, X_CHARACTERS);
	else
		ticks_of_span(&d->x, &d->columns->span, X_TICKS, X_CHARACTERS, false);
	if (d->x.count > 1)
		return;
	d->x = (struct ticks){.count = 2, .tick = {{.at = 0}, {.at = 1}}};
	edges_format(edges, 0, d->x.tick[0].text);
	edges_format(edges, bins, d->x.tick[1].text);
}

/* Writes ", x 10^6" after the name of an axis whose numbers are to be multiplied by that. */
static void put_factor(struct output *out, const struct ticks *ticks)
{
	char power[TICK_TEXT];

	if (ticks->count == 0 || ticks->factor == 0)
		return;
	ticks_power(power, ticks->factor);
	xml_print(out, ", \xc3\x97 %s", power);
}

static void draw_grid(const struct drawing *d, long base)
{
	if (d->y.count == 0)
		return;
	output_text(d->out, "<path class=\"grid\" d=\"");
	for (unsigned i = 0; i < d->y.count; i++) {
		if (d->y.tick[i].text[0] == '\0')
			continue;
		put(d->out, 'M', 100 * LEFT);
		put(d->out, ' ', base - hundredths(d->y.tick[i].at, d->panel));
		put(d->out, 'H', 100 * (LEFT + ACROSS));
	}
	output_text(d->out, "\"/>\n");
}

/* Draws the lines and small ticks below and to the left, and the numbers to the left. */
static void draw_axes(const struct drawing *d, long base)
{
	output_text(d->out, "<path class=\"axis\" d=\"");
	put(d->out, 'M', 100 * LEFT);
	put(d->out, ' ', base - 100 * d->panel);
	put(d->out, 'V', base);
	put(d->out, 'H', 100 * (LEFT + ACROSS));
	for (unsigned i = 0; i < d->y.count; i++) {
		put(d->out, 'M', 100 * LEFT);
		put(d->out, ' ', base - hundredths(d->y.tick[i].at, d->panel));
		put(d->out, 'H', 100 * LEFT - (d->y.tick[i].text[0] ? 500 : 300));
	}
	for (unsigned i = 0; i < d->x.count; i++) {
		put(d->out, 'M', 100 * LEFT + hundredths(d->x.tick[i].at, ACROSS));
		put(d->out, ' ', base);
		put(d->out, 'V', base + (d->x.tick[i].text[0] ? 500 : 300));
	}
	output_text(d->out, "\"/>\n");
	for (unsigned i = 0; i < d->y.count; i++) {
		if (d->y.tick[i].text[0] == '\0')
			continue;
		xml_markup(d->out, "<text x=\"%d\" text-anchor=\"end\"", LEFT - 8);
		put_y(d->out, base + 400 - hundredths(d->y.tick[i].at, d->panel));
		xml_print(d->out, "%s", d->y.tick[i].text);
		output_text(d->out, "</text>\n");
	}
}

/* Writes the numbers below the last panel, and what they mean. */
static void name_x(const struct drawing *d, long base)
{
	const struct axis *const axis = &d->hist->axis;

	for (unsigned i = 0; i < d->x.count; i++) {
		const struct tick *const tick = &d->x.tick[i];
		if (tick->text[0] == '\0')
			continue;
		output_text(d->out, "<text");
		put_x(d->out, 100 * LEFT + hundredths(tick->at, ACROSS));
		/* A long number at the right end must stay within the picture. */
		xml_markup(d->out, " text-anchor=\"%s\"",
			   strlen(tick->text) > 8 && tick->at > 0.92 ? "end" : "middle");
		put_y(d->out, base + 1900);
		xml_print(d->out, "%s", tick->text);
		output_text(d->out, "</text>\n");
	}
	xml_markup(d->out, "<text x=\"%d\" text-anchor=\"middle\"", LEFT + ACROSS / 2);
	put_y(d->out, base + 4000);
	if (axis->kind == AXIS_MOD)
		xml_print(d->out, "value modulo %lu", (unsigned long)axis_bins(axis));
	else
		output_text(d->out, "value");
	xml_print(d->out, " (%s)%s", axis->type.name,
		  d->columns->count > 0 && d->columns->span.log ? ", logarithmic" : "");
	put_factor(d->out, &d->x);
	output_text(d->out, "</text>\n");
}

/* Writes what heights mean, beside all panels, from bottom to top. */
static void name_y(const struct drawing *d, long middle)
{
	char unit[SVG_UNIT];

	svg_unit(unit, d->columns);
	xml_markup(d->out,
		   "<text text-anchor=\"middle\" transform=\"translate(18 %ld) rotate(-90)\">",
		   middle);
	xml_print(d->out, "%s%s", unit, d->log ? ", logarithmic" : "");
	put_factor(d->out, &d->y);
	output_text(d->out, "</text>\n");
}

static void draw_panel(const struct drawing *d, uint32_t channel, long top)
{
	const long base = 100 * (top + PANEL_TOP + d->panel);

	xml_markup(d->out, "<text class=\"note\" x=\"%d\" y=\"%ld\">", LEFT, top + PANEL_TOP - 8);
	svg_figures(d->out, d->hist, channel);
	output_text(d->out, "</text>\n");
	draw_grid(d, base);
	draw_columns(d, channel, base);
	draw_axes(d, base);
	if (d->y.count == 0)
		xml_markup(d->out,
			   "<text class=\"note\" x=\"%d\" y=\"%ld\" "
			   "text-anchor=\"middle\">%s</text>\n",
			   LEFT + ACROSS / 2, top + PANEL_TOP + d->panel / 2,
			   d->columns->count > 0 ? "all bins are empty"
						 : "no bins: no finite sample was counted");
}

void write_svg(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	struct columns columns;
	struct drawing d = {
		.out = out, .hist = hist, .columns = &columns, .log = style->picture.log};
	const uint32_t channels = hist->channels;

	d.panel = channels == 1 ? 340 : channels == 2 ? 200 : channels <= 4 ? 140 : 100;
	const long each = PANEL_TOP + d.panel + PANEL_GAP,
		   panels = (long)channels * each - PANEL_GAP;
	columns_init(&columns, &hist->axis);
	scale_heights(&d);
	name_values(&d);
	xml_markup(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gpuhist\" role=\"img\" "
		   "width=\"%d\" "
		   "height=\"%ld\" viewBox=\"0 0 %d %ld\">\n",
		   WIDTH, TOP + panels + BOTTOM, WIDTH, TOP + panels + BOTTOM);
	svg_describe(out, hist, &columns, style, from);
	output_text(out, STYLE);
	output_text(out, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
	xml_markup(out, "<text class=\"head\" x=\"%d\" y=\"28\">", LEFT);
	svg_heading(out, from);
	xml_markup(out, "</text>\n<text x=\"%d\" y=\"48\">", LEFT);
	svg_subheading(out, hist, from);
	output_text(out, "</text>\n");
	for (uint32_t c = 0; c < channels && !output_failed(out); c++)
		draw_panel(&d, c, TOP + (long)c * each);
	name_y(&d, TOP + (panels + PANEL_TOP) / 2);
	name_x(&d, 100 * (TOP + panels));
	output_text(out, "</svg>\n");
}
