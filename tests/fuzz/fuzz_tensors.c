/* SPDX-License-Identifier: MIT */
/*
 * tensors: any text as the header of a safetensors file. If the list is accepted, each name occurs
 * once, no byte is in two tensors, sizes agree with shapes and types, everything is below 2^64, and
 * a search by name finds the tensor in the list. No byte after the text is read.
 */
#include "format/tensors.h"

#include "fuzz.h"

/* Compare two tensors in the plainest way. */
static void check_pair(const struct tensor *a, const struct tensor *b)
{
	const uint64_t first = a->begin > b->begin ? a->begin : b->begin,
		       a_end = a->begin + a->bytes, b_end = b->begin + b->bytes;

	REQUIRE(strcmp(a->name, b->name) != 0, "%s twice", a->name);
	REQUIRE(a->bytes == 0 || b->bytes == 0 || first >= (a_end < b_end ? a_end : b_end),
		"%s and %s share bytes", a->name, b->name);
}

static void check_one(const struct tensors *list, const struct tensor *t)
{
	static const char ALLOWED[] = "0123456789x";
	struct sample_type type;
	struct header header;
	const char *near = NULL;

	REQUIRE(t->shape[0] && strspn(t->shape, ALLOWED) == strlen(t->shape), "%s", t->shape);
	REQUIRE(t->begin >= list->length + TENSORS_LENGTH && t->begin <= UINT64_MAX - t->bytes,
		"%s", t->name);
	REQUIRE(tensors_find(list, t->name, &near) == t && !near, "%s", t->name);
	REQUIRE(tensor_header(&header, list, t) == tensor_type(t, &type), "%s", t->dtype);
	if (!tensor_type(t, &type))
		return;
	uint128_t bytes = type.bits / 8;
	bool none = false;
	for (const char *p = t->shape; *p; p += strspn(p, "x")) {
		char *end;
		const uint64_t n = strtoull(p, &end, 10);
		none |= n == 0;
		bytes = bytes * n > UINT64_MAX ? (uint128_t)UINT64_MAX + 1 : bytes * n;
		p = end;
	}
	REQUIRE((none ? 0 : bytes) == t->bytes, "%s: %s", t->shape, type.name);
	REQUIRE(header.begin == t->begin && header.bytes == t->bytes && header.channels == 1, "%s",
		t->name);
}

static void check_list(const uint8_t *data, size_t size)
{
	struct tensors list = {.text = malloc(size + 1), .length = size};
	char why[HEADER_WHY];

	memcpy(list.text, data, size);
	list.text[size] = '\0';
	const int rc = tensors_parse(&list, why);
	REQUIRE((rc == 0) == (why[0] == '\0'), "%d: %s", rc, why);
	char first[TENSORS_TEXT];
	if (rc == 0) {
		tensors_first(first, &list);
		REQUIRE(strlen(first) + 1 < TENSORS_TEXT, "%s", first);
		for (const char *p = first; *p; p++)
			REQUIRE(*p == '\n' || ((unsigned char)*p >= ' ' && *p != 0x7f), "%s",
				first);
	}
	for (size_t i = 0; i < list.n && rc == 0; i++) {
		check_one(&list, &list.of[i]);
		for (size_t k = 0; k < i; k++)
			check_pair(&list.of[k], &list.of[i]);
	}
	tensors_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_list(data, size);
	return 0;
}
