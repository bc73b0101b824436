/* options: argv to a job, checked as far as it can be without opening anything. */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cores.h"
#include "bins/number.h"
#include "cli/edges_arg.h"
#include "output/output_path.h"

#define THREADS_MAX 4096u
#define MEMORY_DEFAULT ((uint64_t)256 << 20)
#define SIZES "such as 4096, 64K, 1MiB, 10MB or 0x200"

/* Long options without a letter. */
enum {
	OPT_IGNORE_TAIL = 256,
	OPT_RAW,
	OPT_ZSTD,
	OPT_LOG,
	OPT_EDGES,
	OPT_MOD,
	OPT_AUTO,
	OPT_CLAMP,
	OPT_CLOSED,
	OPT_NO_HEADER,
	OPT_NONZERO,
	OPT_FLOW,
	OPT_DEVICE,
	OPT_RECORD,
	OPT_OFFSET,
	OPT_ROWS,
	OPT_STATS,
};

static const struct option LONG[] = {
	{"type", required_argument, NULL, 't'},
	{"bins", required_argument, NULL, 'b'},
	{"range", required_argument, NULL, 'r'},
	{"skip", required_argument, NULL, 'S'},
	{"count", required_argument, NULL, 'n'},
	{"channels", required_argument, NULL, 'c'},
	{"record", required_argument, NULL, OPT_RECORD},
	{"offset", required_argument, NULL, OPT_OFFSET},
	{"rows", required_argument, NULL, OPT_ROWS},
	{"counter", required_argument, NULL, 'C'},
	{"output", required_argument, NULL, 'o'},
	{"format", required_argument, NULL, 'f'},
	{"threads", required_argument, NULL, 'T'},
	{"memory", required_argument, NULL, 'M'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{"ignore-tail", no_argument, NULL, OPT_IGNORE_TAIL},
	{"raw", no_argument, NULL, OPT_RAW},
	{"zstd", no_argument, NULL, OPT_ZSTD},
	{"log", required_argument, NULL, OPT_LOG},
	{"edges", required_argument, NULL, OPT_EDGES},
	{"mod", no_argument, NULL, OPT_MOD},
	{"auto", no_argument, NULL, OPT_AUTO},
	{"clamp", no_argument, NULL, OPT_CLAMP},
	{"closed", no_argument, NULL, OPT_CLOSED},
	{"no-header", no_argument, NULL, OPT_NO_HEADER},
	{"nonzero", no_argument, NULL, OPT_NONZERO},
	{"flow", no_argument, NULL, OPT_FLOW},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"stats", no_argument, NULL, OPT_STATS},
	{NULL, 0, NULL, 0},
};

/* What was given, before it is known whether it fits together. */
struct given {
	const char *way[AXIS_DEFAULT]; /* to bin, by its kind: the text of its value, "" where it has none; NULL: not
					  given */
	uint32_t bins;                 /* -b; 0: not given */
	size_t edges;                  /* how many */
	bool counter;
};

static int usage(struct fail *fail, const char *option, const char *argument, const char *why)
{
	return fail_set(fail, STATUS_USAGE, "%s %s: %s", option, *argument ? argument : "''", why);
}

/* The options of ways to bin; of the others nothing. */
static const char *const WAYS[AXIS_DEFAULT] = {
	[AXIS_RANGE] = "--range", [AXIS_LOG] = "--log",   [AXIS_EDGES] = "--edges",
	[AXIS_MOD] = "--mod",     [AXIS_AUTO] = "--auto",
};

static int parse_ends(struct edges_spec *spec, const char *option, const char *text, const char *form,
		      struct fail *fail)
{
	const char *colon = strchr(text, ':');

	if (!colon)
		return usage(fail, option, text, form);
	if (number_parse(&spec->lo, text, (size_t)(colon - text)) != 0)
		return usage(fail, option, text, "LO must be a finite number, such as -1, 0.5, 1e6 or 0x10");
	if (number_parse(&spec->hi, colon + 1, strlen(colon + 1)) != 0)
		return usage(fail, option, text, "HI must be a finite number, such as -1, 0.5, 1e6 or 0x10");
	return 0;
}

