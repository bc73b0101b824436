/* SPDX-License-Identifier: MIT */
/* zstd_ahead: what the system is asked to read ahead; very many small frames. */
#include "pack.h"
#include "readers.h"
#include "input/zstd_frame.h"

#define MIB ((uint64_t)1 << 20)

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
	const struct source_spec spec = {
		.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 1, .threads = 2};
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

/* 200,000 frames of 100 bytes that do not declare their sizes, from a file and from a pipe. */
static void very_many(void)
{
	static char *const FILES[] = {"f"}, *const STDIN[] = {"-"};
	enum { EACH = 100, KINDS = 500, TIMES = 400 };
	unsigned char data[EACH * KINDS];
	uint64_t state = 6, records, sum;
	struct pack p = {.state = 1};

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(check_random(&state) >> 61);
	for (unsigned i = 0; i < KINDS; i++)
		pack_frame(&p, data + i * EACH, EACH, 1, false, i % 2, 0);
	const size_t once = p.bytes;
	for (unsigned i = 1; i < TIMES; i++) {
		unsigned char *to = pack_room(&p, once);
		memcpy(to, p.data, once);
		p.bytes += once;
	}
	scratch_write("f", p.data, p.bytes);
	for (unsigned round = 0; round < 6; round++) {
		struct source_spec spec = {.paths = round % 2 ? STDIN : FILES,
					   .path_count = 1,
					   .limit = UINT64_MAX,
					   .record = 4,
					   .threads = 1u << round / 2};
		pid_t feeder = round % 2 ? feed_stdin(p.data, p.bytes, 100000) : -1;
		expected(data, sizeof(data), &spec, &records, &sum);
		alarm(300);
		const struct outcome o = read_all(&spec, spec.threads, 65536);
		alarm(0);
		CHECK(o.rc == 0 && o.records == TIMES * records && o.sum == TIMES * sum,
		      "round %u: %llu records, '%s'", round, (unsigned long long)o.records,
		      o.fail.text);
		if (feeder > 0)
			waitpid(feeder, NULL, 0);
	}
	free(p.data);
	scratch_clean();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	skipped();
	very_many();
	scratch_leave();
	return check_report();
}
