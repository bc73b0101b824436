/* SPDX-License-Identifier: MIT */
/*
 * zstd_plan: decides what the next job of an input is, who decodes it, and how much memory it
 * takes. Reads headers, and a few blocks; without the lock.
 *
 * The threads that decode a file's frames also read them. A stream's frames are gathered in
 * input.bytes: the reader waits for no more bytes than the next frame needs, or only for its header
 * if rows are wanted at once (source_spec.prompt). A frame that does not fit the memory is decoded
 * in steps.
 */
#include "base/huge.h"
#include "zstd/block.h"
#include "zstd/unpacker.h"
#include "zstd/zstd_cost.h"
#include "frames/zstd_blocks.h"
#include "frames/zstd_decode.h"

#define CONTEXT_BYTES ((uint64_t)256 << 10) /* libzstd's memory for calls, without a window */
#define STEPS_BYTES ((uint64_t)512 << 10)   /* libzstd's memory for steps, besides the window */
#define RATIO 4u            /* decoded bytes per packed one, if a frame declares no size */
#define SEAM_SMALL 4096u    /* bytes of records whose seams are not counted as memory */
#define SLOTS_LEAST 8u      /* slots of a frame in blocks, if the memory allows */
#define WORK_LEAST 4096u    /* least work of a block: its literals and 3 per sequence */
#define WORK_BLOCKS 4u      /* blocks scanned to find that work */
#define LITERALS_OF_TWO 16u /* literals per sequence that make blocks pay for two threads */

/* Return how many decoded bytes -n or --part leaves; NO_END: no end, or not known. */
static uint64_t bytes_wanted(const struct planner *p)
{
	const uint64_t limit = p->in->limit;

	return limit == NO_END || p->at == UNKNOWN ? NO_END : limit - p->at;
}

/* May -n or --part end in the frame? */
static bool ends_in(const struct planner *p, const struct frame *f)
{
	if (p->spec->text.on) /* it is known when the last line is read */
		return p->use->limit != NO_LIMIT;
	return p->in->limit != NO_END &&
	       (p->at == UNKNOWN || f->header.declared >= bytes_wanted(p));
}

/* ---- headers ---- */

/*
 * Return an -M, in MiB, that leaves decoders `need` bytes: they get half of it (plan.h), or less
 * if the tables of a single worker take more.
 */
static ull memory_for(const struct planner *p, uint64_t need)
{
	const uint64_t tables = p->spec->memory - p->use->memory,
		       least = need + (tables > need ? tables : need);

	return (least + (1 << 20) - 1) >> 20;
}

/* Refuse a frame that cannot be decoded, or not with this much memory. */
static int refuse_frame(const struct planner *p, const struct frame *f, struct fail *fail)
{
	const uint64_t need = f->header.window;

	if (f->header.dictionary)
		return frames_bad(
			p->in->bytes, f->offset, fail,
			"it needs a dictionary; pipe the file through `zstd -dc -D DICTIONARY`");
	if (need <= p->use->memory || f->header.declared < p->use->memory / 2)
		return 0;
	if (need > (uint64_t)1 << 31)
		return frames_bad(p->in->bytes, f->offset, fail,
				  "its window is larger than 2 GiB, which libzstd does not decode");
	return fail_set(fail, STATUS_LIMIT,
			"%s: zstd frame at offset %llu: its window of %llu bytes needs -M %lluM",
			p->in->name, (ull)f->offset, (ull)need, memory_for(p, need));
}

/* Find the header of the next frame of data, after skippable ones, and move zstd->pos there. */
static enum find next_header(const struct planner *p, struct frame *f, struct fail *fail)
{
	const enum find found = frames_next(p->in->bytes, &p->in->zstd->pos, f, fail);

	return found == FIND_FRAME && refuse_frame(p, f, fail) != 0 ? FIND_BAD : found;
}

/* ---- the memory of a job ---- */

/*
 * Could a call of libzstd miss a block that is too long for the frame's window (frame_in_steps)?
 * The call may write `bound` bytes, so a block cannot exceed a window of at least that many.
 */
static bool small_window(const struct frame *f)
{
	return f->header.window < FRAME_BLOCK_MAX && f->bound > f->header.window;
}

