/* SPDX-License-Identifier: MIT */
/* missing: the values that stand for missing samples (--missing). */
#ifndef GPUHIST_MISSING_H
#define GPUHIST_MISSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

#define MISSING_MOST 16u

struct missing {
	uint32_t n;
	uint64_t code[MISSING_MOST]; /* rising; in the machine's byte order; 0 and -0 are two */
};

/*
 * Read values of a type, with commas between them, each rounded to it from its decimal digits;
 * integers must fit. With `words`, leave out values that are not numbers. Set *what to the first
 * wrong value, up to a comma. Return why it is wrong, or NULL.
 */
const char *missing_parse(struct missing *m, const struct sample_type *type, const char *text,
			  bool words, const char **what);

/* Write the values, with commas between them, so that they are read back the same. */
#define MISSING_TEXT (26 * MISSING_MOST)
void missing_format(char text[MISSING_TEXT], const struct missing *m,
		    const struct sample_type *type);

bool missing_equal(const struct missing *a, const struct missing *b);

static inline bool missing_has(const struct missing *m, uint64_t code)
{
	bool found = false;

	for (uint32_t i = 0; i < m->n; i++)
		found |= m->code[i] == code;
	return found;
}

#endif
