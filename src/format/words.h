/* SPDX-License-Identifier: MIT */
/* words: reads numbers and characters from the text of a header. */
#ifndef GPUHIST_INPUT_WORDS_H
#define GPUHIST_INPUT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Text not yet read. */
struct words {
	const char *at, *end;
};

static inline bool words_is_space(unsigned char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline void words_skip_space(struct words *w)
{
	while (w->at < w->end &&
	       (*w->at == ' ' || *w->at == '\n' || *w->at == '\t' || *w->at == '\r'))
		w->at++;
}

/* Take a number, if one comes next. *fits: it fits 64 bits. */
static inline bool words_number(struct words *w, uint64_t *n, bool *fits)
{
	const char *const begin = w->at;

	*n = 0;
	for (*fits = true; w->at < w->end && *w->at >= '0' && *w->at <= '9'; w->at++)
		*fits = *fits && !__builtin_mul_overflow(*n, (uint64_t)10, n) &&
			!__builtin_add_overflow(*n, (uint64_t)(*w->at - '0'), n);
	return w->at > begin;
}

/* Take the character c, after spaces, if it comes next. */
static inline bool words_take(struct words *w, char c)
{
	words_skip_space(w);
	if (w->at == w->end || *w->at != c)
		return false;
	w->at++;
	return true;
}

#endif
