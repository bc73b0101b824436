/* SPDX-License-Identifier: MIT */
/*
 * write_svg, columns: the picture is well-formed whatever is asked for, and its path shows the
 * counts as a plain model has them: the columns of equal bins are computed here anew, those of
 * other bins by their areas.
 */
#include "output/columns.h"
#include "output/write.h"

#include <math.h>

#include "base/signals.h"
#include "check.h"
#include "scratch.h"
#include "svg_read.h"
#include "wish.h"

#define X0 8400L
#define ACROSS 70000L

static char *draw(const struct hist *h, const struct style *style, const struct provenance *from)
{
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	const char *at;
	size_t bytes;

	CHECK(output_open(&out, "h.svg", &fail) == 0, "%s", fail.text);
	write_svg(out, h, style, from);
	CHECK(output_commit(out, &fail) == 0, "%s", fail.text);
	char *text = scratch_read("h.svg", &bytes);
	const char *const why = svg_malformed(text, bytes, &at);
	CHECK(!why, "%s: '%.60s'", why, at);
	CHECK(bytes > 7 && strcmp(text + bytes - 7, "</svg>\n") == 0, "cut: %zu bytes", bytes);
	return text;
}

static struct axis axis_of(enum axis_kind kind, const char *type, uint32_t bins, const char *lo,
			   const char *hi, const double *list)
{
	struct axis_spec spec = {.edges = {.kind = kind, .bins = bins, .list = list}};
	struct sample_type t;
	struct axis axis;
	const char *why = NULL;

	sample_type_parse(&t, type);
	if (lo)
		CHECK(number_parse(&spec.edges.lo, lo, strlen(lo)) == 0 &&
			      number_parse(&spec.edges.hi, hi, strlen(hi)) == 0,
		      "%s:%s", lo, hi);
	CHECK(axis_init(&axis, &spec, &t, &why) == 0, "%s", why);
	return axis;
}

static uint32_t joined(uint32_t bins)
{
	uint32_t least = 1;

	while ((uint64_t)least * 2000 < bins)
		least++;
	for (uint32_t k = least; k <= 2 * least; k++)
		if (bins % k == 0)
			return k;
	return least;
}

static long rounded(double x)
{
	return (long)floor(x + 0.5);
}

/*
 * Every column of equal bins is where and as high as it should be, to a hundredth; what is empty is
 * not drawn.
 */
static void equal_bins(const struct hist *h, bool log, long height, const char *what)
{
	const uint32_t bins = axis_bins(&h->axis), k = joined(bins);
	static struct svg_path path;
	double most = 0;
	char *text = draw(h, &(struct style){.picture.log = log}, &FROM);

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t c = 0; c < h->channels; c++) {
			const char *const why = svg_path_read(&path, text, c);
			CHECK(!why, "%s: %s", what, why);
			size_t b = 0, wrong = 0;
			for (uint32_t first = 0; first < bins; first += k) {
				const uint32_t end = first + k < bins ? first + k : bins;
				double sum = 0;
				for (uint32_t i = first; i < end; i++)
					sum += (double)hist_count(h, c, i);
				sum *= (double)k / (end - first);
				most = sum > most ? sum : most;
				const long from = X0 + rounded((double)ACROSS * first / bins);
				const long to = X0 + rounded((double)ACROSS * end / bins);
				if (pass == 0 || sum == 0)
					continue;
				const double part = log ? (log2(sum) + 1) / (log2(most * 1.5) + 1)
							: sum / (1.05 * most);
				const long high = rounded(part * (double)height);
				while (b < path.count && path.box[b].to < to)
					b++;
				const struct svg_box *const box = &path.box[b];
				const bool there =
					b < path.count && box->from <= from && box->to >= to &&
					labs(path.base - box->y - (high > 100 ? high : 100)) <= 1;
				wrong += !there;
				CHECK(there || wrong > 1,
				      "%s: bins %lu-%lu, %g high, not %ld-%ld: %ld", what,
				      (unsigned long)first, (unsigned long)end, sum, box->from,
				      box->to, path.base - box->y);
			}
			/*
			 * Nothing is drawn where nothing is: as wide in all as the columns that
			 * hold something.
			 */
			long wide = 0, expected = 0;
			for (size_t i = 0; i < path.count; i++)
				wide += path.box[i].to - path.box[i].from;
			for (uint32_t first = 0; first < bins; first += k) {
				const uint32_t end = first + k < bins ? first + k : bins;
				uint64_t any = 0;
				for (uint32_t i = first; i < end; i++)
					any |= hist_count(h, c, i);
				if (any)
					expected += rounded((double)ACROSS * end / bins) -
						    rounded((double)ACROSS * first / bins);
			}
			CHECK(wide == expected, "%s: %ld hundredths drawn, not %ld", what, wide,
			      expected);
			CHECK(path.count <= 2000, "%s: %zu columns", what, path.count);
		}
	}
	free(text);
}

