/* SPDX-License-Identifier: MIT */
/* json: escapes, and members as write_json needs them. */
#include "output/json.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "bins/number.h"

void json_text(struct output *out, const char *text, size_t length)
{
	char escape[8];

	for (size_t i = 0, some; i < length; i += some) {
		const unsigned char c = (unsigned char)text[i];
		const size_t utf8 = utf8_length((const unsigned char *)text + i, length - i);
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
