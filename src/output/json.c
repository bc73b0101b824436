/* json: escapes, and members as write_json wants them. */
#include "output/json.h"

#include <stdio.h>
#include <string.h>

#include "bins/number.h"

/*
 * The bounds of the second byte are those of the Unicode Standard: no longer form than needed, no surrogates,
 * nothing past U+10FFFF.
 */
size_t json_utf8_length(const unsigned char *p, size_t left)
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

void json_text(struct output *out, const char *text, size_t length)
{
	char escape[8];

	for (size_t i = 0, some; i < length; i += some) {
		const unsigned char c = (unsigned char)text[i];
		const size_t utf8 = json_utf8_length((const unsigned char *)text + i, length - i);
		some = utf8 > 0 ? utf8 : 1;
		if (utf8 == 0) {
			output_text(out, "\\ufffd");
		} else if (c == '"' || c == '\\') {
			output_text(out, c == '"' ? "\\\"" : "\\\\");
		} else if (c < 0x20 || c == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", c);
			output_text(out, escape);
		} else {
			output_write(out, text + i, some);
		}
	}
}

static void name_of(struct output *out, const char *name)
{
	output_text(out, "\"");
	output_text(out, name);
	output_text(out, "\": ");
}

void json_member_count(struct output *out, const char *name, uint64_t value)
{
	char text[NUMBER_TEXT];

	name_of(out, name);
	number_format_count(text, value);
	output_text(out, text);
	output_text(out, ", ");
}

void json_member_bool(struct output *out, const char *name, bool value)
{
	name_of(out, name);
	output_text(out, value ? "true, " : "false, ");
}

void json_member_text(struct output *out, const char *name, const char *value)
{
	name_of(out, name);
	output_text(out, "\"");
	json_text(out, value, strlen(value));
	output_text(out, "\", ");
}
