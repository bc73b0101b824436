/* SPDX-License-Identifier: MIT */
/*
 * zstd_blocks: all readers decode one long frame, without libzstd (block.h).
 *
 * Each block has a slot, in which these tasks work on it:
 *
 *   fetch     one thread at a time, in order: reads its header; in a stream, its packed bytes, too
 *   read      any thread: reads a file's packed bytes; one thread read only 5 GB/s for all
 *   scan      one thread at a time, in order: finds the parts of the packed bytes
 *   unpack    any thread: decodes sequences, which give the block's size, and literals. If a block
 *             has no sequences and its place is known, that decodes it
 *   execute   one thread at a time, in order: makes decoded bytes of literals and matches
 *
 * Then the block is a piece like any other, to be handed out, counted and added to the checksum.
 * When the piece is free, so is the slot.
 *
 * Decoded bytes lie in a ring, each block in one run; if a block does not fit the ring's end, it
 * lies at its beginning. The ring has window + (slots + 1) * FRAME_BLOCK_MAX bytes: the window, a
 * whole block for each slot, and one more for the gap at the end. Block k is fetched only after the
 * piece of block k - slots is free. So no bytes are overwritten that are still being counted or may
 * still be copied; no other check is needed.
 *
 * Why every wait ends. Consider the first block that is not executed. All blocks before it are, so
 * their pieces come back, its slot becomes free and it can be fetched. Any reader can read it, and
 * scan it, because all blocks before it are scanned. If a coder is idle, any reader can unpack it;
 * coders in use belong to readers that are unpacking, which wait for nothing. Then its place is
 * known, and any reader can execute it.
 *
 * libzstd has the last word. If this decoder refuses a file's frame, or its checksum differs,
 * libzstd decodes the frame again from its start, in steps. Bytes handed out by then are skipped,
 * and must have the same checksum (with --no-check, the same length); otherwise this decoder has a
 * bug, and the run fails. So results and messages are libzstd's. A stream's packed bytes are gone,
 * so there a refused block is an error. A frame without a checksum is decoded only here. But this
 * decoder refuses whatever libzstd (1.5.4 or newer) refuses, and decodes the rest alike: fuzz_block
 * compares the two and has found no difference in millions of damaged frames.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "base/little.h"
#include "frames/zstd_blocks.h"
#include "frames/zstd_decode.h"

#define LINE(bytes) (((size_t)(bytes) + 63) / 64 * 64)
#define SLOT_PACKED LINE(BLOCK_BEFORE + FRAME_BLOCK_MAX + FRAME_CHECKSUM)
#define SLOT_LITERALS LINE(FRAME_BLOCK_MAX + BLOCK_SLACK)
#define SLOT_SEQUENCES LINE(BLOCK_SEQUENCES_MAX * sizeof(struct sequence))
#define SLOT_BYTES (SLOT_PACKED + SLOT_LITERALS + SLOT_SEQUENCES)

/* ---- memory; without the lock ---- */

static uint64_t ring_bytes(uint64_t window, unsigned slots)
{
	return slots > 0 ? window + (slots + 1) * (uint64_t)FRAME_BLOCK_MAX : 0;
}

static size_t slots_bytes(unsigned slots, unsigned coders)
{
	return slots * SLOT_BYTES + coders * LINE(block_coder_bytes());
}

static unsigned coders_of(unsigned slots, unsigned threads)
{
	return threads < slots ? threads : slots;
}

uint64_t blocks_bytes(uint64_t window, unsigned slots, unsigned threads)
{
	return sizeof(struct blocks) + huge_size((size_t)ring_bytes(window, slots)) +
	       slots_bytes(slots, coders_of(slots, threads));
}

uint64_t blocks_hold(const struct blocks *b)
{
	return b ? b->holds : 0;
}

void blocks_free(struct blocks *b)
{
	if (!b)
		return;
	free(b->ring.memory);
	free(b->memory);
	free(b);
}

static struct blocks *blocks_make(uint64_t window, unsigned slots, unsigned threads)
{
	struct blocks *const b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->holds = blocks_bytes(window, slots, threads);
	b->slots = slots;
	b->coders.count = coders_of(slots, threads);
	/* Not all of the huge pages: tests would not see that it is too small. */
	b->ring.bytes = (size_t)ring_bytes(window, slots);
	if (slots == 0) /* a device decodes all of it */
		return b;
	b->ring.memory = huge_alloc(b->ring.bytes);
	/* Not in huge pages: most of the memory is never touched. */
	b->memory = b->ring.memory ? malloc(slots_bytes(slots, b->coders.count)) : NULL;
	if (!b->memory) {
		blocks_free(b);
		return NULL;
	}
	unsigned char *at = b->memory;
	for (unsigned i = 0; i < slots; i++, at += SLOT_BYTES) {
		b->slot[i].packed = at + BLOCK_BEFORE;
		b->slot[i].literals = at + SLOT_PACKED;
		b->slot[i].sequences =
			(struct sequence *)(void *)(at + SLOT_PACKED + SLOT_LITERALS);
	}
	for (unsigned i = 0; i < b->coders.count; i++, at += LINE(block_coder_bytes())) {
		b->coders.coder[i] = (struct block_coder *)(void *)at;
		block_coder_begin(b->coders.coder[i]);
	}
	return b;
}

