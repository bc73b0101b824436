/* SPDX-License-Identifier: MIT */
/* number: which texts are accepted and refused, and that text and number agree to the last bit. */
#include "bins/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const uint64_t SEED = 0x6e756d626572;

static void sizes(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} GOOD[] = {
		{"0", 0},
		{"1", 1},
		{"007", 7},
		{"4096", 4096},
		{"1K", 1024},
		{"1KiB", 1024},
		{"1KB", 1000},
		{"3M", 3u << 20},
		{"3MiB", 3u << 20},
		{"3MB", 3000000},
		{"5G", 5ull << 30},
		{"5GiB", 5ull << 30},
		{"5GB", 5000000000ull},
		{"7T", 7ull << 40},
		{"7TiB", 7ull << 40},
		{"7TB", 7000000000000ull},
		{"18446744073709551615", UINT64_MAX},
		{"0T", 0},
		{"18014398509481983K", 18014398509481983ull << 10},
		{"16777215T", 16777215ull << 40},
		{"18446744TB", 18446744000000000000ull},
		{"1k", 1024},
		{"64k", 65536},
		{"1kiB", 1024},
		{"1kB", 1000},
		{"1m", 1u << 20},
		{"2mB", 2000000},
		{"1g", 1u << 30},
		{"1tiB", 1ull << 40},
		{"0x10", 16},
		{"0X1f", 31},
		{"0x1B", 27},
		{"0xfK", 15360},
		{"0x2kB", 2000},
		{"0x0", 0},
		{"0x00ff", 255},
		{"0xffffffffffffffff", UINT64_MAX},
	};
	static const char *const BAD[] = {
		"",
		" 1",
		"1 ",
		"+1",
		"-1",
		"-0",
		"k",
		"K",
		"1B",
		"1iB",
		"1Ki",
		"1KIB",
		"1KBs",
		"1kb",
		"1kib",
		"1.5K",
		"1e3",
		"0x",
		"x10",
		"0xK",
		"0x 1",
		"0x-1",
		"0x+1",
		"0x0x1",
		"0x1.8",
		"0x1p4",
		"10x1",
		"ffK",
		"0x10000000000000000",
		"1@",
		"1K\n",
		"1P",
		"1p",
		"1E",
		"18446744073709551616",
		"18014398509481984K",
		"16777216T",
		"18446745TB",
		"99999999999999999999999",
		"1K1",
		"\t1",
		"1KiBB",
		"1KK",
	};

	for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
		uint64_t bytes = 42;
		CHECK(number_parse_size(&bytes, GOOD[i].text) == 0 && bytes == GOOD[i].bytes,
		      "%s gives %llu", GOOD[i].text, (unsigned long long)bytes);
	}
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		uint64_t bytes;
		CHECK(number_parse_size(&bytes, BAD[i]) == -1, "'%s' is taken", BAD[i]);
	}
}

static void counts(void)
{
	static const char *const BAD[] = {"",   "-1",  "+1",  " 1",  "1 ",
					  "1K", "1.0", "1e3", "0x1", "18446744073709551616",
					  "a",  "1a"};
	uint64_t n;

	CHECK(number_parse_count(&n, "18446744073709551615") == 0 && n == UINT64_MAX, "2^64 - 1");
	CHECK(number_parse_count(&n, "0") == 0 && n == 0, "0");
	CHECK(number_parse_count(&n, "0010") == 0 && n == 10, "leading zeros are decimal");
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		CHECK(number_parse_count(&n, BAD[i]) == -1, "'%s' is taken", BAD[i]);
}

static int parse(struct number *n, const char *text)
{
	return number_parse(n, text, strlen(text));
}

