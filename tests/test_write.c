/* SPDX-License-Identifier: MIT */
/*
 * write: what each format holds, to the byte. uhi_check.py has those read them that they are for.
 */
#include "output/format.h"

#include <math.h>

#include "base/signals.h"
#include "scratch.h"
#include "wish.h"

static void raw(void)
{
	uint64_t count[5] = {0, 255, 256, 0x0102030405060708, (uint64_t)UINT32_MAX + 1};
	const struct hist h = {.channels = 1, .axis = make_axis(5), .count = count};
	static const struct {
		enum counter_kind counter;
		size_t bytes;
		const char *data;
	} CASES[] = {
		{COUNTER_SAT8, 5, "\x00\xff\xff\xff\xff"},
		{COUNTER_SAT16, 10, "\x00\x00\xff\x00\x00\x01\xff\xff\xff\xff"},
		{COUNTER_SAT32, 20, "\0\0\0\0\xff\0\0\0\0\x01\0\0\xff\xff\xff\xff\xff\xff\xff\xff"},
		{COUNTER_U64, 40,
		 "\0\0\0\0\0\0\0\0\xff\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0"
		 "\x08\x07\x06\x05\x04\x03\x02\x01\0\0\0\0\x01\0\0\0"},
		{COUNTER_U32, 8, "\0\0\0\0\xff\0\0\0"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct hist part = h;
		if (CASES[i].counter == COUNTER_U32)
			part.axis = make_axis(2);
		const struct wish wish = make_wish("r", "raw", CASES[i].counter);
		struct fail fail;
		size_t bytes;
		CHECK(publish_to(&wish, &part, &fail) == 0, "%s", fail.text);
		char *data = scratch_read("r", &bytes);
		CHECK(data && bytes == CASES[i].bytes && memcmp(data, CASES[i].data, bytes) == 0,
		      "counter %d: %zu bytes", (int)CASES[i].counter, bytes);
		free(data);
		scratch_clean();
	}
}

/*
 * The header is as numpy.save writes it, the counters are those of raw; uhi_check.py has numpy load
 * them.
 */
static void npy(void)
{
	static const struct {
		uint32_t bins, channels;
		enum counter_kind counter;
		const char *descr, *shape;
	} CASES[] = {
		{5, 1, COUNTER_U64, "<u8", "(5,)"},
		{1, 1, COUNTER_SAT8, "|u1", "(1,)"},
		{5, 1, COUNTER_SAT16, "<u2", "(5,)"},
		{5, 1, COUNTER_SAT32, "<u4", "(5,)"},
		{2, 3, COUNTER_U64, "<u8", "(3, 2)"},
		{1, 64, COUNTER_SAT16, "<u2", "(64, 1)"},
		{0, 1, COUNTER_U64, "<u8", "(0,)"},
		{0, 3, COUNTER_U32, "<u4", "(3, 0)"},
		{1000000, 1, COUNTER_SAT8, "|u1", "(1000000,)"},
	};
	struct fail fail;

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const size_t cells = CASES[i].bins * (size_t)CASES[i].channels;
		struct hist h = {.channels = CASES[i].channels,
				 .axis = make_axis(CASES[i].bins > 0 ? CASES[i].bins : 1),
				 .count = calloc(cells + 1, sizeof(uint64_t)),
				 .stride = CASES[i].bins};
		h.axis.edges.binning.bins = CASES[i].bins;
		for (size_t k = 0; k < cells; k++)
			h.count[k] = k * 70000;
		struct wish wish = make_wish("h.npy", "npy", CASES[i].counter);
		size_t bytes, raw_bytes;
		CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
		char *data = scratch_read("h.npy", &bytes);
		wish = make_wish("h.raw", "raw", CASES[i].counter);
		CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
		char *counters = scratch_read("h.raw", &raw_bytes);
		char header[129];
		memset(header, ' ', 128);
		const int used = snprintf(
			header, sizeof(header),
			"\x93NUMPY\x01%cv%c{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
			1, 1, CASES[i].descr, CASES[i].shape);
		header[7] = header[9] = 0;
		memset(header + used, ' ', 127 - (size_t)used);
		header[127] = '\n';
		CHECK(raw_bytes == cells * COUNTERS[CASES[i].counter].bytes &&
			      bytes == 128 + raw_bytes && memcmp(data, header, 128) == 0 &&
			      memcmp(data + 128, counters, raw_bytes) == 0,
		      "%s %s: %zu bytes", CASES[i].descr, CASES[i].shape, bytes);
		free(data);
		free(counters);
		free(h.count);
		scratch_clean();
	}
}