static int parse_log(struct job *job, struct given *g, const char *text, struct fail *fail)
{
	struct edges_spec *spec = &job->axis.edges;

	g->way[AXIS_LOG] = text;
	if (parse_ends(spec, "--log", text, "must be LO:HI, as in 1:1000 or 1e-6:1", fail) != 0)
		return -1;
	if (!(spec->lo.value > 0))
		return usage(fail, "--log", text, "LO must be above 0");
	if (!(spec->lo.value < spec->hi.value))
		return usage(fail, "--log", text, "LO must be less than HI");
	return 0;
}

static int parse_edges(struct job *job, struct given *g, const char *text, struct fail *fail)
{
	g->way[AXIS_EDGES] = text;
	free(job->edges);
	return edges_arg_read(&job->edges, &g->edges, text, fail);
}

static int parse_range(struct job *job, struct given *g, const char *text, struct fail *fail)
{
	struct edges_spec *spec = &job->axis.edges;

	g->way[AXIS_RANGE] = text;
	spec->full = strcmp(text, "full") == 0;
	if (spec->full)
		return 0;
	return parse_ends(spec, "--range", text, "must be LO:HI, as in -1:1 or 0:4096, or full", fail);
}

static int parse_device(struct job *job, const char *text, struct fail *fail)
{
	const bool gpu = strncmp(text, "gpu", 3) == 0 && (text[3] == '\0' || text[3] == ':');

	job->device = strcmp(text, "cpu") == 0 ? DEVICE_CPU : gpu ? DEVICE_GPU : DEVICE_AUTO;
	job->gpus = gpu && text[3] == ':' ? text + 4 : "0";
	/* "all", or numbers with single commas between them. */
	const char *p = job->gpus;
	while (*p >= '0' && *p <= '9')
		p += p[1] == ',' && p[2] != '\0' ? 2 : 1;
	const bool list = *p == '\0' && p > job->gpus && p - job->gpus < 100;
	if ((gpu && !list && strcmp(job->gpus, "all") != 0) ||
	    (!gpu && strcmp(text, "auto") != 0 && strcmp(text, "cpu") != 0))
		return usage(fail, "--device", text, "must be auto, cpu, gpu, gpu:0,2 or gpu:all");
	return 0;
}

static int parse_bins(struct given *g, const char *text, struct fail *fail)
{
	uint64_t n;

	if (number_parse_size(&n, text) != 0 || n < 1 || n > BINS_MAX)
		return usage(fail, "--bins", text,
			     "must be a number from 1 to 268435456 (2^28), such as 1024, 64K or 0x400");
	g->bins = (uint32_t)n;
	return 0;
}

static int parse_format(struct job *job, const char *text, struct fail *fail)
{
	char list[FORMAT_LIST], why[FORMAT_LIST + 16];

	job->format = format_find(text);
	if (job->format)
		return 0;
	format_list(list, false, "or");
	snprintf(why, sizeof(why), "must be %s", list);
	return usage(fail, "--format", text, why);
}

