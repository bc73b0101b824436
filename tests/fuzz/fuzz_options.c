/*
 * options: any argv is a job, or a usage error with words. A job that is accepted keeps what
 * the manual promises, can be counted, and written down again as options it is the same job.
 */
#include "options.h"

#include <getopt.h>

#include "count.h"
#include "edges.h"
#include "fuzz.h"

#define WORDS 24
#define CELLS_MAX (1u << 16) /* of a job that is counted here: bins may be 2^28, 2 GiB of them */

static enum options_result parse(struct job *job, char *const *words, int count, char **argv,
				 struct fail *fail)
{
	memcpy(argv, words, ((size_t)count + 1) * sizeof(*argv)); /* getopt moves them */
	optind = 0;
	*fail = (struct fail){.status = STATUS_OK};
	return options_parse(job, count, argv, fail);
}

/* "all", or numbers with single commas between them. */
static bool names_devices(const char *text)
{
	const size_t length = strlen(text);

	if (strcmp(text, "all") == 0)
		return true;
	for (size_t i = 0; i < length; i++) {
		const bool comma = text[i] == ',';
		if ((!comma && (text[i] < '0' || text[i] > '9')) || (comma && (i == 0 || text[i - 1] == ',')))
			return false;
	}
	return length > 0 && length < 100 && text[length - 1] != ',';
}

static void check_edges(const struct edges *e, const struct sample_type *type)
{
	const uint32_t n = e->binning.bins;
	const uint32_t places[] = {0, 1, n / 3, n / 2, n - 1, n};
	double last = -(double)INFINITY;

	REQUIRE(n >= 1 && n <= 1u << 28, "%lu bins", (unsigned long)n);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const uint32_t at = places[i] < n ? places[i] : n;
		const double x = edges_value(e, at);
		REQUIRE(isfinite(x), "edge %lu is %g", (unsigned long)at, x);
		if (i > 0 && at >= (places[i - 1] < n ? places[i - 1] : n))
			REQUIRE(x >= last, "edge %lu, %.17g, is below %.17g", (unsigned long)at, x, last);
		last = x;
	}
	REQUIRE(e->exact ? e->width > 0 : edges_value(e, 0) < edges_value(e, n), "an empty range");
	REQUIRE(!e->exact || type->kind != SAMPLE_FLOAT, "rational edges of %s", type->name);
}

static void check_job(const struct job *job, int argc)
{
	const struct sample_type *t = &job->type;
	struct sample_type again;

	REQUIRE(sample_type_parse(&again, t->name) == 0 && again.bytes == t->bytes && again.kind == t->kind &&
			again.mantissa == t->mantissa && again.big == t->big,
		"%s is another type", t->name);
	REQUIRE(t->bytes == 1 || t->bytes == 2 || t->bytes == 3 || t->bytes == 4 || t->bytes == 8, "%lu bytes",
		(unsigned long)t->bytes);
	REQUIRE(job->source.record == t->bytes, "records of %lu bytes", (unsigned long)job->source.record);
	check_edges(&job->edges, t);
	REQUIRE(job->threads >= 1 && job->threads <= 4096 && job->memory > 0, "%u threads", job->threads);
	REQUIRE(job->source.path_count >= 1 && job->source.path_count <= (size_t)argc, "%zu inputs",
		job->source.path_count);
	for (size_t i = 0; i < job->source.path_count; i++)
		REQUIRE(job->source.paths[i], "input %zu has no name", i);
	REQUIRE(names_devices(job->gpus), "devices %s", job->gpus);
	REQUIRE(!job->quiet || !job->verbose, "-q and -v");
	REQUIRE(!job->output || job->output[0] != '\0', "an output without a name");
	const bool text = job->format == FORMAT_CSV || job->format == FORMAT_TSV;
	REQUIRE(text || (job->header && !job->nonzero && !job->flow), "text flags, format %d", (int)job->format);
	REQUIRE(job->format != FORMAT_JSON || job->counter <= COUNTER_U32, "json of counter %d", (int)job->counter);
}

/* The bytes of argv, whatever they are, counted as the job's samples. */
static void count_some(const struct job *job, const char *bytes, size_t size)
{
	struct counting counting;
	struct counts counts;
	struct hist hist;
	struct fail fail = {.status = STATUS_OK};
	const size_t n = size / job->type.bytes;

	for (int spare = 0; spare <= 1; spare++) {
		counting_init(&counting, &job->type, &job->edges, spare ? 1 : job->threads, spare);
		REQUIRE(counting.cells == counting_cells(&job->type, &job->edges) && counting.tables >= 1 &&
				counting.memory > 0 && counting.bytes == job->source.record,
			"%zu cells", counting.cells);
		if (job->edges.binning.bins > CELLS_MAX)
			return;
		REQUIRE(hist_reserve(&hist, &job->edges, &job->type, &fail) == 0 &&
				counts_init(&counts, counting.cells, &fail) == 0,
			"%s", fail.text);
		struct counter *counter = counter_open(&counting, &counts);
		REQUIRE(counter, "no memory");
		counter_add(counter, (const unsigned char *)bytes, n, NULL);
		counter_close(counter);
		hist_fill(&hist, &counts, &job->edges, &job->type, job->clamp);
		REQUIRE(hist.samples == n && hist_audit(&hist, &fail) == 0, "%zu samples: %s", n, fail.text);
		hist_free(&hist);
		counts_free(&counts);
	}
}

