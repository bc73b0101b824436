/* SPDX-License-Identifier: MIT */
/* course_ours: see course_ours.h; the same steps as in kernels.c, without anything else. */
#include "course_ours.h"

#include <stdio.h>

#include "driver/cuda.h"
#include "driver/kernel.h"

static_assert(OURS_EXTRA == CELL_EXTRA, "the counters after the bins' own");

static struct cuda cuda;
static CUdevice device;
static CUmodule module;
static struct kernel_plan plan;

static const char *failed(const char *what, CUresult r)
{
	static char text[160];

	if (r == CUDA_SUCCESS)
		return NULL;
	snprintf(text, sizeof(text), "the program's kernel: %s: %s", what, cuda_error(&cuda, r));
	return text;
}

const char *ours_open(void)
{
	const char *why;
	CUcontext context;
	CUresult r;

	if (!kernel_image)
		return "gpuhist was built without nvcc";
	if (cuda_load(&cuda, &why) != 0)
		return why;
	if ((r = cuda.init(0)) != CUDA_SUCCESS)
		return failed("driver", r);
	if ((r = cuda.device_get(&device, 0)) != CUDA_SUCCESS)
		return failed("device", r);
	if ((r = cuda.context_retain(&context, device)) != CUDA_SUCCESS)
		return failed("context", r);
	if ((r = cuda.context_set(context)) != CUDA_SUCCESS)
		return failed("context", r);
	return failed("kernels", cuda.module_load(&module, kernel_image));
}

const char *ours_choose(uint32_t bins, uint64_t samples)
{
	struct edges_spec spec = {.bins = bins, .kind = AXIS_VALUES};
	const struct kernel_device on = {&cuda, device, module, (size_t)samples * 4, false};
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	const char *why = NULL, *what = "plan";
	CUresult r;

	sample_type_parse(&type, "u32");
	if (edges_init(&edges, &spec, &type, &why) != 0)
		return why;
	counting_init(&counting, &type, &edges, false);
	plan = (struct kernel_plan){0};
	r = kernel_plan_init(&plan, &counting, &on, &what);
	edges_free(&edges);
	return failed(what, r);
}

const char *ours_count(const uint32_t *data, uint64_t n, uint32_t *counts, void *stream)
{
	const struct kernel_chunk chunk = {.stream = stream,
					   .data = (CUdeviceptr)(uintptr_t)data,
					   .cells = (CUdeviceptr)(uintptr_t)counts};

	return failed("launch", kernel_launch(&plan, &cuda, &chunk, (size_t)n, NULL));
}

const char *ours_name(void)
{
	return plan.name;
}
