/* SPDX-License-Identifier: MIT */
/*
 * source: the input is cut into files, redirected files and pipes, and read as a job reads.
 * The records, the totals and the verdict must match a plain walk over the bytes.
 *
 * The head of the input, in this order: flags, record size, inputs, skip (2), limit (2), fills;
 * for each input a kind with a number of repetitions, and a length (2); then their bytes.
 */
#include "input/source.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../take.h"
#include "../header_parse.h"
#include "fuzz.h"

#define INPUTS 4
#define INPUT_MAX ((size_t)32 << 10) /* a pipe holds twice that without a reader */

static int nothing; /* /dev/null: standard input between two runs */

enum kind { FILE_NAMED, FILE_STDIN, PIPE_FULL, PIPE_TRICKLE, PIPE_STDIN, KINDS };

enum verdict { FINE, REFUSED, EITHER };

struct feed { /* one input */
	enum kind kind;
	unsigned times;
	uint8_t *data;
	size_t size, offset; /* offset: of a redirected file */
	char path[32];
	int fd;  /* the end that is read */
	int out; /* of a pipe that a thread feeds */
	pthread_t thread;
};

struct plan {
	struct setup spec;
	struct feed feed[INPUTS];
	char *paths[INPUTS];
	unsigned fills; /* how large the buffers are */
	unsigned stop;  /* number of fills before source_stop; 0: never */
};

struct plain { /* what must come out */
	uint8_t *data;
	size_t used;
	enum verdict verdict;
	struct source_totals totals;
	bool open_ended; /* a zstd frame: any result of the decoder is accepted */
	bool header;     /* an input has one: that is for fuzz_header.c */
	size_t left_at;  /* where the offset of a redirected file must be left */
};

