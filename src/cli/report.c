/* SPDX-License-Identifier: MIT */
/* report: warnings, advice and the lines of -v after a run, and the picture of -p. */
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/signals.h"
#include "cli/msg.h"
#include "cli/progress.h"
#include "each/formats.h"
#include "hist/series.h"
#include "output/picture.h"

/* ---- warnings ---- */

static void note_saturated(const struct style *style, const struct hist *hist)
{
	const ull max = COUNTERS[style->counter].max;
	const ull bins = hist_exceeding(hist, max);
	const ull rows = style->flow ? hist_rows_exceeding(hist, max) : 0;
	char more[48] = "";

	if (style->counter < COUNTER_SAT8 || bins + rows == 0)
		return;
	if (rows > 0)
		snprintf(more, sizeof(more), " and " COUNTED " of --flow", COUNT(rows, "row"));
	msg_note(COUNTED "%s saturated at %llu", COUNT(bins, "bin"), more, max);
}

void report_outside(const struct hist_flow *flow, uint64_t samples, bool real, const char *advice)
{
	const char *const none = real ? "NaN" : "missing";
	const uint64_t outside = flow->under + flow->over + flow->nan;
	char nan[48] = "";

	if (flow->nan > 0)
		snprintf(nan, sizeof(nan), ", %llu %s", (ull)flow->nan, none);
	if (outside > 0)
		msg_warning("%llu of %llu samples %s out of range%s%s: %llu under, %llu over%s%s",
			    (ull)outside, (ull)samples, outside == 1 ? "is" : "are",
			    flow->nan > 0 ? " or " : "", flow->nan > 0 ? none : "",
			    (ull)flow->under, (ull)flow->over, nan, advice);
}

static void warn_outside(const struct hist *hist, const char *advice)
{
	const struct hist_flow flow = hist_flow_sum(hist);

	report_outside(&flow, hist->samples, hist->axis.type.kind == SAMPLE_FLOAT, advice);
}

#define ADVICE 384

/*
 * Suggest --mask or --mod if integers are so far above a range of 2^N values that high bits may be
 * flags.
 */
static void name_mod(char *advice, size_t size, const struct hist *hist)
{
	const struct edges *const e = &hist->axis.edges;
	const uint64_t over = hist_flow_sum(hist).over;
	const struct sample_type *const type = &hist->axis.type;
	const bool mask = type->kind == SAMPLE_UNSIGNED && (type->bits == 8 || type->bits == 16);

	/* With --mask, flags are gone already, and samples may be signed; --stats refuses --mod. */
	if (type->word > 0 || (!mask && hist->stats))
		return;
	if (e->form != EDGES_RATIONAL || !axis_kind_of(&hist->axis)->ordered ||
	    e->rational.lo != 0 || e->rational.width < 2 || e->rational.width > BINS_MAX ||
	    (e->rational.width & (e->rational.width - 1)) != 0)
		return;
	const uint32_t past = (uint32_t)e->rational.width;
	char low[24] = "lowest bit";
	if (past > 2)
		snprintf(low, sizeof low, "low %d bits", __builtin_ctz(past));
	if (over > 0 && (hist->extent ? hist->greatest >= 2.0 * past : over > hist->samples / 2))
		snprintf(advice, size,
			 mask ? "; if the high bits are flags, --mask=0x%lx keeps the %s"
			      : "; if the high bits are flags, --mod -b %lu keeps the %s",
			 (unsigned long)past - mask, low);
}

/*
 * Format x; round a fraction with more than six digits to six, down if sign is -1, up if it is 1. x
 * has at most 16 bits, far from the limits of binary64, so the loop ends.
 */
static void bound_text(char text[NUMBER_TEXT], double x, int sign)
{
	if (number_format(text, x) <= 6 || edge_is_whole(text))
		return;
	/* Each step is less than one unit in the sixth digit. */
	for (double y = x;; y += sign * fabs(x) * 1e-6) {
		snprintf(text, NUMBER_TEXT, "%.6g", y);
		if (sign * (strtod(text, NULL) - x) >= 0)
			return;
	}
}

