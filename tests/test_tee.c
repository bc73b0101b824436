/* SPDX-License-Identifier: MIT */
/*
 * tee: things that no output shows, or only by luck: all descriptors are closed, messages stay in
 * their socket, inputs keep their order while a frame waits.
 */
#include "input/tee.h"

#include <pthread.h>
#include <sys/socket.h>

#include "check.h"
#include "pack.h"
#include "scratch.h"
#include "take.h"
#include "input/source_input.h"

#define LONG ((size_t)4 << 20) /* more than PIECES, and with a small window decoded in steps */
#define BYTES ((size_t)300000) /* more than one read takes */

static unsigned char data[BYTES];

static unsigned descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Takes some records of these inputs, or fails to, and passes all on to the file "out". */
static int pass(char *const *names, size_t count, uint64_t limit, struct fail *fail)
{
	struct setup setup = {
		.open.paths = names, .open.path_count = count, .use.record = 1, .use.limit = limit};
	struct fail counting = {.status = STATUS_OK};
	const int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	unsigned char room[100];
	struct source *s;
	struct tee t;
	size_t got = 1;

	CHECK(tee_begin(&t, names, count, out, fail) == 0, "%s", fail->text);
	setup.open.tee = &t;
	if (setup_open(&s, &setup, &counting) == 0) {
		struct reader *const r = source_reader(s);
		while (got > 0 && take_copy(r, room, sizeof(room), &got, &counting) == 0)
			;
		source_close(s);
	}
	CHECK(!tee_rest(&t, 0), "more to pass");
	return tee_end(&t, fail);
}

/* The file "out" holds this many copies of "a". */
static void expect(unsigned times)
{
	static unsigned char got[3 * BYTES + 1];
	FILE *const f = fopen("out", "rb");
	const size_t n = f ? fread(got, 1, sizeof(got), f) : 0;

	CHECK(f && fclose(f) == 0 && n == times * BYTES, "%zu bytes, not %u times", n, times);
	for (unsigned i = 0; i < times; i++)
		CHECK(memcmp(got + i * BYTES, data, BYTES) == 0, "time %u differs", i);
}

/* However much is read before main copies the rest, and if an input is missing. */
static void files(void)
{
	static char *const NAMES[] = {"a", "a", "a"}, *const NONE[] = {"a", "none", "a"};
	static const uint64_t LIMITS[] = {0, 1, BYTES, BYTES + 1, UINT64_MAX};

	for (unsigned i = 0; i < sizeof(LIMITS) / sizeof(LIMITS[0]); i++) {
		struct fail fail = {.status = STATUS_OK}, none = {.status = STATUS_OK};
		const unsigned before = descriptors();
		CHECK(pass(NAMES, 3, LIMITS[i], &fail) == 0, "%s", fail.text);
		expect(3);
		CHECK(pass(NONE, 3, LIMITS[i], &none) != 0 &&
			      strcmp(none.text, "none: No such file or directory") == 0,
		      "%s", none.text);
		expect(1);
		CHECK(descriptors() == before, "limit %u: %u descriptors, and %u before", i,
		      descriptors(), before);
	}
}

/* Nothing is copied from a socket whose messages may be too long for one read. */
static void messages(void)
{
	static char *const NAMES[] = {"-"};
	struct fail fail = {.status = STATUS_OK};
	const int keep = dup(STDIN_FILENO);
	char left[8];
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 && write(ends[1], "abcd", 4) == 4 &&
		      dup2(ends[0], STDIN_FILENO) == 0,
	      "a socket");
	CHECK(pass(NAMES, 1, UINT64_MAX, &fail) != 0 && fail.status == STATUS_DATA &&
		      strstr(fail.text, "messages apart"),
	      "%s", fail.text);
	expect(0);
	CHECK(recv(STDIN_FILENO, left, sizeof(left), MSG_DONTWAIT) == 4, "the message was taken");
	dup2(keep, STDIN_FILENO);
	close(keep);
	close(ends[0]);
	close(ends[1]);
}

static void *take_all(void *source)
{
	struct reader *const r = source_reader(source);
	struct fail fail = {.status = STATUS_OK};
	unsigned char room[100];
	size_t got = 1;

	while (got > 0 && take_copy(r, room, sizeof(room), &got, &fail) == 0)
		;
	return NULL;
}

/*
 * A reader finds garbage after a frame. That is not reported until the frame was given back, and
 * meanwhile no reader may go on to the next input.
 */
static void in_order(void)
{
	static char *const NAMES[] = {"bad.zst", "a"};
	struct pack bad = {.state = 1};
	struct fail fail = {.status = STATUS_OK};
	unsigned char room[100], *all;
	struct reader *readers[PIECES];
	struct chunk chunks[PIECES];
	const struct want want = {.room = room, .cap = sizeof(room), .lent = true};
	struct setup setup = {.open.paths = NAMES,
			      .open.path_count = 2,
			      .use.record = 1,
			      .use.limit = UINT64_MAX,
			      .use.threads = PIECES + 1};
	struct source *s;
	struct tee t;
	pthread_t other;

	unsigned char *const frame = calloc(LONG, 1);
	if (frame) /* else the test fails */
		pack_frame(&bad, frame, LONG, 1, false, true, 10);
	free(frame);
	memcpy(pack_room(&bad, BYTES), data, BYTES);
	bad.bytes += BYTES;
	scratch_write("bad.zst", bad.data, bad.bytes);
	const int out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600), copy = dup(out);
	CHECK(tee_begin(&t, NAMES, 2, out, &fail) == 0, "%s", fail.text);
	setup.open.tee = &t;
	CHECK(setup_open(&s, &setup, &fail) == 0, "%s", fail.text);
	for (unsigned i = 0; i < PIECES; i++) {
		readers[i] = source_reader(s);
		CHECK(source_take(readers[i], &want, &chunks[i], &fail) == 0 && chunks[i].bytes > 0,
		      "%s", fail.text);
	}
	pthread_create(&other, NULL, take_all, s);
	usleep(50000); /* it looks for more frames, and waits */
	for (unsigned i = 0; i < PIECES; i++)
		source_done(readers[i], &chunks[i], chunks[i].bytes);
	pthread_join(other, NULL);
	CHECK(source_failure(s, &fail) != 0 && strstr(fail.text, "garbage"), "%s", fail.text);
	source_close(s);
	fail.status = STATUS_OK;
	CHECK(!tee_rest(&t, 0) && tee_end(&t, &fail) == 0, "%s", fail.text);
	memcpy(pack_room(&bad, BYTES), data, BYTES);
	bad.bytes += BYTES;
	all = malloc(bad.bytes + 1);
	CHECK(all && pread(copy, all, bad.bytes + 1, 0) == (ssize_t)bad.bytes &&
		      memcmp(all, bad.data, bad.bytes) == 0,
	      "out of order");
	free(all);
	free(bad.data);
	close(copy);
}

int main(void)
{
	uint64_t seed = 1;

	alarm(60); /* a wait that never ends */
	scratch_enter();
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (unsigned char)check_random(&seed);
	scratch_write("a", data, BYTES);
	files();
	messages();
	in_order();
	scratch_leave();
	return check_report();
}
