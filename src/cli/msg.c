/* msg: one line a message, written whole. */
#include "cli/msg.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static bool quiet;

/* All of it. Where stderr cannot be written no message can reach anyone. */
static void put(const char *text, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = write(STDERR_FILENO, text + done, length - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			/* The terminal was made non-blocking by another program: wait for room. */
			(void)poll(&(struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT}, 1, -1);
		else if (errno != EINTR)
			break;
	}
}

static void print(const char *kind, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));

static void print(const char *kind, const char *format, va_list ap)
{
	char line[FAIL_TEXT + 64];
	int prefix = snprintf(line, sizeof(line) - 1, "gpuhist: %s", kind);
	size_t used = (size_t)prefix;

	int length = vsnprintf(line + used, sizeof(line) - 1 - used, format, ap);
	if (length > 0)
		used += (size_t)length;
	if (used > sizeof(line) - 2)
		used = sizeof(line) - 2;
	/* A file name must not be able to move the cursor or fake a line. */
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[used++] = '\n';
	put(line, used);
}

void msg_set_quiet(bool q)
{
	quiet = q;
}

void msg_error(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	print("", format, ap);
	va_end(ap);
}

void msg_warning(const char *format, ...)
{
	if (quiet)
		return;
	va_list ap;
	va_start(ap, format);
	print("warning: ", format, ap);
	va_end(ap);
}

void msg_asked(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	print("", format, ap);
	va_end(ap);
}

void msg_note(const char *format, ...)
{
	if (quiet)
		return;
	va_list ap;
	va_start(ap, format);
	print("", format, ap);
	va_end(ap);
}

void msg_text(const char *text)
{
	put(text, strlen(text));
}
