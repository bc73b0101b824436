/* SPDX-License-Identifier: MIT */
/*
 * driver: a libcuda.so.1 without a GPU, found through LD_LIBRARY_PATH by the program that ships.
 *
 * The device has a thread that does queued work late (stream.c): a copy reads the host's memory
 * when it is done, not when it is queued. Device memory is separate and poisoned (memory.c). The
 * kernels are the shipped ones, compiled for the host (kernels.cpp). The device reports two
 * multiprocessors.
 *
 * The environment makes it fail:
 *   FAKECUDA_SEED=N                  draws the order of streams, threads and blocks
 *   FAKECUDA_FAIL=symbol:N[:error]   the Nth call of symbol (or of "any") fails, and all after it
 *   FAKECUDA_ONCE=symbol:N:error     only the Nth call fails
 *   FAKECUDA_STICKY=N:error          the Nth counting kernel kills the context when it runs:
 *                                    the next call, whatever it is, returns the error
 *   FAKECUDA_WRONG=N[:high]          the Nth counting kernel counts one sample too many; or, in
 *                                    64-bit counters, 2^32 too many
 *   FAKECUDA_HANG=N                  from the Nth chunk on no event is ever done
 *   FAKECUDA_KILL=symbol:N           the process is killed in the Nth call of symbol (or of "any")
 *   FAKECUDA_STOP=symbol:N           it is stopped there, by SIGSTOP
 *   FAKECUDA_HANG_CALL=symbol:N      this call never returns
 *   FAKECUDA_HOSTILE=symbol:N:what   there the process begins to send or write wrong data
 *                                    (hostile.c)
 *   FAKECUDA_MEMORY=BYTES            device memory (8 GiB)
 *   FAKECUDA_SHARED=BYTES            shared memory that a block may have (227 KiB, at most)
 *   FAKECUDA_DEVICES=N               devices (1); CUDA_VISIBLE_DEVICES hides some of them
 *   FAKECUDA_STRICT=1                a driver that has died must not be called again and again
 *   FAKECUDA_LOG=PATH                gets a line "met ..." for each fault that happened, "wrong:
 *                                    ..." before an abort, and "+kind" for each object made
 *
 * It reports an error and aborts if the program does something that a driver would punish, or
 * would let pass silently: copies and fills past an allocation, host memory that is not
 * page-locked, calls without a current context or with another device's handles. Like a driver, it
 * refuses more shared memory than a kernel was allowed. A kernel that accesses other memory dies
 * (memory.c).
 *
 * Objects may still be open at the end of the process: the program tears nothing down, by
 * design.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define DEVICES_MOST 16
#define MULTIPROCESSORS 2
#define ERROR_NOT_INITIALIZED 3
#define ERROR_INVALID_IMAGE 200
#define ERROR_NOT_FOUND 500
#define FATBIN_MAGIC 0xba55ed50u

struct CUmod_st {
	CUcontext context;
};

struct CUfunc_st {
	CUcontext context;
	struct kernel kernel;
	unsigned shared_most; /* dynamic */
	/* never freed: all stay reachable, or a sanitizer would report them */
	CUfunction next;
};

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static struct CUctx_st contexts[DEVICES_MOST];
static struct CUmod_st modules[DEVICES_MOST];
static CUfunction functions;
static _Thread_local CUcontext current;

/*
 * Return how many devices CUDA_VISIBLE_DEVICES shows, up to its first number without a device;
 * which[]: their numbers.
 */
static int visible_devices(int which[DEVICES_MOST])
{
	const int all = getenv("FAKECUDA_DEVICES") ? (int)setting("FAKECUDA_DEVICES") : 1;
	const char *p = getenv("CUDA_VISIBLE_DEVICES");
	int n = 0;

	if (!p) {
		for (; n < all && n < DEVICES_MOST; n++)
			which[n] = n;
		return n;
	}
	while (n < DEVICES_MOST) {
		char *end;
		const long number = strtol(p, &end, 10);
		if (end == p || number < 0 || number >= all)
			break;
		which[n++] = (int)number;
		if (*end != ',')
			break;
		p = end + 1;
	}
	return n;
}

