/* SPDX-License-Identifier: MIT */
/*
 * zstd_job: compressed inputs. Frames are found by their headers and those of their blocks, three
 * bytes in 50,000, without decoding them, and cut off as jobs; jobs are decoded side by side.
 *
 * A job is decoded bytes that come in order, into pieces. Ready pieces go to any reader, by the
 * source's queue, and come back free. One thread at a time decodes it, into 1 to PIECES of them, or
 * all do.
 *
 *   CALLS   small frames that follow one another, or one of up to WHOLE_MAX, or one that does not
 *           declare its size: one call of libzstd for each, into one piece
 *   STEPS   any other frame, a piece at a time
 *   STORED  a frame whose blocks are all stored as they are, or repeat a byte: its pieces are read
 *           where they lie, or lie in the packed bytes, without libzstd
 *   BLOCKS  a long frame, where there are more readers than such frames: all decode it, without
 *           libzstd, and each block is a piece (zstd_blocks.c)
 *
 * Where a job's packed bytes are is a field, too: in memory (all of them were read from a stream),
 * in a file, or still in a stream, which its decoder reads then.
 */
#ifndef GPUHIST_ZSTD_JOB_H
#define GPUHIST_ZSTD_JOB_H

#include "base/fail.h"
#include "base/xxh64.h"
#include "input/frames.h"

struct source;
struct budget;
struct input;
struct request;
struct chunk;

#define UNKNOWN FRAME_UNKNOWN
#define PIECE_BYTES ((size_t)256 << 10)  /* of a frame that is decoded in steps */
#define PACKED_BYTES ((size_t)512 << 10) /* compressed bytes that are read at a time ... */
/* The longest frame that is decoded in one call: what one core's cache holds. */
#define WHOLE_MAX ((uint64_t)2 << 20)
#define PIECES 4u
#define SLOTS_MOST 64u /* blocks that are decoded or counted at a time, of a job */

enum how { HOW_CALLS, HOW_STEPS, HOW_STORED, HOW_BLOCKS };
enum from { FROM_MEMORY, FROM_FILE, FROM_STREAM };

/* What is cut off an input next, and the memory that its job takes. */
struct cut {
	enum { CUT_NOTHING, CUT_END, CUT_BAD, CUT_JOB } what;
	enum how how;
	enum from from;
	bool checksum;    /* of a single frame, or with no_check of any, is hidden from libzstd */
	uint64_t offset;  /* packed */
	uint64_t stored;  /* packed bytes, or UNKNOWN */
	uint64_t content; /* decoded bytes that its headers declare, or UNKNOWN */
	uint64_t window;  /* of a single frame, and bytes of its header */
	size_t header;
	unsigned pieces;
	uint64_t room; /* bytes of a piece */
	/* other memory; the last: parts of records */
	uint64_t packed, context, blocks, seams;
	uint64_t need;    /* the sum */
	struct fail fail; /* BAD: why */
};

struct zstd_piece {
	struct zstd_job *job;
	struct zstd_piece *next; /* in the queue */
	unsigned char *room;
	size_t size;
	const unsigned char *data; /* in the room, or in the packed bytes */
	size_t bytes;
	uint64_t begin; /* in the job's decoded bytes */
	bool sorted;    /* parts of records were taken out; left are ... */
	size_t from, left;
	enum { PIECE_FREE, PIECE_FILLING, PIECE_READY, PIECE_OUT, PIECE_COUNTED } state;
};

/*
 * A frame's checksum, added up here instead of by libzstd; and of BLOCKS, where there is none, what
 * tells whether libzstd decodes the same bytes, if it has to.
 */
struct checksum {
	bool follows;   /* the last block, and was hidden from libzstd */
	bool adds;      /* decoded bytes are added to `hash`, and it must be `value` */
	bool read;      /* `value` is what follows the last block; or that has been read */
	bool busy;      /* a thread adds to it */
	uint64_t added; /* bytes that were added to it and are not needed for that any more */
	uint32_t value;
	struct xxh64 hash;
};

struct decoder; /* zstd_decode.c */
struct blocks;  /* zstd_blocks.c */

struct zstd_job {
	struct zstd_job *next; /* of its input, in their order; or of the free ones */
	struct input *in;
	struct cut cut;
	uint64_t at;      /* offset of its first byte, or UNKNOWN */
	uint64_t made;    /* decoded so far ... */
	uint64_t handed;  /* ... and of that handed out, where the source is ordered */
	unsigned running; /* threads that decode it: one, or of BLOCKS any number */
	bool ended;       /* nothing more will be decoded ... */
	bool dropped;     /* ... nor wanted: it lies behind a failure */
	bool broken;      /* --finish has ended its input inside it */
	struct checksum sum;
	struct fail fail;
	struct zstd_piece *piece, own[PIECES]; /* its own ones, or those of `blocks` ... */
	unsigned pieces;                       /* ... are so many */
	uint64_t taken; /* packed bytes that were taken from the input; read without the lock */
	struct decoder *decoder;
	/* BLOCKS; and when it is done again, what was handed out before, and its new checksum. */
	struct blocks *blocks;
	uint64_t known;
	struct xxh64 again;
	uint64_t held; /* memory, of the budget */
};

