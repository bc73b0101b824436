/*
 * source_zstd: what is handed out of compressed inputs is what was compressed, by however many
 * workers, in whatever frames, with whatever memory; and bad input is found, told of and survived.
 */
#include "source.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "check.h"
#include "pack.h"
#include "scratch.h"
#include "zstd_state.h"

#define WORKERS 4

/* A record is its own number, so that a sum and a count tell whether each came once. */
struct worker {
	struct source *source;
	struct fail fail;
	pthread_t thread;
	size_t cap;
	bool lends, slow, done;
	uint32_t record;
	uint64_t records, sum;
	int rc;
};

static void add(struct worker *w, const unsigned char *data, size_t bytes)
{
	for (size_t i = 0; i + w->record <= bytes; i += w->record) {
		uint64_t v = 0;
		memcpy(&v, data + i, w->record);
		w->sum += v * v + 1;
	}
	w->records += bytes / w->record;
	if (bytes % w->record != 0)
		w->sum = 1; /* never right */
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned char *buffer = malloc(w->cap);
	struct source_lease lease = {.data = NULL};
	size_t got = 0;

	for (unsigned i = 0;; i++) {
		if (w->lends) {
			w->rc = source_lend(w->source, buffer, w->cap, &lease, &w->fail);
			got = lease.bytes;
			if (w->rc == 0)
				add(w, lease.data, got);
			if (w->slow)
				usleep(3000);
			/* Now and then a worker becomes another kind of worker. */
			if (w->rc == 0 && i % 7 == 6)
				w->rc = source_return_lease(w->source, &lease, &w->fail);
		} else {
			w->rc = source_fill(w->source, buffer, w->cap, &got, &w->fail);
			add(w, buffer, got);
		}
		if (w->rc != 0 || got == 0)
			break;
	}
	free(buffer);
	return NULL;
}

struct outcome {
	int rc;
	uint64_t records, sum;
	struct source_totals totals;
	struct fail fail;
	bool finished;
};

static struct outcome read_all(const struct source_spec *spec, unsigned workers, size_t cap)
{
	struct worker w[WORKERS] = {{.rc = 0}};
	struct outcome o = {.rc = 0};
	struct source *s;

	if (source_open(&s, spec, &o.fail) != 0)
		return (struct outcome){.rc = -1};
	for (unsigned i = 0; i < workers; i++) {
		w[i] = (struct worker){.source = s, .cap = cap, .lends = i % 2 == cap % 2, .record = spec->record};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (unsigned i = 0; i < workers; i++) {
		pthread_join(w[i].thread, NULL);
		o.records += w[i].records;
		o.sum += w[i].sum;
		if (w[i].rc != 0)
			o.rc = w[i].rc;
		if (w[i].fail.status != STATUS_OK && o.fail.status == STATUS_OK)
			o.fail = w[i].fail;
	}
	o.totals = *source_totals(s);
	o.finished = source_finished(s);
	source_close(s);
	return o;
}

/* The records of `bytes` of numbers behind a skip. */
static void expected(const unsigned char *data, size_t bytes, const struct source_spec *spec, uint64_t *records,
		     uint64_t *sum)
{
	struct worker w = {.record = spec->record};
	size_t rest = bytes - (size_t)spec->skip;

	rest -= rest % spec->record;
	if (spec->limit < rest / spec->record)
		rest = (size_t)spec->limit * spec->record;
	add(&w, data + spec->skip, rest);
	*records = w.records;
	*sum = w.sum;
}

static pid_t feed(int fd, const unsigned char *data, size_t bytes, size_t each)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes < each ? bytes : each);
		if (n <= 0)
			break;
		data += n;
		bytes -= (size_t)n;
	}
	_exit(0);
}

