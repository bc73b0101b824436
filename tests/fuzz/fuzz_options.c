/* SPDX-License-Identifier: MIT */
/*
 * options: any command line is a usage error, or a job whose axis, layout and output make sense;
 * the options in its documents give the same job again.
 */
#include "cli/options.h"

#include <getopt.h>
#include <strings.h>

#include "bins/axis.h"
#include "fuzz.h"

#define WORDS 24
#define BINS_COMPARED (1u << 16) /* there may be 2^28 */

static enum options_result parse(struct job *job, char *const *words, int count, char **argv,
				 struct fail *fail)
{
	memcpy(argv, words, ((size_t)count + 1) * sizeof(*argv)); /* getopt moves them */
	optind = 0;
	*fail = (struct fail){.status = STATUS_OK};
	return options_parse(job, count, argv, fail);
}

static enum axis_kind kind_asked(const struct job *job, const struct shape *shape)
{
	return axis_complete(&job->bins, &shape->axis.type).kind;
}

/* Rows of figures need no bins: one holds all values. */
static bool has_figures_alone(const struct job *job, const struct shape *shape)
{
	const bool rows = job->each > 0 || job->by_text || layout_is_many(shape->channels);

	return rows && job->quantiles.n > 0 && kind_asked(job, shape) == AXIS_AUTO &&
	       shape->axis.kind == AXIS_RANGE && axis_bins(&shape->axis) == 1;
}

/*
 * If an input may give the type, options that u32 cannot have are refused only when it is opened.
 * The caller frees the edges.
 */
static bool refused_by_run(struct shape *shape, const struct job *job)
{
	struct fail fail = {.status = STATUS_OK};

	if (job_shape(shape, job, &(struct header){.format = NULL}, &fail) == 0) {
		REQUIRE(shape->axis.clamp == job->bins.clamp &&
				(shape->axis.kind == kind_asked(job, shape) ||
				 has_figures_alone(job, shape)),
			"another axis");
		return false;
	}
	/* So it is if a document may give bins. */
	REQUIRE((!job->source.raw && (!job->source.typed || job->layout_options.last)) ||
			((job->into || job->compare) &&
			 (job->by_text || job->bins.closed || job->bins.clamp)),
		"accepted, but %s", fail.text);
	REQUIRE((fail.status == STATUS_USAGE || fail.status == STATUS_DEVICE) &&
			fail.text[0] != '\0',
		"refused without a word");
	return true;
}

/* Check the options for the output, which --merge has too. */
static void check_output(const struct job *job, int argc)
{
	REQUIRE(job->source.path_count >= 1 && job->source.path_count <= (size_t)argc, "%zu inputs",
		job->source.path_count);
	for (size_t i = 0; i < job->source.path_count; i++)
		REQUIRE(job->source.paths[i], "input %zu has no name", i);
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
		"a part, with options that it excludes");
	/* A comment among edges, and the name of a column or tensor, may be any text. */
	const bool any = job->edges || job->source.text.on || job->source.tensor;
	REQUIRE(any || !strstr(job->options, "--part"), "%s", job->options);
	REQUIRE(job->source.parts == 0 || !job->output || !strstr(job->output, "%K"), "%s",
		job->output);
	REQUIRE(!job->into || strlen(job->into) >= 5, "--into %s", job->into);
	REQUIRE(!job->output_none || (job->into && !job->output && strcmp(format, "json") == 0),
		"nowhere to");
	REQUIRE(!job->merge || (!job->into && !job->tee && !job->source.typed && !job->edges &&
				job->every <= 0 && job->each == 0),
		"a sum of counted samples");
	REQUIRE(job->each == 0 || (!job->into && job->source.parts == 0 && job->every <= 0 &&
				   job->machine.device == DEVICE_CPU &&
				   strcmp(format, "svg") != 0 && !(text && job->style.nonzero)),
		"rows, with options that they exclude");
	/* --each changes no counts, so sums of rows have the run's options. */
	REQUIRE(any || !strstr(job->options, "--each"), "%s", job->options);
}

static void check_job(const struct job *job, const struct shape *shape, int argc)
{
	const struct sample_type *t = &shape->axis.type;
	struct sample_type again;

	REQUIRE(sample_type_parse(&again, t->name) == 0 && again.code_bytes == t->code_bytes &&
			again.kind == t->kind && again.mantissa == t->mantissa &&
			again.big == t->big,
		"%s is another type", t->name);
	REQUIRE(t->code_bytes == 1 || t->code_bytes == 2 || t->code_bytes == 3 ||
			t->code_bytes == 4 || t->code_bytes == 8,
		"%lu bytes", (unsigned long)t->code_bytes);
	const struct layout *const l = &shape->layout;
	REQUIRE(shape->record == layout_bytes(l) && shape->record <= SOURCE_RECORD_MAX &&
			l->offset + l->samples * t->code_bytes <= l->record &&
			l->row * l->record <= l->pitch + l->record * !l->row && l->channels >= 1 &&
			l->channels <= LAYOUT_CHANNELS_MAX &&
			(sample_unpacks(t) ? shape->samples : l->samples) % l->channels == 0,
		"records of %lu bytes", (unsigned long)shape->record);
	REQUIRE(job->machine.threads >= 1 && job->machine.threads <= 4096 &&
			job->machine.memory > 0,
		"%u threads", job->machine.threads);
	REQUIRE(job->each == 0 || (shape->row > 0 && !axis_kind_of(&shape->axis)->from_samples),
		"rows of %llu", (unsigned long long)shape->row);
	REQUIRE(job->machine.gpu < 10000, "device %u", job->machine.gpu);
	const struct quantiles *const q = &job->quantiles;
	REQUIRE(q->n <= QUANTILES_MAX, "%u quantiles", q->n);
	for (unsigned i = 0; i < q->n; i++)
		REQUIRE(q->at[i] <= 1000000 && (i == 0 || q->at[i - 1] < q->at[i]),
			"quantile %u is %lu", i, (unsigned long)q->at[i]);
	check_output(job, argc);
}

