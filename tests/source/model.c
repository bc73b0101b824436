/* SPDX-License-Identifier: MIT */
/*
 * model: what a source must deliver, by plain loops over all bytes of an input, one input after
 * another. Frames are decoded by libzstd's streaming decoder, a block at a time.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "job.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "../blocks.h"
#include "base/xxh64.h"

typedef unsigned long long ull;

/* ---- records ---- */

uint64_t model_records(const struct source_use *use, uint64_t bytes)
{
	const uint64_t packed = use->packed > 0 ? use->packed : 1;

	return bytes / use->record * packed + bytes % use->record * packed / use->record;
}

uint64_t model_bytes(const struct source_use *use, uint64_t records)
{
	const uint64_t packed = use->packed > 0 ? use->packed : 1;
	const uint64_t rest = records % packed * use->record;

	return records / packed * use->record + rest / packed + (rest % packed > 0);
}

uint64_t model_sum(const unsigned char *bytes, uint64_t n, uint32_t record)
{
	uint64_t sum = 0;

	for (uint64_t at = 0; at < n; at += record) {
		const size_t some = n - at < record ? (size_t)(n - at) : record;
		uint64_t v = some;
		if (record <= 7) {
			for (size_t i = 0; i < some; i++)
				v = v << 8 | bytes[at + i];
		} else {
			struct xxh64 h;
			xxh64_begin(&h);
			xxh64_add(&h, bytes + at, some);
			v = xxh64_end(&h);
		}
		sum += (v ^ v >> 31) * 0x9e3779b97f4a7c15u | 1;
	}
	return sum;
}

/* ---- failures ---- */

static void fails(struct truth *t, size_t input, bool must, enum status status, const char *format,
		  ...)
{
	va_list arguments;

	t->must = must;
	t->may = true;
	t->input = input;
	t->status = status;
	va_start(arguments, format);
	vsnprintf(t->text, sizeof(t->text), format, arguments);
	va_end(arguments);
}

/* ---- zstd ---- */

/* What an input's frames hold, up to the first bad one. */
struct frames {
	unsigned char *data;
	size_t bytes, room;
	const char *why;    /* what is wrong with the frame at `offset`; NULL: nothing is */
	size_t offset, pos; /* packed */
	size_t from;        /* decoded bytes before the bad frame */
	enum status status;
	bool unclear;
	bool vague; /* its last block may be decoded before that is seen */
};

static bool is_zstd(const unsigned char *p, size_t n)
{
	return n >= 4 && (memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0 ||
			  (p[0] >> 4 == 5 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0));
}

static bool is_old(const unsigned char *p, size_t n)
{
	return n >= 4 && (p[0] == 0x1e || (p[0] >= 0x22 && p[0] <= 0x27)) &&
	       memcmp(p + 1, "\xb5\x2f\xfd", 3) == 0;
}

/* Are these bytes a magic number of zstd of today, or the beginning of any? */
static bool begins(const unsigned char *p, size_t n)
{
	unsigned char whole[4] = {p[0], 0xb5, 0x2f, 0xfd};

	if (p[0] >> 4 == 5)
		memcpy(whole + 1, "\x2a\x4d\x18", 3);
	memcpy(whole, p, n < 4 ? n : 4);
	return is_zstd(whole, 4) || (n < 4 && is_old(whole, 4));
}

static void bad(struct frames *f, const char *why)
{
	f->why = why;
	f->status = STATUS_DATA;
}

#define BLOCK ((size_t)128 << 10)
#define DAMAGED "it is damaged, or the input ends inside it"
#define CHECKSUM "its checksum is wrong"

/* Decodes the blocks of a frame of n bytes at most; `declared` as its header says. */
static void decode(struct frames *f, const unsigned char *p, size_t n, uint64_t declared)
{
	static ZSTD_DCtx *context;
	size_t pos = 0, hint = 9;

	context = context ? context : ZSTD_createDCtx();
	ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31);
	while (hint > 0 && !f->why) {
		/* A block without the header of the next one. */
		const size_t want = hint > 3 ? hint - 3 : hint;
		if (f->room < f->bytes + 300000) {
			f->room = 2 * f->bytes + 300000;
			f->data = realloc(f->data, f->room);
		}
		ZSTD_outBuffer out = {f->data, f->room, f->bytes};
		ZSTD_inBuffer in = {p + pos, want < n - pos ? want : n - pos, 0};
		const size_t before = f->bytes;
		hint = ZSTD_decompressStream(context, &out, &in);
		f->bytes = out.pos;
		pos += in.pos;
		if (ZSTD_isError(hint))
			bad(f, ZSTD_getErrorCode(hint) == ZSTD_error_checksum_wrong ? CHECKSUM
										    : DAMAGED);
		else if (hint > 0 && pos == n && f->bytes == before)
			bad(f, DAMAGED);
	}
	const uint64_t made = f->bytes - f->from;
	if (made > declared)
		f->bytes = f->from + (size_t)declared;
	/* That is seen before a wrong checksum. */
	if (made > declared ||
	    (declared != NO_LIMIT && made < declared && (!f->why || strcmp(f->why, DAMAGED) != 0)))
		bad(f, DAMAGED);
	f->vague = f->why && declared != NO_LIMIT;
	f->pos += pos;
}