/* LO:HI as text; false where the range cannot be written down so that it reads back. */
static bool range_of(const struct job *job, char *text, size_t room)
{
	const struct edges *e = &job->edges;
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT];

	if (e->exact) {
		number_format_integer(lo, e->lo);
		number_format_integer(hi, e->lo + e->width);
		snprintf(text, room, "--range=%s:%s", lo, hi);
		return true;
	}
	snprintf(text, room, "--range=%.17g:%.17g", e->binning.lo * e->binning.unit, e->hi);
	/* "0.99999999999999999999" is no whole number, though its binary64 is. */
	return job->type.kind == SAMPLE_FLOAT || e->hi != floor(e->hi) ||
	       e->binning.lo * e->binning.unit != floor(e->binning.lo * e->binning.unit);
}

static bool same_edges(const struct edges *a, const struct edges *b)
{
	const struct binning *x = &a->binning, *y = &b->binning;

	return a->exact == b->exact && a->closed == b->closed && a->edge_cell == b->edge_cell &&
	       (a->exact ? a->lo == b->lo && a->width == b->width : a->hi == b->hi && x->lo == y->lo) &&
	       x->kind == y->kind && x->bins == y->bins && x->first == y->first && x->span == y->span &&
	       x->step == y->step && x->last == y->last;
}

/* Written down by long options, in an order of its own, it must be the same job. */
static void write_down(const struct job *job)
{
	static const char *const FORMATS[] = {"csv", "tsv", "raw", "json"};
	char text[16][320], *words[40], *argv[40];
	int n = 0, used = 0;
	struct job again;
	struct fail fail;

#define WORD(...) (snprintf(text[used], sizeof(text[0]), __VA_ARGS__), words[n++] = text[used++])
	WORD("gpuhist");
	if (!range_of(job, text[used], sizeof(text[0])))
		return;
	words[n++] = text[used++];
	WORD("--bins=%lu", (unsigned long)job->edges.binning.bins);
	WORD("--type=%s", job->type.name);
	WORD("--skip=%llu", (unsigned long long)job->source.skip);
	WORD("--count=%llu", (unsigned long long)job->source.limit);
	WORD("--counter=%s", counter_name(job->counter));
	WORD("--format=%s", FORMATS[job->format]);
	WORD("--output=-"); /* binary even to a terminal */
	WORD("--threads=%u", job->threads);
	WORD("--memory=%llu", (unsigned long long)job->memory);
	const char *gpu = job->device == DEVICE_CPU ? "cpu" : job->device == DEVICE_AUTO ? "auto" : "gpu:";
	WORD("--device=%s%s", gpu, job->device == DEVICE_GPU ? job->gpus : "");
#undef WORD
	const struct {
		bool given;
		char *word;
	} FLAGS[] = {{job->edges.closed, "--closed"}, {job->clamp, "--clamp"}, {job->quiet, "--quiet"},
		     {job->verbose, "--verbose"}, {job->nonzero, "--nonzero"}, {job->flow, "--flow"},
		     {!job->header, "--no-header"}, {job->source.raw, "--raw"},
		     {job->source.ignore_tail, "--ignore-tail"}};
	for (size_t i = 0; i < sizeof(FLAGS) / sizeof(FLAGS[0]); i++)
		if (FLAGS[i].given)
			words[n++] = FLAGS[i].word;
	words[n] = NULL;
	REQUIRE(parse(&again, words, n, argv, &fail) == OPTIONS_RUN, "%s", fail.text);
	REQUIRE(same_edges(&job->edges, &again.edges), "%s: other edges", words[1]);
	REQUIRE(job->source.skip == again.source.skip && job->source.limit == again.source.limit &&
			job->source.raw == again.source.raw &&
			job->source.ignore_tail == again.source.ignore_tail &&
			job->source.record == again.source.record,
		"another source");
	REQUIRE(job->format == again.format && job->counter == again.counter && job->flow == again.flow &&
			job->nonzero == again.nonzero && job->header == again.header && job->clamp == again.clamp,
		"another output");
	REQUIRE(job->threads == again.threads && job->memory == again.memory && job->device == again.device &&
			strcmp(job->gpus, again.gpus) == 0 && job->quiet == again.quiet &&
			job->verbose == again.verbose,
		"other engines");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS + 2] = {(char[]){"gpuhist"}}, *argv[WORDS + 2];
	int count = 1;
	struct job job;
	struct fail fail;

	/* Each word in memory of its own length, so that reading past its end is seen. */
	for (size_t at = 0; at < size && count <= WORDS;) {
		size_t length = 0;
		while (at + length < size && data[at + length] != '\0' && data[at + length] != '\n')
			length++;
		words[count++] = strndup((const char *)data + at, length);
		at += length + 1;
	}
	words[count] = NULL;
	switch (parse(&job, words, count, argv, &fail)) {
	case OPTIONS_RUN:
		REQUIRE(fail.status == STATUS_OK, "accepted, and failed: %s", fail.text);
		check_job(&job, count);
		count_some(&job, (const char *)data, size);
		write_down(&job);
		break;
	case OPTIONS_FAILED:
		REQUIRE(fail.status == STATUS_USAGE && fail.text[0] != '\0', "refused without a word");
		break;
	default:
		break;
	}
	for (int i = 1; i < count; i++)
		free(words[i]);
	return 0;
}
