/* SPDX-License-Identifier: MIT */
/* csv_line: fields, each with a comma after it; the last comma becomes the newline. */
#include "output/csv_line.h"

#include <string.h>

#include "base/utf8.h"
#include "bins/number.h"

/* End a field of `length` characters, which are already in l->text. */
static void end_field(struct csv_line *l, size_t length)
{
	l->used += length;
	l->text[l->used++] = l->comma;
	if (l->used > sizeof(l->text) - 2 * NUMBER_TEXT) {
		/* Keep the last comma for csv_end. */
		output_write(l->out, l->text, l->used - 1);
		l->text[0] = l->comma;
		l->used = 1;
	}
}

void csv_text(struct csv_line *l, const char *text)
{
	const size_t length = strlen(text);

	memcpy(l->text + l->used, text, length);
	end_field(l, length);
}

void csv_count(struct csv_line *l, uint64_t count)
{
	end_field(l, number_format_count(l->text + l->used, count));
}

/* Double a quote. */
static const char *in_quotes(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
{
	(void)text;
	return length == 1 && *p == '"' ? "\"\"" : NULL;
}

/* Double a quote, and replace a character that would control the terminal. */
static const char *on_terminal(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
{
	memcpy(text, p, length);
	text[length] = '\0';
	utf8_make_plain(text);
	return length == 0 || text[0] == '?' ? "?" : in_quotes(p, length, text);
}

void csv_name(struct csv_line *l, const char *name, bool terminal)
{
	const char special[] = {l->comma, '"', '\n', '\r', '\0'};
	const char *const quote = strpbrk(name, special) ? "\"" : "";

	output_write(l->out, l->text, l->used);
	output_text(l->out, quote);
	if (*quote || terminal)
		output_escaped(l->out, name, strlen(name), terminal ? on_terminal : in_quotes);
	else
		output_text(l->out, name);
	output_text(l->out, quote);
	l->text[0] = l->comma;
	l->used = 1;
}

void csv_end(struct csv_line *l)
{
	l->text[l->used - 1] = '\n'; /* in place of the last comma */
	output_write(l->out, l->text, l->used);
	l->used = 0;
}