/*
 * Does decoding the frame in one call end otherwise? Then either is right. In pieces, libzstd also
 * refuses a block of one repeated byte, repeated 0 times, if the frame declares 0 bytes.
 */
static bool is_unclear(const struct frames *f, const unsigned char *p, size_t n)
{
	const size_t bytes = f->bytes - f->from;
	const size_t whole = ZSTD_findFrameCompressedSize(p, n);
	const size_t size = !f->why ? f->pos - f->offset : ZSTD_isError(whole) ? n : whole;
	unsigned char *const room = malloc(bytes + 1);
	const size_t got = ZSTD_decompress(room, bytes + 1, p, size);
	const bool differs = ZSTD_isError(got) ? !f->why && ZSTD_getErrorCode(got) !=
								    ZSTD_error_memory_allocation
					       : f->why || got != bytes;

	free(room);
	return differs;
}

/*
 * Does our decoder of blocks, which refuses more than libzstd, refuse a frame of a stream? Then
 * either is right: libzstd cannot decode it again.
 */
static bool is_refused(const struct frames *f, const unsigned char *p, size_t n)
{
	const size_t room = f->bytes - f->from + BLOCK;
	unsigned char *const to = malloc(room);
	size_t used, took;
	const bool refused = blocks_decode(p, n, to, room, &used, &took) != NULL;

	free(to);
	return refused && (!f->why || strcmp(f->why, CHECKSUM) == 0);
}

/* The next frame. False: it is the last, or bad. */
static bool next_frame(struct frames *f, const struct job *job, const struct offer *o)
{
	const uint64_t memory = job->setup.use.memory;
	unsigned char *const p = o->bytes + f->pos;
	const size_t n = o->size, left = n - f->pos;
	ZSTD_frameHeader h;

	f->offset = f->pos;
	f->from = f->bytes;
	if (left == 0)
		return false;
	if (!begins(p, left)) {
		bad(f, is_old(p, left) ? "it was written by zstd before 0.8" : "garbage");
		return false;
	}
	const size_t rc = ZSTD_getFrameHeader(&h, p, left);
	if (rc != 0) {
		bad(f, !ZSTD_isError(rc) ? "the input ends inside its header"
		       : p[4] & 8        ? "no version of zstd writes"
					 : "");
		return false;
	}
	if (h.frameType == ZSTD_skippableFrame) {
		f->pos += 8 + (size_t)h.frameContentSize;
		if (f->pos > n)
			bad(f, DAMAGED);
		return !f->why;
	}
	const uint64_t declared =
		h.frameContentSize == ZSTD_CONTENTSIZE_UNKNOWN ? NO_LIMIT : h.frameContentSize;
	if (h.dictID != 0) {
		bad(f, "it needs a dictionary");
	} else if (h.windowSize > memory && declared >= memory / 2) {
		bad(f, h.windowSize > (uint64_t)1 << 31 ? "its window is larger than 2 GiB"
							: "its window of ");
		f->status = h.windowSize > (uint64_t)1 << 31 ? STATUS_DATA : STATUS_LIMIT;
	} else {
		const bool hides = job->setup.open.no_check && h.checksumFlag;
		p[4] &= hides ? (unsigned char)~4 : 255;
		decode(f, p, left, declared);
		f->unclear = (o->foreign || f->why) && is_unclear(f, p, left);
		f->unclear |= o->foreign && o->route >= ROUTE_PIPE && is_refused(f, p, left);
		p[4] |= hides ? 4 : 0;
		if (!f->why && hides && n - f->pos < 4)
			bad(f, DAMAGED);
		f->pos += hides && !f->why ? 4 : 0;
	}
	return !f->why && !f->unclear;
}

/* ---- an input ---- */

static const char *shown(const struct job *job, size_t i)
{
	return strcmp(job->paths[i], "-") == 0 ? "standard input" : job->paths[i];
}

