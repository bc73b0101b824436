/* SPDX-License-Identifier: MIT */
/*
 * gpu_check: every kernel against the CPU engine, on a machine with a GPU.
 * usage: gpu_check [SEED [JOBS [FIRST]]]       (jobs FIRST to JOBS - 1)
 *
 * Each job draws a type, bins, a range and a kind of data, starts the GPU engine for it as the
 * program does, and compares the cells of chunks of many sizes with the CPU's counts. Counters that
 * would stay on the device are fetched for each chunk anyway; after that, chunks of all kinds are
 * counted into the table that stays, and the totals are compared.
 *
 * The first jobs go through a list that reaches every way of counting and every kind of bins; at
 * the end this is checked. Then come jobs of very many bins, into such a table alone. Last, kernels
 * are launched in this process: on samples at odd addresses, on hot cells without an entry, and on
 * 64-bit counters that carry. Without a GPU the program reports that and exits with 77.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "count/count.h"
#include "gpu_helper/helper.h"
#include "gpu/gpu.h"
#include "gpu/gpu_plan.h"
#include "gpu/gpu_resident.h"
#include "gpu/region.h"
#include "gpu_jobs.h"
#include "gpu_launch.h"

/*
 * The job of a lane: its samples are laid out in the slot, and counted here one channel at a
 * time.
 */
struct subject {
	const struct counting *counting; /* with the layout */
	const struct counting *plain;    /* of one channel without gaps */
	const struct edges *edges;
	struct counts *all; /* --auto: the CPU's counts of all chunks, with a k of its own */
	struct counts *got; /* --auto: the GPU's counts of them */
	const char *what;
};

/* Spread samples over records, with noise between them. */
static void lay_out(unsigned char *to, const unsigned char *samples, size_t records,
		    const struct layout *l, uint32_t bytes)
{
	const uint32_t own = l->samples * bytes, inner = l->row > 0 ? l->row : 1;
	const size_t all = records * layout_bytes(l);

	for (size_t i = 0; i < all; i += sizeof(uint64_t)) {
		const uint64_t noise = draw();
		memcpy(to + i, &noise, all - i < sizeof(noise) ? all - i : sizeof(noise));
	}
	for (size_t i = 0; i < records; i++, to += layout_bytes(l))
		for (uint32_t k = 0; k < inner; k++, samples += own)
			memcpy(to + (size_t)k * l->record + l->offset, samples, own);
}

/* Return the counters of the slot that the CPU expects. */
static uint64_t *expect(const struct subject *s, const struct slot *slot,
			const unsigned char *samples, size_t n)
{
	const uint32_t channels = s->counting->channels, bytes = s->counting->bytes;
	uint64_t *const expected = calloc(s->counting->cells, sizeof(*expected));
	unsigned char *const own_channel = malloc(n * bytes + 1);

	for (uint32_t c = 0; c < channels; c++) {
		size_t used = 0;
		for (size_t i = c; i < n; i += channels, used++)
			memcpy(own_channel + used * bytes, samples + i * bytes, bytes);
		count_plainly(s->plain, slot->shared->k, own_channel, used,
			      expected + c * s->plain->cells);
	}
	free(own_channel);
	return expected;
}

/*
 * Check that the chunk's extent is its samples', and that its k is no larger than the samples so
 * far require.
 */
static void check_auto(const struct subject *s, struct slot *slot, const unsigned char *samples,
		       size_t n)
{
	const struct counting *c = s->counting;
	const struct sample_type *const type = &c->type;
	const uint64_t infinity =
		((uint64_t)1 << (8 * c->type.code_bytes - 1)) - ((uint64_t)1 << type->mantissa);
	/* Floats need the bits of infinity for it, integers the bias of their keys. */
	const struct extent own =
		c->extent(samples, n, type->kind == SAMPLE_FLOAT ? infinity : c->binning.bias);
	struct counter *const counter = counter_open(c, s->all);
	struct extent all;
	int k;

	CHECK(c->auto_bins.log
		      ? extent_equal(&own, &slot->extent)
		      : own.least == slot->extent.least && own.greatest == slot->extent.greatest,
	      "%s: extent", s->what);
	counts_auto(s->got, &k, &all);
	extent_add(&all, &own);
	CHECK(slot->shared->k >= auto_k(&c->auto_bins, &own) &&
		      slot->shared->k <= auto_k(&c->auto_bins, &all),
	      "%s: k %d", s->what, slot->shared->k);
	counts_add(s->got, &(struct tables){.samples = slot->shared->samples,
					    .narrow = slot->cells,
					    .tables = 1,
					    .stride = c->cells,
					    .channels = 1,
					    .k = slot->shared->k,
					    .extent = slot->extent});
	counts_auto(s->got, &k, &all);
	CHECK(k == auto_k(&c->auto_bins, &all), "%s: k %d of the totals", s->what, k);
	counter_add(counter, samples, n);
	counter_close(counter);
}

