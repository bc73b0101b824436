/* msg: the only door to stderr. For the main thread; no other thread prints. */
#ifndef GPUHIST_MSG_H
#define GPUHIST_MSG_H

#include <stdbool.h>

/* -q: warnings and notes are dropped from now on. */
void msg_set_quiet(bool quiet);

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

#endif
