/* SPDX-License-Identifier: MIT */
/*
 * source_part: --part=K/N: which records of which inputs belong to a slice.
 *
 * Where a slice begins depends on how many records all inputs hold. So before anything is counted
 * each input is opened for a look, as it will be when it is read: its first bytes, its header, its
 * size, of zstd the headers of frames; if anything is wrong with its end, every slice finds it
 * then. Then it is closed, so that there may be any number of inputs. When its records are read it
 * must not have changed.
 *
 * What is not a record belongs to some slice too (part.h): what was skipped, a partial record at
 * the end, the input itself. So all totals of a run are the sums of its slices'.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/xxh64.h"
#include "input/source_input.h"

/* An input as it was when its records were counted. */
struct measured {
	uint64_t before; /* records of the inputs before it */
	uint64_t size;
	int64_t seconds, nanoseconds; /* of its last modification; 0 for what is no regular file */
};

/* A part of the records: which, and of what. */
struct slice {
	struct part part;
	size_t inputs;           /* how many are looked at: -n may end before the last one ... */
	bool within;             /* ... and then it ends in the last of these */
	struct measured input[]; /* one for each path, and one for the end */
};

uint64_t part_records(const struct slice *slice)
{
	return slice->part.end - slice->part.begin;
}

static int not_a_file(const char *name, mode_t mode, struct fail *fail)
{
	return fail_set(fail, STATUS_USAGE,
			"--part: %s: only files can be cut into slices, and this is %s", name,
			S_ISFIFO(mode)   ? "a pipe (write it to a file first)"
			: S_ISSOCK(mode) ? "a socket (write it to a file first)"
					 : "a device or a terminal");
}

static int stat_path(const char *path, struct stat *st, struct fail *fail)
{
	if ((path_is_stdin(path) ? fstat(STDIN_FILENO, st) : stat(path, st)) != 0)
		return fail_errno(fail, "%s", path_shown(path));
	return 0;
}

int part_check(const struct source_spec *spec, struct fail *fail)
{
	bool redirected = false;
	struct stat st;

	if (spec->parts == 0)
		return 0;
	for (size_t i = 0; i < spec->path_count; i++) {
		const char *const path = spec->paths[i];
		if (stat_path(path, &st, fail) != 0)
			return -1;
		if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
			return not_a_file(path_shown(path), st.st_mode, fail);
		if (path_is_stdin(path) && redirected)
			return fail_set(fail, STATUS_USAGE,
					"--part: standard input can be named once only");
		redirected |= path_is_stdin(path);
	}
	return 0;
}

/* ---- frames that are passed over: what they declare, without decoding any ---- */

/* Where headers lie about sizes, sums go no further. */
#define FAR (UNKNOWN - 1)

static int undeclared(const struct input *in, const struct frame *f, struct fail *fail)
{
	return fail_set(
		fail, STATUS_USAGE,
		"--part: %s: the zstd frame at offset %llu does not say how much it holds: "
		"decompress the file "
		"(zstd -d) and compress it again by its name (zstd FILE), not through a pipe",
		in->name, (unsigned long long)f->offset);
}

/*
 * Passes over frames that end at `until` or before. FIND_FRAME: *f goes on after it; FIND_NONE: it
 * was reached, or the input ends before.
 */
static enum find skim(struct source *s, struct input *in, uint64_t until, struct frame *f,
		      struct fail *fail)
{
	while (in->at < until) {
		const enum find found = zstd_next_header(s, in, f, fail);
		const uint64_t content = f->header.content;
		if (found != FIND_FRAME)
			return found;
		if (content == UNKNOWN)
			return undeclared(in, f, fail) == 0 ? FIND_NONE : FIND_BAD;
		if (content > until - in->at)
			return FIND_FRAME;
		if (frames_walk(in->bytes, f, UNKNOWN, false, fail) != FIND_FRAME)
			return FIND_BAD;
		in->zstd->pos += f->stored;
		in->at += content;
	}
	return FIND_NONE;
}

/*
 * As far as `until` of the decoded bytes, where -n ends: how many do frames declare that begin
 * before it?
 */
static int measure_zstd(struct source *s, struct input *in, uint64_t until, uint64_t *decoded,
			struct fail *fail)
{
	struct frame f;

