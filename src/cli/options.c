/* SPDX-License-Identifier: MIT */
/*
 * options: parses argv. One table describes each option by itself: its names, its value and how to
 * read it, and whether it selects samples or bins. settle.c checks options against each other, and
 * help.c has the texts of -h and --help.
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
#include "cli/edges_arg.h"
#include "cli/options_given.h"
#include "each/row.h"

#define SIZES "such as 4096, 64K, 1MiB, 10MB or 0x200"
#define TO_16M "to 16777216 (16 MiB), such as 24, 4K or 0x200"
#define PARTS_MAX ((uint32_t)1 << 31)

struct known;

/*
 * Read an option's value and store it at the row's `to`, or wherever else it belongs. -1: the value
 * is invalid; *g->fail or else the row's `must` says why.
 */
typedef int read_fn(struct given *g, const struct known *o, const char *text);
static read_fn set, choose, read_type, read_text, read_number, read_ends, read_edges, read_channels,
	read_rows, read_part, read_each, read_word, read_format, read_every, read_plot, read_stats,
	read_device, read_alarm, read_wave;

enum about {
	WRITES,      /* output of the counts */
	COUNTS,      /* how to count samples: not with --merge, which counts none */
	DECIDES,     /* selects samples or bins: written in documents, and not with --merge */
	DECIDES_SUM, /* like DECIDES, but also allowed with --merge */
};

/* Another option, and why it must be absent or present too. */
struct other {
	const char *name, *why;
};

struct known {
	const char *name;
	char letter;       /* 0: none */
	const char *value; /* "=N", or "[=N]" if it is optional; NULL: none */
	enum about about;
	read_fn *read; /* NULL: any text is valid */
	size_t to;     /* offset in struct given for the value */
	size_t text;   /* offset in struct given for the pointer to its text; 0: none */
	/* bounds of a number, which is stored as a uint32_t if `most` fits one, else a uint64_t */
	uint64_t least, most;
	const char *must; /* message for an invalid value */
	int choice;       /* new value of the enum */
	bool off;         /* set the flag to false, not true */
	struct other apart[7], needs;
};

