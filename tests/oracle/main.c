/* SPDX-License-Identifier: MIT */
/* oracle: count samples into a histogram, the slow and obvious way
 *
 * It prints the output that gpuhist must print, and shares no line with it. It puts each sample
 * together byte by byte, makes it a number without rounding, and compares that, as a real number,
 * with the edges to find its bin. Everything is done in the plainest way; nothing is meant to be
 * fast.
 *
 *   oracle [-t TYPE] [--mask=BITS] [--abs[=pair]] [--missing=VALUE,...] [-b N] [-r LO:HI[:STEP]|full | --log=LO:HI | --edges=LIST|@FILE |
 *          --mod | --auto] [--clamp] [--closed] [-c N|last] [--record=BYTES
 *          [--offset=BYTES] | --rows=WIDTH:PITCH] [--raw | --tensor=NAME] [-S BYTES] [-n COUNT]
 *          [--ignore-tail] [--flow] [--nonzero] [--no-header] [-f csv|tsv] [--stats=Q,...] [--binless]
 *          [--text[=NAME,...]] [--each=N|file [--pairs] [--name=NAME]... [-f csv|tsv|raw|npy] [-C COUNTER]] FILE...
 *
 * Exit status: 0; 1 a file cannot be read, or no memory; 2 usage; 3 an input ends inside a record
 * or within the bytes to skip, or its header is wrong.
 *
 * Files: sample, input, edges, bins, print, stats, rows (oracle.h).
 */
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* ---- options ---- */

static void parse_type(struct job *job, const char *text)
{
	size_t n = strlen(text);
	bool ordered = n > 2 && (!strcmp(text + n - 2, "le") || !strcmp(text + n - 2, "be"));

	job->type = type_named(text, ordered ? n - 2 : n);
	job->big_endian = ordered && text[n - 2] == 'b';
	if (!job->type)
		fail(FAIL_USAGE, text, "unknown type");
}

/* Parse a count that ends at `stop`, which is part of the text. */
static uint64_t parse_count(const char *text, char stop)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!isdigit((unsigned char)text[0]) || *end != stop)
		fail(FAIL_USAGE, text, "not a number");
	return n;
}

/* Parse uBITS[be]@OFFSET. */
static void parse_key(struct job *job, const char *text)
{
	const char *at = strchr(text, '@');

	if (*text != 'u' || !at)
		fail(FAIL_USAGE, text, "not TYPE@OFFSET");
	job->by_key.bytes = strtoull(text + 1, NULL, 10) / 8;
	job->by_key.big = at[-1] == 'e';
	job->by_key.offset = parse_count(at + 1, '\0');
}

static void parse_columns(struct job *job, char *names)
{
	unsigned n = 0;

	for (char *name = names ? strtok(names, ",") : NULL; name; name = strtok(NULL, ","))
		if (n < FEW_CHANNELS)
			job->column[n++] = name;
}

static void parse_channels(struct job *job, const char *text)
{
	job->last_axis = !strcmp(text, "last");
	job->channels_given = !job->last_axis;
	job->channels = 1;
	if (job->last_axis)
		return;
	if (parse_count(text, '\0') < 1 || parse_count(text, '\0') > MAX_CHANNELS)
		fail(FAIL_USAGE, text, "1 to 65536 channels");
	job->channels = (unsigned)parse_count(text, '\0');
}

enum {
	CLAMP = 256,
	CLOSED,
	IGNORE_TAIL,
	FLOW,
	NONZERO,
	NO_HEADER,
	LOG,
	EDGES,
	MOD,
	AUTO,
	RECORD,
	OFFSET,
	ROWS,
	RAW,
	STATS,
	ROUGH,
	BY,
	EACH,
	NAME,
	PAIRS,
	IS_TEXT,
	TENSOR,
	MASK,
	ABS,
	MISSING,
	BINLESS,
};

