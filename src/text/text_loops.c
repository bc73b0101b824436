/* SPDX-License-Identifier: MIT */
/*
 * text_loops: reads lines quickly. The Makefile compiles this file once for each instruction set,
 * with ISA set to its name.
 *
 * In a table, bytes are compared 64 at a time with the newline, the separator, the quote and CR,
 * which makes a bit for each. A line's numbers, and its key with --by, are found by counting bits;
 * no other field is read. Without columns, a line is a number, and the byte after it its newline.
 * Digits are converted eight at a time. text.c reads lines with quotes, blank lines, comments,
 * lines longer than the marked words, and fields that are no plain numbers.
 */
#include "text/text.h"

#include <string.h>

#include "base/loops.h"
#include "text/text_keys.h"

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

/* ---- marks ---- */

#if defined(__AVX2__)
typedef struct {
	__m256i half[2];
} block;

INLINE block load(const char *p)
{
	return (block){{_mm256_loadu_si256((const __m256i *)(const void *)p),
			_mm256_loadu_si256((const __m256i *)(const void *)(p + 32))}};
}

INLINE uint64_t equal(block b, char c)
{
	const __m256i all = _mm256_set1_epi8(c);
	const uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b.half[0], all)),
		       high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b.half[1], all));

	return low | (uint64_t)high << 32;
}
#elif defined(__SSE2__)
typedef struct {
	__m128i part[4];
} block;

INLINE block load(const char *p)
{
	block b;

	for (int i = 0; i < 4; i++)
		b.part[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
	return b;
}

INLINE uint64_t equal(block b, char c)
{
	const __m128i all = _mm_set1_epi8(c);
	uint64_t bits = 0;

	for (int i = 0; i < 4; i++)
		bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(b.part[i], all))
			<< 16 * i;
	return bits;
}
#else
typedef struct {
	const char *p;
} block;

INLINE block load(const char *p)
{
	return (block){p};
}

/* Return a bit for each byte: is it c? A multiplication gathers eight of them at a time. */
INLINE uint64_t equal(block b, char c)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7f;
	uint64_t bits = 0, eight;

	for (int i = 0; i < 8; i++) {
		memcpy(&eight, b.p + 8 * i, 8);
		eight ^= 0x0101010101010101 * (unsigned char)c;
		eight = ~(((eight & low) + low) | eight | low) >> 7;
		bits |= (eight * 0x0102040810204080 >> 56) << 8 * i;
	}
	return bits;
}
#endif

/* Mark the words that start at p, the beginning of a line. */
static void text_mark(char separator, struct text_lines *l, const char *p)
{
	struct text_marks *const m = &l->marks;
	const size_t words = ((size_t)(l->end - p) + 63) / 64;
	uint64_t before = 1; /* the byte before these is a blank or a newline */

	m->from = p;
	m->words = words < TEXT_WORDS ? words : TEXT_WORDS;
	for (size_t i = 0; i < m->words; i++, p += 64) {
		const block b = load(p);
		const uint64_t lines = equal(b, '\n'), cr = equal(b, '\r');
		m->lines[i] = lines;
		/* A line that ends in the next word is not finished by a CR in this one. */
		m->odd[i] = equal(b, '"') | (cr & ~(lines >> 1 | (uint64_t)(p[64] == '\n') << 63));
		if (separator != TEXT_BLANKS) {
			m->separators[i] = equal(b, separator);
			continue;
		}
		const uint64_t blanks = equal(b, ' ') | equal(b, '\t') | cr;
		m->separators[i] = blanks & ~((blanks | lines) << 1 | before);
		before = (blanks | lines) >> 63;
	}
	m->lines[m->words] = m->separators[m->words] = m->odd[m->words] = 0;
}

/* ---- numbers ---- */

static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
			      1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
