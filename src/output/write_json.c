/* SPDX-License-Identifier: MIT */
/*
 * write_json: the UHI histogram schema, version 1, as read by Python's uhi, boost-histogram and
 * hist. The document is one line: one histogram or, with several channels, an object whose members
 * channel0, channel1 ... are histograms. With --by their names are "key=" and the key, because the
 * schema allows no empty name, and a key could have the name of a member of a histogram. If there
 * are no keys, there is one empty histogram, "key". Versions before 0.4 find no histogram in such a
 * document.
 *
 * An axis is regular only if readers compute exactly the same edges from LO, HI and N; otherwise
 * its edges are listed. boost-histogram, on which hist is built, computes edge i as
 *
 *	(1 - z) LO + z (LO + (HI - LO)),  z = i / N
 *
 * in binary64 (Boost.Histogram, axis::regular::value). Compilers for machines with fused
 * multiply-adds may join either product with the sum, so it must be the same in all three ways.
 *
 * The underflow and overflow of the storage are under and over. All other facts are text, numbers
 * or booleans, because the schema allows neither lists nor objects, in one of two members. Programs
 * that add histograms keep the metadata of the first, so metadata has only facts that remain true.
 * Anything that counting changes, including NaN, is in writer_info.gpuhist, which describes these
 * counts only. dnl and inl of --linearity are the exception: there they are arrays. Python's readers
 * load these documents, but a strict check against the schema refuses them.
 *
 * --mod gives a circular axis from 0 to N; boost-histogram requires an overflow on it, and no
 * underflow.
 *
 * With --nonzero the storage is sparse: the indices of nonzero entries, and their counts.
 *
 * No bins (--auto without a finite sample): boost-histogram has no regular axis without bins, but
 * it turns a regular axis that is marked as its own into an integer axis, which may be empty.
 */
#include "output/format.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hist/compare.h"
#include "hist/figures.h"
#include "hist/linearity.h"
#include "hist/series.h"

/*
 * Escape characters that a JSON string cannot contain. Invalid UTF-8 becomes U+FFFD, so a document
 * is one line of UTF-8.
 */
