/* SPDX-License-Identifier: MIT */
/* groups: two ways to cut 65,536 keys, and the check that each key is where its bin is. */
#include "gpu/groups.h"

#include <stdbool.h>

#define KEYS 65536u
#define UNSET UINT32_MAX

static uint32_t sign_bit(const struct sample_type *type)
{
	return type->kind == SAMPLE_SIGNED ? 0x8000u : 0;
}

/* A group for each value in the range, one below it and one above. */
static bool by_value(struct groups *g, const struct binning *b)
{
	if (b->first >= KEYS || b->span >= KEYS)
		return false;
	*g = (struct groups){
		.low = (int32_t)b->first - 1,
		.last = (int32_t)b->span + 2,
		.mul = UINT32_MAX, /* (place 2^32 - place + add) / 2^32 = place */
		.add = 2 * KEYS,
	};
	return true;
}

/* A group for each bin: 1 + floor((place - 1) mul / 2^32), 0 at place 0. */
static bool by_bin(struct groups *g, const struct binning *b)
{
	uint64_t mul = 0, base = 0;

	if (b->kind == BIN_SHIFT && b->shift.by > 0 && b->shift.by < 32) {
		mul = (uint64_t)1 << (32 - b->shift.by);
		base = b->shift.base;
	} else if (b->kind == BIN_MAGIC) {
		mul = (b->magic.multiplier >> 32) + ((uint32_t)b->magic.multiplier != 0);
		base = b->magic.base;
	}
	if (mul == 0 || mul > UINT32_MAX || b->first >= KEYS || b->span >= KEYS || base > 1u << 30)
		return false;
	*g = (struct groups){
		.low = (int32_t)b->first - (int32_t)base - 1,
		.last = (int32_t)(b->span + base) + 2,
		.mul = (uint32_t)mul,
		.add = 0u - (uint32_t)mul,
	};
	return true;
}

/* Are all keys of each group in one cell? */
static bool holds(const struct groups *g, const struct binning *b, uint32_t most)
{
	uint32_t last = UNSET, cell = UNSET; /* groups rise with the keys */

	if (group_count(g) > most)
		return false;
	for (uint32_t key = 0; key < KEYS; key++) {
		const uint32_t group = group_of(g, key), own = bin_key32(b, b->kind, key);
		if (group == last && own != cell)
			return false;
		last = group;
		cell = own;
	}
	return true;
}

uint32_t groups_choose(struct groups *groups, const struct sample_type *type,
		       const struct binning *binning, uint32_t most)
{
	/* Where the bins come from the samples, any code may be next to a border. */
	if (type->bytes != 2 || type->kind == SAMPLE_FLOAT || binning_is_open(binning))
		return 0;
	if (by_value(groups, binning) && holds(groups, binning, most))
		return group_count(groups);
	if (by_bin(groups, binning) && holds(groups, binning, most))
		return group_count(groups);
	return 0;
}

uint32_t groups_of_code(const struct groups *groups, const struct sample_type *type, uint32_t code)
{
	return group_of(groups, sample_swapped(type, code) ^ sign_bit(type));
}
