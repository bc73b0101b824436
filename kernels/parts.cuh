/* SPDX-License-Identifier: MIT */
/* parts: any number of cells, at the cost of writing the samples to memory once more. */
#ifndef GPUHIST_PARTS_CUH
#define GPUHIST_PARTS_CUH

#include "shared.cuh"

/*
 * The cells are cut into buckets of `width` cells. split sorts each tile of
 * samples by bucket and writes the sorted tile, 16 bits a sample (the cell
 * within its bucket), and where each bucket starts in it. plan makes a list of
 * work, count_parts counts one bucket's parts of many tiles in shared memory.
 */

enum { PART_EMPTY = 0xffff }; /* fills entries that alignment leaves free in a sorted tile */

/*
 * split: the tile is read twice, first from memory and then from L2, with one
 * shared atomic a sample each time. The result of the second is the sample's
 * index in the sorted tile. Then one 16-bit store to shared memory at random
 * (3.66 clocks a warp), and one coalesced write. With 32 cursors a bucket the
 * atomics have no conflicts; when all samples fall in one bucket, the gap of
 * one word between the cursors puts the lanes' entries into different banks.
 * With fewer cursors, lanes in the same bucket wait for each other: 32 /
 * copies clocks.
 *
 * Launch: parts_split_shared() bytes (driver/kernel_parts.c); up to 1024 threads; any grid.
 */
template <int SIZE, class BIN, int DEEP, class CHANNELS>
__device__ __forceinline__ void split(const void *data, u64 n, const struct rule &r,
				      const struct parts &s, const struct parts_memory &m)
{
	extern __shared__ uint4 shared[];
	u16 *place = (u16 *)shared;
	u32 *cursor = (u32 *)(shared + s.room);
	u32 *base = cursor + s.buckets * s.copies; /* buckets + 1 */
	u32 *sums = base + s.buckets + 1;          /* one a warp */
	const u32 tid = threadIdx.x, lane = tid & 31, nt = blockDim.x;
	const u32 entries = s.buckets * s.copies, mine = tid & (s.copies - 1);
	const reader<SIZE> in(data, n);
	const auto bucket = [&](u32 cell) { return (cell >> 12) * s.mul >> s.shr; };
	const auto count = [&](u32 cell) {
		atomicAdd(cursor + bucket(cell) * s.copies + mine, 1u);
	};
	const auto store = [&](u32 cell) {
		const u32 b = bucket(cell);

		place[atomicAdd(cursor + b * s.copies + mine, 1u)] = (u16)(cell - b * s.width);
	};

	for (u32 t = blockIdx.x; t < s.tiles; t += gridDim.x) {
		const u64 lo = (u64)t * s.tile_vecs, hi = min(lo + s.tile_vecs, in.vecs);
		const bool edges = t == 0 && tid < in.head + in.tail;
		u32 carry = 0;

		clear(cursor, entries);
		__syncthreads();
		in.template each<false, DEEP>(
			lo + tid, hi, nt, [&](const typename reader<SIZE>::vec &v, u64 i) {
				CHANNELS::template cells<BIN>(in, r, v, i, count);
			});
		if (edges)
			count(CHANNELS::template edge<BIN>(in, r, tid));
		__syncthreads();

		/* cursors within their bucket; the bucket's size into base */
		for (u32 e0 = 0; e0 < entries; e0 += nt) {
			const u32 e = e0 + tid, own = e < entries ? cursor[e] : 0;
			const u32 v = e < entries ? own + s.gap : 0;
			u32 sum = v, samples = own;

			for (u32 k = 1; k < s.copies; k *= 2) {
				const u32 a = __shfl_up_sync(~0u, sum, k, s.copies);
				const u32 b = __shfl_up_sync(~0u, samples, k, s.copies);

				if (mine >= k) {
					sum += a;
					samples += b;
				}
			}
			if (e < entries) {
				cursor[e] = sum - v;
				if (mine == s.copies - 1) {
					const u32 b = e / s.copies;

					base[b] = samples ? (sum + 7) / 8 : 0;
					if (samples)
						atomicAdd(m.total + b, samples);
				}
			}
		}
		__syncthreads();
		/* where each bucket starts */
		for (u32 b0 = 0; b0 < s.buckets; b0 += nt) {
			const u32 b = b0 + tid, v = b < s.buckets ? base[b] : 0;
			u32 sum = v, before = 0, all = 0;

			for (u32 k = 1; k < 32; k *= 2) {
				const u32 a = __shfl_up_sync(~0u, sum, k);

				if (lane >= k)
					sum += a;
			}
			if (lane == 31)
				sums[tid >> 5] = sum;
			__syncthreads();
			for (u32 w = 0; w < nt / 32; w++) {
				const u32 x = sums[w];

				before += w < tid >> 5 ? x : 0;
				all += x;
			}
			sum += carry + before;
			carry += all;
			if (b < s.buckets) {
				base[b] = sum - v;
				m.start[(u64)b * s.tiles + t] = (u16)(sum - v);
			}
			__syncthreads();
		}
		if (tid == 0) {
			base[s.buckets] = carry;
			m.start[(u64)s.buckets * s.tiles + t] = (u16)carry;
		}
		for (u32 e = tid; e < entries; e += nt)
			cursor[e] += 8 * base[e / s.copies];
		__syncthreads();

		in.template each<true, DEEP>(
			lo + tid, hi, nt, [&](const typename reader<SIZE>::vec &v, u64 i) {
				CHANNELS::template cells<BIN>(in, r, v, i, store);
			});
		if (edges)
			store(CHANNELS::template edge<BIN>(in, r, tid));
		__syncthreads();
		/* fill up to the next cursor's entries, or to the next bucket */
		for (u32 e = tid; e < entries; e += nt) {
			const u32 b = e / s.copies, end = 8 * base[b + 1];
			u32 i = cursor[e], to = i + s.gap;

			if ((e & (s.copies - 1)) == s.copies - 1)
				to = end;
			for (; i < to && i < end; i++)
				place[i] = PART_EMPTY;
		}
		__syncthreads();
		for (u32 i = tid; i < carry; i += nt)
			__stcs(m.codes + (u64)t * s.room + i, shared[i]);
		__syncthreads();
	}
}

