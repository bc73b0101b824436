/* SPDX-License-Identifier: MIT */
/*
 * source_records: records of 3 bytes to 16 MiB, whole, once each, by one reader and by eight:
 * through files, pipes and zstd in frames larger and smaller than the records, with -S and -n, and
 * with a part of a record at the end. What records that lie in many frames take in memory is
 * bounded.
 */
#include "pack.h"
#include "readers.h"

#define MIB ((size_t)1 << 20)

static char *const FILES[] = {"plain", NULL}, *const PACKED[] = {"packed", NULL},
		   *const STDIN[] = {"-", NULL};
static uint64_t state = 11;

static uint64_t below(uint64_t n)
{
	return (check_random(&state) >> 20) % n;
}

/* How records are cut by the frames. */
enum frames { ONE_FRAME, ODD_FRAMES, SMALL_FRAMES, MANY_FRAMES };

static struct pack packed_as(const unsigned char *data, size_t bytes, enum frames frames)
{
	static const size_t EACH[] = {[SMALL_FRAMES] = 100, [MANY_FRAMES] = 40000};
	struct pack p = {.state = 1 + below(1000)};

	if (frames == ODD_FRAMES)
		return pack_all(data, bytes, 1 + below(1000));
	if (frames == ONE_FRAME) {
		pack_frame(&p, data, bytes, 1, below(2), true, 0);
		return p;
	}
	for (size_t at = 0, n; at < bytes; at += n) {
		n = EACH[frames] < bytes - at ? EACH[frames] : bytes - at;
		pack_frame(&p, data + at, n, 1, below(4) > 0, below(2), 0);
	}
	return p;
}

static void check_outcome(const struct setup *spec, const struct outcome *o,
			  const struct outcome *want, size_t bytes, unsigned readers,
			  const char *what)
{
	const uint32_t record = spec->use.record;
	const size_t tail =
		spec->use.limit == UINT64_MAX ? (bytes - (size_t)spec->open.skip) % record : 0;
	const uint64_t records = want->records, sum = want->sum;

	CHECK(o->rc == 0 && o->records == records && o->sum == sum,
	      "%s, %u readers, record %u: %llu of %llu, '%s'", what, readers, record,
	      (unsigned long long)o->records, (unsigned long long)records, o->fail.text);
	CHECK(o->totals.tail == tail &&
		      o->totals.bytes == spec->open.skip + records * record + tail,
	      "%s, %u readers, record %u: %llu bytes, %llu of them a tail", what, readers, record,
	      (unsigned long long)o->totals.bytes, (unsigned long long)o->totals.tail);
}

/* With -n it may still have something to write. */
static void end_feeder(pid_t feeder)
{
	kill(feeder, SIGKILL);
	waitpid(feeder, NULL, 0);
}

/* All of it in every way, as one job says. */
static void every_way(const struct setup *job, const unsigned char *data, size_t bytes,
		      enum frames frames)
{
	const size_t block = job->use.record < 128 * 1024 ? 128 * 1024 : job->use.record;
	struct setup spec = *job;
	struct pack p = packed_as(data, bytes, frames);
	struct outcome want;

	alarm(120); /* a reader that waits for another would wait for ever */
	expected(data, bytes, job, &want.records, &want.sum);
	scratch_write("plain", data, bytes);
	scratch_write("packed", p.data, p.bytes);
	for (unsigned readers = 1; readers <= READERS_MOST; readers += READERS_MOST - 1) {
		spec.use.threads = readers;
		spec.open.paths = FILES;
		struct outcome o = read_all(&spec, readers, block);
		check_outcome(&spec, &o, &want, bytes, readers, "file");
		/* All borrow, or every second one. */
		spec.open.paths = PACKED;
		o = read_all(&spec, readers, block + below(2));
		check_outcome(&spec, &o, &want, bytes, readers, "zstd");
		spec.open.paths = STDIN;
		pid_t feeder = feed_stdin(data, bytes, 50000);
		o = read_all(&spec, readers, block);
		end_feeder(feeder);
		check_outcome(&spec, &o, &want, bytes, readers, "pipe");
		feeder = feed_stdin(p.data, p.bytes, 60000);
		o = read_all(&spec, readers, block + below(2));
		end_feeder(feeder);
		check_outcome(&spec, &o, &want, bytes, readers, "zstd pipe");
	}
	free(p.data);
}

int main(void)
{
	static const struct {
		uint32_t record;
		size_t bytes;
	} SIZES[] = {{3, 300000},   {7, MIB},          {24, MIB},           {4096, MIB},
		     {100000, MIB}, {300001, 2 * MIB}, {16 * MIB, 35 * MIB}};
	const size_t most = 35 * MIB;
	unsigned char *const data = malloc(most);

	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	for (size_t i = 0; i < most; i++) /* half noise, so that frames differ in what they take */
		data[i] = i / 5000 % 2 ? (unsigned char)check_random(&state)
				       : (unsigned char)(i / 60000 + i % 7);
	for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
		const uint32_t record = SIZES[i].record;
		const size_t bytes = SIZES[i].bytes;
		struct setup spec = {.use.record = record,
				     .open.path_count = 1,
				     .use.limit = UINT64_MAX,
				     .open.ignore_tail = true};
		const bool large = record > MIB;

		if (!large) {
			every_way(&spec, data, bytes, ODD_FRAMES);
			every_way(&spec, data, bytes - bytes % record, ONE_FRAME);
			every_way(&spec, data, bytes / 10, SMALL_FRAMES);
		}
		spec.open.skip = 1 + below(bytes / 20);
		every_way(&spec, data, bytes, MANY_FRAMES);
		spec.use.limit = 1 + below((bytes - spec.open.skip) / record);
		every_way(&spec, data, bytes, large ? ONE_FRAME : ODD_FRAMES);
		spec.use.limit = (bytes - spec.open.skip) / record;
		if (!large)
			every_way(&spec, data, bytes, ONE_FRAME);

		/*
		 * Without --ignore-tail the part of a record is an error, which says how long it
		 * is.
		 */
		char why[64];
		spec = (struct setup){.use.record = record,
				      .open.path_count = 1,
				      .use.limit = UINT64_MAX,
				      .open.paths = PACKED};
		const size_t torn = bytes - bytes % record - 1;
		struct pack p = packed_as(data, torn, MANY_FRAMES);
		scratch_write("packed", p.data, p.bytes);
		free(p.data);
		const struct outcome o =
			read_all(&spec, 2, 128 * 1024 < record ? record : 128 * 1024);
		snprintf(why, sizeof(why), "%lu of %lu bytes", (unsigned long)(torn % record),
			 (unsigned long)record);
		CHECK(o.rc != 0 && o.fail.status == STATUS_DATA && strstr(o.fail.text, why),
		      "'%s', not %s", o.fail.text, why);
	}
	free(data);
	scratch_leave();
	return check_report();
}