/* Report the range of the samples, and the options that cover it. */
static void name_range(char *advice, size_t size, const struct hist *hist, bool value_is_bin)
{
	const bool is_float = hist->axis.type.kind == SAMPLE_FLOAT;
	char least[NUMBER_TEXT], greatest[NUMBER_TEXT], past[NUMBER_TEXT];

	bound_text(least, hist->least, -1);
	bound_text(greatest, hist->greatest, 1);
	number_format(past, hist->greatest + 1);
	const int used = snprintf(advice, size, "; %svalues range from %s to %s",
				  is_float ? "finite " : "", least, greatest);
	advice += used;
	size -= (size_t)used;
	/* Unevenly spaced edges are the user's choice. */
	if (axis_kind_of(&hist->axis)->spacing != SPACING_EVEN ||
	    (is_float && hist->least == hist->greatest))
		return;
	if (is_float)
		snprintf(advice, size, "; -r %s:%s --closed covers them", least, greatest);
	else if (hist->axis.kind == AXIS_VALUES && value_is_bin && hist->least >= 0)
		snprintf(advice, size, "; -b %s covers them", past);
	else if (value_is_bin)
		snprintf(advice, size, "; -r %s:%s -b %.0f covers them", least, past,
			 hist->greatest - hist->least + 1);
	else
		snprintf(advice, size, "; -r %s:%s covers them", least, past);
}

/*
 * Suggest options that would cover the samples that are in no bin. The least and greatest value are
 * known if codes are counted. The type of text and the type in a header are taken as right.
 */
static void advise(char advice[ADVICE], const struct hist *hist, const struct job *job,
		   const struct run_report *run)
{
	const struct edges *e = &hist->axis.edges;
	/* `finite` is false if only infinities are out of range. */
	const double lo = edges_value(e, 0), hi = edges_value(e, e->binning.bins);
	const bool finite =
		!axis_kind_of(&hist->axis)->from_samples && hist->extent &&
		(hist->least < lo || hist->greatest > hi || (hist->greatest >= hi && !e->closed));
	const struct hist_flow flow = hist_flow_sum(hist);
	const bool known = finite && flow.under + flow.over > 0;
	const bool value_is_bin = edges_are_values(e), text = job->source.text.on;
	const bool typed = text || run->header.format,
		   fixed = job->each > 0 || job->by_text || job->style.binless;
	int used = 0;

	advice[0] = '\0';
	/* Too few bins for 10-bit or 12-bit samples in 16 bits do not speak against the type. */
	const bool most = flow.under + flow.over + flow.nan > hist->samples / 2;
	if (most && !(known && value_is_bin) && !typed)
		used = snprintf(advice, ADVICE, "; that is more than half; check --type %s",
				hist->axis.type.name);
	else if (most && !known && !fixed && flow.nan <= hist->samples / 2 &&
		 !axis_kind_of(&hist->axis)->from_samples)
		used = snprintf(advice, ADVICE, "; --auto finds a range for them");
	if (known)
		name_range(advice + used, ADVICE - (size_t)used, hist, value_is_bin);
	used = (int)strlen(advice);
	if (known && most && hist->axis.kind == AXIS_VALUES)
		used += snprintf(advice + used, ADVICE - (size_t)used,
				 ", and so does -r full -b %lu",
				 (unsigned long)axis_bins(&hist->axis));
	if (!text)
		name_mod(advice + used, ADVICE - (size_t)used, hist);
}

/*
 * Warn about unexpected inputs. Each entry has their number, the name of one or NULL, a sentence
 * for one and for several inputs, and the words for its %s.
 */
