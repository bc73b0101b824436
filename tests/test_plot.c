/* SPDX-License-Identifier: MIT */
/*
 * plot: pictures of text, read again and compared with a plain model: which bins a row holds, how
 * long its bar is, what its label tells, what the footer says; at all widths, with nothing, one
 * bin, 2^24 bins, and counts near 2^64.
 */
#include "output/plot_bar.h"
#include "output/plot_label.h"
#include "output/plot_rows.h"

#include <math.h>

#include "check.h"
#include "picture.h"

static const struct provenance FROM = {.part = 1, .parts = 1};
static struct picture_text t; /* what was drawn last */

static struct axis make_axis(const char *name, struct edges_spec spec)
{
	const struct axis_spec of = {.edges = spec};
	struct sample_type type;
	struct axis axis = {0};
	const char *why = NULL;

	CHECK(sample_type_parse(&type, name) == 0 && axis_init(&axis, &of, &type, &why) == 0,
	      "%s: %s", name, why);
	return axis;
}

static struct number num(double x)
{
	const bool whole = x == floor(x) && fabs(x) < 0x1p96;

	return (struct number){
		.value = x, .whole = whole, .exact = whole, .integer = whole ? (int128_t)x : 0};
}

static struct axis make_range(const char *name, double lo, double hi, uint32_t bins)
{
	return make_axis(name,
			 (struct edges_spec){
				 .kind = AXIS_RANGE, .bins = bins, .lo = num(lo), .hi = num(hi)});
}

/* Bins of AUTO from `first` on, 2^k wide. */
static struct axis make_auto(const char *name, int64_t first, int k, uint32_t bins)
{
	struct axis axis =
		make_axis(name, (struct edges_spec){.kind = AXIS_AUTO, .bins = bins + 2});
	struct edges *const e = &axis.edges;

	e->k = k;
	e->first = first;
	if (e->exact) {
		e->lo = (int128_t)first * ((int128_t)1 << k);
		e->width = (int128_t)bins << k;
	}
	e->binning.bins = bins;
	return axis;
}

static void draw(const struct hist *h, const struct picture *picture)
{
	char *const text = picture_draw_text(h, picture, &FROM);

	CHECK(text != NULL, "nothing was drawn");
	free(t.text);
	picture_read(&t, text, picture->utf8);
	CHECK(!t.wrong, "%s:\n%s", t.wrong, text);
}

