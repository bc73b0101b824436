/* SPDX-License-Identifier: MIT */
/* input: makes, compresses and writes inputs. */

#include "job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pack.h"

const char *const route_names[] = {
	"", "FIFO", "redirected", "redirected at an offset", "pipe", "trickling pipe",
};

static size_t draw_bytes(void)
{
	uint64_t kind = below(100);

	if (kind < 5)
		return below(10);
	if (kind < 80)
		return below(5000);
	if (kind < 96)
		return below(60000);
	if (kind < 99)
		return below(200000);
	/* near the end of one of the program's blocks, which hold up to 4 MiB */
	return ((size_t)65536 << below(5)) * (1 + below(4)) + below(11) - 5;
}

static void write_file(const char *path, const unsigned char *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes || close(fd))
		die(path);
}

#define LONG_FRAME ((size_t)5 << 19)
#define STATS_SAMPLES ((size_t)4 << 20) /* with --stats; the oracle keeps and sorts them all */

/* Draw the number of records; large records are few. */
static size_t draw_records(const struct job *j, bool packs)
{
	/* A range grows from block to block and from chunk to chunk. */
	size_t more = is_automatic(j) && once_in(3) ? below(300000) : 0;
	size_t records = (draw_bytes() + more) / (size_t)j->stride;

	/* A frame that is decoded block by block. */
	if (packs && j->stride < 1000 && once_in(3))
		records = (LONG_FRAME + below(LONG_FRAME)) / (size_t)j->stride;
	if (j->text && records > LONG_FRAME / 100)
		records = LONG_FRAME / 100; /* printing them is slow, and so are many rows */
	if (records < 2 && j->stride > 200)
		records = below(j->stride > 1 << 20 ? 2 : 4);
	if (j->quantiles[0] && records > STATS_SAMPLES * j->type->bits / 8 / (size_t)j->stride)
		records = STATS_SAMPLES * j->type->bits / 8 / (size_t)j->stride;
	/* Samples that are counted as one channel must fill whole frames. */
	return records - (j->channels == 1 ? records % j->header_channels : 0);
}

/* Draw the bytes after the last whole record, or group: mostly none, or a few packed records. */
static size_t draw_tail(const struct job *j)
{
	uint64_t bits = j->channels * j->type->bits;

	if (once_in(12))
		return below(j->stride < 4096 ? j->stride : 4096);
	if (j->layout != PLAIN || bits < 8 || once_in(2))
		return 0;
	return (below(8 * j->stride / bits) * bits + 7) / 8;
}

static bool is_text(const unsigned char *data, size_t bytes)
{
	if (bytes < 16)
		return false;
	/* More than the program accepts as text: bytes of UTF-8 in any order. */
	for (size_t i = 0; i < bytes && i < 4096; i++)
		if (data[i] < '\t' || (data[i] > '\r' && data[i] < ' ') || data[i] == 0x7f)
			return false;
	return true;
}

