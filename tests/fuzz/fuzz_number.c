/* SPDX-License-Identifier: MIT */
/*
 * number: a text is a number, a count or a size exactly if the grammar here accepts it; its value
 * equals strtod()'s, or the sum of its digits in 128 bits; a number becomes the shortest text that
 * reads back.
 */
#include "bins/exact.h"
#include "bins/number.h"

#include <ctype.h>

#include "fuzz.h"

/* Return how many digits of a base follow. */
static size_t run_of(const char *p, bool hex)
{
	size_t n = 0;

	while (hex ? isxdigit((unsigned char)p[n]) : isdigit((unsigned char)p[n]))
		n++;
	return n;
}

struct plain { /* digits x base^place: the last digit counts base^place */
	bool valid, negative, hex;
	char digits[512]; /* without the point */
	size_t count;
	long place;    /* digits after the point, negated */
	long exponent; /* of 10, or of 2 */
};

/* Parse [+-] digits [. digits] [e [+-] digits], or 0x, hexadecimal digits and p. */
static struct plain grammar(const char *p)
{
	struct plain n = {.negative = *p == '-'};

	p += *p == '-' || *p == '+';
	n.hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	p += n.hex ? 2 : 0;
	const size_t whole = run_of(p, n.hex);
	const size_t part = p[whole] == '.' ? run_of(p + whole + 1, n.hex) : 0;
	memcpy(n.digits, p, whole);
	memcpy(n.digits + whole, p + whole + (p[whole] == '.'), part);
	n.count = whole + part;
	n.place = -(long)part;
	p += whole + (p[whole] == '.') + part;
	if (n.count > 0 && (n.hex ? *p == 'p' || *p == 'P' : *p == 'e' || *p == 'E')) {
		const bool minus = p[1] == '-';
		p += 1 + (p[1] == '-' || p[1] == '+');
		const size_t power = run_of(p, false);
		for (size_t i = 0; i < power; i++)
			n.exponent =
				n.exponent > 1000000 ? n.exponent : n.exponent * 10 + (p[i] - '0');
		n.exponent = minus ? -n.exponent : n.exponent;
		p += power > 0 ? power : 1; /* without digits, it is not the end either */
		n.valid = power > 0 && *p == '\0';
	} else {
		n.valid = n.count > 0 && *p == '\0';
	}
	return n;
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* Is it whole, and if it is below 2^96, which number? Decided by its digits alone. */
static void integer_of(const struct plain *n, bool *whole, bool *exact, int128_t *value)
{
	const unsigned base = n->hex ? 16 : 10;
	size_t first = 0, last = n->count;
	uint128_t v = 0;

	*whole = *exact = true;
	*value = 0;
	while (first < last && n->digits[first] == '0')
		first++;
	while (last > first && n->digits[last - 1] == '0')
		last--;
	if (first == last)
		return;
	/* the last digit that is not zero counts this power of 10, or of 2 */
	long power = ((long)(n->count - last) + n->place) * (n->hex ? 4 : 1) + n->exponent;
	unsigned low = digit(n->digits[last - 1]);
	if (n->hex)
		for (; low % 2 == 0; low /= 2)
			power++;
	*whole = power >= 0;
	for (size_t i = first; i < last && *whole && *exact; i++) {
		/* only the upper bits of the last digit */
		const bool at_end = n->hex && i == last - 1;
		int shift = 0;
		for (unsigned d = digit(n->digits[i]); at_end && d % 2 == 0; d /= 2)
			shift++;
		v = at_end ? (v << (4 - shift)) + (digit(n->digits[i]) >> shift)
			   : v * base + digit(n->digits[i]);
		*exact = v < (uint128_t)WHOLE_LIMIT;
	}
	for (; power > 0 && *whole && *exact; power--) {
		v *= n->hex ? 2u : 10u;
		*exact = v < (uint128_t)WHOLE_LIMIT;
	}
	*exact &= *whole;
	if (*exact)
		*value = n->negative ? -(int128_t)v : (int128_t)v;
}

/* Try a text that ends at length; nothing after it may be read. */
static void try_number(const char *text, size_t length)
{
	struct number n;
	/* memory of exactly its length, so that a sanitizer sees a read past it */
	char *copy = strndup(text, length);
	const int rc = number_parse(&n, text, length);
	const struct plain p = length < 512 ? grammar(copy) : (struct plain){.valid = false};
	const double value = p.valid ? strtod(copy, NULL) : (double)NAN;
	const bool valid = p.valid && isfinite(value);

	REQUIRE(rc == (valid ? 0 : -1), "'%s' gives %d", copy, rc);
	if (valid) {
		bool whole, exact;
		int128_t integer;
		integer_of(&p, &whole, &exact, &integer);
		REQUIRE(memcmp(&n.value, &value, sizeof(value)) == 0, "'%s' is %a, not %a", copy,
			n.value, value);
		REQUIRE(n.whole == whole && n.exact == exact, "'%s': whole %d exact %d", copy,
			n.whole, n.exact);
		REQUIRE(!exact || n.integer == integer, "'%s' as an integer", copy);
		REQUIRE(!exact || plain_ratio(integer, 1) == value, "'%s': integer and value",
			copy);
	}
	free(copy);
}

/*
 * Try a text as a size: digits of either base, decimal ones perhaps with a point, then nothing or
 * one of K M G T, in either case, with nothing, B or iB after it.
 */
static void try_size(const char *text)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
			 isxdigit((unsigned char)text[2]);
	const char *const first = text + (hex ? 2 : 0);
	const size_t digits = run_of(first, hex);
	const char *unit = first + digits;
	static const char *const UNITS = "KMGTkmgt";
	uint128_t v = 0;
	uint64_t got = 7;
	bool valid = digits > 0;
	const uint128_t too_much = (uint128_t)1 << 64;

