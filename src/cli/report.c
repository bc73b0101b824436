/* SPDX-License-Identifier: MIT */
/* report: what a user should know about a finished run, as messages. */
#include "cli/report.h"

#include <stdio.h>

#include "cli/msg.h"

typedef unsigned long long ull;

static void warn_saturated(const struct style *style, const struct hist *hist)
{
	const ull max = counter_max(style->counter);
	const ull bins = hist_exceeding(hist, max);
	const ull rows = style->flow ? hist_rows_exceeding(hist, max) : 0;
	const char *bins_s = bins == 1 ? "" : "s", *rows_s = rows == 1 ? "" : "s";

	if (bins > 0 && rows > 0)
		msg_warning("%llu bin%s and %llu row%s of --flow saturated at %llu", bins, bins_s,
			    rows, rows_s, max);
	else if (bins > 0)
		msg_warning("%llu bin%s saturated at %llu", bins, bins_s, max);
	else if (rows > 0)
		msg_warning("%llu row%s of --flow saturated at %llu", rows, rows_s, max);
}

#define ADVICE 256

/* Names the range that was seen, and the options that cover it. */
static void name_range(char *advice, size_t room, const struct hist *hist, bool value_is_bin)
{
	const bool is_float = hist->axis.type.kind == SAMPLE_FLOAT;
	char least[NUMBER_TEXT], greatest[NUMBER_TEXT], past[NUMBER_TEXT];
	const unsigned values = (unsigned)(hist->greatest - hist->least) + 1;

	number_format(least, hist->least);
	number_format(greatest, hist->greatest);
	number_format(past, hist->greatest + 1);
	if (hist->axis.kind == AXIS_LOG ||
	    hist->axis.kind == AXIS_EDGES) /* other edges are the user's choice */
		snprintf(advice, room, "; %svalues are from %s to %s", is_float ? "finite " : "",
			 least, greatest);
	else if (is_float && hist->least == hist->greatest)
		snprintf(advice, room, "; all finite values are %s", least);
	else if (is_float)
		snprintf(advice, room,
			 "; finite values are from %s to %s: -r %s:%s --closed covers them", least,
			 greatest, least, greatest);
	else if (value_is_bin && hist->axis.kind == AXIS_VALUES && hist->least >= 0)
		snprintf(advice, room, "; values are from %s to %s: -b %s covers them", least,
			 greatest, past);
	else if (value_is_bin)
		snprintf(advice, room, "; values are from %s to %s: -r %s:%s -b %u covers them",
			 least, greatest, least, past, values);
	else
		snprintf(advice, room, "; values are from %s to %s: -r %s:%s covers them", least,
			 greatest, least, past);
}

/* What else than the type may be wrong; with AUTO only infinities and NaN are out of range. */
static const char *const AND_OPTION[] = {
	[AXIS_VALUES] = " and --bins",
	[AXIS_RANGE] = " and --range",
	[AXIS_LOG] = " and --log",
	[AXIS_EDGES] = " and --edges",
	[AXIS_MOD] = "",
	[AXIS_AUTO] = "",
};

/*
 * Names the options that would cover the samples that are in no bin. The least and the greatest
 * value are known if codes are counted; but a GPU may count a group of 16-bit codes as one of them,
 * which keeps the bins and not the values, unless there are statistics.
 */
static void advise(char advice[ADVICE], const struct hist *hist, const struct run_report *run,
		   uint64_t outside)
{
	const struct edges *e = &hist->axis.edges;
	/* False if only infinities are out of range. */
	const double lo = edges_value(e, 0), hi = edges_value(e, e->binning.bins);
	const bool finite =
		hist->axis.kind != AXIS_AUTO && hist->extent &&
		(hist->least < lo || hist->greatest > hi || (hist->greatest >= hi && !e->closed));
	const struct hist_flow flow = hist_flow_sum(hist);
	const bool known = finite && flow.under + flow.over > 0 &&
			   (hist->axis.type.bytes == 1 || run->gpu_records == 0 || hist->stats);
	const bool value_is_bin = e->exact && e->width == (int128_t)e->binning.bins;
	int used = 0;

	advice[0] = '\0';
	/* Too few bins for 10 or 12 bits in 16 are no evidence against the type. */
	if (outside > hist->samples / 2 && !(known && value_is_bin))
		used = snprintf(advice, ADVICE, "; more than half: check --type %s%s",
				hist->axis.type.name, AND_OPTION[hist->axis.kind]);
	if (known)
		name_range(advice + used, ADVICE - (size_t)used, hist, value_is_bin);
}

static void note_comb(const struct hist *hist)
{
	char values[NUMBER_TEXT], each[NUMBER_TEXT], even[32] = "no number of bins near that";
	const uint32_t bins = axis_bins(&hist->axis);
	int128_t n;
	uint32_t b;

	if (hist->samples == 0 || !axis_makes_comb(&hist->axis, &n, &b))
		return;
	number_format_integer(values, n);
	number_format_integer(each, n / bins);
	if (b > 0)
		snprintf(even, sizeof(even), "-b %lu", (unsigned long)b);
	msg_note("%lu bins over %s values: some hold %s, others one more: %s divides them evenly",
		 (unsigned long)bins, values, each, even);
}

