/* SPDX-License-Identifier: MIT */
/*
 * zstd_device: the blocks of long frames of files, decoded by a device (unpacker.h).
 *
 * They go through its rooms in batches, in these steps:
 *
 *   find     one reader at a time, in order: the blocks' headers say which packed bytes a batch has
 *   read     any reader: these bytes, into the room
 *   send     one reader at a time, in order: what else stands in the blocks' headers, for the device
 *   done     one reader at a time, in order: decoded bytes become a piece like others, handed out,
 *            counted, added to the checksum. When it is free, so is the room
 *
 * There are two ways to the device. Of many frames some are cut off for it (feed_task), as soon as
 * it has nearly found all batches of those before, and the cores decode others side by side. A
 * frame that is decoded by all cores (zstd_blocks.c) may go on there: they fetch no more blocks, and
 * when all that they fetched is counted, the device is given the decoded bytes that matches may
 * reach, and the offsets that repeat. Such a frame begins only when the device has no other. Where
 * the device is only wanted if it is faster, it is tried first: it decodes the next blocks while the
 * cores decode them, too, and what it decodes is not used. Each room is used twice, and the second
 * time is compared with what the cores did meanwhile. One trial serves all frames.
 *
 * Batches keep one order from find to done, in whichever room they are, and the device has no batch
 * of a frame before all batches of the frame before it: so a room that is not free holds what comes
 * earlier in the inputs than all that waits for rooms, and will be handed out and counted. What a
 * batch had when it was sent stays the device's until it is done, so a job that has ended meanwhile
 * waits for that.
 *
 * The device is trusted as little as our own decoder: what either refuses, a checksum that differs,
 * and a device that fails come to the same, which is that libzstd decodes the frame from its start.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/little.h"
#include "input/zstd_blocks.h"
#include "input/zstd_orders.h"

#define WAIT_SECONDS 0.001 /* how long a reader waits before it looks for other work */
/* How many frames are the device's before all of their batches are found: the next one is ready. */
#define FRAMES_AHEAD 2u
/* A trial ends when the cores have decoded so many times what the device has been given. */
#define SLOW 4u

static struct batch *batch_of(struct rooms *r, uint64_t number)
{
	return &r->batch[number % r->count];
}

/* Where the next packed bytes of the frame are, in the file. */
static uint64_t next_at(const struct zstd_job *j)
{
	return j->cut.offset + j->taken - j->blocks->have;
}

/* ---- frames for the device ---- */

static bool must_be_tried(const struct source *s)
{
	return s->use.unpacker->gain > 0 && s->zstd.device != DEVICE_PAYS;
}

bool device_takes(const struct source *s, const struct zstd_job *j)
{
	const struct unpacker *const u = s->use.unpacker;
	const struct blocks *const b = j->blocks;
	const uint64_t size = bytes_size(j->in->bytes),
		       wanted = lesser(blocks_wanted(j), j->cut.content);
	size_t bytes;

	if (!u || j->cut.from != FROM_FILE || s->zstd.on_device > 0 ||
	    s->zstd.device == DEVICE_TRIED || j->cut.window > UNPACKER_WINDOW || b->last ||
	    size <= offset_sum(next_at(j), u->least) ||
	    (wanted != NO_END && wanted <= offset_sum(b->end, u->least)))
		return false;
	const unsigned rooms = u->rooms(u->arg, &bytes);
	const uint64_t trial = must_be_tried(s) ? 2 * rooms * (uint64_t)bytes : 0;
	return rooms > 0 && (wanted == NO_END || wanted - b->end > trial);
}

/* Does the job's frame go to the device, and not all of its batches are found? */
static bool is_bound(const struct zstd_job *j)
{
	if (j->cut.how != HOW_BLOCKS || j->ended)
		return false;
	return blocks_begun(j) ? device_has(j->blocks) && !j->blocks->over && !j->blocks->refused
			       : job_is_devices(j);
}

enum device_share device_share(const struct source *s)
{
	const struct unpacker *const u = s->use.unpacker;
	unsigned bound = 0;
	size_t bytes;

	if (!u || s->zstd.device == DEVICE_TRIED || u->rooms(u->arg, &bytes) == 0)
		return SHARE_NONE;
	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j))
		bound += is_bound(j);
	return bound >= FRAMES_AHEAD ? SHARE_NONE : must_be_tried(s) ? SHARE_OF_MANY : SHARE_ANY;
}

