/* SPDX-License-Identifier: MIT */
/*
 * json_numbers: arrays of numbers, which are most of a document: plain ones in a tight loop, all
 * others by way of their texts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "base/little.h"
#include "bins/number.h"
#include "bins/wide.h"
#include "document/json_read.h"

/*
 * The most bytes of a plain number and the comma after it: 20 digits, a sign, a point, an exponent.
 */
#define PLAIN 32
#define ROOM_AT_FIRST ((uint64_t)1 << 10)

/* Room for numbers of any kind, 8 bytes each. */
struct room {
	void *base;
	uint64_t n;      /* numbers in it ... */
	uint64_t room;   /* ... and for how many it has room */
	uint64_t likely; /* how many are expected */
};

/* Makes room for one more. */
static int grow(struct json_reader *r, struct room *room, uint64_t most, struct fail *fail)
{
	if (room->n < room->room)
		return 0;
	if (room->n >= most)
		return json_bad(r, json_offset(r), fail, "an array of more than %llu numbers",
				(unsigned long long)most);
	const uint64_t likely = room->likely < most ? room->likely : most;
	const uint64_t more = room->room > 0           ? 2 * room->room
			      : likely > ROOM_AT_FIRST ? likely
						       : ROOM_AT_FIRST;
	if (more > SIZE_MAX / 16) {
		errno = ENOMEM;
		return fail_errno(fail, "%s", r->name);
	}
	const bool huge = room->room == 0 && more * 8 >= HUGE_PAGE;
	void *const base =
		huge ? huge_alloc((size_t)more * 8) : realloc(room->base, (size_t)more * 8);
	if (!base)
		return fail_errno(fail, "%s", r->name);
	room->base = base;
	room->room = more < most ? more : most;
	return 0;
}

int json_count_of(uint64_t *count, const char *number)
{
	struct number n;

	if (number_parse_count(count, number) == 0)
		return 0;
	if (number_parse(&n, number, strlen(number)) != 0 || !n.exact || n.integer < 0 ||
	    n.integer > (int128_t)UINT64_MAX)
		return 1;
	*count = (uint64_t)n.integer;
	return 0;
}

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

/* Reads a number of 8 to 19 digits at p with a comma after it; NULL: there is none. */
static const unsigned char *long_count(const unsigned char *p, uint64_t *count)
{
	uint64_t value = (uint64_t)p[0] - '0', digit;
	const unsigned char *q = p + 1;

	while ((digit = (uint64_t)*q - '0') <= 9 && q - p < 19) {
		value = value * 10 + digit;
		q++;
	}
	*count = value;
	return p[0] != '0' && *q == ',' ? q + 1 : NULL;
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

	while (end - p >= PLAIN && out < out_end) {
		const uint64_t word = little64(p), others = no_digits(word);
		if ((word & COMMAS) == FOUR && others == (COMMAS & TOPS) && out_end - out >= 4) {
			for (int i = 0; i < 4; i++)
				*out++ = word >> 16 * i & 15;
			p += 8;
			continue;
		}
		if (others == 0) {
			const unsigned char *const next = long_count(p, out);
			if (!next)
				break;
			p = next;
		} else {
			/* eight for each digit */
			const unsigned bits = (unsigned)__builtin_ctzll(others) & ~7u;
			/*
			 * Python writes a blank. It is not looked for after each comma, because
			 * each number would wait for that.
			 */
			if (bits == 0 && *p == ' ') {
				p++;
				continue;
			}
			/*
			 * There is no digit, no comma after the digits, or a zero that others
			 * follow.
			 */
			if (bits == 0 || (word >> bits & 255) != ',' ||
			    ((word & 255) == '0' && bits > 8))
				break;
			*out = eight_digits(word << (64 - bits));
			p += bits / 8 + 1;
		}
		out++;
	}
	room->n = (uint64_t)(out - (uint64_t *)room->base);
	return p;
}