/* Make the state of a job, from `b` of an earlier job if that fits; otherwise free b. */
static struct blocks *open_blocks(const struct source *s, struct zstd_job *j, struct blocks *b)
{
	const uint64_t window = lesser(j->cut.window, j->cut.declared);
	const unsigned slots = j->cut.pieces;

	if (!b || b->slots != slots || b->ring.bytes < ring_bytes(window, slots)) {
		blocks_free(b);
		b = blocks_make(window, slots, s->use.threads);
	}
	if (!b)
		return NULL;
	/* The bytes that may be in use, and the gap at the ring's end, which no block fits. */
	assert(slots == 0 ||
	       b->ring.bytes >= window + slots * (uint64_t)FRAME_BLOCK_MAX + (FRAME_BLOCK_MAX - 1));
	b->coders.idle = b->coders.count;
	block_scan_begin(&b->scan, j->cut.window);
	block_past_begin(&b->past, j->cut.window);
	b->head.have = b->ring.used = 0;
	b->fail = (struct fail){.status = STATUS_OK};
	b->count = (struct block_counts){.fetched = 0};
	b->end = 0;
	b->last = b->fetching = b->scanning = b->executing = b->fetch_ended = b->refused = false;
	b->device = (struct on_device){.has = false};
	for (unsigned i = 0; i < SLOTS_MOST; i++) {
		b->piece[i].job = j;
		b->piece[i].state = PIECE_FREE;
	}
	return b;
}

/* ---- the job's beginning and end ---- */

typedef bool blocks_ready(const struct source *, const struct zstd_job *, const struct request *);

/* Find the first job in blocks that `may` allows, or return NULL. */
static struct zstd_job *blocks_find(const struct source *s, const struct request *q,
				    blocks_ready *may)
{
	for (struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j))
		if (j->cut.how == HOW_BLOCKS && !j->ended && may(s, j, q))
			return j;
	return NULL;
}

/* Let libzstd restart the frame. Bytes handed out stay counted; zstd_run.c checks them. */
static void go_in_steps(struct source *s, struct zstd_job *j)
{
	device_leave(s, j);
	blocks_free(j->blocks);
	j->blocks = NULL;
	cut_as_steps(&s->use, &j->cut);
	j->handed_out = j->decoded;
	j->handed_out_sum = xxh64_end(&j->sum.hash);
	j->decoded = 0;
	xxh64_begin(&j->sum.hash);
	decoder_begin(j);
	j->sum.read = false;
	j->fail = (struct fail){.status = STATUS_OK};
	if (j->cut.from == FROM_FILE)
		__atomic_store_n(&j->packed_read, 0, __ATOMIC_RELAXED);
}

void blocks_begin_unlocks(struct source *s, struct zstd_job *j)
{
	struct blocks *const old = j->blocks;

	j->blocks = NULL; /* hide it from other threads meanwhile */
	source_unlocks(s);
	struct blocks *const b = open_blocks(s, j, old);
	if (b) {
		__atomic_store_n(&j->packed_read, j->cut.header, __ATOMIC_RELAXED);
		/* This cannot fail: the header was read before. */
		(void)bytes_pass(j->in->bytes, j->cut.offset + j->cut.header, &b->fail);
	}
	lock_take(&s->lock);
	j->blocks = b;
	if (!b || (j->cut.how == HOW_DEVICE && !device_begin(s, j)))
		go_in_steps(s, j);
}

uint64_t blocks_wanted(const struct zstd_job *j)
{
	const struct input *const in = j->in;

	if (j->at == UNKNOWN || in->limit == NO_END)
		return NO_END;
	if (j->at >= in->limit)
		return 0;
	return j->cut.declared == in->limit - j->at ? NO_END : in->limit - j->at;
}

