/* SPDX-License-Identifier: MIT */
/* text_keys: tables of texts with open addressing. */
#include "text/text_keys.h"

#include <stdlib.h>

#define BITS_LEAST 8u    /* 256 slots, 12 KiB */
#define MALLOC_BYTES 16u /* bytes that malloc adds to each text */

static struct text_slots *slots_new(unsigned bits)
{
	const size_t n = (size_t)1 << bits;
	struct text_slots *const s = calloc(1, sizeof(*s) + n * sizeof(s->slot[0]));

	if (s)
		s->bits = bits;
	return s;
}

struct text_keys *text_keys_new(void)
{
	struct text_keys *const k = calloc(1, sizeof(*k));

	if (!k || !(k->slots = slots_new(BITS_LEAST))) {
		free(k);
		return NULL;
	}
	k->most = UINT64_MAX;
	lock_init(&k->lock, LOCK_LAST);
	return k;
}

void text_keys_free(struct text_keys *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->n; i++)
		free(k->name[i]);
	for (struct text_slots *s; (s = k->slots) != NULL;) {
		k->slots = s->older;
		free(s);
	}
	lock_destroy(&k->lock);
	free(k);
}

/* Copy the keys to a table with twice as many slots. False: no memory. */
static bool keys_grow(struct text_keys *k)
{
	struct text_slots *const old = k->slots, *const s = slots_new(old->bits + 1);
	uint32_t place;

	if (!s)
		return false;
	s->older = old;
	for (size_t i = 0; i < (size_t)1 << old->bits; i++) {
		const struct text_key *const key = &old->slot[i];
		if (key->place > 0)
			*text_keys_slot(s, key->text, key->length, &place) = *key;
	}
	__atomic_store_n(&k->slots, s, __ATOMIC_RELEASE);
	return true;
}

/* Insert a key. Return its number, or why it has none. */
static uint32_t keys_insert(struct text_keys *k, const char *text, size_t length)
{
	const uint64_t bytes = length + TEXT_KEYS_PAD + MALLOC_BYTES;
	uint32_t place;

	if (k->n == KEYS_MOST)
		return KEYS_TEXT_MANY;
	if (k->used + bytes > k->most)
		return KEYS_TEXT_LOST;
	char *const copy = malloc(length + TEXT_KEYS_PAD);
	if (!copy || (k->n >> (k->slots->bits - 1) && !keys_grow(k))) {
		free(copy);
		return KEYS_TEXT_OUT;
	}
	k->used += bytes;
	memcpy(copy, text, length);
	copy[length] = '\0';
	k->name[k->n++] = copy;
	struct text_key *const key = text_keys_slot(k->slots, text, length, &place);
	key->first = text_piece_at(text, length);
	key->length = (uint32_t)length;
	key->text = copy;
	__atomic_store_n(&key->place, k->n, __ATOMIC_RELEASE);
	return k->n - 1;
}

uint32_t text_keys_insert(struct text_keys *k, const char *text, size_t length)
{
	uint32_t place;

	if (length > TEXT_KEY_MOST || memchr(text, '\0', length))
		return TEXT_KEYS_BAD;
	lock_take(&k->lock);
	text_keys_slot(k->slots, text, length, &place);
	const uint32_t number = place > 0 ? place - 1 : keys_insert(k, text, length);
	lock_drop(&k->lock);
	return number;
}