/* The number before a word of the title; `none` where the word is not there. */
static unsigned long before(const char *text, const char *word, unsigned long none)
{
	const char *p = strstr(text, word);

	if (!p)
		return none;
	while (p > text && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return strtoul(p, NULL, 10);
}

static uint128_t parse_wide(const char *text)
{
	uint128_t n = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (unsigned)(*text - '0');
	return n;
}

/* A bar of so many of `units`, by another way than plot_bar's. */
static bool bar_is(unsigned length, uint128_t count, uint128_t most, unsigned units, bool log)
{
	if (count == 0)
		return length == 0;
	if (count == most)
		return length == units;
	if (log) {
		const long double exact =
			log2l((long double)count + 1) / log2l((long double)most + 1) * units;
		return fabsl(length - exact) <= 0.5L + 1e-4L || (length == 1 && exact < 1);
	}
	const long double exact = (long double)count / (long double)most * units;
	return fabsl(length - exact) <= 0.5L + 1e-4L || (length == 1 && exact < 1);
}

/* A row that holds `count` of `samples`, beside the fullest of `most`. */
static void check_row(const struct picture_row *row, uint128_t count, uint128_t most,
		      uint128_t samples, const struct picture *picture)
{
	const unsigned units = row->cells * (picture->utf8 ? 8 : 1);
	const char *const rounded = strchr(row->count, 'e');

	CHECK(row->cells >= 3 && bar_is(row->length, count, most, units, picture->log),
	      "%s: %u of %u for %.17g of %.17g:\n%s", row->label, row->length, units, (double)count,
	      (double)most, t.text);
	if (*row->count)
		CHECK(rounded ? fabs(strtod(row->count, NULL) / (double)count - 1) < 0.05 &&
					count >= 1000000
			      : parse_wide(row->count) == count,
		      "%s: %s, not %.17g:\n%s", row->label, row->count, (double)count, t.text);
	if (*row->percent) {
		const long double percent = 100 * (long double)count / (long double)samples;
		const long double shown = strtold(
			row->percent + (*row->percent == '<' || *row->percent == '>'), NULL);
		CHECK(*row->percent == '<'   ? count > 0 && percent <= 0.05L
		      : *row->percent == '>' ? count < samples && percent >= 99.95L
					     : fabsl(shown - percent) <= 0.0500001L &&
						       (shown > 0) == (count > 0) &&
						       (shown < 100) == (count < samples),
		      "%s: %s of %.17g of %.17g", row->label, row->percent, (double)count,
		      (double)samples);
	}
}

/* The label is nearer to the row's edge than a twentieth of a row's width. */
static void check_label(const char *label, double lower, double upper)
{
	CHECK(*label == '~' ||
		      fabs(strtod(label, NULL) / 2 - lower / 2) <= (upper / 2 - lower / 2) / 19 ||
		      !isfinite(lower) || !isfinite(upper),
	      "%s for %.17g to %.17g:\n%s", label, lower, upper, t.text);
}

static void check_flow(unsigned *r, const char *name, uint64_t count, uint128_t most,
		       uint128_t samples, const struct picture *picture)
{
	if (count == 0)
		return;
	CHECK(*r < t.count && strcmp(t.rows[*r].label, name) == 0, "no row of %s:\n%s", name,
	      t.text);
	check_row(&t.rows[(*r)++], count, most, samples, picture);
}

/* The picture of a histogram of one channel, all of it. */
static void check_picture(const struct hist *h, const struct picture *picture)
{
	const uint32_t bins = axis_bins(&h->axis);
	const struct hist_flow *const flow = &h->flow[0];
	const unsigned columns = picture->columns ? picture->columns : 80,
		       lines = picture->rows ? picture->rows : 24;
	uint32_t first = bins, last = 0, filled = 0;
	uint128_t samples = (uint128_t)flow->under + flow->over + flow->nan, most = 0;

	draw(h, picture);
	for (uint32_t i = 0; i < bins; i++) {
		samples += h->count[i];
		if (h->count[i] == 0)
			continue;
		first = filled++ == 0 ? i : first;
		last = i;
	}
	CHECK(t.widest <= columns, "%u of %u columns:\n%s", t.widest, columns, t.text);
	CHECK(columns < 60 || lines < 24 || t.lines < lines, "%u of %u lines:\n%s", t.lines, lines,
	      t.text);
	CHECK(parse_wide(t.footer[0] ? t.footer : strstr(t.title, " 0 samples") + 1) == samples ||
		      columns < 25,
	      "the samples:\n%s", t.text);

	/*
	 * Where rows begin: as the title says. Of AUTO all rows but the first and the last hold as
	 * many bins.
	 */
	const uint32_t per = (uint32_t)before(t.title, " a row", 1);
	const unsigned flows = (unsigned)((flow->under > 0) + (flow->over > 0) + (flow->nan > 0));
	const unsigned rows = t.count - flows;
	const int64_t zero = h->axis.kind != AXIS_AUTO ? 0
			     : h->axis.edges.exact ? (int64_t)(h->axis.edges.lo >> h->axis.edges.k)
						   : h->axis.edges.first;
	const uint32_t lead = (uint32_t)((zero % per + per) % per), skip = (first + lead) / per;
	CHECK(filled == 0 ? rows == 0 : rows == (last + lead) / per - skip + 1,
	      "%u rows of %lu bins:\n%s", rows, (unsigned long)per, t.text);
	uint128_t sums[PICTURE_ROWS] = {0};
	for (uint32_t i = first; i <= last && filled > 0; i++)
		sums[(i + lead) / per - skip] += h->count[i];
	for (unsigned r = 0; r < rows; r++)
		most = sums[r] > most ? sums[r] : most;
	most = flow->under > most ? flow->under : most;
	most = flow->over > most ? flow->over : most;
	most = flow->nan > most ? flow->nan : most;

	unsigned r = 0;
	check_flow(&r, "under", flow->under, most, samples, picture);
	for (unsigned i = 0; i < rows; i++, r++) {
		const int64_t begin = (int64_t)(skip + i) * per - lead;
		const uint32_t lower = begin < 0 ? 0 : (uint32_t)begin;
		const uint32_t upper = begin + per < bins ? (uint32_t)(begin + per) : bins;
		check_row(&t.rows[r], sums[i], most, samples, picture);
		/* Of AUTO, rows go on beyond the bins. */
		if (h->axis.kind == AXIS_AUTO)
			check_label(t.rows[r].label, ldexp((double)(zero + begin), h->axis.edges.k),
				    ldexp((double)(zero + begin + per), h->axis.edges.k));
		else
			check_label(t.rows[r].label, edges_value(&h->axis.edges, lower),
				    edges_value(&h->axis.edges, upper));
		CHECK(i == 0 || strcmp(t.rows[r].label, t.rows[r - 1].label) != 0,
		      "two rows are %s:\n%s", t.rows[r].label, t.text);
	}
	check_flow(&r, "over", flow->over, most, samples, picture);
	check_flow(&r, "nan", flow->nan, most, samples, picture);
}

/* Counts of some shape. */
static void fill(struct hist *h, uint64_t *seed, unsigned shape)
{
	const uint32_t bins = axis_bins(&h->axis);

	h->flow[0] = (struct hist_flow){0};
	if (shape & 8)
		h->flow[0] = (struct hist_flow){check_random(seed) % 1000,
						check_random(seed) >> (shape % 4 * 16),
						check_random(seed) % 3};
	for (uint32_t i = 0; i < bins; i++) {
		const double x = (i - bins / 2.0) / (bins / 8.0 + 1);
		switch (shape % 8) {
		case 0:
			h->count[i] = (uint64_t)(1e6 * exp(-x * x));
			break;
		case 1:
			h->count[i] = check_random(seed) % 10;
			break;
		case 2:
			h->count[i] = check_random(seed) % 50 == 0;
			break;
		case 3:
			h->count[i] = check_random(seed) >> check_random(seed) % 64;
			break;
		case 4:
			h->count[i] = i == bins / 3 ? UINT64_MAX : 0;
			break;
		case 5:
			h->count[i] = (uint64_t)1 << 63;
			break;
		case 6:
			h->count[i] = 0;
			break;
		default:
			h->count[i] = i < bins / 2 ? 100 : UINT64_MAX - i;
		}
	}
}

static void shapes(void)
{
	static double list[] = {-1e300, -5, -0.125, 0, 1e-300, 1e-9, 3, 4, 4.5, 100, 1e17};
	uint64_t seed = 1;
	struct axis axes[] = {
		make_range("f32", -1, 1, 1000),
		make_range("f64", -1, 1, 49),
		make_range("u8", 0, 256, 256),
		make_range("u8", 0, 256, 3),
		make_range("u16", 0, 65536, 65536),
		make_range("i64", -9223372036854775808.0, 9223372036854775808.0, 100),
		make_range("u64", 1152921504606846976.0, 1152921504606847976.0 + 24, 1024),
		make_range("f64", 1e12, 1e12 + 1, 777),
		make_range("f64", 1e-310, 3e-308, 50),
		make_range("f64", -1.7e308, 1.7e308, 60),
		make_range("u32", 0, 1, 1),
		make_range("u32", 0, 1021, 1021),
		make_axis("f32",
			  (struct edges_spec){
				  .kind = AXIS_LOG, .bins = 90, .lo = num(1e-3), .hi = num(1e6)}),
		make_axis("f64", (struct edges_spec){.kind = AXIS_EDGES, .bins = 10, .list = list}),
		make_axis("u8", (struct edges_spec){.kind = AXIS_MOD, .bins = 7}),
		make_auto("f32", -77, -5, 157),
		make_auto("f64", -3, 1000, 200),
		make_auto("i32", -1000, 7, 256),
		make_auto("u32", 5, 24, 239),
		make_auto("i16", -3, 0, 5),
	};
	const size_t n = sizeof(axes) / sizeof(axes[0]);

	for (size_t a = 0; a < n; a++) {
		struct hist h = {.channels = 1, .axis = axes[a]};
		h.count = calloc(axis_bins(&h.axis), sizeof(uint64_t));
		for (unsigned columns = 20; columns <= 300; columns += columns < 90 ? 1 : 7)
			for (unsigned utf8 = 0; utf8 < 2; utf8++) {
				fill(&h, &seed, (unsigned)check_random(&seed) % 16);
				const struct picture picture = {
					.columns = columns,
					.rows = columns % 9 == 0 ? columns : 24,
					.utf8 = utf8,
					.log = check_random(&seed) % 3 == 0};
				check_picture(&h, &picture);
			}
		free(h.count);
		edges_free(&axes[a].edges);
	}
}

/* Joined rows cover the span, are not too many, and not few without a reason. */
static void joins(void)
{
	uint64_t seed = 2;

	for (unsigned i = 0; i < 20000; i++) {
		const uint32_t bins =
			1 + (uint32_t)(check_random(&seed) % BINS_MAX >> check_random(&seed) % 28);
		const uint32_t first = (uint32_t)(check_random(&seed) % bins);
		const uint32_t last = first + (uint32_t)(check_random(&seed) % (bins - first));
		const uint32_t most = 4 + (uint32_t)(check_random(&seed) % (i % 10 ? 40 : 997));
		const struct axis axis =
			i % 2 ? make_auto(i % 4 == 1 ? "i32" : "f64", -(int64_t)(bins / 3), 1, bins)
			      : make_range("f64", -1, 1, bins);
		struct plot_rows rows;
		plot_rows_join(&rows, &axis, first, last, most);
		CHECK(rows.rows >= 1 && rows.rows <= most, "%lu rows of %lu",
		      (unsigned long)rows.rows, (unsigned long)most);
		CHECK(last - first >= most || rows.per == 1, "joined without need");
		/*
		 * The least number of bins that fits gives the most rows; at most half of them are
		 * given up.
		 */
		const uint32_t span = last - first + 1, least = (span - 1) / most + 1;
		CHECK(2 * rows.rows + 2 >= span / least, "%lu rows of %lu",
		      (unsigned long)rows.rows, (unsigned long)(span / least));
		const uint32_t begin = plot_rows_begin(&rows, &axis, 0),
			       end = plot_rows_begin(&rows, &axis, rows.rows);
		CHECK(begin <= first && last < end && end <= bins &&
			      plot_rows_begin(&rows, &axis, 1) > first &&
			      plot_rows_begin(&rows, &axis, rows.rows - 1) <= last,
		      "rows from %lu to %lu for %lu to %lu", (unsigned long)begin,
		      (unsigned long)end, (unsigned long)first, (unsigned long)last);
		/* Of AUTO an edge between rows is a multiple of a row's width. */
		const double edge = edges_value(&axis.edges, plot_rows_begin(&rows, &axis, 1));
		CHECK(axis.kind != AXIS_AUTO || rows.rows == 1 || fmod(edge, 2.0 * rows.per) == 0,
		      "an edge at %g", edge);
		const struct edges whole = plot_rows_edges(&rows, &axis);
		CHECK(rows.rows == 1 || edges_value(&whole, (rows.skip + 1) * rows.per) == edge,
		      "row 1 is at %g", edge);
	}
}

/* Figures beside the samples themselves, in order. */
static void figures(void)
{
	static const unsigned PERCENT[PLOT_PLACES] = {0, 5, 50, 95, 100};
	uint64_t seed = 3, count[9];
	int samples[100]; /* -1 under, 9 over */

	for (unsigned i = 0; i < 5000; i++) {
		struct hist h = {.channels = 1, .count = count, .axis = make_range("f32", 0, 1, 9)};
		unsigned n = 0, filled = 0, most = 0;
		h.flow[0].nan = check_random(&seed) % 3;
		for (int where = -1; where <= 9; where++) {
			const unsigned some =
				(unsigned)check_random(&seed) % 9 >> check_random(&seed) % 5;
			uint64_t *const to = where < 0    ? &h.flow[0].under
					     : where == 9 ? &h.flow[0].over
							  : &count[where];
			*to = some;
			filled += where >= 0 && where < 9 && some > 0;
			most = where >= 0 && where < 9 && some > most ? some : most;
			for (unsigned k = 0; k < some; k++)
				samples[n++] = where;
		}
		struct plot_figures f;
		plot_figures(&f, &h, 0);
		CHECK(f.samples == n + h.flow[0].nan && f.filled == filled && f.most == most,
		      "the sums");
		CHECK(filled == 0 || count[f.mode] == most, "the mode");
		for (unsigned q = 0; q < PLOT_PLACES; q++) {
			unsigned rank = 1;
			while (rank < n && rank * 100 < n * PERCENT[q])
				rank++;
			const int is = n == 0 ? -2 : samples[rank - 1];
			CHECK(f.at[q].kind == (is == -2   ? QUANTILE_NONE
					       : is == -1 ? QUANTILE_UNDER
					       : is == 9  ? QUANTILE_OVER
							  : QUANTILE_BIN) &&
				      (f.at[q].kind != QUANTILE_BIN || (int)f.at[q].bin == is),
			      "%u %% of %u samples", PERCENT[q], n);
		}
	}
}

static void bars(void)
{
	uint64_t seed = 4;

	for (unsigned i = 0; i < 200000; i++) {
		const uint128_t most = ((uint128_t)(check_random(&seed) >> check_random(&seed) % 64)
					<< check_random(&seed) % 30) +
				       1;
		const uint128_t count =
			i % 7 == 0 ? most - (most > 1)
				   : (check_random(&seed) >> check_random(&seed) % 64) % most;
		const unsigned units = 1 + (unsigned)check_random(&seed) % PLOT_BAR_UNITS;
		const bool log = i % 2;
		const unsigned length = plot_bar_length(count, most, units, log);
		CHECK(length <= units && bar_is(length, count, most, units, log),
		      "%u of %u for %.17g of %.17g", length, units, (double)count, (double)most);
	}
	CHECK(plot_bar_length(1, 1, 8, true) == 8 &&
		      plot_bar_length(1, (uint128_t)1 << 99, 8, false) == 1,
	      "the ends");
}

static bool has(const char *text)
{
	return strstr(t.text, text) != NULL;
}

/* The bytes themselves of a few pictures: what no other check looks at. */
static void bytes(void)
{
	uint64_t count[8] = {0, 1, 8, 1000000, 0, 0, 0, 0};
	struct hist h = {.channels = 1, .axis = make_range("u8", 0, 8, 8), .count = count};
	struct provenance from = FROM;

	free(picture_draw_text(&h, &(struct picture){0}, &FROM));
	draw(&h, &(struct picture){.columns = 40, .utf8 = true});
	CHECK(strcmp(t.text,
		     "u8: 8 bins from 0 to 8, not shown: 1\n"
		     "empty below, 4 above\n"
		     "1 \u2502\u258f                    \u2502       1  <0.1%\n"
		     "2 \u2502\u258f                    \u2502       8  <0.1%\n"
		     "3 "
		     "\u2502\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588"
		     "\u2588\u2588\u2588\u2588"
		     "\u2588\u2588\u2588\u2588\u2588\u2588\u2502 1000000 >99.9%\n"
		     "1000009 samples in 3 bins; mode 3\n"
		     "(1000000)\n"
		     "min 1, 5% 3, median 3, 95% 3, max 3\n") == 0,
	      "%s", t.text);
	draw(&h, &(struct picture){.columns = 40, .colour = true});
	CHECK(t.escapes == 6 && has("|\033[36m#\033[0m "), "%s", t.text);
	draw(&h, &(struct picture){.columns = 40, .log = true});
	CHECK(t.escapes == 0 && has("log counts") && has("2 |###          "), "%s", t.text);
	from.partial = true;
	from.part = 2;
	from.parts = 7;
	t.text = (free(t.text), picture_draw_text(&h, &(struct picture){0}, &from));
	CHECK(has("u8 part 2 of 7, PARTIAL, counts so far: 8 bins"), "%s", t.text);
	/* Nothing at all, nothing in the bins, no bins. */
	count[1] = count[2] = count[3] = 0;
	draw(&h, &(struct picture){0});
	CHECK(strcmp(t.text, "u8: 8 bins from 0 to 8\n0 samples\n") == 0, "%s", t.text);
	h.flow[0].over = 3;
	draw(&h, &(struct picture){0});
	CHECK(t.count == 1 && has("3 samples; all bins are empty\nmin over, 5% over"), "%s",
	      t.text);
	h.axis = make_auto("f32", 0, 0, 2);
	h.axis.edges.binning.bins = 0;
	draw(&h, &(struct picture){0});
	CHECK(t.count == 1 && has("f32: 0 bins\n") && has("3 samples; all bins are empty"), "%s",
	      t.text);
	/* Digits before the point are not rounded: 170 2/3 is no 170, and -0 no number. */
	count[0] = 1;
	count[1] = count[2] = 5;
	h.flow[0].over = 0;
	h.axis = make_range("u8", 0, 256, 3);
	draw(&h, &(struct picture){0});
	CHECK(has("171 |") && has("median 85, 95% 171, max 171"), "%s", t.text);
	h.axis = make_range("f32", -0.1, 0.2, 3);
	draw(&h, &(struct picture){0});
	CHECK(has("-0.1 |") && has("\n 0.0 |") && has("median 0, 95% 0.1"), "%s", t.text);
	/* Edges that binary64 cannot tell apart are told apart. */
	h.flow[0].over = 0;
	h.axis = make_range("u64", 4611686018427387904.0, 4611686018427387904.0 * 2, 8);
	h.axis.edges.width = 8;
	for (unsigned i = 0; i < 8; i++)
		count[i] = i + 1;
	draw(&h, &(struct picture){0});
	CHECK(t.count == 8 && has("4611686018427387904 |") && has("4611686018427387911 |"), "%s",
	      t.text);
	draw(&h, &(struct picture){.columns = 20, .rows = 40});
	CHECK(t.count == 8 && has("~6018427387904 |") && has("~6018427387911 |"), "%s", t.text);
}

/* Channels have the same rows; each has bars of its own. */
static void channels(void)
{
	uint64_t count[] = {0, 5, 0, 0, 0, 0, 0, 70, 0, 0, 0, 0};
	struct hist h = {
		.channels = 3, .stride = 4, .axis = make_range("u8", 0, 4, 4), .count = count};
	char *const text = picture_draw_text(&h, &(struct picture){.columns = 40}, &FROM);

	CHECK(strcmp(text,
		     "u8 channel 0 (of 3): 4 bins from 0 to 4,\n"
		     "not shown: 1 empty below\n"
		     "1 |###########################| 5 100.0%\n"
		     "2 |                           | 0   0.0%\n"
		     "3 |                           | 0   0.0%\n"
		     "5 samples in 1 bin; mode 1 (5)\n"
		     "min 1, 5% 1, median 1, 95% 1, max 1\n"
		     "\n"
		     "u8 channel 1 (of 3): 4 bins from 0 to 4,\n"
		     "not shown: 1 empty below\n"
		     "1 |                          |  0   0.0%\n"
		     "2 |                          |  0   0.0%\n"
		     "3 |##########################| 70 100.0%\n"
		     "70 samples in 1 bin; mode 3 (70)\n"
		     "min 3, 5% 3, median 3, 95% 3, max 3\n"
		     "\n"
		     "u8 channel 2 (of 3): 4 bins from 0 to 4,\n"
		     "not shown: 1 empty below\n"
		     "0 samples\n") == 0,
	      "%s", text);
	free(text);
}

static void many(void)
{
	const uint32_t bins = 1u << 24;
	struct hist h = {
		.channels = 1, .axis = make_range("u32", 0, bins, bins), .count = calloc(bins, 8)};
	const struct picture picture = {.columns = 100, .rows = 50, .utf8 = true};
	uint64_t seed = 5;

	check_picture(&h, &picture);
	h.count[0] = 1;
	check_picture(&h, &picture);
	h.count[bins - 1] = UINT64_MAX;
	check_picture(&h, &picture);
	for (uint32_t i = 0; i < bins; i++)
		h.count[i] = check_random(&seed) >> 4;
	check_picture(&h, &picture);
	check_picture(&h, &(struct picture){.rows = 5000});
	free(h.count);
}

int main(void)
{
	shapes();
	joins();
	figures();
	bars();
	bytes();
	channels();
	many();
	free(t.text);
	return check_report();
}