	if (zstd_begin(in, fail) != 0)
		return -1;
	const enum find found = skim(s, in, until, &f, fail);
	if (found != FIND_FRAME && found != FIND_NONE)
		return -1;
	*decoded = found == FIND_NONE                ? in->at
		   : f.header.content < FAR - in->at ? in->at + f.header.content
						     : FAR;
	/*
	 * Where the first frame is wrong, the walk has found that, or only its decoder can say how.
	 */
	return in->content.unseen
		       ? frames_bad(in->bytes, 0, fail, "its first bytes cannot be decoded")
		       : 0;
}

int part_begin_zstd(struct source *s, struct input *in, struct fail *fail)
{
	struct frame f;

	/*
	 * The first slice decodes what -S skips, as without slices: so all frames are decoded by
	 * some slice.
	 */
	if (in->from > 0 && skim(s, in, in->first, &f, fail) == FIND_BAD)
		return -1;
	in->zstd->begin = in->zstd->pos;
	return 0;
}

/* ---- how many records an input holds ---- */

static int stat_input(const struct input *in, struct stat *st, struct fail *fail)
{
	uint64_t origin;

	return fstat(bytes_fd(in->bytes, &origin), st) == 0 ? 0 : fail_errno(fail, "%s", in->name);
}

/* Files in /proc and the like have size 0 although they hold something. */
static int check_size(const struct input *in, struct fail *fail)
{
	unsigned char byte;
	struct stat st;
	size_t got;

	if (!bytes_in_regular(in->bytes) || bytes_size(in->bytes) > 0)
		return 0;
	if (bytes_read_at(in->bytes, 0, &byte, 1, &got, fail) != 0 ||
	    stat_input(in, &st, fail) != 0)
		return -1;
	if (got == 0 || st.st_size > 0)
		return 0;
	return fail_set(fail, STATUS_USAGE,
			"--part: %s: how much it holds is known only after reading it: copy it to "
			"a file first",
			in->name);
}

/*
 * Checks what follows the samples, or lacks. In zstd the slice that has the last record decodes and
 * checks it.
 */
static int check_rest(struct source *s, struct input *in, uint64_t end, struct fail *fail)
{
	const uint64_t stop = lesser(end, in->bound),
		       there = stop > in->first ? stop - in->first : 0;

	if (in->bound == NO_END || end < in->bound)
		return input_check_end(s, in, there % s->use.record,
				       in->bound != NO_END && end < in->bound, fail);
	if (!in->content.is_zstd ? content_after(&in->content, in->bytes, in->bound, fail) != 0
				 : end > in->bound && !in->content.header.chunks &&
					   content_too_long(&in->content, in->name, fail) != 0)
		return -1;
	return input_check_end(s, in, there % s->use.record, false, fail);
}

/*
 * Counts the records of an open input, at most `left`; *within: there are that many, and what
 * follows them is not looked at.
 */
static int count_records(struct source *s, struct input *in, uint64_t left, uint64_t *records,
			 bool *within, struct fail *fail)
{
	const uint32_t record = s->use.record;
	uint64_t end;

	if (input_bounds(s, in, fail) != 0 || check_size(in, fail) != 0)
		return -1;
	const uint64_t until =
		left > (NO_END - in->first) / record ? NO_END : in->first + left * record;
	if (!in->content.is_zstd)
		end = bytes_size(in->bytes);
	else if (measure_zstd(s, in, until, &end, fail) != 0)
		return -1;
	if (end < in->first)
		return input_too_skipped(s, in, fail);
	*records = (lesser(end, in->bound) - in->first) / record;
	*within = *records >= left;
	if (*within) {
		*records = left;
		return 0;
	}
	return check_rest(s, in, end, fail);
}

/* ---- all of them ---- */

static void note(struct measured *m, const struct stat *st, uint64_t size)
{
	m->size = size;
	if (!S_ISREG(st->st_mode)) /* a device's times show only when its name was made */
		return;
	m->seconds = st->st_mtim.tv_sec;
	m->nanoseconds = st->st_mtim.tv_nsec;
}

static int measure_one(struct source *s, size_t path, uint64_t left, uint64_t *records,
		       struct fail *fail)
{
	struct measured *const m = &s->slice->input[path];
	struct input *in = s->first.input;
	struct stat st = {.st_mode = 0};
	int rc = 0;

	s->first.input = NULL;
	if (!in)
		rc = input_open(s, path, &in, fail);
	if (rc == 0)
		rc = stat_input(in, &st, fail);
	if (rc == 0 && !in->is_file)
		rc = not_a_file(in->name, st.st_mode, fail);
	if (rc == 0)
		rc = input_agrees(s, in, fail);
	if (rc == 0) {
		note(m, &st, bytes_size(in->bytes));
		rc = count_records(s, in, left, records, &s->slice->within, fail);
	}
	if (in)
		input_free(s, in);
	return rc;
}

