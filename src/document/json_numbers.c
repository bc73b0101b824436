/* SPDX-License-Identifier: MIT */
/*
 * json_numbers: arrays of numbers, which are most of a document. As gpuhist writes them, and as
 * tools write them that indent or make 1 to 1.0, they are taken in tight loops; all others by way
 * of their texts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "base/little.h"
#include "bins/edges.h"
#include "bins/wide.h"
#include "document/json_read.h"

/* The most bytes of a plain number and the comma after it: 20 digits, a sign, a point. */
#define PLAIN 32
#define ROOM_AT_FIRST ((uint64_t)1 << 10)
#define MOST ((uint64_t)BINS_MAX + 2) /* with under and over */

/* What is being taken, 8 bytes each. */
struct room {
	void *base;
	uint64_t n, room;
};

/* Makes room for one more: first for as many as are likely, but no more than the file can hold. */
static int grow(struct json_reader *r, struct room *room, struct fail *fail)
{
	const uint64_t at = json_offset(r), fit = r->size > at ? (r->size - at) / 2 + 1 : 0;
	uint64_t more = 2 * room->room;

	if (room->n < room->room)
		return 0;
	if (room->n >= MOST)
		return json_bad(r, at, fail, "an array of more than %llu numbers",
				(unsigned long long)MOST);
	if (more == 0)
		more = r->likely < fit ? r->likely : fit;
	more = more < ROOM_AT_FIRST ? ROOM_AT_FIRST : more < MOST ? more : MOST;
	const size_t bytes = (size_t)more * 8;
	void *const base =
		!room->base && bytes >= HUGE_PAGE ? huge_alloc(bytes) : realloc(room->base, bytes);
	if (!base)
		return fail_errno(fail, "%s", r->name);
	room->base = base;
	room->room = more;
	return 0;
}

/*
 * Skips white space, where there is some: a tool that indents writes a line feed and some 16
 * blanks before each number.
 */
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

/* Takes the comma at p, or the comma after ".0"; NULL: something else is there. */
static inline const unsigned char *take_comma(const unsigned char *p)
{
	if (*p == '.' && p[1] == '0')
		p += 2;
	return *p == ',' ? p + 1 : NULL;
}

/* Reads a number of 8 to 19 digits at p and what take_comma takes; NULL: there is none. */
static const unsigned char *long_count(const unsigned char *p, uint64_t *count)
{
	uint64_t value = (uint64_t)p[0] - '0', digit;
	const unsigned char *q = p + 1;

	while ((digit = (uint64_t)*q - '0') <= 9 && q - p < 19) {
		value = value * 10 + digit;
		q++;
	}
	*count = value;
	return p[0] != '0' ? take_comma(q) : NULL;
}

/*
 * Reads numbers of up to 19 digits, each with a comma directly after it, as many as there are and
 * fit. Returns the first byte that was not taken.
 *
 * It takes eight bytes at a time: four numbers of one digit, or one of up to seven. The lengths of
 * counts change from one to the next, and a branch for each digit would be mispredicted each time.
 */
static const unsigned char *plain_counts(const unsigned char *p, const unsigned char *end,
					 struct room *room)
{
	static const uint64_t COMMAS = 0xff00ff00ff00ff00u, FOUR = 0x2c002c002c002c00u;
	uint64_t *out = (uint64_t *)room->base + room->n;
	uint64_t *const out_end = (uint64_t *)room->base + room->room;
	const unsigned char *next;

	while (end - p >= PLAIN && out < out_end) {
		const uint64_t word = little64(p), others = no_digits(word);
		if ((word & COMMAS) == FOUR && others == (COMMAS & TOPS) && out_end - out >= 4) {
			for (int i = 0; i < 4; i++)
				*out++ = word >> 16 * i & 15;
			p += 8;
			continue;
		}
		if (others == 0) {
			next = long_count(p, out);
		} else {
			/* eight for each digit */
			const unsigned bits = (unsigned)__builtin_ctzll(others) & ~7u;
			/* Blanks alone, as Python writes, are a step of the loop. */
			if (bits == 0) {
				next = *p == ' ' ? p + 1 : skip_white(p, end);
				if (next == p)
					break;
				p = next;
				continue;
			}
			*out = eight_digits(word << (64 - bits));
			/* A zero that digits follow is no number. */
			next = (word & 255) == '0' && bits > 8 ? NULL : take_comma(p + bits / 8);
		}
		if (!next)
			break;
		p = *next == '\n' ? skip_white(next, end) : next;
		out++;
	}
	room->n = (uint64_t)(out - (uint64_t *)room->base);
	return p;
}

/* Any whole number from 0 to 2^64 - 1, however it is written. */
static int careful_count(struct json_reader *r, uint64_t *count, struct fail *fail)
{
	char text[JSON_NUMBER + 1];
	struct number n;

	json_peek(r, fail);
	const uint64_t at = json_offset(r);
	if (json_numeral(r, text, fail) != 0)
		return -1;
	if (number_parse(&n, text, strlen(text)) != 0 || !n.exact || n.integer < 0 ||
	    n.integer > (int128_t)UINT64_MAX)
		return json_bad(r, at, fail, "a count must be a whole number from 0 to 2^64 - 1");
	*count = (uint64_t)n.integer;
	return 0;
}

