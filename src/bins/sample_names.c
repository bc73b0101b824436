/* SPDX-License-Identifier: MIT */
/*
 * sample_names: names that other tools have for the types, answered by our names.
 *
 * Their names are not accepted: some of them mean one thing here and another there (od's u8 has
 * eight bytes), and which tool the user has in mind is a guess. The error shows what to write
 * instead.
 */
#include "bins/sample.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"

#define WORD 24 /* a longer text is no name of a type */

static const struct {
	const char *theirs, *ours;
} NAMES[] = {
	/* C and similar languages, without the _t that names may end in */
	{"float", "f32"},
	{"single", "f32"},
	{"double", "f64"},
	{"half", "f16"},
	{"bfloat", "bf16"},
	{"char", "i8"},
	{"schar", "i8"},
	{"uchar", "u8"},
	{"short", "i16"},
	{"ushort", "u16"},
	{"int", "i32"},
	{"uint", "u32"},
	{"unsigned", "u32"},
	{"long", "i64"},
	{"ulong", "u64"},
	{"longlong", "i64"},
	{"ulonglong", "u64"},
	{"byte", "u8"},
	{"ubyte", "u8"},
	{"sbyte", "i8"},
	{"bool", "u8"},
	{"real", "f32"},
	{"signed char", "i8"},
	{"unsigned char", "u8"},
	{"unsigned short", "u16"},
	{"unsigned int", "u32"},
	{"unsigned long", "u64"},
	{"long long", "i64"},
	{"unsigned long long", "u64"},
	/* od: d and x with a number of bytes */
	{"d1", "i8"},
	{"d2", "i16"},
	{"d4", "i32"},
	{"d8", "i64"},
	{"x1", "u8"},
	{"x2", "u16"},
	{"x4", "u32"},
	{"x8", "u64"},
	{"fh", "f16"},
	{"ff", "f32"},
	{"fd", "f64"},
};

/* NumPy's complex types by their bytes or bits. */
static const struct {
	const char *theirs, *ours;
} COMPLEX[] = {{"c8", "f32"},
	       {"c16", "f64"},
	       {"complex64", "f32"},
	       {"complex128", "f64"},
	       {"complex", "f64"}};

/*
 * The characters of NumPy and of Python's struct; l and L have four bytes in one and eight in the
 * other.
 */
static const char CHARACTERS[] = "bBhHiIqQefd";
static const char *const OF_CHARACTERS[] = {"i8",  "u8",  "i16", "u16", "i32", "u32",
					    "i64", "u64", "f16", "f32", "f64"};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Takes `end` off the end of the word, if it follows a digit ("double" has no byte order) or begins
 * with _.
 */
static bool drop(char *word, const char *end)
{
	const size_t length = strlen(word), some = strlen(end);

	if (length <= some || strcmp(word + length - some, end) != 0 ||
	    (*end != '_' && !digit(word[length - some - 1])))
		return false;
	word[length - some] = '\0';
	return true;
}

/* A NumPy code that lacks its order mark: u4, f8. */
static bool is_code(const char *word)
{
	char marked[WORD + 1];
	struct sample_type type;

	snprintf(marked, sizeof(marked), "<%s", word);
	return sample_type_parse(&type, word) != 0 && sample_type_parse(&type, marked) == 0;
}

/* Our name for a word in lower case, without its byte order; NULL where no tool uses the word. */
static const char *ours(const char *word, struct sample_type *type)
{
	char other[WORD + 1];

	if (sample_type_parse(type, word) == 0)
		return type->name;
	if (word[0] == 's' && digit(word[1])) { /* ffmpeg, sox, ALSA */
		snprintf(other, sizeof(other), "i%s", word + 1);
		return sample_type_parse(type, other) == 0 ? type->name : NULL;
	}
	snprintf(other, sizeof(other), "<%s", word); /* NumPy's codes count bytes */
	if (sample_type_parse(type, other) == 0)
		return type->name;
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (strcmp(word, NAMES[i].theirs) == 0)
			return NAMES[i].ours;
	return NULL;
}

/*
 * Are the digits the same, in any order? Another digit is another size, and not a slip that can be
 * corrected.
 */
