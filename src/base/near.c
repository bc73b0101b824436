/* SPDX-License-Identifier: MIT */
/* near: the Damerau-Levenshtein distance, with no letter moved twice. */
#include "base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/minmax.h"

#define WORD 24u /* longer words are near nothing */

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Number of slips (near.h) from a, of n letters, to b, of m letters. */
static unsigned slips(const char *a, size_t n, const char *b, size_t m)
{
	unsigned to[WORD + 1][WORD + 1]; /* [i][j]: from a's first i letters to b's first j */

	for (unsigned i = 0; i <= n; i++)
		for (unsigned j = 0; j <= m; j++) {
			to[i][j] = i + j;
			if (i == 0 || j == 0)
				continue;
			to[i][j] = (unsigned)lesser(to[i - 1][j - 1] + !is_same(a[i - 1], b[j - 1]),
						    lesser(to[i - 1][j], to[i][j - 1]) + 1);
			if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
			    is_same(a[i - 2], b[j - 1]))
				to[i][j] = (unsigned)lesser(to[i][j], to[i - 2][j - 2] + 1);
		}
	return to[n][m];
}

const char *near_word(const char *text, const char *const *list)
{
	const size_t n = strlen(text);
	const char *near = NULL;
	unsigned best = WORD;

	for (; *list && n <= WORD; list++) {
		const size_t m = strlen(*list);
		const unsigned now = m <= WORD ? slips(text, n, *list, m) : WORD;
		if (now > (n < m ? n : m) / 3 || now > best)
			continue;
		near = now < best ? *list : NULL;
		best = now;
	}
	return near;
}
