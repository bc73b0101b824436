/* SPDX-License-Identifier: MIT */
/*
 * document: turns a text into a histogram.
 *
 * A document is one histogram, or an object of channels, whose names begin with "channel", or of
 * keys, whose names are "key=" and the key (write_json.c). The table MEMBERS is the tree of members
 * that define a histogram. The reader walks the whole text, keeps the plain values and lists of
 * this tree, which must not occur twice, and skips everything else. At the end of a channel it
 * takes the counts; the first channel creates the histogram, and later ones must agree with it.
 */
#include "document/members.h"

#include <stdlib.h>
#include <string.h>

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
	for (enum document_member m = EDGES; m <= DIGEST; m++) {
		free(d->list[m].at);
		d->list[m] = (struct list){.at = NULL};
	}
	memset(d->value, 0, sizeof(d->value));
	free(d->name);
	d->name = NULL;
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

/* ---- a channel ---- */

static int not_ours(const struct documents *d, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA,
			"%s is not a histogram that gpuhist wrote as JSON (with -o FILE.json)",
			d->in.label);
}

/* The inputs and the slice that the document has counted. */
static struct provenance provenance_of(const struct documents *d, struct fail *fail)
{
	return (struct provenance){
		.inputs = members_count(d, INPUTS, UINT64_MAX, fail),
		.bytes = members_count(d, BYTES, UINT64_MAX, fail),
		.skipped = members_count(d, SKIPPED, UINT64_MAX, fail),
		.tail = members_count(d, TAIL, UINT64_MAX, fail),
		.bad = d->value[BAD_LINES] > 0 ? members_count(d, BAD_LINES, UINT64_MAX, fail) : 0,
		.partial = d->value[PARTIAL] > 0 && members_flag(d, PARTIAL, fail),
		.part = (uint32_t)members_count(d, PART, UINT32_MAX, fail),
		.parts = (uint32_t)members_count(d, PARTS, UINT32_MAX, fail),
		.state = strtoull(members_text(d, STATE), NULL, 16),
	};
}

/* The number of bins. A sparse storage fits any number, so it must agree with the metadata. */
static int take_bins(const struct documents *d, uint64_t *bins, struct fail *fail)
{
	const struct list *const edges = &d->list[EDGES];

	*bins = !edges->at     ? members_count(d, BINS, BINS_MAX, fail)
		: edges->n > 0 ? edges->n - 1
			       : 0;
	if (d->list[INDEX].at && d->value[SAID_BINS] > 0 &&
	    members_count(d, SAID_BINS, BINS_MAX, fail) != *bins)
		return members_refuse(d, fail,
				      "its axis has %llu bins, but its metadata says %.20s",
				      (unsigned long long)*bins, members_text(d, SAID_BINS));
	return fail->status == STATUS_OK ? 0 : -1;
}

/* Without keys: can there be this many channels? Counters have 32-bit indices (count.c). */
static int check_channels(const struct documents *d, uint64_t samples, uint64_t bins,
			  struct fail *fail)
{
	const uint32_t channels = d->document->hist.channels;

	return channels >= 1 && samples <= UINT64_MAX / channels &&
			       (bins + CELL_EXTRA) * channels <= UINT32_MAX
		       ? 0
		       : members_refuse(d, fail,
					"it cannot have %lu channels of %llu samples in %llu bins",
					(unsigned long)channels, (unsigned long long)samples,
					(unsigned long long)bins);
}

/* Prepare for keys, which become channels one by one. */
static int open_keys(struct documents *d, struct fail *fail)
{
	struct hist *const h = &d->document->hist;

	if (axis_kind_of(&h->axis)->from_samples)
		return members_refuse(d, fail, "--by does not make bins of --%s",
				      axis_kind_of(&h->axis)->name);
	h->axis.type.binned = h->axis.type.code_bytes <= 2;
	return hist_open_keys(h, members_text(d, KEY), strcmp(members_text(d, KEYS), "text") != 0,
			      fail);
}