#define TO(member) offsetof(struct given, member)
#define READ(by, member) .read = by, .to = TO(member)
#define FLAG(member) READ(set, member)
#define NUMBER(member, low, high) READ(read_number, member), .least = low, .most = high
/* clang-format off */
static const struct known KNOWN[] = {
	{"type", 't', "=TYPE", DECIDES, .read = read_type},
	{"bins", 'b', "=N", DECIDES_SUM, NUMBER(job.bins.edges.bins, 1, BINS_MAX),
		.must = "must be a number from 1 to 268435456 (2^28), such as 1024, 64K, 1e6 or 0x400"},
	{"range", 'r', "=LO:HI[:STEP]", DECIDES, .read = read_ends, .text = TO(job.bins_text),
		.must = "must be LO:HI, LO:HI:STEP or full, with finite numbers, such as -1:1 or 0:1:0.1"},
	{"auto", 0, NULL, .about = DECIDES},
	{"log", 0, "=LO:HI|auto", DECIDES, .read = read_ends, .text = TO(job.bins_text),
		.must = "must be LO:HI, with finite numbers, such as 1:1000 or 1e-6:1, or auto"},
	{"edges", 0, "=LIST|@FILE", DECIDES, .read = read_edges},
	{"mod", 0, NULL, .about = DECIDES,
		.apart = {{"stats", "residues are not the samples; for the low bits of words, use "
			"--mask=0xfff"}}},
	{"mask", 0, "=BITS", DECIDES, NUMBER(job.mask, 1, 0xffff),
		.must = "must be neighbouring bits of words of 8 or 16, such as 0xfff or 0x3000",
		.apart = {{"text", "numbers in text have no bits"}}},
	{"clamp", 0, NULL, DECIDES, FLAG(job.bins.clamp)},
	{"closed", 0, NULL, DECIDES, FLAG(job.bins.edges.closed)},
	{"skip", 'S', "=SIZE", DECIDES, NUMBER(job.source.skip, 0, UINT64_MAX),
		.must = "must be a number of bytes below 2^64, " SIZES,
		.apart = {{"text", "lines have no fixed size; tail -n +101 skips the first 100"}}},
	{"count", 'n', "=N", DECIDES, NUMBER(job.layout_options.limit, 0, UINT64_MAX),
		.text = TO(job.layout_options.limit_text),
		.must = "must be a number of records below 2^64, such as 1000, 64K, 1e6 or 0x200"},
	{"channels", 'c', "=N", DECIDES, READ(read_channels, job.layout_options.channels), .least = 1,
		.most = LAYOUT_CHANNELS_MAX, .must = "must be a number from 1 to 65536, or last"},
	{"text", 0, "[=COLUMN]", DECIDES, READ(read_text, job.source.text),
		.must = "must be the number of a column, from 1, or its name"},
	{"by", 0, "=KEY", DECIDES, .text = TO(job.by_text),
		.apart = {{"each", "both say what a row of the output is"},
			{"every", "the rows of keys are written at the end"},
			{"into", "JSON does not hold keys"},
			{"linearity", "it is of all samples"},
			{"compare", "JSON does not hold keys"},
			{"part", "parts are added by --merge, and JSON does not hold keys"},
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
		.apart = {{"tee", "--tee copies each input whole"},
			{"into", "the file would not tell which parts it holds; write each part to its own file with -o, and add them with --merge"},
			{"text", "finding a line means reading all lines before it; try split -n l/K/N FILE | gpuhist --text"}}},
	{"tensor", 0, "=NAME", DECIDES, .text = TO(job.source.tensor)},
	{"each", 0, "=N|file|tensor", COUNTS, READ(read_each, job.each), .text = TO(job.each_text),
		.must = "must be file, tensor or a number of records above 0, such as 4096, 64K or 1e6",
		.apart = {{"every", "a row is written when it is complete"},
			{"into", "rows are histograms of their own, which are not added"},
			{"part", "a slice may begin inside a row"}}},
	{"raw", 0, NULL, DECIDES, FLAG(job.source.raw),
		.apart = {{"text", "--raw counts the bytes of an input as they are"}}},
	{"zstd", 0, NULL, DECIDES, FLAG(job.source.zstd),
		.apart = {{"text", "text inside zstd is found by itself"}}},
	{"counter", 'C', "=KIND", WRITES, READ(read_word, job.style.counter),
		.must = "must be " COUNTER_NAMES},
	{"format", 'f', "=FORMAT", WRITES, READ(read_format, job.format),
		.must = "must be " FORMAT_NAMES},
	{"output", 'o', "=FILE", WRITES, .text = TO(job.output)},
	{"every", 0, "=TIME", COUNTS, READ(read_every, job.every),
		.must = "must be a time from 0.1s to a year, such as 10s, 5m, 1h or 500ms"},
	{"into", 0, "=FILE.json", COUNTS, .text = TO(job.into)},
	{"compare", 0, "=REF.json", WRITES, .text = TO(job.compare),
		.apart = {{"each", "rows are histograms of their own"}}},
	{"alarm", 0, "=KS", WRITES, READ(read_alarm, job.alarm), .text = TO(job.alarm_text),
		.must = "must be a number from 0 to 1, such as 0.01",
		.needs = {"compare", "needs --compare, whose KS may be so large"}},
	{"merge", 0, NULL, WRITES, FLAG(job.merge)},
	{"tee", 0, NULL, COUNTS, FLAG(job.tee)},
	{"finish", 0, NULL, COUNTS, FLAG(job.finish)},
	{"color", 0, "=WHEN", WRITES, READ(read_word, job.color),
		.must = "must be auto, always or never"},
	{"plot", 'p', "[=log]", WRITES, READ(read_plot, job.plot), .must = "must be log or left out"},
	{"title", 0, "=TEXT", .about = WRITES},
	{"stats", 0, "[=Q,...]", WRITES, READ(read_stats, job.quantiles),
		.must = "must be up to 128 percentages, from 0 to 100 with up to 4 decimals, such as 2,50,98,99.9"},
	{"linearity", 0, "=WAVE", WRITES, READ(read_wave, job.linearity),
		.must = "must be sine or ramp, the wave that the converter had",
		.apart = {{"each", "a row holds too few samples of each code"},
			{"every", "only all samples tell the widths of codes"}}},
	{"flow", 0, NULL, WRITES, FLAG(job.style.flow)},
	{"nonzero", 0, NULL, WRITES, FLAG(job.style.nonzero)},
	{"no-header", 0, NULL, WRITES, FLAG(job.style.header), .off = true},
	{"device", 0, "=DEVICE", COUNTS, READ(read_device, job),
		.must = "must be auto, cpu, gpu or gpu:N; for several GPUs, run a process for each with --part"},
	{"no-check", 0, NULL, COUNTS, FLAG(job.source.no_check)},
	{"threads", 'T', "=N", COUNTS, NUMBER(job.machine.threads, 0, THREADS_MAX),
		.must = "must be a number from 1 to 4096, or 0 for all cores"},
	{"memory", 'M', "=SIZE", COUNTS, NUMBER(job.machine.memory, 1, UINT64_MAX),
		.text = TO(job.machine.memory_text),
		.must = "must be a number of bytes from 1 to 2^64 - 1, " SIZES},
	{"quiet", 'q', NULL, WRITES, READ(choose, job.voice), .choice = VOICE_QUIET},
	{"verbose", 'v', NULL, WRITES, READ(choose, job.voice), .choice = VOICE_VERBOSE},
	{"progress", 0, NULL, COUNTS, READ(choose, job.progress), .choice = PROGRESS_ALWAYS},
	{"no-progress", 0, NULL, WRITES, READ(choose, job.progress), .choice = PROGRESS_NEVER},
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

/* Where to store the value of a row's option. */
static void *to(struct given *g, const struct known *o)
{
	return (char *)g + o->to;
}

/* ---- values ---- */

int given_refuse(const char *name, const char *text, const char *why, struct fail *fail)
{
	return fail_set(fail, STATUS_USAGE, "--%s %s %s", name, *text ? text : "''", why);
}

static int set(struct given *g, const struct known *o, const char *text)
{
	(void)text;
	*(bool *)to(g, o) = !o->off;
	return 0;
}

/* The last of several mutually exclusive options wins. */
static int choose(struct given *g, const struct known *o, const char *text)
{
	(void)text;
	*(int *)to(g, o) = o->choice; /* an enum */
	return 0;
}

static int read_type(struct given *g, const struct known *o, const char *text)
{
	if (sample_type_named(&g->job.type, &g->pair, text) != 0)
		return given_refuse(o->name, text, sample_type_refused(text), g->fail);
	g->job.source.typed = true;
	return 0;
}

/* If the text is a number, it selects a column by number, else by name. */
static int read_text(struct given *g, const struct known *o, const char *text)
{
	struct text_spec *const spec = to(g, o);

	spec->on = true;
	spec->column = text;
	spec->number = 0;
	if (!text || (*text != '\0' && number_parse_count(&spec->number, text) != 0))
		return 0;
	return spec->number == 0 ? -1 : 0;
}

/* Parse a size; if the value is a count (=N), an exponent is allowed (1e6). */
static int parse_number(uint64_t *number, const struct known *o, const char *text)
{
	struct number n;

	if (number_parse_size(number, text) == 0)
		return 0;
	if (strncmp(o->value, "=N", 2) != 0 || *text < '0' || *text > '9' ||
	    text[strcspn(text, "eE")] == '\0' || number_parse(&n, text, strlen(text)) != 0 ||
	    !n.exact || n.integer > UINT64_MAX)
		return -1;
	*number = (uint64_t)n.integer;
	return 0;
}

static int read_number(struct given *g, const struct known *o, const char *text)
{
	uint64_t number;

	if (parse_number(&number, o, text) != 0 || number < o->least || number > o->most)
		return -1;
	if (o->most <= UINT32_MAX)
		*(uint32_t *)to(g, o) = (uint32_t)number;
	else
		*(uint64_t *)to(g, o) = number;
	return 0;
}

static int read_each(struct given *g, const struct known *o, const char *text)
{
	uint64_t *const records = to(g, o);

	if (strcmp(text, "file") == 0)
		*records = ROW_IS_INPUT;
	else if (strcmp(text, "tensor") == 0)
		*records = ROW_IS_TENSOR;
	else if (parse_number(records, o, text) != 0 || *records == 0 || *records > ROW_RECORDS_MAX)
		return -1;
	return 0;
}

/* Number of STEPs from LO to HI, rounded; 0: HI is not above LO. */
static double count_steps(const struct number *lo, const struct number *hi,
			  const struct number *step, bool *divides)
{
	const double unit = isinf(hi->value - lo->value) ? 2 : 1; /* HI - LO may overflow */
	const double width = lo->exact && hi->exact ? (double)(hi->integer - lo->integer)
						    : hi->value / unit - lo->value / unit;
	const double steps = fmax(floor(width / (step->value / unit) + 0.5), 1);

	*divides = fabs(steps * (step->value / unit) - width) <= 1e-9 * width;
	return width > 0 ? steps : 0;
}

static int refuse_step(const struct given *g, const struct known *o, const char *text,
		       const struct number *step, double steps)
{
	const struct number *const lo = &g->job.bins.edges.lo;
	char end[NUMBER_TEXT];
	struct number hi;
	bool divides;

	if (lo->exact && step->exact)
		number_format_integer(end, lo->integer + (int128_t)steps * step->integer);
	else
		snprintf(end, sizeof(end), "%.15g", lo->value + steps * step->value);
	if (number_parse(&hi, end, strlen(end)) != 0 || count_steps(lo, &hi, step, &divides) == 0 ||
	    !divides)
		return given_refuse(o->name, text, "needs a STEP that divides the range", g->fail);
	return fail_set(g->fail, STATUS_USAGE,
			"--%s %s needs a STEP that divides the range; try %.*s:%s%s", o->name, text,
			(int)strcspn(text, ":"), text, end, strrchr(text, ':'));
}

/* Turn the STEP of LO:HI:STEP into the number of bins; nothing else uses STEP. */
static int read_step(struct given *g, const struct known *o, const char *text,
		     const char *step_text)
{
	const struct edges_spec *const spec = &g->job.bins.edges;
	struct number step;
	const char *why = NULL;
	bool divides;

	if (number_parse(&step, step_text, strlen(step_text)) != 0)
		return -1;
	const double steps = count_steps(&spec->lo, &spec->hi, &step, &divides);
	if (!(step.value > 0))
		why = "needs a STEP above 0";
	else if (steps == 0)
		why = "needs LO below HI";
	else if (steps > BINS_MAX)
		why = "makes more than 268435456 bins (2^28); use a larger STEP";
	if (why)
		return given_refuse(o->name, text, why, g->fail);
	if (!divides)
		return refuse_step(g, o, text, &step, steps);
	g->steps = (uint32_t)steps;
	return 0;
}

/* Read --range and --log. */
static int read_ends(struct given *g, const struct known *o, const char *text)
{
	struct edges_spec *const spec = &g->job.bins.edges;
	const bool log = strcmp(o->name, "log") == 0;
	const size_t lo_length = strcspn(text, ":");
	const char *const hi = text + lo_length + (text[lo_length] == ':');
	const size_t hi_length = strcspn(hi, log ? "" : ":");

	g->steps = 0;
	spec->full = !log && strcmp(text, "full") == 0;
	g->ranks = log && strcmp(text, "auto") == 0;
	if (spec->full || g->ranks)
		return 0;
	if (number_parse(&spec->lo, text, lo_length) != 0 ||
	    number_parse(&spec->hi, hi, hi_length) != 0)
		return access(text, F_OK) != 0
			       ? -1
			       : fail_set(g->fail, STATUS_USAGE,
					  "--%s took the file %s for its value; give LO:HI or %s "
					  "before it",
					  o->name, text, log ? "auto" : "full");
	if (log && !(spec->lo.value > 0 && spec->lo.value < spec->hi.value))
		return given_refuse(o->name, text, "needs LO above 0 and below HI", g->fail);
	return hi[hi_length] == ':' ? read_step(g, o, text, hi + hi_length + 1) : 0;
}

static int read_edges(struct given *g, const struct known *o, const char *text)
{
	(void)o;
	free(g->job.edges);
	return edges_arg_read(&g->job.edges, &g->edges, text, g->fail);
}

static int read_channels(struct given *g, const struct known *o, const char *text)
{
	g->job.layout_options.last = strcmp(text, "last") == 0;
	g->job.layout_options.channels = 0;
	return g->job.layout_options.last ? 0 : read_number(g, o, text);
}

typedef int parse_fn(uint64_t *n, const char *text);

/* Read two numbers from 1 to most, with a character between them. */
static bool read_two(uint64_t n[2], const char *text, char between, parse_fn *parse, uint64_t most)
{
	const char *const at = strchr(text, between);
	char first[32];

	if (!at || at - text >= 32)
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(at - text), text);
	return parse(&n[0], first) == 0 && parse(&n[1], at + 1) == 0 && n[0] >= 1 && n[1] >= 1 &&
	       n[0] <= most && n[1] <= most;
}

static int read_rows(struct given *g, const struct known *o, const char *text)
{
	struct layout_options *const layout = &g->job.layout_options;
	uint64_t n[2];

	(void)o;
	if (!read_two(n, text, ':', number_parse_size, LAYOUT_BYTES_MAX))
		return -1;
	layout->width = (uint32_t)n[0];
	layout->pitch = (uint32_t)n[1];
	return 0;
}

static int read_part(struct given *g, const struct known *o, const char *text)
{
	struct source_spec *const source = to(g, o);
	uint64_t n[2];

	if (strcmp(text, "auto") == 0)
		return given_refuse(
			o->name, text,
			"is no longer supported; the shell of each task has the numbers, as in "
			"srun sh -c 'gpuhist --part=$((SLURM_PROCID+1))/$SLURM_NTASKS -o "
			"part.$SLURM_PROCID.json ...'",
			g->fail);
	if (!read_two(n, text, '/', number_parse_count, PARTS_MAX) || n[0] > n[1])
		return -1;
	source->part = (uint32_t)n[0];
	source->parts = (uint32_t)n[1];
	return 0;
}

static int read_format(struct given *g, const struct known *o, const char *text)
{
	const struct format **const format = to(g, o);

	*format = format_find(text);
	return *format ? 0 : -1;
}

/* Look up the text among the words in `must`, and set the enum to its index. */
static int read_word(struct given *g, const struct known *o, const char *text)
{
	const char *word = o->must + strlen("must be ");

	for (int i = 0; *word != '\0'; i++) {
		word += strncmp(word, "or ", 3) == 0 ? 3 : 0;
		const size_t length = strcspn(word, ", ");
		if (length == strlen(text) && strncmp(word, text, length) == 0) {
			*(int *)to(g, o) = i;
			return 0;
		}
		word += length;
		word += strspn(word, ", ");
	}
	return -1;
}

static int read_wave(struct given *g, const struct known *o, const char *text)
{
	enum waveform *const wave = to(g, o);

	*wave = strcmp(text, "sine") == 0   ? WAVE_SINE
		: strcmp(text, "ramp") == 0 ? WAVE_RAMP
					    : WAVE_NONE;
	return *wave == WAVE_NONE ? -1 : 0;
}

static int read_every(struct given *g, const struct known *o, const char *text)
{
	static const struct {
		const char *name;
		double seconds;
	} UNITS[] = {{"", 1},     {"s", 1},    {"ms", 1e-3}, {"m", 60},
		     {"min", 60}, {"h", 3600}, {"d", 86400}};
	char *end;
	const double n = strtod(text, &end);

	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		const double seconds = n * UNITS[i].seconds;
		if (end == text || strcmp(end, UNITS[i].name) != 0 || !(seconds >= 0.1) ||
		    !(seconds <= 366 * 86400.0))
			continue;
		*(double *)to(g, o) = seconds;
		return 0;
	}
	return -1;
}

