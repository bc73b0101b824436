/* SPDX-License-Identifier: MIT */
/*
 * source_part: --part=K/N: finds the records of each input that belong to a slice.
 *
 * The first record of a slice depends on the number of records in all inputs. So before counting
 * starts, each input is opened to read its first bytes, its header and its size; if its end is
 * wrong, every slice finds out here. Then it is closed, so that any number of inputs will do. It
 * must not have changed by the time its records are read.
 *
 * Skipped bytes, a partial record at the end, and the input itself belong to one slice each, too
 * (part.h). So every total of a run is the sum of the totals of its slices.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/xxh64.h"
#include "input/source_state.h"

/* An input as it was when its records were counted. */
struct measured {
	uint64_t groups;  /* groups in earlier inputs; unless packed, a group is a record */
	uint64_t records; /* records in earlier inputs */
	uint64_t bytes;   /* bytes of its own records */
	struct identity identity;
};

/* A slice. */
struct slice {
	struct share part;       /* its groups */
	size_t inputs;           /* inputs that were measured; fewer than paths if -n ends before */
	bool within;             /* -n ends in the last measured input */
	struct measured input[]; /* one for each path, and one for the end */
};

uint64_t part_records(const struct slice *slice)
{
	return slice->part.end - slice->part.begin;
}

/* Set *fail and return -1: the input cannot be sliced. */
static int refuse_slice(const char *path, const char *is, struct fail *fail)
{
	return fail_set(
		fail, STATUS_USAGE,
		"%s is %s, but --part needs regular files that are not compressed; count each "
		"input in a process of its own (-o NAME.json), and add the results with --merge",
		path_shown(path), is);
}

int part_check(const struct source_spec *spec, size_t path, mode_t mode, struct fail *fail)
{
	const char *const name = spec->paths[path];

	if (!S_ISREG(mode))
		return refuse_slice(name,
				    S_ISFIFO(mode)   ? "a pipe"
				    : S_ISSOCK(mode) ? "a socket"
						     : "a device or a terminal",
				    fail);
	for (size_t i = 0; i < path && path_is_stdin(name); i++)
		if (path_is_stdin(spec->paths[i]))
			return fail_set(fail, STATUS_USAGE,
					"--part can read standard input only once");
	return 0;
}

/* ---- measuring one input ---- */

/* Refuse a file of size 0 that holds bytes, as files in /proc do. */
static int part_check_size(const struct input *in, struct fail *fail)
{
	unsigned char byte;
	size_t got;

	if (bytes_size(in->bytes) > 0)
		return 0;
	if (bytes_read_at(in->bytes, 0, &byte, 1, &got, fail) != 0)
		return -1;
	return got == 0 ? 0
			: fail_set(fail, STATUS_USAGE,
				   "--part needs to know the size of %s before reading it; copy it "
				   "to a file first",
				   in->name);
}

/*
 * Measure the bytes of an open input's records, up to `left` records. *within: it holds that many,
 * and the bytes after them are not checked.
 */
static int measure_records(const struct source *s, struct input *in, uint64_t left, uint64_t *taken,
			   bool *within, struct fail *fail)
{
	const uint32_t record = s->use.record, packed = s->use.packed;
	const uint64_t end = bytes_size(in->bytes);

	if (input_bounds(s, in, fail) != 0 || part_check_size(in, fail) != 0)
		return -1;
	const uint64_t stop = lesser(end, in->bound),
		       bytes = stop > in->begin ? stop - in->begin : 0;
	const uint64_t records = layout_records(bytes, record, packed);
	*within = records >= left;
	*taken = layout_records_bytes(lesser(records, left), record, packed);
	if (*within)
		return 0;
	if (end < in->begin)
		return input_too_skipped(s, in, fail);
	if (end >= in->bound && content_after(&in->content, in->bytes, in->bound, fail) != 0)
		return -1;
	return input_check_end(s, in, bytes - *taken, in->bound != NO_END && end < in->bound, fail);
}

/* ---- measuring all inputs ---- */

static int measure_one(struct source *s, size_t path, uint64_t left, struct fail *fail)
{
	const bool open = s->first.input && s->first.input->index == path;
	struct input *in = open ? s->first.input : NULL;
	int rc = 0;

	if (open)
		s->first.input = NULL;
	else
		rc = input_open(s, path, &in, fail);
	if (rc == 0 && !in->is_file)
		rc = part_changed(in, fail);
	if (rc == 0 && in->content.is_zstd)
		rc = refuse_slice(s->spec.paths[path], "compressed", fail);
	if (rc == 0)
		rc = input_agrees(s, in, fail);
	if (rc == 0) {
		struct measured *const m = &s->slice->input[path];
		m->identity = bytes_identity(in->bytes);
		rc = measure_records(s, in, left, &m->bytes, &s->slice->within, fail);
	}
	if (in)
		input_free(s, in);
	return rc;
}

