/* SPDX-License-Identifier: MIT */
/* rows: --each, a histogram for each N records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

static void set_counter(struct row_worker *r)
{
	static const struct {
		const char *name;
		unsigned bytes;
		uint64_t most;
	} counters[] = {{"u64", 8, UINT64_MAX},
			{"u32", 4, UINT32_MAX},
			{"sat32", 4, UINT32_MAX},
			{"sat16", 2, UINT16_MAX},
			{"sat8", 1, UINT8_MAX}};
	const char *name = r->counter ? r->counter : r->format == RAW_ROWS ? "u32" : "u64";

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (strcmp(counters[i].name, name) != 0)
			continue;
		r->bytes = counters[i].bytes;
		r->most = counters[i].most;
	}
	if (!r->bytes)
		fail(FAIL_USAGE, name, "unknown counter");
}

static uint64_t clip(const struct job *job, uint64_t count)
{
	return count < job->rows.most ? count : job->rows.most;
}

static bool has_flow(const struct job *job)
{
	return job->stats || (job->flow && job->axis != RESIDUE);
}

/* Does a line begin with what identifies the row? */
static bool is_named(const struct job *job)
{
	return job->rows.size || job->by_key.bytes || job->channels > 1;
}

/* Print the names of the columns after those that identify the row. */
static void put_columns(const struct job *job)
{
	char c = job->separator, edge[400];

	if (job->stats)
		printf(is_named(job) ? "%csamples" : "samples", c);
	for (uint64_t i = 0; i < job->bins && !job->stats; i++) {
		format_edge(job, edge, sizeof(edge), i);
		printf("%c%s", c, edge);
	}
	if (has_flow(job))
		printf("%cunder%cover%cnan", c, c, c);
	if (job->stats)
		printf("%czeros%cmin%cat_min%cmax%cat_max%cmean%cstd%centropy", c, c, c, c, c, c, c,
		       c);
	for (const char *q = job->stats; q && *q; q += strcspn(q, ","), q += *q == ',') {
		int n = (int)strcspn(q, ",");

		printf("%c%.*s%%", c, n, q);
	}
	if (job->stats)
		printf("%cnever_hit%cinf%cchi2", c, c, c);
	putchar('\n');
}

void begin_rows(struct job *job)
{
	char c = job->separator;

	set_counter(&job->rows);
	if (job->stats && job->rows.format != TEXT)
		fail(FAIL_USAGE, "--stats", "rows of counters have no figures");
	if (job->rows.format != TEXT || !job->header)
		return;
	printf("input%cfirst", c);
	if (!job->text)
		printf("%coffset", c);
	printf("%crecords", c);
	if (job->channels > 1)
		printf("%c%s", c, job->column[0] ? "column" : "channel");
	put_columns(job);
}

static void put_numbers(const struct job *job, unsigned channel, uint64_t samples)
{
	char c = job->separator;
	const uint64_t flow[] = {job->under[channel], job->over[channel], job->nan[channel]};

	if (job->stats && is_named(job))
		putchar(c);
	if (job->stats)
		printf("%llu", (unsigned long long)samples);
	for (uint64_t i = 0; i < job->bins && !job->stats; i++)
		printf("%c%llu", c,
		       (unsigned long long)clip(job, job->count[channel * job->bins + i]));
	for (int i = 0; i < 3 && has_flow(job); i++)
		printf("%c%llu", c,
		       (unsigned long long)(job->stats ? flow[i] : clip(job, flow[i])));
	if (job->stats)
		put_figures(job, channel);
	putchar('\n');
}

static void put_channel(const struct job *job, unsigned channel)
{
	if (job->column[0]) {
		printf("%s", job->column[channel]);
		return;
	}
	if (job->rows.pairs && job->channels % 2 == 0)
		putchar("IQ"[channel % 2]);
	if (!job->rows.pairs || job->channels % 2 > 0)
		printf("%u", channel);
	else if (job->channels > 2)
		printf("%u", channel / 2);
}

