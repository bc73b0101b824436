/* SPDX-License-Identifier: MIT */
/*
 * svg: a histogram as a picture, in one file without scripts or fonts of its own.
 *
 * There is a panel for each channel, one below the other, with one axis and one scale. In each
 * there is one path: the filled outline of the columns, with a part of its own for each run of
 * columns that are not empty. So an empty column draws nothing, and any other is at least one unit
 * high.
 *
 * Heights are samples in a column, and all columns but the last hold the same number of bins. Where
 * edges are listed, columns are at their true positions, areas are in proportion to samples, and
 * heights are samples per W, the width of the narrowest column; if these edges are above zero and
 * the last one is at least 1000 times the first, the axis is logarithmic, and heights are samples
 * per decade. With --log=auto one column stands for many empty ones, with a break of the axis below
 * it, and a line shows where zero is.
 *
 * Coordinates are whole hundredths of a unit. Both colour schemes paint a background of their own,
 * because a page may be light where the system is dark.
 */
#include "output/format.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "output/picture.h"

/* Lengths in units, about a point each where the picture is not scaled. */
#define LEFT 84 /* left edge of the panels */
#define ACROSS 700
#define RIGHT (LEFT + ACROSS)
#define WIDTH (RIGHT + 26)
#define TOP 62       /* top of the first panel, below the headings */
#define PANEL_TOP 22 /* a line of text above each panel */
#define PANEL_GAP 14
#define BOTTOM 52 /* numbers and title of the axis */

#define X_TICKS 10
#define X_CHARACTERS 90 /* characters that fit side by side below the axis */
#define RANKS_MOST 512  /* columns of --log=auto */
#define BREAK 0.03      /* share of the width of a column that stands for many empty ones */
#define HEADING 66      /* characters of the title above the picture */
#define DOT " \u00b7 "
#define THIN "\u2009" /* the blank between thousands */
#define AT "%.7g"     /* a coordinate, to hundredths even for 64 panels, without zeros at its end */

#define TICKS_MAX 128
#define TICK_TEXT (2 * NUMBER_TEXT)

typedef unsigned long long ull;

/* An axis of the picture: finite numbers from lo to hi, and those that are written beside it. */
struct scale {
	double lo, hi;
	bool log;      /* 0 < lo */
	bool whole;    /* only whole numbers are written beside it */
	int128_t base; /* is to be added to lo, hi and the texts: binary64 may not hold the sums */
	int factor;    /* the texts are to be multiplied by 10^factor */
	unsigned ticks;
	struct tick {
		double at;            /* 0 .. 1, from lo to hi */
		char text[TICK_TEXT]; /* UTF-8; empty: a small tick between two that have texts */
	} tick[TICKS_MAX];
};

struct drawing {
	struct output *out;
	const struct hist *hist;
	const char *title;             /* NULL: the options are the title */
	struct stripes columns;        /* columns.count is 0 if there are no bins */
	double edge[STRIPES_MOST + 1]; /* where columns begin and the last one ends, 0 .. 1 */
	struct scale x; /* ticks below the panels; with listed edges also where columns are */
	struct scale y; /* heights, from the base line to the top of a panel */
	double unit;    /* the W of listed edges; 0: heights are samples per column */
	int panel;      /* height of a panel, in units */
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
	".gpuhist .minor { stroke: #eff2f5; fill: none }\n"
	".gpuhist .axis { stroke: #59636e; fill: none }\n"
	".gpuhist .bins { fill: #9cc3ec; stroke: #1f5fa8; stroke-linejoin: round }\n"
	"@media screen and (prefers-color-scheme: dark) {\n"
	".gpuhist text { fill: #e6edf3 }\n"
	".gpuhist .note { fill: #9198a1 }\n"
	".gpuhist .page { fill: #0d1117 }\n"
	".gpuhist .grid { stroke: #2b323b }\n"
	".gpuhist .minor { stroke: #191f27 }\n"
	".gpuhist .axis { stroke: #9198a1 }\n"
	".gpuhist .bins { fill: #1f4f85; stroke: #6cb2ff }\n"
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
	if (length == 0 || last || (p[0] < 0x20 && !strchr("\t\n\r", p[0])) || p[0] == 0x7f)
		return "\ufffd";
	/* A reader would take a bare \r for the end of a line. */
	return p[0] == '&'    ? "&amp;"
	       : p[0] == '<'  ? "&lt;"
	       : p[0] == '>'  ? "&gt;"
	       : p[0] == '\r' ? "&#13;"
			      : NULL;
}

