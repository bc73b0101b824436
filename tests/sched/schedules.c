/* SPDX-License-Identifier: MIT */
/*
 * schedules: whole commands under many schedules. Whatever the seed decides, a command ends, and
 * writes the same bytes, message and status as with one thread; if memory fails in a thread, it may
 * end with status 1, or print a warning, instead.
 *
 * usage: schedules [SEED [SECONDS [SCENE [SEED_OF_SCHEDULE]]]]
 * With a scene, its name or number, run only that one; with the seed of a schedule, too, as a failure
 * prints them, only that schedule.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/signals.h"
#include "check.h"
#include "cli/msg.h"
#include "cli/options.h"
#include "command.h"
#include "doorbell.h"
#include "pack.h"
#include "scratch.h"
#include "schedule.h"

enum { WORDS = 24, MOST = 150000 };

struct scene {
	const char *name;
	const char *command; /* words; $T is replaced by a number of threads; NULL: doorbell.h */
	const char *fed;     /* file that a thread writes to standard input, or NULL */
	size_t piece;        /* largest number of bytes in one write */
	bool finish; /* INT comes at some step; the counted bytes must be a beginning of `fed` */
	bool tee;    /* a thread reads standard output */
	bool full;   /* standard output holds less than what is written at once */
	int status;  /* exit status with one thread */
};

