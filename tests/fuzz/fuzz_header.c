/* SPDX-License-Identifier: MIT */
/*
 * header: any bytes. Parsed step by step, they are a header, a bad header, or none, as the first
 * bytes decide. A header that is found is possible; it is found again in its own bytes and in no
 * fewer; and the numbers of a picture or a WAVE, read here in the plainest way, agree with it. Then
 * the bytes become an input: a file, a pipe, or a zstd frame in either. Exactly its samples are
 * counted, or it is refused if it must be.
 *
 * The head of the input: flags, skip, limit; the rest is the input.
 */
#include "format/first.h"
#include "input/source_open.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "fuzz.h"
#include "../take.h"
#include "../header_parse.h"

/* ---- the parser ---- */

static enum header_result steps(struct header_scan *h, const uint8_t *p, size_t n)
{
	enum header_result result;
	uint64_t end = 0;
	size_t count = 0;

	for (result = header_first(h, p, n); result == HEADER_MORE; count++) {
		REQUIRE(h->at >= end && h->want >= 1 && h->want <= HEADER_PIECE && count < 6000,
			"step %zu", count);
		end = h->at + h->want;
		const size_t from = h->at < n ? (size_t)h->at : n,
			     there = n - from < h->want ? n - from : h->want;
		uint8_t *copy = malloc(there > 0 ? there : 1);
		memcpy(copy, p + from, there);
		result = header_step(h, copy, there);
		free(copy);
	}
	return result;
}

static uint64_t plain_number(const uint8_t *p, unsigned bytes, bool big)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[big ? i : bytes - 1 - i];
	return v;
}

/* Check the numbers of a WAVE that was found: its fmt chunk, and the size before the samples. */
static void check_wave(const struct header *h, const uint8_t *p)
{
	const bool big = memcmp(p, "RIFX", 4) == 0;
	size_t at = 12;

	while (memcmp(p + at, "fmt ", 4) != 0) {
		const uint64_t size = plain_number(p + at + 4, 4, big);
		at += 8 + (size_t)(size + size % 2);
		REQUIRE(at + 24 < h->begin, "no fmt chunk");
	}
	const uint64_t channels = plain_number(p + at + 10, 2, big),
		       block = plain_number(p + at + 20, 2, big);
	REQUIRE(h->channels == channels && block == channels * h->type.code_bytes, "%u channels",
		h->channels);
	REQUIRE(h->type.big == (big && h->type.code_bytes > 1), "%s", h->type.name);
	REQUIRE(memcmp(p + h->begin - 8, "data", 4) == 0, "no samples");
	const uint64_t size = plain_number(p + h->begin - 4, 4, big);
	REQUIRE(h->bytes == size || (size == UINT32_MAX && p[1] != 'I'), "%llu bytes",
		(unsigned long long)h->bytes);
	REQUIRE((h->type.kind == SAMPLE_UNSIGNED) == (h->type.code_bytes == 1), "%s", h->type.name);
}

/* Check the numbers of a picture: three, separated by white space and comments. */
static void check_picture(const struct header *h, const uint8_t *p)
{
	uint64_t number[3];
	size_t at = 2;

	for (unsigned i = 0; i < 3; i++) {
		bool comment = false;
		for (; comment || p[at] < '0' || p[at] > '9'; at++)
			comment = p[at] == '#' || (comment && p[at] != '\n' && p[at] != '\r');
		number[i] = strtoull((const char *)p + at, NULL, 10);
		while (p[at] >= '0' && p[at] <= '9')
			at++;
	}
	if (p[at] == '#') /* the newline that ends a comment is the white space */
		while (p[at] != '\n' && p[at] != '\r')
			at++;
	REQUIRE(h->begin == at + 1 && h->channels == (p[1] == '5' ? 1 : 3), "%llu",
		(unsigned long long)h->begin);
	REQUIRE(h->type.code_bytes == (number[2] > 255 ? 2 : 1) && number[2] < 65536, "%s",
		h->type.name);
	REQUIRE((uint128_t)number[0] * number[1] * h->channels * h->type.code_bytes == h->bytes,
		"%llu", (unsigned long long)h->bytes);
}

