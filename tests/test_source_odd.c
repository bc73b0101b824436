/* SPDX-License-Identifier: MIT */
/*
 * source: inputs that are not what they seem. Files whose size is wrong, or that are read in whole
 * words or blocks only; sockets and pipes that keep messages apart.
 */
#include "input/source.h"

#include <signal.h>
#include <sys/socket.h>

#include "check.h"
#include "scratch.h"
#include "take.h"

struct result {
	char data[65536];
	size_t used;
	int rc;
	struct source_totals totals;
	struct fail fail;
};

/* Reads until the end, the limit or an error, cap bytes at a time. */
static struct result read_spec(const struct source_spec *spec, size_t cap)
{
	struct result r = {.rc = 0};
	struct source *s;
	size_t got = 0;

	r.rc = source_open(&s, spec, &r.fail);
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

/* ---- files whose size is wrong ---- */

/* Both hold less or more than st_size says, and do not change. */
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
			printf("left out: %s is not there\n", FILES[i]);
			continue;
		}
		char *const paths[] = {FILES[i]};
		struct source_spec spec = {
			.paths = paths, .path_count = 1, .limit = UINT64_MAX, .record = 1};
		for (uint64_t skip = 0; skip <= length; skip++) {
			spec.skip = skip;
			const struct result r = read_spec(&spec, 16);
			CHECK(r.rc == 0 && r.used == length - skip &&
				      memcmp(r.data, text + skip, r.used) == 0,
			      "%s, skip %llu: %zu bytes %s", FILES[i], (unsigned long long)skip,
			      r.used, r.fail.text);
		}
		for (uint64_t skip = length + 1; skip < 10000; skip = skip * 3 / 2) {
			spec.skip = skip;
			const struct result r = read_spec(&spec, 16);
			CHECK(r.rc == -1 && r.fail.status == STATUS_DATA &&
				      strstr(r.fail.text, "ends before the "),
			      "%s, skip %llu: %d '%s'", FILES[i], (unsigned long long)skip, r.rc,
			      r.fail.text);
		}
	}
}

/* ---- files that are read in whole words only ---- */

/* A page of the test's own whose entry in pagemap does not change. */
static void words(void)
{
	static char *const PATHS[] = {"/proc/self/pagemap"};
	static char page[8192];
	const uint64_t at = (uint64_t)(uintptr_t)page / 4096 * 8;
	unsigned char entries[256 * 8];

	memset(page, 1, sizeof(page));
	const int fd = open(PATHS[0], O_RDONLY);
	if (sysconf(_SC_PAGESIZE) != 4096 || fd < 0 || pread(fd, entries, 16, (off_t)at) != 16) {
		printf("left out: no %s\n", PATHS[0]);
		return;
	}
	for (int raw = 0; raw <= 1; raw++)
		for (uint32_t record = 1; record <= 8; record++)
			for (uint64_t skip = 0; skip <= 9; skip++) {
				struct source_spec spec = {.paths = PATHS,
							   .path_count = 1,
							   .skip = at + skip,
							   .raw = raw,
							   .limit = (16 - skip) / record,
							   .record = record};
				for (size_t cap = record; cap <= 16; cap++) {
					const struct result r = read_spec(&spec, cap);
					CHECK(r.rc == 0 && r.used == spec.limit * record &&
						      memcmp(r.data, entries + skip, r.used) == 0,
					      "skip %llu, record %u, cap %zu: %zu bytes %s",
					      (unsigned long long)skip, (unsigned)record, cap,
					      r.used, r.fail.text);
				}
			}
	close(fd);
}

/* The same of a file that was opened with O_DIRECT, as standard input may be. */
static void blocks(void)
{
	static char *const STDIN[] = {"-"};
	char text[3000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7 % 251);
	scratch_write("d", text, sizeof(text));
	const int fd = open("d", O_RDONLY | O_DIRECT);
	if (fd < 0) {
		printf("left out: no O_DIRECT here\n");
		return;
	}
	dup2(fd, STDIN_FILENO);
	for (int raw = 0; raw <= 1; raw++)
		for (uint64_t skip = 0; skip <= sizeof(text); skip += 500) {
			const struct source_spec spec = {.paths = STDIN,
							 .path_count = 1,
							 .skip = skip,
							 .raw = raw,
							 .limit = UINT64_MAX,
							 .record = 1};
			lseek(fd, 0, SEEK_SET);
			const struct result r = read_spec(&spec, 999);
			CHECK(r.rc == 0 && r.used == sizeof(text) - skip &&
				      memcmp(r.data, text + skip, r.used) == 0,
			      "O_DIRECT, skip %llu: %zu bytes %s", (unsigned long long)skip, r.used,
			      r.fail.text);
		}
	close(fd);
	scratch_clean();
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
	 * As a program may do whose output is a shell's pipe: the reading end's flags do not show
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
		const struct source_spec spec = {.paths = STDIN,
						 .path_count = 1,
						 .record = 1,
						 .raw = i / WAYS / 64,
						 .limit = LIMITS[i / WAYS / 4 % 4],
						 .skip = i / WAYS / 16 % 4 * 3};
		int ends[2];
		char left;
		if (open_way(way, ends) != 0) {
			printf("left out: way %d\n", (int)way);
			continue;
		}
		size_t sent = 0;
		for (unsigned k = 0; k < 10; k++)
			sent += write(ends[1], text, each) > 0 ? each : 0;
		if (way != DATAGRAM) /* which has no end */
			close(ends[1]);
		dup2(ends[0], STDIN_FILENO);
		const struct result r = read_spec(&spec, 77);
		const uint64_t there = sent - spec.skip,
			       most = spec.limit < there ? spec.limit : there;
		if (spec.limit == 0)
			CHECK(r.rc == 0 && r.used == 0, "way %d: %s", (int)way, r.fail.text);
		else if (way > PACKETS)
			CHECK(r.rc == 0 && r.used == most, "way %d, by %zu: %zu bytes %s", (int)way,
			      each, r.used, r.fail.text);
		else
			CHECK(r.rc == -1 && r.fail.status == STATUS_DATA &&
				      strstr(r.fail.text, "pipe it through `"),
			      "way %d, by %zu, limit %llu: %d, %zu bytes '%s'", (int)way, each,
			      (unsigned long long)spec.limit, r.rc, r.used, r.fail.text);
		if (way <= PACKETS)
			CHECK(read(STDIN_FILENO, &left, 1) == 1 && left == 'x',
			      "way %d: something was taken", (int)way);
		close(ends[0]);
		if (way == DATAGRAM)
			close(ends[1]);
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	alarm(60);
	scratch_enter();
	sizes_that_lie();
	words();
	blocks();
	messages();
	scratch_leave();
	return check_report();
}
