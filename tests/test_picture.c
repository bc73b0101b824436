/* SPDX-License-Identifier: MIT */
/*
 * picture: flat data is flat in every picture, for every width and number of bins; random
 * histograms in every format; rows joined in a sheet.
 */
#include "output/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"
#include "check.h"
#include "xml.h"
#include "output/format.h"
#include "output/sheet.h"
#include "wish.h"

static struct axis axis_of(enum axis_kind kind, const char *type, uint32_t bins, const char *lo,
			   const char *hi, const double *list)
{
	struct axis_spec spec = {.kind = kind, .bins = bins, .list = list};
	struct sample_type t;
	struct axis axis = {0};
	const char *why = NULL;

	CHECK(sample_type_parse(&t, type) == 0, "%s", type);
	if (lo)
		CHECK(number_parse(&spec.lo, lo, strlen(lo)) == 0 &&
			      number_parse(&spec.hi, hi, strlen(hi)) == 0,
		      "%s:%s", lo, hi);
	CHECK(axis_init(&axis, &spec, &t, &why) == 0, "%s %s %s: %s", type, lo, hi, why);
	return axis;
}

/* Make bins of --auto from `first` on, 2^k wide. */
static struct axis auto_of(const char *type, int64_t first, int k, uint32_t bins)
{
	struct axis axis = axis_of(AXIS_AUTO, type, bins + 2, NULL, NULL, NULL);
	const int128_t key = axis.edges.integers ? (first - sample_min(&axis.type)) >> k : first;

	edges_place(&axis.edges, &(struct auto_span){RUN_NONE, false, {key, key + bins - 1}, k});
	return axis;
}

/* Return the output of a format, in memory that the caller frees. */
static char *written(write_fn *write, const struct hist *h, const struct canvas *canvas)
{
	const struct style style = {.canvas = *canvas, .header = true};
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	size_t bytes;

	CHECK(output_open_memory(&out, &fail) == 0, "%s", fail.text);
	write(out, h, &style, &FROM);
	CHECK(output_flush(out, &fail) == 0, "%s", fail.text);
	const char *const text = output_taken(out, &bytes);
	char *const copy = malloc(bytes + 1);
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	output_abort(out);
	return copy;
}

/* ---- flat ---- */

/* Bars of a text must be as long as the longest: no blank between two lines of a row. */
static void check_flat_text(const struct hist *h, const struct canvas *canvas)
{
	const char *const line = canvas->utf8 ? "\xe2\x94\x82" : "|";
	char *const text = written(write_plot, h, canvas);
	const bool ends = h->axis.kind == AXIS_AUTO; /* which may lie beyond the samples */
	unsigned rows = 0;

	for (char *bar = text; (bar = strstr(bar, line)); rows++) {
		char *const end = strstr(bar += strlen(line), line);
		CHECK(end, "row %u of\n%s", rows, text);
		if (!end)
			break;
		const bool last = !strstr(end + strlen(line), line);
		CHECK((ends && (rows == 0 || last)) || !memchr(bar, ' ', (size_t)(end - bar)),
		      "%u bins on %ux%u: row %u of\n%s", axis_bins(&h->axis), canvas->columns,
		      canvas->lines, rows, text);
		bar = end + strlen(line);
	}
	CHECK(rows > 0 && rows <= canvas->lines, "%u rows", rows);
	free(text);
}

/* Bars of equal counts are equally long, but for a marked one, and of 0 there is none. */
static void check_equal_text(const struct hist *h, const struct canvas *canvas)
{
	char *const text = written(write_plot, h, canvas);
	size_t length[64] = {0};
	const struct auto_span *const span = &h->axis.edges.span;
	uint32_t per = 1;

	const char *joined = strstr(text, " per row");
	while (joined && joined[-1] != ' ')
		joined--;
	per = joined ? (uint32_t)strtoul(joined, NULL, 10) : per;
	for (const char *row = text, *next; (next = strchr(row, '\n')); row = next + 1) {
		const char *const bar = strchr(row, '|');
		if (!bar || bar > next || memchr(row, '*', (size_t)(bar - row)))
			continue;
		const size_t long_as = strspn(bar + 1, "#");
		const unsigned count = (unsigned)strtoul(strchr(bar + 1, '|') + 1, NULL, 10);
		CHECK(count < 64 && (count > 0) == (long_as > 0) &&
			      (length[count] == 0 || length[count] == long_as),
		      "%u bins on %ux%u: %.*s in\n%s", axis_bins(&h->axis), canvas->columns,
		      canvas->lines, (int)(next - row), row, text);
		length[count % 64] = long_as;
		if (h->axis.kind == AXIS_AUTO && row[0] != ' ' && per > 1)
			CHECK(strtol(row, NULL, 10) % ((long)per << span->k) == 0, "%.20s in\n%s",
			      row, text);
	}
	free(text);
}

