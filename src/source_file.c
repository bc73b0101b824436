/*
 * source_file: files and block devices, read by pread at offsets.
 *
 * The whole records that a file has when it is opened are claimed piece by piece under the
 * lock and read in parallel without it. Then one reader at a time looks behind them, lock
 * held, until it reads the end: a file that grew meanwhile, or one whose size is told as 0
 * (as in /proc), is read as far as it goes. A piece that comes back short says that the file
 * shrank: it ends there.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "source_input.h"

int file_read(const struct input *in, unsigned char *buffer, size_t cap, uint64_t offset,
	      size_t *got, struct fail *fail)
{
	*got = 0;
	while (*got < cap) {
		ssize_t n = pread(in->fd, buffer + *got, cap - *got, (off_t)(offset + *got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(fail, "%s", in->name);
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	return 0;
}

int file_begin(struct source *s, struct input *in, struct fail *fail)
{
	struct stat st;
	unsigned char magic[SNIFF_BYTES];
	size_t got;

	/* A redirected file starts where its offset stands; a device tells its size by seeking. */
	off_t here = in->owned ? 0 : lseek(in->fd, 0, SEEK_CUR);
	if (here < 0 || fstat(in->fd, &st) != 0)
		return fail_errno(fail, "%s", in->name);
	uint64_t size = (uint64_t)st.st_size;
	if (S_ISBLK(st.st_mode)) {
		off_t end = lseek(in->fd, 0, SEEK_END);
		if (end < 0 || lseek(in->fd, here, SEEK_SET) < 0)
			return fail_errno(fail, "%s", in->name);
		size = (uint64_t)end;
	}
	uint64_t offset = (uint64_t)here;
	if (!s->spec.raw) {
		if (file_read(in, magic, sizeof(magic), offset, &got, fail) != 0)
			return -1;
		const int kind = input_sniff(s, in, magic, got, fail);
		if (kind != 0)
			return kind < 0 ? -1 : zstd_begin(s, in, offset, size, fail);
	}
	in->start = offset + s->spec.skip;
	if (in->start < offset || in->start > INT64_MAX)
		return fail_set(fail, STATUS_DATA, "%s: ends before the %llu bytes to skip",
				in->name, (unsigned long long)s->spec.skip);
	/* The byte in front of the first record must be there; st_size alone may say 0. */
	if (s->spec.skip > 0 && in->start > size) {
		if (file_read(in, magic, 1, in->start - 1, &got, fail) != 0)
			return -1;
		if (got == 0)
			return fail_set(fail, STATUS_DATA, "%s: ends before the %llu bytes to skip",
					in->name, (unsigned long long)s->spec.skip);
	}
	s->totals.bytes += s->spec.skip;
	s->totals.skipped += s->spec.skip;
	const uint64_t whole = size > in->start ? size - in->start : 0;
	in->next = in->start;
	in->end = in->start + whole - whole % s->spec.record;
	return 0;
}

/* The next `bytes` are the caller's: he is a reader until take. */
static void claim(struct source *s, struct input *in, size_t bytes)
{
	in->next += bytes;
	in->readers++;
	s->claimed++;
	if (s->budget != UINT64_MAX)
		s->budget -= bytes / s->spec.record;
}

/* Accounts for what a piece brought: whole records to the caller, the rest is the tail. */
static void take(struct source *s, struct input *in, size_t claimed, size_t read, size_t *got)
{
	const uint32_t record = s->spec.record;

	*got = read - read % record;
	s->totals.bytes += read;
	if (read < claimed) { /* it ends here; give back what -n had reserved */
		in->ended = true;
		in->tail += read % record;
		if (s->budget != UINT64_MAX)
			s->budget += (claimed - *got) / record;
	}
}

int file_fill(struct source *s, struct input *in, unsigned char *buffer, size_t cap, size_t *got,
	      struct fail *fail)
{
	const uint64_t offset = in->next;
	size_t read = 0;

	if (offset < in->end) {
		const size_t claimed = in->end - offset < cap ? (size_t)(in->end - offset) : cap;
		claim(s, in, claimed);
		pthread_mutex_unlock(&s->lock);
		int rc = file_read(in, buffer, claimed, offset, &read, fail);
		pthread_mutex_lock(&s->lock);
		in->readers--;
		s->claimed--;
		if (rc != 0) {
			in->ended = true;
			return -1;
		}
		take(s, in, claimed, read, got);
		return 0;
	}
	if (file_read(in, buffer, cap, offset, &read, fail) != 0) {
		in->ended = true;
		return -1;
	}
	if (s->budget != UINT64_MAX)
		s->budget -= cap / s->spec.record;
	take(s, in, cap, read, got);
	in->next += *got;
	return 0;
}

/* Is this byte of the file in the page cache? Where the system cannot say, it is taken to be. */
static bool resident(int fd, uint64_t offset)
{
#ifdef RWF_NOWAIT
	unsigned char byte;
	struct iovec one = {.iov_base = &byte, .iov_len = 1};

	return preadv2(fd, &one, 1, (off_t)offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
#else
	(void)fd, (void)offset;
	return true;
#endif
}

/*
 * A piece is at most an eighth of what is left, so that nobody is still busy with a large one
 * when the others are done. Mapping what must be read from the disk would read it page by page.
 */
#define PIECE_LEAST ((size_t)2 << 20)

void file_claim(struct source *s, struct input *in, size_t cap, struct source_piece *piece)
{
	uint64_t left = in->end - in->next;

	if (!in->is_regular || in->ended || in->next >= in->end)
		return;
	/* Whoever maps several pieces could not wait for them in front of the next input. */
	if (s->budget != UINT64_MAX && s->next_path < s->spec.path_count)
		return;
	if (s->budget < left / s->spec.record)
		left = s->budget * s->spec.record;
	size_t bytes = left / 8 < cap ? (size_t)(left / 8) : cap;
	bytes -= bytes % s->spec.record;
	if (bytes < PIECE_LEAST || !resident(in->fd, in->next) ||
	    !resident(in->fd, in->next + bytes / 2) || !resident(in->fd, in->next + bytes - 1))
		return;
	*piece = (struct source_piece){
		.input = in, .fd = in->fd, .offset = in->next, .bytes = bytes};
	claim(s, in, bytes);
}

void file_return(struct source *s, const struct source_piece *piece, size_t counted)
{
	size_t got;

	piece->input->readers--;
	s->claimed--;
	take(s, piece->input, piece->bytes, counted, &got);
}

bool source_intact(const struct source_piece *piece)
{
	struct stat st;

	return fstat(piece->fd, &st) == 0 && st.st_size >= 0 &&
	       (uint64_t)st.st_size >= piece->offset + piece->bytes;
}

int source_read(const struct source_piece *piece, size_t at, void *buffer, size_t cap, size_t *got,
		struct fail *fail)
{
	return file_read(piece->input, buffer, cap, piece->offset + at, got, fail);
}
