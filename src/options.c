/* options: argv to a job, checked as far as it can be without opening anything. */
#include "options.h"

#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "output.h"

#define THREADS_MAX 4096u
#define MEMORY_DEFAULT ((uint64_t)256 << 20)

const char options_version[] = "gpuhist " GPUHIST_VERSION "\n";

const char options_help[] =
	"Usage: gpuhist [OPTION]... [FILE]...\n"
	"Count binary samples from FILEs or standard input into a histogram.\n"
	"  -t, --type=TYPE      u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 bf16 f32 f64,\n"
	"                       +be for big endian; or <u2, >f4, uint16 ... (default u32)\n"
	"  -b, --bins=N         number of bins, up to 2^28 (default 256)\n"
	"  -r, --range=LO:HI    N equal bins over [LO, HI); full: every value of the type\n"
	"                       (default for integers: bin = value)\n"
	"      --clamp          count what is out of range in the first or last bin\n"
	"      --closed         the last bin takes HI too\n"
	"  -S, --skip=SIZE      skip SIZE bytes of each input (64K, 1MiB, 10MB ...)\n"
	"  -n, --count=N        stop after N samples\n"
	"      --ignore-tail    do not fail on a partial sample at an input's end\n"
	"      --raw            count compressed files as they are\n"
	"      --zstd           every input must be zstd's (which needs no option)\n"
	"  -C, --counter=KIND   u64 u32 sat8 sat16 sat32 (default u64; u32 with -f raw)\n"
	"  -f, --format=FORMAT  csv tsv raw json (default: by the suffix of FILE, or csv)\n"
	"  -o, --output=FILE    replace FILE once the whole histogram is there\n"
	"      --flow           rows for under, over and nan\n"
	"      --nonzero        only bins that hold something\n"
	"      --no-header\n"
	"      --device=DEVICE  auto, cpu, gpu (the first), gpu:0,2, gpu:all\n"
	"  -T, --threads=N      CPU threads at most (default: the cores)\n"
	"  -M, --memory=SIZE    memory to use, the bins aside (default 256M)\n"
	"  -q, --quiet   -v, --verbose   -h, --help   -V, --version   Manual: gpuhist(1)\n";

enum { /* long options without a letter */
	OPT_IGNORE_TAIL = 256,
	OPT_RAW,
	OPT_ZSTD,
	OPT_CLAMP,
	OPT_CLOSED,
	OPT_NO_HEADER,
	OPT_NONZERO,
	OPT_FLOW,
	OPT_DEVICE,
};

static const struct option LONG[] = {
	{"type", required_argument, NULL, 't'},
	{"bins", required_argument, NULL, 'b'},
	{"range", required_argument, NULL, 'r'},
	{"skip", required_argument, NULL, 'S'},
	{"count", required_argument, NULL, 'n'},
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
	{"clamp", no_argument, NULL, OPT_CLAMP},
	{"closed", no_argument, NULL, OPT_CLOSED},
	{"no-header", no_argument, NULL, OPT_NO_HEADER},
	{"nonzero", no_argument, NULL, OPT_NONZERO},
	{"flow", no_argument, NULL, OPT_FLOW},
	{"device", required_argument, NULL, OPT_DEVICE},
	{NULL, 0, NULL, 0},
};

/* What was given, before it is known whether it fits together. */
struct given {
	struct edges_spec edges;
	int counter, format; /* -1: not given */
};

static int usage(struct fail *fail, const char *option, const char *argument, const char *why)
{
	return fail_set(fail, STATUS_USAGE, "%s %s: %s", option, argument, why);
}

static int parse_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	return -1;
}