void blocks_check(struct source *s, struct zstd_job *j)
{
	struct blocks *const b = j->blocks;
	struct checksum *const sum = &j->sum;

	if (!blocks_begun(j) || device_busy(b) ||
	    !(b->refused || (b->fetch_ended && b->count.executed == b->count.fetched)))
		return;
	if (!b->refused && b->fail.status != STATUS_OK)
		j->fail = b->fail;
	else if (!b->refused && sum->read && j->cut.declared != UNKNOWN &&
		 j->decoded < j->cut.declared)
		frames_bad(j->in->bytes, j->cut.offset, &j->fail, FRAMES_DAMAGED);
	const bool bad = j->fail.status != STATUS_OK;
	const bool reported =
		bad ? j->decoded < blocks_wanted(j) : sum->read && blocks_wanted(j) > 0;
	if (j->cut.from == FROM_FILE && reported && (bad || job_sum_differs(j))) {
		go_in_steps(s, j);
		return;
	}
	if (j->in->zstd->open == j)
		job_close_open(j);
	job_end(s, j);
}

/* ---- fetch ---- */

/* May a reader fetch the next block, or note that the job has enough? */
static bool may_fetch(const struct source *s, const struct zstd_job *j, const struct request *q)
{
	const struct blocks *const b = j->blocks;
	const bool stream = j->cut.from == FROM_STREAM;

	/* A request that already has bytes waits for no stream. */
	if (stream && q->got > 0)
		return false;
	if (!blocks_begun(j))
		return j->running == 0;
	/* A sole reader unpacks blocks before it waits for a stream. */
	if (b->fetching || b->fetch_ended || b->refused ||
	    (stream && b->count.unpack_begun < b->count.fetched && s->readers.takers == 1))
		return false;
	const uint64_t unplaced = b->count.fetched - b->count.placed, enough = blocks_wanted(j);
	if (unplaced == 0 && b->end >= enough)
		return true; /* to note the end */
	/* The blocks without a place may reach -n's end: first learn their sizes. */
	if (b->end + unplaced * FRAME_BLOCK_MAX >= enough)
		return false;
	/* Fetch ahead of the readers that unpack, but by half of the slots at most. */
	return b->last || (b->count.fetched - b->count.unpack_begun <= b->slots / 2 &&
			   b->piece[b->count.fetched % b->slots].state == PIECE_FREE);
}

/* Get the next packed bytes, `least` to cap of them. False: fewer are left. */
static bool blocks_get(struct zstd_job *j, unsigned char *to, size_t least, size_t cap, size_t *got)
{
	struct blocks *const b = j->blocks;
	const int rc = bytes_read(j->in->bytes, j->cut.offset + j->packed_read, to, least, cap, got,
				  &b->fail);

	__atomic_store_n(&j->packed_read, j->packed_read + *got, __ATOMIC_RELAXED);
	j->broken = rc == 0 && *got < least && bytes_finished(j->in->bytes);
	if (rc == 0 && *got < least && !j->broken)
		frames_bad(j->in->bytes, j->cut.offset, &b->fail, FRAMES_DAMAGED);
	return rc == 0 && *got >= least;
}

/* Get n bytes between blocks; some may have come with the block before. */
static bool blocks_get_head(struct zstd_job *j, size_t n)
{
	struct blocks *const b = j->blocks;
	size_t got = 0;

	if (b->head.have < n &&
	    !blocks_get(j, b->head.bytes + b->head.have, n - b->head.have, n - b->head.have, &got))
		return false;
	b->head.have += got;
	return true;
}

/*
 * Fetch the next block. Leave a file's packed bytes for later, if the file was long enough when
 * it was opened; of a stream, wait only for this block. False: no block, or a bad one.
 */
static bool fetch_block(struct zstd_job *j, struct block_slot *slot)
{
	struct blocks *const b = j->blocks;
	struct frame_block h;
	size_t got;

	if (!blocks_get_head(j, FRAME_BLOCK_HEADER))
		return false;
	if (frame_block_parse(b->head.bytes, &h) != 0) {
		frames_bad(j->in->bytes, j->cut.offset, &b->fail, FRAMES_DAMAGED);
		return false;
	}
	const size_t after = h.last ? blocks_trailer(j) : FRAME_BLOCK_HEADER;
	slot->at = j->cut.offset + j->packed_read;
	slot->read = j->cut.from != FROM_FILE ||
		     offset_sum(slot->at, h.packed_bytes + after) > bytes_size(j->in->bytes);
	if (slot->read) {
		const bool all =
			blocks_get(j, slot->packed, h.packed_bytes, h.packed_bytes + after, &got);
		/* If --finish ends a stream in a stored block, keep its bytes, as libzstd does. */
		if (!all && (!j->broken || !h.plain || h.repeats || got == 0))
			return false;
		if (!all)
			h.packed_bytes = h.most = (uint32_t)got;
		b->head.have = got - h.packed_bytes;
		memcpy(b->head.bytes, slot->packed + h.packed_bytes, b->head.have);
	} else {
		__atomic_store_n(&j->packed_read, j->packed_read + h.packed_bytes,
				 __ATOMIC_RELAXED);
		b->head.have = 0;
	}
	b->last = h.last;
	slot->header = h;
	return true;
}

