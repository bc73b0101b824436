/* SPDX-License-Identifier: MIT */
/*
 * Groups of 16-bit integers: no border of a bin is inside one, and they are few where they should
 * be.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "bins/edges.h"
#include "gpu/gpu_group.h"
#include "bins/number.h"

struct job {
	const char *type;
	uint32_t bins;
	const char *range; /* NULL: none; "full"; LO:HI */
	bool closed;
	uint32_t groups; /* expected of at most 3,600; UINT32_MAX: any number */
};

static const struct job JOBS[] = {
	/* a value each, and one on either side */
	{"u16", 1024, NULL, false, 1026},
	{"u16be", 1024, NULL, true, 1027},
	{"i16", 1, "0:100", false, 102},
	{"i16be", 2048, "-1024:1024", false, 2050},
	{"u16", 300, "-0.5:255.5", false, 258},
	{"u16", 7, "100:3000", false, 2902},
	/*
	 * a group for each bin; no value is out of range, but there are groups for under and over
	 */
	{"u16", 1024, "full", false, 1026},
	{"i16", 1000, "full", false, 1002},
	{"u16", 777, "0:60000", false, 779},
	{"u16", 3000, "-70000:70000", false, UINT32_MAX},
	/* the value on a closed last edge cannot be separated from those above it: no groups */
	{"u16", 100, "0:60000", true, 0},
	/* too many, and other types */
	{"u16", 16384, NULL, false, 0},
	{"u16", 65536, NULL, false, 0},
	{"u8", 256, NULL, false, 0},
	{"f16", 100, "-1:1", false, 0},
	{"bf16", 100, "-1:1", false, 0},
	{"u32", 100, NULL, false, 0},
};

static uint64_t state = 1;

static bool make_edges(struct edges *e, struct sample_type *type, const struct job *job)
{
	struct edges_spec spec = {.bins = job->bins,
				  .closed = job->closed,
				  .kind = job->range != NULL ? AXIS_RANGE : AXIS_VALUES};
	const char *why;

	sample_type_parse(type, job->type);
	spec.full = job->range && strcmp(job->range, "full") == 0;
	if (job->range && !spec.full) {
		const char *colon = strchr(job->range, ':');
		number_parse(&spec.lo, job->range, (size_t)(colon - job->range));
		number_parse(&spec.hi, colon + 1, strlen(colon + 1));
	}
	return edges_init(e, &spec, type, &why) == 0;
}

/* The bins of a group's codes, by the edges and not by the arithmetic that chose the groups. */
static void check_job(const struct job *job, uint32_t most)
{
	static uint32_t cell_of[65536];
	struct sample_type type;
	struct edges e;
	struct groups g;
	uint32_t wrong = 0;

	if (!make_edges(&e, &type, job))
		return;
	const uint32_t n = groups_choose(&g, &type, &e.binning, most);
	CHECK(n <= most, "%s -b %u -r %s: %u groups of at most %u", job->type, job->bins,
	      job->range, n, most);
	if (job->groups != UINT32_MAX)
		CHECK(n == job->groups, "%s -b %u -r %s: %u groups, not %u", job->type, job->bins,
		      job->range ? job->range : "none", n, job->groups);
	if (n == 0)
		return;
	memset(cell_of, 0xff, sizeof(cell_of));
	for (uint32_t code = 0; code < 65536; code++) {
		const uint32_t value = type.big ? (code & 255) << 8 | code >> 8 : code;
		const uint32_t cell = edges_cell_of_code(&e, &type, value);
		const uint32_t group = groups_of_code(&g, &type, code);
		if (group >= n || (cell_of[group] != UINT32_MAX && cell_of[group] != cell))
			wrong++;
		else
			cell_of[group] = cell;
	}
	CHECK(wrong == 0, "%s -b %u -r %s%s: %u codes are in a group of another bin", job->type,
	      job->bins, job->range ? job->range : "none", job->closed ? " closed" : "", wrong);
}

static void random_jobs(unsigned jobs)
{
	static const char *const TYPES[] = {"u16", "i16", "u16be", "i16be"};
	unsigned grouped = 0;

	for (unsigned i = 0; i < jobs; i++) {
		const int64_t lo = (int64_t)(check_random(&state) % 140000) - 70000;
		const uint64_t width =
			1 + check_random(&state) % (check_random(&state) % 2 ? 200 : 140000);
		char range[80];
		struct job job = {
			.type = TYPES[check_random(&state) % 4],
			.bins = 1 + (uint32_t)(check_random(&state) %
					       (check_random(&state) % 2 ? 10 : 5000)),
			.range = range,
			.closed = check_random(&state) % 3 == 0,
			.groups = UINT32_MAX,
		};
		snprintf(range, sizeof(range), "%lld:%lld%s", (long long)lo,
			 (long long)(lo + (int64_t)width),
			 check_random(&state) % 4 == 0 ? ".5" : "");
		struct sample_type type;
		struct edges e;
		struct groups g;
		if (make_edges(&e, &type, &job))
			grouped += groups_choose(&g, &type, &e.binning, 57000) > 0;
		check_job(&job, 57000);
	}
	CHECK(grouped > jobs / 2, "only %u of %u jobs have groups", grouped, jobs);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(JOBS) / sizeof(JOBS[0]); i++)
		check_job(&JOBS[i], 3600);
	random_jobs(400);
	return check_report();
}