/* The next batch that is found begins behind what the cores have fetched. */
static void begin_behind_cores(struct zstd_job *j)
{
	struct on_device *const d = &j->blocks->device;

	d->at = next_at(j);
	d->cores = j->blocks->fetched;
	device_scan(j->blocks);
	d->found = d->sent = d->done = d->given = 0;
}

void device_scan(struct blocks *b)
{
	if (b->device.on != ON_CORES && b->scanned == b->device.cores)
		b->device.scan = b->scan;
}

/* Makes the rooms, or finds out whether they are still there. */
static bool have_rooms(struct source *s)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *r = s->zstd.rooms;
	size_t bytes = 0;
	const unsigned count = u->rooms(u->arg, &bytes);

	if (count > 0 && !r && (s->zstd.rooms = r = calloc(1, sizeof(*r))) != NULL) {
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
	s->zstd.on_device++;
	d->on = must_be_tried(s) && !job_is_devices(j) ? ON_TRIAL : TO_DEVICE;
	if (d->on == TO_DEVICE)
		return true;
	s->zstd.device = DEVICE_TRIED;
	begin_behind_cores(j);
	d->trial = (struct trial){.batches = 2 * s->zstd.rooms->count,
				  .begin = clock_seconds(),
				  .cores = j->blocks->end};
	return true;
}

void device_leave(struct source *s, struct zstd_job *j)
{
	if (!j->blocks || j->blocks->device.on == ON_CORES)
		return;
	j->blocks->device.on = ON_CORES;
	s->zstd.on_device--;
}

/*
 * All that the cores fetched is counted: as much of it as a match may reach goes to the device. From
 * now on the job's pieces are those of the rooms that hold its batches.
 */
static void go_on_device(struct source *s, struct zstd_job *j)
{
	struct blocks *const b = j->blocks;
	struct on_device *const d = &b->device;
	const uint64_t past = lesser(b->past.bytes, j->cut.window);
	const size_t latest =
		b->past.end ? (size_t)lesser(past, (uint64_t)(b->past.end - b->past.begin)) : 0;

	d->on = ON_DEVICE;
	j->piece = s->zstd.rooms->piece;
	j->pieces = s->zstd.rooms->count;
	begin_behind_cores(j);
	d->given = b->end;
	d->past_bytes[0] = (size_t)past - latest;
	d->past_bytes[1] = latest;
	d->past[0] = past > latest ? b->past.older - d->past_bytes[0] : NULL;
	d->past[1] = latest > 0 ? b->past.end - latest : NULL;
}

/* ---- find, and read ---- */

/* A room in which nothing is; r->count: there is none. */
static unsigned free_room(const struct rooms *r)
{
	unsigned i = 0;

	while (i < r->count && (r->taken[i] || r->piece[i].state != PIECE_FREE))
		i++;
	return i;
}

static bool room_free(const struct rooms *r)
{
	return free_room(r) < r->count;
}

/* Are all blocks counted that the cores decoded? */
static bool cores_done(const struct zstd_job *j)
{
	const struct blocks *const b = j->blocks;

	for (unsigned i = 0; i < b->slots; i++)
		if (b->piece[i].state > PIECE_FILLING)
			return false;
	return !b->fetching && b->executed == b->fetched;
}

static bool may_send(const struct source *s, const struct zstd_job *j)
{
	const struct rooms *const r = s->zstd.rooms;
	const struct blocks *const b = j->blocks;

	if (!blocks_begun(j))
		return j->running == 0;
	const struct on_device *const d = &b->device;
	if (r->finding || b->over || b->refused)
		return false;
	if (d->on == ON_TRIAL)
		return b->scanned >= d->cores && d->found < d->trial.batches && room_free(r);
	if (d->on == TO_DEVICE && !cores_done(j))
		return false;
	const uint64_t enough = blocks_wanted(j);
	if (b->end >= enough)
		return d->found == d->done; /* it is over */
	return b->end + d->blocks * FRAME_BLOCK_MAX < enough && (b->last || room_free(r));
}

/* The job of which the next batch is found, or that begins on the device; or NULL. */
static struct zstd_job *next_to_send(const struct source *s)
{
	for (struct zstd_job *j = s->use.unpacker ? jobs_first(s->inputs) : NULL; j;
	     j = jobs_next(j))
		if (is_bound(j) || (j->cut.how == HOW_BLOCKS && !j->ended && blocks_begun(j) &&
				    j->blocks->device.on == ON_TRIAL))
			return may_send(s, j) ? j : NULL;
	return NULL;
}

static bool send_ready(const struct source *s, const struct request *q)
{
	(void)q;
	return next_to_send(s);
}