/* Give places in the ring to the next blocks with known sizes. */
static void give_places(struct blocks *b)
{
	while (b->count.placed < b->count.fetched && b->slot[b->count.placed % b->slots].sized) {
		const unsigned i = (unsigned)(b->count.placed++ % b->slots);
		const uint32_t bytes = b->slot[i].block.bytes;
		if (b->ring.bytes - b->ring.used < bytes)
			b->ring.used = 0;
		b->slot[i].place = b->ring.memory + b->ring.used;
		b->ring.used += bytes;
		b->piece[i].begin = b->end;
		b->end += bytes;
	}
}

static void blocks_add(struct source *s, struct blocks *b)
{
	const unsigned i = (unsigned)(b->count.fetched % b->slots);
	struct block_slot *const slot = &b->slot[i];

	slot->sized = slot->unpacked = false;
	slot->refused = NULL;
	b->piece[i].state = PIECE_FILLING;
	b->count.fetched++;
	if (slot->read && b->count.read_begun + 1 == b->count.fetched)
		b->count.read_begun++;
	/* At the beginning there is work for all threads. */
	s->wanted |= s->wait.sleepers == 0 && b->count.fetched <= s->use.threads;
}

void blocks_last(struct zstd_job *j, const unsigned char *trailer)
{
	j->sum.read = true;
	j->sum.value = j->sum.follows ? little32(trailer) : 0;
	if (j->in->zstd->open == j)
		job_close_open(j);
}

/* Scan the blocks already read, in order, unless another thread does. */
static void scan_unlocks(struct source *s, struct blocks *b)
{
	struct block_slot *slot;

	while (!b->scanning && b->count.scanned < b->count.fetched &&
	       (slot = &b->slot[b->count.scanned % b->slots])->read && !slot->refused) {
		b->scanning = true;
		source_unlocks(s);
		slot->refused = block_scan(&b->scan, &slot->header, slot->packed, &slot->block);
		lock_take(&s->lock);
		b->scanning = false;
		if (slot->refused) { /* no block after it can be decoded */
			slot->unpacked = b->fetch_ended = true;
			break;
		}
		slot->sized = slot->block.sequences == 0;
		b->count.scanned++;
		give_places(b);
	}
}

static void fetch_next_unlocks(struct source *s, struct zstd_job *j)
{
	struct blocks *const b = j->blocks;
	const bool enough = b->count.fetched == b->count.placed && b->end >= blocks_wanted(j);
	const bool block = !enough && !b->last;

	b->fetching = true;
	source_unlocks(s);
	const bool got = enough  ? false
			 : block ? fetch_block(j, &b->slot[b->count.fetched % b->slots])
				 : blocks_get_head(j, blocks_trailer(j));
	lock_take(&s->lock);
	if (got && block)
		blocks_add(s, b);
	b->fetch_ended |= !got || !block;
	if (got && block)
		scan_unlocks(s, b);
	b->fetching = false;
	if (got && !block)
		blocks_last(j, b->head.bytes);
}

static void fetch_unlocks(struct source *s, struct zstd_job *j, const struct request *q)
{
	j->running++;
	if (!blocks_begun(j))
		blocks_begin_unlocks(s, j);
	else
		do /* for a file, this reads only headers */
			fetch_next_unlocks(s, j);
		while (j->cut.from == FROM_FILE && may_fetch(s, j, q));
	j->running--;
}

/* ---- unpack ---- */

static bool may_unpack(const struct source *s, const struct zstd_job *j, const struct request *q)
{
	const struct blocks *const b = j->blocks;

	(void)s;
	(void)q;
	return blocks_begun(j) && !b->refused &&
	       ((b->count.unpack_begun < b->count.scanned && b->coders.idle > 0) ||
		b->count.read_begun < b->count.fetched);
}

/* Read the packed bytes of a file's next block. */
static void read_next_unlocks(struct source *s, struct zstd_job *j)
{
	struct blocks *const b = j->blocks;
	struct block_slot *const slot = &b->slot[b->count.read_begun++ % b->slots];
	struct fail fail = {.status = STATUS_OK};
	size_t got;

	if (!slot->read) {
		source_unlocks(s);
		const int rc = bytes_read_at(j->in->bytes, slot->at, slot->packed,
					     slot->header.packed_bytes, &got, &fail);
		lock_take(&s->lock);
		slot->read = true;
		if (rc != 0 || got < slot->header.packed_bytes) { /* libzstd will say why */
			slot->refused = FRAMES_DAMAGED;
			slot->unpacked = b->fetch_ended = true;
		}
	}
	scan_unlocks(s, b);
}