/* Make an input. last: no input follows, so this one holds the tensor. */
static void make_input(const struct job *j, struct input *in, const char *folder, unsigned k,
		       bool packs, bool last)
{
	static struct around around;
	struct job own = *j;
	size_t records = draw_records(j, packs), bytes;
	size_t tail = draw_tail(j);
	size_t front = j->skip;

	/* If the options give everything, later inputs need no header. */
	if (k && j->type_given && j->channels_given && once_in(3))
		own.header = HEADERLESS;
	if (j->header == PICTURE && !records)
		records = 3;
	if (j->header == NUMPY || j->header == PICTURE || j->header == TENSORS ||
	    (j->header && j->channels != j->header_channels))
		tail = 0;             /* headers promise whole samples */
	if (j->skip && once_in(60)) { /* ends before the skip does */
		front = below(j->skip);
		front -= j->header ? front % (j->header_channels * j->type->bits / 8) : 0;
		records = tail = 0;
	}
	if (j->text)
		tail -= tail % (j->apart ? j->stride : j->type->bits / 8);
	const bool absent = j->header == TENSORS && !last && once_in(2);
	in->records = absent ? 0 : records;
	bytes = front + records * (size_t)j->stride + tail;
	make_around(&own, &around, bytes, absent);
	in->compressed = in->damaged = false;
	in->front = around.bytes_before + front;
	in->before = in->route == REDIRECT_INSIDE ? 1 + below(9000) : 0;
	in->bytes = in->before + around.bytes_before + bytes + around.bytes_after;
	in->data = malloc(in->bytes + 1);
	if (!in->data)
		die("memory");
	fill_noise(in->data, in->before);
	memcpy(in->data + in->before, around.before, around.bytes_before);
	fill_noise(in->data + in->before + around.bytes_before, front);
	fill_records(j, in->data + in->before + around.bytes_before + front, records);
	fill_noise(in->data + in->bytes - around.bytes_after - tail, tail);
	memcpy(in->data + in->bytes - around.bytes_after, around.after, around.bytes_after);

	in->text = is_text(in->data + in->before, in->bytes - in->before);
	in->at_once = j->limited && j->header;
	in->lines = j->text;
	if (j->text)
		write_text(j, in);
	snprintf(in->file, PATH_BYTES, "%s/in%u", folder, k);
	snprintf(in->fifo, PATH_BYTES, "%s/fifo%u", folder, k);
	snprintf(in->plain, PATH_BYTES, "%s/%s%u", folder, in->before || j->text ? "cut" : "in", k);
	write_file(in->file, in->data, in->bytes);
	if (j->text)
		write_file(in->plain, in->oracle + in->before, in->oracle_bytes - in->before);
	else if (in->before)
		write_file(in->plain, in->data + in->before, in->bytes - in->before);
	free(in->oracle);
	if (in->route == BY_FIFO && mkfifo(in->fifo, 0600))
		die(in->fifo);
}

/*
 * Compress the same samples for gpuhist alone, after the bytes before the offset; told: the frames
 * declare their size.
 */
static void compress_input(struct input *in, const char *folder, unsigned k)
{
	const size_t bytes = in->bytes - in->before;
	struct pack p = {.state = draw() | 1};

	if (bytes > LONG_FRAME && !once_in(3))
		pack_frame(&p, in->data + in->before, bytes, 1 + (int)below(5), once_in(2), true,
			   0);
	else
		p = pack_all(in->data + in->before, bytes, p.state);
	unsigned char *all = malloc(in->before + p.bytes);

	if (!all)
		die("memory");
	/* Until now the oracle reads the same file. */
	if (!in->before && !in->lines) {
		snprintf(in->plain, PATH_BYTES, "%s/cut%u", folder, k);
		write_file(in->plain, in->data, in->bytes);
	}
	memcpy(all, in->data, in->before);
	memcpy(all + in->before, p.data, p.bytes);
	free(p.data);
	free(in->data);
	in->data = all;
	in->bytes = in->before + p.bytes;
	in->compressed = true;
	write_file(in->file, in->data, in->bytes);
}

unsigned make_inputs(const struct job *j, struct input *in, const char *folder)
{
	unsigned inputs = once_in(4) ? 2 + (unsigned)below(MAX_INPUTS - 1) : 1;
	unsigned piped = (unsigned)below(inputs + inputs / 2); /* or none */
	bool plain = !once_in(3);

	for (unsigned k = 0; k < inputs; k++) {
		in[k].route = once_in(6) && j->slices == 0 ? BY_FIFO : BY_NAME;
		if (k == piped && !once_in(4))
			in[k].route = (enum route)(REDIRECT + below(j->slices > 0 ? 2 : 4));
		make_input(j, &in[k], folder, k, !plain, k + 1 == inputs);
	}
	for (unsigned k = 0; k < inputs; k++)
		plain |= looks_compressed(&in[k]);
	plain |= j->slices > 0 && !j->each;
	bool all = once_in(2);
	for (unsigned k = 0; k < inputs && !plain; k++)
		if (all || once_in(2)) {
			in[k].at_once = j->limited;
			compress_input(&in[k], folder, k);
		}
	return inputs;
}

