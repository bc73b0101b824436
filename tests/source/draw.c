/* SPDX-License-Identifier: MIT */
/* draw: a job, drawn from a seed or from the bytes of a fuzzer. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "../pack.h"
#include "../say.h"

/* Longer frames are decoded in blocks. */
#ifdef SMALL_JOBS
#define LONG ((size_t)66 << 10)
#define LONG_MORE ((size_t)200 << 10)
#define POOL ((size_t)1 << 20)
#else
#define LONG (((size_t)2 << 20) + 1)
#define LONG_MORE ((size_t)3 << 20)
#define POOL ((size_t)8 << 20)
#endif
#define DRAWS ((size_t)64) /* bytes of a fuzzer that are draws */

/* ---- chance ---- */

static struct {
	uint64_t state;
	const unsigned char *bytes, *rest; /* of a fuzzer: for draws, and what an input holds */
	size_t left, rest_bytes;
	bool fuzzed;
} chance;

static uint64_t below(uint64_t n)
{
	uint64_t v = 0;

	if (chance.left == 0)
		return n > 1 ? (check_random(&chance.state) >> 20) % n : 0;
	for (uint64_t m = n - 1; m > 0 && chance.left > 0; m >>= 8, chance.left--)
		v = v << 8 | *chance.bytes++;
	return v % n;
}

static bool once_in(uint64_t n)
{
	return below(n) == 0;
}

/* ---- samples ---- */

static bool all_sums; /* all frames of the job have checksums */
static bool ruined;   /* many large ones are damaged; all declare their sizes */
static bool sole;     /* there is one, a long one */

enum { BELL, WORDS, MIXTURE, NOISE, POOLS };
static unsigned char *pool[POOLS];

static void fill_words(unsigned char *to, size_t n, uint64_t *state)
{
	unsigned char word[400][12];

	for (unsigned i = 0; i < 400; i++)
		for (unsigned k = 0; k < 12; k++)
			word[i][k] = (unsigned char)('a' + (check_random(state) >> 40) % (k + 4));
	for (size_t i = 0; i < n;) {
		const size_t length = 2 + (check_random(state) >> 40) % 10, left = n - i;
		memcpy(to + i, word[(check_random(state) >> 40) % 400],
		       length < left ? length : left);
		i += length;
	}
}

/* Mostly literals, mostly matches, all of it near and far, and noise. */
static void fill_pools(void)
{
	uint64_t state = 79;

	for (unsigned i = 0; i < POOLS; i++)
		pool[i] = malloc(POOL);
	for (size_t i = 0; i < POOL; i++) {
		const uint64_t r = check_random(&state);
		pool[NOISE][i] = (unsigned char)(r >> 40);
		pool[BELL][i] = (unsigned char)((r >> 8 & 63) + (r >> 16 & 63) + (r >> 24 & 63));
	}
	fill_words(pool[WORDS], POOL, &state);
	for (size_t i = 0; i < POOL;) {
		const uint64_t r = check_random(&state) >> 20;
		size_t length = (size_t)1 << r % 19;
		length = length < POOL - i ? length : POOL - i;
		unsigned char *const to = pool[MIXTURE] + i;
		if (r >> 20 & 1)
			memset(to, (int)(r >> 24 & 255), length);
		else if (i > 0 && r >> 21 & 1)
			for (size_t k = 0, back = 1 + (r >> 24) % i; k < length; k++)
				to[k] = pool[MIXTURE][i + k - back];
		else
			memcpy(to, pool[r >> 22 & 1 ? WORDS : NOISE] + i, length);
		i += length;
	}
}

/* ---- one input, as it is before it is packed ---- */

static void put_header(struct offer *o, struct made *m, size_t samples)
{
	char text[100];

	if (o->format[0] == '.') {
		snprintf(text, sizeof(text),
			 "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }", samples);
		put_npy(m, 1 + (unsigned)below(2), text);
	} else {
		const bool open = once_in(5);
		const struct wave w = {.form = once_in(3) ? "RIFX" : "RIFF",
				       .tag = 1,
				       .channels = 1,
				       .bytes = 1,
				       .bits = 8,
				       .before = once_in(2) ? 1 + (uint32_t)below(300) : 0,
				       .size = open ? UINT32_MAX : (uint32_t)samples,
				       .after = (uint32_t)(below(3) * below(100))};
		put_wave(m, &w);
		o->chunks = true;
		samples = open || samples == 0 ? SIZE_MAX : samples;
	}
	o->begin = m->bytes;
	o->samples = samples;
	memcpy(o->said, m->at, m->bytes < sizeof(o->said) ? m->bytes : sizeof(o->said));
}