static void counts_of(struct hist *h, uint32_t bins, uint64_t seed, int how)
{
	h->samples = 0;
	for (size_t i = 0; i < h->channels * (size_t)bins; i++) {
		const uint64_t r = check_random(&seed);
		h->count[i] = how == 0 ? r % 1000 : how == 1 ? (r % 8 == 0 ? r >> 40 : 0) : 0;
		h->samples += h->count[i];
	}
}

static void columns_of_equal_bins(void)
{
	static const uint32_t BINS[] = {1,    2,    3,    7,    256,   1000,   1999,
					2000, 2001, 4000, 4096, 65536, 100003, 1 << 20};
	char what[64];

	for (size_t i = 0; i < sizeof(BINS) / sizeof(BINS[0]); i++) {
		for (int how = 0; how < 2; how++) {
			struct hist h = {
				.channels = 1, .axis = make_axis(BINS[i]), .stride = BINS[i]};
			h.count = calloc(BINS[i], sizeof(uint64_t));
			counts_of(&h, BINS[i], 1 + i, how);
			h.count[BINS[i] - 1] = 3; /* what a last column of fewer bins shows */
			snprintf(what, sizeof(what), "%lu bins, %d", (unsigned long)BINS[i], how);
			equal_bins(&h, false, 34000, what);
			equal_bins(&h, true, 34000, what);
			free(h.count);
		}
	}
	/* Equal ratios are as wide as each other; residues have no edges. */
	struct hist h = {.channels = 1,
			 .axis = axis_of(AXIS_LOG, "f64", 300, "1e-5", "1e7", NULL),
			 .count = calloc(600, sizeof(uint64_t)),
			 .stride = 300};
	counts_of(&h, 300, 9, 0);
	equal_bins(&h, false, 34000, "log");
	edges_free(&h.axis.edges);
	h.axis = axis_of(AXIS_MOD, "u32", 300, NULL, NULL, NULL);
	equal_bins(&h, false, 34000, "mod");
	/* One scale for all channels. */
	h.axis = make_axis(300);
	h.channels = 2;
	counts_of(&h, 300, 11, 0);
	for (size_t i = 0; i < 300; i++)
		h.count[i] /= 7;
	equal_bins(&h, false, 20000, "channels");
	free(h.count);
}

/* The area of each piece of the path is in proportion to the samples of the bins that it covers. */
static void areas(const struct hist *h, const char *unit, bool log)
{
	const uint32_t bins = axis_bins(&h->axis);
	const struct edges *const e = &h->axis.edges;
	const double lo = edges_value(e, 0), hi = edges_value(e, bins);
	static struct svg_path path;
	char *text = draw(h, &(struct style){.header = true}, &FROM);
	double least = INFINITY, most = 0;
	uint32_t i = 0;

	const char *const why = svg_path_read(&path, text, 0);
	CHECK(!why && path.count <= 2001 && path.count > 0, "%s, %zu", why, path.count);
	for (size_t b = 0; b < path.count; b++) {
		double sum = 0;
		uint32_t first = i;
		for (; i < bins; i++) {
			const double x = edges_value(e, i + 1);
			const double at = log ? log2(x / lo) / log2(hi / lo) : (x - lo) / (hi - lo);
			if (X0 + rounded(at * (double)ACROSS) > path.box[b].to)
				break;
			sum += (double)h->count[i];
		}
		const long high = path.base - path.box[b].y;
		if (sum == 0 || high < 200)
			continue;
		const double from = edges_value(e, first), to = edges_value(e, i);
		const double width = log ? log2(to / from) : to - from,
			     area = width * (double)high / sum;
		least = area < least ? area : least;
		most = area > most ? area : most;
	}
	/* A height of 200 hundredths is rounded by a quarter of a percent. */
	CHECK(most > 0 && most / least < 1.006, "areas for a sample from %g to %g", least, most);
	CHECK(strstr(text, unit), "no '%s'", unit);
	free(text);
}

