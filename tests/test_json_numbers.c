/* SPDX-License-Identifier: MIT */
/*
 * json_numbers: each number of an array is the one that its text says, whichever way it was read.
 */
#include "document/json_read.h"

#include <math.h>

#include "bins/number.h"
#include "check.h"
#include "scratch.h"

/*
 * The array of this name and text. NULL: *fail says why there is none. *r is the caller's to close.
 */
static struct json_value *numbers_of(struct json_reader **r, const char *name, const char *text,
				     struct fail *fail)
{
	FILE *const f = fopen("numbers", "w");

	fprintf(f, "{\"x\": {\"%s\": %s}}", name, text);
	fclose(f);
	CHECK(json_open(r, "numbers", fail) == 0, "%s", fail->text);
	char path[32];
	snprintf(path, sizeof(path), "x.%s", name);
	return json_next(*r, fail) == 1 ? json_find(*r, path) : NULL;
}

/* A number that is hard to round, or one that is not. */
static double make_real(char *text, size_t room, uint64_t *seed)
{
	const uint64_t how = check_random(seed);
	const double power = (double)(check_random(seed) >> 11) * 0x1p-53;
	uint64_t bits = check_random(seed);
	double x;

	memcpy(&x, &bits, sizeof(x));
	switch (how % 7) {
	case 0:
		snprintf(text, room, "%.17g", isfinite(x) ? x : 0);
		break;
	case 1: /* half way between two that are next to each other */
		bits = (uint64_t)1 << 52 | bits >> 12;
		snprintf(text, room, "%llu.5", (unsigned long long)bits);
		break;
	case 2:
		snprintf(text, room, "%llu.25",
			 (unsigned long long)((uint64_t)1 << 51 | bits >> 13));
		break;
	case 3:
		snprintf(text, room, "-%.*f", (int)(how >> 8) % 20, power);
		break;
	case 4:
		snprintf(text, room, "%llu", (unsigned long long)(bits >> how % 60));
		break;
	case 5:
		number_format(text, power * pow(10, (double)(how >> 8 & 15) - 6));
		break;
	default:
		snprintf(text, room, "%llu.%llu", (unsigned long long)(bits % 1000),
			 (unsigned long long)(bits >> 12));
	}
	return strtod(text, NULL);
}

static void reals(void)
{
	enum { N = 100000 };
	static double right[N];
	static const char *const GAPS[] = {"", " ", "\n", "\n            ", "\n\t\t", "\r\n  "};
	char *const text = malloc(N * 80), *to = text;
	uint64_t seed = 3;
	struct fail fail = {.status = STATUS_OK};
	struct json_reader *r;

	for (unsigned i = 0; i < N; i++) {
		to += sprintf(to, "%c%s", i == 0 ? '[' : ',', GAPS[i / 1000 % 6]);
		right[i] = make_real(to, 60, &seed);
		to += strlen(to);
	}
	strcpy(to, "]");
	const struct json_value *const got = numbers_of(&r, "edges", text, &fail);
	CHECK(got && got->kind == JSON_REALS && got->n == N, "%s", fail.text);
	for (unsigned i = 0; got && i < N; i++)
		CHECK(got->reals[i] == right[i] && signbit(got->reals[i]) == signbit(right[i]),
		      "%a, not %a", got->reals[i], right[i]);
	json_close(r);
	free(text);
}

/* As gpuhist writes them, and as tools do that indent or have doubles. */
static void counts(void)
{
	enum { N = 100000 };
	static uint64_t right[N];
	static const char *const GAPS[] = {"", " ", "\n", "\n                ", "\n\t\t\t"};
	char *const text = malloc(N * 64), *to = text;
	uint64_t seed = 4;
	struct fail fail = {.status = STATUS_OK};
	struct json_reader *r;

	for (unsigned i = 0; i < N; i++) {
		const uint64_t how = check_random(&seed);
		right[i] =
			how % 5 == 0 ? UINT64_MAX - (how >> 60) : check_random(&seed) >> how % 64;
		to += sprintf(to, "%s%s%llu%s", i == 0 ? "[" : ",",
			      GAPS[(i / 1000 + !(how >> 40 & 63)) % 5],
			      (unsigned long long)right[i],
			      i / 5000 % 2     ? ".0"
			      : how >> 44 & 15 ? ""
			      : how >> 48 & 1  ? "\n"
					       : ".0");
	}
	strcpy(to, "]");
	const struct json_value *const got = numbers_of(&r, "values", text, &fail);
	CHECK(got && got->kind == JSON_COUNTS && got->n == N && got->first == right[0], "%s",
	      fail.text);
	for (unsigned i = 1; got && i < N; i++)
		CHECK(got->counts[i - 1] == right[i], "number %u is %llu", i,
		      (unsigned long long)got->counts[i - 1]);
	json_close(r);
	free(text);
}

/*
 * Among plain numbers, what is no count, or no number: in a word of eight bytes, at its end, past
 * it.
 */
static void bad(void)
{
	static const char *const NUMBERS[] = {"18446744073709551616",
					      "99999999999999999999",
					      "-1",
					      "1.5",
					      "1.05",
					      "1.00.",
					      "1.0.",
					      "1.",
					      "12345678.5",
					      "[2]",
					      "null",
					      "\"1\"",
					      "01",
					      "00",
					      "007",
					      "0123456",
					      "01234567",
					      "012345678",
					      "00.0",
					      "0000000000000",
					      "1\x80",
					      "\xb1",
					      "1:",
					      ("12\xb1"
					       "3"),
					      "123456\xb1",
					      "/",
					      "+1",
					      "123456:",
					      "1 2",
					      "",
					      "\v1",
					      "1234567\xac"};

	for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++)
		for (int before = 0; before < 9; before++) {
			struct fail fail = {.status = STATUS_OK};
			struct json_reader *r;
			char text[200];
			snprintf(text, sizeof(text),
				 "[1,2%.*s,%s,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]",
				 before, ",1,2,3,45", NUMBERS[i]);
			CHECK(!numbers_of(&r, "values", text, &fail) && fail.status == STATUS_DATA,
			      "%s", text);
			json_close(r);
		}
}

int main(void)
{
	scratch_enter();
	reals();
	counts();
	bad();
	scratch_leave();
	return check_report();
}
