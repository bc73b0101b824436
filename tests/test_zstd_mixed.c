/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * zstd_mixed: inputs of all kinds in one job, drawn from a seed: plain and compressed, files, FIFOs
 * and standard input; records of all sizes; -S and -n, which often ends exactly at an input's end;
 * little memory and much; workers that borrow, copy, or do both.
 *
 * Writers stop where the last record of -n ends and stay open: a reader that waits for more waits
 * until the alarm. Or what follows that record is damaged, which is no error. Or one or two places
 * are damaged, as a table says, and of those that -n reaches the first is reported.
 */
#include "pack.h"
#include "readers.h"
#include "input/first.h"

#define INPUTS 5
#define FRAMES 200
#define ROOM ((size_t)8 << 20)

static unsigned char *bytes_of[2]; /* ROOM of them that compress, and of noise */
static uint64_t state;

static uint64_t below(uint64_t n)
{
	return (check_random(&state) >> 20) % n;
}

/* A frame, from `at` to `end`; it holds what is decoded from `from` to `to`. */
struct placed {
	size_t at, end, from, to;
	bool sum, told, damaged;
};

struct mixed {
	char name[16];
	enum { FILE_PLAIN, FILE_ZSTD, FIFO_PLAIN, FIFO_ZSTD, STDIN_ZSTD, KINDS } kind;
	bool noise;
	struct pack pack;
	size_t bytes;  /* decoded */
	size_t enough; /* bytes that -n needs of a plain one */
	struct placed frame[FRAMES + 1];
	unsigned frames;
	bool stays; /* the writer does not end */
	pid_t writer;
};

static bool compressed(const struct mixed *in)
{
	return in->kind != FILE_PLAIN && in->kind != FIFO_PLAIN;
}

static void draw_frame(struct mixed *in, size_t n, bool many)
{
	struct placed *const f = &in->frame[in->frames++];

	*f = (struct placed){.at = in->pack.bytes,
			     .from = in->bytes,
			     .to = in->bytes + n,
			     .sum = below(4) > 0,
			     .told = below(many ? 50 : 2)};
	pack_frame(&in->pack, bytes_of[in->noise] + f->from, n, 1, f->told, f->sum,
		   below(3) ? 10 + (int)below(8) : 0);
	f->end = in->pack.bytes;
	in->bytes = f->to;
	if (below(many ? 100 : 9) == 0)
		pack_skippable(&in->pack, below(300));
}

/* A few frames, some of them large, or many small ones. */
static void draw_input(struct mixed *in, bool *stdin_taken)
{
	static const size_t MOST[] = {1, 9, 60000, 60000, 60000, 900000};
	const bool many = below(3) == 0;
	const unsigned frames = 1 + (unsigned)below(many ? FRAMES : 8);

	*in = (struct mixed){.kind = (unsigned)below(KINDS),
			     .noise = below(2),
			     .pack = {.state = 1 + below(1000)},
			     .writer = -1};
	if (in->kind == STDIN_ZSTD && *stdin_taken)
		in->kind = FILE_ZSTD;
	*stdin_taken |= in->kind == STDIN_ZSTD;
	while (compressed(in) && in->frames < frames)
		draw_frame(in, below(many ? 3000 : MOST[below(6)]), many);
	if (compressed(in))
		return;
	in->bytes = below(below(3) ? 100000 : 2000000);
	memcpy(pack_room(&in->pack, in->bytes + 1), bytes_of[in->noise], in->bytes);
	in->pack.bytes = in->bytes;
}

/* ---- damages ---- */

static bool no_check; /* wrong checksums are no damage */

/* Each damages a frame, or returns false where that cannot be, or is no damage. */
static bool wrong_sum(struct mixed *in, const struct placed *f)
{
	in->pack.data[f->end - 1 - below(FRAME_CHECKSUM)] ^= (unsigned char)(1u << below(8));
	return !no_check;
}

static bool wrong_content(struct mixed *in, const struct placed *f)
{
	if (no_check || !in->noise || f->to - f->from < 1000) /* noise is stored as it is */
		return false;
	in->pack.data[f->end - 104 - below(800)] ^= (unsigned char)(1u << below(8));
	return true;
}

