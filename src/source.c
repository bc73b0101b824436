/* source: the list of inputs; which one is read now, and what was taken from them. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source_input.h"

#define FULL_FILLS 64
#define STREAM_PIECE ((size_t)128 << 10) /* of a stream at once: what is read stays in the cache */

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

static const char *shown(const char *path)
{
	return is_stdin(path) ? "standard input" : *path ? path : "''";
}

/* Of one input, behind what is skipped; 0 for what is not a file. */
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

	for (size_t i = 0; i < s->spec.path_count; i++)
		bytes += known_bytes(&s->spec, s->spec.paths[i]);
	if (s->spec.limit < bytes / s->spec.record)
		return s->spec.limit * s->spec.record;
	return bytes;
}

/* A missing file is told of before hours are spent on the ones in front of it. */
static int check_inputs(const struct source_spec *spec, struct fail *fail)
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

int source_open(struct source **out, const struct source_spec *spec, struct fail *fail)
{
	*out = NULL;
	if (check_inputs(spec, fail) != 0)
		return -1;
	struct source *s = calloc(1, sizeof(*s));
	if (!s)
		return fail_errno(fail, "inputs");
	s->spec = *spec;
	s->budget = spec->limit;
	if (pipe(s->wake) != 0) {
		fail_errno(fail, "pipe");
		goto free_source;
	}
	if (pthread_mutex_init(&s->lock, NULL) != 0) {
		fail_set(fail, STATUS_SYSTEM, "lock: cannot be made");
		goto close_pipe;
	}
	*out = s;
	return 0;
close_pipe:
	close(s->wake[0]);
	close(s->wake[1]);
free_source:
	free(s);
	return -1;
}

int input_sniff(const struct input *in, const unsigned char *bytes, size_t length,
		struct fail *fail)
{
	static const struct {
		const char *format, *command;
		unsigned char offset, length, magic[6];
	} FORMATS[] = {
		{"zstd", "zstd -dc", 0, 4, {0x28, 0xb5, 0x2f, 0xfd}},
		{"gzip", "gzip -dc", 0, 3, {0x1f, 0x8b, 0x08}},
		{"xz", "xz -dc", 0, 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
		/* "BZh", a digit, and then the digits of pi that begin a block */
		{"bzip2", "bzip2 -dc", 4, 6, {'1', 'A', 'Y', '&', 'S', 'Y'}},
		{"lz4", "lz4 -dc", 0, 4, {0x04, 0x22, 0x4d, 0x18}},
	};

	/* A zstd stream may begin with a skippable frame: sixteen magic numbers in one. */
	const unsigned char zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
	if (length >= 4 && bytes[0] >> 4 == 5 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0)
		return input_sniff(in, zstd, sizeof(zstd), fail);
	for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++)
		if (length >= FORMATS[i].offset + (size_t)FORMATS[i].length &&
		    memcmp(bytes + FORMATS[i].offset, FORMATS[i].magic, FORMATS[i].length) == 0 &&
		    (FORMATS[i].offset == 0 || memcmp(bytes, "BZh", 3) == 0))
			return fail_set(fail, STATUS_DATA,
					"%s: compressed by %s: pipe it through `%s`, or count it as it is with --raw",
					in->name, FORMATS[i].format, FORMATS[i].command);
	return 0;
}

static void input_free(struct input *in)
{
	if (in->owned)
		close(in->fd);
	free(in);
}

/* No more of the current input will be claimed; pieces of it may still be on their way. */
static void leave_current(struct source *s)
{
	struct input *in = s->current;

	/* Before anybody can open standard input a second time. */
	if (!in->owned && in->is_file)
		(void)lseek(in->fd, (off_t)in->next, SEEK_SET);
	s->current = NULL;
}

/* Opens the next input; s->current stays NULL when there is none left. */
static int open_next(struct source *s, unsigned char *buffer, size_t cap, struct fail *fail)
{
	if (s->next_path == s->spec.path_count)
		return 0;
	const char *path = s->spec.paths[s->next_path++];
	struct input *in = calloc(1, sizeof(*in));
	if (!in)
		return fail_errno(fail, "%s", shown(path));
	in->name = shown(path);
	in->owned = !is_stdin(path);
	in->fd = in->owned ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
	struct stat st;
	if (in->fd < 0 || fstat(in->fd, &st) != 0) {
		fail_errno(fail, "%s", in->name);
		in->owned = in->fd >= 0 && in->owned;
		goto free_input;
	}
	in->is_regular = S_ISREG(st.st_mode);
	in->is_file = in->is_regular || S_ISBLK(st.st_mode);
	s->totals.inputs++;
	if (!in->is_file)
		s->totals.streamed = true;
	if ((in->is_file ? file_begin(s, in, fail) : stream_begin(s, in, buffer, cap, fail)) != 0)
		goto free_input;
	s->current = in;
	return 0;
free_input:
	input_free(in);
	return -1;
}

