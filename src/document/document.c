/* SPDX-License-Identifier: MIT */
/*
 * document: turns a text into a histogram.
 *
 * A document is one histogram, or an object of channels, whose names begin with "channel". The
 * table MEMBERS is the tree of members that define a histogram. The reader walks the whole text,
 * keeps the plain values and lists of this tree, which must not occur twice, and skips everything
 * else. At the end of a channel it takes the counts; the first channel creates the histogram, and
 * later ones must agree with it.
 */
#include "document/document.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/json.h"
#include "hist/quantile.h"

#define DEPTH 64u /* maximum nesting */

/*
 * Each member with its name and its parent. Objects come first, then lists (EDGES to DIGEST, which
 * is written as a string), plain values of a channel (from UNDER on), and plain values common to all channels (from SAMPLES on).
 */
#define MEMBER_LIST(X)                           \
	X(WRITER_INFO, "writer_info", HISTOGRAM) \
	X(COUNTED, "gpuhist", WRITER_INFO)       \
	X(METADATA, "metadata", HISTOGRAM)       \
	X(AXIS, "axes", HISTOGRAM)               \
	X(STORAGE, "storage", HISTOGRAM)         \
	X(EDGES, "edges", AXIS)                  \
	X(VALUES, "values", STORAGE)             \
	X(INDEX, "index", STORAGE)               \
	X(DIGEST, "stats_digest", COUNTED)       \
	X(UNDER, "under", COUNTED)               \
	X(OVER, "over", COUNTED)                 \
	X(NO_NUMBER, "nan", COUNTED)             \
	X(FINITE, "stats_count", COUNTED)        \
	X(ZEROS, "stats_zeros", COUNTED)         \
	X(MINIMUM, "stats_minimum", COUNTED)     \
	X(MAXIMUM, "stats_maximum", COUNTED)     \
	X(MEAN, "stats_mean", COUNTED)           \
	X(DEVIATION, "stats_std", COUNTED)       \
	X(MINUS_INF, "stats_minus_inf", COUNTED) \
	X(PLUS_INF, "stats_plus_inf", COUNTED)   \
	X(CELLS, "stats_cells", COUNTED)         \
	X(CHANNEL, "channel", METADATA)          \
	X(SAMPLES, "samples", COUNTED)           \
	X(BYTES, "bytes", COUNTED)               \
	X(SKIPPED, "skipped", COUNTED)           \
	X(TAIL, "tail", COUNTED)                 \
	X(BAD_LINES, "bad_lines", COUNTED)       \
	X(INPUTS, "inputs", COUNTED)             \
	X(PART, "part", COUNTED)                 \
	X(PARTS, "parts", COUNTED)               \
	X(STATE, "inputs_state", COUNTED)        \
	X(PARTIAL, "partial", COUNTED)           \
	X(TYPE, "type", METADATA)                \
	X(BINNING, "binning", METADATA)          \
	X(RANGE, "range", METADATA)              \
	X(ZERO, "zero", METADATA)                \
	X(MOST, "most", METADATA)                \
	X(CLOSED, "closed", METADATA)            \
	X(CLAMP, "clamp", METADATA)              \
	X(CHANNELS, "channels", METADATA)        \
	X(OPTIONS, "options", METADATA)          \
	X(SAID_BINS, "bins", METADATA)           \
	X(LOWER, "lower", AXIS)                  \
	X(UPPER, "upper", AXIS)                  \
	X(BINS, "bins", AXIS)

/* DOCUMENT has the members of a HISTOGRAM, or channels. Members of UNKNOWN are UNKNOWN too. */
#define MEMBER(id, name, in) id,
enum member { UNKNOWN, DOCUMENT, HISTOGRAM, MEMBER_LIST(MEMBER) END };

/* An object in an array counts as the same member as the array. */
#define ROW(id, name, in) [id] = {name, in},
static const struct {
	const char *name;
	enum member in;
} MEMBERS[] = {MEMBER_LIST(ROW)};

/* Numbers of an array; NULL: the channel does not have it. */
struct list {
	void *at;
	size_t n;
};

