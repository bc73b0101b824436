/* SPDX-License-Identifier: MIT */
/*
 * terminal: what a picture on a descriptor may look like. The only file that knows terminals and
 * the variables that describe them; a writer of pictures gets settings, so that the same settings
 * give the same bytes.
 */
#ifndef GPUHIST_TERMINAL_H
#define GPUHIST_TERMINAL_H

#include <stdbool.h>

#include "output/write.h"

/*
 * Sets everything in the picture but what the user asks for (log). fd -1: the picture is written to
 * a file. Columns are the terminal's, else COLUMNS, else 0; rows are LINES, else the terminal's,
 * else 0. A variable that is not a number from 1 to 65535 counts as not set. Colour: on a terminal,
 * unless NO_COLOR is not empty or TERM is "dumb". utf8: if the first of LC_ALL, LC_CTYPE and LANG
 * that is not empty names that character set; it is parsed here, because setlocale would load a
 * whole locale for this.
 */
void terminal_picture(struct picture *picture, int fd);

#endif
