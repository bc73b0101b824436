/* SPDX-License-Identifier: MIT */
/* sample: the list of types, their names here and elsewhere, their values. */
#include "bins/sample.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"

/* name, NumPy's code, NumPy's long name ("" where it has none), bytes, kind, mantissa bits */
/* clang-format off */
static const struct {
	const char *name, *code, *word;
	uint32_t bytes;
	enum sample_kind kind;
	uint32_t mantissa;
} TYPES[] = {
	{"u8", "u1", "uint8", 1, SAMPLE_UNSIGNED, 0},
	{"i8", "i1", "int8", 1, SAMPLE_SIGNED, 0},
	{"u16", "u2", "uint16", 2, SAMPLE_UNSIGNED, 0},
	{"i16", "i2", "int16", 2, SAMPLE_SIGNED, 0},
	{"u24", "u3", "uint24", 3, SAMPLE_UNSIGNED, 0},
	{"i24", "i3", "int24", 3, SAMPLE_SIGNED, 0},
	{"u32", "u4", "uint32", 4, SAMPLE_UNSIGNED, 0},
	{"i32", "i4", "int32", 4, SAMPLE_SIGNED, 0},
	{"u64", "u8", "uint64", 8, SAMPLE_UNSIGNED, 0},
	{"i64", "i8", "int64", 8, SAMPLE_SIGNED, 0},
	{"f16", "f2", "float16", 2, SAMPLE_FLOAT, 10},
	{"bf16", "", "bfloat16", 2, SAMPLE_FLOAT, 7},
	{"f32", "f4", "float32", 4, SAMPLE_FLOAT, 23},
	{"f64", "f8", "float64", 8, SAMPLE_FLOAT, 52},
};
/* clang-format on */

int sample_type_parse(struct sample_type *type, const char *text)
{
	/* NumPy's order mark makes the rest a NumPy code: "u8" is one byte, "<u8" is eight. */
	char mark = *text != '\0' && strchr("<>|=", *text) ? *text++ : '\0';

	size_t length = strlen(text);
	bool big = mark == '>';
	if (mark == '\0' && length > 2 &&
	    (memcmp(text + length - 2, "be", 2) == 0 || memcmp(text + length - 2, "le", 2) == 0)) {
		big = text[length - 2] == 'b';
		length -= 2;
	}
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
		const char *names[2] = {mark ? TYPES[i].code : TYPES[i].name, TYPES[i].word};
		for (int k = 0; k < 2; k++) {
			if (length == 0 || strlen(names[k]) != length ||
			    memcmp(names[k], text, length) != 0)
				continue;
			*type = (struct sample_type){
				.bytes = TYPES[i].bytes,
				.kind = TYPES[i].kind,
				.mantissa = TYPES[i].mantissa,
				.big = big && TYPES[i].bytes > 1,
			};
			snprintf(type->name, sizeof(type->name), "%s%s", TYPES[i].name,
				 type->big ? "be" : "");
			return 0;
		}
	}
	return -1;
}

/* ---- names that other tools have ----
 *
 * They are not accepted: some of them mean one thing here and another there (od's u8 has eight
 * bytes), and which tool the user has in mind is a guess. The error shows what to write instead.
 */

/* Our name, then those of C and similar languages, which may end in _t, of NumPy, and of od. */
static const char NAMES[] =
	"i8 int8 char schar sbyte d1\n"
	"u8 uint8 uchar byte ubyte bool x1\n"
	"i16 int16 short d2\n"
	"u16 uint16 ushort x2\n"
	"i24 int24\n"
	"u24 uint24\n"
	"i32 int32 int d4\n"
	"u32 uint32 uint unsigned x4\n"
	"i64 int64 long longlong d8\n"
	"u64 uint64 ulong ulonglong x8\n"
	"f16 float16 half fh\n"
	"bf16 bfloat16 bfloat\n"
	"f32 float32 float single real ff\n"
	"f64 float64 double fd\n";
#define NAMES_MOST 64

