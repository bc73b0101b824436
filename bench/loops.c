/* SPDX-License-Identifier: MIT */
/*
 * loops: one worker on every type and kind of bins, samples that repeat and noise, beside reading.
 * usage: loops GPUHIST [MIB [RUNS [OTHER]]]
 *
 * A file of MIB MiB in $TMPDIR, which should be in memory; default 256, 9 runs. OTHER is a second
 * gpuhist, usually the one before a change. Each run times all commands of a row, one after the
 * other, start to end. A row shows the least processor time of each, which other programs disturb
 * less than the wall clock; there is one thread. Then 8-bit samples in memory, through count.h, in
 * blocks of 128 KiB. PEERS=FILE.so in the environment adds loops from elsewhere; FILE.so defines
 *     struct { const char *name; void (*count)(unsigned char *p, unsigned n, unsigned *counts); } peers[];
 * where the last name is NULL and counts are 256 totals, to be set.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count/count.h"
#include "timing.h"

#define BLOCK ((size_t)128 << 10) /* the program's own block size */
/* data in memory: it fits L2, and is more than a branch predictor learns */
#define BIG ((size_t)1 << 20)

static uint64_t state = 88172645463325252u;
static char path[600];
static uint64_t file_bytes = (uint64_t)256 << 20;
static int runs = 9;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The child "read FILE": the ceiling, the same reads as the program's and nothing else. */
static int read_file(const char *name)
{
	const int fd = open(name, O_RDONLY);
	unsigned char *p = aligned_alloc(4096, BLOCK);
	off_t at = 0;

	for (ssize_t n; (n = pread(fd, p, BLOCK, at)) > 0;)
		at += n;
	free(p);
	return at == 0;
}

/* size 0: noise; else one sample of that many different bytes, repeated. */
static void make_file(unsigned size)
{
	unsigned char *p = malloc(BLOCK);
	FILE *f = fopen(path, "wb");
	uint64_t at = 0;

	for (; f && at < file_bytes;) {
		for (size_t i = 0; i < BLOCK; i += 8, at += 8) {
			uint64_t v = draw();
			for (unsigned k = 0; size > 0 && k < 8; k++)
				v = v >> 8 | (uint64_t)(0x3a + (at + k) % size * 3) << 56;
			memcpy(p + i, &v, 8);
		}
		if (fwrite(p, 1, BLOCK, f) != BLOCK)
			break;
	}
	free(p);
	if (!f || fclose(f) != 0 || at < file_bytes) {
		perror(path);
		exit(1);
	}
}

static double least(double best, const char *command)
{
	const struct timing t = timed(command);

	return t.failed ? (double)NAN : t.cpu < best ? t.cpu : best;
}

static void row(const char *data, const char *self, const char *const *programs,
		const char *arguments)
{
	double reading = 1e9, best[2] = {1e9, 1e9};
	char command[3][2000];

	snprintf(command[2], sizeof(command[2]), "exec %s read %s", self, path);
	for (int k = 0; k < 2 && programs[k]; k++)
		snprintf(command[k], sizeof(command[k]),
			 "exec %s -q --device=cpu -T 1 --ignore-tail %s %s", programs[k], arguments,
			 path);
	for (int i = 0; i < runs; i++) {
		reading = least(reading, command[2]);
		for (int k = 0; k < 2 && programs[k]; k++)
			best[k] = least(best[k], command[k]);
	}
	const double gb = (double)file_bytes * 1e-9;
	printf("| %s | %s | %.2f | %.2f | %.2f |", arguments, data, gb / reading, gb / best[0],
	       reading / best[0]);
	if (programs[1])
		printf(" %.2f | %.3f |", gb / best[1], best[1] / best[0]);
	printf("\n");
	fflush(stdout);
}

static void files(const char *self, const char *const *programs)
{
	static const struct {
		unsigned size;
		const char *arguments;
	} ROWS[] = {
		{1, "-t u8 -b 256"},
		{1, "-t i8 -b 256 -r full"},
		{2, "-t u16 -b 65536 -f raw"},
		{2, "-t u16be -b 1000 -r full"},
		{2, "-t i16 -b 1000 -r full"},
		{2, "-t i16be -b 1000 -r full"},
		{2, "-t f16 -b 1000 -r 0:1"},
		{2, "-t f16be -b 1000 -r 0:1"},
		{2, "-t bf16 -b 1000 -r 0:1"},
		{2, "-t bf16be -b 1000 -r 0:1"},
		{3, "-t u24 -b 1024 -r full"},
		{3, "-t u24be -b 1000 -r full"},
		{3, "-t i24 -b 1024 -r full"},
		{3, "-t i24be -b 1000 -r full"},
		{4, "-t u32 -b 1024"},
		{4, "-t u32 -b 1024 -r full"},
		{4, "-t u32 -b 1000 -r full"},
		{4, "-t u32 -b 65536 -r full -f raw"},
		{4, "-t u32 -b 1000 --range=-0.5:4e9"},
		{4, "-t u32be -b 1000 -r full"},
		{4, "-t i32 -b 1000 -r full"},
		{4, "-t i32be -b 1000 -r full"},
		{8, "-t u64 -b 1024 -r full"},
		{8, "-t u64 -b 1000 -r full"},
		{8, "-t u64be -b 1000 -r full"},
		{8, "-t i64 -b 1000 -r full"},
		{8, "-t i64be -b 1000 -r full"},
		{8, "-t i64 -b 9 --range=-0.5:1000.5"},
		{4, "-t f32 -b 1000 -r 0:1"},
		{4, "-t f32be -b 1000 -r 0:1"},
		{8, "-t f64 -b 1000 -r 0:1"},
		{8, "-t f64be -b 1000 -r 0:1"},
		{8, "-t f64 -b 2 -r 1:1.0000000000000004"}, /* by bisection */
	};

	printf("| arguments | samples | reading GB/s | gpuhist | : reading "
	       "|%s\n|---|---|---|---|---|%s\n",
	       programs[1] ? " other | gpuhist : other |" : "", programs[1] ? "---|---|" : "");
	for (unsigned size = 0; size <= 8; size++) {
		if (size > 4 && size < 8)
			continue;
		make_file(size);
		for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
			if (size == 0 || size == ROWS[i].size)
				row(size ? "constant" : "noise", self, programs, ROWS[i].arguments);
	}
}

