/* SPDX-License-Identifier: MIT */
/*
 * picture: bins joined, pictures of text and SVG read again and compared with plain models: what a
 * row or a column holds, how high it is, how it is labelled; words that are no words.
 */
#include "output/picture.h"

#include <math.h>

#include "base/signals.h"
#include "check.h"
#include "scratch.h"
#include "svg_read.h"
#include "wish.h"

#define X0 8400L
#define ACROSS 70000L
#define HEIGHT 34000L

static struct axis axis_of(enum axis_kind kind, const char *type, uint32_t bins, const char *lo,
			   const char *hi, const double *list)
{
	struct axis_spec spec = {.edges = {.kind = kind, .bins = bins, .list = list}};
	struct sample_type t;
	struct axis axis = {0};
	const char *why = NULL;

	CHECK(sample_type_parse(&t, type) == 0, "%s", type);
	if (lo)
		CHECK(number_parse(&spec.edges.lo, lo, strlen(lo)) == 0 &&
			      number_parse(&spec.edges.hi, hi, strlen(hi)) == 0,
		      "%s:%s", lo, hi);
	CHECK(axis_init(&axis, &spec, &t, &why) == 0, "%s %s %s: %s", type, lo, hi, why);
	return axis;
}

/* Bins of --auto from `first` on, 2^k wide. */
static struct axis auto_of(const char *type, int64_t first, int k, uint32_t bins)
{
	struct axis axis = axis_of(AXIS_AUTO, type, bins + 2, NULL, NULL, NULL);
	struct edges *const e = &axis.edges;

	e->k = k;
	e->first = first;
	e->lo = (int128_t)first * (e->exact ? (int128_t)1 << k : 0);
	e->width = e->exact ? (int128_t)bins << k : 0;
	e->binning.bins = bins;
	return axis;
}

static char *draw(const char *format, const struct hist *h, const struct picture *picture,
		  const struct provenance *from)
{
	const struct style style = {.picture = *picture};
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	size_t bytes;

	CHECK(output_open(&out, "h", &fail) == 0, "%s", fail.text);
	format_find(format)->write(out, h, &style, from);
	CHECK(output_commit(out, &fail) == 0, "%s", fail.text);
	char *text = scratch_read("h", &bytes);
	return text;
}

/* ---- bins joined ---- */

static void joined(void)
{
	static struct parts parts;
	uint64_t seed = 2;

	for (unsigned i = 0; i < 10000; i++) {
		const uint32_t bins = 1 + (uint32_t)(check_random(&seed) % BINS_MAX >>
						     (4 + check_random(&seed) % 24));
		const uint32_t first = (uint32_t)(check_random(&seed) % bins);
		const uint32_t end = first + 1 + (uint32_t)(check_random(&seed) % (bins - first));
		const uint32_t most = 4 + (uint32_t)(check_random(&seed) % (i % 10 ? 40 : 1021));
		const struct axis axis =
			i % 2 ? auto_of(i % 4 == 1 ? "i32" : "f64", -(int64_t)(bins / 3), 1, bins)
			      : axis_of(AXIS_RANGE, "f64", bins, "-1", "1", NULL);
		parts_join(&parts, &axis, first, end, most);
		const uint32_t n = parts.count, per = parts.per;
		const struct part *const p = parts.part;
		CHECK(n >= 1 && n <= most && p[0].first <= first && p[n - 1].end >= end &&
			      p[n - 1].end <= bins,
		      "%u of %u parts for %u to %u", n, most, first, end);
		CHECK(per == 1 || end - first > most || n == 1, "joined without need");
		/* At most half of the parts that there could be are given up for round numbers. */
		const uint32_t span = end - first, could = span / ((span - 1) / most + 1);
		CHECK((i % 2 ? 4 : 2) * n + 4 >= could, "%u parts of %u", n, could);
		for (uint32_t k = 0; k < n; k++) {
			const uint32_t size = p[k].end - p[k].first;
			CHECK(size == per || (size < per && p[k].end == bins),
			      "part %u of %u has %u bins, not %u", k, n, size, per);
			CHECK(p[k].scale == 1, "its scale");
			CHECK(k == 0 || p[k].first == p[k - 1].end, "a gap");
			CHECK(n == 1 || p[k].first % per == 0, "not from the first bin");
		}
	}
	/* Round numbers of bins: 360 degrees by 20, 250 by 25. */
	static const uint32_t ROUND[][2] = {{360, 20}, {250, 25}, {1000, 50}, {256, 16}, {20, 1}};
	for (size_t i = 0; i < sizeof(ROUND) / sizeof(ROUND[0]); i++) {
		const struct axis axis = axis_of(AXIS_RANGE, "f64", ROUND[i][0], "0", "1", NULL);
		parts_join(&parts, &axis, 0, ROUND[i][0], 20);
		CHECK(parts.per == ROUND[i][1], "%u bins by %u", ROUND[i][0], parts.per);
	}
}

