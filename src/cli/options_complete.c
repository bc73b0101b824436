/* SPDX-License-Identifier: MIT */
/*
 * options_complete: makes a job of the given options: refuses contradictions, and resolves settings
 * that depend on several options. Notes that the program waits for a terminal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/path.h"
#include "cli/msg.h"
#include "cli/options.h"
#include "cli/options_given.h"
#include "bins/number.h"
#include "each/formats.h"
#include "each/row.h"
#include "format/sigmf.h"
#include "output/output.h"

#define MEMORY_LEAST ((uint64_t)256 << 20)
#define MEMORY_EACH ((uint64_t)32 << 20) /* per thread */

/* ---- defaults ---- */

/* Choose the default for -M. */
static void choose_memory(struct job *job)
{
	const uint64_t each = job->machine.threads * MEMORY_EACH, quarter = memory_usable() / 4;
	const uint64_t wanted = each > MEMORY_LEAST ? each : MEMORY_LEAST;
	const uint64_t mib = (wanted < quarter ? wanted : quarter) >> 20;

	job->machine.memory = (mib > 0 ? mib : 1) << 20;
	job->machine.memory_text = "default";
}

/*
 * Make "out.000.f64 and 39 more" or "sales.csv: price"; none for standard input without a column.
 * -1: no memory.
 */
static int make_title(struct job *job, struct fail *fail)
{
	const char *const path = job->source.paths[0];
	const char *const column = job->style.canvas.value ? job->style.canvas.value : "";
	const size_t more = job->source.path_count - 1;
	const char *const name = !path_is_stdin(path) ? path_name(path)
				 : more > 0           ? "standard input"
						      : "";
	const size_t bytes = strlen(name) + strlen(column) + 48;

	if (!*name && !*column)
		return 0;
	job->title = malloc(bytes);
	if (!job->title) {
		errno = ENOMEM;
		return fail_errno(fail, "options");
	}
	size_t used = (size_t)snprintf(job->title, bytes, "%s", name);
	if (more > 0)
		used += (size_t)snprintf(job->title + used, bytes - used, " and %zu more", more);
	snprintf(job->title + used, bytes - used, "%s%s", *name && *column ? ": " : "", column);
	return 0;
}

static int fill_in(struct given *g)
{
	struct job *const job = &g->job;

	job->titled = given(g, "title");
	job->tabled = given(g, "stats");
	if (job->source.text.columns != 1 || job->source.text.column[0].number == 0)
		job->style.canvas.value = job->source.text.given;
	if (!job->titled && make_title(job, g->fail) != 0)
		return -1;
	const char *const title = job->titled ? given_text(g, "title") : job->title;
	job->style.canvas.title = title && *title ? title : NULL;
	if (job->machine.threads == 0)
		job->machine.threads = cores_usable() < THREADS_MAX ? cores_usable() : THREADS_MAX;
	if (job->machine.memory == 0)
		choose_memory(job);
	if (job->each > 0 && job->machine.device == DEVICE_AUTO)
		job->machine.device = DEVICE_CPU;
	return 0;
}

/* ---- bins and records ---- */

