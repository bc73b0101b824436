/* SPDX-License-Identifier: MIT */
/* zstd_limit: -n ends inside compressed inputs, however far readers have seen what follows. */
#include <sys/socket.h>

#include "pack.h"
#include "readers.h"

/* The thread sets `done` as its last act. */
static void *work_and_say(void *arg)
{
	struct worker *w = arg;

	work(w);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * Called when the first frame is found and not yet decoded: now the next worker looks at what
 * follows.
 */
static void overtake(void *arg)
{
	struct worker *w = arg;

	if (w->record != 0)
		return;
	w->record = 1;
	pthread_create(&w->thread, NULL, work_and_say, w);
	wait_for(w);
}

/*
 * Damage after the last record of -n is no error, even for a reader that sees it before the limit
 * is known.
 */
static void wrong_behind(void)
{
	static char *const PATHS[] = {"f"};
	const size_t bytes = (size_t)2 << 20;
	unsigned char *data = malloc(bytes);
	uint64_t records, sum, state = 4;

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30 & 15);
	for (unsigned kind = 0; kind < 6; kind++) {
		/*
		 * Frames without a declared size; -n ends in the last one, or in the one before it.
		 */
		struct pack p = {.state = 1};
		pack_frame(&p, data, bytes, 1, false, true, 0);
		const size_t first = p.bytes;
		if (kind % 3 == 0)
			memcpy(pack_room(&p, 8), "garbage", 8), p.bytes += 8;
		else
			pack_frame(&p, data, bytes, 1, kind % 3 == 1, true, 0);
		if (kind % 3 != 0)
			p.data[first + (p.bytes - first) / 2] ^= 0x55;
		scratch_write("f", p.data, p.bytes);
		struct worker other = {.cap = 4096, .lends = true};
		struct worker own = {.cap = bytes, .record = 1};
		struct source_spec spec = {.paths = PATHS,
					   .path_count = 1,
					   .limit = bytes + (kind < 3 ? 0 : 1),
					   .record = 1,
					   .threads = 2,
					   .more = overtake,
					   .arg = &other};
		struct fail fail = {.status = STATUS_OK};
		expected(data, bytes, &spec, &records, &sum);
		CHECK(source_open(&other.source, &spec, &fail) == 0, "%s", fail.text);
		own.source = other.source;
		alarm(30);
		work(&own);
		pthread_join(other.thread, NULL);
		alarm(0);
		const bool failed = own.rc != 0 || other.rc != 0;
		/* In the frame whose first byte is wanted the damage is further behind. */
		CHECK(failed == (kind == 3), "kind %u: %d %d, '%s' '%s'", kind, own.rc, other.rc,
		      own.fail.text, other.fail.text);
		CHECK(kind >= 3 || (own.records + other.records == records &&
				    own.sum + other.sum == sum && own.fail.status == STATUS_OK &&
				    other.fail.status == STATUS_OK),
		      "kind %u: %llu and %llu of %llu records", kind,
		      (unsigned long long)own.records, (unsigned long long)other.records,
		      (unsigned long long)records);
		source_close(other.source);
		free(p.data);
	}
	free(data);
	scratch_clean();
}

/*
 * -n ends in a frame while another one, of unknown size and past the limit, is left by a worker
 * that had no room for it: a reader that waits for a frame after that one must stop waiting.
 */
static struct {
	struct worker late, waiting;
	bool go_on;
	unsigned calls;
} staged;

static void *come_again(void *arg)
{
	struct worker *w = arg;
	/* room for all blocks of the frame, but not for those and what is there already */
	const size_t cap = 9 << 17;
	struct reader *const reader = source_reader(w->source);
	unsigned char *buffer = malloc(cap);
	size_t got = 0;

	w->rc = take_copy(reader, buffer, 8, &got, &w->fail);
	add(w, buffer, got);
	__atomic_store_n(&w->slow, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&staged.go_on, __ATOMIC_ACQUIRE))
		usleep(1000);
	do {
		if (w->rc == 0)
			w->rc = take_copy(reader, buffer, cap, &got, &w->fail);
		add(w, buffer, got);
	} while (w->rc == 0 && got > 0);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	free(buffer);
	return NULL;
}

