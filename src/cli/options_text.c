/* SPDX-License-Identifier: MIT */
/*
 * options_text: the options that decide what is counted and into which bins, in one spelling and
 * one order, so that the runs of parts and that of the whole say the same, wherever they write and
 * whatever counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bins/number.h"
#include "cli/options_given.h"

struct text {
	char *base; /* NULL at first, and after memory was short */
	size_t used, room;
	bool failed;
};

static void add(struct text *t, const char *bytes, size_t n)
{
	if (t->room - t->used <= n && !t->failed) {
		const size_t room = 2 * (t->room + n) + 64;
		char *const base = realloc(t->base, room);
		if (base) {
			t->base = base;
			t->room = room;
		} else {
			t->failed = true;
		}
	}
	if (t->failed)
		return;
	memcpy(t->base + t->used, bytes, n);
	t->used += n;
	t->base[t->used] = '\0';
}

/* Adds a value so that a shell reads it back. */
static void add_quoted(struct text *t, const char *value)
{
	static const char PLAIN[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*value != '\0' && value[strspn(value, PLAIN)] == '\0') {
		add(t, value, strlen(value));
		return;
	}
	add(t, "'", 1);
	for (size_t span; *value != '\0'; value += span) {
		span = strcspn(value, "'");
		add(t, value, span);
		if (value[span] == '\'') {
			add(t, "'\\''", 4);
			span++;
		}
	}
	add(t, "'", 1);
}

/* Adds "--name=value", or "--name" if there is no value. */
static void option(struct text *t, const char *name, const char *value)
{
	if (t->used > 0)
		add(t, " ", 1);
	add(t, name, strlen(name));
	if (value) {
		add(t, "=", 1);
		add_quoted(t, value);
	}
}

static void number(struct text *t, const char *name, uint64_t value)
{
	char digits[NUMBER_TEXT];

	number_format_count(digits, value);
	option(t, name, digits);
}

static void flag(struct text *t, const char *name, bool given)
{
	if (given)
		option(t, name, NULL);
}

static void layout(struct text *t, const struct layout_options *o)
{
	char rows[2 * NUMBER_TEXT];

	if (o->last)
		option(t, "--channels", "last");
	else if (o->channels_text)
		number(t, "--channels", o->channels);
	if (o->record_text)
		number(t, "--record", o->record);
	if (o->offset_text)
		number(t, "--offset", o->offset);
	if (o->rows_text) {
		size_t used = number_format_count(rows, o->width);
		rows[used++] = ':';
		number_format_count(rows + used, o->pitch);
		option(t, "--rows", rows);
	}
}

int options_text(struct job *job, const struct given *g, struct fail *fail)
{
	struct text t = {.base = NULL};

	add(&t, "", 0);
	if (job->source.typed)
		option(&t, "--type", job->type.name);
	if (g->bins > 0)
		number(&t, "--bins", g->bins);
	for (enum axis_kind kind = 0; kind < AXIS_DEFAULT; kind++)
		if (g->way[kind])
			option(&t, options_ways[kind], *g->way[kind] ? g->way[kind] : NULL);
	flag(&t, "--clamp", job->axis.clamp);
	flag(&t, "--closed", job->axis.edges.closed);
	if (job->source.skip > 0)
		number(&t, "--skip", job->source.skip);
	if (job->source.limit != UINT64_MAX)
		number(&t, "--count", job->source.limit);
	layout(&t, &job->layout_options);
	flag(&t, "--ignore-tail", job->source.ignore_tail);
	flag(&t, "--raw", job->source.raw);
	flag(&t, "--zstd", job->source.zstd);
	flag(&t, "--stats", job->stats);
	if (t.failed) {
		free(t.base);
		errno = ENOMEM;
		return fail_errno(fail, "options");
	}
	job->options = t.base;
	return 0;
}
