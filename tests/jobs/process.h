/* SPDX-License-Identifier: MIT */
/* process: programs, and the processes that feed them. */
#ifndef JOBS_PROCESS_H
#define JOBS_PROCESS_H

#include <sys/types.h>

#include "input.h"

/* A process of its own, since a FIFO that is never opened would block it for
 * ever: it is killed once gpuhist has ended. */
pid_t start_writer(const struct input *in, int fd, int reader);

/* Returns what gpuhist reads as standard input. */
int open_stdin(const struct input *in, pid_t *writer);

pid_t start(char **argv, int in, const char *out, const char *err);

/* The exit status, 128 + N for signal N, -1 for a process that hung.
 * SIGCHLD is blocked, so that one between waitpid and sigtimedwait is kept. */
int finish(pid_t pid);

double now(void);

#endif