void report_warnings(const struct job *job, const struct hist *hist, const struct run_report *run)
{
	const struct hist_flow flow = hist_flow_sum(hist);
	const uint64_t outside = flow.under + flow.over + flow.nan;
	char advice[ADVICE];

	/* If the launcher started it once for each part by mistake, each would count everything. */
	if (job->part_variable && job->source.parts == 1)
		msg_warning("%s is 1: all records were counted, as the only part",
			    job->part_variable);
	if (run->gpu.state == GPU_FAILED && run->gpu.slots > 0)
		msg_warning("the GPU failed (%s): the CPU counted the rest", run->gpu.why);
	/* What it looks like when the command before the pipe has failed. */
	if (run->totals.empty == 1)
		msg_warning("%s: is empty", run->totals.empty_name);
	else if (run->totals.empty > 1)
		msg_warning("%s and %llu more: are empty", run->totals.empty_name,
			    (ull)run->totals.empty - 1);
	if (run->totals.shorter > 0)
		msg_warning("%llu input%s became shorter while read: what was left was counted",
			    (ull)run->totals.shorter, run->totals.shorter == 1 ? "" : "s");
	if (run->totals.cut > 0)
		msg_warning("%llu input%s fewer samples than %s said: what was there was counted",
			    (ull)run->totals.cut, run->totals.cut == 1 ? " held" : "s held",
			    run->totals.cut == 1 ? "its header" : "their headers");
	if (run->totals.unsized > 0)
		msg_warning(
			"%llu input%s not say where samples end: counted to the end of the input",
			(ull)run->totals.unsized,
			run->totals.unsized == 1 ? "'s header does" : "s' headers do");
	if (run->totals.tails > 0)
		msg_warning("%llu input%s inside a record: %llu bytes were not counted",
			    (ull)run->totals.tails, run->totals.tails == 1 ? " ends" : "s end",
			    (ull)run->totals.tail);
	if (!job->source.type_said && !run->header.format && run->samples > 0 && msg_terminal())
		msg_note("samples read as u32, little endian (-t)");
	if (outside > 0) {
		advise(advice, hist, run, outside);
		msg_warning("%llu of %llu samples are in no bin: %llu under, %llu over, %llu nan%s",
			    (ull)outside, (ull)hist->samples, (ull)flow.under, (ull)flow.over,
			    (ull)flow.nan, advice);
	}
	if (job->style.counter >= COUNTER_SAT8)
		warn_saturated(&job->style, hist);
	note_comb(hist);
}

void report_sum(const struct job *job, const struct sum *sum)
{
	const struct hist *const hist = &sum->total.hist;
	const uint64_t documents = sum->documents;
	char name[SUM_NAME];
	const struct hist_flow flow = hist_flow_sum(hist);
	const uint64_t outside = flow.under + flow.over + flow.nan;

	if (sum->foreign > 0) {
		sum_name_text(name, &sum->foreign_first);
		msg_note("%s%s: not written by gpuhist: added as plain counts of f64", name,
			 sum->foreign > 1 ? " and others" : "");
	}
	if (outside > 0)
		msg_warning("%llu of %llu samples are in no bin: %llu under, %llu over, %llu nan",
			    (ull)outside, (ull)hist->samples, (ull)flow.under, (ull)flow.over,
			    (ull)flow.nan);
	if (job->style.counter >= COUNTER_SAT8)
		warn_saturated(&job->style, hist);
	if (job->verbose)
		msg_note("added %llu histogram%s from %zu input%s: %llu samples of %s",
			 (ull)documents, documents == 1 ? "" : "s", job->source.path_count,
			 job->source.path_count == 1 ? "" : "s", (ull)hist->samples,
			 hist->axis.type.name);
}

void report_into(const struct job *job, uint64_t samples, uint64_t inputs)
{
	if (job->verbose)
		msg_note("%s: now %llu sample%s from %llu input%s", job->into, (ull)samples,
			 samples == 1 ? "" : "s", (ull)inputs, inputs == 1 ? "" : "s");
}

static void report_figure(const struct hist *hist, uint32_t channel, const char *name,
			  const char *text)
{
	if (hist->channels > 1)
		msg_asked("stats: channel %-2lu %-9s %s", (unsigned long)channel, name, text);
	else
		msg_asked("stats: %-9s %s", name, text);
}

/* Left out if it is 0: infinities and NaN are rare. */
static void report_count(const struct hist *hist, uint32_t channel, const char *name,
			 uint64_t count)
{
	char text[NUMBER_TEXT];

	number_format_count(text, count);
	if (count > 0)
		report_figure(hist, channel, name, text);
}

static void report_channel(const struct hist *hist, uint32_t channel)
{
	const struct stats_result *const of = &hist->stats[channel].of;
	char text[QUANTILE_TEXT], name[16];

	number_format_count(text, of->number);
	report_figure(hist, channel, "number", of->number > 0 ? text : "0 (no finite samples)");
	if (of->number > 0) {
		hist_stats_format_least(text, hist, channel);
		report_figure(hist, channel, "minimum", text);
		hist_stats_format_greatest(text, hist, channel);
		report_figure(hist, channel, "maximum", text);
		number_format(text, of->mean);
		report_figure(hist, channel, "mean", text);
		number_format(text, of->deviation);
		report_figure(hist, channel, "deviation", text);
		for (unsigned i = 0; i < HIST_QUANTILES; i++) {
			snprintf(name, sizeof(name), "%u%%", hist_quantile_percent[i]);
			hist_stats_format_quantile(text, hist, channel, i);
			report_figure(hist, channel, name, text);
		}
	}
	report_count(hist, channel, "-inf", of->below);
	report_count(hist, channel, "inf", of->above);
	report_count(hist, channel, "nan", of->nan);
}

void report_stats(const struct hist *hist)
{
	for (uint32_t c = 0; c < hist->channels && hist->stats; c++)
		report_channel(hist, c);
}
