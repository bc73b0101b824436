/* SPDX-License-Identifier: MIT */
/*
 * zstd: compressed files, beside libzstd and the zstd command.
 * usage: zstd GPUHIST [MIB [RUNS [TIMES [OPTIONS]]]]
 *
 * One frame and many, samples of a 10-bit converter and samples that repeat, three levels. Beside
 * each: `zstd -dc FILE > /dev/null`, `zstd -dc FILE | gpuhist`, and libzstd in memory, a frame in
 * one call, on as many threads as there are frames and cores. GB/s of decoded bytes, medians; the
 * commands of a line alternate. A file of many frames is named TIMES times. OPTIONS are gpuhist's,
 * one word.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "timing.h"

#define RUNS_MAX 50
#define TIMES_MAX 16

static char folder[512];

struct packed {
	unsigned char *data;
	size_t bytes;
	struct {
		size_t at, bytes, decoded;
	} * frame;
	unsigned frames;
};

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned char *make_samples(size_t bytes, bool repeat)
{
	uint32_t *p = malloc(bytes);
	uint64_t x = 88172645463325252u;

	if (!p)
		die("memory");
	for (size_t i = 0; i < bytes / 4; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = repeat ? (uint32_t)(i / 50 % 700)
			      : (uint32_t)((x & 255) + (x >> 8 & 255) + (x >> 16 & 255) +
					   (x >> 24 & 255));
	}
	return (unsigned char *)p;
}

static struct packed pack(const unsigned char *data, size_t bytes, size_t frame, int level)
{
	struct packed p = {.frames = 0};
	const size_t count = (bytes + frame - 1) / frame;
	ZSTD_CCtx *c = ZSTD_createCCtx();

	p.frame = calloc(count, sizeof(*p.frame));
	p.data = malloc(ZSTD_compressBound(frame) * count);
	if (!c || !p.frame || !p.data)
		die("memory");
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	for (size_t at = 0; at < bytes; at += frame) {
		const size_t n = bytes - at < frame ? bytes - at : frame;
		const size_t out =
			ZSTD_compress2(c, p.data + p.bytes, ZSTD_compressBound(n), data + at, n);
		if (ZSTD_isError(out))
			die("compression");
		p.frame[p.frames].at = p.bytes;
		p.frame[p.frames].bytes = out;
		p.frame[p.frames++].decoded = n;
		p.bytes += out;
	}
	ZSTD_freeCCtx(c);
	return p;
}

/* ---- the ceiling: frames in memory, each decoded in one call ---- */

static const struct packed *ceiling_of;
static unsigned ceiling_next, ceiling_all;

static void *ceiling_thread(void *arg)
{
	const struct packed *p = ceiling_of;
	ZSTD_DCtx *d = ZSTD_createDCtx();
	unsigned char *out = malloc(p->frame[0].decoded);

	memset(out, 1, p->frame[0].decoded);
	for (;;) {
		const unsigned next = __atomic_fetch_add(&ceiling_next, 1, __ATOMIC_RELAXED);
		if (next >= ceiling_all)
			break;
		const unsigned i = next % p->frames;
		const size_t n = ZSTD_decompressDCtx(d, out, p->frame[i].decoded,
						     p->data + p->frame[i].at, p->frame[i].bytes);
		if (ZSTD_isError(n))
			die("decompression");
	}
	ZSTD_freeDCtx(d);
	free(out);
	return arg;
}

