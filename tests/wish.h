/* SPDX-License-Identifier: MIT */
/*
 * wish: the options for an output, for the tests of publish and of the writers.
 */
#ifndef GPUHIST_TEST_WISH_H
#define GPUHIST_TEST_WISH_H

#include "check.h"
#include "each/formats.h"

/*
 * The options in every document of these tests: words that a shell would split, and invalid
 * UTF-8.
 */
#define OPTIONS "--edges=@'it'\\''s \"h\"\n\xff\\'"
static const struct provenance FROM = {.inputs = 2,
				       .bytes = 100,
				       .skipped = 8,
				       .tail = 3,
				       .part = 1,
				       .parts = 1,
				       .options = OPTIONS};

/* The options for an output. */
struct wish {
	const char *output, *format;
	struct style style;
};

static inline struct wish make_wish(const char *output, const char *format,
				    enum counter_kind counter)
{
	return (struct wish){output, format, {.counter = counter, .header = true}};
}

/* Return an axis of u32 with a bin for each value. */
static inline struct axis make_axis(uint32_t bins)
{
	const struct axis_spec spec = {.bins = bins};
	struct sample_type type;
	struct axis axis;
	const char *why = NULL;

	sample_type_parse(&type, "u32");
	CHECK(axis_init(&axis, &spec, &type, &why) == 0, "%s", why);
	return axis;
}

static inline int publish_to(const struct wish *wish, const struct hist *h, struct fail *fail)
{
	struct output *out;

	*fail = (struct fail){0};
	if (output_open(&out, wish->output, fail) != 0)
		return -1;
	return publish(out, format_find(wish->format), &wish->style, h, &FROM, fail);
}

#endif
