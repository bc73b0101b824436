/* SPDX-License-Identifier: MIT */
/*
 * zstd_device: the blocks of one long frame of a file, decoded by a device (unpacker.h).
 *
 * The cores begin the frame (zstd_blocks.c). Once the device is ready they fetch no more blocks,
 * and when all that they fetched is executed, the device goes on: it is given the decoded bytes
 * that matches may reach, and the offsets that repeat. From then on blocks go through its rooms in
 * batches, in these steps:
 *
 *   find     one reader at a time, in order: the blocks' headers say which packed bytes a batch has
 *   read     any reader: these bytes, into the room
 *   send     one reader at a time, in order: what else stands in the blocks' headers, for the device
 *   done     one reader at a time, in order: decoded bytes become a piece like others, handed out,
 *            counted, added to the checksum. When it is free, so is the room
 *
 * Where the device is only wanted if it is faster, it is tried first: it decodes the next blocks
 * while the cores decode them, too, and what it decodes is not used. Each room is used twice, and
 * the second time is compared with what the cores did meanwhile. One trial serves all frames.
 *
 * One frame at a time has the device. What a batch had when it was sent stays the device's until it
 * is done, so a job that has ended meanwhile waits for that.
 *
 * The device is trusted as little as our own decoder: what either refuses, a checksum that differs,
 * and a device that fails come to the same, which is that libzstd decodes the frame from its start.
 */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/little.h"
#include "input/zstd_blocks.h"

#define WAIT_SECONDS 0.001 /* how long a reader waits before it looks for other work */
/* A trial ends when the cores have decoded so many times what the device has been given. */
#define SLOW 4u

static_assert(sizeof(struct unpack_shares) == sizeof(struct block_shares), "the same text");
static_assert(UNPACK_BLOCK_MAX == FRAME_BLOCK_MAX, "one format");

static struct batch *batch_of(struct batches *d, uint64_t number)
{
	return &d->batch[number % d->rooms];
}

/* The piece for what the room of a batch holds when the batch is done. */
static struct zstd_piece *piece_of(struct blocks *b, uint64_t number)
{
	return &b->piece[SLOTS_MOST + number % b->device.rooms];
}

/* Where the next packed bytes of the frame are, in the file. */
static uint64_t next_at(const struct zstd_job *j)
{
	return j->cut.offset + j->taken - j->blocks->have;
}

/* ---- from the cores to the device ---- */

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

	if (!u || j->cut.from != FROM_FILE || s->zstd.on_device || s->zstd.device == DEVICE_TRIED ||
	    j->cut.window > UNPACKER_WINDOW || b->last ||
	    size <= offset_sum(next_at(j), u->least) ||
	    (wanted != NO_END && wanted <= offset_sum(b->end, u->least)))
		return false;
	const unsigned rooms = u->rooms(u->arg, &bytes);
	const uint64_t trial = must_be_tried(s) ? 2 * rooms * (uint64_t)bytes : 0;
	return rooms > 0 && (wanted == NO_END || wanted - b->end > trial);
}

/* The next batch that is found begins behind what the cores have fetched. */
static void begin_behind_cores(struct zstd_job *j)
{
	struct batches *const d = &j->blocks->device;

	d->at = next_at(j);
	d->cores = j->blocks->fetched;
	device_scan(j->blocks);
	d->found = d->sent = d->done = 0;
	for (unsigned i = 0; i < d->rooms; i++)
		d->batch[i].state = BATCH_FREE;
}

void device_scan(struct blocks *b)
{
	if (b->device.on != ON_CORES && b->scanned == b->device.cores)
		b->device.scan = b->scan;
}

void device_begin(struct source *s, struct zstd_job *j)
{
	const struct unpacker *const u = s->use.unpacker;
	struct batches *const d = &j->blocks->device;

	d->rooms = u->rooms(u->arg, &d->room_bytes);
	if (d->rooms == 0) /* the device has failed since */
		return;
	s->zstd.on_device = j;
	j->pieces = BLOCKS_PIECES;
	d->on = must_be_tried(s) ? ON_TRIAL : TO_DEVICE;
	if (d->on == TO_DEVICE)
		return;
	s->zstd.device = DEVICE_TRIED;
	begin_behind_cores(j);
	d->trial = (struct trial){
		.batches = 2 * d->rooms, .begin = clock_seconds(), .cores = j->blocks->end};
}

void device_leave(struct source *s, const struct zstd_job *j)
{
	if (s->zstd.on_device == j)
		s->zstd.on_device = NULL;
}

