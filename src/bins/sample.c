/* SPDX-License-Identifier: MIT */
/* sample: the list of types, their names here and in other tools, their values. */
#include "bins/sample.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/binning.h"

/* name, bits, kind, mantissa bits */
static const struct {
	const char *name;
	uint32_t bits;
	enum sample_kind kind;
	uint32_t mantissa;
} TYPES[] = {
	{"u8", 8, SAMPLE_UNSIGNED, 0},      {"i8", 8, SAMPLE_SIGNED, 0},
	{"u16", 16, SAMPLE_UNSIGNED, 0},    {"i16", 16, SAMPLE_SIGNED, 0},
	{"u24", 24, SAMPLE_UNSIGNED, 0},    {"i24", 24, SAMPLE_SIGNED, 0},
	{"u32", 32, SAMPLE_UNSIGNED, 0},    {"i32", 32, SAMPLE_SIGNED, 0},
	{"u64", 64, SAMPLE_UNSIGNED, 0},    {"i64", 64, SAMPLE_SIGNED, 0},
	{"f16", 16, SAMPLE_FLOAT, 10},      {"bf16", 16, SAMPLE_FLOAT, 7},
	{"f32", 32, SAMPLE_FLOAT, 23},      {"f64", 64, SAMPLE_FLOAT, 52},
	{"u1bit", 1, SAMPLE_UNSIGNED, 0},   {"u2bit", 2, SAMPLE_UNSIGNED, 0},
	{"u4bit", 4, SAMPLE_UNSIGNED, 0},   {"i2bit", 2, SAMPLE_SIGNED, 0},
	{"i4bit", 4, SAMPLE_SIGNED, 0},     {"f8e4m3", 8, SAMPLE_FLOAT, 3},
	{"f8e5m2", 8, SAMPLE_FLOAT, 2},     {"u10bit", 10, SAMPLE_UNSIGNED, 0},
	{"u12bit", 12, SAMPLE_UNSIGNED, 0}, {"u14bit", 14, SAMPLE_UNSIGNED, 0},
	{"i10bit", 10, SAMPLE_SIGNED, 0},   {"i12bit", 12, SAMPLE_SIGNED, 0},
	{"i14bit", 14, SAMPLE_SIGNED, 0},
};

/* Make the type with this name, which has no byte order. Samples of 8 bits are never `big`. */
static int find_type(struct sample_type *type, const char *name, bool big)
{
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
		if (strcmp(TYPES[i].name, name) != 0)
			continue;
		*type = (struct sample_type){
			.bits = TYPES[i].bits,
			.code_bytes = (TYPES[i].bits + 7) / 8,
			.kind = TYPES[i].kind,
			.mantissa = TYPES[i].mantissa,
			.big = big && TYPES[i].bits != 8,
		};
		snprintf(type->name, sizeof(type->name), "%s%s", TYPES[i].name,
			 type->big ? "be" : "");
		return 0;
	}
	return -1;
}

int sample_type_parse(struct sample_type *type, const char *text)
{
	char base[sizeof(type->name)];
	struct sample_type found;
	bool pair = text[0] == '|' && text[1] == 'c';

	if (text[0] == '|') {
		snprintf(base, sizeof(base), "%.*s", (int)strcspn(text + 1 + pair, "|"),
			 text + 1 + pair);
		if (sample_type_parse(&found, base) != 0 || sample_type_abs(&found, pair) != NULL ||
		    strcmp(found.name, text) != 0)
			return -1;
		*type = found;
		return 0;
	}
	snprintf(base, sizeof(base), "%.*s", (int)strcspn(text, "&"), text);
	if (sample_type_named(&found, &pair, base) != 0)
		return -1;
	if (strchr(text, '&') &&
	    sample_type_mask(&found, (uint32_t)strtoul(strchr(text, '&') + 1, NULL, 16)) != NULL)
		return -1;
	if (strcmp(found.name, text) != 0)
		return -1;
	*type = found;
	return 0;
}

const char *sample_type_mask(struct sample_type *type, uint32_t mask)
{
	const uint32_t low = mask > 0 ? (uint32_t)__builtin_ctz(mask) : 0;
	const size_t used = strlen(type->name);

	if (type->kind == SAMPLE_FLOAT || (type->bits != 8 && type->bits != 16))
		return "only integers of 8 and 16 bits have bits to mask";
	if (mask == 0 || (mask >> low & ((mask >> low) + 1)) != 0)
		return "its bits must be neighbours, such as 0xfff or 0x3000";
	if (mask >> type->bits > 0)
		return "the samples have fewer bits";
	if (mask == (1u << type->bits) - 1)
		return NULL;
	type->word = type->bits;
	type->low = low;
	type->bits = (uint32_t)__builtin_popcount(mask);
	snprintf(type->name + used, sizeof(type->name) - used, "&0x%x", mask);
	return NULL;
}