/* Writes a text in which numbers are to be read: with thin blanks between thousands. */
static void put(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct output *out, const char *format, ...)
{
	char text[OUTPUT_PRINT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (const char *p = text; *p;) {
		const size_t digits = strspn(p, "0123456789");
		const bool whole = p == text || p[-1] != '.';
		for (size_t left = digits; left > 0; left--) {
			output_text(out, whole && left < digits && left % 3 == 0 ? THIN : "");
			output_write(out, p++, 1);
		}
		if (digits == 0)
			output_write(out, p++, 1);
	}
}

/* ---- numbers on axes ---- */

/* How far x is from lo to hi, 0 .. 1; what is outside is at the nearer end. */
static double scale_at(const struct scale *s, double x)
{
	double lo = s->lo, hi = s->hi;

	if (!(x > lo))
		return 0;
	if (x >= hi)
		return 1;
	/*
	 * Between numbers this close, logarithms are a straight line, and have lost the digits that
	 * tell the numbers apart.
	 */
	if (s->log && hi / lo > 1 + 0x1p-20) {
		lo = log2(lo);
		hi = log2(hi);
		x = log2(x);
	} else if (isinf(hi - lo)) {
		lo /= 2;
		hi /= 2;
		x /= 2;
	}
	return (x - lo) / (hi - lo);
}

/* digits * 10^power, to the nearest binary64. */
static double decimal(int64_t digits, int power)
{
	char text[64];

	snprintf(text, sizeof(text), "%llde%d", (long long)digits, power);
	return strtod(text, NULL);
}

/* The exponent of the largest power of ten not above x > 0; for denormals, of some small one. */
static int power_of(double x)
{
	char text[64];

	snprintf(text, sizeof(text), "%.14e", x);
	const int p = atoi(strchr(text, 'e') + 1);
	return decimal(1, p) > x ? p - 1 : p;
}

/* m x 10^n, UTF-8. */
static void power_text(char text[TICK_TEXT], int m, int n)
{
	static const char DIGITS[][4] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
					 "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
	char plain[16];

	snprintf(plain, sizeof(plain), "%d", n);
	snprintf(text, TICK_TEXT, m == 1 ? "10" : "%d\u00d710", m);
	for (const char *p = plain; *p; p++)
		strcat(text, *p == '-' ? "\u207b" : DIGITS[*p - '0']);
}

/* digits * 10^power without an exponent; never more than 40 characters. */
static void plain_text(char text[TICK_TEXT], int128_t digits, int power)
{
	static const char ZEROS[] = "00000000000000000000000000000000";
	char plain[NUMBER_TEXT];
	const int length = (int)number_format_integer(plain, digits < 0 ? -digits : digits);
	const int whole = length + power;
	const char *const sign = digits < 0 ? "\u2212" : "";

	if (power >= 0 || digits == 0)
		snprintf(text, TICK_TEXT, "%s%s%.*s", sign, plain, digits == 0 ? 0 : power, ZEROS);
	else if (whole > 0)
		snprintf(text, TICK_TEXT, "%s%.*s.%s", sign, whole, plain, plain + whole);
	else
		snprintf(text, TICK_TEXT, "%s0.%.*s%s", sign, -whole, ZEROS, plain);
}

/*
 * The power of ten that is written once beside the axis instead of with every number. None where
 * numbers are short without it, or have a small range far from zero and need their digits anyway.
 */
static int factor_of(int128_t largest, int power)
{
	char digits[NUMBER_TEXT];
	const int e = (int)number_format_integer(digits, largest) - 1 + power;
	const int factor = e >= 0 ? e - e % 3 : -((2 - e) / 3 * 3);

	if ((e >= -3 && e < 6 && power > -16) ||
	    (e >= 6 && e <= 20 && power >= 0 && factor - power > 3))
		return 0;
	return factor;
}

static double bounded(double x)
{
	return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x;
}

/* Where x is on the axis, 0 .. 1; below 0 and above 1: outside. */
static double place(const struct scale *s, double x)
{
	return x < s->lo ? -1 : x > s->hi ? 2 : scale_at(s, x);
}

/*
 * Makes some `most` ticks, at steps of 1, 2 or 5 times a power of ten; none if lo is too many steps
 * from zero.
 */
static void linear(struct scale *s, unsigned most)
{
	const double some = s->hi / most - s->lo / most, least = s->whole ? fmax(some, 1) : some;
	int128_t digits[TICKS_MAX], largest = 0, base = s->base;
	int m = 1, power;

	s->ticks = 0;
	s->factor = 0;
	if (!(least > 0)) /* lo and hi are neighbours near zero */
		return;
	for (power = power_of(least); decimal(m, power) < least; m = m == 1 ? 2 : m == 2 ? 5 : 1)
		power += m == 5;
	for (int p = 0; p < power && base != 0; p++)
		base /= 10;
	const double first = floor(s->lo / decimal(m, power));
	if (!(fabs(first) < 0x1p58))
		return;
	/*
	 * A quotient of numbers that are close for their size may be some units too large; of
	 * denormals it may be far off, and there are no ticks.
	 */
	int64_t j = (int64_t)first - 16;
	for (unsigned tries = 0; tries < TICKS_MAX; tries++, j++) {
		const double at = place(s, decimal(j * m, power));
		if (at > 1)
			break;
		if (at < 0)
			continue;
		const int128_t n = digits[s->ticks] = base + j * m;
		largest = n > largest ? n : -n > largest ? -n : largest;
		s->tick[s->ticks++].at = at;
	}
	s->factor = factor_of(largest, power);
	for (unsigned i = 0; i < s->ticks; i++)
		plain_text(s->tick[i].text, digits[i], power - s->factor);
}

/*
 * Makes ticks at powers of ten, or every second, third ..., with small ticks between them; `more`:
 * 2 and 5 times these have texts, too. Returns how many ticks have texts.
 */
static unsigned logarithmic(struct scale *s, unsigned most, bool more)
{
	const int first = power_of(s->lo), last = power_of(s->hi);
	const int every = 1 + (last - first) / (int)most;
	const int steps = every == 1 && last - first <= 12 ? 10 : 2;
	unsigned named = 0;

	s->ticks = 0;
	s->factor = 0;
	for (int p = s->whole && first < 0 ? 0 : first; p <= last; p++) {
		for (int m = 1; m < steps; m++) {
			const double at = place(s, decimal(m, p));
			struct tick *const tick = &s->tick[s->ticks];
			if (at < 0 || at > 1 || p % every != 0 || s->ticks == TICKS_MAX)
				continue;
			const bool name = m == 1 || (more && (m == 2 || m == 5));
			*tick = (struct tick){.at = at};
			if (name && first >= -4 && last <= 5)
				plain_text(tick->text, m, p);
			else if (name)
				power_text(tick->text, m, p);
			s->ticks++;
			named += name;
		}
	}
	return named;
}

/* Do texts fit below their ticks, two blanks apart? A long one at an end may be moved by half. */
static bool fits(const struct scale *s, unsigned room)
{
	size_t longest = 0;
	double gap = 1;

	for (unsigned i = 0; i < s->ticks; i++) {
		const size_t some = strlen(s->tick[i].text);
		longest = some > longest ? some : longest;
		if (i > 0)
			gap = fmin(gap, s->tick[i].at - s->tick[i - 1].at);
	}
	return gap * room >= (double)(longest + 2 + (longest > 8 ? longest / 2 : 0));
}

/*
 * Finds some `most` numbers of 1, 2 or 5 times a power of ten from lo to hi; fewer where their
 * texts would touch on an axis that is `room` characters long, one or none where lo and hi are
 * close.
 */
static void find_ticks(struct scale *s, unsigned most, unsigned room)
{
	const unsigned powers = s->log ? logarithmic(s, most, false) : 0;

	if (powers == 2)
		logarithmic(s, most, true);
	if (powers >= 2)
		return;
	do
		linear(s, most);
	while (!fits(s, room) && --most > 1);
}

/* ---- ticks of --log=auto ---- */

/* How far x is from edge lo to edge hi: by logarithms, but where one of them is zero. */
static double between(double lo, double hi, double x)
{
	return lo > 0 || hi < 0
		       ? (log2(fabs(x)) - log2(fabs(lo))) / (log2(fabs(hi)) - log2(fabs(lo)))
		       : (x - lo) / (hi - lo);
}

/* Where x is on the axis of --log=auto, 0 .. 1; below 0: outside, or in a gap and not zero. */
static double rank_place(const struct drawing *d, double x)
{
	const struct edges *const edges = &d->hist->axis.edges;
	uint32_t low = 0, high = axis_bins(&d->hist->axis), k = 0;

	if (d->columns.count == 0 || !(d->x.lo <= x && x <= d->x.hi)) /* 0: there are no bins */
		return -1;
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		if (edges_value(edges, middle) <= x)
			low = middle;
		else
			high = middle;
	}
	while (d->columns.stripe[k].end <= low)
		k++;
	const struct stripe *const column = &d->columns.stripe[k];
	if (column->gap && (x < 0 || x > 0))
		return -1;
	const double bin =
		between(bounded(edges_value(edges, low)), bounded(edges_value(edges, low + 1)), x);
	const double at = (low - column->first + bin) / (column->end - column->first);
	return d->edge[k] + at * (d->edge[k + 1] - d->edge[k]);
}

