/* SPDX-License-Identifier: MIT */
/* sum: slices that must be there, each once; what cannot be added is named; nothing wraps. */
#include "document/sum.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define BINS 4u

/* A document whose bin i holds i + 1. */
static struct document make(uint32_t part, uint32_t parts)
{
	const struct axis_spec spec = {.edges = {.bins = BINS, .kind = AXIS_RANGE, .full = true}};
	struct sample_type type;
	struct axis axis;
	struct fail fail = {0};
	const char *why = NULL;
	struct document d = {.options = strdup("--bins=4")};

	sample_type_parse(&type, "u16");
	CHECK(axis_init(&axis, &spec, &type, &why) == 0, "%s", why);
	CHECK(hist_reserve(&d.hist, &axis, 1, &fail) == 0, "%s", fail.text);
	for (uint32_t i = 0; i < BINS; i++)
		d.hist.samples += d.hist.count[i] = i + 1;
	edges_free(&axis.edges);
	d.from = (struct provenance){.inputs = 1,
				     .bytes = 1000,
				     .skipped = 20,
				     .tail = 3,
				     .part = part,
				     .parts = parts,
				     .options = d.options};
	return d;
}

/* Adds a document named FILE, by its number; what was not taken over is freed. */
static int add(struct sum *s, uint32_t part, uint32_t parts, const char *path, uint64_t number,
	       struct fail *fail)
{
	struct document d = make(part, parts);
	const int rc = sum_add(s, &d, &(struct sum_name){path, number}, fail);

	document_free(&d);
	return rc;
}

/* Parts of N in this order, up to a 0; why finishing fails, or NULL. */
static void expect_parts(uint32_t parts, const uint32_t *order, const char *why)
{
	struct sum s = {0};
	struct fail fail = {0};
	int rc = 0;

	for (size_t i = 0; order[i] && rc == 0; i++)
		rc = add(&s, order[i], parts, "a", i + 1, &fail);
	rc = rc == 0 ? sum_finish(&s, &fail) : rc;
	CHECK(rc == (why ? -1 : 0), "%lu parts: %s", (unsigned long)parts, fail.text);
	if (why)
		CHECK(fail.status == STATUS_DATA && strcmp(fail.text, why) == 0, "%s", fail.text);
	else
		CHECK(s.total.from.part == 1 && s.total.from.parts == 1, "still a part");
	sum_free(&s);
}

static void parts(void)
{
	expect_parts(3, (uint32_t[]){2, 3, 1, 0}, NULL);
	expect_parts(1, (uint32_t[]){1, 1, 1, 0}, NULL);
	expect_parts(3, (uint32_t[]){2, 1, 0}, "a is a part of 3; part 3 is missing");
	expect_parts(3, (uint32_t[]){3, 0}, "a is a part of 3; parts 1, 2 are missing");
	expect_parts(5, (uint32_t[]){5, 3, 1, 0}, "a is a part of 5; parts 2, 4 are missing");
	expect_parts(3, (uint32_t[]){3, 2, 1, 2, 0},
		     "a, document 2 and a, document 4: both are part 2 of 3");
	expect_parts(2, (uint32_t[]){1, 1, 0}, "a and a, document 2: both are part 1 of 2");
	expect_parts(20, (uint32_t[]){1, 2, 5, 20, 0},
		     "a is a part of 20; parts 3, 4, 6, 7, 8, 9, 10, 11 and 8 more are missing");
	/* As many as there can be: neither memory nor time for each. */
	expect_parts(UINT32_MAX, (uint32_t[]){UINT32_MAX, 7, 0},
		     "a is a part of 4294967295; parts 1, 2, 3, 4, 5, 6, 8, 9 and 4294967285 more "
		     "are missing");
}

/* Hundreds of slices, in an order drawn from a seed. */
static void many_parts(void)
{
	enum { N = 700 };
	uint32_t order[N + 1] = {0};
	uint64_t seed = 7;

	for (uint32_t i = 0; i < N; i++) {
		const uint32_t k = (uint32_t)(check_random(&seed) % (i + 1));
		order[i] = order[k];
		order[k] = i + 1;
	}
	expect_parts(N, order, NULL);
}

static void limits(void)
{
	uint64_t *fields[4];

	for (size_t i = 0; i < 5; i++) {
		struct sum s = {0};
		struct fail fail = {0};
		CHECK(add(&s, 1, 1, "a", 1, &fail) == 0, "%s", fail.text);
		fields[0] = &s.total.from.inputs;
		fields[1] = &s.total.from.bytes;
		fields[2] = &s.total.from.skipped;
		fields[3] = &s.total.from.tail;
		if (i < 4)
			*fields[i] = UINT64_MAX;
		else
			s.total.hist.samples = UINT64_MAX - 3;
		CHECK(add(&s, 1, 1, "b", 1, &fail) == -1, "field %zu", i);
		CHECK(fail.status == STATUS_LIMIT &&
			      strstr(fail.text, "b cannot be added to a: the sum of the") &&
			      strstr(fail.text, "is past 2^64 - 1"),
		      "field %zu: %s", i, fail.text);
		sum_free(&s);
	}
}

/* A run that goes on, first or later. */
static void partial(void)
{
	for (int first = 0; first < 2; first++) {
		struct sum s = {0};
		struct fail fail = {0};
		struct document d = make(1, 1);
		d.from.partial = true;
		if (!first)
			CHECK(add(&s, 1, 1, "a", 1, &fail) == 0, "%s", fail.text);
		CHECK(sum_add(&s, &d, &(struct sum_name){"-", 1}, &fail) == -1, "added");
		CHECK(fail.status == STATUS_DATA && strncmp(fail.text, "standard input: ", 16) == 0,
		      "%s", fail.text);
		document_free(&d);
		sum_free(&s);
	}
}

int main(void)
{
	parts();
	many_parts();
	limits();
	partial();
	return check_report();
}