static void explicit_edges(void)
{
	static const double DECADES[] = {1, 10, 100, 1000, 1e6}, STEPS[] = {0, 1, 2, 5, 10, 100},
			    EQUAL[] = {0, 2, 4, 6};
	static double list[5001];
	static uint64_t count[5000];
	struct hist h = {.channels = 1, .count = count, .stride = 5000};
	uint64_t seed = 5;

	for (size_t i = 0; i < 5000; i++)
		count[i] = 1000 + check_random(&seed) % 50000;
	h.axis = axis_of(AXIS_EDGES, "f64", 5, NULL, NULL, STEPS);
	areas(&h, ">samples per unit<", false);
	edges_free(&h.axis.edges);
	h.axis = axis_of(AXIS_EDGES, "f64", 4, NULL, NULL, DECADES);
	areas(&h, ">samples per decade<", true);
	edges_free(&h.axis.edges);
	h.axis = axis_of(AXIS_EDGES, "f64", 3, NULL, NULL, EQUAL);
	areas(&h, ">samples per bin<", false);
	edges_free(&h.axis.edges);
	/* Crowds of bins that are narrower than a picture shows, and bins that are not, in turn. */
	for (size_t i = 0; i < 5000; i++)
		list[i + 1] = list[i] + (i % 100 == 0 ? 1 : i / 100 % 2 ? 0.02 : 0.11);
	h.axis = axis_of(AXIS_EDGES, "f64", 5000, NULL, NULL, list);
	areas(&h, ">samples per ", false);
	edges_free(&h.axis.edges);
}

/* Columns are all bins in their order, however they are joined. */
static void every_bin_once(void)
{
	static double list[100001];
	static struct columns columns;
	uint64_t seed = 3;

	for (int how = 0; how < 40; how++) {
		const uint32_t bins = 1 + (uint32_t)(check_random(&seed) % 100000);
		list[0] = how % 2 ? -50 : 0.25;
		for (uint32_t i = 0; i < bins; i++)
			list[i + 1] = list[i] + (i % 1009 ? 1 : 200) *
							ldexp(1 + (double)(check_random(&seed) % 8),
							      -(int)(check_random(&seed) %
								     (1 + (uint64_t)how % 30)));
		struct axis axis = axis_of(AXIS_EDGES, "f64", bins, NULL, NULL, list);
		columns_init(&columns, &axis);
		uint32_t next = 0;
		bool whole = columns.count <= 2001;
		double at = 0;
		for (uint32_t k = 0; k < columns.count && whole; k++) {
			const struct column *const c = &columns.column[k];
			whole = c->first == next && c->end > c->first && c->from == at &&
				c->to >= c->from && c->scale > 0 && isfinite(c->scale);
			/* What can be seen is not joined with what cannot. */
			for (uint32_t i = c->first; i < c->end && c->end - c->first > 1; i++)
				whole = whole &&
					(columns.span.log
						 ? log2(list[i + 1] / list[i]) /
							   log2(list[bins] / list[0])
						 : (list[i + 1] - list[i]) /
							   (list[bins] - list[0])) < 0.0010001;
			next = c->end;
			at = c->to;
		}
		CHECK(whole && next == bins && at == 1, "%d: %lu columns, %lu of %lu bins", how,
		      (unsigned long)columns.count, (unsigned long)next, (unsigned long)bins);
		edges_free(&axis.edges);
	}
}