/* Check that the GPU's counts of all chunks equal the CPU's. */
static void check_auto_totals(const struct subject *s)
{
	size_t differ = 0;

	for (size_t i = 0; i < s->got->cells; i++)
		differ += s->got->cell[i] != s->all->cell[i];
	CHECK(differ == 0 && s->got->k == s->all->k && s->got->samples == s->all->samples,
	      "%s: %zu totals differ, k %d and %d", s->what, differ, s->got->k, s->all->k);
}

/* A chunk on its way: the data that its slot was filled from. */
struct sent {
	struct slot *slot;
	unsigned char *samples;
	size_t n;
	enum data data;
};

static struct sent submit(const struct subject *s, struct gpu *gpu, struct slot *slot,
			  size_t records, enum data data)
{
	const struct layout *const l = &s->counting->layout;
	const struct sent sent = {slot,
				  malloc(records * layout_samples(l) * s->counting->bytes + 1),
				  records * layout_samples(l), data};

	fill(sent.samples, sent.n, s->edges, &s->counting->type, data);
	lay_out(slot->data, sent.samples, records, l, s->counting->bytes);
	counts_auto(s->got, &slot->shared->k, &slot->extent);
	CHECK(gpu_submit(gpu, slot, slot->data, records * layout_bytes(l)) == 0, "%s: submit",
	      s->what);
	return sent;
}

static enum gpu_answer answer_of(struct gpu *gpu, struct slot *slot)
{
	enum gpu_answer answer;

	while ((answer = gpu_done(gpu, slot, 1.0)) == GPU_NOT_YET)
		;
	return answer;
}

/* Wait for the chunk, and compare its counters with the CPU's counts. */
static void compare(const struct subject *s, struct gpu *gpu, struct sent *sent)
{
	struct slot *const slot = sent->slot;
	uint64_t differ = 0, first = 0;
	const bool done = answer_of(gpu, slot) == GPU_DONE;

	CHECK(done && slot->shared->samples == sent->n, "%s, data %d: not counted", s->what,
	      (int)sent->data);
	if (done) {
		uint64_t *const expected = expect(s, slot, sent->samples, sent->n);
		for (size_t i = 0; i < s->counting->cells; i++)
			if (expected[i] != slot->cells[i] && differ++ == 0)
				first = i;
		CHECK(differ == 0,
		      "%s, data %d, %zu samples: %llu cells differ, first %llu: cpu %llu, gpu %lu",
		      s->what, (int)sent->data, sent->n, (unsigned long long)differ,
		      (unsigned long long)first, (unsigned long long)expected[first],
		      (unsigned long)slot->cells[first]);
		free(expected);
		if (s->counting->auto_bins.most > 0)
			check_auto(s, slot, sent->samples, sent->n);
		gpu_free(slot);
	}
	free(sent->samples);
}

#define WAYS 2
static const char *const NAMES[WAYS] = {"whole", "far"};

/* Ways of counting and kinds of bins that the jobs reached. */
static struct seen {
	unsigned ways[WAYS], kinds[BIN_KINDS], tables;
} seen;

/*
 * Compare all kinds of data, chunk by chunk, with as many chunks on their way as there are slots. A
 * simulated device, a thousand times slower, gets a quarter of the samples.
 */
static void compare_chunks(const struct subject *s, struct gpu *gpu, unsigned long number)
{
	const struct layout *const l = &s->counting->layout;
	const size_t most = gpu_slot_bytes(gpu) / layout_bytes(l),
		     few = layout_samples(l) < 64 ? 1 : layout_samples(l) / 32;
	const size_t less = getenv("FAKECUDA_SEED") ? 4 : 1;
	struct sent sent[REGION_SLOTS];
	unsigned first = 0, count = 0;

	for (int data = 0; data < DATA_KINDS; data++) {
		const size_t sizes[] = {
			draw() % 70, draw() % 5000 / few, draw() % 100000 / (few * less),
			data == (int)(number % (less * DATA_KINDS)) ? most : most / (16 * less) + 1,
			most / (17 * less)};
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct slot *slot;
			if (sizes[i] == 0)
				continue;
			while (!(slot = gpu_take_slot(gpu)) && count > 0) {
				compare(s, gpu, &sent[first++ % REGION_SLOTS]);
				count--;
			}
			CHECK(slot, "%s: no slot is free", s->what);
			if (!slot || gpu_failed(gpu))
				break;
			sent[(first + count++) % REGION_SLOTS] = submit(
				s, gpu, slot, sizes[i] < most ? sizes[i] : most, (enum data)data);
		}
	}
	for (; count > 0; count--)
		compare(s, gpu, &sent[first++ % REGION_SLOTS]);
	if (s->counting->auto_bins.most > 0)
		check_auto_totals(s);
}