/* What is found next in the frame; or why the frame is refused, or how its file failed. */
struct search {
	const char *why;
	struct fail fail;
	bool last; /* the last block is in the batch */
	bool ends; /* the last block was in a batch before, and `trailer` follows it */
	unsigned char trailer[FRAME_CHECKSUM];
};

/* How many blocks fit a room with what the device is told of them. */
static unsigned blocks_most(const struct rooms *r)
{
	const size_t most = (r->bytes - sizeof(struct unpack_orders)) / FRAME_BLOCK_MAX;

	return most < UNPACK_BLOCKS ? (unsigned)most : UNPACK_BLOCKS;
}

/* Makes a batch of past decoded bytes, as many as fit, in blocks that are stored. */
static void find_past(const struct rooms *r, const struct on_device *d, struct batch *batch)
{
	const size_t most = (size_t)blocks_most(r) * FRAME_BLOCK_MAX,
		     all = d->past_bytes[0] + d->past_bytes[1];

	batch->past = true;
	batch->bytes = all < most ? all : most;
	batch->blocks = (unsigned)((batch->bytes + FRAME_BLOCK_MAX - 1) / FRAME_BLOCK_MAX);
}

/* How many blocks the next batch gets: what is left in as few batches as it takes, all alike. */
static unsigned blocks_of(const struct rooms *r, const struct zstd_job *j)
{
	const unsigned most = blocks_most(r);
	const uint64_t given = j->blocks->device.given, content = j->cut.content;

	if (content == UNKNOWN || content <= given)
		return most;
	const uint64_t left = (content - given - 1) / FRAME_BLOCK_MAX + 1,
		       batches = (left + most - 1) / most;
	return (unsigned)((left + batches - 1) / batches);
}

/* Finds the next batch by the headers of its blocks. */
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
			f->why = FRAMES_TRUNCATED;
		else if (frame_block_parse(head, &h) != 0)
			f->why = "corrupt block";
		if (f->why)
			return;
		if (at + sizeof(head) + h.stored - begin > room) {
			h.last = false;
			break;
		}
		at += sizeof(head) + h.stored;
	}
	batch->past = false;
	batch->offset = begin;
	batch->bytes = (size_t)(at - begin);
	d->at = at;
	f->last = h.last;
}

/* Reads what stands after the last block. */
static void read_trailer(struct zstd_job *j, struct search *f)
{
	struct on_device *const d = &j->blocks->device;
	const size_t n = blocks_trailer(j);
	size_t got;

	if (bytes_read_at(j->in->bytes, d->at, f->trailer, n, &got, &f->fail) != 0)
		f->why = "";
	else if (got < n)
		f->why = FRAMES_TRUNCATED;
	f->ends = !f->why;
	d->at += f->ends ? n : 0;
}

/* Reads a batch into its room, or copies the past there. */
static bool read_batch(const struct batch *batch, unsigned char *room)
{
	struct zstd_job *const j = batch->job;
	struct on_device *const d = &j->blocks->device;
	struct fail fail = {.status = STATUS_OK};
	size_t got = 0;

	if (!batch->past)
		return bytes_read_at(j->in->bytes, batch->offset, room, batch->bytes, &got,
				     &fail) == 0 &&
		       got == batch->bytes;
	for (unsigned i = 0; i < 2; i++) {
		const size_t n = (size_t)lesser(d->past_bytes[i], batch->bytes - got);
		if (n == 0) /* there may be no such run */
			continue;
		memcpy(room + got, d->past[i], n);
		d->past[i] += n;
		d->past_bytes[i] -= n;
		got += n;
	}
	return true;
}

/* ---- send ---- */

/* Tells the device of the blocks in a room. NULL, or why one is refused. */
static const char *describe(const struct rooms *r, const struct batch *batch, unsigned char *room)
{
	const struct zstd_job *const j = batch->job;
	struct on_device *const d = &j->blocks->device;
	struct unpack_orders *const o =
		(struct unpack_orders *)(void *)(room + r->bytes - sizeof(*o));

	o->batch = (struct unpack_batch){.blocks = batch->blocks,
					 .begins = d->sent == 0,
					 .window = j->cut.window,
					 .repeat = {1, 4, 8}}; /* those of a frame's beginning */
	if (d->on == ON_DEVICE)
		memcpy(o->batch.repeat, j->blocks->past.repeat, sizeof(o->batch.repeat));
	if (!batch->past)
		return orders_packed(o, &d->scan, room, batch->bytes);
	orders_plain(o, batch->bytes);
	return NULL;
}

