/* SPDX-License-Identifier: MIT */
/* plan: divides -M, and decides when a thread, a table, a lane or a GPU is worth its cost. */
#include "run/plan.h"

#include "base/minmax.h"
#include "each/each.h"
#include "gpu/gpu_plan.h"

/*
 * Files are equally fast with 64 KiB to 1 MiB; a pipe from `cat` is 15% faster with 128 KiB than
 * with 64 or 256.
 */
#ifndef BLOCK_BYTES /* the scheduler of the tests has smaller ones */
#define BLOCK_BYTES ((size_t)128 << 10)
#endif
/*
 * Maximum bytes for all private tables together; above that, workers share one table. With noise
 * over 2^20, 2^22, 2^24 cells a private table takes 1.2, 3.1, 7.3 ns per sample, the shared one 8,
 * 12, 16.
 */
#define PRIVATE_MAX ((size_t)160 << 20)

#define TEXTS_SHARE 8u /* of -M, for the texts of keys */
#define KEYS_SHARE 3u  /* of what workers may take, for their tables of keys */

/* --each: bytes of a large row taken at a time: PART_CELL for each cell, between two limits */
#define PART_LEAST ((uint64_t)512 << 10)
#define PART_CELL 32u
#define PART_MOST ((uint64_t)4 << 20)

#define RECORDS_MANY 1024u           /* least records of many channels in a block, ... */
#define BLOCK_MANY ((size_t)1 << 20) /* ... up to this many bytes */

#define LANES_MOST 60u /* one of the 64 slots (gpu/region.h) per lane, and a few spare */
/*
 * Under auto, start a GPU only if the CPU, at its rate so far, would need WORTH_SECONDS for the
 * rest: the start takes 0.2 to 0.4 s and part of a core. If the length is unknown, assume that as
 * much is left as was counted. The rate is known after TELLING_BYTES, because the first blocks
 * touch tables for the first time, or when TELLING_FEW bytes took TELLING_SECONDS.
 */
#define WORTH_SECONDS 0.4
#define TELLING_BYTES ((uint64_t)64 << 20)
#define TELLING_SECONDS 0.02
#define TELLING_FEW ((uint64_t)8 << 20)

uint32_t plan_digits(const struct job *job, const struct shape *shape)
{
	const struct sample_type counted = sample_type_counted(&shape->axis.type);

	return !layout_is_many(shape->channels) ? shape->row > 0 ? DIGEST_ROUGH : DIGEST_FINE
	       : job->quantiles.named           ? keys_digits(&counted)
						: 0;
}

/*
 * Let `workers` workers, who may take `most` bytes, count in private tables or, if shared, in the
 * table of totals. Return the bytes that they need.
 */
static size_t on_cpu(struct plan *p, const struct job *job, const struct shape *shape,
		     unsigned workers, uint64_t most, bool shared)
{
	const struct axis *const axis = &shape->axis;

	counting_init(&p->counting, &axis->type, &axis->edges, &shape->layout, shared);
	counting_set_missing(&p->counting, &axis->missing);
	p->counting.finds_whole = axis->finds_whole;
	const bool many = layout_is_many(shape->channels);
	if (job->quantiles.n > 0)
		counting_keep_stats(&p->counting, plan_digits(job, shape));
	/* With many channels, the sums of the totals take much memory, too. */
	const size_t totals = many && counting_adds_stats(&p->counting)
				      ? shape->channels * stats_bytes(&p->counting.counted)
				      : 0;
	if (job->by_text)
		counting_keep_keys(&p->counting, lesser(most / KEYS_SHARE, PRIVATE_MAX) / workers);
	/* Under auto and gpu a lane may add to the shared table at any time. */
	p->counting.alone = workers == 1 &&
			    (job->machine.device == DEVICE_CPU || p->counting.auto_bins.most > 0);
	/* With rows, a worker's counts are private. */
	p->counting.alone |= shape->row > 0;
	const size_t needs = totals + workers * (p->counting.memory + p->block + PAGE +
						 (shape->row > 0 ? each_memory(&p->counting) : 0));
	/* One worker can do without the tables of small integers. */
	return needs - (workers == 1 && needs > most ? counting_leave_small(&p->counting) : 0);
}