/* Allow at most one kind of binning; if --edges gives the number of bins, -b must agree. */
static int settle_bins(struct given *g, struct fail *fail)
{
	struct job *const job = &g->job;
	struct axis_spec *const spec = &job->bins;

	spec->kind = AXIS_DEFAULT;
	if (job->style.binless) {
		*spec = (struct axis_spec){.kind = AXIS_RANGE, .full = true, .bins = 1};
		return 0;
	}
	for (enum axis_kind kind = AXIS_VALUES + 1; kind < AXIS_RANKS; kind++) {
		if (!given(g, AXIS_KINDS[kind].name))
			continue;
		if (spec->kind != AXIS_DEFAULT)
			return fail_set(
				fail, STATUS_USAGE,
				"--%s cannot be combined with --%s; choose one kind of bins",
				AXIS_KINDS[spec->kind].name, AXIS_KINDS[kind].name);
		spec->kind = kind;
	}
	if (spec->kind == AXIS_LOG && g->ranks) {
		spec->kind = AXIS_RANKS;
		job->bins_text = NULL;
	}
	if (spec->kind != AXIS_DEFAULT && spec->bins > AXIS_KINDS[spec->kind].most)
		return fail_set(fail, STATUS_USAGE,
				"--bins %s is too many for --%s, which takes at most %lu (2^%d)",
				given_text(g, "bins"), AXIS_KINDS[spec->kind].name,
				(unsigned long)AXIS_KINDS[spec->kind].most,
				__builtin_ctz(AXIS_KINDS[spec->kind].most));
	if (spec->kind != AXIS_EDGES)
		return 0;
	if (spec->bins != 0 && spec->bins != g->edges - 1)
		return fail_set(fail, STATUS_USAGE,
				"--bins %s contradicts --edges, whose %zu edges make %zu bin%s",
				given_text(g, "bins"), g->edges, g->edges - 1,
				g->edges == 2 ? "" : "s");
	spec->bins = (uint32_t)(g->edges - 1);
	spec->list = job->edges;
	return 0;
}

/* ---- tensors ---- */

/* Refuse options for facts that a safetensors header gives. */
static int check_tensors(const struct given *g, struct fail *fail)
{
	static const struct {
		const char *option, *why;
		bool each; /* refused with --each=tensor alone */
	} REFUSED[] = {
		{"type", "the file says the type of its tensors", false},
		{"channels", "all numbers of a tensor are counted together", false},
		{"count", "a tensor is counted whole", false},
		{"skip", "the file says where a tensor begins", false},
		{"record", "the numbers of a tensor follow one another", false},
		{"rows", "the rows of a tensor are not padded", false},
		{"raw", "the header of the file says where a tensor is", false},
		{"tensor", "it counts every tensor", true},
		{"zstd", "tensors are read at their offsets in a file; run zstd -d first", true},
		{"ignore-tail", "the file must hold all of its tensors", true},
		{"tee", "tensors are read at their offsets in a file, not in one stream", true},
		{"text", "tensors are binary", false},
		{"plot", "tensors have no bins in common", true},
	};
	const bool each = g->job.each == ROW_IS_TENSOR;

	for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++)
		if ((each || (g->job.source.tensor && !REFUSED[i].each)) &&
		    given(g, REFUSED[i].option))
			return fail_set(fail, STATUS_USAGE, "--%s cannot be combined with --%s: %s",
					each ? "each=tensor" : "tensor", REFUSED[i].option,
					REFUSED[i].why);
	return 0;
}

/* With --text, the options decide the type; do not examine the first bytes of inputs. */
static int settle_text(struct given *g, struct fail *fail)
{
	struct job *const job = &g->job;
	const struct sample_type *const type = &job->type;

	if (!job->source.typed)
		sample_type_parse(&job->type, "f64");
	if (g->pair)
		return fail_set(
			fail, STATUS_USAGE,
			"--text cannot be combined with complex types: a line holds one number; "
			"-t %s -c 2 reads real and imaginary parts from alternate lines",
			type->name);
	if (type->bits % 8 != 0)
		return fail_set(fail, STATUS_USAGE,
				"--text cannot be combined with --type %s: packed samples are "
				"binary; -t %s "
				"reads the same numbers",
				type->name, type->kind == SAMPLE_SIGNED ? "i16" : "u16");
	if (job->source.text.columns > 1 && given(g, "channels"))
		return fail_set(fail, STATUS_USAGE,
				"--channels cannot be combined with several columns of --text, "
				"which are the channels");
	job->source.text.type = job->type;
	job->source.text.missing = job->missing_text;
	job->source.typed = job->source.raw = true;
	return 0;
}

