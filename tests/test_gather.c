/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * gather: samples of every layout against a loop that looks at one sample after the other: all
 * types, 1 to 64 channels, offsets, rows, chunks of any number of records, noise and samples that
 * repeat, checksums, every instruction set. From a seed.
 */
#include "count/count.h"

#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "bins/number.h"
#include "check.h"

#define BYTES ((size_t)60000)
#define ROUNDS 500

static uint64_t state = 0x676174686572;
static unsigned long methods[4], channels_seen, gapped, direct;

static uint64_t below(uint64_t n)
{
	return (check_random(&state) >> 20) % n;
}

/* Bins over some whole values, or of a full range, for any type. */
static void set_up(struct edges *e, struct sample_type *t)
{
	static const char *const TYPES[] = {"u8",     "i8",    "u16",   "i16be", "u24",   "i24be",
					    "u32",    "u32be", "i32be", "u64",   "i64be", "f16",
					    "bf16be", "f32",   "f64",   "f32be"};
	struct edges_spec spec = {.kind = AXIS_RANGE,
				  .bins = 1 + (uint32_t)below(below(8) ? 1000 : 70000)};
	const char *why = NULL;

	sample_type_parse(t, TYPES[below(sizeof(TYPES) / sizeof(TYPES[0]))]);
	spec.full = t->kind != SAMPLE_FLOAT && below(2);
	if (!spec.full) {
		number_parse(&spec.lo, "3", 1);
		number_parse(&spec.hi, "65539", 5);
	}
	CHECK(edges_init(e, &spec, t, &why) == 0, "%s: %s", t->name, why);
}

/* A layout of some records, or rows; sometimes without gaps. */
static struct layout draw_layout(uint32_t sample)
{
	struct layout asked = {.channels = 1 + (uint32_t)below(below(3) ? 8 : 64)}, l;
	const uint32_t samples = asked.channels * (1 + (uint32_t)(below(3) ? 0 : below(9)));
	const char *why = NULL;

	asked.samples = samples;
	if (below(2)) {
		asked.offset = (uint32_t)below(below(2) ? 5 : 300);
		asked.record =
			asked.offset + samples * sample + (uint32_t)below(below(4) ? 60 : 9000);
	}
	if (below(2)) {
		const uint32_t record = asked.record > 0 ? asked.record : samples * sample;
		asked.row = 1 + (uint32_t)below(1 + (below(2) ? 5000 : 200) / record);
		asked.pitch = asked.row * record + (uint32_t)(below(3) ? below(50) : 0);
	}
	CHECK(layout_init(&l, &asked, sample, &why) == 0, "%s", why);
	return l;
}

static size_t cell_of(const struct counting *c, const unsigned char *sample)
{
	uint32_t cell;

	if (c->type.code_bytes <= 2)
		return c->type.code_bytes == 1 ? sample[0] : (size_t)sample[0] + 256 * sample[1];
	cells_base.cells[cells_load(&c->type)][c->binning.kind](&c->binning, sample, 1, &cell);
	return cell;
}

static void count_plainly(const struct counting *c, const unsigned char *p, size_t bytes,
			  uint64_t *cell, uint64_t *samples)
{
	const struct layout *const l = &c->layout;
	const size_t pitch = l->row > 0 ? l->pitch : l->record, rows = bytes / pitch;

	for (size_t row = 0; row < rows; row++)
		for (size_t record = 0; record < (l->row > 0 ? l->row : 1); record++)
			for (size_t i = 0; i < l->samples; i++) {
				const unsigned char *const at = p + row * pitch +
								record * l->record + l->offset +
								i * c->bytes;
				cell[i % l->channels * c->cells_each + cell_of(c, at)]++;
				++*samples;
			}
}

/* Noise of few values, of all, and stretches of one byte, which may end anywhere. */
static void fill(unsigned char *p, size_t bytes)
{
	const uint64_t kind = below(4);

	for (size_t i = 0; i < bytes;) {
		const size_t n = 1 + (size_t)below(below(2) ? 40 : 30000);
		const bool same = kind == 0 || (kind == 1 && below(2));
		const unsigned char byte = (unsigned char)below(below(2) ? 1 : 256);
		for (size_t end = n < bytes - i ? i + n : bytes; i < end; i++)
			p[i] = same ? byte
				    : (unsigned char)(check_random(&state) >> 30 &
						      (kind == 2 ? 3 : 255));
	}
}

