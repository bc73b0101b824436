/* SPDX-License-Identifier: MIT */
/*
 * zstd_job: compressed inputs. The source finds frames by their headers and block headers, three
 * bytes in 50,000, without decoding them, and makes "jobs" of them, which are decoded in parallel.
 *
 * A job decodes to consecutive bytes, in "pieces". Any reader can take a piece that is ready
 * (piece_task); once it is counted, the piece is free again. One thread at a time decodes a job,
 * into 1 to PIECES pieces, or all threads do.
 *
 *   CALLS   adjacent small frames, or a single frame of at most WHOLE_MAX bytes, or of FIND_MAX if
 *           many like it follow, if it declares no size or if records are ordered: one call of
 *           libzstd for each, into one piece
 *   STEPS   any other frame, a piece at a time
 *   BLOCKS  a long frame, if there are more readers than such frames: all decode it, without
 *           libzstd, and each block is a piece (zstd_blocks.c)
 *   DEVICE  a long frame of a file: a device decodes its blocks, many to a piece (zstd_device.c)
 *
 * A job's packed bytes are in memory, if all were read from a stream, in a file, or still in a
 * stream, which the decoder then reads.
 */
#ifndef GPUHIST_ZSTD_JOB_H
#define GPUHIST_ZSTD_JOB_H

#include "base/fail.h"
#include "base/xxh64.h"
#include "source/source_state.h"
#include "zstd/frames.h"
#include "zstd/zstd_stream.h"

#ifndef SMALL_JOBS                       /* the scheduler of the tests has small ones */
#define PIECE_BYTES ((size_t)256 << 10)  /* bytes of a piece of STEPS */
#define PACKED_BYTES ((size_t)512 << 10) /* compressed bytes of one read */
/*
 * The longest frame decoded in one call: it fits one core's cache. If many like it are left, the
 * limit is FIND_MAX: frames of 8 MiB took 0.8 to 0.9 times as long as in steps.
 */
#define WHOLE_MAX ((uint64_t)2 << 20)
#define GATHER_BYTES ((uint64_t)512 << 10) /* decoded bytes of small frames in one job */
#else
#define PIECE_BYTES ((size_t)16 << 10)
#define PACKED_BYTES ((size_t)32 << 10)
#define WHOLE_MAX ((uint64_t)64 << 10)
#define GATHER_BYTES ((uint64_t)16 << 10)
#endif
#define PIECES 4u
#define SLOTS_MOST 64u /* blocks of a job being decoded or counted, at most */

enum how { HOW_CALLS, HOW_STEPS, HOW_BLOCKS, HOW_DEVICE };
enum from { FROM_MEMORY, FROM_FILE, FROM_STREAM };

/* Does libzstd decode the job? */
static inline bool how_is_libzstd(enum how how)
{
	return how == HOW_CALLS || how == HOW_STEPS;
}

/* The next job of an input, and the memory that it takes. */
struct cut {
	enum { CUT_NOTHING, CUT_END, CUT_BAD, CUT_JOB } what;
	enum how how;
	enum from from;
	/*
	 * Hide checksums from libzstd: a single frame's, which readers compute (but not for ordered
	 * CALLS); with no_check, all.
	 */
	bool checksum;
	bool text;             /* its records do not span pieces */
	uint64_t offset;       /* packed offset of the first frame */
	uint64_t packed_bytes; /* or UNKNOWN */
	uint64_t declared;     /* decoded bytes, by its headers, or UNKNOWN */
	uint64_t window;       /* bytes of a single frame's window */
	size_t header;         /* bytes of a single frame's header */
	unsigned pieces;       /* pieces of CALLS and STEPS, or slots of BLOCKS */
	uint64_t piece_bytes;
	struct { /* bytes for parts of the job other than its pieces */
		uint64_t packed;
		uint64_t context; /* libzstd's */
		uint64_t blocks;  /* of BLOCKS or DEVICE */
		uint64_t seams;
	} memory;
	uint64_t need;    /* all memory of the job */
	struct fail fail; /* CUT_BAD: why */
};

struct zstd_piece {
	struct zstd_job *job;
	struct zstd_piece *next; /* the piece decoded after it, in the job */
	unsigned char *buffer;
	size_t capacity;
	const unsigned char *data; /* its bytes, in `buffer` or in memory of BLOCKS or DEVICE */
	size_t bytes;
	uint64_t begin; /* offset among the job's decoded bytes */
	size_t from;    /* bytes at its beginning that were handed out or are not wanted */
	unsigned out;   /* threads copying or counting its bytes */
	enum { PIECE_FREE, PIECE_FILLING, PIECE_MADE, PIECE_COUNTED } state;
};

