/* SPDX-License-Identifier: MIT */
/* plan: the division of -M, and what is worth a thread, a table, a lane, a GPU. */
#include "plan.h"

#include <string.h>

#include "gpu/gpu_size.h"
#include "worker.h"

/*
 * Large enough that a claim and a system call are nothing, small enough to stay in L2 and to
 * keep a pipe nearly empty, its pages warm. Files do the same from 64 KiB to 1 MiB; a pipe
 * that `cat` fills is read 15% faster by 128 KiB than by 64 or 256.
 */
#define BLOCK_BYTES ((size_t)128 << 10)
/* Of smaller ones, all that lie in several zstd frames fit the page that a worker takes beside its block. */
#define SEAM_COUNTS 512u
/*
 * Bytes of all workers' private tables together; above, one table for all. Measured on two
 * cores with noise over 2^20, 2^22, 2^24 cells: a private table takes 1.2, 3.1, 7.3 ns a
 * sample, the shared one 8, 12, 16. So private as long as memory allows.
 */
#define PRIVATE_MAX ((size_t)160 << 20)

#define LANES_MOST 60u /* a slot each, and some more, of 64 (gpu/region.h) */
/* Of so many threads one lane with windows, beside CPU workers, does more than all of them as feeders. */
#define LANES_AUTO_ALONE 3u

/*
 * Under auto the GPU's start must pay: it takes some 0.3 s, and part of a core that could
 * count. So what is left must keep the CPU busy for longer than that, at the rate that it has had. Of what is not known
 * to end soon, as much is left as was counted. The first blocks, in which tables are touched, say little.
 */
#define WORTH_SECONDS 0.4
#define TELLING_BYTES ((uint64_t)64 << 20)

static struct plan plan_of(const struct job *job)
{
	const size_t record = job->source.record;

	return (struct plan){.block = record > BLOCK_BYTES ? record : BLOCK_BYTES};
}

/* Does each worker add what it takes to statistics of its own? (counting_adds_stats, before there is a counting.) */
static bool statistics(const struct job *job)
{
	return job->stats && job->type.bytes > 2;
}

/* What `workers` of them take that count in private tables, or in the table of the totals. */
static size_t on_cpu(struct plan *p, const struct job *job, const struct plan_facts *facts, unsigned workers,
		     bool shared)
{
	const uint32_t record = job->source.record;
	const bool seams = !facts->plain && record > SEAM_COUNTS;

	counting_init_layout(&p->counting, &facts->axis->type, &facts->axis->edges, &job->layout, shared);
	if (job->stats)
		counting_keep_stats(&p->counting, job->layout.channels);
	/* Under auto and gpu a lane may add to a shared table at any time. */
	p->counting.alone = workers == 1 && (job->device == DEVICE_CPU || p->counting.most > 0);
	return workers * worker_cpu_memory(&p->counting, p->block) +
	       (seams ? (size_t)source_seam_bytes(record, workers) : 0);
}

/*
 * As many workers as -T and `most` bytes allow, or one. Of more memory they never take less, which
 * plan_memory_for relies on: more workers are taken only where they did not fit before.
 */
static unsigned workers_within(struct plan *p, const struct job *job, const struct plan_facts *facts, uint64_t most)
{
	const struct axis *const axis = facts->axis;
	const size_t table = counting_cells(&axis->type, &axis->edges) * job->layout.channels * sizeof(uint32_t);

	/* Where the range comes from the samples each table has a k of its own, so they cannot share one. */
	const bool own = axis->kind == AXIS_AUTO && axis->type.bytes > 2;

	for (unsigned workers = job->threads; workers > 0; workers--) {
		p->tables = on_cpu(p, job, facts, workers, !own && table > PRIVATE_MAX / workers);
		if (p->tables <= most)
			return workers;
	}
	/* The last resort is what takes least; with few bins that is a table of its own. */
	const size_t private = p->tables;
	p->tables = on_cpu(p, job, facts, 1, true);
	if (private < p->tables)
		p->tables = on_cpu(p, job, facts, 1, false);
	return 1;
}

