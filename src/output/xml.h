/* SPDX-License-Identifier: MIT */
/* xml: the parts of an XML text. What comes out is UTF-8 and well-formed, whatever goes in. */
#ifndef GPUHIST_XML_H
#define GPUHIST_XML_H

#include <stddef.h>

#include "output/output.h"

/*
 * Text between two tags: markup is escaped. Bytes that are no UTF-8, and characters that XML does not have (most
 * control characters, U+FFFE and U+FFFF), become U+FFFD, one for each. Length in bytes.
 */
void xml_text(struct output *out, const char *text, size_t length);

/* printf of at most XML_LINE - 1 bytes, through xml_text; and as it is. */
#define XML_LINE 512
void xml_print(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xml_markup(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