/* Adds a tick at sign * 10^power, if that is on the axis. */
static void add_rank_tick(struct drawing *d, int sign, int power)
{
	struct scale *const s = &d->x;
	struct tick *const tick = &s->tick[s->ticks];
	char text[TICK_TEXT];

	if (s->ticks == TICKS_MAX)
		return;
	tick->at = rank_place(d, sign * decimal(1, power));
	if (tick->at < 0)
		return;
	s->ticks++;
	if (-5 < power && power < 6) {
		plain_text(tick->text, sign, power);
		return;
	}
	power_text(text, 1, power);
	snprintf(tick->text, TICK_TEXT, "%s%.32s", sign < 0 ? "\u2212" : "", text);
}

/*
 * Do the texts of ticks fit side by side, all as wide as the longest? Leaves out ticks that are too
 * near to the tick of zero.
 */
static bool fit_rank_ticks(struct scale *s, double zero)
{
	double need = 0;
	unsigned kept = 0;

	for (unsigned i = 0; i < s->ticks; i++) {
		double characters = 2;
		for (const char *p = s->tick[i].text; *p; p++)
			characters += ((unsigned char)*p & 0xc0) != 0x80;
		need = fmax(need, characters / X_CHARACTERS);
	}
	for (unsigned i = 0; i < s->ticks; i++) {
		const double away = fabs(s->tick[i].at - zero);
		if (zero < 0 || away >= need || strcmp(s->tick[i].text, "0") == 0)
			s->tick[kept++] = s->tick[i];
	}
	s->ticks = kept;
	for (unsigned i = 1; i < kept; i++)
		if (s->tick[i].at - s->tick[i - 1].at < need)
			return false;
	return true;
}