static const struct scene SCENES[] = {
	{.name = "file", .command = "-t u8 -T $T -o out plain"},
	{.name = "file of rows", .command = "-t u32 -b 16 -T $T --each=1500 -f csv -o out plain"},
	{.name = "files, up to a record", .command = "-t u8 -T $T -n 20001 -o out small plain"},
	{.name = "auto", .command = "-t u32 -T $T --auto -b 64 --stats -o out.json plain"},
	{.name = "slices", .command = "-t u8 -T $T --part=2/3 -o out.json plain small plain"},
	{.name = "text", .command = "-t u8 --text -T $T -o out text"},
	{.name = "text, up to a record", .command = "-t u8 --text -T $T -n 3001 -o out text text"},
	{.name = "text of a pipe",
	 .command = "-t u8 --text -T $T -o out",
	 .fed = "text",
	 .piece = 900},
	{.name = "texts in zstd", .command = "-t u8 --text -T $T -o out text.zst text text.zst"},
	{.name = "keys of text",
	 .command = "-t u8 -b 4 --text=1 --by=1 -T $T -f csv -o out text text"},
	{.name = "keys of records",
	 .command = "-t u8 -b 4 --mod --record=2 --by=u8@1 -T $T -f csv -o out plain small"},
	{.name = "rows of text",
	 .command = "-t u8 -b 8 --text -T $T --each=150 -f csv -o out text"},
	{.name = "text, damaged",
	 .command = "-t u8 --text -T $T -o out text text.bad text",
	 .status = 3},
	{.name = "text in frames, up to a record",
	 .command = "-t u8 --text -T $T -n 3001 -o out texts.zst text"},
	{.name = "rows of text in frames",
	 .command = "-t u8 -b 8 --text -T $T --each=150 -f csv -o out texts.zst text.zst"},
	{.name = "text in frames of a pipe",
	 .command = "-t u8 --text -T $T -o out",
	 .fed = "texts.zst",
	 .piece = 3000},
	{.name = "text in frames, damaged",
	 .command = "-t u8 --text --skip-bad -T $T -o out text.bad texts.bad.zst text",
	 .status = 3},
	{.name = "a bad line in frames",
	 .command = "-t u8 --text -T $T -o out text texts.x.zst texts.bad.zst",
	 .status = 3},
	{.name = "bad lines",
	 .command = "-t u8 --text --skip-bad -T $T -o out texts.x.zst text.bad texts.x.zst"},
	{.name = "long lines", .command = "-t u8 --text=2 -T $T -M 100K -o out long.csv longs.zst"},
	{.name = "a long line in frames, up to a record",
	 .command = "-t u8 --text=2 -T $T -M 100K -n 3 -o out longs.zst long.csv"},
	{.name = "bytes of a pipe",
	 .command = "-t u8 -b 4 --mod -T $T -o out",
	 .fed = "tiny",
	 .piece = 3},
	{.name = "pieces of a pipe",
	 .command = "-t u8 -b 4 --mod -T $T -o out",
	 .fed = "plain",
	 .piece = 7000},
	{.name = "rows of a pipe",
	 .command = "-t u8 -b 4 --mod -T $T --each=100 -f csv -o out",
	 .fed = "tiny",
	 .piece = 130},
	{.name = "every",
	 .command = "-t u8 -T $T --every=0.1s -o out.json",
	 .fed = "plain",
	 .piece = 6000},
	{.name = "long frame", .command = "-t u8 -T $T -o out long.zst"},
	{.name = "long frame, up to a record",
	 .command = "-t u16 -T $T -n 40000 -r full -o out long.zst"},
	{.name = "long frame, little memory", .command = "-t u8 -T $T -M 1M -o out long.zst"},
	{.name = "long frame of rows",
	 .command = "-t u8 -T $T --each=10000 -b 4 --mod -f csv -o out long.zst"},
	{.name = "long frame of a pipe",
	 .command = "-t u8 -T $T -o out",
	 .fed = "long.zst",
	 .piece = 5000},
	{.name = "long frame, damaged", .command = "-t u8 -T $T -o out long.bad.zst", .status = 3},
	{.name = "long frames, little memory",
	 .command = "-t u8 -T $T -M 600K -o out long.zst long.zst long.zst"},
	{.name = "long frames of rows",
	 .command = "-t u8 -T $T --each=file -o out long.zst long.zst long.zst"},
	{.name = "long frame with a late place, up to a record",
	 .command = "-t u8 -T $T -n 100000 -o out late.zst"},
	{.name = "headers that end in frames",
	 .command = "-T $T -o out wave.zst wave.zst wave.zst"},
	{.name = "headers that end in frames, rows",
	 .command = "-T $T --each=file -o out wave.zst wave.zst wave.zst"},
	{.name = "frames", .command = "-t u8 -T $T -o out frames.zst"},
	{.name = "frames, up to a record",
	 .command = "-t u24 -T $T -n 10001 -r full -b 7 -o out frames.zst"},
	{.name = "frames, up to a record of the first",
	 .command = "-t u8 -T $T -n 30001 -o out frames.zst small"},
	{.name = "frames, little memory", .command = "-t u8 -T $T -M 1M -o out frames.zst"},
	{.name = "frames of a pipe, little memory",
	 .command = "-t u8 -T $T -M 1M -o out",
	 .fed = "frames.zst",
	 .piece = 3000},
	{.name = "frames of rows",
	 .command = "-t u8 -T $T --each=700 -b 4 --mod -f csv -o out frames.zst"},
	{.name = "frames of a pipe",
	 .command = "-t u8 -T $T --each=700 -b 4 --mod -f csv -o out",
	 .fed = "frames.zst",
	 .piece = 3000},
	{.name = "frames of a pipe, then inputs",
	 .command = "-t u8 -T $T -o out - late.zst plain",
	 .fed = "frames.zst",
	 .piece = 3000},
	{.name = "frames, one damaged",
	 .command = "-t u8 -T $T -o out frames.bad.zst",
	 .status = 3},
	{.name = "rows, one frame damaged",
	 .command = "-t u8 -T $T --each=700 -b 4 --mod -f csv -o out frames.bad.zst",
	 .status = 3},
	{.name = "rows that cannot be written",
	 .command = "-t u8 -T $T --each=300 -b 4 --mod -f csv -o /dev/full frames.zst",
	 .status = 1},
	{.name = "rows of few results",
	 .command = "-t u16 -T $T --each=2000 -b 9 -r full -f csv -o out frames.zst plain",
	 .status = 3},
	{.name = "rows of few results that cannot be written",
	 .command = "-t u16 -T $T --each=2000 -b 9 -r full -f csv -o /dev/full plain plain",
	 .status = 1},
	{.name = "groups", .command = "-t u12bit -T $T -o out groups.zst groups.zst plain"},
	{.name = "groups of rows",
	 .command = "-t u12bit -b 9 -T $T --each=1000 -f csv -o out groups.zst groups.zst "
		    "plain"},
	{.name = "mixed inputs",
	 .command = "-t u8 -T $T -o out plain frames.zst small long.zst - plain",
	 .fed = "small",
	 .piece = 2000},
	{.name = "rows of mixed inputs",
	 .command = "-t u8 -T $T --each=file -o out plain frames.zst small - plain",
	 .fed = "small",
	 .piece = 2000},
	{.name = "inputs, two damaged",
	 .command = "-t u8 -T $T -o out plain frames.bad.zst long.bad.zst small",
	 .status = 3},
	{.name = "finish",
	 .command = "-t u8 -b 4 --mod -T $T --finish -o out",
	 .fed = "tiny",
	 .piece = 40,
	 .finish = true},
	{.name = "finish a pipe of frames",
	 .command = "-t u8 -b 4 --mod -T $T --finish -o out",
	 .fed = "frames.zst",
	 .piece = 2000,
	 .finish = true},
	{.name = "tee",
	 .command = "-t u8 -T $T --tee -o out",
	 .fed = "plain",
	 .piece = 6000,
	 .tee = true},
	{.name = "a full tee",
	 .command = "-t u8 -T $T --tee -o out - frames.zst",
	 .fed = "plain",
	 .piece = 9000,
	 .tee = true,
	 .full = true},
	{.name = "doorbell"},
};

