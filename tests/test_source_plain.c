/* SPDX-License-Identifier: MIT */
/*
 * source_plain: which inputs are known not to be compressed, by a look that leaves them as they
 * were.
 */
#include "input/source.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "scratch.h"

#define MANY 65u

static bool plain(const char *a, const char *b)
{
	char *const paths[] = {(char *)(uintptr_t)a, (char *)(uintptr_t)b};

	return source_plain(&(struct source_spec){.paths = paths, .path_count = b ? 2 : 1});
}

static void named(void)
{
	char *many[MANY];

	scratch_write("plain", "samples", 7);
	scratch_write("zstd", "\050\265\057\375\040\004\041\000\000abcd", 13);
	scratch_write("skippable", "\120\052\115\030\003\000\000\000xyz", 11);
	scratch_write("short", "\050\265", 2);
	scratch_write("one", "a", 1);
	scratch_write("empty", "", 0);
	CHECK(plain("plain", NULL) && plain("one", NULL) && plain("plain", "plain"), "plain files");
	CHECK(!plain("zstd", NULL) && !plain("plain", "zstd") && !plain("zstd", "plain"),
	      "a zstd file");
	CHECK(!plain("skippable", NULL) && !plain("short", NULL), "what may be zstd");
	CHECK(!plain("empty", NULL) &&
		      !plain(/* qemu makes up those of a process */ "/proc/version", NULL),
	      "a size of 0");
	CHECK(!plain("missing", NULL) && !plain(".", NULL) && !plain("/dev/null", NULL), "no file");
	CHECK(source_plain(&(struct source_spec){.path_count = 1, .raw = true}), "--raw");
	for (unsigned i = 0; i < MANY; i++)
		many[i] = (char *)(uintptr_t) "plain";
	CHECK(source_plain(&(struct source_spec){.paths = many, .path_count = MANY - 1}),
	      "64 files");
	CHECK(!source_plain(&(struct source_spec){.paths = many, .path_count = MANY}),
	      "too many to look at");
}

/* Opened, a FIFO would tell its writer that a reader is there. */
static void fifo(void)
{
	CHECK(mkfifo("fifo", 0600) == 0, "fifo");
	CHECK(!plain("fifo", NULL), "a FIFO");
	CHECK(open("fifo", O_WRONLY | O_NONBLOCK) < 0, "somebody reads it");
}

static void redirected(void)
{
	const int fd = open("skippable", O_RDONLY);

	CHECK(dup2(fd, STDIN_FILENO) == STDIN_FILENO && !plain("-", NULL), "a redirected file");
	CHECK(lseek(STDIN_FILENO, 8, SEEK_SET) == 8 && plain("-", NULL), "its end, which is plain");
	CHECK(lseek(STDIN_FILENO, 0, SEEK_CUR) == 8, "the offset was moved");
	CHECK(lseek(STDIN_FILENO, 0, SEEK_END) == 11 && !plain("-", NULL),
	      "nothing left to look at");
	close(fd);
	int ends[2];
	CHECK(pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO, "pipe");
	CHECK(write(ends[1], "samples", 7) == 7 && !plain("-", NULL), "a pipe");
	char rest[8];
	CHECK(read(STDIN_FILENO, rest, sizeof(rest)) == 7, "the pipe was read");
}

int main(void)
{
	scratch_enter();
	named();
	fifo();
	redirected();
	scratch_leave();
	return check_report();
}
