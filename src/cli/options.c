/* SPDX-License-Identifier: MIT */
/*
 * options: parses argv. One table describes each option by itself: its names, its value and how to
 * read it (options_read.c), and whether it selects samples or bins. options_complete.c checks
 * options against each other, and help.c has the texts of -h and --help.
 */
#include "cli/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "bins/number.h"
#include "cli/options_read.h"
#include "each/formats.h"

#define SIZES "such as 4096, 64K, 1MiB, 10MB or 0x200"
#define TO_16M "to 16777216 (16 MiB), such as 24, 4K or 0x200"

#define TO(member) offsetof(struct given, member)
#define READ(by, member) .read = by, .to = TO(member)
#define FLAG(member) READ(read_flag, member)
#define NUMBER(member, low, high) READ(read_number, member), .least = low, .most = high
/* clang-format off */
static const struct known KNOWN[] = {
	{"type", 't', "=TYPE", DECIDES, .read = read_type},
	{"bins", 'b', "=N", DECIDES_SUM, NUMBER(job.bins.bins, 0, BINS_MAX),
		.must = "must be a number from 1 to 268435456 (2^28), such as 1024, 64K, 1e6 or 0x400, or 0 for statistics without bins"},
	{"range", 'r', "=LO:HI[:STEP]", DECIDES, .read = read_ends, .text = TO(job.bins_text),
		.must = "must be LO:HI, LO:HI:STEP or full, with finite numbers, such as -1:1 or 0:1:0.1"},
	{"auto", 0, NULL, .about = DECIDES},
	{"log", 0, "=LO:HI|auto", DECIDES, .read = read_ends, .text = TO(job.bins_text),
		.must = "must be LO:HI, with finite numbers, such as 1:1000 or 1e-6:1, or auto"},
	{"edges", 0, "=LIST|@FILE", DECIDES, .read = read_edges},
	{"mod", 0, NULL, .about = DECIDES,
		.apart = {{"stats", "residues are not the samples; for the low bits of words, use "
			"--mask=0xfff"}}},
	{"abs", 0, NULL, DECIDES, FLAG(job.abs)},
	{"missing", 0, "=VALUE,...", DECIDES, .text = TO(job.missing_text)},
	{"mask", 0, "=BITS", DECIDES, NUMBER(job.mask, 1, 0xffff),
		.must = "must be neighbouring bits of words of 8 or 16, such as 0xfff or 0x3000",
		.apart = {{"text", "numbers in text have no bits"}}},
	{"clamp", 0, NULL, DECIDES, FLAG(job.bins.clamp)},
	{"closed", 0, NULL, DECIDES, FLAG(job.bins.closed)},
	{"skip", 'S', "=SIZE", DECIDES, NUMBER(job.source.skip, 0, UINT64_MAX),
		.must = "must be a number of bytes below 2^64, " SIZES,
		.apart = {{"text", "lines have no fixed size; tail -n +101 skips the first 100"}}},
	{"count", 'n', "=N", DECIDES, NUMBER(job.layout_options.limit, 0, UINT64_MAX),
		.text = TO(job.layout_options.limit_text),
		.must = "must be a number of records below 2^64, such as 1000, 64K, 1e6 or 0x200"},
	{"channels", 'c', "=N", DECIDES, READ(read_channels, job.layout_options.channels), .least = 1,
		.most = LAYOUT_CHANNELS_MAX, .must = "must be a number from 1 to 65536, or last"},
	{"text", 0, "[=COLUMN,...]", DECIDES, READ(read_text, job.source.text),
		.must = "must be the number of a column, from 1, or its name; or up to 64 different "
			"ones with commas, such as price,qty (a name with a comma in double quotes)"},
	{"by", 0, "=KEY", DECIDES, .text = TO(job.by_text),
		.apart = {{"each", "both say what a row of the output is"},
			{"every", "the rows of keys are written at the end"},
			{"linearity", "a line for each key cannot hold the DNL and INL of each code; for channels use -c N"},
			{"channels", "each record has one sample and its key"}}},
	{"record", 0, "=SIZE", DECIDES, NUMBER(job.layout_options.record, 1, LAYOUT_BYTES_MAX),
		.text = TO(job.layout_options.record_text),
		.must = "must be a number of bytes from 1 " TO_16M,
		.apart = {{"rows", "both say what a record is"},
			{"text", "lines have no fixed size; --text=COLUMN reads one of their columns"}}},
	{"offset", 0, "=SIZE", DECIDES, NUMBER(job.layout_options.offset, 0, LAYOUT_BYTES_MAX),
		.must = "must be a number of bytes from 0 " TO_16M,
		.needs = {"record", "needs --record, the size of the records"}},
	{"rows", 0, "=WIDTH:PITCH", DECIDES, .read = read_rows, .text = TO(job.layout_options.rows_text),
		.must = "must be WIDTH:PITCH, in samples and in bytes, each from 1 to 16777216 (16 MiB), such as 640:1024",
		.apart = {{"text", "lines have no padding; -c N reads N numbers as a record"}}},
	{"ignore-tail", 0, NULL, DECIDES, FLAG(job.source.ignore_tail)},
	{"skip-bad", 0, NULL, DECIDES, FLAG(job.source.text.skip_bad)},
	{"part", 0, "=K/N", COUNTS, READ(read_part, job.source),
		.must = "must be K/N, with K from 1 to N, and N at most 2^31",
		.apart = {{"count", "slices are of whole inputs"},
			{"tee", "--tee copies each input whole"},
			{"into", "the file would not tell which parts it holds; write each part to its own file with -o, and add them with --merge"},
			{"text", "finding a line means reading all lines before it; try split -n l/K/N FILE | gpuhist --text"}}},
	{"tensor", 0, "=NAME", DECIDES, .text = TO(job.source.tensor)},
	{"each", 0, "=N|file|tensor", COUNTS, READ(read_each, job.each), .text = TO(job.each_text),
		.must = "must be file, tensor or a number of records above 0, such as 4096, 64K or 1e6",
		.apart = {{"every", "a row is written when it is complete"},
			{"into", "--each writes each row when it is complete, and keeps no histogram for the end"},
			{"part", "a slice may begin inside a row"}}},
	{"raw", 0, NULL, DECIDES, FLAG(job.source.raw),
		.apart = {{"text", "--raw counts the bytes of an input as they are"}}},
	{"zstd", 0, NULL, DECIDES, FLAG(job.source.zstd),
		.apart = {{"text", "text inside zstd is found by itself"}}},
	{"counter", 'C', "=KIND", WRITES, READ(read_counter, job.style.counter),
		.must = "must be " COUNTER_NAMES},
	{"format", 'f', "=FORMAT", WRITES, READ(read_format, job.format),
		.must = "must be " FORMAT_NAMES},
	{"output", 'o', "=FILE", WRITES, .text = TO(job.output)},
	{"every", 0, "=TIME", COUNTS, READ(read_every, job.every),
		.must = "must be a time from 0.1s to a year, such as 10s, 5m, 1h or 500ms"},
	{"into", 0, "=FILE.json", COUNTS, .text = TO(job.into)},
	{"compare", 0, "=REF.json", WRITES, .text = TO(job.compare),
		.apart = {{"each", "--each writes each row when it is complete, and keeps no histogram for the end"}}},
	{"alarm", 0, "=LIMIT,...", WRITES, READ(read_alarm, job.alarms), .text = TO(job.alarm_text),
		.must = "must be limits such as p99:500, p1:<3, p99:2x, out:1%, nan:0.1%, empty, "
			"or a KS from 0 to 1, with commas between them",
		.apart = {{"each", "--each writes each row when it is complete, and keeps no histogram for the end"}}},
	{"merge", 0, NULL, WRITES, FLAG(job.merge)},
	{"tee", 0, NULL, COUNTS, FLAG(job.tee)},
	{"finish", 0, NULL, COUNTS, FLAG(job.finish)},
	{"color", 0, "=WHEN", WRITES, READ(read_color, job.color),
		.must = "must be auto, always or never"},
	{"plot", 'p', "[=log]", WRITES, READ(read_plot, job.plot), .must = "must be log or left out"},
	{"title", 0, "=TEXT", .about = WRITES},
	{"stats", 0, "[=Q,...]", WRITES, READ(read_stats, job.quantiles),
		.must = "must be up to 128 percentages, from 0 to 100 with up to 4 decimals, such as 2,50,98,99.9"},
	{"linearity", 0, "=WAVE", WRITES, READ(read_wave, job.linearity),
		.must = "must be sine or ramp, the signal that the ADC measured",
		.apart = {{"each", "a line for each row cannot hold the DNL and INL of each code"},
			{"every", "only all samples tell the widths of codes"}}},
	{"flow", 0, NULL, WRITES, FLAG(job.style.flow)},
	{"nonzero", 0, NULL, WRITES, FLAG(job.style.nonzero)},
	{"no-header", 0, NULL, WRITES, FLAG(job.style.header), .off = true},
	{"device", 0, "=DEVICE", SPEEDS, READ(read_device, job),
		.must = "must be auto, cpu, gpu or gpu:N; for several GPUs, run a process for each with --part"},
	{"no-check", 0, NULL, COUNTS, FLAG(job.source.no_check)},
	{"threads", 'T', "=N", SPEEDS, NUMBER(job.machine.threads, 0, THREADS_MAX),
		.must = "must be a number from 1 to 4096, or 0 for all cores"},
	{"memory", 'M', "=SIZE", SPEEDS, NUMBER(job.machine.memory, 1, UINT64_MAX),
		.text = TO(job.machine.memory_text),
		.must = "must be a number of bytes from 1 to 2^64 - 1, " SIZES},
	{"quiet", 'q', NULL, WRITES, READ(read_choice, job.voice), .choice = VOICE_QUIET},
	{"verbose", 'v', NULL, WRITES, READ(read_choice, job.voice), .choice = VOICE_VERBOSE},
	{"progress", 0, NULL, SPEEDS, READ(read_choice, job.progress), .choice = PROGRESS_ALWAYS},
	{"no-progress", 0, NULL, WRITES, READ(read_choice, job.progress), .choice = PROGRESS_NEVER},
	{"help", 'h', NULL, .about = WRITES},
	{"version", 'V', NULL, .about = WRITES},
};
/* clang-format on */