/* ---- files ---- */

static unsigned char data[MOST];

static void put_file(const char *name, const void *bytes, size_t n)
{
	FILE *const f = fopen(name, "wb");

	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
		perror(name);
		exit(1);
	}
}

/* Write frames of a text, some of which declare no size, and the same with one damaged. */
static void make_texts(const char *name, const char *text, size_t n, size_t most)
{
	struct pack packed = {.state = 1};
	char path[40];

	for (size_t at = 0; at < n; at += most)
		pack_frame(&packed, text + at, n - at < most ? n - at : most, 1, at / most % 3 > 0,
			   true, 14);
	snprintf(path, sizeof(path), "%s.zst", name);
	put_file(path, packed.data, packed.bytes);
	packed.data[packed.bytes / 2] ^= 16;
	snprintf(path, sizeof(path), "%s.bad.zst", name);
	put_file(path, packed.data, packed.bytes);
}

/* Write 6000 lines, plain, in zstd, and with a bad line; and lines of some 2000 bytes. */
static void make_text(void)
{
	struct pack packed = {.state = 1};
	static char text[6000 * 4];
	size_t n = 0;

	for (unsigned i = 0; i < 6000; i++)
		n += (size_t)sprintf(text + n, "%u\n", data[i]);
	put_file("text", text, n);
	pack_frame(&packed, text, n, 1, true, true, 14);
	put_file("text.zst", packed.data, packed.bytes);
	make_texts("texts", text, n, 1500);
	text[n / 2] = 'x';
	put_file("text.bad", text, n);
	make_texts("texts.x", text, n, 1500);
	for (n = 0; n < sizeof(text) / 3 - 10; n++)
		text[n] = 'y';
	for (unsigned i = 0; i < 4; i++)
		memcpy(text + n / 4 * i, &"\n,1,\n,2,\n,3,"[i % 3 * 4], 4);
	memcpy(text + n - 4, ",1,\n", 4);
	put_file("long.csv", text + 1, n - 1);
	make_texts("longs", text + 1, n - 1, 3000);
}

