/* SPDX-License-Identifier: MIT */
/* random_jobs: give gpuhist and the oracle the same random jobs
 *
 *   random_jobs GPUHIST ORACLE SEED JOBS [SECONDS] [-- OPTION...]
 *   random_jobs GPUHIST ORACLE SEED --only K [-- OPTION...]
 *
 * A job has a type, bins, a layout, flags, data on and near the edges, perhaps a header, and a
 * route for the data. It depends only on SEED and its number, so --only K repeats job K. gpuhist
 * gets the inputs by that route, the oracle gets plain files of the same bytes; standard output and
 * exit status must be the same. In every job gpuhist also gets the OPTIONs after --, instead of a
 * device drawn by chance.
 *
 * The inputs of a failed job stay in a directory that the report names.
 *
 * Files: chance, type, range, binning, layout, data, header, text, input, command, process,
 * verdict.
 */
#include "job.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_KEPT = 20 }; /* directories of failed jobs that stay */

static uint64_t draw_bins(void)
{
	static const unsigned usual[] = {1, 2, 3, 10, 256, 1000, 1024};
	uint64_t kind = below(200);

	if (kind < 110)
		return usual[below(sizeof(usual) / sizeof(usual[0]))];
	if (kind < 190)
		return 1 + below(300);
	if (kind < 196)
		return 4096;
	if (kind < 198)
		return 65536;
	if (kind < 199)
		return 100003;
	return ((uint64_t)1 << (20 + below(3))) + 1 + below(1000);
}

/* Draw the kind of everything; the details follow. */
static void draw_kinds(struct job *j)
{
	static const enum binning ways[] = {
		RANGE, RANGE, RANGE, RANGE, RANGE,        RANGE,        LOG,      LOG,      EDGES,
		EDGES, EDGES, MOD,   AUTO,  DEFAULT_BINS, DEFAULT_BINS, LOG_AUTO, LOG_AUTO,
	};

	*j = (struct job){.type = draw_type()};
	j->bins = draw_bins();
	do
		j->binning = ways[below(sizeof(ways) / sizeof(ways[0]))];
	while (j->binning == MOD && j->type->kind == FLOAT && !once_in(20)); /* a usage error */
	/* For smaller types, the range is the type's. */
	while (j->binning == AUTO && j->type->bits <= 16 && !once_in(8))
		j->type = draw_type();
	j->big_endian = j->type->bits != 8 && once_in(3);
	j->layout = once_in(4) ? (enum layout)(1 + below(2)) : PLAIN;
	j->channels = once_in(3) ? 1 + (unsigned)below(once_in(5) && j->bins < 10000 ? 64 : 4) : 1;
	if (once_in(25) && j->bins < 1000) /* many */
		j->channels = 65 + (unsigned)below(once_in(3) ? 1000 : 60);
	if (j->layout == RECORDS && j->type->bits % 8 && !once_in(20))
		j->layout = ROWS; /* else a usage error, as below */
	while (j->type->bits < 8 && j->channels % packed_in(j->type) &&
	       packed_in(j->type) % j->channels && !once_in(20))
		j->channels++;
	j->channels_given = j->channels > 1 || once_in(20);
	if (j->layout == PLAIN && once_in(5))
		j->header = draw_header(j->type, j->big_endian);
}

/* Draw up to four rising percentages, with up to four decimals. */
static void draw_quantiles(struct job *j)
{
	unsigned at = 0, n = 1 + (unsigned)below(4);

	if (j->binning == MOD && !once_in(20)) /* refused */
		return;

	for (unsigned i = 0; i < n; i++) {
		static const unsigned steps[] = {1, 5000, 10000, 250000, 1000000};
		const unsigned step = steps[below(5)];
		const size_t used = strlen(j->quantiles);

		at = at / step * step + (i || once_in(2) ? step : 0);
		if (at > 1000000)
			break;
		snprintf(j->quantiles + used, sizeof(j->quantiles) - used, "%s%g", i ? "," : "",
			 at / 1e4);
	}
}