/* What follows the samples: fewer than announced, a byte or a chunk too many. */
static void put_behind(struct offer *o, struct made *m)
{
	const uint64_t kind = below(8);

	if (kind == 0) {
		m->bytes -= m->bytes - o->begin > 0 ? below(m->bytes - o->begin) : 0;
	} else if (kind == 1 && o->samples != NO_LIMIT) {
		put(m, "more", 1 + below(4));
	} else if (kind <= 4 && o->chunks && o->samples != NO_LIMIT) {
		if (o->samples % 2)
			put(m, "", 1);
		put_chunk(m, "LIST", (uint32_t)below(once_in(3) ? 70000 : 100), "list");
		if (once_in(2))
			put_chunk(m, "data", (uint32_t)below(9), "samples");
	}
}

static size_t draw_size(void)
{
	static const size_t MOST[] = {2, 20, 3000, 60000, 60000, 60000, 300000};
	const uint64_t long_one = chance.fuzzed ? 30 : 8;

	if (ruined || sole || once_in(long_one))
		return LONG + below(LONG_MORE);
	return below(MOST[below(chance.fuzzed ? 4 : 7)]);
}

static struct made draw_samples(const struct job *job, struct offer *o, bool whole)
{
	const unsigned char *const from = pool[below(POOLS)];
	const uint32_t record = job->setup.use.record;
	struct made m = {.at = NULL};
	size_t n = draw_size();

	if (whole) {
		n -= n % record;
		n += job->setup.open.skip < POOL / 2 ? (size_t)job->setup.open.skip : 0;
	}
	n = n < POOL ? n : POOL;
	if (o->format)
		put_header(o, &m, n);
	put(&m, from + below(POOL - n + 1), n);
	if (!o->format && n > 0)
		m.at[0] = (unsigned char)(0xe0 | (m.at[0] & 15)); /* no format begins so */
	if (o->format)
		put_behind(o, &m);
	o->plain = m.bytes;
	return m;
}

/* ---- frames ---- */

static void put_frame(struct pack *p, const unsigned char *bytes, size_t n)
{
	static const int LEVELS[] = {-5, 1, 1, 1, 1, 3, 3, 5, 7};
	const int level = n > 1000000 ? LEVELS[below(7)] : LEVELS[below(9)];
	const bool told = ruined || once_in(2), sum = all_sums || once_in(2);
	const int window = n >= LONG    ? (int)(LONG < 1 << 20 || once_in(2) ? 14 + below(9) : 0)
			   : once_in(3) ? (int)(10 + below(8))
					: 0;

	p->flushes = once_in(3);
	if (!ruined && once_in(6))
		pack_silent(p, bytes, n, level, sum);
	else
		pack_frame(p, bytes, n, level, told || (n >= LONG && !once_in(3)), sum, window);
}

/* A few frames, some of them large; many small ones; one long one between others. */
static void pack_offer(struct offer *o, const unsigned char *bytes, size_t n)
{
	static const size_t MOST[] = {1, 9, 60000, 60000, 900000};
	struct pack p = {.state = 1 + below(1000)};
	const bool one = sole || (n >= LONG && !ruined && once_in(2)),
		   many = n < LONG && once_in(3);
	const size_t most = many ? 3000 : n < LONG ? MOST[below(5)] : LONG / 16 + below(LONG / 2);
	size_t at = 0;

	for (uint64_t i = once_in(20) ? below(3000) : 0; i > 0; i--)
		pack_frame(&p, "", 0, 1, true, false, 0);
	do {
		size_t some = sole                  ? n
			      : one && below(3) > 0 ? n >> below(2)
						    : (size_t)below(most + 1) + (n - at) / 200;
		if (some > n - at || p.frames > 3000)
			some = n - at;
		if (once_in(many ? 100 : 9))
			pack_skippable(&p,
				       (size_t)below(p.frames < 3 && once_in(9) ? 300000 : 300));
		put_frame(&p, bytes + at, some);
		at += some;
		if (o->frames < FRAMES_KNOWN)
			o->end[o->frames++] = p.bytes;
	} while (at < n || once_in(5));
	o->bytes = p.data;
	o->size = p.bytes;
}