static enum header_result check_parser(struct header_scan *h, const uint8_t *p, size_t n)
{
	const enum header_result result = steps(h, p, n);
	struct header_scan again;

	REQUIRE((result == HEADER_NONE) == !header_known(p, n), "%d", result);
	REQUIRE((result == HEADER_BAD) == (h->why[0] != '\0'), "%d: %s", result, h->why);
	REQUIRE(header_parse(&again, p, n) == result, "not the same in memory");
	if (result != HEADER_FOUND)
		return result;
	const size_t begin = (size_t)h->header.begin;
	struct sample_type type;
	char text[HEADER_TEXT];
	REQUIRE(begin <= n && header_parse(&again, p, begin) == HEADER_FOUND, "%zu of %zu", begin,
		n);
	REQUIRE(memcmp(&again.header.begin, &h->header.begin, sizeof(h->header.begin)) == 0, "%zu",
		begin);
	REQUIRE(header_parse(&again, p, begin - 1) == HEADER_BAD, "found without its last byte");
	REQUIRE(sample_type_parse(&type, h->header.type.name) == 0 &&
			type.code_bytes == h->header.type.code_bytes,
		"%s", h->header.type.name);
	header_text(text, &h->header);
	if (p[0] == 'P')
		check_picture(&h->header, p);
	else if (p[0] != 0x93)
		check_wave(&h->header, p);
	else
		REQUIRE(h->header.bytes % (type.code_bytes * h->header.channels) == 0, "%s", text);
	return result;
}

/* Does it begin as a format whose magic number is not at its first byte? */
static bool check_later(const uint8_t *p, size_t n)
{
	const bool tar = n >= 262 && memcmp(p + 257, "ustar", 5) == 0,
		   tensors = n >= 10 && memcmp(p + 4, "\0\0\0\0{\"", 6) == 0;
	const struct input_format *format;

	REQUIRE(!(tar || tensors) || first_format(p, n, FORMATS_ALL, &format) == HEADER_FOUND,
		"%d, %d", tar, tensors);
	return tar || tensors;
}

/* ---- the source ---- */

/* Find how many of n bytes must be counted, with records of one byte; false: must be refused. */
static bool model(struct header_scan *h, enum header_result result, size_t n, bool sized,
		  const struct setup *spec, size_t *from, size_t *bytes)
{
	const struct header *found = &h->header;
	size_t begin = 0, end = n;
	bool right = result != HEADER_BAD;

	if (result == HEADER_FOUND) {
		begin = (size_t)found->begin;
		const bool believed =
			!found->open || (found->bytes > 0 && sized && found->bytes <= n - begin);
		if (believed && found->bytes <= n - begin)
			end = begin + (size_t)found->bytes;
		else if (believed)
			right = spec->open.ignore_tail;
	}
	*from = begin + (size_t)spec->open.skip;
	if (spec->open.skip > end - begin)
		return false;
	*bytes = end - *from;
	if (result == HEADER_BAD)
		return false;
	if (spec->use.limit <= *bytes) { /* the program ignores everything after the last record */
		*bytes = (size_t)spec->use.limit;
		return true;
	}
	return right;
}

static int open_input(const uint8_t *bytes, size_t n, bool piped)
{
	int ends[2];

	if (!piped) {
		const int fd = memfd_create("input", MFD_CLOEXEC);
		REQUIRE(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "a file");
		return fd;
	}
	REQUIRE(pipe(ends) == 0 && write(ends[1], bytes, n) == (ssize_t)n, "a pipe");
	close(ends[1]);
	return ends[0];
}

/* Read everything; the records' bytes come in order, because there is only one reader. */
static int read_all(const struct setup *spec, uint8_t *data, size_t most, size_t *used,
		    struct fail *fail)
{
	uint8_t buffer[64];
	struct source *s;
	struct chunk chunk;

