/* SPDX-License-Identifier: MIT */
/*
 * options: any argv is a job, or a usage error with a message. A job that is accepted keeps what
 * the manual promises and can be counted; written again as options, it is the same job.
 */
#include "cli/options.h"

#include <getopt.h>

#include "bins/axis.h"
#include "count/count.h"
#include "fuzz.h"

#define WORDS 24
/* of a job whose bins are counted and compared here: they may be 2^28 */
#define CELLS_MAX (1u << 16)

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
		if ((!comma && (text[i] < '0' || text[i] > '9')) ||
		    (comma && (i == 0 || text[i - 1] == ',')))
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
			REQUIRE(x >= last, "edge %lu, %.17g, is below %.17g", (unsigned long)at, x,
				last);
		last = x;
	}
	REQUIRE(e->exact ? e->width > 0 : edges_value(e, 0) < edges_value(e, n), "an empty range");
	REQUIRE(!e->exact || type->kind != SAMPLE_FLOAT, "rational edges of %s", type->name);
}

/* The axis that the run will make of an accepted job; its edges are to be freed. */
static struct axis axis_of(const struct job *job)
{
	struct axis axis;
	const char *why = NULL;

	REQUIRE(axis_init(&axis, &job->axis, &job->type, &why) == 0, "accepted, but %s", why);
	REQUIRE(axis.clamp == job->axis.clamp &&
			axis.kind == axis_settle(&job->axis.edges, &job->type).kind,
		"another axis");
	return axis;
}

/*
 * Where an input may say the type, what u32 cannot have is refused only when the inputs are open.
 */
static bool refused_by_run(struct job *job)
{
	struct fail fail = {.status = STATUS_OK};
	struct axis axis;

	if (job_layout(job, NULL, &fail) == 0 && job_axis(&axis, job, &fail) == 0) {
		edges_free(&axis.edges);
		return false;
	}
	REQUIRE(!job->source.raw && (!job->source.typed || job->layout_options.last),
		"accepted, but %s", fail.text);
	REQUIRE(fail.status == STATUS_USAGE && fail.text[0] != '\0', "refused without a word");
	return true;
}

/* What is written, and where to; of a sum too. */
static void check_output(const struct job *job, int argc)
{
	REQUIRE(job->source.path_count >= 1 && job->source.path_count <= (size_t)argc, "%zu inputs",
		job->source.path_count);
	for (size_t i = 0; i < job->source.path_count; i++)
		REQUIRE(job->source.paths[i], "input %zu has no name", i);
	REQUIRE(!job->quiet || !job->verbose, "-q and -v");
	REQUIRE(!job->output || job->output[0] != '\0', "an output without a name");
	const char *const format = job->format->name;
	const bool text = strcmp(format, "csv") == 0 || strcmp(format, "tsv") == 0;
	REQUIRE(text || (job->style.header && !job->style.flow), "text flags, %s", format);
	REQUIRE(text || strcmp(format, "json") == 0 || !job->style.nonzero, "--nonzero, %s",
		format);
	REQUIRE(strcmp(format, "json") != 0 || job->style.counter <= COUNTER_U32,
		"json of counter %d", (int)job->style.counter);
	REQUIRE(job->source.part >= (job->source.parts > 0) &&
			job->source.part <= job->source.parts && job->source.parts <= 1u << 31,
		"part %lu of %lu", (unsigned long)job->source.part,
		(unsigned long)job->source.parts);
	REQUIRE(job->source.parts == 0 || (!job->into && !job->tee && !job->merge),
		"a part, and what it does not go with");
	REQUIRE(!strstr(job->options, "--part"), "%s", job->options);
	REQUIRE(!job->output_part || job->output == job->output_part, "another output");
	REQUIRE(!job->into || strlen(job->into) >= 5, "--into %s", job->into);
	REQUIRE(!job->output_none || (job->into && !job->output && strcmp(format, "json") == 0),
		"nowhere to");
	REQUIRE(!job->merge || (!job->into && !job->stats && !job->tee && !job->source.typed &&
				!job->edges && job->every <= 0),
		"a sum of counted samples");
}