/* ---- text ---- */

/* What a row of a picture must show. */
struct row {
	const char *name; /* under, over or nan; NULL: bins between these edges */
	double edge, end;
	uint64_t count;
};

/* Reads the row at p; its bar begins with the line at `bar`. most, samples: of the channel. */
static void check_row(const char *p, const char *bar, const struct row *row, uint64_t most,
		      uint64_t samples, const struct picture *picture)
{
	const char *const line = picture->utf8 ? "\xe2\x94\x82" : "|";
	const unsigned eighths = picture->utf8 ? 8 : 1;
	unsigned length = 0, cells = 0;
	unsigned long long count = 0;
	char label[64], percent[64];
	bool ended = false;

	CHECK(sscanf(p, "%63s", label) == 1, "no label: %s", p);
	for (p = bar + strlen(line); strncmp(p, line, strlen(line)) != 0; cells++) {
		const unsigned part = *p == ' ' ? 0 : *p == '#' ? 1 : 0x90u - (unsigned char)p[2];
		CHECK(part <= eighths && (part == 0 || !ended), "a bar: %s", bar);
		ended = part < eighths;
		length += part;
		p += *p == ' ' || *p == '#' ? 1 : 3;
	}
	CHECK(sscanf(p + strlen(line), "%llu %63s", &count, percent) == 2, "%s", bar);
	const double share = picture->log ? log2(1 + (double)row->count) / log2(1 + (double)most)
					  : (double)row->count / (double)most;
	const double exact = share * cells * eighths;
	CHECK(count == row->count, "%s: %llu, not %llu", label, count,
	      (unsigned long long)row->count);
	CHECK(fabs(length - exact) <= 0.5001 || (length == 1 && count > 0 && exact < 1),
	      "%s: %u of %u for %g", label, length, cells * eighths, exact);
	CHECK((count == 0) == (strcmp(percent, "0.0%") == 0) &&
		      (count == samples) == (strcmp(percent, "100.0%") == 0) &&
		      (percent[0] > '9' || fabs(strtod(percent, NULL) -
						100 * (double)count / (double)samples) <= 0.0501),
	      "%s for %llu", percent, count);
	if (row->name)
		CHECK(strcmp(label, row->name) == 0, "%s, not %s", label, row->name);
	else if (isfinite(row->edge) && isfinite(row->end))
		CHECK(fabs(strtod(label, NULL) / 2 - row->edge / 2) * 19 <=
			      row->end / 2 - row->edge / 2,
		      "%s for %.17g to %.17g", label, row->edge, row->end);
}