static void warn_inputs(const struct job *job, const struct run_report *run)
{
	const struct source_totals *const t = &run->totals;
	const char *const type = run->type.name;
	const struct misnamed misnamed = job_misnamed(job);
	const bool text_on = job->source.text.on;
	char tail[40], behind[40], text[FAIL_TEXT], more[32];

	snprintf(tail, sizeof(tail), COUNTED " %s", COUNT(t->tail, "byte"),
		 t->tail == 1 ? "was" : "were");
	snprintf(behind, sizeof(behind), COUNTED " %s", COUNT(t->behind_bytes, "byte"),
		 t->behind_bytes == 1 ? "was" : "were");
	const struct {
		uint64_t inputs;
		const char *name, *one, *several, *first, *second;
	} rows[] = {
		/* perhaps the command before the pipe failed */
		{t->empty.count, t->empty.name, text_on ? "has no numbers" : "is empty",
		 text_on ? "have no numbers" : "are empty", "", ""},
		{t->shorter, NULL, "became shorter while being read; what was left was counted",
		 NULL, "", ""},
		{t->truncated, NULL,
		 "held fewer samples than the header said; those present were counted", NULL, "",
		 ""},
		{t->tails, NULL, "ended inside a record; %s not counted", NULL, tail, ""},
		{run->type.bits > 8 ? t->texts.count : 0, t->texts.name,
		 "is text, but was counted as binary %s samples (--text reads its numbers, -t u8 "
		 "its bytes)",
		 "are text, but were counted as binary %s samples (--text reads their numbers, -t "
		 "u8 their bytes)",
		 type, ""},
		{t->behind.count, t->behind.name, "goes on after its samples; %s not counted",
		 "go on after their samples; %s not counted", behind, ""},
		{t->lacking.count, t->lacking.name,
		 "lacks bytes after the tensor that was counted; was it cut short?",
		 "lack bytes after the tensor that was counted; were they cut short?", "", ""},
		{misnamed.count, misnamed.name, "was counted as %s (--type), but its name says %s",
		 "were counted as %s (--type), but the name of the first says %s", misnamed.typed,
		 misnamed.named},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool one = rows[i].inputs == 1 || !rows[i].several;
		if (rows[i].inputs == 0)
			continue;
		snprintf(more, sizeof(more), " and %llu more", (ull)rows[i].inputs - 1);
		snprintf(text, sizeof(text), one ? rows[i].one : rows[i].several, rows[i].first,
			 rows[i].second);
		if (rows[i].name)
			msg_warning("%s%s %s", rows[i].name, one ? "" : more, text);
		else
			msg_warning(COUNTED " %s", COUNT(rows[i].inputs, "input"), text);
	}
}

/* After a plot, suggest --log=auto or -r if one row, or those next to 0, have nearly all samples. */
static bool advise_log(const struct picture *p, uint32_t k)
{
	const struct axis *const axis = &p->hist->axis;
	const bool zero = k + 1 < p->bars && axis_kind_of(axis)->from_samples &&
			  edges_value(&p->axis.edges, p->bar[k].to) == 0;
	uint64_t row = 0, all = 0, most = 0;

	for (uint32_t c = 0; c < p->hist->channels; c++) {
		row += picture_sum(p, c, k) + (zero ? picture_sum(p, c, k + 1) : 0);
		all += p->facts[c].samples;
		most += p->facts[c].most;
	}
	/* Other bins would not separate samples of equal value. */
	if (all < 100 || row <= all - all / 20 ||
	    (bin_is_value(axis, p->facts[0].fullest) && most > all - all / 20))
		return false;
	msg_note("%s %u %% of the samples; --log=auto or -r LO:HI tells them apart",
		 zero ? "two rows hold" : "one row holds", (unsigned)((uint128_t)row * 100 / all));
	return true;
}

/* The first or the last bin of a channel that has samples; the number of bins if none has. */
static uint32_t end_of(const struct hist *hist, uint32_t channel, bool last)
{
	const uint32_t bins = axis_bins(&hist->axis);

	for (uint32_t i = 0; i < bins; i++)
		if (hist_count(hist, channel, last ? bins - 1 - i : i) > 0)
			return last ? bins - 1 - i : i;
	return bins;
}