/* A few samples, so that many rows hold equally many, also the last. */
static void equal(void)
{
	static uint64_t count[5000];

	for (uint32_t bins = 1; bins < 5000; bins += bins < 300 ? 1 : 97) {
		struct axis axes[] = {
			axis_of(AXIS_RANGE, "f64", bins, "-1", "1", NULL),
			axis_of(AXIS_MOD, "u32", bins, NULL, NULL, NULL),
			auto_of("i32", -(int64_t)(bins / 3), 1, bins),
		};
		for (size_t a = 0; a < sizeof(axes) / sizeof(axes[0]); a++) {
			struct hist_flow flow = {0};
			const struct hist h = {.axis = axes[a],
					       .channels = 1,
					       .count = count,
					       .flow = &flow,
					       .stride = bins};
			for (uint32_t i = 0; i < bins; i++)
				count[i] = i % (bins / 30 + 1) == bins % 3 || i + 1 == bins;
			for (unsigned lines = 8; lines < 60; lines += 23)
				check_equal_text(&h, &(struct canvas){.log = lines % 2,
								      .columns = 40 + bins % 90,
								      .lines = lines});
			edges_free(&axes[a].edges);
		}
	}
}

/* The bars of an SVG must be one rectangle. */
static void check_flat_svg(const struct hist *h, const struct canvas *canvas)
{
	char *const text = written(write_svg, h, canvas), *path = strstr(text, "class=\"bins\"");
	const char *const unit = strstr(text, ">samples per "), *const mark = strstr(text, ">*<"),
			  *const note = strstr(text, "*: a bar of ");
	const uint32_t per = unit ? (uint32_t)strtoul(unit + 13, NULL, 10) : 0,
		       rest = per > 0 ? axis_bins(&h->axis) % per : 0;

	/* Bars of --auto are whole. A last bar of fewer bins has a mark, and a note of their number. */
	if (h->axis.kind != AXIS_AUTO)
		CHECK((rest > 0) == (mark != NULL) && (rest > 0) == (note != NULL) &&
			      (!note || strtoul(note + 12, NULL, 10) == rest),
		      "%u bins, %u per bar: %.400s", axis_bins(&h->axis), per, text);
	CHECK(path, "no bars");
	path = strstr(path, "d=\"") + 3;
	*strchr(path, '"') = '\0';
	CHECK(strspn(path, "MVHZ0123456789. ") == strlen(path) && strrchr(path, 'H') &&
		      strchr(path, 'H') == strrchr(path, 'H') && strchr(path, 'M') == path &&
		      strrchr(path, 'M') == path,
	      "%u bins: %s", axis_bins(&h->axis), path);
	free(text);
}

static void check_flat_strip(const struct hist *h, uint32_t cells)
{
	static struct strip strip;
	double value[STRIP_CELLS];
	unsigned shade[STRIP_CELLS];
	bool same = true;

	strip_make(&strip, &h->axis, cells);
	strip_fill(value, &strip, h, 0);
	strip_shades(shade, value, strip.cells, 15, cells % 2);
	for (uint32_t i = 0; i < strip.cells; i++)
		same = same && fabs(value[i] / value[0] - 1) < 1e-12 && shade[i] == 15;
	CHECK(same, "%u bins in %u cells", axis_bins(&h->axis), cells);
}