/*
 * Skips the rest of an array that has a number which is not a count, or something else than
 * numbers.
 */
static int pass_over(struct json_reader *r, struct json_counts *counts, uint64_t at,
		     struct fail *fail)
{
	int more;

	counts->odd = true;
	counts->at = at;
	while ((more = json_element(r, fail)) > 0)
		if (json_skip(r, fail) != 0)
			return -1;
	return more;
}

/* Takes one element. 1: it is not a count, and was skipped. */
static int take_count(struct json_reader *r, uint64_t *count, struct fail *fail)
{
	const char *text;
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	if (next != '-' && !(next >= '0' && next <= '9'))
		return json_skip(r, fail) == 0 ? 1 : -1;
	return json_number(r, &text, fail) == 0 ? json_count_of(count, text) : -1;
}

static int take_counts(struct json_reader *r, struct json_counts *counts, struct room *room,
		       uint64_t most, struct fail *fail)
{
	uint64_t count = 0;
	int more, next, odd = 0;

	while ((more = json_element(r, fail)) > 0) {
		/*
		 * A comma was taken, so numbers follow. The loop takes all but the last, which the
		 * careful way takes.
		 */
		if (room->n < room->room) {
			if (json_fill(r, PLAIN, fail) != 0)
				return -1;
			r->at = r->buffer + (plain_counts(r->at, r->end, room) - r->buffer);
		}
		if (json_peek(r, &next, fail) != 0)
			return -1;
		const uint64_t at = json_offset(r);
		if (counts->n > 0 && grow(r, room, most - 1, fail) != 0)
			return -1;
		odd = take_count(r, &count, fail);
		if (odd != 0)
			return odd < 0 ? -1 : pass_over(r, counts, at, fail);
		if (counts->n == 0)
			counts->first = count;
		else
			((uint64_t *)room->base)[room->n++] = count;
		counts->n = room->n + 1;
	}
	return more;
}

/*
 * The most numbers that can follow, by the length of a regular file: each has a digit and a comma.
 */
static uint64_t left(const struct json_reader *r)
{
	return r->size > json_offset(r) ? (r->size - json_offset(r)) / 2 + 1 : 0;
}

int json_counts(struct json_reader *r, struct json_counts *counts, uint64_t likely, uint64_t most,
		struct fail *fail)
{
	struct room room = {.likely = likely < left(r) ? likely : left(r)};
	int rc;

	*counts = (struct json_counts){.n = 0};
	rc = json_array(r, fail) != 0 ? -1 : take_counts(r, counts, &room, most, fail);
	if (rc != 0 || counts->odd) {
		free(room.base);
		return rc;
	}
	counts->rest = room.base;
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

int json_real(struct json_reader *r, double *real, struct fail *fail)
{
	const char *text;
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	const uint64_t at = json_offset(r);
	if (json_number(r, &text, fail) != 0)
		return -1;
	*real = strtod(text, NULL);
	return isfinite(*real) ? 0 : json_bad(r, at, fail, "a number past the largest binary64");
}

int json_reals(struct json_reader *r, double **reals, uint64_t *n, uint64_t most, struct fail *fail)
{
	struct room room = {.n = 0};
	int more = -1;

	if (json_array(r, fail) != 0)
		return -1;
	while ((more = json_element(r, fail)) > 0) {
		const unsigned char *next;
		if (json_fill(r, PLAIN, fail) != 0)
			break;
		while (room.n < room.room && r->end - r->at >= PLAIN &&
		       (next = plain_real(r->at, (double *)room.base + room.n)) != NULL) {
			room.n++;
			r->at = r->buffer + (next - r->buffer);
		}
		if (grow(r, &room, most, fail) != 0 ||
		    json_real(r, (double *)room.base + room.n, fail) != 0)
			break;
		room.n++;
	}
	if (more != 0) {
		free(room.base);
		return -1;
	}
	*reals = room.base;
	*n = room.n;
	return 0;
}