struct documents {
	struct json in;
	struct document *document;                  /* the document being read */
	uint32_t seen;                              /* number of channels already read */
	uint64_t is_seen[LAYOUT_CHANNELS_MAX / 64]; /* bitmap of these channels */
	size_t value[END];            /* channel's values, as offsets in in.text; 0: missing */
	size_t first[END];            /* the same for the first channel read */
	struct list list[DIGEST + 1]; /* channel's lists */
};

int documents_open(struct documents **out, const char *path, struct fail *fail)
{
	struct documents *const d = *out = calloc(1, sizeof(*d));

	if (!d)
		return fail_errno(fail, "documents");
	if (json_open(&d->in, path, fail) == 0)
		return 0;
	documents_close(d);
	*out = NULL;
	return -1;
}

/* Forget the current channel; its plain values stay valid until d->in.used is reset. */
static void forget_channel(struct documents *d)
{
	for (enum member m = EDGES; m <= DIGEST; m++) {
		free(d->list[m].at);
		d->list[m] = (struct list){.at = NULL};
	}
	memset(d->value, 0, sizeof(d->value));
}

int document_only(struct document *document, const char *path, struct fail *fail)
{
	struct documents *documents;
	struct document second;

	*document = (struct document){.options = NULL};
	if (documents_open(&documents, path, fail) != 0)
		return -1;
	int rc = documents_next(documents, document, fail);
	if (rc == 0)
		fail_set(fail, STATUS_DATA, "%s holds no histogram", path);
	if (rc > 0 && documents_next(documents, &second, fail) != 0) {
		document_free(&second);
		document_free(document);
		*document = (struct document){.options = NULL};
		rc = fail_set(
			fail, STATUS_DATA,
			"%s holds more than one histogram; add them up with gpuhist --merge first",
			path);
	}
	documents_close(documents);
	return rc > 0 ? 0 : -1;
}

void documents_close(struct documents *d)
{
	if (!d)
		return;
	json_close(&d->in);
	forget_channel(d);
	free(d);
}

void document_free(struct document *document)
{
	hist_free(&document->hist);
	free(document->options);
	free(document->name);
	*document = (struct document){.options = NULL};
}

/* ---- values ---- */

/* "FILE: why" */
__attribute__((format(printf, 3, 4))) static int refuse(const struct documents *d,
							struct fail *fail, const char *format, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return fail_set(fail, STATUS_DATA, "%s: %s", d->in.label, why);
}

static int not_ours(const struct documents *d, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA, "%s is not a histogram that gpuhist wrote as JSON",
			d->in.label);
}

/* Text of a plain value, or "". */
static const char *text_of(const struct documents *d, enum member m)
{
	return d->value[m] > 0 ? d->in.text + d->value[m] : "";
}

/* Return a count. If it is missing or not a count up to `most`, *fail says so. */
static uint64_t count_of(const struct documents *d, enum member m, uint64_t most, struct fail *fail)
{
	const char *const text = text_of(d, m);
	struct number n;

	if (d->value[m] == 0)
		refuse(d, fail, "\"%s\" is missing", MEMBERS[m].name);
	else if (number_parse(&n, text, strlen(text)) == 0 && n.exact && n.integer >= 0 &&
		 n.integer <= (int128_t)most)
		return (uint64_t)n.integer;
	else
		refuse(d, fail, "\"%s\" must be a whole number from 0 to %llu, not %.60s",
		       MEMBERS[m].name, (unsigned long long)most, text);
	return 0;
}

static bool flag_of(const struct documents *d, enum member m, struct fail *fail)
{
	const char *const text = text_of(d, m);

	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		refuse(d, fail, "\"%s\" must be true or false", MEMBERS[m].name);
	return text[0] == 't';
}

/* ---- the axis ---- */

/* Parse LO:HI; false: the text is not a range. */
static bool parse_range(struct edges_spec *spec, const char *range)
{
	const char *const colon = strchr(range, ':');

	return colon && number_parse(&spec->lo, range, (size_t)(colon - range)) == 0 &&
	       number_parse(&spec->hi, colon + 1, strlen(colon + 1)) == 0;
}

/* Find a kind of bins by name, or AXIS_DEFAULT. AXIS_VALUES has the same name as AXIS_RANGE. */
static enum axis_kind kind_of(const char *binning)
{
	enum axis_kind kind = AXIS_RANGE;

