/* SPDX-License-Identifier: MIT */
/*
 * json_numbers: each number of an array is the one that its text says, whichever way it was read.
 */
#include "document/json_read.h"

#include <math.h>

#include "bins/number.h"
#include "check.h"
#include "scratch.h"

static struct json_reader *numbers_of(const char *text)
{
	struct fail fail = {.status = STATUS_OK};
	struct json_reader *r;

	scratch_write("numbers", text, strlen(text));
	CHECK(json_open(&r, "numbers", &fail) == 0, "%s", fail.text);
	return r;
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
	char *const text = malloc(N * 64), *to = text;
	uint64_t seed = 3, n = 0;
	double *real = NULL;
	struct fail fail = {.status = STATUS_OK};

	for (unsigned i = 0; i < N; i++) {
		*to++ = i == 0 ? '[' : ',';
		right[i] = make_real(to, 60, &seed);
		to += strlen(to);
	}
	strcpy(to, "]");
	struct json_reader *r = numbers_of(text);
	CHECK(json_reals(r, &real, &n, N, &fail) == 0 && n == N, "%s", fail.text);
	for (unsigned i = 0; i < n; i++)
		CHECK(real[i] == right[i] && signbit(real[i]) == signbit(right[i]), "%a, not %a",
		      real[i], right[i]);
	free(real);
	json_close(r);
	r = numbers_of(text);
	CHECK(json_reals(r, &real, &n, N - 1, &fail) == -1 &&
		      strstr(fail.text, "an array of more than 99999 numbers"),
	      "%s", fail.text);
	json_close(r);
	free(text);
}

static void counts(void)
{
	enum { N = 100000 };
	static uint64_t right[N];
	char *const text = malloc(N * 32), *to = text;
	uint64_t seed = 4;
	struct json_counts got;
	struct fail fail = {.status = STATUS_OK};

	for (unsigned i = 0; i < N; i++) {
		const uint64_t how = check_random(&seed);
		right[i] =
			how % 5 == 0 ? UINT64_MAX - (how >> 60) : check_random(&seed) >> how % 64;
		to += sprintf(to, "%s%s%llu%s", i == 0 ? "[" : ",", how >> 40 & 7 ? "" : " ",
			      (unsigned long long)right[i],
			      how >> 44 & 15  ? ""
			      : how >> 48 & 1 ? "\n"
					      : ".0");
	}
	strcpy(to, "]");
	struct json_reader *r = numbers_of(text);
	CHECK(json_counts(r, &got, 0, N, &fail) == 0 && got.n == N && !got.odd &&
		      got.first == right[0],
	      "%s", fail.text);
	for (unsigned i = 1; i < got.n; i++)
		CHECK(got.rest[i - 1] == right[i], "number %u is %llu", i,
		      (unsigned long long)got.rest[i - 1]);
	free(got.rest);
	json_close(r);
	r = numbers_of(text);
	CHECK(json_counts(r, &got, 0, N - 1, &fail) == -1 &&
		      strstr(fail.text, "an array of more than"),
	      "%s", fail.text);
	json_close(r);
	free(text);
}

/* Among plain numbers, one that is no count, and where it is. */
static void odd(void)
{
	static const char *const NUMBERS[] = {"18446744073709551616", "99999999999999999999", "-1",
					      "1.5", "[2]"};

	for (int i = 0; i < 5; i++) {
		struct json_counts got;
		struct fail fail = {.status = STATUS_OK};
		char text[200];
		snprintf(text, sizeof(text),
			 "[1,2,%s,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]", NUMBERS[i]);
		struct json_reader *const r = numbers_of(text);
		CHECK(json_counts(r, &got, 50, 100, &fail) == 0 && got.odd && got.at == 5 &&
			      !got.rest,
		      "%s: %s", text, fail.text);
		json_close(r);
	}
}

/* Among plain numbers, what is none: in a word of eight bytes, at its end, past it. */
static void bad(void)
{
	static const char *const NUMBERS[] = {"01",
					      "00",
					      "007",
					      "0123456",
					      "01234567",
					      "012345678",
					      "0000000000000",
					      "1\x80",
					      "\xb1",
					      ("12\xb1"
					       "3"),
					      "123456\xb1",
					      "1:",
					      "/",
					      "123456:",
					      "1 2",
					      "",
					      "1234567\xac",
					      "+1"};

	for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++)
		for (int before = 0; before < 9; before++) {
			struct json_counts got;
			struct fail fail = {.status = STATUS_OK};
			char text[200];
			snprintf(text, sizeof(text),
				 "[1,2%.*s,%s,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]",
				 before, ",1,2,3,45", NUMBERS[i]);
			struct json_reader *const r = numbers_of(text);
			CHECK(json_counts(r, &got, 50, 100, &fail) == -1 &&
				      fail.status == STATUS_DATA,
			      "%s", text);
			json_close(r);
		}
}

int main(void)
{
	scratch_enter();
	reals();
	counts();
	odd();
	bad();
	scratch_leave();
	return check_report();
}