/* Decodes an input; false: the walk ends here. */
static bool look_inside(struct truth *t, const struct job *job, size_t i, struct frames *f)
{
	const struct offer *const o = &job->offer[i];
	const char *const name = shown(job, i);
	const bool packed = is_zstd(o->bytes, o->size);

	if (is_old(o->bytes, o->size))
		fails(t, i, true, STATUS_DATA, "%s was compressed by zstd before 0.8", name);
	else if (o->size >= 3 && memcmp(o->bytes, "\x1f\x8b\x08", 3) == 0)
		fails(t, i, true, STATUS_DATA, "%s is compressed by gzip", name);
	else if (job->setup.open.zstd && !packed)
		fails(t, i, true, STATUS_DATA, "%s is not compressed by zstd", name);
	else if (job->setup.open.parts > 0 && packed)
		fails(t, i, true, STATUS_USAGE, "%s is compressed, but --part", name);
	/* Or its header is bad, or the samples end before the bytes to skip. */
	t->unclear |= job->setup.open.parts > 0 && packed &&
		      (o->foreign || (o->samples != NO_LIMIT && job->setup.open.skip > o->samples));
	if (t->must)
		return false;
	while (packed && next_frame(f, job, o))
		;
	if (!packed) {
		f->data = malloc(o->size + 1);
		memcpy(f->data, o->bytes, o->size);
		f->bytes = f->room = o->size;
	}
	t->unclear |= f->unclear;
	return true;
}

/* Is there no more data after a frame? */
static bool is_last(const unsigned char *p, size_t n)
{
	bool data = false;

	while (n > 0 && !data) {
		const size_t some = ZSTD_findFrameCompressedSize(p, n);
		if (ZSTD_isError(some))
			return false;
		p += some;
		n -= some;
		data = n > 0 && (n < 4 || p[0] >> 4 != 5);
	}
	return !data;
}

/* The bad frame, if -n does not end before it. False: the walk ends here. */
static bool meet_damage(struct truth *t, const struct job *job, size_t i, const struct frames *f,
			uint64_t limit)
{
	const bool must = f->bytes < limit;

	t->vague |= f->vague;
	t->unclear |= f->vague && must && limit != NO_LIMIT && limit - f->bytes <= BLOCK;
	if (!f->why || f->from >= limit)
		return true;
	if (strcmp(f->why, "garbage") == 0)
		fails(t, i, must, f->status, "%s has garbage at offset %zu", shown(job, i),
		      f->offset);
	else
		fails(t, i, must, f->status, "%s: zstd frame at offset %zu: %s", shown(job, i),
		      f->offset, f->why);
	t->late = must && strcmp(f->why, CHECKSUM) == 0 &&
		  is_last(job->offer[i].bytes + f->offset, job->offer[i].size - f->offset);
	return !must;
}

/* Where a file ends whose samples end at `bound`: a WAVE file as its first size says, and even. */
static uint64_t file_end(const struct offer *o, uint64_t bound)
{
	const unsigned char *const p = o->said + 4;
	const uint32_t little =
		p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	const uint32_t size = o->said[3] == 'X' ? __builtin_bswap32(little) : little;
	uint64_t end = bound;

	if (!o->chunks)
		return bound;
	if (size < 0x7f000000 && size + 8 > end)
		end = size + 8;
	return end + end % 2;
}

/* The end of an input whose samples end at `bound`, or with -n at `limit`. */
static bool check_end(struct truth *t, const struct job *job, size_t i, const struct view *v,
		      uint64_t limit, uint64_t bound)
{
	const struct offer *const o = &job->offer[i];
	const struct source_use *const use = &job->setup.use;
	const char *const name = shown(job, i);
	struct source_totals *const all = &t->totals;
	const uint64_t stop = limit < bound ? limit : bound;
	const uint64_t end = v->bytes < stop ? v->bytes : stop, n = end - v->first;
	const uint64_t records = model_records(use, n), tail = n - model_bytes(use, records);
	const bool cut = bound != NO_LIMIT && v->bytes < stop;

	if (cut && !job->setup.open.ignore_tail)
		fails(t, i, true, STATUS_DATA, "%s holds less than the ", name);
	else if (tail > 0 && !job->setup.open.ignore_tail)
		fails(t, i, true, STATUS_DATA, "%s ends inside a record, after %llu of ", name,
		      (ull)tail);
	t->late = t->must;
	if (t->must)
		t->sure = v->wanted;
	all->bytes += job->setup.open.skip + n;
	all->skipped += job->setup.open.skip;
	all->tail += tail;
	all->tails += tail > 0;
	all->truncated += cut;
	if (limit > bound && v->bytes > file_end(o, bound)) {
		all->behind.count++;
		all->behind_bytes += v->bytes - file_end(o, bound);
	}
	all->unsized += o->format && o->samples == NO_LIMIT && end > o->begin;
	all->headers += o->format != NULL;
	all->empty.count += !o->format && v->bytes == 0;
	all->padding += -(records * (8 * use->record / (use->packed > 0 ? use->packed : 1))) % 8;
	if (o->route == ROUTE_REDIRECTED)
		t->left = (int64_t)(o->origin +
				    (is_zstd(o->bytes, o->size) || (end == bound && limit > bound &&
								    v->bytes > end)
					     ? o->size
					     : end - tail));
	return !t->must;
}

