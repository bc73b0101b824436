/* SPDX-License-Identifier: MIT */
/* cuda: opens libcuda.so.1 and looks its functions up. */
#include "gpu_helper/cuda.h"

#include <dlfcn.h>
#include <string.h>

#include "gpu_helper/gpu_image.h"

#define LIBRARY "libcuda.so.1"

static void *open_library(void)
{
	return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

bool cuda_found(void)
{
	return open_library() != NULL;
}

/*
 * The library is never closed: the driver cannot be unloaded once it has started threads. dlsym
 * returns object pointers, which ISO C converts to function pointers only by memcpy.
 */
static void load(struct cuda *cuda)
{
	void *library = open_library();

	if (!library)
		cuda->fail("no NVIDIA driver found", LIBRARY);
#define CUDA_FIND(name, symbol, arguments)                                          \
	{                                                                           \
		void *found = dlsym(library, symbol);                               \
		if (!found)                                                         \
			cuda->fail("driver", "too old, because it has no " symbol); \
		memcpy(&cuda->name, &found, sizeof(found));                         \
	}
	CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
}

void cuda_must(const struct cuda *cuda, CUresult result, const char *what)
{
	const char *name = NULL;

	if (result == CUDA_SUCCESS)
		return;
	if (cuda->error_name(result, &name) != CUDA_SUCCESS || !name)
		name = "unknown error";
	cuda->fail(what, name);
}

void cuda_open(struct cuda *cuda)
{
	CUcontext context;
	int count = 0;

	load(cuda);
	cuda_must(cuda, cuda->init(0), "driver");
	cuda_must(cuda, cuda->device_count(&count), "driver");
	if (count < 1)
		cuda->fail("driver", "no such device");
	cuda_must(cuda, cuda->device_get(&cuda->device, 0), "device");
	cuda_must(cuda, cuda->context_retain(&context, cuda->device), "context");
	cuda_must(cuda, cuda->context_set(context), "context");
	cuda_must(cuda, cuda->module_load(&cuda->module, kernel_image), "kernels");
}

CUfunction cuda_function(const struct cuda *cuda, const char *name)
{
	CUfunction function;

	cuda_must(cuda, cuda->module_function(&function, cuda->module, name), "kernels");
	return function;
}
