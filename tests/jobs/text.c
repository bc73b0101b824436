/* SPDX-License-Identifier: MIT */
/* text: samples as text, in every form that --text reads; printf() writes and rounds them. */

#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void draw_text(struct job *j)
{
	j->text = j->layout == PLAIN && !j->header && j->type->bits % 8 == 0 && once_in(6);
	if (j->text && j->type->kind == FLOAT && j->type->bits >= 32 && once_in(2))
		j->whole = 1 + (unsigned)below(2);
	j->apart = j->text && j->channels > 1 && j->channels <= MAX_READ && !once_in(3);
	if (!j->text || (!j->apart && once_in(2)))
		return;
	const unsigned read = j->apart ? j->channels : 1;
	j->columns = read + (unsigned)below(once_in(20) ? 100 : 5);
	for (unsigned c = 0; c < read; c++) {
		bool taken = true;
		while (taken) {
			taken = false;
			j->column[c] = 1 + (unsigned)below(j->columns);
			for (unsigned k = 0; k < c; k++)
				taken |= j->column[k] == j->column[c];
		}
	}
	if (once_in(3))
		j->named = once_in(2) ? UINT64_MAX : draw();
}

/* The name of a column that is read: value, or v and its channel. */
static void name_of(char name[16], const struct job *j, unsigned channel)
{
	snprintf(name, 16, j->apart ? "v%u" : "value", channel);
}

static bool is_named(const struct job *j, unsigned channel)
{
	return j->named >> channel & 1;
}

void text_arguments(const struct job *j, char *text, char *names, size_t size)
{
	size_t used = 0, own = 0;

	text[0] = names[0] = '\0';
	for (unsigned c = 0; c < (j->apart ? j->channels : j->columns > 0); c++) {
		const char *const comma = c > 0 ? "," : "", *const quote = once_in(9) ? "\"" : "";
		char name[16];
		name_of(name, j, c);
		if (!is_named(j, c))
			snprintf(name, sizeof(name), "%u", j->column[c]);
		used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", comma,
					 is_named(j, c) ? quote : "", name,
					 is_named(j, c) ? quote : "");
		own += (size_t)snprintf(names + own, size - own, "%s%s", comma, name);
	}
}

/* ---- numbers ---- */

static uint64_t get_code(const struct job *j, const unsigned char *at)
{
	const unsigned bytes = j->type->bits / 8;
	uint64_t code = 0;

	for (unsigned k = 0; k < bytes; k++)
		code |= (uint64_t)at[j->big_endian ? bytes - 1 - k : k] << 8 * k;
	return code;
}

static void put_code(const struct job *j, unsigned char *at, uint64_t code)
{
	const unsigned bytes = j->type->bits / 8;

	for (unsigned k = 0; k < bytes; k++)
		at[j->big_endian ? bytes - 1 - k : k] = (unsigned char)(code >> 8 * k);
}