/* Over every way of reading: what comes out is what went in. */
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
			.paths = PATHS, .path_count = 1 + round % 3 / 2, .limit = UINT64_MAX, .record = 1 + round % 8,
			.ignore_tail = true, .threads = 1 + round % 5, .zstd = round % 2,
			/* from little, so that large frames are decoded in turn, to plenty */
			.memory = (uint64_t)1 << (22 + check_random(&state) % 6), .memory_all = 1 << 28,
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
				waitpid(feed(fd, b.data, b.bytes, 1 + check_random(&state) % 70000), &status, 0);
				_exit(0);
			}
			const size_t cap = CAPS[check_random(&state) % 5] / 24 * 24 / spec.record * spec.record;
			const struct outcome o = read_all(&spec, workers, cap + round % 2 * spec.record);
			if (feeder > 0) {
				kill(feeder, SIGKILL);
				waitpid(feeder, NULL, 0);
			}
			CHECK(o.rc == 0 && o.records == records + records2 && o.sum == sum + sum2,
			      "round %u, %zu bytes, %u workers: %llu of %llu records, %s", round, n, workers,
			      (unsigned long long)o.records, (unsigned long long)(records + records2), o.fail.text);
			CHECK(o.finished && o.totals.bytes == o.totals.skipped + o.totals.tail + o.records * spec.record,
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

	/* Half of it does not get smaller: blocks as large as blocks get. */
	for (unsigned i = 0; i < 400000; i++)
		data[i] = (unsigned char)(check_random(&state) >> 20 & (i < 200000 ? 255 : 7));
	for (unsigned round = 0; round < 60; round++) {
		const size_t each = EACH[round % 5];
		const size_t n = (size_t)(check_random(&state) % (each < 20 ? 4000 : 400000));
		struct pack p = pack_all(data, n, check_random(&state));
		const struct source_spec spec = {
			.paths = STDIN, .path_count = 1, .limit = UINT64_MAX, .record = 1 + round % 3, .ignore_tail = true,
			.threads = 3, .memory = round % 2 ? 4 << 20 : 64 << 20, .memory_all = 64 << 20};
		uint64_t records, sum;
		int ends[2];
		expected(data, n, &spec, &records, &sum);
		if (pipe(ends) != 0)
			continue;
		const pid_t feeder = feed(ends[1], p.data, p.bytes, each);
		close(ends[1]);
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		const struct outcome o = read_all(&spec, 1 + round % 2 * 2, 6000);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum, "pipe, round %u: %llu of %llu records, %s", round,
		      (unsigned long long)o.records, (unsigned long long)records, o.fail.text);
		free(p.data);
	}
	free(data);
}