const char *sample_type_abs(struct sample_type *type, bool pair)
{
	const uint32_t word = type->word > 0 ? type->word : type->bits;
	struct sample_type made = *type;

	if (word % 8 > 0 ||
	    (!pair && type->kind != SAMPLE_FLOAT && (type->kind != SAMPLE_SIGNED || word > 16)))
		return "it takes floats, signed integers of 8 and 16 bits, and complex samples";
	if (pair) {
		(void)sample_type_parse(&made, "f64");
		made.word = 2 * word;
	} else if (type->code_bytes <= 2) {
		made.word = word;
		made.big = false; /* words have the byte order */
		made.kind = type->kind == SAMPLE_FLOAT ? SAMPLE_FLOAT : SAMPLE_UNSIGNED;
	}
	made.abs = true;
	snprintf(made.name, sizeof(made.name), "|%s%.12s|", pair ? "c" : "", type->name);
	*type = made;
	return NULL;
}

struct sample_type sample_type_signed(const struct sample_type *type)
{
	struct sample_type own = *type;
	char name[sizeof(own.name)];
	const unsigned bars = 1 + sample_is_magnitude(type);

	if (!type->abs)
		return own;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(type->name + bars, "|"),
		 type->name + bars);
	(void)sample_type_parse(&own, name);
	own.binned = type->binned;
	return own;
}

struct sample_type sample_type_word(const struct sample_type *type)
{
	struct sample_type word = sample_type_signed(type);

	if (word.word > 0) {
		word.bits = word.word;
		word.word = word.low = 0;
		word.name[strcspn(word.name, "&")] = '\0';
	}
	return word;
}

struct sample_type sample_type_counted(const struct sample_type *type)
{
	struct sample_type counted = *type;

	if (!type->binned)
		return counted;
	if (type->kind == SAMPLE_FLOAT)
		(void)sample_type_parse(&counted, "f32");
	counted.code_bytes = 4;
	counted.big = false;
	return counted;
}

uint32_t sample_of_code(const struct sample_type *type, const struct sample_type *word,
			uint32_t code)
{
	const uint32_t own = sample_swapped(word, code);

	return type->word > 0 ? sample_masked(type, own) : own;
}

uint32_t sample_widened(const struct sample_type *type, const struct sample_type *word,
			uint32_t code)
{
	const uint32_t own = sample_of_code(type, word, code);

	return type->kind == SAMPLE_FLOAT ? bits_of_float((float)sample_value(type, own)) : own;
}

/* ---- names in other tools ---- */

#define WORD 24 /* a longer text is not a type's name */

/* Byte orders that may follow a name. */
static const char *const ORDERS[] = {"", "le", "be", "_le", "_be"};

/* Names from C, NumPy, ml_dtypes and safetensors. */
static const char *const WORDS[][2] = {
	{"half", "f16"},
	{"float", "f32"},
	{"double", "f64"},
	{"short", "i16"},
	{"ushort", "u16"},
	{"complex64", "cf32"},
	{"complex128", "cf64"},
	{"float8_e4m3fn", "f8e4m3"},
	{"float8_e5m2", "f8e5m2"},
	{"f8_e4m3", "f8e4m3"},
	{"f8_e5m2", "f8e5m2"},
	{"f8e4m3fn", "f8e4m3"},
	{"byte", "u8"},
	{"uchar", "u8"},
	{"mono10p", "u10bit"}, /* GenICam */
	{"mono12p", "u12bit"},
};

/* Letters before the number of bits, and the letters that our names have there. */
static const struct {
	const char *begins, *ours;
	bool pair; /* complex numbers */
} KINDS[] = {
	{"uint", "u", false},  {"int", "i", false},     {"s", "i", false},  /* sox, ffmpeg */
	{"float", "f", false}, {"bfloat", "bf", false}, {"ru", "u", false}, /* SigMF */
	{"ri", "i", false},    {"rf", "f", false},      {"cu", "u", true},
	{"ci", "i", true},     {"cf", "f", true},       {"cs", "i", true}, /* SoapySDR */
	{"sc", "i", true},     {"fc", "f", true},                          /* UHD */
};