static const struct option longs[] = {
	{"clamp", no_argument, NULL, CLAMP},
	{"closed", no_argument, NULL, CLOSED},
	{"ignore-tail", no_argument, NULL, IGNORE_TAIL},
	{"flow", no_argument, NULL, FLOW},
	{"nonzero", no_argument, NULL, NONZERO},
	{"no-header", no_argument, NULL, NO_HEADER},
	{"log", required_argument, NULL, LOG},
	{"edges", required_argument, NULL, EDGES},
	{"mod", no_argument, NULL, MOD},
	{"auto", no_argument, NULL, AUTO},
	{"record", required_argument, NULL, RECORD},
	{"offset", required_argument, NULL, OFFSET},
	{"rows", required_argument, NULL, ROWS},
	{"raw", no_argument, NULL, RAW},
	{"stats", required_argument, NULL, STATS},
	{"rough", no_argument, NULL, ROUGH},
	{"by", required_argument, NULL, BY},
	{"each", required_argument, NULL, EACH},
	{"name", required_argument, NULL, NAME},
	{"pairs", no_argument, NULL, PAIRS},
	{"text", optional_argument, NULL, IS_TEXT},
	{"tensor", required_argument, NULL, TENSOR},
	{"mask", required_argument, NULL, MASK},
	{"abs", optional_argument, NULL, ABS},
	{"missing", required_argument, NULL, MISSING},
	{"binless", no_argument, NULL, BINLESS},
	{NULL, 0, NULL, 0},
};

static void take_flag(struct job *job, int option)
{
	switch (option) {
	case CLAMP:
		job->clamp = true;
		break;
	case CLOSED:
		job->closed = true;
		break;
	case IGNORE_TAIL:
		job->ignore_tail = true;
		break;
	case FLOW:
		job->flow = true;
		break;
	case NONZERO:
		job->nonzero = true;
		break;
	case NO_HEADER:
		job->header = false;
		break;
	case PAIRS:
		job->rows.pairs = true;
		break;
	case IS_TEXT:
		job->text = true;
		parse_columns(job, optarg);
		break;
	case MOD:
		job->by.mod = true;
		break;
	case AUTO:
		job->by.automatic = true;
		break;
	case RAW:
		job->raw = true;
		break;
	case BINLESS:
		job->binless = true;
		break;
	default:
		exit(FAIL_USAGE);
	}
}

static void parse_format(struct job *job, const char *text)
{
	job->separator = strcmp(text, "tsv") ? ',' : '\t';
	job->rows.format = !strcmp(text, "raw") ? RAW_ROWS : !strcmp(text, "npy") ? NPY_ROWS : TEXT;
}

/* Parse the options, and return the index of the first FILE. */
static int parse_options(struct job *job, int argc, char **argv)
{
	int option;

	parse_type(job, "u32");
	while ((option = getopt_long(argc, argv, "t:b:r:S:n:f:c:C:", longs, NULL)) != -1) {
		switch (option) {
		case 't':
			parse_type(job, optarg);
			job->type_given = true;
			break;
		case 'b':
			job->by.bins = parse_count(optarg, '\0');
			job->by.bins_given = true;
			break;
		case 'r':
			job->by.range = optarg;
			break;
		case LOG:
			job->by.numbered = !strcmp(optarg, "auto");
			job->by.log = job->by.numbered ? NULL : optarg;
			break;
		case EDGES:
			job->by.edges = optarg;
			break;
		case 'S':
			job->skip = parse_count(optarg, '\0');
			break;
		case 'n':
			job->limit = parse_count(optarg, '\0');
			break;
		case 'f':
			parse_format(job, optarg);
			break;
		case 'C':
			job->rows.counter = optarg;
			break;
		case EACH:
			job->rows.size =
				strcmp(optarg, "file") ? parse_count(optarg, '\0') : UINT64_MAX;
			break;
		case NAME:
			job->rows.name[job->rows.names++ % 64] = optarg;
			break;
		case MASK:
			job->mask = parse_count(optarg, '\0');
			job->masked = true;
			break;
		case MISSING:
			job->missing = optarg;
			break;
		case ABS:
			job->abs = true;
			job->parts = optarg ? 2 : 1;
			break;
		case TENSOR:
			job->tensor = optarg;
			break;
		case 'c':
			parse_channels(job, optarg);
			break;
		case RECORD:
			job->record = optarg;
			break;
		case OFFSET:
			job->offset = optarg;
			break;
		case ROWS:
			job->pitched = optarg;
			break;
		case BY:
			parse_key(job, optarg);
			break;
		case ROUGH:
			job->rough = true;
			break;
		case STATS:
			job->stats = optarg;
			break;
		default:
			take_flag(job, option);
			break;
		}
	}
	if (optind == argc)
		fail(FAIL_USAGE, "FILE", "missing");
	return optind;
}

/* ---- inputs ---- */

