/* SPDX-License-Identifier: MIT */
/* pump: orders in, answers out. */
#include "driver/pump.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define PAGE ((size_t)4096)
/*
 * How long an order may take. The slowest kernel counts 64 MiB in milliseconds and a shared
 * GPU may be busy with another program's for seconds; what lasts longer than this hangs.
 */
#define WATCHDOG_SECONDS 20.0
/* Between two looks: a quarter of what 4 MiB take on PCIe 5 x16; of a window, 32. */
#define NAP_NS 20000
#define WINDOW_NAP_NS 150000
/* Without work: the doorbell ends it, and this bounds what a lost ring would cost. */
#define SLEEP_SECONDS 0.25

/* What is queued on a stream, in its order: only the first of it can be done next. */
struct queue {
	unsigned slot[REGION_SLOTS];
	unsigned first, count;
	double since; /* the first was looked at, and not done */
};

struct pump {
	struct device *device;
	struct queue queue[DEVICE_STREAMS];
	unsigned next; /* stream */
	bool at_work[REGION_SLOTS];
	struct window window[REGION_SLOTS]; /* that was received for a slot ... */
	int window_fd[REGION_SLOTS];        /* ... and its file; -1: none */
};

static void queue_add(struct queue *q, unsigned k)
{
	q->slot[(q->first + q->count++) % REGION_SLOTS] = k;
}

static unsigned queue_take(struct queue *q)
{
	const unsigned k = q->slot[q->first];

	q->first = (q->first + 1) % REGION_SLOTS;
	q->count--;
	q->since = 0;
	return k;
}

/* ---- windows ---- */

/* What a driver says that cannot page-lock this; anything else is the end of it. */
static bool refused(CUresult r)
{
	return r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_OUT_OF_MEMORY || r == CUDA_ERROR_ALREADY_REGISTERED ||
	       r == CUDA_ERROR_NOT_PERMITTED || r == CUDA_ERROR_NOT_SUPPORTED || r == CUDA_ERROR_OPERATING_SYSTEM;
}

/* The next window that the program sent, to the slot that it is for. False: none came. */
static bool receive_window(struct pump *p)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct window w = {.slot = REGION_SLOTS};
	struct iovec io = {.iov_base = &w, .iov_len = sizeof(w)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

	const ssize_t got = recvmsg(HELPER_SOCKET, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (got <= 0)
		return false;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	/* One that is lost would leave the slot with the file of an earlier chunk, or of a later one. */
	if (got != (ssize_t)sizeof(w) || !c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    w.slot >= p->device->slots || p->window_fd[w.slot] >= 0)
		p->device->fail(p->device->arg, "driver", "its process was handed no file: it may have no more open");
	memcpy(&p->window_fd[w.slot], CMSG_DATA(c), sizeof(int));
	p->window[w.slot] = w;
	return true;
}

/*
 * The mapping is never read by us: the driver fetches and locks the pages, the device reads
 * them, so that a file which is cut meanwhile raises no SIGBUS. MAP_POPULATE made it slower. NULL: refused.
 */
static const unsigned char *map_window(struct pump *all, unsigned k)
{
	struct device *d = all->device;
	struct device_slot *s = &d->slot[k];

	while (all->window_fd[k] < 0)
		if (!receive_window(all))
			return NULL;
	const int fd = all->window_fd[k];
	const struct window w = all->window[k];
	all->window_fd[k] = -1;
	const size_t lead = (size_t)(w.offset % PAGE);
	const size_t length = (lead + w.bytes + PAGE - 1) / PAGE * PAGE;
	unsigned char *p = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)(w.offset - lead));
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	const CUresult r = d->cuda.host_register(p, length, CU_MEMHOSTREGISTER_READ_ONLY);
	if (r != CUDA_SUCCESS) {
		munmap(p, length);
		if (!refused(r))
			device_must(d, r, "page-locking a file");
		return NULL;
	}
	s->window = p;
	s->window_bytes = length;
	return p + lead;
}