/* How many characters of UTF-8. */
static unsigned width_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Reads the rows of a picture of one channel, beside the counts that they must show. */
static void check_plot(const struct hist *h, const struct picture *picture)
{
	static struct parts parts;
	const struct hist_flow *const flow = &h->flow[0];
	const uint64_t flows[] = {flow->under, flow->over, flow->nan};
	static const char *const NAMES[] = {"under", "over", "nan"};
	const char *const line = picture->utf8 ? "\xe2\x94\x82" : "|";
	struct filled f;
	char *const text = draw("plot", h, picture, &FROM);
	struct row row[24];
	uint64_t samples = 0;
	uint64_t most = 0;
	uint32_t flow_rows = 0, bars = 0;
	unsigned n = 0, lines = 0, rows = 0;

	for (unsigned i = 0; i < 3; i++)
		flow_rows += flows[i] > 0;
	for (const char *p = text; (p = strstr(p, line)) != NULL; p++)
		bars++;
	filled_bins(&f, h, 0);
	/* Sentences of several lines take the place of rows. */
	for (uint32_t room = 20 - flow_rows; f.bins > 0 && room >= 10; room--) {
		parts_join(&parts, &h->axis, f.first, f.end, room);
		if (2 * (parts.count + flow_rows) == bars)
			break;
		CHECK(picture->columns < 110, "rows are missing: %s", text);
	}
	for (unsigned i = 0; i < 3; i++) {
		for (uint32_t k = 0; i == 1 && f.bins > 0 && k < parts.count; k++) {
			const struct part *const part = &parts.part[k];
			const uint64_t sum = part_sum(part, h, 0);
			row[n++] = (struct row){.edge = edges_value(&h->axis.edges, part->first),
						.end = edges_value(&h->axis.edges, part->end),
						.count = sum};
		}
		row[n] = (struct row){.name = NAMES[i], .count = flows[i]};
		n += flows[i] > 0;
	}
	for (unsigned r = 0; r < n; r++) {
		samples += row[r].count;
		most = row[r].count > most ? row[r].count : most;
	}
	for (char *p = text; *p; lines++) {
		char *const after = p + strcspn(p, "\n"), *const bar = strstr(p, line);
		CHECK(*after == '\n', "a line without an end");
		*after = '\0';
		/* Numbers of twenty digits leave one character to the bar. */
		const char *const close = bar ? strstr(bar + strlen(line), line) : NULL;
		CHECK(width_of(p) <= picture->columns ||
			      (close && width_of(bar) - width_of(close) == 2),
		      "%u columns: %s", picture->columns, p);
		if (bar && bar < after && rows < n)
			check_row(p, bar, &row[rows++], most, samples, picture);
		p = after + 1;
	}
	CHECK(rows == n, "%u rows, not %u", rows, n);
	CHECK(lines <= 24, "%u lines", lines);
	free(text);
}

/* Counts of some shape. */
static void fill(struct hist *h, uint64_t *seed, unsigned shape)
{
	const uint32_t bins = axis_bins(&h->axis);

	h->flow[0] = (struct hist_flow){0};
	if (shape & 8)
		h->flow[0] = (struct hist_flow){check_random(seed) % 1000,
						check_random(seed) >> (shape % 4 * 16 + 2),
						check_random(seed) % 3};
	for (uint32_t i = 0; i < bins; i++) {
		const double x = (i - bins / 2.0) / (bins / 8.0 + 1);
		const uint64_t r = check_random(seed);
		const uint64_t some[] = {
			(uint64_t)(1e6 * exp(-x * x)),
			r % 10,
			r % 50 == 0,
			r >> 20 >> r % 44,
			i == bins / 3 ? UINT64_MAX / 2 : 0,
			(uint64_t)1 << 40,
			0,
			i < bins / 2,
		};
		h->count[i] = some[shape % 8];
	}
}

