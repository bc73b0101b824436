/* SPDX-License-Identifier: MIT */
/*
 * layout: the positions of samples in the bytes of an input.
 *
 *	| offset | sample 0 | sample 1 | ... | rest |    a record
 *	| record | record | ... | padding |              a row
 *
 * An input is a sequence of records, or of rows of records, each row padded to a pitch.
 */
#ifndef GPUHIST_LAYOUT_H
#define GPUHIST_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define LAYOUT_CHANNELS_MAX 65536u
/*
 * More channels than these are "many": only the CPU counts them, 16-bit samples are binned while
 * they are counted, only the named quantiles are computed, and each channel is a row of the output
 * (each/list.h).
 */
#define LAYOUT_CHANNELS_FEW 64u
#define LAYOUT_BYTES_MAX ((uint32_t)16 << 20) /* limit of --record and of a pitch */

struct layout {
	uint32_t record;   /* bytes from one record of a row to the next */
	uint32_t offset;   /* bytes of a record before its first sample */
	uint32_t samples;  /* adjacent samples (of a packed type: groups) from `offset` */
	uint32_t channels; /* sample i of a record, once unpacked, is of channel i % channels */
	uint32_t row;      /* records of a row; 0: no rows */
	uint32_t pitch;    /* bytes from one row to the next; 0: no rows */
};

static inline bool layout_is_many(uint32_t channels)
{
	return channels > LAYOUT_CHANNELS_FEW;
}

/*
 * Complete a layout: a field that is 0 gets its default (one channel, a sample for each channel,
 * records without gaps, rows without padding). -1: no input can have this layout, *why gives the
 * reason, and *layout is undefined.
 */
int layout_init(struct layout *layout, const struct layout *asked, uint32_t sample_bytes,
		const char **why);

/* Does every byte belong to a sample? */
bool layout_is_contiguous(const struct layout *layout, uint32_t sample_bytes);

/* The bytes of a unit that is never split: a row, or a record if there are no rows. */
uint32_t layout_bytes(const struct layout *layout);

/* The number of samples, of all channels, in such a unit. */
uint32_t layout_samples(const struct layout *layout);

/*
 * The number of whole records in n bytes. `packed` records, whose bits are not a multiple of 8,
 * share `group` bytes; if packed is 0 or 1, a record has `group` bytes.
 */
static inline uint64_t layout_records(uint64_t n, uint32_t group, uint32_t packed)
{
	return packed < 2 ? n / group : n / group * packed + n % group * packed / group;
}

/* The bytes of n such records; the last byte may be padded. */
static inline uint64_t layout_records_bytes(uint64_t n, uint32_t group, uint32_t packed)
{
	return packed < 2 ? n * group
			  : n / packed * group + (n % packed * group + packed - 1) / packed;
}

#endif