static int read_plot(struct given *g, const struct known *o, const char *text)
{
	if (text && text[0] == '=') /* -p=log, as in --plot=log */
		text++;
	if (text && strcmp(text, "log") != 0)
		return -1;
	*(bool *)to(g, o) = true;
	g->job.style.canvas.log = text != NULL;
	return 0;
}

/* Add a quantile in increasing order, unless it is a duplicate. False: too many. */
static bool add_quantile(struct quantiles *asked, uint32_t at)
{
	unsigned i = asked->n;

	while (i > 0 && asked->at[i - 1] > at)
		i--;
	if (i > 0 && asked->at[i - 1] == at)
		return true;
	if (asked->n == QUANTILES_MAX)
		return false;
	memmove(asked->at + i + 1, asked->at + i, (asked->n - i) * sizeof(asked->at[0]));
	asked->at[i] = at;
	asked->n++;
	return true;
}

/* Percentages have only digits and a dot; e4 converts them to whole 1/10000ths of a percent. */
static int read_stats(struct given *g, const struct known *o, const char *text)
{
	struct quantiles *const asked = to(g, o);
	const char *p = text ? text : "1,5,25,50,75,95,99";
	char word[16];
	struct number n;

	asked->n = 0;
	asked->named = text != NULL;
	for (;; p++) {
		const size_t length = strspn(p, "0123456789.");
		snprintf(word, sizeof(word), "%.*se4", (int)length, p);
		if (length > 12 || number_parse(&n, word, strlen(word)) != 0 || !n.exact ||
		    n.integer > QUANTILE_ALL || !add_quantile(asked, (uint32_t)n.integer))
			break;
		p += length;
		if (*p == '\0')
			return 0;
		if (*p != ',')
			break;
	}
	return -1;
}

