/* SPDX-License-Identifier: MIT */
/* source_input: checks inputs before the run; opens, prepares and compares single inputs. */
#include "input/source_input.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/tally.h"
#include "format/first.h"
#include "format/sigmf.h"
#include "input/source_open.h"
#include "input/source_text.h"
#include "frames/zstd_job.h"

static bool named_zstd(const char *path)
{
	const size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".zst") == 0;
}

bool source_compressed(const struct source_spec *spec)
{
	return spec->zstd || (!spec->raw && spec->path_count > 0 && named_zstd(spec->paths[0]));
}

bool input_promises_header(const char *path)
{
	const size_t length = strlen(path) - (named_zstd(path) ? 4 : 0);
	const char *const promise = first_promise(path, length);
	char suffix[FIRST_SUFFIX];
	struct sample_type type;
	bool pair;

	(void)first_named(&type, &pair, path, suffix);
	return (promise && strcmp(promise, ".safetensors") != 0) ||
	       strcmp(suffix, &SIGMF_DATA[1]) == 0;
}

/* Does the name of a file promise samples: by a type, as a.f32 does, or by a format? */
static bool promises(const char *name)
{
	const size_t length = strlen(name) - (named_zstd(name) ? 4 : 0);
	char suffix[FIRST_SUFFIX];
	struct sample_type type;
	bool pair;

	return first_promise(name, length) || sigmf_names(name, SIGMF_DATA) ||
	       first_named(&type, &pair, name, suffix);
}