/* ---- damage ---- */

static void put_bytes(struct offer *o, const void *bytes, size_t n)
{
	o->bytes = realloc(o->bytes, o->size + n + 1);
	memcpy(o->bytes + o->size, bytes, n);
	o->size += n;
}

#define BEHIND(text)                   \
	{                              \
		text, sizeof(text) - 1 \
	}
static const struct {
	const char *bytes;
	size_t n;
} GARBAGE[] = {
	BEHIND("\0\0\0"),
	BEHIND("\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5"),
	BEHIND("\x28"),
	BEHIND("\x52\x2a\x4d"),
	BEHIND("\x28\xb5\x2f\xfd"),
	BEHIND("\x28\xb5\x2f\xfd and then no zstd at all"),
	BEHIND("\x50\x2a\x4d\x18\xff\xff\xff\xff...."),
	BEHIND("\x25\xb5\x2f\xfd.........."),
	BEHIND("\x28\xb5\x2f\xfd\x21\x07\x01\x01\x00\x00"), /* a dictionary */
	BEHIND("\x28\xb5\x2f\xfd\x28\x01\x09\x00\x00\x00"), /* a reserved bit */
	/* a block that is larger than the window of 1 KiB allows */
	BEHIND("\x28\xb5\x2f\xfd\x00\x00\x63\x62\x00\x00"),
	/* it declares 2^60 bytes and holds four */
	BEHIND("\x28\xb5\x2f\xfd\xc0\x40\0\0\0\0\0\0\0\x10\x21\0\0abcd"),
};

static void damage(struct offer *o)
{
	const uint64_t kind = sole ? 1 + below(4) : below(6);

	o->foreign = true;
	if (kind == 0) {
		const size_t i = below(sizeof(GARBAGE) / sizeof(GARBAGE[0]));
		put_bytes(o, GARBAGE[i].bytes, GARBAGE[i].n);
	} else if (kind == 1) {
		o->size -= below(once_in(4) ? o->size : o->size / 9 + 1);
	} else if (kind == 2) { /* a checksum, the last bytes, the beginning of the next frame */
		const size_t end = o->end[below(o->frames)];
		const size_t at = end - 1 - below(end < 8 ? end : 8) + below(8);
		o->bytes[at < o->size ? at : 0] ^= (unsigned char)(1u << below(8));
	} else if (kind == 3) { /* a declared size */
		const uint64_t i = below(o->frames);
		const size_t begin = i > 0 ? o->end[i - 1] : 0;
		size_t at = begin + 5 + below(once_in(2) ? 2 : 4);
		if (sole && begin + 4 < o->size) /* by one, mostly */
			at = begin + (o->bytes[begin + 4] & 32 ? 5 : 6);
		if (at < o->size)
			o->bytes[at] = once_in(3) ? 255 : o->bytes[at] ^ 1;
	} else {
		o->bytes[below(o->size)] ^= (unsigned char)(1u << below(8));
	}
}

/* ---- a job ---- */

static void draw_offer(struct job *job, unsigned i, bool headers, bool whole, bool *stdin_taken)
{
	struct offer *const o = &job->offer[i];
	const bool rest = i == 0 && chance.rest_bytes > 0 && once_in(2);

	*o = (struct offer){.samples = NO_LIMIT, .packed = ruined || sole || !once_in(3)};
	o->route =
		(enum route)(job->setup.open.parts > 0 ? below(20) == 2 ? 2 : below(2) : below(4));
	if (o->route % 2 && *stdin_taken)
		o->route--;
	*stdin_taken |= o->route % 2;
	if (job->setup.use.packed == 0 && (headers || once_in(8))) /* none gives a packed type */
		o->format = once_in(2) ? ".npy" : "WAVE";
	if (job->setup.open.parts > 0)
		o->packed = once_in(20);
	if (rest) {
		o->foreign = true;
		o->format = NULL;
		put_bytes(o, chance.rest, chance.rest_bytes);
		o->plain = o->size;
	} else {
		struct made m = draw_samples(job, o, whole);
		if (o->packed)
			pack_offer(o, m.at, m.bytes);
		else
			put_bytes(o, m.at, m.bytes);
		free(m.at);
		for (unsigned k = ruined ? 16 : 1; o->packed && k > 0; k--)
			if (sole ? !once_in(3) : once_in(ruined ? 2 : 6))
				damage(o);
		if (!o->packed && once_in(40)) /* or it is compressed by another program */
			memcpy(o->bytes, "\x1f\x8b\x08", o->size < 3 ? o->size : 3);
	}
	o->origin = o->route == ROUTE_REDIRECTED ? below(3) * below(100) : 0;
	o->piece = 1 + (size_t)below(once_in(5) ? 2000 : 90000) + o->size / 2000;
}

