/* SPDX-License-Identifier: MIT */
/* kernels: the program's kernels, in one module. */
#include "count/count.cuh"
#include "zstd/zstd.cuh"
