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
#include "base/path.h"
#include "input/tee.h"
#include "input/zstd_read.h"

/* Bytes of one input after what is skipped; 0 for what is not a file. */
static uint64_t known_bytes(const struct source_spec *spec, const char *path)
{
	struct stat st;

	if ((path_is_stdin(path) ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 ||
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
		if ((path_is_stdin(path) ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0)
			return fail_errno(fail, "%s", path_shown(path));
		errno = EISDIR;
		if (S_ISDIR(st.st_mode))
			return fail_errno(fail, "%s", path_shown(path));
		if (!path_is_stdin(path) && access(path, R_OK) != 0)
			return fail_errno(fail, "%s", path);
	}
	return 0;
}

/* ---- what the first bytes say ---- */

int input_refuse(const struct input *in, const char *advice, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA, "%s: %s, or count it as it is with --raw%s", in->name,
			advice, in->is_zstd ? ", after zstd -dc" : "");
}

int input_sniff(const struct source *s, const struct input *in, const unsigned char *bytes,
		size_t length, struct fail *fail)
{
	const char *advice;
	struct frame_header header;

	if (s->spec.raw)
		return 0;
	if (length >= 4) {
		/* Four bytes show the magic number and nothing more yet. */
		const enum frame_kind kind = frame_parse(bytes, 4, &header);
		if (kind == FRAME_SHORT)
			return 1;
		if (kind == FRAME_LEGACY)
			return input_refuse(in,
					    "compressed by zstd before 0.8: pipe it through a "
					    "`zstd -dc` that still reads it",
					    fail);
	}
	if (first_refused(bytes, length, &advice) == HEADER_FOUND)
		return input_refuse(in, advice, fail);
	if (s->spec.zstd)
		return fail_set(fail, STATUS_DATA,
				"%s: not compressed by zstd, which --zstd requires", in->name);
	return 0;
}

bool input_undecided(const struct source *s, const unsigned char *bytes, size_t n)
{
	const char *advice;
	struct frame_header header;

	return n == 0 || (n < 4 && frame_parse(bytes, n, &header) == FRAME_SHORT) ||
	       first_refused(bytes, n, &advice) == HEADER_MORE ||
	       (s->spec.headers && header_magic(bytes, n, false) == HEADER_MORE);
}

size_t input_wanted(const struct source *s, size_t most)
{
	const uint64_t records = s->budget < most ? s->budget : most;
	const uint64_t wanted =
		s->spec.skip < most ? s->spec.skip + records * s->spec.record : most;

	return wanted < most ? (size_t)wanted : most;
}

int input_look_for_text(struct input *in, const unsigned char *bytes, size_t n, bool ended,
			struct fail *fail)
{
	struct text *const t = &in->text;

	if (!text_open(t))
		return 0;
	text_add(t, bytes, n);
	if (!text_found(t, ended))
		return 0;
	if (t->document)
		return fail_set(fail, STATUS_DATA,
				"%s: a histogram in JSON, not samples: --merge reads it", in->name);
	return fail_set(fail, STATUS_DATA,
			"%s: text, where samples are binary: -t counts it all the same, -t u8 its "
			"bytes",
			in->name);
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
		return fail_errno(fail, "%s", path_shown(path));
	in->name = path_shown(path);
	in->owned = s->spec.tee || !path_is_stdin(path);
	in->fd = -1;
	in->begins = in->ends = true;
	/* Only where nothing else says what it holds. */
	in->text.other = !s->spec.headers || s->spec.raw || s->spec.type_said;
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
		return zstd_begin(s, in, in->is_file ? in->origin : in->dropped, in->size, q->fail);
	return in->is_file ? file_begin(s, in, q->fail)
			   : stream_begin(s, in, q->want->buffer, q->cap, q->fail);
}