static void numbers(void)
{
	static const struct {
		const char *text;
		bool whole;
		int64_t integer; /* where whole */
	} GOOD[] = {
		{"0", true, 0},
		{"-0", true, 0},
		{"0.000", true, 0},
		{"0e999999", true, 0},
		{"12", true, 12},
		{"-12", true, -12},
		{"+12", true, 12},
		{"1e6", true, 1000000},
		{"12.50e1", true, 125},
		{"12.50", false, 0},
		{"2.5", false, 0},
		{"2.0", true, 2},
		{"100e-2", true, 1},
		{"100e-3", false, 0},
		{".5", false, 0},
		{".5e1", true, 5},
		{"5.", true, 5},
		{"1E2", true, 100},
		{"1e+2", true, 100},
		{"1e-5", false, 0},
		{"0x10", true, 16},
		{"0x1p3", true, 8},
		{"0x1p-1", false, 0},
		{"-0xA", true, -10},
		{"0x1.8p1", true, 3},
		{"10000000000000000000000000000000000000000e-40", true, 1},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"0.0000000000000000000000000000000000000001e40", true, 1},
		{"9007199254740993", true, 9007199254740993},
		{"0x20000000000001", true, 9007199254740993},
		{"-0X7fffffffffffffff", true, -INT64_MAX},
		{"0x7fffffffffffffffp-0", true, INT64_MAX},
		{"0xfffffffffffffffp3", true, INT64_MAX - 7},
		{"0x1.0000000000000000001", false, 0},
		{"0x1p-2000", false, 0},
		{"0xc.p-2", true, 3},
		{"0x6p-2", false, 0},
		{"0x0p9999", true, 0},
		{"0x.00p-1", true, 0},
		{"0x1.8p+1", true, 3},
	};
	static const char *const BAD[] = {
		"",    "nan", "inf", "-inf", "NAN(1)", "infinity", "1e400", "-1e400",
		" 1",  "1 ",  "1x",  "e5",   "-",      "+",        ".",     "1e",
		"1e+", "0x",  "--1", "1,5",  "1_000",  "0x1p2000", "1:2"};
	struct number n;

	for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
		const char *t = GOOD[i].text;
		CHECK(parse(&n, t) == 0, "'%s' is refused", t);
		CHECK(n.value == strtod(t, NULL), "'%s' has the value %a", t, n.value);
		CHECK(n.whole == GOOD[i].whole, "'%s' is whole: %d", t, n.whole);
		CHECK(!n.whole || (n.exact && n.integer == GOOD[i].integer), "'%s' as integer", t);
	}
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		CHECK(parse(&n, BAD[i]) == -1, "'%s' is taken", BAD[i]);

	/* The text ends at length, not at what follows. */
	CHECK(number_parse(&n, "12:34", 2) == 0 && n.integer == 12, "the colon is not ours");
	CHECK(number_parse(&n, "1e5:7", 2) == -1, "cut inside the exponent");
	/* Nothing after length is looked at: the address sanitizer sees it. */
	char *const bare = malloc(2);
	CHECK(bare && memcpy(bare, "12", 2) && number_parse(&n, bare, 2) == 0 && n.integer == 12,
	      "a text without an end");
	free(bare);

	/*
	 * 2^96 - 1 is stored as an integer, 2^96 is whole but not stored; nothing overflows far
	 * beyond.
	 */
	CHECK(parse(&n, "79228162514264337593543950335") == 0 && n.exact &&
		      n.integer == ((int128_t)1 << 96) - 1,
	      "2^96 - 1");
	CHECK(parse(&n, "79228162514264337593543950336") == 0 && n.whole && !n.exact, "2^96");
	CHECK(parse(&n, "1e300") == 0 && n.whole && !n.exact, "1e300");
	CHECK(parse(&n, "1234567890123456789012345678901234567890123456789.5") == 0 && !n.whole,
	      "many digits and a fraction");
	CHECK(parse(&n, "18446744073709551615") == 0 && n.exact &&
		      n.integer == (int128_t)UINT64_MAX,
	      "2^64 - 1 is not rounded");
	CHECK(parse(&n, "0xffffffffffffffff") == 0 && n.exact && n.integer == (int128_t)UINT64_MAX,
	      "nor is it in hexadecimal");
	CHECK(parse(&n, "0xffffffffffffffffffffffff") == 0 && n.exact &&
		      n.integer == ((int128_t)1 << 96) - 1,
	      "2^96 - 1 in hexadecimal");
	CHECK(parse(&n, "0x1000000000000000000000000") == 0 && n.whole && !n.exact,
	      "2^96 in hexadecimal");
	CHECK(parse(&n, "0x1fffffffffffffffffffffffep-1") == 0 && n.exact &&
		      n.integer == ((int128_t)1 << 96) - 1,
	      "its last bits behind the point");
	CHECK(parse(&n, "0xfp1000") == 0 && n.whole && !n.exact, "2^1000 times 15");
	CHECK(parse(&n, "1e-400") == 0 && !n.whole, "too small is not zero");
	char digits[600];
	memset(digits, '9', sizeof(digits));
	CHECK(number_parse(&n, digits, 600) == -1, "600 digits");
}

