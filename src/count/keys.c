/* SPDX-License-Identifier: MIT */
/* keys: a table with open addressing, and the statistics of each key. */
#include "count/keys.h"

#include <errno.h>
#include <stdlib.h>

#include "base/little.h"

#define HASH_BITS 17u /* twice as many slots as keys, so that a free one is near */
#define KEYS_SLOTS (KEYS_OWN + (1u << HASH_BITS))

uint32_t keys_most(uint32_t bins)
{
	const uint32_t fit = KEYS_CELLS_MOST / (bins > 0 ? bins : 1);

	return fit < KEYS_MOST ? fit : KEYS_MOST;
}

int keys_refuse(uint32_t most, struct fail *fail)
{
	if (most < KEYS_MOST)
		return fail_set(fail, STATUS_LIMIT,
				"--by found more than %lu keys; keys times bins must be at most "
				"2^28, so use fewer bins",
				(unsigned long)most);
	return fail_set(fail, STATUS_LIMIT,
			"--by found more than %lu keys, the most that there may be",
			(unsigned long)most);
}

int keys_open(struct keys *k, const struct key_place *place, uint32_t bins, struct fail *fail)
{
	*k = (struct keys){.place = *place, .most = keys_most(bins)};
	lock_init(&k->lock, LOCK_LAST);
	for (size_t i = 0; i < KEYS_LOCKS; i++)
		lock_init(&k->locks[i], LOCK_LAST);
	k->slot = calloc(KEYS_SLOTS, sizeof(*k->slot));
	k->key = calloc(KEYS_MOST, sizeof(*k->key));
	return k->slot && k->key ? 0 : fail_errno(fail, "--by");
}

/* Cells of small integers are values. */
uint32_t keys_digits(const struct sample_type *counted)
{
	const bool small = counted->bits <= 16 && counted->kind != SAMPLE_FLOAT;

	return small ? counted->bits - (counted->kind == SAMPLE_SIGNED) : DIGEST_ROUGH;
}

bool keys_hold_codes(const struct sample_type *type)
{
	return type->code_bytes <= 2 &&
	       (type->kind != SAMPLE_FLOAT || type->mantissa <= DIGEST_ROUGH);
}

int keys_keep_stats(struct keys *k, const struct sample_type *counted, uint64_t memory,
		    struct fail *fail)
{
	k->counted = *counted;
	k->digits = keys_digits(counted);
	k->memory.most = memory;
	k->stats = calloc(k->most, sizeof(*k->stats));
	return k->stats ? 0 : fail_errno(fail, "--by");
}

void keys_free(struct keys *k)
{
	if (!k->slot && !k->key)
		return;
	for (uint32_t i = 0; k->stats && i < k->n; i++)
		stats_close(k->stats[i], 1);
	for (size_t i = 0; i < KEYS_LOCKS; i++)
		lock_destroy(&k->locks[i]);
	lock_destroy(&k->lock);
	free(k->stats);
	free(k->slot);
	free(k->key);
}

/* ---- finding keys ---- */

/* Keys below KEYS_OWN have slots of their own, so that neighbouring keys share cache lines. */
static inline uint32_t key_slot_of(uint32_t key)
{
	return key < KEYS_OWN ? key : KEYS_OWN + (key * UINT32_C(0x9e3779b1) >> (32 - HASH_BITS));
}

static inline uint32_t slot_after(uint32_t at)
{
	return at + 1 < KEYS_SLOTS ? at + 1 : KEYS_OWN;
}

/*
 * Make the statistics of a new key, if they fit the memory. Charge their initial size at once: a
 * block of records may hold thousands of new keys, and a later check would come too late.
 */
static void open_stats(struct keys *k, uint32_t index)
{
	const uint64_t bytes = stats_bytes(&k->counted);
	bool fits = __atomic_add_fetch(&k->memory.used, bytes, __ATOMIC_RELAXED) <= k->memory.most;

	if (fits) {
		struct stats *const s = k->stats[index] = stats_open(&k->counted, 1);
		fits = s && stats_keep_digest(s, 1, k->digits, true, &k->memory) == 0;
		__atomic_store_n(&k->out, !fits, __ATOMIC_RELAXED);
	}
	if (!fits)
		__atomic_store_n(&k->lost, true, __ATOMIC_RELAXED);
}

