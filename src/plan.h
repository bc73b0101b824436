/* SPDX-License-Identifier: MIT */
/*
 * plan: how a job is run: how many workers, how they count, and who may take how much of -M. Pure.
 * Only the GPU's share is divided elsewhere, in gpu_plan.c.
 *
 *   tables and blocks of CPU workers    at most half of -M, or all of it if it is certain that no
 *                                       input is compressed; fewer workers if more would take
 *                                       more. One worker may take more than half if it has to
 *   lanes of a GPU                      under auto what the tables leave of their half, or, if no
 *                                       input is compressed, half of what they leave of -M; at
 *                                       most three eighths of -M. Under --device=gpu, which has no
 *                                       CPU workers, half of -M. If a lane and two slots do not
 *                                       fit, auto has no GPU; --device=gpu takes them, and their
 *                                       counters are part of the bins
 *   decoders of compressed inputs       the rest, at least half of -M
 *
 * So an -M of twice what a worker or a decoder needs is always enough, and messages name that.
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

/* What a plan needs to know beside the job. */
struct plan_facts {
	bool kernels; /* the program was built with kernels for a GPU */
	bool plain;   /* no input is compressed: nothing has to be left for decoders */
};

struct plan {
	struct counting counting;
	unsigned workers; /* the most threads; 0: one worker needs more than its share of -M */
	size_t block;     /* bytes of a CPU worker's buffer */
	size_t step; /* bytes that a worker reads at a time, and counts while they are cached */
	size_t part; /* --each: bytes of a file that a worker takes at a time; 0: a block */
	/* bytes of tables and blocks of all CPU workers; if workers is 0, of one worker */
	size_t tables;
	unsigned lanes;        /* the most workers that feed a GPU; 0: none may be started */
	uint64_t lanes_memory; /* bytes of lanes and slots */
	uint64_t decoders;     /* bytes that decoders may take, at least 1 */
};

struct plan plan_make(const struct job *job, const struct shape *shape,
		      const struct plan_facts *facts);

/* What a GPU is started with; the plan must outlive it. */
struct gpu_spec plan_gpu(const struct plan *p, const struct job *job);

/* `counted` of `known` bytes (0: not known) took `seconds`: is the rest worth a GPU's start? */
bool plan_gpu_pays(double seconds, uint64_t counted, uint64_t known);

#endif