static void unmap_window(struct device *d, struct device_slot *s)
{
	device_must(d, d->cuda.host_unregister(s->window), "releasing a file");
	munmap(s->window, s->window_bytes);
	s->window = NULL;
}

/* ---- orders ---- */

/* Clear, count, fetch, event: what follows the chunk's copy, and is done again where it was counted in vain. */
static void queue_count(struct device *d, unsigned k)
{
	struct device_slot *s = &d->slot[k];
	const struct kernel_chunk *c = &s->chunk;
	const struct kernel_plan *plan = &d->plan;
	const size_t words = kernel_out_words(plan);
	CUresult (*const launch)(const struct kernel_plan *, const struct cuda *, const struct kernel_chunk *, size_t,
				 const struct binning *) = s->again ? kernel_launch_again : kernel_launch;
	struct binning bins = d->counting.binning;

	if (plan->extent)
		auto_rule(&bins, &d->counting.type, d->counting.binning.bins, s->k);
	/* The extent behind the counters was found the first time. */
	if (!d->layout.stays)
		device_must(d, d->cuda.fill32(c->cells, 0, s->again ? plan->cells : words, c->stream), "clear");
	device_must(d, launch(plan, &d->cuda, c, s->samples, plan->extent ? &bins : NULL), "kernel");
	if (!d->layout.stays)
		device_must(d, d->cuda.to_host(slot_cells(d, k), c->cells, words * sizeof(uint32_t), c->stream),
			    "copy from the GPU");
}

static void queue_sums(struct device *d, unsigned k, CUstream stream)
{
	const uint32_t pieces = device_pieces(d);
	uint64_t cells = d->plan.cells;
	uint32_t piece = d->layout.piece;
	void *arguments[] = {&d->counters, &cells, &piece, &d->sums};

	device_must(d, d->cuda.launch(d->sum_pieces, pieces, 1, 1, 1024, 1, 1, 0, stream, arguments, NULL), "kernel");
	device_must(d, d->cuda.to_host(slot_data(d, k), d->sums, pieces * sizeof(uint64_t), stream),
		    "copy from the GPU");
}

static void queue_piece(struct device *d, unsigned k, uint32_t which, CUstream stream)
{
	const uint32_t from = which * d->layout.piece;
	const uint32_t left = d->plan.cells - from;
	const size_t words = left < d->layout.piece ? left : d->layout.piece;

	device_must(d,
		    d->cuda.to_host(slot_data(d, k), d->counters + from * sizeof(uint32_t), words * sizeof(uint32_t),
				    stream),
		    "copy from the GPU");
}

/* False: its window was refused. */
static bool queue_chunk(struct pump *p, unsigned k, const struct shared_slot *shared)
{
	struct device *d = p->device;
	struct device_slot *s = &d->slot[k];
	const unsigned char *from = slot_data(d, k);

	s->bytes = shared->bytes;
	s->samples = shared->samples;
	s->k = shared->k;
	s->all = shared->extent;
	s->again = false;
	if (s->order == ORDER_WINDOW && !(from = map_window(p, k)))
		return false;
	device_must(d, d->cuda.to_device(s->chunk.data, from, s->bytes, s->chunk.stream), "copy to the GPU");
	queue_count(d, k);
	return true;
}

static void begin(struct pump *p, unsigned k)
{
	struct device *d = p->device;
	struct shared_slot *shared = &d->region->slot[k];
	struct device_slot *s = &d->slot[k];
	const unsigned nth = p->next;

	p->next = (nth + 1) % DEVICE_STREAMS;
	s->chunk.stream = d->stream[nth];
	s->order = shared->order;
	switch (s->order) {
	case ORDER_SUMS:
		queue_sums(d, k, s->chunk.stream);
		break;
	case ORDER_PIECE:
		queue_piece(d, k, shared->piece, s->chunk.stream);
		break;
	case ORDER_CLEAR:
		device_must(d, d->cuda.fill32(d->counters, 0, d->plan.cells, s->chunk.stream), "clear");
		break;
	default:
		if (!queue_chunk(p, k, shared)) {
			slot_answer(shared, SHARED_REFUSED);
			return;
		}
	}
	device_must(d, d->cuda.event_record(s->done, s->chunk.stream), "event");
	p->at_work[k] = true;
	queue_add(&p->queue[nth], k);
}

