/* SPDX-License-Identifier: MIT */
/*
 * zstd_cost: who decodes a frame; how long all cores take to decode and count it, and how long a
 * device: pure.
 */
#ifndef GPUHIST_ZSTD_COST_H
#define GPUHIST_ZSTD_COST_H

#include <stdbool.h>

/* What is known of the frame that is cut off next. */
struct zstd_facts {
	bool one_call; /* its end was found, and one call of libzstd for it fits the memory */
	bool file;     /* it is in a file; else in a stream */
	bool read;     /* all of it was read from a stream */
	bool large;    /* much of it is wanted, with a window that others than libzstd can keep */
	bool few;      /* fewer frames like it are left than readers */
	bool sized;    /* it declares its size */
	bool ordered;  /* records are handed out in order */
	unsigned threads;
	enum { DEVICE_NONE, DEVICE_ASLEEP, DEVICE_READY } device; /* one with room for the frame */
	bool demanded; /* the device is: whether it pays is not asked */
	/* If zstd_asks(): */
	bool dense;    /* its blocks have so much in them that libzstd is not as fast as memory */
	bool literals; /* which is mostly literals */
	bool pays;     /* the device would be done sooner than the cores */
};

enum zstd_way {
	WAY_CALL,   /* one thread, in one call of libzstd */
	WAY_STEPS,  /* one thread, a piece at a time */
	WAY_BLOCKS, /* all threads, without libzstd */
	WAY_DEVICE,
	WAY_START, /* the device, once it is started; if that fails, ask again with none */
};

enum zstd_way zstd_way(const struct zstd_facts *f);

/* Does the way depend on what is in the frame's blocks? */
bool zstd_asks(const struct zstd_facts *f);

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