/*
 * The characters of NumPy and of Python's struct; l and L have four bytes in one and eight in the
 * other.
 */
static const char CHARACTERS[] = "bBhHiIqQefd";
static const char *const OF_CHARACTERS[] = {"i8",  "u8",  "i16", "u16", "i32", "u32",
					    "i64", "u64", "f16", "f32", "f64"};

#define WORD 24 /* a longer text is no name of a type */

/* How often each digit occurs. Another digit is another size, not a slip that can be corrected. */
static uint64_t digits_of(const char *word)
{
	uint64_t sum = 0;

	for (; *word; word++)
		if (isdigit((unsigned char)*word))
			sum += (uint64_t)1 << 6 * (*word - '0');
	return sum;
}

/* Sets *type to the one whose name, here or elsewhere, is the word or nearest to it. */
static bool look_up(struct sample_type *type, const char *word)
{
	char names[sizeof(NAMES)];
	const char *list[NAMES_MOST], *ours[NAMES_MOST], *first = names;
	size_t n = 0;

	memcpy(names, NAMES, sizeof(NAMES));
	for (char *p = names; *p; p += strlen(p) + 1) {
		char *const end = p + strcspn(p, " \n");
		const bool last = *end == '\n';
		*end = '\0';
		ours[n] = first;
		list[n] = p;
		n += digits_of(p) == digits_of(word);
		first = last ? end + 1 : first;
	}
	list[n] = NULL;
	const char *const near = nearest(word, list);
	while (near && n-- > 0)
		if (list[n] == near)
			return sample_type_parse(type, ours[n]) == 0;
	return false;
}

/*
 * Takes `end` off the end of the word, if it follows a digit ("double" has no byte order) or begins
 * with _.
 */
static bool drop(char *word, const char *end)
{
	const size_t length = strlen(word), some = strlen(end);

	if (length <= some || strcmp(word + length - some, end) != 0 ||
	    (*end != '_' && !isdigit((unsigned char)word[length - some - 1])))
		return false;
	word[length - some] = '\0';
	return true;
}

/* A word in lower case, without its byte order; ffmpeg, sox and ALSA say s16. */
static bool is_type(struct sample_type *type, const char *word)
{
	const bool is_signed = word[0] == 's' && isdigit((unsigned char)word[1]);
	char other[WORD + 1];

	snprintf(other, sizeof(other), "%c%s", is_signed ? 'i' : '<', word + is_signed);
	return sample_type_parse(type, word) == 0 || sample_type_parse(type, other) == 0 ||
	       look_up(type, word);
}

/*
 * A pair of values: cf32, ci16 (SigMF), fc32, sc16 (UHD), cs16, cu8 (SoapySDR), and NumPy's. Leaves
 * the word of one of them.
 */
static bool take_pair(char *word)
{
	static const char *const NUMPY[][2] = {{"c8", "f32"},
					       {"c16", "f64"},
					       {"complex64", "f32"},
					       {"complex128", "f64"},
					       {"complex", "f64"}};

	for (size_t i = 0; i < sizeof(NUMPY) / sizeof(NUMPY[0]); i++)
		if (strcmp(word, NUMPY[i][0]) == 0) {
			strcpy(word, NUMPY[i][1]);
			return true;
		}
	if (!isdigit((unsigned char)(word[0] ? word[1] ? word[2] : '\0' : '\0')))
		return false;
	if ((word[0] == 'f' || word[0] == 's') && word[1] == 'c')
		word[1] = word[0];
	else if (word[0] != 'c' || !strchr("fisu", word[1]))
		return false;
	memmove(word, word + 1, strlen(word));
	return true;
}

