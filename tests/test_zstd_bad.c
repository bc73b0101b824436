/* SPDX-License-Identifier: MIT */
/* zstd_bad: damaged compressed input is detected, reported and does no harm. */
#include "pack.h"
#include "readers.h"

/* A header declares 5000 bytes and the frame has none: detected when decoded piece by piece too. */
static void empty_promise(void)
{
	static const unsigned char FRAME[] = {0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x88, 0x12, 1, 0, 0};
	static char *const PATHS[] = {"f"};

	scratch_write("f", FRAME, sizeof(FRAME));
	for (size_t cap = 100; cap <= 10000; cap *= 100) {
		const struct source_spec spec = {
			.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 1};
		unsigned char buffer[10000];
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		size_t got;
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		CHECK(take_copy(source_reader(s), buffer, cap, &got, &fail) == -1 &&
			      fail.status == STATUS_DATA,
		      "cap %zu: %zu bytes", cap, got);
		source_close(s);
	}
	scratch_clean();
}

/* n blocks of 100,000 raw bytes, after a header that declares another size. */
static void pack_lie(struct pack *p, uint64_t content, const unsigned char *data, unsigned n)
{
	unsigned char *at = pack_room(p, 14);

	memcpy(at, "\x28\xb5\x2f\xfd\xc0\x50", 6);
	for (unsigned i = 0; i < 8; i++)
		at[6 + i] = (unsigned char)(content >> 8 * i);
	p->bytes += 14;
	for (unsigned i = 0; i < n; i++) {
		const unsigned head = 100000u << 3 | (i == n - 1);
		at = pack_room(p, 100003);
		for (unsigned k = 0; k < 3; k++)
			at[k] = (unsigned char)(head >> 8 * k);
		memcpy(at + 3, data + i * 100000, 100000);
		p->bytes += 100003;
	}
}

/* Offsets of frames depend on the sizes in headers: a wrong size is reported, and -n holds. */
static void lies(void)
{
	static char *const PATHS[] = {"f"};
	unsigned char *data = malloc(2000000);
	uint64_t state = 5;

	for (size_t i = 0; i < 2000000; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30);
	for (unsigned round = 0; round < 24; round++) {
		/* too little, a piece's end; too little; far too much */
		const unsigned kind = round % 3;
		struct pack p = {.state = 1};
		if (kind == 2)
			pack_frame(&p, data, 10, 1, true, false, 0);
		pack_lie(&p, kind == 0 ? 1 << 20 : kind == 1 ? 5 : UINT64_MAX - 4, data, 20);
		pack_frame(&p, data, 300000, 1, true, true, 0);
		scratch_write("f", p.data, p.bytes);
		const struct source_spec spec = {.paths = PATHS,
						 .path_count = 1,
						 .record = 1,
						 .threads = 4,
						 .limit = kind == 2   ? 100000
							  : kind == 0 ? (1 << 20) + 1 + round * 3000
								      : 1200000,
						 .memory = 4 << 20};
		const struct outcome o = read_all(&spec, 1 + round % 4, 65536);
		CHECK(o.rc == (kind == 2 ? 0 : -1), "kind %u: %d '%s'", kind, o.rc, o.fail.text);
		CHECK(o.records <= spec.limit, "kind %u: %llu records", kind,
		      (unsigned long long)o.records);
		free(p.data);
	}
	free(data);
	scratch_clean();
}

/*
 * One frame fails after a skippable one has shown that nothing follows, and then a lent chunk is
 * given back: the record whose other half is missing is not an error of its own.
 */
static struct worker meanwhile;

static void fail_meanwhile(void *arg)
{
	(void)arg;
	if (meanwhile.lends)
		return;
	meanwhile.lends = true;
	pthread_create(&meanwhile.thread, NULL, ask_once, &meanwhile);
	wait_for(&meanwhile);
}