#define OPTIONS (sizeof(KNOWN) / sizeof(KNOWN[0]))
_Static_assert(OPTIONS <= OPTIONS_MAX, "a value for each");

/* Row of the option with this name, which must exist. */
static const struct known *known_named(const char *name)
{
	const struct known *o = KNOWN;

	while (strcmp(o->name, name) != 0)
		o++;
	return o;
}

/* Given value of a row's option. */
static struct value *value_of(struct given *g, const struct known *o)
{
	return &g->values[o - KNOWN];
}

bool given(const struct given *g, const char *name)
{
	return g->values[known_named(name) - KNOWN].given;
}

const char *given_text(const struct given *g, const char *name)
{
	return g->values[known_named(name) - KNOWN].text;
}

void given_stats(struct given *g)
{
	(void)read_stats(g, known_named("stats"), NULL);
}

/* ---- words ---- */

/* getopt's result for the first option without a letter */
#define NUMBERED 256

/* Make getopt's tables. The leading colon keeps it from printing messages. */
static void make_tables(struct option names[OPTIONS + 1], char letters[3 * OPTIONS + 2])
{
	char *p = letters;

	*p++ = ':';
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct known *const o = &KNOWN[i];
		const int value = !o->value            ? no_argument
				  : o->value[0] == '[' ? optional_argument
						       : required_argument;
		names[i] = (struct option){o->name, value, NULL, NUMBERED + (int)i};
		if (o->letter == 0)
			continue;
		*p++ = o->letter;
		for (int k = 0; k < value; k++)
			*p++ = ':';
	}
	*p = '\0';
	names[OPTIONS] = (struct option){NULL, 0, NULL, 0};
}

