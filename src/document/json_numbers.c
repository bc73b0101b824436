/* SPDX-License-Identifier: MIT */
/*
 * json_numbers: arrays of numbers, which are most of a document. As gpuhist writes them, and as
 * tools do that indent, they are taken in tight loops; all others by way of their texts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/little.h"
#include "bins/edges.h"
#include "bins/wide.h"
#include "document/json.h"

/* The most bytes of a plain number and the comma after it: 20 digits, a sign, a point. */
#define PLAIN 32
#define MOST ((size_t)BINS_MAX + 2) /* numbers of an array: all bins, under and over */

/* A tool that indents writes a line feed and some 16 blanks before each number. */
static inline const unsigned char *skip_white(const unsigned char *p, const unsigned char *end)
{
	p += *p == '\n';
	while (end - p >= 8 && little64(p) == 0x2020202020202020u)
		p += 8;
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

/* ---- counts ---- */

#define ONES 0x0101010101010101u
#define TOPS 0x8080808080808080u

/*
 * Sets the top bit of each of 8 bytes that is not a digit, bytes above 127 included, and of no
 * other.
 */
static inline uint64_t no_digits(uint64_t word)
{
	const uint64_t low = word & ~TOPS;

	/* Adding 127 - '9' carries into the top bit from ':' on; adding 128 - '0' from '0' on. */
	return (word | (low + ONES * (127 - '9')) | ~(low + ONES * (128 - '0'))) & TOPS;
}

/* The number in 8 digits, the first of which is in the lowest byte. */
static inline uint64_t eight_digits(uint64_t word)
{
	word = (word & ONES * 15) * (1 + (10 << 8)) >> 8;
	word = (word & 0x00ff00ff00ff00ffu) * (1 + (100 << 16)) >> 16;
	return (word & 0x0000ffff0000ffffu) * (1 + ((uint64_t)10000 << 32)) >> 32;
}

/* Takes the comma at p; NULL: something else is there. */
static inline const unsigned char *take_comma(const unsigned char *p)
{
	return *p == ',' ? p + 1 : NULL;
}

/* Reads a number of 8 to 19 digits and the comma after it; NULL: there is none. */
static const unsigned char *long_count(const unsigned char *p, uint64_t *count)
{
	const unsigned char *const begin = p;
	uint64_t value = 0, digit;

	while ((digit = (uint64_t)*p - '0') <= 9 && p - begin < 19) {
		value = value * 10 + digit;
		p++;
	}
	*count = value;
	return *begin != '0' ? take_comma(p) : NULL;
}

/*
 * Reads plain numbers, each with a comma directly after it, as many as there are and fit; *n of
 * them. Returns the first byte that was not taken.
 *
 * It takes eight bytes at a time: four numbers of one digit, or one of up to seven. The lengths of
 * counts change from one to the next, and a branch for each digit would be mispredicted each time.
 */
static const unsigned char *plain_counts(const unsigned char *p, const unsigned char *end,
					 uint64_t *to, size_t room, size_t *n)
{
	static const uint64_t COMMAS = 0xff00ff00ff00ff00u, FOUR = 0x2c002c002c002c00u;
	uint64_t *out = to, *const out_end = to + room;

	while (end - p >= PLAIN && out < out_end) {
		const uint64_t word = little64(p), others = no_digits(word);
		const unsigned char *next;
		if ((word & COMMAS) == FOUR && others == (COMMAS & TOPS) && out_end - out >= 4) {
			for (int i = 0; i < 4; i++)
				*out++ = word >> 16 * i & 15;
			p += 8;
			continue;
		}
		/* eight bits for each digit at the beginning */
		const unsigned bits = others != 0 ? (unsigned)__builtin_ctzll(others) & ~7u : 64;
		if (bits == 0) {
			/* A single blank, as Python writes, takes a step of the loop. */
			next = *p == ' ' ? p + 1 : skip_white(p, end);
			if (next == p)
				break;
			p = next;
			continue;
		}
		if (bits == 64) {
			next = long_count(p, out);
		} else {
			*out = eight_digits(word << (64 - bits));
			/* A zero that digits follow is no number. */
			next = *p == '0' && bits > 8 ? NULL : take_comma(p + bits / 8);
		}
		if (!next)
			break;
		p = *next == '\n' ? skip_white(next, end) : next;
		out++;
	}
	*n = (size_t)(out - to);
	return p;
}

/* ---- real numbers ---- */

/* The binary64 nearest to n / unit, ties to even. */
static double divided(uint64_t n, uint64_t unit)
{
	const uint64_t exact = (uint64_t)1 << 53;

	if (n <= exact && unit <= exact)
		return (double)n / (double)unit;
	if (n == 0)
		return 0;
	/* The quotient has 63 or 64 bits, of which 53 are kept; a remainder sets its lowest bit. */
	const int up = __builtin_clzll(n) + 63 - __builtin_clzll(unit);
	const uint128_t dividend = (uint128_t)n << up;
	const uint64_t quotient = (uint64_t)(dividend / unit);
	return ldexp((double)(quotient | ((uint128_t)quotient * unit != dividend)), -up);
}

/*
 * Reads a number of up to 19 digits, with or without a point, without an exponent, and takes the
 * comma directly after it. NULL: there is none.
 */
static const unsigned char *plain_real(const unsigned char *p, double *real)
{
	const bool negative = *p == '-';
	const unsigned char *const begin = p += negative;
	uint64_t n = 0, unit = 1, digit;

	for (; (digit = (uint64_t)*p - '0') <= 9; p++)
		n = n * 10 + digit;
	const unsigned char *const point = p;
	const bool zero = *begin == '0' && p > begin + 1;
	for (p += *p == '.'; p > point && (digit = (uint64_t)*p - '0') <= 9; p++) {
		n = n * 10 + digit;
		unit *= 10;
	}
	if (point == begin || zero || p == point + 1 || p - begin > 19 + (p > point))
		return NULL;
	*real = divided(n, unit);
	*real = negative ? -*real : *real;
	return take_comma(p);
}

static const unsigned char *plain_reals(const unsigned char *p, const unsigned char *end,
					double *to, size_t room, size_t *n)
{
	const unsigned char *next;

	for (*n = 0; *n < room; ++*n) {
		p = skip_white(p, end);
		if (end - p < PLAIN || (next = plain_real(p, &to[*n])) == NULL)
			break;
		p = next;
	}
	return p;
}

/* ---- both ---- */

/* Takes any number that JSON has. */
static int careful(struct json *r, enum json_numbers what, void *to, struct fail *fail)
{
	struct number n;

	if (json_peek(r, fail) != 0)
		return -1;
	const size_t length = json_numeral(r, fail);
	if (length == 0)
		return -1;
	const bool finite = number_parse(&n, (const char *)r->at, length) == 0;
	if (what == JSON_REALS && !finite)
		return json_bad(r, json_offset(r), fail, "a number past the largest binary64");
	/* A tool that has made doubles of counts may have rounded them. */
	if (what == JSON_COUNTS && (strspn((const char *)r->at, "0123456789") < length || !finite ||
				    !n.exact || n.integer > (int128_t)UINT64_MAX))
		return json_bad(r, json_offset(r), fail,
				"a count must be a whole number from 0 to 2^64 - 1, of digits "
				"alone");
	r->at += length;
	if (what == JSON_REALS)
		*(double *)to = n.value;
	else
		*(uint64_t *)to = (uint64_t)n.integer;
	return 0;
}

/*
 * plain_counts and plain_reals take numbers that a comma follows, which is all but the last one;
 * careful takes that one, and those that they leave.
 */
int json_numbers(struct json *r, enum json_numbers what, void *to, size_t room, size_t *n,
		 struct fail *fail)
{
	for (*n = 0;;) {
		if (json_peek(r, fail) != 0)
			return -1;
		if ((r->may_end && *r->at == ']') || *n == room)
			return 0;
		r->may_end = false;
		if (json_fill(r, PLAIN, fail) != 0)
			return -1;
		size_t plain;
		const unsigned char *const p =
			what == JSON_REALS
				? plain_reals(r->at, r->end, (double *)to + *n, room - *n, &plain)
				: plain_counts(r->at, r->end, (uint64_t *)to + *n, room - *n,
					       &plain);
		r->at = r->buffer + (p - r->buffer);
		*n += plain;
		if (*n == room)
			continue;
		if (careful(r, what, (uint64_t *)to + *n, fail) != 0 || json_peek(r, fail) != 0)
			return -1;
		++*n;
		if (*r->at != ',' && *r->at != ']')
			return json_unexpected(r, "',' or ']'", fail);
		r->may_end = *r->at == ']';
		r->at += !r->may_end;
	}
}

void *json_list(struct json *r, enum json_numbers what, size_t *n, struct fail *fail)
{
	size_t room = 512, more;
	uint64_t *list = NULL;

	for (*n = 0; !list || *n == room; *n += more) {
		room *= 2;
		uint64_t *const larger = realloc(list, room * sizeof(*list));
		list = larger ? larger : list;
		if (!larger)
			fail_errno(fail, "%s", r->name);
		else if (*n > MOST)
			json_bad(r, json_offset(r), fail, "an array of more than %zu numbers",
				 MOST);
		else if (json_numbers(r, what, list + *n, room - *n, &more, fail) == 0)
			continue;
		free(list);
		return NULL;
	}
	return list;
}