/* Are edges of this many bins always edges of a multiple of them, too? */
static bool can_join(const struct job *j)
{
	const bool range = j->binning == RANGE && j->exact && !j->step[0] && (j->full || j->lo[0]);

	/* Not the default, which --raw changes for a header's floats; --auto needs two bins,
	 * --log=auto three. */
	const bool automatic = is_automatic(j) && j->binning != DEFAULT_BINS &&
			       j->bins > 1 + (j->binning == LOG_AUTO);

	return j->bins_given && !j->magnitude && (range || j->binning == MOD || automatic);
}

/* Can there be rows? Without bins only with --stats, which may be drawn, or else a usage error. */
static bool can_have_rows(struct job *j)
{
	const bool figures = j->binning == DEFAULT_BINS && !j->bins_given;

	if (is_automatic(j) && figures)
		draw_quantiles(j);
	return !is_automatic(j) || figures || once_in(20);
}

/* Draw --each; the number of records is drawn once the inputs exist. */
static void draw_rows(struct job *j)
{
	static const char *const formats[] = {"csv", "tsv", "raw", "npy"}, *const counters[] = {
										   "u64", "u32",
										   "sat8", "sat16",
										   "sat32"};

	j->each = true;
	if (once_in(5) && !is_automatic(j)) {
		j->slices = 1;
		if (j->limit == 0) /* no row, and nothing to merge */
			j->limited = false;
		if (can_join(j))
			j->finer += (unsigned)below(4);
		if (once_in(3))
			draw_quantiles(j);
		return;
	}
	if (once_in(3))
		j->counter = counters[below(5)];
	if (!j->quantiles[0] && once_in(3))
		draw_quantiles(j);
	if (once_in(2))
		j->format = formats[below(j->quantiles[0] ? 2 : 4)];
}

enum { MOST_NUMBERS = 200000 }; /* in all rows */

static void draw_row_size(struct job *j, const struct input *in, unsigned inputs)
{
	static const unsigned usual[] = {1, 2, 3, 7, 64, 100, 1024, 4096, 65536};
	const unsigned packed = j->layout == PLAIN ? packed_in(j->type) : 1;
	uint64_t size = once_in(2) ? usual[below(9)] : 1 + draw_magnitude(20), records = 0;

	for (unsigned k = 0; k < inputs; k++)
		records += in[k].records * (j->layout == PLAIN ? packed : 1);
	const uint64_t least = records * (j->bins + 4) * j->channels * j->finer / MOST_NUMBERS;
	size = size < least ? least : size;
	if (j->slices > 0 || !once_in(20)) /* else it may end inside a byte, a usage error */
		size += (packed - size % packed) % packed;
	snprintf(j->row, sizeof(j->row), "%llu", (unsigned long long)(size + (size == 0)));
	/* A document holds rows: without records there is no document. */
	if (once_in(5) || (j->slices > 0 && records == 0))
		snprintf(j->row, sizeof(j->row), "file");
}

/* May edges be equal in binary64, so that JSON is refused? */
static bool is_too_fine(const struct job *j)
{
	const double lo = fabs((double)j->whole_lo), hi = fabs((double)j->whole_hi);

	return j->binning == RANGE && j->exact &&
	       (double)(j->whole_hi - j->whole_lo) / (double)(j->bins * j->finer) <
		       fmax(lo, hi) * 0x1p-51;
}

/* Draw --abs: of floats and small signed integers, of pairs, and at times a usage error. */
static void draw_abs(struct job *j, bool gpu)
{
	const struct type *const type = j->type;
	const bool possible = type->kind == FLOAT ||
			      (type->kind == SIGNED && type->bits <= 16 && type->bits % 8 == 0);
	const bool known = (j->binning == RANGE && !j->full && j->lo[0]) || j->binning == LOG ||
			   j->binning == EDGES || j->binning == AUTO || j->binning == LOG_AUTO;

	if (gpu && (type->bits > 16 || j->pair)) /* the cores take them */
		return;
	if (j->pair) {
		j->magnitude = j->abs = j->layout == PLAIN && !j->header && known &&
					j->channels % 2 == 0 && j->channels <= 64 && once_in(2);
		return;
	}
	j->abs = once_in(possible ? 6 : 300);
}

