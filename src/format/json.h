/* SPDX-License-Identifier: MIT */
/*
 * json: reads the brackets, plain values and number lists of a sequence of JSON texts.
 *
 *	if (json_peek(r, fail) == '{')
 *		for (more = json_enter(r, '{', fail); more > 0; more = json_next(r, fail))
 *			... json_name, then a value
 *
 * The caller says which values may follow. Memory is bounded: plain values take at most JSON_TEXT
 * bytes between two resets of `used`, a number at most JSON_NUMBER, and a list takes memory in
 * proportion to its text. Reading from a pipe waits for its writer. A text in memory holds its plain
 * values itself, over bytes already read.
 *
 * -1 or NULL means that the text is not JSON or cannot be read; *fail has the reason and the
 * position. Only json_close may be called after that.
 */
#ifndef GPUHIST_JSON_H
#define GPUHIST_JSON_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

#define JSON_TEXT ((size_t)1 << 20)
#define JSON_NUMBER 400u
#define JSON_DEPTH 64u             /* maximum nesting: the bits of json.objects */
#define JSON_LABEL (PATH_MAX + 32) /* longer names are truncated */
#define JSON_BUFFER ((size_t)1 << 18)

struct json {
	char label[JSON_LABEL]; /* for messages: "NAME", or "NAME, document 3" */
	const char *name;       /* NULL: a text in memory */
	int fd;
	bool ended;            /* the buffer holds the end of the input */
	uint64_t offset;       /* input offset of the buffer's first byte */
	uint64_t documents;    /* number of documents begun */
	unsigned char *buffer; /* JSON_BUFFER bytes; a zero follows the bytes read */
	unsigned char *at;     /* next unread byte */
	unsigned char *end;    /* end of the bytes read, and position of the zero */
	unsigned depth;        /* open brackets */
	uint64_t objects;      /* a bit for each of them, the innermost the lowest: it is a { */
	char *text;            /* plain values */
	size_t used;           /* bytes used in text; the caller may reset it */
	size_t capacity;       /* bytes allocated for text */
};

/* path "-" is standard input; it is borrowed. Call json_close even after a failure. */
int json_open(struct json *r, const char *path, struct fail *fail);

/*
 * Read an object or array in memory, with a zero after its `length` bytes; `offset` is the position
 * of the first byte in messages. The text is borrowed and overwritten. Do not call json_close.
 */
void json_memory(struct json *r, char *text, size_t length, uint64_t offset);

/* Accepts {0}. */
void json_close(struct json *r);

/* 1: a document begins here. 0: the last one has been read. */
int json_begin(struct json *r, struct fail *fail);

/* Check that only white space is left. */
int json_end(struct json *r, struct fail *fail);

/* Skip white space and return the next byte without consuming it; 0 at the end; or -1. */
int json_peek(struct json *r, struct fail *fail);

/* Consume the next byte, which must be one of these one or two marks, and return it. */
int json_mark(struct json *r, const char *marks, struct fail *fail);

/*
 * Append a decoded string, a number, true, false or null to r->text, at *at, with a zero. The zero
 * character and half of a surrogate pair stay escaped, unless utf8_unescape makes it a byte.
 */
int json_plain(struct json *r, size_t *at, struct fail *fail);

/* The same for a string, and for a number of digits alone. Messages call them by these names. */
int json_string(struct json *r, const char *wanted, size_t *at, struct fail *fail);
int json_whole(struct json *r, const char *what, size_t *at, uint64_t *n, struct fail *fail);

/*
 * Consume the opening bracket, or the comma or closing bracket after a member of the innermost
 * object or array. 1: a member follows. 0: the closing bracket was consumed.
 */
int json_enter(struct json *r, char open, struct fail *fail);
int json_next(struct json *r, struct fail *fail);

/* Append the name of a member like json_string, and consume the colon. */
int json_name(struct json *r, size_t *at, struct fail *fail);

/* Consume any value. */
int json_skip(struct json *r, struct fail *fail);

enum json_numbers {
	JSON_COUNTS, /* uint64_t: whole numbers from 0 to 2^64 - 1 */
	JSON_REALS,  /* double: the nearest to a finite number */
};

/* Read the *n numbers of an array; `more` is json_enter's result. The caller frees them. */
void *json_list(struct json *r, int more, enum json_numbers what, size_t *n, struct fail *fail);

/* A pair of numbers of a string such as "-3 12,0 7". */
struct json_pair {
	int64_t key;
	uint64_t count;
};

/* Read a string of *n pairs, at its '"'; the caller frees them. */
struct json_pair *json_pairs(struct json *r, size_t *n, struct fail *fail);

/*
 * Set *fail to STATUS_DATA and "NAME: byte 1234: why", with the position of the next byte;
 * json_unexpected adds "WANTED expected, not 'x'". They return -1.
 */
int json_bad(const struct json *r, struct fail *fail, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int json_unexpected(const struct json *r, const char *wanted, struct fail *fail);

#endif
