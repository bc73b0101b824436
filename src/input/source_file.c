/* SPDX-License-Identifier: MIT */
/*
 * source_file: files and block devices, read by pread at offsets.
 *
 * The whole records that a file has when it is opened are claimed piece by piece under the
 * lock and read in parallel without it. Then one reader at a time looks past them until it
 * reads the end: a file that grew meanwhile, or one whose size is given as 0 (as in /proc), is
 * read as far as it goes. The file ends where a piece comes back short: it became shorter, which
 * is an error, or it never held what its size says (as in /sys).
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/zstd_read.h"

/*
 * The same as pread for files that return only whole words or blocks at aligned offsets, and EINVAL
 * otherwise: /proc/PID/pagemap and /proc/kpagecount, and files opened with O_DIRECT.
 */
#define BLOCK 4096

static ssize_t read_within_block(int fd, unsigned char *buffer, size_t cap, uint64_t offset)
{
	_Alignas(BLOCK) unsigned char block[BLOCK];
	const size_t before = offset % BLOCK;
	const ssize_t n = pread(fd, block, BLOCK, (off_t)(offset - before));

	if (n < 0 || (size_t)n <= before)
		return n < 0 ? -1 : 0;
	const size_t there = (size_t)n - before;
	const size_t taken = there < cap ? there : cap;
	memcpy(buffer, block + before, taken);
	return (ssize_t)taken;
}

