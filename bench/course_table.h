/* SPDX-License-Identifier: MIT */
/* course_table: what course.cu has measured, and the table in Markdown that it becomes. */
#ifndef COURSE_TABLE_H
#define COURSE_TABLE_H

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course.cuh"

#define SMALL_LOG2 25
#define LIMIT 65535u /* of the counters that saturate */

enum skew { UNIFORM, CONSTANT, SKEWS };
enum size { SMALL, LARGE, SIZES };
static const char *const SKEW[] = {"uniform", "constant"};

static int log2_of[SIZES] = {SMALL_LOG2, 30};

/* A line of the table. */
struct line {
	const struct row *row; /* NULL: ours, or the processor's */
	std::string name;
	u32 bins;
	double seconds[SIZES][SKEWS] = {}; /* 0: not run */
	bool wrong[SIZES][SKEWS] = {};
	bool checked = false; /* counts were compared, at least once */
	bool bad = false;     /* an error, or wrong without a flaw */
	std::string note = {};
};

static std::vector<struct line> lines;

static void add_note(struct line *line, const char *text)
{
	line->note += line->note.empty() ? text : std::string("; ") + text;
}

static void print_counts(const struct line *line)
{
	bool any = false;

	for (int size = 0; size < SIZES; size++)
		for (int skew = 0; skew < SKEWS; skew++) {
			if (!line->wrong[size][skew])
				continue;
			printf("%s2^%d %s", any ? ", " : "wrong: ", log2_of[size], SKEW[skew]);
			any = true;
		}
	if (any && line->row && line->row->flaw)
		printf(" (%s)", line->row->flaw);
	else if (!any && !line->bad)
		printf("%s%s", line->checked ? "right" : "not run",
		       line->checked && line->row && line->row->saturates ? ", saturating at 65535"
									  : "");
	if (!line->note.empty())
		printf("%s%s", any || !line->bad ? "; " : "", line->note.c_str());
}

/* How many times slower than ours, on the larger size that both were run on. */
static void print_slower(const struct line *line, const struct line *ours, int skew)
{
	const int size =
		line->seconds[LARGE][skew] > 0 && ours->seconds[LARGE][skew] > 0 ? LARGE : SMALL;
	const double times = ours->seconds[size][skew] > 0
				     ? line->seconds[size][skew] / ours->seconds[size][skew]
				     : 0;

	if (times > 0)
		printf(times < 9.95 ? " %.1f |" : " %.0f |", times);
	else
		printf(" - |");
}

static void print_line(const struct line *line, const struct line *ours)
{
	printf("| %s%s | %u |", line == ours ? "ours: " : "", line->name.c_str(), line->bins);
	for (int size = 0; size < SIZES; size++)
		for (int skew = 0; skew < SKEWS; skew++) {
			const double rate =
				line->seconds[size][skew] > 0
					? ldexp(4, log2_of[size]) / line->seconds[size][skew] * 1e-9
					: 0;
			if (rate > 0)
				printf(rate < 99.5 ? " %.1f |" : " %.0f |", rate);
			else
				printf(" - |");
		}
	print_slower(line, ours, UNIFORM);
	print_slower(line, ours, CONSTANT);
	printf(" ");
	print_counts(line);
	printf(" |\n");
}

static void print_table()
{
	const struct line *ours = NULL;

	if (lines.empty())
		return;
	printf("| kernel | bins |");
	for (int size = 0; size < SIZES; size++)
		for (int skew = 0; skew < SKEWS; skew++)
			printf(" 2^%d %s |", log2_of[size], SKEW[skew]);
	printf(" times slower than ours, uniform | constant | counts "
	       "|\n|---|---|---|---|---|---|---|---|---|\n");
	for (const struct line &line : lines) {
		if (!ours || ours->bins != line.bins)
			ours = &line; /* the first one of so many bins */
		print_line(&line, ours);
	}
}

#endif
