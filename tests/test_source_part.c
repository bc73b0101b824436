/* SPDX-License-Identifier: MIT */
/*
 * source, of a part of the records: the slices of 1..N together hold what the whole does, each
 * exactly its own run of records, and their totals add up, for files of all layouts, headers and
 * compressions, with -S, -n and --ignore-tail; what fails as a whole fails as each slice.
 * test_source_slice.c has the rest.
 */
#include "pack.h"
#include "readers.h"
#include "say.h"
#include "input/part.h"

#define FILES 5

typedef unsigned long long ull;

/* Inputs, and all of their records in a row. */
struct inputs {
	char *paths[FILES + 1];
	size_t count;
	struct made records;
	uint32_t record;
	uint64_t skip, limit;
	/* of headers: 0 or 1, or 2, which is a picture's */
	unsigned form;
	/* broken: an input that must be refused is among them */
	bool headers, ignore_tail, little, broken;
};

static uint64_t state;

static uint64_t below(uint64_t n)
{
	return check_random(&state) % n;
}

/* The bytes of an input with a header, up to its samples. */
static void put_header(struct made *m, unsigned form, size_t samples, uint32_t *after)
{
	char text[128];

	*after = 0;
	if (form == 0) {
		snprintf(text, sizeof(text),
			 "{'descr': '<i2', 'fortran_order': False, 'shape': (%zu,), }",
			 samples / 2);
		put_npy(m, 1, text);
	} else if (form == 1) {
		*after = 5 + 8;
		put_wave(m, &(struct wave){.form = "RIFF",
					   .tag = 1,
					   .channels = 1,
					   .bytes = 2,
					   .bits = 16,
					   .before = (uint32_t)below(300),
					   .after = *after,
					   .size = (uint32_t)samples});
	} else {
		snprintf(text, sizeof(text), "P5\n%zu 1\n65535\n", samples / 2);
		put_text(m, text);
	}
}

/* Whole records or, at times, a part of one behind them; sometimes nothing. */
static size_t draw_bytes(const struct inputs *in)
{
	const uint64_t most = below(3) ? 40 : 3000, records = below(6) ? below(most) : 0;

	return (size_t)(records * in->record +
			(below(in->ignore_tail ? 3 : 30) == 0 ? below(in->record) : 0));
}

static void make_input(struct inputs *in, size_t i)
{
	size_t samples = draw_bytes(in);
	struct made m = {.at = NULL};
	/* Those of a picture are not of the same type: now and then they meet, and are refused. */
	const unsigned form = below(40) ? in->form + (in->form == 0 && below(2)) : 2 - in->form;
	uint32_t after = 0;

	if (in->headers) {
		/* No picture is empty, and a WAVE that says 0 does not know its size yet. */
		samples += in->skip + samples % 2 + (samples == 0 && form > 0 ? in->record : 0);
		put_header(&m, form, samples, &after);
	} else {
		samples += in->skip;
	}
	const size_t begin = m.bytes;
	for (size_t k = 0; k < samples; k++)
		put(&m, &(unsigned char){(unsigned char)below(256)}, 1);
	const size_t counted = (samples - in->skip) / in->record * in->record;
	put(&in->records, m.at + begin + in->skip, counted);
	/* --ignore-tail counts what there is of samples that the header says. */
	const bool cut =
		in->headers && in->ignore_tail && counted > 4 * in->record && below(4) == 0;
	if (cut) {
		m.bytes -= 3 * in->record + (samples - in->skip) % in->record;
		in->records.bytes -= 3 * in->record;
	} else if (after > 0) {
		put_chunk(&m, "LIST", 5, "data\1");
	}
	in->broken |= !in->ignore_tail && (samples - in->skip) % in->record != 0;
	in->broken |= in->headers && (form == 2) != (in->form == 2);
	if (below(2)) {
		struct pack p = pack_some(m.at ? m.at : (const unsigned char *)"", m.bytes,
					  check_random(&state), true);
		scratch_write(in->paths[i], p.data, p.bytes);
		free(p.data);
	} else {
		scratch_write(in->paths[i], m.bytes > 0 ? m.at : (const unsigned char *)"",
			      m.bytes);
	}
	free(m.at);
}

static struct inputs draw_inputs(void)
{
	static const uint32_t RECORDS[] = {1, 2, 3, 4, 6, 24, 1000};
	static char *const NAMES[FILES + 1] = {"a", "b", "c", "d", "e", NULL};
	struct inputs in = {.headers = below(3) == 0,
			    .ignore_tail = below(3) == 0,
			    .little = below(3) == 0,
			    .form = 2 * (unsigned)below(2)};

	in.record = in.headers ? (uint32_t)(2 + 4 * below(2)) : RECORDS[below(7)];
	in.skip = below(3) ? 0 : in.headers ? 2 * below(4) : below(50);
	in.count = 1 + (size_t)below(FILES);
	memcpy(in.paths, NAMES, sizeof(in.paths));
	for (size_t i = 0; i < in.count; i++)
		make_input(&in, i);
	const uint64_t all = in.records.bytes / in.record;
	in.limit = below(3) ? UINT64_MAX : below(8) ? below(all + 5) : all;
	return in;
}