	while (kind < AXIS_DEFAULT && strcmp(binning, AXIS_KINDS[kind].name) != 0)
		kind++;
	return kind;
}

/* Find the bin of zero. If there is none, all bins are above or below it; false: no such bin. */
static bool parse_zero(struct edges_spec *zero, const struct edges_spec *range, const char *text)
{
	zero->lo = zero->hi = range->hi.value > 0 ? range->lo : range->hi;
	if (strcmp(text, "none") == 0)
		return range->lo.value > 0 || range->hi.value <= 0;
	return parse_range(zero, text) && range->lo.value <= zero->lo.value &&
	       zero->lo.value <= 0 && 0 < zero->hi.value && zero->hi.value <= range->hi.value;
}

/* The key of an edge, or of the greatest number below it. It may lie beyond the greatest number. */
static uint64_t key_at(const struct sample_type *type, const struct number *edge, bool before)
{
	if (type->kind != SAMPLE_FLOAT)
		return (uint64_t)(edge->integer - sample_min(type)) - before;
	const double most = sample_max_finite(type), x = fmax(edge->value, -most);
	if (before && x > most)
		return sample_key(type, most);
	/* The greatest number below 0 is the one before -0. */
	return sample_key(type, before && x == 0 ? -0.0 : x) - before;
}

/*
 * Find the extent of all samples that fit a range and, with --log=auto, lie outside the bin of
 * zero; false: the type has no such range.
 */
static bool range_extent(struct extent *extent, const struct axis *axis,
			 const struct edges_spec *range, const struct edges_spec *zero)
{
	const struct sample_type *const type = &axis->type;
	const bool real = type->kind == SAMPLE_FLOAT;
	const double most = real ? sample_max_finite(type) : 0;

	if (real ? range->lo.value > most || range->hi.value <= -most
		 : !range->lo.exact || !range->hi.exact || range->lo.integer < sample_min(type) ||
			    range->lo.integer >= range->hi.integer ||
			    range->hi.integer > sample_max(type) + 1)
		return false;
	*extent = (struct extent){.least = key_at(type, &range->lo, false),
				  .greatest = key_at(type, &range->hi, true),
				  .below = 0,
				  .above = UINT64_MAX};
	if (axis->kind == AXIS_RANKS && !real && (!zero->lo.exact || !zero->hi.exact))
		return false;
	if (axis->kind == AXIS_RANKS && range->lo.value < zero->lo.value)
		extent->below = key_at(type, &zero->lo, true);
	if (axis->kind == AXIS_RANKS && zero->hi.value < range->hi.value)
		extent->above = key_at(type, &zero->hi, false);
	else if (axis->kind == AXIS_RANKS && range->hi.value > 0)
		extent->greatest = key_at(type, &(struct number){.value = 0}, false);
	return true;
}

/*
 * Set the bins of --auto or --log=auto to the bins for all samples that fit the range. The actual
 * samples gave the same bins: at a smaller k both would span too many. For f64, an end of 2^1024 is
 * written as the greatest number (write_json.c), so that number may be a sample.
 */
static bool place_bins(struct axis *axis, const struct edges_spec *range, const char *zero,
		       uint32_t bins)
{
	struct extent extent = EXTENT_NONE;
	struct edges_spec of_zero = {.bins = 0};

	if (bins > 0 && axis->kind == AXIS_RANKS && !parse_zero(&of_zero, range, zero))
		return false;
	if (bins > 0 && !range_extent(&extent, axis, range, &of_zero))
		return false;
	edges_settle(&axis->edges, &extent);
	if (axis_bins(axis) == bins || axis->type.bits < 64 || range->hi.value != DBL_MAX)
		return axis_bins(axis) == bins;
	extent.greatest = sample_key(&axis->type, DBL_MAX);
	edges_settle(&axis->edges, &extent);
	return axis_bins(axis) == bins;
}

/*
 * Make the axis described by the metadata, with `bins` bins. The range has the text of the first
 * and last edge, exact for integers; with the number of bins, that is enough for --range, --log and
 * --mod. --edges uses the listed edges. Returns an error text, or NULL.
 */
