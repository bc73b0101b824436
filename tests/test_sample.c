/* SPDX-License-Identifier: MIT */
/* sample: names of types, and those that are refused. */
#include "bins/sample.h"

#include <string.h>

#include "check.h"

/* Does the text name the type `name`, and a pair of them? */
static void expect(const char *text, const char *name, bool pair)
{
	struct sample_type t;
	bool is_pair = !pair;

	memset(&t, 0xff, sizeof(t));
	CHECK(sample_type_named(&t, &is_pair, text) == 0, "'%s' is refused", text);
	CHECK(strcmp(t.name, name) == 0 && is_pair == pair, "'%s' is %s%s", text,
	      is_pair ? "a pair of " : "", t.name);
	CHECK((sample_type_parse(&t, text) == 0) == (strcmp(text, name) == 0 && !pair), "'%s'",
	      text);
}

/* Check the names in other tools, each with ours. */
static void other_names(bool pair, const char *list)
{
	char text[1024], *rest = text;

	snprintf(text, sizeof(text), "%s", list);
	for (char *name; (name = strsep(&rest, ";")) != NULL;) {
		char *const other = strsep(&name, " ");
		expect(other, name, pair);
	}
}

static const char SINGLE[] =
	"|u1 u8;<u1 u8;>i1 i8;<u2 u16;=u2 u16;>u2 u16be;<i4 i32;<u8 u64;>i8 i64be;"
	">u3 u24be;<f2 f16;>f4 f32be;<f8 f64;uint8 u8;int16 i16;float16 f16;"
	"float32 f32;float64 f64;bfloat16 bf16;UInt16 u16;Float32 f32;uint8_t u8;"
	"int64_t i64;uint16_t_be u16be;float64_be f64be;half f16;float f32;"
	"double f64;double_be f64be;short i16;ushort u16;ru8 u8;ri16_le i16;"
	"rf32_be f32be;ru64_be u64be;s8 i8;s16 i16;s16le i16;s24be i24be;f32be f32be;"
	"f64le f64;S16_LE i16;FLOAT_LE f32;pcm_s24le i24;pcm_f32be f32be;pcm_u8 u8;"
	"u2bit_be u2bitbe;U4BIT u4bit;float8_e4m3fn f8e4m3;float8_e5m2 f8e5m2;"
	"F8_E4M3 f8e4m3;F8_E5M2 f8e5m2;Mono12p u12bit;mono10p u10bit";
static const char PAIRS[] =
	"cf32 f32;cf32_le f32;cf64_be f64be;ci16_le i16;ci8 i8;cu8 u8;cs8 i8;"
	"CS16 i16;sc16 i16;fc32 f32;cf16 f16;complex64 f32;complex128 f64;<c8 f32;"
	">c16 f64be";

/* A name with two meanings is refused, and the message gives both; an unknown one, the list. */
static void refusals(void)
{
	static const char *const TWO[][3] = {
		{"u1", "u8 ", "u1bit"},      {"i1", "i8 ", "|i1"},     {"u2", "u16 ", "<u2"},
		{"u4", "u32 ", "<u4"},       {"i2", "i16 ", "<i2"},    {"i4", "<i4", "i4bit"},
		{"f2", "f16 ", "<f2"},       {"f4", "f32 ", "<f4"},    {"f8", "f64 ", "<f8"},
		{"f8be", "f64 ", "f8e4m3"},  {"U2_LE", "u16 ", "<u2"}, {"c8", "cf32", "ci8"},
		{"c16", "cf64", "ci16"},     {"long", "i64", "i32"},   {"ulong", "u64", "u32"},
		{"char", "u8", "i8"},        {"S24_LE", "i24", "i32"}, {"u24_be", "u24", "u32"},
		{"int", "i32", "i64"},       {"uint", "u32", "u64"},   {"u12", "u16 ", "u12bit"},
		{"i14be", "i16 ", "i14bit"},
	};
	char none[] =
		";u;8;be;le;<;>;|;<u;f4be8;u13;u128;i0;u08;u016;f128;f8x;u16xe;u16bele;"
		"u16be ; u16;u16le2;<<u2;><u2;<u16;<f32;>f16;|f3;<U2;<S2;<s2;<ru1;<c4;<f1;"
		"<u0;float128;uint128;bf;bf32;f16b;u16\n;<u2be;u8u8;c;cf;cf12;cbf16;complex;"
		"s;s12;pcm_;_t;f_t;u8_t;_be;doub;u8 be;rbf16;fc8;complex32;"
		"u99999999999999999999;a name that is much longer than any type's is;"
		"\377\377";
	char *rest = none;
	struct sample_type t;
	bool pair;

	for (size_t i = 0; i < sizeof(TWO) / sizeof(TWO[0]); i++) {
		const char *const why = sample_type_refused(TWO[i][0]);
		CHECK(sample_type_named(&t, &pair, TWO[i][0]) == -1, "'%s' is taken", TWO[i][0]);
		CHECK(strncmp(why, "has two meanings: ", 18) == 0 && strstr(why, TWO[i][1]) &&
			      strstr(why, TWO[i][2]),
		      "'%s': %s", TWO[i][0], why);
	}
	for (const char *name; (name = strsep(&rest, ";")) != NULL;) {
		const char *const why = sample_type_refused(name);
		CHECK(sample_type_named(&t, &pair, name) == -1, "'%s' is taken", name);
		CHECK(strncmp(why, "is not a known type; ", 21) == 0, "'%s': %s", name, why);
	}
}

int main(void)
{
	other_names(false, SINGLE);
	other_names(true, PAIRS);
	refusals();
	return check_report();
}
