/* SPDX-License-Identifier: MIT */
/*
 * source: inputs that are not what they seem, one reader at a time: files that change while they
 * are read, also where a caller has ranges of them; files whose size is wrong; sockets and pipes
 * that keep messages apart; a look at files before they are opened; and a stop.
 */
#include "input/source.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

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

/* ---- files that change ---- */

/*
 * A file of 64 bytes is `to` bytes long after the first fill of 16; returns the last fill's result.
 */
static int move(const struct setup *spec, long to, size_t *used, struct source_totals *totals,
		struct fail *fail)
{
	static const char zeros[64];
	char buffer[16];
	struct source *s;
	size_t got;
	int rc;

	*used = 0;
	scratch_write("m", zeros, sizeof(zeros));
	CHECK(setup_open(&s, spec, fail) == 0, "%s", fail->text);
	struct reader *const reader = source_reader(s);
	while ((rc = take_copy(reader, buffer, sizeof(buffer), &got, fail)) == 0 && got > 0) {
		if (*used == 0 && truncate("m", to) != 0)
			break;
		*used += got;
	}
	*totals = *source_totals(s);
	source_close(s);
	return rc;
}

/*
 * The file changes while it is read. What was appended is read too; one that became shorter is an
 * error, or is counted up to its new end, whether or not whole records are gone.
 */
static void moving_files(void)
{
	static char *const PATHS[] = {"m"};
	struct setup spec = {.open.paths = PATHS, .open.path_count = 1};
	static const struct {
		long to;
		uint32_t record, packed;
		uint64_t limit;
		size_t used, tail;
		bool shorter;
	} CASES[] = {
		{64, 4, 1, UINT64_MAX, 64, 0, false},
		{256, 4, 1, UINT64_MAX, 256, 0, false},
		{258, 4, 1, UINT64_MAX, 256, 2, false},
		{32, 4, 1, UINT64_MAX, 32, 0, true},
		{33, 4, 1, UINT64_MAX, 32, 1, true},
		{18, 4, 1, UINT64_MAX, 16, 2, true},
		{0, 4, 1, UINT64_MAX, 16, 0, true},
		{8, 4, 1, UINT64_MAX, 16, 0, true},
		{63, 7, 1, UINT64_MAX, 63, 0, true},
		{64, 7, 1, UINT64_MAX, 63, 1, false},
		{32, 4, 1, 8, 32, 0, false},
		{32, 4, 1, 9, 32, 0, true},
		{64, 3, 2, UINT64_MAX, 63, 1, false},
		{65, 3, 2, UINT64_MAX, 65, 0, false},
		{65, 3, 2, 43, 65, 0, false},
		{257, 3, 2, UINT64_MAX, 257, 0, false},
		{32, 3, 2, UINT64_MAX, 32, 0, true},
		{34, 3, 2, UINT64_MAX, 33, 1, true},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]) * 2; i++) {
		const size_t k = i / 2;
		struct fail fail = {0};
		struct source_totals t;
		size_t used;
		spec.use.record = CASES[k].record, spec.use.packed = CASES[k].packed;
		spec.use.limit = CASES[k].limit;
		spec.open.ignore_tail = i % 2;
		const int rc = move(&spec, CASES[k].to, &used, &t, &fail);
		if (!spec.open.ignore_tail && (CASES[k].shorter || CASES[k].tail > 0)) {
			CHECK(rc == -1 && fail.status == STATUS_DATA &&
				      strstr(fail.text, CASES[k].shorter
								? "m became shorter while"
								: "m ends inside a record"),
			      "to %ld: %d '%s'", CASES[k].to, rc, fail.text);
			continue;
		}
		CHECK(rc == 0 && used == CASES[k].used && t.tail == CASES[k].tail &&
			      t.shorter == CASES[k].shorter,
		      "to %ld: %zu bytes, %llu tail, %s", CASES[k].to, used,
		      (unsigned long long)t.tail, fail.text);
		CHECK(t.bytes == used + t.tail, "to %ld: %llu bytes", CASES[k].to,
		      (unsigned long long)t.bytes);
	}
	scratch_clean();
}

#define PIECES_FILE ((size_t)80 << 20)

struct taken {
	uint64_t records, sum; /* the file's records are 1, 2, 3 ... */
	unsigned pieces;
};

static void add(struct taken *t, const uint32_t *data, size_t bytes)
{
	t->records += bytes / 4;
	for (size_t i = 0; i < bytes / 4; i++)
		t->sum += data[i];
}

/* Reads a piece as a lane does after its device has failed, and gives it back. */
static int read_piece(struct reader *r, struct chunk *piece, uint32_t *buffer, struct taken *t,
		      struct fail *fail)
{
	size_t at = 0, got;

	do {
		const size_t want = piece->bytes - at < 1 << 20 ? piece->bytes - at : 1 << 20;
		if (source_read(piece, at, buffer, want, &got, fail) != 0)
			return -1;
		add(t, buffer, got);
		at += got;
	} while (got == 1 << 20 && at < piece->bytes);
	source_done(r, piece, at);
	return 0;
}