	for (size_t i = 0; i < digits; i++)
		v = v >= too_much ? v : v * (hex ? 16u : 10u) + digit(first[i]);
	const bool count = valid && !hex && *unit == '\0' && v < too_much;
	uint128_t power = 1;
	if (valid && !hex && *unit == '.') {
		const size_t more = run_of(unit + 1, false);
		for (size_t i = 0; i < more && v < too_much && power < too_much; i++) {
			v = v * 10 + digit(unit[1 + i]);
			power *= 10;
		}
		/* A number of more digits than fit 64 bits is refused, even if they are zeros. */
		valid = more > 0 && v < too_much && power < too_much;
		unit += 1 + more;
	}
	REQUIRE(number_parse_count(&got, text) == (count ? 0 : -1) &&
			(!count || got == (uint64_t)v),
		"'%s' as a count gives %llu", text, (unsigned long long)got);
	if (*unit != '\0') {
		const char *which = strchr(UNITS, *unit);
		const char *rest = unit + 1;
		valid &= which &&
			 (*rest == '\0' || strcmp(rest, "B") == 0 || strcmp(rest, "iB") == 0);
		for (long u = 0; valid && u <= (which - UNITS) % 4; u++)
			v *= strcmp(rest, "B") == 0 ? 1000u : 1024u;
	}
	valid &= v % power == 0 && v / power < too_much;
	v /= power;
	REQUIRE(number_parse_size(&got, text) == (valid ? 0 : -1) && (!valid || got == (uint64_t)v),
		"'%s' as a size gives %llu", text, (unsigned long long)got);
}

/*
 * Find the fewest digits that read back, by trial. At a power of two, below which numbers are
 * closer, the nearest decimal may belong to another number and the next one up to x. With 15 digits
 * %g also finds every shorter text, except for denormals.
 */
