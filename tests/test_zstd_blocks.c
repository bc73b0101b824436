/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * zstd_blocks: long frames that all readers decode in blocks: the same records, and of files the
 * same failures, as one reader finds, by libzstd. From a seed.
 */
#include "pack.h"
#include "readers.h"
#include "unpack_soft.h"

#include "input/zstd_blocks.h"

#define MOST ((size_t)5 << 20)
#define LEAST (((size_t)2 << 20) + 1)      /* shorter ones are decoded in one call */
#define LONG (((size_t)16 << 20) + 300000) /* longer than what is gathered of a pipe */
#define ROUNDS 24u
#define BLOCKS 200u

static uint64_t state = 79;

static uint64_t draw(uint64_t below)
{
	return (check_random(&state) >> 20) % below;
}

/* ---- samples ---- */

/* Values that come in a bell: of two bytes mostly literals, of four mostly matches. */
static void bell(unsigned char *to, size_t n, unsigned bytes)
{
	for (size_t i = 0; i + bytes <= n; i += bytes) {
		const uint64_t r = check_random(&state);
		const uint32_t v = (uint32_t)((r >> 8 & 255) + (r >> 16 & 255) + (r >> 24 & 255));
		memcpy(to + i, &v, bytes);
	}
}

static void words(unsigned char *to, size_t n)
{
	char word[400][12];

	for (unsigned i = 0; i < 400; i++)
		for (unsigned k = 0; k < 12; k++)
			word[i][k] = (char)('a' + draw(k + 4));
	for (size_t i = 0; i < n;) {
		const size_t length = 2 + draw(10), left = n - i;
		memcpy(to + i, word[draw(400)], length < left ? length : left);
		i += length;
	}
}

/* Noise, runs of one byte, and repetitions, near and far, of all lengths. */
static void mixture(unsigned char *to, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t length = (size_t)1 << draw(19);
		length = length < n - i ? length : n - i;
		const uint64_t kind = draw(4);
		if (kind == 0)
			memset(to + i, (int)draw(256), length);
		else if (kind == 1 && i > 0)
			for (size_t k = 0, back = 1 + draw(i); k < length; k++)
				to[i + k] = to[i + k - back];
		else if (kind == 2)
			words(to + i, length);
		else
			for (size_t k = 0; k < length; k++)
				to[i + k] = (unsigned char)check_random(&state);
		i += length;
	}
}

static void fill(unsigned char *to, size_t n, uint64_t kind)
{
	memset(to, 0, n);
	if (kind < 2)
		bell(to, n, kind == 0 ? 2 : 4);
	else if (kind == 2)
		words(to, n);
	else
		mixture(to, n);
}

/* ---- whatever the job is ---- */

static char *const FILES[] = {"f", "g"}, *const STDIN[] = {"-"};

static struct outcome read_piped(struct setup *spec, const struct pack *p, unsigned workers,
				 size_t cap)
{
	const pid_t feeder =
		feed_stdin(p->data, p->bytes, draw(3) ? 1 + draw(300000) : 500 + draw(3000));

	spec->open.paths = STDIN;
	spec->open.path_count = 1;
	const struct outcome o = read_all(spec, workers, cap);
	kill(feeder, SIGKILL);
	waitpid(feeder, NULL, 0);
	return o;
}

/* ---- a device ---- */

/*
 * Half of the jobs have one, which is ready sooner or later, and may fail; `checked`: with a wrong
 * byte too. NULL: it has none.
 */
static struct soft *draw_device(struct setup *spec, bool checked)
{
	if (draw(2))
		return NULL;
	struct soft *const f = soft_open(1 + (unsigned)draw(10),
					 draw(8) ? 0 : 1 + (unsigned)draw(3), check_random(&state));
	const uint64_t fault = draw(12);
	unsigned *const faults[] = {&f->lost, &f->refused, &f->wrong};
	if (fault < (checked ? 3 : 2))
		*faults[fault] = 1 + (unsigned)draw(12);
	f->vanishes = fault == 3;
	f->unpacker.demanded = draw(2);
	spec->use.unpacker = &f->unpacker;
	spec->use.start = soft_start;
	spec->use.arg = f;
	return f;
}

static uint64_t by_device; /* batches, in all */