/* Take the facts of the first input's header; each later one must agree. */
static void take_header(struct job *job, const struct input *in, const char *name)
{
	unsigned says = in->channels;

	if (job->last_axis) {
		if (!in->last_axis || in->last_axis > MAX_CHANNELS)
			fail(FAIL_USAGE, name, "its last axis cannot be the channels");
		says = (unsigned)in->last_axis;
	}
	if (!in->type)
		return;
	if (job->type_given &&
	    (in->type != job->type || (in->type->bits > 8 && in->big_endian != job->big_endian)))
		fail(FAIL_USAGE, name, "its header names another type");
	if (job->channels_given && says && job->channels != 1 && job->channels != says)
		fail(FAIL_USAGE, name, "its header names another number of channels");
	job->type = in->type;
	job->big_endian = in->big_endian;
	if (!job->channels_given && says)
		job->channels = says;
}

static void need_agreement(const struct job *job, const struct input *first, const struct input *in,
			   const char *name)
{
	if (!in->type && (!first->type || job->type_given))
		return;
	if (in->type != job->word || (in->type->bits > 8 && in->big_endian != job->big_endian))
		fail(FAIL_USAGE, name, "another type than the first input's");
	if (job->last_axis ? in->last_axis != job->channels
			   : in->channels && !(job->channels_given && job->channels == 1) &&
				     in->channels != job->channels)
		fail(FAIL_USAGE, name, "other channels than the first input's");
}

static void set_layout(struct job *job)
{
	uint64_t bits = job->parts * job->type->bits, packed = 1;

	while (packed * bits % 8)
		packed++;
	if (bits % 8 && job->record)
		fail(FAIL_USAGE, "--record", "packed samples");
	if (bits < 8) {
		if (job->channels % packed && (bits > 8 || packed % job->channels))
			fail(FAIL_USAGE, "channels", "bytes would not be alike");
	}
	job->samples = job->channels;
	job->stride = job->samples * bits;
	if (!job->record && !job->pitched) {
		if (job->limit < UINT64_MAX && job->limit * job->stride % 8)
			fail(FAIL_USAGE, "-n", "ends inside a byte");
		if (job->rows.size < UINT64_MAX && job->rows.size * job->stride % 8)
			fail(FAIL_USAGE, "--each", "ends inside a byte");
	}
	if ((job->record && job->pitched) || (job->offset && !job->record))
		fail(FAIL_USAGE, "layout", "records or rows, and an offset in a record");
	if (job->record) {
		job->stride = 8 * parse_count(job->record, '\0');
		job->first_byte = job->offset ? parse_count(job->offset, '\0') : 0;
	}
	if (job->pitched) {
		const char *colon = strchr(job->pitched, ':');

		if (!colon)
			fail(FAIL_USAGE, job->pitched, "not WIDTH:PITCH");
		job->samples = parse_count(job->pitched, ':');
		job->stride = 8 * parse_count(colon + 1, '\0');
		if (job->samples % job->channels || job->samples % packed)
			fail(FAIL_USAGE, job->pitched, "the channels do not divide the row");
	}
	if (job->stride < 1 || job->stride > 8 * MAX_RECORD || job->samples < 1 ||
	    job->samples > MAX_RECORD || job->first_byte > MAX_RECORD ||
	    8 * job->first_byte + job->samples * bits > job->stride)
		fail(FAIL_USAGE, "record", "too large, or smaller than its samples");
}

/* From now on the samples are bits of words, which still determine the layout. */
static void set_mask(struct job *job)
{
	static struct type own;
	uint64_t unit = job->mask & -job->mask, bits = job->type->bits;

	job->word = job->type;
	if (!job->masked || job->mask == ((uint64_t)1 << bits) - 1)
		job->mask = 0;
	if (!job->masked)
		return;
	if (job->type->kind == FLOAT || (bits != 8 && bits != 16))
		fail(FAIL_USAGE, job->type->name, "only words of 8 and 16 bits are masked");
	own = *job->type;
	for (own.bits = 0; job->mask && (job->mask / unit) >> own.bits; own.bits++)
		if (!((job->mask / unit) >> own.bits & 1))
			fail(FAIL_USAGE, "--mask", "its bits are not neighbours");
	if (job->mask >> bits)
		fail(FAIL_USAGE, "--mask", "has more bits than the words");
	if (job->mask)
		job->type = &own;
}

/* After set_mask: the samples are absolute values. */
static void set_abs(struct job *job)
{
	static struct type own;
	const struct type *type = job->type;

	job->number = type;
	if (!job->abs)
		return;
	if (job->parts == 2) {
		job->type = type_named("f64", 3);
		return;
	}
	if (job->word->bits % 8 ||
	    (type->kind != FLOAT && (type->kind != SIGNED || job->word->bits > 16)))
		fail(FAIL_USAGE, "--abs", "neither floats nor signed integers of 8 or 16 bits");
	own = *type;
	if (type->kind == SIGNED)
		own.kind = UNSIGNED;
	job->type = &own;
}

