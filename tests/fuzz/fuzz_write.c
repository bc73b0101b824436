/* SPDX-License-Identifier: MIT */
/*
 * write_json: a small histogram with any counts and bins is the same after it was written, and read
 * by the plainest of parsers. The oracle checks tables, the transcripts check counters and
 * pictures.
 */
#include "output/format.h"

#include <ctype.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define BINS 40

/* The input chooses the options too. */
static char option[16];
static const struct provenance FROM = {
	.bytes = UINT64_MAX, .part = 1, .parts = 7, .options = option};

static char *text;     /* the output, with a zero at the end */
static const char *at; /* how far the text was read */

static void expect(const char *word)
{
	REQUIRE(strncmp(at, word, strlen(word)) == 0, "'%s' expected, not '%.40s'", word, at);
	at += strlen(word);
}

static void expect_count(uint64_t count)
{
	char *end;

	REQUIRE(isdigit((unsigned char)*at), "a count expected, not '%.40s'", at);
	const unsigned long long v = strtoull(at, &end, 10);
	REQUIRE(v == count && end - at <= 20 && (*at != '0' || end == at + 1), "%llu, not %llu", v,
		(unsigned long long)count);
	at = end;
}

static void expect_edge(const struct edges *e, uint32_t i)
{
	char *end;
	const double x = strtod(at, &end);

	REQUIRE(end > at && x == edges_value(e, i), "edge %lu is %a, not '%.40s'", (unsigned long)i,
		edges_value(e, i), at);
	at = end;
}

static void skip_space(void)
{
	at += strspn(at, " \n\t\r");
}

/* Skip any JSON value: braces, commas and quotes must be correct. */
static void json_value(void)
{
	skip_space();
	if (*at == '{' || *at == '[') {
		const char close = *at == '{' ? '}' : ']';
		at++;
		skip_space();
		for (bool first = true; *at != close; first = false) {
			if (!first)
				expect(",");
			skip_space();
			if (close == '}') {
				REQUIRE(*at == '"', "a name expected, not '%.40s'", at);
				json_value();
				expect(":");
			}
			json_value();
		}
		at++;
	} else if (*at == '"') {
		for (at++; *at != '"'; at += *at == '\\' ? 2 : 1)
			REQUIRE((uint8_t)*at >= ' ' && (*at != '\\' || strchr("\"\\u", at[1])),
				"a string: '%.40s'", at);
		at++;
	} else if (*at == 't' || *at == 'f') {
		expect(*at == 't' ? "true" : "false");
	} else { /* a number in JSON: no '+', no "inf", digits on both sides of a point */
		char *end;
		REQUIRE(*at == '-' || isdigit((unsigned char)*at), "a value expected, not '%.40s'",
			at);
		(void)strtod(at, &end);
		REQUIRE(isdigit((unsigned char)end[-1]), "no number: '%.40s'", at);
		at = end;
	}
	skip_space();
}

static void find(const char *word)
{
	at = strstr(text, word);
	REQUIRE(at, "no %s", word);
	at += strlen(word);
	skip_space();
}

static void expect_member(const char *name, uint64_t count)
{
	find(name);
	expect_count(count);
}

/*
 * Can a reader that knows the ends and the number of bins compute edge i: in binary64, and with a
 * compiler that fuses the product and the sum?
 */
static bool reader_has(double lo, double hi, uint32_t bins, uint32_t i, double edge)
{
	const double z = (double)i / bins, top = lo + (hi - lo);
	const volatile double a = (1 - z) * lo, b = z * top;

	return a + b == edge && fma(1 - z, lo, b) == edge && fma(z, top, a) == edge;
}

static void read_axis(const struct hist *h)
{
	const struct edges *e = &h->axis.edges;
	const uint32_t bins = axis_bins(&h->axis);
	bool regular = true;

	for (uint32_t i = 0; i <= bins; i++)
		regular = regular && reader_has(edges_value(e, 0), edges_value(e, bins), bins, i,
						edges_value(e, i));
	find("\"axes\": [{\"type\": ");
	if (regular) {
		expect("\"regular\", \"lower\": ");
		expect_edge(e, 0);
		expect(", \"upper\": ");
		expect_edge(e, bins);
		expect(", \"bins\": ");
		expect_count(bins);
	} else {
		expect("\"variable\", \"edges\": [");
		for (uint32_t i = 0; i <= bins; i++) {
			expect_edge(e, i);
			expect(i < bins ? "," : "]");
		}
	}
	expect(", \"underflow\": true, \"overflow\": true, \"circular\": false}]");
}

/* The storage: under, bins, over; or, without zeros, only the indices or only the counts. */
enum listed { ALL_COUNTS, SOME_PLACES, SOME_COUNTS };

static void read_entries(const struct hist *h, enum listed listed)
{
	const uint32_t bins = axis_bins(&h->axis);
	const char *comma = "";

	for (uint32_t i = 0; i <= bins + 1; i++) {
		const uint64_t count = i == 0          ? h->flow[0].under
				       : i == bins + 1 ? h->flow[0].over
						       : h->count[i - 1];
		if (listed != ALL_COUNTS && count == 0)
			continue;
		expect(comma);
		expect_count(listed == SOME_PLACES ? i : count);
		comma = ",";
	}
}