static const char *make_axis(struct axis *axis, const struct documents *d, uint64_t bins,
			     struct fail *fail)
{
	struct axis_spec spec = {.edges = {.kind = kind_of(text_of(d, BINNING)),
					   .bins = (uint32_t)bins,
					   .closed = flag_of(d, CLOSED, fail),
					   .list = d->list[EDGES].at,
					   .definition = true},
				 .clamp = flag_of(d, CLAMP, fail)};
	struct edges_spec *const e = &spec.edges;
	struct sample_type type;
	struct axis made;
	const char *why;

	if (e->kind < AXIS_DEFAULT && AXIS_KINDS[e->kind].from_samples)
		e->bins = (uint32_t)count_of(d, MOST, BINS_MAX, fail);
	if (sample_type_parse(&type, text_of(d, TYPE)) != 0)
		return "its type is unknown";
	if (e->kind == AXIS_DEFAULT)
		return "its binning is unknown";
	if (e->kind == AXIS_RANKS && d->value[ZERO] == 0)
		return "gpuhist 0.3 wrote it, and its --log=auto had other bins; count the samples "
		       "again";
	if (bins > 0 && !parse_range(e, text_of(d, RANGE)))
		return "its range is not LO:HI";
	if (e->bins < 1 || bins > AXIS_KINDS[e->kind].most || (e->kind == AXIS_EDGES && !e->list))
		return "its number of bins does not fit its binning";
	if (axis_init(&made, &spec, &type, &why) != 0)
		return why;
	*axis = made;
	e->definition = false;
	e->list = e->kind == AXIS_EDGES ? axis->edges.list : NULL;
	d->document->bins = spec;
	return !axis_kind_of(axis)->from_samples ||
			       place_bins(axis, e, text_of(d, ZERO), (uint32_t)bins)
		       ? NULL
	       : e->kind == AXIS_AUTO ? "--auto does not make such bins"
				      : "--log=auto does not make such bins";
}

/* Is edge i this number? Infinity is written as a finite number (write_json.c). */
static bool is_edge(const struct axis *axis, uint32_t i, double listed)
{
	const double x = edges_value(&axis->edges, i);

	return listed == (isinf(x) ? copysign(DBL_MAX, x) : x);
}

/* Does the channel list the edges of the axis? */
static int check_edges(const struct documents *d, const struct axis *axis, struct fail *fail)
{
	const struct list *const list = &d->list[EDGES];
	const double *const listed = list->at;
	const uint32_t bins = axis_bins(axis);
	struct number n;
	bool equal = !listed || list->n == (size_t)bins + 1;

	for (uint32_t i = 0; listed && i <= bins && equal; i++)
		equal = is_edge(axis, i, listed[i]);
	for (enum member m = LOWER; !listed && bins > 0 && m <= UPPER && equal; m++)
		equal = number_parse(&n, text_of(d, m), strlen(text_of(d, m))) == 0 &&
			is_edge(axis, m == LOWER ? 0 : bins, n.value);
	return equal ? 0
		     : refuse(d, fail, "its edges do not follow from its type, binning and range");
}

/* ---- a channel ---- */