/* Plan the memory of a job: `piece_bytes` for a piece of CALLS, `context` for libzstd. */
static void plan_libzstd(const struct source_use *use, struct cut *c, enum how how,
			 uint64_t piece_bytes, uint64_t context)
{
	const uint32_t record = use->record;
	const bool calls = how == HOW_CALLS;

	c->how = how;
	c->piece_bytes = calls ? larger(piece_bytes, 1) : PIECE_BYTES;
	c->memory.packed = calls || c->from == FROM_MEMORY ? c->packed_bytes : PACKED_BYTES;
	c->memory.context = context;
	c->memory.blocks = 0;
	for (c->pieces = calls || use->threads == 1 ? 1 : PIECES;; c->pieces = 1) {
		c->memory.seams = record <= SEAM_SMALL || c->text ? 0 : 2 * (uint64_t)record;
		c->need = huge_grown(c->piece_bytes) * c->pieces + huge_grown(c->memory.packed) +
			  c->memory.context + c->memory.seams;
		if (c->pieces == 1 || c->need <= use->memory)
			return;
	}
}

void cut_as_steps(const struct source_use *use, struct cut *c)
{
	plan_libzstd(use, c, HOW_STEPS, 0, STEPS_BYTES + lesser(c->window, c->declared));
}

/* Plan the job of a frame whose end was found. `many`: more frames like it are left. */
static void plan_found(const struct planner *p, struct cut *c, const struct frame *f, bool many)
{
	/* Pieces that wait for their offset or their turn would hold up the decoder of steps. */
	const bool waits = f->header.declared == UNKNOWN || p->spec->ordered;
	const uint64_t most = waits || many ? FIND_MAX : WHOLE_MAX;

	c->packed_bytes = f->packed_bytes;
	const uint64_t steps = STEPS_BYTES + lesser(c->window, c->declared);
	plan_libzstd(p->use, c, HOW_CALLS, f->bound,
		     frame_in_steps(f, p->spec->no_check) ? steps : CONTEXT_BYTES);
	const struct cut calls = *c;
	if (small_window(f) || f->bound > most || c->need > p->use->memory) {
		cut_as_steps(p->use, c);
		/* One call does not fit the memory; keep it anyway if steps need even more. */
		if (!small_window(f) && f->bound <= most && calls.need < c->need)
			*c = calls;
	}
}

/* ---- a long frame in blocks ---- */

/* Plan a job in blocks, if that fits the memory. The memory suffices for steps, too. */
static void plan_blocks(const struct source_use *use, struct cut *c)
{
	const struct cut steps = *c;
	const unsigned threads = use->threads;
	const unsigned most = (unsigned)lesser(larger(4 * threads, SLOTS_LEAST), SLOTS_MOST);

	c->how = HOW_BLOCKS;
	c->piece_bytes = c->memory.context = 0;
	c->memory.packed = c->from == FROM_FILE ? 0 : steps.memory.packed;
	for (c->pieces = most; c->pieces >= lesser(threads + 2, most); c->pieces--) {
		const uint64_t bytes =
			blocks_bytes(lesser(c->window, c->declared), c->pieces, threads);
		c->memory.blocks = larger(bytes, steps.need);
		c->need = c->memory.blocks + huge_grown(c->memory.packed) + c->memory.seams;
		if (c->need <= use->memory)
			return;
	}
	*c = steps;
}

/* Plan a job that a device decodes, with memory for steps, should the device fail. */
static void plan_device(const struct source_use *use, struct cut *c)
{
	cut_as_steps(use, c);
	c->how = HOW_DEVICE;
	c->piece_bytes = c->memory.packed = c->memory.context = 0;
	c->pieces = 0;
	c->memory.blocks = larger(blocks_bytes(0, 0, 0), c->need - c->memory.seams);
	c->need = c->memory.blocks + c->memory.seams;
}

/* Estimate the packed bytes left, this frame included: assume later inputs as large as this. */
static uint64_t packed_left(const struct planner *p, const struct frame *f)
{
	const uint64_t size = bytes_size(p->in->bytes);
	const uint64_t here = size > f->offset ? size - f->offset : 0;

	return here + (p->spec->path_count - p->in->index - 1) * size;
}