/* Draw up to three values of --missing near the data, or at times what is refused. */
static void draw_missing(struct job *j, bool gpu)
{
	const struct type *const type = j->type;
	const bool possible =
		type->kind == FLOAT || (type->bits <= 16 && j->channels <= 64 && !j->text);

	if (!once_in(possible ? 8 : 300) || (gpu && type->bits > 16) || (!possible && j->text))
		return;
	for (unsigned n = 1 + (unsigned)below(3); n > 0; n--) {
		const size_t used = strlen(j->missing);
		const uint64_t key = j->edge_keys > 0 && once_in(2)
					     ? j->edge_key[below(j->edge_keys)]
					     : draw() & mask_of(type);
		if (type->kind != FLOAT)
			snprintf(
				j->missing + used, sizeof(j->missing) - used, "%s%lld",
				used ? "," : "",
				(long long)(j->masked ? (wide)below(8) : min_of(type) + (wide)key));
		else
			snprintf(j->missing + used, sizeof(j->missing) - used, "%s%.17g",
				 used ? "," : "", once_in(4) ? 0.0 : real_of_key(type, key));
	}
}

/* -b 0: only figures. */
static void make_binless(struct job *j)
{
	j->binless = true;
	j->binning = DEFAULT_BINS;
	j->bins = j->finer = 1;
	j->counter = NULL;
	if (j->format && (!strcmp(j->format, "raw") || !strcmp(j->format, "npy")))
		j->format = NULL;
}

static void draw_job(struct job *j, bool gpu)
{
	static const unsigned skips[] = {1, 3, 4, 512, 1000, 1024, 4096, 65536, 64000};

	do
		draw_kinds(j);
	/* a GPU does not count these */
	while (gpu && ((j->type->bits > 8 && j->type->bits % 8) || j->channels > 64));
	j->header_channels = 1;
	j->type_given = !j->header || (j->header != TENSORS && once_in(3));
	if (j->header)
		draw_header_channels(j);
	/* Only the CPU finds out whether all numbers of a text are whole. */
	if (!gpu || j->type->kind != FLOAT || j->type->bits <= 16)
		draw_text(j);
	j->masked = !j->text &&
		    once_in(j->type->kind != FLOAT && (j->type->bits == 8 || j->type->bits == 16)
				    ? 3
				    : 300);
	j->pair = j->type_given && !j->text && j->channels_given && j->type->numpy && once_in(4);
	draw_layout(j);
	draw_binning(j);
	draw_edge_keys(j);
	draw_abs(j, gpu);
	draw_missing(j, gpu);
	if (once_in(5) && !j->text)
		j->skip =
			once_in(2) ? 1 + below(40) : skips[below(sizeof(skips) / sizeof(skips[0]))];
	if (j->header == TENSORS) /* counted whole */
		j->skip = 0;
	if (j->header) /* skip whole samples */
		j->skip -= j->skip % (j->header_channels * j->type->bits / 8);
	j->limited = j->header != TENSORS && once_in(6);
	j->limit = j->limited ? draw_magnitude(18) : 0;
	if (!once_in(10)) /* else it may end inside a byte, a usage error */
		j->limit -= j->limit % packed_in(j->type);
	j->quiet = once_in(4);
	j->no_check = once_in(4); /* counts of undamaged data are the same */
	j->finer = 1;
	if (j->layout == RECORDS && !j->channels_given && !j->text && !gpu && j->bins < 1000 &&
	    j->type->bits % 8 == 0 && j->stride > 4 && once_in(2)) {
		j->key_bits = 8u << below(3);
		j->key_byte = below(j->stride - j->key_bits / 8 + 1);
		/* Small floats have the quantiles of f32. */
		if ((once_in(3) || is_automatic(j)) &&
		    (j->type->kind != FLOAT || j->type->bits > 16))
			draw_quantiles(j);
		if (!j->quantiles[0] && j->binning == DEFAULT_BINS && !j->bins_given)
			j->key_bits = 0; /* it would write figures */
		if (once_in(2) && !is_automatic(j)) {
			j->slices = 1 + (unsigned)below(6);
			if (can_join(j))
				j->finer += (unsigned)below(4);
		}
	} else if (j->channels > 64) {
		if (once_in(2))
			draw_quantiles(j);
	} else if (once_in(4) && !gpu && j->bins * j->channels < 10000 && can_have_rows(j)) {
		draw_rows(j);
	} else if (once_in(6) && j->bins * j->channels < 10000 && !j->text) {
		j->slices = 1 + (unsigned)below(once_in(8) ? MAX_SLICES : 6);
		if (can_join(j))
			j->finer += (unsigned)below(4);
		if (once_in(2) && !(gpu && j->type->bits > 16))
			draw_quantiles(j);
	} else if (once_in(5) && !(gpu && j->type->bits > 16)) {
		draw_quantiles(j);
	}
	j->implied = j->apart && j->binning == DEFAULT_BINS && !j->bins_given && !j->each;
	if (j->implied || (j->quantiles[0] && once_in(3)))
		make_binless(j);
	if (j->implied && !j->quantiles[0] && once_in(2))
		draw_quantiles(j);
	if (j->slices > 0 && !j->each) /* -n is of all inputs together */
		j->limited = false;
	if (j->slices > 0 && is_too_fine(j)) {
		j->slices = 0;
		j->finer = 1;
	}
}

