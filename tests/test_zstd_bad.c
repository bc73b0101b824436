/* SPDX-License-Identifier: MIT */
/* zstd_bad: damaged compressed input is detected, reported and does no harm. */
#include "pack.h"
#include "readers.h"

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
		const struct setup spec = {.open.paths = PATHS,
					   .open.path_count = 1,
					   .use.record = 1,
					   .use.threads = 4,
					   .use.limit = kind == 2   ? 100000
							: kind == 0 ? (1 << 20) + 1 + round * 3000
								    : 1200000,
					   .use.memory = 4 << 20};
		const struct outcome o = read_all(&spec, 1 + round % 4, 65536);
		CHECK(o.rc == (kind == 2 ? 0 : -1), "kind %u: %d '%s'", kind, o.rc, o.fail.text);
		CHECK(o.records <= spec.use.limit, "kind %u: %llu records", kind,
		      (unsigned long long)o.records);
		free(p.data);
	}
	free(data);
	scratch_clean();
}

/*
 * A file is cut after its first records were read: an error that says so, or a warning, and the
 * records before the cut that were decoded are counted, each once.
 */
static void cut_meanwhile(void)
{
	static char *const PATHS[] = {"f"};
	static const uint32_t RECORDS[] = {1, 3, 4, 70001};
	const size_t n = 5 << 20;
	unsigned char *const data = malloc(n), *const room = malloc(n);
	uint64_t state = 4;
	unsigned shorter = 0;

	for (unsigned i = 0; i < 96; i++) {
		const unsigned kind = i % 6;
		struct setup spec = {.open.paths = PATHS,
				     .open.path_count = 1,
				     .use.limit = UINT64_MAX,
				     .use.record = RECORDS[check_random(&state) >> 40 & 3],
				     .use.threads = 1 + (unsigned)(check_random(&state) >> 40 & 7),
				     .open.ignore_tail = i / 6 % 2};
		const struct want want = {
			.room = room, .cap = 200000, .lent = check_random(&state) >> 40 & 1};
		struct worker w = {.record = spec.use.record};
		struct fail fail = {.status = STATUS_OK};
		struct pack p = {.state = 1};
		struct source *s;
		struct chunk chunk;
		uint64_t records, sum;
		int rc;

		for (size_t k = 0; k < n; k++) /* what is stored; or else mostly literals */
			data[k] = (unsigned char)(check_random(&state) >> 40 &
						  (kind == 0 ? 255 : 31));
		/* one long frame, or frames of 10 KB to 2 MB that say how long they are, or do not */
		const size_t each = kind < 2 ? n : kind < 4 ? 10007 : 2000003;
		for (size_t at = 0; at < n; at += each)
			pack_frame(&p, data + at, each < n - at ? each : n - at, 1,
				   kind != 3 && kind != 5, true, 0);
		scratch_write("f", p.data, p.bytes);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		rc = source_take(r, &want, &chunk, &fail);
		/* anywhere, or where the first frame ends */
		struct frame f;
		const bool known = frame_measure(p.data, p.bytes, &f);
		const size_t to = known && i % 5 == 0 && each < n
					  ? (size_t)f.stored
					  : (check_random(&state) >> 20) % p.bytes;
		if (truncate("f", (off_t)to) != 0)
			perror("truncate");
		while (rc == 0 && chunk.bytes > 0) {
			add(&w, chunk.data, chunk.bytes);
			source_done(r, &chunk, chunk.bytes);
			rc = source_take(r, &want, &chunk, &fail);
		}
		const struct source_totals t = *source_totals(s);
		shorter += t.shorter > 0;
		if (t.shorter > 0 && !spec.open.ignore_tail)
			CHECK(rc == -1 && fail.status == STATUS_DATA &&
				      strstr(fail.text, "f: became shorter while"),
			      "round %u, cut to %zu: %d '%s'", i, to, rc, fail.text);
		else
			CHECK(rc == 0 || !spec.open.ignore_tail, "round %u, cut to %zu: '%s'", i,
			      to, fail.text);
		if (rc == 0) {
			spec.use.limit = w.records;
			expected(data, n, &spec, &records, &sum);
			CHECK(records == w.records && sum == w.sum && source_finished(s),
			      "round %u, cut to %zu: %llu records", i, to,
			      (unsigned long long)w.records);
			CHECK(t.bytes == t.tail + w.records * spec.use.record &&
				      (t.shorter > 0 || w.records == n / spec.use.record),
			      "round %u: %llu bytes, %llu records", i, (unsigned long long)t.bytes,
			      (unsigned long long)w.records);
		} else {
			CHECK(strstr(fail.text, "shorter") || n % spec.use.record != 0,
			      "round %u: '%s'", i, fail.text);
		}
		source_close(s);
		free(p.data);
	}
	CHECK(shorter > 48, "%u files became shorter", shorter);
	free(data);
	free(room);
	scratch_clean();
}

static struct outcome read_bytes(const void *bytes, size_t n, const struct setup *given)
{
	static char *const PATHS[] = {"bad"};
	struct setup spec = *given;

	scratch_write("bad", bytes, n);
	spec.open.paths = PATHS;
	spec.open.path_count = 1;
	return read_all(&spec, 1 + n % 2, 4096);
}

static const struct setup PLAIN = {.use.limit = UINT64_MAX, .use.record = 1, .use.threads = 2};

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

/* What is far more than it seems: a wrong content size costs no memory. */
static void bombs(void)
{
	/* It declares 2^60 bytes and holds four. */
	static const unsigned char LIE[] = {0x28, 0xb5, 0x2f, 0xfd, 0xc0, 8 << 3, 0,
					    0,    0,    0,    0,    0,    0,      0x10,
					    0x21, 0,    0,    'a',  'b',  'c',    'd'};
	struct outcome o = read_bytes(LIE, sizeof(LIE), &PLAIN);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA, "a lying content size: %d '%s'", o.rc,
	      o.fail.text);

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

int main(void)
{
	scratch_enter();
	lies();
	cut_meanwhile();
	bad_input();
	bombs();
	scratch_leave();
	return check_report();
}
