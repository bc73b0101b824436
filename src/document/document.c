/* SPDX-License-Identifier: MIT */
/*
 * document: from a text to a histogram, and back for comparison.
 *
 * A document is read as it is written: its head, which is all up to the counts, then the counts.
 * Only what determines a histogram is taken from the head, by the names of members: type, binning,
 * range, the number of bins or their edges, and what was counted. Then write_json makes a head of
 * these, and the two must be the same, token by token. So there is no second list of what a
 * document has, no member that is overlooked, and nothing that was taken from the wrong place or
 * read with little care is believed.
 */
#include "document/document.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "document/json.h"

#define HEAD 256u                             /* more tokens than a head without statistics has */
#define STATISTICS (3u * QUANTILES_MAX + 12u) /* the most that a channel has */

struct documents {
	struct json in;
	struct json_token head[HEAD]; /* of the channel that is being read */
	size_t tokens;                /* how many tokens are in head */
	size_t compared;              /* how many tokens of head were compared */
	size_t stats[STATISTICS];     /* offsets of the names of its statistics in in.text */
	double *edges;                /* the edges that the head lists; NULL: none */
	size_t edge_count;            /* how many edges the head lists */
	struct output *out;           /* what should be in the document */
	struct json written;          /* the tokens of what should be there */
};

int documents_open(struct documents **out, const char *path, struct fail *fail)
{
	struct documents *const d = *out = calloc(1, sizeof(*d));

	if (!d)
		return fail_errno(fail, "documents");
	if (json_open(&d->in, path, fail) == 0 && output_open_memory(&d->out, fail) == 0)
		return 0;
	documents_close(d);
	*out = NULL;
	return -1;
}

void documents_close(struct documents *d)
{
	if (!d)
		return;
	json_close(&d->in);
	free(d->edges);
	output_abort(d->out);
	free(d->written.text);
	free(d);
}

void document_free(struct document *document)
{
	hist_free(&document->hist);
	free(document->options);
	free(document->row_of);
	*document = (struct document){.options = NULL};
}

/* ---- the head ---- */

static bool is(const struct json *json, const struct json_token *token, const char *text)
{
	return strcmp(json->text + token->text, text) == 0;
}

/* Reads the head of channel c up to the bracket of "values" or "index"; edges go to d->edges. */
static int read_head(struct documents *d, uint32_t c, struct fail *fail)
{
	struct json *const in = &d->in;
	const struct json_token *const begin = d->head;
	const struct json_token *name = begin; /* of the last member */
	bool counted = false;                  /* "samples" was read: statistics follow it */
	size_t stats = 0;

	free(d->edges);
	d->edges = NULL;
	for (in->used = d->tokens = d->compared = 0; d->tokens < HEAD;) {
		struct json_token *const t = &d->head[d->tokens++];
		const int rc = json_token(in, t, fail);
		if (rc <= 0)
			return rc < 0 ? rc : json_unexpected(in, "a value", fail);
		if (c == 0 && t == begin + 1 &&
		    (t->kind != JSON_STRING ||
		     (!is(in, t, "uhi_schema") && !is(in, t, "channel0"))))
			return json_bad(in, in->begin, fail,
					"not a UHI histogram: it does not begin with uhi_schema");
		if (t->kind == ':' && t > begin && t[-1].kind == JSON_STRING) {
			name = t - 1;
			counted |= is(in, name, "samples");
			if (is(in, name, "values") || is(in, name, "index"))
				return 0;
		} else if (t->kind == '[' && t == name + 2 && is(in, name, "edges") && !d->edges) {
			d->edges = json_list(in, JSON_REALS, &d->edge_count, fail);
			if (!d->edges)
				return -1;
		} else if (t->kind == ',' && t == name + 3 && counted && name[-1].kind == ',' &&
			   name[1].kind == ':' && t[-1].kind == JSON_NUMERAL &&
			   strncmp(in->text + name->text, "stats_", 6) == 0) {
			/* Statistics are left out, because they cannot be added. */
			for (size_t i = 0; i < stats; i++)
				if (is(in, name, in->text + d->stats[i]))
					return json_bad(in, name->at, fail, "\"%.60s\" twice",
							in->text + name->text);
			if (stats == STATISTICS)
				return json_bad(in, name->at, fail, "more than %u statistics",
						STATISTICS);
			d->stats[stats++] = name->text;
			d->tokens -= 4;
		}
	}
	return json_bad(in, in->begin, fail, "more than %u tokens before the counts", HEAD);
}