static bool cut(struct mixed *in, const struct placed *f)
{
	in->pack.bytes = f->at + 4 + below(f->end - f->at - 4);
	return true;
}

/* Its header declares one byte more or less than it holds, or as many as can be. */
static bool lie(struct mixed *in, const struct placed *f)
{
	unsigned char *const p = in->pack.data + f->at;
	const size_t field = p[4] >> 6 == 0 ? 1 : (size_t)1 << (p[4] >> 6);
	struct frame_header header;

	if (!f->told || frame_parse(p, f->end - f->at, &header) != FRAME_DATA)
		return false;
	if (below(2))
		memset(p + header.bytes - field, 0xff, field);
	else
		p[header.bytes - field] ^= 1;
	return true;
}

#define BEHIND(text) NULL, text, sizeof(text) - 1
static const struct damage {
	const char *why; /* the message has it */
	bool (*hurt)(struct mixed *in, const struct placed *f);
	const char *behind; /* comes behind the last frame instead */
	size_t bytes;
} DAMAGES[] = {
	{"checksum", wrong_sum, NULL, 0},
	{"checksum", wrong_content, NULL, 0},
	{"the input ends inside", cut, NULL, 0},
	{"", lie, NULL, 0},
	{"garbage", BEHIND("\0\0\0")},
	{"garbage", BEHIND("\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5")},
	{"inside its header", BEHIND("\x28")},
	{"inside its header", BEHIND("\x52\x2a\x4d")},
	{"inside its header", BEHIND("\x28\xb5\x2f\xfd")},
	{"", BEHIND("\x28\xb5\x2f\xfd and then no zstd at all")},
	{"inside it", BEHIND("\x50\x2a\x4d\x18\xff\xff\xff\xff....")},
	{"before 0.8", BEHIND("\x25\xb5\x2f\xfd..........")},
	{"dictionary", BEHIND("\x28\xb5\x2f\xfd\x21\x07\x01\x01\x00\x00")},
	{"no version", BEHIND("\x28\xb5\x2f\xfd\x28\x01\x09\x00\x00\x00")},
	/* a block that is larger than the window of 1 KiB allows */
	{"", BEHIND("\x28\xb5\x2f\xfd\x00\x00\x63\x62\x00\x00")},
	/* it declares 2^60 bytes and holds four */
	{"", BEHIND("\x28\xb5\x2f\xfd\xc0\x40\0\0\0\0\0\0\0\x10\x21\0\0abcd")},
};

#define DAMAGE_COUNT (sizeof(DAMAGES) / sizeof(DAMAGES[0]))
static bool seen[DAMAGE_COUNT]; /* by a run that had to fail */

/* What is damaged first, of all inputs. */
struct first_damage {
	const struct damage *how; /* NULL: nothing is */
	unsigned input;
	struct placed frame;
};

static void draw_damage(struct mixed *in, unsigned index, struct first_damage *first)
{
	const struct damage *const how = &DAMAGES[below(2) ? below(4) : below(DAMAGE_COUNT)];
	struct placed *f = &in->frame[in->frames];

	if (!compressed(in))
		return;
	if (how->behind) {
		if (f->damaged || in->frame[in->frames - 1].end > in->pack.bytes) /* was cut */
			return;
		*f = (struct placed){.at = in->pack.bytes, .from = in->bytes, .to = in->bytes};
		memcpy(pack_room(&in->pack, how->bytes), how->behind, how->bytes);
		in->pack.bytes += how->bytes;
	} else {
		f = &in->frame[below(in->frames)];
		if (f->damaged || !f->sum || f->end > in->pack.bytes || !how->hurt(in, f))
			return;
	}
	f->damaged = true;
	if (!first->how || index < first->input ||
	    (index == first->input && f->at < first->frame.at))
		*first = (struct first_damage){how, index, *f};
}

/* ---- the job ---- */

