/* SPDX-License-Identifier: MIT */
/*
 * write_json: the UHI histogram schema, version 1, as Python's uhi, boost-histogram and hist read it: one
 * line that holds one histogram, or with channels an object of them, named channel0, channel1 ...
 *
 * An axis is regular only where readers compute the same edges, to the bit, from LO, HI and N; else its
 * edges are listed. boost-histogram, which hist is built on, has edge i as
 *
 *	(1 - z) LO + z (LO + (HI - LO)),  z = i / N
 *
 * in binary64 (Boost.Histogram, axis::regular::value). Compilers for machines with fused multiply-adds
 * may join either product with the sum, so it must be the same in all three ways.
 *
 * The underflow and overflow of the storage are under and over. NaN has no place in an axis; it stands in
 * the metadata with what else is worth knowing. Values there are text, numbers, true or false: the schema
 * allows no lists and no objects.
 *
 * --mod is a circular axis from 0 to N, which readers know to wrap around; boost-histogram wants an overflow
 * there and no underflow.
 *
 * With --nonzero the storage is sparse: an index of the entries that hold something, and what they hold.
 *
 * No bins (--auto without a finite sample): boost-histogram has no regular axis without bins, but an integer
 * one, which it makes of a regular axis that is marked as its own.
 */
#include "output/write.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/json.h"

static double edge_value(const struct axis *axis, uint32_t i)
{
	return axis->kind == AXIS_MOD ? (double)i : edges_value(&axis->edges, i);
}

/*
 * JSON has no infinity: --auto of f64 may end at 2^1024, and is written as ending at the largest
 * number.
 */
size_t write_json_edge(const struct axis *axis, uint32_t i, char text[NUMBER_TEXT])
{
	if (axis->kind == AXIS_MOD)
		return number_format_count(text, i);
	const size_t length = edges_format(&axis->edges, i, text);
	if (!strstr(text, "inf"))
		return length;
	return number_format(text, text[0] == '-' ? -DBL_MAX : DBL_MAX);
}

/*
 * Does each of the three ways give all edges, so that they need not be compared one by one? The
 * edges are rationals, of N equal parts where N is a power of two, so i / N is exact. LO and HI
 * have 24 bits, so products with them are exact too. The one rounding that is left gives the
 * binary64 nearest to the edge, as edges_value does.
 */
static bool is_exact(const struct axis *axis)
{
	const uint32_t bins = axis_bins(axis);
	const double lo = edge_value(axis, 0), hi = edge_value(axis, bins);
	int exponent;

	if (!axis->edges.exact || axis->kind == AXIS_MOD || (bins & (bins - 1)) != 0 ||
	    lo + (hi - lo) != hi)
		return false;
	const double low = ldexp(frexp(lo, &exponent), 24), high = ldexp(frexp(hi, &exponent), 24);
	return low == floor(low) && high == floor(high);
}

/*
 * Do readers that know LO, HI and N compute the same edges? Edges that were listed are listed
 * again.
 */
bool write_json_is_regular(const struct axis *axis)
{
	const uint32_t bins = axis_bins(axis);

	if (bins == 0)
		return true;
	if (axis->kind == AXIS_LOG || axis->kind == AXIS_EDGES)
		return false;
	if (is_exact(axis))
		return true;
	const double lo = edge_value(axis, 0), top = lo + (edge_value(axis, bins) - lo);
	for (uint32_t i = 0; i <= bins; i++) {
		const double z = (double)i / (double)bins, a = (1 - z) * lo, b = z * top;
		const double edge = edge_value(axis, i);
		/* Not !=, so that a NaN from an infinite LO or HI counts as a difference. */
		if (!(a + b == edge && fma(1 - z, lo, b) == edge && fma(z, top, a) == edge))
			return false;
	}
	return true;
}

static void write_edge(struct output *out, const struct axis *axis, uint32_t i)
{
	char text[NUMBER_TEXT];

	output_write(out, text, write_json_edge(axis, i, text));
}

static void write_axis(struct output *out, const struct axis *axis, bool regular)
{
	const uint32_t bins = axis_bins(axis);

	output_text(out, regular ? "\"axes\": [{\"type\": \"regular\", "
				 : "\"axes\": [{\"type\": \"variable\", ");
	if (bins == 0) {
		output_text(
			out,
			"\"lower\": 0, \"upper\": 0, \"bins\": 0, "
			"\"writer_info\": {\"boost-histogram\": {\"orig_type\": \"Integer\"}}, ");
	} else if (regular) {
		output_text(out, "\"lower\": ");
		write_edge(out, axis, 0);
		output_text(out, ", \"upper\": ");
		write_edge(out, axis, bins);
		output_text(out, ", ");
		json_member_count(out, "bins", bins);
	} else {
		output_text(out, "\"edges\": ");
		for (uint32_t i = 0; i <= bins && !output_failed(out); i++) {
			output_text(out, i == 0 ? "[" : ",");
			write_edge(out, axis, i);
		}
		output_text(out, "], ");
	}
	json_member_bool(out, "underflow", axis->kind != AXIS_MOD);
	output_text(out, axis->kind == AXIS_MOD ? "\"overflow\": true, \"circular\": true}], "
						: "\"overflow\": true, \"circular\": false}], ");
}