static const uint64_t SHORT[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/* The number of eight digits, the first in the lowest byte: pairs, then fours, then all. */
INLINE uint64_t eight_digits(uint64_t d)
{
	d = d * 10 + (d >> 8);
	return ((d & 0x000000ff000000ff) * (100 + (1000000ULL << 32)) +
		(d >> 16 & 0x000000ff000000ff) * (1 + (10000ULL << 32))) >>
	       32;
}

/* Read digits, and append them to *n. Return the byte after them. */
INLINE const char *digits(const char *p, uint64_t *n)
{
	uint64_t d, other;

	for (;; p += 8) {
		memcpy(&d, p, 8);
		d ^= 0x3030303030303030;
		/*
		 * Only the lowest byte that is no digit matters, so carries out of others do not.
		 */
		other = ((d + 0x0606060606060606) | d) & 0xf0f0f0f0f0f0f0f0;
		if (other != 0)
			break;
		*n = *n * 100000000 + eight_digits(d);
	}
	const unsigned k = (unsigned)__builtin_ctzll(other) / 8;
	if (k > 0)
		*n = *n * SHORT[k] + eight_digits(d << (64 - 8 * k));
	return p + k;
}

/*
 * Make a sample of up to 18 digits without an exponent: an integer, or the quotient of two exact
 * binary64 numbers, which is rounded once. Return the byte after it, or NULL to leave the number
 * to decimal.c.
 */
INLINE const char *quick(const struct sample_type *type, const char *p, unsigned char *out)
{
	const bool negative = *p == '-';
	const char *const begin = p += negative;
	uint64_t n = 0, code;

	const char *const point = p = digits(p, &n);
	if (p > begin && *p == '.')
		p = digits(p + 1, &n);
	if (p == begin || p - begin > 18) /* n fits 63 bits */
		return NULL;
	if (type->kind != SAMPLE_FLOAT) {
		if (p > point ||
		    n > UINT64_MAX >> (64 - type->bits + (type->kind == SAMPLE_SIGNED)) ||
		    (negative && type->kind == SAMPLE_UNSIGNED))
			return NULL;
		code = negative ? 0 - n : n;
	} else {
		if (type->bits != 64 || n > (uint64_t)1 << 53)
			return NULL;
		const double real = p > point + 1 ? (double)n / TENS[p - point - 1] : (double)n;
		memcpy(&code, &real, sizeof(code));
		code |= (uint64_t)negative << 63;
	}
	(void)text_put(type, code, out);
	return p;
}

/* ---- lines ---- */

/* Does a line end at p? */
INLINE bool ends(const char *p)
{
	return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* Read lines that are numbers. */
INLINE void take_numbers(const struct sample_type *type, struct text_lines *l, unsigned char **to,
			 const unsigned char *full)
{
	const size_t bytes = type->bits / 8;
	const char *at = l->at, *next;
	unsigned char *out = *to;
	uint64_t taken = 0;

	while (at < l->end && (size_t)(full - out) >= bytes &&
	       (next = quick(type, at, out)) != NULL && ends(next)) {
		at = next + 1 + (*next == '\r');
		out += bytes;
		taken++;
	}
	l->at = at;
	l->taken += taken;
	*to = out;
}

/* The marks of the TOGETHER bytes that start at offset `at`. */
#define TOGETHER 56u /* so that a 64-bit load, from any byte, holds them all */
INLINE uint64_t marks_at(const uint64_t *marks, size_t at)
{
	uint64_t word;

	memcpy(&word, (const unsigned char *)marks + at / 8, sizeof(word));
	return word >> at % 8 & (UINT64_MAX >> (64 - TOGETHER));
}

/* Find the newline of the line that begins at p; NULL: it is not among the marked words. */
INLINE const char *line_end(const struct text_marks *m, const char *p, uint64_t *odd)
{
	*odd = 0;
	for (size_t at = (size_t)(p - m->from); at < 64 * m->words; at += TOGETHER) {
		const uint64_t line = marks_at(m->lines, at);
		*odd |= marks_at(m->odd, at) & (line ^ (line - 1)); /* up to the newline; or all */
		if (line != 0)
			return m->from + at + __builtin_ctzll(line);
	}
	return NULL;
}

/* Find the n-th separator at p or later, n > 0; return the marks' end if there are fewer. */
INLINE const char *separator_from(const struct text_marks *m, const char *p, uint64_t n)
{
	for (size_t at = (size_t)(p - m->from); at < 64 * m->words; at += TOGETHER) {
		uint64_t bits = marks_at(m->separators, at);
		const unsigned here = (unsigned)__builtin_popcountll(bits);
		if (here < n) {
			n -= here;
			continue;
		}
		while (--n > 0)
			bits &= bits - 1;
		return m->from + at + __builtin_ctzll(bits);
	}
	return m->from + 64 * m->words;
}

INLINE bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Find a field of the line from p to end, after its blanks. NULL: the line has fewer fields. */
INLINE const char *find(const struct text_marks *m, bool blanks, const char *p, const char *end,
			uint64_t number)
{
	if (number > 1)
		p = separator_from(m, p, number - 1) + 1;
	if (p > end)
		return NULL;
	while (*p == ' ' || (blanks && is_blank(*p)))
		p++;
	/* Nothing follows the last blanks. */
	return blanks && p >= end ? NULL : p;
}

/* The number of the key in the field from p to the next separator, or to the line's end. */
INLINE uint32_t take_key(struct text_keys *keys, const struct text_marks *m, const char *p,
			 const char *end)
{
	const char *const next = separator_from(m, p, 1);

	end = next < end ? next : end;
	while (p < end && is_blank(*p))
		p++;
	while (p < end && is_blank(end[-1]))
		end--;
	return text_keys_number(keys, p, (size_t)(end - p));
}

/* The end of a field without quotes. */
INLINE const char *field_end(char separator, const char *p, const char *end)
{
	while (p < end && *p != separator &&
	       (separator != TEXT_BLANKS || (*p != '\t' && *p != '\r')))
		p++;
	return p;
}

/* Make a sample of a field of the line from `line` to end. False: leave it to text.c. */
INLINE bool take_field(const struct text_table *t, const struct sample_type *type, char separator,
		       const struct text_marks *m, bool blanks, const char *line, const char *end,
		       uint64_t number, unsigned char *out)
{
	const char *const p = find(m, blanks, line, end, number);

	/* A line of blanks has no fields. */
	if (!p || (number == 1 && (ends(p) || *p == '\t' || *p == '\r')))
		return false;
	const char *const next = quick(type, p, out);
	const bool whole = next && (*next == separator || ends(next) || (blanks && *next == '\t'));
	return whole || !text_field(t, p, field_end(separator, p, end), out);
}

/* Read lines of a table, whose fields are separated by blanks or by one character. */
INLINE void take_columns(const struct text_table *t, struct text_lines *l, bool blanks,
			 bool several, unsigned char **to, const unsigned char *full)
{
	const struct sample_type *const type = &t->spec->type;
	const struct text_marks *const m = &l->marks;
	const size_t sample = type->bits / 8, bytes = text_bytes(t->spec);
	const uint32_t columns = several ? t->spec->columns : 1;
	const char separator = t->separator;
	const uint64_t by = t->by, first = t->number[0];
	const char *line = l->at, *const last = l->end, *end, *key = NULL;
	unsigned char *out = *to;
	uint64_t taken = 0, odd;

	for (; line < last && (size_t)(full - out) >= bytes; line = end + 1) {
		if (!m->from || line >= m->from + 64 * m->words)
			text_mark(separator, l, line);
		end = line_end(m, line, &odd);
		if (!end && line > m->from) {
			text_mark(separator, l, line);
			end = line_end(m, line, &odd);
		}
		if (!end || odd || *line == '#')
			break;
		if (by > 0 && !(key = find(m, blanks, line, end, by)))
			break;
		bool good = true;
		for (uint32_t c = 0; c < columns && good; c++)
			good = take_field(t, type, separator, m, blanks, line, end,
					  several ? t->number[c] : first, out + c * sample);
		if (!good)
			break;
		if (by > 0) {
			const uint32_t index = take_key(t->spec->keys, m, key, end);
			if (index == TEXT_KEYS_BAD)
				break;
			memcpy(out + sample, &index, sizeof(index));
		}
		out += bytes;
		taken++;
	}
	l->at = line;
	l->taken += taken;
	*to = out;
}

/* Apart, so that the loops of one column keep their registers. */
static __attribute__((noinline)) void take_several(const struct text_table *t, struct text_lines *l,
						   unsigned char **to, const unsigned char *full)
{
	if (t->separator == TEXT_BLANKS)
		take_columns(t, l, true, true, to, full);
	else
		take_columns(t, l, false, true, to, full);
}

text_loop FOR_ISA(text_loop_);
void FOR_ISA(text_loop_)(const struct text_table *t, struct text_lines *l, unsigned char **to,
			 const unsigned char *full)
{
	if (t->separator == '\n')
		take_numbers(&t->spec->type, l, to, full);
	else if (t->spec->columns > 1)
		take_several(t, l, to, full);
	else if (t->separator == TEXT_BLANKS)
		take_columns(t, l, true, false, to, full);
	else
		take_columns(t, l, false, false, to, full);
}
