/* SPDX-License-Identifier: MIT */
/*
 * text_list: cuts the text of one input into lines while its pieces arrive in any order. Pure: no
 * I/O, and the caller has the lock, except in functions that say otherwise.
 *
 * A "piece" is a run of the text's bytes. The list holds, in the order of the bytes: the pieces at
 * work, the "borders" between neighbours, and "gaps", at which further pieces are inserted: one for
 * each zstd job, and one for the rest of the input. Borders and other nodes alternate, and the list
 * begins and ends with a border.
 *
 * BORDERS. The bytes of a piece up to its first newline go to the border before it, the bytes
 * after its last newline to the border after it. A border is complete when both sides have come:
 * then it is a line. A piece without a newline joins its two borders, and so does a gap that has
 * ended, because nothing more comes between them. So only borders keep bytes, as a chain of runs.
 *
 * SUMS. A node whose lines were read is "done" and keeps their sum: lines, bad lines, the first bad
 * one. Neighbours that are done are merged, as sums are associative. So the list has a few nodes
 * for each piece at work and for each job, however long the first piece takes.
 *
 * FAILURES. If bytes cannot be read or decoded, the node is done, with a failure, and the line
 * before it is dropped. The caller reports the failure at the beginning of the list. If two sums
 * with failures are merged, the lower offset wins: a frame comes before a bad line in it.
 */
#ifndef GPUHIST_TEXT_LIST_H
#define GPUHIST_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "text/text.h"

#define TEXT_ADDED 2u                 /* bytes that end a last line without a newline */
#ifndef SMALL_JOBS                    /* the scheduler of the tests has small ones */
#define TEXT_SHORT ((size_t)64 << 10) /* bytes of a line whose memory is not counted */
#else
#define TEXT_SHORT ((size_t)500)
#endif
#define TEXT_READY 3u /* nodes whose lines one piece makes ready, at most */

/* Some bytes of a line. TEXT_PAD + TEXT_ADDED bytes after them belong to it, too. */
struct text_run {
	struct text_run *next;
	uint64_t offset; /* of its piece */
	size_t size;     /* of its memory */
	size_t n;        /* bytes */
	unsigned char bytes[];
};

/* The ends of a piece: the bytes that its borders get, and the lines between them. */
struct text_ends {
	struct text_run *head, *tail; /* or NULL */
	bool newline;                 /* else all bytes are in `head` */
	size_t from, to;              /* the whole lines in the piece */
};

/* The result of reading some lines. */
struct text_sum {
	uint64_t lines;
	uint64_t bad;       /* bad lines */
	uint64_t bad_line;  /* number of the first bad line, from 1; or 0 */
	char why[TEXT_WHY]; /* why that line, or the text, is bad; or "" */
	bool fatal;         /* the text ends here: `fail`, or else `why` */
	struct fail *fail;  /* why bytes could not be read or decoded; or NULL */
	uint64_t offset;    /* of the fatal node */
};

enum text_what { TEXT_GAP, TEXT_PIECE, TEXT_BORDER, TEXT_DONE };

struct text_node {
	struct text_node *prev, *next;
	enum text_what what;
	uint64_t offset; /* orders failures; of a border: its line's last piece */
	/* A border: */
	bool starts; /* the text begins with it */
	bool left;   /* the bytes of the piece before it have come */
	bool right;  /* the bytes of the piece after it have come */
	struct text_run *runs, *last;
	size_t n; /* bytes of the runs */
	struct text_node *next_due;
	/* Done: */
	struct text_sum sum;
};

struct text_list {
	struct text_node *first;
	struct text_node *rest;        /* the gap for the rest; NULL: the text has ended */
	struct text_node *due, *later; /* complete borders that no piece has completed */
	uint64_t held;                 /* memory of long lines, in bytes */
};

/* Make the list of a text. False: no memory. */
bool text_list_begin(struct text_list *l);
void text_list_free(struct text_list *l);

/* Insert a gap before the rest, or a piece before a gap. NULL: no memory. */
struct text_node *text_list_gap(struct text_list *l, uint64_t offset);
struct text_node *text_list_piece(struct text_list *l, struct text_node *gap, uint64_t offset);

/* Find the ends of a piece of n bytes, and copy them. False: no memory. No lock. */
bool text_ends_find(struct text_ends *e, const unsigned char *bytes, size_t n, uint64_t offset);
void text_ends_free(struct text_ends *e);

/*
 * The bytes of a piece have come; takes `ends` over. Set the nodes whose lines can be read now, in
 * order, and return their number.
 */
unsigned text_list_put(struct text_list *l, struct text_node *piece, struct text_ends *ends,
		       struct text_node *ready[TEXT_READY]);

/* No more pieces come before a gap. A border that this completes is due. */
void text_list_end(struct text_list *l, struct text_node *gap);

/* Before the rest ends: drop the last line, which is incomplete. False: no line is left. */
bool text_list_cut(struct text_list *l);

/* Take the next border that is due, or return NULL. */
struct text_node *text_list_due(struct text_list *l);

/* Join a border's bytes; *added: bytes added to end the line. NULL: no memory. No lock. */
struct text_run *text_node_line(struct text_node *border, size_t *added);

/* The lines of a node were read, or will not be: its sum is set. */
void text_list_done(struct text_list *l, struct text_node *x);

/* A piece or a gap cannot be read or decoded. Takes `fail` over. */
void text_list_fail(struct text_list *l, struct text_node *x, uint64_t offset, struct fail *fail);

/* Add the sum of the lines that follow; takes it over. */
void text_sum_add(struct text_sum *a, struct text_sum *b);

/* Take the first node off the list; it is done. */
void text_list_pop(struct text_list *l);

/* Does the list begin with a line that is too long? *offset: where it has become so. */
bool text_list_too_long(const struct text_list *l, uint64_t *offset);

/* Find a failure, as text_list_fail gave it, with an offset below this one; or return NULL. */
const struct text_sum *text_list_failure(const struct text_list *l, uint64_t offset);

/* Was all read before this gap, but for the line that spans its beginning? */
static inline bool text_list_is_next(const struct text_list *l, const struct text_node *gap)
{
	return gap->prev == l->first;
}

#endif
