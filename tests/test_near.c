/* SPDX-License-Identifier: MIT */
/*
 * near: slips beside a plain recursion, what is near and what is not, and that of two equally near
 * ones none is said.
 */
#include "base/near.h"

#include <string.h>

#include "check.h"

/* The definition, letter by letter from the end. */
static unsigned plain(const char *a, size_t n, const char *b, size_t m)
{
	if (n == 0 || m == 0)
		return (unsigned)(n + m);
	unsigned best = plain(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
	const unsigned fewer = plain(a, n - 1, b, m) + 1, more = plain(a, n, b, m - 1) + 1;
	best = fewer < best ? fewer : best;
	best = more < best ? more : best;
	if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
		const unsigned swapped = plain(a, n - 2, b, m - 2) + 1;
		best = swapped < best ? swapped : best;
	}
	return best;
}

static void against_definition(void)
{
	uint64_t seed = 13;

	for (int i = 0; i < 3000; i++) {
		char a[8] = "", b[8] = "";
		const size_t n = check_random(&seed) >> 60 & 7, m = check_random(&seed) >> 60 & 7;
		for (size_t k = 0; k < n; k++)
			a[k] = (char)('a' + (check_random(&seed) >> 40) % 3);
		for (size_t k = 0; k < m; k++)
			b[k] = (char)('a' + (check_random(&seed) >> 40) % 3);
		const unsigned slips = plain(a, n, b, m), most = (unsigned)((n < m ? n : m) / 3);
		CHECK(near_slips(a, b) == (slips <= most ? slips : NEAR_WORD), "%s %s: %u, not %u",
		      a, b, near_slips(a, b), slips);
	}
}

static void lists(void)
{
	static const char *const WORDS[] = {"bins", "range", "record",  "tsv",
					    "csv",  "range", "progress"};
	static const struct {
		const char *text, *near;
	} CASES[] = {
		{"rnage", "range"},   {"range", "range"},
		{"ranges", "range"},  {"bits", "bins"},
		{"recrod", "record"}, {"progess", "progress"},
		{"cvs", "csv"},       {"rsv", NULL},
		{"histogram", NULL},  {"", NULL},
		{"b", NULL},          {"tv", NULL},
		{"rate", NULL},       {"pogrss", "progress"},
		{"ogrss", NULL},      {"progressprogressprogress1", NULL},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct near near = {0};
		for (size_t k = 0; k < sizeof(WORDS) / sizeof(WORDS[0]); k++)
			near_ask(&near, CASES[i].text, WORDS[k]);
		const char *const got = near.word ? near.word : "none",
				  *want = CASES[i].near ? CASES[i].near : "none";
		CHECK(strcmp(got, want) == 0, "'%s': %s, not %s", CASES[i].text, got, want);
	}
}

int main(void)
{
	against_definition();
	lists();
	return check_report();
}
