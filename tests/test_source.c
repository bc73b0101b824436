/* SPDX-License-Identifier: MIT */
/*
 * source: what readers get from one list of inputs: skipped parts, limits, tails, files that
 * change, streams, and at which offset standard input is left. test_source_threads.c has the rest.
 */
#include "input/source.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "scratch.h"
#include "take.h"

struct result {
	char data[256];
	size_t used;
	int rc;
	struct source_totals totals;
	struct fail fail;
};

static struct result read_spec(const struct source_spec *spec, size_t cap)
{
	struct result r = {.rc = 0};
	struct source *s;
	size_t got = 0;

	r.rc = source_open(&s, spec, &r.fail);
	if (r.rc != 0) {
		CHECK(s == NULL, "left open");
		return r;
	}
	struct reader *const reader = source_reader(s);
	while ((r.rc = take_copy(reader, r.data + r.used, cap, &got, &r.fail)) == 0 && got > 0)
		r.used += got;
	r.totals = *source_totals(s);
	source_close(s);
	r.data[r.used] = '\0';
	return r;
}

static void expect(const struct source_spec *spec, const char *data, uint64_t tail,
		   const char *what)
{
	for (size_t cap = spec->record; cap <= 40; cap++) {
		const struct result r = read_spec(spec, cap);
		CHECK(r.rc == 0 && strcmp(r.data, data) == 0, "%s, cap %zu: '%s', not '%s' (%s)",
		      what, cap, r.data, data, r.fail.text);
		CHECK(r.totals.tail == tail, "%s: tail %llu", what,
		      (unsigned long long)r.totals.tail);
		CHECK(r.totals.bytes == r.totals.skipped + r.used + r.totals.tail, "%s: bytes",
		      what);
	}
}

static void fails(const struct source_spec *spec, enum status status, const char *why)
{
	const struct result r = read_spec(spec, 24);

	CHECK(r.rc == -1 && r.fail.status == status && strstr(r.fail.text, why), "%s: %d '%s'", why,
	      (int)r.fail.status, r.fail.text);
}

/* Gives the text through a FIFO that is named like a file. */
static pid_t through_fifo(const char *name, const char *text, size_t each)
{
	if (access(name, F_OK) != 0)
		(void)!mkfifo(name, 0666);
	const pid_t child = fork();
	if (child == 0) {
		const int fd = open(name, O_WRONLY);
		for (size_t n = strlen(text); n > 0;
		     text += each < n ? each : n, n -= each < n ? each : n)
			if (write(fd, text, each < n ? each : n) < 0)
				break;
		_exit(0);
	}
	return child;
}

/* Nothing above the limit on which memory was planned. */
static void sizes_of_records(void)
{
	static char *const A[] = {"a"};
	static const uint32_t WRONG[] = {0, SOURCE_RECORD_MAX + 1, UINT32_MAX};
	struct source_spec spec = {.paths = A, .path_count = 1, .limit = UINT64_MAX};

	scratch_write("a", "abcdefgh", 8);
	for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
		struct source *s;
		struct fail fail = {.status = STATUS_OK};
		spec.record = WRONG[i];
		CHECK(source_open(&s, &spec, &fail) == -1 && !s && fail.status == STATUS_INTERNAL,
		      "%u: %s", WRONG[i], fail.text);
	}
	scratch_clean();
}

static void skip_limit_tail(void)
{
	static char *const AB[] = {"a", "b"}, *const TWICE[] = {"a", "a"},
			   *const NONE[] = {"a", "none"};
	struct source_spec spec = {.paths = AB, .path_count = 2, .limit = UINT64_MAX, .record = 3};

	scratch_write("a", "abcdefghi", 9);
	scratch_write("b", "ABCDEF", 6);
	expect(&spec, "abcdefghiABCDEF", 0, "two files");
	spec.limit = 4;
	expect(&spec, "abcdefghiABC", 0, "limit in the second");
	spec.limit = 3;
	expect(&spec, "abcdefghi", 0, "limit at an end");
	spec.limit = 0;
	expect(&spec, "", 0, "limit 0");
	spec.limit = UINT64_MAX;
	spec.skip = 3;
	expect(&spec, "defghiDEF", 0, "skip in each");
	spec.skip = 6;
	expect(&spec, "ghi", 0, "skip to the end of one");
	spec.limit = 1;
	expect(&spec, "ghi", 0, "skip and limit");
	spec.limit = UINT64_MAX;
	spec.skip = 7;
	fails(&spec, STATUS_DATA, "a: ends inside a record: 2 of 3");
	spec.ignore_tail = true;
	fails(&spec, STATUS_DATA, "b: ends before the 7 bytes to skip");
	spec.paths = TWICE;
	expect(&spec, "", 4, "two tails");
	spec.skip = UINT64_MAX;
	fails(&spec, STATUS_DATA, "ends before");
	spec.skip = INT64_MAX;
	fails(&spec, STATUS_DATA, "ends before");
	spec.skip = 0;
	spec.record = 8;
	expect(&spec, "abcdefghabcdefgh", 2, "a tail of one byte, twice");
	/* A limit that is met before the tail: the tail is not seen. */
	spec.ignore_tail = false;
	spec.limit = 1;
	expect(&spec, "abcdefgh", 0, "limit before the tail");
	spec.limit = 2;
	fails(&spec, STATUS_DATA, "a: ends inside a record: 1 of 8");
	spec.paths = NONE;
	spec.limit = 0;
	fails(&spec, STATUS_SYSTEM, "none: No such file");
	scratch_clean();
}