static bool is_file(const struct feed *f)
{
	return f->kind == FILE_NAMED || f->kind == FILE_STDIN;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void *trickle(void *arg)
{
	struct feed *f = arg;
	const size_t step = f->size / 5 + 1;

	for (size_t at = 0; at < f->size;) {
		const ssize_t n =
			write(f->out, f->data + at, f->size - at < step ? f->size - at : step);
		if (n <= 0)
			break;
		at += (size_t)n;
		usleep(0);
	}
	close(f->out);
	return NULL;
}

static void feed_open(struct feed *f, unsigned index)
{
	int ends[2];

	if (is_file(f)) {
		f->fd = memfd_create("input", MFD_CLOEXEC);
		REQUIRE(f->fd >= 0 && write(f->fd, f->data, f->size) == (ssize_t)f->size &&
				lseek(f->fd, (off_t)f->offset, SEEK_SET) >= 0,
			"a file");
	} else {
		REQUIRE(pipe(ends) == 0, "a pipe");
		f->fd = ends[0];
		f->out = ends[1];
		if (f->kind == PIPE_TRICKLE) {
			REQUIRE(pthread_create(&f->thread, NULL, trickle, f) == 0, "a thread");
		} else {
			REQUIRE(write(f->out, f->data, f->size) == (ssize_t)f->size, "a full pipe");
			close(f->out);
		}
	}
	if (f->kind == FILE_STDIN || f->kind == PIPE_STDIN) {
		REQUIRE(dup2(f->fd, STDIN_FILENO) >= 0, "standard input");
		strcpy(f->path, "-");
	} else {
		snprintf(f->path, sizeof(f->path), index % 2 ? "/proc/self/fd/%d" : "/dev/fd/%d",
			 f->fd);
	}
}

static void feed_close(struct feed *f)
{
	close(f->fd); /* a thread that still writes fails */
	if (f->kind == FILE_STDIN || f->kind == PIPE_STDIN)
		REQUIRE(dup2(nothing, STDIN_FILENO) >= 0, "standard input");
	if (f->kind == PIPE_TRICKLE)
		pthread_join(f->thread, NULL);
	free(f->data);
}

/* The format that the first bytes name: 'z' zstd of any age, 'o' another, 0 none. */
static char compressed(const uint8_t *p, size_t n)
{
	if (n >= 4 && ((p[0] >= 0x1e && p[0] <= 0x28 && memcmp(p + 1, "\xb5\x2f\xfd", 3) == 0) ||
		       (p[0] >= 0x50 && p[0] <= 0x5f && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0)))
		return 'z';
	if ((n >= 3 && memcmp(p, "\x1f\x8b\x08", 3) == 0) ||
	    (n >= 4 && memcmp(p, "\x04\x22\x4d\x18", 4) == 0) ||
	    (n >= 6 && memcmp(p, "\xfd\x37\x7a\x58\x5a\x00", 6) == 0) ||
	    (n >= 10 && memcmp(p, "BZh", 3) == 0 && memcmp(p + 4, "1AY&SY", 6) == 0) ||
	    (n >= 4 && memcmp(p, "PK\3\4", 4) == 0) ||
	    (n >= 4 && (memcmp(p, "fLaC", 4) == 0 || memcmp(p, "OggS", 4) == 0)))
		return 'o';
	return 0;
}

/*
 * One input of the walk; false where the walk ends with it. A stream whose few allowed bytes end
 * inside its magic number may be refused or not: a pipe that is still being written does not show
 * it.
 */
static bool walk_input(struct plain *p, const struct plan *plan, const struct feed *f,
		       uint64_t *budget)
{
	const struct setup *spec = &plan->spec;
	const uint8_t *data = f->data + f->offset;
	const size_t size = f->size - f->offset;
	const char magic = spec->open.raw ? 0 : compressed(data, size);

	p->totals.inputs++;
	p->totals.streamed |= !is_file(f);
	p->open_ended |= magic == 'z';
	p->header |= !spec->open.raw && header_known(data, size);
	const bool seen = f->kind != PIPE_TRICKLE || spec->open.skip >= 12 || *budget >= 12;
	if (magic)
		p->verdict = seen ? REFUSED : EITHER;
	if (spec->open.skip > size)
		p->verdict = REFUSED;
	/* A stream that is read in small pieces: some records were handed out before the error. */
	if (spec->open.skip > size || (magic && is_file(f)))
		return false;
	const uint64_t whole = (size - spec->open.skip) / spec->use.record,
		       tail = (size - spec->open.skip) % spec->use.record;
	const uint64_t records = whole < *budget ? whole : *budget;
	const size_t bytes = (size_t)records * spec->use.record;
	memcpy(p->data + p->used, data + spec->open.skip, bytes);
	p->used += bytes;
	p->totals.skipped += spec->open.skip;
	p->totals.bytes += spec->open.skip + bytes;
	p->left_at = f->offset + (size_t)spec->open.skip + bytes;
	/* A tail after the last record that -n allows is not read. */
	const bool to_the_end = *budget > whole;
	*budget -= records;
	if (to_the_end && tail > 0) {
		p->totals.tail += tail;
		p->totals.tails++;
		p->totals.bytes += tail;
		p->verdict = spec->open.ignore_tail ? p->verdict : REFUSED;
	}
	return p->verdict != REFUSED;
}

static void walk(struct plain *p, const struct plan *plan)
{
	uint64_t budget = plan->spec.use.limit;

	for (size_t i = 0; i < plan->spec.open.path_count && budget > 0; i++)
		if (!walk_input(p, plan, &plan->feed[i], &budget))
			break;
}

/* A longer input than the fuzzer sent: its bytes repeated, each time a little different. */
static void feed_take(struct feed *f, struct bytes *b, size_t bytes)
{
	bytes = bytes < b->size ? bytes : b->size;
	bytes = bytes < INPUT_MAX / f->times ? bytes : INPUT_MAX / f->times;
	f->size = bytes * f->times;
	f->data = malloc(f->size + 1);
	for (size_t i = 0; i < f->size; i++)
		f->data[i] = b->data[i % bytes] ^ (uint8_t)(i / bytes);
	b->data += bytes;
	b->size -= bytes;
}

static struct plan take_plan(struct bytes *b)
{
	struct plan plan = {.spec.use.record = 0};
	struct setup *spec = &plan.spec;
	size_t sizes[INPUTS];

	const unsigned flags = (unsigned)take(b, 1);
	spec->open.ignore_tail = flags & 1;
	spec->open.raw = flags & 2;
	plan.stop = flags & 4 ? 1 + (flags >> 6) : 0;
	const uint32_t record = (uint32_t)take(b, 1);
	spec->use.record = record < 200   ? 1 + record % 8
			   : record < 240 ? record
					  : (record - 239) * 1001;
	spec->open.path_count = 1 + (size_t)take(b, 1) % INPUTS;
	const uint64_t skip = take(b, 2);
	spec->open.skip = flags & 8                       ? skip % 2048
			  : flags & 32 && skip % 64 == 63 ? UINT64_MAX - skip
							  : skip % 32;
	const uint64_t limit = take(b, 2);
	spec->use.limit = flags & 16 ? limit % (skip % 2 ? 16 : 4096) : UINT64_MAX;
	plan.fills = (unsigned)take(b, 1);
	bool stdin_taken = false;
	for (size_t i = 0; i < spec->open.path_count; i++) {
		struct feed *f = &plan.feed[i];
		const unsigned kind = (unsigned)take(b, 1);
		f->kind = (enum kind)(kind % KINDS);
		f->times = 1 + kind / KINDS % 17;
		if (stdin_taken && f->kind == FILE_STDIN) /* there is only one */
			f->kind = FILE_NAMED;
		if (stdin_taken && f->kind == PIPE_STDIN)
			f->kind = PIPE_FULL;
		stdin_taken |= f->kind == FILE_STDIN || f->kind == PIPE_STDIN;
		sizes[i] = (size_t)take(b, 2);
	}
	for (size_t i = 0; i < spec->open.path_count; i++) {
		struct feed *f = &plan.feed[i];
		feed_take(f, b, i + 1 == spec->open.path_count ? b->size : sizes[i]);
		f->offset = f->kind == FILE_STDIN ? sizes[i] % 7 % (f->size + 1) : 0;
	}
	return plan;
}

/* Fills of changing sizes, each into memory of just that size. Returns the last fill's verdict. */
static int read_all(struct source *s, const struct plan *plan, const struct plain *expected,
		    size_t *used, struct fail *fail)
{
	const uint32_t record = plan->spec.use.record;
	struct reader *const reader = source_reader(s);
	unsigned fills = 0;
	size_t got = 0;
	int rc;

	*used = 0;
	do {
		const size_t cap = record + (plan->fills * 37u + fills * (plan->fills & 31)) % 300;
		uint8_t *buffer = malloc(cap);
		rc = take_copy(reader, buffer, cap, &got, fail);
		REQUIRE(rc == 0 || (rc == -1 && got == 0), "%d, with %zu bytes", rc, got);
		REQUIRE(got <= cap && got % record == 0, "%zu bytes of %zu", got, cap);
		if (!expected->open_ended)
			REQUIRE(*used + got <= expected->used &&
					memcmp(buffer, expected->data + *used, got) == 0,
				"other bytes than were there, behind %zu of %zu", *used,
				expected->used);
		*used += got;
		free(buffer);
		if (++fills == plan->stop)
			source_stop(s);
		REQUIRE(plan->stop == 0 || fills <= plan->stop || got == 0, "data behind a stop");
	} while (rc == 0 && got > 0);
	/* After the end there is nothing more, and a failure stays. */
	uint8_t *const last = malloc(record);
	REQUIRE(take_copy(reader, last, record, &got, fail) == rc && got == 0,
		"data behind the end");
	free(last);
	return rc;
}

static void check_totals(struct source *s, const struct plain *expected, size_t used)
{
	const struct source_totals *t = source_totals(s), *e = &expected->totals;

	REQUIRE(t->bytes == t->skipped + used + t->tail, "%llu bytes, %zu handed out",
		(unsigned long long)t->bytes, used);
	if (expected->open_ended)
		return;
	REQUIRE(used == expected->used, "%zu of %zu bytes", used, expected->used);
	REQUIRE(t->bytes == e->bytes && t->skipped == e->skipped && t->tail == e->tail &&
			t->tails == e->tails,
		"%llu bytes, %llu skipped, tail %llu", (unsigned long long)t->bytes,
		(unsigned long long)t->skipped, (unsigned long long)t->tail);
	REQUIRE(t->inputs == e->inputs && t->streamed == e->streamed, "%llu inputs",
		(unsigned long long)t->inputs);
	REQUIRE(source_finished(s), "%zu bytes, and not finished", used);
}

static void run(const struct plan *plan, const struct plain *expected)
{
	struct fail fail = {.status = STATUS_OK};
	struct source *s;
	size_t used;

	if (setup_open(&s, &plan->spec, &fail) != 0) {
		REQUIRE(expected->open_ended || expected->verdict != FINE, "%s", fail.text);
		return;
	}
	const int rc = read_all(s, plan, expected, &used, &fail);
	if (rc != 0)
		REQUIRE(fail.text[0] != '\0' &&
				(expected->open_ended || fail.status == STATUS_DATA),
			"%d: %s", (int)fail.status, fail.text);
	if (plan->stop == 0) {
		const bool right = expected->open_ended || expected->verdict == EITHER ||
				   (rc == 0) == (expected->verdict == FINE);
		REQUIRE(right, "%s: %s", rc == 0 ? "accepted" : "refused", fail.text);
		if (rc == 0)
			check_totals(s, expected, used);
	}
	source_close(s);
	/*
	 * A redirected file is left at the end of its last record, for the next program that reads
	 * it.
	 */
	const struct feed *last = &plan->feed[0];
	if (plan->spec.open.path_count == 1 && last->kind == FILE_STDIN && plan->stop == 0 &&
	    rc == 0 && plan->spec.use.limit > 0 && !expected->open_ended)
		REQUIRE(lseek(last->fd, 0, SEEK_CUR) == (off_t)expected->left_at,
			"left at %lld, not %zu", (long long)lseek(last->fd, 0, SEEK_CUR),
			expected->left_at);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	signal(SIGPIPE, SIG_IGN);
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	REQUIRE(nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0, "/dev/null");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, size};
	size_t all = 1;
	struct plan plan = take_plan(&b);
	struct plain expected = {.verdict = FINE};

	for (unsigned i = 0; i < plan.spec.open.path_count; i++) {
		feed_open(&plan.feed[i], i);
		plan.paths[i] = plan.feed[i].path;
		all += plan.feed[i].size;
	}
	plan.spec.open.paths = plan.paths;
	expected.data = malloc(all);
	walk(&expected, &plan);
	if (!expected.header)
		run(&plan, &expected);
	free(expected.data);
	for (unsigned i = 0; i < plan.spec.open.path_count; i++)
		feed_close(&plan.feed[i]);
	return 0;
}