struct setup {
	const char *gpuhist, *oracle; /* the programs */
	char **more;                  /* options for gpuhist, ends with NULL */
	uint64_t seed;                /* SEED */
	char folder[PATH_BYTES / 4];  /* contains a directory for each job */
	bool verbose;                 /* name the commands of a job that passed */
};

/* Do the options demand a GPU? It does not count rows of --each. */
static bool wants_gpu(char **more)
{
	for (; *more; more++)
		if (!strncmp(*more, "--device=gpu", 12))
			return true;
	return false;
}

/* Run a job. The directory stays if the job failed and keep is set. */
static bool run_job(const struct setup *s, uint64_t number, bool keep)
{
	struct command gpuhist = {.args = 0}, merge = {.args = 0}, oracle = {.args = 0};
	struct input in[MAX_INPUTS] = {{.bytes = 0}};
	struct result ours, theirs;
	char folder[PATH_BYTES / 2];
	struct job j;
	char *reasons = NULL;
	size_t reasons_bytes;
	unsigned inputs;
	FILE *why;
	bool good;

	chance_begin(s->seed, number);
	snprintf(folder, sizeof(folder), "%s/job-%llu", s->folder, (unsigned long long)number);
	if (mkdir(folder, 0700))
		die(folder);
	snprintf(ours.out, PATH_BYTES, "%s/gpuhist.out", folder);
	snprintf(ours.err, PATH_BYTES, "%s/gpuhist.err", folder);
	snprintf(theirs.out, PATH_BYTES, "%s/oracle.out", folder);
	snprintf(theirs.err, PATH_BYTES, "%s/oracle.err", folder);

	draw_job(&j, wants_gpu(s->more));
	write_edges(&j, folder);
	inputs = make_inputs(&j, in, folder);
	if (j.slices == 0 && once_in(j.each ? 3 : 20))
		damage_inputs(in, inputs);
	if (j.each)
		draw_row_size(&j, in, inputs);
	arg(&gpuhist, "%s", s->gpuhist);
	arg(&oracle, "%s", s->oracle);
	arg(&merge, "%s", s->gpuhist);
	arg(&merge, "--merge");
	if (j.quiet)
		arg(&merge, "-q");
	if (j.finer > 1)
		arg(&merge, "-b%llu", (unsigned long long)j.bins);
	if (j.binless)
		arg(&merge, "-b0");
	if (j.implied && !j.quantiles[0]) {
		arg(&oracle, "--stats=1,5,25,50,75,95,99");
		snprintf(j.quantiles, sizeof(j.quantiles), "implied");
	} else if (j.quantiles[0]) {
		arg(&gpuhist, "--stats=%s", j.quantiles);
		arg(&merge, "--stats=%s", j.quantiles);
		arg(&oracle, "--stats=%s", j.quantiles);
		if (j.each && j.slices > 0)
			arg(&oracle, "--rough");
	}
	shared_flags(&gpuhist, j.slices > 0 ? &merge : &gpuhist, &oracle, &j);
	if (j.each && j.slices == 0)
		each_options(&gpuhist, &oracle, &j, in, inputs, ours.out);
	gpuhist_options(&gpuhist, &j, s->more);
	oracle_options(&oracle, &j);
	shared_options(&gpuhist, &oracle, &j);
	input_args(&gpuhist, &oracle, in, inputs, &j);

	struct slices slices = {
		.merge = &merge, .count = j.slices, .row = j.each ? j.row : NULL, .folder = folder};
	run_both(&gpuhist, &oracle, in, inputs, &slices, &ours, &theirs);
	why = open_memstream(&reasons, &reasons_bytes);
	if (!why)
		die("memory");
	good = judge(&j, in, inputs, &ours, &theirs, why);
	if (fclose(why))
		die("memory");
	if (!good || s->verbose) {
		printf("%s: seed %llu, job %llu, in %s\n", good ? "passed" : "FAILED",
		       (unsigned long long)s->seed, (unsigned long long)number, folder);
		print_command("gpuhist", &gpuhist, in, inputs);
		if (j.slices > 0) {
			if (j.each)
				printf("    of it documents: --each=%s -f json\n", j.row);
			else
				printf("    of it %u slices: --part=K/%u -f json\n", j.slices,
				       j.slices);
			print_command("merged ", &merge, NULL, 0);
		}
		print_command("oracle ", &oracle, NULL, 0);
		printf("%s", reasons);
	}
	free(reasons);
	free(j.edge);
	if (good || !keep)
		remove_job(in, inputs, &slices, &ours, &theirs);
	for (unsigned k = 0; k < inputs; k++)
		free(in[k].data);
	return good;
}

