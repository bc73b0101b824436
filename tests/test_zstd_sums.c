/* SPDX-License-Identifier: MIT */
/*
 * zstd_sums: checksums of frames, computed by readers or by the source: right ones pass, a wrong
 * one is reported with its frame, of two the first, whatever -S, -n, the record's size and the readers are. From a
 * seed.
 */
#include "pack.h"
#include "readers.h"

#define FRAMES 300
#define ROUNDS 600
#define MOST ((size_t)3 << 20)

static uint64_t state = 77;

static uint64_t draw(uint64_t below)
{
	return check_random(&state) % below;
}

/* Where a frame is: at, bytes compressed; from, holds decoded. */
struct placed {
	size_t at, bytes, from, holds;
	bool sum, told;
};

struct file {
	struct pack pack;
	struct placed frame[FRAMES];
	unsigned frames;
	size_t holds;
};

/* A few frames, some of them large, or many small ones. Bytes that do not compress are stored. */
static struct file make(const unsigned char *data, uint64_t large, bool many)
{
	struct file f = {.pack = {.state = 9}, .frames = 1 + (unsigned)draw(many ? FRAMES : 12)};

	for (unsigned i = 0; i < f.frames; i++) {
		const size_t left = MOST - f.holds, most = many           ? 3000
							   : draw(3) == 0 ? large
									  : 40000;
		const size_t n = draw(6) == 0 ? draw(3) : draw(most);
		struct placed *p = &f.frame[i];
		*p = (struct placed){.at = f.pack.bytes,
				     .from = f.holds,
				     .holds = n < left ? n : left,
				     .sum = draw(4) > 0,
				     .told = draw(many ? 50 : 2)};
		pack_frame(&f.pack, data + f.holds, p->holds, 1, p->told, p->sum, draw(2) ? 0 : 17);
		p->bytes = f.pack.bytes - p->at;
		f.holds += p->holds;
		if (draw(many ? 100 : 5) == 0)
			pack_skippable(&f.pack, draw(50));
	}
	return f;
}

/*
 * Flips a bit of a frame's checksum or content. Returns the frame; FRAMES: none could be damaged.
 */
static unsigned hurt(struct file *f)
{
	const unsigned first = (unsigned)draw(f->frames);

	for (unsigned i = 0; i < f->frames; i++) {
		const unsigned k = (first + i) % f->frames;
		const struct placed *p = &f->frame[k];
		if (!p->sum)
			continue;
		const bool content = p->holds > 1000 && draw(2);
		const size_t back = content ? 4 + 100 + draw(800) : 1 + draw(4);
		f->pack.data[p->at + p->bytes - back] ^= (unsigned char)(1u << draw(8));
		return k;
	}
	return FRAMES;
}

static void check_one(const unsigned char *data, unsigned round)
{
	static char *const FILES[] = {"f"}, *const STDIN[] = {"-"};
	struct file f = make(data, round % 4 == 0 ? MOST : 300000, round % 3 == 0);
	const unsigned record = 1 + (unsigned)draw(8), workers = 1 + (unsigned)draw(4);
	const bool piped = draw(3) == 0, wrong = draw(2);
	struct setup spec = {.open.paths = piped ? STDIN : FILES,
			     .open.path_count = 1,
			     .use.record = record,
			     .use.threads = workers,
			     .use.limit = UINT64_MAX,
			     .open.ignore_tail = true,
			     .open.zstd = true,
			     .use.memory = draw(2) ? 256 << 20 : 8 << 20};
	uint64_t records, sum;
	char where[64];
	pid_t feeder = 0;

	if (draw(3) == 0)
		spec.open.skip = draw(f.holds + 1);
	if (draw(spec.open.skip > 0 ? 2 : 4) == 0)
		spec.use.limit = draw(draw(2) ? 100 : (f.holds - spec.open.skip) / record + 2);
	/* One frame, or two, of which the first is reported. */
	const unsigned one = wrong ? hurt(&f) : FRAMES;
	const unsigned two = wrong && draw(2) ? hurt(&f) : FRAMES;
	const unsigned k = one < two ? one : two;
	expected(data, f.holds, &spec, &records, &sum);
	if (piped) {
		feeder = feed_stdin(f.pack.data, f.pack.bytes, 1 + draw(100000));
	} else {
		scratch_write("f", f.pack.data, f.pack.bytes);
	}
	const struct outcome o = read_all(&spec, workers, 4096 + draw(2) * 500000);
	if (feeder > 0) {
		kill(feeder, SIGKILL);
		waitpid(feeder, NULL, 0);
	}
	const struct placed *p = &f.frame[k < FRAMES ? k : 0];
	const uint64_t end = spec.use.limit == UINT64_MAX
				     ? UINT64_MAX
				     : spec.open.skip + spec.use.limit * record;
	snprintf(where, sizeof(where), "zstd frame at offset %zu: ", p->at);
	const bool right = o.rc == 0 && o.records == records && o.sum == sum;
	const bool found = o.rc == -1 && o.fail.status == STATUS_DATA &&
			   strstr(o.fail.text, where) && strstr(o.fail.text, "checksum");
	/* If -n ends inside the frame or at its end, the checksum may be looked at or not. */
	const bool must = k < FRAMES && p->from + p->holds < end && spec.use.limit > 0,
		   may = k < FRAMES && p->from < end;
	CHECK(must  ? found
	      : may ? found || (o.rc == 0 && o.records == records)
		    : right,
	      "round %u: frame %u of %u, %s'%s' %llu of %llu records", round, k, f.frames, where,
	      o.fail.text, (unsigned long long)o.records, (unsigned long long)records);
	free(f.pack.data);
}

/*
 * One long frame, decoded faster than its checksum is computed, by readers that borrow and readers
 * that copy: a piece that was given back is decoded into again while its reader adds the next one.
 */
static void hands_change(void)
{
	static char *const PATHS[] = {"f"};
	const size_t bytes = (size_t)24 << 20;
	const struct setup spec = {.open.paths = PATHS,
				   .open.path_count = 1,
				   .use.record = 8,
				   .use.threads = 4,
				   .use.limit = UINT64_MAX,
				   .use.memory = 256 << 20};
	unsigned char *data = malloc(bytes);
	struct pack p = {.state = 9};
	uint64_t records, sum;

	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(i >> 18);
	pack_frame(&p, data, bytes, 1, true, true, 17);
	scratch_write("f", p.data, p.bytes);
	expected(data, bytes, &spec, &records, &sum);
	for (unsigned round = 0; round < 8; round++) {
		const struct outcome o = read_all(&spec, 4, 262144);
		CHECK(o.rc == 0 && o.records == records && o.sum == sum,
		      "round %u: %llu of %llu records '%s'", round, (unsigned long long)o.records,
		      (unsigned long long)records, o.fail.text);
	}
	free(p.data);
	free(data);
	scratch_clean();
}

int main(void)
{
	unsigned char *data = malloc(MOST);

	for (size_t i = 0; i < MOST; i++)
		data[i] = (unsigned char)(check_random(&state) >> 40);
	scratch_enter();
	for (unsigned round = 0; round < ROUNDS; round++)
		check_one(data, round);
	hands_change();
	scratch_clean();
	scratch_leave();
	free(data);
	return check_report();
}