/* What follows "type" of the axis, and the storage, of the document h.json. */
static void json_holds(const char *axis, const char *values)
{
	char expected[512];
	size_t bytes;
	char *data = scratch_read("h.json", &bytes);

	CHECK(data && memchr(data, '\n', bytes) == data + bytes - 1, "one line");
	snprintf(expected, sizeof(expected),
		 "\"axes\": [{\"type\": %s}], \"storage\": {\"type\": \"int\", \"values\": [%s]}}",
		 axis, values);
	CHECK(strstr(data, expected), "no %s in %.1200s", expected, data);
	free(data);
}

#define FLOWS "\"underflow\": true, \"overflow\": true, \"circular\": false"

/*
 * Which axes are regular: those whose edges readers compute to the bit. uhi_check.py asks the
 * readers.
 */
static void json_axes(void)
{
	static const double LIST[] = {0, 1, 2, 3};
	uint64_t count[49] = {1, 2, 3};
	const struct wish wish = make_wish("h.json", "json", COUNTER_U64);
	struct hist h = {.channels = 1,
			 .axis = make_axis(3),
			 .count = count,
			 .stride = 3,
			 .flow[0] = {7, 8, 9}};
	struct sample_type type;
	struct fail fail;
	const char *why;

	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	json_holds("\"regular\", \"lower\": 0, \"upper\": 3, \"bins\": 3, " FLOWS, "7,1,2,3,8");
	/* (1 / 49) 49 is not 1. */
	h.axis = make_axis(49);
	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	char *data = scratch_read("h.json", &(size_t){0});
	CHECK(strstr(data, "\"variable\", \"edges\": [0,1,2,3,") && strstr(data, ",48,49], " FLOWS),
	      "%.900s", data);
	free(data);
	/* Modulo N. */
	h.axis = make_axis(3);
	h.axis.kind = AXIS_MOD;
	h.flow[0] = (struct hist_flow){0};
	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	json_holds(
		"\"regular\", \"lower\": 0, \"upper\": 3, \"bins\": 3, \"underflow\": false, "
		"\"overflow\": true, \"circular\": true",
		"1,2,3,0");
	/* No bins. */
	h.axis.kind = AXIS_AUTO;
	h.axis.edges.binning.bins = 0;
	h.flow[0] = (struct hist_flow){7, 8, 9};
	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	json_holds(
		"\"regular\", \"lower\": 0, \"upper\": 0, \"bins\": 0, "
		"\"writer_info\": {\"boost-histogram\": {\"orig_type\": \"Integer\"}}, " FLOWS,
		"7,8");
	/* Edges that were listed stay listed; one that is past binary64 is its largest number. */
	const struct axis_spec listed = {.edges = {.kind = AXIS_EDGES, .bins = 3, .list = LIST}};
	sample_type_parse(&type, "f64");
	CHECK(axis_init(&h.axis, &listed, &type, &why) == 0, "%s", why);
	h.axis.kind = AXIS_EDGES;
	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	json_holds("\"variable\", \"edges\": [0,1,2,3], " FLOWS, "7,1,2,3,8");
	h.axis.kind = AXIS_AUTO;
	h.axis.edges.list[3] = (double)INFINITY;
	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	json_holds("\"variable\", \"edges\": [0,1,2,1.7976931348623157e+308], " FLOWS, "7,1,2,3,8");
	edges_free(&h.axis.edges);
	scratch_clean();
}

/* By a look at every edge, as readers compute it. */
static bool is_regular(const struct axis *axis)
{
	const uint32_t bins = axis_bins(axis);
	const double lo = edges_value(&axis->edges, 0),
		     top = lo + (edges_value(&axis->edges, bins) - lo);

	for (uint32_t i = 0; i <= bins; i++) {
		const double z = (double)i / bins, edge = edges_value(&axis->edges, i);
		if ((1 - z) * lo + z * top != edge || fma(1 - z, lo, z * top) != edge ||
		    fma(z, top, (1 - z) * lo) != edge)
			return false;
	}
	return true;
}

/*
 * Ranges of integers of all lengths, in 2^k bins or others: where no edge is looked at, it is
 * known.
 */
static void json_exact(void)
{
	uint64_t seed = 8, regular = 0;
	struct sample_type type;

	sample_type_parse(&type, "i64");
	for (int i = 0; i < 20000; i++) {
		const uint32_t bins = (uint32_t)1 << check_random(&seed) % 13;
		const int length = 1 + (int)(check_random(&seed) % 60),
			  zeros = (int)(check_random(&seed) % 40);
		struct axis_spec spec = {.edges = {.kind = AXIS_RANGE,
						   .bins = bins + (check_random(&seed) % 8 == 0)}};
		struct number *const ends[] = {&spec.edges.lo, &spec.edges.hi};
		struct axis axis;
		const char *why;
		for (int k = 0; k < 2; k++) {
			int128_t x = (int128_t)(check_random(&seed) >> (64 - length)) << zeros;
			x = check_random(&seed) % 2 ? -x : check_random(&seed) % 8 ? x : 0;
			*ends[k] = (struct number){
				.value = (double)x, .whole = true, .exact = true, .integer = x};
		}
		if (axis_init(&axis, &spec, &type, &why) != 0)
			continue;
		CHECK(write_json_is_regular(&axis) == is_regular(&axis), "%.17g:%.17g by %lu",
		      spec.edges.lo.value, spec.edges.hi.value, (unsigned long)axis_bins(&axis));
		regular += is_regular(&axis);
		edges_free(&axis.edges);
	}
	CHECK(regular > 1000 && regular < 9000, "%llu regular", (unsigned long long)regular);
}

