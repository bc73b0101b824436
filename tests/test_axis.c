/* SPDX-License-Identifier: MIT */
/* axis: which two are the same. */
#include "bins/axis.h"

#include <string.h>

#include "check.h"

struct wish {
	const char *type, *lo, *hi; /* lo NULL: no --range; "full" */
	uint32_t bins;
	bool closed, clamp;
};

static int make(struct axis *axis, const struct wish *w, const char **why)
{
	struct axis_spec spec = {.edges = {.bins = w->bins,
					   .kind = w->lo != NULL ? AXIS_RANGE : AXIS_VALUES,
					   .closed = w->closed},
				 .clamp = w->clamp};
	struct sample_type type;

	CHECK(sample_type_parse(&type, w->type) == 0, "%s", w->type);
	spec.edges.full = w->lo && strcmp(w->lo, "full") == 0;
	if (w->lo && !spec.edges.full)
		CHECK(number_parse(&spec.edges.lo, w->lo, strlen(w->lo)) == 0 &&
			      number_parse(&spec.edges.hi, w->hi, strlen(w->hi)) == 0,
		      "%s:%s", w->lo, w->hi);
	return axis_init(axis, &spec, &type, why);
}

/* Each beside the first of its group, both ways around. */
static void same(void)
{
	static const struct wish INTEGER = {"u64", "0", "64", 8, false, false},
				 REAL = {"f64", "0", "1", 8, false, false},
				 THIRDS = {"f64", "0", "1", 3, false, false};
	static const struct {
		const struct wish *one;
		struct wish other;
		const char *difference; /* NULL: the same */
	} CASES[] = {
		{&INTEGER, {"u64", "0", "64", 8, false, false}, NULL},
		{&INTEGER, {"u64", "0x0", "6.4e1", 8, false, false}, NULL},
		{&INTEGER, {"u64be", "0", "64", 8, false, false}, "its samples are "},
		{&INTEGER, {"u32", "0", "64", 8, false, false}, "its samples are "},
		{&INTEGER, {"u64", "0", "64", 4, false, false}, "it has "},
		{&INTEGER, {"u64", "0", "65", 8, false, false}, "its range is "},
		{&INTEGER, {"u64", "1", "64", 8, false, false}, "its range is "},
		{&INTEGER, {"u64", "1", "65", 8, false, false}, "its range is "},
		{&INTEGER, {"u64", "0.5", "64", 8, false, false}, "its range is "},
		{&INTEGER, {"u64", "0", "64", 8, true, false}, "--closed"},
		{&INTEGER, {"u64", "0", "64", 8, false, true}, "--clamp"},
		{&REAL, {"f64", "0", "1.0", 8, false, false}, NULL},
		{&REAL, {"f64", "-0", "1", 8, false, false}, NULL},
		{&REAL, {"f64", "0", "1.0000000000000002", 8, false, false}, "its range is "},
		{&REAL, {"f64", "5e-324", "1", 8, false, false}, "its range is "},
		{&REAL, {"f32", "0", "1", 8, false, false}, "its samples are "},
		/* The same step: the last edge alone differs. */
		{&THIRDS, {"f64", "0", "0.9999999999999999", 3, false, false}, "its range is "},
		{&REAL, {"f64", "0", "1", 8, true, false}, "--closed"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const char *const expected = CASES[i].difference, *why = "";
		char got[AXIS_WHY];
		struct axis a, b;
		CHECK(make(&a, CASES[i].one, &why) == 0 && make(&b, &CASES[i].other, &why) == 0,
		      "%zu: %s", i, why);
		for (int turn = 0; turn < 2; turn++) {
			const bool fits = axis_fits(got, turn ? &b : &a, turn ? &a : &b);
			CHECK(fits == !expected && (fits || strstr(got, expected)),
			      "%zu: %s, not %s", i, fits ? "the same" : got,
			      expected ? expected : "the same");
		}
	}
	/* Edges that binary64 cannot tell apart, but samples can. */
	const struct wish near[] = {
		{"u64", "0x8000000000000000", "0xfffffffffffffff0", 16, false, false},
		{"u64", "0x8000000000000001", "0xfffffffffffffff1", 16, false, false}};
	struct axis a, b;
	const char *why = "";
	char text[AXIS_WHY];
	CHECK(make(&a, &near[0], &why) == 0 && make(&b, &near[1], &why) == 0, "%s", why);
	CHECK(edges_value(&a.edges, 0) == edges_value(&b.edges, 0), "the nearest binary64");
	CHECK(!axis_fits(text, &a, &b), "rational edges that differ are the same");
	/* Bin = value is the range 0:N. */
	CHECK(make(&a, &(struct wish){"u16", .bins = 9}, &why) == 0 &&
		      make(&b, &(struct wish){"u16", "0", "9", 9, false, false}, &why) == 0 &&
		      axis_fits(text, &a, &b),
	      "-b 9 is not -r 0:9 -b 9");
}

int main(void)
{
	same();
	return check_report();
}