/* Name a channel without which the others would need less than a quarter of the bins. */
static bool advise_channel(const struct hist *hist)
{
	const uint32_t bins = axis_bins(&hist->axis), n = hist->channels;
	/* The channels with the lowest and the highest bin, and the ends of the other channels. */
	char label[SERIES_LABEL];
	uint32_t who[2] = {0, 0}, ends[2] = {bins, 0}, others[2] = {bins, 0};

	for (uint32_t c = 0; c < n; c++) {
		const uint32_t first = end_of(hist, c, false), last = end_of(hist, c, true);
		if (first == bins)
			continue;
		others[0] = first < ends[0] ? ends[0] : first < others[0] ? first : others[0];
		who[0] = first < ends[0] ? c : who[0];
		ends[0] = first < ends[0] ? first : ends[0];
		others[1] = last >= ends[1] ? ends[1] : last > others[1] ? last : others[1];
		who[1] = last >= ends[1] ? c : who[1];
		ends[1] = last >= ends[1] ? last : ends[1];
	}
	for (int side = 0; side < 2 && n > 2 && axis_kind_of(&hist->axis)->from_samples; side++) {
		const uint32_t low = who[side] == who[0] ? others[0] : ends[0],
			       high = who[side] == who[1] ? others[1] : ends[1];
		if (high < low || (high - low + 1) * (uint64_t)4 > bins)
			continue;
		msg_note("1 of %lu %ss fills the range: see %s", (unsigned long)n,
			 series_head(hist), series_label(label, hist, who[side]));
		return true;
	}
	return false;
}

/*
 * The samples at an extreme value that is much more frequent than those next to it, as clipping makes
 * it; else 0.
 */
static uint64_t clipped_at(const struct hist *hist, uint32_t channel, uint32_t end, bool last)
{
	const uint32_t bins = axis_bins(&hist->axis);
	uint64_t most = 0, filled = 0;

	if (end == bins || !bin_is_value(&hist->axis, end))
		return 0;
	const uint64_t count = hist_count(hist, channel, end);
	for (uint32_t i = 1; i <= 16; i++) {
		const uint32_t bin = last ? end - i : end + i;
		const uint64_t next = bin < bins ? hist_count(hist, channel, bin) : 0;
		most = next > most ? next : most;
		filled += next > 0;
	}
	return filled < 8 || count / 4 <= most || count < hist_samples(hist, channel) / 100 + 1
		       ? 0
		       : count;
}

/* Name one or both extreme values of a channel that look clipped. */
static bool advise_clipped(const struct hist *hist)
{
	static const char *const ENDS[] = {"smallest", "largest"};
	char text[800], value[NUMBER_TEXT], share[NUMBER_TEXT], label[SERIES_LABEL];

	for (uint32_t c = 0; c < hist->channels; c++) {
		size_t used = 0;
		series_label(label, hist, c);
		for (int last = 0; last < 2; last++) {
			const uint32_t end = end_of(hist, c, last);
			const uint64_t count = clipped_at(hist, c, end, last);
			if (count == 0)
				continue;
			percent_text(share, count, hist_samples(hist, c));
			edges_format(&hist->axis.edges, end, value);
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "%s%s%s%s at %s, the %s value",
				used > 0 ? ", and " : "", share, *label && used == 0 ? " of " : "",
				used == 0 ? label : "", value, ENDS[last]);
		}
		if (used == 0)
			continue;
		msg_note("%s: clipped?", text);
		return true;
	}
	return false;
}

/* Give advice after a plot, at most a line; return whether any was due. */
static bool advise_picture(const struct job *job, const struct hist *hist)
{
	const enum axis_kind kind = hist->axis.kind;
	const bool drawn = job->plot || job->format->write == write_plot;
	struct picture p;

	if (!drawn || job->voice == VOICE_QUIET)
		return false;
	if (msg_terminal() && (advise_channel(hist) || advise_clipped(hist)))
		return true;
	if (hist_is_list(hist) || picture_open(&p, hist, false, job->style.canvas.lines))
		return false;
	picture_join(&p, job->style.canvas.lines - 4);
	picture_count(&p);
	bool said = false;
	for (uint32_t k = 0; k < p.bars && p.bars > 1 && !said; k++)
		if (kind == AXIS_VALUES || kind == AXIS_RANGE || kind == AXIS_AUTO)
			said = advise_log(&p, k);
	picture_free(&p);
	return said;
}

/*
 * If the widest bin of an integer type holds 2% more values than the narrowest, which makes flat
 * data look like a comb, suggest bins that all hold equally many.
 */
