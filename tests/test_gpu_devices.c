/* SPDX-License-Identifier: MIT */
/* gpu_devices: lists of devices, and what CUDA_VISIBLE_DEVICES becomes for each helper. */
#include "gpu/gpu_devices.h"

#include <stdbool.h>
#include <string.h>

#include "check.h"

static void lists(void)
{
	static const struct {
		const char *wanted;
		unsigned named, nth[4];
	} CASES[] = {
		{"all", 0, {0}},
		{"0", 1, {0}},
		{"7", 1, {7}},
		{"0,2", 2, {0, 2}},
		{"15,3,9,0", 4, {15, 3, 9, 0}},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		CHECK(devices_named(CASES[i].wanted) == CASES[i].named, "%s: %u", CASES[i].wanted,
		      devices_named(CASES[i].wanted));
		for (unsigned k = 0; k < CASES[i].named; k++)
			CHECK(devices_nth(CASES[i].wanted, k) == CASES[i].nth[k],
			      "%s: number %u is %u", CASES[i].wanted, k,
			      devices_nth(CASES[i].wanted, k));
	}
}

static void known(void)
{
	static const struct {
		const char *visible;
		unsigned number;
		const char *shown;
	} CASES[] = {
		{NULL, 0, "0"},
		{NULL, 13, "13"},
		{"0", 0, "0"},
		{"3", 0, "3"},
		{"3", 1, "-1"},
		{"2,0,1", 0, "2"},
		{"2,0,1", 2, "1"},
		{"2,0,1", 3, "-1"},
		{"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", 0,
		 "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
		{"1,GPU-8932f937,MIG-GPU-5/1/0", 1, "GPU-8932f937"},
		{"1,GPU-8932f937,MIG-GPU-5/1/0", 2, "MIG-GPU-5/1/0"},
		/* Nothing is visible. */
		{"", 0, "-1"},
		{"-1", 0, "-1"},
		{",0", 0, "-1"},
		{"", 5, "-1"},
		/* The list ends before an entry that names no device. */
		{"1,-1,0", 0, "1"},
		{"1,-1,0", 1, "-1"},
		{"1,-1,0", 2, "-1"},
		{"1,,0", 0, "1"},
		{"1,,0", 1, "-1"},
		{"1,,0", 2, "-1"},
		{"1,", 0, "1"},
		{"1,", 1, "-1"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		char text[512] = "?";
		devices_show(text, sizeof(text), CASES[i].visible, CASES[i].number);
		CHECK(strcmp(text, CASES[i].shown) == 0,
		      "number %u of \"%s\" is \"%s\", not \"%s\"", CASES[i].number,
		      CASES[i].visible ? CASES[i].visible : "(all)", text, CASES[i].shown);
	}
}

/*
 * Random lists: the entries up to the first bad one are shown each by its number, and nothing
 * behind it.
 */
static void drawn(void)
{
	static const char *const GOOD[] = {"0", "1", "12", "GPU-01234567-89ab", "MIG-7"};
	static const char *const BAD[] = {"-1", "", "-"};
	uint64_t state = 9;

	for (unsigned long i = 0; i < 5000; i++) {
		const char *entry[10];
		char list[256] = "";
		const unsigned n = 1 + (unsigned)(check_random(&state) % 10);
		unsigned good = 0;
		bool ended = false;
		for (unsigned k = 0; k < n; k++) {
			const bool bad = check_random(&state) % 8 == 0;
			entry[k] = bad ? BAD[check_random(&state) % 3]
				       : GOOD[check_random(&state) % 5];
			ended |= bad;
			good += !ended;
			strcat(strcat(list, k > 0 ? "," : ""), entry[k]);
		}
		for (unsigned k = 0; k < n + 3; k++) {
			char text[512];
			devices_show(text, sizeof(text), list, k);
			CHECK(strcmp(text, k < good ? entry[k] : "-1") == 0,
			      "number %u of \"%s\": \"%s\"", k, list, text);
		}
	}
}

int main(void)
{
	lists();
	known();
	drawn();
	return check_report();
}
