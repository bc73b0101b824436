/* SPDX-License-Identifier: MIT */
/*
 * zstd_device: a device decodes the blocks of long frames of files (unpacker.h).
 *
 * Blocks pass through the device's rooms in "batches", in these steps:
 *
 *   find     one reader at a time, in order: headers tell which packed bytes a batch has
 *   read     any reader: copies these bytes into the room
 *   send     one reader at a time, in order: scans the blocks, describes them to the device
 *   done     one reader at a time, in order: takes the decoded bytes as a piece like any other, to
 *            be handed out, counted and added to the checksum; when it is free, so is the room
 *
 * Either the device decodes a frame from its first block, or the cores do. If there are many
 * frames, feed_task takes some for the device, each as soon as nearly all batches of those before
 * are found, and the cores decode others meanwhile. If there are few, the device gets a frame if
 * that pays (zstd_cost.h).
 *
 * Batches keep one order from find to done, in whichever room they are, and all batches of a frame
 * precede the batches of the next. So the contents of an occupied room precede, in the inputs,
 * everything that waits for a room, and will be handed out and counted. A job does not end before
 * its batches are done.
 *
 * Why every wait ends. Everything before the first batch that is not done gets counted, which frees
 * rooms. Then any reader can find the batch, read its packed bytes and send them, and one reader
 * waits for the answer, which comes unless the device fails (gpu_link.c). Starting a device takes
 * some seconds at most.
 *
 * The device is trusted as little as our own decoder: if either refuses a block, if a checksum
 * differs, or if the device fails, libzstd decodes the frame from its start.
 */
#include <stdlib.h>
#include <string.h>

#include "base/little.h"
#include "frames/zstd_blocks.h"
#include "zstd/zstd_orders.h"

#define WAIT_SECONDS 0.001 /* longest wait for an answer before looking for other work */
#define FRAMES_AHEAD 2u    /* frames of the device with batches to find: the next one is ready */

static struct batch *batch_of(struct rooms *r, uint64_t number)
{
	return &r->batch[number % r->count];
}

/* ---- frames for the device ---- */

/* Is the job's frame the device's, with batches not yet found? */
static bool is_bound(const struct zstd_job *j)
{
	return j->cut.how == HOW_DEVICE && !j->ended &&
	       !(blocks_begun(j) && (j->blocks->fetch_ended || j->blocks->refused));
}

bool device_takes_frame(const struct source *s)
{
	const struct unpacker *const u = s->use.unpacker;
	unsigned bound = 0;
	size_t bytes;

	if (!u || (s->jobs->rooms && u->rooms(u->arg, &bytes) == 0)) /* it has failed */
		return false;
	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j))
		bound += is_bound(j);
	return bound < FRAMES_AHEAD;
}

/* Make s->jobs->rooms, if it is missing. False: no device is ready, or no memory. */
static bool have_rooms(struct source *s)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *r = s->jobs->rooms;
	size_t bytes = 0;
	const unsigned count = u->rooms(u->arg, &bytes);

	if (count > 0 && !r && (s->jobs->rooms = r = calloc(1, sizeof(*r))) != NULL) {
		r->count = count;
		r->bytes = bytes;
	}
	return count > 0 && r;
}

bool device_begin(struct source *s, struct zstd_job *j)
{
	struct on_device *const d = &j->blocks->device;

	if (!have_rooms(s))
		return false;
	s->jobs->on_device++;
	d->has = true;
	d->at = j->cut.offset + j->cut.header;
	block_scan_begin(&d->scan, j->cut.window);
	return true;
}

void device_leave(struct source *s, struct zstd_job *j)
{
	if (!j->blocks || !j->blocks->device.has)
		return;
	j->blocks->device.has = false;
	s->jobs->on_device--;
}

/* ---- find, and read ---- */

/* Return a free room, or r->count if none is free. */
static unsigned free_room(const struct rooms *r)
{
	unsigned i = 0;

	while (i < r->count && (r->occupied[i] || r->piece[i].state != PIECE_FREE))
		i++;
	return i;
}

static bool may_send(const struct source *s, const struct zstd_job *j)
{
	const struct rooms *const r = s->jobs->rooms;
	const struct blocks *const b = j->blocks;

	if (!blocks_begun(j))
		return j->running == 0;
	if (r->finding)
		return false;
	const uint64_t enough = blocks_wanted(j);
	if (b->end >= enough)
		return b->device.found == b->device.done; /* it is over */
	return b->end + b->device.in_flight * FRAME_BLOCK_MAX < enough &&
	       (b->last || free_room(r) < r->count);
}

/* Return the job that begins on the device, or whose next batch is to be found; or NULL. */
static struct zstd_job *next_to_send(const struct source *s)
{
	for (struct zstd_job *j = s->use.unpacker ? jobs_first(s->inputs) : NULL; j;
	     j = jobs_next(j))
		if (is_bound(j))
			return may_send(s, j) ? j : NULL;
	return NULL;
}