static void flat(void)
{
	static uint64_t count[5000];
	static const uint64_t EACH[] = {1, 3, 1000, UINT64_MAX / 5000};

	for (uint32_t bins = 1; bins < 5000; bins += bins < 700 ? 1 : 97) {
		struct axis axes[] = {
			axis_of(AXIS_RANGE, "f64", bins, "-1", "1", NULL),
			axis_of(AXIS_MOD, "u32", bins, NULL, NULL, NULL),
			auto_of("i32", -(int64_t)(bins / 3), 1, bins),
			auto_of("f64", 7, -4, bins),
			axis_of(AXIS_LOG, "f32", bins, "1e-3", "1e6", NULL),
		};
		for (size_t a = 0; a < sizeof(axes) / sizeof(axes[0]); a++) {
			struct hist_flow flow = {0};
			const struct hist h = {.axis = axes[a],
					       .channels = 1,
					       .count = count,
					       .flow = &flow,
					       .stride = bins};
			for (uint32_t i = 0; i < bins; i++)
				count[i] = EACH[bins % 4];
			for (unsigned columns = 40 + bins % 7; columns <= 200; columns += 23)
				check_flat_text(&h, &(struct canvas){.utf8 = columns % 2,
								     .log = columns % 3 == 0,
								     .columns = columns,
								     .lines = 8 + bins % 60});
			if (bins <= BARS_MOST || axes[a].kind != AXIS_AUTO)
				check_flat_svg(&h, &(struct canvas){.log = bins % 2});
			for (uint32_t cells = 1; cells < bins && cells <= 200;
			     cells += 5 + (uint32_t)a)
				check_flat_strip(&h, cells);
			edges_free(&axes[a].edges);
		}
	}
}

/* ---- octaves ---- */

/* Do all rows begin at powers of two? Sets *rows to their number. */
static bool begin_at_octaves(const char *text, unsigned *rows)
{
	bool all = true;

	*rows = 0;
	for (const char *row = text, *next; (next = strchr(row, '\n')); row = next + 1) {
		const char *const bar = strchr(row, '|');
		int exponent;
		if (!bar || bar > next)
			continue;
		all = all && frexp(strtod(row, NULL), &exponent) <= 0.5;
		++*rows;
	}
	return all;
}

/* From 1 to a power of two, rows are whole octaves if 8 or more of these rows fit. */
static void octaves(void)
{
	static uint64_t count[400];
	char hi[32];

	for (uint32_t i = 0; i < sizeof(count) / sizeof(count[0]); i++)
		count[i] = 1000;
	for (uint32_t bins = 1; bins < 400; bins += 1 + bins / 20)
		for (unsigned all = 1; all <= 45; all += 1 + all / 9) {
			snprintf(hi, sizeof(hi), "%.17g", ldexp(1, (int)all));
			struct axis axis = axis_of(AXIS_LOG, "f64", bins, "1", hi, NULL);
			struct hist_flow flow = {0};
			const struct hist h = {.axis = axis,
					       .channels = 1,
					       .count = count,
					       .flow = &flow,
					       .stride = bins};
			for (unsigned lines = 12; lines < 60; lines += 9) {
				const struct canvas canvas = {.columns = 80, .lines = lines};
				char *const text = written(write_plot, &h, &canvas);
				unsigned rows, whole = 0;
				const bool good = begin_at_octaves(text, &rows);
				/* The title and the footer, and perhaps a line that is not used. */
				for (unsigned each = 1; each <= all && whole == 0; each++)
					if (each * bins % all == 0 &&
					    (all - 1) / each + 1 <= lines - 3)
						whole = (all - 1) / each + 1;
				CHECK(rows <= lines - 2 && (whole < 8 || (good && rows >= 8 &&
									  rows * 2 >= whole)),
				      "%u bins of %u octaves on %u lines: %u rows:\n%s", bins, all,
				      lines, rows, text);
				free(text);
			}
			edges_free(&axis.edges);
		}
}

/* ---- densities ---- */

/*
 * A strip of listed bins: if the density is constant in doublings, its cells hold the samples for
 * each doubling; on a linear axis and for a uniform density, the samples for each unit.
 */
