/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * source, of a part of the records, beyond what it counts: which bytes of its inputs it reads; any
 * number of inputs; inputs that change after their records were counted.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

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

	switch (how) {
	case CUT:
		CHECK(ftruncate(fd, (off_t)bytes) == 0, "f");
		break;
	case LONGER:
		CHECK(write(fd, "more", 4) == 4, "f");
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
	static unsigned char buffer[64 << 10];
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

/* A file that changes is bad input, but for the slice that already had it open. */
static void check_change(const unsigned char *data, size_t bytes, enum change how)
{
	for (unsigned i = 0; i < 4; i++) {
		const bool late = i / 2;
		const uint32_t k = 1 + i % 2;
		struct setup spec = spec_of(ONE, 1, k, 2);
		struct fail fail = {.status = STATUS_OK};
		uint64_t records;
		spec.open.ignore_tail = how == CUT; /* no excuse for a slice */
		scratch_write("f", data, bytes);
		const int rc = take_changed(&spec, how, bytes / 4 * 3, late, &records, &fail);
		/* What was open stays, and what was cut off is the second slice's. */
		const bool fine = how == NOTHING || (late && (how != CUT || k == 1));
		CHECK((rc == 0) == fine, "change %d, late %d, %u/2: %d %s", (int)how, late, k, rc,
		      fail.text);
		CHECK(!fine || records == bytes / 8, "change %d, late %d, %u/2: %llu records",
		      (int)how, late, k, (ull)records);
		CHECK(fine || (fail.status == STATUS_DATA && strstr(fail.text, "f has changed")),
		      "%s", fail.text);
	}
}

static void changes(void)
{
	const size_t bytes = 2 * MIB;
	unsigned char *data = noise(bytes);

	for (enum change how = NOTHING; how < CHANGES; how++)
		check_change(data, bytes, how);
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
	old = read_all(&ab, 1, 4096).totals.slice.state;
	CHECK(old != 0 && old == read_all(&ab2, 1, 4096).totals.slice.state, "%llx", (ull)old);
	CHECK(old == read_all(&first, 1, 4096).totals.slice.state, "an input after -n");
	CHECK(old != read_all(&ba, 1, 4096).totals.slice.state, "another order");
	scratch_write("f", "abcd", 4);
	CHECK(old != read_all(&ab, 1, 4096).totals.slice.state, "another time");
	CHECK(old != read_all(&first, 1, 4096).totals.slice.state,
	      "another time of an input after -n");
	scratch_write("f", "abcdefgh", 8);
	change(TOUCHED, 0);
	CHECK(old != read_all(&ab, 1, 4096).totals.slice.state, "another size");
	scratch_clean();
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
			      strstr(o.fail.text, "less than its size says"),
		      "%d %s", o.rc, o.fail.text);
	}
}

int main(void)
{
	alarm(300);
	scratch_enter();
	reads_of_a_file();
	very_many();
	changes();
	states();
	less_than_its_size();
	scratch_leave();
	return check_report();
}