/*
 * A frame's checksum, computed here instead of by libzstd. BLOCKS and DEVICE hash even frames that
 * have none, to tell whether libzstd decodes the same bytes if it restarts the frame.
 */
struct checksum {
	bool follows; /* the frame has a checksum after its last block, hidden from libzstd */
	bool adds;    /* decoded bytes are added to `hash`, to compare with `value` if it follows */
	bool read;    /* the frame was read to its end, including `value` if it follows */
	bool busy;    /* a thread is adding to `hash` */
	uint64_t added; /* decoded bytes in `hash`, not counting a piece that is being added */
	uint32_t value; /* the checksum in the frame */
	struct xxh64 hash;
};

struct blocks;    /* zstd_blocks.c */
struct rooms;     /* zstd_blocks.h */
struct text_node; /* text_list.h */

struct zstd_job {
	struct zstd_job *next; /* the next job of its input, or the next free job */
	struct input *in;
	struct cut cut;
	uint64_t at;      /* offset of its first decoded byte, or UNKNOWN */
	uint64_t decoded; /* bytes decoded so far */
	unsigned running; /* threads decoding it; several only if not by libzstd */
	bool ended;       /* it has been decoded as far as it will be */
	bool broken;      /* --finish ended the input inside this job */
	struct checksum sum;
	struct fail fail;
	struct text_node *gap;         /* text: its gap in the list of text_list.h */
	struct zstd_piece own[PIECES]; /* pieces of CALLS and STEPS */
	/* decoded pieces in order, until they are counted and in the checksum */
	struct zstd_piece *made, **made_end;
	struct zstd_piece *ready; /* the first of these not yet handed out to its end */
	uint64_t packed_read; /* packed bytes read from the input; other threads read it unlocked */
	struct zstd_stream stream; /* of CALLS and STEPS */
	struct blocks *blocks;     /* state of BLOCKS or DEVICE, or NULL */
	uint64_t handed_out;       /* bytes handed out before libzstd restarted the frame */
	uint64_t handed_out_sum;   /* their checksum */
	uint64_t budgeted;         /* bytes of the budget */
};

/* Memory for the jobs of all inputs. */
struct budget {
	uint64_t memory;     /* bytes of the budget */
	uint64_t live_bytes; /* bytes of live jobs, and of inputs that keep bytes of streams */
	uint64_t free_bytes; /* bytes of free jobs */
	unsigned jobs;       /* number of live jobs */
	struct zstd_job *free_jobs; /* ended jobs, whose buffers the next ones reuse */
};

/* The decoding of all inputs. */
struct jobs {
	struct budget budget;
	unsigned decoding;   /* jobs that a thread decodes with libzstd */
	struct rooms *rooms; /* the unpacker's, once it is used; or NULL */
	unsigned on_device;  /* jobs that use the unpacker */
};

/* Takes decoded bytes: as samples (zstd_seam.c), or as text (source_text.c). With the lock. */
struct consumer {
	void (*begin)(struct source *s, struct zstd_job *j); /* or NULL: nothing is to be done */
	void (*end)(struct source *s, struct zstd_job *j);   /* all its bytes were taken */
	/* May the job's next piece be taken? Then take it, or a part of it. */
	bool (*may_take)(const struct source *s, const struct zstd_job *j);
	void (*take_unlocks)(struct source *s, struct zstd_piece *p, struct request *q);
};

struct seam; /* zstd_seam.c */

struct zstd_input {
	const struct consumer *consumer;
	uint64_t pos;                  /* packed offset of the next frame */
	struct zstd_job *jobs, **last; /* its jobs, in the order of their frames */
	struct zstd_job *open;         /* the last job, until the end of its frame is found */
	struct frame walk; /* the open job's frame, as far as its blocks were followed */
	bool walks;     /* the bytes after that frame may be wanted, so readers look for its end */
	struct cut cut; /* the next job, while it waits for memory */
	uint64_t stream_bytes; /* bytes of the budget for bytes of a stream in memory */
	struct seam *seams;
};

/* ---- zstd_plan.c: what is cut ---- */

/* Packed bytes that a file's frame is followed ahead of its decoder. */
#define AHEAD ((uint64_t)64 << 20)