/* ---- counters that stay ---- */

#define LANES 2u
#define MEMORY ((uint64_t)64 << 20)
#define CHUNKS 12u

/* Wait for a chunk, and commit it as a lane does. */
static void commit(const struct subject *s, struct gpu *gpu, struct slot *slot)
{
	const bool done = answer_of(gpu, slot) == GPU_DONE;

	CHECK(done, "%s: not counted", s->what);
	if (done)
		gpu_resident_commit(gpu, slot->shared->samples);
	gpu_free(slot);
}

/* Count chunks of all kinds of data by two lanes, two at a time, and on the CPU. */
static void count_chunks(const struct subject *s, struct gpu *gpu, struct counter *counter)
{
	const struct counting *const c = s->counting;
	const size_t samples = layout_samples(&c->layout), record = layout_bytes(&c->layout);
	struct slot *sent[LANES] = {NULL};

	for (unsigned i = 0; i < CHUNKS && !gpu_failed(gpu); i++) {
		const size_t most = gpu_slot_bytes(gpu) / record,
			     usual = 1 + draw() % (100000 / samples + 1);
		const unsigned k = i % LANES;
		if (sent[k])
			commit(s, gpu, sent[k]);
		sent[k] = gpu_take_slot(gpu);
		CHECK(sent[k], "%s: no slot is free", s->what);
		if (!sent[k])
			return;
		const struct sent one = submit(s, gpu, sent[k], usual < most ? usual : most,
					       (enum data)(i % DATA_KINDS));
		counter_add(counter, one.samples, one.n);
		free(one.samples);
	}
	for (unsigned k = 0; k < LANES; k++)
		if (sent[k])
			commit(s, gpu, sent[k]);
}

/* Fetch the table that stays, and compare it with the CPU's counts. */
static void compare_table(const struct subject *s, struct gpu *gpu)
{
	const struct counting *const c = s->counting;
	struct counts totals;
	struct fail fail = {.status = STATUS_OK};
	uint64_t differ = 0, first = 0;

	CHECK(gpu_lane_open(gpu) && gpu_lane_open(gpu) && !gpu_lane_open(gpu), "%s: lanes",
	      s->what);
	CHECK(gpu_is_resident(gpu), "%s: the counters are fetched", s->what);
	if (counts_init(&totals, c->cells, NULL, &fail) != 0)
		return;
	struct counter *const counter = counter_open(c, s->all);
	count_chunks(s, gpu, counter);
	counter_close(counter);
	for (unsigned k = 0; k < LANES; k++)
		gpu_lane_close(gpu);
	CHECK(gpu_lane_free(gpu), "%s: no lane came back", s->what);
	CHECK(gpu_resident_fetch(gpu, &totals) == 0, "%s: the table is lost", s->what);
	seen.tables++;
	for (size_t i = 0; i < totals.cells; i++)
		if (totals.cell[i] != s->all->cell[i] && differ++ == 0)
			first = i;
	CHECK(differ == 0 && totals.samples == s->all->samples,
	      "%s: %llu of all cells differ, first %llu: cpu %llu, gpu %llu; %llu and %llu samples",
	      s->what, (unsigned long long)differ, (unsigned long long)first,
	      (unsigned long long)s->all->cell[first], (unsigned long long)totals.cell[first],
	      (unsigned long long)s->all->samples, (unsigned long long)totals.samples);
	counts_free(&totals);
}

/* ---- a job ---- */

/* Start a GPU engine, or return NULL after a message. */
static struct gpu *start(const struct subject *s, bool fetch, struct gpu_report *report)
{
	struct gpu *gpu = gpu_start(&(struct gpu_spec){
		.counting = s->counting, .lanes = LANES, .fetched = fetch, .memory = MEMORY});

	if (gpu && gpu_wait(gpu, 60)) {
		gpu_describe(gpu, report);
		return gpu;
	}
	if (gpu)
		gpu_describe(gpu, report);
	gpu_close(gpu);
	return NULL;
}

static void see(const struct gpu_report *report, const struct edges *edges)
{
	for (int i = 0; i < WAYS; i++)
		seen.ways[i] += strncmp(report->kernel, NAMES[i], strlen(NAMES[i])) == 0;
	seen.kinds[edges->binning.kind]++;
}