/* All that the cores fetched is executed: as much of it as a match may reach goes to the device. */
static void go_on_device(struct zstd_job *j)
{
	struct blocks *const b = j->blocks;
	struct batches *const d = &b->device;
	const uint64_t past = lesser(b->past.bytes, j->cut.window);
	const size_t latest =
		b->past.end ? (size_t)lesser(past, (uint64_t)(b->past.end - b->past.begin)) : 0;

	d->on = ON_DEVICE;
	begin_behind_cores(j);
	d->past_bytes[0] = (size_t)past - latest;
	d->past_bytes[1] = latest;
	d->past[0] = past > latest ? b->past.older - d->past_bytes[0] : NULL;
	d->past[1] = latest > 0 ? b->past.end - latest : NULL;
}

/* ---- find, and read ---- */

static bool room_free(struct blocks *b)
{
	const struct batches *const d = &b->device;

	return d->found - d->done < d->rooms && piece_of(b, d->found)->state == PIECE_FREE;
}

static bool may_send(const struct source *s, const struct zstd_job *j, const struct request *q)
{
	struct blocks *const b = j->blocks;

	(void)s;
	(void)q;
	if (!blocks_begun(j) || b->device.on == ON_CORES || b->device.finding || b->over ||
	    b->refused)
		return false;
	const struct batches *const d = &b->device;
	if (d->on == ON_TRIAL)
		return b->scanned >= d->cores && d->found < d->trial.batches && room_free(b);
	if (b->fetching || b->executed < b->fetched)
		return false;
	const uint64_t enough = blocks_wanted(j);
	if (b->end >= enough)
		return d->found == d->done; /* it is over */
	return b->end + d->blocks * FRAME_BLOCK_MAX < enough && (b->last || room_free(b));
}

