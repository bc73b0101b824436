/* SPDX-License-Identifier: MIT */
/* terminal: its size, the character set, colour. */
#include "cli/terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bins/number.h"

/* 0: not set, or not a size. */
static unsigned size_of(const char *variable)
{
	const char *const text = getenv(variable);
	uint64_t n;

	return text && number_parse_count(&n, text) == 0 && n <= USHRT_MAX ? (unsigned)n : 0;
}

/*
 * The character set is after the point, up to an @; a name without a point may be a character set
 * alone.
 */
static bool names_utf8(const char *locale)
{
	const char *const point = strchr(locale, '.');
	const char *const set = point ? point + 1 : locale;
	char name[8];
	const size_t length = strcspn(set, "@");

	if (length >= sizeof(name))
		return false;
	memcpy(name, set, length);
	name[length] = '\0';
	return strcasecmp(name, "utf-8") == 0 || strcasecmp(name, "utf8") == 0;
}

static bool has_utf8(void)
{
	static const char *const VARIABLES[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(VARIABLES) / sizeof(VARIABLES[0]); i++) {
		const char *const locale = getenv(VARIABLES[i]);
		if (locale && *locale)
			return names_utf8(locale);
	}
	return false;
}

static bool wants_colour(void)
{
	const char *const no = getenv("NO_COLOR"), *const term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

void terminal_picture(struct picture *picture, int fd)
{
	const bool terminal = fd >= 0 && isatty(fd);
	struct winsize size = {.ws_col = 0};

	if (!terminal || ioctl(fd, TIOCGWINSZ, &size) != 0)
		size = (struct winsize){.ws_col = 0};
	const unsigned columns = size_of("COLUMNS"), rows = size_of("LINES");
	picture->columns = size.ws_col > 0 ? size.ws_col : columns;
	picture->rows = rows > 0 ? rows : size.ws_row;
	picture->utf8 = has_utf8();
	picture->colour = terminal && wants_colour();
}
