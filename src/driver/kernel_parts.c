/* SPDX-License-Identifier: MIT */
/* kernel_parts: how the work of sorting samples into buckets is laid out (kernels/parts.cuh). */
#include "driver/kernel_parts.h"

#define TILE 65536u         /* samples that split sorts together */
#define STATIC_SHARED 4096u /* what the kernels declare themselves, rounded up */

size_t parts_split_shared(const struct parts *s)
{
	return 16 * (size_t)s->room + 4 * ((size_t)s->buckets * s->copies + s->buckets + 1 + 32);
}

/*
 * Finds the widest buckets that fit, for which a cell's bucket is a 32-bit product: (cell >> 12) /
 * k = (cell >> 12) * mul >> shr. False when not even the narrowest fit.
 */
static bool set_buckets(struct parts *s, const struct kernel_plan *p)
{
	const uint64_t most = (p->cells - 1) >> 12;

	for (uint32_t k = 14; k > 0; k--) {
		uint64_t mul;
		if (4ull * spread_words(4096 * k + 1) > p->shared_most - STATIC_SHARED)
			continue;
		for (s->shr = 0;; s->shr++) {
			mul = (((uint64_t)1 << s->shr) + k - 1) / k;
			if (most * (mul * k - ((uint64_t)1 << s->shr)) < (uint64_t)1 << s->shr)
				break;
		}
		s->mul = (uint32_t)mul;
		s->width = 4096 * k;
		s->buckets = (p->cells + s->width - 1) / s->width;
		if (most * mul >> 32 == 0)
			return true;
	}
	return false;
}

int parts_lay_out(struct parts *s, const struct kernel_plan *p, size_t n)
{
	const uint32_t per = p->sample == 3 ? 16 : 16 / p->sample;
	uint32_t tile = TILE;

	*s = (struct parts){.copies = 32};
	if (!set_buckets(s, p))
		return -1;
	while (s->copies > 1 && s->buckets * s->copies > 2048)
		s->copies /= 2;
	s->gap = s->copies > 1 ? 2 : 0;
	while (tile > 4096 && tile > n / p->sms) /* at least a tile for each block */
		tile /= 2;
	for (;; tile -= 1024) {
		if (tile < 1024)
			return -1;
		/*
		 * 31 samples at the edges; for each bucket that has samples its gaps, and up to 7
		 * entries to the next uint4
		 */
		const uint32_t most = tile + 31, filled = s->buckets < most ? s->buckets : most;
		s->room = (most + filled * (s->copies * s->gap + 7) + 7) / 8;
		if (s->room < 65536 && parts_split_shared(s) <= p->shared_most)
			break;
	}
	s->tile_vecs = tile / per;
	s->tiles = (uint32_t)(n / per / s->tile_vecs) + 1;
	const uint32_t part = (tile / s->buckets + s->gap * s->copies + 4) / 8;
	for (s->lanes = 2; s->lanes < 32 && s->lanes * 2 <= part;)
		s->lanes *= 2;
	s->unit = (uint32_t)(n / (4 * p->sms));
	if (s->unit < 2 * s->width)
		s->unit = 2 * s->width;
	s->units_max = s->buckets + (uint32_t)(n / s->unit) + 1;
	return 0;
}

size_t parts_place(struct parts_memory *m, const struct parts *s, CUdeviceptr at)
{
	const size_t sizes[] = {16 * (size_t)s->tiles * s->room,
				2 * (size_t)(s->buckets + 1) * s->tiles, 4 * (size_t)s->buckets,
				16 * (size_t)s->units_max, 8};
	CUdeviceptr *const to[] = {&m->codes, &m->start, &m->total, &m->units, &m->count};
	size_t used = 0;

	for (int i = 0; i < 5; i++) {
		*to[i] = at + used;
		used += (sizes[i] + 255) / 256 * 256;
	}
	return used;
}
