/* SPDX-License-Identifier: MIT */
/* layout: complete a layout, and check every sum in 64 bits. */
#include "count/layout.h"

#include <stddef.h>

static const char *layout_complete(struct layout *l, uint32_t sample_bytes)
{
	if (l->channels == 0)
		l->channels = 1;
	if (l->channels > LAYOUT_CHANNELS_MAX)
		return "more than 65536 channels";
	if (l->samples == 0)
		l->samples = l->channels;
	if (l->samples % l->channels != 0)
		return "the samples of a record are not a multiple of the channels";
	const uint64_t end = l->offset + (uint64_t)l->samples * sample_bytes;
	if (l->record == 0 && l->offset > 0)
		return "an offset needs a record size";
	if (end > (l->record > 0 ? l->record : UINT32_MAX))
		return "a record is too small for its samples";
	if (l->record == 0)
		l->record = (uint32_t)end;
	if (l->row == 0)
		return l->pitch == 0 ? NULL : "a pitch needs a row length";
	const uint64_t bytes = (uint64_t)l->row * l->record;
	if (bytes > (l->pitch > 0 ? l->pitch : UINT32_MAX))
		return "a row is too small for its records";
	if (l->pitch == 0)
		l->pitch = (uint32_t)bytes;
	return NULL;
}

int layout_init(struct layout *layout, const struct layout *asked, uint32_t sample_bytes,
		const char **why)
{
	*layout = *asked;
	*why = layout_complete(layout, sample_bytes);
	return *why ? -1 : 0;
}

bool layout_is_contiguous(const struct layout *l, uint32_t sample_bytes)
{
	/* No overflow: layout_init has compared both products with 32 bits. */
	return l->samples * sample_bytes == l->record && l->row * l->record == l->pitch;
}

uint32_t layout_bytes(const struct layout *l)
{
	return l->row > 0 ? l->pitch : l->record;
}

uint32_t layout_samples(const struct layout *l)
{
	/* No overflow: the pitch, which has 32 bits, includes a byte or more for each sample. */
	return l->row > 0 ? l->row * l->samples : l->samples;
}