/* Makes ticks at zero and at powers of ten of both signs, or every second, third ... that fits. */
static void find_rank_ticks(struct drawing *d)
{
	struct scale *const s = &d->x;
	const int most = DBL_MAX_10_EXP;
	const int least = d->hist->axis.edges.integers ? 0 : -most - 15;

	for (int every = 1; every <= most; every++) {
		s->ticks = 0;
		for (int p = most / every * every; p >= least; p -= every)
			add_rank_tick(d, -1, p);
		add_rank_tick(d, 0, 0);
		for (int p = least / every * every; p <= most; p += every)
			add_rank_tick(d, 1, p);
		if (s->ticks < TICKS_MAX && fit_rank_ticks(s, rank_place(d, 0)))
			return;
	}
}

/* ---- the picture ---- */

/* The position `at`, 0 to 1, on something that is `units` long, to a hundredth. */
static double along(double at, int units)
{
	return picture_round(at * (100.0 * units)) / 100;
}

/* Where column k begins. */
static double x_of(const struct drawing *d, uint32_t k)
{
	return LEFT + along(d->edge[k], ACROSS);
}

static double height_of(const struct drawing *d, uint32_t channel, uint32_t k)
{
	const struct stripe *const column = &d->columns.stripe[k];

	return (double)stripe_sum(column, d->hist, channel) * column->scale;
}

