/* SPDX-License-Identifier: MIT */
/*
 * options_layout: each number is checked when it is given; all of them together when the type is
 * known.
 */
#include "cli/options_layout.h"

#include <stdio.h>
#include <string.h>

#include "bins/number.h"
#include "cli/options_given.h"

#define TO_16M "to 16777216 (16 MiB), such as 24, 4K or 0x200"

static int usage(struct fail *fail, const char *option, const char *text, const char *why)
{
	return fail_set(fail, STATUS_USAGE, "%s %s: %s", option, *text ? text : "''", why);
}

/* A number of bytes, `least` to LAYOUT_BYTES_MAX. */
static int parse_bytes(uint32_t *bytes, const char *text, uint64_t least)
{
	uint64_t n;

	if (number_parse_size(&n, text) != 0 || n < least || n > LAYOUT_BYTES_MAX)
		return -1;
	*bytes = (uint32_t)n;
	return 0;
}

int layout_option_channels(struct layout_options *o, const char *text, struct fail *fail)
{
	uint64_t n = 0;

	o->last = strcmp(text, "last") == 0;
	if (!o->last && (number_parse_count(&n, text) != 0 || n < 1 || n > LAYOUT_CHANNELS_MAX))
		return usage(fail, "--channels", text, "must be a number from 1 to 64, or last");
	o->channels_text = text;
	o->channels = (uint32_t)n;
	return 0;
}

int layout_option_record(struct layout_options *o, const char *text, struct fail *fail)
{
	o->record_text = text;
	return parse_bytes(&o->record, text, 1) == 0
		       ? 0
		       : options_refuse_size(fail, "--record", text,
					     "must be a number of bytes from 1 " TO_16M, 1,
					     LAYOUT_BYTES_MAX);
}

int layout_option_offset(struct layout_options *o, const char *text, struct fail *fail)
{
	o->offset_text = text;
	return parse_bytes(&o->offset, text, 0) == 0
		       ? 0
		       : options_refuse_size(fail, "--offset", text,
					     "must be a number of bytes from 0 " TO_16M, 0,
					     LAYOUT_BYTES_MAX);
}

int layout_option_rows(struct layout_options *o, const char *text, struct fail *fail)
{
	const char *const colon = strchr(text, ':');
	char width[32];

	o->rows_text = text;
	if (!colon || (size_t)(colon - text) >= sizeof(width))
		return usage(fail, "--rows", text,
			     "must be WIDTH:PITCH, samples and bytes, as in 640:1024");
	memcpy(width, text, (size_t)(colon - text));
	width[colon - text] = '\0';
	if (parse_bytes(&o->width, width, 1) != 0)
		return usage(fail, "--rows", text,
			     "WIDTH must be a number of samples from 1 to 16777216");
	if (parse_bytes(&o->pitch, colon + 1, 1) != 0)
		return usage(fail, "--rows", text,
			     "PITCH must be a number of bytes from 1 " TO_16M);
	return 0;
}

/* "1 sample of f32", "4 samples of u8" */
#define SAMPLES "%lu sample%s of %s"

static int check_record(const struct layout_options *o, const struct sample_type *type,
			uint32_t channels, struct fail *fail)
{
	const uint64_t end = (uint64_t)o->offset + (uint64_t)channels * type->bytes;

	if (o->offset_text && !o->record_text)
		return usage(fail, "--offset", o->offset_text,
			     "needs --record, the size of the records");
	if (!o->record_text || o->record >= end)
		return 0;
	return fail_set(fail, STATUS_USAGE,
			"--record %s: must be %llu or more: " SAMPLES
			" at --offset %lu end%s there",
			o->record_text, (unsigned long long)end, (unsigned long)channels,
			channels == 1 ? "" : "s", type->name, (unsigned long)o->offset,
			channels == 1 ? "s" : "");
}

static int check_rows(const struct layout_options *o, const struct sample_type *type,
		      uint32_t channels, struct fail *fail)
{
	const uint64_t bytes = (uint64_t)o->width * type->bytes;

	if (!o->rows_text)
		return 0;
	if (o->record_text)
		return fail_set(fail, STATUS_USAGE, "--record %s, --rows %s: cannot be combined",
				o->record_text, o->rows_text);
	if (o->width % channels != 0)
		return fail_set(fail, STATUS_USAGE,
				"--rows %s: WIDTH must be a multiple of the %lu channels",
				o->rows_text, (unsigned long)channels);
	if (o->pitch < bytes)
		return fail_set(fail, STATUS_USAGE,
				"--rows %s: PITCH must be %llu or more, the bytes of " SAMPLES,
				o->rows_text, (unsigned long long)bytes, (unsigned long)o->width,
				o->width == 1 ? "" : "s", type->name);
	return 0;
}

int layout_options_settle(const struct layout_options *o, const struct sample_type *type,
			  struct layout *layout, struct fail *fail)
{
	const uint32_t channels = o->channels > 0 ? o->channels : 1;
	struct layout asked = {.channels = channels};
	const char *why;

	if (check_rows(o, type, channels, fail) != 0 || check_record(o, type, channels, fail) != 0)
		return -1;
	if (o->record_text) {
		asked.record = o->record;
		asked.offset = o->offset;
	}
	if (o->rows_text) {
		asked.row = o->width / channels;
		asked.pitch = o->pitch;
	}
	if (layout_init(layout, &asked, type->bytes, &why) != 0)
		return fail_set(fail, STATUS_USAGE, "%s", why);
	return 0;
}