static void one_error(void)
{
	static char *const PATHS[] = {"f"};
	const size_t first = 1002, second = (2 << 20) - 2;
	const struct source_spec spec = {.paths = PATHS,
					 .path_count = 1,
					 .limit = UINT64_MAX,
					 .record = 4,
					 .threads = 4,
					 .memory = 64 << 20,
					 .more = fail_meanwhile};
	unsigned char *data = calloc(1, first + second), buffer[4096];
	const struct want want = {.room = buffer, .cap = sizeof(buffer), .lent = true};
	struct chunk chunk;
	struct worker w = {.cap = 4096, .lends = true};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	struct source *s;

	pack_frame(&p, data, first, 1, true, true, 0);
	pack_frame(&p, data + first, second, 1, true, true, 0);
	p.data[p.bytes - 1] ^= 1; /* its checksum */
	pack_skippable(&p, 10);
	scratch_write("f", p.data, p.bytes);
	CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
	struct reader *const reader = source_reader(s);
	CHECK(source_take(reader, &want, &chunk, &fail) == 0 && chunk.bytes == 1000, "%zu bytes",
	      chunk.bytes);
	w.source = meanwhile.source = s;
	meanwhile.cap = 4096;
	pthread_create(&w.thread, NULL, ask_once, &w);
	pthread_join(w.thread, NULL);
	pthread_join(meanwhile.thread, NULL);
	source_done(reader, &chunk, chunk.bytes);
	CHECK(source_failure(s, &fail) == -1 && strstr(fail.text, "checksum"), "'%s'", fail.text);
	CHECK(meanwhile.rc == 0, "'%s'", meanwhile.fail.text);
	source_close(s);
	free(p.data);
	free(data);
	scratch_clean();
}

/*
 * A frame that -S skips is damaged, and another worker has all records within -n before it is
 * decoded.
 */
static void skipped_error(void)
{
	static char *const PATHS[] = {"f"};
	const size_t first = 2 << 20, second = 1000;
	const struct source_spec spec = {.paths = PATHS,
					 .path_count = 1,
					 .skip = first,
					 .limit = 100,
					 .record = 1,
					 .threads = 4,
					 .memory = 64 << 20,
					 .more = fail_meanwhile};
	unsigned char *data = calloc(1, first + second);
	struct worker w = {.cap = 4096, .lends = true};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	struct source *s;

	pack_frame(&p, data, first, 1, true, true, 0);
	p.data[p.bytes - 1] ^= 1;
	pack_frame(&p, data + first, second, 1, true, true, 0);
	scratch_write("f", p.data, p.bytes);
	CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
	w.source = s;
	meanwhile = (struct worker){.source = s, .cap = 4096};
	pthread_create(&w.thread, NULL, ask_once, &w);
	pthread_join(w.thread, NULL);
	pthread_join(meanwhile.thread, NULL);
	CHECK(meanwhile.records == 100 || strstr(meanwhile.fail.text, "checksum"),
	      "%llu records '%s'", (unsigned long long)meanwhile.records, meanwhile.fail.text);
	CHECK(w.rc == -1 && strstr(w.fail.text, "checksum"), "%d '%s'", w.rc, w.fail.text);
	source_close(s);
	free(p.data);
	free(data);
	scratch_clean();
}

/* A file is cut before a frame that was found, and inside it. */
static size_t cut_to;

static void cut(void *arg)
{
	(void)arg;
	if (truncate("f", (off_t)cut_to) != 0)
		perror("truncate");
}