static void close_device(struct soft *f)
{
	if (f)
		by_device += soft_close(f);
}

/* A long frame, and before and after it perhaps small ones, whose sizes need not be known. */
static struct pack pack_long(const unsigned char *data, size_t n, bool checked)
{
	static const int LEVELS[] = {-5, 1, 1, 1, 3, 3, 3, 5, 7};
	struct pack p = {.state = 1};
	const size_t front = draw(3) ? 0 : draw(100000), back = draw(3) ? 0 : draw(100000);

	if (front > 0)
		pack_frame(&p, data, front, 1, draw(2), draw(2), 0);
	pack_frame(&p, data + front, n - front - back, LEVELS[draw(9)], draw(3) > 0, checked,
		   draw(3) ? 0 : 12 + (int)draw(11));
	if (back > 0)
		pack_frame(&p, data + n - back, back, 1, draw(2), draw(2), 0);
	return p;
}

static bool check_one(unsigned char *data, unsigned round)
{
	static const uint32_t RECORDS[] = {1, 2, 4, 7, 8, 1000, 131072, 700001};
	const size_t n = LEAST + 200000 + draw(MOST - LEAST - 200000);
	const bool piped = draw(3) == 0, twice = !piped && draw(4) == 0;
	const unsigned threads = 2 + (unsigned)draw(15);
	const uint32_t record = RECORDS[draw(8)];
	const bool prompt = draw(3) == 0;
	struct setup spec = {.open.paths = FILES,
			     .open.path_count = twice ? 2 : 1,
			     .open.ignore_tail = true,
			     .open.prompt = prompt,
			     .open.no_check = draw(4) == 0,
			     .use.record = record,
			     .use.threads = threads,
			     .use.limit = UINT64_MAX,
			     .use.memory = (uint64_t)6 << (20 + draw(6))};
	uint64_t records, sum;

	fill(data, n, draw(4));
	const bool checked = draw(3) > 0;
	struct pack p = pack_long(data, n, checked);
	if (draw(4) == 0)
		spec.open.skip = draw(n);
	if (piped || draw(3) == 0) /* else frames of a pipe are gathered */
		spec.use.limit = draw((n - spec.open.skip) / spec.use.record + 2);
	expected(data, n, &spec, &records, &sum);
	scratch_write("f", p.data, p.bytes);
	scratch_write("g", p.data, p.bytes);
	if (twice && spec.use.limit > records) {
		records *= 2;
		sum *= 2;
	} else if (twice) {
		spec.open.path_count = 1;
	}
	if (twice && spec.use.limit != UINT64_MAX)
		spec.use.limit = records;
	const unsigned workers = draw(4) ? threads : 1 + (unsigned)draw(threads);
	const size_t cap = spec.use.record > 300000 ? spec.use.record : 300000 + draw(2);
	struct soft *const device =
		draw_device(&spec, checked && !spec.open.no_check && spec.use.limit == UINT64_MAX);
	const bool fails = device && device->lost + device->wrong + device->refused > 0;
	const struct outcome o =
		piped ? read_piped(&spec, &p, workers, cap) : read_all(&spec, workers, cap);
	/* A wrong byte that was counted before its frame had ended. */
	const bool wrong = device && device->wrong > 0 && o.again;
	CHECK(!wrong || o.rc == 0 || o.fail.status == STATUS_INTERNAL, "round %u: %d '%s'", round,
	      o.rc, o.fail.text);
	CHECK(wrong || (o.rc == 0 && o.records == records && o.sum == sum && o.finished),
	      "round %u: %d, %llu of %llu records '%s'", round, o.rc, (unsigned long long)o.records,
	      (unsigned long long)records, o.fail.text);
	CHECK(!o.beyond, "round %u: more memory than was taken", round);
	CHECK(o.rc != 0 || o.totals.bytes ==
				   o.totals.skipped + o.totals.tail + o.records * spec.use.record,
	      "round %u: %llu bytes", round, (unsigned long long)o.totals.bytes);
	CHECK(!o.again || fails, "round %u: refused", round);
	close_device(device);
	free(p.data);
	return o.blocks;
}

/*
 * Two threads take blocks only where they are mostly literals. A wrong checksum that is not looked at
 * is no reason to decode the frame again.
 */
