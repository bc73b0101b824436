/* SPDX-License-Identifier: MIT */
/* options_merge: which options go with --merge, and what --into needs. */
#include <string.h>
#include <strings.h>

#include "cli/options_given.h"
#include "output/output.h"

/* The options for what is written of a sum, and where to; all others are about counting. */
static const char *const OF_A_SUM[] = {"merge",     "output",  "format",      "counter",
				       "no-header", "nonzero", "flow",        "plot",
				       "verbose",   "quiet",   "no-progress", NULL};

void options_note(struct given *g, const char *name)
{
	for (size_t i = 0; OF_A_SUM[i]; i++)
		if (strcmp(OF_A_SUM[i], name) == 0)
			return;
	if (!g->counting)
		g->counting = name;
}

int options_merge(struct job *job, const char *text, struct fail *fail)
{
	job->merge = true;
	job->merge_some = text && strcmp(text, "some") == 0;
	if (!text || job->merge_some)
		return 0;
	return options_usage(
		fail, "--merge", text,
		"must be \"some\" (parts may be missing) or nothing; files come after a space");
}

/* Only JSON can say that parts are missing. */
int options_settle_some(const struct job *job, struct fail *fail)
{
	if (!job->merge_some || strcmp(job->format->name, "json") == 0)
		return 0;
	return fail_set(fail, STATUS_USAGE,
			"--merge=some: %s cannot say which parts it holds: only json can (-f json)",
			job->format->name);
}

int options_settle_merge(const struct given *g, struct fail *fail)
{
	if (!g->counting)
		return 0;
	if (strcmp(g->counting, "stats") == 0)
		return fail_set(
			fail, STATUS_USAGE,
			"--stats: does not go with --merge: statistics of parts cannot be added");
	return fail_set(fail, STATUS_USAGE,
			"--%s: does not go with --merge, which adds what was counted before",
			g->counting);
}

/* Do both names mean the same file, even if neither exists yet? */
static bool same_file(const char *a, const char *b)
{
	char target_a[PATH_MAX], target_b[PATH_MAX];
	struct fail unused = {.status = STATUS_OK};

	if (output_is_input(a, b))
		return true;
	return output_resolve(target_a, a, &unused) == 0 &&
	       output_resolve(target_b, b, &unused) == 0 && strcmp(target_a, target_b) == 0;
}

int options_settle_into(struct job *job, struct fail *fail)
{
	const size_t length = job->into ? strlen(job->into) : 0;

	if (!job->into)
		return 0;
	if (length < 5 || strcasecmp(job->into + length - 5, ".json") != 0)
		return options_usage(fail, "--into", job->into,
				     "must be the name of a file, and end in .json");
	if (job->output && output_descriptor(job->output) < 0 && same_file(job->output, job->into))
		return options_usage(fail, "--into", job->into, "is the file of --output too");
	for (size_t i = 0; i < job->source.path_count; i++)
		if (output_is_input(job->into, job->source.paths[i]))
			return options_usage(fail, "--into", job->into, "is an input too");
	if (!job->output_named && !job->format) {
		job->output_none = true;
		job->format = format_find("json");
	}
	return 0;
}