static void texts(void)
{
	static const unsigned WIDE[] = {40, 57, 80, 200};
	static const char *const TITLES[] = {
		NULL, "a.raw",
		"a title of some words, and of so many of them that it has to be cut",
		"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82"
		"\xac\xe2\x82\xac"};
	static double list[] = {-1e300, -5, -0.125, 0, 1e-300, 1e-9, 3, 4, 4.5, 100, 1e17};
	uint64_t seed = 1;
	struct axis axes[] = {
		axis_of(AXIS_RANGE, "f32", 1000, "-1", "1", NULL),
		axis_of(AXIS_RANGE, "f64", 49, "-1", "1", NULL),
		axis_of(AXIS_RANGE, "u8", 3, "0", "256", NULL),
		axis_of(AXIS_RANGE, "u16", 65536, "0", "65536", NULL),
		axis_of(AXIS_RANGE, "i64", 100, "-9223372036854775808", "9223372036854775808",
			NULL),
		axis_of(AXIS_RANGE, "f64", 777, "1e12", "1000000000001", NULL),
		axis_of(AXIS_RANGE, "f64", 50, "1e-310", "3e-308", NULL),
		axis_of(AXIS_RANGE, "f64", 60, "-1.7e308", "1.7e308", NULL),
		axis_of(AXIS_RANGE, "u32", 1, "0", "1", NULL),
		axis_of(AXIS_RANGE, "u32", 1021, "0", "1021", NULL),
		axis_of(AXIS_LOG, "f32", 90, "1e-3", "1e6", NULL),
		axis_of(AXIS_EDGES, "f64", 10, NULL, NULL, list),
		axis_of(AXIS_MOD, "u8", 7, NULL, NULL, NULL),
		auto_of("f32", -77, -8, 157),
		auto_of("f64", -3, 1000, 200),
		auto_of("i32", -1000, 7, 256),
		auto_of("u32", 5, 24, 239),
		auto_of("i16", -3, 0, 5),
	};

	for (size_t a = 0; a < sizeof(axes) / sizeof(axes[0]); a++) {
		struct hist h = {.channels = 1, .axis = axes[a]};
		h.count = calloc(axis_bins(&h.axis), sizeof(uint64_t));
		for (unsigned i = 0; i < 64; i++) {
			fill(&h, &seed, i % 16);
			check_plot(&h, &(struct picture){.utf8 = i / 16 % 2,
							 .log = i / 32,
							 .columns = WIDE[check_random(&seed) % 4],
							 .title = TITLES[check_random(&seed) % 4]});
		}
		free(h.count);
		edges_free(&axes[a].edges);
	}
}

/* ---- SVG ---- */

static char *draw_svg(const struct hist *h, bool log, const char *title,
		      const struct provenance *from)
{
	char *const text = draw("svg", h, &(struct picture){.log = log, .title = title}, from);
	const char *at, *const why = svg_malformed(text, strlen(text), &at);

	CHECK(!why, "%s: '%.60s'", why, at);
	CHECK(strstr(text, "</svg>\n") == text + strlen(text) - 7, "no end");
	return text;
}

static long rounded(double x)
{
	return (long)floor(x + 0.5);
}

/* Every column is where and as high as it should be, to a hundredth; what is empty is not drawn. */
static void columns(const struct hist *h, bool log, long height)
{
	static struct parts parts;
	static struct svg_path path;
	const uint32_t bins = axis_bins(&h->axis);
	char *const text = draw_svg(h, log, NULL, &FROM);
	double most = 0;

	parts_join(&parts, &h->axis, 0, bins, PARTS_MOST);
	for (uint32_t i = 0; i < h->channels * parts.count; i++) {
		const struct part *const p = &parts.part[i % parts.count];
		const double high = (double)part_sum(p, h, i / parts.count) * p->scale;
		most = high > most ? high : most;
	}
	for (uint32_t c = 0; c < h->channels; c++) {
		const char *const why = svg_path_read(&path, text, c);
		size_t b = 0;
		long wide = 0, expected = 0;
		CHECK(!why, "%s", why);
		for (uint32_t k = 0; k < parts.count; k++) {
			const struct part *const p = &parts.part[k];
			const double sum = (double)part_sum(p, h, c) * p->scale;
			if (sum == 0)
				continue;
			const long from = X0 + rounded((double)ACROSS * p->first / bins);
			const long to = X0 + rounded((double)ACROSS * p->end / bins);
			const double share = log ? (log2(sum) + 1) / (log2(most * 1.5) + 1)
						 : sum / (1.05 * most);
			const long high = rounded(share * (double)height);
			expected += to - from;
			while (b < path.count && path.box[b].to < to)
				b++;
			const struct svg_box *const box = &path.box[b];
			CHECK(b < path.count && box->from <= from && box->to >= to &&
				      labs(path.base - box->y - (high > 100 ? high : 100)) <= 1,
			      "%u bins: column %u of %g is not %ld high", bins, k, sum, high);
		}
		for (size_t i = 0; i < path.count; i++)
			wide += path.box[i].to - path.box[i].from;
		CHECK(wide == expected, "%ld hundredths drawn, not %ld", wide, expected);
	}
	free(text);
}

