/*
 * fakecuda: a libcuda.so.1 without a GPU, found through LD_LIBRARY_PATH by the program that
 * ships. Work is queued and done late: a copy reads the host buffer when its event is asked
 * for, after a random number of answers "not ready", so a slot that is reused too early shows.
 * Device memory is separate and poisoned. A kernel is its C twin: samples are read by the
 * rule that the kernel was given and binned by src/binning.h; how counters are kept on a GPU is
 * not imitated (gpu_check does that on a real one).
 *
 *   FAKECUDA_FAIL=symbol:N[:error]   the Nth call of symbol fails, and every call after it
 *   FAKECUDA_ONCE=symbol:N:error     the Nth call fails, the others do not
 *   FAKECUDA_WRONG=N                 the Nth kernel counts one sample too many
 *   FAKECUDA_HANG=N                  from the Nth chunk on no event ever fires
 *   FAKECUDA_MEMORY=BYTES            device memory
 *   FAKECUDA_DEVICES=N               devices (1)
 *   FAKECUDA_TRUNCATE=N:BYTES:PATH   the file shrinks to BYTES before the Nth copy to the device
 *
 * Host memory must be registered while a copy from it is queued. Pages of a file that was cut
 * are read as zeros, as a device reads what was locked; the program would get a SIGBUS.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../kernels/rule.h"
#include "../src/cuda.h"

enum { COPY_IN, COPY_OUT, FILL, KERNEL };

struct operation {
	int kind;
	void *to;
	const void *from;
	size_t bytes;
	uint32_t value;
	struct rule rule;
	char name[32];
};

struct CUstream_st {
	struct operation queue[16];
	unsigned queued;
	struct operation split; /* what count_parts_of_all will count */
};

struct CUevent_st {
	struct CUstream_st *stream;
	unsigned patience; /* answers "not ready" before the work is done */
	int hangs;
};

struct CUfunc_st {
	char name[32];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned kernels, events;
static size_t allocated;
static uint64_t state = 88172645463325252u;

static unsigned long setting(const char *name)
{
	const char *text = getenv(name);
	return text ? strtoul(text, NULL, 10) : 0;
}

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % below;
}

/* The error that this call has to return; under lock. */
static CUresult fate(const char *symbol)
{
	static unsigned calls[2];
	static CUresult dead;
	static const char *const NAMES[] = {"FAKECUDA_FAIL", "FAKECUDA_ONCE"};

	for (int i = 0; i < 2; i++) {
		const char *plan = getenv(NAMES[i]);
		const size_t length = strlen(symbol);
		if (!plan || strncmp(plan, symbol, length) != 0 || plan[length] != ':')
			continue;
		char *end;
		const unsigned long n = strtoul(plan + length + 1, &end, 10);
		const CUresult error = *end == ':' ? atoi(end + 1) : 999;
		if (++calls[i] != n)
			continue;
		if (i == 1)
			return error;
		dead = error;
	}
	if (dead && getenv("FAKECUDA_STRICT")) { /* nobody may call a driver that has died */
		static unsigned after;
		if (after++ > 64) {
			fprintf(stderr, "fakecuda: called again after a fatal error\n");
			abort();
		}
	}
	return dead;
}

#define ENTER(symbol)                                                                            \
	pthread_mutex_lock(&lock);                                                                \
	CUresult result = fate(symbol);                                                           \
	if (result == CUDA_SUCCESS) {
#define LEAVE                                                                                    \
	}                                                                                         \
	pthread_mutex_unlock(&lock);                                                              \
	return result;

/* ---- kernels ---- */

static uint32_t byte_perm(uint32_t low, uint32_t high, uint32_t select)
{
	const uint64_t both = (uint64_t)high << 32 | low;
	uint32_t out = 0;

	for (unsigned k = 0; k < 4; k++)
		out |= (uint32_t)(both >> 8 * (select >> 4 * k & 7) & 255) << 8 * k;
	return out;
}

static uint32_t cell_of(const struct operation *op, const unsigned char *p, unsigned size)
{
	const struct rule *r = &op->rule;
	const struct binning *b = &r->bins;
	const int real = strstr(op->name, "linear") || strstr(op->name, "real");
	uint32_t w[2] = {0, 0};

	for (unsigned k = 0; k < size; k++)
		w[k / 4] |= (uint32_t)p[k] << 8 * (k % 4);
	if (size <= 2)
		return w[0];
	if (size == 8) {
		const uint32_t low = byte_perm(w[0], w[1], r->perm[0]) ^ (real ? 0 : r->flip[0]);
		const uint32_t high = byte_perm(w[0], w[1], r->perm[1]) ^ (real ? 0 : r->flip[1]);
		const uint64_t key = (uint64_t)high << 32 | low;
		double x;
		memcpy(&x, &key, 8);
		return real ? bin_float(b, b->kind, x) : bin_key64(b, b->kind, key);
	}
	uint32_t key = byte_perm(w[0], w[1], r->perm[0]);
	if (size == 3)
		key >>= 8;
	if (real) {
		float x;
		memcpy(&x, &key, 4);
		return bin_float(b, b->kind, (double)x);
	}
	return bin_key32(b, b->kind, key ^ r->flip[0]);
}

