/* SPDX-License-Identifier: MIT */
/* options_output: what is written and where to, and whether these fit together. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options_given.h"
#include "cli/picture.h"
#include "output/output.h"

int options_format(struct job *job, const char *text, struct fail *fail)
{
	job->format = format_find(text);
	return job->format ? 0 : options_refuse_format(fail, text);
}

int options_plot(struct job *job, const char *text, struct fail *fail)
{
	if (text && text[0] == '=') /* -p=log, as in --plot=log */
		text++;
	if (text && strcmp(text, "log") != 0)
		return options_usage(fail, "--plot", text, "must be log, or nothing");
	job->plot = text ? PLOT_LOG : PLOT_LINEAR;
	job->style.picture.log = text != NULL;
	return 0;
}

int options_every(struct job *job, const char *text, struct fail *fail)
{
	static const struct {
		const char *name;
		double seconds;
	} UNITS[] = {{"", 1},     {"s", 1},    {"ms", 1e-3}, {"m", 60},
		     {"min", 60}, {"h", 3600}, {"d", 86400}};
	char *end;
	const double n = strtod(text, &end);

	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
		if (end != text && strcmp(end, UNITS[i].name) == 0 && n * UNITS[i].seconds >= 0.1 &&
		    n * UNITS[i].seconds <= 366 * 86400.0) {
			job->every = n * UNITS[i].seconds;
			return 0;
		}
	return options_usage(fail, "--every", text,
			     "must be a time from 0.1s to a year, such as 10s, 5m, 1h or 500ms");
}

/* With --tee nothing else may be written to standard output. */
static int check_tee(const struct job *job, struct fail *fail)
{
	if (job->merge)
		return fail_set(fail, STATUS_USAGE,
				"--tee passes samples on: it does not go with --merge");
	/* --into without -f and -o writes nothing else. */
	if (!job->output && (!job->into || job->format))
		return fail_set(fail, STATUS_USAGE,
				"--tee: standard output is for the input's bytes: -o FILE must say "
				"where the histogram "
				"goes");
	if (job->output && output_is_stdout(job->output))
		return options_usage(
			fail, "--output", job->output,
			"is standard output, which is for the input's bytes with --tee");
	for (size_t i = 0; i < job->source.path_count; i++)
		if (output_is_input(NULL, job->source.paths[i]))
			return fail_set(fail, STATUS_USAGE, "%s: is both input and output",
					strcmp(job->source.paths[i], "-") == 0
						? "standard input"
						: job->source.paths[i]);
	return 0;
}

/*
 * What is replaced while the run goes on must be a file, in a format that can say that it is
 * partial.
 */
static int settle_every(const struct job *job, struct fail *fail)
{
	struct stat st;

	if (!job->output || output_descriptor(job->output) >= 0)
		return fail_set(fail, STATUS_USAGE, "--every needs -o FILE: %s cannot be replaced",
				job->output && strcmp(job->output, "-") != 0 ? job->output
									     : "standard output");
	if (stat(job->output, &st) == 0 && !S_ISREG(st.st_mode))
		return fail_set(fail, STATUS_USAGE,
				"--every needs -o FILE: %s is not a regular file", job->output);
	if (!job->format->partial)
		return fail_set(
			fail, STATUS_USAGE,
			"--every: %s cannot say that counts are partial: json, plot and svg can",
			job->format->name);
	return 0;
}

/* -p takes its value without a blank: after one, "log" is a FILE. */
static int check_plot(const struct job *job, struct fail *fail)
{
	for (size_t i = 0; i < job->source.path_count; i++)
		if (job->plot == PLOT_LINEAR && strcmp(job->source.paths[i], "log") == 0 &&
		    access("log", F_OK) != 0)
			return fail_set(fail, STATUS_USAGE,
					"log: no such file: did you mean --plot=log?");
	return 0;
}

/* With -f the user has decided, so the suffix is not checked. */
int options_settle_output(struct job *job, const struct given *g, struct fail *fail)
{
	struct style *const style = &job->style;
	char why[FORMAT_WHY], list[FORMAT_LIST];

	if (job->output && job->output[0] == '\0')
		return options_usage(fail, "--output", "''", "is not a file name");
	if (check_plot(job, fail) != 0)
		return -1;
	if (job->tee && check_tee(job, fail) != 0)
		return -1;
	if (options_settle_into(job, fail) != 0)
		return -1;
	if (!job->format && !(job->format = format_of_path(job->output, why)))
		return options_usage(fail, "--output", job->output, why);
	const struct format *const format = job->format;
	const int fd = output_descriptor(job->output);
	picture_settle(&style->picture, fd);
	/* One picture on one screen is enough. */
	if (format->write == write_plot && fd == STDOUT_FILENO && isatty(STDOUT_FILENO) &&
	    isatty(STDERR_FILENO))
		job->plot = PLOT_NONE;
	if (!g->counter)
		style->counter = format->counter;
	if (!format->rows && (style->flow || !style->header)) {
		format_list(list, FORMATS_ROWS, "and");
		return fail_set(fail, STATUS_USAGE, "--flow and --no-header are for %s, not %s",
				list, format->name);
	}
	if (!format->rows && !format->sparse && style->nonzero) {
		format_list(list, FORMATS_NONZERO, "and");
		return fail_set(fail, STATUS_USAGE, "--nonzero is for %s, not %s", list,
				format->name);
	}
	if (options_settle_some(job, fail) != 0)
		return -1;
	if (!(format->counters & 1u << style->counter))
		return fail_set(fail, STATUS_USAGE, "%s holds exact counts: no -C %s with it",
				format->name, counter_name(style->counter));
	if (format->binary && !job->output_named && isatty(STDOUT_FILENO))
		return fail_set(fail, STATUS_USAGE,
				"standard output is a terminal, and %s counters are binary (-o - "
				"writes them all the same)",
				format->name);
	if (job->every > 0 && settle_every(job, fail) != 0)
		return -1;
	/* All documents are read before one is written. */
	for (size_t i = 0; i < job->source.path_count && !job->merge && !job->output_none; i++)
		if (output_is_input(job->output, job->source.paths[i]))
			return fail_set(fail, STATUS_USAGE, "%s: is both input and output",
					strcmp(job->source.paths[i], "-") == 0
						? "standard input"
						: job->source.paths[i]);
	return 0;
}
