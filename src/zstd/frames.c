/* SPDX-License-Identifier: MIT */
/* frames: reads the headers of frames and blocks, one after another. */
#include "zstd/frames.h"

int frames_bad(const struct bytes *b, uint64_t offset, struct fail *fail, const char *why)
{
	return fail_set(fail, STATUS_DATA, "%s: zstd frame at offset %llu: %s", bytes_name(b),
			(ull)offset, why);
}

/* Return the result of a search whose read failed or was stopped. */
static enum find not_found(int rc)
{
	return rc < 0 ? FIND_BAD : FIND_STOPPED;
}

/* ---- headers ---- */

enum find frames_header(struct bytes *b, uint64_t offset, bool there, struct frame *f,
			enum frame_kind *kind, size_t *got, struct fail *fail)
{
	const unsigned char *bytes;

	*f = (struct frame){
		.offset = offset, .packed_bytes = FRAME_UNKNOWN, .bound = FRAME_UNKNOWN};
	for (size_t n = 5; n <= FRAME_HEADER_MAX; n++) {
		const int rc = bytes_look(b, offset, there ? 0 : n, SIZE_MAX, &bytes, got, fail);
		if (rc != 0)
			return not_found(rc);
		*kind = frame_parse(bytes, *got, &f->header);
		if (*got < n || *kind != FRAME_SHORT)
			break;
	}
	f->walked = f->header.bytes;
	return *kind == FRAME_DATA ? FIND_FRAME : FIND_NONE;
}

/* Skip a skippable frame; in a file, without reading it. */
static int skip_frame(struct bytes *b, uint64_t *pos, const struct frame *f, struct fail *fail)
{
	const uint64_t end = *pos + f->header.bytes + f->header.declared;
	const unsigned char *bytes;
	size_t got;
	int rc = bytes_pass(b, end - 1, fail);

	if (rc == 0)
		rc = bytes_look(b, end - 1, 1, SIZE_MAX, &bytes, &got, fail);
	if (rc == 0 && got == 0 && !bytes_finished(b))
		return frames_bad(b, f->offset, fail, FRAMES_DAMAGED);
	*pos = end;
	return rc == 0 ? bytes_pass(b, end, fail) : rc;
}

static int not_a_frame(const struct bytes *b, const struct frame *f, enum frame_kind kind,
		       struct fail *fail)
{
	switch (kind) {
	case FRAME_SHORT:
		return frames_bad(b, f->offset, fail, "the input ends inside its header");
	case FRAME_LEGACY:
		return frames_bad(b, f->offset, fail,
				  "it was written by zstd before 0.8, which gpuhist does not read");
	case FRAME_BROKEN:
		return frames_bad(b, f->offset, fail, "no version of zstd writes such a header");
	default:
		return fail_set(fail, STATUS_DATA,
				"%s has garbage at offset %llu, after a zstd frame", bytes_name(b),
				(ull)f->offset);
	}
}

enum find frames_next(struct bytes *b, uint64_t *pos, struct frame *f, struct fail *fail)
{
	enum frame_kind kind = FRAME_SHORT;
	size_t got = 0;

	for (;;) {
		const enum find found = frames_header(b, *pos, false, f, &kind, &got, fail);
		if (found != FIND_NONE)
			return found;
		if (got == 0 || (kind == FRAME_SHORT && bytes_finished(b)))
			return FIND_NONE;
		if (kind != FRAME_SKIPPABLE)
			return not_found(not_a_frame(b, f, kind, fail));
		const int rc = skip_frame(b, pos, f, fail);
		if (rc != 0)
			return not_found(rc);
	}
}

/* ---- blocks ---- */

/* Point *bytes at n bytes of the frame. FIND_FRAME: success. */
static enum find find_bytes(struct bytes *b, const struct frame *f, uint64_t at, size_t n,
			    bool there, const unsigned char **bytes, struct fail *fail)
{
	size_t got;
	const int rc = bytes_look(b, f->offset + at, there ? 0 : n, SIZE_MAX, bytes, &got, fail);

	if (rc != 0)
		return not_found(rc);
	if (got >= n)
		return FIND_FRAME;
	return there ? FIND_FAR : not_found(frames_bad(b, f->offset, fail, FRAMES_DAMAGED));
}

enum find frames_walk(struct bytes *b, struct frame *f, uint64_t most, bool there,
		      struct fail *fail)
{
	struct frame_block block = {.last = false};
	const unsigned char *bytes;
	enum find found;

	while (!block.last) {
		if (f->walked > most || (!bytes_in_file(b) && f->decoded_most > FIND_MAX))
			return FIND_FAR;
		/* The frame's decoder will soon read these bytes. */
		if (most != FRAME_UNKNOWN)
			bytes_hint(b, f->offset + f->walked);
		if ((found = find_bytes(b, f, f->walked, FRAME_BLOCK_HEADER, there, &bytes,
					fail)) != FIND_FRAME)
			return found;
		if (frame_block_parse(bytes, &block) != 0)
			return not_found(frames_bad(b, f->offset, fail, FRAMES_DAMAGED));
		frame_add_block(f, &block);
	}
	f->walked += f->header.checksum ? FRAME_CHECKSUM : 0;
	if ((found = find_bytes(b, f, f->walked - 1, 1, there, &bytes, fail)) != FIND_FRAME)
		return found;
	f->packed_bytes = f->walked;
	f->bound = f->header.declared != FRAME_UNKNOWN ? f->header.declared : f->decoded_most;
	return FIND_FRAME;
}
