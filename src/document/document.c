/* SPDX-License-Identifier: MIT */
/*
 * document: from the values of a text to a histogram, and back for comparison.
 *
 * Only what determines a histogram is taken from the text: type, binning, range, the number of bins
 * or their edges, and what was counted. Everything else of the text follows from these, and is
 * compared with what write_json makes of them. So there is no second list of what a document has,
 * and no member that is overlooked; edges are compared as numbers, since listing them takes longer
 * than all the rest.
 */
#include "document/document.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bins/layout.h"
#include "document/json_read.h"

struct documents {
	struct json_reader *json;  /* what is read */
	struct output *head;       /* what write_json makes of it ... */
	struct json_reader *again; /* ... read, where the bytes are not the same; else NULL */
};

int documents_open(struct documents **out, const char *path, struct fail *fail)
{
	struct documents *const d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return fail_errno(fail, "documents");
	if (json_open(&d->json, path, fail) != 0 || output_open_memory(&d->head, fail) != 0) {
		documents_close(d);
		return -1;
	}
	*out = d;
	return 0;
}

void documents_close(struct documents *d)
{
	if (!d)
		return;
	json_close(d->json);
	json_close(d->again);
	output_abort(d->head);
	free(d);
}

void document_free(struct document *document)
{
	hist_free(&document->hist);
	free(document->options);
	document->options = NULL;
}

/* ---- values by their names ---- */

/* The histogram of a channel, whose values are being taken. */
struct channel {
	struct json_reader *json;
	char name[8 + NUMBER_TEXT]; /* "" where it is the document itself, or "channel3" */
	struct json_value *head;    /* its object; the values in it follow; NULL: there is none */
	struct json_value *end, *next; /* after the last, and after the one that was found last */
	struct fail *fail;
	bool failed; /* a value was not there, or of another kind; *fail says which */
};

static void select_channel(struct channel *of, bool named, uint32_t c)
{
	const struct json_value *const end = of->json->value + of->json->values;

	strcpy(of->name, named ? "channel" : "");
	if (named)
		number_format_count(of->name + strlen(of->name), c);
	const size_t length = strlen(of->name);
	of->head = json_find(of->json, of->name);
	if (!of->head)
		return;
	of->next = of->end = of->head + 1;
	while (of->end < end &&
	       (!named || (of->end->path_length > length && of->end->path[length] == '.' &&
			   memcmp(of->end->path, of->name, length) == 0)))
		of->end++;
}

/* NULL: there is none. Values are found fastest in the order of the document. */
static struct json_value *find(struct channel *of, const char *name)
{
	const size_t length = strlen(name), within = strlen(of->name) + (of->name[0] != '\0');
	struct json_value *v = of->next;

	for (ptrdiff_t n = of->head ? of->end - of->head - 1 : 0; n > 0; n--, v++) {
		v = v < of->end ? v : of->head + 1;
		if (v->path_length == within + length &&
		    memcmp(v->path + within, name, length) == 0) {
			of->next = v + 1;
			return v;
		}
	}
	return NULL;
}

/* NULL: there is none, or it is of another kind, and the channel has failed. */
static struct json_value *take(struct channel *of, const char *name, enum json_kind kind)
{
	struct json_value *const v = find(of, name);

	if (v && v->kind == kind)
		return v;
	of->failed = true;
	if (v)
		json_bad(of->json, v->at, of->fail, "\"%s\" is of another kind", v->path);
	else
		json_bad(of->json, of->json->begin, of->fail, "%s%sno \"%s\"", of->name,
			 of->name[0] != '\0' ? ": " : "", name);
	return NULL;
}

/* "" if it is not there. */
static const char *take_text(struct channel *of, const char *name)
{
	const struct json_value *const v = take(of, name, JSON_STRING);

	if (v && strlen(v->text) != v->length) {
		json_bad(of->json, v->at, of->fail, "\"%s\" has a zero byte", v->path);
		of->failed = true;
	}
	return v ? v->text : "";
}