/*
 * plan: how many blocks share a bucket. Launch: one block, after split.
 */
__device__ __forceinline__ void plan(const struct parts &s, const struct parts_memory &m)
{
	__shared__ u32 listed;

	if (threadIdx.x == 0)
		listed = 0;
	__syncthreads();
	for (u32 b = threadIdx.x; b < s.buckets; b += blockDim.x) {
		const u32 total = m.total[b];
		u32 g, at, run = 1;

		if (!total)
			continue;
		g = min((total + s.unit - 1) / s.unit, s.tiles);
		/* the longest run of neighbouring tiles that leaves a run for each block */
		while (run < 1024 / s.lanes && 2 * run * g <= s.tiles)
			run *= 2;
		at = atomicAdd(&listed, g);
		for (u32 k = 0; k < g; k++)
			m.units[at + k] = make_uint4(b, k, g, run);
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		m.count[0] = listed;
		m.count[1] = 0;
	}
}

/*
 * count_parts: a unit of work is one bucket's parts of every g-th run of tiles, so that a bucket
 * that is crowded in a few tiles is still shared evenly. The tiles of a run are neighbours, which
 * is a third faster than tiles far apart. 16-bit codes are read once, with one shared atomic each
 * (merged where equal) and one global atomic for each cell and unit. A bucket with few samples is
 * counted by global atomics alone: then fewer than width / 4 of them can have the same cell.
 *
 * `lanes` lanes walk a part of ordinary length. Much longer parts are put on a list, and the whole
 * block walks them afterwards.
 *
 * Launch: blocks of 1024 threads, one per SM; shared memory 4 * spread_words(width + 1) beside
 * about 2 KB of its own; all is BIN::all.
 */
