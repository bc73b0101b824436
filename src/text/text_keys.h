/* SPDX-License-Identifier: MIT */
/*
 * text_keys: numbers for the keys of text (--by=COLUMN), in the order in which they come.
 *
 * All readers share one table, into which keys are only inserted. Looking a key up takes no lock,
 * inserting one does. A slot holds the first bytes of its key, and the table has only two to four
 * slots for each key, so that hundreds of keys stay in L1. When it is full, it is copied to a
 * larger one; the old one stays, because others may be reading it. They miss only keys that are
 * newer, and look for those again with the lock.
 */
#ifndef GPUHIST_INPUT_TEXT_KEYS_H
#define GPUHIST_INPUT_TEXT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/little.h"
#include "base/lock.h"
#include "bins/wide.h"
#include "count/keys.h"

#define TEXT_KEY_MOST ((size_t)4096) /* bytes of the longest key */
#define TEXT_KEYS_BAD UINT32_MAX     /* number of a text that cannot be a key */
#define TEXT_KEYS_PIECE ((size_t)32) /* bytes of a key that are compared together */
#define TEXT_KEYS_PAD ((size_t)32)   /* bytes after a key that may be read */

/* Up to TEXT_KEYS_PIECE bytes of a text, with zeros after its end. */
struct text_piece {
	uint64_t word[4];
};

struct text_key {
	struct text_piece first;
	uint32_t length;
	uint32_t place;   /* its number + 1; 0: the slot is free; atomic */
	const char *text; /* borrowed */
};

struct text_slots {
	struct text_slots *older; /* owned */
	unsigned bits;            /* there are 2^bits slots */
	struct text_key slot[];
};

struct text_keys {
	struct text_slots *slots; /* the newest ones; owned; atomic */
	struct lock lock;         /* held while a key is inserted */
	uint32_t n;               /* number of keys */
	uint64_t most;            /* limit in bytes of the texts; set before the first key */
	uint64_t used;            /* bytes of the texts */
	char *name[KEYS_MOST];    /* the text of each key, by its number; owned */
};

struct text_keys *text_keys_new(void);    /* without a limit; NULL: no memory */
void text_keys_free(struct text_keys *k); /* accepts NULL */

/*
 * Insert a key that was not found, unless it has been inserted since. Return its number, or why it
 * has none (count/keys.h). A text with a NUL byte is no key, as names end at the first one; nor is
 * one of more than TEXT_KEY_MOST bytes.
 */
uint32_t text_keys_insert(struct text_keys *k, const char *text, size_t length);

static inline struct text_piece text_piece_at(const char *p, size_t left)
{
	/* A mask for the first n bytes of a piece begins n bytes before the zeros. */
	static const unsigned char MASK[2 * TEXT_KEYS_PIECE] = {
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	};
	const unsigned char *const mask =
		MASK + TEXT_KEYS_PIECE - (left < TEXT_KEYS_PIECE ? left : TEXT_KEYS_PIECE);
	struct text_piece piece;

	for (size_t i = 0; i < 4; i++)
		piece.word[i] = little64((const unsigned char *)p + 8 * i) & little64(mask + 8 * i);
	return piece;
}

/* Each bit of the text changes only the bits above it, so the highest bits select the slot. */
static inline uint64_t text_piece_hash(const struct text_piece *p)
{
	return p->word[0] * 0x9e3779b97f4a7c15 + p->word[1] * 0xd1b54a32d192ed03 +
	       p->word[2] * 0xa24baed4963ee407 + p->word[3] * 0x9fb21c651e98df25;
}

static inline bool text_key_is(const struct text_key *key, const struct text_piece *first,
			       const char *text, size_t length)
{
	uint64_t other = key->length ^ length;

	for (size_t i = 0; i < 4; i++)
		other |= key->first.word[i] ^ first->word[i];
	return other == 0 && (length <= TEXT_KEYS_PIECE ||
			      memcmp(key->text + TEXT_KEYS_PIECE, text + TEXT_KEYS_PIECE,
				     length - TEXT_KEYS_PIECE) == 0);
}

/* Find the slot of a key, or the free one where it belongs, and what its place was then. */
static inline struct text_key *text_keys_slot(struct text_slots *s, const char *text, size_t length,
					      uint32_t *place)
{
	const struct text_piece first = text_piece_at(text, length);
	const size_t last = ((size_t)1 << s->bits) - 1;
	uint64_t hash = text_piece_hash(&first);

	for (size_t i = TEXT_KEYS_PIECE; i < length; i += TEXT_KEYS_PIECE) {
		const struct text_piece next = text_piece_at(text + i, length - i);
		hash = hash * 0x9e3779b97f4a7c15 + text_piece_hash(&next);
	}
	for (size_t at = hash >> (64 - s->bits);; at = (at + 1) & last) {
		struct text_key *const key = &s->slot[at];
		*place = __atomic_load_n(&key->place, __ATOMIC_ACQUIRE);
		if (*place == 0 || text_key_is(key, &first, text, length))
			return key;
	}
}

/* The number of a key, or of none, as text_keys_insert returns it. */
static inline uint32_t text_keys_number(struct text_keys *k, const char *text, size_t length)
{
	uint32_t place;

	text_keys_slot(__atomic_load_n(&k->slots, __ATOMIC_ACQUIRE), text, length, &place);
	return place > 0 ? place - 1 : text_keys_insert(k, text, length);
}

#endif
