/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * zstd_mixed: compressed files that are cut while they are read; very many frames, and a frame that
 * grows. The jobs of the source (tests/source) draw all that stays as it is.
 */
#include "pack.h"
#include "readers.h"

static uint64_t state;

/* A file is cut after its first records were read: bad input, unless no record was behind the cut. */
static void cut_meanwhile(void)
{
	static char *const PATHS[] = {"f"};
	static const uint32_t RECORDS[] = {1, 3, 4, 70001};
	const size_t n = 5 << 20;
	unsigned char *const data = malloc(n), *const room = malloc(n);
	unsigned failed = 0;

	state = 4;
	for (unsigned i = 0; i < 96; i++) {
		const unsigned kind = i % 6;
		const struct setup spec = {.open.paths = PATHS,
					   .open.path_count = 1,
					   .use.limit = UINT64_MAX,
					   .use.record = RECORDS[check_random(&state) >> 40 & 3],
					   .use.threads =
						   1 + (unsigned)(check_random(&state) >> 40 & 7),
					   .open.ignore_tail = true};
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
		expected(data, n, &spec, &records, &sum);
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
			source_done(r, &chunk);
			rc = source_take(r, &want, &chunk, &fail);
		}
		failed += rc != 0;
		CHECK(rc == 0 ? records == w.records && sum == w.sum && source_finished(s)
			      : fail.status == STATUS_DATA,
		      "round %u, cut to %zu: %d, %llu records '%s'", i, to, rc,
		      (unsigned long long)w.records, fail.text);
		source_close(s);
		free(p.data);
	}
	CHECK(failed > 48, "%u files became shorter", failed);
	free(data);
	free(room);
	scratch_clean();
}

/* A file is cut behind a long frame that is being decoded: the frame after it is missed. */
static void cut_between(void)
{
	static char *const PATHS[] = {"f"};
	const struct setup spec = {.open = {.paths = PATHS, .path_count = 1},
				   .use = {.limit = UINT64_MAX, .record = 1, .threads = 1}};
	const size_t n = FIND_MAX + 1;
	unsigned char *const data = malloc(n), *const room = malloc(65536);
	const struct want want = {.room = room, .cap = 65536};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	struct source *s;
	struct chunk chunk;
	int rc;

	for (size_t i = 0; i < n; i++)
		data[i] = (unsigned char)(check_random(&state) >> 40);
	pack_frame(&p, data, n, 1, true, true, 0);
	const size_t one = p.bytes;
	pack_frame(&p, data, 1000, 1, true, true, 0);
	scratch_write("f", p.data, p.bytes);
	CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
	struct reader *const r = source_reader(s);
	rc = source_take(r, &want, &chunk, &fail);
	if (truncate("f", (off_t)one) != 0)
		perror("truncate");
	while (rc == 0 && chunk.bytes > 0) {
		source_done(r, &chunk);
		rc = source_take(r, &want, &chunk, &fail);
	}
	CHECK(rc == -1 && fail.status == STATUS_DATA && strstr(fail.text, "became shorter"), "'%s'",
	      fail.text);
	source_close(s);
	free(p.data);
	free(data);
	free(room);
	scratch_clean();
}

/* A hundred thousand empty frames, and 64 MiB in a few kilobytes. */
static void bombs(void)
{
	static char *const PATHS[] = {"f"};
	const struct setup spec = {.open = {.paths = PATHS, .path_count = 1},
				   .use = {.limit = UINT64_MAX, .record = 1, .threads = 2}};
	unsigned char *const zeros = calloc(1, 64 << 20);
	struct pack p = {.state = 1};

	pack_frame(&p, "", 0, 1, true, false, 0);
	const size_t one = p.bytes;
	for (unsigned i = 1; i < 100000; i++) {
		unsigned char *const at = pack_room(&p, one);
		memcpy(at, p.data, one);
		p.bytes += one;
	}
	pack_frame(&p, zeros, 64 << 20, 3, false, true, 0);
	scratch_write("f", p.data, p.bytes);
	const struct outcome o = read_all(&spec, 2, 4096);
	CHECK(o.rc == 0 && o.records == 64 << 20, "%llu '%s'", (unsigned long long)o.records,
	      o.fail.text);
	free(zeros);
	free(p.data);
	scratch_clean();
}

int main(void)
{
	alarm(300);
	scratch_enter();
	cut_meanwhile();
	cut_between();
	bombs();
	scratch_leave();
	return check_report();
}
