/* SPDX-License-Identifier: MIT */
/* xml: the parts of an XML text. The output is UTF-8 and well-formed, whatever the input is. */
#ifndef GPUHIST_XML_H
#define GPUHIST_XML_H

#include <stddef.h>

#include "output/output.h"

/*
 * Text between two tags: markup is escaped. Bytes that are not UTF-8, and characters that XML does
 * not allow (most control characters, U+FFFE and U+FFFF), become U+FFFD, one for each. The length
 * is in bytes.
 */
void xml_text(struct output *out, const char *text, size_t length);

/* printf, at most XML_LINE - 1 bytes: through xml_text; unchanged, as markup. */
#define XML_LINE 512
void xml_print(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xml_markup(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
