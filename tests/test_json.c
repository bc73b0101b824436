/* SPDX-License-Identifier: MIT */
/*
 * json: each number of a list has the value of its text, whichever way it is read; texts are the
 * same wherever a read cuts them, and in memory.
 */
#include "format/json.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "bins/number.h"
#include "check.h"
#include "scratch.h"

/* Return the n numbers of a list, for the caller to free. NULL: *fail gives the reason. */
static void *numbers_of(const char *text, enum json_numbers what, size_t *n, struct fail *fail)
{
	struct json json;
	void *list;

	scratch_write("numbers", text, strlen(text));
	CHECK(json_open(&json, "numbers", fail) == 0, "%s", fail->text);
	list = json_list(&json, json_enter(&json, '[', fail), what, n, fail);
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
					  json_enter(&json, '{', &fail) > 0 &&
					  json_name(&json, &at, &fail) == 0;
			if (name)
				list = json_list(&json, json_enter(&json, '[', &fail), JSON_COUNTS,
						 &n, &fail);
			CHECK(list && n == 4 && memcmp(list, RIGHT, sizeof(RIGHT)) == 0 &&
				      strcmp(json.text + at + LONG, "a\u00e9\U0001f600\n") == 0,
			      "%zu bytes a piece: %s", piece, fail.text);
			free(list);
			CHECK(json_next(&json, &fail) > 0 && json_name(&json, &at, &fail) == 0 &&
				      json_plain(&json, &end, &fail) == 0 &&
				      json_next(&json, &fail) == 0 &&
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

/* ---- texts in memory ---- */

/* Append a value, of at most `depth` brackets in each other. */
static char *make_value(char *to, unsigned depth, uint64_t *seed)
{
	static const char *const PLAIN[] = {
		"0",
		"-12",
		"1.5e3",
		"true",
		"false",
		"null",
		"\"\"",
		"\"a b\"",
		"\"\\n\"",
		"\"\\u00e9\"",
		"\"\\ud83d\\ude00\"",
		"\"\\u0000\"",
		"\"\\ud83d\"",
		"\"\\udc80\"",
		"\"\u20ac{\"",
		"\"\\\\\\\"]\"",
		"18446744073709551615",
	};
	static const char *const SPACE[] = {"", "", "", " ", "\n", "\t\r "};
	const uint64_t how = check_random(seed) >> 8;
	const bool object = how & 1;

	to = stpcpy(to, SPACE[how / 4 % 6]);
	if (depth == 0 || (how >> 8) % 3 == 0)
		return stpcpy(stpcpy(to, PLAIN[(how >> 16) % (sizeof(PLAIN) / sizeof(*PLAIN))]),
			      SPACE[how / 64 % 6]);
	*to++ = object ? '{' : '[';
	for (uint64_t n = (how >> 16) % 4, i = 0; i < n; i++) {
		to = stpcpy(to, i > 0 ? "," : "");
		to = object ? stpcpy(to, i % 2 ? "\"na\\tme\":" : " \"\" :") : to;
		to = make_value(to, depth - 1, seed);
	}
	return stpcpy(to, object ? "}" : " ]");
}

/* Take all values and keep their texts. */
static int walk(struct json *r, struct fail *fail)
{
	const int open = json_peek(r, fail);
	size_t at;

	if (open != '{' && open != '[')
		return open < 0 ? -1 : json_plain(r, &at, fail);
	int more = json_enter(r, (char)open, fail);
	for (; more > 0; more = json_next(r, fail))
		if ((open == '{' && json_name(r, &at, fail) != 0) || walk(r, fail) != 0)
			return -1;
	return more;
}

/* A file, the same text in memory, and passing over it agree on texts and faults. */
static void check_memory(const char *text, int fd, const char *path)
{
	const size_t length = strlen(text);
	struct fail fail[3] = {{.status = STATUS_OK}};
	char *const copy[] = {strdup(text), strdup(text)};
	struct json file, memory, passed;
	int rc[3];

	CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, text, length, 0) == (ssize_t)length, "no file");
	CHECK(json_open(&file, path, &fail[0]) == 0, "%s", fail[0].text);
	json_memory(&memory, copy[0], length, 0);
	json_memory(&passed, copy[1], length, 0);
	rc[0] = walk(&file, &fail[0]) == 0 ? json_end(&file, &fail[0]) : -1;
	rc[1] = walk(&memory, &fail[1]) == 0 ? json_end(&memory, &fail[1]) : -1;
	rc[2] = json_skip(&passed, &fail[2]) == 0 ? json_end(&passed, &fail[2]) : -1;
	CHECK(rc[0] == rc[1] && rc[0] == rc[2], "%d, %d, %d: %s", rc[0], rc[1], rc[2], text);
	for (int i = 1; i < 3 && rc[0] != 0; i++)
		CHECK(strcmp(fail[0].text + strlen(path) + strlen(": "), fail[i].text) == 0,
		      "%s\n%s\n%s", text, fail[0].text, fail[i].text);
	CHECK(rc[0] != 0 || (file.used == memory.used &&
			     (file.used == 0 || memcmp(file.text, memory.text, file.used) == 0) &&
			     passed.used == 0),
	      "%s", text);
	json_close(&file);
	free(copy[0]);
	free(copy[1]);
}

static void memory(void)
{
	static const char MARKS[] = "{}[]:,\"\\ 019-.etu\x1f\x80";
	char text[4000] = "", *const nested = calloc(1, 2 * JSON_DEPTH + 3);
	const int fd = memfd_create("text", MFD_CLOEXEC);
	uint64_t seed = 5;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (unsigned i = 0; i < 6000; i++) {
		text[0] = '[';
		strcpy(make_value(text + 1, i % 5, &seed), "]");
		CHECK(strlen(text) < sizeof(text) / 2, "%zu", strlen(text));
		for (unsigned k = i % 3; k > 0; k--)
			text[(check_random(&seed) >> 20) % strlen(text)] =
				MARKS[(check_random(&seed) >> 20) % (sizeof(MARKS) - 1)];
		if (*text == '[' || *text == '{')
			check_memory(text, fd, path);
	}
	for (size_t deep = JSON_DEPTH; deep <= JSON_DEPTH + 1; deep++) {
		struct fail fail = {.status = STATUS_OK};
		struct json json;
		memset(nested, '[', deep);
		memset(nested + deep, ']', deep);
		check_memory(nested, fd, path);
		json_memory(&json, nested, 2 * deep, 0);
		CHECK((json_skip(&json, &fail) == 0) == (deep == JSON_DEPTH), "%zu: %s", deep,
		      fail.text);
	}
	free(nested);
	close(fd);
}

int main(void)
{
	scratch_enter();
	memory();
	reals();
	bad();
	make_document();
	pieces();
	scratch_leave();
	return check_report();
}
