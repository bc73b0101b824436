/* SPDX-License-Identifier: MIT */
/* near: the Damerau-Levenshtein distance, with no letter moved twice, row by row. */
#include "base/near.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned near_slips(const char *text, const char *word)
{
	const size_t n = strnlen(text, NEAR_WORD + 1), m = strnlen(word, NEAR_WORD + 1);
	/*
	 * Of this row, the one before it and the one before that: slips to each beginning of the
	 * word.
	 */
	unsigned row[3][NEAR_WORD + 1], *before = row[0], *last = row[1], *now = row[2];

	if (n > NEAR_WORD || m > NEAR_WORD)
		return NEAR_WORD;
	for (unsigned j = 0; j <= m; j++)
		before[j] = last[j] = j;
	for (unsigned i = 1; i <= n; i++) {
		now[0] = i;
		for (unsigned j = 1; j <= m; j++) {
			now[j] = least(last[j - 1] + (text[i - 1] != word[j - 1]),
				       least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && text[i - 1] == word[j - 2] &&
			    text[i - 2] == word[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		unsigned *const free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[m] <= (n < m ? n : m) / 3 ? last[m] : NEAR_WORD;
}

void near_ask(struct near *near, const char *text, const char *word)
{
	const unsigned slips = near_slips(text, word);

	if (slips >= NEAR_WORD || (near->any && slips > near->slips))
		return;
	if (!near->any || slips < near->slips)
		*near = (struct near){.word = word, .slips = slips, .any = true};
	else if (near->word && strcmp(near->word, word) != 0)
		near->word = NULL;
}