static void pays(unsigned char *data)
{
	const size_t n = LEAST + 1000003;

	for (unsigned kind = 0; kind < 3; kind++)
		for (unsigned threads = 2; threads < 4; threads++) {
			const bool no_check = threads > 2;
			const struct setup spec = {.open.paths = FILES,
						   .open.path_count = 1,
						   .open.no_check = no_check,
						   .use.record = 1,
						   .use.threads = threads,
						   .use.limit = UINT64_MAX};
			struct pack p = {.state = 1};
			fill(data, n, kind);
			pack_frame(&p, data, n, 3, true, true, 0);
			p.data[p.bytes - 1] ^= no_check;
			scratch_write("f", p.data, p.bytes);
			const struct outcome o = read_all(&spec, threads, 65536);
			CHECK(o.rc == 0 && o.records == n && !o.again &&
				      o.blocks == (kind == 0 || threads > 2),
			      "data %u, %u threads: %d '%s'", kind, threads, o.blocks, o.fail.text);
			free(p.data);
		}
}

/*
 * A device is started for a frame if that pays, by what the file has from there on: here a frame to
 * be skipped. If it is not ready then, the cores decode.
 */
static void started(unsigned char *data)
{
	const size_t n = LEAST + 300001;

	fill(data, n, 2);
	for (unsigned round = 0; round < 12; round++) {
		const bool pays = round % 3 > 0;
		struct setup spec = {.open.paths = FILES,
				     .open.path_count = 1,
				     .use.record = 1,
				     .use.threads = 1 + round / 3,
				     .use.limit = (uint64_t)1 << 40, /* in what may be left */
				     .use.start = soft_start};
		struct soft *const device = soft_open(3, 1000, round + 1);
		struct pack p = {.state = 1};
		uint64_t records, sum;
		device->never = round % 3 == 2;
		spec.use.unpacker = &device->unpacker;
		spec.use.arg = device;
		pack_frame(&p, data, n, 1, false, true, 0);
		memcpy(pack_room(&p, 8), "\x50\x2a\x4d\x18\0\0\0\x40", 8);
		p.bytes += pays ? 8 : 0;
		scratch_write("f", p.data, p.bytes);
		CHECK(!pays || truncate("f", (off_t)(p.bytes + ((size_t)1 << 30))) == 0, "f");
		expected(data, n, &spec, &records, &sum);
		const struct outcome o = read_all(&spec, spec.use.threads, 65536);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum && !o.again,
		      "round %u: %d '%s'", round, o.rc, o.fail.text);
		CHECK(device->starts == pays, "round %u: started %u times", round, device->starts);
		CHECK(o.totals.zstd.unpacked == (round % 3 == 1 ? n : 0), "round %u: %llu bytes",
		      round, (unsigned long long)o.totals.zstd.unpacked);
		close_device(device);
		free(p.data);
	}
}

/*
 * Of many frames a device decodes some from their first block on, and the cores others: the same
 * records and message as one reader finds, where a frame is damaged, the file is cut, or the device
 * fails.
 */