static void count(const struct operation *op)
{
	const unsigned size = (unsigned)atoi(strchr(op->name, '_') + 1);
	const unsigned char *p = op->from;
	uint32_t *cells = op->to;

	for (size_t i = 0; i < op->bytes; i++) /* bytes: samples, here */
		cells[cell_of(op, p + i * size, size)]++;
	if (++kernels == setting("FAKECUDA_WRONG"))
		cells[0]++;
}

/* Page-locked ranges of the program's memory. */
static struct range {
	const unsigned char *at;
	size_t bytes;
} ranges[256];

static struct range *range_of(const void *p, size_t bytes)
{
	const unsigned char *at = p;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (ranges[i].at && at >= ranges[i].at && at + bytes <= ranges[i].at + ranges[i].bytes)
			return &ranges[i];
	return NULL;
}

static void must_be_locked(const void *p, size_t bytes, const char *what)
{
	if (range_of(p, bytes))
		return;
	fprintf(stderr, "fakecuda: %s memory that is not page-locked\n", what);
	abort();
}

static void truncate_when_due(void)
{
	static unsigned long copies;
	const char *plan = getenv("FAKECUDA_TRUNCATE");
	char *end;

	if (!plan || ++copies != strtoul(plan, &end, 10))
		return;
	const long long bytes = strtoll(end + 1, &end, 10);
	if (truncate(end + 1, bytes) != 0) {
		perror("fakecuda: truncate");
		abort();
	}
}

/* A copy to the device, done by the kernel: it says so where a page is gone. */
static void copy_in(void *to, const void *from, size_t bytes)
{
	truncate_when_due();
	must_be_locked(from, bytes, "a copy reads");
	for (size_t done = 0; done < bytes;) {
		struct iovec here = {.iov_base = (char *)to + done, .iov_len = bytes - done};
		struct iovec there = {.iov_base = (char *)(uintptr_t)from + done, .iov_len = bytes - done};
		ssize_t n = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
		if (n <= 0) { /* zeros to the end of the page */
			const size_t page = 4096 - (uintptr_t)there.iov_base % 4096;
			n = (ssize_t)(page < bytes - done ? page : bytes - done);
			memset(here.iov_base, 0, (size_t)n);
		}
		done += (size_t)n;
	}
}

static void execute(struct CUstream_st *s)
{
	for (unsigned i = 0; i < s->queued; i++) {
		const struct operation *op = &s->queue[i];
		if (op->kind == COPY_IN)
			copy_in(op->to, op->from, op->bytes);
		else if (op->kind == COPY_OUT)
			memcpy(op->to, op->from, op->bytes);
		else if (op->kind == FILL)
			for (size_t k = 0; k < op->bytes; k++)
				((uint32_t *)op->to)[k] = op->value;
		else
			count(op);
	}
	s->queued = 0;
}

static CUresult queue(struct CUstream_st *s, struct operation op)
{
	if (s->queued == sizeof(s->queue) / sizeof(s->queue[0])) {
		fprintf(stderr, "fakecuda: a stream was given more than one chunk\n");
		abort();
	}
	s->queue[s->queued++] = op;
	return CUDA_SUCCESS;
}

/* ---- the driver's functions, as cuda.h has them ---- */

CUresult cuInit(unsigned flags)
{
	ENTER("cuInit")
	(void)flags;
	LEAVE
}

CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n)
{
	ENTER("cuDeviceGetCount")
	*n = getenv("FAKECUDA_DEVICES") ? (int)setting("FAKECUDA_DEVICES") : 1;
	LEAVE
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER("cuDeviceGet")
	*device = ordinal;
	LEAVE
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	snprintf(name, (size_t)length, "fake %d", device);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
	ENTER("cuDeviceGetAttribute")
	(void)device;
	*value = attribute == CU_ATTRIBUTE_SM_COUNT ? 8 : attribute == CU_ATTRIBUTE_READ_ONLY_REGISTER ? 1 : 232448;
	LEAVE
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	ENTER("cuDevicePrimaryCtxRetain")
	(void)device;
	*context = (CUcontext)(void *)&lock;
	LEAVE
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	ENTER("cuCtxSetCurrent")
	(void)context;
	LEAVE
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	ENTER("cuModuleLoadData")
	(void)image;
	*module = (CUmodule)(void *)&lock;
	LEAVE
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	ENTER("cuModuleGetFunction")
	(void)module;
	*function = calloc(1, sizeof(**function));
	snprintf((*function)->name, sizeof((*function)->name), "%s", name);
	LEAVE
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
	ENTER("cuFuncSetAttribute")
	(void)function, (void)attribute, (void)value;
	LEAVE
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared)
{
	ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor")
	(void)function, (void)threads, (void)shared;
	*blocks = 1;
	LEAVE
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
	ENTER("cuMemAlloc_v2")
	const size_t most = getenv("FAKECUDA_MEMORY") ? setting("FAKECUDA_MEMORY") : (size_t)4 << 30;
	if (allocated + bytes > most) {
		result = CUDA_ERROR_OUT_OF_MEMORY;
	} else {
		size_t *p = malloc(bytes + 64);
		memset(p, 0xdb, bytes + 64);
		*p = bytes;
		allocated += bytes;
		*pointer = (CUdeviceptr)(uintptr_t)p + 64;
	}
	LEAVE
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
	ENTER("cuMemFree_v2")
	size_t *p = (size_t *)(uintptr_t)(pointer - 64);
	allocated -= *p;
	memset(p, 0xdd, *p + 64);
	free(p);
	LEAVE
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
	ENTER("cuMemHostRegister_v2")
	struct range *free = NULL;
	(void)flags;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && !free; i++)
		if (!ranges[i].at)
			free = &ranges[i];
	if (!free || range_of(pointer, 1))
		result = CUDA_ERROR_ALREADY_REGISTERED;
	else
		*free = (struct range){.at = pointer, .bytes = bytes};
	LEAVE
}

CUresult cuMemHostUnregister(void *pointer)
{
	ENTER("cuMemHostUnregister")
	struct range *r = range_of(pointer, 1);
	if (!r || r->at != pointer)
		result = CUDA_ERROR_INVALID_VALUE;
	else
		r->at = NULL;
	LEAVE
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	ENTER("cuStreamCreate")
	(void)flags;
	*stream = calloc(1, sizeof(**stream));
	LEAVE
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	ENTER("cuStreamDestroy_v2")
	free(stream);
	LEAVE
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
	ENTER("cuEventCreate")
	(void)flags;
	*event = calloc(1, sizeof(**event));
	LEAVE
}

CUresult cuEventDestroy_v2(CUevent event)
{
	ENTER("cuEventDestroy_v2")
	free(event);
	LEAVE
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	ENTER("cuEventRecord")
	const unsigned long hang = setting("FAKECUDA_HANG");
	event->stream = stream;
	event->patience = draw(4);
	event->hangs = hang > 0 && ++events >= hang;
	LEAVE
}

CUresult cuEventQuery(CUevent event)
{
	ENTER("cuEventQuery")
	if (event->hangs || event->patience > 0) {
		event->patience -= event->patience > 0;
		result = CUDA_ERROR_NOT_READY;
	} else {
		execute(event->stream);
	}
	LEAVE
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	ENTER("cuMemcpyHtoDAsync_v2")
	result = queue(stream, (struct operation){.kind = COPY_IN, .to = (void *)(uintptr_t)to, .from = from, .bytes = bytes});
	LEAVE
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	ENTER("cuMemcpyDtoHAsync_v2")
	result = queue(stream, (struct operation){.kind = COPY_OUT, .to = to, .from = (void *)(uintptr_t)from, .bytes = bytes});
	LEAVE
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream)
{
	ENTER("cuMemsetD32Async")
	result = queue(stream, (struct operation){.kind = FILL, .to = (void *)(uintptr_t)to, .bytes = words, .value = value});
	LEAVE
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			CUstream stream, void **arguments, void **extra)
{
	ENTER("cuLaunchKernel")
	struct operation op = {.kind = KERNEL};
	(void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)shared, (void)extra;
	if (strcmp(function->name, "count_parts_of_all") == 0) {
		op = stream->split;
		op.to = *(void **)arguments[3];
		result = queue(stream, op);
	} else if (strcmp(function->name, "plan_parts") != 0) {
		uint64_t samples;
		snprintf(op.name, sizeof(op.name), "%s", function->name);
		op.from = *(void **)arguments[0];
		memcpy(&samples, arguments[1], sizeof(samples));
		op.bytes = samples;
		memcpy(&op.rule, arguments[2], sizeof(op.rule));
		if (strncmp(op.name, "split", 5) == 0) {
			stream->split = op;
		} else {
			op.to = *(void **)arguments[3];
			result = queue(stream, op);
		}
	}
	LEAVE
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	static _Thread_local char text[32]; /* a real driver's are constants */
	snprintf(text, sizeof(text), "FAKE_ERROR_%d", error);
	*name = text;
	return CUDA_SUCCESS;
}
