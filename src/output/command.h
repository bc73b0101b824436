/* command: a command line as text, for documents of any kind; what of a text is UTF-8. */
#ifndef GPUHIST_COMMAND_H
#define GPUHIST_COMMAND_H

#include <stddef.h>

/* Takes the next piece of a text, of any bytes. */
typedef void command_put(void *to, const char *text, size_t length);

/* The words with one blank between two, quoted for a shell where they must be. */
void command_text(char *const *words, size_t count, command_put *put, void *to);

/*
 * The length of the UTF-8 character at p, of at most `left` bytes; 0 where there is none. The bounds of
 * the second byte are those of the Unicode Standard: no longer form than needed, no surrogates, nothing
 * past U+10FFFF.
 */
size_t utf8_length(const unsigned char *p, size_t left);

#endif