static void unpack_next_unlocks(struct source *s, struct zstd_job *j)
{
	struct blocks *const b = j->blocks;
	const uint64_t number = b->count.unpack_begun++;
	const unsigned i = (unsigned)(number % b->slots);
	struct block_slot *const slot = &b->slot[i];
	struct block *const block = &slot->block;
	struct block_coder *const coder = b->coders.coder[--b->coders.idle];
	const char *why = NULL;

	if (block->sequences > 0) {
		source_unlocks(s);
		why = block_sequences(coder, block, slot->sequences);
		lock_take(&s->lock);
		slot->sized = !why;
		give_places(b);
	}
	slot->decoded =
		block->sequences == 0 && number < b->count.placed ? slot->place : slot->literals;
	source_unlocks(s);
	if (!why)
		why = block_literals(coder, block, slot->decoded);
	lock_take(&s->lock);
	slot->refused = why;
	slot->unpacked = true;
	b->coders.coder[b->coders.idle++] = coder;
}

static void unpack_unlocks(struct source *s, struct zstd_job *j)
{
	const struct blocks *const b = j->blocks;

	j->running++;
	if (b->count.unpack_begun < b->count.scanned && b->coders.idle > 0)
		unpack_next_unlocks(s, j);
	else
		read_next_unlocks(s, j);
	j->running--;
}

/* ---- the task "block": fetch, read or unpack one ---- */

static bool block_ready(const struct source *s, const struct request *q)
{
	return blocks_find(s, q, may_fetch) || blocks_find(s, q, may_unpack);
}

static void block_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_job *const j = blocks_find(s, q, may_fetch);

	if (j)
		fetch_unlocks(s, j, q);
	else
		unpack_unlocks(s, blocks_find(s, q, may_unpack));
}

const struct task block_task = {block_ready, block_run_unlocks};

/* ---- execute ---- */

static bool may_execute(const struct source *s, const struct zstd_job *j, const struct request *q)
{
	const struct blocks *const b = j->blocks;

	(void)s;
	(void)q;
	return blocks_begun(j) && !b->refused && !b->executing &&
	       b->count.executed < b->count.fetched &&
	       b->slot[b->count.executed % b->slots].unpacked;
}

static bool execute_ready(const struct source *s, const struct request *q)
{
	return blocks_find(s, q, may_execute);
}

void blocks_hand_out(struct zstd_job *j, struct zstd_piece *p, const char *why)
{
	if (p->bytes > j->cut.declared - j->decoded) {
		p->bytes = (size_t)(j->cut.declared - j->decoded);
		why = FRAMES_DAMAGED;
	}
	j->decoded += p->bytes;
	if (why) {
		j->blocks->refused = true;
		frames_bad(j->in->bytes, j->cut.offset, &j->fail, FRAMES_DAMAGED);
	}
	if (p->bytes > 0)
		job_add(p);
	else
		p->state = PIECE_FREE;
}

/* Make the next block a piece. */
static void execute_next_unlocks(struct source *s, struct zstd_job *j)
{
	struct blocks *const b = j->blocks;
	const unsigned i = (unsigned)(b->count.executed % b->slots);
	struct block_slot *const slot = &b->slot[i];
	struct zstd_piece *const p = &b->piece[i];
	unsigned char *const to = slot->place;
	/* has "unpack" already decoded the block? */
	const bool there = slot->decoded == to && slot->block.sequences == 0;
	const char *why = slot->refused;

	if (!why && !there)
		source_unlocks(s);
	if (!why)
		why = block_execute(&slot->block, slot->sequences, slot->decoded, &b->past, to);
	if (!slot->refused && !there)
		lock_take(&s->lock);
	p->data = to;
	p->bytes = why ? 0 : slot->block.bytes;
	b->count.executed++;
	blocks_hand_out(j, p, why);
}

static void execute_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_job *const j = blocks_find(s, q, may_execute);
	struct blocks *const b = j->blocks;

	j->running++;
	do {
		b->executing = true;
		execute_next_unlocks(s, j);
		b->executing = false;
	} while (may_execute(s, j, q));
	j->running--;
	if (piece_task.ready(s, q))
		piece_task.run_unlocks(s, q);
}

const struct task execute_task = {execute_ready, execute_run_unlocks};
