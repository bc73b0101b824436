/* SPDX-License-Identifier: MIT */
/* files: reading and writing whole files. */

#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pack.h"
#include "../say.h"

void die(const char *what)
{
	fprintf(stderr, "torture: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t chance;

void chance_begin(uint64_t seed)
{
	chance = seed;
}

uint64_t draw(void)
{
	uint64_t x = chance += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

unsigned below(size_t n)
{
	return (unsigned)(draw() % n);
}

struct bytes slurp(const char *path)
{
	struct bytes b = {0};
	struct stat st;
	const int fd = open(path, O_RDONLY);

	if (fd < 0)
		return b;
	if (fstat(fd, &st) != 0 || !(b.data = malloc((size_t)st.st_size + 1)))
		die(path);
	while (b.n < (size_t)st.st_size) {
		const ssize_t got = read(fd, b.data + b.n, (size_t)st.st_size - b.n);
		if (got <= 0)
			die(path);
		b.n += (size_t)got;
	}
	b.data[b.n] = '\0';
	close(fd);
	return b;
}

void spill(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
		die(path);
}

bool same(struct bytes a, struct bytes b)
{
	return a.data && b.data && a.n == b.n && memcmp(a.data, b.data, a.n) == 0;
}

void make_input(const char *path, size_t n)
{
	uint32_t *sample = malloc(n * sizeof(*sample));

	if (!sample)
		die("malloc");
	for (size_t i = 0; i < n; i++) {
		const uint64_t x = draw();
		sample[i] = (uint32_t)(x >> 32) >> (x % 32);
	}
	spill(path, sample, n * sizeof(*sample));
	free(sample);
}

void make_packed(void)
{
	struct bytes small = slurp("small");
	struct pack many = pack_all((unsigned char *)small.data, small.n, 3), one = {.state = 1};

	spill("edges", "-20000, -7 0 1 # a comment\n9 30000", 34);
	spill("packed", many.data, many.bytes);
	pack_frame(&one, small.data, small.n, 3, false, true, 17);
	spill("single", one.data, one.bytes);
	spill("cut", one.data, one.bytes / 2);
	struct bytes large = slurp("large");
	one.bytes = 0;
	pack_frame(&one, large.data, 3 << 20, 1, true, true, 0);
	spill("long", one.data, one.bytes);
	free(large.data);
	free(many.data);
	free(one.data);
	free(small.data);
}

/* Write three tensors: 100 zeros, 20000 noisy floats, and one of a type that is not counted. */
static void make_tensors(void)
{
	static const char JSON[] =
		"{\"z\":{\"dtype\":\"U8\",\"shape\":[100],\"data_offsets\":[0,100]},"
		"\"w\":{\"dtype\":\"F16\",\"shape\":[200,100],\"data_offsets\":[100,40100]},"
		"\"q\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[40100,40101]}}";
	struct made file = {.at = NULL};

	put_number(&file, sizeof(JSON) - 1, 8);
	put_text(&file, JSON);
	for (size_t i = 0; i < 40101; i++)
		put_number(&file, i < 100 ? 0 : draw() & 63, 1);
	spill("tensors", file.at, file.bytes);
	free(file.at);
}

/* Write lines of two columns, and one that is longer than any buffer; the same in frames. */
void make_text(void)
{
	FILE *const f = fopen("text", "wb"), *const few = fopen("few-text", "wb");

	if (!f || !few)
		die("text");
	fprintf(f, "name,n\n%0300000d,7\n", 0);
	for (unsigned i = 0; i < 20000; i++)
		fprintf(f, "\"%u, %u\",%.*g\r\n", below(9), i, 1 + below(17), below(700) / 7.0);
	for (unsigned i = 0; i < 40; i++)
		fprintf(few, i % 8 ? "x %u\n" : "\"x \"\"\" %u\n", below(65536));
	if (fclose(f) != 0 || fclose(few) != 0)
		die("text");
	struct bytes text = slurp("text");
	struct pack packed = pack_all((unsigned char *)text.data, text.n, 3);
	spill("texts", packed.data, packed.bytes);
	free(packed.data);
	free(text.data);
}

void make_headed(void)
{
	struct bytes small = slurp("small");
	struct made wave = {.at = NULL};

	put_wave(&wave, &(struct wave){.form = "RIFF",
				       .tag = 1,
				       .channels = 2,
				       .bytes = 2,
				       .bits = 16,
				       .before = 100001,
				       .size = (uint32_t)small.n});
	spill("headed-cut", wave.at, wave.bytes - 1);
	put(&wave, small.data, small.n);
	put_chunk(&wave, "LIST", 100001, "data");
	spill("headed", wave.at, wave.bytes);
	struct pack pack = pack_all(wave.at, wave.bytes, 3);
	spill("headed-packed", pack.data, pack.bytes);
	make_tensors();
	free(pack.data);
	free(wave.at);
	free(small.data);
}