/* The result of a search for the next batch, or for the end of the frame. */
struct search {
	const char *why;  /* why the frame is refused, or NULL */
	struct fail fail; /* how reading the file failed */
	bool last;        /* the last block is in the batch */
	bool ends;        /* the last block was in the batch before, and `trailer` follows it */
	unsigned char trailer[FRAME_CHECKSUM];
};

/* Return how many blocks fit a room, with their orders. */
static unsigned blocks_most(const struct rooms *r)
{
	const size_t most = (r->bytes - sizeof(struct unpack_orders)) / FRAME_BLOCK_MAX;

	return most < UNPACK_BLOCKS ? (unsigned)most : UNPACK_BLOCKS;
}

/* Return the blocks of the next batch. The frame's rest is divided into few batches, all alike. */
static unsigned blocks_of(const struct rooms *r, const struct zstd_job *j)
{
	const unsigned most = blocks_most(r);
	const uint64_t given = j->blocks->device.given, declared = j->cut.declared;

	if (declared == UNKNOWN || declared <= given)
		return most;
	const uint64_t left = (declared - given - 1) / FRAME_BLOCK_MAX + 1,
		       batches = (left + most - 1) / most;
	return (unsigned)((left + batches - 1) / batches);
}

/* Find the next batch by its blocks' headers. */
static void find_packed(const struct rooms *r, struct zstd_job *j, struct batch *batch,
			struct search *f)
{
	struct on_device *const d = &j->blocks->device;
	const size_t room = r->bytes - sizeof(struct unpack_orders);
	const unsigned most = blocks_of(r, j);
	const uint64_t begin = d->at;
	struct frame_block h = {.last = false};
	unsigned char head[FRAME_BLOCK_HEADER];
	uint64_t at = begin;
	size_t got;

	for (batch->blocks = 0; batch->blocks < most && !h.last; batch->blocks++) {
		if (bytes_read_at(j->in->bytes, at, head, sizeof(head), &got, &f->fail) != 0)
			f->why = "";
		else if (got < sizeof(head))
			f->why = FRAMES_DAMAGED;
		else if (frame_block_parse(head, &h) != 0)
			f->why = FRAMES_DAMAGED;
		if (f->why)
			return;
		if (at + sizeof(head) + h.packed_bytes - begin > room) {
			h.last = false;
			break;
		}
		at += sizeof(head) + h.packed_bytes;
	}
	batch->offset = begin;
	batch->bytes = (size_t)(at - begin);
	d->at = at;
	f->last = h.last;
}

/* Read the checksum after the last block, if any. */
static void device_read_trailer(struct zstd_job *j, struct search *f)
{
	struct on_device *const d = &j->blocks->device;
	const size_t n = blocks_trailer(j);
	size_t got;

	if (bytes_read_at(j->in->bytes, d->at, f->trailer, n, &got, &f->fail) != 0)
		f->why = "";
	else if (got < n)
		f->why = FRAMES_DAMAGED;
	f->ends = !f->why;
	d->at += f->ends ? n : 0;
}

/* Read a batch into its room. */
static bool read_batch(const struct batch *batch, unsigned char *room)
{
	struct fail fail = {.status = STATUS_OK};
	size_t got = 0;

	return bytes_read_at(batch->job->in->bytes, batch->offset, room, batch->bytes, &got,
			     &fail) == 0 &&
	       got == batch->bytes;
}

/* ---- send ---- */

/* Write the orders for the blocks in a room. Return NULL, or why a block is refused. */
static const char *device_describe(const struct rooms *r, const struct batch *batch,
				   unsigned char *room)
{
	const struct zstd_job *const j = batch->job;
	struct on_device *const d = &j->blocks->device;
	struct unpack_orders *const o =
		(struct unpack_orders *)(void *)(room + r->bytes - sizeof(*o));

	o->batch = (struct unpack_batch){
		.blocks = batch->blocks, .begins = d->sent == 0, .window = j->cut.window};
	return orders_packed(o, &d->scan, room, batch->bytes);
}

/* Give the frame up: libzstd decodes it again, or reports the error. */
static void device_refuse(struct zstd_job *j, const char *why)
{
	j->blocks->refused = true;
	frames_bad(j->in->bytes, j->cut.offset, &j->fail, why);
}

/* Send the batches already read, in order, unless another reader does. */
static void send_unlocks(struct source *s)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *const r = s->jobs->rooms;

	while (!r->sending && r->sent < r->found) {
		struct batch *const batch = batch_of(r, r->sent);
		const unsigned which = batch->room;
		struct zstd_job *const j = batch->job;
		if (batch->state != BATCH_FULL)
			return;
		const bool sends = !j->blocks->refused;
		const char *why = NULL;
		if (sends) {
			r->sending = true;
			source_unlocks(s);
			why = batch->bad ? FRAMES_DAMAGED
					 : device_describe(r, batch, u->room(u->arg, which));
			if (!why)
				u->submit(u->arg, which, batch->bytes);
			lock_take(&s->lock);
			r->sending = false;
		}
		if (why)
			device_refuse(j, FRAMES_DAMAGED);
		batch->state = sends && !why ? BATCH_SENT : BATCH_VOID;
		r->sent++;
		j->blocks->device.sent++;
	}
}

