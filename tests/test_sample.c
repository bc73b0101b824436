/* SPDX-License-Identifier: MIT */
/* sample: every name of a type, names that are refused, and the values of 16-bit floats. */
#include "bins/sample.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "check.h"

static const struct {
	const char *name, *code, *word; /* ours, NumPy's; "" where NumPy has none */
	uint32_t bytes;
	enum sample_kind kind;
	uint32_t mantissa;
} TYPES[] = {
	{"u8", "u1", "uint8", 1, SAMPLE_UNSIGNED, 0},
	{"i8", "i1", "int8", 1, SAMPLE_SIGNED, 0},
	{"u16", "u2", "uint16", 2, SAMPLE_UNSIGNED, 0},
	{"i16", "i2", "int16", 2, SAMPLE_SIGNED, 0},
	{"u24", "", "", 3, SAMPLE_UNSIGNED, 0},
	{"i24", "", "", 3, SAMPLE_SIGNED, 0},
	{"u32", "u4", "uint32", 4, SAMPLE_UNSIGNED, 0},
	{"i32", "i4", "int32", 4, SAMPLE_SIGNED, 0},
	{"u64", "u8", "uint64", 8, SAMPLE_UNSIGNED, 0},
	{"i64", "i8", "int64", 8, SAMPLE_SIGNED, 0},
	{"f16", "f2", "float16", 2, SAMPLE_FLOAT, 10},
	{"bf16", "", "", 2, SAMPLE_FLOAT, 7},
	{"f32", "f4", "float32", 4, SAMPLE_FLOAT, 23},
	{"f64", "f8", "float64", 8, SAMPLE_FLOAT, 52},
};
#define TYPE_COUNT (sizeof(TYPES) / sizeof(TYPES[0]))

/* Does text parse to TYPES[i], big endian or not? One byte has no order. */
static void expect(const char *before, const char *name, const char *after, size_t i, bool big)
{
	char text[32], shown[16];
	struct sample_type t;

	snprintf(text, sizeof(text), "%s%s%s", before, name, after);
	big = big && TYPES[i].bytes > 1;
	snprintf(shown, sizeof(shown), "%s%s", TYPES[i].name, big ? "be" : "");
	memset(&t, 0xff, sizeof(t));
	CHECK(sample_type_parse(&t, text) == 0, "'%s' is refused", text);
	CHECK(t.bytes == TYPES[i].bytes && t.kind == TYPES[i].kind, "'%s'", text);
	CHECK(t.mantissa == TYPES[i].mantissa && t.big == big, "'%s'", text);
	CHECK(strcmp(t.name, shown) == 0, "'%s' is called %s", text, t.name);
}

static void names(void)
{
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		expect("", TYPES[i].name, "", i, false);
		expect("", TYPES[i].name, "le", i, false);
		expect("", TYPES[i].name, "be", i, true);
		if (TYPES[i].code[0] != '\0') {
			expect("<", TYPES[i].code, "", i, false);
			expect("=", TYPES[i].code, "", i, false);
			expect(">", TYPES[i].code, "", i, true);
			expect("", TYPES[i].word, "", i, false);
		}
		if (TYPES[i].bytes == 1)
			expect("|", TYPES[i].code, "", i, false);
	}
}

static void refusals(void)
{
	static const char *const BAD[] = {
		"",      "u",      "8",     "be",       "le",      "<",      ">",       "|",
		"<u",    "u1",     "u2",    "f8",       "f4",      "i4",     "u12",     "u128",
		"i0",    "f128",   "f8be",  "U8",       "u16BE",   "u16xe",  "u16bele", "u16be ",
		" u16",  "u16le2", "<<u2",  "><u2",     "<u16",    "<f32",   ">f16",    "|f3",
		"float", "int",    "uint",  "float128", "uint128", "float8", "bf",      "bf32",
		"f16b",  "double", "u16\n", "<u2be",    "u8u8",
	};
	struct sample_type t;

	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		CHECK(sample_type_parse(&t, BAD[i]) == -1, "'%s' is taken", BAD[i]);
}