static int parse_range(struct edges_spec *spec, const char *text, struct fail *fail)
{
	spec->ranged = true;
	spec->full = strcmp(text, "full") == 0;
	if (spec->full)
		return 0;
	const char *colon = strchr(text, ':');
	if (!colon)
		return usage(fail, "--range", text, "must be LO:HI or full");
	if (number_parse(&spec->lo, text, (size_t)(colon - text)) != 0)
		return usage(fail, "--range", text, "LO is not a finite number");
	if (number_parse(&spec->hi, colon + 1, strlen(colon + 1)) != 0)
		return usage(fail, "--range", text, "HI is not a finite number");
	return 0;
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

	if (number_parse_count(&n, text) != 0 || n < 1 || n > BINS_MAX)
		return usage(fail, "--bins", text, "must be a whole number from 1 to 268435456");
	g->edges.bins = (uint32_t)n;
	return 0;
}

static int parse_option(struct job *job, struct given *g, int option, const char *text,
			struct fail *fail)
{
	static const char *const COUNTERS[] = {"u64", "u32", "sat8", "sat16", "sat32", NULL};
	static const char *const FORMATS[] = {"csv", "tsv", "raw", "json", NULL};
	uint64_t n;

	switch (option) {
	case 't':
		if (sample_type_parse(&job->type, text) != 0)
			return usage(fail, "--type", text, "no such type (gpuhist -h lists them)");
		return 0;
	case 'b':
		return parse_bins(g, text, fail);
	case 'r':
		return parse_range(&g->edges, text, fail);
	case 'S':
		if (number_parse_size(&job->source.skip, text) != 0)
			return usage(fail, "--skip", text, "not a size");
		return 0;
	case 'n':
		if (number_parse_count(&job->source.limit, text) != 0)
			return usage(fail, "--count", text, "not a number of samples");
		return 0;
	case 'C':
		if ((g->counter = parse_word(text, COUNTERS)) < 0)
			return usage(fail, "--counter", text, "must be u64, u32, sat8, sat16 or sat32");
		return 0;
	case 'f':
		if ((g->format = parse_word(text, FORMATS)) < 0)
			return usage(fail, "--format", text, "must be csv, tsv, raw or json");
		return 0;
	case 'o':
		job->output = text;
		job->output_named = true;
		return 0;
	case 'T':
		if (number_parse_count(&n, text) != 0 || n < 1 || n > THREADS_MAX)
			return usage(fail, "--threads", text, "must be a whole number from 1 to 4096");
		job->threads = (unsigned)n;
		return 0;
	case 'M':
		if (number_parse_size(&job->memory, text) != 0 || job->memory == 0)
			return usage(fail, "--memory", text, "not a size");
		return 0;
	case 'q':
		job->quiet = true;
		return 0;
	case 'v':
		job->verbose = true;
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
		job->clamp = true;
		return 0;
	case OPT_CLOSED:
		g->edges.closed = true;
		return 0;
	case OPT_NO_HEADER:
		job->header = false;
		return 0;
	case OPT_NONZERO:
		job->nonzero = true;
		return 0;
	case OPT_FLOW:
		job->flow = true;
		return 0;
	case OPT_DEVICE:
		return parse_device(job, text, fail);
	default:
		return fail_set(fail, STATUS_USAGE, "option %d is not handled", option);
	}
}

/* csv unless FILE's suffix says otherwise; a suffix of a format to come must not get csv. */
static int format_of_suffix(const char *path, struct fail *fail)
{
	static const struct {
		const char *suffix;
		int format;
	} SUFFIXES[] = {
		{".csv", FORMAT_CSV},  {".tsv", FORMAT_TSV}, {".bin", FORMAT_RAW},
		{".raw", FORMAT_RAW},  {".json", FORMAT_JSON}, {".npy", -1}, {".svg", -1},
	};
	const char *dot = path ? strrchr(path, '.') : NULL;

	for (size_t i = 0; dot && i < sizeof(SUFFIXES) / sizeof(SUFFIXES[0]); i++) {
		if (strcmp(dot, SUFFIXES[i].suffix) != 0)
			continue;
		if (SUFFIXES[i].format < 0)
			return usage(fail, "--output", path, "this version cannot write that format (-f chooses another)");
		return SUFFIXES[i].format;
	}
	return FORMAT_CSV;
}