/* Make the histogram from the first channel, without its counts. */
static int take_whole(struct documents *d, struct fail *fail)
{
	struct document *const document = d->document;
	struct hist *const h = &document->hist;
	const struct json *const in = &d->in;
	const struct list *const edges = &d->list[EDGES];

	if (d->value[SAMPLES] == 0 || d->value[TYPE] == 0 || !d->list[VALUES].at)
		return not_ours(d, fail);
	h->channels = (uint32_t)count_of(d, CHANNELS, LAYOUT_CHANNELS_MAX, fail);
	const uint64_t samples = count_of(d, SAMPLES, UINT64_MAX, fail);
	document->from = (struct provenance){
		.inputs = count_of(d, INPUTS, UINT64_MAX, fail),
		.bytes = count_of(d, BYTES, UINT64_MAX, fail),
		.skipped = count_of(d, SKIPPED, UINT64_MAX, fail),
		.tail = count_of(d, TAIL, UINT64_MAX, fail),
		.bad = d->value[BAD_LINES] > 0 ? count_of(d, BAD_LINES, UINT64_MAX, fail) : 0,
		.partial = d->value[PARTIAL] > 0 && flag_of(d, PARTIAL, fail),
		.part = (uint32_t)count_of(d, PART, UINT32_MAX, fail),
		.parts = (uint32_t)count_of(d, PARTS, UINT32_MAX, fail),
		.state = strtoull(text_of(d, STATE), NULL, 16),
	};
	const uint64_t bins = !edges->at     ? count_of(d, BINS, BINS_MAX, fail)
			      : edges->n > 0 ? edges->n - 1
					     : 0;
	/* A sparse storage would fit another number of bins. */
	if (d->list[INDEX].at && d->value[SAID_BINS] > 0 &&
	    count_of(d, SAID_BINS, BINS_MAX, fail) != bins)
		return refuse(d, fail, "its axis has %llu bins, but its metadata says %.20s",
			      (unsigned long long)bins, text_of(d, SAID_BINS));
	if (fail->status != STATUS_OK)
		return -1;
	/* Counters have 32-bit indices (count.c). */
	if (h->channels < 1 || samples > UINT64_MAX / h->channels ||
	    (bins + CELL_EXTRA) * h->channels > UINT32_MAX)
		return refuse(d, fail, "it cannot have %lu channels of %llu samples in %llu bins",
			      (unsigned long)h->channels, (unsigned long long)samples,
			      (unsigned long long)bins);
	if (document->from.part < 1 || document->from.part > document->from.parts)
		return refuse(d, fail, "it cannot be part %lu of %lu",
			      (unsigned long)document->from.part,
			      (unsigned long)document->from.parts);
	if (hist_open(h, h->channels) != 0)
		return fail_errno(fail, "%s", in->label);
	h->samples = h->channels * samples;
	h->stride = (size_t)bins + 1;
	const char *const why = make_axis(&h->axis, d, bins, fail);
	h->axis.type.binned = h->axis.type.code_bytes == 2 && layout_is_many(h->channels);
	if (why == edges_no_memory)
		return fail_set(fail, STATUS_SYSTEM, "%s: %s", in->name, why);
	if (why)
		return refuse(d, fail, "%s", why);
	document->from.options = document->options = strdup(text_of(d, OPTIONS));
	document->name = strdup(in->label);
	return document->options && document->name ? 0 : fail_errno(fail, "%s", in->label);
}

/* Does this channel agree with the first one? */
static int check_alike(const struct documents *d, struct fail *fail)
{
	for (enum member m = SAMPLES; m < END; m++)
		if ((d->value[m] == 0) != (d->first[m] == 0) ||
		    (d->value[m] > 0 && strcmp(text_of(d, m), d->in.text + d->first[m]) != 0))
			return refuse(d, fail, "its channels differ in \"%s\"", MEMBERS[m].name);
	return 0;
}

/*
 * Take the counts of channel c from the entries of its storage: under (not with --mod), the bins,
 * over. A sparse storage has only the entries in its index; all others are 0.
 */
static int take_counts(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	struct list *const values = &d->list[VALUES], *const index = &d->list[INDEX];
	uint64_t *const value = values->at, *const place = index->at;
	const size_t before = axis_kind_of(&h->axis)->ordered, bins = axis_bins(&h->axis);
	const size_t over = before + bins, entries = place ? index->n : over + 1;
	uint64_t next = 0; /* smallest valid next index */
	struct hist_flow listed = {0};

	if (values->n != entries)
		return refuse(d, fail, "its storage has %zu values, not %zu", values->n, entries);
	if (!place && h->channels == 1) {
		h->count = value; /* the bins move to its beginning */
		values->at = NULL;
	} else if (!h->count) {
		/* Unwritten pages take no memory. */
		h->count = calloc(h->channels * h->stride, sizeof(*h->count));
		if (!h->count)
			return fail_errno(fail, "%s", d->in.label);
	}
	uint64_t *const count = h->count + c * h->stride;
	for (size_t i = 0; i < entries; i++) {
		const uint64_t at = place ? place[i] : i;
		if (at < next || at > over)
			return refuse(d, fail, "its index must increase, up to %zu", over);
		next = at + 1;
		*(at < before  ? &listed.under
		  : at == over ? &listed.over
			       : &count[at - before]) = value[i];
	}
	if (listed.under != h->flow[c].under || listed.over != h->flow[c].over)
		return refuse(d, fail,
			      "under and over differ between its storage and its writer_info "
			      "(did another program add or scale it?)");
	return 0;
}

