/* SPDX-License-Identifier: MIT */
/*
 * bench: whole runs of gpuhist compared with ceilings and other programs.
 * usage: bench GPUHIST [GIB [RUNS]]          files of GIB GiB in $TMPDIR; default 1, 5 runs
 *        bench GPUHIST GIB RUNS loops [OTHER]   one worker on every type, compared with OTHER
 *        bench GPUHIST GIB RUNS gpu          cpu, gpu and auto on a machine with a GPU
 *
 * The commands of a line alternate, A B A B, so that a machine that slows down slows both. Times are
 * for whole processes, start to end, on files in the page cache. The first table shows medians
 * and the median ratio of the pairs. The table of loops, with one thread, shows each program's least
 * CPU time, which other programs disturb less than the wall-clock time.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK ((size_t)128 << 10) /* the program's own block size */
#define RUNS_MAX 50
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t file_bytes;
static int runs = 5;

/* ---- the ceilings: the same reads, with less work on the bytes ---- */

struct limit {
	int fd;
	uint64_t next; /* atomic */
	bool count;    /* the bare loop; otherwise only reads */
	uint64_t sink;
};

/* Four tables, so that equal neighbours do not wait for each other. */
static _Thread_local uint32_t bare_table[4][1024];

static void bare_loop(const uint32_t *p, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i += 4) {
		bare_table[0][p[i] & 1023]++;
		bare_table[1][p[i + 1] & 1023]++;
		bare_table[2][p[i + 2] & 1023]++;
		bare_table[3][p[i + 3] & 1023]++;
	}
}

static uint64_t bare_sum(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 1024; i++)
		sum += bare_table[0][i] ^ bare_table[1][i] ^ bare_table[2][i] ^ bare_table[3][i];
	return sum;
}

static void *limit_thread(void *arg)
{
	struct limit *l = arg;
	uint32_t *p = aligned_alloc(4096, BLOCK);

	for (;;) {
		uint64_t offset = __atomic_fetch_add(&l->next, BLOCK, __ATOMIC_RELAXED);
		ssize_t n = pread(l->fd, p, BLOCK, (off_t)offset);
		if (n <= 0)
			break;
		if (l->count)
			bare_loop(p, (size_t)n / 4);
	}
	__atomic_fetch_add(&l->sink, bare_sum(), __ATOMIC_RELAXED);
	free(p);
	return NULL;
}

/* Run the child "read|bare FILE THREADS". */
static int limit_file(const char *what, const char *path, int threads)
{
	struct limit l = {.fd = open(path, O_RDONLY), .count = strcmp(what, "bare") == 0};
	pthread_t t[512];

	for (int i = 1; i < threads; i++)
		pthread_create(&t[i], NULL, limit_thread, &l);
	limit_thread(&l);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	return l.fd < 0 || l.sink == 42;
}

/* Run the child "drain": widen the pipe, read it and discard the data; or "tally": count them. */
static int limit_pipe(bool count)
{
	uint32_t *p = aligned_alloc(4096, BLOCK);

	fcntl(STDIN_FILENO, F_SETPIPE_SZ, 1 << 20);
	for (ssize_t n; (n = read(STDIN_FILENO, p, BLOCK)) > 0;)
		if (count) /* a read may end inside a sample: only the rate counts */
			bare_loop(p, (size_t)n / 4);
	free(p);
	return bare_sum() == 42;
}

/* ---- whole processes ---- */