int file_read(const struct input *in, unsigned char *buffer, size_t cap, uint64_t offset,
	      size_t *got, struct fail *fail)
{
	/* A file cannot be longer, and the system refuses all of a read that would go further. */
	const uint64_t most = offset < INT64_MAX ? INT64_MAX - offset : 0;

	if (cap > most)
		cap = (size_t)most;
	*got = 0;
	while (*got < cap) {
		unsigned char *to = buffer + *got;
		ssize_t n = pread(in->fd, to, cap - *got, (off_t)(offset + *got));
		if (n < 0 && errno == EINVAL)
			n = read_within_block(in->fd, to, cap - *got, offset + *got);
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

int file_open(struct source *s, struct input *in, struct fail *fail)
{
	struct stat st;
	unsigned char first[FIRST_TEXT];
	size_t got;

	/* A redirected file starts at its offset; seeking finds the size of a device. */
	off_t here = in->owned ? 0 : lseek(in->fd, 0, SEEK_CUR);
	if (here < 0 || fstat(in->fd, &st) != 0)
		return fail_errno(fail, "%s", in->name);
	in->size = (uint64_t)st.st_size;
	in->changed = st.st_ctim;
	if (S_ISBLK(st.st_mode)) {
		off_t end = lseek(in->fd, 0, SEEK_END);
		if (end < 0 || lseek(in->fd, here, SEEK_SET) < 0)
			return fail_errno(fail, "%s", in->name);
		in->size = (uint64_t)end;
	}
	in->origin = (uint64_t)here;
	if (s->spec.raw)
		return 0;
	const size_t most = text_open(&in->text) ? FIRST_TEXT : FIRST_BYTES;
	if (file_read(in, first, most, in->origin, &got, fail) != 0)
		return -1;
	const int kind = input_sniff(s, in, first, got, fail);
	in->is_zstd = kind > 0;
	in->magic = kind == 0 && header_magic(first, got, true) == HEADER_FOUND;
	if (kind == 0 && !in->magic)
		return input_look_for_text(in, first, got, got < most, fail);
	return kind < 0 ? -1 : 0;
}

int file_begin(struct source *s, struct input *in, struct fail *fail)
{
	unsigned char last;
	size_t got;

	in->start = in->origin + in->first;
	if (in->start < in->origin || in->start > INT64_MAX)
		return input_too_skipped(s, in, fail);
	in->skipped = in->begins ? s->spec.skip : 0;
	/* For a slice it is known what the file holds. */
	if (in->sliced) {
		in->next = in->start;
		in->end = in->stop = in->origin + in->until;
		return 0;
	}
	/* The last skipped byte must be there: st_size may be 0 (/proc) or too large (/sys). */
	if (s->spec.skip > 0) {
		if (file_read(in, &last, 1, in->start - 1, &got, fail) != 0)
			return -1;
		if (got == 0)
			return input_too_skipped(s, in, fail);
	}
	in->stop = in->bound < NO_END - in->origin ? in->origin + in->bound : NO_END;
	const uint64_t end = in->size < in->stop ? in->size : in->stop;
	const uint64_t whole = end > in->start ? end - in->start : 0;
	in->next = in->start;
	in->end = in->start + whole - whole % s->spec.record;
	return 0;
}

/*
 * Claims the next bytes up to `most`, whole records within -n. The caller is a user of the file
 * until settle.
 */
static size_t claim(struct source *s, struct input *in, uint64_t most)
{
	const uint64_t records = budget_take(s, most / s->spec.record);

	in->next += records * s->spec.record;
	return (size_t)(records * s->spec.record);
}

/*
 * Did the file have more than `end` bytes when it was opened? Files in /sys hold less than st_size
 * says, then and now. So a file became shorter only if its st_size fell, or if it was changed: one
 * that is written anew, as `cp` does, may have its old size again by now. A device's size is true.
 */
static bool became_shorter(const struct input *in, uint64_t end)
{
	struct stat st;

	if (end >= in->size || end >= in->stop)
		return false;
	return !in->is_regular || fstat(in->fd, &st) != 0 || (uint64_t)st.st_size < in->size ||
	       st.st_ctim.tv_sec != in->changed.tv_sec || st.st_ctim.tv_nsec != in->changed.tv_nsec;
}

/*
 * Accounts for what a claimed piece brought: whole records go to the caller, the rest is the tail.
 */
static size_t settle(struct source *s, struct input *in, uint64_t offset, size_t claimed,
		     size_t read)
{
	const size_t whole = read - read % s->spec.record;

	if (read < claimed) { /* the file ends here; give back what was taken of -n */
		in->state = INPUT_ENDED;
		in->shorter |= in->sliced || became_shorter(in, offset + read);
		in->cut |= in->stop != NO_END;
		in->tail += read - whole;
		budget_give(s, (claimed - whole) / s->spec.record);
	}
	return whole;
}

/* The size of the next range; 0: read the next piece instead. */
static size_t range_bytes(const struct source *s, const struct input *in, const struct want *want)
{
	uint64_t left = in->end - in->next;

	/* A worker that holds ranges could not wait for them before the next input. */
	if (!in->is_regular || (s->budget != UINT64_MAX && s->next_path < s->spec.path_count))
		return 0;
	if (s->budget < left / s->spec.record)
		left = s->budget * s->spec.record;
	return (size_t)(left < want->range ? left : want->range) / s->spec.record * s->spec.record;
}

/*
 * Less than a record is left of the samples that the header declares: takes the tail, and checks
 * what follows them.
 */
static int finish_unlocks(struct source *s, struct input *in, struct request *q)
{
	const size_t left = (size_t)(in->stop - in->next);
	size_t there = 0;

	in->state = INPUT_BUSY;
	lock_drop(&s->lock);
	int rc = file_read(in, q->want->buffer, left, in->next, &there, q->fail);
	if (rc == 0)
		rc = input_read_rest(s, in, q->fail);
	lock_take(&s->lock);
	in->tail = there;
	in->cut = there < left;
	in->state = INPUT_ENDED;
	/* A redirected file is left where the next program would begin. */
	if (in->size > in->next)
		in->next = in->size;
	return input_leave(s, in, rc, q->fail);
}

int file_take_unlocks(struct source *s, struct input *in, struct request *q)
{
	const uint64_t offset = in->next, left = in->stop - offset;
	const bool inside = offset < in->end;
	const size_t range = inside && q->want->range > 0 ? range_bytes(s, in, q->want) : 0;
	size_t read = 0;

	if (left == 0 && in->sliced) {
		in->state = INPUT_ENDED;
		return input_leave(s, in, 0, q->fail);
	}
	if (left < s->spec.record)
		return finish_unlocks(s, in, q);
	if (range > 0) {
		*q->chunk = (struct chunk){
			.bytes = claim(s, in, range), .fd = in->fd, .offset = offset, .input = in};
		return 0;
	}
	const uint64_t most = inside ? in->end - offset : left;
	const size_t claimed = claim(s, in, most < q->cap ? most : q->cap);
	/*
	 * Past the end that the file had when it was opened, what the next reader finds depends on
	 * what this one does.
	 */
	in->state = inside ? INPUT_FREE : INPUT_BUSY;
	lock_drop(&s->lock);
	const int rc = file_read(in, q->want->buffer, claimed, offset, &read, q->fail);
	lock_take(&s->lock);
	if (!inside) {
		in->state = INPUT_FREE;
		in->next = offset + read - read % s->spec.record;
		source_call(s);
	}
	if (rc != 0)
		in->state = INPUT_ENDED;
	q->got = settle(s, in, offset, claimed, read);
	return input_leave(s, in, rc, q->fail);
}

int file_return(struct source *s, const struct chunk *range, size_t counted, struct fail *fail)
{
	settle(s, range->input, range->offset, range->bytes, counted);
	return input_leave(s, range->input, 0, fail);
}

int source_read(const struct chunk *range, size_t at, void *buffer, size_t cap, size_t *got,
		struct fail *fail)
{
	return file_read(range->input, buffer, cap, range->offset + at, got, fail);
}
