/* SPDX-License-Identifier: MIT */
/*
 * shared: counters in shared memory, for as many cells as fit there and for twice as many.
 *
 * What shared memory does in a clock decides the design (H200, measured): an atomic costs one
 * clock for each pass over the busiest bank. atomicAdd(p, 1) with its result unused merges
 * lanes with equal addresses in one pass; with a variable addend or a used result nothing is
 * merged, and 32 equal lanes cost 32 clocks. Lanes spread at random over the banks cost 3.66.
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

/* ---- channels --------------------------------------------------------------- */

/* One histogram of all samples: the cells are the bins' own. */
struct one_channel {
	enum { MANY = 0 };
	template <class BIN, class READER, class F>
	static INLINE void cells(const READER &, const struct rule &r,
				 const typename READER::vec &v, u64, F put)
	{
		READER::template cells<BIN>(r, v, put);
	}
	template <class BIN, class READER>
	static INLINE u32 edge(const READER &in, const struct rule &r, u32 j)
	{
		return in.template edge<BIN>(r, j);
	}
};

/*
 * Interleaved: sample i is of channel i mod rule.channels, whose cells follow those of the channel
 * before it.
 */
struct channels {
	enum { MANY = 1 };
	template <class BIN, class READER, class F>
	static INLINE void cells(const READER &in, const struct rule &r,
				 const typename READER::vec &v, u64 i, F put)
	{
		u32 first[READER::PER];

		in.template channels<BIN>(r, i, first);
		READER::template cells<BIN>(r, v, first, put);
	}
	template <class BIN, class READER>
	static INLINE u32 edge(const READER &in, const struct rule &r, u32 j)
	{
		return in.template edge<BIN>(r, j) + in.template edge_channel<BIN>(r, j);
	}
};

/*
 * How far a thread of count_shared goes from vec to vec. With channels it goes by whole cycles of
 * them, so that the channel of a vec's k-th sample is always the same and costs nothing: the
 * pattern repeats after channels / gcd(channels, PER) vecs. Threads from the step on are idle;
 * these are whole warps where there are enough of them.
 */
template <int PER> INLINE u32 step_of(const struct rule &r, u32 threads)
{
	u32 cycle = r.channels;

	for (u32 per = PER; per > 1 && cycle % 2 == 0; per /= 2)
		cycle /= 2;
	if (threads >= 32 * cycle)
		cycle *= 32;
	return threads / cycle * cycle;
}

/* ---- cells in shared memory ---------------------------------------------- */

/* how count_shared keeps its table */
enum keep {
	STRIPED, /* `copies` tables interleaved, copies a power of two from 8 to 32 */
	WHOLE    /* one table */
};

/*
 * count_shared: one read of the data at memory speed, one shared atomic a sample, one global atomic
 * for each cell and block.
 *
 * STRIPED: a lane counts in copy lane % copies, so that at most 32 / copies lanes use the same
 * bank, whatever the data: 1, 2 or 4 clocks for 32 samples. WHOLE: 1 clock on equal samples, 3.7 on
 * noise; 32 on the worst data, which is 0.26 T samples/s.
 *
 * The edges that BIN compares with, if it keeps them in shared memory, are first copied there,
 * after the counters.
 *
 * Launch: shared memory STRIPED 4 * copies * BIN::all, WHOLE 4 * spread_words(BIN::all), for the
 * cells of all channels, or up to the end of the edges; as many blocks as are resident together.
 * With channels at least 64 threads in all.
 */