static int parse_option(struct job *job, struct given *g, int option, const char *text, struct fail *fail)
{
	char hint[SAMPLE_HINT];
	uint64_t n;

	switch (option) {
	case 't':
		job->source.typed = true;
		if (sample_type_parse(&job->type, text) == 0)
			return 0;
		sample_type_hint(hint, text);
		return usage(fail, "--type", text, hint);
	case 'b':
		return parse_bins(g, text, fail);
	case 'r':
		return parse_range(job, g, text, fail);
	case OPT_LOG:
		return parse_log(job, g, text, fail);
	case OPT_EDGES:
		return parse_edges(job, g, text, fail);
	case OPT_MOD:
		g->way[AXIS_MOD] = "";
		return 0;
	case OPT_AUTO:
		g->way[AXIS_AUTO] = "";
		return 0;
	case 'S':
		if (number_parse_size(&job->source.skip, text) != 0)
			return usage(fail, "--skip", text, "must be a number of bytes below 2^64, " SIZES);
		return 0;
	case 'n':
		if (number_parse_size(&job->source.limit, text) != 0)
			return usage(fail, "--count", text,
				     "must be a number of records below 2^64, such as 1000, 64K, 1M or 0x200");
		return 0;
	case 'c':
		return layout_option_channels(&job->layout_options, text, fail);
	case OPT_RECORD:
		return layout_option_record(&job->layout_options, text, fail);
	case OPT_OFFSET:
		return layout_option_offset(&job->layout_options, text, fail);
	case OPT_ROWS:
		return layout_option_rows(&job->layout_options, text, fail);
	case 'C':
		g->counter = true;
		if (counter_parse(&job->style.counter, text) != 0)
			return usage(fail, "--counter", text, "must be " COUNTER_NAMES);
		return 0;
	case 'f':
		return parse_format(job, text, fail);
	case 'o':
		job->output = text;
		job->output_named = true;
		return 0;
	case 'T':
		if (number_parse_count(&n, text) != 0 || n > THREADS_MAX)
			return usage(fail, "--threads", text, "must be a number from 1 to 4096, or 0 for all cores");
		job->threads = (unsigned)n;
		return 0;
	case 'M':
		if (number_parse_size(&job->memory, text) != 0 || job->memory == 0)
			return usage(fail, "--memory", text, "must be a number of bytes from 1 to 2^64 - 1, " SIZES);
		job->memory_text = text;
		return 0;
	case 'q':
	case 'v':
		job->quiet = option == 'q';
		job->verbose = option == 'v';
		return 0;
	case OPT_IGNORE_TAIL:
		job->source.ignore_tail = true;
		return 0;
	case OPT_ZSTD:
		job->source.zstd = true;
		return 0;
	case OPT_RAW:
		job->source.raw = true;
		return 0;
	case OPT_CLAMP:
		job->axis.clamp = true;
		return 0;
	case OPT_CLOSED:
		job->axis.edges.closed = true;
		return 0;
	case OPT_NO_HEADER:
		job->style.header = false;
		return 0;
	case OPT_NONZERO:
		job->style.nonzero = true;
		return 0;
	case OPT_FLOW:
		job->style.flow = true;
		return 0;
	case OPT_STATS:
		job->stats = true;
		return 0;
	case OPT_DEVICE:
		return parse_device(job, text, fail);
	default:
		return fail_set(fail, STATUS_USAGE, "option %d is not handled", option);
	}
}

/* With -f the user has decided, and is not asked again what a suffix promises. */
static int settle_output(struct job *job, const struct given *g, struct fail *fail)
{
	struct style *const style = &job->style;
	char why[FORMAT_WHY], list[FORMAT_LIST];

	if (job->output && job->output[0] == '\0')
		return usage(fail, "--output", "''", "is no file name");
	if (!job->format && !(job->format = format_of_path(job->output, why)))
		return usage(fail, "--output", job->output, why);
	const struct format *const format = job->format;
	if (!g->counter)
		style->counter = format->counter;
	if (!format->rows && (style->nonzero || style->flow || !style->header)) {
		format_list(list, true, "and");
		return fail_set(fail, STATUS_USAGE, "--nonzero, --flow and --no-header are for %s", list);
	}
	if (!(format->counters & 1u << style->counter))
		return fail_set(fail, STATUS_USAGE, "%s holds exact counts: no -C %s with it", format->name,
				counter_name(style->counter));
	if (format->binary && !job->output_named && isatty(STDOUT_FILENO))
		return fail_set(
			fail, STATUS_USAGE,
			"standard output is a terminal, and %s counters are binary (-o - writes them all the same)",
			format->name);
	for (size_t i = 0; i < job->source.path_count; i++)
		if (output_is_input(job->output, job->source.paths[i]))
			return fail_set(fail, STATUS_USAGE, "%s: is both input and output",
					strcmp(job->source.paths[i], "-") == 0 ? "standard input"
									       : job->source.paths[i]);
	return 0;
}

static const struct option *by_value(int value)
{
	for (const struct option *o = LONG; o->name; o++)
		if (o->val == value)
			return o;
	return NULL;
}

/* The options that an abbreviation may stand for, as a list; returns how many. */
static size_t candidates(const char *word, char *list, size_t room)
{
	const size_t length = strcspn(word + 2, "=");
	size_t n = 0, used = 0;

	for (const struct option *o = LONG; o->name && length > 0; o++) {
		if (strncmp(o->name, word + 2, length) != 0)
			continue;
		const int some = snprintf(list + used, room - used, "%s--%s", n++ == 0 ? "" : ", ", o->name);
		used += (size_t)some < room - used ? (size_t)some : 0;
	}
	return n;
}

