/* SPDX-License-Identifier: MIT */
/*
 * options_part: --part=K/N and --part=auto, what goes with them, and what replaces %K and %N in -o.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "bins/number.h"
#include "cli/launcher.h"
#include "cli/options_given.h"
#include "output/output.h"

#define FORM "must be K/N, the K-th of N parts, such as 1/8, or auto"
#define DIGITS "0123456789"

/*
 * Two numbers with something other than a slash between them: "3 of 8", "3:8"; *more then asks what
 * was meant.
 */
static const char *meant(char *more, size_t room, const char *text)
{
	const char *const between = text + strspn(text, DIGITS);
	const char *const second = between + strcspn(between, DIGITS);
	const bool two = between > text && second > between && second[0] &&
			 second[strspn(second, DIGITS)] == '\0';

	if (strcasecmp(text, "auto") == 0)
		snprintf(more, room, FORM "; did you mean auto?");
	else if (two && second - between <= 4 && strlen(text) < 32 && !strchr(between, '.') &&
		 *between != '/')
		snprintf(more, room, FORM "; did you mean %.*s/%s?", (int)(between - text), text,
			 second);
	else
		snprintf(more, room, FORM);
	return more;
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, DIGITS)] == '\0';
}

int options_part(struct job *job, struct given *g, const char *text, struct fail *fail)
{
	const char *const slash = strchr(text, '/');
	char first[32], more[160];
	uint64_t part, parts;

	job->source.part = job->source.parts = 0;
	g->part_auto = strcmp(text, "auto") == 0;
	if (g->part_auto)
		return 0;
	if (!slash || (size_t)(slash - text) >= sizeof(first))
		return options_usage(fail, "--part", text, meant(more, sizeof(more), text));
	memcpy(first, text, (size_t)(slash - text));
	first[slash - text] = '\0';
	if (!is_number(first) || !is_number(slash + 1))
		return options_usage(fail, "--part", text, meant(more, sizeof(more), text));
	if (number_parse_count(&parts, slash + 1) != 0 || parts < 1 || parts > PARTS_MAX)
		return options_usage(fail, "--part", text, "there may be 1 to 2^31 parts");
	if (number_parse_count(&part, first) != 0 || part < 1 || part > parts) {
		snprintf(more, sizeof(more), "parts are counted from 1/%lu to %lu/%lu",
			 (unsigned long)parts, (unsigned long)parts, (unsigned long)parts);
		return options_usage(fail, "--part", text, more);
	}
	job->source.part = (uint32_t)part;
	job->source.parts = (uint32_t)parts;
	return 0;
}

/* Makes -o with %K and %N replaced, in memory that the job owns. *named: %K is in it. */
static int make_path(struct job *job, bool *named, struct fail *fail)
{
	/* up to ten digits replace two characters */
	const size_t room = 5 * strlen(job->output) + 1;
	char *const path = malloc(room);
	size_t used = 0;

	if (!path) {
		errno = ENOMEM;
		return fail_errno(fail, "options");
	}
	free(job->output_part);
	job->output_part = path;
	for (const char *p = job->output; *p; p++) {
		if (*p != '%') {
			path[used++] = *p;
			continue;
		}
		p++;
		if (*p == '%')
			path[used++] = '%';
		else if (*p == 'K' || *p == 'N')
			used += (size_t)snprintf(
				path + used, room - used, "%lu",
				(unsigned long)(*p == 'K' ? job->source.part : job->source.parts));
		else
			return options_usage(fail, "--output", job->output,
					     "with --part, K (the part's number), N (how many "
					     "there are) or % must "
					     "follow each %");
		*named |= *p == 'K';
	}
	path[used] = '\0';
	job->output = path;
	return 0;
}

/* Is it a file, existing or not, that all parts would share? */
static bool replaces_file(const char *path)
{
	struct stat st;

	return output_descriptor(path) < 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

int options_settle_part(struct job *job, const struct given *g, struct fail *fail)
{
	struct launched launched;
	bool named = false;

	if (!g->part_auto && job->source.parts == 0)
		return 0;
	if (job->tee)
		return fail_set(fail, STATUS_USAGE,
				"--part: not with --tee: an input that is passed on is read whole");
	if (job->into)
		return fail_set(fail, STATUS_USAGE,
				"--part: not with --into: a file that parts were added to cannot "
				"tell which are in it; "
				"give each part a file by -o, and add them by --merge");
	if (g->part_auto) {
		if (launcher_part(&launched, fail) != 0)
			return -1;
		job->source.part = launched.part;
		job->source.parts = launched.parts;
		job->part_variable = launched.variable;
	}
	if (!job->output || output_descriptor(job->output) >= 0)
		return 0;
	const char *const pattern = job->output;
	if (make_path(job, &named, fail) != 0)
		return -1;
	if (g->part_auto && !named && job->source.parts > 1 && replaces_file(job->output))
		return options_usage(fail, "--output", pattern,
				     "is one file for all parts: with --part=auto %K in it becomes "
				     "the part's number");
	return 0;
}