/* Read --by: a column of text, or TYPE@OFFSET. */
static int settle_by(struct given *g, struct fail *fail)
{
	static const char what[] =
		"must be TYPE@OFFSET, with u8, u16 or u32 and the key's byte in "
		"each record, such as u16@2; or a column with --text=COLUMN";
	struct job *const job = &g->job;
	struct text_spec *const text = &job->source.text;
	const char *const by = job->by_text, *const at = strchr(by, '@');
	struct sample_type type;
	char name[16] = "";
	uint64_t offset;
	bool pair;

	job->by = (struct key_place){.bytes = TEXT_KEY, .text = true};
	if (text->columns > 1)
		return given_refuse("by", by, "needs one column of numbers, not several", fail);
	if (text->on && text->columns == 0)
		return given_refuse("by", by, "needs --text=COLUMN, the column of the numbers",
				    fail);
	if (text->on) {
		text->by = by;
		if (*by != '\0' && number_parse_count(&text->by_number, by) != 0)
			text->by_number = 0;
		else if (text->by_number == 0 && *by != '\0')
			return given_refuse("by", by, "must be a column from 1, or its name", fail);
		return 0;
	}
	if (at && (size_t)(at - by) < sizeof(name))
		memcpy(name, by, (size_t)(at - by));
	if (!at || sample_type_named(&type, &pair, name) != 0 || pair ||
	    type.kind != SAMPLE_UNSIGNED ||
	    (type.bits != 8 && type.bits != 16 && type.bits != 32) ||
	    number_parse_size(&offset, at + 1) != 0 || offset > LAYOUT_BYTES_MAX)
		return given_refuse("by", by, what, fail);
	if (!given(g, "record"))
		return given_refuse("by", by, "needs --record, the size of the records", fail);
	job->by = (struct key_place){(uint32_t)offset, type.bits / 8, type.big, false};
	return 0;
}

/* -b 0: figures, without bins */
static int settle_binless(struct given *g, struct fail *fail)
{
	static const char *const ABOUT_BINS[] = {"range", "log",     "edges",  "mod",
						 "auto",  "clamp",   "closed", "linearity",
						 "plot",  "counter", "flow",   "nonzero"};
	struct job *const job = &g->job;

	for (size_t i = 0; i < sizeof(ABOUT_BINS) / sizeof(ABOUT_BINS[0]); i++)
		if (given(g, ABOUT_BINS[i]))
			return fail_set(
				fail, STATUS_USAGE,
				"--bins 0 cannot be combined with --%s: it writes statistics "
				"and no bins",
				ABOUT_BINS[i]);
	if (job->compare &&
	    (alarms_have(&job->alarms, ALARM_KS) || !alarms_have(&job->alarms, ALARM_TIMES)))
		return fail_set(fail, STATUS_USAGE,
				"--bins 0 cannot be combined with --compare, which compares bins; "
				"--alarm=p99:2x alone compares quantiles");
	job->style.binless = true;
	if (!given(g, "stats"))
		given_stats(g);
	return 0;
}

/*
 * --by and columns of text write figures instead of bins, unless the format cannot, a document
 * gives the bins, or an option is about bins.
 */
static void settle_figures(struct given *g)
{
	static const char *const BINS[] = {
		"bins", "range",   "log",  "edges",   "mod",  "auto",    "clamp",     "closed",
		"into", "compare", "plot", "counter", "flow", "nonzero", "linearity", "each"};
	/* The last six do not keep --by from writing figures. */
	const size_t about = sizeof(BINS) / sizeof(BINS[0]) - (g->job.by_text ? 6 : 0);
	struct job *const job = &g->job;
	const struct format *const format = job->format ? job->format : format_of_path(job->output);

	for (size_t i = 0; i < about; i++)
		if (given(g, BINS[i]))
			return;
	if (!format || !(format->can & (CAN_FIGURES | CAN_BINLESS)))
		return;
	/* If the format has rows of figures, keys need no -b 0. */
	job->style.binless = !job->by_text || !(format->can & CAN_FIGURES);
	if (!given(g, "stats"))
		given_stats(g);
}