/* Names with two meanings, or that gpuhist does not read; any byte order may follow. */
#define TWO "has two meanings: "
#define UNPACKED(kind, bits) \
	TWO kind "16 (each sample in 2 bytes) or " kind bits "bit (packed without gaps)"
#define ORDER(bits)                                                                       \
	"has a bit order that gpuhist does not read (u" bits "bit is GenICam's Mono" bits \
	"p); convert the samples to u16"
#define ALSA TWO "i24 or u24 (3 bytes), or ALSA's format of 4 bytes (i32 or u32)"
static const char *const AMBIGUOUS[][2] = {
	{"u1", TWO "u8 (1 byte, NumPy's |u1) or u1bit"},
	{"u2", TWO "u16 (2 bytes, NumPy's <u2) or u2bit"},
	{"u4", TWO "u32 (4 bytes, NumPy's <u4) or u4bit"},
	{"i1", TWO "i8 (1 byte, NumPy's |i1) or 1 bit"},
	{"i2", TWO "i16 (2 bytes, NumPy's <i2) or i2bit"},
	{"i4", TWO "i32 (4 bytes, NumPy's <i4) or i4bit"},
	{"f2", TWO "f16 (2 bytes, NumPy's <f2) or 2 bits"},
	{"f4", TWO "f32 (4 bytes, NumPy's <f4) or 4 bits"},
	{"f8", TWO "f64 (8 bytes, NumPy's <f8), or 8 bits: f8e4m3 or f8e5m2"},
	{"c8", TWO "cf32 (8 bytes, NumPy's <c8), or 8 bits: ci8 or cu8"},
	{"c16", TWO "cf64 (16 bytes, NumPy's <c16), or 16 bits: ci16 or cu16"},
	{"int", TWO "i32 (C) or i64 (Python, NumPy)"},
	{"uint", TWO "u32 (C) or u64 (NumPy)"},
	{"long", TWO "i64 (Linux) or i32 (Windows)"},
	{"ulong", TWO "u64 (Linux) or u32 (Windows)"},
	{"char", TWO "i8 or u8"},
	{"s24_", ALSA},
	{"u24_", ALSA},
	{"u10", UNPACKED("u", "10")},
	{"u12", UNPACKED("u", "12")},
	{"u14", UNPACKED("u", "14")},
	{"i10", UNPACKED("i", "10")},
	{"i12", UNPACKED("i", "12")},
	{"i14", UNPACKED("i", "14")},
	{"raw10", ORDER("10")},
	{"raw12", ORDER("12")},
	{"raw14", ORDER("14")},
	{"mono10packed", ORDER("10")},
	{"mono12packed", ORDER("12")},
};

/* Is the word this name, or this name with a byte order? */
static bool is_name(const char *word, const char *name)
{
	const size_t length = strlen(name);
	size_t i = sizeof(ORDERS) / sizeof(ORDERS[0]);

	while (i-- > 0)
		if (strncmp(word, name, length) == 0 && strcmp(word + length, ORDERS[i]) == 0)
			return true;
	return false;
}

/* Say why a word in lower case is refused; NULL: it is not in the list. */
static const char *two_meanings(const char *word)
{
	for (size_t i = 0; i < sizeof(AMBIGUOUS) / sizeof(AMBIGUOUS[0]); i++)
		if (is_name(word, AMBIGUOUS[i][0]))
			return AMBIGUOUS[i][1];
	return NULL;
}

static bool lower(char word[WORD], const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 0; i <= length && length < WORD; i++)
		word[i] = (char)tolower((unsigned char)text[i]);
	return length < WORD;
}

/* Read a name without its byte order. With `numpy`, its number counts bytes. */
static int read_name(struct sample_type *type, bool *pair, const char *word, bool numpy, bool big)
{
	const size_t letters = strcspn(word, "0123456789");
	char *end, name[WORD];
	unsigned long bits = strtoul(word + letters, &end, 10);

	*pair = false;
	if (!numpy && find_type(type, word, big) == 0)
		return 0;
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]) && !numpy; i++)
		if (strcmp(word, WORDS[i][0]) == 0)
			return read_name(type, pair, WORDS[i][1], false, big);
	if (letters > 2 && strcmp(end, "_t") == 0) /* uint16_t */
		end += 2;
	if (*end != '\0' || word[letters] < '1' || bits > 128 ||
	    (numpy && (letters != 1 || !strchr("uifc", word[0]))))
		return -1;
	if (numpy && word[0] == 'c')
		return read_name(type, pair,
				 bits == 8    ? "cf32"
				 : bits == 16 ? "cf64"
					      : "",
				 false, big);
	if (numpy) {
		snprintf(name, sizeof(name), "%c%lu", word[0], 8 * bits);
		return find_type(type, name, big);
	}
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
		if (strlen(KINDS[i].begins) != letters ||
		    strncmp(KINDS[i].begins, word, letters) != 0)
			continue;
		*pair = KINDS[i].pair;
		snprintf(name, sizeof(name), "%s%lu", KINDS[i].ours, bits);
		return find_type(type, name, big);
	}
	return -1;
}