static void cut_meanwhile(void)
{
	static char *const PATHS[] = {"f"};
	const struct source_spec spec = {.paths = PATHS,
					 .path_count = 1,
					 .limit = UINT64_MAX,
					 .record = 1,
					 .threads = 1,
					 .more = cut};
	const size_t each = 2 << 20;
	unsigned char *data = malloc(2 * each);
	struct pack p = {.state = 1};
	uint64_t state = 4;

	for (size_t i = 0; i < 2 * each; i++)
		data[i] = (unsigned char)(check_random(&state) >> 40);
	pack_frame(&p, data, each, 1, true, true, 0);
	const size_t first = p.bytes;
	pack_frame(&p, data + each, each, 1, true, true, 0);
	for (unsigned i = 0; i < 8; i++) {
		cut_to = i % 4 == 0 ? 0 : i % 4 == 1 ? 6 : first - (i % 4 == 2 ? 4 : 1);
		scratch_write("f", p.data, p.bytes);
		/* lent, copied */
		const struct outcome o = read_all(&spec, 1, i < 4 ? 4097 : 4 << 20);
		CHECK(o.rc == -1 && strstr(o.fail.text, "the input ends inside it"),
		      "cut to %zu: %d, %llu records '%s'", cut_to, o.rc,
		      (unsigned long long)o.records, o.fail.text);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

static struct outcome read_bytes(const void *bytes, size_t n, const struct source_spec *given)
{
	static char *const PATHS[] = {"bad"};
	struct source_spec spec = *given;

	scratch_write("bad", bytes, n);
	spec.paths = PATHS;
	spec.path_count = 1;
	return read_all(&spec, 1 + n % 2, 4096);
}

static const struct source_spec PLAIN = {.limit = UINT64_MAX, .record = 1, .threads = 2};

static void is_bad(const void *bytes, size_t n, const char *why, const char *what)
{
	const struct outcome o = read_bytes(bytes, n, &PLAIN);

	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA && strstr(o.fail.text, why) &&
		      !strchr(o.fail.text, '\n'),
	      "%s: %d, %d '%s'", what, o.rc, (int)o.fail.status, o.fail.text);
}

static void bad_input(void)
{
	unsigned char data[700];
	uint64_t state = 3;
	struct pack p = {.state = 5};

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(check_random(&state) & 15);
	pack_frame(&p, data, 300, 3, true, true, 0);
	const size_t first = p.bytes;
	pack_frame(&p, data + 300, 400, 3, false, true, 0);
	uint64_t records, sum;
	expected(data, sizeof(data), &PLAIN, &records, &sum);
	/* Cut anywhere but between frames: an error that names the frame. */
	for (size_t n = 4; n < p.bytes; n++) {
		if (n == first)
			continue;
		is_bad(p.data, n, "at offset ", "cut");
	}
	/* Every byte changed: detected by the checksum, or the count is right all the same. */
	for (size_t i = 0; i < p.bytes; i++) {
		const unsigned char was = p.data[i];
		p.data[i] ^= (unsigned char)(1u << i % 8);
		const struct outcome o = read_bytes(p.data, p.bytes, &PLAIN);
		/* Without its first four bytes the input is not zstd. */
		CHECK(i < 4 ||
			      (o.rc == -1 &&
			       (o.fail.status == STATUS_DATA || o.fail.status == STATUS_LIMIT)) ||
			      (o.rc == 0 && o.records == records && o.sum == sum),
		      "byte %zu: %d, %llu records '%s'", i, o.rc, (unsigned long long)o.records,
		      o.fail.text);
		p.data[i] = was;
	}
	for (size_t n = 1; n <= 8; n++) {
		memset(pack_room(&p, 8), 0, 8);
		is_bad(p.data, p.bytes + n, "garbage", "zeros behind the last frame");
		memset(pack_room(&p, 8), 0xa5, 8);
		is_bad(p.data, p.bytes + n, "garbage", "garbage behind the last frame");
	}
	static const char BEGUN[] = "\x28\xb5\x2f\x52\x2a\x4d";
	for (size_t n = 1; n <= 3; n++) {
		memcpy(pack_room(&p, 8), BEGUN, n);
		is_bad(p.data, p.bytes + n, "inside its header", "a frame begun");
		memcpy(pack_room(&p, 8), BEGUN + 3, n);
		is_bad(p.data, p.bytes + n, "inside its header", "a skippable frame begun");
	}
	is_bad("\x28\xb5\x2f\xfd", 4, "inside its header", "magic alone");
	is_bad("\x28\xb5\x2f\xfd and then no zstd at all", 28, "at offset 0",
	       "raw data that begins with the magic");
	is_bad("\x50\x2a\x4d\x18\xff\xff\xff\xff....", 12, "inside it",
	       "a skippable frame without an end");
	is_bad("\x25\xb5\x2f\xfd..........", 14, "before 0.8", "a legacy frame");
	struct pack legacy = {.state = 1};
	pack_frame(&legacy, data, 100, 1, true, false, 0);
	memcpy(pack_room(&legacy, 16), "\x26\xb5\x2f\xfd............", 16);
	is_bad(legacy.data, legacy.bytes + 16, "before 0.8", "a legacy frame behind another");
	free(legacy.data);
	/* A header with a dictionary's number, and one with the reserved bit. */
	is_bad("\x28\xb5\x2f\xfd\x21\x07\x01\x01\x00\x00", 10, "dictionary", "a dictionary");
	is_bad("\x28\xb5\x2f\xfd\x28\x01\x09\x00\x00\x00", 10, "no version", "the reserved bit");
	/* A block that is larger than the window of 1 KiB allows. */
	is_bad("\x28\xb5\x2f\xfd\x00\x00\x63\x62\x00\x00", 10, "at offset 0",
	       "a block larger than its window");
	/* Wrong sizes: a frame that declares more, or less, than it holds. */
	static const unsigned char LIES[][13] = {
		{0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x21, 0, 0, 'a', 'b', 'c', 'd'},
		{0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x21, 0, 0, 'a', 'b', 'c', 'd'}};
	is_bad(LIES[0], 13, "at offset 0", "more than there is");
	is_bad(LIES[1], 13, "at offset 0", "less than there is");
	free(p.data);
	scratch_clean();
}

/*
 * A window that does not fit is refused with the -M that would do; a wrong content size costs no
 * memory.
 */
static void limits(void)
{
	/* No single segment: the window descriptor says 2^31; one raw block of four bytes. */
	unsigned char big[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 0x21, 0, 0, 'a', 'b', 'c', 'd'};
	struct source_spec spec = PLAIN;

	spec.memory = 256 << 20;
	spec.zstd = true;
	struct outcome o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_LIMIT && strstr(o.fail.text, "-M 2097152K"),
	      "'%s'", o.fail.text);
	spec.memory = (uint64_t)1 << 31;
	o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == 0 && o.records == 4, "with that much: %d '%s'", o.rc, o.fail.text);
	big[5] = 31 << 3;
	o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == -1 && strstr(o.fail.text, "2 GiB"), "'%s'", o.fail.text);
	big[5] = 17 << 3; /* 128 MiB: always */
	spec.memory = 128 << 20;
	o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == 0 && o.records == 4, "128 MiB: %d '%s'", o.rc, o.fail.text);
	/* It declares 2^60 bytes and holds four. */
	static const unsigned char LIE[] = {0x28, 0xb5, 0x2f, 0xfd, 0xc0, 8 << 3, 0,
					    0,    0,    0,    0,    0,    0,      0x10,
					    0x21, 0,    0,    'a',  'b',  'c',    'd'};
	o = read_bytes(LIE, sizeof(LIE), &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA, "a lying content size: %d '%s'", o.rc,
	      o.fail.text);

	spec = PLAIN;
	spec.zstd = true;
	o = read_bytes("no zstd", 7, &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA && strstr(o.fail.text, "--zstd"), "'%s'",
	      o.fail.text);
	spec.zstd = false;
	spec.raw = true;
	o = read_bytes("\x28\xb5\x2f\xfd.", 5, &spec);
	CHECK(o.rc == 0 && o.records == 5, "--raw: %d '%s'", o.rc, o.fail.text);
	/* A hundred thousand empty frames, and a bomb of 64 MiB in a few kilobytes. */
	struct pack p = {.state = 1};
	pack_frame(&p, "", 0, 1, true, false, 0);
	const size_t one = p.bytes;
	for (unsigned i = 1; i < 100000; i++) {
		unsigned char *at = pack_room(&p, one);
		memcpy(at, p.data, one);
		p.bytes += one;
	}
	unsigned char *zeros = calloc(1, 64 << 20);
	pack_frame(&p, zeros, 64 << 20, 3, false, true, 0);
	o = read_bytes(p.data, p.bytes, &PLAIN);
	CHECK(o.rc == 0 && o.records == 64 << 20, "empty frames and a bomb: %llu '%s'",
	      (unsigned long long)o.records, o.fail.text);
	free(zeros);
	free(p.data);
	scratch_clean();
}