void sample_type_hint(char hint[SAMPLE_HINT], const char *text)
{
	char lower[WORD], marked[WORD + 1], *word = lower;
	struct sample_type type;
	const char *character;

	snprintf(hint, SAMPLE_HINT,
		 "unknown type; the types are u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 bf16 f32 "
		 "f64, u16be and so on "
		 "for big endian");
	if (strlen(text) >= sizeof(lower))
		return;
	const bool mark = *text != '\0' && strchr("<>|=@!", *text);
	bool big = *text == '>' || *text == '!';
	text += mark;
	for (size_t i = 0; i <= strlen(text); i++)
		lower[i] = (char)tolower((unsigned char)text[i]);
	if (strncmp(word, "unsigned ", 9) == 0)
		*(word += 8) = 'u';
	word += strncmp(word, "pcm_", 4) == 0 ? 4 : 0; /* ffmpeg */
	word += word[0] == 'r' && word[1] != '\0' && strchr("fiu", word[1]) &&
		isdigit((unsigned char)word[2]); /* SigMF */
	big |= drop(word, "_be") || drop(word, "be");
	(void)(drop(word, "_le") || drop(word, "le"));
	(void)drop(word, "_t");
	if (*text != '\0' && text[1] == '\0' && (character = strchr(CHARACTERS, *text)) != NULL)
		strcpy(word, OF_CHARACTERS[character - CHARACTERS]);
	snprintf(marked, sizeof(marked), "<%s", word);
	/* u4, f8: a NumPy code that lacks its mark. */
	const bool code = !mark && sample_type_parse(&type, word) != 0 &&
			  sample_type_parse(&type, marked) == 0;
	const bool pair = take_pair(word);
	if (!is_type(&type, word))
		return;
	const char *const order = big && type.bytes > 1 && !type.big ? "be" : "";
	if (pair)
		snprintf(hint, SAMPLE_HINT,
			 "unknown type; use %s%s with -c 2, which counts the two parts of complex "
			 "samples apart",
			 type.name, order);
	else if (code)
		snprintf(hint, SAMPLE_HINT, "unknown type; use %s%s (or %c%s, as NumPy writes it)",
			 type.name, order, big ? '>' : '<', word);
	else
		snprintf(hint, SAMPLE_HINT, "unknown type; use %s%s", type.name, order);
}

/* ---- values ---- */

int128_t sample_min(const struct sample_type *type)
{
	if (type->kind != SAMPLE_SIGNED)
		return 0;
	return -((int128_t)1 << (8 * type->bytes - 1));
}

int128_t sample_max(const struct sample_type *type)
{
	return sample_min(type) + (((int128_t)1 << (8 * type->bytes)) - 1);
}

double sample_max_finite(const struct sample_type *type)
{
	switch (type->mantissa) {
	case 10:
		return 65504;
	case 7:
		return 0x1.fep127;
	case 23:
		return (double)FLT_MAX;
	default:
		return DBL_MAX;
	}
}

double sample_half(const struct sample_type *type, uint32_t code)
{
	const int mantissa_bits = (int)type->mantissa;
	const int exponent_max = (1 << (15 - mantissa_bits)) - 1;
	const int bias = exponent_max / 2;
	const int mantissa = (int)code & ((1 << mantissa_bits) - 1);
	const int exponent = (int)(code & 0x7fff) >> mantissa_bits;
	const double sign = code & 0x8000 ? -1.0 : 1.0;

	if (exponent == exponent_max)
		return mantissa ? (double)NAN : sign * (double)INFINITY;
	if (exponent == 0)
		return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
	return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

double sample_code(const struct sample_type *type, uint32_t code)
{
	if (type->kind == SAMPLE_FLOAT)
		return sample_half(type, code);
	return (double)code - (code > sample_max(type) ? 2 * (double)(sample_max(type) + 1) : 0);
}

double value_of_float_key(unsigned bits, uint64_t key)
{
	float f;
	double d;

	if (bits == 32) {
		const uint32_t word =
			key & 0x80000000u ? (uint32_t)key ^ 0x80000000u : ~(uint32_t)key;
		memcpy(&f, &word, sizeof(f));
		return (double)f;
	}
	const uint64_t word = key >> 63 ? key ^ (uint64_t)1 << 63 : ~key;
	memcpy(&d, &word, sizeof(d));
	return d;
}
