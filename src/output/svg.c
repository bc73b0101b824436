/* SPDX-License-Identifier: MIT */
/*
 * svg: a histogram, or the rows of --each, as a picture in one file without scripts or fonts of its
 * own.
 *
 * A histogram has a panel for each channel, one below the other, with one axis and one scale. The
 * bars of a panel are one path; any bar that is not empty is at least one unit high. Rows are a
 * heat map, an image for each channel, side by side; or, with --stats, curves: for each
 * channel a panel for the entropy, and one for minimum, mean and maximum.
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

#include "output/picture.h"
#include "output/sheet.h"

#define RIGHT (LEFT + ACROSS)
#define WIDTH (RIGHT + 26)
#define MAP_HEIGHT 480
#define MAP_GAP 12

#define DIGIT 7.7  /* widest digit of the usual fonts */
#define HEADING 66 /* characters of the title above the picture */
#define DOT " \u00b7 "
#define MIDDLE "text-anchor=\"middle\""
#define END "text-anchor=\"end\""

typedef unsigned long long ull;

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
	"@media screen and (prefers-color-scheme: dark) {\n"
	".gpuhist text { fill: #e6edf3 }\n"
	".gpuhist .note { fill: #9198a1 }\n"
	".gpuhist .page { fill: #0d1117 }\n"
	".gpuhist .grid { stroke: #2b323b }\n"
	".gpuhist .axis { stroke: #9198a1 }\n"
	".gpuhist .bins { fill: #1f4f85; stroke: #6cb2ff }\n"
	".gpuhist .band { fill: #1f4f85 }\n"
	".gpuhist .line { stroke: #6cb2ff }\n"
	"}\n"
	"</style>\n"
	"<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";

/* Replaces markup, and what XML does not allow: most control characters, U+FFFE, U+FFFF. */
static const char *escape(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
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

/*
 * Write text for display, with thin spaces between thousands, minus signs and superscripts, and
 * without markup. Its characters are valid.
 */
static void svg_put(struct output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void svg_put(struct output *out, const char *format, ...)
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
			minus ? "\u2212" : escape((const unsigned char *)p, 1, NULL);
		if (instead)
			output_text(out, instead);
		else
			output_write(out, p, 1);
		p++;
	}
}

/* The width of a short number with its thin spaces; fonts differ, so this is the most. */
static double text_width(const char *text)
{
	const size_t digits = strspn(text, "0123456789");

	return DIGIT * (double)strlen(text) + 3 * (double)(digits > 0 ? (digits - 1) / 3 : 0);
}

void svg_text(struct output *out, const char *attributes, double x, double y, const char *text)
{
	if (text[0] == '\0')
		return;
	output_print(out, "<text %s x=\"" AT "\" y=\"" AT "\">", attributes, x, y);
	svg_put(out, "%s", text);
	output_text(out, "</text>\n");
}

/* ---- parts of every picture ---- */

/* Write the title or else the command, truncated to `most` characters. */
static void put_title(struct output *out, const char *title, const char *options, size_t most)
{
	const char *const text = title ? title : options;
	const size_t used = picture_cut(text, most);

	output_text(out, title ? "" : "gpuhist ");
	output_escaped(out, text, used, escape);
	output_text(out, text[used] ? "\u2026" : "");
}

void svg_open(struct output *out, int height, const char *title, const char *options)
{
	options = options ? options : "";
	output_print(out,
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gpuhist\" role=\"img\" "
		     "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
		     WIDTH, height, WIDTH, height);
	put_title(out, title, options, SIZE_MAX);
	output_text(out, "</title>\n<desc>gpuhist ");
	output_escaped(out, options, strlen(options), escape);
	output_text(out, "</desc>\n");
	output_text(out, STYLE);
	output_print(out, "<text class=\"head\" x=\"%d\" y=\"28\">", LEFT);
	put_title(out, title, options, HEADING);
	output_print(out, "</text>\n<text x=\"%d\" y=\"48\">", LEFT);
}

