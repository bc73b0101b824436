/* SPDX-License-Identifier: MIT */
/*
 * options_bins: --bins, --range, --log, --edges, --mod and --auto: from texts to a spec of the
 * bins.
 */
#include <stdlib.h>
#include <string.h>

#include "bins/number.h"
#include "cli/edges_arg.h"
#include "cli/options_given.h"

/* The options that name ways to bin; NULL for other kinds. */
const char *const options_ways[AXIS_DEFAULT] = {
	[AXIS_RANGE] = "--range", [AXIS_LOG] = "--log",   [AXIS_EDGES] = "--edges",
	[AXIS_MOD] = "--mod",     [AXIS_AUTO] = "--auto",
};

static int parse_ends(struct edges_spec *spec, const char *option, const char *text,
		      const char *form, struct fail *fail)
{
	const char *colon = strchr(text, ':');

	if (!colon)
		return options_refuse_ends(fail, option, text, form);
	if (number_parse(&spec->lo, text, (size_t)(colon - text)) != 0)
		return options_usage(fail, option, text,
				     "LO must be a finite number, such as -1, 0.5, 1e6 or 0x10");
	if (number_parse(&spec->hi, colon + 1, strlen(colon + 1)) != 0)
		return options_usage(fail, option, text,
				     "HI must be a finite number, such as -1, 0.5, 1e6 or 0x10");
	return 0;
}

int options_log(struct job *job, struct given *g, const char *text, struct fail *fail)
{
	struct edges_spec *spec = &job->axis.edges;

	g->way[AXIS_LOG] = text;
	if (parse_ends(spec, "--log", text, "must be LO:HI, as in 1:1000 or 1e-6:1", fail) != 0)
		return -1;
	if (!(spec->lo.value > 0))
		return options_usage(fail, "--log", text, "LO must be above 0");
	if (!(spec->lo.value < spec->hi.value))
		return options_usage(fail, "--log", text, "LO must be less than HI");
	return 0;
}

int options_edges(struct job *job, struct given *g, const char *text, struct fail *fail)
{
	g->way[AXIS_EDGES] = text;
	free(job->edges);
	return edges_arg_read(&job->edges, &g->edges, text, fail);
}

int options_range(struct job *job, struct given *g, const char *text, struct fail *fail)
{
	struct edges_spec *spec = &job->axis.edges;

	g->way[AXIS_RANGE] = text;
	spec->full = strcmp(text, "full") == 0;
	if (spec->full)
		return 0;
	return parse_ends(spec, "--range", text, "must be LO:HI, as in -1:1 or 0:4096, or full",
			  fail);
}

int options_bins(struct given *g, const char *text, struct fail *fail)
{
	uint64_t n;

	if (number_parse_size(&n, text) != 0 || n < 1 || n > BINS_MAX)
		return options_refuse_size(
			fail, "--bins", text,
			"must be a number from 1 to 268435456 (2^28), such as 1024, 64K or 0x400",
			1, BINS_MAX);
	g->bins = (uint32_t)n;
	return 0;
}

/* There is at most one way to bin, and it gets as many bins as it has. */
int options_settle_bins(struct job *job, const struct given *g, struct fail *fail)
{
	struct edges_spec *const spec = &job->axis.edges;

	spec->kind = AXIS_DEFAULT;
	spec->bins = g->bins;
	for (enum axis_kind kind = 0; kind < AXIS_DEFAULT; kind++) {
		if (!g->way[kind])
			continue;
		if (spec->kind != AXIS_DEFAULT)
			return fail_set(fail, STATUS_USAGE,
					"%s and %s: only one way to bin can be asked for",
					options_ways[spec->kind], options_ways[kind]);
		spec->kind = kind;
		job->bins_text = kind == AXIS_RANGE || kind == AXIS_LOG ? g->way[kind] : NULL;
	}
	if (spec->kind == AXIS_LOG && spec->bins > BINS_LOG_MAX)
		return fail_set(fail, STATUS_USAGE,
				"--bins %lu: --log takes at most 1048576 (2^20)",
				(unsigned long)spec->bins);
	if (spec->kind != AXIS_EDGES)
		return 0;
	if (spec->bins != 0 && spec->bins != g->edges - 1)
		return fail_set(fail, STATUS_USAGE,
				"--bins %lu: --edges gives %zu edges, which make %zu bin%s",
				(unsigned long)spec->bins, g->edges, g->edges - 1,
				g->edges == 2 ? "" : "s");
	spec->bins = (uint32_t)(g->edges - 1);
	spec->list = job->edges;
	return 0;
}
