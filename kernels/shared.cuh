/*
 * shared: counters in shared memory, for all the cells that fit there and twice as many.
 *
 * What shared memory does per clock decides this (H200, measured): an atomic costs one clock
 * for each pass over the busiest bank. An unused atomicAdd(p, 1) merges lanes with equal
 * addresses in that pass; a variable addend or a used result does not, and then 32 equal lanes
 * cost 32 clocks. Lanes spread at random over the banks cost 3.66.
 *
 * All: data may have any alignment, n may be 0 but is below 2^32, out holds BIN::all counters
 * and was cleared before. blockDim.x is a multiple of 32 and at most 1024.
 */
#ifndef GPUHIST_SHARED_CUH
#define GPUHIST_SHARED_CUH

#include "cell.cuh"

/* ---- shared tables ---------------------------------------------------------- */

INLINE void clear(u32 *p, u32 words)
{
	for (u32 i = threadIdx.x; i < words; i += blockDim.x)
		p[i] = 0;
}

/* ---- cells in shared memory ---------------------------------------------- */

/* how count_shared keeps its table */
enum keep {
	STRIPED,	/* `copies` tables interleaved, copies a power of two from 8 to 32 */
	WHOLE		/* one table */
};

/*
 * count_shared: one read of the data at memory speed, one shared atomic a
 * sample, one global atomic a cell and block.
 *
 * STRIPED: a lane counts in copy lane % copies, so that 32 / copies lanes at most
 * meet in a bank, whatever the data: 1, 2 or 4 clocks for 32 samples.
 * WHOLE: 1 clock on equal samples, 3.7 on noise; 32 for data made to hurt, which
 * is 0.26 T samples/s.
 *
 * Launch: shared memory STRIPED 4 * copies * BIN::all, WHOLE 4 * spread_words of
 * it; the grid is what is resident at once.
 */
template <int SIZE, class BIN, enum keep KEEP, int DEEP>
__device__ __forceinline__ void
count_shared(const void *data, u64 n, const struct rule &r, u32 *out, u32 copies)
{
	extern __shared__ uint4 shared[];
	u32 *table = (u32 *)shared;
	const u32 all = BIN::all(r);
	const u32 stride = 4 * copies;
	u8 *mine = (u8 *)(table + (threadIdx.x & (copies - 1)));
	const reader<SIZE> in(data, n);
	const auto put = [&](u32 cell) {
		if (KEEP == STRIPED)
			atomicAdd((u32 *)(mine + cell * stride), 1u);
		else
			atomicAdd(table + spread(cell), 1u);
	};

	clear(table, KEEP == STRIPED ? all * copies : spread_words(all));
	__syncthreads();
	in.template each<true, DEEP>((u64)blockIdx.x * blockDim.x + threadIdx.x, in.vecs,
		(u64)gridDim.x * blockDim.x,
		[&](const typename reader<SIZE>::vec &v) { in.template cells<BIN>(r, v, put); });
	if (blockIdx.x == 0 && threadIdx.x < in.head + in.tail)
		put(in.template edge<BIN>(r, threadIdx.x));
	__syncthreads();
	for (u32 c = threadIdx.x; c < all; c += blockDim.x) {
		u32 sum = 0;

		if (KEEP == STRIPED)
			for (u32 k = 0; k < copies; k++)
				sum += table[c * copies + ((c + k) & (copies - 1))];
		else
			sum = table[spread(c)];
		if (sum)
			atomicAdd(out + c, sum);
	}
}

/* ---- up to twice the cells that fit ------------------------------------------ */

/*
 * count_pair: two blocks count one part of the data together, in one of two ways
 * that they choose from a look at 32 rows of it.
 *
 * Crowded (on average more than CROWD lanes of a row in one cell): both read all
 * of it, each owns half of the cells, equal lanes merge; about 2 * 3.2 clocks for
 * 32 samples on noise, half of that on equal samples.
 * Else: each reads half of it and counts all cells in 16 bits, two in a word.
 * There nothing merges: 4.2 clocks on noise, 32 where 32 lanes meet in a cell
 * after all (data that changes its nature inside a part): 0.26 T samples/s.
 *
 * A 16-bit counter never carries into its neighbour: who sees bit 15 set clears
 * it at the end of his batch and owes 0x8000 to global memory; 1024 threads with
 * at most 16 samples a batch add less than 0x8000 meanwhile.
 *
 * Launch: shared memory 4 * spread_words((BIN::all + 1) / 2 + 1);
 * one block an SM; the grid is even and at most what is resident at once.
 */