/* Three pieces are held at a time; when the third is first held, the file is cut to `cut`. */
static int read_pieces(const struct setup *spec, long cut, struct taken *t,
		       struct source_totals *totals, struct fail *fail)
{
	struct chunk held[3] = {{.bytes = 0}};
	uint32_t *buffer = malloc(1 << 20);
	const struct want want = {.room = buffer, .cap = 1 << 20, .range = (size_t)5 << 20 | 3};
	struct source *s;
	int rc = setup_open(&s, spec, fail);
	struct reader *const r = rc == 0 ? source_reader(s) : NULL;
	bool more = true;

	*t = (struct taken){.records = 0};
	for (unsigned k = 0; rc == 0 && more; k = (k + 1) % 3) {
		if (held[k].bytes > 0)
			rc = read_piece(r, &held[k], buffer, t, fail);
		if (rc != 0 || source_take(r, &want, &held[k], fail) != 0) {
			rc = -1;
			break;
		}
		CHECK(held[k].bytes % 4 == 0, "half a record");
		if (held[k].bytes > 0 && !held[k].data) {
			if (++t->pieces == 3 && cut >= 0 && truncate(spec->open.paths[0], cut) != 0)
				rc = -1;
			continue;
		}
		more = held[k].bytes > 0;
		add(t, buffer, held[k].bytes);
		source_done(r, &held[k], held[k].bytes);
	}
	for (unsigned i = 0; i < 3; i++) {
		if (rc == 0 && held[i].bytes > 0)
			rc = read_piece(r, &held[i], buffer, t, fail);
		source_done(r, &held[i], held[i].bytes);
	}
	if (rc == 0)
		rc = source_failure(s, fail);
	*totals = *source_totals(s);
	source_close(s);
	free(buffer);
	return rc;
}

/*
 * A program writes the file anew: it empties it, and fills it again before the size is looked at.
 * What was not there when it was read is missing from the counts, so this is an error too.
 */
static void rewritten(void)
{
	static char *const PATHS[] = {"r"};
	const struct setup spec = {.open.paths = PATHS,
				   .open.path_count = 1,
				   .use.limit = UINT64_MAX,
				   .use.record = 4};
	static const long TO[] = {PIECES_FILE / 4, PIECES_FILE / 4 + 4, PIECES_FILE / 2};

	for (size_t i = 0; i < sizeof(TO) / sizeof(TO[0]); i++) {
		uint32_t *const buffer = calloc(1, PIECES_FILE / 4);
		const struct want want = {.room = buffer, .cap = 1 << 20, .range = 4 << 20};
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		struct chunk piece;
		size_t got = 1;

		scratch_write("r", buffer, PIECES_FILE / 4);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		CHECK(source_take(r, &want, &piece, &fail) == 0 && piece.bytes == 4 << 20 &&
			      !piece.data,
		      "%zu bytes %s", piece.bytes, fail.text);
		/* A clock that file systems look at ticks a hundred times a second at least. */
		nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
		CHECK(truncate("r", 0) == 0 &&
			      source_read(&piece, 0, buffer, 4096, &got, &fail) == 0 && got == 0,
		      "%zu bytes %s", got, fail.text);
		CHECK(truncate("r", TO[i]) == 0, "filled again");
		source_done(r, &piece, got);
		while (source_take(r, &want, &piece, &fail) == 0 && piece.bytes > 0)
			source_done(r, &piece, piece.bytes);
		(void)source_failure(s, &fail);
		CHECK(fail.status == STATUS_DATA && strstr(fail.text, "r became shorter while"),
		      "to %ld: '%s'", TO[i], fail.text);
		source_close(s);
		free(buffer);
	}
	scratch_clean();
}

/* A file as long as files can be: reads end where offsets do. */
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