static void stage(void *arg)
{
	(void)arg;
	switch (__atomic_add_fetch(&staged.calls, 1, __ATOMIC_ACQ_REL)) {
	case 1:
		__atomic_store_n(&staged.go_on, true, __ATOMIC_RELEASE);
		wait_for(&staged.late);
		break;
	case 2:
		pthread_create(&staged.waiting.thread, NULL, work_and_say, &staged.waiting);
		wait_for(&staged.waiting);
		break;
	}
}

static void left_behind(void)
{
	static char *const PATHS[] = {"f"};
	const size_t first = 1000, bytes = (size_t)1 << 20;
	unsigned char *data = malloc(first + 3 * bytes);
	struct source_spec spec = {.paths = PATHS,
				   .path_count = 1,
				   .limit = first + bytes,
				   .record = 1,
				   .threads = 4,
				   .more = stage};
	struct worker own = {.cap = 4096, .lends = true, .record = 1};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	uint64_t records, sum;

	for (size_t i = 0; i < first + 3 * bytes; i++)
		data[i] = (unsigned char)(i / 99);
	pack_frame(&p, data, first, 1, true, true, 0);
	for (unsigned i = 0; i < 3; i++)
		pack_frame(&p, data + first + i * bytes, bytes, 1, false, true, 0);
	scratch_write("f", p.data, p.bytes);
	expected(data, first + bytes, &spec, &records, &sum);
	CHECK(source_open(&own.source, &spec, &fail) == 0, "%s", fail.text);
	staged.late = staged.waiting = own;
	alarm(30);
	pthread_create(&staged.late.thread, NULL, come_again, &staged.late);
	while (!__atomic_load_n(&staged.late.slow, __ATOMIC_ACQUIRE))
		usleep(1000);
	work(&own);
	pthread_join(staged.late.thread, NULL);
	if (staged.calls >= 2)
		pthread_join(staged.waiting.thread, NULL);
	alarm(0);
	CHECK(own.rc == 0 && staged.late.rc == 0 && staged.waiting.rc == 0 &&
		      own.records + staged.late.records + staged.waiting.records == records &&
		      own.sum + staged.late.sum + staged.waiting.sum == sum,
	      "%llu, %llu and %llu of %llu records", (unsigned long long)own.records,
	      (unsigned long long)staged.late.records, (unsigned long long)staged.waiting.records,
	      (unsigned long long)records);
	source_close(own.source);
	free(p.data);
	free(data);
	scratch_clean();
}

/*
 * A pipe that stays open, or is cut, after the last record of -n: no reader waits for it, and it is
 * no error.
 */
static void pipe_behind(void)
{
	static char *const STDIN[] = {"-"};
	const size_t bytes = (size_t)1 << 20;
	unsigned char *data = malloc(bytes);
	uint64_t records, sum, state = 4;
	int ends[2];

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30 & 15);
	const struct source_spec spec = {
		.paths = STDIN, .path_count = 1, .limit = bytes, .record = 1, .threads = 2};
	expected(data, bytes, &spec, &records, &sum);
	for (unsigned round = 0; round < 24; round++) {
		const bool stays_open = round % 2;
		struct pack p = {.state = 1};
		pack_frame(&p, data, bytes, 1, round % 4 < 2, true, 0);
		const size_t first = p.bytes;
		pack_frame(&p, data, bytes, 1, round % 3 == 0, true, 0);
		if (pipe(ends) != 0)
			continue;
		const pid_t feeder =
			feed(ends[1], p.data, first + round % 8 * ((p.bytes - first) / 8), 70000);
		to_stdin(ends[0]);
		if (!stays_open)
			close(ends[1]);
		alarm(30);
		const struct outcome o = read_all(&spec, 2, 1 << 16);
		alarm(0);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum &&
			      o.fail.status == STATUS_OK,
		      "round %u: %d, %llu of %llu records, '%s'", round, o.rc,
		      (unsigned long long)o.records, (unsigned long long)records, o.fail.text);
		if (stays_open)
			close(ends[1]);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
		free(p.data);
	}
	free(data);
}