/* Make the histogram from the first channel, without its counts. */
static int take_whole(struct documents *d, struct fail *fail)
{
	struct document *const document = d->document;
	struct hist *const h = &document->hist;
	const struct json *const in = &d->in;
	const bool by = d->value[KEY] > 0;
	uint64_t bins;

	if (d->value[SAMPLES] == 0 || d->value[TYPE] == 0 || !d->list[VALUES].at)
		return not_ours(d, fail);
	h->channels = by ? 0 : (uint32_t)members_count(d, CHANNELS, LAYOUT_CHANNELS_MAX, fail);
	const uint64_t samples = members_count(d, SAMPLES, UINT64_MAX, fail);
	document->from = provenance_of(d, fail);
	if (take_bins(d, &bins, fail) != 0 || (!by && check_channels(d, samples, bins, fail) != 0))
		return -1;
	if (document->from.part < 1 || document->from.part > document->from.parts)
		return members_refuse(d, fail, "it cannot be part %lu of %lu",
				      (unsigned long)document->from.part,
				      (unsigned long)document->from.parts);
	if (hist_open(h, h->channels) != 0)
		return fail_errno(fail, "%s", in->label);
	h->samples = h->channels * samples;
	h->stride = (size_t)bins + 1;
	h->whole = UINT64_MAX; /* until a channel says otherwise */
	const char *const why = document_axis(&h->axis, d, bins, fail);
	if (why == edges_no_memory)
		return fail_set(fail, STATUS_SYSTEM, "%s: %s", in->name, why);
	if (why)
		return members_refuse(d, fail, "%s", why);
	h->axis.type.binned = h->axis.type.code_bytes == 2 && layout_is_many(h->channels);
	if (by && open_keys(d, fail) != 0)
		return -1;
	document->from.options = document->options = strdup(members_text(d, OPTIONS));
	document->name = strdup(in->label);
	return document->options && document->name ? 0 : fail_errno(fail, "%s", in->label);
}

