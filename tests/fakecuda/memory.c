/* SPDX-License-Identifier: MIT */
/*
 * memory: the device's memory, poisoned, between pages that cannot be accessed; and the host's
 * page-locked memory.
 *
 * An allocation ends less than 256 bytes before the end of a page: an access beyond the page raises
 * SIGSEGV, and a write into the rest of the page is found after the next kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

#define PAGE ((size_t)4096)
#define ALIGNMENT ((size_t)256)
#define POISON 0xdb
#define POISON_BYTES ((size_t)4 << 20) /* size of the file that poison is mapped from */

struct piece {
	unsigned char *map; /* whole pages */
	size_t mapped;
	unsigned char *at;
	size_t bytes;
	CUcontext context;
	struct piece *next;
};

struct range {
	const unsigned char *at;
	size_t bytes;
};

static struct piece *pieces;
static size_t allocated;
static struct range ranges[256];

void bytes_copy(void *to, const void *from, size_t bytes)
{
#ifdef __x86_64__
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
	volatile unsigned char *t = to;
	const unsigned char *f = from;

	for (size_t i = 0; i < bytes; i++)
		t[i] = f[i];
#endif
}

/* Map the same few pages repeatedly, so that poison takes no memory until it is overwritten. */
static int poison_file(void)
{
	static int fd = -1;
	unsigned char block[PAGE];

	if (fd >= 0)
		return fd;
	memset(block, POISON, sizeof(block));
	fd = memfd_create("poison", MFD_CLOEXEC);
	for (size_t done = 0; done < POISON_BYTES; done += sizeof(block))
		if (fd < 0 || write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			wrong("poison: %s", strerror(errno));
	return fd;
}

CUresult memory_make(CUcontext context, size_t bytes, CUdeviceptr *out)
{
	const size_t most =
		getenv("FAKECUDA_MEMORY") ? setting("FAKECUDA_MEMORY") : (size_t)8 << 30;
	const size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	const size_t body = (rounded + PAGE - 1) / PAGE * PAGE;
	struct piece *p = calloc(1, sizeof(*p));

	if (bytes == 0)
		wrong("no bytes of device memory were asked for");
	if (!p || bytes > most || allocated > most - bytes) {
		free(p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p->mapped = body + 2 * PAGE;
	p->map = mmap(NULL, p->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		      0);
	if (p->map == MAP_FAILED)
		wrong("device memory: %s", strerror(errno));
	for (size_t done = 0; done < body; done += POISON_BYTES) {
		const size_t part = body - done < POISON_BYTES ? body - done : POISON_BYTES;
		if (mmap(p->map + PAGE + done, part, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_FIXED, poison_file(), 0) == MAP_FAILED)
			wrong("device memory: %s", strerror(errno));
	}
	p->at = p->map + PAGE + body - rounded;
	p->bytes = bytes;
	p->context = context;
	p->next = pieces;
	pieces = p;
	allocated += bytes;
	note("+memory\n");
	*out = (CUdeviceptr)(uintptr_t)p->at;
	return CUDA_SUCCESS;
}

void memory_release(CUcontext context, CUdeviceptr at)
{
	struct piece **p = &pieces;

	while (*p && (uintptr_t)(*p)->at != at)
		p = &(*p)->next;
	struct piece *const gone = *p;
	if (!gone || gone->context != context)
		wrong("no such memory to free");
	*p = gone->next;
	allocated -= gone->bytes;
	munmap(gone->map, gone->mapped);
	free(gone);
	note("-memory\n");
}

static struct piece *piece_of(CUdeviceptr at)
{
	for (struct piece *p = pieces; p; p = p->next)
		if (at >= (uintptr_t)p->map && at < (uintptr_t)p->map + p->mapped)
			return p;
	return NULL;
}

void memory_must_hold(CUcontext context, CUdeviceptr at, size_t bytes, const char *what)
{
	const struct piece *p = piece_of(at);

	if (!p)
		wrong("%s: not device memory", what);
	if (p->context != context)
		wrong("%s: another device's memory", what);
	if (at < (uintptr_t)p->at || bytes > p->bytes - (at - (uintptr_t)p->at))
		wrong("%s: %zu bytes from byte %zd on, of %zu that were allocated", what, bytes,
		      (ssize_t)(at - (uintptr_t)p->at), p->bytes);
}

void memory_check_guards(const char *after)
{
	for (const struct piece *p = pieces; p; p = p->next) {
		for (const unsigned char *q = p->map + PAGE; q < p->at; q++)
			if (*q != POISON)
				wrong("%s: wrote %zu bytes in front of device memory", after,
				      (size_t)(p->at - q));
		for (const unsigned char *q = p->at + p->bytes; q < p->map + p->mapped - PAGE; q++)
			if (*q != POISON)
				wrong("%s: wrote %zu bytes behind device memory", after,
				      (size_t)(q - (p->at + p->bytes)));
	}
}

/* ---- the host's ---- */

static struct range *range_of(const void *p)
{
	const unsigned char *at = p;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (ranges[i].at && at >= ranges[i].at && at < ranges[i].at + ranges[i].bytes)
			return &ranges[i];
	return NULL;
}

CUresult host_add(void *at, size_t bytes)
{
	const unsigned char *p = at;
	struct range *free = NULL;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct range *r = &ranges[i];
		if (!r->at)
			free = r;
		else if (p < r->at + r->bytes && r->at < p + bytes)
			wrong("memory is page-locked twice");
	}
	if (!free)
		wrong("page-locked memory in more pieces than any lane needs");
	*free = (struct range){.at = at, .bytes = bytes};
	note("+host\n");
	return CUDA_SUCCESS;
}

void host_must_hold(const void *at, size_t bytes, const char *what)
{
	const struct range *r = range_of(at);

	if (!r || (const unsigned char *)at + bytes > r->at + r->bytes)
		wrong("%s memory that is not page-locked", what);
}