/*
 * The first worker takes a little of the first frame, and the rest after the second frame has
 * begun.
 */
static void *take_little(void *arg)
{
	struct worker *w = arg;
	struct reader *const reader = source_reader(w->source);
	unsigned char buffer[1000];
	size_t got = 0;

	for (unsigned i = 0; w->rc == 0 && (i == 0 || got > 0); i++) {
		w->rc = take_copy(reader, buffer, sizeof(buffer), &got, &w->fail);
		add(w, buffer, got);
		__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
		if (i == 0)
			usleep(20000);
	}
	return NULL;
}

/* -n ends inside a long frame while the one before it has not been handed out. */
static void inside_behind(void)
{
	static char *const STDIN[] = {"-"};
	/* too large for a whole unit: a long frame */
	const size_t first = 100000, second = (size_t)17 << 20;
	const struct source_spec spec = {.paths = STDIN,
					 .path_count = 1,
					 .limit = first + 300000,
					 .record = 1,
					 .threads = 4,
					 .memory = 64 << 20};
	unsigned char *data = malloc(first + second);
	struct worker w[2] = {{.record = 1}, {.record = 1, .cap = 4096, .lends = true}};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	uint64_t records, sum;

	for (size_t i = 0; i < first + second; i++)
		data[i] = (unsigned char)(i / 50 * 7);
	pack_frame(&p, data, first, 1, true, true, 0);
	pack_frame(&p, data + first, second, 1, true, true, 0);
	expected(data, first + second, &spec, &records, &sum);
	const pid_t feeder = feed_stdin(p.data, p.bytes, 70000);
	CHECK(source_open(&w[0].source, &spec, &fail) == 0, "%s", fail.text);
	w[1].source = w[0].source;
	alarm(30);
	pthread_create(&w[0].thread, NULL, take_little, &w[0]);
	wait_for(&w[0]);
	work(&w[1]);
	pthread_join(w[0].thread, NULL);
	alarm(0);
	CHECK(w[0].rc == 0 && w[1].rc == 0 && w[0].records + w[1].records == records &&
		      w[0].sum + w[1].sum == sum,
	      "%llu and %llu of %llu records, '%s'", (unsigned long long)w[0].records,
	      (unsigned long long)w[1].records, (unsigned long long)records, w[1].fail.text);
	source_close(w[0].source);
	kill(feeder, SIGKILL);
	waitpid(feeder, NULL, 0);
	free(p.data);
	free(data);
}

