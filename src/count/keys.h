/* SPDX-License-Identifier: MIT */
/*
 * keys: the values of --by. Each has an index: the number of keys that were inserted before it.
 *
 * All workers share one table of keys, into which keys are only inserted. Looking one up takes no
 * lock, inserting one does. The index of a key is also the index of its counters, and of its
 * statistics if there are any. These are made with the key, and a worker that adds a block of
 * samples to them holds a lock that some keys share.
 */
#ifndef GPUHIST_KEYS_H
#define GPUHIST_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/lock.h"
#include "bins/sample.h"
#include "count/stats.h"

#define KEYS_MOST 65536u
#define KEYS_CELLS_MOST ((uint32_t)1 << 28) /* bins of all keys together */
#define KEYS_OWN 65536u                     /* keys below it are not hashed */
#define KEYS_LOCKS 64u

/* The place of the key in a record: an unsigned integer of 1, 2 or 4 bytes; 0: no keys. */
struct key_place {
	uint32_t offset, bytes;
	bool big;
	bool text; /* it is the number of a text; KEYS_MOST or more: why the text has none */
};

/* Why a text has no number: too many keys, out of memory, texts beyond texts_most. */
enum { KEYS_TEXT_MANY = KEYS_MOST, KEYS_TEXT_OUT, KEYS_TEXT_LOST };

struct keys {
	struct key_place place;
	uint32_t most;    /* limit of the number of keys */
	uint64_t *slot;   /* key | (index + 1) << 32, or 0; atomic; owned */
	uint32_t *key;    /* the key of each index; owned */
	uint32_t n;       /* number of keys; atomic */
	bool many;        /* there are more than `most`; atomic */
	bool lost;        /* statistics need more than memory.most; atomic */
	bool out;         /* there was no memory for the statistics of a key; atomic */
	uint32_t no_text; /* why a text is no key, KEYS_TEXT_MANY or greater; 0: all are; atomic */
	uint64_t texts_most; /* limit in bytes of the texts of keys, for the message */
	struct lock lock;    /* held while a key is inserted */

	/* --stats */
	struct sample_type counted;  /* the type of the statistics */
	uint32_t digits;             /* of their digests */
	struct stats **stats;        /* of each index; owned; NULL: none */
	struct digest_memory memory; /* their limit and their memory */
	struct lock locks[KEYS_LOCKS];
};

/* The most keys for this number of bins. */
uint32_t keys_most(uint32_t bins);
/* Say that there are more (STATUS_LIMIT). */
int keys_refuse(uint32_t most, struct fail *fail);

/* -1: no memory; the caller calls keys_free anyway. */
int keys_open(struct keys *k, const struct key_place *place, uint32_t bins, struct fail *fail);

/* The digits of the digests of keys. */
uint32_t keys_digits(const struct sample_type *counted);
/* Do the statistics of keys hold the number of each code? */
bool keys_hold_codes(const struct sample_type *type);

/* Keep statistics of samples that are counted as this type, in up to `memory` bytes. */
int keys_keep_stats(struct keys *k, const struct sample_type *counted, uint64_t memory,
		    struct fail *fail);

void keys_free(struct keys *k); /* accepts {0} */

/* Set index[i] to the index of the key of record i; 0 if it could not be inserted (keys_check). */
void keys_find(struct keys *k, uint32_t *index, const unsigned char *records, size_t n,
	       size_t record);

/* The index of a key below KEYS_OWN; KEYS_UNKNOWN: it must be inserted, by keys_find. */
#define KEYS_UNKNOWN UINT32_MAX
static inline uint32_t keys_known(const uint64_t *slots, uint32_t key)
{
	return (uint32_t)(__atomic_load_n(&slots[key], __ATOMIC_ACQUIRE) >> 32) - 1;
}

/* Add n samples, as they lie in memory, to the statistics of a key. */
void keys_add_stats(struct keys *k, uint32_t index, const unsigned char *samples, size_t n);

/* -1: there are too many keys, or no memory for their statistics. Any thread. */
int keys_check(const struct keys *k, struct fail *fail);

#endif
