/* SPDX-License-Identifier: MIT */
/* safetensors: parses the header in place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/utf8.h"
#include "format/tensors.h"
#include "format/words.h"

#define LISTED 10u

/* ---- JSON ---- */

/* Take a string, unescape it and end it with a zero. NULL: the next token is no string. */
static const char *take_string(struct words *w)
{
	char utf8[4];
	size_t taken;

	if (!words_take(w, '"'))
		return NULL;
	char *const text = (char *)w->at, *to = text;
	while (w->at < w->end && *w->at != '"') {
		if ((unsigned char)*w->at < ' ')
			return NULL;
		if (*w->at != '\\') {
			*to++ = *w->at++;
			continue;
		}
		const size_t n = utf8_unescape(utf8, (const unsigned char *)w->at, &taken);
		if (taken == 0)
			return NULL;
		/* Half of a surrogate pair, and NUL, stay escaped. */
		const bool stays = n == 0 || utf8[0] == '\0';
		memmove(to, stays ? w->at : utf8, stays ? taken : n);
		to += stays ? taken : n;
		w->at += taken;
	}
	if (w->at == w->end)
		return NULL;
	w->at++;
	*to = '\0';
	return text;
}

/* Take a whole number below 2^64, without a zero before it. */
static bool take_number(struct words *w, uint64_t *n)
{
	bool fits;

	words_skip_space(w);
	const char *const first = w->at;
	return words_number(w, n, &fits) && fits && (*first != '0' || w->at == first + 1);
}

/* Take the comma between two members, or the bracket after the last; *more: a member follows. */
static bool take_comma(struct words *w, char bracket, bool *more)
{
	*more = words_take(w, ',');
	return *more || words_take(w, bracket);
}

/* Pass over a value, up to the comma or bracket that follows it. */
static bool pass_value(struct words *w)
{
	size_t depth = 0;

	words_skip_space(w);
	const char *const begin = w->at;
	while (w->at < w->end) {
		const char c = *w->at;
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			return w->at > begin;
		if (c == '"' && !take_string(w))
			return false;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		w->at += c != '"';
	}
	return false;
}

/* ---- a tensor ---- */

/* Take [40, 100] and turn it into 40x100; set *count to the product. NULL: it is no shape. */
static const char *take_shape(struct words *w, uint64_t *count)
{
	uint64_t n;
	bool fits = true, empty = false, more;

	if (!words_take(w, '['))
		return NULL;
	char *const text = (char *)w->at - 1, *to = text;
	*count = 1;
	for (more = !words_take(w, ']'); more;) {
		words_skip_space(w);
		const char *const digits = w->at;
		if (!take_number(w, &n))
			return NULL;
		if (to > text)
			*to++ = 'x';
		memmove(to, digits, (size_t)(w->at - digits));
		to += w->at - digits;
		empty |= n == 0;
		fits = fits && (n == 0 || header_product(*count, n, count));
		if (!take_comma(w, ']', &more))
			return NULL;
	}
	if (to == text)
		*to++ = '1';
	*to = '\0';
	*count = empty ? 0 : *count;
	return fits || empty ? text : NULL;
}

static bool take_offsets(struct words *w, uint64_t *begin, uint64_t *end)
{
	return words_take(w, '[') && take_number(w, begin) && words_take(w, ',') &&
	       take_number(w, end) && words_take(w, ']');
}

bool tensor_type(const struct tensor *t, struct sample_type *type)
{
	static const char *const TYPES[][2] = {
		{"F16", "f16"},        {"BF16", "bf16"},      {"F32", "f32"}, {"F64", "f64"},
		{"F8_E4M3", "f8e4m3"}, {"F8_E5M2", "f8e5m2"}, {"I8", "i8"},   {"I16", "i16"},
		{"I32", "i32"},        {"I64", "i64"},        {"U8", "u8"},   {"U16", "u16"},
		{"U32", "u32"},        {"U64", "u64"},        {"BOOL", "u8"},
	};

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
		if (strcmp(TYPES[i][0], t->dtype) == 0)
			return sample_type_parse(type, TYPES[i][1]) == 0;
	return false;
}