/*
 * Are fewer frames like this one left than readers? If not, each reader decodes a frame of its own,
 * which takes less CPU time, unless frames are so long that the next one is not found in time.
 */
static bool few_left(const struct planner *p, const struct frame *f)
{
	/* Until its end is found, the bytes in which it was followed. */
	const uint64_t packed = f->packed_bytes == UNKNOWN ? f->walked : f->packed_bytes;

	return ends_in(p, f) || packed >= AHEAD || packed > packed_left(p, f) / p->use->threads;
}

/* Literals and sequences of some blocks of a frame. */
struct ahead {
	struct block_scan scan;
	uint64_t literals, sequences;
	uint64_t packed; /* bytes of the blocks in the frame */
	unsigned blocks;
	bool last; /* the frame's last block is among them */
};

/* Scan up to `most` blocks, starting at packed offset `at`. False: one is damaged or missing. */
static bool scan_blocks(struct input *in, uint64_t at, unsigned most, struct ahead *w)
{
	const size_t head = FRAME_BLOCK_HEADER;
	struct fail bad = {.status = STATUS_OK};
	const unsigned char *bytes;
	struct frame_block h;
	struct block b;
	size_t got;

	for (unsigned n = 0; n < most && !w->last; n++, at += h.packed_bytes) {
		if (bytes_look(in->bytes, at, head, SIZE_MAX, &bytes, &got, &bad) != 0 ||
		    got < head || frame_block_parse(bytes, &h) != 0)
			return false;
		at += head;
		if (bytes_look(in->bytes, at, h.packed_bytes, SIZE_MAX, &bytes, &got, &bad) != 0 ||
		    got < h.packed_bytes || block_scan(&w->scan, &h, bytes, &b))
			return false;
		w->literals += b.literals;
		w->sequences += b.sequences;
		w->packed += head + h.packed_bytes;
		w->blocks++;
		w->last = h.last;
	}
	return true;
}

/*
 * Does it pay to decode the frame in blocks? Scans the first blocks. If they have few literals and
 * sequences, they are mostly long matches, or very small, and libzstd is as fast as memory.
 */
static bool blocks_pay(struct input *in, const struct frame *f, unsigned most, struct ahead *w)
{
	*w = (struct ahead){.blocks = 0};
	block_scan_begin(&w->scan, f->header.window);
	return scan_blocks(in, f->offset + f->header.bytes, most, w) &&
	       w->literals + 3 * w->sequences >= w->blocks * WORK_LEAST;
}

/* Is the frame long enough to decode in blocks, and its window small enough? */
static bool frame_is_long(const struct planner *p, const struct frame *f)
{
	const uint64_t bytes = lesser(f->header.declared, f->bound);

	return f->header.window <= BLOCK_WINDOW_MAX && lesser(bytes, bytes_wanted(p)) > WHOLE_MAX;
}

/*
 * Would a device decode this frame and the rest of the inputs sooner than the cores? Scans the
 * blocks where the walk of the frame stopped, if any: a frame's first blocks have few matches.
 */
static bool device_pays(const struct planner *p, const struct frame *f, bool ready,
			const struct ahead *first)
{
	struct ahead w = {.scan = first->scan};
	const uint64_t declared = f->header.declared, left = packed_left(p, f);
	const bool ends = f->packed_bytes != UNKNOWN; /* its end was found */
	const uint64_t packed =
		ends ? f->packed_bytes : larger(bytes_size(p->in->bytes) - f->offset, 1);

	if (ends || !scan_blocks(p->in, f->offset + f->walked, WORK_BLOCKS, &w))
		w = *first;
	const double ratio = declared != UNKNOWN ? (double)declared / (double)packed
						 : (double)f->decoded_most / (double)f->walked;
	const double bytes = (double)left * ratio, wanted = (double)bytes_wanted(p),
		     share = wanted < bytes ? wanted / bytes : 1;
	const double blocks = share * (double)left / (double)w.packed;
	const struct zstd_work work = {.literals = (double)w.literals * blocks,
				       .sequences = (double)w.sequences * blocks,
				       .bytes = share * bytes,
				       .checked = !p->spec->no_check};
	return zstd_device_pays(&work, p->use->threads, ready);
}