/* Nothing more of the frame is used: libzstd decodes it again, or says what is wrong. */
static void refuse(struct zstd_job *j, const char *why)
{
	j->blocks->refused = true;
	frames_bad(j->in->bytes, j->cut.offset, &j->fail, why);
}

/* Ends the trial after `batches` batches, without a verdict. */
static void end_trial(struct on_device *d, uint64_t batches)
{
	d->trial.batches = lesser(d->trial.batches, batches);
}

/* Is the next batch of the job that is to be sent of no use any more? */
static bool is_void(const struct zstd_job *j)
{
	const struct on_device *const d = &j->blocks->device;

	return j->ended || j->blocks->refused || (d->on == ON_TRIAL && d->sent >= d->trial.batches);
}

/* Sends the batches that were read, in order, unless another reader does. */
static void send_unlocks(struct source *s)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *const r = s->zstd.rooms;

	while (!r->sending && r->sent < r->found) {
		struct batch *const batch = batch_of(r, r->sent);
		const unsigned which = batch->room;
		struct zstd_job *const j = batch->job;
		struct on_device *const d = &j->blocks->device;
		if (batch->state != BATCH_FULL)
			return;
		const bool sends = !is_void(j);
		const char *why = NULL;
		if (sends) {
			r->sending = true;
			lock_drop(&s->lock);
			why = batch->bad ? FRAMES_TRUNCATED
					 : describe(r, batch, u->room(u->arg, which));
			if (!why)
				u->submit(u->arg, which, batch->bytes);
			lock_take(&s->lock);
			r->sending = false;
		}
		if (why && d->on == ON_TRIAL)
			end_trial(d, d->sent);
		else if (why && !j->ended)
			refuse(j, why);
		batch->state = sends && !why ? BATCH_SENT : BATCH_VOID;
		r->sent++;
		d->sent++;
		source_call(s); /* one reader waits for the answer */
	}
}

/* Notes what was found of a frame that the device has. */
static void note_found(struct source *s, struct zstd_job *j, const struct search *f, bool batch)
{
	struct blocks *const b = j->blocks;

	__atomic_store_n(&j->taken, b->device.at - j->cut.offset, __ATOMIC_RELAXED);
	b->over |= !batch || f->why;
	b->fail = f->fail;
	if (f->why && b->fail.status == STATUS_OK)
		frames_bad(j->in->bytes, j->cut.offset, &b->fail, f->why);
	if (f->ends)
		blocks_last(s, j, f->trailer);
	b->last |= f->last;
}

static void find_unlocks(struct source *s, struct zstd_job *j)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *const r = s->zstd.rooms;
	struct blocks *const b = j->blocks;
	struct on_device *const d = &b->device;
	const unsigned which = free_room(r);
	const bool trial = d->on == ON_TRIAL, past = d->past_bytes[0] + d->past_bytes[1] > 0;
	const bool enough = !trial && b->end >= blocks_wanted(j);
	struct batch *const batch = !trial && (enough || b->last) ? NULL : batch_of(r, r->found);
	unsigned char *const room = batch ? u->room(u->arg, which) : NULL;
	struct search f = {.why = NULL, .fail = {.status = STATUS_OK}};

	if (batch)
		*batch = (struct batch){.state = BATCH_FILLING, .job = j, .room = which};
	r->finding = true;
	lock_drop(&s->lock);
	if (batch && past)
		find_past(r, d, batch);
	else if (batch)
		find_packed(r, j, batch, &f);
	else if (!enough)
		read_trailer(j, &f);
	if (batch && past)
		batch->bad = !read_batch(batch, room);
	lock_take(&s->lock);
	r->finding = false;
	if (trial && (f.why || f.last))
		end_trial(d, d->found);
	else if (!trial)
		note_found(s, j, &f, batch);
	if (!batch || f.why)
		return;
	r->found++;
	r->taken[which] = true;
	d->found++;
	d->blocks += batch->blocks;
	d->given += past ? 0 : batch->blocks * (uint64_t)FRAME_BLOCK_MAX;
	source_call(s); /* to find the next batch */
	if (!past) {
		lock_drop(&s->lock);
		batch->bad = !read_batch(batch, room);
		lock_take(&s->lock);
	}
	batch->state = BATCH_FULL;
	send_unlocks(s);
}

