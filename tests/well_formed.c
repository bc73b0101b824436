/* SPDX-License-Identifier: MIT */
/*
 * well_formed: copies standard input to standard output. If it is a picture, that is, begins with
 * "<svg ", but is no XML, a line on standard error says so, and the exit status is 1.
 */
#include <stdio.h>
#include <stdlib.h>

#include "xml.h"

int main(void)
{
	static const char BEGIN[] = "<svg ";
	size_t room = 1 << 16, n = 0, some, at;
	char *text = malloc(room);

	while (text && (some = fread(text + n, 1, room - n, stdin)) > 0) {
		char *const grown = n + some < room ? text : realloc(text, room *= 2);
		n += some;
		if (!grown)
			free(text);
		text = grown;
	}
	if (!text || fwrite(text, 1, n, stdout) < n || fflush(stdout) != 0) {
		perror("well_formed");
		return 2;
	}
	if (n < strlen(BEGIN) || memcmp(text, BEGIN, strlen(BEGIN)) != 0)
		return 0;
	const char *const why = xml_refuses(text, n, &at);
	if (why)
		fprintf(stderr, "no XML: %s, after %.*s\n", why, (int)(at < 40 ? at : 40),
			text + (at < 40 ? 0 : at - 40));
	free(text);
	return why != NULL;
}
