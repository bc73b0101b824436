/* SPDX-License-Identifier: MIT */
/* missing: reads, writes and compares the values. */
#include "bins/missing.h"

#include <stdio.h>
#include <string.h>

#include "bins/binning.h"
#include "bins/decimal.h"
#include "bins/number.h"

/* Add a code in order, unless the list has it. False: the list is full. */
static bool missing_insert(struct missing *m, uint64_t code)
{
	uint32_t i = m->n;

	if (missing_has(m, code))
		return true;
	if (m->n == MISSING_MOST)
		return false;
	for (; i > 0 && m->code[i - 1] > code; i--)
		m->code[i] = m->code[i - 1];
	m->code[i] = code;
	m->n++;
	return true;
}

const char *missing_parse(struct missing *m, const struct sample_type *type, const char *text,
			  bool words, const char **what)
{
	const bool real = type->kind == SAMPLE_FLOAT;
	const uint64_t bits = UINT64_MAX >> (64 - type->bits), sign = bits / 2 + 1;
	char word[64];
	struct decimal d;

	*m = (struct missing){.n = 0};
	for (;; text++) {
		const size_t length = strcspn(text, ",");
		uint64_t code = 0;
		*what = text;
		snprintf(word, sizeof(word), "%.*s\n", (int)length, text);
		const bool is_number = length > 0 && length <= sizeof(word) - 2 &&
				       decimal_read(&d, word) == word + length;
		if (!is_number && (!words || length == 0))
			return "is not a number";
		if (is_number && decimal_code(&d, type, &code) != DECIMAL_FITS)
			return "is not a value of the type";
		code &= bits;
		const bool zero = real && (code & ~sign) == 0;
		if (is_number &&
		    (!missing_insert(m, zero ? 0 : code) || (zero && !missing_insert(m, sign))))
			return "is one too many; there may be 16, and 0 counts twice for floats";
		text += length;
		if (*text == '\0')
			return NULL;
	}
}

void missing_format(char text[MISSING_TEXT], const struct missing *m,
		    const struct sample_type *type)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < m->n; i++) {
		char number[NUMBER_TEXT];
		const uint64_t code = m->code[i];
		if (type->kind == SAMPLE_FLOAT && code == (uint64_t)1 << (type->bits - 1))
			continue; /* -0 goes with 0 */
		number_format(number, type->bits == 64   ? double_of_bits(code)
				      : type->bits == 32 ? (double)float_of_bits((uint32_t)code)
							 : sample_value(type, (uint32_t)code));
		used += (size_t)snprintf(text + used, MISSING_TEXT - used, "%s%.25s",
					 i > 0 ? "," : "", number);
	}
}

bool missing_equal(const struct missing *a, const struct missing *b)
{
	return a->n == b->n && memcmp(a->code, b->code, a->n * sizeof(a->code[0])) == 0;
}
