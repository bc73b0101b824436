/* SPDX-License-Identifier: MIT */
/*
 * source_zstd: readers get from compressed inputs exactly what was compressed, with any number of
 * workers, any kind of frames and any memory.
 */
#include "pack.h"
#include "readers.h"

/* By every way of reading, the output is the input. */
static void round_trips(void)
{
	static char *const PATHS[] = {"a", "b"};
	static const size_t CAPS[] = {24, 240, 4080, 131064, 1048560};
	uint64_t state = 7;
	unsigned char *data = malloc(3 << 20);

	for (unsigned i = 0; i < 3 << 20; i++)
		data[i] = (unsigned char)((i % 8 < 3 ? check_random(&state) : 0) & 0x1f);
	for (unsigned round = 0; round < 120; round++) {
		static const size_t MOST[] = {40, 3000, 100000, 3 << 20};
		const size_t n = (size_t)(check_random(&state) >> 11) % MOST[round % 4];
		struct pack a = pack_all(data, n, check_random(&state));
		struct pack b = pack_all(data, n, check_random(&state));
		struct source_spec spec = {
			.paths = PATHS,
			.path_count = 1 + round % 3 / 2,
			.limit = UINT64_MAX,
			.record = 1 + round % 8,
			.ignore_tail = true,
			.threads = 1 + round % 5,
			.zstd = round % 2,
			/* from little, so that large frames are long ones, to plenty */
			.memory = (uint64_t)1 << (22 + check_random(&state) % 6),
		};
		spec.skip = round % 3 == 0 ? n / 3 : 0;
		if (round % 5 == 0)
			spec.limit = 1 + n / spec.record / 2;
		uint64_t records, sum, records2 = 0, sum2 = 0;
		expected(data, n, &spec, &records, &sum);
		if (spec.path_count == 2) {
			struct source_spec rest = spec;
			if (rest.limit != UINT64_MAX)
				rest.limit -= records;
			expected(data, n, &rest, &records2, &sum2);
		}
		scratch_write("a", a.data, a.bytes);
		if (round % 4 == 3 && mkfifo("b", 0600) == 0) {
			/* and the other through a pipe */
		} else {
			scratch_write("b", b.data, b.bytes);
		}
		for (unsigned workers = 1; workers <= WORKERS; workers += 3) {
			pid_t feeder = -1;
			if (round % 4 == 3 && spec.path_count == 2 && (feeder = fork()) == 0) {
				int fd = open("b", O_WRONLY);
				int status;
				waitpid(feed(fd, b.data, b.bytes, 1 + check_random(&state) % 70000),
					&status, 0);
				_exit(0);
			}
			const size_t cap = CAPS[check_random(&state) % 5] / 24 * 24 / spec.record *
					   spec.record;
			const struct outcome o =
				read_all(&spec, workers, cap + round % 2 * spec.record);
			if (feeder > 0) {
				kill(feeder, SIGKILL);
				waitpid(feeder, NULL, 0);
			}
			CHECK(o.rc == 0 && o.records == records + records2 && o.sum == sum + sum2,
			      "round %u, %zu bytes, %u workers: %llu of %llu records, %s", round, n,
			      workers, (unsigned long long)o.records,
			      (unsigned long long)(records + records2), o.fail.text);
			CHECK(o.finished && o.totals.bytes == o.totals.skipped + o.totals.tail +
								      o.records * spec.record,
			      "round %u: %llu bytes", round, (unsigned long long)o.totals.bytes);
		}
		free(a.data);
		free(b.data);
		scratch_clean();
	}
	free(data);
}

