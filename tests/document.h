/* SPDX-License-Identifier: MIT */
/* document: for the tests that write histograms as JSON and read them again, in memory. */
#ifndef GPUHIST_TEST_DOCUMENT_H
#define GPUHIST_TEST_DOCUMENT_H

#include "document/document.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "cli/options.h"
#include "output/output.h"
#include "run.h"

/* Where the counts may come from: of so many runs of 3 inputs, as the audit wants it. */
static inline struct provenance origin(const struct hist *h, uint64_t runs)
{
	const uint64_t tail = h->axis.type.code_bytes > 1, outside = (8 + tail) * runs;

	return (struct provenance){.inputs = 3 * runs,
				   .bytes = h->samples * h->axis.type.code_bytes + outside,
				   .skipped = 8 * runs,
				   .tail = tail * runs,
				   .part = 1,
				   .parts = 1,
				   .options = "--type=u32 --edges='0 --record=1'"};
}

static inline char *written_as(write_fn *write, const struct hist *h, const struct provenance *from,
			       bool nonzero, size_t *bytes)
{
	const struct style style = {
		.counter = COUNTER_U64, .header = true, .flow = true, .nonzero = nonzero};
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	char path[32];
	const int fd = memfd_create("output", MFD_CLOEXEC), copy = dup(fd);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy); /* commit closes it */
	CHECK(output_open(&out, path, &fail) == 0, "%s", fail.text);
	write(out, h, &style, from);
	CHECK(output_commit(out, &fail) == 0, "%s", fail.text);
	*bytes = (size_t)lseek(fd, 0, SEEK_END);
	char *const text = malloc(*bytes + 1);
	CHECK(pread(fd, text, *bytes, 0) == (ssize_t)*bytes, "%zu bytes", *bytes);
	text[*bytes] = '\0';
	close(fd);
	return text;
}

/* What a writer makes of a histogram, and a zero after it; the caller frees it. */
static inline char *written(write_fn *write, const struct hist *h, const struct provenance *from,
			    size_t *bytes)
{
	return written_as(write, h, from, false, bytes);
}

/* Opens so many bytes of a text as documents. */
static inline struct documents *documents_of(const char *text, size_t bytes)
{
	struct fail fail = {.status = STATUS_OK};
	struct documents *d;
	static char path[32]; /* is borrowed */
	const int fd = memfd_create("input", MFD_CLOEXEC);

	CHECK(write(fd, text, bytes) == (ssize_t)bytes, "%zu bytes", bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(documents_open(&d, path, &fail) == 0, "%s", fail.text);
	close(fd);
	return d;
}

/* The only document of a text. 1, or -1: *fail says why. */
static inline int read_one(const char *text, size_t bytes, struct document *document,
			   struct fail *fail)
{
	struct documents *const d = documents_of(text, bytes);
	struct document more;

	*fail = (struct fail){.status = STATUS_OK};
	int rc = documents_next(d, document, fail);
	if (rc == 1 && documents_next(d, &more, fail) != 0) {
		document_free(document);
		rc = -1;
	}
	documents_close(d);
	return rc;
}

/* Runs a job of options and files, separated by blanks. */
static inline void count_files(const char *line, struct hist *h)
{
	char words[256], *argv[32] = {"gpuhist", "-q", "-T1", "--device=cpu"};
	int argc = 4;
	struct job job;
	struct run_report report;
	struct fail fail = {.status = STATUS_OK};

	snprintf(words, sizeof(words), "%s", line);
	for (char *rest = words, *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
		argv[argc++] = word;
	optind = 0;
	CHECK(options_parse(&job, argc, argv, &fail) == OPTIONS_RUN, "%s: %s", line, fail.text);
	CHECK(run_job(&job, NULL, h, &report, &fail) == 0, "%s: %s", line, fail.text);
	options_free(&job);
}

/*
 * Of all counts and edges. Not compared is what a document says once, so that no reader can see
 * that it was changed: edges between the ends of a list, whether the last bin is closed, which type
 * has these edges, how they came about.
 */
static inline bool same_counts(const struct hist *a, const struct hist *b)
{
	if (a->channels != b->channels || a->samples != b->samples ||
	    axis_bins(&a->axis) != axis_bins(&b->axis))
		return false;
	const uint32_t step = a->axis.kind == AXIS_EDGES ? axis_bins(&a->axis) : 1;
	for (uint32_t i = 0; i <= axis_bins(&a->axis) && axis_bins(&a->axis) > 0; i += step)
		if (edges_value(&a->axis.edges, i) != edges_value(&b->axis.edges, i))
			return false;
	for (uint32_t c = 0; c < a->channels; c++) {
		if (memcmp(&a->flow[c], &b->flow[c], sizeof(a->flow[c])) != 0)
			return false;
		for (uint32_t i = 0; i < axis_bins(&a->axis); i++)
			if (hist_count(a, c, i) != hist_count(b, c, i))
				return false;
	}
	return true;
}

#endif
