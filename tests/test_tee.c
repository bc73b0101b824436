/* SPDX-License-Identifier: MIT */
/*
 * test_tee: what passes is what came, and what the source gets is the same bytes as far as it
 * reads.
 *
 * Every case passes inputs of many kinds and random sizes to an output of some kind, while a source
 * of some temper takes them: all to the end, a part of each, some inputs only, or none.
 */
#include "input/tee.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "check.h"
#include "scratch.h"

#define INPUTS 4u
#define MOST ((size_t)700000)

static uint64_t seed = 1;

static size_t below(size_t n)
{
	return (size_t)(check_random(&seed) % n);
}

struct bytes {
	unsigned char *data;
	size_t n, room;
};

static void append(struct bytes *b, const unsigned char *data, size_t n)
{
	if (b->n + n > b->room) {
		b->room = 2 * (b->n + n);
		if (!(b->data = realloc(b->data, b->room)))
			exit(1);
	}
	if (n > 0)
		memcpy(b->data + b->n, data, n);
	b->n += n;
}

static bool same(const struct bytes *a, const struct bytes *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->data, b->data, a->n) == 0);
}

static struct bytes noise(size_t n)
{
	struct bytes b = {.data = malloc(n + 1), .n = n, .room = n + 1};

	if (!b.data)
		exit(1);
	for (size_t i = 0; i < n; i++)
		b.data[i] = (unsigned char)check_random(&seed);
	return b;
}

/* ---- a thread that writes an input, and one that reads the output ---- */

struct writer {
	pthread_t thread;
	const struct bytes *from;
	const char *fifo; /* opened by the thread; NULL: fd */
	int fd;
	size_t piece; /* bytes of a write; 0: all */
	bool slow, packets;
};

static void *write_input(void *arg)
{
	const struct writer *w = arg;
	const int fd = w->fifo ? open(w->fifo, O_WRONLY) : w->fd;
	size_t done = 0;

	if (w->packets && fcntl(fd, F_SETFL, O_DIRECT) != 0)
		perror(w->fifo);
	while (fd >= 0 && done < w->from->n) {
		const size_t left = w->from->n - done,
			     most = w->piece > 0 && w->piece < left ? w->piece : left;
		const ssize_t n = write(fd, w->from->data + done, most);
		if (n < 0)
			break;
		done += (size_t)n;
		if (w->slow)
			usleep(1000);
	}
	close(fd);
	return NULL;
}

struct collector {
	pthread_t thread;
	int fd;
	size_t most; /* leaves after so many bytes */
	bool slow;   /* so that the output is full at times */
	struct bytes got;
};

static void *collect(void *arg)
{
	struct collector *c = arg;
	unsigned char piece[50000];

	while (c->got.n < c->most) {
		const ssize_t n = read(c->fd, piece, sizeof(piece));
		if (n <= 0)
			break;
		append(&c->got, piece, (size_t)n);
		if (c->slow)
			usleep(2000);
	}
	close(c->fd);
	return NULL;
}

/* ---- the source's part ---- */

enum temper { ALL, PART, SOME, NONE, TEMPERS };

/* Takes the inputs as a source of this temper does, and compares. */
static void take(struct tee *t, enum temper temper, const struct bytes *inputs, unsigned count)
{
	unsigned char piece[30000];

	for (unsigned i = 0; i < count && temper != NONE && !(temper == SOME && i == 1); i++) {
		const size_t most = temper == PART ? below(inputs[i].n + 1) : SIZE_MAX;
		struct bytes got = {.n = 0};
		struct fail fail = {.status = STATUS_OK};
		int fd;
		CHECK(tee_next(t, &fd, &fail) == 0, "input %u: %s", i, fail.text);
		if (fail.status != STATUS_OK)
			return;
		for (ssize_t n = 1; n > 0 && got.n < most;)
			if ((n = read(fd, piece, 1 + below(sizeof(piece) - 1))) > 0)
				append(&got, piece, (size_t)n);
		close(fd);
		const bool begins = got.n <= inputs[i].n &&
				    (got.n == 0 || memcmp(got.data, inputs[i].data, got.n) == 0);
		CHECK(temper == ALL || temper == SOME ? same(&got, &inputs[i]) : begins,
		      "input %u: %zu of %zu bytes", i, got.n, inputs[i].n);
		free(got.data);
	}
}

/* ---- cases ---- */

