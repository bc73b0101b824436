/* SPDX-License-Identifier: MIT */
/* document: what write_json writes at the limits of numbers is read again, to the byte. */
#include "document.h"

#include <math.h>

#include "base/signals.h"
#include "output/format.h"
#include "scratch.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Read and written again it is the same text. */
static void round_trip(const struct hist *h, const char *what)
{
	char why[AXIS_WHY];
	const struct provenance from = origin(h, 1);
	size_t bytes, again_bytes;
	char *const text = written(write_json, h, &from, &bytes);
	struct document document;
	struct fail fail;

	CHECK(read_one(text, bytes, &document, &fail) == 1, "%s: %s: %.2000s", what, fail.text,
	      text);
	if (document.options) {
		CHECK(axis_fits(why, &document.hist.axis, &h->axis) &&
			      same_counts(&document.hist, h),
		      "%s", what);
		char *const again =
			written(write_json, &document.hist, &document.from, &again_bytes);
		CHECK(again_bytes == bytes && memcmp(text, again, bytes) == 0,
		      "%s: %s is written as %s", what, text, again);
		free(again);
		document_free(&document);
	}
	free(text);
}

/* Also where only what holds something is written. */
static void sparse_round_trip(const struct hist *h, const char *what)
{
	const struct provenance from = origin(h, 1);
	size_t bytes, dense_bytes, again_bytes;
	char *const text = written_as(write_json, h, &from, true, &bytes);
	char *const dense = written(write_json, h, &from, &dense_bytes);
	struct document document;
	struct fail fail;

	CHECK(strstr(text, "\"index\": [["), "%s is not sparse", text);
	CHECK(read_one(text, bytes, &document, &fail) == 1, "%s: %s: %.2000s", what, fail.text,
	      text);
	if (document.options) {
		char *const again =
			written(write_json, &document.hist, &document.from, &again_bytes);
		CHECK(again_bytes == dense_bytes && memcmp(dense, again, dense_bytes) == 0,
		      "%s: %s is read as %s", what, text, again);
		free(again);
		document_free(&document);
	}
	free(text);
	free(dense);
}

/* An auto histogram of these samples of f64. */
static void auto_of(const double *samples, size_t n, const char *options)
{
	struct hist h;
	char line[100];

	scratch_write("whole", samples, n * sizeof(*samples));
	snprintf(line, sizeof(line), "-t f64 --auto %s whole", options);
	count_files(line, &h);
	round_trip(&h, line);
	hist_free(&h);
}

/* Bins that end at 2^1024, which JSON does not have, or lie among the smallest numbers. */
static void extremes(void)
{
	static const double MAX = 0x1.fffffffffffffp1023, UNIT = 0x1p971;
	static const double CASES[][2] = {{MAX, MAX},
					  {-MAX, -MAX},
					  {MAX, -MAX},
					  {MAX - UNIT, MAX},
					  {MAX - UNIT, MAX - UNIT},
					  {UNIT - MAX, -MAX},
					  {UNIT - MAX, UNIT - MAX},
					  {0, MAX},
					  {-MAX, 0},
					  {0x1p-1074, 0},
					  {-0x1p-1074, 0x1p-1074},
					  {0x1p-1074, 1},
					  {0x1p-1022, 0x1p-1023},
					  {-1, 1},
					  {-1, -0.25}, /* the range ends at 0 */
					  {0.1, 0.1},
					  {0x1p1023, MAX},
					  {INFINITY, NAN},
					  {-INFINITY, 3},
					  {MAX, INFINITY}};
	static const char *const OPTIONS[] = {"-b 2", "-b 3", "-b 64", "-b 2 --clamp"};

	for (size_t i = 0; i < LENGTH(CASES); i++)
		for (size_t k = 0; k < LENGTH(OPTIONS); k++)
			auto_of(CASES[i], 2, OPTIONS[k]);
}

