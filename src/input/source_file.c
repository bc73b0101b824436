/* SPDX-License-Identifier: MIT */
/* source_file: files and block devices: opened, looked at, read by pread at offsets. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/source_input.h"

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

int file_read(const struct input *in, unsigned char *buffer, size_t cap, uint64_t packed,
	      size_t *got, struct fail *fail)
{
	/* A file cannot be longer, and the system refuses all of a read that would go further. */
	const uint64_t most = packed < INT64_MAX ? INT64_MAX - packed : 0;

	if (cap > most)
		cap = (size_t)most;
	*got = 0;
	while (*got < cap) {
		unsigned char *to = buffer + *got;
		ssize_t n = pread(in->fd, to, cap - *got, (off_t)(packed + *got));
		if (n < 0 && errno == EINVAL)
			n = read_within_block(in->fd, to, cap - *got, packed + *got);
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
	const uint32_t record = s->spec.record;
	unsigned char last;
	size_t got;

	if (in->first > INT64_MAX || in->origin + in->first > INT64_MAX)
		return input_too_skipped(s, in, fail);
	in->at = in->first;
	const uint64_t there = in->size > in->origin ? in->size - in->origin : 0;
	const uint64_t end = lesser(there, input_stop(in));
	in->end = end > in->first ? end - (end - in->first) % record : 0;
	/* The last skipped byte must be there: st_size may be 0 (/proc) or too large (/sys). */
	if (s->spec.skip == 0 || in->sliced)
		return 0;
	if (file_read(in, &last, 1, in->origin + in->first - 1, &got, fail) != 0)
		return -1;
	return got == 0 ? input_too_skipped(s, in, fail) : 0;
}
