/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * zstd: what no record and no message shows: who decodes frames, when another worker or a device is
 * called for, what is read, and what is expected. The jobs of the source (tests/source) read records.
 */
#include "frames/zstd_job.h"

#include "check.h"
#include "pack.h"
#include "scratch.h"
#include "take.h"
#include "unpack_soft.h"

#define MIB ((size_t)1 << 20)
#define LONG (2 * MIB + 300001) /* decoded in blocks */

typedef unsigned long long ull;

static char *const FILES[] = {"f", "f"}, *const STDIN[] = {"-"};
static unsigned char *data; /* LONG bytes; see fill() */

static struct setup setup_of(unsigned threads)
{
	return (struct setup){.open = {.paths = FILES, .path_count = 1},
			      .use = {.limit = UINT64_MAX, .record = 1, .threads = threads}};
}

enum { LITERALS, MATCHES }; /* mostly */

static void fill(int kind)
{
	uint64_t state = 79;

	memset(data, 0, LONG);
	for (size_t i = 0; i + 4 <= LONG; i += kind == LITERALS ? 1 : 4) {
		const uint64_t r = check_random(&state);
		const uint32_t bell =
			(uint32_t)((r >> 8 & 255) + (r >> 16 & 255) + (r >> 24 & 255));
		if (kind == LITERALS)
			data[i] = r >> 40 & 31;
		else
			memcpy(data + i, &bell, 4);
	}
}

/* Frames of n bytes of the data each. */
static struct pack pack_frames(unsigned frames, size_t n, bool told)
{
	struct pack p = {.state = 1};

	for (unsigned i = 0; i < frames; i++)
		pack_frame(&p, data, n, 1, told, true, 0);
	return p;
}

static void write_frames(unsigned frames, size_t n, bool told)
{
	struct pack p = pack_frames(frames, n, told);

	scratch_write("f", p.data, p.bytes);
	free(p.data);
}

struct outcome {
	int rc;
	uint64_t bytes, unpacked;
	unsigned chunks;
	bool blocks; /* a frame was decoded in blocks */
	struct fail fail;
};

/* One reader reads all, of whatever number of threads. */
static struct outcome read_all(const struct setup *spec)
{
	static unsigned char buffer[65536];
	const struct want want = {.buffer = buffer, .cap = sizeof(buffer), .lent = true};
	struct outcome o = {.rc = 0};
	struct chunk chunk;
	struct source *s;

	if ((o.rc = setup_open(&s, spec, &o.fail)) != 0)
		return o;
	struct reader *const r = source_reader(s);
	while ((o.rc = source_take(r, &want, &chunk, &o.fail)) == 0 && chunk.bytes > 0) {
		lock_take(&s->lock);
		for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j))
			o.blocks |= j->cut.how == HOW_BLOCKS;
		lock_drop(&s->lock);
		o.bytes += chunk.bytes;
		o.chunks++;
		source_done(r, &chunk);
	}
	o.unpacked = source_totals(s)->zstd.unpacked;
	source_close(s);
	return o;
}

/* ---- who decodes ---- */

/* Each worker has a frame of its own, of a file and of a pipe: no worker waits for another. */
static void side_by_side(void)
{
	for (unsigned piped = 0; piped <= 1; piped++) {
		struct setup spec = setup_of(4);
		const struct want want = {.cap = MIB, .lent = true};
		struct pack p = {.state = 1};
		struct reader *reader[4];
		struct chunk chunk[4];
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		int ends[2];
		for (unsigned i = 0; i < 4; i++) {
			memset(data, (int)i, MIB);
			pack_frame(&p, data, MIB, 1, i % 2, true, 0);
		}
		scratch_write("f", p.data, p.bytes);
		if (piped && pipe(ends) == 0) {
			CHECK(write(ends[1], p.data, p.bytes) == (ssize_t)p.bytes, "pipe");
			close(ends[1]);
			dup2(ends[0], STDIN_FILENO);
			close(ends[0]);
			spec.open.paths = STDIN;
		}
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		for (unsigned i = 0; i < 4; i++) {
			reader[i] = source_reader(s);
			CHECK(source_take(reader[i], &want, &chunk[i], &fail) == 0 &&
				      chunk[i].bytes == MIB,
			      "%zu bytes '%s'", chunk[i].bytes, fail.text);
		}
		for (unsigned i = 0; i < 4; i++) {
			CHECK(chunk[i].data && chunk[i].data[MIB - 1] == i, "frame %u", i);
			source_done(reader[i], &chunk[i]);
		}
		source_close(s);
		free(p.data);
	}
}