int sample_type_named(struct sample_type *type, bool *pair, const char *text)
{
	const char mark = *text != '\0' && strchr("<>|=", *text) ? *text++ : '\0';
	char whole[WORD], *word = whole;

	if (mark != '\0')
		return read_name(type, pair, text, true, mark == '>');
	if (!lower(whole, text) || two_meanings(whole))
		return -1;
	word += strncmp(word, "pcm_", 4) == 0 ? 4 : 0; /* ffmpeg */
	const size_t length = strlen(word);
	for (size_t i = 0; i < sizeof(ORDERS) / sizeof(ORDERS[0]); i++) {
		const size_t some = strlen(ORDERS[i]);
		char name[WORD];
		if (length < some || strcmp(word + length - some, ORDERS[i]) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(length - some), word);
		if (read_name(type, pair, name, false, strchr(ORDERS[i], 'b') != NULL) == 0)
			return 0;
	}
	return -1;
}

const char *sample_type_ambiguous(const char *text)
{
	char word[WORD];

	return lower(word, text) ? two_meanings(word) : NULL;
}

const char *sample_type_refused(const char *text)
{
	const char *const why = sample_type_ambiguous(text);

	return why ? why
		   : "is not a known type; the types are u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 "
		     "bf16 f32 f64 u1bit u2bit u4bit u10bit u12bit u14bit i2bit i4bit i10bit "
		     "i12bit i14bit f8e4m3 f8e5m2, u16be and so on for big endian, cu8 ci16 cf32 "
		     "and so on for I and Q (the manual has all names)";
}

/* ---- values ---- */

int128_t sample_min(const struct sample_type *type)
{
	if (type->kind != SAMPLE_SIGNED)
		return 0;
	return -((int128_t)1 << (type->bits - 1));
}

int128_t sample_max(const struct sample_type *type)
{
	return sample_min(type) + (((int128_t)1 << type->bits) - 1);
}

double sample_max_finite(const struct sample_type *type)
{
	const int bits = (int)type->mantissa, most = (1 << ((int)type->bits - 2 - bits)) - 1;

	/* In f8e4m3, the codes of the largest exponent are numbers, except for NaN. */
	return bits == 3 ? 448 : ldexp(2 - ldexp(1, -bits), most);
}

/* f8e4m3 has no infinity, and only one NaN of each sign; its other codes are numbers. */
static double value_of_float(const struct sample_type *type, uint32_t code)
{
	const int mantissa_bits = (int)type->mantissa, sign_at = (int)type->bits - 1;
	const int exponent_max = (1 << (sign_at - mantissa_bits)) - 1;
	const int bias = exponent_max / 2;
	const int mantissa_max = (1 << mantissa_bits) - 1;
	const int mantissa = (int)code & mantissa_max;
	const int exponent = (int)code >> mantissa_bits & exponent_max;
	const double sign = code >> sign_at & 1 ? -1.0 : 1.0;

	if (exponent == exponent_max && (mantissa_bits != 3 || mantissa == mantissa_max))
		return mantissa ? (double)NAN : sign * (double)INFINITY;
	if (exponent == 0)
		return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
	return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

double sample_value(const struct sample_type *type, uint32_t code)
{
	if (type->kind == SAMPLE_FLOAT)
		return value_of_float(type, code);
	return (double)code - (code > sample_max(type) ? 2 * (double)(sample_max(type) + 1) : 0);
}

uint64_t sample_key(const struct sample_type *type, double x)
{
	return type->bits < 64 ? key32_of_float(bits_of_float((float)x))
			       : key64_of_double(bits_of_double(x));
}

double sample_of_key(const struct sample_type *type, uint64_t key)
{
	if (type->bits == 64)
		return double_of_bits(key >> 63 ? key ^ (uint64_t)1 << 63 : ~key);
	return (double)float_of_bits(key & 0x80000000u ? (uint32_t)key ^ 0x80000000u
						       : ~(uint32_t)key);
}
