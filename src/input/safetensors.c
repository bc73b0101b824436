/* SPDX-License-Identifier: MIT */
/*
 * safetensors: which tensors such a file holds, for the message that refuses it.
 *
 *	length (8 bytes), then so many bytes of JSON:
 *	{"NAME": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [BEGIN, END]}, ...}
 *
 * Offsets count from the end of the JSON. The list ends at the first thing that is not expected, or
 * was not read. Names are shown as JSON spells them; messages show no control characters.
 */
#include <stdio.h>
#include <string.h>

#include "base/little.h"
#include "bins/sample.h"
#include "input/first.h"
#include "input/words.h"

#define LISTED 10u
#define NAME_SHOWN 80
#define DTYPE 16u /* a longer one is no type of ours */

struct tensor {
	char dtype[DTYPE];
	uint64_t begin, end;
};

/* Takes a string; NULL: there is none next. */
static const char *take_string(struct words *t, size_t *length)
{
	if (!words_take(t, '"'))
		return NULL;
	const char *const begin = t->at;
	while (t->at < t->end && *t->at != '"')
		t->at += *t->at == '\\' && t->end - t->at > 1 ? 2 : 1;
	*length = (size_t)(t->at - begin);
	return words_take(t, '"') ? begin : NULL;
}

static bool is(const char *string, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(string, word, length) == 0;
}

static bool take_number(struct words *t, uint64_t *n)
{
	bool fits;

	words_skip_space(t);
	return words_number(t, n, &fits) && fits;
}

/* Passes over a value, up to the comma or bracket that follows it. */
static bool pass_value(struct words *t)
{
	size_t depth = 0, length;

	while (t->at < t->end) {
		const char c = *t->at;
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			return true;
		if (c == '"' && !take_string(t, &length))
			return false;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		t->at += c != '"';
	}
	return false;
}

static bool take_tensor(struct words *t, struct tensor *tensor)
{
	size_t length;

	if (!words_take(t, '{'))
		return false;
	while (!words_take(t, '}')) {
		const char *const key = take_string(t, &length);
		bool right = key && words_take(t, ':');
		if (right && is(key, length, "dtype")) {
			const char *const dtype = take_string(t, &length);
			right = dtype && length < DTYPE;
			snprintf(tensor->dtype, DTYPE, "%.*s", right ? (int)length : 0,
				 right ? dtype : "");
		} else if (right && is(key, length, "data_offsets")) {
			right = words_take(t, '[') && take_number(t, &tensor->begin) &&
				words_take(t, ',') && take_number(t, &tensor->end) &&
				words_take(t, ']');
		} else if (right) {
			right = pass_value(t);
		}
		if (!right)
			return false;
		(void)words_take(t, ',');
	}
	return tensor->begin <= tensor->end;
}

/* Writes "(-t bf16 -S 125 -n 3)", or that the tensor cannot be counted. */
static size_t put_options(char *to, size_t room, const struct tensor *tensor, uint64_t samples)
{
	const char *const dtype = strcmp(tensor->dtype, "BOOL") == 0  ? "u8"
				  : strcmp(tensor->dtype, "C64") == 0 ? "cf32"
								      : tensor->dtype;
	struct sample_type type;
	uint64_t begin;
	bool pair;

	if (sample_type_named(&type, &pair, dtype) != 0 ||
	    __builtin_add_overflow(samples, tensor->begin, &begin))
		return (size_t)snprintf(to, room, "(%s cannot be counted)", tensor->dtype);
	return (size_t)snprintf(to, room, "(-t %s%s -S %llu -n %llu)", pair ? "c" : "", type.name,
				(unsigned long long)begin,
				(unsigned long long)((tensor->end - tensor->begin) /
						     (sample_bytes(&type, 1) << pair)));
}

void first_tensors(char advice[FIRST_ADVICE], const unsigned char *bytes, size_t n)
{
	const size_t before = n < 8 ? n : 8; /* the length of the text */
	const uint64_t samples = n < 8 ? n : little64(bytes) + 8;
	const char *const all = (const char *)bytes;
	struct words t = {all + before, all + (samples < n ? (size_t)samples : n)};
	unsigned tensors = 0;
	size_t length, used = (size_t)snprintf(advice, FIRST_ADVICE,
					       "a safetensors file: count one of its tensors");
	bool more = words_take(&t, '{');

	while (more && !words_take(&t, '}')) {
		struct tensor tensor = {.dtype = ""};
		const char *const name = take_string(&t, &length);
		const bool data = name && !is(name, length, "__metadata__");
		more = name && words_take(&t, ':') &&
		       (data ? take_tensor(&t, &tensor) : pass_value(&t));
		(void)words_take(&t, ',');
		if (!more || !data)
			continue;
		if (tensors++ == LISTED)
			break;
		used += (size_t)snprintf(advice + used, FIRST_ADVICE - used, "%s \"%.*s%s\" ",
					 tensors == 1 ? ":" : ",",
					 length < NAME_SHOWN ? (int)length : NAME_SHOWN, name,
					 length > NAME_SHOWN ? "..." : "");
		used += put_options(advice + used, FIRST_ADVICE - used, &tensor, samples);
	}
	if (tensors == 0)
		snprintf(advice + used, FIRST_ADVICE - used, " with -t, -S and -n");
	else if (!more || tensors > LISTED)
		snprintf(advice + used, FIRST_ADVICE - used, " and more");
}