/* base: the line on which the columns stand. */
static void draw_columns(const struct drawing *d, uint32_t channel, int base)
{
	double end = 0, top = 0; /* of the last column drawn; end 0: no run has begun */

	output_text(d->out, "<path class=\"bins\" d=\"");
	for (uint32_t k = 0; k <= d->columns.count && !output_failed(d->out); k++) {
		const double height = k < d->columns.count ? height_of(d, channel, k) : 0;
		if (height <= 0 && end > 0)
			output_print(d->out, "H" AT "V%dZ", end, base);
		if (height <= 0) {
			end = 0;
			continue;
		}
		const double y = base - fmax(along(scale_at(&d->y, height), d->panel), 1);
		if (end <= 0)
			output_print(d->out, "M" AT " %dV" AT, x_of(d, k), base, y);
		else if (y < top || y > top)
			output_print(d->out, "H" AT "V" AT, end, y);
		top = y;
		end = x_of(d, k + 1);
	}
	output_text(d->out, "\"/>\n");
}

/* Where the columns are: all equally wide, or listed edges at their places. */
static void place_columns(struct drawing *d)
{
	const struct axis *const axis = &d->hist->axis;
	const struct stripes *const columns = &d->columns;
	const bool ranks = axis_kind_of(axis)->spacing == SPACING_RANKS;

	uint32_t gaps = 0, passed = 0;
	for (uint32_t k = 0; k < columns->count; k++)
		gaps += columns->stripe[k].gap;
	const double own = columns->count > gaps ? (1 - gaps * BREAK) / (columns->count - gaps) : 0;
	for (uint32_t k = 0; k <= columns->count; k++) {
		const uint32_t i = k < columns->count ? columns->stripe[k].first : axis_bins(axis);
		d->edge[k] = d->unit > 0 ? scale_at(&d->x, edges_value(&axis->edges, i))
			     : ranks     ? fmin(passed * BREAK + (k - passed) * own, 1)
					 : (double)i / axis_bins(axis);
		passed += k < columns->count && columns->stripe[k].gap;
	}
}