static void advise_comb(const struct hist *hist)
{
	const struct edges *const e = &hist->axis.edges;
	const int128_t bins = axis_bins(&hist->axis);

	if (hist->axis.kind != AXIS_RANGE || e->form != EDGES_RATIONAL)
		return;
	const int128_t width = e->rational.width, least = width / bins;
	if (width % bins == 0 || least > 50)
		return;
	for (int128_t each = least + 1; each < 4 * (least + 1); each++)
		if (width % each == 0) {
			msg_note("bins hold %llu or %llu values each; -b %llu makes them equal",
				 (ull)least, (ull)least + 1, (ull)(width / each));
			return;
		}
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT];
	number_format_integer(lo, e->rational.lo);
	number_format_integer(hi, e->rational.lo + (least + 1) * bins);
	msg_note("bins hold %llu or %llu values each; -r %s:%s makes them equal", (ull)least,
		 (ull)least + 1, lo, hi);
}

#define BUCKETS_MANY 1000u /* for Prometheus, which keeps a series for each */

/* Warn if prom has many buckets, or no _sum. */
static void warn_format(const struct job *job, const struct hist *hist)
{
	const uint32_t bins = axis_bins(&hist->axis);

	if (job->format->write != write_prom)
		return;
	if (bins > BUCKETS_MANY)
		msg_warning(
			"prom has %lu buckets, and Prometheus keeps a series for each; "
			"-b N makes fewer",
			(unsigned long)bins);
	if (!prom_has_sum(hist))
		msg_warning(
			"prom has no _sum, because the histograms were written without "
			"--stats");
}

void report_warnings(const struct job *job, const struct hist *hist, const struct run_report *run)
{
	const struct source_totals *const totals = &run->totals;
	char advice[ADVICE], unopened[64] = "";

	if (job->source.parts > 1 && !(job->format->can & IS_DOCUMENT))
		msg_warning("--merge, which adds parts, reads json, not %s; use -f json",
			    job->format->name);
	if (job->style.flow && hist->axis.kind == AXIS_MOD)
		msg_note("--flow adds no rows: with --mod, every sample is in a bin");
	if (run->gpu.state == GPU_FAILED && run->gpu.slots > 0)
		msg_warning("the GPU failed (%s); the CPU counted the rest", run->gpu.why);
	if (totals->unopened > 0)
		snprintf(unopened, sizeof(unopened), "; " COUNTED " %s not opened",
			 COUNT(totals->unopened, "input"), totals->unopened == 1 ? "was" : "were");
	if (totals->finished || totals->unopened > 0)
		msg_note("stopped by %s; everything read so far was counted%s%s",
			 signals_finish_name(),
			 totals->text.dropped ? ", except a last line without a newline" : "",
			 unopened);
	warn_inputs(job, run);
	if (totals->text.bad > 0)
		msg_warning(COUNTED
			    " left out (--skip-bad); the first is line %llu of %s, which %s",
			    COUNT(totals->text.bad, "bad line"), (ull)totals->text.bad_line,
			    totals->text.bad_name, totals->text.bad_why);
	if (!job->source.type_said && !job->like && !run->header.format && run->samples > 0 &&
	    job->bins.bins == 0)
		msg_note("samples were read as u32, little endian (use -t for another type)");
	advise(advice, hist, job, run);
	warn_outside(hist, advice);
	if (job->each == 0) {
		note_saturated(&job->style, hist);
		warn_format(job, hist);
		if (!advise_picture(job, hist))
			advise_comb(hist);
	} else if (run->saturated > 0) {
		msg_note(COUNTED " in rows saturated at %llu", COUNT(run->saturated, "count"),
			 (ull)COUNTERS[job->style.counter].max);
	}
}

/* Name the quantiles that neither digests nor bins of one value determine. */
static void warn_quantiles(const struct hist *hist)
{
	char names[400] = "", name[NUMBER_TEXT];
	size_t used = 0;
	unsigned left = 0;

	for (unsigned i = 0; i < hist->asked.n && hist->stats; i++) {
		bool known = true;
		for (uint32_t c = 0; c < hist->channels; c++)
			known &= hist_quantile_of(hist, c, i)->known ||
				 hist->stats[c].of.number == 0;
		quantile_name(name, &hist->asked, i);
		if (!known && left++ < 20)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.16s%%",
						 left > 1 ? ", " : "", name);
	}
	if (left > 0)
		msg_warning(
			"quantile%s %s%s %s left out, because the histograms were written "
			"without --stats, and their bins are too wide to tell",
			left == 1 ? "" : "s", names, left > 20 ? " and more" : "",
			left == 1 ? "is" : "are");
}