/* The value of the first member of this name; NULL: there is none. */
static const struct json_token *find_member(const struct documents *d, const char *name)
{
	const size_t length = strlen(name);

	for (const struct json_token *t = d->head; t + 2 < d->head + d->tokens; t++)
		if (t[1].kind == ':' && t->length == length &&
		    memcmp(d->in.text + t->text, name, length) == 0)
			return t + 2;
	return NULL;
}

/* The text of the first member of this name; "": there is none. */
static const char *text_of(const struct documents *d, const char *name)
{
	const struct json_token *const v = find_member(d, name);

	return v ? d->in.text + v->text : "";
}

static bool is_sparse(const struct documents *d)
{
	return is(&d->in, &d->head[d->tokens - 2], "index");
}

static bool flag_of(const struct documents *d, const char *name)
{
	return text_of(d, name)[0] == 't';
}

/* The count of a member. If it is missing or no count up to `most`, *fail says so. */
static uint64_t count_of(const struct documents *d, const char *name, uint64_t most,
			 struct fail *fail)
{
	const struct json_token *const v = find_member(d, name);
	uint64_t count;

	if (!v) {
		json_bad(&d->in, d->in.begin, fail, "no \"%s\"", name);
		return 0;
	}
	if (number_parse_count(&count, d->in.text + v->text) == 0 && count <= most)
		return count;
	json_bad(&d->in, v->at, fail,
		 "\"%s\" must be a whole number from 0 to %llu, of digits alone", name,
		 (unsigned long long)most);
	return 0;
}

/* Takes the next token of what was written if it is the same bytes as this one. */
static bool take_same(struct json *written, const struct json *in, const struct json_token *token)
{
	const char *const text = in->text + token->text;
	const size_t n = token->length, quote = token->kind == JSON_STRING;
	unsigned char *const p = written->at + (*written->at == ' ') + quote;

	if (p + n >= written->end || memcmp(p, text, n) != 0)
		return false;
	if (quote && (p[-1] != '"' || p[n] != '"'))
		return false;
	if (token->kind == JSON_NUMERAL && p[n] != ',')
		return false;
	written->at = p + n + quote;
	return true;
}

/*
 * Are the next tokens those that were written, but for the spelling of texts and edges? Which
 * version wrote a document makes no difference, and options may be too long to be written again.
 */
static int expect(struct documents *d, struct fail *fail)
{
	struct json *const in = &d->in, *const written = &d->written;
	struct json_token want, got, before = {0}, name = {0};
	size_t bytes;
	int rc;

	output_write(d->out, "", 1);
	written->at = written->buffer = (unsigned char *)output_taken(d->out, &bytes);
	written->end = written->buffer + bytes - 1;
	written->ended = true;
	for (; written->at < written->end; before = got) {
		if (d->compared < d->tokens)
			got = d->head[d->compared++];
		else if ((rc = json_token(in, &got, fail)) <= 0)
			return rc < 0 ? rc : json_unexpected(in, "more of a histogram", fail);
		if (got.kind == ':')
			name = before;
		if (take_same(written, in, &got))
			continue;
		written->used = 0;
		if (json_token(written, &want, fail) < 0)
			return -1;
		const char *const found = in->text + got.text,
				  *const other = written->text + want.text,
				  *const member = in->text + name.text;
		const bool value = before.kind == ':';
		if (got.kind == want.kind &&
		    ((got.length == want.length && memcmp(found, other, got.length) == 0) ||
		     (got.kind == JSON_NUMERAL &&
		      (strcmp(member, "lower") == 0 || strcmp(member, "upper") == 0) &&
		      strtod(found, NULL) == strtod(other, NULL)) ||
		     (value && (strcmp(member, "version") == 0 || strcmp(member, "options") == 0))))
			continue;
		if (value && got.kind != want.kind)
			return json_bad(in, got.at, fail, "\"%s\" is of another kind", member);
		if (value)
			return json_bad(in, got.at, fail, "\"%s\" is %.60s, not %.60s", member,
					found, other);
		return json_bad(in, got.at, fail, "'%.60s' expected, not '%.60s'", other, found);
	}
	return 0;
}

