/* SPDX-License-Identifier: MIT */
/*
 * tensors: parses the header of a safetensors file. Pure.
 *
 *	length (8 bytes), then that many bytes of JSON:
 *	{"NAME": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [BEGIN, END]}, ...}
 *
 * Offsets count from the end of the JSON. No number in it is trusted: the header is read in pieces,
 * so a false length takes no memory; shape, type and offsets must agree; no two tensors may have
 * the same name; each byte belongs to one tensor.
 */
#ifndef GPUHIST_INPUT_TENSORS_H
#define GPUHIST_INPUT_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/sample.h"
#include "format/header.h"

#define TENSORS_LENGTH 8u          /* bytes before the JSON */
#define TENSORS_MOST 100000000u    /* bytes of JSON: the limit of the format itself */
#define TENSORS_SHARE 4u           /* the JSON may take -M / 4, as the list may be as long */
#define TENSOR_SHORTEST (size_t)40 /* every tensor takes at least this much JSON */

/* A tensor. Its strings lie in the text of struct tensors, each with a zero after it. */
struct tensor {
	const char *name;  /* unescaped, except NUL and halves of surrogate pairs */
	const char *dtype; /* as the file spells it */
	const char *shape; /* 40x100; 1 for a scalar */
	uint64_t begin;    /* offset in the file */
	uint64_t bytes;
};

struct tensors {
	char *text;        /* JSON with a zero after it; parsing overwrites it; owned */
	size_t length;     /* bytes of JSON */
	struct tensor *of; /* owned */
	size_t n;
	uint64_t end; /* offset of the end of the file */
};

/* Find the sample type of a tensor; false: it is unsupported. */
bool tensor_type(const struct tensor *t, struct sample_type *type);

/* Fill the list from t->text. -1: `why` is the reason, or "" if memory ran out. */
int tensors_parse(struct tensors *t, char why[HEADER_WHY]);

/* Return the tensor of this name, or NULL; then *near is a similar name, or NULL. */
const struct tensor *tensors_find(const struct tensors *list, const char *name, const char **near);

/* Make a header for an input with this tensor of the list alone; false: unsupported type. */
bool tensor_header(struct header *h, const struct tensors *list, const struct tensor *t);

void tensors_free(struct tensors *t);

/* List the first tensors for a message, each after a line feed. */
#define TENSORS_TEXT 2048
void tensors_first(char text[TENSORS_TEXT], const struct tensors *list);

#endif