static void densities(void)
{
	static const double RATIOS[] = {0.25, 1, 2, 8, 8.5, 64, 100, 1024},
			    SUMS[] = {-10, -9, 0, 0.5, 1, 40, 41, 50};
	static const char *const KINDS[] = {"ratios", "differences"};
	uint64_t count[7];

	for (int linear = 0; linear < 2; linear++) {
		const double *const list = linear ? SUMS : RATIOS;
		struct axis axis = axis_of(AXIS_EDGES, "f64", 7, NULL, NULL, list);
		struct hist_flow flow = {0};
		const struct hist h = {
			.axis = axis, .channels = 1, .count = count, .flow = &flow, .stride = 7};
		for (uint32_t i = 0; i < 7; i++)
			count[i] = (uint64_t)(1e15 * (linear ? list[i + 1] - list[i]
							     : log2(list[i + 1] / list[i])));
		for (uint32_t cells = 1; cells <= 200; cells += 7) {
			static struct strip strip;
			double value[STRIP_CELLS];
			strip_make(&strip, &axis, cells);
			strip_fill(value, &strip, &h, 0);
			CHECK(strip.cells == cells && strip.ruler.x.log == !linear, "%s",
			      KINDS[linear]);
			for (uint32_t i = 0; i < cells; i++)
				CHECK(fabs(value[i] / value[0] - 1) < 1e-9,
				      "%s: cell %u of %u is %g, not %g", KINDS[linear], i, cells,
				      value[i], value[0]);
		}
		check_flat_svg(&h, &(struct canvas){.log = false});
		edges_free(&axis.edges);
	}
}

/* ---- random ---- */

#define BINS 600u

/* Fill all channels with counts of some shape. */
static void fill(struct hist *h, uint64_t *seed)
{
	const uint32_t bins = axis_bins(&h->axis), shape = (uint32_t)(check_random(seed) % 7);

	h->samples = 0;
	for (uint32_t i = 0; i < h->channels * bins; i++) {
		const uint64_t r = check_random(seed);
		const uint64_t some[] = {
			0, r % 10, r % 50 == 0, r >> 20 >> r % 44, i == bins / 3, r % 2, i < 3};
		h->samples += h->count[i] = some[shape];
	}
	for (uint32_t c = 0; c < h->channels; c++) {
		h->flow[c] = (struct hist_flow){0};
		if (check_random(seed) % 2)
			h->flow[c] =
				(struct hist_flow){check_random(seed) >> 8 >> shape * 8,
						   check_random(seed) % 3, check_random(seed) % 2};
		h->samples += h->flow[c].under + h->flow[c].over + h->flow[c].nan;
	}
}

/* Return an axis of any kind, with at most BINS bins; --auto's may have none. */
static struct axis random_axis(uint64_t *seed, double *list)
{
	static const char *const TYPES[] = {"u8", "i16", "u32", "i64", "u64", "f16", "f32", "f64"};
	static const char *const ENDS[][2] = {{"-1", "1"},
					      {"0", "256"},
					      {"1e12", "1000000000001"},
					      {"-1.7e308", "1.7e308"},
					      {"1e-310", "3e-308"},
					      {"1700000000000000000", "1700000000000003600"}};
	const char *const type = TYPES[check_random(seed) % 8],
			  *const *const ends = ENDS[check_random(seed) % 6];
	const uint32_t bins = 1 + (uint32_t)(check_random(seed) % BINS >> check_random(seed) % 10);
	struct axis_spec spec = {.bins = bins, .list = list};
	struct sample_type t;
	struct axis axis;
	const char *why;

