/* SPDX-License-Identifier: MIT */
/* hist: extents, sums of histograms, and an audit that does notice. */
#include "hist/hist.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "count/count.h"

static struct axis set_up(const char *type, const char *lo, const char *hi, uint32_t bins,
			  bool closed, bool clamp)
{
	struct axis_spec spec = {.edges = {.bins = bins, .kind = AXIS_RANGE, .closed = closed},
				 .clamp = clamp};
	struct sample_type t;
	struct axis axis;
	const char *why = NULL;

	sample_type_parse(&t, type);
	number_parse(&spec.edges.lo, lo, strlen(lo));
	number_parse(&spec.edges.hi, hi, strlen(hi));
	CHECK(axis_init(&axis, &spec, &t, &why) == 0, "%s", why);
	return axis;
}

/* Totals with these counts, from cell 0 on; the rest are 0. */
static void totals(struct counts *c, const struct axis *axis, const uint64_t *cells, size_t n)
{
	struct fail fail = {0};

	CHECK(counts_init(c, counting_cells(&axis->type, &axis->edges), &fail) == 0, "%s",
	      fail.text);
	for (size_t i = 0; i < n; i++) {
		c->cell[i] = cells[i];
		c->samples += cells[i];
	}
}

static void audit(void)
{
	uint64_t count[3] = {5, 0, UINT64_C(1) << 40};
	struct hist h = {.channels = 1,
			 .axis = set_up("u32", "0", "3", 3, false, false),
			 .count = count,
			 .flow[0].under = 1,
			 .flow[0].over = 2,
			 .flow[0].nan = 3};
	const uint64_t sum = 11 + (UINT64_C(1) << 40);

	for (int off = -1; off <= 1; off++) {
		struct fail fail = {0};
		h.samples = sum + (uint64_t)off;
		CHECK((hist_audit(&h, &fail) == 0) == (off == 0), "off by %d", off);
		CHECK(fail.status == (off == 0 ? STATUS_OK : STATUS_INTERNAL), "off by %d: %s", off,
		      fail.text);
	}
}

/* The least and the greatest value of types that are counted by their codes. */
static void extents(void)
{
	static const struct {
		const char *type;
		uint32_t codes[4]; /* as they are in memory, read little endian */
		bool extent;
		double least, greatest;
	} CASES[] = {
		{"u8", {3, 200, 3, 17}, true, 3, 200},
		{"i8", {3, 200, 3, 127}, true, -56, 127},
		{"i8", {128, 255, 255, 255}, true, -128, -1},
		{"u16", {65535, 32768, 40000, 65535}, true, 32768, 65535},
		{"i16", {0x8000, 1, 2, 0x7fff}, true, -32768, 32767},
		{"i16be", {0xff00, 0x0001, 0x0080, 0xfeff}, true, -32768, 256},
		{"u16be", {0xff00, 0x0001, 0x0100, 0xff00}, true, 1, 256},
		{"f16", {0x3c00, 0xc000, 0x7c00, 0x7e00}, true, -2, 1},
		{"f16be", {0x003c, 0x00c0, 0x00fc, 0x00fe}, true, -2, 1},
		{"bf16", {0x7f80, 0xff80, 0x7fc0, 0xffff}, false, 0, 0},
		{"f16", {0x8000, 0x0000, 0x0001, 0x0000}, true, 0, 0x1p-24},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct counts c;
		struct hist h;
		struct fail fail = {0};
		const struct axis axis = set_up(CASES[i].type, "0", "1", 1, false, true);
		totals(&c, &axis, NULL, 0);
		for (int k = 0; k < 4; k++) {
			c.cell[CASES[i].codes[k]]++;
			c.samples++;
		}
		CHECK(hist_reserve(&h, &axis, 1, &fail) == 0, "%s", fail.text);
		hist_fill(&h, &c);
		CHECK(h.extent == CASES[i].extent && h.least == CASES[i].least &&
			      h.greatest == CASES[i].greatest,
		      "%s %zu: %d, %g to %g", CASES[i].type, i, h.extent, h.least, h.greatest);
		hist_free(&h);
		counts_free(&c);
	}
	/* Nothing was counted, or not by codes. */
	for (int wide = 0; wide <= 1; wide++) {
		static const uint64_t ONE[] = {1};
		struct counts c;
		struct hist h;
		struct fail fail = {0};
		const struct axis axis = set_up(wide ? "u32" : "u16", "0", "1", 1, false, false);
		totals(&c, &axis, ONE, (size_t)wide);
		CHECK(hist_reserve(&h, &axis, 1, &fail) == 0, "%s", fail.text);
		hist_fill(&h, &c);
		CHECK(!h.extent, "an extent of nothing");
		hist_free(&h);
		counts_free(&c);
	}
}

/* Where a sum is past 64 bits nothing is added. */
static void adding(void)
{
	static const struct {
		const char *what;
		uint64_t count[2], under, over, nan, samples;
		enum status status;
	} CASES[] = {
		{"all", {1, 2}, 3, 4, 5, 15, STATUS_OK},
		{"nothing", {0, 0}, 0, 0, 0, 0, STATUS_OK},
		{"the most", {UINT64_MAX - 160, 1}, 2, 3, 4, UINT64_MAX - 150, STATUS_OK},
		{"one more", {UINT64_MAX - 159, 1}, 2, 3, 4, UINT64_MAX - 149, STATUS_LIMIT},
	};
	const struct axis axis = set_up("f32", "0", "1", 2, false, false);

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const bool added = CASES[i].status == STATUS_OK;
		uint64_t count[2] = {10, 20},
			 more_count[2] = {CASES[i].count[0], CASES[i].count[1]};
		struct hist h = {.channels = 1,
				 .axis = axis,
				 .count = count,
				 .flow[0].under = 30,
				 .flow[0].over = 40,
				 .flow[0].nan = 50,
				 .samples = 150};
		const struct hist more = {.channels = 1,
					  .axis = axis,
					  .count = more_count,
					  .flow[0].under = CASES[i].under,
					  .flow[0].over = CASES[i].over,
					  .flow[0].nan = CASES[i].nan,
					  .samples = CASES[i].samples};
		struct fail fail = {0};
		CHECK(hist_add(&h, &more, &fail) == (added ? 0 : -1) &&
			      fail.status == CASES[i].status,
		      "%s: %s", CASES[i].what, fail.text);
		CHECK(h.count[0] == 10 + (added ? more.count[0] : 0) &&
			      h.count[1] == 20 + (added ? more.count[1] : 0) &&
			      h.flow[0].under == 30 + (added ? more.flow[0].under : 0) &&
			      h.flow[0].over == 40 + (added ? more.flow[0].over : 0) &&
			      h.flow[0].nan == 50 + (added ? more.flow[0].nan : 0) &&
			      h.samples == 150 + (added ? more.samples : 0),
		      "%s: not the sum", CASES[i].what);
		CHECK(more.count[0] == CASES[i].count[0] && more.count[1] == CASES[i].count[1],
		      "%s", CASES[i].what);
	}
}

int main(void)
{
	adding();
	extents();
	audit();
	return check_report();
}
