/* SPDX-License-Identifier: MIT */
/* header: .npy, all kinds of WAVE, PGM, PPM and safetensors, as other programs write them. */

#include "job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum header draw_header(const struct type *t, bool big_endian)
{
	bool wave = t->kind == SIGNED  ? t->bits > 8 && t->bits % 8 == 0
		    : t->kind == FLOAT ? t->bits >= 32
				       : t->bits == 8;
	bool picture = t->kind == UNSIGNED && (t->bits == 8 || (t->bits == 16 && big_endian));
	bool tensor = t->bits >= 8 && t->bits != 24 && !big_endian;
	enum header header = (enum header)(1 + below(4));

	if (header == TENSORS)
		return tensor ? TENSORS : HEADERLESS;

	if ((header == NUMPY && !t->numpy) || (header == WAVE && !wave) ||
	    (header == PICTURE && !picture))
		header = t->numpy ? NUMPY : wave ? WAVE : HEADERLESS;
	return header;
}

void draw_header_channels(struct job *j)
{
	unsigned channels = j->channels;

	if (j->header == TENSORS) {
		j->header_channels = j->channels = 1;
		j->channels_given = false;
		return;
	}
	if (j->header == PICTURE)
		channels = once_in(2) ? 3 : 1;
	j->header_channels = channels;
	j->channels = channels;
	j->channels_given = once_in(3);
	if (j->header == NUMPY && channels > 1) {
		j->last_axis = once_in(2);
		j->channels_given = !j->last_axis;
	} else if (j->header != NUMPY && once_in(3)) { /* all of them as channels */
		j->channels_given = true;
		j->channels = 1;
	}
}

/* ---- pieces ---- */

static void put(struct around *a, const void *bytes, size_t n)
{
	if (a->bytes_before + n > MAX_AROUND) {
		errno = E2BIG;
		die("header");
	}
	memcpy(a->before + a->bytes_before, bytes, n);
	a->bytes_before += n;
}

static void put_number(struct around *a, uint64_t x, unsigned bytes, bool big_endian)
{
	for (unsigned i = 0; i < bytes; i++) {
		unsigned char digit = (unsigned char)(x >> 8 * (big_endian ? bytes - 1 - i : i));

		put(a, &digit, 1);
	}
}

static void put_noise(struct around *a, size_t n)
{
	while (n--)
		put_number(a, draw(), 1, false);
}

/* ---- NumPy ---- */

static void put_shape(const struct job *j, char *text, size_t size, size_t items)
{
	size_t rows = items / j->header_channels;

	if (j->last_axis && rows % 2 == 0 && once_in(3))
		snprintf(text, size, "(%zu, 2, %u)", rows / 2, j->header_channels);
	else if (j->last_axis)
		snprintf(text, size, "(%zu, %u)", rows, j->header_channels);
	else if (items == 1 && once_in(2))
		snprintf(text, size, "()");
	else if (items % 3 == 0 && once_in(3))
		snprintf(text, size, "(%zu, 3)", items / 3);
	else if (items % 4 == 0 && once_in(3))
		snprintf(text, size, "(2, %zu,2)", items / 4);
	else
		snprintf(text, size, once_in(8) ? "(%zuL,)" : "(%zu,)", items);
}