/* Check that bins, under, over and NaN of channel c add up to its samples. */
static int check_counts(const struct documents *d, const struct hist *h, uint32_t c,
			struct fail *fail)
{
	const uint64_t samples = hist_samples(h, c);
	const uint32_t bins = axis_bins(&h->axis);
	uint128_t sum = (uint128_t)h->flow[c].under + h->flow[c].over + h->flow[c].nan;

	for (uint32_t i = 0; i < bins; i++)
		sum += hist_count(h, c, i);
	if (sum != samples)
		return refuse(
			d, fail,
			"its bins, under, over and nan do not add up to its %llu samples (did "
			"another program add or scale it?)",
			(unsigned long long)samples);
	return 0;
}

/* ---- figures ---- */

/* A figure that is a number, and for integer types a value of the type. */
static void take_figure(const struct documents *d, enum member m, const struct sample_type *type,
			double *real, int128_t *whole, struct fail *fail)
{
	const char *const text = text_of(d, m);
	struct number n;

	if (number_parse(&n, text, strlen(text)) != 0 ||
	    (whole && type->kind != SAMPLE_FLOAT &&
	     (!n.exact || n.integer < sample_min(type) || n.integer > sample_max(type)))) {
		refuse(d, fail, "\"%s\" must be a number, not \"%.60s\"", MEMBERS[m].name, text);
		return;
	}
	*real = n.value;
	if (whole && type->kind != SAMPLE_FLOAT)
		*whole = n.integer;
}

/* Fill the digest of channel c from the list, whose cells must increase. */
static int take_digest(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	const struct json_pair *const pair = d->list[DIGEST].at;
	struct digest *const digest = &h->stats[c].digest;
	int64_t next = -(int64_t)digest->rule.zero;

	for (size_t i = 0; i < d->list[DIGEST].n; i++) {
		if (pair[i].key < next ||
		    pair[i].key >= (int64_t)digest->rule.indices - digest->rule.zero)
			return refuse(d, fail, "the cells of its digest must increase, up to %ld",
				      (long)(digest->rule.indices - digest->rule.zero) - 1);
		next = pair[i].key + 1;
		digest_add(digest, pair[i].key, pair[i].count);
	}
	return 0;
}

/* The digits of a digest that has so many cells for each doubling; 0: another number. */
static uint32_t digits_of(const struct documents *d, const struct sample_type *type)
{
	const unsigned long cells = strtoul(text_of(d, CELLS), NULL, 10);
	const uint32_t values = type->code_bytes <= 2 ? 16 : 0;

	return cells == 1ul << values       ? values
	       : values > 0                 ? 0
	       : cells == 1 << DIGEST_FINE  ? DIGEST_FINE
	       : cells == 1 << DIGEST_ROUGH ? DIGEST_ROUGH
					    : 0;
}

/* Take the figures of channel c from the members. */
static int take_figures(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	const struct sample_type *const type = &h->axis.type;
	const uint64_t samples = hist_samples(h, c);
	const bool real = type->kind == SAMPLE_FLOAT;
	struct stats_result *const of = &h->stats[c].of;

	*of = (struct stats_result){
		.number = count_of(d, FINITE, samples, fail),
		.below = real ? count_of(d, MINUS_INF, samples, fail) : 0,
		.above = real ? count_of(d, PLUS_INF, samples, fail) : 0,
		.nan = h->flow[c].nan,
		.zeros = count_of(d, ZEROS, samples, fail),
	};
	if (fail->status != STATUS_OK)
		return -1;
	if (of->number > 0) {
		take_figure(d, MINIMUM, type, &of->least_real, &of->least, fail);
		take_figure(d, MAXIMUM, type, &of->greatest_real, &of->greatest, fail);
		take_figure(d, MEAN, type, &of->mean, NULL, fail);
		take_figure(d, DEVIATION, type, &of->deviation, NULL, fail);
	}
	if (fail->status != STATUS_OK || take_digest(d, h, c, fail) != 0)
		return -1;
	if ((uint128_t)of->number + of->below + of->above + of->nan != samples ||
	    (h->stats[c].digest.touched && !digest_agrees(&h->stats[c].digest, type, of)))
		return refuse(d, fail,
			      "its figures of --stats do not agree with its counts (did another "
			      "program add or scale it?)");
	return 0;
}

