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
	const uint64_t records = lesser(s->left, most);

	return s->spec.skip < most ? (size_t)lesser(s->spec.skip + records * s->spec.record, most)
				   : most;
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

int input_grow(struct input *in, size_t n, struct fail *fail)
{
	return buffer_grow(&in->bytes, &in->room, n, in->have) ? 0
							       : fail_errno(fail, "%s", in->name);
}

/* ---- opening and closing ---- */

void input_free(struct source *s, struct input *in)
{
	s->held -= in->kept;
	seams_free(in->seams);
	if (in->owned && in->fd >= 0)
		close(in->fd);
	free(in->bytes);
	free(in->rest);
	free(in);
}

int input_open(struct source *s, size_t path, struct input **out, struct fail *fail)
{
	const char *const name = s->spec.paths[path];
	struct input *in = calloc(1, sizeof(*in));
	struct stat st;

	*out = in;
	if (!in)
		return fail_errno(fail, "%s", path_shown(name));
	in->index = path;
	in->name = path_shown(name);
	in->owned = s->spec.tee || !path_is_stdin(name);
	in->fd = -1;
	in->begins = in->ends = true;
	in->limit = NO_END;
	in->last = &in->jobs;
	/* Only where nothing else says what it holds. */
	in->text.other = !s->spec.headers || s->spec.raw || s->spec.type_said;
	if (s->spec.tee && tee_next(s->spec.tee, &in->fd, fail) != 0)
		return -1;
	if (!s->spec.tee)
		in->fd = in->owned ? open_input(name) : STDIN_FILENO;
	if (in->fd < 0 || fstat(in->fd, &st) != 0)
		return fail_errno(fail, "%s", in->name);
	in->is_regular = S_ISREG(st.st_mode);
	in->is_file = in->is_regular || S_ISBLK(st.st_mode);
	const int rc = in->is_file ? file_open(s, in, fail) : stream_open(s, in, fail);
	return rc == 0 && s->spec.headers && !s->spec.raw ? input_read_header(s, in, fail) : rc;
}

int input_bounds(const struct source *s, struct input *in, struct fail *fail)
{
	const struct header *h = &in->header;

	in->first = offset_sum(h->begin, s->spec.skip);
	in->bound = h->format ? offset_sum(h->begin, h->bytes) : NO_END;
	return in->first > in->bound ? input_too_skipped(s, in, fail) : 0;
}

int input_begin(struct source *s, struct input *in, uint64_t left, void *room, size_t cap,
		struct fail *fail)
{
	const uint32_t record = s->spec.record;

	if (input_bounds(s, in, fail) != 0)
		return -1;
	if (in->sliced) {
		/* Who has what follows the last record looks at it, as without slices. */
		in->limit = in->ends ? NO_END : in->first + in->to * record;
		in->first += in->from * record;
	} else if (left <= (NO_END - 1 - in->first) / record) {
		in->limit = in->first + left * record;
	}
	/*
	 * Where samples end before, -n does not end here, and all that follows them is looked at.
	 */
	if (in->limit > in->bound)
		in->limit = NO_END;
	if (in->is_zstd)
		return in->sliced ? part_begin_zstd(s, in, fail) : zstd_begin(in, fail);
	return in->is_file ? file_begin(s, in, fail) : stream_begin(s, in, room, cap, fail);
}
