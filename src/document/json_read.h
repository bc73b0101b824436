/* SPDX-License-Identifier: MIT */
/*
 * json_read: JSON taken piece by piece from a file or a pipe, by a caller who knows what may come next.
 *
 * Strict as RFC 8259 has it, and a little stricter: UTF-8 without exception, no surrogate alone, no name twice in one
 * object. What the memory of a reader could grow by is bounded: values nest JSON_DEPTH deep, a text has JSON_TEXT
 * bytes at most, a number JSON_NUMBER, and the objects that are open have JSON_NAMES members together. Only arrays of
 * numbers grow, with the numbers that were read. Each byte is looked at a bounded number of times, so time is
 * bounded by the length of the text; a read waits for the writer of a pipe and ends with it.
 *
 * Every function returns -1 where the text is not what it takes, or cannot be read, with the reason and the place in
 * *fail; nothing may be taken from the reader then, but json_close.
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
	bool first;   /* no member or element was taken yet */
	size_t names; /* of the objects around it: where its own names begin */
};

struct json_reader {
	char *name; /* for messages */
	int fd;
	bool ended;                   /* the input, behind what is in the buffer */
	unsigned char *buffer;        /* JSON_BUFFER bytes, and a zero behind the last one that was read */
	unsigned char *at;            /* the next byte ... */
	unsigned char *end;           /* ... of those that were read */
	uint64_t offset;              /* of the buffer's first byte in the input */
	uint64_t size;                /* of a regular file when it was opened; else 0 */
	uint64_t documents;           /* that were begun */
	char *text;                   /* the text that was taken last ... */
	size_t text_room;             /* ... and the room for it, that grows */
	char number[JSON_NUMBER + 1]; /* the number that was taken last */
	unsigned depth;               /* arrays and objects that are open */
	struct json_level level[JSON_DEPTH];
	size_t names;               /* of all objects that are open: */
	uint64_t known[JSON_NAMES]; /* their checksums */
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

/* "NAME: document 3: byte 1234: why", STATUS_DATA; both are counted from 1, offset from 0. Returns -1. */
int json_bad(const struct json_reader *r, uint64_t offset, struct fail *fail, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Between documents. 1: the next one begins at json_offset. 0: there are no more. */
int json_document(struct json_reader *r, struct fail *fail);

/* Passes over blanks; *next is the byte that follows, -1 where the input ends. */
int json_peek(struct json_reader *r, int *next, struct fail *fail);

/* An object: json_object, then json_member until it returns 0. 1: the value of the member *name is next. */
int json_object(struct json_reader *r, struct fail *fail);
int json_member(struct json_reader *r, const char **name, struct fail *fail);

/* An array: json_array, then json_element until it returns 0. 1: a value is next. */
int json_array(struct json_reader *r, struct fail *fail);
int json_element(struct json_reader *r, struct fail *fail);

/* A value each. Texts are the reader's, and hold until the next one is taken; they may contain zero bytes. */
int json_string(struct json_reader *r, const char **text, size_t *length, struct fail *fail);
int json_number(struct json_reader *r, const char **text, struct fail *fail);
int json_real(struct json_reader *r, double *real, struct fail *fail); /* finite: the nearest binary64 */
int json_bool(struct json_reader *r, bool *value, struct fail *fail);
int json_skip(struct json_reader *r, struct fail *fail);

/* 0: *count is the number, exactly. 1: the text of a number is not a whole one from 0 to 2^64 - 1. */
int json_count_of(uint64_t *count, const char *number);

/* The numbers of an array. */
struct json_counts {
	uint64_t first; /* the first one; the others are ... */
	uint64_t *rest; /* ... here, for the caller to free */
	uint64_t n;     /* how many, the first one included */
	bool odd;       /* one is not a whole number from 0 to 2^64 - 1: there is no rest ... */
	uint64_t at;    /* ... and this is where it is in the input */
};

/*
 * At most `most` of them; for as many as are likely, and as the rest of a regular file may hold, memory is taken at
 * once. On failure there is nothing to free.
 */
int json_counts(struct json_reader *r, struct json_counts *counts, uint64_t likely, uint64_t most, struct fail *fail);

/* The same of finite numbers, each the binary64 nearest to its text. */
int json_reals(struct json_reader *r, double **reals, uint64_t *n, uint64_t most, struct fail *fail);

/* ---- what json_read.c shares with json_string.c and json_numbers.c ---- */

/* Takes the byte `c`, after blanks; `wanted` is what a message calls it. */
int json_take(struct json_reader *r, int c, const char *wanted, struct fail *fail);

/* "WANTED expected, not 'x'", of the next byte. Returns -1. */
int json_unexpected(const struct json_reader *r, const char *wanted, struct fail *fail);

/* At least `want` bytes, up to JSON_BUFFER, are in the buffer from r->at on, or the input ends sooner. */
int json_fill(struct json_reader *r, size_t want, struct fail *fail);

#endif
