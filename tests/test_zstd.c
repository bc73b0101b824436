/* SPDX-License-Identifier: MIT */
/*
 * zstd: what random inputs would meet by luck: who works beside whom, what is taken of the memory,
 * what is read ahead, when another worker is called for, and where -n ends in a pipe that stays
 * open.
 */
#include <sys/socket.h>

#include "pack.h"
#include "readers.h"
#include "input/zstd_frame.h"

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
			source_done(reader[i], &chunk[i], chunk[i].bytes);
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
				source_done(r, &chunk, chunk.bytes);
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
			source_done(r, &chunk, chunk.bytes);
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

/* ---- -n in a pipe ---- */

/* All records within -n are there; the writer stays and writes no more: no reader waits for it. */
static void stays(void)
{
	static char *const STDIN[] = {"-"};
	const size_t front = (size_t)8 << 20, bytes = front + 1000; /* whole blocks, and one more */
	unsigned char *data = malloc(bytes);
	uint64_t records, sum, state = 4;
	int ends[2];

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30 & 15);
	for (unsigned round = 0; round < 12; round++) {
		struct setup spec = {.open.paths = STDIN,
				     .open.path_count = 1,
				     .use.record = 1,
				     .use.threads = 4,
				     .open.zstd = true};
		struct pack p = {.state = 1};
		switch (round % 3) {
		case 0: /* ten bytes of a frame after one whose size is not known yet */
			pack_frame(&p, data, front, 1, false, true, 0);
			memcpy(pack_room(&p, 1009), "\x28\xb5\x2f\xfd\x00\x58\x40\x1f\x00", 9);
			memcpy(p.data + p.bytes + 9, data + front, 1000);
			p.bytes += 1009;
			spec.use.limit = front + 10;
			break;
		case 1: /* all the bytes that a header declares, and not yet the frame's end */
			memcpy(pack_room(&p, 400000), "\x28\xb5\x2f\xfd\x80\x58\xe0\x93\x04\x00",
			       10);
			p.bytes += 10;
			for (unsigned i = 0; i < 3; i++) {
				/* 100,000 bytes, not the last */
				memcpy(p.data + p.bytes, "\x00\x35\x0c", 3);
				memcpy(p.data + p.bytes + 3, data + i * 100000, 100000);
				p.bytes += 100003;
			}
			spec.use.limit = 300000;
			break;
		default: /* a frame shorter than headers may be */
			memcpy(pack_room(&p, 10), "\x28\xb5\x2f\xfd\x20\x01\x09\x00\x00", 9);
			p.data[9] = data[0];
			p.bytes += 10;
			spec.use.limit = 1;
		}
		expected(data, bytes, &spec, &records, &sum);
		if (pipe(ends) != 0)
			continue;
		const pid_t feeder = feed(ends[1], p.data, p.bytes, 1 << 16);
		to_stdin(ends[0]);
		const struct outcome o = read_all(&spec, 1 + round / 3, 65536);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum,
		      "round %u: %llu of %llu records, '%s'", round, (unsigned long long)o.records,
		      (unsigned long long)records, o.fail.text);
		CHECK(o.totals.packed > 0, "round %u: nothing was read", round);
		close(ends[1]);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
		free(p.data);
	}
	free(data);
}

static void put_raw(struct pack *p, const void *bytes, size_t n, bool told, bool last)
{
	unsigned char *const at = pack_room(p, 32 + n);
	const uint64_t size = n;
	const uint32_t block = (uint32_t)n << 3 | last;
	size_t used = 6;

	memcpy(at, told ? "\x28\xb5\x2f\xfd\xc0\x58" : "\x28\xb5\x2f\xfd\x00\x58", 6);
	for (unsigned i = 0; told && i < 8; i++)
		at[used++] = (unsigned char)(size >> 8 * i);
	for (unsigned i = 0; i < 3; i++)
		at[used++] = (unsigned char)(block >> 8 * i);
	memcpy(at + used, bytes, n);
	p->bytes += used + n;
}

/*
 * -n ends in a frame that goes on, in a pipe that stays open, after many small frames that do not
 * declare their sizes: where that frame begins is known only when these are decoded.
 */
static void unplaced(void)
{
	enum { LONG = 100000, FRAMES = 8000, LAST = 50 };
	static char *const STDIN[] = {"-"};
	unsigned char *data = calloc(1, LONG);
	struct pack p = {.state = 1};

	put_raw(&p, data, LONG, false, true); /* brings a second worker */
	put_raw(&p, data, 1, true, true);
	for (unsigned i = 0; i < FRAMES; i++)
		put_raw(&p, data, 1, false, true);
	put_raw(&p, data, LAST, false, false);
	for (unsigned round = 0; round < 12; round++) {
		const struct setup spec = {.open.paths = STDIN,
					   .open.path_count = 1,
					   .use.record = 1,
					   .use.threads = 4,
					   .use.limit = LONG + 1 + FRAMES + LAST};
		int ends[2];
		if (pipe(ends) != 0)
			exit(1);
		const pid_t feeder = feed(ends[1], p.data, p.bytes, p.bytes);
		to_stdin(ends[0]);
		alarm(30);
		const struct outcome o = read_all(&spec, 1 + round % 4, 65536);
		alarm(0);
		CHECK(o.rc == 0 && o.records == spec.use.limit, "%llu records '%s'",
		      (unsigned long long)o.records, o.fail.text);
		close(ends[1]);
		waitpid(feeder, NULL, 0);
	}
	free(p.data);
	free(data);
}

/*
 * -n allows fewer bytes than a magic number has: it is recognised if it is there, or --zstd waits
 * for it; else the bytes are samples, and none beyond -n is waited for.
 */
static void few(void)
{
	static char *const STDIN[] = {"-"};
	static const unsigned char FRAME[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, 0x21,
					      0,    0,    7,    7,    7,    7};
	uint64_t records, sum;

	for (unsigned round = 0; round < 24; round++) {
		const struct setup spec = {.open.paths = STDIN,
					   .open.path_count = 1,
					   .use.limit = 1,
					   .use.record = 1,
					   .open.zstd = round / 2 % 2};
		const size_t first = 1 + round / 4;
		int ends[2];
		const bool seen = spec.open.zstd || first >= 4;
		expected(seen ? FRAME + 9 : FRAME, 4, &spec, &records, &sum);
		if ((round % 2 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) != 0)
			continue;
		const pid_t feeder = fork();
		if (feeder == 0) {
			const bool all = write(ends[1], FRAME, first) == (ssize_t)first &&
					 (seen ? usleep(20000) : pause()) == 0 &&
					 write(ends[1], FRAME + first, sizeof(FRAME) - first) > 0;
			_exit(!all);
		}
		close(ends[1]);
		to_stdin(ends[0]);
		const struct outcome o = read_all(&spec, 1, 4096);
		CHECK(o.rc == 0 && o.records == 1 && o.sum == sum,
		      "round %u: %llu records, sum %llu, '%s'", round,
		      (unsigned long long)o.records, (unsigned long long)o.sum, o.fail.text);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
	}
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
	stays();
	few();
	unplaced();
	scratch_leave();
	return check_report();
}
