/* SPDX-License-Identifier: MIT */
/*
 * picture: bins joined, and pictures of text read again beside a plain model: what a row holds, how
 * long it is, how it is labelled. SVG is the transcript's.
 */
#include "output/picture.h"

#include <math.h>

#include "base/signals.h"
#include "check.h"
#include "scratch.h"
#include "wish.h"

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

static char *draw(const struct hist *h, const struct picture *picture)
{
	const struct style style = {.picture = *picture};
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	size_t bytes;

	CHECK(output_open(&out, "h", &fail) == 0, "%s", fail.text);
	write_plot(out, h, &style, &FROM);
	CHECK(output_commit(out, &fail) == 0, "%s", fail.text);
	char *text = scratch_read("h", &bytes);
	return text;
}

/* ---- bins joined ---- */

static void joined(void)
{
	static struct stripes stripes;
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
		stripes_join(&stripes, &axis, first, end, most);
		const uint32_t n = stripes.count, per = stripes.per;
		const struct stripe *const p = stripes.stripe;
		CHECK(n >= 1 && n <= most && p[0].first <= first && p[n - 1].end >= end &&
			      p[n - 1].end <= bins,
		      "%u of %u stripes for %u to %u", n, most, first, end);
		CHECK(per == 1 || end - first > most || n == 1, "joined without need");
		/* At most half of the stripes that there could be are given up for round numbers. */
		const uint32_t span = end - first, could = span / ((span - 1) / most + 1);
		CHECK((i % 2 ? 4 : 2) * n + 4 >= could, "%u stripes of %u", n, could);
		for (uint32_t k = 0; k < n; k++) {
			const uint32_t size = p[k].end - p[k].first;
			CHECK(size == per || (size < per && p[k].end == bins),
			      "stripe %u of %u has %u bins, not %u", k, n, size, per);
			CHECK(p[k].scale == 1, "its scale");
			CHECK(k == 0 || p[k].first == p[k - 1].end, "a gap");
			CHECK(n == 1 || p[k].first % per == 0, "not from the first bin");
		}
	}
	/* Round numbers of bins: 360 degrees by 20, 250 by 25. */
	static const uint32_t ROUND[][2] = {{360, 20}, {250, 25}, {1000, 50}, {256, 16}, {20, 1}};
	for (size_t i = 0; i < sizeof(ROUND) / sizeof(ROUND[0]); i++) {
		const struct axis axis = axis_of(AXIS_RANGE, "f64", ROUND[i][0], "0", "1", NULL);
		stripes_join(&stripes, &axis, 0, ROUND[i][0], 20);
		CHECK(stripes.per == ROUND[i][1], "%u bins by %u", ROUND[i][0], stripes.per);
	}
}

/* Bins of --log=auto of samples between two keys. */
static struct axis ranks_of(const char *type, uint64_t least, uint64_t greatest, uint32_t most)
{
	struct axis axis = axis_of(AXIS_RANKS, type, most, NULL, NULL, NULL);

	edges_settle(&axis.edges, &(struct extent){least, greatest});
	return axis;
}

/*
 * Stripes of ranks follow each other, begin where a number of bins from zero on is a multiple of
 * `per`, have all samples, and gaps have none. Twice as many bins in each only where these were too
 * many.
 */
static void joined_ranks(void)
{
	static struct stripes stripes;
	static uint64_t count[3000];
	static const char *const TYPES[] = {"f32", "i32", "u32", "f16"};
	uint64_t seed = 7;
	unsigned gaps = 0, wide = 0;

	for (unsigned i = 0; i < 4000; i++) {
		const uint64_t past = i % 4 == 3 ? 0x8000 : 1u << 31;
		const bool real = i % 4 % 3 == 0;
		const uint64_t a = check_random(&seed) % past, b = check_random(&seed) % past;
		const uint64_t from =
			real ? sample_key(&(struct sample_type){.bytes = 4}, 0) : 1u << 31;
		const uint64_t least = real ? from - a % 0x7f000000 : from - a,
			       greatest = real ? from + b % 0x47000000 : from + b - 1;
		const struct axis axis = ranks_of(TYPES[i % 4], least, greatest + (a + b == 0),
						  3 + (uint32_t)(check_random(&seed) % 2900));
		const uint32_t bins = axis_bins(&axis),
			       most = 4 + (uint32_t)(check_random(&seed) % 40),
			       sparse = 1 + (uint32_t)(check_random(&seed) % 300);
		const struct hist h = {.axis = axis, .channels = 1, .count = count, .stride = bins};
		uint64_t all = 0, sum = 0;
		for (uint32_t k = 0; k < bins; k++)
			all += count[k] = check_random(&seed) % sparse == 0 || k == 0;
		stripes_join_ranks(&stripes, &h, 0, bins, most);
		CHECK(stripes.count <= most && stripes.stripe[0].first == 0 &&
			      stripes.stripe[stripes.count - 1].end >= bins,
		      "%u of %u stripes of %u bins", stripes.count, most, bins);
		for (uint32_t k = 0; k < stripes.count; k++) {
			const struct stripe *const s = &stripes.stripe[k];
			const uint64_t own = stripe_sum(s, &h, 0);
			sum += own;
			gaps += s->gap;
			CHECK(s->gap ? own == 0 && s->end - s->first > stripes.per
				     : s->end - s->first <= stripes.per,
			      "stripe %u from %u to %u of %u", k, s->first, s->end, stripes.per);
			CHECK(k == 0 || (s->first == stripes.stripe[k - 1].end &&
					 (edges_first(&axis.edges) + s->first) % stripes.per == 0),
			      "stripe %u begins at %u", k, s->first);
		}
		CHECK(sum == all, "%llu of %llu", (unsigned long long)sum, (unsigned long long)all);
		wide += stripes.per > 1;
		const bool could = stripes.per > 1 && all * (most / 16 + 2) <= most;
		CHECK(!could, "%u bins a stripe for %llu that hold something", stripes.per,
		      (unsigned long long)all);
	}
	CHECK(gaps > 1000 && wide > 1000, "%u gaps, %u wide", gaps, wide);
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
	CHECK((length > 0) == (count > 0) &&
		      (fabs(length - exact) <= 0.5001 || (length == 1 && exact < 1)),
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
	static struct stripes stripes;
	const struct hist_flow *const flow = &h->flow[0];
	const uint64_t flows[] = {flow->under, flow->over, flow->nan};
	static const char *const NAMES[] = {"under", "over", "nan"};
	const char *const line = picture->utf8 ? "\xe2\x94\x82" : "|";
	struct filled f;
	char *const text = draw(h, picture);
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
		stripes_join(&stripes, &h->axis, f.first, f.end, room);
		if (2 * (stripes.count + flow_rows) == bars)
			break;
		CHECK(picture->columns < 110, "rows are missing: %s", text);
	}
	for (unsigned i = 0; i < 3; i++) {
		for (uint32_t k = 0; i == 1 && f.bins > 0 && k < stripes.count; k++) {
			const struct stripe *const stripe = &stripes.stripe[k];
			const uint64_t sum = stripe_sum(stripe, h, 0);
			row[n++] = (struct row){.edge = edges_value(&h->axis.edges, stripe->first),
						.end = edges_value(&h->axis.edges, stripe->end),
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

int main(void)
{
	signals_init();
	scratch_enter();
	joined();
	joined_ranks();
	texts();
	scratch_leave();
	return check_report();
}
