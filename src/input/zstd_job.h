/* SPDX-License-Identifier: MIT */
/*
 * zstd_job: compressed inputs. Frames are found by their headers and those of their blocks, three
 * bytes in 50,000, without decoding them, and cut off as jobs; jobs are decoded side by side.
 *
 * A job is decoded bytes that come in order, into pieces. Ready pieces go to any reader, by the
 * source's queue, and come back free. One thread at a time decodes a job, into 1 to PIECES
 * pieces, or all threads do.
 *
 *   CALLS   small frames that follow one another, or one of up to WHOLE_MAX, or one of many, or one
 *           that does not declare its size: one call of libzstd for each, into one piece
 *   STEPS   any other frame, a piece at a time
 *   BLOCKS  a long frame, where there are more readers than such frames: all decode it, without
 *           libzstd, and each block is a piece (zstd_blocks.c); or a device does (zstd_device.c)
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
#define PIECE_BYTES ((size_t)256 << 10)  /* a piece of a frame that is decoded in steps */
#define PACKED_BYTES ((size_t)512 << 10) /* compressed bytes that are read at a time */
/*
 * The longest frame that is decoded in one call: what one core's cache holds. If many like it are
 * left, FIND_MAX: frames of 8 MiB took 0.8 to 0.9 times as long as in steps.
 */
#define WHOLE_MAX ((uint64_t)2 << 20)
#define PIECES 4u
#define SLOTS_MOST 64u /* blocks that are decoded or counted at a time, of a job */

enum how { HOW_CALLS, HOW_STEPS, HOW_BLOCKS };
enum from { FROM_MEMORY, FROM_FILE, FROM_STREAM };

/* What is cut off an input next, and the memory that its job takes. */
struct cut {
	enum { CUT_NOTHING, CUT_END, CUT_BAD, CUT_JOB } what;
	enum how how;
	enum from from;
	bool checksum;    /* is hidden from libzstd: a single frame's; with no_check, any */
	uint64_t offset;  /* packed offset of the first frame */
	uint64_t stored;  /* packed bytes, or UNKNOWN */
	uint64_t content; /* decoded bytes that its headers declare, or UNKNOWN */
	uint64_t window;  /* of a single frame: bytes of its window */
	size_t header;    /* of a single frame: bytes of its header */
	unsigned pieces;  /* BLOCKS: blocks in work at a time; 0: a device decodes them */
	uint64_t room;    /* bytes of a piece */
	/* bytes for: packed input, libzstd, decoding in blocks, parts of records */
	uint64_t packed, context, blocks, seams;
	uint64_t need;    /* bytes of all memory that the job takes */
	struct fail fail; /* CUT_BAD: why */
};

struct zstd_piece {
	struct zstd_job *job;
	struct zstd_piece *next; /* the next piece of the job that was made */
	unsigned char *room;
	size_t size;
	const unsigned char *data; /* in the room, or memory of BLOCKS */
	size_t bytes;
	uint64_t begin; /* offset among the job's decoded bytes */
	size_t from;    /* the bytes before that were handed out, or are not wanted */
	unsigned out;   /* threads that copy or count bytes of it */
	enum { PIECE_FREE, PIECE_FILLING, PIECE_MADE, PIECE_COUNTED } state;
};

/*
 * A frame's checksum, added up here instead of by libzstd. BLOCKS adds up frames without one, too,
 * to tell whether libzstd decodes the same bytes, if it has to.
 */
struct checksum {
	bool follows; /* it stands after the last block, hidden from libzstd */
	bool adds;    /* decoded bytes are added to `hash`, which must be `value` if that follows */
	bool read;    /* the frame was read to its end, with `value` if that follows */
	bool busy;    /* a thread adds to `hash` */
	uint64_t added; /* bytes that were added to `hash` and are not needed for it any more */
	uint32_t value;
	struct xxh64 hash;
};

struct decoder; /* zstd_decode.h */
struct blocks;  /* zstd_blocks.c */

struct zstd_job {
	struct zstd_job *next; /* the next job of its input, or the next free job */
	struct input *in;
	struct cut cut;
	uint64_t at;      /* offset of its first decoded byte, or UNKNOWN */
	uint64_t decoded; /* bytes decoded so far */
	unsigned running; /* threads that decode it; more than one only for BLOCKS */
	bool ended;       /* nothing more of it will be decoded */
	bool broken;      /* --finish has ended the input inside this job */
	struct checksum sum;
	struct fail fail;
	struct zstd_piece own[PIECES]; /* what CALLS and STEPS fill */
	/* pieces that were made, in order, until they are counted and in the checksum */
	struct zstd_piece *made, **made_end;
	struct zstd_piece *ready; /* the first of them that is not all handed out */
	uint64_t taken; /* packed bytes that were taken from the input; read without the lock */
	struct decoder *decoder;
	struct blocks *blocks; /* what BLOCKS decodes with, or NULL */
	/* bytes that BLOCKS handed out before libzstd began the frame again; their checksum */
	uint64_t known, known_sum;
	uint64_t held; /* bytes of the budget that it takes */
};