	sample_type_parse(&t, type);
	spec.kind = (enum axis_kind)(check_random(seed) % AXIS_DEFAULT);
	spec.closed = check_random(seed) % 4 == 0;
	if (spec.kind == AXIS_RANKS || spec.kind == AXIS_AUTO) {
		/* Keys of finite samples, around zero or on one side of it. */
		const bool real = t.kind == SAMPLE_FLOAT, wide = t.code_bytes == 8;
		const uint64_t zero = real                        ? wide ? 1ull << 63 : 1u << 31
				      : t.kind == SAMPLE_UNSIGNED ? 0
								  : 1ull << (t.bits - 1);
		const uint64_t most = !real  ? (1ull << (t.bits - 1)) - 1
				      : wide ? 0x7fe0000000000000
					     : 0x47000000;
		const uint64_t a = check_random(seed) % most >> check_random(seed) % 16,
			       b = check_random(seed) % most;
		spec.bins = bins + 3;
		if (axis_init(&axis, &spec, &t, &why) != 0)
			return axis_of(AXIS_MOD, "u32", bins, NULL, NULL, NULL);
		const bool below = zero > 0 && check_random(seed) % 2;
		struct extent extent = {below ? zero - a - 2 : zero + 1 + a / 2,
					below ? zero + 1 + b : zero + 1 + a / 2 + b,
					below ? zero - 2 - a / 3 : 0,
					zero + 1 + (below ? b / 5 : a / 2)};
		if (t.code_bytes <= 2) /* few keys are samples */
			extent = EXTENT_NONE;
		for (unsigned i = 0; i < 3 && t.code_bytes <= 2; i++) {
			const struct extent own = auto_extent_of_code(
				&t, (uint32_t)check_random(seed) & ((1u << t.bits) - 1));
			extent_add(&extent, &own);
		}
		edges_place_for(&axis.edges, check_random(seed) % 9 == 0 ? &EXTENT_NONE : &extent);
		return axis;
	}
	double at = check_random(seed) % 3 ? 0.5 : -3;
	for (uint32_t i = 0; i <= bins; i++)
		list[i] = at += ldexp(1, (int)(check_random(seed) % 12) - (int)(i % 3));
	number_parse(&spec.lo, ends[0], strlen(ends[0]));
	number_parse(&spec.hi, ends[1], strlen(ends[1]));
	if (axis_init(&axis, &spec, &t, &why) != 0)
		return axis_of(AXIS_MOD, "u32", bins, NULL, NULL, NULL);
	return axis;
}

/* Lines fit the canvas in width and number, and contain escapes only if it has colours. */
static void check_text(const char *text, const struct hist *h, const struct canvas *canvas)
{
	unsigned lines = 0;

	for (const char *p = text; *p; lines++) {
		unsigned width = 0;
		const char *const line = p;
		for (; *p != '\n'; p++)
			width += ((unsigned char)*p & 0xc0) != 0x80;
		CHECK(width <= canvas->columns || canvas->colour || h->samples > 1u << 30,
		      "%u columns, not %u: %.*s", width, canvas->columns, (int)(p - line), line);
		p++;
	}
	CHECK(lines <= canvas->lines || h->channels > 8, "%u lines, not %u:\n%s", lines,
	      canvas->lines, text);
	CHECK(canvas->colour || !strchr(text, '\033'), "an escape: %s", text);
}

/* All coordinates are numbers within the picture. */
static void check_svg(const char *text)
{
	unsigned height = 0;
	size_t at;
	const char *const why = xml_refuses(text, strlen(text), &at);

	CHECK(!why, "no XML: %s, at byte %zu: %s", why, at, text);
	CHECK(sscanf(strstr(text, "height="), "height=\"%u", &height) == 1, "no height");
	CHECK(strcmp(text + strlen(text) - 7, "</svg>\n") == 0 && !strstr(text, "nan\""), "%s",
	      text);
	for (const char *p = text; (p = strstr(p, " d=\""));) {
		for (p += 4; *p != '"';) {
			char *end;
			const double x = strtod(p, &end);
			const bool number = end > p;
			CHECK(number ? fabs(x) <= fmax(height, 830)
				     : strchr("MHVLZhvz ", *p) != NULL,
			      "%.40s", p);
			p = number ? end : p + 1;
		}
	}
}

/* ---- texts ---- */

/* Widths of DejaVu Sans, the widest of the usual fonts, in hundredths of its size, from ' ' on. */
static const unsigned char WIDTHS[] = {
	32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37,  32, 34, 64, 64, 64,
	64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64,
	58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64,  62, 74, 69, 99, 69,
	62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36,  64, 64, 28, 28, 58,
	28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60,  53, 64, 34, 64, 84};

/* A text of a picture and the box that it fills. */
struct text {
	const char *from;
	int length;
	double x[2], y[2];
};

static double width_of(const char *p, const char *end, double size)
{
	static const struct {
		const char *text;
		double width;
	} OTHER[] = {{"&amp;", 0.78},       {"&lt;", 0.84},         {"&gt;", 0.84},
		     {"\xe2\x80\x89", 0.2}, {"\xe2\x88\x92", 0.84}, {"\xc2\xb7", 0.32},
		     {"\xc3\x97", 0.84},    {"\xe2\x81\xbb", 0.53}, {"\xe2\x81", 0.41},
		     {"\xc2", 0.41}};
	double width = 0;

	while (p < end) {
		size_t i = 0;
		while (i < 10 && strncmp(p, OTHER[i].text, strlen(OTHER[i].text)) != 0)
			i++;
		width += i < 10 ? OTHER[i].width : *p & 0x80 ? 1 : WIDTHS[*p - ' '] / 100.0;
		p += i < 3 ? strlen(OTHER[i].text) : 1;
		while ((*p & 0xc0) == 0x80)
			p++;
	}
	return width * size;
}

