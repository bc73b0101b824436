/* SPDX-License-Identifier: MIT */
/*
 * tensors: reasons why headers of safetensors files are refused, names, and the checks of
 * fuzz_tensors on a header that is cut and changed at every byte, from a seed.
 */
#include "fuzz/fuzz_tensors.c"

#include "check.h"

/* Return the fault of a header with this JSON; "": none. */
static const char *wrong(const char *json, struct tensors *t)
{
	static char why[HEADER_WHY];

	*t = (struct tensors){.text = strdup(json), .length = strlen(json)};
	CHECK((tensors_parse(t, why) == 0) == (why[0] == '\0'), "%s", why);
	return why;
}

static void all_tensors(void)
{
#define TENSOR(name, dtype, shape, offsets)                                                      \
	"\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets \
	"]}"
	static const char ONE[] = "{ \"__metadata__\":{\"a\":[{\"}\":[\"\\\"]\"]}]} , " TENSOR(
		"a", "I16", "1 , 2", "0,4") " }  ";
	static const char *const BAD[][2] = {
		{"{" TENSOR("a", "U8", "4", "6,2") "}",
		 "\"a\": byte 61: its data_offsets run backwards"},
		{"{" TENSOR("a", "U8", "4", "0,18446744073709551616") "}",
		 "byte 78: an offset is 18446744073709551616, not a whole number below 2^64"},
		{"{" TENSOR("a", "U8", "4", "0,") "}", "byte 58: expected a value, not ']'"},
		{"{" TENSOR("a", "U8", "4", "0") "}", "expected ',', not ']'"},
		{"{" TENSOR("a", "U8", "4", "0,4,4") "}", "expected ']', not ','"},
		{"{" TENSOR("a", "U8", "1", "18446744073709551610,18446744073709551611") "}",
		 "exceed 2^64"},
		{"{" TENSOR("a", "F4", "1", "1,18446744073709551615") "}", "exceed 2^64"},
		{"{" TENSOR("a", "F32", "2", "0,9") "}", "do not fit"},
		{"{" TENSOR("a", "F64", "4294967296,4294967296", "0,0") "}",
		 "its shape exceeds 2^64"},
		{"{" TENSOR("a", "F64", "3000000000,1000000000", "0,8") "}", "do not fit"},
		{"{" TENSOR("a", "U8", "-1", "0,1") "}", "a dimension is -1"},
		{"{" TENSOR("a", "U8", "2,", "0,2") "}", "expected a value, not ']'"},
		{"{" TENSOR("a", "U8", "02", "0,2") "}", "expected ',' or ']', not '2'"},
		{"{" TENSOR("a", "U8", "2", "00,2") "}", "expected ',', not '0'"},
		{"{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],}}",
		 "expected a name, not '}'"},
		{"{" TENSOR("a", "U8", "1", "0,1") ",}", "expected a name, not '}'"},
		{"{\"__metadata__\":," TENSOR("a", "U8", "1", "0,1") "}",
		 "\"__metadata__\": byte 25: expected a value, not ','"},
		{"{" TENSOR("a", "U8", "1", "1,2") "}", "before tensor \"a\" belong to no tensor"},
		{"{" TENSOR("b", "U8", "1", "2,3") "," TENSOR("a", "U8", "1", "0,1") "}",
		 "before tensor \"b\" belong to no tensor"},
		{"{" TENSOR("a", "U8", "1 1", "0,1") "}", "expected ',' or ']', not '1'"},
		{"{" TENSOR("a", "U8", "1", "0,1") "," TENSOR("a", "U8", "1", "1,2") "}",
		 "two tensors are called \"a\""},
		{"{" TENSOR("a", "U8", "1", "0,1") "," TENSOR("\\u0061", "U8", "1", "1,2") "}",
		 "two tensors are called \"a\""},
		{"{" TENSOR("c", "U8", "0", "5,5") "," TENSOR("b", "U8", "9", "4,13") "," TENSOR(
			 "a", "U8", "5", "0,5") "}",
		 "\"a\" and \"b\" share bytes"},
		{"{" TENSOR("a", "U8", "1", "0,1") TENSOR("b", "U8", "1", "1,2") "}",
		 "expected ',' or '}', not '\"'"},
		{"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "this member appears twice"},
		{"{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", "is missing"},
		{"{\"a\":{\"dtype\":8}}", "expected dtype as text, not '8'"},
		{"{\"a\":{\"dtype\":\"U8\",\"shape\":[\"1\"]}}", "a dimension is text"},
		{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1e0]}}", "a dimension is 1e0"},
		{"{\"a\":{\"b\":[1}]}}", "expected ',' or ']', not '}'"},
		{"{\"a\":{\"b\":{\"c\"]}}}", "expected ':', not ']'"},
		{"{\"a\":{\"b\":tru}}", "expected a value, not 't'"},
		{"{\"a\":{\"b\":[[[[[[[", "expected a value, but the input ends"},
		{"{\"__metadata__\":{\"b\":", "expected a value, but the input ends"},
		{"{" TENSOR("a", "U8", "1", "0,1") "}}", "expected the end, not '}'"},
		{"{" TENSOR("a", "U8", "1", "0,1"), "expected ',' or '}', but the input ends"},
		{"{\"a\nb\"", "expected the end of a text, not the byte 0x0a"},
		{"{\"a\\x\"", "byte 12: this backslash begins no escape"},
		{"{\"a\\", "this backslash begins no escape"},
		{"{\"\xff\"", "expected the end of a text, not the byte 0xff"},
		{"{{", "byte 10: expected a name, not '{'"},
		{"{\"a\" {", "expected ':', not '{'"},
		{"[", "byte 9: expected '{', not '['"},
		{"", "byte 9: expected '{', but the input ends"},
	};
	struct tensors t;

	CHECK(!*wrong(ONE, &t) && t.n == 1 && strcmp(t.of[0].shape, "1x2") == 0 &&
		      t.of[0].begin == 8 + strlen(ONE) && t.of[0].bytes == 4 &&
		      t.end == 12 + strlen(ONE),
	      "%zu tensors", t.n);
	tensors_free(&t);
	for (size_t n = 0; n < strlen(ONE) - 2; n++) { /* before its last brace */
		char *const cut = strndup(ONE, n);
		CHECK(*wrong(cut, &t), "%zu: %s", n, cut);
		tensors_free(&t);
		free(cut);
	}
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		const char *const why = wrong(BAD[i][0], &t);
		CHECK(strstr(why, BAD[i][1]), "%s: %s", BAD[i][0], why);
		tensors_free(&t);
	}
	/* A NUL and half of a surrogate pair keep their escapes; empty tensors share no byte. */
	const char *const why =
		wrong("{" TENSOR("\\u00e9\\ud83d\\ude00\\/", "U8", "4",
				 "0,4") "," TENSOR("\\u0000\\ud83d\\n\\u202e", "U8", "0,5",
						   "2,2") "," TENSOR("????", "U8", "0", "2,2") "}",
		      &t);
	CHECK(!*why && t.n == 3 && strcmp(t.of[0].name, "\xc3\xa9\xf0\x9f\x98\x80/") == 0 &&
		      strcmp(t.of[1].name, "\\u0000\\ud83d\n\xe2\x80\xae") == 0 &&
		      strcmp(t.of[1].shape, "0x5") == 0,
	      "%s: %zu, %s, %s", why, t.n, t.n > 0 ? t.of[0].name : "",
	      t.n > 1 ? t.of[1].name : "");
	tensors_free(&t);
}