/*
 * Small frames are decoded many at a time, those too that declare no size and have a window as
 * small as their data: one by one, two readers waited for each other at every frame, and were three
 * times as slow as one.
 */
static void small_windows(void)
{
	enum { FRAMES = 2000, BYTES = 100 };
	const struct setup spec = setup_of(1);
	struct pack p = {.state = 1};

	for (unsigned i = 0; i < FRAMES; i++) {
		/* Blocks that are compressed, repeat, or are stored as they are. */
		const unsigned values = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 256;
		for (unsigned k = 0; k < BYTES; k++)
			data[k] = (unsigned char)pack_draw(&p, values);
		pack_silent(&p, data, BYTES, 1, i & 1);
	}
	scratch_write("f", p.data, p.bytes);
	const struct outcome o = read_all(&spec);
	CHECK(o.rc == 0 && o.bytes == FRAMES * BYTES, "%llu bytes, '%s'", (ull)o.bytes,
	      o.fail.text);
	CHECK(o.chunks < FRAMES / 50, "%u chunks of %u frames", o.chunks, FRAMES);
	free(p.data);
}

/* Two threads take blocks only where they are mostly literals. */
static void pays(void)
{
	for (int kind = LITERALS; kind <= MATCHES; kind++) {
		fill(kind);
		write_frames(1, LONG, true);
		for (unsigned threads = 1; threads < 4; threads++) {
			const struct setup spec = setup_of(threads);
			const struct outcome o = read_all(&spec);
			CHECK(o.rc == 0 && o.bytes == LONG &&
				      o.blocks == (threads > (kind == LITERALS ? 1 : 2)),
			      "data %d, %u threads: %d '%s'", kind, threads, o.blocks, o.fail.text);
		}
	}
}

/*
 * A device is started for a frame if that pays, by what the file has from there on: here a frame to
 * be skipped. If it is not ready then, the cores decode.
 */
static void started(void)
{
	fill(MATCHES);
	for (unsigned round = 0; round < 12; round++) {
		const bool large = round % 3 > 0;
		struct soft *const device = soft_open(3, 1000, round + 1);
		struct setup spec = setup_of(1 + round / 3);
		struct pack p = pack_frames(1, LONG, false);
		device->never = round % 3 == 2;
		spec.use.limit = (uint64_t)1 << 40; /* in what may be left */
		spec.use.unpacker = &device->unpacker;
		spec.use.start_device = soft_start;
		spec.use.arg = device;
		memcpy(pack_room(&p, 8), "\x50\x2a\x4d\x18\0\0\0\x40", 8);
		p.bytes += large ? 8 : 0;
		scratch_write("f", p.data, p.bytes);
		CHECK(!large || truncate("f", (off_t)(p.bytes + 1024 * MIB)) == 0, "f");
		const struct outcome o = read_all(&spec);
		CHECK(o.rc == 0 && o.bytes == LONG, "round %u: %llu bytes '%s'", round,
		      (ull)o.bytes, o.fail.text);
		CHECK(device->starts == large, "round %u: started %u times", round, device->starts);
		CHECK(o.unpacked == (round % 3 == 1 ? LONG : 0), "round %u: %llu bytes", round,
		      (ull)o.unpacked);
		soft_close(device);
		free(p.data);
	}
}

static void count_call(void *arg)
{
	++*(unsigned *)arg;
}

/* Another worker is called for before each large frame that others follow, before no small one. */
static void calls(void)
{
	for (unsigned i = 0; i < 8; i++) {
		const unsigned frames = 1 + i / 2, large = i % 2;
		unsigned called = 0;
		struct setup spec = setup_of(2);
		spec.use.start_worker = count_call;
		spec.use.arg = &called;
		fill(MATCHES);
		write_frames(large ? frames : 8 * frames, large ? MIB : MIB / 16, true);
		const struct outcome o = read_all(&spec);
		CHECK(o.rc == 0 && called == (large ? frames - 1 : 0),
		      "%u calls for %u frames '%s'", called, frames, o.fail.text);
	}
}

