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
 * How long an order may take. The slowest kernel counts 64 MiB in milliseconds, and another program
 * may keep a shared GPU busy for seconds; an order that takes longer than this hangs.
 */
#define WATCHDOG_SECONDS 20.0
/*
 * Pause between two looks at the device: a quarter of the time that 4 MiB take on PCIe 5 x16; for a
 * window, of 32 MiB.
 */
#define NAP_NS 20000
#define WINDOW_NAP_NS 150000
/*
 * Longest sleep without work: the doorbell ends it, and this bounds what a missed ring would cost.
 */
#define SLEEP_SECONDS 0.25

/* The orders queued on a stream, in order: only the first can be finished next. */
struct queue {
	unsigned slot[REGION_SLOTS];
	unsigned first, count;
	double since; /* when the first order was seen unfinished for the first time; 0: not yet */
};

struct pump {
	struct device *device;
	struct queue queue[DEVICE_STREAMS];
	unsigned next; /* the stream that gets the next order */
	bool at_work[REGION_SLOTS];
	struct window window[REGION_SLOTS]; /* received for a slot ... */
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

/* The driver cannot page-lock this memory; any other error ends the helper. */
static bool refused(CUresult r)
{
	return r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_OUT_OF_MEMORY ||
	       r == CUDA_ERROR_ALREADY_REGISTERED || r == CUDA_ERROR_NOT_PERMITTED ||
	       r == CUDA_ERROR_NOT_SUPPORTED || r == CUDA_ERROR_OPERATING_SYSTEM;
}

/* Receives the next window that the program sent, for its slot. False: there is none yet. */
static bool receive_window(struct pump *p)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct window w = {.slot = REGION_SLOTS};
	struct iovec io = {.iov_base = &w, .iov_len = sizeof(w)};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	const ssize_t got = recvmsg(HELPER_SOCKET, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (got <= 0)
		return false;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	/*
	 * If the file were lost, the slot would be left with that of an earlier or a later chunk.
	 */
	if (got != (ssize_t)sizeof(w) || !c || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_RIGHTS || w.slot >= p->device->slots || p->window_fd[w.slot] >= 0)
		p->device->fail(p->device->arg, "driver",
				"its process was handed no file: it may have no more open");
	memcpy(&p->window_fd[w.slot], CMSG_DATA(c), sizeof(int));
	p->window[w.slot] = w;
	return true;
}

/*
 * Maps a window. We never read the mapping ourselves: the driver fetches and locks the pages, and
 * the device reads them, so a file that is cut meanwhile raises no SIGBUS. MAP_POPULATE made it
 * slower. NULL: refused.
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

/*
 * Queues what follows the copy of the chunk: clear, count, fetch. It is queued again where the
 * first count was at too small a k.
 */
static void queue_count(struct device *d, unsigned k)
{
	struct device_slot *s = &d->slot[k];
	const struct kernel_chunk *c = &s->chunk;
	const struct kernel_plan *plan = &d->plan;
	const size_t words = kernel_out_words(plan);
	CUresult (*const launch)(const struct kernel_plan *, const struct cuda *,
				 const struct kernel_chunk *, size_t, const struct binning *) =
		s->again ? kernel_launch_again : kernel_launch;
	struct binning bins = d->counting.binning;

	if (plan->extent)
		auto_rule(&bins, &d->counting.type, d->counting.binning.bins, s->k);
	/* The second time, the extent after the counters is known already, and is kept. */
	if (!d->layout.stays)
		device_must(d,
			    d->cuda.fill32(c->cells, 0, s->again ? plan->cells : words, c->stream),
			    "clear");
	device_must(d, launch(plan, &d->cuda, c, s->samples, plan->extent ? &bins : NULL),
		    "kernel");
	if (!d->layout.stays)
		device_must(d,
			    d->cuda.to_host(slot_cells(d, k), c->cells, words * sizeof(uint32_t),
					    c->stream),
			    "copy from the GPU");
}

static void queue_sums(struct device *d, unsigned k, CUstream stream)
{
	const uint32_t pieces = device_pieces(d);
	uint64_t cells = d->plan.cells;
	uint32_t piece = d->layout.piece;
	void *arguments[] = {&d->counters, &cells, &piece, &d->sums};

	device_must(
		d,
		d->cuda.launch(d->sum_pieces, pieces, 1, 1, 1024, 1, 1, 0, stream, arguments, NULL),
		"kernel");
	device_must(d, d->cuda.to_host(slot_data(d, k), d->sums, pieces * sizeof(uint64_t), stream),
		    "copy from the GPU");
}

static void queue_piece(struct device *d, unsigned k, uint32_t which, CUstream stream)
{
	const uint32_t from = which * d->layout.piece;
	const uint32_t left = d->plan.cells - from;
	const size_t words = left < d->layout.piece ? left : d->layout.piece;

	device_must(d,
		    d->cuda.to_host(slot_data(d, k), d->counters + from * sizeof(uint32_t),
				    words * sizeof(uint32_t), stream),
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
	device_must(d, d->cuda.to_device(s->chunk.data, from, s->bytes, s->chunk.stream),
		    "copy to the GPU");
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
	s->number = slot_number_of(shared);
	s->order = shared->order;
	switch (s->order) {
	case ORDER_SUMS:
		queue_sums(d, k, s->chunk.stream);
		break;
	case ORDER_PIECE:
		queue_piece(d, k, shared->piece, s->chunk.stream);
		break;
	case ORDER_CLEAR:
		device_must(d, d->cuda.fill32(d->counters, 0, d->plan.cells, s->chunk.stream),
			    "clear");
		break;
	default:
		if (!queue_chunk(p, k, shared)) {
			slot_answer(shared, s->number, SHARED_REFUSED);
			return;
		}
	}
	device_must(d, d->cuda.event_record(s->done, s->chunk.stream), "event");
	p->at_work[k] = true;
	queue_add(&p->queue[nth], k);
}

/*
 * A chunk of --auto was counted at a k that was chosen before it was read. True if its samples span
 * few enough bins at that k. Otherwise it is counted again, at the k of all samples of the lane and
 * its own, which is always large enough.
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

/* Answers the first order of a stream if it is finished. */
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
		/* Ask once more: this process itself may have been stopped. */
		if (now - q->since > WATCHDOG_SECONDS &&
		    d->cuda.event_query(s->done) == CUDA_ERROR_NOT_READY)
			d->fail(d->arg, "watchdog", "a chunk was not counted in time");
		return false;
	}
	device_must(d, r, "counting");
	queue_take(q);
	if ((s->order == ORDER_COUNT || s->order == ORDER_WINDOW) && d->plan.extent &&
	    !settled(d, k)) {
		queue_add(q, k);
		return true;
	}
	if (s->window)
		unmap_window(d, s);
	p->at_work[k] = false;
	slot_answer(&d->region->slot[k], s->number, SHARED_DONE);
	return true;
}

/*
 * Sleeps until a slot is submitted; `seen` is the doorbell before the last look, which found
 * nothing.
 */
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
			nanosleep(&(struct timespec){.tv_nsec = d->window_bytes > 0 ? WINDOW_NAP_NS
										    : NAP_NS},
				  NULL);
	}
}
