/* SPDX-License-Identifier: MIT */
/* cuda: libcuda.so.1, opened by its soname, symbol by symbol. */
#include "driver/cuda.h"

#include <dlfcn.h>
#include <string.h>

int cuda_load(struct cuda *cuda, const char **why)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		*why = "libcuda.so.1 is not there";
		return -1;
	}
	/*
	 * The library is never closed: once the driver has threads of its own it cannot be
	 * unloaded. POSIX returns symbols as object pointers; memcpy is the conversion to functions
	 * that C allows.
	 */
#define CUDA_FIND(name, symbol, arguments)                   \
	{                                                    \
		void *found = dlsym(library, symbol);        \
		if (!found) {                                \
			*why = "too old: it has no " symbol; \
			return -1;                           \
		}                                            \
		memcpy(&cuda->name, &found, sizeof(found));  \
	}
	CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
	return 0;
}

const char *cuda_error(const struct cuda *cuda, CUresult error)
{
	const char *name = NULL;

	if (cuda->error_name(error, &name) != CUDA_SUCCESS || !name)
		return "an error without a name";
	return name;
}
