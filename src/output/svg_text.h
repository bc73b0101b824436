/* SPDX-License-Identifier: MIT */
/*
 * svg_text: the text in a picture: its title, the description inside it, the lines above its
 * panels.
 */
#ifndef GPUHIST_SVG_TEXT_H
#define GPUHIST_SVG_TEXT_H

#include "output/columns.h"
#include "output/write.h"

/* Writes <title> and <desc>: the command, and all figures, exactly. */
void svg_describe(struct output *out, const struct hist *hist, const struct columns *columns,
		  const struct style *style, const struct provenance *from);

/*
 * Write a line between its tags: the command, cut if it is long; what was counted; one channel's
 * figures.
 */
void svg_heading(struct output *out, const struct provenance *from);
void svg_subheading(struct output *out, const struct hist *hist, const struct provenance *from);
void svg_figures(struct output *out, const struct hist *hist, uint32_t channel);

/* What heights mean: "samples per bin". */
#define SVG_UNIT (NUMBER_TEXT + 32)
void svg_unit(char text[SVG_UNIT], const struct columns *columns);

#endif
