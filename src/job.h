/* job: the work, validated once by options.c, then const and shared by everybody. */
#ifndef GPUHIST_JOB_H
#define GPUHIST_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "edges.h"
#include "hist.h"
#include "sample.h"
#include "source.h"

enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU };

enum format { FORMAT_CSV, FORMAT_TSV, FORMAT_RAW, FORMAT_JSON };

struct job {
	struct source_spec source;  /* the inputs, -S, -n, --ignore-tail, --raw */
	struct sample_type type;
	struct edges edges;
	bool clamp;

	enum device device;         /* --device */
	const char *gpus;           /* which, for DEVICE_GPU: "0", "0,2", "all" */
	unsigned threads;           /* workers at most */
	uint64_t memory;            /* -M: bytes to take, the bins aside */

	enum counter_kind counter;
	enum format format;
	const char *output;         /* -o; NULL for standard output */
	bool output_named;          /* -o was given, be it "-" */
	bool header, nonzero, flow; /* text formats */
	bool quiet, verbose;
};

#endif
