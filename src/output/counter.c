/* SPDX-License-Identifier: MIT */
/* counter: the table of counters. */
#include "output/counter.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t bytes;
	uint64_t max;
} COUNTERS[] = {
	[COUNTER_U64] = {"u64", 8, UINT64_MAX},     [COUNTER_U32] = {"u32", 4, UINT32_MAX},
	[COUNTER_SAT8] = {"sat8", 1, UINT8_MAX},    [COUNTER_SAT16] = {"sat16", 2, UINT16_MAX},
	[COUNTER_SAT32] = {"sat32", 4, UINT32_MAX},
};

int counter_parse(enum counter_kind *kind, const char *name)
{
	for (size_t i = 0; i < sizeof(COUNTERS) / sizeof(COUNTERS[0]); i++) {
		if (strcmp(COUNTERS[i].name, name) != 0)
			continue;
		*kind = (enum counter_kind)i;
		return 0;
	}
	return -1;
}

const char *counter_name(enum counter_kind kind)
{
	return COUNTERS[kind].name;
}

uint64_t counter_max(enum counter_kind kind)
{
	return COUNTERS[kind].max;
}

uint32_t counter_bytes(enum counter_kind kind)
{
	return COUNTERS[kind].bytes;
}

uint64_t counter_clip(enum counter_kind kind, uint64_t count)
{
	return count < COUNTERS[kind].max ? count : COUNTERS[kind].max;
}
