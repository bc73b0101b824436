/* SPDX-License-Identifier: MIT */
/*
 * unpacker: a device that decodes blocks of zstd frames, as the source sees it.
 *
 * It has rooms: memory in which a batch of blocks is packed first and decoded afterwards. Packed
 * bytes lie at the beginning of a room, and struct unpack_orders at its end. Batches are submitted
 * in the order of their frame, and done in that order. A failure of the device is for good.
 *
 * No function but `done` waits. The caller sees to it that one thread at a time submits, and that a
 * room is not touched between submit and done.
 */
#ifndef GPUHIST_UNPACKER_H
#define GPUHIST_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>

#include "../kernels/unpack.h"

#define UNPACKER_ROOMS 44u                    /* at most */
#define UNPACKER_WINDOW ((uint64_t)128 << 20) /* no offset of a match is larger */

enum unpacked {
	UNPACKED_LOST = -1, /* the device has failed */
	UNPACKED_NOT_YET,
	UNPACKED_DONE,    /* the decoded bytes are in the room */
	UNPACKED_REFUSED, /* the batch is damaged; those after it are of no use */
};

struct unpacker {
	/* How many rooms there are, and their size; 0: the device is not ready, or has failed. */
	unsigned (*rooms)(void *arg, size_t *bytes);
	unsigned char *(*room)(void *arg, unsigned which);
	void (*submit)(void *arg, unsigned which, size_t packed);
	bool (*answered)(void *arg, unsigned which); /* done would say more than NOT_YET */
	/* Sleeps for at most `seconds`. */
	enum unpacked (*done)(void *arg, unsigned which, double seconds, size_t *bytes);
	void *arg;     /* passed to all of these functions */
	bool demanded; /* it decodes all long frames that it can, whether the cores are faster or not */
};

#endif