/*
 * getopt prints messages of its own; these go through ours. It leaves in optopt the letter that is
 * unknown, or the value of the option that is used wrongly, or 0 where a long name is unknown.
 */
static int refuse(int option, char **argv, struct fail *fail)
{
	const char *word = argv[optind - 1];
	const int name = (int)strcspn(word, "="), length = name > 2 ? name : (int)strlen(word);
	const struct option *known = optopt != 0 ? by_value(optopt) : NULL;
	char list[400];

	if (option == ':' && strncmp(word, "--", 2) != 0)
		return fail_set(fail, STATUS_USAGE, "option '-%c' needs a value (gpuhist -h lists them)", optopt);
	if (option == ':')
		return fail_set(fail, STATUS_USAGE, "option '--%s' needs a value (gpuhist -h lists them)", known->name);
	if (known)
		return fail_set(fail, STATUS_USAGE, "option '--%s' takes no value", known->name);
	/* The word that holds an unknown letter may still be the next one: optind has not moved. */
	if (optopt != 0)
		return fail_set(fail, STATUS_USAGE, "unknown option '-%c' (gpuhist -h lists them)", optopt);
	if (candidates(word, list, sizeof(list)) > 1)
		return fail_set(fail, STATUS_USAGE, "option '%.*s' is ambiguous: %s", length, word, list);
	return fail_set(fail, STATUS_USAGE, "unknown option '%.*s' (gpuhist -h lists them)", length, word);
}

_Static_assert(LAYOUT_BYTES_MAX <= SOURCE_RECORD_MAX, "every record and row can be read");

int job_axis(struct axis *axis, const struct job *job, struct fail *fail)
{
	const char *why = NULL;

	if (axis_init(axis, &job->axis, &job->type, &why) == 0) {
		/* A counter is known by a number of 32 bits (count.c). */
		const unsigned long bins = (unsigned long)axis_bins(axis), channels = job->layout.channels;
		if (channels * ((uint64_t)bins + CELL_EXTRA) <= UINT32_MAX)
			return 0;
		edges_free(&axis->edges);
		return fail_set(fail, STATUS_USAGE,
				"--channels %lu: too many with %lu bins each: all of them must be fewer than 2^32",
				channels, bins);
	}
	if (why == edges_no_memory)
		return fail_set(fail, STATUS_SYSTEM, "%s", why);
	if (job->bins_text)
		return fail_set(fail, STATUS_USAGE, "%s %s, --type %s: %s", WAYS[job->axis.edges.kind], job->bins_text,
				job->type.name, why);
	return usage(fail, "--type", job->type.name, why);
}

/* How many channels a header and -c give together. */
static int header_channels(uint32_t *channels, const struct job *job, const struct header *said, struct fail *fail)
{
	const struct layout_options *const asked = &job->layout_options;
	const bool array = strcmp(said->format, ".npy") == 0;
	const char *const name = job->source.paths[0];
	uint64_t n = said->channels;

	if (asked->last && array && said->fortran)
		return fail_set(fail, STATUS_USAGE, "--channels last: %s: the array is in Fortran order", name);
	if (asked->last && array)
		n = said->last <= LAYOUT_CHANNELS_MAX ? said->last * n : said->last;
	/* An array of numbers says nothing of channels. */
	if (asked->channels > 1 && asked->channels != n && !(array && n == 1))
		return fail_set(fail, STATUS_USAGE,
				"--channels %lu: %s: its %s header says %llu (-c 1 counts all of them together)",
				(unsigned long)asked->channels, name, said->format, (unsigned long long)n);
	if (asked->channels > 0)
		n = asked->channels;
	if (n < 1 || n > LAYOUT_CHANNELS_MAX)
		return fail_set(
			fail, STATUS_USAGE,
			"%s: %llu channels: from 1 to 64 can be counted apart (-c 1 counts all of them together)", name,
			(unsigned long long)n);
	*channels = (uint32_t)n;
	return 0;
}