static bool same_digits(const char *a, const char *b)
{
	int count[10] = {0};

	for (; *a; a++)
		if (digit(*a))
			count[*a - '0']++;
	for (; *b; b++)
		if (digit(*b))
			count[*b - '0']--;
	for (size_t i = 0; i < sizeof(count) / sizeof(count[0]); i++)
		if (count[i] != 0)
			return false;
	return true;
}

/* Our name for the nearest word that names a type; NULL where none is near. */
static const char *ours_of_near(const char *word, struct sample_type *type)
{
	static const char *const SPELLED[] = {
		"u16",  "i16",   "u24",   "i24",   "u32",     "i32",     "u64",     "i64",
		"f16",  "bf16",  "f32",   "f64",   "uint8",   "uint16",  "uint32",  "uint64",
		"int8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16"};
	const char
		*list[sizeof(SPELLED) / sizeof(SPELLED[0]) + sizeof(NAMES) / sizeof(NAMES[0]) + 1];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(SPELLED) / sizeof(SPELLED[0]); i++)
		if (same_digits(word, SPELLED[i]))
			list[n++] = SPELLED[i];
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (same_digits(word, NAMES[i].theirs))
			list[n++] = NAMES[i].theirs;
	list[n] = NULL;
	const char *const near = nearest(word, list);
	return near ? ours(near, type) : NULL;
}

/*
 * The same for pairs of values: cf32, ci16 (SigMF), fc32, sc16 (UHD), cs16, cu8 (SoapySDR),
 * complex64.
 */
static const char *ours_of_complex(char *word, struct sample_type *type)
{
	for (size_t i = 0; i < sizeof(COMPLEX) / sizeof(COMPLEX[0]); i++)
		if (strcmp(word, COMPLEX[i].theirs) == 0)
			return COMPLEX[i].ours;
	if (word[0] == 'c' && word[1] != '\0' && strchr("fisu", word[1]) && digit(word[2]))
		return ours(word + 1, type);
	if ((word[0] == 'f' || word[0] == 's') && word[1] == 'c' && digit(word[2])) {
		word[1] = word[0];
		return ours(word + 1, type);
	}
	return NULL;
}

void sample_type_hint(char hint[SAMPLE_HINT], const char *text)
{
	char lower[WORD], *word = lower;
	struct sample_type type;
	const char *name = NULL, *character;

	snprintf(hint, SAMPLE_HINT,
		 "unknown type; the types are u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 bf16 f32 "
		 "f64, u16be and so on "
		 "for big endian");
	if (strlen(text) >= sizeof(lower))
		return;
	const bool mark = *text != '\0' && strchr("<>|=@!", *text);
	bool big = *text == '>' || *text == '!';
	text += mark;
	if (*text != '\0' && text[1] == '\0' && (character = strchr(CHARACTERS, *text)) != NULL)
		name = OF_CHARACTERS[character - CHARACTERS];
	for (size_t i = 0; i <= strlen(text); i++)
		lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 32 : text[i]);
	/* ffmpeg */
	word += begins(word, "pcm_") ? 4 : 0;
	/* SigMF */
	word += word[0] == 'r' && word[1] != '\0' && strchr("fiu", word[1]) && digit(word[2]);
	big |= drop(word, "_be") || drop(word, "be");
	(void)(drop(word, "_le") || drop(word, "le"));
	(void)drop(word, "_t");
	const char *pair = name ? NULL : ours_of_complex(word, &type);
	if (!name && !pair)
		name = ours(word, &type);
	if (!name && !pair)
		name = ours_of_near(word, &type);
	const char *const found = pair ? pair : name;
	/* A near name may include a byte order already. */
	const bool orderless =
		found && strcmp(found + 1, "8") != 0 && found[strlen(found) - 1] != 'e';
	const char *const order = big && orderless ? "be" : "";
	if (pair)
		snprintf(hint, SAMPLE_HINT,
			 "unknown type; use %s%s with -c 2, which counts the two parts of complex "
			 "samples apart",
			 pair, order);
	else if (name && !mark && is_code(word))
		snprintf(hint, SAMPLE_HINT, "unknown type; use %s%s (or %c%s, as NumPy writes it)",
			 name, order, big ? '>' : '<', word);
	else if (name)
		snprintf(hint, SAMPLE_HINT, "unknown type; use %s%s", name, order);
}