/* Store the identity of an input after the end of -n. */
static int identify(struct source *s, size_t path, struct fail *fail)
{
	struct bytes *b;

	if (bytes_open(&b, s->spec.paths[path], -1, &s->shared, fail) != 0)
		return -1;
	s->slice->input[path].identity = bytes_identity(b);
	bytes_close(b);
	return 0;
}

/* Count records up to -n; for later inputs, store only the identity. */
static int measure_all(struct source *s, struct fail *fail)
{
	struct slice *const slice = s->slice;
	const uint32_t record = s->use.record;
	uint64_t left = s->use.limit;

	for (size_t i = 0; i < s->spec.path_count; i++) {
		struct measured *const m = &slice->input[i], *const next = m + 1;
		next->groups = m->groups;
		next->records = m->records;
		if (left == 0 || slice->within) {
			if (identify(s, i, fail) != 0)
				return -1;
			continue;
		}
		if (measure_one(s, i, left, fail) != 0)
			return -1;
		const uint64_t records = layout_records(m->bytes, record, s->use.packed);
		if (records > UINT64_MAX - m->records)
			return fail_set(
				fail, STATUS_LIMIT,
				"--part finds more than 2^64 - 1 records in the inputs up to %s",
				s->spec.paths[i]);
		next->groups += m->bytes / record + (m->bytes % record > 0);
		next->records += records;
		left -= left == NO_LIMIT ? 0 : records;
		slice->inputs = i + 1;
	}
	return 0;
}

/* A hash of all identities, on which all slices must agree. */
static uint64_t part_state(const struct slice *slice, size_t paths)
{
	struct xxh64 h;

	xxh64_begin(&h);
	for (size_t i = 0; i < paths; i++) {
		const struct identity *const one = &slice->input[i].identity;
		const uint64_t words[] = {one->size, (uint64_t)one->seconds,
					  (uint64_t)one->nanoseconds};
		xxh64_add(&h, (const unsigned char *)words, sizeof(words));
	}
	return xxh64_end(&h);
}

/* Does the slice have to read this input? */
static bool wants(const struct slice *slice, size_t path)
{
	const struct share *const p = &slice->part;
	const uint64_t first = slice->input[path].groups, next = slice->input[path + 1].groups;

	return (first < p->end && next > p->begin) || part_owns(p, first);
}

int part_measure(struct source *s, struct fail *fail)
{
	const size_t paths = s->spec.path_count;
	struct slice *const slice =
		calloc(1, sizeof(*slice) + (paths + 1) * sizeof(slice->input[0]));

	if (!slice)
		return fail_errno(fail, "inputs");
	s->slice = slice;
	if (measure_all(s, fail) != 0)
		return -1;
	slice->part =
		part_of(slice->input[paths].groups, s->use.record, s->spec.part, s->spec.parts);
	s->totals.slice.state = part_state(slice, paths);
	/* The inputs that a slice needs follow one another. */
	size_t first = 0, end;
	while (first < slice->inputs && !wants(slice, first))
		first++;
	for (end = first; end < slice->inputs && wants(slice, end);)
		end++;
	s->totals.slice.first = slice->input[first].records +
				(slice->part.begin - slice->input[first].groups) * s->use.packed;
	s->totals.slice.all = slice->input[paths].records;
	s->next.path = first;
	s->spec.path_count = end;
	s->totals.slice.read = end - first;
	return 0;
}

/* ---- reading ---- */

int part_changed(const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA,
			"%s has changed since its records were counted, or holds less than its "
			"size says, so its slices would not fit together",
			in->name);
}

int part_enter(const struct source *s, struct input *in, struct fail *fail)
{
	const size_t path = in->index;
	const struct slice *const slice = s->slice;
	const struct measured *const m = &slice->input[path];
	const struct share *const p = &slice->part;
	const uint64_t first = m->groups, end = (m + 1)->groups;
	const uint32_t record = s->use.record;
	const struct identity now = bytes_identity(in->bytes), *const then = &m->identity;

	if (!in->is_file || now.size != then->size || now.seconds != then->seconds ||
	    now.nanoseconds != then->nanoseconds)
		return part_changed(in, fail);
	in->part.sliced = true;
	in->part.from = p->begin > first ? (p->begin - first) * record : 0;
	in->part.to = p->end < end ? (p->end - first) * record : m->bytes;
	if (in->part.to < in->part.from) /* the slice has none of its records */
		in->part.to = in->part.from;
	in->part.begins = part_owns(p, first);
	in->part.ends = part_owns(p, end > first ? end - 1 : first) &&
			!(slice->within && path + 1 == slice->inputs);
	return 0;
}