struct seam; /* zstd_seam.c */

struct zstd_input {
	uint64_t pos;                  /* packed offset where cutting goes on */
	struct zstd_job *jobs, **last; /* its jobs, in the order in which they were cut */
	struct zstd_job *open;         /* the last job, while the end of its frame is looked for */
	struct frame walk; /* the open job's frame, as far as its blocks were followed */
	struct cut cut;    /* the next job, while it waits for memory */
	uint64_t kept;     /* bytes of the budget for what is kept of a stream */
	struct seam *seams;
	unsigned char *rest; /* what content_after_decoded looks at; NULL: nothing */
};

/* ---- zstd_cut.c: frames found and cut ---- */

/* Plans a cut in steps. Where it was planned in blocks, it needs no more memory than before. */
void cut_as_steps(const struct source *s, struct cut *c);

/* Can the device, once it is ready, have one more frame? */
bool device_has_room(const struct source *s); /* zstd_device.c */

/* If a device has blocks, waits for its next answer, for a millisecond at most. */
bool device_wait_unlocks(struct source *s); /* zstd_device.c */

/* Notes for -v whether a cut waits for memory although fewer jobs live than may be decoded. */
void cut_waits(struct source *s);

/* ---- zstd_blocks.c: BLOCKS ---- */

/* Bytes of memory that BLOCKS takes with `slots` blocks in work at a time. */
uint64_t blocks_bytes(uint64_t window, unsigned slots, unsigned threads);
uint64_t blocks_hold(const struct blocks *b); /* bytes of memory that b has; 0 for NULL */
void blocks_free(struct blocks *b);

/* Ends the job if all of it was counted and added up, or begins it again. */
void blocks_check(struct source *s, struct zstd_job *j);

/* ---- zstd_job.c: memory, places, ends ---- */

/* All jobs of an input and of those after it in the list: the first job, and the next one. */
struct zstd_job *jobs_first(const struct input *in);
struct zstd_job *jobs_next(const struct zstd_job *j);

/* Memory of the source's budget. Ended jobs keep buffers while `held` leaves room for them. */
void budget_take(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);
bool budget_has(const struct budget *b, uint64_t bytes);

bool job_fits(const struct source *s, uint64_t need);
/* What a job takes for this cut that may have larger buffers already. */
uint64_t job_takes(const struct zstd_job *j, const struct cut *c);

/* The cut becomes the last job of its input. NULL: no memory. */
struct zstd_job *job_new(struct source *s, struct input *in, const struct cut *cut);

/* The job has ended, and the job after it gets its place. */
void job_end(struct source *s, struct zstd_job *j);

/* All of a frame was added up: is the checksum after it another one? */
bool job_sum_differs(const struct zstd_job *j);

/* Frees the jobs of an input of which nothing is left. */
void jobs_settle(struct source *s, struct input *in);

/* Does a job live that begins before a packed offset? */
bool jobs_before(const struct zstd_input *z, uint64_t offset);

/*
 * The job's next piece was made. Unless ordered, no reader is called if it is the one that is
 * handed out next: the caller takes it.
 */
void job_add(struct source *s, struct zstd_piece *p);
void jobs_free_all(struct source *s, struct zstd_input *z); /* frees all jobs of an input */
void jobs_free(struct source *s);                           /* frees the free jobs */

/* Is there work for one more reader? Frames give some as long as no reader sleeps. */
bool jobs_backlog(const struct source *s);

/* ---- zstd_seam.c: pieces handed out, and records that lie in several ---- */

/* If ordered: may a job still have something to hand out? */
bool jobs_wait(const struct source *s);

/* The piece that is handed out next; NULL: it is not ready. */
struct zstd_piece *piece_next(const struct source *s);

/* A piece that was lent comes back. */
void piece_back_unlocks(struct source *s, const struct chunk *chunk);

/* Has the input ended with packed records that do not fill a group, and were not handed out? */
bool short_left(const struct source *s, const struct input *in);

void seams_free(struct seam *seams);

#endif