static void check_job(const struct job *job, int argc)
{
	const struct sample_type *t = &job->type;
	struct axis axis = axis_of(job);
	struct sample_type again;

	REQUIRE(sample_type_parse(&again, t->name) == 0 && again.bytes == t->bytes &&
			again.kind == t->kind && again.mantissa == t->mantissa &&
			again.big == t->big,
		"%s is another type", t->name);
	REQUIRE(t->bytes == 1 || t->bytes == 2 || t->bytes == 3 || t->bytes == 4 || t->bytes == 8,
		"%lu bytes", (unsigned long)t->bytes);
	const struct layout *const l = &job->layout;
	REQUIRE(job->source.record == layout_bytes(l) && job->source.record <= SOURCE_RECORD_MAX &&
			l->offset + l->samples * t->bytes <= l->record &&
			l->row * l->record <= l->pitch + l->record * !l->row && l->channels >= 1 &&
			l->channels <= LAYOUT_CHANNELS_MAX && l->samples % l->channels == 0,
		"records of %lu bytes", (unsigned long)job->source.record);
	check_edges(&axis.edges, t);
	edges_free(&axis.edges);
	REQUIRE(job->threads >= 1 && job->threads <= 4096 && job->memory > 0, "%u threads",
		job->threads);
	REQUIRE(names_devices(job->gpus), "devices %s", job->gpus);
	check_output(job, argc);
}

/* The bytes of argv, whatever they are, counted as the job's samples. */
static void count_some(const struct job *job, const char *bytes, size_t size)
{
	struct axis axis = axis_of(job);
	struct counting counting;
	struct counts counts;
	struct hist hist;
	struct fail fail = {.status = STATUS_OK};
	const size_t records = size / job->source.record,
		     n = records * layout_samples(&job->layout);

	for (int shared = 0; shared <= 1; shared++) {
		counting_init_layout(&counting, &axis.type, &axis.edges, &job->layout, shared);
		REQUIRE(counting.cells == job->layout.channels *
						  counting_cells(&axis.type, &axis.edges) &&
				counting.tables >= 1 && counting.memory > 0 &&
				counting.bytes == job->type.bytes,
			"%zu cells", counting.cells);
		if (axis_bins(&axis) > CELLS_MAX || counting.cells > 4 * CELLS_MAX)
			break;
		REQUIRE(hist_reserve(&hist, &axis, job->layout.channels, &fail) == 0 &&
				counts_init(&counts, counting.cells, &fail) == 0,
			"%s", fail.text);
		if (counting.most > 0)
			counts_set_auto(&counts, &job->type, counting.most);
		struct counter *counter = counter_open(&counting, &counts);
		REQUIRE(counter, "no memory");
		gather_add(&counting, counter, (const unsigned char *)bytes,
			   records * job->source.record, NULL);
		counter_close(counter);
		hist_fill(&hist, &counts);
		REQUIRE(hist.samples == n && hist_audit(&hist, &fail) == 0, "%zu samples: %s", n,
			fail.text);
		hist_free(&hist);
		counts_free(&counts);
	}
	edges_free(&axis.edges);
}

/* -b of a command that asks for it. */
static uint32_t axis_bins_asked(const struct axis *axis)
{
	return axis->kind == AXIS_AUTO ? axis->edges.most : axis_bins(axis);
}

static bool is_range(const struct axis *axis)
{
	return axis->kind == AXIS_VALUES || axis->kind == AXIS_RANGE;
}

/*
 * How samples are binned, as one word; false where that cannot be written down so that it reads
 * back.
 */
