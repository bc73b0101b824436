/* SPDX-License-Identifier: MIT */
/* digest: tables of cells, adding them, and their memory. */
#include "count/digest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/minmax.h"

#define BLOCKS(rule) (((rule)->indices + DIGEST_BLOCK - 1) / DIGEST_BLOCK)
#define CELLS(rule) ((size_t)BLOCKS(rule) * DIGEST_BLOCK)
/* A byte of `touched`: the block is in use; narrow holds counts of it, too */
#define USED 1u
#define CARRIED 2u

struct digest_rule digest_rule(const struct sample_type *type, uint32_t digits)
{
	const uint32_t sign = type->kind != SAMPLE_UNSIGNED;
	struct digest_rule rule = {
		.real = type->kind == SAMPLE_FLOAT,
		.digits = digits,
		.bias = type->kind == SAMPLE_SIGNED ? (uint64_t)1 << (type->bits - 1) : 0,
	};

	if (type->code_bytes <= 2) {
		rule.digits = 16;
		rule.zero = sign << (type->bits - 1);
		rule.indices = 1u << type->bits;
		return rule;
	}
	rule.few = digits == DIGEST_FINE && type->bits > 16 ? DIGEST_FEW : 0;
	rule.shift = rule.real ? type->mantissa - digits : 0;
	const uint32_t half = rule.real
				      ? (uint32_t)(((uint64_t)1 << (type->bits - 1)) >> rule.shift)
				      : (type->bits - sign - digits + 1) << digits;
	rule.zero = sign ? half : 0;
	rule.indices = rule.zero + half;
	return rule;
}

/* ---- memory ---- */

/* The bytes before the list. */
static uint64_t cells_bytes(const struct digest_rule *rule, bool wide)
{
	const uint64_t blocks = BLOCKS(rule), size = wide ? sizeof(uint64_t) : sizeof(uint32_t) + 1;

	/* The bytes of `touched` are whole words, and so are the tables. */
	return round_up(blocks * DIGEST_BLOCK * size + round_up(blocks, 8), PAGE);
}

uint64_t digest_bytes(const struct digest_rule *rule, bool wide)
{
	return cells_bytes(rule, wide) + rule->few * sizeof(uint64_t);
}