/* A file, or a process that writes. */
static void offer(struct mixed *in, unsigned k, char **path)
{
	const size_t each = 1 + below(below(5) ? 90000 : 2000),
		     bytes = in->stays ? in->enough : in->pack.bytes;
	int ends[2] = {-1, -1};

	snprintf(in->name, sizeof(in->name), "f%u", k);
	*path = in->name;
	if (in->kind <= FILE_ZSTD) {
		scratch_write(in->name, in->pack.data, in->pack.bytes);
		return;
	}
	if (in->kind == STDIN_ZSTD) {
		*path = (char *)(uintptr_t) "-";
		CHECK(pipe(ends) == 0, "a pipe");
	} else {
		CHECK(mkfifo(in->name, 0600) == 0, "a FIFO");
	}
	in->writer = fork();
	if (in->writer == 0) {
		alarm(60);
		const int fd = in->kind == STDIN_ZSTD ? ends[1] : open(in->name, O_WRONLY);
		if (in->kind == STDIN_ZSTD)
			close(ends[0]);
		int status;
		waitpid(feed(fd, in->pack.data, bytes, each), &status, 0);
		if (in->stays)
			pause();
		_exit(0);
	}
	if (in->kind == STDIN_ZSTD) {
		close(ends[1]);
		to_stdin(ends[0]);
	}
}

static void check_outcome(const struct setup *spec, const struct outcome *o, uint64_t records,
			  uint64_t sum, const struct first_damage *first, uint64_t end,
			  unsigned seed)
{
	const struct source_totals *const t = &o->totals;
	/* If -n ends inside the frame or at its end, the damage may be seen or not. */
	const bool must = first->how && first->frame.to < end,
		   may = first->how && first->frame.from < end;
	char where[64];

	snprintf(where, sizeof(where), "at offset %zu", first->frame.at);
	const bool found = may && o->rc == -1 && strstr(o->fail.text, where) &&
			   strstr(o->fail.text, first->how->why) &&
			   (o->fail.status == STATUS_DATA || first->how->hurt == lie);
	if (must)
		seen[first->how - DAMAGES] = true;
	const bool right = o->rc == 0 && o->records == records && (may || o->sum == sum) &&
			   o->finished &&
			   t->bytes == t->skipped + t->tail + records * spec->use.record;
	CHECK(found || (!must && right), "seed %u: %llu of %llu records, '%s', not '%s' %s", seed,
	      (unsigned long long)o->records, (unsigned long long)records, o->fail.text,
	      may ? first->how->why : "", where);
	CHECK(!o->beyond, "seed %u: more memory than was taken", seed);
}

static void mix(unsigned seed)
{
	static const uint32_t LARGE[] = {24, 4096, 100000, 300001};
	static struct mixed in[INPUTS];
	char *paths[INPUTS];
	const unsigned inputs = 1 + (unsigned)below(INPUTS), damages = (unsigned)below(3);
	const uint32_t record = below(4) ? 1 + (uint32_t)below(8) : LARGE[below(4)];
	const unsigned workers = 1 + (unsigned)below(READERS_MOST / 2);
	no_check = seed % 4 == 0;
	struct setup spec = {.open.paths = paths,
			     .open.path_count = inputs,
			     .use.limit = UINT64_MAX,
			     .open.ignore_tail = true,
			     .open.no_check = no_check,
			     .use.record = record,
			     .use.threads = 1 + (unsigned)below(READERS_MOST / 2),
			     .use.memory = (uint64_t)1 << (20 + below(9))};
	struct first_damage first = {.how = NULL};
	uint64_t least = UINT64_MAX, all = 0, records = 0, sum = 0, end = 0;
	bool stdin_taken = false;

	spec.use.memory *= record > 4096 ? 16 : 1;
	for (unsigned k = 0; k < inputs; k++) {
		draw_input(&in[k], &stdin_taken);
		least = in[k].bytes < least ? in[k].bytes : least;
	}
	for (unsigned i = 0; i < damages; i++) {
		const unsigned k = (unsigned)below(inputs);
		draw_damage(&in[k], k, &first);
	}
	spec.open.skip = below(3) ? 0 : below(least + 1);
	const uint64_t exact = below(inputs + 3); /* -n ends with this input, if there is one */
	for (unsigned k = 0; k < inputs; k++) {
		all += (in[k].bytes - spec.open.skip) / record;
		if (k == exact && all > 0)
			spec.use.limit = all;
	}
	if (spec.use.limit == UINT64_MAX && below(3))
		spec.use.limit = 1 + below(all + 2);
	for (unsigned k = 0; k < inputs; k++) {
		struct setup rest = spec;
		uint64_t some, part;
		if (rest.use.limit != UINT64_MAX)
			rest.use.limit -= records;
		expected(bytes_of[in[k].noise], in[k].bytes, &rest, &some, &part);
		records += some;
		sum += part;
		if (first.how && k == first.input) /* decoded bytes of it that are wanted */
			end = spec.use.limit == UINT64_MAX ? UINT64_MAX
			      : rest.use.limit == 0        ? 0
						    : spec.open.skip + rest.use.limit * record;
		if (!compressed(&in[k]) && !first.how && spec.use.limit == records && some > 0) {
			in[k].enough = (size_t)(spec.open.skip + some * record);
			in[k].stays = in[k].enough >= FIRST_BYTES && below(2);
			memset(in[k].pack.data + in[k].enough, 0x55,
			       in[k].pack.bytes - in[k].enough);
		}
	}
	for (unsigned k = 0; k < inputs; k++)
		offer(&in[k], k, &paths[k]);
	alarm(60);
	const size_t cap = record * (record > 4096 ? 1 + below(3) : 200 + below(30000)) + below(2);
	const struct outcome o = read_all(&spec, workers, cap);
	alarm(0);
	check_outcome(&spec, &o, records, sum, &first, end, seed);
	for (unsigned k = 0; k < inputs; k++) {
		if (in[k].writer > 0) {
			kill(in[k].writer, SIGKILL);
			waitpid(in[k].writer, NULL, 0);
		}
		free(in[k].pack.data);
	}
	scratch_clean();
}