static void put_line(const struct job *job, unsigned channel)
{
	const struct row_worker *r = &job->rows;
	char c = job->separator;

	printf("%s%c%llu", r->input < r->names ? r->name[r->input] : "-", c,
	       (unsigned long long)r->first);
	if (!job->text) /* rows of packed samples begin at a byte */
		printf("%c%llu", c, (unsigned long long)(r->begin + r->first * job->stride / 8));
	printf("%c%llu", c, (unsigned long long)r->records);
	if (job->channels > 1) {
		putchar(c);
		put_channel(job, channel);
	}
	put_numbers(job, channel, r->records * job->samples / job->channels);
}

/* Print each of several series on a line. */
void put_list(struct job *job)
{
	const bool keys = job->by_key.bytes;
	char c = job->separator;

	set_counter(&job->rows);
	if (job->header) {
		if (keys)
			printf("key%crecords", c);
		else if (is_named(job))
			printf("%s", job->column[0] ? "column" : "channel");
		put_columns(job);
	}
	for (unsigned i = 0; i < job->channels && !keys; i++) {
		if (is_named(job))
			put_channel(job, i);
		put_numbers(job, i, job->total / job->channels);
	}
	for (int64_t next = 0; keys && next >= 0;) {
		int64_t least = -1, after = -1; /* the least key from `next` on, and its channel */
		for (unsigned i = 0; i < job->channels; i++)
			if (job->key[i] >= next && (least < 0 || job->key[i] < least)) {
				least = job->key[i];
				after = i;
			}
		next = least < 0 ? -1 : least + 1;
		if (least < 0)
			break;
		uint64_t n = job->under[after] + job->over[after] + job->nan[after];
		for (uint64_t i = 0; i < job->bins; i++)
			n += job->count[(uint64_t)after * job->bins + i];
		printf("%lld%c%llu", (long long)least, c, (unsigned long long)n);
		put_numbers(job, (unsigned)after, n);
	}
	if (fflush(stdout) || ferror(stdout))
		fail(FAIL_SYSTEM, "standard output", "cannot be written");
}

/* Keep the counts, least significant byte first. */
static void keep_counts(struct job *job)
{
	struct row_worker *r = &job->rows;
	size_t counts = (size_t)job->bins * job->channels;

	r->data = realloc(r->data, r->used + counts * r->bytes + 1);
	if (!r->data)
		fail(FAIL_SYSTEM, "rows", "no memory");
	for (size_t i = 0; i < counts; i++)
		for (unsigned k = 0; k < r->bytes; k++)
			r->data[r->used++] = (unsigned char)(clip(job, job->count[i]) >> 8 * k);
	if (r->format == RAW_ROWS) { /* these are written even if a later input fails */
		fwrite(r->data, 1, r->used, stdout);
		r->used = 0;
	}
}

void put_row_of(struct job *job)
{
	struct row_worker *r = &job->rows;

	if (r->format != TEXT)
		keep_counts(job);
	for (unsigned channel = 0; channel < job->channels; channel++) {
		if (r->format == TEXT)
			put_line(job, channel);
		job->under[channel] = job->over[channel] = job->nan[channel] = 0;
	}
	memset(job->count, 0, (size_t)job->bins * job->channels * sizeof(*job->count));
	r->written++;
	r->first += r->records;
	r->records = 0;
}

void end_rows(struct job *job)
{
	struct row_worker *r = &job->rows;
	char channels[32] = "", text[128];

	if (r->format == NPY_ROWS) {
		if (job->channels > 1)
			snprintf(channels, sizeof(channels), "%u, ", job->channels);
		snprintf(text, sizeof(text),
			 "{'descr': '%cu%u', 'fortran_order': False, 'shape': (%llu, %s%llu), }",
			 r->bytes > 1 ? '<' : '|', r->bytes, (unsigned long long)r->written,
			 channels, (unsigned long long)job->bins);
		fwrite("\x93NUMPY\1\0\x76\0", 1, 10, stdout);
		printf("%-117s\n", text);
		fwrite(r->data, 1, r->used, stdout);
	}
	free(r->data);
	if (fflush(stdout) || ferror(stdout))
		fail(FAIL_SYSTEM, "standard output", "cannot be written");
}
