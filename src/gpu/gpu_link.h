/* SPDX-License-Identifier: MIT */
/*
 * gpu_link: the helper of one device, as the program knows it: started, listened to, given up.
 *
 * The helper is this program started again by posix_spawn, in a session of its own, with the region
 * and a socket as its only descriptors (driver/helper.h). A thread of ours, the link's, starts it,
 * because the kernel ends the helper when the thread that started it ends; then it listens.
 * Whatever happens to the helper, the thread notices:
 *
 *	it dies             the socket ends
 *	the driver fails    it says so, and ends
 *	it is silent        the region's beat stops while a slot waits: it is stopped, or a call of the driver hangs
 *	it answers nothing  slots wait, and none of them is answered, though the region's beat goes on
 *	it never starts     START_LOOKS
 *
 * and calls gpu_fail, after which no thread waits for the helper. link_close ends the socket and
 * joins the thread, which notices immediately. The helper ends by itself and is not waited for,
 * because it may never end.
 */
#ifndef GPUHIST_GPU_LINK_H
#define GPUHIST_GPU_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gpu_device;

struct link {
	pthread_t thread;
	bool running; /* the thread was started and has to be joined */
	int socket;   /* ours; -1: none */
	int theirs, region_fd;
	bool closing;        /* atomic: from now on the end of the socket is no failure */
	pid_t helper;        /* used by the link's thread alone; 0: none */
	char devices[512];   /* CUDA_VISIBLE_DEVICES of the helper; "": left as it is */
	unsigned looks;      /* a second apart, before it was ready */
	uint64_t beat;       /* the last value that was seen ... */
	unsigned beats_same; /* ... in so many looks */
	uint64_t waiting;    /* the slots that waited then, a bit each ... */
	uint64_t submitted;  /* ... how many had ever been submitted ... */
	unsigned waits_same; /* ... and in how many looks both were the same */
};

/* Makes the socket, and starts the thread that starts the helper. -1 and errno. */
int link_open(struct gpu_device *d, int region_fd, const char *devices);

/* Sends the file of a window. -1: it could not be sent. */
int link_send_window(struct gpu_device *d, unsigned slot, int fd, uint64_t offset, uint64_t bytes);

/* Ends the socket and joins the thread. Takes a link that was never opened. */
void link_close(struct gpu_device *d);

#endif