/* Return the state of the device for this frame. */
static unsigned device_of(const struct planner *p, const struct frame *f)
{
	const struct unpacker *const u = p->use->unpacker;
	size_t bytes;

	if (!u || p->spec->text.on || !p->device_takes || f->header.window > UNPACKER_WINDOW)
		return DEVICE_NONE;
	return u->rooms(u->arg, &bytes) > 0 ? DEVICE_READY : DEVICE_ASLEEP;
}

/* Choose who decodes the cut's first frame, which libzstd could. Start the device if it pays. */
static enum zstd_way choose(const struct planner *p, const struct cut *c, const struct frame *f)
{
	struct input *const in = p->in;
	/* A stream may be quiet for long. */
	const unsigned most = !in->is_file && p->spec->prompt ? 1 : WORK_BLOCKS;
	const unsigned device = device_of(p, f);
	struct zstd_facts facts = {.one_call = c->how == HOW_CALLS,
				   .file = in->is_file,
				   .read = c->from == FROM_MEMORY,
				   .large = frame_is_long(p, f),
				   .few = few_left(p, f),
				   .sized = f->header.declared != UNKNOWN,
				   .ordered = p->spec->ordered,
				   .threads = p->use->threads,
				   .device = device,
				   .demanded = device != DEVICE_NONE && p->use->unpacker->demanded};
	struct ahead first;

	if (zstd_asks(&facts) && (facts.dense = blocks_pay(in, f, most, &first))) {
		facts.literals = first.literals >= LITERALS_OF_TWO * first.sequences;
		facts.pays = device != DEVICE_NONE && !facts.demanded && facts.few && in->is_file &&
			     device_pays(p, f, device == DEVICE_READY, &first);
	}
	const enum zstd_way way = zstd_way(&facts);
	if (way != WAY_START)
		return way;
	if (p->use->start_device(p->use->arg) && device_of(p, f) == DEVICE_READY)
		return WAY_DEVICE;
	facts.device = DEVICE_NONE;
	return zstd_way(&facts);
}

/* Estimate the decoded bytes of a frame. */
static uint64_t weight(const struct frame *f)
{
	return f->header.declared != UNKNOWN ? f->bound : lesser(f->bound, RATIO * f->packed_bytes);
}

/* Is there a small frame at `offset`? In a stream, only bytes already read count. */
static bool next_small(const struct planner *p, uint64_t offset, struct frame *f)
{
	struct input *const in = p->in;
	struct fail bad = {.status = STATUS_OK};
	enum frame_kind kind = FRAME_SHORT;
	size_t got;

	return frames_header(in->bytes, offset, !in->is_file, f, &kind, &got, &bad) == FIND_FRAME &&
	       refuse_frame(p, f, &bad) == 0 &&
	       (f->header.declared == UNKNOWN || f->header.declared <= GATHER_BYTES / 4) &&
	       frames_walk(in->bytes, f, GATHER_BYTES / 2, !in->is_file, &bad) == FIND_FRAME &&
	       !small_window(f) && !frame_in_steps(f, p->spec->no_check) &&
	       f->bound <= GATHER_BYTES;
}

/*
 * Add the small frames after a first one to its cut. A bad frame is left for the next cut, which
 * reports it.
 */
static void gather(const struct planner *p, const struct frame *first, struct cut *c)
{
	const struct cut alone = *c;
	uint64_t sum = first->bound, most = sum, weights = weight(first);
	struct frame f;

	while (weights < GATHER_BYTES && c->packed_bytes < GATHER_BYTES &&
	       next_small(p, c->offset + c->packed_bytes, &f)) {
		c->packed_bytes += f.packed_bytes;
		c->declared = c->declared == UNKNOWN || f.header.declared == UNKNOWN
				      ? UNKNOWN
				      : c->declared + f.header.declared;
		c->checksum = p->spec->no_check; /* else libzstd checks them */
		sum += f.bound;
		most = larger(most, f.bound);
		weights += weight(&f);
	}
	/* Frames that declare no size have loose bounds: the piece holds as many as fit. */
	plan_libzstd(p->use, c, HOW_CALLS,
		     sum < 2 * GATHER_BYTES ? sum : larger(most, 2 * GATHER_BYTES), CONTEXT_BYTES);
	if (c->need > p->use->memory) {
		*c = alone;
		plan_found(p, c, first, false);
	}
}

