/* SPDX-License-Identifier: MIT */
/*
 * svg: a histogram as a picture in one file without scripts or fonts of its own; svg_sheet.c draws
 * rows, and histograms of many channels as rows.
 *
 * A histogram has a panel for each channel, one below the other, with one axis and one scale. The
 * bars of a panel are one path; any bar that is not empty is at least one unit high.
 *
 * Texts never overlap: svg_width is more than the width of a text in the usual fonts, and a label
 * without room is left out.
 *
 * Coordinates are whole hundredths of a unit. Both colour schemes paint a background of their own,
 * because a page may be light when the system is dark.
 */
#include "output/svg.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "hist/series.h"
#include "output/picture.h"

#define HEADING 66 /* characters of the title above the picture */

static const char STYLE[] =
	"<style>\n"
	".gpuhist { font: 12px system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif "
	"}\n"
	".gpuhist text { fill: #1f2328 }\n"
	".gpuhist .head { font-size: 14px; font-weight: 600 }\n"
	".gpuhist .note { fill: #59636e }\n"
	".gpuhist .page { fill: #ffffff }\n"
	".gpuhist .grid { stroke: #d8dee4 }\n"
	".gpuhist .axis { stroke: #59636e; fill: none }\n"
	".gpuhist .bins { fill: #9cc3ec; stroke: #1f5fa8; stroke-linejoin: round }\n"
	".gpuhist .band { fill: #9cc3ec }\n"
	".gpuhist .line { fill: none; stroke: #1f5fa8; stroke-linejoin: round }\n"
	".gpuhist .dots { fill: #1f5fa8; stroke: none }\n"
	".gpuhist .reference { fill: none; stroke: #cf222e; stroke-width: 1.5 }\n"
	"@media screen and (prefers-color-scheme: dark) {\n"
	".gpuhist text { fill: #e6edf3 }\n"
	".gpuhist .note { fill: #9198a1 }\n"
	".gpuhist .page { fill: #0d1117 }\n"
	".gpuhist .grid { stroke: #2b323b }\n"
	".gpuhist .axis { stroke: #9198a1 }\n"
	".gpuhist .bins { fill: #1f4f85; stroke: #6cb2ff }\n"
	".gpuhist .band { fill: #1f4f85 }\n"
	".gpuhist .line { stroke: #6cb2ff }\n"
	".gpuhist .dots { fill: #6cb2ff }\n"
	".gpuhist .reference { stroke: #ff7b72 }\n"
	"}\n"
	"</style>\n"
	"<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";