enum input { A_FILE, A_FIFO, A_SLOW_FIFO, A_PACKET_FIFO, INPUT_KINDS };
enum output { A_PIPE, A_NONBLOCKING_PIPE, A_NEW_FILE, OUTPUT_KINDS };

static int open_output(enum output kind, struct collector *c)
{
	int ends[2] = {-1, -1};

	c->fd = -1;
	if (kind == A_NEW_FILE)
		return open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (pipe(ends) != 0)
		exit(1);
	c->slow = kind == A_NONBLOCKING_PIPE;
	if (kind == A_NONBLOCKING_PIPE)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	c->fd = ends[0];
	if (pthread_create(&c->thread, NULL, collect, c) != 0)
		exit(1);
	return ends[1];
}

static void read_back(struct bytes *b)
{
	unsigned char piece[50000];
	const int fd = open("out", O_RDONLY);

	for (ssize_t n; (n = read(fd, piece, sizeof(piece))) > 0;)
		append(b, piece, (size_t)n);
	close(fd);
}

static void one_case(enum temper temper, enum output output)
{
	static char *const NAMES[INPUTS] = {"0", "1", "2", "3"};
	struct bytes inputs[INPUTS], all = {.n = 0};
	struct writer writers[INPUTS] = {0};
	struct collector c = {.most = SIZE_MAX};
	struct fail fail = {.status = STATUS_OK};
	struct tee *t;

	unlink("out");
	for (unsigned i = 0; i < INPUTS; i++) {
		const enum input kind = (enum input)below(INPUT_KINDS);
		inputs[i] = noise(below(4) == 0 ? 0 : below(kind == A_SLOW_FIFO ? 3000 : MOST));
		append(&all, inputs[i].data, inputs[i].n);
		unlink(NAMES[i]);
		if (kind == A_FILE) {
			scratch_write(NAMES[i], inputs[i].data, inputs[i].n);
			continue;
		}
		writers[i] = (struct writer){.from = &inputs[i],
					     .fifo = NAMES[i],
					     .slow = kind == A_SLOW_FIFO,
					     .packets = kind == A_PACKET_FIFO,
					     .piece = kind == A_SLOW_FIFO ? 100
						      : below(2)          ? 1 + below(9000)
									  : 0};
		if (mkfifo(NAMES[i], 0600) != 0)
			exit(1);
	}
	for (unsigned i = 0; i < INPUTS; i++)
		if (writers[i].from &&
		    pthread_create(&writers[i].thread, NULL, write_input, &writers[i]) != 0)
			exit(1);
	const int to = open_output(output, &c);
	CHECK(tee_start(&t, NAMES, INPUTS, to, &fail) == 0, "%s", fail.text);
	take(t, temper, inputs, INPUTS);
	CHECK(tee_end(t, &fail) == 0, "temper %d, output %d: %s", (int)temper, (int)output,
	      fail.text);
	if (c.fd >= 0)
		pthread_join(c.thread, NULL);
	else
		read_back(&c.got);
	CHECK(same(&c.got, &all), "temper %d, output %d: %zu of %zu bytes", (int)temper,
	      (int)output, c.got.n, all.n);
	for (unsigned i = 0; i < INPUTS; i++) {
		if (writers[i].from)
			pthread_join(writers[i].thread, NULL);
		free(inputs[i].data);
	}
	free(all.data);
	free(c.got.data);
}

/* A reader that leaves; SIGPIPE is ignored here, so that it is an error. */
static void reader_leaves(void)
{
	static char *const NAMES[] = {"a", "a"};
	struct bytes input = noise(3000000);
	struct collector c = {.most = 1000000};
	struct fail fail = {.status = STATUS_OK}, next = {.status = STATUS_OK};
	struct tee *t;
	unsigned char piece[4096];
	int fd;

	scratch_write("a", input.data, input.n);
	const int to = open_output(A_PIPE, &c);
	CHECK(tee_start(&t, NAMES, 2, to, &fail) == 0, "%s", fail.text);
	CHECK(tee_next(t, &fd, &fail) == 0, "%s", fail.text);
	while (read(fd, piece, sizeof(piece)) > 0)
		;
	close(fd);
	CHECK(tee_next(t, &fd, &next) != 0 && strstr(next.text, "standard output"), "%s",
	      next.text);
	CHECK(tee_end(t, &fail) != 0 && fail.status == STATUS_SYSTEM &&
		      strstr(fail.text, "standard output: Broken pipe"),
	      "%s", fail.text);
	pthread_join(c.thread, NULL);
	CHECK(c.got.n >= 1000000 && memcmp(c.got.data, input.data, c.got.n) == 0, "%zu bytes",
	      c.got.n);
	free(c.got.data);
	free(input.data);
}