/* -S beyond the end, tails, and an error in the middle that stops every worker. */
static void ends(void)
{
	unsigned char data[100];
	struct pack p = {.state = 1};
	struct source_spec spec = PLAIN;

	memset(data, 'x', sizeof(data));
	for (unsigned i = 0; i < 10; i++)
		pack_frame(&p, data, 10, 1, i % 2, false, 0);
	spec.record = 8;
	struct outcome o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA && strstr(o.fail.text, "4 of 8 bytes"),
	      "'%s'", o.fail.text);
	spec.ignore_tail = true;
	o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == 0 && o.records == 12 && o.totals.tail == 4 && o.totals.tails == 1, "'%s'",
	      o.fail.text);
	spec.skip = 101;
	o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == -1 && strstr(o.fail.text, "to skip"), "'%s'", o.fail.text);
	spec.skip = 100;
	o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == 0 && o.records == 0 && o.totals.skipped == 100, "'%s'", o.fail.text);
	/* What is after the limit of -n is not looked at. */
	spec.skip = 0;
	spec.limit = 3;
	memset(pack_room(&p, 4), 'x', 4);
	o = read_bytes(p.data, p.bytes + 4, &spec);
	CHECK(o.rc == 0 && o.records == 3 && o.finished, "'%s'", o.fail.text);
	free(p.data);
	scratch_clean();
}

int main(void)
{
	scratch_enter();
	empty_promise();
	lies();
	one_error();
	skipped_error();
	cut_meanwhile();
	bad_input();
	limits();
	ends();
	scratch_leave();
	return check_report();
}
