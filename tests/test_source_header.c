/* SPDX-License-Identifier: MIT */
/*
 * source, of inputs that say what they are: only the samples are counted, never a header or what
 * follows, from files, redirected files, pipes in pieces of any size, and zstd frames of all sorts,
 * by one reader and four, with -S, -n and --ignore-tail; every header cut at every byte.
 */
#include "pack.h"
#include "header_parse.h"
#include "readers.h"
#include "say.h"

#define RECORD 2u

typedef unsigned long long ull;

/* An input in its parts. */
struct shape {
	struct made all;
	size_t begin, samples; /* bytes before the samples, and of them */
};

enum form { NPY, WAVE, WAVE_LONG, PICTURE, FORMS };

static struct shape make(enum form form, size_t samples)
{
	struct shape p = {.samples = samples};
	char text[128];

	switch (form) {
	case NPY:
		snprintf(text, sizeof(text),
			 "{'descr': '<u2', 'fortran_order': False, 'shape': (%zu,), }",
			 samples / 2);
		put_npy(&p.all, 1, text);
		break;
	case WAVE:
	case WAVE_LONG:
		put_wave(&p.all, &(struct wave){.form = "RIFF",
						.tag = 1,
						.channels = 1,
						.bytes = 2,
						.bits = 16,
						.before = form == WAVE ? 0 : 130001,
						.after = form == WAVE ? 14 : 170000,
						.size = (uint32_t)samples});
		break;
	default:
		snprintf(text, sizeof(text), "P5\n# a comment\n%zu 1\n65535\n", samples / 2);
		put_text(&p.all, text);
	}
	p.begin = p.all.bytes;
	for (size_t i = 0; i < samples / 2; i++)
		put_number(&p.all, i * 7919 % 65521, 2);
	put(&p.all, "x", samples % 2);
	if (form == WAVE || form == WAVE_LONG) {
		put(&p.all, "", samples % 2);
		put_chunk(&p.all, "LIST", form == WAVE ? 5 : 40001, "data\1");
	}
	return p;
}

enum route { NAMED, REDIRECTED, PIPED, ROUTES };

static struct outcome count(const struct setup *asked, const unsigned char *data, size_t bytes,
			    enum route route, unsigned workers, size_t each)
{
	char *const paths[] = {route == NAMED ? "input" : "-", NULL};
	struct setup spec = *asked;
	pid_t feeder = 0;

	spec.open.paths = paths;
	spec.open.path_count = 1;
	spec.headers = spec.open.type_said = true;
	spec.use.threads = workers;
	if (route == PIPED) {
		feeder = feed_stdin(data, bytes, each);
	} else {
		scratch_write("input", data, bytes);
		if (route == REDIRECTED)
			to_stdin(open("input", O_RDONLY));
	}
	alarm(60);
	const struct outcome o = read_all(&spec, workers, each < 100 ? 64 : 8192);
	alarm(0);
	if (route != NAMED)
		to_stdin(open("/dev/null", O_RDONLY));
	if (route == PIPED) {
		int status;
		waitpid(feeder, &status, 0);
		/* All was read, or -n or an error ended it. */
		CHECK(WIFEXITED(status) || spec.use.limit != UINT64_MAX || o.rc != 0,
		      "the writer died: %x", (unsigned)status);
	}
	return o;
}

static void check_count(const struct setup *spec, const struct shape *p, const unsigned char *data,
			size_t bytes, const char *what)
{
	uint64_t records, sum;
	static unsigned turn;

	expected(p->all.at + p->begin, p->samples, spec, &records, &sum);
	for (enum route route = NAMED; route < ROUTES; route++) {
		static const size_t EACH[] = {1 << 20, 7, 1};
		const unsigned workers = turn % 2 ? 4 : 1;
		/* Where -n wants fewer bytes than show a header, the rest must come with them. */
		const bool few = spec->use.limit < 12 / RECORD;
		const size_t each = bytes > 20000 || few ? 1 << 20 : EACH[turn % 3];
		turn++;
		const struct outcome o = count(spec, data, bytes, route, workers, each);
		CHECK(o.rc == 0 && o.finished, "%s, route %d: %s", what, route, o.fail.text);
		CHECK(o.records == records && o.sum == sum,
		      "%s, route %d, %u workers: %llu of %llu records", what, route, workers,
		      (ull)o.records, (ull)records);
		CHECK(o.said.format && o.said.type.bytes == RECORD && o.said.begin == p->begin,
		      "%s", what);
		CHECK(o.totals.bytes == o.totals.skipped + o.totals.tail + records * RECORD,
		      "%s, route %d: %llu bytes, %llu skipped, %llu tail", what, route,
		      (ull)o.totals.bytes, (ull)o.totals.skipped, (ull)o.totals.tail);
		CHECK(o.totals.skipped == spec->open.skip && o.totals.headers == 1,
		      "%s: %llu skipped", what, (ull)o.totals.skipped);
	}
}

