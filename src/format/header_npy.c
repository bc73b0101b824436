/* SPDX-License-Identifier: MIT */
/*
 * header_npy: parses the header of NumPy's .npy, versions 1 to 3 (numpy.lib.format).
 *
 *	\x93NUMPY, major, minor, length (2 bytes; 4 since version 2), then a Python literal:
 *	{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The three keys may come in any order, in either kind of quotes, with or without spaces.
 */
#include "format/header.h"

#include <stdio.h>
#include <string.h>

#include "base/little.h"
#include "format/words.h"

enum { MAGIC, LENGTH, LENGTH_HIGH, DICTIONARY };

static bool take_word(struct words *t, const char *word)
{
	const size_t length = strlen(word);

	if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0)
		return false;
	t->at += length;
	return true;
}

/* Take a string in quotes; NULL: the next token is none. */
static const char *take_quoted(struct words *t, size_t *length)
{
	words_skip_space(t);
	if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
		return NULL;
	const char *const begin = t->at + 1, *const end = memchr(begin, *t->at,
								 (size_t)(t->end - begin));
	if (!end)
		return NULL;
	t->at = end + 1;
	*length = (size_t)(end - begin);
	return begin;
}

/* ---- descr ---- */

/* Refuse an unsupported type, and say how to count it if that is possible. */
static enum header_result refuse_type(struct header_scan *h, const char *descr, size_t length)
{
	const char kind = length > 1 ? descr[1] : '\0', *as = NULL,
		   *what = "is not a type that gpuhist counts";
	const int shown = length < 40 ? (int)length : 40;

	if (kind == 'M' || kind == 'm')
		what = "is a time, stored as a 64-bit integer",
		as = descr[0] == '>' ? "i64be" : "i64";
	else if (kind == 'O')
		what = "is a Python object, which cannot be counted";
	else if (kind == 'S' || kind == 'U' || kind == 'a')
		what = "is text";
	if (as)
		return header_bad(h, "dtype '%.*s' %s; count it with --raw -t %s -S %llu", shown,
				  descr, what, as, (unsigned long long)h->header.begin);
	return header_bad(h, "dtype '%.*s' %s", shown, descr, what);
}

/* The bytes of [('a', '<i2'), ('b', '<f4')]; 0 if a field is itself structured or an array. */
static unsigned long record_bytes(struct words t)
{
	unsigned long sum = 0;
	size_t length;

	if (!words_take(&t, '['))
		return 0;
	while (!words_take(&t, ']')) {
		if (!words_take(&t, '(') || !take_quoted(&t, &length) || !words_take(&t, ','))
			return 0;
		const char *p = take_quoted(&t, &length), *const end = p ? p + length : NULL;
		unsigned long bytes = 0, unit = 1;
		if (!p || !words_take(&t, ')'))
			return 0;
		for (; p < end && (*p < '0' || *p > '9'); p++)
			unit = *p == 'U' ? 4 : 1; /* NumPy stores a character in four bytes */
		for (; p < end && *p >= '0' && *p <= '9' && bytes < 1000000; p++)
			bytes = bytes * 10 + (unsigned long)(*p - '0');
		sum += bytes * unit;
		(void)words_take(&t, ',');
	}
	return sum;
}

static enum header_result take_type(struct header_scan *h, struct words *t)
{
	size_t length;
	char order = '<';

	words_skip_space(t);
	if (t->at < t->end && (*t->at == '[' || *t->at == '(')) {
		const unsigned long record = record_bytes(*t);
		char size[32] = "SIZE";
		if (record > 0)
			snprintf(size, sizeof(size), "%lu", record);
		return header_bad(h,
				  "its dtype is structured; count one of its fields with --raw -S "
				  "%llu --record=%s --offset=OFFSET -t TYPE",
				  (unsigned long long)h->header.begin, size);
	}
	const char *const descr = take_quoted(t, &length);
	if (!descr)
		return header_bad(h, "there is no dtype in quotes after 'descr'");
	const char *p = descr, *const end = descr + length;
	if (length > 0 && *p && strchr("<>|=", *p))
		order = *p++;
	/* Sizes have one or two digits: c16. */
	const char kind = p < end ? *p++ : '\0';
	uint32_t bytes = 0;
	for (; p < end && *p >= '0' && *p <= '9' && bytes < 10; p++)
		bytes = bytes * 10 + (uint32_t)(*p - '0');
	const bool truth = kind == 'b' && bytes == 1; /* a byte of 0 or 1 */
	const bool complex = kind == 'c', real = kind == 'f' || complex;
	if (complex && bytes % 2 == 0)
		bytes /= 2;
	if (kind == 'V' && bytes == 2 && p == end && order != '>') { /* ml_dtypes' bfloat16 */
		h->header.untyped = true;
		return sample_type_parse(&h->header.type, "bf16") == 0 ? HEADER_FOUND : HEADER_BAD;
	}
	const bool known =
		(kind == 'u' || kind == 'i')
			? bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8
			: truth || (real && (bytes == 8 || bytes == 4 || (bytes == 2 && !complex)));
	if (!known || p != end || (order == '|' && bytes != 1))
		return refuse_type(h, descr, length);
	header_type(h, complex ? 'f' : truth ? 'u' : kind, bytes, order == '>');
	h->header.channels = complex ? 2 : 1;
	h->header.pair = complex;
	return HEADER_FOUND;
}