/* A type's name in another tool is answered with a name that is valid here. */
static void hints(void)
{
	static const struct {
		const char *text, *use;
	} KNOWN[] = {
		{"float", "f32"},
		{"single", "f32"},
		{"double", "f64"},
		{"half", "f16"},
		{"Float32", "f32"},
		{"U8", "u8"},
		{"UINT16", "u16"},
		{"u16BE", "u16be"},
		{"I24le", "i24"},
		{"s8", "i8"},
		{"s16", "i16"},
		{"s24be", "i24be"},
		{"S16_LE", "i16"},
		{"pcm_s16be", "i16be"},
		{"pcm_f32le", "f32"},
		{"pcm_u8", "u8"},
		{"uint8_t", "u8"},
		{"int64_t", "i64"},
		{"uint16_be", "u16be"},
		{"u64be_be", "u64be"},
		{"rf32_le", "f32"},
		{"ri16_be", "i16be"},
		{"ru8", "u8"},
		{"f4", "f32"},
		{"u1", "u8"},
		{"u2", "u16"},
		{"i4", "i32"},
		{"f8be", "f64be"},
		{"d", "f64"},
		{"f", "f32"},
		{"H", "u16"},
		{"h", "i16"},
		{"Q", "u64"},
		{">d", "f64be"},
		{"<f", "f32"},
		{"<u16", "u16"},
		{">u16", "u16be"},
		{">f32", "f32be"},
		{"|u8be", "u8"},
		{"short", "i16"},
		{"int", "i32"},
		{"uint", "u32"},
		{"unsigned", "u32"},
		{"long", "i64"},
		{"byte", "u8"},
		{"uchar", "u8"},
		{"bool", "u8"},
		{"x4", "u32"},
		{"d2", "i16"},
		{"fD", "f64"},
		{"s16be", "i16be"},
		{"u8BE", "u8"},
		{"cf32", "f32"},
		{"cf32_be", "f32be"},
		{"ci16_le", "i16"},
		{"cu8", "u8"},
		{"cs8", "i8"},
		{"CS16", "i16"},
		{"fc32", "f32"},
		{"sc16", "i16"},
		{"complex64", "f32"},
		{"complex128", "f64"},
		{"c8", "f32"},
		{"<c16", "f64"},
		{"f32x", "f32"},
		{"u16\n", "u16"},
		{"flaot32", "f32"},
		{"unit16", "u16"},
		{"long long", "i64"},
		{"Unsigned int", "u32"},
		{"unsigned char", "u8"},
		{"u61", "u16"},
		{"float46be", "f64be"},
		{"unsinged", "u32"},
		{"dobule", "f64"},
	};
	static const char *const NONE[] = {
		"",         "u",        "u12",     "s12",
		"be",       "_be",      "l",       "L",
		"c",        "cf",       "cf12",    "x3",
		"<",        "float128", "u128",    "a name that is much longer than any type's is",
		"\377\377", "r",        "rf",      "pcm_",
		"_t",       "sc",       "fc7",     "s",
		"f23x",     "int12",    "float31", "unsinged12",
		"u46be6"};

	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
		char hint[SAMPLE_HINT], wanted[64];
		struct sample_type t;
		sample_type_hint(hint, KNOWN[i].text);
		const int n =
			snprintf(wanted, sizeof(wanted), "unknown type; use %s", KNOWN[i].use);
		CHECK(strncmp(hint, wanted, (size_t)n) == 0 &&
			      (hint[n] == '\0' || strchr(" ,", hint[n])),
		      "'%s': %s", KNOWN[i].text, hint);
		CHECK(strlen(hint) < SAMPLE_HINT - 1, "'%s': cut", KNOWN[i].text);
		CHECK(sample_type_parse(&t, KNOWN[i].use) == 0 &&
			      sample_type_parse(&t, KNOWN[i].text) != 0,
		      "'%s'", KNOWN[i].text);
		const bool complex = strchr("cfsCFS<", KNOWN[i].text[0]) &&
				     strpbrk(KNOWN[i].text, "cC") &&
				     strcmp(KNOWN[i].text, "pcm_u8") != 0;
		CHECK((strstr(hint, "complex") != NULL) == complex, "'%s': %s", KNOWN[i].text,
		      hint);
	}
	for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++) {
		char hint[SAMPLE_HINT];
		sample_type_hint(hint, NONE[i]);
		CHECK(strncmp(hint, "unknown type; the types are u8 ", 31) == 0 &&
			      strlen(hint) < SAMPLE_HINT - 1,
		      "'%s': %s", NONE[i], hint);
		/* The list of types is that of the table. */
		for (size_t k = 0; k < TYPE_COUNT; k++)
			CHECK(strstr(hint, TYPES[k].name), "%s is not listed", TYPES[k].name);
	}
	char hint[SAMPLE_HINT];
	sample_type_hint(hint, "f4");
	CHECK(strstr(hint, "<f4"), "NumPy's code: %s", hint);
	sample_type_hint(hint, "f8be");
	CHECK(strstr(hint, ">f8"), "NumPy's code: %s", hint);
}