static const char *one_of(const char *const *words, unsigned n)
{
	return words[below(n)];
}
#define ONE_OF(...)                                \
	one_of((const char *const[]){__VA_ARGS__}, \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_whole(FILE *f, const struct job *j, uint64_t code)
{
	const bool negative = j->type->kind == SIGNED && code & sign_of(j->type);
	const unsigned long long x = negative ? -code & mask_of(j->type) : code;

	fprintf(f, "%s", negative ? "-" : once_in(9) ? "+" : "");
	switch (below(12)) {
	case 0:
		fprintf(f, once_in(2) ? "0x%llx" : "0X%llXp0", x);
		break;
	case 1:
		fprintf(f, "000%llu.", x);
		break;
	case 2:
		fprintf(f, "%llu00.00e-2", x);
		break;
	case 3:
		fprintf(f, "%llue+0", x);
		break;
	default:
		fprintf(f, "%llu", x);
	}
}

/* Print the shortest %g that reads back, as Python's repr does. */
static void put_repr(FILE *f, double x)
{
	char text[400];
	int digits = 1;

	do
		snprintf(text, sizeof(text), "%.*g", digits++, x);
	while (strtod(text, NULL) != x);
	fprintf(f, "%s", text);
}

/*
 * Print few digits, which may round x, and correct the sample. False: strtod cannot round to this
 * type.
 */
static bool put_rounded(FILE *f, const struct job *j, unsigned char *at, double x, uint64_t sign)
{
	char text[400];
	uint64_t code = 0;

	if (j->type->bits < 32)
		return false;
	snprintf(text, sizeof(text), once_in(2) ? "%g" : "%.6f", x);
	const double real = strtod(text, NULL);
	const float half = strtof(text, NULL);
	memcpy(&code, j->type->bits == 64 ? (const void *)&real : &half, j->type->bits / 8);
	put_code(j, at, code | sign);
	fprintf(f, "%s", text);
	return true;
}

/* Print the middle between an even code and the next: a tie, which rounds to the even code. */
static bool put_middle(FILE *f, const struct job *j, uint64_t magnitude, double x)
{
	const double next = real_of_key(j->type, (magnitude + 1) | sign_of(j->type));

	if (magnitude & 1 || magnitude + 1 >= infinity_of(j->type))
		return false;
	fprintf(f, "%.1100Le", ((long double)x + (long double)next) / 2);
	return true;
}

static void put_real(FILE *f, const struct job *j, unsigned char *at, uint64_t code, bool first,
		     bool few)
{
	const uint64_t sign = code & sign_of(j->type), magnitude = code & ~sign;
	const bool nan = magnitude > infinity_of(j->type) ||
			 (j->type->finite && magnitude == infinity_of(j->type));
	const double x = nan ? 0 : real_of_key(j->type, magnitude | sign_of(j->type));

	if (nan) { /* text has only one NaN: --stats tells them apart */
		put_code(j, at,
			 infinity_of(j->type) |
				 (j->type->finite ? 0
						  : (sign_of(j->type) - infinity_of(j->type)) / 2));
		/* A first line with a missing number may be a header. */
		fprintf(f, "%s",
			first ? ONE_OF("nan", "NaN", "-nan")
			      : ONE_OF("nan", "NaN", "-nan", "NA", "null", "NULL"));
		return;
	}
	fprintf(f, "%s", sign ? "-" : "");
	if (isinf(x)) {
		fprintf(f, "%s", ONE_OF("inf", "INF", "Infinity"));
		return;
	}
	const uint64_t form = below(12);
	if (form < 2 && put_rounded(f, j, at, x, sign))
		return;
	if (form == 2 && few && put_middle(f, j, magnitude, x))
		return;
	if (form < 5)
		put_repr(f, x);
	else if (form < 7 || !few)
		fprintf(f, "%.17g", x);
	else if (form < 9)
		fprintf(f, once_in(2) ? "%.18e" : "%a", x);
	else
		fprintf(f, "%.1074f", x);
}

static void put_number(FILE *f, const struct job *j, unsigned char *at, bool first, bool few)
{
	const uint64_t code = get_code(j, at);

	if (j->type->kind == FLOAT)
		put_real(f, j, at, code, first, few);
	else
		put_whole(f, j, code);
}

/* ---- lines ---- */

static void put_other(FILE *f, char separator, bool few)
{
	if (few && once_in(10)) { /* longer than any buffer */
		const size_t n = below(200000);
		const bool quoted = once_in(2);

		fprintf(f, "%s", quoted ? "\"" : "x");
		for (size_t i = 0; i < n; i++)
			fputc(quoted && i % 1000 == 0 ? separator : 'x', f);
		fprintf(f, "%s", quoted ? "\"" : "");
		return;
	}
	if (separator != ' ' && once_in(6))
		fprintf(f, "3.5\" x");
	else
		fprintf(f, "%s",
			ONE_OF("12", "x", "2026-11-25T01:02:03", "\"a, b;c\td \"\"e\"\"\"", "-"));
}

static void put_blanks(FILE *f, char separator, bool first)
{
	do
		fputc(separator == ' ' && !first && once_in(4) ? '\t' : ' ', f);
	while (once_in(3));
}

/* Print the name of a column with numbers; among names, a missing number is a name, too. */
static void put_name(FILE *f, const struct job *j, unsigned channel, char separator)
{
	char name[16];

	name_of(name, j, channel);
	if (is_named(j, channel) || j->columns == 1 || (j->apart && channel == 0) || once_in(2))
		fprintf(f, "%s", name);
	else
		fprintf(f, "%s", separator == ' ' ? "Na" : ONE_OF("", "Na"));
}

/* Print a line of fields, with the samples of a record; at is NULL: the header. */
static void put_fields(FILE *f, const struct job *j, unsigned char *at, char separator, bool first,
		       bool few)
{
	const unsigned read = j->apart ? j->channels : 1;

	for (unsigned c = 1; c <= j->columns; c++) {
		unsigned channel = 0;
		while (channel < read && j->column[channel] != c)
			channel++;
		if (c > 1 && separator != ' ')
			fputc(separator, f);
		if ((c > 1 && separator == ' ') || once_in(20))
			put_blanks(f, separator, first);
		if (channel == read && !at) {
			fprintf(f, "%s", ONE_OF("x", "\"a, b\"", "name_2"));
			continue;
		}
		if (channel == read) {
			put_other(f, separator, few && !first);
			continue;
		}
		const char *const quote = once_in(8) ? "\"" : "";
		fprintf(f, "%s", quote);
		if (at)
			put_number(f, j, at + channel * j->type->bits / 8, first, few);
		else
			put_name(f, j, channel, separator);
		fprintf(f, "%s", quote);
	}
}

static void put_lines(FILE *f, const struct job *j, unsigned char *data, size_t lines)
{
	const char separator = "\t,; "[below(4)];
	const char *const end = once_in(4) ? "\r\n" : "\n";
	const size_t bytes = (j->apart ? j->channels : 1) * j->type->bits / 8;
	const bool few = lines < 500;
	bool first = true;

	if (once_in(6))
		fprintf(f, "\xef\xbb\xbf");
	if (j->columns > 0 && lines > 0 && (j->named || once_in(2))) {
		put_fields(f, j, NULL, separator, true, few);
		fprintf(f, "%s", end);
		first = false;
	}
	for (size_t i = 0; i < lines; i++, first = false) {
		unsigned char *const at = data + i * bytes;
		if (once_in(100))
			fprintf(f, "%s%s", ONE_OF("", "  ", "# 1, 2", "#"), end);
		if (j->columns > 0) {
			put_fields(f, j, at, separator, first, few);
		} else {
			fprintf(f, "%s", once_in(20) ? "  " : "");
			put_number(f, j, at, first, few);
			fprintf(f, "%s", once_in(20) ? " \t" : "");
		}
		fprintf(f, "%s", i + 1 == lines && once_in(3) ? "" : end);
	}
}

/* Make samples whole, up to 2^53 but for a few. */
static void make_whole(const struct job *j, unsigned char *at, size_t samples)
{
	const unsigned bytes = j->type->bits / 8;

	for (size_t i = 0; i < samples; i++) {
		unsigned char *const own = at + i * bytes;
		uint64_t code = get_code(j, own);
		float half;
		double real;
		if (i % j->channels % j->whole > 0 || once_in(100000))
			continue;
		memcpy(&half, &code, sizeof(half));
		memcpy(&real, &code, sizeof(real));
		real = bytes == 4 ? (double)half : real;
		if (isnan(real))
			continue;
		real = isinf(real) ? 0 : rint(fmod(real, ldexp(1, 53)));
		half = (float)real;
		code = 0;
		memcpy(&code, bytes == 4 ? (const void *)&half : &real, bytes);
		put_code(j, own, code);
	}
}

void write_text(const struct job *j, struct input *in)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (j->whole)
		make_whole(j, in->data + in->before,
			   (in->bytes - in->before) / (j->type->bits / 8));
	if (!f || fwrite(in->data, 1, in->before, f) != in->before)
		die("memory");
	put_lines(f, j, in->data + in->before,
		  (in->bytes - in->before) / (j->type->bits / 8) / (j->apart ? j->channels : 1));
	if (fclose(f))
		die("memory");
	in->oracle = in->data; /* as the text has rounded it */
	in->oracle_bytes = in->bytes;
	in->data = (unsigned char *)text;
	in->bytes = bytes;
}
