/* SPDX-License-Identifier: MIT */
/*
 * json: the marks, plain values and lists of numbers of JSON texts that follow one another.
 *
 * The caller says what may follow what. Memory is bounded: plain values take at most JSON_TEXT bytes
 * between two resets of `used`, a number has at most JSON_NUMBER, and a list takes memory in
 * proportion to its text. A read waits for a pipe's writer and ends when the writer does.
 *
 * -1 or NULL means that the text is not JSON, or cannot be read; *fail has the reason and the place,
 * and json_close is the only call that is allowed then.
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
#define JSON_LABEL (PATH_MAX + 32) /* a name that is too long is cut */
#define JSON_BUFFER ((size_t)1 << 18)

struct json {
	char label[JSON_LABEL]; /* for messages: "NAME", or "NAME, document 3" */
	const char *name;
	int fd;
	bool ended;            /* the input ends where the buffer does */
	uint64_t offset;       /* of the buffer's first byte in the input */
	uint64_t documents;    /* how many were begun */
	size_t longest;        /* bytes of the longest list that a file can hold; 0: not known */
	unsigned char *buffer; /* JSON_BUFFER bytes; a zero follows the last one that was read */
	unsigned char *at;     /* the next byte to be taken */
	unsigned char *end;    /* one past the last byte that was read */
	char *text;            /* plain values */
	size_t used;           /* bytes in text; the caller may reset it */
	size_t capacity;       /* bytes that fit in text */
};

/* path "-" is standard input; it is borrowed. After a failure json_close is still to be called. */
int json_open(struct json *r, const char *path, struct fail *fail);

/* Takes {0} too. */
void json_close(struct json *r);

/* 1: a document begins here. 0: there are no more. */
int json_begin(struct json *r, struct fail *fail);

/* Skips white space and returns the next byte, which stays at r->at; 0: the input ends; or -1. */
int json_peek(struct json *r, struct fail *fail);

/* Takes the next byte, one of these one or two marks. Returns it. */
int json_mark(struct json *r, const char *marks, struct fail *fail);

/* Takes a text, decoded, a number, true, false or null: from *at on in r->text, then a zero. */
int json_plain(struct json *r, size_t *at, struct fail *fail);

enum json_numbers {
	JSON_COUNTS, /* uint64_t: whole numbers from 0 to 2^64 - 1 */
	JSON_REALS,  /* double: the nearest to a finite number */
};

/* All *n numbers of an array whose bracket was taken, and the closing one; the caller frees them. */
void *json_list(struct json *r, enum json_numbers what, size_t *n, struct fail *fail);

/*
 * Set *fail to STATUS_DATA and "NAME: byte 1234: why", with the place of the next byte;
 * json_unexpected adds "WANTED expected, not 'x'". They return -1.
 */
int json_bad(const struct json *r, struct fail *fail, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int json_unexpected(const struct json *r, const char *wanted, struct fail *fail);

#endif
