/* SPDX-License-Identifier: MIT */
/* job: the parts of a job that depend on the sample type. */
#include "cli/job.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/options_given.h"
#include "document/document.h"
#include "each/formats.h"
#include "each/row.h"
#include "format/first.h"

_Static_assert(LAYOUT_BYTES_MAX <= SOURCE_RECORD_MAX, "every record and row can be read");

bool job_draws_in_place(const struct job *job)
{
	return job->every > 0 && job->format && job->format->write == write_plot &&
	       job->style.canvas.terminal && output_descriptor(job->output) == STDOUT_FILENO;
}

bool job_draws(const struct job *job)
{
	return job->plot || job->format->can & IS_PICTURE;
}

char *job_by_name(const struct job *job)
{
	char text[32];

	if (job->source.text.on)
		return strdup(job->by_text);
	snprintf(text, sizeof(text), "u%u%s@%lu", 8 * job->by.bytes, job->by.big ? "be" : "",
		 (unsigned long)job->by.offset);
	return strdup(text);
}

bool job_reads_stdin(const struct job *job)
{
	for (size_t i = 0; i < job->source.path_count; i++)
		if (path_is_stdin(job->source.paths[i]))
			return true;
	return false;
}

/* Is an input a file or a disk? */
static bool is_file(const char *path)
{
	struct stat st;

	return (path_is_stdin(path) ? fstat(STDIN_FILENO, &st) : stat(path, &st)) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

const char *job_file(const struct job *job)
{
	for (size_t i = 0; i < job->source.path_count; i++)
		if (is_file(job->source.paths[i]))
			return path_shown(job->source.paths[i]);
	return NULL;
}

bool job_reads_files(const struct job *job)
{
	for (size_t i = 0; i < job->source.path_count; i++)
		if (!is_file(job->source.paths[i]))
			return false;
	return !job->tee;
}

/* The type that the name of a FILE gives. */
struct says {
	/* suffix without .zst: the text after the name's last dot, or "" */
	char suffix[FIRST_SUFFIX];
	bool named;              /* the suffix names a type */
	const char *ambiguous;   /* why the suffix could be two types; NULL: it could not */
	struct sample_type type; /* u32 if the suffix names none */
	uint32_t channels;       /* 2 for a pair (cf32), else 1 */
};

static struct says name_says(const char *path)
{
	struct says says;
	bool pair;

	says.ambiguous = NULL;
	says.named = first_named(&says.type, &pair, path_name(path), says.suffix);
	if (!says.named) {
		says.ambiguous =
			strcmp(says.suffix, "sigmf-data") == 0
				? "has its type in the .sigmf-meta next to it (core:datatype)"
				: sample_type_ambiguous(says.suffix);
		sample_type_parse(&says.type, "u32");
	}
	says.channels = pair ? 2 : 1;
	return says;
}

const char *job_names_text(const struct job *job, const char **binary)
{
	static const char *const TEXT[] = {".txt", ".csv", ".tsv", ".log"};
	const char *text = NULL;

	*binary = NULL;
	for (size_t i = job->source.path_count; i-- > 0;) {
		const char *const path = job->source.paths[i];
		size_t n = strlen(path);
		n -= n > 4 && strcasecmp(path + n - 4, ".zst") == 0 ? 4 : 0;
		for (size_t k = 0; n > 4 && k < sizeof(TEXT) / sizeof(TEXT[0]); k++)
			if (strncasecmp(path + n - 4, TEXT[k], 4) == 0)
				text = path;
		const struct says says = name_says(path);
		if (says.named || says.ambiguous || first_promise(path, n))
			*binary = path;
	}
	return text;
}

bool job_names_type(const struct job *job)
{
	for (size_t i = 0; i < job->source.path_count; i++) {
		const struct says says = name_says(job->source.paths[i]);
		if (says.named || says.ambiguous)
			return true;
	}
	return false;
}

/*
 * Find the type in which FILEs' names end (a.f32, b.u16be.zst, c.s16), or u32 if none does, and the
 * channels: 2 for pairs (d.cf32), else 1. A name without a type takes the type of the other names.
 * -1: two types differ, or a name is ambiguous.
 */
static int named(const struct job *job, struct sample_type *type, uint32_t *channels,
		 struct fail *fail)
{
	char *const *const paths = job->source.paths;
	struct says first = name_says(paths[0]);
	size_t k = 0;

	for (size_t i = 0; i < job->source.path_count; i++) {
		const struct says says = name_says(paths[i]);
		if (says.ambiguous)
			return fail_set(fail, STATUS_USAGE,
					"%s ends in %s, which %s; name the type with --type",
					path_shown(paths[i]), says.suffix, says.ambiguous);
		if (says.named && !first.named) {
			first = says;
			k = i;
		}
		if (says.named && (strcmp(says.type.name, first.type.name) != 0 ||
				   says.channels != first.channels))
			return fail_set(fail, STATUS_USAGE,
					"the names of %s and %s do not end in the same type; name "
					"the type with --type",
					path_shown(paths[k]), path_shown(paths[i]));
	}
	*type = first.type;
	*channels = first.channels;
	return 0;
}

/* A pair and its halves are of one type, except for --abs. */
struct misnamed job_misnamed(const struct job *job)
{
	struct misnamed m = {.count = 0};

	for (size_t i = 0; i < job->source.path_count; i++) {
		const struct says says = name_says(job->source.paths[i]);
		const bool halves = job->abs && says.channels > 1 && !job->pair &&
				    job->layout_options.channels == 0;
		if (!job->source.typed || job->source.raw || !says.named ||
		    (strcmp(says.type.name, job->type.name) == 0 && !halves) || m.count++ > 0)
			continue;
		m.name = job->source.paths[i];
		snprintf(m.typed, sizeof(m.typed), "%s%s", job->pair ? "c" : "", job->type.name);
		snprintf(m.named, sizeof(m.named), "%s%s", says.channels > 1 ? "c" : "",
			 says.type.name);
	}
	return m;
}

/* Derive the number of channels from a header and -c. */
static int header_channels(uint32_t *channels, const struct job *job, const struct header *said,
			   uint32_t parts, struct fail *fail)
{
	const struct layout_options *const asked = &job->layout_options;
	const bool array = strcmp(said->format, ".npy") == 0;
	const char *const name = said->input;
	/* With --abs, I and Q become one channel. An array of plain numbers names no channels. */
	uint64_t n = said->channels > 1 ? said->channels / parts : 1;

	if (asked->last && array && said->fortran)
		return fail_set(
			fail, STATUS_USAGE,
			"--channels last needs an array in C order, but %s is in Fortran order",
			name);
	if (asked->last && array)
		n = said->last <= LAYOUT_CHANNELS_MAX ? said->last * n : said->last;
	if (asked->channels > 1 && asked->channels != n && !(array && n == 1))
		return fail_set(fail, STATUS_USAGE,
				"--channels %lu contradicts %s, whose %s header says %llu (-c 1 "
				"counts all of them together)",
				(unsigned long)asked->channels, name, said->format,
				(unsigned long long)n);
	if (asked->channels > 0)
		n = asked->channels;
	if (n < 1 || n > LAYOUT_CHANNELS_MAX)
		return fail_set(fail, STATUS_USAGE,
				"%s has %llu channels, but only 1 to 65536 can be counted apart "
				"(-c 1 counts all of them together)",
				name, (unsigned long long)n);
	*channels = (uint32_t)n;
	return 0;
}

/*
 * Packed samples have no records of --record, and a row of them must be whole bytes. If samples are
 * smaller than a byte, either a record must be whole bytes or a byte must be whole records.
 */
static int check_packed(const struct layout_options *o, const struct sample_type *type,
			struct fail *fail)
{
	const uint32_t packed = sample_group(type);

	if (sample_group(type) > 1 && o->record > 0)
		return fail_set(
			fail, STATUS_USAGE,
			"--record %s cannot be combined with %s, whose samples are packed "
			"without gaps; --rows=WIDTH:PITCH skips padding between rows of them",
			o->record_text, type->name);
	if (sample_unpacks(type) && o->width % sample_whole_group(type, o->channels) != 0)
		return fail_set(fail, STATUS_USAGE,
				"--rows %s needs a WIDTH that is a multiple of %lu, because that "
				"many samples of %s fill whole bytes",
				o->rows_text, (unsigned long)sample_whole_group(type, o->channels),
				type->name);
	if (sample_unpacks(type))
		return 0;
	if (o->channels % packed != 0 && packed % o->channels != 0)
		return fail_set(fail, STATUS_USAGE,
				"--channels %lu cannot be combined with %s, which needs 1%s or a "
				"multiple of %lu",
				(unsigned long)o->channels, type->name,
				packed == 8   ? ", 2, 4"
				: packed == 4 ? ", 2"
					      : "",
				(unsigned long)packed);
	if (o->width % packed != 0)
		return fail_set(
			fail, STATUS_USAGE,
			"--rows %s needs a WIDTH that is a multiple of the %lu samples in a byte",
			o->rows_text, (unsigned long)packed);
	return 0;
}

static int check_layout(const struct layout_options *o, const struct sample_type *type,
			struct fail *fail)
{
	const uint64_t end = (uint64_t)o->offset + sample_bytes(type, o->channels);
	const uint64_t width = sample_bytes(type, o->width);

	if (o->width % o->channels != 0)
		return fail_set(fail, STATUS_USAGE,
				"--rows %s needs a WIDTH that is a multiple of the %lu channels",
				o->rows_text, (unsigned long)o->channels);
	if (o->pitch < width)
		return fail_set(fail, STATUS_USAGE,
				"--rows %s needs a PITCH of at least %llu, to hold %lu of %s",
				o->rows_text, (unsigned long long)width, (unsigned long)o->width,
				type->name);
	if (o->record > 0 && o->record < end)
		return fail_set(fail, STATUS_USAGE,
				"--record %s is too small; it must be at least %llu, to hold %lu "
				"of %s at --offset %lu",
				o->record_text, (unsigned long long)end, (unsigned long)o->channels,
				type->name, (unsigned long)o->offset);
	return 0;
}

/* Refuse a number of records that does not end with a byte. */
static int check_whole(const char *option, const char *text, uint64_t n, const struct shape *shape,
		       const struct sample_type *type, struct fail *fail)
{
	const uint32_t packed = shape->packed;

	if (n % packed == 0)
		return 0;
	return fail_set(
		fail, STATUS_USAGE,
		"--%s %s ends inside a byte; with %s it must be a multiple of %lu, such as %llu",
		option, text, type->name, (unsigned long)packed,
		(unsigned long long)((n / packed + 1) * packed));
}

static int set_limit(struct shape *shape, const struct job *job, const struct sample_type *type,
		     struct fail *fail)
{
	const struct layout_options *const o = &job->layout_options;

	shape->limit = o->limit;
	shape->row = job->each;
	if (o->limit_text && check_whole("count", o->limit_text, o->limit, shape, type, fail) != 0)
		return -1;
	return job->each == ROW_IS_INPUT
		       ? 0
		       : check_whole("each", job->each_text, job->each, shape, type, fail);
}

static int set_layout(struct shape *shape, const struct job *job, const struct header *said,
		      const struct sample_type *type, uint32_t channels, struct fail *fail)
{
	struct layout_options asked = job->layout_options;
	const bool header = said->format, together = asked.channels == 1;
	const uint32_t parts = sample_is_magnitude(type) ? 2 : 1;
	const char *why;

	if (asked.last && !header)
		return fail_set(fail, STATUS_USAGE,
				"--channels last needs a header, and %s has none",
				path_shown(job->source.paths[0]));
	if (asked.channels == 0)
		asked.channels = channels;
	if (asked.channels <= 1 && !together && !header && job->like)
		asked.channels = job->like->hist.what == SERIES_KEYS ? 1 : job->like->hist.channels;
	if (header && header_channels(&asked.channels, job, said, parts, fail) != 0)
		return -1;
	shape->header_last = asked.last ? said->last : 0;
	shape->header_channels = together             ? 0
				 : header             ? said->channels
				 : asked.channels > 0 ? parts * asked.channels
						      : parts;
	if (asked.channels == 0)
		asked.channels = 1;
	if (job->source.text.by) /* a number and the index of its key (text.h) */
		asked.record = type->bits / 8 + TEXT_KEY;
	if (check_packed(&asked, type, fail) != 0 || check_layout(&asked, type, fail) != 0)
		return -1;
	/* The layout treats a group of packed samples as one sample. */
	const uint32_t packed = sample_group(type),
		       whole = sample_whole_group(type, asked.channels), own = whole / packed;
	const struct layout layout = {
		.channels = own,
		.record = asked.record,
		.offset = asked.offset,
		.row = asked.width / packed / own,
		.pitch = asked.pitch,
	};
	const bool apart = asked.record > 0 || asked.width > 0;
	shape->by = job->by;
	shape->by.offset = job->source.text.by ? type->bits / 8 : job->by.offset;

	if (layout_init(&shape->layout, &layout, (uint32_t)sample_bytes(type, packed), &why) != 0)
		return fail_set(fail, STATUS_USAGE, "%s", why);
	shape->channels = asked.channels;
	if (sample_unpacks(type)) /* counted one by one after unpacking */
		shape->layout.channels = asked.channels;
	shape->record = layout_bytes(&shape->layout);
	shape->packed = apart ? 1 : whole / asked.channels;
	/* No overflow: a sample has at least one bit. */
	shape->samples = (uint64_t)layout_samples(&shape->layout) * packed / shape->packed;
	return set_limit(shape, job, type, fail);
}

/*
 * The bins of the job. Rows of figures need none: without an option for them, a single bin holds
 * all values of the type. But --plot draws bins, and a plot of figures shows the entropy of bins
 * unless codes are counted.
 */
static struct axis_spec bins_of(const struct job *job, const struct sample_type *type, bool rows)
{
	struct axis_spec bins = job->bins;
	const bool figures = job->format && job->format->write == write_plot && !job->style.table,
		   codes = sample_is_code(type) || (job->by_text && keys_hold_codes(type)),
		   drawn = job->plot || (figures && !codes);
	const bool flags = bins.closed || bins.clamp,
		   asked = bins.kind != AXIS_DEFAULT || bins.bins > 0 || (flags && !job->like);

	if (!asked && job->like) {
		bins = job->like->bins;
		bins.closed |= job->bins.closed;
		bins.clamp |= job->bins.clamp;
		return bins;
	}
	if (rows && job->quantiles.n > 0 && !asked && !drawn &&
	    axis_complete(&bins, type).kind == AXIS_AUTO) {
		bins.kind = AXIS_RANGE;
		bins.full = true;
		bins.bins = 1;
	}
	return bins;
}

static int make_axis(struct axis *axis, const struct job *job, const struct sample_type *type,
		     bool rows, struct fail *fail)
{
	const struct axis_spec bins = bins_of(job, type, rows);
	const char *why = NULL;

	if (axis_init(axis, &bins, type, &why) == 0)
		return 0;
	if (why == edges_no_memory)
		return fail_set(fail, STATUS_SYSTEM, "%s", why);
	if (job->bins_text)
		return fail_set(fail, STATUS_USAGE, "--%s %s is invalid for --type %s: %s",
				AXIS_KINDS[job->bins.kind].name, job->bins_text, type->name, why);
	return fail_set(fail, STATUS_USAGE, "%s (the type is %s)", why, type->name);
}

const char *gpu_declines(const struct job *job, const struct shape *shape)
{
	const struct sample_type *const type = &shape->axis.type;

	if (job->by_text)
		return "only the CPU counts by keys";
	if (layout_is_many(shape->channels))
		return "only the CPU counts more than 64 channels";
	if (sample_unpacks(type))
		return "only the CPU counts packed samples of more than 8 bits";
	if (type->abs && type->code_bytes > 2)
		return "only the CPU takes absolute values of more than 16 bits";
	if (shape->axis.missing.n > 0 && type->code_bytes > 2)
		return "only the CPU looks for missing samples of more than 16 bits";
	if (shape->axis.finds_whole && type->code_bytes > 2)
		return "only the CPU finds out whether all numbers of a text are whole";
	if (job->quantiles.n > 0 && type->code_bytes > 2)
		return "--stats runs on the CPU for types wider than 16 bits";
	return NULL;
}

/* Refuse what cannot be combined with many channels. */
static int check_many(const struct shape *shape, const struct job *job, struct fail *fail)
{
	const unsigned long bins = (unsigned long)axis_bins(&shape->axis);
	const unsigned channels = shape->channels;
	char rows[32];
	const struct format_asks asks = {.can = job->style.nonzero ? CAN_SPARSE : 0, .rows = rows};

	snprintf(rows, sizeof(rows), "%u channels", channels);

	if ((uint64_t)channels * bins >= BINS_MAX)
		return fail_set(fail, STATUS_USAGE,
				"--channels %u with %lu bins each is too many; more than 64 "
				"channels must have fewer than 2^28 bins together, so use -b %lu",
				channels, bins, (unsigned long)((BINS_MAX - 1) / channels));
	if (job->format && format_refuses(job->format, &asks, fail) != 0)
		return -1;
	if (job->each > 0)
		return fail_set(
			fail, STATUS_USAGE,
			"--each %s cannot be combined with %u channels; rows have at most 64",
			job->each_text, channels);
	if (job_draws_in_place(job))
		return fail_set(fail, STATUS_USAGE,
				"--every cannot draw %u channels on a terminal, only up to 64; use "
				"-o FILE",
				channels);
	return 0;
}

/* Refuse what cannot be combined with keys. */
static int check_by(const struct shape *shape, const struct job *job, struct fail *fail)
{
	const char *const why =
		axis_kind_of(&shape->axis)->from_samples
			? "needs bins that are known before the first sample; use -r, --edges, "
			  "--log=LO:HI or --mod, or -b with integers"
		: shape->channels > 1 ? "cannot be combined with several channels; each record has "
					"one sample and its "
					"key"
		: shape->by.offset + shape->by.bytes > shape->record
			? "is outside of the record (--record)"
			: NULL;

	return why ? given_refuse("by", job->by_text, why, fail) : 0;
}

static int set_mask(struct sample_type *type, uint32_t mask, struct fail *fail)
{
	const char *const why = sample_type_mask(type, mask);

	if (!why)
		return 0;
	return fail_set(fail, STATUS_USAGE, "--mask 0x%lx cannot be combined with --type %s: %s",
			(unsigned long)mask, type->name, why);
}

/* --abs */
static int set_abs(struct sample_type *type, bool pair, struct fail *fail)
{
	const char *const why = sample_type_abs(type, pair);

	return why ? fail_set(fail, STATUS_USAGE, "--abs cannot be combined with --type %s: %s",
			      type->name, why)
		   : 0;
}

/* --missing, for an axis that has its type */
static int set_missing(struct shape *shape, const struct job *job, struct fail *fail)
{
	struct axis *const axis = &shape->axis;
	const struct sample_type before = sample_type_signed(&axis->type);
	const char *what;

	if (!job->missing_text) {
		if (job->like && strcmp(job->like->hist.axis.type.name, axis->type.name) == 0)
			axis->missing = job->like->hist.axis.missing;
		return 0;
	}
	const char *const refused = before.kind == SAMPLE_FLOAT ? NULL
				    : job->source.text.on ? "with --text it needs a float type"
				    : before.code_bytes > 2
					    ? "it takes floats and integers of up to 16 bits"
				    : layout_is_many(shape->channels)
					    ? "it takes only floats with more than 64 channels"
					    : NULL;
	if (refused)
		return fail_set(fail, STATUS_USAGE,
				"--missing cannot be combined with --type %s: %s", axis->type.name,
				refused);
	const char *const why = missing_parse(&axis->missing, &before, job->missing_text,
					      job->source.text.on, &what);
	if (!why)
		return 0;
	return fail_set(fail, STATUS_USAGE, "--missing %.*s %s (the type is %s)",
			*what == '\0' || *what == ',' ? 2 : (int)strcspn(what, ","),
			*what == '\0' || *what == ',' ? "''" : what, why, before.name);
}

int job_shape(struct shape *shape, const struct job *job, const struct header *said,
	      struct fail *fail)
{
	struct sample_type type = job->source.typed ? job->type : said->type;
	uint32_t named_channels = 0;

	*shape = (struct shape){.channels = 0};
	/* Names give the type only if neither -t nor a header does. */
	if (!job->source.typed && !said->format && named(job, &type, &named_channels, fail) != 0)
		return -1;
	bool pair = job->source.typed ? job->pair || said->pair
		    : said->format    ? said->pair
				      : named_channels > 1;
	if (job->like && !said->format && !job->source.typed && !job_names_type(job)) {
		const struct sample_type *const like = &job->like->hist.axis.type;
		pair = sample_is_magnitude(like) ||
		       (job->like->hist.what == SERIES_CHANNELS && job->like->hist.name);
		type = job->mask > 0 ? sample_type_word(like)
		       : job->abs    ? sample_type_signed(like)
				     : *like;
	}
	if (job->mask > 0 && set_mask(&type, job->mask, fail) != 0)
		return -1;
	if (job->abs && set_abs(&type, pair, fail) != 0)
		return -1;
	if (job->source.text.columns > 1)
		named_channels = job->source.text.columns;
	if (job->abs && pair)
		named_channels = 1;
	if (set_layout(shape, job, said, &type, named_channels, fail) != 0)
		return -1;
	type.binned = (type.code_bytes == 2 && layout_is_many(shape->channels)) ||
		      (type.code_bytes <= 2 && job->by_text);
	const bool rows = job->each > 0 || job->by_text || layout_is_many(shape->channels);
	if (make_axis(&shape->axis, job, &type, rows, fail) != 0 ||
	    set_missing(shape, job, fail) != 0)
		return -1;
	shape->pairs = pair && !job->abs && shape->channels % 2 == 0;
	shape->axis.finds_whole = job->source.text.on && type.kind == SAMPLE_FLOAT;
	const char *const why = job->linearity != WAVE_NONE
					? linearity_refuses(&shape->axis, shape->channels)
					: NULL;
	if (why)
		return fail_set(fail, STATUS_USAGE, "--linearity %s (the type is %s)", why,
				type.name);
	const char *const declines = gpu_declines(job, shape);
	if (declines && job->machine.device == DEVICE_GPU)
		return fail_set(fail, STATUS_DEVICE,
				"--device=gpu cannot be used: %s; leave --device out", declines);
	if (job->by_text && check_by(shape, job, fail) != 0)
		return -1;
	if (shape->row > 0 && axis_kind_of(&shape->axis)->from_samples)
		return fail_set(fail, STATUS_USAGE,
				"--each %s needs bins that are known before the first sample; use "
				"%s-r, --edges, --log or --mod, or -b with integers",
				job->each_text,
				job->source.type_said || said->format ? "" : "-t u8 for bytes, ");
	const bool document = !axis_kind_of(&shape->axis)->from_samples &&
			      (job->into || (job->format && job->format->can & IS_DOCUMENT));
	if (document && !edges_distinct(&shape->axis.edges))
		return fail_set(fail, STATUS_USAGE,
				"--%s %s has bins too narrow for JSON, whose edges are binary64 "
				"numbers; use wider bins, or -f csv",
				axis_kind_of(&shape->axis)->name, job->bins_text);
	if (layout_is_many(shape->channels) && check_many(shape, job, fail) != 0)
		return -1;
	const bool single = shape->channels == 1 && !job->by_text && job->each == 0;
	if (job->format && job->style.binless && single &&
	    format_refuses(job->format, &(struct format_asks){.can = CAN_BINLESS}, fail) != 0)
		return -1;
	/* Counters have 32-bit indices (count.c). */
	const unsigned long bins = (unsigned long)axis_bins(&shape->axis),
			    channels = shape->channels;
	if (channels * ((uint64_t)bins + CELL_EXTRA) <= UINT32_MAX)
		return 0;
	return fail_set(fail, STATUS_USAGE,
			"--channels %lu with %lu bins each is too many; all channels together must "
			"have fewer than 2^32 bins",
			channels, bins);
}

int job_shape_check(const struct job *job, struct fail *fail)
{
	const struct header none = {.format = NULL};
	struct shape shape;

	/* The type, or the value of -c last, may come from a header. */
	if (!job->source.raw && (!job->source.typed || job->layout_options.last))
		return 0;
	/* The bins may come from a document. */
	if ((job->by_text || job->bins.closed || job->bins.clamp) && (job->into || job->compare))
		return 0;
	const int rc = job_shape(&shape, job, &none, fail);
	edges_free(&shape.axis.edges);
	return rc;
}
