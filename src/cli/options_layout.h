/* SPDX-License-Identifier: MIT */
/*
 * options_layout: -c, --record, --offset and --rows: texts to numbers, and numbers to a layout once the type
 * is known. Kept apart from the layout that they give, so that it can be made again for another type or
 * number of channels.
 */
#ifndef GPUHIST_OPTIONS_LAYOUT_H
#define GPUHIST_OPTIONS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/layout.h"
#include "bins/sample.h"

/* What was given; a text is NULL where its option was not. */
struct layout_options {
	const char *channels_text, *record_text, *offset_text, *rows_text;
	uint32_t channels;       /* 0: not given */
	bool last;               /* -c last: those of the header; of an array its last axis */
	uint32_t record, offset; /* bytes */
	uint32_t width;          /* samples of a row, of all channels together */
	uint32_t pitch;          /* bytes from one row to the next */
};

/* Each takes its option's value. -1: it cannot be one, and *fail says why (STATUS_USAGE). */
int layout_option_channels(struct layout_options *o, const char *text, struct fail *fail);
int layout_option_record(struct layout_options *o, const char *text, struct fail *fail);
int layout_option_offset(struct layout_options *o, const char *text, struct fail *fail);
int layout_option_rows(struct layout_options *o, const char *text, struct fail *fail);

/* The layout of samples of this type. -1: the numbers do not fit together; *fail says which is wrong. */
int layout_options_settle(const struct layout_options *o, const struct sample_type *type, struct layout *layout,
			  struct fail *fail);

#endif
