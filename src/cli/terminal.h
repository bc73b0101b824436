/* SPDX-License-Identifier: MIT */
/*
 * terminal: adapts text pictures to the terminal. No other code examines terminals, so a writer
 * with the same settings writes the same bytes.
 */
#ifndef GPUHIST_TERMINAL_H
#define GPUHIST_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "output/format.h"

/* --color: on terminals with colours, always, or never. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * Set everything in the canvas that has no option. The picture goes to fd, or to a file if fd is
 * -1. It is as wide as the terminal, else COLUMNS, else 80; as high as the terminal minus two
 * lines, for the prompt and a message, else 24. COLOR_AUTO gives colour on terminals, unless
 * NO_COLOR is nonempty, or TERM is empty or "dumb". utf8 is set if the first nonempty one of
 * LC_ALL, LC_CTYPE and LANG names that character set; setlocale would load a whole locale.
 */
void terminal_canvas(struct canvas *canvas, int fd, enum color color);

/* A picture on standard output that the next one replaces: --every with -f plot. */
struct screen {
	unsigned columns, lines; /* terminal's size when the picture was drawn */
	unsigned drawn;          /* lines in the picture; 0: none */
	unsigned messages;       /* number printed before it */
};

/* Has the size of the terminal changed since the picture was drawn? */
bool screen_changed(const struct screen *screen);

/*
 * Set up the canvas for the next picture: over the previous one, at the top of the screen if the
 * size has changed, or below a message. With TERM=dumb each picture is below the previous one.
 */
void screen_begin(struct screen *screen, struct canvas *canvas);

/* Draw a picture written for that canvas, in one piece. */
void screen_draw(struct screen *screen, const char *text, size_t bytes);

#endif