/*
 * As many workers feed the GPU as find a slot. But where one or two threads are all, or a few beside a CPU's workers,
 * one lane, which maps files, does more than those that read, unless they keep statistics. Of a compressed
 * input all threads decode, and none of them has to count.
 */
static bool maps(const struct plan *p, const struct job *job, const struct plan_facts *facts)
{
	/* Where counters stay on the device (gpu_size.h), ranges are read. */
	if (p->counting.cells > STAY_CELLS || statistics(job) || strchr(job->gpus, ',') ||
	    strcmp(job->gpus, "all") == 0)
		return false;
	if (job->device == DEVICE_GPU)
		return job->threads <= (facts->compressed ? 1 : 2);
	return !facts->compressed && job->threads <= LANES_AUTO_ALONE;
}

static unsigned lanes(const struct plan *p, const struct job *job, const struct plan_facts *facts)
{
	return maps(p, job, facts) ? 1 : job->threads < LANES_MOST ? job->threads : LANES_MOST;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void divide(struct plan *p, const struct job *job, const struct plan_facts *facts, uint64_t memory)
{
	const uint64_t half = memory / 2;

	p->workers = workers_within(p, job, facts, facts->plain ? memory : half);
	p->decoders = 1;
	if (p->tables > memory) {
		p->workers = 0;
		return;
	}
	/* Workers of lanes alone count nothing, but may keep statistics. */
	const uint64_t sums = statistics(job) ? stats_bytes(&job->type, job->layout.channels) : 0;
	const uint64_t taken = job->device == DEVICE_GPU ? lanes(p, job, facts) * sums : p->tables;
	const uint64_t left = memory > taken ? memory - taken : 0;
	const uint64_t beside = left > half ? left - half : 0;
	if (job->device == DEVICE_GPU)
		p->lanes_memory = half;
	else if (job->device == DEVICE_AUTO && facts->kernels)
		p->lanes_memory = least(facts->plain ? left / 2 : beside, facts->plain ? memory / 8 * 3 : memory / 4);
	if (left > p->lanes_memory)
		p->decoders = left - p->lanes_memory;
	p->spare = p->lanes_memory;
}

struct plan plan_make(const struct job *job, const struct plan_facts *facts)
{
	struct plan p = plan_of(job), plain = p;
	struct plan_facts if_plain = *facts;

	divide(&p, job, facts, job->memory);
	if_plain.plain = true;
	divide(&plain, job, &if_plain, job->memory);
	p.halved = plain.tables > p.tables || (job->device != DEVICE_GPU && plain.workers > p.workers) ||
		   (!facts->compressed && plain.lanes_memory > p.lanes_memory);
	p.lanes = lanes(&p, job, facts);
	p.windows = maps(&p, job, facts);
	p.decoded = facts->compressed;
	if (job->device == DEVICE_GPU && p.workers > 0)
		p.workers = p.lanes;
	p.gpu = job->device == DEVICE_GPU || (job->device == DEVICE_AUTO && facts->kernels);
	return p;
}

bool plan_gpu_pays(const struct plan *plan, double seconds, uint64_t counted, uint64_t known)
{
	if (!plan->gpu || counted < TELLING_BYTES)
		return false;
	const uint64_t left = known > counted ? known - counted : known > 0 ? 0 : counted;
	return (double)left * seconds > WORTH_SECONDS * (double)counted;
}

uint64_t plan_memory_for(const struct job *job, const struct plan_facts *facts, uint64_t need)
{
	uint64_t memory = (job->memory + 1023) / 1024 * 1024; /* as messages name it */

	/* Of more memory decoders never get more than that: each step is too short, or just enough. */
	for (;;) {
		struct plan p = plan_of(job);
		divide(&p, job, facts, memory);
		if (p.decoders >= need)
			return memory;
		memory += (need - p.decoders + 1023) / 1024 * 1024;
	}
}
