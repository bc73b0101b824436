/* SPDX-License-Identifier: MIT */
/*
 * course_rows: how each kernel of course.cuh, which includes this, is launched, and the table's
 * rows. Where a thread takes many samples, as many threads are launched as multiprocessors hold,
 * 2048 each.
 */
#ifndef COURSE_ROWS_H
#define COURSE_ROWS_H

static unsigned blocks_for(u64 items, unsigned each)
{
	return (unsigned)((items + each - 1) / each);
}

static void count_1(const struct course &c)
{
	LAUNCH(add_each<false>, blocks_for(c.n, 256), 256, 0, c.data, c.n, 0, c.counts);
}

static void count_2(const struct course &c)
{
	LAUNCH(add_each<true>, blocks_for(c.n, 256), 256, 0, c.data, c.n, c.limit, c.counts);
}

static void count_3(const struct course &c)
{
	LAUNCH(add_slices<1>, 8 * c.sms, 256, 0, c.data, c.n, c.counts);
}

static void count_4(const struct course &c)
{
	LAUNCH(add_slices<8>, 8 * c.sms, 256, 0, c.data, c.n, c.counts);
}

static void count_5(const struct course &c)
{
	LAUNCH(add_vectors, 8 * c.sms, 256, 0, c.data, c.n, c.counts);
}

static void count_6(const struct course &c)
{
	LAUNCH(add_interleaved, 8 * c.sms, 256, 0, c.data, c.n, c.counts);
}

template <enum saturate SATURATE> static void count_7(const struct course &c)
{
	LAUNCH(own_copy<SATURATE>, 8 * c.sms, 256, 4 * c.bins, c.data, c.n, c.bins, c.limit,
	       c.counts);
}

static void count_8(const struct course &c)
{
	LAUNCH(inverse<false>, 2 * c.sms, TILE, 0, c.data, c.n, c.counts);
}

static void count_9(const struct course &c)
{
	LAUNCH(inverse<true>, 2 * c.sms, TILE, 0, c.data, c.n, c.counts);
}

/* 36 or 32.1 KiB a block: six of them on a multiprocessor with 227. */
template <bool OFTEN> static void count_10(const struct course &c)
{
	LAUNCH((bytes<false, OFTEN>), 6 * c.sms, BYTES_LANES, BYTES_BINS * BYTES_OF_BIN, c.data,
	       c.n, c.counts);
}

template <bool OFTEN> static void count_11(const struct course &c)
{
	LAUNCH((bytes<true, OFTEN>), 6 * c.sms, BYTES_LANES, BYTES_LANES * BYTES_OF_LANE, c.data,
	       c.n, c.counts);
}

/* 48 KiB are what a block has without asking, 224 what it can have on Hopper. */
template <u32 KIB> static void count_12(const struct course &c)
{
	const u32 most = KIB * 1024 / 4;

	ALLOW(one_pass, KIB * 1024);
	for (u32 first = 0; first < c.bins; first += most)
		LAUNCH(one_pass, (KIB <= 96 ? 2 : 1) * c.sms, 1024, KIB * 1024, c.data, c.n, first,
		       c.bins - first < most ? c.bins - first : most, c.counts);
}

static void count_13(const struct course &c)
{
	u32 *coarse = c.parts, *next = coarse + COARSE, *start = next + COARSE;

	CLEAR(coarse, 4 * COARSE);
	LAUNCH(count_coarse, 8 * c.sms, COARSE, 0, c.data, c.n, coarse);
	LAUNCH(find_starts, 1, COARSE, 0, coarse, next, start);
	LAUNCH(scatter, blocks_for(c.n, COARSE * PER_THREAD), COARSE, 0, c.data, c.n, next,
	       c.sorted);
	LAUNCH(refine, 8 * c.sms, COARSE, 0, c.sorted, start, c.counts);
}

struct row {
	const char *name;
	u32 bins;
	bool saturates; /* right is the least of the count and the limit */
	void (*count)(const struct course &);
	const char *flaw; /* what makes it wrong on some data; NULL: nothing does */
};

static const char FLAW_MERGE[] =
	"counters end at the limit in each block, and their sum is past it";
static const char FLAW_WRAP[] = "8-bit counters wrap";

static const struct row ROWS[] = {
	{"1 one global atomicAdd a sample", 1024, false, count_1, NULL},
	{"2 atomicAdd, then atomicMin", 2048, true, count_2, NULL},
	{"3 a slice for each thread", 1024, false, count_3, NULL},
	{"4 the slice unrolled by 8", 1024, false, count_4, NULL},
	{"5 the slice by uint4", 1024, false, count_5, NULL},
	{"6 interleaved", 1024, false, count_6, NULL},
	{"7 a copy in shared memory for each block", 1024, false, count_7<EXACT>, NULL},
	{"7b the same, saturating", 2048, true, count_7<EVERYWHERE>, NULL},
	{"7c saturating before the merge only", 2048, true, count_7<IN_BLOCKS>, FLAW_MERGE},
	{"8 inverse, a counter for each thread", 1024, false, count_8, NULL},
	{"9 inverse, broadcast of uint4", 1024, false, count_9, NULL},
	{"10 bytes of each lane, rows of bins, added up once", 1024, false, count_10<false>,
	 FLAW_WRAP},
	{"10b the same, added up in time", 1024, false, count_10<true>, NULL},
	{"11 bytes of each lane, rows of lanes, added up once", 1024, false, count_11<false>,
	 FLAW_WRAP},
	{"11b the same, added up in time", 1024, false, count_11<true>, NULL},
	{"12 passes over ranges of 48 KiB", 65536, false, count_12<48>, NULL},
	{"12b passes over ranges of 224 KiB", 65536, false, count_12<224>, NULL},
	{"13 coarse bins, sorted, then refined", 65536, false, count_13, NULL},
};

#define ROWS_COUNT (sizeof(ROWS) / sizeof(ROWS[0]))

#endif