/* Write a WAVE file of 20,000 samples and a list after them, in frames that declare no size. */
static void make_wave(void)
{
	static unsigned char bytes[44 + 20000 + 8 + 30000] =
		"RIFF____WAVEfmt \20\0\0\0\1\0\1\0\100\37\0\0\100\37\0\0\1\0\10\0data";
	struct pack packed = {.state = 1};

	memcpy(bytes + 4, &(uint32_t){sizeof(bytes) - 8}, 4);
	memcpy(bytes + 40, &(uint32_t){20000}, 4);
	memcpy(bytes + 44, data, 20000);
	memcpy(bytes + 20044, "LIST", 4);
	memcpy(bytes + 20048, &(uint32_t){30000}, 4);
	for (size_t at = 0; at < sizeof(bytes); at += 5000)
		pack_frame(&packed, bytes + at,
			   sizeof(bytes) - at < 5000 ? sizeof(bytes) - at : 5000, 1, false, true,
			   14);
	put_file("wave.zst", packed.data, packed.bytes);
}

/* Byte i has i mod 4 in its lowest bits; in some places the other bits are noise. */
static void make_files(uint64_t state)
{
	struct pack frames = {.state = state | 1}, one = {.state = state | 1}, late = {.state = 1};

	for (size_t i = 0; i < MOST; i++)
		data[i] = (unsigned char)(i % 4 | (i >> 12 & 1 ? check_random(&state) & 0xfc : 0));
	put_file("plain", data, 60000);
	put_file("small", data, 9000);
	put_file("tiny", data, 1000);
	size_t n = 0, at = 0;
	for (; at < 60000; at += n) {
		n = 1 + (size_t)(check_random(&state) >> 40) % 6000;
		pack_frame(&frames, data + at, n, 1, check_random(&state) >> 63, true, 14);
	}
	const size_t kept = frames.bytes;
	pack_frame(&frames, data, 4 - at % 3 + 1, 1, true, true, 14);
	put_file("groups.zst", frames.data, frames.bytes);
	frames.bytes = kept;
	put_file("frames.zst", frames.data, frames.bytes);
	frames.data[frames.bytes / 2] ^= 16;
	put_file("frames.bad.zst", frames.data, frames.bytes);
	pack_frame(&late, data, 30000, 1, false, true, 14);
	pack_frame(&late, data, 150000, 1, true, true, 14);
	put_file("late.zst", late.data, late.bytes);
	make_wave();
	pack_frame(&one, data, 150000, 1, true, true, 14);
	put_file("long.zst", one.data, one.bytes);
	one.data[one.bytes / 3] ^= 16;
	put_file("long.bad.zst", one.data, one.bytes);
	make_text();
}

/* ---- one command ---- */

struct run {
	const struct scene *scene;
	unsigned threads;
	uint64_t seed;
	char words[512];
	char *argv[WORDS];
	int argc;
	int in, out; /* ends of pipes for the threads that feed and drain; or -1 */
	bool over;
	int status;
};

static void *feed(void *arg)
{
	struct run *const r = arg;
	static unsigned char bytes[MOST];
	FILE *const f = fopen(r->scene->fed, "rb");
	const size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
	struct pollfd p = {.fd = r->in, .events = POLLOUT};

	if (f)
		fclose(f);
	for (size_t at = 0; at < n && !r->over;) {
		if (poll(&p, 1, 50) <= 0)
			continue;
		const size_t some = n - at < r->scene->piece ? n - at : r->scene->piece;
		const ssize_t written = write(r->in, bytes + at, some);
		at += written > 0 ? (size_t)written : 0;
		sched_point(__FILE__, __LINE__);
	}
	close(r->in);
	return NULL;
}

static void *drain(void *arg)
{
	struct run *const r = arg;
	static unsigned char bytes[30000];
	struct pollfd p = {.fd = r->out, .events = POLLIN};
	const int to = open("teed", O_WRONLY | O_CREAT | O_TRUNC, 0666);

	for (ssize_t n = 1; n > 0;) {
		poll(&p, 1, -1);
		n = read(r->out, bytes, sizeof(bytes));
		if (n > 0 && write(to, bytes, (size_t)n) != n)
			abort();
		sched_point(__FILE__, __LINE__);
	}
	close(to);
	return NULL;
}