/* Note the result of a search. */
static void note_found(struct zstd_job *j, const struct search *f, bool batch)
{
	struct blocks *const b = j->blocks;

	__atomic_store_n(&j->packed_read, b->device.at - j->cut.offset, __ATOMIC_RELAXED);
	b->fetch_ended |= !batch || f->why;
	b->fail = f->fail;
	if (f->why && b->fail.status == STATUS_OK)
		frames_bad(j->in->bytes, j->cut.offset, &b->fail, f->why);
	if (f->ends)
		blocks_last(j, f->trailer);
	b->last |= f->last;
}

static void find_unlocks(struct source *s, struct zstd_job *j)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *const r = s->jobs->rooms;
	struct blocks *const b = j->blocks;
	struct on_device *const d = &b->device;
	const unsigned which = free_room(r);
	const bool enough = b->end >= blocks_wanted(j);
	struct batch *const batch = enough || b->last ? NULL : batch_of(r, r->found);
	unsigned char *const room = batch ? u->room(u->arg, which) : NULL;
	struct search f = {.why = NULL, .fail = {.status = STATUS_OK}};

	if (batch)
		*batch = (struct batch){.state = BATCH_FILLING, .job = j, .room = which};
	r->finding = true;
	source_unlocks(s);
	if (batch)
		find_packed(r, j, batch, &f);
	else if (!enough)
		device_read_trailer(j, &f);
	lock_take(&s->lock);
	r->finding = false;
	note_found(j, &f, batch);
	if (!batch || f.why)
		return;
	r->found++;
	r->occupied[which] = true;
	d->found++;
	d->in_flight += batch->blocks;
	d->given += batch->blocks * (uint64_t)FRAME_BLOCK_MAX;
	source_unlocks(s);
	batch->bad = !read_batch(batch, room);
	lock_take(&s->lock);
	batch->state = BATCH_FULL;
	send_unlocks(s);
}

static void go_on_unlocks(struct source *s, struct zstd_job *j)
{
	j->running++;
	if (blocks_begun(j))
		find_unlocks(s, j);
	else
		blocks_begin_unlocks(s, j);
	j->running--;
}

/* ---- done ---- */

/* Return the batch that is done next, if it was sent and no reader waits for it; or NULL. */
static struct batch *next_done(const struct source *s)
{
	struct rooms *const r = s->jobs->rooms;

	return r && !r->waiting && r->sent > r->done ? batch_of(r, r->done) : NULL;
}

/* Make the decoded bytes in a room a piece. */
static void device_hand_out(struct source *s, struct zstd_job *j, unsigned which, size_t bytes)
{
	const struct unpacker *const u = s->use.unpacker;
	struct blocks *const b = j->blocks;
	struct zstd_piece *const p = &s->jobs->rooms->piece[which];

	s->totals.zstd.unpacked += bytes;
	p->job = j;
	p->data = u->room(u->arg, which);
	p->bytes = bytes;
	p->begin = b->end;
	b->end += bytes;
	blocks_hand_out(j, p, NULL);
}

static void take_answer(struct source *s, enum unpacked got, size_t bytes)
{
	struct rooms *const r = s->jobs->rooms;
	struct batch *const batch = batch_of(r, r->done++);
	struct zstd_job *const j = batch->job;

	batch->state = BATCH_FREE;
	r->occupied[batch->room] = false;
	j->blocks->device.done++;
	j->blocks->device.in_flight -= batch->blocks;
	if (!j->blocks->refused) {
		if (got != UNPACKED_DONE)
			device_refuse(j, got == UNPACKED_LOST ? "the GPU failed" : FRAMES_DAMAGED);
		else
			device_hand_out(s, j, batch->room, bytes);
	}
}

static void done_unlocks(struct source *s, double seconds)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *const r = s->jobs->rooms;
	const struct batch *const batch = next_done(s);
	enum unpacked got = UNPACKED_LOST;
	size_t bytes = 0;

	if (batch->state == BATCH_SENT) {
		r->waiting = true;
		source_unlocks(s);
		got = u->done(u->arg, batch->room, seconds, &bytes);
		lock_take(&s->lock);
		r->waiting = false;
	}
	if (got != UNPACKED_NOT_YET)
		take_answer(s, got, bytes);
}

bool device_waits(const struct source *s)
{
	return next_done(s);
}

void device_wait_unlocks(struct source *s)
{
	done_unlocks(s, WAIT_SECONDS);
}

/* ---- the task ---- */

static bool has_answer(const struct source *s)
{
	const struct unpacker *const u = s->use.unpacker;
	const struct batch *const batch = next_done(s);

	return batch && (batch->state == BATCH_VOID || u->answered(u->arg, batch->room));
}

static bool device_ready(const struct source *s, const struct request *q)
{
	(void)q;
	return has_answer(s) || next_to_send(s);
}

static void device_run_unlocks(struct source *s, struct request *q)
{
	(void)q;
	if (has_answer(s))
		done_unlocks(s, 0);
	else
		go_on_unlocks(s, next_to_send(s));
}

const struct task device_task = {device_ready, device_run_unlocks};