static void read_json(const struct style *style, const struct hist *h, size_t bytes)
{
	const struct hist_flow *flow = &h->flow[0];

	at = text;
	json_value();
	REQUIRE(at == text + bytes && strchr(text, '\n') == at - 1, "not one line: '%.40s'", at);
	expect_member("\"samples\":", h->samples);
	expect_member("\"under\":", flow->under);
	expect_member("\"over\":", flow->over);
	expect_member("\"nan\":", flow->nan);
	expect_member("\"bytes\":", FROM.bytes);
	expect_member("\"parts\":", FROM.parts);
	find("\"type\":");
	expect("\"");
	expect(h->axis.type.name);
	expect("\"");
	find("\"range\":");
	expect("\"");
	expect_edge(&h->axis.edges, 0);
	expect(":");
	expect_edge(&h->axis.edges, axis_bins(&h->axis));
	expect("\"");
	find("\"closed\":");
	expect(h->axis.edges.closed ? "true" : "false");
	find("\"clamp\":");
	expect(h->axis.clamp ? "true" : "false");
	read_axis(h);
	if (style->nonzero) {
		find("\"index\": [[");
		read_entries(h, SOME_PLACES);
		expect("]], ");
	}
	find("\"values\": [");
	read_entries(h, style->nonzero ? SOME_COUNTS : ALL_COUNTS);
	expect("]}}\n");
}

static void write_and_read(const struct style *style, const struct hist *h)
{
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	char path[32];
	const int fd = memfd_create("output", MFD_CLOEXEC), copy = dup(fd);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy); /* commit closes it */
	REQUIRE(output_open(&out, path, &fail) == 0, "%s", fail.text);
	write_json(out, h, style, &FROM);
	REQUIRE(!output_failed(out) && output_commit(out, &fail) == 0, "%s", fail.text);
	const size_t bytes = (size_t)lseek(fd, 0, SEEK_END);
	text = malloc(bytes + 1);
	REQUIRE(pread(fd, text, bytes, 0) == (ssize_t)bytes, "%zu bytes", bytes);
	text[bytes] = '\0';
	read_json(style, h, bytes);
	REQUIRE(at == text + bytes, "more than was expected: '%.40s'", at);
	free(text);
	close(fd);
}

/* Take a count of any magnitude: counters overflow near powers of two. */
static uint64_t take_count(struct bytes *b)
{
	const unsigned how = (unsigned)take(b, 1);

	if (how < 64)
		return how % 4 ? 0 : 1;
	return how < 128   ? take(b, 2)
	       : how < 192 ? take(b, 8)
			   : ((uint64_t)1 << how % 64) - how / 64 % 2;
}

static double take_finite(struct bytes *b)
{
	const double x = take_double(b);

	return isfinite(x) ? x : 0;
}

#define QUANTILES 5u

static void take_stats(struct hist_stats *s, struct hist_quantile *quantile, struct bytes *b)
{
	*s = (struct hist_stats){
		.of = {.number = take_count(b), .below = take_count(b), .above = take_count(b)}};
	s->of.least = -(int128_t)take_count(b);
	s->of.greatest = (int128_t)take_count(b);
	s->of.least_real = take_finite(b);
	s->of.greatest_real = take_finite(b);
	s->of.mean = take_finite(b);
	s->of.deviation = take_finite(b);
	s->of.at_least = take_count(b);
	s->of.at_greatest = take_count(b);
	s->entropy = (double)take(b, 1) / 8 - 1;
	for (unsigned i = 0; i < QUANTILES; i++) {
		quantile[i] = (struct hist_quantile){take(b, 1) % 2, (int128_t)take_count(b),
						     take_finite(b)};
	}
}

/* Make an axis as options.c would, from two numbers that are any binary64 or small. */
static bool take_axis(struct axis *axis, struct bytes *b, uint32_t bins, unsigned flags)
{
	static const char *const TYPES[] = {"u8",    "i16be", "u24", "u32",  "i64",
					    "u64be", "f16",   "f32", "f64be"};
	struct axis_spec spec = {.bins = bins,
				 .kind = AXIS_RANGE,
				 .closed = flags & 1,
				 .full = flags & 2,
				 .clamp = flags & 64};
	struct sample_type type;
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT];
	const char *why;

	const double x = take_double(b), y = take_double(b);
	snprintf(lo, sizeof(lo), "%.17g", flags & 4 ? x : (double)(int16_t)take(b, 2));
	snprintf(hi, sizeof(hi), "%.17g", flags & 4 ? y : 32768 + (double)take(b, 2));
	REQUIRE(sample_type_parse(&type, TYPES[take(b, 1) % 9]) == 0, "a type");
	return (spec.full || (number_parse(&spec.lo, lo, strlen(lo)) == 0 &&
			      number_parse(&spec.hi, hi, strlen(hi)) == 0)) &&
	       axis_init(axis, &spec, &type, &why) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, size};
	struct style style = {.counter = COUNTER_U64};
	uint64_t counts[BINS];
	const unsigned flags = (unsigned)take(&b, 2);
	const uint32_t bins = 1 + (uint32_t)take(&b, 1) % BINS;
	struct hist_flow flow[1] = {{0}};
	struct hist_quantile quantile[QUANTILES] = {{0}};
	struct hist hist = {.channels = 1, .count = counts, .flow = flow, .quantile = quantile};
	struct hist_stats stats;

	if (!take_axis(&hist.axis, &b, bins, flags))
		return 0;
	style.nonzero = flags & 16;
	flow[0].under = take_count(&b);
	flow[0].over = take_count(&b);
	flow[0].nan = take_count(&b);
	hist.samples = take_count(&b);
	for (uint32_t i = 0; i < bins; i++)
		counts[i] = take_count(&b);
	for (size_t i = 0; i + 1 < sizeof(option); i++)
		option[i] = (char)take(&b, 1);
	take_stats(&stats, quantile, &b);
	hist.stats = flags & 128 ? &stats : NULL;
	hist.asked = (struct quantiles){.n = QUANTILES, .at = {0, 1, 500000, 999000, 1000000}};
	write_and_read(&style, &hist);
	return 0;
}
