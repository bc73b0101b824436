/*
 * zstd_state: what the rooms of compressed inputs share: zstd_find.c finds frames and gathers those
 * of streams, zstd_decode.c decodes them, zstd_check.c verifies them, zstd_place.c knows which of their bytes
 * are wanted, zstd_give.c hands out records, source_zstd.c says who does what next.
 *
 * The source's lock guards all of it, but what a finder (z->finding), whoever holds a decoder (d->busy)
 * and whoever adds up its checksum (d->check.busy) do alone. Functions are called with the lock held
 * unless they say otherwise.
 */
#ifndef GPUHIST_ZSTD_STATE_H
#define GPUHIST_ZSTD_STATE_H

#include <zstd.h>

#include "source_input.h"
#include "xxh64.h"
#include "zstd_frame.h"

#define STAGE ((size_t)256 << 10) /* of compressed bytes at a time: a block and what is about it */
#define CHECKSUM_BYTES 4
_Static_assert(STAGE >= 3 + FRAME_BLOCK_MAX + CHECKSUM_BYTES, "a block, its header and a checksum");
#define PIECE_BYTES ((size_t)256 << 10) /* of a frame in turn */
#define DECODER_BYTES ((uint64_t)1664 << 10) /* of a decoder in turn, the window aside */
#define NOWHERE UINT64_MAX

typedef unsigned long long ull;

/* A frame that was found; or small ones that follow one another, as one whose size is theirs. */
struct frame {
	struct frame_header header;
	uint64_t offset;   /* in the compressed input */
	uint64_t stored;   /* bytes of all of it; FRAME_UNKNOWN: a stream's, or not looked for to the end */
	uint64_t bound;    /* decoded bytes at most; FRAME_UNKNOWN likewise */
	unsigned joined;   /* frames behind the first one */
};
#define SMALL_BYTES ((uint64_t)64 << 10)   /* decoded, of a frame that is joined with others ... */
#define JOINED_BYTES ((uint64_t)512 << 10) /* ... and of all of them */
#define LOOK_BYTES 256

/* A record that lies in several frames, as far as it was put together. */
struct seam {
	uint64_t record;   /* which of the input */
	uint32_t have;
	unsigned char bytes[RECORD_MAX];
};

struct zstd_input {
	uint64_t begin;     /* where the first frame lies */
	uint64_t size;      /* of a file, when it was opened */
	uint64_t next;      /* compressed offset behind the last frame that was found */
	uint64_t asked;     /* of a file, as far as the system was told to read ahead */
	bool finding;       /* somebody looks for the next frame, or reads a stream's */
	bool found_one;     /* frame is waiting for a decoder */
	bool accounted;     /* what was read and skipped of it is in the totals */
	bool no_more;       /* no frame follows, or none that -n wants */
	struct frame frame, first; /* first: frame without those that were joined with it */
	bool apart;         /* frames are not joined: it did not suit those who asked */
	unsigned char look[LOOK_BYTES]; /* of a file: bytes at look_at, in front of which the finder was */
	uint64_t look_at;
	size_t looked;
	struct fail bad;    /* why none was found: said when it is known that -n wants more */
	uint64_t frames;    /* that were given to decoders */
	uint64_t placed;    /* of these, with a known place ... */
	uint64_t decoded;   /* ... and where the next one's is */
	uint64_t limit;     /* decoded bytes behind it are not wanted */
	struct seam *seams;
	size_t seam_count, seam_room;
	unsigned char *stage; /* of a stream: read and not yet used */
	size_t stage_at, stage_end;
};

/* Samples that were decoded and are not counted yet, or not yet in the checksum. */
struct piece {
	unsigned char *data;
	size_t room, from, bytes; /* whole records, not handed out yet */
	uint64_t begin;           /* in the frame; ... */
	size_t decoded;           /* ... with what is torn */
	enum { FREE, READY, LENT, COUNTED } state;
};
#define PIECES 3 /* one is decoded while one is counted and one waits */

/* The checksum of a frame, as far as it was added up. */
struct check {
	bool ours;       /* libzstd was not told of it */
	bool busy;       /* somebody adds to it */
	bool awaited;
	bool told;       /* sum is what stands behind the frame */
	uint32_t sum;
	uint64_t added;  /* in turn: bytes of the frame */
	struct xxh64 hash;
};

