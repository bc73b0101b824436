/* source: the list of inputs; which one is read now, and what was taken from them. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "again.h"
#include "source_input.h"
#include "zstd_frame.h"

#define FULL_FILLS 64
#define MEMORY_DEFAULT ((uint64_t)256 << 20)
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
	if (s->spec.threads == 0)
		s->spec.threads = 1;
	if (s->spec.memory == 0)
		s->spec.memory = MEMORY_DEFAULT;
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
		/* Four bytes are the magic number and nothing else yet. */
		const enum frame_kind kind = frame_parse(bytes, four, &header);
		if (kind == FRAME_SHORT)
			return 1;
		if (kind == FRAME_LEGACY)
			return fail_set(fail, STATUS_DATA,
					"%s: compressed by zstd before 0.8: pipe it through a `zstd -dc` that still reads it, or count it as it is with --raw",
					in->name);
	}
	for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++)
		if (length >= FORMATS[i].offset + (size_t)FORMATS[i].length &&
		    memcmp(bytes + FORMATS[i].offset, FORMATS[i].magic, FORMATS[i].length) == 0 &&
		    (FORMATS[i].offset == 0 || memcmp(bytes, "BZh", 3) == 0))
			return fail_set(fail, STATUS_DATA,
					"%s: compressed by %s: pipe it through `%s`, or count it as it is with --raw",
					in->name, FORMATS[i].format, FORMATS[i].command);
	if (s->spec.zstd)
		return fail_set(fail, STATUS_DATA, "%s: not compressed by zstd, which --zstd requires", in->name);
	return 0;
}

void input_free(struct input *in)
{
	zstd_input_free(in->zstd);
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
	in->fd = in->owned ? open_again(path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0) : STDIN_FILENO;
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

int input_settle(struct source *s, struct input *in, int rc, struct fail *fail)
{
	if (in->ended && s->current == in)
		leave_current(s);
	if (in->ended && in->readers == 0)
		rc = end_input(s, in, rc, fail);
	if (rc != 0)
		s->stopped = true;
	return rc;
}

/* Samples that lie in the input as they are. Lock held. */
static int fill_plain(struct source *s, struct input *in, struct request *r)
{
	size_t cap = r->cap;

	if (!in->is_file && cap > STREAM_PIECE)
		cap = STREAM_PIECE - STREAM_PIECE % s->spec.record;
	const uint64_t allowed =
		s->budget < cap / s->spec.record ? s->budget * s->spec.record : cap;
	const int rc = in->is_file ? file_fill(s, in, r->buffer, (size_t)allowed, &r->got, r->fail)
				   : stream_fill(s, in, r->buffer, (size_t)allowed, &r->got, r->fail);
	return input_settle(s, in, rc, r->fail);
}

static bool answered(const struct request *r)
{
	return r->got > 0 || (r->lease && r->lease->bytes > 0);
}

static int fill(struct source *s, struct request *r)
{
	int rc = 0;

	r->cap -= r->cap % s->spec.record;
	pthread_mutex_lock(&s->lock);
	if (r->lease)
		rc = zstd_return(s, r->lease, r->fail);
	while (rc == 0 && !answered(r) && !s->stopped && s->budget > 0) {
		if (zstd_pending(s) || (s->current && s->current->zstd)) {
			rc = zstd_fill(s, r);
			if (rc != 0 || answered(r) || s->stopped || s->budget == 0 || (s->current && s->current->zstd))
				continue;
		}
		if (s->current) {
			rc = fill_plain(s, s->current, r);
		} else if (s->budget != UINT64_MAX && s->claimed > 0 && s->next_path < s->spec.path_count) {
			/* What -n leaves for the next input is known when these are read. */
			pthread_mutex_unlock(&s->lock);
			nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
			pthread_mutex_lock(&s->lock);
		} else {
			rc = open_next(s, r->buffer, r->cap, r->fail);
			if (!s->current && !zstd_pending(s))
				break;
		}
	}
	if (rc != 0)
		s->stopped = true;
	pthread_mutex_unlock(&s->lock);
	if (rc != 0)
		source_stop(s);
	return rc;
}

int source_fill(struct source *s, void *buffer, size_t cap, size_t *got, struct fail *fail)
{
	struct request r = {.buffer = buffer, .cap = cap, .fail = fail};
	const int rc = fill(s, &r);

	*got = rc == 0 ? r.got : 0;
	return rc;
}

int source_lend(struct source *s, void *buffer, size_t cap, struct source_lease *lease,
		struct fail *fail)
{
	struct request r = {.buffer = buffer, .cap = cap, .lease = lease, .fail = fail};
	const int rc = fill(s, &r);

	if (rc == 0 && !lease->decoder)
		*lease = (struct source_lease){.data = buffer, .bytes = r.got};
	return rc;
}

int source_return_lease(struct source *s, struct source_lease *lease, struct fail *fail)
{
	pthread_mutex_lock(&s->lock);
	const int rc = zstd_return(s, lease, fail);
	s->stopped |= rc != 0;
	pthread_mutex_unlock(&s->lock);
	if (rc != 0)
		source_stop(s);
	return rc;
}

void source_claim(struct source *s, size_t cap, struct source_piece *piece)
{
	*piece = (struct source_piece){.bytes = 0};
	pthread_mutex_lock(&s->lock);
	if (s->current && !s->current->zstd && !s->stopped)
		file_claim(s, s->current, cap, piece);
	pthread_mutex_unlock(&s->lock);
}

int source_return(struct source *s, struct source_piece *piece, size_t counted, struct fail *fail)
{
	pthread_mutex_lock(&s->lock);
	file_return(s, piece, counted);
	int rc = input_settle(s, piece->input, 0, fail);
	pthread_mutex_unlock(&s->lock);
	*piece = (struct source_piece){.bytes = 0};
	if (rc != 0)
		source_stop(s);
	return rc;
}

void source_take_spare(struct source *s)
{
	pthread_mutex_lock(&s->lock);
	s->spec.memory_spare = 0;
	pthread_mutex_unlock(&s->lock);
}

bool source_backlog(struct source *s)
{
	pthread_mutex_lock(&s->lock);
	const struct input *in = s->current;
	const bool backlog = in && (in->zstd ? zstd_backlog(s, in) : in->is_file || in->full >= FULL_FILLS);
	pthread_mutex_unlock(&s->lock);
	return backlog;
}

void source_wake(struct source *s)
{
	(void)!write(s->wake[1], "", 1);
	zstd_wake(s);
}

void source_stop(struct source *s)
{
	/* Under the lock a stream's reader may sit in poll: wake it first, by the pipe. */
	(void)!write(s->wake[1], "", 1);
	pthread_mutex_lock(&s->lock);
	s->stopped = true;
	zstd_wake(s);
	pthread_mutex_unlock(&s->lock);
}

bool source_finished(const struct source *s)
{
	return s->budget == 0 || (!s->current && s->next_path == s->spec.path_count && !zstd_pending(s));
}

const struct source_totals *source_totals(struct source *s)
{
	if (s->current && s->current->zstd) /* -n has ended inside it */
		zstd_account(s, s->current->zstd);
	return &s->totals;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	zstd_close(s);
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