int job_layout(struct job *job, const struct header *said, struct fail *fail)
{
	struct layout_options asked = job->layout_options;
	const bool header = said && said->format, together = asked.channels == 1;

	if (asked.last && !header)
		return fail_set(fail, STATUS_USAGE, "--channels last: %s does not say what it is",
				strcmp(job->source.paths[0], "-") == 0 ? "standard input" : job->source.paths[0]);
	if (header && header_channels(&asked.channels, job, said, fail) != 0)
		return -1;
	job->source.last = asked.last ? said->last : 0;
	job->source.channels = together ? 0 : header ? said->channels : asked.channels > 0 ? asked.channels : 1;
	if (layout_options_settle(&asked, &job->type, &job->layout, fail) != 0)
		return -1;
	job->source.record = layout_bytes(&job->layout);
	return 0;
}

/*
 * Layout and axis, if no input says of itself what it is. Where one may do so the run makes them again, and only then
 * it is known what must be refused.
 */
static int check_type(struct job *job, struct fail *fail)
{
	const bool open = job->source.headers && (!job->source.typed || job->layout_options.last);
	struct axis axis;
	struct fail unused;

	job->source.record = job->type.bytes;
	if (job_layout(job, NULL, open ? &unused : fail) != 0 || open)
		return open ? 0 : -1;
	if (job_axis(&axis, job, fail) != 0)
		return -1;
	edges_free(&axis.edges);
	return 0;
}

/* One way to bin at most, and as many bins as it has. */
static int settle_bins(struct job *job, const struct given *g, struct fail *fail)
{
	struct edges_spec *const spec = &job->axis.edges;

	spec->kind = AXIS_DEFAULT;
	spec->bins = g->bins;
	for (enum axis_kind kind = 0; kind < AXIS_DEFAULT; kind++) {
		if (!g->way[kind])
			continue;
		if (spec->kind != AXIS_DEFAULT)
			return fail_set(fail, STATUS_USAGE, "%s and %s: only one way to bin can be asked for",
					WAYS[spec->kind], WAYS[kind]);
		spec->kind = kind;
		job->bins_text = kind == AXIS_RANGE || kind == AXIS_LOG ? g->way[kind] : NULL;
	}
	if (spec->kind == AXIS_LOG && spec->bins > BINS_LOG_MAX)
		return fail_set(fail, STATUS_USAGE, "--bins %lu: --log takes at most 1048576 (2^20)",
				(unsigned long)spec->bins);
	if (spec->kind != AXIS_EDGES)
		return 0;
	if (spec->bins != 0 && spec->bins != g->edges - 1)
		return fail_set(fail, STATUS_USAGE, "--bins %lu: --edges gives %zu edges, which make %zu bin%s",
				(unsigned long)spec->bins, g->edges, g->edges - 1, g->edges == 2 ? "" : "s");
	spec->bins = (uint32_t)(g->edges - 1);
	spec->list = job->edges;
	return 0;
}

static unsigned threads_of_cores(void)
{
	const unsigned n = cores_usable();

	return n < THREADS_MAX ? n : THREADS_MAX;
}

enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail)
{
	static char *const STDIN[] = {"-", NULL};
	struct given g = {.bins = 0};

	*job = (struct job){
		.source.limit = UINT64_MAX,
		.gpus = "0",
		.memory = MEMORY_DEFAULT,
		.memory_text = "256M",
		.style.header = true,
	};
	sample_type_parse(&job->type, "u32");
	for (int option; (option = getopt_long(argc, argv, ":t:b:r:S:n:c:C:o:f:T:M:qvhV", LONG, NULL)) != -1;) {
		if (option == 'h')
			return OPTIONS_HELP;
		if (option == 'V')
			return OPTIONS_VERSION;
		if ((option == '?' || option == ':') ? refuse(option, argv, fail) != 0
						     : parse_option(job, &g, option, optarg, fail) != 0)
			return OPTIONS_FAILED;
	}
	job->source.paths = optind < argc ? argv + optind : STDIN;
	job->source.path_count = optind < argc ? (size_t)(argc - optind) : 1;
	job->options = argv + 1;
	job->option_count = (size_t)(optind - 1);
	job->source.headers = !job->source.raw;
	job->source.type = job->type;
	if (job->threads == 0)
		job->threads = threads_of_cores();
	if (settle_bins(job, &g, fail) != 0 || check_type(job, fail) != 0 || settle_output(job, &g, fail) != 0)
		return OPTIONS_FAILED;
	return OPTIONS_RUN;
}

void options_free(struct job *job)
{
	free(job->edges);
	job->edges = NULL;
}