/* A damaged long frame wholly after -n, which is known when the size of the first one is. */
static void long_behind(void)
{
	static char *const PATHS[] = {"f"};
	const size_t piece = 256 << 10, bytes[] = {4 * piece, 40 * piece, 4 * piece};
	const struct source_spec spec = {
		.paths = PATHS, .path_count = 1, .limit = 24 * piece, .record = 1, .threads = 8};
	unsigned char *data = malloc(bytes[0] + bytes[1] + bytes[2]);
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	uint64_t state = 9, records, sum;
	size_t from = 0;

	for (size_t i = 0; i < bytes[0] + bytes[1] + bytes[2]; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30 & 15);
	for (unsigned i = 0; i < 3; i++) {
		/* Windows so small that frames are decoded piece by piece. */
		const size_t at = p.bytes;
		pack_frame(&p, data + from, bytes[i], 1, i == 1, true, 10);
		from += bytes[i];
		for (size_t k = at + 9; i == 2 && k < at + 209; k++)
			p.data[k] ^= 0x5a;
	}
	scratch_write("f", p.data, p.bytes);
	expected(data, from, &spec, &records, &sum);
	for (unsigned round = 0; round < 8; round++) {
		struct worker w[4] = {{.record = 1}};
		struct source *s;
		uint64_t all = 0, total = 0;
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		alarm(30);
		for (unsigned i = 0; i < 4; i++) {
			w[i] = (struct worker){.source = s,
					       .record = 1,
					       .cap = 4096,
					       .lends = true,
					       .slow = i == round % 4};
			pthread_create(&w[i].thread, NULL, work, &w[i]);
		}
		for (unsigned i = 0; i < 4; i++) {
			pthread_join(w[i].thread, NULL);
			CHECK(w[i].rc == 0, "'%s'", w[i].fail.text);
			all += w[i].records;
			total += w[i].sum;
		}
		alarm(0);
		CHECK(all == records && total == sum, "%llu of %llu records",
		      (unsigned long long)all, (unsigned long long)records);
		source_close(s);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

/* A frame whose end is not written yet: its first records are there. */
static void begun(void)
{
	static char *const STDIN[] = {"-"};
	const size_t bytes = 400000;
	unsigned char *data = malloc(bytes);
	uint64_t state = 4;
	int ends[2];

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30);
	for (unsigned told = 0; told <= 1; told++) {
		const struct source_spec spec = {
			.paths = STDIN, .path_count = 1, .limit = 10, .record = 1, .threads = 2};
		struct pack p = {.state = 1};
		uint64_t records, sum;
		pack_frame(&p, data, bytes, 1, told, true, 0);
		expected(data, bytes, &spec, &records, &sum);
		if (pipe(ends) != 0)
			continue;
		const pid_t feeder = feed(ends[1], p.data, 140000, 140000);
		to_stdin(ends[0]);
		alarm(30);
		const struct outcome o = read_all(&spec, 1, 4096);
		alarm(0);
		CHECK(o.rc == 0 && o.records == 10 && o.sum == sum, "%llu records, '%s'",
		      (unsigned long long)o.records, o.fail.text);
		close(ends[1]);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
		free(p.data);
	}
	free(data);
}

/* All records within -n are there; the writer stays and writes no more: no reader waits for it. */
static void stays(void)
{
	static char *const STDIN[] = {"-"};
	const size_t front = (size_t)8 << 20, bytes = front + 1000; /* whole blocks, and one more */
	unsigned char *data = malloc(bytes);
	uint64_t records, sum, state = 4;
	int ends[2];

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30 & 15);
	for (unsigned round = 0; round < 12; round++) {
		struct source_spec spec = {
			.paths = STDIN, .path_count = 1, .record = 1, .threads = 4, .zstd = true};
		struct pack p = {.state = 1};
		switch (round % 3) {
		case 0: /* ten bytes of a frame after one whose size is not known yet */
			pack_frame(&p, data, front, 1, false, true, 0);
			memcpy(pack_room(&p, 1009), "\x28\xb5\x2f\xfd\x00\x58\x40\x1f\x00", 9);
			memcpy(p.data + p.bytes + 9, data + front, 1000);
			p.bytes += 1009;
			spec.limit = front + 10;
			break;
		case 1: /* all the bytes that a header declares, and not yet the frame's end */
			memcpy(pack_room(&p, 400000), "\x28\xb5\x2f\xfd\x80\x58\xe0\x93\x04\x00",
			       10);
			p.bytes += 10;
			for (unsigned i = 0; i < 3; i++) {
				/* 100,000 bytes, not the last */
				memcpy(p.data + p.bytes, "\x00\x35\x0c", 3);
				memcpy(p.data + p.bytes + 3, data + i * 100000, 100000);
				p.bytes += 100003;
			}
			spec.limit = 300000;
			break;
		default: /* a frame shorter than headers may be */
			memcpy(pack_room(&p, 10), "\x28\xb5\x2f\xfd\x20\x01\x09\x00\x00", 9);
			p.data[9] = data[0];
			p.bytes += 10;
			spec.limit = 1;
		}
		expected(data, bytes, &spec, &records, &sum);
		if (pipe(ends) != 0)
			continue;
		const pid_t feeder = feed(ends[1], p.data, p.bytes, 1 << 16);
		to_stdin(ends[0]);
		alarm(30);
		const struct outcome o = read_all(&spec, 1 + round / 3, 65536);
		alarm(0);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum,
		      "round %u: %llu of %llu records, '%s'", round, (unsigned long long)o.records,
		      (unsigned long long)records, o.fail.text);
		CHECK(o.totals.packed > 0, "round %u: nothing was read", round);
		close(ends[1]);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
		free(p.data);
	}
	free(data);
}

