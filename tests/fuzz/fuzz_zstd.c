/* SPDX-License-Identifier: MIT */
/*
 * zstd: a compressed input, right or wrong, as a file and as a pipe. libzstd's streaming decoder,
 * given all of it at once, decides: the same bytes, or no success. If libzstd's decoding in one call
 * gives another result, either is right.
 *
 * The head of the input: flags, record size, memory, skip, limit (2); the rest is compressed.
 */
#include "input/source.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "fuzz.h"
#include "../header_parse.h"
#include "../take.h"

/* inputs that decode to more are not tried: they take too long */
#define DECODED_MAX ((size_t)8 << 20)

enum verdict { RIGHT, WRONG, OTHER }; /* OTHER: either result is right */

/* The plain answer; *used bytes of data. */
static enum verdict decode(const uint8_t *bytes, size_t n, uint8_t *data, size_t *used)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = bytes, .size = n};
	ZSTD_outBuffer out = {.dst = data, .size = DECODED_MAX};
	static uint8_t again[DECODED_MAX];
	enum verdict verdict = RIGHT;
	size_t rc = 0;

	while (in.pos < in.size || rc != 0) {
		const size_t from = in.pos, to = out.pos;
		rc = ZSTD_decompressStream(d, &out, &in);
		if (ZSTD_isError(rc)) {
			const ZSTD_ErrorCode code = ZSTD_getErrorCode(rc);
			verdict = code == ZSTD_error_frameParameter_windowTooLarge ||
						  code == ZSTD_error_memory_allocation
					  ? OTHER
					  : WRONG;
			break;
		}
		if (out.pos == out.size) {
			verdict = OTHER;
			break;
		}
		if (in.pos == from && out.pos == to) { /* it needs more than there is */
			verdict = WRONG;
			break;
		}
	}
	/*
	 * A compressed block of no bytes is empty to the streaming decoder, and corrupt when
	 * decoded in one call.
	 */
	if (verdict == RIGHT && ZSTD_isError(ZSTD_decompressDCtx(d, again, DECODED_MAX, bytes, n)))
		verdict = OTHER;
	ZSTD_freeDCtx(d);
	*used = out.pos;
	return verdict;
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

/* All that the source hands out, alternately lent and copied; the order may differ. */
static int read_all(struct source *s, uint32_t record, bool lends, uint8_t *data, size_t *used,
		    struct fail *fail)
{
	const size_t cap = 24 * (size_t)record;
	uint8_t *buffer = malloc(cap);
	struct reader *const reader = source_reader(s);
	struct chunk chunk;
	int rc = 0;

	for (unsigned i = 0; rc == 0; i++) {
		const struct want want = {.room = buffer, .cap = cap, .lent = lends && i % 5 != 4};
		rc = source_take(reader, &want, &chunk, fail);
		if (rc != 0 || chunk.bytes == 0)
			break;
		REQUIRE(chunk.bytes % record == 0 && *used + chunk.bytes <= DECODED_MAX,
			"%zu bytes", chunk.bytes);
		memcpy(data + *used, chunk.data, chunk.bytes);
		*used += chunk.bytes;
		source_done(reader, &chunk);
	}
	free(buffer);
	return rc;
}

static void count_records(const uint8_t *data, size_t bytes, uint32_t record, uint64_t sums[2])
{
	for (size_t i = 0; i + record <= bytes; i += record) {
		uint64_t v = 0;
		for (uint32_t k = 0; k < record; k++)
			v = v * 0x100000001b3u + data[i + k];
		sums[0] += v;
		sums[1] += (v ^ v >> 29) * 0x9e3779b97f4a7c15u >> 7;
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static uint8_t plain[DECODED_MAX], ours[DECODED_MAX];
	struct bytes b = {bytes, size};
	struct fail fail = {.status = STATUS_OK};
	struct source *s;
	char path[32], *paths[1] = {path};
	const unsigned flags = (unsigned)take(&b, 1);
	struct setup spec = {
		.open.paths = paths,
		.open.path_count = 1,
		.open.ignore_tail = flags & 1,
		.open.zstd = true,
		.use.threads = 1 + flags / 64,
	};
	const uint32_t record = (uint32_t)take(&b, 1);
	spec.use.record = record < 200   ? 1 + record % 8
			  : record < 230 ? record
					 : (record - 229) * 7001;
	spec.use.memory = (uint64_t)1 << (20 + take(&b, 1) % 6);
	spec.open.skip = take(&b, 1);
	const uint64_t limit = take(&b, 2);
	spec.use.limit = flags & 2 ? limit : UINT64_MAX;
	if (b.size < 4 || b.size > 60000)
		return 0;
	size_t decoded, used = 0;
	const enum verdict verdict = decode(b.data, b.size, plain, &decoded);
	const struct input_format *format;
	/* fuzz_header.c covers everything that the first decoded bytes show. */
	if (decoded >= DECODED_MAX / 2 ||
	    first_format(plain, decoded, FORMATS_TYPED, &format) == HEADER_FOUND)
		return 0;
	const int fd = open_input(b.data, b.size, flags & 4);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int rc = setup_open(&s, &spec, &fail);
	if (rc == 0)
		rc = read_all(s, spec.use.record, flags & 8, ours, &used, &fail);
	const struct source_totals *t = rc == 0 ? source_totals(s) : NULL;
	const size_t body = decoded > spec.open.skip ? decoded - (size_t)spec.open.skip : 0;
	/* Nothing after the last record of -n is looked at. */
	const bool limited =
		spec.use.limit < UINT64_MAX && used == spec.use.limit * spec.use.record;
	if (rc != 0) {
		REQUIRE(fail.text[0] && !strchr(fail.text, '\n'), "no message");
		REQUIRE(fail.status == STATUS_DATA || fail.status == STATUS_LIMIT, "%d: %s",
			(int)fail.status, fail.text);
		const bool ours_alone =
			fail.status == STATUS_LIMIT || strstr(fail.text, "dictionary") ||
			strstr(fail.text, "before 0.8") || strstr(fail.text, "--zstd");
		const bool too_short = decoded < spec.open.skip ||
				       (!spec.open.ignore_tail && body % spec.use.record != 0);
		REQUIRE(verdict != RIGHT || ours_alone || too_short, "refused: %s", fail.text);
	} else {
		REQUIRE(verdict != WRONG || limited, "accepted: %zu bytes of what is wrong", used);
		REQUIRE(source_finished(s) && t->bytes == t->skipped + t->tail + used, "%llu bytes",
			(unsigned long long)t->bytes);
	}
	if (rc == 0 && verdict == RIGHT) {
		uint64_t a[2] = {0, 0}, z[2] = {0, 0};
		size_t want = body - body % spec.use.record;
		if (spec.use.limit < want / spec.use.record)
			want = (size_t)spec.use.limit * spec.use.record;
		REQUIRE(used == want, "%zu of %zu bytes", used, want);
		count_records(plain + (decoded > spec.open.skip ? spec.open.skip : decoded), want,
			      spec.use.record, a);
		count_records(ours, used, spec.use.record, z);
		REQUIRE(a[0] == z[0] && a[1] == z[1], "other records");
	}
	source_close(s);
	close(fd);
	return 0;
}