static void equal_bins(void)
{
	static const uint32_t BINS[] = {1, 2, 7, 256, 1000, 1024, 1025, 4000, 100003, 1 << 20};
	uint64_t seed = 5;

	for (size_t i = 0; i < sizeof(BINS) / sizeof(BINS[0]); i++) {
		struct hist h = {.channels = 1, .axis = make_axis(BINS[i]), .stride = BINS[i]};
		h.count = calloc(BINS[i], sizeof(uint64_t));
		for (unsigned sparse = 0; sparse < 2; sparse++) {
			for (uint32_t k = 0; k < BINS[i]; k++) {
				const uint64_t r = check_random(&seed);
				h.count[k] = !sparse ? r % 1000 : r % 8 == 0 ? r >> 40 : 0;
			}
			h.count[BINS[i] - 1] = 3; /* what a last column of other bins shows */
			columns(&h, false, HEIGHT);
			columns(&h, true, HEIGHT);
		}
		free(h.count);
	}
	/*
	 * Equal ratios are as wide as each other; residues have no edges; channels have one scale.
	 */
	struct hist h = {.channels = 1,
			 .axis = axis_of(AXIS_LOG, "f64", 300, "1e-5", "1e7", NULL),
			 .count = calloc(600, sizeof(uint64_t)),
			 .stride = 300};
	for (uint32_t k = 0; k < 600; k++)
		h.count[k] = check_random(&seed) % (k < 300 ? 1000 : 77);
	columns(&h, false, HEIGHT);
	edges_free(&h.axis.edges);
	h.axis = axis_of(AXIS_MOD, "u32", 300, NULL, NULL, NULL);
	columns(&h, false, HEIGHT);
	h.axis = make_axis(300);
	h.channels = 2;
	columns(&h, false, 12000);
	h.axis = auto_of("f32", -77, -8, 300);
	columns(&h, true, 12000);
	free(h.count);
}

/* The area of each piece of the path is in proportion to the samples of the bins that it covers. */
static void areas(const double *list, uint32_t bins, const char *unit, bool log)
{
	static struct svg_path path;
	static uint64_t count[5000];
	struct hist h = {.channels = 1,
			 .count = count,
			 .axis = axis_of(AXIS_EDGES, "f64", bins, NULL, NULL, list)};
	uint64_t seed = 7;
	double least = INFINITY, most = 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < bins; k++)
		count[k] = 1000 + check_random(&seed) % 50000;
	char *const text = draw_svg(&h, false, NULL, &FROM);
	const char *const why = svg_path_read(&path, text, 0);
	CHECK(!why && path.count <= PARTS_MOST && path.count > 0, "%s, %zu", why, path.count);
	for (size_t b = 0; b < path.count; b++) {
		const uint32_t first = i;
		double sum = 0;
		for (; i < bins; i++) {
			const double at =
				log ? log2(list[i + 1] / list[0]) / log2(list[bins] / list[0])
				    : (list[i + 1] - list[0]) / (list[bins] - list[0]);
			if (X0 + rounded(at * (double)ACROSS) > path.box[b].to)
				break;
			sum += (double)count[i];
		}
		const long high = path.base - path.box[b].y;
		const double width = log ? log2(list[i] / list[first]) : list[i] - list[first];
		if (sum == 0 || high < 200)
			continue;
		least = fmin(least, width * (double)high / sum);
		most = fmax(most, width * (double)high / sum);
	}
	/* A height of 200 hundredths is rounded by a quarter of a percent. */
	CHECK(most > 0 && most / least < 1.006, "areas for a sample from %g to %g", least, most);
	CHECK(strstr(text, unit), "no '%s'", unit);
	free(text);
	edges_free(&h.axis.edges);
}

static void listed_edges(void)
{
	static const double DECADES[] = {1, 10, 100, 1000, 1e6}, STEPS[] = {0, 1, 2, 5, 10, 100},
			    EQUAL[] = {0, 2, 4, 6};
	static double list[5001];

	areas(STEPS, 5, ">samples per 1<", false);
	areas(DECADES, 4, ">samples per decade<", true);
	areas(EQUAL, 3, ">samples per 2<", false);
	for (size_t i = 0; i < 5000; i++)
		list[i + 1] = list[i] + (i % 100 == 0 ? 1 : i / 100 % 2 ? 0.02 : 0.11);
	areas(list, 5000, ">samples per ", false);
}