/* What a reader computes may depend on its compiler: then the edges are listed. */
static void json_fused(void)
{
	static const struct {
		const char *lo, *hi;
		bool regular;
	} CASES[] = {
		{"0", "3", true},
		{"0.1", "0.2", false},   /* no way gives our edges */
		{"-0.9", "-0.8", false}, /* all but the second product fused with the sum */
		{"-0.8", "-0.4", false}, /* all but the first one */
	};
	uint64_t count[3] = {1, 2, 3};
	const struct wish wish = make_wish("h.json", "json", COUNTER_U64);
	struct hist h = {.channels = 1, .count = count, .stride = 3};
	struct sample_type type;
	struct fail fail;
	const char *why;

	sample_type_parse(&type, "f64");
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct axis_spec spec = {.edges = {.kind = AXIS_RANGE, .bins = 3}};
		CHECK(number_parse(&spec.edges.lo, CASES[i].lo, strlen(CASES[i].lo)) == 0 &&
			      number_parse(&spec.edges.hi, CASES[i].hi, strlen(CASES[i].hi)) == 0 &&
			      axis_init(&h.axis, &spec, &type, &why) == 0,
		      "an axis");
		CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
		char *data = scratch_read("h.json", &(size_t){0});
		CHECK(strstr(data, CASES[i].regular ? "[{\"type\": \"regular\""
						    : "[{\"type\": \"variable\""),
		      "%s:%s", CASES[i].lo, CASES[i].hi);
		free(data);
	}
	scratch_clean();
}

/* Each channel is a histogram of its own, whose samples are its own. */
static void json_channels(void)
{
	uint64_t count[4] = {1, 2, 3, 0};
	const struct hist h = {.channels = 2,
			       .axis = make_axis(2),
			       .count = count,
			       .stride = 2,
			       .flow = {{0, 4, 0}, {1, 3, 0}},
			       .samples = 14};
	const struct wish wish = make_wish("h.json", "json", COUNTER_U64);
	struct fail fail;
	size_t bytes;

	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	char *data = scratch_read("h.json", &bytes),
	     *second = strstr(data, ", \"channel1\": {\"uhi_schema\": 1, ");
	CHECK(second && strncmp(data, "{\"channel0\": {\"uhi_schema\": 1, ", 31) == 0, "%.1200s",
	      data);
	CHECK(strstr(data,
		     "\"channel\": 0, \"channels\": 2, \"samples\": 7, \"under\": 0, \"over\": 4, "
		     "\"nan\": 0, "),
	      "%.1200s", data);
	CHECK(strstr(second,
		     "\"channel\": 1, \"channels\": 2, \"samples\": 7, \"under\": 1, \"over\": 3, "
		     "\"nan\": 0, "),
	      "%.1200s", second);
	CHECK(strstr(data, "\"values\": [0,1,2,4]}}, ") &&
		      strstr(second, "\"values\": [1,3,0,3]}}}\n"),
	      "%.1200s", data);
	free(data);
	scratch_clean();
}

static void text(void)
{
	uint64_t count[3] = {0, 300, 70000};
	const struct hist h = {.channels = 1,
			       .axis = make_axis(3),
			       .count = count,
			       .flow[0].under = 999,
			       .flow[0].over = 1,
			       .flow[0].nan = 2,
			       .samples = 71302};
	struct wish wish = make_wish("t", "csv", COUNTER_U64);
	struct fail fail;

	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("t", "bin,lower,upper,count\n0,0,1,0\n1,1,2,300\n2,2,3,70000\n"),
	      "csv");
	wish.style.flow = wish.style.nonzero = true;
	wish.style.header = false;
	wish.format = "tsv";
	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("t",
			    "under\t-inf\t0\t999\n1\t1\t2\t300\n2\t2\t3\t70000\n"
			    "over\t3\tinf\t1\nnan\tnan\tnan\t2\n"),
	      "tsv");
	wish.style.counter = COUNTER_SAT8;
	wish.style.flow = false;
	CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("t", "1\t1\t2\t255\n2\t2\t3\t255\n"), "saturated");
	scratch_clean();
}

int main(void)
{
	signals_init();
	scratch_enter();
	raw();
	npy();
	json_axes();
	json_exact();
	json_fused();
	json_channels();
	text();
	scratch_leave();
	return check_report();
}
