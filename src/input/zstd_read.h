/* SPDX-License-Identifier: MIT */
/*
 * zstd_read: compressed inputs, decoded by the readers themselves, in parallel.
 *
 * A frame is found by its header and its block headers, three bytes in 50,000, without decoding it.
 * One reader at a time is an input's cutter (the input is BUSY): it cuts the next unit off and
 * keeps it.
 *
 *   WHOLE   small frames that follow one another, or one frame that a reader's share of the memory
 *           holds. Decoded in one call into a piece of memory of the reader's, which it lends;
 *           straight into the caller's buffer where the caller cannot borrow
 *   LONG    any other frame. Its reader decodes it into one piece after another, which any reader
 *           takes; when it has no free piece the decoding reader takes one itself. In a file the
 *           next frame is cut meanwhile, where the end of this one was found; else the input stays
 *           BUSY until the decoder has reached it
 *
 * A unit's offset among the decoded bytes decides which of them are skipped, wanted by -n, parts of
 * a record that another unit completes, or a header or what follows the samples (zstd_place.c). It
 * is known when all units before it in the same input have their sizes: from their headers, or
 * because they were decoded.
 *
 * Memory is a counted number of bytes, taken by the cutter, so in the order of units; and no more
 * than `decoders` readers hold some. What a reader holds it keeps for its next unit. A cutter that
 * may not hold what it needs takes over what sleeping readers hold; while it waits, a reader gives
 * it all of its own before it sleeps or ends.
 *
 * A record that lies in several units is put together in memory of its own, a seam: each unit's
 * reader copies its part when it has decoded it, and who copies the last one hands the record out.
 * No thread waits for a seam. There are at most 5 for each reader and one more, and
 * source_seam_bytes has their memory:
 *   - A seam that is not whole lacks bytes of a unit that a reader has and has not sorted out, or
 *     of one that is not cut yet. What a reader has is a run of bytes, which begins inside one
 *     record and ends inside one: two seams for each reader. What is not cut begins inside one
 *     record: one seam more. It does not matter how many units a record needs, and how far ahead
 *     other readers are. An input that ends inside a record keeps that until its last unit is done:
 *     one for each reader at most, which may all be in other inputs.
 *   - A whole one is its reader's, who hands it out before it goes on. What it sorts out at a time
 *     makes two whole at most.
 *   - One reader alone takes units in their order: what it has is all before what is not cut, so
 *     one seam is open, and one is being handed out.
 *
 * Why every wait ends. Let units be ordered as they were cut; a reader has at most one.
 *   - A unit that waits for its offset waits for units before it. The first of all units that are
 *     not done has its offset, so its reader goes on; then the next one is the first.
 *   - A cutter that waits for memory has no unit yet, and is the only thread that waits for memory.
 *     Readers with units finish them without needing more; what readers without work hold becomes
 *     the cutter's. Then no reader but the cutter holds anything, and it takes what it needs.
 *   - A decoder without a free piece takes one itself. If all pieces are in other readers' hands,
 *     it waits for one: a thread that has borrowed a piece counts it and gives it back before it
 *     waits for anything (source_done is called before the next source_take). Ranges of files,
 *     which a GPU's worker holds while it takes more, are no pieces, and no reader waits for them
 *     but at the end of -n.
 *   - A decoder whose next bytes another thread reads ahead waits for that read of a file.
 *   - A GPU's worker may wait for a slot while others hold all slots and wait here: it asks
 *     source_owes meanwhile, goes on by the CPU with a unit that it has, and gives its memory back
 *     where that is wanted.
 *   - A thread without work waits for a cutter, a decoder, or the opening of an input. These end by
 *     the above, or read an input. A thread that reads waits in poll beside the source's wake-up
 *     pipe, and never with the lock held.
 *   - With -n the next input is opened when all units of this one are done. A thread that waits for
 *     that has none.
 *   - A failure sets `stopped`, wakes both conditions and the pipe; every wait looks at `stopped`.
 * tests/zstd.pml says the same to a model checker, and names the functions.
 */