static int device_count(void)
{
	int which[DEVICES_MOST];

	return visible_devices(which);
}

/* ---- entering a call ---- */

/* Take the lock; return a result other than CUDA_SUCCESS for the program. */
static CUresult enter(const char *symbol)
{
	pthread_mutex_lock(&fake_lock);
	return fate(symbol);
}

static CUresult leave(CUresult result)
{
	pthread_mutex_unlock(&fake_lock);
	return result;
}

/* The same for calls that work in the calling thread's context. */
static CUresult enter_context(const char *symbol)
{
	const CUresult r = enter(symbol);

	if (r == CUDA_SUCCESS && !current)
		wrong("%s without a current context", symbol);
	return r;
}

static void must_be_current(CUcontext context, const char *symbol)
{
	if (context != current)
		wrong("%s with another device's thing", symbol);
}

static void device_must_be(CUdevice device, const char *symbol)
{
	if (!initialised)
		wrong("%s before cuInit", symbol);
	if (device < 0 || device >= device_count() || device >= DEVICES_MOST)
		wrong("%s of device %d", symbol, device);
}

/* ---- devices ---- */

CUresult cuInit(unsigned flags)
{
	CUresult r = enter("cuInit");

	if (flags != 0)
		wrong("cuInit with flags");
	if (r == CUDA_SUCCESS)
		initialised = true;
	if (r == CUDA_SUCCESS && device_count() == 0)
		r = CUDA_ERROR_NO_DEVICE;
	return leave(r);
}

CUresult cuDeviceGetCount(int *n)
{
	CUresult r = enter("cuDeviceGetCount");

	if (r == CUDA_SUCCESS && !initialised)
		r = ERROR_NOT_INITIALIZED;
	if (r == CUDA_SUCCESS)
		*n = device_count();
	return leave(r);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	const CUresult r = enter("cuDeviceGet");

	if (r == CUDA_SUCCESS) {
		device_must_be(ordinal, "cuDeviceGet");
		*device = ordinal;
	}
	return leave(r);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	const CUresult r = enter("cuDeviceGetName");

	if (r == CUDA_SUCCESS) {
		int which[DEVICES_MOST];
		visible_devices(which);
		device_must_be(device, "cuDeviceGetName");
		snprintf(name, (size_t)length, "fake %d", which[device]);
	}
	return leave(r);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
	CUresult r = enter("cuDeviceGetAttribute");

	if (r != CUDA_SUCCESS)
		return leave(r);
	device_must_be(device, "cuDeviceGetAttribute");
	switch (attribute) {
	case CU_ATTRIBUTE_SM_COUNT:
		*value = MULTIPROCESSORS;
		break;
	case CU_ATTRIBUTE_SHARED_OPTIN:
		*value = getenv("FAKECUDA_SHARED") ? (int)setting("FAKECUDA_SHARED")
						   : (int)KERNEL_SHARED_MOST;
		break;
	default:
		r = CUDA_ERROR_INVALID_VALUE;
	}
	return leave(r);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	const CUresult r = enter("cuDevicePrimaryCtxRetain");

	if (r == CUDA_SUCCESS) {
		device_must_be(device, "cuDevicePrimaryCtxRetain");
		contexts[device] = (struct CUctx_st){.device = device, .retained = true};
		*context = &contexts[device];
	}
	return leave(r);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	const CUresult r = enter("cuCtxSetCurrent");

	if (r == CUDA_SUCCESS) {
		if (context && !context->retained)
			wrong("cuCtxSetCurrent with a context that was never retained");
		current = context;
	}
	return leave(r);
}