static bool way_of(const struct job *job, const struct axis *axis, char *text, size_t room)
{
	const struct edges *e = &axis->edges;
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT];

	if (axis->kind == AXIS_MOD || axis->kind == AXIS_AUTO) {
		snprintf(text, room, "--%s", axis_kind_name(axis->kind));
		return true;
	}
	if (axis->kind == AXIS_LOG)
		return snprintf(text, room, "--log=%s", job->bins_text) < (int)room;
	if (axis->kind == AXIS_EDGES) {
		size_t used = (size_t)snprintf(text, room, "--edges=");
		for (uint32_t i = 0; i <= axis_bins(axis) && used < room; i++)
			used += (size_t)snprintf(text + used, room - used, "%s%.17g",
						 i > 0 ? "," : "", edges_value(e, i));
		return used < room;
	}
	if (e->exact) {
		number_format_integer(lo, e->lo);
		number_format_integer(hi, e->lo + e->width);
		snprintf(text, room, "--range=%s:%s", lo, hi);
		return true;
	}
	snprintf(text, room, "--range=%.17g:%.17g", edges_value(e, 0), e->hi);
	/* "0.99999999999999999999" is no whole number, though its binary64 is. */
	return axis->type.kind == SAMPLE_FLOAT || e->hi != floor(e->hi) ||
	       edges_value(e, 0) != floor(edges_value(e, 0));
}

static bool same_edges(const struct edges *a, const struct edges *b)
{
	const struct binning *x = &a->binning, *y = &b->binning;

	return a->exact == b->exact && a->closed == b->closed && a->edge_cell == b->edge_cell &&
	       (a->exact ? a->lo == b->lo && a->width == b->width
			 : a->hi == b->hi && x->linear.lo == y->linear.lo &&
				   x->linear.step == y->linear.step &&
				   x->linear.last == y->linear.last) &&
	       x->kind == y->kind && x->bins == y->bins && x->first == y->first &&
	       x->span == y->span;
}

/* Written again by long options, in an order of our own, it must be the same job. */
static void write_down(const struct job *job)
{
	char text[17][320], *words[40], *argv[40];
	int n = 0, used = 0;
	struct axis axis = axis_of(job);
	const uint32_t bins = axis_bins_asked(&axis);
	struct job again;
	struct fail fail;

#define WORD(...) (snprintf(text[used], sizeof(text[0]), __VA_ARGS__), words[n++] = text[used++])
	WORD("gpuhist");
	if (!way_of(job, &axis, text[used], sizeof(text[0]))) {
		edges_free(&axis.edges);
		return;
	}
	words[n++] = text[used++];
	WORD("--bins=%lu", (unsigned long)bins);
	WORD("--type=%s", job->type.name);
	WORD("--skip=%llu", (unsigned long long)job->source.skip);
	WORD("--count=%llu", (unsigned long long)job->source.limit);
	WORD("--counter=%s", counter_name(job->style.counter));
	WORD("--channels=%u", (unsigned)job->layout.channels);
	if (job->layout.row > 0) {
		WORD("--rows=%lu:%lu", (unsigned long)job->layout.row * job->layout.samples,
		     (unsigned long)job->layout.pitch);
	} else if (!layout_is_contiguous(&job->layout, job->type.bytes)) {
		WORD("--record=%lu", (unsigned long)job->layout.record);
		WORD("--offset=%lu", (unsigned long)job->layout.offset);
	}
	WORD("--format=%s", job->format->name);
	WORD("--output=-"); /* binary even to a terminal */
	WORD("--threads=%u", job->threads);
	if (job->source.parts > 0)
		WORD("--part=%lu/%lu", (unsigned long)job->source.part,
		     (unsigned long)job->source.parts);
	WORD("--memory=%llu", (unsigned long long)job->memory);
	const char *gpu = job->device == DEVICE_CPU    ? "cpu"
			  : job->device == DEVICE_AUTO ? "auto"
						       : "gpu:";
	WORD("--device=%s%s", gpu, job->device == DEVICE_GPU ? job->gpus : "");
#undef WORD
	const struct {
		bool given;
		char *word;
	} FLAGS[] = {{axis.edges.closed, "--closed"},
		     {axis.clamp, "--clamp"},
		     {job->quiet, "--quiet"},
		     {job->verbose, "--verbose"},
		     {job->style.nonzero, "--nonzero"},
		     {job->style.flow, "--flow"},
		     {!job->style.header, "--no-header"},
		     {job->stats, "--stats"},
		     {job->source.raw, "--raw"},
		     {job->source.ignore_tail, "--ignore-tail"}};
	for (size_t i = 0; i < sizeof(FLAGS) / sizeof(FLAGS[0]); i++)
		if (FLAGS[i].given)
			words[n++] = FLAGS[i].word;
	words[n] = NULL;
	REQUIRE(parse(&again, words, n, argv, &fail) == OPTIONS_RUN, "%s", fail.text);
	struct axis axis_again = axis_of(&again);
	REQUIRE((!is_range(&axis) || same_edges(&axis.edges, &axis_again.edges)) &&
			axis.edges.most == axis_again.edges.most &&
			bins == axis_bins_asked(&axis_again) &&
			(bins > CELLS_MAX || axis_difference(&axis, &axis_again) == NULL),
		"%s: another axis", words[1]);
	edges_free(&axis.edges);
	edges_free(&axis_again.edges);
	REQUIRE(job->source.part == again.source.part && job->source.parts == again.source.parts &&
			job->source.skip == again.source.skip &&
			job->source.limit == again.source.limit &&
			job->source.raw == again.source.raw &&
			job->source.ignore_tail == again.source.ignore_tail &&
			job->source.record == again.source.record &&
			memcmp(&job->layout, &again.layout, sizeof(again.layout)) == 0,
		"another source");
	REQUIRE(job->format == again.format && job->style.counter == again.style.counter &&
			job->style.flow == again.style.flow &&
			job->style.nonzero == again.style.nonzero &&
			job->style.header == again.style.header && job->stats == again.stats,
		"another output");
	REQUIRE(job->threads == again.threads && job->memory == again.memory &&
			job->device == again.device && strcmp(job->gpus, again.gpus) == 0 &&
			job->quiet == again.quiet && job->verbose == again.verbose,
		"other engines");
	options_free(&again);
}

