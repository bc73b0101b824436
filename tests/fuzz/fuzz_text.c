/* SPDX-License-Identifier: MIT */
/*
 * text: lines in blocks of any size, compared with a plain reading of the whole text: the same
 * samples, up to the same bad line, with the same keys.
 *
 * The head of the input: type, columns, size of the blocks, room for samples. The byte of columns
 * has the first column (0: none; 4: by name), 5 times the keys' column, and 25 times those of the
 * second and third column, which leave no keys. A byte 1 in the text stands for 30,000 letters.
 */
#include "text/text.h"

#include <strings.h>

#include "fuzz.h"
#include "text/text_keys.h"

#define LONG 30000
#define BYTES 8192
#define SAMPLES (2 * BYTES) /* three for a line of two bytes */
#define READ 3              /* columns that are read */

static const char *const TYPES[] = {"f64", "f32", "i64", "u8", "i16be", "u64", "f64be"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct line {
	const char *p, *end;
};

struct model {
	struct text_spec spec;
	char separator;
	bool first;
	uint64_t number[READ]; /* of the columns */
	uint64_t by;           /* of the keys' column; 0: none */
	uint64_t code[SAMPLES];
	struct line key[SAMPLES];
	size_t n;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct line bare(struct line f)
{
	while (f.p < f.end && blank(*f.p))
		f.p++;
	while (f.end > f.p && blank(f.end[-1]))
		f.end--;
	if (f.end - f.p >= 2 && *f.p == '"' && f.end[-1] == '"') {
		f.p++;
		f.end--;
	}
	return f;
}

/* Is the text a number, by its characters? */
static bool is_number(const char *s, bool *hex)
{
	size_t digits = 0;
	const char *set = "0123456789";

	s += *s == '-' || *s == '+';
	*hex = false;
	if (!strcasecmp(s, "nan") || !strcasecmp(s, "inf") || !strcasecmp(s, "infinity"))
		return true;
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		*hex = true;
		set = "0123456789abcdefABCDEF";
		s += 2;
	}
	const size_t before = strspn(s, set);
	s += before;
	const size_t after = *s == '.' ? strspn(s + 1, set) : 0;
	s += after + (*s == '.');
	digits = before + after;
	if (digits == 0)
		return false;
	if (*s && strchr(*hex ? "pP" : "eE", *s)) {
		s += 1 + (s[1] == '-' || s[1] == '+');
		digits = strspn(s, "0123456789");
		s += digits;
	}
	return *s == '\0' && digits > 0;
}

/* Read a number as an integer: its digits, moved by the exponent. False: none, or too large. */
static bool whole(const char *s, bool hex, int128_t *x)
{
	static const char DIGITS[] = "0123456789abcdef";
	const int128_t limit = (int128_t)1 << 120;
	const bool negative = *s == '-';

	s += *s == '-' || *s == '+';
	s += hex ? 2 : 0;
	const char *const e = strpbrk(s, hex ? "pP" : "eE"), *const end = e ? e : s + strlen(s);
	long exponent = e ? strtol(e + 1, NULL, 10) : 0;
	bool point = false;

	exponent = exponent > 1000000 ? 1000000 : exponent < -1000000 ? -1000000 : exponent;
	for (const char *p = s; p < end; p++) {
		point |= *p == '.';
		exponent -= point && *p != '.' ? (hex ? 4 : 1) : 0;
	}
	const char *last = end; /* after the last digit that is not zero */
	for (; last > s && (last[-1] == '0' || last[-1] == '.'); last--)
		exponent += last[-1] == '0' ? (hex ? 4 : 1) : 0;
	*x = 0;
	if (last == s)
		return true;
	for (; s < last && *x < limit; s++)
		if (*s != '.')
			*x = *x * (hex ? 16 : 10) + (strchr(DIGITS, *s | 32) - DIGITS);
	if (s < last)
		return false;
	for (; hex && exponent < 0 && *x % 2 == 0; exponent++)
		*x /= 2;
	for (; exponent > 0 && *x < limit; exponent--)
		*x *= hex ? 2 : 10;
	*x = negative ? -*x : *x;
	return exponent == 0;
}

/* Is a field a missing number? */
static bool is_missing(struct line f)
{
	const size_t n = (size_t)(f.end - f.p);

	return n == 0 || (n == 1 && *f.p == '-') || (n == 2 && !strncasecmp(f.p, "na", n)) ||
	       (n == 4 && !strncasecmp(f.p, "null", n));
}

/* Add the sample of a field. Return 1 if it holds no number, -1 if no sample of the type. */
static int add(struct model *m, struct line field)
{
	const struct sample_type *const type = &m->spec.type;
	const struct line f = bare(field);
	const size_t n = (size_t)(f.end - f.p);
	bool hex = false;
	uint64_t code = 0;
	int128_t x = 0;

	if (memchr(f.p, '\0', n))
		return 1;
	char *const s = strndup(f.p, n);
	const bool missing = is_missing(f);
	int rc = missing || is_number(s, &hex) ? 0 : 1;
	REQUIRE(m->n < SAMPLES, "too many samples");
	if (rc == 0 && type->kind == SAMPLE_FLOAT) {
		const double real = missing ? (double)NAN : strtod(s, NULL);
		const float half = missing ? NAN : strtof(s, NULL);
		if (isnan(real))
			code = type->bits == 64 ? 0x7ff8000000000000 : 0x7fc00000;
		else
			memcpy(&code, type->bits == 64 ? (const void *)&real : &half,
			       type->bits / 8);
	} else if (rc == 0 && (missing || strpbrk(s, "nN"))) {
		rc = -1;
	} else if (rc == 0) {
		rc = whole(s, hex, &x) && x >= sample_min(type) && x <= sample_max(type) ? 0 : -1;
		code = (uint64_t)x;
	}
	free(s);
	if (rc == 0)
		m->code[m->n++] = type->bits < 64 ? code & (((uint64_t)1 << type->bits) - 1) : code;
	return rc;
}

/* Find the next field of the line from *p on. False: a quote is open. */
static bool next(const struct model *m, const char **p, const char *end, struct line *f)
{
	bool open = false;

	while (*p < end && (**p == ' ' || (m->separator == ' ' && blank(**p))))
		++*p;
	f->p = *p;
	const bool quoted = *p < end && **p == '"';
	for (; *p < end; ++*p) {
		open = quoted && **p == '"' ? !open : open;
		if (!open && (m->separator == ' ' ? blank(**p) : **p == m->separator))
			break;
	}
	f->end = *p;
	return !open;
}

static bool is_border(char c)
{
	return c == '\t' || c == ';' || c == ',' || c == ' ' || c == '\r';
}

/* Does a quoted field begin at p, outside of any other? If so, set *p to its end. */
static bool pass_quoted(const char *begin, const char **p, const char *end)
{
	size_t quotes = 1;
	const char *q = *p + 1;

	if (**p != '"' || (*p > begin && !is_border((*p)[-1])))
		return false;
	for (; q < end && (quotes % 2 == 1 || !is_border(*q)); q++)
		quotes += *q == '"';
	*p = quotes % 2 ? *p : q;
	return quotes % 2 == 0;
}

static void find_separator(struct model *m, const char *p, const char *end)
{
	bool tab = false, comma = false, semicolon = false;
	const char *const begin = p;

	while (p < end) {
		if (pass_quoted(begin, &p, end))
			continue;
		tab |= *p == '\t';
		comma |= *p == ',';
		semicolon |= *p == ';';
		p++;
	}
	m->separator = tab ? '\t' : semicolon ? ';' : comma ? ',' : ' ';
}

/* Does a field begin like a number, or is it a missing one? */
static bool is_numeral(struct line f)
{
	const char *const p = f.p + (f.p < f.end && strchr("+-", *f.p) && *f.p);
	const size_t n = (size_t)(f.end - p);

	return (n > 0 && *p >= '0' && *p <= '9') ||
	       (n > 1 && *p == '.' && p[1] >= '0' && p[1] <= '9') ||
	       (n == 3 && (!strncasecmp(p, "nan", n) || !strncasecmp(p, "inf", n))) ||
	       (n == 8 && !strncasecmp(p, "infinity", n));
}

static bool is_word(struct line f)
{
	char *const s = strndup(f.p, (size_t)(f.end - f.p));
	bool hex;
	const bool number = strlen(s) == (size_t)(f.end - f.p) && is_number(s, &hex);

	free(s);
	return !number && !is_missing(f);
}

/* Bytes of the text of a field. In quotes, "" stands for a quote. */
static size_t key_length(struct line f)
{
	const struct line s = bare(f);
	const bool quoted = s.p > f.p && s.p[-1] == '"';
	size_t n = 0;

	for (const char *p = s.p; p < s.end; p++, n++)
		p += quoted && *p == '"' && p + 1 < s.end && p[1] == '"';
	return n;
}

/* Note a field of the line that names the columns. False: its name stands there twice. */
static bool take_name(struct model *m, struct line name, uint64_t field)
{
	const char letter = name.end - name.p == 1 ? *name.p : '\0';
	bool twice = false;

	for (uint32_t c = 0; c < m->spec.columns; c++)
		if (m->spec.column[c].number == 0 && letter == *m->spec.column[c].name) {
			twice |= m->number[c] > 0;
			m->number[c] = field;
		}
	if (m->spec.by && m->spec.by_number == 0 && letter == 'k') {
		twice |= m->by > 0;
		m->by = field;
	}
	return !twice;
}

/* Read a line. False: it is bad. */
static bool take_line(struct model *m, const char *p, const char *end, bool feed)
{
	const uint32_t read = text_samples(&m->spec);
	bool named = m->spec.by && m->spec.by_number == 0;
	const char *const cr = memchr(p, '\r', (size_t)(end - p));
	uint64_t fields = 0;
	struct line f = {p, p}, key = f, number[READ] = {f, f, f};
	bool missing = false, words = false, twice = false, says = false;

	for (uint32_t c = 0; c < m->spec.columns; c++)
		named |= m->spec.column[c].number == 0;
	const bool naming = m->spec.columns > 0 && named && m->first;
	const bool headed = m->spec.columns > 0 && !named && m->first;

	if (cr && (cr + 1 < end || !feed))
		return false;

	while (f.p < end && blank(*f.p))
		f.p++;
	if ((f.p == end && !(m->separator == '\t' && memchr(p, '\t', (size_t)(end - p)))) ||
	    *p == '#')
		return true;
	if (m->separator == 0)
		find_separator(m, p, end);
	for (bool more = true; more; p++) {
		if (m->separator == ' ') {
			while (p < end && blank(*p))
				p++;
			if (p == end)
				break;
		}
		if (!next(m, &p, end, &f))
			return false;
		fields++;
		more = p < end;
		words |= is_word(bare(f));
		if (fields == m->by)
			key = f;
		if (naming)
			twice |= !take_name(m, bare(f), fields);
		for (uint32_t c = 0; c < read; c++) {
			if (fields != m->number[c])
				continue;
			number[c] = f;
			missing |= is_missing(bare(f));
			says |= !is_numeral(bare(f)) && !is_missing(bare(f));
		}
	}
	m->first = false;
	for (uint32_t c = 0; c < read; c++)
		twice |= m->number[c] == 0;
	if (twice || (m->spec.by && m->by == 0))
		return false;
	if (naming || (headed && (says || (missing && words))))
		return true;
	m->key[m->n] = key;
	for (uint32_t c = 0; c < read; c++)
		if (fields < m->number[c] || add(m, number[c]) != 0)
			return false;
	return fields >= m->by &&
	       (m->by == 0 || (!memchr(bare(key).p, '\0', (size_t)(bare(key).end - bare(key).p)) &&
			       key_length(key) <= 4096));
}

/* Read all of the text. Return the number of the bad line, or 0. */
static uint64_t take_all(struct model *m, const char *p, size_t n)
{
	const char *const end = p + n;

	m->number[0] = 1;
	for (uint32_t c = 0; c < m->spec.columns; c++)
		m->number[c] = m->spec.column[c].number;
	m->by = m->spec.by_number;
	m->separator = m->spec.columns > 0 ? 0 : '\n';
	m->first = true;
	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	for (uint64_t line = 1; p < end; line++) {
		const char *const feed = memchr(p, '\n', (size_t)(end - p));
		const size_t before = m->n;
		if (!take_line(m, p, feed ? feed : end, feed)) {
			m->n = before;
			return line;
		}
		p = feed ? feed + 1 : end;
	}
	return 0;
}

/* Is this the text of a field? In quotes, "" stands for a quote. */
static bool is_key(struct line f, const char *text)
{
	const struct line s = bare(f);
	const bool quoted = s.p > f.p && s.p[-1] == '"';

	for (const char *p = s.p; p < s.end; p++, text++) {
		if (*p != *text)
			return false;
		p += quoted && *p == '"' && p + 1 < s.end && p[1] == '"';
	}
	return *text == '\0';
}

/* Keys have their texts, and numbers in the order in which they came. */
static void check_keys(const struct model *m, const unsigned char *out, size_t n, size_t bytes)
{
	const struct text_keys *const keys = m->spec.keys;
	uint32_t seen = 0, number;

	for (size_t i = 0; i < n; i++) {
		memcpy(&number, out + (i + 1) * bytes - sizeof(number), sizeof(number));
		REQUIRE(number < keys->n && is_key(m->key[i], keys->name[number]),
			"line of sample %zu has key %u", i, number);
		seen += number == seen;
		REQUIRE(number < seen, "key %u came before %u", number, seen);
	}
	for (uint32_t i = 1; i < seen && i < 200; i++)
		for (uint32_t k = 0; k < i; k++)
			REQUIRE(strcmp(keys->name[i], keys->name[k]) != 0, "key %u is %u again", i,
				k);
	REQUIRE(seen == keys->n, "%u keys, not %u", keys->n, seen);
}

/* Return the text with its long words, or NULL if it is too long. */
static char *stretch(const struct bytes *b, size_t *n)
{
	size_t words = 0;

	for (size_t i = 0; i < b->size; i++)
		words += b->data[i] == 1;
	if (words > 12)
		return NULL;
	char *const text = malloc(b->size + words * LONG + 1), *to = text;
	REQUIRE(text, "no memory");
	for (size_t i = 0; i < b->size; i++) {
		const size_t some = b->data[i] == 1 ? LONG : 1;
		memset(to, b->data[i] == 1 ? 'y' : b->data[i], some);
		to += some;
	}
	*n = (size_t)(to - text);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct model m;
	struct bytes in = {data, size};
	static unsigned char out[(8 + TEXT_KEY) * SAMPLES]; /* keys come with one column */
	static struct text_lines l;
	struct text_table table;
	size_t n, used = 0, at = 0;
	uint64_t lines = 0;
	bool pair, known = false;
	int rc = 1;

	m = (struct model){.spec.on = true};
	REQUIRE(sample_type_named(&m.spec.type, &pair, TYPES[take(&in, 1) % COUNT(TYPES)]) == 0,
		"type");
	static const char *const COLUMNS[] = {NULL, "1", "2", "3", "v", "w"};
	const unsigned columns = (unsigned)take(&in, 1), by = columns / 5 % 5, more = columns / 25;
	const unsigned column[READ] = {columns % 5, more % 5 + (more % 5 == 4), more / 5 % 5};
	for (unsigned c = 0; c < READ && column[0] > 0; c++)
		if (column[c] > 0)
			m.spec.column[m.spec.columns++] = (struct text_column){
				COLUMNS[column[c]], 1, false, column[c] < 4 ? column[c] : 0};
	if (m.spec.columns == 1 && by > 0) {
		m.spec.by = by < 4 ? COLUMNS[by] : "k";
		m.spec.by_number = by < 4 ? by : 0;
		m.spec.keys = text_keys_new();
		REQUIRE(m.spec.keys, "no memory");
	}
	const size_t piece = take(&in, 1) % 8 ? 1 + take(&in, 2) : SIZE_MAX;
	const size_t sample = m.spec.type.bits / 8, bytes = text_bytes(&m.spec),
		     cap = bytes * (1 + take(&in, 1) % 20);
	char *const text = in.size < BYTES ? stretch(&in, &n) : NULL;
	if (!text) {
		text_keys_free(m.spec.keys);
		return 0;
	}
	while (rc >= 0 && at < n) {
		/* Whole lines, `piece` bytes or just the first; a copy, to see reads beyond. */
		const size_t some = piece < n - at ? piece : n - at;
		const char *const feed = memchr(text + at + some - 1, '\n', n - at - some + 1);
		const size_t length = feed ? (size_t)(feed + 1 - text) - at : n - at;
		char *const copy = malloc(length + 2 + TEXT_PAD);
		REQUIRE(copy, "no memory");
		memcpy(copy, text + at, length);
		memset(copy + length, '\n', 2 + TEXT_PAD);
		if (!feed && copy[length - 1] == '\r')
			copy[length] = '\r';
		l = (struct text_lines){.at = copy, .starts_text = at == 0};
		l.end = copy + length + (feed ? 0 : copy[length - 1] == '\r' ? 2 : 1);
		if (!known)
			rc = text_begin(&table, &m.spec, &l);
		known |= rc > 0;
		while (known && rc >= 0 && l.at < l.end) {
			used += text_take(&table, &l, out + used, cap);
			rc = l.why[0] ? -1 : rc;
		}
		if (rc >= 0)
			lines += l.taken;
		at += length;
		free(copy);
	}
	if (rc >= 0 || l.bad_line > 0) {
		const uint64_t bad = take_all(&m, text, n);
		REQUIRE(bad == (rc < 0 ? lines + l.bad_line : 0), "line %llu, not %llu: %s",
			(unsigned long long)bad, (unsigned long long)(lines + l.bad_line), l.why);
		const size_t per_line = text_samples(&m.spec);
		REQUIRE(used * per_line == m.n * bytes, "%zu lines, not %zu samples", used / bytes,
			m.n);
		for (size_t i = 0; i < m.n; i++) {
			const unsigned char *const own =
				out + i / per_line * bytes + i % per_line * sample;
			uint64_t code = 0;
			for (size_t k = 0; k < sample; k++)
				code = code << 8 | own[m.spec.type.big ? k : sample - 1 - k];
			REQUIRE(code == m.code[i], "sample %zu is %llx, not %llx", i,
				(unsigned long long)code, (unsigned long long)m.code[i]);
		}
		if (m.spec.by)
			check_keys(&m, out, m.n, bytes);
	} else {
		REQUIRE(n >= 3 && strchr("\x28\x1f\xfd\x04PBfO", text[0]), "refused: %s", l.why);
	}
	text_keys_free(m.spec.keys);
	free(text);
	return 0;
}