/* Turn on --text if a FILE's name says that it is text. */
static int settle_names(struct given *g, struct fail *fail)
{
	static const char *const BINARY[] = {"skip", "record", "offset", "rows", "part", "tensor"};
	struct job *const job = &g->job;
	const char *binary;
	const char *const name = job_names_text(job, &binary);

	if (!name || job->source.text.on || job->source.raw || job->merge)
		return 0;
	for (size_t i = 0; i < sizeof(BINARY) / sizeof(BINARY[0]); i++)
		if (given(g, BINARY[i]))
			return fail_set(fail, STATUS_USAGE,
					"--%s works only with binary samples, but %s is text by "
					"its name; --raw reads it as binary",
					BINARY[i], path_shown(name));
	if (binary)
		return fail_set(fail, STATUS_USAGE,
				"%s is text by its name, but %s is binary; --raw reads both as "
				"binary",
				path_shown(name), path_shown(binary));
	job->source.text.on = true;
	return 0;
}

/* ---- where the output goes ---- */

/* -1: an input is the same file as `output` (NULL: standard output). */
static int check_inputs(const struct job *job, const char *output, struct fail *fail)
{
	for (size_t i = 0; i < job->source.path_count; i++)
		if (output_is_input(output, job->source.paths[i]))
			return fail_set(fail, STATUS_USAGE, "%s is both input and output%s",
					path_shown(job->source.paths[i]),
					job->merge ? ", so the next run would add its sum again; "
						     "write the sum elsewhere, or keep a running "
						     "sum with --into"
						   : "");
	return 0;
}

/* With --tee nothing else may be written to standard output. */
static int check_tee(const struct job *job, struct fail *fail)
{
	/* --into without -f and -o writes nothing but its FILE. */
	if (output_is_stdout(job->output) && (job->output || job->format || !job->into))
		return fail_set(fail, STATUS_USAGE,
				"--tee copies the input to standard output; write the histogram to "
				"a file with -o FILE");
	return check_inputs(job, NULL, fail);
}

/* --every replaces the output during the run, so it must be a file, or a plot on a terminal. */
static int check_every(const struct job *job, struct fail *fail)
{
	if (job->style.binless && job->format->write == write_plot)
		return fail_set(fail, STATUS_USAGE,
				"--every cannot draw --bins 0; use -o FILE.json or FILE.prom");
	if (job_draws_in_place(job) || output_is_file(job->output))
		return 0;
	return fail_set(fail, STATUS_USAGE,
			"--every needs -o FILE, or -f plot on a terminal, because %s cannot be "
			"replaced",
			job->output ? job->output : "standard output");
}

static int check_each(const struct job *job, struct fail *fail)
{
	const char *const why =
		job->machine.device == DEVICE_GPU
			? "cannot be combined with --device=gpu: only the CPU counts rows"
		: job->each == ROW_IS_TENSOR && job->quantiles.n == 0
			? "writes only the statistics of tensors; add --stats"
			: NULL;

	return why ? given_refuse("each", job->each_text, why, fail) : 0;
}

static int settle_into(struct job *job, struct fail *fail)
{
	const size_t length = strlen(job->into);

	if (length < 5 || strcasecmp(job->into + length - 5, ".json") != 0)
		return given_refuse("into", job->into,
				    "is not the name of a file that ends in .json", fail);
	if ((job->output || job->format) && output_is_output(job->output, job->into))
		return fail_set(fail, STATUS_USAGE, "--into %s and %s%s are the same file",
				job->into, job->output ? "--output " : "",
				job->output ? job->output : "standard output");
	if (check_inputs(job, job->into, fail) != 0)
		return -1;
	if (!job->output && !job->format) {
		job->output_none = true;
		job->format = format_find("json");
	}
	return 0;
}