/* Find the next text from *at on. */
static bool next_text(struct text *t, const char **at)
{
	const char *const tag = strstr(*at, "<text "), *const group = strstr(*at, "<g transform");
	double x = 0, y = 0;

	if (!tag)
		return false;
	t->from = strchr(tag, '>') + 1;
	const char *const end = strstr(t->from, "</text>"), *const head = strstr(tag, "\"head\"");
	const double size = head && head < t->from ? 14 : 12, width = width_of(t->from, end, size);
	sscanf(strstr(tag, " x="), " x=\"%lf\" y=\"%lf\"", &x, &y);
	const char *const anchor = strstr(tag, "text-anchor=\"");
	const char kind = anchor && anchor < t->from ? anchor[13] : 's';
	const double left = x - width * (kind == 'm' ? 0.5 : kind == 'e');
	*t = (struct text){
		t->from, (int)(end - t->from), {left, left + width}, {y - 0.7 * size, y + 2}};
	*at = end;
	if (group && group < tag) { /* upwards */
		sscanf(group, "<g transform=\"translate(%lf %lf)", &x, &y);
		t->y[0] = y + left, t->y[1] = y + left + width;
		t->x[0] = x - 0.7 * size, t->x[1] = x + 2;
	}
	return true;
}

/* No text overlaps another or leaves the picture. */
static void check_texts(const char *svg)
{
	static struct text text[2048];
	unsigned n = 0, height = 0, width = 0;

	CHECK(sscanf(strstr(svg, "width="), "width=\"%u\" height=\"%u", &width, &height) == 2,
	      "size");
	for (const char *at = svg; n < 2048 && next_text(&text[n], &at); n++) {
		const struct text *const t = &text[n];
		CHECK(t->x[0] >= 0 && t->x[1] <= width && t->y[0] >= 0 && t->y[1] <= height,
		      "out of the picture, at %g to %g, %g: %.*s", t->x[0], t->x[1], t->y[1],
		      t->length, t->from);
		for (unsigned i = 0; i < n; i++)
			CHECK(text[i].x[1] <= t->x[0] || t->x[1] <= text[i].x[0] ||
				      text[i].y[1] <= t->y[0] || t->y[1] <= text[i].y[0],
			      "overlap at %g %g: %.*s | %.*s", t->x[0], t->y[1], text[i].length,
			      text[i].from, t->length, t->from);
	}
	CHECK(n > 0, "no text");
}

#define ROW_NAMES 40u
static char *paths[ROW_NAMES];

/* Draw rows of any kind, with any numbers, and look for their names. */
static void check_sheet(const struct hist *h, const struct canvas *canvas, uint64_t *seed)
{
	static struct sheet s;
	static double row[SHEET_NUMBERS];
	const struct style style = {.canvas = *canvas};
	const bool figures = check_random(seed) % 2;
	struct quantiles asked = {
		.n = 1 + (unsigned)(check_random(seed) % 5 * (check_random(seed) % 9)),
		.named = check_random(seed) % 2};
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	size_t bytes;

	for (unsigned i = 0; i < asked.n; i++)
		asked.at[i] = 12345 * (i + 1);
	if (h->stride == 0)
		return;
	sheet_begin(&s, h, h->channels, figures ? &asked : NULL, &style.canvas, "-t u8");
	s.paths = paths;
	s.files = 1 + check_random(seed) % ROW_NAMES;
	s.named = check_random(seed) % 2;
	s.size = s.named || s.files > 1 ? 0 : 1000;
	const uint32_t rows = s.named ? (uint32_t)s.files : (uint32_t)(check_random(seed) % 99);
	for (uint32_t r = 0; r < rows; r++) {
		const size_t path = s.named ? r : r * s.files / rows;
		if (figures) {
			for (size_t i = 0; i < sheet_numbers(&s); i++)
				row[i] = 1 + (double)(check_random(seed) % 1000 * i);
			row[2] = (double)path;
		} else {
			sheet_row(&s, row, h, path);
		}
		CHECK(sheet_add(&s, row) == 0, "no memory");
	}
	CHECK(output_open_memory(&out, &fail) == 0, "%s", fail.text);
	write_svg_sheet(out, &s);
	output_write(out, "", 1);
	const char *const text = output_taken(out, &bytes);
	check_svg(text);
	check_texts(text);
	for (uint32_t r = 0; r < rows && s.named && rows <= 24; r++)
		CHECK(strstr(text, r % 5 == 3 ? "\xe2\x80\xa6" : paths[r]), "no %s: %s", paths[r],
		      text);
	output_abort(out);
	free(s.value);
}