/* Numbers at the ends of what there is: nothing but a picture comes out. */
static void extremes(void)
{
	static const struct {
		const char *type, *lo, *hi;
	} CASES[] = {
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
			    CLOSE[] = {5e-324, 1e-323, 1e-300, 1.7e308};
	uint64_t count[4] = {(uint64_t)1 << 63, 1, 0, ((uint64_t)1 << 63) - 2};
	struct hist h = {.channels = 1, .count = count, .stride = 4, .samples = UINT64_MAX};
	static struct svg_path path;

	for (size_t i = 0; i < 2 * (sizeof(CASES) / sizeof(CASES[0])) + 4; i++) {
		if (i / 2 < sizeof(CASES) / sizeof(CASES[0]))
			h.axis = axis_of(AXIS_RANGE, CASES[i / 2].type, 1, CASES[i / 2].lo,
					 CASES[i / 2].hi, NULL);
		else
			h.axis = axis_of(AXIS_EDGES, "f64", i % 4 < 2 ? 4 : 3, NULL, NULL,
					 i % 4 < 2 ? ABSURD : CLOSE);
		char *text = draw(&h, &(struct style){.picture.log = i % 2}, &FROM);
		const char *const why = svg_path_read(&path, text, 0);
		CHECK(!why && path.count > 0, "%zu: %s", i, why);
		for (size_t b = 0; b < path.count; b++)
			CHECK(path.box[b].to <= X0 + ACROSS && path.base - path.box[b].y <= 34000 &&
				      path.base - path.box[b].y >= 100,
			      "%zu: %ld to %ld, at %ld", i, path.box[b].from, path.box[b].to,
			      path.box[b].y);
		CHECK(!strstr(text, "nan") && !strstr(text, ">inf") && !strstr(text, "-inf"),
		      "%zu: not a number", i);
		free(text);
		edges_free(&h.axis.edges);
	}
	/* 2^63 in one of four bins. */
	h.axis = make_axis(4);
	equal_bins(&h, false, 34000, "2^63");
	equal_bins(&h, true, 34000, "2^63");
}

static void nothing(void)
{
	uint64_t count[8] = {0};
	struct hist h = {.channels = 1, .axis = make_axis(4), .count = count, .stride = 4};
	static struct svg_path path;

	for (int log = 0; log < 2; log++) {
		char *text = draw(&h, &(struct style){.picture.log = log}, &FROM);
		CHECK(!svg_path_read(&path, text, 0) && path.count == 0, "%zu columns", path.count);
		CHECK(strstr(text, ">all bins are empty<"), "it is not said");
		free(text);
	}
	h.axis.kind = AXIS_AUTO;
	h.axis.edges.binning.bins = 0;
	h.channels = 2;
	h.flow[1].nan = 7;
	h.samples = 7;
	char *text = draw(&h, &(struct style){.header = true}, &FROM);
	CHECK(!svg_path_read(&path, text, 1) && path.count == 0, "%zu columns", path.count);
	CHECK(strstr(text, ">no bins: no finite sample was counted<") && strstr(text, "7 NaN"),
	      "it is not said");
	free(text);
}

/* The options, which are the user's words, cannot break out of their places. */
static void hostile(void)
{
	static const char WORDS[] =
		"</title><script>alert(1)</script> ]]>\"'&&amp;<!-- \x01\x1b[31m\t\n\r\x7f "
		"\xff\xc3\x28\xed\xa0\x80\xef\xbf\xbe\xf5 \xc3\xa9\xf0\x9f\x93\x8a ";
	static char longer[6000];
	uint64_t count[2] = {1, 2};
	const struct hist h = {
		.channels = 1, .axis = make_axis(2), .count = count, .stride = 2, .samples = 3};
	struct provenance from = FROM;

	memset(longer, 'x', sizeof(longer) - 1);
	memcpy(longer, WORDS, sizeof(WORDS) - 1);
	from.options = longer;
	char *text = draw(&h, &(struct style){.header = true}, &from);
#define LOST "\xef\xbf\xbd"
	CHECK(strstr(text,
		     "<title>gpuhist &lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; "
		     "]]&gt;\"'&amp;&amp;amp;&lt;!-- " LOST LOST "[31m\t\n&#13;" LOST " " LOST LOST
		     "(" LOST LOST LOST LOST LOST " \xc3\xa9\xf0\x9f\x93\x8a xxxx"),
	      "%.500s", text);
	/* What is seen is cut, after a whole character. */
	CHECK(strstr(text, "\xe2\x80\xa6</text>"), "no dots: %.300s",
	      strstr(text, "class=\"head\""));
	free(text);
	for (size_t cut = 0; cut < 100; cut++) {
		char word[128];
		memset(word, 'a', cut);
		strcpy(word + cut, "\xf0\x9f\x93\x8a\xc3\xa9&\xc3\xa9");
		from.options = word;
		text = draw(&h, &(struct style){.header = true}, &from);
		CHECK(!strstr(text, LOST), "cut after %zu: %.300s", cut,
		      strstr(text, "class=\"head\""));
		free(text);
	}
}

/* What the description says, to the digit. */
static void described(void)
{
	uint64_t count[4] = {1, 5, 3, 1};
	struct hist h = {.channels = 2,
			 .axis = axis_of(AXIS_RANGE, "i16", 2, "-2", "4", NULL),
			 .count = count,
			 .stride = 2,
			 .flow = {{1, 0, 0}, {0, 4, 0}},
			 .samples = 15};
	struct provenance from = FROM;

	from.partial = true;
	from.part = 2;
	from.parts = 3;
	h.axis.clamp = true;
	char *text = draw(&h, &(struct style){.picture.log = true}, &from);
	CHECK(strstr(text,
		     "<desc>Partial: these are the counts so far.\n"
		     "Histogram of 15 i16 samples of 2 channels, 2 bins from -2 to 4.\n"
		     "The first and the last bin hold what is out of range too.\n"
		     "Part 2 of 3.\n"
		     "Channel 0: 6 in bins, 1 under, 0 over, 0 NaN. Fullest bin: 1, [1, 4), 5 "
		     "samples. "
		     "1 %: under. 5 %: under. 25 %: [-2, 1). Median: [1, 4). 75 %: [1, 4). 95 %: "
		     "[1, 4). 99 %: [1, "
		     "4).\n"
		     "Channel 1: 4 in bins, 0 under, 4 over, 0 NaN. Fullest bin: 0, [-2, 1), 3 "
		     "samples. "
		     "1 %: [-2, 1). 5 %: [-2, 1). 25 %: [-2, 1). Median: [1, 4). 75 %: over. 95 %: "
		     "over. 99 %: over.\n"
		     "The picture has 2 columns of up to 1 bin; heights are samples per bin, on a "
		     "logarithmic axis.\n"
		     "</desc>"),
	      "%.1500s", text);
	CHECK(strstr(text, ">partial, counting goes on \xc2\xb7 15 i16 samples of 2 channels"),
	      "partial");
	CHECK(strstr(text, "part 2 of 3<") && strstr(text, ">samples per bin, logarithmic<"),
	      "part, log");
	free(text);
	/* What is asked for twice is the same twice. */
	text = draw(&h, &(struct style){.header = true}, &from);
	char *again = draw(&h, &(struct style){.header = true}, &from);
	CHECK(strcmp(text, again) == 0, "other bytes");
	free(text);
	free(again);
	/*
	 * Whole numbers with a bin each are named by themselves; a closed last bin has its bracket.
	 */
	h.channels = 1;
	h.flow[0].under = 0;
	h.axis = make_axis(4);
	text = draw(&h, &(struct style){.header = true}, &FROM);
	CHECK(strstr(text, "Fullest bin: 1, 1, 5 samples.") && strstr(text, "Median: 1."), "%.900s",
	      text);
	CHECK(strstr(text, ">fullest bin 1: 5 \xc2\xb7 median 1 \xc2\xb7 5 to 95 %: 0 to 3<"),
	      "%.3000s", text);
	free(text);
	h.axis.edges.closed = true;
	count[3] = 50;
	text = draw(&h, &(struct style){.header = true}, &FROM);
	CHECK(strstr(text, "from 0 to 4, both included.") &&
		      strstr(text, "Fullest bin: 3, [3, 4], 50 samples."),
	      "%.900s", text);
	free(text);
}

int main(void)
{
	signals_init();
	scratch_enter();
	columns_of_equal_bins();
	explicit_edges();
	every_bin_once();
	extremes();
	nothing();
	hostile();
	described();
	scratch_leave();
	return check_report();
}
