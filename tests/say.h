/* SPDX-License-Identifier: MIT */
/* say: inputs with headers, made byte by byte. For tests. */
#ifndef GPUHIST_SAY_H
#define GPUHIST_SAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A growing buffer. The caller frees `at`. */
struct made {
	unsigned char *at;
	size_t bytes, room;
	bool big; /* numbers begin with their most significant byte */
};

/*
 * Append data. Short buffers have no spare bytes, so that a sanitizer sees reads beyond them. Long
 * ones do, because a sanitizer keeps memory that was freed, and a new address for each sample took
 * gigabytes and half an hour.
 */
static inline void put(struct made *m, const void *data, size_t n)
{
	const size_t least = m->bytes + n + 1;

	if (least > m->room) {
		m->room = least < 4096 ? least : 2 * least;
		m->at = realloc(m->at, m->room);
	}
	if (!m->at)
		exit(1);
	if (n > 0)
		memcpy(m->at + m->bytes, data, n);
	m->bytes += n;
}

static inline void put_text(struct made *m, const char *text)
{
	put(m, text, strlen(text));
}

static inline void put_number(struct made *m, uint64_t v, unsigned bytes)
{
	unsigned char b[8];

	for (unsigned i = 0; i < bytes; i++)
		b[i] = (unsigned char)(v >> 8 * (m->big ? bytes - 1 - i : i));
	put(m, b, bytes);
}

/* Append a .npy header with this dictionary, padded as NumPy does. */
static inline void put_npy(struct made *m, unsigned version, const char *dictionary)
{
	const size_t length = strlen(dictionary), fixed = version == 1 ? 10 : 12;
	const size_t padded = (fixed + length + 1 + 63) / 64 * 64 - fixed;

	put(m, "\x93NUMPY", 6);
	put_number(m, version, 1);
	put_number(m, 0, 1);
	put_number(m, padded, version == 1 ? 2 : 4);
	put_text(m, dictionary);
	for (size_t i = length; i < padded - 1; i++)
		put_text(m, " ");
	put_text(m, "\n");
}

/* Append a chunk of `size` bytes, which repeats this text. */
static inline void put_chunk(struct made *m, const char *name, uint32_t size, const char *text)
{
	put_text(m, name);
	put_number(m, size, 4);
	for (uint32_t i = 0; i < size + size % 2; i++)
		put(m, text + i % strlen(text), 1);
}

struct wave {
	const char *form; /* "RIFF" ... */
	uint32_t tag, channels, bytes, bits;
	bool extensible;
	uint32_t before; /* bytes of a chunk before fmt; 0: none */
	uint32_t size;   /* bytes of the data, according to the header */
	uint64_t wide;   /* the same in a ds64 chunk; 0: none */
	uint32_t after;  /* bytes of chunks after the data, according to the first size */
};

/* Append a WAVE header, up to its samples. */
static inline void put_wave(struct made *m, const struct wave *w)
{
	m->big = strcmp(w->form, "RIFX") == 0;
	put_text(m, w->form);
	put_number(m, w->size + 36 + w->after, 4);
	put_text(m, "WAVE");
	if (w->wide > 0) {
		put_text(m, "ds64");
		put_number(m, 28, 4);
		put_number(m, w->wide + 72, 8);
		put_number(m, w->wide, 8);
		put_number(m, 0, 8);
		put_number(m, 0, 4);
	}
	if (w->before > 0)
		put_chunk(m, "JUNK", w->before, "data");
	put_text(m, "fmt ");
	put_number(m, w->extensible ? 40 : 16, 4);
	put_number(m, w->extensible ? 0xfffe : w->tag, 2);
	put_number(m, w->channels, 2);
	put_number(m, 44100, 4);
	put_number(m, 44100u * w->channels * w->bytes, 4);
	put_number(m, w->channels * w->bytes, 2);
	put_number(m, w->extensible ? 8 * w->bytes : w->bits, 2);
	if (w->extensible) {
		put_number(m, 22, 2);
		put_number(m, w->bits, 2);
		put_number(m, 0, 4);
		put_number(m, w->tag, 4);
		put_number(m, 0, 2);
		put_number(m, 0x10, 2);
		put(m, "\x80\0\0\xaa\0\x38\x9b\x71", 8);
	}
	put_text(m, "data");
	put_number(m, w->size, 4);
}

#endif