/* Refuse options that the format does not support. */
static int check_format(const struct given *g, struct fail *fail)
{
	const struct job *const job = &g->job;
	const struct style *const style = &job->style;
	const bool each = job->each > 0, by = job->by_text;
	const struct {
		bool asked;
		unsigned can;
	} ASKS[] = {
		{given(g, "mod"), CAN_RESIDUES},
		{given(g, "title") && !job->plot, CAN_TITLE},
		{style->flow || !style->header, CAN_LINES},
		{style->nonzero, CAN_NONZERO},
		{style->counter >= COUNTER_SAT8, CAN_CLIP},
		{!job->output && isatty(STDOUT_FILENO), CAN_TERMINAL},
		{job->every > 0, CAN_PARTIAL},
		{job->each == ROW_IS_TENSOR, CAN_UNLIKE},
		{(each || by) && style->nonzero, CAN_SPARSE},
		{each, CAN_EACH},
		{each && job->quantiles.n > 0, CAN_FIGURES},
		{each && !output_is_file(job->output), CAN_STREAM},
		{by, CAN_KEYS},
		{by && job->source.text.on, CAN_NAMES},
		/* A single series: job_shape and format_refuses_sum. */
		{style->binless && !(job->format->can & CAN_FIGURES), CAN_BINLESS},
	};
	char rows[FAIL_TEXT / 2];
	struct format_asks asks = {.counter = COUNTERS[style->counter].name, .rows = rows};

	snprintf(rows, sizeof(rows), "--%s %s", each ? "each" : "by",
		 each                         ? job->each_text
		 : by && job->by_text[0] != 0 ? job->by_text
					      : "''");
	for (size_t i = 0; i < sizeof(ASKS) / sizeof(ASKS[0]); i++)
		asks.can |= ASKS[i].asked ? ASKS[i].can : 0;
	return format_refuses(job->format, &asks, fail);
}

/* Choose the name of the metric, which must be one that Prometheus accepts. */
static int settle_metric(struct given *g, struct fail *fail)
{
	static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
	static const char MORE[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789";
	const char *const title = given_text(g, "title"), *const name =
								  title ? title : "gpuhist_samples";

	g->job.style.metric = name;
	if (strspn(name, LETTERS) > 0 && name[strspn(name, MORE)] == '\0')
		return 0;
	return given_refuse("title", *name ? name : "''",
			    "is not the name of a metric, which has letters, digits, _ and :, and "
			    "no digit first, as in adc_samples",
			    fail);
}

/* Is the default output a plot? A terminal gets one unless an option needs a table. */
static bool wants_plot(const struct given *g)
{
	static const char *const TABLE[] = {"plot", "counter", "flow", "nonzero", "no-header"};

	for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++)
		if (given(g, TABLE[i]))
			return false;
	return !g->job.format && !g->job.output && isatty(STDOUT_FILENO);
}

/* With -f the user has decided, so the suffix is not checked. */
static int settle_output(struct given *g, struct fail *fail)
{
	struct job *const job = &g->job;

	if (job->output && job->output[0] == '\0')
		return given_refuse("output", "", "is not a file name", fail);
	if (job->source.parts > 0 && job->output && strstr(job->output, "%K"))
		return given_refuse("output", job->output,
				    "contains %K, which gpuhist does not replace; the shell of "
				    "each task has the number, as in -o part.$SLURM_PROCID.json",
				    fail);
	if ((job->tee && check_tee(job, fail) != 0) || (job->into && settle_into(job, fail) != 0))
		return -1;
	/* Figures of rows get a table instead. */
	job->style.figures = job->quantiles.n > 0;
	job->style.table =
		job->style.figures && (wants_plot(g) || (job->style.binless && job->format &&
							 job->format->write == write_plot));
	if (wants_plot(g) && !(job->style.table && job->each > 0))
		job->format = format_find("plot");
	/* Tensors have no bins in common: the plot of them is the table. */
	if (job->each == ROW_IS_TENSOR && job->style.figures && job->format &&
	    job->format->write == write_plot) {
		job->style.table = true;
		job->format = format_find("csv");
	}
	if (!job->format && !(job->format = format_of_path(job->output)))
		return given_refuse("output", job->output,
				    "does not end in " FORMAT_SUFFIXES "; choose a format with -f",
				    fail);
	terminal_canvas(&job->style.canvas, output_descriptor(job->output), job->color);
	/* If the output is a picture, --plot=log applies to it. */
	if (job->style.canvas.log && job->format->can & IS_PICTURE)
		job->plot = false;
	if (!given(g, "counter"))
		job->style.counter = job->format->counter;
	if (job->format->can & NEEDS_STATS && job->quantiles.n == 0)
		given_stats(g);
	if ((job->each > 0 && check_each(job, fail) != 0) || check_format(g, fail) != 0 ||
	    (job->format->write == write_prom && settle_metric(g, fail) != 0) ||
	    (job->every > 0 && check_every(job, fail) != 0))
		return -1;
	return job->output_none ? 0 : check_inputs(job, job->output, fail);
}