static const char *json_escape(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
{
	if (length == 0)
		return "\\ufffd";
	if (*p == '"' || *p == '\\')
		return *p == '"' ? "\\\"" : "\\\\";
	if (*p >= 0x20 && *p != 0x7f)
		return NULL;
	snprintf(text, OUTPUT_ESCAPE, "\\u%04x", *p);
	return text;
}

/*
 * Like escape, but a byte that is not UTF-8 becomes half of a surrogate pair, as in Python
 * (surrogateescape), so that different names stay different.
 */
static const char *escape_key(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
{
	if (length > 0)
		return json_escape(p, length, text);
	snprintf(text, OUTPUT_ESCAPE, "\\udc%02x", *p);
	return text;
}

/*
 * Write `"name": value, `, a member that is not the last. It avoids output_print, which is slower:
 * members are half of a small document.
 */
static void member(struct output *out, const char *name, const char *value)
{
	output_text(out, "\"");
	output_text(out, name);
	output_text(out, "\": ");
	output_text(out, value);
	output_text(out, ", ");
}

static void member_count(struct output *out, const char *name, uint64_t value)
{
	char text[NUMBER_TEXT];

	number_format_count(text, value);
	member(out, name, text);
}

static void member_bool(struct output *out, const char *name, bool value)
{
	member(out, name, value ? "true" : "false");
}

static void member_escaped(struct output *out, const char *name, const char *value,
			   const char *(*escaped)(const unsigned char *p, size_t length,
						  char text[OUTPUT_ESCAPE]))
{
	output_print(out, "\"%s\": \"", name);
	output_escaped(out, value, strlen(value), escaped);
	output_text(out, "\", ");
}

static void member_text(struct output *out, const char *name, const char *value)
{
	member_escaped(out, name, value, json_escape);
}

#define RANGE_TEXT (2 * NUMBER_TEXT + 1)

/* JSON has no infinity: if --auto of f64 ends at 2^1024, write the largest number instead. */
static size_t finite_edge(const struct edges *edges, uint32_t i, char text[NUMBER_TEXT])
{
	const size_t length = edges_format(edges, i, text);

	if (!strstr(text, "inf"))
		return length;
	return number_format(text, text[0] == '-' ? -DBL_MAX : DBL_MAX);
}

/*
 * Do all three ways described at the top of this file provably give every edge, so that none need
 * be compared? They do if the edges are rational, N is a power of two, so that i / N is exact, and
 * LO and HI have 24 bits, so that products with them are exact too. The only rounding left gives
 * the binary64 nearest to the edge, as edges_value does.
 */
static bool is_exact(const struct edges *edges, uint32_t bins)
{
	const double lo = edges_value(edges, 0), hi = edges_value(edges, bins);
	int exponent;

	if (edges->form != EDGES_RATIONAL || (bins & (bins - 1)) != 0 || lo + (hi - lo) != hi)
		return false;
	const double low = ldexp(frexp(lo, &exponent), 24), high = ldexp(frexp(hi, &exponent), 24);
	return low == floor(low) && high == floor(high);
}

/* Do readers compute the same edges from LO, HI and N? Edges that were listed are never regular. */
static bool is_regular(const struct axis *axis)
{
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);

	if (bins == 0)
		return true;
	if (axis_kind_of(axis)->spacing != SPACING_EVEN)
		return false;
	if (is_exact(edges, bins))
		return true;
	const double lo = edges_value(edges, 0), top = lo + (edges_value(edges, bins) - lo);
	for (uint32_t i = 0; i <= bins; i++) {
		const double z = (double)i / (double)bins, a = (1 - z) * lo, b = z * top;
		const double edge = edges_value(edges, i);
		/* Not !=, so that a NaN from an infinite LO or HI counts as a difference. */
		if (!(a + b == edge && fma(1 - z, lo, b) == edge && fma(z, top, a) == edge))
			return false;
	}
	return true;
}

static void write_axis(struct output *out, const struct axis *axis, bool regular)
{
	const uint32_t bins = axis_bins(axis);
	char text[NUMBER_TEXT + 1];

	output_text(out, "\"axes\": [{");
	member_text(out, "type", regular ? "regular" : "variable");
	if (bins == 0) {
		output_text(
			out,
			"\"lower\": 0, \"upper\": 0, \"bins\": 0, "
			"\"writer_info\": {\"boost-histogram\": {\"orig_type\": \"Integer\"}}, ");
	} else if (regular) {
		finite_edge(&axis->edges, 0, text);
		member(out, "lower", text);
		finite_edge(&axis->edges, bins, text);
		member(out, "upper", text);
		member_count(out, "bins", bins);
	} else {
		output_text(out, "\"edges\": [");
		for (uint32_t i = 0; i <= bins && !output_failed(out); i++) {
			size_t length = finite_edge(&axis->edges, i, text);
			if (i < bins)
				text[length++] = ',';
			output_write(out, text, length);
		}
		output_text(out, "], ");
	}
	member_bool(out, "underflow", axis_kind_of(axis)->ordered);
	member_bool(out, "overflow", true);
	output_print(out, "\"circular\": %s}], ", axis_kind_of(axis)->ordered ? "false" : "true");
}

/* Write a sample that is listed. */
static size_t format_key(char text[NUMBER_TEXT], const struct sample_type *type, uint64_t key)
{
	return type->kind == SAMPLE_FLOAT
		       ? number_format(text, sample_of_key(type, key) + 0.0)
		       : number_format_integer(text, (int128_t)key + sample_min(type));
}

/*
 * Write the cells of the digest that hold something, as text, because the schema allows no lists
 * here: "CELL COUNT,CELL COUNT...", or "VALUE COUNT,..." if the samples are listed. It is left out if
 * the bins give the same values.
 */
static void write_digest(struct output *out, const struct hist *hist, uint32_t channel)
{
	const struct digest *const digest = &hist->stats[channel].digest;
	char text[2 * NUMBER_TEXT] = ",";
	size_t skip = 1; /* no comma comes before the first */
	uint64_t count;

	if (!digest->touched || hist_has_values(hist, channel))
		return;
	if (!digest->lists)
		member_count(out, "stats_cells", (uint64_t)1 << digest->rule.digits);
	output_text(out, digest->lists ? "\"stats_values\": \"" : "\"stats_digest\": \"");
	for (uint32_t i = 0; digest_next(digest, &i, &count) && !output_failed(out); i++) {
		size_t used =
			1 +
			(digest->lists
				 ? format_key(text + 1, &hist->axis.type, digest->value[i])
				 : number_format_integer(text + 1, digest_cell(&digest->rule, i)));
		text[used++] = ' ';
		used += number_format_count(text + used, count);
		output_write(out, text + skip, used - skip);
		skip = 0;
	}
	output_text(out, "\", ");
}

/*
 * Write the exact sums, as text: most readers would round them. In Python, int(digits, 16) *
 * Fraction(2) ** exponent reads them.
 */
static void write_sums(struct output *out, const struct hist *hist, uint32_t channel)
{
	const struct sample_type counted = sample_type_counted(&hist->axis.type);
	const struct sums *const sums = hist->stats[channel].sums;
	char text[SUMS_TEXT];

	if (!sums)
		return;
	sums_format(text, sums, &counted, false);
	member_text(out, "stats_sum", text);
	sums_format(text, sums, &counted, true);
	member_text(out, "stats_square", text);
}

static void write_stats(struct output *out, const struct hist *hist, uint32_t channel)
{
	const bool reals = hist->axis.type.kind == SAMPLE_FLOAT && !hist->from_bins;
	struct figure f[FIGURES_MOST];
	const size_t n = figures_list(f, IN_JSON, &hist->asked, hist, channel);
	char name[NUMBER_TEXT], text[NUMBER_TEXT];

	/* Undefined and unknown ones are left out. */
	for (size_t i = 0; i < n; i++)
		if (figure_format(text, f[i].value) > 0 && (reals || !(f[i].row->rule & REALS)))
			member(out, figure_name(name, &f[i], IN_JSON, &hist->asked), text);
	write_sums(out, hist, channel);
	write_digest(out, hist, channel);
}

/* Unknown figures are left out. */
static void write_comparison(struct output *out, const struct comparison *c)
{
	const struct {
		const char *name;
		double x;
	} MEMBERS[] = {{"compare_ks", c->ks},
		       {"compare_ks_at", c->at},
		       {"compare_wasserstein", c->wasserstein},
		       {"compare_jensen_shannon", c->divergence}};
	char text[NUMBER_TEXT];

	for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
		number_format(text, MEMBERS[i].x);
		if (isfinite(MEMBERS[i].x))
			member(out, MEMBERS[i].name, text);
	}
}

