/* SPDX-License-Identifier: MIT */
/*
 * msg: the only door to stderr. One thread at a time goes through it: the main thread, but from watch_start to
 * watch_stop (watch.h), when the main thread only counts, the one that watches. Starting and joining it pass the door
 * on. So a message never stands in the middle of the line of progress, which is erased before any message.
 */
#ifndef GPUHIST_MSG_H
#define GPUHIST_MSG_H

#include <stdbool.h>

/* -q: warnings and notes are dropped from now on. */
void msg_set_quiet(bool quiet);

/* From now on every message begins with "gpuhist: part 3 of 8: ". */
void msg_set_part(unsigned long part, unsigned long parts);

/* "gpuhist: text". Control characters in text are shown as '?': names are data. */
void msg_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "gpuhist: warning: text", unless -q. */
void msg_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "gpuhist: text", under -q too: what an option asks for. */
void msg_asked(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "gpuhist: text", unless -q: the lines of -v. */
void msg_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A text of whole lines as it is, under -q too: the help, where there is nothing else to say. */
void msg_text(const char *text);
/*
 * "gpuhist: text" on the terminal's last line, in place of the text before; "" erases that. Only where stderr is a
 * terminal. It never waits: what the terminal does not take now is not drawn.
 */
void msg_progress(const char *text);

/* What fits a line beside "gpuhist: "; where stderr is no terminal, more than any line needs. */
unsigned msg_columns(void);

/* Is stderr a terminal? Is this process in its foreground, so that what it draws is not in another one's way? */
bool msg_terminal(void);
bool msg_foreground(void);

/* Would a message be taken without waiting, or be lost at once? */
bool msg_ready(void);

#endif
