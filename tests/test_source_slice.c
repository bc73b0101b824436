/* SPDX-License-Identifier: MIT */
/*
 * source, of a part of the records, beyond what it counts: which bytes of its inputs it reads; any
 * number of inputs; inputs that change after their records were counted; checksums
 * of frames at a border; what cannot be cut into slices.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "pack.h"
#include "readers.h"
#include "input/part.h"

#define MIB ((size_t)1 << 20)

typedef unsigned long long ull;

static char *const ONE[] = {"f"};

static struct setup spec_of(char *const *paths, size_t count, uint32_t k, uint32_t n)
{
	return (struct setup){.open.paths = paths,
			      .open.path_count = count,
			      .use.record = 4,
			      .use.limit = UINT64_MAX,
			      .open.part = k,
			      .open.parts = n,
			      .use.threads = 2,
			      .headers = true,
			      .open.type_said = true};
}

static unsigned char *noise(size_t bytes)
{
	unsigned char *data = malloc(bytes);
	uint64_t state = 11;

	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		const uint64_t v = check_random(&state);
		memcpy(data + i, &v, 8);
	}
	return data;
}

/* ---- what is read: in place of libc's pread ---- */

static struct {
	_Atomic uint64_t low, high; /* the bytes between these offsets may be read ... */
	_Atomic uint64_t within, beyond;
} reads;

ssize_t pread(int fd, void *buffer, size_t n, off_t offset)
{
	const ssize_t got = syscall(SYS_pread64, fd, buffer, n, offset);
	const uint64_t from = (uint64_t)offset, to = from + (uint64_t)(got > 0 ? got : 0);
	const uint64_t low = from > reads.low ? from : reads.low,
		       high = to < reads.high ? to : reads.high;
	const uint64_t within = low < high ? high - low : 0;

	reads.within += within;
	reads.beyond += to - from - within;
	return got;
}

/* Nothing of a file is read but its own bytes, and the first few, which may be a header. */
static void reads_of_a_file(void)
{
	const size_t bytes = 40 * MIB;
	unsigned char *data = noise(bytes);

	scratch_write("f", data, bytes);
	for (uint32_t n = 1; n <= 5; n++)
		for (uint32_t k = 1; k <= n; k++) {
			const struct setup spec = spec_of(ONE, 1, k, n);
			struct share p = part_of(bytes / 4, 4, k, n);
			struct worker expect = {.record = 4};
			reads.low = 4 * p.begin;
			reads.high = 4 * p.end;
			reads.within = reads.beyond = 0;
			const struct outcome o = read_all(&spec, 2, 128 << 10);
			add(&expect, data + 4 * p.begin, 4 * (p.end - p.begin));
			CHECK(o.rc == 0 && o.sum == expect.sum, "%u/%u: %s", k, n, o.fail.text);
			CHECK(n > 2 || p.begin % (MIB / 4) == 0, "%u/%u begins at %llu", k, n,
			      (ull)p.begin);
			CHECK(reads.beyond <= 600, "%u/%u: %llu bytes of other slices", k, n,
			      (ull)reads.beyond);
			CHECK(reads.within >= 4 * (p.end - p.begin) &&
				      reads.within <= 4 * (p.end - p.begin) + 600,
			      "%u/%u: %llu bytes", k, n, (ull)reads.within);
		}
	free(data);
	scratch_clean();
}

/* Of frames only those that it needs, and headers of the others. */
static void reads_of_frames(void)
{
	const size_t each = MIB + 2, frames = 24;
	unsigned char *data = noise(each * frames);
	uint64_t ends[25] = {0};
	struct pack p = {.state = 1};

	for (size_t i = 0; i < frames; i++) {
		pack_frame(&p, data + i * each, each, 1, true, true, 0);
		ends[i + 1] = p.bytes;
	}
	scratch_write("f", p.data, p.bytes);
	for (uint32_t n = 2; n <= 24; n += 11)
		for (uint32_t k = 1; k <= n; k++) {
			const struct setup spec = spec_of(ONE, 1, k, n);
			const struct share part = part_of(each * frames / 4, 4, k, n);
			struct worker expect = {.record = 4};
			reads.low = ends[4 * part.begin / each];
			reads.high = ends[(4 * part.end - 1) / each + 1];
			reads.within = reads.beyond = 0;
			const struct outcome o = read_all(&spec, 2, 128 << 10);
			add(&expect, data + 4 * part.begin, 4 * (part.end - part.begin));
			CHECK(o.rc == 0 && o.sum == expect.sum, "%u/%u: %s", k, n, o.fail.text);
			/* Noise: what is stored is no shorter. */
			CHECK(reads.within >= 4 * (part.end - part.begin), "%u/%u: %llu bytes", k,
			      n, (ull)reads.within);
			/*
			 * 9 blocks of a frame, looked at twice; its first block for a header that
			 * may be inside.
			 */
			CHECK(reads.beyond <= frames * 20 * 300 + (300 << 10),
			      "%u/%u: %llu bytes of other slices", k, n, (ull)reads.beyond);
		}
	free(p.data);
	free(data);
	scratch_clean();
}