/* Write dnl or inl of each bin; null: the bin has none. */
static void write_linearity(struct output *out, const char *name, const struct linearity *l,
			    const double *values, uint32_t bins)
{
	char text[NUMBER_TEXT];

	output_print(out, "\"%s\": [", name);
	for (uint32_t i = 0; i < bins && !output_failed(out); i++) {
		linearity_format(text, l, values, i);
		output_text(out, i > 0 ? "," : "");
		output_text(out, *text ? text : "null");
	}
	output_text(out, "], ");
}

/* Write two edges as LO:HI. */
static void write_range(char range[RANGE_TEXT], const struct edges *edges, uint32_t first,
			uint32_t end)
{
	size_t used = finite_edge(edges, first, range);

	range[used++] = ':';
	finite_edge(edges, end, range + used);
}

/* Write the facts about a channel that remain true when counts are added. */
static void write_described(struct output *out, const struct hist *hist, uint32_t channel,
			    bool sparse)
{
	const struct axis *const axis = &hist->axis;
	const struct auto_span *const span = &axis->edges.span;
	const uint32_t zero = (uint32_t)(span->below.last - span->below.first + 1);
	char range[RANGE_TEXT] = "";

	if (axis_bins(axis) > 0)
		write_range(range, &axis->edges, 0, axis_bins(axis));
	member_text(out, "type", axis->type.name);
	member_text(out, "binning", axis_kind_of(axis)->name);
	member_text(out, "range", range);
	if (axis->kind == AXIS_RANKS && span->zero) {
		write_range(range, &axis->edges, zero, zero + 1);
		member_text(out, "zero", range);
	} else if (axis->kind == AXIS_RANKS) {
		member_text(out, "zero", "none");
	}
	if (axis_kind_of(axis)->from_samples)
		member_count(out, "most", axis->edges.auto_bins.most);
	member_bool(out, "closed", axis->edges.closed);
	member_bool(out, "clamp", axis->clamp);
	if (axis->missing.n > 0) {
		const struct sample_type before = sample_type_signed(&axis->type);
		char values[MISSING_TEXT];
		missing_format(values, &axis->missing, &before);
		member_text(out, "missing", values);
	}
	member_text(out, "counter", "u64");
	if (hist->what == SERIES_KEYS) {
		member_escaped(out, "key", hist->by, escape_key);
		member_text(out, "keys", hist->whole_keys ? "numbers" : "text");
	} else {
		member_count(out, "channel", channel);
		member_count(out, "channels", hist->channels);
		if (hist->name)
			member_escaped(out, hist->what == SERIES_COLUMNS ? "column" : "name",
				       hist->name[channel], escape_key);
	}
	if (sparse) /* the storage does not show the number of bins */
		member_count(out, "bins", axis_bins(axis));
}