#ifndef GPUHIST_ZSTD_READ_H
#define GPUHIST_ZSTD_READ_H

#include <zstd.h>

#include "base/xxh64.h"
#include "input/source_input.h"
#include "input/zstd_frame.h"

#define UNKNOWN FRAME_UNKNOWN
/* compressed bytes at a time: a block and what is about it */
#define WINDOW_BYTES ((size_t)256 << 10)
_Static_assert(WINDOW_BYTES >= 3 + FRAME_BLOCK_MAX + FRAME_CHECKSUM,
	       "a block, its header and a checksum");
#define PIECE_BYTES ((size_t)256 << 10) /* of a long frame */
#define PIECES 4u
/* of a file, read at a time: as long as a waiting thread sleeps */
#define PACKED_BYTES (2 * PIECE_BYTES)
/* kept of what follows the samples of a WAVE, to be looked at */
#define REST_BYTES ((size_t)64 << 10)

/* What a reader decodes: one frame, or small ones. */
struct unit {
	struct frame first;
	uint64_t number;  /* in its input */
	uint64_t stored;  /* of all frames */
	uint64_t content; /* decoded; UNKNOWN until it is known */
	/* room for decoding it, or for as many of its frames as are decoded in one go */
	uint64_t most;
	uint64_t weight; /* decoded bytes, as far as they can be guessed */
	unsigned frames;
	bool whole;  /* decoded in one call, or some; else a long frame */
	uint64_t at; /* offset of its next byte in the decoded input; UNKNOWN until it is known */
};

/* Does the input wait until a long frame is decoded, because its end was not found? */
static inline bool zstd_attached(const struct unit *u)
{
	return !u->whole && u->stored == UNKNOWN;
}

/* A record that is spread over several units, as far as it was put together. */
struct seam {
	struct seam *next; /* of the input's, or of a reader's whole ones */
	uint64_t record;   /* which of the input */
	uint32_t have;
	unsigned char bytes[]; /* of the record */
};

/* A compressed input. The cutter alone uses what is between the lines. */
struct zstd {
	/* of a file: where the first frame begins, its size when it was opened */
	uint64_t begin, size;
	uint64_t limit; /* decoded bytes after this offset are not wanted */
	/* -------- */
	uint64_t next;   /* compressed offset of the next frame */
	uint64_t hinted; /* of a file, as far as the system was asked to read ahead */
	/* compressed bytes from window_at on; of a stream all that are not cut */
	unsigned char *window;
	uint64_t window_at;
	size_t window_bytes;
	/* -------- */
	uint64_t units;     /* that were cut */
	uint64_t placed;    /* of these, with a known offset and size ... */
	uint64_t decoded;   /* ... and where the next one begins */
	bool accounted;     /* what was read and skipped is in the totals */
	struct seam *seams; /* records that lack something */
	/*
	 * the first REST_BYTES that follow the samples, and those at the end of the file as its
	 * header gives it; NULL: they are not looked at
	 */
	unsigned char *rest;
};

/* Decoded bytes of a unit. */
struct piece {
	unsigned char *data;
	size_t room;
	struct reader *owner;
	uint64_t begin; /* in the unit */
	size_t decoded;
	size_t from, bytes; /* whole records of it that were not handed out */
	enum { PIECE_FREE, PIECE_FILLING, PIECE_READY, PIECE_LENT, PIECE_COUNTED } state;
};

/* The checksum of a frame, added up by the readers instead of libzstd. */
struct sum {
	bool ours; /* it was hidden from libzstd */
	bool read; /* `value` is what stands after the last block */
	uint32_t value;
	struct xxh64 hash;
};

struct reader {
	struct source *source;
	struct reader *next;
	uint64_t counted; /* a tally: bytes that came back with source_done */

