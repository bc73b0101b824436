/* SPDX-License-Identifier: MIT */
/* reader: reads samples of any size and byte order in aligned loads of 16 bytes. */
#ifndef GPUHIST_READER_CUH
#define GPUHIST_READER_CUH

#include "../types.cuh"
#include "rule.h"

/*
 * struct reader<SIZE> reads samples that are aligned to their own size (gather.cuh packs others).
 * Samples before the first aligned 16 bytes and after the last (edge samples) are read byte by
 * byte. Three loads read 16 samples of 3 bytes, at any address: because 3 has an inverse mod 16,
 * some sample always starts at a multiple of 16.
 */
template <int SIZE> struct key_of {
	typedef u32 type;
};
template <> struct key_of<8> {
	typedef u64 type;
};

template <int SIZE> struct reader {
	enum { PER = SIZE == 3 ? 16 : 16 / SIZE }; /* samples in a vec */
	enum { WORDS = SIZE == 3 ? 12 : 4 };       /* words in a vec */
	struct vec {
		u32 w[WORDS];
	};

	const u8 *data;
	const uint4 *from; /* first whole vec */
	u64 vecs;
	u32 head, tail; /* edge samples before and after the vecs */
	u64 tail_at;    /* index of the tail's first sample */

	INLINE reader(const void *p, u64 n) : data((const u8 *)p)
	{
		const u32 at = (u32)(u64)p;

		head = SIZE == 3 ? 5 * at & 15 : (-at & 15) / SIZE; /* at + SIZE * head = 16 k */
		head = head < n ? head : (u32)n;
		from = (const uint4 *)(data + (u64)SIZE * head);
		vecs = (n - head) * SIZE / (4 * WORDS);
		tail_at = head + vecs * PER;
		tail = (u32)(n - tail_at);
	}

	/* ONCE: the data will not be read again soon */
	template <bool ONCE> INLINE vec load(u64 i) const
	{
		vec v;
#pragma unroll
		for (int k = 0; k < WORDS / 4; k++) {
			const uint4 *const p = from + i * (WORDS / 4) + k;
			const uint4 q = ONCE ? __ldcs(p) : __ldg(p);

			v.w[4 * k] = q.x;
			v.w[4 * k + 1] = q.y;
			v.w[4 * k + 2] = q.z;
			v.w[4 * k + 3] = q.w;
		}
		return v;
	}

	typedef typename key_of<SIZE>::type key_t;

	/* the keys of a vec */
	template <bool PERM, bool FLIP>
	static INLINE void keys(const struct rule &r, const vec &v, key_t *key)
	{
#pragma unroll
		for (int k = 0; k < WORDS; k++) {
			const u32 w = v.w[k];

			if (SIZE == 1) {
				key[4 * k] = w & 255;
				key[4 * k + 1] = w >> 8 & 255;
				key[4 * k + 2] = w >> 16 & 255;
				key[4 * k + 3] = w >> 24;
			} else if (SIZE == 2) {
				key[2 * k] = w & 0xffff;
				key[2 * k + 1] = w >> 16;
			} else if (SIZE == 4) {
				key[k] = __byte_perm(w, 0, r.perm[0]) ^ (FLIP ? r.flip[0] : 0);
			} else if (SIZE == 3 && k % 3 == 0) {
				const u32 x = v.w[k + 1], y = v.w[k + 2];

				key[k / 3 * 4] = __byte_perm(w, x, r.perm[0]) >> 8 ^ r.flip[0];
				key[k / 3 * 4 + 1] = __byte_perm(w, x, r.perm[1]) >> 8 ^ r.flip[0];
				key[k / 3 * 4 + 2] = __byte_perm(x, y, r.perm[2]) >> 8 ^ r.flip[0];
				key[k / 3 * 4 + 3] = __byte_perm(y, 0, r.perm[3]) >> 8 ^ r.flip[0];
			} else if (SIZE == 8 && k % 2 == 0) {
				const u32 lo = __byte_perm(w, v.w[k + 1], r.perm[0]) ^
					       (FLIP ? r.flip[0] : 0);
				const u32 hi = __byte_perm(w, v.w[k + 1], r.perm[1]) ^
					       (FLIP ? r.flip[1] : 0);

				key[k / 2] = (key_t)((u64)hi << 32 | lo);
			}
		}
	}

	/* Move key `turn` to the front, and the keys before it to the end. */
	static INLINE void rotate(key_t *key, u32 turn)
	{
#pragma unroll
		for (u32 by = 1; by < PER; by *= 2) {
			key_t was[PER];
#pragma unroll
			for (u32 k = 0; k < PER; k++)
				was[k] = key[k];
#pragma unroll
			for (u32 k = 0; k < PER; k++)
				key[k] = turn & by ? was[(k + by) % PER] : was[k];
		}
	}

	/*
	 * Call put(cell) for each key of vec i, rotated by `turn`. Sample j is of channel j mod
	 * rule.channels, whose cells follow the previous channel's; if the compiler knows the kind
	 * of bins, there is one channel. A launch has less than 2^32 samples. Unless a cell costs
	 * little, this is a loop that moves the next key to the front, which keeps the kernel small.
	 */
	template <class BIN, class F>
	INLINE void cells(const struct rule &r, key_t *key, u64 i, u32 turn, F put) const
	{
		const u32 all = BIN::all(r), end = all * r.channels, at = head + (u32)i * PER;
		u32 first = BIN::KNOWN ? 0 : (at + turn) % r.channels * all;

#pragma unroll(BIN::PERM && !BIN::KNOWN ? 1 : PER)
		for (int k = 0; k < PER; k++) {
			put(first + BIN::cell(r, key[0]));
			first = !BIN::KNOWN && first + all < end ? first + all : 0;
			if (turn && k + 1 + turn == PER)
				first = at % r.channels * all;
#pragma unroll
			for (int j = 0; j + 1 < PER; j++)
				key[j] = key[j + 1];
		}
	}

	/* index of edge sample j < head + tail */
	INLINE u64 edge_at(u32 j) const
	{
		return j < head ? j : tail_at + (j - head);
	}

	/* edge sample j < head + tail as the first of a vec */
	INLINE vec edge_vec(u32 j) const
	{
		const u8 *p = data + SIZE * edge_at(j);
		vec v = {};

#pragma unroll
		for (int k = 0; k < SIZE; k++)
			v.w[k / 4] |= (u32)p[k] << 8 * (k & 3);
		return v;
	}

	/* the cell of edge sample j < head + tail */
	template <class BIN> INLINE u32 edge(const struct rule &r, u32 j) const
	{
		const vec v = edge_vec(j);
		key_t key[PER];

		keys<BIN::PERM, BIN::FLIP>(r, v, key);
		return (u32)edge_at(j) % r.channels * BIN::all(r) + BIN::cell(r, key[0]);
	}

	/*
	 * Call f(vec, its index) for i, i + step, ... below end, with DEEP loads in flight before
	 * the first is used.
	 */
	template <bool ONCE, int DEEP, class F>
	INLINE void each(u64 i, u64 end, u64 step, F f) const
	{
		for (; i + (DEEP - 1) * step < end; i += DEEP * step) {
			vec v[DEEP];
#pragma unroll
			for (int k = 0; k < DEEP; k++)
				v[k] = load<ONCE>(i + k * step);
#pragma unroll
			for (int k = 0; k < DEEP; k++)
				f(v[k], i + k * step);
		}
		for (; i < end; i += step)
			f(load<ONCE>(i), i);
	}
};

#endif