static void pipes(void)
{
	static char *const STDIN[] = {"-"};
	static const size_t EACH[] = {1, 3, 17, 4096, 1 << 20};
	uint64_t state = 99;
	unsigned char *data = malloc(400000);

	/* Half of it does not compress: blocks of the largest size. */
	for (unsigned i = 0; i < 400000; i++)
		data[i] = (unsigned char)(check_random(&state) >> 20 & (i < 200000 ? 255 : 7));
	for (unsigned round = 0; round < 60; round++) {
		const size_t each = EACH[round % 5];
		const size_t n = (size_t)(check_random(&state) % (each < 20 ? 4000 : 400000));
		struct pack p = pack_all(data, n, check_random(&state));
		const struct source_spec spec = {.paths = STDIN,
						 .path_count = 1,
						 .limit = UINT64_MAX,
						 .record = 1 + round % 3,
						 .ignore_tail = true,
						 .threads = 3,
						 .memory = round % 2 ? 4 << 20 : 64 << 20};
		uint64_t records, sum;
		expected(data, n, &spec, &records, &sum);
		const pid_t feeder = feed_stdin(p.data, p.bytes, each);
		const struct outcome o = read_all(&spec, 1 + round % 2 * 2, 6000);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum,
		      "pipe, round %u: %llu of %llu records, %s", round,
		      (unsigned long long)o.records, (unsigned long long)records, o.fail.text);
		free(p.data);
	}
	free(data);
}

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
		const struct source_spec spec = {.paths = PATHS[piped],
						 .path_count = 1,
						 .limit = UINT64_MAX,
						 .record = 1,
						 .threads = 4,
						 .memory = 64 << 20};
		const struct want want = {.cap = 1 << 20, .lent = true};
		struct reader *reader[4];
		struct chunk chunk[4];
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		size_t bytes = 0;
		pid_t feeder = -1;
		if (piped)
			feeder = feed_stdin(p.data, p.bytes, 70000);
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		alarm(30); /* a worker that waited for another would wait for ever */
		for (unsigned i = 0; i < 4; i++) {
			reader[i] = source_reader(s);
			CHECK(source_take(reader[i], &want, &chunk[i], &fail) == 0 &&
				      chunk[i].bytes == 1 << 20,
			      "%zu bytes '%s'", chunk[i].bytes, fail.text);
			bytes += chunk[i].bytes;
		}
		alarm(0);
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

/*
 * A long frame of unknown size, and frames after it that wait for their offsets. Slow workers hold
 * all pieces of its ring at times: even then a worker must go on with it.
 */
static void held_up(void)
{
	static char *const PATHS[] = {"f"};
	const struct source_spec spec = {
		.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 4, .threads = 8};
	const size_t bytes = (size_t)6 << 20, front = (size_t)5 << 20;
	unsigned char *data = malloc(bytes);
	struct pack p = {.state = 1};
	struct worker w[8] = {{.rc = 0}};
	uint64_t records, sum, all = 0, total = 0;
	struct fail fail = {.status = STATUS_OK};
	struct source *s;

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(i / 1000 % 200);
	pack_frame(&p, data, front, 1, false, true, 10);
	for (size_t at = front; at < bytes; at += 1 << 14)
		pack_frame(&p, data + at, 1 << 14, 1, at / 3 % 2, false, 0);
	scratch_write("f", p.data, p.bytes);
	expected(data, bytes, &spec, &records, &sum);
	CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
	alarm(30);
	for (unsigned i = 0; i < 8; i++) {
		w[i] = (struct worker){
			.source = s, .cap = 4096, .lends = true, .record = 4, .slow = true};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(w[i].thread, NULL);
		all += w[i].records;
		total += w[i].sum;
		CHECK(w[i].rc == 0, "'%s'", w[i].fail.text);
	}
	alarm(0);
	CHECK(all == records && total == sum, "%llu of %llu records", (unsigned long long)all,
	      (unsigned long long)records);
	source_close(s);
	free(p.data);
	free(data);
	scratch_clean();
}

/*
 * Long frames of unknown size, each of which begins inside a record. A reader that completes such a
 * record has it to hand out, and pieces of the same frame that no other reader may take before it.
 */
