/* SPDX-License-Identifier: MIT */
/* zstd_reader: decodes frame after frame; of a stream, it keeps the packed bytes. */
#include "zstd/zstd_reader.h"

#include <stdlib.h>

#include "zstd/frames.h"

struct zstd_reader {
	struct zstd_stream stream;
	struct zstd_reader_rules rules;
	enum zstd_state state;
	bool made;   /* at least one byte was decoded */
	bool inside; /* the stream is in a frame of data */
};

int zstd_reader_detect(struct bytes *b, bool *is_zstd, struct fail *fail)
{
	const unsigned char *bytes;
	struct frame_header header;
	size_t got = 0;

	*is_zstd = false;
	for (size_t n = 1; n <= 4; n++) {
		const int rc = bytes_look(b, 0, n, SIZE_MAX, &bytes, &got, fail);
		if (rc != 0)
			return rc;
		if (got < n || frame_parse(bytes, got < 4 ? got : 4, &header) != FRAME_SHORT)
			return 0;
	}
	*is_zstd = true;
	return 0;
}

struct zstd_reader *zstd_reader_open(struct bytes *b, const struct zstd_reader_rules *rules,
				     struct fail *fail)
{
	struct zstd_reader *const z = calloc(1, sizeof(*z));

	if (!z) {
		zstd_no_memory(b, fail);
		return NULL;
	}
	z->rules = *rules;
	z->stream.packed = (struct packed){
		.bytes = b, .in_place = !bytes_in_file(b), .kept = true, .end = UINT64_MAX};
	if (zstd_stream_make(&z->stream, fail) == 0)
		return z;
	zstd_reader_close(z);
	return NULL;
}

void zstd_reader_close(struct zstd_reader *z)
{
	if (!z)
		return;
	bytes_go_back(z->stream.packed.bytes);
	zstd_stream_free(&z->stream);
	free(z);
}

/* Find the next frame of data. */
static int next_frame(struct zstd_reader *z, struct fail *fail)
{
	struct bytes *const b = z->stream.packed.bytes;
	const uint64_t before = packed_at(&z->stream.packed);
	uint64_t pos = before;
	struct fail why = {.status = STATUS_OK};
	struct frame f;

	const enum find found = frames_next(b, &pos, &f, &why);
	if (found == FIND_STOPPED)
		return 1;
	/* Dropped bytes cannot be decoded again; a failed read may not recur. */
	if (found == FIND_BAD &&
	    (why.status == STATUS_SYSTEM || (!bytes_in_file(b) && bytes_passed(b) > before)))
		return fail_pass(fail, &why);
	if (found == FIND_NONE)
		z->state = ZSTD_ENDED;
	else if (found == FIND_BAD || f.header.dictionary || f.header.window > z->rules.window)
		z->state = ZSTD_BAD;
	if (z->state != ZSTD_GOES_ON)
		return 0;
	z->inside = true;
	zstd_stream_begin(&z->stream, pos, f.header.bytes, f.header.declared,
			  z->rules.no_check && f.header.checksum);
	/* Until a byte was decoded, no bytes before this frame are needed again. */
	return z->made ? 0 : bytes_pass(b, pos, fail);
}

/* Decode more of the frame, or read the checksum after it. */
static int decode(struct zstd_reader *z, unsigned char *to, size_t cap, size_t *got,
		  struct fail *fail)
{
	struct bytes *const b = z->stream.packed.bytes;
	const uint64_t keep = z->rules.keep;
	const bool ended = z->stream.state == ZSTD_ENDED;

	if (!bytes_in_file(b) && z->made && packed_at(&z->stream.packed) - bytes_passed(b) >= keep)
		return fail_set(fail, STATUS_DATA,
				"%s has more than %llu MiB of zstd before the first sample; pipe "
				"it through `zstd -dc`",
				bytes_name(b), (unsigned long long)keep >> 20);
	const int rc = ended ? zstd_stream_trailer(&z->stream, fail)
			     : zstd_stream_decode(&z->stream, to, cap, got, fail);
	if (!z->made && *got > 0) {
		z->made = true;
		bytes_keep(b, bytes_passed(b)); /* from the frame's first byte */
	}
	if (z->stream.state >= ZSTD_CUT)
		z->state = z->stream.state;
	z->inside = z->stream.state == ZSTD_GOES_ON || (z->stream.hides && !ended);
	return rc;
}

int zstd_reader_read(struct zstd_reader *z, unsigned char *to, size_t cap, size_t *got,
		     struct fail *fail)
{
	int rc = 0;

	*got = 0;
	while (rc == 0 && *got == 0 && z->state == ZSTD_GOES_ON)
		rc = z->inside ? decode(z, to, cap, got, fail) : next_frame(z, fail);
	return rc;
}

enum zstd_state zstd_reader_state(const struct zstd_reader *z)
{
	return z->state;
}