/* Columns of listed edges are scaled by their widths. */
static void lay_out(struct drawing *d)
{
	const struct axis *const axis = &d->hist->axis;
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);
	const enum axis_spacing spacing = axis_kind_of(axis)->spacing;
	struct scale *const x = &d->x;

	if (bins == 0)
		return;
	if (spacing == SPACING_RANKS)
		stripes_join_ranks(&d->columns, d->hist, 0, bins, RANKS_MOST);
	else
		stripes_join(&d->columns, axis, 0, bins, STRIPES_MOST);
	x->lo = bounded(edges_value(edges, 0));
	x->hi = bounded(edges_value(edges, bins));
	x->log = spacing == SPACING_RATIO || spacing == SPACING_RANKS ||
		 (spacing == SPACING_FREE && x->lo > 0 && x->hi / x->lo >= 1000);
	x->whole = edges->exact;
	if (x->whole) {
		int128_t ten = 1;
		while (ten < edges->width)
			ten *= 10;
		x->lo = (double)(edges->lo % ten);
		x->hi = (double)(edges->lo % ten + edges->width);
		x->base = edges->lo - edges->lo % ten;
	}
	if (spacing != SPACING_FREE)
		return;
	d->unit = x->log ? 1 : DBL_MAX;
	for (uint32_t k = 0; k < d->columns.count; k++) {
		struct stripe *const column = &d->columns.stripe[k];
		const double lo = edges_value(edges, column->first),
			     hi = edges_value(edges, column->end);
		const double width = x->log ? log10(hi) - log10(lo) : hi - lo;
		/* The width is not 0 for neighbours, nor more than binary64 has. */
		column->scale = width > 0 ? bounded(width) : DBL_EPSILON;
		d->unit = !x->log && column->scale < d->unit ? column->scale : d->unit;
	}
	for (uint32_t k = 0; k < d->columns.count; k++)
		d->columns.stripe[k].scale = d->unit / d->columns.stripe[k].scale;
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
			least = height > 0 ? fmin(least, height) : least;
			most = fmax(most, height);
		}
	if (most <= 0)
		return;
	d->y.whole = d->unit <= 0;
	d->y.lo = !d->y.log ? 0 : d->unit > 0 ? least / 2 : 0.5;
	d->y.hi = most * (d->y.log ? 1.5 : 1.05);
	unsigned ticks = (unsigned)(d->panel + 40) / 60;
	do
		find_ticks(&d->y, ticks++, UINT_MAX);
	while (d->y.ticks < 3 && ticks < 10);
}

/* If the ends are too close for round numbers between them, the ends themselves are written. */
static void name_values(struct drawing *d)
{
	const struct axis *const axis = &d->hist->axis;

	if (axis_kind_of(axis)->spacing == SPACING_RANKS)
		find_rank_ticks(d);
	else if (d->columns.count > 0)
		find_ticks(&d->x, X_TICKS, X_CHARACTERS);
	if (d->columns.count == 0 || d->x.ticks > 1)
		return;
	d->x.ticks = 2;
	d->x.factor = 0;
	for (uint32_t i = 0; i < 2; i++) {
		d->x.tick[i].at = i;
		edge_text(d->x.tick[i].text, axis, i * axis_bins(axis));
	}
}

/* Draws lines at ticks with numbers, or at those without; upright ones if x is logarithmic. */
static void draw_lines(const struct drawing *d, int base, bool numbers)
{
	output_print(d->out, "<path class=\"%s\" d=\"", numbers ? "grid" : "minor");
	for (unsigned i = 0; i < d->x.ticks && d->x.log; i++)
		if (numbers == (d->x.tick[i].text[0] != '\0'))
			output_print(d->out, "M" AT " %dV%d", LEFT + along(d->x.tick[i].at, ACROSS),
				     base - d->panel, base);
	for (unsigned i = 0; i < d->y.ticks; i++)
		if (numbers == (d->y.tick[i].text[0] != '\0'))
			output_print(d->out, "M%d " AT "H%d", LEFT,
				     base - along(d->y.tick[i].at, d->panel), RIGHT);
	output_text(d->out, "\"/>\n");
}

