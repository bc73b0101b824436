/* SPDX-License-Identifier: MIT */
/*
 * fake: shared by the files of the simulated driver.
 *
 *   driver.c   the driver's functions: handles, contexts, what may be called when
 *   faults.c   which call fails, and the log of calls
 *   hostile.c  the messages and writes of a GPU process that has gone mad
 *   memory.c   device memory, page-locked host memory
 *   stream.c   the device: a thread that does the streams' work, late and in a random order
 *   kernels.cpp, block.c, shim.h   the shipped kernels on the host
 *
 * One lock, `fake_lock`, covers all state; the device releases it while it works.
 */
#ifndef FAKECUDA_FAKE_H
#define FAKECUDA_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_helper/cuda.h"
#include "block.h"
#include "kernels.h"

extern pthread_mutex_t fake_lock;

/* Report that the program did something forbidden, and abort. */
void wrong(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- faults ---- */

/* Return an environment variable as a number; 0: not set. */
unsigned long setting(const char *name);

/* Return a number below `below`, seeded by FAKECUDA_SEED; under lock. */
unsigned draw(unsigned below);
uint64_t *draw_state(void);

/* Return the error planned for this call of `symbol`, or CUDA_SUCCESS. */
CUresult fate(const char *symbol);

/* Make every call fail with this error from now on. */
void die(CUresult error, const char *why);
CUresult death(void);

/* Write a line to FAKECUDA_LOG. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Do the named thing, at once or from now on; hostile.c lists them. Under lock. */
void hostile_act(const char *what);

/* ---- memory ---- */

struct CUctx_st {
	int device;
	bool retained;
};

CUresult memory_make(CUcontext context, size_t bytes, CUdeviceptr *out);
void memory_release(CUcontext context, CUdeviceptr at);
/* Abort unless the whole piece lies in one allocation of this context. */
void memory_must_hold(CUcontext context, CUdeviceptr at, size_t bytes, const char *what);
void memory_check_guards(const char *after);

CUresult host_add(void *at, size_t bytes);
/* Abort unless the whole piece is page-locked. */
void host_must_hold(const void *at, size_t bytes, const char *what);

/* Copy device memory, unseen by any sanitizer. */
void bytes_copy(void *to, const void *from, size_t bytes);

/* ---- streams ---- */

enum operation_kind { COPY_IN, COPY_OUT, FILL, KERNEL, EVENT, WAIT };

struct operation {
	enum operation_kind kind;
	uint64_t to, from; /* a host address or a device pointer */
	size_t bytes;
	uint32_t value; /* FILL */
	CUevent event;
	/* WAIT: for the other stream to finish this many operations; NULL: for ever */
	CUstream other;
	uint64_t place;
	struct launch *launch; /* owned by the operation */
};

#define STREAM_OPERATIONS 1024u /* of a chunk for each slot of all lanes, and more */

struct CUstream_st {
	CUcontext context;
	struct operation queue[STREAM_OPERATIONS];
	unsigned first, queued;
	/* of all operations ever queued: how many are done, how many are allowed to be done */
	uint64_t taken, due;
	bool busy;     /* the device is doing the first operation of the queue */
	CUstream next; /* all streams */
};

struct CUevent_st {
	bool recorded, asked, done, hangs;
	CUcontext context;
	CUstream stream;
	uint64_t place;    /* number of operations of its stream up to it */
	unsigned patience; /* queries answered "not ready" before its work may start */
};

/* Add an operation for the device's thread. All functions here are called under lock. */
void stream_add(CUstream stream);
void stream_queue(CUstream stream, const struct operation *operation);
/* Let the device do the work before an event. */
void stream_release(CUevent event);

#endif