/* For a text that is no type, the hint is the list of types, or one type. */
static void check_hint(const char *text)
{
	static const char USE[] = "unknown type; use ", LIST[] = "unknown type; the types are u8 ";
	char hint[SAMPLE_HINT];
	struct sample_type type;

	sample_type_hint(hint, text);
	if (strncmp(hint, LIST, strlen(LIST)) == 0)
		return;
	REQUIRE(strncmp(hint, USE, strlen(USE)) == 0 && strlen(hint) < SAMPLE_HINT - 1, "'%s': %s",
		text, hint);
	char *use = hint + strlen(USE);
	use[strcspn(use, " ,")] = '\0';
	REQUIRE(sample_type_parse(&type, use) == 0 && strcmp(type.name, use) == 0, "'%s': %s", text,
		hint);
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
		words[count] = strndup((const char *)data + at, length);
		check_hint(words[count++]);
		at += length + 1;
	}
	words[count] = NULL;
	switch (parse(&job, words, count, argv, &fail)) {
	case OPTIONS_RUN:
		REQUIRE(fail.status == STATUS_OK, "accepted, and failed: %s", fail.text);
		if (job.merge) {
			check_output(&job, count);
			break;
		}
		if (refused_by_run(&job))
			break;
		check_job(&job, count);
		count_some(&job, (const char *)data, size);
		write_down(&job);
		break;
	case OPTIONS_FAILED:
		/* A file of edges may not be there, or not be readable. */
		REQUIRE((fail.status == STATUS_USAGE && fail.text[0] != '\0') ||
				(fail.status == STATUS_SYSTEM &&
				 strncmp(fail.text, "--edges @", 9) == 0),
			"refused without a word");
		break;
	default:
		break;
	}
	options_free(&job);
	for (int i = 1; i < count; i++)
		free(words[i]);
	return 0;
}
