/* SPDX-License-Identifier: MIT */
/* json: the parts of a JSON text: strings of any bytes, members of an object. */
#ifndef GPUHIST_JSON_H
#define GPUHIST_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/output.h"

/*
 * Writes what is between the quotes of a string: quotes, backslashes and control bytes are escaped,
 * bytes that are not UTF-8 become U+FFFD, one for each. The result is one line of UTF-8.
 */
void json_text(struct output *out, const char *text, size_t length);

/* `"name": value, `, a member of an object that another one follows. */
void json_member_count(struct output *out, const char *name, uint64_t value);
void json_member_bool(struct output *out, const char *name, bool value);
void json_member_text(struct output *out, const char *name, const char *value);

#endif
