/* SPDX-License-Identifier: MIT */
/*
 * layout: where the samples are in the bytes of an input.
 *
 *	| offset | sample 0 | sample 1 | ... | rest |    a record
 *	| record | record | ... | padding |              a row
 *
 * An input is a run of records, or of rows of records, each padded to a pitch. A source hands out,
 * skips and limits whole records; how many samples that makes is known here.
 */
#ifndef GPUHIST_LAYOUT_H
#define GPUHIST_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define LAYOUT_CHANNELS_MAX 64u
/* the limit of the options: bytes of a record, and of a pitch */
#define LAYOUT_BYTES_MAX ((uint32_t)16 << 20)

struct layout {
	uint32_t record; /* bytes from one record of a row to the next */
	uint32_t offset; /* bytes of a record before its first sample */
	/* samples of a record, one after another from offset on: a multiple of the channels */
	uint32_t samples;
	/* sample i of a record is of channel i % channels; groups of samples are unpacked before */
	uint32_t channels;
	uint32_t row;   /* records of a row; 0: there are no rows */
	uint32_t pitch; /* bytes from one row to the next; 0: there are no rows */
};

/*
 * Completes what was asked for: a field that is 0 gets what the others leave (one channel, a sample
 * for each channel, records without a gap, rows without padding). -1: no input can have this
 * layout, and *why says what does not fit; *layout is then undefined.
 */
int layout_init(struct layout *layout, const struct layout *asked, uint32_t sample_bytes,
		const char **why);

/*
 * Does every byte belong to a sample? Then n bytes are n / sample_bytes samples, wherever they
 * begin.
 */
bool layout_is_contiguous(const struct layout *layout, uint32_t sample_bytes);

/* Bytes that are handed out together: of a record, or of a row where there are rows. */
uint32_t layout_bytes(const struct layout *layout);

/* Samples of all channels in layout_bytes bytes. */
uint32_t layout_samples(const struct layout *layout);

/*
 * Packed records: `packed` of them share `group` bytes, and have a number of bits that is not a
 * multiple of 8. If packed is 0 or 1, a record has `group` bytes.
 *
 * layout_records returns how many records n bytes hold; bits of a partial one do not count.
 * layout_records_bytes returns how many bytes hold n records; the last byte may be padded.
 */
static inline uint64_t layout_records(uint64_t n, uint32_t group, uint32_t packed)
{
	return packed < 2 ? n / group : n / group * packed + n % group * packed / group;
}

static inline uint64_t layout_records_bytes(uint64_t n, uint32_t group, uint32_t packed)
{
	return packed < 2 ? n * group
			  : n / packed * group + (n % packed * group + packed - 1) / packed;
}

#endif
