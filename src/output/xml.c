/* SPDX-License-Identifier: MIT */
/* xml: text that cannot be taken for markup, whatever its bytes. */
#include "output/xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* The replacement for the character at p, of `length` bytes of UTF-8; NULL: it needs none. */
static const char *escape_of(const unsigned char *p, size_t length)
{
	static const char UNKNOWN[] = "\xef\xbf\xbd";

	if (length == 0)
		return UNKNOWN;
	if (length == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe)
		return UNKNOWN;
	if (length > 1)
		return NULL;
	switch (p[0]) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '\t':
	case '\n':
		return NULL;
	case '\r': /* because a reader would take it for the end of a line */
		return "&#13;";
	default:
		return p[0] < 0x20 || p[0] == 0x7f ? UNKNOWN : NULL;
	}
}

void xml_text(struct output *out, const char *text, size_t length)
{
	const unsigned char *const bytes = (const unsigned char *)text;
	size_t kept = 0; /* everything from here to i is written unchanged */

	for (size_t i = 0, some; i < length; i += some) {
		const size_t character = utf8_length(bytes + i, length - i);
		const char *const escape = escape_of(bytes + i, character);
		some = character > 0 ? character : 1;
		if (!escape)
			continue;
		output_write(out, text + kept, i - kept);
		output_text(out, escape);
		kept = i + some;
	}
	output_write(out, text + kept, length - kept);
}

void xml_print(struct output *out, const char *format, ...)
{
	char line[XML_LINE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	xml_text(out, line, strlen(line));
}

void xml_markup(struct output *out, const char *format, ...)
{
	char line[XML_LINE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	output_text(out, line);
}