/* Is the head what write_json makes of the histogram, up to the bracket before its numbers? */
static int check_head(struct documents *d, const struct document *document, uint32_t c,
		      struct fail *fail)
{
	const struct hist *const h = &document->hist;
	struct provenance from = document->from;

	from.options = NULL;
	if (find_member(d, "tensor")) {
		from.tensor = text_of(d, "tensor");
		from.shape = text_of(d, "shape");
	}
	if (h->channels > 1)
		output_print(d->out, "%s\"channel%u\": ", c > 0 ? ", " : "{", c);
	write_json_head(d->out, h, c, &from, d->edges ? JSON_EDGES_LEFT_OUT : JSON_EDGES_REGULAR);
	output_text(d->out, is_sparse(d) ? "\"index\": [[" : "\"values\": [");
	if (expect(d, fail) != 0)
		return -1;
	if (!d->edges)
		return 0;
	const uint32_t bins = axis_bins(&h->axis);
	bool equal = d->edge_count == (size_t)bins + 1;
	for (uint32_t i = 0; i <= bins && equal; i++) {
		const double x = edges_value(&h->axis.edges, i);
		equal = d->edges[i] == (isinf(x) ? copysign(DBL_MAX, x) : x);
	}
	return equal ? 0
		     : json_bad(&d->in, find_member(d, "edges")->at, fail,
				"\"edges\" is not that of the metadata");
}

/* ---- the axis ---- */

/* LO:HI; false: the text is not a range. */
static bool parse_range(struct edges_spec *spec, const char *range)
{
	const char *const colon = strchr(range, ':');

	return colon && number_parse(&spec->lo, range, (size_t)(colon - range)) == 0 &&
	       number_parse(&spec->hi, colon + 1, strlen(colon + 1)) == 0;
}

/* The kind of bins with this name; AXIS_DEFAULT: none. AXIS_VALUES has the name of AXIS_RANGE. */
static enum axis_kind kind_of(const char *binning)
{
	enum axis_kind kind = AXIS_RANGE;

	while (kind < AXIS_DEFAULT && strcmp(binning, AXIS_KINDS[kind].name) != 0)
		kind++;
	return kind;
}

/* The least and the greatest sample that the range can hold; false: the type has no such range. */
static bool extent_of(struct extent *extent, const struct sample_type *type,
		      const struct edges_spec *range)
{
	const int128_t lo = range->lo.integer, hi = range->hi.integer, min = sample_min(type);

	if (type->kind != SAMPLE_FLOAT) {
		*extent = (struct extent){(uint64_t)(lo - min), (uint64_t)(hi - 1 - min)};
		return range->lo.exact && range->hi.exact && min <= lo && lo < hi &&
		       hi <= sample_max(type) + 1;
	}
	/* A bin may begin below the least number and end above the greatest. */
	const double most = sample_max_finite(type), least = fmax(range->lo.value, -most),
		     past = range->hi.value;
	if (least > most || past <= -most)
		return false;
	/* The greatest number below an end at 0 is the one before -0. */
	*extent = (struct extent){sample_key(type, least),
				  past > most ? sample_key(type, most)
					      : sample_key(type, past == 0 ? -0.0 : past) - 1};
	return true;
}

/*
 * Sets the bins of --auto or --log=auto to those of all samples that the range can hold. They are
 * the bins of the samples that it did hold: at a smaller k both span too many bins. For f64, an end
 * of 2^1024 is written as the greatest number (write_json.c), so that number may be a sample.
 */
static bool place(struct axis *axis, const struct edges_spec *range, uint32_t bins)
{
	struct extent extent = EXTENT_NONE;

	if (bins > 0 && !extent_of(&extent, &axis->type, range))
		return false;
	edges_settle(&axis->edges, &extent);
	if (axis_bins(axis) == bins || axis->type.bits < 64 || range->hi.value != DBL_MAX)
		return axis_bins(axis) == bins;
	extent.greatest = sample_key(&axis->type, DBL_MAX);
	edges_settle(&axis->edges, &extent);
	return axis_bins(axis) == bins;
}

/*
 * Makes the axis that the metadata describe, with `bins` bins. The range is the text of the first
 * and the last edge, exact for integers: that and the number of bins is all that --range, --log and
 * --mod need; --edges takes the listed edges. Returns what is wrong, or NULL.
 */
