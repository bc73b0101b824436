/* SPDX-License-Identifier: MIT */
/*
 * source: files whose size is wrong; sockets and pipes that keep messages apart; a look at files
 * before they are opened; buffers of jobs. One reader at a time; the jobs of the source
 * (tests/source) have several.
 */
#include "input/source_open.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/huge.h"
#include "check.h"
#include "frames/zstd_job.h"
#include "scratch.h"
#include "take.h"

struct result {
	char data[65536];
	size_t used;
	int rc;
	struct source_totals totals;
	struct fail fail;
};

/* Read until the end, the limit or an error, cap bytes at a time. */
static struct result read_spec(const struct setup *spec, size_t cap)
{
	struct result r = {.rc = 0};
	struct source *s;
	size_t got = 0;

	r.rc = setup_open(&s, spec, &r.fail);
	if (r.rc != 0)
		return r;
	struct reader *const reader = source_reader(s);
	while ((r.rc = take_copy(reader, r.data + r.used, cap, &got, &r.fail)) == 0 && got > 0) {
		r.used += got;
		if (r.used + cap > sizeof(r.data))
			break;
	}
	r.totals = *source_totals(s);
	source_close(s);
	return r;
}

/* A file of the greatest possible length: reads stop where offsets end. */
static void longest(void)
{
	const int fd = memfd_create("longest", MFD_CLOEXEC);
	char path[64], *const paths[] = {path};
	struct setup spec = {.open.paths = paths,
			     .open.path_count = 1,
			     .use.limit = UINT64_MAX,
			     .use.record = 4};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || ftruncate(fd, INT64_MAX) != 0 || pwrite(fd, "last", 4, INT64_MAX - 4) != 4) {
		printf("left out: a file of 2^63 - 1 bytes (%s)\n", strerror(errno));
		close(fd);
		return;
	}
	spec.open.skip = INT64_MAX - 5, spec.open.ignore_tail = true, spec.use.record = 3;
	for (size_t cap = 3; cap <= 24; cap++) {
		const struct result r = read_spec(&spec, cap);
		CHECK(r.rc == 0 && r.used == 3 && memcmp(r.data, "\0la", 3) == 0 &&
			      r.totals.tail == 2,
		      "%zu bytes %s", r.used, r.fail.text);
	}
	close(fd);
}

/* ---- files whose size is wrong ---- */

/* Both hold fewer or more bytes than st_size gives, and do not change. */
static void sizes_that_lie(void)
{
	static char *const FILES[] = {"/sys/kernel/mm/transparent_hugepage/enabled",
				      "/proc/version"};

	for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
		FILE *f = fopen(FILES[i], "r");
		char text[2048];
		const size_t length = f ? fread(text, 1, sizeof(text), f) : 0;
		if (f)
			fclose(f);
		if (length == 0) {
			printf("left out: %s does not exist\n", FILES[i]);
			continue;
		}
		char *const paths[] = {FILES[i]};
		struct setup spec = {.open.paths = paths,
				     .open.path_count = 1,
				     .use.limit = UINT64_MAX,
				     .use.record = 1};
		for (uint64_t skip = 0; skip <= length; skip++) {
			spec.open.skip = skip;
			const struct result r = read_spec(&spec, 16);
			CHECK(r.rc == 0 && r.used == length - skip &&
				      memcmp(r.data, text + skip, r.used) == 0,
			      "%s, skip %llu: %zu bytes %s", FILES[i], (unsigned long long)skip,
			      r.used, r.fail.text);
		}
		for (uint64_t skip = length + 1; skip < 10000; skip = skip * 3 / 2) {
			spec.open.skip = skip;
			const struct result r = read_spec(&spec, 16);
			CHECK(r.rc == -1 && r.fail.status == STATUS_DATA &&
				      strstr(r.fail.text, "ends before the "),
			      "%s, skip %llu: %d '%s'", FILES[i], (unsigned long long)skip, r.rc,
			      r.fail.text);
		}
	}
}

