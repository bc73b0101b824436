/* SPDX-License-Identifier: MIT */
/* zstd_cost: decides who decodes a frame, and models how long cores and device take. Pure. */
#ifndef GPUHIST_ZSTD_COST_H
#define GPUHIST_ZSTD_COST_H

#include <stdbool.h>

/* Facts about the next frame. */
struct zstd_facts {
	bool one_call; /* its end was found, and one call of libzstd fits the memory */
	bool file;     /* it is in a file, not in a stream */
	bool read;     /* all of it was read from a stream */
	bool large;    /* much of it is wanted, and its window is not too large for BLOCKS */
	bool few;      /* fewer frames like it are left than readers */
	bool sized;    /* it declares its size */
	bool ordered;  /* records are handed out in order */
	unsigned threads;
	enum { DEVICE_NONE, DEVICE_ASLEEP, DEVICE_READY } device; /* one that can take the frame */
	bool demanded; /* the user demands the device, whether it pays or not */
	/* Needed only if zstd_asks(): */
	bool dense;    /* its blocks hold so much that libzstd is slower than memory */
	bool literals; /* its blocks hold mostly literals */
	bool pays;     /* the device would finish sooner than the cores */
};

enum zstd_way {
	WAY_CALL,   /* one thread, in one call of libzstd */
	WAY_STEPS,  /* one thread, a piece at a time */
	WAY_BLOCKS, /* all threads, without libzstd */
	WAY_DEVICE,
	WAY_START, /* start the device; if that fails, ask again with DEVICE_NONE */
};

enum zstd_way zstd_way(const struct zstd_facts *f);

/* Does the way depend on the contents of the frame's blocks? */
bool zstd_asks(const struct zstd_facts *f);

/* The work left to decode. */
struct zstd_work {
	double literals, sequences;
	double bytes; /* decoded */
	bool checked; /* a device's decoded bytes come back, for their checksum */
};

/* Return the seconds that this many threads take. */
double zstd_cores_seconds(const struct zstd_work *work, unsigned threads);

/* Is a device faster than the threads, including its start if it is not ready? */
bool zstd_device_pays(const struct zstd_work *work, unsigned threads, bool ready);

#endif
