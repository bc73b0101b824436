/* SPDX-License-Identifier: MIT */
/*
 * unpack_soft: a device that decodes blocks (zstd/unpacker.h), simulated by the cores' decoder and
 * a thread. It is ready only after it was asked a few times ("looks"), is sometimes slow, and fails
 * on request.
 */
#ifndef GPUHIST_UNPACK_SOFT_H
#define GPUHIST_UNPACK_SOFT_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "zstd/block.h"
#include "zstd/unpacker.h"

#ifdef SMALL_JOBS /* a batch has one block, so that small frames have several batches */
#define SOFT_BLOCKS 1
#else
#define SOFT_BLOCKS 3
#endif
#define SOFT_ROOM (SOFT_BLOCKS * ((size_t)FRAME_BLOCK_MAX + 8) + sizeof(struct unpack_orders))

struct soft {
	struct unpacker unpacker;
	unsigned rooms, looks; /* looks left until the device is ready */
	uint64_t state;        /* of the random numbers */
	unsigned lost;         /* number, from 1, of the batch at which it fails; 0: none */
	unsigned wrong;        /* number of the batch that gets a wrong byte; 0: none */
	unsigned refused;      /* number of the batch that it refuses; 0: none */
	bool vanishes;         /* it fails once it has been seen to be ready */
	unsigned starts;       /* number of times that it was started */
	bool never;            /* starting it does not make it ready */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ends, has_failed;
	uint64_t submitted, decoded;
	unsigned order[UNPACKER_ROOMS]; /* the rooms, as they were submitted: a ring */
	struct soft_room {
		unsigned char *bytes;
		enum unpacked state;
		size_t got;
	} room[UNPACKER_ROOMS];
	const struct soft_room *at_work; /* or NULL */
	/* Decoded bytes of all frames; the rest of a frame with a refused block is missing. */
	bool is_refused;
	unsigned char *past;
	size_t past_bytes, past_room;
	struct block_past execution;
};

/* Decode a room's blocks as the device would. False: one is refused. */
static inline bool soft_decode(struct soft *f, struct soft_room *r)
{
	const struct unpack_orders *const o =
		(const struct unpack_orders *)(void *)(r->bytes + SOFT_ROOM - sizeof(*o));
	struct block_coder *const coder = malloc(block_coder_bytes());
	unsigned char *const literals = malloc(FRAME_BLOCK_MAX + BLOCK_SLACK);
	struct sequence *const sequences = malloc(BLOCK_SEQUENCES_MAX * sizeof(*sequences));
	const size_t begin = f->past_bytes;
	bool fine = !f->is_refused || o->batch.begins;

	block_coder_begin(coder);
	if (o->batch.begins)
		block_past_begin(&f->execution, o->batch.window);
	for (uint32_t i = 0; i < o->batch.blocks && fine; i++) {
		const struct unpack_block *const from = &o->block[i];
		struct block b = {.bytes = from->literals,
				  .most = from->most,
				  .literals = from->literals,
				  .sequences = from->sequences,
				  .how = (enum block_literals)from->how,
				  .literals_packed = from->literals_packed,
				  .sequences_packed = from->sequences_packed,
				  .literals_at = r->bytes + from->literals_at,
				  .sequences_at = r->bytes + from->sequences_at};
		const unsigned first = from->tree[0];
		b.tree.bytes = (uint8_t)(1 + (first < 128 ? first : (first - 126) / 2));
		memcpy(b.tree.packed, from->tree, sizeof(b.tree.packed));
		memcpy(b.shares, from->shares, sizeof(b.shares));
		CHECK(from->first < UNPACK_SEQUENCES && from->apart % 16 == 0, "block %u", i);
		fine = (b.sequences == 0 || !block_sequences(coder, &b, sequences)) &&
		       !block_literals(coder, &b, literals);
		CHECK(f->past_bytes + FRAME_BLOCK_MAX <= f->past_room, "the past is too long");
		fine = fine && !block_execute(&b, sequences, literals, &f->execution,
					      f->past + f->past_bytes);
		f->past_bytes += fine ? b.bytes : 0;
	}
	r->got = f->past_bytes - begin;
	if (fine)
		memcpy(r->bytes, f->past + begin, r->got);
	f->is_refused = !fine;
	free(coder);
	free(literals);
	free(sequences);
	return fine;
}