/* Plain, and in frames of many sorts. */
static void check_packed(const struct setup *spec, const struct shape *p, uint64_t seed,
			 const char *what)
{
	char packed[200];

	check_count(spec, p, p->all.at, p->all.bytes, what);
	struct pack pack = pack_all(p->all.at, p->all.bytes, seed);
	snprintf(packed, sizeof(packed), "%s, zstd of seed %llu", what, (ull)seed);
	check_count(spec, p, pack.data, pack.bytes, packed);
	free(pack.data);
}

static void samples_only(void)
{
	for (enum form form = NPY; form < FORMS; form++)
		for (unsigned i = 0; i < 6; i++) {
			static const size_t SAMPLES[] = {0, 2, 10, 300, 70000, 400000};
			/* no picture is empty */
			const size_t samples = SAMPLES[i + (i == 0 && form == PICTURE)];
			struct shape p = make(form, samples);
			const uint64_t skip = i % 2 ? samples / 4 * 2 : 0;
			const uint64_t left = (samples - skip) / RECORD;
			const uint64_t limits[] = {UINT64_MAX, left, left / 2, left + 1, 1};
			for (unsigned l = 0; l < 5; l++) {
				char what[128];
				const struct setup spec = {.use.record = RECORD,
							   .open.skip = skip,
							   .use.limit = limits[l]};
				if (limits[l] == 0)
					continue;
				snprintf(what, sizeof(what),
					 "form %d, %zu bytes, skip %llu, limit %llu", form, samples,
					 (ull)skip, (ull)limits[l]);
				check_packed(&spec, &p, 1 + form * 64 + i * 8 + l, what);
			}
			free(p.all.at);
		}
}

/*
 * Cut at every byte: an error, unless nothing is left that shows what it was, or all samples are
 * there; and with two bytes more, which only a WAVE may have.
 */
static void cut(void)
{
	for (enum form form = NPY; form < FORMS; form++) {
		struct shape p = make(form, 10);
		if (form == WAVE_LONG) {
			free(p.all.at);
			continue;
		}
		put(&p.all, "ab", 2);
		const struct setup strict = {.use.record = RECORD, .use.limit = UINT64_MAX};
		const struct setup lenient = {
			.use.record = RECORD, .use.limit = UINT64_MAX, .open.ignore_tail = true};
		for (size_t n = 0; n <= p.all.bytes; n++) {
			const bool known = header_known(p.all.at, n);
			const bool whole = n >= p.begin + p.samples;
			const bool over = form != WAVE && n > p.begin + p.samples;
			const bool fine = known ? whole && !over : n % RECORD == 0;
			struct pack pack = {.state = 1};
			pack_frame(&pack, p.all.at, n, 1, n % 2, true, 0);
			const enum route route = n % ROUTES;
			for (unsigned packed = 0; packed < 2; packed++) {
				const unsigned char *data = packed ? pack.data : p.all.at;
				const size_t bytes = packed ? pack.bytes : n;
				struct outcome o = count(&strict, data, bytes, route, 1, 1000);
				CHECK((o.rc == 0) == fine,
				      "form %d cut at %zu, route %d, packed %u: %s", form, n, route,
				      packed, o.fail.text);
				CHECK(o.rc == 0 || o.fail.status == STATUS_DATA, "%s", o.fail.text);
				o = count(&lenient, data, bytes, route, 2, 1000);
				const bool counted = !known || (n >= p.begin && !over);
				const size_t samples = !known                    ? n
						       : n > p.begin + p.samples ? p.samples
										 : n - p.begin;
				CHECK((o.rc == 0) == counted, "form %d cut at %zu: %s", form, n,
				      o.fail.text);
				CHECK(!counted || (o.records == samples / RECORD &&
						   o.totals.tail == samples % RECORD &&
						   o.totals.cut == (known && !whole)),
				      "form %d cut at %zu, route %d, packed %u: %llu records, tail "
				      "%llu, cut %llu",
				      form, n, route, packed, (ull)o.records, (ull)o.totals.tail,
				      (ull)o.totals.cut);
			}
			free(pack.data);
		}
		free(p.all.at);
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_DFL);
	scratch_enter();
	samples_only();
	cut();
	scratch_leave();
	return check_report();
}