template <int SIZE, class BIN, enum keep KEEP, int DEEP, class CHANNELS>
__device__ __forceinline__ void count_shared(const void *data, u64 n, const struct rule &r,
					     u32 *out, u32 copies)
{
	extern __shared__ uint4 shared[];
	u32 *table = (u32 *)shared;
	typedef typename reader<SIZE>::vec vec;
	const u32 all = CHANNELS::MANY ? BIN::all(r) * r.channels : BIN::all(r);
	const u32 stride = 4 * copies, id = blockIdx.x * blockDim.x + threadIdx.x,
		  threads = gridDim.x * blockDim.x;
	u8 *mine = (u8 *)(table + (threadIdx.x & (copies - 1)));
	const reader<SIZE> in(data, n);
	const auto put = [&](u32 cell) {
		if (KEEP == STRIPED)
			atomicAdd((u32 *)(mine + cell * stride), 1u);
		else
			atomicAdd(table + spread(cell), 1u);
	};

	clear(table, KEEP == STRIPED ? all * copies : spread_words(all));
	BIN::bring(r);
	__syncthreads();
	if constexpr (CHANNELS::MANY) {
		const u32 step = step_of<reader<SIZE>::PER>(r, threads);
		u32 first[reader<SIZE>::PER];

		in.template channels<BIN>(r, id, first);
		if (id < step)
			in.template each<true, DEEP>(id, in.vecs, step, [&](const vec &v, u64) {
				in.template cells<BIN>(r, v, first, put);
			});
	} else {
		in.template each<true, DEEP>(id, in.vecs, threads, [&](const vec &v, u64) {
			in.template cells<BIN>(r, v, put);
		});
	}
	if (blockIdx.x == 0 && threadIdx.x < in.head + in.tail)
		put(CHANNELS::template edge<BIN>(in, r, threadIdx.x));
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
 * count_pair: two blocks count one part of the data together, in one of two ways. Each looks at 32
 * sample rows of the part, and both come to the same choice.
 *
 * Crowded (on average more than CROWD lanes of a row in one cell): both blocks read the whole part,
 * each counts half of the cells, and equal lanes merge; about 2 * 3.2 clocks for 32 samples on
 * noise, half of that on equal samples. Otherwise: each block reads half of the part and counts all
 * cells in 16 bits, two in a word. Nothing merges: 4.2 clocks on noise; 32 if 32 lanes still meet
 * in a cell (data that changes within a part), which is 0.26 T samples/s.
 *
 * A 16-bit counter never carries into its neighbour: a thread that sees bit 15 set clears it at the
 * end of its batch and adds 0x8000 to global memory instead; meanwhile 1024 threads with at most 16
 * samples a batch add less than 0x8000.
 *
 * Launch: shared memory 4 * spread_words((BIN::all + 1) / 2 + 1); one block an SM; an even grid, at
 * most as many blocks as are resident together.
 */
template <int SIZE, class BIN>
__device__ __forceinline__ void count_pair(const void *data, u64 n, const struct rule &r, u32 *out)
{
	enum { PER = reader<SIZE>::PER };
	enum { DEEP = PER >= 16 ? 1 : PER >= 4 ? 16 / PER : 4 }; /* at most 16 samples */
	enum { CROWD = 4 };
	typedef typename reader<SIZE>::vec vec;
	extern __shared__ uint4 shared[];
	__shared__ u32 crowd;
	u32 *table = (u32 *)shared;
	const u32 all = BIN::all(r), half = (all + 1) / 2;
	const u32 me = blockIdx.x & 1, pair = blockIdx.x / 2, pairs = gridDim.x / 2,
		  nt = blockDim.x;
	const reader<SIZE> in(data, n);
	const u64 lo = in.vecs * pair / pairs, hi = in.vecs * (pair + 1) / pairs;

	clear(table, spread_words(half + 1));
	if (threadIdx.x == 0)
		crowd = 0;
	__syncthreads();
	{
		const u64 i = lo + (hi - lo) * (threadIdx.x / 32) / (nt / 32) + (threadIdx.x & 31);
		u32 cell = all + threadIdx.x, first = 0; /* no cell: equal to none of the others */

		if (i < hi) {
			const vec v = in.slip ? in.template load<false, true>(i)
					      : in.template load<false, false>(i);

			in.template cells<BIN>(r, v, [&](u32 c) {
				if (first++ == 0)
					cell = c;
			});
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
		const auto put = [&](u32 cell) {
			atomicAdd(table + spread(min(cell - base, own)), 1u);
		};

		in.template each<false, 2 * DEEP>(lo + threadIdx.x, hi, nt, [&](const vec &v, u64) {
			in.template cells<BIN>(r, v, put);
		});
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

			seen |= atomicAdd(table + spread(cell - (up ? half : 0)),
					  up ? 0x10000u : 1u);
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
			in.template each<true, DEEP>(i, end, step, [&](const vec &v, u64) {
				in.template cells<BIN>(r, v, put);
			});
			if (seen & 0x80008000u)
				in.template each<false, 1>(i, end, step, [&](const vec &v, u64) {
					in.template cells<BIN>(r, v, drain);
				});
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