static uint64_t take_count(struct channel *of, const char *name, uint64_t most)
{
	const struct json_value *const v = take(of, name, JSON_NUMERAL);
	struct number n;
	uint64_t count;

	if (!v)
		return 0;
	if (number_parse_count(&count, v->text) == 0 && count <= most)
		return count;
	if (number_parse(&n, v->text, v->length) == 0 && n.exact && n.integer >= 0 &&
	    n.integer <= (int128_t)most)
		return (uint64_t)n.integer;
	of->failed = true;
	json_bad(of->json, v->at, of->fail, "\"%s\" must be a whole number from 0 to %llu", v->path,
		 (unsigned long long)most);
	return 0;
}

static bool take_flag(struct channel *of, const char *name)
{
	const struct json_value *const v = take(of, name, JSON_WORD);

	return v && v->text[0] == 't';
}

/* ---- the axis ---- */

/* LO:HI; false: the text is not a range. */
static bool parse_range(struct edges_spec *spec, const char *range)
{
	const char *const colon = strchr(range, ':');

	return colon && number_parse(&spec->lo, range, (size_t)(colon - range)) == 0 &&
	       number_parse(&spec->hi, colon + 1, strlen(colon + 1)) == 0;
}

/* The kind that the metadata names; AXIS_DEFAULT: none. For bin = value it is a range. */
static enum axis_kind kind_of(const char *binning)
{
	enum axis_kind kind = AXIS_RANGE;

	while (kind < AXIS_DEFAULT && strcmp(binning, axis_kind_name(kind)) != 0)
		kind++;
	return kind;
}

