/* SPDX-License-Identifier: MIT */
/*
 * zstd_skim: what the frames of a file declare to hold, frame by frame, without decoding any: how
 * much all of them do, and where the first one is that a slice of the records needs. By the thread
 * that opened the input, before any reader has it.
 */
#include "input/zstd_read.h"

/* Where headers lie about sizes, sums go no further. */
#define FAR (UNKNOWN - 1)

typedef unsigned long long ull;

static int undeclared(const struct input *in, const struct frame *f, struct fail *fail)
{
	return fail_set(
		fail, STATUS_USAGE,
		"--part: %s: the zstd frame at offset %llu does not say how much it holds: "
		"decompress the file "
		"(zstd -d) and compress it again by its name (zstd FILE), not through a pipe",
		in->name, (ull)f->offset);
}

/*
 * Passes over frames that end at `until` or before. FIND_WHOLE: *f goes on after it; FIND_NONE: it
 * was reached, or the input ends before.
 */
static enum find skim(struct source *s, struct input *in, uint64_t until, struct frame *f,
		      struct fail *fail)
{
	struct zstd *z = in->zstd;

	while (z->decoded < until) {
		const enum find found = zstd_next_header(s, in, f, fail);
		const uint64_t content = f->header.content;
		if (found != FIND_WHOLE)
			return found;
		if (content == UNKNOWN)
			return undeclared(in, f, fail) == 0 ? FIND_NONE : FIND_BAD;
		if (content > until - z->decoded)
			return FIND_WHOLE;
		if (zstd_walk(s, in, f, UNKNOWN, fail) != FIND_WHOLE)
			return FIND_BAD;
		z->next += f->stored;
		z->decoded += content;
	}
	return FIND_NONE;
}

int zstd_measure(struct source *s, struct input *in, uint64_t until, uint64_t *decoded,
		 struct fail *fail)
{
	struct frame f;

	if (zstd_begin(s, in, in->origin, in->size, fail) != 0)
		return -1;
	const enum find found = skim(s, in, until, &f, fail);
	if (found != FIND_WHOLE && found != FIND_NONE)
		return -1;
	const uint64_t passed = in->zstd->decoded;
	*decoded = found == FIND_NONE                ? passed
		   : f.header.content < FAR - passed ? passed + f.header.content
						     : FAR;
	/*
	 * Where the first frame is wrong, the walk has found that, or only its decoder can say how.
	 */
	return in->unseen ? zstd_bad(in, 0, fail, "its first bytes cannot be decoded") : 0;
}

int zstd_begin_slice(struct source *s, struct input *in, struct fail *fail)
{
	struct zstd *z = in->zstd;
	struct frame f;

	/* Who has what follows the last record checks it, as without slices. */
	z->limit = in->ends ? UNKNOWN : in->until;
	in->skipped = in->begins ? s->spec.skip : 0;
	/*
	 * The first slice decodes what -S skips, as without slices: so all frames are decoded by
	 * some slice.
	 */
	if (in->from > 0 && skim(s, in, in->first, &f, fail) == FIND_BAD)
		return -1;
	z->begin = z->hinted = z->next;
	return 0;
}