	/* DRAINING: its unit was decoded to the end, or as far as -n wants. */
	enum { READER_IDLE, READER_DECODING, READER_DRAINING } state;
	struct input *in; /* whose unit it has */
	struct unit unit;
	struct sum sum;
	ZSTD_DCtx *context;
	int64_t held;          /* memory that it may take; it never holds more */
	bool asleep;           /* without work: another reader may take its buffers over */
	unsigned char *packed; /* compressed bytes */
	size_t packed_room, packed_at, packed_end;
	uint64_t made;  /* decoded bytes */
	bool hashing;   /* a thread adds to the checksum */
	unsigned ready; /* pieces that may be taken */
	struct piece piece[PIECES];

	/* LONG */
	uint64_t read_at;     /* file: from here on compressed bytes are still to be read */
	unsigned char *ahead; /* file: the next of them, read by a thread that would else sleep */
	size_t ahead_room, ahead_bytes;
	enum { AHEAD_NONE, AHEAD_WANTED, AHEAD_FILLING, AHEAD_READY } ahead_state;
	ZSTD_inBuffer source_bytes;

	struct seam *mended; /* records that its units completed, to be handed out */
};

/* ---- zstd_read.c: whose turn it is ---- */

/* The input is zstd: from `offset` of a file of `size` on, or of a
 * stream, whose head begins there. */
int zstd_begin(struct source *s, struct input *in, uint64_t offset, uint64_t size,
	       struct fail *fail);
void zstd_free(struct zstd *z);
struct reader *zstd_reader_new(struct source *s);

/*
 * Bytes of a piece of a long frame: some records and the rest of one. Records so large that it
 * would not hold many are put together from pieces instead.
 */
static inline size_t zstd_piece_room(const struct source *s)
{
	return PIECE_BYTES + (s->spec.record <= PIECE_BYTES ? s->spec.record : 0);
}

/* Has the reader a unit, or a record that it put together? */
bool zstd_in_hand(const struct reader *r);

/* The next unit of an input, which becomes the reader's. */
int zstd_cut_unlocks(struct reader *r, struct input *in, struct request *q);

/* All units of an ended input are done: its totals, what it lacks. */
int zstd_end(struct source *s, struct input *in, struct fail *fail);
void zstd_account(struct source *s, struct input *in);

/* No reader takes anything any more. */
void zstd_reader_free(struct reader *r);

/* Takes a unit that is done off its reader. -1: its checksum is wrong, or the input ends badly. */
int zstd_finish(struct reader *r, struct fail *fail);

int zstd_bad(const struct input *in, uint64_t offset, struct fail *fail, const char *why);

/* ---- zstd_find.c: the cutter's eyes; all without the lock ---- */

enum find { FIND_WHOLE, FIND_LONG, FIND_STOPPED, FIND_NONE, FIND_BAD = -1 };

/* The next unit of an input into r->unit, of a stream's its bytes too. */
enum find zstd_find(struct reader *r, struct input *in, const struct request *q, struct fail *fail);

/*
 * Compressed bytes from offset `at` on, *got of them: n or more, unless the input ends. Those of a
 * stream before `next` are gone, and no more than a window is kept of it. 1: the source was
 * stopped.
 */
int zstd_look(struct source *s, struct input *in, uint64_t at, size_t n, unsigned char **bytes,
	      size_t *got, struct fail *fail);

/* The header of the next frame of data, after skippable ones; FIND_WHOLE: there is one. */
enum find zstd_next_header(struct source *s, struct input *in, struct frame *f, struct fail *fail);

/*
 * Of a file: follows a frame from block to block to its end, which makes its `stored` known.
 * FIND_LONG: that is further than so far.
 */
enum find zstd_walk(struct source *s, struct input *in, struct frame *f, uint64_t most,
		    struct fail *fail);

/* ---- zstd_skim.c: frames that are passed over, of a file; without the lock ---- */

/*
 * As far as `until` of the decoded bytes, where -n ends: how many bytes do frames declare that
 * begin before it?
 */
int zstd_measure(struct source *s, struct input *in, uint64_t until, uint64_t *decoded,
		 struct fail *fail);

/* Goes to the first frame that the slice needs, and limits the input to what it needs. */
int zstd_begin_slice(struct source *s, struct input *in, struct fail *fail);

