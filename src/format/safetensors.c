/* SPDX-License-Identifier: MIT */
/* safetensors: parses the header in place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/utf8.h"
#include "format/json.h"
#include "format/tensors.h"

#define LISTED 10u

/* ---- a tensor ---- */

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

/* Take [40, 100] and turn it into 40x100; set *count to the product. */
static int take_shape(struct json *r, struct tensor *t, uint64_t *count, struct fail *fail)
{
	char *const text = r->text + r->used;
	bool fits = true, empty = false;
	uint64_t n;
	size_t at;
	int more;

	*count = 1;
	t->shape = "1";
	for (more = json_enter(r, '[', fail); more > 0; more = json_next(r, fail)) {
		if (json_whole(r, "a dimension", &at, &n, fail) != 0)
			return -1;
		if (r->text + at > text)
			r->text[at - 1] = 'x';
		t->shape = text;
		empty |= n == 0;
		fits = fits && (n == 0 || header_product(*count, n, count));
	}
	*count = empty ? 0 : *count;
	return more < 0 || fits || empty ? more
					 : json_bad(r, fail, "its shape exceeds 2^64 numbers");
}

static int take_offsets(struct json *r, uint64_t *begin, uint64_t *end, struct fail *fail)
{
	const size_t used = r->used;
	size_t at;

	if (json_mark(r, "[", fail) < 0 || json_whole(r, "an offset", &at, begin, fail) != 0 ||
	    json_mark(r, ",", fail) < 0 || json_whole(r, "an offset", &at, end, fail) != 0)
		return -1;
	r->used = used;
	return json_mark(r, "]", fail) < 0 ? -1 : 0;
}

/* Take the object after a name. */
static int take_tensor(struct json *r, struct tensor *t, struct fail *fail)
{
	enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };
	uint64_t count = 0, end = 0, bytes;
	struct sample_type type;
	unsigned seen = 0;
	size_t at;
	int more, rc;

	for (more = json_enter(r, '{', fail); more > 0; more = json_next(r, fail)) {
		const size_t used = r->used;
		if (json_name(r, &at, fail) != 0)
			return -1;
		const char *const key = r->text + at;
		const unsigned member = strcmp(key, "dtype") == 0          ? DTYPE
					: strcmp(key, "shape") == 0        ? SHAPE
					: strcmp(key, "data_offsets") == 0 ? OFFSETS
									   : 0;
		r->used = used;
		if (seen & member)
			return json_bad(r, fail, "this member appears twice");
		seen |= member;
		rc = member == DTYPE     ? json_string(r, "dtype as text", &at, fail)
		     : member == SHAPE   ? take_shape(r, t, &count, fail)
		     : member == OFFSETS ? take_offsets(r, &t->begin, &end, fail)
					 : json_skip(r, fail);
		if (rc != 0)
			return -1;
		if (member == DTYPE)
			t->dtype = r->text + at;
	}
	if (more < 0)
		return -1;
	if (seen != (DTYPE | SHAPE | OFFSETS))
		return json_bad(r, fail, "dtype, shape or data_offsets is missing");
	if (end < t->begin)
		return json_bad(r, fail, "its data_offsets run backwards");
	t->bytes = end - t->begin;
	if (tensor_type(t, &type) &&
	    (!header_product(count, type.code_bytes, &bytes) || bytes != t->bytes))
		return json_bad(r, fail, "its data_offsets do not fit its shape and dtype");
	/* Turn offsets in the data into offsets in the file. */
	if (__builtin_add_overflow(t->begin, r->offset + (uint64_t)(r->end - r->buffer),
				   &t->begin) ||
	    t->begin > UINT64_MAX - t->bytes)
		return json_bad(r, fail, "its data_offsets exceed 2^64");
	return 0;
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
	struct fail fail = {.status = STATUS_OK};
	struct tensor one = {.name = NULL};
	struct json r;
	size_t at;
	int more;

	why[0] = '\0';
	t->of = malloc((t->length / TENSOR_SHORTEST + 1) * sizeof(t->of[0]));
	if (!t->of)
		return -1;
	json_memory(&r, t->text, t->length, TENSORS_LENGTH);
	for (more = json_enter(&r, '{', &fail); more > 0; more = json_next(&r, &fail)) {
		one = (struct tensor){.name = NULL};
		if (json_name(&r, &at, &fail) != 0)
			break;
		one.name = r.text + at;
		const bool data = strcmp(one.name, "__metadata__") != 0;
		if ((data ? take_tensor(&r, &one, &fail) : json_skip(&r, &fail)) != 0)
			break;
		if (data)
			t->of[t->n++] = one;
	}
	if (more == 0) {
		one.name = NULL;
		more = json_end(&r, &fail);
	}
	if (more != 0) {
		snprintf(why, HEADER_WHY, one.name ? "tensor \"%.80s\": %s" : "%.0s%s",
			 one.name ? one.name : "", fail.text);
		return -1;
	}
	const struct tensor **const sorted = malloc((t->n + 1) * sizeof(sorted[0]));
	const int rc = sorted && !disagree(t, sorted, why) ? 0 : -1;
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
