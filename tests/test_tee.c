/* SPDX-License-Identifier: MIT */
/*
 * tee: behaviour that outputs show only by luck, or never: all descriptors are closed, and inputs
 * keep their order while a frame waits.
 */
#include "bytes/tee.h"

#include <pthread.h>

#include "check.h"
#include "pack.h"
#include "scratch.h"
#include "take.h"
#include "frames/zstd_job.h"

#define BYTES ((size_t)300000) /* more than one read takes */
#define LONG ((size_t)4 << 20) /* more than PIECES, and with a small window decoded in steps */

static unsigned char data[BYTES];

static void *take_all(void *source)
{
	struct reader *const r = source_reader(source);
	struct fail fail = {.status = STATUS_OK};
	unsigned char buffer[100];
	size_t got = 1;

	while (got > 0 && take_copy(r, buffer, sizeof(buffer), &got, &fail) == 0)
		;
	return NULL;
}

static struct source *open_tee(struct tee *t, char *const *names, size_t count, uint64_t limit)
{
	struct setup setup = {.open.paths = names,
			      .open.path_count = count,
			      .open.tee = t,
			      .use.record = 1,
			      .use.limit = limit,
			      .use.threads = PIECES + 1};
	struct fail fail = {.status = STATUS_OK};
	const int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct source *s;

	CHECK(tee_begin(t, names, count, out, &fail) == 0, "%s", fail.text);
	(void)setup_open(&s, &setup, &fail);
	return s;
}

/* Check that the file "out" holds this. */
static void expect(const unsigned char *bytes, size_t n)
{
	unsigned char *const got = malloc(n + 1);
	FILE *const f = fopen("out", "rb");

	CHECK(got && f && fread(got, 1, n + 1, f) == n && memcmp(got, bytes, n) == 0,
	      "not the %zu bytes", n);
	if (f)
		fclose(f);
	free(got);
}

static unsigned descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* -n ends inside an input, whose rest main copies; the next input is missing. */
static void closed(void)
{
	static char *const NAMES[] = {"a", "none"};
	const unsigned before = descriptors();

	for (size_t count = 1; count <= 2; count++) {
		struct fail fail = {.status = STATUS_OK};
		struct tee t;
		struct source *const s = open_tee(&t, NAMES, count, 1);
		if (s)
			take_all(s);
		source_close(s);
		CHECK(!tee_rest(&t, 0), "more to copy");
		CHECK((tee_end(&t, &fail) == 0) == (count == 1), "%s", fail.text);
		expect(data, BYTES);
	}
	CHECK(descriptors() == before, "%u descriptors, and %u before", descriptors(), before);
}

/*
 * A reader finds garbage after a frame. It is not reported until the frame was returned, and
 * meanwhile no reader may go on to the next input.
 */
static void in_order(void)
{
	static char *const NAMES[] = {"bad.zst", "a"};
	struct pack bad = {.state = 1};
	struct fail fail = {.status = STATUS_OK};
	unsigned char buffer[100], *const frame = calloc(LONG, 1);
	struct reader *readers[PIECES];
	struct chunk chunks[PIECES];
	const struct want want = {.buffer = buffer, .cap = sizeof(buffer), .lent = true};
	struct tee t;
	pthread_t other;

	if (frame) /* else the test fails */
		pack_frame(&bad, frame, LONG, 1, false, true, 10);
	free(frame);
	memcpy(pack_room(&bad, 2 * BYTES), data, BYTES);
	bad.bytes += BYTES;
	scratch_write("bad.zst", bad.data, bad.bytes);
	struct source *const s = open_tee(&t, NAMES, 2, UINT64_MAX);
	for (unsigned i = 0; i < PIECES; i++) {
		readers[i] = source_reader(s);
		CHECK(source_take(readers[i], &want, &chunks[i], &fail) == 0 && chunks[i].bytes > 0,
		      "%s", fail.text);
	}
	pthread_create(&other, NULL, take_all, s);
	usleep(50000); /* it looks for more frames, and waits */
	for (unsigned i = 0; i < PIECES; i++)
		source_done(readers[i], &chunks[i]);
	pthread_join(other, NULL);
	CHECK(source_failure(s, &fail) != 0 && strstr(fail.text, "garbage"), "%s", fail.text);
	source_close(s);
	fail.status = STATUS_OK;
	CHECK(!tee_rest(&t, 0) && tee_end(&t, &fail) == 0, "%s", fail.text);
	memcpy(bad.data + bad.bytes, data, BYTES);
	expect(bad.data, bad.bytes + BYTES);
	free(bad.data);
}

int main(void)
{
	uint64_t seed = 1;

	alarm(60); /* ends a wait that would never end */
	scratch_enter();
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (unsigned char)check_random(&seed);
	scratch_write("a", data, BYTES);
	closed();
	in_order();
	scratch_leave();
	return check_report();
}