static bool send_ready(const struct source *s, const struct request *q)
{
	return blocks_find(s, q, may_send);
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
static unsigned blocks_most(const struct batches *d)
{
	const size_t most = (d->room_bytes - sizeof(struct unpack_orders)) / FRAME_BLOCK_MAX;

	return most < UNPACK_BLOCKS ? (unsigned)most : UNPACK_BLOCKS;
}

/* Makes a batch of past decoded bytes, as many as fit, in blocks that are stored. */
static void find_past(struct batches *d, struct batch *batch)
{
	const size_t most = (size_t)blocks_most(d) * FRAME_BLOCK_MAX,
		     all = d->past_bytes[0] + d->past_bytes[1];

	batch->past = true;
	batch->bytes = all < most ? all : most;
	batch->blocks = (unsigned)((batch->bytes + FRAME_BLOCK_MAX - 1) / FRAME_BLOCK_MAX);
}

/* Finds the next batch by the headers of its blocks. */
static void find_packed(struct zstd_job *j, struct batch *batch, struct search *f)
{
	struct batches *const d = &j->blocks->device;
	const size_t room = d->room_bytes - sizeof(struct unpack_orders);
	const unsigned most = blocks_most(d);
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
	struct batches *const d = &j->blocks->device;
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
static bool read_batch(struct zstd_job *j, const struct batch *batch, unsigned char *room)
{
	struct batches *const d = &j->blocks->device;
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

static void describe_past(const struct batch *batch, struct unpack_orders *o)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < batch->blocks; i++) {
		const uint32_t n =
			(uint32_t)lesser((uint64_t)batch->bytes - at, (uint64_t)FRAME_BLOCK_MAX);
		o->block[i] = (struct unpack_block){.literals_at = at,
						    .literals_packed = n,
						    .literals = n,
						    .how = UNPACK_PLAIN,
						    .most = n};
		at += n;
	}
}

static void describe_block(const struct block *b, const unsigned char *room, struct unpack_batch *o,
			   struct unpack_block *to, uint32_t *apart)
{
	static const uint32_t HOW[] = {[LITERALS_PLAIN] = UNPACK_PLAIN,
				       [LITERALS_REPEAT] = UNPACK_REPEAT,
				       [LITERALS_ONE_STREAM] = UNPACK_ONE_STREAM,
				       [LITERALS_FOUR_STREAMS] = UNPACK_FOUR_STREAMS};

	*to = (struct unpack_block){
		.literals_at = (uint32_t)(b->literals_at - room),
		.literals_packed = b->literals_packed,
		.literals = b->literals,
		.how = HOW[b->how],
		.sequences = b->sequences,
		.first = o->sequences,
		.apart = *apart,
		.most = b->sequences > 0 ? b->most : b->bytes,
	};
	if (b->how >= LITERALS_ONE_STREAM)
		memcpy(to->tree, b->tree.packed, sizeof(b->tree.packed));
	if (b->sequences == 0)
		return;
	to->sequences_at = (uint32_t)(b->sequences_at - room);
	to->sequences_packed = b->sequences_packed;
	memcpy(to->shares, b->shares, sizeof(to->shares));
	o->sequences += b->sequences;
	*apart += (b->literals + 31) / 16 * 16;
}

/* Tells the device of the packed blocks in a room. NULL, or why one is refused. */
static const char *describe(struct zstd_job *j, const struct batch *batch, unsigned char *room)
{
	const struct blocks *const b = j->blocks;
	struct batches *const d = &j->blocks->device;
	struct unpack_orders *const o =
		(struct unpack_orders *)(void *)(room + d->room_bytes - sizeof(*o));
	const unsigned char *at = room;
	uint32_t apart = 0;

	o->batch = (struct unpack_batch){.blocks = batch->blocks,
					 .begins = d->sent == 0,
					 .window = j->cut.window,
					 .repeat = {1, 4, 8}}; /* those of a frame's beginning */
	if (d->on == ON_DEVICE)
		memcpy(o->batch.repeat, b->past.repeat, sizeof(o->batch.repeat));
	if (batch->past) {
		describe_past(batch, o);
		return NULL;
	}
	for (unsigned i = 0; i < batch->blocks; i++) {
		struct frame_block h;
		struct block block;
		/* The file may have changed since. */
		if (frame_block_parse(at, &h) != 0 ||
		    h.stored > (size_t)(room + batch->bytes - at) - FRAME_BLOCK_HEADER)
			return "it has changed while it was read";
		at += FRAME_BLOCK_HEADER;
		const char *const why = block_scan(&d->scan, &h, at, &block);
		if (why)
			return why;
		describe_block(&block, room, &o->batch, &o->block[i], &apart);
		at += h.stored;
	}
	return NULL;
}

/* Nothing more of the frame is used: libzstd decodes it again, or says what is wrong. */
static void refuse(struct zstd_job *j, const char *why)
{
	j->blocks->refused = true;
	frames_bad(j->in->bytes, j->cut.offset, &j->fail, why);
}

/* Ends the trial after `batches` batches, without a verdict. */
static void end_trial(struct batches *d, uint64_t batches)
{
	d->trial.batches = lesser(d->trial.batches, batches);
}

/* Sends the batches that were read, in order, unless another reader does. */
static void send_unlocks(struct source *s, struct zstd_job *j)
{
	const struct unpacker *const u = s->use.unpacker;
	struct blocks *const b = j->blocks;
	struct batches *const d = &b->device;

	while (!d->sending && !b->refused && !j->ended && d->sent < d->found) {
		struct batch *const batch = batch_of(d, d->sent);
		const unsigned which = (unsigned)(d->sent % d->rooms);
		if (batch->state != BATCH_FULL)
			return;
		d->sending = true;
		lock_drop(&s->lock);
		const char *const why =
			batch->bad ? FRAMES_TRUNCATED : describe(j, batch, u->room(u->arg, which));
		if (!why)
			u->submit(u->arg, which, batch->bytes);
		lock_take(&s->lock);
		d->sending = false;
		batch->state = why ? BATCH_FREE : BATCH_SENT;
		d->sent += !why;
		if (why && d->on == ON_TRIAL)
			end_trial(d, d->sent);
		else if (why && !j->ended)
			refuse(j, why);
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
	struct blocks *const b = j->blocks;
	struct batches *const d = &b->device;
	const bool trial = d->on == ON_TRIAL, past = d->past_bytes[0] + d->past_bytes[1] > 0;
	const bool enough = !trial && b->end >= blocks_wanted(j);
	struct batch *const batch = !trial && (enough || b->last) ? NULL : batch_of(d, d->found);
	const unsigned which = (unsigned)(d->found % d->rooms);
	unsigned char *const room = s->use.unpacker->room(s->use.unpacker->arg, which);
	struct search f = {.why = NULL, .fail = {.status = STATUS_OK}};

	if (batch)
		*batch = (struct batch){.state = BATCH_FILLING};
	d->finding = true;
	lock_drop(&s->lock);
	if (batch && past)
		find_past(d, batch);
	else if (batch)
		find_packed(j, batch, &f);
	else if (!enough)
		read_trailer(j, &f);
	if (batch && past)
		batch->bad = !read_batch(j, batch, room);
	lock_take(&s->lock);
	d->finding = false;
	if (trial && (f.why || f.last))
		end_trial(d, d->found);
	else if (!trial)
		note_found(s, j, &f, batch);
	if (!batch || f.why)
		return;
	d->found++;
	d->blocks += batch->blocks;
	d->trial.given += batch->blocks * (uint64_t)FRAME_BLOCK_MAX;
	source_call(s); /* to find the next batch */
	if (!past) {
		lock_drop(&s->lock);
		batch->bad = !read_batch(j, batch, room);
		lock_take(&s->lock);
	}
	batch->state = BATCH_FULL;
	send_unlocks(s, j);
}

static void send_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_job *const j = blocks_find(s, q, may_send);

	j->running++;
	if (j->blocks->device.on == TO_DEVICE)
		go_on_device(j);
	find_unlocks(s, j);
	j->running--;
	job_check(s, j);
}

const struct task send_task = {send_ready, send_run_unlocks};

/* ---- done ---- */

/* The job, ended or not, of which the device has batches that no reader waits for; or NULL. */
static struct zstd_job *waiting_job(const struct source *s)
{
	for (struct zstd_job *j = jobs_first(s->inputs); j && s->zstd.on_device; j = jobs_next(j))
		if (j == s->zstd.on_device)
			return device_busy(j->blocks) && !j->blocks->device.waiting ? j : NULL;
	return NULL;
}

/* The room of the batch that is done next. */
static unsigned next_done(const struct batches *d)
{
	return (unsigned)(d->done % d->rooms);
}

/* What a room holds becomes a piece. */
static void hand_out(struct source *s, struct zstd_job *j, uint64_t number, size_t bytes)
{
	const struct unpacker *const u = s->use.unpacker;
	struct blocks *const b = j->blocks;
	struct zstd_piece *const p = piece_of(b, number);

	s->totals.unpacked += bytes;
	p->data = u->room(u->arg, (unsigned)(number % b->device.rooms));
	p->bytes = bytes;
	p->begin = b->end;
	b->end += bytes;
	blocks_hand_out(s, j, p, NULL);
}

/* Compares the trial's rate with that of the cores meanwhile. */
static void judge(struct source *s, struct zstd_job *j, enum unpacked got, size_t bytes)
{
	const struct blocks *const b = j->blocks;
	struct batches *const d = &j->blocks->device;
	struct trial *const t = &d->trial;
	const double now = clock_seconds();

	if (d->done > d->rooms)
		t->decoded += (double)bytes;
	else
		t->half = now;
	const uint64_t cores = b->end - t->cores;
	const double share = (now - t->half) / (now - t->begin); /* of the trial's time */
	const bool over = d->done == 2 * (uint64_t)d->rooms && t->batches == d->done;
	s->totals.slow |= over ? t->decoded < s->use.unpacker->gain * (double)cores * share
			       : cores > SLOW * t->given;
	if (got == UNPACKED_LOST || s->totals.slow) {
		end_trial(d, d->found);
	} else if (over) {
		d->on = TO_DEVICE;
		s->zstd.device = DEVICE_PAYS;
	}
}

static void take_answer(struct source *s, struct zstd_job *j, enum unpacked got, size_t bytes)
{
	struct blocks *const b = j->blocks;
	struct batches *const d = &b->device;
	const uint64_t number = d->done++;
	struct batch *const batch = batch_of(d, number);

	batch->state = BATCH_FREE;
	d->blocks -= batch->blocks;
	if (j->ended || b->refused)
		return;
	if (d->on == ON_TRIAL)
		judge(s, j, got, bytes);
	else if (got != UNPACKED_DONE)
		refuse(j, got == UNPACKED_LOST ? "the GPU failed" : "a block is damaged");
	else if (!batch->past)
		hand_out(s, j, number, bytes);
}

static void done_unlocks(struct source *s, double seconds)
{
	const struct unpacker *const u = s->use.unpacker;
	struct zstd_job *const j = waiting_job(s);
	struct batches *const d = &j->blocks->device;
	size_t bytes = 0;

	d->waiting = true;
	lock_drop(&s->lock);
	const enum unpacked got = u->done(u->arg, next_done(d), seconds, &bytes);
	lock_take(&s->lock);
	d->waiting = false;
	if (got == UNPACKED_NOT_YET)
		return;
	take_answer(s, j, got, bytes);
	source_call(s); /* for the next answer, or the room */
	job_check(s, j);
}

static bool done_ready(const struct source *s, const struct request *q)
{
	const struct unpacker *const u = s->use.unpacker;
	const struct zstd_job *const j = waiting_job(s);

	(void)q;
	return j && u->answered(u->arg, next_done(&j->blocks->device));
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
	return q->got == 0 && waiting_job(s);
}

static void wait_run_unlocks(struct source *s, struct request *q)
{
	(void)q;
	done_unlocks(s, WAIT_SECONDS);
}

const struct task wait_task = {wait_ready, wait_run_unlocks};