/* A slice that finds less than a size promises says so. */
static void slices_of_lies(void)
{
	static char *const SYS[] = {"/sys/kernel/mm/transparent_hugepage/enabled"};

	for (unsigned i = 0; i < 4 && access(SYS[0], R_OK) == 0; i++) {
		const struct setup spec = {.open = {.paths = SYS,
						    .path_count = 1,
						    .part = 1 + i % 2,
						    .parts = 2,
						    .ignore_tail = i / 2},
					   .use = {.limit = UINT64_MAX, .record = 1}};
		const struct result r = read_spec(&spec, 4096);
		CHECK(r.rc == -1 && r.fail.status == STATUS_DATA &&
			      strstr(r.fail.text, "less than its size says"),
		      "%d %s", r.rc, r.fail.text);
	}
}

/* ---- inputs that keep messages apart ---- */

/* The first three ways must be refused before anything is taken, the others read to the end. */
enum way { SEQPACKET, DATAGRAM, PACKETS, BYTES, STREAM, WAYS };

static int open_way(enum way way, int ends[2])
{
	static const int TYPES[] = {
		[SEQPACKET] = SOCK_SEQPACKET, [DATAGRAM] = SOCK_DGRAM, [STREAM] = SOCK_STREAM};
	int rc;

	if (way != PACKETS && way != BYTES)
		return socketpair(AF_UNIX, TYPES[way], 0, ends);
	rc = pipe(ends);
	/*
	 * A program whose output is a shell's pipe may do this: the reading end's flags do not show
	 * it.
	 */
	return rc == 0 && way == PACKETS ? fcntl(ends[1], F_SETFL, O_DIRECT) : rc;
}

static void messages(void)
{
	static char *const STDIN[] = {"-"};
	static const uint64_t LIMITS[] = {UINT64_MAX, 1000, 5, 0};
	static const size_t MESSAGES[] = {1, 5, 300, 4096};
	static char text[8192];

	memset(text, 'x', sizeof(text));
	for (unsigned i = 0; i < WAYS * 4 * 4 * 4; i++) {
		const enum way way = i % WAYS;
		const size_t each = MESSAGES[i / WAYS % 4];
		const struct setup spec = {.open.paths = STDIN,
					   .open.path_count = 1,
					   .use.record = 1,
					   .open.raw = i / WAYS / 64,
					   .use.limit = LIMITS[i / WAYS / 4 % 4],
					   .open.skip = i / WAYS / 16 % 4 * 3};
		int ends[2];
		char left;
		if (open_way(way, ends) != 0) {
			printf("left out: way %d\n", (int)way);
			continue;
		}
		size_t sent = 0;
		for (unsigned k = 0; k < 10; k++)
			sent += write(ends[1], text, each) > 0 ? each : 0;
		if (way != DATAGRAM) /* a datagram socket has no end */
			close(ends[1]);
		dup2(ends[0], STDIN_FILENO);
		const struct result r = read_spec(&spec, 77);
		const uint64_t there = sent - spec.open.skip,
			       most = spec.use.limit < there ? spec.use.limit : there;
		if (spec.use.limit == 0)
			CHECK(r.rc == 0 && r.used == 0, "way %d: %s", (int)way, r.fail.text);
		else if (way > PACKETS)
			CHECK(r.rc == 0 && r.used == most, "way %d, by %zu: %zu bytes %s", (int)way,
			      each, r.used, r.fail.text);
		else
			CHECK(r.rc == -1 && r.fail.status == STATUS_DATA &&
				      strstr(r.fail.text, "pipe it through `"),
			      "way %d, by %zu, limit %llu: %d, %zu bytes '%s'", (int)way, each,
			      (unsigned long long)spec.use.limit, r.rc, r.used, r.fail.text);
		if (way <= PACKETS)
			CHECK(read(STDIN_FILENO, &left, 1) == 1 && left == 'x',
			      "way %d: something was taken", (int)way);
		close(ends[0]);
		if (way == DATAGRAM)
			close(ends[1]);
	}
}

/* ---- how long inputs are, from sizes and names ---- */

static uint64_t length(char *const *paths, size_t count)
{
	struct fail fail = {.status = STATUS_OK};
	struct source *s;

	if (source_open(&s, &(struct source_spec){.paths = paths, .path_count = count}, &fail) != 0)
		return 0;
	CHECK(source_start(s, &(struct source_use){.record = 1, .limit = UINT64_MAX, .threads = 1},
			   &fail) == 0,
	      "%s", fail.text);
	const uint64_t bytes = source_length(s);
	source_close(s);
	return bytes;
}