static void draw_grid(const struct drawing *d, int base)
{
	if (d->x.log || d->y.log)
		draw_lines(d, base, false);
	draw_lines(d, base, true);
	for (unsigned i = 0; i < d->y.ticks; i++) {
		const double y = base - along(d->y.tick[i].at, d->panel);
		if (d->y.tick[i].text[0] == '\0')
			continue;
		output_print(d->out, "<text x=\"%d\" y=\"" AT "\" text-anchor=\"end\">", LEFT - 8,
			     y + 4);
		put(d->out, "%s</text>\n", d->y.tick[i].text);
	}
}

static void draw_axes(const struct drawing *d, int base)
{
	output_print(d->out, "<path class=\"axis\" d=\"M%d %dV%dH%d", LEFT, base - d->panel, base,
		     RIGHT);
	for (unsigned i = 0; i < d->y.ticks; i++)
		output_print(d->out, "M%d " AT "H%d", LEFT, base - along(d->y.tick[i].at, d->panel),
			     LEFT - (d->y.tick[i].text[0] ? 5 : 3));
	for (unsigned i = 0; i < d->x.ticks; i++)
		output_print(d->out, "M" AT " %dV%d", LEFT + along(d->x.tick[i].at, ACROSS), base,
			     base + (d->x.tick[i].text[0] ? 5 : 3));
	for (uint32_t k = 0; k < d->columns.count; k++)
		if (d->columns.stripe[k].gap)
			output_print(d->out, "M" AT " %dl4 -8m3 0l-4 8",
				     (x_of(d, k) + x_of(d, k + 1)) / 2 - 4, base + 4);
	const double zero = d->hist->axis.edges.auto_bins.log ? rank_place(d, 0) : -1;
	if (zero > 0 && zero < 1)
		output_print(d->out, "M" AT " %dV%d", LEFT + along(zero, ACROSS), base - d->panel,
			     base);
	output_text(d->out, "\"/>\n");
}

/* Ends the name of an axis, with ", x 10^6" if its numbers are to be multiplied by that. */
static void end_name(struct output *out, const struct scale *s)
{
	char power[TICK_TEXT];

	power_text(power, 1, s->factor);
	output_text(out, s->log ? ", logarithmic" : "");
	if (s->factor != 0)
		output_print(out, ", \u00d7 %s", power);
	output_text(out, "</text>\n");
}

/* The numbers below the last panel, and what they mean. */
static void name_x(const struct drawing *d, int base)
{
	const struct axis *const axis = &d->hist->axis;

	for (unsigned i = 0; i < d->x.ticks; i++) {
		const struct tick *const tick = &d->x.tick[i];
		/* A long number at the right end must stay within the picture. */
		const bool outer = strlen(tick->text) > 8 && tick->at > 0.92;
		if (tick->text[0] == '\0')
			continue;
		output_print(d->out, "<text x=\"" AT "\" y=\"%d\" text-anchor=\"%s\">",
			     LEFT + along(tick->at, ACROSS), base + 19, outer ? "end" : "middle");
		put(d->out, "%s</text>\n", tick->text);
	}
	output_print(d->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">value",
		     LEFT + ACROSS / 2, base + 40);
	if (!axis_kind_of(axis)->ordered)
		put(d->out, " modulo %u", axis_bins(axis));
	output_print(d->out, " (%s)", axis->type.name);
	end_name(d->out, &d->x);
}

/* What heights mean, beside all panels, from bottom to top. */
static void name_y(const struct drawing *d, int middle)
{
	output_print(d->out,
		     "<text text-anchor=\"middle\" transform=\"translate(18 %d) rotate(-90)\">"
		     "samples per ",
		     middle);
	if (d->unit > 0 && d->x.log)
		output_text(d->out, "decade");
	else if (d->unit > 0)
		put(d->out, "%.6g", d->unit);
	else if (d->columns.per > 1)
		put(d->out, "%u bins", d->columns.per);
	else
		output_text(d->out, "bin");
	end_name(d->out, &d->y);
}