template <int SIZE, class BIN>
__device__ __forceinline__ void
count_pair(const void *data, u64 n, const struct rule &r, u32 *out)
{
	enum { PER = reader<SIZE>::PER };
	enum { DEEP = PER >= 16 ? 1 : PER >= 4 ? 16 / PER : 4 };	/* at most 16 samples */
	enum { CROWD = 4 };
	typedef typename reader<SIZE>::vec vec;
	extern __shared__ uint4 shared[];
	__shared__ u32 crowd;
	u32 *table = (u32 *)shared;
	const u32 all = BIN::all(r), half = (all + 1) / 2;
	const u32 me = blockIdx.x & 1, pair = blockIdx.x / 2, pairs = gridDim.x / 2, nt = blockDim.x;
	const reader<SIZE> in(data, n);
	const u64 lo = in.vecs * pair / pairs, hi = in.vecs * (pair + 1) / pairs;

	clear(table, spread_words(half + 1));
	if (threadIdx.x == 0)
		crowd = 0;
	__syncthreads();
	{
		const u64 i = lo + (hi - lo) * (threadIdx.x / 32) / (nt / 32) + (threadIdx.x & 31);
		u32 cell = all + threadIdx.x, first = 0;	/* none: like no other */

		if (i < hi) {
			const vec v = in.slip ? in.template load<false, true>(i) :
						in.template load<false, false>(i);

			in.template cells<BIN>(r, v, [&](u32 c) { if (first++ == 0) cell = c; });
		}
		u32 met = __popc(__match_any_sync(~0u, cell));

		for (int k = 16; k; k /= 2)
			met = max(met, __shfl_xor_sync(~0u, met, k));
		if ((threadIdx.x & 31) == 0)
			atomicAdd(&crowd, met);
	}
	__syncthreads();

	if (crowd > CROWD * nt / 32) {
		const u32 base = me * half, own = min(half, all - base);
		const auto put = [&](u32 cell) { atomicAdd(table + spread(min(cell - base, own)), 1u); };

		in.template each<false, 2 * DEEP>(lo + threadIdx.x, hi, nt,
			[&](const vec &v) { in.template cells<BIN>(r, v, put); });
		if (pair == 0 && threadIdx.x < in.head + in.tail)
			put(in.template edge<BIN>(r, threadIdx.x));
		__syncthreads();
		for (u32 c = threadIdx.x; c < own; c += nt) {
			const u32 v = table[spread(c)];

			if (v)
				atomicAdd(out + base + c, v);
		}
	} else {
		u32 seen = 0;
		const auto put = [&](u32 cell) {
			const bool up = cell >= half;

			seen |= atomicAdd(table + spread(cell - (up ? half : 0)), up ? 0x10000u : 1u);
		};
		const auto drain = [&](u32 cell) {
			const u32 c = cell - (cell >= half ? half : 0);
			u32 *p = table + spread(c);

			if (*p & 0x80008000u) {
				const u32 old = atomicAnd(p, 0x7fff7fffu);

				if (old & 0x8000u)
					atomicAdd(out + c, 0x8000u);
				if (old & 0x80000000u)
					atomicAdd(out + half + c, 0x8000u);
			}
		};
		const u64 step = 2 * nt;

		for (u64 i = lo + me * nt + threadIdx.x; i < hi; i += DEEP * step) {
			const u64 end = min(hi, i + (DEEP - 1) * step + 1);

			seen = 0;
			in.template each<true, DEEP>(i, end, step,
				[&](const vec &v) { in.template cells<BIN>(r, v, put); });
			if (seen & 0x80008000u)
				in.template each<false, 1>(i, end, step,
					[&](const vec &v) { in.template cells<BIN>(r, v, drain); });
		}
		if (me == 0 && pair == 0 && threadIdx.x < in.head + in.tail) {
			const u32 cell = in.template edge<BIN>(r, threadIdx.x);

			put(cell);
			drain(cell);
		}
		__syncthreads();
		for (u32 c = threadIdx.x; c < half; c += nt) {
			const u32 v = table[spread(c)];

			if (v & 0xffff)
				atomicAdd(out + c, v & 0xffff);
			if (v >> 16)
				atomicAdd(out + half + c, v >> 16);
		}
	}
}

#endif
