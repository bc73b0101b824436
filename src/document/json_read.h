/* SPDX-License-Identifier: MIT */
/*
 * json_read: JSON taken piece by piece from a file or a pipe, by a caller that knows what may come
 * next.
 *
 * It is as strict as RFC 8259, and a little stricter: UTF-8 without exception, no lone surrogate,
 * no name twice in one object. Everything that could make a reader's memory grow is bounded: values
 * nest at most JSON_DEPTH deep, a text has at most JSON_TEXT bytes, a number JSON_NUMBER, and the
 * objects that are open have together at most JSON_NAMES members. Only arrays of numbers grow, with
 * the numbers that were read. Each byte is looked at a bounded number of times, so the length of
 * the text bounds the time; a read waits for the writer of a pipe and ends when the writer does.
 *
 * Every function returns -1 if the text is not what the function takes, or cannot be read; *fail
 * has the reason and the place. The only call that the reader allows then is json_close.
 */
#ifndef GPUHIST_JSON_READ_H
#define GPUHIST_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

#define JSON_DEPTH 64u
#define JSON_TEXT ((size_t)1 << 20)
#define JSON_NUMBER 400u
#define JSON_NAMES 1024u
#define JSON_BUFFER ((size_t)1 << 18)

struct json_level {
	bool first;   /* no member or element has been taken yet */
	size_t names; /* of the objects around it: the index at which its own names begin */
};

struct json_reader {
	char *name; /* for messages */
	int fd;
	bool ended; /* the input ends where the buffer does */
	/* JSON_BUFFER bytes, and a zero after the last one that was read */
	unsigned char *buffer;
	unsigned char *at;            /* the next byte to be taken ... */
	unsigned char *end;           /* ... and the end of those that were read */
	uint64_t offset;              /* where the buffer's first byte is in the input */
	uint64_t size;                /* of a regular file, when it was opened; else 0 */
	uint64_t documents;           /* that were begun */
	char *text;                   /* the last text that was taken ... */
	size_t text_room;             /* ... and the room for it, which grows */
	char number[JSON_NUMBER + 1]; /* the last number that was taken */
	unsigned depth;               /* arrays and objects that are open */
	struct json_level level[JSON_DEPTH];
	size_t names;               /* of all objects that are open: */
	uint64_t known[JSON_NAMES]; /* their hashes */
};

/* path "-" is standard input. On failure *out is NULL. */
int json_open(struct json_reader **out, const char *path, struct fail *fail);

/* Takes NULL. */
void json_close(struct json_reader *r);

/* Where the next byte is in the input, from 0 on. */
static inline uint64_t json_offset(const struct json_reader *r)
{
	return r->offset + (uint64_t)(r->at - r->buffer);
}

/*
 * "NAME: document 3: byte 1234: why", STATUS_DATA; both are counted from 1, offset from 0. Returns
 * -1.
 */
int json_bad(const struct json_reader *r, uint64_t offset, struct fail *fail, const char *format,
	     ...) __attribute__((format(printf, 4, 5)));

/* Call it between documents. 1: the next one begins at json_offset. 0: there are no more. */
int json_document(struct json_reader *r, struct fail *fail);

/* Skips white space; *next is the byte after it, or -1 at the end of the input. */
int json_peek(struct json_reader *r, int *next, struct fail *fail);

/*
 * An object: json_object, then json_member until it returns 0. While it returns 1, the value of the
 * member *name follows.
 */
int json_object(struct json_reader *r, struct fail *fail);
int json_member(struct json_reader *r, const char **name, struct fail *fail);

/*
 * An array: json_array, then json_element until it returns 0. While it returns 1, a value follows.
 */
int json_array(struct json_reader *r, struct fail *fail);
int json_element(struct json_reader *r, struct fail *fail);

/*
 * Each takes a value. The reader owns the texts, which are valid until the next one is taken; they
 * may contain zero bytes.
 */
int json_string(struct json_reader *r, const char **text, size_t *length, struct fail *fail);
int json_number(struct json_reader *r, const char **text, struct fail *fail);
/* finite: the nearest binary64 */
int json_real(struct json_reader *r, double *real, struct fail *fail);
int json_bool(struct json_reader *r, bool *value, struct fail *fail);
int json_skip(struct json_reader *r, struct fail *fail);

/*
 * 0: *count is the number, exactly. 1: the text is not that of a whole number from 0 to 2^64 - 1.
 */
int json_count_of(uint64_t *count, const char *number);

/* The numbers of an array. */
struct json_counts {
	uint64_t first; /* the first one; the others are ... */
	uint64_t *rest; /* ... here, for the caller to free */
	uint64_t n;     /* how many, the first one included */
	/* one of them is not a whole number from 0 to 2^64 - 1: there is no rest ... */
	bool odd;
	uint64_t at; /* ... and this is where it is in the input */
};

/*
 * Takes at most `most` of them. Memory for as many as are likely, and as the rest of a regular file
 * can hold, is taken in one call. On failure there is nothing to free.
 */
int json_counts(struct json_reader *r, struct json_counts *counts, uint64_t likely, uint64_t most,
		struct fail *fail);

/* The same for finite numbers, each the binary64 nearest to its text. */
int json_reals(struct json_reader *r, double **reals, uint64_t *n, uint64_t most,
	       struct fail *fail);

/* ---- what json_read.c shares with json_string.c and json_numbers.c ---- */

/* Takes the byte `c`, after white space; `wanted` names it in a message. */
int json_take(struct json_reader *r, int c, const char *wanted, struct fail *fail);

/* "WANTED expected, not 'x'", for the next byte. Returns -1. */
int json_unexpected(const struct json_reader *r, const char *wanted, struct fail *fail);

/*
 * Reads until at least `want` bytes, up to JSON_BUFFER, are in the buffer from r->at on, or the
 * input ends.
 */
int json_fill(struct json_reader *r, size_t want, struct fail *fail);

#endif