static void make_numpy(const struct job *j, struct around *a, size_t bytes)
{
	const struct type *t = j->type;
	unsigned version = 1 + (unsigned)below(3), prefix = version == 1 ? 10 : 12;
	unsigned pad = once_in(4) ? 16 : 64, used;
	bool fortran = !j->last_axis && j->channels == 1 && once_in(4);
	char quote = once_in(8) ? '"' : '\'', order = j->big_endian ? '>' : '<';
	char shape[64], descr[64], rest[128], text[300];

	if (t->bits == 8)
		order = once_in(4) ? '<' : '|';
	put_shape(j, shape, sizeof(shape), bytes / (t->bits / 8));
	snprintf(descr, sizeof(descr), "%cdescr%c: %c%c%s%c", quote, quote, quote, order, t->numpy,
		 quote);
	snprintf(rest, sizeof(rest), "%cfortran_order%c: %s, %cshape%c: %s", quote, quote,
		 fortran ? "True" : "False", quote, quote, shape);
	if (once_in(4)) /* any order, with or without blanks */
		used = (unsigned)snprintf(text, sizeof(text), "{%s,%s}", rest, descr);
	else
		used = (unsigned)snprintf(text, sizeof(text), "{%s, %s, }", descr, rest);
	put(a, "\x93NUMPY", 6);
	put_number(a, version, 1, false);
	put_number(a, 0, 1, false);
	pad -= (prefix + used + 1) % pad;
	put_number(a, used + pad + 1, prefix - 8, false);
	put(a, text, used);
	while (pad--)
		put(a, " ", 1);
	put(a, "\n", 1);
}

/* ---- WAVE ---- */

struct wave {
	bool big_endian;  /* RIFX */
	bool sizes_apart; /* RF64, BW64 */
	bool piped;       /* sizes that are not known */
};

static void put_chunk(struct around *a, const struct wave *w, const char *id, size_t bytes)
{
	put(a, id, 4);
	put_number(a, bytes, 4, w->big_endian);
	put_noise(a, bytes);
	if (bytes % 2)
		put(a, "", 1);
}