/* Counts records until -n is reached; of the inputs after that only the state is noted. */
static int measure_all(struct source *s, uint64_t *all, struct fail *fail)
{
	struct slice *const slice = s->slice;
	uint64_t left = s->use.limit, records = 0;

	*all = 0;
	for (size_t i = 0; i < s->spec.path_count; i++) {
		struct stat st;
		slice->input[i].before = *all;
		if (left == 0 || slice->within) {
			if (stat_path(s->spec.paths[i], &st, fail) != 0)
				return -1;
			note(&slice->input[i], &st, (uint64_t)st.st_size);
			continue;
		}
		if (measure_one(s, i, left, &records, fail) != 0)
			return -1;
		if (records > UINT64_MAX - *all)
			return fail_set(fail, STATUS_LIMIT,
					"--part: %s: with it there are more than 2^64 - 1 records",
					s->spec.paths[i]);
		*all += records;
		left -= left == UINT64_MAX ? 0 : records;
		slice->inputs = i + 1;
	}
	slice->input[s->spec.path_count].before = *all;
	return 0;
}

/* What all slices must agree on. */
static uint64_t state_of(const struct slice *slice, size_t paths)
{
	struct xxh64 h;

	xxh64_begin(&h);
	for (size_t i = 0; i < paths; i++) {
		const struct measured *const m = &slice->input[i];
		const uint64_t words[] = {m->size, (uint64_t)m->seconds, (uint64_t)m->nanoseconds};
		unsigned char bytes[sizeof(words)];
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (unsigned char)(words[k / 8] >> 8 * (k % 8));
		xxh64_add(&h, bytes, sizeof(bytes));
	}
	return xxh64_end(&h);
}

/* Does the slice have anything of this input? */
static bool wants(const struct slice *slice, size_t path)
{
	const struct part *const p = &slice->part;
	const uint64_t first = slice->input[path].before, next = slice->input[path + 1].before;

	return (first < p->end && next > p->begin) || part_owns(p, first);
}

int part_measure(struct source *s, struct fail *fail)
{
	const size_t paths = s->spec.path_count;
	struct slice *const slice =
		calloc(1, sizeof(*slice) + (paths + 1) * sizeof(slice->input[0]));
	uint64_t all;

	if (!slice)
		return fail_errno(fail, "inputs");
	s->slice = slice;
	if (measure_all(s, &all, fail) != 0)
		return -1;
	slice->part = part_of(all, s->use.record, s->spec.part, s->spec.parts);
	s->totals.state = state_of(slice, paths);
	s->totals.first = slice->part.begin;
	s->totals.all = all;
	/* The inputs that it needs follow one another. */
	size_t first = 0, end;
	while (first < slice->inputs && !wants(slice, first))
		first++;
	for (end = first; end < slice->inputs && wants(slice, end);)
		end++;
	s->next_path = first;
	s->spec.path_count = end;
	s->totals.read = end - first;
	return 0;
}

/* ---- the inputs that it reads ---- */

int part_changed(const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA,
			"%s: has changed since its records were counted, or does not hold what its "
			"size says: slices "
			"of it would not fit together",
			in->name);
}

int part_enter(const struct source *s, struct input *in, struct fail *fail)
{
	const size_t path = in->index;
	const struct slice *const slice = s->slice;
	const struct measured *const m = &slice->input[path];
	const struct part *const p = &slice->part;
	const uint64_t first = m->before, end = (m + 1)->before;
	struct measured now = {.size = 0};
	struct stat st;

	if (stat_input(in, &st, fail) != 0)
		return -1;
	note(&now, &st, bytes_size(in->bytes));
	if (!in->is_file || now.size != m->size || now.seconds != m->seconds ||
	    now.nanoseconds != m->nanoseconds)
		return part_changed(in, fail);
	in->sliced = true;
	in->from = p->begin > first ? p->begin - first : 0;
	in->to = (p->end < end ? p->end : end) - first;
	if (in->to < in->from) /* it holds no records */
		in->to = in->from;
	in->begins = part_owns(p, first);
	in->ends = part_owns(p, end > first ? end - 1 : first) &&
		   !(slice->within && path + 1 == slice->inputs);
	return 0;
}