static void shared(unsigned char *data)
{
	static const uint32_t RECORDS[] = {1, 2, 4, 7, 1000, 700001};
	uint64_t unpacked[2] = {0, 0};
	unsigned failed = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		const bool damages = draw(4) == 0, cuts = draw(8) == 0;
		struct pack p = {.state = 1};
		size_t n = 0;
		if (round % 6 == 0)
			fill(data, LONG, round / 6);
		while (n + LEAST + 300000 < LONG) {
			const size_t some = draw(4) ? LEAST + draw(300000) : draw(100000);
			pack_frame(&p, data + n, some, draw(3) ? 1 : 3, draw(8) > 0, draw(3) > 0,
				   draw(4) ? 0 : 18);
			n += some;
		}
		if (damages)
			p.data[5 + draw(p.bytes - 5)] ^= (unsigned char)(1u << draw(8));
		if (cuts)
			p.bytes -= 1 + draw(p.bytes / 2);
		struct setup spec = {.open.paths = FILES,
				     .open.path_count = 1 + (size_t)draw(2),
				     .open.ignore_tail = true,
				     .open.no_check = draw(4) == 0,
				     .open.skip = draw(4) ? 0 : draw(n),
				     .use.record = RECORDS[draw(6)],
				     .use.threads = 1,
				     .use.limit = UINT64_MAX,
				     .use.memory = (uint64_t)24 << (20 + draw(3))};
		if (draw(3) == 0)
			spec.use.limit = draw(n / spec.use.record + 2);
		scratch_write("f", p.data, p.bytes);
		scratch_write("g", p.data, p.bytes);
		const size_t cap = spec.use.record > 300000 ? spec.use.record : 300000;
		const struct outcome one = read_all(&spec, 1, cap);
		spec.use.threads = 2 + (unsigned)draw(3);
		struct soft *const device = draw_device(&spec, false);
		const struct outcome all = read_all(&spec, spec.use.threads, cap);
		CHECK(all.rc == one.rc && all.fail.status == one.fail.status &&
			      strcmp(all.fail.text, one.fail.text) == 0,
		      "round %u: %d '%s', with one reader %d '%s'", round, all.rc, all.fail.text,
		      one.rc, one.fail.text);
		CHECK(one.rc != 0 || (all.records == one.records && all.sum == one.sum),
		      "round %u: %llu of %llu records", round, (unsigned long long)all.records,
		      (unsigned long long)one.records);
		CHECK(!all.beyond, "round %u: more memory than was taken", round);
		if (device)
			unpacked[device->unpacker.demanded] += all.totals.zstd.unpacked;
		failed += one.rc != 0;
		close_device(device);
		free(p.data);
	}
	CHECK(unpacked[0] > 0 && unpacked[1] > 0 && failed > 0,
	      "%llu and %llu bytes by devices, %u failures", (unsigned long long)unpacked[0],
	      (unsigned long long)unpacked[1], failed);
}

/* In the middle of many frames it is known how many bytes they have, about; of unknown sizes not. */
static void expects(unsigned char *data)
{
	unsigned char *const room = malloc(65536);
	const struct want want = {.room = room, .cap = 65536};

	fill(data, LEAST, 0);
	for (unsigned round = 0; round < 4; round++) {
		const bool sized = round % 2, twice = round / 2;
		const uint64_t all = 8 * LEAST * (twice ? 2 : 1);
		const struct setup spec = {.open.paths = FILES,
					   .open.path_count = twice ? 2 : 1,
					   .use.record = 1,
					   .use.threads = 2,
					   .use.limit = UINT64_MAX};
		struct pack p = {.state = 1};
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		struct chunk chunk;
		size_t got = 0;
		for (unsigned i = 0; i < 8; i++)
			pack_frame(&p, data, LEAST, 1, sized, true, 0);
		scratch_write("f", p.data, p.bytes);
		scratch_write("g", p.data, p.bytes);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		while (got < 7 * LEAST / 2 && source_take(r, &want, &chunk, &fail) == 0 &&
		       chunk.bytes > 0) {
			got += chunk.bytes;
			source_done(r, &chunk);
		}
		const uint64_t said = source_expected(s);
		CHECK(sized ? said > all / 10 * 9 && said < all / 10 * 11 : said == 0,
		      "round %u: %llu of %llu bytes", round, (unsigned long long)said,
		      (unsigned long long)all);
		source_stop(s);
		source_close(s);
		free(p.data);
	}
	free(room);
}

/* All readers return from wherever they are, and all memory comes back. */
static void stopped(unsigned char *data)
{
	struct pack p = {.state = 1};

	fill(data, LONG, 0);
	pack_frame(&p, data, LONG, 1, true, true, 0);
	for (unsigned i = 0; i < 20; i++) {
		const bool piped = i % 2;
		struct setup spec = {.open.paths = piped ? STDIN : FILES,
				     .open.path_count = 1,
				     .use.record = 4,
				     .use.threads = 8,
				     .use.limit = UINT64_MAX};
		struct soft *const device = draw_device(&spec, true);
		/* Of a pipe not all comes. */
		const size_t bytes = piped ? p.bytes / 4 * 3 : p.bytes;
		int ends[2] = {-1, -1};
		pid_t feeder = -1;
		scratch_write("f", p.data, bytes);
		if (piped && pipe(ends) == 0) {
			feeder = feed(ends[1], p.data, bytes, 60000);
			to_stdin(ends[0]);
		}
		const struct outcome o = read_some(&spec, 8, 65536, 1 + i / 2);
		close_device(device);
		CHECK(o.rc == 0 && !o.finished, "%d '%s'", o.rc, o.fail.text);
		if (piped) {
			close(ends[1]);
			kill(feeder, SIGKILL);
			waitpid(feeder, NULL, 0);
		}
	}
	free(p.data);
}

