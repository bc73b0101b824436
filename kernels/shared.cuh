/* SPDX-License-Identifier: MIT */
/*
 * shared: counters in shared memory, for as many cells as fit there, and for twice as many codes.
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
 * Launch: shared memory STRIPED 4 * copies * BIN::all, WHOLE 4 * spread_words(BIN::all), for the
 * cells of all channels; as many blocks as are resident together. MANY: there may be channels.
 */
template <int SIZE, class BIN, enum keep KEEP, int DEEP, bool MANY>
__device__ __forceinline__ void count_shared(const void *data, u64 n, const struct rule &r,
					     u32 *out, u32 copies)
{
	extern __shared__ uint4 shared[];
	u32 *table = (u32 *)shared;
	typedef typename reader<SIZE>::vec vec;
	const u32 all = MANY ? BIN::all(r) * r.channels : BIN::all(r);
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
	__syncthreads();
	in.template each<true, DEEP>(id, in.vecs, threads, [&](const vec &v, u64 i) {
		if constexpr (MANY)
			in.template cells_of_channels<BIN>(r, v, i, put);
		else
			in.template cells<BIN>(r, v, put);
	});
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

/* ---- codes of two bytes ---------------------------------------------------- */

/*
 * count_pair: two blocks count one part of the data together, in one of two ways. Each looks at 32
 * sample rows of the part, and both come to the same choice.
 *
 * Crowded (on average more than CROWD lanes of a row have one code): both blocks read the whole
 * part, each counts half of the codes, and equal lanes merge; about 2 * 3.2 clocks for 32 samples
 * on noise, half of that on equal samples. Otherwise: each block reads half of the part and counts
 * all codes in 16 bits, two in a word. Nothing merges: 4.2 clocks on noise; 32 if 32 lanes still
 * meet in a code (data that changes within a part), which is 0.26 T samples/s.
 *
 * A 16-bit counter never carries into its neighbour: a thread that sees bit 15 set clears it at the
 * end of its batch and adds 0x8000 to global memory instead; meanwhile 1024 threads with 16 samples
 * a batch add less than 0x8000.
 *
 * Launch: shared memory 4 * spread_words(PAIR_CODES + 1); one block an SM; an even grid, at most as
 * many blocks as are resident together.
 */
__device__ __forceinline__ void count_pair(const void *data, u64 n, const struct rule &r, u32 *out)
{
	enum { DEEP = 16 / reader<2>::PER, CROWD = 4 };
	typedef bin_code<2 * PAIR_CODES> codes;
	typedef reader<2>::vec vec;
	extern __shared__ uint4 shared[];
	__shared__ u32 crowd;
	u32 *table = (u32 *)shared;
	const u32 me = blockIdx.x & 1, pair = blockIdx.x / 2, pairs = gridDim.x / 2,
		  nt = blockDim.x;
	const reader<2> in(data, n);
	const u64 lo = in.vecs * pair / pairs, hi = in.vecs * (pair + 1) / pairs;
	const bool edge = pair == 0 && threadIdx.x < in.head + in.tail;

	clear(table, spread_words(PAIR_CODES + 1));
	if (threadIdx.x == 0)
		crowd = 0;
	__syncthreads();
	{
		const u64 i = lo + (hi - lo) * (threadIdx.x / 32) / (nt / 32) + (threadIdx.x & 31);
		u32 code = 2 * PAIR_CODES + threadIdx.x; /* none: equal to none of the others */

		if (i < hi) {
			const vec v = in.slip ? in.load<false, true>(i) : in.load<false, false>(i);

			code = v.w[0] & 0xffff;
		}
		u32 met = __popc(__match_any_sync(~0u, code));

		for (int k = 16; k; k /= 2)
			met = max(met, __shfl_xor_sync(~0u, met, k));
		if ((threadIdx.x & 31) == 0)
			atomicAdd(&crowd, met);
	}
	__syncthreads();

	if (crowd > CROWD * nt / 32) {
		const u32 base = me * PAIR_CODES;
		const auto put = [&](u32 code) {
			atomicAdd(table + spread(min(code - base, (u32)PAIR_CODES)), 1u);
		};

		in.each<false, 2 * DEEP>(lo + threadIdx.x, hi, nt,
					 [&](const vec &v, u64) { in.cells<codes>(r, v, put); });
		if (edge)
			put(in.edge<codes>(r, threadIdx.x));
		__syncthreads();
		for (u32 c = threadIdx.x; c < PAIR_CODES; c += nt) {
			const u32 v = table[spread(c)];

			if (v)
				atomicAdd(out + base + c, v);
		}
	} else {
		u32 seen = 0;
		const auto put = [&](u32 code) {
			seen |= atomicAdd(table + spread(code % PAIR_CODES),
					  code >= PAIR_CODES ? 0x10000u : 1u);
		};
		const auto drain = [&](u32 code) {
			const u32 c = code % PAIR_CODES;
			u32 *p = table + spread(c);

			if (*p & 0x80008000u) {
				const u32 old = atomicAnd(p, 0x7fff7fffu);

				if (old & 0x8000u)
					atomicAdd(out + c, 0x8000u);
				if (old & 0x80000000u)
					atomicAdd(out + PAIR_CODES + c, 0x8000u);
			}
		};
		const u64 step = 2 * nt;

		for (u64 i = lo + me * nt + threadIdx.x; i < hi; i += DEEP * step) {
			const u64 end = min(hi, i + (DEEP - 1) * step + 1);

			seen = 0;
			in.each<true, DEEP>(i, end, step,
					    [&](const vec &v, u64) { in.cells<codes>(r, v, put); });
			if (seen & 0x80008000u)
				in.each<false, 1>(i, end, step, [&](const vec &v, u64) {
					in.cells<codes>(r, v, drain);
				});
		}
		if (edge && me == 0) {
			const u32 code = in.edge<codes>(r, threadIdx.x);

			put(code);
			drain(code);
		}
		__syncthreads();
		for (u32 c = threadIdx.x; c < PAIR_CODES; c += nt) {
			const u32 v = table[spread(c)];

			if (v & 0xffff)
				atomicAdd(out + c, v & 0xffff);
			if (v >> 16)
				atomicAdd(out + PAIR_CODES + c, v >> 16);
		}
	}
}

#endif