/* The key (binning.h) of a number that the float type, or binary32 if it is shorter, can hold. */
static uint64_t float_key(const struct sample_type *type, double x)
{
	const float narrow = type->bytes < 8 ? (float)x : 0;
	uint64_t bits = 0;
	uint32_t low;

	memcpy(&low, &narrow, sizeof(low));
	if (type->bytes < 8)
		return low >> 31 ? ~low : low | (uint32_t)1 << 31;
	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* The least and the greatest sample that there may be in the range; false: it is not the type's. */
static bool extent_of(struct extent *extent, const struct sample_type *type,
		      const struct edges_spec *range)
{
	const int128_t lo = range->lo.integer, hi = range->hi.integer, min = sample_min(type);

	if (type->kind != SAMPLE_FLOAT) {
		if (!range->lo.exact || !range->hi.exact || lo < min || hi > sample_max(type) + 1)
			return false;
		*extent = (struct extent){(uint64_t)(lo - min), (uint64_t)(hi - 1 - min)};
		return lo < hi;
	}
	/* A bin may begin below the least number and end above the greatest. */
	const double most = sample_max_finite(type), least = fmax(range->lo.value, -most),
		     past = range->hi.value;
	if (least > most || past <= -most)
		return false;
	const double before = past > most       ? most
			      : type->bytes < 8 ? (double)nextafterf((float)past, -FLT_MAX)
						: nextafter(past, -DBL_MAX);
	*extent = (struct extent){float_key(type, least), float_key(type, before)};
	return true;
}

/*
 * --auto: the bins of all samples that the range may hold, which are those of the samples that it
 * did hold: at a smaller k either span too many bins. Of f64, an end of 2^1024 is written as the
 * greatest number (write_json.c), so that may be a sample.
 */
static bool place(struct axis *axis, const struct edges_spec *range, uint32_t bins)
{
	struct extent extent = EXTENT_NONE;
	uint32_t slot;

	if (bins > 0 && !extent_of(&extent, &axis->type, range))
		return false;
	edges_settle(&axis->edges, &axis->type, &extent, &slot);
	if (axis_bins(axis) == bins || axis->type.bytes < 8 || range->hi.value != DBL_MAX)
		return axis_bins(axis) == bins;
	extent.greatest = float_key(&axis->type, DBL_MAX);
	edges_settle(&axis->edges, &axis->type, &extent, &slot);
	return axis_bins(axis) == bins;
}

/*
 * Makes the axis that the metadata describe, with so many bins. The range is the text of the first
 * and the last edge, exact for integers: that and the number of bins is all that --range, --log and
 * --mod need; --edges takes the listed edges. -1: *why says what is wrong.
 */
static int make_axis(struct axis *axis, struct channel *of, uint64_t bins,
		     const struct json_value *edges, const char **why)
{
	struct axis_spec spec = {.edges = {.definition = true}};
	struct edges_spec *const e = &spec.edges;
	struct sample_type type;

	e->kind = kind_of(take_text(of, "metadata.binning"));
	e->closed = take_flag(of, "metadata.closed");
	spec.clamp = take_flag(of, "metadata.clamp");
	e->bins =
		(uint32_t)(e->kind == AXIS_AUTO ? take_count(of, "metadata.most", BINS_MAX) : bins);
	e->list = edges ? edges->reals : NULL;
	*why = "a type that is not known";
	if (sample_type_parse(&type, take_text(of, "metadata.type")) != 0)
		return -1;
	*why = "a binning that is not known";
	if (e->kind == AXIS_DEFAULT)
		return -1;
	*why = "a range that is not LO:HI";
	if (bins > 0 && !parse_range(e, take_text(of, "metadata.range")))
		return -1;
	*why = "a number of bins that such an axis does not have";
	if (e->bins < 1 || (e->kind == AXIS_LOG && bins > BINS_LOG_MAX) ||
	    (e->kind == AXIS_EDGES && !edges))
		return -1;
	if (of->failed || axis_init(axis, &spec, &type, why) != 0)
		return -1;
	*why = "bins that --auto does not make of any samples";
	if (e->kind != AXIS_AUTO || place(axis, e, (uint32_t)bins))
		return 0;
	edges_free(&axis->edges);
	return -1;
}

/* The axis of all channels, and how its edges are given. */
static int take_axis(struct hist *h, enum json_edges *how, struct channel *of)
{
	const struct json_value *const edges = find(of, "axes.0.edges");
	const char *why;

	*how = edges ? JSON_EDGES_LEFT_OUT : JSON_EDGES_REGULAR;
	const uint64_t bins = !edges ? take_count(of, "axes.0.bins", BINS_MAX)
			      : take(of, "axes.0.edges", JSON_REALS) && edges->n > 1 ? edges->n - 1
										     : 0;
	/* A counter is known by a number of 32 bits (count.c). */
	if (of->failed || (edges && bins == 0) || (bins + CELL_EXTRA) * h->channels > UINT32_MAX)
		return json_bad(of->json, of->json->begin, of->fail, "an axis of %llu bins",
				(unsigned long long)bins);
	h->stride = (size_t)bins;
	if (make_axis(&h->axis, of, bins, edges, &why) == 0)
		return 0;
	h->axis = (struct axis){.kind = AXIS_DEFAULT}; /* nothing is to be freed */
	return why == edges_no_memory
		       ? fail_set(of->fail, STATUS_SYSTEM, "%s: %s", of->json->name, why)
		       : json_bad(of->json, of->json->begin, of->fail, "%s", why);
}

/* ---- what was counted ---- */

static void take_flow(struct hist *h, uint32_t c, struct channel *of)
{
	h->flow[c] = (struct hist_flow){take_count(of, "metadata.under", UINT64_MAX),
					take_count(of, "metadata.over", UINT64_MAX),
					take_count(of, "metadata.nan", UINT64_MAX)};
	if (h->axis.kind == AXIS_AUTO && h->axis.clamp)
		h->clamped[c] =
			(struct hist_flow){take_count(of, "metadata.clamped_under", UINT64_MAX),
					   take_count(of, "metadata.clamped_over", UINT64_MAX), 0};
}

/* What is said of all inputs and channels together. */
static int take_provenance(struct document *document, struct channel *of)
{
	static const char DIGITS[] = "0123456789abcdef";
	struct provenance *const from = &document->from;

	from->bytes = take_count(of, "metadata.bytes", UINT64_MAX);
	from->skipped = take_count(of, "metadata.skipped", UINT64_MAX);
	from->tail = take_count(of, "metadata.tail", UINT64_MAX);
	from->inputs = take_count(of, "metadata.inputs", UINT64_MAX);
	from->part = (uint32_t)take_count(of, "metadata.part", UINT32_MAX);
	from->parts = (uint32_t)take_count(of, "metadata.parts", UINT32_MAX);
	from->partial = find(of, "metadata.partial") && take_flag(of, "metadata.partial");
	if (find(of, "metadata.inputs_state")) {
		const char *const state = take_text(of, "metadata.inputs_state");
		if (strspn(state, DIGITS) == strlen(state) && strlen(state) == 16)
			from->state = strtoull(state, NULL, 16);
	}
	document->options = strdup(take_text(of, "metadata.options"));
	if (!document->options)
		return fail_errno(of->fail, "%s", of->json->name);
	from->options = document->options;
	if (from->part >= 1 && from->part <= from->parts)
		return 0;
	return json_bad(of->json, of->json->begin, of->fail, "part %lu of %lu",
			(unsigned long)from->part, (unsigned long)from->parts);
}

static uint64_t number_at(const struct json_value *v, uint64_t i)
{
	return i == 0 ? v->first : v->counts[i - 1];
}

/* Of a sparse storage: entry i of under, the bins and over is given at index i, and 0 elsewhere. */
static int spread(struct hist *h, uint32_t c, struct hist_flow *listed, struct channel *of,
		  const struct json_value *values)
{
	struct json_value *const rows = take(of, "storage.index", JSON_ARRAY);
	struct json_value *const index = take(of, "storage.index.0", JSON_COUNTS);
	const uint64_t first = h->axis.kind != AXIS_MOD, over = axis_bins(&h->axis) + first;

	if (of->failed)
		return -1;
	rows->used = index->used = true;
	if (rows->n != 1 || index->n != values->n)
		return json_bad(of->json, rows->at, of->fail,
				"%llu values, where the index has %llu places of %llu axes",
				(unsigned long long)values->n, (unsigned long long)index->n,
				(unsigned long long)rows->n);
	for (uint64_t i = 0; i < index->n; i++) {
		const uint64_t place = number_at(index, i), n = number_at(values, i);
		if (place > over || (i > 0 && place <= number_at(index, i - 1)))
			return json_bad(of->json, index->at, of->fail,
					"the places in its index must rise, from 0 to %llu at most",
					(unsigned long long)over);
		if (place == over)
			listed->over = n;
		else if (place < first)
			listed->under = n;
		else
			h->count[c * h->stride + place - first] = n;
	}
	return 0;
}

/* Takes the counts of all bins, under and over as they are listed; with --mod there is no under. */
static void take_listed(struct hist *h, uint32_t c, struct hist_flow *listed,
			struct json_value *values)
{
	const uint64_t bins = axis_bins(&h->axis), first = h->axis.kind != AXIS_MOD;

	listed->under = first ? values->first : 0;
	listed->over = number_at(values, values->n - 1);
	uint64_t *const from = values->counts;
	/* The counts of one channel are taken as they are. */
	if (!h->count) {
		h->count = from;
		values->counts = NULL;
	}
	uint64_t *const to = h->count + c * h->stride;
	if (to != from || !first)
		memmove(to + !first, from, (size_t)(bins - !first) * sizeof(*to));
	if (!first)
		to[0] = values->first;
}

/* Takes the counts of a channel, which with NaN must add up to its samples. */
static int take_counts(struct hist *h, uint32_t c, uint64_t samples, struct channel *of)
{
	struct json_value *const values = take(of, "storage.values", JSON_COUNTS);
	const bool sparse = find(of, "storage.index"), mod = h->axis.kind == AXIS_MOD;
	const uint64_t bins = axis_bins(&h->axis), places = bins + (mod ? 1 : 2);
	struct hist_flow listed = {0};

	if (!values)
		return -1;
	values->used = true;
	if (!sparse && values->n != places)
		return json_bad(of->json, values->at, of->fail,
				"%llu values, where the axis has %llu",
				(unsigned long long)values->n, (unsigned long long)places);
	/* One more, so that the size is never 0. */
	if (!h->count && (sparse || h->channels > 1)) {
		h->count = calloc(h->channels * h->stride + 1, sizeof(*h->count));
		if (!h->count)
			return fail_errno(of->fail, "%s", of->json->name);
	}
	if (!sparse)
		take_listed(h, c, &listed, values);
	else if (spread(h, c, &listed, of, values) != 0)
		return -1;
	if (listed.under != h->flow[c].under || listed.over != h->flow[c].over)
		return json_bad(of->json, values->at, of->fail,
				"its under and over are not those of the metadata");
	uint64_t sum = h->flow[c].nan + listed.under;
	bool wrapped = sum < listed.under;
	const uint64_t *const count = h->count + c * h->stride;
	for (uint64_t i = 0; i < bins; i++) {
		sum += count[i];
		wrapped |= sum < count[i];
	}
	sum += listed.over;
	wrapped |= sum < listed.over;
	if (!wrapped && sum == samples)
		return 0;
	return json_bad(of->json, values->at, of->fail,
			"bins, under, over and NaN are not the %llu samples together",
			(unsigned long long)samples);
}

/* What is wrong with counts that no run can produce, or NULL. */
static const char *impossible(const struct hist *h)
{
	const struct hist_flow flow = hist_flow_sum(h);
	const uint32_t bins = axis_bins(&h->axis);

	if (flow.nan > 0 && h->axis.type.kind != SAMPLE_FLOAT)
		return "NaN of integers";
	if ((flow.under > 0 || flow.over > 0) && h->axis.clamp && bins > 0)
		return "samples out of range, where they are clamped";
	for (uint32_t c = 0; c < h->channels && bins > 0; c++) {
		const uint64_t under = h->clamped[c].under, over = h->clamped[c].over,
			       first = hist_count(h, c, 0), last = hist_count(h, c, bins - 1);
		/* A single bin holds both. */
		if (under > first || over > last || (bins == 1 && over > first - under))
			return "more samples clamped to a bin than it holds";
	}
	return NULL;
}

/* ---- the same again ---- */

static bool same_edges(const struct json_value *v, const struct axis *axis)
{
	if (v->n != (uint64_t)axis_bins(axis) + 1)
		return false;
	for (uint32_t i = 0; i <= axis_bins(axis); i++) {
		const double x = edges_value(&axis->edges, i);
		if (v->reals[i] != (isinf(x) ? copysign(DBL_MAX, x) : x))
			return false;
	}
	return true;
}

/* A tool may make doubles of numbers; counts must be the same to the last digit, edges need not. */
static bool same_numbers(const struct json_value *v, const struct json_value *made)
{
	struct number a, b;

	if (strcmp(v->text, made->text) == 0)
		return true;
	return number_parse(&a, v->text, v->length) == 0 &&
	       number_parse(&b, made->text, made->length) == 0 && a.value == b.value &&
	       (!a.exact || !b.exact || a.integer == b.integer || strstr(v->path, "axes.0."));
}

/* Is the value what write_json makes of the histogram? */
static bool same(const struct json_value *v, const struct json_value *made, const struct axis *axis)
{
	switch (v->kind) {
	case JSON_REALS:
		return same_edges(v, axis);
	case JSON_NUMERAL:
		return same_numbers(v, made);
	case JSON_ARRAY:
		return v->n == made->n;
	case JSON_COUNTS:
		return true; /* they were taken */
	default:
		return v->length == made->length && memcmp(v->text, made->text, v->length) == 0;
	}
}

/* Does a channel begin with these bytes, as it does unless another program has written it? */
static bool begins_with(struct channel *of, const char *text, size_t bytes)
{
	const struct json_value *const head = of->head;

	if (bytes > head->length || memcmp(head->text, text, bytes) != 0)
		return false;
	for (struct json_value *v = of->head + 1; v < of->end && v->at < head->at + bytes; v++)
		v->used = true;
	return true;
}

/* Compares a channel with what write_json makes of it. */
static int compare(struct documents *d, const struct document *document, uint32_t c,
		   enum json_edges how, struct channel *of)
{
	static const char END[] = "\"values\": []}}";
	struct provenance from = document->from;
	size_t bytes;

	if (strlen(document->options) > JSON_HEAD)
		from.options = NULL;
	write_json_head(d->head, &document->hist, c, &from, how);
	output_text(d->head, END);
	const char *const text = output_taken(d->head, &bytes);
	if (begins_with(of, text, bytes - (sizeof(END) - 1)))
		return 0;
	if (!d->again && json_open(&d->again, NULL, of->fail) != 0)
		return -1;
	if (json_reread(d->again, text, bytes, of->fail) <= 0)
		return -1;
	for (size_t i = 0; i < d->again->values; i++) {
		const struct json_value *const made = &d->again->value[i];
		if (made->kind == JSON_OBJECT)
			continue;
		struct json_value *const v = take(of, made->path, made->kind);
		if (!v)
			return -1;
		v->used = true;
		/* Which version wrote it makes no difference. */
		if (same(v, made, &document->hist.axis) || strstr(made->path, "version") ||
		    strcmp(made->path, "metadata.options") == 0)
			continue;
		if (v->kind > JSON_NUMERAL)
			return json_bad(d->json, v->at, of->fail,
					"\"%s\" is not that of the metadata", v->path);
		return json_bad(d->json, v->at, of->fail, "\"%s\" is %.60s, not %.60s", v->path,
				v->text, made->text);
	}
	return 0;
}

/* What write_json has not made may be statistics, which cannot be added, and nothing else. */
static int check_rest(struct json_reader *json, struct fail *fail)
{
	for (size_t i = 0; i < json->values; i++) {
		const struct json_value *const v = &json->value[i];
		if (!v->used && v->kind != JSON_OBJECT && !strstr(v->path, "metadata.stats_"))
			return json_bad(json, v->at, fail, "\"%s\" is not of gpuhist", v->path);
	}
	return 0;
}

/* ---- documents ---- */

/* The first channel says how many there are, and what is the same for all. */
static int take_document(struct documents *d, struct document *document, struct fail *fail)
{
	const bool named = json_find(d->json, "channel0.uhi_schema");
	struct channel of = {.json = d->json, .fail = fail};
	struct hist *const h = &document->hist;
	enum json_edges how;

	select_channel(&of, named, 0);
	if (!find(&of, "uhi_schema"))
		return json_bad(d->json, d->json->begin, fail,
				"not a UHI histogram: it has no uhi_schema");
	if (!find(&of, "writer_info.gpuhist.version"))
		return json_bad(d->json, d->json->begin, fail, "gpuhist did not write it");
	const uint64_t channels = take_count(&of, "metadata.channels", LAYOUT_CHANNELS_MAX),
		       samples = take_count(&of, "metadata.samples", UINT64_MAX);
	if (of.failed)
		return -1;
	if (channels < 1 || (!named && channels > 1) || samples > UINT64_MAX / channels)
		return json_bad(d->json, d->json->begin, fail, "%llu channels of %llu samples",
				(unsigned long long)channels, (unsigned long long)samples);
	h->channels = (uint32_t)channels;
	h->samples = channels * samples;
	if (take_axis(h, &how, &of) != 0 || take_provenance(document, &of) != 0)
		return -1;
	for (uint32_t c = 0; c < h->channels; c++) {
		select_channel(&of, named, c);
		take_flow(h, c, &of);
		if (of.failed || compare(d, document, c, how, &of) != 0 ||
		    take_counts(h, c, samples, &of) != 0)
			return -1;
	}
	const char *const why = impossible(h);
	return why ? json_bad(d->json, d->json->begin, fail, "%s", why) : check_rest(d->json, fail);
}

int documents_next(struct documents *d, struct document *document, struct fail *fail)
{
	*document = (struct document){.options = NULL};
	int rc = json_next(d->json, fail);

	if (rc > 0 && take_document(d, document, fail) != 0)
		rc = -1;
	if (rc < 0) {
		document_free(document);
		*document = (struct document){.options = NULL};
	}
	return rc;
}
