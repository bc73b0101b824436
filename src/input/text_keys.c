/* SPDX-License-Identifier: MIT */
/* text_keys: tables of texts with open addressing. */
#include "input/text_keys.h"

#include <stdlib.h>

#define BITS_LEAST 8u /* 256 slots, 12 KiB */

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
static bool grow(struct text_keys *k)
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

/* Insert a key. Return its place; one too many: it has none, or there is no memory. */
static uint32_t insert(struct text_keys *k, const char *text, size_t length)
{
	uint32_t place;

	if (k->n == TEXT_KEYS_MOST)
		return TEXT_KEYS_MOST + 1;
	char *const copy = malloc(length + TEXT_KEYS_PAD);
	if (!copy || (k->n >> (k->slots->bits - 1) && !grow(k))) {
		k->lost = true;
		free(copy);
		return TEXT_KEYS_MOST + 1;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	k->name[k->n++] = copy;
	struct text_key *const key = text_keys_slot(k->slots, text, length, &place);
	key->first = text_piece_at(text, length);
	key->length = (uint32_t)length;
	key->text = copy;
	__atomic_store_n(&key->place, k->n, __ATOMIC_RELEASE);
	return k->n;
}

uint32_t text_keys_lose(struct text_keys *k)
{
	lock_take(&k->lock);
	k->lost = true;
	lock_drop(&k->lock);
	return TEXT_KEYS_MOST;
}

uint32_t text_keys_insert(struct text_keys *k, const char *text, size_t length)
{
	uint32_t place;

	if (memchr(text, '\0', length))
		return TEXT_KEYS_BAD;
	lock_take(&k->lock);
	text_keys_slot(k->slots, text, length, &place);
	if (place == 0)
		place = insert(k, text, length);
	lock_drop(&k->lock);
	return place - 1;
}
