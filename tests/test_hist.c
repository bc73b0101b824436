/* hist: from cells to bins, clamp, and an audit that does notice. */
#include "hist.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void set_up(struct edges *e, struct sample_type *t, const char *type, const char *lo,
		   const char *hi, uint32_t bins, bool closed)
{
	struct edges_spec spec = {.bins = bins, .ranged = true, .closed = closed};
	const char *why = NULL;

	sample_type_parse(t, type);
	number_parse(&spec.lo, lo, strlen(lo));
	number_parse(&spec.hi, hi, strlen(hi));
	CHECK(edges_init(e, &spec, t, &why) == 0, "%s", why);
}

/* Totals with these counts, from cell 0 on; the rest are 0. */
static void totals(struct counts *c, const struct sample_type *t, const struct edges *e,
		   const uint64_t *cells, size_t n)
{
	struct fail fail = {0};

	CHECK(counts_init(c, counting_cells(t, e), &fail) == 0, "%s", fail.text);
	for (size_t i = 0; i < n; i++) {
		c->cell[i] = cells[i];
		c->samples += cells[i];
	}
}

static void expect(const struct hist *h, const uint64_t *count, uint64_t under, uint64_t over,
		   uint64_t nan, const char *what)
{
	struct fail fail = {0};

	for (uint32_t i = 0; i < h->bins; i++)
		CHECK(h->count[i] == count[i], "%s: bin %u: %llu", what, i, (unsigned long long)h->count[i]);
	CHECK(h->under == under && h->over == over && h->nan == nan, "%s: %llu under, %llu over, %llu nan",
	      what, (unsigned long long)h->under, (unsigned long long)h->over, (unsigned long long)h->nan);
	CHECK(hist_audit(h, &fail) == 0, "%s: %s", what, fail.text);
}

/* Cells: 4 bins, edge, under, over, nan. */
static void folding(void)
{
	static const uint64_t CELLS[] = {1, 2, 4, 8, 16, 32, 64, 128};
	static const struct {
		const char *type, *lo, *hi;
		bool closed, clamp;
		uint64_t count[4], under, over, nan;
	} CASES[] = {
		{"u32", "0", "4", true, false, {1, 2, 4, 24}, 32, 64, 128},
		{"u32", "0", "4", true, true, {33, 2, 4, 88}, 0, 0, 128},
		{"f64", "0", "4", true, false, {1, 2, 4, 24}, 32, 64, 128},
		/* All of the type lies below the range, or none of its values in it. */
		{"u32", "5000000000", "6000000000", false, false, {1, 2, 4, 8}, 48, 64, 128},
		{"u32", "5000000000", "6000000000", false, true, {49, 2, 4, 72}, 0, 0, 128},
		{"u32", "0.25", "0.75", false, false, {1, 2, 4, 8}, 32, 80, 128},
		{"u32", "0.25", "0.75", false, true, {33, 2, 4, 88}, 0, 0, 128},
		{"u32", "-9", "-5", false, false, {1, 2, 4, 8}, 32, 80, 128},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct sample_type t;
		struct edges e;
		struct counts c;
		struct hist h;
		struct fail fail = {0};
		set_up(&e, &t, CASES[i].type, CASES[i].lo, CASES[i].hi, 4, CASES[i].closed);
		totals(&c, &t, &e, CELLS, 8);
		CHECK(hist_reserve(&h, &e, &t, &fail) == 0, "%s", fail.text);
		hist_fill(&h, &c, &e, &t, CASES[i].clamp);
		CHECK(c.cell == NULL, "the totals were not taken");
		expect(&h, CASES[i].count, CASES[i].under, CASES[i].over, CASES[i].nan, CASES[i].hi);
		hist_free(&h);
		CHECK(h.count == NULL, "freed");
		counts_free(&c);
	}
}

