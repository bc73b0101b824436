/* SPDX-License-Identifier: MIT */
/* document: one object after another made into histograms, each of one channel or of several. */
#include "document/document.h"

#include <stdlib.h>
#include <string.h>

#include "bins/layout.h"
#include "document/described.h"
#include "document/json_read.h"

struct documents {
	struct json_reader *reader;
	struct described alone; /* a histogram that is the document itself */
	/* those that are members of it, by their names ... */
	struct described channel[LAYOUT_CHANNELS_MAX];
	uint64_t named;  /* ... of which these exist, a bit each */
	uint64_t others; /* objects that are neither */
};

int documents_open(struct documents **out, const char *path, struct fail *fail)
{
	struct documents *const d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return fail_errno(fail, "documents");
	if (json_open(&d->reader, path, fail) != 0) {
		free(d);
		return -1;
	}
	*out = d;
	return 0;
}

static void forget(struct documents *d)
{
	described_free(&d->alone);
	for (uint32_t c = 0; c < LAYOUT_CHANNELS_MAX; c++)
		described_free(&d->channel[c]);
	d->alone = (struct described){0};
	memset(d->channel, 0, sizeof(d->channel));
	d->named = d->others = 0;
}

void documents_close(struct documents *d)
{
	if (!d)
		return;
	forget(d);
	json_close(d->reader);
	free(d);
}

/* The number in "channel12"; -1: it is not such a name. */
static int channel_of(const char *name)
{
	static const char PREFIX[] = "channel";
	const char *const digits = name + sizeof(PREFIX) - 1;
	uint64_t n;

	if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0 ||
	    (digits[0] == '0' && digits[1] != '\0') || number_parse_count(&n, digits) != 0 ||
	    n >= LAYOUT_CHANNELS_MAX)
		return -1;
	return (int)n;
}

/* Takes the members of a histogram, from its brace on. */
static int take_channel(struct json_reader *r, struct described *of, struct fail *fail)
{
	const char *name;
	int more, next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	of->at = json_offset(r);
	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0)
		if (described_member(of, r, name, fail) != 0)
			return -1;
	return more;
}

static int take_document(struct documents *d, struct fail *fail)
{
	struct json_reader *const r = d->reader;
	const char *name;
	int more, next;

	d->alone.at = json_offset(r);
	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0) {
		const int channel = channel_of(name);
		if (channel >= 0)
			d->named |= (uint64_t)1 << channel;
		if (json_peek(r, &next, fail) != 0)
			return -1;
		d->others += channel < 0 && next == '{';
		if (channel >= 0 ? take_channel(r, &d->channel[channel], fail) != 0
				 : described_member(&d->alone, r, name, fail) != 0)
			return -1;
	}
	return more;
}

/* Are both from one run, over one axis? */
static bool together(const struct described *a, const struct described *b)
{
	if (strcmp(a->type, b->type) != 0 || strcmp(a->binning, b->binning) != 0 ||
	    strcmp(a->range, b->range) != 0 || strcmp(a->options, b->options) != 0)
		return false;
	if (a->closed != b->closed || a->clamp != b->clamp || a->partial != b->partial ||
	    a->most != b->most || a->channels != b->channels || a->samples != b->samples ||
	    a->part != b->part || a->parts != b->parts)
		return false;
	if (a->state != b->state || strcmp(a->held ? a->held : "", b->held ? b->held : "") != 0)
		return false;
	if (a->bytes != b->bytes || a->skipped != b->skipped || a->tail != b->tail ||
	    a->inputs != b->inputs)
		return false;
	if (a->regular != b->regular || described_bins(a) != described_bins(b))
		return false;
	if (a->regular)
		return a->lower == b->lower && a->upper == b->upper;
	for (uint64_t i = 0; i < a->edge_count; i++)
		if (a->edges[i] != b->edges[i])
			return false;
	return true;
}

/* Channel c of the document, which has `channels`. */
static struct described *channel_at(struct documents *d, uint32_t c)
{
	return d->named != 0 ? &d->channel[c] : &d->alone;
}

static int check(struct documents *d, uint32_t *channels, struct fail *fail)
{
	struct described *const first = channel_at(d, 0);
	const struct described *const alone = &d->alone;
	const struct json_reader *const r = d->reader;
	uint32_t n = 1;

	if (d->named != 0 &&
	    (alone->schema_at | alone->metadata_at | alone->axes_at | alone->storage_at) != 0)
		return json_bad(r, alone->at, fail, "a histogram beside named ones");
	if (d->named == 0 && alone->schema_at == 0 && d->others > 0)
		return json_bad(r, alone->at, fail,
				"not a UHI histogram: it has no uhi_schema; histograms with names "
				"must be channel0, "
				"channel1 ...");
	while (d->named != 0 && n < LAYOUT_CHANNELS_MAX && d->named >> n != 0)
		n++;
	if (d->named != 0 && d->named != UINT64_MAX >> (64 - n))
		return json_bad(r, alone->at, fail, "a channel is missing");
	for (uint32_t c = 0; c < n; c++) {
		struct described *const of = channel_at(d, c);
		if (described_check(of, r, fail) != 0)
			return -1;
		if (of->foreign && d->named != 0)
			return json_bad(r, of->at, fail, "a channel that gpuhist did not write");
		if (of->channel != c || of->channels != n)
			return json_bad(r, of->metadata_at, fail,
					"channel %llu of %llu, where it is channel %lu of %lu",
					(unsigned long long)of->channel,
					(unsigned long long)of->channels, (unsigned long)c,
					(unsigned long)n);
		if (!together(first, of))
			return json_bad(r, of->at, fail,
					"a channel that is not of the same run as the first one");
	}
	if (first->samples > UINT64_MAX / n)
		return json_bad(r, first->metadata_at, fail, "more than 2^64 - 1 samples");
	*channels = n;
	return 0;
}