template <int DEEP>
__device__ __forceinline__ void count_parts(const struct parts &s, const struct parts_memory m,
					    const u32 all, u32 *out)
{
	enum { LATER = 512 }; /* parts in the list */
	extern __shared__ uint4 shared[];
	u32 *table = (u32 *)shared;
	__shared__ u32 next, waiting, later[LATER];
	const u32 tid = threadIdx.x, nt = blockDim.x, group = tid / s.lanes, li = tid % s.lanes;
	const u32 groups = nt / s.lanes, listed = m.count[0];
	const u32 peers = (s.lanes == 32 ? ~0u : (1u << s.lanes) - 1)
			  << (tid & 31 & ~(s.lanes - 1));

	for (;;) {
		__syncthreads();
		if (tid == 0) {
			next = atomicAdd(m.count + 1, 1u);
			waiting = 0;
		}
		__syncthreads();
		if (next >= listed)
			break;
		const uint4 unit = m.units[next];
		const u32 b = unit.x, g = unit.z, run = unit.w;
		const u32 first = b * s.width, own = min(s.width, all - first);
		const u16 *start = m.start + (u64)b * s.tiles;
		const bool few = m.total[b] < own / 4;
		/* f(code) for uint4s i, i + step, ... below end of tile t */
		const auto walk = [&](u32 t, u32 i, u32 end, u32 step, auto f) {
			const uint4 *p = m.codes + (u64)t * s.room;

			for (; i < end; i += DEEP * step) {
				uint4 v[DEEP];
#pragma unroll
				for (int k = 0; k < DEEP; k++)
					if (i + k * step < end)
						v[k] = __ldcs(p + i + k * step);
#pragma unroll
				for (int k = 0; k < DEEP; k++) {
					if (i + k * step >= end)
						break;
					f(v[k].x & 0xffff);
					f(v[k].x >> 16);
					f(v[k].y & 0xffff);
					f(v[k].y >> 16);
					f(v[k].z & 0xffff);
					f(v[k].z >> 16);
					f(v[k].w & 0xffff);
					f(v[k].w >> 16);
				}
			}
		};
		const auto each_part = [&](auto f) {
			const u32 step = g * groups;
			u32 t = (unit.y + g * (group / run)) * run + group % run, i = 0, end = 0;

			if (t < s.tiles) {
				i = start[t];
				end = start[t + s.tiles];
			}
			while (t < s.tiles) {
				const u32 t0 = t;
				u32 i2 = 0, end2 = 0, slot = LATER;

				t += step;
				if (t < s.tiles) {
					i2 = start[t];
					end2 = start[t + s.tiles];
				}
				if (end - i > 32 * s.lanes) {
					if (li == 0)
						slot = atomicAdd(&waiting, 1u);
					slot = __shfl_sync(peers, slot, 0, s.lanes);
					if (slot < LATER && li == 0)
						later[slot] = t0;
				}
				if (slot >= LATER)
					walk(t0, i + li, end, s.lanes, f);
				i = i2;
				end = end2;
			}
			__syncthreads();
			for (u32 k = 0; k < min(waiting, (u32)LATER); k++) {
				const u32 t = later[k];

				walk(t, start[t] + ((tid + 32 * k) & (nt - 1)), start[t + s.tiles],
				     nt, f);
			}
		};

		if (few) {
			each_part([&](u32 code) {
				if (code != PART_EMPTY)
					atomicAdd(out + first + code, 1u);
			});
			continue;
		}
		clear(table, spread_words(own + 1));
		__syncthreads();
		each_part([&](u32 code) { atomicAdd(table + spread(min(code, own)), 1u); });
		__syncthreads();
		for (u32 c = tid; c < own; c += nt) {
			const u32 v = table[spread(c)];

			if (v)
				atomicAdd(out + first + c, v);
		}
	}
}

#endif
