/* SPDX-License-Identifier: MIT */
/*
 * options_layout: -c, --record, --offset and --rows: texts to numbers, and numbers to a layout once
 * the type is known. The numbers are kept apart from the layout, so that it can be made again for
 * another type or number of channels.
 */
#ifndef GPUHIST_OPTIONS_LAYOUT_H
#define GPUHIST_OPTIONS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/layout.h"
#include "bins/sample.h"

/* What was given; a text is NULL if its option was not. */
struct layout_options {
	const char *channels_text, *record_text, *offset_text, *rows_text;
	uint32_t channels; /* 0: not given */
	/* -c last: as many as the header says; for an array, the length of its last axis */
	bool last;
	uint32_t record, offset; /* in bytes */
	uint32_t width;          /* samples in a row, all channels together */
	uint32_t pitch;          /* bytes from one row to the next */
};

/*
 * Each takes the value of its option. -1: the value is not valid, and *fail says why
 * (STATUS_USAGE).
 */
int layout_option_channels(struct layout_options *o, const char *text, struct fail *fail);
int layout_option_record(struct layout_options *o, const char *text, struct fail *fail);
int layout_option_offset(struct layout_options *o, const char *text, struct fail *fail);
int layout_option_rows(struct layout_options *o, const char *text, struct fail *fail);

/*
 * Makes the layout for samples of this type. -1: the numbers do not fit together; *fail says which
 * one is wrong.
 */
int layout_options_settle(const struct layout_options *o, const struct sample_type *type,
			  struct layout *layout, struct fail *fail);

#endif