static void command(void *arg)
{
	struct run *const r = arg;
	pthread_t feeder, drainer;
	struct job job;
	struct fail fail = {.status = STATUS_OK};

	if (!r->scene->command) {
		const unsigned long before = check_failed;
		doorbell(r->seed, r->threads);
		r->status = check_failed > before;
		return;
	}
	if (r->in >= 0)
		pthread_create(&feeder, NULL, feed, r);
	if (r->out >= 0)
		pthread_create(&drainer, NULL, drain, r);
	optind = 0;
	if (options_parse(&job, r->argc, r->argv, &fail) == OPTIONS_RUN)
		command_count(&job, &fail);
	options_free(&job);
	if (fail.status != STATUS_OK)
		msg_always("%s", fail.text);
	r->status = (int)fail.status;
	r->over = true;
	if (r->in >= 0)
		pthread_join(feeder, NULL);
	if (r->out >= 0) {
		const int null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO); /* the end for the drainer */
		pthread_join(drainer, NULL);
	}
}

static void split_words(struct run *r, unsigned threads)
{
	char text[512];
	char *save = NULL;

	r->argv[r->argc++] = (char *)"gpuhist";
	snprintf(text, sizeof(text), "%s", r->scene->command);
	for (char *w = strtok_r(text, " ", &save), *to = r->words; w;
	     w = strtok_r(NULL, " ", &save)) {
		const int n =
			strcmp(w, "$T") == 0 ? sprintf(to, "%u", threads) : sprintf(to, "%s", w);
		r->argv[r->argc++] = to;
		to += n + 1;
	}
	r->argv[r->argc++] = (char *)"--device=cpu";
	r->argv[r->argc++] = (char *)"--no-progress";
}

/* Run a scene in a process of its own; return its status, or -1 if the schedule failed. */
static int run_scene(const struct scene *scene, unsigned threads, const struct sched_plan *plan)
{
	int status;

	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		struct run r = {.scene = scene,
				.threads = threads,
				.seed = plan->seed,
				.in = -1,
				.out = -1};
		const int kept = dup(STDOUT_FILENO);
		int ends[2];

		if (scene->command)
			split_words(&r, threads);
		if (scene->fed && pipe(ends) == 0) {
			fcntl(ends[1], F_SETFL, O_NONBLOCK);
			dup2(ends[0], STDIN_FILENO);
			close(ends[0]);
			r.in = ends[1];
		}
		/* The program would enlarge a pipe. */
		if (scene->full && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
			setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &(int){1}, sizeof(int));
			fcntl(ends[1], F_SETFL, O_NONBLOCK);
		}
		if (scene->tee && (scene->full || pipe(ends) == 0)) {
			dup2(ends[1], STDOUT_FILENO);
			close(ends[1]);
			r.out = ends[0];
		}
		dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
		alarm(30); /* in case it loops between two steps */
		signals_init();
		sched_output(kept);
		sched_run(plan, command, &r);
		_exit(r.status);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) != SCHED_FAILED ? WEXITSTATUS(status) : -1;
}

static size_t read_file(const char *name, char *to, size_t cap)
{
	FILE *const f = fopen(name, "rb");
	const size_t n = f ? fread(to, 1, cap, f) : 0;

	if (f)
		fclose(f);
	return n;
}

/* Return everything that a command leaves, in one text: its status, message and files. */
static size_t result_of(const struct scene *scene, int status, char *to, size_t cap)
{
	static const char *const NAMES[] = {"out", "out.json", "err", "teed"};
	size_t n = (size_t)sprintf(to, "status %d\n", status);

	for (unsigned i = 0; i < 4; i++) {
		/* A note depends on when the signal came. */
		if (!scene->finish || i != 2)
			n += read_file(NAMES[i], to + n, cap - n);
		unlink(NAMES[i]);
	}
	return n;
}

/* After --finish: are there four counts, which differ by at most one, larger ones first? */
static bool is_beginning(const char *text)
{
	unsigned long count[4] = {0};
	const char *line = strchr(text, '\n');

	for (unsigned i = 0; i < 4 && line && (line = strchr(line + 1, '\n')); i++)
		sscanf(line + 1, "%*u,%*u,%*u,%lu", &count[i]);
	return strncmp(text, "status 0\n", 9) == 0 && count[0] >= count[1] &&
	       count[1] >= count[2] && count[2] >= count[3] && count[0] <= count[3] + 1;
}