static void matrix(void)
{
	static uint64_t count[64 * BINS * 2];
	static double list[BINS + 1];
	static write_fn *const WRITERS[] = {write_csv,  write_tsv,  write_raw, write_npy,
					    write_json, write_plot, write_svg};
	uint64_t seed = 5;

	for (uint32_t i = 0; i < ROW_NAMES; i++) {
		paths[i] = malloc(64);
		snprintf(paths[i], 64,
			 i % 5 == 3 ? "a very long name, in which its middle is not told %u"
				    : "%u.Mu8",
			 i * i);
	}
	for (unsigned i = 0; i < 6000; i++) {
		static struct hist_flow flow[64];
		struct hist h = {.axis = random_axis(&seed, list), .count = count, .flow = flow};
		const struct canvas canvas = {.utf8 = check_random(&seed) % 2,
					      .colour = check_random(&seed) % 4 == 0,
					      .log = check_random(&seed) % 2,
					      .columns = 40 + (unsigned)(check_random(&seed) % 161),
					      .lines = 10 + (unsigned)(check_random(&seed) % 60),
					      .title = check_random(&seed) % 2
							       ? "a\033<title> of \xe2\x82\xac \xff"
							       : NULL};
		h.channels = i % 3 ? 1 : 1 + (uint32_t)(check_random(&seed) % 64 >> i % 5);
		h.stride = axis_bins(&h.axis);
		fill(&h, &seed);
		for (size_t f = 0; f < sizeof(WRITERS) / sizeof(WRITERS[0]); f++) {
			char *const text = written(WRITERS[f], &h, &canvas);
			if (WRITERS[f] == write_plot)
				check_text(text, &h, &canvas);
			if (WRITERS[f] == write_svg) {
				check_svg(text);
				check_texts(text);
			}
			free(text);
		}
		if (i % 4 == 0)
			check_sheet(&h, &canvas, &seed);
		edges_free(&h.axis.edges);
	}
}

/* ---- rows joined ---- */

/* However many rows come, at most SHEET_ROWS are kept, and they hold the same samples. */
static void joined(void)
{
	static const uint64_t COUNTS[] = {1, 7, 2000, 2001, 3999, 4000, 4001, 100000};

	for (size_t k = 0; k < sizeof(COUNTS) / sizeof(COUNTS[0]); k++) {
		struct sheet s = {.channels = 1, .width = 2};
		double sum = 0;
		for (uint64_t i = 0; i < COUNTS[k]; i++) {
			const double row[] = {1, 0, 0, (double)i, 1};
			CHECK(sheet_add(&s, row) == 0, "no memory");
		}
		const uint64_t n = COUNTS[k];
		for (uint32_t r = 0; r < s.rows; r++) {
			const uint64_t here = r + 1 < s.rows ? s.joined : s.last;
			CHECK(sheet_at(&s, r, 0)[1] == (double)here, "row %u of %u holds %g", r,
			      s.rows, sheet_at(&s, r, 0)[1]);
			sum += sheet_at(&s, r, 0)[0];
		}
		CHECK(s.count == n && s.samples == n && s.rows <= SHEET_ROWS &&
			      (s.joined & (s.joined - 1)) == 0 && sum == (double)(n * (n - 1) / 2),
		      "%u rows of %llu", s.rows, (unsigned long long)n);
		CHECK(s.rows > SHEET_ROWS / 2 || s.joined == 1, "%u rows", s.rows);
		free(s.value);
	}
}

int main(void)
{
	signals_init();
	flat();
	equal();
	octaves();
	densities();
	matrix();
	joined();
	return check_report();
}
