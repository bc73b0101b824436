/* SPDX-License-Identifier: MIT */
/*
 * json: reads the punctuation, plain values and number lists of a sequence of JSON texts.
 *
 * The caller checks the structure. Memory is bounded: plain values take at most JSON_TEXT bytes
 * between two resets of `used`, a number at most JSON_NUMBER, and a list takes memory in proportion
 * to its text. Reading from a pipe waits for its writer.
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
#define JSON_LABEL (PATH_MAX + 32) /* longer names are truncated */
#define JSON_BUFFER ((size_t)1 << 18)

struct json {
	char label[JSON_LABEL]; /* for messages: "NAME", or "NAME, document 3" */
	const char *name;
	int fd;
	bool ended;            /* the buffer holds the end of the input */
	uint64_t offset;       /* input offset of the buffer's first byte */
	uint64_t documents;    /* number of documents begun */
	unsigned char *buffer; /* JSON_BUFFER bytes; a zero follows the bytes read */
	unsigned char *at;     /* next unread byte */
	unsigned char *end;    /* end of the bytes read, and position of the zero */
	char *text;            /* plain values */
	size_t used;           /* bytes used in text; the caller may reset it */
	size_t capacity;       /* bytes allocated for text */
};

/* path "-" is standard input; it is borrowed. Call json_close even after a failure. */
int json_open(struct json *r, const char *path, struct fail *fail);

/* Accepts {0}. */
void json_close(struct json *r);

/* 1: a document begins here. 0: the last one has been read. */
int json_begin(struct json *r, struct fail *fail);

/* Skip white space and return the next byte without consuming it; 0 at the end; or -1. */
int json_peek(struct json *r, struct fail *fail);

/* Consume the next byte, which must be one of these one or two marks, and return it. */
int json_mark(struct json *r, const char *marks, struct fail *fail);

/* Append a decoded string, a number, true, false or null to r->text, at *at, with a zero. */
int json_plain(struct json *r, size_t *at, struct fail *fail);

enum json_numbers {
	JSON_COUNTS, /* uint64_t: whole numbers from 0 to 2^64 - 1 */
	JSON_REALS,  /* double: the nearest to a finite number */
};

/* Read the *n numbers of an array after its '[', up to and including ']'; the caller frees them. */
void *json_list(struct json *r, enum json_numbers what, size_t *n, struct fail *fail);

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