/* Split a text into words as a shell does; return how many there are. */
static int split(char *text, char **words)
{
	int n = 0;
	bool quoted = false;

	for (char *p = text; *p;) {
		char *to = words[n++] = p;
		for (; *p && (quoted || *p != ' '); p++) {
			quoted ^= *p == '\'';
			if (*p == '\'')
				continue;
			p += !quoted && *p == '\\';
			*to++ = *p;
		}
		p += *p == ' ';
		*to = '\0';
	}
	return n;
}

/* The options in its documents, with the same inputs, must give the same job. */
static void give_again(const struct job *job, const struct shape *shape)
{
	char *words[2 * WORDS + 3] = {(char[]){"gpuhist"}}, *argv[2 * WORDS + 3];
	char *const text = strdup(job->options);
	struct job again;
	struct shape other;
	struct fail fail;
	char why[AXIS_WHY];

	/* A pipe is read only once; they do not name --stats, without which rows need bins. */
	if (strstr(text, "--edges=@") || has_figures_alone(job, shape)) {
		free(text);
		return;
	}
	int n = 1 + split(text, words + 1);
	words[n++] = (char[]){"--"};
	for (size_t i = 0; i < job->source.path_count; i++)
		words[n++] = job->source.paths[i];
	words[n] = NULL;
	REQUIRE(parse(&again, words, n, argv, &fail) == OPTIONS_RUN &&
			!refused_by_run(&other, &again),
		"%s: %s", job->options, fail.text);
	REQUIRE(strcmp(job->options, again.options) == 0, "%s, not %s", again.options,
		job->options);
	REQUIRE(shape->axis.edges.auto_bins.most == other.axis.edges.auto_bins.most &&
			(axis_bins(&shape->axis) > BINS_COMPARED ||
			 axis_fits(why, &shape->axis, &other.axis)),
		"%s: another axis", job->options);
	REQUIRE(job->source.skip == again.source.skip && shape->limit == other.limit &&
			job->source.raw == again.source.raw &&
			job->source.zstd == again.source.zstd &&
			job->source.ignore_tail == again.source.ignore_tail &&
			shape->record == other.record &&
			memcmp(&shape->layout, &other.layout, sizeof(other.layout)) == 0,
		"%s: another source", job->options);
	edges_free(&other.axis.edges);
	options_free(&again);
	free(text);
}

/* A text names a type, which has one name here, or there is a reason for a refusal. */
static void check_name(const char *text)
{
	struct sample_type type, again;
	bool pair, other;

	if (sample_type_named(&type, &pair, text) != 0) {
		const char *const why = sample_type_refused(text);
		REQUIRE(strncmp(why, "is not a known type; ", 21) == 0 ||
				strncmp(why, "has two meanings: ", 18) == 0 ||
				strncmp(why, "has a bit order that", 20) == 0,
			"'%s': %s", text, why);
		REQUIRE(sample_type_parse(&again, text) != 0, "'%s' is a name after all", text);
		return;
	}
	REQUIRE(sample_type_parse(&again, type.name) == 0 &&
			sample_type_named(&again, &other, type.name) == 0 && !other &&
			strcmp(again.name, type.name) == 0,
		"'%s' is %s", text, type.name);
	/* No name of a single value contains a c, except for pcm_ and uchar. */
	const bool other_c = strncasecmp(text, "pcm_", 4) == 0 || strcasestr(text, "char");
	REQUIRE(pair == (strpbrk(text + (other_c ? 4 : 0), "cC") != NULL), "'%s': a pair?", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS + 2] = {(char[]){"gpuhist"}}, *argv[WORDS + 2];
	int count = 1;
	struct job job;
	struct shape shape = {.channels = 0};
	struct fail fail;

	/* Each word in memory of its exact length, so that reading past its end is seen. */
	for (size_t at = 0; at < size && count <= WORDS;) {
		size_t length = 0;
		while (at + length < size && data[at + length] != '\0' && data[at + length] != '\n')
			length++;
		words[count] = strndup((const char *)data + at, length);
		check_name(words[count++]);
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
		if (refused_by_run(&shape, &job))
			break;
		check_job(&job, &shape, count);
		give_again(&job, &shape);
		break;
	case OPTIONS_FAILED:
		/* A file of edges may not exist, or not be readable. */
		REQUIRE((fail.status == STATUS_USAGE && fail.text[0] != '\0') ||
				(fail.status == STATUS_DEVICE &&
				 strncmp(fail.text, "--device=gpu: ", 14) == 0) ||
				(fail.status == STATUS_SYSTEM &&
				 strncmp(fail.text, "--edges @", 9) == 0),
			"refused without a word");
		break;
	default:
		break;
	}
	edges_free(&shape.axis.edges);
	options_free(&job);
	for (int i = 1; i < count; i++)
		free(words[i]);
	return 0;
}
