/* SPDX-License-Identifier: MIT */
/* source_input: one input: what a path names, how much it holds, what its first bytes say. */
#include "input/source_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/again.h"
#include "input/tee.h"
#include "input/zstd_read.h"

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

static const char *shown(const char *path)
{
	return is_stdin(path) ? "standard input" : *path ? path : "''";
}

/* Bytes of one input after what is skipped; 0 for what is not a file. */
static uint64_t known_bytes(const struct source_spec *spec, const char *path)
{
	struct stat st;

	if ((is_stdin(path) ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 ||
	    !S_ISREG(st.st_mode) || (uint64_t)st.st_size <= spec->skip)
		return 0;
	return (uint64_t)st.st_size - spec->skip;
}

uint64_t source_known_bytes(const struct source *s)
{
	uint64_t bytes = 0;

	if (s->slice)
		return (s->slice->part.end - s->slice->part.begin) * s->spec.record;
	for (size_t i = 0; i < s->spec.path_count; i++)
		bytes += known_bytes(&s->spec, s->spec.paths[i]);
	if (s->spec.limit <= bytes / s->spec.record)
		return s->spec.limit * s->spec.record;
	return bytes;
}

bool source_compressed(const struct source_spec *spec)
{
	const char *path = spec->path_count > 0 ? spec->paths[0] : "";
	const size_t length = strlen(path);

	return spec->zstd || (!spec->raw && length > 4 && strcmp(path + length - 4, ".zst") == 0);
}

/* A missing file is reported before hours are spent on the ones before it. */
int input_check_all(const struct source_spec *spec, struct fail *fail)
{
	for (size_t i = 0; i < spec->path_count; i++) {
		const char *path = spec->paths[i];
		struct stat st;
		if ((is_stdin(path) ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0)
			return fail_errno(fail, "%s", shown(path));
		errno = EISDIR;
		if (S_ISDIR(st.st_mode))
			return fail_errno(fail, "%s", shown(path));
		if (!is_stdin(path) && access(path, R_OK) != 0)
			return fail_errno(fail, "%s", path);
	}
	return 0;
}

int input_sniff(const struct source *s, const struct input *in, const unsigned char *bytes,
		size_t length, struct fail *fail)
{
	static const struct {
		const char *format, *command;
		unsigned char offset, length, magic[6];
	} FORMATS[] = {
		{"gzip", "gzip -dc", 0, 3, {0x1f, 0x8b, 0x08}},
		{"xz", "xz -dc", 0, 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
		/* "BZh", a digit, and then the digits of pi that begin a block */
		{"bzip2", "bzip2 -dc", 4, 6, {'1', 'A', 'Y', '&', 'S', 'Y'}},
		{"lz4", "lz4 -dc", 0, 4, {0x04, 0x22, 0x4d, 0x18}},
	};
	struct frame_header header;
	const size_t four = length < 4 ? length : 4;

	if (s->spec.raw)
		return 0;
	if (four == 4) {
		/* Four bytes show the magic number and nothing more yet. */
		const enum frame_kind kind = frame_parse(bytes, four, &header);
		if (kind == FRAME_SHORT)
			return 1;
		if (kind == FRAME_LEGACY)
			return fail_set(fail, STATUS_DATA,
					"%s: compressed by zstd before 0.8: pipe it through a "
					"`zstd -dc` that still "
					"reads it, or count it as it is with --raw",
					in->name);
	}
	for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++)
		if (length >= FORMATS[i].offset + (size_t)FORMATS[i].length &&
		    memcmp(bytes + FORMATS[i].offset, FORMATS[i].magic, FORMATS[i].length) == 0 &&
		    (FORMATS[i].offset == 0 || memcmp(bytes, "BZh", 3) == 0))
			return fail_set(fail, STATUS_DATA,
					"%s: compressed by %s: pipe it through `%s`, or count it "
					"as it is with --raw",
					in->name, FORMATS[i].format, FORMATS[i].command);
	if (four == 4 && memcmp(bytes, "PK\3\4", 4) == 0)
		return fail_set(fail, STATUS_DATA,
				"%s: a zip archive, as .npz files are: `unzip -p ARCHIVE MEMBER | "
				"gpuhist` counts a member of "
				"it, or count it as it is with --raw",
				in->name);
	if (s->spec.zstd)
		return fail_set(fail, STATUS_DATA,
				"%s: not compressed by zstd, which --zstd requires", in->name);
	return 0;
}

void input_free(struct input *in)
{
	zstd_free(in->zstd);
	if (in->owned && in->fd >= 0)
		close(in->fd);
	free(in->head);
	free(in);
}

int input_open(struct source *s, const char *path, struct input **out, struct fail *fail)
{
	struct input *in = calloc(1, sizeof(*in));
	struct stat st;

	*out = in;
	if (!in)
		return fail_errno(fail, "%s", shown(path));
	in->name = shown(path);
	in->owned = s->spec.tee || !is_stdin(path);
	in->fd = -1;
	in->begins = in->ends = true;
	if (s->spec.tee && tee_next(s->spec.tee, &in->fd, fail) != 0)
		return -1;
	if (!s->spec.tee)
		in->fd = in->owned ? open_input(path) : STDIN_FILENO;
	if (in->fd < 0 || fstat(in->fd, &st) != 0)
		return fail_errno(fail, "%s", in->name);
	in->is_regular = S_ISREG(st.st_mode);
	in->is_file = in->is_regular || S_ISBLK(st.st_mode);
	const int rc = in->is_file ? file_open(s, in, fail) : stream_open(s, in, fail);
	return rc == 0 && s->spec.headers && !s->spec.raw ? input_read_header(s, in, fail) : rc;
}

/* a + b, or the largest offset where the sum is larger. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a < NO_END - b ? a + b : NO_END;
}

int input_bounds(const struct source *s, struct input *in, struct fail *fail)
{
	const struct header *h = &in->header;

	in->first = sum(h->begin, s->spec.skip);
	in->bound = h->format ? sum(h->begin, h->bytes) : NO_END;
	return in->first > in->bound ? input_too_skipped(s, in, fail) : 0;
}

int input_begin(struct source *s, struct input *in, const struct request *q)
{
	if (input_bounds(s, in, q->fail) != 0)
		return -1;
	if (in->sliced) {
		in->until = in->first + in->to * s->spec.record;
		in->first += in->from * s->spec.record;
	}
	if (in->is_zstd)
		return zstd_begin(s, in, in->origin, in->size, q->fail);
	return in->is_file ? file_begin(s, in, q->fail)
			   : stream_begin(s, in, q->want->buffer, q->cap, q->fail);
}