/* ---- real numbers ---- */

/* 10^e, exactly: 10^22 = 5^22 2^22, and 5^22 < 2^53. */
static const double TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
			     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define FIVES 27 /* 5^27 < 2^63 */

/* The binary64 nearest to n / 10^e, ties to even; 0 < n < 2^64, 0 < e <= FIVES. */
static double divided(uint64_t n, int e)
{
	static const uint64_t FIVE_27 = 7450580596923828125u;
	uint64_t five = FIVE_27;
	double power;

	for (int i = FIVES; i > e; i--)
		five /= 5;
	/* n 2^up is at least 2^127, so the quotient has 65 bits or more, of which 53 are kept. */
	const int up = __builtin_clzll(n) + 64;
	const uint128_t dividend = (uint128_t)n << up, quotient = dividend / five;
	const bool inexact = quotient * five != dividend;
	const int bits = 128 - __builtin_clzll((uint64_t)(quotient >> 64)), down = bits - 53;
	uint64_t kept = (uint64_t)(quotient >> down);
	const uint128_t rest = quotient & (((uint128_t)1 << down) - 1),
			half = (uint128_t)1 << (down - 1);

	kept += rest > half || (rest == half && (inexact || kept % 2 == 1));
	/*
	 * From 10^-27 to 2^64: the power of two is a normal number, and multiplying by it does not
	 * round.
	 */
	const uint64_t exponent = (uint64_t)(1023 + down - up - e) << 52;
	memcpy(&power, &exponent, sizeof(power));
	return (double)kept * power;
}

/*
 * Reads a number of up to 19 digits, with or without a point, without an exponent, and takes the
 * comma directly after it. NULL: there is none.
 */
static const unsigned char *plain_real(const unsigned char *p, double *real)
{
	const bool negative = *p == '-';
	uint64_t n = 0, digit;
	int e = 0;
	double x;

	p += negative;
	const unsigned char *const begin = p;
	while ((digit = (uint64_t)*p - '0') <= 9 && p - begin < 19) {
		n = n * 10 + digit;
		p++;
	}
	/* A digit, and no leading zero. */
	if (p == begin || (*begin == '0' && p > begin + 1))
		return NULL;
	if (*p == '.') {
		const unsigned char *const point = p++;
		while ((digit = (uint64_t)*p - '0') <= 9 && p - begin < 20) {
			n = n * 10 + digit;
			p++;
		}
		e = (int)(p - point - 1);
		if (e == 0)
			return NULL;
	}
	if (*p != ',')
		return NULL;
	if (n <= (uint64_t)1 << 53)
		x = (double)n / TEN[e];
	else
		x = e == 0 ? (double)n : divided(n, e);
	*real = negative ? -x : x;
	return p + 1;
}

static const unsigned char *plain_reals(const unsigned char *p, const unsigned char *end,
					struct room *room)
{
	double *const real = room->base;
	const unsigned char *next;

	while (room->n < room->room && end - p >= PLAIN) {
		if (*p <= ' ')
			p = skip_white(p, end);
		if (end - p < PLAIN || (next = plain_real(p, &real[room->n])) == NULL)
			break;
		room->n++;
		p = next;
	}
	return p;
}

static int careful_real(struct json_reader *r, double *real, struct fail *fail)
{
	char text[JSON_NUMBER + 1];

	json_peek(r, fail);
	const uint64_t at = json_offset(r);
	if (json_numeral(r, text, fail) != 0)
		return -1;
	*real = strtod(text, NULL);
	return isfinite(*real) ? 0 : json_bad(r, at, fail, "a number past the largest binary64");
}

/* ---- both ---- */

/*
 * After a comma numbers follow. The loop takes all but the last, which the careful way takes, like
 * the first.
 */
static int take_numbers(struct json_reader *r, struct json_value *v, struct room *room,
			struct fail *fail)
{
	const bool reals = v->kind == JSON_REALS;
	int more;

	while ((more = json_more(r, ']', v->n == 0, fail)) > 0) {
		if (json_fill(r, PLAIN, fail) != 0)
			return -1;
		if (room->n < room->room) {
			const unsigned char *const p = reals ? plain_reals(r->at, r->end, room)
							     : plain_counts(r->at, r->end, room);
			r->at = r->buffer + (p - r->buffer);
		}
		if (!reals && v->n == 0) {
			if (careful_count(r, &v->first, fail) != 0)
				return -1;
			v->n = 1;
			continue;
		}
		if (grow(r, room, fail) != 0)
			return -1;
		if (reals ? careful_real(r, (double *)room->base + room->n, fail) != 0
			  : careful_count(r, (uint64_t *)room->base + room->n, fail) != 0)
			return -1;
		v->n = ++room->n + !reals;
	}
	return more;
}

int json_numbers(struct json_reader *r, struct json_value *v, struct fail *fail)
{
	struct room room = {.base = NULL};
	const int rc = take_numbers(r, v, &room, fail);

	if (v->kind == JSON_REALS)
		v->reals = room.base;
	else
		v->counts = room.base;
	r->likely = v->n + 1;
	return rc;
}
