/* SPDX-License-Identifier: MIT */
/*
 * zstd_cost: who decodes a frame, and a model of how long that takes, fitted to whole runs over one
 * frame on 16 cores and an H100.
 *
 * All cores decode literals, count them and add them to the checksum; little work per byte is
 * done in order. Sequences are executed in order, which is nearly all of their time: 16 threads
 * take as long as 4. In nanoseconds, for 4 and 16 threads:
 *
 *   noise of 8 bits, 1 literal a byte                       a literal     0.45 and 0.15
 *   10-bit numbers in 32, 0.126 sequences a byte            a sequence    9.6 and 9.8
 *   text, 0.113 sequences a byte                            a sequence    9.7 and 10.3
 *
 * With n threads that is 1.6/n + 0.05 per literal and 4/n + 9 per sequence. 18-bit floats, with
 * 0.84 literals and 0.031 sequences a byte, agree: 0.68 and 0.44 s for 1 GiB by the model, 0.70 and
 * 0.49 measured. Since then, a sequence takes 0.75 to 0.85 of the time on one core; the model was
 * not fitted again. Other processors differ by up to a factor of two, but near the border either
 * choice is nearly right.
 */
#include "zstd/zstd_cost.h"

#define LITERAL_SHARED 1.6e-9
#define LITERAL_ORDERED 0.05e-9
#define SEQUENCE_SHARED 4e-9
#define SEQUENCE_ORDERED 9e-9

#define DEVICE_START 0.25   /* seconds until it is ready */
#define DEVICE_CHECKED 8e9  /* bytes a second if one core computes their checksum */
#define DEVICE_COUNTED 14e9 /* bytes a second if they stay on the device */

/*
 * WHO DECODES A FRAME. The first line whose facts are all true tells; all lines but the last two
 * also need "dense".
 *
 *   DEVICE   large, in a file, the device is ready and demanded
 *   DEVICE   large, in a file, the device is ready, many are left, sized: device and cores share
 *   DEVICE   large, in a file, few are left, the device is ready and pays
 *   START    large, in a file, few are left, the device is asleep and pays
 *   BLOCKS   large, not one call, a stream not read to its end, three threads or mostly literals
 *   BLOCKS   large, not one call, in a file, few or ordered, three threads or mostly literals
 *   CALL     one call
 *   STEPS
 *
 * If many frames are left, the device gets none of unknown size: such a frame would hold rooms
 * until the cores have decoded all frames before it.
 *
 * Two threads gain from blocks only with mostly literals. On one thread of an EPYC, the decoder of
 * blocks takes as long as libzstd for literals, but 0.7 to 1.5 ns of 9 to 11 more for a sequence.
 * It has 0.87 to 0.95 of libzstd's speed for text and 10-bit numbers, and 0.80 for a random walk of
 * level 19. So one thread leaves long frames to libzstd, in STEPS.
 */
static bool device_may(const struct zstd_facts *f)
{
	if (!f->large || !f->file || f->device == DEVICE_NONE)
		return false;
	return f->demanded ? f->device == DEVICE_READY
			   : f->few || (f->device == DEVICE_READY && f->sized);
}

static bool cores_may(const struct zstd_facts *f)
{
	return f->large && !f->one_call && f->threads > 1 &&
	       (f->file ? f->few || f->ordered : !f->read);
}

bool zstd_asks(const struct zstd_facts *f)
{
	return device_may(f) || cores_may(f);
}

enum zstd_way zstd_way(const struct zstd_facts *f)
{
	if (f->dense && device_may(f) && (f->demanded || !f->few || f->pays))
		return f->device == DEVICE_READY ? WAY_DEVICE : WAY_START;
	if (f->dense && cores_may(f) && (f->threads > 2 || f->literals))
		return WAY_BLOCKS;
	return f->one_call ? WAY_CALL : WAY_STEPS;
}

double zstd_cores_seconds(const struct zstd_work *work, unsigned threads)
{
	return work->literals * (LITERAL_SHARED / threads + LITERAL_ORDERED) +
	       work->sequences * (SEQUENCE_SHARED / threads + SEQUENCE_ORDERED);
}

bool zstd_device_pays(const struct zstd_work *work, unsigned threads, bool ready)
{
	const double rate = work->checked ? DEVICE_CHECKED : DEVICE_COUNTED;

	return zstd_cores_seconds(work, threads) > work->bytes / rate + (ready ? 0 : DEVICE_START);
}