/* The facts on which cut_plan decides. */
struct planner {
	const struct source_spec *spec;
	const struct source_use *use;
	struct input *in;
	uint64_t at; /* offset of the next job's first decoded byte, below in->limit; or UNKNOWN */
	bool device_takes; /* the device can take one more frame */
};

/* Find the next job of an input, and plan its memory. No lock, but the input's turn. */
void cut_plan(const struct planner *p, struct cut *c);

/* Plan a cut in steps. If it was planned in blocks, it needs at most the memory planned before. */
void cut_as_steps(const struct source_use *use, struct cut *c);

/* ---- zstd_device.c: the device ---- */

/* Can the device, once it is ready, take one more frame? */
bool device_takes_frame(const struct source *s);

/* Does the device have a batch whose answer no reader waits for? */
bool device_waits(const struct source *s);

/* Wait for that answer, for a millisecond at most. */
void device_wait_unlocks(struct source *s);

/* ---- zstd_cut.c: frames cut off ---- */

extern const struct input_kind zstd_kind;

extern const struct task execute_task, /* put the next block of a long frame together */
	device_task,                   /* take decoded bytes from the device, or send it more */
	feed_task,                     /* cut off a frame for that device */
	decode_task,                   /* decode a frame, or some small ones, with one thread */
	piece_task,                    /* hand out decoded bytes */
	short_task,                    /* hand out the last records of a packed input */
	block_task,                    /* find or read a block, or decode its parts */
	cut_task;                      /* cut frames off */

/*
 * Wait for the device's next answer, if one is due. If not, note for -v whether a cut waits for
 * memory while decoders are idle.
 */
bool jobs_wait_unlocks(struct source *s);

/* ---- zstd_memory.c: the memory of jobs ---- */

/* Does a job that needs this much memory fit the budget? The only job always does. */
bool budget_fits(const struct budget *b, uint64_t need);

/* The memory of a job for this cut; its buffers may be larger already. */
uint64_t job_takes(const struct zstd_job *j, const struct cut *c);

/* Take a job with memory for the cut; the buffers are an ended job's, if these fit the budget. */
struct zstd_job *budget_take(struct budget *b, const struct cut *c); /* NULL: no memory */

/* Return a job's memory to the budget; keep its buffers for the next job. */
void budget_give(struct budget *b, struct zstd_job *j);

struct jobs *jobs_make(void); /* NULL: no memory */

/* Free it, and the kept buffers. No job is live. Accepts NULL. */
void jobs_free(struct jobs *jobs);

/* ---- zstd_job.c: offsets, ends ---- */

/* Iterate over the jobs of an input and of the inputs after it. */
struct zstd_job *jobs_first(const struct input *in);
struct zstd_job *jobs_next(const struct zstd_job *j);

/* Make the cut the last job of its input. NULL: no memory. */
struct zstd_job *job_new(struct source *s, struct input *in, const struct cut *cut);

/* Close the open job: the input continues after its frame. */
void job_close_open(struct zstd_job *j);

/* End a job, and set the offset of the job after it. */
void job_end(struct source *s, struct zstd_job *j);

/* Does the checksum of a frame's bytes, all added up, differ from the one after the frame? */
bool job_sum_differs(const struct zstd_job *j);

/* Operations of zstd_kind. */
void jobs_settle(struct source *s, struct input *in);
bool jobs_due(const struct source *s, const struct input *in, uint64_t offset);
bool jobs_unpack(const struct input *in);
uint64_t jobs_expected(const struct source *s, const struct input *in);

/* Add a decoded piece to its job. */
void job_add(struct zstd_piece *p);
void jobs_free_all(struct source *s, struct zstd_input *z); /* all jobs of an input */

/* ---- zstd_seam.c: pieces handed out, and records that span pieces ---- */

/* If ordered: may the input still have something to hand out? */
bool jobs_precede(const struct source *s, const struct input *in);

extern const struct consumer samples;

/* Return the piece that is handed out next, or NULL if it is not ready. */
struct zstd_piece *piece_next(const struct source *s);

/* Hold a piece while a thread copies or counts its bytes up to `to`; then release it. */
void piece_hold(struct zstd_piece *p, size_t to);
void piece_release_unlocks(struct source *s, struct zstd_piece *p);

/* Take back a piece that was lent. */
void piece_back_unlocks(struct source *s, const struct chunk *chunk);

/* Did the input end with packed records that do not fill a group and are not handed out yet? */
bool short_left(const struct source *s, const struct input *in);

void seams_free(struct seam *seams);

#endif
