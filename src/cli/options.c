/* SPDX-License-Identifier: MIT */
/* options: argv to a job, checked as far as is possible without opening anything. */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cores.h"
#include "bins/number.h"
#include "cli/options_given.h"

#define THREADS_MAX 4096u
#define MEMORY_LEAST ((uint64_t)256 << 20)
#define MEMORY_EACH ((uint64_t)32 << 20) /* of a thread */
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
	OPT_INTO,
	OPT_EVERY,
	OPT_TEE,
	OPT_MERGE,
	OPT_PART,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
};

const struct option options_long[] = {
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
	{"plot", optional_argument, NULL, 'p'},
	{"into", required_argument, NULL, OPT_INTO},
	{"every", required_argument, NULL, OPT_EVERY},
	{"tee", no_argument, NULL, OPT_TEE},
	{"merge", optional_argument, NULL, OPT_MERGE},
	{"part", required_argument, NULL, OPT_PART},
	{"progress", no_argument, NULL, OPT_PROGRESS},
	{"no-progress", no_argument, NULL, OPT_NO_PROGRESS},
	{NULL, 0, NULL, 0},
};

/* The leading colon keeps getopt from printing messages. */
const char options_letters[] = ":t:b:r:S:n:c:C:o:f:p::T:M:qvhV";

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
		return options_refuse_device(fail, text);
	return 0;
}

/*
 * Sets what an option without an argument stands for; it cannot be wrong. False: `option` takes an
 * argument.
 */
static bool set_flag(struct job *job, struct given *g, int option)
{
	switch (option) {
	case OPT_MOD:
		g->way[AXIS_MOD] = "";
		return true;
	case OPT_AUTO:
		g->way[AXIS_AUTO] = "";
		return true;
	case 'q':
	case 'v':
		job->quiet = option == 'q';
		job->verbose = option == 'v';
		return true;
	case OPT_IGNORE_TAIL:
		job->source.ignore_tail = true;
		return true;
	case OPT_ZSTD:
		job->source.zstd = true;
		return true;
	case OPT_RAW:
		job->source.raw = true;
		return true;
	case OPT_CLAMP:
		job->axis.clamp = true;
		return true;
	case OPT_CLOSED:
		job->axis.edges.closed = true;
		return true;
	case OPT_NO_HEADER:
		job->style.header = false;
		return true;
	case OPT_NONZERO:
		job->style.nonzero = true;
		return true;
	case OPT_FLOW:
		job->style.flow = true;
		return true;
	case OPT_STATS:
		job->stats = true;
		return true;
	case OPT_TEE:
		job->tee = true;
		return true;
	case OPT_PROGRESS:
	case OPT_NO_PROGRESS:
		job->progress = option == OPT_PROGRESS ? PROGRESS_ALWAYS : PROGRESS_NEVER;
		return true;
	default:
		return false;
	}
}

/* Parses the argument of an option that takes one. */
static int parse_argument(struct job *job, struct given *g, int option, const char *text,
			  struct fail *fail)
{
	char hint[SAMPLE_HINT];
	uint64_t n;

	switch (option) {
	case 't':
		job->source.typed = job->source.type_said = true;
		if (sample_type_parse(&job->type, text) == 0)
			return 0;
		sample_type_hint(hint, text);
		return options_usage(fail, "--type", text, hint);
	case 'b':
		return options_bins(g, text, fail);
	case 'r':
		return options_range(job, g, text, fail);
	case OPT_LOG:
		return options_log(job, g, text, fail);
	case OPT_EDGES:
		return options_edges(job, g, text, fail);
	case 'S':
		if (number_parse_size(&job->source.skip, text) != 0)
			return options_refuse_size(fail, "--skip", text,
						   "must be a number of bytes below 2^64, " SIZES,
						   0, UINT64_MAX);
		return 0;
	case 'n':
		if (number_parse_size(&job->source.limit, text) != 0)
			return options_refuse_size(fail, "--count", text,
						   "must be a number of records below 2^64, such "
						   "as 1000, 64K, 1M or 0x200",
						   0, UINT64_MAX);
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
			return options_refuse_counter(fail, text);
		return 0;
	case 'f':
		return options_format(job, text, fail);
	case 'o':
		job->output = text;
		job->output_named = true;
		return 0;
	case 'T':
		if (number_parse_count(&n, text) != 0 || n > THREADS_MAX)
			return options_usage(fail, "--threads", text,
					     "must be a number from 1 to 4096, or 0 for all cores");
		job->threads = (unsigned)n;
		return 0;
	case 'M':
		if (number_parse_size(&job->memory, text) != 0 || job->memory == 0)
			return options_refuse_size(
				fail, "--memory", text,
				"must be a number of bytes from 1 to 2^64 - 1, " SIZES, 1,
				UINT64_MAX);
		job->memory_text = text;
		return 0;
	case 'p':
		return options_plot(job, text, fail);
	case OPT_INTO:
		job->into = text;
		return 0;
	case OPT_EVERY:
		return options_every(job, text, fail);
	case OPT_MERGE:
		return options_merge(job, text, fail);
	case OPT_PART:
		return options_part(job, g, text, fail);
	case OPT_DEVICE:
		return parse_device(job, text, fail);
	default:
		return fail_set(fail, STATUS_USAGE, "option %d is not handled", option);
	}
}