/* A file is cut after its first records were read: bad input, unless no record was behind the cut. */
static void cut_meanwhile(void)
{
	static char *const PATHS[] = {"f"};
	static const uint32_t RECORDS[] = {1, 3, 4, 70001};
	const size_t n = 5 << 20;
	unsigned char *const data = malloc(n), *const room = malloc(n);
	unsigned failed = 0;

	state = 4;
	for (unsigned i = 0; i < 96; i++) {
		const unsigned kind = i % 6;
		const struct setup spec = {.open.paths = PATHS,
					   .open.path_count = 1,
					   .use.limit = UINT64_MAX,
					   .use.record = RECORDS[check_random(&state) >> 40 & 3],
					   .use.threads =
						   1 + (unsigned)(check_random(&state) >> 40 & 7),
					   .open.ignore_tail = true};
		const struct want want = {
			.room = room, .cap = 200000, .lent = check_random(&state) >> 40 & 1};
		struct worker w = {.record = spec.use.record};
		struct fail fail = {.status = STATUS_OK};
		struct pack p = {.state = 1};
		struct source *s;
		struct chunk chunk;
		uint64_t records, sum;
		int rc;

		for (size_t k = 0; k < n; k++) /* what is stored; or else mostly literals */
			data[k] = (unsigned char)(check_random(&state) >> 40 &
						  (kind == 0 ? 255 : 31));
		/* one long frame, or frames of 10 KB to 2 MB that say how long they are, or do not */
		const size_t each = kind < 2 ? n : kind < 4 ? 10007 : 2000003;
		for (size_t at = 0; at < n; at += each)
			pack_frame(&p, data + at, each < n - at ? each : n - at, 1,
				   kind != 3 && kind != 5, true, 0);
		scratch_write("f", p.data, p.bytes);
		expected(data, n, &spec, &records, &sum);
		CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
		struct reader *const r = source_reader(s);
		rc = source_take(r, &want, &chunk, &fail);
		/* anywhere, or where the first frame ends */
		struct frame f;
		const bool known = frame_measure(p.data, p.bytes, &f);
		const size_t to = known && i % 5 == 0 && each < n
					  ? (size_t)f.stored
					  : (check_random(&state) >> 20) % p.bytes;
		if (truncate("f", (off_t)to) != 0)
			perror("truncate");
		while (rc == 0 && chunk.bytes > 0) {
			add(&w, chunk.data, chunk.bytes);
			source_done(r, &chunk);
			rc = source_take(r, &want, &chunk, &fail);
		}
		failed += rc != 0;
		CHECK(rc == 0 ? records == w.records && sum == w.sum && source_finished(s)
			      : fail.status == STATUS_DATA,
		      "round %u, cut to %zu: %d, %llu records '%s'", i, to, rc,
		      (unsigned long long)w.records, fail.text);
		source_close(s);
		free(p.data);
	}
	CHECK(failed > 48, "%u files became shorter", failed);
	free(data);
	free(room);
	scratch_clean();
}