struct timing {
	double seconds, cpu;
	long peak_kib;
	bool failed;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Run a shell command and discard its output. */
static struct timing timed(const char *command)
{
	const double start = now();
	struct rusage usage;
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		const int null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	wait4(pid, &status, 0, &usage);
	return (struct timing){
		.seconds = now() - start,
		.cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
		.peak_kib = usage.ru_maxrss,
		.failed = status != 0,
	};
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* ---- data ---- */

enum data { BELOW_1024, NOISE, FLOATS, DOUBLES, EDGES, KEYED };

static uint64_t draw(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static uint64_t word(enum data data)
{
	const uint64_t x = draw();
	const double unit = (double)(x >> 11) * 0x1p-53;
	const float floats[2] = {(float)(x >> 40) * 0x1p-24f, (float)(x << 24 >> 40) * 0x1p-24f};
	uint64_t bits = x;

	if (data == BELOW_1024)
		bits = x & 0x3ff000003ff;
	else if (data == DOUBLES)
		memcpy(&bits, &unit, 8);
	else if (data == FLOATS)
		memcpy(&bits, floats, 8);
	else if (data == KEYED) /* u16 below 64, u16 below 1000, u32 below 1024 */
		bits = (x & 1023) << 32 | (x >> 10 & 0xffff) % 1000 << 16 | x >> 58;
	return bits;
}

static FILE *opened(const char *name)
{
	FILE *const f = fopen(name, "wb");

	if (!f) {
		perror(name);
		exit(1);
	}
	return f;
}

static void closed(FILE *f, const char *name)
{
	if (fclose(f) != 0) {
		perror(name);
		exit(1);
	}
}

static void make_file(const char *name, enum data data)
{
	uint64_t *const p = malloc(BLOCK);
	FILE *const f = opened(name);

	for (uint64_t done = 0; done < file_bytes; done += BLOCK) {
		for (size_t i = 0; i < BLOCK / 8; i++)
			p[i] = word(data);
		fwrite(p, 1, BLOCK, f);
	}
	closed(f, name);
	free(p);
}

/* Write a file that repeats one sample of `size` different bytes. */
static void make_repeated(const char *name, unsigned size)
{
	FILE *const f = opened(name);
	unsigned char *const p = malloc(3 * BLOCK); /* whole samples of every size */

	for (size_t i = 0; i < 3 * BLOCK; i++)
		p[i] = (unsigned char)(0x3a + i % size * 3);
	for (uint64_t left = file_bytes; left > 0;)
		left -= fwrite(p, 1, left < 3 * BLOCK ? left : 3 * BLOCK, f);
	closed(f, name);
	free(p);
}

/* Write 1001 edges in [0, 1] that a guess from the range misses: half lie in the first hundredth. */
static void make_edges(void)
{
	FILE *const f = opened("edges");
	double edge = 0;

	for (int i = 0; i <= 1000; i++) {
		fprintf(f, "%.9f\n", edge);
		edge += (i < 500 ? 0.00002 : 0.00198) * ((double)(draw() >> 40) * 0x1p-24 + 0.001);
	}
	closed(f, "edges");
}

/* Write lines with one of 100 keys, of 5 to 25 bytes. */
static void make_table(void)
{
	FILE *const f = opened("table.csv");

	fputs("time,key,ms\n", f);
	for (uint64_t i = 0; 40 * i < file_bytes; i++) {
		const unsigned key = (unsigned)(draw() >> 40) % 100;
		fprintf(f, "%llu,key%.*s%u,%.3f\n", 1700000000ULL + i, (int)(key % 3 * 10),
			"_of_a_name_of_a_name", key, (double)(draw() >> 40) * 0x1p-24 * 100);
	}
	closed(f, "table.csv");
}

/* Make files with other programs; a missing program shows up as lines that failed. */
static void prepare(void)
{
	static const char *const COMMANDS[] = {
		"zstd -q -c u32 >one.zst",
		"for k in $(seq $(($(stat -c %s u32) >> 23))); do head -c 1M noise; "
		"yes x | head -c 7M; done >flat; zstd -q -c flat >flat.zst",
		"split -b 1M --filter='zstd -q -c' u32 >many.zst",
		"for k in 1 2 3 4 5 6 7 8; do $G -q --part=$k/8 -b 16M -r full -f json noise; "
		"done >wide.json",
	};

	for (size_t i = 0; i < LENGTH(COMMANDS); i++)
		timed(COMMANDS[i]);
}

/* ---- the table of whole runs ---- */

/*
 * A command that begins with - is gpuhist's options, for FILE; others are for the shell, with gpuhist
 * as $G and this program as $B. Without a second command, reading with a thread for each core is
 * timed. Rates count FILE's bytes.
 */
struct row {
	const char *what, *file, *mine, *beside, *theirs;
};

static const char *command_of(char *text, size_t size, const struct row *row, const char *command)
{
	if (!command)
		snprintf(text, size, "exec $B read %s $CORES", row->file);
	else if (*command == '-')
		snprintf(text, size, "exec $G -q %s %s", command, row->file);
	else
		return command;
	return text;
}

static void line(const struct row *row)
{
	char texts[2][300];
	const char *const a = command_of(texts[0], sizeof(texts[0]), row, row->mine);
	const char *const b = command_of(texts[1], sizeof(texts[1]), row, row->theirs);
	double ta[RUNS_MAX], tb[RUNS_MAX], ratio[RUNS_MAX];
	struct stat st = {.st_size = 0};
	bool failed = timed(a).failed || stat(row->file, &st) != 0;

	for (int i = 0; i < runs && !failed; i++) {
		const struct timing x = timed(a), y = timed(b);
		failed = x.failed || y.failed;
		ta[i] = x.seconds;
		tb[i] = y.seconds;
		ratio[i] = tb[i] / ta[i];
	}
	const char *const beside = row->beside ? row->beside : "reading, no counting";
	const double gb = 1e-9 * (double)st.st_size;
	if (failed)
		printf("| %s | failed | %s | | |\n", row->what, beside);
	else
		printf("| %s | %.2f | %s | %.2f | %.2f |\n", row->what, gb / median(ta, runs),
		       beside, gb / median(tb, runs), median(ratio, runs));
	fflush(stdout);
}

/* clang-format off */
static const struct row ROWS[] = {
	{"u32, 1024 bins", "u32", "-b 1024", "one thread", "-T 1 -b 1024"},
	{"u8, noise", "noise", "-t u8 -b 256", NULL, NULL},
	{"u8, noise, one thread", "noise", "-T 1 -t u8 -b 256", "by tables of codes (avx2)",
	 "GPUHIST_ISA=avx2 exec $G -q -T 1 -t u8 -b 256 noise"},
	{"u16, 65536 bins, noise", "noise", "-t u16 -b 65536", NULL, NULL},
	{"u24, 1024 bins", "noise", "-t u24 -b 1024 -r full --ignore-tail", NULL, NULL},
	{"u32, 1000 bins over full range", "noise", "-b 1000 -r full", NULL, NULL},
	{"u64, 1024 bins over full range", "noise", "-t u64 -b 1024 -r full", NULL, NULL},
	{"f32, 1000 bins", "floats", "-t f32 -b 1000 -r 0:1", NULL, NULL},
	{"f64, 1000 bins", "doubles", "-t f64 -b 1000 -r 0:1", NULL, NULL},
	{"u32, 2^16 bins", "noise", "-b 64K -r full -f raw", NULL, NULL},
	{"u32, 2^20 bins", "noise", "-b 1M -r full -f raw", NULL, NULL},
	{"u32, 2^24 bins", "noise", "-b 16M -r full -f raw", NULL, NULL},
	{"u32, 2^28 bins", "noise", "-b 256M -r full -f raw", NULL, NULL},
	/* ways to bin, compared with equal bins of the same samples */
	{"f32, --edges, 1000 irregular", "floats", "-t f32 --edges=@edges", "f32, 1000 bins",
	 "-t f32 -b 1000 -r 0:1"},
	{"f32, --log", "floats", "-t f32 -b 1000 --log=1e-6:1", "f32, 1000 bins",
	 "-t f32 -b 1000 -r 0:1"},
	{"u32, --log", "noise", "-b 1000 --log=1:4294967296", "u32, 1000 bins", "-b 1000 -r full"},
	{"u64, --log", "noise", "-t u64 -b 1000 --log=1:18446744073709551616",
	 "u64, 1000 bins", "-t u64 -b 1000 -r full"},
	{"u32, --auto", "noise", "-b 1000 --auto", "u32, 1000 bins", "-b 1000 -r full"},
	{"f32, --auto", "floats", "-t f32 -b 1000 --auto", "f32, 1000 bins",
	 "-t f32 -b 1000 -r 0:1"},
	{"f64, --auto", "doubles", "-t f64 -b 1000 --auto", "f64, 1000 bins",
	 "-t f64 -b 1000 -r 0:1"},
	/* figures, on one core, compared with only the bins */
	{"u32, --stats, one thread", "noise", "-T 1 -b 1000 -r full --stats", "without", "-T 1 -b 1000 -r full"},
	{"u64, --stats, one thread", "noise", "-T 1 -t u64 -b 1024 -r full --stats", "without",
	 "-T 1 -t u64 -b 1024 -r full"},
	{"f32, --stats, one thread", "floats", "-T 1 -t f32 -b 1000 -r 0:1 --stats", "without",
	 "-T 1 -t f32 -b 1000 -r 0:1"},
	{"f64, --stats, one thread", "doubles", "-T 1 -t f64 -b 1000 -r 0:1 --stats", "without",
	 "-T 1 -t f64 -b 1000 -r 0:1"},
	/* channels compared with one channel of the same bytes; gaps compared with reading */
	{"u8, 3 channels", "noise", "-t u8 -b 256 -c 3 --ignore-tail", "u8", "-t u8 -b 256"},
	{"i16, 64 channels", "noise", "-t i16 -b 100 -r full -c 64", "i24, 64 channels",
	 "-t i24 -b 100 -r full -c 64 --ignore-tail"},
	{"f32, 2 channels", "floats", "-t f32 -b 1000 -r 0:1 -c 2", "f32", "-t f32 -b 1000 -r 0:1"},
	{"u8, rows of 1000 in 1024 bytes", "noise", "-t u8 -b 256 --rows=1000:1024", "u8",
	 "-t u8 -b 256"},
	{"f32 in records of 64 bytes", "floats", "-t f32 -b 1000 -r 0:1 --record=64", NULL, NULL},
	/* keys, on one core, compared with none */
	{"records of 16 bytes, 64 keys, one thread", "keyed",
	 "-T 1 --record=16 --offset=4 -b 1024 --by=u16@0", "without keys",
	 "-T 1 --record=16 --offset=4 -b 1024"},
	{"records of 16 bytes, 1,000 keys, one thread", "keyed",
	 "-T 1 --record=16 --offset=4 -b 1024 --by=u16@2", "without keys",
	 "-T 1 --record=16 --offset=4 -b 1024"},
	{"column of text, 100 keys, one thread", "table.csv",
	 "-T 1 --text=ms --by=key -r 0:100 -b 100", "without keys", "-T 1 --text=ms -r 0:100 -b 100"},
	{"records of 16 bytes, 1,000 keys, --stats, one thread", "keyed",
	 "-T 1 --record=16 --offset=4 -b 1024 --by=u16@2 --stats", "without keys",
	 "-T 1 --record=16 --offset=4 -b 1024 --stats"},
	{"column of text, 100 keys, --stats", "table.csv",
	 "--text=ms --by=key -r 0:100 -b 100 --stats", "without keys",
	 "--text=ms -r 0:100 -b 100 --stats"},
	/* pipes */
	{"pipe, u32, 1024 bins", "u32", "cat u32 | $G -b 1024",
	 "cat into a 1 MiB pipe, thrown away", "cat u32 | $B drain"},
	{"pipe, u32, 1024 bins", "u32", "cat u32 | $G -b 1024",
	 "cat \\| dd of=/dev/null bs=1M", "cat u32 | dd of=/dev/null bs=1M"},
	/* zstd: rates are of decoded bytes */
	{"zstd, one frame", "u32", "exec $G -q -b 1024 one.zst", "zstd -dc, thrown away",
	 "zstd -dc one.zst >/dev/null"},
	{"zstd, one frame", "u32", "exec $G -q -b 1024 one.zst", "zstd -dc \\| gpuhist",
	 "zstd -dc one.zst | $G -b 1024"},
	{"zstd, one frame, mostly constant", "flat", "exec $G -q -t u16 -b 1024 -r full flat.zst",
	 "one thread", "exec $G -q -T 1 -t u16 -b 1024 -r full flat.zst"},
	{"zstd, frames of 1 MiB", "u32", "exec $G -q -b 1024 many.zst", "one thread",
	 "exec $G -q -T 1 -b 1024 many.zst"},
	{"zstd, frames of 1 MiB", "u32", "exec $G -q -b 1024 many.zst",
	 "zstd -dc, thrown away", "zstd -dc many.zst >/dev/null"},
	/* documents */
	{"--merge, 8 parts of 2^24 bins, to raw", "wide.json", "-C u64 -f raw --merge", "cat",
	 "cat wide.json >/dev/null"},
	/* peers */
	{"u32, 1024 bins", "u32", "-b 1024", "numpy.bincount on a memmap",
	 "${PYTHON:-python3} -c 'import numpy as n; n.bincount(n.memmap(\"u32\",\"u4\"),minlength=1024)'"},
	{"u32, 1024 bins", "u32", "-b 1024", "numpy.histogram on a memmap",
	 "${PYTHON:-python3} -c 'import numpy as n; n.histogram(n.memmap(\"u32\",\"u4\"),1024,(0,1024))'"},
	{"f32, --edges, 1000 irregular", "floats", "-t f32 --edges=@edges",
	 "numpy.histogram on a memmap",
	 "${PYTHON:-python3} -c 'import numpy as n; "
	 "n.histogram(n.memmap(\"floats\",\"f4\"),n.loadtxt(\"edges\"))'"},
};
/* clang-format on */

static void table(int cores)
{
	char mine[100], bare[100], what[100];

	printf("| gpuhist | GB/s | compared with | GB/s | speedup "
	       "|\n|---|---|---|---|---|\n");
	for (int t = 1; t <= cores; t *= 2) {
		snprintf(what, sizeof(what), "u32, 1024 bins, -T %d", t);
		snprintf(mine, sizeof(mine), "-T %d -b 1024", t);
		snprintf(bare, sizeof(bare), "exec $B bare u32 %d", t);
		line(&(struct row){what, "u32", mine, "the bare loop on the same blocks", bare});
		snprintf(bare, sizeof(bare), "exec $B read u32 %d", t);
		line(&(struct row){what, "u32", mine, "reading, no counting", bare});
	}
	for (size_t i = 0; i < LENGTH(ROWS); i++)
		line(&ROWS[i]);

	double empty[RUNS_MAX], shell[RUNS_MAX];
	for (int i = 0; i < runs; i++) {
		empty[i] = timed("exec $G </dev/null").seconds;
		shell[i] = timed("exec true").seconds;
	}
	printf("\nEmpty input, start to end: %.2f ms (a shell that runs true: %.2f ms).\n",
	       1e3 * median(empty, runs), 1e3 * median(shell, runs));
	printf("Peak memory: %ld KiB for the whole file, %ld KiB for its first 16 MiB, %ld KiB for "
	       "nothing.\n",
	       timed("exec $G -b 1024 u32").peak_kib, timed("exec $G -b 1024 -n 4M u32").peak_kib,
	       timed("exec $G </dev/null").peak_kib);
}

/* ---- one worker, loop by loop ---- */

static const struct {
	unsigned size;
	const char *arguments;
} LOOPS[] = {
	{1, "-t u8 -b 256"},
	{2, "-t u16 -b 65536 -f raw"},
	{2, "-t i16 -b 1000 -r full"},
	{2, "-t u16be -b 1000 -r full"},
	{2, "-t f16 -b 1000 -r 0:1"},
	{2, "-t bf16be -b 1000 -r 0:1"},
	{3, "-t u24 -b 1024 -r full"},
	{3, "-t i24be -b 1000 -r full"},
	{4, "-t u32 -b 1024"},
	{4, "-t u32 -b 1000 -r full"},
	{4, "-t u32 -b 65536 -r full -f raw"},
	{4, "-t u32 -b 1000 --range=-0.5:4e9"},
	{4, "-t u32be -b 1000 -r full"},
	{4, "-t i32 -b 1000 -r full"},
	{8, "-t u64 -b 1024 -r full"},
	{8, "-t u64 -b 1000 -r full"},
	{8, "-t i64be -b 1000 -r full"},
	{8, "-t i64 -b 9 --range=-0.5:1000.5"},
	{4, "-t f32 -b 1000 -r 0:1"},
	{4, "-t f32be -b 1000 -r 0:1"},
	{8, "-t f64 -b 1000 -r 0:1"},
	{8, "-t f64be -b 1000 -r 0:1"},
	{8, "-t f64 -b 2 -r 1:1.0000000000000004"}, /* by bisection */
};

static void least(double *best, const char *command)
{
	const struct timing t = timed(command);

	*best = t.failed ? (double)NAN : fmin(t.cpu, *best);
}

static void loop(const char *arguments, const char *file, bool other)
{
	double reading = 1e9, mine = 1e9, theirs = 1e9;
	char read[200], ours[200], others[200];

	snprintf(read, sizeof(read), "exec $B read %s 1", file);
	snprintf(ours, sizeof(ours), "exec $G -q --device=cpu -T 1 --ignore-tail %s %s", arguments,
		 file);
	snprintf(others, sizeof(others), "exec $OTHER%s", strchr(ours, ' ') + 3);
	for (int i = 0; i < runs; i++) {
		least(&reading, read);
		least(&mine, ours);
		if (other)
			least(&theirs, others);
	}
	const double gb = 1e-9 * (double)file_bytes;
	printf("| %s | %s | %.2f | %.2f | %.2f |", arguments, file, gb / reading, gb / mine,
	       reading / mine);
	if (other)
		printf(" %.2f | %.3f |", gb / theirs, theirs / mine);
	printf("\n");
	fflush(stdout);
}

static void loops(bool other)
{
	printf("| arguments | samples | reading GB/s | gpuhist | : reading |%s\n"
	       "|---|---|---|---|---|%s\n",
	       other ? " other | gpuhist : other |" : "", other ? "---|---|" : "");
	make_file("noise", NOISE);
	for (size_t i = 0; i < LENGTH(LOOPS); i++) {
		loop(LOOPS[i].arguments, "noise", other);
		if (i == 0 || LOOPS[i].size != LOOPS[i - 1].size)
			make_repeated("repeated", LOOPS[i].size);
		loop(LOOPS[i].arguments, "repeated", other);
	}
}

/* ---- engines ---- */

static const char *const DEVICES[] = {"cpu", "gpu", "auto"};

/* Time each device on a file named several times: median seconds and CPU seconds. */
static void devices(const char *arguments, const char *file, int times, double *seconds,
		    double *cpu)
{
	char command[1000];
	double s[RUNS_MAX], c[RUNS_MAX];

	for (int d = 0; d < 3; d++) {
		int used = snprintf(command, sizeof(command), "exec $G -q --device=%s %s",
				    DEVICES[d], arguments);
		for (int k = 0; k < times; k++)
			used += snprintf(command + used, sizeof(command) - (size_t)used, " %s",
					 file);
		for (int i = 0; i < runs; i++) {
			const struct timing t = timed(command);
			s[i] = t.failed ? (double)NAN : t.seconds;
			c[i] = t.cpu;
		}
		seconds[d] = median(s, runs);
		cpu[d] = median(c, runs);
	}
}

/* Print whole runs by engine: rate, CPU seconds per 100 GB, and the gain of auto. */
static void engines(void)
{
	static const struct {
		const char *arguments, *file;
		int times; /* 8: the job is much longer than the GPU's start */
	} JOBS[] = {
		{"-b 1024", "u32", 8},
		{"-b 1024", "u32", 1},
		{"-T 1 -b 1024", "u32", 1},
		{"-T 4 -b 1024", "u32", 1},
		{"-t u8 -b 256", "noise", 8},
		{"-t u16 -b 65536", "noise", 8},
		{"-t f32 -b 1000 -r 0:1", "floats", 8},
		{"-b 1M -r full -f raw", "noise", 1},
	};
	double seconds[3], cpu[3];
	char limited[100];

	printf("| file, start to end | GB | cpu GB/s | gpu | auto | auto : best | CPU-s per 100 "
	       "GB: cpu "
	       "| gpu | auto |\n|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < LENGTH(JOBS); i++) {
		const double gb = 1e-9 * (double)file_bytes * JOBS[i].times;
		devices(JOBS[i].arguments, JOBS[i].file, JOBS[i].times, seconds, cpu);
		printf("| %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f |\n",
		       JOBS[i].arguments, gb, gb / seconds[0], gb / seconds[1], gb / seconds[2],
		       fmin(seconds[0], seconds[1]) / seconds[2], 100 * cpu[0] / gb,
		       100 * cpu[1] / gb, 100 * cpu[2] / gb);
		fflush(stdout);
	}
	printf("\n| size | cpu ms | gpu ms | auto ms |\n|---|---|---|---|\n");
	for (uint64_t size = 1 << 10; size <= file_bytes; size *= size < file_bytes / 16 ? 16 : 2) {
		snprintf(limited, sizeof(limited), "-b 1024 -n %llu", (unsigned long long)size / 4);
		devices(limited, "u32", 1, seconds, cpu);
		printf("| %llu KiB | %.1f | %.1f | %.1f |\n", (unsigned long long)size >> 10,
		       1e3 * seconds[0], 1e3 * seconds[1], 1e3 * seconds[2]);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	static const char *const NAMES[] = {"u32", "noise", "floats", "doubles"};
	const char *const which = argc > 4 ? argv[4] : "", *const tmp = getenv("TMPDIR");
	const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
	char folder[512], number[16], path[4096];

	if (argc == 2 && (strcmp(argv[1], "drain") == 0 || strcmp(argv[1], "tally") == 0))
		return limit_pipe(strcmp(argv[1], "tally") == 0);
	if (argc == 4 && (strcmp(argv[1], "read") == 0 || strcmp(argv[1], "bare") == 0))
		return limit_file(argv[1], argv[2], atoi(argv[3]));
	file_bytes = (uint64_t)((argc > 2 ? atof(argv[2]) : 1) * 0x1p30) / BLOCK * BLOCK;
	runs = argc > 3 ? atoi(argv[3]) : 5;
	if (argc < 2 || file_bytes == 0 || runs < 1 || runs > RUNS_MAX)
		return 2;
	snprintf(number, sizeof(number), "%d", cores);
	snprintf(folder, sizeof(folder), "%s/gpuhist-bench-XXXXXX", tmp ? tmp : "/tmp");
	if (!realpath("/proc/self/exe", path) || setenv("B", path, 1) != 0 ||
	    !realpath(argv[1], path) || setenv("G", path, 1) != 0 ||
	    (argc > 5 && *argv[5] && (!realpath(argv[5], path) || setenv("OTHER", path, 1) != 0)) ||
	    setenv("CORES", number, 1) != 0 || !mkdtemp(folder) || chdir(folder) != 0) {
		perror("bench");
		return 1;
	}
	if (system("sed -n 's/^model name.*: *//p' /proc/cpuinfo | sort -u; "
		   "nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null") == -1)
		return 1;
	printf("%d cores, %.2f GiB, %d runs\n\n", cores, (double)file_bytes / 0x1p30, runs);
	if (strcmp(which, "loops") == 0) {
		loops(argc > 5 && *argv[5]);
	} else {
		for (int k = BELOW_1024; k <= (*which ? FLOATS : DOUBLES); k++)
			make_file(NAMES[k], (enum data)k);
		if (*which) {
			engines();
		} else {
			make_edges();
			make_file("keyed", KEYED);
			make_table();
			prepare();
			table(cores);
		}
	}
	return timed("rm -r \"$PWD\"").failed;
}
