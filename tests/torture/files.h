/* SPDX-License-Identifier: MIT */
/* files: whole files read and written, and random contents. */
#ifndef TORTURE_FILES_H
#define TORTURE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Says what failed, with errno, and ends the program. */
void die(const char *what) __attribute__((noreturn));

/* splitmix64: all that is drawn from now on follows from the seed. */
void chance_begin(uint64_t seed);
uint64_t draw(void);
unsigned below(size_t n);

struct bytes {
	char *data; /* with a zero after them; NULL: the file is not there */
	size_t n;
};

struct bytes slurp(const char *path);
void spill(const char *path, const void *data, size_t n);
bool same(struct bytes a, struct bytes b);

/* Samples of all sizes, most of them small. */
void make_input(const char *path, size_t n);

/* Those of `small` in zstd frames: many, one, and one that is cut. */
void make_packed(void);

/*
 * Documents to be merged: "one.json", "two.json", "both.json" and "far.json", near the most of a
 * count. By plan.c.
 */
void make_documents(void);

/*
 * "headed": "small" as a WAVE with chunks before and after; "headed-packed": in zstd frames;
 * "headed-cut".
 */
void make_headed(void);

#endif
