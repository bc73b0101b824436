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

/* NULL: too many digits. */
static const struct steps *steps_of(const char *lo, const char *hi, const char *step)
{
	static struct steps steps;
	struct number n[3];

	CHECK(parse(&n[0], lo) == 0 && parse(&n[1], hi) == 0 && parse(&n[2], step) == 0, "%s", hi);
	return number_steps(&steps, &n[0], &n[1], &n[2]) == 0 ? &steps : NULL;
}

static void known_steps(void)
{
	static const struct {
		const char *lo, *hi, *step;
		int64_t count;
		bool whole;
		const char *end;
	} KNOWN[] = {
		{"0", "1", "0.1", 10, true, "1"},
		{"0", "1", "0.3", 3, false, "0.9"},
		{"0", "1", "0.4", 3, false, "1.2"},
		{"0", "1", "2", 1, false, "2"},
		{"0", "0.1", "3", 1, false, "3"},
		{"-1", "-0.85", "0.1", 2, false, "-0.8"},
		{"-1", "0.05", "0.1", 11, false, "0.1"},
		{"-1", "0.01", "0.1", 10, false, "0"},
		{"1", "0", "0.1", 0, false, NULL},
		{"1", "1.0", "0.1", 0, false, NULL},
		/* one apart, which binary64 cannot tell */
		{"18446744073709551615", "18446744073709551616", "0.25", 4, true,
		 "18446744073709551616"},
		{"0", "0x1p-20", "0x1p-22", 4, true, "0.00000095367431640625"},
		{"0x.8", "1.5", "0.1", 10, true, "1.5"},
		{"0", "1e300", "1e298", 100, true, "100e298"},
		{"0", "25e30", "1e30", 25, true, "25e30"},
		{"0", "1e-300", "4e-301", 3, false, "12e-301"},
		{"1e-400", "1.5e-399", "2e-400", 7, true, "15e-400"},
		{"0e999", "-0.0e-9", "1", 0, false, NULL},
		{"20", "75", "20", 3, false, "80"},
	};
	/* |x| < 2^96 in units of the last place */
	static const char *const SPANS[][3] = {
		{"0", "79228162514264337593543950335", "1"},
		{"-79228162514264337593543950335", "79228162514264337593543950335", "1"},
		{"7922816251426433759354395033", "7922816251426433759354395033.5", "0.1"},
	};
	static const char *const TOO_MANY[][3] = {
		{"0", "79228162514264337593543950336", "1"},
		{"-79228162514264337593543950336", "0", "1"},
		{"0", "1", "1e-29"},
		{"1e-300", "1", "0.5"},
		{"0", "1", "0x1p-100"},
		{"0", "1e300", "1"},
		{"1234567890123456789012345678901234567890e-39", "2", "1"},
	};

	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
		const struct steps *const s = steps_of(KNOWN[i].lo, KNOWN[i].hi, KNOWN[i].step);
		CHECK(s && s->count == KNOWN[i].count, "%s:%s:%s", KNOWN[i].lo, KNOWN[i].hi,
		      KNOWN[i].step);
		if (!s || !KNOWN[i].end)
			continue;
		CHECK(s->whole == KNOWN[i].whole && strcmp(s->end, KNOWN[i].end) == 0,
		      "%s:%s:%s ends at %s", KNOWN[i].lo, KNOWN[i].hi, KNOWN[i].step, s->end);
	}
	for (size_t i = 0; i < sizeof(SPANS) / sizeof(SPANS[0]); i++)
		CHECK(steps_of(SPANS[i][0], SPANS[i][1], SPANS[i][2]), "%s", SPANS[i][1]);
	for (size_t i = 0; i < sizeof(TOO_MANY) / sizeof(TOO_MANY[0]); i++)
		CHECK(!steps_of(TOO_MANY[i][0], TOO_MANY[i][1], TOO_MANY[i][2]), "%s",
		      TOO_MANY[i][1]);
}

/* The end of so many steps, as it was put together; and one place past it. */
static void drawn_steps(void)
{
	uint64_t state = SEED;

	for (int i = 0; i < 20000; i++) {
		const int place = (int)(check_random(&state) % 60) - 40;
		const int64_t count = 1 + (int64_t)(check_random(&state) >> (36 + i % 28));
		const int64_t step = 3 + (int64_t)(check_random(&state) >> (31 + i % 33));
		const int64_t lo = (int64_t)check_random(&state) >> (2 + i % 61);
		const int64_t hi = lo + count * step;
		char text[4][32];
		snprintf(text[0], 32, "%llde%d", (long long)lo, place);
		snprintf(text[1], 32, "%llde%d", (long long)hi, place);
		snprintf(text[2], 32, "%lld0e%d", (long long)step, place - 1);
		snprintf(text[3], 32, "%llde%d", (long long)hi + 1, place);
		const struct steps *s = steps_of(text[0], text[1], text[2]);
		CHECK(s && s->whole && s->count == count, "%s:%s:%s", text[0], text[1], text[2]);
		CHECK(s && strtod(s->end, NULL) == strtod(text[1], NULL), "%s is %s", text[1],
		      s->end);
		s = steps_of(text[0], text[3], text[2]);
		CHECK(s && !s->whole && s->count == count, "%s:%s:%s", text[0], text[3], text[2]);
		CHECK(s && strtod(s->end, NULL) == strtod(text[1], NULL), "%s is %s", text[1],
		      s->end);
	}
}