static void format_by_trial(char text[NUMBER_TEXT], double x)
{
	char up[NUMBER_TEXT];
	int e;
	const bool two = fabs(frexp(x, &e)) == 0.5;

	for (int digits = fabs(x) < 0x1p-1022 ? 1 : 15; digits <= 17; digits++) {
		snprintf(text, NUMBER_TEXT, "%.*g", digits, x + 0.0); /* a zero has no sign */
		if (strtod(text, NULL) == x || isnan(x))
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

static void try_format(double x)
{
	char text[NUMBER_TEXT + 1], trial[NUMBER_TEXT];
	struct number n;

	memset(text, '#', sizeof(text));
	format_by_trial(trial, isnan(x) ? (double)NAN : x);
	const size_t length = number_format(text, x);
	REQUIRE(length == strlen(trial) && strcmp(text, trial) == 0, "%a is %s, not %s", x, text,
		trial);
	REQUIRE(text[NUMBER_TEXT] == '#', "%a: past the end", x);
	REQUIRE(!isfinite(x) || (number_parse(&n, text, length) == 0 && n.value == x),
		"%s is not read", text);
}

static void try_integer(int128_t x)
{
	char text[NUMBER_TEXT], plain[NUMBER_TEXT];
	uint128_t magnitude = x < 0 ? -(uint128_t)x : (uint128_t)x;
	char *p = plain + sizeof(plain) - 1;
	struct number n;

	*p = '\0';
	do
		*--p = (char)('0' + (int)(magnitude % 10));
	while (magnitude /= 10);
	if (x < 0)
		*--p = '-';
	size_t length = number_format_integer(text, x);
	REQUIRE(length == strlen(text) && strcmp(text, p) == 0, "%s, not %s", text, p);
	const bool exact = x < WHOLE_LIMIT && x > -WHOLE_LIMIT;
	REQUIRE(number_parse(&n, text, length) == 0 && n.whole && n.exact == exact,
		"%s is not read", text);
	REQUIRE(!exact || n.integer == x, "%s does not read back", text);
	const uint64_t low = (uint64_t)x;
	snprintf(plain, sizeof(plain), "%llu", (unsigned long long)low);
	length = number_format_count(text, low);
	REQUIRE(length == strlen(text) && strcmp(text, plain) == 0, "%s, not %s", text, plain);
}

static void try_ratio(int128_t n, uint64_t d)
{
	const double got = exact_ratio(n, d), expected = plain_ratio(n, d);

	REQUIRE(got == expected, "the nearest to n / %llu is %a, not %a", (unsigned long long)d,
		expected, got);
}

/* Compare digits 10^power, as a binary64 and as a binary32, with strtod and strtof. */
static void try_decimal(uint64_t digits, int power)
{
	char text[64];
	uint32_t code;

	snprintf(text, sizeof(text), "%llue%d", (unsigned long long)digits, power);
	const struct exact x = exact_decimal(digits, power);
	const float single = strtof(text, NULL);
	memcpy(&code, &single, sizeof(code));
	REQUIRE(exact_double(x) == strtod(text, NULL), "%s is %a", text, exact_double(x));
	const uint64_t got = exact_code(x, 23, 8), infinity = 0x7f800000;
	REQUIRE((got < infinity ? got : infinity) == code, "%s is the code %llx", text,
		(unsigned long long)got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	/* A text, cut in two by the first byte: number_parse gets the length of its part. */
	char *text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	const size_t length = strlen(text);
	try_number(text, data[0] < length ? data[0] : length);
	try_number(text, length);
	try_size(text);
	try_format(strtod(text, NULL));
	free(text);

	struct bytes b = {data, size};
	try_format(take_double(&b));
	b = (struct bytes){data, size};
	const unsigned shift = (unsigned)take(&b, 1) & 127;
	const uint32_t d = ((uint32_t)take(&b, 4) & ((1u << 28) - 1)) >> (take(&b, 1) & 31) % 28;
	const uint64_t high = take(&b, 8);
	const int128_t n = (int128_t)((uint128_t)high << 64 | take(&b, 8)) >> shift;
	try_integer(n);
	try_ratio(n, d == 0 ? (uint32_t)1 << 28 : d);
	try_decimal(high >> shift % 64, (int)(d % 55) - 27);
	/* A tie, or a number so near to one that only a division's rest differs; a denormal. */
	const uint64_t wide = high >> 1 | 1, digits = high >> 11;
	const int exponent = -1074 - (int)(shift % 64);
	try_ratio((((int128_t)1 << 53) + 1) * wide + (int)(d % 3) - 1, wide);
	REQUIRE(exact_double(exact_of(digits, exponent, false)) == ldexp((double)digits, exponent),
		"%llu 2^%d", (unsigned long long)digits, exponent);
	return 0;
}