static void send_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_job *const j = next_to_send(s);

	(void)q;
	j->running++;
	if (!blocks_begun(j)) {
		blocks_begin_unlocks(s, j);
	} else {
		if (j->blocks->device.on == TO_DEVICE)
			go_on_device(s, j);
		find_unlocks(s, j);
	}
	j->running--;
	job_check(s, j);
}

const struct task send_task = {send_ready, send_run_unlocks};

/* ---- done ---- */

/* The batch that is done next, if it was sent and no reader waits for it; or NULL. */
static struct batch *next_done(const struct source *s)
{
	struct rooms *const r = s->zstd.rooms;

	return r && !r->waiting && r->sent > r->done ? batch_of(r, r->done) : NULL;
}

/* What a room holds becomes a piece. */
static void hand_out(struct source *s, struct zstd_job *j, unsigned which, size_t bytes)
{
	const struct unpacker *const u = s->use.unpacker;
	struct blocks *const b = j->blocks;
	struct zstd_piece *const p = &s->zstd.rooms->piece[which];

	s->totals.unpacked += bytes;
	p->job = j;
	p->data = u->room(u->arg, which);
	p->bytes = bytes;
	p->begin = b->end;
	b->end += bytes;
	blocks_hand_out(s, j, p, NULL);
}

/* Compares the trial's rate with that of the cores meanwhile. */
static void judge(struct source *s, struct zstd_job *j, enum unpacked got, size_t bytes)
{
	const struct blocks *const b = j->blocks;
	struct on_device *const d = &j->blocks->device;
	struct trial *const t = &d->trial;
	const unsigned rooms = s->zstd.rooms->count;
	const double now = clock_seconds();

	if (d->done > rooms)
		t->decoded += (double)bytes;
	else
		t->half = now;
	const uint64_t cores = b->end - t->cores;
	const double share = (now - t->half) / (now - t->begin); /* of the trial's time */
	const bool over = d->done == 2 * (uint64_t)rooms && t->batches == d->done;
	s->totals.slow |= over ? t->decoded < s->use.unpacker->gain * (double)cores * share
			       : cores > SLOW * d->given;
	if (got == UNPACKED_LOST || s->totals.slow) {
		end_trial(d, d->found);
	} else if (over) {
		d->on = TO_DEVICE;
		s->zstd.device = DEVICE_PAYS;
	}
}

static void take_answer(struct source *s, enum unpacked got, size_t bytes)
{
	struct rooms *const r = s->zstd.rooms;
	struct batch *const batch = batch_of(r, r->done++);
	struct zstd_job *const j = batch->job;
	struct on_device *const d = &j->blocks->device;

	batch->state = BATCH_FREE;
	r->taken[batch->room] = false;
	d->done++;
	d->blocks -= batch->blocks;
	if (!j->ended && !j->blocks->refused) {
		if (d->on == ON_TRIAL)
			judge(s, j, got, bytes);
		else if (got != UNPACKED_DONE)
			refuse(j, got == UNPACKED_LOST ? "the GPU failed" : "a block is damaged");
		else if (!batch->past)
			hand_out(s, j, batch->room, bytes);
	}
	source_call(s); /* for the next answer, or the room */
	job_check(s, j);
}

static void done_unlocks(struct source *s, double seconds)
{
	const struct unpacker *const u = s->use.unpacker;
	struct rooms *const r = s->zstd.rooms;
	const struct batch *const batch = next_done(s);
	enum unpacked got = UNPACKED_LOST;
	size_t bytes = 0;

	if (batch->state == BATCH_SENT) {
		r->waiting = true;
		lock_drop(&s->lock);
		got = u->done(u->arg, batch->room, seconds, &bytes);
		lock_take(&s->lock);
		r->waiting = false;
	}
	if (got != UNPACKED_NOT_YET)
		take_answer(s, got, bytes);
}

static bool done_ready(const struct source *s, const struct request *q)
{
	const struct unpacker *const u = s->use.unpacker;
	const struct batch *const batch = next_done(s);

	(void)q;
	return batch && (batch->state == BATCH_VOID || u->answered(u->arg, batch->room));
}

static void done_run_unlocks(struct source *s, struct request *q)
{
	(void)q;
	done_unlocks(s, 0);
}

const struct task done_task = {done_ready, done_run_unlocks};

/* A request that has got something does not wait for the device. */
static bool wait_ready(const struct source *s, const struct request *q)
{
	return q->got == 0 && next_done(s);
}

static void wait_run_unlocks(struct source *s, struct request *q)
{
	(void)q;
	done_unlocks(s, WAIT_SECONDS);
}

const struct task wait_task = {wait_ready, wait_run_unlocks};
