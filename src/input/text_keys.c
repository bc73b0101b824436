/* SPDX-License-Identifier: MIT */
/* text_keys: a table of texts with open addressing. */
#include "input/text_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/lock.h"

#define MOST 65536u
#define SLOTS (2 * MOST)

struct key {
	uint32_t hash, number;
	size_t length;
	char text[];
};

struct text_keys {
	struct lock lock;
	uint32_t n;
	struct key *slot[SLOTS]; /* NULL: free; atomic */
	char *name[MOST];
};

struct text_keys *text_keys_new(void)
{
	struct text_keys *const k = calloc(1, sizeof(*k));

	if (k)
		lock_init(&k->lock, LOCK_LAST);
	return k;
}

void text_keys_free(struct text_keys *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < SLOTS; i++)
		free(k->slot[i]);
	lock_destroy(&k->lock);
	free(k);
}

char *const *text_keys_names(const struct text_keys *k)
{
	return k->name;
}

static uint32_t hash_of(const char *text, size_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 32);
}

/* Find the slot of a key, or the free one where it belongs. */
static struct key **find(struct text_keys *k, const char *text, size_t length, uint32_t hash)
{
	for (uint32_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
		const struct key *const key = __atomic_load_n(&k->slot[at], __ATOMIC_ACQUIRE);
		if (!key || (key->hash == hash && key->length == length &&
			     memcmp(key->text, text, length) == 0))
			return &k->slot[at];
	}
}

static uint32_t insert(struct text_keys *k, const char *text, size_t length, uint32_t hash)
{
	struct key *const made = malloc(sizeof(*made) + length + 1);
	uint32_t number = MOST;

	lock_take(&k->lock);
	struct key **const slot = find(k, text, length, hash);
	if (*slot) {
		number = (*slot)->number;
		free(made);
	} else if (!made || k->n == MOST) {
		free(made);
	} else {
		*made = (struct key){hash, number = k->n, length};
		memcpy(made->text, text, length);
		made->text[length] = '\0';
		k->name[k->n++] = made->text;
		__atomic_store_n(slot, made, __ATOMIC_RELEASE);
	}
	lock_drop(&k->lock);
	return number;
}

uint32_t text_keys_number(struct text_keys *k, const char *text, size_t length)
{
	const uint32_t hash = hash_of(text, length);
	const struct key *const key =
		__atomic_load_n(find(k, text, length, hash), __ATOMIC_ACQUIRE);

	return key ? key->number : insert(k, text, length, hash);
}