static bool walk(struct truth *t, const struct job *job, size_t i, uint64_t *left)
{
	const struct offer *const o = &job->offer[i];
	const struct source_use *const use = &job->setup.use;
	struct frames f = {.why = NULL};
	struct view *const v = &t->view[i];
	const bool opens = look_inside(t, job, i, &f);
	const uint64_t skip = job->setup.open.skip;
	uint64_t limit = NO_LIMIT, bound = NO_LIMIT;

	t->inputs++;
	t->totals.streamed |= o->route >= ROUTE_PIPE;
	v->data = f.data;
	v->bytes = f.bytes;
	if (!opens)
		return false;
	const size_t head = (size_t)o->begin;
	/* The bytes of a damaged frame may be those of another header. */
	t->unclear |= o->format && f.bytes > 0 &&
		      memcmp(f.data, o->said, head < f.bytes ? head : f.bytes) != 0;
	if (o->format && f.why && f.from < o->begin) { /* was the header seen? */
		t->unclear |= *left != NO_LIMIT || f.vague ||
			      (o->samples != NO_LIMIT && skip > o->samples);
		free(v->data);
		v->data = NULL;
		const bool goes_on = meet_damage(t, job, i, &f, NO_LIMIT);
		if (strcmp(f.why, DAMAGED) == 0) /* or the header is called cut */
			snprintf(t->text, sizeof(t->text), "%s", shown(job, i));
		return goes_on;
	}
	if (o->format && f.bytes < o->begin) {
		fails(t, i, true, STATUS_DATA,
		      "%s has a %s header that gpuhist cannot use: the "
		      "input ends inside it",
		      shown(job, i), o->format);
		t->unclear |= f.bytes < 16;
		return false;
	}
	v->first = skip < NO_LIMIT - o->begin ? o->begin + skip : NO_LIMIT;
	if (o->format && o->samples != NO_LIMIT)
		bound = o->begin + o->samples;
	if (*left < NO_LIMIT / 2 / use->record && v->first < NO_LIMIT / 2)
		limit = v->first + model_bytes(use, *left);
	limit = limit > bound ? NO_LIMIT : limit;
	const uint64_t reach = f.bytes < limit ? f.bytes : limit,
		       end = reach < bound ? reach : bound;
	v->wanted =
		end > v->first ? (size_t)model_bytes(use, model_records(use, end - v->first)) : 0;
	t->sure = f.from > v->first ? (size_t)(f.from - v->first) / use->record * use->record : 0;
	t->sure = t->sure < v->wanted ? t->sure : v->wanted;
	if (v->first > bound || (v->first > f.bytes && (!f.why || f.from >= limit))) {
		fails(t, i, true, STATUS_DATA, "%s ends before the end of the %llu bytes to skip",
		      shown(job, i), (ull)skip);
		v->wanted = t->sure = 0;
		return false;
	}
	if (!meet_damage(t, job, i, &f, limit) || !check_end(t, job, i, v, limit, bound))
		return false;
	t->wanted += v->wanted;
	t->sum += model_sum(v->data + v->first, v->wanted, use->record);
	if (*left != NO_LIMIT) {
		const uint64_t records = model_records(use, v->wanted);
		*left -= records < *left ? records : *left;
	}
	return true;
}

void model(struct truth *t, const struct job *job)
{
	const struct source_spec *const open = &job->setup.open;
	uint64_t left = job->setup.use.limit;

	*t = (struct truth){.left = -1};
	for (size_t i = 0; open->parts > 0 && i < open->path_count; i++)
		if (job->offer[i].route >= ROUTE_PIPE) {
			fails(t, i, true, STATUS_USAGE, "%s is a pipe, but --part needs",
			      shown(job, i));
			return;
		}
	for (size_t i = 0; i < open->path_count && left > 0; i++)
		if (!walk(t, job, i, &left))
			break;
}

void model_free(struct truth *t)
{
	for (size_t i = 0; i < OFFERS; i++)
		free(t->view[i].data);
}