static bool plain(const char *a, const char *b)
{
	char *const paths[] = {(char *)(uintptr_t)a, (char *)(uintptr_t)b};

	return length(paths, b ? 2 : 1) > 0;
}

static void named(void)
{
	scratch_write("plain", "samples", 7);
	scratch_write("zstd", "\050\265\057\375\040\004\041\000\000abcd", 13);
	scratch_write("named.zst", "samples", 7);
	scratch_write("skippable", "\120\052\115\030\003\000\000\000xyz", 11);
	scratch_write("short", "\050\265", 2);
	scratch_write("one", "a", 1);
	scratch_write("empty", "", 0);
	CHECK(plain("plain", NULL) && plain("one", NULL) && plain("plain", "plain"), "plain files");
	CHECK(!plain("zstd", NULL) && !plain("zstd", "plain") && !plain("plain", "named.zst"),
	      "a zstd file");
	CHECK(!plain("skippable", NULL) && plain("short", NULL), "a frame, and no frame");
	CHECK(!plain("empty", NULL) &&
		      !plain(/* qemu makes up those of a process */ "/proc/version", NULL),
	      "a size of 0");
	CHECK(!plain("missing", NULL) && !plain(".", NULL) && !plain("/dev/null", NULL), "no file");
}

/*
 * The first file is opened only once, so it may be removed then. The length is not known any more
 * once a frame was opened that no name announces.
 */
static void opened(void)
{
	static char *const NAMES[] = {"first", "zstd"};
	const struct setup setup = {.open.paths = NAMES,
				    .open.path_count = 2,
				    .use.record = 1,
				    .use.limit = UINT64_MAX};
	struct fail fail = {.status = STATUS_OK};
	unsigned char room[64];
	struct source *s;
	size_t got = 1, used = 0;

	scratch_write("first", "samples", 7);
	CHECK(setup_open(&s, &setup, &fail) == 0 && unlink("first") == 0 && source_length(s) == 20,
	      "%s", fail.text);
	struct reader *const r = source_reader(s);
	while (got > 0 && take_copy(r, room, sizeof(room), &got, &fail) == 0)
		used += got;
	CHECK(used == 11 && source_length(s) == 0, "%zu bytes: %s", used, fail.text);
	source_close(s);
}

/* Opening a FIFO would tell its writer that it has a reader. */
static void fifo(void)
{
	CHECK(mkfifo("fifo", 0600) == 0, "fifo");
	CHECK(!plain("plain", "fifo"), "a FIFO");
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
	CHECK(write(ends[1], "samples", 7) == 7 && !plain("plain", "-"), "a pipe");
	char rest[8];
	CHECK(read(STDIN_FILENO, rest, sizeof(rest)) == 7, "the pipe was read");
}

/*
 * The job of a small frame keeps the buffers of a large one only while the memory has room for two
 * such jobs: otherwise it would be the only one.
 */
static void reused(void)
{
	enum { LARGE = 64 << 20, SMALL = 1 << 20 };
	const struct cut large = {.pieces = 1, .piece_bytes = LARGE, .need = huge_grown(LARGE)},
			 small = {.pieces = 1, .piece_bytes = SMALL, .need = huge_grown(SMALL)};

	for (uint64_t memory = LARGE; memory <= 4 * (uint64_t)LARGE; memory += LARGE) {
		struct jobs *const jobs = jobs_make();
		struct budget *const b = &jobs->budget;
		b->memory = memory + SMALL;
		struct zstd_job *j = budget_take(b, &large);
		CHECK(huge_grow(&j->own[0].buffer, &j->own[0].capacity, LARGE, 0), "no memory");
		budget_give(b, j);
		j = budget_take(b, &small);
		CHECK(b->live_bytes == (memory < 2 * LARGE ? small : large).need &&
			      b->live_bytes >= j->own[0].capacity,
		      "%llu of %llu bytes", (ull)b->live_bytes, (ull)memory);
		budget_give(b, j);
		jobs_free(jobs);
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	longest();
	sizes_that_lie();
	slices_of_lies();
	named();
	opened();
	fifo();
	redirected();
	scratch_clean();
	messages();
	reused();
	scratch_leave();
	return check_report();
}