static double ceiling(const struct packed *p, unsigned times, unsigned threads)
{
	pthread_t t[512];
	const double start = now();

	ceiling_of = p;
	ceiling_next = 0;
	ceiling_all = times * p->frames;
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, ceiling_thread, NULL);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return now() - start;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		bool repeat;
		int level;
		size_t frame; /* 0: one */
	} JOBS[] = {
		{"noisy, level 1, one frame", false, 1, 0},
		{"noisy, level 3, one frame", false, 3, 0},
		{"noisy, level 19, one frame", false, 19, 0},
		{"repetitive, level 3, one frame", true, 3, 0},
		{"noisy, level 3, 8 MiB frames", false, 3, (size_t)8 << 20},
		{"noisy, level 3, 1 MiB frames", false, 3, (size_t)1 << 20},
		{"noisy, level 3, 128 KiB frames", false, 3, (size_t)128 << 10},
		{"noisy, level 3, 16 KiB frames", false, 3, (size_t)16 << 10},
		{"noisy, level 1, 8 MiB frames", false, 1, (size_t)8 << 20},
		{"repetitive, level 3, 8 MiB frames", true, 3, (size_t)8 << 20},
		{"repetitive, level 19, 1 MiB frames", true, 19, (size_t)1 << 20},
	};
	const char *tmp = getenv("TMPDIR");
	const size_t all = (size_t)(argc > 2 ? atoi(argv[2]) : 256) << 20;
	const int runs = argc > 3 ? atoi(argv[3]) : 5;
	const unsigned many = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	const char *options = argc > 5 ? argv[5] : "-q";
	const unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	char *gpuhist = argc > 1 ? realpath(argv[1], NULL) : NULL;

	snprintf(folder, sizeof(folder), "%s/gpuhist-bench-XXXXXX", tmp ? tmp : "/tmp");
	if (!gpuhist || all == 0 || runs < 1 || runs > RUNS_MAX || many < 1 || many > TIMES_MAX ||
	    !mkdtemp(folder))
		return 2;
	printf("%u cores, %u times (one frame: once) %zu MiB decoded, median of %d runs, libzstd "
	       "%s\n\n",
	       cores, many, all >> 20, runs, ZSTD_versionString());
	printf("| samples | packed : decoded | gpuhist | libzstd in memory x threads | ratio | "
	       "zstd -dc | ratio | zstd "
	       "-dc \\| gpuhist | ratio | through cat |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n");
	for (size_t j = 0; j < sizeof(JOBS) / sizeof(JOBS[0]); j++) {
		/* Level 19 compresses a few megabytes a second. */
		const size_t bytes =
			JOBS[j].level > 9 && all > (size_t)64 << 20 ? (size_t)64 << 20 : all;
		const unsigned times = JOBS[j].frame ? many : 1;
		unsigned char *data = make_samples(bytes, JOBS[j].repeat);
		struct packed p =
			pack(data, bytes, JOBS[j].frame ? JOBS[j].frame : bytes, JOBS[j].level);
		char path[600], paths[TIMES_MAX * 610] = "", command[4][sizeof(paths) + 1000];
		double t[5][RUNS_MAX];
		snprintf(path, sizeof(path), "%s/packed.zst", folder);
		FILE *f = fopen(path, "wb");
		if (!f || fwrite(p.data, 1, p.bytes, f) != p.bytes || fclose(f) != 0)
			die(path);
		for (unsigned i = 0; i < times; i++)
			strcat(strcat(paths, " "), path);
		snprintf(command[0], sizeof(command[0]), "exec %s %s -b 1024 %s", gpuhist, options,
			 paths);
		snprintf(command[1], sizeof(command[1]), "exec zstd -dc %s > /dev/null", paths);
		snprintf(command[2], sizeof(command[2]), "zstd -dc %s | %s %s -b 1024", paths,
			 gpuhist, options);
		snprintf(command[3], sizeof(command[3]), "cat %s | %s %s -b 1024", paths, gpuhist,
			 options);
		int failed = timed(command[0]).failed;
		for (int i = 0; i < runs; i++) {
			for (int k = 0; k < 4; k++) {
				const struct timing one = timed(command[k]);
				failed |= one.failed;
				t[k][i] = one.seconds;
			}
			t[4][i] = ceiling(&p, times,
					  p.frames * times < cores ? p.frames * times : cores);
		}
		double m[5];
		for (int k = 0; k < 5; k++)
			m[k] = median(t[k], runs);
		const double gb = times * (double)bytes * 1e-9;
		printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |%s\n",
		       JOBS[j].what, (double)p.bytes / (double)bytes, gb / m[0], gb / m[4],
		       m[4] / m[0], gb / m[1], m[1] / m[0], gb / m[2], m[2] / m[0], gb / m[3],
		       failed ? " failed" : "");
		fflush(stdout);
		free(data);
		free(p.data);
		free(p.frame);
	}
	char command[600];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	timed(command);
	free(gpuhist);
	return 0;
}
