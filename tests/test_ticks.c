/* SPDX-License-Identifier: MIT */
/* ticks: round numbers, read again from their texts, lie where they should, fit, and are enough. */
#include "output/ticks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/*
 * "-2.5" with the sign that pictures have, or a power of ten in small digits, as a number; NAN:
 * neither.
 */
static double read_text(const char *text, int factor)
{
	static const char SMALL[] =
		"\xe2\x81\xb0|\xc2\xb9|\xc2\xb2|\xc2\xb3|\xe2\x81\xb4|\xe2\x81\xb5|\xe2\x81\xb6|"
		"\xe2\x81\xb7|\xe2\x81\xb8|\xe2\x81\xb9|\xe2\x81\xbb|";
	char plain[256] = "", *end;
	const char *p = text;

	if (strncmp(p, "\xe2\x88\x92", 3) == 0) {
		strcat(plain, "-");
		p += 3;
	}
	if (strncmp(p, "10", 2) == 0 && (p[2] & 0x80)) {
		strcat(plain, "1e");
		for (p += 2; *p; p += *p == '\xc2' ? 2 : 3) {
			size_t which = 0;
			for (const char *s = SMALL; strncmp(s, p, *p == '\xc2' ? 2 : 3) != 0;
			     which++) {
				s = strchr(s, '|') + 1;
				if (!*s)
					return (double)NAN;
			}
			strncat(plain, &"0123456789-"[which], 1);
		}
		return strtod(plain, NULL);
	}
	strcat(plain, p);
	if (plain[strspn(plain, "-0123456789.")] != '\0' || strlen(plain) > 200)
		return (double)NAN;
	snprintf(plain + strlen(plain), 16, "e%d", factor);
	const double x = strtod(plain, &end);
	return *end == '\0' ? x : (double)NAN;
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static void look(const struct ticks *t, const struct span *span, unsigned most, size_t room,
		 const char *what)
{
	unsigned named = 0;
	double before = -1, before_named = -1;

	for (unsigned i = 0; i < t->count; i++) {
		const struct tick *const tick = &t->tick[i];
		CHECK(tick->at >= 0 && tick->at <= 1 && tick->at > before,
		      "%s: tick %u at %g after %g", what, i, tick->at, before);
		before = tick->at;
		if (tick->text[0] == '\0')
			continue;
		const double x = read_text(tick->text, t->factor);
		CHECK(x >= span->lo && x <= span->hi, "%s: %s * 10^%d is out of range", what,
		      tick->text, t->factor);
		CHECK(fabs(span_at(span, x) - tick->at) < 1e-12, "%s: %s is at %g, not %g", what,
		      tick->text, tick->at, span_at(span, x));
		CHECK(before_named < 0 || (tick->at - before_named) * (double)room >=
						  (double)characters(tick->text) + 2,
		      "%s: %s is too close", what, tick->text);
		before_named = tick->at;
		named++;
	}
	CHECK(named <= 2 * most + 1, "%s: %u names", what, named);
	/* Of long texts a few; the ends of an axis are named where that is none or one. */
	CHECK(named >= (span->hi - span->lo > 1e-4 * fabs(span->hi) ? 2 : 1), "%s: %u names", what,
	      named);
}

static void random_spans(void)
{
	static struct ticks ticks;
	uint64_t seed = 1;
	char what[128];

	for (int i = 0; i < 20000; i++) {
		const double a = ldexp((double)(check_random(&seed) >> 11),
				       (int)(check_random(&seed) % 1900) - 1000);
		const double b = ldexp((double)(check_random(&seed) >> 11),
				       (int)(check_random(&seed) % 40) - 90);
		struct span span = {.lo = i % 3 ? a : -a, .log = i % 3 == 2};
		span.hi = i % 2 ? span.lo + a * b : i % 4 ? a * 1e20 : fabs(a) * 3;
		if (!(span.hi > span.lo) || isinf(span.hi) || (span.log && !(span.lo > 0)))
			continue;
		/* Neighbours have no round number between them. */
		if ((span.hi - span.lo) / fabs(a) < 0x1p-49)
			continue;
		snprintf(what, sizeof(what), "%s%.17g:%.17g", span.log ? "log " : "", span.lo,
			 span.hi);
		ticks_of_span(&ticks, &span, 10, 110, false);
		look(&ticks, &span, 10, 110, what);
	}
}

static void expect(const struct ticks *t, int factor, const char *texts)
{
	char all[1024] = "";

	for (unsigned i = 0; i < t->count; i++) {
		strcat(all, t->tick[i].text);
		strcat(all, i + 1 < t->count ? " " : "");
	}
	CHECK(strcmp(all, texts) == 0 && t->factor == factor, "'%s' * 10^%d, not '%s' * 10^%d", all,
	      t->factor, texts, factor);
}

#define MINUS "\xe2\x88\x92"

static void known(void)
{
	static struct ticks t;
	static const struct {
		double lo, hi;
		int factor;
		const char *texts;
	} CASES[] = {
		{0, 1, 0, "0 0.2 0.4 0.6 0.8 1.0"},
		{-1, 1, 0, MINUS "1.0 " MINUS "0.5 0 0.5 1.0"},
		{0, 5e-5, -6, "0 10 20 30 40 50"},
		{0, 4294967296.0, 9, "0 1 2 3 4"},
		{-0.0625, 0.3, 0, "0 0.1 0.2 0.3"},
		{-1.7e308, 1.7e308, 306, MINUS "100 0 100"},
		{0, (double)INFINITY, 306, "0 50 100 150"},
		{-(double)INFINITY, (double)INFINITY, 306, MINUS "100 0 100"},
		{-(double)INFINITY, 0, 306, MINUS "150 " MINUS "100 " MINUS "50 0"},
		{1e9, 1e9 + 5, 0,
		 "1000000000 1000000001 1000000002 1000000003 1000000004 1000000005"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		ticks_of_span(&t, &(struct span){.lo = CASES[i].lo, .hi = CASES[i].hi}, 5, 500,
			      false);
		expect(&t, CASES[i].factor, CASES[i].texts);
	}
	/* Counts have no parts. */
	ticks_of_span(&t, &(struct span){.hi = 1.05}, 5, 500, true);
	expect(&t, 0, "0 1");
	ticks_of_span(&t, &(struct span){.lo = 0.5, .hi = 1.5, .log = true}, 5, 500, true);
	expect(&t, 0, "1");
	ticks_of_span(&t, &(struct span){.lo = 0.5, .hi = 15, .log = true}, 5, 500, true);
	expect(&t, 0, "1 2 5 10");
	ticks_of_span(&t, &(struct span){.lo = 0.01, .hi = 10, .log = true}, 5, 500, false);
	expect(&t, 0, "0.01         0.1         1         10");
	ticks_of_span(&t, &(struct span){.lo = 1e-300, .hi = 1e300, .log = true}, 4, 500, false);
	expect(&t, 0,
	       "10\xe2\x81\xbb\xc2\xb9\xe2\x81\xb5\xc2\xb9 10\xe2\x81\xb0 "
	       "10\xc2\xb9\xe2\x81\xb5\xc2\xb9");
	/* Whole numbers that binary64 does not tell apart. */
	ticks_of_whole(&t, ((int128_t)1 << 64) - 5, 5, 10, 200);
	expect(&t, 0,
	       "18446744073709551611 18446744073709551612 18446744073709551613 "
	       "18446744073709551614 18446744073709551615 18446744073709551616");
	CHECK(t.tick[1].at == 0.2, "at %g", t.tick[1].at);
	ticks_of_whole(&t, -3, 6, 4, 200);
	expect(&t, 0, MINUS "2 0 2");
	ticks_of_whole(&t, 0, 1, 10, 200);
	expect(&t, 0, "0 1");
	ticks_of_whole(&t, 0, 16777216, 10, 110);
	expect(&t, 6, "0 2 4 6 8 10 12 14 16");
}

/* The logarithm that is the same everywhere is one. */
static void logarithms(void)
{
	uint64_t seed = 7;

	for (int i = 0; i < 10000; i++) {
		const double x = ldexp(1 + (double)(check_random(&seed) >> 11),
				       (int)(check_random(&seed) % 1900) - 1000);
		CHECK(fabs(ticks_log2(x) - log2(x)) <= 4 * DBL_EPSILON * (1 + fabs(log2(x))),
		      "log2 %a is %.17g, not %.17g", x, ticks_log2(x), log2(x));
	}
	for (int e = -1074; e < 1024; e++)
		CHECK(ticks_log2(ldexp(1, e)) == e, "log2 of 2^%d is %.17g", e,
		      ticks_log2(ldexp(1, e)));
}

int main(void)
{
	logarithms();
	random_spans();
	known();
	return check_report();
}
