/* SPDX-License-Identifier: MIT */
/*
 * json_read: a document as a list of what stands in it, each value by its path, such as
 * "metadata.samples" or "axes.0.edges". White space and the order of members are gone then.
 *
 * It is as strict as RFC 8259, and takes UTF-8 alone. A name with a dot, a zero byte or too many
 * bytes is "?" in the path. Memory is bounded by the text that was read: values nest at most
 * JSON_DEPTH deep, there are JSON_VALUES of them, a text has JSON_TEXT bytes and a number
 * JSON_NUMBER; only the arrays of numbers named "values", "index" and "edges" are of any length.
 * Each byte is looked at a bounded number of times; a read waits for the writer of a pipe and ends
 * when the writer does.
 *
 * -1 means that the text is not JSON, or cannot be read; *fail has the reason and the place. The
 * only call that the reader allows then is json_close.
 */
#ifndef GPUHIST_JSON_READ_H
#define GPUHIST_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

#define JSON_DEPTH 64u
#define JSON_VALUES ((size_t)1 << 14)
#define JSON_TEXT ((size_t)1 << 20)
#define JSON_NUMBER 400u
#define JSON_PATH 128u
#define JSON_HEAD 1024u
#define JSON_BUFFER ((size_t)1 << 18)

enum json_kind {
	JSON_WORD, /* true, false, null; as text, like ... */
	JSON_STRING,
	JSON_NUMERAL, /* ... a number outside the arrays below */
	JSON_ARRAY,   /* of n values, which have paths of their own */
	JSON_COUNTS,  /* "values", and "index.0": n whole numbers from 0 to 2^64 - 1 */
	JSON_REALS,   /* "edges": n finite numbers, each the nearest binary64 */
	JSON_OBJECT,  /* the document, and its members "channel..."; as text, its first bytes */
};

struct json_value {
	enum json_kind kind;
	bool used;        /* for the caller, who finds it false */
	uint64_t at;      /* where it is in the input */
	const char *path; /* the reader's, as is ... */
	const char *text; /* ... this, with a zero after it ... */
	size_t length;    /* ... and these bytes before that */
	uint64_t n;       /* of an array */
	uint64_t first;   /* COUNTS: the first number; all others are in ... */
	uint64_t *counts; /* ... these, which the caller may take, leaving NULL */
	double *reals;    /* REALS: all of them */
	size_t path_length;
	size_t path_at, text_at; /* of both, while the reader's memory may still move */
};

struct json_reader {
	char *name; /* for messages */
	int fd;
	bool ended;            /* the input ends where the buffer does */
	bool broken;           /* it could not be read */
	uint64_t size;         /* of a regular file, when it was opened; else 0 */
	uint64_t offset;       /* where the buffer's first byte is in the input */
	uint64_t documents;    /* that were begun, the last one ... */
	uint64_t begin;        /* ... here */
	unsigned char *buffer; /* JSON_BUFFER bytes, and a zero after the last one that was read: */
	unsigned char *at;     /* the next byte to be taken ... */
	unsigned char *end;    /* ... and the end of those that were read */
	struct json_value *value; /* of this document ... */
	size_t values, room;      /* ... so many, and for how many there is room */
	char *text;               /* their paths and texts ... */
	size_t used, text_room;   /* ... so many bytes, and the room for them */
	char path[JSON_PATH];     /* of the value that is being read ... */
	size_t path_length;
	uint64_t likely; /* how many numbers the next array may have */
};

/* path "-" is standard input, NULL is nothing, for json_reread. On failure *out is NULL. */
int json_open(struct json_reader **out, const char *path, struct fail *fail);

/* 1: the values of the next document are there, those of the one before are gone. 0: the end. */
int json_next(struct json_reader *r, struct fail *fail);

/* The same for a text of at most JSON_BUFFER bytes. */
int json_reread(struct json_reader *r, const char *text, size_t bytes, struct fail *fail);

/* The first value of this path; NULL: there is none. */
struct json_value *json_find(const struct json_reader *r, const char *path);

/* "NAME: document 3: byte 1234: why", STATUS_DATA; counted from 1, offset from 0. Returns -1. */
int json_bad(const struct json_reader *r, uint64_t offset, struct fail *fail, const char *format,
	     ...) __attribute__((format(printf, 4, 5)));

/* Takes NULL. */
void json_close(struct json_reader *r);

/* ---- what json_read.c and json_numbers.c share ---- */

/* Where the next byte is in the input, from 0 on. */
static inline uint64_t json_offset(const struct json_reader *r)
{
	return r->offset + (uint64_t)(r->at - r->buffer);
}

/* Skips white space. The byte after it, or -1: the input ends or could not be read. */
int json_peek(struct json_reader *r, struct fail *fail);

/* At least `want` bytes, up to JSON_BUFFER, are in the buffer then, unless the input ends. */
int json_fill(struct json_reader *r, size_t want, struct fail *fail);

/* 1: an element or member follows, after a comma unless it is the first. 0: `close` was taken. */
int json_more(struct json_reader *r, int close, bool first, struct fail *fail);

/* Takes a number; its text, with a zero after it, is written to `text`. */
int json_numeral(struct json_reader *r, char text[JSON_NUMBER + 1], struct fail *fail);

/* Takes the numbers of an array whose bracket was taken. */
int json_numbers(struct json_reader *r, struct json_value *v, struct fail *fail);

#endif