/* As many workers as -T and `most` bytes allow; at least one, with the table that needs least. */
static unsigned workers_within(struct plan *p, const struct job *job, const struct shape *shape,
			       uint64_t most)
{
	const struct axis *const axis = &shape->axis;
	const size_t table = counting_cells(&axis->type, &axis->edges) * shape->layout.channels *
			     sizeof(uint32_t);

	/* If the range comes from the samples, each table has its own k. */
	const bool own = axis_kind_of(axis)->from_samples && !sample_is_code(&axis->type);

	for (unsigned workers = job->machine.threads; workers > 0; workers--) {
		p->tables =
			on_cpu(p, job, shape, workers, most, !own && table > PRIVATE_MAX / workers);
		if (p->tables <= most)
			return workers;
	}
	/* Use the smaller table, which with few bins is the private one. */
	const size_t private = p->tables;
	p->tables = on_cpu(p, job, shape, 1, most, true);
	if (private < p->tables)
		p->tables = on_cpu(p, job, shape, 1, most, false);
	return 1;
}

/*
 * Bytes of a large row that one worker takes at a time; 0: a row fits in a block. Adding up the
 * parts of a row goes through all cells for each part, so if there are many cells a part is a whole
 * row, or much of one.
 */
static size_t part_of(const struct shape *shape, size_t block)
{
	const uint64_t cells = counting_cells(&shape->axis.type, &shape->axis.edges) *
			       (uint64_t)shape->layout.channels;
	const uint64_t most = lesser(larger(cells * PART_CELL, PART_LEAST), PART_MOST);
	const uint64_t records = most / shape->record, row = shape->row / shape->packed;

	if (row <= block / shape->record)
		return 0;
	return lesser(row, records) * shape->record;
}

struct plan plan_make(const struct job *job, const struct shape *shape,
		      const struct plan_facts *facts)
{
	const bool gpu_only = job->machine.device == DEVICE_GPU;
	const uint64_t memory = job->machine.memory, half = memory / 2;
	struct plan p = {.block = BLOCK_BYTES};

	p.block = larger(p.block, shape->record);
	if (shape->channels > STATS_FEW) /* so that a block has several samples of each */
		p.block = larger(p.block,
				 lesser(RECORDS_MANY, BLOCK_MANY / shape->record) * shape->record);
	p.block = larger(p.block, part_of(shape, p.block));
	/* Any worker that finds a slot may feed the GPU. */
	if (gpu_only ||
	    (job->machine.device == DEVICE_AUTO && facts->kernels && !gpu_declines(job, shape)))
		p.lanes = (unsigned)lesser(job->machine.threads, LANES_MOST);
	const bool digests = job->quantiles.n > 0 && !sample_is_code(&shape->axis.type) &&
			     shape->row == 0 && plan_digits(job, shape) > 0;
	p.digests = digests ? memory / DIGEST_SHARE : 0; /* --by: of its sums, too */
	p.texts = job->source.text.by ? memory / TEXTS_SHARE : 0;
	p.workers = workers_within(&p, job, shape,
				   (facts->plain ? memory : half) - p.digests - p.texts);
	if (p.tables > memory) { /* a single worker may take more than half */
		p.workers = 0;
		return p;
	}
	const uint64_t left = memory - (gpu_only ? 0 : p.tables); /* lanes replace tables */
	if (gpu_only) {
		p.workers = p.lanes;
		p.lanes_memory = half;
	} else if (p.lanes > 0) {
		p.lanes_memory = lesser(facts->plain  ? left / 2
					: left > half ? left - half
						      : 0,
					memory / 8 * 3);
	}
	const struct gpu_spec gpu = plan_gpu(&p, job);
	if (p.lanes > 0 && !gpu_only && !gpu_size(&gpu).fits) {
		p.lanes = 0;
		p.lanes_memory = 0;
	}
	p.texts = lesser(p.texts, left - p.lanes_memory);
	p.digests = lesser(p.digests, left - p.lanes_memory - p.texts);
	p.decoders = larger(left - p.lanes_memory - p.texts - p.digests, 1);
	return p;
}

struct gpu_spec plan_gpu(const struct plan *p, const struct job *job)
{
	return (struct gpu_spec){
		.counting = &p->counting,
		.device = job->machine.gpu,
		.lanes = p->lanes,
		.fetched = job->every > 0,
		.memory = p->lanes_memory,
	};
}

bool plan_gpu_pays(double seconds, uint64_t counted, uint64_t known)
{
	if (counted < (seconds < TELLING_SECONDS ? TELLING_BYTES : TELLING_FEW))
		return false;
	const uint64_t left = known > counted ? known - counted : known > 0 ? 0 : counted;
	return (double)left * seconds > WORTH_SECONDS * (double)counted;
}