/* Replaces markup, and what XML does not allow: most control characters, U+FFFE, U+FFFF. */
static const char *svg_escape(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
{
	const bool last = length == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe;

	(void)text;
	if (length > 1 && !last)
		return NULL;
	if (length == 0 || last || (p[0] < 0x20 && !memchr("\t\n\r", p[0], 3)) || p[0] == 0x7f)
		return "\ufffd";
	/* A reader would take a bare \r for the end of a line. */
	return p[0] == '&'    ? "&amp;"
	       : p[0] == '<'  ? "&lt;"
	       : p[0] == '>'  ? "&gt;"
	       : p[0] == '\r' ? "&#13;"
			      : NULL;
}

/* Write the exponent of a number, as in e+09; return where its text ends. */
static const char *put_power(struct output *out, const char *text)
{
	static const char DIGITS[][4] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
					 "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};

	output_text(out, text[1] == '-' ? "10\u207b" : "10");
	for (text += 2; *text == '0' && text[1] >= '0' && text[1] <= '9';)
		text++;
	for (; *text >= '0' && *text <= '9'; text++)
		output_text(out, DIGITS[*text - '0']);
	return text;
}

void svg_put(struct output *out, const char *format, ...)
{
	char text[OUTPUT_PRINT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (const char *p = text; *p;) {
		const size_t digits = strspn(p, "0123456789");
		const char before = p > text ? p[-1] : ' ';
		if (digits > 0 && p[digits] == 'e' &&
		    (p[digits + 1] == '+' || p[digits + 1] == '-')) {
			if (digits > 1 || *p != '1' || before == '.') {
				output_write(out, p, digits);
				output_text(out, "\u00d7");
			}
			p = put_power(out, p + digits);
			continue;
		}
		for (size_t left = digits; left > 0; left--) {
			if (left < digits && left % 3 == 0 && !strchr(".xABCDEF", before))
				output_text(out, "\u2009");
			output_write(out, p++, 1);
		}
		if (digits > 0)
			continue;
		const bool minus = *p == '-' && p[1] >= '0' && p[1] <= '9';
		const char *const instead =
			minus ? "\u2212" : svg_escape((const unsigned char *)p, 1, NULL);
		if (instead)
			output_text(out, instead);
		else
			output_write(out, p, 1);
		p++;
	}
}

double svg_width(const char *text)
{
	double width = 0;
	size_t digits = 0, length;

	for (; *text; text += length) {
		const char c = *text;
		length = utf8_length((const unsigned char *)text, strlen(text));
		digits = c >= '0' && c <= '9' ? digits + 1 : 0;
		width += (c & 0x80) || strchr("mwMW@%", c)                  ? 12.5
			 : (c >= 'A' && c <= 'Z') || strchr("#+-=<>~^&", c) ? 10.5
			 : strchr("ijl.,:;|!'()[] ", c)                     ? 5
			 : c == 'e' && (text[1] == '+' || text[1] == '-')   ? 16
									    : 8;
		width += digits > 3 && digits % 3 == 1 ? 3 : 0; /* thin spaces */
		length = length > 0 ? length : 1;
	}
	return width;
}

void svg_text(struct output *out, const char *attributes, double x, double y, const char *text)
{
	if (text[0] != '\0')
		svg_named(out, attributes, x, y, "", text);
}

void svg_name(struct output *out, const char *attributes, double x, double y, const char *name)
{
	svg_named(out, attributes, x, y, name, "");
}

void svg_named(struct output *out, const char *attributes, double x, double y, const char *name,
	       const char *text)
{
	output_print(out, "<text %s x=\"" AT "\" y=\"" AT "\">", attributes, x, y);
	output_escaped(out, name, strlen(name), svg_escape);
	svg_put(out, "%s", text);
	output_text(out, "</text>\n");
}

/* ---- parts of every picture ---- */

void svg_open(struct output *out, int height, const char *title, const char *options)
{
	char head[4 * HEADING + 4];

	options = options ? options : "";
	output_print(out,
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gpuhist\" role=\"img\" "
		     "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
		     WIDTH, height, WIDTH, height);
	output_escaped(out, title ? title : "gpuhist", strlen(title ? title : "gpuhist"),
		       svg_escape);
	output_text(out, "</title>\n<desc>gpuhist ");
	output_escaped(out, options, strlen(options), svg_escape);
	output_text(out, "</desc>\n");
	output_text(out, STYLE);
	picture_shorten(head, sizeof(head), title ? title : "", HEADING, "\u2026");
	if (*head)
		svg_name(out, "class=\"head\"", LEFT, 28, head);
}

void svg_say(struct caption *c, const char *format, ...)
{
	const size_t used = strlen(c->text);
	char more[sizeof(c->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(more, sizeof(more), format, arguments);
	va_end(arguments);
	if (c->full || *more == '\0')
		return;
	snprintf(c->text + used, sizeof(c->text) - used, "%s%s", used > 0 ? DOT : "", more);
	c->full = c->before + svg_width(c->text) > WIDTH - LEFT - 16;
	if (c->full)
		strcpy(c->text + used, DOT "\u2026");
}

void svg_say_samples(struct caption *c, uint64_t samples, const struct hist *series,
		     uint32_t channels)
{
	const uint32_t bins = axis_bins(&series->axis);
	char of[32] = "";

	if (channels > 1)
		snprintf(of, sizeof(of), " of %u %ss", channels, series_head(series));
	svg_say(c, "%llu %s sample%s%s", (ull)samples, series->axis.type.name,
		samples == 1 ? "" : "s", of);
	if (bins != 1)
		svg_say(c, "%u bins", bins);
}

/* Convert a position from 0 to 1 to hundredths on a line `units` long. */
static double svg_along(double at, int units)
{
	return picture_round(at * (100.0 * units)) / 100;
}

double svg_x(const struct panel *p, double at)
{
	return p->left + svg_along(at, p->width);
}

double svg_y(const struct panel *p, double at)
{
	return p->map ? p->top + svg_along(at, p->height)
		      : p->top + p->height - svg_along(at, p->height);
}

void svg_grid(struct output *out, const struct panel *p)
{
	output_text(out, "<path class=\"grid\" d=\"");
	for (unsigned i = 0; i < p->x->ticks && p->x->log; i++)
		if (p->x->tick[i].text[0])
			output_print(out, "M" AT " %dV%d", svg_x(p, p->x->tick[i].at), p->top,
				     p->top + p->height);
	for (unsigned i = 0; i < p->y->ticks; i++)
		if (p->y->tick[i].text[0])
			output_print(out, "M%d " AT "H%d", p->left, svg_y(p, p->y->tick[i].at),
				     p->left + p->width);
	output_text(out, "\"/>\n");
}

/* The parts of a line that labels take. */
struct taken {
	unsigned n;
	double at[TICKS_MAX][2];
};

/* Take a part unless another label has some of it. */
static bool label_take(struct taken *t, double from, double to)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->at[i][0] < to && from < t->at[i][1])
			return false;
	t->at[t->n][0] = from;
	t->at[t->n++][1] = to;
	return true;
}

void svg_axes(struct output *out, const struct panel *p, bool below)
{
	const int base = p->top + p->height;

	output_print(out, "<path class=\"axis\" d=\"M%d %dV%dH%d", p->left, p->top, base,
		     p->left + p->width);
	for (unsigned i = 0; i < p->y->ticks; i++)
		output_print(out, "M%d " AT "h-%d", p->left, svg_y(p, p->y->tick[i].at),
			     p->y->tick[i].text[0] ? 5 : 3);
	for (unsigned i = 0; i < p->x->ticks; i++)
		output_print(out, "M" AT " %dv%d", svg_x(p, p->x->tick[i].at), base,
			     p->x->tick[i].text[0] ? 5 : 3);
	output_text(out, "\"/>\n");
	struct taken rows = {0}, columns = {0};
	for (unsigned i = 0; i < p->y->ticks; i++) {
		const double y = svg_y(p, p->y->tick[i].at);
		if (p->y->tick[i].text[0] && label_take(&rows, y - 6.5, y + 6.5))
			(p->y->names ? svg_name : svg_text)(out, END, p->left - 8, y + 4,
							    p->y->tick[i].text);
	}
	/* Labels below stay in the panel and its margins. */
	for (unsigned i = 0; below && i < p->x->ticks; i++) {
		const char *const text = p->x->tick[i].text;
		const double half = svg_width(text) / 2, low = p->left - p->margin + half,
			     high = p->left + p->width + p->margin - half,
			     x = fmax(fmin(svg_x(p, p->x->tick[i].at), high), low);
		if (low <= high && *text && label_take(&columns, x - half, x + half))
			(p->x->names ? svg_name : svg_text)(out, MIDDLE, x, base + 19, text);
	}
}

static double widest_of(const struct scale *y)
{
	double widest = 0;

	for (unsigned i = 0; i < y->ticks; i++)
		widest = fmax(widest, svg_width(y->tick[i].text));
	return widest;
}

void svg_room(struct panel *p, const struct scale *y)
{
	const int right = p->left + p->width;

	p->left = (int)fmax(LEFT, widest_of(y) + 36);
	p->width = right - p->left;
}

void svg_close(struct output *out, const struct panel *p, const char *below, const char *left,
	       int middle, int base)
{
	svg_name(out, MIDDLE, LEFT + ACROSS / 2, base + 40, below);
	if (*left) {
		output_print(out, "<g transform=\"translate(%d %d) rotate(-90)\">",
			     (int)(p->left - 16 - widest_of(p->y)), middle);
		svg_name(out, MIDDLE, 0, 0, left);
		output_text(out, "</g>\n");
	}
	output_text(out, "</svg>\n");
}

void svg_values(char name[SVG_NAME], const struct canvas *canvas, const struct axis *axis,
		const struct scale *x)
{
	char modulo[32] = "", column[SVG_NAME / 2];

	if (!axis_kind_of(axis)->ordered)
		snprintf(modulo, sizeof(modulo), " modulo %u", axis_bins(axis));
	if (canvas->value)
		picture_shorten(column, sizeof(column), canvas->value, 40, "\u2026");
	else
		snprintf(column, sizeof(column), "value%s (%s)", modulo, axis->type.name);
	snprintf(name, SVG_NAME, "%s%s", column, x->log ? ", logarithmic" : "");
}

void svg_ticks(struct scale *x, const struct axis *axis, unsigned most)
{
	char text[NUMBER_TEXT];

	scale_ticks(x, most, X_CHARACTERS * most / 10);
	if (x->ticks > 1)
		return;
	x->ticks = 2;
	for (uint32_t i = 0; i < 2; i++) {
		edges_format(&axis->edges, i * axis_bins(axis), text);
		x->tick[i].at = i;
		snprintf(x->tick[i].text, TICK_TEXT, "%.40s", text);
	}
}

/* ---- bars ---- */

void svg_bars(struct output *out, const struct outline *o, const struct panel *panel)
{
	const int base = panel->top + panel->height;
	double end = 0, top = 0; /* of the last bar drawn; end 0: no run has begun */

	output_text(out, "<path class=\"bins\" d=\"");
	for (uint32_t k = 0; k <= o->n && !output_failed(out); k++) {
		const double value = k < o->n ? o->value[k] : 0;
		const double from = value > 0 ? svg_x(panel, o->at[k][0]) : 0;
		if (end > 0 && (value <= 0 || from > end)) {
			output_print(out, "H" AT "V%dZ", end, base);
			end = 0;
		}
		if (value <= 0)
			continue;
		const double y = fmin(svg_y(panel, scale_at(panel->y, value)), base - 1);
		if (end <= 0)
			output_print(out, "M" AT " %dV" AT, from, base, y);
		else if (y < top || y > top)
			output_print(out, "H" AT "V" AT, end, y);
		top = y;
		end = svg_x(panel, o->at[k][1]);
	}
	output_text(out, "\"/>\n");
}

/* Draw a reference as a line over the bars. */
static void draw_reference(struct output *out, const struct outline *o, const struct panel *panel)
{
	const int base = panel->top + panel->height;
	double end = -1;

	output_text(out, "<path class=\"reference\" d=\"");
	for (uint32_t k = 0; k < o->n && !output_failed(out); k++) {
		const double from = svg_x(panel, o->at[k][0]), value = o->value[k],
			     y = value > 0 ? fmin(svg_y(panel, scale_at(panel->y, value)), base)
					   : base;
		if (from > end) /* the first bar, or one behind a gap */
			output_print(out, "M" AT " %d", from, base);
		end = svg_x(panel, o->at[k][1]);
		output_print(out, "V" AT "H" AT, y, end);
	}
	output_print(out, "V%d\"/>\n", base);
}

/* The values of a channel's bars, or of its reference. */
static void outline_of(struct outline *o, const struct picture *p, uint32_t channel, bool reference)
{
	o->n = p->bars;
	for (uint32_t k = 0; k < p->bars; k++) {
		o->value[k] = (reference ? picture_reference : picture_value)(p, channel, k);
		ruler_span(&p->ruler, p->bar[k].from, p->bar[k].to, o->at[k]);
	}
}

void svg_heights(struct scale *y, double least, double most, bool log, int height)
{
	unsigned ticks = (unsigned)(height + 40) / 60;

	if (most <= 0)
		return;
	y->hi = most * (log ? 1.5 : 1.05);
	y->log = log;
	if (log)
		y->lo = scale_below(least);
	do
		scale_ticks(y, ticks++, UINT_MAX);
	while (y->ticks < 3 && ticks < 10);
}

struct stack svg_stack(int panels)
{
	/* Up to eight panels make a picture no higher than wide. */
	const int fit = (WIDTH - TOP - BOTTOM) / panels - PANEL_TOP - PANEL_GAP;
	const int height = panels == 1 ? 340 : fit > 160 ? 160 : fit < 50 ? 50 : fit;
	const int each = PANEL_TOP + height + PANEL_GAP;

	return (struct stack){each, height, TOP + panels * each - PANEL_GAP};
}

static void say_flow(struct caption *c, const struct hist *hist, const struct hist_flow *flow)
{
	const bool real = hist->axis.type.kind == SAMPLE_FLOAT;
	const char *const NAMES[] = {"under", "over", real ? "NaN" : "missing"};
	const uint64_t counts[] = {flow->under, flow->over, flow->nan};

	for (int i = 0; i < 3; i++)
		if (counts[i] > 0)
			svg_say(c, "%llu %s", (ull)counts[i], NAMES[i]);
}

void svg_describe(struct output *out, const struct hist *hist, const struct provenance *from,
		  const char *note)
{
	const struct hist_flow flow = hist_flow_sum(hist);
	struct caption c = {.full = false};

	svg_say(&c, from->partial ? "partial: still counting" : "");
	svg_say_samples(&c, hist->samples, hist, hist->channels);
	svg_say(&c, "%s", note);
	if (hist->axis.clamp)
		svg_say(&c, "the first and last bins include samples out of range");
	say_flow(&c, hist, &flow);
	if (hist->reference)
		svg_say(&c, "line: the reference, if it had as many samples");
	if (from->parts > 1)
		svg_say(&c, "part %u of %u", from->part, from->parts);
	svg_text(out, START, LEFT, 48, c.text);
}

/* The line of text above a channel's panel. */
static void note_channel(struct output *out, const struct picture *p, uint32_t channel, int y)
{
	const bool many = p->hist->channels > 1;
	const struct facts *const facts = &p->facts[channel];
	struct caption c = {.full = false};
	char text[BIN_TEXT], label[SERIES_LABEL + sizeof(DOT)];

	series_label(label, p->hist, channel);
	if (many)
		strcat(label, DOT);
	c.before = svg_width(label);
	if (facts->filled > 0) {
		bin_text(text, &p->hist->axis, facts->fullest);
		svg_say(&c, "most in %s: %llu", text, (ull)facts->most);
	} else {
		svg_say(&c, p->bars > 0 ? "all bins are empty"
					: "no bins: no finite sample was counted");
	}
	if (many)
		say_flow(&c, p->hist, &p->hist->flow[channel]);
	svg_named(out, "class=\"note\"", LEFT, y, label, c.text);
}

/* Name the axis of heights. */
static void name_heights(char name[SVG_NAME], const struct picture *p, bool log)
{
	char unit[UNIT_TEXT];

	picture_unit(unit, p);
	snprintf(name, SVG_NAME, "samples per %s%s%s", unit,
		 picture_gaps(p) > 0 ? ", at 0 samples" : "", log ? ", logarithmic" : "");
}

void write_svg(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	const int channels = (int)hist->channels;
	const struct stack stack = svg_stack(channels);
	struct picture p;
	struct scale y = {.lo = 0};
	struct panel panel = {.left = LEFT,
			      .width = ACROSS,
			      .height = stack.height,
			      .margin = MARGIN,
			      .x = &p.ruler.x,
			      .y = &y};
	struct outline *const o = malloc(sizeof(*o));
	char below[SVG_NAME], left[SVG_NAME], shorter[SHORT_TEXT];

	if (hist->linearity || hist->channels > PANELS_MOST) {
		free(o);
		(hist->linearity ? svg_linearity : svg_channels)(out, hist, style, from);
		return;
	}
	if (!o || picture_open(&p, hist, true, BARS_MOST) != 0) {
		free(o);
		output_fail(out);
		return;
	}
	picture_join(&p, BARS_MOST);
	picture_count(&p);
	y.whole = p.ruler.counted;
	svg_heights(&y, p.least, p.most, style->canvas.log, stack.height);
	svg_room(&panel, &y);
	if (p.bars > 0)
		svg_ticks(&p.ruler.x, &hist->axis, 10);
	svg_open(out, stack.end + BOTTOM, style->canvas.title, from->options);
	picture_say_short(shorter, &p);
	svg_describe(out, hist, from, shorter);
	for (int c = 0; c < channels && !output_failed(out); c++) {
		panel.top = TOP + c * stack.each + PANEL_TOP;
		note_channel(out, &p, (uint32_t)c, panel.top - 8);
		svg_grid(out, &panel);
		outline_of(o, &p, (uint32_t)c, false);
		svg_bars(out, o, &panel);
		if (hist->reference && p.bars > 0) {
			outline_of(o, &p, (uint32_t)c, true);
			draw_reference(out, o, &panel);
		}
		svg_axes(out, &panel, c + 1 == channels);
		if (*shorter) /* at the foot of the last bar */
			svg_text(out, START, RIGHT + 4, panel.top + panel.height, "*");
	}
	name_heights(left, &p, y.log);
	svg_values(below, &style->canvas, &hist->axis, &p.ruler.x);
	svg_close(out, &panel, below, left, (TOP + PANEL_TOP + stack.end) / 2, stack.end);
	picture_free(&p);
	free(o);
}
