/* SPDX-License-Identifier: MIT */
/*
 * msg: writes all messages to stderr. Only one thread at a time may use it: the watching thread
 * from watch_start to watch_stop (watch.h), while the main thread only counts; otherwise the main
 * thread. So a message never mixes with the line of progress, which is erased before any message.
 */
#ifndef GPUHIST_MSG_H
#define GPUHIST_MSG_H

#include <stdbool.h>

#include "base/fail.h"

/* -q: drop warnings and notes from now on. */
void msg_set_quiet(bool quiet);

/* Begin every message with "gpuhist: part 3 of 8: " from now on. */
void msg_set_part(unsigned long part, unsigned long parts);

/* -q drops warnings and notes, but neither errors nor requested reports (MSG_ALWAYS). */
enum msg_kind { MSG_ALWAYS, MSG_WARNING, MSG_NOTE };

/* Print "gpuhist: text" or "gpuhist: warning: text". Control characters become '?'. */
void msg_say(enum msg_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define msg_always(...) msg_say(MSG_ALWAYS, __VA_ARGS__)
#define msg_warning(...) msg_say(MSG_WARNING, __VA_ARGS__)
#define msg_note(...) msg_say(MSG_NOTE, __VA_ARGS__)

/*
 * Set the text that is printed, unless -q, when INT or TERM ends the process; NULL: nothing. On a
 * terminal it keeps the line with the progress and the ^C.
 */
void msg_interrupted(const char *text);

/*
 * Replace the line of progress with "gpuhist: text"; "" erases it. Does nothing if stderr is not a
 * terminal. Never waits: text that the terminal does not accept immediately is dropped.
 */
void msg_progress(const char *text);

/* Characters that fit in a line after "gpuhist: "; more than enough if stderr is no terminal. */
unsigned msg_columns(void);

/* Is stderr a terminal, and is this process in its foreground, so that it may draw? */
bool msg_terminal(void);
bool msg_foreground(void);

/* Number of messages written. */
unsigned msg_count(void);

/* errno of the first message that could not be written; 0: none was lost. */
int msg_lost(void);

/* Would writing a message return (even with an error) without waiting? */
bool msg_ready(void);

/* Format and arguments of a number with its noun: "1 input", "2 inputs". */
#define COUNTED "%llu %s%s"
#define COUNT(n, what) (unsigned long long)(n), what, (n) == 1 ? "" : "s"

#endif