/* ---- the next job ---- */

/*
 * Follow the frame to its end, or far enough to know who decodes it. Its damage may lie after -n's
 * last record, or --finish may have ended the stream there: then the decoder finds out.
 */
static enum find walk_frame(const struct planner *p, struct frame *f, struct fail *fail)
{
	struct input *const in = p->in;
	const uint64_t declared = f->header.declared;
	const uint64_t most = in->is_file ? FIND_MAX : in->zstd->stream_bytes - PACKED_BYTES;
	enum find found = FIND_FAR;

	if (in->is_file || declared == UNKNOWN || declared <= FIND_MAX)
		/* If rows are wanted at once, follow only bytes already read. */
		found = frames_walk(in->bytes, f, most, !in->is_file && p->spec->prompt, fail);
	/* Follow a file's frame until it is known whether all readers decode it. */
	while (found == FIND_FAR && in->is_file && (p->use->threads > 1 || p->use->unpacker) &&
	       !few_left(p, f))
		found = frames_walk(in->bytes, f, f->walked + most, false, fail);
	if (found == FIND_BAD && (ends_in(p, f) || bytes_finished(in->bytes))) {
		found = FIND_FAR;
		fail->status = STATUS_OK;
	}
	return found;
}

/* Plan the job of a frame; `whole`: its end was found. */
static void plan_frame(const struct planner *p, const struct frame *f, bool whole, struct cut *c)
{
	c->from = p->in->is_file ? FROM_FILE : whole ? FROM_MEMORY : FROM_STREAM;
	if (whole && f->bound <= GATHER_BYTES / 4 && !small_window(f)) {
		c->packed_bytes = f->packed_bytes;
		gather(p, f, c);
	} else if (whole) {
		plan_found(p, c, f, !few_left(p, f));
	} else {
		cut_as_steps(p->use, c);
	}
	const enum zstd_way way = choose(p, c, f);
	if (way == WAY_DEVICE)
		plan_device(p->use, c);
	else if (way == WAY_BLOCKS)
		plan_blocks(p->use, c);
	if (c->how == HOW_CALLS && p->spec->ordered && !p->spec->no_check)
		c->checksum = false; /* libzstd checks it before a byte is handed out */
}

/* Refuse records that are too large for the memory. */
static bool records_fit(const struct planner *p, struct cut *c)
{
	if (c->memory.seams == 0 || c->need <= p->use->memory)
		return true;
	fail_set(&c->fail, STATUS_LIMIT,
		 "%s: zstd frame at offset %llu: its records of %lu bytes need -M %lluM",
		 p->in->name, (ull)c->offset, (unsigned long)p->use->record,
		 memory_for(p, c->need));
	return false;
}

void cut_plan(const struct planner *p, struct cut *c)
{
	struct zstd_input *const z = p->in->zstd;
	struct frame f;

	*c = (struct cut){.declared = UNKNOWN, .packed_bytes = UNKNOWN, .text = p->spec->text.on};
	enum find found = next_header(p, &f, &c->fail);
	c->offset = z->pos;
	if (found == FIND_FRAME) {
		c->declared = f.header.declared;
		c->window = f.header.window;
		c->header = f.header.bytes;
		c->checksum = f.header.checksum;
		found = walk_frame(p, &f, &c->fail);
		plan_frame(p, &f, found == FIND_FRAME, c);
		z->walk = f; /* for walking on while a file's frame is decoded */
		z->walks = found == FIND_FAR && !ends_in(p, &f);
	}
	/* The file was longer when it was opened. */
	if (found == FIND_NONE && z->pos < bytes_size(p->in->bytes)) {
		fail_set(&c->fail, STATUS_DATA, "%s became shorter while it was read", p->in->name);
		found = FIND_BAD;
	}
	c->what = found == FIND_NONE || found == FIND_STOPPED ? CUT_END
		  : found == FIND_BAD || !records_fit(p, c)   ? CUT_BAD
							      : CUT_JOB;
	if (c->what == CUT_BAD) /* it is not decoded */
		c->need = 0;
}