/* Insert a key, unless another thread has, and return its index. */
static uint32_t key_insert(struct keys *k, uint32_t key)
{
	uint32_t at = key_slot_of(key), index = 0;

	if (k->place.text && key >= KEYS_MOST) {
		__atomic_store_n(&k->no_text, key, __ATOMIC_RELAXED);
		return 0;
	}
	lock_take(&k->lock);
	while (k->slot[at] != 0 && (uint32_t)k->slot[at] != key)
		at = slot_after(at);
	if (k->slot[at] != 0) {
		index = (uint32_t)(k->slot[at] >> 32) - 1;
	} else if (__atomic_load_n(&k->lost, __ATOMIC_RELAXED)) {
		index = 0; /* the run fails */
	} else if (k->n == k->most) {
		__atomic_store_n(&k->many, true, __ATOMIC_RELAXED);
	} else {
		index = k->n;
		k->key[index] = key;
		if (k->stats)
			open_stats(k, index);
		__atomic_store_n(&k->n, index + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&k->slot[at], (uint64_t)(index + 1) << 32 | key, __ATOMIC_RELEASE);
	}
	lock_drop(&k->lock);
	return index;
}

static inline uint32_t key_find(struct keys *k, uint32_t key)
{
	for (uint32_t at = key_slot_of(key);; at = slot_after(at)) {
		const uint64_t slot = __atomic_load_n(&k->slot[at], __ATOMIC_ACQUIRE);
		if (__builtin_expect(slot == 0, 0))
			return key_insert(k, key);
		if (__builtin_expect((uint32_t)slot == key, 1))
			return (uint32_t)(slot >> 32) - 1;
	}
}

void keys_find(struct keys *k, uint32_t *index, const unsigned char *records, size_t n,
	       size_t record)
{
	const unsigned char *p = records + k->place.offset;
	const bool big = k->place.big;

#define KNOWN(bytes_)                                                             \
	for (size_t i = 0; k->place.bytes == (bytes_) && i < n; i++, p += record) \
	index[i] = key_find(k, (bytes_) == 1 ? *p : (uint32_t)word_at(p, bytes_, big))
	KNOWN(1);
	KNOWN(2);
	KNOWN(4);
#undef KNOWN
}

/* ---- statistics ---- */

void keys_add_stats(struct keys *k, uint32_t index, const unsigned char *samples, size_t n)
{
	struct lock *const lock = &k->locks[index % KEYS_LOCKS];
	struct stats *const s = k->stats[index];
	bool fits = true;

	if (__atomic_load_n(&k->lost, __ATOMIC_RELAXED))
		return; /* the run fails */
	lock_take(lock);
	stats_add_channels(s, 1, samples, n);
	/* Its pages are counted whenever the samples have doubled. */
	if (s->digest.pending >= s->digest.next) {
		fits = digest_charge(&s->digest);
		s->digest.next = 2 * s->digest.pending;
	}
	lock_drop(lock);
	if (!fits)
		__atomic_store_n(&k->lost, true, __ATOMIC_RELAXED);
}

int keys_check(const struct keys *k, struct fail *fail)
{
	const uint32_t n = __atomic_load_n(&k->n, __ATOMIC_RELAXED),
		       no_text = __atomic_load_n(&k->no_text, __ATOMIC_RELAXED);

	if (__atomic_load_n(&k->many, __ATOMIC_RELAXED) || no_text == KEYS_TEXT_MANY)
		return keys_refuse(k->most, fail);
	if (no_text == KEYS_TEXT_LOST)
		return fail_set(fail, STATUS_LIMIT,
				"the texts of more than %lu keys need more than the %llu bytes "
				"that -M leaves for them; use a larger -M",
				(unsigned long)n, (unsigned long long)k->texts_most);
	if (no_text == KEYS_TEXT_OUT) {
		errno = ENOMEM;
		return fail_errno(fail, "--by");
	}
	if (!__atomic_load_n(&k->lost, __ATOMIC_RELAXED))
		return 0;
	if (__atomic_load_n(&k->out, __ATOMIC_RELAXED))
		return fail_set(fail, STATUS_LIMIT,
				"the system has no memory for the statistics of more than %lu keys "
				"(ulimit -v?)",
				(unsigned long)n);
	const uint64_t used = __atomic_load_n(&k->memory.used, __ATOMIC_RELAXED);
	return fail_set(
		fail, STATUS_LIMIT,
		"the statistics of the first %lu keys need %llu bytes, more than -M leaves for "
		"them; -M %lluM has room for as many again",
		(unsigned long)n, (unsigned long long)used,
		(unsigned long long)(2 * DIGEST_SHARE * used >> 20) + 1);
}
