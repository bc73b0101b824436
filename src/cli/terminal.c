/* SPDX-License-Identifier: MIT */
/* terminal: its size, colours and character set; a picture drawn in place. */
#include "cli/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/again.h"
#include "base/minmax.h"
#include "bins/number.h"
#include "cli/msg.h"

/* A locale has its character set between '.' and '@'; without a '.', it may be one itself. */
static bool names_utf8(const char *locale)
{
	const char *const point = strchr(locale, '.');
	const char *const set = point ? point + 1 : locale;
	const size_t length = strcspn(set, "@");

	return (length == 5 && strncasecmp(set, "utf-8", length) == 0) ||
	       (length == 4 && strncasecmp(set, "utf8", length) == 0);
}

static bool is_dumb(void)
{
	const char *const term = getenv("TERM");

	return !term || !*term || strcmp(term, "dumb") == 0;
}

/* Use the terminal's size, else COLUMNS, else 80 columns. */
static void set_size(struct canvas *canvas, int fd)
{
	const char *const text = getenv("COLUMNS");
	struct winsize size = {.ws_col = 0};
	const bool terminal = fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0;
	uint64_t columns = size.ws_col;

	if (columns == 0 && (!text || number_parse_count(&columns, text) != 0 || columns == 0))
		columns = 80;
	canvas->columns = (unsigned)within(columns, 40, 200);
	canvas->lines =
		!terminal || size.ws_row == 0 ? 24 : (unsigned)within(size.ws_row, 8, 500) - 2;
}

void terminal_canvas(struct canvas *canvas, int fd, enum color color)
{
	static const char *const LOCALES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *const no = getenv("NO_COLOR"), *locale = NULL;

	for (size_t i = 0; i < 3 && !(locale && *locale); i++)
		locale = getenv(LOCALES[i]);
	canvas->utf8 = locale && names_utf8(locale);
	set_size(canvas, fd);
	canvas->terminal = fd >= 0 && isatty(fd);
	canvas->colour = color == COLOR_ALWAYS ||
			 (color == COLOR_AUTO && canvas->terminal && !(no && *no) && !is_dumb());
}

/* ---- in place ---- */

bool screen_changed(const struct screen *screen)
{
	struct winsize size;

	return screen->drawn > 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	       (size.ws_col != screen->columns || size.ws_row != screen->lines);
}

void screen_begin(struct screen *screen, struct canvas *canvas)
{
	static const char CLEAR[] = "\033[H\033[J";
	struct winsize size = {.ws_col = 0};
	const bool changed = screen_changed(screen);

	set_size(canvas, STDOUT_FILENO);
	canvas->redraws = !is_dumb();
	canvas->lines_up =
		canvas->redraws && !changed && screen->messages == msg_count() ? screen->drawn : 0;
	if (canvas->redraws && changed)
		(void)write_again(STDOUT_FILENO, CLEAR, sizeof(CLEAR) - 1);
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	screen->columns = size.ws_col;
	screen->lines = size.ws_row;
}

void screen_draw(struct screen *screen, const char *text, size_t bytes)
{
	(void)write_again(STDOUT_FILENO, text, bytes);
	screen->drawn = 0;
	for (size_t i = 0; i < bytes; i++)
		screen->drawn += text[i] == '\n';
	screen->messages = msg_count();
}