/* -n: none, any, or exactly up to the end of an input. */
static void draw_limit(struct job *job)
{
	struct source_use *const use = &job->setup.use;
	const uint64_t skip = job->setup.open.skip, exact = below(job->setup.open.path_count + 3);
	uint64_t all = 0;

	for (size_t i = 0; i < job->setup.open.path_count; i++) {
		const struct offer *const o = &job->offer[i];
		uint64_t n = o->plain - (o->begin < o->plain ? o->begin : o->plain);
		n = n < o->samples ? n : o->samples;
		all += n > skip ? model_records(use, n - skip) : 0;
		if (i == exact)
			use->limit = all;
	}
	if (use->limit == NO_LIMIT && once_in(3))
		use->limit = below(all + 3);
}

/* `checked`: a wrong byte is found. */
static void draw_device(struct device_plan *d, bool checked)
{
	const uint64_t fault = below(6);
	unsigned *const faults[] = {&d->lost, &d->refused, &d->wrong};

	*d = (struct device_plan){.has = true,
				  .rooms = 1 + (unsigned)below(10),
				  .looks = once_in(8) ? 1 + (unsigned)below(3) : 0,
				  .demanded = !once_in(3),
				  .vanishes = fault == 3,
				  .never = once_in(9)};
	if (fault < (checked ? 3 : 2))
		*faults[fault] = 1 + (unsigned)below(12);
}

static void draw_records(struct source_use *use)
{
	static const uint32_t LARGE[] = {24, 1000, 4096, 100000, 300001};
	static const struct {
		uint32_t record, packed;
	} PACKED[] = {{1, 8}, {1, 2}, {3, 2}, {5, 4}, {3, 8}, {7, 8}, {9, 8}};

	use->record = once_in(5) ? LARGE[below(5)] : 1 + (uint32_t)below(8);
	if (once_in(6)) {
		const uint64_t i = below(sizeof(PACKED) / sizeof(PACKED[0]));
		use->record = PACKED[i].record;
		use->packed = PACKED[i].packed;
	}
}