static const char *make_axis(struct axis *axis, const struct documents *d, uint64_t bins,
			     struct fail *fail)
{
	struct axis_spec spec = {.edges = {.kind = kind_of(text_of(d, "binning")),
					   .bins = (uint32_t)bins,
					   .closed = flag_of(d, "closed"),
					   .list = d->edges,
					   .definition = true},
				 .clamp = flag_of(d, "clamp")};
	struct edges_spec *const e = &spec.edges;
	struct sample_type type;
	struct axis made;
	const char *why;

	if (e->kind < AXIS_DEFAULT && AXIS_KINDS[e->kind].from_samples)
		e->bins = (uint32_t)count_of(d, "most", BINS_MAX, fail);
	if (sample_type_parse(&type, text_of(d, "type")) != 0)
		return "a type that is not known";
	if (e->kind == AXIS_DEFAULT)
		return "a binning that is not known";
	if (bins > 0 && !parse_range(e, text_of(d, "range")))
		return "a range that is not LO:HI";
	if (e->bins < 1 || bins > AXIS_KINDS[e->kind].most || (e->kind == AXIS_EDGES && !d->edges))
		return "a number of bins that such an axis does not have";
	if (axis_init(&made, &spec, &type, &why) != 0)
		return why;
	*axis = made;
	return !axis_kind_of(axis)->from_samples || place(axis, e, (uint32_t)bins) ? NULL
	       : e->kind == AXIS_AUTO ? "bins that --auto does not make of any samples"
				      : "bins that --log=auto does not make of any samples";
}

/* ---- what is said once, of all channels ---- */

static int take_whole(struct documents *d, struct document *document, struct fail *fail)
{
	struct provenance *const from = &document->from;
	struct hist *const h = &document->hist;
	const struct json *const in = &d->in;
	const struct json_token *const options = find_member(d, "options");
	const struct json_token *const metadata = find_member(d, "metadata");

	if (!find_member(d, "gpuhist") || !metadata || find_member(d, "axes") < metadata)
		return json_bad(in, in->begin, fail,
				"gpuhist did not write it, or another program changed it");
	h->channels = (uint32_t)count_of(d, "channels", LAYOUT_CHANNELS_MAX, fail);
	const uint64_t samples = count_of(d, "samples", UINT64_MAX, fail);
	*from = (struct provenance){
		.inputs = count_of(d, "inputs", UINT64_MAX, fail),
		.bytes = count_of(d, "bytes", UINT64_MAX, fail),
		.skipped = count_of(d, "skipped", UINT64_MAX, fail),
		.tail = count_of(d, "tail", UINT64_MAX, fail),
		.partial = find_member(d, "partial"),
		.part = (uint32_t)count_of(d, "part", UINT32_MAX, fail),
		.parts = (uint32_t)count_of(d, "parts", UINT32_MAX, fail),
		.state = strtoull(text_of(d, "inputs_state"), NULL, 16),
	};
	if (find_member(d, "row_of")) {
		from->row_first = count_of(d, "row_first", UINT64_MAX, fail);
		from->row_records = count_of(d, "row_records", UINT64_MAX, fail);
		from->row_of = document->row_of = strdup(text_of(d, "row_of"));
		if (!from->row_of)
			return fail_errno(fail, "%s", in->name);
	}
	const uint64_t bins = !d->edges       ? count_of(d, "bins", BINS_MAX, fail)
			      : d->edge_count ? d->edge_count - 1
					      : 0;
	if (fail->status != STATUS_OK)
		return -1;
	if (h->channels < 1 || samples > UINT64_MAX / h->channels)
		return json_bad(in, in->begin, fail, "%lu channels of %llu samples",
				(unsigned long)h->channels, (unsigned long long)samples);
	if (from->part < 1 || from->part > from->parts)
		return json_bad(in, in->begin, fail, "part %lu of %lu", (unsigned long)from->part,
				(unsigned long)from->parts);
	/* A counter is known by a number of 32 bits (count.c). */
	if ((d->edges && bins == 0) || (bins + CELL_EXTRA) * h->channels > UINT32_MAX)
		return json_bad(in, in->begin, fail, "an axis of %llu bins",
				(unsigned long long)bins);
	h->samples = h->channels * samples;
	h->stride = (size_t)bins + 1; /* room for over, when all is listed */
	const char *const why = make_axis(&h->axis, d, bins, fail);
	if (why == edges_no_memory)
		return fail_set(fail, STATUS_SYSTEM, "%s: %s", in->name, why);
	if (why)
		return json_bad(in, in->begin, fail, "%s", why);
	document->options = strdup(text_of(d, "options"));
	if (!document->options)
		return fail_errno(fail, "%s", in->name);
	from->options = document->options;
	if (options && strlen(document->options) != options->length)
		return json_bad(in, options->at, fail, "\"options\" has a zero byte");
	return 0;
}