/* Codes of 16 bits lie in the table as they lie in memory: 0x0102 of u16be is code 0x0201. */
static void codes(void)
{
	static const struct {
		const char *type;
		uint32_t code;
		int64_t bin; /* of 256 over [0, 256); -1 under, 256 over */
	} CASES[] = {
		{"u8", 7, 7}, {"i8", 0xff, -1}, {"i8", 0x7f, 127}, {"u16", 0x0102, 256}, {"u16", 0x00fe, 254},
		{"u16be", 0x0102, 256}, {"u16be", 0x0500, 5}, {"i16be", 0xfeff, -1}, {"i16", 0xfffe, -1},
		{"i16be", 0xff00, 255}, {"f16be", 0x003c, 1}, {"f16", 0x3c00, 1}, {"bf16be", 0x803f, 1},
		{"bf16", 0xbf80, -1}, {"f16", 0x7c00, 256}, {"f16", 0xfc00, -1}, {"f16be", 0x007c, 256},
		{"f16", 0x7e00, 257}, {"bf16be", 0xc07f, 257}, {"bf16", 0xffff, 257}, {"f16", 0x5c00, 256},
		{"f16", 0x8000, 0}, {"f16", 0x0001, 0},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct sample_type t;
		struct edges e;
		struct counts c;
		struct hist h;
		struct fail fail = {0};
		uint64_t count[256] = {0};
		set_up(&e, &t, CASES[i].type, "0", "256", 256, false);
		totals(&c, &t, &e, NULL, 0);
		c.cell[CASES[i].code] = 3;
		c.samples = 3;
		if (CASES[i].bin >= 0 && CASES[i].bin < 256)
			count[CASES[i].bin] = 3;
		CHECK(hist_reserve(&h, &e, &t, &fail) == 0, "%s", fail.text);
		hist_fill(&h, &c, &e, &t, false);
		expect(&h, count, CASES[i].bin == -1 ? 3 : 0, CASES[i].bin == 256 ? 3 : 0,
		       CASES[i].bin == 257 ? 3 : 0, CASES[i].type);
		hist_free(&h);
		counts_free(&c);
	}
}

static void audit(void)
{
	uint64_t count[3] = {5, 0, UINT64_C(1) << 40};
	struct hist h = {.bins = 3, .count = count, .under = 1, .over = 2, .nan = 3};
	const uint64_t sum = 11 + (UINT64_C(1) << 40);

	for (int off = -1; off <= 1; off++) {
		struct fail fail = {0};
		h.samples = sum + (uint64_t)off;
		CHECK((hist_audit(&h, &fail) == 0) == (off == 0), "off by %d", off);
		CHECK(fail.status == (off == 0 ? STATUS_OK : STATUS_INTERNAL), "off by %d: %s", off, fail.text);
	}
}

static void counters(void)
{
	uint64_t count[] = {0, 254, 255, 256, 65535, 65536, UINT32_MAX, (uint64_t)UINT32_MAX + 1, UINT64_MAX};
	const struct hist h = {.bins = 9, .count = count};
	static const struct {
		enum counter_kind kind;
		const char *name;
		uint32_t bytes;
		uint64_t max, exceeding;
	} CASES[] = {
		{COUNTER_U64, "u64", 8, UINT64_MAX, 0}, {COUNTER_U32, "u32", 4, UINT32_MAX, 2},
		{COUNTER_SAT8, "sat8", 1, 255, 6}, {COUNTER_SAT16, "sat16", 2, 65535, 4},
		{COUNTER_SAT32, "sat32", 4, UINT32_MAX, 2},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const enum counter_kind k = CASES[i].kind;
		CHECK(strcmp(counter_name(k), CASES[i].name) == 0, "%s", counter_name(k));
		CHECK(counter_bytes(k) == CASES[i].bytes, "%s", CASES[i].name);
		CHECK(counter_max(k) == CASES[i].max, "%s", CASES[i].name);
		CHECK(hist_exceeding(&h, k) == CASES[i].exceeding, "%s: %llu", CASES[i].name,
		      (unsigned long long)hist_exceeding(&h, k));
	}
}

int main(void)
{
	folding();
	codes();
	audit();
	counters();
	return check_report();
}
