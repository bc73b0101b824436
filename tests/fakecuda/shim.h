/* SPDX-License-Identifier: MIT */
/*
 * shim: the part of CUDA C++ that the kernels use, for the host's compiler. If a kernel does not
 * compile because it uses more, add that here.
 *
 * The kernels choose the arithmetic of the device themselves (__CUDACC__).
 */
#ifndef FAKECUDA_SHIM_H
#define FAKECUDA_SHIM_H

#include <cmath>
#include <cstdint>
#include <cstring>

#include "block.h"

#define __CUDACC__ 1
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
/* The functions in this section are the kernels: kernels.cpp looks there. */
#define __global__ __attribute__((section("kernels"), used))
/* Static at block scope. The build makes sure that none is initialised at run time. */
#define __shared__ thread_local

#define threadIdx block_thread
#define blockIdx block_at
#define blockDim block_size
#define gridDim block_grid

#define SHIM static inline __attribute__((always_inline))

struct alignas(16) uint4 {
	uint32_t x, y, z, w;
};
struct alignas(8) uint2 {
	uint32_t x, y;
};

template <class T> SHIM T min(T a, T b)
{
	return b < a ? b : a;
}

template <class T> SHIM T max(T a, T b)
{
	return a < b ? b : a;
}

/* ---- memory; a device refuses unaligned accesses ---- */

template <class T> SHIM const T *aligned(const T *p)
{
	if ((uintptr_t)p % sizeof(T) != 0)
		block_fault("%p is not aligned to %zu bytes", (const void *)p, sizeof(T));
	return p;
}

template <class T> SHIM T __ldg(const T *p)
{
	return *aligned(p);
}

template <class T> SHIM T __ldcs(const T *p)
{
	return *aligned(p);
}

/* Blocks run one at a time on one thread, so a plain addition will do, but others may go first. */
template <class T> SHIM T atomicAdd(T *p, T v)
{
	if (--block_patience == 0)
		block_yield();
	const T old = *aligned(p);
	*p = old + v;
	return old;
}

SHIM uint32_t atomicOr(uint32_t *p, uint32_t v)
{
	if (--block_patience == 0)
		block_yield();
	const uint32_t old = *aligned(p);
	*p = old | v;
	return old;
}

SHIM uint32_t atomicCAS(uint32_t *p, uint32_t expected, uint32_t v)
{
	__atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
}

SHIM unsigned long long atomicMax(unsigned long long *p, unsigned long long v)
{
	if (--block_patience == 0)
		block_yield();
	const unsigned long long old = *aligned(p);
	*p = old < v ? v : old;
	return old;
}

/* ---- threads together ---- */

#define __syncthreads() block_barrier(__LINE__)
#define __shfl_xor_sync(mask, value, other) \
	block_warp(WARP_SHUFFLE_XOR, mask, value, other, __LINE__)
#define __shfl_sync(mask, value, lane) block_warp(WARP_SHUFFLE, mask, value, lane, __LINE__)
#define __shfl_up_sync(mask, value, lanes) block_warp(WARP_SHUFFLE_UP, mask, value, lanes, __LINE__)
#define __any_sync(mask, value) block_warp(WARP_ANY, mask, (value) ? 1 : 0, 0, __LINE__)
#define __syncwarp() block_warp(WARP_ANY, ~0u, 0, 0, __LINE__)

/* ---- bits and numbers ---- */

SHIM uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t bits)
{
	return (uint32_t)(((uint64_t)high << 32 | low) >> (bits & 31));
}

SHIM uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t bits)
{
	return (uint32_t)(((uint64_t)high << 32 | low) << (bits & 31) >> 32);
}

SHIM uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t select)
{
	const uint64_t both = (uint64_t)high << 32 | low;
	uint32_t out = 0;

	for (unsigned k = 0; k < 4; k++)
		out |= (uint32_t)(both >> 8 * (select >> 4 * k & 7) & 255) << 8 * k;
	return out;
}

template <class TO, class FROM> SHIM TO same_bits(FROM from)
{
	TO to;

	static_assert(sizeof(to) == sizeof(from), "a change of type, not of bits");
	memcpy(&to, &from, sizeof(to));
	return to;
}

SHIM float __uint_as_float(uint32_t x)
{
	return same_bits<float>(x);
}

SHIM uint32_t __float_as_uint(float x)
{
	return same_bits<uint32_t>(x);
}

SHIM long long __double_as_longlong(double x)
{
	long long bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

SHIM double __longlong_as_double(long long x)
{
	return same_bits<double>(x);
}

SHIM int __clz(int x)
{
	return x ? __builtin_clz((unsigned)x) : 32;
}

SHIM int __clzll(long long x)
{
	return x ? __builtin_clzll((unsigned long long)x) : 64;
}

SHIM int __double2loint(double x)
{
	return (int)(uint32_t)same_bits<uint64_t>(x);
}

/* The build never contracts multiply-adds. */
SHIM double __dmul_rn(double a, double b)
{
	return a * b;
}

SHIM double __dadd_rn(double a, double b)
{
	return a + b;
}

SHIM float __fmul_rn(float a, float b)
{
	return a * b;
}

SHIM float __fadd_rn(float a, float b)
{
	return a + b;
}

#endif