/* ---- what is expected ---- */

/* In the middle of many frames it is known how many bytes they have, about; of unknown sizes not. */
static void expects(void)
{
	static unsigned char buffer[65536];

	fill(LITERALS);
	for (unsigned round = 0; round < 4; round++) {
		const bool sized = round % 2, twice = round / 2;
		const uint64_t all = 8 * LONG * (twice ? 2 : 1);
		struct setup spec = setup_of(2);
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		size_t got, used = 0;
		spec.open.path_count = twice ? 2 : 1;
		write_frames(8, LONG, sized);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		while (used < 7 * LONG / 2 &&
		       take_copy(r, buffer, sizeof(buffer), &got, &fail) == 0)
			used += got;
		const uint64_t said = source_expected(s);
		CHECK(sized ? said > all / 10 * 9 && said < all / 10 * 11 : said == 0,
		      "round %u: %llu of %llu bytes", round, (ull)said, (ull)all);
		source_stop(s);
		source_close(s);
	}
}

/* ---- what is read ---- */

/* In place of libc's: what the system is asked to read ahead. */
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

/* A frame, one of 1 GiB to be skipped, and frames: what is skipped is not read, the rest once. */
static void skipped(void)
{
	const uint64_t gap = 1024 * MIB;
	const struct setup spec = setup_of(2);

	fill(LITERALS);
	struct pack p = pack_frames(1, LONG, true);
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
	const struct outcome o = read_all(&spec);
	CHECK(o.rc == 0 && o.bytes == 9 * LONG, "'%s'", o.fail.text);
	const uint64_t end = one + 8 + gap, after = 8 * one;
	CHECK(asked_of(one + 8, end) <= 16 * MIB, "%llu bytes for nothing",
	      (ull)asked_of(one + 8, end));
	CHECK(asked_of(0, one) <= one && asked_of(0, one) >= one - FRAME_HEADER_MAX,
	      "%llu of %zu bytes", (ull)asked_of(0, one), one);
	CHECK(asked_of(end, end + after) >= after - one && asked_of(end, end + after) <= after,
	      "%llu of %llu bytes after it", (ull)asked_of(end, end + after), (ull)after);
	free(p.data);
}

/* Bytes that this process has read so far. */
static uint64_t bytes_read_by_us(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	ull n = 0;

	CHECK(f && fscanf(f, "rchar: %llu", &n) == 1, "/proc/self/io");
	if (f)
		fclose(f);
	return n;
}

/* -n ends in the beginning of a long frame: little of it is read, or asked for. */
static void bounded(void)
{
	enum { BLOCK = 128 << 10, BLOCKS = 4800 };
	static const unsigned char HEADER[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x68};

	FILE *f = fopen("f", "wb");
	CHECK(f && fwrite(HEADER, 1, sizeof(HEADER), f) == sizeof(HEADER), "f");
	for (unsigned i = 0; i < BLOCKS; i++) {
		const uint32_t block = BLOCK << 3 | (i + 1 == BLOCKS);
		CHECK(fwrite(&block, 1, 3, f) == 3 && fseek(f, BLOCK, SEEK_CUR) == 0, "f");
	}
	CHECK(fclose(f) == 0, "f");
	for (unsigned threads = 1; threads <= 16; threads *= 2) {
		struct setup spec = setup_of(threads);
		spec.use.limit = 1000;
		asked_count = 0;
		const uint64_t before = bytes_read_by_us();
		const struct outcome o = read_all(&spec);
		const uint64_t some = bytes_read_by_us() - before + asked_of(0, UINT64_MAX);
		CHECK(o.rc == 0 && o.bytes == 1000, "'%s'", o.fail.text);
		CHECK(some < 64 * MIB, "%u threads: %llu bytes", threads, (ull)some);
	}
}

int main(void)
{
	alarm(120); /* a reader that waits for another would wait for ever */
	data = malloc(LONG);
	scratch_enter();
	side_by_side();
	small_windows();
	pays();
	started();
	calls();
	expects();
	skipped();
	bounded();
	scratch_leave();
	free(data);
	return check_report();
}
