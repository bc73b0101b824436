/* SPDX-License-Identifier: MIT */
/* cub: CUB's DeviceHistogram for kernels.c, if cub.cu is linked. */
#ifndef GPUHIST_BENCH_CUB_H
#define GPUHIST_BENCH_CUB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cub_job {
	const char *type;
	const void *samples; /* in device memory */
	size_t bytes;
	uint32_t bins;
	double hi;          /* bins of equal width from 0 on; or */
	const double *list; /* bins + 1 edges, in host memory */
};

/* Return GB/s, best of 5, and all counts; 0: CUB cannot count this. NULL: it is not linked. */
__attribute__((weak)) double cub_rate(const struct cub_job *job, uint32_t *count);
__attribute__((weak)) const char *cub_version(void);

#ifdef __cplusplus
}
#endif

#endif