/* Imply --stats for limits of quantiles; limits relative to a reference need --compare. */
static int settle_alarms(struct given *g, struct fail *fail)
{
	struct job *const job = &g->job;
	const bool times = alarms_have(&job->alarms, ALARM_TIMES),
		   quantiles = times || alarms_have(&job->alarms, ALARM_QUANTILE);

	if (!job->compare && (times || alarms_have(&job->alarms, ALARM_KS)))
		return given_refuse("alarm", job->alarm_text,
				    "needs --compare, the reference of KS and of limits with x",
				    fail);
	if (quantiles && given(g, "mod"))
		return given_refuse("alarm", job->alarm_text,
				    "cannot be combined with --mod: residues are not the samples; "
				    "for the low bits of words, use --mask=0xfff",
				    fail);
	return alarms_ask(&job->alarms, &job->quantiles)
		       ? 0
		       : given_refuse("alarm", job->alarm_text,
				      "makes too many quantiles together with --stats", fail);
}

int options_complete(struct given *g)
{
	struct fail *const fail = g->fail;
	struct job *const job = &g->job;

	if (settle_alarms(g, fail) != 0)
		return -1;
	if (check_tensors(g, fail) != 0)
		return -1;
	/* X.sigmf-meta means the data next to it. */
	for (size_t i = 0; i < job->source.path_count; i++)
		if (!job->merge && !job->source.raw && !job->source.text.on &&
		    sigmf_names(job->source.paths[i], SIGMF_META))
			memcpy(strrchr(job->source.paths[i], '.'), SIGMF_DATA, sizeof(SIGMF_DATA));
	if (fill_in(g) != 0 || settle_names(g, fail) != 0)
		return -1;
	if (job->source.text.skip_bad && !job->source.text.on)
		return fail_set(fail, STATUS_USAGE,
				"--skip-bad leaves out lines of text; it needs --text");
	if (job->source.text.on && settle_text(g, fail) != 0)
		return -1;
	if (job->by_text && settle_by(g, fail) != 0)
		return -1;
	if (given(g, "bins") && job->bins.bins == 0 && settle_binless(g, fail) != 0)
		return -1;
	if (job->by_text || job->source.text.columns > 1)
		settle_figures(g);
	job->source.type_said = job->source.typed || job_names_type(job);
	if (!job->merge && (settle_bins(g, fail) != 0 || job_shape_check(job, fail) != 0))
		return -1;
	if (job->finish && job_file(job))
		return fail_set(
			fail, STATUS_USAGE,
			"--finish works only with pipes and other streams, but %s is a file",
			job_file(job));
	return settle_output(g, fail);
}

int options_wait(const struct job *job, int words, struct fail *fail)
{
	if (!job_reads_stdin(job) || !isatty(STDIN_FILENO))
		return 0;
	if (words == 1)
		return fail_set(fail, STATUS_USAGE,
				"there is nothing to count; name a FILE or pipe samples in, as in "
				"COMMAND | gpuhist (gpuhist -h shows more)");
	msg_note("waiting for %s from the terminal; press Ctrl-D to end",
		 job->merge            ? "JSON histograms"
		 : job->source.text.on ? "numbers"
				       : "samples");
	return 0;
}