/* Write the facts that counting changes: some of the channel, the rest of the whole run. */
static void write_counted(struct output *out, const struct hist *hist, uint32_t channel,
			  const struct provenance *from)
{
	const struct hist_flow *const flow = &hist->flow[channel];
	char state[17];

	member_count(out, "samples", hist_samples(hist, channel));
	member_count(out, "under", flow->under);
	member_count(out, "over", flow->over);
	member_count(out, "nan", flow->nan);
	if (hist_is_whole(hist, channel))
		member_bool(out, "whole", true);
	if (hist->stats)
		write_stats(out, hist, channel);
	if (hist->compared)
		write_comparison(out, &hist->compared[channel]);
	if (hist->linearity) {
		const struct linearity *const l = &hist->linearity[channel];
		write_linearity(out, "dnl", l, l->dnl, axis_bins(&hist->axis));
		write_linearity(out, "inl", l, l->inl, axis_bins(&hist->axis));
	}
	member_count(out, "bytes", from->bytes);
	member_count(out, "skipped", from->skipped);
	member_count(out, "tail", from->tail);
	if (from->bad > 0)
		member_count(out, "bad_lines", from->bad);
	member_count(out, "inputs", from->inputs);
	member_count(out, "part", from->part);
	member_count(out, "parts", from->parts);
	/* As text, because JSON readers turn numbers into doubles, which cannot hold 64 bits. */
	if (from->parts > 1 && from->state != 0) {
		snprintf(state, sizeof(state), "%016llx", (unsigned long long)from->state);
		member_text(out, "inputs_state", state);
	}
	if (from->partial)
		member_bool(out, "partial", true);
	if (from->row_of) {
		member_text(out, "row_of", from->row_of);
		member_count(out, "row_first", from->row_first);
		member_count(out, "row_records", from->row_records);
		if (from->tensor) {
			member_text(out, "tensor", from->tensor);
			member_text(out, "shape", from->shape);
		}
	}
}

/* Lists in a storage: all counts or, if sparse, the indices of nonzero counts and these counts. */
enum listed { ALL_COUNTS, SOME_PLACES, SOME_COUNTS };

/* Write the entries of a storage: under (not with --mod), the bins, over. */
static void write_entries(struct output *out, const struct hist *hist, uint32_t channel,
			  enum listed listed)
{
	const struct hist_flow *const flow = &hist->flow[channel];
	const uint32_t bins = axis_bins(&hist->axis), before = axis_kind_of(&hist->axis)->ordered;
	char text[NUMBER_TEXT + 1] = ",";
	size_t skip = 1; /* no comma comes before the first */

	for (uint32_t i = 0; i <= before + bins && !output_failed(out); i++) {
		const uint64_t count = i == before + bins ? flow->over
				       : i < before       ? flow->under
							  : hist_count(hist, channel, i - before);
		if (listed != ALL_COUNTS && count == 0)
			continue;
		const size_t length =
			number_format_count(text + 1, listed == SOME_PLACES ? i : count);
		output_write(out, text + skip, 1 - skip + length);
		skip = 0;
	}
}

static void write_storage(struct output *out, const struct hist *hist, uint32_t channel,
			  bool sparse)
{
	if (sparse) {
		output_text(out, "\"index\": [[");
		write_entries(out, hist, channel, SOME_PLACES);
		output_text(out, "]], ");
	}
	output_text(out, "\"values\": [");
	write_entries(out, hist, channel, sparse ? SOME_COUNTS : ALL_COUNTS);
	output_text(out, "]}}");
}

/* Write the document of a channel up to its counts. */
static void write_head(struct output *out, const struct hist *hist, uint32_t channel,
		       const struct provenance *from, bool regular, bool sparse)
{
	static const char VERSION[] = "\"version\": \"" GPUHIST_VERSION "\"}";

	output_text(out, "{\"uhi_schema\": 1, \"writer_info\": {\"gpuhist\": {");
	write_counted(out, hist, channel, from);
	output_text(out, VERSION);
	output_text(out, "}, \"metadata\": {");
	write_described(out, hist, channel, sparse);
	member_text(out, "options", from->options ? from->options : "");
	output_text(out, VERSION);
	output_text(out, ", ");
	write_axis(out, &hist->axis, regular);
	output_text(out, "\"storage\": {\"type\": \"int\", ");
}

static void write_name(struct output *out, const struct hist *hist, uint32_t channel)
{
	if (hist->what != SERIES_KEYS) {
		output_print(out, "\"channel%u\": ", channel);
		return;
	}
	const char *const name = hist->name[channel];
	output_text(out, name ? "\"key=" : "\"key");
	output_escaped(out, name ? name : "", name ? strlen(name) : 0, escape_key);
	output_text(out, "\": ");
}

void write_json(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
{
	const bool regular = is_regular(&hist->axis), named = series_many(hist);
	struct hist none = *hist; /* --by without any key: an empty channel */

	none.stats = NULL;
	output_text(out, named ? "{" : "");
	for (uint32_t c = 0; c < hist->channels + (hist->channels == 0) && !output_failed(out);
	     c++) {
		const struct hist *const h = hist->channels > 0 ? hist : &none;
		output_text(out, c > 0 ? ", " : "");
		if (named)
			write_name(out, hist, c);
		write_head(out, h, c, from, regular, style->nonzero);
		write_storage(out, h, c, style->nonzero);
	}
	output_text(out, named ? "}\n" : "\n");
}
