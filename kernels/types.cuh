/* SPDX-License-Identifier: MIT */
/* types: short names that all kernels use. */
#ifndef GPUHIST_TYPES_CUH
#define GPUHIST_TYPES_CUH

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define INLINE __device__ __forceinline__

#endif
