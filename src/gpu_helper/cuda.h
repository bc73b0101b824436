/* SPDX-License-Identifier: MIT */
/*
 * cuda: the CUDA driver, loaded at run time into a struct of typed pointers; the only file that
 * declares its functions. Neither the build nor the program needs the toolkit for it.
 */
#ifndef GPUHIST_CUDA_H
#define GPUHIST_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver's types and constants that we use. */
typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_NOT_READY = 600,
	CU_STREAM_NON_BLOCKING = 1,
	CU_EVENT_DISABLE_TIMING = 2,
	CU_ATTRIBUTE_SM_COUNT = 16,
	CU_ATTRIBUTE_SHARED_OPTIN = 97, /* most shared memory of a block */
	CU_FUNC_MAX_DYNAMIC_SHARED = 8,
};

/* name in struct cuda, symbol in the library, arguments */
#define CUDA_FUNCTIONS(X)                                                                          \
	X(init, "cuInit", (unsigned flags))                                                        \
	X(device_count, "cuDeviceGetCount", (int *count))                                          \
	X(device_get, "cuDeviceGet", (CUdevice * device, int ordinal))                             \
	X(device_name, "cuDeviceGetName", (char *name, int length, CUdevice device))               \
	X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device))  \
	X(context_retain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))      \
	X(context_set, "cuCtxSetCurrent", (CUcontext context))                                     \
	X(module_load, "cuModuleLoadData", (CUmodule * module, const void *image))                 \
	X(module_function, "cuModuleGetFunction",                                                  \
	  (CUfunction * function, CUmodule module, const char *name))                              \
	X(function_set, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))     \
	X(memory_alloc, "cuMemAlloc_v2", (CUdeviceptr * pointer, size_t bytes))                    \
	X(memory_free, "cuMemFree_v2", (CUdeviceptr pointer))                                      \
	X(host_register, "cuMemHostRegister_v2", (void *pointer, size_t bytes, unsigned flags))    \
	X(stream_create, "cuStreamCreate", (CUstream * stream, unsigned flags))                    \
	X(stream_wait, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags))      \
	X(event_create, "cuEventCreate", (CUevent * event, unsigned flags))                        \
	X(event_record, "cuEventRecord", (CUevent event, CUstream stream))                         \
	X(event_query, "cuEventQuery", (CUevent event))                                            \
	X(to_device, "cuMemcpyHtoDAsync_v2",                                                       \
	  (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                       \
	X(to_host, "cuMemcpyDtoHAsync_v2",                                                         \
	  (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                             \
	X(fill32, "cuMemsetD32Async",                                                              \
	  (CUdeviceptr to, unsigned value, size_t words, CUstream stream))                         \
	X(launch, "cuLaunchKernel",                                                                \
	  (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                 \
	   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, \
	   void **arguments, void **extra))                                                        \
	X(error_name, "cuGetErrorName", (CUresult error, const char **name))

#define CUDA_MEMBER(name, symbol, arguments) CUresult(*name) arguments;
struct cuda {
	CUDA_FUNCTIONS(CUDA_MEMBER)
	/* Called on any error. Must not return: the driver is never called again after one. */
	void (*fail)(const char *what, const char *why);
	CUdevice device; /* the device in use: the first */
	CUmodule module; /* the kernels */
};
#undef CUDA_MEMBER

/* Does this machine have a driver? Load the library without initialising it. */
bool cuda_found(void);

/*
 * Open the library, make a context on the first device current in this thread, and load the
 * kernels. Set every field but `fail`, which the caller sets.
 */
void cuda_open(struct cuda *cuda);

/* Call fail with the error's name, unless the result is CUDA_SUCCESS. */
void cuda_must(const struct cuda *cuda, CUresult result, const char *what);

/* Return the kernel with this name. */
CUfunction cuda_function(const struct cuda *cuda, const char *name);

#endif