_Static_assert(no_argument == 0 && required_argument == 1 && optional_argument == 2,
	       "as many colons in the letters");

/* Row for a value from getopt or optopt; NULL: none. */
static const struct known *known_of(int value)
{
	if (value >= NUMBERED)
		return &KNOWN[value - NUMBERED];
	for (size_t i = 0; i < OPTIONS && value != 0; i++)
		if (KNOWN[i].letter == value)
			return &KNOWN[i];
	return NULL;
}

/*
 * Explain why getopt returned '?' or ':'. In optopt it leaves the unknown letter, the option used
 * wrongly, or 0 if a long name is unknown or ambiguous. Always -1.
 */
static int refuse_word(int result, char **argv, struct fail *fail)
{
	const char *const word = argv[optind - 1];
	const int length = (int)strcspn(word, "=");
	const struct known *const o = known_of(optopt);
	const char *names[OPTIONS + 1] = {NULL};
	char text[64];
	bool begins = false;

	if (o)
		return fail_set(fail, STATUS_USAGE, "option '--%s' %s", o->name,
				result == '?' ? "takes no value"
					      : "needs a value (gpuhist --help lists all options)");
	if (optopt != 0)
		return fail_set(fail, STATUS_USAGE,
				"unknown option '-%c' (gpuhist --help lists all options)", optopt);
	snprintf(text, sizeof(text), "%.*s", length - 2, word + 2);
	for (size_t i = 0; i < OPTIONS; i++) {
		names[i] = KNOWN[i].name;
		begins |= *text && strncmp(names[i], text, strlen(text)) == 0;
	}
	const char *const near = near_word(text, names);
	return fail_set(fail, STATUS_USAGE,
			"%s option '%.*s'%s%s%s (gpuhist --help lists all options)",
			begins ? "ambiguous" : "unknown", length, word,
			near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
}

/* ---- in a document ---- */

/* Append a value, quoted for a shell; returns the new end. */
static char *quote(char *to, const char *value)
{
	static const char PLAIN[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	const bool plain = *value != '\0' && value[strspn(value, PLAIN)] == '\0';

	if (!plain)
		*to++ = '\'';
	for (; *value; value++)
		to += sprintf(to, *value == '\'' ? "'\\''" : "%c", *value);
	if (!plain)
		*to++ = '\'';
	*to = '\0';
	return to;
}

/*
 * Write job.options, the options that select samples and bins, in a fixed order, so that it is the
 * same for all parts and for the whole, on any device and with any output.
 */
static int write_down(struct given *g)
{
	size_t bytes = 1;

	for (size_t i = 0; i < OPTIONS; i++)
		bytes += 64 + 4 * (g->values[i].text ? strlen(g->values[i].text) : 0);
	char *end = g->job.options = malloc(bytes);
	if (!end) {
		errno = ENOMEM;
		return fail_errno(g->fail, "options");
	}
	*end = '\0';
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct value *const v = &g->values[i];
		if (!v->given || KNOWN[i].about < DECIDES)
			continue;
		end += sprintf(end, "%s--%s%s", end > g->job.options ? " " : "", KNOWN[i].name,
			       v->text ? "=" : "");
		if (v->text)
			end = quote(end, v->text);
	}
	return 0;
}

/* ---- the command line ---- */

/* -1: the text is 2.4M, which is not a whole number, but 2.4MB is. */
static int refuse_part(const struct known *o, const char *text, struct fail *fail)
{
	char thousands[32];
	uint64_t number;

	if (!strchr(text, '.') || strlen(text) > 24)
		return 0;
	snprintf(thousands, sizeof(thousands), "%.*sB", (int)strcspn(text, "Ii"), text);
	if (number_parse_size(&number, thousands) != 0)
		return 0;
	return fail_set(fail, STATUS_USAGE,
			"--%s %s is not a whole number; %s is %llu, in powers of 1000", o->name,
			text, thousands, (unsigned long long)number);
}

/* Set an option's value, given by the user or implied by another option. */
static int option_give(struct given *g, const struct known *o, const char *text)
{
	struct value *const v = value_of(g, o);

	if (o->read == read_text && v->given)
		return fail_set(g->fail, STATUS_USAGE,
				"--text is given twice; name several columns with commas, as in "
				"--text=price,qty");
	if (o->read && o->read(g, o, text) != 0)
		return refuse_part(o, text ? text : "", g->fail) != 0
			       ? -1
			       : fail_set(g->fail, STATUS_USAGE, "--%s %s is invalid; it %s",
					  o->name, *text ? text : "''", o->must);
	v->given = true;
	v->text = text;
	if (o->text > 0)
		*(const char **)((char *)g + o->text) = text;
	return 0;
}

/* Set implied options: complex numbers imply -c 2, and a STEP implies -b. */
static int give_implied(struct given *g)
{
	const struct known *const bins = known_of('b'), *const channels = known_of('c');

	g->job.pair = g->pair;
	if (g->pair && !g->job.abs && !value_of(g, channels)->given &&
	    option_give(g, channels, "2") != 0)
		return -1;
	if (g->steps > 0 && value_of(g, bins)->given)
		return fail_set(
			g->fail, STATUS_USAGE,
			"--bins %s cannot be combined with --range %s, whose STEP gives the "
			"number of bins",
			value_of(g, bins)->text, g->job.bins_text);
	if (g->steps > 0)
		g->job.bins.bins = g->steps;
	return 0;
}

/* Check the given options against each other, as far as their rows say. */
static int check_together(struct given *g)
{
	for (const struct known *o = KNOWN; o < KNOWN + OPTIONS; o++) {
		if (!value_of(g, o)->given)
			continue;
		if (g->job.merge && (o->about == COUNTS || o->about == DECIDES))
			return fail_set(
				g->fail, STATUS_USAGE,
				"--%s cannot be combined with --merge, which adds histograms and "
				"counts no samples",
				o->name);
		for (const struct other *other = o->apart; other->name; other++)
			if (given(g, other->name))
				return fail_set(g->fail, STATUS_USAGE,
						"--%s cannot be combined with --%s: %s", o->name,
						other->name, other->why);
		if (o->needs.name && !given(g, o->needs.name))
			return given_refuse(o->name, value_of(g, o)->text, o->needs.why, g->fail);
	}
	return 0;
}

/*
 * An optional value needs an equals sign. Refuse an argument that looks like such a value and is
 * not the name of a file.
 */
static int check_stray(struct given *g)
{
	for (const struct known *o = KNOWN; o < KNOWN + OPTIONS; o++) {
		const struct value *const v = value_of(g, o);
		if (!v->given || v->text || !o->value || o->value[0] != '[')
			continue;
		for (size_t i = 0; i < g->job.source.path_count; i++) {
			const char *const word = g->job.source.paths[i];
			const struct job kept = g->job;
			/* Any word could be the name of a column. */
			const bool is_value =
				o->read(g, o, word) == 0 && access(word, F_OK) != 0 &&
				(o->read != read_text || g->job.source.text.column[0].number > 0);
			g->job = kept;
			if (is_value)
				return fail_set(
					g->fail, STATUS_USAGE,
					"there is no file %s; if it is for --%s, write --%s=%s",
					word, o->name, o->name, word);
		}
	}
	return 0;
}

static enum options_result read_words(struct given *g, int argc, char **argv)
{
	struct option names[OPTIONS + 1];
	char letters[3 * OPTIONS + 2];

	make_tables(names, letters);
	for (int result; (result = getopt_long(argc, argv, letters, names, NULL)) != -1;) {
		const struct known *const o = known_of(result);
		if (!o) {
			refuse_word(result, argv, g->fail);
			return OPTIONS_FAILED;
		}
		if (o->letter == 'h' || o->letter == 'V')
			return o->letter == 'V' ? OPTIONS_VERSION
			       : result == 'h'  ? OPTIONS_HELP
						: OPTIONS_LIST;
		if (option_give(g, o, optarg) != 0)
			return OPTIONS_FAILED;
	}
	if (optind < argc) {
		g->job.source.paths = argv + optind;
		g->job.source.path_count = (size_t)(argc - optind);
	}
	return check_stray(g) == 0 && give_implied(g) == 0 && check_together(g) == 0 &&
			       options_complete(g) == 0 && write_down(g) == 0
		       ? OPTIONS_RUN
		       : OPTIONS_FAILED;
}

enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail)
{
	static char *const STDIN[] = {"-", NULL};
	static struct given g; /* too large for a small stack (ulimit -s) */

	memset(&g, 0, sizeof(g));
	g.fail = fail;
	g.job = (struct job){
		.source.paths = STDIN,
		.source.path_count = 1,
		.layout_options.limit = UINT64_MAX,
		.style.header = true,
	};
	const enum options_result result = read_words(&g, argc, argv);
	*job = g.job;
	return result;
}

void options_free(struct job *job)
{
	free(job->edges);
	free(job->options);
	free(job->title);
	job->edges = NULL;
	job->options = job->title = NULL;
}
