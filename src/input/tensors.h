/* SPDX-License-Identifier: MIT */
/*
 * tensors: the header of a safetensors file. Pure.
 *
 *	length (8 bytes), then as many bytes of JSON:
 *	{"NAME": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [BEGIN, END]}, ...}
 *
 * Offsets count from the end of the JSON. No number in it is trusted: a header is read in pieces, so
 * its length costs memory only as its bytes come; shape, type and offsets must agree; no two tensors
 * may have one name or share a byte.
 */
#ifndef GPUHIST_INPUT_TENSORS_H
#define GPUHIST_INPUT_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"
#include "input/header.h"

#define TENSORS_LENGTH 8u          /* bytes before the JSON */
#define TENSORS_MOST 100000000u    /* bytes of JSON: the limit of the format itself */
#define TENSORS_SHARE 4u           /* at most a quarter of -M, as the list may be as long again */
#define TENSOR_SHORTEST (size_t)40 /* fewer characters of JSON describe no tensor */

/* The texts are in the header's text, each with a zero after it. */
struct tensor {
	const char *name;      /* JSON's escapes are decoded, but for a NUL and half of a pair */
	const char *dtype;     /* as the file spells it */
	const char *shape;     /* 40x100; of a scalar 1 */
	uint64_t begin, bytes; /* in the file */
};

struct tensors {
	char *text; /* owned; JSON, with a zero after it, until it was parsed */
	size_t length;
	struct tensor *of; /* owned */
	size_t n;
};

/* The type by which such a tensor is counted; false: we have no such type. */
bool tensor_type(const struct tensor *t, struct sample_type *type);

/* Fills the list from t->text. -1: `why` is the reason, or "" if memory ran out. */
int tensors_parse(struct tensors *t, char why[HEADER_WHY]);

/* The tensor of this name, or NULL; then *near is a name that it may stand for, or NULL. */
const struct tensor *tensors_find(const struct tensors *list, const char *name, const char **near);

/* The header of an input of which only this tensor counts; false: we do not have its type. */
bool tensor_header(struct header *h, const struct tensor *t);

void tensors_free(struct tensors *t);

/* The first tensors, each after a line feed, for a message. */
#define TENSORS_TEXT 2048
void tensors_first(char text[TENSORS_TEXT], const struct tensors *list);

#endif
