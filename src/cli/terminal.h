/* SPDX-License-Identifier: MIT */
/*
 * terminal: what pictures of text look like where they go. Nothing else knows terminals, so a
 * writer with the same settings writes the same bytes.
 */
#ifndef GPUHIST_TERMINAL_H
#define GPUHIST_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "output/format.h"

/* --color: if it goes to a terminal that has colours, always, or never. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * Sets everything in the canvas that the user does not ask for. The picture goes to fd, or to a
 * file if fd is -1. It is as wide as the terminal, else as COLUMNS says, else 80; as high as the
 * terminal less two lines, for the prompt and a message, else 24. Colour is for terminals, unless
 * NO_COLOR is not empty, or TERM is empty or "dumb". utf8 is set if the first of LC_ALL, LC_CTYPE
 * and LANG that is not empty names that character set; setlocale would load a whole locale.
 */
void terminal_canvas(struct canvas *canvas, int fd, enum color color);

/* A picture on standard output that the next one replaces: --every with -f plot. */
struct screen {
	unsigned columns, lines; /* of the terminal when it was drawn */
	unsigned drawn;          /* lines of the picture; 0: there is none */
	unsigned said;           /* messages by then */
};

/* Has the size of the terminal changed since the picture was drawn? */
bool screen_changed(const struct screen *screen);

/*
 * Makes the canvas one in whose place the next picture is drawn: over the one before, or from the
 * top of the screen if the size has changed, or below a message. With TERM=dumb each picture comes
 * below the last.
 */
void screen_begin(struct screen *screen, struct canvas *canvas);

/* Draws the text of a picture that was written for that canvas, in one piece. */
void screen_draw(struct screen *screen, const char *text, size_t bytes);

#endif