/* Refuse a directory; propose the first files in it, by name, that may hold samples. */
static int refuse_directory(const char *path, struct fail *fail)
{
	enum { SHOWN = 3 };
	struct dirent **list;
	const int n = scandir(path, &list, NULL, alphasort);
	const size_t length = strlen(path);
	const char *const slash = length > 0 && path[length - 1] == '/' ? "" : "/";
	char text[SHOWN * (NAME_MAX + PATH_MAX + 3)] = "";
	size_t used = 0;
	int found = 0;

	for (int i = 0; i < n; i++) {
		if (promises(list[i]->d_name) && found++ < SHOWN)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %s%s%s", path,
						 slash, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (path_is_stdin(path))
		return fail_set(fail, STATUS_SYSTEM, "standard input is a directory");
	if (found == 0)
		return fail_set(fail, STATUS_SYSTEM, "%s is a directory; name its files: %s%s*",
				path, path, slash);
	return fail_set(fail, STATUS_SYSTEM, "%s is a directory; name its files:%.3000s%s", path,
			text, found > SHOWN ? " ..." : "");
}

/* Missing files are reported before the run, not after hours spent on the files before them. */
int input_check_all(const struct source_spec *spec, uint64_t *length, struct fail *fail)
{
	bool known = true;

	*length = 0;
	for (size_t i = 0; i < spec->path_count; i++) {
		const char *const path = spec->paths[i];
		const bool from_stdin = path_is_stdin(path);
		struct stat st;
		if ((from_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0) {
			const int error = errno;
			struct header none;
			/* A SigMF file may say that its data has another name. */
			if (!spec->raw && sigmf_read(&none, path, fail) < 0)
				return -1;
			errno = error;
			return fail_errno(fail, "%s", path_shown(path));
		}
		if (S_ISDIR(st.st_mode))
			return refuse_directory(path, fail);
		if (!from_stdin && access(path, R_OK) != 0)
			return fail_errno(fail, "%s", path);
		if (spec->parts > 0 && part_check(spec, i, st.st_mode, fail) != 0)
			return -1;
		/* Files of size 0, as in /proc, may hold something. */
		known &= S_ISREG(st.st_mode) && st.st_size > 0 && (spec->raw || !named_zstd(path));
		const off_t begin = from_stdin && known ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
		const uint64_t left = begin < st.st_size ? (uint64_t)(st.st_size - begin) : 0;
		*length += left > spec->skip ? left - spec->skip : 0;
	}
	if (!known)
		*length = 0;
	return 0;
}

/* ---- opening ---- */

int input_open(struct source *s, size_t path, struct input **out, struct fail *fail)
{
	const char *const name = s->spec.paths[path];
	const bool early = s->use.record == 0; /* the first input, before source_start */
	const struct content_rules rules = {.raw = s->spec.raw,
					    .zstd = s->spec.zstd,
					    .no_check = s->spec.no_check,
					    .window = early ? s->spec.memory : s->use.memory,
					    .typed = s->spec.typed,
					    .type_said = s->spec.type_said || s->spec.tensor,
					    .memory = s->spec.memory,
					    .tensor = s->spec.tensor};
	struct input *in = calloc(1, sizeof(*in));

	*out = in;
	if (!in)
		return fail_errno(fail, "%s", path_shown(name));
	in->index = path;
	in->name = path_shown(name);
	in->part.begins = in->part.ends = true;
	in->limit = NO_END;
	if (bytes_open(&in->bytes, name, -1, &s->shared, fail) != 0)
		return -1;
	in->is_file = bytes_in_file(in->bytes);
	if (s->spec.known)
		in->content.header = *s->spec.known;
	const int rc = s->spec.known ? 0 : content_open(&in->content, in->bytes, &rules, fail);
	in->kind = s->spec.text.on ? &text_kind : in->content.is_zstd ? &zstd_kind : &plain_kind;
	if (in->content.is_zstd)
		__atomic_store_n(&s->length, 0, __ATOMIC_RELAXED);
	return rc;
}

/* ---- comparing ---- */

static bool same_type(const struct sample_type *a, const struct sample_type *b)
{
	return strcmp(a->name, b->name) == 0;
}

/*
 * Without -t, only one of this input and the first has a header. Is it clear that both have the
 * same type? A name that has no type takes the header's; one that has must agree.
 */
static bool takes_type(const struct source *s, const struct input *in)
{
	const struct header *const h = &in->content.header, *const first = &s->first.said;
	char suffix[FIRST_SUFFIX];
	struct sample_type type;
	bool pair;

	if (h->format) /* then the first type comes from names, or is a default */
		return s->spec.type_said && same_type(&h->type, &s->use.type);
	if (first_named(&type, &pair, s->spec.paths[in->index], suffix))
		return same_type(&type, &first->type) && (pair ? 2 : 1) == first->channels;
	return !sample_type_ambiguous(suffix) && strcmp(suffix, &SIGMF_DATA[1]) != 0;
}

int input_agrees(const struct source *s, const struct input *in, struct fail *fail)
{
	const struct header *h = &in->content.header, *first = &s->first.said;
	const char *const other = s->first.name;

	if (s->spec.raw || in->content.unseen || in->content.absent)
		return 0;
	if (s->spec.typed && h->format && !same_type(&h->type, &s->use.type))
		return fail_set(fail, STATUS_USAGE,
				"--type %s contradicts %s, whose %s header says %s%s",
				s->use.type.name, in->name, h->format, h->type.name,
				content_way_out(&in->content, false));
	if (!s->spec.typed && !h->format != !first->format && !takes_type(s, in))
		return fail_set(
			fail, STATUS_DATA,
			"%s has %s header, but %s has %s; name the type of both with --type",
			in->name, h->format ? "a" : "no", other, first->format ? "one" : "none");
	if (h->format && first->format && !same_type(&h->type, &first->type))
		return fail_set(fail, STATUS_DATA,
				"%s has a %s header that gives %s, but the header of %s gives %s",
				in->name, h->format, h->type.name, other, first->type.name);
	if (h->format && s->use.channels > 0 && h->channels != s->use.channels)
		return fail_set(fail, STATUS_DATA,
				"%s has a %s header that gives %lu channel%s, not %lu", in->name,
				h->format, (unsigned long)h->channels, h->channels == 1 ? "" : "s",
				(unsigned long)s->use.channels);
	if (h->format && s->use.last > 0 && (h->last != s->use.last || h->fortran))
		return fail_set(fail, STATUS_DATA,
				"%s has a %s header with a last axis of %llu%s, but it must be "
				"%llu in C order",
				in->name, h->format, (ull)h->last,
				h->fortran ? " in Fortran order" : "", (ull)s->use.last);
	return 0;
}

/* ---- bounds ---- */

int input_bounds(const struct source *s, struct input *in, struct fail *fail)
{
	const struct header *h = &in->content.header;

	in->begin = offset_sum(h->begin, s->spec.skip);
	in->bound = NO_END;
	if (h->format && h->bytes != HEADER_TO_END) /* no input has NO_END - 1 bytes either */
		in->bound = lesser(offset_sum(h->begin, h->bytes), NO_END - 1);
	return in->begin > in->bound ? input_too_skipped(s, in, fail) : 0;
}

int input_begin(struct source *s, struct input *in, uint64_t left, struct fail *fail)
{
	const uint32_t record = s->use.record, packed = s->use.packed;

	if (input_bounds(s, in, fail) != 0)
		return -1;
	if (s->use.begin)
		s->use.begin[in->index] = in->content.absent ? 0 : in->begin;
	if (s->spec.parts > 0) {
		if (part_cut(s, in, fail) != 0)
			return -1;
	} else if (left != NO_LIMIT && in->begin < NO_END &&
		   left / packed < (NO_END - 1 - in->begin) / record) {
		in->limit = in->begin + layout_records_bytes(left, record, packed);
	}
	/* If the samples end before -n does, the bytes after them are checked. */
	if (in->limit > in->bound)
		in->limit = NO_END;
	return in->kind->begin(s, in, fail);
}