static void torn(void)
{
	static char *const PATHS[] = {"f"};
	const size_t bytes = ((size_t)5 << 20) + 1; /* more than a worker's share of the memory */
	unsigned char *data = malloc(5 * bytes);
	struct pack p = {.state = 1};
	const struct source_spec spec = {.paths = PATHS,
					 .path_count = 1,
					 .limit = UINT64_MAX,
					 .record = 4,
					 .threads = 4,
					 .memory = 16 << 20,
					 .ignore_tail = true};
	uint64_t records, sum;

	for (size_t i = 0; i < 5 * bytes; i++)
		data[i] = (unsigned char)(i / 700);
	for (size_t i = 0; i < 5; i++)
		pack_frame(&p, data + i * bytes, bytes, 1, false, true, 0);
	scratch_write("f", p.data, p.bytes);
	expected(data, 5 * bytes, &spec, &records, &sum);
	for (unsigned workers = 1; workers <= WORKERS; workers++) {
		alarm(30);
		const struct outcome o = read_all(&spec, workers, 4096);
		alarm(0);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum,
		      "%u workers: %llu of %llu records, '%s'", workers,
		      (unsigned long long)o.records, (unsigned long long)records, o.fail.text);
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
		const struct source_spec spec = {.paths = piped ? STDIN : PATHS,
						 .path_count = 1,
						 .limit = UINT64_MAX,
						 .record = 1,
						 .threads = threads,
						 .memory = (uint64_t)16 * threads << 20};
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
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		most = 0;
		do {
			rc = source_take(r, &want, &chunk, &fail);
			all += chunk.bytes;
			const uint64_t held = s->held + s->kept;
			most = held > most ? held : most;
			if (rc == 0)
				source_done(r, &chunk, chunk.bytes);
		} while (rc == 0 && all < sum);
		CHECK(rc == 0 && all == sum, "round %u: %d, %llu bytes, '%s'", round, rc,
		      (unsigned long long)all, fail.text);
		CHECK(most > 0 && most <= spec.memory, "round %u: %llu bytes", round,
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
 * Frames of stored blocks, from files and pipes: blocks of 128 KiB and records of any size, so that
 * these begin and end anywhere in them.
 */
static void stored(void)
{
	static char *const PATHS[] = {"f"}, *const STDIN[] = {"-"};
	static const uint32_t RECORDS[] = {1, 3, 100001, 131072, 175000, 233333, 262145, 700000};
	const size_t each = 700000, bytes = 3 * each;
	unsigned char *data = malloc(bytes);
	struct pack p = {.state = 1};
	uint64_t state = 3, records, sum;

	for (size_t i = 0; i < bytes; i++) /* the middle of one is one byte, repeated */
		data[i] = i / each == 1 && i % each / 200000 == 1
				  ? 7
				  : check_random(&state) >> 40 & 255;
	for (unsigned i = 0; i < 3; i++)
		pack_frame(&p, data + i * each, each, 1, i != 1, true, 0);
	scratch_write("f", p.data, p.bytes);
	for (unsigned i = 0; i < 4 * sizeof(RECORDS) / sizeof(RECORDS[0]); i++) {
		const bool piped = i % 2;
		const struct source_spec spec = {.paths = piped ? STDIN : PATHS,
						 .path_count = 1,
						 .record = RECORDS[i / 4],
						 .threads = 3,
						 .skip = i % 3,
						 .limit = i / 2 % 2 ? UINT64_MAX
								    : 1000000 / RECORDS[i / 4] + 1,
						 .ignore_tail = true};
		pid_t feeder = piped ? feed_stdin(p.data, p.bytes, 50000) : -1;
		const struct outcome o = read_all(&spec, 1 + i % 3, 700000);
		expected(data, bytes, &spec, &records, &sum);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum && o.finished,
		      "records of %lu, %u: %llu of %llu '%s'", (unsigned long)spec.record, i,
		      (unsigned long long)o.records, (unsigned long long)records, o.fail.text);
		if (feeder > 0) {
			kill(feeder, SIGKILL);
			waitpid(feeder, NULL, 0);
		}
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
	const struct source_spec spec = {.paths = PATHS,
					 .path_count = 1,
					 .limit = UINT64_MAX,
					 .record = 1,
					 .threads = 2,
					 .more = count_call,
					 .arg = &called};

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

static bool looks(const char *path, bool raw, bool zstd)
{
	char *paths[] = {(char *)(uintptr_t)path};

	return source_compressed(
		&(struct source_spec){.paths = paths, .path_count = 1, .raw = raw, .zstd = zstd});
}

static void likely(void)
{
	CHECK(looks("a.zst", false, false) && looks("/missing/b.zst", false, false), "by its name");
	CHECK(!looks(".zst", false, false) && !looks("a.zst.part", false, false) &&
		      !looks("-", false, false) && !looks("", false, false),
	      "not by its name");
	CHECK(!looks("a.zst", true, false) && looks("-", false, true), "the options decide");
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	round_trips();
	pipes();
	side_by_side();
	held_up();
	torn();
	stays_within();
	stored();
	calls();
	likely();
	scratch_leave();
	return check_report();
}
