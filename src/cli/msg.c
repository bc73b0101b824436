/* SPDX-License-Identifier: MIT */
/* msg: one line per message, written in one piece. */
#include "cli/msg.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/again.h"
#include "base/signals.h"
#include "base/utf8.h"

#define NAME "gpuhist: "
#define PROGRESS_COLUMNS 256u /* longest line of progress */

static bool quiet;
static char of_part[48]; /* "" or "part 3 of 8: ", after "gpuhist: " in every message */
static int lost;         /* errno of the first message that could not be written; 0: none */
static unsigned count;   /* messages written */
static size_t drawn;     /* columns of the line of progress now on the terminal */

static void msg_erase(void);

/* Write the whole text. If that fails, there is nowhere to report it, so remember the error. */
static void msg_put(const char *text, size_t length)
{
	if (write_again(STDERR_FILENO, text, length) != 0 && lost == 0)
		lost = errno;
}

unsigned msg_count(void)
{
	return count;
}

int msg_lost(void)
{
	return lost;
}

void msg_set_quiet(bool q)
{
	quiet = q;
}

void msg_set_part(unsigned long part, unsigned long parts)
{
	snprintf(of_part, sizeof(of_part), "part %lu of %lu: ", part, parts);
}

void msg_say(enum msg_kind kind, const char *format, ...)
{
	char line[FAIL_TEXT + 64 + sizeof(of_part)];
	va_list ap;

	if (quiet && kind != MSG_ALWAYS)
		return;
	const size_t prefix = (size_t)snprintf(line, sizeof(line), NAME "%s%s", of_part,
					       kind == MSG_WARNING ? "warning: " : "");
	va_start(ap, format);
	vsnprintf(line + prefix, sizeof(line) - 1 - prefix, format, ap);
	va_end(ap);
	const size_t used = strlen(line);
	utf8_make_plain(line);
	line[used] = '\n';
	msg_erase();
	count++;
	msg_put(line, used + 1);
}

void msg_interrupted(const char *text)
{
	static char line[256];

	signals_last_words(NULL);
	if (!text || quiet)
		return;
	snprintf(line, sizeof(line), "%s" NAME "%s%s\n", msg_terminal() ? "\n" : "", of_part, text);
	signals_last_words(line);
}

/* Write only once: the next line of progress is better than the rest of this one. */
static void msg_draw(const char *line, size_t length)
{
	if (msg_ready() && write(STDERR_FILENO, line, length) < 0)
		return;
}

static void msg_erase(void)
{
	char line[PROGRESS_COLUMNS + 3];

	if (drawn == 0)
		return;
	line[0] = '\r';
	memset(line + 1, ' ', drawn);
	line[1 + drawn] = '\r';
	msg_draw(line, drawn + 2);
	drawn = 0;
}

void msg_progress(const char *text)
{
	char line[PROGRESS_COLUMNS + 2];
	int length;

	if (text[0] == '\0') {
		msg_erase();
		return;
	}
	/* Blanks overwrite the rest of a longer line. */
	length = snprintf(line, sizeof(line), "\r" NAME "%-*s",
			  (int)(drawn > strlen(NAME) ? drawn - strlen(NAME) : 0), text);
	if (length >= (int)sizeof(line))
		length = (int)sizeof(line) - 1;
	msg_draw(line, (size_t)length);
	drawn = (size_t)length - 1;
}

unsigned msg_columns(void)
{
	struct winsize size;
	/* Leave the last column empty: some terminals wrap after it. */
	const unsigned taken = sizeof(NAME);

	if (!isatty(STDERR_FILENO))
		return PROGRESS_COLUMNS - taken;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80 - taken;
	const unsigned columns = size.ws_col < PROGRESS_COLUMNS ? size.ws_col : PROGRESS_COLUMNS;
	return columns > taken ? columns - taken : 0;
}

bool msg_terminal(void)
{
	return isatty(STDERR_FILENO);
}

bool msg_foreground(void)
{
	return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

bool msg_ready(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) != 0;
}
