/* SPDX-License-Identifier: MIT */
/* input: the offset of the samples in a file, and the facts in its header.
 *
 * It reads only headers of well-formed files. A header that is cut, or that describes
 * samples of no known type, is bad data.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

struct place {
	const char *name;    /* of the file, for messages */
	struct input *input; /* filled in as the header is read */
	uint64_t bytes;      /* of the file */
};

/* Return the bytes at an offset; if the file is too short, it is bad. */
static const unsigned char *need(const struct place *p, uint64_t at, uint64_t bytes)
{
	if (at > p->bytes || p->bytes - at < bytes)
		fail(FAIL_DATA, p->name, "ends too early");
	return p->input->data + at;
}

static uint64_t number_at(const struct place *p, uint64_t at, unsigned bytes, bool big_endian)
{
	const unsigned char *digit = need(p, at, bytes);
	uint64_t x = 0;

	for (unsigned i = 0; i < bytes; i++)
		x = x * 256 + digit[big_endian ? i : bytes - 1 - i];
	return x;
}

static void say_type(struct place *p, char kind, uint64_t bytes)
{
	char name[32];

	snprintf(name, sizeof(name), "%c%llu", kind, (unsigned long long)bytes * 8);
	p->input->type = type_named(name, strlen(name));
	if (!p->input->type)
		fail(FAIL_DATA, p->name, "not a type that can be counted");
}

/* ---- NumPy ---- */

/* Return the text after 'KEY': in the dictionary. */
static const char *value_of(const struct place *p, const char *dictionary, const char *key)
{
	const char *at = strstr(dictionary, key);

	if (!at)
		fail(FAIL_DATA, p->name, key);
	at += strlen(key) + 1; /* and the quote after it */
	while (*at == ' ' || *at == ':')
		at++;
	return at;
}

static void read_numpy(struct place *p)
{
	unsigned wide_length = need(p, 6, 1)[0] > 1;
	uint64_t length = number_at(p, 8, wide_length ? 4 : 2, false);
	uint64_t begin = wide_length ? 12 : 10, count = 1, axis = 0;
	char *dictionary = take_memory((size_t)length + 1, 1);
	const char *at;
	bool fortran;

	memcpy(dictionary, need(p, begin, length), (size_t)length);
	at = value_of(p, dictionary, "descr") + 1;
	p->input->big_endian = *at == '>';
	say_type(p, at[1], strtoull(at + 2, NULL, 10));
	fortran = *value_of(p, dictionary, "fortran_order") == 'T';
	at = value_of(p, dictionary, "shape") + 1;
	while (*at != ')') {
		char *end;

		axis = strtoull(at, &end, 10);
		if (end == at)
			fail(FAIL_DATA, p->name, "shape");
		count *= axis; /* the files are ours, so no product is large */
		p->input->dimensions++;
		at = end + strspn(end, "L, ");
	}
	free(dictionary);
	p->input->last_axis = fortran && p->input->dimensions > 1 ? 0 : axis;
	p->input->begin = begin + length;
	p->input->end = p->input->begin + count * p->input->type->bits / 8;
	need(p, p->input->begin, count * p->input->type->bits / 8);
}

/* ---- WAVE ---- */

static void read_wave_format(struct place *p, uint64_t at, bool big_endian)
{
	uint64_t tag = number_at(p, at, 2, big_endian);
	uint64_t channels = number_at(p, at + 2, 2, big_endian);
	uint64_t frame = number_at(p, at + 12, 2, big_endian);
	uint64_t bytes;

	if (tag == 0xfffe) /* the first two bytes of the GUID */
		tag = number_at(p, at + 24, 2, big_endian);
	if (channels < 1 || channels > MAX_CHANNELS || frame % channels)
		fail(FAIL_DATA, p->name, "channels");
	bytes = frame / channels;
	if (tag != 1 && tag != 3)
		fail(FAIL_DATA, p->name, "neither PCM nor floats");
	p->input->channels = (unsigned)channels;
	p->input->big_endian = big_endian;
	say_type(p, tag == 3 ? 'f' : bytes == 1 ? 'u' : 'i', bytes);
}

/* Is it a size left by a writer to a pipe: all ones, or sox's 0x7ffff000 in whole frames? */
static bool is_open(const struct input *in, uint64_t size)
{
	uint64_t frame = (uint64_t)in->channels * in->type->bits / 8;

	return size == 0xffffffff || size == 0x7ffff000 - 0x7ffff000 % frame;
}