/* ---- the counts of a channel ---- */

/* Takes a storage that lists all counts: under (not with --mod), the bins, over. */
static int take_all(struct documents *d, struct hist *h, uint32_t c, struct hist_flow *listed,
		    struct fail *fail)
{
	uint64_t *const count = h->count + c * h->stride;
	const size_t bins = axis_bins(&h->axis), before = axis_kind_of(&h->axis)->ordered;
	const uint64_t at = json_offset(&d->in);
	size_t first, rest;

	if (json_numbers(&d->in, JSON_COUNTS, &listed->under, before, &first, fail) != 0 ||
	    json_numbers(&d->in, JSON_COUNTS, count, bins + 1, &rest, fail) != 0)
		return -1;
	if (first + rest < before + bins + 1 || !d->in.may_end)
		return json_bad(&d->in, at, fail, "%s values than the %zu of its axis",
				d->in.may_end ? "fewer" : "more", before + bins + 1);
	listed->over = count[bins];
	return 0;
}

/* Takes a sparse storage: under, bins and over at the places in its index; all others are 0. */
static int take_some(struct documents *d, struct hist *h, uint32_t c, struct hist_flow *listed,
		     struct fail *fail)
{
	const uint64_t at = json_offset(&d->in), before = axis_kind_of(&h->axis)->ordered,
		       over = axis_bins(&h->axis) + before;
	size_t places, counts;
	uint64_t *const place = json_list(&d->in, JSON_COUNTS, &places, fail), *count = NULL;
	int rc = -1;

	output_text(d->out, "]], \"values\": [");
	if (place && expect(d, fail) == 0)
		count = json_list(&d->in, JSON_COUNTS, &counts, fail);
	if (count && counts != places)
		json_bad(&d->in, at, fail, "%zu values, where the index has %zu places", counts,
			 places);
	else if (count)
		rc = 0;
	for (size_t i = 0; rc == 0 && i < places; i++) {
		if (place[i] > over || (i > 0 && place[i] <= place[i - 1]))
			rc = json_bad(&d->in, at, fail,
				      "the places in its index must rise, from 0 to %llu at most",
				      (unsigned long long)over);
		else if (place[i] == over)
			listed->over = count[i];
		else if (place[i] < before)
			listed->under = count[i];
		else
			h->count[c * h->stride + place[i] - before] = count[i];
	}
	free(place);
	free(count);
	return rc;
}

/* Takes the counts of a channel, which with NaN must add up to its samples. */
static int take_counts(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	const struct hist_flow *const flow = &h->flow[c];
	const bool some = is_sparse(d);
	const size_t bytes = h->channels * h->stride * sizeof(*h->count);
	const uint64_t samples = h->samples / h->channels, at = json_offset(&d->in);
	struct hist_flow listed = {0};

	/* Counts that are not listed are not touched, so they take no memory. */
	if (!h->count)
		h->count = some || h->channels > 1 ? calloc(1, bytes) : huge_alloc(bytes);
	if (!h->count)
		return fail_errno(fail, "%s", d->in.name);
	if (some ? take_some(d, h, c, &listed, fail) != 0 : take_all(d, h, c, &listed, fail) != 0)
		return -1;
	if (listed.under != flow->under || listed.over != flow->over)
		return json_bad(&d->in, at, fail,
				"its under and over are not those that gpuhist counted (did "
				"another program add or change it?)");
	uint128_t sum = (uint128_t)flow->under + flow->over + flow->nan;
	for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
		sum += hist_count(h, c, i);
	if (sum != samples)
		return json_bad(&d->in, at, fail,
				"bins, under, over and NaN are not the %llu samples that gpuhist "
				"counted (did another program add or change it?)",
				(unsigned long long)samples);
	output_text(d->out, "]}}");
	return expect(d, fail);
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
	for (uint32_t c = 0; c < h->channels; c++) {
		const uint64_t under = h->clamped[c].under, over = h->clamped[c].over,
			       first = bins > 0 ? hist_count(h, c, 0) : 0,
			       last = bins > 0 ? hist_count(h, c, bins - 1) : 0;
		/* A single bin holds the samples clamped at both ends. */
		if (under > first || over > last || (bins == 1 && over > first - under))
			return "more samples clamped to a bin than it holds";
	}
	return NULL;
}

