/* SPDX-License-Identifier: MIT */
/*
 * bench: whole runs of gpuhist beside their ceilings and peers, in one table.
 * usage: bench GPUHIST [GIB [RUNS]]        (files of GIB GiB in $TMPDIR; default 1, 5 runs)
 *        bench GPUHIST GIB RUNS gpu        cpu, gpu and auto on a machine with a GPU
 *
 * Every line times two commands alternately, A B A B, and shows the medians and the median of
 * the ratios of the pairs: a machine that slows down slows both. Times are whole processes,
 * start to end, on files that are in the page cache.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "timing.h"

#define BLOCK ((size_t)128 << 10) /* the program's own block size */
#define RUNS_MAX 50

static char folder[512];
static uint64_t file_bytes;
static int runs = 5;

/* ---- the ceilings: the same reads, with less work on the bytes ---- */

struct limit {
	int fd;
	uint64_t next; /* atomic */
	int count;     /* 0: read only; 1: the bare loop */
	uint64_t sink;
};

static void *limit_thread(void *arg)
{
	struct limit *l = arg;
	uint32_t *p = aligned_alloc(4096, BLOCK);
	static _Thread_local uint32_t table[4][1024];
	uint64_t sum = 0;

	for (;;) {
		uint64_t offset = __atomic_fetch_add(&l->next, BLOCK, __ATOMIC_RELAXED);
		ssize_t n = pread(l->fd, p, BLOCK, (off_t)offset);
		if (n <= 0)
			break;
		for (size_t i = 0; l->count && i + 4 <= (size_t)n / 4; i += 4) {
			table[0][p[i] & 1023]++;
			table[1][p[i + 1] & 1023]++;
			table[2][p[i + 2] & 1023]++;
			table[3][p[i + 3] & 1023]++;
		}
	}
	for (int i = 0; i < 1024; i++)
		sum += table[0][i] ^ table[1][i] ^ table[2][i] ^ table[3][i];
	__atomic_fetch_add(&l->sink, sum, __ATOMIC_RELAXED);
	free(p);
	return NULL;
}

/* The child of "limit read|bare FILE THREADS". */
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

/* The child of "limit drain": a reader that widens the pipe and throws the data away. */
static int limit_drain(void)
{
	char *p = aligned_alloc(4096, BLOCK);

	fcntl(STDIN_FILENO, F_SETPIPE_SZ, 1 << 20);
	while (read(STDIN_FILENO, p, BLOCK) > 0)
		;
	free(p);
	return 0;
}

/*
 * One line: GB/s of a and of b, and how many times as fast a is. b_bytes may be less than a_bytes,
 * for peers that get a part of the data only. b NULL: a alone.
 */
static void line(const char *what, const char *a, double a_bytes, const char *beside, const char *b,
		 double b_bytes)
{
	double ta[RUNS_MAX], tb[RUNS_MAX], ratio[RUNS_MAX];
	const int n = b && b_bytes < a_bytes ? 1 : runs; /* slow peers run once */
	struct timing t = timed(a);
	int failed = t.failed;

	for (int i = 0; i < n; i++) {
		t = timed(a);
		failed |= t.failed;
		ta[i] = t.seconds / a_bytes;
		if (b) {
			t = timed(b);
			failed |= t.failed;
			tb[i] = t.seconds / b_bytes;
			ratio[i] = tb[i] / ta[i];
		}
	}
	if (failed)
		printf("| %s | failed | %s | | |\n", what, beside);
	else if (b)
		printf("| %s | %.2f | %s | %.2f | %.2f |\n", what, 1e-9 / median(ta, n), beside,
		       1e-9 / median(tb, n), median(ratio, n));
	else
		printf("| %s | %.2f | | | |\n", what, 1e-9 / median(ta, n));
	fflush(stdout);
}

/* ---- data ---- */

enum data { BELOW_1024, NOISE, CONSTANT, FLOATS, DOUBLES, RISING, FALLING };