static void one(const char *isa)
{
	const size_t before = (size_t)below(8);
	struct sample_type t;
	struct edges e;
	struct counting c;
	struct counts counts;
	struct fail fail = {.status = STATUS_OK};
	struct xxh64 along, apart;
	uint64_t samples = 0;

	set_up(&e, &t);
	const struct layout l = draw_layout(t.code_bytes);
	const size_t unit = layout_bytes(&l), units = BYTES / unit < 1 ? 0 : BYTES / unit;
	counting_init_layout(&c, &t, &e, &l, below(2));
	CHECK(c.cells == c.cells_each * l.channels && c.cells_each == counting_cells(&t, &e),
	      "%zu cells", c.cells);
	CHECK(counts_init(&counts, c.cells, &fail) == 0, "%s", fail.text);
	methods[c.method]++;
	channels_seen |= 1ul << (l.channels - 1);
	gapped += !layout_is_contiguous(&l, t.code_bytes);
	direct += l.row > 0 && l.pitch > 3000;
	/* Of just that size, so that a sanitizer sees what is read after it. */
	unsigned char *const room = malloc(before + units * unit), *const data = room + before;
	fill(data, units * unit);
	uint64_t *const expected = calloc(c.cells, sizeof(*expected));
	count_plainly(&c, data, units * unit, expected, &samples);

	struct counter *const counter = counter_open(&c, &counts);
	const bool hashes = below(2);
	xxh64_begin(&along);
	xxh64_begin(&apart);
	xxh64_add(&apart, data, units * unit);
	for (size_t at = 0, n; at < units; at += n) {
		n = 1 + (size_t)below(below(3) ? units - at : 1 + (units - at) / 10);
		gather_add(&c, counter, data + at * unit, n * unit, hashes ? &along : NULL);
	}
	counter_close(counter);
	CHECK(!hashes || (along.bytes == apart.bytes && xxh64_end(&along) == xxh64_end(&apart)),
	      "checksum");
	CHECK(counts.samples == samples && samples == (uint64_t)units * layout_samples(&l),
	      "%llu of %llu samples", (unsigned long long)counts.samples,
	      (unsigned long long)samples);
	CHECK(memcmp(counts.cell, expected, c.cells * sizeof(*expected)) == 0,
	      "%s, %s, channels %u: record %u offset %u samples %u row %u pitch %u", isa, t.name,
	      l.channels, l.record, l.offset, l.samples, l.row, l.pitch);
	free(expected);
	free(room);
	counts_free(&counts);
	edges_free(&e);
}

/* Each number of channels of each size of samples once more, in long chunks: the unrolled loops. */
static void every_number_of_channels(void)
{
	static const char *const TYPES[] = {"u8", "u16", "u24", "u32", "u64"};
	static unsigned char data[BYTES];
	struct edges_spec spec = {.kind = AXIS_RANGE, .bins = 300, .full = true};
	struct fail fail = {.status = STATUS_OK};
	const char *why;

	for (size_t i = 0; i < BYTES; i++)
		data[i] = (unsigned char)(check_random(&state) >> 30);
	for (uint32_t channels = 1; channels <= LAYOUT_CHANNELS_MAX; channels++)
		for (size_t k = 0; k < sizeof(TYPES) / sizeof(TYPES[0]); k++) {
			struct sample_type t;
			struct edges e;
			struct counting c;
			struct counts counts;
			struct layout l;
			uint64_t samples = 0;
			sample_type_parse(&t, TYPES[k]);
			CHECK(edges_init(&e, &spec, &t, &why) == 0 &&
				      layout_init(&l, &(struct layout){.channels = channels},
						  t.code_bytes, &why) == 0,
			      "%s", why);
			counting_init_layout(&c, &t, &e, &l, false);
			CHECK(counts_init(&counts, c.cells, &fail) == 0, "%s", fail.text);
			const size_t bytes = BYTES / l.record * l.record;
			uint64_t *const expected = calloc(c.cells, sizeof(*expected));
			count_plainly(&c, data, bytes, expected, &samples);
			struct counter *const counter = counter_open(&c, &counts);
			gather_add(&c, counter, data, bytes, NULL);
			counter_close(counter);
			CHECK(memcmp(counts.cell, expected, c.cells * sizeof(*expected)) == 0,
			      "%s, %u channels", TYPES[k], channels);
			free(expected);
			counts_free(&counts);
		}
}

int main(void)
{
	for (enum isa isa = ISA_BASE; isa < ISAS; isa++) {
		/*
		 * What must be reached at the end takes this many layouts, whatever this machine
		 * has.
		 */
		if (isa_force(isa_name(isa)) != 0)
			isa_force("base");
		for (unsigned i = 0; i < ROUNDS; i++)
			one(isa_name(isa_best()));
	}
	isa_force(NULL);
	every_number_of_channels();
	for (unsigned k = 0; k < 4; k++)
		CHECK(methods[k] > 100, "method %u was reached %lu times", k, methods[k]);
	CHECK(channels_seen == UINT64_MAX && gapped > 100 && direct > 20, "%lx %lu %lu",
	      channels_seen, gapped, direct);
	return check_report();
}