enum { RESULT_MOST = 1 << 20 };
static char want[sizeof(SCENES) / sizeof(SCENES[0])][RESULT_MOST], got[RESULT_MOST];
static size_t want_bytes[sizeof(SCENES) / sizeof(SCENES[0])];

static void check_schedule(unsigned which, uint64_t seed)
{
	const struct scene *const scene = &SCENES[which];
	uint64_t state = seed * 2 + 1;
	char how[200];

	check_random(&state);
	const unsigned threads = 1 + (unsigned)(check_random(&state) >> 40) % 4;
	const struct sched_plan plan = {
		.seed = seed,
		.way = (enum sched_way)((check_random(&state) >> 40) % SCHED_WAYS),
		.spurious = check_random(&state) >> 61 == 0,
		.signal = scene->finish ? SIGINT : 0,
		.signal_fd = &signals_finish_fd,
		.signal_step = 1 + (check_random(&state) >> 40) % 400,
		.calloc_fails = seed % 4 == 0 ? 1 + (unsigned)(check_random(&state) >> 40) % 20 : 0,
	};
	snprintf(how, sizeof(how), "scene %u (%s), seed %llu, %u threads, way %d", which,
		 scene->name, (unsigned long long)seed, threads, (int)plan.way);
	sched_describe(how);
	const int status = run_scene(scene, threads, &plan);
	const size_t n = result_of(scene, status, got, RESULT_MOST - 1);
	got[n] = '\0';
	if (plan.calloc_fails > 0 &&
	    (strncmp(got, "status 1\n", 9) == 0 || strstr(got, "Cannot allocate memory")))
		return;
	if (scene->finish)
		CHECK(is_beginning(got), "%s: not a beginning: %.300s", how, got);
	else
		CHECK(n == want_bytes[which] && memcmp(got, want[which], n) == 0,
		      "%s: another result: %.300s", how, got);
}

static unsigned scene_of(const char *name)
{
	const unsigned scenes = sizeof(SCENES) / sizeof(SCENES[0]);

	for (unsigned i = 0; i < scenes; i++)
		if (strcmp(SCENES[i].name, name) == 0)
			return i;
	return (unsigned)strtoul(name, NULL, 10) % scenes;
}

int main(int argc, char **argv)
{
	const unsigned scenes = sizeof(SCENES) / sizeof(SCENES[0]);
	const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const double seconds = argc > 2 ? strtod(argv[2], NULL) : 20;
	uint64_t schedules = 0;

	/* Outputs are synced, which on a disk takes ten times as long as everything else. */
	strcpy(scratch_folder, "/dev/shm/gpuhist-test-XXXXXX");
	if (!mkdtemp(scratch_folder) || chdir(scratch_folder) != 0)
		scratch_enter();
	setenv("GPUHIST_TEXT_PIECE", "900", 1);
	make_files(1);
	for (unsigned i = 0; i < scenes; i++) {
		const struct sched_plan plan = {.way = SCHED_STICKY};
		sched_describe(SCENES[i].name);
		const int status = run_scene(&SCENES[i], 1, &plan);
		want_bytes[i] = result_of(&SCENES[i], status, want[i], RESULT_MOST);
		CHECK(status == SCENES[i].status, "%s: %.300s", SCENES[i].name, want[i]);
	}
	if (argc > 4) {
		check_schedule(scene_of(argv[3]), strtoull(argv[4], NULL, 10));
		scratch_leave();
		return check_report();
	}
	const double began = sched_real_seconds();
	for (uint64_t i = 0; sched_real_seconds() - began < seconds && check_failed < 5;
	     i++, schedules++)
		check_schedule(argc > 3 ? scene_of(argv[3]) : (unsigned)(i % scenes),
			       seed * 1000000 + i);
	printf("%llu schedules\n", (unsigned long long)schedules);
	scratch_leave();
	return check_report();
}
