/* SPDX-License-Identifier: MIT */
/* helper: sets the GPU process up, opens the device, and runs the pump. */
#include "gpu_helper/helper.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/signals.h"
#include "gpu_helper/device.h"

bool helper_asked(int argc, char **argv)
{
	return argc == 2 && strncmp(argv[1], HELPER_ARGUMENT, strlen(HELPER_ARGUMENT)) == 0;
}

/* Close descriptors that our parent had inherited. */
static void close_others(void)
{
	const int first = HELPER_REGION + 1;
	const long most = sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
		return;
#endif
	for (int fd = first; fd < (most > 0 && most < 65536 ? (int)most : 65536); fd++)
		close(fd);
}

/*
 * Set the name that `ps` shows, close other files, and have the kernel kill this process when the
 * thread of `parent` that started it exits, even if a driver call hangs. Return false if the
 * descriptors are not ours.
 */
static bool become_helper(const char *parent)
{
	struct stat st;

	if (fstat(HELPER_SOCKET, &st) != 0 || !S_ISSOCK(st.st_mode) ||
	    fstat(HELPER_REGION, &st) != 0)
		return false;
	close_others();
	(void)prctl(PR_SET_NAME, "gpuhist-gpu", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* keep microsecond naps short */
	if (getppid() != (pid_t)strtol(parent, NULL, 10))
		_exit(0); /* the program has ended already */
	return true;
}

static void helper_say(const struct notice *notice)
{
	while (send(HELPER_SOCKET, notice, sizeof(*notice), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void __attribute__((noreturn)) fail(const char *what, const char *why)
{
	struct notice notice = {.kind = NOTICE_FAILED};

	snprintf(notice.why, sizeof(notice.why), "%s: %s", what, why);
	helper_say(&notice);
	_exit(1);
}

static struct region *map_region(void)
{
	struct stat st;
	struct region *r;

	if (fstat(HELPER_REGION, &st) != 0)
		fail("memory", strerror(errno));
	r = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, HELPER_REGION, 0);
	if (r == MAP_FAILED)
		fail("memory", strerror(errno));
	close(HELPER_REGION);
	return r;
}

/* Touch all pages while the driver starts: allocating 32,000 of them takes as long as that. */
static void *helper_touch(void *arg)
{
	const struct device *const d = arg;
	volatile unsigned char *const from = (unsigned char *)d->region;

	for (uint64_t at = d->region->cells_at; at < d->region->total; at += PAGE)
		from[at] = 0;
	return NULL;
}

static void say_ready(const struct device *d)
{
	struct notice n = {
		.kind = NOTICE_READY,
		.slots = d->slots,
		.rooms = d->unpacking.rooms,
	};

	(void)d->cuda.device_name(n.name, (int)sizeof(n.name) - 1, d->cuda.device);
	memcpy(n.kernel, d->plan.name, sizeof(n.kernel));
	helper_say(&n);
}

/*
 * A process that never ends must not keep a file system from being unmounted. Called after the
 * driver has started, because its environment variables may hold relative paths.
 */
static void leave_folder(void)
{
	if (chdir("/") != 0)
		fail("/", strerror(errno));
}

/* Copy the job's counting, with this process's addresses. */
static void take_job(struct device *d)
{
	const struct region *const r = d->region;

	d->counting = r->counting;
	d->counting.cells_of = NULL;
	d->counting.extent = NULL;
	if (r->edges_bytes > 0)
		d->counting.binning.table.at = (uint64_t)(uintptr_t)d->region + r->edges_at;
}

int helper_main(char **argv)
{
	static struct device d; /* too large for the stack, which a user may have made small */
	pthread_t toucher;

	if (!become_helper(argv[1] + strlen(HELPER_ARGUMENT))) {
		fputs("gpuhist: " HELPER_ARGUMENT "...: gpuhist itself starts this, for a GPU\n",
		      stderr);
		return 2;
	}
	d = (struct device){.region = map_region(), .cuda.fail = fail};
	if (setenv("CUDA_VISIBLE_DEVICES", d.region->device, 1) != 0)
		fail("memory", strerror(errno));
	/* By default the driver makes 8 connections, 25 ms each; one for each stream is enough. */
	static_assert(DEVICE_STREAMS == 2 && UNPACK_STREAMS == 4, "the numbers below");
	(void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", d.region->rooms > 0 ? "6" : "2", 0);
	take_job(&d);
	const bool touching = signals_thread(&toucher, helper_touch, &d) == 0;
	device_open(&d);
	if (touching)
		pthread_join(toucher, NULL);
	device_make_slots(&d);
	leave_folder();
	say_ready(&d);
	pump(&d);
}