	*used = 0;
	if (setup_open(&s, spec, fail) != 0)
		return -1;
	int rc = 0;
	struct reader *const reader = source_reader(s);
	for (unsigned i = 0; rc == 0; i++) {
		const struct want want = {
			.buffer = buffer, .cap = sizeof(buffer), .lent = i % 3 == 0};
		rc = source_take(reader, &want, &chunk, fail);
		if (rc != 0 || chunk.bytes == 0)
			break;
		REQUIRE(*used + chunk.bytes <= most, "too much");
		memcpy(data + *used, chunk.data, chunk.bytes);
		*used += chunk.bytes;
		source_done(reader, &chunk);
	}
	if (rc == 0) {
		const struct source_totals *t = source_totals(s);
		REQUIRE(source_exhausted(s) && t->bytes == t->skipped + *used && t->tail == 0,
			"%llu bytes", (unsigned long long)t->bytes);
	}
	source_close(s);
	return rc;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t packed[1 << 17], ours[1 << 16];
	struct bytes b = {data, size};
	struct fail fail = {.status = STATUS_OK};
	char path[32], *paths[1] = {path};
	const unsigned flags = (unsigned)take(&b, 1);
	struct setup spec = {.open.paths = paths,
			     .open.path_count = 1,
			     .open.ignore_tail = flags & 1,
			     .use.record = 1,
			     .headers = true,
			     .use.threads = 1};
	const uint64_t skip = take(&b, 1), limit = take(&b, 1);
	spec.open.skip = flags & 2 ? skip : 0;
	spec.use.limit = flags & 4 ? limit + 1 : UINT64_MAX;
	if (b.size > 30000)
		return 0;
	uint8_t *bytes = malloc(b.size + 1); /* with a zero at the end, for strtoull */
	memcpy(bytes, b.data, b.size);
	bytes[b.size] = 0;
	struct header_scan h;
	const enum header_result result = check_parser(&h, bytes, b.size);
	const bool zstd = flags & 8, piped = flags & 16;
	size_t from, want = 0, used, n = b.size;
	const struct input_format *format;
	spec.open.typed = b.size % 3 == 0 && result == HEADER_NONE;
	spec.open.type_said = !(flags & 32) || spec.open.typed;
	const enum formats which = spec.open.typed ? FORMATS_TYPED : FORMATS_ALL;
	const bool found = first_format(bytes, b.size, which, &format) == HEADER_FOUND,
		   header = header_known(bytes, b.size);
	/* If the input is a pipe, this may not have been reached. */
	const bool later = !spec.open.typed && !header && check_later(bytes, b.size),
		   text = !spec.open.type_said && !header &&
			  first_text(bytes, b.size, true) > TEXT_MORE,
		   is_text = text || later,
		   may_be = is_text && piped && !zstd && spec.use.limit != UINT64_MAX,
		   refused = found && !header && !may_be;
	/* Other harnesses try compressed inputs. */
	const bool plain = (bytes[0] != 0x28 && bytes[0] >> 4 != 5 && bytes[0] != 0x1f &&
			    bytes[0] != 0xfd && bytes[0] != 'B' && bytes[0] != 0x04 &&
			    bytes[0] != 0x1e && (bytes[0] < 0x22 || bytes[0] > 0x27));
	if (zstd) { /* after empty frames */
		static const char NOTHING[] =
			"\x50\x2a\x4d\x18\5\0\0\0bytes\x5f\x2a\x4d\x18\0\0\0\0"
			"\x28\xb5\x2f\xfd\x20\0\1\0";
		n = flags & 64 ? sizeof(NOTHING) : 0;
		memcpy(packed, NOTHING, n);
		n += ZSTD_compress(packed + n, sizeof(packed) - n, bytes, b.size, 1);
	}
	if (plain || bytes[0] == 'B') {
		const bool right = model(&h, result, b.size, !zstd && !piped, &spec, &from, &want);
		const int fd = open_input(zstd ? packed : bytes, n, piped);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		const int rc = read_all(&spec, ours, sizeof(ours), &used, &fail);
		close(fd);
		if (rc != 0) {
			/* A header of tensors may need more memory than -M allows. */
			REQUIRE(fail.text[0] && (fail.status == STATUS_DATA ||
						 (fail.status == STATUS_LIMIT && later)),
				"%d: %s", (int)fail.status, fail.text);
			REQUIRE(!right || refused || is_text, "refused: %s", fail.text);
		} else {
			REQUIRE(right && !refused && (!is_text || may_be) && used == want &&
					memcmp(ours, bytes + from, want) == 0,
				"%zu of %zu bytes", used, want);
		}
	}
	free(bytes);
	return 0;
}