/* Of what keeps messages apart and may be too long to be read whole, nothing is passed. */
static void messages(void)
{
	struct fail fail = {.status = STATUS_OK};
	struct collector c = {.most = SIZE_MAX};
	static char *const NAMES[] = {"-"};
	struct tee *t;
	int ends[2];

	const int keep = dup(STDIN_FILENO);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 || write(ends[1], "abcd", 4) != 4 ||
	    dup2(ends[0], 0) != 0)
		exit(1);
	const int to = open_output(A_PIPE, &c);
	CHECK(tee_start(&t, NAMES, 1, to, &fail) == 0, "%s", fail.text);
	CHECK(tee_end(t, &fail) != 0 && fail.status == STATUS_DATA &&
		      strstr(fail.text, "messages apart"),
	      "%s", fail.text);
	pthread_join(c.thread, NULL);
	CHECK(c.got.n == 0, "%zu bytes", c.got.n);
	char left[8];
	CHECK(recv(0, left, sizeof(left), MSG_DONTWAIT) == 4, "the message was taken");
	dup2(keep, 0);
	close(keep);
	close(ends[0]);
	close(ends[1]);
	free(c.got.data);
}

/* A stream socket as standard input. */
static void from_socket(void)
{
	static char *const NAMES[] = {"-"};
	struct bytes input = noise(500000);
	struct writer w = {.from = &input, .piece = 7001};
	struct collector c = {.most = SIZE_MAX};
	struct fail fail = {.status = STATUS_OK};
	struct tee *t;
	int ends[2];

	const int keep = dup(STDIN_FILENO);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || dup2(ends[0], 0) != 0)
		exit(1);
	close(ends[0]);
	w.fd = ends[1];
	if (pthread_create(&w.thread, NULL, write_input, &w) != 0)
		exit(1);
	const int to = open_output(A_PIPE, &c);
	CHECK(tee_start(&t, NAMES, 1, to, &fail) == 0, "%s", fail.text);
	take(t, ALL, &input, 1);
	CHECK(tee_end(t, &fail) == 0, "%s", fail.text);
	pthread_join(w.thread, NULL);
	pthread_join(c.thread, NULL);
	CHECK(same(&c.got, &input), "%zu of %zu bytes", c.got.n, input.n);
	dup2(keep, 0);
	close(keep);
	free(c.got.data);
	free(input.data);
}

/* An input that is not there, for the source and in the end; the one before it has passed. */
static void missing(void)
{
	static char *const NAMES[] = {"a", "none", "a"};
	struct bytes input = noise(1000);
	struct collector c = {.most = SIZE_MAX};
	struct fail fail = {.status = STATUS_OK}, next = {.status = STATUS_OK};
	struct tee *t;
	int fd;

	scratch_write("a", input.data, input.n);
	const int to = open_output(A_PIPE, &c);
	CHECK(tee_start(&t, NAMES, 3, to, &fail) == 0, "%s", fail.text);
	take(t, ALL, &input, 1);
	CHECK(tee_next(t, &fd, &next) != 0 &&
		      strcmp(next.text, "none: No such file or directory") == 0,
	      "%s", next.text);
	CHECK(tee_end(t, &fail) != 0 && strcmp(fail.text, next.text) == 0, "%s", fail.text);
	pthread_join(c.thread, NULL);
	CHECK(same(&c.got, &input), "%zu bytes", c.got.n);
	free(c.got.data);
	free(input.data);
	/* What cannot be written is known before anything is opened. */
	fail = (struct fail){.status = STATUS_OK};
	CHECK(tee_start(&t, NAMES, 1, -1, &fail) != 0 && !t && fail.status == STATUS_SYSTEM, "%s",
	      fail.text);
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
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	alarm(300); /* a wait that never ends */
	const unsigned before = descriptors();
	for (unsigned round = 0; round < 4; round++)
		for (unsigned temper = 0; temper < TEMPERS; temper++)
			for (unsigned output = 0; output < OUTPUT_KINDS; output++)
				one_case((enum temper)temper, (enum output)output);
	reader_leaves();
	messages();
	from_socket();
	missing();
	CHECK(descriptors() == before, "%u descriptors, and %u before", descriptors(), before);
	scratch_leave();
	return check_report();
}
