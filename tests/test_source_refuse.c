/* SPDX-License-Identifier: MIT */
/*
 * source, of a part of the records: what cannot be cut into slices is refused by every slice,
 * whatever else is named: pipes and their like, inputs that do not say how much they hold, or say
 * what is not true.
 */
#include <sys/socket.h>

#include "pack.h"
#include "say.h"
#include "slices.h"

/*
 * In /sys a size is said that is not true: the slice that finds less says so, --ignore-tail or not.
 */
static void less_than_its_size(void)
{
	static char *const SYS[] = {"/sys/kernel/mm/transparent_hugepage/enabled"};

	for (unsigned i = 0; i < 4 && access(SYS[0], R_OK) == 0; i++) {
		struct source_spec spec = spec_of(SYS, 1, 1 + i % 2, 2);
		spec.record = 1;
		spec.ignore_tail = i / 2;
		const struct outcome o = read_all(&spec, 1, 4096);
		CHECK(o.rc == -1 && o.fail.status == STATUS_DATA &&
			      strstr(o.fail.text, "hold what its size says"),
		      "%d %s", o.rc, o.fail.text);
	}
}

static void refused(const struct source_spec *spec, enum status status, const char *why)
{
	for (uint32_t k = 1; k <= 2; k++) {
		struct source_spec part = *spec;
		part.part = k;
		part.parts = 2;
		const struct outcome o = read_all(&part, 1, 4096);
		CHECK(o.rc == -1 && o.fail.status == status && strstr(o.fail.text, why),
		      "%u/2: %d '%s', not '%s'", k, (int)o.fail.status, o.fail.text, why);
	}
}

static void refusals(void)
{
	static char *const FIFO[] = {"a", "fifo"}, *const NONE[] = {"a", "none", "a"},
			   *const FOLDER[] = {"a", "."}, *const TWICE[] = {"-", "-"},
			   *const PROC[] = {"a", "/proc/self/status"},
			   *const DEVICE[] = {"/dev/null"}, *const SHORT[] = {"a", "short", "a"};
	struct made npy = {.at = NULL};
	int ends[2];

	scratch_write("a", "abcdefgh", 8);
	CHECK(mkfifo("fifo", 0600) == 0, "fifo");
	struct source_spec spec = spec_of(FIFO, 2, 1, 2);
	refused(&spec, STATUS_USAGE,
		"--part: fifo: only files can be cut into slices, and this is a pipe");
	spec = spec_of(NONE, 3, 1, 2);
	refused(&spec, STATUS_SYSTEM, "none: No such file");
	spec = spec_of(FOLDER, 2, 1, 2);
	refused(&spec, STATUS_SYSTEM, ".: Is a directory");
	spec = spec_of(PROC, 2, 1, 2);
	refused(&spec, STATUS_USAGE, "--part: /proc/self/status: how much it holds");
	spec = spec_of(DEVICE, 1, 1, 2);
	refused(&spec, STATUS_USAGE, "--part: /dev/null: only files");
	spec = spec_of(STDIN, 1, 1, 2);
	CHECK(pipe(ends) == 0, "pipe");
	to_stdin(ends[0]);
	refused(&spec, STATUS_USAGE,
		"standard input: only files can be cut into slices, and this is a pipe");
	close(ends[1]);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socket");
	to_stdin(ends[0]);
	refused(&spec, STATUS_USAGE,
		"standard input: only files can be cut into slices, and this is a socket");
	close(ends[1]);
	to_stdin(open("a", O_RDONLY));
	spec = spec_of(TWICE, 2, 1, 2);
	refused(&spec, STATUS_USAGE, "standard input can be named once only");
	to_stdin(open("/dev/null", O_RDONLY));
	/* Each slice says what is wrong with any input, though it be another slice's. */
	put_npy(&npy, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }");
	put_text(&npy, "abcdefgh");
	scratch_write("short", npy.at, npy.bytes);
	spec = spec_of(SHORT + 1, 1, 1, 2);
	refused(&spec, STATUS_DATA,
		"short: holds less than the 12 bytes of samples that its .npy header announces");
	scratch_write("short", "abc", 3);
	spec = spec_of(SHORT, 3, 1, 2);
	refused(&spec, STATUS_DATA, "short: ends inside a record: 3 of 4 bytes");
	spec.skip = 4;
	refused(&spec, STATUS_DATA, "short: ends before the 4 bytes to skip");
	free(npy.at);
	scratch_clean();
}

static void refuse_packed(struct pack *p, enum status status, const char *why)
{
	static char *const PATHS[] = {"a", "f"};
	const struct source_spec spec = spec_of(PATHS, 2, 1, 2);

	scratch_write("f", p->data, p->bytes);
	refused(&spec, status, why);
	free(p->data);
}

/*
 * What follows the samples: found by every slice, or, where it must be decoded, by the one that has
 * the last record.
 */
static void what_follows(void)
{
	struct made npy = {.at = NULL}, wave = {.at = NULL};
	struct pack p = {.state = 1};

	scratch_write("a", "abcdefgh", 8);
	put_npy(&npy, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }");
	put_text(&npy, "abcdefghijklm");
	struct source_spec spec = spec_of(ONE, 1, 1, 2);
	scratch_write("f", npy.at, npy.bytes);
	refused(&spec, STATUS_DATA, "f: goes on after the 12 bytes of samples");
	pack_frame(&p, npy.at, npy.bytes, 1, true, true, 0);
	scratch_write("f", p.data, p.bytes);
	refused(&spec, STATUS_DATA, "f: goes on after the 12 bytes of samples");
	free(p.data);
	free(npy.at);
	put_wave(&wave, &(struct wave){.form = "RIFF",
				       .tag = 1,
				       .channels = 1,
				       .bytes = 4,
				       .bits = 32,
				       .after = 16,
				       .size = 12});
	put_text(&wave, "abcdefghijkl");
	put_chunk(&wave, "data", 8, "samples again");
	scratch_write("f", wave.at, wave.bytes);
	refused(&spec, STATUS_DATA, "f: WAVE: ");
	p = (struct pack){.state = 1};
	pack_frame(&p, wave.at, wave.bytes, 1, true, true, 0);
	scratch_write("f", p.data, p.bytes);
	spec = spec_of(ONE, 1, 2, 2);
	const struct outcome o = read_all(&spec, 1, 4096);
	CHECK(o.rc == -1 && o.fail.status == STATUS_DATA && strstr(o.fail.text, "f: WAVE: "),
	      "%d %s", o.rc, o.fail.text);
	free(p.data);
	free(wave.at);
	scratch_clean();
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
	alarm(60);
	scratch_enter();
	less_than_its_size();
	refusals();
	what_follows();
	refused_frames();
	scratch_leave();
	return check_report();
}