/* ---- kernels ---- */

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	CUresult r = enter_context("cuModuleLoadData");
	uint32_t magic;

	memcpy(&magic, image, sizeof(magic));
	if (r == CUDA_SUCCESS && magic != FATBIN_MAGIC)
		r = ERROR_INVALID_IMAGE;
	if (r == CUDA_SUCCESS) {
		*module = &modules[current->device];
		(*module)->context = current;
	}
	return leave(r);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	CUresult r = enter_context("cuModuleGetFunction");
	struct kernel kernel;

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(module->context, "cuModuleGetFunction");
	if (kernel_find(name, &kernel) != 0)
		return leave(ERROR_NOT_FOUND);
	CUfunction f = calloc(1, sizeof(*f));
	if (!f)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	*f = (struct CUfunc_st){.context = current,
				.kernel = kernel,
				.shared_most = KERNEL_SHARED_USUAL,
				.next = functions};
	functions = *function = f;
	return leave(r);
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
	CUresult r = enter_context("cuFuncSetAttribute");

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(function->context, "cuFuncSetAttribute");
	if (attribute != CU_FUNC_MAX_DYNAMIC_SHARED || value < 0 ||
	    (unsigned)value > KERNEL_SHARED_MOST)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		function->shared_most = (unsigned)value;
	return leave(r);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			CUstream stream, void **arguments, void **extra)
{
	const CUresult r = enter_context("cuLaunchKernel");
	struct kernel_range range[KERNEL_RANGES];

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(function->context, "cuLaunchKernel");
	must_be_current(stream->context, "cuLaunchKernel");
	if (grid_x == 0 || grid_y == 0 || grid_z != 1 || block_x == 0 ||
	    block_x > BLOCK_THREADS_MAX || block_y != 1 || block_z != 1 ||
	    shared > function->shared_most || extra)
		return leave(CUDA_ERROR_INVALID_VALUE);
	struct launch *l = calloc(1, sizeof(*l));
	if (!l)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	*l = (struct launch){.kernel = function->kernel,
			     .grid = grid_x,
			     .rows = grid_y,
			     .threads = block_x,
			     .shared = shared};
	kernel_arguments(l, arguments);
	if (!kernel_aligned(l))
		wrong("a kernel's samples are at an odd address");
	for (unsigned n = kernel_memory(l, range), i = 0; i < n; i++)
		memory_must_hold(current, range[i].at, range[i].bytes, "an argument of a kernel");
	stream_queue(stream, &(struct operation){.kind = KERNEL, .launch = l});
	return leave(r);
}

