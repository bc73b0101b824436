/* SPDX-License-Identifier: MIT */
/*
 * source_plain: a look at the inputs before the run, so that memory that only decoders need is not
 * reserved for nothing.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/again.h"
#include "base/path.h"
#include "input/source.h"
#include "input/zstd_frame.h"

#define LOOKS 64u /* files at most: each takes a few microseconds, except on a slow network */

/*
 * Does an open file begin differently from zstd? A file of size 0, as in /proc, may still hold
 * something, and may be changed by being read; it counts as not known, and so does one that cannot
 * be read.
 */
static bool begins_plain(int fd, bool redirected)
{
	unsigned char bytes[FRAME_HEADER_MAX];
	struct frame_header header;
	struct stat st;
	const off_t at = redirected ? lseek(fd, 0, SEEK_CUR) : 0;

	if (at < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return false;
	const ssize_t n = pread(fd, bytes, sizeof(bytes), at);
	return n >= 0 && frame_parse(bytes, (size_t)n, &header) == FRAME_OTHER;
}

static bool is_plain(const struct source_spec *spec, const char *path)
{
	struct stat st;

	/* With a tee standard input is already being read, and its offset has moved. */
	if (path_is_stdin(path))
		return !spec->tee && begins_plain(STDIN_FILENO, true);
	/* Only regular files are opened: the writer of a FIFO, or a device, would notice. */
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	const int fd = open_again(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	const bool plain = begins_plain(fd, false);
	close(fd);
	return plain;
}

bool source_plain(const struct source_spec *spec)
{
	if (spec->raw || spec->path_count > LOOKS)
		return spec->raw;
	for (size_t i = 0; i < spec->path_count; i++)
		if (!is_plain(spec, spec->paths[i]))
			return false;
	return true;
}

uint64_t source_length(const struct source_spec *spec)
{
	uint64_t bytes = 0;
	struct stat st;

	if (spec->path_count > LOOKS)
		return 0;
	for (size_t i = 0; i < spec->path_count; i++) {
		const bool redirected = path_is_stdin(spec->paths[i]);
		const off_t at = redirected ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
		if ((!spec->raw && !is_plain(spec, spec->paths[i])) || at < 0 ||
		    (redirected ? fstat(STDIN_FILENO, &st) : stat(spec->paths[i], &st)) != 0 ||
		    !S_ISREG(st.st_mode))
			return 0;
		const uint64_t there = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
		bytes += there > spec->skip ? there - spec->skip : 0;
	}
	return spec->limit < bytes / spec->record ? spec->limit * spec->record
						  : bytes - bytes % spec->record;
}
