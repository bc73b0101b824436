/* SPDX-License-Identifier: MIT */
/*
 * write_npy: the counters as a NumPy array: one dimension, or channels x bins. The header (version
 * 1.0) is padded with blanks to a multiple of 64 bytes, as the format requires; the counters after
 * it are the bytes of raw.
 */
#include "output/write.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define HEADER 128u /* the longest dictionary that we write has 77 bytes */
#define PREFIX 10u  /* magic, version, length of what follows */

void write_npy(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	const unsigned bytes = counter_bytes(style->counter);
	const unsigned long bins = axis_bins(&hist->axis);
	char header[HEADER + 1], shape[32];

	if (hist->channels > 1)
		snprintf(shape, sizeof(shape), "(%lu, %lu)", (unsigned long)hist->channels, bins);
	else
		snprintf(shape, sizeof(shape), "(%lu,)", bins);
	memset(header, ' ', sizeof(header));
	memcpy(header, "\x93NUMPY\x01\x00", 8);
	const size_t used =
		PREFIX +
		(size_t)snprintf(header + PREFIX, sizeof(header) - PREFIX,
				 "{'descr': '%cu%u', 'fortran_order': False, 'shape': %s, }",
				 bytes == 1 ? '|' : '<', bytes, shape);
	assert(used < HEADER);
	const size_t total = (used + 1 + 63) / 64 * 64; /* and the newline after it */
	header[used] = ' ';
	header[total - 1] = '\n';
	header[8] = (char)(total - PREFIX);
	header[9] = 0;
	output_write(out, header, total);
	write_raw(out, hist, style, from);
}
