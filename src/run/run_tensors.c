/* SPDX-License-Identifier: MIT */
/*
 * run_tensors: --each=tensor, a loop of runs. The headers of all FILEs are checked first; each is
 * read again just before the runs of its file, to tell them where their samples are. The run of a
 * small tensor starts no thread except the watching one.
 */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "cli/msg.h"
#include "each/row.h"
#include "format/content.h"

struct tensor_rows {
	const struct job *job;
	struct output *out;
	struct row_spec spec;
	off_t start;           /* offset at which standard input begins, if it is a file */
	struct hist_flow flow; /* of all tensors so far */
	uint64_t samples;      /* counted so far */
	uint64_t bytes;        /* counted so far */
	uint64_t tensors;      /* counted so far */
	uint64_t behind;       /* bytes after the last tensor of the file */
	char **name;           /* of all tensors, for a table, until the first is counted */
	size_t names;
};

/* ---- headers ---- */

/* Does the file hold all of its tensors? */
static int check_size(const struct tensors *list, const struct bytes *b, struct fail *fail)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct tensor *const t = &list->of[i];
		if (t->begin + t->bytes > bytes_size(b))
			return fail_set(fail, STATUS_DATA,
					"%s holds %llu bytes, but its tensor %s ends after %llu; "
					"was the file cut short?",
					bytes_name(b), (ull)bytes_size(b), t->name,
					(ull)(t->begin + t->bytes));
	}
	return 0;
}

static int read_list(struct tensors *list, const struct tensor_rows *c, const char *path,
		     struct fail *fail)
{
	const struct content_rules rules = {.type_said = true,
					    .window = c->job->machine.memory,
					    .memory = c->job->machine.memory,
					    .tensors = list};
	struct bytes_shared shared = {.wake = -1, .finish = -1};
	struct content content;
	struct bytes *b;
	int rc;

	*list = (struct tensors){.n = 0};
	if (path_is_stdin(path))
		(void)lseek(STDIN_FILENO, c->start, SEEK_SET);
	if (bytes_open(&b, path, -1, &shared, fail) != 0)
		return -1;
	const bool stream = !bytes_in_file(b);
	rc = stream ? 0 : content_open(&content, b, &rules, fail);
	if (rc == 0 && (stream || content.is_zstd))
		rc = fail_set(fail, STATUS_USAGE,
			      "--each=tensor needs an uncompressed file, but %s is %s; %s first",
			      bytes_name(b), stream ? "a stream" : "compressed",
			      stream ? "save it to a file" : "run zstd -d");
	if (rc == 0)
		rc = check_size(list, b, fail);
	bytes_close(b);
	return rc;
}

/* Warn about tensors of unsupported types. */
static void warn_left_out(const struct tensors *list, const char *path)
{
	char names[400] = "";
	size_t left = 0, used = 0;
	struct header header;

	for (size_t i = 0; i < list->n; i++) {
		const struct tensor *const t = &list->of[i];
		if (tensor_header(&header, list, t) || left++ > 3)
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.60s (%.20s)",
					 left > 1 ? ", " : "", t->name, t->dtype);
	}
	if (left > 0)
		msg_warning(
			"%s has %llu tensor%s of unsupported types, which were not counted: %s%s",
			path_shown(path), (ull)left, left == 1 ? "" : "s", names,
			left > 4 ? " and more" : "");
}

/* Keep the names of the rows of a file. */
static int keep_names(struct tensor_rows *c, const struct tensors *list, struct fail *fail)
{
	struct header header;

	for (size_t i = 0; i < list->n; i++) {
		if (!tensor_header(&header, list, &list->of[i]))
			continue;
		char **const more = realloc(c->name, (c->names + 1) * sizeof(*more));
		if (!more)
			return fail_errno(fail, "names of tensors");
		c->name = more;
		c->name[c->names] = strdup(list->of[i].name);
		if (!c->name[c->names++])
			return fail_errno(fail, "names of tensors");
	}
	return 0;
}

/* ---- rows ---- */

static int count_tensor(struct tensor_rows *c, size_t path, const struct tensors *list,
			const struct tensor *t, struct fail *fail)
{
	struct job job = *c->job;
	struct run_report report;
	struct header header;
	struct hist hist;

	if (!tensor_header(&header, list, t))
		return 0;
	job.each = 0;
	job.source.paths += path;
	job.source.path_count = 1;
	job.source.known = &header;
	if (path_is_stdin(job.source.paths[0]))
		(void)lseek(STDIN_FILENO, c->start, SEEK_SET);
	if (run_job(&job, NULL, &hist, &report, fail) != 0)
		return -1;
	c->spec.axis = &hist.axis;
	c->spec.record = report.record;
	c->spec.tensor = t->name;
	c->spec.shape = t->shape;
	row_write(c->out, &c->spec,
		  &(struct row_place){.path = path, .records = report.work.records}, &hist);
	const struct hist_flow flow = hist_flow_sum(&hist);
	c->flow.under += flow.under;
	c->flow.over += flow.over;
	c->flow.nan += flow.nan;
	c->samples += hist.samples;
	c->bytes += t->bytes;
	c->tensors++;
	c->behind = report.totals.behind_bytes;
	hist_free(&hist);
	return output_flush(c->out, fail);
}

static int count_file(struct tensor_rows *c, size_t path, struct fail *fail)
{
	struct tensors list;
	int rc = read_list(&list, c, c->job->source.paths[path], fail);

	c->behind = 0;
	for (size_t i = 0; i < list.n && rc == 0; i++)
		rc = count_tensor(c, path, &list, &list.of[i], fail);
	if (rc == 0)
		warn_left_out(&list, c->job->source.paths[path]);
	if (rc == 0 && c->behind > 0)
		msg_warning("%s goes on after its samples; " COUNTED " %s not counted",
			    path_shown(c->job->source.paths[path]), COUNT(c->behind, "byte"),
			    c->behind == 1 ? "was" : "were");
	tensors_free(&list);
	return rc;
}

int run_tensors(const struct job *job, struct output *out, struct fail *fail)
{
	struct tensor_rows c = {
		.job = job,
		.out = out,
		.spec = {.paths = job->source.paths,
			 .path_count = job->source.path_count,
			 .size = ROW_IS_TENSOR,
			 .channels = 1,
			 .packed = 1,
			 .asked = &job->quantiles,
			 .format = job->format,
			 .style = &job->style,
			 .options = job->options},
		.start = lseek(STDIN_FILENO, 0, SEEK_CUR),
	};
	const double began = clock_seconds();
	int rc = 0;

	for (size_t i = 0; i < job->source.path_count && rc == 0; i++) {
		struct tensors list;
		rc = read_list(&list, &c, job->source.paths[i], fail);
		if (rc == 0 && job->style.table)
			rc = keep_names(&c, &list, fail);
		tensors_free(&list);
	}
	if (rc == 0)
		row_know_names(&c.spec, (const char *const *)c.name, c.names);
	while (c.names > 0)
		free(c.name[--c.names]);
	free(c.name);
	if (rc == 0)
		row_begin(out, &c.spec);
	for (size_t i = 0; i < job->source.path_count && rc == 0; i++)
		rc = count_file(&c, i, fail);
	if (rc != 0)
		return -1;
	report_outside(&c.flow, c.samples, true, "");
	if (job->voice == VOICE_VERBOSE)
		msg_note("%llu tensors, %llu samples, %llu bytes, %.3f s: %.2f GB/s",
			 (ull)c.tensors, (ull)c.samples, (ull)c.bytes, clock_seconds() - began,
			 (double)c.bytes * 1e-9 / (clock_seconds() - began));
	return 0;
}