static void streams(void)
{
	static char *const FIFO[] = {"f"};
	struct source_spec spec = {
		.paths = FIFO, .path_count = 1, .limit = UINT64_MAX, .record = 3};
	static const struct {
		const char *in, *out;
		uint64_t skip, limit, tail;
	} CASES[] = {
		{"abcdefghi", "abcdefghi", 0, UINT64_MAX, 0},
		{"abcdefgh", "abcdef", 0, UINT64_MAX, 2},
		{"ab", "", 0, UINT64_MAX, 2},
		{"abcdefghi", "bcdefg", 1, UINT64_MAX, 2},
		{"abcdefghi", "cdefgh", 2, 2, 0},
		{"abcdefghi", "", 9, UINT64_MAX, 0},
	};

	spec.ignore_tail = true;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		for (size_t each = 1; each <= 7; each++) {
			const pid_t child = through_fifo("f", CASES[i].in, each);
			spec.skip = CASES[i].skip;
			spec.limit = CASES[i].limit;
			const struct result r = read_spec(&spec, 3 + each);
			CHECK(r.rc == 0 && strcmp(r.data, CASES[i].out) == 0, "%zu by %zu: '%s' %s",
			      i, each, r.data, r.fail.text);
			CHECK(r.totals.tail == CASES[i].tail && r.totals.streamed,
			      "%zu by %zu: tail", i, each);
			CHECK(r.totals.bytes == r.totals.skipped + r.used + r.totals.tail,
			      "%zu: bytes", i);
			kill(child, SIGKILL);
			waitpid(child, NULL, 0);
		}
	scratch_clean();
}

/* A compressed file is recognised by every route, whatever -S and -n are. */
static void sniffing(void)
{
	static char *const PATHS[] = {"z"}, *const FIFO[] = {"f"};
	static const char ZSTD[] = "\x28\xb5\x2f\xfd and more than ten bytes";

	scratch_write("z", ZSTD, sizeof(ZSTD) - 1);
	for (int piped = 0; piped <= 1; piped++)
		for (uint64_t skip = 0; skip <= 9; skip += 3)
			for (uint64_t limit = 10; limit < 30; limit += 9) {
				const struct source_spec spec = {.paths = piped ? FIFO : PATHS,
								 .path_count = 1,
								 .skip = skip,
								 .limit = limit,
								 .record = 1};
				const pid_t child = piped ? through_fifo("f", ZSTD, 99) : 0;
				const struct result r = read_spec(&spec, 24);
				CHECK(r.rc == -1 && r.fail.status == STATUS_DATA,
				      "%s, skip %u, limit %u: taken as samples",
				      piped ? "pipe" : "file", (unsigned)skip, (unsigned)limit);
				if (piped) {
					kill(child, SIGKILL);
					waitpid(child, NULL, 0);
				}
			}
	scratch_clean();
}

/*
 * A file of 64 bytes is `to` bytes long after the first fill of 16; returns the last fill's result.
 */
static int move(const struct source_spec *spec, long to, size_t *used, struct source_totals *totals,
		struct fail *fail)
{
	static const char zeros[64];
	char buffer[16];
	struct source *s;
	size_t got;
	int rc;