/* More inputs than there may be open files. */
static void very_many(void)
{
	enum { COUNT = 3000 };
	static char names[COUNT][8], *paths[COUNT];
	struct rlimit old, few = {.rlim_cur = 40};
	uint64_t records = 0, inputs = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), "%u", i);
		paths[i] = names[i];
		scratch_write(names[i], "abcdefghijkl", 4 * (i % 4));
	}
	CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0, "limits");
	few.rlim_max = old.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0, "limits");
	for (uint32_t k = 1; k <= 3; k++) {
		const struct setup spec = spec_of(paths, COUNT, k, 3);
		const struct outcome o = read_all(&spec, 2, 4096);
		CHECK(o.rc == 0 && o.finished, "%s", o.fail.text);
		records += o.records;
		inputs += o.totals.inputs;
	}
	CHECK(records == COUNT / 4 * 6 && inputs == COUNT, "%llu records of %llu inputs",
	      (ull)records, (ull)inputs);
	CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0, "limits");
	scratch_clean();
}

/* ---- what changes ---- */

enum change { NOTHING, CUT, LONGER, TOUCHED, REPLACED, CHANGES };

static void change(enum change how, size_t bytes)
{
	static const struct timespec LONG_AGO[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	const int fd = open("f", O_WRONLY | O_APPEND);
	struct pack more = {.state = 1};

	switch (how) {
	case CUT:
		CHECK(ftruncate(fd, (off_t)bytes) == 0, "f");
		break;
	case LONGER:
		pack_frame(&more, "more", 4, 1, true, true, 0);
		CHECK(write(fd, more.data, more.bytes) == (ssize_t)more.bytes, "f");
		free(more.data);
		break;
	case TOUCHED:
		CHECK(futimens(fd, LONG_AGO) == 0, "f");
		break;
	case REPLACED:
		scratch_write("g", "abcd", 4);
		CHECK(rename("g", "f") == 0, "f");
		break;
	default:
		break;
	}
	close(fd);
}

/* A change before the first record is taken, or after; *records: what was taken. */
static int take_changed(const struct setup *spec, enum change how, size_t cut, bool late,
			uint64_t *records, struct fail *fail)
{
	static unsigned char buffer[(64 << 10) + 64]; /* room for one small frame more than fit */
	struct source *s;
	size_t got = 0;

	*records = 0;
	if (setup_open(&s, spec, fail) != 0)
		return -1;
	int rc = 0;
	struct reader *const reader = source_reader(s);
	if (!late)
		change(how, cut);
	for (bool first = true; rc == 0 && (first || got > 0); first = false) {
		rc = take_copy(reader, buffer, sizeof(buffer), &got, fail);
		*records += rc == 0 ? got / 4 : 0;
		if (first && late)
			change(how, cut);
	}
	source_close(s);
	return rc;
}

/* Frames that are decoded one by one, or so small that several are. */
static struct pack pack_each(const unsigned char *data, size_t bytes, size_t frames)
{
	struct pack p = {.state = 1};

	for (size_t i = 0; i < frames; i++)
		pack_frame(&p, data + i * (bytes / frames), bytes / frames, 1, true, i % 2, 0);
	return p;
}

/* These bytes of a file hold so many of samples; `cut`: three quarters of them, whole frames. */
static void check_change(const unsigned char *data, size_t bytes, size_t cut, size_t samples,
			 enum change how, const char *what)
{
	for (unsigned i = 0; i < 4; i++) {
		const bool late = i / 2;
		const uint32_t k = 1 + i % 2;
		struct setup spec = spec_of(ONE, 1, k, 2);
		struct fail fail = {.status = STATUS_OK};
		uint64_t records;
		spec.open.ignore_tail = how == CUT; /* no excuse for a slice */
		spec.use.memory = MIB;              /* frames are decoded as they are taken */
		scratch_write("f", data, bytes);
		const int rc = take_changed(&spec, how, cut, late, &records, &fail);
		/* What was open stays, and what was cut off is the second slice's. */
		const bool fine = how == NOTHING || (late && (how != CUT || k == 1));
		CHECK((rc == 0) == fine, "%s, change %d, late %d, %u/2: %d %s", what, (int)how,
		      late, k, rc, fail.text);
		CHECK(!fine || records == samples / 8, "%s, change %d, late %d, %u/2: %llu records",
		      what, (int)how, late, k, (ull)records);
		CHECK(fine || (fail.status == STATUS_DATA && strstr(fail.text, "f: has changed")),
		      "%s", fail.text);
	}
}

static void changes(void)
{
	const size_t bytes = 2 * MIB;
	unsigned char *data = noise(bytes);
	struct pack large = pack_each(data, bytes, 8), three = pack_each(data, bytes / 4 * 3, 6);
	struct pack small = pack_each(data, bytes, 64), most = pack_each(data, bytes / 4 * 3, 48);

	for (enum change how = NOTHING; how < CHANGES; how++) {
		check_change(data, bytes, bytes / 4 * 3, bytes, how, "plain");
		check_change(large.data, large.bytes, three.bytes, bytes, how, "large frames");
		check_change(small.data, small.bytes, most.bytes, bytes, how, "small frames");
	}
	free(large.data);
	free(three.data);
	free(small.data);
	free(most.data);
	free(data);
	scratch_clean();
}

/* The state is that of all inputs: sizes and times, in their order. */
static void states(void)
{
	static char *const AB[] = {"a", "f"}, *const BA[] = {"f", "a"};
	const struct setup ab = spec_of(AB, 2, 1, 2), ab2 = spec_of(AB, 2, 2, 2),
			   ba = spec_of(BA, 2, 1, 2);
	struct setup first = ab;
	uint64_t old;

	first.use.limit = 1;
	scratch_write("a", "abcdefgh", 8);
	scratch_write("f", "abcd", 4);
	change(TOUCHED, 0);
	old = read_all(&ab, 1, 4096).totals.state;
	CHECK(old != 0 && old == read_all(&ab2, 1, 4096).totals.state, "%llx", (ull)old);
	CHECK(old == read_all(&first, 1, 4096).totals.state, "an input after -n");
	CHECK(old != read_all(&ba, 1, 4096).totals.state, "another order");
	scratch_write("f", "abcd", 4);
	CHECK(old != read_all(&ab, 1, 4096).totals.state, "another time");
	CHECK(old != read_all(&first, 1, 4096).totals.state, "another time of an input after -n");
	scratch_write("f", "abcdefgh", 8);
	change(TOUCHED, 0);
	CHECK(old != read_all(&ab, 1, 4096).totals.state, "another size");
	scratch_clean();
}

/* ---- damage ---- */

/* How a run ends over `f`, in slices of one frame each. */
static void check_damage(size_t frames, size_t bad, bool long_frames, size_t skip, const char *what)
{
	for (uint32_t k = 1; k <= frames; k++) {
		struct setup spec = spec_of(ONE, 1, k, (uint32_t)frames);
		spec.open.skip = skip;
		spec.use.memory = long_frames ? MIB / 2 : 64 * MIB;
		for (unsigned turn = 0; turn < 3; turn++) {
			/* One that borrows, one that does not, one of each. */
			const unsigned workers = 1 + turn / 2;
			spec.use.threads = workers;
			const struct outcome o = read_all(&spec, workers, (64 << 10) + turn);
			CHECK((o.rc == 0) == (k != bad + 1), "%s, %u/%zu, turn %u: %d %s", what, k,
			      frames, turn, o.rc, o.fail.text);
			CHECK(o.rc == 0 || o.fail.status == STATUS_DATA, "%s, %u/%zu: %s", what, k,
			      frames, o.fail.text);
		}
	}
}

/*
 * A frame is checked by the slice that decodes all of it, although its border is where the frame
 * ends, and its checksum is in what is read next.
 */
static void checksums(size_t each)
{
	const size_t frames = 3;
	unsigned char *data = noise(each * frames);

	for (unsigned turn = 0; turn < 6; turn++) {
		const size_t bad = turn % 3;
		struct pack p = {.state = 1};
		size_t at = 0;
		char what[64];
		for (size_t i = 0; i < frames; i++) {
			pack_frame(&p, data + i * each, each, 1, true, true, 0);
			at = i == bad ? p.bytes - 1 : at;
		}
		snprintf(what, sizeof(what), "frames of %zu bytes, damage in %zu, turn %u", each,
			 bad, turn);
		p.data[at] ^= 1;
		scratch_write("f", p.data, p.bytes);
		check_damage(frames, bad, turn >= 3, 0, what);
		/* Those that -S skips are the first slice's. */
		if (bad == 0)
			check_damage(frames - 1, bad, turn >= 3, each, what);
		p.data[at] ^= 1;
		/* Inside a frame that is not the first: its slice alone decodes it. */
		if (bad > 0) {
			p.data[at - each / 2] ^= 1;
			scratch_write("f", p.data, p.bytes);
			check_damage(frames, bad, turn >= 3, 0, what);
		}
		free(p.data);
	}
	free(data);
	scratch_clean();
}

/* Whole records whose frame is one to four bytes longer than what is read at a time. */
static size_t bytes_of_split_checksum(void)
{
	unsigned char *data = noise(PACKED_BYTES);
	struct pack p = {.state = 1};

	pack_frame(&p, data, PACKED_BYTES - 100, 1, true, true, 0);
	const size_t more = p.bytes - (PACKED_BYTES - 100),
		     bytes = (PACKED_BYTES + FRAME_CHECKSUM - more) / 4 * 4;
	p.bytes = 0;
	pack_frame(&p, data, bytes, 1, true, true, 0);
	CHECK(p.bytes > PACKED_BYTES && p.bytes <= PACKED_BYTES + FRAME_CHECKSUM, "%zu", p.bytes);
	free(p.data);
	free(data);
	return bytes;
}

/* ---- what cannot be cut into slices; slices.sh has more ---- */

/*
 * In /sys a size is said that is not true: the slice that finds less says so, --ignore-tail or not.
 */
static void less_than_its_size(void)
{
	static char *const SYS[] = {"/sys/kernel/mm/transparent_hugepage/enabled"};

	for (unsigned i = 0; i < 4 && access(SYS[0], R_OK) == 0; i++) {
		struct setup spec = spec_of(SYS, 1, 1 + i % 2, 2);
		spec.use.record = 1;
		spec.open.ignore_tail = i / 2;
		const struct outcome o = read_all(&spec, 1, 4096);
		CHECK(o.rc == -1 && o.fail.status == STATUS_DATA &&
			      strstr(o.fail.text, "hold what its size says"),
		      "%d %s", o.rc, o.fail.text);
	}
}

static void refused(const struct setup *spec, enum status status, const char *why)
{
	for (uint32_t k = 1; k <= 2; k++) {
		struct setup part = *spec;
		part.open.part = k;
		part.open.parts = 2;
		const struct outcome o = read_all(&part, 1, 4096);
		CHECK(o.rc == -1 && o.fail.status == status && strstr(o.fail.text, why),
		      "%u/2: %d '%s', not '%s'", k, (int)o.fail.status, o.fail.text, why);
	}
}

static void refuse_packed(struct pack *p, enum status status, const char *why)
{
	static char *const PATHS[] = {"a", "f"};
	const struct setup spec = spec_of(PATHS, 2, 1, 2);

	scratch_write("f", p->data, p->bytes);
	refused(&spec, status, why);
	free(p->data);
}

static void refused_frames(void)
{
	unsigned char *data = noise(400000);
	struct pack p = {.state = 1};

	scratch_write("a", "abcdefgh", 8);
	pack_frame(&p, data, 400000, 1, true, true, 0);
	const size_t one = p.bytes;
	char where[100];
	pack_frame(&p, data, 400, 1, false, true, 0);
	snprintf(where, sizeof(where),
		 "--part: f: the zstd frame at offset %zu does not say how much", one);
	refuse_packed(&p, STATUS_USAGE, where);
	p = (struct pack){.state = 1};
	pack_frame(&p, data, 400000, 1, true, true, 0);
	p.bytes--;
	refuse_packed(&p, STATUS_DATA, "f: zstd frame at offset 0: the input ends inside it");
	p = (struct pack){.state = 1};
	pack_frame(&p, data, 400000, 1, true, true, 0);
	memcpy(pack_room(&p, 8), "garbage!", 8);
	p.bytes += 8;
	refuse_packed(&p, STATUS_DATA, "f: garbage at offset");
	p = (struct pack){.state = 1};
	pack_frame(&p, data, 399998, 1, true, true, 0);
	refuse_packed(&p, STATUS_DATA, "f: ends inside a record: 2 of 4 bytes");
	/* Where the first bytes cannot be decoded it is not known whether they are a header. */
	p = (struct pack){.state = 1};
	for (size_t i = 0; i < 400000; i++)
		data[i] = (unsigned char)(data[i] % 5);
	pack_frame(&p, data, 200000, 1, true, true, 0);
	memset(p.data + 12, 0xff, 60);
	pack_frame(&p, data, 400000, 1, true, true, 0); /* the second slice's */
	refuse_packed(&p, STATUS_DATA, "f: zstd frame at offset 0: ");
	free(data);
	scratch_clean();
}

int main(void)
{
	alarm(300);
	scratch_enter();
	reads_of_a_file();
	reads_of_frames();
	very_many();
	changes();
	states();
	checksums(600000);
	checksums(bytes_of_split_checksum());
	less_than_its_size();
	refused_frames();
	scratch_leave();
	return check_report();
}