/* Does this channel agree with the first one? */
static int check_alike(const struct documents *d, struct fail *fail)
{
	for (enum document_member m = d->document->hist.what == SERIES_KEYS ? SAMPLES + 1 : SAMPLES;
	     m < END; m++)
		if ((d->value[m] == 0) != (d->first[m] == 0) ||
		    (d->value[m] > 0 && strcmp(members_text(d, m), d->in.text + d->first[m]) != 0))
			return members_refuse(d, fail, "its channels differ in \"%s\"",
					      MEMBERS[m].name);
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
		return members_refuse(d, fail, "its storage has %zu values, not %zu", values->n,
				      entries);
	if (!place && h->channels == 1 && h->what != SERIES_KEYS) {
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
			return members_refuse(d, fail, "its index must increase, up to %zu", over);
		next = at + 1;
		*(at < before  ? &listed.under
		  : at == over ? &listed.over
			       : &count[at - before]) = value[i];
	}
	if (listed.under != h->flow[c].under || listed.over != h->flow[c].over)
		return members_refuse(
			d, fail,
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
		return members_refuse(
			d, fail,
			"its bins, under, over and nan do not add up to its %llu samples (did "
			"another program add or scale it?)",
			(unsigned long long)samples);
	return 0;
}

/* ---- keys ---- */

static const char KEY_NAME[] = "key="; /* prefix of the name of a key's histogram */

/* Is the channel named as a key's histogram, and does its metadata say so? */
static int check_key_name(const struct documents *d, struct fail *fail)
{
	const bool keyed = d->value[KEY] > 0;

	return keyed == (d->name && strncmp(d->name, KEY_NAME, strlen(KEY_NAME) - 1) == 0)
		       ? 0
		       : members_refuse(d, fail,
					"its \"key\" and the name of its histogram do not belong "
					"together; the histogram of a key is named \"key=KEY\"");
}

/* The number of a key as we write it: 0 to 2^32 - 1, without zeros before it. */
static bool is_whole_key(const char *name)
{
	const size_t length = strlen(name);
	char *end;

	return strspn(name, "0123456789") == length && length > 0 && length <= 10 &&
	       (*name != '0' || length == 1) && strtoull(name, &end, 10) <= UINT32_MAX;
}

/* Append the key that was read. The name "key" means that there are none; it has no samples. */
static int take_key(struct documents *d, uint32_t *c, struct fail *fail)
{
	struct hist *const h = &d->document->hist;
	const uint64_t samples = members_count(d, SAMPLES, UINT64_MAX, fail);
	const bool none = d->name[strlen(KEY_NAME) - 1] == '\0';
	const char *const name = none ? "" : d->name + strlen(KEY_NAME);
	struct fail own = {.status = STATUS_OK};

	*c = h->channels;
	if (fail->status != STATUS_OK)
		return -1;
	if (none)
		return samples == 0 && d->seen == 0
			       ? 0
			       : members_refuse(d, fail, "one of its histograms has no key");
	if (strncmp(d->name, KEY_NAME, strlen(KEY_NAME)) != 0 ||
	    (h->whole_keys && !is_whole_key(name)))
		return members_refuse(d, fail, "\"%.60s\" is no key", d->name);
	if (__builtin_add_overflow(h->samples, samples, &h->samples))
		return members_refuse(d, fail, "it cannot have so many samples");
	if (hist_add_key(h, name, NULL, &own) != 0)
		return fail_set(fail, own.status, "%s: %s", d->in.label, own.text);
	h->own[*c] = samples;
	return 0;
}

/* Sort the keys. -1: the document has a key twice. */
static int order_keys(struct documents *d, struct fail *fail)
{
	struct hist *const h = &d->document->hist;

	if (hist_sort_keys(h, fail) != 0)
		return -1;
	for (uint32_t c = 1; c < h->channels; c++)
		if (strcmp(h->name[c - 1], h->name[c]) == 0)
			return members_refuse(d, fail, "it has key %.60s twice", h->name[c]);
	return 0;
}

/* ---- any channel ---- */

/* Take the name of channel c, if channels have names. */
static int take_name(struct documents *d, uint32_t c, struct fail *fail)
{
	struct hist *const h = &d->document->hist;
	const enum series what = d->value[COLUMN] > 0 ? SERIES_COLUMNS : SERIES_CHANNELS;
	const enum document_member m = what == SERIES_COLUMNS ? COLUMN : NAME;

	if (d->seen == 0 && d->value[m] > 0) {
		h->what = what;
		h->name = calloc((size_t)h->channels + 1, sizeof(*h->name));
		if (!h->name)
			return fail_errno(fail, "%s", d->in.label);
	}
	if (h->what != what || !h->name != (d->value[m] == 0))
		return members_refuse(d, fail, "only some of its channels have a \"%s\"",
				      MEMBERS[h->what == SERIES_COLUMNS ? COLUMN : m].name);
	if (h->name && !(h->name[c] = strdup(members_text(d, m))))
		return fail_errno(fail, "%s", d->in.label);
	return 0;
}

/* Find the number of the channel, which must be a new one. */
static int take_number(struct documents *d, uint32_t *c, struct fail *fail)
{
	*c = (uint32_t)members_count(d, CHANNEL, d->document->hist.channels - 1, fail);
	if (fail->status != STATUS_OK)
		return -1;
	if (d->is_seen[*c / 64] >> *c % 64 & 1)
		return members_refuse(d, fail, "it has channel %lu twice", (unsigned long)*c);
	d->is_seen[*c / 64] |= (uint64_t)1 << *c % 64;
	return take_name(d, *c, fail);
}

/* Take the channel whose members have been read. */
static int take_channel(struct documents *d, struct fail *fail)
{
	struct hist *const h = &d->document->hist;
	const bool is_first = d->seen == 0;
	uint32_t c;

	if ((is_first ? take_whole(d, fail) : check_alike(d, fail)) != 0 ||
	    check_key_name(d, fail) != 0 ||
	    (h->what == SERIES_KEYS ? take_key(d, &c, fail) : take_number(d, &c, fail)) != 0)
		return -1;
	h->flow[c] = (struct hist_flow){members_count(d, UNDER, UINT64_MAX, fail),
					members_count(d, OVER, UINT64_MAX, fail),
					members_count(d, NO_NUMBER, UINT64_MAX, fail)};
	if (d->value[WHOLE] == 0 || !members_flag(d, WHOLE, fail))
		h->whole &= ~((uint64_t)1 << hist_whole_bit(h, c));
	if (fail->status != STATUS_OK || document_edges(d, &h->axis, fail) != 0)
		return -1;
	d->seen++;
	if (take_counts(d, h, c, fail) != 0 || check_counts(d, h, c, fail) != 0 ||
	    (c < h->channels && document_stats(d, h, c, fail) != 0))
		return -1;
	if (is_first)
		memcpy(d->first, d->value, sizeof(d->first));
	forget_channel(d);
	return 0;
}

/* ---- the text ---- */

/* Read the name of a member of `in`, and the colon after it. */
static int read_name(struct documents *d, enum document_member in, enum document_member *m,
		     struct fail *fail)
{
	const enum document_member parent = in == DOCUMENT ? HISTOGRAM : in;
	const size_t used = d->in.used;
	size_t at;

	if (json_name(&d->in, &at, fail) != 0)
		return -1;
	const char *const name = d->in.text + at;
	*m = END - 1;
	while (*m > HISTOGRAM && (MEMBERS[*m].in != parent || strcmp(name, MEMBERS[*m].name) != 0))
		--*m;
	if (*m == HISTOGRAM && (in != DOCUMENT || (strncmp(name, "channel", 7) != 0 &&
						   strncmp(name, KEY_NAME, 3) != 0)))
		*m = UNKNOWN;
	if (*m == HISTOGRAM) {
		free(d->name);
		d->name = strdup(name);
		if (!d->name)
			return fail_errno(fail, "%s", d->in.label);
	}
	d->in.used = used;
	return 0;
}

static int read_list(struct documents *d, enum document_member m, int more, struct fail *fail)
{
	struct list *const list = &d->list[m];

	if (list->at)
		return json_bad(&d->in, fail, "\"%s\" appears twice", MEMBERS[m].name);
	list->at = json_list(&d->in, more, m == EDGES ? JSON_REALS : JSON_COUNTS, &list->n, fail);
	return list->at ? 0 : -1;
}

static int read_plain(struct documents *d, enum document_member m, struct fail *fail)
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
	d->value[m] = at;
	return 0;
}