/* ---- memory ---- */

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
	CUresult r = enter_context("cuMemAlloc_v2");

	if (r == CUDA_SUCCESS)
		r = memory_make(current, bytes, pointer);
	return leave(r);
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
	const CUresult r = enter_context("cuMemFree_v2");

	if (r == CUDA_SUCCESS)
		memory_release(current, pointer);
	return leave(r);
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
	CUresult r = enter_context("cuMemHostRegister_v2");

	if (r == CUDA_SUCCESS && flags != 0)
		r = CUDA_ERROR_INVALID_VALUE;
	if (r == CUDA_SUCCESS)
		r = host_add(pointer, bytes);
	return leave(r);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	const CUresult r = enter_context("cuMemcpyHtoDAsync_v2");

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(stream->context, "cuMemcpyHtoDAsync_v2");
	memory_must_hold(current, to, bytes, "a copy to the device");
	host_must_hold(from, bytes, "a copy reads");
	stream_queue(stream,
		     &(struct operation){
			     .kind = COPY_IN, .to = to, .from = (uintptr_t)from, .bytes = bytes});
	return leave(r);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	const CUresult r = enter_context("cuMemcpyDtoHAsync_v2");

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(stream->context, "cuMemcpyDtoHAsync_v2");
	memory_must_hold(current, from, bytes, "a copy from the device");
	host_must_hold(to, bytes, "a copy writes");
	stream_queue(stream,
		     &(struct operation){
			     .kind = COPY_OUT, .to = (uintptr_t)to, .from = from, .bytes = bytes});
	return leave(r);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream)
{
	const CUresult r = enter_context("cuMemsetD32Async");

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(stream->context, "cuMemsetD32Async");
	memory_must_hold(current, to, 4 * words, "a fill");
	stream_queue(stream, &(struct operation){
				     .kind = FILL, .to = to, .bytes = 4 * words, .value = value});
	return leave(r);
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	const CUresult r = enter_context("cuStreamCreate");

	if (r != CUDA_SUCCESS)
		return leave(r);
	if (flags != CU_STREAM_NON_BLOCKING)
		wrong("a stream that waits for the others");
	CUstream s = calloc(1, sizeof(*s));
	if (!s)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	s->context = current;
	stream_add(s);
	note("+stream\n");
	*stream = s;
	return leave(r);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
	static CUevent kept[4096]; /* reachable, or a sanitizer would report a leak */
	static unsigned n;
	const CUresult r = enter_context("cuEventCreate");

	if (r != CUDA_SUCCESS)
		return leave(r);
	if (flags != CU_EVENT_DISABLE_TIMING || n == sizeof(kept) / sizeof(kept[0]))
		return leave(CUDA_ERROR_INVALID_VALUE);
	CUevent e = calloc(1, sizeof(*e));
	if (!e)
		return leave(CUDA_ERROR_OUT_OF_MEMORY);
	e->context = current;
	note("+event\n");
	*event = kept[n++] = e;
	return leave(r);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	static unsigned long recorded;
	const CUresult r = enter_context("cuEventRecord");
	const unsigned long hang = setting("FAKECUDA_HANG");

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(event->context, "cuEventRecord");
	must_be_current(stream->context, "cuEventRecord");
	if (event->recorded && !event->done && !event->hangs)
		wrong("an event is recorded again before it has fired");
	stream_queue(stream, &(struct operation){.kind = EVENT, .event = event});
	event->stream = stream;
	event->place = stream->taken + stream->queued;
	event->recorded = true;
	event->done = event->asked = false;
	event->hangs = hang > 0 && ++recorded >= hang;
	event->patience = draw(5);
	if (event->hangs)
		note("met hang\n");
	if (event->patience == 0) /* immediately */
		stream_release(event);
	return leave(r);
}

/* Wait for the event as it was last recorded; do not wait for one that was never recorded. */
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	const CUresult r = enter_context("cuStreamWaitEvent");

	if (r != CUDA_SUCCESS)
		return leave(r);
	must_be_current(event->context, "cuStreamWaitEvent");
	must_be_current(stream->context, "cuStreamWaitEvent");
	if (flags != 0)
		return leave(CUDA_ERROR_INVALID_VALUE);
	if (event->recorded && event->stream != stream)
		stream_queue(stream,
			     &(struct operation){.kind = WAIT,
						 .other = event->hangs ? NULL : event->stream,
						 .place = event->place});
	return leave(r);
}

/* A plan of failures counts only the first and the last of the many queries for one chunk. */
CUresult cuEventQuery(CUevent event)
{
	pthread_mutex_lock(&fake_lock);
	const bool counts = !event->asked || event->done || death() != CUDA_SUCCESS;
	const CUresult r = counts ? fate("cuEventQuery") : CUDA_SUCCESS;

	if (r != CUDA_SUCCESS)
		return leave(r);
	if (!current)
		wrong("cuEventQuery without a current context");
	must_be_current(event->context, "cuEventQuery");
	if (!event->recorded)
		wrong("cuEventQuery of an event that was never recorded");
	event->asked = true;
	if (event->done)
		return leave(CUDA_SUCCESS);
	if (event->patience > 0 && --event->patience == 0)
		stream_release(event);
	return leave(CUDA_ERROR_NOT_READY);
}

/* May be called after the driver has died: only its own plan makes it fail. */
CUresult cuGetErrorName(CUresult error, const char **name)
{
	static _Thread_local char text[32]; /* a real driver returns constants */
	const char *plan = getenv("FAKECUDA_NAMELESS");

	snprintf(text, sizeof(text), "FAKE_ERROR_%d", error);
	*name = plan ? NULL : text;
	return plan ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
