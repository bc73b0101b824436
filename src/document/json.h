/* SPDX-License-Identifier: MIT */
/*
 * json: the tokens of JSON texts that follow one another, and their long arrays of numbers.
 *
 * Tokens are as strict as RFC 8259, in UTF-8 alone; which may follow which is the caller's to say.
 * Memory is bounded: the texts of tokens between two resets of `used` have at most JSON_TEXT bytes,
 * a number has at most JSON_NUMBER, and an array is in proportion to its text. Each byte is looked
 * at a bounded number of times; a read waits for a pipe's writer and ends when the writer does.
 *
 * -1 means that the text is not JSON, or cannot be read; *fail has the reason and the place, and
 * json_close is the only call that is allowed then.
 */
#ifndef GPUHIST_JSON_H
#define GPUHIST_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

#define JSON_TEXT ((size_t)1 << 20)
#define JSON_NUMBER 400u
#define JSON_BUFFER ((size_t)1 << 18)

/* The kind of a token: its mark, if that is one of { } [ ] : and the comma, else one of these. */
enum { JSON_STRING = '"', JSON_NUMERAL = '0', JSON_WORD = 'a' };

struct json_token {
	char kind;
	uint64_t at;   /* offset in the input */
	size_t text;   /* offset in the reader's text; there strings are decoded */
	size_t length; /* bytes of its text, which a zero follows */
};

struct json {
	const char *name; /* for messages */
	int fd;
	bool ended;            /* the input ends where the buffer does */
	bool may_end;          /* an array may end here, as no comma was taken just before */
	uint64_t offset;       /* of the buffer's first byte in the input */
	uint64_t documents;    /* how many documents were begun */
	uint64_t begin;        /* offset at which the last document begins */
	unsigned char *buffer; /* JSON_BUFFER bytes; a zero follows the last one that was read */
	unsigned char *at;     /* the next byte to be taken */
	unsigned char *end;    /* one past the last byte that was read */
	char *text;            /* texts of tokens */
	size_t used, room;     /* bytes in text, which the caller may reset, and its room */
};

/* path "-" is standard input; it is borrowed. After a failure json_close is still to be called. */
int json_open(struct json *r, const char *path, struct fail *fail);

/* 1: a document begins here. 0: there are no more. */
int json_begin(struct json *r, struct fail *fail);

/* 1: *token is the next token, which is taken. 0: the input ends here. */
int json_token(struct json *r, struct json_token *token, struct fail *fail);

/*
 * Takes up to `room` numbers, 8 bytes each, of an array whose bracket was taken; *n is how many. At
 * the end of the array may_end is true, and the closing bracket is left to json_token.
 */
enum json_numbers {
	JSON_COUNTS, /* uint64_t: whole numbers from 0 to 2^64 - 1, of digits alone */
	JSON_REALS,  /* double: the nearest to a finite number */
};
int json_numbers(struct json *r, enum json_numbers what, void *to, size_t room, size_t *n,
		 struct fail *fail);

/* All numbers of the array, which the caller frees; NULL: *fail says why. */
void *json_list(struct json *r, enum json_numbers what, size_t *n, struct fail *fail);

/* "NAME: document 3: byte 1234: why", STATUS_DATA; that byte is offset + 1. Returns -1. */
int json_bad(const struct json *r, uint64_t offset, struct fail *fail, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Takes {0} too. */
void json_close(struct json *r);

/* ---- what json.c and json_numbers.c share ---- */

/* Where the next byte is in the input, from 0 on. */
static inline uint64_t json_offset(const struct json *r)
{
	return r->offset + (uint64_t)(r->at - r->buffer);
}

/* Skips white space. The byte at r->at is the next one then, or a zero if the input ends. */
int json_peek(struct json *r, struct fail *fail);

/* Fills the buffer with `want` bytes or more, up to JSON_BUFFER, unless the input ends before. */
int json_fill(struct json *r, size_t want, struct fail *fail);

/* The length of the number at r->at; 0: *fail says why there is none. */
size_t json_numeral(struct json *r, struct fail *fail);

/* "WANTED expected, not 'x'", for the next byte. Returns -1. */
int json_unexpected(const struct json *r, const char *wanted, struct fail *fail);

#endif
