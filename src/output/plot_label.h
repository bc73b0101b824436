/* SPDX-License-Identifier: MIT */
/*
 * plot_label: bins by their lower edges, in few characters.
 *
 * One way of writing serves all bins of a list, so that they can be aligned: the shortest that
 * leaves each label within a twentieth of the way to the nearest edge beside it. So neighbours
 * differ, and no label can be taken for another edge. Where no rounded text can do that, edges are
 * written exactly. Pure; nothing is allocated.
 */
#ifndef GPUHIST_PLOT_LABEL_H
#define GPUHIST_PLOT_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/edges.h"

enum plot_label_way {
	LABEL_EXACT, /* as in CSV */
	LABEL_FIXED, /* `digits` after the point */
	/*
	 * `digits` significant ones, without zeros at the end; with an exponent where that is
	 * shorter
	 */
	LABEL_ROUND,
};

struct plot_label {
	const struct edges *edges; /* borrowed */
	enum plot_label_way way;
	int digits;
	double none;  /* numbers below this magnitude are 0 with linspace's rounding error */
	size_t width; /* of the longest text of the list */
};

/*
 * Chooses how to write n bins; the edges beside bin i's are those of the bins i - step and i +
 * step. Aligned: the labels are one below the other, so the same digits after the point are easier
 * to read.
 */
void plot_label_choose(struct plot_label *label, const struct edges *edges, const uint32_t *bins,
		       size_t n, uint32_t step, bool aligned);

/* Returns the length. */
size_t plot_label_text(const struct plot_label *label, uint32_t bin, char text[NUMBER_TEXT]);

/* x with `digits` significant digits, written as LABEL_ROUND; x is finite. Returns the length. */
size_t plot_label_round(char text[NUMBER_TEXT], double x, int digits);

/* The same, always with an exponent: "2e6", "1.7e19". */
size_t plot_label_exponent(char text[NUMBER_TEXT], double x, int digits);

#endif
