/* SPDX-License-Identifier: MIT */
/*
 * tee: what its caller alone sees: which input is missing, whoever asks for it; messages that stay
 * where they are; descriptors that are all closed.
 */
#include "input/tee.h"

#include <signal.h>
#include <sys/socket.h>

#include "check.h"
#include "scratch.h"

#define BYTES ((size_t)1000) /* less than a pipe holds */

static unsigned char data[BYTES];

/* What was passed to a pipe is so many bytes of the data. */
static void expect(int from, size_t bytes)
{
	unsigned char got[BYTES + 1];
	size_t n = 0;

	for (ssize_t some = 1; some > 0 && n<sizeof(got); n += some> 0 ? (size_t)some : 0)
		some = read(from, got + n, sizeof(got) - n);
	CHECK(n == bytes && memcmp(got, data, bytes) == 0, "%zu bytes, not %zu", n, bytes);
	close(from);
}

/* An input that is not there, for the source and in the end; the one before it has passed. */
static void missing(void)
{
	static char *const NAMES[] = {"a", "none", "a"};
	struct fail fail = {.status = STATUS_OK}, next = {.status = STATUS_OK};
	struct tee *t;
	int fd, ends[2];

	CHECK(pipe(ends) == 0, "a pipe");
	CHECK(tee_start(&t, NAMES, 3, ends[1], &fail) == 0, "%s", fail.text);
	CHECK(tee_next(t, &fd, &fail) == 0, "%s", fail.text);
	expect(fd, BYTES);
	CHECK(tee_next(t, &fd, &next) != 0 &&
		      strcmp(next.text, "none: No such file or directory") == 0,
	      "%s", next.text);
	CHECK(tee_end(t, &fail) != 0 && strcmp(fail.text, next.text) == 0, "%s", fail.text);
	expect(ends[0], BYTES);
	/* What cannot be written is known before anything is opened. */
	fail = (struct fail){.status = STATUS_OK};
	CHECK(tee_start(&t, NAMES, 1, -1, &fail) != 0 && !t && fail.status == STATUS_SYSTEM, "%s",
	      fail.text);
}

/* A source that takes no input, or closes it at once: all passes. */
static void not_taken(bool opened)
{
	static char *const NAMES[] = {"a"};
	struct fail fail = {.status = STATUS_OK};
	struct tee *t;
	int fd, ends[2];

	CHECK(pipe(ends) == 0, "a pipe");
	CHECK(tee_start(&t, NAMES, 1, ends[1], &fail) == 0, "%s", fail.text);
	if (opened) {
		CHECK(tee_next(t, &fd, &fail) == 0, "%s", fail.text);
		close(fd);
	}
	CHECK(tee_end(t, &fail) == 0, "%s", fail.text);
	expect(ends[0], BYTES);
}

/* Of what keeps messages apart and may be too long to be read whole, nothing is passed. */
static void messages(void)
{
	static char *const NAMES[] = {"-"};
	struct fail fail = {.status = STATUS_OK};
	struct tee *t;
	char left[8];
	int ends[2], out[2];
	const int keep = dup(STDIN_FILENO);

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 && pipe(out) == 0 &&
		      write(ends[1], "abcd", 4) == 4 && dup2(ends[0], STDIN_FILENO) == 0,
	      "a socket");
	CHECK(tee_start(&t, NAMES, 1, out[1], &fail) == 0, "%s", fail.text);
	CHECK(tee_end(t, &fail) != 0 && fail.status == STATUS_DATA &&
		      strstr(fail.text, "messages apart"),
	      "%s", fail.text);
	expect(out[0], 0);
	CHECK(recv(STDIN_FILENO, left, sizeof(left), MSG_DONTWAIT) == 4, "the message was taken");
	dup2(keep, STDIN_FILENO);
	close(keep);
	close(ends[0]);
	close(ends[1]);
}

static unsigned descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

int main(void)
{
	uint64_t seed = 1;

	signal(SIGPIPE, SIG_IGN);
	alarm(60); /* a wait that never ends */
	scratch_enter();
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (unsigned char)check_random(&seed);
	scratch_write("a", data, BYTES);
	const unsigned before = descriptors();
	missing();
	not_taken(false);
	not_taken(true);
	messages();
	CHECK(descriptors() == before, "%u descriptors, and %u before", descriptors(), before);
	scratch_leave();
	return check_report();
}