/* ---- 8-bit samples in memory ---- */

/* mean > 0: runs of random lengths with this mean; 0: noise; -1: a bell; -2: one value. */
static void make_bytes(unsigned char *p, int mean)
{
	for (size_t i = 0; i < BIG;) {
		const double unit = (double)(draw() >> 11) * 0x1p-53;
		size_t length = mean > 0 ? 1 + (size_t)(-log(unit + 1e-18) * mean) : 1;
		double value = (double)(draw() >> 56);
		if (mean == -1)
			for (int k = 0; k < 12; k++)
				value = (k ? value : 0) + (double)(draw() >> 11) * 0x1p-53 * 21.0;
		for (; length > 0 && i < BIG; length--)
			p[i++] = mean == -2 ? 0 : (unsigned char)value;
	}
}

struct peer {
	const char *name;
	void (*count)(unsigned char *p, unsigned n, unsigned *counts);
};

static void in_memory(void)
{
	static const struct {
		const char *name;
		int mean;
	} DATA[] = {{"noise", 0}, {"bell", -1}, {"runs of 8", 8}, {"16", 16},     {"32", 32},
		    {"64", 64},   {"128", 128}, {"512", 512},     {"4096", 4096}, {"zeros", -2}};
	enum { COLUMNS = sizeof(DATA) / sizeof(DATA[0]), PEERS = 64 };
	static double best[PEERS + 1][COLUMNS];
	void *const library = getenv("PEERS") ? dlopen(getenv("PEERS"), RTLD_NOW) : NULL;
	const struct peer *const peers = library ? dlsym(library, "peers") : NULL;
	unsigned char *const p = aligned_alloc(4096, BIG);
	struct edges_spec spec = {.bins = 256, .kind = AXIS_RANGE, .full = true};
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	struct counts counts;
	struct fail fail = {0};
	const char *why;
	volatile unsigned sink = 0;
	int n = 0;

	sample_type_parse(&type, "u8");
	if (edges_init(&edges, &spec, &type, &why) != 0)
		return;
	counting_init(&counting, &type, &edges, false);
	if (counts_init(&counts, counting.cells, &fail) != 0)
		return;
	struct counter *const counter = counter_open(&counting, &counts);
	while (peers && n < PEERS && peers[n].name)
		n++;
	for (int d = 0; d < COLUMNS; d++) {
		make_bytes(p, DATA[d].mean);
		for (int run = 0; run < 5 * runs; run++)
			for (int k = 0; k <= n; k++) {
				unsigned totals[256];
				for (size_t i = 0; i < BIG; i += 64)
					sink += p[i];
				const double start = now();
				for (size_t i = 0; i < BIG; i += BLOCK) {
					if (k == 0)
						counter_add(counter, p + i, BLOCK, NULL);
					else
						peers[k - 1].count(p + i, BLOCK, totals);
				}
				const double rate = 1e-9 * (double)BIG / (now() - start);
				if (rate > best[k][d])
					best[k][d] = rate;
			}
	}
	counter_close(counter);
	counts_free(&counts);
	(void)sink;
	printf("\n| u8 in memory, GB/s |");
	for (int d = 0; d < COLUMNS; d++)
		printf(" %s |", DATA[d].name);
	printf("\n|---|");
	for (int d = 0; d < COLUMNS; d++)
		printf("---|");
	for (int k = 0; k <= n; k++) {
		printf("\n| %s |", k == 0 ? "gpuhist" : peers[k - 1].name);
		for (int d = 0; d < COLUMNS; d++)
			printf(" %.2f |", best[k][d]);
	}
	printf("\n");
	free(p);
}

int main(int argc, char **argv)
{
	const char *const tmp = getenv("TMPDIR");
	char self[600];

	if (argc == 3 && strcmp(argv[1], "read") == 0)
		return read_file(argv[2]);
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (argc < 2 || length <= 0)
		return 2;
	self[length] = '\0';
	if (argc > 2)
		file_bytes = (uint64_t)(atof(argv[2]) * 0x1p20) / BLOCK * BLOCK;
	if (argc > 3)
		runs = atoi(argv[3]);
	const char *const programs[2] = {argv[1], argc > 4 && *argv[4] ? argv[4] : NULL};
	snprintf(path, sizeof(path), "%s/gpuhist-loops-XXXXXX", tmp ? tmp : "/tmp");
	const int fd = mkstemp(path);
	if (fd < 0 || close(fd) != 0) {
		perror(path);
		return 1;
	}
	printf("%.0f MiB, the best of %d runs\n\n", (double)file_bytes / 0x1p20, runs);
	files(self, programs);
	in_memory();
	return unlink(path) != 0;
}
