/* SPDX-License-Identifier: MIT */
/*
 * uhi_documents: histograms that no run could count in a test, written as NAME.json, NAME.npy and
 * NAME.csv into a directory, for uhi_check.py: counts up to 2^64 - 1, channels, every kind of axis,
 * hostile words. usage: uhi_documents DIRECTORY
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/signals.h"
#include "each/formats.h"

#define BINS_ALL 1100u

static uint64_t count[3 * BINS_ALL];

_Noreturn static void fatal(const char *what, const char *why)
{
	fprintf(stderr, "uhi_documents: %s: %s\n", what, why);
	exit(1);
}

static struct axis make_axis(const char *type_name, struct axis_spec spec, const char *range)
{
	const char *const colon = range ? strchr(range, ':') : NULL;
	struct sample_type type;
	struct axis axis;
	const char *why = "not parsed";

	if (colon) {
		spec.kind = AXIS_RANGE;
		if (number_parse(&spec.lo, range, (size_t)(colon - range)) != 0 ||
		    number_parse(&spec.hi, colon + 1, strlen(colon + 1)) != 0)
			fatal(range, why);
	}
	if (sample_type_parse(&type, type_name) != 0 || axis_init(&axis, &spec, &type, &why) != 0)
		fatal(type_name, why);
	return axis;
}

static void write_one(const char *name, const char *format_name, const struct hist *h)
{
	const struct provenance from = {
		.inputs = 3,
		.bytes = UINT64_MAX,
		.skipped = 1,
		.tail = 2,
		.part = 1,
		.parts = 1,
		.options = "'a b' \"c\" \\ \x01\n\xff\xc0\xaf \xc3\xa9\xed\xa0\x80"};
	const struct format *const format = format_find(format_name);
	const struct style style = {.counter = COUNTER_U64, .header = true};
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	char path[256];

	snprintf(path, sizeof(path), "%s.%s", name, format_name);
	if (output_open(&out, path, &fail) != 0)
		fatal(path, fail.text);
	format->write(out, h, &style, &from);
	if (output_commit(out, &fail) != 0)
		fatal(path, fail.text);
}

/* Write a document, and take over its axis. */
static void document(const char *name, struct axis axis, uint32_t channels)
{
	const bool mod = axis.kind == AXIS_MOD;
	struct hist h = {.axis = axis, .count = count, .stride = BINS_ALL};

	if (hist_open(&h, channels) != 0)
		fatal(name, "no memory");
	for (uint32_t c = 0; c < channels; c++) {
		for (uint32_t i = 0; i < axis_bins(&axis); i++)
			count[c * BINS_ALL + i] = ((uint64_t)1 << (i + 7 * c) % 63) + i % 3 - 1;
		if (!mod)
			h.flow[c] = (struct hist_flow){((uint64_t)1 << 53) + 1 + c, 2 + c, 3 + c};
	}
	h.samples = channels * ((uint64_t)1 << 60);
	write_one(name, "json", &h);
	write_one(name, "npy", &h);
	write_one(name, "csv", &h);
	free(h.flow);
	edges_free(&axis.edges);
}

static struct axis with_kind(struct axis axis, enum axis_kind kind)
{
	axis.kind = kind;
	return axis;
}

/* Make edges of equal ratio, the last one as large as possible or beyond. */
static struct axis make_list(uint32_t bins, double last)
{
	static double list[BINS_ALL + 1];

	for (uint32_t i = 0; i < bins; i++)
		list[i] = pow(10, (double)i / 7 - 60);
	list[bins] = fmin(last, 0x1.fffffffffffffp1023);
	struct axis axis = make_axis(
		"f64", (struct axis_spec){.kind = AXIS_EDGES, .bins = bins, .list = list}, NULL);
	axis.edges.list[bins] = last;
	return axis;
}

int main(int argc, char **argv)
{
	const struct axis_spec seven = {.bins = 7}, thousand = {.bins = 1000, .closed = true};
	char name[64];

	if (argc != 2 || chdir(argv[1]) != 0)
		fatal("usage", "uhi_documents FOLDER");
	signals_init();
	document("values", make_axis("u64", thousand, NULL), 1);
	document("range", make_axis("f32", thousand, "-1:1"), 1);
	document("channels", make_axis("i16", seven, "-100:200"), 3);
	document("channels_listed", make_axis("f64", seven, "0:1"), 2);
	document("log", with_kind(make_list(1000, 1e200), AXIS_LOG), 1);
	document("listed", with_kind(make_list(3, 1e-3), AXIS_EDGES), 1);
	document("auto",
		 with_kind(make_axis("f64", (struct axis_spec){.bins = 64}, "-0.25:0.75"),
			   AXIS_AUTO),
		 1);
	document("auto_past", with_kind(make_list(5, INFINITY), AXIS_AUTO), 1);
	document("large", make_axis("u64", seven, "0:18446744073709551616"), 1);
	document("larger",
		 make_axis("i64", seven, "-39614081257132168796771975168:18446744073709551617"), 1);
	for (uint32_t bins = 1; bins <= BINS_ALL; bins += 1 + bins / 9) {
		snprintf(name, sizeof(name), "mod%lu", (unsigned long)bins);
		document(name,
			 with_kind(make_axis("u32", (struct axis_spec){.bins = bins}, NULL),
				   AXIS_MOD),
			 1);
	}
	/* Without a finite sample there are no bins. */
	struct axis none = with_kind(make_axis("f32", seven, "0:1"), AXIS_AUTO);
	none.edges.binning.bins = 0;
	document("none", none, 1);
	document("none_channels", none, 2);
	return 0;
}