static struct sample number_at(const struct job *job, const unsigned char *at, uint64_t i)
{
	struct sample s = decode(job->word, job->big_endian, at, i);
	uint64_t code;

	if (!job->mask)
		return s;
	code = (s.code & job->mask) / (job->mask & -job->mask);
	return decode(job->number, false,
		      (unsigned char[]){(unsigned char)code, (unsigned char)(code >> 8)}, 0);
}

/* After set_mask: are these values of the type? */
static void check_missing(const struct job *job)
{
	wide half = (wide)1 << (job->number->bits - 1);
	bool sign = job->number->kind == SIGNED;

	if (!job->missing)
		return;
	if (job->number->kind != FLOAT &&
	    (job->word->bits > 16 || job->channels > FEW_CHANNELS || job->text))
		fail(FAIL_USAGE, "--missing", "no place for missing samples");
	for (const char *at = job->missing; at && job->number->kind != FLOAT;
	     at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		wide x = strtoll(at, NULL, 10);
		if (x < (sign ? -half : 0) || x >= (sign ? half : 2 * half))
			fail(FAIL_USAGE, "--missing", "not a value of the type");
	}
}

/* Is a number one of --missing? These are written exactly. */
static bool is_missing(const struct job *job, struct sample s)
{
	for (const char *at = job->missing; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (job->number->kind == FLOAT ? s.real == strtod(at, NULL)
					       : s.whole == strtoll(at, NULL, 10))
			return true;
	return false;
}

/* The distance from the centre, as a binary64. */
static double part_of(const struct type *type, struct sample s)
{
	double centre = ldexp(1, (int)type->bits - 1) - 0.5;

	return type->kind == FLOAT    ? s.real
	       : type->kind == SIGNED ? (double)s.whole
				      : (double)s.whole - centre;
}

static struct sample sample_at(const struct job *job, const unsigned char *at, uint64_t i)
{
	struct sample s = number_at(job, at, job->parts * i);
	bool missing = is_missing(job, s);

	if (job->parts == 2) {
		struct sample second = number_at(job, at, 2 * i + 1);
		double x = part_of(job->number, s), y = part_of(job->number, second);

		missing |= is_missing(job, second);
		s.real = missing ? (double)NAN : sqrt(x * x + y * y);
		s.whole = 0;
		memcpy(&s.code, &s.real, sizeof(s.code));
	} else if (job->abs) {
		if (s.whole < 0)
			s.whole = -s.whole;
		s.real = fabs(s.real);
		s.code = job->type->kind == FLOAT ? s.code & ~((uint64_t)1 << (job->type->bits - 1))
						  : (uint64_t)s.whole;
	}
	s.missing = missing && job->type->kind != FLOAT;
	if (missing && job->type->kind == FLOAT) {
		s.real = (double)NAN;
		s.code = ((uint64_t)1 << (job->type->bits - 1)) - 1;
	}
	return s;
}

typedef void visit(struct job *job, unsigned channel, struct sample s);

/* Return the number of the key of a record, whose channel has its samples. */
static unsigned channel_of(struct job *job, const unsigned char *record)
{
	static unsigned index[1 << 16]; /* 1 + the channel of the last key with these bits */
	uint32_t key = 0;
	unsigned c;

	for (uint64_t i = 0; i < job->by_key.bytes; i++)
		key |= (uint32_t)record[job->by_key.offset + i]
		       << 8 * (job->by_key.big ? job->by_key.bytes - 1 - i : i);
	c = index[key & 65535];
	if (c && job->key[c - 1] == key)
		return c - 1;
	for (c = 0; c < job->channels && job->key[c] != key; c++)
		;
	if (c == job->channels && (c == MAX_CHANNELS || (c + 1) * job->bins > (uint64_t)1 << 28))
		fail(5, "--by", "too many keys");
	job->key[c] = key;
	job->channels += c == job->channels;
	index[key & 65535] = c + 1;
	return c;
}

/* Pass the samples of record k, counted from this address, to `see`. */
static void visit_record(struct job *job, const unsigned char *at, uint64_t k, visit *see)
{
	uint64_t first = job->stride % 8 ? k * job->samples : 0;

	if (job->by_key.bytes) {
		at += k * job->stride / 8;
		unsigned channel = channel_of(job, at);
		see(job, channel, sample_at(job, at + job->first_byte, 0));
		return;
	}
	at += job->first_byte + (job->stride % 8 ? 0 : k * job->stride / 8);
	for (uint64_t i = 0; i < job->samples; i++)
		see(job, (unsigned)(i % job->channels), sample_at(job, at, first + i));
}

/* Pass every sample to `see`, and read nothing after the last record of -n. */
static void visit_all(struct job *job, char **names, visit *see)
{
	struct input first = {.type = NULL};
	uint64_t left = job->limit;

	for (char **name = names; *name && left; name++) {
		struct input in = open_input(*name, job);
		uint64_t at = in.begin;

		if (name == names)
			first = in;
		if (!in.absent)
			need_agreement(job, &first, &in, *name);
		if (in.end - at < job->skip)
			fail(FAIL_DATA, *name, "ends before the bytes to skip have passed");
		at += job->skip;
		job->rows.begin = in.absent ? 0 : at;
		uint64_t records = (in.end - at) * 8 / job->stride;

		if (records > left)
			records = left;
		for (uint64_t k = 0; k < records; k++) {
			visit_record(job, in.data + at, k, see);
			if (++job->rows.records == job->rows.size)
				put_row_of(job);
		}
		at += (records * job->stride + 7) / 8; /* with padding of less than a byte */
		left -= records;
		if (left && at < in.end && !job->ignore_tail)
			fail(FAIL_DATA, *name, "ends inside a record");
		free(in.data);
		if (job->rows.size && (job->rows.records || job->rows.size == UINT64_MAX))
			put_row_of(job);
		job->rows.first = 0;
		job->rows.input++;
	}
}

static void note(struct job *job, unsigned channel, struct sample s)
{
	(void)channel;
	note_extremes(job, s);
}

static void count_row(struct job *job, unsigned channel, struct sample s)
{
	job->total++;
	count_sample(job, channel, s);
	if (job->stats)
		keep_sample(job, channel, s);
}

int main(int argc, char **argv)
{
	struct job job = {
		.by.bins = 256,
		.channels = 1,
		.parts = 1,
		.limit = UINT64_MAX,
		.header = true,
		.separator = ',',
	};
	char **names = argv + parse_options(&job, argc, argv);

	if (job.binless && (job.clamp || job.closed || job.flow || job.nonzero))
		fail(FAIL_USAGE, "--binless", "options for bins");
	char **name = names;
	struct input first = open_input(*name, &job);

	for (; first.absent && name[1]; first = open_input(*name, &job)) {
		free(first.data);
		name++;
	}
	if (first.absent)
		fail(FAIL_DATA, job.tensor, "no input has the tensor");
	take_header(&job, &first, *name);
	free(first.data);
	set_layout(&job);
	set_mask(&job);
	set_abs(&job);
	check_missing(&job);
	set_axis(&job);
	if (job.stats && job.by.mod)
		fail(FAIL_USAGE, "--mod", "residues have no figures");
	if (is_list(&job) && (job.rows.size || job.nonzero || job.channels * job.bins >= 1u << 28))
		fail(FAIL_USAGE, "--channels", "too many for rows, or for so many bins");
	if (job.rows.size && (by_samples(&job) || job.nonzero))
		fail(FAIL_USAGE, "--each", "the bins are not known, or not all written");
	if (job.rows.format != TEXT && (job.flow || !job.header))
		fail(FAIL_USAGE, "format", "lines are for texts");
	if (job.by_key.bytes &&
	    (by_samples(&job) || job.channels_given || !job.record || job.channels > 1 ||
	     job.by_key.offset + job.by_key.bytes > job.stride / 8))
		fail(FAIL_USAGE, "--by", "no record, or no bins");
	if (by_samples(&job)) {
		visit_all(&job, names, note);
		(job.axis == DYADIC ? set_dyadic : set_numbered)(&job);
	}
	if (job.by_key.bytes) {
		job.key = take_memory(MAX_CHANNELS + 1, sizeof(*job.key));
		job.channels = 0;
	}
	job.count =
		take_memory(job.bins * (job.by_key.bytes ? MAX_CHANNELS + 1 : (size_t)job.channels),
			    sizeof(*job.count));
	if (job.rows.size) {
		begin_rows(&job);
		visit_all(&job, names, count_row);
		end_rows(&job);
		return 0;
	}
	if (is_list(&job) || job.binless) {
		visit_all(&job, names, count_row);
		put_list(&job);
		return 0;
	}
	visit_all(&job, names, count_sample);
	put_histogram(&job);
	if (job.stats) {
		visit_all(&job, names, keep_sample);
		put_stats(&job);
	}
	free(job.edge);
	free(job.count);
	return 0;
}