static struct setup spec_of(const struct inputs *in)
{
	return (struct setup){
		.open.paths = in->paths,
		.open.path_count = in->count,
		.use.record = in->record,
		.open.skip = in->skip,
		.use.limit = in->limit,
		.headers = in->headers,
		.open.type_said = true,
		.open.ignore_tail = in->ignore_tail,
		/* Little memory, so that some frames are decoded piece by piece. */
		.use.threads = in->little ? 8 : 2,
		.use.memory = in->little ? 4 << 20 : 0,
	};
}

static void add_totals(struct source_totals *sum, const struct source_totals *t)
{
	sum->bytes += t->bytes;
	sum->skipped += t->skipped;
	sum->tail += t->tail;
	sum->tails += t->tails;
	sum->cut += t->cut;
	sum->inputs += t->inputs;
	sum->headers += t->headers;
	sum->unsized += t->unsized;
}

static bool same_totals(const struct source_totals *a, const struct source_totals *b)
{
	return a->bytes == b->bytes && a->skipped == b->skipped && a->tail == b->tail &&
	       a->tails == b->tails && a->cut == b->cut && a->inputs == b->inputs &&
	       a->headers == b->headers && a->unsized == b->unsized;
}

static struct outcome read_slice(const struct setup *whole, uint32_t k, uint32_t n)
{
	struct setup spec = *whole;

	spec.open.part = k;
	spec.open.parts = n;
	return read_all(&spec, 1 + (unsigned)below(3),
			whole->use.record < 100 ? (size_t)64 << 4 * below(3) : 20000);
}

/* All slices of N, in an order of their own: what they hold, and what that adds up to. */
static void check_slices(const struct inputs *in, const struct outcome *whole, uint32_t n,
			 const char *what)
{
	const struct setup spec = spec_of(in);
	const uint64_t there = in->records.bytes / in->record,
		       all = in->limit < there ? in->limit : there;
	const uint32_t first = (uint32_t)below(n);
	struct source_totals sum = {.bytes = 0};
	uint64_t changed = 0, before = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t k = 1 + (first + i) % n;
		const struct part p = part_of(all, in->record, k, n);
		struct worker expect = {.record = in->record};
		const struct outcome o = read_slice(&spec, k, n);
		CHECK(o.rc == whole->rc, "%s, %u/%u: %d: %s", what, k, n, o.rc, o.fail.text);
		CHECK(o.fail.status == whole->fail.status &&
			      (o.rc == 0 || strcmp(o.fail.text, whole->fail.text) == 0),
		      "%s, %u/%u: '%s', not '%s'", what, k, n, o.fail.text, whole->fail.text);
		if (o.rc != 0)
			continue;
		if (p.end > p.begin)
			add(&expect, in->records.at + p.begin * in->record,
			    (p.end - p.begin) * in->record);
		CHECK(o.records == expect.records && o.sum == expect.sum && o.finished,
		      "%s, %u/%u: %llu records, not %llu from %llu on", what, k, n, (ull)o.records,
		      (ull)expect.records, (ull)p.begin);
		CHECK(o.totals.first == p.begin && o.totals.all == all,
		      "%s, %u/%u: after %llu of %llu", what, k, n, (ull)o.totals.first,
		      (ull)o.totals.all);
		CHECK(o.totals.bytes == o.totals.skipped + o.totals.tail + o.records * in->record,
		      "%s, %u/%u", what, k, n);
		changed += i > 0 && o.totals.state != before;
		before = o.totals.state;
		add_totals(&sum, &o.totals);
	}
	CHECK(changed == 0 && (before != 0 || whole->rc != 0), "%s, %u slices: not of one state",
	      what, n);
	CHECK(whole->rc != 0 || same_totals(&sum, &whole->totals),
	      "%s, %u slices: %llu bytes, %llu skipped, %llu tail of %llu, %llu cut, %llu inputs, "
	      "%llu headers",
	      what, n, (ull)sum.bytes, (ull)sum.skipped, (ull)sum.tail, (ull)sum.tails,
	      (ull)sum.cut, (ull)sum.inputs, (ull)sum.headers);
}

static void check_job(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1;
	struct inputs in = draw_inputs();
	const struct setup spec = spec_of(&in);
	const uint64_t all = in.records.bytes / in.record;
	const uint32_t some[] = {1, 2, 3, 2 + (uint32_t)below(9),
				 (uint32_t)(all < 60 ? all + 1 + below(4) : 7)};
	char what[200];

	snprintf(what, sizeof(what),
		 "seed %llu, %zu inputs of %u bytes each, skip %llu, limit %llu%s", (ull)seed,
		 in.count, in.record, (ull)in.skip, (ull)in.limit, in.headers ? ", headers" : "");
	alarm(60);
	const struct outcome whole = read_all(&spec, 1, 1 << 16);
	CHECK(whole.rc == 0 || in.broken, "%s: %s", what, whole.fail.text);
	for (unsigned i = 0; i < 5; i++)
		check_slices(&in, &whole, some[i], what);
	alarm(0);
	free(in.records.at);
	scratch_clean();
}

int main(int argc, char **argv)
{
	const uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

	scratch_enter();
	for (uint64_t seed = from; seed < (argc > 1 ? from + 1 : 700); seed++)
		check_job(seed);
	scratch_leave();
	return check_report();
}