bool looks_compressed(const struct input *in)
{
	static const struct {
		size_t bytes;
		unsigned char magic[4];
	} formats[] = {
		{4, {0x28, 0xb5, 0x2f, 0xfd}}, /* zstd */
		{2, {0x1f, 0x8b}},             /* gzip */
		{4, {0xfd, '7', 'z', 'X'}},    /* xz */
		{3, {'B', 'Z', 'h'}},          /* bzip2 */
		{4, {0x04, 0x22, 0x4d, 0x18}}, /* lz4 */
		{4, {0x02, 0x21, 0x4c, 0x18}}, /* lz4, legacy */
		{4, {'P', 'K', 3, 4}},         /* zip */
	};
	static const unsigned char skippable[] = {0x2a, 0x4d, 0x18};
	const unsigned char *at = in->data + in->before;
	size_t bytes = in->bytes - in->before;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (bytes >= formats[i].bytes && !memcmp(at, formats[i].magic, formats[i].bytes))
			return true;
	/* skippable frames of zstd: 0x184d2a50 to 5f, little endian */
	return bytes >= 4 && at[0] >> 4 == 5 && !memcmp(at + 1, skippable, sizeof(skippable));
}

/* ---- damage ---- */

enum { LARGEST_FRAME = 1 << 24 };

/* Return the offset of the first block in a frame. */
static size_t frame_header(const unsigned char *at)
{
	static const unsigned dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
	const bool single = at[4] & 0x20;

	return 5u + !single + dictionary[at[4] & 3] + content[at[4] >> 6] +
	       (single && at[4] >> 6 == 0);
}

/* Give a block of the frame the reserved type, which no decoder accepts. */
static void damage_block(unsigned char *at)
{
	const uint64_t block = below(5);
	unsigned char *p = at + frame_header(at);

	for (uint64_t k = 0; k < block && !(p[0] & 1); k++) {
		const size_t header = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16;
		p += 3 + ((header >> 1 & 3) == 1 ? 1 : header >> 3);
	}
	p[0] |= 6;
}

static bool damage_input(struct input *in)
{
	static unsigned char decoded[LARGEST_FRAME];
	size_t begin = 0, stored;
	unsigned frame = (unsigned)below(12);

	for (size_t at = in->before; at < in->bytes; at += stored, begin += in->bad_to - begin) {
		unsigned char *const p = in->data + at;
		stored = ZSTD_findFrameCompressedSize(p, in->bytes - at);
		const size_t n = ZSTD_isError(stored)
					 ? stored
					 : ZSTD_decompress(decoded, sizeof(decoded), p, stored);
		if (ZSTD_isError(stored) || ZSTD_isError(n))
			return false;
		in->bad_from = begin;
		in->bad_to = begin + n;
		/* Leave alone frames that are skipped, hold a header, or are empty. */
		if (p[0] != 0x28 || n == 0 || begin < in->front || frame-- > 0)
			continue;
		in->damaged = true;
		in->sum_damaged = p[4] & 4 && once_in(2);
		if (in->sum_damaged)
			p[stored - 1 - below(4)] ^= (unsigned char)(1 << below(8));
		else
			damage_block(p);
		write_file(in->file, in->data, in->bytes);
		return true;
	}
	return false;
}

void damage_inputs(struct input *in, unsigned inputs)
{
	const unsigned first = (unsigned)below(inputs);

	for (unsigned k = 0; k < inputs; k++) {
		struct input *const one = &in[(first + k) % inputs];
		if (one->compressed && !one->lines && damage_input(one))
			return;
	}
}