static inline void *soft_main(void *arg)
{
	struct soft *const f = arg;

	pthread_mutex_lock(&f->lock);
	while (!f->ends) {
		struct soft_room *const r = &f->room[f->order[f->decoded % UNPACKER_ROOMS]];
		if (f->submitted == f->decoded || f->has_failed) {
			pthread_cond_wait(&f->changed, &f->lock);
			continue;
		}
		const uint64_t number = f->decoded + 1;
		f->at_work = r;
		pthread_mutex_unlock(&f->lock);
		if (check_random(&f->state) % 4 == 0)
			usleep((useconds_t)(check_random(&f->state) % 3000));
		bool fine = soft_decode(f, r);
		if (number == f->wrong && r->got > 0)
			r->bytes[check_random(&f->state) % r->got] ^= 4;
		pthread_mutex_lock(&f->lock);
		f->at_work = NULL;
		f->has_failed |= number == f->lost;
		r->state = fine && number != f->refused ? UNPACKED_DONE : UNPACKED_REFUSED;
		f->decoded++;
		pthread_cond_broadcast(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static inline unsigned soft_rooms(void *arg, size_t *bytes)
{
	struct soft *const f = arg;

	pthread_mutex_lock(&f->lock);
	const bool ready = f->looks == 0 && !f->has_failed;
	f->looks -= f->looks > 0;
	f->has_failed |= ready && f->vanishes;
	pthread_mutex_unlock(&f->lock);
	*bytes = SOFT_ROOM;
	return ready ? f->rooms : 0;
}

static inline unsigned char *soft_room(void *arg, unsigned which)
{
	return ((struct soft *)arg)->room[which].bytes;
}

static inline void soft_submit(void *arg, unsigned which, size_t packed)
{
	struct soft *const f = arg;

	pthread_mutex_lock(&f->lock);
	CHECK(packed + sizeof(struct unpack_orders) <= SOFT_ROOM, "%zu packed bytes", packed);
	/* After a failure all rooms are lost, and free. */
	if (!f->has_failed) {
		CHECK(f->submitted - f->decoded < f->rooms &&
			      f->room[which].state != UNPACKED_NOT_YET,
		      "room %u is not free", which);
		f->room[which].state = UNPACKED_NOT_YET;
		f->order[f->submitted++ % UNPACKER_ROOMS] = which;
	}
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* Has the device failed? The room in which it still works is not given back yet. */
static inline bool soft_lost(const struct soft *f, unsigned which)
{
	return f->has_failed && f->at_work != &f->room[which];
}

static inline bool soft_answered(void *arg, unsigned which)
{
	struct soft *const f = arg;

	pthread_mutex_lock(&f->lock);
	const bool is = soft_lost(f, which) || f->room[which].state != UNPACKED_NOT_YET;
	pthread_mutex_unlock(&f->lock);
	return is;
}

static inline enum unpacked soft_done(void *arg, unsigned which, double seconds, size_t *bytes)
{
	struct soft *const f = arg;

	if (seconds > 0 && !soft_answered(arg, which))
		usleep((useconds_t)(seconds * 1e6));
	pthread_mutex_lock(&f->lock);
	const enum unpacked state = soft_lost(f, which) ? UNPACKED_LOST : f->room[which].state;
	if (state >= UNPACKED_DONE)
		*bytes = f->room[which].got;
	pthread_mutex_unlock(&f->lock);
	return state;
}

static inline struct soft *soft_open(unsigned rooms, unsigned looks, uint64_t seed)
{
	struct soft *const f = calloc(1, sizeof(*f));

	f->unpacker = (struct unpacker){soft_rooms,    soft_room, soft_submit,
					soft_answered, soft_done, .arg = f};
	f->rooms = rooms;
	f->looks = looks;
	f->state = seed | 1;
	f->past_room = (size_t)64 << 20;
	f->past = malloc(f->past_room);
	for (unsigned i = 0; i < rooms; i++) {
		f->room[i].bytes = (unsigned char *)malloc(BLOCK_BEFORE + SOFT_ROOM) + BLOCK_BEFORE;
		f->room[i].state = UNPACKED_DONE;
	}
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	pthread_create(&f->thread, NULL, soft_main, f);
	return f;
}

/* source_use.start */
static inline bool soft_start(void *arg)
{
	struct soft *const f = arg;

	pthread_mutex_lock(&f->lock);
	f->starts++;
	if (!f->never)
		f->looks = 0;
	const bool ready = f->looks == 0;
	pthread_mutex_unlock(&f->lock);
	return ready;
}

/* Return how many batches it has decoded. */
static inline uint64_t soft_close(struct soft *f)
{
	pthread_mutex_lock(&f->lock);
	f->ends = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	const uint64_t decoded = f->decoded;
	for (unsigned i = 0; i < f->rooms; i++)
		free(f->room[i].bytes - BLOCK_BEFORE);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f->past);
	free(f);
	return decoded;
}

#endif