static void put_flow(struct output *out, const struct hist_flow *flow)
{
	static const char *const NAMES[] = {"under", "over", "NaN"};
	const uint64_t counts[] = {flow->under, flow->over, flow->nan};

	for (int i = 0; i < 3; i++)
		if (counts[i] > 0)
			put(out, DOT "%llu %s", (ull)counts[i], NAMES[i]);
}

/* Writes the title, or else the command; cuts its text after `most` characters. */
static void put_title(const struct drawing *d, const struct provenance *from, size_t most)
{
	const char *const options = from->options ? from->options : "";
	const char *const text = d->title ? d->title : options;
	const size_t used = picture_cut(text, most);

	output_text(d->out, d->title ? "" : "gpuhist ");
	output_escaped(d->out, text, used, escape);
	output_text(d->out, text[used] ? "\u2026" : "");
}

/* Writes the title and, below it, what was counted. */
static void draw_headings(const struct drawing *d, const struct provenance *from)
{
	const uint32_t bins = axis_bins(&d->hist->axis);
	const struct hist_flow flow = hist_flow_sum(d->hist);

	output_print(d->out, "<text class=\"head\" x=\"%d\" y=\"28\">", LEFT);
	put_title(d, from, HEADING);
	output_print(d->out, "</text>\n<text x=\"%d\" y=\"48\">", LEFT);
	output_text(d->out, from->partial ? "partial, counting goes on" DOT : "");
	put(d->out, "%llu %s sample%s", (ull)d->hist->samples, d->hist->axis.type.name,
	    d->hist->samples == 1 ? "" : "s");
	if (d->hist->channels > 1)
		put(d->out, " of %u channels", d->hist->channels);
	put(d->out, DOT "%u bin%s", bins, bins == 1 ? "" : "s");
	if (d->hist->axis.clamp)
		output_text(d->out, DOT "the first and the last take what is out of range");
	put_flow(d->out, &flow);
	if (from->parts > 1)
		put(d->out, DOT "part %u of %u", from->part, from->parts);
	output_text(d->out, "</text>\n");
}

static void draw_panel(const struct drawing *d, uint32_t channel, int top)
{
	const int base = top + PANEL_TOP + d->panel;
	const bool many = d->hist->channels > 1;
	struct filled filled;
	char text[BIN_TEXT];

	filled_bins(&filled, d->hist, channel);
	output_print(d->out, "<text class=\"note\" x=\"%d\" y=\"%d\">", LEFT, top + PANEL_TOP - 8);
	if (many)
		output_print(d->out, "channel %u" DOT, channel);
	if (filled.bins > 0) {
		bin_text(text, &d->hist->axis, filled.fullest);
		put(d->out, "most in %s: %llu", text, (ull)filled.most);
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
	struct drawing d = {.out = out,
			    .hist = hist,
			    .title = style->picture.title,
			    .y.log = style->picture.log,
			    .panel = hist->channels == 1 ? 340 : 120};
	const char *const options = from->options ? from->options : "";
	const int each = PANEL_TOP + d.panel + PANEL_GAP;
	const int end = TOP + (int)hist->channels * each - PANEL_GAP; /* bottom of the last panel */

	lay_out(&d);
	place_columns(&d);
	scale_heights(&d);
	name_values(&d);
	output_print(out,
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gpuhist\" role=\"img\" "
		     "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
		     WIDTH, end + BOTTOM, WIDTH, end + BOTTOM);
	put_title(&d, from, SIZE_MAX);
	output_text(out, "</title>\n<desc>gpuhist ");
	output_escaped(out, options, strlen(options), escape);
	output_text(out, "</desc>\n");
	output_text(out, STYLE);
	draw_headings(&d, from);
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++)
		draw_panel(&d, c, TOP + (int)c * each);
	name_y(&d, (TOP + PANEL_TOP + end) / 2);
	name_x(&d, end);
	output_text(out, "</svg>\n");
}
