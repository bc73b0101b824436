/* SPDX-License-Identifier: MIT */
/*
 * msg: the only way to stderr. One thread at a time uses it: the main thread, except from
 * watch_start to watch_stop (watch.h), while the main thread only counts; then it is the thread
 * that watches. Starting and joining that thread hand the use over. So a message is never mixed
 * with the line of progress, which is erased before any message.
 */
#ifndef GPUHIST_MSG_H
#define GPUHIST_MSG_H

#include <stdbool.h>

#include "base/fail.h"

/* -q: warnings and notes are dropped from now on. */
void msg_set_quiet(bool quiet);

/* From now on every message begins with "gpuhist: part 3 of 8: ". */
void msg_set_part(unsigned long part, unsigned long parts);

/* -q drops warnings and notes, but not errors and reports that an option asked for: MSG_ASKED. */
enum msg_kind { MSG_ASKED, MSG_WARNING, MSG_NOTE };

/* "gpuhist: text", or of a warning "gpuhist: warning: text". Control characters become '?'. */
void msg_say(enum msg_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define msg_asked(...) msg_say(MSG_ASKED, __VA_ARGS__)
#define msg_warning(...) msg_say(MSG_WARNING, __VA_ARGS__)
#define msg_note(...) msg_say(MSG_NOTE, __VA_ARGS__)

/*
 * "gpuhist: text", unless -q, when INT or TERM ends the process from now on; NULL: nothing. On a
 * terminal it leaves the line that shows progress and the ^C.
 */
void msg_interrupted(const char *text);

/*
 * "gpuhist: text" on the terminal's last line, in place of the text before it; "" erases that. Only
 * if stderr is a terminal. It never waits: what the terminal does not take immediately is not
 * drawn.
 */
void msg_progress(const char *text);

/*
 * How many characters fit a line beside "gpuhist: "; if stderr is not a terminal, more than any
 * line needs.
 */
unsigned msg_columns(void);

/*
 * Is stderr a terminal, and is this process in its foreground, so that what it draws does not
 * disturb another program?
 */
bool msg_terminal(void);
bool msg_foreground(void);

/* How many messages were written. */
unsigned msg_count(void);

/* The errno of the first message that could not be written; 0: none was lost. */
int msg_lost(void);

/* Would a message be written, or be lost, without waiting? */
bool msg_ready(void);

#endif