/*
 * Take the figures of channel c, if the document has those of all channels; otherwise the histogram
 * has no statistics.
 */
static int take_stats(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	const struct quantiles none = {.n = 0};
	const bool listed = d->list[DIGEST].at, first = d->seen == 1;
	const bool without = layout_is_many(h->channels) && !listed; /* figures without a digest */
	const uint32_t digits = listed ? digits_of(d, &h->axis.type) : without ? 0 : DIGEST_FINE;
	const bool any = d->value[FINITE] > 0 &&
			 (without || (digits > 0 && (listed || hist_has_values(h, c))));
	const uint32_t own = without ? 0 : digest_rule(&h->axis.type, digits).digits;

	if (first && any && hist_keep_stats(h, &none, digits, fail) != 0)
		return -1;
	if (!any || !h->stats || h->stats[c].digest.rule.digits != own) {
		hist_drop_stats(h);
		return 0;
	}
	if (listed || without)
		return take_figures(d, h, c, fail);
	digest_close(&h->stats[c].digest);
	return hist_values_digest(h, c, fail);
}

/* Take the channel whose members have been read. */
static int take_channel(struct documents *d, struct fail *fail)
{
	struct hist *const h = &d->document->hist;
	const bool is_first = d->seen == 0;

	if (is_first ? take_whole(d, fail) != 0 : check_alike(d, fail) != 0)
		return -1;
	const uint32_t c = (uint32_t)count_of(d, CHANNEL, h->channels - 1, fail);
	h->flow[c] = (struct hist_flow){count_of(d, UNDER, UINT64_MAX, fail),
					count_of(d, OVER, UINT64_MAX, fail),
					count_of(d, NO_NUMBER, UINT64_MAX, fail)};
	if (fail->status != STATUS_OK || check_edges(d, &h->axis, fail) != 0)
		return -1;
	if (d->is_seen[c / 64] >> c % 64 & 1)
		return refuse(d, fail, "it has channel %lu twice", (unsigned long)c);
	d->is_seen[c / 64] |= (uint64_t)1 << c % 64;
	d->seen++;
	if (take_counts(d, h, c, fail) != 0 || check_counts(d, h, c, fail) != 0 ||
	    take_stats(d, h, c, fail) != 0)
		return -1;
	if (is_first)
		memcpy(d->first, d->value, sizeof(d->first));
	forget_channel(d);
	return 0;
}

/* ---- the text ---- */

static int read_value(struct documents *d, enum member m, unsigned depth, struct fail *fail);

/* Read the name of a member of `in`, and the colon after it. */
static int read_name(struct documents *d, enum member in, enum member *m, struct fail *fail)
{
	const size_t used = d->in.used;
	size_t at;

	if (json_peek(&d->in, fail) < 0)
		return -1;
	if (*d->in.at != '"')
		return json_unexpected(&d->in, "a name", fail);
	if (json_plain(&d->in, &at, fail) != 0)
		return -1;
	const char *const name = d->in.text + at;
	const enum member parent = in == DOCUMENT ? HISTOGRAM : in;
	const size_t bytes = d->in.used - at;
	*m = END - 1;
	while (*m > HISTOGRAM &&
	       (MEMBERS[*m].in != parent || strlen(MEMBERS[*m].name) + 1 != bytes ||
		strcmp(name, MEMBERS[*m].name) != 0))
		--*m;
	if (*m == HISTOGRAM && (in != DOCUMENT || strncmp(name, "channel", 7) != 0))
		*m = UNKNOWN;
	d->in.used = used;
	return json_mark(&d->in, ":", fail) > 0 ? 0 : -1;
}