/* Take the object after a name. Return the fault, or NULL. */
static const char *take_tensor(struct words *w, struct tensor *t)
{
	enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };
	uint64_t count = 0, end = 0, bytes;
	struct sample_type type;
	unsigned seen = 0;
	bool more;

	if (!words_take(w, '{'))
		return "an object is missing";
	for (more = !words_take(w, '}'); more;) {
		const char *const key = take_string(w);
		if (!key || !words_take(w, ':'))
			return "a member is missing";
		const unsigned member = strcmp(key, "dtype") == 0          ? DTYPE
					: strcmp(key, "shape") == 0        ? SHAPE
					: strcmp(key, "data_offsets") == 0 ? OFFSETS
									   : 0;
		if (seen & member)
			return "a member appears twice";
		seen |= member;
		if (member == DTYPE     ? !(t->dtype = take_string(w))
		    : member == SHAPE   ? !(t->shape = take_shape(w, &count))
		    : member == OFFSETS ? !take_offsets(w, &t->begin, &end)
					: !pass_value(w))
			return member == DTYPE     ? "dtype is not text"
			       : member == SHAPE   ? "shape is invalid or larger than 2^64 numbers"
			       : member == OFFSETS ? "data_offsets are not two numbers below 2^64"
						   : "a value is missing or incomplete";
		if (!take_comma(w, '}', &more))
			return "there is no comma after a member";
	}
	if (seen != (DTYPE | SHAPE | OFFSETS))
		return "dtype, shape or data_offsets is missing";
	if (end < t->begin)
		return "its data_offsets run backwards";
	t->bytes = end - t->begin;
	if (tensor_type(t, &type) &&
	    (!header_product(count, type.code_bytes, &bytes) || bytes != t->bytes))
		return "its data_offsets do not fit its shape and dtype";
	return NULL;
}

/*
 * Take the next tensor; *more: a member follows it. 0: the last one was taken. -1: *why is its
 * fault, or the text's.
 */
static int take_next(struct words *text, struct tensor *t, bool *more, const char **why)
{
	for (;;) {
		*t = (struct tensor){.name = NULL};
		if (!*more)
			return 0;
		const char *const name = take_string(text);
		*why = "a name in quotes is missing";
		if (!name || !words_take(text, ':'))
			return -1;
		const bool data = strcmp(name, "__metadata__") != 0;
		t->name = name;
		*why = data               ? take_tensor(text, t)
		       : pass_value(text) ? NULL
					  : "a value is missing or incomplete";
		if (!*why && !take_comma(text, '}', more))
			*why = "there is no comma after it";
		if (*why || data)
			return *why ? -1 : 1;
	}
}

/* ---- all tensors ---- */