struct seam; /* zstd_seam.c */

struct zstd_input {
	uint64_t begin, pos;           /* packed: where its frames begin; what is cut next */
	struct zstd_job *jobs, **last; /* in the order in which they were cut */
	struct zstd_job *open;         /* the last job, while its end is looked for ... */
	struct frame walk;             /* ... as far as that went */
	struct cut cut;                /* the next job, while it waits for memory */
	uint64_t kept;                 /* memory of the budget for what is kept of a stream */
	struct seam *seams;
	unsigned char *rest; /* what content_after_decoded looks at; NULL: nothing */
	uint64_t whole;      /* bytes of the records that were handed out */
	uint64_t torn_at; /* jobs at packed offsets behind this are dropped: the file is shorter */
};

/* ---- zstd_cut.c: frames found and cut ---- */

/* Gets ready for the first frame: input_kind.begin, but for slices. No lock. */
int zstd_begin(struct input *in, struct fail *fail);

/* The header of the next frame of data, after skippable ones: in->pos is there. No lock. */
enum find zstd_next_header(struct source *s, struct input *in, struct frame *f, struct fail *fail);

/* The cut, which was to be decoded in blocks, is decoded in steps, and needs no more memory. */
void cut_as_steps(const struct source *s, struct cut *c);

/* Notes for -v whether a cut waits for memory although fewer jobs live than may be decoded. */
void cut_waits(struct source *s);

/* ---- zstd_decode.c ---- */

/* What CALLS, STEPS and STORED decode with; a job keeps it for the next ones. */
struct decoder *decoder_new(void); /* NULL: no memory */
void decoder_free(struct decoder *d);
void decoder_begin(struct decoder *d);
uint64_t decoder_takes(const struct decoder *d, const struct cut *c);

/* A job FROM_MEMORY takes its packed bytes, which were read of a stream. */
int decoder_hand_over(struct zstd_job *j, struct fail *fail);

/* The input goes on where its open frame has ended; a stream gets back what was read after it. */
void job_close_open(struct zstd_job *j);

/* ---- zstd_blocks.c: BLOCKS ---- */

/* What that takes of memory, with so many slots: blocks in work at a time. */
uint64_t blocks_bytes(uint64_t window, unsigned slots, unsigned threads);
uint64_t blocks_hold(const struct blocks *b); /* ... and what it has; NULL: nothing */
void blocks_free(struct blocks *b);

/* Ends the job if all of it was counted and added up, or begins it again. */
void blocks_check(struct source *s, struct zstd_job *j);

/* ---- zstd_job.c: memory, places, ends ---- */

/* All jobs: the first one of an input and those after it in the list; the next one. */
struct zstd_job *jobs_first(const struct input *in);
struct zstd_job *jobs_next(const struct zstd_job *j);

/* Memory of the source's budget; beside `held` ended jobs keep their buffers, as far as it goes. */
void budget_take(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);
bool budget_has(const struct budget *b, uint64_t bytes);

bool job_fits(const struct source *s, uint64_t need);
/* What a job takes for this cut that may have larger buffers already. */
uint64_t job_takes(const struct zstd_job *j, const struct cut *c);

/* The cut becomes the last job of its input. NULL: no memory. */
struct zstd_job *job_new(struct source *s, struct input *in, const struct cut *cut);

/* By the thread that runs it: nothing more is decoded, and what follows gets its place. */
void job_end(struct source *s, struct zstd_job *j);

/* Frees the job, and checks its input, if nothing of it is left. */
void job_check(struct source *s, struct zstd_job *j);

/*
 * A piece whose place is known goes to any reader. For the first one of an empty queue none is
 * called: the caller takes it.
 */
void job_queue(struct source *s, struct zstd_piece *p);
void jobs_drop(struct source *s);  /* ends those behind a failure, or a cut file's end ... */
void jobs_sweep(struct source *s); /* ... and frees them, with inputs that have ended */
void jobs_free_all(struct source *s, struct zstd_input *z); /* those of an input ... */
void jobs_free(struct source *s);                           /* ... and those that ended */

/* Is there work for one more reader? Of frames there is as long as no reader sleeps. */
bool jobs_backlog(const struct source *s);

/* ---- zstd_seam.c: pieces handed out, and records that lie in several ---- */

/* Ordered: may a job still have something that is to be handed out? */
bool jobs_wait(const struct source *s);

/* A piece that was lent comes back. */
void piece_back_unlocks(struct source *s, const struct chunk *chunk);

void seams_free(struct seam *seams);

#endif
