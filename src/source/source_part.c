/* SPDX-License-Identifier: MIT */
/*
 * source_part: --part=K/N: finds the records of each input that belong to a slice.
 *
 * Every slice opens every input, and takes its share of the records that the input's size and
 * header give. The first slice also owns the input, its header and the bytes that -S skips; the
 * last one owns the bytes after the last whole record. So every total of a run is the sum of the
 * totals of its slices. The sizes and times of all inputs are read before the first record, as all
 * slices must agree on them; an input must not have changed when it is opened to be read.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/xxh64.h"
#include "source/part.h"
#include "source/source_state.h"

/* Rule of the borders, a part of the inputs' state: slices cut by other rules do not fit. */
static const unsigned char RULE[] = "each input by itself";

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

int part_start(struct source *s, struct fail *fail)
{
	const uint32_t record = s->use.record;
	uint64_t length = 0;
	struct xxh64 h;

	if (!(s->identity = calloc(s->spec.path_count, sizeof(*s->identity))))
		return fail_errno(fail, "inputs");
	xxh64_begin(&h);
	xxh64_add(&h, RULE, sizeof(RULE));
	for (size_t i = 0; i < s->spec.path_count; i++) {
		struct identity *const one = &s->identity[i];
		struct bytes *b;
		if (bytes_open(&b, s->spec.paths[i], -1, &s->shared, fail) != 0)
			return -1;
		*one = bytes_identity(b);
		bytes_close(b);
		const uint64_t words[] = {one->size, (uint64_t)one->seconds,
					  (uint64_t)one->nanoseconds};
		xxh64_add(&h, (const unsigned char *)words, sizeof(words));
		const uint64_t bytes = one->size > s->spec.skip ? one->size - s->spec.skip : 0;
		const struct share p = part_of(bytes / record, record, s->spec.part, s->spec.parts);
		length += (p.end - p.begin) * record;
	}
	__atomic_store_n(&s->length, length, __ATOMIC_RELAXED);
	s->totals.slice.state = xxh64_end(&h);
	return 0;
}

/* Refuse a file that has changed, is compressed, or is of size 0 but holds bytes, as in /proc. */
static int check_whole(const struct source *s, const struct input *in, struct fail *fail)
{
	const struct identity now = bytes_identity(in->bytes), *const then =
								       &s->identity[in->index];
	unsigned char byte;
	size_t got = 0;

	if (!in->is_file || now.size != then->size || now.seconds != then->seconds ||
	    now.nanoseconds != then->nanoseconds)
		return input_changed(in, fail);
	if (in->content.is_zstd)
		return refuse_slice(s->spec.paths[in->index], "compressed", fail);
	if (now.size == 0 && bytes_read_at(in->bytes, 0, &byte, 1, &got, fail) != 0)
		return -1;
	return got == 0 ? 0
			: fail_set(fail, STATUS_USAGE,
				   "--part needs to know the size of %s before reading it; copy it "
				   "to a file first",
				   in->name);
}

int part_cut(const struct source *s, struct input *in, struct fail *fail)
{
	const uint32_t record = s->use.record, packed = s->use.packed;
	const uint64_t size = bytes_size(in->bytes), stop = lesser(size, in->bound);

	if (check_whole(s, in, fail) != 0)
		return -1;
	if (size < in->begin)
		return input_too_skipped(s, in, fail);
	const uint64_t bytes = stop - in->begin, records = layout_records(bytes, record, packed),
		       whole = layout_records_bytes(records, record, packed);
	/* Every slice checks the end, so that all of them report a fault there. */
	if (input_check_end(s, in, bytes - whole, in->bound != NO_END && size < in->bound, fail) !=
	    0)
		return -1;
	/* A slice begins with a group of packed records. */
	const struct share p =
		part_of(whole / record + (whole % record > 0), record, s->spec.part, s->spec.parts);
	in->part = (struct portion){.sliced = true,
				    .begins = s->spec.part == 1,
				    .ends = s->spec.part == s->spec.parts,
				    .end = in->begin + lesser(p.end * record, whole),
				    .records = records};
	in->begin += lesser(p.begin * record, whole);
	in->limit = in->part.ends ? NO_END : in->part.end;
	return 0;
}