	*used = 0;
	scratch_write("m", zeros, sizeof(zeros));
	CHECK(source_open(&s, spec, fail) == 0, "%s", fail->text);
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
	struct source_spec spec = {.paths = PATHS, .path_count = 1};
	static const struct {
		long to;
		uint32_t record;
		uint64_t limit;
		size_t used, tail;
		bool shorter;
	} CASES[] = {
		{64, 4, UINT64_MAX, 64, 0, false},
		{256, 4, UINT64_MAX, 256, 0, false},
		{258, 4, UINT64_MAX, 256, 2, false},
		{32, 4, UINT64_MAX, 32, 0, true},
		{33, 4, UINT64_MAX, 32, 1, true},
		{18, 4, UINT64_MAX, 16, 2, true},
		{0, 4, UINT64_MAX, 16, 0, true},
		{8, 4, UINT64_MAX, 16, 0, true},
		{63, 7, UINT64_MAX, 63, 0, true},
		{64, 7, UINT64_MAX, 63, 1, false},
		{32, 4, 8, 32, 0, false},
		{32, 4, 9, 32, 0, true},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]) * 2; i++) {
		const size_t k = i / 2;
		struct fail fail = {0};
		struct source_totals t;
		size_t used;
		spec.record = CASES[k].record, spec.limit = CASES[k].limit,
		spec.ignore_tail = i % 2;
		const int rc = move(&spec, CASES[k].to, &used, &t, &fail);
		if (!spec.ignore_tail && (CASES[k].shorter || CASES[k].tail > 0)) {
			CHECK(rc == -1 && fail.status == STATUS_DATA &&
				      strstr(fail.text, CASES[k].shorter
								? "m: became shorter while"
								: "m: ends inside a record"),
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

/* A redirected file is read from its offset, and left at the end of the last record. */
static void offsets(void)
{
	static char *const STDIN[] = {"-"};
	static const struct {
		off_t before;
		uint64_t skip, limit;
		off_t after;
	} CASES[] = {
		{0, 0, 2, 6}, {0, 0, UINT64_MAX, 24},  {3, 0, 2, 9},
		{1, 2, 1, 6}, {0, 24, UINT64_MAX, 24}, {24, 0, UINT64_MAX, 24},
		{6, 0, 0, 6}, {0, 0, 8, 24},           {0, 0, 7, 21},
	};

	scratch_write("s", "abcdefghijklmnopqrstuvwx", 24);
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		for (size_t cap = 3; cap <= 30; cap += 3) {
			const struct source_spec spec = {.paths = STDIN,
							 .path_count = 1,
							 .record = 3,
							 .skip = CASES[i].skip,
							 .limit = CASES[i].limit};
			const int fd = open("s", O_RDONLY);
			lseek(fd, CASES[i].before, SEEK_SET);
			dup2(fd, STDIN_FILENO);
			const struct result r = read_spec(&spec, cap);
			CHECK(r.rc == 0 && lseek(fd, 0, SEEK_CUR) == CASES[i].after,
			      "%zu, cap %zu: left at %ld %s", i, cap, (long)lseek(fd, 0, SEEK_CUR),
			      r.fail.text);
			close(fd);
		}
	scratch_clean();
}

/* ---- pieces that are claimed ---- */

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
static int read_pieces(const struct source_spec *spec, long cut, struct taken *t,
		       struct source_totals *totals, struct fail *fail)
{
	struct chunk held[3] = {{.bytes = 0}};
	uint32_t *buffer = malloc(1 << 20);
	const struct want want = {.room = buffer, .cap = 1 << 20, .range = (size_t)5 << 20 | 3};
	struct source *s;
	int rc = source_open(&s, spec, fail);
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
			if (++t->pieces == 3 && cut >= 0 && truncate(spec->paths[0], cut) != 0)
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
	const struct source_spec spec = {
		.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 4};
	static const long TO[] = {PIECES_FILE / 4, PIECES_FILE / 4 + 4, PIECES_FILE / 2};

	for (size_t i = 0; i < sizeof(TO) / sizeof(TO[0]); i++) {
		uint32_t *const buffer = calloc(1, PIECES_FILE / 4);
		const struct want want = {.room = buffer, .cap = 1 << 20, .range = 4 << 20};
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		struct chunk piece;
		size_t got = 1;

		scratch_write("r", buffer, PIECES_FILE / 4);
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
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
		CHECK(fail.status == STATUS_DATA && strstr(fail.text, "r: became shorter while"),
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
	struct source_spec spec = {
		.paths = paths, .path_count = 1, .limit = UINT64_MAX, .record = 4};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || ftruncate(fd, INT64_MAX) != 0 || pwrite(fd, "last", 4, INT64_MAX - 4) != 4) {
		printf("left out: a file of 2^63 - 1 bytes (%s)\n", strerror(errno));
		close(fd);
		return;
	}
	spec.skip = INT64_MAX - 4;
	expect(&spec, "last", 0, "at the end");
	spec.skip = INT64_MAX - 5, spec.ignore_tail = true, spec.record = 3;
	const struct result r = read_spec(&spec, 24);
	CHECK(r.rc == 0 && r.used == 3 && memcmp(r.data, "\0la", 3) == 0 && r.totals.tail == 2,
	      "%zu bytes %s", r.used, r.fail.text);
	spec.skip = INT64_MAX;
	expect(&spec, "", 0, "after the end");
	close(fd);
}

static void claimed_pieces(void)
{
	static char *const PATHS[] = {"big"}, *const TWICE[] = {"big", "big"},
			   *const SMALL[] = {"small"};
	uint32_t *records = malloc(PIECES_FILE);
	struct source_spec spec = {
		.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 4};
	struct source_totals totals;
	struct taken t;
	struct fail fail = {.status = STATUS_OK};
	const uint64_t all = PIECES_FILE / 4;

	for (uint32_t i = 0; i < all; i++)
		records[i] = i + 1;
	scratch_write("big", records, PIECES_FILE);
	scratch_write("small", records, 1 << 20);
	CHECK(read_pieces(&spec, -1, &t, &totals, &fail) == 0 && t.records == all &&
		      t.sum == all * (all + 1) / 2,
	      "%llu records %s", (unsigned long long)t.records, fail.text);
	CHECK(t.pieces >= 3 && totals.bytes == PIECES_FILE && totals.tail == 0, "%u pieces",
	      t.pieces);
	spec.limit = 19 << 20;
	CHECK(read_pieces(&spec, -1, &t, &totals, &fail) == 0 && t.records == spec.limit &&
		      t.pieces >= 3 && t.sum == spec.limit * (spec.limit + 1) / 2,
	      "-n: %llu records %s", (unsigned long long)t.records, fail.text);
	spec.paths = TWICE, spec.path_count = 2, spec.limit = all + 5;
	CHECK(read_pieces(&spec, -1, &t, &totals, &fail) == 0 && t.records == spec.limit &&
		      t.sum == all * (all + 1) / 2 + 15,
	      "twice: %llu records %s", (unsigned long long)t.records, fail.text);
	spec.paths = SMALL, spec.path_count = 1, spec.limit = UINT64_MAX;
	CHECK(read_pieces(&spec, -1, &t, &totals, &fail) == 0 && t.records == 1 << 18 &&
		      t.pieces == 1,
	      "small: %s", fail.text);

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
		spec.paths = PATHS, spec.limit = CUTS[i].limit, spec.ignore_tail = true;
		CHECK(read_pieces(&spec, CUTS[i].to, &t, &totals, &fail) == 0 &&
			      t.records == left && t.sum == left * (left + 1) / 2,
		      "cut to %ld: %llu records %s", CUTS[i].to, (unsigned long long)t.records,
		      fail.text);
		CHECK(totals.bytes == (uint64_t)CUTS[i].to &&
			      totals.tail == (uint64_t)CUTS[i].to % 4 && totals.shorter == 1,
		      "cut to %ld: %llu bytes", CUTS[i].to, (unsigned long long)totals.bytes);
		scratch_write("big", records, PIECES_FILE);
		spec.ignore_tail = false;
		struct fail shorter = {.status = STATUS_OK};
		CHECK(read_pieces(&spec, CUTS[i].to, &t, &totals, &shorter) == -1 &&
			      shorter.status == STATUS_DATA &&
			      strstr(shorter.text, "big: became shorter while"),
		      "cut to %ld: '%s'", CUTS[i].to, shorter.text);
	}
	/* The limit that the cut pieces did not use goes to the next file. */
	scratch_write("big", records, PIECES_FILE);
	scratch_write("next", records, PIECES_FILE);
	static char *const TWO[] = {"big", "next"};
	spec.paths = TWO, spec.path_count = 2, spec.limit = 19 << 20, spec.ignore_tail = true;
	CHECK(read_pieces(&spec, 6 << 20, &t, &totals, &fail) == 0 && t.records == spec.limit,
	      "-n over a cut file: %llu %s", (unsigned long long)t.records, fail.text);
	free(records);
	scratch_clean();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	sizes_of_records();
	skip_limit_tail();
	streams();
	sniffing();
	moving_files();
	offsets();
	claimed_pieces();
	rewritten();
	longest();
	scratch_leave();
	return check_report();
}