/*
 * -n allows fewer bytes than a magic number has: it is recognised if it is there, or --zstd waits
 * for it; else the bytes are samples, and none beyond -n is waited for.
 */
static void few(void)
{
	static char *const STDIN[] = {"-"};
	static const unsigned char FRAME[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, 0x21,
					      0,    0,    7,    7,    7,    7};
	uint64_t records, sum;

	for (unsigned round = 0; round < 24; round++) {
		const struct source_spec spec = {.paths = STDIN,
						 .path_count = 1,
						 .limit = 1,
						 .record = 1,
						 .zstd = round / 2 % 2};
		const size_t first = 1 + round / 4;
		int ends[2];
		const bool seen = spec.zstd || first >= 4;
		expected(seen ? FRAME + 9 : FRAME, 4, &spec, &records, &sum);
		if ((round % 2 ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) != 0)
			continue;
		const pid_t feeder = fork();
		if (feeder == 0) {
			const bool all = write(ends[1], FRAME, first) == (ssize_t)first &&
					 (seen ? usleep(20000) : pause()) == 0 &&
					 write(ends[1], FRAME + first, sizeof(FRAME) - first) > 0;
			_exit(!all);
		}
		close(ends[1]);
		to_stdin(ends[0]);
		alarm(30);
		const struct outcome o = read_all(&spec, 1, 4096);
		alarm(0);
		CHECK(o.rc == 0 && o.records == 1 && o.sum == sum,
		      "round %u: %llu records, sum %llu, '%s'", round,
		      (unsigned long long)o.records, (unsigned long long)o.sum, o.fail.text);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
	}
}

/*
 * One reader holds the last record of -n, put together of two frames: no other reader may take one
 * more.
 */
static void in_hand(void)
{
	static char *const PATHS[] = {"a", "b"};
	static const unsigned char DATA[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					       11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
	const struct source_spec spec = {
		.paths = PATHS, .path_count = 2, .limit = 5, .record = 4, .threads = 2};
	const struct want want = {.room = (unsigned char[64]){0}, .cap = 64, .lent = true};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	struct reader *r[2];
	struct source *s;
	uint64_t records = 0;

	pack_frame(&p, DATA, 10, 1, true, true, 0);
	pack_frame(&p, DATA + 10, 10, 1, true, true, 0);
	scratch_write("a", p.data, p.bytes);
	scratch_write("b", p.data, p.bytes);
	CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
	for (unsigned i = 0; i < 2; i++)
		r[i] = source_reader(s);
	for (unsigned i = 0; i < 8; i++) {
		struct chunk chunk;
		CHECK(source_take(r[i / 2 % 2], &want, &chunk, &fail) == 0, "'%s'", fail.text);
		records += chunk.bytes / 4;
		source_done(r[i / 2 % 2], &chunk, chunk.bytes);
	}
	CHECK(records == 5, "%llu of 5 records", (unsigned long long)records);
	source_close(s);
	free(p.data);
	scratch_clean();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	wrong_behind();
	left_behind();
	pipe_behind();
	inside_behind();
	long_behind();
	begun();
	stays();
	few();
	in_hand();
	scratch_leave();
	return check_report();
}