/* Infinities that are alone have no bin to be clamped to; with other samples they have. */
static void clamped(void)
{
	static const struct {
		size_t n, first; /* samples, and those of the first part */
		double samples[8];
	} CASES[] = {
		{6, 4, {INFINITY, -INFINITY, INFINITY, NAN, 3, 5}},
		{4, 3, {5, INFINITY, 5, 100}},
		{5, 3, {5, -INFINITY, INFINITY, -100, 7}},
		{7, 4, {1, 1, INFINITY, -INFINITY, 1, INFINITY, -INFINITY}},
		{8, 4, {1, 2, 3, INFINITY, INFINITY, -INFINITY, 1e9, -1e9}},
		{4, 2, {INFINITY, -INFINITY, INFINITY, NAN}},
	};

	for (size_t i = 0; i < 2 * LENGTH(CASES); i++) {
		const double *const samples = CASES[i / 2].samples;
		const size_t first = CASES[i / 2].first, rest = CASES[i / 2].n - first;
		struct hist whole, part[2];
		struct fail fail = {.status = STATUS_OK};
		size_t bytes;
		scratch_write("part0", samples, first * sizeof(*samples));
		scratch_write("part1", samples + first, rest * sizeof(*samples));
		count_files("-t f64 --auto -b 4 --clamp part0 part1", &whole);
		count_files("-t f64 --auto -b 4 --clamp part0", &part[i % 2]);
		count_files("-t f64 --auto -b 4 --clamp part1", &part[1 - i % 2]);
		round_trip(&whole, "clamped");
		CHECK(hist_add(&part[0], &part[1], &fail) == 0, "%s", fail.text);
		const struct provenance from = origin(&whole, 1);
		char *const text = written(write_json, &whole, &from, &bytes);
		char *const sum = written(write_json, &part[0], &from, &bytes);
		CHECK(strcmp(text, sum) == 0, "%s, not %s", sum, text);
		free(text);
		free(sum);
		hist_free(&whole);
		hist_free(&part[0]);
		hist_free(&part[1]);
	}
}

/*
 * A histogram that no run can count here: of the largest counts, of numbers of 64 bits, of many
 * bins.
 */
static void large(void)
{
	static const char *const LINES[] = {
		"-t u64 -r 9223372036854775807:18446744073709551615 -b 8",
		"-t i64 -r -39614081257132168796771975168:18446744073709551617 -b 7",
		"-t u64 -r full -b 1000",
		"-t i64 -r full -b 4099",
		"-t f64 -r 0:1 -b 300000",
		"-t f32 --log=1e-30:1e30 -b 20000",
		"-t u8 -r full -b 16",
		"-t u32 -r 0:4294967296 -b 300000"};
	uint64_t seed = 5;

	scratch_write("whole", "", 0);
	for (size_t i = 0; i < LENGTH(LINES); i++) {
		struct hist h;
		char line[200];
		snprintf(line, sizeof(line), "%s whole", LINES[i]);
		count_files(line, &h);
		for (uint32_t k = 0; k < axis_bins(&h.axis); k++) {
			h.count[k] = check_random(&seed) >> (20 + check_random(&seed) % 44);
			h.samples += h.count[k];
		}
		const uint64_t most =
			(UINT64_MAX - 9) / h.axis.type.code_bytes; /* that 2^64 bytes hold */
		h.count[3] += most - h.samples;
		h.samples = most;
		round_trip(&h, LINES[i]);
		memset(h.count + 5, 0, (axis_bins(&h.axis) - 6) * sizeof(*h.count));
		h.samples = h.count[0] + h.count[1] + h.count[2] + h.count[3] + h.count[4] +
			    h.count[axis_bins(&h.axis) - 1];
		sparse_round_trip(&h, LINES[i]);
		hist_free(&h);
	}
}

int main(void)
{
	signals_init();
	scratch_enter();
	extremes();
	clamped();
	large();
	scratch_leave();
	return check_report();
}
