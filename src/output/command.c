/* command: words as a shell takes them; UTF-8. */
#include "output/command.h"

#include <string.h>

size_t utf8_length(const unsigned char *p, size_t left)
{
	const size_t length = p[0] < 0x80   ? 1
			      : p[0] < 0xc2 ? 0
			      : p[0] < 0xe0 ? 2
			      : p[0] < 0xf0 ? 3
			      : p[0] < 0xf5 ? 4
					    : 0;
	const unsigned char least = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	const unsigned char most = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;

	if (length > left)
		return 0;
	if (length > 1 && (p[1] < least || p[1] > most))
		return 0;
	for (size_t i = 2; i < length; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return length;
}

static void put_word(const char *word, command_put *put, void *to)
{
	static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*word != '\0' && word[strspn(word, PLAIN)] == '\0') {
		put(to, word, strlen(word));
		return;
	}
	put(to, "'", 1);
	for (size_t span; *word != '\0'; word += span) {
		span = strcspn(word, "'");
		put(to, word, span);
		if (word[span] == '\'') {
			put(to, "'\\''", 4);
			span++;
		}
	}
	put(to, "'", 1);
}

void command_text(char *const *words, size_t count, command_put *put, void *to)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			put(to, " ", 1);
		put_word(words[i], put, to);
	}
}