static void put_samples(struct output *out, uint64_t samples, const struct axis *axis,
			uint32_t channels)
{
	const uint32_t bins = axis_bins(axis);

	svg_put(out, "%llu %s sample%s", (ull)samples, axis->type.name, samples == 1 ? "" : "s");
	if (channels > 1)
		svg_put(out, " of %u channels", channels);
	svg_put(out, DOT "%u bin%s", bins, bins == 1 ? "" : "s");
}

/* Convert a position from 0 to 1 to hundredths on a line `units` long. */
static double along(double at, int units)
{
	return picture_round(at * (100.0 * units)) / 100;
}

double svg_x(const struct panel *p, double at)
{
	return p->left + along(at, p->width);
}

double svg_y(const struct panel *p, double at)
{
	return p->map ? p->top + along(at, p->height) : p->top + p->height - along(at, p->height);
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
	for (unsigned i = 0; i < p->y->ticks; i++)
		svg_text(out, END, p->left - 8, svg_y(p, p->y->tick[i].at) + 4, p->y->tick[i].text);
	for (unsigned i = 0; below && i < p->x->ticks; i++) {
		/* A long number at the right end must stay within the picture. */
		const double x = svg_x(p, p->x->tick[i].at);
		const bool outer = x + text_width(p->x->tick[i].text) / 2 > WIDTH - 2;
		svg_text(out, outer ? END : MIDDLE, outer ? WIDTH - 2 : x, base + 19,
			 p->x->tick[i].text);
	}
}

void svg_close(struct output *out, const char *below, const char *left, const struct scale *y,
	       int middle, int base)
{
	double widest = 0;

	for (unsigned i = 0; i < y->ticks; i++)
		widest = fmax(widest, text_width(y->tick[i].text));
	svg_text(out, MIDDLE, LEFT + ACROSS / 2, base + 40, below);
	if (*left) {
		output_print(out, "<g transform=\"translate(%d %d) rotate(-90)\">",
			     (int)fmax(16, LEFT - 16 - widest), middle);
		svg_text(out, MIDDLE, 0, 0, left);
		output_text(out, "</g>\n");
	}
	output_text(out, "</svg>\n");
}

#define NAME 96