/* ---- shape ---- */

/* Store the product of the lengths in h->number[0]. */
static enum header_result take_shape(struct header_scan *h, struct words *t)
{
	uint64_t count = 1;
	uint32_t axes = 0;
	bool empty = false, fits = true, product_fits = true;

	if (!words_take(t, '('))
		return header_bad(h, "there is no tuple after 'shape'");
	while (!words_take(t, ')')) {
		uint64_t n;
		bool one_fits;
		if (!words_number(t, &n, &one_fits))
			return header_bad(h, "the shape is not a tuple of lengths");
		if (t->at < t->end && *t->at == 'L') /* written by Python 2 */
			t->at++;
		axes++;
		fits = fits && one_fits;
		empty |= n == 0;
		product_fits = product_fits && (n == 0 || header_product(count, n, &count));
		h->header.last = n;
		if (!words_take(t, ',') &&
		    (axes == 1 || !(words_skip_space(t), t->at < t->end && *t->at == ')')))
			return header_bad(h, "the shape is not a tuple of lengths");
	}
	h->header.axes = axes;
	/* An axis of length 0 makes the array empty, however long the other axes are. */
	if (!fits || (!product_fits && !empty))
		return header_bad(h, "the shape takes more than 2^64 bytes");
	h->number[0] = empty ? 0 : count;
	return HEADER_FOUND;
}

/* ---- the dictionary ---- */

static enum header_result take_order(struct header_scan *h, struct words *t)
{
	words_skip_space(t);
	h->header.fortran = take_word(t, "True");
	if (!h->header.fortran && !take_word(t, "False"))
		return header_bad(h, "'fortran_order' is neither True nor False");
	return HEADER_FOUND;
}

static enum header_result take_dictionary(struct header_scan *h, struct words *t)
{
	static const struct {
		const char *key;
		enum header_result (*value)(struct header_scan *, struct words *);
	} KEYS[] = {{"descr", take_type}, {"fortran_order", take_order}, {"shape", take_shape}};
	unsigned seen = 0;

	if (!words_take(t, '{'))
		return header_bad(h, "it is not a dictionary");
	while (!words_take(t, '}')) {
		size_t length, k = 0;
		const char *const key = take_quoted(t, &length);
		if (!key || !words_take(t, ':'))
			return header_bad(
				h,
				"it is not a dictionary of 'descr', 'fortran_order' and 'shape'");
		while (k < 3 &&
		       (strlen(KEYS[k].key) != length || memcmp(KEYS[k].key, key, length) != 0))
			k++;
		if (k == 3 || (seen & 1u << k))
			return header_bad(h, "it has %s key '%.*s'",
					  k == 3 ? "an unknown" : "a second",
					  length < 40 ? (int)length : 40, key);
		seen |= 1u << k;
		if (KEYS[k].value(h, t) != HEADER_FOUND)
			return HEADER_BAD;
		words_skip_space(t);
		if (!words_take(t, ',') && (t->at == t->end || *t->at != '}'))
			return header_bad(h, "there is no comma after '%s'", KEYS[k].key);
	}
	words_skip_space(t);
	if (t->at != t->end)
		return header_bad(h, "there is more than a dictionary");
	for (size_t k = 0; k < 3; k++)
		if (!(seen & 1u << k))
			return header_bad(h, "no '%s'", KEYS[k].key);
	return HEADER_FOUND;
}

static enum header_result npy_finish(struct header_scan *h, const char *text)
{
	struct words t = {text, text + h->want};
	struct header *found = &h->header;

	found->begin = h->at + h->want;
	if (take_dictionary(h, &t) != HEADER_FOUND)
		return HEADER_BAD;
	/* With one axis, both orders are the same. */
	found->fortran = found->fortran && found->axes > 1;
	if (!header_product(h->number[0], sample_bytes(&found->type, found->channels),
			    &found->bytes))
		return header_bad(h, "the shape takes more than 2^64 bytes");
	return HEADER_FOUND;
}

static enum header_result want_text(struct header_scan *h, uint32_t length)
{
	if (length > HEADER_PIECE)
		return header_bad(h, "it is %lu bytes long, but NumPy reads at most 10000",
				  (unsigned long)length);
	if (length == 0)
		return header_bad(h, "it is 0 bytes long");
	h->state = DICTIONARY;
	return header_want(h, 0, length);
}

static enum header_result npy_step(struct header_scan *h, const unsigned char *p)
{
	switch (h->state) {
	case MAGIC:
		h->header.format = ".npy";
		h->state = LENGTH;
		return header_want(h, 0, 4);
	case LENGTH:
		if (p[0] < 1 || p[0] > 3)
			return header_bad(h, "its version is %u.%u, but only 1, 2 and 3 are known",
					  p[0], p[1]);
		if (p[0] == 1)
			return want_text(h, p[2] | (uint32_t)p[3] << 8);
		h->number[0] = p[2] | (uint32_t)p[3] << 8;
		h->state = LENGTH_HIGH;
		return header_want(h, 0, 2);
	case LENGTH_HIGH:
		return want_text(h, (uint32_t)h->number[0] | (uint32_t)p[0] << 16 |
					    (uint32_t)p[1] << 24);
	default:
		return npy_finish(h, (const char *)p);
	}
}

const struct header_format header_npy = {npy_step};