int digest_open(struct digest *d, const struct digest_rule *rule, bool wide)
{
	unsigned char *const p = mmap(NULL, digest_bytes(rule, wide), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*d = (struct digest){.rule = *rule};
	if (p == MAP_FAILED)
		return -1;
	/* A huge page would hold many blocks that are never used. */
	(void)madvise(p, digest_bytes(rule, wide), MADV_NOHUGEPAGE);
	if (wide)
		d->wide = (uint64_t *)(void *)p;
	else
		d->narrow = (uint32_t *)(void *)p;
	d->touched = p + CELLS(rule) * (wide ? sizeof(*d->wide) : sizeof(*d->narrow) + 1);
	d->value = (uint64_t *)(void *)(p + cells_bytes(rule, wide));
	d->lists = rule->few > 0;
	return 0;
}

void digest_use_bytes(struct digest *d)
{
	d->low = (unsigned char *)(d->narrow + CELLS(&d->rule));
}

static void *table_of(const struct digest *d)
{
	return d->wide ? (void *)d->wide : (void *)d->narrow;
}

void digest_uncharge(struct digest *d)
{
	if (d->memory)
		__atomic_fetch_sub(&d->memory->used, d->charged, __ATOMIC_RELAXED);
	d->memory = NULL;
	d->charged = 0;
}

void digest_close(struct digest *d)
{
	if (!d->touched)
		return;
	digest_uncharge(d);
	munmap(table_of(d), digest_bytes(&d->rule, d->wide));
	*d = (struct digest){.touched = NULL};
}

bool digest_charge(struct digest *d)
{
	uint64_t used = 0, pages = round_up(d->listed * sizeof(*d->value), PAGE) / PAGE;

	if (!d->touched || !d->memory)
		return true;
	/* Four blocks of wide counts fill a page, eight of narrow ones, and 32 of bytes. */
	for (size_t i = 0; i < BLOCKS(&d->rule); i += 8) {
		uint64_t word;
		memcpy(&word, d->touched + i, sizeof(word));
		used = (i % 32 > 0 ? used : 0) | word;
		pages += d->low && used != 0 && (i % 32 == 24 || i + 8 >= BLOCKS(&d->rule));
		word = d->low ? word & CARRIED * (UINT64_MAX / UINT8_MAX) : word;
		pages += d->wide ? (uint32_t)word != 0 : word != 0;
		pages += d->wide && word >> 32 != 0;
	}
	const uint64_t more = pages * PAGE - d->charged;
	d->charged = pages * PAGE;
	return __atomic_add_fetch(&d->memory->used, more, __ATOMIC_RELAXED) <= d->memory->most;
}

void digest_shrink(struct digest *d)
{
	if (d->touched)
		(void)madvise(table_of(d), digest_bytes(&d->rule, d->wide), MADV_DONTNEED);
	(void)digest_charge(d);
}

void digest_clear(struct digest *d)
{
	for (size_t i = 0; d->touched && i < BLOCKS(&d->rule); i++) {
		const unsigned touched = d->touched[i];
		if (!touched)
			continue;
		d->touched[i] = 0;
		if (d->low)
			memset(d->low + i * DIGEST_BLOCK, 0, DIGEST_BLOCK);
		if (d->wide)
			memset(d->wide + i * DIGEST_BLOCK, 0, DIGEST_BLOCK * sizeof(*d->wide));
		else if (!d->low || touched & CARRIED)
			memset(d->narrow + i * DIGEST_BLOCK, 0, DIGEST_BLOCK * sizeof(*d->narrow));
	}
	d->pending = 0;
	d->listed = 0;
	d->lists = d->touched && d->rule.few > 0;
}

/* ---- counts ---- */

/*
 * Note the first sample of a block. Write before anything reads here: a page that is read first is
 * mapped twice, and the second time interrupts all threads.
 */
static void touch_block(struct digest *d, uint32_t index)
{
	d->touched[index / DIGEST_BLOCK] = USED;
	if (d->low)
		*(volatile unsigned char *)&d->low[index] = 0;
	else if (d->narrow)
		*(volatile uint32_t *)&d->narrow[index] = 0;
}

/* Add counts that a byte cannot hold. */
static void carry_byte(struct digest *d, uint32_t index, uint64_t n)
{
	unsigned char *const touched = &d->touched[index / DIGEST_BLOCK];

	if (!(*touched & CARRIED))
		*(volatile uint32_t *)&d->narrow[index] = 0;
	*touched |= CARRIED;
	d->narrow[index] += (uint32_t)n;
}

static void count_bytes(struct digest *d, const uint32_t *indices, size_t n)
{
	const unsigned char *const touched = d->touched;
	unsigned char *const low = d->low;

	for (size_t i = 0; i < n; i++) {
		const uint32_t index = indices[i];
		if (__builtin_expect(!touched[index / DIGEST_BLOCK], 0))
			touch_block(d, index);
		if (__builtin_expect(++low[index] == 0, 0))
			carry_byte(d, index, UINT8_MAX + 1);
	}
}

void digest_count(struct digest *d, const uint32_t *indices, size_t n)
{
	const unsigned char *const touched = d->touched;
	uint32_t *const narrow = d->narrow;

	d->pending += n;
	if (d->low) {
		count_bytes(d, indices, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t index = indices[i];
		if (__builtin_expect(!touched[index / DIGEST_BLOCK], 0))
			touch_block(d, index);
		if (narrow)
			narrow[index]++;
		else
			d->wide[index]++;
	}
}

bool digest_list(struct digest *d, const uint64_t *keys, size_t n)
{
	if (n > d->rule.few - d->listed)
		return false;
	memcpy(d->value + d->listed, keys, n * sizeof(*keys));
	d->listed += (uint32_t)n;
	return true;
}

/* The cell of a key. */
static int64_t cell_of_key(const struct digest_rule *rule, uint64_t key)
{
	const uint64_t half = (uint64_t)rule->zero << rule->shift;
	const int64_t value = (int64_t)(key - rule->bias);

	if (rule->real) {
		const int64_t rank =
			key >= half ? (int64_t)(key - half) : -(int64_t)(half - 1 - key);
		return rank >> rule->shift;
	}
	if (rule->bias == 0)
		return digest_of_whole(key, rule->digits);
	return value < 0 ? ~digest_of_whole((uint64_t)~value, rule->digits)
			 : digest_of_whole((uint64_t)value, rule->digits);
}

void digest_add(struct digest *d, int64_t cell, uint64_t n)
{
	const uint32_t index = (uint32_t)(cell + d->rule.zero);

	if (n == 0)
		return;
	if (!d->touched[index / DIGEST_BLOCK])
		touch_block(d, index);
	if (d->low) {
		n += d->low[index];
		d->low[index] = (unsigned char)n;
		if (n > UINT8_MAX)
			carry_byte(d, index, n - n % (UINT8_MAX + 1));
	} else if (d->wide)
		d->wide[index] += n;
	else
		d->narrow[index] += (uint32_t)n;
}

void digest_spill(struct digest *d)
{
	for (uint32_t i = 0; i < d->listed; i++)
		digest_add(d, cell_of_key(&d->rule, d->value[i]), 1);
	if (d->listed > 0)
		(void)madvise(d->value, d->rule.few * sizeof(*d->value), MADV_DONTNEED);
	d->listed = 0;
	d->lists = false;
}

/* A count whose lower 8 bits are in `low`. */
static uint64_t sum_of_bytes(const struct digest *d, uint32_t index)
{
	const bool carried = d->touched[index / DIGEST_BLOCK] & CARRIED;

	return d->low[index] + (carried ? (uint64_t)d->narrow[index] : 0);
}

bool digest_next(const struct digest *d, uint32_t *index, uint64_t *count)
{
	uint32_t i = *index;

	if (d->lists) {
		const uint32_t first = i;
		if (i >= d->listed)
			return false;
		while (i + 1 < d->listed && d->value[i + 1] == d->value[i])
			i++;
		*count = i - first + 1;
		*index = i;
		return true;
	}
	while (i < d->rule.indices) {
		if (!d->touched[i / DIGEST_BLOCK]) {
			i = (i / DIGEST_BLOCK + 1) * DIGEST_BLOCK;
			continue;
		}
		*count = d->wide ? d->wide[i] : !d->low ? d->narrow[i] : sum_of_bytes(d, i);
		*index = i;
		if (*count > 0)
			return true;
		i++;
	}
	return false;
}

uint64_t digest_sum(const struct digest *d)
{
	uint64_t count, sum = 0;

	for (uint32_t i = 0; digest_next(d, &i, &count); i++)
		sum += count;
	return sum;
}

uint64_t digest_word(const struct digest_rule *rule, uint32_t index)
{
	const int64_t cell = digest_cell(rule, index);
	const uint64_t half = (uint64_t)rule->zero << rule->shift;
	uint64_t values;

	/* Cell 0 must not give 0, nor the cell of the lowest number -inf: take another rank. */
	if (rule->real)
		return cell < 0    ? half | (uint64_t)(-cell - 1) << rule->shift | 1
		       : cell == 0 ? 1
				   : (uint64_t)cell << rule->shift;
	const uint64_t own = digest_first(rule, cell, &values);
	return ((cell < 0 ? ~own : own) + rule->bias) ^ rule->bias;
}

/* The cell of a rule with fewer digits that contains this cell. */
static int64_t digest_coarser(const struct digest_rule *from, int64_t cell, uint32_t digits)
{
	const int64_t own = cell < 0 ? ~cell : cell;
	uint64_t values;

	if (from->real)
		return cell >> (from->digits - digits); /* rounds down below 0 too */
	const int64_t coarser = digest_of_whole(digest_first(from, own, &values), digits);
	return cell < 0 ? ~coarser : coarser;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *const x = a, *const y = b;

	return (*x > *y) - (*x < *y);
}

void digest_merge(struct digest *to, const struct digest *from)
{
	uint64_t count;

	if (to->lists && from->lists && digest_list(to, from->value, from->listed)) {
		qsort(to->value, to->listed, sizeof(*to->value), by_value);
		return;
	}
	if (to->lists && from->touched)
		digest_spill(to);
	for (uint32_t i = 0; i < from->listed; i++)
		digest_add(to, cell_of_key(&to->rule, from->value[i]), 1);
	for (uint32_t i = 0; from->touched && !from->lists && digest_next(from, &i, &count); i++) {
		const int64_t cell = digest_cell(&from->rule, i);
		digest_add(to,
			   from->rule.digits == to->rule.digits
				   ? cell
				   : digest_coarser(&from->rule, cell, to->rule.digits),
			   count);
	}
}