struct decoder {
	struct decoder *next;
	struct input *in;      /* NULL: it has no frame */
	bool busy;
	pthread_t owner;       /* who used it last: its caches hold what it remembers */
	ZSTD_DCtx *context;
	uint64_t memory;       /* what it may have taken by now; it never holds more */
	struct frame frame;
	uint64_t number;       /* of the frame in its input */
	uint64_t size;         /* of the frame decoded, FRAME_UNKNOWN until known */
	uint64_t made;         /* of it, in turn */
	uint64_t at;           /* place of its next byte in the decoded input, or NOWHERE */
	bool whole, attached;  /* attached: it reads on where the stream stands */
	bool direct;           /* whole, to be decoded into a buffer of its owner's */
	bool decoded;          /* whole: out holds all of it */
	bool ended;            /* in turn: only its pieces are still to be handed out or returned */
	struct piece piece[PIECES];
	struct check check;
	uint64_t read_at, read_end; /* file, in turn: what is still to be read of it */
	size_t most;           /* of a stream's frame that may be gathered before it is decoded */
	unsigned char *packed; /* compressed bytes */
	size_t packed_room;
	ZSTD_inBuffer source;
	unsigned char *out;    /* whole: decoded bytes ... */
	size_t out_room, out_at, out_end; /* ... of which these were not handed out */
};

struct zstd_pool {
	struct decoder *decoders;
	pthread_cond_t changed;   /* a decoder, a place, a frame, or the end */
	unsigned changes;
	bool soon;                /* the last one came so */
	unsigned waiting;         /* of those who ask for samples */
	unsigned placeless;       /* of those who have decoded some */
	unsigned char *mended;    /* records that were put together, to be handed out */
	size_t mended_bytes, mended_room;
};

/* ---- zstd_find.c, without the lock ---- */

int zstd_bad(struct input *in, uint64_t offset, struct fail *fail, const char *why);

/* Bytes of a stream at its head, at least n of them unless it ends. 1: the source was stopped. */
int zstd_stage_need(struct source *s, struct input *in, size_t n, struct fail *fail);
void zstd_stage_take(struct zstd_input *z, size_t n);

/* The next frame into z->frame. 1: the source was stopped; 2: there is none. */
int zstd_find(struct source *s, struct input *in, struct fail *fail);

/* Leaves only the first of joined frames in z->frame; the others will be found again, one by one. */
void zstd_part(struct zstd_input *z);

/* Joins small frames behind a stream's that was gathered, which are there already; up to `most` decoded bytes. */
void zstd_gather_more(struct decoder *d, uint64_t most);

/*
 * The whole of a stream's frame into d->packed; if it is too large for that, or its beginning holds the
 * `enough` bytes that are wanted, d->attached. 1: stopped.
 */
int zstd_gather(struct source *s, struct decoder *d, uint64_t enough, struct fail *fail);

/* ---- zstd_decode.c ---- */

/* A decoder that may take `need` bytes. NULL: others must end first, or there is no memory. */
struct decoder *zstd_decoder_get(struct source *s, uint64_t need);
bool zstd_reserve(struct source *s, struct decoder *d, uint64_t need); /* false: so much is not left */
void zstd_pool_trim(struct zstd_pool *p); /* frees those that have no frame */
bool zstd_pool_idle(const struct zstd_pool *p);

/* A worker's share of the memory decides how a frame is decoded. */
uint64_t zstd_share(const struct source *s);
bool zstd_fits_whole(const struct source *s, const struct frame *f, bool direct);
uint64_t zstd_whole_bytes(const struct frame *f, bool direct); /* ... which then takes so much of it */

/* What libzstd remembers of a frame that is decoded piece by piece. */
uint64_t zstd_window(const struct frame_header *header);

/* How much of a stream's frame may be gathered before it is decoded: a decoder's most. */
size_t zstd_gather_most(const struct source *s, const struct frame_header *header);

/* All of a frame at once into `out`, or, NULL, into d's own; without the lock. */
int zstd_decode_whole(struct decoder *d, unsigned char *out, size_t room, size_t *got, struct fail *fail);