static void limits(void)
{
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		struct sample_type t;
		sample_type_parse(&t, TYPES[i].name);
		if (t.kind == SAMPLE_FLOAT)
			continue;
		int128_t values = 1;
		for (uint32_t k = 0; k < t.bytes; k++)
			values *= 256;
		const int128_t min = t.kind == SAMPLE_SIGNED ? -(values / 2) : 0;
		CHECK(sample_min(&t) == min, "%s", t.name);
		CHECK(sample_max(&t) == min + values - 1, "%s", t.name);
	}
	struct sample_type t;
	sample_type_parse(&t, "f32");
	CHECK(sample_max_finite(&t) == (double)FLT_MAX, "f32");
	sample_type_parse(&t, "f64");
	CHECK(sample_max_finite(&t) == DBL_MAX, "f64");
}

/* By definition: (-1)^s 2^(e-bias) 1.m, or 2^(1-bias) 0.m, with powers of two multiplied out. */
static double half_by_hand(uint32_t code, int mantissa_bits)
{
	const int exponent_bits = 15 - mantissa_bits, all_ones = (1 << exponent_bits) - 1;
	const int exponent = (int)(code >> mantissa_bits) & all_ones;
	double x = 0, bit = 0.5;

	for (int k = mantissa_bits - 1; k >= 0; k--, bit /= 2)
		x += code >> k & 1 ? bit : 0;
	if (exponent == all_ones)
		return x != 0 ? (double)NAN : code >> 15 ? -(double)INFINITY : (double)INFINITY;
	int power = (exponent ? exponent : 1) - all_ones / 2;
	x += exponent ? 1 : 0;
	for (; power > 0; power--)
		x *= 2;
	for (; power < 0; power++)
		x /= 2;
	return code >> 15 ? -x : x;
}

static void halves(const char *name)
{
	struct sample_type t;
	double most = 0;

	sample_type_parse(&t, name);
	for (uint32_t code = 0; code < 65536; code++) {
		const double x = sample_half(&t, code), y = half_by_hand(code, (int)t.mantissa);
		CHECK(isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y),
		      "%s %04x: %a, not %a", name, code, x, y);
		if (isfinite(x) && x > most)
			most = x;
	}
	CHECK(most == sample_max_finite(&t), "%s: the largest is %a", name, most);
	/* bfloat16 is the upper half of a float. */
	for (uint32_t code = 0; t.mantissa == 7 && code < 65536; code++) {
		const uint32_t bits = code << 16;
		float f;
		memcpy(&f, &bits, sizeof(f));
		const double x = sample_half(&t, code);
		CHECK(isnan(f) ? isnan(x) : x == (double)f, "bf16 %04x", code);
	}
}

int main(void)
{
	struct sample_type t;

	names();
	refusals();
	hints();
	limits();
	halves("f16");
	halves("bf16");
	sample_type_parse(&t, "f16");
	CHECK(sample_half(&t, 0x3c00) == 1 && sample_half(&t, 0x0001) == 0x1p-24 &&
		      sample_half(&t, 0x7bff) == 65504 && sample_half(&t, 0xc000) == -2,
	      "known halves");
	return check_report();
}
