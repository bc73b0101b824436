/* SPDX-License-Identifier: MIT */
/*
 * svg: a histogram as a picture, in one file without scripts or fonts of its own.
 *
 * There is a panel for each channel, one below the other, with one axis and one scale. In each
 * there is one path: the filled outline of the columns, with a part of its own for each run of
 * columns that are not empty. So an empty column draws nothing, and any other is at least one unit
 * high.
 *
 * Areas are in proportion to samples. Where edges are listed, columns are at their true positions,
 * and heights are samples per W, the width of the narrowest column; where they are above zero and
 * the last is at least 1000 times the first, the axis is logarithmic, and heights are samples per
 * decade.
 *
 * Coordinates are whole hundredths of a unit, written without exponents, signs and printf's
 * rounding. Both colour schemes paint a background of their own, because a page may be light where
 * the system is dark.
 */
#include "output/format.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "output/picture.h"

/* In units, about a point each where the picture is not scaled. */
#define LEFT 84 /* left edge of the panels */
#define ACROSS 700
#define WIDTH (LEFT + ACROSS + 26)
#define TOP 62       /* top of the first panel, below the headings */
#define PANEL_TOP 22 /* a line of text above each panel */
#define PANEL_GAP 14
#define BOTTOM 52 /* numbers and title of the axis */

#define X_TICKS 10
#define X_CHARACTERS 90 /* characters that fit side by side below the axis */
#define HEADING 66      /* characters of the options above the picture */
#define DOT " \xc2\xb7 "

typedef unsigned long long ull;

