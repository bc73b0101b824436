/* SPDX-License-Identifier: MIT */
/*
 * course_check: the kernels of bench/course.cuh, with the launches of their rows, on the host:
 * block by block, the threads of each in a random order (fakecuda/block.h), beside a plain loop.
 * Rows that are wrong by design must be right on data that does not reach their flaw, and wrong on
 * data that does. What it cannot show: additions that should have been atomic. usage: course_check
 * [SEED]
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "fakecuda/shim.h"

#undef __global__
#define __global__

#define SHARED_USUAL 49152u /* bytes that a block gets without asking */
#define SHARED_MOST 232448u
#define GUARD 64u /* words after each buffer, which must stay as they are */

thread_local uint4 shared[SHARED_MOST / sizeof(uint4)];

static uint64_t seed = 1;
static size_t allowed = SHARED_USUAL;
static unsigned passed, failed;

static void run_thread(void *thread)
{
	(*(std::function<void()> *)thread)();
}

/*
 * The blocks one after the other, from a random one on; what they share is poison at first, and
 * after its end.
 */
static void launch(unsigned grid, unsigned threads, size_t bytes, std::function<void()> thread)
{
	uint32_t *words = (uint32_t *)shared;

	if (grid == 0 || threads == 0 || threads > BLOCK_THREADS_MAX || bytes > allowed)
		block_fault("a launch of %u blocks of %u threads with %zu bytes", grid, threads,
			    bytes);
	block_grid = {grid, 1, 1};
	block_size = {threads, 1, 1};
	const unsigned first = (unsigned)(seed >> 40) % grid;
	for (unsigned i = 0; i < grid; i++) {
		for (size_t k = 0; k < SHARED_MOST / 4; k++)
			words[k] = BLOCK_POISON;
		block_at.x = (first + i) % grid;
		block_run(run_thread, &thread, &seed);
		for (size_t k = (bytes + 3) / 4; k < SHARED_MOST / 4; k++)
			if (words[k] != BLOCK_POISON)
				block_fault(
					"it wrote to word %zu of its %zu bytes of shared memory", k,
					bytes);
	}
}

#define LAUNCH(kernel, grid, threads, bytes, ...) \
	launch(grid, threads, bytes, [&] { kernel(__VA_ARGS__); })
#define CLEAR(pointer, bytes) memset(pointer, 0, bytes)
#define ALLOW(kernel, bytes) (allowed = (bytes))

#include "../bench/course.cuh"

/* ---- data ---- */

enum kind { UNIFORM, CONSTANT, SORTED, FEW, KINDS };
static const char *const KIND[] = {"uniform", "constant", "sorted", "few"};

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 32) * below >> 32);
}

static uint32_t sample(enum kind kind, uint32_t bins, size_t i, size_t n)
{
	switch (kind) {
	case UNIFORM:
		return draw(bins);
	case CONSTANT:
		return bins - 1;
	case SORTED:
		return (uint32_t)(i * bins / n);
	default:
		return draw(4) == 0 ? draw(bins) : draw(2) * (bins / 2) + 7;
	}
}

/* ---- one row on one set of data ---- */

/* 1: as it must be; 0: other counts; ends the process where a buffer was overrun. */
static bool is_right(const struct row *row, enum kind kind, size_t n, uint32_t limit, unsigned sms)
{
	std::vector<uint4> data(n / 4 + 1);
	std::vector<uint32_t> want(row->bins), counts(row->bins + GUARD, BLOCK_POISON);
	std::vector<uint32_t> sorted(n + GUARD, BLOCK_POISON),
		parts(PARTS_WORDS + GUARD, BLOCK_POISON);
	uint32_t *in = (uint32_t *)data.data();

	/* What is behind the last sample would be seen in the counts of bin 0. */
	for (size_t i = 0; i < n; i++) {
		in[i] = sample(kind, row->bins, i, n);
		want[in[i]]++;
	}
	memset(counts.data(), 0, 4 * row->bins);
	allowed = SHARED_USUAL;
	row->count({in, n, row->bins, limit, counts.data(), sorted.data(), parts.data(), sms});
	for (uint32_t k = 0; k < GUARD; k++)
		if (counts[row->bins + k] != BLOCK_POISON || sorted[n + k] != BLOCK_POISON ||
		    parts[PARTS_WORDS + k] != BLOCK_POISON)
			block_fault("row %s: written past the end of a buffer", row->name);
	for (uint32_t c = 0; c < row->bins; c++)
		if (counts[c] != (row->saturates && want[c] > limit ? limit : want[c]))
			return false;
	return true;
}

static void check(const struct row *row, enum kind kind, size_t n, uint32_t limit, unsigned sms,
		  bool right)
{
	if (is_right(row, kind, n, limit, sms) == right) {
		passed++;
		return;
	}
	failed++;
	printf("FAILED %s: %zu %s samples, limit %u, %u multiprocessors: %s\n", row->name, n,
	       KIND[kind], limit, sms, right ? "wrong" : "right, where its flaw should show");
}

static void check_row(const struct row *row)
{
	static const size_t SIZES[] = {1, 3, 1023, 4100, 20011};

	for (int kind = 0; kind < KINDS; kind++)
		for (size_t n : SIZES) {
			/*
			 * A flawed row: limits that no block reaches, and lanes with less than 256
			 * samples each.
			 */
			check(row, (enum kind)kind, n, row->flaw ? 65535 : 100, 2, true);
			check(row, (enum kind)kind, n, 65535, 1, true);
		}
	/* More than 255 samples for each lane of six warps. */
	check(row, CONSTANT, 60001, 100, 1, !row->flaw);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 10) * 2 + 1;
	for (const struct row &row : ROWS)
		check_row(&row);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0;
}
