/* SPDX-License-Identifier: MIT */
/*
 * document: what write_json writes is read again, and parts added together are the whole, to the
 * byte.
 */
#include "document.h"

#include <math.h>

#include "base/signals.h"
#include "document/sum.h"
#include "output/format.h"
#include "scratch.h"

static const char *const TYPES[] = {"u8",     "i8",    "u16",   "i16be", "u24", "i24be",
				    "u32",    "i32be", "u64",   "i64",   "f16", "f16be",
				    "bf16be", "f32",   "f64be", "f64"};
static const char *const BINS[] = {"-r full -b 11",
				   "-r -3:97 -b 12 --closed",
				   "-r 0.5:97.25 -b 7 --clamp",
				   "-r 0:1 -b 5 --closed --clamp",
				   "--log=1:1e4 -b 20",
				   "--edges=-3,-0.25,0,1e2,1e9 --closed",
				   "--edges=0,1",
				   "--auto -b 2",
				   "--auto -b 5 --clamp",
				   "--auto -b 64",
				   "-b 7"};
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

/* Samples of all magnitudes: `bits` decides how many. */
static void make_samples(unsigned char *bytes, size_t n, uint64_t *seed)
{
	const uint64_t how = check_random(seed);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(check_random(seed) >> 32);
	/* Some that lie close together: the same first and last bytes in each sample of 8. */
	for (size_t i = 0; i < n && how % 3 > 0; i++)
		if ((how >> (8 + i % 8)) & 1)
			bytes[i] = (unsigned char)(how >> (16 + i % 8));
}

/* What the document of a sum is when it is written, sparse or not, and read again. */
static struct document written_and_read(const struct document *of, bool nonzero)
{
	struct document document;
	struct fail fail;
	size_t bytes;
	char *const text = written_as(write_json, &of->hist, &of->from, nonzero, &bytes);

	CHECK(read_one(text, bytes, &document, &fail) == 1, "%s: %.2000s", fail.text, text);
	free(text);
	return document;
}

/* Parts of one whole, in any order, are the whole in every format. */
static void parts_of_whole(const char *options, uint64_t *seed)
{
	enum { PARTS = 7 };
	static unsigned char samples[144 * 20 * PARTS];
	const uint32_t parts = 2 + (uint32_t)(check_random(seed) % (PARTS - 1));
	struct document node[PARTS];
	char line[300];
	struct hist whole;
	size_t at = 0;

	make_samples(samples, sizeof(samples), seed);
	for (uint32_t p = 0; p < parts; p++) {
		const size_t n = 144 * (check_random(seed) % 20);
		struct document of;
		scratch_write("part", samples + at, n);
		at += n;
		snprintf(line, sizeof(line), "%s part", options);
		count_files(line, &of.hist);
		of.from = origin(&of.hist, 1);
		of.from.part = p + 1;
		of.from.parts = parts;
		of.from.state = 0xfedcba9876543210;
		node[p] = written_and_read(&of, p % 2);
		hist_free(&of.hist);
	}
	scratch_write("whole", samples, at);
	snprintf(line, sizeof(line), "%s whole", options);
	count_files(line, &whole);
	round_trip(&whole, line);
	sparse_round_trip(&whole, line);
	const struct provenance from = origin(&whole, parts);
	struct sum s = {.documents = 0};
	struct fail fail = {.status = STATUS_OK};
	for (size_t left = parts; left > 0;) {
		struct document *const pick = &node[check_random(seed) % left--];
		CHECK(sum_add(&s, pick, &(struct sum_name){"node", left + 1}, &fail) == 0, "%s",
		      fail.text);
		document_free(pick);
		*pick = node[left];
	}
	CHECK(sum_finish(&s, &fail) == 0, "%s", fail.text);
	for (size_t i = 0; format_row(i); i++) {
		size_t bytes, sum_bytes;
		char *const text = written(format_row(i)->write, &whole, &from, &bytes);
		char *const sum_text =
			written(format_row(i)->write, &s.total.hist, &s.total.from, &sum_bytes);
		CHECK(bytes == sum_bytes && memcmp(text, sum_text, bytes) == 0,
		      "%s: %lu parts: %s: %.2000s, not %.2000s", line, (unsigned long)parts,
		      format_row(i)->name, sum_text, text);
		free(text);
		free(sum_text);
	}
	hist_free(&whole);
	sum_free(&s);
}

static void wholes(void)
{
	uint64_t seed = 17;
	char options[200];

	for (size_t t = 0; t < LENGTH(TYPES); t++)
		for (size_t b = 0; b <= LENGTH(BINS); b++) {
			const bool mod = b == LENGTH(BINS);
			if (mod && strchr("fb", TYPES[t][0]))
				continue;
			snprintf(options, sizeof(options), "-t %s %s -c %u", TYPES[t],
				 mod ? "--mod -b 13" : BINS[b], (unsigned)(t + b) % 3 + 1);
			parts_of_whole(options, &seed);
		}
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
			(UINT64_MAX - 9) / h.axis.type.bytes; /* that 2^64 bytes hold */
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
	wholes();
	extremes();
	clamped();
	large();
	scratch_leave();
	return check_report();
}
