/* SPDX-License-Identifier: MIT */
/* terminal: character set and colour, from the environment and from a terminal of our own. */
#include "cli/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check.h"

/* NULL: not set. */
static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static struct canvas of(int fd)
{
	struct canvas canvas = {.utf8 = true, .colour = true, .log = true};

	terminal_canvas(&canvas, fd, COLOR_AUTO);
	CHECK(canvas.log, "log is not the terminal's");
	return canvas;
}

static void character_set(void)
{
	static const struct {
		const char *all, *ctype, *lang;
		bool utf8;
	} CASES[] = {
		{NULL, NULL, NULL, false},
		{NULL, NULL, "en_US.UTF-8", true},
		{NULL, NULL, "de_DE.utf8@euro", true},
		{NULL, NULL, "C.UTF-8", true},
		{NULL, NULL, "UTF-8", true},
		{NULL, NULL, "C", false},
		{NULL, NULL, "en_US.ISO-8859-1", false},
		{NULL, NULL, "utf8.C", false},
		{NULL, NULL, "en_US.UTF-8x", false},
		{NULL, NULL, "en_US.UTF-16", false},
		{"", "", "en_US.UTF-8", true},
		{"C", "C.UTF-8", "en_US.UTF-8", false},
		{"", "POSIX", "en_US.UTF-8", false},
		{"C.UTF-8", "C", "C", true},
		{NULL, "C.UTF-8", "C", true},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		set("LC_ALL", CASES[i].all);
		set("LC_CTYPE", CASES[i].ctype);
		set("LANG", CASES[i].lang);
		CHECK(of(-1).utf8 == CASES[i].utf8, "case %zu", i);
	}
}

static void colour(int fd)
{
	static const struct {
		const char *no, *term;
		bool colour;
	} CASES[] = {{NULL, "xterm", true}, {"", "xterm", true},   {"1", "xterm", false},
		     {"0", "xterm", false}, {NULL, "dumb", false}, {NULL, NULL, false},
		     {NULL, "", false}};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		set("NO_COLOR", CASES[i].no);
		set("TERM", CASES[i].term);
		CHECK(of(fd).colour == CASES[i].colour, "case %zu", i);
		CHECK(!of(-1).colour && !of(99).colour, "colour in a file");
	}
}

/* The terminal's width, else COLUMNS, else 80; from 40 to 200. */
static void columns(int fd)
{
	static const struct {
		const char *said;
		unsigned terminal, with, without;
	} CASES[] = {{NULL, 0, 80, 80},   {NULL, 132, 132, 80}, {"60", 132, 132, 60},
		     {"60", 0, 60, 60},   {"1", 1, 40, 40},     {"999", 500, 200, 200},
		     {"0", 0, 80, 80},    {"", 0, 80, 80},      {"wide", 90, 90, 80},
		     {"-60", 90, 90, 80}, {"41", 40, 40, 41}};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct winsize size = {.ws_row = 24,
					     .ws_col = (unsigned short)CASES[i].terminal};
		set("COLUMNS", CASES[i].said);
		CHECK(ioctl(fd, TIOCSWINSZ, &size) == 0, "its size");
		CHECK(of(fd).columns == CASES[i].with && of(-1).columns == CASES[i].without,
		      "case %zu: %u, %u", i, of(fd).columns, of(-1).columns);
	}
}

int main(void)
{
	const int leader = posix_openpt(O_RDWR | O_NOCTTY);

	/* A root without /dev/pts, as in containers and build daemons. */
	if (leader < 0 || grantpt(leader) != 0 || unlockpt(leader) != 0) {
		puts("left out: no terminals here");
		return check_report();
	}
	const int fd = open(ptsname(leader), O_RDWR | O_NOCTTY);
	CHECK(fd >= 0, "not opened");
	character_set();
	colour(fd);
	columns(fd);
	close(fd);
	close(leader);
	return check_report();
}