/* Is there a decimal of fewer significant digits, next to x, that reads back as x? */
static bool shorter_exists(double x, const char *text)
{
	int digits = 0;
	bool point = false;

	for (const char *p = text; *p && *p != 'e'; p++) {
		point |= *p == '.';
		if (*p >= '0' && *p <= '9')
			digits += digits > 0 || *p != '0';
	}
	/* Zeros at the end of a whole number are no significant digits. */
	if (!point && !strchr(text, 'e'))
		for (size_t i = strlen(text); i > 0 && text[i - 1] == '0' && digits > 1; i--)
			digits--;
	for (int less = 1; less < digits; less++) {
		char near[64];
		snprintf(near, sizeof(near), "%.*e", less - 1, x);
		/* The nearest one, and its neighbours: at a power of two it may be one of those. */
		for (int step = -1; step <= 1; step++) {
			char copy[64];
			strcpy(copy, near);
			char *last = strchr(copy, 'e') - 1;
			if ((step < 0 && *last == '0') || (step > 0 && *last == '9'))
				continue;
			*last = (char)(*last + step);
			if (strtod(copy, NULL) == x)
				return true;
		}
	}
	return false;
}

/* The plain way: as few digits as read back, by trial. */
static bool formats_by_trial(double x, const char *text)
{
	char trial[64];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(trial, sizeof(trial), "%.*g", digits, x);
		if (strtod(trial, NULL) == x)
			return strcmp(text, trial) == 0;
	}
	return false;
}

static void format_one(double x)
{
	char text[NUMBER_TEXT];
	const size_t length = number_format(text, x);

	CHECK(length == strlen(text) && length < NUMBER_TEXT, "%a: length %zu", x, length);
	CHECK(strtod(text, NULL) == x, "%a is printed as %s", x, text);
	CHECK(!shorter_exists(x, text), "%a could be shorter than %s", x, text);
}

/*
 * Numbers that are not whole, from 1e-4 to 1e15, are formatted without trials. At powers of two,
 * where the nearest decimal of 16 digits may be another number's, format_one is the judge.
 */
static void formats_between(void)
{
	char text[NUMBER_TEXT];
	uint64_t state = SEED;
	double x = 1e-4, y = 1e-4, z = 1e15;

	for (int i = 0; i < 300; i++) {
		format_one(x = nextafter(x, 1));
		format_one(y = nextafter(y, 0));
		format_one(z = nextafter(z, 0));
	}
	for (int i = 0; i < 100000; i++) {
		const uint64_t bits = check_random(&state);
		if (i % 3 == 0) /* few digits */
			x = (double)(bits >> (11 + bits % 50)) /
			    (double[]){10, 1000, 1e6, 1e9, 1e12, 3, 7}[bits % 7];
		else if (i % 3 == 1) /* as edges are */
			x = (double)(bits % 100000) * (1.0 / (double)(1 + (bits >> 40) % 10000)) -
			    (double)(bits % 3);
		else /* any, at the limits too */
			x = ldexp(1 + (double)(bits >> 12) / 0x1p52, (int)(bits % 66) - 15);
		if (bits >> 63)
			x = -x;
		if (x == floor(x) || fabs(x) < 1e-4)
			continue;
		number_format(text, x);
		CHECK(formats_by_trial(x, text), "%a is printed as %s", x, text);
	}
	for (int e = -14; e < 50; e++)
		for (int i = -30; i <= 30; i++)
			format_one(ldexp(1 + i * (i < 0 ? 0x1p-53 : 0x1p-52), e));
	for (double power = 1e-4; power < 1e15; power *= 10)
		for (int i = -50; i <= 50; i++)
			format_one(power * (1 + i * 0x1p-52));
}