/*
 * Up to cap bytes of a frame in turn; *ended: they were its last. 1: the source was stopped.
 * Without the lock.
 */
int zstd_decode_some(struct source *s, struct decoder *d, unsigned char *buffer, size_t cap, size_t *got,
		     bool *ended, struct fail *fail);

/*
 * What earlier frames left in a decoder goes where it would not fit beside this frame's, or beside
 * `more` bytes, into what the decoder may have.
 */
int zstd_suit(struct decoder *d, struct fail *fail);
int zstd_shed(struct decoder *d, uint64_t more, struct fail *fail);
uint64_t zstd_held(const struct decoder *d);

/* At least so many bytes; what was there is lost. */
int zstd_grow(unsigned char **buffer, size_t *room, size_t bytes);

/* ---- zstd_check.c ---- */

void zstd_check_begin(struct decoder *d, bool ours);

/* Without the lock, by whoever holds the decoder: the frame's first bytes; what follows its last block. */
void zstd_check_hide(struct decoder *d, unsigned char *head, size_t n);
void zstd_check_told(struct decoder *d, const unsigned char trailer[CHECKSUM_BYTES]);

/*
 * In turn: what lies next of pieces, as long as nobody else is at it; one that was counted, and is
 * free when that is done; bytes that come in no piece, behind all pieces. All give the lock up.
 */
void zstd_check_pieces(struct source *s, struct decoder *d);
void zstd_check_counted(struct source *s, struct decoder *d, struct piece *p);
void zstd_check_bytes(struct source *s, struct decoder *d, uint64_t begin, const unsigned char *bytes, size_t n);

/* Is a frame that was decoded to its end what it should be? Whole: what nobody has added yet is, first. */
int zstd_check_end(const struct decoder *d, struct fail *fail);
int zstd_check_whole(struct source *s, struct decoder *d, struct fail *fail);

/* ---- zstd_place.c ---- */

/* Gives frames their places, as far as the sizes in front of them are known. */
void zstd_place(struct source *s, struct input *in);

/* A frame that has its size, and perhaps a place, had others joined. */
void zstd_place_joined(struct decoder *d);

/*
 * Does -n want anything of a frame that cannot be decoded? Gives the lock up until its place is known;
 * not wanted, it lets those behind it have theirs.
 */
bool zstd_wanted(struct source *s, struct decoder *d);

/*
 * Waits until a frame's place is known. false: nothing is wanted any more, so it may never be. One that
 * has its place in front of -n's end is worked on even then: it was skipped, and must be right.
 */
bool zstd_await_place(struct source *s, const struct decoder *d);

/*
 * n decoded bytes whose place is `at`: those that are skipped or not wanted are passed over, parts
 * of records mended; *from and *length say which are whole records, at most `most` bytes of them,
 * which whoever hands them out accounts for. Returns how many of the n were dealt with, or -1.
 */
int64_t zstd_sort_out(struct source *s, struct input *in, uint64_t at, const unsigned char *bytes, size_t n,
		      size_t most, size_t *from, size_t *length, struct fail *fail);

/* Records that were put together of several frames, into a request. */
void zstd_take_mended(struct source *s, struct request *r);

/* ---- zstd_give.c ---- */

/* Takes the frame off a decoder; the last one ends an input that has no more. */
int zstd_done(struct source *s, struct decoder *d, int rc, struct fail *fail);
int zstd_done_in_turn(struct source *s, struct decoder *d, struct fail *fail); /* ... when its last piece is back */
int zstd_finish(struct source *s, struct input *in, int rc, struct fail *fail);

/* Works on a decoder that is the caller's, decoding, and hands out what fits the request. */
int zstd_work_whole(struct source *s, struct decoder *d, struct request *r);
bool zstd_fits_request(const struct decoder *d, const struct request *r); /* all of it */
int zstd_work_in_turn(struct source *s, struct decoder *d, struct request *r);

/* Samples that others have decoded. */
bool zstd_take_piece(struct source *s, struct request *r, int *rc);

bool zstd_pieces_free(const struct decoder *d);
struct piece *zstd_free_piece(struct decoder *d); /* one that can be decoded into, or NULL */

#endif
