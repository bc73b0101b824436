/* SPDX-License-Identifier: MIT */
/* layout: places of the samples in a record. */
#include "job.h"

static void draw_records(struct job *j)
{
	uint64_t bytes = j->width * j->type->bits / 8;

	j->first_byte = once_in(3) ? 0 : below(once_in(4) ? 500 : 20);
	j->stride = j->first_byte + bytes + (once_in(4) ? 0 : below(once_in(4) ? 500 : 20));
	if (once_in(6))
		j->stride = j->stride < 64 ? 64 : (j->stride + 4095) & ~(uint64_t)4095;
	else if (once_in(30)) /* at most about 16 MiB */
		j->stride = ((uint64_t)1 << (16 + below(9))) - below(3);
	if (j->first_byte + bytes < j->stride && once_in(4)) /* at the end of the record */
		j->first_byte = j->stride - bytes;
}

static void draw_rows(struct job *j)
{
	uint64_t bytes;

	j->width *= 1 + below(once_in(4) ? 2000 : 40);
	bytes = j->width * j->type->bits / 8;
	j->stride = bytes + (once_in(4) ? 0 : below(once_in(4) ? 500 : 20));
	if (once_in(3))
		j->stride = (bytes + 63) & ~(uint64_t)63;
	else if (once_in(30))
		j->stride = bytes + ((uint64_t)1 << (16 + below(8)));
}

void draw_layout(struct job *j)
{
	/* whole bytes */
	j->width = j->channels;
	while (j->width % packed_in(j->type))
		j->width += j->channels;
	j->stride = j->width * j->type->bits / 8;
	if (j->layout == RECORDS)
		draw_records(j);
	else if (j->layout == ROWS)
		draw_rows(j);
	if (j->layout != PLAIN && once_in(40)) /* too small: a usage error */
		j->stride = j->first_byte + j->width * j->type->bits / 8 - 1;
	if (!j->stride)
		j->stride = 1;
}