void report_sum(const struct job *job, const struct sum *sum)
{
	const struct hist *const hist = &sum->total.hist;

	warn_outside(hist, "");
	if (job->tabled || job->style.binless)
		warn_quantiles(hist);
	warn_format(job, hist);
	if (sum->total.from.bad > 0)
		msg_warning(COUNTED " had been left out (--skip-bad)",
			    COUNT(sum->total.from.bad, "bad line"));
	note_saturated(&job->style, hist);
	if (!advise_picture(job, hist))
		advise_comb(hist);
	if (job->voice == VOICE_VERBOSE)
		msg_note("added " COUNTED " from " COUNTED ": %llu samples of %s",
			 COUNT(sum->documents, "histogram"), COUNT(job->source.path_count, "input"),
			 (ull)hist->samples, hist->axis.type.name);
}

void report_into(const struct job *job, const struct into_sum *sum)
{
	if (sum->bare)
		msg_warning("%s has %s", job->into, sum->bare);
	if (job->voice == VOICE_VERBOSE)
		msg_note("%s now holds " COUNTED " from " COUNTED, job->into,
			 COUNT(sum->samples, "sample"), COUNT(sum->inputs, "input"));
}

/* ---- -p ---- */

void report_picture(const struct job *job, const struct style *asked, const struct hist *hist,
		    const struct provenance *from, struct fail *fail)
{
	struct style style = *asked;
	struct fail lost = {.status = STATUS_OK};
	struct output *out;

	if (!job->plot)
		return;
	if (output_open(&out, "/dev/stderr", &lost) == 0) {
		msg_progress("");
		terminal_canvas(&style.canvas, STDERR_FILENO, job->color);
		style.figures = false;
		format_write(out, format_find("plot"), hist, &style, from);
		output_commit(out, &lost);
	}
	if (fail->status == STATUS_OK)
		*fail = lost;
}

/* ---- -v ---- */

static double report_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Report the headers of the inputs, and the slice that was counted. */
static void report_inputs(const struct job *job, const struct run_report *run)
{
	const struct source_totals *const t = &run->totals;
	char text[HEADER_TEXT], others[64] = "";

	if (t->headers > 1)
		snprintf(others, sizeof(others), "; %llu more inputs have headers",
			 (ull)t->headers - 1);
	if (run->header.format) {
		header_text(text, &run->header);
		msg_note("%s: %s%s",
			 run->header.within ? job->source.tensor : path_shown(job->source.paths[0]),
			 text, others);
	}
	if (t->unsized == 1)
		msg_note("the WAVE header gives no length; counted to the end of the input");
	else if (t->unsized > 1)
		msg_note("%llu WAVE headers give no length; counted to the end of each input",
			 (ull)t->unsized);
	if (job->source.parts > 0)
		msg_note("counted %llu of " COUNTED, (ull)run->work.records,
			 COUNT(t->slice.all, "record"));
}

/* Report the GPU's share, or why it has none. */
static void report_gpu(const struct run_report *run)
{
	const struct gpu_report *const gpu = &run->gpu;
	char unpacked[64] = "";
	const char *const why = gpu->state == GPU_FAILED ? gpu->why
				: gpu->state != GPU_NONE ? "it was not ready before the end"
				: run->plan.no_gpu
					? run->plan.no_gpu
					: "starting it would have taken longer than it saved "
					  "(--device=gpu starts it)";

	/* With -n, more bytes may have been decoded than counted. */
	const uint64_t decoded = run->totals.zstd.unpacked < run->totals.bytes
					 ? run->totals.zstd.unpacked
					 : run->totals.bytes;
	if (decoded > 0)
		snprintf(unpacked, sizeof(unpacked), ", decoded %.1f%% in %u more slots",
			 report_share(decoded, run->totals.bytes), gpu->rooms);
	if (gpu->slots == 0)
		msg_note("GPU%s: %s", gpu->state == GPU_NONE ? " not used" : "", why);
	else
		msg_note(
			"GPU: %s, %u slots of %.3g MiB, %.1f MiB with all counters, ready after "
			"%.2f s, %s; counted %.1f%% of the samples%s",
			gpu->name, gpu->slots, (double)gpu->slot_bytes / (1 << 20),
			(double)gpu->memory / (1 << 20), gpu->start_seconds, gpu->kernel,
			report_share(run->work.gpu_records, run->work.records), unpacked);
}

