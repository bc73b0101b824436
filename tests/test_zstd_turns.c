/* SPDX-License-Identifier: MIT */
/*
 * zstd_turns: orders in which readers of compressed inputs may come, played by one thread that is
 * all of them.
 */
#include "pack.h"
#include "readers.h"

/* All that one reader gets, until the source has nothing more for it. */
static void take_rest(struct worker *w, struct reader *r)
{
	unsigned char *buffer = malloc(w->cap);
	const struct want want = {.room = buffer, .cap = w->cap, .lent = w->lends};
	struct chunk chunk;

	while ((w->rc = source_take(r, &want, &chunk, &w->fail)) == 0 && chunk.bytes > 0) {
		add(w, chunk.data, chunk.bytes);
		source_done(r, &chunk, chunk.bytes);
	}
	free(buffer);
}

/*
 * A reader that has put a record together has not handed it out yet when its unit, the last one of
 * the input, is done. What -n leaves for the next input must be without that record.
 */
static void record_in_hand(void)
{
	static char *const PATHS[] = {"first", "second"};
	enum { RECORD = 3, EACH = 100 };
	unsigned char data[2 * EACH], buffer[2 * EACH];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)i;
	for (unsigned round = 0; round < 8; round++) {
		/*
		 * The second record that is cut here lies in both frames, which do not declare
		 * their sizes.
		 */
		struct pack p = {.state = 1};
		pack_frame(&p, data, 4, 1, false, true, 0);
		pack_frame(&p, data + 4, 17, 1, false, true, 0);
		scratch_write("first", p.data, p.bytes);
		p.bytes = 0;
		pack_frame(&p, data, EACH, 1, round & 1, true, 0);
		if (round & 2)
			scratch_write("second", p.data, p.bytes);
		else
			scratch_write("second", data, EACH);
		const struct source_spec spec = {.paths = PATHS,
						 .path_count = 2,
						 .limit = 12,
						 .record = RECORD,
						 .threads = 2};
		struct worker a = {.cap = sizeof(buffer), .record = RECORD, .lends = true};
		struct worker b = {.cap = sizeof(buffer), .record = RECORD, .lends = round & 4};
		const struct want want = {.room = buffer, .cap = a.cap, .lent = true};
		struct fail fail = {.status = STATUS_OK};
		struct chunk chunk;
		struct source *s;
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const first = source_reader(s), *const second = source_reader(s);
		for (unsigned unit = 0; unit < 2; unit++) {
			CHECK(source_take(first, &want, &chunk, &a.fail) == 0 && chunk.bytes > 0,
			      "%s", a.fail.text);
			add(&a, chunk.data, chunk.bytes);
			source_done(first, &chunk, chunk.bytes);
		}
		CHECK(a.records == 6, "round %u: %llu records", round,
		      (unsigned long long)a.records);
		take_rest(&b, second);
		take_rest(&a, first);
		CHECK(a.rc == 0 && b.rc == 0 && a.records + b.records == spec.limit,
		      "round %u: %llu and %llu of %llu records, '%s' '%s'", round,
		      (unsigned long long)a.records, (unsigned long long)b.records,
		      (unsigned long long)spec.limit, a.fail.text, b.fail.text);
		CHECK(source_finished(s), "round %u: not finished", round);
		source_close(s);
		free(p.data);
		scratch_clean();
	}
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
		const struct source_spec spec = {.paths = FILES,
						 .path_count = 1,
						 .limit = UINT64_MAX,
						 .record = 1,
						 .threads = 1};
		static unsigned char buffer[1 << 16];
		const struct want want = {.room = buffer, .cap = sizeof(buffer), .lent = lent};
		struct fail fail = {.status = STATUS_OK};
		struct chunk chunk;
		struct source *s;
		unsigned chunks = 0;
		uint64_t bytes = 0, added = 0;
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
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

int main(void)
{
	scratch_enter();
	alarm(60); /* one thread that waits for itself would wait for ever */
	record_in_hand();
	small_windows();
	scratch_leave();
	return check_report();
}