/* ---- damage ---- */

/* Where the blocks of a frame are, and where their decoded bytes end. */
struct map {
	unsigned blocks;
	size_t at[BLOCKS + 1], end[BLOCKS];
};

static struct map map_frame(const struct pack *p, size_t n)
{
	struct map m = {.blocks = 0};
	struct frame_header h;
	struct frame_block b = {.last = false};
	ZSTD_DCtx *const context = ZSTD_createDCtx();
	unsigned char *const room = malloc(n);
	ZSTD_outBuffer out = {room, n, 0};
	ZSTD_inBuffer in = {p->data, 0, 0};

	CHECK(frame_parse(p->data, p->bytes, &h) == FRAME_DATA, "no frame");
	for (size_t at = h.bytes; !b.last && m.blocks < BLOCKS; m.blocks++) {
		frame_block_parse(p->data + at, &b);
		m.at[m.blocks] = at;
		in.size = at += 3 + b.stored;
		while (in.pos < in.size)
			ZSTD_decompressStream(context, &out, &in);
		m.end[m.blocks] = out.pos;
		m.at[m.blocks + 1] = at;
	}
	free(room);
	ZSTD_freeDCtx(context);
	return m;
}

/* libzstd's bytes of a damaged frame, whose checksum it gets then. False: it refuses it. */
static bool mend_checksum(struct pack *p, unsigned char *to, size_t n)
{
	struct xxh64 hash;

	p->data[4] &= (unsigned char)~4;
	const size_t got = ZSTD_decompress(to, n, p->data, p->bytes - FRAME_CHECKSUM);
	p->data[4] |= 4;
	if (got != n)
		return false;
	xxh64_begin(&hash);
	xxh64_add(&hash, to, n);
	const uint64_t sum = xxh64_end(&hash);
	for (unsigned i = 0; i < FRAME_CHECKSUM; i++)
		p->data[p->bytes - FRAME_CHECKSUM + i] = (unsigned char)(sum >> 8 * i);
	return true;
}

/*
 * Damage anywhere in a file: the same result and message as of one reader, also where -n ends
 * before or after it. Damage that only the checksum shows is none where that is new, missing, or
 * not looked at.
 */
static void damaged(unsigned char *data)
{
	const size_t n = LEAST + 300001;
	unsigned char *const other = malloc(n);
	struct pack whole = {.state = 1};
	unsigned blocks = 0, unseen = 0;

	for (unsigned round = 0; round < 4 * ROUNDS; round++) {
		uint64_t records, sum;
		struct pack p = {.state = 1};
		if (round % 12 == 0) {
			fill(data, n, round / 12 % 4);
			whole.bytes = 0;
			pack_frame(&whole, data, n, round % 24 ? 1 : 3, true, true,
				   round % 36 ? 0 : 18);
		}
		memcpy(pack_room(&p, whole.bytes), whole.data, whole.bytes);
		p.bytes = whole.bytes;
		const bool cut = draw(10) == 0;
		const size_t at = draw(4) ? 5 + draw(p.bytes - 5) : p.bytes - 1 - draw(8);
		if (cut)
			p.bytes = at;
		else
			p.data[at] ^= (unsigned char)(1u << draw(8));
		const bool mended = !cut && draw(3) == 0 && mend_checksum(&p, other, n);
		if (!cut && !mended && draw(2)) { /* without a checksum libzstd alone says */
			p.data[4] &= (unsigned char)~4;
			p.bytes -= FRAME_CHECKSUM;
		}
		struct setup spec = {.open.paths = FILES,
				     .open.path_count = 1,
				     .use.record = 1 + (uint32_t)draw(4),
				     .use.threads = 1,
				     .use.limit = UINT64_MAX,
				     .open.ignore_tail = true,
				     .open.no_check = draw(3) == 0,
				     .use.memory = 64 << 20};
		if (draw(3) == 0)
			spec.use.limit = draw(n / spec.use.record + 2);
		scratch_write("f", p.data, p.bytes);
		expected(data, n, &spec, &records, &sum);
		const struct outcome one = read_all(&spec, 1, 65536);
		spec.use.threads = 3 + (unsigned)draw(6);
		struct soft *const device = draw_device(&spec, false);
		const struct outcome all = read_all(&spec, spec.use.threads, 65536);
		close_device(device);
		CHECK(all.rc == one.rc && all.fail.status == one.fail.status &&
			      strcmp(all.fail.text, one.fail.text) == 0,
		      "round %u, byte %zu: %d '%s', with one reader %d '%s'", round, at, all.rc,
		      all.fail.text, one.rc, one.fail.text);
		CHECK(one.rc != 0 || (all.records == one.records && all.sum == one.sum),
		      "round %u, byte %zu: %llu of %llu records", round, at,
		      (unsigned long long)all.records, (unsigned long long)one.records);
		CHECK(!mended || one.rc == 0, "round %u: '%s'", round, one.fail.text);
		CHECK(!spec.open.no_check || !strstr(one.fail.text, "checksum"), "round %u: '%s'",
		      round, one.fail.text);
		CHECK(!cut || one.rc == -1 || spec.use.limit <= records, "round %u: cut", round);
		unseen += spec.open.no_check && !mended && one.rc == 0 && one.sum != sum;
		blocks += all.blocks;
		free(p.data);
	}
	CHECK(blocks > ROUNDS, "%u frames in blocks", blocks);
	CHECK(unseen > 2, "%u frames with damage that nobody saw", unseen);
	free(whole.data);
	free(other);
}