static void put_format(const struct job *j, struct around *a, const struct wave *w)
{
	static const unsigned char guid[] = {0, 0, 0,    0, 0x10, 0,    0x80,
					     0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
	uint64_t tag = j->type->kind == FLOAT ? 3 : 1,
		 frame = (uint64_t)j->header_channels * j->type->bits / 8;
	bool extensible = !w->big_endian && once_in(3);
	unsigned bytes = extensible ? 40 : once_in(2) ? 16 : 18;

	put(a, "fmt ", 4);
	put_number(a, bytes, 4, w->big_endian);
	put_number(a, extensible ? 0xfffe : tag, 2, w->big_endian);
	put_number(a, j->header_channels, 2, w->big_endian);
	put_number(a, 48000, 4, w->big_endian);
	put_number(a, 48000 * frame, 4, w->big_endian);
	put_number(a, frame, 2, w->big_endian);
	put_number(a, j->type->bits, 2, w->big_endian);
	if (bytes > 16)
		put_number(a, bytes - 18, 2, w->big_endian);
	if (extensible) {
		put_number(a, j->type->bits, 2, false);
		put_number(a, 0, 4, false);
		put_number(a, tag, 2, false);
		put(a, guid, sizeof(guid));
	}
}

/* Append another file, which does not count, after the end of the first. */
static void make_second(struct around *a)
{
	static const char *const begins[] = {"RIFF", "RF64", "P5 10 10 255\n", "\x93NUMPY"};
	const char *begin = begins[below(4)];
	size_t n = 8 + below(40);

	fill_noise(a->after + a->bytes_after, n);
	memcpy(a->after + a->bytes_after, begin, strlen(begin) < 8 ? strlen(begin) : 8);
	memcpy(a->after + a->bytes_after + 8, "WAVE", 4);
	a->bytes_after += n + 4;
}

static void make_wave(const struct job *j, struct around *a, size_t bytes)
{
	struct wave w = {.big_endian = j->big_endian || (j->type->bits == 8 && once_in(8))};
	size_t frame = (size_t)j->header_channels * j->type->bits / 8;
	size_t size = bytes, riff;

	w.sizes_apart = !w.big_endian && once_in(4);
	w.piped = !w.sizes_apart && once_in(5);
	if (!w.piped && bytes % 2)
		a->after[a->bytes_after++] = 0;
	if (!w.piped && once_in(2)) { /* a chunk after the samples */
		size_t n = below(40);

		memcpy(a->after + a->bytes_after, once_in(2) ? "LIST" : "id3 ", 4);
		for (unsigned i = 0; i < 4; i++)
			a->after[a->bytes_after + 4 + i] =
				(unsigned char)(n >> 8 * (w.big_endian ? 3 - i : i));
		fill_noise(a->after + a->bytes_after + 8, n + n % 2);
		a->bytes_after += 8 + n + n % 2;
	}
	put(a, w.sizes_apart ? once_in(2) ? "RF64" : "BW64" : w.big_endian ? "RIFX" : "RIFF", 4);
	put_number(a, 0xffffffff, 4, w.big_endian); /* known once the file is complete */
	put(a, "WAVE", 4);
	if (w.sizes_apart) {
		put(a, "ds64", 4);
		put_number(a, 28, 4, false);
		put_number(a, 0, 8, false);
		put_number(a, bytes, 8, false);
		put_number(a, bytes / frame, 8, false);
		put_number(a, 0, 4, false);
	} else if (once_in(4)) {
		put_chunk(a, &w, "JUNK", 28);
	}
	if (once_in(4))
		put_chunk(a, &w, "LIST", below(60));
	put_format(j, a, &w);
	if (once_in(3))
		put_chunk(a, &w, "LIST", below(60));
	if (once_in(10))
		put_chunk(a, &w, "bext", 600 + below(1000));
	put(a, "data", 4);
	if (w.sizes_apart)
		size = 0xffffffff;
	else if (w.piped)
		size = once_in(2) ? 0xffffffff
				  : 0x7ffff000 - 0x7ffff000 % frame; /* sox: whole frames */
	put_number(a, size, 4, w.big_endian);
	riff = a->bytes_before - 8 + bytes + a->bytes_after;
	for (unsigned i = 0; i < 4 && !w.sizes_apart && !w.piped; i++)
		a->before[4 + i] = (unsigned char)(riff >> 8 * (w.big_endian ? 3 - i : i));
	for (unsigned i = 0; i < 8 && w.sizes_apart; i++)
		a->before[20 + i] = (unsigned char)((uint64_t)riff >> 8 * i);
	if (!w.piped && once_in(30))
		make_second(a);
}

/* ---- PGM and PPM ---- */

static void make_picture(const struct job *j, struct around *a, size_t bytes)
{
	static const char *const blanks[] = {" ",    "\t ",   " #\n",
					     "\r\n", "#17\n", "\n# a comment\n"};
	static const char *const lasts[] = {" ", "\n", "#18\n"};
	size_t width = bytes / (j->type->bits / 8) / j->header_channels, height = 1;
	unsigned most =
		j->type->bits == 8 ? 1 + (unsigned)below(255) : 256 + (unsigned)below(65280);
	char text[200];

	if (width % 2 == 0 && once_in(2)) {
		width /= 2;
		height = 2;
	}
	snprintf(text, sizeof(text), "P%c%s%zu%s%zu%s%u%s", j->header_channels == 3 ? '6' : '5',
		 blanks[below(6)], width, blanks[below(6)], height, blanks[below(6)], most,
		 lasts[below(3)]);
	put(a, text, strlen(text));
}

/* ---- safetensors ---- */

static size_t put_text(char *text, size_t used, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static size_t put_text(char *text, size_t used, size_t size, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	used += (size_t)vsnprintf(text + used, size - used, format, list);
	va_end(list);
	if (used >= size) {
		errno = E2BIG;
		die("header");
	}
	return used;
}

/* Write a member of the object, with its own members in any order. */
static size_t put_tensor(char *text, size_t used, size_t size, const char *name, const char *dtype,
			 size_t items, size_t begin, size_t end)
{
	const char *blank = once_in(3) ? " " : "";
	char shape[64];
	unsigned first = (unsigned)below(3);

	snprintf(shape, sizeof(shape), "[%zu]", items);
	if (items % 2 == 0 && once_in(2))
		snprintf(shape, sizeof(shape), "[2, %zu]", items / 2);
	else if (items == 1 && once_in(2))
		snprintf(shape, sizeof(shape), "[]");
	used = put_text(text, used, size, "\"%s\"%s:{", name, blank);
	for (unsigned i = 0; i < 3; i++) {
		const unsigned member = (first + i) % 3;

		if (member == 0)
			used = put_text(text, used, size, "\"dtype\":%s\"%s\"", blank, dtype);
		else if (member == 1)
			used = put_text(text, used, size, "\"shape\":%s%s", blank, shape);
		else
			used = put_text(text, used, size, "\"data_offsets\":[%zu,%s%zu]", begin,
					blank, end);
		used = put_text(text, used, size, i < 2 ? ",%s" : "%s}", blank);
	}
	return used;
}

/* Make the samples one tensor among others, which lie in any order in the header. */
static void make_tensors(const struct job *j, struct around *a, size_t bytes, bool absent)
{
	static const char *const floats[] = {"F8_E4M3", "F8_E5M2", "F16", "BF16", "F32", "F64"};
	const struct type *t = j->type;
	size_t before = below(600), after = below(600), used = 1;
	char text[3000] = "{", dtype[16];
	unsigned first = (unsigned)below(3), i;

	for (i = 0; i < 6 && t->kind == FLOAT; i++) {
		const char *plain = floats[i];
		const bool small = t->bits == 8, brain = t->name[0] == 'b';

		if (small ? (plain[1] == '8' && (plain[4] == '4') == t->finite)
			  : plain[1] != '8' && (plain[0] == 'B') == brain &&
				    atoi(plain + 1 + brain) == (int)t->bits)
			snprintf(dtype, sizeof(dtype), "%s", plain);
	}
	if (t->kind != FLOAT)
		snprintf(dtype, sizeof(dtype), "%c%u", t->kind == SIGNED ? 'I' : 'U', t->bits);
	if (t->kind == UNSIGNED && t->bits == 8 && once_in(3))
		snprintf(dtype, sizeof(dtype), "BOOL");
	if (once_in(2))
		used = put_text(text, used, sizeof(text),
				"\"__metadata__\": {\"" TENSOR_NAME "\":\"}\\\\\\\"{,\"},");
	for (i = 0; i < 3; i++) {
		const unsigned tensor = (first + i) % 3;

		used = tensor == 0   ? put_tensor(text, used, sizeof(text), "\\u00e9 \\\"", "U8",
						  before, 0, before)
		       : tensor == 1 ? put_tensor(text, used, sizeof(text),
						  absent ? TENSOR_NAME "2" : TENSOR_NAME, dtype,
						  bytes / (t->bits / 8), before, before + bytes)
				     : put_tensor(text, used, sizeof(text), "h", "I8", after,
						  before + bytes, before + bytes + after);
		used = put_text(text, used, sizeof(text), i < 2 ? "," : "}");
	}
	while (used % 8 || once_in(2))
		used = put_text(text, used, sizeof(text), " ");
	put_number(a, used, 8, false);
	put(a, text, used);
	put_noise(a, before);
	fill_noise(a->after, after);
	a->bytes_after = after;
}

void make_around(const struct job *j, struct around *a, size_t bytes, bool absent)
{
	a->bytes_before = a->bytes_after = 0;
	if (j->header == TENSORS)
		make_tensors(j, a, bytes, absent);
	if (j->header == NUMPY)
		make_numpy(j, a, bytes);
	else if (j->header == WAVE)
		make_wave(j, a, bytes);
	else if (j->header == PICTURE)
		make_picture(j, a, bytes);
	if ((j->header == NUMPY || j->header == PICTURE) && once_in(20)) { /* does not count */
		a->bytes_after = 1 + below(40);
		fill_noise(a->after, a->bytes_after);
	}
}