static int by_name(const void *a, const void *b)
{
	const struct tensor *const *const x = a, *const *const y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int by_place(const void *a, const void *b)
{
	const struct tensor *const *const x = a, *const *const y = b;

	return ((*x)->begin > (*y)->begin) - ((*x)->begin < (*y)->begin);
}

/*
 * Do two tensors have the same name, share a byte, or leave one unused? `sorted` has space for
 * pointers to all.
 */
static bool disagree(struct tensors *t, const struct tensor **sorted, char why[HEADER_WHY])
{
	uint64_t end = TENSORS_LENGTH + t->length;
	size_t full = 0;

	for (size_t i = 0; i < t->n; i++)
		sorted[i] = &t->of[i];
	qsort(sorted, t->n, sizeof(sorted[0]), by_name);
	for (size_t i = 1; i < t->n; i++)
		if (by_name(&sorted[i - 1], &sorted[i]) == 0)
			return snprintf(why, HEADER_WHY, "two tensors are called \"%.80s\"",
					sorted[i]->name);
	for (size_t i = 0; i < t->n; i++)
		if (t->of[i].bytes > 0)
			sorted[full++] = &t->of[i];
	qsort(sorted, full, sizeof(sorted[0]), by_place);
	for (size_t i = 0; i < full; i++) {
		const uint64_t begin = sorted[i]->begin;
		if (begin < end)
			return snprintf(why, HEADER_WHY,
					"tensors \"%.60s\" and \"%.60s\" share bytes",
					sorted[i - 1]->name, sorted[i]->name);
		if (begin > end)
			return snprintf(why, HEADER_WHY,
					"the bytes before tensor \"%.80s\" belong to no tensor",
					sorted[i]->name);
		end = begin + sorted[i]->bytes;
	}
	t->end = end;
	return false;
}

int tensors_parse(struct tensors *t, char why[HEADER_WHY])
{
	struct words text = {t->text, t->text + t->length};
	const char *what = "an object is missing";
	int rc = words_take(&text, '{') ? 1 : -1;
	bool more = rc > 0 && !words_take(&text, '}');
	struct tensor one = {.name = NULL};

	why[0] = '\0';
	t->of = malloc((t->length / TENSOR_SHORTEST + 1) * sizeof(t->of[0]));
	if (!t->of)
		return -1;
	while (rc > 0 && (rc = take_next(&text, &one, &more, &what)) > 0) {
		/* Turn offsets in the data into offsets in the file. */
		if (__builtin_add_overflow(one.begin, t->length + TENSORS_LENGTH, &one.begin) ||
		    one.begin > UINT64_MAX - one.bytes) {
			what = "its data_offsets exceed 2^64";
			rc = -1;
		}
		t->of[t->n++] = one;
	}
	words_skip_space(&text);
	if (rc == 0 && text.at < text.end) {
		what = "there is more than an object";
		rc = -1;
	}
	if (rc < 0) {
		snprintf(why, HEADER_WHY, one.name ? "tensor \"%.80s\": %s" : "%.0s%s",
			 one.name ? one.name : "", what);
		return -1;
	}
	const struct tensor **const sorted = malloc((t->n + 1) * sizeof(sorted[0]));
	rc = sorted && !disagree(t, sorted, why) ? 0 : -1;
	free(sorted);
	return rc;
}

const struct tensor *tensors_find(const struct tensors *list, const char *name, const char **near)
{
	const struct tensor *t = list->of, *const end = t + list->n;

	while (t < end && strcmp(t->name, name) != 0)
		t++;
	if (t < end)
		return t;
	const char **const names = calloc(list->n + 1, sizeof(names[0]));
	for (size_t i = 0; i < list->n && names; i++)
		names[i] = list->of[i].name;
	*near = names ? near_word(name, names) : NULL;
	free(names);
	return NULL;
}

bool tensor_header(struct header *h, const struct tensors *list, const struct tensor *t)
{
	*h = (struct header){
		.format = "safetensors",
		.channels = 1,
		.begin = t->begin,
		.bytes = t->bytes,
		.within = true,
		.end = list->end,
		.axes = 1,
		.last = 1,
	};
	return tensor_type(t, &h->type);
}

void tensors_free(struct tensors *t)
{
	free(t->text);
	free(t->of);
	*t = (struct tensors){.n = 0};
}

void tensors_first(char text[TENSORS_TEXT], const struct tensors *list)
{
	struct sample_type type;
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < list->n && i < LISTED; i++) {
		const struct tensor *const t = &list->of[i];
		const bool ours = tensor_type(t, &type);
		text[used++] = '\n';
		snprintf(text + used, TENSORS_TEXT - used, "  %.80s  %.20s  %.40s%s", t->name,
			 ours ? type.name : t->dtype, t->shape,
			 ours ? "" : "  (cannot be counted)");
		utf8_make_plain(text + used);
		used += strlen(text + used);
	}
	if (list->n == 0)
		snprintf(text, TENSORS_TEXT, " it has none");
	if (list->n > LISTED)
		snprintf(text + used, TENSORS_TEXT - used, "\n  and %zu more", list->n - LISTED);
}