/* Writes a file in place: what is open sees it. */
static void rewrite(const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(name, "r+b");

	CHECK(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "%s", name);
}

/* Has a block of the frame been refused? */
static bool is_refused(struct source *s)
{
	const struct zstd_job *j;

	lock_take(&s->lock);
	for (j = jobs_first(s->inputs); j && !(j->blocks && j->blocks->refused); j = jobs_next(j))
		;
	lock_drop(&s->lock);
	return j;
}

/*
 * A block is damaged while the blocks before it are handed out, and the file is whole when libzstd
 * decodes it again: then all is well. If it holds something else by then, what was counted is
 * wrong, and that is found, but where checksums are not added up.
 */
static void again(unsigned char *data)
{
	const size_t n = LEAST + 300001;
	unsigned char *const other = malloc(n);

	fill(data, n, 0);
	fill(other, n, 0);
	for (unsigned round = 0; round < 16; round++) {
		const bool no_check = round >= 12, same = no_check || round % 2;
		const unsigned damaged = 4 + round / 4; /* the first four are looked at */
		struct pack p = {.state = 1}, q = {.state = 1};
		const struct setup spec = {.open.paths = FILES,
					   .open.path_count = 1,
					   .open.no_check = no_check,
					   .use.record = 1,
					   .use.threads = 8,
					   .use.limit = UINT64_MAX};
		unsigned char *const room = malloc(262144);
		const struct want want = {.room = room, .cap = 65536, .lent = true};
		struct worker w = {.record = 1, .cap = 65536, .lends = round / 2 % 2},
			      right = {.record = 1};
		struct fail fail = {.status = STATUS_OK};
		struct source *s;
		struct chunk chunk;
		pthread_t other_reader;

		pack_frame(&p, data, n, 1, true, round < 8 || no_check, 0);
		pack_frame(&q, same ? data : other, n, 1, true, round < 8 || no_check, 0);
		const struct map map = map_frame(&p, n);
		/* more literals than a block may have */
		memcpy(p.data + map.at[damaged] + 3, "\x0c\xff\xff", 3);
		scratch_write("f", p.data, p.bytes);
		add(&right, data, n);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		w.source = s;
		/* While this piece is lent libzstd does not begin. */
		CHECK(source_take(r, &want, &chunk, &fail) == 0 && chunk.piece, "%s", fail.text);
		pthread_create(&other_reader, NULL, work, &w);
		while (!is_refused(s))
			usleep(100);
		rewrite("f", q.data, q.bytes);
		struct worker first = {.record = 1};
		add(&first, chunk.data, chunk.bytes);
		source_done(r, &chunk);
		pthread_join(other_reader, NULL);
		w.records += first.records;
		w.sum += first.sum;
		const int rc = w.rc;
		fail = w.fail;
		CHECK(w.blocks, "round %u: not in blocks", round);
		if (same)
			CHECK(rc == 0 && w.again && w.records == n && w.sum == right.sum,
			      "round %u: %d, %llu of %zu records '%s'", round, rc,
			      (unsigned long long)w.records, n, fail.text);
		else
			CHECK(rc == -1 && fail.status == STATUS_DATA &&
				      strstr(fail.text, "f changed while it was read"),
			      "round %u: %d '%s'", round, rc, fail.text);
		source_close(s);
		free(room);
		free(p.data);
		free(q.data);
	}
	free(other);
}

