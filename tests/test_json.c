/* SPDX-License-Identifier: MIT */
/*
 * json: each number of a list has the value of its text, whichever way it is read; texts are the
 * same wherever a read cuts them.
 */
#include "format/json.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bins/number.h"
#include "check.h"
#include "scratch.h"

/* Return the n numbers of a list, for the caller to free. NULL: *fail gives the reason. */
static void *numbers_of(const char *text, enum json_numbers what, size_t *n, struct fail *fail)
{
	struct json json;
	void *list = NULL;

	scratch_write("numbers", text, strlen(text));
	CHECK(json_open(&json, "numbers", fail) == 0, "%s", fail->text);
	if (json_mark(&json, "[", fail) == '[')
		list = json_list(&json, what, n, fail);
	CHECK(!list || (json_begin(&json, fail) == 0), "no end");
	json_close(&json);
	return list;
}

/* Make a number that is hard to round, or an easy one. */
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
	size_t n;

	for (unsigned i = 0; i < N; i++) {
		to += sprintf(to, "%c%s", i == 0 ? '[' : ',', GAPS[i / 1000 % 6]);
		right[i] = make_real(to, 60, &seed);
		to += strlen(to);
	}
	strcpy(to, "]");
	double *const got = numbers_of(text, JSON_REALS, &n, &fail);
	CHECK(got && n == N, "%s", fail.text);
	for (unsigned i = 0; got && i < N; i++)
		CHECK(got[i] == right[i] && signbit(got[i]) == signbit(right[i]), "%a, not %a",
		      got[i], right[i]);
	free(got);
	free(text);
}

/*
 * Texts among plain numbers that are not counts, or not numbers: in a word of eight bytes, at its
 * end, past it.
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
			size_t n;
			char text[200];
			snprintf(text, sizeof(text),
				 "[1,2%.*s,%s,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]",
				 before, ",1,2,3,45", NUMBERS[i]);
			CHECK(!numbers_of(text, JSON_COUNTS, &n, &fail) &&
				      fail.status == STATUS_DATA,
			      "%s", text);
		}
}

/* ---- texts in pieces ---- */

/* A name with more bytes than the reader looks ahead, and text that may be cut anywhere. */
enum { LONG = 500, LENGTH = LONG + 60 };
static char document[LENGTH + 1];

static void make_document(void)
{
	const int n =
		snprintf(document, sizeof(document),
			 "{\"%*sa\\u00e9\\ud83d\\ude00\\n\" :\t[1,22 ,333,4444], \"b\": -12.5e-3}",
			 LONG, "");

	memset(document + n, '\n', (size_t)(LENGTH - n));
}

enum { TIMES = 4 };

struct writer {
	int fd;
	size_t piece;
};

static void *write_pieces(void *arg)
{
	const struct writer *const w = arg;

	for (size_t k = 0; k < TIMES; k++)
		for (size_t at = 0; at < (size_t)LENGTH; at += w->piece) {
			const size_t rest = (size_t)LENGTH - at;
			if (write(w->fd, document + at, rest < w->piece ? rest : w->piece) <= 0)
				return NULL;
		}
	close(w->fd);
	return NULL;
}

static void pieces(void)
{
	static const uint64_t RIGHT[] = {1, 22, 333, 4444};
	const int saved = dup(STDIN_FILENO);

	signal(SIGPIPE, SIG_IGN);
	for (size_t piece = 1; piece < 99; piece++) {
		struct fail fail = {.status = STATUS_OK};
		struct json json;
		pthread_t thread;
		int fds[2];
		CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0, "no pair");
		struct writer w = {fds[1], piece};
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		pthread_create(&thread, NULL, write_pieces, &w);
		CHECK(json_open(&json, "-", &fail) == 0, "%s", fail.text);
		for (size_t k = 0; k < TIMES; k++) {
			size_t at = 0, end = 0, n = 0;
			uint64_t *list = NULL;
			const bool name = json_begin(&json, &fail) == 1 &&
					  json_mark(&json, "{", &fail) > 0 &&
					  json_plain(&json, &at, &fail) == 0 &&
					  json_mark(&json, ":", &fail) > 0 &&
					  json_mark(&json, "[", &fail) > 0;
			if (name)
				list = json_list(&json, JSON_COUNTS, &n, &fail);
			CHECK(list && n == 4 && memcmp(list, RIGHT, sizeof(RIGHT)) == 0 &&
				      strcmp(json.text + at + LONG, "a\u00e9\U0001f600\n") == 0,
			      "%zu bytes a piece: %s", piece, fail.text);
			free(list);
			CHECK(json_mark(&json, ",", &fail) > 0 &&
				      json_plain(&json, &at, &fail) == 0 &&
				      json_mark(&json, ":", &fail) > 0 &&
				      json_plain(&json, &end, &fail) == 0 &&
				      json_mark(&json, ",}", &fail) == '}' &&
				      strcmp(json.text + end, "-12.5e-3") == 0,
			      "%zu bytes a piece: %s", piece, fail.text);
		}
		CHECK(json_begin(&json, &fail) == 0, "no end");
		json_close(&json);
		/* Close the reader's end, so that a writer that still writes ends. */
		dup2(saved, STDIN_FILENO);
		pthread_join(thread, NULL);
	}
	close(saved);
}

int main(void)
{
	scratch_enter();
	reals();
	bad();
	make_document();
	pieces();
	scratch_leave();
	return check_report();
}