static void make_file(const char *name, enum data data)
{
	char path[600];
	uint64_t x = 88172645463325252u;
	uint32_t *p = malloc(BLOCK);

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");
	for (uint64_t done = 0; f && done < file_bytes; done += BLOCK) {
		for (size_t i = 0; i < BLOCK / 4; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			const float unit = (float)(x >> 40) * 0x1p-24f;
			const double wide = (double)(x >> 11) * 0x1p-53,
				     place = (double)(done + 4 * i) / (double)file_bytes;
			const float size = ldexpf(
				unit, (int)(253 * (data == RISING ? place : 1 - place)) - 125);
			if (data == BELOW_1024)
				p[i] = (uint32_t)(x >> 40) & 1023;
			else if (data == FLOATS)
				memcpy(&p[i], &unit, 4);
			else if (data == DOUBLES)
				memcpy(&p[i & ~(size_t)1], &wide, 8);
			else if (data >= RISING)
				memcpy(&p[i], &size, 4);
			else
				p[i] = data == NOISE ? (uint32_t)(x >> 32) : 0x07070707;
		}
		fwrite(p, 1, BLOCK, f);
	}
	if (!f || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
	free(p);
}

static int have(const char *command)
{
	char probe[300];
	snprintf(probe, sizeof(probe), "command -v %s", command);
	return !timed(probe).failed;
}

/* ---- the table ---- */

static const char *self, *gpuhist;

static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A ring of buffers: enough for the arguments of one call. */
static const char *text(const char *format, ...)
{
	static char buffers[4][1500];
	static int next;
	char *b = buffers[next++ % 4];
	va_list ap;
	va_start(ap, format);
	vsnprintf(b, sizeof(buffers[0]), format, ap);
	va_end(ap);
	return b;
}

static void files(int cores)
{
	const double all = (double)file_bytes;
	const char *f = folder;

	for (int t = 1; t <= cores; t *= 2) {
		line(text("u32, 1024 bins, %d thread%s", t, t > 1 ? "s" : ""),
		     text("exec %s -T %d -b 1024 %s/u32", gpuhist, t, f), all,
		     "the bare loop on the same blocks",
		     text("exec %s limit bare %s/u32 %d", self, f, t), all);
		line(text("u32, 1024 bins, %d thread%s", t, t > 1 ? "s" : ""),
		     text("exec %s -T %d -b 1024 %s/u32", gpuhist, t, f), all,
		     "reading, no counting", text("exec %s limit read %s/u32 %d", self, f, t), all);
	}
	if (cores > 1)
		line(text("u32, 1024 bins, %d threads", cores),
		     text("exec %s -b 1024 %s/u32", gpuhist, f), all, "one thread",
		     text("exec %s -T 1 -b 1024 %s/u32", gpuhist, f), all);

	static const struct {
		const char *what, *arguments, *file;
	} KINDS[] = {
		{"u8, noise", "-t u8 -b 256", "noise"},
		{"u8, constant", "-t u8 -b 256", "constant"},
		{"u16, 65536 bins, noise", "-t u16 -b 65536", "noise"},
		{"u16, 1000 bins over full range", "-t u16 -b 1000 -r full", "noise"},
		{"u24, 1024 bins", "-t u24 -b 1024 -r full --ignore-tail", "noise"},
		{"u32, 1000 bins over full range", "-b 1000 -r full", "noise"},
		{"u32, 1024 bins, constant", "-b 1024 -r full", "constant"},
		{"u64, 1024 bins over full range", "-t u64 -b 1024 -r full", "noise"},
		{"f32, 1000 bins", "-t f32 -b 1000 -r 0:1", "floats"},
		{"f64, 1000 bins", "-t f64 -b 1000 -r 0:1", "doubles"},
		{"u32, 2^16 bins", "-b 65536 -r full -f raw", "noise"},
		{"u32, 2^20 bins", "-b 1048576 -r full -f raw", "noise"},
		{"u32, 2^24 bins", "-b 16777216 -r full -f raw", "noise"},
		{"u32, 2^28 bins", "-b 268435456 -r full -f raw", "noise"},
		{"u32, 2^28 bins, constant", "-b 268435456 -r full -f raw", "constant"},
	};
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
		line(KINDS[i].what,
		     text("exec %s %s %s/%s", gpuhist, KINDS[i].arguments, f, KINDS[i].file), all,
		     "reading, no counting",
		     text("exec %s limit read %s/%s %d", self, f, KINDS[i].file, cores), all);
	line("f32, 1000 bins", text("exec %s -t f32 -b 1000 -r 0:1 %s/floats", gpuhist, f), all,
	     "u32, 1024 bins", text("exec %s -b 1024 %s/u32", gpuhist, f), all);
	line("u8, constant", text("exec %s -t u8 -b 256 %s/constant", gpuhist, f), all, "u8, noise",
	     text("exec %s -t u8 -b 256 %s/noise", gpuhist, f), all);
}

/* 1001 edges in [0, 1] that no guess from the range finds: half of them in the first hundredth. */
static void make_edges(void)
{
	char path[600];
	uint64_t x = 88172645463325252u;
	double edge = 0;

	snprintf(path, sizeof(path), "%s/edges", folder);
	FILE *f = fopen(path, "w");
	for (int i = 0; f && i <= 1000; i++) {
		fprintf(f, "%.9f\n", edge);
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		edge += (i < 500 ? 0.00002 : 0.00198) * ((double)(x >> 40) * 0x1p-24 + 0.001);
	}
	if (!f || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* Every way to bin beside equal bins of the same samples. */
static void ways(void)
{
	static const struct {
		const char *what, *arguments, *file, *beside, *plain;
	} KINDS[] = {
		{"f32, --edges, 1000 irregular", "-t f32 --edges=@edges", "floats",
		 "f32, 1000 bins", "-t f32 -b 1000 -r 0:1"},
		{"f32, --log", "-t f32 -b 1000 --log=1e-6:1", "floats", "f32, 1000 bins",
		 "-t f32 -b 1000 -r 0:1"},
		{"f64, --log", "-t f64 -b 1000 --log=1e-6:1", "doubles", "f64, 1000 bins",
		 "-t f64 -b 1000 -r 0:1"},
		{"u32, --log", "-b 1000 --log=1:4294967296", "noise", "u32, 1000 bins",
		 "-b 1000 -r full"},
		{"u64, --log", "-t u64 -b 1000 --log=1:18446744073709551616", "noise",
		 "u64, 1000 bins", "-t u64 -b 1000 -r full"},
		{"u32, --mod, 1000 bins", "-b 1000 --mod", "noise", "u32, 1000 bins",
		 "-b 1000 -r full"},
		{"u32, --auto", "-b 1000 --auto", "noise", "u32, 1000 bins", "-b 1000 -r full"},
		{"u64, --auto", "-t u64 -b 1000 --auto", "noise", "u64, 1000 bins",
		 "-t u64 -b 1000 -r full"},
		{"f32, --auto", "-t f32 -b 1000 --auto", "floats", "f32, 1000 bins",
		 "-t f32 -b 1000 -r 0:1"},
		{"f64, --auto", "-t f64 -b 1000 --auto", "doubles", "f64, 1000 bins",
		 "-t f64 -b 1000 -r 0:1"},
	};
	const double all = (double)file_bytes;
	const char *const f = folder;

	make_edges();
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
		line(KINDS[i].what,
		     text("cd %s && exec %s -q %s %s", f, gpuhist, KINDS[i].arguments,
			  KINDS[i].file),
		     all, KINDS[i].beside,
		     text("cd %s && exec %s -q %s %s", f, gpuhist, KINDS[i].plain, KINDS[i].file),
		     all);
	for (int log = 20; log <= 24; log += 4)
		line(text("f32, --auto, 2^%d bins, rising", log),
		     text("exec %s -q -t f32 --auto -b %d -f raw %s/rising", gpuhist, 1 << log, f),
		     all, "falling",
		     text("exec %s -q -t f32 --auto -b %d -f raw %s/falling", gpuhist, 1 << log, f),
		     all);
	if (have("python3") && !timed("python3 -c 'import numpy'").failed)
		line("f32, --edges, 1000 irregular",
		     text("cd %s && exec %s -q -t f32 --edges=@edges floats", f, gpuhist), all,
		     "numpy.histogram on a memmap",
		     text("cd %s && python3 -c 'import numpy as n; "
			  "n.histogram(n.memmap(\"floats\",\"f4\"),"
			  "n.loadtxt(\"edges\"))'",
			  f),
		     all);
}

/* Channels beside the same bytes as one channel; gaps beside reading. */
static void layouts(int cores)
{
	static const struct {
		const char *what, *arguments, *file, *beside, *plain;
	} KINDS[] = {
		{"u8, 2 channels", "-t u8 -b 256 -c 2", "noise", "u8", "-t u8 -b 256"},
		{"u8, 3 channels", "-t u8 -b 256 -c 3 --ignore-tail", "noise", "u8",
		 "-t u8 -b 256"},
		{"i16, 2 channels", "-t i16 -b 1000 -r full -c 2", "noise", "i16",
		 "-t i16 -b 1000 -r full"},
		{"i16, 5 channels", "-t i16 -b 1000 -r full -c 5 --ignore-tail", "noise", "i16",
		 "-t i16 -b 1000 -r full"},
		{"i16, 64 channels", "-t i16 -b 100 -r full -c 64", "noise", "i24, 64 channels",
		 "-t i24 -b 100 -r full -c 64 --ignore-tail"},
		{"i16, 64 channels, --auto", "-t i16 -b 1000 --auto -c 64", "noise",
		 "i24, 64 channels, --auto", "-t i24 -b 1000 --auto -c 64 --ignore-tail"},
		{"f32, 2 channels", "-t f32 -b 1000 -r 0:1 -c 2", "floats", "f32",
		 "-t f32 -b 1000 -r 0:1"},
		{"u8, rows of 1000 in 1024 bytes", "-t u8 -b 256 --rows=1000:1024", "noise", "u8",
		 "-t u8 -b 256"},
		{"f32 in records of 64 bytes", "-t f32 -b 1000 -r 0:1 --record=64", "floats", NULL,
		 NULL},
		{"u8 in records of 4 bytes", "-t u8 -b 256 --record=4", "noise", NULL, NULL},
	};
	const double all = (double)file_bytes;
	const char *const f = folder;

	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		const char *const mine =
			text("exec %s -q %s %s/%s", gpuhist, KINDS[i].arguments, f, KINDS[i].file);
		if (KINDS[i].beside)
			line(KINDS[i].what, mine, all, KINDS[i].beside,
			     text("exec %s -q %s %s/%s", gpuhist, KINDS[i].plain, f, KINDS[i].file),
			     all);
		else
			line(KINDS[i].what, mine, all, "reading, no counting",
			     text("exec %s limit read %s/%s %d", self, f, KINDS[i].file, cores),
			     all);
	}
}

static void pipes(void)
{
	const double all = (double)file_bytes;
	const char *mine = text("cat %s/u32 | %s -b 1024", folder, gpuhist);

	line("pipe, u32, 1024 bins", mine, all, "cat into a 1 MiB pipe, thrown away",
	     text("cat %s/u32 | %s limit drain", folder, self), all);
	mine = text("cat %s/u32 | %s -b 1024", folder, gpuhist);
	line("pipe, u32, 1024 bins", mine, all, "cat \\| dd of=/dev/null bs=1M",
	     text("cat %s/u32 | dd of=/dev/null bs=1M", folder), all);
	/* Passed on to another reader while it is counted. */
	mine = text("cat %s/u32 | %s --tee -b 1024 -o %s/tee.csv | cat >/dev/null", folder, gpuhist,
		    folder);
	line("pipe \\| --tee \\| pipe, u32, 1024 bins", mine, all, "cat \\| cat \\| cat",
	     text("cat %s/u32 | cat | cat >/dev/null", folder), all);
	mine = text("%s --tee -b 1024 -o %s/tee.csv %s/u32 | cat >/dev/null", gpuhist, folder,
		    folder);
	line("file, --tee \\| pipe, u32, 1024 bins", mine, all, "cat \\| cat",
	     text("cat %s/u32 | cat >/dev/null", folder), all);
}

/* Noise that zstd stored as it is: frames of 8 MiB by threads, one frame beside zstd. */
static void stored(void)
{
	const double all = (double)file_bytes;
	const char *const f = folder;

	if (!have("zstd")) {
		printf("| zstd | not installed | | | |\n");
		return;
	}
	timed(
		text("cd %s && zstd -q -1 -c noise >one && for i in $(seq 0 8 %llu); do "
		     "dd if=noise bs=1M skip=$i count=8 status=none | zstd -q -1 --zstd=wlog=23 "
		     "-c; done >many",
		     f, (unsigned long long)(file_bytes >> 20) - 8));
	line("zstd, stored frames of 8 MiB, 32 threads",
	     text("exec %s -q -T 32 -b 1024 -r full %s/many", gpuhist, f), all, "4 threads",
	     text("exec %s -q -T 4 -b 1024 -r full %s/many", gpuhist, f), all);
	line("the same, -M 64M, 16 threads",
	     text("exec %s -q -M 64M -T 16 -b 1024 -r full %s/many", gpuhist, f), all, "4 threads",
	     text("exec %s -q -M 64M -T 4 -b 1024 -r full %s/many", gpuhist, f), all);
	line("zstd, one stored frame, 2 threads",
	     text("exec %s -q -T 2 -b 1024 -r full %s/one", gpuhist, f), all,
	     "zstd -dc, thrown away", text("exec zstd -dc %s/one >/dev/null", f), all);
	timed(text("rm %s/one %s/many", f, f));
}

/* The length of a file of the folder. */
static double length_of(const char *name)
{
	struct stat st;

	return stat(text("%s/%s", folder, name), &st) == 0 ? (double)st.st_size : 1;
}

/* Eight documents of 2^24 bins each, of an eighth of the noise; a thousand of 1024 bins.
 */
static void documents(void)
{
	const uint64_t part = file_bytes / 8;
	double all = 0;

	for (uint64_t i = 0; i < 8; i++) {
		timed(text("%s -q -b 16M -r full -S %llu -n %llu -o %s/wide%llu.json %s/noise",
			   gpuhist, (unsigned long long)(i * part), (unsigned long long)(part / 4),
			   folder, (unsigned long long)i, folder));
		all += length_of(text("wide%llu.json", (unsigned long long)i));
	}
	line("--merge, 8 of 2^24 bins, to raw",
	     text("%s -q --merge -C u64 -f raw %s/wide?.json", gpuhist, folder), all, "cat",
	     text("cat %s/wide?.json >/dev/null", folder), all);
	line("--merge, 8 of 2^24 bins, to json",
	     text("%s -q --merge -f json %s/wide?.json", gpuhist, folder), all, "cat",
	     text("cat %s/wide?.json >/dev/null", folder), all);
	timed(text("rm %s/wide?.json", folder));
	timed(text("%s -q -b 1024 -o %s/one.json %s/u32", gpuhist, folder, folder));
	timed(text("for i in $(seq 1000); do cat %s/one.json; done >%s/many.json", folder, folder));
	all = length_of("many.json");
	line("--merge, 1000 of 1024 bins in one file",
	     text("%s --merge %s/many.json", gpuhist, folder), all, "cat",
	     text("cat %s/many.json >/dev/null", folder), all);
}

/* Edges of any magnitude as text, beside those whose digits are few or whose exponent is none. */
static void texts(void)
{
	static const char *const RANGES[] = {"0:1e-6", "0:1e16", "0:1e300", "0:1e-310"};

	timed(text("%s -q -t f64 -b 1M -r 0:1 -o %s/0:1.csv /dev/null", gpuhist, folder));
	const double plain = length_of("0:1.csv");
	for (size_t i = 0; i < sizeof(RANGES) / sizeof(RANGES[0]); i++) {
		const char *const r = RANGES[i];
		timed(text("%s -q -t f64 -b 1M -r %s -o %s/%s.csv /dev/null", gpuhist, r, folder,
			   r));
		const double bytes = length_of(text("%s.csv", r));
		line(text("2^20 bins of -r %s to csv", r),
		     text("%s -q -t f64 -b 1M -r %s -o %s/%s.csv /dev/null", gpuhist, r, folder, r),
		     bytes, "of -r 0:1",
		     text("%s -q -t f64 -b 1M -r 0:1 -o %s/0:1.csv /dev/null", gpuhist, folder),
		     plain);
	}
}

static void peers(void)
{
	const double all = (double)file_bytes, part = 16e6;
	const char *mine = text("exec %s -b 1024 %s/u32", gpuhist, folder);

	if (have("python3") && !timed("python3 -c 'import numpy'").failed) {
		line("u32, 1024 bins", mine, all, "numpy.bincount on a memmap",
		     text("python3 -c 'import numpy as n; "
			  "n.bincount(n.memmap(\"%s/u32\",\"u4\"),minlength=1024)'",
			  folder),
		     all);
		mine = text("exec %s -b 1024 %s/u32", gpuhist, folder);
		line("u32, 1024 bins", mine, all, "numpy.histogram on a memmap",
		     text("python3 -c 'import numpy as n; "
			  "n.histogram(n.memmap(\"%s/u32\",\"u4\"),1024,(0,1024))'",
			  folder),
		     all);
	} else {
		printf("| numpy | not installed | | | |\n");
	}
	/* The same numbers as text: 16 MB of samples are 4 million lines. */
	timed(text("head -c 16000000 %s/u32 | od -An -v -w4 -tu4 > %s/text", folder, folder));
	mine = text("exec %s -b 1024 %s/u32", gpuhist, folder);
	if (have("gsl-histogram"))
		line("u32, 1024 bins", mine, all, "gsl-histogram on text",
		     text("gsl-histogram 0 1024 1024 < %s/text", folder), part);
	else
		printf("| gsl-histogram | not installed | | | |\n");
	mine = text("exec %s -b 1024 %s/u32", gpuhist, folder);
	line("u32, 1024 bins", mine, all, "sort \\| uniq -c on text",
	     text("sort %s/text | uniq -c", folder), part);
}

static void start_and_size(void)
{
	double empty[RUNS_MAX], shell[RUNS_MAX];
	const int n = runs * 4 < RUNS_MAX ? runs * 4 : RUNS_MAX;

	for (int i = 0; i < n; i++) {
		empty[i] = timed(text("exec %s </dev/null", gpuhist)).seconds;
		shell[i] = timed("exec true").seconds;
	}
	printf("\nEmpty input, start to end: %.2f ms (a shell that runs true: %.2f ms).\n",
	       1e3 * median(empty, n), 1e3 * median(shell, n));
	printf("Peak memory: %ld KiB for the whole file, %ld KiB for its first 16 MiB, %ld KiB for "
	       "nothing.\n",
	       timed(text("exec %s -b 1024 %s/u32", gpuhist, folder)).peak_kib,
	       timed(text("exec %s -b 1024 -n 4194304 %s/u32", gpuhist, folder)).peak_kib,
	       timed(text("exec %s </dev/null", gpuhist)).peak_kib);
}

/* One device's median seconds and CPU-seconds on `arguments`. */
static void device_times(const char *device, const char *arguments, double *seconds, double *cpu)
{
	double s[RUNS_MAX], c[RUNS_MAX];
	const char *command = text("exec %s -q --device=%s %s", gpuhist, device, arguments);

	for (int i = 0; i < runs; i++) {
		const struct timing t = timed(command);
		s[i] = t.failed ? (double)NAN : t.seconds;
		c[i] = t.cpu;
	}
	*seconds = median(s, runs);
	*cpu = median(c, runs);
}

#define TIMES \
	8 /* how often a file is named, so that the job is much longer than the GPU's start \
	   */

/* Whole runs by engine: rate, CPU-seconds per 100 GB, and what auto is worth. */
static void devices(void)
{
	static const struct {
		const char *what, *arguments, *file;
	} JOBS[] = {
		{"u32, 1024 bins", "-b 1024", "u32"},
		{"the same, -T 1", "-T 1 -b 1024", "u32"},
		{"the same, -T 4", "-T 4 -b 1024", "u32"},
		{"u8, 256 bins", "-t u8 -b 256", "noise"},
		{"u16, 65536 bins", "-t u16 -b 65536", "noise"},
		{"f32, 1000 bins", "-t f32 -b 1000 -r 0:1", "floats"},
		{"u32, 2^20 bins", "-b 1048576 -r full -f raw", "noise"},
	};
	static const char *const DEVICES[] = {"cpu", "gpu", "auto"};
	double seconds[3], cpu[3];

	printf("| file, start to end | cpu GB/s | gpu | gpu once started | auto | auto : best | "
	       "CPU-s per 100 GB: cpu "
	       "| gpu | auto |\n"
	       "|---|---|---|---|---|---|---|---|---|\n");
	timed(text("exec %s -q --device=gpu -n 1000000 -b 1024 %s/u32", gpuhist, folder));
	for (size_t i = 0; i < sizeof(JOBS) / sizeof(JOBS[0]); i++) {
		/* Slow jobs get the file once. */
		const bool few =
			strncmp(JOBS[i].arguments, "-T", 2) == 0 || strstr(JOBS[i].what, "2^20");
		const int times = few ? 1 : TIMES;
		char arguments[2000];
		int used = snprintf(arguments, sizeof(arguments), "%s", JOBS[i].arguments);
		/* of the first half of the files: the rest is without the start */
		double more = 0, half = 0;
		for (int k = 0; k < times; k++) {
			if (2 * k == times)
				device_times("gpu", arguments, &half, &more);
			used += snprintf(arguments + used, sizeof(arguments) - (size_t)used,
					 " %s/%s", folder, JOBS[i].file);
		}
		for (int d = 0; d < 3; d++)
			device_times(DEVICES[d], arguments, &seconds[d], &cpu[d]);
		const double best = seconds[0] < seconds[1] ? seconds[0] : seconds[1];
		const double gb = (double)file_bytes * 1e-9 * times;
		const double rest = half > 0 ? gb / 2 / (seconds[1] - half) : gb / seconds[1];
		printf("| %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f |\n",
		       JOBS[i].what, gb / seconds[0], gb / seconds[1], rest, gb / seconds[2],
		       best / seconds[2], 100 * cpu[0] / gb, 100 * cpu[1] / gb, 100 * cpu[2] / gb);
		fflush(stdout);
	}
	printf("\n| size | cpu ms | gpu ms | auto ms |\n|---|---|---|---|\n");
	for (uint64_t size = 1 << 10; size <= file_bytes; size *= size < file_bytes / 16 ? 16 : 2) {
		const char *arguments =
			text("-b 1024 -n %llu %s/u32", (unsigned long long)size / 4, folder);
		char copy[1000];
		snprintf(copy, sizeof(copy), "%s", arguments);
		for (int d = 0; d < 3; d++)
			device_times(DEVICES[d], copy, &seconds[d], &cpu[d]);
		printf("| %llu KiB | %.1f | %.1f | %.1f |\n", (unsigned long long)size >> 10,
		       1e3 * seconds[0], 1e3 * seconds[1], 1e3 * seconds[2]);
		fflush(stdout);
	}
	printf("\n| pipe, u32, 1024 bins | GB/s |\n|---|---|\n");
	for (int d = 0; d < 4; d++) {
		double s[RUNS_MAX];
		for (int i = 0; i < runs; i++)
			s[i] = timed(d == 3 ? text("cat %s/u32 | %s limit drain", folder, self)
					    : text("cat %s/u32 | %s -b 1024 --device=%s", folder,
						   gpuhist, DEVICES[d]))
				       .seconds;
		printf("| %s | %.2f |\n", d == 3 ? "thrown away" : DEVICES[d],
		       (double)file_bytes * 1e-9 / median(s, runs));
	}
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "limit") == 0)
		return strcmp(argv[2], "drain") == 0 ? limit_drain()
						     : limit_file(argv[2], argv[3], atoi(argv[4]));
	if (argc < 2)
		return 2;
	const char *tmp = getenv("TMPDIR");
	const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);

	self = realpath(argv[0], NULL);
	gpuhist = realpath(argv[1], NULL);
	file_bytes = (uint64_t)((argc > 2 ? atof(argv[2]) : 1) * 0x1p30) / BLOCK * BLOCK;
	runs = argc > 3 ? atoi(argv[3]) : 5;
	if (!self || !gpuhist || file_bytes == 0 || runs < 1 || runs > RUNS_MAX)
		return 2;
	snprintf(folder, sizeof(folder), "%s/gpuhist-bench-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	make_file("u32", BELOW_1024);
	make_file("noise", NOISE);
	make_file("constant", CONSTANT);
	make_file("floats", FLOATS);
	if (argc <= 4) {
		make_file("doubles", DOUBLES);
		make_file("rising", RISING);
		make_file("falling", FALLING);
	}
	printf("%d cores, %.2f GiB, median of %d runs\n\n", cores, (double)file_bytes / 0x1p30,
	       runs);
	if (argc > 4) {
		devices();
	} else {
		printf("| gpuhist | GB/s | beside | GB/s | times as fast "
		       "|\n|---|---|---|---|---|\n");
		files(cores);
		ways();
		layouts(cores);
		pipes();
		stored();
		documents();
		texts();
		peers();
		start_and_size();
	}
	timed(text("rm -rf %s", folder));
	return 0;
}