/* ---- pipes ---- */

/*
 * Of a pipe the packed bytes are gone: what is refused is an error, and so is a wrong checksum,
 * unless it is not looked at; then it must still be there.
 */
static void piped(unsigned char *data)
{
	static const char *const WHY[] = {NULL, "checksum is wrong", "it is damaged", "ends inside",
					  "it is damaged"};
	struct pack p = {.state = 1};
	uint64_t records, sum;

	fill(data, LONG, 0);
	pack_frame(&p, data, LONG, 1, true, true, 0);
	const struct map map = map_frame(&p, LONG);
	for (unsigned round = 0; round < 20; round++) {
		const bool no_check = round >= 15;
		struct setup spec = {.open.no_check = no_check,
				     .use.record = 3,
				     .use.threads = 4,
				     .use.limit = UINT64_MAX,
				     .open.ignore_tail = true};
		struct pack q = {.state = 1, .bytes = p.bytes};
		const unsigned drawn =
			4 + (unsigned)draw(map.blocks - 4); /* the first are scanned */
		/* With -n's last record a third of a piece and a block end. */
		const unsigned block = round == 7 ? 12 : drawn;
		const char *const why = WHY[no_check && round % 5 == 1 ? 0 : round % 5];
		q.data = malloc(p.bytes);
		memcpy(q.data, p.data, p.bytes);
		switch (round % 5) {
		case 1:
			q.data[p.bytes - 1 - draw(4)] ^= 1;
			break;
		case 2:
			q.data[map.at[block]] |= 6;
			break;
		case 3:
			q.bytes = no_check ? p.bytes - 1 - draw(4) : map.at[block] + draw(200);
			break;
		case 4: /* the header says a byte more, or less */
			q.data[6] = (unsigned char)(q.data[6] + (round % 2 ? 1 : -1));
			break;
		default:
			break;
		}
		expected(data, LONG, &spec, &records, &sum);
		struct outcome o = read_piped(&spec, &q, 4, 65536);
		CHECK(o.blocks &&
			      (why ? o.rc == -1 && o.fail.status == STATUS_DATA &&
					       strstr(o.fail.text, "zstd frame at offset 0: ") &&
					       strstr(o.fail.text, why)
				   : o.rc == 0 && o.records == records && o.sum == sum),
		      "round %u: %d '%s'", round, o.rc, o.fail.text);
		/* What lies behind the last record of -n is not looked at. */
		spec.use.limit =
			(round % 5 == 2 || round % 5 == 3 ? map.end[block - 1] : LONG - 9) / 3;
		expected(data, LONG, &spec, &records, &sum);
		o = read_piped(&spec, &q, 4, 65536);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum,
		      "round %u: %d, %llu of %llu records '%s'", round, o.rc,
		      (unsigned long long)o.records, (unsigned long long)records, o.fail.text);
		free(q.data);
	}
	free(p.data);
}

int main(void)
{
	unsigned char *const data = malloc(LONG);
	unsigned blocks = 0;

	signal(SIGPIPE, SIG_IGN);
	alarm(600); /* a reader that waits for another, or for a writer, would wait for ever */
	scratch_enter();
	for (unsigned round = 0; round < 3 * ROUNDS; round++)
		blocks += check_one(data, round);
	CHECK(blocks > ROUNDS / 4, "%u frames in blocks", blocks);
	CHECK(by_device > ROUNDS, "%llu batches", (unsigned long long)by_device);
	started(data);
	shared(data);
	expects(data);
	stopped(data);
	again(data);
	piped(data);
	damaged(data);
	pays(data);
	scratch_clean();
	scratch_leave();
	free(data);
	return check_report();
}