/* Report the bottleneck, if the figures show it. */
static void report_bottleneck(const struct run_report *run)
{
	const struct work_report *const work = &run->work;
	const double busy = work->read_seconds + work->count_seconds;
	const bool reading = work->read_seconds > work->count_seconds;
	const double larger = reading ? work->read_seconds : work->count_seconds;
	const uint64_t bytes = run->totals.text.bytes > 0    ? run->totals.text.bytes
			       : run->totals.zstd.packed > 0 ? run->totals.zstd.packed
							     : run->totals.bytes;
	const bool gpu = work->gpu_records > work->records / 2;
	const char *const what = !reading && gpu               ? "transfers and counting on the GPU"
				 : !reading                    ? "counting"
				 : run->totals.zstd.packed > 0 ? "reading and decompressing"
				 : run->totals.text.bytes > 0  ? "reading text"
				 : run->totals.streamed ? "reading a pipe, one worker at a time,"
							: "reading";
	char size[SIZE_TEXT], cores[48] = "";

	if (!(busy > 0) || !(run->seconds > 0))
		return;
	if (run->totals.waited > run->seconds / 2) {
		size_text(size, (double)bytes / run->seconds);
		msg_note(
			"bottleneck: the writer of the input, at %s/s; gpuhist waited for it "
			"%.0f%% of the time",
			size, 100 * run->totals.waited / run->seconds);
		return;
	}
	/* A worker that feeds a GPU sleeps during transfers. */
	if (!gpu && work->core_seconds < busy / 2)
		snprintf(cores, sizeof(cores), "; they had a core for %.0f%% of it",
			 100 * work->core_seconds / busy);
	msg_note("bottleneck: %s took %.0f%% of the workers' time%s", what, 100 * larger / busy,
		 cores);
}

void report_verbose(const struct job *job, const struct run_report *run)
{
	const struct source_totals *const t = &run->totals;
	char records[64] = "";

	if (job->voice != VOICE_VERBOSE)
		return;
	report_inputs(job, run);
	if (run->packed == 1 && run->record != sample_bytes(&run->type, 1))
		snprintf(records, sizeof(records), " in " COUNTED " of %lu bytes",
			 COUNT(run->work.records, "record"), (unsigned long)run->record);
	const bool text = job->source.text.on;
	const uint64_t bytes = text ? t->text.bytes : t->bytes;
	msg_note("%llu bytes%s from " COUNTED ", %llu samples of %s%s, %.3f s: %.2f GB/s",
		 (ull)bytes, text ? " of text" : "",
		 COUNT(job->source.parts > 0 ? job->source.path_count : t->inputs, "input"),
		 (ull)run->samples, run->type.name, records, run->seconds,
		 (double)bytes / run->seconds * 1e-9);
	if (t->zstd.packed > 0)
		msg_note("zstd: decoded from %llu bytes", (ull)t->zstd.packed);
	if (t->zstd.jobs_at_wait > 0)
		msg_note("zstd: -M left memory for " COUNTED
			 " at a time, and there were %u threads",
			 COUNT(t->zstd.jobs_at_wait, "decoder"), job->machine.threads);
	msg_note("CPU: %u of %u threads used, %s loops (%s); %.1f MiB for buffers and counts",
		 run->work.workers, job->machine.threads, run->plan.isa, run->plan.method,
		 (double)run->plan.memory / (1 << 20));
	report_gpu(run);
	report_bottleneck(run);
}