static int settle_output(struct job *job, struct given *g, struct fail *fail)
{
	if (job->output && job->output[0] == '\0')
		return usage(fail, "--output", "''", "is no file name");
	if (g->format < 0) {
		g->format = format_of_suffix(job->output, fail);
		if (g->format < 0)
			return -1;
	}
	job->format = (enum format)g->format;
	const bool text = job->format == FORMAT_CSV || job->format == FORMAT_TSV;
	job->counter = g->counter >= 0		    ? (enum counter_kind)g->counter
		       : job->format == FORMAT_RAW ? COUNTER_U32
						    : COUNTER_U64;
	if (!text && (job->nonzero || job->flow || !job->header))
		return fail_set(fail, STATUS_USAGE,
				"--nonzero, --flow and --no-header are for csv and tsv");
	if (job->format == FORMAT_JSON && job->counter >= COUNTER_SAT8)
		return fail_set(fail, STATUS_USAGE, "json holds exact counts: no -C %s with it",
				counter_name(job->counter));
	if (job->format == FORMAT_RAW && !job->output_named && isatty(STDOUT_FILENO))
		return fail_set(fail, STATUS_USAGE,
				"standard output is a terminal: -o - writes binary to it all the same");
	for (size_t i = 0; i < job->source.path_count; i++)
		if (output_is_input(job->output, job->source.paths[i]))
			return fail_set(fail, STATUS_USAGE, "%s: is both input and output",
					job->source.paths[i]);
	return 0;
}

static unsigned default_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
	/* taskset and containers may have left fewer than there are. */
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
#endif
	return n < 1 ? 1 : n > (long)THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

/* getopt prints messages of its own; these go through ours, with the same words. */
static int unknown(int option, char **argv, struct fail *fail)
{
	const char *word = argv[optind - 1];

	if (option == ':')
		return fail_set(fail, STATUS_USAGE, "%s: needs an argument", word);
	if (optopt != 0 && strncmp(word, "--", 2) != 0)
		return fail_set(fail, STATUS_USAGE, "-%c: no such option (gpuhist -h lists them)", optopt);
	return fail_set(fail, STATUS_USAGE, "%s: no such option, or not so (gpuhist -h lists them)",
			word);
}

enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail)
{
	static char *const STDIN[] = {"-", NULL};
	struct given g = {.edges.bins = 256, .counter = -1, .format = -1};
	const char *why = NULL;

	*job = (struct job){
		.source.limit = UINT64_MAX,
		.gpus = "0",
		.threads = default_threads(),
		.memory = MEMORY_DEFAULT,
		.header = true,
	};
	sample_type_parse(&job->type, "u32");
	for (int option;
	     (option = getopt_long(argc, argv, ":t:b:r:S:n:C:o:f:T:M:qvhV", LONG, NULL)) != -1;) {
		if (option == 'h')
			return OPTIONS_HELP;
		if (option == 'V')
			return OPTIONS_VERSION;
		if ((option == '?' || option == ':') ? unknown(option, argv, fail) != 0
						     : parse_option(job, &g, option, optarg, fail) != 0)
			return OPTIONS_FAILED;
	}
	job->source.paths = optind < argc ? argv + optind : STDIN;
	job->source.path_count = optind < argc ? (size_t)(argc - optind) : 1;
	job->source.record = job->type.bytes;
	if (job->quiet && job->verbose) {
		fail_set(fail, STATUS_USAGE, "-q and -v contradict each other");
		return OPTIONS_FAILED;
	}
	if (edges_init(&job->edges, &g.edges, &job->type, &why) != 0) {
		fail_set(fail, STATUS_USAGE, "--range, --type=%s: %s", job->type.name, why);
		return OPTIONS_FAILED;
	}
	if (settle_output(job, &g, fail) != 0)
		return OPTIONS_FAILED;
	return OPTIONS_RUN;
}