/* The last reader of an input that has ended: is what it left a partial record? */
static int end_input(struct source *s, struct input *in, int rc, struct fail *fail)
{
	const uint64_t tail = in->tail;
	const char *name = in->name;

	input_free(in);
	if (tail == 0 || rc != 0)
		return rc;
	s->totals.tail += tail;
	s->totals.tails++;
	if (s->spec.ignore_tail)
		return 0;
	return fail_set(fail, STATUS_DATA,
			"%s: ends inside a record: %llu of %lu bytes (--ignore-tail counts without it)",
			name, (unsigned long long)tail, (unsigned long)s->spec.record);
}

/* Whoever finds the end takes the input off; the last reader closes it. */
static int settle(struct source *s, struct input *in, int rc, struct fail *fail)
{
	if (in->ended && s->current == in)
		leave_current(s);
	if (in->ended && in->readers == 0)
		rc = end_input(s, in, rc, fail);
	if (rc != 0)
		s->stopped = true;
	return rc;
}

int source_fill(struct source *s, void *buffer, size_t cap, size_t *got, struct fail *fail)
{
	int rc = 0;

	*got = 0;
	cap -= cap % s->spec.record;
	pthread_mutex_lock(&s->lock);
	while (rc == 0 && *got == 0 && !s->stopped && s->budget > 0) {
		if (!s->current) {
			rc = open_next(s, buffer, cap, fail);
			if (!s->current)
				break;
			continue;
		}
		struct input *in = s->current;
		if (!in->is_file && cap > STREAM_PIECE)
			cap = STREAM_PIECE - STREAM_PIECE % s->spec.record;
		const uint64_t allowed = s->budget < cap / s->spec.record
						 ? s->budget * s->spec.record
						 : cap;
		rc = in->is_file ? file_fill(s, in, buffer, (size_t)allowed, got, fail)
				 : stream_fill(s, in, buffer, (size_t)allowed, got, fail);
		rc = settle(s, in, rc, fail);
	}
	if (rc != 0)
		s->stopped = true;
	pthread_mutex_unlock(&s->lock);
	if (rc != 0) {
		*got = 0;
		source_stop(s);
	}
	return rc;
}

void source_claim(struct source *s, size_t cap, struct source_piece *piece)
{
	*piece = (struct source_piece){.bytes = 0};
	pthread_mutex_lock(&s->lock);
	if (s->current && !s->stopped)
		file_claim(s, s->current, cap, piece);
	pthread_mutex_unlock(&s->lock);
}

int source_return(struct source *s, struct source_piece *piece, size_t counted, struct fail *fail)
{
	pthread_mutex_lock(&s->lock);
	file_return(s, piece, counted);
	int rc = settle(s, piece->input, 0, fail);
	pthread_mutex_unlock(&s->lock);
	*piece = (struct source_piece){.bytes = 0};
	if (rc != 0)
		source_stop(s);
	return rc;
}

bool source_backlog(struct source *s)
{
	pthread_mutex_lock(&s->lock);
	const bool backlog = s->current && (s->current->is_file || s->current->full >= FULL_FILLS);
	pthread_mutex_unlock(&s->lock);
	return backlog;
}

void source_stop(struct source *s)
{
	/* Under the lock a stream's reader may sit in poll: wake it first, by the pipe. */
	(void)!write(s->wake[1], "", 1);
	pthread_mutex_lock(&s->lock);
	s->stopped = true;
	pthread_mutex_unlock(&s->lock);
}

bool source_finished(const struct source *s)
{
	return s->budget == 0 || (!s->current && s->next_path == s->spec.path_count);
}

const struct source_totals *source_totals(const struct source *s)
{
	return &s->totals;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	if (s->current) {
		struct input *in = s->current;
		leave_current(s);
		input_free(in);
	}
	close(s->wake[0]);
	close(s->wake[1]);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
