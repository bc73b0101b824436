/* SPDX-License-Identifier: MIT */
/*
 * plot_words: the text above and below a picture: titles and footers, broken into lines. ASCII
 * only.
 */
#ifndef GPUHIST_PLOT_WORDS_H
#define GPUHIST_PLOT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "output/plot_rows.h"
#include "output/write.h"

#define PLOT_WORDS 1024

/* Text that may be broken at blanks, and is broken at newlines. */
struct plot_words {
	char text[PLOT_WORDS];
	size_t used;
};

/* Says what the bins are, and how rows hold them; rows->rows is 0 if there are none. */
void plot_title(struct plot_words *w, const struct hist *h, const struct provenance *from,
		const struct plot_rows *rows, bool log, uint32_t channel);

/* Says what the counts of a channel show. */
void plot_footer(struct plot_words *w, const struct hist *h, const struct plot_figures *f);

/*
 * Writes the text in lines of at most `columns`; a longer word is broken too. Returns the number of
 * lines; with out NULL it only counts them.
 */
unsigned plot_wrap(struct output *out, const struct plot_words *w, size_t columns);

#endif
