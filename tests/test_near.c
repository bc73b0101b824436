/* SPDX-License-Identifier: MIT */
/* near: the nearest name is suggested, unless it is far or two are equally near. */
#include "base/near.h"

#include <string.h>

#include "check.h"

static void lists(void)
{
	static const char *const WORDS[] = {"bins", "range",    "record",       "tsv",
					    "csv",  "progress", "Layer.Weight", NULL};
	static const struct {
		const char *text, *near;
	} CASES[] = {
		{"rnage", "range"},
		{"range", "range"},
		{"ranges", "range"},
		{"bits", "bins"},
		{"recrod", "record"},
		{"progess", "progress"},
		{"cvs", "csv"},
		{"rsv", NULL},
		{"histogram", NULL},
		{"", NULL},
		{"b", NULL},
		{"tv", NULL},
		{"rate", NULL},
		{"ogrss", NULL},
		{"pogrss", "progress"},
		{"RANGE", "range"},
		{"progressprogressprogress1", NULL},
		{"layer.wieght", "Layer.Weight"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const char *const near = near_word(CASES[i].text, WORDS);
		const char *const got = near ? near : "none",
				  *want = CASES[i].near ? CASES[i].near : "none";
		CHECK(strcmp(got, want) == 0, "'%s': %s, not %s", CASES[i].text, got, want);
	}
}

int main(void)
{
	lists();
	return check_report();
}