/* Compare every chunk, and, if there are enough counters, the table; false: there is no GPU. */
static bool run_counting(struct subject *s, char *what, size_t size, bool chunks,
			 unsigned long number)
{
	struct gpu_report report = {.state = GPU_NONE};
	const size_t named = strlen(what);
	struct gpu *gpu = chunks ? start(s, true, &report) : NULL;

	if (gpu) {
		snprintf(what + named, size - named, ", %s", report.kernel);
		see(&report, s->edges);
		CHECK(gpu_lane_open(gpu) && !gpu_is_resident(gpu), "%s: a lane", what);
		compare_chunks(s, gpu, number);
		gpu_lane_close(gpu);
		gpu_close(gpu);
	}
	const struct gpu_spec spec = {.counting = s->counting, .lanes = LANES, .memory = MEMORY};
	if ((gpu || !chunks) && gpu_size(&spec).resident) {
		gpu = start(s, false, &report);
		snprintf(what + named, size - named, ", stays, %s", report.kernel);
		if (gpu) {
			see(&report, s->edges);
			compare_table(s, gpu);
		}
		gpu_close(gpu);
	}
	if (!gpu && number == 0)
		printf("no GPU: %s\n", report.why);
	CHECK(gpu || number == 0, "%s: %s", what, report.why);
	return gpu || number != 0;
}

/* Run one job on all kinds of data; false: there is no GPU. */
static bool run(const struct job *job, const struct layout *asked, bool chunks,
		unsigned long number)
{
	struct sample_type type;
	struct edges edges;
	struct counting counting, plain;
	struct layout layout;
	struct counts all, got;
	struct fail fail = {.status = STATUS_OK};
	const char *why;
	double *list;
	char what[250];
	bool there = true;

	sample_type_parse(&type, job->type);
	if (!make_edges(job, &type, &edges, &list) ||
	    layout_init(&layout, asked, type.code_bytes, &why) != 0) {
		free(list);
		return true;
	}
	counting_init(&plain, &type, &edges, NULL, false);
	counting_init(&counting, &type, &edges, &layout, !chunks);
	snprintf(what, sizeof(what), "job %lu: %s -b %lu -r %s%s, layout %u %u+%u %u/%u", number,
		 job->type, (unsigned long)job->bins, job->range ? job->range : "none",
		 job->closed ? " closed" : "", layout.channels, layout.record, layout.offset,
		 layout.row, layout.pitch);
	if (counts_init(&all, counting.cells, NULL, &fail) == 0 &&
	    counts_init(&got, counting.cells, NULL, &fail) == 0) {
		struct subject subject = {&counting, &plain, &edges, &all, &got, what};
		if (counting.auto_bins.most > 0) {
			counts_set_auto(&all, &counting.auto_bins);
			counts_set_auto(&got, &counting.auto_bins);
		}
		there = run_counting(&subject, what, sizeof(what), chunks, number);
		counts_free(&all);
		counts_free(&got);
	}
	edges_free(&edges);
	free(list);
	return there;
}

static bool run_job(uint64_t seed, unsigned long i)
{
	static const struct layout plain = {.channels = 1};
	const unsigned long laid = i - LIST_LENGTH, many = laid - LAID_LENGTH;
	char range[100];

	state = (seed + 1) * 0x9e3779b97f4a7c15u ^ (i * 0xbf58476d1ce4e5b9u + 1);
	if (i < LIST_LENGTH)
		return run(&LIST[i], &plain, true, i);
	if (laid < LAID_LENGTH)
		return run(&LAID[laid].job, &LAID[laid].layout, true, i);
	if (many < MANY_LENGTH)
		return run(&MANY[many], &plain, false, i);
	const struct job job = random_job(range, sizeof(range));
	const struct layout layout = random_layout(&job);
	return run(&job, &layout, true, i);
}

int main(int argc, char **argv)
{
	if (helper_asked(argc, argv))
		return helper_main(argv);
	const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const unsigned long all = LIST_LENGTH + LAID_LENGTH + MANY_LENGTH,
			    jobs = argc > 2 ? strtoul(argv[2], NULL, 10) : all;
	const unsigned long first = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	const bool whole = first == 0 && jobs >= LIST_LENGTH;

	for (unsigned long i = first; i < jobs; i++)
		if (!run_job(seed, i))
			return 77;
	for (int i = 0; i < WAYS && whole; i++)
		CHECK(seen.ways[i] > 0, "%s was never taken", NAMES[i]);
	for (int i = 0; i < BIN_KINDS && whole; i++)
		CHECK(seen.kinds[i] > 0, "kind %d was never taken", i);
	CHECK(first > 0 || jobs < all || seen.tables > 20, "%u tables", seen.tables);
	check_launches(seed);
	return check_report();
}