static void claimed_pieces(void)
{
	static char *const PATHS[] = {"big"}, *const TWICE[] = {"big", "big"};
	uint32_t *records = malloc(PIECES_FILE);
	struct setup spec = {.open.paths = PATHS,
			     .open.path_count = 1,
			     .use.limit = UINT64_MAX,
			     .use.record = 4};
	struct source_totals totals;
	struct taken t;
	struct fail fail = {.status = STATUS_OK};
	const uint64_t all = PIECES_FILE / 4;

	for (uint32_t i = 0; i < all; i++)
		records[i] = i + 1;
	scratch_write("big", records, PIECES_FILE);
	spec.open.paths = TWICE, spec.open.path_count = 2, spec.use.limit = all + 5;
	CHECK(read_pieces(&spec, -1, &t, &totals, &fail) == 0 && t.records == spec.use.limit &&
		      t.sum == all * (all + 1) / 2 + 15,
	      "twice: %llu records %s", (unsigned long long)t.records, fail.text);
	spec.open.path_count = 1;

	/* Three pieces of some 5 MiB are held when the file is cut. */
	static const struct {
		long to;
		uint64_t limit;
	} CUTS[] = {{6 << 20, UINT64_MAX},
		    {(6 << 20) + 2, UINT64_MAX},
		    {(1 << 20) + 4, UINT64_MAX},
		    {(10 << 20) - 4, UINT64_MAX},
		    {6 << 20, 19 << 20}};
	for (size_t i = 0; i < sizeof(CUTS) / sizeof(CUTS[0]); i++) {
		const uint64_t left = (uint64_t)CUTS[i].to / 4;
		scratch_write("big", records, PIECES_FILE);
		spec.open.paths = PATHS, spec.use.limit = CUTS[i].limit,
		spec.open.ignore_tail = true;
		CHECK(read_pieces(&spec, CUTS[i].to, &t, &totals, &fail) == 0 &&
			      t.records == left && t.sum == left * (left + 1) / 2,
		      "cut to %ld: %llu records %s", CUTS[i].to, (unsigned long long)t.records,
		      fail.text);
		CHECK(totals.bytes == (uint64_t)CUTS[i].to &&
			      totals.tail == (uint64_t)CUTS[i].to % 4 && totals.shorter == 1,
		      "cut to %ld: %llu bytes", CUTS[i].to, (unsigned long long)totals.bytes);
		scratch_write("big", records, PIECES_FILE);
		spec.open.ignore_tail = false;
		struct fail shorter = {.status = STATUS_OK};
		CHECK(read_pieces(&spec, CUTS[i].to, &t, &totals, &shorter) == -1 &&
			      shorter.status == STATUS_DATA &&
			      strstr(shorter.text, "big became shorter while"),
		      "cut to %ld: '%s'", CUTS[i].to, shorter.text);
	}
	/* The limit that the cut pieces did not use goes to the next file. */
	scratch_write("big", records, PIECES_FILE);
	scratch_write("next", records, PIECES_FILE);
	static char *const TWO[] = {"big", "next"};
	spec.open.paths = TWO, spec.open.path_count = 2, spec.use.limit = 19 << 20,
	spec.open.ignore_tail = true;
	CHECK(read_pieces(&spec, 6 << 20, &t, &totals, &fail) == 0 && t.records == spec.use.limit,
	      "-n over a cut file: %llu %s", (unsigned long long)t.records, fail.text);
	free(records);
	scratch_clean();
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
		if (way != DATAGRAM) /* which has no end */
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
	CHECK(!plain("skippable", NULL) && plain("short", NULL), "a frame, and what is none");
	CHECK(!plain("empty", NULL) &&
		      !plain(/* qemu makes up those of a process */ "/proc/version", NULL),
	      "a size of 0");
	CHECK(!plain("missing", NULL) && !plain(".", NULL) && !plain("/dev/null", NULL), "no file");
}

/*
 * The first file is opened once, so it may be removed then. The length is not known any more when a
 * frame was opened that no name announces.
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

/* Opened, a FIFO would tell its writer that a reader is there. */
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

/* ---- a stop ---- */

static void *fill_once(void *arg)
{
	struct fail fail = {0};
	char buffer[64];
	size_t got;

	struct reader *const reader = source_reader(arg);
	while (take_copy(reader, buffer, sizeof(buffer), &got, &fail) == 0 && got > 0)
		;
	return NULL;
}

/* source_stop ends a wait for a pipe that, after `given` bytes, has nothing more. */
static void stop_wakes(size_t given)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		static char *const STDIN[] = {"-"};
		/* Else opening waits for the first bytes. */
		const struct setup spec = {.open.paths = STDIN,
					   .open.path_count = 1,
					   .open.raw = true,
					   .use.limit = UINT64_MAX,
					   .use.record = 1};
		static const char zeros[256];
		struct source *s;
		struct fail fail = {0};
		pthread_t reader, second;
		int fds[2], left = 1;
		(void)!pipe(fds);
		dup2(fds[0], STDIN_FILENO);
		(void)!write(fds[1], zeros, given);
		setup_open(&s, &spec, &fail);
		pthread_create(&reader, NULL, fill_once, s);
		pthread_create(&second, NULL, fill_once, s);
		/* The pipe is empty once the reader has come to the wait. */
		alarm(30);
		while (ioctl(fds[0], FIONREAD, &left) == 0 && left > 0)
			;
		source_stop(s);
		pthread_join(reader, NULL);
		pthread_join(second, NULL);
		source_close(s);
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "after %zu bytes the reader was not woken", given);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	moving_files();
	claimed_pieces();
	rewritten();
	longest();
	sizes_that_lie();
	named();
	opened();
	fifo();
	redirected();
	scratch_clean();
	messages();
	for (size_t given = 0; given <= 128; given += 64) /* 64: a read that filled the buffer */
		stop_wakes(given);
	scratch_leave();
	return check_report();
}