/* Read the rest of an object or array, including its closing bracket. */
static int read_all(struct documents *d, enum member m, char close, unsigned depth,
		    struct fail *fail)
{
	const char marks[] = {',', close, '\0'};
	int mark = ',';

	if (depth == DEPTH)
		return json_bad(&d->in, fail, "brackets are nested more than %u deep", DEPTH);
	if (json_peek(&d->in, fail) < 0)
		return -1;
	if (*d->in.at == close)
		return d->in.at++, 0;
	while (mark == ',') {
		enum member inner = m;
		if (close == '}' && read_name(d, m, &inner, fail) != 0)
			return -1;
		if (read_value(d, inner, depth + 1, fail) != 0)
			return -1;
		mark = json_mark(&d->in, marks, fail);
	}
	return mark == close ? 0 : -1;
}

static int read_list(struct documents *d, enum member m, struct fail *fail)
{
	struct list *const list = &d->list[m];

	if (list->at)
		return json_bad(&d->in, fail, "\"%s\" appears twice", MEMBERS[m].name);
	list->at = json_list(&d->in, m == EDGES ? JSON_REALS : JSON_COUNTS, &list->n, fail);
	return list->at ? 0 : -1;
}

static int read_plain(struct documents *d, enum member m, struct fail *fail)
{
	const size_t used = d->in.used;
	size_t at;

	if (json_plain(&d->in, &at, fail) != 0)
		return -1;
	if (m < UNDER)
		return d->in.used = used, 0;
	/* cppcheck-suppress arrayIndexOutOfBoundsCond */
	if (d->value[m] > 0)
		return json_bad(&d->in, fail, "\"%s\" appears twice", MEMBERS[m].name);
	if (strlen(d->in.text + at) + 1 < d->in.used - at)
		return json_bad(&d->in, fail, "\"%s\" contains a zero byte", MEMBERS[m].name);
	d->value[m] = at;
	return 0;
}

static int read_pairs(struct documents *d, enum member m, struct fail *fail)
{
	struct list *const list = &d->list[m];

	if (list->at)
		return json_bad(&d->in, fail, "\"%s\" appears twice", MEMBERS[m].name);
	list->at = json_pairs(&d->in, &list->n, fail);
	return list->at ? 0 : -1;
}

static int read_value(struct documents *d, enum member m, unsigned depth, struct fail *fail)
{
	if (json_peek(&d->in, fail) < 0)
		return -1;
	if (*d->in.at == '"' && m == DIGEST)
		return read_pairs(d, m, fail);
	if (*d->in.at != '{' && *d->in.at != '[')
		return read_plain(d, m, fail);
	const size_t used = d->in.used;
	const char close = *d->in.at++ == '{' ? '}' : ']';
	if (close == ']' && m >= EDGES && m <= INDEX) {
		/* The index is an array in an array. */
		if (json_peek(&d->in, fail) < 0)
			return -1;
		if (*d->in.at != '[')
			return read_list(d, m, fail);
	}
	if (read_all(d, m, close, depth, fail) != 0)
		return -1;
	if (m != HISTOGRAM || close == ']')
		return 0;
	const bool later = d->seen > 0;
	if (take_channel(d, fail) != 0)
		return -1;
	d->in.used = later ? used : d->in.used;
	return 0;
}

static int read_document(struct documents *d, struct fail *fail)
{
	const struct hist *const h = &d->document->hist;

	d->seen = 0;
	memset(d->is_seen, 0, sizeof(d->is_seen));
	d->in.used = 1; /* because offset 0 means missing */
	if (*d->in.at != '{')
		return not_ours(d, fail);
	if (read_value(d, DOCUMENT, 0, fail) != 0 || (d->seen == 0 && take_channel(d, fail) != 0))
		return -1;
	forget_channel(d);
	return d->seen == h->channels ? 0
				      : refuse(d, fail, "some of its %lu channels are missing",
					       (unsigned long)h->channels);
}

int documents_next(struct documents *d, struct document *document, struct fail *fail)
{
	*document = (struct document){.options = NULL};
	d->document = document;
	int rc = json_begin(&d->in, fail);

	if (rc > 0 && read_document(d, fail) != 0)
		rc = -1;
	if (rc < 0)
		document_free(document);
	return rc;
}
