/* SPDX-License-Identifier: MIT */
/* zstd_cost: how long all cores take to decode and count a frame, and how long a device: pure. */
#ifndef GPUHIST_ZSTD_COST_H
#define GPUHIST_ZSTD_COST_H

#include <stdbool.h>

/* What is left to decode. */
struct zstd_work {
	double literals, sequences;
	double bytes; /* decoded */
	bool checked; /* the bytes come back from a device, for their checksum */
};

/* Seconds that this many threads take. */
double zstd_cores_seconds(const struct zstd_work *work, unsigned threads);

/* Is a device faster, with its start if it is not ready? */
bool zstd_device_pays(const struct zstd_work *work, unsigned threads, bool ready);

#endif