struct drawing {
	struct output *out;
	const struct hist *hist;
	struct parts columns; /* none: there are no bins */
	struct span across;   /* listed edges: where columns are; else undefined */
	double unit;          /* the W of listed edges; 0: heights are samples per column */
	bool log;             /* heights */
	struct span height;   /* heights, from the base line to the top of a panel */
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
	"</style>\n"
	"<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";

/* Markup, and what XML does not allow: most control characters, U+FFFE, U+FFFF. */
static const char *escape(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
{
	const bool last = length == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe;

	(void)text;
	if (length > 1 && !last)
		return NULL;
	if (length == 0 || last || (p[0] < 0x20 && !strchr("\t\n\r", p[0])) || p[0] == 0x7f)
		return "\xef\xbf\xbd";
	/* A reader would take a bare \r for the end of a line. */
	return p[0] == '&'    ? "&amp;"
	       : p[0] == '<'  ? "&lt;"
	       : p[0] == '>'  ? "&gt;"
	       : p[0] == '\r' ? "&#13;"
			      : NULL;
}

/* The position `at`, 0 to 1, on something that is `units` long. */
static long hundredths(double at, long units)
{
	return (long)(at * (double)(100 * units) + 0.5);
}

/* Writes a command of a path and its number, in hundredths. */
static void put(struct output *out, char command, long n)
{
	output_print(out, n % 100 == 0 ? "%c%ld" : "%c%ld.%02ld", command, n / 100, n % 100);
}

static void move(struct output *out, long x, long y)
{
	put(out, 'M', x);
	put(out, ' ', y);
}

/* Begins a text; x and y are in hundredths. */
static void begin_text(struct output *out, const char *anchor, long x, long y)
{
	output_print(out, "<text x=\"%ld.%02ld\" y=\"%ld.%02ld\" text-anchor=\"%s\">", x / 100,
		     x % 100, y / 100, y % 100, anchor);
}

/* Where edge i is. */
static long x_of(const struct drawing *d, uint32_t i)
{
	const double at = d->unit > 0 ? span_at(&d->across, edges_value(&d->hist->axis.edges, i))
				      : (double)i / axis_bins(&d->hist->axis);

	return 100 * LEFT + hundredths(at, ACROSS);
}

static double height_of(const struct drawing *d, uint32_t channel, uint32_t k)
{
	const struct part *const part = &d->columns.part[k];

	return (double)part_sum(part, d->hist, channel) * part->scale;
}

/* base: the line on which the columns stand, in hundredths. */
static void draw_columns(const struct drawing *d, uint32_t channel, long base)
{
	long end = 0, top = 0; /* of the columns drawn so far; end 0: no run has begun */

	output_text(d->out, "<path class=\"bins\" d=\"");
	for (uint32_t k = 0; k <= d->columns.count && !output_failed(d->out); k++) {
		const double height = k < d->columns.count ? height_of(d, channel, k) : 0;
		if (height <= 0 && end > 0) {
			put(d->out, 'H', end);
			put(d->out, 'V', base);
			output_text(d->out, "Z");
			end = 0;
		}
		if (height <= 0)
			continue;
		const long high = hundredths(span_at(&d->height, height), d->panel);
		const long y = base - (high > 100 ? high : 100);
		if (end == 0) {
			move(d->out, x_of(d, d->columns.part[k].first), base);
			put(d->out, 'V', y);
		} else if (y != top) {
			put(d->out, 'H', end);
			put(d->out, 'V', y);
		}
		top = y;
		end = x_of(d, d->columns.part[k].end);
	}
	output_text(d->out, "\"/>\n");
}

static double bounded(double x)
{
	return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x;
}

/* Columns of listed edges are scaled by their widths. */
static void lay_out(struct drawing *d)
{
	const struct axis *const axis = &d->hist->axis;
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);
	struct span *const across = &d->across;

	if (bins == 0)
		return;
	parts_join(&d->columns, axis, 0, bins, PARTS_MOST);
	*across = (struct span){.lo = bounded(edges_value(edges, 0)),
				.hi = bounded(edges_value(edges, bins))};
	across->log = axis->kind == AXIS_LOG || (axis->kind == AXIS_EDGES && across->lo > 0 &&
						 across->hi / across->lo >= 1000);
	across->exact = axis->kind == AXIS_MOD || (edges->exact && !across->log && !edges->list);
	across->whole_lo = axis->kind == AXIS_MOD ? 0 : edges->lo;
	across->width = axis->kind == AXIS_MOD ? bins : edges->width;
	across->whole = across->exact;
	if (axis->kind != AXIS_EDGES)
		return;
	d->unit = across->log ? 1 : DBL_MAX;
	for (uint32_t k = 0; k < d->columns.count; k++) {
		struct part *const part = &d->columns.part[k];
		const double lo = edges_value(edges, part->first),
			     hi = edges_value(edges, part->end);
		const double width =
			across->log ? (picture_log2(hi) - picture_log2(lo)) / picture_log2(10)
				    : hi - lo;
		/* Not 0 for neighbours, nor more than binary64 has. */
		part->scale = width > 0 ? bounded(width) : DBL_EPSILON;
		d->unit = !across->log && part->scale < d->unit ? part->scale : d->unit;
	}
	for (uint32_t k = 0; k < d->columns.count; k++)
		d->columns.part[k].scale = d->unit / d->columns.part[k].scale;
}

/*
 * The scale leaves some room above the highest column. One sample is visible on a logarithmic axis.
 */
static void scale_heights(struct drawing *d)
{
	double least = DBL_MAX, most = 0;

	for (uint32_t c = 0; c < d->hist->channels; c++)
		for (uint32_t k = 0; k < d->columns.count; k++) {
			const double height = height_of(d, c, k);
			least = height > 0 && height < least ? height : least;
			most = height > most ? height : most;
		}
	if (most <= 0)
		return;
	d->height = (struct span){.hi = most * 1.05, .whole = d->unit <= 0};
	if (d->log)
		d->height = (struct span){.lo = d->unit > 0 ? least / 2 : 0.5,
					  .hi = most * 1.5,
					  .log = true,
					  .whole = d->unit <= 0};
	ticks_find(&d->y, &d->height, (unsigned)(d->panel + 40) / 60, UINT_MAX);
}

/* If the ends are too close for round numbers between them, the ends themselves are written. */
static void name_values(struct drawing *d)
{
	if (d->columns.count > 0)
		ticks_find(&d->x, &d->across, X_TICKS, X_CHARACTERS);
	if (d->columns.count == 0 || d->x.count > 1)
		return;
	d->x = (struct ticks){.count = 2, .tick[1].at = 1};
	edge_text(d->x.tick[0].text, &d->hist->axis, 0);
	edge_text(d->x.tick[1].text, &d->hist->axis, axis_bins(&d->hist->axis));
}

/* The lines behind the columns, and their numbers. */
static void draw_grid(const struct drawing *d, long base)
{
	for (unsigned i = 0; i < d->y.count; i++) {
		const long y = base - hundredths(d->y.tick[i].at, d->panel);
		if (d->y.tick[i].text[0] == '\0')
			continue;
		output_text(d->out, "<path class=\"grid\" d=\"");
		move(d->out, 100 * LEFT, y);
		put(d->out, 'H', 100 * (LEFT + ACROSS));
		output_text(d->out, "\"/>\n");
		begin_text(d->out, "end", 100 * (LEFT - 8), y + 400);
		output_print(d->out, "%s</text>\n", d->y.tick[i].text);
	}
}

static void draw_axes(const struct drawing *d, long base)
{
	output_text(d->out, "<path class=\"axis\" d=\"");
	move(d->out, 100 * LEFT, base - 100 * d->panel);
	put(d->out, 'V', base);
	put(d->out, 'H', 100 * (LEFT + ACROSS));
	for (unsigned i = 0; i < d->y.count; i++) {
		move(d->out, 100 * LEFT, base - hundredths(d->y.tick[i].at, d->panel));
		put(d->out, 'H', 100 * LEFT - (d->y.tick[i].text[0] ? 500 : 300));
	}
	for (unsigned i = 0; i < d->x.count; i++) {
		move(d->out, 100 * LEFT + hundredths(d->x.tick[i].at, ACROSS), base);
		put(d->out, 'V', base + (d->x.tick[i].text[0] ? 500 : 300));
	}
	output_text(d->out, "\"/>\n");
}

/* Writes ", x 10^6" after the name of an axis whose numbers are to be multiplied by that. */
static void put_factor(struct output *out, const struct ticks *ticks)
{
	char power[TICK_TEXT];

	tick_power(power, ticks->factor);
	if (ticks->factor != 0)
		output_print(out, ", \xc3\x97 %s", power);
	output_text(out, "</text>\n");
}

/* The numbers below the last panel, and what they mean. */
static void name_x(const struct drawing *d, long base)
{
	const struct axis *const axis = &d->hist->axis;

	for (unsigned i = 0; i < d->x.count; i++) {
		const struct tick *const tick = &d->x.tick[i];
		/* A long number at the right end must stay within the picture. */
		const bool outer = strlen(tick->text) > 8 && tick->at > 0.92;
		if (tick->text[0] == '\0')
			continue;
		begin_text(d->out, outer ? "end" : "middle",
			   100 * LEFT + hundredths(tick->at, ACROSS), base + 1900);
		output_print(d->out, "%s</text>\n", tick->text);
	}
	begin_text(d->out, "middle", 100 * (LEFT + ACROSS / 2), base + 4000);
	output_text(d->out, "value");
	if (axis->kind == AXIS_MOD)
		output_print(d->out, " modulo %u", axis_bins(axis));
	output_print(d->out, " (%s)%s", axis->type.name, d->across.log ? ", logarithmic" : "");
	put_factor(d->out, &d->x);
}

/* What heights mean, beside all panels, from bottom to top. */
static void name_y(const struct drawing *d, long middle)
{
	output_print(d->out,
		     "<text text-anchor=\"middle\" transform=\"translate(18 %ld) rotate(-90)\">",
		     middle);
	if (d->unit > 0 && d->across.log)
		output_text(d->out, "samples per decade");
	else if (d->unit > 0)
		output_print(d->out, "samples per %.6g", d->unit);
	else if (d->columns.per > 1)
		output_print(d->out, "samples per %u bins", d->columns.per);
	else
		output_text(d->out, "samples per bin");
	output_text(d->out, d->log ? ", logarithmic" : "");
	put_factor(d->out, &d->y);
}

static void put_flow(struct output *out, const struct hist_flow *flow)
{
	static const char *const NAMES[] = {"under", "over", "NaN"};
	const uint64_t counts[] = {flow->under, flow->over, flow->nan};

	for (int i = 0; i < 3; i++)
		if (counts[i] > 0)
			output_print(out, DOT "%llu %s", (ull)counts[i], NAMES[i]);
}

/* The options, cut after a character; what was counted. */
static void draw_headings(const struct drawing *d, const struct provenance *from)
{
	const char *const options = from->options ? from->options : "";
	const uint32_t bins = axis_bins(&d->hist->axis);
	const struct hist_flow flow = hist_flow_sum(d->hist);
	size_t used = 0;

	for (size_t left = HEADING, some; options[used] && left > 0; left--, used += some) {
		some = utf8_length((const unsigned char *)options + used, strlen(options + used));
		some += some == 0;
	}
	output_print(d->out, "<text class=\"head\" x=\"%d\" y=\"28\">gpuhist ", LEFT);
	output_escaped(d->out, options, used, escape);
	output_text(d->out, options[used] ? "\xe2\x80\xa6" : "");
	output_print(d->out, "</text>\n<text x=\"%d\" y=\"48\">", LEFT);
	output_text(d->out, from->partial ? "partial, counting goes on" DOT : "");
	output_print(d->out, "%llu %s sample%s", (ull)d->hist->samples, d->hist->axis.type.name,
		     d->hist->samples == 1 ? "" : "s");
	if (d->hist->channels > 1)
		output_print(d->out, " of %u channels", d->hist->channels);
	output_print(d->out, DOT "%u bin%s", bins, bins == 1 ? "" : "s");
	if (d->hist->axis.clamp)
		output_text(d->out, DOT "the first and the last take what is out of range");
	put_flow(d->out, &flow);
	if (from->parts > 1)
		output_print(d->out, DOT "part %u of %u", from->part, from->parts);
	output_text(d->out, "</text>\n");
}

static void draw_panel(const struct drawing *d, uint32_t channel, long top)
{
	const long base = 100 * (top + PANEL_TOP + d->panel);
	const bool many = d->hist->channels > 1;
	struct filled filled;
	char text[BIN_TEXT];

	filled_bins(&filled, d->hist, channel);
	output_print(d->out, "<text class=\"note\" x=\"%d\" y=\"%ld\">", LEFT, top + PANEL_TOP - 8);
	if (many)
		output_print(d->out, "channel %u" DOT, channel);
	if (filled.bins > 0) {
		bin_text(text, &d->hist->axis, filled.fullest);
		output_print(d->out, "most in %s: %llu", text, (ull)filled.most);
	} else {
		output_text(d->out, d->columns.count > 0 ? "all bins are empty"
							 : "no bins: no finite sample was counted");
	}
	if (many)
		put_flow(d->out, &d->hist->flow[channel]);
	output_text(d->out, "</text>\n");
	draw_grid(d, base);
	draw_columns(d, channel, base);
	draw_axes(d, base);
}

void write_svg(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	struct drawing d = {.out = out, .hist = hist, .log = style->picture.log};
	const char *const options = from->options ? from->options : "";
	const uint32_t channels = hist->channels;

	d.panel = channels == 1 ? 340 : 120;
	const long each = PANEL_TOP + d.panel + PANEL_GAP,
		   panels = (long)channels * each - PANEL_GAP;
	lay_out(&d);
	scale_heights(&d);
	name_values(&d);
	output_print(out,
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gpuhist\" role=\"img\" "
		     "width=\"%d\" height=\"%ld\" viewBox=\"0 0 %d %ld\">\n<title>gpuhist ",
		     WIDTH, TOP + panels + BOTTOM, WIDTH, TOP + panels + BOTTOM);
	output_escaped(out, options, strlen(options), escape);
	output_text(out, "</title>\n");
	output_text(out, STYLE);
	draw_headings(&d, from);
	for (uint32_t c = 0; c < channels && !output_failed(out); c++)
		draw_panel(&d, c, TOP + (long)c * each);
	name_y(&d, TOP + (panels + PANEL_TOP) / 2);
	name_x(&d, 100 * (TOP + panels));
	output_text(out, "</svg>\n");
}