static void name_values(char name[NAME], const struct axis *axis, const struct scale *x)
{
	char modulo[32] = "";

	if (!axis_kind_of(axis)->ordered)
		snprintf(modulo, sizeof(modulo), " modulo %u", axis_bins(axis));
	snprintf(name, NAME, "value%s (%s)%s", modulo, axis->type.name,
		 x->log ? ", logarithmic" : "");
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

static void draw_bars(struct output *out, const struct picture *p, uint32_t channel,
		      const struct panel *panel)
{
	const int base = panel->top + panel->height;
	double end = 0, top = 0; /* of the last bar drawn; end 0: no run has begun */

	output_text(out, "<path class=\"bins\" d=\"");
	for (uint32_t k = 0; k <= p->bars && !output_failed(out); k++) {
		const double value = k < p->bars ? picture_value(p, channel, k) : 0;
		double at[2] = {0, 0};
		if (value > 0)
			ruler_span(&p->ruler, p->bar[k].from, p->bar[k].to, at);
		const double from = svg_x(panel, at[0]);
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
		end = svg_x(panel, at[1]);
	}
	output_text(out, "\"/>\n");
}

/* Draw the reference of --compare as a line over the bars. */
static void draw_reference(struct output *out, const struct picture *p, uint32_t channel,
			   const struct panel *panel)
{
	const int base = panel->top + panel->height;
	double end = -1;

	if (!p->hist->reference || p->bars == 0)
		return;
	output_text(out, "<path fill=\"none\" stroke=\"#cf222e\" stroke-width=\"1.5\" d=\"");
	for (uint32_t k = 0; k < p->bars && !output_failed(out); k++) {
		const double value = picture_reference(p, channel, k);
		double at[2];
		ruler_span(&p->ruler, p->bar[k].from, p->bar[k].to, at);
		const double from = svg_x(panel, at[0]),
			     y = value > 0 ? fmin(svg_y(panel, scale_at(panel->y, value)), base)
					   : base;
		if (from > end) /* the first bar, or one behind a gap */
			output_print(out, "M" AT " %d", from, base);
		end = svg_x(panel, at[1]);
		output_print(out, "V" AT "H" AT, y, end);
	}
	output_print(out, "V%d\"/>\n", base);
}

/* Leave space above the highest bar, and keep one sample visible on a logarithmic axis. */
static void scale_values(struct scale *y, const struct picture *p, bool log, int height)
{
	unsigned ticks = (unsigned)(height + 40) / 60;

	if (p->most <= 0)
		return;
	y->whole = p->ruler.counted;
	y->hi = p->most * (log ? 1.5 : 1.05);
	y->log = log;
	if (log)
		y->lo = picture_base(p);
	do
		scale_ticks(y, ticks++, UINT_MAX);
	while (y->ticks < 3 && ticks < 10);
}

static void put_flow(struct output *out, const struct hist_flow *flow)
{
	static const char *const NAMES[] = {"under", "over", "NaN"};
	const uint64_t counts[] = {flow->under, flow->over, flow->nan};

	for (int i = 0; i < 3; i++)
		if (counts[i] > 0)
			svg_put(out, DOT "%llu %s", (ull)counts[i], NAMES[i]);
}

void svg_describe(struct output *out, const struct hist *hist, const struct provenance *from)
{
	const struct hist_flow flow = hist_flow_sum(hist);

	output_text(out, from->partial ? "partial: still counting" DOT : "");
	put_samples(out, hist->samples, &hist->axis, hist->channels);
	if (hist->axis.clamp)
		output_text(out, DOT "the first and last bins include samples out of range");
	put_flow(out, &flow);
	if (hist->reference)
		output_text(out, DOT "line: the reference, if it had as many samples");
	if (from->parts > 1)
		svg_put(out, DOT "part %u of %u", from->part, from->parts);
	output_text(out, "</text>\n");
}

/* The line of text above a channel's panel. */
static void note_channel(struct output *out, const struct picture *p, uint32_t channel, int y)
{
	const bool many = p->hist->channels > 1;
	const struct facts *const facts = &p->facts[channel];
	char text[BIN_TEXT];

	output_print(out, "<text class=\"note\" x=\"%d\" y=\"%d\">", LEFT, y);
	if (many)
		output_print(out, "channel %u" DOT, channel);
	if (facts->filled > 0) {
		bin_text(text, &p->hist->axis, facts->fullest);
		svg_put(out, "most in %s: %llu", text, (ull)facts->most);
	} else {
		output_text(out, p->bars > 0 ? "all bins are empty"
					     : "no bins: no finite sample was counted");
	}
	if (many)
		put_flow(out, &p->hist->flow[channel]);
	output_text(out, "</text>\n");
}

/* Name the axis of heights. */
static void name_heights(char name[NAME], const struct picture *p, bool log)
{
	char unit[UNIT_TEXT];

	picture_unit(unit, p);
	snprintf(name, NAME, "samples per %s%s%s", unit,
		 picture_gaps(p) > 0 ? ", at 0 samples" : "", log ? ", logarithmic" : "");
}

void write_svg(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	const int channels = (int)hist->channels;
	/* Up to eight channels make a picture no higher than wide. */
	const int fit = (WIDTH - TOP - BOTTOM) / channels - PANEL_TOP - PANEL_GAP;
	const int height = channels == 1 ? 340 : fit > 160 ? 160 : fit < 50 ? 50 : fit;
	const int each = PANEL_TOP + height + PANEL_GAP, end = TOP + channels * each - PANEL_GAP;
	struct scale y = {.lo = 0};
	struct picture p;
	struct panel panel = {LEFT, 0, ACROSS, height, &p.ruler.x, &y, false};
	char below[NAME], left[NAME];

	if (hist->linearity) {
		svg_linearity(out, hist, style, from);
		return;
	}
	if (picture_open(&p, hist, true, BARS_MOST) != 0) {
		output_fail(out);
		return;
	}
	picture_join(&p, BARS_MOST);
	picture_count(&p);
	scale_values(&y, &p, style->canvas.log, height);
	if (p.bars > 0)
		svg_ticks(&p.ruler.x, &hist->axis, 10);
	svg_open(out, end + BOTTOM, style->canvas.title, from->options);
	svg_describe(out, hist, from);
	for (int c = 0; c < channels && !output_failed(out); c++) {
		panel.top = TOP + c * each + PANEL_TOP;
		note_channel(out, &p, (uint32_t)c, panel.top - 8);
		svg_grid(out, &panel);
		draw_bars(out, &p, (uint32_t)c, &panel);
		draw_reference(out, &p, (uint32_t)c, &panel);
		svg_axes(out, &panel, c + 1 == channels);
	}
	name_heights(left, &p, y.log);
	name_values(below, &hist->axis, &p.ruler.x);
	svg_close(out, below, left, &y, (TOP + PANEL_TOP + end) / 2, end);
	picture_free(&p);
}

/* ---- rows ---- */

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
	return s->unit ? s->unit : s->size == 0 ? "row" : s->bytes ? "offset" : "record";
}