/*
 * A chunk of --auto was counted at a k that was known before it was read. Do its samples span few enough bins at
 * that? Else it is counted again, at the k of all samples of the lane and its own, and that will do.
 */
static bool settled(struct device *d, unsigned k)
{
	struct device_slot *s = &d->slot[k];
	struct shared_slot *shared = &d->region->slot[k];

	shared->extent = kernel_extent(&d->plan, slot_cells(d, k));
	if (s->again || auto_k(&shared->extent, d->counting.most, &d->counting.type) <= s->k) {
		shared->k = s->k;
		return true;
	}
	extent_add(&s->all, &shared->extent);
	s->k = auto_k(&s->all, d->counting.most, &d->counting.type);
	s->again = true;
	queue_count(d, k);
	device_must(d, d->cuda.event_record(s->done, s->chunk.stream), "event");
	return false;
}

/* Answers the first order of a stream if it is done. */
static bool reap(struct pump *p, unsigned stream)
{
	struct device *d = p->device;
	struct queue *q = &p->queue[stream];

	if (q->count == 0)
		return false;
	const unsigned k = q->slot[q->first];
	struct device_slot *s = &d->slot[k];
	const CUresult r = d->cuda.event_query(s->done);
	if (r == CUDA_ERROR_NOT_READY) {
		const double now = clock_seconds();
		if (q->since == 0)
			q->since = now;
		/* Asked once more: it may be the process that stood still. */
		if (now - q->since > WATCHDOG_SECONDS && d->cuda.event_query(s->done) == CUDA_ERROR_NOT_READY)
			d->fail(d->arg, "watchdog", "a chunk was not counted in time");
		return false;
	}
	device_must(d, r, "counting");
	queue_take(q);
	if ((s->order == ORDER_COUNT || s->order == ORDER_WINDOW) && d->plan.extent && !settled(d, k)) {
		queue_add(q, k);
		return true;
	}
	if (s->window)
		unmap_window(d, s);
	p->at_work[k] = false;
	slot_answer(&d->region->slot[k], SHARED_DONE);
	return true;
}

/* Sleeps until a slot is submitted; it was not there at the last look. */
static void sleep_without_work(struct pump *p, uint32_t seen)
{
	struct region *r = p->device->region;

	__atomic_store_n(&r->sleeping, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST) == seen)
		region_wait(&r->doorbell, seen, SLEEP_SECONDS);
	__atomic_store_n(&r->sleeping, 0, __ATOMIC_SEQ_CST);
}

void pump(struct device *d)
{
	struct pump p = {.device = d};
	struct region *r = d->region;

	for (unsigned k = 0; k < REGION_SLOTS; k++)
		p.window_fd[k] = -1;
	for (unsigned first = 0;; first = (first + 1) % d->slots) {
		const uint32_t seen = __atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST);
		bool worked = false;
		__atomic_fetch_add(&r->beat, 1, __ATOMIC_RELAXED);
		for (unsigned i = 0; i < d->slots; i++) {
			const unsigned k = (first + i) % d->slots;
			if (!p.at_work[k] && slot_state_of(&r->slot[k]) == SHARED_SUBMITTED) {
				begin(&p, k);
				worked = true;
			}
		}
		for (unsigned i = 0; i < DEVICE_STREAMS; i++)
			worked |= reap(&p, i);
		if (worked)
			continue;
		if (p.queue[0].count + p.queue[1].count == 0)
			sleep_without_work(&p, seen);
		else
			nanosleep(&(struct timespec){.tv_nsec = d->window_bytes > 0 ? WINDOW_NAP_NS : NAP_NS}, NULL);
	}
}