/* ---- zstd_memory.c ---- */

/* What a unit takes that is decoded in one call: packed and decoded bytes. */
uint64_t zstd_whole_bytes(uint64_t packed, uint64_t out);
uint64_t zstd_share(const struct source *s); /* what a unit may take to be decoded in one call */

/*
 * By a cutter, without the lock: memory for its unit, beside compressed bytes that it has read.
 * Waits for it.
 */
void zstd_reserve_whole(struct reader *r, uint64_t packed, uint64_t out);
/* ... and n more of these */
int zstd_reserve_packed(struct reader *r, size_t n, uint64_t out, struct fail *fail);
void zstd_reserve_long(struct reader *r, uint64_t window);

/* Gives what a reader without a unit keeps for the next one to a cutter that waits, or frees it. */
void zstd_release(struct reader *r);
uint64_t zstd_held(const struct reader *r); /* by its buffers; for tests: never more than r->held */

/* At least so many bytes; what was there is lost. -1: no memory. */
int zstd_grow(unsigned char **buffer, size_t *room, size_t bytes);
int zstd_context(struct reader *r, struct fail *fail);

/* ---- zstd_decode.c: without the lock ---- */

/* The frames of a WHOLE unit that fit, one after another; *ended: they were its last. */
int zstd_decode_frames(struct reader *r, unsigned char *out, size_t room, size_t *got, bool *ended,
		       struct fail *fail);

/* Up to cap bytes of a LONG frame; likewise. 1: the source was stopped. */
int zstd_begin_long(struct reader *r, struct fail *fail);
int zstd_decode_some(struct reader *r, unsigned char *buffer, size_t cap, size_t *got, bool *ended,
		     struct fail *fail);

/* Is the checksum, where the readers added it up to the end, what stands in the frame? */
int zstd_check(const struct reader *r, struct fail *fail);

/* ---- zstd_ring.c ---- */

/* The next step of a reader that has something in hand. */
int zstd_go_on_unlocks(struct reader *r, struct request *q);

/* A piece of any reader's. */
int zstd_take_ready_unlocks(struct reader *r, struct request *q);

/* A chunk comes back that was lent. */
int zstd_done_unlocks(struct reader *r, struct chunk *chunk, struct fail *fail);

/* A unit that is wrong: an error, unless -n wants nothing of it. */
int zstd_refuse_unlocks(struct reader *r, const struct fail *bad, struct fail *fail);

/*
 * Reads ahead for a decoder, if one wants it: a twelfth of the time of one frame of noise, which is
 * stored in as many bytes as it holds, was reading.
 */
bool zstd_read_ahead_unlocks(struct source *s);

/* ---- zstd_place.c ---- */

/* Gives units their offsets, as far as the sizes before them are known. */
void zstd_place(struct source *s, struct input *in);

/*
 * Which of n decoded bytes at offset `at` are whose, in their order; what is left is after -n's
 * last.
 */
struct parts {
	size_t skipped; /* by -S */
	size_t head;    /* of a record that began before them ... */
	size_t body;    /* whole records */
	size_t tail;    /* of a record that begins in them */
	uint32_t phase; /* ... with so many bytes */
	uint64_t head_record, tail_record;
};
struct parts zstd_parts(uint64_t at, size_t n, uint64_t skip, uint64_t limit, uint32_t record);

/*
 * The next n bytes of a unit: parts of records are kept until they are whole; *from, *bytes: the
 * others.
 */
int zstd_sort_out_unlocks(struct reader *r, const unsigned char *data, size_t n, size_t *from,
			  size_t *bytes, struct fail *fail);

/* A record that the reader put together, into the caller's buffer. */
void zstd_hand_out_mended_unlocks(struct reader *r, struct request *q);
unsigned zstd_seams_free(struct seam *seams); /* how many there were */

/* memcpy; of many bytes without the lock. */
void zstd_copy_unlocks(struct source *s, void *to, const void *from, size_t n);

#endif