/* A file is cut behind a long frame that is being decoded: the frame after it is missed. */
static void cut_between(void)
{
	static char *const PATHS[] = {"f"};
	const struct setup spec = {.open = {.paths = PATHS, .path_count = 1},
				   .use = {.limit = UINT64_MAX, .record = 1, .threads = 1}};
	const size_t n = FIND_MAX + 1;
	unsigned char *const data = malloc(n), *const room = malloc(65536);
	const struct want want = {.room = room, .cap = 65536};
	struct fail fail = {.status = STATUS_OK};
	struct pack p = {.state = 1};
	struct source *s;
	struct chunk chunk;
	int rc;

	for (size_t i = 0; i < n; i++)
		data[i] = (unsigned char)(check_random(&state) >> 40);
	pack_frame(&p, data, n, 1, true, true, 0);
	const size_t one = p.bytes;
	pack_frame(&p, data, 1000, 1, true, true, 0);
	scratch_write("f", p.data, p.bytes);
	CHECK(setup_open(&s, &spec, &fail) == 0, "%s", fail.text);
	struct reader *const r = source_reader(s);
	rc = source_take(r, &want, &chunk, &fail);
	if (truncate("f", (off_t)one) != 0)
		perror("truncate");
	while (rc == 0 && chunk.bytes > 0) {
		source_done(r, &chunk);
		rc = source_take(r, &want, &chunk, &fail);
	}
	CHECK(rc == -1 && fail.status == STATUS_DATA && strstr(fail.text, "became shorter"), "'%s'",
	      fail.text);
	source_close(s);
	free(p.data);
	free(data);
	free(room);
	scratch_clean();
}

/* A hundred thousand empty frames, and 64 MiB in a few kilobytes. */
static void bombs(void)
{
	static char *const PATHS[] = {"f"};
	const struct setup spec = {.open = {.paths = PATHS, .path_count = 1},
				   .use = {.limit = UINT64_MAX, .record = 1, .threads = 2}};
	unsigned char *const zeros = calloc(1, 64 << 20);
	struct pack p = {.state = 1};

	pack_frame(&p, "", 0, 1, true, false, 0);
	const size_t one = p.bytes;
	for (unsigned i = 1; i < 100000; i++) {
		unsigned char *const at = pack_room(&p, one);
		memcpy(at, p.data, one);
		p.bytes += one;
	}
	pack_frame(&p, zeros, 64 << 20, 3, false, true, 0);
	scratch_write("f", p.data, p.bytes);
	const struct outcome o = read_all(&spec, 2, 4096);
	CHECK(o.rc == 0 && o.records == 64 << 20, "%llu '%s'", (unsigned long long)o.records,
	      o.fail.text);
	free(zeros);
	free(p.data);
	scratch_clean();
}

int main(int argc, char **argv)
{
	const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	state = 77;
	for (unsigned noise = 0; noise < 2; noise++) {
		bytes_of[noise] = malloc(ROOM);
		for (size_t i = 0; i < ROOM; i++)
			bytes_of[noise][i] =
				noise ? (unsigned char)(check_random(&state) >> 40)
				      : (i % 65536 < 3000 ? check_random(&state) >> 30 : i >> 13) &
						31;
	}
	for (unsigned seed = from; seed <= (argc > 1 ? from : 500); seed++) {
		state = seed * 0x9e3779b97f4a7c15u | 1;
		mix(seed);
	}
	for (size_t i = 0; i < DAMAGE_COUNT; i++)
		CHECK(seen[i] || argc > 1, "damage %zu was not drawn", i);
	cut_meanwhile();
	cut_between();
	bombs();
	free(bytes_of[0]);
	free(bytes_of[1]);
	scratch_leave();
	return check_report();
}
