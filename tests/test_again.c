/* SPDX-License-Identifier: MIT */
/*
 * again: opening a FIFO does not wait for its writer, and poll reports when there is one. An alarm
 * ends a wait that would never end.
 */
#include "base/again.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "check.h"
#include "scratch.h"

/* Return what poll reports of a descriptor now: 0 for nothing. */
static int now(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, 0) == 1 ? one.revents : 0;
}

static int reader(void)
{
	const int fd = open_input("f");

	CHECK(fd >= 0 && now(fd) == 0, "a FIFO without a writer: %x", (unsigned)now(fd));
	return fd;
}

/* Open for writing without waiting; fails without a reader. */
static int writer(void)
{
	const int fd = open("f", O_WRONLY | O_NONBLOCK);

	CHECK(fd >= 0, "the writer finds no reader");
	return fd;
}

static void put(int fd, const char *text)
{
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s is not written", text);
}

/* Read as a stream's reader does after poll, and expect these bytes, or with "" the end. */
static void expect(int fd, const char *text, const char *what)
{
	char bytes[16];

	CHECK((now(fd) & (*text ? POLLIN : POLLHUP)) != 0, "%s: nothing to read", what);
	const ssize_t n = read(fd, bytes, sizeof(bytes));
	CHECK(n == (ssize_t)strlen(text) && memcmp(bytes, text, strlen(text)) == 0, "%s: %zd bytes",
	      what, n);
}

static void late_writer(void)
{
	const int fd = reader(), out = writer();

	CHECK(now(fd) == 0, "a writer that has written nothing");
	put(out, "abc");
	expect(fd, "abc", "late");
	CHECK(now(fd) == 0, "a writer that stays");
	put(out, "de");
	close(out);
	expect(fd, "de", "late, the rest");
	expect(fd, "", "late, the end");
	close(fd);
}

/* Each writer comes and leaves before the reader looks. */
static void gone_before(void)
{
	int fd = reader();

	close(writer());
	expect(fd, "", "nothing was written");
	close(fd);
	fd = reader();
	int out = writer();
	put(out, "abc");
	close(out);
	expect(fd, "abc", "gone");
	expect(fd, "", "gone, the end");
	close(fd);
}

static void several_writers(void)
{
	const int fd = reader();
	int a = writer();

	put(a, "a");
	close(a);
	int b = writer();
	put(b, "b");
	close(b);
	expect(fd, "ab", "one after the other");
	a = writer(), b = writer();
	put(a, "c");
	close(a);
	expect(fd, "c", "one leaves");
	CHECK(now(fd) == 0, "the other stays");
	put(b, "d");
	close(b);
	expect(fd, "d", "the other");
	expect(fd, "", "both are gone");
	close(fd);
}

/* Another descriptor ends a wait for the first writer, as source_stop does. */
static void *wake(void *arg)
{
	/* No CHECK here: only the main thread may use its counters. */
	return write(*(const int *)arg, "x", 1) == 1 ? arg : NULL;
}

static void stopped_while_waiting(void)
{
	const int fd = reader();
	int ends[2];
	pthread_t thread;

	CHECK(pipe(ends) == 0, "a pipe");
	pthread_create(&thread, NULL, wake, &ends[1]);
	struct pollfd two[2] = {{.fd = fd, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
	CHECK(poll(two, 2, -1) == 1 && two[0].revents == 0 && two[1].revents == POLLIN,
	      "not woken");
	void *woken;
	pthread_join(thread, &woken);
	CHECK(woken == &ends[1], "a byte");
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* A writer that comes first sleeps in open until there is a reader. */
static void *write_first(void *arg)
{
	const int fd = open("f", O_WRONLY);

	put(fd, "abc");
	close(fd);
	return arg;
}

static void early_writer(void)
{
	char bytes[16];
	pthread_t thread;

	pthread_create(&thread, NULL, write_first, NULL);
	const int fd = open_input("f");
	struct pollfd one = {.fd = fd, .events = POLLIN};
	CHECK(poll(&one, 1, -1) == 1 && read(fd, bytes, sizeof(bytes)) == 3, "an early writer");
	pthread_join(thread, NULL);
	expect(fd, "", "early, the end");
	close(fd);
}

static void others(void)
{
	scratch_write("a", "abc", 3);
	int fd = open_input("a");
	CHECK(fd >= 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0 &&
		      (fcntl(fd, F_GETFD) & FD_CLOEXEC),
	      "a file");
	close(fd);
	CHECK(open_input("none") == -1 && errno == ENOENT, "no file");
	/* A pipe by its name in /proc: the reader sees its end although the writer left before. */
	int ends[2];
	char name[64];
	CHECK(pipe(ends) == 0, "a pipe");
	put(ends[1], "abc");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
	close(ends[1]);
	fd = open_input(name);
	expect(fd, "abc", "a pipe by name");
	expect(fd, "", "a pipe by name, the end");
	close(fd);
	close(ends[0]);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	alarm(60);
	scratch_enter();
	CHECK(mkfifo("f", 0666) == 0, "a FIFO");
	late_writer();
	gone_before();
	several_writers();
	stopped_while_waiting();
	early_writer();
	others();
	scratch_leave();
	return check_report();
}
