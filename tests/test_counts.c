/* SPDX-License-Identifier: MIT */
/* counts: several threads add in every combination of ways, and nothing is lost. */
#include "count/counts.h"

#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

#define CELLS 10u /* few, so that threads meet */
#define STRIDE 16u
#define ROUNDS 100000u
#define THREADS 4u

static struct counts counts;
static pthread_barrier_t start;

/* Add 32-bit tables, in which only the cells are counts: the gaps between tables are not added. */
static void *add_tables(void *arg)
{
	uint32_t table[3 * STRIDE];

	for (uint32_t i = 0; i < 3 * STRIDE; i++)
		table[i] = i % STRIDE < CELLS ? i / STRIDE + 1 : UINT32_MAX;
	pthread_barrier_wait(&start);
	for (unsigned i = 0; i < ROUNDS; i++)
		counts_add(&counts, &(struct tables){.samples = 6 * CELLS,
						     .narrow = table,
						     .tables = 3,
						     .stride = STRIDE,
						     .channels = 1});
	return arg;
}

/* Add a lane's table, while others add to single cells. */
static void *add_shared(void *arg)
{
	uint32_t table[CELLS];

	for (size_t i = 0; i < CELLS; i++)
		table[i] = i % 2 == 0 ? 5 + (1u << 20) : 0;
	pthread_barrier_wait(&start);
	for (unsigned i = 0; i < ROUNDS; i++)
		counts_add(&counts, &(struct tables){.samples = (5 + (1u << 20)) * CELLS / 2,
						     .narrow = table,
						     .tables = 1,
						     .stride = CELLS,
						     .channels = 1,
						     .shared = true});
	return arg;
}

static void *add_cells(void *arg)
{
	pthread_barrier_wait(&start);
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (size_t cell = 0; cell < CELLS; cell++)
			counts_add_cell(&counts, cell, 7);
		counts_add_samples(&counts, 7 * CELLS);
	}
	return arg;
}

/* Half of the threads add one way and half the other; check the sum in each cell. */
static void together(void *(*one)(void *), void *(*other)(void *), uint64_t even, uint64_t odd)
{
	struct fail fail = {0};
	pthread_t thread[THREADS];
	uint64_t samples = 0, right = 0;

	CHECK(counts_init(&counts, CELLS, NULL, &fail) == 0, "%s", fail.text);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, i % 2 ? one : other, &counts) == 0,
		      "thread");
	for (unsigned i = 0; i < THREADS; i++) {
		void *result;
		pthread_join(thread[i], &result);
		CHECK(result == &counts, "thread %u", i);
	}
	uint64_t *cell = counts_take(&counts, &samples);
	CHECK(counts.cell == NULL && counts.cells == 0 && counts.samples == 0,
	      "counts is not empty");
	for (size_t i = 0; i < CELLS; i++)
		right += cell[i] == (uint64_t)ROUNDS * THREADS / 2 * (i % 2 ? odd : even);
	CHECK(right == CELLS, "%llu of %u cells are right", (unsigned long long)right, CELLS);
	CHECK(samples == (uint64_t)ROUNDS * THREADS / 2 * (even + odd) * CELLS / 2, "%llu samples",
	      (unsigned long long)samples);
	free(cell);
	/* Counts that were taken, or never made, can be freed without harm. */
	counts_free(&counts);
	counts_free(&(struct counts){0});
}

int main(void)
{
	pthread_barrier_init(&start, NULL, THREADS);
	together(add_tables, add_tables, 12, 12);
	together(add_tables, add_shared, 11 + (1u << 20), 6);
	together(add_cells, add_shared, 12 + (1u << 20), 7);
	together(add_cells, add_cells, 14, 14);
	return check_report();
}
