/* SPDX-License-Identifier: MIT */
/* format, counter: every row of the tables is whole, and no two rows claim the same name. */
#include "output/format.h"

#include <string.h>
#include <strings.h>

#include "check.h"
#include "cli/options.h"

static char help_text[OPTIONS_TEXT];

static void counters(void)
{
	static const struct {
		enum counter_kind kind;
		const char *name;
		uint32_t bytes;
		uint64_t max;
	} CASES[] = {
		{COUNTER_U64, "u64", 8, UINT64_MAX},     {COUNTER_U32, "u32", 4, UINT32_MAX},
		{COUNTER_SAT8, "sat8", 1, 255},          {COUNTER_SAT16, "sat16", 2, 65535},
		{COUNTER_SAT32, "sat32", 4, UINT32_MAX},
	};
	enum counter_kind kind;

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const enum counter_kind k = CASES[i].kind;
		CHECK(strcmp(counter_name(k), CASES[i].name) == 0, "%s", counter_name(k));
		CHECK(counter_parse(&kind, CASES[i].name) == 0 && kind == k, "%s is not parsed",
		      CASES[i].name);
		CHECK(strstr(COUNTER_NAMES, CASES[i].name) && strstr(help_text, CASES[i].name),
		      "%s is in no text", CASES[i].name);
		CHECK(counter_bytes(k) == CASES[i].bytes, "%s", CASES[i].name);
		CHECK(counter_max(k) == CASES[i].max, "%s", CASES[i].name);
	}
	CHECK(counter_parse(&kind, "u8") == -1 && counter_parse(&kind, "") == -1 &&
		      counter_parse(&kind, "U64") == -1,
	      "a counter that is none");
}

static bool claims(const struct format *f, const char *suffix)
{
	for (size_t i = 0; f->suffixes[i]; i++)
		if (strcasecmp(f->suffixes[i], suffix) == 0)
			return true;
	return false;
}

/* Each suffix leads to its row, in either case, and to no other one. */
static void suffixes(const struct format *f)
{
	char path[64], why[FORMAT_WHY];

	CHECK(f->suffixes[0] || strcmp(f->name, "plot") == 0, "%s: no suffix", f->name);
	for (size_t i = 0; f->suffixes[i]; i++) {
		const char *const suffix = f->suffixes[i];
		CHECK(i + 1 < sizeof(f->suffixes) / sizeof(f->suffixes[0]),
		      "%s: no NULL after its suffixes", f->name);
		CHECK(suffix[0] == '.' &&
			      strspn(suffix + 1, "abcdefghijklmnopqrstuvwxyz0123456789") ==
				      strlen(suffix) - 1,
		      "%s", suffix);
		snprintf(path, sizeof(path), "a.gz/b.csv%s", suffix);
		CHECK(format_of_path(path, why) == f, "%s is not %s", path, f->name);
		for (char *p = path + strlen(path) - strlen(suffix); *p; p++)
			*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
		CHECK(format_of_path(path, why) == f, "%s is not %s", path, f->name);
		for (size_t k = 0; format_row(k); k++)
			CHECK(format_row(k) == f || !claims(format_row(k), suffix), "%s is also %s",
			      suffix, format_row(k)->name);
	}
}

static void rows(void)
{
	const struct format *f;
	char help[128] = "FORMAT ", why[FORMAT_WHY];

	for (size_t i = 0; (f = format_row(i)) != NULL; i++) {
		CHECK(f->name && f->write, "row %zu is not whole", i);
		CHECK(format_find(f->name) == f, "two rows are %s", f->name);
		CHECK(f->counters & 1u << f->counter, "%s does not take its own counter", f->name);
		/* What README and the manual say of text and binary formats. */
		CHECK(f->counter == (f->binary ? COUNTER_U32 : COUNTER_U64), "%s: counter %s",
		      f->name, counter_name(f->counter));
		CHECK(!(f->binary && f->rows) && !(f->rows && f->flow), "%s is two things",
		      f->name);
		/* A saturated count in under or over would be neither named nor exact. */
		CHECK(!f->flow || f->counters < 1u << COUNTER_SAT8, "%s saturates under and over",
		      f->name);
		suffixes(f);
		snprintf(help + strlen(help), sizeof(help) - strlen(help), " %s", f->name);
	}
	CHECK(format_row(0) && format_row(0)->rows, "the default is a table for the eye");
	CHECK(strstr(help_text, help), "-h does not list '%s'", help);
	CHECK(!format_find("") && !format_find("CSV") && !format_find("csv ") &&
		      !format_find("npz"),
	      "no format");

	CHECK(format_of_path(NULL, why) == format_row(0) &&
		      format_of_path("-", why) == format_row(0) &&
		      format_of_path("h", why) == format_row(0) &&
		      format_of_path("h.dat", why) == format_row(0) &&
		      format_of_path("h.", why) == format_row(0),
	      "the default");
	CHECK(!format_of_path("h.csv.GZ", why) && strstr(why, "compress"), "%s", why);
	CHECK(!format_of_path("h.npz", why) && strstr(why, "-f csv, "), "%s", why);
}

static void lists(void)
{
	char list[FORMAT_LIST], expected[FORMAT_LIST] = "";
	size_t n = 0;

	format_list(list, FORMATS_ROWS, "and");
	CHECK(strcmp(list, "csv and tsv") == 0, "%s", list);
	format_list(list, FORMATS_ALL, "or");
	while (format_row(n))
		n++;
	for (size_t i = 0; i < n; i++) {
		strcat(expected, i == 0 ? "" : i + 1 < n ? ", " : " or ");
		strcat(expected, format_row(i)->name);
	}
	CHECK(strcmp(list, expected) == 0, "'%s', not '%s'", list, expected);
}

int main(void)
{
	options_help(help_text);
	counters();
	rows();
	lists();
	return check_report();
}
