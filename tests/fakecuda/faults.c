/* SPDX-License-Identifier: MIT */
/* faults: the planned faults, from the environment; the head of driver.c describes them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

static CUresult dead;
static uint64_t state;

static int append(const char *line)
{
	const char *path = getenv("FAKECUDA_LOG");
	const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	const bool done = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);

	if (fd >= 0)
		close(fd);
	return done || !path ? 0 : -1;
}

/* Write to the log too, because the program may have redirected standard error. */
void wrong(const char *format, ...)
{
	char line[300] = "wrong: ";
	const size_t used = strlen(line);
	va_list list;

	va_start(list, format);
	vsnprintf(line + used, sizeof(line) - used - 1, format, list);
	va_end(list);
	strcat(line, "\n");
	fprintf(stderr, "fakecuda: %s", line);
	(void)append(line);
	abort();
}

unsigned long setting(const char *name)
{
	const char *text = getenv(name);
	return text ? strtoul(text, NULL, 10) : 0;
}

uint64_t *draw_state(void)
{
	if (state == 0)
		state = 88172645463325252u ^ (setting("FAKECUDA_SEED") + 1) * 0x9e3779b97f4a7c15u;
	return &state;
}

unsigned draw(unsigned below)
{
	uint64_t *s = draw_state();

	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return (unsigned)(*s >> 33) % below;
}

void note(const char *format, ...)
{
	char line[200];
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (append(line) != 0)
		wrong("the log: %s", strerror(errno));
}

void die(CUresult error, const char *why)
{
	dead = error;
	note("met %s\n", why);
}

CUresult death(void)
{
	return dead;
}

/* Does the plan symbol:N[:error] apply to this call? */
static bool planned(const char *plan, const char *symbol, unsigned *calls, CUresult *error)
{
	const char *colon = plan ? strchr(plan, ':') : NULL;
	const size_t length = colon ? (size_t)(colon - plan) : 0;
	char *end;

	if (!colon || (strncmp(plan, "any", length) != 0 &&
		       (strncmp(plan, symbol, length) != 0 || symbol[length] != '\0')))
		return false;
	const unsigned long n = strtoul(colon + 1, &end, 10);
	*error = *end == ':' ? atoi(end + 1) : 999;
	return ++*calls == n;
}

/* Kill, stop or hang the whole process in the middle of a call, as planned. */
static void misfortune(const char *symbol)
{
	static unsigned kills, stops, hangs, hostile;
	CUresult unused;

	if (planned(getenv("FAKECUDA_KILL"), symbol, &kills, &unused)) {
		note("met kill\n");
		raise(SIGKILL);
	}
	if (planned(getenv("FAKECUDA_STOP"), symbol, &stops, &unused)) {
		note("met stop\n");
		raise(SIGSTOP);
	}
	if (planned(getenv("FAKECUDA_HANG_CALL"), symbol, &hangs, &unused)) {
		note("met hang\n");
		for (;;)
			pause();
	}
	if (planned(getenv("FAKECUDA_HOSTILE"), symbol, &hostile, &unused))
		hostile_act(strrchr(getenv("FAKECUDA_HOSTILE"), ':') + 1);
}

CUresult fate(const char *symbol)
{
	static unsigned once, always, after;
	CUresult error;

	misfortune(symbol);

	if (dead) {
		/* Other threads may already be in a call when one thread gets the error. */
		if (getenv("FAKECUDA_STRICT") && after++ > 64)
			wrong("called again after a fatal error");
		return dead;
	}
	if (planned(getenv("FAKECUDA_ONCE"), symbol, &once, &error)) {
		note("met %s\n", symbol);
		return error;
	}
	if (planned(getenv("FAKECUDA_FAIL"), symbol, &always, &error))
		die(error, symbol);
	return dead;
}