/* As many frames at once as there are workers, of a file and of a pipe: nobody waits for the others. */
static void side_by_side(void)
{
	static char *const PATHS[][1] = {{"f"}, {"-"}};
	unsigned char *data = malloc(4 << 20);
	struct pack p = {.state = 1};
	int ends[2];

	for (unsigned i = 0; i < 4 << 20; i++)
		data[i] = (unsigned char)(i % 251);
	for (unsigned i = 0; i < 4; i++)
		pack_frame(&p, data + (i << 20), 1 << 20, 1, i % 2, true, 0);
	scratch_write("f", p.data, p.bytes);
	for (unsigned piped = 0; piped <= 1; piped++) {
		const struct source_spec spec = {.paths = PATHS[piped], .path_count = 1, .limit = UINT64_MAX, .record = 1,
						 .threads = 4, .memory = 64 << 20, .memory_all = 64 << 20};
		struct source_lease lease[4] = {{.data = NULL}};
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		size_t bytes = 0;
		pid_t feeder = -1;
		if (piped && pipe(ends) == 0) {
			feeder = feed(ends[1], p.data, p.bytes, 70000);
			close(ends[1]);
			dup2(ends[0], STDIN_FILENO);
			close(ends[0]);
		}
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		alarm(30); /* one that waits for another would wait forever */
		for (unsigned i = 0; i < 4; i++) {
			CHECK(source_lend(s, NULL, 1 << 20, &lease[i], &fail) == 0 && lease[i].bytes == 1 << 20,
			      "%zu bytes '%s'", lease[i].bytes, fail.text);
			bytes += lease[i].bytes;
		}
		alarm(0);
		CHECK(bytes == 4 << 20, "%zu bytes", bytes);
		for (unsigned i = 0; i < 4; i++)
			CHECK(lease[i].data && memcmp(lease[i].data, data + (i << 20), 1 << 20) == 0, "frame %u", i);
		for (unsigned i = 0; i < 4; i++)
			CHECK(source_return_lease(s, &lease[i], &fail) == 0, "'%s'", fail.text);
		source_close(s);
		if (feeder > 0)
			waitpid(feeder, NULL, 0);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

/*
 * A frame in turn that does not tell its size, and frames behind it that wait for their places. Slow
 * counters hold all of its pieces at times: then too somebody must go on with it.
 */
static void held_up(void)
{
	static char *const PATHS[] = {"f"};
	const struct source_spec spec = {.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 4, .threads = 8};
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
		w[i] = (struct worker){.source = s, .cap = 4096, .lends = true, .record = 4, .slow = true};
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

/* A header that promises 5000 bytes and a frame of none: found piece by piece too. */
static void empty_promise(void)
{
	static const unsigned char FRAME[] = {0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x88, 0x12, 1, 0, 0};
	static char *const PATHS[] = {"f"};

	scratch_write("f", FRAME, sizeof(FRAME));
	for (size_t cap = 100; cap <= 10000; cap *= 100) {
		const struct source_spec spec = {.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 1};
		unsigned char buffer[10000];
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		size_t got;
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		CHECK(source_fill(s, buffer, cap, &got, &fail) == -1 && fail.status == STATUS_DATA, "cap %zu: %zu bytes", cap, got);
		source_close(s);
	}
	scratch_clean();
}

/* What decoders hold stays within -M, whatever frame follows whatever other. */
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
		/* much of little, noise, one with a large window, one that nearly fits of unknown size */
		sum += n;
		pack_frame(&p, i % 4 == 1 ? data + bytes - n : data, n, 1, i % 4 != 3, true, i % 4 == 2 ? 23 : 0);
	}
	scratch_write("f", p.data, p.bytes);
	for (unsigned round = 0; round < 8; round++) {
		const bool piped = round % 2, lends = round / 2 % 2;
		const unsigned threads = 1 + round / 4;
		const struct source_spec spec = {.paths = piped ? STDIN : PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 1,
						 .threads = threads, .memory = (uint64_t)16 * threads << 20, .memory_all = 64 << 20};
		unsigned char *buffer = malloc(bytes);
		struct source_lease lease = {.data = NULL};
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		uint64_t all = 0;
		size_t got = 0;
		int rc, ends[2];
		pid_t feeder = -1;
		if (piped && pipe(ends) == 0) {
			feeder = feed(ends[1], p.data, p.bytes, 70000);
			close(ends[1]);
			dup2(ends[0], STDIN_FILENO);
			close(ends[0]);
		}
		CHECK(source_open(&s, &spec, &fail) == 0, "%s", fail.text);
		most = 0;
		do {
			rc = lends ? source_lend(s, buffer, 65536, &lease, &fail)
				   : source_fill(s, buffer, round == 2 ? bytes : 65536, &got, &fail);
			all += lends ? lease.bytes : got;
			uint64_t held = 0;
			for (const struct decoder *d = s->zstd ? s->zstd->decoders : NULL; d; d = d->next)
				held += zstd_held(d);
			most = held > most ? held : most;
		} while (rc == 0 && (lends ? lease.bytes : got) > 0);
		CHECK(rc == 0 && all == sum, "round %u: %d, %llu bytes, '%s'", round, rc, (unsigned long long)all,
		      fail.text);
		CHECK(most > 0 && most <= spec.memory, "round %u: %llu bytes", round, (unsigned long long)most);
		source_close(s);
		free(buffer);
		if (feeder > 0)
			waitpid(feeder, NULL, 0);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

static void count_call(void *arg)
{
	++*(unsigned *)arg;
}

/* Another worker is called for in front of each large frame that others follow, and of no small one. */
static void calls(void)
{
	static char *const PATHS[] = {"f"};
	const size_t large = (size_t)1 << 20, small = (size_t)1 << 16;
	unsigned char *data = calloc(5, large);
	unsigned called = 0;
	const struct source_spec spec = {.paths = PATHS, .path_count = 1, .limit = UINT64_MAX, .record = 1,
					 .threads = 2, .more = count_call, .arg = &called};

	for (unsigned frames = 1; frames <= 4; frames++) {
		for (unsigned big = 0; big <= 1; big++) {
			struct pack p = {.state = 1};
			for (unsigned i = 0; i < frames; i++)
				pack_frame(&p, data, big ? large : small, 1, false, true, 0);
			scratch_write("f", p.data, p.bytes);
			called = 0;
			const struct outcome o = read_all(&spec, 1, 5 * large);
			CHECK(o.rc == 0 && o.records == frames * (big ? large : small), "%s", o.fail.text);
			CHECK(called == (big ? frames - 1 : 0), "%u calls for %u frames", called, frames);
			free(p.data);
		}
	}
	free(data);
	scratch_clean();
}

/* ---- where -n ends ---- */

static void to_stdin(int fd)
{
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* As its last act a thread says that it is done. */
static void *work_and_say(void *arg)
{
	struct worker *w = arg;

	work(w);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void wait_for(struct worker *w)
{
	for (unsigned i = 0; i < 100 && !__atomic_load_n(&w->done, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
}

/* Called while a first frame is found and not decoded: now the next worker looks at what follows. */
static void overtake(void *arg)
{
	struct worker *w = arg;

	if (w->record != 0)
		return;
	w->record = 1;
	pthread_create(&w->thread, NULL, work_and_say, w);
	wait_for(w);
}

/* What is wrong behind -n's last record is nobody's, also to one who sees it before that is known. */
static void wrong_behind(void)
{
	static char *const PATHS[] = {"f"};
	const size_t bytes = (size_t)2 << 20;
	unsigned char *data = malloc(bytes);
	uint64_t records, sum, state = 4;

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30 & 15);
	for (unsigned kind = 0; kind < 6; kind++) {
		/* Frames that do not tell their size; the last one is ours, or the one in front of it. */
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
		struct source_spec spec = {.paths = PATHS, .path_count = 1, .limit = bytes + (kind < 3 ? 0 : 1), .record = 1,
					   .threads = 2, .more = overtake, .arg = &other};
		struct fail fail = {.status = STATUS_OK};
		expected(data, bytes, &spec, &records, &sum);
		CHECK(source_open(&other.source, &spec, &fail) == 0, "%s", fail.text);
		own.source = other.source;
		alarm(30);
		work(&own);
		pthread_join(other.thread, NULL);
		alarm(0);
		const bool failed = own.rc != 0 || other.rc != 0;
		CHECK(failed == (kind >= 3), "kind %u: %d %d, '%s' '%s'", kind, own.rc, other.rc, own.fail.text, other.fail.text);
		CHECK(failed || (own.records + other.records == records && own.sum + other.sum == sum &&
				 own.fail.status == STATUS_OK && other.fail.status == STATUS_OK),
		      "kind %u: %llu and %llu of %llu records", kind, (unsigned long long)own.records,
		      (unsigned long long)other.records, (unsigned long long)records);
		source_close(other.source);
		free(p.data);
	}
	free(data);
	scratch_clean();
}

/*
 * -n ends in a frame while another one, of unknown size and not wanted, is left by a worker that had
 * no room for it: who waits behind that one waits no longer.
 */
static struct {
	struct worker late, waiting;
	bool go_on;
	unsigned calls;
} staged;

static void *come_again(void *arg)
{
	struct worker *w = arg;
	const size_t cap = 9 << 17; /* as many blocks as the frame has, and not those and what it has already */
	unsigned char *buffer = malloc(cap);
	size_t got = 0;

	w->rc = source_fill(w->source, buffer, 8, &got, &w->fail);
	add(w, buffer, got);
	__atomic_store_n(&w->slow, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&staged.go_on, __ATOMIC_ACQUIRE))
		usleep(1000);
	if (w->rc == 0)
		w->rc = source_fill(w->source, buffer, cap, &got, &w->fail);
	add(w, buffer, got);
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
	struct source_spec spec = {.paths = PATHS, .path_count = 1, .limit = first + bytes, .record = 1, .threads = 4,
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

/* A pipe that stays open, or is cut behind -n's last record: nobody waits for it, nor is it wrong. */
static void pipe_behind(void)
{
	static char *const STDIN[] = {"-"};
	const size_t bytes = (size_t)1 << 20;
	unsigned char *data = malloc(bytes);
	uint64_t records, sum, state = 4;
	int ends[2];

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30 & 15);
	const struct source_spec spec = {.paths = STDIN, .path_count = 1, .limit = bytes, .record = 1, .threads = 2};
	expected(data, bytes, &spec, &records, &sum);
	for (unsigned round = 0; round < 24; round++) {
		const bool stays_open = round % 2;
		struct pack p = {.state = 1};
		pack_frame(&p, data, bytes, 1, round % 4 < 2, true, 0);
		const size_t first = p.bytes;
		pack_frame(&p, data, bytes, 1, round % 3 == 0, true, 0);
		if (pipe(ends) != 0)
			continue;
		const pid_t feeder = feed(ends[1], p.data, first + round % 8 * ((p.bytes - first) / 8), 70000);
		to_stdin(ends[0]);
		if (!stays_open)
			close(ends[1]);
		alarm(30);
		const struct outcome o = read_all(&spec, 2, 1 << 16);
		alarm(0);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum && o.fail.status == STATUS_OK,
		      "round %u: %d, %llu of %llu records, '%s'", round, o.rc, (unsigned long long)o.records,
		      (unsigned long long)records, o.fail.text);
		if (stays_open)
			close(ends[1]);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
		free(p.data);
	}
	free(data);
}

/* The first worker takes a little of the first frame; the second one meets what follows. */
static void *take_little(void *arg)
{
	struct worker *w = arg;
	unsigned char buffer[1000];
	size_t got = 0;

	w->rc = source_fill(w->source, buffer, sizeof(buffer), &got, &w->fail);
	add(w, buffer, got);
	return NULL;
}

/* -n ends inside a frame in turn while one in front of it is not handed out. */
static void inside_behind(void)
{
	static char *const STDIN[] = {"-"};
	const size_t first = 100000, second = (size_t)17 << 20; /* too large to be gathered */
	const struct source_spec spec = {.paths = STDIN, .path_count = 1, .limit = first + 300000, .record = 1,
					 .threads = 4, .memory = 64 << 20, .memory_all = 64 << 20};
	unsigned char *data = malloc(first + second);
	struct worker w[2] = {{.record = 1}, {.record = 1, .cap = 4096, .lends = true}};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	uint64_t records, sum;
	int ends[2];

	for (size_t i = 0; i < first + second; i++)
		data[i] = (unsigned char)(i / 50 * 7);
	pack_frame(&p, data, first, 1, true, true, 0);
	pack_frame(&p, data + first, second, 1, true, true, 0);
	expected(data, first + second, &spec, &records, &sum);
	if (pipe(ends) == 0) {
		const pid_t feeder = feed(ends[1], p.data, p.bytes, 70000);
		close(ends[1]);
		to_stdin(ends[0]);
		CHECK(source_open(&w[0].source, &spec, &fail) == 0, "%s", fail.text);
		w[1].source = w[0].source;
		pthread_create(&w[0].thread, NULL, take_little, &w[0]);
		pthread_join(w[0].thread, NULL);
		alarm(30);
		work(&w[1]);
		alarm(0);
		CHECK(w[0].rc == 0 && w[1].rc == 0 && w[0].records + w[1].records == records && w[0].sum + w[1].sum == sum,
		      "%llu and %llu of %llu records, '%s'", (unsigned long long)w[0].records,
		      (unsigned long long)w[1].records, (unsigned long long)records, w[1].fail.text);
		source_close(w[0].source);
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
	}
	free(p.data);
	free(data);
}

static bool looks(const char *path, bool raw, bool zstd)
{
	char *paths[] = {(char *)(uintptr_t)path};

	return source_compressed(&(struct source_spec){.paths = paths, .path_count = 1, .raw = raw, .zstd = zstd});
}

static void likely(void)
{
	CHECK(looks("a.zst", false, false) && looks("/missing/b.zst", false, false), "by its name");
	CHECK(!looks(".zst", false, false) && !looks("a.zst.part", false, false) && !looks("-", false, false) &&
	      !looks("", false, false), "not by its name");
	CHECK(!looks("a.zst", true, false) && looks("-", false, true), "the options decide");
}

/* ---- bad input ---- */

static struct outcome read_bytes(const void *bytes, size_t n, const struct source_spec *given)
{
	static char *const PATHS[] = {"bad"};
	struct source_spec spec = *given;

	scratch_write("bad", bytes, n);
	spec.paths = PATHS;
	spec.path_count = 1;
	return read_all(&spec, 1 + n % 2, 4096);
}

static const struct source_spec PLAIN = {.limit = UINT64_MAX, .record = 1, .threads = 2};

static void is_bad(const void *bytes, size_t n, const char *why, const char *what)
{
	const struct outcome o = read_bytes(bytes, n, &PLAIN);

	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA && strstr(o.fail.text, why) && !strchr(o.fail.text, '\n'),
	      "%s: %d, %d '%s'", what, o.rc, (int)o.fail.status, o.fail.text);
}

static void bad_input(void)
{
	unsigned char data[700];
	uint64_t state = 3;
	struct pack p = {.state = 5};

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(check_random(&state) & 15);
	pack_frame(&p, data, 300, 3, true, true, 0);
	const size_t first = p.bytes;
	pack_frame(&p, data + 300, 400, 3, false, true, 0);
	uint64_t records, sum;
	expected(data, sizeof(data), &PLAIN, &records, &sum);
	/* Cut anywhere but between frames: an error that names the frame. */
	for (size_t n = 4; n < p.bytes; n++) {
		if (n == first)
			continue;
		is_bad(p.data, n, "at offset ", "cut");
	}
	/* Every byte another: found by the checksum, or what was counted is right all the same. */
	for (size_t i = 0; i < p.bytes; i++) {
		const unsigned char was = p.data[i];
		p.data[i] ^= (unsigned char)(1u << i % 8);
		const struct outcome o = read_bytes(p.data, p.bytes, &PLAIN);
		/* The first four bytes say whether it is zstd's at all. */
		CHECK(i < 4 || (o.rc == -1 && (o.fail.status == STATUS_DATA || o.fail.status == STATUS_LIMIT)) ||
			      (o.rc == 0 && o.records == records && o.sum == sum),
		      "byte %zu: %d, %llu records '%s'", i, o.rc, (unsigned long long)o.records, o.fail.text);
		p.data[i] = was;
	}
	for (size_t n = 1; n <= 8; n++) {
		memset(pack_room(&p, 8), 0, 8);
		is_bad(p.data, p.bytes + n, "garbage", "zeros behind the last frame");
		memset(pack_room(&p, 8), 0xa5, 8);
		is_bad(p.data, p.bytes + n, "garbage", "garbage behind the last frame");
	}
	static const char BEGUN[] = "\x28\xb5\x2f\x52\x2a\x4d";
	for (size_t n = 1; n <= 3; n++) {
		memcpy(pack_room(&p, 8), BEGUN, n);
		is_bad(p.data, p.bytes + n, "inside its header", "a frame begun");
		memcpy(pack_room(&p, 8), BEGUN + 3, n);
		is_bad(p.data, p.bytes + n, "inside its header", "a skippable frame begun");
	}
	is_bad("\x28\xb5\x2f\xfd", 4, "inside its header", "magic alone");
	is_bad("\x28\xb5\x2f\xfd and then no zstd at all", 28, "at offset 0", "raw data that begins with the magic");
	is_bad("\x50\x2a\x4d\x18\xff\xff\xff\xff....", 12, "inside it", "a skippable frame without an end");
	is_bad("\x25\xb5\x2f\xfd..........", 14, "before 0.8", "a legacy frame");
	struct pack legacy = {.state = 1};
	pack_frame(&legacy, data, 100, 1, true, false, 0);
	memcpy(pack_room(&legacy, 16), "\x26\xb5\x2f\xfd............", 16);
	is_bad(legacy.data, legacy.bytes + 16, "before 0.8", "a legacy frame behind another");
	free(legacy.data);
	/* A header with a dictionary's number, and one with the reserved bit. */
	is_bad("\x28\xb5\x2f\xfd\x21\x07\x01\x01\x00\x00", 10, "dictionary", "a dictionary");
	is_bad("\x28\xb5\x2f\xfd\x28\x01\x09\x00\x00\x00", 10, "no version", "the reserved bit");
	/* A block that is larger than the window of 1 KiB allows. */
	is_bad("\x28\xb5\x2f\xfd\x00\x00\x63\x62\x00\x00", 10, "at offset 0", "a block larger than its window");
	/* Lying sizes: a frame that says more, or less, than it holds. */
	static const unsigned char LIES[][13] = {
		{0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x21, 0, 0, 'a', 'b', 'c', 'd'},
		{0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x21, 0, 0, 'a', 'b', 'c', 'd'}};
	is_bad(LIES[0], 13, "at offset 0", "more than there is");
	is_bad(LIES[1], 13, "at offset 0", "less than there is");
	free(p.data);
	scratch_clean();
}

/* A window beyond the memory is refused with the -M that would do; a lying content size costs nothing. */
static void limits(void)
{
	/* No single segment: the window descriptor says 2^31; one raw block of four bytes. */
	unsigned char big[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 0x21, 0, 0, 'a', 'b', 'c', 'd'};
	struct source_spec spec = PLAIN;

	spec.memory = spec.memory_all = 256 << 20;
	spec.zstd = true;
	struct outcome o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_LIMIT && strstr(o.fail.text, "-M 2097152K"), "'%s'", o.fail.text);
	spec.memory = (uint64_t)1 << 31;
	spec.memory_all = spec.memory;
	o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == 0 && o.records == 4, "with that much: %d '%s'", o.rc, o.fail.text);
	big[5] = 31 << 3;
	o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == -1 && strstr(o.fail.text, "2 GiB"), "'%s'", o.fail.text);
	big[5] = 17 << 3; /* 128 MiB: always */
	spec.memory = spec.memory_all = 128 << 20;
	o = read_bytes(big, sizeof(big), &spec);
	CHECK(o.rc == 0 && o.records == 4, "128 MiB: %d '%s'", o.rc, o.fail.text);
	/* It claims 2^60 bytes and holds four. */
	static const unsigned char LIE[] = {0x28, 0xb5, 0x2f, 0xfd, 0xc0, 8 << 3, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x21, 0, 0,
					    'a', 'b', 'c', 'd'};
	o = read_bytes(LIE, sizeof(LIE), &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA, "a lying content size: %d '%s'", o.rc, o.fail.text);

	spec = PLAIN;
	spec.zstd = true;
	o = read_bytes("no zstd", 7, &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA && strstr(o.fail.text, "--zstd"), "'%s'", o.fail.text);
	spec.zstd = false;
	spec.raw = true;
	o = read_bytes("\x28\xb5\x2f\xfd.", 5, &spec);
	CHECK(o.rc == 0 && o.records == 5, "--raw: %d '%s'", o.rc, o.fail.text);
	/* A hundred thousand empty frames, and a bomb of 64 MiB in a few kilobytes. */
	struct pack p = {.state = 1};
	pack_frame(&p, "", 0, 1, true, false, 0);
	const size_t one = p.bytes;
	for (unsigned i = 1; i < 100000; i++) {
		unsigned char *at = pack_room(&p, one);
		memcpy(at, p.data, one);
		p.bytes += one;
	}
	unsigned char *zeros = calloc(1, 64 << 20);
	pack_frame(&p, zeros, 64 << 20, 3, false, true, 0);
	o = read_bytes(p.data, p.bytes, &PLAIN);
	CHECK(o.rc == 0 && o.records == 64 << 20, "empty frames and a bomb: %llu '%s'", (unsigned long long)o.records,
	      o.fail.text);
	free(zeros);
	free(p.data);
	scratch_clean();
}

/* -S beyond the end, tails, and an error in the middle stops everybody. */
static void ends(void)
{
	unsigned char data[100];
	struct pack p = {.state = 1};
	struct source_spec spec = PLAIN;

	memset(data, 'x', sizeof(data));
	for (unsigned i = 0; i < 10; i++)
		pack_frame(&p, data, 10, 1, i % 2, false, 0);
	spec.record = 8;
	struct outcome o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA && strstr(o.fail.text, "4 of 8 bytes"), "'%s'", o.fail.text);
	spec.ignore_tail = true;
	o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == 0 && o.records == 12 && o.totals.tail == 4 && o.totals.tails == 1, "'%s'", o.fail.text);
	spec.skip = 101;
	o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == -1 && strstr(o.fail.text, "to skip"), "'%s'", o.fail.text);
	spec.skip = 100;
	o = read_bytes(p.data, p.bytes, &spec);
	CHECK(o.rc == 0 && o.records == 0 && o.totals.skipped == 100, "'%s'", o.fail.text);
	/* What lies behind -n's limit is not looked at. */
	spec.skip = 0;
	spec.limit = 3;
	memset(pack_room(&p, 4), 'x', 4);
	o = read_bytes(p.data, p.bytes + 4, &spec);
	CHECK(o.rc == 0 && o.records == 3 && o.finished, "'%s'", o.fail.text);
	free(p.data);
	scratch_clean();
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	round_trips();
	pipes();
	side_by_side();
	held_up();
	empty_promise();
	stays_within();
	calls();
	wrong_behind();
	left_behind();
	pipe_behind();
	inside_behind();
	likely();
	bad_input();
	limits();
	ends();
	scratch_leave();
	return check_report();
}