static void formats(void)
{
	static const struct {
		double x;
		const char *text;
	} KNOWN[] = {
		{0, "0"},
		{1, "1"},
		{-1, "-1"},
		{0.1, "0.1"},
		{-0.3, "-0.3"},
		{100, "100"},
		{1.0 / 3, "0.3333333333333333"},
		{2.0 / 3, "0.6666666666666666"},
		{0.5, "0.5"},
		{1e14, "100000000000000"},
		{999999999999999, "999999999999999"},
		{5e-324, "5e-324"},
		{0x1p-1022, "2.2250738585072014e-308"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{1e23, "1e+23"},
		{1e22, "1e+22"},
		{0x1p-44, "5.684341886080802e-14"},
		{9007199254740993.0, "9007199254740992"},
		{0.1 + 0.2, "0.30000000000000004"},
		{1e-5, "1e-05"},
		{123456.5, "123456.5"},
		/* Two decimals are as near: the even one. */
		{1.00000762939453125, "1.0000076293945312"},
		{1.00002288818359375, "1.0000228881835938"},
	};
	char text[NUMBER_TEXT];
	uint64_t state = SEED;

	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
		number_format(text, KNOWN[i].x);
		/*
		 * 1e-05 and 1e-5, 9007199254740992 and 9.007199254740992e+15 count as the same
		 * form.
		 */
		if (KNOWN[i].x < 9e15 || KNOWN[i].x > 1e16)
			CHECK(strcmp(text, KNOWN[i].text) == 0, "%s, not %s", text, KNOWN[i].text);
		format_one(KNOWN[i].x);
	}
	number_format(text, (double)INFINITY);
	CHECK(strcmp(text, "inf") == 0, "%s", text);
	number_format(text, -(double)INFINITY);
	CHECK(strcmp(text, "-inf") == 0, "%s", text);
	number_format(text, (double)NAN);
	CHECK(strcmp(text, "nan") == 0, "%s", text);
	for (int e = -1074; e <= 1023; e++) {
		format_one(ldexp(1, e));
		format_one(nextafter(ldexp(1, e), 0) == 0 ? 1 : nextafter(ldexp(1, e), 0));
		format_one(-nextafter(ldexp(1, e), INFINITY));
	}
	for (double x = 1e15, y = 1e15; x < 1e15 + 20; x = nextafter(x, 1e300)) {
		format_one(x);
		format_one(-(y = nextafter(y, 0)));
	}
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = check_random(&state);
		double x;
		if (i % 4 == 0)
			bits &= 0x800fffffffffffff; /* a denormal */
		memcpy(&x, &bits, sizeof(x));
		if (isfinite(x) && x != 0)
			format_one(x);
		format_one((double)(int64_t)(check_random(&state) >> (i % 60)) / 1000 + 0.001);
	}
}

static void integers(void)
{
	static const struct {
		int high;
		uint64_t low;
		const char *text;
	} KNOWN[] = {
		{0, 0, "0"},
		{0, 9999999999999999999u, "9999999999999999999"},
		{0, 10000000000000000000u, "10000000000000000000"},
		{0, UINT64_MAX, "18446744073709551615"},
		{1, 0, "18446744073709551616"},
		{1, 0x158e460913d00000, "20000000000000000000"},
		{INT32_MAX, UINT64_MAX, "39614081257132168796771975167"},
	};
	char text[NUMBER_TEXT];
	uint64_t state = SEED;

	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
		const int128_t x = (int128_t)KNOWN[i].high << 64 | KNOWN[i].low;
		size_t n = number_format_integer(text, x);
		CHECK(strcmp(text, KNOWN[i].text) == 0 && n == strlen(text), "%s", text);
		if (x == 0)
			continue;
		n = number_format_integer(text, -x);
		CHECK(text[0] == '-' && strcmp(text + 1, KNOWN[i].text) == 0 && n == strlen(text),
		      "%s", text);
	}
	const int128_t most = (int128_t)(((uint128_t)1 << 127) - 1);
	number_format_integer(text, most);
	CHECK(strcmp(text, "170141183460469231731687303715884105727") == 0, "%s", text);
	number_format_integer(text, -most - 1);
	CHECK(strcmp(text, "-170141183460469231731687303715884105728") == 0, "%s", text);
	for (int i = 0; i < 2000; i++) {
		const uint64_t x = check_random(&state) >> (i % 64);
		char expected[32];
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)x);
		CHECK(number_format_count(text, x) == strlen(expected) && !strcmp(text, expected),
		      "%s, not %s", text, expected);
	}
}