/*
 * Takes `under` off the counts of a channel. With --mod there is none: what was taken for it is the
 * first bin.
 */
static void take_first(struct described *of, bool mod)
{
	if (!mod)
		return;
	memmove(of->counts.rest + 1, of->counts.rest,
		(size_t)(of->counts.n - 2) * sizeof(*of->counts.rest));
	of->counts.rest[0] = of->counts.first;
}

/* Takes the counts of all channels. */
static int take_counts(struct documents *d, struct hist *h, struct fail *fail)
{
	const uint64_t bins = axis_bins(&h->axis);

	h->stride = (size_t)(channel_at(d, 0)->counts.n - 1);
	for (uint32_t c = 0; c < h->channels; c++) {
		struct described *const of = channel_at(d, c);
		take_first(of, h->axis.kind == AXIS_MOD);
		h->flow[c] = (struct hist_flow){of->under, of->over, of->nan};
		h->clamped[c] = of->clamped;
		h->samples += of->samples;
	}
	if (h->channels == 1) {
		h->count = channel_at(d, 0)->counts.rest;
		channel_at(d, 0)->counts.rest = NULL;
		return 0;
	}
	h->count = calloc(h->channels * h->stride, sizeof(*h->count));
	if (!h->count)
		return fail_errno(fail, "%s", d->reader->name);
	for (uint32_t c = 0; c < h->channels; c++) {
		struct described *const of = channel_at(d, c);
		memcpy(h->count + c * h->stride, of->counts.rest, (size_t)bins * sizeof(*h->count));
		free(of->counts.rest);
		of->counts.rest = NULL;
	}
	return 0;
}

/*
 * --auto: the first and the last bin must each hold a sample, of some channel, that was not clamped
 * into it. Says what is wrong, or NULL.
 */
static const char *impossible_ends(const struct hist *h)
{
	const uint32_t bins = axis_bins(&h->axis);
	bool first = false, last = false;

	for (uint32_t c = 0; c < h->channels; c++) {
		const struct hist_flow *const clamped = &h->clamped[c];
		const uint64_t at_first = bins > 0 ? hist_count(h, c, 0) : 0;
		const uint64_t at_last = bins > 1 ? hist_count(h, c, bins - 1) : at_first;
		/* With a single bin it holds both. */
		const uint64_t under = clamped->under, over = clamped->over,
			       both = bins > 1 ? 0 : over;
		if (under > at_first || both > at_first - under || over > at_last)
			return "more samples clamped to a bin than it holds";
		first = first || at_first > under + both;
		last = last || at_last > (bins > 1 ? over : under + over);
	}
	return (first && last) || bins == 0
		       ? NULL
		       : "a first or last bin that holds nothing, with binning \"auto\"";
}

/* What is wrong with counts that no run can produce. */
static const char *impossible(const struct hist *h)
{
	const struct hist_flow flow = hist_flow_sum(h);

	if (flow.nan > 0 && h->axis.type.kind != SAMPLE_FLOAT)
		return "NaN of integers";
	if ((flow.under > 0 || flow.over > 0) && h->axis.clamp && axis_bins(&h->axis) > 0)
		return "samples out of range, where they are clamped";
	return h->axis.kind == AXIS_AUTO ? impossible_ends(h) : NULL;
}

static int make(struct documents *d, struct document *document, struct fail *fail)
{
	struct described *const first = channel_at(d, 0);
	struct hist *const h = &document->hist;
	const char *why;

	if (check(d, &h->channels, fail) != 0 ||
	    described_axis(&h->axis, first, d->reader, fail) != 0)
		return -1;
	document->foreign = first->foreign;
	document->options = first->options;
	document->held = first->held;
	first->options = first->held = NULL;
	document->from = (struct provenance){
		.inputs = first->inputs,
		.bytes = first->bytes,
		.skipped = first->skipped,
		.tail = first->tail,
		.partial = first->partial,
		.part = (uint32_t)first->part,
		.parts = (uint32_t)first->parts,
		.state = first->state,
		.held = document->held,
		.options = document->options,
	};
	if (take_counts(d, h, fail) != 0)
		return -1;
	why = impossible(h);
	return why ? json_bad(d->reader, first->storage_at, fail, "%s", why) : 0;
}

int documents_next(struct documents *d, struct document *document, struct fail *fail)
{
	*document = (struct document){.options = NULL};
	int rc = json_document(d->reader, fail);

	if (rc <= 0)
		return rc;
	rc = take_document(d, fail) == 0 && make(d, document, fail) == 0 ? 1 : -1;
	forget(d);
	if (rc < 0) {
		document_free(document);
		*document = (struct document){.options = NULL};
	}
	return rc;
}

void document_free(struct document *document)
{
	hist_free(&document->hist);
	free(document->options);
	free(document->held);
	document->options = document->held = NULL;
}