/*
 * The judge: as few digits as read back, by trial. At a power of two, below which numbers are
 * closer, the nearest decimal may be another number's and the next one up x's own. With 15 digits
 * %g finds every shorter text too, except of denormals.
 */
static void format_by_trial(char text[NUMBER_TEXT], double x)
{
	char up[NUMBER_TEXT];
	int e;
	const bool two = fabs(frexp(x, &e)) == 0.5;

	for (int digits = fabs(x) < 0x1p-1022 ? 1 : 15; digits <= 17; digits++) {
		snprintf(text, NUMBER_TEXT, "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			return;
		if (!two)
			continue;
		snprintf(up, NUMBER_TEXT, "%.*e", digits - 1, x);
		char *const last = strchr(up, 'e') - 1;
		if (*last != '9' && ++*last && strtod(up, NULL) == x)
			break;
	}
	memcpy(text, up, NUMBER_TEXT);
}

static void format_one(double x)
{
	char text[NUMBER_TEXT], trial[NUMBER_TEXT];
	const size_t length = number_format(text, x);

	format_by_trial(trial, x);
	CHECK(strcmp(text, trial) == 0 && length == strlen(text), "%a is %s, not %s", x, text,
	      trial);
}

/* x, its neighbours, and the same below 0. */
static void format_around(double x)
{
	const double up = nextafter(x, (double)INFINITY), down = nextafter(x, 0);

	format_one(x);
	format_one(-x);
	if (isfinite(up))
		format_one(up);
	if (down > 0)
		format_one(down);
}

static void formats(void)
{
	static const struct {
		double x;
		const char *text;
	} KNOWN[] = {
		{0, "0"},
		{-0.0, "0"},
		{-1, "-1"},
		{0.1, "0.1"},
		{1.0 / 3, "0.3333333333333333"},
		{1e14, "100000000000000"},
		{1e15, "1e+15"},
		{1e15 + 1, "1000000000000001"},
		{5e-324, "5e-324"},
		{1e-323, "1e-323"},
		{0x1p-1022, "2.2250738585072014e-308"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{1e23, "1e+23"},
		{0x1p-44, "5.684341886080802e-14"},
		{9007199254740993.0, "9007199254740992"},
		{1e-4, "0.0001"},
		{1e-5, "1e-05"},
		/* Two decimals are as near: the even one. */
		{1.00000762939453125, "1.0000076293945312"},
		{1.00002288818359375, "1.0000228881835938"},
		{(double)INFINITY, "inf"},
		{-(double)INFINITY, "-inf"},
		{(double)NAN, "nan"},
	};
	static const double BY[] = {1e-3, 1e-6, 1.0 / 3, 1.0 / 7, 1e16, 1e300};
	char text[NUMBER_TEXT], ten[16];
	uint64_t state = SEED;

	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
		number_format(text, KNOWN[i].x);
		CHECK(strcmp(text, KNOWN[i].text) == 0, "%s, not %s", text, KNOWN[i].text);
	}
	/*
	 * Both ends of every binade; every power of ten; the first denormals; the limits of forms.
	 */
	for (int e = -1074; e <= 1023; e++)
		format_around(ldexp(1, e));
	for (int e = -323; e <= 308; e++) {
		snprintf(ten, sizeof(ten), "1e%d", e);
		format_around(strtod(ten, NULL));
	}
	for (int m = 1; m < 10000; m++)
		format_one(ldexp(m, -1074));
	for (double x = 1e-4, y = 1e15, z = 1e17; x < 1e-4 + 1e-17; x = nextafter(x, 1)) {
		format_around(x);
		format_around(y = nextafter(y, 0));
		format_around(2e15 - y);
		format_around(z = nextafter(z, 0));
	}
	for (int i = 0; i < 1000000; i++) {
		uint64_t bits = check_random(&state);
		double x;
		if (i % 8 == 0)
			bits &= 0x800fffffffffffff; /* a denormal */
		memcpy(&x, &bits, sizeof(x));
		if (i % 4 == 1) /* few digits, as edges have */
			x = (double)((int64_t)bits >> (bits % 60)) * BY[bits % 6];
		if (isfinite(x) && x != 0)
			format_one(x);
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
	known_steps();
	drawn_steps();
	formats();
	integers();
	ratios();
	return check_report();
}
