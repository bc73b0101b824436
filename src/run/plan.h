/* SPDX-License-Identifier: MIT */
/*
 * plan: decides how to run a job: the number of workers, how they count, and how to divide -M. Pure
 * functions. Only the GPU's share is subdivided elsewhere, in gpu_plan.c.
 *
 * An -M of twice the need of a worker or a decoder is always enough, and messages suggest that. So:
 *
 *   tables and blocks of CPU workers    at most half of -M, or all of it if certainly no input is
 *                                       compressed. The number of workers is reduced to fit; a
 *                                       single worker may take more than half if it must. With
 *                                       --by, their tables of keys take a third of it
 *   lanes of a GPU                      under auto, the rest of the tables' half or, if no input is
 *                                       compressed, half of the rest of -M; at most three eighths
 *                                       of -M. Under --device=gpu, which has no CPU workers, half
 *                                       of -M. If two slots do not fit, auto uses no
 *                                       GPU; --device=gpu takes them anyway, and their counters are
 *                                       part of the bins
 *   digests of --stats                  a quarter of -M, from the half of the tables
 *   texts of the keys of --by           an eighth of -M, from the same half
 *   decoders of compressed inputs       the rest, at least half of -M
 */
#ifndef GPUHIST_PLAN_H
#define GPUHIST_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/axis.h"
#include "cli/job.h"
#include "count/count.h"
#include "gpu/gpu.h"

/* Facts that a plan needs in addition to the job. */
struct plan_facts {
	bool kernels; /* the program was built with GPU kernels */
	bool plain;   /* no input is compressed, so decoders need no memory */
};

struct plan {
	struct counting counting;
	unsigned workers; /* maximum number of threads; 0: even one worker does not fit in -M */
	size_t block;     /* bytes in a CPU worker's buffer */
	/* bytes for tables and blocks of all CPU workers; if workers is 0, of one worker */
	size_t tables;
	unsigned lanes;        /* maximum number of workers feeding a GPU; 0: use no GPU */
	uint64_t lanes_memory; /* bytes for the slots that they feed */
	uint64_t digests;      /* bytes for the digests of all workers and of the totals */
	uint64_t texts;        /* bytes for the texts of keys */
	uint64_t decoders;     /* bytes for decoders, at least 1 */
};

struct plan plan_make(const struct job *job, const struct shape *shape,
		      const struct plan_facts *facts);

/* The digits of the digests of samples that are not codes; 0: there are none. */
uint32_t plan_digits(const struct job *job, const struct shape *shape);

/* Parameters for starting a GPU; the plan must outlive it. */
struct gpu_spec plan_gpu(const struct plan *p, const struct job *job);

/* `counted` of `known` bytes (0: not known) took `seconds`: is the rest worth a GPU's start? */
bool plan_gpu_pays(double seconds, uint64_t counted, uint64_t known);

#endif
