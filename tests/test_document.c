/* SPDX-License-Identifier: MIT */
/* slow */
/* document: what write_json writes at the limits of numbers is read again, to the byte. */
#include "document.h"

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
	large();
	scratch_leave();
	return check_report();
}