/*
 * Is x the binary64 nearest to n/d, ties to even? |x d - n| is compared with half the gaps, in
 * whole numbers: everything is scaled by a power of two that makes x and its neighbours whole.
 */
static bool is_nearest(double x, int128_t n, uint32_t d)
{
	int e;
	const double m = frexp(x, &e); /* x = m 2^e; in units of 2^(e-55) neighbours are whole */
	const int128_t whole = (int128_t)ldexp(m, 55);
	const int shift = e - 55;
	int128_t below = (int128_t)(m == 0.5 ? 1 : 2), above = 2; /* half gaps in these units */

	/* whole d 2^shift against n: the side is shifted that keeps both whole. */
	int128_t left = whole * d, right = n, unit = d;
	if (shift >= 0) {
		if (shift > 40)
			return false; /* not reached by the tests */
		left <<= shift;
		unit <<= shift;
	} else {
		if (-shift > 60)
			return false;
		right <<= -shift;
	}
	const int128_t off = right - left;
	if (off > 0 ? off > above * unit : -off > below * unit)
		return false;
	const bool tie = off == above * unit || -off == below * unit;
	return !tie || (whole / 4) % 2 == 0;
}

static void ratios(void)
{
	uint64_t state = SEED;

	CHECK(number_ratio(0, 7) == 0, "0/7");
	CHECK(number_ratio(1, 3) == 1.0 / 3 && number_ratio(-1, 3) == -1.0 / 3, "thirds");
	CHECK(number_ratio((int128_t)1 << 124, 1u << 28) == 0x1p96, "2^96");
	CHECK(number_ratio(1, 1u << 28) == 0x1p-28, "2^-28");
	/* Halfway between two binary64: to the even one, and away from it by one more. */
	const int128_t big = (int128_t)1 << 53;
	CHECK(number_ratio(big + 1, 1) == 0x1p53, "tie down");
	CHECK(number_ratio(big + 3, 1) == 0x1p53 + 4, "tie up");
	CHECK(number_ratio((big + 1) * 3 + 1, 3) == 0x1p53 + 2, "a third past the tie");
	CHECK(number_ratio((big + 1) * (1 << 28) + 1, 1 << 28) == 0x1p53 + 2, "2^-28 past the tie");
	CHECK(number_ratio((big + 1) * (1 << 28) - 1, 1 << 28) == 0x1p53, "2^-28 before the tie");
	CHECK(number_ratio(((int128_t)1 << 96) - 1, 1) == 0x1p96, "2^96 - 1");
	CHECK(number_ratio((((int128_t)1 << 97) - 1) * (1 << 28), 1 << 28) == 0x1p97, "widest");
	for (int i = 0; i < 50000; i++) {
		/* Small enough for the check to shift, of every length. */
		int128_t n = (int128_t)(check_random(&state) >> (1 + i % 62));
		const uint32_t d = 1 + (uint32_t)(check_random(&state) >> (36 + i % 28));
		if (i % 3 == 0)
			n = n * d + (int128_t)(check_random(&state) % 3) - 1;
		if (n == 0 || n > (int128_t)1 << 66)
			continue;
		/* binary64 divides exactly rounded where both fit. */
		if (n <= big)
			CHECK(number_ratio(n, d) == (double)n / d, "%lld/%u", (long long)n, d);
		else
			CHECK(is_nearest(number_ratio(n, d), n, d), "%lld.../%u", (long long)n, d);
		CHECK(number_ratio(-n, d) == -number_ratio(n, d), "sign");
	}
}

int main(void)
{
	sizes();
	counts();
	numbers();
	formats();
	formats_between();
	integers();
	ratios();
	return check_report();
}