/*
 * Makes the layout and the axis, if no input can have a header. Otherwise the run makes them again,
 * and only then is it known whether they must be refused.
 */
static int check_type(struct job *job, struct fail *fail)
{
	const bool open = job->source.headers && (!job->source.typed || job->layout_options.last);
	struct axis axis;
	struct fail unused = {.status = STATUS_OK};

	job->source.record = job->type.bytes;
	if (job_layout(job, NULL, open ? &unused : fail) != 0 || open)
		return open ? 0 : -1;
	if (job_axis(&axis, job, fail) != 0)
		return -1;
	edges_free(&axis.edges);
	return 0;
}

static bool names_tell(const struct job *job)
{
	struct sample_type type;
	struct fail unused = {.status = STATUS_OK};
	uint32_t channels;

	return job_named(job, &type, &channels, &unused) != 0;
}

static unsigned threads_of_cores(void)
{
	const unsigned n = cores_usable();

	return n < THREADS_MAX ? n : THREADS_MAX;
}

/* -M where it was not given. */
static void choose_memory(struct job *job)
{
	const uint64_t each = job->threads * MEMORY_EACH, quarter = memory_usable() / 4;
	const uint64_t wanted = each > MEMORY_LEAST ? each : MEMORY_LEAST;
	const uint64_t mib = (wanted < quarter ? wanted : quarter) >> 20;

	job->memory = (mib > 0 ? mib : 1) << 20;
	snprintf(job->memory_default, sizeof(job->memory_default), "%lluM",
		 (unsigned long long)job->memory >> 20);
	job->memory_text = job->memory_default;
}

enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail)
{
	static char *const STDIN[] = {"-", NULL};
	struct given g = {.bins = 0};

	*job = (struct job){
		.source.limit = UINT64_MAX,
		.gpus = "0",
		.style.header = true,
	};
	sample_type_parse(&job->type, "u32");
	for (int option;
	     (option = getopt_long(argc, argv, options_letters, options_long, NULL)) != -1;) {
		if (option == 'h')
			return OPTIONS_HELP;
		if (option == 'V')
			return OPTIONS_VERSION;
		if (option == '?' || option == ':') {
			options_refuse(option, argv, fail);
			return OPTIONS_FAILED;
		}
		if (!set_flag(job, &g, option) &&
		    parse_argument(job, &g, option, optarg, fail) != 0) {
			options_one_dash(argv, fail);
			return OPTIONS_FAILED;
		}
		options_note(&g, option_by_value(option)->name);
	}
	job->source.paths = optind < argc ? argv + optind : STDIN;
	job->source.path_count = optind < argc ? (size_t)(argc - optind) : 1;
	job->words = argv + 1;
	job->word_count = (size_t)(optind - 1);
	job->source.headers = !job->source.raw;
	job->source.type = job->type;
	job->source.type_said |= names_tell(job);
	if (job->threads == 0)
		job->threads = threads_of_cores();
	if (!job->memory_text)
		choose_memory(job);
	if (job->merge ? options_settle_merge(&g, fail) != 0
		       : options_settle_bins(job, &g, fail) != 0 || check_type(job, fail) != 0)
		return OPTIONS_FAILED;
	if (options_settle_part(job, &g, fail) != 0 || options_settle_output(job, &g, fail) != 0 ||
	    options_text(job, &g, fail) != 0)
		return OPTIONS_FAILED;
	return OPTIONS_RUN;
}

void options_free(struct job *job)
{
	free(job->edges);
	free(job->options);
	free(job->output_part);
	job->edges = NULL;
	job->options = NULL;
	job->output_part = NULL;
}