/* What a reader of one channel needs without the others: its own samples, under, over and NaN. */
static void write_metadata(struct output *out, const struct hist *hist, uint32_t channel,
			   const struct provenance *from)
{
	const struct axis *const axis = &hist->axis;
	const struct hist_flow *const flow = &hist->flow[channel];
	char range[2 * NUMBER_TEXT + 1] = "", state[17];

	if (axis_bins(axis) > 0) {
		size_t used = write_json_edge(axis, 0, range);
		range[used++] = ':';
		write_json_edge(axis, axis_bins(axis), range + used);
	}
	output_text(out, "\"metadata\": {");
	json_member_text(out, "type", axis->type.name);
	json_member_text(out, "binning", axis_kind_name(axis->kind));
	json_member_text(out, "range", range);
	if (axis->kind == AXIS_AUTO)
		json_member_count(out, "most", axis->edges.most);
	json_member_bool(out, "closed", axis->edges.closed);
	json_member_bool(out, "clamp", axis->clamp);
	json_member_text(out, "counter", counter_name(COUNTER_U64));
	json_member_count(out, "channel", channel);
	json_member_count(out, "channels", hist->channels);
	json_member_count(out, "samples", hist->samples / hist->channels);
	json_member_count(out, "under", flow->under);
	json_member_count(out, "over", flow->over);
	json_member_count(out, "nan", flow->nan);
	/*
	 * The samples that were clamped into the first and last bins: when others are added they
	 * may belong to other bins.
	 */
	if (axis->kind == AXIS_AUTO && axis->clamp) {
		json_member_count(out, "clamped_under", hist->clamped[channel].under);
		json_member_count(out, "clamped_over", hist->clamped[channel].over);
	}
	write_stats_members(out, hist, channel);
	/* Of the whole run, for every channel the same. */
	json_member_count(out, "bytes", from->bytes);
	json_member_count(out, "skipped", from->skipped);
	json_member_count(out, "tail", from->tail);
	json_member_count(out, "inputs", from->inputs);
	json_member_count(out, "part", from->part);
	json_member_count(out, "parts", from->parts);
	if (from->held)
		json_member_text(out, "held", from->held);
	/* As text: readers of JSON make doubles of numbers, which cannot hold 64 bits. */
	if (from->parts > 1 && from->state != 0) {
		snprintf(state, sizeof(state), "%016llx", (unsigned long long)from->state);
		json_member_text(out, "inputs_state", state);
	}
	if (from->partial)
		json_member_bool(out, "partial", true);
	json_member_text(out, "options", from->options ? from->options : "");
	output_text(out, "\"version\": \"" GPUHIST_VERSION "\"}, ");
}

/* Writes a comma, except before the first, and a number. */
static void write_number(struct output *out, bool *first, uint64_t number)
{
	char text[NUMBER_TEXT + 1] = ",";
	const size_t skip = *first ? 1 : 0;

	output_write(out, text + skip, 1 - skip + number_format_count(text + 1, number));
	*first = false;
}

/*
 * For the entries of a storage that hold something (under, but not with --mod; the bins; over):
 * their places, or their counts.
 */
static void write_entries(struct output *out, const struct hist *hist, uint32_t channel,
			  bool places)
{
	const uint32_t bins = axis_bins(&hist->axis), before = hist->axis.kind == AXIS_MOD ? 0 : 1;
	const struct hist_flow *const flow = &hist->flow[channel];
	bool first = true;

	if (before > 0 && flow->under > 0)
		write_number(out, &first, places ? 0 : flow->under);
	for (uint32_t i = 0; i < bins; i++) {
		const uint64_t count = hist_count(hist, channel, i);
		if (count == 0)
			continue;
		write_number(out, &first, places ? before + i : count);
		if (output_failed(out))
			return;
	}
	if (flow->over > 0)
		write_number(out, &first, places ? before + bins : flow->over);
}

static void write_sparse(struct output *out, const struct hist *hist, uint32_t channel)
{
	output_text(out, "\"storage\": {\"type\": \"int\", \"index\": [[");
	write_entries(out, hist, channel, true);
	output_text(out, "]], \"values\": [");
	write_entries(out, hist, channel, false);
	output_text(out, "]}}");
}

static void write_counts(struct output *out, const struct hist *hist, uint32_t channel)
{
	const bool mod = hist->axis.kind == AXIS_MOD;
	char text[NUMBER_TEXT + 1];

	output_text(out, "\"storage\": {\"type\": \"int\", \"values\": [");
	if (!mod)
		output_write(out, text, number_format_count(text, hist->flow[channel].under));
	for (uint32_t i = 0; i < axis_bins(&hist->axis) && !output_failed(out); i++) {
		text[0] = ',';
		const size_t length =
			1 + number_format_count(text + 1, hist_count(hist, channel, i));
		const size_t first = mod && i == 0; /* no comma comes before the first entry */
		output_write(out, text + first, length - first);
	}
	output_text(out, ",");
	output_write(out, text, number_format_count(text, hist->flow[channel].over));
	output_text(out, "]}}");
}

void write_json(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
{
	const bool regular = write_json_is_regular(&hist->axis);
	char name[32];

	output_text(out, hist->channels > 1 ? "{" : "");
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		if (hist->channels > 1) {
			snprintf(name, sizeof(name), "%s\"channel%lu\": ", c > 0 ? ", " : "",
				 (unsigned long)c);
			output_text(out, name);
		}
		output_text(out,
			    "{\"uhi_schema\": 1, \"writer_info\": {\"gpuhist\": {\"version\": "
			    "\"" GPUHIST_VERSION "\"}}, ");
		write_metadata(out, hist, c, from);
		write_axis(out, &hist->axis, regular);
		if (style->nonzero)
			write_sparse(out, hist, c);
		else
			write_counts(out, hist, c);
	}
	output_text(out, hist->channels > 1 ? "}\n" : "\n");
}