/*
 * Is this a row of --each that a run may have? Only the first row of an input counts the input, and
 * the bytes skipped before it. A record, as -n counts them, has a sample of each channel, or, if
 * `apart`, any number.
 */
static bool row_agrees(const struct document *document, bool apart)
{
	const struct provenance *const from = &document->from;
	const bool begins = from->row_first == 0;

	return from->parts == 1 && from->inputs == begins && (begins || from->skipped == 0) &&
	       (apart ||
		(uint128_t)from->row_records * document->hist.channels == document->hist.samples);
}

/*
 * What is wrong with bytes that do not agree with the samples as after a run (run.c), or NULL. With
 * --record or --rows, and in a sum of runs with different options, which has none, each sample has
 * bytes of its own, and there may be others between them. A part may begin inside an input, which
 * another part counts.
 */
static const char *disagree(const struct document *document)
{
	const struct provenance *const from = &document->from;
	const struct hist *const h = &document->hist;
	const struct sample_type *const type = &h->axis.type;
	const bool apart =
		strstr(document->options, "--record=") || strstr(document->options, "--rows=");
	const uint128_t outside = (uint128_t)from->skipped + from->tail;
	/* Samples and bytes of a record. */
	const uint64_t samples = sample_together(type, h->channels),
		       bytes = sample_bytes(type, samples);
	const bool known = document->options[0] != '\0' && !apart;

	if (outside > from->bytes)
		return "more is skipped and left over than there are bytes";
	const uint64_t counted = from->bytes - (uint64_t)outside;
	if (known ? counted % bytes > 0 || (uint128_t)(counted / bytes) * samples != h->samples
		  : (uint128_t)h->samples * type->bits > (uint128_t)counted * 8 ||
			    (counted > 0 && h->samples == 0))
		return "its bytes, skipped, tail and samples do not agree (did another program "
		       "change it?)";
	if (from->row_of && !row_agrees(document, apart))
		return "its row does not agree with its inputs, skipped and samples (did another "
		       "program change it?)";
	if (from->parts == 1 && from->inputs == 0 && from->bytes > 0 && !from->row_of)
		return "bytes of no input";
	if (from->parts == 1 && known && from->tail > (uint128_t)from->inputs * (bytes - 1))
		return "its tail is longer than incomplete records of its inputs can be";
	return NULL;
}

/* ---- documents ---- */

static int take_document(struct documents *d, struct document *document, struct fail *fail)
{
	struct hist *const h = &document->hist;
	uint32_t c = 0;

	do {
		if (read_head(d, c, fail) != 0 || (c == 0 && take_whole(d, document, fail) != 0))
			return -1;
		h->flow[c] = (struct hist_flow){count_of(d, "under", UINT64_MAX, fail),
						count_of(d, "over", UINT64_MAX, fail),
						count_of(d, "nan", UINT64_MAX, fail)};
		if (axis_kind_of(&h->axis)->from_samples && h->axis.clamp)
			h->clamped[c] = (struct hist_flow){
				count_of(d, "clamped_under", UINT64_MAX, fail),
				count_of(d, "clamped_over", UINT64_MAX, fail), 0};
		if (fail->status != STATUS_OK || check_head(d, document, c, fail) != 0 ||
		    take_counts(d, h, c, fail) != 0)
			return -1;
	} while (++c < h->channels);
	output_text(d->out, h->channels > 1 ? "}" : "");
	if (expect(d, fail) != 0)
		return -1;
	const char *why = impossible(h);
	/* A partial document of --every has the bytes so far; it is refused for being partial. */
	if (!why && !document->from.partial)
		why = disagree(document);
	return why ? json_bad(&d->in, d->in.begin, fail, "%s", why) : 0;
}

int documents_next(struct documents *d, struct document *document, struct fail *fail)
{
	*document = (struct document){.options = NULL};
	int rc = json_begin(&d->in, fail);

	if (rc > 0 && take_document(d, document, fail) != 0)
		rc = -1;
	if (rc < 0)
		document_free(document);
	return rc;
}