static int read_pairs(struct documents *d, enum document_member m, struct fail *fail)
{
	struct list *const list = &d->list[m];

	if (list->at)
		return json_bad(&d->in, fail, "\"%s\" appears twice", MEMBERS[m].name);
	list->at = json_pairs(&d->in, &list->n, fail);
	return list->at ? 0 : -1;
}

static int read_value(struct documents *d, enum document_member m, struct fail *fail)
{
	const int open = json_peek(&d->in, fail);
	const size_t used = d->in.used;

	if (m == UNKNOWN || open < 0)
		return open < 0 ? -1 : json_skip(&d->in, fail);
	if (open == '"' && m == DIGEST)
		return read_pairs(d, m, fail);
	if (open != '{' && open != '[')
		return read_plain(d, m, fail);
	int more = json_enter(&d->in, (char)open, fail);
	/* The index is an array in an array. */
	if (open == '[' && m >= EDGES && m <= INDEX && (more == 0 || *d->in.at != '['))
		return read_list(d, m, more, fail);
	for (; more > 0; more = json_next(&d->in, fail)) {
		enum document_member inner = m;
		if ((open == '{' && read_name(d, m, &inner, fail) != 0) ||
		    read_value(d, inner, fail) != 0)
			return -1;
	}
	if (more < 0 || m != HISTOGRAM || open == '[')
		return more;
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
	if (read_value(d, DOCUMENT, fail) != 0 || (d->seen == 0 && take_channel(d, fail) != 0))
		return -1;
	forget_channel(d);
	if (h->what == SERIES_KEYS)
		return order_keys(d, fail);
	return d->seen == h->channels
		       ? 0
		       : members_refuse(d, fail, "some of its %lu channels are missing",
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
