/* SPDX-License-Identifier: MIT */
/*
 * unpacker: the interface of a device that decodes blocks of zstd frames.
 *
 * A device has "rooms". The caller puts a batch of packed blocks at the beginning of a room, and
 * struct unpack_orders at its end; the device replaces them by decoded bytes. Batches are submitted
 * in the order of their frame, and done in that order. A device that has failed stays failed.
 *
 * Only `done` waits. The caller ensures that one thread at a time submits, and that no thread
 * touches a room between submit and done.
 */
#ifndef GPUHIST_UNPACKER_H
#define GPUHIST_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>

#include "../kernels/zstd/unpack.h"

#define UNPACKER_ROOMS 44u                    /* number of rooms, at most */
#define UNPACKER_WINDOW ((uint64_t)128 << 20) /* the largest window */

enum unpacked {
	UNPACKED_LOST = -1, /* the device has failed */
	UNPACKED_NOT_YET,
	UNPACKED_DONE,    /* the decoded bytes are in the room */
	UNPACKED_REFUSED, /* the batch is damaged; later batches of its frame are useless */
};

struct unpacker {
	/* Return the number of rooms, and their size; 0: the device is not ready or failed. */
	unsigned (*rooms)(void *arg, size_t *bytes);
	unsigned char *(*room)(void *arg, unsigned which);
	void (*submit)(void *arg, unsigned which, size_t packed);
	/* Would done return anything but NOT_YET? */
	bool (*answered)(void *arg, unsigned which);
	/* Wait for at most `seconds`. */
	enum unpacked (*done)(void *arg, unsigned which, double seconds, size_t *bytes);
	void *arg;     /* passed to all of these functions */
	bool demanded; /* decode all long frames that it can, even if the cores are faster */
};

#endif
