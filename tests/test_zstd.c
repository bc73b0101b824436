/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * zstd: what random inputs would meet by luck: who works beside whom, what is taken of the memory,
 * what is read ahead, and when another worker is called for.
 */
#include "pack.h"
#include "readers.h"
#include "zstd/zstd_frame.h"

#define MIB ((uint64_t)1 << 20)

/* Each worker has a frame of its own, of a file and of a pipe: no worker waits for another. */
static void side_by_side(void)
{
	static char *const PATHS[][1] = {{"f"}, {"-"}};
	unsigned char *data = malloc(4 << 20);
	struct pack p = {.state = 1};

	for (unsigned i = 0; i < 4 << 20; i++)
		data[i] = (unsigned char)(i % 251);
	for (unsigned i = 0; i < 4; i++)
		pack_frame(&p, data + (i << 20), 1 << 20, 1, i % 2, true, 0);
	scratch_write("f", p.data, p.bytes);
	for (unsigned piped = 0; piped <= 1; piped++) {
		const struct setup spec = {.open.paths = PATHS[piped],
					   .open.path_count = 1,
					   .use.limit = UINT64_MAX,
					   .use.record = 1,
					   .use.threads = 4,
					   .use.memory = 64 << 20};
		const struct want want = {.cap = 1 << 20, .lent = true};
		struct reader *reader[4];
		struct chunk chunk[4];
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		size_t bytes = 0;
		pid_t feeder = -1;
		if (piped)
			feeder = feed_stdin(p.data, p.bytes, 70000);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		for (unsigned i = 0; i < 4; i++) {
			reader[i] = source_reader(s);
			CHECK(source_take(reader[i], &want, &chunk[i], &fail) == 0 &&
				      chunk[i].bytes == 1 << 20,
			      "%zu bytes '%s'", chunk[i].bytes, fail.text);
			bytes += chunk[i].bytes;
		}
		CHECK(bytes == 4 << 20, "%zu bytes", bytes);
		for (unsigned i = 0; i < 4; i++)
			CHECK(chunk[i].data &&
				      memcmp(chunk[i].data, data + (i << 20), 1 << 20) == 0,
			      "frame %u", i);
		for (unsigned i = 0; i < 4; i++)
			source_done(reader[i], &chunk[i]);
		source_close(s);
		if (feeder > 0)
			waitpid(feeder, NULL, 0);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

/* What decoders hold stays within -M, whatever the order of the frames. */
static void stays_within(void)
{
	static char *const PATHS[] = {"f"}, *const STDIN[] = {"-"};
	const size_t bytes = (size_t)20 << 20;
	unsigned char *data = malloc(bytes);
	struct pack p = {.state = 1};
	uint64_t state = 8, most = 0, sum = 0;

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(i < bytes / 2 ? i >> 16 : check_random(&state) >> 30);
	for (unsigned i = 0; i < 12; i++) {
		static const size_t SIZES[] = {9 << 20, 5 << 20, 20 << 20, 251 << 16};
		const size_t n = SIZES[i % 4];
		/* compresses well, noise, a large window, unknown size that nearly fits */
		sum += n;
		pack_frame(&p, i % 4 == 1 ? data + bytes - n : data, n, 1, i % 4 != 3, true,
			   i % 4 == 2 ? 23 : 0);
	}
	scratch_write("f", p.data, p.bytes);
	for (unsigned round = 0; round < 8; round++) {
		const bool piped = round % 2, lends = round / 2 % 2;
		const unsigned threads = 1 + round / 4;
		const struct setup spec = {.open.paths = piped ? STDIN : PATHS,
					   .open.path_count = 1,
					   .use.limit = UINT64_MAX,
					   .use.record = 1,
					   .use.threads = threads,
					   .use.memory = (uint64_t)16 * threads << 20};
		unsigned char *buffer = malloc(bytes);
		const struct want want = {
			.room = buffer, .cap = round == 2 ? bytes : 65536, .lent = lends};
		struct chunk chunk;
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		uint64_t all = 0;
		int rc;
		pid_t feeder = -1;
		if (piped)
			feeder = feed_stdin(p.data, p.bytes, 70000);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		most = 0;
		do {
			rc = source_take(r, &want, &chunk, &fail);
			all += chunk.bytes;
			const uint64_t held = s->budget.held + s->budget.kept;
			most = held > most ? held : most;
			if (rc == 0)
				source_done(r, &chunk);
		} while (rc == 0 && all < sum);
		CHECK(rc == 0 && all == sum, "round %u: %d, %llu bytes, '%s'", round, rc,
		      (unsigned long long)all, fail.text);
		CHECK(most > 0 && most <= spec.use.memory, "round %u: %llu bytes", round,
		      (unsigned long long)most);
		source_close(s);
		free(buffer);
		if (feeder > 0)
			waitpid(feeder, NULL, 0);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

/*
 * Of two frames that fail, the one that is reported comes first in the file, though it is longer and
 * fails later.
 */
static void first_failure(void)
{
	static char *const PATHS[] = {"f"};
	const size_t bytes = (size_t)2 << 20;
	unsigned char *const data = malloc(bytes);
	struct pack p = {.state = 1};
	uint64_t state = 6;

	for (size_t i = 0; i < bytes; i++)
		data[i] = check_random(&state) >> 40 & 31;
	for (unsigned i = 0; i < 2; i++) {
		pack_frame(&p, data, i == 0 ? bytes : 1000, 1, true, true, 0);
		p.data[p.bytes - 1] ^= 1;
	}
	scratch_write("f", p.data, p.bytes);
	for (unsigned round = 0; round < 20; round++) {
		const struct setup spec = {.open = {.paths = PATHS, .path_count = 1},
					   .use = {.limit = UINT64_MAX, .record = 1, .threads = 4}};
		const struct outcome o = read_all(&spec, 4, 65536);
		CHECK(o.rc == -1 && strstr(o.fail.text, "frame at offset 0: "), "'%s'",
		      o.fail.text);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

static void count_call(void *arg)
{
	++*(unsigned *)arg;
}

/*
 * Another worker is called for before each large frame that others follow, and before no small one.
 */
static void calls(void)
{
	static char *const PATHS[] = {"f"};
	const size_t large = (size_t)1 << 20, small = (size_t)1 << 16;
	unsigned char *data = calloc(5, large);
	unsigned called = 0;
	const struct setup spec = {.open.paths = PATHS,
				   .open.path_count = 1,
				   .use.limit = UINT64_MAX,
				   .use.record = 1,
				   .use.threads = 2,
				   .use.more = count_call,
				   .use.arg = &called};

	for (unsigned frames = 1; frames <= 4; frames++) {
		for (unsigned big = 0; big <= 1; big++) {
			struct pack p = {.state = 1};
			for (unsigned i = 0; i < frames; i++)
				pack_frame(&p, data, big ? large : small, 1, false, true, 0);
			scratch_write("f", p.data, p.bytes);
			called = 0;
			const struct outcome o = read_all(&spec, 1, 5 * large);
			CHECK(o.rc == 0 && o.records == frames * (big ? large : small), "%s",
			      o.fail.text);
			CHECK(called == (big ? frames - 1 : 0), "%u calls for %u frames", called,
			      frames);
			free(p.data);
		}
	}
	free(data);
	scratch_clean();
}

/*
 * Small frames are decoded many at a time, those too that declare no size and have a window as
 * small as their data: one by one, two readers waited for each other at every frame, and were three
 * times as slow as one.
 */
static void small_windows(void)
{
	static char *const FILES[] = {"small"};
	enum { FRAMES = 2000, BYTES = 100 };
	unsigned char data[BYTES];
	struct pack p = {.state = 1};
	uint64_t sum = 0;

	for (unsigned i = 0; i < FRAMES; i++) {
		/*
		 * Of few values, or of one: blocks that are compressed, repeat, or are stored as
		 * they are.
		 */
		const unsigned values = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 256;
		for (unsigned k = 0; k < BYTES; k++)
			sum += data[k] = (unsigned char)pack_draw(&p, values);
		pack_silent(&p, data, BYTES, 1, i & 1);
	}
	scratch_write("small", p.data, p.bytes);
	for (unsigned lent = 0; lent < 2; lent++) {
		const struct setup spec = {.open.paths = FILES,
					   .open.path_count = 1,
					   .use.limit = UINT64_MAX,
					   .use.record = 1,
					   .use.threads = 1};
		static unsigned char buffer[1 << 16];
		const struct want want = {.room = buffer, .cap = sizeof(buffer), .lent = lent};
		struct fail fail = {.status = STATUS_OK};
		struct chunk chunk;
		struct source *s;
		unsigned chunks = 0;
		uint64_t bytes = 0, added = 0;
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		while (source_take(r, &want, &chunk, &fail) == 0 && chunk.bytes > 0) {
			for (size_t i = 0; i < chunk.bytes; i++)
				added += chunk.data[i];
			bytes += chunk.bytes;
			chunks++;
			source_done(r, &chunk);
		}
		CHECK(fail.status == STATUS_OK && bytes == FRAMES * BYTES && added == sum,
		      "%llu bytes, '%s'", (unsigned long long)bytes, fail.text);
		CHECK(chunks < FRAMES / 50, "%u chunks of %u frames", chunks, FRAMES);
		source_close(s);
	}
	free(p.data);
	scratch_clean();
}

/* ---- what the system is asked to read ahead ---- */

/* In place of libc's: what was asked for. */
static struct {
	uint64_t from, to;
} asked[1000];
static unsigned asked_count;

int posix_fadvise(int fd, off_t offset, off_t length, int advice)
{
	(void)fd;
	if (advice == POSIX_FADV_WILLNEED && asked_count < sizeof(asked) / sizeof(asked[0])) {
		asked[asked_count].from = (uint64_t)offset;
		asked[asked_count++].to = (uint64_t)(offset + length);
	}
	return 0;
}

/* Bytes between these two offsets that were asked for, each time. */
static uint64_t asked_of(uint64_t from, uint64_t to)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < asked_count; i++) {
		const uint64_t a = asked[i].from > from ? asked[i].from : from,
			       b = asked[i].to < to ? asked[i].to : to;
		bytes += a < b ? b - a : 0;
	}
	return bytes;
}

/*
 * A frame, one of 1 GiB to be skipped, and frames: what is skipped is not read, what follows is,
 * once.
 */
static void skipped(void)
{
	static char *const PATHS[] = {"f"};
	const uint64_t gap = 1024 * MIB;
	const size_t bytes = 4 * MIB;
	unsigned char *data = malloc(bytes);
	uint64_t state = 5, records, sum;
	struct pack p = {.state = 1};

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 56);
	pack_frame(&p, data, bytes, 1, true, true, 0);
	const size_t one = p.bytes;
	FILE *f = fopen("f", "wb");
	CHECK(f && fwrite(p.data, 1, one, f) == one &&
		      fwrite("\x50\x2a\x4d\x18\0\0\0\x40", 1, 8, f) == 8 &&
		      fseek(f, (long)gap, SEEK_CUR) == 0,
	      "f");
	for (unsigned i = 0; i < 8; i++)
		CHECK(fwrite(p.data, 1, one, f) == one, "f");
	CHECK(fclose(f) == 0, "f");
	asked_count = 0;
	const struct setup spec = {.open.paths = PATHS,
				   .open.path_count = 1,
				   .use.limit = UINT64_MAX,
				   .use.record = 1,
				   .use.threads = 2};
	expected(data, bytes, &spec, &records, &sum);
	const struct outcome o = read_all(&spec, 2, 65536);
	CHECK(o.rc == 0 && o.records == 9 * records && o.sum == 9 * sum, "'%s'", o.fail.text);
	const uint64_t end = one + 8 + gap, after = 8 * one;
	CHECK(asked_of(one + 8, end) <= 16 * MIB, "%llu bytes for nothing",
	      (unsigned long long)asked_of(one + 8, end));
	CHECK(asked_of(0, one) <= one && asked_of(0, one) >= one - FRAME_HEADER_MAX,
	      "%llu of %zu bytes", (unsigned long long)asked_of(0, one), one);
	CHECK(asked_of(end, end + after) >= after - one && asked_of(end, end + after) <= after,
	      "%llu of %llu bytes after it", (unsigned long long)asked_of(end, end + after),
	      (unsigned long long)after);
	free(p.data);
	free(data);
	scratch_clean();
}

/* Bytes that this process has read so far. */
static uint64_t bytes_read_by_us(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long long n = 0;

	CHECK(f && fscanf(f, "rchar: %llu", &n) == 1, "/proc/self/io");
	if (f)
		fclose(f);
	return n;
}

/* -n ends in the beginning of a long frame: little of it is read, or asked for. */
static void bounded(void)
{
	static char *const PATHS[] = {"f"};
	enum { BLOCK = 128 << 10, BLOCKS = 4800 };
	static const unsigned char HEADER[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x68};

	FILE *f = fopen("f", "wb");
	CHECK(f && fwrite(HEADER, 1, sizeof(HEADER), f) == sizeof(HEADER), "f");
	for (unsigned i = 0; i < BLOCKS; i++) {
		const uint32_t block = BLOCK << 3 | (i + 1 == BLOCKS);
		const unsigned char head[] = {(unsigned char)block, (unsigned char)(block >> 8),
					      (unsigned char)(block >> 16)};
		CHECK(fwrite(head, 1, 3, f) == 3 && fseek(f, BLOCK, SEEK_CUR) == 0, "f");
	}
	CHECK(fclose(f) == 0, "f");
	for (unsigned threads = 1; threads <= 16; threads *= 2) {
		const struct setup spec = {.open.paths = PATHS,
					   .open.path_count = 1,
					   .use.limit = 1000,
					   .use.record = 1,
					   .use.threads = threads};
		asked_count = 0;
		const uint64_t before = bytes_read_by_us();
		const struct outcome o = read_all(&spec, threads, 65536);
		const uint64_t some = bytes_read_by_us() - before + asked_of(0, UINT64_MAX);
		CHECK(o.rc == 0 && o.records == 1000, "'%s'", o.fail.text);
		CHECK(some < 64 * MIB, "%u threads: %llu bytes", threads, (unsigned long long)some);
	}
	scratch_clean();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	alarm(120); /* a reader that waits for another, or for a writer, would wait for ever */
	scratch_enter();
	side_by_side();
	stays_within();
	first_failure();
	calls();
	small_windows();
	skipped();
	bounded();
	scratch_leave();
	return check_report();
}
