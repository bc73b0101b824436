/* SPDX-License-Identifier: MIT */
/* source_text: the kind of input that is text, and its task. */
#ifndef GPUHIST_SOURCE_TEXT_H
#define GPUHIST_SOURCE_TEXT_H

#include "source/source_state.h"

extern const struct input_kind text_kind;
extern const struct task text_task; /* read text, make samples of lines */

void text_work_free(struct text_work *w); /* accepts NULL */

#endif