/* Cut it anywhere, and change any byte to one that JSON uses, or to any. */
static void changed(void)
{
	static const char GOOD[] =
		"{\"__metadata__\":{\"a\":\"}\\\"\"}," TENSOR("a", "U8", "2,1", "2,4") "," TENSOR(
			"b\\u00e9", "F32", "", "4,8") "," TENSOR("c", "F4", "3", "0,2") "}  ",
			  MARKS[] = "{}[]:,\"\\ 0129ab";
	char text[sizeof(GOOD)] = "";
	uint64_t state = 0x74656e736f72;

	for (size_t i = 0; i < sizeof(GOOD); i++)
		for (unsigned k = 0; k < 40; k++) {
			memcpy(text, GOOD, sizeof(GOOD));
			const uint64_t random = check_random(&state) >> 20;
			text[i] =
				k < 20 ? MARKS[random % (sizeof(MARKS) - 1)] : (char)(random >> 8);
			if (k % 2)
				text[(random >> 16) % (sizeof(GOOD) - 1)] =
					MARKS[(random >> 30) % (sizeof(MARKS) - 1)];
			const size_t size = k % 4 == 3 ? i : sizeof(GOOD) - 1;
			uint8_t *const copy =
				malloc(size + (size == 0)); /* nothing after it may be read */
			memcpy(copy, text, size);
			CHECK(LLVMFuzzerTestOneInput(copy, size) == 0, "%zu, %u", i, k);
			free(copy);
		}
}

int main(void)
{
	all_tensors();
	changed();
	return check_report();
}