void job_draw(struct job *job, uint64_t seed, const unsigned char *bytes, size_t n)
{
	struct source_spec *const open = &job->setup.open;
	struct source_use *const use = &job->setup.use;
	bool stdin_taken = false, streams = false, long_one = false;

	chance.state = (seed * 2 + 1) * 0x9e3779b97f4a7c15u | 1;
	chance.bytes = bytes;
	chance.left = n < DRAWS ? n : DRAWS;
	chance.rest = n < DRAWS ? NULL : bytes + DRAWS;
	chance.rest_bytes = n - chance.left;
	chance.fuzzed = n > 0;
	if (!pool[0])
		fill_pools();
	*job = (struct job){.seed = seed};
	draw_records(use);
	open->path_count = 1 + (size_t)below(once_in(2) ? 1 : chance.fuzzed ? 2 : OFFERS);
	if (once_in(3))
		open->skip = below(once_in(4) ? LONG + LONG / 2 : once_in(3) ? 9000 : 90);
	if (once_in(60))
		open->skip = UINT64_MAX - below(9);
	open->ignore_tail = below(4) > 0;
	open->no_check = once_in(4);
	open->zstd = once_in(30);
	all_sums = once_in(2);
	ruined = once_in(chance.fuzzed ? 30 : 12);
	sole = !ruined && once_in(chance.fuzzed ? 30 : 6);
	if (sole)
		open->path_count = 1;
	open->parts = !sole && once_in(8) ? 1 + (uint32_t)below(7) : 0;
	open->part = open->parts > 0;
	const bool headers = once_in(5);
	for (unsigned i = 0; i < open->path_count; i++) {
		draw_offer(job, i, headers, !open->ignore_tail || open->skip >= 9000 || once_in(3),
			   &stdin_taken);
		streams |= job->offer[i].route >= ROUTE_PIPE;
		long_one |= job->offer[i].plain >= LONG;
	}
	for (unsigned i = 0; i < open->path_count; i++) {
		job->setup.headers |= i == 0 && headers && once_in(2);
		job->setup.headers &= job->offer[i].format != NULL;
		job->paths[i] = job->offer[i].path;
		if (job->offer[i].route % 2)
			strcpy(job->paths[i], "-");
		else
			snprintf(job->paths[i], sizeof(job->offer[i].path), "/dev/fd/%u", 100 + i);
	}
	use->limit = NO_LIMIT;
	if (open->parts == 0)
		draw_limit(job);
	memcpy(use->type.name, "u8", 3);
	use->threads = 1 + (unsigned)below(chance.fuzzed ? 3 : READERS_MOST);
	use->decoders = once_in(5) ? 1 + (unsigned)below(use->threads) : 0;
	use->memory = (uint64_t)1 << (20 + below(9));
	use->memory *= use->record > 4096 ? 16 : long_one ? 4 : 1;
	if (sole && !once_in(4)) /* enough for blocks */
		use->memory |= (uint64_t)64 << 20;
	open->ordered = open->parts == 0 && once_in(3);
	use->row = open->ordered ? below(3) * below(2000) * (use->packed > 0 ? use->packed : 1) : 0;
	open->prompt = streams && once_in(2);
	job->workers = once_in(4) ? 1 + (unsigned)below(use->threads) : use->threads;
	job->cap = use->record *
			   (use->record > 4096 ? 1 + (size_t)below(3) : 1 + 100000 / use->record) +
		   (size_t)below(2);
	if (!long_one && once_in(3))
		job->cap = use->record * (1 + (size_t)below(500));
	job->unpacked = once_in(2);
	job->stop = once_in(25) ? 1 + (unsigned)below(9) : 0;
	if (long_one && !once_in(3))
		draw_device(&job->device, all_sums && !open->no_check && use->limit == NO_LIMIT);
}

void job_describe(const struct job *job)
{
	const struct source_spec *const open = &job->setup.open;
	const struct source_use *const use = &job->setup.use;
	static const char *const ROUTES[] = {"file", "redirected", "pipe", "stdin"};

	printf("  records of %u bytes, %u packed, skip %llu, limit %lld, part 1/%u, %u threads, %u "
	       "decoders, %u "
	       "workers, memory %llu, cap %zu, row %llu, stop %u%s%s%s%s%s%s\n",
	       use->record, use->packed, (unsigned long long)open->skip, (long long)use->limit,
	       open->parts, use->threads, use->decoders, job->workers,
	       (unsigned long long)use->memory, job->cap, (unsigned long long)use->row, job->stop,
	       open->ignore_tail ? ", ignore tail" : "", open->no_check ? ", no check" : "",
	       open->ordered ? ", ordered" : "", open->prompt ? ", prompt" : "",
	       open->zstd ? ", zstd" : "", job->device.has ? ", device" : "");
	for (size_t i = 0; i < open->path_count; i++) {
		const struct offer *const o = &job->offer[i];
		printf("  %s: %zu bytes%s of %zu, %u frames%s, %s header of %llu, %lld samples, "
		       "pieces "
		       "of %zu, stops at %zu%s\n",
		       ROUTES[o->route], o->size, o->packed ? " of zstd" : "", o->plain, o->frames,
		       o->foreign ? ", perhaps damaged" : "", o->format ? o->format : "no",
		       (unsigned long long)o->begin, (long long)o->samples, o->piece, o->stops,
		       o->paced ? ", paced" : "");
	}
}

void job_free(struct job *job)
{
	for (unsigned i = 0; i < OFFERS; i++)
		free(job->offer[i].bytes);
}