void given_stats(struct given *g)
{
	(void)read_stats(g, known_named("stats"), NULL);
}

static int read_alarm(struct given *g, const struct known *o, const char *text)
{
	struct number n;

	if (number_parse(&n, text, strlen(text)) != 0 || !(n.value >= 0) || !(n.value <= 1))
		return -1;
	*(double *)to(g, o) = n.value;
	return 0;
}

static int read_device(struct given *g, const struct known *o, const char *text)
{
	struct job *const job = to(g, o);
	const bool gpu = strncmp(text, "gpu", 3) == 0 && (text[3] == '\0' || text[3] == ':');
	const char *const number = gpu && text[3] == ':' ? text + 4 : "0";
	const size_t digits = strspn(number, "0123456789");

	job->machine.device = strcmp(text, "cpu") == 0 ? DEVICE_CPU
			      : gpu                    ? DEVICE_GPU
						       : DEVICE_AUTO;
	job->machine.gpu = (unsigned)strtoul(number, NULL, 10);
	if (!gpu)
		return job->machine.device == DEVICE_CPU || strcmp(text, "auto") == 0 ? 0 : -1;
	return digits > 0 && digits < 5 && number[digits] == '\0' ? 0 : -1;
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
static int give(struct given *g, const struct known *o, const char *text)
{
	struct value *const v = value_of(g, o);

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

	if (g->pair && !value_of(g, channels)->given && give(g, channels, "2") != 0)
		return -1;
	if (g->steps > 0 && value_of(g, bins)->given)
		return fail_set(g->fail, STATUS_USAGE,
				"--bins %s does not go with --range %s, whose STEP gives the "
				"number of bins",
				value_of(g, bins)->text, g->job.bins_text);
	if (g->steps > 0)
		g->job.bins.edges.bins = g->steps;
	return 0;
}

/* Check the given options against each other, as far as their rows say. */
static int check_together(struct given *g)
{
	for (const struct known *o = KNOWN; o < KNOWN + OPTIONS; o++) {
		if (!value_of(g, o)->given)
			continue;
		if (g->job.merge && (o->about == COUNTS || o->about == DECIDES))
			return fail_set(g->fail, STATUS_USAGE,
					"--%s does not go with --merge, which adds histograms and "
					"counts no samples",
					o->name);
		for (const struct other *other = o->apart; other->name; other++)
			if (given(g, other->name))
				return fail_set(g->fail, STATUS_USAGE,
						"--%s does not go with --%s: %s", o->name,
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
				(o->read != read_text || g->job.source.text.number > 0);
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
		if (give(g, o, optarg) != 0)
			return OPTIONS_FAILED;
	}
	if (optind < argc) {
		g->job.source.paths = argv + optind;
		g->job.source.path_count = (size_t)(argc - optind);
	}
	return check_stray(g) == 0 && give_implied(g) == 0 && check_together(g) == 0 &&
			       settle(g) == 0 && write_down(g) == 0
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
		.alarm = NAN,
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
	job->edges = NULL;
	job->options = NULL;
}
