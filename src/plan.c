/* SPDX-License-Identifier: MIT */
/* plan: the division of -M, and when a thread, a table, a lane or a GPU is worth it. */
#include "plan.h"

#include "worker.h"

/*
 * Large enough that the cost of a claim and a system call does not matter, small enough to stay in
 * L2 and to keep a pipe nearly empty, its pages warm. Files are equally fast from 64 KiB to 1 MiB;
 * a pipe that `cat` fills is read 15% faster with 128 KiB than with 64 or 256.
 */
#define BLOCK_BYTES ((size_t)128 << 10)
/*
 * The most bytes for all workers' private tables together; above that they share one table.
 * Measured on two cores with noise over 2^20, 2^22, 2^24 cells: a private table takes 1.2, 3.1, 7.3
 * ns a sample, the shared one 8, 12, 16. So tables are private as long as memory allows.
 */
#define PRIVATE_MAX ((size_t)160 << 20)

#define LANES_MOST 60u /* a slot for each, and a few more, of 64 (gpu/region.h) */
/*
 * Under auto the GPU's start must pay: it takes some 0.3 s, and part of a core that could count. So
 * the rest of the work must keep the CPU busy for longer than that, at its rate so far. Where the
 * end is not known, as much is taken to be left as was counted. The first blocks, in which tables
 * are touched for the first time, say little about the rate.
 */
#define WORTH_SECONDS 0.4
#define TELLING_BYTES ((uint64_t)64 << 20)

/*
 * Each decoder has memory of its own, several times as much as a core's caches hold. More than two
 * for each core decode no faster, also where some wait for a disk; but to fill 32 takes as long as
 * 0.6 GB of samples.
 */
#define DECODERS_CORE 2u

static struct plan plan_of(const struct job *job)
{
	const size_t record = job->source.record;

	return (struct plan){.block = record > BLOCK_BYTES ? record : BLOCK_BYTES};
}

/*
 * Does each worker add what it takes to statistics of its own? (As counting_adds_stats, before
 * there is a counting.)
 */
static bool statistics(const struct job *job)
{
	return job->stats && job->type.bytes > 2;
}

/*
 * Sets how `workers` of them count, in private tables or in the table of the totals; returns the
 * bytes they take.
 */
static size_t on_cpu(struct plan *p, const struct job *job, const struct plan_facts *facts,
		     unsigned workers, bool shared)
{
	counting_init_layout(&p->counting, &facts->axis->type, &facts->axis->edges, &job->layout,
			     shared);
	if (job->stats)
		counting_keep_stats(&p->counting, job->layout.channels);
	/* Under auto and gpu a lane may add to the shared table at any time. */
	p->counting.alone = workers == 1 && (job->device == DEVICE_CPU || p->counting.most > 0);
	return workers * cpu_memory(&p->counting, p->block);
}

/*
 * As many workers as -T and `most` bytes allow, but at least one. With more memory they never take
 * less: plan_memory_for relies on that, and it holds because workers are added only where they did
 * not fit before.
 */
static unsigned workers_within(struct plan *p, const struct job *job,
			       const struct plan_facts *facts, uint64_t most)
{
	const struct axis *const axis = facts->axis;
	const size_t table =
		counting_cells(&axis->type, &axis->edges) * job->layout.channels * sizeof(uint32_t);

	/*
	 * Where the range comes from the samples, each table has its own k, so workers cannot share
	 * one.
	 */
	const bool own = axis->kind == AXIS_AUTO && axis->type.bytes > 2;

	for (unsigned workers = job->threads; workers > 0; workers--) {
		p->tables = on_cpu(p, job, facts, workers, !own && table > PRIVATE_MAX / workers);
		if (p->tables <= most)
			return workers;
	}
	/*
	 * If even one worker does not fit, take the way that needs least; with few bins that is a
	 * private table.
	 */
	const size_t private = p->tables;
	p->tables = on_cpu(p, job, facts, 1, true);
	if (private < p->tables)
		p->tables = on_cpu(p, job, facts, 1, false);
	return 1;
}

/* Any worker may feed the GPU: as many do as find a slot. */
static unsigned lanes(const struct job *job)
{
	return job->threads < LANES_MOST ? job->threads : LANES_MOST;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void divide(struct plan *p, const struct job *job, const struct plan_facts *facts,
		   uint64_t memory)
{
	const uint64_t half = memory / 2;

	p->workers = workers_within(p, job, facts, facts->plain ? memory : half);
	p->decoders = 1;
	if (p->tables > memory) {
		p->workers = 0;
		return;
	}
	/* Under --device=gpu workers have no tables, but may keep statistics. */
	const uint64_t sums = statistics(job) ? stats_bytes(&job->type, job->layout.channels) : 0;
	const uint64_t taken = job->device == DEVICE_GPU ? lanes(job) * sums : p->tables;
	const uint64_t left = memory > taken ? memory - taken : 0;
	const uint64_t beside = left > half ? left - half : 0;
	if (job->device == DEVICE_GPU)
		p->lanes_memory = half;
	else if (job->device == DEVICE_AUTO && facts->kernels)
		p->lanes_memory = least(facts->plain ? left / 2 : beside,
					facts->plain ? memory / 8 * 3 : memory / 4);
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
	p.halved = plain.tables > p.tables ||
		   (job->device != DEVICE_GPU && plain.workers > p.workers) ||
		   (!facts->compressed && plain.lanes_memory > p.lanes_memory);
	p.lanes = lanes(job);
	p.decoded = facts->compressed;
	if (job->device == DEVICE_GPU && p.workers > 0)
		p.workers = p.lanes;
	p.decoding = p.workers;
	if (facts->cores > 0 && p.decoding > DECODERS_CORE * facts->cores)
		p.decoding = DECODERS_CORE * facts->cores;
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

	/*
	 * Decoders never get more than the whole of what is added, so each step is too short or
	 * exactly enough.
	 */
	for (;;) {
		struct plan p = plan_of(job);
		divide(&p, job, facts, memory);
		if (p.decoders >= need)
			return memory;
		memory += (need - p.decoders + 1023) / 1024 * 1024;
	}
}
