/* SPDX-License-Identifier: MIT */
/* words: text in a header, read from its beginning. */
#ifndef GPUHIST_INPUT_WORDS_H
#define GPUHIST_INPUT_WORDS_H

#include <stdbool.h>

/* What was not read yet. */
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

/* Takes a character, after spaces, if it is the next one. */
static inline bool words_take(struct words *w, char c)
{
	words_skip_space(w);
	if (w->at == w->end || *w->at != c)
		return false;
	w->at++;
	return true;
}

#endif