static void read_wave(struct place *p)
{
	bool big_endian = !memcmp(p->input->data, "RIFX", 4);
	bool sizes_apart = !memcmp(p->input->data, "RF64", 4) || !memcmp(p->input->data, "BW64", 4);
	uint64_t apart = 0, at = 12;
	bool found = false;

	while (at < p->bytes && !found) { /* what follows the samples does not count */
		const unsigned char *id = need(p, at, 8);
		uint64_t size = number_at(p, at + 4, 4, big_endian);
		uint64_t body = at + 8;
		uint64_t rest = p->bytes - body;

		if (!memcmp(id, "ds64", 4))
			apart = number_at(p, body + 8, 8, false);
		if (!memcmp(id, "fmt ", 4))
			read_wave_format(p, body, big_endian);
		if (!memcmp(id, "data", 4)) {
			if (!p->input->type)
				fail(FAIL_DATA, p->name, "data before its format");
			if (sizes_apart && size == 0xffffffff)
				size = apart;
			else if (is_open(p->input, size) && size > rest)
				size = rest;
			found = true;
			need(p, body, size);
			p->input->begin = body;
			p->input->end = body + size;
		}
		at = body + size + size % 2;
	}
	if (!found)
		fail(FAIL_DATA, p->name, "no data");
}

/* ---- PGM and PPM ---- */

static uint64_t picture_number(struct place *p, uint64_t *at)
{
	uint64_t n = 0;

	for (;;) {
		if (*need(p, *at, 1) == '#')
			while (*need(p, *at, 1) != '\n')
				++*at;
		else if (!isspace(*need(p, *at, 1)))
			break;
		++*at;
	}
	if (!isdigit(*need(p, *at, 1)))
		fail(FAIL_DATA, p->name, "not a number");
	for (; isdigit(*need(p, *at, 1)); ++*at)
		n = n * 10 + (uint64_t)(*need(p, *at, 1) - '0');
	return n;
}

static void read_picture(struct place *p)
{
	uint64_t at = 2, width = picture_number(p, &at), height = picture_number(p, &at);
	uint64_t most = picture_number(p, &at), bytes = most < 256 ? 1 : 2;

	if (most < 1 || most > 65535)
		fail(FAIL_DATA, p->name, "maximum");
	p->input->channels = p->input->data[1] == '6' ? 3 : 1;
	p->input->big_endian = true;
	say_type(p, 'u', bytes);
	if (*need(p, at, 1) == '#') /* the newline that ends a comment is the one blank */
		while (*need(p, at, 1) != '\n')
			at++;
	p->input->begin = at + 1;
	p->input->end = at + 1 + width * height * p->input->channels * bytes;
	need(p, p->input->begin, p->input->end - p->input->begin);
}

/* ---- safetensors ---- */

static void read_tensor(struct place *p, const char *tensor)
{
	uint64_t length = number_at(p, 0, 8, false);
	char *json = take_memory((size_t)length + 1, 1), *at = json, *end, type[16] = "";
	size_t name = strlen(tensor);

	memcpy(json, need(p, 8, length), (size_t)length);
	/* The name in quotes, a colon and a brace. */
	for (; (at = strstr(at, tensor)); at++) {
		const char *after = at + name + 1;

		after += strspn(after, " :");
		if (at[-1] == '"' && at[name] == '"' && *after == '{')
			break;
	}
	p->input->absent = !at;
	p->input->begin = p->input->end = p->bytes;
	if (!at) {
		free(json);
		return;
	}
	at += name;
	end = strchr(strstr(at, "\"dtype\"") + 7, '"') + 1;
	for (size_t i = 0; *end != '"' && i < 15; end++)
		if (*end != '_')
			type[i++] = (char)tolower((unsigned char)*end);
	p->input->type =
		!strcmp(type, "bool") ? type_named("u8", 2) : type_named(type, strlen(type));
	if (!p->input->type)
		fail(FAIL_DATA, p->name, "the tensor is of a type that cannot be counted");
	p->input->channels = 1;
	at = strchr(strstr(at, "\"data_offsets\""), '[') + 1;
	p->input->begin = 8 + length + strtoull(at, &end, 10);
	p->input->end = 8 + length + strtoull(strchr(end, ',') + 1, NULL, 10);
	need(p, p->input->begin, p->input->end - p->input->begin);
	free(json);
}

struct input open_input(const char *name, const struct job *job)
{
	struct input in = {.begin = 0};
	struct place p = {name, &in, 0};
	bool riff;

	in.data = read_file(name, &p.bytes);
	in.end = p.bytes;
	if (job->raw)
		return in;
	if (job->tensor) {
		read_tensor(&p, job->tensor);
		return in;
	}
	riff = p.bytes >= 12 && !memcmp(in.data + 8, "WAVE", 4);
	if (p.bytes >= 8 && !memcmp(in.data, "\x93NUMPY", 6))
		read_numpy(&p);
	else if (riff && (!memcmp(in.data, "RIFF", 4) || !memcmp(in.data, "RIFX", 4) ||
			  !memcmp(in.data, "RF64", 4) || !memcmp(in.data, "BW64", 4)))
		read_wave(&p);
	else if (p.bytes >= 3 && in.data[0] == 'P' && (in.data[1] == '5' || in.data[1] == '6') &&
		 (isspace(in.data[2]) || in.data[2] == '#'))
		read_picture(&p);
	return in;
}