static void describe_rows(struct output *out, const struct sheet *s)
{
	svg_put(out, "%llu %s%s", (ull)s->count, s->unit ? s->unit : "row",
		s->count == 1 ? "" : "s");
	if (s->size > 0 && !s->unit)
		svg_put(out, " of %llu %s", (ull)s->size, s->bytes ? "bytes" : "records");
	output_text(out, DOT);
	put_samples(out, s->samples, s->axis, s->channels);
	if (s->joined > 1)
		svg_put(out, DOT "%llu rows are drawn as one", (ull)s->joined);
	output_text(out, "</text>\n");
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
	double most = 0;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		put64(&b, before[i]);
	for (unsigned i = 0; i < 128 * 3; i++) /* 0 is transparent */
		put64(&b,
		      i < 3 || i / 3 > SHADES ? 0 : RAMP[i / 3 - 1].rgb >> (16 - i % 3 * 8) & 255);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		put64(&b, after[i]);
	for (uint32_t i = 0; i < all && !output_failed(out); i++) {
		const double *const cell = sheet_at(s, i / w, channel);
		for (uint32_t k = 0; k < w && i % w == 0; k++)
			most = fmax(k > 0 ? most : 0, cell[k]);
		if (i % 120 == 0) {
			put64(&b, all - i < 120 ? all - i + 1 : 121);
			put64(&b, 128);
		}
		put64(&b, strip_shade(cell[i % w], most, SHADES, s->canvas->log));
	}
	for (int i = 0; i < 4; i++) /* a block with the end code, an empty block, the end */
		put64(&b, (const unsigned[]){1, 129, 0, 0x3b}[i]);
	flush64(&b);
}