/* Numbers at the ends of what there is: nothing but a picture comes out. */
static void extremes(void)
{
	static const char *const CASES[][3] = {
		{"f64", "-1.7e308", "1.7e308"},
		{"f64", "0", "5e-324"},
		{"f64", "1", "1.0000000000000002"},
		{"f64", "1e300", "1.1e300"},
		{"f64", "-1e-320", "1e-310"},
		{"u64", "18446744073709551613", "18446744073709551616"},
		{"i64", "-9223372036854775808", "9223372036854775808"},
		{"f32", "-1e-30", "1e30"},
	};
	static const double ABSURD[] = {-1.7e308, -5e-324, 0, 5e-324, 1.7e308},
			    CLOSE[] = {5e-324, 1e-323, 1e-300, 1.7e308},
			    /* whose step, 2e-321, is rounded up */
		DENORMAL[] = {0x1p-1030, 0x1p-1030 + 0x1p-1074, 0x1p-1030 + 0x1p-1073,
			      0x1p-1030 + 3500 * 0x1p-1074};
	uint64_t count[4] = {(uint64_t)1 << 63, 1, 0, ((uint64_t)1 << 63) - 2};
	struct hist h = {.channels = 1, .count = count, .samples = UINT64_MAX};
	static struct svg_path path;

	for (size_t i = 0; i < 24; i++) {
		h.axis = i / 2 < 8 ? axis_of(AXIS_RANGE, CASES[i / 2][0], 1, CASES[i / 2][1],
					     CASES[i / 2][2], NULL)
			 : i < 18  ? axis_of(AXIS_EDGES, "f64", 4, NULL, NULL, ABSURD)
			 : i < 20  ? axis_of(AXIS_EDGES, "f64", 3, NULL, NULL, CLOSE)
			 : i < 22  ? axis_of(AXIS_EDGES, "f64", 3, NULL, NULL, DENORMAL)
				   : auto_of("f64", -2, 1023, 4); /* to 2^1024 */
		char *const text = draw_svg(&h, i % 2, NULL, &FROM);
		const char *const why = svg_path_read(&path, text, 0);
		CHECK(!why && path.count > 0, "%zu: %s", i, why);
		for (size_t b = 0; b < path.count; b++)
			CHECK(path.box[b].to <= X0 + ACROSS &&
				      path.base - path.box[b].y <= HEIGHT &&
				      path.base - path.box[b].y >= 100,
			      "%zu: %ld to %ld, at %ld", i, path.box[b].from, path.box[b].to,
			      path.box[b].y);
		CHECK(!strstr(text, "nan") && (i >= 22 || !strstr(text, "-inf")), "%zu: %s", i,
		      text);
		free(text);
		edges_free(&h.axis.edges);
	}
}

/* Titles and options of any bytes are text, and cut between characters. */
static void hostile(void)
{
	static const char *const WORDS[] = {"a<b>&\"'c",
					    "]]></title><script>",
					    "\xff\xfe\x80 \xc3",
					    "\x01\x02\x1b[31m\r\t\n",
					    "\xef\xbf\xbe!",
					    "\xed\xa0\x80\xf4\x90",
					    "\xe2\x82\xac\xf0\x9f",
					    NULL};
	uint64_t count[2] = {1, 2};
	const struct hist h = {.channels = 1, .axis = make_axis(2), .count = count, .samples = 3};
	struct provenance from = FROM;

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		from.options = WORDS[i];
		free(draw_svg(&h, false, NULL, &from));
		free(draw_svg(&h, false, WORDS[i], &from));
	}
	for (size_t cut = 50; cut < 80; cut++) {
		char word[128];
		memset(word, 'a', cut);
		strcpy(word + cut, "\xf0\x9f\x93\x8a\xc3\xa9&\xc3\xa9");
		from.options = word;
		char *const text = draw_svg(&h, false, cut % 2 ? word : NULL, &from);
		CHECK(!strstr(text, "\xef\xbf\xbd"), "cut inside a character: %zu", cut);
		CHECK((cut > 62) == !!strstr(text, "\xe2\x80\xa6</text>"), "%zu: dots", cut);
		free(text);
	}
}

int main(void)
{
	signals_init();
	scratch_enter();
	joined();
	texts();
	equal_bins();
	listed_edges();
	extremes();
	hostile();
	scratch_leave();
	return check_report();
}
