/* sample: every name, what is no name, and the values of 16-bit floats. */
#include "sample.h"

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
	{"u8", "u1", "uint8", 1, SAMPLE_UNSIGNED, 0},    {"i8", "i1", "int8", 1, SAMPLE_SIGNED, 0},
	{"u16", "u2", "uint16", 2, SAMPLE_UNSIGNED, 0},  {"i16", "i2", "int16", 2, SAMPLE_SIGNED, 0},
	{"u24", "", "", 3, SAMPLE_UNSIGNED, 0},          {"i24", "", "", 3, SAMPLE_SIGNED, 0},
	{"u32", "u4", "uint32", 4, SAMPLE_UNSIGNED, 0},  {"i32", "i4", "int32", 4, SAMPLE_SIGNED, 0},
	{"u64", "u8", "uint64", 8, SAMPLE_UNSIGNED, 0},  {"i64", "i8", "int64", 8, SAMPLE_SIGNED, 0},
	{"f16", "f2", "float16", 2, SAMPLE_FLOAT, 10},   {"bf16", "", "", 2, SAMPLE_FLOAT, 7},
	{"f32", "f4", "float32", 4, SAMPLE_FLOAT, 23},   {"f64", "f8", "float64", 8, SAMPLE_FLOAT, 52},
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
		"", "u", "8", "be", "le", "<", ">", "|", "<u", "u1", "u2", "f8", "f4", "i4", "u12", "u128",
		"i0", "f128", "f8be", "U8", "u16BE", "u16xe", "u16bele", "u16be ", " u16", "u16le2",
		"<<u2", "><u2", "<u16", "<f32", ">f16", "|f3", "float", "int", "uint", "float128",
		"uint128", "float8", "bf", "bf32", "f16b", "double", "u16\n", "<u2be", "u8u8",
	};
	struct sample_type t;

	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		CHECK(sample_type_parse(&t, BAD[i]) == -1, "'%s' is taken", BAD[i]);
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
	limits();
	halves("f16");
	halves("bf16");
	sample_type_parse(&t, "f16");
	CHECK(sample_half(&t, 0x3c00) == 1 && sample_half(&t, 0x0001) == 0x1p-24 &&
	      sample_half(&t, 0x7bff) == 65504 && sample_half(&t, 0xc000) == -2, "known halves");
	return check_report();
}