/* Draw a channel's image: a pixel per cell, brightest at the row's largest value. */
static void draw_map(struct output *out, const struct sheet *s, uint32_t channel,
		     const struct panel *p)
{
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
static void draw_ramp(struct output *out, int y)
{
	const int left = RIGHT - 40 - 8 * (int)SHADES;

	for (int i = 0; i < (int)SHADES; i++)
		output_print(out,
			     "<rect x=\"%d\" y=\"%d\" width=\"8\" height=\"12\" fill=\"#%06x\"/>\n",
			     left + 8 * i, y - 10, RAMP[i].rgb);
	svg_text(out, END, left - 6, y, "in each row: few samples");
	svg_text(out, END, RIGHT, y, "most");
}

/* Write the names of inputs next to their rows. */
static void name_rows(struct output *out, const struct sheet *s, const struct panel *p)
{
	for (uint32_t r = 0; r < s->rows; r++) {
		const char *const slash = strrchr(s->names[r], '/');
		const char *const file = slash ? slash + 1 : s->names[r];
		output_print(out, "<text " END " x=\"%d\" y=\"" AT "\">", LEFT - 8,
			     svg_y(p, (r + 0.5) / s->rows) + 4);
		output_escaped(out, file, picture_cut(file, 13), escape);
		output_text(out, "</text>\n");
	}
}

static void write_map(struct output *out, const struct sheet *s)
{
	const int channels = (int)s->channels, rows = (int)s->rows;
	const int each = rows == 0 ? 24 : MAP_HEIGHT / rows < 24 ? MAP_HEIGHT / rows : 24;
	const int height = each == 0 ? MAP_HEIGHT : each * (rows > 0 ? rows : 1);
	const bool named = s->names && each > 9;
	const struct scale none = {.lo = 0};
	struct scale x = s->strip.ruler.x,
		     y = scale_of_rows(s, (unsigned)height / 40 + 1, UINT_MAX);
	/* With several channels, a line for their names below the line of the colours. */
	const int top = TOP + PANEL_TOP + (channels > 1 ? PANEL_TOP : 0);
	const int gap = ACROSS / channels / 5 < MAP_GAP ? ACROSS / channels / 5 : MAP_GAP;
	struct panel p = {0, top, 0, height, &x, named ? &none : &y, true};
	char name[NAME];

	p.width = (ACROSS + gap) / channels - gap;
	svg_ticks(&x, s->axis, channels > 5 ? 2 : 10 / (unsigned)channels);
	svg_open(out, p.top + height + BOTTOM, s->canvas->title, s->options);
	describe_rows(out, s);
	draw_ramp(out, TOP + PANEL_TOP - 8);
	for (int c = 0; c < channels; c++) {
		p.left = LEFT + c * (ACROSS + gap) / channels;
		snprintf(name, sizeof(name), "channel %d", c);
		svg_text(out, START, p.left, p.top - 8, channels > 1 && channels < 6 ? name : "");
		if (rows > 0)
			draw_map(out, s, (uint32_t)c, &p);
		svg_axes(out, &p, channels < 6);
		if (c == 0 && named)
			name_rows(out, s, &p);
		p.y = &none; /* has its numbers by now */
	}
	name_values(name, s->axis, &x);
	svg_close(out, name, named ? "" : name_of_rows(s), &y, p.top + height / 2, p.top + height);
}

/* Draw a figure of all rows as a line; `back`: continue it from the last row to the first. */
static void trace(struct output *out, const struct sheet *s, uint32_t channel, uint32_t curve,
		  const struct panel *panel, bool back)
{
	bool begun = back;

	for (uint32_t i = 0; i < s->rows; i++) {
		const uint32_t r = back ? s->rows - 1 - i : i;
		const double *const row = sheet_at(s, r, channel);
		const double middle = (r + 0.5) * (double)s->joined / (double)s->count;
		if (row[CURVE_COUNT] <= 0)
			continue;
		output_print(out, "%c" AT " " AT, begun ? 'L' : 'M', svg_x(panel, fmin(middle, 1)),
			     svg_y(panel, scale_at(panel->y, row[curve])));
		begun = true;
	}
}

static void draw_line(struct output *out, const struct sheet *s, uint32_t channel, uint32_t curve,
		      const struct panel *panel)
{
	output_text(out, "<path class=\"line\" d=\"");
	trace(out, s, channel, curve, panel, false);
	output_text(out, "\"/>\n");
}

/* Fill the area between two curves. */
static void draw_area(struct output *out, const struct sheet *s, uint32_t channel, uint32_t low,
		      uint32_t high, const struct panel *panel)
{
	output_text(out, "<path class=\"band\" d=\"");
	trace(out, s, channel, high, panel, false);
	trace(out, s, channel, low, panel, true);
	output_text(out, "\"/>\n");
}

/* Name the curves of a panel. */
static void name_curves(char name[NAME], const struct sheet *s, uint32_t channel, bool entropy)
{
	char percent[NUMBER_TEXT];
	size_t used = 0;

	name[0] = '\0';
	if (s->channels > 1)
		used = (size_t)snprintf(name, NAME, "channel %u: ", channel);
	if (!s->quantiles) {
		snprintf(name + used, NAME - used, "%s",
			 entropy ? "entropy in bits" : "minimum, mean, maximum");
		return;
	}
	for (unsigned i = 0; i < s->quantiles->n; i++) {
		quantile_name(percent, s->quantiles, i);
		const char *const after = i + 1 < s->quantiles->n ? ", % ..." : ", %";
		if (used + strlen(percent) + strlen(after) >= NAME) {
			strcat(name, " ...");
			return;
		}
		used += (size_t)snprintf(name + used, NAME - used, "%s%s%%", i > 0 ? ", " : "",
					 percent);
	}
}

/* The scale of minimum, mean and maximum, or of the quantiles, in all channels. */
static struct scale scale_of_curves(const struct sheet *s, uint32_t low, uint32_t high)
{
	struct scale y = {.lo = DBL_MAX, .hi = -DBL_MAX, .whole = s->axis->edges.integers};

	for (uint32_t i = 0; i < s->rows * s->channels; i++) {
		const double *const row = sheet_at(s, 0, i);
		if (row[CURVE_COUNT] <= 0)
			continue;
		y.lo = fmin(y.lo, row[low]);
		y.hi = fmax(y.hi, row[high]);
	}
	y.hi += y.hi <= y.lo;
	return y;
}

static void write_curves(struct output *out, const struct sheet *s)
{
	/* Each channel has a panel, preceded by one for the entropy unless quantiles are drawn. */
	const bool both = !s->quantiles && sheet_has_entropy(s->axis);
	const int each_channel = both ? 2 : 1, panels = each_channel * (int)s->channels;
	const int fit = 800 / panels - PANEL_TOP - PANEL_GAP;
	const int height = fit > 200 ? 200 : fit < 40 ? 40 : fit;
	const int each = PANEL_TOP + height + PANEL_GAP, end = TOP + panels * each - PANEL_GAP;
	const uint32_t low = s->quantiles ? 1 : CURVE_LEAST,
		       high = s->quantiles ? s->width - 1 : CURVE_GREATEST;
	struct scale x = scale_of_rows(s, 10, X_CHARACTERS),
		     y[] = {{.hi = sheet_bits(s->axis)}, scale_of_curves(s, low, high)};
	struct panel panel = {.left = LEFT, .width = ACROSS, .height = height, .x = &x};
	char name[NAME];

	for (int i = 0; i < 2; i++)
		if (y[i].lo < y[i].hi)
			scale_ticks(&y[i], (unsigned)height / 30 + 1, UINT_MAX);
	svg_open(out, end + BOTTOM, s->canvas->title, s->options);
	describe_rows(out, s);
	for (int i = 0; i < panels && !output_failed(out); i++) {
		const uint32_t c = (uint32_t)(i / each_channel);
		const bool entropy = both && i % 2 == 0;
		panel.top = TOP + i * each + PANEL_TOP;
		panel.y = &y[!entropy];
		name_curves(name, s, c, entropy);
		svg_text(out, START, LEFT, panel.top - 8, name);
		svg_grid(out, &panel);
		if (!entropy && high > low)
			draw_area(out, s, c, low, high, &panel);
		for (uint32_t q = low; q <= high && s->quantiles; q++)
			draw_line(out, s, c, q, &panel);
		if (!s->quantiles)
			draw_line(out, s, c, entropy ? CURVE_ENTROPY : CURVE_MEAN, &panel);
		svg_axes(out, &panel, i + 1 == panels);
	}
	svg_close(out, name_of_rows(s), "", &y[0], 0, end);
}

void write_svg_sheet(struct output *out, const struct sheet *s)
{
	(s->curves ? write_curves : write_map)(out, s);
}