static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end) {
		fprintf(stderr, "random_jobs: %s: not a number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static char *nothing[] = {NULL};
	struct setup s = {.more = nothing};
	const char *tmp = getenv("TMPDIR");
	uint64_t first = 0, end, passed = 0, failed = 0;
	double stop = (double)INFINITY;
	sigset_t child;
	int args = 1;

	while (args < argc && strcmp(argv[args], "--"))
		args++;
	if (args < argc)
		s.more = argv + args + 1;
	if (args < 5 || args > 6) {
		fprintf(stderr,
			"usage: random_jobs GPUHIST ORACLE SEED JOBS|--only [SECONDS|K]"
			" [-- OPTION...]\n");
		return 2;
	}
	s.gpuhist = argv[1];
	s.oracle = argv[2];
	if (access(s.gpuhist, X_OK) || access(s.oracle, X_OK))
		die(access(s.gpuhist, X_OK) ? s.gpuhist : s.oracle);
	s.seed = number_of(argv[3]);
	s.verbose = args == 6 && !strcmp(argv[4], "--only");
	first = s.verbose ? number_of(argv[5]) : 0;
	end = s.verbose ? first + 1 : number_of(argv[4]);
	if (args == 6 && !s.verbose)
		stop = now() + (double)number_of(argv[5]);
	snprintf(s.folder, sizeof(s.folder), "%s/random_jobs.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(s.folder))
		die(s.folder);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0); /* or a fork would copy unwritten output */

	for (uint64_t k = first; k < end && now() < stop; k++)
		++*(run_job(&s, k, failed < MAX_KEPT) ? &passed : &failed);
	rmdir(s.folder); /* stays when the inputs of a failed job do */
	/* A slow machine finishes few jobs in its time: run.sh prints this line in its summary. */
	printf("reached: %llu of %llu jobs\n", (unsigned long long)(passed + failed),
	       (unsigned long long)(end - first));
	printf("%llu passed, %llu failed\n", (unsigned long long)passed,
	       (unsigned long long)failed);
	return failed != 0;
}
