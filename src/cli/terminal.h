/* SPDX-License-Identifier: MIT */
/*
 * terminal: how a picture on a descriptor may look. The only file that knows of terminals' sizes and of the variables
 * that describe them; a writer of pictures is told, so that the same figures give the same bytes.
 */
#ifndef GPUHIST_TERMINAL_H
#define GPUHIST_TERMINAL_H

#include <stdbool.h>

#include "output/write.h"

/*
 * Sets all of the picture but what the user asked for (log). fd -1: what is drawn goes to a file.
 * Columns are the terminal's, else COLUMNS, else 0; rows are LINES, else the terminal's, else 0. Where a variable is no
 * number from 1 to 65535 it is as if it were not set. Colour: on a terminal, unless NO_COLOR is not empty or TERM is
 * "dumb". utf8: as the first of LC_ALL, LC_CTYPE and LANG that is not empty names the character set: looked at by hand,
 * because setlocale would load a locale for this alone.
 */
void terminal_picture(struct picture *picture, int fd);

#endif
